/*
 * Kernels whose zones are known: how many there are, how long they take, what they lie in. For
 * programs of nvcc (battery.cu) and of NVRTC (ptx/ptx_battery.c).
 */
#ifndef BATTERY_KERNELS_CUH
#define BATTERY_KERNELS_CUH

#include <strobe/cuda.h>

/* Programs find them by name. */
#define KERNEL extern "C" __global__ void

/* How long it really took. */
__device__ long long spin_cycles(long long cycles) {
    const long long begin = clock64();
    long long now = begin;
    while (now - begin < cycles)
        now = clock64();
    return now - begin;
}

__device__ unsigned long long timer() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__device__ void spin_ns(unsigned long long ns) {
    const unsigned long long begin = timer();
    while (timer() - begin < ns)
        ;
}

KERNEL spins(int rounds) {
    DeviceZoneScopedMainN("spins");
    for (int i = 0; i < rounds; i++) {
        long long spent;
        {
            DeviceZoneScopedN("cycles 1000");
            spent = spin_cycles(1000);
        }
        DeviceTimestampedData("cycles 1000", spent);
        {
            DeviceZoneScopedN("cycles 10000");
            spent = spin_cycles(10000);
        }
        DeviceTimestampedData("cycles 10000", spent);
        {
            DeviceZoneScopedN("ns 20000");
            spin_ns(20000);
            DeviceZoneScopedN("inside");
            spin_cycles(100);
        }
    }
}

KERNEL divergent() {
    DeviceZoneScopedMainN("divergent");
    if (threadIdx.x % 32 < 16) {
        DeviceZoneScopedN("left");
        spin_cycles(2000);
        if (threadIdx.x % 32 < 4) {
            DeviceZoneScopedN("left left");
            spin_cycles(500);
        }
    } else {
        DeviceZoneScopedN("right");
        spin_cycles(1500);
    }
    for (int i = 0; i < 20; i++)
        if (threadIdx.x % 32 == i) {
            DeviceZoneScopedN("single");
            spin_cycles(50);
        }
}

/* Some warps return from inside a zone, some end without the compiler's knowledge. */
KERNEL early() {
    DeviceZoneScopedN("early");
    const int warp = threadIdx.x / 32;
    spin_cycles(500);
    if (warp == 1)
        return;
    DeviceZoneScopedN("later");
    if (warp == 2)
        asm volatile("exit;");
    spin_cycles(500);
}

/* Block `at` traps while the others spin. */
KERNEL traps(int at, unsigned long long rest_ns) {
    DeviceZoneScopedMainN("traps");
    for (int i = 0; i < 10; i++) {
        DeviceZoneScopedN("step");
        spin_cycles(100);
    }
    DeviceZoneScopedN("trapped");
    spin_ns(2000000);
    if (static_cast<int>(blockIdx.x) == at)
        __trap();
    spin_ns(rest_ns);
}

KERNEL small(float *values) {
    DeviceZoneScopedMainN("small");
    {
        DeviceZoneScopedN("load");
        values[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    }
    DeviceZoneScopedN("store");
    values[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

KERNEL without_main(float *values) {
    for (int i = 0; i < 3; i++) {
        DeviceZoneScopedN("step");
        values[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    }
}

/* Runs until it is told to stop. */
KERNEL persistent(volatile int *stop) {
    DeviceZoneScopedMainN("persistent");
    while (!*stop) {
        DeviceZoneScopedN("turn");
        spin_ns(5000000);
    }
}

KERNEL everything() {
    DeviceZoneScopedMainN("everything");
    __shared__ sb_cuda_span span;
    if (threadIdx.x == 0)
        span = DeviceSpanBegin("from warp 0 to warp 3");
    DeviceTimestampedData("number", 1000 + blockIdx.x);
    DeviceRecordEvent(77);
    for (int i = 0; i < 10; i++) {
        DeviceZoneScopedSumN1("summed");
        spin_cycles(1000);
    }
    {
        DeviceZoneScopedMainChildN("child");
        spin_cycles(100);
    }
    {
        DeviceZoneScopedWaitN("waits");
        spin_cycles(100);
    }
    __syncthreads();
    if (threadIdx.x / 32 == 3)
        DeviceSpanEnd(span);
}

KERNEL not_valid() {
    DeviceValidateProfiler(blockIdx.x % 2 == 0);
    DeviceZoneScopedN("valid");
    spin_cycles(100);
}

/* Zones alone, on paths that part and end: whoever begins one asks once which lanes are active. */
KERNEL paths(int *values) {
    for (int i = 0; i < 8; i++) {
        DeviceZoneScopedN("straight");
        atomicAdd(&values[threadIdx.x], 1);
    }
    for (int i = 0; i < 4; i++) {
        DeviceZoneScopedN("turn");
        if ((threadIdx.x + i) % 3 == 0) {
            DeviceZoneScopedN("third");
            atomicAdd(&values[threadIdx.x], 1);
        } else {
            DeviceZoneScopedN("others");
            if (threadIdx.x % 32 == 7 + i)
                DeviceRecordEvent(i);
        }
    }
    if (threadIdx.x % 32 < 8)
        return;
    DeviceZoneScopedN("rest");
    atomicAdd(&values[threadIdx.x], 1);
}

/* For blocks of one thread, which nothing can part: zones nest whatever happens. */
KERNEL alone(int *values) {
    DeviceZoneScopedMainN("alone");
    for (int i = 0; i < 5; i++) {
        DeviceZoneScopedN("outer");
        {
            DeviceZoneScopedN("first");
            atomicAdd(values, 1);
        }
        DeviceZoneScopedN("second");
        atomicAdd(values, 1);
    }
}

#endif
