/*
 * cli: the commands of the `strobe` binary.
 *
 * A command is a table of options, a text for its help, and a function that runs it. Parsing, help
 * and shell completion all read the same tables, so they cannot disagree. One file per command.
 *
 * Exit codes, the same for every command: SB_EXIT_DONE, SB_EXIT_ERROR, SB_EXIT_USAGE,
 * SB_EXIT_PARTIAL.
 */
#ifndef SB_CLI_CLI_H
#define SB_CLI_CLI_H

#include "base/base.h"

enum {
    SB_EXIT_DONE = 0,
    SB_EXIT_ERROR = 1,   /* a sentence on standard error says why */
    SB_EXIT_USAGE = 2,   /* the command line is wrong */
    SB_EXIT_PARTIAL = 3, /* there is a result, but something was missing or broken */
};

typedef struct cli_option {
    int id;               /* what parsing reports; unique within a command */
    const char *name;     /* without the dashes */
    char short_name;      /* 0: none */
    const char *argument; /* what its value is called in the help; NULL: it takes none */
    const char *choices;  /* "op|memory|category": all it may be; NULL: anything */
    const char *heading;  /* begins a new group of options in the help; NULL: goes on */
    const char *help;
    bool takes_file;      /* for completion */
    bool exact_in_compat; /* not of the tool that compat stands in for: no abbreviations there */
    bool deprecated;      /* understood, but not in the help */
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *summary;   /* one line */
    const char *arguments; /* "FILE...": what follows the options in the usage line */
    const char *about;     /* paragraphs under the usage line */
    const char *examples;  /* shown at the end of the help */
    const cli_option *options;
    size_t option_count;
    bool ends_at_operand; /* what follows the first operand is not ours: another program's */
    int (*run)(const struct cli_command *command, int argc, char **argv);
} cli_command;

/* The commands, for help and completion. */
extern const cli_command *const cli_commands[];
/* What a person types to start this binary again: its path, if it was started by one. */
extern const char *cli_started_as;
/* A word as a shell takes it: in quotes, if it needs them. */
void cli_put_word(sb_output *output, const char *word);
/* The line "strobe COMMAND PATH OPTION", to be pasted into a shell; option may be "". */
void cli_put_command(sb_output *output, const char *command, const char *path, const char *option);
extern const size_t cli_command_count;
extern const cli_command cli_perf_command;
extern const cli_command cli_capture_command;
extern const cli_command cli_completion_command;
extern const cli_command cli_convert_command;
extern const cli_command cli_export_command;
extern const cli_command cli_info_command;
extern const cli_command cli_recover_command;
extern const cli_command cli_profile_command;
extern const cli_command cli_report_command;
extern const cli_command cli_run_command;
extern const cli_command cli_stats_command;
extern const cli_command cli_view_command;

/* ---- parsing ---- */

typedef struct cli_parsed_option {
    int id;
    const char *value; /* NULL if it takes none */
} cli_parsed_option;

typedef struct cli_parsed {
    cli_parsed_option *options; /* in order; the last of several counts */
    size_t option_count;
    const char **operands;
    size_t operand_count;
    bool wants_help;
} cli_parsed;

/*
 * Reads argv[1] and on. Long options may be cut to an unambiguous prefix, values follow after '='
 * or as the next argument, short ones without a value may share a dash, `--` ends the options,
 * options and operands may be mixed (unless the command's options end at the first operand).
 */
sb_status cli_parse(const cli_command *command, bool compat, int argc, char **argv,
                    cli_parsed *parsed, sb_error *error);
void cli_parsed_free(cli_parsed *parsed);

/* ---- help ---- */

/* The option that every command has besides its own. */
extern const cli_option cli_help_option;

void cli_print_help(const cli_command *command, const char *program, sb_output *output);
void cli_print_overview(sb_output *output);

#endif
