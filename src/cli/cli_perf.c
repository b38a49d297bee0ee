/*
 * `strobe perf`: what each operation of a run cost, why, and what to change.
 */
#include "cli/cli_perf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* ---- options ---- */

enum {
    OPT_START_SIGNPOST,
    OPT_SIGNPOST,
    OPT_END_SIGNPOST,
    OPT_IGNORE_SIGNPOSTS,
    OPT_PRINT_SIGNPOSTS,
    OPT_MIN_PERCENTAGE,
    OPT_ID_RANGE,
    OPT_ARCH,
    OPT_COLOR,
    OPT_NO_COLOR,
    OPT_CSV,
    OPT_NO_ADVICE,
    OPT_TRACING_MODE,
    OPT_RAW_OP_CODES,
    OPT_NO_HOST_OPS,
    OPT_NO_SUMMARY,
    OPT_GROUP_BY,
    OPT_CLASSIC_COLORS,
    OPT_SUMMARY_FILE,
    OPT_NO_MERGE_DEVICES,
    OPT_NO_STACKED_REPORT,
    OPT_STACKED_CSV,
    OPT_NO_STACK_BY_IN0,
    OPT_TOP,
    OPT_JSON,
    OPT_HTML,
    OPT_HOST_NAMES,
    OPT_QUIET,
    OPT_COMPAT,
};

static const cli_option perf_options[] = {
    {.id = OPT_START_SIGNPOST,
     .name = "start-signpost",
     .argument = "NAME",
     .heading = "Which rows",
     .help = "only what follows the first signpost of this name"},
    {.id = OPT_SIGNPOST,
     .name = "signpost",
     .argument = "NAME",
     .help = "another name of --start-signpost",
     .exact_in_compat = true},
    {.id = OPT_END_SIGNPOST,
     .name = "end-signpost",
     .argument = "NAME",
     .help = "only what comes before it (its second use, if it is the start signpost too)"},
    {.id = OPT_IGNORE_SIGNPOSTS,
     .name = "ignore-signposts",
     .help = "the whole file; without signpost options, what follows the last one is analysed"},
    {.id = OPT_PRINT_SIGNPOSTS, .name = "print-signposts", .help = "show signposts as rows"},
    {.id = OPT_ID_RANGE,
     .name = "id-range",
     .argument = "RANGE",
     .help = "only rows with these IDs: 5-10, 31- or -12"},
    {.id = OPT_TOP,
     .name = "top",
     .argument = "N",
     .help = "only the N costliest rows, costliest first (totals and verdict are of all rows)",
     .exact_in_compat = true},
    {.id = OPT_NO_HOST_OPS, .name = "no-host-ops", .help = "leave out what ran on the host"},
    {.id = OPT_NO_MERGE_DEVICES,
     .name = "no-merge-devices",
     .help = "keep the rows of several devices apart"},
    {.id = OPT_TRACING_MODE,
     .name = "tracing-mode",
     .help = "keep the order of the file instead of sorting by host time"},
    {.id = OPT_ARCH,
     .name = "arch",
     .argument = "NAME",
     .help = "architecture of files that do not name theirs: wormhole (default), blackhole, bh20, "
             "n1, a board such as n300 or p150, or a GPU: h200, h100, h100_pcie, a100, "
             "a100_40gb"},
    {.id = OPT_HOST_NAMES,
     .name = "host-names",
     .argument = "A,B,...",
     .help = "labels of the files in the column Host, when there are several",
     .exact_in_compat = true},
    {.id = OPT_NO_ADVICE,
     .name = "no-advice",
     .heading = "What to show",
     .help = "no advice, neither on the terminal nor in the CSV"},
    {.id = OPT_NO_SUMMARY, .name = "no-summary", .help = "no summary: no table, no files"},
    {.id = OPT_GROUP_BY,
     .name = "group-by",
     .argument = "WHAT",
     .choices = "op|memory|category",
     .help = "groups of the summary: op, memory (op and where its input lies; default) or "
             "category"},
    {.id = OPT_MIN_PERCENTAGE,
     .name = "min-percentage",
     .argument = "P",
     .help = "grey rows with less than P % of the time (default 0.5); none are hidden"},
    {.id = OPT_COLOR, .name = "color", .help = "colours even if the output is no terminal"},
    {.id = OPT_NO_COLOR, .name = "no-color", .help = "never colours"},
    {.id = OPT_QUIET,
     .name = "quiet",
     .short_name = 'q',
     .help = "no notes about what was chosen; warnings stay",
     .exact_in_compat = true},
    {.id = OPT_CSV,
     .name = "csv",
     .argument = "FILE",
     .heading = "Files",
     .help = "write the rows as CSV instead of printing; for x.csv the summary goes to "
             "x_stacked.csv and x_stacked.png",
     .takes_file = true},
    {.id = OPT_RAW_OP_CODES,
     .name = "raw-op-codes",
     .help = "add the column Raw OP Code to the CSV"},
    {.id = OPT_SUMMARY_FILE,
     .name = "summary-file",
     .argument = "BASE",
     .help = "write the summary to BASE.csv and BASE.png",
     .takes_file = true},
    {.id = OPT_CLASSIC_COLORS,
     .name = "classic-colors",
     .help = "the older colours in the picture of the summary"},
    {.id = OPT_JSON,
     .name = "json",
     .help = "print the whole result as JSON instead (docs/perf.md has the schema)",
     .exact_in_compat = true},
    {.id = OPT_HTML,
     .name = "html",
     .argument = "FILE",
     .help = "write the report as one page that needs nothing else",
     .takes_file = true,
     .exact_in_compat = true},
    {.id = OPT_COMPAT,
     .name = "compat",
     .heading = "Other",
     .help = "behave as tt-perf-report 1.2.4 does, to the digit (implied by that name)",
     .exact_in_compat = true},
    {.id = OPT_NO_STACKED_REPORT, .name = "no-stacked-report", .deprecated = true},
    {.id = OPT_STACKED_CSV,
     .name = "stacked-csv",
     .argument = "BASE",
     .deprecated = true,
     .takes_file = true},
    {.id = OPT_NO_STACK_BY_IN0, .name = "no-stack-by-in0", .deprecated = true},
};

static int run_perf(const cli_command *command, int argc, char **argv);

const cli_command cli_perf_command = {
    .name = "perf",
    .summary = "analyse an ops report: where the time went, what bounds it, what to change",
    .arguments = "FILE|FOLDER|- ...",
    .about =
        "Reads ops reports (ops_perf_results_*.csv; a folder stands for the newest in it, - for\n"
        "standard input) and prints a table of operations with their share of the time, of the\n"
        "DRAM bandwidth and of the peak compute, advice, a summary and a verdict. Several files\n"
        "are reports of several hosts of one run.",
    .examples = "  strobe perf generated/profiler/reports/2026_01_15_10_30_00\n"
                "  strobe perf report.csv --start-signpost decode --top 10\n"
                "  strobe perf report.csv --csv rows.csv --summary-file summary\n"
                "  strobe perf report.csv --json | jq '.verdict'\n"
                "  strobe perf report.csv --html report.html\n",
    .options = perf_options,
    .option_count = sizeof perf_options / sizeof perf_options[0],
    .run = run_perf,
};

typedef struct perf_arguments {
    sb_perf_options analysis;
    const char *csv;
    const char *summary_file;
    const char *stacked_csv;
    const char *html;
    const char *host_names;
    bool json;
    bool color;
    bool no_color;
    bool no_summary;
    bool quiet;
} perf_arguments;

static sb_status take_min_percentage(const char *text, perf_arguments *arguments, sb_error *error) {
    double value = NAN; /* accepted as in the original; no row is below it */
    if (!sb_slice_is(sb_slice_trim(sb_slice_of(text)), "nan") &&
        !sb_parse_double(sb_slice_of(text), &value))
        SB_FAIL(error, SB_ERR_USAGE, "--min-percentage: '%s' is no number", text);
    arguments->analysis.min_percentage = value;
    return SB_OK;
}

static sb_status take_top(const char *text, perf_arguments *arguments, sb_error *error) {
    int64_t count = 0;
    if (!sb_parse_int64(sb_slice_of(text), &count) || count < 1)
        SB_FAIL(error, SB_ERR_USAGE, "--top: '%s' is no number of rows", text);
    arguments->analysis.top = (size_t)count;
    return SB_OK;
}

static sb_status take_id_range(const char *text, perf_arguments *arguments, sb_error *error) {
    if (sb_perf_parse_id_range(text, &arguments->analysis.id_range))
        return SB_OK;
    SB_FAIL(error, SB_ERR_USAGE, "--id-range: '%s' is no range; use 5-10, 31- or -12", text);
}

static sb_perf_grouping grouping_of(const char *name) {
    if (strcmp(name, "op") == 0)
        return SB_PERF_BY_OP;
    return strcmp(name, "category") == 0 ? SB_PERF_BY_CATEGORY : SB_PERF_BY_MEMORY;
}

static void take_flag(int id, perf_arguments *arguments) {
    sb_perf_options *analysis = &arguments->analysis;
    switch (id) {
    case OPT_IGNORE_SIGNPOSTS:
        analysis->ignore_signposts = true;
        break;
    case OPT_PRINT_SIGNPOSTS:
        analysis->print_signposts = true;
        break;
    case OPT_TRACING_MODE:
        analysis->tracing_mode = true;
        break;
    case OPT_NO_MERGE_DEVICES:
        analysis->no_merge_devices = true;
        break;
    case OPT_NO_HOST_OPS:
        analysis->no_host_ops = true;
        break;
    case OPT_RAW_OP_CODES:
        analysis->raw_op_codes = true;
        break;
    case OPT_CLASSIC_COLORS:
        analysis->classic_colours = true;
        break;
    case OPT_NO_ADVICE:
        analysis->no_advice = true;
        break;
    case OPT_NO_SUMMARY:
    case OPT_NO_STACKED_REPORT:
        arguments->no_summary = true;
        break;
    case OPT_COLOR:
        arguments->color = true;
        break;
    case OPT_NO_COLOR:
        arguments->no_color = true;
        break;
    case OPT_JSON:
        arguments->json = true;
        break;
    case OPT_QUIET:
        arguments->quiet = true;
        break;
    case OPT_COMPAT:
        analysis->compat = true;
        break;
    default: /* --no-stack-by-in0 never had an effect on the command line */
        break;
    }
}

/* An empty name is none, as in the original. */
static const char *given_or_null(const char *text) {
    return text[0] != '\0' ? text : NULL;
}

static sb_status take_option(const cli_parsed_option *option, perf_arguments *arguments,
                             sb_error *error) {
    switch (option->id) {
    case OPT_START_SIGNPOST:
    case OPT_SIGNPOST:
        arguments->analysis.start_signpost = option->value;
        return SB_OK;
    case OPT_END_SIGNPOST:
        arguments->analysis.end_signpost = option->value;
        return SB_OK;
    case OPT_ARCH:
        arguments->analysis.arch = given_or_null(option->value);
        return SB_OK;
    case OPT_GROUP_BY:
        arguments->analysis.grouping = grouping_of(option->value);
        return SB_OK;
    case OPT_CSV:
        arguments->csv = given_or_null(option->value);
        return SB_OK;
    case OPT_SUMMARY_FILE:
        arguments->summary_file = given_or_null(option->value);
        return SB_OK;
    case OPT_STACKED_CSV:
        arguments->stacked_csv = given_or_null(option->value);
        return SB_OK;
    case OPT_HTML:
        arguments->html = given_or_null(option->value);
        return SB_OK;
    case OPT_HOST_NAMES:
        arguments->host_names = option->value;
        return SB_OK;
    case OPT_ID_RANGE:
        return take_id_range(option->value, arguments, error);
    case OPT_MIN_PERCENTAGE:
        return take_min_percentage(option->value, arguments, error);
    case OPT_TOP:
        return take_top(option->value, arguments, error);
    default:
        take_flag(option->id, arguments);
        return SB_OK;
    }
}

static bool is_stdout(const char *path) {
    return path != NULL && strcmp(path, "-") == 0;
}

/* Whether data for another program goes to standard output, so that nothing else may. */
static bool has_data_on_stdout(const perf_arguments *arguments) {
    return arguments->json || is_stdout(arguments->csv) || is_stdout(arguments->html);
}

static sb_status check_arguments(const perf_arguments *arguments, sb_error *error) {
    const int wanted = (arguments->json ? 1 : 0) + (is_stdout(arguments->csv) ? 1 : 0) +
                       (is_stdout(arguments->html) ? 1 : 0);
    if (wanted > 1)
        SB_FAIL(error, SB_ERR_USAGE,
                "only one of --json, --csv - and --html - can go to standard output");
    return SB_OK;
}

/* The name of the summary files without their ending, or NULL if there are to be none. */
static const char *summary_base(const perf_arguments *arguments, sb_arena *arena) {
    if (arguments->summary_file != NULL)
        return arguments->summary_file;
    if (arguments->stacked_csv != NULL)
        return arguments->stacked_csv;
    if (arguments->csv == NULL || is_stdout(arguments->csv))
        return NULL;
    const char *slash = strrchr(arguments->csv, '/');
    const char *name = slash != NULL ? slash + 1 : arguments->csv;
    const char *visible = name + strspn(name, ".");
    const char *dot = strrchr(visible, '.');
    const int stem = (int)(dot != NULL ? dot - arguments->csv : (ptrdiff_t)strlen(arguments->csv));
    return sb_arena_format(arena, "%.*s_stacked", stem, arguments->csv).data;
}

/* Two outputs under one name, or an output over an input, would lose one of them. */
static sb_status check_outputs(const perf_arguments *arguments, const cli_perf_inputs *inputs,
                               sb_error *error) {
    sb_arena arena = {0};
    const char *base = arguments->no_summary ? NULL : summary_base(arguments, &arena);
    const char *outputs[] = {
        arguments->csv,
        arguments->html,
        base != NULL ? sb_arena_format(&arena, "%s.csv", base).data : NULL,
        base != NULL ? sb_arena_format(&arena, "%s.png", base).data : NULL,
    };
    sb_status status = SB_OK;
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        for (size_t k = 0; k < i && outputs[i] != NULL; k++) {
            if (outputs[k] != NULL && sb_file_is_same(outputs[i], outputs[k]))
                status = sb_error_set(error, SB_ERR_USAGE, "%s would be written twice", outputs[i]);
        }
        for (size_t k = 0; k < inputs->count && outputs[i] != NULL; k++) {
            if (sb_file_is_same(outputs[i], inputs->inputs[k].name))
                status = sb_error_set(error, SB_ERR_USAGE,
                                      "%s is the report that is read: it would "
                                      "be overwritten",
                                      outputs[i]);
        }
    }
    sb_arena_free(&arena);
    return status;
}

/* ---- running ---- */

typedef struct perf_run {
    perf_arguments arguments;
    const sb_perf_report *report;
    sb_style style;
    sb_output *output;
    bool tells_on_stdout;
} perf_run;

/* What the original prints between the parts; plain mode tells it on standard error. Quiet runs
 * have no notes: the log drops them. */
static void tell(const perf_run *run, bool is_warning, sb_slice text) {
    if (run->tells_on_stdout) {
        sb_put_painted(run->output, run->style, is_warning ? SB_YELLOW : SB_CYAN, text);
        sb_put_char(run->output, '\n');
    } else {
        sb_log(is_warning ? SB_LOG_WARNING : SB_LOG_NOTE, "%.*s", (int)text.size, text.data);
    }
}

static void tell_written(const perf_run *run, const char *what, const char *path) {
    char text[1024];
    const int size = snprintf(text, sizeof text, "%s written to %s", what, path);
    tell(run, false, (sb_slice){text, size < (int)sizeof text ? (size_t)size : sizeof text - 1});
}

static void print_problems(const sb_perf_report *report) {
    enum { SHOWN_MAX = 20 };
    sb_arena arena = {0};
    for (size_t i = 0; i < report->problems_kept && i < SHOWN_MAX; i++)
        sb_log(SB_LOG_WARNING, "%s", sb_perf_describe(report, &report->problems[i], &arena).data);
    if (report->problem_count > SHOWN_MAX)
        sb_log(SB_LOG_WARNING, "... and %zu more problems (--json lists up to 1000)",
               report->problem_count - SHOWN_MAX);
    sb_arena_free(&arena);
}

typedef void (*report_writer)(const sb_perf_report *report, sb_output *output);

static sb_status write_file(const perf_run *run, const char *path, report_writer write,
                            sb_error *error) {
    sb_output file;
    SB_TRY(sb_output_to_file(&file, path, error));
    write(run->report, &file);
    return sb_output_finish(&file, error);
}

static sb_status write_picture(const perf_run *run, const char *path, sb_error *error) {
    sb_output file;
    SB_TRY(sb_output_to_file(&file, path, error));
    const sb_status status = sb_perf_write_png(run->report, &file, error);
    if (status == SB_OK)
        return sb_output_finish(&file, error);
    sb_output_discard(&file);
    return status;
}

static sb_status write_summary_files(const perf_run *run, const char *base, sb_arena *arena,
                                     sb_error *error) {
    const char *csv = sb_arena_format(arena, "%s.csv", base).data;
    const char *png = sb_arena_format(arena, "%s.png", base).data;
    SB_TRY(write_file(run, csv, sb_perf_write_summary_csv, error));
    tell_written(run, "Summary", csv);
    SB_TRY(write_picture(run, png, error));
    tell_written(run, "Picture", png);
    return SB_OK;
}

static sb_status show_summary(const perf_run *run, sb_error *error) {
    const sb_perf_report *report = run->report;
    const perf_arguments *arguments = &run->arguments;
    if (arguments->no_summary)
        return SB_OK;
    for (size_t i = 0; i < report->summary_note_count; i++)
        tell(run, report->summary_notes[i].is_warning && arguments->analysis.compat,
             report->summary_notes[i].text);
    if (report->group_count == 0) {
        tell(run, true, (sb_slice)SB_SLICE("There is nothing to summarise"));
        return SB_OK;
    }
    if (arguments->csv == NULL && !has_data_on_stdout(arguments))
        sb_perf_print_summary(report, run->style, run->output);
    sb_arena arena = {0};
    const char *base = summary_base(arguments, &arena);
    const sb_status status = base != NULL ? write_summary_files(run, base, &arena, error) : SB_OK;
    sb_arena_free(&arena);
    return status;
}

static sb_status show_report(const perf_run *run, sb_error *error) {
    const perf_arguments *arguments = &run->arguments;
    const bool prints = arguments->csv == NULL && !has_data_on_stdout(arguments);
    if (arguments->csv != NULL) {
        SB_TRY(write_file(run, arguments->csv, sb_perf_write_csv, error));
        tell_written(run, "Rows", arguments->csv);
    }
    if (run->report->row_count == 0) {
        if (arguments->csv == NULL && arguments->analysis.compat)
            tell(run, true, (sb_slice)SB_SLICE("No rows are left to show"));
        return SB_OK;
    }
    if (arguments->json)
        sb_perf_write_json(run->report, run->output);
    if (prints)
        sb_perf_print_table(run->report, run->style, run->output);
    if (prints && !arguments->analysis.no_advice)
        sb_perf_print_advice(run->report, run->style, run->output);
    sb_status status = show_summary(run, error);
    if (prints && !arguments->analysis.compat)
        sb_perf_print_verdict(run->report, run->style, run->output);
    if (status == SB_OK && arguments->html != NULL) {
        SB_TRY(write_file(run, arguments->html, sb_perf_write_html, error));
        tell_written(run, "Page", arguments->html);
    }
    return status;
}

static sb_style choose_style(const perf_arguments *arguments) {
    if (arguments->no_color)
        return (sb_style){.colours = false};
    if (arguments->color)
        return (sb_style){.colours = true};
    if (arguments->analysis.compat)
        return (sb_style){.colours = isatty(STDOUT_FILENO) == 1};
    return sb_style_for(STDOUT_FILENO);
}

static sb_status analyse_and_show(const perf_arguments *arguments, const cli_perf_inputs *inputs,
                                  int *exit_code, sb_error *error) {
    sb_perf_report *report = NULL;
    SB_TRY(sb_perf_analyse(&arguments->analysis, inputs->inputs, inputs->count, &report, error));
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    const perf_run run = {.arguments = *arguments,
                          .report = report,
                          .style = choose_style(arguments),
                          .output = &output,
                          .tells_on_stdout =
                              arguments->analysis.compat && !has_data_on_stdout(arguments)};
    for (size_t i = 0; i < report->note_count; i++)
        tell(&run, report->notes[i].is_warning, report->notes[i].text);
    print_problems(report);
    sb_status status = show_report(&run, error);
    if (status == SB_OK && report->row_count == 0 && !arguments->analysis.compat)
        status = sb_error_set(error, SB_ERR_EMPTY,
                              "the signposts, the ID range or the filters leave no row of %s",
                              inputs->inputs[0].name);
    if (report->problem_count > 0)
        *exit_code = SB_EXIT_PARTIAL;
    sb_perf_free(report);
    /* What there is to print is printed, also when a file beside it could not be written. */
    const sb_status printed = sb_output_finish(&output, status == SB_OK ? error : NULL);
    return status != SB_OK ? status : printed;
}

static bool wants_compat(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    if (strcmp(slash != NULL ? slash + 1 : argv[0], "tt-perf-report") == 0)
        return true;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--compat") == 0)
            return true;
    }
    return false;
}

static int report_error(const sb_error *error, bool compat) {
    sb_log(SB_LOG_ERROR, "%s", error->message);
    if (error->status == SB_ERR_USAGE)
        sb_log(SB_LOG_NOTE, "'%s --help' lists the options",
               compat ? "tt-perf-report" : "strobe perf");
    return error->status == SB_ERR_USAGE ? SB_EXIT_USAGE : SB_EXIT_ERROR;
}

static int print_help(const cli_command *command, bool compat) {
    sb_error error = {0};
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    cli_print_help(command, compat ? "tt-perf-report" : "strobe perf", &output);
    return sb_output_finish(&output, &error) == SB_OK ? SB_EXIT_DONE : report_error(&error, compat);
}

static int run_parsed(const cli_parsed *parsed, bool compat) {
    sb_error error = {0};
    perf_arguments arguments = {.analysis = sb_perf_defaults()};
    arguments.analysis.compat = compat;
    for (size_t i = 0; i < parsed->option_count; i++) {
        if (take_option(&parsed->options[i], &arguments, &error) == SB_OK)
            continue;
        const int exit_code = report_error(&error, compat);
        /* The original checks a range only after it has accepted the command line. */
        return compat && parsed->options[i].id == OPT_ID_RANGE ? SB_EXIT_ERROR : exit_code;
    }
    if (check_arguments(&arguments, &error) != SB_OK)
        return report_error(&error, compat);
    if (parsed->operand_count == 0) {
        sb_error_set(&error, SB_ERR_USAGE,
                     "name an ops report (ops_perf_results_*.csv) or a folder");
        return report_error(&error, compat);
    }
    if (arguments.quiet)
        sb_log_set_level(SB_LOG_WARNING);
    int exit_code = SB_EXIT_DONE;
    cli_perf_inputs inputs;
    sb_status status = cli_perf_open(&inputs, parsed->operands, parsed->operand_count,
                                     arguments.host_names, &error);
    if (status == SB_OK)
        status = check_outputs(&arguments, &inputs, &error);
    if (status == SB_OK)
        status = analyse_and_show(&arguments, &inputs, &exit_code, &error);
    cli_perf_close(&inputs);
    return status == SB_OK ? exit_code : report_error(&error, compat);
}

static int run_perf(const cli_command *command, int argc, char **argv) {
    const bool compat = wants_compat(argc, argv);
    cli_parsed parsed;
    sb_error error = {0};
    int exit_code = SB_EXIT_DONE;
    if (cli_parse(command, compat, argc, argv, &parsed, &error) != SB_OK)
        exit_code = report_error(&error, compat);
    else if (parsed.wants_help)
        exit_code = print_help(command, compat);
    else
        exit_code = run_parsed(&parsed, compat);
    cli_parsed_free(&parsed);
    return exit_code;
}
