/*
 * `strobe export`: a trace as comma-separated values or for another viewer. Started as
 * tracy-csvexport or csvexport-release, or with --compat, it takes the command lines of those tools
 * and gives their rows.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_progress.h"
#include "cli/cli_trace.h"

static int run_export(const cli_command *command, int argc, char **argv);

/* Short names where there are any, so that both ways of parsing report the same. */
enum {
    OPT_FILTER = 'f',
    OPT_SEPARATOR = 's',
    OPT_CASE = 'c',
    OPT_SELF = 'e',
    OPT_ZONES = 'u',
    OPT_DEVICE = 'g',
    OPT_MESSAGES = 'm',
    OPT_PLOTS = 'p',
    OPT_TRUNCATED_OR_PARENT = 't',
    OPT_SPECIAL = 'x',
    OPT_OUTPUT = 'o',
    OPT_HELP = 'h',
    OPT_VERSION = 'V',
    OPT_TRUNCATED = 256,
    OPT_PARENT,
    OPT_LIKE,
    OPT_CSV,
    OPT_COMPAT,
    OPT_PERFETTO,
    OPT_CHROME,
    OPT_JSON,
};

static const cli_option export_options[] = {
    {.id = OPT_CSV, .name = "csv", .heading = "Format", .help = "comma-separated values (default)"},
    {.id = OPT_PERFETTO,
     .name = "perfetto",
     .argument = "FILE",
     .takes_file = true,
     .help = "write FILE in Perfetto's own format (ui.perfetto.dev opens it)"},
    {.id = OPT_CHROME,
     .name = "chrome",
     .argument = "FILE",
     .takes_file = true,
     .help = "write FILE in the JSON format of Chrome's tracing"},
    {.id = OPT_JSON, .name = "json", .help = "a summary as JSON"},
    {.id = OPT_OUTPUT,
     .name = "output",
     .short_name = 'o',
     .argument = "FILE",
     .takes_file = true,
     .help = "write to FILE instead of standard output"},
    {.id = OPT_SEPARATOR,
     .name = "sep",
     .short_name = 's',
     .argument = "TEXT",
     .help = "what stands between fields (default: a comma)"},
    {.id = OPT_LIKE,
     .name = "like",
     .argument = "TOOL",
     .choices = "tracy-0.9|tracy-0.11|tracy|tt-0.10|tt-0.13|tt",
     .help = "columns of a row per zone: those of Tracy up to 0.9 (tracy-0.9), up to 0.11 "
             "(tracy-0.11), of later ones (tracy, the default), or of Tenstorrent's fork at 0.10 "
             "(tt-0.10), at 0.13 (tt-0.13) or later (tt, the default with -t or -x)"},
    {.id = OPT_COMPAT,
     .name = "compat",
     .help = "exactly the rows of tracy-csvexport, quirks included"},
    {.id = OPT_ZONES,
     .name = "unwrap",
     .short_name = 'u',
     .heading = "What (without these, statistics per source location)",
     .help = "a row per zone of the host"},
    {.id = OPT_DEVICE, .name = "gpu", .short_name = 'g', .help = "a row per zone of a device"},
    {.id = OPT_MESSAGES, .name = "messages", .short_name = 'm', .help = "a row per message"},
    {.id = OPT_PLOTS,
     .name = "plot",
     .short_name = 'p',
     .help = "with -u, the points of plots too"},
    {.id = OPT_FILTER,
     .name = "filter",
     .short_name = 'f',
     .argument = "TEXT",
     .heading = "Which and how",
     .help = "only source locations whose name contains TEXT; with -m, only such messages"},
    {.id = OPT_CASE, .name = "case", .short_name = 'c', .help = "the filter minds capitals"},
    {.id = OPT_SELF, .name = "self", .short_name = 'e', .help = "times without what ran inside"},
    {.id = OPT_TRUNCATED,
     .name = "truncated-mean",
     .argument = "N",
     .help = "in statistics, the N-th percentile (1 to 99) and the mean of what does not exceed "
             "it"},
    {.id = OPT_PARENT,
     .name = "special-parent",
     .short_name = 't',
     .argument = "TEXT",
     .help = "with -u and -x, give the text of the enclosing zone whose name contains TEXT; a "
             "number is that of --truncated-mean"},
    {.id = OPT_SPECIAL,
     .name = "special-functions",
     .short_name = 'x',
     .argument = "LIST",
     .help = "names of zones that get it, separated by commas"},
};

const cli_command cli_export_command = {
    .name = "export",
    .summary = "write a trace as CSV, as JSON, for Perfetto or for Chrome",
    .arguments = "FILE",
    .about = "Reads a .tracy file and writes statistics per source location, or a row per zone or\n"
             "message, or the whole trace for another viewer. Also takes the place of\n"
             "tracy-csvexport and csvexport-release: under those names, or with --compat, it\n"
             "accepts their command lines and gives their rows.",
    .examples = "  strobe export run.tracy > statistics.csv\n"
                "  strobe export -u --filter matmul run.tracy -o zones.csv\n"
                "  strobe export --perfetto run.pftrace run.tracy\n"
                "  strobe export --compat -u -t TT_ -x CompileProgram run.tracy\n",
    .options = export_options,
    .option_count = sizeof export_options / sizeof export_options[0],
    .run = run_export,
};

enum { PERCENTILE_MIN = 1, PERCENTILE_MAX = 99 };

typedef struct export_arguments {
    sb_trace_csv_options csv;
    const char *input;
    const char *output;   /* NULL: standard output */
    const char *perfetto; /* NULL: not wanted, as the next */
    const char *chrome;
    const char *percentile; /* as it was given; NULL: not */
    bool csv_wanted;        /* asked for by name */
    bool json;
    bool zones;
    bool device;
    bool messages;
    bool has_layout;
    bool uses_parent;     /* Tenstorrent's options were given */
    bool uses_old_parent; /* as the fork at 0.10 spells them */
} export_arguments;

static bool is_number(const char *text) {
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* Like the tool: what is no number counts as 0, and then as the least. */
static void take_percentile(const char *text, export_arguments *arguments) {
    enum { USUAL = 90 };
    int64_t value = USUAL;
    arguments->percentile = text;
    if (text != NULL && !sb_parse_int64(sb_slice_of(text), &value))
        value = PERCENTILE_MIN;
    arguments->csv.truncated_mean = (int)(value < PERCENTILE_MIN   ? PERCENTILE_MIN
                                          : value > PERCENTILE_MAX ? PERCENTILE_MAX
                                                                   : value);
}

static void take_layout(const char *name, export_arguments *arguments) {
    static const struct {
        const char *name;
        sb_trace_csv_layout layout;
    } layouts[] = {{"tracy-0.9", SB_TRACE_CSV_TRACY_0_9}, {"tracy-0.11", SB_TRACE_CSV_TRACY_0_11},
                   {"tracy", SB_TRACE_CSV_TRACY},         {"tt-0.10", SB_TRACE_CSV_TT_0_10},
                   {"tt-0.13", SB_TRACE_CSV_TT_0_13},     {"tt", SB_TRACE_CSV_TT}};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (strcmp(layouts[i].name, name) == 0) {
            arguments->csv.layout = layouts[i].layout;
            arguments->has_layout = true;
        }
    }
}

/* Options that are on or off; false if id is not one of them. */
static bool take_flag(int id, export_arguments *arguments) {
    switch (id) {
    case OPT_CASE:
        arguments->csv.with_case = true;
        return true;
    case OPT_SELF:
        arguments->csv.self = true;
        return true;
    case OPT_ZONES:
        arguments->zones = true;
        return true;
    case OPT_DEVICE:
        arguments->device = true;
        return true;
    case OPT_MESSAGES:
        arguments->messages = true;
        return true;
    case OPT_CSV:
        arguments->csv_wanted = true;
        return true;
    case OPT_JSON:
        arguments->json = true;
        return true;
    case OPT_COMPAT:
        return true;
    default:
        return false;
    }
}

static void take_parent(const char *text, export_arguments *arguments) {
    arguments->csv.special_parent = sb_slice_of(text);
    arguments->uses_parent = true;
}

static void take_option(int id, const char *value, export_arguments *arguments) {
    if (take_flag(id, arguments))
        return;
    switch (id) {
    case OPT_FILTER:
        arguments->csv.filter = sb_slice_of(value);
        break;
    case OPT_SEPARATOR:
        arguments->csv.separator = sb_slice_of(value);
        break;
    case OPT_OUTPUT:
        arguments->output = value;
        break;
    case OPT_PERFETTO:
        arguments->perfetto = value;
        break;
    case OPT_CHROME:
        arguments->chrome = value;
        break;
    case OPT_LIKE:
        take_layout(value, arguments);
        break;
    case OPT_PLOTS: /* with a value it is what the fork at 0.10 calls the special parent */
        arguments->csv.plots = value == NULL;
        arguments->uses_old_parent = value != NULL;
        if (value != NULL)
            take_parent(value, arguments);
        break;
    case OPT_SPECIAL:
        arguments->csv.special_functions = sb_slice_of(value);
        arguments->uses_parent = true;
        break;
    case OPT_TRUNCATED:
        take_percentile(value, arguments);
        break;
    default: /* -t is the percentile in one tool and the parent in another */
        if (is_number(value))
            take_percentile(value, arguments);
        else
            take_parent(value, arguments);
        break;
    }
}

static export_arguments default_arguments(bool compat) {
    return (export_arguments){.csv = {.compat = compat,
                                      .layout = SB_TRACE_CSV_TRACY,
                                      .separator = SB_SLICE(","),
                                      .filter = SB_SLICE(""),
                                      .special_parent = SB_SLICE(""),
                                      .special_functions = SB_SLICE("")}};
}

/* Decides what options leave open. program is what the command was started as. */
static void settle(export_arguments *arguments, const char *program) {
    sb_trace_csv_options *csv = &arguments->csv;
    if (arguments->messages)
        csv->mode = SB_TRACE_CSV_MESSAGES;
    else if (arguments->device)
        csv->mode = SB_TRACE_CSV_DEVICE;
    else if (arguments->zones)
        csv->mode = SB_TRACE_CSV_ZONES;
    if (arguments->has_layout)
        return;
    if (arguments->uses_old_parent)
        csv->layout = SB_TRACE_CSV_TT_0_10;
    else if (arguments->uses_parent || strcmp(program, "csvexport-release") == 0)
        csv->layout = SB_TRACE_CSV_TT;
}

typedef void (*viewer_writer)(const sb_trace *trace, sb_output *output,
                              sb_trace_exported *exported);

/* The whole trace to a file for another viewer; path may be NULL. */
static sb_status export_to_viewer(const sb_trace *trace, const char *path, viewer_writer write,
                                  cli_progress *progress, sb_error *error) {
    sb_output output;
    sb_trace_exported exported = {0};
    if (path == NULL)
        return SB_OK;
    SB_TRY(sb_output_to_file(&output, path, error));
    cli_progress_watch(progress, &output);
    write(trace, &output, &exported);
    const sb_status status = sb_output_finish(&output, error);
    cli_progress_end(progress);
    SB_TRY(status);
    if (exported.adjusted_times > 0)
        sb_log(SB_LOG_NOTE, "%s: %llu times were moved so that zones nest", path,
               (unsigned long long)exported.adjusted_times);
    return SB_OK;
}

/* Whether there is anything to write besides files for viewers. */
static bool writes_rows(const export_arguments *arguments) {
    const bool is_other = arguments->perfetto != NULL || arguments->chrome != NULL;
    return !is_other || arguments->csv_wanted || arguments->json;
}

static sb_status export_text(const sb_trace *trace, const export_arguments *arguments,
                             cli_progress *progress, sb_error *error) {
    sb_output output;
    if (!writes_rows(arguments))
        return SB_OK;
    SB_TRY(sb_output_to_file(&output, arguments->output == NULL ? "-" : arguments->output, error));
    cli_progress_watch(progress, &output);
    if (arguments->json)
        sb_trace_write_summary(trace, &output);
    else
        sb_trace_write_csv(trace, &arguments->csv, &output);
    const sb_status status = sb_output_finish(&output, error);
    cli_progress_end(progress);
    return status;
}

/* Two outputs in one place, or an output over the trace, would lose one of them. */
static sb_status check_outputs(const export_arguments *arguments, sb_error *error) {
    const char *const rows = arguments->output == NULL ? "-" : arguments->output;
    const char *const outputs[] = {writes_rows(arguments) ? rows : NULL, arguments->perfetto,
                                   arguments->chrome};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (outputs[i] == NULL)
            continue;
        if (sb_file_is_same(outputs[i], arguments->input))
            SB_FAIL(error, SB_ERR_USAGE, "%s is the trace that is read: it would be overwritten",
                    outputs[i]);
        for (size_t k = 0; k < i; k++) {
            const bool are_standard =
                strcmp(outputs[i], "-") == 0 && outputs[k] != NULL && strcmp(outputs[k], "-") == 0;
            if (are_standard || (outputs[k] != NULL && sb_file_is_same(outputs[i], outputs[k])))
                SB_FAIL(error, SB_ERR_USAGE, "%s would be written twice",
                        are_standard ? "standard output" : outputs[i]);
        }
    }
    return SB_OK;
}

static sb_status export(const export_arguments *arguments, int *exit_code, sb_error *error) {
    cli_trace opened;
    SB_TRY(check_outputs(arguments, error));
    cli_progress progress = cli_progress_begin();
    sb_status status = cli_trace_open(&opened, arguments->input, error);
    if (status == SB_OK)
        status = export_to_viewer(opened.trace, arguments->perfetto, sb_trace_write_perfetto,
                                  &progress, error);
    if (status == SB_OK)
        status = export_to_viewer(opened.trace, arguments->chrome, sb_trace_write_chrome, &progress,
                                  error);
    if (status == SB_OK)
        status = export_text(opened.trace, arguments, &progress, error);
    if (status == SB_OK)
        *exit_code = opened.is_partial ? SB_EXIT_PARTIAL : SB_EXIT_DONE;
    cli_trace_close(&opened);
    return status;
}

/* ---- the command ---- */

/* The first option that says something about rows, or NULL. */
static const char *find_row_option(const cli_parsed *parsed) {
    static const int others[] = {OPT_PERFETTO, OPT_CHROME, OPT_JSON, OPT_CSV, OPT_OUTPUT};
    for (size_t i = 0; i < parsed->option_count; i++) {
        bool is_other = false;
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
            is_other = is_other || parsed->options[i].id == others[k];
        for (size_t k = 0; k < cli_export_command.option_count && !is_other; k++) {
            if (export_options[k].id == parsed->options[i].id)
                return export_options[k].name;
        }
    }
    return NULL;
}

/* What cannot be written as it was asked for, whatever the rows are. */
static sb_status check_formats(const cli_parsed *parsed, const export_arguments *arguments,
                               sb_error *error) {
    const char *row_option = find_row_option(parsed);
    if (arguments->json && arguments->csv_wanted)
        SB_FAIL(error, SB_ERR_USAGE, "--json and --csv cannot be asked for at once");
    if (!writes_rows(arguments) && (row_option != NULL || arguments->output != NULL))
        SB_FAIL(error, SB_ERR_USAGE, "--%s is for rows: beside %s they need --csv",
                row_option != NULL ? row_option : "output",
                arguments->perfetto != NULL ? "--perfetto" : "--chrome");
    if (arguments->json && row_option != NULL)
        SB_FAIL(error, SB_ERR_USAGE, "--%s is for rows: --json gives a summary of the whole trace",
                row_option);
    return SB_OK;
}

/* Options that would change nothing are refused, where the other tools pass over them. */
static sb_status check_rows(const export_arguments *arguments, sb_error *error) {
    const sb_trace_csv_options *csv = &arguments->csv;
    const bool of_zones = csv->mode == SB_TRACE_CSV_ZONES;
    const bool of_sources = csv->mode == SB_TRACE_CSV_STATISTICS;
    int64_t percentile = 0;
    if (csv->plots && !of_zones)
        SB_FAIL(error, SB_ERR_USAGE, "--plot needs --unwrap: its points follow the rows of zones");
    if (arguments->uses_parent && !of_zones)
        SB_FAIL(error, SB_ERR_USAGE, "-t and -x need --unwrap: they add to the rows of zones");
    if ((csv->special_parent.size > 0) != (csv->special_functions.size > 0))
        SB_FAIL(error, SB_ERR_USAGE, "-t and -x need each other");
    if (csv->self && !of_zones && !of_sources)
        SB_FAIL(error, SB_ERR_USAGE, "--self is for zones of the host and for statistics");
    if (csv->truncated_mean > 0 && !of_sources)
        SB_FAIL(error, SB_ERR_USAGE, "--truncated-mean is for statistics, not for single rows");
    if (csv->separator.size == 0 || strpbrk(csv->separator.data, "\"\r\n") != NULL)
        SB_FAIL(error, SB_ERR_USAGE,
                "--sep: what stands between fields cannot be empty, nor a quote or a line break");
    if (arguments->percentile != NULL)
        return cli_trace_number("truncated-mean", arguments->percentile, PERCENTILE_MIN,
                                PERCENTILE_MAX, &percentile, error);
    return SB_OK;
}

static sb_status export_plain(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    export_arguments arguments = default_arguments(false);
    for (size_t i = 0; i < parsed->option_count; i++)
        take_option(parsed->options[i].id, parsed->options[i].value, &arguments);
    if (parsed->operand_count != 1)
        SB_FAIL(error, SB_ERR_USAGE, "name one trace file");
    arguments.input = parsed->operands[0];
    settle(&arguments, "strobe");
    SB_TRY(check_formats(parsed, &arguments, error));
    SB_TRY(check_rows(&arguments, error));
    return export(&arguments, exit_code, error);
}

/* ---- as the other tools ---- */

static int print_compat_usage(int exit_code) {
    fputs("Usage: tracy-csvexport [OPTIONS] FILE\n"
          "Writes statistics of the zones in a .tracy file, or the zones themselves, as CSV.\n\n"
          "  -h, --help              this text\n"
          "  -V, --version           the version\n"
          "  -f, --filter TEXT       only zones whose name contains TEXT\n"
          "  -s, --sep TEXT          what stands between fields\n"
          "  -c, --case              the filter minds capitals\n"
          "  -e, --self              times without what ran inside\n"
          "  -u, --unwrap            a row per zone of the host\n"
          "  -g, --gpu               a row per zone of a device\n"
          "  -m, --messages          a row per message\n"
          "  -p, --plot              with -u, points of plots too\n"
          "  -p TEXT, -t TEXT        special parent\n"
          "  -x LIST                 special functions\n"
          "  -t N, --truncated_mean[=N]  percentile and mean of what is below it\n",
          stderr);
    return exit_code;
}

typedef enum compat_result {
    COMPAT_PARSED,
    COMPAT_HELP,
    COMPAT_VERSION,
    COMPAT_WRONG
} compat_result;

/*
 * One attempt at the command line. The tools disagree about -p: a flag in most, with an argument in
 * Tenstorrent's at 0.10.
 */
static compat_result parse_compat(int argc, char **argv, bool p_has_value,
                                  export_arguments *arguments, int *operands) {
    static const struct option long_options[] = {
        {"help", no_argument, NULL, OPT_HELP},
        {"version", no_argument, NULL, OPT_VERSION},
        {"filter", required_argument, NULL, OPT_FILTER},
        {"sep", required_argument, NULL, OPT_SEPARATOR},
        {"case", no_argument, NULL, OPT_CASE},
        {"self", no_argument, NULL, OPT_SELF},
        {"unwrap", no_argument, NULL, OPT_ZONES},
        {"gpu", no_argument, NULL, OPT_DEVICE},
        {"messages", no_argument, NULL, OPT_MESSAGES},
        {"plot", no_argument, NULL, OPT_PLOTS},
        {"truncated_mean", optional_argument, NULL, OPT_TRUNCATED},
        {"special_functions", required_argument, NULL, OPT_SPECIAL},
        {"special_parent_function", required_argument, NULL, OPT_PARENT},
        {"like", required_argument, NULL, OPT_LIKE},
        {"output", required_argument, NULL, OPT_OUTPUT},
        {"csv", no_argument, NULL, OPT_CSV},
        {"compat", no_argument, NULL, OPT_COMPAT},
        {NULL, 0, NULL, 0},
    };
    const char *short_options = p_has_value ? "hVf:s:ceugmp:t:x:o:" : "hVf:s:ceugmpt:x:o:";
    optind = 0; /* start afresh */
    opterr = 0;
    for (;;) {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the command has one thread here */
        const int id = getopt_long(argc, argv, short_options, long_options, NULL);
        if (id == -1)
            break;
        if (id == '?')
            return COMPAT_WRONG;
        if (id == OPT_HELP)
            return COMPAT_HELP;
        if (id == OPT_VERSION)
            return COMPAT_VERSION;
        take_option(id, optarg, arguments);
    }
    *operands = argc - optind;
    arguments->input = *operands > 0 ? argv[optind] : NULL;
    return *operands == 1 ? COMPAT_PARSED : COMPAT_WRONG;
}

/* Both meanings of -p are tried, the flag first: the one that leaves one file is right. */
static compat_result parse_both_ways(int argc, char **argv, export_arguments *arguments) {
    int operands = 0;
    /* getopt_long sorts what it is given, so each attempt has a copy. */
    char **copy = sb_alloc(((size_t)argc + 1) * sizeof *copy);
    memcpy(copy, argv, ((size_t)argc + 1) * sizeof *copy);
    *arguments = default_arguments(true);
    compat_result result = parse_compat(argc, copy, false, arguments, &operands);
    if (result == COMPAT_WRONG && operands != 0) {
        memcpy(copy, argv, ((size_t)argc + 1) * sizeof *copy);
        *arguments = default_arguments(true);
        result = parse_compat(argc, copy, true, arguments, &operands);
    }
    free(copy);
    return result;
}

static int run_compat(int argc, char **argv, const char *program) {
    export_arguments arguments;
    switch (parse_both_ways(argc, argv, &arguments)) {
    case COMPAT_WRONG:
        return print_compat_usage(SB_EXIT_ERROR);
    case COMPAT_HELP:
        return print_compat_usage(SB_EXIT_DONE);
    case COMPAT_VERSION:
        puts("tracy-csvexport 0.14.0 / strobe " STROBE_VERSION);
        return SB_EXIT_DONE;
    default:
        break;
    }
    settle(&arguments, program);
    if (access(arguments.input, R_OK) != 0) {
        fprintf(stderr, "Could not open file %s\n", arguments.input);
        return SB_EXIT_ERROR;
    }
    sb_error error = {0};
    int exit_code = SB_EXIT_DONE;
    if (export(&arguments, &exit_code, &error) != SB_OK)
        exit_code = cli_trace_report("export", &error);
    return exit_code;
}

static int run_export(const cli_command *command, int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    const char *program = slash != NULL ? slash + 1 : argv[0];
    bool compat = strcmp(program, command->name) != 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        compat = compat || strcmp(argv[i], "--compat") == 0;
    if (compat)
        return run_compat(argc, argv, program);
    return cli_trace_run(command, argc, argv, export_plain);
}
