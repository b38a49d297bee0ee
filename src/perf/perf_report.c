#include "perf/perf_model.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this many problems only their number is kept. */
enum { PROBLEMS_KEPT = 1000 };

sb_perf_options sb_perf_defaults(void) {
    return (sb_perf_options){.grouping = SB_PERF_BY_MEMORY, .min_percentage = 0.5};
}

/* A number with commas and blanks in it; empty: the open end. */
static bool parse_range_end(sb_slice text, int64_t open_end, int64_t *value) {
    char digits[32];
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == ',')
            continue;
        if (count == sizeof digits)
            return false;
        digits[count++] = text.data[i];
    }
    if (text.size == 0) {
        *value = open_end;
        return true;
    }
    return sb_parse_int64((sb_slice){digits, count}, value);
}

bool sb_perf_parse_id_range(const char *text, sb_perf_id_range *range) {
    sb_slice rest;
    const sb_slice whole = sb_slice_of(text);
    const sb_slice first = sb_slice_cut(whole, '-', &rest);
    if (first.size == whole.size || memchr(rest.data, '-', rest.size) != NULL)
        return false;
    if (first.size == 0 && rest.size == 0)
        return false;
    range->given = true;
    return parse_range_end(first, INT64_MIN, &range->first) &&
           parse_range_end(rest, INT64_MAX, &range->last);
}

const char *sb_perf_bound_text(sb_perf_bound bound) {
    static const char *const texts[] = {"", "DRAM", "FLOP", "BOTH", "SLOW", "HOST"};
    assert((size_t)bound < sizeof texts / sizeof texts[0]);
    return texts[bound];
}

/* ---- notes and problems ---- */

void perf_note(sb_perf_store *store, bool is_warning, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    sb_perf_note *note = sb_vector_push(&store->notes);
    note->is_warning = is_warning;
    note->text = sb_arena_vformat(&store->arena, format, arguments);
    va_end(arguments);
}

void perf_problem(sb_perf_store *store, uint32_t host, int64_t row, const char *column,
                  const char *format, ...) {
    store->report.problem_count++;
    if (store->problems.count == PROBLEMS_KEPT)
        return;
    va_list arguments;
    va_start(arguments, format);
    sb_perf_problem *problem = sb_vector_push(&store->problems);
    problem->host = host;
    problem->row = row;
    problem->column = column;
    problem->text = /* it may quote a cell, and a cell may hold anything */
        sb_utf8_clean(&store->arena, sb_arena_vformat(&store->arena, format, arguments));
    va_end(arguments);
}

sb_slice sb_perf_describe(const sb_perf_report *report, const sb_perf_problem *problem,
                          sb_arena *arena) {
    sb_output text = sb_output_to_memory();
    if (report->host_count > 1)
        sb_put_format(&text, "%s: ", report->hosts[problem->host]);
    if (problem->row > 0)
        sb_put_format(&text, "row %lld%s", (long long)problem->row,
                      problem->column != NULL ? ", " : ": ");
    if (problem->column != NULL)
        sb_put_format(&text, "column %s: ", problem->column);
    sb_put(&text, problem->text);
    const sb_slice whole = sb_output_text(&text);
    const sb_slice kept = sb_arena_format(arena, "%.*s", (int)whole.size, whole.data);
    sb_output_discard(&text);
    return kept;
}

/* ---- texts that are looked at once ---- */

static sb_perf_kind kind_of(sb_slice code) {
    if (sb_slice_contains(code, "Matmul"))
        return SB_PERF_MATMUL;
    if (sb_slice_contains(code, "OptimizedConvNew") || sb_slice_contains(code, "Conv2d"))
        return SB_PERF_CONV;
    if (sb_slice_contains(code, "HaloDeviceOperation"))
        return SB_PERF_HALO;
    return SB_PERF_OTHER_OP;
}

const perf_op *perf_intern_op(sb_perf_store *store, sb_slice code) {
    const uint32_t index = sb_intern_add(&store->op_codes, code);
    if (index == store->ops.count) {
        perf_op *op = sb_arena_alloc_zeroed(&store->arena, sizeof *op);
        op->code = sb_intern_text(&store->op_codes, index);
        op->kind = kind_of(code);
        op->is_host = sb_slice_contains(code, "(torch)");
        op->is_collective = sb_slice_contains(code, "AllGather") ||
                            sb_slice_contains(code, "ReduceScatter") ||
                            sb_slice_contains(code, "AllReduce");
        if (op->is_host && !store->options.compat)
            op->kind = SB_PERF_OTHER_OP; /* no model of a device fits what ran on the host */
        *(perf_op **)sb_vector_push(&store->ops) = op;
    }
    return *(perf_op **)sb_vector_at(&store->ops, index);
}

const perf_attributes *perf_intern_attributes(sb_perf_store *store, sb_slice text) {
    const uint32_t index = sb_intern_add(&store->attribute_texts, text);
    if (index == store->attributes.count) {
        const sb_slice kept = sb_intern_text(&store->attribute_texts, index);
        perf_attributes *attributes = sb_arena_alloc(&store->arena, sizeof *attributes);
        const bool compat = store->options.compat;
        *attributes =
            perf_parse_attributes(compat ? kept : sb_utf8_clean(&store->arena, kept), compat);
        *(perf_attributes **)sb_vector_push(&store->attributes) = attributes;
    }
    return *(perf_attributes **)sb_vector_at(&store->attributes, index);
}

/* ---- the whole analysis ---- */

static sb_perf_store *make_store(const sb_perf_options *options, const sb_perf_input *inputs,
                                 size_t input_count) {
    sb_perf_store *store = sb_alloc_zeroed(1, sizeof *store);
    store->options = *options;
    sb_intern_init(&store->texts);
    sb_intern_init(&store->op_codes);
    sb_intern_init(&store->attribute_texts);
    store->ops = sb_vector_of(sizeof(perf_op *));
    store->attributes = sb_vector_of(sizeof(perf_attributes *));
    store->records = sb_vector_of(sizeof(perf_record));
    store->rows = sb_vector_of(sizeof(sb_perf_row));
    store->groups = sb_vector_of(sizeof(sb_perf_group));
    store->notes = sb_vector_of(sizeof(sb_perf_note));
    store->summary_notes = sb_vector_of(sizeof(sb_perf_note));
    store->problems = sb_vector_of(sizeof(sb_perf_problem));
    store->host_names = sb_arena_alloc(&store->arena, input_count * sizeof(char *));
    for (size_t i = 0; i < input_count; i++)
        store->host_names[i] = sb_arena_format(&store->arena, "%s", inputs[i].host).data;
    store->report.hosts = store->host_names;
    store->report.host_count = input_count;
    store->report.options = *options;
    store->report.store = store;
    return store;
}

static void free_store(sb_perf_store *store) {
    free(store->order);
    sb_intern_free(&store->texts);
    sb_intern_free(&store->op_codes);
    sb_intern_free(&store->attribute_texts);
    sb_vector_free(&store->ops);
    sb_vector_free(&store->attributes);
    sb_vector_free(&store->records);
    sb_vector_free(&store->rows);
    sb_vector_free(&store->groups);
    sb_vector_free(&store->notes);
    sb_vector_free(&store->summary_notes);
    sb_vector_free(&store->problems);
    sb_arena_free(&store->arena);
    free(store);
}

static sb_status check_device_ops(const sb_perf_store *store, const sb_perf_input *inputs,
                                  size_t input_count, sb_error *error) {
    if (store->options.compat)
        return SB_OK;
    size_t signposts = 0;
    for (size_t i = 0; i < store->records.count; i++) {
        const perf_record *record = sb_vector_at(&store->records, i);
        if (record->type == PERF_DEVICE_OP)
            return SB_OK;
        signposts += record->type == PERF_SIGNPOST_MARK ? 1 : 0;
    }
    SB_FAIL(error, SB_ERR_EMPTY,
            "%s%s: there are no device ops in it (%zu records, %zu of them signposts); expected "
            "are records with OP TYPE tt_dnn_device: was the program run with the device profiler "
            "on?",
            inputs[0].name, input_count > 1 ? " and the other files" : "", store->records.count,
            signposts);
}

static void publish(sb_perf_store *store) {
    sb_perf_report *report = &store->report;
    report->rows = (sb_perf_row *)(void *)store->rows.data;
    report->row_count = store->rows.count;
    report->groups = (sb_perf_group *)(void *)store->groups.data;
    report->group_count = store->groups.count;
    report->notes = (const sb_perf_note *)(const void *)store->notes.data;
    report->note_count = store->notes.count;
    report->summary_notes = (const sb_perf_note *)(const void *)store->summary_notes.data;
    report->summary_note_count = store->summary_notes.count;
    report->problems = (const sb_perf_problem *)(const void *)store->problems.data;
    report->problems_kept = store->problems.count;
}

static int compare_cost(const void *a, const void *b) {
    const sb_perf_row *first = a;
    const sb_perf_row *second = b;
    const double x = sb_perf_or_zero(first->total_percent);
    const double y = sb_perf_or_zero(second->total_percent);
    if (x != y)
        return x > y ? -1 : 1;
    return (first->id > second->id) - (first->id < second->id);
}

/* Leaves the costliest rows; totals and summary were made from all of them. */
static void keep_top(sb_perf_store *store) {
    const size_t top = store->options.top;
    if (top == 0)
        return;
    if (store->rows.count > 0)
        qsort(store->rows.data, store->rows.count, store->rows.element_size, compare_cost);
    if (store->rows.count > top)
        store->rows.count = top;
}

static sb_status analyse(sb_perf_store *store, const sb_perf_input *inputs, size_t input_count,
                         sb_error *error) {
    SB_TRY(perf_read_inputs(store, inputs, input_count, error));
    SB_TRY(check_device_ops(store, inputs, input_count, error));
    perf_sort_and_cut(store);
    SB_TRY(perf_merge_devices(store, error));
    perf_analyse_rows(store);
    free(store->order); /* rows carry all that is needed from here on */
    store->order = NULL;
    sb_vector_free(&store->records);
    perf_derive(store);
    perf_summarise(store);
    publish(store);
    perf_judge(store);
    keep_top(store);
    publish(store);
    return SB_OK;
}

sb_status sb_perf_analyse(const sb_perf_options *options, const sb_perf_input *inputs,
                          size_t input_count, sb_perf_report **report, sb_error *error) {
    assert(input_count > 0);
    *report = NULL;
    sb_perf_store *store = make_store(options, inputs, input_count);
    const sb_status status = analyse(store, inputs, input_count, error);
    if (status == SB_OK)
        *report = &store->report;
    else
        free_store(store);
    return status;
}

void sb_perf_free(sb_perf_report *report) {
    if (report != NULL)
        free_store(report->store);
}

/* ---- sums ---- */

void perf_sum_add(perf_sum *sum, double value) {
    if (!sum->started) {
        sum->sum = value;
        sum->started = true;
        return;
    }
    const double total = sum->sum + value;
    if (fabs(sum->sum) >= fabs(value))
        sum->lost += (sum->sum - total) + value;
    else
        sum->lost += (value - total) + sum->sum;
    sum->sum = total;
}

double perf_sum_value(const perf_sum *sum) {
    return isfinite(sum->lost) ? sum->sum + sum->lost : sum->sum;
}
