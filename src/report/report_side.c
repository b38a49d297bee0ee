/*
 * report.json: what a program that reads the report folder should know about it.
 */
#include <jansson.h>
#include <stdlib.h>

#include "report/report_costs.h"
#include "report/report_json.h"
#include "report/report_model.h"

static json_t *text_or_null(const char *text) {
    return text == NULL ? json_null() : json_string(text);
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
    json_object_set_new(object, "analyze_noc_traces", json_boolean(options->analyse_noc));
    json_object_set_new(object, "device_analysis_types", analyses);
    json_object_set_new(object, "child_functions", text_or_null(options->child_functions));
    return object;
}

static json_t *describe_device(const sb_report *report) {
    const report_log *log = &report->device.log;
    const sb_report_summary *summary = &report->summary;
    json_t *object = json_object();
    json_object_set_new(object, "arch", report_json_string(log->arch));
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

/* ---- clocks ---- */

static json_t *describe_sync(const report_clocks *clocks) {
    if (clocks->clocks.count == 0)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < clocks->clocks.count; i++) {
        const report_clock *clock = sb_vector_at(&clocks->clocks, i);
        json_t *object = json_object();
        json_object_set_new(object, "device", json_integer(clock->device));
        json_object_set_new(object, "samples", json_integer((json_int_t)clock->samples));
        json_object_set_new(object, "mhz", json_real(clock->mhz));
        json_object_set_new(object, "residual_ns", json_real(report_clock_residual_ns(clock)));
        json_object_set_new(object, "residual_max_ns", json_real(clock->residual_max_ns));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *describe_clocks(const sb_report *report) {
    const report_recording *recording = &report->recording;
    json_t *object = json_object();
    json_t *host = json_null();
    if (recording->is_read) {
        host = json_object();
        json_object_set_new(host, "resolution_ns", json_integer(recording->resolution_ns));
        json_object_set_new(host, "ns_per_tick", json_real(recording->ns_per_tick));
    }
    json_object_set_new(object, "host", host);
    json_object_set_new(object, "device_mhz",
                        report->has_device_file ? json_integer(report->device.log.clock_mhz)
                                                : json_null());
    json_object_set_new(object, "sync", describe_sync(&report->clocks));
    return object;
}

/* ---- what profiling itself cost ---- */

/* The profiler's own zones on the device: time that the program would not have taken. */
static json_t *describe_device_overhead(const sb_report *report) {
    const report_device_log *device = &report->device;
    uint64_t count = 0;
    uint64_t cycles = 0;
    for (size_t i = 0; i < device->zones.count; i++) {
        const report_zone *zone = sb_vector_at(&device->zones, i);
        if (!sb_slice_starts_with(zone->name, "PROFILER-"))
            continue;
        for (int k = 0; k < REPORT_PROCESSORS; k++) {
            count += zone->sums[k].count;
            cycles += zone->sums[k].total;
        }
    }
    if (count == 0)
        return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "zones", json_integer((json_int_t)count));
    json_object_set_new(object, "ns",
                        json_real(report_cycles_to_ns(cycles, device->log.clock_mhz)));
    return object;
}

/* What of durations and gaps is the profiler's own doing. */
static json_t *describe_costs(const sb_report *report) {
    const double clock = (double)report->device.log.clock_mhz;
    const report_costs costs = report_read_costs(report->log_folder);
    if (!costs.is_known || clock <= 0)
        return json_null();
    json_t *object = json_object();
    json_t *zones = json_object();
    for (int i = 0; i < REPORT_PROCESSORS; i++)
        if (costs.zone[i] > 0)
            json_object_set_new(zones, report_processor_name((report_processor)i),
                                json_real(costs.zone[i] * 1000 / clock));
    json_object_set_new(object, "zone_ns", zones);
    json_object_set_new(object, "push_in_op_to_op_gap_ns", json_real(costs.push * 1000 / clock));
    return object;
}

static json_t *describe_overhead(const sb_report *report) {
    const report_clocks *clocks = &report->clocks;
    json_t *object = json_object();
    double sync_ns = 0;
    for (size_t i = 0; i < clocks->clocks.count; i++)
        sync_ns += ((report_clock *)sb_vector_at(&clocks->clocks, i))->write_ns;
    json_object_set_new(object, "device", describe_device_overhead(report));
    json_object_set_new(object, "costs", describe_costs(report));
    json_object_set_new(object, "sync_ns",
                        clocks->clocks.count > 0 ? json_real(sync_ns) : json_null());
    return object;
}

/* ---- what is missing ---- */

static json_t *describe_recording_losses(const report_recording *recording) {
    if (!recording->is_read)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < recording->losses.count; i++) {
        const report_loss *loss = sb_vector_at(&recording->losses, i);
        json_t *object = json_object();
        json_object_set_new(object, "what", report_json_string(loss->what));
        json_object_set_new(object, "count",
                            loss->count > 0 ? json_integer((json_int_t)loss->count) : json_null());
        json_object_set_new(object, "from_ns", json_integer(loss->from_ns));
        json_object_set_new(object, "to_ns", json_integer(loss->to_ns));
        json_array_append_new(list, object);
    }
    return list;
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
    json_object_set_new(object, "recording", describe_recording_losses(&report->recording));
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
        json_object_set_new(object, "zone", report_json_string(finding->zone));
        json_object_set_new(object, "what", json_string(what));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *describe_texts(const char *const *texts, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *text = json_string(texts[i]);
        json_array_append_new(list, text == NULL ? json_string("(not UTF-8)") : text);
    }
    return list;
}

void report_put_side_file(const sb_report *report, sb_output *output) {
    const sb_report_summary *summary = &report->summary;
    json_t *object = json_object();
    json_object_set_new(object, "schema", json_integer(SB_REPORT_SCHEMA));
    json_object_set_new(object, "tool", json_string("strobe"));
    json_object_set_new(object, "tool_version", text_or_null(report->options.tool_version));
    json_object_set_new(object, "options", describe_options(report));
    json_object_set_new(object, "device", describe_device(report));
    json_object_set_new(object, "clocks", describe_clocks(report));
    json_object_set_new(object, "overhead", describe_overhead(report));
    json_object_set_new(object, "rows", json_integer((json_int_t)summary->row_count));
    json_object_set_new(object, "signposts", json_integer((json_int_t)summary->signpost_count));
    json_object_set_new(object, "completeness", describe_completeness(summary));
    json_object_set_new(object, "losses", describe_losses(report));
    json_object_set_new(object, "problems",
                        describe_texts(summary->problems, summary->problem_count));
    json_object_set_new(object, "notes", describe_texts(summary->notes, summary->note_count));
    json_object_set_new(object, "findings", describe_findings(report));
    char *text = json_dumps(object, JSON_INDENT(2));
    sb_put_text(output, text == NULL ? "{}" : text);
    sb_put_char(output, '\n');
    free(text);
    json_decref(object);
}
