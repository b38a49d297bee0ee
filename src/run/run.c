#include "run/run_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/wire.h"

enum {
    LOOK_MS = 25,      /* between two looks at what the target has started */
    LINGER_MS = 10000, /* what the target started may go on so long after it */
    NS_PER_MS = 1000000,
    SIGNAL_BASE = 128,
};

int sb_run_exit_code(int wait_status) {
    return WIFSIGNALED(wait_status) ? SIGNAL_BASE + WTERMSIG(wait_status)
                                    : WEXITSTATUS(wait_status);
}

/* ---- folders ---- */

typedef struct run_folders {
    const char *logs;
    const char *processes;
    int lock;
} run_folders;

/* What an earlier run left would be taken for this one's. */
static void remove_old_logs(const run_folders *folders, sb_arena *arena) {
    static const char *const names[] = {
        "profile_log_device.csv", "cpp_device_perf_report.csv",   "tracy_ops_times.csv",
        "tracy_ops_data.csv",     "tracy_profile_log_host.tracy", "sync_device_info.csv",
        "zone_src_locations.log", "new_zone_src_locations.log"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(sb_arena_format(arena, "%s/%s", folders->logs, names[i]).data);
    run_devices_remove(folders->processes);
    DIR *directory = opendir(folders->processes);
    if (directory == NULL)
        return;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        const sb_slice name = sb_slice_of(entry->d_name);
        if (sb_slice_contains(name, ".rec") || sb_slice_ends_with(name, ".tracy") ||
            sb_slice_ends_with(name, ".journal"))
            unlinkat(dirfd(directory), entry->d_name, 0);
    }
    closedir(directory);
}

static sb_status prepare_folders(const char *folder, sb_arena *arena, run_folders *folders,
                                 sb_error *error) {
    const char *whole = sb_path_absolute(arena, folder);
    folders->logs = sb_arena_format(arena, "%s/.logs", whole).data;
    folders->processes = sb_arena_format(arena, "%s/processes", folders->logs).data;
    SB_TRY(sb_folder_make(folders->processes, error));
    const char *lock = sb_arena_format(arena, "%s/.lock", folders->processes).data;
    folders->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (folders->lock < 0)
        SB_FAIL(error, SB_ERR_IO, "%s cannot be written to: %s", folders->processes,
                strerror(errno));
    if (flock(folders->lock, LOCK_EX | LOCK_NB) != 0) {
        close(folders->lock);
        SB_FAIL(error, SB_ERR_IO,
                "another program is being recorded into %s; name another folder with -o", folder);
    }
    remove_old_logs(folders, arena);
    return SB_OK;
}

/* ---- ports ---- */

/*
 * Programs with Tracy's client take the first free one of its ports. If all are taken one that is
 * free is passed on; it serves one process.
 */
static void choose_ports(const sb_run_options *options, sb_run_options *chosen,
                         run_recorder *recorder) {
    sb_vector taken = sb_vector_of(sizeof(run_listener));
    recorder->first_port = SB_WIRE_PORT;
    recorder->last_port = SB_WIRE_PORT + SB_WIRE_PORT_COUNT - 1;
    run_listeners(recorder->first_port, recorder->last_port, &taken);
    *chosen = *options;
    if (options->port == 0 && taken.count >= SB_WIRE_PORT_COUNT) {
        const int socket = sb_socket_listen(&chosen->port);
        if (socket >= 0)
            close(socket);
    }
    if (chosen->port != 0) {
        recorder->first_port = chosen->port;
        recorder->last_port = chosen->port;
    }
    if (options->without_recorder)
        recorder->first_port = 0;
    sb_vector_free(&taken);
}

/* ---- waiting ---- */

static bool has_company(void) {
    sb_vector left = sb_vector_of(sizeof(pid_t));
    bool is_any = false;
    run_descendants(&left);
    for (size_t i = 0; i < left.count && !is_any; i++)
        is_any = run_process_is_ours(*(pid_t *)sb_vector_at(&left, i));
    sb_vector_free(&left);
    return is_any;
}

/* Until the target has ended, and then, for a while, those that it started. */
static void wait_for_end(run_group *group, run_recorder *recorder, sb_run_result *result) {
    const int64_t start = sb_clock_ns();
    const double ns_per_second = 1e9;
    while (!group->has_ended) {
        run_recorder_look(recorder);
        run_group_wait(group, recorder->watch, LOOK_MS);
    }
    result->wait_status = group->wait_status;
    result->seconds = (double)(sb_clock_ns() - start) / ns_per_second;
    const int64_t ended = sb_clock_ns();
    const bool is_killed = WIFSIGNALED(group->wait_status) || group->told_to_end_ns != 0;
    while (!is_killed && has_company() && group->told_to_end_ns == 0 &&
           sb_clock_ns() - ended < (int64_t)LINGER_MS * NS_PER_MS) {
        run_recorder_look(recorder);
        run_group_wait(group, recorder->watch, LOOK_MS);
    }
    run_recorder_look(recorder);
    result->ended_by_us = run_group_end(group);
}

/* ---- the whole ---- */

static sb_status launch_and_wait(const sb_run_options *options, const run_folders *folders,
                                 run_recorder *recorder, run_group *group, sb_run_result *result,
                                 sb_error *error) {
    run_target target;
    sb_run_options chosen;
    choose_ports(options, &chosen, recorder);
    sb_status status = run_target_find(&chosen, folders->processes, &result->arena, &target, error);
    if (status == SB_OK)
        status = run_launch(&target, group, error);
    if (status == SB_OK) {
        result->is_python = target.is_python;
        result->lacks_package = target.lacks_package;
        wait_for_end(group, recorder, result);
        run_group_close(group);
    }
    run_target_free(&target);
    return status;
}

sb_status sb_run(const sb_run_options *options, sb_run_result *result, sb_error *error) {
    run_folders folders = {.lock = -1};
    run_group group = {.target = 0};
    *result = (sb_run_result){.processes = sb_vector_of(sizeof(sb_run_process))};
    SB_TRY(prepare_folders(options->folder, &result->arena, &folders, error));
    run_recorder recorder = {.folder = folders.processes,
                             .watch = -1,
                             .files = sb_vector_of(sizeof(run_file)),
                             .followers = sb_vector_of(sizeof(run_follower *))};
    run_recorder_begin(&recorder);
    sb_status status = launch_and_wait(options, &folders, &recorder, &group, result, error);
    if (status == SB_OK) {
        run_recorder_finish(&recorder);
        result->folder_was_removed = recorder.was_removed;
        /* The target may have removed it. */
        status = sb_folder_make(folders.processes, error);
    }
    if (status == SB_OK) {
        run_collect(&recorder, folders.logs, group.target, result);
        status = run_session_write(result, folders.processes, error);
    }
    run_recorder_free(&recorder);
    close(folders.lock);
    return status;
}

void sb_run_result_free(sb_run_result *result) {
    sb_vector_free(&result->processes);
    sb_arena_free(&result->arena);
}
