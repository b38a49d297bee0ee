/*
 * libcuda.so.1 and libnvrtc in one, for tests of GPUs as devices: a GPU made of threads
 * (cuda_stand_in.h) behind the names of the real libraries. Kernels are not compiled; what a launch
 * does is known by the function's name:
 *
 *   scale(float *values, float by, int count)   multiplies; each warp has a zone around another
 *   trap()                                      fails, and everything after it
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "cuda_stand_in.h"

#define API __attribute__((visibility("default")))
/* They are found by name; nobody declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { FAILED = 1, GRAPH_NODES_MOST = 64, PATIENCE_NS = 2000000000 };

static void *pointer(cuda_address address) {
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* ---- devices and contexts ---- */

API int cuInit(unsigned flags) {
    return (int)flags;
}

API int cuGetErrorString(int error, const char **text) {
    return stand_in_driver()->error_text(error, text);
}

API int cuDeviceGetCount(int *count) {
    *count = 1;
    return 0;
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
    return stand_in_driver()->device_attribute(value, attribute, device);
}

API int cuDeviceTotalMem_v2(size_t *bytes, cuda_device device) {
    (void)device;
    *bytes = 1 << 30;
    return 0;
}

API int cuDevicePrimaryCtxGetState(cuda_device device, unsigned *flags, int *is_active) {
    (void)device;
    *flags = 0;
    *is_active = 0;
    return 0;
}

API int cuDevicePrimaryCtxRetain(cuda_context_handle *context, cuda_device device) {
    (void)device;
    return stand_in_driver()->context_get(context);
}

API int cuDevicePrimaryCtxRelease_v2(cuda_device device) {
    (void)device;
    return 0;
}

API int cuCtxGetCurrent(cuda_context_handle *context) {
    return stand_in_driver()->context_get(context);
}

API int cuCtxSetCurrent(cuda_context_handle context) {
    return stand_in_driver()->context_set(context);
}

API int cuCtxGetDevice(cuda_device *device) {
    return stand_in_driver()->context_device(device);
}

API int cuCtxSynchronize(void) {
    return stand_in_driver()->context_wait();
}

API int cuThreadExchangeStreamCaptureMode(int *mode) {
    (void)mode;
    return 0;
}

/* ---- memory and streams ---- */

API int cuMemAlloc_v2(cuda_address *address, size_t size) {
    return stand_in_driver()->allocate(address, size);
}

API int cuMemFree_v2(cuda_address address) {
    return stand_in_driver()->free(address);
}

API int cuMemHostAlloc(void **address, size_t size, unsigned flags) {
    return stand_in_driver()->host_allocate(address, size, flags);
}

API int cuMemFreeHost(void *address) {
    return stand_in_driver()->host_free(address);
}

API int cuMemHostGetDevicePointer_v2(cuda_address *address, void *host, unsigned flags) {
    return stand_in_driver()->host_address(address, host, flags);
}

API int cuMemcpyDtoHAsync_v2(void *to, cuda_address from, size_t size, cuda_stream stream) {
    return stand_in_driver()->copy_to_host(to, from, size, stream);
}

API int cuMemcpyHtoDAsync_v2(cuda_address to, const void *from, size_t size, cuda_stream stream) {
    return stand_in_driver()->copy_to_gpu(to, from, size, stream);
}

API int cuStreamCreate(cuda_stream *stream, unsigned flags) {
    return stand_in_driver()->stream_create(stream, flags);
}

API int cuStreamDestroy_v2(cuda_stream stream) {
    return stand_in_driver()->stream_destroy(stream);
}

API int cuStreamSynchronize(cuda_stream stream) {
    return stand_in_driver()->stream_wait(stream);
}

API int cuStreamQuery(cuda_stream stream) {
    return stand_in_driver()->stream_query(stream);
}

API int cuStreamWriteValue32_v2(cuda_stream stream, cuda_address address, uint32_t value,
                                unsigned flags) {
    (void)stream;
    (void)flags;
    __atomic_store_n((uint32_t *)pointer(address), value, __ATOMIC_RELEASE);
    return 0;
}

/* ---- modules ---- */

API int cuModuleLoadData(cuda_module_handle *module, const void *image) {
    return stand_in_driver()->module_load(module, image);
}

API int cuModuleUnload(cuda_module_handle module) {
    return stand_in_driver()->module_unload(module);
}

API int cuModuleGetGlobal_v2(cuda_address *address, size_t *size, cuda_module_handle module,
                             const char *name) {
    (void)module;
    const bool is_gate = strcmp(name, "sb_cuda_this_gate") == 0;
    *address = is_gate ? stand_in_gate() : stand_in_missed();
    *size = is_gate ? sizeof(sb_cuda_gate) : sizeof(sb_cuda_word);
    return 0;
}

static const char *const functions[] = {"strobe_sync", "scale", "trap"};

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
    *offset = 0;
    if (!is_named(function, "scale") || index >= sizeof sizes / sizeof sizes[0])
        return FAILED;
    *size = sizes[index];
    return 0;
}

/* ---- launches ---- */

typedef struct sync_questions {
    char *box;
    uint32_t first;
    uint32_t rounds;
} sync_questions;

/* What the kernel of cuda_sync.c does. */
static void *answer(void *of) {
    sync_questions *asked = of;
    const int64_t begin = sb_clock_ns();
    for (uint32_t number = asked->first + 1; number <= asked->first + asked->rounds; number++) {
        while (__atomic_load_n((uint32_t *)asked->box, __ATOMIC_ACQUIRE) != number) {
            if (sb_clock_ns() - begin > PATIENCE_NS)
                goto leave;
            /* Who sleeps is let in soon, however busy the machine is. */
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        }
        __atomic_store_n((uint64_t *)(asked->box + 136), (uint64_t)sb_clock_ns() / 32 * 32,
                         __ATOMIC_RELAXED);
        __atomic_store_n((uint32_t *)(asked->box + 128), number, __ATOMIC_RELEASE);
    }
leave:
    free(asked);
    return NULL;
}

static int start_answering(void **arguments) {
    pthread_t thread;
    sync_questions *asked = malloc(sizeof *asked);
    if (asked == NULL)
        return FAILED;
    *asked = (sync_questions){pointer(*(cuda_address *)arguments[0]), *(uint32_t *)arguments[1],
                              *(uint32_t *)arguments[2]};
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

static int run(cuda_function function, uint64_t launch, unsigned blocks, unsigned threads,
               void **arguments) {
    if (is_named(function, "trap")) {
        stand_in_break(true);
        return 0;
    }
    float *values = pointer(*(cuda_address *)arguments[0]);
    for (int i = 0; i < *(int *)arguments[2]; i++)
        values[i] *= *(float *)arguments[1];
    record(launch, blocks, threads);
    return 0;
}

static uint64_t launches;

API int cuLaunchKernel(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       cuda_stream stream, void **arguments, void **extra) {
    (void)shared_bytes, (void)stream, (void)extra;
    if (is_named(function, "strobe_sync"))
        return start_answering(arguments);
    return run(function, ++launches, grid_x * grid_y * grid_z, block_x * block_y * block_z,
               arguments);
}

/* ---- graphs ---- */

/* As the driver has them. */
typedef struct memset_parameters {
    cuda_address address;
    size_t pitch;
    unsigned value;
    unsigned element_bytes;
    size_t width;
    size_t height;
} memset_parameters;

typedef struct kernel_parameters {
    cuda_function function;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void **arguments;
    void **extra;
} kernel_parameters;

typedef struct fake_node {
    memset_parameters write; /* address 0: it is a kernel */
    kernel_parameters kernel;
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
                             size_t count, const memset_parameters *parameters,
                             cuda_context_handle context) {
    (void)context;
    if (add_node(node, graph, after, count) != 0)
        return FAILED;
    (*node)->write = *parameters;
    return 0;
}

API int cuGraphAddKernelNode(fake_node **node, fake_graph *graph, fake_node *const *after,
                             size_t count, const kernel_parameters *parameters) {
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
                                       const memset_parameters *parameters,
                                       cuda_context_handle context) {
    (void)exec;
    (void)context;
    node->write = *parameters;
    return 0;
}

API int cuGraphLaunch(fake_graph *exec, cuda_stream stream) {
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

/* ---- the compiler ---- */

typedef struct fake_source {
    bool is_wrong;
} fake_source;

API int nvrtcCreateProgram(fake_source **program, const char *source, const char *name, int count,
                           const char *const *headers, const char *const *names) {
    (void)name, (void)count, (void)headers, (void)names;
    *program = calloc(1, sizeof **program);
    if (*program == NULL)
        return FAILED;
    (*program)->is_wrong = strstr(source, "#error") != NULL;
    return 0;
}

API int nvrtcDestroyProgram(fake_source **program) {
    free(*program);
    return 0;
}

API int nvrtcCompileProgram(fake_source *program, int count, const char *const *options) {
    const bool has_target = count > 0 && strncmp(options[0], "--gpu-architecture=sm_", 22) == 0;
    return program->is_wrong || !has_target ? FAILED : 0;
}

API int nvrtcGetProgramLogSize(fake_source *program, size_t *size) {
    (void)program;
    *size = 1;
    return 0;
}

API int nvrtcGetProgramLog(fake_source *program, char *log) {
    (void)program;
    log[0] = '\0';
    return 0;
}

API int nvrtcGetCUBINSize(fake_source *program, size_t *size) {
    (void)program;
    *size = 1;
    return 0;
}

API int nvrtcGetCUBIN(fake_source *program, char *code) {
    (void)program;
    code[0] = '\0';
    return 0;
}
