/*
 * The device log, row by row (profile_log_device.csv).
 *
 * The first line names architecture, clock and number of compute cores, the second the columns,
 * every other is a marker: a timestamped record of one processor of one core. Columns are found by
 * their titles, so that logs of any age are read. Nothing in a log is quoted; a row that cannot be
 * read is counted and passed over, never an error.
 */
#ifndef SB_REPORT_LOG_H
#define SB_REPORT_LOG_H

#include <stdint.h>

#include "base/base.h"

#define REPORT_NO_TRACE INT64_C(-1)

typedef enum report_marker_type {
    REPORT_MARKER_OTHER,
    REPORT_MARKER_START,
    REPORT_MARKER_END,
    REPORT_MARKER_TOTAL,
    REPORT_MARKER_DATA,
    REPORT_MARKER_EVENT,
} report_marker_type;

typedef struct report_marker {
    sb_slice place;     /* the bytes of device, core and processor: equal bytes, equal place */
    bool is_same_place; /* certainly that of the row before; else it may be all the same */
    uint32_t device;
    uint32_t core_x;
    uint32_t core_y;
    sb_slice processor;
    uint32_t timer;
    report_marker_type type;
    uint64_t time;
    uint64_t data;
    uint64_t program;
    int64_t trace;   /* REPORT_NO_TRACE: none */
    int64_t session; /* the replay of the trace, from 1; REPORT_NO_TRACE: none */
    sb_slice zone;
    sb_slice file;
    sb_slice line;
    sb_slice meta;
} report_marker;

typedef enum report_log_column {
    REPORT_LOG_DEVICE,
    REPORT_LOG_CORE_X,
    REPORT_LOG_CORE_Y,
    REPORT_LOG_PROCESSOR,
    REPORT_LOG_TIMER,
    REPORT_LOG_TIME,
    REPORT_LOG_DATA,
    REPORT_LOG_PROGRAM,
    REPORT_LOG_TRACE,
    REPORT_LOG_SESSION,
    REPORT_LOG_ZONE,
    REPORT_LOG_TYPE,
    REPORT_LOG_LINE,
    REPORT_LOG_FILE,
    REPORT_LOG_META,
    REPORT_LOG_COLUMNS,
} report_log_column;

enum {
    REPORT_LOG_MAX_FIELDS = 32,
    REPORT_LOG_TAIL_SETS = 64,
    REPORT_LOG_TAIL_WAYS = 4,
    REPORT_LOG_TAIL_SIZE = 240,
    REPORT_LOG_PLACE_SIZE = 64,
};

/* A part of a text that is known by heart. */
typedef struct report_log_part {
    uint16_t at;
    uint16_t size;
} report_log_part;

/*
 * What follows the numbers of a row, up to its meta data: zone, type and source. A log has few
 * different ones and millions of rows, so each is cut into fields once and then known by its bytes.
 * They are copies: the pages of the log behind the reader are given back.
 */
typedef struct report_log_tail {
    uint16_t size; /* with the commas between and behind; 0: none */
    report_log_part zone;
    report_log_part line;
    report_log_part file;
    report_marker_type type;
    char text[REPORT_LOG_TAIL_SIZE];
} report_log_tail;

/* Where a row comes from: rows of one place follow each other. */
typedef struct report_log_place {
    uint16_t size; /* 0: none so far */
    report_log_part processor;
    uint32_t device;
    uint32_t core_x;
    uint32_t core_y;
    char text[REPORT_LOG_PLACE_SIZE];
} report_log_place;

typedef struct report_log {
    sb_slice text;
    size_t at;                     /* where the next row begins */
    int field[REPORT_LOG_COLUMNS]; /* which field a column is; -1: the log does not have it */
    size_t field_count;            /* what every row has to have */
    bool has_usual_order;          /* device, core and processor are the first four fields */
    bool has_todays_columns;       /* all fields are where they are today */
    sb_slice arch;
    int64_t clock_mhz; /* 0: the log does not say */
    int64_t compute_cores;
    bool has_preamble;
    bool has_titles;
    sb_slice fields[REPORT_LOG_MAX_FIELDS]; /* of the row being read */
    uint64_t rows;
    uint64_t bad_rows;
    uint64_t first_bad_line; /* 0: none */
    uint64_t line;
    bool is_cut;            /* the last row has no line end */
    report_log_place place; /* of the last row */
    report_log_tail tails[REPORT_LOG_TAIL_SETS][REPORT_LOG_TAIL_WAYS]; /* by timer */
} report_log;

/* Reads the first two lines. text must outlive the log. */
void report_log_begin(report_log *log, sb_slice text);
/* The next marker that can be read; false at the end. */
bool report_log_next(report_log *log, report_marker *marker);

/* A non-negative decimal number that is all of text. */
bool report_parse_number(sb_slice text, uint64_t *value);

#endif
