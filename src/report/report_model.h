/*
 * What the steps of making a report share.
 *
 *   report_input.c    files to device log, host and figures of the runtime
 *   report_join.c     those to rows (report_row): which op, which execution, in what order
 *   report_cells.c    a row to its cells
 *   report_csv.c      the ops report; report_device_csv.c the one without a host
 *   report_folder.c   the folder, copies, the side file
 *   report_noc.c      what the traces of the network on chip hold; report_npe.c their simulation
 */
#ifndef SB_REPORT_MODEL_H
#define SB_REPORT_MODEL_H

#include "capture/capture.h"
#include "report/report.h"
#include "report/report_clocks.h"
#include "report/report_columns.h"
#include "report/report_cpp.h"
#include "report/report_host.h"
#include "report/report_npe.h"
#include "report/report_programs.h"

/* ---- analyses: what is worked out from the device log ---- */

typedef enum report_analysis {
    REPORT_ANALYSIS_WAIT_FRONT,
    REPORT_ANALYSIS_RESERVE_BACK,
    REPORT_ANALYSIS_FW,
    REPORT_ANALYSIS_KERNEL,
    REPORT_ANALYSIS_KERNEL_MOVER,
    REPORT_ANALYSIS_PER_CORE,
    REPORT_ANALYSIS_FIRST_TO_LAST_START,
    REPORT_ANALYSIS_BRISC,
    REPORT_ANALYSIS_NCRISC,
    REPORT_ANALYSIS_TRISC0,
    REPORT_ANALYSIS_TRISC1,
    REPORT_ANALYSIS_TRISC2,
    REPORT_ANALYSIS_ERISC,
    REPORT_ANALYSIS_DISPATCH_TOTAL,
    REPORT_ANALYSIS_DISPATCH_GO,
    REPORT_ANALYSIS_OP2OP,
    REPORT_ANALYSIS_COUNTERS,
    REPORT_ANALYSES,
} report_analysis;

/* ---- rows ---- */

typedef enum report_row_kind {
    REPORT_ROW_OP,
    REPORT_ROW_REPLAY,
    REPORT_ROW_SIGNPOST,
    REPORT_ROW_DEVICE, /* an execution nobody on the host knows */
} report_row_kind;

typedef struct report_row {
    int64_t time; /* rows stand in this order */
    uint32_t order;
    report_row_kind kind;
    sb_completeness completeness;
    uint32_t op;      /* index, or the signpost's */
    uint32_t program; /* index + 1; 0: no device data from the log */
    uint32_t cpp;     /* index + 1; 0: none from the runtime's file */
    int64_t trace;    /* of a replay */
    int64_t session;
} report_row;

/* ---- the report ---- */

/* The two files of the host: mapped, or made from a trace. */
typedef struct report_host_files {
    sb_file messages_file;
    sb_file zones_file;
    sb_output messages_made;
    sb_output zones_made;
    bool is_there;
    bool is_made;
} report_host_files;

/* The recording of the host that its files were made from. */
typedef struct report_recording {
    char *path;      /* NULL: there is none */
    bool is_read;    /* else it is only copied */
    bool is_journal; /* or a recording of libstrobe's: no .tracy file yet */
    sb_file file;
    sb_trace *trace;           /* kept of a journal, to write the .tracy file from; else NULL */
    sb_capture_report capture; /* of a journal */
    int64_t resolution_ns;     /* of the program's clock */
    double ns_per_tick;
    sb_vector losses; /* report_loss */
} report_recording;

/* What a recording says was lost. */
typedef struct report_loss {
    sb_slice what; /* in the report's arena */
    sb_loss_cause cause;
    uint64_t count; /* 0: not known */
    int64_t from_ns;
    int64_t to_ns;
} report_loss;

typedef struct report_dispatch_times {
    bool has_total;
    bool has_go;
    uint64_t total;
    uint64_t go;
} report_dispatch_times;

struct sb_report {
    sb_report_options options;
    uint32_t analyses; /* a bit per report_analysis */
    sb_arena arena;
    char *log_folder;
    char *output_folder;
    report_recording recording;
    report_clocks clocks;

    sb_file device_file;
    bool has_device_file;
    report_device_log device;
    sb_file cpp_file;
    bool has_cpp;
    report_cpp cpp;
    report_host_files host_files;
    report_host host;
    bool has_host; /* there are ops of the host to report on */

    sb_vector rows;           /* report_row */
    uint32_t *programs_by_id; /* indices by device, id and time */
    size_t program_count;     /* without those that were dropped */
    uint64_t strangers;       /* executions that replays leave out */
    sb_vector problems;       /* char * */
    sb_vector notes;          /* char * */
    uint64_t noc_traces;      /* files */
    report_npe npe;           /* what simulating them gave */
    sb_report_summary summary;
};

/* ---- steps ---- */

/* A report without files. */
sb_report *report_create(const sb_report_options *options);
/* From the opened files to rows and a verdict. */
void report_process(sb_report *report);

sb_status report_open_inputs(sb_report *report, sb_error *error);
void report_close_inputs(sb_report *report);

/* Makes report->programs_by_id. */
void report_sort_programs(sb_report *report);
/* The executions of an id on a device: from programs_by_id[*first]. */
size_t report_find_programs(const sb_report *report, int64_t device, uint64_t id, size_t *first);
/* Makes report->rows. */
void report_join(sb_report *report);
/* What dispatch cores did for a program. */
report_dispatch_times report_find_dispatch(const sb_report *report, const report_program *program);

/* Something is missing or broken. */
void report_add_problem(sb_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Something that people should know, although nothing is missing. */
void report_add_note(sb_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Counts rows and says in words what is wrong. */
void report_judge(sb_report *report);

/* ---- cells ---- */

enum { REPORT_SCRATCH = 16384 };

/* What one device's rows hand on to the next. */
typedef struct report_device_state {
    int64_t device;
    bool has_kernel_end;
    bool has_mover_end;
    bool has_rate;
    double ns_per_cycle;
    uint64_t kernel_end;
    uint64_t mover_end;
    bool has_quasar_end[2];
    int64_t quasar_end[2];
} report_device_state;

typedef struct report_cells {
    sb_report *report;
    sb_slice cells[REPORT_COLUMNS];
    const report_op_info *info; /* tensors and sizes; NULL: none */
    uint32_t children;
    const report_program *program;
    double kernel_cycles; /* 0: none */
    bool skips_latencies; /* somebody else works them out */
    sb_vector states;     /* report_device_state */
    size_t scratch_used;
    char scratch[REPORT_SCRATCH];
} report_cells;

report_cells *report_cells_create(sb_report *report);
void report_cells_free(report_cells *cells);
/* Rows have to be asked for in order: some figures are distances to the row before. */
void report_fill_cells(report_cells *cells, const report_row *row);

/* Texts of numbers, valid until the next row. */
sb_slice report_cell_integer(report_cells *cells, int64_t value);
sb_slice report_cell_rounded(report_cells *cells, double value);
sb_slice report_cell_real(report_cells *cells, double value);

/* Minimum, maximum and mean of what cores took for a program's kernels, and the first of them. */
typedef struct report_per_core {
    uint64_t min;
    uint64_t max;
    double mean;
    uint64_t first;
    size_t count;
} report_per_core;

bool report_program_per_core(const report_program *program, report_per_core *per_core);
double report_cycles_to_ns(uint64_t cycles, int64_t clock_mhz);

static inline bool report_wants(const sb_report *report, report_analysis analysis) {
    return (report->analyses >> analysis & 1) != 0;
}

/* ---- files ---- */

/* A copy of a file in a folder, under a name. */
sb_status report_copy_file(const char *from, const char *folder, const char *name, sb_error *error);

void report_put_ops_csv(sb_report *report, sb_output *output);
void report_put_device_csv(sb_report *report, sb_output *output);
void report_put_per_core_csv(sb_report *report, sb_output *output);
void report_put_core_stats(sb_report *report, sb_output *output);
void report_put_zone_stats(sb_report *report, sb_output *output);
void report_put_side_file(const sb_report *report, sb_output *output);

/* ---- traces of the network on chip ---- */

/* How many there are. */
uint64_t report_count_noc_traces(const sb_report *report);
void report_put_noc_stats(sb_report *report, sb_output *output);

#endif
