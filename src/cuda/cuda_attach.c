/*
 * Contexts of this process, and the interface for programs.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    uint64_t missed;                  /* by units in contexts that they were never attached to */
    bool is_over;                     /* the program ends, and all was told */
    bool is_child;
    cuda_context *left; /* what the child of a fork must not touch */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char gate_name[] = "sb_cuda_this_gate";
static const char missed_name[] = "sb_cuda_this_missed";

cuda_context *cuda_contexts_first(void) {
    return __atomic_load_n(&all.contexts, __ATOMIC_ACQUIRE);
}

/* ---- the process ---- */

static void before_fork(void) {
    cuda_log_before_fork();
    cuda_options_before_fork();
}

static void in_parent(void) {
    cuda_options_after_fork();
    cuda_log_after_fork();
}

static void in_child(void) {
    in_parent();
    all.is_child = true;
    all.left = all.contexts;
    all.contexts = NULL;
}

bool cuda_is_child(void) {
    return all.is_child;
}

static void watch_forks(void) {
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

void cuda_follow_forks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
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
    pthread_once(&once, cuda_follow_exit);
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
    /* Its library may have been unloaded since it was asked. */
    const bool is_gone = module->module == NULL && !cuda_units_has(module->unit);
    const sb_status status =
        context->is_dead || is_gone ? SB_OK : cuda_context_add_module(context, module, error);
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

/* A primary context that is kept and current meanwhile. */
typedef struct primary_visit {
    cuda_device device;
    cuda_context_handle handle;
    cuda_context_handle before;
    int mode;
} primary_visit;

/* False: no program uses it. */
static bool enter_primary(const cuda_driver *driver, int number, primary_visit *visit) {
    unsigned flags;
    int is_active = 0;
    *visit = (primary_visit){0};
    if (driver->context_get(&visit->before) != 0 ||
        driver->device_get(&visit->device, number) != 0 ||
        driver->primary_state(visit->device, &flags, &is_active) != 0 || !is_active ||
        driver->primary_retain(&visit->handle, visit->device) != 0)
        return false;
    if (driver->context_set(visit->handle) != 0) {
        (void)driver->primary_release(visit->device);
        return false;
    }
    visit->mode = cuda_relax(driver);
    return true;
}

static void leave_primary(const cuda_driver *driver, const primary_visit *visit) {
    cuda_strict(driver, visit->mode);
    (void)driver->context_set(visit->before);
    (void)driver->primary_release(visit->device);
}

/* A primary context, if a program has begun to use it. */
static void find_context(const cuda_driver *driver, int number) {
    found_device *found = &all.found[number];
    const uint32_t units = cuda_units_version();
    primary_visit visit;
    if (units == 0 || is_found(found, units) || sb_clock_ns() < found->retry_ns ||
        !enter_primary(driver, number, &visit))
        return;
    sb_error error = {0};
    cuda_context *context = NULL;
    if (attach_current(driver, &context, &error) == SB_OK)
        *found = (found_device){.context = context, .units = units};
    else
        note_failure(found, number, &error);
    leave_primary(driver, &visit);
}

void cuda_contexts_find(const cuda_driver *driver) {
    int count = 0;
    (void)driver->device_count(&count);
    for (int i = 0; i < count && i < DEVICES_MOST; i++)
        find_context(driver, i);
}

/* ---- what units miss that were not found, or go ---- */

/* Is there an attached context of this handle that knows the unit? */
static bool is_attached(cuda_context_handle handle, uint64_t unit) {
    bool is_it = false;
    for (cuda_context *at = cuda_contexts_first(); at != NULL && !is_it; at = at->next) {
        pthread_mutex_lock(&at->lock);
        is_it = at->handle == handle && cuda_context_has_unit(at, unit);
        pthread_mutex_unlock(&at->lock);
    }
    return is_it;
}

/* A count of the context that is current, of which nothing else is known. */
static void add_missed(const cuda_driver *driver, cuda_address address) {
    uint64_t missed = 0;
    cuda_stream stream = NULL;
    if (address == 0 || driver->stream_create(&stream, CUDA_STREAM_NON_BLOCKING) != 0)
        return;
    if (driver->copy_to_host(&missed, address, sizeof missed, stream) == 0 &&
        driver->stream_wait(stream) == 0)
        __atomic_add_fetch(&all.missed, missed, __ATOMIC_RELAXED);
    (void)driver->stream_destroy(stream);
}

/* Waits a moment for a context; false: somebody else is busy with it. */
static bool lock_soon(cuda_context *context) {
    enum { TRIES = 100, PAUSE_NS = 1000000 };
    for (int i = 0; i < TRIES; i++) {
        if (pthread_mutex_trylock(&context->lock) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return false;
}

static cuda_address ask_for_missed(void *(*missed)(void)) {
    return (cuda_address)(uintptr_t)missed();
}

void cuda_contexts_part_with(uint64_t unit, void *(*missed)(void)) {
    const cuda_driver *driver = NULL;
    int count = 0;
    if (unit != 0 && !cuda_is_child() && !__atomic_load_n(&all.is_over, __ATOMIC_ACQUIRE) &&
        !cuda_options_get()->is_off)
        driver = cuda_driver_in_use();
    if (driver == NULL)
        return;
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        cuda_visit visit;
        if (!lock_soon(context))
            continue;
        if (cuda_enter_locked(context, &visit))
            cuda_context_part_with(context, unit, ask_for_missed(missed));
        cuda_leave(context, &visit);
    }
    (void)driver->device_count(&count);
    for (int i = 0; i < count && i < DEVICES_MOST; i++) {
        primary_visit visit;
        if (!enter_primary(driver, i, &visit))
            continue;
        if (!is_attached(visit.handle, unit))
            add_missed(driver, ask_for_missed(missed));
        leave_primary(driver, &visit);
    }
}

void cuda_contexts_let_go(void) {
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next)
        if (lock_soon(context))
            pthread_mutex_unlock(&context->lock);
}

/* Where no context is current, that of the first GPU becomes it. */
sb_status cuda_ensure_context(const cuda_driver *driver, sb_error *error) {
    cuda_context_handle handle = NULL;
    if (driver->context_get(&handle) == 0 && handle != NULL)
        return SB_OK;
    SB_TRY(cuda_keep_primary(driver, 0, &handle, error));
    return cuda_check(driver, driver->context_set(handle), "a context on the first GPU", error);
}

sb_status sb_cuda_attach(sb_error *error) {
    const cuda_driver *driver = NULL;
    cuda_context *context = NULL;
    if (cuda_is_child())
        return SB_OK;
    SB_TRY(cuda_driver_load(&driver, error));
    cuda_tracks_prepare();
    const int mode = cuda_relax(driver);
    sb_status status = cuda_ensure_context(driver, error);
    if (status == SB_OK)
        status = attach_current(driver, &context, error);
    cuda_strict(driver, mode);
    return status;
}

static sb_status attach_module(const cuda_driver *driver, void *module, sb_error *error) {
    cuda_attached attached = {.module = module};
    size_t size = 0;
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

sb_status sb_cuda_attach_module(void *module, sb_error *error) {
    const cuda_driver *driver = NULL;
    if (cuda_is_child())
        return SB_OK;
    SB_TRY(sb_cuda_attach(error));
    SB_TRY(cuda_driver_load(&driver, error));
    const int mode = cuda_relax(driver);
    const sb_status status = attach_module(driver, module, error);
    cuda_strict(driver, mode);
    return status;
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
    sb_cuda_counts sum = {.missed = __atomic_load_n(&all.missed, __ATOMIC_RELAXED)};
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        cuda_visit visit;
        (void)cuda_enter(context, &visit);
        sum.zones += context->counts.zones;
        sum.others += context->counts.others;
        sum.lost += context->pool.lost;
        sum.missed += cuda_context_missed(context);
        sum.cut += context->counts.cut + context->cut_in_lanes;
        sum.unplaced += context->counts.unplaced + context->unplaced_in_lanes;
        for (uint32_t sm = 0; context->lanes != NULL && sm < context->pool.options.sm_count; sm++) {
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
    const int mode = cuda_relax(driver);
    const sb_status status = find_or_open(driver, context, error);
    cuda_strict(driver, mode);
    return status;
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

/* ---- the end of the program ---- */

/* What units missed in a primary context that was not found in time. */
static void count_unattached(const cuda_driver *driver, int number) {
    primary_visit visit;
    cuda_unit_gate unit = {0};
    bool has_waited = false;
    if (!enter_primary(driver, number, &visit))
        return;
    while (cuda_units_next(unit.serial, &unit)) {
        if (is_attached(visit.handle, unit.serial))
            continue;
        if (!has_waited)
            (void)cuda_wait_unless_capturing(driver);
        has_waited = true;
        add_missed(driver, unit.missed);
    }
    leave_primary(driver, &visit);
}

static void read_all(void) {
    const cuda_driver *driver = cuda_driver_in_use();
    int count = 0;
    cuda_watch_end();
    /* What ran while the first was waiting has ended when the second begins. */
    sb_cuda_flush(NULL);
    sb_cuda_flush(NULL);
    (void)driver->device_count(&count);
    for (int i = 0; i < count && i < DEVICES_MOST; i++)
        count_unattached(driver, i);
}

/* Kernels still run, and are not waited for any longer. */
static void read_what_there_is(void) {
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        cuda_visit visit;
        if (cuda_enter(context, &visit))
            (void)cuda_drain(context, CUDA_LOOK_RUNNING, NULL);
        cuda_leave(context, &visit);
    }
    cuda_say("kernels still run %u s after the end of the program; %llu zones were read, and what "
             "was not is lost (STROBE_CUDA_EXIT_WAIT)",
             cuda_options_get()->exit_wait_s, (unsigned long long)sb_cuda_count().zones);
}

static void say_totals(void) {
    uint64_t open_spans = 0;
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        pthread_mutex_lock(&context->lock);
        cuda_tracks_tell_losses(context);
        open_spans += context->counts.cut;
        pthread_mutex_unlock(&context->lock);
    }
    const sb_cuda_counts counts = sb_cuda_count();
    if (counts.lost + counts.missed + open_spans + counts.unplaced > 0)
        cuda_say("%llu zones recorded, %llu lost, %llu missed, %llu cut, %llu not shown",
                 (unsigned long long)counts.zones, (unsigned long long)counts.lost,
                 (unsigned long long)counts.missed, (unsigned long long)counts.cut,
                 (unsigned long long)counts.unplaced);
}

/* May be called several times; the first has the driver still. */
static void flush_at_exit(void) {
    if (cuda_is_child() || cuda_driver_in_use() == NULL ||
        __atomic_exchange_n(&all.is_over, true, __ATOMIC_ACQ_REL))
        return;
    if (!cuda_do_within(read_all, (int64_t)cuda_options_get()->exit_wait_s * 1000000000))
        read_what_there_is();
    say_totals();
}

void cuda_follow_exit(void) {
    (void)atexit(flush_at_exit);
}
