/*
 * A trace in Perfetto's own format: a list of packets, all of one sequence. The first gives numbers
 * to names and sources, then come descriptors of tracks, then events, track by track. Fields and
 * their numbers are those of Perfetto's public schema.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/trace_proto.h"
#include "trace/trace_slices.h"

enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_SOURCE_IID = 34,
    EVENT_DOUBLE = 44,
    EVENT_FLOWS = 47,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };
enum { INTERNED_NAMES = 2, INTERNED_SOURCES = 4 };
enum { NAME_IID = 1, NAME_TEXT = 2 };
enum { SOURCE_IID = 1, SOURCE_FILE = 2, SOURCE_FUNCTION = 3, SOURCE_LINE = 4 };

/* Tracks are told apart by a number: its kind in the high bits, which one in the low ones. */
typedef enum uuid_kind {
    UUID_PROCESS = 1,
    UUID_TRACK,
    UUID_CONTEXT,
    UUID_PLOT,
    UUID_FRAMES,
    UUID_OPS,
} uuid_kind;

typedef struct perfetto_writer {
    const sb_trace *trace;
    sb_output *output;
    sb_output packet; /* each of these is put into the one before it */
    sb_output part;
    sb_output inner;
    sb_arena texts;
    sb_idmap kernels;
    sb_trace_exported exported;
    uint32_t track; /* the one whose zones are written */
} perfetto_writer;

static uint64_t uuid_of(uuid_kind kind, uint64_t number) {
    return (uint64_t)kind << 40 | number;
}

/* Viewers take 0 for the system's idle process. */
static uint64_t process_id(const sb_trace *trace) {
    const uint64_t id = trace->info.process_id & INT32_MAX;
    return id == 0 ? 1 : id;
}

/* Texts of messages must be UTF-8. */
static sb_slice clean(perfetto_writer *writer, sb_slice text) {
    return sb_utf8_clean(&writer->texts, text);
}

static void put_packet(perfetto_writer *writer, uint32_t flags) {
    enum { SEQUENCE = 1 };
    proto_put_number(&writer->packet, PACKET_SEQUENCE, SEQUENCE);
    proto_put_number(&writer->packet, PACKET_FLAGS, flags);
    proto_put_message(writer->output, TRACE_PACKET, &writer->packet);
}

/* ---- names ---- */

static void put_names(perfetto_writer *writer) {
    const sb_trace *trace = writer->trace;
    const uint64_t count = sb_series_count(&trace->sources);
    for (uint32_t i = 0; i < count; i++) {
        const sb_slice name = sb_trace_source_name(trace, i);
        const sb_slice shown = name.size > 0 ? name : (sb_slice)SB_SLICE("???");
        proto_put_number(&writer->inner, NAME_IID, i + UINT64_C(1));
        proto_put_bytes(&writer->inner, NAME_TEXT, clean(writer, shown));
        proto_put_message(&writer->part, INTERNED_NAMES, &writer->inner);
    }
    for (uint32_t i = 0; i < count; i++) {
        const sb_source *source = sb_trace_source(trace, i);
        proto_put_number(&writer->inner, SOURCE_IID, i + UINT64_C(1));
        proto_put_bytes(&writer->inner, SOURCE_FILE,
                        clean(writer, sb_trace_text(trace, source->file)));
        proto_put_bytes(&writer->inner, SOURCE_FUNCTION,
                        clean(writer, sb_trace_text(trace, source->function)));
        proto_put_number(&writer->inner, SOURCE_LINE, source->line);
        proto_put_message(&writer->part, INTERNED_SOURCES, &writer->inner);
    }
    proto_put_message(&writer->packet, PACKET_INTERNED, &writer->part);
    put_packet(writer, FLAG_STATE_CLEARED);
}

/* ---- tracks ---- */

static void begin_track(perfetto_writer *writer, uint64_t uuid, uint64_t parent, sb_slice name) {
    proto_put_number(&writer->part, TRACK_UUID, uuid);
    if (parent != 0)
        proto_put_number(&writer->part, TRACK_PARENT, parent);
    proto_put_bytes(&writer->part, TRACK_NAME, clean(writer, name));
}

static void put_track(perfetto_writer *writer) {
    proto_put_message(&writer->packet, PACKET_TRACK, &writer->part);
    put_packet(writer, 0);
}

static void put_process(perfetto_writer *writer) {
    const sb_slice unknown = SB_SLICE("program");
    const sb_slice program = writer->trace->info.program;
    const sb_slice name = program.size > 0 ? program : unknown;
    begin_track(writer, uuid_of(UUID_PROCESS, 0), 0, name);
    proto_put_number(&writer->inner, PROCESS_PID, process_id(writer->trace));
    proto_put_bytes(&writer->inner, PROCESS_NAME, clean(writer, name));
    proto_put_message(&writer->part, TRACK_PROCESS, &writer->inner);
    put_track(writer);
}

static void put_contexts(perfetto_writer *writer) {
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->contexts); i++) {
        const sb_slice name =
            sb_trace_text(writer->trace, sb_trace_context(writer->trace, i)->name);
        char text[32];
        const int size = snprintf(text, sizeof text, "device context %" PRIu64, i);
        begin_track(writer, uuid_of(UUID_CONTEXT, i), 0,
                    name.size > 0 ? name : (sb_slice){text, (size_t)size});
        put_track(writer);
    }
}

static void put_zone_track(perfetto_writer *writer, uint64_t number) {
    const sb_track *track = sb_trace_track(writer->trace, number);
    char buffer[32];
    const sb_slice name = sb_trace_track_name(writer->trace, track, buffer);
    const bool is_lane = track->kind == SB_TRACK_LANE;
    begin_track(writer, uuid_of(UUID_TRACK, number),
                is_lane ? uuid_of(UUID_CONTEXT, track->context) : uuid_of(UUID_PROCESS, 0), name);
    if (track->kind == SB_TRACK_THREAD) {
        const uint64_t id = sb_trace_thread_at(writer->trace, track->thread)->id;
        proto_put_number(&writer->inner, THREAD_PID, process_id(writer->trace));
        proto_put_number(&writer->inner, THREAD_TID, id & INT64_MAX);
        proto_put_bytes(&writer->inner, THREAD_NAME, clean(writer, name));
        proto_put_message(&writer->part, TRACK_THREAD, &writer->inner);
    }
    put_track(writer);
}

static void put_counter_track(perfetto_writer *writer, uint64_t number) {
    const sb_plot *plot = sb_series_at(&writer->trace->plots, number);
    const sb_slice name = sb_trace_text(writer->trace, plot->name);
    begin_track(writer, uuid_of(UUID_PLOT, number), uuid_of(UUID_PROCESS, 0),
                name.size > 0 ? name : (sb_slice)SB_SLICE("(unnamed)"));
    proto_put_message(&writer->part, TRACK_COUNTER, &writer->inner);
    put_track(writer);
}

static sb_slice frames_name(const sb_trace *trace, const sb_frame_set *set) {
    const sb_slice own = SB_SLICE("Frames");
    return set->name == 0 ? own : sb_trace_text(trace, set->name);
}

static void put_op_tracks(perfetto_writer *writer) {
    sb_idmap seen;
    sb_idmap_init(&seen);
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->ops); i++) {
        const sb_op *op = sb_series_at(&writer->trace->ops, i);
        uint32_t known = 0;
        char text[32];
        if (sb_idmap_get(&seen, op->device, &known))
            continue;
        sb_idmap_set(&seen, op->device, 1);
        const int size = snprintf(text, sizeof text, "ops of device %u", op->device);
        begin_track(writer, uuid_of(UUID_OPS, op->device), uuid_of(UUID_PROCESS, 0),
                    (sb_slice){text, (size_t)size});
        put_track(writer);
    }
    sb_idmap_free(&seen);
}

static void put_tracks(perfetto_writer *writer) {
    const sb_trace *trace = writer->trace;
    put_process(writer);
    put_contexts(writer);
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++)
        put_zone_track(writer, i);
    for (uint64_t i = 0; i < sb_series_count(&trace->plots); i++)
        put_counter_track(writer, i);
    for (uint64_t i = 0; i < sb_series_count(&trace->frame_sets); i++) {
        begin_track(writer, uuid_of(UUID_FRAMES, i), uuid_of(UUID_PROCESS, 0),
                    frames_name(trace, sb_series_at(&trace->frame_sets, i)));
        put_track(writer);
    }
    put_op_tracks(writer);
}

/* ---- events ---- */

static void begin_event(perfetto_writer *writer, unsigned type, uint64_t uuid) {
    proto_put_number(&writer->part, EVENT_TYPE, type);
    proto_put_number(&writer->part, EVENT_TRACK, uuid);
}

static void put_event(perfetto_writer *writer, int64_t time) {
    proto_put_number(&writer->packet, PACKET_TIMESTAMP, (uint64_t)(time < 0 ? 0 : time));
    proto_put_message(&writer->packet, PACKET_TRACK_EVENT, &writer->part);
    put_packet(writer, FLAG_NEEDS_STATE);
}

static void put_annotation(perfetto_writer *writer, const char *name, sb_slice text) {
    proto_put_bytes(&writer->inner, ANNOTATION_NAME, sb_slice_of(name));
    proto_put_bytes(&writer->inner, ANNOTATION_TEXT, clean(writer, text));
    proto_put_message(&writer->part, EVENT_ANNOTATION, &writer->inner);
}

static void put_end(perfetto_writer *writer, uint64_t uuid, int64_t time) {
    begin_event(writer, TYPE_END, uuid);
    put_event(writer, time);
}

static void begin_zone(void *context, uint32_t zone, int64_t time) {
    perfetto_writer *writer = context;
    const sb_trace *trace = writer->trace;
    const sb_track *track = sb_trace_track(trace, writer->track);
    const sb_zone_note *note = sb_trace_zone_note(trace, track, zone);
    const uint32_t source = sb_track_zone_source(track, zone);
    const uint32_t op = slices_op_of(&writer->kernels, writer->track, zone);
    begin_event(writer, TYPE_BEGIN, uuid_of(UUID_TRACK, writer->track));
    if (note != NULL && note->name != 0)
        proto_put_bytes(&writer->part, EVENT_NAME, clean(writer, sb_trace_text(trace, note->name)));
    else
        proto_put_number(&writer->part, EVENT_NAME_IID, source + UINT64_C(1));
    proto_put_number(&writer->part, EVENT_SOURCE_IID, source + UINT64_C(1));
    if (note != NULL && note->text != 0)
        put_annotation(writer, "text", sb_trace_text(trace, note->text));
    if (op != SB_NONE) {
        proto_put_fixed64(&writer->part, EVENT_FLOWS, op + UINT64_C(1));
        writer->exported.flows++;
    }
    put_event(writer, time);
    writer->exported.slices++;
}

static void end_zone(void *context, int64_t time) {
    perfetto_writer *writer = context;
    put_end(writer, uuid_of(UUID_TRACK, writer->track), time);
}

static void put_zones(perfetto_writer *writer) {
    const slice_visitor visitor = {.context = writer, .begin = begin_zone, .end = end_zone};
    for (uint32_t i = 0; i < sb_series_count(&writer->trace->tracks); i++) {
        writer->track = i;
        writer->exported.adjusted_times += slices_visit(sb_trace_track(writer->trace, i), &visitor);
        sb_arena_free(&writer->texts);
    }
}

/* A slice that is not a zone. */
static void put_slice(perfetto_writer *writer, uint64_t uuid, sb_slice name, int64_t start,
                      int64_t end, uint64_t flow) {
    begin_event(writer, TYPE_BEGIN, uuid);
    proto_put_bytes(&writer->part, EVENT_NAME, clean(writer, name));
    if (flow != 0)
        proto_put_fixed64(&writer->part, EVENT_FLOWS, flow);
    put_event(writer, start);
    writer->exported.slices++;
    if (end != SB_NO_TIME)
        put_end(writer, uuid, end < start ? start : end);
}

static void put_frames(perfetto_writer *writer) {
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->frame_sets); i++) {
        const sb_frame_set *set = sb_series_at(&writer->trace->frame_sets, i);
        for (uint64_t k = 0; k < sb_series_count(&set->frames); k++) {
            const sb_frame *frame = sb_series_at(&set->frames, k);
            put_slice(writer, uuid_of(UUID_FRAMES, i), frames_name(writer->trace, set),
                      frame->start, slices_frame_end(set, k), 0);
        }
    }
}

static void put_ops(perfetto_writer *writer) {
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->ops); i++) {
        const sb_op *op = sb_series_at(&writer->trace->ops, i);
        put_slice(writer, uuid_of(UUID_OPS, op->device), sb_trace_text(writer->trace, op->name),
                  op->start, op->end, i + 1);
    }
}

static void put_counters(perfetto_writer *writer) {
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->plots); i++) {
        const sb_plot *plot = sb_series_at(&writer->trace->plots, i);
        for (uint64_t k = 0; k < sb_series_count(&plot->points); k++) {
            const sb_plot_point *point = sb_series_at(&plot->points, k);
            begin_event(writer, TYPE_COUNTER, uuid_of(UUID_PLOT, i));
            proto_put_double(&writer->part, EVENT_DOUBLE, point->value);
            put_event(writer, point->time);
            writer->exported.counts++;
        }
    }
}

/* Where the messages of each thread go: to its first track, else to the process. */
static uint64_t *message_tracks(const sb_trace *trace) {
    const uint64_t threads = sb_series_count(&trace->threads);
    uint64_t *uuids = sb_alloc(threads * sizeof *uuids);
    for (uint64_t i = 0; i < threads; i++)
        uuids[i] = uuid_of(UUID_PROCESS, 0);
    for (uint64_t i = sb_series_count(&trace->tracks); i > 0; i--) {
        const sb_track *track = sb_trace_track(trace, i - 1);
        if (track->kind != SB_TRACK_LANE)
            uuids[track->thread] = uuid_of(UUID_TRACK, i - 1);
    }
    return uuids;
}

static void put_messages(perfetto_writer *writer) {
    uint64_t *uuids = message_tracks(writer->trace);
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->messages); i++) {
        const sb_message *message = sb_series_at(&writer->trace->messages, i);
        begin_event(writer, TYPE_INSTANT, uuids[message->thread]);
        proto_put_bytes(&writer->part, EVENT_NAME,
                        clean(writer, sb_trace_text(writer->trace, message->text)));
        put_event(writer, message->time);
        writer->exported.instants++;
    }
    free(uuids);
}

void sb_trace_write_perfetto(const sb_trace *trace, sb_output *output,
                             sb_trace_exported *exported) {
    perfetto_writer writer = {.trace = trace,
                              .output = output,
                              .packet = sb_output_to_memory(),
                              .part = sb_output_to_memory(),
                              .inner = sb_output_to_memory(),
                              .kernels = slices_map_kernels(trace)};
    put_names(&writer);
    put_tracks(&writer);
    put_zones(&writer);
    put_frames(&writer);
    put_ops(&writer);
    put_counters(&writer);
    put_messages(&writer);
    sb_output_discard(&writer.packet);
    sb_output_discard(&writer.part);
    sb_output_discard(&writer.inner);
    sb_arena_free(&writer.texts);
    sb_idmap_free(&writer.kernels);
    if (exported != NULL)
        *exported = writer.exported;
}
