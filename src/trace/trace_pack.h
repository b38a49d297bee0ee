/*
 * The container of a trace file: from the body's bytes to compressed blocks. The opposite of
 * trace_unpack.h.
 *
 * The body is dealt out to several streams, chunk by chunk, so that threads compress them side by
 * side while the body is made. What comes out does not depend on how many threads there are.
 */
#ifndef SB_TRACE_PACK_H
#define SB_TRACE_PACK_H

#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "trace/trace_bytes.h"
#include "trace/trace_unpack.h"

typedef struct trace_packer {
    uint8_t *at;         /* where the next byte goes */
    uint8_t *end;        /* of the current chunk */
    uint64_t body_bytes; /* in chunks already handed on */
    struct trace_encoder *encoder;
} trace_packer;

typedef struct trace_packing {
    trace_compression compression;
    int level;       /* 0: the usual one */
    bool one_stream; /* with the older header, which every reader knows */
} trace_packing;

void trace_pack_begin(trace_packer *packer, const trace_packing *packing, sb_output *output);
/* Compresses what is left; returns the size of the body. */
uint64_t trace_pack_end(trace_packer *packer);
void trace_pack_next_chunk(trace_packer *packer);
void trace_pack_bytes(trace_packer *packer, const void *bytes, size_t size);
void trace_pack_zeroes(trace_packer *packer, size_t size);

/* The low `size` bytes of value, 1 to 8. */
static inline void trace_pack(trace_packer *packer, uint64_t value, unsigned size) {
    if (__builtin_expect(packer->end - packer->at >= 8, 1)) {
        store_le(packer->at, value, size);
        packer->at += size;
        return;
    }
    uint8_t bytes[8];
    store_le(bytes, value, sizeof bytes);
    trace_pack_bytes(packer, bytes, size);
}

/* Where a record goes that is made of several numbers: into the chunk, or `aside` where that ends.
 */
static inline uint8_t *trace_pack_room(const trace_packer *packer, size_t size, uint8_t *aside) {
    return (size_t)(packer->end - packer->at) >= size ? packer->at : aside;
}

/* The record is there. */
static inline void trace_pack_placed(trace_packer *packer, const uint8_t *record, size_t size) {
    if (record == packer->at)
        packer->at += size;
    else
        trace_pack_bytes(packer, record, size);
}

static inline void trace_pack_u64(trace_packer *packer, uint64_t value) {
    trace_pack(packer, value, 8);
}

/* A time as its distance from *reference, which becomes the time. */
static inline void trace_pack_time(trace_packer *packer, int64_t time, int64_t *reference) {
    trace_pack(packer, (uint64_t)time - (uint64_t)*reference, 8);
    *reference = time;
}

static inline void trace_pack_double(trace_packer *packer, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    trace_pack(packer, bits, 8);
}

#endif
