/*
 * Map from a 64-bit id to a 32-bit number, for what files and programs name by address.
 *
 * Open addressing with linear steps. The hash is mixed with a random seed, so that no file can be
 * made to collide.
 */
#ifndef SB_TRACE_MAP_H
#define SB_TRACE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

typedef struct trace_map {
    struct trace_map_entry *entries;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    uint64_t seed;
} trace_map;

void trace_map_init(trace_map *map);
/* Binds id to number, replacing what it was bound to. */
void trace_map_set(trace_map *map, uint64_t id, uint32_t number);
/* False if id is not bound. */
bool trace_map_get(const trace_map *map, uint64_t id, uint32_t *number);
void trace_map_free(trace_map *map);

#endif
