/*
 * The markers of a device log in memory, in the order of time: per processor, per core and per
 * device, and cut into executions. Only the statistics of the log alone need them all.
 */
#ifndef SB_REPORT_SERIES_H
#define SB_REPORT_SERIES_H

#include "report/report_log.h"
#include "report/report_setup.h"

/* A marker as it is kept. */
typedef struct report_mark {
    uint64_t time;
    uint64_t data;
    uint64_t program;
    int64_t trace;
    int64_t session;
    uint32_t timer;
    uint32_t core;      /* index in report_marks.cores */
    uint32_t processor; /* index in report_marks.processors */
    report_marker_type type;
    sb_slice zone; /* slices of the log; of dispatch cores, the command */
    sb_slice line;
    sb_slice file;
    sb_slice meta;
} report_mark;

/* One duration that a measure found. */
typedef struct report_duration {
    uint32_t start; /* index of the mark */
    uint32_t end;
    uint32_t start_firmware; /* index + 1 of the firmware start before it; 0: none */
    uint32_t end_firmware;
    int64_t cycles;
} report_duration;

typedef struct report_duration_stats {
    uint64_t count;
    int64_t sum;
    int64_t min;
    int64_t max;
    double median;
} report_duration_stats;

/* What a measure found in a series. */
typedef struct report_result {
    const report_measure *measure;
    sb_vector durations; /* report_duration; never empty */
    report_duration_stats stats;
} report_result;

/* A series of marks: an execution, or all there is of a core or device. */
typedef struct report_series {
    sb_vector marks;   /* uint32_t: indices, in order of time */
    sb_vector results; /* report_result */
} report_series;

/* What one processor of a core or device wrote. */
typedef struct report_lane {
    uint32_t processor;
    sb_vector marks; /* uint32_t */
} report_lane;

typedef struct report_series_core {
    uint32_t device; /* index in report_marks.devices */
    uint32_t x;
    uint32_t y;
    bool is_dispatch;
    sb_vector lanes; /* report_lane, in order of appearance */
    report_series all;
    sb_vector ops; /* report_series * */
} report_series_core;

typedef struct report_series_device {
    uint32_t id;
    sb_vector cores; /* uint32_t: indices, in order of appearance */
    sb_vector lanes; /* report_lane */
    report_series all;
    sb_vector ops;          /* report_series * */
    sb_vector dispatch_ops; /* report_series *, those of its dispatch cores */
    sb_vector summary;      /* report_result without durations: over all series */
} report_series_device;

typedef struct report_marks {
    report_log log;
    sb_vector marks; /* report_mark, as the log has them */
    sb_intern processors;
    sb_vector cores; /* report_series_core */
    sb_intern core_keys;
    sb_vector devices;    /* report_series_device */
    sb_vector executions; /* report_series *: all of them, to be freed */
    bool has_plain_lines; /* every source line is a number */
} report_marks;

/* Reads the log, which must outlive the marks, and puts it in order. */
void report_marks_read(report_marks *marks, sb_slice text);
/* Finds executions and what dispatch cores did for them. */
void report_marks_detect_ops(report_marks *marks);
void report_marks_free(report_marks *marks);

static inline report_mark *report_mark_at(const report_marks *marks, size_t index) {
    return sb_vector_at(&marks->marks, index);
}

static inline uint32_t report_index_at(const sb_vector *indices, size_t index) {
    return *(uint32_t *)sb_vector_at(indices, index);
}

static inline report_series *report_series_at(const sb_vector *list, size_t index) {
    return *(report_series **)sb_vector_at(list, index);
}

static inline void report_push_index(sb_vector *indices, uint32_t index) {
    *(uint32_t *)sb_vector_push(indices) = index;
}

/* An empty series that the marks own. */
report_series *report_marks_add_series(report_marks *marks);
/* Sorts indices by time; those of one time keep their order. */
void report_sort_by_time(const report_marks *marks, sb_vector *indices);
/* What dispatch cores did for each program: series of a core's marks. */
void report_detect_dispatch_ops(report_marks *marks, report_series_core *core);

/* ---- measuring ---- */

const report_pattern *report_measure_end(const report_measure *measure);
/* Applies a setup to everything, and makes the summaries of devices. */
void report_measure_all(report_marks *marks, const report_setup *setup);
bool report_is_event(const report_marks *marks, const report_mark *mark,
                     const report_measure *measure);
void report_free_results(sb_vector *results);

#endif
