/*
 * The thread that looks at contexts, and waiting for what was launched in them.
 *
 * cuCtxSynchronize breaks every graph that is being captured in a stream of the context, whichever
 * thread captures it and whatever mode this thread is in; so nobody here calls it who was not asked
 * to wait, unless the user has said that no graphs are captured (STROBE_CUDA_WAIT). All other calls
 * are about streams, memory and modules of our own, and are made with the thread's capture mode
 * relaxed, also in threads of the program: they are no part of anybody's graph.
 */
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "cuda/cuda_context.h"

/* Between two looks, ns: while kernels record, and at most. */
#define PAUSE_LEAST_NS 1000000
#define PAUSE_MOST_NS 32000000
/* Between two questions to modules what they missed. */
#define MISSED_PAUSE_NS 1000000000
/* Until a wait is tried again that met a capture. */
#define CAPTURE_PAUSE_NS 100000000

static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    bool is_running;
    bool is_ending;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- visits ---- */

int cuda_relax(const cuda_driver *driver) {
    int mode = CUDA_CAPTURE_RELAXED;
    (void)driver->capture_mode(&mode);
    return mode;
}

void cuda_strict(const cuda_driver *driver, int mode) {
    (void)driver->capture_mode(&mode);
}

bool cuda_enter(cuda_context *context, cuda_visit *visit) {
    pthread_mutex_lock(&context->lock);
    return cuda_enter_locked(context, visit);
}

bool cuda_enter_locked(cuda_context *context, cuda_visit *visit) {
    const cuda_driver *driver = context->driver;
    *visit = (cuda_visit){0};
    if (!cuda_context_is_there(context) || context->is_dead ||
        driver->context_get(&visit->before) != 0 || driver->context_set(context->handle) != 0)
        return false;
    visit->is_set = true;
    visit->mode = cuda_relax(driver);
    cuda_context_drop_units(context);
    return true;
}

void cuda_leave(cuda_context *context, const cuda_visit *visit) {
    if (visit->is_set) {
        cuda_strict(context->driver, visit->mode);
        (void)context->driver->context_set(visit->before);
    }
    pthread_mutex_unlock(&context->lock);
}

/* ---- waiting ---- */

/* Is a graph being captured, as far as the driver tells: in a stream that waits for the default
   stream? Asking that breaks none. */
static bool is_capturing(const cuda_driver *driver) {
    /* CU_STREAM_LEGACY */
    cuda_stream legacy = (cuda_stream)(uintptr_t)1; // NOLINT(performance-no-int-to-ptr)
    int status = 0;
    const int result = driver->stream_is_capturing(legacy, &status);
    return cuda_is_capture_error(result) || (result == 0 && status != 0);
}

int cuda_wait_unless_capturing(const cuda_driver *driver) {
    return is_capturing(driver) ? CUDA_ERROR_CAPTURE_FIRST : driver->context_wait();
}

/* With the lock; began_ns: when the wait was begun. */
static void end_wait(cuda_context *context, int waited, uint32_t reclaim, int64_t began_ns) {
    if (waited == 0)
        cuda_context_end_wait(context, reclaim, began_ns);
    else
        cuda_context_give_up_wait(context, reclaim);
    if (cuda_is_capture_error(waited))
        context->wait_after_ns = sb_clock_ns() + CAPTURE_PAUSE_NS;
}

/* What was launched is waited for so that forgotten chunks can be taken back. A thread of its own,
   since a kernel may run for minutes. */
typedef struct wait_order {
    cuda_context *context;
    cuda_context_handle handle;
    uint32_t reclaim;
} wait_order;

static void *wait_for_launches(void *of) {
    const wait_order order = *(wait_order *)of;
    cuda_context *context = order.context;
    const int64_t began = sb_clock_ns();
    free(of);
    int waited = context->driver->context_set(order.handle);
    if (waited == 0)
        waited = cuda_wait_unless_capturing(context->driver);
    pthread_mutex_lock(&context->lock);
    end_wait(context, waited, order.reclaim, began);
    pthread_mutex_unlock(&context->lock);
    return NULL;
}

/* With the lock. */
static void start_waiting(cuda_context *context) {
    pthread_t thread;
    wait_order *order = malloc(sizeof *order);
    const uint32_t reclaim = order != NULL ? cuda_context_begin_reclaim(context, false) : 0;
    if (reclaim != 0) {
        *order = (wait_order){context, context->handle, reclaim};
        if (sb_thread_start(&thread, wait_for_launches, order)) {
            pthread_detach(thread);
            return;
        }
        cuda_context_give_up_wait(context, reclaim);
    }
    free(order);
}

sb_status cuda_flush_entered(cuda_context *context, sb_error *error) {
    const cuda_driver *driver = context->driver;
    (void)cuda_drain(context, CUDA_LOOK_RUNNING, NULL);
    const uint32_t reclaim = cuda_context_begin_reclaim(context, true);
    const int64_t began = sb_clock_ns();
    pthread_mutex_unlock(&context->lock);
    const int waited = cuda_wait_unless_capturing(driver);
    pthread_mutex_lock(&context->lock);
    end_wait(context, waited, reclaim, began);
    if (cuda_is_capture_error(waited))
        SB_FAIL(error, SB_ERR_USAGE,
                "kernels cannot be waited for while a graph is captured; zones of those that run "
                "are read later");
    if (!cuda_context_is_there(context))
        return SB_OK;
    SB_TRY(cuda_drain(context, CUDA_LOOK_ENDED, error));
    cuda_context_read_missed(context);
    return cuda_check(driver, waited, "kernels failed", error);
}

/* The attached context that is current, or NULL; locked. */
static cuda_context *lock_current(const cuda_driver *driver) {
    cuda_context_handle handle = NULL;
    if (driver->context_get(&handle) != 0 || handle == NULL)
        return NULL;
    for (cuda_context *context = cuda_contexts_first(); context != NULL; context = context->next) {
        pthread_mutex_lock(&context->lock);
        if (context->handle == handle && cuda_context_is_there(context))
            return context;
        pthread_mutex_unlock(&context->lock);
    }
    return NULL;
}

sb_status cuda_wait_for_current(const cuda_driver *driver, sb_error *error) {
    cuda_context *context = lock_current(driver);
    uint32_t reclaim = 0;
    const int64_t began = sb_clock_ns();
    if (context != NULL) {
        if (cuda_pool_is_low(&context->pool))
            reclaim = cuda_context_begin_reclaim(context, true);
        pthread_mutex_unlock(&context->lock);
    }
    const int waited = driver->context_wait();
    if (context != NULL) {
        pthread_mutex_lock(&context->lock);
        end_wait(context, waited, reclaim, began);
        pthread_mutex_unlock(&context->lock);
    }
    return cuda_check(driver, waited, "kernels failed", error);
}

/* ---- looking ---- */

/* True: there was something to read. */
static bool look_at(cuda_context *context) {
    cuda_visit visit;
    bool is_busy = false;
    if (cuda_enter(context, &visit)) {
        const uint64_t zones = context->counts.zones;
        (void)cuda_drain(context, CUDA_LOOK_RUNNING, NULL);
        if (sb_clock_ns() - context->missed_ns > MISSED_PAUSE_NS)
            cuda_context_read_missed(context);
        const bool is_low = cuda_pool_is_low(&context->pool);
        is_busy = context->counts.zones != zones || is_low;
        if (is_low && cuda_options_get()->may_wait && sb_clock_ns() >= context->wait_after_ns)
            start_waiting(context);
    }
    cuda_leave(context, &visit);
    return is_busy;
}

static void look_around_once(bool *is_busy) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const cuda_driver *driver = cuda_driver_in_use();
    if (driver == NULL)
        return;
    pthread_once(&once, cuda_follow_exit);
    (void)cuda_relax(driver);
    cuda_contexts_find(driver);
    for (cuda_context *at = cuda_contexts_first(); at != NULL; at = at->next)
        *is_busy = look_at(at) || *is_busy;
}

static void *look_around(void *unused) {
    (void)unused;
    long pause = PAUSE_LEAST_NS;
    while (!__atomic_load_n(&watch.is_ending, __ATOMIC_ACQUIRE)) {
        bool is_busy = false;
        look_around_once(&is_busy);
        pause = is_busy ? PAUSE_LEAST_NS : pause * 2;
        if (pause > PAUSE_MOST_NS)
            pause = PAUSE_MOST_NS;
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
    return NULL;
}

void cuda_watch_start(void) {
    if (cuda_is_child())
        return;
    cuda_follow_forks();
    pthread_mutex_lock(&watch.lock);
    if (!watch.is_running && !__atomic_load_n(&watch.is_ending, __ATOMIC_ACQUIRE))
        watch.is_running = sb_thread_start(&watch.thread, look_around, NULL);
    pthread_mutex_unlock(&watch.lock);
}

void cuda_watch_end(void) {
    __atomic_store_n(&watch.is_ending, true, __ATOMIC_RELEASE);
    pthread_mutex_lock(&watch.lock);
    const bool is_running = watch.is_running;
    watch.is_running = false;
    pthread_mutex_unlock(&watch.lock);
    if (is_running)
        pthread_join(watch.thread, NULL);
}

/* ---- the end of the program ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*work)(void);
    bool is_done;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *do_last(void *unused) {
    (void)unused;
    last.work();
    pthread_mutex_lock(&last.lock);
    last.is_done = true;
    pthread_cond_signal(&last.changed);
    pthread_mutex_unlock(&last.lock);
    return NULL;
}

/* A wait of the driver's cannot be given up; waiting for whoever waits can. */
bool cuda_do_within(void (*work)(void), int64_t limit_ns) {
    enum { SECOND_NS = 1000000000 };
    pthread_t thread;
    pthread_condattr_t attributes;
    const int64_t end = sb_clock_ns() + limit_ns;
    const struct timespec until = {.tv_sec = end / SECOND_NS, .tv_nsec = end % SECOND_NS};
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&last.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    last.work = work;
    if (!sb_thread_start(&thread, do_last, NULL)) {
        work();
        return true;
    }
    pthread_detach(thread);
    int waited = 0;
    pthread_mutex_lock(&last.lock);
    while (!last.is_done && waited == 0)
        waited = pthread_cond_timedwait(&last.changed, &last.lock, &until);
    const bool is_done = last.is_done;
    pthread_mutex_unlock(&last.lock);
    return is_done;
}
