/*
 * Where the time went: sums and distributions over the rows of a report.
 */
#include "report/report_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures of a row ---- */

typedef struct figures {
    double kernel;
    double firmware;
    double host;
    double gap;
    double compute; /* the longest of the compute processors */
    double mover;   /* the longest of those that move data */
    bool has_kernel;
    bool is_host_only;
} figures;

static double number_in(const sb_slice *cells, report_column column) {
    double value = 0;
    return stats_number(cells[column], &value) ? value : 0;
}

static figures figures_of(const sb_slice *cells) {
    figures out = {
        .firmware = number_in(cells, REPORT_COLUMN_FW),
        .host = number_in(cells, REPORT_COLUMN_HOST_DURATION),
        .gap = fmax(0, number_in(cells, REPORT_COLUMN_LATENCY)),
        .is_host_only = cells[REPORT_COLUMN_DEVICE].size == 0,
    };
    out.has_kernel = stats_number(cells[REPORT_COLUMN_KERNEL], &out.kernel);
    for (int i = REPORT_COLUMN_TRISC0; i <= REPORT_COLUMN_TRISC2; i++)
        out.compute = fmax(out.compute, number_in(cells, (report_column)i));
    out.mover = fmax(number_in(cells, REPORT_COLUMN_BRISC), number_in(cells, REPORT_COLUMN_NCRISC));
    out.mover = fmax(out.mover, number_in(cells, REPORT_COLUMN_ERISC));
    return out;
}

/* ---- ops ---- */

static stats_op *find_op(sb_report_stats *stats, sb_slice name) {
    const uint32_t index = sb_intern_add(&stats->op_names, name);
    if (index < stats->ops.count)
        return sb_vector_at(&stats->ops, index);
    stats_op *op = sb_vector_push(&stats->ops);
    op->name = sb_intern_text(&stats->op_names, index);
    op->kernel = sb_vector_of(sizeof(double));
    op->core_time = sb_alloc_zeroed(stats_core_count(stats) + 1, sizeof *op->core_time);
    return op;
}

/* How unevenly cores were busy: the mean over calls, longer ones counting more. */
static void add_imbalance(stats_op *op, double max, double mean) {
    if (mean <= 0)
        return;
    op->imbalance += max * (max / mean - 1);
    op->imbalance_weight += max;
}

static void add_cores(sb_report_stats *stats, stats_op *op, const report_program *program) {
    report_per_core cores;
    const int64_t clock = stats->report->device.log.clock_mhz;
    if (clock <= 0 || !report_program_per_core(program, &cores))
        return;
    for (uint32_t i = 0; i < program->run_count; i++) {
        const report_core_run *run = program->runs[i];
        if (run->kernel_count < 2)
            continue;
        const double ns = report_cycles_to_ns(run->kernel_last - run->kernel_first, clock);
        op->core_time[run->core] += ns;
        stats->core_time[run->core] += ns;
    }
    add_imbalance(op, (double)cores.max, cores.mean);
}

static void add_op(sb_report_stats *stats, const stats_row *row, const figures *of) {
    stats_op *op = find_op(stats, row->cells[REPORT_COLUMN_OP_CODE]);
    op->calls++;
    op->firmware_total += of->firmware;
    op->host_total += of->host;
    stats->calls++;
    if (!of->has_kernel)
        return;
    op->kernel_total += of->kernel;
    op->gap_total += of->gap;
    stats->kernel_total += of->kernel;
    stats->gap_total += of->gap;
    *(double *)sb_vector_push(&op->kernel) = of->kernel;
    if (row->program != NULL)
        add_cores(stats, op, row->program);
    else if (stats->report == NULL)
        add_imbalance(op, number_in(row->cells, REPORT_COLUMN_PER_CORE_MAX),
                      number_in(row->cells, REPORT_COLUMN_PER_CORE_AVG));
}

/* ---- kernels ---- */

static void add_kernel(sb_report_stats *stats, sb_slice source, bool is_compute, double ns) {
    if (source.size == 0 || sb_slice_is(source, "[]"))
        return;
    const uint32_t index = sb_intern_add(&stats->kernel_sources, source);
    if (index == stats->kernels.count) {
        stats_kernel *added = sb_vector_push(&stats->kernels);
        added->source = sb_intern_text(&stats->kernel_sources, index);
        added->is_compute = is_compute;
    }
    stats_kernel *kernel = sb_vector_at(&stats->kernels, index);
    kernel->calls++;
    kernel->total += ns;
}

/* ---- steps ---- */

/* A name in a marker op's attributes: {'identifier': 'iteration_3'}. */
static sb_slice identifier_in(sb_slice attributes) {
    static const char key[] = "'identifier': '";
    const size_t at = sb_slice_find(attributes, key);
    if (at == SB_NOT_FOUND)
        return (sb_slice){"", 0};
    sb_slice rest = sb_slice_after(attributes, at + strlen(key));
    return sb_slice_cut(rest, '\'', &rest);
}

/* The name of the step that a row begins; empty if it begins none. */
static sb_slice step_at(const stats_row *row) {
    sb_slice name = {"", 0};
    if (row->is_signpost)
        name = row->cells[REPORT_COLUMN_OP_CODE];
    else if (sb_slice_is(row->cells[REPORT_COLUMN_OP_CODE], "ProfilerNoopOperation"))
        name = identifier_in(row->cells[REPORT_COLUMN_ATTRIBUTES]);
    const bool is_step = sb_slice_contains(name, "iteration") || sb_slice_contains(name, "step");
    return is_step && !sb_slice_ends_with(name, "_done") ? name : (sb_slice){"", 0};
}

static void begin_step(sb_report_stats *stats, sb_slice name) {
    const stats_step *last =
        stats->steps.count == 0 ? NULL : sb_vector_at(&stats->steps, stats->steps.count - 1);
    if (last != NULL && sb_slice_equal(last->name, name))
        return; /* markers come in packs */
    stats_step *step = sb_vector_push(&stats->steps);
    step->name = sb_arena_copy(&stats->arena, name);
}

static void add_to_step(sb_report_stats *stats, const figures *of) {
    if (stats->steps.count == 0)
        begin_step(stats, (sb_slice)SB_SLICE("(start)"));
    stats_step *step = sb_vector_at(&stats->steps, stats->steps.count - 1);
    step->calls++;
    if (of->is_host_only)
        step->host += of->host;
    if (!of->has_kernel)
        return;
    const double compute = fmin(of->compute, of->kernel);
    step->compute += compute;
    step->movement += of->kernel - compute;
    step->idle += of->gap;
}

/* ---- the window between two signposts ---- */

/* Moves the ends of the window, which are 0 until their signposts are met. */
static void look_for_ends(sb_report_stats *stats, const stats_row *row) {
    const sb_report_stats_options *options = &stats->options;
    const sb_slice name = row->cells[REPORT_COLUMN_OP_CODE];
    if (!row->is_signpost)
        return;
    sb_intern_add(&stats->signposts, name);
    if (stats->first_row == 0) {
        if (sb_slice_is(name, options->from))
            stats->first_row = row->number + 1;
    } else if (stats->end_row == 0 && sb_slice_is(name, options->to)) {
        stats->end_row = row->number;
    }
}

static sb_status refuse_signpost(const sb_report_stats *stats, const char *name, const char *where,
                                 sb_error *error) {
    enum { SHOWN = 8 };
    sb_output list = sb_output_to_memory();
    const uint32_t count = sb_intern_count(&stats->signposts);
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        sb_put_text(&list, i == 0 ? "" : ", ");
        sb_put(&list, sb_intern_text(&stats->signposts, i));
    }
    const sb_slice names = sb_output_text(&list);
    sb_error_set(error, SB_ERR_NOT_FOUND, "there is no signpost '%s'%s; %s%.*s%s", name, where,
                 count == 0 ? "there are none" : "there are: ", (int)names.size, names.data,
                 count > SHOWN ? ", ..." : "");
    sb_output_discard(&list);
    return SB_ERR_NOT_FOUND;
}

static sb_status find_window(sb_report_stats *stats, sb_error *error) {
    const sb_report_stats_options *options = &stats->options;
    stats->first_row = options->from == NULL ? 1 : 0;
    stats->end_row = options->to == NULL ? SIZE_MAX : 0;
    if (options->from == NULL && options->to == NULL)
        return SB_OK;
    stats_each_row(stats, look_for_ends);
    if (stats->first_row == 0)
        return refuse_signpost(stats, options->from, "", error);
    if (stats->end_row == 0)
        return refuse_signpost(stats, options->to,
                               options->from == NULL ? "" : " behind the first one", error);
    return SB_OK;
}

static bool is_in_window(const sb_report_stats *stats, const stats_row *row) {
    return row->number >= stats->first_row && row->number < stats->end_row;
}

/* ---- distributions ---- */

static int compare_doubles(const void *a, const void *b) {
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right ? 1 : 0;
}

/* Mean and deviation first: outliers are looked for in the order of rows. */
static void measure(stats_op *op) {
    const double *values = (const double *)(const void *)op->kernel.data;
    const size_t count = op->kernel.count;
    double squares = 0;
    if (count == 0)
        return;
    op->mean = op->kernel_total / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - op->mean) * (values[i] - op->mean);
    op->deviation = count < 2 ? 0 : sqrt(squares / (double)(count - 1));
    if (op->imbalance_weight > 0)
        op->imbalance /= op->imbalance_weight;
}

static void sort_values(stats_op *op) {
    double *values = (double *)(void *)op->kernel.data;
    const size_t count = op->kernel.count;
    if (count == 0)
        return;
    qsort(values, count, sizeof *values, compare_doubles);
    op->median =
        count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    op->p99 = values[(size_t)ceil(0.99 * (double)count) - 1];
    op->max = values[count - 1];
}

static int compare_outliers(const void *a, const void *b) {
    const double left = fabs(((const stats_outlier *)a)->deviations);
    const double right = fabs(((const stats_outlier *)b)->deviations);
    return left > right ? -1 : left < right ? 1 : 0;
}

static void look_for_outlier(sb_report_stats *stats, const stats_row *row) {
    const double limit = 3; /* deviations */
    if (row->is_signpost || !is_in_window(stats, row))
        return;
    const figures of = figures_of(row->cells);
    const uint32_t index = sb_intern_add(&stats->op_names, row->cells[REPORT_COLUMN_OP_CODE]);
    const stats_op *op = sb_vector_at(&stats->ops, index);
    if (!of.has_kernel || op->deviation <= 0)
        return;
    const double deviations = (of.kernel - op->mean) / op->deviation;
    uint64_t id = 0;
    if (fabs(deviations) <= limit)
        return;
    report_parse_number(row->cells[REPORT_COLUMN_ID], &id);
    *(stats_outlier *)sb_vector_push(&stats->outliers) =
        (stats_outlier){index, (uint32_t)row->number, id, of.kernel, deviations};
}

/* ---- going through the rows ---- */

static void take_row(sb_report_stats *stats, const stats_row *row) {
    if (!is_in_window(stats, row))
        return;
    const sb_slice step = step_at(row);
    if (step.size > 0)
        begin_step(stats, step);
    if (row->is_signpost)
        return;
    const figures of = figures_of(row->cells);
    add_op(stats, row, &of);
    if (of.has_kernel) { /* the row of an op that was captured in a trace names them too */
        add_kernel(stats, row->cells[REPORT_COLUMN_COMPUTE_SOURCE], true, of.compute);
        add_kernel(stats, row->cells[REPORT_COLUMN_MOVER_SOURCE], false, of.mover);
    }
    add_to_step(stats, &of);
}

typedef struct weighed {
    double weight;
    uint32_t index;
} weighed;

static int compare_weighed(const void *a, const void *b) {
    const weighed *left = a;
    const weighed *right = b;
    if (left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

static uint32_t *sort_by_weight(weighed *entries, size_t count) {
    uint32_t *sorted = sb_alloc_zeroed(count + 1, sizeof *sorted);
    qsort(entries, count, sizeof *entries, compare_weighed);
    for (size_t i = 0; i < count; i++)
        sorted[i] = entries[i].index;
    free(entries);
    return sorted;
}

static void sort_all(sb_report_stats *stats) {
    weighed *ops = sb_alloc_zeroed(stats->ops.count + 1, sizeof *ops);
    weighed *kernels = sb_alloc_zeroed(stats->kernels.count + 1, sizeof *kernels);
    for (uint32_t i = 0; i < stats->ops.count; i++) {
        stats_op *op = sb_vector_at(&stats->ops, i);
        sort_values(op);
        ops[i] = (weighed){op->kernel_total, i};
    }
    for (uint32_t i = 0; i < stats->kernels.count; i++)
        kernels[i] = (weighed){((stats_kernel *)sb_vector_at(&stats->kernels, i))->total, i};
    stats->by_time = sort_by_weight(ops, stats->ops.count);
    stats->kernels_by_time = sort_by_weight(kernels, stats->kernels.count);
    if (stats->outliers.count > 1)
        qsort(stats->outliers.data, stats->outliers.count, sizeof(stats_outlier), compare_outliers);
}

static sb_report_stats *create_stats(sb_report *report, const sb_report_stats_options *options) {
    sb_report_stats *made = sb_alloc_zeroed(1, sizeof *made);
    made->report = report;
    made->options = *options;
    made->ops = sb_vector_of(sizeof(stats_op));
    made->kernels = sb_vector_of(sizeof(stats_kernel));
    made->outliers = sb_vector_of(sizeof(stats_outlier));
    made->steps = sb_vector_of(sizeof(stats_step));
    made->core_time = sb_alloc_zeroed(stats_core_count(made) + 1, sizeof *made->core_time);
    sb_intern_init(&made->op_names);
    sb_intern_init(&made->kernel_sources);
    sb_intern_init(&made->signposts);
    return made;
}

static void work_out(sb_report_stats *stats) {
    stats_each_row(stats, take_row);
    double weight = 0;
    for (size_t i = 0; i < stats->ops.count; i++) {
        stats_op *op = sb_vector_at(&stats->ops, i);
        stats->imbalance += op->imbalance;
        weight += op->imbalance_weight;
        measure(op);
    }
    stats->imbalance = weight > 0 ? stats->imbalance / weight : 0;
    stats_each_row(stats, look_for_outlier);
    sort_all(stats);
}

/* Hands over what was made, or frees it. */
static sb_status finish_stats(sb_report_stats *made, sb_status status, sb_report_stats **stats,
                              sb_error *error) {
    if (status == SB_OK)
        status = find_window(made, error);
    if (status != SB_OK) {
        sb_report_stats_free(made);
        return status;
    }
    work_out(made);
    *stats = made;
    return SB_OK;
}

/* A report without a host has rows too: one per execution, in order of time. */
static void make_rows(sb_report *report) {
    if (report->has_host || report->rows.count > 0)
        return;
    for (size_t i = 0; i < report->program_count; i++) {
        report_row *row = sb_vector_push(&report->rows);
        row->kind = REPORT_ROW_DEVICE;
        row->program = report->programs_by_id[i] + 1;
    }
}

sb_status sb_report_stats_make(sb_report *report, const sb_report_stats_options *options,
                               sb_report_stats **stats, sb_error *error) {
    make_rows(report);
    return finish_stats(create_stats(report, options), SB_OK, stats, error);
}

sb_status stats_of_file(sb_file file, const char *name, const sb_report_stats_options *options,
                        sb_report_stats **stats, sb_error *error) {
    sb_report_stats *made = create_stats(NULL, options);
    made->csv.file = file;
    return finish_stats(made, stats_check_csv(&made->csv, name, error), stats, error);
}

sb_status sb_report_stats_of_csv(const char *path, const sb_report_stats_options *options,
                                 sb_report_stats **stats, sb_error *error) {
    sb_file file;
    SB_TRY(sb_file_open(&file, path, error));
    return stats_of_file(file, path, options, stats, error);
}

uint64_t sb_report_stats_flawed_rows(const sb_report_stats *stats, uint64_t *first_line) {
    *first_line = stats->csv.first_flawed_line;
    return stats->csv.flawed_rows;
}

void sb_report_stats_free(sb_report_stats *stats) {
    if (stats == NULL)
        return;
    for (size_t i = 0; i < stats->ops.count; i++) {
        stats_op *op = sb_vector_at(&stats->ops, i);
        sb_vector_free(&op->kernel);
        free(op->core_time);
    }
    sb_vector_free(&stats->ops);
    sb_vector_free(&stats->kernels);
    sb_vector_free(&stats->outliers);
    sb_vector_free(&stats->steps);
    sb_intern_free(&stats->op_names);
    sb_intern_free(&stats->kernel_sources);
    sb_intern_free(&stats->signposts);
    sb_arena_free(&stats->arena);
    sb_file_close(&stats->csv.file);
    free(stats->core_time);
    free(stats->by_time);
    free(stats->kernels_by_time);
    free(stats);
}
