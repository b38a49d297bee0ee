/*
 * Statistics of the device log alone: what is measured, and over which markers.
 *
 * An analysis finds durations in a series of markers: from a marker that looks like its start to
 * one that looks like its end, next to each other or first and last of all. A setup is a list of
 * analyses. They are those of tt-metal's process_device_log.py, down to their names, since tests
 * ask for them by name.
 */
#ifndef SB_REPORT_SETUP_H
#define SB_REPORT_SETUP_H

#include "report/report_log.h"

/* The series that an analysis looks at. */
typedef enum report_scope {
    REPORT_SCOPE_CORE,
    REPORT_SCOPE_DEVICE,
    REPORT_SCOPE_OPS,          /* executions on a device */
    REPORT_SCOPE_DISPATCH_OPS, /* what dispatch cores did for them */
    REPORT_SCOPES,
} report_scope;

typedef enum report_method {
    REPORT_ADJACENT,        /* every start to the next end */
    REPORT_FIRST_LAST,      /* the first start to the last end */
    REPORT_CORE_FIRST_LAST, /* the same on each core */
    REPORT_SUM,             /* of the data of markers */
    REPORT_EVENTS,          /* no durations: a list of markers */
    REPORT_METHODS,
} report_method;

extern const char *const report_scope_names[REPORT_SCOPES];
extern const char *const report_method_names[REPORT_METHODS];

/* What a marker has to look like; what is NULL does not matter. */
typedef struct report_pattern {
    const char *processor;    /* "ANY": whichever */
    const char *phase;        /* the type of marker */
    const char *zone;         /* "NAME*" where it may stand anywhere in the name */
    const char *const *zones; /* or any of these, ended by NULL */
} report_pattern;

typedef struct report_measure {
    const char *name;
    report_scope scope;
    report_method method;
    report_pattern start; /* of sums and events: the marker */
    report_pattern end;   /* without a processor: the same as start */
    bool omits_core;      /* the original's table does not say "core: ANY" */
} report_measure;

typedef struct report_setup {
    const char *name;
    const report_measure *measures; /* its own; the usual ones come behind them */
    size_t count;
    bool detects_ops;
} report_setup;

/* The setup of this name, or NULL. */
const report_setup *report_find_setup(sb_slice name);
/* All setups, the usual one first. */
const report_setup *report_setups(size_t *count);
/* The measures that every setup has. */
const report_measure *report_usual_measures(size_t *count);

#endif
