/*
 * The folder in which built kernels are kept, and keys made from content.
 */
#ifndef SB_DEVICE_DEVICE_CACHE_H
#define SB_DEVICE_DEVICE_CACHE_H

#include "base/base.h"

/* Content so far, as a name: two independent hashes. */
typedef struct device_key {
    uint64_t parts[2];
} device_key;

#define DEVICE_KEY_TEXT 33

void device_key_add(device_key *key, sb_slice content);
void device_key_text(const device_key *key, char text[DEVICE_KEY_TEXT]);

sb_status device_make_folders(const char *path, sb_error *error);

#endif
