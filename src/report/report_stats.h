/*
 * Statistics of a report: what the files that work them out and write them share. Times are ns.
 */
#ifndef SB_REPORT_STATS_H
#define SB_REPORT_STATS_H

#include "report/report_model.h"

/* One op code. */
typedef struct stats_op {
    sb_slice name;
    sb_vector kernel; /* double: kernel times, in order of rows; sorted at the end */
    double kernel_total;
    double firmware_total;
    double host_total;
    double gap_total;
    uint64_t calls;
    double mean;
    double deviation;
    double median;
    double p99;
    double max;
    double imbalance; /* max / mean - 1 over cores, weighted by time */
    double imbalance_weight;
    double *core_time; /* by core: sum of kernel spans */
} stats_op;

/* A call that took far longer or shorter than others of its op. */
typedef struct stats_outlier {
    uint32_t op;
    uint32_t row; /* of the report, from 1 */
    uint64_t id;
    double kernel;
    double deviations; /* from the mean */
} stats_outlier;

/* One kernel source. */
typedef struct stats_kernel {
    sb_slice source;
    bool is_compute;
    uint64_t calls;
    double total;
} stats_kernel;

typedef struct stats_step {
    sb_slice name;
    uint64_t calls;
    double compute;
    double movement; /* kernels while no compute processor was busy */
    double host;     /* ops that ran on the host */
    double idle;     /* between ops */
} stats_step;

/* A row as statistics see it. Its texts hold until the next one. */
typedef struct stats_row {
    const sb_slice *cells;         /* by report_column */
    const report_program *program; /* NULL: nothing is known of its cores */
    size_t number;                 /* from 1 */
    bool is_signpost;
} stats_row;

typedef void (*stats_visit)(sb_report_stats *stats, const stats_row *row);

/* The rows of an ops report that was written earlier. */
typedef struct stats_csv {
    sb_file file;
    uint64_t flawed_rows; /* with too few or too many cells, or a kernel time that is no number */
    size_t first_flawed_line;
} stats_csv;

struct sb_report_stats {
    sb_report *report; /* NULL: rows come from csv */
    stats_csv csv;
    sb_report_stats_options options;
    size_t first_row;    /* of the window, from 1 */
    size_t end_row;      /* the first behind it */
    sb_intern signposts; /* those met while looking for the window */
    sb_arena arena;
    sb_intern op_names;
    sb_vector ops; /* stats_op */
    sb_intern kernel_sources;
    sb_vector kernels;  /* stats_kernel */
    sb_vector outliers; /* stats_outlier */
    sb_vector steps;    /* stats_step */
    double *core_time;  /* by core, over all ops */
    double kernel_total;
    double gap_total;
    double imbalance;
    uint64_t calls;
    uint32_t *by_time;         /* indices of ops, longest first */
    uint32_t *kernels_by_time; /* indices of kernels, longest first */
};

/* The number in a cell; false if there is none, or none that a time in ns can be. */
bool stats_number(sb_slice cell, double *number);
/* Goes through all rows in order, wherever they come from. */
void stats_each_row(sb_report_stats *stats, stats_visit visit);
/* Fails if the file is no ops report. */
sb_status stats_check_csv(const stats_csv *csv, const char *name, sb_error *error);
/* Statistics of an open file, which is theirs to close from here on. */
sb_status stats_of_file(sb_file file, const char *name, const sb_report_stats_options *options,
                        sb_report_stats **stats, sb_error *error);

static inline size_t stats_core_count(const sb_report_stats *stats) {
    return stats->report == NULL ? 0 : stats->report->device.cores.count;
}

#endif
