/*
 * perf: what a run of operations cost, why, and what to change.
 *
 * Input is one or more ops reports (`ops_perf_results_*.csv`), one record per operation. Output is
 * an sb_perf_report: a row per operation with its time, its gap to the one before, the share of
 * DRAM bandwidth and of compute it reached and what bounds it; a summary by kind of operation; a
 * verdict. The functions at the end of this header render a report as text, CSV, JSON, HTML or a
 * picture.
 *
 *     sb_perf_options options = sb_perf_defaults();
 *     sb_perf_report *report = NULL;
 *     SB_TRY(sb_perf_analyse(&options, inputs, input_count, &report, error));
 *     sb_perf_print_table(report, style, output);
 *     sb_perf_free(report);
 *
 * Two modes. With `compat` the result is, digit for digit, that of tt-perf-report 1.2.4. Without,
 * it is what we hold to be right; docs/perf.md lists the differences. In both, bad data never ends
 * the analysis: what is wrong with a cell is recorded as a problem (row, column, reason), the value
 * that needs it stays absent, and the rest is complete.
 *
 * The report owns all it points to but the texts in its options, and is read-only after
 * sb_perf_analyse; any number of threads may render it. Inputs may be closed once the analysis is
 * done.
 */
#ifndef SB_PERF_PERF_H
#define SB_PERF_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* ---- options ---- */

typedef enum sb_perf_grouping {
    SB_PERF_BY_OP,
    SB_PERF_BY_MEMORY,
    SB_PERF_BY_CATEGORY
} sb_perf_grouping;

/* Inclusive range of row IDs; open ends are INT64_MIN and INT64_MAX. */
typedef struct sb_perf_id_range {
    bool given;
    int64_t first;
    int64_t last;
} sb_perf_id_range;

typedef struct sb_perf_options {
    bool compat;
    const char *start_signpost; /* NULL or empty: none */
    const char *end_signpost;
    bool ignore_signposts;
    bool print_signposts;
    bool tracing_mode; /* keep the order of the file */
    bool no_merge_devices;
    bool no_host_ops;
    const char *arch; /* for files that do not name theirs; NULL: wormhole */
    sb_perf_id_range id_range;
    sb_perf_grouping grouping;
    double min_percentage; /* rows below this share are greyed */
    bool no_advice;        /* leaves the Advice column out of the CSV */
    bool raw_op_codes;     /* adds the column Raw OP Code to the CSV */
    size_t top;            /* only this many rows, the costliest first; 0: all, in order */
    bool classic_colours;  /* older colours in the picture */
} sb_perf_options;

sb_perf_options sb_perf_defaults(void);

/* "5-10", "31-", "-12", with commas and blanks allowed in the numbers. False if it is no range. */
bool sb_perf_parse_id_range(const char *text, sb_perf_id_range *range);

typedef struct sb_perf_input {
    const char *name; /* for messages */
    const char *host; /* label of the host it comes from */
    sb_file *file;
} sb_perf_input;

/* ---- results ---- */

typedef enum sb_perf_number_kind {
    SB_PERF_ABSENT = 0, /* nothing to compute it from, or no such column */
    SB_PERF_NAN,        /* computed from a missing cell */
    SB_PERF_INTEGER,
    SB_PERF_REAL,
} sb_perf_number_kind;

typedef struct sb_perf_number {
    double value;
    sb_perf_number_kind kind;
} sb_perf_number;

static inline bool sb_perf_has(sb_perf_number number) {
    return number.kind >= SB_PERF_INTEGER;
}

/* The value, or 0 where there is none. */
static inline double sb_perf_or_zero(sb_perf_number number) {
    return sb_perf_has(number) ? number.value : 0;
}

typedef enum sb_perf_bound {
    SB_PERF_UNKNOWN = 0, /* no model for this kind of operation */
    SB_PERF_DRAM,
    SB_PERF_FLOP,
    SB_PERF_BOTH,
    SB_PERF_SLOW, /* neither: something else holds it up */
    SB_PERF_HOST, /* ran on the host */
} sb_perf_bound;

/* "DRAM", "FLOP", ...; empty for unknown. */
const char *sb_perf_bound_text(sb_perf_bound bound);

typedef enum sb_perf_kind {
    SB_PERF_OTHER_OP,
    SB_PERF_MATMUL,
    SB_PERF_CONV,
    SB_PERF_HALO,
    SB_PERF_SIGNPOST,
} sb_perf_kind;

enum { SB_PERF_INPUT_0, SB_PERF_INPUT_1, SB_PERF_OUTPUT_0, SB_PERF_TENSORS };

/*
 * One operation (or signpost). Texts whose data is NULL are absent; the text "nan" is a missing
 * cell. Times are in microseconds, DRAM in GB/s, FLOPs in TFLOP/s.
 */
typedef struct sb_perf_row {
    int64_t id;    /* 2 for the first record of the first file, then counting */
    uint32_t host; /* index of the input it comes from */
    sb_perf_kind kind;
    sb_perf_bound bound;
    bool is_host_op;
    bool counts_as_signpost; /* left out of the summary */
    bool dram_sharded;
    sb_slice op_code; /* with the sizes that tell it from others of its name */
    sb_slice raw_op_code;
    sb_slice math_fidelity; /* fidelity and datatypes in short */
    sb_slice fidelity;      /* the cell alone */
    sb_slice datatypes[SB_PERF_TENSORS];
    sb_slice input_0_memory;
    sb_slice call_count;     /* as spelled in the file */
    int64_t inner_block;     /* in0_block_w of the program config; -1: absent */
    int64_t subblock_height; /* out_subblock_h; -1: absent */
    int64_t subblock_width;  /* out_subblock_w; -1: absent */
    sb_perf_number device;
    sb_perf_number device_time;
    sb_perf_number gap; /* idle time since the operation before it */
    sb_perf_number cores;
    sb_perf_number dram;
    sb_perf_number dram_percent;
    sb_perf_number flops;
    sb_perf_number flops_percent; /* of the peak of the cores it ran on */
    sb_perf_number utilisation;   /* of the peak of the cores it could have had; not in compat */
    sb_perf_number total_percent;
    double available_cores;       /* worker cores the device offers this operation */
    const struct perf_arch *arch; /* NULL: not known */
} sb_perf_row;

/* Something the analysis did or chose; to be shown in this order. */
typedef struct sb_perf_note {
    bool is_warning;
    sb_slice text;
} sb_perf_note;

/* Something wrong with the data. row is 0 where it concerns a file as a whole. */
typedef struct sb_perf_problem {
    uint32_t host;
    int64_t row;
    const char *column; /* NULL: the record as a whole */
    sb_slice text;
} sb_perf_problem;

typedef struct sb_perf_group {
    sb_slice key;
    sb_perf_number device; /* absent unless devices are kept apart */
    const char *category;
    size_t op_count;
    double device_time; /* microseconds */
    bool time_is_whole; /* every row's time was the integer 0 (a quirk of the summary CSV) */
    double total_percent;
    sb_perf_number flops_min;
    sb_perf_number flops_max;
    sb_perf_number flops_mean;
    sb_perf_number flops_deviation;
    sb_perf_number flops_weighted;
} sb_perf_group;

/* Three sentences: where the time went, what could be gained most, what to do first. */
typedef struct sb_perf_verdict {
    sb_slice where;
    sb_slice opportunity;
    sb_slice first_step;
    double opportunity_us; /* what it would save at best */
} sb_perf_verdict;

typedef struct sb_perf_totals {
    size_t device_ops; /* these three are counted before filters */
    size_t host_ops;
    size_t signposts;
    double device_time;
    double gap;
} sb_perf_totals;

typedef struct sb_perf_report {
    sb_perf_options options;
    const char *format; /* "v1", "v2" or "v2.1" */
    const char *arch_name;
    double dram_bandwidth; /* GB/s, 0 for an unknown architecture */
    double worker_cores;
    const char *const *hosts;
    size_t host_count;
    size_t device_count;
    bool call_count_is_real; /* write call counts as 1024.0 */
    bool cores_are_real;     /* the same for the cores of matmuls */
    sb_perf_row *rows;
    size_t row_count;
    sb_perf_totals totals;
    sb_perf_group *groups; /* largest first */
    size_t group_count;
    bool groups_have_flops; /* false when grouped by category */
    sb_perf_verdict verdict;
    const sb_perf_note *notes;
    size_t note_count;
    const sb_perf_note *summary_notes; /* what the summary had to say */
    size_t summary_note_count;
    const sb_perf_problem *problems;
    size_t problem_count; /* all of them, also those beyond the ones kept */
    size_t problems_kept;
    struct sb_perf_store *store; /* memory behind all of this */
} sb_perf_report;

/*
 * Reads the inputs and analyses them. Fails only when there is nothing to report on: an input that
 * is no ops report, or none with an operation in it.
 */
sb_status sb_perf_analyse(const sb_perf_options *options, const sb_perf_input *inputs,
                          size_t input_count, sb_perf_report **report, sb_error *error);
void sb_perf_free(sb_perf_report *report);

/* "HOST: row 12, column MATH FIDELITY: ...", as far as it is known; ends in a NUL. */
sb_slice sb_perf_describe(const sb_perf_report *report, const sb_perf_problem *problem,
                          sb_arena *arena);

/* ---- advice ---- */

enum { SB_PERF_ADVICE_MAX = 6 };

typedef struct sb_perf_advice {
    sb_slice items[SB_PERF_ADVICE_MAX]; /* sentences; valid as long as the arena */
    size_t count;
    double gain_us; /* what following them would save at best; 0: unknown */
} sb_perf_advice;

/*
 * What to try for this row; no items if it is fine or there is no model for it. Without an arena
 * the items have no wording; their number and the gain are the same.
 */
sb_perf_advice sb_perf_advise(const sb_perf_report *report, const sb_perf_row *row,
                              sb_arena *arena);

/* ---- rendering ---- */

/* The table of operations with its heading and totals. */
void sb_perf_print_table(const sb_perf_report *report, sb_style style, sb_output *output);
void sb_perf_print_advice(const sb_perf_report *report, sb_style style, sb_output *output);
void sb_perf_print_summary(const sb_perf_report *report, sb_style style, sb_output *output);
void sb_perf_print_verdict(const sb_perf_report *report, sb_style style, sb_output *output);
void sb_perf_write_csv(const sb_perf_report *report, sb_output *output);
void sb_perf_write_summary_csv(const sb_perf_report *report, sb_output *output);
void sb_perf_write_json(const sb_perf_report *report, sb_output *output);
void sb_perf_write_html(const sb_perf_report *report, sb_output *output);
/* The summary as a stacked bar, a PNG of 300 dots per inch. */
sb_status sb_perf_write_png(const sb_perf_report *report, sb_output *output, sb_error *error);

#endif
