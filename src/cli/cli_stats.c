/*
 * `strobe stats FILE`: where the time went, per source location.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_trace.h"

static int run_stats(const cli_command *command, int argc, char **argv);

enum {
    OPT_FILTER,
    OPT_CASE,
    OPT_THREAD,
    OPT_FROM,
    OPT_TO,
    OPT_WHOLE,
    OPT_DEVICES,
    OPT_SORT,
    OPT_TOP,
    OPT_JSON,
    OPT_CSV,
};

static const cli_option stats_options[] = {
    {.id = OPT_FILTER,
     .name = "filter",
     .short_name = 'f',
     .argument = "TEXT",
     .heading = "Which zones",
     .help = "only source locations whose name contains TEXT"},
    {.id = OPT_CASE, .name = "case", .short_name = 'c', .help = "the filter minds capitals"},
    {.id = OPT_THREAD,
     .name = "thread",
     .argument = "NAME",
     .help = "only the thread or lane of that name, else the first whose name contains NAME"},
    {.id = OPT_FROM,
     .name = "from",
     .argument = "TIME",
     .help = "only what happened then or later: 1.5s, 20ms, 300us, 4000 (nanoseconds), or the "
             "text of a message; of a zone begun before, the rest counts"},
    {.id = OPT_TO,
     .name = "to",
     .argument = "TIME",
     .help = "only what happened before then; of a zone that ends later, the part until then"},
    {.id = OPT_WHOLE, .name = "whole", .help = "only zones that lie wholly between the two"},
    {.id = OPT_DEVICES, .name = "devices", .help = "zones of devices instead of the host's"},
    {.id = OPT_SORT,
     .name = "sort",
     .argument = "COLUMN",
     .choices = "total|self|count|mean|median|p99|min|max|std|name",
     .heading = "Output",
     .help = "the order of rows: total (default), self, count, mean, median, p99, min, max or std, "
             "largest first, or name"},
    {.id = OPT_TOP, .name = "top", .argument = "N", .help = "only the first N rows"},
    {.id = OPT_JSON, .name = "json", .help = "JSON, times in nanoseconds"},
    {.id = OPT_CSV, .name = "csv", .help = "comma-separated values, times in nanoseconds"},
};

const cli_command cli_stats_command = {
    .name = "stats",
    .summary = "say where the time of a trace went, per source location",
    .arguments = "FILE",
    .about =
        "Prints how often each source location of a .tracy file ran and how long: total, self\n"
        "(without what ran inside), mean, median, 99th percentile, extremes and deviation.",
    .examples = "  strobe stats run.tracy\n"
                "  strobe stats run.tracy --sort p99 --top 20 --filter matmul\n"
                "  strobe stats run.tracy --from 'warmup done' --to 3.5s\n",
    .options = stats_options,
    .option_count = sizeof stats_options / sizeof stats_options[0],
    .run = run_stats,
};

typedef enum stats_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV } stats_format;

typedef struct stats_arguments {
    sb_slice filter;
    bool with_case;
    const char *thread;
    const char *from;
    const char *to;
    bool whole_only;
    bool devices;
    const char *sort;
    size_t top; /* 0: all */
    stats_format format;
} stats_arguments;

static sb_status take_format(stats_format format, stats_arguments *arguments, sb_error *error) {
    if (arguments->format != FORMAT_TABLE && arguments->format != format)
        SB_FAIL(error, SB_ERR_USAGE, "--json and --csv cannot be asked for at once");
    arguments->format = format;
    return SB_OK;
}

static sb_status take_options(const cli_parsed *parsed, stats_arguments *arguments,
                              sb_error *error) {
    int64_t top = 0;
    for (size_t i = 0; i < parsed->option_count; i++) {
        const cli_parsed_option *option = &parsed->options[i];
        switch (option->id) {
        case OPT_FILTER:
            arguments->filter = sb_slice_of(option->value);
            break;
        case OPT_CASE:
            arguments->with_case = true;
            break;
        case OPT_THREAD:
            arguments->thread = option->value;
            break;
        case OPT_FROM:
            arguments->from = option->value;
            break;
        case OPT_TO:
            arguments->to = option->value;
            break;
        case OPT_WHOLE:
            arguments->whole_only = true;
            break;
        case OPT_DEVICES:
            arguments->devices = true;
            break;
        case OPT_SORT:
            arguments->sort = option->value;
            break;
        case OPT_TOP:
            SB_TRY(cli_trace_number("top", option->value, 1, INT32_MAX, &top, error));
            arguments->top = (size_t)top;
            break;
        default:
            SB_TRY(
                take_format(option->id == OPT_JSON ? FORMAT_JSON : FORMAT_CSV, arguments, error));
            break;
        }
    }
    return SB_OK;
}

/* ---- what to count ---- */

/* The track of that name, else the first whose name contains it. */
static sb_status find_track(const sb_trace *trace, const char *name, bool devices,
                            const sb_track **found, sb_error *error) {
    *found = NULL;
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        char buffer[32];
        const sb_track *track = sb_trace_track(trace, i);
        const sb_slice own = sb_trace_track_name(trace, track, buffer);
        if ((track->kind == SB_TRACK_LANE) != devices || !sb_slice_contains(own, name))
            continue;
        const bool is_whole = own.size == strlen(name);
        if (*found == NULL || is_whole)
            *found = track;
        if (is_whole)
            break;
    }
    if (*found != NULL)
        return SB_OK;
    SB_FAIL(error, SB_ERR_NOT_FOUND, "--thread: no name contains '%s'", name);
}

static sb_status choose_zones(const stats_arguments *arguments, const sb_trace *trace,
                              sb_stats_options *options, sb_error *error) {
    *options = (sb_stats_options){.whole_only = arguments->whole_only,
                                  .devices = arguments->devices,
                                  .with_self = true,
                                  .with_quantiles = true};
    SB_TRY(cli_trace_range(trace, arguments->from, arguments->to, &options->range, error));
    if (arguments->thread != NULL)
        SB_TRY(find_track(trace, arguments->thread, arguments->devices, &options->only, error));
    return SB_OK;
}

/* ---- rows ---- */

typedef struct stats_row {
    const sb_zone_stats *stats;
    sb_slice name;
    sb_slice file;
    uint32_t line;
    uint32_t source;
    double key; /* what rows are sorted by, largest first */
} stats_row;

static double sort_key(const sb_zone_stats *stats, const char *column) {
    const struct {
        const char *name;
        double value;
    } columns[] = {{"self", (double)stats->self_total},
                   {"count", (double)stats->count},
                   {"mean", stats->mean},
                   {"median", (double)stats->median},
                   {"p99", (double)stats->p99},
                   {"min", (double)stats->min},
                   {"max", (double)stats->max},
                   {"std", stats->deviation},
                   {"name", 0}};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        if (strcmp(columns[i].name, column) == 0)
            return columns[i].value;
    }
    return (double)stats->total;
}

static int compare_rows(const void *a, const void *b) {
    const stats_row *left = a;
    const stats_row *right = b;
    if (left->key != right->key)
        return left->key > right->key ? -1 : 1;
    const int order = sb_slice_compare(left->name, right->name);
    if (order != 0)
        return order;
    return left->source < right->source ? -1 : 1;
}

static sb_vector collect_rows(const stats_arguments *arguments, const sb_trace *trace,
                              const sb_zone_stats *stats, sb_arena *arena) {
    sb_vector rows = sb_vector_of(sizeof(stats_row));
    for (uint32_t i = 0; i < sb_series_count(&trace->sources); i++) {
        const sb_slice name = sb_trace_source_name(trace, i);
        if (stats[i].count == 0 || !sb_trace_matches(name, arguments->filter, arguments->with_case))
            continue;
        const sb_source *source = sb_trace_source(trace, i);
        *(stats_row *)sb_vector_push(&rows) = (stats_row){
            .stats = &stats[i],
            .name = sb_utf8_clean(arena, name.size > 0 ? name : (sb_slice)SB_SLICE("???")),
            .file = sb_utf8_clean(arena, sb_trace_text(trace, source->file)),
            .line = source->line,
            .source = i,
            .key = sort_key(&stats[i], arguments->sort),
        };
    }
    if (rows.count > 0)
        qsort(rows.data, rows.count, sizeof(stats_row), compare_rows);
    if (arguments->top > 0 && rows.count > arguments->top)
        rows.count = arguments->top;
    return rows;
}

/* ---- output ---- */

static void make_cells(const stats_row *row, sb_arena *arena, sb_cell *cells) {
    const sb_zone_stats *stats = row->stats;
    const int64_t times[] = {
        stats->total, stats->self_total, llround(stats->mean), stats->median,
        stats->p99,   stats->min,        stats->max,           llround(stats->deviation)};
    char text[SB_NUMBER_SIZE];
    size_t next = 0;
    cells[next++].text = row->name;
    cells[next++].text = sb_arena_format(arena, "%" PRIu64, stats->count);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        cells[next++].text = sb_arena_copy(arena, cli_format_time(times[i], text));
    cells[next++].text =
        sb_arena_format(arena, "%.*s:%u", (int)row->file.size, row->file.data, row->line);
    for (size_t i = 0; i < next; i++)
        cells[i].width = sb_utf8_width(cells[i].text);
}

static void print_table(const sb_vector *rows, sb_output *output) {
    sb_column columns[] = {
        {.title = "Name", .left = true, .title_left = true},
        {.title = "Count"},
        {.title = "Total"},
        {.title = "Self"},
        {.title = "Mean"},
        {.title = "Median"},
        {.title = "p99"},
        {.title = "Min"},
        {.title = "Max"},
        {.title = "Std"},
        {.title = "Source", .left = true, .title_left = true},
    };
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    sb_cell cells[COLUMNS] = {{{NULL, 0}, 0}};
    sb_arena arena = {0};
    for (size_t i = 0; i < COLUMNS; i++)
        sb_column_fit(&columns[i], strlen(columns[i].title));
    for (size_t i = 0; i < rows->count; i++) {
        make_cells(sb_vector_at(rows, i), &arena, cells);
        for (size_t k = 0; k < COLUMNS; k++)
            sb_column_fit(&columns[k], cells[k].width);
    }
    sb_table_header(output, columns, COLUMNS);
    sb_table_rule(output, columns, COLUMNS);
    for (size_t i = 0; i < rows->count; i++) {
        make_cells(sb_vector_at(rows, i), &arena, cells);
        sb_table_row(output, columns, cells, COLUMNS);
    }
    sb_arena_free(&arena);
}

static void put_real(sb_output *output, double value) {
    char text[SB_NUMBER_SIZE];
    sb_put(output, (sb_slice){text, sb_format_shortest(value, text)});
}

static void print_csv(const sb_vector *rows, sb_output *output) {
    sb_put_text(output, "name,src_file,src_line,count,total_ns,self_ns,mean_ns,median_ns,p99_ns,"
                        "min_ns,max_ns,std_ns\n");
    for (size_t i = 0; i < rows->count; i++) {
        const stats_row *row = sb_vector_at(rows, i);
        const sb_zone_stats *stats = row->stats;
        sb_put_csv(output, row->name);
        sb_put_char(output, ',');
        sb_put_csv(output, row->file);
        sb_put_format(output, ",%u,%" PRIu64 ",%" PRId64 ",%" PRId64 ",", row->line, stats->count,
                      stats->total, stats->self_total);
        put_real(output, stats->mean);
        sb_put_format(output, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", stats->median,
                      stats->p99, stats->min, stats->max);
        put_real(output, stats->deviation);
        sb_put_char(output, '\n');
    }
}

static void print_json(const sb_vector *rows, sb_output *output) {
    sb_put_text(output, "[");
    for (size_t i = 0; i < rows->count; i++) {
        const stats_row *row = sb_vector_at(rows, i);
        const sb_zone_stats *stats = row->stats;
        sb_put_text(output, i == 0 ? "\n  {\"name\": " : ",\n  {\"name\": ");
        sb_put_json(output, row->name);
        sb_put_text(output, ", \"file\": ");
        sb_put_json(output, row->file);
        sb_put_format(output,
                      ", \"line\": %u, \"count\": %" PRIu64 ", \"total_ns\": %" PRId64
                      ", \"self_ns\": %" PRId64 ", \"mean_ns\": ",
                      row->line, stats->count, stats->total, stats->self_total);
        put_real(output, stats->mean);
        sb_put_format(output,
                      ", \"median_ns\": %" PRId64 ", \"p99_ns\": %" PRId64 ", \"min_ns\": %" PRId64
                      ", \"max_ns\": %" PRId64 ", \"std_ns\": ",
                      stats->median, stats->p99, stats->min, stats->max);
        put_real(output, stats->deviation);
        sb_put_char(output, '}');
    }
    sb_put_text(output, "\n]\n");
}

static sb_status show(const stats_arguments *arguments, const sb_trace *trace, sb_error *error) {
    sb_stats_options options;
    SB_TRY(choose_zones(arguments, trace, &options, error));
    sb_arena arena = {0};
    sb_zone_stats *stats = sb_trace_stats(trace, &options);
    sb_vector rows = collect_rows(arguments, trace, stats, &arena);
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    if (arguments->format == FORMAT_JSON)
        print_json(&rows, &output);
    else if (arguments->format == FORMAT_CSV)
        print_csv(&rows, &output);
    else
        print_table(&rows, &output);
    sb_vector_free(&rows);
    free(stats);
    sb_arena_free(&arena);
    return sb_output_finish(&output, error);
}

static sb_status print_stats(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    stats_arguments arguments = {.sort = "total", .filter = SB_SLICE("")};
    SB_TRY(take_options(parsed, &arguments, error));
    if (parsed->operand_count != 1)
        SB_FAIL(error, SB_ERR_USAGE, "name one trace file");
    cli_trace opened;
    sb_status status = cli_trace_open(&opened, parsed->operands[0], error);
    if (status == SB_OK)
        status = show(&arguments, opened.trace, error);
    if (status == SB_OK && opened.is_partial)
        *exit_code = SB_EXIT_PARTIAL;
    cli_trace_close(&opened);
    return status;
}

static int run_stats(const cli_command *command, int argc, char **argv) {
    return cli_trace_run(command, argc, argv, print_stats);
}
