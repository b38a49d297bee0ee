/*
 * The verdict: of all that could be improved, what matters most.
 *
 * Each opportunity is estimated in microseconds saved at best: gaps down to what a replayed trace
 * leaves, slow matmuls up to what would bound them, and so on. Rows of the same shape are one
 * opportunity, since one change improves them all.
 */
#include "perf/perf_model.h"

typedef struct opportunity {
    sb_slice op_code;
    const sb_perf_row *example; /* the row of its kind with the most to gain */
    double example_gain_us;
    size_t rows;
    double gain_us; /* of all of them */
} opportunity;

static bool has_estimate(const sb_perf_row *row) {
    return row->kind == SB_PERF_MATMUL || row->kind == SB_PERF_CONV;
}

/* What a row could save at best. Convolutions have no advice, but a peak they could come near to.
 */
static double gain_of(const sb_perf_report *report, const sb_perf_row *row) {
    if (row->kind == SB_PERF_MATMUL)
        return sb_perf_advise(report, row, NULL).gain_us;
    if (row->bound != SB_PERF_SLOW || row->flops_percent.value < 0)
        return 0;
    return sb_perf_or_zero(row->device_time) * (1 - row->flops_percent.value / PERF_BOUND_PERCENT);
}

/* The shape of matmul or convolution with the most to gain over all its rows. */
static opportunity find_best_shape(const sb_perf_report *report) {
    sb_intern shapes;
    sb_vector found = sb_vector_of(sizeof(opportunity));
    sb_intern_init(&shapes);
    for (size_t i = 0; i < report->row_count; i++) {
        const sb_perf_row *row = &report->rows[i];
        if (!has_estimate(row))
            continue;
        const uint32_t index = sb_intern_add(&shapes, row->op_code);
        if (index == found.count)
            *(opportunity *)sb_vector_push(&found) =
                (opportunity){.op_code = row->op_code, .example = row};
        opportunity *shape = sb_vector_at(&found, index);
        const double gain = gain_of(report, row);
        shape->rows++;
        shape->gain_us += gain;
        if (gain > shape->example_gain_us) {
            shape->example = row;
            shape->example_gain_us = gain;
        }
    }
    opportunity best = {0};
    for (size_t i = 0; i < found.count; i++) {
        const opportunity *shape = sb_vector_at(&found, i);
        if (shape->gain_us > best.gain_us)
            best = *shape;
    }
    sb_vector_free(&found);
    sb_intern_free(&shapes);
    return best;
}

static double share(double part, double total) {
    return total > 0 ? part / total * 100 : 0;
}

/* One row alone has no gap, so that is no sign of a missing column. */
static bool has_times(const sb_perf_report *report) {
    bool has_gap = report->row_count < 2;
    bool has_time = false;
    for (size_t i = 0; i < report->row_count; i++) {
        has_gap = has_gap || sb_perf_has(report->rows[i].gap);
        has_time = has_time || report->rows[i].device_time.kind == SB_PERF_REAL;
    }
    return has_gap && has_time;
}

static sb_slice say_where(sb_perf_store *store) {
    const sb_perf_report *report = &store->report;
    const sb_perf_totals *totals = &report->totals;
    const double total = totals->device_time + totals->gap;
    sb_output text = sb_output_to_memory();
    if (has_times(report))
        sb_put_format(&text, "%.0f μs in all: %.0f %% on the device, %.0f %% waiting between ops",
                      total, share(totals->device_time, total), share(totals->gap, total));
    else
        sb_put_text(&text, "not known: the report lacks device times or gaps");
    if (totals->host_ops > 0)
        sb_put_format(&text, ", %zu op%s on the host", totals->host_ops,
                      totals->host_ops == 1 ? "" : "s");
    for (size_t i = 0; i < report->group_count && i < 3; i++) {
        const sb_perf_group *group = &report->groups[i];
        sb_put_text(&text, i == 0 ? "; most device time: " : ", ");
        sb_put(&text, group->key);
        if (sb_perf_has(group->device))
            sb_put_format(&text, " on device %.0f", group->device.value);
        sb_put_format(&text, " %.0f %%", group->total_percent);
    }
    const sb_slice kept = sb_arena_copy(&store->arena, sb_output_text(&text));
    sb_output_discard(&text);
    return kept;
}

/* Whether the device waited long right behind an op that ran on the host. */
static bool waits_for_host_op(const sb_perf_report *report) {
    for (size_t i = 1; i < report->row_count; i++) {
        if (perf_gap_is_high(&report->rows[i]) && report->rows[i - 1].is_host_op)
            return true;
    }
    return false;
}

static void judge_gaps(sb_perf_store *store, double gain, size_t count) {
    sb_perf_verdict *verdict = &store->report.verdict;
    const sb_perf_totals *totals = &store->report.totals;
    verdict->opportunity_us = gain;
    verdict->opportunity = sb_arena_format(&store->arena,
                                           "the device waits for the host before %zu op%s: up to "
                                           "%.0f μs (%.0f %% of the time) to gain",
                                           count, count == 1 ? "" : "s", gain,
                                           share(gain, totals->device_time + totals->gap));
    const bool is_gpu = perf_is_about_gpus(&store->report);
    const bool has_host_ops = waits_for_host_op(&store->report);
    verdict->first_step =
        sb_arena_format(&store->arena, "%s the loop %s%s",
                        has_host_ops ? "move the host ops to the device, then capture" : "capture",
                        is_gpu ? "in a CUDA graph and replay it" : "as a trace and replay it",
                        has_host_ops ? ""
                        : is_gpu     ? ", so that no op waits for its launch"
                                     : " (execute_trace), so that no op waits for its dispatch");
}

static void judge_shape(sb_perf_store *store, const opportunity *best) {
    sb_perf_verdict *verdict = &store->report.verdict;
    const sb_perf_totals *totals = &store->report.totals;
    const sb_perf_row *row = best->example;
    sb_arena scratch = {0};
    const sb_perf_advice advice = sb_perf_advise(&store->report, row, &scratch);
    verdict->opportunity_us = best->gain_us;
    verdict->opportunity = sb_arena_format(
        &store->arena,
        "%.*s (%zu time%s, worst in row %lld): %s, up to %.0f μs (%.0f %% of the time) to gain",
        (int)best->op_code.size, best->op_code.data, best->rows, best->rows == 1 ? "" : "s",
        (long long)row->id, sb_perf_bound_text(row->bound), best->gain_us,
        share(best->gain_us, totals->device_time + totals->gap));
    if (advice.count > 0)
        verdict->first_step = sb_arena_copy(&store->arena, advice.items[0]);
    else if (row->kind == SB_PERF_CONV && perf_is_about_gpus(&store->report))
        verdict->first_step = (sb_slice)SB_SLICE(
            "give the convolution 16-bit tensors with channels last, which the matrix units take");
    else if (row->kind == SB_PERF_CONV)
        verdict->first_step = (sb_slice)SB_SLICE(
            "give the convolution larger activation blocks (act_block_h) and double buffering "
            "(enable_act_double_buffer), then try a lower math fidelity");
    sb_arena_free(&scratch);
}

void perf_judge(sb_perf_store *store) {
    sb_perf_report *report = &store->report;
    if (report->options.compat)
        return; /* the original gives none */
    size_t gap_count = 0;
    const double gaps = perf_high_gaps(report, &gap_count);
    const opportunity shape = find_best_shape(report);
    report->verdict.where = say_where(store);
    report->verdict.opportunity = (sb_slice)SB_SLICE(
        "none found: no gap is high and no matmul or convolution is far from its limit");
    report->verdict.first_step =
        (sb_slice)SB_SLICE("look at the operations with the largest share in the summary");
    if (gaps > shape.gain_us && gap_count > 0)
        judge_gaps(store, gaps, gap_count);
    else if (shape.example != NULL)
        judge_shape(store, &shape);
}

static void print_line(sb_output *output, sb_style style, const char *title, sb_slice text) {
    sb_put_painted(output, style, SB_GREEN, sb_slice_of(title));
    sb_put_char(output, ' ');
    sb_put(output, text);
    sb_put_char(output, '\n');
}

void sb_perf_print_verdict(const sb_perf_report *report, sb_style style, sb_output *output) {
    const sb_perf_verdict *verdict = &report->verdict;
    sb_put_char(output, '\n');
    print_line(output, style, "Where the time went:", verdict->where);
    print_line(output, style, "Biggest opportunity:", verdict->opportunity);
    print_line(output, style, "What to do first:   ", verdict->first_step);
}
