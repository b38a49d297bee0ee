/*
 * Contexts of this process, and the interface for programs.
 */
#include <stdlib.h>
#include <string.h>

#include <strobe/cuda_gpu.h>

#include "base/base.h"
#include "cuda/cuda_context.h"
#include "cuda/cuda_units.h"

/* GPUs whose programs are found by themselves. */
enum { DEVICES_MOST = 64 };

/* Where a GPU's primary context cannot be attached, that is tried again after a pause, ns. */
#define RETRY_LEAST_NS INT64_C(1000000000)
#define RETRY_MOST_NS INT64_C(64000000000)

/* What was found of a GPU's primary context. */
typedef struct found_device {
    cuda_context *context; /* NULL: it is not attached */
    uint32_t units;        /* the version of units that it knows */
    int64_t retry_ns;      /* not before then */
    int64_t pause_ns;      /* 0: it has not failed yet */
} found_device;

/* Contexts are only ever added; in a process that ends they are left to it. */
static struct {
    pthread_mutex_t lock; /* over finding and opening one */
    cuda_context *contexts;
    found_device found[DEVICES_MOST]; /* of the thread that looks */
    bool is_child;
    cuda_context *left; /* what the child of a fork must not touch */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char gate_name[] = "sb_cuda_this_gate";
static const char missed_name[] = "sb_cuda_this_missed";

cuda_context *cuda_contexts_first(void) {
    return __atomic_load_n(&all.contexts, __ATOMIC_ACQUIRE);
}

/* ---- the process ---- */

static void after_fork(void) {
    all.is_child = true;
    all.left = all.contexts;
    all.contexts = NULL;
}

bool cuda_is_child(void) {
    return all.is_child;
}

static void flush_at_exit(void) {
    if (cuda_is_child())
        return;
    cuda_watch_end();
    /* What ran while the first was waiting has ended when the second begins. */
    sb_cuda_flush(NULL);
    sb_cuda_flush(NULL);
    uint64_t open_spans = 0;
    for (const cuda_context *context = cuda_contexts_first(); context != NULL;
         context = context->next) {
        cuda_tracks_tell_losses(context);
        open_spans += context->counts.cut;
    }
    const sb_cuda_counts counts = sb_cuda_count();
    if (counts.lost + counts.missed + open_spans + counts.unplaced > 0)
        cuda_say("%llu zones recorded, %llu lost, %llu missed, %llu cut, %llu not shown",
                 (unsigned long long)counts.zones, (unsigned long long)counts.lost,
                 (unsigned long long)counts.missed, (unsigned long long)counts.cut,
                 (unsigned long long)counts.unplaced);
}

static void watch_forks(void) {
    (void)pthread_atfork(NULL, NULL, after_fork);
}

void cuda_follow_forks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
}

/* The driver has its own, and what is asked for later is called earlier. */
static void watch_exit(void) {
    (void)atexit(flush_at_exit);
}

/* ---- contexts and modules ---- */

/* The attached context of a handle, or NULL. */
static cuda_context *find_attached(cuda_context_handle handle) {
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        pthread_mutex_lock(&context->lock);
        const bool is_it = context->handle == handle && cuda_context_is_there(context);
        pthread_mutex_unlock(&context->lock);
        if (is_it)
            return context;
    }
    return NULL;
}

static sb_status open_context(const cuda_driver *driver, cuda_context **opened, sb_error *error) {
    cuda_context *context = calloc(1, sizeof *context);
    if (context == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for zones of the GPU");
    const sb_status status = cuda_context_open(context, driver, cuda_options_get(), error);
    if (status != SB_OK) {
        free(context);
        return status;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_exit);
    cuda_follow_forks();
    context->next = all.contexts;
    __atomic_store_n(&all.contexts, context, __ATOMIC_RELEASE);
    if (!context->is_off)
        cuda_watch_start();
    *opened = context;
    return SB_OK;
}

/* The context that is current, attached if it was not. */
static sb_status find_or_open(const cuda_driver *driver, cuda_context **found, sb_error *error) {
    cuda_context_handle handle = NULL;
    SB_TRY(cuda_check(driver, driver->context_get(&handle), "the current context", error));
    if (handle == NULL)
        SB_FAIL(error, SB_ERR_USAGE, "no CUDA context is current");
    pthread_mutex_lock(&all.lock);
    sb_status status = SB_OK;
    *found = find_attached(handle);
    if (*found == NULL)
        status = open_context(driver, found, error);
    pthread_mutex_unlock(&all.lock);
    return status;
}

static sb_status add_module(cuda_context *context, const cuda_attached *module, sb_error *error) {
    pthread_mutex_lock(&context->lock);
    const sb_status status =
        context->is_dead ? SB_OK : cuda_context_add_module(context, module, error);
    pthread_mutex_unlock(&context->lock);
    return status;
}

/* All units of nvcc's, for the context that is current. */
static sb_status attach_units(cuda_context *context, sb_error *error) {
    cuda_unit_gate unit = {0};
    while (cuda_units_next(unit.serial, &unit))
        SB_TRY(add_module(
            context,
            &(cuda_attached){.unit = unit.serial, .gate = unit.gate, .missed = unit.missed},
            error));
    return SB_OK;
}

static sb_status attach_current(const cuda_driver *driver, cuda_context **context,
                                sb_error *error) {
    const sb_status status = find_or_open(driver, context, error);
    return *context != NULL ? attach_units(*context, error) : status;
}

static bool is_found(const found_device *device, uint32_t units) {
    if (device->context == NULL || device->units != units)
        return false;
    pthread_mutex_lock(&device->context->lock);
    const bool is_there = device->context->handle != NULL;
    pthread_mutex_unlock(&device->context->lock);
    return is_there;
}

/* Said once; then in silence, ever more seldom. */
static void note_failure(found_device *device, int number, const sb_error *error) {
    if (device->pause_ns == 0)
        cuda_say("GPU %d: zones are not recorded: %s", number, error->message);
    device->pause_ns = device->pause_ns == 0 ? RETRY_LEAST_NS : 2 * device->pause_ns;
    if (device->pause_ns > RETRY_MOST_NS)
        device->pause_ns = RETRY_MOST_NS;
    device->retry_ns = sb_clock_ns() + device->pause_ns;
}

/* A primary context, if a program has begun to use it. */
static void find_context(const cuda_driver *driver, int number) {
    found_device *found = &all.found[number];
    const uint32_t units = cuda_units_version();
    cuda_device device;
    unsigned flags;
    int is_active = 0;
    cuda_context_handle handle;
    if (units == 0 || is_found(found, units) || sb_clock_ns() < found->retry_ns ||
        driver->device_get(&device, number) != 0 ||
        driver->primary_state(device, &flags, &is_active) != 0 || !is_active ||
        driver->primary_retain(&handle, device) != 0)
        return;
    sb_error error = {0};
    cuda_context *context = NULL;
    if (driver->context_set(handle) == 0) {
        if (attach_current(driver, &context, &error) == SB_OK)
            *found = (found_device){.context = context, .units = units};
        else
            note_failure(found, number, &error);
    }
    (void)driver->context_set(NULL);
    (void)driver->primary_release(device);
}

void cuda_contexts_find(const cuda_driver *driver) {
    int count = 0;
    (void)driver->device_count(&count);
    for (int i = 0; i < count && i < DEVICES_MOST; i++)
        find_context(driver, i);
}

/* Where no context is current, that of the first GPU becomes it. */
sb_status cuda_ensure_context(const cuda_driver *driver, sb_error *error) {
    cuda_context_handle handle = NULL;
    cuda_device device;
    const char *what = "a context on the first GPU";
    if (driver->context_get(&handle) == 0 && handle != NULL)
        return SB_OK;
    SB_TRY(cuda_check(driver, driver->device_get(&device, 0), what, error));
    SB_TRY(cuda_check(driver, driver->primary_retain(&handle, device), what, error));
    return cuda_check(driver, driver->context_set(handle), what, error);
}

sb_status sb_cuda_attach(sb_error *error) {
    const cuda_driver *driver = NULL;
    cuda_context *context = NULL;
    if (cuda_is_child())
        return SB_OK;
    SB_TRY(cuda_driver_load(&driver, error));
    cuda_tracks_prepare();
    SB_TRY(cuda_ensure_context(driver, error));
    return attach_current(driver, &context, error);
}

sb_status sb_cuda_attach_module(void *module, sb_error *error) {
    const cuda_driver *driver = NULL;
    cuda_attached attached = {.module = module};
    size_t size = 0;
    if (cuda_is_child())
        return SB_OK;
    SB_TRY(sb_cuda_attach(error));
    SB_TRY(cuda_driver_load(&driver, error));
    const int found = driver->module_global(&attached.gate, &size, module, gate_name);
    if (found == CUDA_ERROR_NOT_FOUND)
        return SB_OK;
    SB_TRY(cuda_check(driver, found, "a module cannot be attached", error));
    if (size != sizeof(sb_cuda_gate))
        SB_FAIL(error, SB_ERR_FORMAT, "the module was built with another version of strobe/cuda.h");
    (void)driver->module_global(&attached.missed, &size, module, missed_name);
    cuda_context *context = NULL;
    const sb_status status = find_or_open(driver, &context, error);
    return context != NULL ? add_module(context, &attached, error) : status;
}

void sb_cuda_detach_module(void *module) {
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        cuda_visit visit;
        if (cuda_enter(context, &visit) && cuda_context_has_module(context, module)) {
            (void)cuda_flush_entered(context, NULL);
            cuda_context_remove_module(context, module);
        }
        cuda_leave(context, &visit);
    }
}

/* ---- flushing and counting ---- */

sb_status sb_cuda_flush(sb_error *error) {
    sb_status status = SB_OK;
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        cuda_visit visit;
        if (cuda_enter(context, &visit)) {
            const sb_status flushed = cuda_flush_entered(context, status == SB_OK ? error : NULL);
            status = status == SB_OK ? flushed : status;
        }
        cuda_leave(context, &visit);
    }
    return status;
}

sb_cuda_counts sb_cuda_count(void) {
    sb_cuda_counts sum = {0};
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        cuda_visit visit;
        (void)cuda_enter(context, &visit);
        sum.zones += context->counts.zones;
        sum.others += context->counts.others;
        sum.lost += context->pool.lost;
        sum.missed += cuda_context_missed(context);
        sum.cut += context->counts.cut;
        sum.unplaced += context->counts.unplaced;
        for (uint32_t sm = 0; sm < context->pool.options.sm_count; sm++) {
            sum.cut += context->lanes[sm].cut;
            sum.unplaced += context->lanes[sm].unplaced;
        }
        cuda_leave(context, &visit);
    }
    return sum;
}

uint64_t sb_cuda_lost_on(uint32_t gpu, uint32_t sm) {
    uint64_t lost = 0;
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        pthread_mutex_lock(&context->lock);
        if ((uint32_t)context->device == gpu && sm < context->pool.options.sm_count)
            lost += context->pool.sms[sm].lost;
        pthread_mutex_unlock(&context->lock);
    }
    return lost;
}

double sb_cuda_error_ns(void) {
    double most = 0;
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        pthread_mutex_lock(&context->lock);
        if (context->sync.line.used > 0 && context->sync.line.error_ns > most)
            most = context->sync.line.error_ns;
        pthread_mutex_unlock(&context->lock);
    }
    return most;
}

sb_status cuda_current_context(cuda_context **context, sb_error *error) {
    const cuda_driver *driver = NULL;
    if (cuda_is_child())
        SB_FAIL(error, SB_ERR_USAGE, "zones of GPUs are not recorded in a process that was forked");
    SB_TRY(sb_cuda_attach(error));
    SB_TRY(cuda_driver_load(&driver, error));
    return find_or_open(driver, context, error);
}

sb_status sb_cuda_set_program(void *stream, uint32_t program, sb_error *error) {
    cuda_context *context = NULL;
    if (cuda_is_child())
        return SB_OK;
    const sb_status status = cuda_current_context(&context, error);
    if (context == NULL || context->is_off)
        return status;
    const cuda_driver *driver = context->driver;
    SB_TRY(cuda_context_use_programs(context, error));
    return cuda_check(driver, driver->stream_write(stream, context->pool.control, program, 0),
                      "launches cannot be given a number", error);
}
