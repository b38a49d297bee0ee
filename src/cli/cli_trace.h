/*
 * What the commands on trace files share: opening one, and the way a command runs.
 */
#ifndef SB_CLI_TRACE_H
#define SB_CLI_TRACE_H

#include "cli/cli.h"
#include "trace/trace.h"

/* A trace file that was opened and read. */
typedef struct cli_trace {
    sb_file file;
    sb_trace *trace;
    bool is_partial; /* it is damaged; a warning has said where, and damage does */
    bool is_written; /* it is a recording that was not over when it was opened */
    char damage[SB_ERROR_TEXT_SIZE];
} cli_trace;

sb_status cli_trace_open(cli_trace *opened, const char *path, sb_error *error);
void cli_trace_close(cli_trace *opened);

/* Does the work of a command, once its options are parsed. */
typedef sb_status (*cli_trace_action)(const cli_parsed *parsed, int *exit_code, sb_error *error);

/* Parses, shows help, runs the action and reports its error. */
int cli_trace_run(const cli_command *command, int argc, char **argv, cli_trace_action action);
/*
 * How a command was asked to make a trace, for sb_trace_add_origin: its version and its options,
 * but for files, which say nothing of the trace.
 */
sb_slice cli_trace_origin(const cli_command *command, const cli_parsed *parsed, sb_arena *arena);
/* Prints an error and returns the exit code for it. */
int cli_trace_report(const char *command, const sb_error *error);
/* A number of at least `least` as the value of an option. */
sb_status cli_trace_number(const char *option, const char *text, int64_t least, int64_t most,
                           int64_t *value, sb_error *error);
/*
 * The values of --from and --to, NULL where one was not given: 1.5s, 20ms, 4000 (nanoseconds), or
 * the time of the first message that contains the text.
 */
sb_status cli_trace_range(const sb_trace *trace, const char *from, const char *to, sb_range *range,
                          sb_error *error);
/* 1.234 ms, 12 ns: a time for people. */
sb_slice cli_format_time(int64_t ns, char text[SB_NUMBER_SIZE]);

#endif
