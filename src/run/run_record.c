/* Following processes while they run: files of libstrobe's, and sessions with Tracy's client. */
#include "run/run_parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void look_for_files(run_recorder *recorder) {
    DIR *directory = opendir(recorder->folder);
    if (directory == NULL)
        return;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        if (!sb_slice_contains(sb_slice_of(entry->d_name), ".rec") ||
            has_file(recorder, entry->d_name))
            continue;
        run_file found = {0};
        snprintf(found.name, sizeof found.name, "%s", entry->d_name);
        found.descriptor = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC);
        if (found.descriptor >= 0)
            *(run_file *)sb_vector_push(&recorder->files) = found;
    }
    closedir(directory);
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

void run_recorder_free(run_recorder *recorder) {
    for (size_t i = 0; i < recorder->files.count; i++)
        close(((run_file *)sb_vector_at(&recorder->files, i))->descriptor);
    for (size_t i = 0; i < recorder->followers.count; i++) {
        run_follower *follower = *(run_follower **)sb_vector_at(&recorder->followers, i);
        sb_trace_free(follower->trace);
        free(follower);
    }
    sb_vector_free(&recorder->files);
    sb_vector_free(&recorder->followers);
}
