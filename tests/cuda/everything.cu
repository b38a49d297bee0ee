/* All that strobe/cuda.h has, for compilers (nvrtc.py, clang.cu). The code is not run. */
#include <strobe/cuda.h>

template <int N> __device__ float twice(float value) {
    DeviceZoneScopedN("in a template");
    return value * N;
}

extern "C" __global__ void kernel(float *values, int count) {
    DeviceValidateProfiler(count > 0);
    DeviceZoneScopedMainN("kernel");
    __shared__ sb_cuda_span span;
    if (threadIdx.x == 0)
        span = DeviceSpanBegin("span");
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        DeviceZoneScopedMainChildN("row");
        values[i] = twice<2>(values[i]);
    }
    {
        DeviceZoneScopedWaitN("wait");
        values[count] += 1;
    }
    auto inside = [&]() {
        DeviceZoneScopedSumN1("sum");
        values[count + 1] *= 2;
        DeviceZoneScopedSumN2("another");
        values[count + 2] *= 2;
    };
    inside();
    DeviceTimestampedData("data", 42);
    DeviceRecordEvent(7);
    __syncthreads();
    if (threadIdx.x == 32)
        DeviceSpanEnd(span);
}
