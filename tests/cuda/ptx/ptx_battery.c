/*
 * The kernels of tests/cuda/battery_kernels.cuh, built with NVRTC and run on whatever driver there
 * is; for ptx_zones.py, which looks at the zones.
 *
 *     STROBE_CUDA_LOG=zones.csv ptx_battery CASE
 *
 * prints a line of JSON, as battery.cu does: what was expected and what the library counted. Sizes
 * are smaller, for a GPU that is made of software.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <strobe/cuda_gpu.h>
#include <strobe/cuda_host.h>

enum { THREADS = 256, WARPS = THREADS / 32, STREAMS = 4, REGISTERED = 3 };

static sb_error error;
static sb_cuda_module *module;
static sb_cuda_gpu gpu;

static void check(sb_status status) {
    if (status == SB_OK)
        return;
    fprintf(stderr, "ptx_battery: %s\n", error.message);
    exit(1);
}

/* Functions of the driver that the library has no name for. */
static void find(const char *name, void *function) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *found = driver != NULL ? dlsym(driver, name) : NULL;
    if (found == NULL) {
        fprintf(stderr, "ptx_battery: the driver has no %s\n", name);
        exit(1);
    }
    memcpy(function, &found, sizeof found);
}

static void sleep_ms(long ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static long long now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static uint64_t make_memory(size_t size) {
    uint64_t made = 0;
    check(sb_cuda_allocate(size, &made, &error));
    void *zeros = calloc(1, size);
    check(sb_cuda_write(made, zeros, size, &error));
    free(zeros);
    return made;
}

static sb_cuda_kernel *kernel_of(const char *name) {
    sb_cuda_kernel *kernel = NULL;
    check(sb_cuda_find(module, name, &kernel, &error));
    return kernel;
}

static sb_cuda_shape shape_of(int blocks, int threads) {
    return (sb_cuda_shape){.grid = {(uint32_t)blocks, 1, 1}, .block = {(uint32_t)threads, 1, 1}};
}

static void launch(const char *name, int blocks, int threads, void *stream, void **arguments) {
    const sb_cuda_shape shape = shape_of(blocks, threads);
    check(sb_cuda_launch(kernel_of(name), &shape, stream, arguments, &error));
}

static void report(const char *name, long long expected) {
    unsigned long long (*count_paths)(void);
    find("ptxPathCount", &count_paths);
    if (sb_cuda_flush(&error) != SB_OK)
        fprintf(stderr, "ptx_battery: %s\n", error.message);
    const sb_cuda_counts counts = sb_cuda_count();
    printf("{\"case\": \"%s\", \"expected\": %lld, \"zones\": %llu, \"others\": %llu, \"lost\": "
           "%llu, \"missed\": %llu, \"cut\": %llu, \"unplaced\": %llu, \"error_ns\": %.0f, "
           "\"paths\": %llu}\n",
           name, expected, (unsigned long long)counts.zones, (unsigned long long)counts.others,
           (unsigned long long)counts.lost, (unsigned long long)counts.missed,
           (unsigned long long)counts.cut, (unsigned long long)counts.unplaced, sb_cuda_error_ns(),
           count_paths());
}

/* For the GPU of the calling thread. */
static sb_cuda_module *build(void) {
    static const char *const options[] = {"-I" BATTERY_FOLDER};
    const sb_cuda_build_options wanted = {.source = "#include \"battery_kernels.cuh\"\n",
                                          .name = "battery.cu",
                                          .options = options,
                                          .option_count = 1};
    sb_cuda_module *built = NULL;
    check(sb_cuda_build(&wanted, &built, &error));
    return built;
}

/* ---- cases ---- */

static void run_spins(void) {
    int rounds = 5;
    const int blocks = 4 * gpu.sm_count;
    launch("spins", blocks, THREADS, NULL, (void *[]){&rounds});
    check(sb_cuda_wait(&error));
    report("spins", (long long)blocks * WARPS * (1 + rounds * 4));
}

static void run_divergent(void) {
    const int blocks = 2 * gpu.sm_count;
    launch("divergent", blocks, THREADS, NULL, NULL);
    check(sb_cuda_wait(&error));
    report("divergent", (long long)blocks * WARPS * (1 + 3 + 20));
}

static void run_early(void) {
    for (int i = 0; i < 50; i++)
        launch("early", gpu.sm_count, THREADS, NULL, NULL);
    check(sb_cuda_wait(&error));
    report("early", 50LL * gpu.sm_count * (2 * WARPS - 1));
}

static void run_trap(void) {
    int rounds = 1;
    int at = -1;
    unsigned long long rest_ns = 200000000; /* names are read meanwhile */
    launch("spins", gpu.sm_count, THREADS, NULL, (void *[]){&rounds});
    launch("traps", gpu.sm_count, THREADS, NULL, (void *[]){&at, &rest_ns});
    check(sb_cuda_wait(&error));
    at = 2;
    rest_ns = 3000000000;
    launch("traps", gpu.sm_count, THREADS, NULL, (void *[]){&at, &rest_ns});
    if (sb_cuda_wait(&error) == SB_OK)
        fprintf(stderr, "ptx_battery: the kernel did not trap\n");
    report("trap", (long long)gpu.sm_count * WARPS * (5 + 12 + 12));
}

static void run_blocks(void) {
    const int blocks = 4000;
    uint64_t values = make_memory(sizeof(float) * (size_t)blocks * 128);
    launch("small", blocks, 128, NULL, (void *[]){&values});
    check(sb_cuda_wait(&error));
    report("blocks", blocks * 4LL * 3);
}

static void run_graphs(void) {
    const int blocks = 4;
    const int threads = 64;
    const int replays = 1000;
    sb_cuda_graph *graph = NULL;
    uint64_t values = make_memory(sizeof(float) * (size_t)blocks * (size_t)threads);
    const sb_cuda_shape shape = shape_of(blocks, threads);
    check(sb_cuda_graph_create(&graph, &error));
    for (int i = 0; i < 2; i++)
        check(sb_cuda_graph_add(graph, kernel_of(i == 0 ? "small" : "without_main"), &shape,
                                (void *[]){&values}, 0, &error));
    for (int i = 0; i < replays; i++)
        check(sb_cuda_graph_replay(graph, NULL, &error));
    check(sb_cuda_wait(&error));
    sb_cuda_graph_destroy(graph);
    report("graphs", (long long)replays * blocks * (threads / 32) * 6);
}

static void make_streams(void **streams) {
    int (*create)(void **stream, unsigned flags);
    find("cuStreamCreate", &create);
    for (int i = 0; i < STREAMS; i++)
        check(create(&streams[i], 0) == 0 ? SB_OK
                                          : sb_error_set(&error, SB_ERR_DEVICE, "no stream"));
}

static void run_streams(void) {
    int rounds = 1;
    const int launches = 40;
    void *streams[STREAMS];
    make_streams(streams);
    for (int i = 0; i < launches; i++)
        launch("spins", gpu.sm_count, THREADS, streams[i % STREAMS], (void *[]){&rounds});
    check(sb_cuda_wait(&error));
    report("streams", (long long)launches * gpu.sm_count * WARPS * 5);
}

static void run_forgotten(void) {
    const int launches = 60;
    uint64_t values = make_memory(sizeof(float) * (size_t)gpu.sm_count * THREADS);
    for (int i = 0; i < launches; i++) {
        launch("without_main", gpu.sm_count, THREADS, NULL, (void *[]){&values});
        check(sb_cuda_wait(&error));
        sleep_ms(10);
    }
    report("forgotten", (long long)launches * gpu.sm_count * WARPS * 3);
}

/* Blocks of one launch that follow each other at the same place of shared memory. */
static void run_inherited(void) {
    const int blocks = 400;
    uint64_t values = make_memory(sizeof(float) * (size_t)blocks * THREADS);
    launch("without_main", blocks, THREADS, NULL, (void *[]){&values});
    check(sb_cuda_wait(&error));
    report("inherited", (long long)blocks * WARPS * 3);
}

/* The kernel sees what the host writes meanwhile. */
static void run_long(void) {
    static int stop[1024];
    int (*host_register)(void *memory, size_t size, unsigned flags);
    uint64_t address = (uint64_t)(uintptr_t)stop;
    uint64_t before = 0;
    int grown = 0;
    find("cuMemHostRegister_v2", &host_register);
    if (host_register(stop, sizeof stop, REGISTERED) != 0)
        exit(1);
    launch("persistent", gpu.sm_count, 32, NULL, (void *[]){&address});
    for (int i = 0; i < 20; i++) {
        sleep_ms(100);
        const uint64_t zones = sb_cuda_count().zones;
        grown += zones > before ? 1 : 0;
        before = zones;
    }
    __atomic_store_n(stop, 1, __ATOMIC_SEQ_CST);
    check(sb_cuda_wait(&error));
    report("long", grown);
}

static void run_everything(void) {
    launch("everything", gpu.sm_count, THREADS, NULL, NULL);
    check(sb_cuda_wait(&error));
    report("everything", (long long)gpu.sm_count * (WARPS * 3 + 1));
}

static void run_valid(void) {
    launch("not_valid", 100, THREADS, NULL, NULL);
    check(sb_cuda_wait(&error));
    report("valid", 50LL * WARPS);
}

/* The host's time around each launch. */
static void run_sync(void) {
    int rounds = 1;
    const int launches = 60;
    for (int i = 0; i < launches; i++) {
        const long long before = now_ns();
        launch("spins", 1, 32, NULL, (void *[]){&rounds});
        check(sb_cuda_wait(&error));
        printf("%lld %lld\n", before, now_ns());
        sleep_ms(5);
    }
    report("sync", launches * 5LL);
}

/* The same on two GPUs in turn, whose clocks have nothing in common, by two threads of which each
   has its own. */
static void *run_on_gpu(void *of) {
    enum { LAUNCHES = 30 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const uint32_t number = *(const uint32_t *)of;
    sb_cuda_module *own = NULL;
    sb_cuda_kernel *kernel = NULL;
    int rounds = 1;
    pthread_mutex_lock(&lock);
    check(sb_cuda_use(number, &error));
    own = build();
    check(sb_cuda_find(own, "spins", &kernel, &error));
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < LAUNCHES; i++) {
        const sb_cuda_shape shape = shape_of(1, 32);
        const long long before = now_ns();
        check(sb_cuda_launch(kernel, &shape, NULL, (void *[]){&rounds}, &error));
        check(sb_cuda_wait(&error));
        printf("%lld %lld %u\n", before, now_ns(), number);
        sleep_ms(5);
    }
    return NULL;
}

static void run_gpus(void) {
    uint32_t numbers[] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run_on_gpu, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    report("gpus", 2 * 30 * 5LL);
}

/* Of all warps: what a warp does without parting. */
static void run_paths(void) {
    const int blocks = 8;
    const int launches = 8;
    uint64_t values = make_memory(sizeof(int) * THREADS);
    for (int i = 0; i < launches; i++)
        launch("paths", blocks, THREADS, NULL, (void *[]){&values});
    check(sb_cuda_wait(&error));
    report("paths", (long long)launches * blocks * WARPS * (8 + 4 * 3 + 1));
}

static void run_alone(void) {
    const int blocks = 300;
    int found = 0;
    uint64_t values = make_memory(sizeof(int));
    launch("alone", blocks, 1, NULL, (void *[]){&values});
    check(sb_cuda_wait(&error));
    check(sb_cuda_read(values, &found, sizeof found, &error));
    if (found != blocks * 10)
        fprintf(stderr, "ptx_battery: the kernel has counted to %d\n", found);
    report("alone", blocks * 16LL);
}

/* What a kernel may not do: the driver says so, and everything after it fails. */
static void run_outside(void) {
    uint64_t values = make_memory(sizeof(float));
    launch("small", 1, 32, NULL, (void *[]){&values});
    if (sb_cuda_wait(&error) == SB_OK)
        fprintf(stderr, "ptx_battery: nobody has noticed\n");
    else
        fprintf(stderr, "ptx_battery: %s\n", error.message);
    report("outside", 3);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"spins", run_spins},
                 {"divergent", run_divergent},
                 {"early", run_early},
                 {"trap", run_trap},
                 {"blocks", run_blocks},
                 {"graphs", run_graphs},
                 {"streams", run_streams},
                 {"forgotten", run_forgotten},
                 {"long", run_long},
                 {"everything", run_everything},
                 {"valid", run_valid},
                 {"sync", run_sync},
                 {"inherited", run_inherited},
                 {"paths", run_paths},
                 {"alone", run_alone},
                 {"outside", run_outside},
                 {"gpus", run_gpus}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (count == 2 && strcmp(cases[i].name, arguments[1]) == 0) {
            module = build();
            check(sb_cuda_describe(&gpu, &error));
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "ptx_battery: which case?\n");
    return 2;
}
