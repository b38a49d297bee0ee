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

/* A folder may hold a trace, an ops report, or both; the report that is missing is no error. */
static sb_status open_folder(cli_view_inputs *inputs, const char *folder, const char *ops,
                             sb_error *error) {
    const char *trace = newest_trace(&inputs->arena, folder);
    const sb_status status = open_ops(inputs, ops != NULL ? ops : folder, error);
    const bool is_missing = ops == NULL && status == SB_ERR_NOT_FOUND;
    if (trace == NULL && is_missing)
        SB_FAIL(error, SB_ERR_NOT_FOUND,
                "%s: neither a trace (*.tracy) nor an ops report (ops_perf_results*.csv) is in it",
                folder);
    if (status != SB_OK && !is_missing)
        return status;
    return trace == NULL ? SB_OK : open_trace(inputs, trace, error);
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
    sb_arena_free(&inputs->arena);
}
