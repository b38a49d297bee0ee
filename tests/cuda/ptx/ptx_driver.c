/*
 * libcuda.so.1 of the GPU that is made of software (ptx.h): all that src/cuda asks a driver for.
 * The GPU is newer than any compiler knows, so that the library has PTX made for it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cuda/cuda_driver.h"
#include "ptx_stream.h"

/* They are found by name; nobody declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static void *pointer(cuda_address address) {
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* ---- devices and contexts ---- */

/* A primary context; its address is the handle. */
typedef struct ptx_context {
    _Atomic bool is_active;
} ptx_context;

static _Atomic bool is_started;
static ptx_context primaries[PTX_GPUS];
static _Thread_local ptx_context *current;

static int gpu_count(void) {
    const char *wanted = getenv("STROBE_PTX_GPUS");
    const int count = wanted != NULL ? atoi(wanted) : 1; // NOLINT(cert-err34-c)
    return count >= 1 && count <= PTX_GPUS ? count : 1;
}

static bool is_gpu(int number) {
    return number >= 0 && number < gpu_count();
}

uint32_t ptx_current_gpu(void) {
    return current != NULL ? (uint32_t)(current - primaries) : 0;
}

API int cuInit(unsigned flags) {
    is_started = true;
    return flags == 0 ? 0 : PTX_INVALID;
}

API int cuGetErrorString(int error, const char **text) {
    static const struct {
        int error;
        const char *text;
    } known[] = {{PTX_INVALID, "invalid argument"},
                 {PTX_OUT_OF_MEMORY, "out of memory"},
                 {PTX_NOT_STARTED, "initialization error"},
                 {PTX_NO_CONTEXT, "invalid device context"},
                 {PTX_BAD_TEXT, "a PTX JIT compilation failed"},
                 {PTX_NOT_FOUND, "named symbol not found"},
                 {PTX_NOT_READY, "device not ready"},
                 {PTX_BAD_ADDRESS, "an illegal memory access was encountered"},
                 {PTX_TOO_LARGE, "too many resources requested for launch"},
                 {PTX_MISALIGNED, "misaligned address"},
                 {PTX_TRAPPED, "unspecified launch failure"}};
    *text = NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].error == error)
            *text = known[i].text;
    return *text != NULL ? 0 : PTX_INVALID;
}

API int cuDeviceGetCount(int *count) {
    *count = gpu_count();
    return is_started ? 0 : PTX_NOT_STARTED;
}

API int cuDeviceGet(cuda_device *device, int ordinal) {
    *device = ordinal;
    return is_gpu(ordinal) ? 0 : PTX_INVALID;
}

API int cuDeviceGetName(char *name, int size, cuda_device device) {
    snprintf(name, (size_t)size, "NVIDIA PTX 99");
    return is_gpu(device) ? 0 : PTX_INVALID;
}

API int cuDeviceGetAttribute(int *value, int attribute, cuda_device device) {
    static const struct {
        int attribute;
        int value;
    } known[] = {
        {CUDA_CLOCK_KHZ, PTX_CLOCK_KHZ}, {CUDA_SM_COUNT, PTX_SMS}, {CUDA_MEMORY_KHZ, 1000000},
        {CUDA_MEMORY_BITS, 256},         {CUDA_MAJOR, 99},         {CUDA_MINOR, 0}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return is_gpu(device) ? 0 : PTX_INVALID;
        }
    return PTX_INVALID;
}

API int cuDeviceTotalMem_v2(size_t *bytes, cuda_device device) {
    *bytes = (size_t)1 << 30;
    return is_gpu(device) ? 0 : PTX_INVALID;
}

API int cuDevicePrimaryCtxGetState(cuda_device device, unsigned *flags, int *is_used) {
    *flags = 0;
    *is_used = is_gpu(device) && primaries[device].is_active;
    return is_gpu(device) ? 0 : PTX_INVALID;
}

/* It stays to the end of the process. */
API int cuDevicePrimaryCtxRetain(ptx_context **context, cuda_device device) {
    if (!is_gpu(device))
        return PTX_INVALID;
    primaries[device].is_active = true;
    *context = &primaries[device];
    return 0;
}

API int cuDevicePrimaryCtxRelease_v2(cuda_device device) {
    return is_gpu(device) ? 0 : PTX_INVALID;
}

API int cuCtxGetCurrent(ptx_context **context) {
    *context = current;
    return 0;
}

API int cuCtxSetCurrent(ptx_context *context) {
    current = context;
    return 0;
}

API int cuCtxGetId(const ptx_context *context, unsigned long long *id) {
    *id = (unsigned long long)(context - primaries) + 1;
    return context >= primaries && context < primaries + PTX_GPUS ? 0 : PTX_NO_CONTEXT;
}

API int cuCtxGetDevice(cuda_device *device) {
    *device = (cuda_device)ptx_current_gpu();
    return current != NULL ? 0 : PTX_NO_CONTEXT;
}

API int cuCtxSynchronize(void) {
    return ptx_streams_wait();
}

API int cuThreadExchangeStreamCaptureMode(int *mode) {
    static _Thread_local int kept;
    const int before = kept;
    kept = *mode;
    *mode = before;
    return 0;
}

/* NVRTC asks a driver that is there for what it needs to keep code in a cache of its own, and can
   do without; but it falls over one that has no such function. */
API int cuGetExportTable(const void **table, const void *id) {
    (void)id;
    *table = NULL;
    return PTX_NOT_FOUND;
}

/* ---- memory ---- */

API int cuMemAlloc_v2(cuda_address *address, size_t size) {
    enum { GARBAGE = 0xCD };
    if (current == NULL)
        return PTX_NO_CONTEXT;
    void *made = size > 0 ? ptx_memory_make(size, GARBAGE) : NULL;
    if (made == NULL)
        return size > 0 ? PTX_OUT_OF_MEMORY : PTX_INVALID;
    *address = (cuda_address)(uintptr_t)made;
    ptx_memory_add(*address, size, true);
    return ptx_sticky_error();
}

/* As the real one, it waits for all kernels. */
API int cuMemFree_v2(cuda_address address) {
    const int wrong = ptx_streams_wait();
    if (!ptx_memory_remove(address))
        return PTX_INVALID;
    free(pointer(address));
    return wrong;
}

API int cuMemHostRegister_v2(void *address, size_t size, unsigned flags) {
    if (flags != CUDA_HOST_MAPPED || size == 0)
        return PTX_INVALID;
    ptx_memory_add((cuda_address)(uintptr_t)address, size, true);
    return ptx_sticky_error();
}

API int cuMemHostUnregister(void *address) {
    return ptx_memory_remove((cuda_address)(uintptr_t)address) ? ptx_sticky_error() : PTX_INVALID;
}

API int cuMemHostGetDevicePointer_v2(cuda_address *address, void *host, unsigned flags) {
    *address = (cuda_address)(uintptr_t)host;
    return flags == 0 && ptx_memory_has(*address, 1, true) ? ptx_sticky_error() : PTX_INVALID;
}

/* ---- streams ---- */

API int cuStreamCreate(ptx_stream **stream, unsigned flags) {
    if (current == NULL)
        return PTX_NO_CONTEXT;
    *stream = ptx_stream_create(flags == CUDA_STREAM_NON_BLOCKING);
    return ptx_sticky_error();
}

API int cuStreamDestroy_v2(ptx_stream *stream) {
    ptx_stream_destroy(stream);
    return ptx_sticky_error();
}

API int cuStreamSynchronize(ptx_stream *stream) {
    return ptx_stream_wait(stream);
}

API int cuStreamQuery(ptx_stream *stream) {
    const int wrong = ptx_sticky_error();
    return wrong != 0 || ptx_stream_is_idle(stream) ? wrong : PTX_NOT_READY;
}

API int cuStreamIsCapturing(const ptx_stream *stream, int *status) {
    (void)stream;
    *status = 0;
    return 0;
}

/* Into memory that is not registered it is waited for, as the real one does. */
API int cuMemcpyDtoHAsync_v2(void *to, cuda_address from, size_t size, ptx_stream *stream) {
    if (!ptx_memory_has(from, size, false))
        return PTX_INVALID;
    ptx_stream_give(
        stream, &(ptx_work){.kind = PTX_WORK_COPY, .to = to, .from = pointer(from), .size = size});
    if (ptx_memory_has((cuda_address)(uintptr_t)to, size, true))
        return ptx_sticky_error();
    return ptx_stream_wait(stream);
}

/* Constant memory is the host's to write. What is not registered is copied at once. */
API int cuMemcpyHtoDAsync_v2(cuda_address to, const void *from, size_t size, ptx_stream *stream) {
    if (!ptx_memory_has(to, size, false))
        return PTX_INVALID;
    ptx_work work = {.kind = PTX_WORK_COPY, .to = pointer(to), .from = from, .size = size};
    if (!ptx_memory_has((cuda_address)(uintptr_t)from, size, false)) {
        work.staged = sb_alloc(size);
        memcpy(work.staged, from, size);
        work.from = work.staged;
    }
    ptx_stream_give(stream, &work);
    return ptx_sticky_error();
}

API int cuStreamWriteValue32_v2(ptx_stream *stream, cuda_address address, uint32_t value,
                                unsigned flags) {
    if (flags != 0 || !ptx_memory_has(address, sizeof value, true))
        return PTX_INVALID;
    ptx_stream_give(stream,
                    &(ptx_work){.kind = PTX_WORK_WRITE, .to = pointer(address), .value = value});
    return ptx_sticky_error();
}

/* ---- modules ---- */

API int cuModuleLoadData(ptx_module **module, const void *image) {
    sb_error error;
    if (ptx_module_load(image, module, &error) == SB_OK)
        return ptx_sticky_error();
    fprintf(stderr, "ptx: %s\n", error.message);
    return PTX_BAD_TEXT;
}

API int cuModuleUnload(ptx_module *module) {
    const int wrong = ptx_streams_wait();
    ptx_module_free(module);
    return wrong;
}

API int cuModuleGetGlobal_v2(cuda_address *address, size_t *size, const ptx_module *module,
                             const char *name) {
    *address = ptx_module_variable(module, name, size);
    return *address != 0 ? ptx_sticky_error() : PTX_NOT_FOUND;
}

API int cuModuleGetFunction(ptx_function **function, const ptx_module *module, const char *name) {
    *function = ptx_module_function(module, name);
    return *function != NULL ? ptx_sticky_error() : PTX_NOT_FOUND;
}

API int cuFuncGetAttribute(int *value, int attribute, const ptx_function *function) {
    *value = attribute == CUDA_FUNCTION_SHARED ? (int)function->shared_bytes
             : attribute == CUDA_FUNCTION_REGISTERS
                 ? (int)(function->register_bytes / PTX_LANES / 4)
                 : 0;
    return 0;
}

API int cuFuncSetAttribute(ptx_function *function, int attribute, int value) {
    if (attribute != CUDA_FUNCTION_MOST_SHARED || value < 0 ||
        (uint32_t)value + function->shared_bytes > PTX_BLOCK_SHARED)
        return PTX_INVALID;
    function->most_shared = (uint32_t)value;
    return ptx_sticky_error();
}

API int cuFuncGetParamInfo(const ptx_function *function, size_t index, size_t *offset,
                           size_t *size) {
    if (index >= function->parameter_count)
        return PTX_INVALID;
    *offset = function->parameters[index].offset;
    *size = function->parameters[index].size;
    return 0;
}

API int cuLaunchKernel(ptx_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       ptx_stream *stream, void **arguments, void **extra) {
    ptx_work work;
    const ptx_shape shape = {.grid = {grid_x, grid_y, grid_z},
                             .block = {block_x, block_y, block_z},
                             .shared_bytes = shared_bytes};
    if (extra != NULL)
        return PTX_INVALID;
    const int sticky = ptx_sticky_error();
    const int wrong = sticky != 0 ? sticky : ptx_prepare_launch(function, &shape, arguments, &work);
    if (wrong == 0)
        ptx_stream_give(stream, &work);
    return wrong;
}

/* ---- for tests ---- */

/* Of all kernels so far. */
API unsigned long long ptxPathCount(void) {
    return ptx_path_count();
}
