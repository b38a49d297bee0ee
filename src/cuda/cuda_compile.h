/*
 * From source to code for a GPU, with NVRTC, which is loaded when it is first wanted.
 */
#ifndef SB_CUDA_CUDA_COMPILE_H
#define SB_CUDA_CUDA_COMPILE_H

#include <strobe/cuda_host.h>

/*
 * capability: the GPU's, as 90 for 9.0. A GPU that is newer than the compiler gets the newest code
 * that both know, as PTX, which the driver translates. *code, which cuModuleLoadData takes, is the
 * caller's to free.
 */
sb_status cuda_compile(const sb_cuda_build_options *options, int capability, char **code,
                       sb_error *error);

#endif
