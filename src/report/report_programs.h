/*
 * From markers to programs: one pass over the device log.
 *
 * A program here is one execution: a program id, the trace and the replay it belongs to, and, where
 * a log does not name replays, the how-manieth time the id was seen. Every duration of the report
 * is the distance of a first and a last marker, so a program keeps minima and maxima (spans)
 * instead of its markers, and a small record per core that took part. Memory depends on programs
 * and cores, not on rows, and the order of rows hardly matters.
 *
 * A program is whole if on each of its cores every zone that began has ended and the firmware zone
 * of the core's master processor is there. Starts add a number that depends on the zone and ends
 * take it away again, so one sum per core tells.
 */
#ifndef SB_REPORT_PROGRAMS_H
#define SB_REPORT_PROGRAMS_H

#include "report/report_log.h"

/* ---- processors ---- */

typedef enum report_processor {
    REPORT_BRISC,
    REPORT_NCRISC,
    REPORT_TRISC_0,
    REPORT_TRISC_1,
    REPORT_TRISC_2,
    REPORT_ERISC,
    REPORT_TRACE_AGGREGATE,
    REPORT_QUASAR_DM0,
    REPORT_QUASAR_NEO = REPORT_QUASAR_DM0 + 8, /* sixteen of them */
    REPORT_WARP = REPORT_QUASAR_NEO + 16,      /* of a GPU: WARP_0, WARP_1, ... together */
    REPORT_UNKNOWN_PROCESSOR,
    REPORT_PROCESSORS,
} report_processor;

/* As the log calls it. */
const char *report_processor_name(report_processor processor);

/* ---- zones ---- */

enum {
    REPORT_ZONE_HAS_FW = 1,        /* the name contains FW: its core counts */
    REPORT_ZONE_FIRMWARE = 2,      /* the name ends in -FW */
    REPORT_ZONE_TYPE_FW = 4,       /* the firmware zone of a type of processor */
    REPORT_ZONE_TYPE_KERNEL = 8,   /* the kernel zone of one */
    REPORT_ZONE_MOVER_KERNEL = 16, /* the kernel zone of one that moves data */
    REPORT_ZONE_TRACE_FW = 32,     /* a whole trace */
    REPORT_ZONE_TRACE_KERNEL = 64,
    REPORT_ZONE_WAIT_FRONT = 128,   /* compute waits for its input */
    REPORT_ZONE_RESERVE_BACK = 256, /* compute waits for room for its output */
    REPORT_ZONE_DISPATCH = 512,
};

typedef struct report_zone {
    sb_slice name;
    unsigned flags;
    int master;          /* the processor whose work the zone brackets, or -1 */
    uint32_t processors; /* that kernel zones of this name belong to: a bit each */
    struct report_zone_sum {
        uint64_t count;
        uint64_t total;
        uint64_t min;
        uint64_t max;
        uint64_t inner;        /* zones that ran inside, at any depth */
    } sums[REPORT_PROCESSORS]; /* of its durations in cycles */
} report_zone;

/* ---- programs ---- */

typedef enum report_span_kind {
    REPORT_SPAN_FW,
    REPORT_SPAN_KERNEL,
    REPORT_SPAN_MOVER,        /* kernels of processors that move data */
    REPORT_SPAN_KERNEL_START, /* starts of kernels only */
    REPORT_SPAN_BRISC,
    REPORT_SPAN_NCRISC,
    REPORT_SPAN_TRISC_0,
    REPORT_SPAN_TRISC_1,
    REPORT_SPAN_TRISC_2,
    REPORT_SPAN_ERISC,
    REPORT_SPAN_TRACE_FW,
    REPORT_SPAN_TRACE_KERNEL,
    REPORT_SPANS,
} report_span_kind;

typedef struct report_span {
    uint64_t first;
    uint64_t last;
    uint64_t count; /* markers seen */
} report_span;

/* What one core did for one program. There are many of these, so it is kept small. */
typedef struct report_core_run {
    uint32_t core;             /* index in report_device_log.cores */
    uint32_t firmware_started; /* a bit per processor */
    uint32_t firmware_ended;
    uint8_t mastered;      /* REPORT_MASTER_... of the processor that brackets the others */
    bool counts;           /* some zone of it has FW in its name */
    uint16_t kernel_count; /* markers of kernel zones, at most UINT16_MAX */
    uint64_t balance;      /* 0: every zone that began has ended */
    uint64_t first;        /* its first marker */
    uint64_t master_start;
    uint64_t kernel_first;
    uint64_t kernel_last;
    uint64_t mover_start;           /* the first start of a data-moving kernel; UINT64_MAX: none */
    struct report_counts *counters; /* NULL: none */
} report_core_run;

enum { REPORT_MASTER_STARTED = 1, REPORT_MASTER_ENDED = 2 };

typedef struct report_program {
    uint32_t device;
    uint32_t occurrence;
    uint64_t id; /* 0: work that belongs to no op; kept for the time between ops */
    int64_t trace;
    int64_t session;
    int64_t sub_device; /* -1: not known */
    uint64_t first;     /* its first marker */
    uint64_t markers;
    uint64_t wait_front; /* cycles, summed over cores */
    uint64_t reserve_back;
    report_span spans[REPORT_SPANS];
    report_core_run **runs; /* one per core that took part, in order of appearance */
    uint32_t run_count;
    uint32_t run_capacity;
    uint32_t next;       /* index + 1 of the next occurrence; 0: none */
    uint32_t follower;   /* index + 1 of what a processor ran after it: others did the same */
    uint32_t missing;    /* markers that a closer look found missing */
    uint32_t dump;       /* the part of the log that it was last seen in */
    bool is_broken;      /* some zone is not whole */
    bool is_repeated;    /* rows of it appear twice in the log */
    bool is_dropped;     /* nothing but repeated rows of an earlier occurrence */
    bool has_mixed_runs; /* not in the order of their cores */
} report_program;

typedef struct report_core {
    uint32_t device;
    uint32_t x;
    uint32_t y;
    bool is_dispatch;
    uint64_t rows;
} report_core;

/* What went wrong, for people and for the side file. */
typedef struct report_finding {
    uint32_t program;
    uint32_t core;
    report_processor processor;
    sb_slice zone;
    bool is_repeated; /* else it is missing */
    report_marker_type missing;
} report_finding;

/* What dispatch cores did for a program. */
typedef struct report_dispatch_op {
    uint32_t device;
    uint64_t id;
    report_span commands; /* on the master */
    report_span go;       /* on its subordinate: sending the go signal */
    bool is_taken;
} report_dispatch_op;

typedef struct report_device_log {
    report_log log;
    sb_arena arena;
    sb_vector programs; /* report_program */
    sb_intern program_keys;
    sb_vector cores; /* report_core */
    sb_intern core_keys;
    sb_vector streams;
    sb_intern stream_keys;
    uint32_t current_stream; /* of the last row */
    sb_slice current_place;
    uint32_t dump; /* logs are written in parts: a new one begins when a processor comes back */
    uint32_t last_device;
    sb_vector zones; /* report_zone */
    sb_intern zone_names;
    struct report_zone_cache *zone_cache;
    sb_vector findings;     /* report_finding */
    sb_vector dispatch_ops; /* report_dispatch_op */
    struct report_dispatch *dispatch;
    uint64_t unfinished_findings; /* found, but not looked at closely */
    uint64_t repeated_rows;
    uint64_t rows_beyond_limits;
    uint64_t sub_device_conflicts;
    bool has_counters;
    bool needs_second_pass; /* a core turned out to serve dispatch after its rows were used */
} report_device_log;

/* Told how much of the log is read. */
typedef struct report_progress {
    void (*report)(void *context, size_t done, size_t all);
    void *context;
} report_progress;

/*
 * Reads the whole log. Pages behind the reader are given back, so file should be mapped. The result
 * holds no slices of it.
 */
void report_read_device_log(report_device_log *read, sb_file *file,
                            const report_progress *progress);
void report_device_log_free(report_device_log *read);

/* ---- asking ---- */

static inline report_program *report_program_at(const report_device_log *read, size_t index) {
    return sb_vector_at(&read->programs, index);
}

static inline report_core *report_core_at(const report_device_log *read, size_t index) {
    return sb_vector_at(&read->cores, index);
}

/* First to last marker of a kind; false if there are not two. */
bool report_program_span(const report_program *program, report_span_kind kind, report_span *span);
/* From the first mover kernel marker to the last kernel marker. */
bool report_program_mover_span(const report_program *program, report_span *span);
uint32_t report_program_core_count(const report_program *program);
bool report_program_is_whole(const report_program *program);

#endif
