#include "trace/trace_input.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/trace_file.h"

void trace_input_begin(trace_input *input, trace_unpacker *unpacker, sb_error *error) {
    *input = (trace_input){
        .unpacker = unpacker, .error = error, .chunks_left = trace_unpack_chunks(unpacker)};
}

void trace_input_fail(trace_input *input, const char *format, ...) {
    if (input->failed)
        return;
    input->failed = true;
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    const unsigned long long offset = trace_input_offset(input);
    sb_error_set(input->error, SB_ERR_FORMAT, "section %u (%s), offset %llu: %s", input->section,
                 sb_trace_section_name(input->section), offset, reason);
    /* What is left of the chunk must not be read either. */
    input->at = input->end;
}

uint64_t trace_input_left(const trace_input *input) {
    return (uint64_t)(input->end - input->at) + input->chunks_left * TRACE_CHUNK_SIZE;
}

/* Makes the next chunk the current one; false at the end or after a failure. */
static bool next_chunk(trace_input *input) {
    if (input->failed || input->at_end)
        return false;
    sb_slice chunk;
    sb_error error = {0};
    if (trace_unpack_next(input->unpacker, &chunk, &error) != SB_OK) {
        trace_input_fail(input, "%s", error.message);
        return false;
    }
    if (input->file != NULL)
        sb_file_release(input->file, trace_unpack_passed(input->unpacker));
    if (input->progress != NULL)
        input->progress(input->progress_context, trace_unpack_passed(input->unpacker),
                        input->file_bytes);
    input->at = (const uint8_t *)chunk.data;
    input->end = input->at + chunk.size;
    input->end_offset += chunk.size;
    input->chunks_left -= input->chunks_left > 0;
    input->at_end = chunk.size == 0;
    return chunk.size > 0;
}

bool trace_input_is_done(trace_input *input) {
    return input->at == input->end && !next_chunk(input) && !input->failed;
}

void trace_input_copy(trace_input *input, void *to, uint64_t size) {
    uint8_t *into = to;
    while (size > 0) {
        if (input->at == input->end && !next_chunk(input)) {
            trace_input_fail(input, "the file ends %llu bytes too early", (unsigned long long)size);
            if (into != NULL)
                memset(into, 0, (size_t)size);
            return;
        }
        const size_t there = (size_t)(input->end - input->at);
        const size_t part = size < there ? (size_t)size : there;
        if (into != NULL) {
            memcpy(into, input->at, part);
            into += part;
        }
        if (input->tap != NULL)
            sb_put(input->tap, (sb_slice){(const char *)input->at, part});
        input->at += part;
        size -= part;
    }
}

const uint8_t *trace_input_take_slowly(trace_input *input, size_t size) {
    assert(size <= sizeof input->record);
    trace_input_copy(input, input->record, size);
    /* Half a record is none. */
    if (input->failed)
        memset(input->record, 0, sizeof input->record);
    return input->record;
}

void trace_input_skip(trace_input *input, uint64_t size) {
    if (size > trace_input_left(input))
        trace_input_fail(input, "%llu bytes should follow, but the file is shorter",
                         (unsigned long long)size);
    else
        trace_input_copy(input, NULL, size);
}

sb_slice trace_input_text(trace_input *input, uint64_t size, sb_arena *arena) {
    if (input->failed || size == 0)
        return (sb_slice){"", 0};
    if (size > trace_input_left(input)) {
        trace_input_fail(input, "a text of %llu bytes is longer than what follows",
                         (unsigned long long)size);
        return (sb_slice){"", 0};
    }
    char *text = sb_arena_alloc(arena, (size_t)size);
    trace_input_copy(input, text, size);
    return (sb_slice){text, input->failed ? 0 : (size_t)size};
}

static uint64_t check_count(trace_input *input, uint64_t count, uint64_t record_size) {
    if (input->failed)
        return 0;
    if (count <= trace_input_left(input) / record_size)
        return count;
    trace_input_fail(input, "%llu entries of %llu bytes or more cannot follow",
                     (unsigned long long)count, (unsigned long long)record_size);
    return 0;
}

uint64_t trace_input_count(trace_input *input, uint64_t record_size) {
    return check_count(input, trace_input_u64(input), record_size);
}

uint64_t trace_input_count32(trace_input *input, uint64_t record_size) {
    return check_count(input, trace_input_u32(input), record_size);
}
