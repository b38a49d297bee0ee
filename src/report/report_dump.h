/*
 * The statistics of a device log alone, written as tt-metal's process_device_log.py does.
 */
#ifndef SB_REPORT_DUMP_H
#define SB_REPORT_DUMP_H

#include "report/report_series.h"

/* device_stats.txt: a paragraph per device and measure. */
void report_put_device_stats(const report_marks *marks, sb_output *output);
/* device_analysis_data.json: every marker, execution and duration, about 15 times the log. */
void report_put_dump(const report_marks *marks, const report_setup *setup, bool has_ops,
                     const char *log_path, sb_output *output);

#endif
