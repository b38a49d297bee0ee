/*
 * Runs the kernels of battery_kernels.cuh, whose zones are known.
 *
 *     STROBE_CUDA_LOG=zones.csv battery CASE
 *
 * prints a line of JSON: what was expected and what the library counted. check.py runs all cases and
 * looks at the zones. Needs a GPU and nvcc.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <cuda_runtime.h>

#include <strobe/cuda.h>
#include <strobe/cuda_host.h>

#include "battery_kernels.cuh"

enum { THREADS = 256, WARPS = THREADS / 32 };

static void check(cudaError_t result, const char *what) {
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "battery: %s: %s\n", what, cudaGetErrorString(result));
    exit(1);
}

static long long now_ns() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static int sm_count() {
    int count = 0;
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), "SMs");
    return count;
}

/* ---- cases ---- */

static void report(const char *name, long long expected) {
    sb_error error;
    if (sb_cuda_flush(&error) != SB_OK)
        fprintf(stderr, "battery: %s\n", error.message);
    const sb_cuda_counts counts = sb_cuda_count();
    printf("{\"case\": \"%s\", \"expected\": %lld, \"zones\": %llu, \"others\": %llu, \"lost\": "
           "%llu, \"missed\": %llu, \"cut\": %llu, \"unplaced\": %llu, \"error_ns\": %.0f}\n",
           name, expected, (unsigned long long)counts.zones, (unsigned long long)counts.others,
           (unsigned long long)counts.lost, (unsigned long long)counts.missed,
           (unsigned long long)counts.cut, (unsigned long long)counts.unplaced, sb_cuda_error_ns());
}

static void run_spins() {
    const int blocks = 4 * sm_count();
    spins<<<blocks, THREADS>>>(20);
    check(cudaDeviceSynchronize(), "spins");
    report("spins", (long long)blocks * WARPS * (1 + 20 * 4));
}

static void run_divergent() {
    const int blocks = 2 * sm_count();
    divergent<<<blocks, THREADS>>>();
    check(cudaDeviceSynchronize(), "divergent");
    report("divergent", (long long)blocks * WARPS * (1 + 3 + 20));
}

static void run_early() {
    const int blocks = sm_count();
    for (int i = 0; i < 50; i++)
        early<<<blocks, THREADS>>>();
    check(cudaDeviceSynchronize(), "early");
    report("early", 50ll * blocks * (2 * WARPS - 1));
}

static void run_trap() {
    const int blocks = sm_count();
    spins<<<blocks, THREADS>>>(1);
    traps<<<blocks, THREADS>>>(-1, 3000000000ull);
    check(cudaDeviceSynchronize(), "no trap");
    traps<<<blocks, THREADS>>>(5, 3000000000ull);
    const cudaError_t result = cudaDeviceSynchronize();
    if (result == cudaSuccess)
        fprintf(stderr, "battery: the kernel did not trap\n");
    report("trap", (long long)blocks * WARPS * (5 + 12 + 12));
}

static void run_blocks() {
    const int blocks = 20000;
    float *values;
    check(cudaMalloc(&values, sizeof(float) * blocks * 128), "memory");
    small<<<blocks, 128>>>(values);
    check(cudaDeviceSynchronize(), "blocks");
    report("blocks", (long long)blocks * 4 * 3);
}

static void run_graphs() {
    const int blocks = 64;
    float *values;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check(cudaMalloc(&values, sizeof(float) * blocks * THREADS), "memory");
    check(cudaStreamCreate(&stream), "stream");
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
    small<<<blocks, THREADS, 0, stream>>>(values);
    without_main<<<blocks, THREADS, 0, stream>>>(values);
    const timespec pause = {0, 20000000}; /* the library looks meanwhile */
    nanosleep(&pause, NULL);
    check(cudaStreamEndCapture(stream, &graph), "end of capture");
    check(cudaGraphInstantiate(&ready, graph, 0), "graph");
    for (int i = 0; i < 1000; i++)
        check(cudaGraphLaunch(ready, stream), "replay");
    check(cudaStreamSynchronize(stream), "graphs");
    report("graphs", 1000ll * blocks * WARPS * 6);
}

static void run_streams() {
    const int blocks = 16;
    cudaStream_t streams[4];
    for (int i = 0; i < 4; i++)
        check(cudaStreamCreate(&streams[i]), "stream");
    for (int i = 0; i < 200; i++)
        spins<<<blocks, THREADS, 0, streams[i % 4]>>>(1);
    check(cudaDeviceSynchronize(), "streams");
    report("streams", 200ll * blocks * WARPS * 5);
}

/* Kernels without a main zone forget their chunks, which must come back. */
static void run_forgotten() {
    const int blocks = sm_count();
    float *values;
    check(cudaMalloc(&values, sizeof(float) * blocks * THREADS), "memory");
    for (int i = 0; i < 150; i++) {
        without_main<<<blocks, THREADS>>>(values);
        check(cudaDeviceSynchronize(), "forgotten");
        const timespec pause = {0, 10000000};
        nanosleep(&pause, NULL);
    }
    report("forgotten", 150ll * blocks * WARPS * 3);
}

static void run_long() {
    int *stop;
    check(cudaHostAlloc(&stop, sizeof *stop, cudaHostAllocMapped), "flag");
    *stop = 0;
    persistent<<<sm_count(), THREADS>>>(stop);
    unsigned long long before = 0;
    int grown = 0;
    for (int i = 0; i < 20; i++) {
        const timespec pause = {0, 100000000};
        nanosleep(&pause, NULL);
        const unsigned long long zones = sb_cuda_count().zones;
        grown += zones > before ? 1 : 0;
        before = zones;
    }
    *reinterpret_cast<volatile int *>(stop) = 1;
    check(cudaDeviceSynchronize(), "long");
    report("long", grown);
}

/* A capture that the driver tells nobody of, while room for zones gets short. */
static void run_capture() {
    const int blocks = sm_count();
    float *values;
    cudaStream_t stream;
    cudaStream_t other;
    cudaGraph_t graph;
    check(cudaMalloc(&values, sizeof(float) * blocks * THREADS), "memory");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "stream");
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
    small<<<blocks, THREADS, 0, stream>>>(values);
    for (int i = 0; i < 100; i++) {
        without_main<<<blocks, THREADS, (i % 8) * 4096, other>>>(values);
        const timespec pause = {0, 5000000};
        nanosleep(&pause, NULL);
    }
    check(cudaStreamEndCapture(stream, &graph), "end of capture");
    check(cudaDeviceSynchronize(), "capture");
    report("capture", 100ll * blocks * WARPS * 3);
}

/* A program that ends its context, and goes on. */
static void run_reset() {
    const int blocks = sm_count();
    for (int i = 0; i < 3; i++) {
        not_valid<<<blocks, THREADS>>>();
        check(cudaDeviceSynchronize(), "reset");
        sb_error error;
        if (sb_cuda_flush(&error) != SB_OK)
            fprintf(stderr, "battery: %s\n", error.message);
        check(cudaDeviceReset(), "reset");
        if (sb_cuda_init() != 0)
            fprintf(stderr, "battery: the new context cannot be attached\n");
    }
    report("reset", 3ll * ((blocks + 1) / 2) * WARPS);
}

static void run_everything() {
    const int blocks = sm_count();
    everything<<<blocks, THREADS>>>();
    check(cudaDeviceSynchronize(), "everything");
    report("everything", (long long)blocks * (WARPS * 3 + 1));
}

static void run_valid() {
    not_valid<<<100, THREADS>>>();
    check(cudaDeviceSynchronize(), "valid");
    report("valid", 50ll * WARPS);
}

/* The host's time around each launch, for check.py to compare with, and what events measured: from
   the begin to the end, and from the end of the first. */
static void run_sync() {
    enum { LAUNCHES = 1000 };
    static cudaEvent_t begins[LAUNCHES];
    static cudaEvent_t ends[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) {
        check(cudaEventCreate(&begins[i]), "event");
        check(cudaEventCreate(&ends[i]), "event");
    }
    for (int i = 0; i < LAUNCHES; i++) {
        float ms = 0;
        float since_first_ms = 0;
        check(cudaEventRecord(begins[i]), "event");
        const long long before = now_ns();
        spins<<<1, 32>>>(1);
        check(cudaEventRecord(ends[i]), "event");
        check(cudaDeviceSynchronize(), "sync");
        const long long after = now_ns();
        check(cudaEventElapsedTime(&ms, begins[i], ends[i]), "event");
        check(cudaEventElapsedTime(&since_first_ms, ends[0], ends[i]), "event");
        printf("%lld %lld %.0f %.0f\n", before, after, ms * 1e6, since_first_ms * 1e6);
        /* Over some seconds, so that clocks drift. */
        const timespec pause = {0, 3000000};
        nanosleep(&pause, NULL);
    }
    report("sync", LAUNCHES * 5);
}

/* Nobody has called sb_cuda_init: the library finds the context by itself, a little late. */
static void run_constructor() {
    const int blocks = sm_count();
    float *values;
    check(cudaMalloc(&values, sizeof(float) * blocks * THREADS), "memory");
    for (int i = 0; i < 100; i++) {
        small<<<blocks, THREADS>>>(values);
        check(cudaDeviceSynchronize(), "constructor");
        const timespec pause = {0, 10000000};
        nanosleep(&pause, NULL);
    }
    report("constructor", 100ll * blocks * WARPS * 3);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)();
    } cases[] = {{"spins", run_spins},         {"divergent", run_divergent}, {"early", run_early},
                 {"trap", run_trap},           {"blocks", run_blocks},       {"graphs", run_graphs},
                 {"streams", run_streams},     {"forgotten", run_forgotten}, {"long", run_long},
                 {"everything", run_everything}, {"valid", run_valid},       {"sync", run_sync},
                 {"constructor", run_constructor}, {"capture", run_capture}, {"reset", run_reset}};
    const bool calls_init = argc != 2 || strcmp(argv[1], "constructor") != 0;
    if (calls_init && sb_cuda_init() != 0) {
        fprintf(stderr, "battery: there is no GPU here\n");
        return 77;
    }
    for (const auto &known : cases)
        if (argc == 2 && strcmp(known.name, argv[1]) == 0) {
            known.run();
            return 0;
        }
    fprintf(stderr, "battery: which case?\n");
    return 2;
}
