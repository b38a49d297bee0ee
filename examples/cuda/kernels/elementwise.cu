/* Value by value. OPERATION: 0 sum, 1 product, 2 the larger of the first and 0. */
#include <strobe/cuda.h>

#include "bfloat16.h"

static __device__ float combine(float a, float b) {
    return OPERATION == 0 ? a + b : OPERATION == 1 ? a * b : fmaxf(a, 0.0f);
}

extern "C" __global__ void elementwise(const bfloat16 *a, const bfloat16 *b, RESULT *out,
                                       int count) {
    DeviceZoneScopedMainN("ELEMENTWISE");
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        store(out + i, combine(widen(a[i]), OPERATION == 2 ? 0.0f : widen(b[i])));
}
