/*
 * CSV files -> records.
 *
 * Only the columns that the analysis uses are kept, texts are shared between records, and the pages
 * of the file are given back as the reader passes them: memory grows with the number of records,
 * not with the size of the file.
 */
#include "perf/perf_model.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- columns ---- */

typedef enum column {
    OP_CODE,
    OP_TYPE,
    CALL_COUNT,
    DEVICE_ID,
    DEVICE_ARCH,
    ATTRIBUTES,
    MATH_FIDELITY,
    CORE_COUNT,
    AVAILABLE_CORES,
    HOST_START,
    LATENCY,
    DURATION,
    INPUT_0_DATATYPE,
    INPUT_1_DATATYPE,
    OUTPUT_0_DATATYPE,
    INPUT_0_MEMORY,
    INPUT_1_MEMORY,
    OUTPUT_0_MEMORY,
    COMPLETENESS,
    FIRST_DIMENSION, /* 3 tensors x W, Z, Y, X */
    COLUMN_COUNT = FIRST_DIMENSION + SB_PERF_TENSORS * PERF_DIMENSIONS,
} column;

static const char *const column_names[FIRST_DIMENSION] = {
    [OP_CODE] = "OP CODE",
    [OP_TYPE] = "OP TYPE",
    [CALL_COUNT] = "GLOBAL CALL COUNT",
    [DEVICE_ID] = "DEVICE ID",
    [DEVICE_ARCH] = "DEVICE ARCH",
    [ATTRIBUTES] = "ATTRIBUTES",
    [MATH_FIDELITY] = "MATH FIDELITY",
    [CORE_COUNT] = "CORE COUNT",
    [AVAILABLE_CORES] = "AVAILABLE WORKER CORE COUNT",
    [HOST_START] = "HOST START TS",
    [LATENCY] = "OP TO OP LATENCY [ns]",
    [DURATION] = "DEVICE KERNEL DURATION [ns]",
    [INPUT_0_DATATYPE] = "INPUT_0_DATATYPE",
    [INPUT_1_DATATYPE] = "INPUT_1_DATATYPE",
    [OUTPUT_0_DATATYPE] = "OUTPUT_0_DATATYPE",
    [INPUT_0_MEMORY] = "INPUT_0_MEMORY",
    [INPUT_1_MEMORY] = "INPUT_1_MEMORY",
    [OUTPUT_0_MEMORY] = "OUTPUT_0_MEMORY",
    [COMPLETENESS] = "COMPLETENESS",
};

/* Columns without which a complete report cannot be made. */
static const column needed_columns[] = {OP_TYPE,    CALL_COUNT,     DEVICE_ID, CORE_COUNT,
                                        ATTRIBUTES, INPUT_0_MEMORY, DURATION,  LATENCY};

static const char *const dimension_names[SB_PERF_TENSORS][PERF_DIMENSIONS] = {
    {"INPUT_0_W", "INPUT_0_Z", "INPUT_0_Y", "INPUT_0_X"},
    {"INPUT_1_W", "INPUT_1_Z", "INPUT_1_Y", "INPUT_1_X"},
    {"OUTPUT_0_W", "OUTPUT_0_Z", "OUTPUT_0_Y", "OUTPUT_0_X"},
};

enum { NO_COLUMN = -1 };

/* How the cells of a column look over all records; decides how some values are written. */
typedef struct column_kind {
    bool has_missing;
    bool has_real;
    bool has_text;
} column_kind;

/* The different texts of a column, in order of appearance. */
typedef struct distinct_values {
    sb_intern texts;
    sb_output list; /* the first of them, for a message */
} distinct_values;

typedef struct input_reader {
    sb_perf_store *store;
    const sb_perf_input *input;
    uint32_t host;
    sb_csv csv;
    int place[COLUMN_COUNT]; /* index of the field, or NO_COLUMN */
    size_t header_count;
    double highest_device; /* -1: none */
    sb_slice last_arch_name;
    const perf_arch *last_arch;
} input_reader;

/* What all files together have. */
typedef struct joined_columns {
    bool has_arch;
    bool has_available;
    bool has_padded;
    column_kind call_count;
    column_kind core_count;
    distinct_values archs;
    distinct_values core_counts;
    double first_available; /* the first usable AVAILABLE WORKER CORE COUNT; NaN: none */
} joined_columns;

/* The first column of that name. */
static int find_column(const sb_csv *csv, const char *name) {
    for (size_t i = 0; i < csv->field_count; i++) {
        if (sb_slice_is(csv->fields[i], name))
            return (int)i;
    }
    return NO_COLUMN;
}

static int find_dimension(const sb_csv *csv, const char *name) {
    char padded[64];
    snprintf(padded, sizeof padded, "%s_PAD[LOGICAL]", name);
    const int place = find_column(csv, padded);
    return place != NO_COLUMN ? place : find_column(csv, name);
}

static void find_columns(input_reader *reader, joined_columns *joined) {
    const sb_csv *csv = &reader->csv;
    for (int i = 0; i < FIRST_DIMENSION; i++)
        reader->place[i] = find_column(csv, column_names[i]);
    for (int i = FIRST_DIMENSION; i < COLUMN_COUNT; i++) {
        const int dimension = i - FIRST_DIMENSION;
        reader->place[i] = find_dimension(
            csv, dimension_names[dimension / PERF_DIMENSIONS][dimension % PERF_DIMENSIONS]);
    }
    for (size_t i = 0; i < csv->field_count; i++) {
        if (sb_slice_contains(csv->fields[i], "_PAD[LOGICAL]"))
            joined->has_padded = true;
    }
    joined->has_arch = joined->has_arch || reader->place[DEVICE_ARCH] != NO_COLUMN;
    joined->has_available = joined->has_available || reader->place[AVAILABLE_CORES] != NO_COLUMN;
    reader->header_count = csv->field_count;
}

/* ---- cells ---- */

static const sb_slice missing_text = SB_SLICE("nan");

/* The texts that the pandas library reads as "no value"; the empty one is tested apart. */
static const char *const missing_tokens[] = {
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A",      "NA",  "NULL",    "NaN",      "None", "n/a",  "nan",    "null",
};

static bool is_missing(sb_slice cell) {
    if (cell.size == 0)
        return true;
    if (cell.size > 8)
        return false;
    switch (cell.data[0]) {
    case '1': /* the first letter of many numbers as well */
        if (cell.size < 3 || cell.data[2] != '#')
            return false;
        break;
    case '#':
    case '-':
    case '<':
    case 'N':
    case 'n':
        break;
    default:
        return false;
    }
    for (size_t i = 0; i < sizeof missing_tokens / sizeof missing_tokens[0]; i++) {
        if (sb_slice_is(cell, missing_tokens[i]))
            return true;
    }
    return false;
}

/* The cell of the current record; no data if the file has no such column. */
static sb_slice cell_of(const input_reader *reader, int which) {
    const int place = reader->place[which];
    if (place == NO_COLUMN)
        return (sb_slice){NULL, 0};
    if ((size_t)place >= reader->csv.field_count)
        return (sb_slice){"", 0};
    return reader->csv.fields[place];
}

static int64_t current_id(const input_reader *reader) {
    return (int64_t)reader->store->records.count + 2;
}

/* For messages: a cell may be long. */
static sb_slice shown(sb_slice cell) {
    enum { CELL_SHOWN = 60 };
    return sb_slice_first(cell, CELL_SHOWN);
}

static void refuse_cell(input_reader *reader, column which, const char *what) {
    const sb_slice text = shown(cell_of(reader, which));
    perf_problem(reader->store, reader->host, current_id(reader), column_names[which],
                 "'%.*s' is not %s; taken as missing", (int)text.size, text.data, what);
}

static double number_cell(input_reader *reader, column which) {
    const sb_slice cell = cell_of(reader, which);
    if (is_missing(cell))
        return NAN;
    double value = 0;
    const bool is_number = sb_parse_double(cell, &value);
    if (is_number && isfinite(value))
        return value;
    refuse_cell(reader, which, is_number ? "a finite number" : "a number");
    return NAN;
}

/* A duration or a count. The original takes what it finds and computes with it. */
static double magnitude_cell(input_reader *reader, column which, bool may_be_zero) {
    const double value = number_cell(reader, which);
    if (reader->store->options.compat || isnan(value) || value > 0 || (value == 0 && may_be_zero))
        return value;
    refuse_cell(reader, which, may_be_zero ? "0 or more" : "above 0");
    return NAN;
}

/* A text that many records share. */
static sb_slice text_cell(input_reader *reader, int which) {
    assert(which < FIRST_DIMENSION);
    const sb_slice cell = cell_of(reader, which);
    if (cell.data == NULL)
        return cell;
    if (is_missing(cell))
        return missing_text;
    sb_perf_store *store = reader->store;
    if (reader->csv.non_ascii && !sb_utf8_is_valid(cell))
        perf_problem(store, reader->host, current_id(reader), column_names[which],
                     "is not valid UTF-8");
    sb_arena scratch = {0};
    const sb_slice clean = store->options.compat ? cell : sb_utf8_clean(&scratch, cell);
    const sb_slice kept = sb_intern_text(&store->texts, sb_intern_add(&store->texts, clean));
    sb_arena_free(&scratch);
    return kept;
}

/* "64[50]", "64" or "64.0": the padded size; -1 if it is none of these. */
static int64_t parse_dimension(sb_slice cell) {
    sb_slice rest;
    const sb_slice padded = sb_slice_cut(cell, '[', &rest);
    int64_t size = 0;
    if (sb_parse_int64(padded, &size))
        return size >= 0 ? size : -1;
    double real = 0;
    if (sb_parse_double(padded, &real) && real >= 0 && real < 1e15)
        return (int64_t)real;
    return -1;
}

static const perf_shapes *read_shapes(input_reader *reader) {
    perf_shapes *shapes = sb_arena_alloc(&reader->store->arena, sizeof *shapes);
    for (int tensor = 0; tensor < SB_PERF_TENSORS; tensor++) {
        for (int i = 0; i < PERF_DIMENSIONS; i++) {
            const sb_slice cell = cell_of(reader, FIRST_DIMENSION + tensor * PERF_DIMENSIONS + i);
            shapes->size[tensor][i] = is_missing(cell) ? -1 : parse_dimension(cell);
        }
    }
    return shapes;
}

static uint64_t signature_of(const input_reader *reader, const perf_op *op) {
    uint64_t hash = sb_hash(op->code, 0);
    for (int i = FIRST_DIMENSION; i < COLUMN_COUNT; i++) {
        const sb_slice cell = cell_of(reader, i);
        if (cell.size > 0)
            hash = sb_hash(cell, hash);
    }
    return hash;
}

static int64_t read_host_start(input_reader *reader) {
    const sb_slice cell = cell_of(reader, HOST_START);
    int64_t exact = 0;
    if (sb_parse_int64(cell, &exact))
        return exact;
    const double value = number_cell(reader, HOST_START);
    return isnan(value) || fabs(value) > 9e18 ? INT64_MAX : (int64_t)value;
}

/* A device op must have run somewhere: without a number it is counted to the first device. */
static double read_device(input_reader *reader, perf_record_type type) {
    const sb_slice cell = cell_of(reader, DEVICE_ID);
    double value = 0;
    if (!is_missing(cell) && sb_parse_double(cell, &value) && value >= 0 && value < 1e6)
        return floor(value);
    if (type != PERF_DEVICE_OP)
        return NAN;
    const sb_slice text = shown(cell);
    if (cell.data != NULL)
        perf_problem(reader->store, reader->host, current_id(reader), column_names[DEVICE_ID],
                     "'%.*s' is no device number; taken as device 0", (int)text.size, text.data);
    return 0;
}

static perf_record_type read_type(input_reader *reader, const perf_record *record) {
    const sb_slice cell = cell_of(reader, OP_TYPE);
    if (sb_slice_is(cell, "tt_dnn_device"))
        return PERF_DEVICE_OP;
    if (sb_slice_is(cell, "signpost"))
        return PERF_SIGNPOST_MARK;
    if (!is_missing(cell))
        return PERF_OTHER_RECORD;
    if (cell.data != NULL)
        perf_problem(reader->store, reader->host, current_id(reader), column_names[OP_TYPE],
                     "is empty; a record with a kernel duration is taken as a device op");
    return isnan(record->duration) ? PERF_OTHER_RECORD : PERF_DEVICE_OP;
}

static sb_slice read_op_code(input_reader *reader) {
    const sb_slice code = text_cell(reader, OP_CODE);
    if (!sb_slice_equal(code, missing_text))
        return code;
    perf_problem(reader->store, reader->host, current_id(reader), column_names[OP_CODE],
                 "is empty; shown as 'unnamed'");
    return (sb_slice)SB_SLICE("unnamed");
}

/* ---- records ---- */

/* More digits than 64 bits hold: the pandas library keeps such cells as text. */
static bool is_long_integer(sb_slice cell) {
    for (size_t i = 0; i < cell.size; i++) {
        if (cell.data[i] < '0' || cell.data[i] > '9')
            return false;
    }
    return cell.size > 18;
}

static void note_kind(column_kind *kind, sb_slice cell) {
    int64_t whole = 0;
    double real = 0;
    if (is_missing(cell))
        kind->has_missing = true;
    else if (sb_parse_int64(cell, &whole))
        return;
    else if (!is_long_integer(cell) && sb_parse_double(cell, &real))
        kind->has_real = true;
    else
        kind->has_text = true;
}

static void check_length(input_reader *reader) {
    sb_perf_store *store = reader->store;
    const size_t count = reader->csv.field_count;
    const int64_t id = current_id(reader);
    if ((reader->csv.flaws & SB_CSV_OPEN_QUOTE) != 0)
        perf_problem(store, reader->host, id, NULL,
                     "line %zu: a quote is never closed; the record takes the rest of the file",
                     reader->csv.line);
    if ((reader->csv.flaws & SB_CSV_AFTER_QUOTE) != 0 && !store->options.compat)
        perf_problem(
            store, reader->host, id, NULL,
            "line %zu: text stands behind a closing quote; it is taken as part of the cell",
            reader->csv.line);
    if (count > reader->header_count)
        perf_problem(store, reader->host, id, NULL,
                     "line %zu: has %zu fields, the header has %zu; the surplus is ignored",
                     reader->csv.line, count, reader->header_count);
    /* The original reads short records without a word. */
    if (count < reader->header_count && !store->options.compat)
        perf_problem(store, reader->host, id, NULL,
                     "line %zu: %s after %zu of %zu fields; the rest is taken as missing",
                     reader->csv.line, reader->csv.ended_by_eof ? "is cut off" : "ends", count,
                     reader->header_count);
}

static void add_distinct(distinct_values *values, sb_slice text) {
    enum { LISTED = 16 };
    const uint32_t before = sb_intern_count(&values->texts);
    if (sb_intern_add(&values->texts, text) < before || before >= LISTED)
        return;
    sb_put_text(&values->list, before > 0 ? ", " : "");
    sb_put(&values->list, text);
}

/* The architecture of the record, which also counts for the file. */
static const perf_arch *read_arch(input_reader *reader, joined_columns *joined) {
    const sb_slice cell = text_cell(reader, DEVICE_ARCH);
    if (cell.data == NULL || sb_slice_equal(cell, missing_text))
        return NULL;
    if (!sb_slice_equal(cell, reader->last_arch_name)) { /* it hardly ever changes */
        add_distinct(&joined->archs, cell);
        reader->last_arch_name = cell;
        reader->last_arch = perf_find_arch(cell, reader->store->options.compat);
    }
    return reader->last_arch;
}

static double read_available_cores(input_reader *reader, joined_columns *joined) {
    const double cores = number_cell(reader, AVAILABLE_CORES);
    if (isnan(cores) || cores <= 0)
        return NAN;
    add_distinct(&joined->core_counts, cell_of(reader, AVAILABLE_CORES));
    if (isnan(joined->first_available))
        joined->first_available = cores;
    return cores;
}

static void read_record(input_reader *reader, joined_columns *joined) {
    sb_perf_store *store = reader->store;
    check_length(reader);
    perf_record record = {.id = current_id(reader), .host = reader->host};
    record.op = perf_intern_op(store, read_op_code(reader));
    record.duration = magnitude_cell(reader, DURATION, true);
    record.type = read_type(reader, &record);
    record.is_complete = sb_slice_is(cell_of(reader, COMPLETENESS), "complete");
    record.is_mark =
        record.type == PERF_SIGNPOST_MARK ||
        (store->options.compat && sb_slice_contains(cell_of(reader, OP_TYPE), "signpost"));
    record.latency = number_cell(reader, LATENCY);
    record.cores = magnitude_cell(reader, CORE_COUNT, false);
    record.available_cores = read_available_cores(reader, joined);
    record.host_start = read_host_start(reader);
    record.device = read_device(reader, record.type);
    record.names_arch = !is_missing(cell_of(reader, DEVICE_ARCH));
    record.arch = read_arch(reader, joined);
    const sb_slice attributes = cell_of(reader, ATTRIBUTES);
    record.attributes =
        perf_intern_attributes(store, is_missing(attributes) ? (sb_slice){"", 0} : attributes);
    const sb_slice calls = cell_of(reader, CALL_COUNT);
    record.call_count = calls.data == NULL  ? calls
                        : is_missing(calls) ? missing_text
                                            : sb_arena_copy(&store->arena, calls);
    record.fidelity = text_cell(reader, MATH_FIDELITY);
    for (int i = 0; i < SB_PERF_TENSORS; i++) {
        record.datatypes[i] = text_cell(reader, INPUT_0_DATATYPE + i);
        record.memories[i] = text_cell(reader, INPUT_0_MEMORY + i);
    }
    if (record.op->kind == SB_PERF_MATMUL || record.op->kind == SB_PERF_CONV)
        record.shapes = read_shapes(reader);
    if (!store->options.compat)
        record.signature = signature_of(reader, record.op);
    note_kind(&joined->call_count, calls);
    note_kind(&joined->core_count, cell_of(reader, CORE_COUNT));
    if (record.device > reader->highest_device)
        reader->highest_device = record.device;
    *(perf_record *)sb_vector_push(&store->records) = record;
}

/* ---- is this an ops report at all? ---- */

static sb_status refuse_header(const input_reader *reader, const char *why, sb_error *error) {
    sb_output names = sb_output_to_memory();
    sb_arena scratch = {0};
    for (size_t i = 0; i < reader->csv.field_count && i < 4; i++) {
        const sb_slice name = sb_slice_trim(sb_slice_first(reader->csv.fields[i], 32));
        sb_put_text(&names, i > 0 ? ", '" : "'");
        sb_put(&names, sb_utf8_clean(&scratch, name));
        sb_put_char(&names, '\'');
    }
    if (reader->csv.field_count > 4)
        sb_put_text(&names, ", ...");
    const sb_slice list = sb_output_text(&names);
    const sb_status result =
        sb_error_set(error, SB_ERR_FORMAT,
                     "%s: %s (its first line has %zu columns: %.*s); expected is an ops report "
                     "(ops_perf_results_*.csv) with the columns OP CODE, OP TYPE and DEVICE KERNEL "
                     "DURATION [ns]",
                     reader->input->name, why, reader->csv.field_count, (int)list.size, list.data);
    sb_output_discard(&names);
    sb_arena_free(&scratch);
    return result;
}

/* What becomes of a report without this column. */
static const char *without_column(column missing) {
    if (missing == DEVICE_ID)
        return "all ops are counted to device 0";
    if (missing == OP_TYPE)
        return "records with a kernel duration are taken as device ops";
    return "what depends on it stays empty";
}

static sb_status check_header(input_reader *reader, sb_error *error) {
    sb_perf_store *store = reader->store;
    if (store->options.compat && reader->place[DEVICE_ID] == NO_COLUMN)
        return refuse_header(reader, "there is no column DEVICE ID", error);
    if (reader->place[OP_CODE] == NO_COLUMN ||
        (reader->place[OP_TYPE] == NO_COLUMN && reader->place[DURATION] == NO_COLUMN)) {
        const bool is_device_log = sb_slice_starts_with(reader->csv.fields[0], "ARCH:");
        return refuse_header(
            reader, is_device_log ? "this is a device log" : "this is no ops report", error);
    }
    for (size_t i = 0; i < sizeof needed_columns / sizeof needed_columns[0]; i++) {
        const column needed = needed_columns[i];
        if (reader->place[needed] == NO_COLUMN)
            perf_problem(store, reader->host, 0, column_names[needed], "is not in the file; %s",
                         without_column(needed));
    }
    return SB_OK;
}

static sb_status check_text(const input_reader *reader, sb_error *error) {
    const sb_slice text = reader->input->file->text;
    const sb_slice start = sb_slice_first(text, 4096);
    const char *expected = "expected is an ops report (ops_perf_results_*.csv)";
    if (sb_slice_trim(text).size == 0)
        SB_FAIL(error, SB_ERR_EMPTY, "%s: the file is empty; %s", reader->input->name, expected);
    if (memchr(start.data, '\0', start.size) != NULL)
        SB_FAIL(error, SB_ERR_FORMAT, "%s: this is a binary file; %s", reader->input->name,
                expected);
    return SB_OK;
}

static sb_status read_header(input_reader *reader, joined_columns *joined, sb_error *error) {
    SB_TRY(check_text(reader, error));
    sb_csv_begin(&reader->csv, reader->input->file->text);
    if (!sb_csv_next(&reader->csv))
        SB_FAIL(error, SB_ERR_EMPTY, "%s: the file has no header line", reader->input->name);
    find_columns(reader, joined);
    return check_header(reader, error);
}

/* ---- format and architecture ---- */

static void note_distinct(sb_perf_store *store, const distinct_values *values, const char *what,
                          const char *assumed) {
    const sb_slice list = sb_output_text(&values->list);
    const uint32_t count = sb_intern_count(&values->texts);
    if (count == 0)
        perf_note(store, true, "No usable %s in the CSV: %s assumed", what, assumed);
    else if (count > 1 && store->options.compat)
        perf_note(store, true, "Several values of %s: %.*s; the first counts for all rows", what,
                  (int)list.size, list.data);
    else if (count > 1)
        perf_note(store, false, "Several values of %s: %.*s; each row is measured against its own",
                  what, (int)list.size, list.data);
}

static void report_unknown_arch(sb_perf_store *store, const char *source, sb_slice name) {
    if (perf_find_arch(name, store->options.compat) == NULL)
        perf_problem(store, 0, 0, source,
                     "the architecture '%.*s' is not known; shares of its peaks stay empty",
                     (int)name.size, name.data);
}

/* Whether it is the CSV that says what the program ran on. */
static bool csv_says_arch(const sb_perf_store *store, const joined_columns *joined) {
    if (store->options.compat)
        return joined->has_arch || joined->has_available;
    return sb_intern_count(&joined->archs.texts) > 0;
}

static sb_slice choose_arch_name(sb_perf_store *store, const joined_columns *joined) {
    const char *wanted = store->options.arch;
    if (!csv_says_arch(store, joined))
        return wanted != NULL ? sb_slice_of(wanted) : (sb_slice)SB_SLICE("wormhole");
    note_distinct(store, &joined->archs, column_names[DEVICE_ARCH], "wormhole");
    const sb_slice name = sb_intern_count(&joined->archs.texts) > 0
                              ? sb_intern_text(&joined->archs.texts, 0)
                              : (sb_slice)SB_SLICE("wormhole");
    if (wanted != NULL)
        perf_note(store, true, "--arch %s ignored: the CSV says %.*s", wanted, (int)name.size,
                  name.data);
    return name;
}

static double choose_core_count(sb_perf_store *store, const joined_columns *joined) {
    const double of_arch = store->arch != NULL ? store->arch->worker_cores : 64;
    if (!joined->has_arch && !joined->has_available)
        return of_arch;
    const double assumed = store->options.compat ? 64 : of_arch;
    char text[SB_NUMBER_SIZE];
    text[sb_format_fixed(assumed, 0, false, text)] = '\0';
    note_distinct(store, &joined->core_counts, column_names[AVAILABLE_CORES], text);
    return isnan(joined->first_available) ? assumed : joined->first_available;
}

static void choose_arch(sb_perf_store *store, const joined_columns *joined) {
    sb_perf_report *report = &store->report;
    const bool says_arch = csv_says_arch(store, joined);
    const sb_slice name = choose_arch_name(store, joined);
    report_unknown_arch(store, says_arch ? column_names[DEVICE_ARCH] : NULL, name);
    for (uint32_t i = 1; i < sb_intern_count(&joined->archs.texts) && !store->options.compat; i++)
        report_unknown_arch(store, column_names[DEVICE_ARCH],
                            sb_intern_text(&joined->archs.texts, i));
    store->arch = perf_find_arch(name, store->options.compat);
    report->worker_cores = choose_core_count(store, joined);
    report->arch_name =
        store->arch != NULL
            ? store->arch->name
            : sb_arena_format(&store->arena, "%.*s", (int)name.size, name.data).data;
    report->dram_bandwidth = store->arch != NULL ? store->arch->dram_bandwidth : 0;
    const bool is_gpu = store->arch != NULL && store->arch->gpu != NULL;
    perf_note(store, false, "Architecture %s, %.0f %s", report->arch_name, report->worker_cores,
              is_gpu ? "SMs" : "worker cores");
}

static bool is_real(const column_kind *kind) {
    return !kind->has_text && (kind->has_missing || kind->has_real);
}

static void set_format(sb_perf_store *store, const joined_columns *joined) {
    sb_perf_report *report = &store->report;
    const bool is_v21 = joined->has_arch || joined->has_available;
    report->format = is_v21 ? "v2.1" : joined->has_padded ? "v2" : "v1";
    report->call_count_is_real = is_real(&joined->call_count);
    report->cores_are_real = is_real(&joined->core_count);
    perf_note(store, false, "CSV format %s", report->format);
}

/* ---- several files ---- */

/* The original gives each file the same number of devices, and refuses others. */
static sb_status check_device_count(const input_reader *reader, double expected, sb_error *error) {
    if (!reader->store->options.compat || reader->host == 0 || reader->highest_device == expected)
        return SB_OK;
    SB_FAIL(error, SB_ERR_FORMAT,
            "%s: its highest DEVICE ID is %.0f, that of the first file is %.0f; the files do not "
            "belong together",
            reader->input->name, reader->highest_device, expected);
}

static void shift_devices(sb_perf_store *store, size_t first_record, double by) {
    for (size_t i = first_record; i < store->records.count; i++)
        ((perf_record *)sb_vector_at(&store->records, i))->device += by;
}

static sb_status read_input(input_reader *reader, joined_columns *joined, sb_error *error) {
    sb_status status = read_header(reader, joined, error);
    while (status == SB_OK && sb_csv_next(&reader->csv)) {
        read_record(reader, joined);
        sb_file_release(reader->input->file, reader->csv.offset);
    }
    reader->store->has_host_start =
        reader->store->has_host_start || reader->place[HOST_START] != NO_COLUMN;
    sb_csv_end(&reader->csv);
    return status;
}

static sb_status read_files(sb_perf_store *store, const sb_perf_input *inputs, size_t count,
                            joined_columns *joined, sb_error *error) {
    double expected = -1;
    double devices_before = 0;
    for (size_t i = 0; i < count; i++) {
        input_reader reader = {
            .store = store, .input = &inputs[i], .host = (uint32_t)i, .highest_device = -1};
        const size_t first_record = store->records.count;
        SB_TRY(read_input(&reader, joined, error));
        SB_TRY(check_device_count(&reader, expected, error));
        shift_devices(store, first_record, devices_before);
        devices_before += reader.highest_device + 1;
        if (i == 0)
            expected = reader.highest_device;
    }
    return SB_OK;
}

sb_status perf_read_inputs(sb_perf_store *store, const sb_perf_input *inputs, size_t count,
                           sb_error *error) {
    assert(count > 0);
    joined_columns joined = {.first_available = NAN,
                             .archs.list = sb_output_to_memory(),
                             .core_counts.list = sb_output_to_memory()};
    sb_intern_init(&joined.archs.texts);
    sb_intern_init(&joined.core_counts.texts);
    const sb_status status = read_files(store, inputs, count, &joined, error);
    if (status == SB_OK) {
        set_format(store, &joined);
        choose_arch(store, &joined);
    }
    sb_intern_free(&joined.archs.texts);
    sb_intern_free(&joined.core_counts.texts);
    sb_output_discard(&joined.archs.list);
    sb_output_discard(&joined.core_counts.list);
    return status;
}
