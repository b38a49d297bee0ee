/*
 * libcuda.so.1 and libnvrtc in one, for tests of GPUs: a GPU made of threads (cuda_stand_in.h)
 * behind the names of the real libraries. Kernels are not compiled; what a launch does is known by
 * the function's name:
 *
 *   scale(float *values, float by, int count)   multiplies; each warp has a zone around another
 *   plain()                                     a zone for each warp, without a main zone
 *   spans()                                     a span in each warp's main zone, without an end
 *   flood(int count)                            so many zones that are open at a time
 *   trap()                                      fails, and everything after it
 *
 * What programs and GPUs do to us beside that is in cuda_fake_driver.h: contexts end, graphs are
 * captured, kernels take long, memory runs out.
 */
#include "cuda_fake_driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "cuda_stand_in.h"

/* They are found by name; nobody declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum {
    FAILED = 1,
    OUT_OF_MEMORY = 2,
    NOT_STARTED = 3,
    NO_CONTEXT = 201,
    CAPTURE_IMPLICIT = 906,
    GRAPH_NODES_MOST = 64,
    STREAMS_MOST = 256,
    PATIENCE_NS = 100000000
};

static void *pointer(cuda_address address) {
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static void sleep_ns(long ns) {
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* ---- what is done to us ---- */

static fake_state fake;

API fake_state *fake_get(void) {
    return &fake;
}

/* A graph is being captured, and a call that cannot be part of it has broken it. */
static int break_capture(void) {
    fake.is_capture_broken = true;
    return CUDA_ERROR_CAPTURE_FIRST;
}

static _Thread_local int capture_mode;

API int cuThreadExchangeStreamCaptureMode(int *mode) {
    const int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return 0;
}

/* Calls that are forbidden while a graph is captured, except to threads that say it is fine. */
static bool is_forbidden(void) {
    return fake.is_capturing && capture_mode != CUDA_CAPTURE_RELAXED;
}

/* ---- devices and contexts ---- */

/* The primary context has the same handle for good, as those of the driver have. */
struct fake_context {
    _Atomic bool is_alive;
    _Atomic unsigned long long id;
};

static fake_context primary;
static fake_context other;
static unsigned long long last_id;
static _Thread_local fake_context *current;

static void start_context(fake_context *context) {
    if (!context->is_alive)
        context->id = ++last_id;
    context->is_alive = true;
}

API int cuInit(unsigned flags) {
    fake.is_started = true;
    return (int)flags;
}

/* The real compiler asks the driver for its cache, and goes without where there is none. */
API int cuGetExportTable(const void **table, const void *id) {
    (void)id;
    *table = NULL;
    return FAILED;
}

API int cuGetErrorString(int error, const char **text) {
    return stand_in_driver()->error_text(error, text);
}

API int cuDeviceGetCount(int *count) {
    *count = fake.devices != 0 ? fake.devices : 1;
    return fake.is_started ? 0 : NOT_STARTED;
}

API int cuDeviceGet(cuda_device *device, int ordinal) {
    *device = ordinal;
    return 0;
}

API int cuDeviceGetName(char *name, int size, cuda_device device) {
    (void)device;
    snprintf(name, (size_t)size, "NVIDIA A100-SXM4-80GB");
    return 0;
}

API int cuDeviceGetAttribute(int *value, int attribute, cuda_device device) {
    const int capability = fake.capability != 0 ? fake.capability : 90;
    *value = attribute == CUDA_MAJOR ? capability / 10 : capability % 10;
    if (attribute == CUDA_MAJOR || attribute == CUDA_MINOR)
        return 0;
    *value = fake.sms;
    if (attribute == CUDA_SM_COUNT && fake.sms != 0)
        return 0;
    return stand_in_driver()->device_attribute(value, attribute, device);
}

API int cuDeviceTotalMem_v2(size_t *bytes, cuda_device device) {
    (void)device;
    *bytes = 1 << 30;
    return 0;
}

API int cuDevicePrimaryCtxGetState(cuda_device device, unsigned *flags, int *is_active) {
    *flags = 0;
    *is_active = device == 0 && primary.is_alive;
    return fake.is_unseen ? FAILED : 0;
}

API int cuDevicePrimaryCtxRetain(fake_context **context, cuda_device device) {
    (void)device;
    fake.retained++;
    start_context(&primary);
    *context = &primary;
    return 0;
}

API int cuDevicePrimaryCtxRelease_v2(cuda_device device) {
    (void)device;
    fake.retained--;
    return 0;
}

API int cuCtxGetCurrent(fake_context **context) {
    *context = current;
    return 0;
}

API int cuCtxSetCurrent(fake_context *context) {
    if (context != NULL && !context->is_alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    current = context;
    return 0;
}

API int cuCtxGetId(fake_context *context, unsigned long long *id) {
    *id = context->id;
    return context->is_alive ? 0 : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

API int cuCtxGetDevice(cuda_device *device) {
    *device = 0;
    return current != NULL ? 0 : NO_CONTEXT;
}

API int cuCtxSynchronize(void) {
    if (fake.is_capturing)
        return break_capture();
    fake.waiting++;
    while (fake.is_held)
        sleep_ns(1000000);
    fake.waiting--;
    fake.waits++;
    return stand_in_driver()->context_wait();
}

API fake_context *fake_other_context(void) {
    start_context(&other);
    return &other;
}

/* ---- memory ---- */

/* What there is on the GPU goes with the context. */
typedef struct fake_memory {
    struct fake_memory *next;
    void *data;
    size_t size;
} fake_memory;

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static fake_memory *memory;

API int cuMemAlloc_v2(cuda_address *address, size_t size) {
    if (is_forbidden())
        return break_capture();
    fake.allocations++;
    fake_memory *made = malloc(sizeof *made);
    if (fake.has_no_memory || made == NULL) {
        free(made);
        return OUT_OF_MEMORY;
    }
    *made = (fake_memory){.data = malloc(size), .size = size};
    *address = (cuda_address)(uintptr_t)made->data;
    pthread_mutex_lock(&memory_lock);
    made->next = memory;
    memory = made;
    pthread_mutex_unlock(&memory_lock);
    return 0;
}

/* address 0: all of it. With the lock. */
static int release(cuda_address address) {
    int result = FAILED;
    for (fake_memory **at = &memory; *at != NULL;) {
        fake_memory *found = *at;
        if (address != 0 && found->data != pointer(address)) {
            at = &found->next;
            continue;
        }
        *at = found->next;
        free(found->data);
        free(found);
        result = 0;
    }
    return result;
}

API int cuMemFree_v2(cuda_address address) {
    pthread_mutex_lock(&memory_lock);
    const int result = release(address);
    pthread_mutex_unlock(&memory_lock);
    return result;
}

API int cuMemHostRegister_v2(void *address, size_t size, unsigned flags) {
    if (is_forbidden())
        return break_capture();
    return stand_in_driver()->host_register(address, size, flags);
}

API int cuMemHostUnregister(void *address) {
    return stand_in_driver()->host_unregister(address);
}

API int cuMemHostGetDevicePointer_v2(cuda_address *address, void *host, unsigned flags) {
    return stand_in_driver()->host_address(address, host, flags);
}

/* ---- streams ---- */

/* NULL is the default stream. Handles are given once. */
struct fake_stream {
    unsigned long long context;
    int busy; /* kernels that run in it */
};

static fake_stream streams[STREAMS_MOST];
static uint32_t stream_count;

static bool is_usable(const fake_stream *stream) {
    return current != NULL && current->is_alive &&
           (stream == NULL || stream->context == current->id);
}

API int cuStreamCreate(fake_stream **stream, unsigned flags) {
    (void)flags;
    const uint32_t number = __atomic_fetch_add(&stream_count, 1, __ATOMIC_RELAXED);
    if (number >= STREAMS_MOST)
        return FAILED;
    streams[number].context = current->id;
    *stream = &streams[number];
    return 0;
}

API int cuStreamDestroy_v2(fake_stream *stream) {
    return is_usable(stream) ? 0 : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

API int cuStreamQuery(fake_stream *stream) {
    if (!is_usable(stream))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (stream != NULL && __atomic_load_n(&stream->busy, __ATOMIC_ACQUIRE) > 0)
        return CUDA_ERROR_NOT_READY;
    return stand_in_driver()->stream_query(NULL);
}

/* What was written to the gate may not have arrived yet. */
static _Atomic bool is_gate_on_its_way;

API int cuStreamSynchronize(fake_stream *stream) {
    if (is_forbidden())
        return break_capture();
    int result = cuStreamQuery(stream);
    is_gate_on_its_way = false;
    while (result == CUDA_ERROR_NOT_READY) {
        sleep_ns(100000);
        result = cuStreamQuery(stream);
    }
    return result;
}

/* 1: the default stream; others wait for it unless they are told not to. */
API int cuStreamIsCapturing(fake_stream *stream, int *status) {
    *status = 0;
    return (uintptr_t)stream == 1 && fake.is_capturing && fake.is_capture_blocking
               ? CAPTURE_IMPLICIT
               : 0;
}

API int cuMemcpyDtoHAsync_v2(void *to, cuda_address from, size_t size, fake_stream *stream) {
    if (is_forbidden())
        return break_capture();
    pthread_mutex_lock(&memory_lock);
    const int result = is_usable(stream) ? stand_in_driver()->copy_to_host(to, from, size, NULL)
                                         : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    pthread_mutex_unlock(&memory_lock);
    return result;
}

static sb_cuda_gate unit_gate;

/* Warps run meanwhile: whoever sees that it is open uses all the rest. */
static void watch_gate(cuda_address to, const void *from, size_t size) {
    const sb_cuda_gate *gate = pointer(stand_in_gate());
    const cuda_address at = to - stand_in_gate();
    if (at >= sizeof *gate)
        return;
    const bool opens = at == 0 && gate->records == 0 && *(const uint32_t *)from != 0;
    if (opens && (size > sizeof gate->records || is_gate_on_its_way))
        fake.was_gate_torn = true;
    is_gate_on_its_way = true;
}

API int cuMemcpyHtoDAsync_v2(cuda_address to, const void *from, size_t size, fake_stream *stream) {
    if (is_forbidden())
        return break_capture();
    if (pointer(to) == &unit_gate && fake.is_unit_gone) {
        fake.was_gone_used = true;
        return FAILED;
    }
    watch_gate(to, from, size);
    pthread_mutex_lock(&memory_lock);
    const int result = is_usable(stream) ? stand_in_driver()->copy_to_gpu(to, from, size, NULL)
                                         : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    pthread_mutex_unlock(&memory_lock);
    return result;
}

API int cuStreamWriteValue32_v2(fake_stream *stream, cuda_address address, uint32_t value,
                                unsigned flags) {
    (void)stream;
    (void)flags;
    __atomic_store_n((uint32_t *)pointer(address), value, __ATOMIC_RELEASE);
    return 0;
}

/* cudaDeviceReset. */
API void fake_reset(void) {
    pthread_mutex_lock(&memory_lock);
    primary.is_alive = false;
    stand_in_break(false);
    memset(pointer(stand_in_gate()), 0, sizeof(sb_cuda_gate));
    release(0);
    pthread_mutex_unlock(&memory_lock);
}

/* ---- modules ---- */

API int cuModuleLoadData(cuda_module_handle *module, const void *image) {
    if (is_forbidden())
        return break_capture();
    fake.was_ptx = *(const char *)image == '.';
    pthread_mutex_lock(&memory_lock);
    snprintf(fake.loaded, sizeof fake.loaded, "%s", (const char *)image);
    pthread_mutex_unlock(&memory_lock);
    return stand_in_driver()->module_load(module, image);
}

API int cuModuleUnload(cuda_module_handle module) {
    return stand_in_driver()->module_unload(module);
}

API int cuModuleGetGlobal_v2(cuda_address *address, size_t *size, cuda_module_handle module,
                             const char *name) {
    const bool is_gate = strcmp(name, "sb_cuda_this_gate") == 0;
    *address = is_gate ? stand_in_gate() : stand_in_missed();
    if (is_gate && module == NULL && fake.has_unit_gate)
        *address = (cuda_address)(uintptr_t)&unit_gate;
    *size = is_gate ? sizeof(sb_cuda_gate) : sizeof(sb_cuda_word);
    return 0;
}

static const char *const functions[] = {"strobe_sync", "scale", "plain", "spans", "flood", "trap"};

/* A function is its name. */
API int cuModuleGetFunction(cuda_function *function, cuda_module_handle module, const char *name) {
    (void)module;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(name, functions[i]) == 0) {
            memcpy(function, &functions[i], sizeof *function); // NOLINT(bugprone-sizeof-expression)
            return 0;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static bool is_named(cuda_function function, const char *name) {
    return strcmp((const char *)function, name) == 0;
}

API int cuFuncGetAttribute(int *value, int attribute, cuda_function function) {
    (void)function;
    *value = attribute == CUDA_FUNCTION_REGISTERS ? 40 : 0;
    return 0;
}

API int cuFuncSetAttribute(cuda_function function, int attribute, int value) {
    (void)function, (void)attribute, (void)value;
    return 0;
}

API int cuFuncGetParamInfo(cuda_function function, size_t index, size_t *offset, size_t *size) {
    static const size_t sizes[] = {8, 4, 4};
    const size_t count = is_named(function, "scale") ? 3 : is_named(function, "flood") ? 1 : 0;
    *offset = 0;
    *size = count == 1 ? 4 : sizes[index % 3];
    return index < count ? 0 : FAILED;
}

/* ---- launches ---- */

typedef struct sync_questions {
    fake_stream *stream;
    char *box;
    uint32_t first;
    uint32_t rounds;
} sync_questions;

/* What the kernel of cuda_sync.c does. */
static void *answer(void *of) {
    sync_questions *asked = of;
    sleep_ns(fake.sync_delay_ns);
    const int64_t begin = sb_clock_ns();
    for (uint32_t number = asked->first + 1; number <= asked->first + asked->rounds; number++) {
        while (__atomic_load_n((uint32_t *)asked->box, __ATOMIC_ACQUIRE) != number) {
            if (sb_clock_ns() - begin > PATIENCE_NS)
                goto leave;
            /* Who sleeps is let in soon, however busy the machine is. */
            sleep_ns(20000);
        }
        __atomic_store_n((uint64_t *)(asked->box + 136), (uint64_t)sb_clock_ns() / 32 * 32,
                         __ATOMIC_RELAXED);
        __atomic_store_n((uint32_t *)(asked->box + 128), number, __ATOMIC_RELEASE);
    }
leave:
    __atomic_sub_fetch(&asked->stream->busy, 1, __ATOMIC_RELEASE);
    free(asked);
    return NULL;
}

static int start_answering(fake_stream *stream, void **arguments) {
    pthread_t thread;
    sync_questions *asked = malloc(sizeof *asked);
    if (asked == NULL)
        return FAILED;
    *asked = (sync_questions){stream, pointer(*(cuda_address *)arguments[0]),
                              *(uint32_t *)arguments[1], *(uint32_t *)arguments[2]};
    /* Two at a time would answer each other's questions. */
    if (__atomic_add_fetch(&stream->busy, 1, __ATOMIC_RELAXED) > 1)
        fake.has_sync_overlapped = true;
    fake.syncs++;
    if (pthread_create(&thread, NULL, answer, asked) != 0)
        return FAILED;
    return pthread_detach(thread);
}

/* Blocks go round the SMs; a warp has two zones. */
static void record(uint64_t launch, unsigned blocks, unsigned threads) {
    static uint32_t outer;
    static uint32_t inner;
    if (outer == 0) {
        outer = stand_in_place("SCALE");
        inner = stand_in_place("MULTIPLY");
    }
    for (uint32_t block = 0; block < blocks; block++)
        for (uint32_t warp = 0; warp < threads / 32 && warp < STAND_IN_WARPS; warp++) {
            stand_in = (stand_in_warp){
                .sm = block % STAND_IN_SMS, .launch = launch, .block = block, .warp = warp};
            const unsigned around = stand_in_begin(SB_CUDA_MAIN, outer);
            const unsigned inside = stand_in_begin(SB_CUDA_ZONE, inner);
            stand_in_end(inside);
            stand_in_end_main(around);
        }
}

/* A warp on each SM; whoever comes next finds nothing in shared memory that it could go on with. */
static void record_plainly(uint64_t launch) {
    static uint32_t place;
    if (place == 0)
        place = stand_in_place("PLAIN");
    for (uint32_t sm = 0; sm < STAND_IN_SMS; sm++) {
        stand_in = (stand_in_warp){.sm = sm, .launch = launch, .block = sm};
        stand_in_end(stand_in_begin(SB_CUDA_ZONE, place));
    }
    stand_in_clear_shared();
}

static void record_spans(uint64_t launch) {
    static uint32_t place;
    if (place == 0)
        place = stand_in_place("SPANS");
    for (uint32_t sm = 0; sm < STAND_IN_SMS; sm++) {
        stand_in = (stand_in_warp){.sm = sm, .launch = launch, .block = sm};
        const unsigned around = stand_in_begin(SB_CUDA_MAIN, place);
        (void)stand_in_begin(SB_CUDA_SPAN, place);
        stand_in_end_main(around);
    }
}

static void record_many(uint64_t launch, int count) {
    static uint32_t place;
    if (place == 0)
        place = stand_in_place("FLOOD");
    stand_in = (stand_in_warp){.launch = launch};
    unsigned *open = calloc((size_t)count, sizeof *open);
    for (int i = 0; open != NULL && i < count; i++)
        open[i] = stand_in_begin(SB_CUDA_ZONE, place);
    for (int i = count; open != NULL && i-- > 0;)
        stand_in_end(open[i]);
    free(open);
}

static int run_alone(cuda_function function, uint64_t launch, unsigned blocks, unsigned threads,
                     void **arguments) {
    if (is_named(function, "trap"))
        stand_in_break(true);
    if (is_named(function, "plain"))
        record_plainly(launch);
    if (is_named(function, "spans"))
        record_spans(launch);
    if (is_named(function, "flood"))
        record_many(launch, *(int *)arguments[0]);
    if (!is_named(function, "scale"))
        return 0;
    float *values = pointer(*(cuda_address *)arguments[0]);
    for (int i = 0; i < *(int *)arguments[2]; i++)
        values[i] *= *(float *)arguments[1];
    record(launch, blocks, threads);
    return 0;
}

/* One at a time, whoever launches. */
static int run(cuda_function function, uint64_t launch, unsigned blocks, unsigned threads,
               void **arguments) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    const int result = run_alone(function, launch, blocks, threads, arguments);
    pthread_mutex_unlock(&lock);
    return result;
}

static _Atomic uint64_t launches;

API int cuLaunchKernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       fake_stream *stream, void **arguments, void **extra) {
    (void)shared_bytes, (void)extra;
    if (!is_usable(stream))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (is_named(function, "strobe_sync"))
        return start_answering(stream, arguments);
    return run(function, ++launches, grid_x * grid_y * grid_z, block_x * block_y * block_z,
               arguments);
}

/* ---- graphs ---- */

typedef struct fake_node {
    cuda_memset_node write; /* address 0: it is a kernel */
    cuda_kernel_node kernel;
    uint64_t launch; /* replays keep it */
    cuda_address values;
    float by;
    int count;
} fake_node;

typedef struct fake_graph {
    fake_node nodes[GRAPH_NODES_MOST];
    size_t count;
} fake_graph;

API int cuGraphCreate(fake_graph **graph, unsigned flags) {
    *graph = calloc(1, sizeof **graph);
    return *graph != NULL ? (int)flags : FAILED;
}

API int cuGraphDestroy(fake_graph *graph) {
    free(graph);
    return 0;
}

/* Each must follow the last. */
static int add_node(fake_node **node, fake_graph *graph, fake_node *const *after, size_t count) {
    if (graph->count == GRAPH_NODES_MOST || count != (graph->count > 0 ? 1 : 0) ||
        (count == 1 && after[0] != &graph->nodes[graph->count - 1]))
        return FAILED;
    *node = &graph->nodes[graph->count++];
    return 0;
}

API int cuGraphAddMemsetNode(fake_node **node, fake_graph *graph, fake_node *const *after,
                             size_t count, const cuda_memset_node *parameters,
                             cuda_context_handle context) {
    (void)context;
    if (add_node(node, graph, after, count) != 0)
        return FAILED;
    (*node)->write = *parameters;
    return 0;
}

API int cuGraphAddKernelNode(fake_node **node, fake_graph *graph, fake_node *const *after,
                             size_t count, const cuda_kernel_node *parameters) {
    if (add_node(node, graph, after, count) != 0)
        return FAILED;
    (*node)->kernel = *parameters;
    (*node)->launch = ++launches;
    (*node)->values = *(cuda_address *)parameters->arguments[0];
    (*node)->by = *(float *)parameters->arguments[1];
    (*node)->count = *(int *)parameters->arguments[2];
    return 0;
}

API int cuGraphInstantiateWithFlags(fake_graph **exec, fake_graph *graph,
                                    unsigned long long flags) {
    *exec = graph;
    return (int)flags;
}

API int cuGraphExecDestroy(fake_graph *exec) {
    (void)exec;
    return 0;
}

API int cuGraphExecMemsetNodeSetParams(fake_graph *exec, fake_node *node,
                                       const cuda_memset_node *parameters,
                                       cuda_context_handle context) {
    (void)exec;
    (void)context;
    node->write = *parameters;
    return 0;
}

API int cuGraphLaunch(fake_graph *exec, fake_stream *stream) {
    for (size_t i = 0; i < exec->count; i++) {
        fake_node *node = &exec->nodes[i];
        void *arguments[] = {&node->values, &node->by, &node->count};
        const int failed =
            node->write.address != 0
                ? cuStreamWriteValue32_v2(stream, node->write.address, node->write.value, 0)
                : run(node->kernel.function, node->launch, node->kernel.grid[0],
                      node->kernel.block[0], arguments);
        if (failed != 0)
            return failed;
    }
    return 0;
}
