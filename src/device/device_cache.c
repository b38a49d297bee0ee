#include "device/device_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

void device_key_add(device_key *key, sb_slice content) {
    /* The length keeps "ab", "c" apart from "a", "bc". */
    key->parts[0] = sb_hash(content, key->parts[0] ^ content.size);
    key->parts[1] = sb_hash(content, key->parts[1] + 0x9E3779B97F4A7C15u + content.size);
}

void device_key_text(const device_key *key, char text[DEVICE_KEY_TEXT]) {
    snprintf(text, DEVICE_KEY_TEXT, "%016llx%016llx", (unsigned long long)key->parts[0],
             (unsigned long long)key->parts[1]);
}

static sb_status make_folder(const char *path, sb_error *error) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        SB_FAIL(error, SB_ERR_IO, "%s: cannot make this folder: %s", path, strerror(errno));
    return SB_OK;
}

sb_status device_make_folders(const char *path, sb_error *error) {
    char part[4096];
    const size_t size = strlen(path);
    if (size >= sizeof part)
        SB_FAIL(error, SB_ERR_LIMIT, "%.100s...: the path is too long", path);
    for (size_t i = 1; i <= size; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        SB_TRY(make_folder(part, error));
    }
    return SB_OK;
}
