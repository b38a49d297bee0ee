/*
 * Hash map from text to a small number, in order of first appearance.
 *
 * Traces repeat the same few texts (op codes, attributes, column names) hundreds of thousands of
 * times. The map gives each distinct text an index 0, 1, 2, ... so that what is derived from it is
 * computed once and kept in an array beside. Texts are copied into the map's own arena.
 */
#ifndef SB_BASE_INTERN_H
#define SB_BASE_INTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/slice.h"

typedef struct sb_intern {
    sb_arena arena;
    sb_vector texts;  /* sb_slice: the distinct texts by index */
    sb_vector hashes; /* uint64_t: the hash of each */
    uint32_t *slots;  /* index + 1, or 0 for a free slot */
    size_t slot_count;
    uint64_t seed; /* drawn at random, so that no input can be made to collide */
} sb_intern;

void sb_intern_init(sb_intern *map);
/* The index of text, adding it if it is new. */
uint32_t sb_intern_add(sb_intern *map, sb_slice text);
sb_slice sb_intern_text(const sb_intern *map, uint32_t index);
uint32_t sb_intern_count(const sb_intern *map);
void sb_intern_free(sb_intern *map);

/* A 64-bit hash of text; with a secret seed, inputs that collide cannot be prepared. */
uint64_t sb_hash(sb_slice text, uint64_t seed);

#endif
