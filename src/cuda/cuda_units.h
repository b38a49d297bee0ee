/*
 * Files of nvcc's that have registered themselves. Libraries register theirs while they are loaded
 * and take them back while they are unloaded, with the loader's lock held; so the lock here is
 * never held while something foreign is called that may want the loader.
 */
#ifndef SB_CUDA_CUDA_UNITS_H
#define SB_CUDA_CUDA_UNITS_H

#include "cuda/cuda_driver.h"

typedef struct cuda_unit_gate {
    uint64_t serial; /* never the same again; from 1 on */
    cuda_address gate;
    cuda_address missed;
} cuda_unit_gate;

/* Changes whenever a unit comes or goes. */
uint32_t cuda_units_version(void);
bool cuda_units_has(uint64_t serial);
/*
 * Of the context that is current: the first unit behind another (behind 0: the first of all) that
 * has a gate there. False: there is none. Its library stays loaded while it is asked.
 */
bool cuda_units_next(uint64_t behind, cuda_unit_gate *found);

#endif
