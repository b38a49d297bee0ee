/*
 * The pool of a context: chunks that warps record into, and their way to the host and back.
 *
 *   offered   in the ring of an SM, behind a ticket
 *   taken     a warp may write into it. Taken chunks are copied in every drain (those in which
 *             nothing happens less often), by a copy engine on a stream of its own, so that kernels
 *             need not end for it
 *   cleared   all records in it were complete and are told: it is zeroed and offered again
 *
 * A chunk is complete if it is full or retired and every record in it has its end. Warps leave
 * theirs in shared memory, where it is forgotten if no other comes to inherit it. cuda_pool_mark
 * notes those that may be, and changes the key, so that no later block inherits them; once all that
 * was launched until then has ended, cuda_pool_sweep takes back those in which nothing has changed
 * hands.
 *
 * Used by one thread at a time, with the context current.
 */
#ifndef SB_CUDA_CUDA_POOL_H
#define SB_CUDA_CUDA_POOL_H

#include "cuda/cuda_decode.h"
#include "cuda/cuda_pinned.h"

/* Of all SMs together: 2 GiB, half of what addresses in entries reach. */
enum { CUDA_CHUNKS_MOST = 1 << 19 };

typedef struct cuda_pool_options {
    uint32_t sm_count;
    uint32_t chunks_per_sm; /* a power of two */
    bool is_on_host; /* records go to memory of the host, where a kernel that traps leaves them */
} cuda_pool_options;

typedef enum cuda_chunk_use { CUDA_OFFERED, CUDA_TAKEN, CUDA_CLEARED } cuda_chunk_use;

/* What the host knows of a chunk beside what was told of it. */
typedef struct cuda_pool_chunk {
    cuda_chunk told;
    cuda_chunk_use use;
    bool is_marked;    /* looked forgotten when the key was changed */
    bool is_forgotten; /* and was */
    uint8_t marked_owner;
    uint8_t idle; /* looks in a row that found nothing new in it */
} cuda_pool_chunk;

typedef struct cuda_pool {
    const cuda_driver *driver;
    cuda_pool_options options;
    cuda_stream stream;
    uint32_t chunk_count;
    cuda_address records; /* on the GPU, somewhere in what was allocated */
    cuda_address allocated;
    cuda_address control; /* what launches are called, then what SMs count and the rings */
    sb_cuda_record *copy; /* of all chunks, those that are taken up to date; NULL: it is gone */
    cuda_pinned copy_memory;
    sb_cuda_record *host; /* the pool itself, where it is on the host; else NULL */
    cuda_pinned pinned;   /* what the next four are in */
    void *zeros;
    sb_cuda_sm *sms;     /* copy of what SMs count */
    sb_cuda_word *rings; /* what the rings hold */
    uint32_t *offered;   /* per SM */
    uint32_t *seen;      /* per SM: tickets below are known to be drawn */
    uint32_t *cleared;   /* per SM: chunks that wait to be offered; chunks_per_sm each */
    uint32_t *cleared_count;
    cuda_pool_chunk *chunks;
    uint32_t taken_count;
    uint32_t key;  /* of entries in shared memory that count */
    uint64_t lost; /* records, so far */
    uint32_t looks;
    bool copies_all; /* in the last look */
    bool is_dead;    /* the context has failed; what is on the host can still be read */
} cuda_pool;

sb_status cuda_pool_open(cuda_pool *pool, const cuda_driver *driver,
                         const cuda_pool_options *options, sb_error *error);
void cuda_pool_close(cuda_pool *pool);
/* The context is gone, and all on the GPU with it; what was counted stays. */
void cuda_pool_abandon(cuda_pool *pool);
/* Where kernels find it. */
sb_cuda_gate cuda_pool_gate(const cuda_pool *pool);

/* Brings the copies of taken chunks up to date; all: also of those in which nothing happens. */
sb_status cuda_pool_copy(cuda_pool *pool, bool all, sb_error *error);
/* Was the chunk copied by the last call? */
bool cuda_pool_is_copied(const cuda_pool *pool, uint32_t chunk);
/* Clears the complete chunks of which all is told and offers them again. */
sb_status cuda_pool_recycle(cuda_pool *pool, sb_error *error);
/* Is room getting short? */
bool cuda_pool_is_low(const cuda_pool *pool);
/* Chunks that look forgotten; draws another key, which the caller brings to all modules. */
uint32_t cuda_pool_mark(cuda_pool *pool);
/* All that was launched before the key was changed has ended, and chunks were copied since. */
void cuda_pool_sweep(cuda_pool *pool);
/* They could not be told yet. */
void cuda_pool_unsweep(cuda_pool *pool);

static inline const sb_cuda_record *cuda_pool_records(const cuda_pool *pool, uint32_t chunk) {
    return pool->copy + (size_t)chunk * SB_CUDA_CHUNK_SLOTS;
}

#endif
