/*
 * Parts of `strobe view` that its files share: options, and serving until told to end.
 */
#ifndef SB_CLI_VIEW_H
#define SB_CLI_VIEW_H

#include <signal.h>

#include "cli/cli_perf.h"
#include "cli/cli_trace.h"
#include "view/view.h"

typedef struct cli_view_arguments {
    sb_view_listen listen;
    bool opens;
    bool is_live;
    const char *output; /* of a live recording; NULL: named after the time */
    bool replaces;      /* that file may be there already */
    const char *ops;
    const char *page;
    const char *from;
    const char *to;
    bool without_index;
} cli_view_arguments;

/* What is shown, and the memory behind it. */
typedef struct cli_view_inputs {
    sb_trace *trace; /* one of those below */
    cli_trace opened;
    sb_view_kept *kept;
    sb_trace *empty;        /* where there is an ops report but no trace */
    sb_trace *joined;       /* of several programs */
    const char *transfers;  /* folder with traces of the network on chip, or NULL */
    const char *shown_path; /* the file, or the folder that all is from */
    const char *trace_path; /* of the trace that was opened, or NULL */
    const char *session;    /* folder of the session that was opened, or NULL */
    sb_view_files keep;     /* the files of the trace whose index is to be kept; or none */
    sb_vector facts;        /* sb_view_fact, from report.json beside the ops report */
    cli_perf_inputs ops_files;
    sb_perf_report *ops;
    sb_arena arena;
    bool without_index;
    bool is_partial;                 /* something is damaged or not there */
    char damage[SB_ERROR_TEXT_SIZE]; /* what, the first of it */
} cli_view_inputs;

sb_status cli_view_open(cli_view_inputs *inputs, const char *path,
                        const cli_view_arguments *arguments, sb_error *error);
void cli_view_close(cli_view_inputs *inputs);
/* Remembers that something is not shown, or not as it was, for the page and the exit code. */
void cli_view_note_flaw(cli_view_inputs *inputs, const char *sentence);
/* The same, with a warning. */
__attribute__((format(printf, 2, 3))) void cli_view_tell_flaw(cli_view_inputs *inputs,
                                                              const char *format, ...);
/* What report.json beside an ops report says of clocks, the profiler's own cost, completeness. */
void cli_view_read_facts(cli_view_inputs *inputs, const char *ops_path);
/*
 * What was kept of the trace in these files, which are stamped for it; inputs->trace is NULL if
 * nothing fits. And: keeps it when it is shown, if that is worth it.
 */
void cli_view_open_kept(cli_view_inputs *inputs, sb_view_files *files);
void cli_view_keep_later(cli_view_inputs *inputs, const sb_view_files *files);
/* The traces that session.json in a folder lists, if there is one and it lists several. */
sb_status cli_view_open_session(cli_view_inputs *inputs, const char *folder, bool *found,
                                sb_error *error);

/* A recording that is shown while it grows. */
typedef struct cli_view_growing {
    const char *name; /* what the page calls it */
    /* Takes in what has come; *trace is NULL as long as it has not begun. Is it over? */
    bool (*look)(void *context, sb_trace **trace);
    /* Says that it is over; returns what is wrong with it, or NULL. */
    const char *(*tell_end)(void *context);
    /* Ends what fills the trace, once nobody wants to see more; NULL: nothing is to be done. */
    void (*end)(void *context);
    void *context;
} cli_view_growing;

/* Shows it until a signal comes, or it is over before it began. */
sb_status cli_view_follow(const cli_view_growing *growing, const cli_view_arguments *arguments,
                          sb_error *error);
/*
 * A journal that its recorder still writes; it is shown as it grows. *found: it was one, and this
 * is all that was to be done.
 */
sb_status cli_view_journal(const cli_view_arguments *arguments, const char *path, bool *found,
                           int *exit_code, sb_error *error);

/* What the page calls a file or folder: the last part of its path. */
enum { CLI_VIEW_NAME_SIZE = 256 };
void cli_view_name(const char *path, char name[CLI_VIEW_NAME_SIZE]);
/* Signals that end the viewer. They are taken by waiting, so that everything is put away. */
void cli_view_ending_signals(sigset_t *ending);
/* Has them wait; before threads are made, which then do not get them. */
void cli_view_block_signals(void);
/* Starts the server, prints its link, opens the browser if asked to. */
sb_status cli_view_start(sb_view *view, const cli_view_arguments *arguments,
                         sb_view_server **server, sb_error *error);
/* Records a program and shows it meanwhile; address may be NULL. */
sb_status cli_view_live(const cli_view_arguments *arguments, const char *address, int *exit_code,
                        sb_error *error);

#endif
