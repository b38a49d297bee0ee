/*
 * Operations on rows, a block for each. OPERATION: 0 softmax, 1 softmax that sees only columns up to
 * the row's own number, 2 layer norm, 3 sum.
 */
#include <strobe/cuda.h>

#include "bfloat16.h"

static __device__ void softmax(const bfloat16 *in, int seen, int columns, float scale,
                               RESULT *out) {
    float most = -1e30f;
    float sum = 0;
    {
        DeviceZoneScopedN("LARGEST");
        for (int i = threadIdx.x; i < seen; i += blockDim.x)
            most = fmaxf(most, widen(in[i]) * scale);
        most = over_block<false>(most);
    }
    {
        DeviceZoneScopedN("SUM");
        for (int i = threadIdx.x; i < seen; i += blockDim.x)
            sum += __expf(widen(in[i]) * scale - most);
        sum = over_block<true>(sum);
    }
    DeviceZoneScopedN("WRITE");
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        store(out + i, i < seen ? __expf(widen(in[i]) * scale - most) / sum : 0.0f);
}

static __device__ void layer_norm(const bfloat16 *in, int columns, RESULT *out) {
    float mean = 0;
    float variance = 0;
    {
        DeviceZoneScopedN("MEAN");
        for (int i = threadIdx.x; i < columns; i += blockDim.x)
            mean += widen(in[i]);
        mean = over_block<true>(mean) / columns;
    }
    {
        DeviceZoneScopedN("VARIANCE");
        for (int i = threadIdx.x; i < columns; i += blockDim.x)
            variance += (widen(in[i]) - mean) * (widen(in[i]) - mean);
        variance = over_block<true>(variance) / columns;
    }
    DeviceZoneScopedN("WRITE");
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        store(out + i, (widen(in[i]) - mean) * rsqrtf(variance + 1e-5f));
}

static __device__ void reduce(const bfloat16 *in, int columns, RESULT *out) {
    DeviceZoneScopedN("SUM");
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += widen(in[i]);
    sum = over_block<true>(sum);
    if (threadIdx.x == 0)
        store(out, sum);
}

extern "C" __global__ void rowwise(const bfloat16 *in, RESULT *out, int columns, float scale) {
    DeviceZoneScopedMainN("ROWWISE");
    const int row = blockIdx.x;
    in += (size_t)row * columns;
    if (OPERATION == 0)
        softmax(in, columns, columns, scale, out + (size_t)row * columns);
    else if (OPERATION == 1)
        softmax(in, row + 1 < columns ? row + 1 : columns, columns, scale,
                out + (size_t)row * columns);
    else if (OPERATION == 2)
        layer_norm(in, columns, out + (size_t)row * columns);
    else
        reduce(in, columns, out + row);
}
