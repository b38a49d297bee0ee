/*
 * A line on the terminal that says how much has been written, for work that takes long:
 *
 *     cli_progress progress = cli_progress_begin();
 *     cli_progress_watch(&progress, &output);
 *     ... write to the output, finish it ...
 *     cli_progress_end(&progress);
 *
 * Nothing is shown in the first half second, when standard error is no terminal, or when what is
 * written goes to one itself.
 */
#ifndef SB_CLI_PROGRESS_H
#define SB_CLI_PROGRESS_H

#include "base/base.h"

typedef struct cli_progress {
    int64_t next_ns; /* when the line is to be shown again */
    bool is_shown;
} cli_progress;

cli_progress cli_progress_begin(void);
/* The progress must stay where it is until the output is finished. */
void cli_progress_watch(cli_progress *progress, sb_output *output);
/* Removes the line, so that what follows begins where it stood. */
void cli_progress_end(cli_progress *progress);

#endif
