/*
 * Ids of zones. A zone is a name with the file and line it stands at. Its id is 16 bits long: the
 * hash that other profilers of this hardware give it, or if that is taken already, the next free
 * number. So ids are what others expect, and never shared.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_NAMES_H
#define SB_DEVICE_PROFILER_PROFILER_NAMES_H

#include "base/base.h"
#include "device/device_mesh.h"

typedef struct profiler_zone {
    sb_slice name;
    sb_slice file;
    uint32_t line;
    uint32_t color;
    uint16_t id;
} profiler_zone;

typedef struct profiler_names {
    sb_arena arena;
    sb_intern texts;      /* "name,file,line": index into zones */
    sb_vector zones;      /* profiler_zone */
    uint32_t *zone_of_id; /* index + 1, or 0 */
} profiler_names;

void profiler_names_init(profiler_names *names);
void profiler_names_free(profiler_names *names);
/* NULL: nobody has this id. */
const profiler_zone *profiler_names_find(const profiler_names *names, uint16_t id);
/* The id of a zone, which may be new. */
sb_status profiler_names_add(profiler_names *names, const profiler_zone *zone, uint16_t *id,
                             sb_error *error);
/* Writes ids into an image, which must be a copy that may be changed. */
sb_status profiler_names_write(profiler_names *names, device_image *image, sb_error *error);

#endif
