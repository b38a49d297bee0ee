/*
 * Lanes of an SM: rows of a timeline in which zones nest.
 *
 * A warp's zones share a lane while any of them is open; then another warp may have it. Spans, and
 * zones of divergent paths that overlap without one holding the other, get lanes beside it. So an
 * SM has as many lanes as warps (and paths) were recorded at a time, however many blocks it ran.
 */
#ifndef SB_CUDA_CUDA_LANES_H
#define SB_CUDA_CUDA_LANES_H

#include "cuda/cuda_decode.h"

enum { CUDA_LANES_MAX = 255, CUDA_DEPTH_MAX = 32 };

typedef struct cuda_lane_zone {
    uint64_t record;
    int64_t end;   /* CUDA_FOREVER: not known yet */
    uint32_t mark; /* the sink's own */
} cuda_lane_zone;

typedef struct cuda_lane {
    cuda_owner owner; /* of the open zones */
    int64_t last;     /* when something last happened in it */
    uint32_t depth;
    cuda_lane_zone open[CUDA_DEPTH_MAX];
} cuda_lane;

typedef struct cuda_lanes {
    cuda_lane *lanes; /* as many as were ever wanted at a time */
    uint32_t count;
    uint32_t capacity;
    uint64_t unplaced; /* zones and values for which there was no lane */
    uint64_t cut;      /* zones that were ended early, so that they nest */
} cuda_lanes;

/* Told in the order of time, per lane. begin's result comes back with the end. */
typedef struct cuda_lane_sink {
    uint32_t (*begin)(void *context, uint32_t lane, const cuda_event *event);
    void (*end)(void *context, uint32_t sm, uint32_t lane, int64_t time, uint32_t mark);
    /* What is neither begin nor end of a zone. */
    void (*note)(void *context, uint32_t lane, const cuda_event *event);
    void *context;
    uint32_t sm;
} cuda_lane_sink;

void cuda_lanes_free(cuda_lanes *lanes);
/* Nothing is open in them any more. */
void cuda_lanes_forget(cuda_lanes *lanes);
/* Events of one SM, up to some moment; sorts them. */
void cuda_lanes_put(cuda_lanes *lanes, cuda_event *events, size_t count,
                    const cuda_lane_sink *sink);

#endif
