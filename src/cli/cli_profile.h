/*
 * What the files of `strobe profile` share.
 */
#ifndef SB_CLI_PROFILE_H
#define SB_CLI_PROFILE_H

#include "cli/cli.h"

/* The report of a process. */
typedef struct cli_profile_source {
    const char *csv;      /* as `strobe report` writes it */
    const char *messages; /* tracy_ops_data.csv; need not be there */
    int process_id;
} cli_profile_source;

/* All rows in one file; with more than one source a column says whose they are. */
sb_status cli_profile_write(const cli_profile_source *sources, size_t count, const char *goal,
                            sb_error *error);

#endif
