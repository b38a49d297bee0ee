/*
 * For the tests of the perf analysis: traces put together from a few named cells, analysed from
 * memory that is gone before the report is looked at.
 */
#ifndef SB_TESTS_UNIT_PERF_TESTING_H
#define SB_TESTS_UNIT_PERF_TESTING_H

#include "testing.h"

#include "perf/perf_model.h"

/* ---- traces ---- */

typedef enum trace_format { TRACE_V1, TRACE_V2, TRACE_V21 } trace_format;

/* The cells of a record. NULL stands for what is said behind; elsewhere for an empty cell. */
typedef struct test_op {
    const char *code;     /* "Add" */
    const char *type;     /* "tt_dnn_device" */
    const char *device;   /* "0" */
    const char *duration; /* "1000" */
    const char *latency;
    const char *cores; /* "64" */
    const char *calls; /* "1" */
    const char *start;
    const char *attributes;
    const char *fidelity;
    const char *types[SB_PERF_TENSORS];
    const char *memories[SB_PERF_TENSORS];
    const char *sizes[SB_PERF_TENSORS]; /* four cells: "1,1,32[30],64" */
    const char *arch;                   /* only in v2.1 */
    const char *available;              /* only in v2.1 */
} test_op;

#define OPS(...) ((const test_op[]){__VA_ARGS__})
#define SIGNPOST(name) \
    { .code = (name), .type = "signpost", .device = "", .duration = "", .cores = "", .calls = "" }
#define HOST_OP(name) \
    { .code = (name), .type = "python_fallback", .device = "", .duration = "", .cores = "" }

static inline void put_cell_text(sb_output *output, const char *text, const char *otherwise) {
    sb_put_csv(output, sb_slice_of(text != NULL ? text : otherwise));
    sb_put_char(output, ',');
}

static inline void put_trace_header(sb_output *output, trace_format format) {
    static const char *const tensors[] = {"INPUT_0", "INPUT_1", "OUTPUT_0"};
    sb_put_text(output, "OP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns],"
                        "OP TO OP LATENCY [ns],CORE COUNT,GLOBAL CALL COUNT,HOST START TS,"
                        "ATTRIBUTES,MATH FIDELITY");
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        sb_put_format(output, ",%s_DATATYPE,%s_MEMORY", tensors[i], tensors[i]);
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        for (const char *axis = "WZYX"; *axis != '\0'; axis++)
            sb_put_format(output, ",%s_%c%s", tensors[i], *axis,
                          format == TRACE_V1 ? "" : "_PAD[LOGICAL]");
    }
    sb_put_text(output, format == TRACE_V21 ? ",DEVICE ARCH,AVAILABLE WORKER CORE COUNT\n" : "\n");
}

static inline void put_trace_op(sb_output *output, const test_op *op, trace_format format) {
    put_cell_text(output, op->code, "Add");
    put_cell_text(output, op->type, "tt_dnn_device");
    put_cell_text(output, op->device, "0");
    put_cell_text(output, op->duration, "1000");
    put_cell_text(output, op->latency, "");
    put_cell_text(output, op->cores, "64");
    put_cell_text(output, op->calls, "1");
    put_cell_text(output, op->start, "");
    put_cell_text(output, op->attributes, "");
    sb_put_csv(output, sb_slice_of(op->fidelity != NULL ? op->fidelity : ""));
    for (int i = 0; i < SB_PERF_TENSORS; i++)
        sb_put_format(output, ",%s,%s", op->types[i] != NULL ? op->types[i] : "",
                      op->memories[i] != NULL ? op->memories[i] : "");
    for (int i = 0; i < SB_PERF_TENSORS; i++)
        sb_put_format(output, ",%s", op->sizes[i] != NULL ? op->sizes[i] : ",,,");
    if (format == TRACE_V21)
        sb_put_format(output, ",%s,%s", op->arch != NULL ? op->arch : "",
                      op->available != NULL ? op->available : "");
    sb_put_char(output, '\n');
}

/* ---- analysis ---- */

static inline sb_perf_options compat_options(void) {
    sb_perf_options options = sb_perf_defaults();
    options.compat = true;
    return options;
}

/* Copies each text to memory of exactly its size and frees it before it returns. */
static inline sb_status analyse_texts(const sb_perf_options *options, const sb_slice *texts,
                                      size_t count, sb_perf_report **report, sb_error *error) {
    static const char *const names[] = {"first.csv", "second.csv", "third.csv"};
    static const char *const hosts[] = {"alpha", "beta", "gamma"};
    sb_file files[COUNT_OF(names)];
    sb_perf_input inputs[COUNT_OF(names)];
    assert_true(count <= COUNT_OF(names));
    for (size_t i = 0; i < count; i++) {
        char *copy = sb_alloc(texts[i].size);
        if (texts[i].size > 0)
            memcpy(copy, texts[i].data, texts[i].size);
        files[i] = sb_file_of((sb_slice){copy, texts[i].size});
        inputs[i] = (sb_perf_input){.name = names[i], .host = hosts[i], .file = &files[i]};
    }
    sb_slice copies[COUNT_OF(names)];
    for (size_t i = 0; i < count; i++)
        copies[i] = files[i].text;
    const sb_status status = sb_perf_analyse(options, inputs, count, report, error);
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)copies[i].data);
    return status;
}

static inline sb_perf_report *analyse_text(const sb_perf_options *options, const char *text) {
    sb_perf_report *report = NULL;
    sb_error error = {0};
    const sb_slice slice = sb_slice_of(text);
    if (analyse_texts(options, &slice, 1, &report, &error) != SB_OK)
        fail_msg("%s", error.message);
    return report;
}

static inline sb_perf_report *analyse_as(trace_format format, const sb_perf_options *options,
                                         const test_op *ops, size_t count) {
    sb_output text = sb_output_to_memory();
    put_trace_header(&text, format);
    for (size_t i = 0; i < count; i++)
        put_trace_op(&text, &ops[i], format);
    sb_put_char(&text, '\0');
    sb_perf_report *report = analyse_text(options, sb_output_text(&text).data);
    sb_output_discard(&text);
    return report;
}

static inline sb_perf_report *analyse_ops(const sb_perf_options *options, const test_op *ops,
                                          size_t count) {
    return analyse_as(TRACE_V2, options, ops, count);
}

/* ANALYSE(&options, OPS({...}, {...})) */
#define ANALYSE(options, ops) analyse_ops((options), (ops), sizeof(ops) / sizeof(test_op))

/* ---- what is in a report ---- */

static inline const sb_perf_row *row_with_id(const sb_perf_report *report, int64_t id) {
    for (size_t i = 0; i < report->row_count; i++) {
        if (report->rows[i].id == id)
            return &report->rows[i];
    }
    fail_msg("there is no row %lld", (long long)id);
    return NULL;
}

/* The IDs of the rows in their order: "2 3 5". */
static inline void check_ids(const sb_perf_report *report, const char *expected) {
    sb_output ids = sb_output_to_memory();
    for (size_t i = 0; i < report->row_count; i++)
        sb_put_format(&ids, "%s%lld", i > 0 ? " " : "", (long long)report->rows[i].id);
    check_slice(sb_output_text(&ids), expected);
    sb_output_discard(&ids);
}

static inline void check_number(sb_perf_number number, double expected) {
    assert_true(sb_perf_has(number));
    check_near(number.value, expected);
}

static inline void check_absent(sb_perf_number number) {
    assert_int_equal(number.kind, SB_PERF_ABSENT);
}

static inline bool has_note(const sb_perf_report *report, const char *part) {
    for (size_t i = 0; i < report->note_count; i++) {
        if (sb_slice_contains(report->notes[i].text, part))
            return true;
    }
    return false;
}

static inline size_t count_warnings(const sb_perf_report *report) {
    size_t count = 0;
    for (size_t i = 0; i < report->note_count; i++)
        count += report->notes[i].is_warning ? 1 : 0;
    return count;
}

/* The first problem of that row and column (NULL: of the record as a whole). */
static inline const sb_perf_problem *find_problem(const sb_perf_report *report, int64_t row,
                                                  const char *column) {
    for (size_t i = 0; i < report->problems_kept; i++) {
        const sb_perf_problem *problem = &report->problems[i];
        const bool same = column == NULL
                              ? problem->column == NULL
                              : problem->column != NULL && strcmp(problem->column, column) == 0;
        if (problem->row == row && same)
            return problem;
    }
    return NULL;
}

static inline void check_problem(const sb_perf_report *report, int64_t row, const char *column,
                                 const char *part) {
    const sb_perf_problem *problem = find_problem(report, row, column);
    if (problem == NULL)
        fail_msg("no problem of row %lld, column %s", (long long)row, column ? column : "-");
    else
        check_contains(problem->text, part);
}

#endif
