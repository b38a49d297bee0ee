/* Rows become columns: blocks of 32 x 8 threads turn tiles of 32 x 32 in shared memory. */
#include <strobe/cuda.h>

#include "bfloat16.h"

#define SIDE 32

extern "C" __global__ void transpose(const bfloat16 *in, bfloat16 *out, int rows, int columns) {
    DeviceZoneScopedMainN("TRANSPOSE");
    __shared__ bfloat16 tile[SIDE][SIDE + 2];
    const int x = blockIdx.x * SIDE;
    const int y = blockIdx.y * SIDE;
    {
        DeviceZoneScopedN("READ");
        for (int i = threadIdx.y; i < SIDE; i += blockDim.y)
            if (y + i < rows && x + threadIdx.x < columns)
                tile[i][threadIdx.x] = in[(size_t)(y + i) * columns + x + threadIdx.x];
        __syncthreads();
    }
    DeviceZoneScopedN("WRITE");
    for (int i = threadIdx.y; i < SIDE; i += blockDim.y)
        if (x + i < columns && y + threadIdx.x < rows)
            out[(size_t)(x + i) * rows + y + threadIdx.x] = tile[threadIdx.x][i];
}
