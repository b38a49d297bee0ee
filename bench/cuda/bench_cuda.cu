/*
 * What zones cost inside kernels. Built three times by bench.py: without zones, with ours
 * (-DSTROBE_ENABLE), and with FlashInfer's profiler (-DPEER_FLASHINFER, its header given by the
 * user); the kernels are the same. Prints a line of JSON for each measurement.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <strobe/cuda.h>
#ifdef STROBE_ENABLE
#include <strobe/cuda_host.h>
#endif

enum { THREADS = 256, WARPS = THREADS / 32, REPEATS = 3, LAUNCHES = 3 };

/* ---- the zones ---- */

#if defined(PEER_FLASHINFER)
#define FLASHINFER_ENABLE_PROFILER
#include <flashinfer/profiler.cuh>
using namespace flashinfer;
struct peer_params {
    PROFILER_PARAMS_DECL
};
struct peer_closure {
    PROFILER_CLOSURE_PARAMS_DECL
};
struct peer_zone {
    peer_closure &closure;
    unsigned number;
    __device__ __forceinline__ peer_zone(peer_closure &to, unsigned which)
        : closure(to), number(which) {
        PROFILER_EVENT_START(closure, number)
    }
    __device__ __forceinline__ ~peer_zone() {
        PROFILER_EVENT_END(closure, number)
    }
};
#define PARAMETER peer_params profiler,
#define ARGUMENT peer_params{peer_buffer},
/* A group is a warp, as ours. */
#define MAIN(name)                                                                         \
    peer_closure closure;                                                                  \
    PROFILER_INIT(profiler, 0, closure, threadIdx.x / 32, WARPS, threadIdx.x % 32 == 0)    \
    peer_zone main_zone(closure, 0)
#define ZONE(name, number) peer_zone zone_##number(closure, number)
static uint64_t *peer_buffer;
#else
#define PARAMETER
#define ARGUMENT
#define MAIN(name) DeviceZoneScopedMainN(name)
#define ZONE(name, number) DeviceZoneScopedN(name)
#endif

#define PEER_BYTES (4ull << 30)

static void check(cudaError_t result, const char *what) {
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "bench_cuda: %s: %s\n", what, cudaGetErrorString(result));
    exit(1);
}

/* ---- kernels ---- */

__global__ void zones_only(PARAMETER unsigned *out, int rounds) {
    MAIN("zones only");
    unsigned value = threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        ZONE("zone", 1);
        value = value * 1664525u + 1013904223u;
        asm volatile("" : "+r"(value) : : "memory");
    }
    if (value == 1)
        *out = value;
}

/*
 * 128 x 128 of the result for each block, 32 deep at a time, on tensor cores. A zone for every
 * STEPS of these; for each its fetching and multiplying too if STEPS is 1.
 */
enum { TILE = 128, DEEP = 32, PAD = 8 };

template <int STEPS>
__global__ void __launch_bounds__(THREADS)
    matmul(PARAMETER const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int size) {
    using namespace nvcuda;
    MAIN("matmul");
    __shared__ __nv_bfloat16 left[2][TILE][DEEP + PAD];
    __shared__ __nv_bfloat16 right[2][DEEP][TILE + PAD];
    const int warp = threadIdx.x / 32;
    const int row = warp / 2 * 32;
    const int column = warp % 2 * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][4];
    for (auto &line : sums)
        for (auto &sum : line)
            wmma::fill_fragment(sum, 0.0f);
    const __nv_bfloat16 *a_tile = a + (size_t)blockIdx.y * TILE * size;
    const __nv_bfloat16 *b_tile = b + (size_t)blockIdx.x * TILE;
    const auto fetch = [&](int to, int k) {
        for (int i = threadIdx.x; i < TILE * DEEP / 8; i += THREADS) {
            const int y = i / (DEEP / 8);
            const int x = i % (DEEP / 8) * 8;
            *reinterpret_cast<uint4 *>(&left[to][y][x]) =
                *reinterpret_cast<const uint4 *>(a_tile + (size_t)y * size + k + x);
        }
        for (int i = threadIdx.x; i < DEEP * TILE / 8; i += THREADS) {
            const int y = i / (TILE / 8);
            const int x = i % (TILE / 8) * 8;
            *reinterpret_cast<uint4 *>(&right[to][y][x]) =
                *reinterpret_cast<const uint4 *>(b_tile + (size_t)(k + y) * size + x);
        }
    };
    fetch(0, 0);
    __syncthreads();
    const auto multiply = [&](int now) {
        for (int step = 0; step < DEEP; step += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> x[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> y[4];
            for (int i = 0; i < 2; i++)
                wmma::load_matrix_sync(x[i], &left[now][row + 16 * i][step], DEEP + PAD);
            for (int i = 0; i < 4; i++)
                wmma::load_matrix_sync(y[i], &right[now][step][column + 16 * i], TILE + PAD);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    wmma::mma_sync(sums[i][j], x[i], y[j], sums[i][j]);
        }
    };
    for (int begin = 0; begin < size; begin += STEPS * DEEP) {
        if constexpr (STEPS == 1) {
            const int now = begin / DEEP % 2;
            if (begin + DEEP < size) {
                ZONE("fetch", 1);
                fetch(1 - now, begin + DEEP);
            }
            {
                ZONE("multiply", 2);
                multiply(now);
            }
            __syncthreads();
        } else {
            ZONE("steps", 4);
            for (int k = begin; k < begin + STEPS * DEEP; k += DEEP) {
                const int now = k / DEEP % 2;
                if (k + DEEP < size)
                    fetch(1 - now, k + DEEP);
                multiply(now);
                __syncthreads();
            }
        }
    }
    ZONE("store", 3);
    float *to = c + ((size_t)blockIdx.y * TILE + row) * size + blockIdx.x * TILE + column;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            wmma::store_matrix_sync(to + (size_t)i * 16 * size + j * 16, sums[i][j], size,
                                    wmma::mem_row_major);
}

__device__ float over_block(float value, bool largest) {
    __shared__ float parts[WARPS];
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_xor_sync(0xFFFFFFFFu, value, step);
        value = largest ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    float all = parts[0];
    for (int i = 1; i < WARPS; i++)
        all = largest ? fmaxf(all, parts[i]) : all + parts[i];
    return all;
}

/* A row for each block. */
__global__ void softmax(PARAMETER const float *in, float *out, int columns) {
    MAIN("softmax");
    const float *from = in + (size_t)blockIdx.x * columns;
    float *to = out + (size_t)blockIdx.x * columns;
    float most = -INFINITY;
    float sum = 0;
    {
        ZONE("largest", 1);
        for (int i = threadIdx.x; i < columns; i += THREADS)
            most = fmaxf(most, from[i]);
        most = over_block(most, true);
    }
    {
        ZONE("sum", 2);
        for (int i = threadIdx.x; i < columns; i += THREADS)
            sum += __expf(from[i] - most);
        sum = over_block(sum, false);
    }
    ZONE("write", 3);
    for (int i = threadIdx.x; i < columns; i += THREADS)
        to[i] = __expf(from[i] - most) / sum;
}

/* ---- measuring ---- */

static void rest() {
    check(cudaDeviceSynchronize(), "kernel");
#ifdef STROBE_ENABLE
    sb_cuda_flush(nullptr);
#endif
}

/*
 * The median of repeated measurements, us for a launch. Launches follow each other without a pause,
 * and the first is not counted: a GPU that rested is slow for a while. What was recorded is read
 * meanwhile, and the rest of it between measurements.
 */
template <typename Launch> static double median_us(Launch launch) {
    cudaEvent_t begin;
    cudaEvent_t end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    std::vector<float> times;
    for (int i = 0; i < REPEATS; i++) {
        float ms = 0;
        launch();
        check(cudaEventRecord(begin), "event");
        for (int k = 0; k < LAUNCHES; k++)
            launch();
        check(cudaEventRecord(end), "event");
        rest();
        check(cudaEventElapsedTime(&ms, begin, end), "event");
        times.push_back(ms * 1000 / LAUNCHES);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

template <typename Kernel> static void describe(const char *name, Kernel kernel) {
    cudaFuncAttributes attributes;
    int blocks = 0;
    check(cudaFuncGetAttributes(&attributes, kernel), "attributes");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, 0), "occupancy");
    printf("{\"kernel\": \"%s\", \"registers\": %d, \"shared\": %zu, \"local\": %zu, \"blocks\": "
           "%d}\n",
           name, attributes.numRegs, attributes.sharedSizeBytes, attributes.localSizeBytes, blocks);
}

static void measure_zones(int sms) {
    enum { ROUNDS = 400 };
    unsigned *out;
    check(cudaMalloc(&out, 4), "memory");
    describe("zones", zones_only);
    for (int blocks : {1, 4, 8}) {
        const int rounds = ROUNDS / blocks;
        const double us = median_us([&] { zones_only<<<blocks * sms, THREADS>>>(ARGUMENT out, rounds); });
        printf("{\"measure\": \"zones\", \"blocks\": %d, \"us\": %.3f, \"rounds\": %d}\n", blocks, us,
               rounds);
    }
}

template <int STEPS> static void measure_matmul(const char *name) {
    enum { SIZE = 4096 };
    __nv_bfloat16 *a;
    __nv_bfloat16 *b;
    float *c;
    check(cudaMalloc(&a, sizeof *a * SIZE * SIZE), "memory");
    check(cudaMalloc(&b, sizeof *b * SIZE * SIZE), "memory");
    check(cudaMalloc(&c, sizeof *c * SIZE * SIZE), "memory");
    std::vector<__nv_bfloat16> values((size_t)SIZE * SIZE);
    unsigned state = 1;
    for (auto &value : values) {
        state = state * 1664525u + 1013904223u;
        value = __float2bfloat16((float)(state >> 16) / 65536.0f - 0.5f);
    }
    check(cudaMemcpy(a, values.data(), sizeof *a * SIZE * SIZE, cudaMemcpyHostToDevice), "copy");
    check(cudaMemcpy(b, values.data(), sizeof *b * SIZE * SIZE, cudaMemcpyHostToDevice), "copy");
    describe(name, matmul<STEPS>);
    const dim3 grid(SIZE / TILE, SIZE / TILE);
    const double us = median_us([&] { matmul<STEPS><<<grid, THREADS>>>(ARGUMENT a, b, c, SIZE); });
    float got = 0;
    double wanted = 0;
    check(cudaMemcpy(&got, c + 77 * SIZE + 99, 4, cudaMemcpyDeviceToHost), "copy");
    for (int k = 0; k < SIZE; k++)
        wanted += (double)__bfloat162float(values[77 * SIZE + k]) *
                  __bfloat162float(values[(size_t)k * SIZE + 99]);
    printf("{\"measure\": \"%s\", \"us\": %.3f, \"tflops\": %.1f, \"is_right\": %d}\n", name, us,
           2.0 * SIZE * SIZE * SIZE / us / 1e6, std::fabs(got - wanted) < 0.05 ? 1 : 0);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}

static void measure_softmax() {
    enum { ROWS = 16384, COLUMNS = 4096 };
    float *in;
    float *out;
    check(cudaMalloc(&in, sizeof *in * ROWS * COLUMNS), "memory");
    check(cudaMalloc(&out, sizeof *out * ROWS * COLUMNS), "memory");
    check(cudaMemset(in, 60, sizeof *in * ROWS * COLUMNS), "fill");
    describe("softmax", softmax);
    const double us = median_us([&] { softmax<<<ROWS, THREADS>>>(ARGUMENT in, out, COLUMNS); });
    float got = 0;
    check(cudaMemcpy(&got, out + 12345, 4, cudaMemcpyDeviceToHost), "copy");
    printf("{\"measure\": \"softmax\", \"us\": %.3f, \"gbs\": %.0f, \"is_right\": %d}\n", us,
           4.0 * sizeof *in * ROWS * COLUMNS / us / 1e3,
           std::fabs(got * COLUMNS - 1) < 0.01 ? 1 : 0);
}

int main() {
    int sms = 0;
    if (cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0) != cudaSuccess) {
        fprintf(stderr, "bench_cuda: there is no GPU here\n");
        return 77;
    }
    if (sb_cuda_init() != 0)
        return 1;
#ifdef PEER_FLASHINFER
    check(cudaMalloc(&peer_buffer, PEER_BYTES), "memory for the peer");
#endif
    measure_zones(sms);
    measure_matmul<16>("matmul");
    measure_matmul<1>("matmul, each step");
    measure_softmax();
#ifdef STROBE_ENABLE
    const sb_cuda_counts counts = sb_cuda_count();
    printf("{\"counts\": {\"zones\": %llu, \"lost\": %llu, \"missed\": %llu}}\n",
           (unsigned long long)counts.zones, (unsigned long long)counts.lost,
           (unsigned long long)counts.missed);
#endif
    return 0;
}
