/*
 * What `strobe view` shows: traces and reports, from files and folders.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "cli/cli_progress.h"
#include "cli/cli_view.h"
#include "report/report.h"

/* ---- flaws ---- */

void cli_view_note_flaw(cli_view_inputs *inputs, const char *sentence) {
    if (!inputs->is_partial)
        snprintf(inputs->damage, sizeof inputs->damage, "%s", sentence);
    inputs->is_partial = true;
}

void cli_view_tell_flaw(cli_view_inputs *inputs, const char *format, ...) {
    char sentence[SB_ERROR_TEXT_SIZE];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    cli_view_note_flaw(inputs, sentence);
    sb_log(SB_LOG_WARNING, "%s", sentence);
}

/* ---- files ---- */

static sb_status open_ops(cli_view_inputs *inputs, const char *path, sb_error *error) {
    const sb_perf_options options = sb_perf_defaults();
    SB_TRY(cli_perf_open(&inputs->ops_files, &path, 1, NULL, error));
    cli_view_read_facts(inputs, inputs->ops_files.inputs[0].name);
    return sb_perf_analyse(&options, inputs->ops_files.inputs, inputs->ops_files.count,
                           &inputs->ops, error);
}

/* From this many zones on, reading a trace takes long enough for keeping an index. */
enum { KEPT_ZONES = 1000000 };

/* A recording that is not over is shown as it is now; which command shows it as it grows? */
static void tell_how_to_follow(cli_view_inputs *inputs, const char *path) {
    sb_capture_follower *follower = NULL;
    const char *hint = "a program that is started without STROBE_OUT is shown while it runs by "
                       "`strobe view --live`";
    if (sb_capture_follow(path, &follower, NULL) == SB_OK)
        hint = "`strobe view` of this journal alone follows it";
    sb_capture_follower_free(follower);
    sb_log(SB_LOG_NOTE, "%s", hint);
    cli_view_note_flaw(inputs,
                       sb_arena_format(&inputs->arena, "%s; %s", inputs->opened.damage, hint).data);
}

void cli_view_open_kept(cli_view_inputs *inputs, sb_view_files *files) {
    sb_error reason = {0};
    if (inputs->without_index || sb_view_stamp_files(files, NULL) != SB_OK)
        return;
    cli_bar bar = cli_bar_of("opening");
    const sb_status status = sb_view_kept_open(files, cli_bar_show, &bar, &inputs->kept, &reason);
    cli_bar_end(&bar);
    if (status == SB_ERR_FORMAT)
        sb_log(SB_LOG_NOTE, "the index is made anew: %s", reason.message);
    if (inputs->kept != NULL)
        inputs->trace = sb_view_kept_trace(inputs->kept);
}

void cli_view_keep_later(cli_view_inputs *inputs, const sb_view_files *files) {
    const uint64_t zones =
        sb_trace_zone_count(inputs->trace, false) + sb_trace_zone_count(inputs->trace, true);
    if (!inputs->without_index && !inputs->is_partial && zones >= KEPT_ZONES)
        inputs->keep = *files;
}

/* Why a file is not shown, where more can be said than that it cannot be read. */
static sb_status explain(cli_view_inputs *inputs, const char *path, sb_status status,
                         sb_error *error) {
    const sb_slice text = inputs->opened.file.text;
    const char *journal = sb_arena_format(&inputs->arena, "%s.journal", path).data;
    if (status == SB_ERR_NOT_FOUND && access(journal, R_OK) == 0)
        SB_FAIL(error, status,
                "%s: there is no such file yet, but the journal of its recording: `strobe view "
                "%s` shows it",
                path, journal);
    if (status == SB_ERR_FORMAT && !sb_trace_is_file(text) && !sb_capture_can_recover(text))
        SB_FAIL(error, status,
                "%s: %s; expected is a trace (.tracy), a journal (.journal), a file that a program "
                "recorded into (STROBE_OUT), or an ops report or device log (.csv)",
                path, text.size == 0 ? "the file is empty" : "is nothing that can be shown");
    return status;
}

/* A trace: what was kept of it, else the file. */
static sb_status open_trace(cli_view_inputs *inputs, const char *path, sb_error *error) {
    inputs->trace_path = sb_arena_format(&inputs->arena, "%s", path).data;
    sb_view_files files = {.paths = &inputs->trace_path, .count = 1};
    cli_view_open_kept(inputs, &files);
    if (inputs->trace != NULL)
        return SB_OK;
    const sb_status status = cli_trace_open(&inputs->opened, path, error);
    if (status != SB_OK)
        return explain(inputs, path, status, error);
    inputs->trace = inputs->opened.trace;
    if (inputs->opened.is_written)
        tell_how_to_follow(inputs, path);
    else if (inputs->opened.is_partial)
        cli_view_note_flaw(inputs, inputs->opened.damage);
    cli_view_keep_later(inputs, &files);
    return SB_OK;
}

static const char *path_in(cli_view_inputs *inputs, const char *folder, const char *name) {
    return sb_arena_format(&inputs->arena, "%s/%s", folder, name).data;
}

/* ---- beside a trace ---- */

/* Where a run leaves its logs: in the folder, below it, or where a report in it was made from. */
static const char *const log_places[] = {".", ".logs", "../../.logs", "../../../.logs"};

/* The newest file called so in any of these places, and which of them it is. */
static const char *find_log(cli_view_inputs *inputs, const char *folder, const char *prefix,
                            const char *suffix, const char **place) {
    for (size_t i = 0; i < sizeof log_places / sizeof log_places[0]; i++) {
        *place = path_in(inputs, folder, log_places[i]);
        const char *found = sb_folder_newest(&inputs->arena, *place, prefix, suffix);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* ---- the device log ---- */

static void tell_flaws(cli_view_inputs *inputs, const char *log,
                       const sb_report_device_flaws *flaws) {
    if (flaws->bad_rows > 0)
        cli_view_tell_flaw(inputs,
                           "%s: rows that cannot be read: %" PRIu64 ", the first is line %" PRIu64,
                           log, flaws->bad_rows, flaws->first_bad_line);
    else if (flaws->is_cut)
        cli_view_tell_flaw(inputs, "%s: the device log ends within a row", log);
}

/* To a trace that was kept nothing can be added; it is read again. */
static sb_status make_room(cli_view_inputs *inputs, sb_error *error) {
    if (inputs->trace == NULL)
        inputs->trace = inputs->empty = sb_trace_create();
    inputs->keep = (sb_view_files){0};
    if (inputs->kept == NULL)
        return SB_OK;
    bool found = false;
    sb_view_kept_free(inputs->kept);
    inputs->kept = NULL;
    inputs->trace = NULL;
    inputs->without_index = true;
    return inputs->session == NULL ? open_trace(inputs, inputs->trace_path, error)
                                   : cli_view_open_session(inputs, inputs->session, &found, error);
}

/* The lanes of a device log, for a trace that has none. */
static sb_status add_lanes(cli_view_inputs *inputs, const char *log, sb_error *error) {
    sb_report_device_flaws flaws = {0};
    sb_file file = {.kind = SB_FILE_BORROWED};
    SB_TRY(make_room(inputs, error));
    const bool has_host = sb_trace_zone_count(inputs->trace, false) > 0;
    SB_TRY(sb_file_open(&file, log, error));
    sb_report_add_lanes(file.text, inputs->trace, &flaws);
    sb_file_close(&file);
    tell_flaws(inputs, log, &flaws);
    if (has_host)
        sb_log(SB_LOG_NOTE,
               "%s: the trace has no device zones, so they are taken from this log. It does not "
               "tell when that was on the host's clock: devices are as early as their ops were "
               "called",
               log);
    return SB_OK;
}

/* ---- folders ---- */

/* All programs of a session, the trace in the folder, or the one in its logs. */
static sb_status open_traces(cli_view_inputs *inputs, const char *folder, sb_error *error) {
    bool found = false;
    SB_TRY(cli_view_open_session(inputs, folder, &found, error));
    if (!found)
        SB_TRY(cli_view_open_session(inputs, path_in(inputs, folder, ".logs/processes"), &found,
                                     error));
    if (found)
        return SB_OK;
    const char *trace = sb_folder_newest(&inputs->arena, folder, "", ".tracy");
    if (trace == NULL)
        trace = sb_folder_newest(&inputs->arena, path_in(inputs, folder, ".logs"), "", ".tracy");
    if (trace == NULL)
        trace = sb_folder_newest(&inputs->arena, folder, "", ".journal");
    return trace == NULL ? SB_OK : open_trace(inputs, trace, error);
}

/* The newest ops report of a folder, or of the reports that a run left below it. */
static sb_status open_newest_ops(cli_view_inputs *inputs, const char *folder, sb_error *error) {
    const char *report = sb_folder_newest(&inputs->arena, folder, "ops_perf_results", ".csv");
    if (report != NULL)
        return open_ops(inputs, report, error);
    const char *below = path_in(inputs, folder, "reports");
    sb_error reason = {0};
    const sb_status status = sb_folder_is(below) ? open_ops(inputs, below, &reason) : SB_OK;
    if (status == SB_OK || status == SB_ERR_NOT_FOUND)
        return SB_OK;
    *error = reason;
    return status;
}

/* Has it something to show that lies right in it, or where a run leaves it? */
static bool holds_something(cli_view_inputs *inputs, const char *folder) {
    static const struct {
        const char *prefix;
        const char *suffix;
    } files[] = {{"", ".tracy"},
                 {"", ".journal"},
                 {"session", ".json"},
                 {"ops_perf_results", ".csv"},
                 {"profile_log_device", ".csv"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (sb_folder_newest(&inputs->arena, folder, files[i].prefix, files[i].suffix) != NULL)
            return true;
    }
    return sb_folder_is(path_in(inputs, folder, ".logs")) ||
           sb_folder_is(path_in(inputs, folder, "reports"));
}

/* A folder of nothing but report folders stands for the one with the newest report. */
static const char *find_folder(cli_view_inputs *inputs, const char *folder) {
    const char *report = NULL;
    size_t found = 0;
    if (holds_something(inputs, folder) ||
        cli_perf_find_newest(&inputs->arena, folder, &report, &found, NULL) != SB_OK)
        return folder;
    const char *slash = strrchr(report, '/');
    const char *newest =
        sb_arena_format(&inputs->arena, "%.*s", (int)(slash - report), report).data;
    if (found > 1)
        sb_log(SB_LOG_NOTE,
               "%s: shown is the newest of %zu reports in it, %s; `strobe view` of another one's "
               "folder shows that",
               folder, found, newest);
    else
        sb_log(SB_LOG_NOTE, "%s: shown is the report in it, %s", folder, newest);
    return newest;
}

/* A folder may hold traces, a device log, an ops report, or all; what is missing is no error. */
static sb_status open_folder(cli_view_inputs *inputs, const char *folder, const char *ops,
                             sb_error *error) {
    if (access(folder, R_OK | X_OK) != 0)
        SB_FAIL(error, SB_ERR_IO, "%s: this folder cannot be read: %s", folder, strerror(errno));
    SB_TRY(open_traces(inputs, folder, error));
    const char *place = NULL;
    if (find_log(inputs, folder, "noc_trace_dev", ".json", &place) != NULL)
        inputs->transfers = place;
    const char *log = find_log(inputs, folder, "profile_log_device", ".csv", &place);
    if (log != NULL && (inputs->trace == NULL || sb_trace_zone_count(inputs->trace, true) == 0))
        SB_TRY(add_lanes(inputs, log, error));
    if (ops != NULL)
        SB_TRY(open_ops(inputs, ops, error));
    else
        SB_TRY(open_newest_ops(inputs, folder, error));
    if (inputs->trace == NULL && inputs->ops == NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND,
                "%s: neither a trace (*.tracy, *.journal), nor a device log "
                "(profile_log_device.csv), nor an "
                "ops report (ops_perf_results*.csv) is in it",
                folder);
    return SB_OK;
}

static sb_status open_csv(cli_view_inputs *inputs, const char *path, bool has_other_ops,
                          sb_error *error) {
    sb_file file = {.kind = SB_FILE_BORROWED};
    SB_TRY(sb_file_open(&file, path, error));
    const bool is_log = sb_report_is_device_log(file.text);
    sb_file_close(&file);
    if (is_log)
        return add_lanes(inputs, path, error);
    if (has_other_ops)
        SB_FAIL(error, SB_ERR_USAGE, "--ops goes with a trace, and %s is an ops report itself",
                path);
    sb_error reason = {0};
    const sb_status status = open_ops(inputs, path, &reason);
    if (status == SB_ERR_FORMAT)
        SB_FAIL(error, status, "%s; nor is it a device log (profile_log_device.csv)",
                reason.message);
    *error = reason;
    return status;
}

sb_status cli_view_open(cli_view_inputs *inputs, const char *path,
                        const cli_view_arguments *arguments, sb_error *error) {
    *inputs = (cli_view_inputs){.opened = {.file = {.kind = SB_FILE_BORROWED}},
                                .without_index = arguments->without_index,
                                .facts = sb_vector_of(sizeof(sb_view_fact))};
    inputs->shown_path = path;
    if (sb_folder_is(path)) {
        size_t size = strlen(path);
        while (size > 1 && path[size - 1] == '/')
            size--;
        const char *folder = sb_arena_format(&inputs->arena, "%.*s", (int)size, path).data;
        inputs->shown_path = find_folder(inputs, folder);
        SB_TRY(open_folder(inputs, inputs->shown_path, arguments->ops, error));
    } else {
        if (sb_slice_ends_with(sb_slice_of(path), ".csv"))
            SB_TRY(open_csv(inputs, path, arguments->ops != NULL, error));
        else
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
    sb_vector_free(&inputs->facts);
    sb_arena_free(&inputs->arena);
}
