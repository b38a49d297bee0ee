/*
 * JSON: the summary of a trace, and what other files need to write JSON.
 */
#include "trace/trace_json.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/trace_export.h"
#include "trace/trace_file.h"

enum { SCHEMA_VERSION = 1 };

json_t *trace_json_text(sb_slice text) {
    sb_arena scratch = {0};
    const sb_slice clean = sb_utf8_clean(&scratch, text);
    json_t *string = clean.size == 0 ? json_string("") : json_stringn(clean.data, clean.size);
    if (string == NULL)
        sb_out_of_memory(clean.size);
    sb_arena_free(&scratch);
    return string;
}

void trace_put_json(sb_output *output, json_t *value, size_t flags) {
    char *text = json_dumps(value, flags | JSON_ENCODE_ANY);
    if (text == NULL)
        sb_out_of_memory(0);
    sb_put_text(output, text);
    free(text);
    json_decref(value);
}

void trace_put_json_text(sb_output *output, sb_slice text) {
    trace_put_json(output, trace_json_text(text), 0);
}

/* ---- summary ---- */

static json_t *make_file(const sb_trace_file *file) {
    char version[32];
    const bool is_recording = file->recording != NULL;
    snprintf(version, sizeof version, "%u.%u.%u", file->version >> 16, file->version >> 8 & 0xFF,
             file->version & 0xFF);
    return json_pack("{s:s, s:s?, s:s?, s:b, s:s, s:I, s:I, s:I}", "format",
                     is_recording ? file->recording : "tracy", "version",
                     is_recording ? NULL : version, "protocol", file->protocol, "tenstorrent",
                     (int)file->tenstorrent, "compression",
                     file->compression == NULL ? "" : file->compression, "streams",
                     (json_int_t)file->stream_count, "file_bytes", (json_int_t)file->file_bytes,
                     "body_bytes", (json_int_t)file->body_bytes);
}

static json_t *make_program(const sb_trace *trace) {
    const sb_trace_info *info = &trace->info;
    return json_pack("{s:o, s:o, s:o, s:I, s:I}", "name", trace_json_text(info->program), "capture",
                     trace_json_text(info->capture_name), "host", trace_json_text(info->host),
                     "process_id", (json_int_t)info->process_id, "captured_at",
                     (json_int_t)info->captured_at);
}

static json_t *make_track(const sb_trace *trace, const sb_track *track) {
    static const char *const kinds[] = {
        [SB_TRACK_THREAD] = "thread", [SB_TRACK_FIBER] = "fiber", [SB_TRACK_LANE] = "lane"};
    char buffer[32];
    json_t *object =
        json_pack("{s:s, s:o, s:I, s:I}", "kind", kinds[track->kind], "name",
                  trace_json_text(sb_trace_track_name(trace, track, buffer)), "id",
                  (json_int_t)track->lane_id, "zones", (json_int_t)sb_track_zone_count(track));
    if (track->kind == SB_TRACK_LANE)
        json_object_set_new(object, "context", json_integer(track->context));
    return object;
}

static json_t *make_tracks(const sb_trace *trace) {
    json_t *list = json_array();
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++)
        json_array_append_new(list, make_track(trace, sb_trace_track(trace, i)));
    return list;
}

static json_t *make_losses(const sb_trace *trace) {
    json_t *list = json_array();
    for (uint64_t i = 0; i < sb_series_count(&trace->losses); i++) {
        const sb_loss *loss = sb_series_at(&trace->losses, i);
        json_t *object = json_pack("{s:I, s:I, s:o}", "from_ns", (json_int_t)loss->from, "count",
                                   (json_int_t)loss->count, "text",
                                   trace_json_text(sb_trace_text(trace, loss->text)));
        json_object_set_new(object, "to_ns",
                            loss->to == SB_NO_TIME ? json_null() : json_integer(loss->to));
        if (loss->thread != SB_NONE)
            json_object_set_new(
                object, "thread_id",
                json_integer((json_int_t)sb_trace_thread_at(trace, loss->thread)->id));
        json_array_append_new(list, object);
    }
    return list;
}

/* What lanes belong to: their `context` is a position in this list. */
static json_t *make_contexts(const sb_trace *trace) {
    json_t *list = json_array();
    for (uint64_t i = 0; i < sb_series_count(&trace->contexts); i++) {
        const sb_context *context = sb_trace_context(trace, i);
        json_array_append_new(list, json_pack("{s:o, s:i}", "name",
                                              trace_json_text(sb_trace_text(trace, context->name)),
                                              "type", (int)context->type));
    }
    return list;
}

static json_t *make_application(const sb_trace *trace) {
    json_t *list = json_array();
    for (uint64_t i = 0; i < sb_series_count(&trace->app_info); i++) {
        const sb_string text = *(const sb_string *)sb_series_at(&trace->app_info, i);
        json_array_append_new(list, trace_json_text(sb_trace_text(trace, text)));
    }
    return list;
}

/* Bytes of the unpacked file by section. */
static json_t *make_sections(const sb_trace_file *file) {
    json_t *sections = json_object();
    for (unsigned i = 1; i < SB_TRACE_SECTIONS; i++) {
        if (file->section_bytes[i] > 0)
            json_object_set_new(sections, sb_trace_section_name(i),
                                json_integer((json_int_t)file->section_bytes[i]));
    }
    return sections;
}

static uint64_t count_points(const sb_trace *trace) {
    uint64_t points = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->plots); i++)
        points += sb_series_count(&((sb_plot *)sb_series_at(&trace->plots, i))->points);
    return points;
}

static uint64_t count_frames(const sb_trace *trace) {
    uint64_t frames = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->frame_sets); i++)
        frames += sb_series_count(&((sb_frame_set *)sb_series_at(&trace->frame_sets, i))->frames);
    return frames;
}

static json_t *make_counts(const sb_trace *trace) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "zones",
                     (json_int_t)sb_trace_zone_count(trace, false), "device_zones",
                     (json_int_t)sb_trace_zone_count(trace, true), "source_locations",
                     (json_int_t)sb_series_count(&trace->sources) - 1, "messages",
                     (json_int_t)sb_series_count(&trace->messages), "frames",
                     (json_int_t)count_frames(trace), "plot_points",
                     (json_int_t)count_points(trace), "locks",
                     (json_int_t)sb_series_count(&trace->locks), "ops",
                     (json_int_t)sb_series_count(&trace->ops));
}

static void put_statistics(const sb_trace *trace, bool devices, json_t *list) {
    const sb_stats_options options = {
        .range = SB_RANGE_ALL, .devices = devices, .with_self = true, .with_quantiles = true};
    sb_zone_stats *all = sb_trace_stats(trace, &options);
    for (uint32_t i = 0; i < sb_series_count(&trace->sources); i++) {
        const sb_zone_stats *stats = &all[i];
        const sb_source *source = sb_trace_source(trace, i);
        if (stats->count == 0)
            continue;
        json_t *object = json_pack(
            "{s:o, s:o, s:I, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "name",
            trace_json_text(sb_trace_source_name(trace, i)), "file",
            trace_json_text(sb_trace_text(trace, source->file)), "line", (json_int_t)source->line,
            "device", (int)devices, "count", (json_int_t)stats->count, "total_ns",
            (json_int_t)stats->total, "self_ns", (json_int_t)stats->self_total, "median_ns",
            (json_int_t)stats->median, "p99_ns", (json_int_t)stats->p99, "min_ns",
            (json_int_t)stats->min, "max_ns", (json_int_t)stats->max);
        json_array_append_new(list, object);
    }
    free(all);
}

void sb_trace_write_summary(const sb_trace *trace, sb_output *output) {
    json_t *statistics = json_array();
    put_statistics(trace, false, statistics);
    put_statistics(trace, true, statistics);
    json_t *summary = json_pack(
        "{s:s, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "strobe.trace",
        "version", SCHEMA_VERSION, "duration_ns", (json_int_t)sb_trace_end_time(trace), "file",
        make_file(&trace->file), "sections", make_sections(&trace->file), "program",
        make_program(trace), "application", make_application(trace), "counts", make_counts(trace),
        "contexts", make_contexts(trace), "tracks", make_tracks(trace), "losses",
        make_losses(trace), "statistics", statistics);
    if (summary == NULL)
        sb_out_of_memory(0);
    trace_put_json(output, summary, JSON_INDENT(2));
    sb_put_char(output, '\n');
}
