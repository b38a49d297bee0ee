/*
 * Raw profiler buffers, as firmware pushes them to DRAM, taken apart.
 *
 * A slot holds blocks one behind the other. A block begins with two zero words, says whose it is,
 * and goes on with pairs of words: markers, and the payloads of some. Nothing in it is believed:
 * what is no marker is counted and passed over. A marker that the block before has at the same
 * place is there once.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_DECODE_H
#define SB_DEVICE_PROFILER_PROFILER_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

typedef enum profiler_type {
    PROFILER_START = 0,
    PROFILER_END = 1,
    PROFILER_TOTAL = 2,
    PROFILER_DATA = 3,
    PROFILER_EVENT = 4,
    PROFILER_DATA_16B = 5
} profiler_type;

/* Bits of a clock that a marker has. */
#define PROFILER_TIME_BITS 44

typedef struct profiler_marker {
    uint64_t time;  /* clocks of the core, 64 bits */
    uint64_t data;  /* of data; of a total, the clocks added up */
    uint64_t more;  /* the second value of 16-byte data */
    uint32_t timer; /* type and id */
} profiler_marker;

static inline profiler_type profiler_type_of(const profiler_marker *marker) {
    return (profiler_type)(marker->timer >> 16);
}

static inline uint16_t profiler_id_of(const profiler_marker *marker) {
    return (uint16_t)marker->timer;
}

/* What one processor recorded of one run, or a part of that; in the order of time. */
typedef struct profiler_block {
    uint32_t processor;
    uint32_t core; /* its flat number */
    uint32_t replay;
    uint32_t program;
    const profiler_marker *markers; /* valid until the next block */
    size_t count;
} profiler_block;

typedef struct profiler_decoder {
    const uint32_t *words;
    size_t count;
    size_t at;
    uint64_t now;            /* the clock of the core; all markers are older */
    uint64_t strange;        /* pairs of words that are no markers */
    const uint32_t *earlier; /* the markers of the block before; NULL: there is none */
    size_t earlier_words;
    profiler_marker *markers;
    size_t capacity;
} profiler_decoder;

profiler_decoder profiler_decoder_of(const uint32_t *words, size_t count, uint64_t now);
/* The same decoder, with its memory, for other words. */
void profiler_decoder_reset(profiler_decoder *self, const uint32_t *words, size_t count,
                            uint64_t now);
void profiler_decoder_free(profiler_decoder *self);
/* False at the end. */
bool profiler_decode_next(profiler_decoder *self, profiler_block *block);

#endif
