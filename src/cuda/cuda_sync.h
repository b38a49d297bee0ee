/*
 * The global timer of a GPU on the host's clock: a kernel of one thread answers questions of the
 * host over mapped memory, each with the time it reads. Asked again five times a second while
 * kernels record, so that drift is followed. A GPU that is too busy to answer is asked later.
 */
#ifndef SB_CUDA_CUDA_SYNC_H
#define SB_CUDA_CUDA_SYNC_H

#include "cuda/cuda_clock.h"
#include "cuda/cuda_pinned.h"

enum { CUDA_SYNC_KEPT = 8 };

typedef struct cuda_sync {
    cuda_stream stream;
    cuda_module_handle module;
    cuda_function kernel;
    cuda_pinned memory;
    struct cuda_sync_box *box; /* mapped */
    cuda_address box_address;
    uint32_t asked;                      /* questions so far */
    cuda_sync_line kept[CUDA_SYNC_KEPT]; /* of the last sessions, the latest first */
    int64_t last_ns;                     /* when it was last asked */
    uint32_t sessions;
    cuda_sync_line line;
} cuda_sync;

sb_status cuda_sync_open(cuda_sync *sync, const cuda_driver *driver, sb_error *error);
void cuda_sync_close(cuda_sync *sync, const cuda_driver *driver);
static inline bool cuda_sync_is_open(const cuda_sync *sync) {
    return sync->box != NULL;
}
/* Asks, if it is time, and draws the line anew. */
sb_status cuda_sync_follow(cuda_sync *sync, const cuda_driver *driver, sb_error *error);
/* Asks until it is known, for a while: a GPU that was too busy to answer is asked again when the
   kernel of the last question has left. False: it does not answer. */
bool cuda_sync_find(cuda_sync *sync, const cuda_driver *driver);

static inline bool cuda_sync_is_known(const cuda_sync *sync) {
    return sync->line.used > 0;
}

#endif
