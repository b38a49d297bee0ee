/*
 * Content as a name: what was made from the same things is found again under the same key. Takes no
 * memory, so code in somebody else's process may use it.
 */
#ifndef SB_BASE_KEY_H
#define SB_BASE_KEY_H

#include <stdint.h>

#include "base/slice.h"

/* Content so far: two independent hashes. Keys for different ends begin with different numbers. */
typedef struct sb_key {
    uint64_t parts[2];
} sb_key;

#define SB_KEY_TEXT 33

void sb_key_add(sb_key *key, sb_slice content);
void sb_key_text(const sb_key *key, char text[SB_KEY_TEXT]);

#endif
