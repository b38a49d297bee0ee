/*
 * What the parts of the analysis share: records as they were read, and the store that owns them.
 *
 * The steps, each in a file of its own and each working on the result of the one before:
 *
 *   perf_input.c       CSV files -> records
 *   perf_attributes.c  the ATTRIBUTES cell of a record
 *   perf_arch.c        architectures and their peaks
 *   perf_window.c      order of the records, signpost window
 *   perf_merge.c       several devices -> one row each step
 *   perf_rows.c        record -> row
 *   perf_derive.c      shares, bounds, filters
 *   perf_summary.c     rows -> groups
 *   perf_verdict.c     what matters most
 *   perf_report.c      runs them all
 */
#ifndef SB_PERF_MODEL_H
#define SB_PERF_MODEL_H

#include "perf/perf.h"

/* ---- architectures ---- */

typedef struct perf_arch {
    const char *name;
    double worker_cores;         /* of a GPU: its SMs */
    double dram_bandwidth;       /* GB/s */
    double lofi, hifi2, hifi4;   /* TFLOP/s per core */
    const struct gpu_peaks *gpu; /* those of a GPU; NULL: it is none */
} perf_arch;

/* NULL if there is no such architecture. Plain mode also knows board names (p150, n300, ...) and
   GPUs. */
const perf_arch *perf_find_arch(sb_slice name, bool compat);
/*
 * TFLOP/s per core at this math fidelity; 0 if it is not known. On a GPU at the precision that is
 * named in its place ("TF32"), else that of the inputs.
 */
double perf_peak_tflops(const perf_arch *arch, sb_slice fidelity, const sb_slice *datatypes,
                        bool compat);

/* ---- what texts say; computed once for each distinct text ---- */

typedef struct perf_op {
    sb_slice code;
    sb_perf_kind kind;
    bool is_host;       /* contains "(torch)" */
    bool is_collective; /* AllGather and the like: devices wait for each other */
} perf_op;

typedef enum perf_tristate { PERF_NOT_SAID = 0, PERF_FALSE, PERF_TRUE } perf_tristate;

typedef struct perf_attributes {
    int64_t inner_block; /* -1: not said, likewise below */
    int64_t subblock_height;
    int64_t subblock_width;
    bool dram_sharded;
    bool has_window;
    int64_t window[2];
    int64_t output_height_tiles;
    int64_t activation_block_tiles;
    perf_tristate double_buffered;
    perf_tristate split_reader;
    sb_slice text; /* all of it, for what only halo rows need */
} perf_attributes;

perf_attributes perf_parse_attributes(sb_slice text, bool compat);
/* " w=(3,3) s=... | HEIGHT_SHARDED": what tells one halo operation from another. */
void perf_put_halo(const perf_attributes *attributes, sb_output *output);

/* ---- records ---- */

enum { PERF_W, PERF_Z, PERF_Y, PERF_X, PERF_DIMENSIONS };

/* Padded sizes; -1 where the cell is missing or no size. Only for matmuls and convolutions. */
typedef struct perf_shapes {
    int64_t size[SB_PERF_TENSORS][PERF_DIMENSIONS];
} perf_shapes;

typedef enum perf_record_type {
    PERF_DEVICE_OP,
    PERF_SIGNPOST_MARK,
    PERF_OTHER_RECORD
} perf_record_type;

/* One data line. Missing numbers are NaN, absent texts have no data, missing ones read "nan". */
typedef struct perf_record {
    int64_t id;
    uint32_t host;
    perf_record_type type;
    bool is_mark;       /* shown as a signpost; in compat also a type that only contains the word */
    bool is_complete;   /* says who wrote the report: what is empty, there never was */
    int64_t host_start; /* INT64_MAX: missing */
    double device;
    double duration;
    double latency;
    double cores;
    double available_cores;
    bool names_arch;       /* the record says what it ran on */
    const perf_arch *arch; /* that, if it is known */
    const perf_op *op;
    const perf_attributes *attributes;
    const perf_shapes *shapes; /* NULL unless the kind of operation needs them */
    uint64_t signature;        /* of op code and sizes: what should match between devices */
    sb_slice call_count;
    sb_slice fidelity;
    sb_slice datatypes[SB_PERF_TENSORS];
    sb_slice memories[SB_PERF_TENSORS];
} perf_record;

/* ---- the store ---- */

typedef struct sb_perf_store {
    sb_perf_options options;
    sb_perf_report report;
    sb_arena arena;
    sb_intern texts;
    sb_intern op_codes;
    sb_vector ops; /* perf_op *, by index in op_codes */
    sb_intern attribute_texts;
    sb_vector attributes; /* perf_attributes *, likewise */
    sb_vector records;    /* perf_record */
    perf_record **order;  /* the records that are left, in their current order */
    size_t order_count;
    sb_vector rows;          /* sb_perf_row */
    sb_vector groups;        /* sb_perf_group */
    sb_vector notes;         /* sb_perf_note */
    sb_vector summary_notes; /* sb_perf_note */
    sb_vector problems;      /* sb_perf_problem */
    const perf_arch *arch;   /* of the whole file; NULL: unknown */
    bool has_host_start;
    const char **host_names;
} sb_perf_store;

void perf_note(sb_perf_store *store, bool is_warning, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* column may be NULL, row 0 for the file as a whole. */
void perf_problem(sb_perf_store *store, uint32_t host, int64_t row, const char *column,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

const perf_op *perf_intern_op(sb_perf_store *store, sb_slice code);
const perf_attributes *perf_intern_attributes(sb_perf_store *store, sb_slice text);

/* ---- the steps ---- */

sb_status perf_read_inputs(sb_perf_store *store, const sb_perf_input *inputs, size_t count,
                           sb_error *error);
void perf_sort_and_cut(sb_perf_store *store);
sb_status perf_merge_devices(sb_perf_store *store, sb_error *error);
void perf_analyse_rows(sb_perf_store *store);
void perf_derive(sb_perf_store *store);
void perf_summarise(sb_perf_store *store);
void perf_judge(sb_perf_store *store);

/* ---- sums ---- */

/* Compensated sum (Neumaier). Start from a zeroed one. */
typedef struct perf_sum {
    double sum;
    double lost;
    bool started;
} perf_sum;

void perf_sum_add(perf_sum *sum, double value);
double perf_sum_value(const perf_sum *sum);

/* ---- fidelity ---- */

typedef enum perf_fidelity_class {
    PERF_FIDELITY_UNKNOWN,
    PERF_FIDELITY_SUFFICIENT,
    PERF_FIDELITY_TOO_HIGH,
    PERF_FIDELITY_TOO_LOW,
    PERF_FIDELITY_NOT_APPLICABLE,
} perf_fidelity_class;

typedef struct perf_fidelity {
    perf_fidelity_class class;
    sb_slice hint; /* empty: nothing to say */
} perf_fidelity;

/*
 * Whether the math fidelity of a row fits its datatypes. The hint lives in the arena; without one
 * only its being there counts.
 */
perf_fidelity perf_judge_fidelity(const sb_perf_row *row, sb_arena *arena);
/* "BF16" for BFLOAT16 and the like; other names unchanged. */
sb_slice perf_short_datatype(sb_slice datatype);

/* ---- what rows and groups are shown as; shared by the renderers ---- */

/* A gap above this is high; below PERF_GAP_FLOOR it cannot be brought by tracing. */
#define PERF_GAP_HIGH 6.5
#define PERF_GAP_FLOOR 6.0
/* What the original takes for all cores of a device. */
#define PERF_COMPAT_FULL_GRID 64

/* Whether the device waited too long before this row. */
static inline bool perf_gap_is_high(const sb_perf_row *row) {
    return sb_perf_has(row->gap) && row->gap.value > PERF_GAP_HIGH;
}

/* Whether it is a precision that a GPU multiplies in; math fidelities are none. */
bool perf_is_precision(sb_slice name);
/* Whether what the report is about ran on GPUs. */
bool perf_is_about_gpus(const sb_perf_report *report);
/* What could be saved of all high gaps, in microseconds, and how many there are. */
double perf_high_gaps(const sb_perf_report *report, size_t *count);

/* A share of a peak from which on an operation is bound by it. */
#define PERF_BOUND_PERCENT 65.0

sb_colour perf_op_colour(sb_slice op_code);
bool perf_row_is_grey(const sb_perf_report *report, const sb_perf_row *row);
/* One line of the table of operations, as the advice shows it too. */
typedef struct perf_table perf_table;
perf_table *perf_table_layout(const sb_perf_report *report, sb_style style);
void perf_table_put_row(perf_table *table, const sb_perf_row *row, sb_output *output);
void perf_table_free(perf_table *table);

#endif
