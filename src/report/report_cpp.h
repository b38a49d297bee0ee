/*
 * cpp_device_perf_report.csv: device times that the runtime worked out itself. Where this file is
 * there, its figures go into the report.
 */
#ifndef SB_REPORT_CPP_H
#define SB_REPORT_CPP_H

#include "report/report_columns.h"
#include "report/report_log.h"

/* Cycles that the report needs but does not show. */
typedef enum report_cycle {
    REPORT_CYCLE_KERNEL_START,
    REPORT_CYCLE_KERNEL_END,
    REPORT_CYCLE_MOVER_START,
    REPORT_CYCLE_MOVER_END,
    REPORT_CYCLE_QUASAR_DM_START,
    REPORT_CYCLE_QUASAR_DM_END,
    REPORT_CYCLE_QUASAR_TRISC_START,
    REPORT_CYCLE_QUASAR_TRISC_END,
    REPORT_CYCLES,
} report_cycle;

typedef struct report_cpp_row {
    int64_t device;
    uint64_t id;
    int64_t trace;
    int64_t session;
    uint64_t present; /* a bit per column */
    uint32_t cycles_present;
    int64_t values[REPORT_COLUMNS];
    int64_t cycles[REPORT_CYCLES];
    sb_slice arch;
    sb_slice latency; /* as the file has it */
    sb_slice latency_mover;
} report_cpp_row;

typedef struct report_cpp {
    sb_arena arena;
    sb_intern keys;
    sb_vector rows;   /* report_cpp_row; a later row of the same execution replaces an earlier */
    sb_vector sorted; /* uint32_t: indices by device and id, in order of the file */
    uint64_t bad_rows;
} report_cpp;

void report_read_cpp(report_cpp *cpp, sb_slice text);
void report_cpp_free(report_cpp *cpp);

/* The rows of an op: from sorted[*first], as many as are returned. */
size_t report_cpp_find(const report_cpp *cpp, int64_t device, uint64_t id, size_t *first);

static inline bool report_cpp_has(const report_cpp_row *row, report_column column) {
    return (row->present >> column & 1) != 0;
}

static inline bool report_cpp_has_cycle(const report_cpp_row *row, report_cycle cycle) {
    return (row->cycles_present >> cycle & 1) != 0;
}

#endif
