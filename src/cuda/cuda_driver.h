/*
 * The CUDA driver and the run-time compiler, loaded when they are first wanted: Strobe is built
 * without CUDA's headers and runs where there is no GPU.
 *
 * A cuda_driver is a table of the driver's functions under our names. Tests fill one with functions
 * of their own. Calls return 0 or one of the driver's numbers.
 */
#ifndef SB_CUDA_CUDA_DRIVER_H
#define SB_CUDA_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <strobe/error.h>

typedef int cuda_device;
typedef struct cuda_opaque_context *cuda_context_handle;
typedef struct cuda_opaque_stream *cuda_stream;
typedef struct cuda_opaque_module *cuda_module_handle;
typedef struct cuda_opaque_function *cuda_function;
/* An address on the GPU. */
typedef unsigned long long cuda_address;

enum {
    CUDA_STREAM_NON_BLOCKING = 1, /* work of the default stream is not waited for */
    CUDA_HOST_MAPPED = 3,         /* for all contexts, with an address on the GPU */
    CUDA_CAPTURE_RELAXED = 2,     /* what this thread does is no part of others' graphs */
    CUDA_ERROR_DEINITIALIZED = 4, /* the process ends */
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    /* A graph is being captured, and this would be no part of it. */
    CUDA_ERROR_CAPTURE_FIRST = 900,
    CUDA_ERROR_CAPTURE_LAST = 908,
    /* Attributes of devices. */
    CUDA_CLOCK_KHZ = 13,
    CUDA_SM_COUNT = 16,
    CUDA_MEMORY_KHZ = 36,
    CUDA_MEMORY_BITS = 37,
    CUDA_MAJOR = 75,
    CUDA_MINOR = 76,
    /* Attributes of functions. */
    CUDA_FUNCTION_SHARED = 1,
    CUDA_FUNCTION_LOCAL = 3,
    CUDA_FUNCTION_REGISTERS = 4,
    CUDA_FUNCTION_MOST_SHARED = 8, /* dynamic */
};

/* CUDA_MEMSET_NODE_PARAMS and CUDA_KERNEL_NODE_PARAMS of the driver. */
typedef struct cuda_memset_node {
    cuda_address address;
    size_t pitch;
    unsigned value;
    unsigned element_bytes;
    size_t width;
    size_t height;
} cuda_memset_node;

typedef struct cuda_kernel_node {
    cuda_function function;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void **arguments;
    void **extra;
} cuda_kernel_node;

/* X(member, symbol, parameters) */
#define CUDA_DRIVER_FUNCTIONS(X)                                                                 \
    X(init, "cuInit", (unsigned flags))                                                          \
    X(error_text, "cuGetErrorString", (int error, const char **text))                            \
    X(device_count, "cuDeviceGetCount", (int *count))                                            \
    X(device_get, "cuDeviceGet", (cuda_device * device, int ordinal))                            \
    X(device_name, "cuDeviceGetName", (char *name, int size, cuda_device device))                \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, cuda_device device)) \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t * bytes, cuda_device device))                \
    X(primary_state, "cuDevicePrimaryCtxGetState",                                               \
      (cuda_device device, unsigned *flags, int *is_active))                                     \
    X(primary_retain, "cuDevicePrimaryCtxRetain",                                                \
      (cuda_context_handle * context, cuda_device device))                                       \
    X(primary_release, "cuDevicePrimaryCtxRelease_v2", (cuda_device device))                     \
    X(context_get, "cuCtxGetCurrent", (cuda_context_handle * context))                           \
    X(context_set, "cuCtxSetCurrent", (cuda_context_handle context))                             \
    X(context_device, "cuCtxGetDevice", (cuda_device * device))                                  \
    X(context_wait, "cuCtxSynchronize", (void))                                                  \
    X(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *mode))                            \
    X(allocate, "cuMemAlloc_v2", (cuda_address * address, size_t size))                          \
    X(free, "cuMemFree_v2", (cuda_address address))                                              \
    X(host_register, "cuMemHostRegister_v2", (void *address, size_t size, unsigned flags))       \
    X(host_unregister, "cuMemHostUnregister", (void *address))                                   \
    X(host_address, "cuMemHostGetDevicePointer_v2",                                              \
      (cuda_address * address, void *host, unsigned flags))                                      \
    X(copy_to_host, "cuMemcpyDtoHAsync_v2",                                                      \
      (void *to, cuda_address from, size_t size, cuda_stream stream))                            \
    X(copy_to_gpu, "cuMemcpyHtoDAsync_v2",                                                       \
      (cuda_address to, const void *from, size_t size, cuda_stream stream))                      \
    X(stream_create, "cuStreamCreate", (cuda_stream * stream, unsigned flags))                   \
    X(stream_destroy, "cuStreamDestroy_v2", (cuda_stream stream))                                \
    X(stream_wait, "cuStreamSynchronize", (cuda_stream stream))                                  \
    X(stream_query, "cuStreamQuery", (cuda_stream stream))                                       \
    X(stream_is_capturing, "cuStreamIsCapturing", (cuda_stream stream, int *status))             \
    X(stream_write, "cuStreamWriteValue32_v2",                                                   \
      (cuda_stream stream, cuda_address address, uint32_t value, unsigned flags))                \
    X(module_load, "cuModuleLoadData", (cuda_module_handle * module, const void *image))         \
    X(module_unload, "cuModuleUnload", (cuda_module_handle module))                              \
    X(module_global, "cuModuleGetGlobal_v2",                                                     \
      (cuda_address * address, size_t * size, cuda_module_handle module, const char *name))      \
    X(module_function, "cuModuleGetFunction",                                                    \
      (cuda_function * function, cuda_module_handle module, const char *name))                   \
    X(function_attribute, "cuFuncGetAttribute",                                                  \
      (int *value, int attribute, cuda_function function))                                       \
    X(function_set, "cuFuncSetAttribute", (cuda_function function, int attribute, int value))    \
    X(launch, "cuLaunchKernel",                                                                  \
      (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,              \
       cuda_stream stream, void **arguments, void **extra))

/* Those that older drivers do not have; NULL there. */
#define CUDA_DRIVER_OPTIONS(X)                                                         \
    X(context_id, "cuCtxGetId", (cuda_context_handle context, unsigned long long *id)) \
    X(parameter_info, "cuFuncGetParamInfo",                                            \
      (cuda_function function, size_t index, size_t * offset, size_t * size))

#define CUDA_MEMBER(member, symbol, parameters) \
    int(*member) parameters; // NOLINT(bugprone-macro-parentheses)
typedef struct cuda_driver {
    CUDA_DRIVER_FUNCTIONS(CUDA_MEMBER)
    CUDA_DRIVER_OPTIONS(CUDA_MEMBER)
} cuda_driver;
#undef CUDA_MEMBER

/* A function of a library, and where its address goes in a table. */
typedef struct cuda_symbol {
    const char *name;
    size_t offset;
} cuda_symbol;

/* Fills a table; the name of the first function that the library does not have, or NULL. */
const char *cuda_find_symbols(void *library, const cuda_symbol *symbols, size_t count, void *table);

/* The driver of this machine, started. Without one, one sentence says so. */
sb_status cuda_driver_load(const cuda_driver **driver, sb_error *error);
/* The same, once the program uses it: a process that has started the driver cannot use it in those
   that it forks, and whether this one does is not for us to say. NULL: not yet. */
const cuda_driver *cuda_driver_in_use(void);
static inline bool cuda_is_capture_error(int result) {
    return result >= CUDA_ERROR_CAPTURE_FIRST && result <= CUDA_ERROR_CAPTURE_LAST;
}
/* What a number of the driver's means: fills *error and returns SB_ERR_DEVICE; SB_OK for 0. */
sb_status cuda_check(const cuda_driver *driver, int result, const char *what, sb_error *error);

#endif
