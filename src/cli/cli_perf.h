/*
 * Parts of `strobe perf` that are not its option table: which files it reads.
 */
#ifndef SB_CLI_PERF_H
#define SB_CLI_PERF_H

#include "perf/perf.h"

/* The files behind the operands of the command, opened, with a label for each. */
typedef struct cli_perf_inputs {
    sb_perf_input *inputs;
    sb_file *files;
    size_t count;
    sb_arena arena;
} cli_perf_inputs;

/*
 * Opens each operand: a CSV file, "-" for standard input, or a folder, in which the newest
 * ops_perf_results*.csv is taken. host_names is a comma-separated list of labels, or NULL.
 */
sb_status cli_perf_open(cli_perf_inputs *inputs, const char **operands, size_t count,
                        const char *host_names, sb_error *error);
void cli_perf_close(cli_perf_inputs *inputs);
/* The newest ops_perf_results*.csv in a folder and those below it, and how many there are. */
sb_status cli_perf_find_newest(sb_arena *arena, const char *path, const char **report,
                               size_t *found, sb_error *error);

#endif
