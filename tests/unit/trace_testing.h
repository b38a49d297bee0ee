/*
 * What the tests of traces share: random traces, a trace as text to compare, files in memory.
 */
#ifndef SB_TESTS_UNIT_TRACE_TESTING_H
#define SB_TESTS_UNIT_TRACE_TESTING_H

#include <inttypes.h>

#include "testing.h"
#include "trace/trace.h"

/* 0 to count - 1. */
static inline uint64_t below(uint64_t *random, uint64_t count) {
    return next_random(random) % count;
}

static inline bool one_in(uint64_t *random, uint64_t count) {
    return below(random, count) == 0;
}

/* A trace with some of everything, such that a file can hold it as it is. */
sb_trace *make_random_trace(uint64_t seed);
/* Everything in a trace, as lines. */
void dump_trace(const sb_trace *trace, sb_output *output);

#endif
