#include "base/table.h"

#include "base/unicode.h"

static const size_t gap = 2;

void sb_column_fit(sb_column *column, size_t width) {
    if (column->width < width)
        column->width = width;
}

static void put_aligned(sb_output *output, sb_cell cell, size_t width, bool left) {
    const size_t padding = width > cell.width ? width - cell.width : 0;
    if (!left)
        sb_put_fill(output, ' ', padding);
    sb_put(output, cell.text);
    if (left)
        sb_put_fill(output, ' ', padding);
}

void sb_table_header(sb_output *output, const sb_column *columns, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const sb_slice title = sb_slice_of(columns[i].title);
        sb_put_fill(output, ' ', i > 0 ? gap : 0);
        put_aligned(output, (sb_cell){title, sb_utf8_length(title)}, columns[i].width,
                    columns[i].title_left);
    }
    sb_put_char(output, '\n');
}

void sb_table_rule(sb_output *output, const sb_column *columns, size_t count) {
    size_t width = count > 0 ? (count - 1) * gap : 0;
    for (size_t i = 0; i < count; i++)
        width += columns[i].width;
    sb_put_fill(output, '-', width);
    sb_put_char(output, '\n');
}

void sb_table_row(sb_output *output, const sb_column *columns, const sb_cell *cells, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sb_put_fill(output, ' ', i > 0 ? gap : 0);
        put_aligned(output, cells[i], columns[i].width, columns[i].left);
    }
    sb_put_char(output, '\n');
}
