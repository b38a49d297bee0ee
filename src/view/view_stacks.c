/*
 * Call stacks: from the number of one to the names of its frames.
 *
 * They are found by going through the tables (trace_stacks.h): one zone is asked about at a time.
 */
#include <inttypes.h>

#include "view/view_call.h"

enum { FRAMES_SHOWN = 128 };

static bool find_stack(const sb_trace *trace, uint32_t number, sb_slice *frames) {
    sb_slice rest = trace->opaque[SB_OPAQUE_CALLSTACKS];
    const uint64_t count = sb_stack_take_count(&rest);
    if (number == 0 || number > count)
        return false;
    for (uint32_t i = 1; sb_stack_take(&rest, frames); i++) {
        if (i == number)
            return true;
    }
    return false;
}

static bool find_frame(const sb_trace *trace, uint64_t id, sb_stack_frame *frame) {
    sb_slice rest = trace->opaque[SB_OPAQUE_CALLSTACK_FRAMES];
    for (uint64_t left = sb_stack_take_count(&rest); left > 0 && sb_stack_take_frame(&rest, frame);
         left--) {
        if (frame->id == id)
            return true;
    }
    return false;
}

static sb_slice text_of(const sb_trace *trace, sb_string number) {
    return number < sb_series_count(&trace->strings) ? sb_trace_text(trace, number)
                                                     : (sb_slice){"", 0};
}

/* [name, file, line, is inlined] for each part. */
static unsigned put_parts(sb_output *output, const sb_trace *trace, sb_slice parts,
                          unsigned written) {
    sb_stack_part part;
    while (sb_stack_take_part(&parts, &part)) {
        sb_put_text(output, written++ == 0 ? "[" : ",[");
        sb_put_json(output, text_of(trace, part.name));
        sb_put_char(output, ',');
        sb_put_json(output, text_of(trace, part.file));
        sb_put_format(output, ",%" PRIu32 ",%s]", part.line, parts.size > 0 ? "true" : "false");
    }
    return written;
}

void view_put_stack(sb_output *output, const sb_trace *trace, uint32_t number) {
    sb_slice frames;
    sb_stack_frame frame;
    uint64_t id = 0;
    unsigned written = 0;
    if (!find_stack(trace, number, &frames))
        return;
    sb_put_text(output, ",\"stack\":[");
    while (written < FRAMES_SHOWN && sb_stack_take_id(&frames, &id)) {
        if (find_frame(trace, id, &frame))
            written = put_parts(output, trace, frame.parts, written);
        else
            sb_put_format(output, "%s[\"0x%" PRIx64 "\",\"\",0,false]", written++ == 0 ? "" : ",",
                          id);
    }
    if (frames.size > 0)
        sb_put_format(output, ",[\"and %zu frames more\",\"\",0,false]", frames.size / 8);
    sb_put_char(output, ']');
}
