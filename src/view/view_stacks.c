/*
 * Call stacks: from the number of one to the names of its frames.
 *
 * A trace keeps both tables as the bytes of a file (0.11.0):
 *
 *     callstacks   u64 count, each: u16 depth, depth * u64 frame; numbers count from 1
 *     frames       u64 count, each: u64 frame, u8 parts, u24 image,
 *                  parts * { u24 name, u24 file, u32 line, u64 symbol }     inlined ones first
 *
 * They are found by going through the bytes: one zone is asked about at a time.
 */
#include <inttypes.h>

#include "view/view_call.h"

enum { FRAMES_SHOWN = 128, PART_SIZE = 18 };

/* Takes a number of `size` bytes from the front; false if there are fewer. */
static bool take(sb_slice *bytes, size_t size, uint64_t *number) {
    if (bytes->size < size)
        return false;
    *number = 0;
    for (size_t i = size; i-- > 0;)
        *number = *number << 8 | (unsigned char)bytes->data[i];
    *bytes = sb_slice_after(*bytes, size);
    return true;
}

static bool skip(sb_slice *bytes, uint64_t size) {
    if (bytes->size < size)
        return false;
    *bytes = sb_slice_after(*bytes, size);
    return true;
}

/* The frames of a callstack, 8 bytes each. */
static bool find_stack(const sb_trace *trace, uint32_t number, sb_slice *frames) {
    uint64_t count = 0;
    sb_slice rest = trace->opaque[SB_OPAQUE_CALLSTACKS];
    if (!take(&rest, 8, &count) || number == 0 || number > count)
        return false;
    for (uint32_t i = 1;; i++) {
        uint64_t depth = 0;
        if (!take(&rest, 2, &depth) || rest.size < depth * 8)
            return false;
        if (i == number) {
            *frames = sb_slice_first(rest, depth * 8);
            return true;
        }
        rest = sb_slice_after(rest, depth * 8);
    }
}

/* What a frame consists of, PART_SIZE bytes each. */
static bool find_frame(const sb_trace *trace, uint64_t frame, sb_slice *parts) {
    uint64_t count = 0;
    sb_slice rest = trace->opaque[SB_OPAQUE_CALLSTACK_FRAMES];
    if (!take(&rest, 8, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = 0;
        uint64_t size = 0;
        if (!take(&rest, 8, &id) || !take(&rest, 1, &size) || !skip(&rest, 3) ||
            rest.size < size * PART_SIZE)
            return false;
        if (id == frame) {
            *parts = sb_slice_first(rest, size * PART_SIZE);
            return true;
        }
        rest = sb_slice_after(rest, size * PART_SIZE);
    }
    return false;
}

static sb_slice text_of(const sb_trace *trace, uint64_t number) {
    return number < sb_series_count(&trace->strings) ? sb_trace_text(trace, (sb_string)number)
                                                     : (sb_slice){"", 0};
}

/* [name, file, line, is inlined] for each part. */
static unsigned put_parts(sb_output *output, const sb_trace *trace, sb_slice parts,
                          unsigned written) {
    while (parts.size >= PART_SIZE) {
        uint64_t name = 0;
        uint64_t file = 0;
        uint64_t line = 0;
        uint64_t symbol = 0;
        take(&parts, 3, &name);
        take(&parts, 3, &file);
        take(&parts, 4, &line);
        take(&parts, 8, &symbol);
        sb_put_text(output, written++ == 0 ? "[" : ",[");
        sb_put_json(output, text_of(trace, name));
        sb_put_char(output, ',');
        sb_put_json(output, text_of(trace, file));
        sb_put_format(output, ",%" PRIu64 ",%s]", line, parts.size > 0 ? "true" : "false");
    }
    return written;
}

void view_put_stack(sb_output *output, const sb_trace *trace, uint32_t number) {
    sb_slice frames;
    unsigned written = 0;
    if (!find_stack(trace, number, &frames))
        return;
    sb_put_text(output, ",\"stack\":[");
    while (frames.size > 0 && written < FRAMES_SHOWN) {
        uint64_t frame = 0;
        sb_slice parts;
        take(&frames, 8, &frame);
        if (find_frame(trace, frame, &parts))
            written = put_parts(output, trace, parts, written);
        else
            sb_put_format(output, "%s[\"0x%" PRIx64 "\",\"\",0,false]", written++ == 0 ? "" : ",",
                          frame);
    }
    sb_put_char(output, ']');
}
