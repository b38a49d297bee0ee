/* What `strobe run` says when the program has ended: recordings, report, verdict. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli_perf.h"
#include "cli/cli_report.h"
#include "cli/cli_run.h"
#include "cli/cli_trace.h"

/* ---- recordings ---- */

static void tell_ending(const cli_run_arguments *arguments, const sb_run_result *result) {
    const char *name = arguments->title;
    const int status = result->wait_status;
    if (WIFSIGNALED(status))
        sb_log(SB_LOG_WARNING,
               "%s was ended by signal %d (%s); what it recorded until then is kept", name,
               WTERMSIG(status), strsignal(WTERMSIG(status))); // NOLINT(concurrency-mt-unsafe)
    else if (WEXITSTATUS(status) != 0)
        sb_log(SB_LOG_WARNING, "%s ended with exit code %d", name, WEXITSTATUS(status));
    if (result->ended_by_us > 0)
        sb_log(SB_LOG_NOTE, "%zu %s that %s had started still ran and %s told to end",
               result->ended_by_us, result->ended_by_us == 1 ? "process" : "processes", name,
               result->ended_by_us == 1 ? "was" : "were");
}

static void tell_process(const sb_run_process *process) {
    char text[SB_NUMBER_SIZE];
    const sb_slice span = cli_format_time(process->span_ns, text);
    sb_log(SB_LOG_NOTE,
           "process %d (%s): %" PRIu64 " zones, %" PRIu64 " messages, %" PRIu64
           " lost events in %.*s%s: %s",
           (int)process->process_id, process->program, process->zones, process->messages,
           process->lost, (int)span.size, span.data,
           process->state == SB_RUN_CUT ? ", cut short" : "", process->path);
}

static void tell_what_is_missing(const cli_run_arguments *arguments, const sb_run_result *result) {
    const char *name = arguments->title;
    if (arguments->run.without_recorder)
        sb_log(SB_LOG_NOTE, "nothing was recorded: --no-capture-tool leaves that to a reader");
    else if (result->lacks_package)
        sb_log(SB_LOG_NOTE,
               "functions of %s were not recorded: the Python package is not beside this binary",
               name);
    else if (result->folder_was_removed)
        sb_log(result->trace_path == NULL ? SB_LOG_WARNING : SB_LOG_NOTE,
               "%s was removed while %s ran; recordings that went with it are missing",
               arguments->folder, name);
    else if (result->processes.count == 0)
        sb_log(SB_LOG_NOTE,
               "nothing of %s was recorded on the host: it is built neither with libstrobe nor "
               "with Tracy's client",
               name);
}

static void tell_trace(const sb_run_result *result) {
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    sb_put_format(&output, "Trace:  %s (%zu %s)\nNext:   ", result->trace_path,
                  result->processes.count, result->processes.count == 1 ? "process" : "processes");
    cli_put_command(&output, "view", result->trace_path, "--open");
    sb_output_finish(&output, NULL); /* whoever closed it does not want to know */
}

void cli_run_tell(const cli_run_arguments *arguments, const sb_run_result *result) {
    tell_ending(arguments, result);
    for (size_t i = 0; i < result->processes.count; i++) {
        const sb_run_process *process = sb_vector_at(&result->processes, i);
        if (process->state == SB_RUN_LOST)
            sb_log(SB_LOG_WARNING, "process %d (%s) could not be recorded: %s",
                   (int)process->process_id, process->program, process->reason);
        else if (arguments->verbose)
            tell_process(process);
        if (process->lost > 0)
            sb_log(SB_LOG_WARNING, "process %d (%s) could not record %" PRIu64 " events",
                   (int)process->process_id, process->program, process->lost);
    }
    tell_what_is_missing(arguments, result);
    if (result->trace_path != NULL && !arguments->report)
        tell_trace(result);
}

/* ---- the report ---- */

static void print_problems(const sb_report_summary *summary, bool verbose) {
    enum { SHOWN_MAX = 5 };
    const size_t shown =
        verbose || summary->problem_count < SHOWN_MAX ? summary->problem_count : SHOWN_MAX;
    for (size_t i = 0; i < shown; i++)
        sb_log(SB_LOG_WARNING, "%s", summary->problems[i]);
    if (shown < summary->problem_count)
        sb_log(SB_LOG_WARNING, "... and %zu more; -v shows all, and report.json",
               summary->problem_count - shown);
}

/* What `strobe perf` makes of it; a report without times of devices has no verdict. */
static sb_status print_verdict(const cli_run_arguments *arguments, const char *csv,
                               sb_output *output, sb_error *error) {
    cli_perf_inputs inputs;
    sb_perf_report *perf = NULL;
    sb_perf_options options = sb_perf_defaults();
    options.ignore_signposts = true; /* the whole run; `strobe perf` looks closer */
    SB_TRY(cli_perf_open(&inputs, &csv, 1, NULL, error));
    sb_error reason = {0};
    const sb_status status = sb_perf_analyse(&options, inputs.inputs, inputs.count, &perf, &reason);
    const sb_style style = sb_style_for(STDOUT_FILENO);
    if (status == SB_OK && arguments->verbose)
        sb_perf_print_table(perf, style, output);
    if (status == SB_OK && perf->totals.device_time > 0)
        sb_perf_print_verdict(perf, style, output);
    else
        sb_log(SB_LOG_NOTE, "there is no verdict: %s",
               status == SB_OK ? "the report has no times of devices" : reason.message);
    sb_perf_free(perf);
    cli_perf_close(&inputs);
    return SB_OK;
}

static sb_status show_report(const cli_run_arguments *arguments, const sb_run_result *result,
                             const sb_report_summary *summary, sb_error *error) {
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    sb_status status = SB_OK;
    if (summary->op_count > 0 && !summary->is_device_only)
        status = print_verdict(arguments, summary->csv_path, &output, error);
    sb_put_char(&output, '\n');
    cli_put_report_counts(summary, &output);
    sb_put_char(&output, '\n');
    if (arguments->verbose && result != NULL)
        cli_run_put_cost(arguments, result, summary, &output);
    sb_put_format(&output, "Report: %s\nNext:   ", summary->folder);
    cli_put_command(&output, "perf", summary->csv_path, "");
    sb_arena arena = {0};
    const char *trace =
        sb_arena_format(&arena, "%s/tracy_profile_log_host.tracy", summary->folder).data;
    if (access(trace, F_OK) == 0) {
        sb_put_text(&output, "        ");
        cli_put_command(&output, "view", summary->folder, "--open");
    }
    sb_arena_free(&arena);
    const sb_status printed = sb_output_finish(&output, status == SB_OK ? error : NULL);
    /* Other tools look for this line. */
    fprintf(stderr, "OPs csv generated at: %s\n", summary->csv_path);
    return status != SB_OK ? status : printed;
}

sb_status cli_run_make_report(const cli_run_arguments *arguments, const sb_run_process *process,
                              const char *date, sb_report **report, sb_error *error) {
    sb_arena arena = {0};
    const bool is_main = process == NULL;
    const sb_report_options options = {
        .input = is_main ? arguments->folder : process->folder,
        .output = arguments->folder,
        .name = arguments->name,
        .date =
            is_main ? date : sb_arena_format(&arena, "%s_p%d", date, (int)process->process_id).data,
        .tool_version = STROBE_VERSION,
        .no_device = arguments->no_device,
        .export_again = arguments->logs_only,
        .analyses = (const char *const *)(void *)arguments->analyses.data,
        .analysis_count = arguments->analyses.count,
        .child_functions = arguments->children};
    sb_status status = sb_report_read(&options, report, error);
    if (status == SB_OK)
        status = sb_report_write(*report, error);
    sb_arena_free(&arena);
    return status;
}

/* Those of other processes with operations come first: the newest report is the main one's. */
static sb_status report_others(const cli_run_arguments *arguments, const sb_run_result *result,
                               const char *date, bool *is_partial, sb_error *error) {
    for (size_t i = 0; result != NULL && i < result->processes.count; i++) {
        sb_report *report = NULL;
        const sb_run_process *process = sb_vector_at(&result->processes, i);
        if (process->folder[0] == '\0' || process->operations == 0)
            continue;
        const sb_status status = cli_run_make_report(arguments, process, date, &report, error);
        if (status == SB_OK) {
            const sb_report_summary *summary = sb_report_summarise(report);
            sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
            *is_partial = *is_partial || summary->is_partial;
            sb_put_format(&output, "Process %d (%s): ", (int)process->process_id, process->program);
            cli_put_report_counts(summary, &output);
            sb_put_format(&output, ": %s\n", summary->csv_path);
            sb_output_finish(&output, NULL);
        }
        sb_report_free(report);
        SB_TRY(status);
    }
    return SB_OK;
}

sb_status cli_run_report(const cli_run_arguments *arguments, const sb_run_result *result,
                         bool *is_partial, sb_error *error) {
    char date[CLI_REPORT_DATE_SIZE];
    sb_report *report = NULL;
    cli_report_date(date);
    SB_TRY(report_others(arguments, result, date, is_partial, error));
    sb_status status = cli_run_make_report(arguments, NULL, date, &report, error);
    if (status == SB_OK) {
        const sb_report_summary *summary = sb_report_summarise(report);
        print_problems(summary, arguments->verbose);
        *is_partial = *is_partial || summary->is_partial;
        status = show_report(arguments, result, summary, error);
    }
    sb_report_free(report);
    return status;
}
