/*
 * What the files that implement Tracy's C interface share.
 */
#ifndef SB_CLIENT_TRACY_H
#define SB_CLIENT_TRACY_H

#include <tracy/TracyC.h>

#include "client/client.h"

typedef struct ___tracy_source_location_data client_tracy_location; // NOLINT: their name

/* Both have the same layout, which is part of both interfaces. */
static inline const sb_source_location *client_location_of(const client_tracy_location *location) {
    return (const sb_source_location *)(const void *)location;
}

/* A location made at run time: used once, then freed. */
typedef struct client_made_location {
    uint32_t line;
    uint32_t color;
    size_t file_size;
    size_t function_size;
    size_t name_size;
    bool has_name;
    char texts[]; /* file, function, name */
} client_made_location;

static inline client_made_location *client_made_location_of(uint64_t srcloc) {
    return (client_made_location *)(uintptr_t)srcloc; // NOLINT(performance-no-int-to-ptr)
}

static inline const char *client_made_name(const client_made_location *made) {
    return made->has_name ? made->texts + made->file_size + made->function_size : NULL;
}

#endif
