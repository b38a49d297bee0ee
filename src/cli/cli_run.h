/*
 * Parts of `strobe run` that its files share: what was asked for, and what is said at the end.
 */
#ifndef SB_CLI_RUN_H
#define SB_CLI_RUN_H

#include "cli/cli.h"
#include "report/report.h"
#include "run/run.h"

typedef struct cli_run_arguments {
    sb_run_options run;
    bool report;
    bool verbose;
    bool no_device;
    bool logs_only;
    bool check_exit_code;
    const char *title; /* of the program, for people */
    const char *folder;
    const char *name;
    const char *children;
    sb_vector analyses;  /* const char * */
    sb_vector variables; /* sb_run_variable */
    sb_arena arena;
} cli_run_arguments;

/* The exit code of --check-exit-code for a program that failed. */
enum { CLI_RUN_TARGET_FAILED = 4 };

/*
 * Reads the logs of a process (NULL: of the main one) and writes its report; the folder of the
 * report has the process's number behind the date. *report is to be freed, also after a failure.
 */
sb_status cli_run_make_report(const cli_run_arguments *arguments, const sb_run_process *process,
                              const char *date, sb_report **report, sb_error *error);
/*
 * Makes the ops reports of what was recorded, shows what the main one says and where they are.
 * result is NULL if nothing was run. *is_partial becomes true if something in them is missing.
 */
sb_status cli_run_report(const cli_run_arguments *arguments, const sb_run_result *result,
                         bool *is_partial, sb_error *error);
/* How well clocks agree, what recording cost, what was lost. */
void cli_run_put_cost(const cli_run_arguments *arguments, const sb_run_result *result,
                      const sb_report_summary *summary, sb_output *output);
/* What was recorded and what was not. */
void cli_run_tell(const cli_run_arguments *arguments, const sb_run_result *result);

#endif
