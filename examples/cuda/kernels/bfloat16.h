/* Numbers of 16 bits: the upper half of a float. Sums and functions are worked out in floats. */
#ifndef BFLOAT16_H
#define BFLOAT16_H

typedef unsigned short bfloat16;

__device__ __forceinline__ float widen(bfloat16 number) {
    return __uint_as_float((unsigned)number << 16);
}

/* To the nearest, ties to even. */
__device__ __forceinline__ bfloat16 narrow(float number) {
    const unsigned bits = __float_as_uint(number);
    return (bfloat16)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

__device__ __forceinline__ void store(bfloat16 *at, float number) {
    *at = narrow(number);
}

__device__ __forceinline__ void store(float *at, float number) {
    *at = number;
}

/* The sum, or the largest, over all threads of the block. */
template <bool IS_SUM> __device__ float over_block(float value) {
    __shared__ float parts[32];
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_xor_sync(0xFFFFFFFFu, value, step);
        value = IS_SUM ? value + other : fmaxf(value, other);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    float all = parts[0];
    for (int i = 1; i < blockDim.x / 32; i++)
        all = IS_SUM ? all + parts[i] : fmaxf(all, parts[i]);
    return all;
}

#endif
