/*
 * What the environment says about the profiler. Its variables are those that users of this hardware
 * know (docs/profiler.md); some of ours begin with STROBE_.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_OPTIONS_H
#define SB_DEVICE_PROFILER_PROFILER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* What happens when more is recorded than fits. */
typedef enum profiler_mode {
    PROFILER_NEVER_DROP,  /* it is read in between; programs wait where they must */
    PROFILER_DROP_NEWEST, /* what finds no room is counted and not recorded */
    PROFILER_KEEP_NEWEST  /* everything is read, the newest programs are kept until asked for */
} profiler_mode;

typedef struct profiler_options {
    bool is_on;
    profiler_mode mode;
    uint32_t programs; /* that slots are made for, and that keep newest keeps */
    bool syncs;
    bool adds_up;
    bool records_steps;  /* what firmware does to start kernels and to wait for them */
    bool accumulates;    /* short programs are pushed together */
    bool tracks_traces;  /* messages about traces */
    bool joins_replays;  /* replays of traces as a whole, instead of their programs */
    bool dumps_in_time;  /* files have all programs that have ended */
    bool pushes_in_time; /* and so has the recording */
    bool writes_files;
    bool pushes;              /* zones into a recording of the program */
    bool counts_instructions; /* performance counters; where the machine has them */
    bool records_noc;
    bool records_noc_steps; /* all that is asked of the NoC, beside transfers */
    bool records_memory;
    char folder[4096];     /* where .logs is */
    char noc_folder[4096]; /* empty: in .logs */
} profiler_options;

/* has_counters: the machine has the counters of instructions. */
sb_status profiler_options_read(profiler_options *options, bool has_counters, sb_error *error);

/*
 * The names of variables that look like misspelt ones of ours: each with what was probably meant,
 * or NULL. Calls `tell` for each.
 */
void profiler_options_find_misspelt(const char *const *environment,
                                    void (*tell)(void *context, sb_slice name, const char *meant),
                                    void *context);

#endif
