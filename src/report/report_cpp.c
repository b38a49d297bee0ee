#include "report/report_cpp.h"

#include <math.h>
#include <stdlib.h>

_Static_assert(REPORT_COLUMNS <= 64, "a bit per column");

static const char *const cycle_titles[REPORT_CYCLES] = {
    "DEVICE KERNEL START CYCLE",
    "DEVICE KERNEL END CYCLE",
    "DEVICE KERNEL DM START CYCLE",
    "DEVICE KERNEL DM END CYCLE",
    "DEVICE QUASAR_DM KERNEL START CYCLE",
    "DEVICE QUASAR_DM KERNEL END CYCLE",
    "DEVICE QUASAR_NEO_TRISC KERNEL START CYCLE",
    "DEVICE QUASAR_NEO_TRISC KERNEL END CYCLE",
};

enum { NOT_USED = -1, FIRST_CYCLE = REPORT_COLUMNS };

/* What a field of the file is: a column, a cycle behind those, or nothing that is needed. */
static int meaning_of(sb_slice title) {
    const report_column column = report_column_of_title(title);
    if (column != REPORT_COLUMNS)
        return (int)column;
    for (int i = 0; i < REPORT_CYCLES; i++) {
        if (sb_slice_is(title, cycle_titles[i]))
            return FIRST_CYCLE + i;
    }
    return NOT_USED;
}

static bool parse_value(sb_slice text, int64_t *value) {
    double real = 0;
    if (text.size == 0)
        return false;
    if (sb_parse_int64(text, value))
        return true;
    if (!sb_parse_double(text, &real) || !(fabs(real) < 9e18))
        return false;
    *value = (int64_t)real;
    return true;
}

static void take_field(report_cpp *cpp, report_cpp_row *row, int meaning, sb_slice text) {
    int64_t value = 0;
    if (meaning == NOT_USED)
        return;
    if (meaning == REPORT_COLUMN_ARCH)
        row->arch = sb_arena_copy(&cpp->arena, text);
    else if (meaning == REPORT_COLUMN_LATENCY)
        row->latency = sb_arena_copy(&cpp->arena, text);
    else if (meaning == REPORT_COLUMN_LATENCY_MOVER)
        row->latency_mover = sb_arena_copy(&cpp->arena, text);
    else if (!parse_value(text, &value))
        return;
    else if (meaning < FIRST_CYCLE) {
        row->values[meaning] = value;
        row->present |= UINT64_C(1) << meaning;
    } else {
        row->cycles[meaning - FIRST_CYCLE] = value;
        row->cycles_present |= UINT32_C(1) << (meaning - FIRST_CYCLE);
    }
}

static void keep_row(report_cpp *cpp, report_cpp_row *row) {
    row->device = row->values[REPORT_COLUMN_DEVICE];
    row->id = (uint64_t)row->values[REPORT_COLUMN_ID];
    row->trace = report_cpp_has(row, REPORT_COLUMN_TRACE) ? row->values[REPORT_COLUMN_TRACE]
                                                          : REPORT_NO_TRACE;
    row->session = report_cpp_has(row, REPORT_COLUMN_SESSION) ? row->values[REPORT_COLUMN_SESSION]
                                                              : REPORT_NO_TRACE;
    const int64_t key[] = {row->device, (int64_t)row->id, row->trace, row->session};
    const uint32_t index = sb_intern_add(&cpp->keys, (sb_slice){(const char *)key, sizeof key});
    report_cpp_row *kept =
        index == cpp->rows.count ? sb_vector_push(&cpp->rows) : sb_vector_at(&cpp->rows, index);
    *kept = *row;
}

static void take_row(report_cpp *cpp, const sb_csv *csv, const int *meanings, size_t count) {
    const sb_slice none = {"", 0};
    report_cpp_row row = {.arch = none, .latency = none, .latency_mover = none};
    for (size_t i = 0; i < csv->field_count && i < count; i++)
        take_field(cpp, &row, meanings[i], sb_slice_trim(csv->fields[i]));
    if (report_cpp_has(&row, REPORT_COLUMN_DEVICE) && report_cpp_has(&row, REPORT_COLUMN_ID))
        keep_row(cpp, &row);
    else
        cpp->bad_rows++;
}

static int compare_rows(const report_cpp_row *left, const report_cpp_row *right) {
    if (left->device != right->device)
        return left->device < right->device ? -1 : 1;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return 0;
}

typedef struct sortable {
    const report_cpp_row *row;
    uint32_t index;
} sortable;

static int compare_sortables(const void *a, const void *b) {
    const sortable *left = a;
    const sortable *right = b;
    const int order = compare_rows(left->row, right->row);
    return order != 0 ? order : left->index < right->index ? -1 : 1;
}

static void sort_rows(report_cpp *cpp) {
    const size_t count = cpp->rows.count;
    sortable *rows = sb_alloc_zeroed(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = (sortable){sb_vector_at(&cpp->rows, i), (uint32_t)i};
    qsort(rows, count, sizeof *rows, compare_sortables);
    for (size_t i = 0; i < count; i++)
        *(uint32_t *)sb_vector_push(&cpp->sorted) = rows[i].index;
    free(rows);
}

void report_read_cpp(report_cpp *cpp, sb_slice text) {
    sb_csv csv;
    *cpp = (report_cpp){.rows = sb_vector_of(sizeof(report_cpp_row)),
                        .sorted = sb_vector_of(sizeof(uint32_t))};
    sb_intern_init(&cpp->keys);
    sb_csv_begin(&csv, text);
    if (sb_csv_next(&csv)) {
        const size_t count = csv.field_count;
        int *meanings = sb_alloc_zeroed(count + 1, sizeof *meanings);
        for (size_t i = 0; i < count; i++)
            meanings[i] = meaning_of(sb_slice_trim(csv.fields[i]));
        while (sb_csv_next(&csv))
            take_row(cpp, &csv, meanings, count);
        free(meanings);
    }
    sb_csv_end(&csv);
    sort_rows(cpp);
}

void report_cpp_free(report_cpp *cpp) {
    sb_vector_free(&cpp->rows);
    sb_vector_free(&cpp->sorted);
    sb_intern_free(&cpp->keys);
    sb_arena_free(&cpp->arena);
}

static const report_cpp_row *sorted_at(const report_cpp *cpp, size_t index) {
    return sb_vector_at(&cpp->rows, *(uint32_t *)sb_vector_at(&cpp->sorted, index));
}

size_t report_cpp_find(const report_cpp *cpp, int64_t device, uint64_t id, size_t *first) {
    const report_cpp_row wanted = {.device = device, .id = id};
    size_t low = 0;
    size_t high = cpp->sorted.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_rows(sorted_at(cpp, middle), &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < cpp->sorted.count && compare_rows(sorted_at(cpp, end), &wanted) == 0)
        end++;
    *first = low;
    return end - low;
}
