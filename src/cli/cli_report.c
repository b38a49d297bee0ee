/*
 * `strobe report [FOLDER]`: from the raw logs of a run to a report folder.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli_report.h"
#include "cli/cli_trace.h"

static int run_report(const cli_command *command, int argc, char **argv);

enum {
    OPT_OUTPUT,
    OPT_NAME,
    OPT_DATE,
    OPT_NO_DATE,
    OPT_DEVICE_ONLY,
    OPT_NO_DEVICE,
    OPT_LEGACY,
    OPT_LOGS_ONLY,
    OPT_ANALYSIS,
    OPT_NOC,
    OPT_CHILDREN,
    OPT_SETUP,
    OPT_NO_OPS,
    OPT_NO_JSON,
    OPT_STATS,
    OPT_FROM,
    OPT_TO,
    OPT_TOP,
    OPT_STRICT,
    OPT_COMPAT,
    OPT_JSON,
    OPT_QUIET,
};

static const cli_option report_options[] = {
    {.id = OPT_OUTPUT,
     .name = "output-folder",
     .short_name = 'o',
     .argument = "DIR",
     .takes_file = true,
     .heading = "Where",
     .help = "write to DIR/reports; without FOLDER, DIR/.logs is also read"},
    {.id = OPT_NAME,
     .name = "name-append",
     .short_name = 'n',
     .argument = "NAME",
     .help = "put NAME into the names of folder and file"},
    {.id = OPT_DATE, .name = "date", .help = "the same with the time of day (default)"},
    {.id = OPT_NO_DATE, .name = "no-date", .help = "no time in names: replaces the last report"},
    {.id = OPT_DEVICE_ONLY,
     .name = "device-only",
     .heading = "From what",
     .help = "leave the host's files aside: a row per execution on a device"},
    {.id = OPT_NO_DEVICE, .name = "no-device", .help = "leave the devices' files aside"},
    {.id = OPT_LEGACY,
     .name = "force-legacy-device-logs",
     .help = "work from the device log, even if cpp_device_perf_report.csv is there"},
    {.id = OPT_LOGS_ONLY,
     .name = "process-logs-only",
     .help = "take the host's part anew from the recording (.tracy or its journal)"},
    {.id = OPT_CHILDREN,
     .name = "child-functions",
     .argument = "LIST",
     .help = "with a recording: zones inside ops to add up in columns of their own"},
    {.id = OPT_ANALYSIS,
     .name = "device-analysis-types",
     .short_name = 'a',
     .argument = "NAME",
     .help = "only this analysis of the device log (may be repeated)"},
    {.id = OPT_NOC,
     .name = "analyze-noc-traces",
     .help = "sum up NoC traces in noc_stats.csv, and have tt-npe work out utilisation"},
    {.id = OPT_STATS,
     .name = "stats",
     .heading = "Statistics",
     .help = "show where the time went, and write tables and pictures to the folder stats"},
    {.id = OPT_FROM,
     .name = "start-signpost",
     .argument = "NAME",
     .help = "with --stats: only what follows the first signpost of this name"},
    {.id = OPT_TO,
     .name = "end-signpost",
     .argument = "NAME",
     .help = "with --stats: only what comes before the next signpost of this name"},
    {.id = OPT_TOP,
     .name = "top",
     .argument = "N",
     .help = "with --stats: show N entries of each list (default: 15; 0: all)"},
    {.id = OPT_SETUP,
     .name = "setup",
     .short_name = 's',
     .argument = "NAME",
     .heading = "The device log alone",
     .help = "no report: measure the device log as process_device_log.py does with this setup "
             "(default_setup, test_multi_op, test_full_buffer ...), to DIR/output/device"},
    {.id = OPT_NO_OPS, .name = "no-op-detection", .help = "with --setup: look for no executions"},
    {.id = OPT_NO_JSON,
     .name = "no-json",
     .help = "with --setup: no device_analysis_data.json, which is 15 times the log"},
    {.id = OPT_STRICT,
     .name = "strict",
     .heading = "How",
     .help = "write nothing if anything is missing or broken: exit code 1"},
    {.id = OPT_COMPAT,
     .name = "compat",
     .help = "exactly the cells of process_ops_logs.py, quirks included, and no files of our own"},
    {.id = OPT_JSON, .name = "json", .help = "say what was written as JSON"},
    {.id = OPT_QUIET, .name = "quiet", .short_name = 'q', .help = "no progress, no verdict"},
};

const cli_command cli_report_command = {
    .name = "report",
    .summary = "make the ops report of a run from its raw logs",
    .arguments = "[FOLDER|REPORT.csv]",
    .about = "Reads the logs that a run left in FOLDER or FOLDER/.logs (profile_log_device.csv,\n"
             "tracy_ops_times.csv and tracy_ops_data.csv or a recording of the host: a .tracy\n"
             "file, its journal, or a file that libstrobe wrote,\n"
             "cpp_device_perf_report.csv) and writes FOLDER/reports/TIME with\n"
             "ops_perf_results_TIME.csv: a row per operation. Without FOLDER it is\n"
             "$TT_METAL_PROFILER_DIR, or $TT_METAL_HOME/generated/profiler, or\n"
             "generated/profiler. What is missing is labelled in the column COMPLETENESS;\n"
             "the exit code is then 3. With --stats it also takes an ops report that is\n"
             "there already and writes the folder stats beside it.",
    .examples = "  strobe report\n"
                "  strobe report generated/profiler -n decoder\n"
                "  strobe report run.tracy -o out --no-device\n"
                "  strobe report --stats ops_perf_results.csv\n",
    .options = report_options,
    .option_count = sizeof report_options / sizeof report_options[0],
    .run = run_report,
};

typedef struct report_arguments {
    sb_report_options options;
    sb_vector analyses; /* const char * */
    bool without_date;
    bool strict;
    bool json;
    bool quiet;
    bool with_stats;
    bool bounds_stats; /* by one of the options that do */
    sb_report_stats_options stats;
    sb_report_device_options device;
    char date[CLI_REPORT_DATE_SIZE];
    sb_arena arena;
} report_arguments;

/* ---- options ---- */

static bool take_flag(int id, report_arguments *arguments) {
    sb_report_options *options = &arguments->options;
    const struct {
        int id;
        bool *flag;
        bool value;
    } flags[] = {
        {OPT_DATE, &arguments->without_date, false},
        {OPT_NO_DATE, &arguments->without_date, true},
        {OPT_DEVICE_ONLY, &options->device_only, true},
        {OPT_NO_DEVICE, &options->no_device, true},
        {OPT_LEGACY, &options->ignore_cpp, true},
        {OPT_LOGS_ONLY, &options->export_again, true},
        {OPT_NOC, &options->analyse_noc, true},
        {OPT_STRICT, &arguments->strict, true},
        {OPT_COMPAT, &options->compat, true},
        {OPT_JSON, &arguments->json, true},
        {OPT_QUIET, &arguments->quiet, true},
        {OPT_STATS, &arguments->with_stats, true},
        {OPT_NO_OPS, &arguments->device.without_ops, true},
        {OPT_NO_JSON, &arguments->device.without_json, true},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (flags[i].id == id) {
            *flags[i].flag = flags[i].value;
            return true;
        }
    }
    return false;
}

static sb_status take_options(const cli_parsed *parsed, report_arguments *arguments,
                              sb_error *error) {
    int64_t top = 0;
    for (size_t i = 0; i < parsed->option_count; i++) {
        const char *value = parsed->options[i].value;
        const int id = parsed->options[i].id;
        if (take_flag(id, arguments))
            continue;
        if (id == OPT_FROM || id == OPT_TO || id == OPT_TOP)
            arguments->bounds_stats = true;
        if (id == OPT_OUTPUT)
            arguments->options.output = value;
        else if (id == OPT_NAME)
            arguments->options.name = value;
        else if (id == OPT_CHILDREN)
            arguments->options.child_functions = value;
        else if (id == OPT_SETUP)
            arguments->device.setup = value;
        else if (id == OPT_FROM)
            arguments->stats.from = value;
        else if (id == OPT_TO)
            arguments->stats.to = value;
        else if (id == OPT_TOP) {
            SB_TRY(cli_trace_number("top", value, 0, INT32_MAX, &top, error));
            arguments->stats.top = (size_t)top;
        } else
            *(const char **)sb_vector_push(&arguments->analyses) = value;
    }
    arguments->options.analyses = (const char *const *)(void *)arguments->analyses.data;
    arguments->options.analysis_count = arguments->analyses.count;
    return SB_OK;
}

const char *cli_profiler_folder(sb_arena *arena) {
    const char *folder = getenv("TT_METAL_PROFILER_DIR");
    const char *home = getenv("TT_METAL_HOME");
    if (folder != NULL && folder[0] != '\0')
        return folder;
    const bool has_home = home != NULL && home[0] != '\0';
    return sb_arena_format(arena, "%s%sgenerated/profiler", has_home ? home : "",
                           has_home ? "/" : "")
        .data;
}

/* A name of one folder: no path that leads elsewhere. */
static bool is_plain_name(const char *name) {
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

static sb_status check_options(const report_arguments *arguments, sb_error *error) {
    const sb_report_options *options = &arguments->options;
    if (options->device_only && options->no_device)
        SB_FAIL(error, SB_ERR_USAGE, "--device-only and --no-device leave nothing to read");
    if (options->output != NULL && options->output[0] == '\0')
        SB_FAIL(error, SB_ERR_USAGE, "--output-folder: the name of a folder is expected");
    if (options->name != NULL && !is_plain_name(options->name))
        SB_FAIL(error, SB_ERR_USAGE, "--name-append: a name without '/' is expected");
    if (!arguments->with_stats && arguments->bounds_stats)
        SB_FAIL(error, SB_ERR_USAGE,
                "--start-signpost, --end-signpost and --top bound statistics: add --stats");
    const sb_report_device_options *device = &arguments->device;
    if (device->setup == NULL && (device->without_ops || device->without_json))
        SB_FAIL(error, SB_ERR_USAGE, "--no-op-detection and --no-json go with --setup");
    return SB_OK;
}

/* Refuses options that a way of working would only ignore. used ends with -1. */
static sb_status check_used(const cli_parsed *parsed, const int *used, const char *instead,
                            sb_error *error) {
    for (size_t i = 0; i < parsed->option_count; i++) {
        const int id = parsed->options[i].id;
        size_t at = 0;
        while (used[at] != -1 && used[at] != id)
            at++;
        for (size_t k = 0; used[at] == -1 && k < cli_report_command.option_count; k++) {
            if (report_options[k].id == id)
                SB_FAIL(error, SB_ERR_USAGE, "--%s does not go with %s", report_options[k].name,
                        instead);
        }
    }
    return SB_OK;
}

static sb_status check_device_options(const cli_parsed *parsed, sb_error *error) {
    static const int used[] = {OPT_SETUP,       OPT_NO_OPS, OPT_NO_JSON, OPT_OUTPUT,
                               OPT_DEVICE_ONLY, OPT_QUIET,  -1};
    return check_used(parsed, used, "--setup, which measures the device log and nothing else",
                      error);
}

static sb_status check_csv_options(const cli_parsed *parsed, sb_error *error) {
    static const int used[] = {OPT_STATS,  OPT_FROM, OPT_TO,    OPT_TOP, OPT_OUTPUT,
                               OPT_STRICT, OPT_JSON, OPT_QUIET, -1};
    return check_used(parsed, used, "a report that is there already", error);
}

void cli_report_date(char date[CLI_REPORT_DATE_SIZE]) {
    const time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(date, CLI_REPORT_DATE_SIZE, "%Y_%m_%d_%H_%M_%S", &local);
}

static void set_date(report_arguments *arguments) {
    cli_report_date(arguments->date);
    arguments->options.date = arguments->without_date ? NULL : arguments->date;
}

/* ---- what is said ---- */

static void show_progress(void *context, size_t done, size_t all) {
    enum { WIDTH = 40 };
    char bar[WIDTH + 1];
    const size_t full = all == 0 ? WIDTH : done * WIDTH / all;
    (void)context;
    memset(bar, '.', WIDTH);
    memset(bar, '#', full);
    bar[WIDTH] = '\0';
    fprintf(stderr, "\rreading the device log [%s] %3zu %%", bar,
            all == 0 ? 100 : done * 100 / all);
}

static void end_progress(const report_arguments *arguments) {
    if (arguments->options.progress != NULL)
        fprintf(stderr, "\r%72s\r", "");
}

static void print_problems(const sb_report_summary *summary) {
    for (size_t i = 0; i < summary->note_count; i++)
        sb_log(SB_LOG_NOTE, "%s", summary->notes[i]);
    for (size_t i = 0; i < summary->problem_count; i++)
        sb_log(SB_LOG_WARNING, "%s", summary->problems[i]);
}

/* "1 device", "2 devices". */
static void put_counted(sb_output *output, uint64_t count, const char *noun) {
    sb_put_format(output, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
}

void cli_put_report_counts(const sb_report_summary *summary, sb_output *output) {
    const char *separator = "";
    put_counted(output, summary->op_count, summary->is_device_only ? "execution" : "operation");
    sb_put_text(output, " and ");
    put_counted(output, summary->signpost_count, "signpost");
    sb_put_text(output, " from ");
    put_counted(output, summary->device_count, "device");
    sb_put_text(output, ": ");
    for (int i = 0; i < SB_COMPLETENESS_COUNT; i++) {
        if (summary->rows[i] == 0)
            continue;
        sb_put_format(output, "%s%" PRIu64 " %s", separator, summary->rows[i],
                      sb_completeness_name((sb_completeness)i));
        separator = ", ";
    }
    if (summary->op_count == 0)
        sb_put_text(output, "no operations");
}

static void put_texts(const char *const *texts, size_t count, sb_output *output) {
    for (size_t i = 0; i < count; i++) {
        sb_put_text(output, i == 0 ? "" : ", ");
        sb_put_json(output, sb_slice_of(texts[i]));
    }
}

static void put_json(const sb_report_summary *summary, sb_output *output) {
    sb_put_text(output, "{\"folder\": ");
    sb_put_json(output, sb_slice_of(summary->folder));
    sb_put_text(output, ", \"csv\": ");
    sb_put_json(output, sb_slice_of(summary->csv_path));
    sb_put_format(output, ", \"rows\": %" PRIu64 ", \"partial\": %s, \"completeness\": {",
                  summary->row_count, summary->is_partial ? "true" : "false");
    for (int i = 0; i < SB_COMPLETENESS_COUNT; i++)
        sb_put_format(output, "%s\"%s\": %" PRIu64, i == 0 ? "" : ", ",
                      sb_completeness_name((sb_completeness)i), summary->rows[i]);
    sb_put_text(output, "}, \"problems\": [");
    put_texts(summary->problems, summary->problem_count, output);
    sb_put_text(output, "], \"notes\": [");
    put_texts(summary->notes, summary->note_count, output);
    sb_put_text(output, "]}");
}

static void put_verdict(const sb_report_summary *summary, sb_output *output) {
    cli_put_report_counts(summary, output);
    sb_put_format(output, "\nWritten: %s\n", summary->csv_path);
    if (!summary->is_device_only) {
        sb_put_text(output, "Next:    strobe perf ");
        cli_put_word(output, summary->csv_path);
        sb_put_char(output, '\n');
    }
}

static sb_status print_result(const report_arguments *arguments, const sb_report_summary *summary,
                              sb_error *error) {
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    if (arguments->json) {
        put_json(summary, &output);
        sb_put_char(&output, '\n');
    } else if (!arguments->quiet) {
        put_verdict(summary, &output);
    }
    SB_TRY(sb_output_finish(&output, error));
    /* Other tools look for this line. */
    if (!arguments->quiet && !arguments->json)
        fprintf(stderr, "OPs csv generated at: %s\n", summary->csv_path);
    return SB_OK;
}

/* ---- the work ---- */

/* stats.json, which gets one more member: where the report is that was made with it. */
static void put_stats_json(const sb_report_stats *stats, const sb_report_summary *summary,
                           sb_output *output) {
    sb_output text = sb_output_to_memory();
    sb_report_stats_json(stats, &text);
    sb_put_text(output, "{\"report\": ");
    put_json(summary, output);
    sb_put_char(output, ',');
    sb_put(output, sb_slice_after(sb_output_text(&text), strlen("{")));
    sb_output_discard(&text);
}

/* Writes them to the folder and prints them. summary is NULL if no report was made. */
static sb_status put_stats(const report_arguments *arguments, const sb_report_stats *stats,
                           const sb_report_summary *summary, const char *folder, sb_error *error) {
    SB_TRY(sb_report_stats_write(stats, folder, error));
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    if (arguments->json && summary != NULL)
        put_stats_json(stats, summary, &output);
    else if (arguments->json)
        sb_report_stats_json(stats, &output);
    else if (!arguments->quiet)
        sb_report_stats_print(stats, &output);
    return sb_output_finish(&output, error);
}

/* Where statistics of an ops report go: beside it, unless told otherwise. */
static const char *stats_folder_of(const report_arguments *arguments, sb_arena *arena) {
    const char *path = arguments->options.input;
    const char *slash = strrchr(path, '/');
    if (arguments->options.output != NULL)
        return sb_arena_format(arena, "%s/stats", arguments->options.output).data;
    return slash == NULL ? "stats"
                         : sb_arena_format(arena, "%.*s/stats", (int)(slash - path), path).data;
}

/* Statistics of an ops report that is there already: nothing else is read or written. */
static sb_status make_stats_of_csv(report_arguments *arguments, int *exit_code, sb_error *error) {
    const char *path = arguments->options.input;
    sb_report_stats *stats = NULL;
    uint64_t first_line = 0;
    if (!arguments->with_stats)
        SB_FAIL(error, SB_ERR_USAGE,
                "%s is a report, not a folder of logs: add --stats, or try "
                "'strobe perf'",
                path);
    SB_TRY(sb_report_stats_of_csv(path, &arguments->stats, &stats, error));
    const char *folder = stats_folder_of(arguments, &arguments->arena);
    const uint64_t flawed = sb_report_stats_flawed_rows(stats, &first_line);
    if (flawed > 0 && !arguments->quiet)
        sb_log(SB_LOG_WARNING,
               "%s: %" PRIu64 " rows do not have the cells that the header names, or no number "
               "where a time belongs, the first of them in line %" PRIu64,
               path, flawed, first_line);
    sb_status status = SB_OK;
    if (flawed > 0 && arguments->strict)
        status = sb_error_set(error, SB_ERR_FORMAT,
                              "the data is not complete, and --strict wants it to be");
    if (status == SB_OK)
        status = put_stats(arguments, stats, NULL, folder, error);
    if (status == SB_OK && !arguments->quiet && !arguments->json)
        fprintf(stderr, "Statistics written to: %s\n", folder);
    *exit_code = flawed > 0 ? SB_EXIT_PARTIAL : SB_EXIT_DONE;
    sb_report_stats_free(stats);
    return status;
}

/* stats is NULL if none are wanted. */
static sb_status write_all(const report_arguments *arguments, sb_report *report,
                           const sb_report_stats *stats, sb_error *error) {
    const sb_report_summary *summary = sb_report_summarise(report);
    SB_TRY(sb_report_write(report, error));
    if (stats != NULL) {
        sb_arena arena = {0};
        const char *folder = sb_arena_format(&arena, "%s/stats", summary->folder).data;
        const sb_status status = put_stats(arguments, stats, summary, folder, error);
        sb_arena_free(&arena);
        SB_TRY(status);
    }
    if (stats != NULL && arguments->json)
        return SB_OK; /* the summary is part of it */
    return print_result(arguments, summary, error);
}

static sb_status write_report(const report_arguments *arguments, sb_report *report, int *exit_code,
                              sb_error *error) {
    const sb_report_summary *summary = sb_report_summarise(report);
    sb_report_stats *stats = NULL;
    if (!arguments->quiet)
        print_problems(summary);
    if (arguments->strict && summary->is_partial)
        SB_FAIL(error, SB_ERR_FORMAT, "the data is not complete, and --strict wants it to be: %s",
                summary->problem_count > 0 ? summary->problems[0]
                                           : "some operations lack one of their sides");
    /* Before anything is written: a signpost may not be there. */
    if (arguments->with_stats)
        SB_TRY(sb_report_stats_make(report, &arguments->stats, &stats, error));
    const sb_status status = write_all(arguments, report, stats, error);
    sb_report_stats_free(stats);
    *exit_code = summary->is_partial ? SB_EXIT_PARTIAL : SB_EXIT_DONE;
    return status;
}

static sb_status measure_device(const report_arguments *arguments, int *exit_code,
                                sb_error *error) {
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    sb_report_device_flaws flaws = {0};
    const sb_status status = sb_report_measure_device(
        &arguments->options, &arguments->device, arguments->quiet ? NULL : &output, &flaws, error);
    if (status != SB_OK) {
        sb_output_discard(&output);
        return status;
    }
    if (flaws.is_cut)
        sb_log(SB_LOG_WARNING, "the device log ends in the middle of a row");
    if (flaws.bad_rows > 0)
        sb_log(SB_LOG_WARNING,
               "%" PRIu64 " rows of the device log cannot be read, the first of them in line "
               "%" PRIu64,
               flaws.bad_rows, flaws.first_bad_line);
    if (flaws.is_cut || flaws.bad_rows > 0)
        *exit_code = SB_EXIT_PARTIAL;
    return sb_output_finish(&output, error);
}

static sb_status read_and_write(report_arguments *arguments, int *exit_code, sb_error *error) {
    sb_report *report = NULL;
    sb_status status = sb_report_read(&arguments->options, &report, error);
    end_progress(arguments);
    if (status == SB_OK)
        status = write_report(arguments, report, exit_code, error);
    sb_report_free(report);
    return status;
}

static bool is_csv(const char *path) {
    struct stat info;
    return sb_slice_ends_with(sb_slice_of(path), ".csv") && stat(path, &info) == 0 &&
           S_ISREG(info.st_mode);
}

static const char *input_of(const cli_parsed *parsed, report_arguments *arguments) {
    if (parsed->operand_count == 1)
        return parsed->operands[0];
    return arguments->options.output != NULL ? arguments->options.output
                                             : cli_profiler_folder(&arguments->arena);
}

/* Which of the three ways of working is asked for. */
static sb_status work(const cli_parsed *parsed, report_arguments *arguments, int *exit_code,
                      sb_error *error) {
    if (parsed->operand_count > 1)
        SB_FAIL(error, SB_ERR_USAGE, "name one folder or none");
    if (arguments->device.setup != NULL) {
        SB_TRY(check_device_options(parsed, error));
        return measure_device(arguments, exit_code, error);
    }
    if (is_csv(arguments->options.input)) {
        SB_TRY(check_csv_options(parsed, error));
        return make_stats_of_csv(arguments, exit_code, error);
    }
    return read_and_write(arguments, exit_code, error);
}

static sb_status make_report(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    enum { USUAL_TOP = 15 };
    report_arguments arguments = {.analyses = sb_vector_of(sizeof(const char *)),
                                  .stats = {.top = USUAL_TOP}};
    sb_status status = take_options(parsed, &arguments, error);
    if (status == SB_OK)
        status = check_options(&arguments, error);
    set_date(&arguments);
    arguments.options.tool_version = STROBE_VERSION;
    arguments.options.input = input_of(parsed, &arguments);
    if (isatty(STDERR_FILENO) && !arguments.quiet)
        arguments.options.progress = show_progress;
    if (status == SB_OK)
        status = work(parsed, &arguments, exit_code, error);
    sb_vector_free(&arguments.analyses);
    sb_arena_free(&arguments.arena);
    return status;
}

static int run_report(const cli_command *command, int argc, char **argv) {
    return cli_trace_run(command, argc, argv, make_report);
}
