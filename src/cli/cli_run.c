/*
 * `strobe run PROGRAM`: launches a program, records all of its processes, makes the report.
 *
 * Options mean what they mean in tt-metal's `python -m tracy`; most of them are variables of the
 * program's environment, which the table below names.
 */
#include <string.h>

#include "cli/cli_report.h"
#include "cli/cli_run.h"
#include "cli/cli_trace.h"

static int run_run(const cli_command *command, int argc, char **argv);

enum {
    OPT_PARTIAL,
    OPT_REPORT,
    OPT_VERBOSE,
    OPT_LINES,
    OPT_MODULE,
    OPT_NO_DEVICE,
    OPT_OUTPUT,
    OPT_NAME,
    OPT_PORT,
    OPT_NO_CACHE,
    OPT_SUPPORT_COUNT,
    OPT_SYNC,
    OPT_DISPATCH,
    OPT_SUM,
    OPT_ACCUMULATE,
    OPT_MID_RUN,
    OPT_NO_FILES,
    OPT_NO_PUSH,
    OPT_NOC,
    OPT_MEMORY,
    OPT_TRACE_ONLY,
    OPT_COUNTERS,
    OPT_CHILDREN,
    OPT_LOGS_ONLY,
    OPT_CHECK_EXIT,
    OPT_ANALYSIS,
    OPT_TOOLS_FOLDER,
    OPT_NO_CAPTURE,
    OPT_NO_RUNTIME_ANALYSIS,
    OPT_COUNT,
};

static const cli_option run_options[] = {
    {.id = OPT_REPORT,
     .name = "report",
     .short_name = 'r',
     .heading = "What to do",
     .help = "make the ops report, and say where the time went"},
    {.id = OPT_PARTIAL,
     .name = "partial",
     .short_name = 'p',
     .help = "Python: record functions only where a tracy.Profiler is enabled"},
    {.id = OPT_LINES,
     .name = "lines",
     .short_name = 'l',
     .help = "Python: record every line as well (expensive; use it with -p)"},
    {.id = OPT_MODULE,
     .name = "module",
     .short_name = 'm',
     .help = "PROGRAM is a Python module, such as pytest"},
    {.id = OPT_VERBOSE,
     .name = "verbose",
     .short_name = 'v',
     .help = "say more: the table of operations, each process, losses and cost"},
    {.id = OPT_LOGS_ONLY,
     .name = "process-logs-only",
     .help = "run nothing: make the report of what the last run left"},
    {.id = OPT_CHECK_EXIT,
     .name = "check-exit-code",
     .help = "exit with 4 if the program failed (default: with the program's own code)"},
    {.id = OPT_OUTPUT,
     .name = "output-folder",
     .short_name = 'o',
     .argument = "DIR",
     .takes_file = true,
     .heading = "Where",
     .help = "for logs and reports (default: $TT_METAL_PROFILER_DIR, "
             "$TT_METAL_HOME/generated/profiler, generated/profiler)"},
    {.id = OPT_NAME,
     .name = "name-append",
     .short_name = 'n',
     .argument = "NAME",
     .help = "put NAME into the names of the report's folder and file"},
    {.id = OPT_PORT,
     .name = "port",
     .short_name = 't',
     .argument = "N",
     .help = "the port that programs with Tracy's client listen on (default: one that is free)"},
    {.id = OPT_NO_CAPTURE,
     .name = "no-capture-tool",
     .help = "record nothing: the program waits for a reader, such as Tracy's profiler"},
    {.id = OPT_TOOLS_FOLDER,
     .name = "tracy-tools-folder",
     .argument = "DIR",
     .takes_file = true,
     .help = "accepted and not needed: no other tools are used"},
    {.id = OPT_NO_DEVICE,
     .name = "no-device",
     .heading = "Devices",
     .help = "leave devices out of recording and report"},
    {.id = OPT_SYNC,
     .name = "sync-host-device",
     .help = "measure the clocks of host and devices against each other"},
    {.id = OPT_SUPPORT_COUNT,
     .name = "op-support-count",
     .argument = "N",
     .help = "how many operations the device has room for between two reads (default: 1000)"},
    {.id = OPT_MID_RUN,
     .name = "dump-device-data-mid-run",
     .help = "write what a device recorded at every read, not only at the end"},
    {.id = OPT_TRACE_ONLY,
     .name = "device-trace-profiler",
     .help = "record whole traces instead of the kernels in them"},
    {.id = OPT_DISPATCH, .name = "profile-dispatch-cores", .help = "record dispatch cores too"},
    {.id = OPT_SUM, .name = "enable-sum-profiling", .help = "record zones that add up their time"},
    {.id = OPT_ACCUMULATE,
     .name = "enable-accumulate-profiling",
     .help = "keep sums only, without the ids of operations; cannot go with -r"},
    {.id = OPT_NOC, .name = "collect-noc-traces", .help = "record transfers between cores"},
    {.id = OPT_MEMORY,
     .name = "device-memory-profiler",
     .help = "record which buffers are allocated in L1 and DRAM"},
    {.id = OPT_COUNTERS,
     .name = "profiler-capture-perf-counters",
     .argument = "LIST",
     .help = "record hardware counters: fpu, pack, unpack, l1 (l1_0 to l1_4), instrn, all"},
    {.id = OPT_NO_FILES,
     .name = "disable-device-data-dump-to-files",
     .help = "write no device log"},
    {.id = OPT_NO_PUSH,
     .name = "disable-device-data-push-to-tracy",
     .help = "keep device data out of the trace"},
    {.id = OPT_NO_CACHE,
     .name = "no-op-info-cache",
     .heading = "The report",
     .help = "describe operations in full each time they run, not only the first"},
    {.id = OPT_CHILDREN,
     .name = "child-functions",
     .argument = "LIST",
     .help = "zones inside operations to add up in columns of their own"},
    {.id = OPT_ANALYSIS,
     .name = "device-analysis-types",
     .short_name = 'a',
     .argument = "NAME",
     .help = "only this analysis of the device log (may be repeated)"},
    {.id = OPT_NO_RUNTIME_ANALYSIS,
     .name = "no-runtime-analysis",
     .help = "do not let the runtime work out durations: take them from the device log"},
};

const cli_command cli_run_command = {
    .name = "run",
    .summary = "run a program, record all of it and say what is slow",
    .arguments = "[-m MODULE | SCRIPT.py | PROGRAM] [ARGUMENTS...]",
    .about =
        "Launches the program and records it and every process it starts: functions of Python,\n"
        "zones of programs with libstrobe or Tracy's client (0.9 to 0.14), devices. The trace\n"
        "is DIR/.logs/tracy_profile_log_host.tracy; with -r the report is in\n"
        "DIR/reports/TIME. What was recorded stays if the program crashes or is killed. The\n"
        "exit code is the program's; 3 if it is 0 and something in the report is missing.",
    .examples = "  strobe run -r build/release/bin/tiny_gpt\n"
                "  strobe run -p -r -v model.py --layers 2\n"
                "  strobe run -r -m pytest tests/test_model.py::test_forward\n",
    .options = run_options,
    .option_count = sizeof run_options / sizeof run_options[0],
    .ends_at_operand = true,
    .run = run_run,
};

/* ---- options ---- */

/* Options that are a variable of the program's environment. */
static const struct {
    int id;
    const char *variable;
} switches[] = {
    {OPT_NO_CACHE, "TT_METAL_PROFILER_NO_CACHE_OP_INFO"},
    {OPT_DISPATCH, "TT_METAL_DEVICE_PROFILER_DISPATCH"},
    {OPT_SUM, "TT_METAL_PROFILER_SUM"},
    {OPT_ACCUMULATE, "TT_METAL_PROFILER_ACCUMULATE"},
    {OPT_MID_RUN, "TT_METAL_PROFILER_MID_RUN_DUMP"},
    {OPT_NO_FILES, "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES"},
    {OPT_NO_PUSH, "TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY"},
    {OPT_SYNC, "TT_METAL_PROFILER_SYNC"},
    {OPT_TRACE_ONLY, "TT_METAL_TRACE_PROFILER"},
    {OPT_NOC, "TT_METAL_DEVICE_PROFILER_NOC_EVENTS"},
    {OPT_MEMORY, "TT_METAL_MEM_PROFILER"},
};

static void set_variable(cli_run_arguments *arguments, const char *name, const char *value) {
    *(sb_run_variable *)sb_vector_push(&arguments->variables) = (sb_run_variable){name, value};
}

/* "fpu,pack" as the bits that the runtime wants. */
static sb_status take_counters(const char *list, cli_run_arguments *arguments, sb_error *error) {
    static const struct {
        const char *name;
        unsigned bits;
    } counters[] = {{"fpu", 1},
                    {"pack", 2},
                    {"unpack", 4},
                    {"l1", 8},
                    {"l1_0", 8},
                    {"l1_1", 16},
                    {"instrn", 32},
                    {"l1_2", 64},
                    {"l1_3", 128},
                    {"l1_4", 256},
                    {"all", 1 + 2 + 4 + 8 + 32}};
    const size_t count = sizeof counters / sizeof counters[0];
    unsigned bits = 0;
    sb_slice rest = sb_slice_of(list);
    while (rest.size > 0) {
        const sb_slice name = sb_slice_trim(sb_slice_cut(rest, ',', &rest));
        size_t i = 0;
        while (i < count && !sb_slice_is(name, counters[i].name))
            i++;
        if (i == count)
            SB_FAIL(error, SB_ERR_USAGE,
                    "--profiler-capture-perf-counters: '%.*s' is none of fpu, pack, unpack, l1, "
                    "l1_0 to l1_4, instrn, all",
                    (int)name.size, name.data);
        bits |= counters[i].bits;
    }
    set_variable(arguments, "TT_METAL_PROFILE_PERF_COUNTERS",
                 sb_arena_format(&arguments->arena, "%u", bits).data);
    return SB_OK;
}

static bool take_flag(int id, cli_run_arguments *arguments) {
    const struct {
        int id;
        bool *flag;
    } flags[] = {
        {OPT_PARTIAL, &arguments->run.partial},
        {OPT_LINES, &arguments->run.lines},
        {OPT_MODULE, &arguments->run.is_module},
        {OPT_NO_CAPTURE, &arguments->run.without_recorder},
        {OPT_REPORT, &arguments->report},
        {OPT_VERBOSE, &arguments->verbose},
        {OPT_NO_DEVICE, &arguments->no_device},
        {OPT_LOGS_ONLY, &arguments->logs_only},
        {OPT_CHECK_EXIT, &arguments->check_exit_code},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (flags[i].id == id)
            return *flags[i].flag = true;
    }
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (switches[i].id != id)
            continue;
        set_variable(arguments, switches[i].variable, "1");
        return true;
    }
    return false;
}

static sb_status take_value(int id, const char *value, cli_run_arguments *arguments,
                            sb_error *error) {
    enum { PORT_MAX = 65535 };
    int64_t number = 0;
    switch (id) {
    case OPT_OUTPUT:
        arguments->folder = value;
        return SB_OK;
    case OPT_NAME:
        arguments->name = value;
        return SB_OK;
    case OPT_CHILDREN:
        arguments->children = value;
        return SB_OK;
    case OPT_ANALYSIS:
        *(const char **)sb_vector_push(&arguments->analyses) = value;
        return SB_OK;
    case OPT_COUNTERS:
        return take_counters(value, arguments, error);
    case OPT_SUPPORT_COUNT:
        SB_TRY(cli_trace_number("op-support-count", value, 1, INT32_MAX, &number, error));
        set_variable(arguments, "TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT", value);
        return SB_OK;
    case OPT_PORT:
        SB_TRY(cli_trace_number("port", value, 1, PORT_MAX, &number, error));
        arguments->run.port = (uint16_t)number;
        return SB_OK;
    default: /* --tracy-tools-folder; and the runtime's analysis, which check_options decides */
        return SB_OK;
    }
}

static sb_status check_combinations(const bool given[OPT_COUNT], sb_error *error) {
    static const struct {
        int a;
        int b;
        const char *reason;
    } excluded[] = {
        {OPT_ACCUMULATE, OPT_REPORT,
         "--enable-accumulate-profiling keeps no ids of operations, so -r has nothing to report"},
        {OPT_MID_RUN, OPT_TRACE_ONLY,
         "--dump-device-data-mid-run and --device-trace-profiler exclude each other"},
        {OPT_MID_RUN, OPT_DISPATCH,
         "--dump-device-data-mid-run and --profile-dispatch-cores exclude each other"},
        {OPT_NO_CAPTURE, OPT_REPORT,
         "with --no-capture-tool nothing is recorded that -r could report on"},
    };
    for (size_t i = 0; i < sizeof excluded / sizeof excluded[0]; i++) {
        if (given[excluded[i].a] && given[excluded[i].b])
            SB_FAIL(error, SB_ERR_USAGE, "%s", excluded[i].reason);
    }
    return SB_OK;
}

/* What follows from the options together, as in the original's front end. */
static void set_profiling(const bool given[OPT_COUNT], cli_run_arguments *arguments) {
    const char *folder = sb_path_absolute(&arguments->arena, arguments->folder);
    set_variable(arguments, "TT_METAL_PROFILER_DIR", folder);
    if (arguments->no_device)
        set_variable(arguments, "TT_METAL_DEVICE_PROFILER", NULL);
    if (given[OPT_NOC])
        set_variable(arguments, "TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH",
                     sb_arena_format(&arguments->arena, "%s/.logs", folder).data);
    if (!arguments->report)
        return;
    if (!arguments->no_device)
        set_variable(arguments, "TT_METAL_DEVICE_PROFILER", "1");
    set_variable(arguments, "TTNN_OP_PROFILER", "1");
    set_variable(arguments, "TT_METAL_PROFILER_TRACE_TRACKING", "1");
    if (!given[OPT_NO_RUNTIME_ANALYSIS] && !given[OPT_SUM] && !given[OPT_DISPATCH] &&
        !given[OPT_COUNTERS])
        set_variable(arguments, "TT_METAL_PROFILER_CPP_POST_PROCESS", "1");
}

static sb_status take_options(const cli_parsed *parsed, cli_run_arguments *arguments,
                              sb_error *error) {
    bool given[OPT_COUNT] = {false};
    for (size_t i = 0; i < parsed->option_count; i++) {
        const cli_parsed_option *option = &parsed->options[i];
        given[option->id] = true;
        if (!take_flag(option->id, arguments))
            SB_TRY(take_value(option->id, option->value, arguments, error));
    }
    SB_TRY(check_combinations(given, error));
    if (arguments->name != NULL &&
        (arguments->name[0] == '\0' || strchr(arguments->name, '/') != NULL))
        SB_FAIL(error, SB_ERR_USAGE, "--name-append: a name without '/' is expected");
    if (parsed->operand_count == 0 && !arguments->logs_only)
        SB_FAIL(error, SB_ERR_USAGE, "name a program, a script or, behind -m, a module to run");
    if (parsed->operand_count > 0 && arguments->logs_only)
        SB_FAIL(error, SB_ERR_USAGE, "--process-logs-only runs nothing, so '%s' is too much",
                parsed->operands[0]);
    if (arguments->folder == NULL)
        arguments->folder = cli_profiler_folder(&arguments->arena);
    set_profiling(given, arguments);
    arguments->title = parsed->operand_count > 0 ? parsed->operands[0] : "";
    arguments->run.folder = arguments->folder;
    arguments->run.command = parsed->operands;
    arguments->run.command_count = parsed->operand_count;
    arguments->run.variables = (const sb_run_variable *)(void *)arguments->variables.data;
    arguments->run.variable_count = arguments->variables.count;
    return SB_OK;
}

/* ---- the command ---- */

/* The program's own code has precedence: whoever runs us wants to know what became of it. */
static int exit_code_of(const cli_run_arguments *arguments, const sb_run_result *result,
                        bool is_partial) {
    const int code = sb_run_exit_code(result->wait_status);
    if (code != 0)
        return arguments->check_exit_code ? CLI_RUN_TARGET_FAILED : code;
    return is_partial ? SB_EXIT_PARTIAL : SB_EXIT_DONE;
}

/* The program ran, and its exit code counts whatever the report has to say. */
static bool report_and_tell(const cli_run_arguments *arguments, const sb_run_result *result) {
    sb_error error = {0};
    bool is_partial = false;
    const sb_status status = cli_run_report(arguments, result, &is_partial, &error);
    if (status == SB_OK)
        return !is_partial;
    if (status == SB_ERR_NOT_FOUND && result->trace_path == NULL)
        sb_log(SB_LOG_ERROR, "there is no report: neither the host nor a device recorded anything");
    else
        sb_log(SB_LOG_ERROR, "%s", error.message);
    return false;
}

static bool is_recorded_in_part(const sb_run_result *result) {
    if (result->folder_was_removed && result->trace_path == NULL)
        return true;
    for (size_t i = 0; i < result->processes.count; i++) {
        const sb_run_process *process = sb_vector_at(&result->processes, i);
        if (process->state == SB_RUN_LOST || process->lost > 0)
            return true;
    }
    return false;
}

static sb_status run_target(cli_run_arguments *arguments, int *exit_code, sb_error *error) {
    sb_run_result result;
    sb_status status = sb_run(&arguments->run, &result, error);
    if (status == SB_OK) {
        bool is_partial = is_recorded_in_part(&result);
        cli_run_tell(arguments, &result);
        if (arguments->report && !report_and_tell(arguments, &result))
            is_partial = true;
        *exit_code = exit_code_of(arguments, &result, is_partial);
    }
    sb_run_result_free(&result);
    return status;
}

static sb_status process_logs(cli_run_arguments *arguments, int *exit_code, sb_error *error) {
    bool is_partial = false;
    SB_TRY(cli_run_report(arguments, NULL, &is_partial, error));
    *exit_code = is_partial ? SB_EXIT_PARTIAL : SB_EXIT_DONE;
    return SB_OK;
}

static sb_status run(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    cli_run_arguments arguments = {.analyses = sb_vector_of(sizeof(const char *)),
                                   .variables = sb_vector_of(sizeof(sb_run_variable))};
    sb_status status = take_options(parsed, &arguments, error);
    if (status == SB_OK && arguments.logs_only)
        status = process_logs(&arguments, exit_code, error);
    else if (status == SB_OK)
        status = run_target(&arguments, exit_code, error);
    sb_vector_free(&arguments.analyses);
    sb_vector_free(&arguments.variables);
    sb_arena_free(&arguments.arena);
    return status;
}

static int run_run(const cli_command *command, int argc, char **argv) {
    return cli_trace_run(command, argc, argv, run);
}
