/* Contexts on the GPU of threads (cuda_stand_in.h), for tests. Included once in a program. */
#ifndef CUDA_CONTEXT_TESTING_H
#define CUDA_CONTEXT_TESTING_H

#include <stdlib.h>

#include "cuda_stand_in.h"
#include "testing.h"

/* Names of zones. */
static uint32_t outer, inner;

static inline cuda_context *open_context(uint32_t chunks, bool is_on_host) {
    cuda_options options;
    sb_error error;
    assert_true(cuda_options_parse(&options, NULL, is_on_host ? "host" : NULL, NULL, NULL));
    options.chunks_per_sm = chunks;
    cuda_context *context = calloc(1, sizeof *context);
    if (cuda_context_open(context, stand_in_driver(), &options, &error) != SB_OK)
        fail_msg("%s", error.message);
    /* Nobody answers questions about the time, and none are asked any more. */
    context->sync.line = (cuda_sync_line){.rate = 1, .used = 1};
    context->sync.last_ns = INT64_MAX;
    const cuda_attached module = {
        .module = "module", .gate = stand_in_gate(), .missed = stand_in_missed()};
    assert_int_equal(cuda_context_add_module(context, &module, &error), SB_OK);
    if (outer == 0) {
        outer = stand_in_place("outer");
        inner = stand_in_place("inner");
    }
    return context;
}

static inline sb_cuda_gate *gate(void) {
    return (sb_cuda_gate *)(uintptr_t)stand_in_gate();
}

static inline void close_context(cuda_context *context) {
    /* The gate is as before anything was attached. */
    *gate() = (sb_cuda_gate){0};
    cuda_context_close(context);
    free(context);
}

static inline void drain(cuda_context *context, cuda_look look) {
    sb_error error;
    if (cuda_drain(context, look, &error) != SB_OK)
        fail_msg("%s", error.message);
}

#endif
