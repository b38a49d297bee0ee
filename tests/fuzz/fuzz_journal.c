/*
 * Any file as a journal. Every other input gets right checksums first, or none would come past the
 * first block.
 */
#include <stdlib.h>
#include <xxhash.h>

#include "capture/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHECKSUM_AT = 8 };

static uint64_t load(const uint8_t *bytes, unsigned count) {
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

/* The checksum as the description of the format has it. */
static void mend_checksums(uint8_t *bytes, size_t size) {
    size_t at = SB_JOURNAL_MAGIC_SIZE;
    for (uint64_t block = 0; size - at >= SB_JOURNAL_BLOCK_HEAD; block++) {
        uint8_t *head = bytes + at;
        const size_t content = load(head, 4);
        if (content > size - at - SB_JOURNAL_BLOCK_HEAD)
            return;
        const uint64_t seed = block * UINT64_C(0x9E3779B97F4A7C15) + load(head, 8);
        const uint64_t sum = XXH3_64bits_withSeed(head + SB_JOURNAL_BLOCK_HEAD, content, seed);
        for (unsigned i = 0; i < 8; i++)
            head[CHECKSUM_AT + i] = (uint8_t)(sum >> (8 * i));
        at += SB_JOURNAL_BLOCK_HEAD + content;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 + SB_JOURNAL_MAGIC_SIZE)
        return 0;
    uint8_t *copy = malloc(size - 1);
    memcpy(copy, data + 1, size - 1);
    if (data[0] % 2 == 0)
        mend_checksums(copy, size - 1);
    const sb_capture_recover_options options = {0};
    sb_trace *trace = NULL;
    sb_capture_report report;
    sb_error damage = {0};
    sb_error error = {0};
    sb_capture_recover((sb_slice){(const char *)copy, size - 1}, &options, &trace, &report, &damage,
                       &error);
    sb_trace_free(trace);
    free(copy);
    return 0;
}
