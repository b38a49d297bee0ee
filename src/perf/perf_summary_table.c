/*
 * The summary as text.
 */
#include "perf/perf_model.h"

#include <stdio.h>
#include <stdlib.h>

typedef enum summary_column {
    SUMMARY_TOTAL,
    SUMMARY_OP_CODE,
    SUMMARY_DEVICE,
    SUMMARY_TIME,
    SUMMARY_COUNT,
    SUMMARY_CATEGORY,
    SUMMARY_MIN,
    SUMMARY_MAX,
    SUMMARY_MEAN,
    SUMMARY_DEVIATION,
    SUMMARY_WEIGHTED,
    SUMMARY_COLUMNS,
} summary_column;

static const char *const titles[SUMMARY_COLUMNS] = {
    "Total %",
    "Op Code",
    "Device",
    "Device Time Sum",
    "Op Count",
    "Op Category",
    "Min FLOPs",
    "Max FLOPs",
    "Mean FLOPs",
    "Std FLOPs",
    "Weighted Mean FLOPs",
};

/* Large enough for a number with its unit. */
enum { CELL_SIZE = SB_NUMBER_SIZE + 16 };

static sb_slice format_number(double value, const char *unit, char text[CELL_SIZE]) {
    char digits[SB_NUMBER_SIZE];
    const size_t size = sb_format_fixed(value, 2, true, digits);
    const int length = snprintf(text, CELL_SIZE, "%.*s %s", (int)size, digits, unit);
    return (sb_slice){text, (size_t)length};
}

static sb_slice format_optional(sb_perf_number number, char text[CELL_SIZE]) {
    return sb_perf_has(number) ? format_number(number.value, "%", text) : (sb_slice){"", 0};
}

static sb_slice format_count(double value, char text[CELL_SIZE]) {
    return (sb_slice){text, (size_t)snprintf(text, CELL_SIZE, "%.0f", value)};
}

static sb_slice format_cell(const sb_perf_group *group, summary_column column,
                            char text[CELL_SIZE]) {
    switch (column) {
    case SUMMARY_TOTAL:
        return format_number(group->total_percent, "%", text);
    case SUMMARY_OP_CODE:
        return group->key;
    case SUMMARY_DEVICE:
        return sb_perf_has(group->device) ? format_count(group->device.value, text)
                                          : (sb_slice){"", 0};
    case SUMMARY_TIME:
        return format_number(group->device_time, "μs", text);
    case SUMMARY_COUNT:
        return format_count((double)group->op_count, text);
    case SUMMARY_CATEGORY:
        return sb_slice_of(group->category);
    case SUMMARY_MIN:
        return format_optional(group->flops_min, text);
    case SUMMARY_MAX:
        return format_optional(group->flops_max, text);
    case SUMMARY_MEAN:
        return format_optional(group->flops_mean, text);
    case SUMMARY_DEVIATION:
        return format_optional(group->flops_deviation, text);
    case SUMMARY_WEIGHTED:
        return format_optional(group->flops_weighted, text);
    case SUMMARY_COLUMNS:
        break;
    }
    return (sb_slice){"", 0};
}

typedef struct summary_table {
    const sb_perf_report *report;
    sb_style style;
    const sb_perf_group **order;
    size_t group_count;
    size_t count;
    summary_column which[SUMMARY_COLUMNS];
    sb_column columns[SUMMARY_COLUMNS];
} summary_table;

static bool is_shown(const sb_perf_report *report, summary_column column) {
    if (column == SUMMARY_DEVICE)
        return report->options.no_merge_devices;
    return column <= SUMMARY_COUNT || report->groups_have_flops;
}

static void lay_out(summary_table *table) {
    for (int i = 0; i < SUMMARY_COLUMNS; i++) {
        if (!is_shown(table->report, (summary_column)i))
            continue;
        const bool left = i == SUMMARY_OP_CODE;
        sb_column *column = &table->columns[table->count];
        *column = (sb_column){.title = titles[i], .left = left, .title_left = left};
        column->width = sb_utf8_length(sb_slice_of(titles[i]));
        table->which[table->count++] = (summary_column)i;
    }
    char text[CELL_SIZE];
    for (size_t i = 0; i < table->group_count; i++) {
        for (size_t k = 0; k < table->count; k++)
            sb_column_fit(&table->columns[k],
                          sb_utf8_length(format_cell(table->order[i], table->which[k], text)));
    }
}

static void print_group(const summary_table *table, const sb_perf_group *group, sb_output *output) {
    char texts[SUMMARY_COLUMNS][CELL_SIZE];
    sb_cell cells[SUMMARY_COLUMNS];
    sb_output painted = sb_output_to_memory();
    for (size_t i = 0; i < table->count; i++) {
        sb_slice text = format_cell(group, table->which[i], texts[i]);
        const size_t width = sb_utf8_length(text);
        if (table->which[i] == SUMMARY_OP_CODE) {
            sb_put_painted(&painted, table->style, perf_op_colour(text), text);
            text = sb_output_text(&painted);
        }
        cells[i] = (sb_cell){text, width};
    }
    sb_table_row(output, table->columns, cells, table->count);
    sb_output_discard(&painted);
}

/* The original sorts the shares as text when devices are kept apart: "9.95 %" before "59.16 %". */
static int compare_as_text(const sb_perf_group *a, const sb_perf_group *b) {
    char first[CELL_SIZE];
    char second[CELL_SIZE];
    return -sb_slice_compare(format_number(a->total_percent, "%", first),
                             format_number(b->total_percent, "%", second));
}

static int compare_by_device(const void *a, const void *b, bool compat) {
    const sb_perf_group *first = *(const sb_perf_group *const *)a;
    const sb_perf_group *second = *(const sb_perf_group *const *)b;
    if (first->device.value != second->device.value)
        return first->device.value > second->device.value ? 1 : -1;
    const int order = compat ? compare_as_text(first, second) : 0;
    if (order != 0)
        return order;
    return (first > second) - (first < second); /* groups come largest first */
}

static int compare_compat(const void *a, const void *b) {
    return compare_by_device(a, b, true);
}

static int compare_plain(const void *a, const void *b) {
    return compare_by_device(a, b, false);
}

static void order_groups(summary_table *table) {
    const sb_perf_report *report = table->report;
    const size_t top = report->options.top;
    table->order = sb_alloc_zeroed(report->group_count, sizeof(sb_perf_group *));
    for (size_t i = 0; i < report->group_count; i++)
        table->order[i] = &report->groups[i];
    table->group_count = top > 0 && top < report->group_count ? top : report->group_count;
    if (report->options.no_merge_devices && table->group_count > 0)
        qsort(table->order, table->group_count, sizeof(sb_perf_group *),
              report->options.compat ? compare_compat : compare_plain);
}

void sb_perf_print_summary(const sb_perf_report *report, sb_style style, sb_output *output) {
    summary_table table = {.report = report, .style = style};
    order_groups(&table);
    lay_out(&table);
    sb_put_text(output, "\n📊 Stacked report 📊\n====================\n\n");
    sb_table_header(output, table.columns, table.count);
    sb_table_rule(output, table.columns, table.count);
    for (size_t i = 0; i < table.group_count; i++)
        print_group(&table, table.order[i], output);
    sb_table_rule(output, table.columns, table.count);
    free(table.order);
}
