/*
 * The rows that statistics go through: of a report in memory, or of the CSV that one was written
 * to.
 */
#include "report/report_stats.h"

#include <math.h>

bool stats_number(sb_slice cell, double *number) {
    const double most = 1e18; /* thirty years; it also keeps sums finite */
    return sb_parse_double(cell, number) && fabs(*number) <= most;
}

/* ---- a report in memory ---- */

static void each_of_report(sb_report_stats *stats, stats_visit visit) {
    sb_report *report = stats->report;
    report_cells *cells = report_cells_create(report);
    for (size_t i = 0; i < report->rows.count; i++) {
        const report_row *row = sb_vector_at(&report->rows, i);
        report_fill_cells(cells, row);
        const stats_row seen = {.cells = cells->cells,
                                .program = cells->program,
                                .number = i + 1,
                                .is_signpost = row->kind == REPORT_ROW_SIGNPOST};
        visit(stats, &seen);
    }
    report_cells_free(cells);
}

/* ---- a report in a file ---- */

/* Which field of the records has a column; SIZE_MAX: none. Of two with one name the first counts.
 */
typedef struct field_map {
    size_t field[REPORT_COLUMNS];
    size_t field_count;
} field_map;

static field_map map_fields(const sb_csv *csv) {
    field_map map = {.field_count = csv->field_count};
    for (size_t i = 0; i < REPORT_COLUMNS; i++)
        map.field[i] = SIZE_MAX;
    for (size_t i = 0; i < csv->field_count; i++) {
        const report_column column = report_column_of_title(csv->fields[i]);
        if (column != REPORT_COLUMNS && map.field[column] == SIZE_MAX)
            map.field[column] = i;
    }
    return map;
}

static void take_cells(const sb_csv *csv, const field_map *map, sb_slice cells[REPORT_COLUMNS]) {
    for (size_t i = 0; i < REPORT_COLUMNS; i++)
        cells[i] =
            map->field[i] < csv->field_count ? csv->fields[map->field[i]] : (sb_slice){"", 0};
}

static bool is_flawed(const sb_csv *csv, const field_map *map, const sb_slice *cells) {
    double ns = 0;
    const sb_slice kernel = cells[REPORT_COLUMN_KERNEL];
    return csv->field_count != map->field_count || csv->flaws != 0 ||
           (kernel.size > 0 && !stats_number(kernel, &ns));
}

static void each_of_csv(sb_report_stats *stats, stats_visit visit) {
    sb_csv csv;
    sb_slice cells[REPORT_COLUMNS];
    stats_csv *from = &stats->csv;
    from->flawed_rows = 0;
    sb_csv_begin(&csv, from->file.text);
    if (sb_csv_next(&csv)) {
        const field_map map = map_fields(&csv);
        for (size_t number = 1; sb_csv_next(&csv); number++) {
            take_cells(&csv, &map, cells);
            if (is_flawed(&csv, &map, cells) && from->flawed_rows++ == 0)
                from->first_flawed_line = csv.line;
            const stats_row seen = {.cells = cells,
                                    .number = number,
                                    .is_signpost =
                                        sb_slice_is(cells[REPORT_COLUMN_OP_TYPE], "signpost")};
            visit(stats, &seen);
        }
    }
    sb_csv_end(&csv);
}

sb_status stats_check_csv(const stats_csv *csv, const char *name, sb_error *error) {
    static const report_column needed[] = {REPORT_COLUMN_OP_CODE, REPORT_COLUMN_KERNEL};
    sb_csv header;
    sb_csv_begin(&header, csv->file.text);
    if (!sb_csv_next(&header))
        header.field_count = 0;
    const field_map map = map_fields(&header);
    sb_csv_end(&header);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (map.field[needed[i]] == SIZE_MAX)
            SB_FAIL(error, SB_ERR_FORMAT, "%s is not an ops report: it has no column '%s'", name,
                    report_column_title(needed[i]));
    }
    return SB_OK;
}

void stats_each_row(sb_report_stats *stats, stats_visit visit) {
    if (stats->report != NULL)
        each_of_report(stats, visit);
    else
        each_of_csv(stats, visit);
}
