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

/*
 * A bar for work whose end is known; cli_bar_show has the form that those who work ask for:
 *
 *     cli_bar bar = cli_bar_of("indexing");
 *     work(..., cli_bar_show, &bar);
 *     cli_bar_end(&bar);
 *
 * Shown from half a second on, on a terminal only.
 */
typedef struct cli_bar {
    const char *what;
    int64_t next_ns; /* when it is to be shown again */
    bool is_shown;
} cli_bar;

cli_bar cli_bar_of(const char *what);
void cli_bar_show(void *shown, uint64_t done, uint64_t total);
void cli_bar_end(cli_bar *bar);

#endif
