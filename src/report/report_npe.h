/*
 * How busy links and memories were during each operation: what tt-npe, an external Python package,
 * finds by simulating the traces of the network on chip. It is called if it can be imported.
 */
#ifndef SB_REPORT_NPE_H
#define SB_REPORT_NPE_H

#include "base/base.h"

enum { REPORT_NPE_CELLS = 6 };

/* One operation on one device. */
typedef struct report_npe_point {
    uint64_t op;     /* what the host counts, without the device */
    uint64_t device; /* the ten low bits of a run id */
    uint64_t trace;  /* with the session in its lower half */
    bool has_trace;
    sb_slice cells[REPORT_NPE_CELLS]; /* from REPORT_COLUMN_NOC on */
} report_npe_point;

typedef enum report_npe_state {
    REPORT_NPE_NOT_RUN,
    REPORT_NPE_DONE,
    REPORT_NPE_MISSING, /* no interpreter, or no such module */
    REPORT_NPE_FAILED,
} report_npe_state;

typedef struct report_npe {
    report_npe_state state;
    sb_output text;   /* what it printed; cells point into it */
    sb_vector points; /* report_npe_point, sorted */
} report_npe;

/* Runs it over a folder with traces. */
void report_npe_run(report_npe *npe, const char *folder);
/* Takes what it printed. */
void report_npe_take(report_npe *npe, sb_slice text);
/* run is the id as the report shows it. NULL: nothing is known. */
const report_npe_point *report_npe_find(const report_npe *npe, uint64_t run, bool has_trace,
                                        uint64_t trace);
void report_npe_free(report_npe *npe);

#endif
