/*
 * ops_perf_results.csv: the header, then row by row.
 */
#include <stdlib.h>
#include <string.h>

#include "report/report_counters.h"
#include "report/report_model.h"

/* Columns whose number depends on the run, in the order in which they are written. */
typedef struct layout {
    report_column columns[REPORT_COLUMNS];
    size_t head; /* fixed columns before the tensors */
    size_t all;
    uint32_t *sizes; /* columns of kernel sizes in order */
    size_t size_count;
    uint32_t *children; /* names of child calls in order */
    size_t child_count;
    report_metrics *metrics;
} layout;

/* ---- kernel sizes: by class of processor, then by its number ---- */

static int class_rank(sb_slice title) {
    static const char *const classes[] = {"TENSIX DM ", "TENSIX COMPUTE ", "ACTIVE ETH DM ",
                                          "IDLE ETH DM "};
    const int count = (int)(sizeof classes / sizeof classes[0]);
    for (int i = 0; i < count; i++) {
        if (sb_slice_starts_with(title, classes[i]))
            return i;
    }
    return count;
}

static uint64_t class_number(sb_slice title) {
    static const char suffix[] = " MAX KERNEL SIZE [B]";
    uint64_t number = 0;
    if (!sb_slice_ends_with(title, suffix))
        return 0;
    sb_slice rest = sb_slice_first(title, title.size - strlen(suffix));
    for (size_t at = sb_slice_find(rest, " "); at != SB_NOT_FOUND; at = sb_slice_find(rest, " "))
        rest = sb_slice_after(rest, at + 1);
    return report_parse_number(rest, &number) ? number : 0;
}

typedef struct titled {
    sb_slice title;
    uint32_t index;
} titled;

static int compare_sizes(const void *a, const void *b) {
    const titled *left = a;
    const titled *right = b;
    const int ranks[] = {class_rank(left->title), class_rank(right->title)};
    if (ranks[0] != ranks[1])
        return ranks[0] - ranks[1];
    const uint64_t numbers[] = {class_number(left->title), class_number(right->title)};
    if (numbers[0] != numbers[1])
        return numbers[0] < numbers[1] ? -1 : 1;
    return sb_slice_compare(left->title, right->title);
}

static int compare_titles(const void *a, const void *b) {
    return sb_slice_compare(((const titled *)a)->title, ((const titled *)b)->title);
}

static uint32_t *sort_titles(const sb_intern *map, int (*compare)(const void *, const void *),
                             size_t *count) {
    *count = sb_intern_count(map);
    titled *titles = sb_alloc_zeroed(*count + 1, sizeof *titles);
    uint32_t *sorted = sb_alloc_zeroed(*count + 1, sizeof *sorted);
    for (uint32_t i = 0; i < *count; i++)
        titles[i] = (titled){sb_intern_text(map, i), i};
    qsort(titles, *count, sizeof *titles, compare);
    for (size_t i = 0; i < *count; i++)
        sorted[i] = titles[i].index;
    free(titles);
    return sorted;
}

static void make_layout(const sb_report *report, layout *out) {
    const bool is_quasar = sb_slice_contains(report->device.log.arch, "quasar");
    out->head = report_fixed_columns(is_quasar, out->columns, &out->all);
    out->sizes = sort_titles(&report->host.kernel_sizes, compare_sizes, &out->size_count);
    out->metrics = report_metrics_create(report);
    out->children = sort_titles(&report->host.child_names, compare_titles, &out->child_count);
}

/* ---- the header ---- */

static void put_title(sb_output *output, const char *title, bool is_first) {
    if (!is_first)
        sb_put_char(output, ',');
    sb_put_csv(output, sb_slice_of(title));
}

static void put_tensor_titles(sb_output *output, const char *kind, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (int cell = 0; cell < REPORT_TENSOR_CELLS; cell++)
            sb_put_format(output, ",%s_%zu_%s", kind, i, report_tensor_title(cell));
    }
}

static void put_header(const sb_report *report, const layout *columns, sb_output *output) {
    for (size_t i = 0; i < columns->all; i++) {
        put_title(output, report_column_title(columns->columns[i]), i == 0);
        if (i + 1 == columns->head) {
            put_tensor_titles(output, "INPUT", report->host.max_inputs);
            put_tensor_titles(output, "OUTPUT", report->host.max_outputs);
        }
        for (size_t k = 0;
             columns->columns[i] == REPORT_COLUMN_CACHE_HIT && k < columns->size_count; k++) {
            sb_put_char(output, ',');
            sb_put_csv(output, sb_intern_text(&report->host.kernel_sizes, columns->sizes[k]));
        }
    }
    report_put_counter_titles(columns->metrics, output);
    for (size_t i = 0; i < columns->child_count; i++) {
        const sb_slice name = sb_intern_text(&report->host.child_names, columns->children[i]);
        sb_put_format(output, ",%.*s_TT_HOST_FUNC [ns]", (int)name.size, name.data);
    }
    if (!report->options.compat)
        sb_put_text(output, ",COMPLETENESS");
    sb_put_text(output, "\r\n");
}

/* ---- a row ---- */

static void put_tensors(const sb_slice *cells, size_t count, size_t columns, sb_output *output) {
    for (size_t i = 0; i < columns * REPORT_TENSOR_CELLS; i++) {
        sb_put_char(output, ',');
        if (i < count * REPORT_TENSOR_CELLS)
            sb_put_csv(output, cells[i]);
    }
}

static void put_sizes(const report_op_info *info, const layout *columns, sb_output *output) {
    for (size_t i = 0; i < columns->size_count; i++) {
        sb_put_char(output, ',');
        for (size_t k = 0; info != NULL && k < info->kernel_size_count; k++) {
            if (info->kernel_sizes[k].column == columns->sizes[i])
                sb_put_csv(output, info->kernel_sizes[k].text);
        }
    }
}

static void put_children(const sb_report *report, uint32_t first, const layout *columns,
                         sb_output *output) {
    for (size_t i = 0; i < columns->child_count; i++) {
        sb_put_char(output, ',');
        for (uint32_t at = first; at != 0;) {
            const report_child *child = sb_vector_at(&report->host.children, at - 1);
            if (child->name == columns->children[i])
                sb_put_format(output, "%lld", (long long)child->total);
            at = child->next;
        }
    }
}

static void put_row(const sb_report *report, report_cells *cells, const report_row *row,
                    const layout *columns, sb_output *output) {
    const report_op_info *info = cells->info;
    for (size_t i = 0; i < columns->all; i++) {
        if (i > 0)
            sb_put_char(output, ',');
        sb_put_csv(output, cells->cells[columns->columns[i]]);
        if (i + 1 == columns->head) {
            put_tensors(info == NULL ? NULL : info->inputs, info == NULL ? 0 : info->input_count,
                        report->host.max_inputs, output);
            put_tensors(info == NULL ? NULL : info->outputs, info == NULL ? 0 : info->output_count,
                        report->host.max_outputs, output);
        }
        if (columns->columns[i] == REPORT_COLUMN_CACHE_HIT)
            put_sizes(info, columns, output);
    }
    report_put_counters(columns->metrics, cells, output);
    put_children(report, cells->children, columns, output);
    if (!report->options.compat) {
        sb_put_char(output, ',');
        sb_put_text(output, sb_completeness_name(row->completeness));
    }
    sb_put_text(output, "\r\n");
}

void report_put_ops_csv(sb_report *report, sb_output *output) {
    layout columns;
    make_layout(report, &columns);
    put_header(report, &columns, output);
    report_cells *cells = report_cells_create(report);
    for (size_t i = 0; i < report->rows.count; i++) {
        const report_row *row = sb_vector_at(&report->rows, i);
        report_fill_cells(cells, row);
        put_row(report, cells, row, &columns, output);
    }
    report_cells_free(cells);
    report_metrics_free(columns.metrics);
    free(columns.sizes);
    free(columns.children);
}
