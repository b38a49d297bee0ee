/*
 * What to try for a row: what is wrong, by how much, what to do first, what it may bring.
 *
 * When an item is given and in which order follows the original tool; the words, the figures in
 * them and the estimates of the gain are ours. An estimate is the time saved if the row reached the
 * limit named in it, so it is what can be had at best.
 */
#include "perf/perf_model.h"

#include <stdarg.h>

/* What a well-placed DRAM-sharded matmul reaches of the bandwidth. */
#define DRAM_SHARDED_PERCENT 90.0
#define ENOUGH_FLOPS_PERCENT 40.0

typedef struct row_advisor {
    const sb_perf_report *report;
    const sb_perf_row *row;
    sb_arena *arena;
    sb_perf_advice advice;
    perf_fidelity fidelity;
} row_advisor;

static void advise(row_advisor *advisor, sb_slice text, double gain_us) {
    sb_perf_advice *advice = &advisor->advice;
    if (advice->count == SB_PERF_ADVICE_MAX || text.size == 0)
        return;
    if (gain_us > advice->gain_us)
        advice->gain_us = gain_us;
    advice->items[advice->count++] = text;
}

/* A sentence, unless only the gain is asked for. */
__attribute__((format(printf, 2, 3))) static sb_slice say(const row_advisor *advisor,
                                                          const char *format, ...) {
    if (advisor->arena == NULL)
        return (sb_slice)SB_SLICE("-");
    va_list arguments;
    va_start(arguments, format);
    const sb_slice text = sb_arena_vformat(advisor->arena, format, arguments);
    va_end(arguments);
    return text;
}

/* Time saved if the row ran at goal percent of a peak of which it now reaches percent. */
static double gain_to(const sb_perf_row *row, double percent, double goal) {
    const double time = sb_perf_or_zero(row->device_time);
    return percent < goal && percent >= 0 ? time * (1 - percent / goal) : 0;
}

static void advise_dram_sharding(row_advisor *advisor) {
    const sb_perf_row *row = advisor->row;
    if (row->dram_sharded)
        return;
    const double gain = gain_to(row, row->dram_percent.value, DRAM_SHARDED_PERCENT);
    advise(advisor,
           say(advisor,
               "DRAM-bound at %.0f %% of the bandwidth: shard the weights over the DRAM "
               "banks (MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig), which "
               "reaches about %.0f %%: saves up to %.0f μs",
               row->dram_percent.value, DRAM_SHARDED_PERCENT, gain),
           gain);
}

static void advise_dram_bound(row_advisor *advisor) {
    const sb_perf_row *row = advisor->row;
    const perf_fidelity_class class = advisor->fidelity.class;
    advise_dram_sharding(advisor);
    if (class == PERF_FIDELITY_TOO_LOW && sb_perf_has(row->flops_percent) &&
        row->flops_percent.value < ENOUGH_FLOPS_PERCENT)
        advise(advisor, advisor->fidelity.hint, 0);
    if (class == PERF_FIDELITY_TOO_HIGH)
        advise(advisor, advisor->fidelity.hint, 0);
}

static void advise_larger_grid(row_advisor *advisor) {
    const sb_perf_row *row = advisor->row;
    const double full =
        advisor->report->options.compat ? PERF_COMPAT_FULL_GRID : row->available_cores;
    if (!sb_perf_has(row->cores) || row->cores.value >= full || row->cores.value <= 0)
        return;
    const double gain = sb_perf_or_zero(row->device_time) * (1 - row->cores.value / full);
    advise(advisor,
           say(advisor,
               "compute-bound on %.0f of %.0f cores: use a larger grid: saves up to "
               "%.0f μs on all of them",
               row->cores.value, full, gain),
           gain);
}

static void advise_flop_bound(row_advisor *advisor) {
    advise_larger_grid(advisor);
    if (advisor->fidelity.class == PERF_FIDELITY_TOO_HIGH)
        advise(advisor, advisor->fidelity.hint, sb_perf_or_zero(advisor->row->device_time) / 2);
}

/* How far a slow row is from what would bound it. */
static double gain_of_slow(const sb_perf_row *row) {
    const double dram = sb_perf_or_zero(row->dram_percent);
    const double flops = sb_perf_or_zero(row->flops_percent);
    return gain_to(row, dram > flops ? dram : flops, PERF_BOUND_PERCENT);
}

static void advise_input_to_l1(row_advisor *advisor, double gain) {
    const sb_slice memory = advisor->row->input_0_memory;
    if (memory.data == NULL || sb_slice_contains(memory, "L1"))
        return;
    advise(advisor,
           say(advisor,
               "input 0 is read from %.*s: move it to L1 first (sharded if it fits); a "
               "row that reaches %.0f %% of a peak would save up to %.0f μs",
               (int)memory.size, memory.data, PERF_BOUND_PERCENT, gain),
           gain);
}

static void advise_inner_block(row_advisor *advisor, double gain) {
    const int64_t block = advisor->row->inner_block;
    if (block < 0)
        advise(advisor,
               (sb_slice)SB_SLICE("the inner block width (in0_block_w) is not in the attributes: "
                                  "check that it is at least 2"),
               0);
    else if (block < 2)
        advise(advisor,
               say(advisor,
                   "the inner block width is small (in0_block_w=%lld): 2 or more reads "
                   "longer stretches and repeats less",
                   (long long)block),
               gain);
}

static void advise_subblock(row_advisor *advisor, double gain) {
    const int64_t height = advisor->row->subblock_height;
    const int64_t width = advisor->row->subblock_width;
    if (height < 0 || width < 0)
        advise(advisor,
               (sb_slice)SB_SLICE("the output subblock (out_subblock_h, out_subblock_w) is not in "
                                  "the attributes: check that its area is at least 2"),
               0);
    else if (height == 0 || width == 0 || (height == 1 && width == 1))
        advise(advisor,
               say(advisor,
                   "the output subblock is small (%lldx%lld): an area of 2 or more "
                   "(out_subblock_h x out_subblock_w) reuses what is loaded",
                   (long long)height, (long long)width),
               gain);
}

static void advise_slow(row_advisor *advisor) {
    const sb_perf_row *row = advisor->row;
    const double gain = gain_of_slow(row);
    advise_input_to_l1(advisor, gain);
    if (row->inner_block < 0 && row->subblock_height < 0 && row->subblock_width < 0) {
        advise(advisor,
               say(advisor,
                   "no program config in the attributes: give one, with in0_block_w and "
                   "out_subblock_h x out_subblock_w of at least 2, and compare: up to "
                   "%.0f μs are there to save",
                   gain),
               gain);
        return;
    }
    const size_t before = advisor->advice.count;
    advise_inner_block(advisor, gain);
    advise_subblock(advisor, gain);
    if (advisor->advice.count == before)
        advise(advisor,
               say(advisor,
                   "in0_block_w=%lld and output subblock %lldx%lld are good: look at "
                   "the grid, the memory layout and the math fidelity instead",
                   (long long)row->inner_block, (long long)row->subblock_height,
                   (long long)row->subblock_width),
               0);
    advise(advisor, advisor->fidelity.hint, 0);
}

/* ---- GPUs ---- */

static bool is_on_gpu(const sb_perf_row *row) {
    return row->arch != NULL && row->arch->gpu != NULL;
}

static void advise_more_blocks(row_advisor *advisor) {
    const sb_perf_row *row = advisor->row;
    const double full = row->available_cores;
    if (!sb_perf_has(row->cores) || row->cores.value >= full || row->cores.value <= 0)
        return;
    const double gain = sb_perf_or_zero(row->device_time) * (1 - row->cores.value / full);
    advise(advisor,
           say(advisor,
               "runs on %.0f of %.0f SMs: give it more blocks than there are SMs (smaller tiles, "
               "or the inner dimension split): saves up to %.0f μs on all of them",
               row->cores.value, full, gain),
           gain);
}

/* The peak of the whole GPU at a precision, or with an empty name at that of the row. */
static double peak_of(const sb_perf_row *row, sb_slice precision) {
    const sb_slice chosen = precision.size > 0 ? precision : row->fidelity;
    return perf_peak_tflops(row->arch, chosen, row->datatypes, false) * row->arch->worker_cores;
}

/* What the row would save at best if all of its time went with the peak. */
static double gain_of_narrower(const sb_perf_row *row) {
    const double share = peak_of(row, (sb_slice){"", 0}) / peak_of(row, (sb_slice)SB_SLICE("BF16"));
    return share < 1 ? sb_perf_or_zero(row->device_time) * (1 - share) : 0;
}

static void advise_narrower(row_advisor *advisor, double gain) {
    const sb_perf_row *row = advisor->row;
    const double peak = peak_of(row, (sb_slice){"", 0});
    const double tf32 = peak_of(row, (sb_slice)SB_SLICE("TF32"));
    const double bf16 = peak_of(row, (sb_slice)SB_SLICE("BF16"));
    if (peak < tf32)
        advise(advisor,
               say(advisor,
                   "multiplied at a precision with a peak of %.0f TFLOP/s: the matrix units have "
                   "%.0f for TF32, with the tensors as they are, and %.0f for BF16: saves up to "
                   "%.0f μs",
                   peak, tf32, bf16, gain),
               gain);
    else if (peak < bf16)
        advise(advisor,
               say(advisor,
                   "multiplied at a precision with a peak of %.0f TFLOP/s: BF16 has %.0f: saves up "
                   "to %.0f μs",
                   peak, bf16, gain),
               gain);
}

static void advise_less_traffic(row_advisor *advisor) {
    const sb_perf_row *row = advisor->row;
    const double time = sb_perf_or_zero(row->device_time);
    const double gain = gain_to(row, row->dram_percent.value, DRAM_SHARDED_PERCENT);
    if (sb_slice_is(row->datatypes[SB_PERF_INPUT_0], "FLOAT32"))
        advise(advisor,
               say(advisor,
                   "DRAM-bound with inputs of 32 bits: in BF16 half as much is read: saves up to "
                   "%.0f μs",
                   time / 2),
               time / 2);
    if (gain > 0)
        advise(advisor,
               say(advisor,
                   "DRAM-bound at %.0f %% of the bandwidth: loads of 16 bytes a thread and "
                   "asynchronous copies reach about %.0f %%: saves up to %.0f μs",
                   row->dram_percent.value, DRAM_SHARDED_PERCENT, gain),
               gain);
}

static void advise_slow_on_gpu(row_advisor *advisor) {
    const sb_perf_row *row = advisor->row;
    const double gain = gain_of_slow(row);
    advise_more_blocks(advisor);
    advise_narrower(advisor, gain);
    advise(
        advisor,
        say(advisor,
            "reaches %.0f %% of the peak and %.0f %% of the bandwidth: kernels near the peak use "
            "the matrix units and copy into shared memory ahead of them; zones inside the kernel "
            "show what its warps wait for: up to %.0f μs are there to save",
            sb_perf_or_zero(row->flops_percent), sb_perf_or_zero(row->dram_percent), gain),
        gain);
}

static void advise_on_gpu(row_advisor *advisor) {
    const sb_perf_row *row = advisor->row;
    switch (row->bound) {
    case SB_PERF_DRAM:
    case SB_PERF_BOTH:
        advise_less_traffic(advisor);
        break;
    case SB_PERF_FLOP:
        advise_more_blocks(advisor);
        advise_narrower(advisor, gain_of_narrower(row));
        break;
    case SB_PERF_SLOW:
        advise_slow_on_gpu(advisor);
        break;
    case SB_PERF_UNKNOWN:
    case SB_PERF_HOST:
        break;
    }
}

/* ---- all ---- */

sb_perf_advice sb_perf_advise(const sb_perf_report *report, const sb_perf_row *row,
                              sb_arena *arena) {
    row_advisor advisor = {.report = report, .row = row, .arena = arena};
    if (row->kind != SB_PERF_MATMUL)
        return advisor.advice;
    if (is_on_gpu(row)) {
        advise_on_gpu(&advisor);
        return advisor.advice;
    }
    advisor.fidelity = perf_judge_fidelity(row, arena);
    switch (row->bound) {
    case SB_PERF_DRAM:
    case SB_PERF_BOTH:
        advise_dram_bound(&advisor);
        break;
    case SB_PERF_FLOP:
        advise_flop_bound(&advisor);
        break;
    case SB_PERF_SLOW:
        advise_slow(&advisor);
        break;
    case SB_PERF_UNKNOWN:
    case SB_PERF_HOST:
        break;
    }
    return advisor.advice;
}

/* ---- printing ---- */

typedef struct advice_page {
    const sb_perf_report *report;
    sb_style style;
    sb_output *output;
    perf_table *table;
} advice_page;

static void put_title(const advice_page *page, const char *title) {
    sb_put_text(page->output, title);
    sb_put_char(page->output, '\n');
    sb_put_fill(page->output, '-', sb_slice_of(title).size);
    sb_put_char(page->output, '\n');
}

static void print_host_ops(const advice_page *page) {
    const sb_perf_report *report = page->report;
    size_t count = 0;
    for (size_t i = 0; i < report->row_count; i++) {
        if (!report->rows[i].is_host_op)
            continue;
        if (count++ == 0)
            put_title(page, "Operations on the host");
        perf_table_put_row(page->table, &report->rows[i], page->output);
    }
    if (count == 0)
        return;
    sb_put_format(
        page->output,
        "\n%zu operation%s fell back to the host: tensors travel there and back, and the "
        "device waits. Find a device operation for each, or move them out of the loop.\n\n",
        count, count == 1 ? "" : "s");
}

double perf_high_gaps(const sb_perf_report *report, size_t *count) {
    perf_sum saved = {0};
    *count = 0;
    for (size_t i = 0; i < report->row_count; i++) {
        if (!perf_gap_is_high(&report->rows[i]))
            continue;
        perf_sum_add(&saved, report->rows[i].gap.value - PERF_GAP_FLOOR);
        (*count)++;
    }
    return perf_sum_value(&saved);
}

static void print_high_gaps(const advice_page *page) {
    const sb_perf_report *report = page->report;
    size_t count = 0;
    const double saved = perf_high_gaps(report, &count);
    if (count == 0)
        return;
    put_title(page, "High op-to-op gaps");
    for (size_t i = 0; i < report->row_count; i++) {
        if (perf_gap_is_high(&report->rows[i]))
            perf_table_put_row(page->table, &report->rows[i], page->output);
    }
    const double total = report->totals.device_time + report->totals.gap;
    const bool is_gpu = perf_is_about_gpus(report);
    sb_put_format(
        page->output,
        "\nThe device waited more than %.1f μs before %zu %s%s. Capture the loop %s"
        " and replay it: gaps near %.0f μs would save %.0f μs (%.1f %% of the total).\n"
        "Also: do not read results back inside the loop (%s.\n\n",
        PERF_GAP_HIGH, count, report->options.top > 0 ? "of the rows shown" : "operation",
        count == 1 || report->options.top > 0 ? "" : "s", is_gpu ? "in a CUDA graph" : "as a trace",
        PERF_GAP_FLOOR, saved, total != 0 ? saved / total * 100 : 0,
        is_gpu ? "launches return at once, so the host can run ahead)"
               : "asynchronous mode lets the host run ahead); experts turn runtime arguments of "
                 "kernels into compile-time ones");
}

static void print_matmul(const advice_page *page, const sb_perf_row *row, sb_arena *arena) {
    const sb_perf_advice advice = sb_perf_advise(page->report, row, arena);
    const sb_colour colour = perf_row_is_grey(page->report, row) ? SB_GREY : SB_WHITE;
    perf_table_put_row(page->table, row, page->output);
    for (size_t i = 0; i < advice.count; i++) {
        const sb_slice line =
            sb_arena_format(arena, "- %.*s", (int)advice.items[i].size, advice.items[i].data);
        sb_put_painted(page->output, page->style, colour, line);
        sb_put_char(page->output, '\n');
    }
    if (advice.count == 0) {
        sb_put_painted(page->output, page->style, colour,
                       (sb_slice)SB_SLICE("✓ nothing to improve"));
        sb_put_char(page->output, '\n');
    }
    sb_put_char(page->output, '\n');
}

static void print_matmuls(const advice_page *page) {
    const sb_perf_report *report = page->report;
    bool any = false;
    for (size_t i = 0; i < report->row_count; i++) {
        if (report->rows[i].kind != SB_PERF_MATMUL)
            continue;
        if (!any)
            put_title(page, "Matmuls");
        any = true;
        sb_arena scratch = {0};
        print_matmul(page, &report->rows[i], &scratch);
        sb_arena_free(&scratch);
    }
}

void sb_perf_print_advice(const sb_perf_report *report, sb_style style, sb_output *output) {
    const advice_page page = {report, style, output, perf_table_layout(report, style)};
    sb_put_text(output, "\n💡 Advice 💡\n============\n\n");
    print_host_ops(&page);
    print_high_gaps(&page);
    print_matmuls(&page);
    perf_table_free(page.table);
}
