/*
 * The cells of a row. Arithmetic follows the original to the last step, since its results are
 * rounded and a different order of operations would show.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_model.h"

report_cells *report_cells_create(sb_report *report) {
    report_cells *cells = sb_alloc_zeroed(1, sizeof *cells);
    cells->report = report;
    cells->states = sb_vector_of(sizeof(report_device_state));
    return cells;
}

void report_cells_free(report_cells *cells) {
    sb_vector_free(&cells->states);
    free(cells);
}

/* ---- texts ---- */

static char *take_scratch(report_cells *cells, size_t size) {
    assert(REPORT_SCRATCH - cells->scratch_used >= size);
    char *text = cells->scratch + cells->scratch_used;
    cells->scratch_used += size;
    return text;
}

static sb_slice keep(report_cells *cells, const char *text, size_t size) {
    char *kept = take_scratch(cells, size);
    memcpy(kept, text, size);
    return (sb_slice){kept, size};
}

sb_slice report_cell_integer(report_cells *cells, int64_t value) {
    char text[SB_NUMBER_SIZE];
    return keep(cells, text, sb_format_int64(value, text));
}

static sb_slice cell_unsigned(report_cells *cells, uint64_t value) {
    char text[SB_NUMBER_SIZE];
    const int size = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return keep(cells, text, (size_t)size);
}

sb_slice report_cell_rounded(report_cells *cells, double value) {
    char text[SB_NUMBER_SIZE];
    return keep(cells, text, sb_format_fixed(value, 0, false, text));
}

sb_slice report_cell_real(report_cells *cells, double value) {
    char text[SB_NUMBER_SIZE];
    return keep(cells, text, sb_format_shortest(value, text));
}

/* round() of Python: an integer, ties to even. */
static sb_slice cell_nearest(report_cells *cells, double value) {
    return report_cell_rounded(cells, rint(value) + 0.0);
}

double report_cycles_to_ns(uint64_t cycles, int64_t clock_mhz) {
    return (double)(cycles * 1000) / (double)clock_mhz;
}

/* ---- state of a device ---- */

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

/* ---- from the device log ---- */

bool report_program_per_core(const report_program *program, report_per_core *per_core) {
    *per_core = (report_per_core){.min = UINT64_MAX};
    uint64_t earliest = UINT64_MAX;
    double sum = 0;
    for (uint32_t i = 0; i < program->run_count; i++) {
        const report_core_run *run = program->runs[i];
        if (run->kernel_count < 2)
            continue;
        const uint64_t cycles = run->kernel_last - run->kernel_first;
        if (cycles < per_core->min)
            per_core->min = cycles;
        if (cycles > per_core->max)
            per_core->max = cycles;
        if (run->first < earliest) {
            earliest = run->first;
            per_core->first = cycles;
        }
        sum += (double)cycles;
        per_core->count++;
    }
    per_core->mean = per_core->count == 0 ? 0 : sum / (double)per_core->count;
    return per_core->count > 0;
}

static void put_duration(report_cells *cells, report_column column, uint64_t cycles) {
    const int64_t clock = cells->report->device.log.clock_mhz;
    cells->cells[column] = report_cell_rounded(cells, report_cycles_to_ns(cycles, clock));
}

static void put_span(report_cells *cells, report_analysis analysis, report_span_kind kind,
                     report_column column) {
    report_span span;
    if (report_wants(cells->report, analysis) && report_program_span(cells->program, kind, &span))
        put_duration(cells, column, span.last - span.first);
}

static void put_spans(report_cells *cells) {
    static const struct {
        report_analysis analysis;
        report_span_kind kind;
        report_column column;
    } spans[] = {
        {REPORT_ANALYSIS_FW, REPORT_SPAN_FW, REPORT_COLUMN_FW},
        {REPORT_ANALYSIS_KERNEL, REPORT_SPAN_KERNEL, REPORT_COLUMN_KERNEL},
        {REPORT_ANALYSIS_FIRST_TO_LAST_START, REPORT_SPAN_KERNEL_START,
         REPORT_COLUMN_FIRST_TO_LAST_START},
        {REPORT_ANALYSIS_BRISC, REPORT_SPAN_BRISC, REPORT_COLUMN_BRISC},
        {REPORT_ANALYSIS_NCRISC, REPORT_SPAN_NCRISC, REPORT_COLUMN_NCRISC},
        {REPORT_ANALYSIS_TRISC0, REPORT_SPAN_TRISC_0, REPORT_COLUMN_TRISC0},
        {REPORT_ANALYSIS_TRISC1, REPORT_SPAN_TRISC_1, REPORT_COLUMN_TRISC1},
        {REPORT_ANALYSIS_TRISC2, REPORT_SPAN_TRISC_2, REPORT_COLUMN_TRISC2},
        {REPORT_ANALYSIS_ERISC, REPORT_SPAN_ERISC, REPORT_COLUMN_ERISC},
    };
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++)
        put_span(cells, spans[i].analysis, spans[i].kind, spans[i].column);
}

/* With a host, cycles are divided by the clock that the first core's time gives back. */
static void put_per_core(report_cells *cells) {
    report_per_core cores;
    if (!report_wants(cells->report, REPORT_ANALYSIS_PER_CORE) ||
        !report_program_per_core(cells->program, &cores))
        return;
    const int64_t clock = cells->report->device.log.clock_mhz;
    const double first = (double)cores.first;
    double per_ns = first / report_cycles_to_ns(cores.first, clock);
    if (cores.first == 0)
        per_ns = (double)clock / 1000;
    sb_slice *cell = cells->cells;
    cell[REPORT_COLUMN_PER_CORE_MIN] = report_cell_rounded(cells, (double)cores.min / per_ns);
    cell[REPORT_COLUMN_PER_CORE_MAX] = report_cell_rounded(cells, (double)cores.max / per_ns);
    cell[REPORT_COLUMN_PER_CORE_AVG] = report_cell_rounded(cells, cores.mean / per_ns);
}

static void put_sums(report_cells *cells) {
    const report_program *program = cells->program;
    if (report_wants(cells->report, REPORT_ANALYSIS_WAIT_FRONT) && program->wait_front > 0)
        put_duration(cells, REPORT_COLUMN_WAIT_FRONT, program->wait_front);
    if (report_wants(cells->report, REPORT_ANALYSIS_RESERVE_BACK) && program->reserve_back > 0)
        put_duration(cells, REPORT_COLUMN_RESERVE_BACK, program->reserve_back);
    const report_dispatch_times times = report_find_dispatch(cells->report, program);
    if (report_wants(cells->report, REPORT_ANALYSIS_DISPATCH_TOTAL) && times.has_total)
        put_duration(cells, REPORT_COLUMN_DISPATCH_TOTAL, times.total);
    if (report_wants(cells->report, REPORT_ANALYSIS_DISPATCH_GO) && times.has_go)
        put_duration(cells, REPORT_COLUMN_DISPATCH_GO, times.go);
}

/* Cycles between the end of one op's kernels and the start of the next one's, which may overlap. */
static double gap(uint64_t start, uint64_t end) {
    return start >= end ? (double)(start - end) : -(double)(end - start);
}

static void put_latencies(report_cells *cells) {
    report_span kernel;
    report_span mover;
    sb_report *report = cells->report;
    if (!report_wants(report, REPORT_ANALYSIS_KERNEL) ||
        !report_program_span(cells->program, REPORT_SPAN_KERNEL, &kernel))
        return;
    const uint64_t cycles = kernel.last - kernel.first;
    const int64_t clock = report->device.log.clock_mhz;
    const double per_ns =
        cycles == 0 ? (double)clock / 1000 : (double)cycles / report_cycles_to_ns(cycles, clock);
    report_device_state *state = find_state(cells, (int64_t)cells->program->device);
    cells->kernel_cycles = (double)cycles;
    const bool has_mover = report_wants(report, REPORT_ANALYSIS_KERNEL_MOVER) &&
                           report_program_mover_span(cells->program, &mover);
    if (has_mover)
        put_duration(cells, REPORT_COLUMN_KERNEL_MOVER, mover.last - mover.first);
    if (cells->skips_latencies)
        return;
    cells->cells[REPORT_COLUMN_LATENCY] = cell_nearest(
        cells, state->has_kernel_end ? gap(kernel.first, state->kernel_end) / per_ns : 0);
    state->has_kernel_end = true;
    state->kernel_end = kernel.last;
    if (!has_mover)
        return;
    cells->cells[REPORT_COLUMN_LATENCY_MOVER] =
        cell_nearest(cells, state->has_mover_end ? gap(mover.first, state->mover_end) / per_ns : 0);
    state->has_mover_end = true;
    state->mover_end = mover.last;
}

/* The original leaves these empty here, though the log says both. */
static void put_device_facts(report_cells *cells) {
    const report_log *log = &cells->report->device.log;
    if (cells->report->options.compat)
        return;
    if (cells->cells[REPORT_COLUMN_ARCH].size == 0)
        cells->cells[REPORT_COLUMN_ARCH] = log->arch;
    if (log->compute_cores > 0 && cells->cells[REPORT_COLUMN_AVAILABLE_CORES].size == 0)
        cells->cells[REPORT_COLUMN_AVAILABLE_CORES] =
            report_cell_integer(cells, log->compute_cores);
}

static void put_program(report_cells *cells) {
    const report_program *program = cells->program;
    report_span firmware;
    cells->cells[REPORT_COLUMN_CORE_COUNT] =
        report_cell_integer(cells, report_program_core_count(program));
    if (cells->report->device.log.clock_mhz <= 0)
        return;
    put_spans(cells);
    put_per_core(cells);
    put_sums(cells);
    put_latencies(cells);
    if (!report_wants(cells->report, REPORT_ANALYSIS_KERNEL) &&
        report_wants(cells->report, REPORT_ANALYSIS_KERNEL_MOVER) &&
        report_program_mover_span(program, &firmware))
        put_duration(cells, REPORT_COLUMN_KERNEL_MOVER, firmware.last - firmware.first);
    if (report_wants(cells->report, REPORT_ANALYSIS_FW) &&
        report_program_span(program, REPORT_SPAN_FW, &firmware)) {
        cells->cells[REPORT_COLUMN_FW_START] = cell_unsigned(cells, firmware.first);
        cells->cells[REPORT_COLUMN_FW_END] = cell_unsigned(cells, firmware.last);
    }
    put_device_facts(cells);
}

/* ---- from the figures of the runtime ---- */

static void put_cpp_latency(report_cells *cells, const report_cpp_row *row, report_column column,
                            sb_slice given, report_cycle start, report_cycle end, bool *has_end,
                            uint64_t *last_end, const report_device_state *state) {
    const bool has_both = report_cpp_has_cycle(row, start) && report_cpp_has_cycle(row, end);
    double value = 0;
    if (has_both && state->has_rate && *has_end)
        value = ((double)row->cycles[start] - (double)*last_end) * state->ns_per_cycle;
    cells->cells[column] = given.size > 0 ? given : cell_nearest(cells, value);
    if (report_cpp_has_cycle(row, end)) {
        *has_end = true;
        *last_end = (uint64_t)row->cycles[end];
    }
}

/* Nanoseconds per cycle, by the first row of the device that allows to tell. */
static void find_rate(report_device_state *state, const report_cpp_row *row) {
    if (state->has_rate || !report_cpp_has(row, REPORT_COLUMN_FW) ||
        !report_cpp_has(row, REPORT_COLUMN_FW_START) || !report_cpp_has(row, REPORT_COLUMN_FW_END))
        return;
    const int64_t cycles = row->values[REPORT_COLUMN_FW_END] - row->values[REPORT_COLUMN_FW_START];
    if (cycles <= 0 || row->values[REPORT_COLUMN_FW] == 0)
        return;
    state->has_rate = true;
    state->ns_per_cycle = (double)row->values[REPORT_COLUMN_FW] / (double)cycles;
}

static void put_quasar_latency(report_cells *cells, const report_cpp_row *row,
                               report_device_state *state, int which) {
    static const struct {
        report_cycle start;
        report_cycle end;
        report_column duration;
        report_column latency;
    } kinds[] = {{REPORT_CYCLE_QUASAR_DM_START, REPORT_CYCLE_QUASAR_DM_END,
                  REPORT_COLUMN_QUASAR_KERNEL_DM, REPORT_COLUMN_QUASAR_LATENCY_DM},
                 {REPORT_CYCLE_QUASAR_TRISC_START, REPORT_CYCLE_QUASAR_TRISC_END,
                  REPORT_COLUMN_QUASAR_KERNEL_TRISC, REPORT_COLUMN_QUASAR_LATENCY_TRISC}};
    const bool has_end = report_cpp_has_cycle(row, kinds[which].end);
    if (report_cpp_has_cycle(row, kinds[which].start)) {
        const int64_t start = row->cycles[kinds[which].start];
        const int64_t span = has_end ? row->cycles[kinds[which].end] - start : 0;
        const int64_t duration = row->values[kinds[which].duration];
        double value = 0;
        if (state->has_quasar_end[which] && duration != 0 && span > 0)
            value = (double)(start - state->quasar_end[which]) * ((double)duration / (double)span);
        cells->cells[kinds[which].latency] = cell_nearest(cells, value);
    }
    if (has_end) {
        state->has_quasar_end[which] = true;
        state->quasar_end[which] = row->cycles[kinds[which].end];
    }
}

static bool is_taken_from_cpp(report_column column) {
    return column != REPORT_COLUMN_ID && column != REPORT_COLUMN_DEVICE &&
           column != REPORT_COLUMN_TRACE && column != REPORT_COLUMN_SESSION &&
           column != REPORT_COLUMN_QUASAR_LATENCY_DM &&
           column != REPORT_COLUMN_QUASAR_LATENCY_TRISC;
}

static void put_cpp(report_cells *cells, const report_cpp_row *row) {
    report_device_state *state = find_state(cells, row->device);
    find_rate(state, row);
    put_cpp_latency(cells, row, REPORT_COLUMN_LATENCY, row->latency, REPORT_CYCLE_KERNEL_START,
                    REPORT_CYCLE_KERNEL_END, &state->has_kernel_end, &state->kernel_end, state);
    put_cpp_latency(cells, row, REPORT_COLUMN_LATENCY_MOVER, row->latency_mover,
                    REPORT_CYCLE_MOVER_START, REPORT_CYCLE_MOVER_END, &state->has_mover_end,
                    &state->mover_end, state);
    put_quasar_latency(cells, row, state, 0);
    put_quasar_latency(cells, row, state, 1);
    for (int i = 0; i < REPORT_COLUMNS; i++) {
        const report_column column = (report_column)i;
        if (report_cpp_has(row, column) && is_taken_from_cpp(column) &&
            (cells->cells[column].size == 0 || column == REPORT_COLUMN_CORE_COUNT))
            cells->cells[column] = report_cell_integer(cells, row->values[column]);
    }
    if (cells->cells[REPORT_COLUMN_ARCH].size == 0)
        cells->cells[REPORT_COLUMN_ARCH] = row->arch;
    if (report_cpp_has_cycle(row, REPORT_CYCLE_KERNEL_START) &&
        report_cpp_has_cycle(row, REPORT_CYCLE_KERNEL_END))
        cells->kernel_cycles =
            (double)(row->cycles[REPORT_CYCLE_KERNEL_END] - row->cycles[REPORT_CYCLE_KERNEL_START]);
}

/* Beside the runtime's figures, what only the log can tell. */
static void put_log_extras(report_cells *cells) {
    if (cells->report->options.compat || cells->program == NULL ||
        cells->report->device.log.clock_mhz <= 0)
        return;
    put_per_core(cells);
    put_sums(cells);
    put_device_facts(cells);
}

/* ---- from the host ---- */

static void put_host_times(report_cells *cells, const report_op *op) {
    if (!op->has_zone)
        return;
    cells->cells[REPORT_COLUMN_HOST_START] = report_cell_integer(cells, op->start);
    cells->cells[REPORT_COLUMN_HOST_END] = report_cell_integer(cells, op->start + op->duration);
    cells->cells[REPORT_COLUMN_HOST_DURATION] = report_cell_integer(cells, op->duration);
}

static void put_op(report_cells *cells, const report_op *op) {
    const report_op_info *info = op->info;
    for (size_t i = 0; i < info->cell_count; i++)
        cells->cells[info->cells[i].column] = info->cells[i].text;
    cells->cells[REPORT_COLUMN_ID] = cell_unsigned(cells, op->id);
    if (op->cache_hit.size > 0)
        cells->cells[REPORT_COLUMN_CACHE_HIT] = op->cache_hit;
    cells->cells[REPORT_COLUMN_TRACE] = (sb_slice){"", 0};
    cells->cells[REPORT_COLUMN_SESSION] = (sb_slice){"", 0};
    cells->info = info;
    cells->children = op->children;
    put_host_times(cells, op);
}

/* Share of the kernel's time that the model says computing needs, rounded to three decimals. */
static void put_model_use(report_cells *cells, const report_op *op) {
    enum { DECIMALS = 3 };
    double kernel = 0;
    if (!op->info->has_model || !sb_parse_double(cells->cells[REPORT_COLUMN_KERNEL], &kernel))
        return;
    double use = kernel == 0 ? 0 : 100.0 * op->info->model_compute_ns / kernel;
    char text[SB_NUMBER_SIZE];
    const size_t size = sb_format_fixed(use, DECIMALS, false, text);
    sb_parse_double((sb_slice){text, size}, &use);
    cells->cells[REPORT_COLUMN_PM_FPU] = report_cell_real(cells, use);
}

/* How busy links and memories were, if somebody simulated it. */
static void put_network_use(report_cells *cells) {
    uint64_t run = 0;
    uint64_t trace = 0;
    uint64_t session = 0;
    const sb_slice trace_cell = cells->cells[REPORT_COLUMN_TRACE];
    if (!report_parse_number(cells->cells[REPORT_COLUMN_ID], &run))
        return;
    const bool has_trace = report_parse_number(trace_cell, &trace);
    report_parse_number(cells->cells[REPORT_COLUMN_SESSION], &session);
    const report_npe_point *point =
        report_npe_find(&cells->report->npe, run, has_trace, trace << 32 | session);
    for (int i = 0; point != NULL && i < REPORT_NPE_CELLS; i++)
        cells->cells[REPORT_COLUMN_NOC + i] = point->cells[i];
}

static void put_signpost(report_cells *cells, const report_signpost *signpost) {
    cells->cells[REPORT_COLUMN_OP_CODE] = signpost->header;
    cells->cells[REPORT_COLUMN_OP_TYPE] = (sb_slice)SB_SLICE("signpost");
    if (signpost->has_message)
        cells->cells[REPORT_COLUMN_ATTRIBUTES] = signpost->message;
    cells->cells[REPORT_COLUMN_HOST_START] = report_cell_integer(cells, signpost->time);
}

/* ---- a row ---- */

static void put_sub_device(report_cells *cells) {
    if (cells->program != NULL && cells->program->sub_device >= 0)
        cells->cells[REPORT_COLUMN_SUB_DEVICE] =
            report_cell_integer(cells, cells->program->sub_device);
}

static void put_device_side(report_cells *cells, const report_row *row) {
    const report_cpp_row *cpp =
        row->cpp == 0 ? NULL : sb_vector_at(&cells->report->cpp.rows, row->cpp - 1);
    put_sub_device(cells);
    if (cpp != NULL) {
        put_cpp(cells, cpp);
        put_log_extras(cells);
    } else if (cells->program != NULL) {
        put_program(cells);
    }
}

static void clear(report_cells *cells) {
    for (int i = 0; i < REPORT_COLUMNS; i++)
        cells->cells[i] = (sb_slice){"", 0};
    cells->info = NULL;
    cells->children = 0;
    cells->program = NULL;
    cells->kernel_cycles = 0;
    cells->scratch_used = 0;
}

void report_fill_cells(report_cells *cells, const report_row *row) {
    sb_report *report = cells->report;
    clear(cells);
    if (row->kind == REPORT_ROW_SIGNPOST) {
        put_signpost(cells, sb_vector_at(&report->host.signposts, row->op));
        return;
    }
    if (row->program != 0)
        cells->program = report_program_at(&report->device, row->program - 1);
    if (row->kind == REPORT_ROW_DEVICE) {
        cells->cells[REPORT_COLUMN_ID] = cell_unsigned(cells, cells->program->id);
        cells->cells[REPORT_COLUMN_DEVICE] = report_cell_integer(cells, cells->program->device);
        put_device_side(cells, row);
        return;
    }
    const report_op *op = report_op_at(&report->host, row->op);
    put_op(cells, op);
    if (row->kind == REPORT_ROW_REPLAY) {
        cells->cells[REPORT_COLUMN_TRACE] = report_cell_integer(cells, row->trace);
        cells->cells[REPORT_COLUMN_SESSION] = report_cell_integer(cells, row->session);
    }
    put_device_side(cells, row);
    put_model_use(cells, op);
    if (report->npe.points.count > 0)
        put_network_use(cells);
}
