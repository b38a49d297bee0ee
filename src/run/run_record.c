/* Following processes while they run: files of libstrobe's, and sessions with Tracy's client. */
#include "run/run_parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    FOLLOWERS_MAX = 256,
    CONNECT_SECONDS = 20,
    FINISH_MS = 10000, /* for what was sent and not yet read */
    MEMORY_MIB = 1024,
};

/* ---- files ---- */

static bool has_file(const run_recorder *recorder, const char *name) {
    for (size_t i = 0; i < recorder->files.count; i++) {
        const run_file *file = sb_vector_at(&recorder->files, i);
        if (strcmp(file->name, name) == 0)
            return true;
    }
    return false;
}

/* Half of the descriptors that we may have are for recordings; the rest are found by name. */
static bool may_hold_another(const run_recorder *recorder) {
    struct rlimit limit = {.rlim_cur = 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    return recorder->files.count < limit.rlim_cur / 2;
}

static void take_file(run_recorder *recorder, const char *name) {
    char path[4096];
    if (!sb_slice_contains(sb_slice_of(name), ".rec") || has_file(recorder, name))
        return;
    run_file *found = sb_vector_push(&recorder->files);
    *found = (run_file){.descriptor = -1, .seen_ns = sb_clock_ns()};
    snprintf(found->name, sizeof found->name, "%s", name);
    snprintf(path, sizeof path, "%s/%s", recorder->folder, name);
    if (may_hold_another(recorder))
        found->descriptor = open(path, O_RDONLY | O_CLOEXEC);
}

static void list_files(run_recorder *recorder) {
    DIR *directory = opendir(recorder->folder);
    if (directory == NULL)
        return;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        take_file(recorder, entry->d_name);
    closedir(directory);
}

/* The kernel names files as they appear; without its help they are looked for each time. */
static void watch_folder(run_recorder *recorder) {
    const uint32_t events = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR;
    if (recorder->watch < 0)
        recorder->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (recorder->watch >= 0 && inotify_add_watch(recorder->watch, recorder->folder, events) < 0) {
        close(recorder->watch);
        recorder->watch = -1;
    }
    list_files(recorder);
}

static void take_event(run_recorder *recorder, const struct inotify_event *event) {
    if ((event->mask & IN_Q_OVERFLOW) != 0)
        list_files(recorder);
    else if (event->len > 0)
        take_file(recorder, event->name);
}

static void read_events(run_recorder *recorder) {
    char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    for (ssize_t size = read(recorder->watch, buffer, sizeof buffer); size > 0;
         size = read(recorder->watch, buffer, sizeof buffer)) {
        size_t at = 0;
        while (at < (size_t)size) {
            const struct inotify_event *event = (const void *)(buffer + at);
            take_event(recorder, event);
            at += sizeof *event + event->len;
        }
    }
}

/*
 * A program may remove the folder. What is open stays ours; what comes after needs the folder
 * again, but not before whoever removes it has come to an end with what is around it.
 */
static void restore_folder(run_recorder *recorder) {
    const int64_t patience_ns = 100000000;
    if (access(recorder->folder, F_OK) == 0)
        return;
    recorder->was_removed = true;
    if (recorder->gone_ns == 0)
        recorder->gone_ns = sb_clock_ns();
    if (sb_clock_ns() - recorder->gone_ns < patience_ns)
        return;
    recorder->gone_ns = 0;
    if (sb_folder_make(recorder->folder, NULL) == SB_OK)
        watch_folder(recorder);
}

static void look_for_files(run_recorder *recorder) {
    if (recorder->watch >= 0)
        read_events(recorder);
    else
        list_files(recorder);
    restore_folder(recorder);
}

/* ---- programs that listen ---- */

static void keep_trace(void *context, sb_trace *trace) {
    run_follower *follower = context;
    follower->trace = trace;
}

static void *follow(void *context) {
    run_follower *follower = context;
    follower->status = sb_capture_run(&follower->options, &follower->report, &follower->error);
    __atomic_store_n(&follower->is_done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void add_follower(run_recorder *recorder, const run_listener *listener, pid_t process) {
    char name[48];
    run_follower *follower = sb_alloc_zeroed(1, sizeof *follower);
    run_process_name(process, name);
    follower->process = process;
    follower->seen_ns = sb_clock_ns();
    follower->inode = listener->inode;
    snprintf(follower->path, sizeof follower->path, "%s/%s-%d.tracy", recorder->folder, name,
             (int)process);
    follower->options = (sb_capture_options){.port = listener->port,
                                             .flavour = -1,
                                             .output = follower->path,
                                             .replace = true,
                                             .wait_seconds = CONNECT_SECONDS,
                                             .sync_seconds = 1,
                                             .memory_bytes = (uint64_t)MEMORY_MIB << 20,
                                             .stop = &follower->stop,
                                             .began = keep_trace,
                                             .context = follower};
    if (pthread_create(&follower->thread, NULL, follow, follower) != 0) {
        free(follower);
        return;
    }
    *(run_follower **)sb_vector_push(&recorder->followers) = follower;
}

static bool is_followed(const run_recorder *recorder, uint64_t inode) {
    for (size_t i = 0; i < recorder->followers.count; i++) {
        const run_follower *follower = *(run_follower **)sb_vector_at(&recorder->followers, i);
        if (follower->inode == inode)
            return true;
    }
    return false;
}

static void look_for_listeners(run_recorder *recorder) {
    sb_vector listeners = sb_vector_of(sizeof(run_listener));
    sb_vector processes = sb_vector_of(sizeof(pid_t));
    run_listeners(recorder->first_port, recorder->last_port, &listeners);
    for (size_t i = 0; i < listeners.count; i++) {
        const run_listener *listener = sb_vector_at(&listeners, i);
        if (is_followed(recorder, listener->inode) || recorder->followers.count >= FOLLOWERS_MAX)
            continue;
        if (processes.count == 0)
            run_descendants(&processes);
        const pid_t owner = run_listener_owner(&processes, listener->inode);
        if (owner != 0)
            add_follower(recorder, listener, owner);
    }
    sb_vector_free(&listeners);
    sb_vector_free(&processes);
}

void run_recorder_begin(run_recorder *recorder) {
    watch_folder(recorder);
}

void run_recorder_look(run_recorder *recorder) {
    look_for_files(recorder);
    if (recorder->first_port != 0)
        look_for_listeners(recorder);
}

/* ---- the end ---- */

void run_recorder_finish(run_recorder *recorder) {
    enum { STEP_US = 20000, NS_PER_MS = 1000000 };
    const int64_t end = sb_clock_ns() + (int64_t)FINISH_MS * NS_PER_MS;
    look_for_files(recorder);
    for (size_t i = 0; i < recorder->followers.count; i++) {
        run_follower *follower = *(run_follower **)sb_vector_at(&recorder->followers, i);
        while (!__atomic_load_n(&follower->is_done, __ATOMIC_ACQUIRE)) {
            /* A program that never let us in has nobody left to wait for. */
            if (sb_clock_ns() > end || follower->trace == NULL)
                follower->stop = 1;
            usleep(STEP_US);
        }
        pthread_join(follower->thread, NULL);
    }
}

void run_file_close(run_file *file) {
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}

void run_recorder_free(run_recorder *recorder) {
    for (size_t i = 0; i < recorder->files.count; i++)
        run_file_close(sb_vector_at(&recorder->files, i));
    if (recorder->watch >= 0)
        close(recorder->watch);
    for (size_t i = 0; i < recorder->followers.count; i++) {
        run_follower *follower = *(run_follower **)sb_vector_at(&recorder->followers, i);
        sb_trace_free(follower->trace);
        free(follower);
    }
    sb_vector_free(&recorder->files);
    sb_vector_free(&recorder->followers);
}
