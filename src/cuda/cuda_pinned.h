/*
 * Memory of the host that a GPU reaches. It is the process's own and only registered with the
 * driver: what the driver allocates goes away with its context, and a program may end that at any
 * time, while another thread reads.
 */
#ifndef SB_CUDA_CUDA_PINNED_H
#define SB_CUDA_CUDA_PINNED_H

#include "cuda/cuda_driver.h"

typedef struct cuda_pinned {
    void *data; /* NULL: there is none */
    size_t size;
} cuda_pinned;

/* All 0. what: begins the sentence, where it cannot be had. */
sb_status cuda_pinned_allocate(cuda_pinned *memory, const cuda_driver *driver, size_t size,
                               const char *what, sb_error *error);
/* driver NULL: the context is gone. */
void cuda_pinned_free(cuda_pinned *memory, const cuda_driver *driver);

#endif
