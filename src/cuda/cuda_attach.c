/*
 * Contexts of this process, the thread that looks at them, and the interface for programs.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "cuda/cuda_context.h"

/* Between two looks, ns: while kernels record, and at most. */
#define PAUSE_LEAST_NS 1000000
#define PAUSE_MOST_NS 32000000

/* GPUs whose programs are found by themselves. */
enum { DEVICES_MOST = 64 };

/* Contexts are only ever added; in a process that ends they are left to it. */
static struct {
    pthread_mutex_t lock;
    cuda_context *contexts;
    sb_cuda_unit *units;
    uint32_t unit_count;
    uint32_t attached[DEVICES_MOST]; /* by device: units that its primary context knows */
    pthread_t thread;                /* the one that looks */
    bool is_running;
    bool is_ending;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char gate_name[] = "sb_cuda_this_gate";
static const char missed_name[] = "sb_cuda_this_missed";

/* ---- looking ---- */

/* With the context current for this thread while something is done to it. */
static bool enter(cuda_context *context, cuda_context_handle *before) {
    pthread_mutex_lock(&context->lock);
    return !context->is_dead && context->driver->context_get(before) == 0 &&
           context->driver->context_set(context->handle) == 0;
}

static void leave(cuda_context *context, cuda_context_handle before) {
    (void)context->driver->context_set(before);
    pthread_mutex_unlock(&context->lock);
}

/* Waits for all that was launched, so that forgotten chunks can be taken back. A thread of its own,
   since a kernel may run for minutes. */
static void *wait_for_launches(void *of) {
    cuda_context *context = of;
    const int64_t began = sb_clock_ns();
    int mode = CUDA_CAPTURE_RELAXED;
    (void)context->driver->capture_mode(&mode);
    bool is_over = context->driver->context_set(context->handle) == 0;
    is_over = is_over && context->driver->context_wait() == 0;
    pthread_mutex_lock(&context->lock);
    if (is_over)
        cuda_context_end_wait(context, context->reclaims, began);
    else
        cuda_context_give_up_wait(context, context->reclaims);
    pthread_mutex_unlock(&context->lock);
    return NULL;
}

static void start_waiting(cuda_context *context) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_launches, context) == 0)
        pthread_detach(thread);
    else
        cuda_context_give_up_wait(context, context->reclaims);
}

/* True: there was something to read. */
static bool look_at(cuda_context *context) {
    cuda_context_handle before = NULL;
    const bool is_ours = enter(context, &before);
    bool is_busy = false;
    if (is_ours) {
        const uint64_t zones = context->counts.zones;
        (void)cuda_drain(context, CUDA_LOOK_RUNNING, NULL);
        const bool is_low = cuda_pool_is_low(&context->pool);
        is_busy = context->counts.zones != zones || is_low;
        if (is_low && cuda_context_begin_reclaim(context, false) != 0)
            start_waiting(context);
    }
    leave(context, before);
    return is_busy;
}

static cuda_context *first_context(void) {
    pthread_mutex_lock(&all.lock);
    cuda_context *context = all.contexts;
    pthread_mutex_unlock(&all.lock);
    return context;
}

static sb_status attach_current(const cuda_driver *driver, sb_error *error);

/* Primary contexts that programs have begun to use. */
static void find_contexts(const cuda_driver *driver) {
    int count = 0;
    const uint32_t units = __atomic_load_n(&all.unit_count, __ATOMIC_ACQUIRE);
    (void)driver->device_count(&count);
    for (int i = 0; i < count && i < DEVICES_MOST; i++) {
        cuda_device device;
        unsigned flags;
        int is_active = 0;
        cuda_context_handle handle;
        if (all.attached[i] == units || driver->device_get(&device, i) != 0 ||
            driver->primary_state(device, &flags, &is_active) != 0 || !is_active ||
            driver->primary_retain(&handle, device) != 0)
            continue;
        if (driver->context_set(handle) == 0 && attach_current(driver, NULL) == SB_OK)
            all.attached[i] = units;
        (void)driver->context_set(NULL);
        (void)driver->primary_release(device);
    }
}

static void *look_around(void *unused) {
    (void)unused;
    const cuda_driver *driver = NULL;
    int mode = CUDA_CAPTURE_RELAXED;
    long pause = PAUSE_LEAST_NS;
    if (cuda_driver_load(&driver, NULL) != SB_OK)
        return NULL;
    (void)driver->capture_mode(&mode);
    while (!__atomic_load_n(&all.is_ending, __ATOMIC_ACQUIRE)) {
        bool is_busy = false;
        find_contexts(driver);
        for (cuda_context *at = first_context(); at != NULL; at = at->next)
            is_busy = look_at(at) || is_busy;
        pause = is_busy ? PAUSE_LEAST_NS : pause * 2;
        if (pause > PAUSE_MOST_NS)
            pause = PAUSE_MOST_NS;
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
    return NULL;
}

static void flush_at_exit(void) {
    __atomic_store_n(&all.is_ending, true, __ATOMIC_RELEASE);
    if (all.is_running)
        pthread_join(all.thread, NULL);
    sb_cuda_flush(NULL);
    for (const cuda_context *context = first_context(); context != NULL; context = context->next)
        cuda_tracks_tell_losses(context);
    const sb_cuda_counts counts = sb_cuda_count();
    if (counts.lost + counts.missed + counts.unplaced > 0)
        cuda_say("%llu zones recorded, %llu lost, %llu missed, %llu not shown",
                 (unsigned long long)counts.zones, (unsigned long long)counts.lost,
                 (unsigned long long)counts.missed, (unsigned long long)counts.unplaced);
}

/* With the lock. */
static void start_looking(void) {
    if (!all.is_running)
        all.is_running = pthread_create(&all.thread, NULL, look_around, NULL) == 0;
}

/* ---- contexts and modules ---- */

/* With the lock. The context that is current, attached if it was not. */
static sb_status find_or_open(const cuda_driver *driver, cuda_context **found, sb_error *error) {
    cuda_context_handle handle = NULL;
    SB_TRY(cuda_check(driver, driver->context_get(&handle), "the current context", error));
    if (handle == NULL)
        SB_FAIL(error, SB_ERR_USAGE, "no CUDA context is current");
    cuda_context *context = all.contexts;
    while (context != NULL && context->handle != handle)
        context = context->next;
    if (context == NULL) {
        context = calloc(1, sizeof *context);
        if (context == NULL)
            SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for zones of the GPU");
        const sb_status status = cuda_context_open(context, driver, cuda_options_get(), error);
        if (status != SB_OK) {
            free(context);
            return status;
        }
        /* The driver has its own, and what is asked for later is called earlier. */
        if (all.contexts == NULL)
            atexit(flush_at_exit);
        context->next = all.contexts;
        __atomic_store_n(&all.contexts, context, __ATOMIC_RELEASE);
        start_looking();
    }
    *found = context;
    return SB_OK;
}

/* All units of nvcc's, for the context that is current. */
static sb_status attach_units(cuda_context *context, sb_error *error) {
    for (sb_cuda_unit *unit = all.units; unit != NULL; unit = unit->next) {
        void *gate = unit->gate();
        void *missed = unit->missed();
        if (gate == NULL)
            continue;
        pthread_mutex_lock(&context->lock);
        const sb_status status = cuda_context_add_module(
            context, unit, (cuda_address)(uintptr_t)gate, (cuda_address)(uintptr_t)missed, error);
        pthread_mutex_unlock(&context->lock);
        SB_TRY(status);
    }
    return SB_OK;
}

static sb_status attach_current(const cuda_driver *driver, sb_error *error) {
    cuda_context *context = NULL;
    pthread_mutex_lock(&all.lock);
    sb_status status = find_or_open(driver, &context, error);
    if (context != NULL)
        status = attach_units(context, error);
    pthread_mutex_unlock(&all.lock);
    return status;
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
    SB_TRY(cuda_driver_load(&driver, error));
    cuda_tracks_prepare();
    SB_TRY(cuda_ensure_context(driver, error));
    return attach_current(driver, error);
}

sb_status sb_cuda_attach_module(void *module, sb_error *error) {
    const cuda_driver *driver = NULL;
    cuda_address gate = 0;
    cuda_address missed = 0;
    size_t size = 0;
    SB_TRY(sb_cuda_attach(error));
    SB_TRY(cuda_driver_load(&driver, error));
    const int found = driver->module_global(&gate, &size, module, gate_name);
    if (found == CUDA_ERROR_NOT_FOUND)
        return SB_OK;
    SB_TRY(cuda_check(driver, found, "a module cannot be attached", error));
    if (size != sizeof(sb_cuda_gate))
        SB_FAIL(error, SB_ERR_FORMAT, "the module was built with another version of strobe/cuda.h");
    (void)driver->module_global(&missed, &size, module, missed_name);
    cuda_context *context = NULL;
    pthread_mutex_lock(&all.lock);
    sb_status status = find_or_open(driver, &context, error);
    pthread_mutex_unlock(&all.lock);
    if (context == NULL)
        return status;
    pthread_mutex_lock(&context->lock);
    status = cuda_context_add_module(context, module, gate, missed, error);
    pthread_mutex_unlock(&context->lock);
    return status;
}

void sb_cuda_detach_module(void *module) {
    for (cuda_context *context = first_context(); context != NULL; context = context->next) {
        cuda_context_handle before = NULL;
        if (enter(context, &before)) {
            (void)context->driver->context_wait();
            (void)cuda_drain(context, CUDA_LOOK_ENDED, NULL);
            cuda_context_remove_module(context, module);
        }
        leave(context, before);
    }
}

void sb_cuda_register(sb_cuda_unit *unit) {
    pthread_mutex_lock(&all.lock);
    unit->next = all.units;
    all.units = unit;
    __atomic_add_fetch(&all.unit_count, 1, __ATOMIC_RELEASE);
    if (!cuda_options_get()->is_off)
        start_looking();
    pthread_mutex_unlock(&all.lock);
}

/* ---- flushing and counting ---- */

static sb_status flush(cuda_context *context, sb_error *error) {
    cuda_context_handle before = NULL;
    sb_status status = SB_OK;
    if (enter(context, &before)) {
        const cuda_driver *driver = context->driver;
        (void)cuda_drain(context, CUDA_LOOK_RUNNING, NULL);
        const uint32_t reclaim = cuda_context_begin_reclaim(context, true);
        const int64_t began = sb_clock_ns();
        pthread_mutex_unlock(&context->lock);
        const int waited = driver->context_wait();
        pthread_mutex_lock(&context->lock);
        if (waited == 0)
            cuda_context_end_wait(context, reclaim, began);
        else
            cuda_context_give_up_wait(context, reclaim);
        status = cuda_drain(context, CUDA_LOOK_ENDED, error);
        if (status == SB_OK)
            status = cuda_check(driver, waited, "kernels failed", error);
    }
    leave(context, before);
    return status;
}

sb_status sb_cuda_flush(sb_error *error) {
    sb_status status = SB_OK;
    for (cuda_context *context = first_context(); context != NULL; context = context->next) {
        const sb_status flushed = flush(context, status == SB_OK ? error : NULL);
        status = status == SB_OK ? flushed : status;
    }
    return status;
}

sb_cuda_counts sb_cuda_count(void) {
    sb_cuda_counts sum = {0};
    for (cuda_context *context = first_context(); context != NULL; context = context->next) {
        cuda_context_handle before = NULL;
        (void)enter(context, &before);
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
        leave(context, before);
    }
    return sum;
}

double sb_cuda_error_ns(void) {
    double most = 0;
    for (cuda_context *context = first_context(); context != NULL; context = context->next) {
        pthread_mutex_lock(&context->lock);
        if (context->sync.line.used > 0 && context->sync.line.error_ns > most)
            most = context->sync.line.error_ns;
        pthread_mutex_unlock(&context->lock);
    }
    return most;
}

sb_status cuda_current_context(cuda_context **context, sb_error *error) {
    const cuda_driver *driver = NULL;
    SB_TRY(sb_cuda_attach(error));
    SB_TRY(cuda_driver_load(&driver, error));
    pthread_mutex_lock(&all.lock);
    const sb_status status = find_or_open(driver, context, error);
    pthread_mutex_unlock(&all.lock);
    return status;
}

sb_status sb_cuda_set_program(void *stream, uint32_t program, sb_error *error) {
    cuda_context *context = NULL;
    const sb_status status = cuda_current_context(&context, error);
    if (context == NULL)
        return status;
    const cuda_driver *driver = context->driver;
    SB_TRY(cuda_context_use_programs(context, error));
    return cuda_check(driver, driver->stream_write(stream, context->pool.control, program, 0),
                      "launches cannot be given a number", error);
}
