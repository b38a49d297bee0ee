/*
 * Statistics as tables, CSV, JSON and pictures.
 */
#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/plot.h"
#include "report/report_json.h"
#include "report/report_stats.h"

static const stats_op *op_at(const sb_report_stats *stats, size_t rank) {
    return sb_vector_at(&stats->ops, stats->by_time[rank]);
}

static const stats_kernel *kernel_at(const sb_report_stats *stats, size_t rank) {
    return sb_vector_at(&stats->kernels, stats->kernels_by_time[rank]);
}

static size_t shown(const sb_report_stats *stats, size_t count) {
    return stats->options.top > 0 && count > stats->options.top ? stats->options.top : count;
}

static double share(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

/* ---- tables ---- */

enum { MAX_CELLS = 10 };

/* A table whose cells are made once and kept: the lists are short. */
typedef struct text_table {
    sb_arena arena;
    sb_column columns[MAX_CELLS];
    size_t column_count;
    sb_vector cells; /* sb_cell */
} text_table;

static void add_cell(text_table *table, sb_slice text) {
    sb_cell *cell = sb_vector_push(&table->cells);
    cell->text = sb_utf8_clean(&table->arena, text);
    cell->width = sb_utf8_width(cell->text);
}

static void add_number(text_table *table, double value, int decimals) {
    char text[SB_NUMBER_SIZE];
    const size_t size = sb_format_fixed(value, decimals, true, text);
    add_cell(table, sb_arena_copy(&table->arena, (sb_slice){text, size}));
}

static text_table begin_table(const char *const *titles) {
    text_table table = {.cells = sb_vector_of(sizeof(sb_cell))};
    for (; titles[table.column_count] != NULL; table.column_count++) {
        const bool is_text = table.column_count == 0;
        table.columns[table.column_count] = (sb_column){
            .title = titles[table.column_count], .left = is_text, .title_left = is_text};
    }
    return table;
}

static void print_table(text_table *table, const char *heading, sb_output *output) {
    assert(table->column_count > 0);
    for (size_t i = 0; i < table->column_count; i++)
        sb_column_fit(&table->columns[i], strlen(table->columns[i].title));
    for (size_t i = 0; i < table->cells.count; i++)
        sb_column_fit(&table->columns[i % table->column_count],
                      ((sb_cell *)sb_vector_at(&table->cells, i))->width);
    sb_put_format(output, "%s\n", heading);
    sb_table_header(output, table->columns, table->column_count);
    sb_table_rule(output, table->columns, table->column_count);
    for (size_t i = 0; i < table->cells.count; i += table->column_count)
        sb_table_row(output, table->columns, sb_vector_at(&table->cells, i), table->column_count);
    sb_put_char(output, '\n');
    sb_vector_free(&table->cells);
    sb_arena_free(&table->arena);
}

static void print_ops(const sb_report_stats *stats, sb_output *output) {
    static const char *const titles[] = {"Op",     "Calls", "Share %", "Kernel us",   "Gap us",
                                         "Median", "p99",   "Max",     "Imbalance %", NULL};
    text_table table = begin_table(titles);
    for (size_t i = 0; i < shown(stats, stats->ops.count); i++) {
        const stats_op *op = op_at(stats, i);
        add_cell(&table, op->name);
        add_number(&table, (double)op->calls, 0);
        add_number(&table, share(op->kernel_total, stats->kernel_total), 1);
        add_number(&table, op->kernel_total / 1e3, 1);
        add_number(&table, op->gap_total / 1e3, 1);
        add_number(&table, op->median / 1e3, 2);
        add_number(&table, op->p99 / 1e3, 2);
        add_number(&table, op->max / 1e3, 2);
        if (op->imbalance_weight > 0)
            add_number(&table, 100 * op->imbalance, 1);
        else
            add_cell(&table, (sb_slice)SB_SLICE("-"));
    }
    print_table(&table, "Time per op (us)", output);
}

/* "['a/b/mm.cpp'; 'a/b/rd.cpp']" as "mm.cpp, rd.cpp": whole paths do not fit a terminal. */
static sb_slice short_sources(sb_arena *arena, sb_slice sources) {
    sb_output text = sb_output_to_memory();
    sb_slice last = {"", 0};
    while (sources.size > 0) {
        sb_slice path = sb_slice_cut(sources, '\'', &sources);
        for (sb_slice rest = path; rest.size > 0;)
            path = sb_slice_cut(rest, '/', &rest);
        const bool is_between = path.size == 0 || sb_slice_find(path, ".") == SB_NOT_FOUND;
        if (is_between || sb_slice_equal(path, last))
            continue;
        sb_put_text(&text, last.size == 0 ? "" : ", ");
        sb_put(&text, path);
        last = path;
    }
    const sb_slice copy = sb_arena_copy(arena, sb_output_text(&text));
    sb_output_discard(&text);
    return copy;
}

static void print_kernels(const sb_report_stats *stats, sb_output *output) {
    static const char *const titles[] = {"Kernel", "Kind", "Calls", "Total us", NULL};
    text_table table = begin_table(titles);
    for (size_t i = 0; i < shown(stats, stats->kernels.count); i++) {
        const stats_kernel *kernel = kernel_at(stats, i);
        const sb_slice names = short_sources(&table.arena, kernel->source);
        add_cell(&table, names.size > 0 ? names : kernel->source);
        add_cell(&table, sb_slice_of(kernel->is_compute ? "compute" : "data movement"));
        add_number(&table, (double)kernel->calls, 0);
        add_number(&table, kernel->total / 1e3, 1);
    }
    print_table(&table, "Kernels by wall time", output);
}

static void print_steps(const sb_report_stats *stats, sb_output *output) {
    static const char *const titles[] = {"Step",    "Calls",  "Total us", "Compute %",
                                         "Moves %", "Host %", "Idle %",   NULL};
    text_table table = begin_table(titles);
    for (size_t i = 0; i < shown(stats, stats->steps.count); i++) {
        const stats_step *step = sb_vector_at(&stats->steps, i);
        const double all = step->compute + step->movement + step->host + step->idle;
        add_cell(&table, step->name);
        add_number(&table, (double)step->calls, 0);
        add_number(&table, all / 1e3, 1);
        add_number(&table, share(step->compute, all), 1);
        add_number(&table, share(step->movement, all), 1);
        add_number(&table, share(step->host, all), 1);
        add_number(&table, share(step->idle, all), 1);
    }
    print_table(&table, "Steps", output);
}

static void print_outliers(const sb_report_stats *stats, sb_output *output) {
    static const char *const titles[] = {"Op", "Row", "Id", "Kernel us", "Deviations", NULL};
    text_table table = begin_table(titles);
    for (size_t i = 0; i < shown(stats, stats->outliers.count); i++) {
        const stats_outlier *outlier = sb_vector_at(&stats->outliers, i);
        add_cell(&table, ((const stats_op *)sb_vector_at(&stats->ops, outlier->op))->name);
        add_number(&table, outlier->row, 0);
        add_cell(&table, sb_arena_format(&table.arena, "%" PRIu64, outlier->id));
        add_number(&table, outlier->kernel / 1e3, 2);
        add_number(&table, outlier->deviations, 1);
    }
    print_table(&table, "Calls more than 3 deviations off the mean of their op", output);
}

/* ---- the grid of cores ---- */

typedef struct grid {
    size_t columns;
    size_t rows;
    double *values; /* share of the busiest core; NAN: no such core */
} grid;

static grid make_grid(const sb_report_stats *stats, const double *core_time) {
    enum { LARGEST = 64 };
    const size_t core_count = stats_core_count(stats);
    grid out = {0};
    double most = 0;
    for (size_t i = 0; i < core_count; i++) {
        const report_core *core = report_core_at(&stats->report->device, i);
        if (core->x >= LARGEST || core->y >= LARGEST || core_time[i] <= 0)
            continue;
        out.columns = core->x >= out.columns ? core->x + 1 : out.columns;
        out.rows = core->y >= out.rows ? core->y + 1 : out.rows;
    }
    out.values = sb_alloc_zeroed(out.columns * out.rows + 1, sizeof *out.values);
    for (size_t i = 0; i < core_count; i++) {
        const report_core *core = report_core_at(&stats->report->device, i);
        if (core->x >= out.columns || core->y >= out.rows)
            continue;
        double *cell = &out.values[core->y * out.columns + core->x];
        *cell += core_time[i]; /* devices lie on top of each other */
        most = fmax(most, *cell);
    }
    for (size_t i = 0; i < out.columns * out.rows; i++)
        out.values[i] = out.values[i] > 0 ? out.values[i] / most : NAN;
    return out;
}

static void print_heat(const sb_report_stats *stats, sb_output *output) {
    grid cores = make_grid(stats, stats->core_time);
    if (cores.columns > 0)
        sb_put_format(output,
                      "Kernel time per core, %% of the busiest (x to the right, y down); "
                      "imbalance %.1f %%\n     ",
                      100 * stats->imbalance);
    for (size_t x = 0; x < cores.columns; x++)
        sb_put_format(output, "%5zu", x);
    for (size_t y = 0; y < cores.rows; y++) {
        sb_put_format(output, "\n%5zu", y);
        for (size_t x = 0; x < cores.columns; x++) {
            const double value = cores.values[y * cores.columns + x];
            if (isnan(value))
                sb_put_text(output, "    .");
            else
                sb_put_format(output, "%5.0f", 100 * value);
        }
    }
    sb_put_text(output, cores.rows > 0 ? "\n\n" : "");
    free(cores.values);
}

void sb_report_stats_print(const sb_report_stats *stats, sb_output *output) {
    sb_put_format(output, "%" PRIu64 " calls: kernels %.1f us, gaps between them %.1f us\n\n",
                  stats->calls, stats->kernel_total / 1e3, stats->gap_total / 1e3);
    print_ops(stats, output);
    print_kernels(stats, output);
    print_heat(stats, output);
    print_steps(stats, output);
    if (stats->outliers.count > 0)
        print_outliers(stats, output);
}

/* ---- CSV ---- */

static void put_number(sb_output *output, double value) {
    char text[SB_NUMBER_SIZE];
    sb_put_char(output, ',');
    sb_put(output, (sb_slice){text, sb_format_fixed(value, 3, false, text)});
}

static void put_ops(const sb_report_stats *stats, sb_output *output) {
    sb_put_text(output, "op,calls,kernel_total_ns,firmware_total_ns,host_total_ns,gap_total_ns,"
                        "mean_ns,deviation_ns,median_ns,p99_ns,max_ns,share_percent,imbalance\n");
    for (size_t i = 0; i < stats->ops.count; i++) {
        const stats_op *op = op_at(stats, i);
        const double numbers[] = {op->kernel_total, op->firmware_total,
                                  op->host_total,   op->gap_total,
                                  op->mean,         op->deviation,
                                  op->median,       op->p99,
                                  op->max,          share(op->kernel_total, stats->kernel_total),
                                  op->imbalance};
        sb_put_csv(output, op->name);
        sb_put_format(output, ",%" PRIu64, op->calls);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            put_number(output, numbers[k]);
        sb_put_char(output, '\n');
    }
}

static void put_kernels(const sb_report_stats *stats, sb_output *output) {
    sb_put_text(output, "kernel,kind,calls,total_ns\n");
    for (size_t i = 0; i < stats->kernels.count; i++) {
        const stats_kernel *kernel = kernel_at(stats, i);
        sb_put_csv(output, kernel->source);
        sb_put_format(output, ",%s,%" PRIu64, kernel->is_compute ? "compute" : "data movement",
                      kernel->calls);
        put_number(output, kernel->total);
        sb_put_char(output, '\n');
    }
}

static void put_cores_of(const sb_report_stats *stats, sb_slice name, const double *core_time,
                         sb_output *output) {
    for (size_t i = 0; i < stats_core_count(stats); i++) {
        const report_core *core = report_core_at(&stats->report->device, i);
        if (core_time[i] <= 0)
            continue;
        sb_put_csv(output, name);
        sb_put_format(output, ",%u,%u,%u", core->device, core->x, core->y);
        put_number(output, core_time[i]);
        sb_put_char(output, '\n');
    }
}

static void put_cores(const sb_report_stats *stats, sb_output *output) {
    sb_put_text(output, "op,device,core_x,core_y,kernel_total_ns\n");
    put_cores_of(stats, (sb_slice)SB_SLICE("(all)"), stats->core_time, output);
    for (size_t i = 0; i < stats->ops.count; i++)
        put_cores_of(stats, op_at(stats, i)->name, op_at(stats, i)->core_time, output);
}

static void put_steps(const sb_report_stats *stats, sb_output *output) {
    sb_put_text(output, "step,calls,compute_ns,data_movement_ns,host_ns,idle_ns\n");
    for (size_t i = 0; i < stats->steps.count; i++) {
        const stats_step *step = sb_vector_at(&stats->steps, i);
        sb_put_csv(output, step->name);
        sb_put_format(output, ",%" PRIu64, step->calls);
        put_number(output, step->compute);
        put_number(output, step->movement);
        put_number(output, step->host);
        put_number(output, step->idle);
        sb_put_char(output, '\n');
    }
}

static void put_outliers(const sb_report_stats *stats, sb_output *output) {
    sb_put_text(output, "op,row,id,kernel_ns,deviations\n");
    for (size_t i = 0; i < stats->outliers.count; i++) {
        const stats_outlier *outlier = sb_vector_at(&stats->outliers, i);
        sb_put_csv(output, ((const stats_op *)sb_vector_at(&stats->ops, outlier->op))->name);
        sb_put_format(output, ",%u,%" PRIu64, outlier->row, outlier->id);
        put_number(output, outlier->kernel);
        put_number(output, outlier->deviations);
        sb_put_char(output, '\n');
    }
}

/* ---- JSON ---- */

static json_t *describe_op(const stats_op *op) {
    return json_pack("{s:o, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "op",
                     report_json_string(op->name), "calls", (json_int_t)op->calls,
                     "kernel_total_ns", op->kernel_total, "firmware_total_ns", op->firmware_total,
                     "host_total_ns", op->host_total, "gap_total_ns", op->gap_total, "mean_ns",
                     op->mean, "deviation_ns", op->deviation, "median_ns", op->median, "p99_ns",
                     op->p99, "max_ns", op->max, "imbalance", op->imbalance);
}

static json_t *describe_steps(const sb_report_stats *stats) {
    json_t *list = json_array();
    for (size_t i = 0; i < stats->steps.count; i++) {
        const stats_step *step = sb_vector_at(&stats->steps, i);
        json_array_append_new(list, json_pack("{s:o, s:I, s:f, s:f, s:f, s:f}", "step",
                                              report_json_string(step->name), "calls",
                                              (json_int_t)step->calls, "compute_ns", step->compute,
                                              "data_movement_ns", step->movement, "host_ns",
                                              step->host, "idle_ns", step->idle));
    }
    return list;
}

/* Without the cores of single ops, which are many: cores.csv has them. */
static json_t *describe_cores(const sb_report_stats *stats) {
    json_t *list = json_array();
    for (size_t i = 0; i < stats_core_count(stats); i++) {
        const report_core *core = report_core_at(&stats->report->device, i);
        if (stats->core_time[i] > 0)
            json_array_append_new(list, json_pack("{s:I, s:I, s:I, s:f}", "device",
                                                  (json_int_t)core->device, "x",
                                                  (json_int_t)core->x, "y", (json_int_t)core->y,
                                                  "kernel_total_ns", stats->core_time[i]));
    }
    return list;
}

static json_t *describe_outliers(const sb_report_stats *stats) {
    json_t *list = json_array();
    for (size_t i = 0; i < stats->outliers.count; i++) {
        const stats_outlier *outlier = sb_vector_at(&stats->outliers, i);
        const stats_op *op = sb_vector_at(&stats->ops, outlier->op);
        json_array_append_new(
            list, json_pack("{s:o, s:I, s:I, s:f, s:f}", "op", report_json_string(op->name), "row",
                            (json_int_t)outlier->row, "id", (json_int_t)outlier->id, "kernel_ns",
                            outlier->kernel, "deviations", outlier->deviations));
    }
    return list;
}

void sb_report_stats_json(const sb_report_stats *stats, sb_output *output) {
    json_t *ops = json_array();
    json_t *kernels = json_array();
    for (size_t i = 0; i < stats->ops.count; i++)
        json_array_append_new(ops, describe_op(op_at(stats, i)));
    for (size_t i = 0; i < stats->kernels.count; i++) {
        const stats_kernel *kernel = kernel_at(stats, i);
        json_array_append_new(
            kernels, json_pack("{s:o, s:s, s:I, s:f}", "kernel", report_json_string(kernel->source),
                               "kind", kernel->is_compute ? "compute" : "data movement", "calls",
                               (json_int_t)kernel->calls, "total_ns", kernel->total));
    }
    json_t *all =
        json_pack("{s:i, s:I, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o}", "schema", SB_REPORT_SCHEMA,
                  "calls", (json_int_t)stats->calls, "kernel_total_ns", stats->kernel_total,
                  "gap_total_ns", stats->gap_total, "imbalance", stats->imbalance, "ops", ops,
                  "kernels", kernels, "steps", describe_steps(stats), "cores",
                  describe_cores(stats), "outliers", describe_outliers(stats));
    char *text = json_dumps(all, JSON_INDENT(2));
    sb_put_text(output, text == NULL ? "{}" : text);
    sb_put_char(output, '\n');
    free(text);
    json_decref(all);
}

/* ---- pictures ---- */

enum { CHART_BARS = 15, CHART_STEPS = 60 };

static const char *c_text(sb_arena *arena, sb_slice text) {
    return sb_arena_format(arena, "%.*s", (int)text.size, text.data).data;
}

static bool draw_ops(const sb_report_stats *stats, sb_picture_format format, sb_output *output) {
    sb_arena arena = {0};
    const char *labels[CHART_BARS + 1];
    double values[(CHART_BARS + 1) * 2] = {0};
    size_t bars = 0;
    for (size_t i = 0; i < stats->ops.count; i++) {
        const stats_op *op = op_at(stats, i);
        const size_t bar = i < CHART_BARS ? i : CHART_BARS;
        labels[bar] = i < CHART_BARS ? c_text(&arena, op->name) : "(others)";
        values[bar * 2] += op->kernel_total / 1e6;
        values[bar * 2 + 1] += op->gap_total / 1e6;
        bars = bar + 1;
    }
    const sb_bar_chart chart = {.title = "Time per op",
                                .unit = "ms",
                                .series = {"kernels", "gap before"},
                                .series_count = 2,
                                .is_stacked = true,
                                .labels = labels,
                                .values = values,
                                .bar_count = bars};
    const bool done = sb_plot_bars(&chart, format, output);
    sb_arena_free(&arena);
    return done;
}

static bool draw_spread(const sb_report_stats *stats, sb_picture_format format, sb_output *output) {
    sb_arena arena = {0};
    const char *labels[CHART_BARS];
    double values[CHART_BARS * 3] = {0};
    const size_t bars = stats->ops.count < CHART_BARS ? stats->ops.count : CHART_BARS;
    for (size_t i = 0; i < bars; i++) {
        const stats_op *op = op_at(stats, i);
        labels[i] = c_text(&arena, op->name);
        values[i * 3] = op->median / 1e3;
        values[i * 3 + 1] = op->p99 / 1e3;
        values[i * 3 + 2] = op->max / 1e3;
    }
    const sb_bar_chart chart = {.title = "Kernel time of a call",
                                .unit = "us",
                                .series = {"median", "p99", "longest"},
                                .series_count = 3,
                                .labels = labels,
                                .values = values,
                                .bar_count = bars};
    const bool done = sb_plot_bars(&chart, format, output);
    sb_arena_free(&arena);
    return done;
}

static bool draw_kernels(const sb_report_stats *stats, sb_picture_format format,
                         sb_output *output) {
    sb_arena arena = {0};
    const char *labels[CHART_BARS];
    double values[CHART_BARS * 2] = {0};
    const size_t bars = stats->kernels.count < CHART_BARS ? stats->kernels.count : CHART_BARS;
    for (size_t i = 0; i < bars; i++) {
        const stats_kernel *kernel = kernel_at(stats, i);
        labels[i] = c_text(&arena, kernel->source);
        values[i * 2 + (kernel->is_compute ? 0 : 1)] = kernel->total / 1e6;
    }
    const sb_bar_chart chart = {.title = "Kernels by wall time",
                                .unit = "ms",
                                .series = {"compute", "data movement"},
                                .series_count = 2,
                                .is_stacked = true,
                                .labels = labels,
                                .values = values,
                                .bar_count = bars};
    const bool done = sb_plot_bars(&chart, format, output);
    sb_arena_free(&arena);
    return done;
}

static bool draw_steps(const sb_report_stats *stats, sb_picture_format format, sb_output *output) {
    sb_arena arena = {0};
    const char *labels[CHART_STEPS];
    double values[CHART_STEPS * 4] = {0};
    const size_t bars = stats->steps.count < CHART_STEPS ? stats->steps.count : CHART_STEPS;
    for (size_t i = 0; i < bars; i++) {
        const stats_step *step = sb_vector_at(&stats->steps, i);
        labels[i] = c_text(&arena, step->name);
        values[i * 4] = step->compute / 1e6;
        values[i * 4 + 1] = step->movement / 1e6;
        values[i * 4 + 2] = step->host / 1e6;
        values[i * 4 + 3] = step->idle / 1e6;
    }
    const char *title = stats->steps.count > CHART_STEPS
                            ? sb_arena_format(&arena, "Time of each step (the first %d of %zu)",
                                              CHART_STEPS, stats->steps.count)
                                  .data
                            : "Time of each step";
    const sb_bar_chart chart = {.title = title,
                                .unit = "ms",
                                .series = {"compute", "data movement", "host", "idle"},
                                .series_count = 4,
                                .is_stacked = true,
                                .labels = labels,
                                .values = values,
                                .bar_count = bars};
    const bool done = sb_plot_bars(&chart, format, output);
    sb_arena_free(&arena);
    return done;
}

static bool draw_heat(const sb_report_stats *stats, sb_picture_format format, sb_output *output) {
    grid cores = make_grid(stats, stats->core_time);
    const sb_heat_map map = {.title = "Kernel time per core",
                             .legend = "% of the busiest core",
                             .values = cores.values,
                             .columns = cores.columns,
                             .rows = cores.rows};
    const bool done = sb_plot_heat(&map, format, output);
    free(cores.values);
    return done;
}

/* The heat map of one op, the rank-th by time. */
static bool draw_op_heat(const sb_report_stats *stats, size_t rank, sb_picture_format format,
                         sb_output *output) {
    sb_arena arena = {0};
    const stats_op *op = op_at(stats, rank);
    grid cores = make_grid(stats, op->core_time);
    const sb_heat_map map = {.title = c_text(&arena, op->name),
                             .legend = "kernel time per core, % of the busiest",
                             .values = cores.values,
                             .columns = cores.columns,
                             .rows = cores.rows};
    const bool done = sb_plot_heat(&map, format, output);
    free(cores.values);
    sb_arena_free(&arena);
    return done;
}

/* ---- files ---- */

typedef bool (*draw_function)(const sb_report_stats *, sb_picture_format, sb_output *);

static sb_status finish_picture(bool is_drawn, sb_output *output, const char *path,
                                sb_error *error) {
    if (is_drawn)
        return sb_output_finish(output, error);
    sb_output_discard(output);
    SB_FAIL(error, SB_ERR_IO, "%s: the picture cannot be drawn", path);
}

static sb_status write_pictures(const sb_report_stats *stats, const char *folder, sb_arena *arena,
                                sb_error *error) {
    static const struct {
        const char *name;
        draw_function draw;
    } pictures[] = {{"time_per_op", draw_ops},
                    {"spread_per_op", draw_spread},
                    {"kernels", draw_kernels},
                    {"steps", draw_steps},
                    {"cores", draw_heat}};
    static const char *const endings[] = {"svg", "png"};
    enum { HEAT_MAPS = 5, WITHOUT_CORES = 4 };
    const bool has_cores = stats_core_count(stats) > 0;
    const size_t most = stats->ops.count < HEAT_MAPS ? stats->ops.count : HEAT_MAPS;
    const size_t heat_maps = has_cores ? most : 0;
    const size_t fixed = has_cores ? sizeof pictures / sizeof pictures[0] : WITHOUT_CORES;
    for (size_t i = 0; i < (fixed + heat_maps) * 2; i++) {
        sb_output output;
        const size_t which = i / 2;
        const char *path = which < fixed ? sb_arena_format(arena, "%s/%s.%s", folder,
                                                           pictures[which].name, endings[i % 2])
                                               .data
                                         : sb_arena_format(arena, "%s/cores_op%zu.%s", folder,
                                                           which - fixed + 1, endings[i % 2])
                                               .data;
        SB_TRY(sb_output_to_file(&output, path, error));
        const sb_picture_format format = (sb_picture_format)(i % 2);
        const bool is_drawn = which < fixed ? pictures[which].draw(stats, format, &output)
                                            : draw_op_heat(stats, which - fixed, format, &output);
        SB_TRY(finish_picture(is_drawn, &output, path, error));
    }
    return SB_OK;
}

static sb_status write_tables(const sb_report_stats *stats, const char *folder, sb_arena *arena,
                              sb_error *error) {
    static const struct {
        const char *name;
        void (*put)(const sb_report_stats *, sb_output *);
    } files[] = {{"ops.csv", put_ops},           {"kernels.csv", put_kernels},
                 {"cores.csv", put_cores},       {"steps.csv", put_steps},
                 {"outliers.csv", put_outliers}, {"stats.json", sb_report_stats_json}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        sb_output output;
        if (files[i].put == put_cores && stats_core_count(stats) == 0)
            continue;
        const char *path = sb_arena_format(arena, "%s/%s", folder, files[i].name).data;
        SB_TRY(sb_output_to_file(&output, path, error));
        files[i].put(stats, &output);
        SB_TRY(sb_output_finish(&output, error));
    }
    return SB_OK;
}

sb_status sb_report_stats_write(const sb_report_stats *stats, const char *folder, sb_error *error) {
    sb_arena arena = {0};
    SB_TRY(sb_folder_make(folder, error));
    sb_status status = write_tables(stats, folder, &arena, error);
    if (status == SB_OK)
        status = write_pictures(stats, folder, &arena, error);
    sb_arena_free(&arena);
    return status;
}
