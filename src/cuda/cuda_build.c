/*
 * Modules and kernels that were built from source, and launching them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cuda/cuda_compile.h"
#include "cuda/cuda_context.h"

struct sb_cuda_kernel {
    cuda_function function;
    const cuda_driver *driver;
    char *name;
    sb_cuda_kernel *next;
    pthread_mutex_t *lock; /* the module's */
    uint32_t shared_bytes; /* dynamic ones that it may have; 0: as many as any kernel */
};

struct sb_cuda_module {
    pthread_mutex_t lock; /* over its kernels and what they may have */
    cuda_module_handle handle;
    const cuda_driver *driver;
    sb_cuda_kernel *kernels;
    bool has_zones;
};

/* ---- modules ---- */

static sb_status load_module(sb_cuda_module *module, const char *code, sb_error *error) {
    const int mode = cuda_relax(module->driver);
    const int loaded = module->driver->module_load(&module->handle, code);
    cuda_strict(module->driver, mode);
    SB_TRY(cuda_check(module->driver, loaded, "a module cannot be loaded", error));
    return module->has_zones ? sb_cuda_attach_module(module->handle, error) : SB_OK;
}

sb_status sb_cuda_build(const sb_cuda_build_options *options, sb_cuda_module **module,
                        sb_error *error) {
    const cuda_driver *driver = NULL;
    sb_cuda_gpu gpu;
    char *code = NULL;
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(options->without_zones ? cuda_ensure_context(driver, error) : sb_cuda_attach(error));
    SB_TRY(sb_cuda_describe(&gpu, error));
    sb_cuda_module *made = calloc(1, sizeof *made);
    if (made == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for a module");
    pthread_mutex_init(&made->lock, NULL);
    made->driver = driver;
    made->has_zones = !options->without_zones;
    sb_status status = cuda_compile(options, gpu.major * 10 + gpu.minor, &code, error);
    if (status == SB_OK)
        status = load_module(made, code, error);
    free(code);
    if (status != SB_OK) {
        sb_cuda_unload(made);
        return status;
    }
    *module = made;
    return SB_OK;
}

void sb_cuda_unload(sb_cuda_module *module) {
    if (module == NULL)
        return;
    while (module->kernels != NULL) {
        sb_cuda_kernel *kernel = module->kernels;
        module->kernels = kernel->next;
        free(kernel->name);
        free(kernel);
    }
    if (module->handle != NULL) {
        if (module->has_zones)
            sb_cuda_detach_module(module->handle);
        (void)module->driver->module_unload(module->handle);
    }
    pthread_mutex_destroy(&module->lock);
    free(module);
}

/* With the lock. */
static sb_status find_kernel(sb_cuda_module *module, const char *name, sb_cuda_kernel **kernel,
                             sb_error *error) {
    for (*kernel = module->kernels; *kernel != NULL; *kernel = (*kernel)->next)
        if (strcmp((*kernel)->name, name) == 0)
            return SB_OK;
    cuda_function function;
    if (module->driver->module_function(&function, module->handle, name) != 0)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "the module has no kernel %s", name);
    sb_cuda_kernel *made = calloc(1, sizeof *made);
    char *copy = strdup(name);
    if (made == NULL || copy == NULL) {
        free(copy);
        free(made);
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for a kernel");
    }
    *made = (sb_cuda_kernel){.function = function,
                             .driver = module->driver,
                             .name = copy,
                             .next = module->kernels,
                             .lock = &module->lock};
    module->kernels = made;
    *kernel = made;
    return SB_OK;
}

sb_status sb_cuda_find(sb_cuda_module *module, const char *name, sb_cuda_kernel **kernel,
                       sb_error *error) {
    const int mode = cuda_relax(module->driver);
    pthread_mutex_lock(&module->lock);
    const sb_status status = find_kernel(module, name, kernel, error);
    pthread_mutex_unlock(&module->lock);
    cuda_strict(module->driver, mode);
    return status;
}

cuda_function cuda_kernel_function(const sb_cuda_kernel *kernel) {
    return kernel->function;
}

sb_cuda_kernel_size sb_cuda_kernel_describe(const sb_cuda_kernel *kernel) {
    sb_cuda_kernel_size size = {0};
    const cuda_driver *driver = kernel->driver;
    (void)driver->function_attribute(&size.registers, CUDA_FUNCTION_REGISTERS, kernel->function);
    (void)driver->function_attribute(&size.shared_bytes, CUDA_FUNCTION_SHARED, kernel->function);
    (void)driver->function_attribute(&size.local_bytes, CUDA_FUNCTION_LOCAL, kernel->function);
    return size;
}

sb_status cuda_allow_shared(sb_cuda_kernel *kernel, uint32_t bytes, sb_error *error) {
    enum { FOR_ANY = 48 * 1024 };
    const cuda_driver *driver = kernel->driver;
    if (bytes <= FOR_ANY)
        return SB_OK;
    pthread_mutex_lock(kernel->lock);
    int allowed = 0;
    if (bytes > kernel->shared_bytes) {
        const int mode = cuda_relax(driver);
        allowed = driver->function_set(kernel->function, CUDA_FUNCTION_MOST_SHARED, (int)bytes);
        cuda_strict(driver, mode);
        if (allowed == 0)
            kernel->shared_bytes = bytes;
    }
    pthread_mutex_unlock(kernel->lock);
    char what[300];
    snprintf(what, sizeof what, "%.200s cannot have %u bytes of shared memory", kernel->name,
             bytes);
    return cuda_check(driver, allowed, what, error);
}

sb_status sb_cuda_launch(sb_cuda_kernel *kernel, const sb_cuda_shape *shape, void *stream,
                         void **arguments, sb_error *error) {
    SB_TRY(cuda_allow_shared(kernel, shape->shared_bytes, error));
    const int launched = kernel->driver->launch(
        kernel->function, shape->grid[0], shape->grid[1], shape->grid[2], shape->block[0],
        shape->block[1], shape->block[2], shape->shared_bytes, stream, arguments, NULL);
    char what[300];
    snprintf(what, sizeof what, "%.250s cannot be launched", kernel->name);
    return cuda_check(kernel->driver, launched, what, error);
}

/* ---- the GPU and its memory ---- */

static int attribute(const cuda_driver *driver, cuda_device device, int which) {
    int value = 0;
    (void)driver->device_attribute(&value, which, device);
    return value;
}

sb_status sb_cuda_describe(sb_cuda_gpu *gpu, sb_error *error) {
    const cuda_driver *driver = NULL;
    cuda_device device;
    size_t bytes = 0;
    *gpu = (sb_cuda_gpu){0};
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(cuda_ensure_context(driver, error));
    SB_TRY(cuda_check(driver, driver->context_device(&device), "the GPU cannot be asked", error));
    SB_TRY(cuda_check(driver, driver->device_name(gpu->name, sizeof gpu->name, device),
                      "the GPU cannot be asked", error));
    (void)driver->device_memory(&bytes, device);
    gpu->memory_bytes = bytes;
    gpu->sm_count = attribute(driver, device, CUDA_SM_COUNT);
    gpu->clock_mhz = attribute(driver, device, CUDA_CLOCK_KHZ) / 1000;
    gpu->major = attribute(driver, device, CUDA_MAJOR);
    gpu->minor = attribute(driver, device, CUDA_MINOR);
    /* Twice: memory moves data on both edges of its clock. */
    gpu->bandwidth_gbs = 2.0 * attribute(driver, device, CUDA_MEMORY_KHZ) *
                         attribute(driver, device, CUDA_MEMORY_BITS) / 8 / 1e6;
    return SB_OK;
}

sb_status sb_cuda_allocate(size_t size, uint64_t *address, sb_error *error) {
    const cuda_driver *driver = NULL;
    cuda_address made = 0;
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(cuda_ensure_context(driver, error));
    SB_TRY(cuda_check(driver, driver->allocate(&made, size), "memory of the GPU", error));
    *address = made;
    return SB_OK;
}

void sb_cuda_free(uint64_t address) {
    const cuda_driver *driver = NULL;
    if (address != 0 && cuda_driver_load(&driver, NULL) == SB_OK)
        (void)driver->free(address);
}

/* In the order of the default stream. */
sb_status sb_cuda_write(uint64_t address, const void *data, size_t size, sb_error *error) {
    const cuda_driver *driver = NULL;
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(cuda_check(driver, driver->copy_to_gpu(address, data, size, NULL),
                      "memory of the GPU cannot be written", error));
    return cuda_check(driver, driver->stream_wait(NULL), "memory of the GPU cannot be written",
                      error);
}

sb_status sb_cuda_read(uint64_t address, void *data, size_t size, sb_error *error) {
    const cuda_driver *driver = NULL;
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(cuda_check(driver, driver->copy_to_host(data, address, size, NULL),
                      "memory of the GPU cannot be read", error));
    return cuda_check(driver, driver->stream_wait(NULL), "memory of the GPU cannot be read", error);
}
