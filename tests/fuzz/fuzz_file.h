/*
 * Trace files out of any bytes, for the fuzzers that begin with one.
 */
#ifndef SB_TESTS_FUZZ_FILE_H
#define SB_TESTS_FUZZ_FILE_H

#include "trace/trace.h"

/*
 * An input that begins like a file is read as one; anything else is taken as the body of a file,
 * because compression hides it from the fuzzer. What could be read, or NULL.
 */
sb_trace *read_fuzz_trace(const uint8_t *data, size_t size);

#endif
