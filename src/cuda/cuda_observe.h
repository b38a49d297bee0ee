/*
 * Somebody beside the recording who wants to see zones (sb_cuda_observe).
 */
#ifndef SB_CUDA_CUDA_OBSERVE_H
#define SB_CUDA_CUDA_OBSERVE_H

#include "cuda/cuda_context.h"

bool cuda_is_observed(void);
/* Zones of an SM, by lanes: for the recording and for the observer. */
cuda_lane_sink cuda_observed_sink(cuda_context *context, uint32_t sm);
/* What the observer calls main zones of a program: bytes of text, 0 for nothing. */
size_t cuda_observed_name(uint32_t program, char *text, size_t room);

#endif
