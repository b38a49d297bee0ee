/*
 * Record -> row: times, sizes, and for matmuls and convolutions how much of the DRAM bandwidth and
 * of the peak compute they reached.
 */
#include "perf/perf_model.h"

#include <math.h>

enum { DRAM_SHARDED_CORES = 12 };

/* What the columns of a tensor are called in messages. */
static const struct {
    const char *sizes;
    const char *datatype;
    const char *memory;
} tensor_columns[SB_PERF_TENSORS] = {
    {"INPUT_0_W/Z/Y/X", "INPUT_0_DATATYPE", "INPUT_0_MEMORY"},
    {"INPUT_1_W/Z/Y/X", "INPUT_1_DATATYPE", "INPUT_1_MEMORY"},
    {"OUTPUT_0_W/Z/Y/X", "OUTPUT_0_DATATYPE", "OUTPUT_0_MEMORY"},
};

typedef struct row_maker {
    sb_perf_store *store;
    sb_output text; /* where texts are put together */
    bool seen_op;   /* some row before was no signpost */
} row_maker;

static sb_perf_number absent(void) {
    return (sb_perf_number){0, SB_PERF_ABSENT};
}

static sb_perf_number real_or_nan(double value) {
    return (sb_perf_number){value, isnan(value) ? SB_PERF_NAN : SB_PERF_REAL};
}

static sb_perf_number whole_or_absent(double value) {
    if (isnan(value))
        return absent();
    return (sb_perf_number){trunc(value), SB_PERF_INTEGER};
}

static bool is_there(sb_slice text) {
    return text.data != NULL && !sb_slice_is(text, "nan");
}

/* What was put together so far becomes a text of the report. */
static sb_slice take_text(row_maker *maker) {
    const sb_slice text = sb_output_text(&maker->text);
    sb_intern *texts = &maker->store->texts;
    const sb_slice kept = sb_intern_text(texts, sb_intern_add(texts, text));
    sb_output_truncate(&maker->text, 0);
    return kept;
}

static void complain(const row_maker *maker, const perf_record *record, const char *column,
                     const char *reason) {
    perf_problem(maker->store, record->host, record->id, column, "%s", reason);
}

/* ---- sizes ---- */

/* Multiplies *product by size; false if it does not fit. */
static bool multiply(sb_u128 *product, int64_t size) {
    return !__builtin_mul_overflow(*product, (sb_u128)(uint64_t)size, product);
}

/* How many bytes an element takes: the bits in the name of its type, else 4. */
static double datatype_bytes(sb_slice datatype) {
    double bits = 0;
    size_t at = 0;
    while (at < datatype.size && (datatype.data[at] < '0' || datatype.data[at] > '9'))
        at++;
    if (at == datatype.size)
        return 4;
    for (; at < datatype.size && datatype.data[at] >= '0' && datatype.data[at] <= '9'; at++)
        bits = bits * 10 + (datatype.data[at] - '0');
    return bits / 8;
}

/* The volume of a tensor in elements; false if a size is missing or it does not fit. */
static bool tensor_volume(const perf_shapes *shapes, int tensor, sb_u128 *volume) {
    *volume = 1;
    for (int i = 0; i < PERF_DIMENSIONS; i++) {
        const int64_t size = shapes->size[tensor][i];
        if (size < 0 || !multiply(volume, size))
            return false;
    }
    return true;
}

/* Bytes that move between DRAM and the cores. False (with a problem told) if a size is missing. */
static bool dram_bytes(const row_maker *maker, const perf_record *record, double *bytes) {
    *bytes = 0;
    for (int tensor = 0; tensor < SB_PERF_TENSORS; tensor++) {
        sb_u128 volume = 0;
        if (!is_there(record->memories[tensor])) {
            complain(maker, record, tensor_columns[tensor].memory,
                     "is empty, so the DRAM traffic is not known");
            return false;
        }
        if (!sb_slice_contains(record->memories[tensor], "DRAM"))
            continue;
        if (!tensor_volume(record->shapes, tensor, &volume)) {
            complain(maker, record, tensor_columns[tensor].sizes,
                     "one of them is no size, so the DRAM traffic is not known");
            return false;
        }
        if (!is_there(record->datatypes[tensor])) {
            complain(maker, record, tensor_columns[tensor].datatype,
                     "is empty, so the DRAM traffic is not known");
            return false;
        }
        *bytes += (double)volume * datatype_bytes(record->datatypes[tensor]);
    }
    return true;
}

typedef struct product_size {
    bool known;
    int64_t m, k, n, batch;
    double operations; /* multiplications and additions */
} product_size;

static product_size finish_size(int64_t m, int64_t k, int64_t n, int64_t batch) {
    sb_u128 operations = 2;
    const bool known = m >= 0 && k >= 0 && n >= 0 && batch >= 0 && multiply(&operations, m) &&
                       multiply(&operations, k) && multiply(&operations, n) &&
                       multiply(&operations, batch);
    return (product_size){known, m, k, n, batch, known ? (double)operations : NAN};
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static product_size matmul_size(const perf_shapes *shapes) {
    const int64_t *in0 = shapes->size[SB_PERF_INPUT_0];
    const int64_t *in1 = shapes->size[SB_PERF_INPUT_1];
    if (in0[PERF_W] < 0 || in1[PERF_W] < 0 || in0[PERF_Z] < 0 || in1[PERF_Z] < 0)
        return (product_size){.known = false};
    int64_t batch = 0;
    if (__builtin_mul_overflow(larger(in0[PERF_W], in1[PERF_W]), larger(in0[PERF_Z], in1[PERF_Z]),
                               &batch))
        return (product_size){.known = false};
    return finish_size(in0[PERF_Y], in0[PERF_X], in1[PERF_X], batch);
}

static product_size conv_size(const perf_record *record) {
    const perf_attributes *attributes = record->attributes;
    const perf_shapes *shapes = record->shapes;
    int64_t depth = 0;
    if (!attributes->has_window || shapes->size[SB_PERF_INPUT_0][PERF_X] < 0 ||
        __builtin_mul_overflow(attributes->window[0], attributes->window[1], &depth) ||
        __builtin_mul_overflow(shapes->size[SB_PERF_INPUT_0][PERF_X], depth, &depth))
        return (product_size){.known = false};
    return finish_size(shapes->size[SB_PERF_OUTPUT_0][PERF_Y], depth,
                       shapes->size[SB_PERF_INPUT_1][PERF_X], 1);
}

/* ---- compute ---- */

static const perf_arch *arch_of(const row_maker *maker, const perf_record *record) {
    const sb_perf_store *store = maker->store;
    return !store->options.compat && record->names_arch ? record->arch : store->arch;
}

/*
 * FLOPs and their shares. used_cores is what FLOPs % is measured against. A duration that is
 * missing gives not-a-number, as in the original; one of zero, which made it stop, gives nothing.
 */
static void set_flops(const row_maker *maker, const perf_record *record, sb_perf_row *row,
                      double operations, double used_cores) {
    const bool compat = maker->store->options.compat;
    const perf_arch *arch = arch_of(maker, record);
    const double tflops = perf_peak_tflops(arch, record->fidelity, record->datatypes, compat);
    const double seconds = record->duration * 1e-9;
    const double flops = operations / seconds;
    if (record->duration == 0) {
        complain(maker, record, "DEVICE KERNEL DURATION [ns]",
                 "is 0, so the rate of this operation is not known");
        return;
    }
    if (!isnan(record->duration))
        row->flops = real_or_nan(flops / 1e12);
    if (arch == NULL)
        return; /* told once for the file */
    if (used_cores == 0) {
        complain(maker, record, "CORE COUNT", "is 0, so FLOPs % stays empty");
        return;
    }
    if (tflops == 0 && arch->gpu != NULL) {
        perf_problem(maker->store, record->host, record->id, "INPUT_0_DATATYPE, INPUT_1_DATATYPE",
                     "no peak is known for them on %s, so FLOPs %% stays empty", arch->name);
        return;
    }
    if (tflops == 0) {
        perf_problem(maker->store, record->host, record->id, "MATH FIDELITY",
                     "no peak is known for '%.*s' on %s, so FLOPs %% stays empty",
                     (int)record->fidelity.size,
                     record->fidelity.data == NULL ? "" : record->fidelity.data, arch->name);
        return;
    }
    row->flops_percent = real_or_nan(flops / (tflops * 1e12 * used_cores) * 100);
    if (!compat && row->available_cores > 0)
        row->utilisation = real_or_nan(flops / (tflops * 1e12 * row->available_cores) * 100);
}

static void set_dram(const row_maker *maker, const perf_record *record, sb_perf_row *row) {
    double bytes = 0;
    const perf_arch *arch = arch_of(maker, record);
    if (!dram_bytes(maker, record, &bytes) || bytes == 0 || record->duration == 0)
        return;
    const double seconds = record->duration * 1e-9;
    row->dram = real_or_nan(bytes / seconds / 1e9);
    if (arch != NULL)
        row->dram_percent = real_or_nan(row->dram.value / arch->dram_bandwidth * 100);
}

/* A name in short, or what stands for a missing one: "nan" in the original. */
static void put_name(row_maker *maker, sb_slice name) {
    if (is_there(name) || maker->store->options.compat)
        sb_put(&maker->text, perf_short_datatype(name));
    else
        sb_put_char(&maker->text, '?');
}

/* "HiFi2 BF16 x BFP8 => BF16" */
static sb_slice compute_fidelity_text(row_maker *maker, const perf_record *record) {
    const sb_slice *types = record->datatypes;
    const perf_arch *arch = arch_of(maker, record);
    const bool has_fidelity = arch == NULL || arch->gpu == NULL;
    if (has_fidelity || perf_is_precision(record->fidelity)) {
        put_name(maker, record->fidelity);
        sb_put_char(&maker->text, ' ');
    }
    put_name(maker, types[SB_PERF_INPUT_0]);
    sb_put_text(&maker->text, " x ");
    put_name(maker, types[SB_PERF_INPUT_1]);
    sb_put_text(&maker->text, " => ");
    put_name(maker, types[SB_PERF_OUTPUT_0]);
    return take_text(maker);
}

/* "BF16, BFP8 => BF16", as far as the types are known. */
static sb_slice plain_fidelity_text(row_maker *maker, const perf_record *record) {
    const sb_slice *types = record->datatypes;
    if (is_there(types[SB_PERF_INPUT_0]))
        sb_put(&maker->text, perf_short_datatype(types[SB_PERF_INPUT_0]));
    if (is_there(types[SB_PERF_INPUT_1])) {
        sb_put_text(&maker->text, ", ");
        sb_put(&maker->text, perf_short_datatype(types[SB_PERF_INPUT_1]));
    }
    if (is_there(types[SB_PERF_OUTPUT_0])) {
        sb_put_text(&maker->text, " => ");
        sb_put(&maker->text, perf_short_datatype(types[SB_PERF_OUTPUT_0]));
    }
    return sb_slice_trim(take_text(maker));
}

static void put_number(sb_output *output, int64_t number) {
    char digits[SB_NUMBER_SIZE];
    sb_put(output, (sb_slice){digits, sb_format_int64(number, digits)});
}

/* " 32 x 2048 x 8192" */
static void put_size(sb_output *output, const product_size *size) {
    sb_put_char(output, ' ');
    put_number(output, size->m);
    sb_put_text(output, " x ");
    put_number(output, size->k);
    sb_put_text(output, " x ");
    put_number(output, size->n);
}

static void make_matmul(row_maker *maker, const perf_record *record, sb_perf_row *row) {
    const bool compat = maker->store->options.compat;
    const product_size size = matmul_size(record->shapes);
    row->dram_sharded = record->attributes->dram_sharded;
    double cores = record->cores;
    if (compat && row->dram_sharded)
        cores = DRAM_SHARDED_CORES;
    row->cores = whole_or_absent(cores);
    if (compat && isnan(cores))
        row->cores = real_or_nan(cores);
    if (!compat && isnan(cores))
        cores = row->available_cores;
    set_dram(maker, record, row);
    if (size.known)
        set_flops(maker, record, row, size.operations, cores);
    else
        complain(maker, record, "INPUT_0_W/Z/Y/X, INPUT_1_W/Z/Y/X",
                 "one of them is no size, so the FLOPs are not known");
    sb_put(&maker->text, record->op->code);
    if (size.known && size.batch > 1) {
        sb_put_text(&maker->text, " b={");
        put_number(&maker->text, size.batch);
        sb_put_text(&maker->text, "} x");
    }
    if (size.known)
        put_size(&maker->text, &size);
    row->op_code = take_text(maker);
    row->math_fidelity = compute_fidelity_text(maker, record);
}

/* Tiles of a block, or x where the attributes do not say. */
static void put_tiles(sb_output *output, int64_t tiles) {
    if (tiles < 0)
        sb_put_char(output, 'x');
    else
        put_number(output, tiles);
}

/* The original shows a switch as on when the attributes do not mention it. */
static bool is_shown(perf_tristate flag, bool compat) {
    return flag == PERF_TRUE || (compat && flag == PERF_NOT_SAID);
}

static void make_conv(row_maker *maker, const perf_record *record, sb_perf_row *row) {
    const bool compat = maker->store->options.compat;
    const perf_attributes *attributes = record->attributes;
    const product_size size = conv_size(record);
    double cores = compat ? maker->store->report.worker_cores : record->cores;
    if (isnan(cores))
        cores = row->available_cores;
    sb_put(&maker->text, record->op->code);
    if (size.known) {
        set_flops(maker, record, row, size.operations, cores);
        put_size(&maker->text, &size);
        sb_put_text(&maker->text, " [ABH=");
        put_tiles(&maker->text, attributes->output_height_tiles);
        sb_put_char(&maker->text, '|');
        put_tiles(&maker->text, attributes->activation_block_tiles);
        sb_put_text(&maker->text, is_shown(attributes->double_buffered, compat) ? " ADB" : "");
        sb_put_text(&maker->text, is_shown(attributes->split_reader, compat) ? " SR" : "");
        sb_put_char(&maker->text, ']');
    } else {
        complain(maker, record, "ATTRIBUTES",
                 "has no window_hw, or a size is no number, so the FLOPs are not known");
    }
    row->op_code = take_text(maker);
    row->math_fidelity = compute_fidelity_text(maker, record);
}

/* ---- rows ---- */

static void set_times(const row_maker *maker, const perf_record *record, sb_perf_row *row) {
    const bool is_mark = record->is_mark;
    if (!is_mark && isnan(record->duration)) {
        row->device_time = (sb_perf_number){0, SB_PERF_INTEGER};
        /* An op that is captured in a trace has a row, and runs when that is replayed. */
        const bool is_expected = record->is_complete || maker->store->options.compat;
        if (record->type == PERF_DEVICE_OP && !is_expected)
            complain(maker, record, "DEVICE KERNEL DURATION [ns]", "has no number; counted as 0");
    } else if (!is_mark) {
        row->device_time = real_or_nan(record->duration / 1000);
    }
    if (maker->seen_op && !isnan(record->latency))
        row->gap = real_or_nan(record->latency / 1000);
}

static double available_cores(const row_maker *maker, const perf_record *record) {
    if (!maker->store->options.compat && !isnan(record->available_cores))
        return record->available_cores;
    return maker->store->report.worker_cores;
}

static void make_kind(row_maker *maker, const perf_record *record, sb_perf_row *row) {
    switch (row->kind) {
    case SB_PERF_MATMUL:
        make_matmul(maker, record, row);
        return;
    case SB_PERF_CONV:
        make_conv(maker, record, row);
        return;
    case SB_PERF_HALO:
        sb_put(&maker->text, record->op->code);
        perf_put_halo(record->attributes, &maker->text);
        row->op_code = take_text(maker);
        break;
    case SB_PERF_SIGNPOST:
        sb_put(&maker->text, record->op->code);
        sb_put_text(&maker->text, " (signpost)");
        row->op_code = take_text(maker);
        break;
    case SB_PERF_OTHER_OP:
        row->op_code = record->op->code;
        break;
    }
    row->math_fidelity = plain_fidelity_text(maker, record);
}

static void make_row(row_maker *maker, const perf_record *record) {
    const bool is_mark = record->is_mark;
    sb_perf_row row = {
        .id = record->id,
        .host = record->host,
        .kind = is_mark ? SB_PERF_SIGNPOST : record->op->kind,
        .is_host_op = record->op->is_host,
        .raw_op_code = record->op->code,
        .fidelity = record->fidelity,
        .call_count = record->call_count,
        .inner_block = record->attributes->inner_block,
        .subblock_height = record->attributes->subblock_height,
        .subblock_width = record->attributes->subblock_width,
        .device = whole_or_absent(record->device),
        .cores = whole_or_absent(record->cores),
        .available_cores = available_cores(maker, record),
        .arch = arch_of(maker, record),
    };
    for (int i = 0; i < SB_PERF_TENSORS; i++)
        row.datatypes[i] = record->datatypes[i];
    if (is_there(record->memories[SB_PERF_INPUT_0]))
        row.input_0_memory = record->memories[SB_PERF_INPUT_0];
    set_times(maker, record, &row);
    make_kind(maker, record, &row);
    /* The original goes by the text, whatever the type of the record. */
    row.counts_as_signpost =
        maker->store->options.compat ? sb_slice_contains(row.op_code, "signpost") : is_mark;
    maker->seen_op = maker->seen_op || !is_mark;
    *(sb_perf_row *)sb_vector_push(&maker->store->rows) = row;
}

static void count_row(sb_perf_totals *totals, const sb_perf_row *row) {
    if (row->is_host_op)
        totals->host_ops++;
    else if (row->counts_as_signpost)
        totals->signposts++;
    else
        totals->device_ops++;
}

void perf_analyse_rows(sb_perf_store *store) {
    row_maker maker = {.store = store, .text = sb_output_to_memory()};
    for (size_t i = 0; i < store->order_count; i++)
        make_row(&maker, store->order[i]);
    for (size_t i = 0; i < store->rows.count; i++)
        count_row(&store->report.totals, sb_vector_at(&store->rows, i));
    sb_output_discard(&maker.text);
}
