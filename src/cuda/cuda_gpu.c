/*
 * Which GPU is used, and what is asked of it beside zones.
 */
#include <strobe/cuda_gpu.h>

#include "base/base.h"
#include "cuda/cuda_context.h"

sb_status sb_cuda_gpu_count(uint32_t *count, sb_error *error) {
    const cuda_driver *driver = NULL;
    int found = 0;
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(cuda_check(driver, driver->device_count(&found), "GPUs cannot be counted", error));
    *count = (uint32_t)found;
    return SB_OK;
}

/* A primary context that is kept, and what the driver calls it beside its handle, which the next
   one has too. */
typedef struct kept_context {
    cuda_context_handle handle; /* NULL: none is */
    unsigned long long id;
} kept_context;

/* A reset ends a context whoever keeps it. */
static bool is_kept(const cuda_driver *driver, cuda_device device, const kept_context *kept) {
    unsigned flags;
    int is_active = 0;
    unsigned long long id = kept->id;
    return kept->handle != NULL && driver->primary_state(device, &flags, &is_active) == 0 &&
           is_active &&
           (driver->context_id == NULL ||
            (driver->context_id(kept->handle, &id) == 0 && id == kept->id));
}

/* With the lock. */
static sb_status keep(const cuda_driver *driver, uint32_t gpu, kept_context *kept,
                      sb_error *error) {
    cuda_device device;
    const char *what = "a context on the GPU";
    SB_TRY(cuda_check(driver, driver->device_get(&device, (int)gpu), what, error));
    if (is_kept(driver, device, kept))
        return SB_OK;
    *kept = (kept_context){0};
    SB_TRY(cuda_check(driver, driver->primary_retain(&kept->handle, device), what, error));
    if (driver->context_id != NULL)
        (void)driver->context_id(kept->handle, &kept->id);
    return SB_OK;
}

sb_status cuda_keep_primary(const cuda_driver *driver, uint32_t gpu, cuda_context_handle *context,
                            sb_error *error) {
    enum { GPUS_MOST = 64 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static kept_context kept[GPUS_MOST];
    if (gpu >= GPUS_MOST)
        SB_FAIL(error, SB_ERR_LIMIT, "at most %d GPUs can be used", GPUS_MOST);
    pthread_mutex_lock(&lock);
    const sb_status status = keep(driver, gpu, &kept[gpu], error);
    *context = kept[gpu].handle;
    pthread_mutex_unlock(&lock);
    return status;
}

sb_status sb_cuda_use(uint32_t gpu, sb_error *error) {
    const cuda_driver *driver = NULL;
    cuda_context_handle context = NULL;
    uint32_t count = 0;
    SB_TRY(sb_cuda_gpu_count(&count, error));
    if (gpu >= count)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "there is no GPU %u; the CUDA driver shows %u", gpu,
                count);
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(cuda_keep_primary(driver, gpu, &context, error));
    return cuda_check(driver, driver->context_set(context), "a context on the GPU", error);
}

sb_status sb_cuda_wait(sb_error *error) {
    const cuda_driver *driver = NULL;
    SB_TRY(cuda_driver_load(&driver, error));
    return cuda_wait_for_current(driver, error);
}

/* With the lock. */
static bool find_time(cuda_context *context) {
    if (context->is_dead)
        return false;
    /* Where nothing is recorded nobody has asked before. */
    if (!cuda_sync_is_open(&context->sync) &&
        cuda_sync_open(&context->sync, context->driver, NULL) != SB_OK)
        return false;
    return cuda_sync_find(&context->sync, context->driver);
}

sb_status sb_cuda_timer_now(int64_t *timer_ns, sb_error *error) {
    cuda_context *context = NULL;
    const sb_status status = cuda_current_context(&context, error);
    if (context == NULL)
        return status;
    const int mode = cuda_relax(context->driver);
    pthread_mutex_lock(&context->lock);
    const bool is_known = find_time(context);
    *timer_ns = is_known ? cuda_sync_timer(&context->sync.line, sb_clock_ns()) : 0;
    pthread_mutex_unlock(&context->lock);
    cuda_strict(context->driver, mode);
    if (!is_known)
        SB_FAIL(error, SB_ERR_DEVICE, "the GPU does not answer when it is asked for its time");
    return SB_OK;
}

size_t sb_cuda_kernel_parameter(const sb_cuda_kernel *kernel, size_t index) {
    const cuda_driver *driver = NULL;
    size_t offset = 0;
    size_t size = 0;
    if (cuda_driver_load(&driver, NULL) != SB_OK || driver->parameter_info == NULL)
        return 0;
    cuda_function function = cuda_kernel_function(kernel);
    return driver->parameter_info(function, index, &offset, &size) == 0 ? size : SIZE_MAX;
}
