/*
 * `strobe profile "COMMAND"`: runs a shell command on a device and leaves one CSV. It stands in for
 * the wrapper profile.py that users of tt-torch know; `strobe run` can do more.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_profile.h"
#include "cli/cli_report.h"
#include "cli/cli_run.h"
#include "cli/cli_trace.h"

static int run_profile(const cli_command *command, int argc, char **argv);

enum { OPT_OUTPUT, OPT_PORT };

static const cli_option profile_options[] = {
    {.id = OPT_OUTPUT,
     .name = "output-path",
     .short_name = 'o',
     .argument = "FILE",
     .takes_file = true,
     .help = "the report (default: results/perf/device_ops_perf_trace.csv); a name without a "
             "folder goes to results/perf"},
    {.id = OPT_PORT,
     .name = "port",
     .short_name = 'p',
     .argument = "N",
     .help = "the port that programs with Tracy's client listen on (default: one that is free)"},
};

const cli_command cli_profile_command = {
    .name = "profile",
    .summary = "run a shell command and write the ops report of it to one file",
    .arguments = "\"COMMAND\"",
    .about =
        "Runs the command, which must be one argument, records its processes and devices, and\n"
        "writes the ops report. The trace is generated/profiler/.logs/\n"
        "tracy_profile_log_host.tracy (or below $TT_METAL_PROFILER_DIR). The exit code is the\n"
        "command's; 3 if it is 0 and something in the report is missing.",
    .examples = "  strobe profile \"pytest -svv tests/test_mnist.py\"\n"
                "  strobe profile -o mnist.csv -p 8090 \"python train.py\"\n",
    .options = profile_options,
    .option_count = sizeof profile_options / sizeof profile_options[0],
    .run = run_profile,
};

static const char default_folder[] = "results/perf";
static const char default_name[] = "device_ops_perf_trace.csv";

/* A name alone goes where the original puts it. */
static const char *goal_of(sb_arena *arena, const char *output) {
    if (output != NULL && strchr(output, '/') != NULL)
        return output;
    return sb_arena_format(arena, "%s/%s", default_folder, output == NULL ? default_name : output)
        .data;
}

static sb_status make_folder_of(sb_arena *arena, const char *path, sb_error *error) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return SB_OK;
    return sb_folder_make(sb_arena_format(arena, "%.*s", (int)(slash - path), path).data, error);
}

/* ---- reports ---- */

typedef struct profile_reports {
    const cli_run_arguments *arguments;
    char date[CLI_REPORT_DATE_SIZE];
    sb_vector sources; /* cli_profile_source */
    bool is_partial;
    sb_arena arena;
} profile_reports;

/* That of one process (NULL: the main one) as `strobe report` makes it. */
static sb_status add_report(profile_reports *reports, const sb_run_process *process, int process_id,
                            sb_error *error) {
    sb_report *report = NULL;
    const sb_status status =
        cli_run_make_report(reports->arguments, process, reports->date, &report, error);
    if (status == SB_OK) {
        const sb_report_summary *summary = sb_report_summarise(report);
        for (size_t i = 0; i < summary->problem_count; i++)
            sb_log(SB_LOG_WARNING, "%s", summary->problems[i]);
        reports->is_partial = reports->is_partial || summary->is_partial;
        *(cli_profile_source *)sb_vector_push(&reports->sources) = (cli_profile_source){
            .csv = sb_arena_format(&reports->arena, "%s", summary->csv_path).data,
            .messages =
                sb_arena_format(&reports->arena, "%s/tracy_ops_data.csv", summary->folder).data,
            .process_id = process_id};
    }
    sb_report_free(report);
    return status;
}

/* In the order in which the processes began. */
static sb_status add_reports(profile_reports *reports, const sb_run_result *result,
                             sb_error *error) {
    for (size_t i = 0; i < result->processes.count; i++) {
        const sb_run_process *process = sb_vector_at(&result->processes, i);
        if (process->is_main)
            SB_TRY(add_report(reports, NULL, (int)process->process_id, error));
        else if (process->folder[0] != '\0' && process->operations > 0)
            SB_TRY(add_report(reports, process, (int)process->process_id, error));
    }
    /* A device may have recorded what no host did. */
    return reports->sources.count > 0 ? SB_OK : add_report(reports, NULL, 0, error);
}

static sb_status report_to(const cli_run_arguments *arguments, const sb_run_result *result,
                           const char *goal, bool *is_partial, sb_error *error) {
    profile_reports reports = {.arguments = arguments,
                               .sources = sb_vector_of(sizeof(cli_profile_source))};
    cli_report_date(reports.date);
    sb_status status = add_reports(&reports, result, error);
    if (status == SB_OK)
        status = cli_profile_write((const cli_profile_source *)(void *)reports.sources.data,
                                   reports.sources.count, goal, error);
    if (status == SB_OK)
        printf("Report: %s\nTrace:  %s/.logs/tracy_profile_log_host.tracy\n", goal,
               arguments->folder);
    else if (status == SB_ERR_NOT_FOUND && result->trace_path == NULL)
        sb_error_set(error, status,
                     "there is no report: neither the host nor a device recorded anything");
    *is_partial = reports.is_partial;
    sb_vector_free(&reports.sources);
    sb_arena_free(&reports.arena);
    return status;
}

/* ---- the command ---- */

static sb_status take_options(const cli_parsed *parsed, const char **output, uint16_t *port,
                              sb_error *error) {
    enum { PORT_MAX = 65535 };
    int64_t number = 0;
    for (size_t i = 0; i < parsed->option_count; i++) {
        const char *value = parsed->options[i].value;
        if (parsed->options[i].id == OPT_OUTPUT)
            *output = value;
        else
            SB_TRY(cli_trace_number("port", value, 1, PORT_MAX, &number, error));
    }
    *port = (uint16_t)number;
    if (parsed->operand_count != 1)
        SB_FAIL(error, SB_ERR_USAGE, "the command must be one argument, in quotes");
    return SB_OK;
}

static sb_status run_command(const cli_parsed *parsed, sb_arena *arena, int *exit_code,
                             sb_error *error) {
    const char *output = NULL;
    uint16_t port = 0;
    SB_TRY(take_options(parsed, &output, &port, error));
    const char *goal = goal_of(arena, output);
    const char *folder = cli_profiler_folder(arena);
    SB_TRY(make_folder_of(arena, goal, error));
    const char *const command[] = {"/bin/sh", "-c", parsed->operands[0]};
    const sb_run_variable variables[] = {
        {"TT_METAL_DEVICE_PROFILER", "1"},
        {"TT_METAL_CLEAR_L1", "1"},
        {"TT_METAL_DEVICE_PROFILER_DISPATCH", "0"},
        {"TTNN_OP_PROFILER", "1"},
        {"TT_METAL_PROFILER_TRACE_TRACKING", "1"},
        {"TT_METAL_PROFILER_DIR", sb_path_absolute(arena, folder)}};
    cli_run_arguments arguments = {
        .run = {.command = command,
                .command_count = sizeof command / sizeof command[0],
                .folder = folder,
                .port = port,
                .partial = true, /* operations are wanted, not every function of Python */
                .variables = variables,
                .variable_count = sizeof variables / sizeof variables[0]},
        .title = parsed->operands[0],
        .folder = folder,
        .report = true};
    sb_run_result result;
    sb_status status = sb_run(&arguments.run, &result, error);
    if (status == SB_OK) {
        bool is_partial = false;
        cli_run_tell(&arguments, &result);
        status = report_to(&arguments, &result, goal, &is_partial, error);
        const int code = sb_run_exit_code(result.wait_status);
        *exit_code = code != 0 ? code : is_partial ? SB_EXIT_PARTIAL : SB_EXIT_DONE;
    }
    sb_run_result_free(&result);
    return status;
}

static sb_status profile(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    sb_arena arena = {0};
    const sb_status status = run_command(parsed, &arena, exit_code, error);
    sb_arena_free(&arena);
    return status;
}

static int run_profile(const cli_command *command, int argc, char **argv) {
    return cli_trace_run(command, argc, argv, profile);
}
