/* Any words as chunks of a GPU's zones: what is told of them nests, and nothing is told twice. */
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda_decode.h"
#include "cuda/cuda_lanes.h"

enum { CHUNKS = 4, SMS = 4, EVENTS = 2 * CHUNKS * SB_CUDA_CHUNK_SLOTS };

typedef struct told {
    cuda_event events[EVENTS];
    size_t count;
    uint64_t begun[CHUNKS * SB_CUDA_CHUNK_SLOTS];
    int64_t last[CUDA_LANES_MAX + 1];
    uint32_t depth[CUDA_LANES_MAX + 1];
} told;

static void take(void *context, const cuda_event *event) {
    told *all = context;
    if (all->count == EVENTS || event->record >= CHUNKS * SB_CUDA_CHUNK_SLOTS)
        abort();
    if (event->kind != CUDA_END && all->begun[event->record]++ != 0)
        abort();
    all->events[all->count++] = *event;
}

static void check_time(told *all, uint32_t lane, int64_t time) {
    if (lane > CUDA_LANES_MAX || time < all->last[lane])
        abort();
    all->last[lane] = time;
}

static uint32_t begin(void *context, uint32_t lane, const cuda_event *event) {
    told *all = context;
    check_time(all, lane, event->time);
    return ++all->depth[lane];
}

static void end(void *context, uint32_t sm, uint32_t lane, int64_t time, uint32_t mark) {
    told *all = context;
    (void)sm;
    check_time(all, lane, time);
    if (all->depth[lane]-- != mark)
        abort();
}

static void note(void *context, uint32_t lane, const cuda_event *event) {
    check_time(context, lane, event->time);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sb_cuda_record records[CHUNKS][SB_CUDA_CHUNK_SLOTS];
    cuda_chunk chunks[CHUNKS] = {0};
    cuda_clock_fit fit;
    cuda_lanes lanes = {0};
    told *all = calloc(1, sizeof *all);
    if (all == NULL || !cuda_fit_open(&fit, SMS, 0.5))
        abort();
    for (size_t i = 0; i <= CUDA_LANES_MAX; i++)
        all->last[i] = INT64_MIN;
    memset(records, 0, sizeof records);
    memcpy(records, data, size < sizeof records ? size : sizeof records);
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    for (uint32_t i = 0; i < CHUNKS; i++) {
        (void)cuda_decode_state(records[i]);
        cuda_decode_range(records[i], &chunks[i], &first, &last);
    }
    cuda_fit_begin(&fit, first <= last ? first : 0, last);
    for (uint32_t i = 0; i < CHUNKS; i++)
        cuda_decode_anchors(records[i], &chunks[i], &fit);
    cuda_fit_finish(&fit);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        cuda_decode_events(records[i], &chunks[i], i, &fit, INT64_MAX - 1, CUDA_FOREVER, take, all);
        cuda_decode_abandon(records[i], &chunks[i], i, INT64_MAX - 1, take, all);
    }
    const cuda_lane_sink sink = {.begin = begin, .end = end, .note = note, .context = all};
    cuda_lanes_put(&lanes, all->events, all->count, &sink);
    for (uint32_t i = 0; i <= CUDA_LANES_MAX; i++)
        if (all->depth[i] != 0)
            abort();
    for (uint32_t i = 0; i < CHUNKS; i++)
        cuda_chunk_free(&chunks[i]);
    cuda_lanes_free(&lanes);
    cuda_fit_close(&fit);
    free(all);
    return 0;
}
