/*
 * The report folder: reports[/NAME][/DATE] with the ops report, what it was made from, statistics
 * and the side file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report_model.h"

/* ---- copies ---- */

/*
 * Shares the blocks where the file system can. Else the bytes go through a buffer that stays in the
 * processor's cache, which takes half the time of the kernel's own copy_file_range.
 */
static sb_status copy_bytes(int from, sb_output *to, const char *path, sb_error *error) {
    enum { BLOCK = 128 << 10 }; /* more than an output buffers: it is written at once */
    if (ioctl(to->descriptor, FICLONE, from) == 0)
        return SB_OK;
    char *block = sb_alloc(BLOCK);
    ssize_t copied = 0;
    do {
        copied = read(from, block, BLOCK);
        if (copied > 0)
            sb_put(to, (sb_slice){block, (size_t)copied});
    } while (copied > 0 || (copied < 0 && errno == EINTR));
    free(block);
    if (copied < 0)
        SB_FAIL(error, SB_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
    return SB_OK;
}

sb_status report_copy_file(const char *from, const char *folder, const char *name,
                           sb_error *error) {
    sb_arena arena = {0};
    sb_output output = {.descriptor = -1};
    const char *goal = sb_arena_format(&arena, "%s/%s", folder, name).data;
    const int source = open(from, O_RDONLY | O_CLOEXEC);
    sb_status status = SB_OK;
    if (source < 0)
        status = sb_error_set(error, SB_ERR_IO, "%s: %s", from, strerror(errno));
    if (status == SB_OK)
        status = sb_output_to_file(&output, goal, error);
    if (status == SB_OK)
        status = copy_bytes(source, &output, from, error);
    if (status == SB_OK)
        status = sb_output_finish(&output, error);
    else
        sb_output_discard(&output);
    if (source >= 0)
        close(source);
    sb_arena_free(&arena);
    return status;
}

/* Copies a file of the log folder if it could be read. */
static sb_status copy_log(const sb_report *report, const char *folder, const char *name,
                          sb_error *error) {
    sb_arena arena = {0};
    struct stat info;
    const char *from = sb_arena_format(&arena, "%s/%s", report->log_folder, name).data;
    const bool was_read =
        access(from, R_OK) == 0 && stat(from, &info) == 0 && S_ISREG(info.st_mode);
    const sb_status status = was_read ? report_copy_file(from, folder, name, error) : SB_OK;
    sb_arena_free(&arena);
    return status;
}

/* The timelines of NoC traces lie beside the logs in a folder of their own. */
static sb_status copy_noc_timelines(const sb_report *report, const char *folder, sb_error *error) {
    sb_arena arena = {0};
    const char *from = sb_arena_format(&arena, "%s/../npe_viz", report->log_folder).data;
    const char *to = sb_arena_format(&arena, "%s/npe_viz", folder).data;
    DIR *directory = opendir(from);
    sb_status status = directory == NULL ? SB_OK : sb_folder_make(to, error);
    const struct dirent *entry = directory == NULL ? NULL : readdir(directory);
    for (; entry != NULL && status == SB_OK; entry = readdir(directory)) {
        struct stat kind;
        const char *path = sb_arena_format(&arena, "%s/%s", from, entry->d_name).data;
        if (stat(path, &kind) == 0 && S_ISREG(kind.st_mode))
            status = report_copy_file(path, to, entry->d_name, error);
    }
    if (directory != NULL)
        closedir(directory);
    sb_arena_free(&arena);
    return status;
}

typedef struct copying {
    const sb_report *report;
    const char *folder;
    sb_status status;
    sb_error error;
} copying;

/* Copies take as long as the disk takes; they are made while the report is written. */
static void *copy_all(void *context) {
    copying *work = context;
    const sb_report *report = work->report;
    work->status = SB_OK;
    if (report->has_device_file)
        work->status = copy_log(report, work->folder, "profile_log_device.csv", &work->error);
    if (report->has_host && work->status == SB_OK && report->recording.path != NULL &&
        !report->recording.is_journal)
        work->status = report_copy_file(report->recording.path, work->folder,
                                        "tracy_profile_log_host.tracy", &work->error);
    if (report->has_host && work->status == SB_OK)
        work->status = copy_noc_timelines(report, work->folder, &work->error);
    if (report->has_host && work->status == SB_OK && !report->host_files.is_made) {
        work->status = copy_log(report, work->folder, "tracy_ops_times.csv", &work->error);
        if (work->status == SB_OK)
            work->status = copy_log(report, work->folder, "tracy_ops_data.csv", &work->error);
    }
    return NULL;
}

/* ---- files ---- */

static sb_status write_file(sb_report *report, const char *path,
                            void (*put)(sb_report *, sb_output *), sb_error *error) {
    sb_output output;
    SB_TRY(sb_output_to_file(&output, path, error));
    put(report, &output);
    return sb_output_finish(&output, error);
}

static void put_zones_made(sb_report *report, sb_output *output) {
    sb_put(output, sb_output_text(&report->host_files.zones_made));
}

static void put_messages_made(sb_report *report, sb_output *output) {
    sb_put(output, sb_output_text(&report->host_files.messages_made));
}

static void put_side_file(sb_report *report, sb_output *output) {
    report_put_side_file(report, output);
}

/* What the recorder would have written, had it come to its end. */
static void put_recovered_trace(sb_report *report, sb_output *output) {
    const sb_trace_write_options options = {.compression = SB_TRACE_LZ4};
    sb_trace_write(report->recording.trace, &options, output, NULL);
}

static const char *path_of(sb_report *report, const char *name) {
    return sb_arena_format(&report->arena, "%s/%s", report->summary.folder, name).data;
}

static const char *name_of(sb_report *report, const char *stem, bool with_suffix) {
    const sb_report_options *options = &report->options;
    const bool has_name = with_suffix && options->name != NULL;
    const bool has_date = with_suffix && options->date != NULL;
    return sb_arena_format(&report->arena, "%s/%s%s%s%s%s.csv", report->summary.folder, stem,
                           has_name ? "_" : "", has_name ? options->name : "", has_date ? "_" : "",
                           has_date ? options->date : "")
        .data;
}

static sb_status write_files(sb_report *report, sb_error *error) {
    if (report->has_host) {
        SB_TRY(write_file(report, report->summary.csv_path, report_put_ops_csv, error));
    } else {
        SB_TRY(write_file(report, report->summary.csv_path, report_put_device_csv, error));
        SB_TRY(write_file(report, name_of(report, "per_core_op_to_op_times", true),
                          report_put_per_core_csv, error));
    }
    if (report->has_host && report->host_files.is_made) {
        SB_TRY(
            write_file(report, name_of(report, "tracy_ops_times", false), put_zones_made, error));
        SB_TRY(
            write_file(report, name_of(report, "tracy_ops_data", false), put_messages_made, error));
    }
    if (report->has_host && report->recording.trace != NULL)
        SB_TRY(write_file(report, path_of(report, "tracy_profile_log_host.tracy"),
                          put_recovered_trace, error));
    if (report->options.compat)
        return SB_OK;
    if (report->has_device_file) {
        SB_TRY(write_file(report, name_of(report, "core_kernel_stats", false),
                          report_put_core_stats, error));
        SB_TRY(
            write_file(report, name_of(report, "zone_stats", false), report_put_zone_stats, error));
    }
    if (report->options.analyse_noc && report->noc_traces > 0)
        SB_TRY(
            write_file(report, name_of(report, "noc_stats", false), report_put_noc_stats, error));
    return write_file(report, path_of(report, "report.json"), put_side_file, error);
}

/*
 * Makes a folder that nobody has yet: a report that was made in the same second, perhaps by another
 * process, is not to be mixed with this one. Its date gets a number then.
 */
static sb_status make_dated_folder(sb_report *report, const char *parent, sb_error *error) {
    enum { TRIES = 1000 };
    const char *date = report->options.date;
    const char *folder = NULL;
    bool is_made = false;
    int reason = EEXIST;
    SB_TRY(sb_folder_make(parent, error));
    for (int i = 1; i <= TRIES && !is_made && reason == EEXIST; i++) {
        if (i > 1)
            report->options.date = sb_arena_format(&report->arena, "%s_%d", date, i).data;
        folder = sb_arena_format(&report->arena, "%s/%s", parent, report->options.date).data;
        is_made = mkdir(folder, 0777) == 0;
        reason = errno;
    }
    if (!is_made)
        SB_FAIL(error, SB_ERR_IO, "%s: cannot make this folder: %s", folder, strerror(reason));
    report->summary.folder = folder;
    return SB_OK;
}

static sb_status make_folder(sb_report *report, sb_error *error) {
    const char *name = report->options.name;
    const char *folder = sb_arena_format(&report->arena, "%s/reports%s%s", report->output_folder,
                                         name != NULL ? "/" : "", name != NULL ? name : "")
                             .data;
    report->summary.folder = folder;
    return report->options.date == NULL ? sb_folder_make(folder, error)
                                        : make_dated_folder(report, folder, error);
}

sb_status sb_report_write(sb_report *report, sb_error *error) {
    SB_TRY(make_folder(report, error));
    report->summary.csv_path = name_of(report, "ops_perf_results", true);
    copying work = {.report = report, .folder = report->summary.folder};
    pthread_t thread;
    const bool is_parallel = pthread_create(&thread, NULL, copy_all, &work) == 0;
    const sb_status status = write_files(report, error);
    if (is_parallel)
        pthread_join(thread, NULL);
    else
        copy_all(&work);
    if (status == SB_OK && work.status != SB_OK && error != NULL)
        *error = work.error;
    return status != SB_OK ? status : work.status;
}
