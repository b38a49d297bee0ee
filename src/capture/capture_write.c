#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture_session.h"

static uint64_t size_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* The journal goes when nothing can take the trace away any more. */
static void drop_journal(const char *trace_path, const char *journal_path,
                         sb_capture_report *report) {
    if (!sb_file_sync(trace_path))
        report->sync_failure = errno;
    else if (unlink(journal_path) == 0)
        report->has_journal = false;
}

sb_status capture_write_trace(const sb_capture_options *options, const sb_trace *trace,
                              const char *journal_path, sb_capture_report *report,
                              sb_error *error) {
    const double ns_per_second = 1e9;
    const int64_t start = sb_clock_ns();
    sb_output output;
    report->journal_bytes = size_of(journal_path);
    report->has_journal = report->journal_bytes > 0;
    SB_TRY(sb_output_to_file(&output, options->output, error));
    sb_trace_write(trace, &options->file, &output, &report->written);
    SB_TRY(sb_output_finish(&output, error));
    report->write_seconds = (double)(sb_clock_ns() - start) / ns_per_second;
    report->has_file = true;
    report->file_bytes = size_of(options->output);
    if (!options->keep_journal)
        drop_journal(options->output, journal_path, report);
    return SB_OK;
}
