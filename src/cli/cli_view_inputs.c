/*
 * What `strobe view` shows: traces and reports, from files and folders.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/cli_progress.h"
#include "cli/cli_view.h"

static bool is_newer(const struct stat *a, const struct stat *b) {
    if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
        return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
    return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* The newest .tracy file of a folder, or NULL. */
static const char *newest_trace(sb_arena *arena, const char *folder) {
    const char *newest = NULL;
    struct stat newest_status = {0};
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return NULL;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        struct stat status;
        if (!sb_slice_ends_with(sb_slice_of(entry->d_name), ".tracy"))
            continue;
        const char *path = sb_arena_format(arena, "%s/%s", folder, entry->d_name).data;
        if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        if (newest == NULL || is_newer(&status, &newest_status)) {
            newest = path;
            newest_status = status;
        }
    }
    closedir(directory);
    return newest;
}

static sb_status open_ops(cli_view_inputs *inputs, const char *path, sb_error *error) {
    const sb_perf_options options = sb_perf_defaults();
    SB_TRY(cli_perf_open(&inputs->ops_files, &path, 1, NULL, error));
    return sb_perf_analyse(&options, inputs->ops_files.inputs, inputs->ops_files.count,
                           &inputs->ops, error);
}

/* From this many zones on, reading a trace takes long enough for keeping an index. */
enum { KEPT_ZONES = 1000000 };

/* A trace: what was kept of it, else the file. */
static sb_status open_trace(cli_view_inputs *inputs, const char *path, sb_error *error) {
    sb_error reason = {0};
    if (!inputs->without_index) {
        cli_bar bar = cli_bar_of("opening");
        const sb_status status =
            sb_view_kept_open(path, cli_bar_show, &bar, &inputs->kept, &reason);
        cli_bar_end(&bar);
        if (status == SB_ERR_FORMAT)
            sb_log(SB_LOG_NOTE, "the index is made anew: %s", reason.message);
    }
    if (inputs->kept != NULL) {
        inputs->trace = sb_view_kept_trace(inputs->kept);
        return SB_OK;
    }
    SB_TRY(cli_trace_open(&inputs->opened, path, error));
    inputs->trace = inputs->opened.trace;
    const uint64_t zones =
        sb_trace_zone_count(inputs->trace, false) + sb_trace_zone_count(inputs->trace, true);
    if (!inputs->without_index && !inputs->opened.is_partial && zones >= KEPT_ZONES)
        inputs->keep_path = sb_arena_format(&inputs->arena, "%s", path).data;
    return SB_OK;
}

static const char *path_in(cli_view_inputs *inputs, const char *folder, const char *name) {
    return sb_arena_format(&inputs->arena, "%s/%s", folder, name).data;
}

/* The folder of the newest report below a folder, which may have one between: NAME/TIME. */
static const char *newest_report(cli_view_inputs *inputs, const char *folder, unsigned depth,
                                 struct stat *newest_status) {
    const char *newest = NULL;
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return NULL;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        struct stat status;
        const char *path = path_in(inputs, folder, entry->d_name);
        const sb_slice name = sb_slice_of(entry->d_name);
        if (entry->d_name[0] == '.' || stat(path, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode) && depth > 0) {
            const char *below = newest_report(inputs, path, depth - 1, newest_status);
            newest = below != NULL ? below : newest;
        } else if (sb_slice_starts_with(name, "ops_perf_results") &&
                   sb_slice_ends_with(name, ".csv") && is_newer(&status, newest_status)) {
            *newest_status = status;
            newest = folder;
        }
    }
    closedir(directory);
    return newest;
}

static bool has_transfers(const char *folder) {
    bool found = false;
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return false;
    for (const struct dirent *entry = readdir(directory); entry != NULL && !found;
         entry = readdir(directory))
        found = sb_slice_starts_with(sb_slice_of(entry->d_name), "noc_trace_dev");
    closedir(directory);
    return found;
}

/* Beside the trace, in the logs, or in those that a report was made from. */
static void find_transfers(cli_view_inputs *inputs, const char *folder) {
    static const char *const places[] = {".", ".logs", "../../.logs", "../../../.logs"};
    for (size_t i = 0; i < sizeof places / sizeof places[0] && inputs->transfers == NULL; i++) {
        const char *path = path_in(inputs, folder, places[i]);
        if (has_transfers(path))
            inputs->transfers = path;
    }
}

/* All programs of a session, the trace in the folder, or the one in its logs. */
static sb_status open_traces(cli_view_inputs *inputs, const char *folder, sb_error *error) {
    bool found = false;
    SB_TRY(cli_view_open_session(inputs, folder, &found, error));
    if (!found)
        SB_TRY(cli_view_open_session(inputs, path_in(inputs, folder, ".logs/processes"), &found,
                                     error));
    if (found)
        return SB_OK;
    const char *trace = newest_trace(&inputs->arena, folder);
    if (trace == NULL)
        trace = newest_trace(&inputs->arena, path_in(inputs, folder, ".logs"));
    return trace == NULL ? SB_OK : open_trace(inputs, trace, error);
}

/* A folder may hold traces, an ops report, or both; what is missing is no error. */
static sb_status open_folder(cli_view_inputs *inputs, const char *folder, const char *ops,
                             sb_error *error) {
    struct stat newest = {0};
    const char *report = newest_report(inputs, folder, 0, &newest);
    if (report == NULL)
        report = newest_report(inputs, path_in(inputs, folder, "reports"), 2, &newest);
    if (ops != NULL)
        report = ops;
    SB_TRY(open_traces(inputs, folder, error));
    find_transfers(inputs, folder);
    if (inputs->trace == NULL && report == NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND,
                "%s: neither a trace (*.tracy) nor an ops report (ops_perf_results*.csv) is in it",
                folder);
    return report == NULL ? SB_OK : open_ops(inputs, report, error);
}

sb_status cli_view_open(cli_view_inputs *inputs, const char *path,
                        const cli_view_arguments *arguments, sb_error *error) {
    *inputs = (cli_view_inputs){.opened = {.file = {.kind = SB_FILE_BORROWED}},
                                .without_index = arguments->without_index};
    if (sb_folder_is(path)) {
        SB_TRY(open_folder(inputs, path, arguments->ops, error));
    } else if (sb_slice_ends_with(sb_slice_of(path), ".csv")) {
        SB_TRY(open_ops(inputs, path, error));
    } else {
        SB_TRY(open_trace(inputs, path, error));
        if (arguments->ops != NULL)
            SB_TRY(open_ops(inputs, arguments->ops, error));
    }
    if (inputs->trace == NULL)
        inputs->trace = inputs->empty = sb_trace_create();
    return SB_OK;
}

void cli_view_close(cli_view_inputs *inputs) {
    sb_perf_free(inputs->ops);
    cli_perf_close(&inputs->ops_files);
    cli_trace_close(&inputs->opened);
    sb_view_kept_free(inputs->kept);
    sb_trace_free(inputs->empty);
    sb_trace_free(inputs->joined);
    sb_arena_free(&inputs->arena);
}
