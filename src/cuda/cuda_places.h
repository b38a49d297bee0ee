/*
 * Names of zones. A record says where in the module's constant memory the address of its
 * sb_cuda_place is; that is read when it is first met, and kept.
 */
#ifndef SB_CUDA_CUDA_PLACES_H
#define SB_CUDA_CUDA_PLACES_H

#include "cuda/cuda_driver.h"

/* The recording knows it by its address, so it stays where it is. */
struct sb_source_location;

typedef struct cuda_places {
    struct cuda_place_entry *entries; /* by the hash of their address */
    size_t capacity;
    size_t count;
} cuda_places;

void cuda_places_free(cuda_places *places);
/* Addresses may mean something else from now on. */
void cuda_places_forget(cuda_places *places);
/* Never NULL: what cannot be read is called after its address. driver NULL: nothing can be. */
const struct sb_source_location *cuda_places_find(cuda_places *places, const cuda_driver *driver,
                                                  cuda_stream stream, uint64_t address);

#endif
