/*
 * The table of operations as text.
 */
#include "perf/perf_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- colours ---- */

static const struct {
    const char *part;
    sb_colour colour;
} op_colours[] = {
    {"(torch)", SB_RED},
    {"Matmul", SB_MAGENTA},
    {"OptimizedConvNew", SB_ORANGE},
    {"Conv2d", SB_ORANGE},
    {"LayerNorm", SB_CYAN},
    {"AllGather", SB_CYAN},
    {"AllReduce", SB_CYAN},
    {"ScaledDotProductAttentionDecode", SB_BLUE},
    {"ScaledDotProductAttentionGQADecode", SB_BLUE},
    {"NlpCreateHeadsDeviceOperation", SB_BLUE},
    {"NLPConcatHeadsDecodeDeviceOperation", SB_BLUE},
    {"UpdateCache", SB_BLUE},
};

sb_colour perf_op_colour(sb_slice op_code) {
    for (size_t i = 0; i < sizeof op_colours / sizeof op_colours[0]; i++) {
        if (sb_slice_contains(op_code, op_colours[i].part))
            return op_colours[i].colour;
    }
    return SB_WHITE;
}

bool perf_row_is_grey(const sb_perf_report *report, const sb_perf_row *row) {
    return sb_perf_has(row->total_percent) && !row->is_host_op &&
           row->total_percent.value < report->options.min_percentage;
}

/* ---- columns ---- */

typedef enum table_column {
    COLUMN_ID,
    COLUMN_TOTAL,
    COLUMN_BOUND,
    COLUMN_OP_CODE,
    COLUMN_HOST,
    COLUMN_DEVICE,
    COLUMN_TIME,
    COLUMN_GAP,
    COLUMN_CORES,
    COLUMN_DRAM,
    COLUMN_DRAM_PERCENT,
    COLUMN_FLOPS,
    COLUMN_FLOPS_PERCENT,
    COLUMN_UTILISATION,
    COLUMN_FIDELITY,
    TABLE_COLUMNS,
} table_column;

static const char *const column_titles[TABLE_COLUMNS] = {
    [COLUMN_ID] = "ID",
    [COLUMN_TOTAL] = "Total %",
    [COLUMN_BOUND] = "Bound",
    [COLUMN_OP_CODE] = "OP Code",
    [COLUMN_HOST] = "Host",
    [COLUMN_DEVICE] = "Device",
    [COLUMN_TIME] = "Device Time",
    [COLUMN_GAP] = "Op-to-Op Gap",
    [COLUMN_CORES] = "Cores",
    [COLUMN_DRAM] = "DRAM",
    [COLUMN_DRAM_PERCENT] = "DRAM %",
    [COLUMN_FLOPS] = "FLOPs",
    [COLUMN_FLOPS_PERCENT] = "FLOPs %",
    [COLUMN_UTILISATION] = "Util %",
    [COLUMN_FIDELITY] = "Math Fidelity",
};

struct perf_table {
    const sb_perf_report *report;
    sb_style style;
    size_t count;
    table_column which[TABLE_COLUMNS];
    sb_column columns[TABLE_COLUMNS];
    sb_output text; /* cells of the current row */
};

static bool is_column_shown(const sb_perf_report *report, table_column column) {
    if (column == COLUMN_HOST)
        return !report->options.compat && report->host_count > 1;
    if (column == COLUMN_UTILISATION)
        return !report->options.compat;
    return true;
}

static bool is_text(table_column column) {
    return column == COLUMN_BOUND || column == COLUMN_OP_CODE || column == COLUMN_HOST ||
           column == COLUMN_FIDELITY;
}

/* ---- cells ---- */

/* How numbers of a column are written. */
typedef struct number_format {
    int decimals;
    const char *unit;
    size_t unit_width; /* with the blank in front */
} number_format;

static number_format format_of(table_column column) {
    switch (column) {
    case COLUMN_TOTAL:
    case COLUMN_DRAM_PERCENT:
    case COLUMN_FLOPS_PERCENT:
    case COLUMN_UTILISATION:
        return (number_format){1, "%", 2};
    case COLUMN_TIME:
    case COLUMN_GAP:
        return (number_format){0, "μs", 3};
    case COLUMN_DRAM:
        return (number_format){0, "GB/s", 5};
    case COLUMN_FLOPS:
        return (number_format){1, "TFLOPs", 7};
    default:
        return (number_format){0, "", 0};
    }
}

static size_t put_number(perf_table *table, sb_perf_number number, number_format format,
                         sb_colour colour) {
    if (!sb_perf_has(number) || isnan(number.value))
        return 0;
    char digits[SB_NUMBER_SIZE];
    const size_t size = sb_format_fixed(number.value, format.decimals, true, digits);
    sb_put_painted(&table->text, table->style, colour, (sb_slice){digits, size});
    if (format.unit_width > 0) {
        sb_put_char(&table->text, ' ');
        sb_put_painted(&table->text, table->style, colour, sb_slice_of(format.unit));
    }
    return size + format.unit_width;
}

static size_t put_text(perf_table *table, sb_slice text, sb_colour colour) {
    sb_put_painted(&table->text, table->style, colour, text);
    return sb_utf8_length(text);
}

static bool is_split(sb_slice op_code) {
    return sb_slice_contains(op_code, "Matmul") || sb_slice_contains(op_code, "OptimizedConvNew") ||
           sb_slice_contains(op_code, "Conv2dDeviceOperation") ||
           sb_slice_contains(op_code, "HaloDeviceOperation");
}

/* The original prints a text that reads as a number as one: "1e5" becomes 100,000. */
static sb_slice shown_op_code(const perf_table *table, const sb_perf_row *row,
                              char digits[SB_NUMBER_SIZE]) {
    double value = 0;
    if (!table->report->options.compat || !sb_parse_double(row->op_code, &value))
        return row->op_code;
    return (sb_slice){digits, sb_format_fixed(value, 0, true, digits)};
}

static size_t put_op_code(perf_table *table, const sb_perf_row *row, sb_colour colour) {
    char digits[SB_NUMBER_SIZE];
    const sb_slice code = shown_op_code(table, row, digits);
    if (row->kind == SB_PERF_SIGNPOST) {
        /* The width of the whole text counts, though the mark is shorter than the word. */
        sb_put_text(&table->text, "🪧 ");
        const sb_slice name = sb_slice_first(code, code.size - strlen("(signpost)"));
        const bool trims = !table->style.colours;
        put_text(table, trims ? sb_slice_trim(name) : name, colour);
        return sb_utf8_length(trims ? sb_slice_trim(name) : name) + 2;
    }
    if (!is_split(code))
        return put_text(table, code, colour);
    sb_slice rest;
    const sb_slice first = sb_slice_first_word(code, &rest);
    put_text(table, first, colour);
    sb_put_char(&table->text, ' ');
    put_text(table, rest, colour);
    return sb_utf8_length(first) + 1 + sb_utf8_length(rest);
}

/* ---- colours of cells ---- */

static sb_colour cores_colour(const perf_table *table, const sb_perf_row *row) {
    if (!sb_perf_has(row->cores))
        return SB_GREY;
    const double full =
        table->report->options.compat ? PERF_COMPAT_FULL_GRID : row->available_cores;
    if (row->cores.value < 10)
        return SB_RED;
    return row->cores.value == full ? SB_GREEN : SB_PLAIN;
}

static sb_colour bound_colour(const sb_perf_row *row) {
    switch (row->bound) {
    case SB_PERF_DRAM:
    case SB_PERF_FLOP:
        return SB_GREEN;
    case SB_PERF_SLOW:
        return SB_YELLOW;
    case SB_PERF_HOST:
        return SB_RED;
    case SB_PERF_BOTH:
    case SB_PERF_UNKNOWN:
        break;
    }
    return SB_PLAIN;
}

/* The pair that comes closer to its peak is what a slow row should be improved on. */
static bool is_nearer_dram(const sb_perf_row *row) {
    return sb_perf_has(row->dram_percent) && sb_perf_has(row->flops_percent) &&
           row->dram_percent.value > row->flops_percent.value;
}

static sb_colour dram_colour(const sb_perf_row *row) {
    if (row->bound == SB_PERF_DRAM)
        return SB_GREEN;
    return row->bound == SB_PERF_SLOW && is_nearer_dram(row) ? SB_YELLOW : SB_PLAIN;
}

static sb_colour flops_colour(const sb_perf_row *row) {
    if (row->bound == SB_PERF_FLOP)
        return SB_GREEN;
    return row->bound == SB_PERF_SLOW && !is_nearer_dram(row) ? SB_YELLOW : SB_PLAIN;
}

static sb_colour fidelity_colour(const perf_table *table, const sb_perf_row *row) {
    const bool is_judged =
        row->kind == SB_PERF_MATMUL || sb_slice_contains(row->op_code, "OptimizedConvNew");
    if (!table->style.colours || !is_judged || row->math_fidelity.size == 0)
        return SB_PLAIN;
    switch (perf_judge_fidelity(row, NULL).class) {
    case PERF_FIDELITY_SUFFICIENT:
        return SB_GREEN;
    case PERF_FIDELITY_TOO_HIGH:
        return SB_RED;
    case PERF_FIDELITY_TOO_LOW:
        return SB_CYAN;
    case PERF_FIDELITY_UNKNOWN:
    case PERF_FIDELITY_NOT_APPLICABLE:
        break;
    }
    return SB_WHITE;
}

static sb_colour cell_colour(const perf_table *table, const sb_perf_row *row, table_column column) {
    if (!table->style.colours)
        return SB_PLAIN;
    if (perf_row_is_grey(table->report, row))
        return SB_GREY;
    switch (column) {
    case COLUMN_OP_CODE:
        return perf_op_colour(row->op_code);
    case COLUMN_CORES:
        return cores_colour(table, row);
    case COLUMN_BOUND:
        return bound_colour(row);
    case COLUMN_DRAM:
    case COLUMN_DRAM_PERCENT:
        return dram_colour(row);
    case COLUMN_FLOPS:
    case COLUMN_FLOPS_PERCENT:
        return flops_colour(row);
    case COLUMN_GAP:
        return perf_gap_is_high(row) ? SB_RED : SB_PLAIN;
    case COLUMN_FIDELITY:
        return fidelity_colour(table, row);
    default:
        return SB_PLAIN;
    }
}

/* ---- rows ---- */

/* The number in a column of numbers; absent for columns of text. */
static sb_perf_number number_in(const sb_perf_row *row, table_column column) {
    switch (column) {
    case COLUMN_ID:
        return (sb_perf_number){(double)row->id, SB_PERF_INTEGER};
    case COLUMN_TOTAL:
        return row->total_percent;
    case COLUMN_DEVICE:
        return row->device;
    case COLUMN_TIME:
        return row->device_time;
    case COLUMN_GAP:
        return row->gap;
    case COLUMN_CORES:
        return row->cores;
    case COLUMN_DRAM:
        return row->dram;
    case COLUMN_DRAM_PERCENT:
        return row->dram_percent;
    case COLUMN_FLOPS:
        return row->flops;
    case COLUMN_FLOPS_PERCENT:
        return row->flops_percent;
    case COLUMN_UTILISATION:
        return row->utilisation;
    default:
        return (sb_perf_number){0, SB_PERF_ABSENT};
    }
}

/* Puts one cell together and returns its width on the screen. */
static size_t put_cell(perf_table *table, const sb_perf_row *row, table_column column) {
    const sb_colour colour = cell_colour(table, row, column);
    char digits[SB_NUMBER_SIZE];
    switch (column) {
    case COLUMN_ID:
        return put_text(table, (sb_slice){digits, sb_format_int64(row->id, digits)}, colour);
    case COLUMN_BOUND:
        return put_text(table, sb_slice_of(sb_perf_bound_text(row->bound)), colour);
    case COLUMN_OP_CODE:
        return put_op_code(table, row, colour);
    case COLUMN_HOST:
        return put_text(table, sb_slice_of(table->report->hosts[row->host]), colour);
    case COLUMN_FIDELITY:
        return put_text(table, row->math_fidelity, colour);
    default:
        return put_number(table, number_in(row, column), format_of(column), colour);
    }
}

/* Rows that may have the widest cell of a column of numbers: a wide number is a large one. */
typedef struct extremes {
    const sb_perf_row *lowest;
    const sb_perf_row *highest;
} extremes;

static void note_extreme(extremes *found, const sb_perf_row *row, table_column column) {
    const sb_perf_number number = number_in(row, column);
    if (!sb_perf_has(number))
        return;
    if (found->lowest == NULL || number.value < number_in(found->lowest, column).value)
        found->lowest = row;
    if (found->highest == NULL || number.value > number_in(found->highest, column).value)
        found->highest = row;
}

/* How wide a cell counts, which is not always how wide it is printed. */
static size_t measure_cell(perf_table *table, const sb_perf_row *row, table_column column) {
    char digits[SB_NUMBER_SIZE];
    if (column == COLUMN_ID && table->report->options.compat)
        return sb_format_fixed((double)row->id, 0, true, digits);
    if (column == COLUMN_OP_CODE)
        return sb_utf8_length(shown_op_code(table, row, digits));
    sb_output_truncate(&table->text, 0);
    return put_cell(table, row, column);
}

static void fit_column(perf_table *table, sb_column *column, table_column which) {
    const sb_perf_report *report = table->report;
    extremes found = {NULL, NULL};
    for (size_t i = 0; i < report->row_count; i++) {
        const sb_perf_row *row = &report->rows[i];
        if (is_text(which))
            sb_column_fit(column, measure_cell(table, row, which));
        else
            note_extreme(&found, row, which);
    }
    if (found.lowest == NULL)
        return;
    sb_column_fit(column, measure_cell(table, found.lowest, which));
    sb_column_fit(column, measure_cell(table, found.highest, which));
}

perf_table *perf_table_layout(const sb_perf_report *report, sb_style style) {
    perf_table *table = sb_alloc_zeroed(1, sizeof *table);
    table->report = report;
    table->text = sb_output_to_memory();
    for (int i = 0; i < TABLE_COLUMNS; i++) {
        if (!is_column_shown(report, (table_column)i))
            continue;
        sb_column *column = &table->columns[table->count];
        *column =
            (sb_column){.title = column_titles[i], .left = i == COLUMN_OP_CODE, .title_left = true};
        column->width = i == COLUMN_DEVICE ? 7 : sb_utf8_length(sb_slice_of(column_titles[i]));
        fit_column(table, column, (table_column)i);
        table->which[table->count++] = (table_column)i;
    }
    table->style = style;
    return table;
}

void perf_table_free(perf_table *table) {
    sb_output_discard(&table->text);
    free(table);
}

/* Cells were put one after the other; ends says where each of them ends in the text. */
static void print_cells(perf_table *table, const size_t *ends, const size_t *widths,
                        sb_output *output) {
    sb_cell cells[TABLE_COLUMNS];
    size_t start = 0;
    const sb_slice text = sb_output_text(&table->text);
    for (size_t i = 0; i < table->count; i++) {
        cells[i] = (sb_cell){{text.data + start, ends[i] - start}, widths[i]};
        start = ends[i];
    }
    sb_table_row(output, table->columns, cells, table->count);
}

void perf_table_put_row(perf_table *table, const sb_perf_row *row, sb_output *output) {
    size_t ends[TABLE_COLUMNS] = {0};
    size_t widths[TABLE_COLUMNS] = {0};
    sb_output_truncate(&table->text, 0);
    for (size_t i = 0; i < table->count; i++) {
        widths[i] = put_cell(table, row, table->which[i]);
        ends[i] = sb_output_text(&table->text).size;
    }
    print_cells(table, ends, widths, output);
}

static size_t put_totals_cell(perf_table *table, table_column column) {
    const sb_perf_totals *totals = &table->report->totals;
    const sb_perf_number all = {100, SB_PERF_REAL};
    const sb_perf_number time = {totals->device_time, SB_PERF_REAL};
    const sb_perf_number gap = {totals->gap, SB_PERF_REAL};
    if (column == COLUMN_TOTAL)
        return put_number(table, all, format_of(column), SB_GREY);
    if (column == COLUMN_TIME)
        return put_number(table, time, format_of(column), SB_GREY);
    if (column == COLUMN_GAP)
        return put_number(table, gap, format_of(column), SB_GREY);
    if (column != COLUMN_OP_CODE)
        return put_text(table, (sb_slice){"", 0}, SB_GREY);
    char text[128];
    const int size = snprintf(text, sizeof text, "%zu device ops, %zu host ops, %zu signposts",
                              totals->device_ops, totals->host_ops, totals->signposts);
    return put_text(table, (sb_slice){text, (size_t)size}, SB_GREY);
}

static void print_totals(perf_table *table, sb_output *output) {
    size_t ends[TABLE_COLUMNS] = {0};
    size_t widths[TABLE_COLUMNS] = {0};
    sb_output_truncate(&table->text, 0);
    for (size_t i = 0; i < table->count; i++) {
        widths[i] = put_totals_cell(table, table->which[i]);
        ends[i] = sb_output_text(&table->text).size;
    }
    print_cells(table, ends, widths, output);
}

void sb_perf_print_table(const sb_perf_report *report, sb_style style, sb_output *output) {
    perf_table *table = perf_table_layout(report, style);
    sb_put_text(output, "\n🚀 Performance Report 🚀\n========================\n\n");
    sb_table_header(output, table->columns, table->count);
    sb_table_rule(output, table->columns, table->count);
    for (size_t i = 0; i < report->row_count; i++)
        perf_table_put_row(table, &report->rows[i], output);
    sb_table_rule(output, table->columns, table->count);
    print_totals(table, output);
    perf_table_free(table);
}
