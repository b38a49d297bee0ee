/*
 * Tables of text.
 *
 * A table may have hundreds of thousands of rows, so it is never held in memory: the caller goes
 * through its rows twice, first to find the widths (sb_column_fit), then to print. A cell brings
 * its visible width along, since its text may contain colour sequences.
 */
#ifndef SB_BASE_TABLE_H
#define SB_BASE_TABLE_H

#include <stdbool.h>

#include "base/output.h"
#include "base/slice.h"

typedef struct sb_column {
    const char *title;
    bool left;       /* cells at the left edge instead of the right one */
    bool title_left; /* the same for the title */
    size_t width;
} sb_column;

typedef struct sb_cell {
    sb_slice text;
    size_t width; /* without what a terminal does not show */
} sb_cell;

/* Widens the column to width if it is narrower. */
void sb_column_fit(sb_column *column, size_t width);
/* A line of titles; columns are two blanks apart. */
void sb_table_header(sb_output *output, const sb_column *columns, size_t count);
/* A line of '-' as long as the header. */
void sb_table_rule(sb_output *output, const sb_column *columns, size_t count);
/* A line of cells. A cell wider than its column is not cut. */
void sb_table_row(sb_output *output, const sb_column *columns, const sb_cell *cells, size_t count);

#endif
