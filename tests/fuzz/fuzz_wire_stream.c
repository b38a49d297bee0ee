/*
 * A program that sends anything: decoder, model and the file that is written of it. The first bytes
 * choose the protocol and the clock; the rest is frames, each with a length of two bytes.
 */
#include <stdlib.h>

#include "capture/capture_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_trace(const sb_trace *trace) {
    sb_output output = sb_output_to_memory();
    sb_trace_write(trace, &(sb_trace_write_options){0}, &output, NULL);
    sb_output_discard(&output);
}

/* Asks as a session would, so that answers find their questions. */
static void ask(capture_questions *questions, const sb_wire_protocol *protocol) {
    uint8_t bytes[64 * SB_WIRE_QUERY_SIZE];
    sb_vector locations = sb_vector_of(sizeof(uint64_t));
    capture_questions_take(questions, protocol, bytes, 64, &locations);
    sb_vector_free(&locations);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { HEAD = 4 };
    if (size < HEAD)
        return 0;
    const sb_wire_protocol *protocol = sb_wire_protocol_at(data[0] % sb_wire_protocol_count());
    const sb_wire_welcome welcome = {.timer_multiplier = (data[1] + 1) / 16.0,
                                     .init_begin = (int64_t)data[2] << (data[2] % 56),
                                     .flags = data[3]};
    const sb_wire_on_demand on_demand = {.frames = 3, .time = 99};
    capture_questions questions;
    capture_model *model = malloc(sizeof *model);
    sb_trace *trace = sb_trace_create();
    capture_questions_init(&questions, false);
    capture_model_init(model, trace, protocol, &welcome, &on_demand, &questions);
    const sb_wire_handler handler = capture_model_handler(model);
    sb_wire_decoder *decoder = sb_wire_decoder_create(protocol, data[3] >= 128, &handler);
    sb_slice rest = {(const char *)data + HEAD, size - HEAD};
    while (rest.size > 2) {
        const size_t length = (uint8_t)rest.data[0] | (size_t)(uint8_t)rest.data[1] << 8;
        const sb_slice frame = sb_slice_first(sb_slice_after(rest, 2), length);
        rest = sb_slice_after(rest, 2 + frame.size);
        /* A copy of its own, so that reading past its end is seen. */
        char *copy = malloc(frame.size + 1);
        memcpy(copy, frame.data, frame.size);
        copy = realloc(copy, frame.size > 0 ? frame.size : 1);
        sb_error error = {0};
        const sb_status status = sb_wire_decode(decoder, (sb_slice){copy, frame.size}, &error);
        model->protocol = sb_wire_decoder_protocol(decoder);
        free(copy);
        ask(&questions, protocol);
        if (status != SB_OK)
            break;
    }
    capture_model_finish(model);
    /* Writing takes far longer than all before it. */
    if (data[1] % 16 == 0)
        write_trace(trace);
    sb_wire_decoder_free(decoder);
    capture_model_free(model);
    capture_questions_free(&questions);
    sb_trace_free(trace);
    free(model);
    return 0;
}
