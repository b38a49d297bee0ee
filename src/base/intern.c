#include "base/intern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/number.h"

/* Folds the 128-bit product: every bit of both inputs reaches the result. */
static uint64_t mix(uint64_t a, uint64_t b) {
    const sb_u128 product = (sb_u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load_up_to_8(const char *from, size_t size) {
    uint64_t word = 0;
    memcpy(&word, from, size);
    return word;
}

uint64_t sb_hash(sb_slice text, uint64_t seed) {
    const uint64_t key_a = 0x9e3779b97f4a7c15U;
    const uint64_t key_b = 0xd6e8feb86659fd93U;
    uint64_t hash = mix(seed ^ key_a, (uint64_t)text.size ^ key_b);
    const char *at = text.data;
    size_t left = text.size;
    for (; left >= 16; at += 16, left -= 16)
        hash = mix(load_up_to_8(at, 8) ^ hash, load_up_to_8(at + 8, 8) ^ key_b);
    if (left >= 8) {
        hash = mix(load_up_to_8(at, 8) ^ hash, key_b);
        at += 8;
        left -= 8;
    }
    if (left > 0)
        hash = mix(load_up_to_8(at, left) ^ hash, key_b);
    return mix(hash, key_a);
}

enum { FIRST_SLOT_COUNT = 64 };

static uint64_t draw_seed(void) {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = 0; /* early at boot there may be no randomness; the map works all the same */
    return seed;
}

void sb_intern_init(sb_intern *map) {
    *map = (sb_intern){
        .texts = sb_vector_of(sizeof(sb_slice)),
        .hashes = sb_vector_of(sizeof(uint64_t)),
        .slots = sb_alloc_zeroed(FIRST_SLOT_COUNT, sizeof(uint32_t)),
        .slot_count = FIRST_SLOT_COUNT,
        .seed = draw_seed(),
    };
}

/* The slot where text is, or the free one where it belongs. */
static size_t find_slot(const sb_intern *map, sb_slice text, uint64_t hash) {
    const size_t mask = map->slot_count - 1;
    size_t slot = (size_t)hash & mask;
    while (map->slots[slot] != 0) {
        const uint32_t index = map->slots[slot] - 1;
        if (*(uint64_t *)sb_vector_at(&map->hashes, index) == hash &&
            sb_slice_equal(sb_intern_text(map, index), text))
            return slot;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static void grow(sb_intern *map) {
    free(map->slots);
    map->slot_count *= 2;
    map->slots = sb_alloc_zeroed(map->slot_count, sizeof(uint32_t));
    const size_t mask = map->slot_count - 1;
    for (uint32_t index = 0; index < map->texts.count; index++) {
        size_t slot = (size_t) * (uint64_t *)sb_vector_at(&map->hashes, index) & mask;
        while (map->slots[slot] != 0)
            slot = (slot + 1) & mask;
        map->slots[slot] = index + 1;
    }
}

uint32_t sb_intern_add(sb_intern *map, sb_slice text) {
    assert(map->texts.count < UINT32_MAX);
    const uint64_t hash = sb_hash(text, map->seed);
    size_t slot = find_slot(map, text, hash);
    if (map->slots[slot] != 0)
        return map->slots[slot] - 1;
    if ((map->texts.count + 1) * 2 > map->slot_count) {
        grow(map);
        slot = find_slot(map, text, hash);
    }
    const uint32_t index = (uint32_t)map->texts.count;
    *(sb_slice *)sb_vector_push(&map->texts) = sb_arena_copy(&map->arena, text);
    *(uint64_t *)sb_vector_push(&map->hashes) = hash;
    map->slots[slot] = index + 1;
    return index;
}

sb_slice sb_intern_text(const sb_intern *map, uint32_t index) {
    return *(sb_slice *)sb_vector_at(&map->texts, index);
}

uint32_t sb_intern_count(const sb_intern *map) {
    return (uint32_t)map->texts.count;
}

void sb_intern_free(sb_intern *map) {
    free(map->slots);
    sb_vector_free(&map->texts);
    sb_vector_free(&map->hashes);
    sb_arena_free(&map->arena);
    *map = (sb_intern){0};
}
