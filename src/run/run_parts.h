/*
 * What the files of run share.
 */
#ifndef SB_RUN_PARTS_H
#define SB_RUN_PARTS_H

#include <pthread.h>
#include <signal.h>

#include "capture/capture.h"
#include "run/run.h"

/* ---- what to execute (run_target.c) ---- */

typedef struct run_target {
    const char *path; /* of the executable */
    char **arguments;
    char **environment;
    const char *name; /* for people */
    bool is_python;
    bool lacks_package;
} run_target;

/* Finds the executable and makes its command line and environment. */
sb_status run_target_find(const sb_run_options *options, const char *processes_folder,
                          sb_arena *arena, run_target *target, sb_error *error);
/* Also after a failure. */
void run_target_free(run_target *target);

/* ---- processes (run_processes.c) ---- */

/* Our children, theirs and so on. */
void run_descendants(sb_vector *processes); /* pid_t */
bool run_process_is_there(pid_t process);
/* In the same session as we are: it has not made itself independent. */
bool run_process_is_ours(pid_t process);
/* The name of its executable, fit for a file name. */
void run_process_name(pid_t process, char name[48]);

typedef struct run_listener {
    uint16_t port;
    uint64_t inode;
} run_listener;

/* Sockets of this machine that wait for connections on ports first to last. */
void run_listeners(uint16_t first, uint16_t last, sb_vector *listeners);
/* Which of the processes has the socket; 0: none. */
pid_t run_listener_owner(const sb_vector *processes, uint64_t inode);

/* ---- the target's group (run_launch.c) ---- */

typedef struct run_group {
    pid_t target;
    int signals;  /* a descriptor to read them from */
    int terminal; /* -1: we have none to lend */
    bool has_ended;
    int wait_status;
    int64_t told_to_end_ns; /* when it was sent a signal that ends programs; 0: never */
    sigset_t old_mask;
} run_group;

sb_status run_launch(const run_target *target, run_group *group, sb_error *error);
/*
 * Waits up to the time for signals, or for something to read from `other` (-1: nothing); passes
 * signals on, takes leave of children that have ended.
 */
void run_group_wait(run_group *group, int other, int timeout_ms);
/* Ends what is left, first politely. How many were still there. */
size_t run_group_end(run_group *group);
/* Takes back terminal and signals. */
void run_group_close(run_group *group);

/* ---- recordings while they are made (run_record.c) ---- */

/* A file of libstrobe's, held open so that it stays ours even if its name is removed. */
typedef struct run_file {
    char name[256];
    int descriptor; /* -1: there were too many to hold; its name leads to it */
    int64_t seen_ns;
} run_file;

void run_file_close(run_file *file);

/* A program with Tracy's client. */
typedef struct run_follower {
    pthread_t thread;
    pid_t process;
    int64_t seen_ns;
    uint64_t inode;
    char path[4096];
    sb_capture_options options;
    sb_capture_report report;
    sb_trace *trace;
    sb_status status;
    sb_error error;
    volatile sig_atomic_t stop;
    bool is_done; /* atomic: set by the thread when all else is */
} run_follower;

typedef struct run_recorder {
    const char *folder;
    int watch;        /* tells of files in the folder; -1: nobody does */
    int64_t gone_ns;  /* when the folder was removed; 0: it is there */
    bool was_removed; /* ever */
    uint16_t first_port;
    uint16_t last_port;
    sb_vector files;     /* run_file */
    sb_vector followers; /* run_follower * */
} run_recorder;

void run_recorder_begin(run_recorder *recorder);
/* Looks for new recording files and new programs that listen. */
void run_recorder_look(run_recorder *recorder);
/* Ends the recordings of programs, once these are gone. */
void run_recorder_finish(run_recorder *recorder);
void run_recorder_free(run_recorder *recorder);

/* ---- logs of devices (run_devices.c) ---- */

/* Those that an earlier run left. */
void run_devices_remove(const char *processes_folder);
/* Has the process used a device? */
bool run_devices_has(const char *processes_folder, pid_t process);
/* Moves the logs of the process to where a reader of one process looks for them. */
void run_devices_take(const char *processes_folder, pid_t process, const char *logs);
/* Puts the trace of the process beside its logs: a folder that a report can be made of. */
void run_devices_complete(const char *processes_folder, sb_run_process *process);

/* ---- traces (run_collect.c) ---- */

/* Makes traces of all recordings and chooses the main one. */
void run_collect(run_recorder *recorder, const char *logs, pid_t target, sb_run_result *result);

/* ---- the list (run_session.c) ---- */

sb_status run_session_write(const sb_run_result *result, const char *folder, sb_error *error);

#endif
