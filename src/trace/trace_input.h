/*
 * The body of a trace file as a stream of numbers.
 *
 * Reading never returns an error: the first one is remembered, with the section and the offset at
 * which it was met, and everything read afterwards is zero. So a parser reads a record and looks at
 * `failed` once; lists stop by themselves, as their counts read as zero. Every count is held
 * against the number of bytes that can possibly follow before anything is allocated for it.
 *
 * With a tap, all bytes that pass are copied to it: that is how sections are kept as they are.
 */
#ifndef SB_TRACE_INPUT_H
#define SB_TRACE_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "trace/trace_bytes.h"
#include "trace/trace_unpack.h"

enum { TRACE_INPUT_RECORD_MAX = 64 };

typedef struct trace_input {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t end_offset; /* of `end` in the body */
    bool failed;
    bool at_end; /* there is nothing after `end` */
    unsigned section;
    uint64_t section_start;
    uint64_t chunks_left;
    trace_unpacker *unpacker;
    sb_file *file; /* whose pages are given back behind us, or NULL */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* or NULL */
    void *progress_context;
    uint64_t file_bytes;
    sb_output *tap;
    sb_error *error;
    uint8_t record[TRACE_INPUT_RECORD_MAX]; /* one that spans two chunks */
} trace_input;

void trace_input_begin(trace_input *input, trace_unpacker *unpacker, sb_error *error);
/* Remembers a failure, unless there was one. */
void trace_input_fail(trace_input *input, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline uint64_t trace_input_offset(const trace_input *input) {
    return input->end_offset - (uint64_t)(input->end - input->at);
}

/* The most that can follow. */
uint64_t trace_input_left(const trace_input *input);
/* Is everything read? */
bool trace_input_is_done(trace_input *input);

/* size bytes that span chunks or are tapped. */
const uint8_t *trace_input_take_slowly(trace_input *input, size_t size);

/* The next size bytes, up to TRACE_INPUT_RECORD_MAX, valid until the next call. */
static inline const uint8_t *trace_input_take(trace_input *input, size_t size) {
    if (__builtin_expect((size_t)(input->end - input->at) < size || input->tap != NULL, 0))
        return trace_input_take_slowly(input, size);
    const uint8_t *taken = input->at;
    input->at += size;
    return taken;
}

/* size bytes to a buffer, or past it. */
void trace_input_copy(trace_input *input, void *to, uint64_t size);
void trace_input_skip(trace_input *input, uint64_t size);
/* Bytes into an arena; empty after a failure. */
sb_slice trace_input_text(trace_input *input, uint64_t size, sb_arena *arena);

static inline uint8_t trace_input_u8(trace_input *input) {
    return trace_input_take(input, 1)[0];
}

static inline uint16_t trace_input_u16(trace_input *input) {
    return load_le16(trace_input_take(input, 2));
}

static inline uint32_t trace_input_u24(trace_input *input) {
    return load_le24(trace_input_take(input, 3));
}

static inline uint32_t trace_input_u32(trace_input *input) {
    return load_le32(trace_input_take(input, 4));
}

static inline uint64_t trace_input_u64(trace_input *input) {
    return load_le64(trace_input_take(input, 8));
}

static inline int64_t trace_input_i64(trace_input *input) {
    return (int64_t)trace_input_u64(input);
}

static inline double trace_input_double(trace_input *input) {
    return load_double(trace_input_take(input, 8));
}

/* A number of records of at least record_size bytes each; 0 and a failure if they cannot follow. */
uint64_t trace_input_count(trace_input *input, uint64_t record_size);
/* The same for a count of 32 bits. */
uint64_t trace_input_count32(trace_input *input, uint64_t record_size);
/* A time stored as its distance from *reference, which becomes the time. */
static inline int64_t trace_input_time(trace_input *input, int64_t *reference) {
    *reference = (int64_t)((uint64_t)*reference + trace_input_u64(input));
    return *reference;
}

#endif
