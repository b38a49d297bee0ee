#include "cli/cli_recording.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/cli_trace.h"
#include "cli/cli_written.h"

/* ---- options ---- */

sb_status cli_parse_size(const char *option, const char *text, uint64_t *bytes, sb_error *error) {
    static const char units[] = "KMGT";
    const size_t size = strlen(text);
    const char *unit = size > 0 ? strchr(units, text[size - 1]) : NULL;
    const unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    const sb_slice digits = {text, unit == NULL ? size : size - 1};
    int64_t value = 0;
    if (!sb_parse_int64(digits, &value) || value < 0 || value > INT64_MAX >> shift)
        SB_FAIL(error, SB_ERR_USAGE, "--%s: '%s' is no size such as 512M or 2G", option, text);
    *bytes = (uint64_t)value << shift;
    return SB_OK;
}

sb_status cli_parse_seconds(const char *option, const char *text, double *seconds,
                            sb_error *error) {
    const double most = 1e9;
    if (!sb_parse_double(sb_slice_of(text), seconds) || !(*seconds >= 0) || *seconds > most)
        SB_FAIL(error, SB_ERR_USAGE, "--%s: '%s' is no number of seconds", option, text);
    return SB_OK;
}

/* ---- warnings ---- */

bool cli_recording_is_partial(const sb_capture_report *report) {
    return report->ending_text[0] != '\0' || report->fault_count > 0 ||
           report->ending == SB_JOURNAL_CUT || report->ending == SB_JOURNAL_MALFORMED;
}

void cli_warn_of_recording(const sb_capture_report *report) {
    if (report->ending_text[0] != '\0')
        sb_log(SB_LOG_WARNING, "the recording ended early: %s", report->ending_text);
    for (size_t i = 0; i < report->fault_count; i++)
        sb_log(SB_LOG_WARNING, "%" PRIu64 " %s", report->faults[i].count, report->faults[i].what);
    for (size_t i = 0; i < report->unkept_count; i++)
        sb_log(SB_LOG_NOTE,
               "%" PRIu64 " events of kind '%s' were skipped: traces have no place "
               "for them",
               report->unkept[i].count, report->unkept[i].what);
    if (report->has_file)
        cli_say_what_changed(&report->written);
    if (report->spill_failure != 0)
        sb_log(SB_LOG_WARNING, "more memory than asked for was used: %s",
               strerror(report->spill_failure)); /* NOLINT(concurrency-mt-unsafe) */
    if (report->sync_failure != 0)
        sb_log(SB_LOG_WARNING, "the journal is kept: the trace could not be forced to the disk: %s",
               strerror(report->sync_failure)); /* NOLINT(concurrency-mt-unsafe) */
}

/* ---- reports ---- */

static void put_seconds(sb_output *output, double seconds) {
    char text[SB_NUMBER_SIZE];
    enum { DECIMALS = 3 };
    sb_put(output, (sb_slice){text, sb_format_fixed(seconds, DECIMALS, false, text)});
}

static const char *ending_name(sb_journal_ending ending) {
    static const char *const names[] = {
        [SB_JOURNAL_PROGRAM_ENDED] = "ended",
        [SB_JOURNAL_STOPPED] = "stopped",
        [SB_JOURNAL_CUT] = "cut",
        [SB_JOURNAL_MALFORMED] = "malformed",
    };
    return names[ending];
}

static void put_counts_json(sb_output *output, const char *name, const sb_capture_count *counts,
                            size_t count) {
    sb_put_format(output, ", \"%s\": {", name);
    for (size_t i = 0; i < count; i++) {
        sb_put_text(output, i == 0 ? "" : ", ");
        sb_put_json(output, sb_slice_of(counts[i].what));
        sb_put_format(output, ": %" PRIu64, counts[i].count);
    }
    sb_put_char(output, '}');
}

void cli_put_recording_json(sb_output *output, const sb_capture_report *report, const char *path) {
    const sb_capture_progress *last = &report->last;
    sb_put_text(output, "{\"program\": ");
    sb_put_json(output, sb_slice_of(report->program));
    sb_put_format(output, ", \"process_id\": %" PRIu64 ", \"address\": ", report->process_id);
    sb_put_json(output, sb_slice_of(report->address));
    sb_put_text(output, ", \"protocol\": ");
    sb_put_json(output, sb_slice_of(report->protocol == NULL ? "" : report->protocol));
    sb_put_format(output, ", \"ending\": \"%s\", \"ending_text\": ", ending_name(report->ending));
    sb_put_json(output, sb_slice_of(report->ending_text));
    sb_put_text(output, ", \"file\": ");
    if (report->has_file)
        sb_put_json(output, sb_slice_of(path));
    else
        sb_put_text(output, "null");
    sb_put_format(output,
                  ", \"file_bytes\": %" PRIu64 ", \"journal_bytes\": %" PRIu64
                  ", \"journal_left\": %s, \"zones\": %" PRIu64 ", \"events\": %" PRIu64
                  ", \"wire_bytes\": %" PRIu64 ", \"stream_bytes\": %" PRIu64
                  ", \"span_ns\": %" PRId64,
                  report->file_bytes, report->journal_bytes, report->has_journal ? "true" : "false",
                  last->zones, last->events, last->wire_bytes, last->stream_bytes, last->span_ns);
    sb_put_text(output, ", \"seconds\": ");
    put_seconds(output, last->seconds);
    sb_put_text(output, ", \"write_seconds\": ");
    put_seconds(output, report->write_seconds);
    sb_put_format(output,
                  ", \"memory_bytes\": %" PRIu64 ", \"start_wall_ns\": %" PRIu64
                  ", \"start_clock_ns\": %" PRIu64,
                  last->memory_bytes, report->wall_ns, report->clock_ns);
    put_counts_json(output, "skipped", report->unkept, report->unkept_count);
    put_counts_json(output, "faults", report->faults, report->fault_count);
    sb_put_char(output, '}');
}

void cli_put_recording(sb_output *output, const sb_capture_report *report, const char *path) {
    char text[SB_NUMBER_SIZE];
    sb_arena arena = {0};
    sb_put_text(output, "program   ");
    sb_put(output, sb_utf8_clean(&arena, sb_slice_of(report->program)));
    sb_put_format(output, ", process %" PRIu64 "\nprotocol  %s\nspan      ", report->process_id,
                  report->protocol);
    sb_put(output, cli_format_time(report->last.span_ns, text));
    sb_put_format(output, "\nzones     %" PRIu64 "\nevents    %" PRIu64 " others\n",
                  report->last.zones, report->last.events);
    if (report->has_file)
        sb_put_format(output, "file      %s, %" PRIu64 " bytes\n", path, report->file_bytes);
    if (report->has_journal)
        sb_put_format(output, "journal   %" PRIu64 " bytes, kept\n", report->journal_bytes);
    sb_arena_free(&arena);
}
