#include "base/idmap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/intern.h"
#include "base/memory.h"

typedef struct sb_idmap_entry {
    uint64_t id;
    uint32_t number;
    bool used;
} sb_idmap_entry;

enum { FIRST_CAPACITY = 64 };

void sb_idmap_init(sb_idmap *map) {
    /* The address of a fresh block differs from run to run: enough to keep files from knowing it.
     */
    *map = (sb_idmap){.entries = sb_alloc_zeroed(FIRST_CAPACITY, sizeof(sb_idmap_entry)),
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
static sb_idmap_entry *find_entry(const sb_idmap *map, uint64_t id) {
    const size_t mask = map->capacity - 1;
    size_t place = (size_t)mix(id, map->seed) & mask;
    while (map->entries[place].used && map->entries[place].id != id)
        place = (place + 1) & mask;
    return &map->entries[place];
}

static void enlarge(sb_idmap *map) {
    const sb_idmap old = *map;
    map->capacity = old.capacity * 2;
    map->entries = sb_alloc_zeroed(map->capacity, sizeof(sb_idmap_entry));
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.entries[i].used)
            *find_entry(map, old.entries[i].id) = old.entries[i];
    }
    free(old.entries);
}

void sb_idmap_set(sb_idmap *map, uint64_t id, uint32_t number) {
    assert(map->capacity > 0);
    sb_idmap_entry *entry = find_entry(map, id);
    if (!entry->used) {
        if (map->count * 2 >= map->capacity) {
            enlarge(map);
            entry = find_entry(map, id);
        }
        map->count++;
    }
    *entry = (sb_idmap_entry){.id = id, .number = number, .used = true};
}

bool sb_idmap_get(const sb_idmap *map, uint64_t id, uint32_t *number) {
    assert(map->capacity > 0);
    const sb_idmap_entry *entry = find_entry(map, id);
    if (entry->used)
        *number = entry->number;
    return entry->used;
}

/* What stands behind the gap moves into it, unless that is before where it belongs. */
void sb_idmap_remove(sb_idmap *map, uint64_t id) {
    const size_t mask = map->capacity - 1;
    const sb_idmap_entry *found = find_entry(map, id);
    if (!found->used)
        return;
    size_t gap = (size_t)(found - map->entries);
    size_t place = (gap + 1) & mask;
    for (; map->entries[place].used; place = (place + 1) & mask) {
        const size_t home = (size_t)mix(map->entries[place].id, map->seed) & mask;
        if (((place - home) & mask) < ((place - gap) & mask))
            continue;
        map->entries[gap] = map->entries[place];
        gap = place;
    }
    map->entries[gap].used = false;
    map->count--;
}

void sb_idmap_free(sb_idmap *map) {
    free(map->entries);
    *map = (sb_idmap){0};
}
