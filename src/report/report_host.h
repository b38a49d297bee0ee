/*
 * What the host did: ops, signposts and replays of traces, from its messages and zones.
 *
 * A full message describes an op as JSON; its cells are made once (report_op_info) and shared by
 * the short messages of later calls that name the same program hash. Zones give the times.
 */
#ifndef SB_REPORT_HOST_H
#define SB_REPORT_HOST_H

#include "report/report_columns.h"
#include "report/report_log.h"

typedef struct report_cell {
    uint32_t column; /* a report_column, or an index in report_host.kernel_sizes */
    sb_slice text;
} report_cell;

/* What a full message says about a program. */
typedef struct report_op_info {
    bool has_device;
    int64_t device;
    report_cell *cells;
    size_t cell_count;
    report_cell *kernel_sizes;
    size_t kernel_size_count;
    sb_slice *inputs; /* REPORT_TENSOR_CELLS each */
    size_t input_count;
    sb_slice *outputs;
    size_t output_count;
    bool has_model;
    double model_compute_ns;
    bool is_cut; /* the message was cut or malformed; the cells are what could be saved */
} report_op_info;

typedef struct report_op {
    uint64_t id;
    const report_op_info *info;
    int64_t trace; /* being captured when the op was called; REPORT_NO_TRACE: none */
    int64_t message_time;
    sb_slice cache_hit; /* as text; empty: the message does not say */
    bool has_zone;
    bool is_repeated; /* the host reported the id twice */
    int64_t start;
    int64_t duration;
    uint32_t next_of_id; /* index + 1 of another op with the same id */
    uint32_t children;   /* index + 1 of the first of its child calls */
} report_op;

typedef struct report_child {
    uint32_t name; /* in report_host.child_names */
    uint32_t next; /* index + 1 */
    int64_t total;
} report_child;

typedef struct report_signpost {
    sb_slice header;
    sb_slice message;
    bool has_message;
    int64_t time;
} report_signpost;

typedef struct report_replay {
    int64_t device;
    int64_t trace;
    int64_t time;
} report_replay;

typedef struct report_host {
    sb_arena arena;
    sb_intern texts;       /* cells that repeat */
    sb_vector ops;         /* report_op, in order of their first message */
    sb_intern op_keys;     /* by id and device */
    sb_intern op_ids;      /* by id; first_of_id runs parallel */
    sb_vector first_of_id; /* uint32_t: index + 1 */
    sb_vector children;    /* report_child */
    sb_intern child_names;
    sb_vector signposts;    /* report_signpost */
    sb_vector replays;      /* report_replay, in order of time */
    sb_intern kernel_sizes; /* titles of the columns of kernel sizes */
    sb_vector known;        /* report_known_op: what short messages may refer to */
    sb_intern known_keys;
    sb_vector captures; /* report_replay: the trace each device is capturing */
    size_t max_inputs;
    size_t max_outputs;

    bool old_signposts; /* split a signpost at its last ": ", as the original does */
    uint64_t cut_messages;
    uint64_t unknown_calls; /* short messages without a full one before */
    uint64_t bad_messages;  /* about ops or traces, but not to be understood */
    uint64_t bad_zones;
    uint64_t zones_without_message;
    uint64_t repeated_ops;
} report_host;

void report_host_init(report_host *host);
/* Reads tracy_ops_data.csv. */
void report_read_messages(report_host *host, sb_slice text);
/* Reads tracy_ops_times.csv; the messages come first. */
void report_read_zones(report_host *host, sb_slice text);
void report_host_free(report_host *host);

/* Makes the cells of a full message from its JSON, a json_t. */
report_op_info *report_make_info(report_host *host, void *json);
/* A cell in the way Python's csv module gets it: commas as semicolons. Kept once. */
sb_slice report_keep_cell(report_host *host, sb_slice text);

static inline report_op *report_op_at(const report_host *host, size_t index) {
    return sb_vector_at(&host->ops, index);
}

#endif
