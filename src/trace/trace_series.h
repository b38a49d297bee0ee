/*
 * Series: a list that only grows and never moves.
 *
 * Elements of one size stand in segments, each twice as long as the one before:
 *
 *     segment 0: elements 0..63 | segment 1: 64..191 | segment 2: 192..447 | ...
 *
 * so that finding element i is a count of leading zeros, a pointer into a series stays valid for
 * its life, and a small series costs little. Segments begin as zeroes. In a sparse series (written
 * with sb_series_slot only) a segment that nobody wrote to is absent and reads as zeroes.
 *
 * One thread appends; others may read what was published. The writer fills an element, then
 * publishes the new count with release order (sb_series_publish); a reader takes the count with
 * acquire order (sb_series_count) and reads below it. Segment pointers are published the same way,
 * for sparse series that are written behind the count. The price: a segment is never given back
 * before the whole series, and the last one is up to half unused (untouched pages of it cost no
 * memory). Long segments live in a store, which may keep them in a file (trace_store.h).
 */
#ifndef SB_TRACE_SERIES_H
#define SB_TRACE_SERIES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_store.h"

enum { SB_SERIES_SEGMENTS = 34, SB_SERIES_FIRST_BITS = 6 };

typedef struct sb_series {
    char *segments[SB_SERIES_SEGMENTS];
    size_t element_size;
    uint64_t count;
    sb_store *store;  /* where long segments live; NULL: on the heap */
    bool is_borrowed; /* segments are somebody else's memory: never grown nor given back */
} sb_series;

/* Where an element stands. */
typedef struct sb_series_place {
    unsigned segment;
    uint64_t offset; /* in elements */
} sb_series_place;

static inline sb_series_place sb_series_locate(uint64_t index) {
    const uint64_t shifted = index + (1U << SB_SERIES_FIRST_BITS);
    const unsigned top = 63U - (unsigned)__builtin_clzll(shifted);
    return (sb_series_place){top - SB_SERIES_FIRST_BITS, shifted - (UINT64_C(1) << top)};
}

static inline uint64_t sb_series_segment_size(unsigned segment) {
    return UINT64_C(1) << (segment + SB_SERIES_FIRST_BITS);
}

/* store may be NULL; else it must outlive the series. */
void sb_series_init(sb_series *series, size_t element_size, sb_store *store);
void sb_series_free(sb_series *series);
/* Allocates a segment that is absent. Writer only. */
char *sb_series_grow(sb_series *series, unsigned segment);

/* How many elements may be read. */
static inline uint64_t sb_series_count(const sb_series *series) {
    return __atomic_load_n(&series->count, __ATOMIC_ACQUIRE);
}

static inline void sb_series_publish(sb_series *series, uint64_t count) {
    __atomic_store_n(&series->count, count, __ATOMIC_RELEASE);
}

/* The element at index, or NULL where a sparse series has nothing. */
static inline void *sb_series_find(const sb_series *series, uint64_t index) {
    const sb_series_place place = sb_series_locate(index);
    assert(place.segment < SB_SERIES_SEGMENTS);
    char *segment = __atomic_load_n(&series->segments[place.segment], __ATOMIC_ACQUIRE);
    return segment == NULL ? NULL : segment + place.offset * series->element_size;
}

/* The element at index, which must be below the count. */
static inline void *sb_series_at(const sb_series *series, uint64_t index) {
    assert(index < __atomic_load_n(&series->count, __ATOMIC_RELAXED));
    void *element = sb_series_find(series, index);
    assert(element != NULL);
    return element;
}

/* Room for the element at index, wherever that is; the count does not change. Writer only. */
static inline void *sb_series_slot(sb_series *series, uint64_t index) {
    const sb_series_place place = sb_series_locate(index);
    assert(place.segment < SB_SERIES_SEGMENTS);
    char *segment = series->segments[place.segment];
    if (__builtin_expect(segment == NULL, 0))
        segment = sb_series_grow(series, place.segment);
    return segment + place.offset * series->element_size;
}

/* Adds a copy of an element and publishes it. Writer only. */
void sb_series_add(sb_series *series, const void *element);
/* Adds a zeroed element and publishes it: readers may see it before it is filled. Writer only. */
void *sb_series_push(sb_series *series);

/* How many elements from index on stand side by side in memory, the count not considered. */
static inline uint64_t sb_series_run(uint64_t index) {
    const sb_series_place place = sb_series_locate(index);
    return sb_series_segment_size(place.segment) - place.offset;
}

/* Bytes of the segments that exist. */
uint64_t sb_series_bytes(const sb_series *series);

#endif
