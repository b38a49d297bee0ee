/*
 * Finding and opening the files of a run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report_model.h"
#include "trace/trace.h"

static const char device_log_name[] = "profile_log_device.csv";
static const char cpp_name[] = "cpp_device_perf_report.csv";
static const char zones_name[] = "tracy_ops_times.csv";
static const char messages_name[] = "tracy_ops_data.csv";
static const char tracy_name[] = "tracy_profile_log_host.tracy";
static const char journal_name[] = "tracy_profile_log_host.tracy.journal";
static const char sync_name[] = "sync_device_info.csv";

/* ---- where they are ---- */

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

static char *copy_text(const char *text) {
    const size_t size = strlen(text) + 1;
    return memcpy(sb_alloc(size), text, size);
}

/* The folder that path lies in. */
static char *parent_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return copy_text(".");
    char *parent = copy_text(path);
    parent[slash == path ? 1 : slash - path] = '\0';
    return parent;
}

static char *without_slashes(const char *path) {
    char *copy = copy_text(path);
    for (size_t size = strlen(copy); size > 1 && copy[size - 1] == '/'; size--)
        copy[size - 1] = '\0';
    return copy;
}

static char *join_paths(const char *folder, const char *name) {
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = sb_alloc(size);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static bool is_called(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    return strcmp(slash == NULL ? path : slash + 1, name) == 0;
}

/* The folder of the logs, and the one that gets the reports. */
static sb_status find_folders(sb_report *report, sb_error *error) {
    char *input = without_slashes(report->options.input);
    if (is_file(input)) {
        report->recording.path = input;
        report->log_folder = parent_of(input);
    } else if (is_folder(input)) {
        char *logs = join_paths(input, ".logs");
        const bool has_logs = is_folder(logs);
        report->log_folder = has_logs ? logs : copy_text(input);
        if (!has_logs)
            free(logs);
        free(input);
    } else {
        const int reason = errno;
        sb_error_set(error, SB_ERR_NOT_FOUND, "%s: %s", input, strerror(reason));
        free(input);
        return SB_ERR_NOT_FOUND;
    }
    if (report->options.output != NULL)
        report->output_folder = without_slashes(report->options.output);
    else
        report->output_folder = is_called(report->log_folder, ".logs")
                                    ? parent_of(report->log_folder)
                                    : copy_text(report->log_folder);
    return SB_OK;
}

/*
 * Opens a file of the log folder; false if it is not there. One that cannot be read is a problem of
 * the report and not the end of it: the other files may have enough to say.
 */
static bool open_log(sb_report *report, const char *name, sb_file *file) {
    struct stat entry;
    sb_error error = {0};
    char *path = join_paths(report->log_folder, name);
    const bool is_there = lstat(path, &entry) == 0; /* as is a link that leads nowhere */
    bool is_open = false;
    *file = sb_file_of((sb_slice){"", 0});
    if (is_there && !sb_file_is_regular(path))
        report_add_problem(report, "%s: not a file, so it is not read", path);
    else if (is_there && sb_file_open(file, path, &error) != SB_OK)
        report_add_problem(report, "%s", error.message);
    else
        is_open = is_there;
    free(path);
    return is_open;
}

/* ---- the host's files from a recording ---- */

static void make_host_files(sb_report *report, const sb_trace *trace) {
    report_host_files *files = &report->host_files;
    const sb_slice none = {"", 0};
    sb_arena arena = {0};
    const char *more = report->options.child_functions;
    sb_trace_csv_options csv = {
        .mode = SB_TRACE_CSV_ZONES,
        .layout = SB_TRACE_CSV_TT,
        .compat = true,
        .separator = SB_SLICE(","),
        .filter = none,
        .special_parent = SB_SLICE("TT_"),
        .special_functions =
            sb_arena_format(&arena, "CompileProgram,HWCommandQueue_write_buffer%s%s",
                            more == NULL ? "" : ",", more == NULL ? "" : more),
    };
    files->zones_made = sb_output_to_memory();
    sb_trace_write_csv(trace, &csv, &files->zones_made);
    csv.mode = SB_TRACE_CSV_MESSAGES;
    csv.separator = (sb_slice)SB_SLICE(";");
    csv.special_parent = none;
    csv.special_functions = none;
    files->messages_made = sb_output_to_memory();
    sb_trace_write_csv(trace, &csv, &files->messages_made);
    files->is_made = true;
    files->is_there = true;
    sb_arena_free(&arena);
}

/* What the recording says about itself. */
static void describe_recording(sb_report *report, const sb_trace *trace) {
    report_recording *recording = &report->recording;
    recording->is_read = true;
    recording->resolution_ns = trace->info.resolution;
    recording->ns_per_tick = trace->info.timer_multiplier;
    for (uint64_t i = 0; i < sb_series_count(&trace->losses); i++) {
        const sb_loss *loss = sb_series_at(&trace->losses, i);
        *(report_loss *)sb_vector_push(&recording->losses) =
            (report_loss){.what = sb_arena_copy(&report->arena, sb_trace_text(trace, loss->text)),
                          .cause = loss->cause,
                          .count = loss->count,
                          .from_ns = loss->from,
                          .to_ns = loss->to};
    }
}

/* A .tracy file, or what it would have become: a journal, a recording of libstrobe's. */
static sb_status read_any_trace(report_recording *recording, sb_trace **trace, sb_error *reason) {
    sb_file *file = &recording->file;
    recording->is_journal = sb_capture_can_recover(file->text);
    if (!recording->is_journal) {
        const sb_trace_read_options options = {.file = file};
        return sb_trace_read(file->text, &options, trace, reason);
    }
    const sb_capture_recover_options options = {
        .file = file, .is_written = sb_capture_is_written(recording->path)};
    sb_error damage = {0};
    SB_TRY(sb_capture_recover(file->text, &options, trace, &recording->capture, &damage, reason));
    if (damage.status != SB_OK)
        *reason = damage;
    return damage.status;
}

static void read_recording(sb_report *report) {
    report_recording *recording = &report->recording;
    sb_trace *trace = NULL;
    sb_error reason = {0};
    if (sb_file_open(&recording->file, recording->path, &reason) != SB_OK) {
        report_add_problem(report, "%s", reason.message);
        return;
    }
    const sb_status status = read_any_trace(recording, &trace, &reason);
    if (trace != NULL) {
        make_host_files(report, trace);
        describe_recording(report, trace);
    }
    /* What is wrong with a journal is among the losses of its trace. */
    if (status != SB_OK && (trace == NULL || !recording->is_journal))
        report_add_problem(report, "%s: %s", recording->path, reason.message);
    if (recording->is_journal)
        recording->trace = trace;
    else
        sb_trace_free(trace);
}

/* The recording beside the logs: whole, or as a recorder that was killed has left it. */
static void find_recording(sb_report *report) {
    static const char *const names[] = {tracy_name, journal_name};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (report->recording.path != NULL)
            return;
        char *path = join_paths(report->log_folder, names[i]);
        if (sb_file_is_regular(path))
            report->recording.path = path;
        else
            free(path);
    }
}

static sb_status open_host_files(sb_report *report, sb_error *error) {
    report_host_files *files = &report->host_files;
    bool has_messages = false;
    bool has_zones = false;
    find_recording(report);
    const bool is_named = is_file(report->options.input);
    if (report->options.device_only)
        return SB_OK;
    if (!report->options.export_again && !is_named) {
        has_messages = open_log(report, messages_name, &files->messages_file);
        has_zones = open_log(report, zones_name, &files->zones_file);
        files->is_there = has_messages || has_zones;
    }
    if (report->options.export_again && report->recording.path == NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "%s: there is no %s to take the host's part from",
                report->log_folder, tracy_name);
    const bool is_incomplete = !has_messages || !has_zones;
    if (is_incomplete && report->recording.path != NULL)
        read_recording(report);
    else if (files->is_there && is_incomplete)
        report_add_problem(report, "%s: %s is missing", report->log_folder,
                           has_messages ? zones_name : messages_name);
    return SB_OK;
}

static void read_clocks(sb_report *report) {
    sb_file file;
    if (open_log(report, sync_name, &file))
        report_read_clocks(&report->clocks, file.text);
    sb_file_close(&file);
}

/* What was wrong with the files that are there says more than that none is left. */
static sb_status refuse_folder(const sb_report *report, sb_error *error) {
    if (report->problems.count > 0)
        SB_FAIL(error, SB_ERR_FORMAT, "%s", *(char **)sb_vector_at(&report->problems, 0));
    SB_FAIL(error, SB_ERR_NOT_FOUND, "%s: no logs here: expected %s, %s with %s, or a recording",
            report->log_folder, device_log_name, messages_name, zones_name);
}

sb_status report_open_inputs(sb_report *report, sb_error *error) {
    const sb_report_options *options = &report->options;
    SB_TRY(find_folders(report, error));
    SB_TRY(open_host_files(report, error));
    if (!options->no_device) {
        report->has_device_file = open_log(report, device_log_name, &report->device_file);
        read_clocks(report);
    }
    if (!options->no_device && !options->ignore_cpp && !options->device_only)
        report->has_cpp = open_log(report, cpp_name, &report->cpp_file);
    if (!report->has_device_file && !report->has_cpp && !report->host_files.is_there)
        return refuse_folder(report, error);
    return SB_OK;
}

void report_close_inputs(sb_report *report) {
    report_host_files *files = &report->host_files;
    sb_file_close(&report->device_file);
    sb_file_close(&report->cpp_file);
    sb_file_close(&files->messages_file);
    sb_file_close(&files->zones_file);
    if (files->is_made) {
        sb_output_discard(&files->messages_made);
        sb_output_discard(&files->zones_made);
    }
    free(report->log_folder);
    free(report->output_folder);
    free(report->recording.path);
    sb_trace_free(report->recording.trace);
    sb_file_close(&report->recording.file);
    sb_vector_free(&report->recording.losses);
}
