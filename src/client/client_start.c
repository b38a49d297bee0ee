/* Start, stop and fork. */
#include "client/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

client_globals client_global;

typedef enum client_phase { NEW, STARTING, RUNNING, STOPPED } client_phase;

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t phase; /* client_phase; stored with release order */
static bool handles_fork;

static client_phase current_phase(void) {
    return (client_phase)__atomic_load_n(&phase, __ATOMIC_ACQUIRE);
}

static void set_phase(client_phase next) {
    __atomic_store_n(&phase, next, __ATOMIC_RELEASE);
}

/* ---- the recording file's name ---- */

/* STROBE_OUT with %p and %n filled in; a forked child without %p gets its number at the end. */
static void expand_path(const char *pattern, char *path, size_t size) {
    const int pid = (int)getpid();
    bool has_pid = false;
    size_t used = 0;
    for (const char *at = pattern; *at != '\0' && used + 1 < size; at++) {
        int written = 0;
        if (at[0] == '%' && at[1] == 'p') {
            written = snprintf(path + used, size - used, "%d", pid);
            has_pid = true;
            at++;
        } else if (at[0] == '%' && at[1] == 'n') {
            written = snprintf(path + used, size - used, "%s", client_program_name());
            for (char *slash = strchr(path + used, '/'); slash != NULL; slash = strchr(slash, '/'))
                *slash = '_'; /* a name that was given may be a path */
            at++;
        } else {
            at += at[0] == '%' && at[1] == '%'; /* %% is one % */
            path[used] = *at;
            written = 1;
        }
        used += written > 0 ? (size_t)written : 0;
    }
    if (used >= size)
        used = size - 1;
    path[used] = '\0';
    if (client_global.is_forked && !has_pid)
        snprintf(path + used, size - used, ".%d", pid);
}

static bool open_file(void) {
    char path[sizeof client_global.options.out];
    expand_path(client_global.options.out, path, sizeof path);
    if (client_file_open(path, client_global.session + 1) == 0)
        return true;
    client_say("cannot record to %s: %s", path, strerror(errno));
    return false;
}

/* ---- start ---- */

uint32_t client_change_session(bool records) {
    const uint64_t old = __atomic_load_n(&sb_client_state, __ATOMIC_RELAXED);
    if (records && ++client_global.session >= CLIENT_NOT_STARTED - 1)
        client_global.session = 1;
    const uint32_t session = records ? client_global.session : 0;
    uint64_t expected = old;
    /* The upper half may change at the same time: a library is unloaded. */
    while (!__atomic_compare_exchange_n(&sb_client_state, &expected,
                                        (expected & ~(uint64_t)UINT32_MAX) | session, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return session;
}

static void handle_fork(void);

static bool start(void) {
    client_clock_start(!client_has_flag(SB_MONOTONIC_CLOCK));
    client_global.started_wall = (int64_t)time(NULL);
    client_pool_set_bound(client_global.options.memory);
    client_lane *lane = client_lane_take(); /* makes the shared ones */
    if (lane == NULL)
        return false;
    client_lane_release(lane);
    client_global.init_end = client_now();
    client_global.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    handle_fork();
    if (client_global.options.out[0] != '\0' && !open_file())
        return false;
    const bool on_demand = client_has_flag(SB_ON_DEMAND);
    client_change_session(client_file_is_open() || !on_demand);
    __atomic_store_n(&client_global.is_connected, client_file_is_open(), __ATOMIC_RELEASE);
    return sb_thread_start(&client_global.sender, client_sender_main, NULL);
}

static void start_once(const sb_client_options *options) {
    const bool was_inside = client_is_inside;
    client_is_inside = true; /* before the lock: a signal may come at any moment */
    pthread_mutex_lock(&start_lock);
    if (current_phase() == NEW) {
        set_phase(STARTING);
        client_read_options(options);
        const bool is_started = start();
        if (!is_started)
            client_change_session(false);
        set_phase(is_started ? RUNNING : STOPPED);
    } else if (options != NULL && options->size >= 8) {
        __atomic_fetch_or(&client_global.options.flags, options->flags & ~(uint32_t)SB_ON_DEMAND,
                          __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&start_lock);
    client_is_inside = was_inside;
}

bool client_ensure_started(void) {
    if (__builtin_expect(current_phase() == RUNNING, 1))
        return true;
    if (client_is_inside)
        return false;
    if (current_phase() != STOPPED)
        start_once(NULL);
    return current_phase() == RUNNING;
}

void sb_client_start(const sb_client_options *options) {
    start_once(options);
}

int sb_client_is_started(void) {
    return current_phase() == RUNNING;
}

int sb_client_is_connected(void) {
    return __atomic_load_n(&client_global.is_connected, __ATOMIC_ACQUIRE) != 0;
}

int sb_client_record_to_file(const char *path) {
    pthread_mutex_lock(&start_lock);
    const bool is_new = current_phase() == NEW;
    if (is_new)
        snprintf(client_global.options.out, sizeof client_global.options.out, "%s", path);
    pthread_mutex_unlock(&start_lock);
    if (is_new)
        start_once(NULL);
    return is_new && client_file_is_open() ? 0 : -1;
}

void sb_client_forget_library(void) {
    if (current_phase() == RUNNING)
        __atomic_fetch_add(&sb_client_state, UINT64_C(1) << 32, __ATOMIC_ACQ_REL);
}

/* ---- stop ---- */

bool client_is_stopping(void) {
    return __atomic_load_n(&client_global.is_stopping, __ATOMIC_ACQUIRE) != 0;
}

void sb_client_stop(void) {
    pthread_mutex_lock(&start_lock);
    if (current_phase() == RUNNING) {
        __atomic_store_n(&client_global.is_stopping, 1, __ATOMIC_RELEASE);
        client_wake();
        pthread_join(client_global.sender, NULL);
        client_change_session(false);
        client_lanes_stop();
        close(client_global.wake);
        set_phase(STOPPED);
    }
    pthread_mutex_unlock(&start_lock);
}

__attribute__((destructor(101))) static void stop_at_exit(void) {
    sb_client_stop();
}

/* ---- fork ---- */

static void before_fork(void) {
    pthread_mutex_lock(&start_lock);
    pthread_mutex_lock(&client_serial_lock);
    client_lanes_lock();
    pthread_mutex_lock(&client_pool_lock);
}

static void in_parent(void) {
    pthread_mutex_unlock(&client_pool_lock);
    client_lanes_unlock();
    pthread_mutex_unlock(&client_serial_lock);
    pthread_mutex_unlock(&start_lock);
}

/* The child has no sender, and what it inherited is the parent's: it begins anew when it first
 * records something. */
static void in_child(void) {
    in_parent();
    if (current_phase() != RUNNING)
        return;
    client_lanes_forget();
    client_pool_forget();
    client_file_forget();
    close(client_global.wake);
    client_global.is_forked = true;
    client_global.is_connected = 0;
    client_global.is_stopping = 0;
    client_is_inside = false;
    set_phase(NEW);
    __atomic_store_n(&sb_client_state, CLIENT_NOT_STARTED, __ATOMIC_RELEASE);
}

static void handle_fork(void) {
    if (!handles_fork)
        handles_fork = pthread_atfork(before_fork, in_parent, in_child) == 0;
}
