/*
 * The report as JSON. docs/perf.md describes the schema; its version changes when a member changes
 * its meaning or goes, not when one is added.
 *
 * Rows are written one by one, so that a report of any length needs memory for one row only.
 */
#include "perf/perf_model.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

enum { SCHEMA_VERSION = 1 };

/* Measurements have fewer digits than doubles; 15 of them read as a person would write them. */
#define DUMP_FLAGS (JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY)

static json_t *make_text(sb_slice text) {
    if (text.data == NULL || sb_slice_is(text, "nan"))
        return json_null();
    json_t *string = json_stringn(text.data, text.size);
    if (string != NULL)
        return string;
    sb_arena scratch = {0}; /* not UTF-8: compat mode leaves texts as they are */
    const sb_slice clean = sb_utf8_clean(&scratch, text);
    string = json_stringn(clean.data, clean.size);
    sb_arena_free(&scratch);
    return string;
}

static json_t *make_number(sb_perf_number number) {
    if (number.kind == SB_PERF_INTEGER && fabs(number.value) < 1e15)
        return json_integer((json_int_t)number.value);
    json_t *real = sb_perf_has(number) ? json_real(number.value) : NULL;
    return real != NULL ? real : json_null();
}

static json_t *make_config(int64_t value) {
    return value < 0 ? json_null() : json_integer(value);
}

/* jansson refuses what is not finite; there it is null. */
static json_t *make_real(double value) {
    json_t *real = json_real(value);
    return real != NULL ? real : json_null();
}

static json_t *make_call_count(sb_slice cell) {
    int64_t whole = 0;
    double real = 0;
    if (sb_parse_int64(cell, &whole))
        return json_integer(whole);
    if (sb_parse_double(cell, &real))
        return make_real(real);
    return make_text(cell);
}

static json_t *make_advice(const sb_perf_report *report, const sb_perf_row *row) {
    json_t *items = json_array();
    sb_arena scratch = {0};
    const sb_perf_advice advice = sb_perf_advise(report, row, &scratch);
    for (size_t i = 0; i < advice.count; i++)
        json_array_append_new(items, make_text(advice.items[i]));
    sb_arena_free(&scratch);
    return items;
}

static json_t *make_datatypes(const sb_perf_row *row) {
    json_t *types = json_object();
    json_object_set_new(types, "input_0", make_text(row->datatypes[SB_PERF_INPUT_0]));
    json_object_set_new(types, "input_1", make_text(row->datatypes[SB_PERF_INPUT_1]));
    json_object_set_new(types, "output_0", make_text(row->datatypes[SB_PERF_OUTPUT_0]));
    return types;
}

static json_t *make_row(const sb_perf_report *report, const sb_perf_row *row) {
    json_t *object = json_object();
    json_object_set_new(object, "id", json_integer(row->id));
    json_object_set_new(object, "host", make_text(sb_slice_of(report->hosts[row->host])));
    json_object_set_new(object, "device", make_number(row->device));
    json_object_set_new(object, "op_code", make_text(row->op_code));
    json_object_set_new(object, "raw_op_code", make_text(row->raw_op_code));
    json_object_set_new(object, "global_call_count", make_call_count(row->call_count));
    json_object_set_new(object, "is_signpost", json_boolean(row->kind == SB_PERF_SIGNPOST));
    json_object_set_new(object, "is_host_op", json_boolean(row->is_host_op));
    json_object_set_new(
        object, "bound",
        row->bound == SB_PERF_UNKNOWN ? json_null() : json_string(sb_perf_bound_text(row->bound)));
    json_object_set_new(object, "total_percent", make_number(row->total_percent));
    json_object_set_new(object, "device_time_us", make_number(row->device_time));
    json_object_set_new(object, "gap_us", make_number(row->gap));
    json_object_set_new(object, "cores", make_number(row->cores));
    json_object_set_new(object, "available_cores", make_real(row->available_cores));
    json_object_set_new(object, "dram_gb_per_s", make_number(row->dram));
    json_object_set_new(object, "dram_percent", make_number(row->dram_percent));
    json_object_set_new(object, "tflops", make_number(row->flops));
    json_object_set_new(object, "flops_percent", make_number(row->flops_percent));
    json_object_set_new(object, "utilisation_percent", make_number(row->utilisation));
    json_object_set_new(object, "math_fidelity", make_text(row->fidelity));
    json_object_set_new(object, "datatypes", make_datatypes(row));
    json_object_set_new(object, "input_0_memory", make_text(row->input_0_memory));
    json_object_set_new(object, "dram_sharded", json_boolean(row->dram_sharded));
    json_object_set_new(object, "inner_block_width", make_config(row->inner_block));
    json_object_set_new(object, "output_subblock_height", make_config(row->subblock_height));
    json_object_set_new(object, "output_subblock_width", make_config(row->subblock_width));
    if (!report->options.no_advice)
        json_object_set_new(object, "advice", make_advice(report, row));
    return object;
}

static json_t *make_group(const sb_perf_report *report, const sb_perf_group *group) {
    json_t *object = json_object();
    json_object_set_new(object, "group", make_text(group->key));
    if (report->options.no_merge_devices)
        json_object_set_new(object, "device", make_number(group->device));
    json_object_set_new(object, "category", json_string(group->category));
    json_object_set_new(object, "op_count", json_integer((json_int_t)group->op_count));
    json_object_set_new(object, "device_time_us", make_real(group->device_time));
    json_object_set_new(object, "total_percent", make_real(group->total_percent));
    if (report->groups_have_flops) {
        json_object_set_new(object, "flops_percent_min", make_number(group->flops_min));
        json_object_set_new(object, "flops_percent_max", make_number(group->flops_max));
        json_object_set_new(object, "flops_percent_mean", make_number(group->flops_mean));
        json_object_set_new(object, "flops_percent_std", make_number(group->flops_deviation));
        json_object_set_new(object, "flops_percent_weighted", make_number(group->flops_weighted));
    }
    return object;
}

static json_t *make_problem(const sb_perf_report *report, const sb_perf_problem *problem) {
    json_t *object = json_object();
    json_object_set_new(object, "host", make_text(sb_slice_of(report->hosts[problem->host])));
    json_object_set_new(object, "row", problem->row > 0 ? json_integer(problem->row) : json_null());
    json_object_set_new(object, "column",
                        problem->column != NULL ? json_string(problem->column) : json_null());
    json_object_set_new(object, "text", make_text(problem->text));
    return object;
}

static json_t *make_head(const sb_perf_report *report) {
    json_t *head = json_object();
    json_t *hosts = json_array();
    for (size_t i = 0; i < report->host_count; i++)
        json_array_append_new(hosts, make_text(sb_slice_of(report->hosts[i])));
    json_object_set_new(head, "schema", json_string("strobe.perf"));
    json_object_set_new(head, "schema_version", json_integer(SCHEMA_VERSION));
    json_object_set_new(head, "csv_format", json_string(report->format));
    json_object_set_new(head, "architecture", make_text(sb_slice_of(report->arch_name)));
    json_object_set_new(head, "worker_cores", make_real(report->worker_cores));
    json_object_set_new(head, "dram_bandwidth_gb_per_s", make_real(report->dram_bandwidth));
    json_object_set_new(head, "hosts", hosts);
    json_object_set_new(head, "device_count", json_integer((json_int_t)report->device_count));
    json_object_set_new(head, "complete", json_boolean(report->problem_count == 0));
    return head;
}

static json_t *make_totals(const sb_perf_report *report) {
    const sb_perf_totals *totals = &report->totals;
    json_t *object = json_object();
    json_object_set_new(object, "device_ops", json_integer((json_int_t)totals->device_ops));
    json_object_set_new(object, "host_ops", json_integer((json_int_t)totals->host_ops));
    json_object_set_new(object, "signposts", json_integer((json_int_t)totals->signposts));
    json_object_set_new(object, "device_time_us", make_real(totals->device_time));
    json_object_set_new(object, "gap_us", make_real(totals->gap));
    return object;
}

static json_t *make_verdict(const sb_perf_report *report) {
    const sb_perf_verdict *verdict = &report->verdict;
    json_t *object = json_object();
    json_object_set_new(object, "where_the_time_went", make_text(verdict->where));
    json_object_set_new(object, "biggest_opportunity", make_text(verdict->opportunity));
    json_object_set_new(object, "opportunity_us", make_real(verdict->opportunity_us));
    json_object_set_new(object, "what_to_do_first", make_text(verdict->first_step));
    return object;
}

/* Takes the value over. */
static void put_json(json_t *value, size_t flags, sb_output *output) {
    char *text = json_dumps(value, DUMP_FLAGS | flags);
    if (text != NULL)
        sb_put_text(output, text);
    free(text);
    json_decref(value);
}

void sb_perf_write_json(const sb_perf_report *report, sb_output *output) {
    sb_put_char(output, '{');
    put_json(make_head(report), JSON_EMBED, output);
    sb_put_text(output, ",\n\"totals\": ");
    put_json(make_totals(report), 0, output);
    if (!report->options.compat) {
        sb_put_text(output, ",\n\"verdict\": ");
        put_json(make_verdict(report), 0, output);
    }
    sb_put_text(output, ",\n\"notes\": [");
    for (size_t i = 0; i < report->note_count; i++) {
        sb_put_text(output, i > 0 ? ",\n" : "\n");
        put_json(make_text(report->notes[i].text), 0, output);
    }
    sb_put_format(output, "],\n\"problem_count\": %zu,\n\"problems\": [", report->problem_count);
    for (size_t i = 0; i < report->problems_kept; i++) {
        sb_put_text(output, i > 0 ? ",\n" : "\n");
        put_json(make_problem(report, &report->problems[i]), 0, output);
    }
    sb_put_text(output, "],\n\"summary\": [");
    for (size_t i = 0; i < report->group_count; i++) {
        sb_put_text(output, i > 0 ? ",\n" : "\n");
        put_json(make_group(report, &report->groups[i]), 0, output);
    }
    sb_put_text(output, "],\n\"ops\": [");
    for (size_t i = 0; i < report->row_count; i++) {
        sb_put_text(output, i > 0 ? ",\n" : "\n");
        put_json(make_row(report, &report->rows[i]), 0, output);
    }
    sb_put_text(output, "]}\n");
}
