/*
 * A trace as the JSON that Chrome's tracing reads, and many viewers after it: a list of events, one
 * to a line. Times are microseconds with three decimals. Every thread and lane is a thread there;
 * the program is process 1, each device context one of its own.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "trace/trace_json.h"
#include "trace/trace_slices.h"

enum { PROGRAM = 1, FIRST_CONTEXT = 2, FIRST_TRACK = 1, FRAMES_BASE = 1 << 20, OPS_BASE = 1 << 21 };

typedef struct chrome_writer {
    const sb_trace *trace;
    sb_output *output;
    sb_output names; /* of sources, as JSON */
    size_t *name_starts;
    sb_idmap kernels;
    sb_trace_exported exported;
    uint32_t track;
    bool has_events;
} chrome_writer;

/* Where events go: a process and a thread of it. */
typedef struct chrome_place {
    uint64_t process;
    uint64_t thread;
} chrome_place;

static void begin_event(chrome_writer *writer, const char *phase, chrome_place place) {
    sb_put_text(writer->output, writer->has_events ? ",\n" : "\n");
    writer->has_events = true;
    sb_put_format(writer->output, "{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64, phase,
                  place.process, place.thread);
}

static void put_time(chrome_writer *writer, int64_t time) {
    const int64_t ns = time < 0 ? 0 : time;
    sb_put_format(writer->output, ",\"ts\":%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}

static void put_text(chrome_writer *writer, const char *key, sb_slice text) {
    sb_put_format(writer->output, ",\"%s\":", key);
    trace_put_json_text(writer->output, text);
}

static void end_event(chrome_writer *writer) {
    sb_put_char(writer->output, '}');
}

/* ---- names ---- */

static void name_sources(chrome_writer *writer) {
    const uint64_t count = sb_series_count(&writer->trace->sources);
    writer->name_starts = sb_alloc((count + 1) * sizeof *writer->name_starts);
    for (uint32_t i = 0; i < count; i++) {
        const sb_slice name = sb_trace_source_name(writer->trace, i);
        writer->name_starts[i] = writer->names.used;
        trace_put_json_text(&writer->names, name.size > 0 ? name : (sb_slice)SB_SLICE("???"));
    }
    writer->name_starts[count] = writer->names.used;
}

static void put_source_name(chrome_writer *writer, uint32_t source) {
    const size_t start = writer->name_starts[source];
    sb_put_text(writer->output, ",\"name\":");
    sb_put(writer->output,
           (sb_slice){writer->names.buffer + start, writer->name_starts[source + 1] - start});
}

static void put_name_of(chrome_writer *writer, const char *what, chrome_place place,
                        sb_slice name) {
    begin_event(writer, "M", place);
    sb_put_format(writer->output, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    trace_put_json_text(writer->output, name);
    sb_put_char(writer->output, '}');
    end_event(writer);
}

static chrome_place place_of(const sb_trace *trace, uint64_t number) {
    const sb_track *track = sb_trace_track(trace, number);
    const bool is_lane = track->kind == SB_TRACK_LANE;
    return (chrome_place){is_lane ? FIRST_CONTEXT + track->context : PROGRAM, FIRST_TRACK + number};
}

static void put_names(chrome_writer *writer) {
    const sb_trace *trace = writer->trace;
    put_name_of(writer, "process_name", (chrome_place){PROGRAM, 0}, trace->info.program);
    for (uint64_t i = 0; i < sb_series_count(&trace->contexts); i++)
        put_name_of(writer, "process_name", (chrome_place){FIRST_CONTEXT + i, 0},
                    sb_trace_text(trace, sb_trace_context(trace, i)->name));
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        char buffer[32];
        put_name_of(writer, "thread_name", place_of(trace, i),
                    sb_trace_track_name(trace, sb_trace_track(trace, i), buffer));
    }
}

/* ---- events ---- */

/* Half of an arrow: "s" where it starts, "f" where it ends. */
static void put_flow(chrome_writer *writer, const char *phase, chrome_place place, uint64_t id,
                     int64_t time) {
    begin_event(writer, phase, place);
    put_time(writer, time);
    sb_put_format(writer->output, ",\"name\":\"op\",\"cat\":\"op\",\"bp\":\"e\",\"id\":%" PRIu64,
                  id);
    end_event(writer);
}

static void begin_zone(void *context, uint32_t zone, int64_t time) {
    chrome_writer *writer = context;
    const sb_trace *trace = writer->trace;
    const sb_track *track = sb_trace_track(trace, writer->track);
    const chrome_place place = place_of(trace, writer->track);
    const sb_zone_note *note = sb_trace_zone_note(trace, track, zone);
    const uint32_t op = slices_op_of(&writer->kernels, writer->track, zone);
    begin_event(writer, "B", place);
    put_time(writer, time);
    if (note != NULL && note->name != 0)
        put_text(writer, "name", sb_trace_text(trace, note->name));
    else
        put_source_name(writer, sb_track_zone_source(track, zone));
    if (note != NULL && note->text != 0) {
        sb_put_text(writer->output, ",\"args\":{\"text\":");
        trace_put_json_text(writer->output, sb_trace_text(trace, note->text));
        sb_put_char(writer->output, '}');
    }
    end_event(writer);
    writer->exported.slices++;
    if (op == SB_NONE)
        return;
    put_flow(writer, "f", place, op + UINT64_C(1), time);
    writer->exported.flows++;
}

static void end_zone(void *context, int64_t time) {
    chrome_writer *writer = context;
    begin_event(writer, "E", place_of(writer->trace, writer->track));
    put_time(writer, time);
    end_event(writer);
}

static void put_slice(chrome_writer *writer, chrome_place place, sb_slice name, int64_t start,
                      int64_t end) {
    begin_event(writer, "B", place);
    put_time(writer, start);
    put_text(writer, "name", name);
    end_event(writer);
    writer->exported.slices++;
    if (end == SB_NO_TIME)
        return;
    begin_event(writer, "E", place);
    put_time(writer, end < start ? start : end);
    end_event(writer);
}

static void put_frames(chrome_writer *writer) {
    const sb_trace *trace = writer->trace;
    for (uint64_t i = 0; i < sb_series_count(&trace->frame_sets); i++) {
        const sb_frame_set *set = sb_series_at(&trace->frame_sets, i);
        const chrome_place place = {PROGRAM, FRAMES_BASE + i};
        const sb_slice own = SB_SLICE("Frames");
        const sb_slice name = set->name == 0 ? own : sb_trace_text(trace, set->name);
        put_name_of(writer, "thread_name", place, name);
        for (uint64_t k = 0; k < sb_series_count(&set->frames); k++)
            put_slice(writer, place, name, ((const sb_frame *)sb_series_at(&set->frames, k))->start,
                      slices_frame_end(set, k));
    }
}

static void put_ops(chrome_writer *writer) {
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->ops); i++) {
        const sb_op *op = sb_series_at(&writer->trace->ops, i);
        const chrome_place place = {PROGRAM, OPS_BASE + (uint64_t)op->device};
        put_flow(writer, "s", place, i + 1, op->start);
        put_slice(writer, place, sb_trace_text(writer->trace, op->name), op->start, op->end);
    }
}

static void put_counters(chrome_writer *writer) {
    const sb_trace *trace = writer->trace;
    for (uint64_t i = 0; i < sb_series_count(&trace->plots); i++) {
        const sb_plot *plot = sb_series_at(&trace->plots, i);
        const sb_slice unnamed = SB_SLICE("(unnamed)");
        for (uint64_t k = 0; k < sb_series_count(&plot->points); k++) {
            const sb_plot_point *point = sb_series_at(&plot->points, k);
            char number[SB_NUMBER_SIZE];
            if (!isfinite(point->value))
                continue;
            begin_event(writer, "C", (chrome_place){PROGRAM, 0});
            put_time(writer, point->time);
            put_text(writer, "name", plot->name == 0 ? unnamed : sb_trace_text(trace, plot->name));
            sb_put_text(writer->output, ",\"args\":{\"value\":");
            sb_put(writer->output, (sb_slice){number, sb_format_shortest(point->value, number)});
            sb_put_char(writer->output, '}');
            end_event(writer);
            writer->exported.counts++;
        }
    }
}

/* Messages go to the first track of their thread, else to the program as a whole. */
static uint64_t *message_threads(const sb_trace *trace) {
    uint64_t *threads = sb_alloc_zeroed(sb_series_count(&trace->threads), sizeof *threads);
    for (uint64_t i = sb_series_count(&trace->tracks); i > 0; i--) {
        const sb_track *track = sb_trace_track(trace, i - 1);
        if (track->kind != SB_TRACK_LANE)
            threads[track->thread] = FIRST_TRACK + i - 1;
    }
    return threads;
}

static void put_messages(chrome_writer *writer) {
    uint64_t *threads = message_threads(writer->trace);
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->messages); i++) {
        const sb_message *message = sb_series_at(&writer->trace->messages, i);
        const uint64_t thread = threads[message->thread];
        begin_event(writer, "i", (chrome_place){PROGRAM, thread});
        put_time(writer, message->time);
        put_text(writer, "name", sb_trace_text(writer->trace, message->text));
        sb_put_text(writer->output, thread == 0 ? ",\"s\":\"p\"" : ",\"s\":\"t\"");
        end_event(writer);
        writer->exported.instants++;
    }
    free(threads);
}

void sb_trace_write_chrome(const sb_trace *trace, sb_output *output, sb_trace_exported *exported) {
    chrome_writer writer = {.trace = trace,
                            .output = output,
                            .names = sb_output_to_memory(),
                            .kernels = slices_map_kernels(trace)};
    const slice_visitor visitor = {.context = &writer, .begin = begin_zone, .end = end_zone};
    name_sources(&writer);
    sb_put_text(output, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    put_names(&writer);
    for (uint32_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        writer.track = i;
        writer.exported.adjusted_times += slices_visit(sb_trace_track(trace, i), &visitor);
    }
    put_frames(&writer);
    put_ops(&writer);
    put_counters(&writer);
    put_messages(&writer);
    sb_put_text(output, "\n]}\n");
    sb_output_discard(&writer.names);
    free(writer.name_starts);
    sb_idmap_free(&writer.kernels);
    if (exported != NULL)
        *exported = writer.exported;
}
