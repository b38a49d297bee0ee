/*
 * All that strobe/cuda.h has, for clang as the compiler of CUDA. It is compiled without CUDA, so what
 * CUDA's own headers say comes first, as far as it is needed.
 */
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __CUDACC_RTC__ /* without the host's part, which calls CUDA's library */

#include <__clang_cuda_builtin_vars.h>

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
__device__ unsigned __activemask();
__device__ void __syncthreads();
__device__ void __syncwarp(unsigned);
__device__ unsigned atomicCAS_block(unsigned *, unsigned, unsigned);
__device__ unsigned atomicExch_block(unsigned *, unsigned);
__device__ unsigned atomicAdd(unsigned *, unsigned);
__device__ unsigned long long atomicExch(unsigned long long *, unsigned long long);
__device__ unsigned long __cvta_generic_to_constant(const void *);

#include "everything.cu"
