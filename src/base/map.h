/*
 * A hash map from a number to a number, for code that lives in somebody else's process: without
 * memory an insertion fails and the rest stays as it was. Keys are not zero.
 */
#ifndef SB_BASE_MAP_H
#define SB_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

typedef struct sb_map_entry {
    uint64_t key;
    uint64_t value;
} sb_map_entry;

typedef struct sb_map {
    sb_map_entry *entries;
    size_t capacity; /* a power of two */
    size_t count;
} sb_map;

/* Spreads the bits of a number. */
static inline uint64_t sb_hash_number(uint64_t key) {
    key ^= key >> 32;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

/* A hash of a text behind another, whose hash is the seed. */
uint64_t sb_hash_text(uint64_t seed, sb_slice text);

/* The value of a key, or 0. */
uint64_t sb_map_get(const sb_map *map, uint64_t key);
/* Adds or replaces. */
bool sb_map_set(sb_map *map, uint64_t key, uint64_t value);
void sb_map_free(sb_map *map);

#endif
