/*
 * report.json: what a program that reads the report folder should know about it.
 */
#include <jansson.h>
#include <stdlib.h>

#include "report/report_model.h"

static json_t *text_or_null(const char *text) {
    return text == NULL ? json_null() : json_string(text);
}

static json_t *text_of(sb_slice text) {
    json_t *value = json_stringn(text.data, text.size);
    return value == NULL ? json_null() : value; /* not UTF-8 */
}

static json_t *describe_options(const sb_report *report) {
    const sb_report_options *options = &report->options;
    json_t *object = json_object();
    json_t *analyses = json_array();
    for (size_t i = 0; i < options->analysis_count; i++)
        json_array_append_new(analyses, json_string(options->analyses[i]));
    json_object_set_new(object, "name", text_or_null(options->name));
    json_object_set_new(object, "date", text_or_null(options->date));
    json_object_set_new(object, "device_only", json_boolean(options->device_only));
    json_object_set_new(object, "no_device", json_boolean(options->no_device));
    json_object_set_new(object, "force_legacy_device_logs", json_boolean(options->ignore_cpp));
    json_object_set_new(object, "process_logs_only", json_boolean(options->export_again));
    json_object_set_new(object, "device_analysis_types", analyses);
    json_object_set_new(object, "child_functions", text_or_null(options->child_functions));
    return object;
}

static json_t *describe_device(const sb_report *report) {
    const report_log *log = &report->device.log;
    const sb_report_summary *summary = &report->summary;
    json_t *object = json_object();
    json_object_set_new(object, "arch", text_of(log->arch));
    json_object_set_new(object, "clock_mhz", json_integer(log->clock_mhz));
    json_object_set_new(object, "compute_cores", json_integer(log->compute_cores));
    json_object_set_new(object, "devices", json_integer((json_int_t)summary->device_count));
    json_object_set_new(object, "cores", json_integer((json_int_t)report->device.cores.count));
    json_object_set_new(object, "executions", json_integer((json_int_t)summary->program_count));
    json_object_set_new(object, "log_rows", json_integer((json_int_t)summary->log_rows));
    json_object_set_new(object, "log_bytes", json_integer((json_int_t)summary->log_bytes));
    json_object_set_new(
        object, "timing_from",
        json_string(report->has_cpp ? "cpp_device_perf_report.csv" : "profile_log_device.csv"));
    return object;
}

static json_t *describe_losses(const sb_report *report) {
    const report_device_log *device = &report->device;
    const report_host *host = &report->host;
    const struct {
        const char *name;
        uint64_t count;
    } losses[] = {
        {"unreadable_log_rows", device->log.bad_rows},
        {"repeated_log_rows", device->repeated_rows},
        {"cut_messages", host->cut_messages},
        {"calls_without_description", host->unknown_calls},
        {"unreadable_messages", host->bad_messages},
        {"unreadable_zones", host->bad_zones},
        {"zones_without_message", host->zones_without_message},
        {"executions_outside_ops", report->strangers},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        json_object_set_new(object, losses[i].name, json_integer((json_int_t)losses[i].count));
    return object;
}

static json_t *describe_completeness(const sb_report_summary *summary) {
    json_t *object = json_object();
    for (int i = 0; i < SB_COMPLETENESS_COUNT; i++)
        json_object_set_new(object, sb_completeness_name((sb_completeness)i),
                            json_integer((json_int_t)summary->rows[i]));
    return object;
}

static json_t *describe_findings(const sb_report *report) {
    const report_device_log *device = &report->device;
    json_t *list = json_array();
    for (size_t i = 0; i < device->findings.count; i++) {
        const report_finding *finding = sb_vector_at(&device->findings, i);
        const report_program *program = report_program_at(device, finding->program);
        const report_core *core = report_core_at(device, finding->core);
        const char *what = finding->is_repeated                      ? "repeated"
                           : finding->missing == REPORT_MARKER_START ? "start missing"
                           : finding->missing == REPORT_MARKER_END   ? "end missing"
                                                                     : "missing";
        json_t *object = json_object();
        json_object_set_new(object, "device", json_integer(core->device));
        json_object_set_new(object, "core_x", json_integer(core->x));
        json_object_set_new(object, "core_y", json_integer(core->y));
        json_object_set_new(object, "processor",
                            json_string(report_processor_name(finding->processor)));
        json_object_set_new(object, "run", json_integer((json_int_t)program->id));
        if (program->session != REPORT_NO_TRACE)
            json_object_set_new(object, "session", json_integer(program->session));
        json_object_set_new(object, "zone", text_of(finding->zone));
        json_object_set_new(object, "what", json_string(what));
        json_array_append_new(list, object);
    }
    return list;
}

void report_put_side_file(const sb_report *report, sb_output *output) {
    const sb_report_summary *summary = &report->summary;
    json_t *problems = json_array();
    for (size_t i = 0; i < summary->problem_count; i++) {
        json_t *text = json_string(summary->problems[i]);
        json_array_append_new(problems, text == NULL ? json_string("(not UTF-8)") : text);
    }
    json_t *object = json_object();
    json_object_set_new(object, "schema", json_integer(SB_REPORT_SCHEMA));
    json_object_set_new(object, "tool", json_string("strobe"));
    json_object_set_new(object, "tool_version", text_or_null(report->options.tool_version));
    json_object_set_new(object, "options", describe_options(report));
    json_object_set_new(object, "device", describe_device(report));
    json_object_set_new(object, "rows", json_integer((json_int_t)summary->row_count));
    json_object_set_new(object, "signposts", json_integer((json_int_t)summary->signpost_count));
    json_object_set_new(object, "completeness", describe_completeness(summary));
    json_object_set_new(object, "losses", describe_losses(report));
    json_object_set_new(object, "problems", problems);
    json_object_set_new(object, "findings", describe_findings(report));
    char *text = json_dumps(object, JSON_INDENT(2));
    sb_put_text(output, text == NULL ? "{}" : text);
    sb_put_char(output, '\n');
    free(text);
    json_decref(object);
}
