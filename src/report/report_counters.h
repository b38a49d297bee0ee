/*
 * Hardware counters: per core and program as the log has them, per op as metrics in the report.
 */
#ifndef SB_REPORT_COUNTERS_H
#define SB_REPORT_COUNTERS_H

#include "report/report_model.h"

enum { REPORT_COUNTERS = 181 };

/* The counters of one core for one program. */
typedef struct report_counts {
    uint32_t value[REPORT_COUNTERS];
    uint32_t reference[REPORT_COUNTERS];
    bool present[REPORT_COUNTERS];
} report_counts;

/* The counter with this name or number; REPORT_COUNTERS: none. */
unsigned report_counter_of(sb_slice name);

/* What is known about the counters of a report; NULL: there are none. */
typedef struct report_metrics report_metrics;

report_metrics *report_metrics_create(const sb_report *report);
void report_metrics_free(report_metrics *of);

void report_put_counter_titles(const report_metrics *of, sb_output *output);
/* The metrics of a row, a comma in front of each. */
void report_put_counters(const report_metrics *of, const report_cells *cells, sb_output *output);

#endif
