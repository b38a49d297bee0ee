/*
 * Shares of the total, what bounds a row, and the filters that leave rows out.
 */
#include "perf/perf_model.h"

/* For the original not-a-number is there too, and compares below every limit: SLOW. */
static bool is_usable(sb_perf_number percent, bool compat) {
    return (compat && percent.kind == SB_PERF_NAN) ||
           (percent.kind == SB_PERF_REAL && percent.value != 0);
}

static sb_perf_bound bound_of(const sb_perf_row *row, bool compat) {
    const bool has_flops = is_usable(row->flops_percent, compat);
    const bool has_dram = is_usable(row->dram_percent, compat);
    /* The original says nothing of work that touches no DRAM; plain mode judges its compute. */
    if (!has_flops || (!has_dram && compat))
        return SB_PERF_UNKNOWN;
    const bool dram = has_dram && row->dram_percent.value >= PERF_BOUND_PERCENT;
    const bool flop = row->flops_percent.value >= PERF_BOUND_PERCENT;
    if (dram && flop)
        return SB_PERF_BOTH;
    if (dram)
        return SB_PERF_DRAM;
    return flop ? SB_PERF_FLOP : SB_PERF_SLOW;
}

static void add_times(sb_perf_store *store, double *device_time, double *gap) {
    perf_sum times = {0};
    perf_sum gaps = {0};
    for (size_t i = 0; i < store->rows.count; i++) {
        const sb_perf_row *row = sb_vector_at(&store->rows, i);
        if (sb_perf_has(row->device_time))
            perf_sum_add(&times, row->device_time.value);
        if (sb_perf_has(row->gap))
            perf_sum_add(&gaps, row->gap.value);
    }
    *device_time = perf_sum_value(&times);
    *gap = perf_sum_value(&gaps);
}

static void set_share(sb_perf_row *row, double total) {
    row->total_percent = (sb_perf_number){0, SB_PERF_ABSENT};
    if (total == 0 || (!sb_perf_has(row->device_time) && !sb_perf_has(row->gap)))
        return;
    const double cost = sb_perf_or_zero(row->device_time) + sb_perf_or_zero(row->gap);
    row->total_percent = (sb_perf_number){cost / total * 100, SB_PERF_REAL};
}

static void set_bound(sb_perf_row *row, bool compat) {
    const bool is_compute = row->kind == SB_PERF_MATMUL || (!compat && row->kind == SB_PERF_CONV);
    if (is_compute) {
        row->bound = bound_of(row, compat);
    } else if (row->is_host_op) {
        row->bound = SB_PERF_HOST;
        row->device_time = (sb_perf_number){0, SB_PERF_ABSENT};
    }
}

static void derive_pass(sb_perf_store *store) {
    double device_time = 0;
    double gap = 0;
    add_times(store, &device_time, &gap);
    for (size_t i = 0; i < store->rows.count; i++) {
        sb_perf_row *row = sb_vector_at(&store->rows, i);
        set_share(row, device_time + gap);
        set_bound(row, store->options.compat);
    }
}

static void note_range(sb_perf_store *store, sb_perf_id_range range) {
    if (range.first == INT64_MIN)
        perf_note(store, false, "Rows with IDs up to %lld only", (long long)range.last);
    else if (range.last == INT64_MAX)
        perf_note(store, false, "Rows with IDs from %lld on only", (long long)range.first);
    else
        perf_note(store, false, "Rows with IDs from %lld to %lld only", (long long)range.first,
                  (long long)range.last);
}

static void filter_rows(sb_perf_store *store) {
    const sb_perf_id_range range = store->options.id_range;
    size_t kept = 0;
    bool first = true;
    if (range.given)
        note_range(store, range);
    for (size_t i = 0; i < store->rows.count; i++) {
        sb_perf_row *row = sb_vector_at(&store->rows, i);
        if (range.given && (row->id < range.first || row->id > range.last))
            continue;
        if (range.given && first)
            row->gap = (sb_perf_number){0, SB_PERF_ABSENT};
        first = false;
        if (store->options.no_host_ops && row->is_host_op)
            continue;
        *(sb_perf_row *)sb_vector_at(&store->rows, kept++) = *row;
    }
    store->rows.count = kept;
}

/* Twice, since host ops lose their time in the first pass and rows are lost between the two. */
void perf_derive(sb_perf_store *store) {
    derive_pass(store);
    filter_rows(store);
    derive_pass(store);
    add_times(store, &store->report.totals.device_time, &store->report.totals.gap);
}
