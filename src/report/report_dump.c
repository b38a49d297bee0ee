/*
 * The statistics of a device log as text, and everything behind them as JSON: device_stats.txt and
 * device_analysis_data.json, as tt-metal's process_device_log.py writes them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_dump.h"
#include "report/report_json.h"

/* ---- JSON with indentation ---- */

enum { DEEPEST = 24 };

typedef struct writer {
    sb_output *output;
    int depth;
    bool has_entries[DEEPEST];
} writer;

static void begin_entry(writer *to, const char *key) {
    if (to->depth > 0) {
        sb_put_text(to->output, to->has_entries[to->depth] ? ",\n" : "\n");
        sb_put_fill(to->output, ' ', 2 * (size_t)to->depth);
        to->has_entries[to->depth] = true;
    }
    if (key != NULL) {
        sb_put_json(to->output, sb_slice_of(key));
        sb_put_text(to->output, ": ");
    }
}

/* Begins an object or a list; key is NULL inside lists. */
static void open_entry(writer *to, const char *key, char bracket) {
    begin_entry(to, key);
    sb_put_char(to->output, bracket);
    to->depth++;
    to->has_entries[to->depth] = false;
}

static void close_entry(writer *to, char bracket) {
    to->depth--;
    if (to->has_entries[to->depth + 1]) {
        sb_put_char(to->output, '\n');
        sb_put_fill(to->output, ' ', 2 * (size_t)to->depth);
    }
    sb_put_char(to->output, bracket);
}

static void put_text(writer *to, const char *key, sb_slice text) {
    begin_entry(to, key);
    sb_put_json(to->output, text);
}

static void put_string(writer *to, const char *key, const char *text) {
    put_text(to, key, sb_slice_of(text));
}

static void put_integer(writer *to, const char *key, int64_t value) {
    begin_entry(to, key);
    sb_put_format(to->output, "%" PRId64, value);
}

static void put_real(writer *to, const char *key, double value) {
    begin_entry(to, key);
    char text[SB_NUMBER_SIZE];
    sb_put(to->output, (sb_slice){text, sb_format_shortest(value, text)});
}

static void put_literal(writer *to, const char *key, const char *text) {
    begin_entry(to, key);
    sb_put_text(to->output, text);
}

/* ---- markers as Python prints them ---- */

enum { WITH_PROCESSOR = 1, WITH_CORE = 2 };

static const char *type_name(report_marker_type type) {
    static const char *const names[] = {
        [REPORT_MARKER_OTHER] = "",       [REPORT_MARKER_START] = "ZONE_START",
        [REPORT_MARKER_END] = "ZONE_END", [REPORT_MARKER_TOTAL] = "ZONE_TOTAL",
        [REPORT_MARKER_DATA] = "TS_DATA", [REPORT_MARKER_EVENT] = "TS_EVENT",
    };
    return names[type];
}

typedef struct dump {
    const report_marks *marks;
    const report_setup *setup;
    const report_measure **measures; /* all of the setup, by name */
    size_t measure_count;
    bool has_ops; /* executions were looked for */
    const char *log_path;
    sb_output line; /* for one text */
} dump;

static void put_mark_id(dump *of, const report_mark *mark) {
    sb_output *line = &of->line;
    sb_put_format(line, "{'id': %u, 'zone_name': ", mark->timer);
    report_put_python_text(line, mark->zone);
    sb_put_format(line, ", 'type': '%s', 'src_line': ", type_name(mark->type));
    if (of->marks->has_plain_lines)
        sb_put(line, mark->line);
    else
        report_put_python_text(line, mark->line);
    sb_put_text(line, ", 'src_file': ");
    report_put_python_text(line, mark->file);
    sb_put_format(line,
                  ", 'run_host_id': %" PRIu64 ", 'trace_id': %" PRId64
                  ", 'trace_id_count': %" PRId64 ", 'meta_data': ",
                  mark->program, mark->trace, mark->session);
    report_put_python_text(line, mark->meta);
    sb_put_char(line, '}');
}

static void end_line(dump *of, writer *to, const char *key) {
    put_text(to, key, sb_output_text(&of->line));
    sb_output_truncate(&of->line, 0);
}

static void put_mark(dump *of, writer *to, const report_mark *mark, unsigned with) {
    sb_output *line = &of->line;
    const report_series_core *core = sb_vector_at(&of->marks->cores, mark->core);
    sb_put_char(line, '(');
    put_mark_id(of, mark);
    sb_put_format(line, ", %" PRIu64 ", %" PRIu64, mark->time, mark->data);
    if ((with & WITH_PROCESSOR) != 0) {
        sb_put_text(line, ", ");
        report_put_python_text(line, sb_intern_text(&of->marks->processors, mark->processor));
    }
    if ((with & WITH_CORE) != 0)
        sb_put_format(line, ", (%u, %u)", core->x, core->y);
    sb_put_char(line, ')');
    end_line(of, to, NULL);
}

static void put_marks(dump *of, writer *to, const sb_vector *indices, unsigned with) {
    open_entry(to, "timeseries", '[');
    for (size_t i = 0; i < indices->count; i++)
        put_mark(of, to, report_mark_at(of->marks, report_index_at(indices, i)), with);
    close_entry(to, ']');
}

/* ---- measures ---- */

/* Sums and lists of events look for markers, not for edges. */
static bool has_marker(const report_measure *measure) {
    return measure->method == REPORT_SUM || measure->method == REPORT_EVENTS;
}

static void put_pattern(writer *to, const char *key, const report_measure *measure,
                        const report_pattern *pattern) {
    open_entry(to, key, '{');
    if (!measure->omits_core && !has_marker(measure))
        put_string(to, "core", "ANY");
    put_string(to, "risc", pattern->processor);
    if (pattern->zones != NULL) {
        open_entry(to, "zone_name", '[');
        for (size_t i = 0; pattern->zones[i] != NULL; i++)
            put_string(to, NULL, pattern->zones[i]);
        close_entry(to, ']');
    } else if (pattern->zone != NULL) {
        put_string(to, "zone_name", pattern->zone);
    }
    if (pattern->phase != NULL)
        put_string(to, "zone_phase", pattern->phase);
    close_entry(to, '}');
}

static void put_measure(writer *to, const char *key, const report_measure *measure) {
    open_entry(to, key, '{');
    put_string(to, "across", report_scope_names[measure->scope]);
    if (has_marker(measure)) {
        put_pattern(to, "marker", measure, &measure->start);
    } else {
        put_pattern(to, "end", measure, report_measure_end(measure));
        put_pattern(to, "start", measure, &measure->start);
    }
    put_string(to, "type", report_method_names[measure->method]);
    close_entry(to, '}');
}

static void put_stats(writer *to, const report_result *result) {
    const report_duration_stats *stats = &result->stats;
    open_entry(to, "stats", '{');
    put_real(to, "Average", (double)stats->sum / (double)stats->count);
    put_integer(to, "Count", (int64_t)stats->count);
    if (result->durations.count > 0)
        put_integer(to, "First", ((report_duration *)sb_vector_at(&result->durations, 0))->cycles);
    put_integer(to, "Max", stats->max);
    put_real(to, "Median", stats->median);
    put_integer(to, "Min", stats->min);
    put_integer(to, "Range", (int64_t)((uint64_t)stats->max - (uint64_t)stats->min));
    put_integer(to, "Sum", stats->sum);
    close_entry(to, '}');
}

/* The firmware start that was the last one before a marker. */
static void put_firmware(dump *of, writer *to, const char *key, uint32_t firmware) {
    if (firmware == 0) {
        put_literal(to, key, "null");
        return;
    }
    const report_mark *mark = report_mark_at(of->marks, firmware - 1);
    sb_put_char(&of->line, '(');
    put_mark_id(of, mark);
    sb_put_format(&of->line, ", %" PRIu64 ")", mark->time);
    end_line(of, to, key);
}

static void put_duration(dump *of, writer *to, const report_measure *measure,
                         const report_duration *duration) {
    open_entry(to, NULL, '{');
    put_integer(to, "duration_cycles", duration->cycles);
    if (measure->method == REPORT_SUM) {
        put_pattern(to, "duration_type", measure, &measure->start);
        close_entry(to, '}');
        return;
    }
    const report_mark *start = report_mark_at(of->marks, duration->start);
    const report_mark *end = report_mark_at(of->marks, duration->end);
    sb_put_char(&of->line, '(');
    put_mark_id(of, start);
    sb_put_text(&of->line, ", ");
    put_mark_id(of, end);
    sb_put_char(&of->line, ')');
    end_line(of, to, "duration_type");
    put_integer(to, "end_cycle", (int64_t)end->time);
    if (measure->method == REPORT_ADJACENT)
        put_firmware(of, to, "end_iter_mark", duration->end_firmware);
    put_integer(to, "start_cycle", (int64_t)start->time);
    if (measure->method == REPORT_ADJACENT)
        put_firmware(of, to, "start_iter_mark", duration->start_firmware);
    close_entry(to, '}');
}

static void put_result(dump *of, writer *to, const report_result *result) {
    open_entry(to, result->measure->name, '{');
    put_measure(to, "analysis", result->measure);
    if (result->durations.count > 0) {
        open_entry(to, "series", '[');
        for (size_t i = 0; i < result->durations.count; i++)
            put_duration(of, to, result->measure, sb_vector_at(&result->durations, i));
        close_entry(to, ']');
    }
    put_stats(to, result);
    close_entry(to, '}');
}

static const report_result *find_result(const sb_vector *results, const report_measure *measure) {
    for (size_t i = 0; i < results->count; i++) {
        const report_result *result = sb_vector_at(results, i);
        if (result->measure == measure)
            return result;
    }
    return NULL;
}

static void put_results(dump *of, writer *to, const sb_vector *results) {
    if (results->count == 0)
        return;
    open_entry(to, "analysis", '{');
    for (size_t i = 0; i < of->measure_count; i++) {
        const report_result *result = find_result(results, of->measures[i]);
        if (result != NULL)
            put_result(of, to, result);
    }
    close_entry(to, '}');
}

static void put_events(dump *of, writer *to, const sb_vector *indices, report_scope scope,
                       unsigned with) {
    open_entry(to, "events", '{');
    for (size_t i = 0; i < of->measure_count; i++) {
        const report_measure *measure = of->measures[i];
        if (measure->scope != scope || measure->method != REPORT_EVENTS)
            continue;
        open_entry(to, measure->name, '[');
        for (size_t k = 0; k < indices->count; k++) {
            const report_mark *mark = report_mark_at(of->marks, report_index_at(indices, k));
            if (report_is_event(of->marks, mark, measure))
                put_mark(of, to, mark, with);
        }
        close_entry(to, ']');
    }
    close_entry(to, '}');
}

/* ---- cores and devices ---- */

static void put_ops(dump *of, writer *to, const char *key, const sb_vector *ops, bool with_events,
                    unsigned with) {
    open_entry(to, key, '[');
    for (size_t i = 0; i < ops->count; i++) {
        const report_series *op = report_series_at(ops, i);
        open_entry(to, NULL, '{');
        put_results(of, to, &op->results);
        if (with_events)
            put_events(of, to, &op->marks, REPORT_SCOPE_OPS, with);
        put_marks(of, to, &op->marks, with);
        close_entry(to, '}');
    }
    close_entry(to, ']');
}

static int compare_lanes(const void *a, const void *b) {
    const sb_slice *left = a;
    const sb_slice *right = b;
    return sb_slice_compare(*left, *right);
}

typedef void (*put_whole)(dump *of, writer *to, const void *whole);

/* Processors by name, and among them TENSIX, which stands for all of them together. */
static void put_processors(dump *of, writer *to, const sb_vector *lanes, unsigned with,
                           put_whole put, const void *whole) {
    const sb_slice all = SB_SLICE("TENSIX");
    sb_slice *names = sb_alloc_zeroed(lanes->count + 1, sizeof *names);
    for (size_t i = 0; i < lanes->count; i++)
        names[i] = sb_intern_text(&of->marks->processors,
                                  ((report_lane *)sb_vector_at(lanes, i))->processor);
    names[lanes->count] = all;
    qsort(names, lanes->count + 1, sizeof *names, compare_lanes);
    open_entry(to, "riscs", '{');
    for (size_t i = 0; i <= lanes->count; i++) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)names[i].size, names[i].data);
        open_entry(to, key, '{');
        for (size_t k = 0; k < lanes->count; k++) {
            const report_lane *lane = sb_vector_at(lanes, k);
            if (sb_slice_equal(sb_intern_text(&of->marks->processors, lane->processor), names[i]))
                put_marks(of, to, &lane->marks, with);
        }
        if (sb_slice_equal(names[i], all))
            put(of, to, whole);
        close_entry(to, '}');
    }
    close_entry(to, '}');
    free(names);
}

static void put_whole_core(dump *of, writer *to, const void *whole) {
    const report_series_core *core = whole;
    put_results(of, to, &core->all.results);
    put_events(of, to, &core->all.marks, REPORT_SCOPE_CORE, WITH_PROCESSOR);
    put_ops(of, to, "ops", &core->ops, false, WITH_PROCESSOR);
    put_marks(of, to, &core->all.marks, WITH_PROCESSOR);
}

static void put_whole_device(dump *of, writer *to, const void *whole) {
    const report_series_device *device = whole;
    const unsigned with = WITH_PROCESSOR | WITH_CORE;
    put_results(of, to, &device->all.results);
    put_ops(of, to, "dispatch_ops", &device->dispatch_ops, false, WITH_PROCESSOR);
    put_events(of, to, &device->all.marks, REPORT_SCOPE_DEVICE, with);
    put_ops(of, to, "ops", &device->ops, true, with);
    put_marks(of, to, &device->all.marks, with);
}

typedef struct named_core {
    char name[32];
    const report_series_core *core;
} named_core;

static int compare_cores(const void *a, const void *b) {
    return strcmp(((const named_core *)a)->name, ((const named_core *)b)->name);
}

static void put_cores(dump *of, writer *to, const report_series_device *device) {
    named_core *cores = sb_alloc_zeroed(device->cores.count + 1, sizeof *cores);
    for (size_t i = 0; i < device->cores.count; i++) {
        cores[i].core = sb_vector_at(&of->marks->cores, report_index_at(&device->cores, i));
        snprintf(cores[i].name, sizeof cores[i].name, "(%u, %u)", cores[i].core->x,
                 cores[i].core->y);
    }
    qsort(cores, device->cores.count, sizeof *cores, compare_cores);
    open_entry(to, "cores", '{');
    for (size_t i = 0; i < device->cores.count; i++) {
        open_entry(to, cores[i].name, '{');
        put_processors(of, to, &cores[i].core->lanes, 0, put_whole_core, cores[i].core);
        close_entry(to, '}');
    }
    open_entry(to, "DEVICE", '{');
    put_results(of, to, &device->summary);
    put_processors(of, to, &device->lanes, WITH_CORE, put_whole_device, device);
    close_entry(to, '}');
    close_entry(to, '}');
    free(cores);
}

static int compare_devices(const void *a, const void *b) {
    const uint32_t left = (*(const report_series_device *const *)a)->id;
    const uint32_t right = (*(const report_series_device *const *)b)->id;
    return left < right ? -1 : left > right ? 1 : 0;
}

static void put_devices(dump *of, writer *to) {
    const size_t count = of->marks->devices.count;
    const report_series_device **devices = sb_alloc_zeroed(count + 1, sizeof(void *));
    for (size_t i = 0; i < count; i++)
        devices[i] = sb_vector_at(&of->marks->devices, i);
    qsort(devices, count, sizeof(void *), compare_devices);
    open_entry(to, "devices", '{');
    for (size_t i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof key, "%u", devices[i]->id);
        open_entry(to, key, '{');
        put_cores(of, to, devices[i]);
        close_entry(to, '}');
    }
    close_entry(to, '}');
    free(devices);
}

/* ---- the setup ---- */

static void put_list(writer *to, const char *key, const char *const *texts) {
    open_entry(to, key, '[');
    for (size_t i = 0; texts[i] != NULL; i++)
        put_string(to, NULL, texts[i]);
    close_entry(to, ']');
}

static void put_processor_names(writer *to) {
    static const char *const first[] = {"BRISC",   "NCRISC", "TRISC_0", "TRISC_1",
                                        "TRISC_2", "ERISC",  NULL};
    enum { MOVERS = 8, ENGINES = 4 };
    open_entry(to, "riscs", '[');
    for (size_t i = 0; first[i] != NULL; i++)
        put_string(to, NULL, first[i]);
    char name[32];
    for (int i = 0; i < MOVERS; i++) {
        snprintf(name, sizeof name, "QUASAR_DM%d", i);
        put_string(to, NULL, name);
    }
    for (int i = 0; i < ENGINES * ENGINES; i++) {
        snprintf(name, sizeof name, "QUASAR_NEO%d_TRISC%d", i / ENGINES, i % ENGINES);
        put_string(to, NULL, name);
    }
    close_entry(to, ']');
}

static void put_setup(const dump *of, writer *to) {
    static const char *const shown[] = {"Count", "Average", "Max",   "Median",
                                        "Min",   "Sum",     "Range", NULL};
    static const char *const types[] = {"BRISC",           "NCRISC", "TRISC", "ERISC",
                                        "TENSIX_RISC_AGG", "DM",     NULL};
    open_entry(to, "setup", '{');
    put_literal(to, "detectOps", of->has_ops ? "true" : "false");
    put_string(to, "deviceAnalysisData", "device_analysis_data.json");
    put_string(to, "deviceInputLog", of->log_path);
    put_string(to, "deviceStatsTXT", "device_stats.txt");
    put_string(to, "deviceTarball", "device_perf_results.tgz");
    put_list(to, "displayStats", shown);
    put_string(to, "outputFolder", "output/device");
    put_list(to, "riscTypes", types);
    put_processor_names(to);
    open_entry(to, "timerAnalysis", '{');
    for (size_t i = 0; i < of->measure_count; i++)
        put_measure(to, of->measures[i]->name, of->measures[i]);
    close_entry(to, '}');
    close_entry(to, '}');
}

static int compare_measures(const void *a, const void *b) {
    return strcmp((*(const report_measure *const *)a)->name,
                  (*(const report_measure *const *)b)->name);
}

/* The measures of a setup in the order of their names. */
static void collect_measures(dump *of) {
    size_t usual_count = 0;
    const report_measure *usual = report_usual_measures(&usual_count);
    of->measures = sb_alloc_zeroed(usual_count + of->setup->count, sizeof(void *));
    for (size_t i = 0; i < of->setup->count; i++)
        of->measures[of->measure_count++] = &of->setup->measures[i];
    for (size_t i = 0; i < usual_count; i++)
        of->measures[of->measure_count++] = &usual[i];
    qsort(of->measures, of->measure_count, sizeof(void *), compare_measures);
}

void report_put_dump(const report_marks *marks, const report_setup *setup, bool has_ops,
                     const char *log_path, sb_output *output) {
    dump of = {.marks = marks,
               .setup = setup,
               .has_ops = has_ops,
               .log_path = log_path,
               .line = sb_output_to_memory()};
    writer to = {.output = output};
    collect_measures(&of);
    open_entry(&to, NULL, '{');
    open_entry(&to, "data", '{');
    open_entry(&to, "deviceInfo", '{');
    put_text(&to, "arch", marks->log.arch);
    put_integer(&to, "freq", marks->log.clock_mhz);
    if (marks->log.compute_cores > 0)
        put_integer(&to, "max_compute_cores", marks->log.compute_cores);
    else
        put_literal(&to, "max_compute_cores", "null");
    close_entry(&to, '}');
    put_devices(&of, &to);
    close_entry(&to, '}');
    put_setup(&of, &to);
    close_entry(&to, '}');
    free(of.measures);
    sb_output_discard(&of.line);
}

/* ---- the text ---- */

static void put_figure(sb_output *output, const char *label, const char *unit, double value) {
    enum { WIDTH = 10 };
    char text[SB_NUMBER_SIZE];
    const size_t size = sb_format_fixed(value, 0, true, text);
    sb_put_format(output, "%12s%s = ", label, unit);
    sb_put_fill(output, ' ', size < WIDTH ? WIDTH - size : 0);
    sb_put(output, (sb_slice){text, size});
    sb_put_char(output, '\n');
}

static void put_summary(sb_output *output, const report_result *result) {
    static const char cycles[] = " [cycles]";
    const report_duration_stats *stats = &result->stats;
    sb_put_format(output, "\n=================== %s ===================\n", result->measure->name);
    if (stats->count > 1) {
        put_figure(output, "Count", "         ", (double)stats->count);
        put_figure(output, "Average", cycles, (double)stats->sum / (double)stats->count);
        put_figure(output, "Max", cycles, (double)stats->max);
        put_figure(output, "Median", cycles, stats->median);
        put_figure(output, "Min", cycles, (double)stats->min);
        put_figure(output, "Sum", cycles, (double)stats->sum);
        put_figure(output, "Range", cycles, (double)stats->max - (double)stats->min);
    } else {
        put_figure(output, "Duration", cycles, (double)stats->max);
    }
    sb_put_char(output, '\n');
}

void report_put_device_stats(const report_marks *marks, sb_output *output) {
    for (size_t i = 0; i < marks->devices.count; i++) {
        const report_series_device *device = sb_vector_at(&marks->devices, i);
        for (size_t k = 0; k < device->summary.count; k++)
            put_summary(output, sb_vector_at(&device->summary, k));
    }
}
