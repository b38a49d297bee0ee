/*
 * What the device profiler itself took, where it says so (profiler_costs.csv beside the log): zones
 * inside a zone make it longer, and the push at the end of a program is in the gap to the next.
 */
#ifndef SB_REPORT_COSTS_H
#define SB_REPORT_COSTS_H

#include "report/report_programs.h"

typedef struct report_costs {
    bool is_known;
    double zone[REPORT_PROCESSORS]; /* clocks of a zone with nothing in it */
    double push;                    /* clocks at the end of a program */
} report_costs;

/* Of the first device; all of a run are alike. */
report_costs report_read_costs(const char *log_folder);

#endif
