#include "trace/trace_map.h"

#include <assert.h>
#include <stdlib.h>

typedef struct trace_map_entry {
    uint64_t id;
    uint32_t number;
    bool used;
} trace_map_entry;

enum { FIRST_CAPACITY = 64 };

void trace_map_init(trace_map *map) {
    /* The address of a fresh block differs from run to run: enough to keep files from knowing it.
     */
    *map = (trace_map){.entries = sb_alloc_zeroed(FIRST_CAPACITY, sizeof(trace_map_entry)),
                       .capacity = FIRST_CAPACITY};
    const uintptr_t address = (uintptr_t)map->entries;
    map->seed = sb_hash((sb_slice){(const char *)&address, sizeof address}, 0x5eed);
}

static uint64_t mix(uint64_t id, uint64_t seed) {
    uint64_t hash = (id ^ seed) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
    hash = (hash + seed) * UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ (hash >> 29);
}

/* The entry of id, or the free one where it belongs. */
static trace_map_entry *find_entry(const trace_map *map, uint64_t id) {
    const size_t mask = map->capacity - 1;
    size_t place = (size_t)mix(id, map->seed) & mask;
    while (map->entries[place].used && map->entries[place].id != id)
        place = (place + 1) & mask;
    return &map->entries[place];
}

static void enlarge(trace_map *map) {
    const trace_map old = *map;
    map->capacity = old.capacity * 2;
    map->entries = sb_alloc_zeroed(map->capacity, sizeof(trace_map_entry));
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.entries[i].used)
            *find_entry(map, old.entries[i].id) = old.entries[i];
    }
    free(old.entries);
}

void trace_map_set(trace_map *map, uint64_t id, uint32_t number) {
    assert(map->capacity > 0);
    trace_map_entry *entry = find_entry(map, id);
    if (!entry->used) {
        if (map->count * 2 >= map->capacity) {
            enlarge(map);
            entry = find_entry(map, id);
        }
        map->count++;
    }
    *entry = (trace_map_entry){.id = id, .number = number, .used = true};
}

bool trace_map_get(const trace_map *map, uint64_t id, uint32_t *number) {
    assert(map->capacity > 0);
    const trace_map_entry *entry = find_entry(map, id);
    if (entry->used)
        *number = entry->number;
    return entry->used;
}

void trace_map_free(trace_map *map) {
    free(map->entries);
    *map = (trace_map){0};
}
