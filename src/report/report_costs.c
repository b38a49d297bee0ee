#include "report/report_costs.h"

#include "report/report_programs_parts.h"

enum { WHAT = 2, CLOCKS = 3, FIELDS = 4 };

static void take_row(report_costs *costs, sb_slice what, double clocks) {
    static const char zone[] = "zone on ";
    if (sb_slice_is(what, "push at the end of a program"))
        costs->push = clocks;
    if (sb_slice_starts_with(what, zone))
        costs->zone[report_processor_of(sb_slice_after(what, sizeof zone - 1))] = clocks;
}

report_costs report_read_costs(const char *log_folder) {
    report_costs costs = {0};
    if (log_folder == NULL)
        return costs;
    sb_arena arena = {0};
    sb_file file;
    sb_csv csv;
    const char *path = sb_arena_format(&arena, "%s/profiler_costs.csv", log_folder).data;
    if (sb_file_open(&file, path, NULL) == SB_OK) {
        sb_csv_begin(&csv, file.text);
        while (sb_csv_next(&csv)) {
            double clocks = 0;
            if (csv.field_count != FIELDS || !sb_slice_is(csv.fields[0], "0") ||
                !sb_parse_double(csv.fields[CLOCKS], &clocks))
                continue;
            take_row(&costs, csv.fields[WHAT], clocks);
            costs.is_known = true;
        }
        sb_csv_end(&csv);
        sb_file_close(&file);
    }
    sb_arena_free(&arena);
    return costs;
}
