/*
 * report: from the raw logs of a run to one row per operation.
 *
 * A run leaves the log of its devices (a row per marker), the messages and zones of its host, and
 * sometimes figures that the runtime worked out. This module reads them in one pass, joins them and
 * writes a report folder that tt-metal's own tools would have written, or as much of it as the data
 * allows: what is missing is labelled in the column COMPLETENESS and never ends the work.
 *
 *     sb_report *report = NULL;
 *     sb_status status = sb_report_read(&options, &report, &error);
 *     status = sb_report_write(report, &error);
 *     const sb_report_summary *summary = sb_report_summarise(report);
 *     sb_report_free(report);
 *
 * Reading uses two threads, one for the device log and one for the host. A report is read-only
 * afterwards and belongs to one thread at a time. It owns all it hands out.
 */
#ifndef SB_REPORT_REPORT_H
#define SB_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "trace/trace.h"

/* Grows by one whenever a file of the report folder changes its form. */
enum { SB_REPORT_SCHEMA = 1 };

typedef struct sb_report_options {
    const char *input;  /* a folder with logs, or one with a folder .logs; a recording */
    const char *output; /* the folder that gets "reports"; NULL: where the logs come from */
    const char *name;   /* part of the names of folder and file; NULL: none */
    const char *date;   /* the same, a time; NULL: none. A folder of this name that is there already
                           stays as it is: "_2" is added, and so on */
    const char *tool_version;
    bool device_only;            /* as if there were no host files */
    bool no_device;              /* as if there were no device files */
    bool ignore_cpp;             /* as if there were no cpp_device_perf_report.csv */
    bool export_again;           /* host files anew from the recording, even if they are there */
    bool analyse_noc;            /* sum up the traces of the network on chip */
    bool compat;                 /* exactly what the original writes: nothing more in any cell */
    const char *const *analyses; /* names of those wanted; none: all */
    size_t analysis_count;
    const char *child_functions; /* zones inside ops to be added up, separated by commas */
    void (*progress)(void *context, size_t done, size_t all);
    void *progress_context;
} sb_report_options;

/* What a row of the report is worth. The numbers index sb_report_summary.rows. */
typedef enum sb_completeness {
    SB_COMPLETE,
    SB_HOST_ONLY,      /* an op that never goes to a device: nothing is missing */
    SB_TRUNCATED,      /* markers, the message or the zone of it are missing in part */
    SB_NO_DEVICE_DATA, /* the host called it, no device reports it */
    SB_NO_HOST_DATA,   /* a device reports it, the host does not */
    SB_DUPLICATE,      /* reported more often than it can have run */
    SB_NOT_REPLAYED,   /* captured in a trace that never ran */
    SB_COMPLETENESS_COUNT,
} sb_completeness;

const char *sb_completeness_name(sb_completeness completeness);

typedef struct sb_report_summary {
    uint64_t rows[SB_COMPLETENESS_COUNT];
    uint64_t row_count;
    uint64_t op_count;
    uint64_t signpost_count;
    uint64_t device_count;
    uint64_t program_count;
    uint64_t log_rows;
    uint64_t log_bytes;
    bool is_device_only;
    bool is_partial;             /* something was missing or broken: exit code 3 */
    const char *const *problems; /* a sentence each */
    size_t problem_count;
    const char *const *notes; /* sentences about what is not a problem */
    size_t note_count;
    const char *folder;   /* NULL before writing */
    const char *csv_path; /* the ops report; NULL before writing */
} sb_report_summary;

typedef struct sb_report sb_report;

/* Fails if there is nothing to read at all. */
sb_status sb_report_read(const sb_report_options *options, sb_report **report, sb_error *error);
/* Writes the report folder. */
sb_status sb_report_write(sb_report *report, sb_error *error);
const sb_report_summary *sb_report_summarise(const sb_report *report);
void sb_report_free(sb_report *report);

/* ---- statistics ---- */

typedef struct sb_report_stats_options {
    const char *from; /* begin behind the first signpost of this name; NULL: at the start */
    const char *to;   /* end before the first later signpost of this name; NULL: at the end */
    size_t top;       /* entries of each list that are shown */
} sb_report_stats_options;

/* Where the time of a run went: per op, kernel, core and step. Borrows the report,
 * if it was made of one. */
typedef struct sb_report_stats sb_report_stats;

/* Fails if a signpost is not there. */
sb_status sb_report_stats_make(sb_report *report, const sb_report_stats_options *options,
                               sb_report_stats **stats, sb_error *error);
/*
 * The same of an ops report written earlier, by us or by others: all but the time of single cores,
 * of which it has only the extremes. Fails if the file is no ops report.
 */
sb_status sb_report_stats_of_csv(const char *path, const sb_report_stats_options *options,
                                 sb_report_stats **stats, sb_error *error);
/* How many rows of that report had too few or too many cells, a quote without an end, or a kernel
 * time that is no number. */
uint64_t sb_report_stats_flawed_rows(const sb_report_stats *stats, uint64_t *first_line);
/* Tables for a terminal. */
void sb_report_stats_print(const sb_report_stats *stats, sb_output *output);
void sb_report_stats_json(const sb_report_stats *stats, sb_output *output);
/* CSV files, stats.json and pictures (SVG and PNG) in a folder, which is made. */
sb_status sb_report_stats_write(const sb_report_stats *stats, const char *folder, sb_error *error);
void sb_report_stats_free(sb_report_stats *stats);

/* ---- the device log alone ---- */

typedef struct sb_report_device_options {
    const char *setup; /* what is measured; NULL: default_setup */
    bool without_ops;  /* no look for executions */
    bool without_json; /* only the figures */
} sb_report_device_options;

/* What was wrong with the log. */
typedef struct sb_report_device_flaws {
    uint64_t bad_rows;
    uint64_t first_bad_line;
    bool is_cut;
} sb_report_device_flaws;

/*
 * Writes what process_device_log.py would to `output/device`: the log, device_stats.txt and
 * device_analysis_data.json. All markers are in memory for it. printed gets the figures too; it may
 * be NULL. Fails if there is no device log or no such setup.
 */
sb_status sb_report_measure_device(const sb_report_options *options,
                                   const sb_report_device_options *how, sb_output *printed,
                                   sb_report_device_flaws *flaws, sb_error *error);

/* Does a text begin as a device log does? */
bool sb_report_is_device_log(sb_slice text);
/*
 * Adds the zones of a device log to a trace, a lane for each processor, as a recording has them.
 * Where the trace has the host's calls of ops, devices are placed so that no op begins before its
 * call, else each begins at 0. Zones that have no end, or no beginning, are among the trace's
 * losses.
 */
void sb_report_add_lanes(sb_slice log, sb_trace *trace, sb_report_device_flaws *flaws);

/* The names that options.analyses may have, ended by NULL. */
const char *const *sb_report_analyses(void);

#endif
