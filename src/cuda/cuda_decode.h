/*
 * From records of chunks (include/strobe/cuda_layout.h) to events in the order of time.
 *
 * A chunk is looked at again and again while warps write into it; cuda_chunk remembers what was
 * told already. A look has two passes: cuda_decode_anchors takes what there is to know about
 * clocks, then, when lines are fitted, cuda_decode_events gives the starts and ends up to a moment
 * (`until`): later ones may have neighbours that were not written yet when the chunk was copied.
 *
 * Chunks come out of memory that kernels write. Nothing in them is trusted.
 */
#ifndef SB_CUDA_CUDA_DECODE_H
#define SB_CUDA_CUDA_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <strobe/cuda_layout.h>

#include "cuda/cuda_clock.h"

#define CUDA_FOREVER INT64_MAX

/* Who recorded: a warp of a block of a launch. */
typedef struct cuda_owner {
    uint64_t launch;
    uint32_t block[3];
    uint32_t warp;
    uint32_t sm;
    uint32_t program;
} cuda_owner;

/* A bit for each slot of a chunk. */
__extension__ typedef unsigned __int128 cuda_slots;

#define CUDA_SLOT(slot) ((cuda_slots)1 << (slot))

/* What was told of a chunk. */
typedef struct cuda_chunk {
    cuda_slots begun;
    cuda_slots ended; /* or nothing more to tell */
    int64_t *begins;  /* of zones that were open at the end of a look; NULL: there were none */
} cuda_chunk;

void cuda_chunk_free(cuda_chunk *chunk);

typedef enum cuda_event_kind {
    CUDA_BEGIN,
    CUDA_END,
    CUDA_WHOLE_SPAN, /* told when it has ended */
    CUDA_DATA,
    CUDA_NUMBER, /* DeviceRecordEvent */
    CUDA_SUM,
    CUDA_NOWHERE, /* a zone of an SM that is not known, or whose time cannot be told */
} cuda_event_kind;

typedef struct cuda_event {
    int64_t time;  /* of the global timer */
    int64_t begin; /* of a zone */
    int64_t end;   /* of a zone: CUDA_FOREVER if it is not known yet */
    cuda_owner owner;
    uint64_t place;  /* where the address of the sb_cuda_place is; of CUDA_NUMBER the number */
    uint64_t value;  /* of data; cycles of a sum, or of a zone that has ended */
    uint64_t times;  /* of a sum */
    uint64_t record; /* the same for the begin and the end of a zone */
    cuda_event_kind kind;
    bool is_main;
    bool is_cut; /* a span that nobody ended */
} cuda_event;

typedef void (*cuda_event_sink)(void *context, const cuda_event *event);

/* The SM that a chunk's first owner ran on; false: nobody has signed it yet. */
bool cuda_decode_sm(const sb_cuda_record *records, uint32_t *sm);
/* The last owner's slot, and the slots used if the chunk is retired or full; 0: it is in use. */
typedef struct cuda_chunk_state {
    uint32_t owner_slot;
    uint32_t used;
    bool is_done;     /* the last owner has left: the chunk may be stashed */
    bool is_complete; /* used, and all of its records are complete */
} cuda_chunk_state;
cuda_chunk_state cuda_decode_state(const sb_cuda_record *records);

/* Least and greatest time that a chunk's anchors speak of; widens *first and *last. */
void cuda_decode_range(const sb_cuda_record *records, const cuda_chunk *chunk, uint64_t *first,
                       uint64_t *last);
void cuda_decode_anchors(const sb_cuda_record *records, const cuda_chunk *chunk,
                         cuda_clock_fit *fit);
/*
 * Events that were not told yet, in no order. number tells chunks apart. over: what was launched
 * before this time has ended, so spans that began before and are open will never end. CUDA_FOREVER:
 * that holds for the whole chunk, and its sums are final.
 */
void cuda_decode_events(const sb_cuda_record *records, cuda_chunk *chunk, uint32_t number,
                        const cuda_clock_fit *fit, int64_t until, int64_t over,
                        cuda_event_sink sink, void *context);
/*
 * Of a chunk that nobody will write to any more: ends, just behind a time, for all zones that were
 * told to begin until then and will never end, and zones that could not be told.
 */
void cuda_decode_abandon(const sb_cuda_record *records, cuda_chunk *chunk, uint32_t number,
                         int64_t time, cuda_event_sink sink, void *context);

#endif
