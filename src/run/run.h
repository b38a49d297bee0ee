/*
 * run: a program from its launch to the traces of all its processes.
 *
 *     sb_run_result result;
 *     SB_TRY(sb_run(&options, &result, error));     launches, records, waits, collects
 *     ... result.trace_path, result.processes ...
 *     sb_run_result_free(&result);
 *
 * The target runs in a process group of its own, with the terminal if we have it; signals that we
 * get go to the group. Two ways of recording are prepared, since nobody knows beforehand what the
 * target and the processes it starts are made of:
 *
 *   libstrobe   is told by STROBE_OUT to record into FOLDER/.logs/processes/NAME-PID.rec. What is
 *               in there survives whatever happens to the process.
 *   Tracy       listens; whoever of our descendants does so on one of Tracy's ports is connected
 *               to and recorded (capture/capture.h). TRACY_NO_EXIT lets short programs wait for us.
 *
 * When all have ended each recording becomes a trace. The one that matters most, which is the first
 * process that reports operations, else the target's own, else the fullest, becomes
 * FOLDER/.logs/tracy_profile_log_host.tracy; those of other processes stay in .logs/processes, and
 * session.json lists them. Logs of devices are kept apart by process in the same way.
 *
 * Files here: run_target.c (what to execute), run_launch.c (process group, signals, terminal),
 * run_processes.c (/proc), run_record.c (following processes while they run), run_devices.c (logs
 * of devices), run_collect.c (recordings to traces), run_session.c (the list), run.c (the whole).
 *
 * sb_run blocks signals of the calling thread and becomes the reaper of orphans while it works.
 * Call it once at a time.
 */
#ifndef SB_RUN_RUN_H
#define SB_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"

/* A variable of the target's environment. */
typedef struct sb_run_variable {
    const char *name;
    const char *value; /* NULL: it must not be there */
} sb_run_variable;

typedef struct sb_run_options {
    const char *const *command; /* what to run and its arguments */
    size_t command_count;
    bool is_module; /* the first is the name of a Python module */
    bool partial;   /* functions of Python: only where a Profiler is enabled */
    bool lines;     /* and each of their lines */
    const char *folder;
    uint16_t port;         /* that programs with Tracy listen on; 0: whichever they find */
    bool without_recorder; /* record nothing: programs wait for a reader on their port */
    const sb_run_variable *variables;
    size_t variable_count;
} sb_run_options;

typedef enum sb_run_state {
    SB_RUN_WHOLE,
    SB_RUN_CUT,  /* the process ended without closing its recording; all it recorded is there */
    SB_RUN_LOST, /* there is no trace; the reason says why */
} sb_run_state;

/* A process that was recorded. */
typedef struct sb_run_process {
    pid_t process_id;
    char program[65];
    bool is_target; /* the process that was launched, not one that it started */
    bool is_main;   /* its trace is the one at trace_path */
    sb_run_state state;
    char path[4096];
    char folder[4096]; /* with logs for a report of this process; "": it is the main one, or has no
                          operations */
    bool uses_device;
    char reason[SB_ERROR_TEXT_SIZE];
    uint64_t zones;
    uint64_t messages;
    uint64_t operations; /* messages about operations and signposts among them */
    uint64_t lost;       /* events that the program could not record, by its own account */
    int64_t span_ns;
    int64_t seen_ns;   /* when its recording was first seen, by sb_clock_ns */
    int64_t zero_tick; /* of the program's clock, where its trace begins */
    double ns_per_tick;
} sb_run_process;

typedef struct sb_run_result {
    int wait_status;         /* of the target, as wait gives it */
    bool is_python;          /* the target was run by the Python package */
    bool lacks_package;      /* it is Python's, but the package is not there */
    double seconds;          /* from launch to end of the target */
    size_t ended_by_us;      /* processes that were left over and told to end */
    bool folder_was_removed; /* while the target ran: what was recorded may have gone with it */
    sb_vector processes;     /* sb_run_process, in the order in which their recordings began */
    const char *trace_path;  /* of the main one; NULL: nothing was recorded */
    sb_arena arena;
} sb_run_result;

/*
 * Fails if the target could not be started, or the folder cannot be used. Whatever becomes of the
 * target afterwards is no failure: the result tells.
 */
sb_status sb_run(const sb_run_options *options, sb_run_result *result, sb_error *error);
void sb_run_result_free(sb_run_result *result);

/* The exit code that a shell would give for wait_status: 128 and the signal, if one ended it. */
int sb_run_exit_code(int wait_status);

#endif
