/*
 * The report without a host: a row per execution, and the time between executions on each core.
 *
 * Order and arithmetic are the original's: ids by the time they were first seen, executions of an
 * id by time, each latency against the row before.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_counters.h"
#include "report/report_model.h"

typedef struct device_row {
    const report_program *program;
    uint32_t index;
    uint32_t device_rank; /* devices in order of appearance */
    uint64_t id_first;    /* when its id was first seen */
} device_row;

static int compare_device_rows(const void *a, const void *b) {
    const device_row *left = a;
    const device_row *right = b;
    if (left->device_rank != right->device_rank)
        return left->device_rank < right->device_rank ? -1 : 1;
    if (left->id_first != right->id_first)
        return left->id_first < right->id_first ? -1 : 1;
    if (left->program->id != right->program->id)
        return left->program->id < right->program->id ? -1 : 1;
    if (left->program->first != right->program->first)
        return left->program->first < right->program->first ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

static uint32_t rank_of(const sb_report *report, uint32_t device) {
    for (uint32_t i = 0; i < report->device.cores.count; i++) {
        if (report_core_at(&report->device, i)->device == device)
            return i;
    }
    return UINT32_MAX;
}

static device_row *sort_rows(const sb_report *report) {
    device_row *rows = sb_alloc_zeroed(report->program_count + 1, sizeof *rows);
    for (size_t i = 0; i < report->program_count; i++) {
        const uint32_t index = report->programs_by_id[i];
        const report_program *program = report_program_at(&report->device, index);
        size_t first = 0;
        report_find_programs(report, program->device, program->id, &first);
        const report_program *earliest =
            report_program_at(&report->device, report->programs_by_id[first]);
        rows[i] = (device_row){program, index, rank_of(report, program->device), earliest->first};
    }
    qsort(rows, report->program_count, sizeof *rows, compare_device_rows);
    return rows;
}

/* ---- cells ---- */

static sb_slice cell_of_cycles(report_cells *cells, double cycles) {
    const double clock = (double)cells->report->device.log.clock_mhz;
    return report_cell_rounded(cells, cycles * 1000 / clock);
}

static double gap(uint64_t start, uint64_t end) {
    return start >= end ? (double)(start - end) : -(double)(end - start);
}

static sb_slice latency(report_cells *cells, uint64_t start, bool has_end, uint64_t end) {
    const double clock = (double)cells->report->device.log.clock_mhz;
    const double ns = has_end ? 1000 * gap(start, end) / clock : 0;
    return report_cell_rounded(cells, rint(ns) + 0.0);
}

static report_device_state *find_state(report_cells *cells, int64_t device) {
    for (size_t i = 0; i < cells->states.count; i++) {
        report_device_state *state = sb_vector_at(&cells->states, i);
        if (state->device == device)
            return state;
    }
    report_device_state *state = sb_vector_push(&cells->states);
    state->device = device;
    return state;
}

static void put_latencies(report_cells *cells) {
    report_device_state *state = find_state(cells, cells->program->device);
    report_span span;
    cells->cells[REPORT_COLUMN_LATENCY] = (sb_slice){"", 0};
    cells->cells[REPORT_COLUMN_LATENCY_MOVER] = (sb_slice){"", 0};
    if (report_wants(cells->report, REPORT_ANALYSIS_KERNEL) &&
        report_program_span(cells->program, REPORT_SPAN_KERNEL, &span)) {
        cells->cells[REPORT_COLUMN_LATENCY] =
            latency(cells, span.first, state->has_kernel_end, state->kernel_end);
        state->has_kernel_end = true;
        state->kernel_end = span.last;
    }
    if (report_wants(cells->report, REPORT_ANALYSIS_KERNEL_MOVER) &&
        report_program_mover_span(cells->program, &span)) {
        cells->cells[REPORT_COLUMN_LATENCY_MOVER] =
            latency(cells, span.first, state->has_mover_end, state->mover_end);
        state->has_mover_end = true;
        state->mover_end = span.last;
    }
}

/* Without a host the clock is taken as it is. */
static void put_per_core(report_cells *cells) {
    report_per_core cores;
    if (!report_wants(cells->report, REPORT_ANALYSIS_PER_CORE) ||
        !report_program_per_core(cells->program, &cores))
        return;
    cells->cells[REPORT_COLUMN_PER_CORE_MIN] = cell_of_cycles(cells, (double)cores.min);
    cells->cells[REPORT_COLUMN_PER_CORE_MAX] = cell_of_cycles(cells, (double)cores.max);
    cells->cells[REPORT_COLUMN_PER_CORE_AVG] = cell_of_cycles(cells, cores.mean);
}

/* Sub-devices are known by ids of executions that are no replays. */
static void put_sub_device(report_cells *cells) {
    const sb_report *report = cells->report;
    size_t first = 0;
    const size_t count =
        report_find_programs(report, cells->program->device, cells->program->id, &first);
    cells->cells[REPORT_COLUMN_SUB_DEVICE] = (sb_slice){"", 0};
    for (size_t i = 0; i < count; i++) {
        const report_program *other =
            report_program_at(&report->device, report->programs_by_id[first + i]);
        if (other->trace == REPORT_NO_TRACE && other->session == REPORT_NO_TRACE &&
            other->sub_device >= 0)
            cells->cells[REPORT_COLUMN_SUB_DEVICE] = report_cell_integer(cells, other->sub_device);
    }
}

static void fill_row(report_cells *cells, uint32_t index) {
    const report_row row = {.kind = REPORT_ROW_DEVICE, .program = index + 1};
    report_fill_cells(cells, &row);
    if (cells->report->options.compat)
        cells->cells[REPORT_COLUMN_DEVICE] = (sb_slice){"", 0};
    cells->cells[REPORT_COLUMN_CORE_COUNT] =
        cells->report->options.compat ? (sb_slice){"", 0} : cells->cells[REPORT_COLUMN_CORE_COUNT];
    put_sub_device(cells);
    if (cells->report->device.log.clock_mhz <= 0)
        return;
    put_per_core(cells);
    put_latencies(cells);
}

/* ---- the file ---- */

/* A column is written if any row has something in it. */
static void find_used(sb_report *report, const device_row *rows, bool used[REPORT_COLUMNS]) {
    report_cells *cells = report_cells_create(report);
    cells->skips_latencies = true;
    memset(used, 0, REPORT_COLUMNS * sizeof *used);
    for (size_t i = 0; i < report->program_count; i++) {
        fill_row(cells, rows[i].index);
        for (int k = 0; k < REPORT_COLUMNS; k++)
            used[k] = used[k] || cells->cells[k].size > 0;
    }
    report_cells_free(cells);
}

static sb_completeness judge(const report_program *program) {
    return program->is_broken ? SB_TRUNCATED : program->is_repeated ? SB_DUPLICATE : SB_COMPLETE;
}

static void put_line_end(const sb_report *report, sb_output *output, const char *completeness) {
    if (!report->options.compat) {
        sb_put_char(output, ',');
        sb_put_text(output, completeness);
    }
    sb_put_text(output, "\r\n");
}

static void put_cells(const report_cells *cells, const bool *used, sb_output *output) {
    bool is_first = true;
    for (int k = 0; k < REPORT_COLUMNS; k++) {
        if (!used[k])
            continue;
        if (!is_first)
            sb_put_char(output, ',');
        is_first = false;
        if (cells == NULL)
            sb_put_csv(output, sb_slice_of(report_column_title((report_column)k)));
        else
            sb_put_csv(output, cells->cells[k]);
    }
}

void report_put_device_csv(sb_report *report, sb_output *output) {
    bool used[REPORT_COLUMNS];
    device_row *rows = sort_rows(report);
    find_used(report, rows, used);
    put_cells(NULL, used, output);
    report_metrics *metrics = report_metrics_create(report);
    report_put_counter_titles(metrics, output);
    put_line_end(report, output, "COMPLETENESS");
    report_cells *cells = report_cells_create(report);
    cells->skips_latencies = true;
    for (size_t i = 0; i < report->program_count; i++) {
        fill_row(cells, rows[i].index);
        put_cells(cells, used, output);
        report_put_counters(metrics, cells, output);
        put_line_end(report, output, sb_completeness_name(judge(rows[i].program)));
    }
    report_cells_free(cells);
    report_metrics_free(metrics);
    free(rows);
}
