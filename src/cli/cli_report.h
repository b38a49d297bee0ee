/*
 * What the commands that make ops reports share.
 */
#ifndef SB_CLI_REPORT_H
#define SB_CLI_REPORT_H

#include "report/report.h"

/* Where tt-metal's tools leave what they make: $TT_METAL_PROFILER_DIR, $TT_METAL_HOME/..., here. */
const char *cli_profiler_folder(sb_arena *arena);

enum { CLI_REPORT_DATE_SIZE = 32 };
/* Now, as the names of report folders have it. */
void cli_report_date(char date[CLI_REPORT_DATE_SIZE]);

/* "98 operations and 2 signposts from 1 device: 97 complete, 1 truncated". */
void cli_put_report_counts(const sb_report_summary *summary, sb_output *output);

#endif
