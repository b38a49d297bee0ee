#include "base/map.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

uint64_t sb_hash_text(uint64_t seed, sb_slice text) {
    uint64_t hash = seed;
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
    return hash * 31 + text.size; /* else "ab" behind "c" would be "b" behind "ca" */
}

/* Where the key stands, or the empty place where it would. */
static sb_map_entry *find(const sb_map *map, uint64_t key) {
    size_t index = (size_t)sb_hash_number(key) & (map->capacity - 1);
    while (map->entries[index].key != 0 && map->entries[index].key != key)
        index = (index + 1) & (map->capacity - 1);
    return &map->entries[index];
}

uint64_t sb_map_get(const sb_map *map, uint64_t key) {
    return map->capacity == 0 ? 0 : find(map, key)->value;
}

static bool grow(sb_map *map) {
    sb_map larger = {.capacity = map->capacity == 0 ? FIRST_CAPACITY : 2 * map->capacity,
                     .count = map->count};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].key != 0)
            *find(&larger, map->entries[i].key) = map->entries[i];
    }
    free(map->entries);
    *map = larger;
    return true;
}

bool sb_map_set(sb_map *map, uint64_t key, uint64_t value) {
    if (4 * (map->count + 1) > 3 * map->capacity && !grow(map))
        return false;
    sb_map_entry *entry = find(map, key);
    if (entry->key == 0)
        map->count++;
    *entry = (sb_map_entry){key, value};
    return true;
}

void sb_map_free(sb_map *map) {
    free(map->entries);
    *map = (sb_map){0};
}
