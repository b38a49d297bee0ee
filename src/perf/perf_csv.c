/*
 * Rows and groups as CSV, in the columns and cell formats that other tools read by position.
 */
#include "perf/perf_model.h"

/* ---- operations ---- */

static void put_shortest(sb_output *output, double value) {
    char text[SB_NUMBER_SIZE];
    sb_put(output, (sb_slice){text, sb_format_shortest(value, text)});
}

static void put_integer(sb_output *output, int64_t value) {
    char text[SB_NUMBER_SIZE];
    sb_put(output, (sb_slice){text, sb_format_int64(value, text)});
}

/* A whole number of any size. */
static void put_whole(sb_output *output, double value) {
    char text[SB_NUMBER_SIZE];
    sb_put(output, (sb_slice){text, sb_format_fixed(value, 0, false, text)});
}

static void put_number(sb_output *output, sb_perf_number number) {
    switch (number.kind) {
    case SB_PERF_ABSENT:
        break;
    case SB_PERF_NAN:
        sb_put_text(output, "nan");
        break;
    case SB_PERF_INTEGER:
        put_whole(output, number.value);
        break;
    case SB_PERF_REAL:
        put_shortest(output, number.value);
        break;
    }
    sb_put_char(output, ',');
}

static void put_text(sb_output *output, sb_slice text) {
    if (text.data != NULL)
        sb_put_csv(output, text);
    sb_put_char(output, ',');
}

static void put_config(sb_output *output, int64_t value) {
    if (value >= 0)
        put_integer(output, value);
    sb_put_char(output, ',');
}

/* Cores of matmuls are written as the column of the input was read: 20 or 20.0. */
static void put_cores(const sb_perf_report *report, const sb_perf_row *row, sb_output *output) {
    sb_perf_number cores = row->cores;
    const bool is_fixed = report->options.compat && row->dram_sharded;
    if (row->kind == SB_PERF_MATMUL && report->cores_are_real && !is_fixed &&
        cores.kind == SB_PERF_INTEGER)
        cores.kind = SB_PERF_REAL;
    put_number(output, cores);
}

static void put_call_count(const sb_perf_report *report, sb_slice cell, sb_output *output) {
    double real = 0;
    int64_t whole = 0;
    if (report->call_count_is_real && sb_parse_double(cell, &real))
        put_shortest(output, real);
    else if (!report->call_count_is_real && sb_parse_int64(cell, &whole))
        put_integer(output, whole);
    else if (cell.data != NULL)
        sb_put_csv(output, cell);
}

static void put_advice(const sb_perf_report *report, const sb_perf_row *row, sb_output *output) {
    if (row->kind != SB_PERF_MATMUL)
        return;
    sb_arena scratch = {0};
    sb_output joined = sb_output_to_memory();
    const sb_perf_advice advice = sb_perf_advise(report, row, &scratch);
    for (size_t i = 0; i < advice.count; i++) {
        sb_put_text(&joined, i > 0 ? " • " : "");
        sb_put(&joined, advice.items[i]);
    }
    sb_put_csv(output, sb_output_text(&joined));
    sb_output_discard(&joined);
    sb_arena_free(&scratch);
}

static bool has_host_column(const sb_perf_report *report) {
    return !report->options.compat && report->host_count > 1;
}

static void put_header(const sb_perf_report *report, sb_output *output) {
    sb_put_text(output,
                "ID,Total %,Bound,OP Code,Device,Device Time,Op-to-Op Gap,Cores,DRAM,DRAM %,"
                "FLOPs,FLOPs %,Math Fidelity,Output Datatype,Input 0 Datatype,"
                "Input 1 Datatype,DRAM Sharded,Input 0 Memory,Inner Dim Block Size,"
                "Output Subblock H,Output Subblock W,Global Call Count");
    if (!report->options.no_advice)
        sb_put_text(output, ",Advice");
    if (report->options.raw_op_codes)
        sb_put_text(output, ",Raw OP Code");
    if (!report->options.compat)
        sb_put_text(output, ",Util %");
    if (has_host_column(report))
        sb_put_text(output, ",Host");
    sb_put_text(output, "\r\n");
}

static void put_row(const sb_perf_report *report, const sb_perf_row *row, sb_output *output) {
    put_integer(output, row->id);
    sb_put_char(output, ',');
    put_number(output, row->total_percent);
    put_text(output, sb_slice_of(sb_perf_bound_text(row->bound)));
    put_text(output, row->op_code);
    put_number(output, row->device);
    put_number(output, row->device_time);
    put_number(output, row->gap);
    put_cores(report, row, output);
    put_number(output, row->dram);
    put_number(output, row->dram_percent);
    put_number(output, row->flops);
    put_number(output, row->flops_percent);
    put_text(output, row->math_fidelity);
    put_text(output, row->datatypes[SB_PERF_OUTPUT_0]);
    put_text(output, row->datatypes[SB_PERF_INPUT_0]);
    put_text(output, row->datatypes[SB_PERF_INPUT_1]);
    sb_put_text(output, row->dram_sharded ? "True," : "False,");
    put_text(output, row->input_0_memory);
    put_config(output, row->inner_block);
    put_config(output, row->subblock_height);
    put_config(output, row->subblock_width);
    put_call_count(report, row->call_count, output);
    if (!report->options.no_advice) {
        sb_put_char(output, ',');
        put_advice(report, row, output);
    }
    if (report->options.raw_op_codes) {
        sb_put_char(output, ',');
        sb_put_csv(output, row->raw_op_code);
    }
    if (!report->options.compat) {
        sb_put_char(output, ',');
        if (row->utilisation.kind == SB_PERF_REAL)
            put_shortest(output, row->utilisation.value);
    }
    if (has_host_column(report)) {
        sb_put_char(output, ',');
        sb_put_csv(output, sb_slice_of(report->hosts[row->host]));
    }
    sb_put_text(output, "\r\n");
}

void sb_perf_write_csv(const sb_perf_report *report, sb_output *output) {
    put_header(report, output);
    for (size_t i = 0; i < report->row_count; i++)
        put_row(report, &report->rows[i], output);
}

/* ---- summary ---- */

static void put_fixed(sb_output *output, double value) {
    char text[SB_NUMBER_SIZE];
    sb_put(output, (sb_slice){text, sb_format_fixed(value, 2, false, text)});
}

static void put_optional(sb_output *output, sb_perf_number number) {
    sb_put_char(output, ',');
    if (sb_perf_has(number))
        put_fixed(output, number.value);
}

/* What the columns of all groups are like: the original writes whole columns as integers. */
typedef struct group_columns {
    bool by_device;
    bool percent_is_whole;
    bool time_is_whole;
} group_columns;

static group_columns look_at_groups(const sb_perf_report *report) {
    group_columns columns = {.by_device = report->options.no_merge_devices, .time_is_whole = true};
    double total = 0;
    for (size_t i = 0; i < report->group_count; i++) {
        total += report->groups[i].device_time;
        columns.time_is_whole = columns.time_is_whole && report->groups[i].time_is_whole;
    }
    columns.percent_is_whole = total == 0 && !columns.by_device;
    return columns;
}

static void put_group(const sb_perf_report *report, const sb_perf_group *group,
                      group_columns columns, sb_output *output) {
    if (columns.percent_is_whole)
        sb_put_char(output, '0');
    else
        put_fixed(output, group->total_percent);
    sb_put_char(output, ',');
    sb_put_csv(output, group->key);
    sb_put_char(output, ',');
    if (columns.by_device) {
        put_number(output, group->device);
    }
    if (columns.time_is_whole)
        sb_put_char(output, '0');
    else
        put_fixed(output, group->device_time);
    sb_put_format(output, ",%zu", group->op_count);
    if (report->groups_have_flops) {
        sb_put_format(output, ",%s", group->category);
        put_optional(output, group->flops_min);
        put_optional(output, group->flops_max);
        put_optional(output, group->flops_mean);
        put_optional(output, group->flops_deviation);
        put_optional(output, group->flops_weighted);
    }
    sb_put_char(output, '\n');
}

void sb_perf_write_summary_csv(const sb_perf_report *report, sb_output *output) {
    const group_columns columns = look_at_groups(report);
    sb_put_text(output, "Total % [%],Op Code,");
    sb_put_text(output, columns.by_device ? "Device," : "");
    sb_put_text(output, "Device Time Sum [μs],Op Count");
    if (report->groups_have_flops)
        sb_put_text(output, ",Op Category,Min FLOPs [%],Max FLOPs [%],Mean FLOPs [%],"
                            "Std FLOPs [%],Weighted Mean FLOPs [%]");
    sb_put_char(output, '\n');
    for (size_t i = 0; i < report->group_count; i++)
        put_group(report, &report->groups[i], columns, output);
}
