/*
 * Any words as a slot of the profiler: all of it is decoded or counted, in order, within bounds.
 * Any value is written down as a transfer.
 */
#include <stdlib.h>
#include <string.h>

#include "device/profiler/profiler_decode.h"
#include "device/profiler/profiler_noc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 8)
        return 0;
    uint64_t now = 0;
    memcpy(&now, data, sizeof now);
    const size_t count = (size - sizeof now) / 4;
    uint32_t *words = malloc(count * 4 + 1);
    if (words == NULL)
        return 0;
    memcpy(words, data + sizeof now, count * 4);
    profiler_decoder decoder = profiler_decoder_of(words, count, now);
    profiler_block block;
    size_t markers = 0;
    sb_output text = sb_output_to_memory();
    while (profiler_decode_next(&decoder, &block)) {
        for (size_t i = 0; i < block.count; i++) {
            if (i > 0 && block.markers[i].time < block.markers[i - 1].time)
                abort();
            profiler_noc_put_transfer(&text, block.markers[i].data);
        }
        markers += block.count;
    }
    if (2 * (markers + decoder.strange) > count)
        abort();
    sb_output_discard(&text);
    profiler_decoder_free(&decoder);
    free(words);
    return 0;
}
