/*
 * Answers about the trace as a whole: what it is, its tracks, its sources.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "view/view_call.h"

static void put_field(sb_output *output, const char *name, sb_slice text) {
    sb_put_format(output, ",\"%s\":", name);
    sb_put_json(output, text);
}

static void put_number(sb_output *output, const char *name, uint64_t number) {
    sb_put_format(output, ",\"%s\":%" PRIu64, name, number);
}

/* ---- info ---- */

/* Recorders that have no other way write it into the name: "Device: 0, Core (1,2), ±17 ns". */
static const char plus_minus[] = ", \u00B1";

static int64_t uncertainty_in(sb_slice name) {
    const size_t at = sb_slice_find(name, plus_minus);
    int64_t ns = -1;
    if (at == SB_NOT_FOUND)
        return -1;
    sb_slice rest = sb_slice_after(name, at + sizeof plus_minus - 1);
    const sb_slice number = sb_slice_cut(rest, ' ', &rest);
    return sb_parse_int64(number, &ns) && sb_slice_is(rest, "ns") ? ns : -1;
}

/* How far device times may be off: the worst of the clock readings; -1 if nobody says. */
static int64_t uncertainty(const sb_trace *trace, const sb_context *context) {
    int64_t worst = uncertainty_in(sb_trace_text(trace, context->name));
    for (uint64_t i = 0; i < sb_series_count(&context->clocks); i++) {
        const sb_clock_pair *pair = sb_series_at(&context->clocks, i);
        worst = pair->error_ns > worst ? pair->error_ns : worst;
    }
    return worst;
}

/* What a device is called, without that. */
static sb_slice context_name(const sb_trace *trace, const sb_context *context) {
    const sb_slice name = sb_trace_text(trace, context->name);
    const size_t at = sb_slice_find(name, plus_minus);
    return at == SB_NOT_FOUND ? name : sb_slice_first(name, at);
}

static void put_uncertainty(sb_output *output, const sb_trace *trace, const sb_context *context) {
    const int64_t worst = uncertainty(trace, context);
    if (worst >= 0)
        sb_put_format(output, ",\"uncertainty\":%" PRId64, worst);
}

static void put_contexts(sb_output *output, const sb_trace *trace) {
    enum { CONTEXTS = 4096 };
    const uint64_t count = sb_series_count(&trace->contexts);
    sb_put_text(output, ",\"contexts\":[");
    for (uint64_t i = 0; i < count && i < CONTEXTS; i++) {
        const sb_context *context = sb_trace_context(trace, i);
        sb_put_text(output, i == 0 ? "{\"name\":" : ",{\"name\":");
        sb_put_json(output, context_name(trace, context));
        put_number(output, "type", context->type);
        sb_put_format(output,
                      ",\"calibrated\":%s,\"period\":", context->calibrated ? "true" : "false");
        sb_put_json_real(output, context->period);
        put_number(output, "clocks", sb_series_count(&context->clocks));
        put_number(output, "markers", sb_series_count(&context->markers));
        put_uncertainty(output, trace, context);
        sb_put_char(output, '}');
    }
    sb_put_text(output, "]");
    put_number(output, "contextCount", count);
}

static void put_frame_sets(sb_output *output, const sb_trace *trace) {
    sb_put_text(output, ",\"frameSets\":[");
    for (uint64_t i = 0; i < sb_series_count(&trace->frame_sets); i++) {
        const sb_frame_set *set = sb_series_at(&trace->frame_sets, i);
        sb_put_text(output, i == 0 ? "{\"name\":" : ",{\"name\":");
        sb_put_json(output, sb_trace_text(trace, set->name));
        put_number(output, "count", sb_series_count(&set->frames));
        sb_put_char(output, '}');
    }
    sb_put_char(output, ']');
}

static uint64_t count_allocations(const sb_trace *trace) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->pools); i++)
        count += sb_series_count(&((sb_memory_pool *)sb_series_at(&trace->pools, i))->events);
    return count;
}

static void put_counts(sb_output *output, const sb_trace *trace) {
    uint64_t lost = 0;
    put_number(output, "zones", sb_trace_zone_count(trace, false));
    put_number(output, "deviceZones", sb_trace_zone_count(trace, true));
    put_number(output, "tracks", sb_series_count(&trace->tracks));
    put_number(output, "sources", sb_series_count(&trace->sources));
    put_number(output, "messages", sb_series_count(&trace->messages));
    put_number(output, "plots", sb_series_count(&trace->plots));
    put_number(output, "locks", sb_series_count(&trace->locks));
    put_number(output, "allocations", count_allocations(trace));
    put_number(output, "lossRecords", sb_trace_losses_in(trace, SB_RANGE_ALL, &lost));
    put_number(output, "lost", lost);
}

static void put_file(sb_output *output, const sb_trace_file *file) {
    if (file->version == 0)
        return;
    sb_put_format(output, ",\"format\":\"Tracy %u.%u.%u%s, %s\"", file->version >> 16,
                  file->version >> 8 & 0xFF, file->version & 0xFF,
                  file->tenstorrent ? " (Tenstorrent)" : "", file->compression);
    put_number(output, "fileBytes", file->file_bytes);
}

static void put_crash(sb_output *output, const sb_trace *trace) {
    const sb_crash *crash = &trace->info.crash;
    if (crash->thread_id == 0)
        return;
    sb_put_format(output, ",\"crash\":{\"time\":%" PRId64 ",\"message\":", crash->time);
    sb_put_json(output, sb_trace_text(trace, crash->message));
    sb_put_char(output, '}');
}

sb_status view_answer_news(view_call *call) {
    char news[VIEW_NEWS_SIZE];
    sb_put(call->body, (sb_slice){news, view_write_news(call->view, news)});
    return SB_OK;
}

static void put_facts(sb_output *output, const sb_view *view) {
    sb_put_text(output, ",\"facts\":[");
    for (size_t i = 0; i < view->fact_count; i++) {
        sb_put_text(output, i == 0 ? "{\"name\":" : ",{\"name\":");
        sb_put_json(output, sb_slice_of(view->facts[i].name));
        put_field(output, "text", sb_slice_of(view->facts[i].text));
        sb_put_char(output, '}');
    }
    sb_put_char(output, ']');
}

sb_status view_answer_info(view_call *call) {
    char news[VIEW_NEWS_SIZE];
    const sb_trace *trace = call->view->trace;
    const sb_trace_info *info = &trace->info;
    sb_output *output = call->body;
    const view_state state = view_state_of(call->view);
    const size_t size = view_write_news(call->view, news);
    sb_put(output, (sb_slice){news, size - 1}); /* the object goes on */
    put_field(output, "name", call->view->name);
    put_field(output, "strobe", call->view->version);
    put_field(output, "program", info->program);
    put_field(output, "capture", info->capture_name);
    put_field(output, "host", info->host);
    put_field(output, "damage", state.damage);
    sb_put_format(output, ",\"ended\":%s", state.has_ended ? "true" : "false");
    put_number(output, "recordedAt", info->captured_at);
    put_number(output, "processId", info->process_id);
    put_number(output, "resolution", info->resolution < 0 ? 0 : (uint64_t)info->resolution);
    put_file(output, &trace->file);
    put_counts(output, trace);
    put_contexts(output, trace);
    put_frame_sets(output, trace);
    put_crash(output, trace);
    put_facts(output, call->view);
    view_put_limits(output, call->view);
    put_number(output, "runs", sb_series_count(&trace->ops));
    sb_put_format(output, ",\"ops\":%s,\"transfers\":%s}",
                  call->view->ops != NULL ? "true" : "false",
                  call->view->transfers.size > 0 ? "true" : "false");
    return SB_OK;
}

/* ---- tracks ---- */

static const char *const kind_names[] = {"thread", "fiber", "lane"};

/* Where a track belongs: its device and core, or its process. */
static void put_place(sb_output *output, const sb_trace *trace, const sb_track *track) {
    if (track->kind != SB_TRACK_LANE) {
        const uint32_t number = sb_trace_thread_at(trace, track->thread)->process;
        sb_slice name = {"", 0};
        if (number < sb_series_count(&trace->processes)) {
            const sb_process *process = sb_series_at(&trace->processes, number);
            name = sb_trace_text(trace, process->name);
        }
        put_field(output, "group", name.size > 0 ? name : trace->info.program);
        return;
    }
    const sb_context *context = sb_trace_context(trace, track->context);
    const sb_slice name = sb_trace_text(trace, context->name);
    sb_core core;
    sb_sm sm;
    put_number(output, "context", track->context);
    put_uncertainty(output, trace, context);
    if (sb_trace_track_sm(trace, track, &sm)) {
        put_field(output, "group", sm.gpu);
        sb_put_format(output, ",\"sm\":[%u,%u]", sm.device, sm.number);
        return;
    }
    if (!sb_core_parse(name, &core)) {
        put_field(output, "group", context_name(trace, context));
        return;
    }
    sb_put_format(output, ",\"group\":\"Device %u\",\"core\":[%u,%u,%u]", core.device, core.device,
                  core.x, core.y);
}

sb_slice view_track_name(const sb_trace *trace, const sb_track *track, char buffer[32]) {
    sb_sm sm;
    if (sb_trace_track_sm(trace, track, &sm) && sm.lane.size > 0)
        return sm.lane;
    if (track->kind == SB_TRACK_LANE) {
        const sb_context *context = sb_trace_context(trace, track->context);
        if (context->thread != 0 && context->thread == track->thread && context->name != 0)
            return sb_trace_text(trace, context->name);
    }
    return sb_trace_track_name(trace, track, buffer);
}

static void put_track(view_call *call, uint32_t number) {
    char buffer[32];
    sb_range extent = {0, 0};
    sb_output *output = call->body;
    const sb_trace *trace = call->view->trace;
    const sb_track *track = sb_trace_track(trace, number);
    sb_put_format(output, "{\"id\":%u,\"kind\":\"%s\",\"name\":", number, kind_names[track->kind]);
    sb_put_json(output, view_track_name(trace, track, buffer));
    put_place(output, trace, track);
    put_number(output, "thread", track->thread);
    put_number(output, "zones", sb_track_zone_count(track));
    put_number(output, "depth", view_index_depth(call->view->index, number));
    const uint64_t too_deep = view_index_too_deep(call->view->index, number);
    if (too_deep > 0)
        put_number(output, "tooDeep", too_deep);
    if (view_index_extent(call->view->index, number, &extent))
        sb_put_format(output, ",\"from\":%" PRId64 ",\"to\":%" PRId64, extent.from, extent.to);
    sb_put_char(output, '}');
}

static bool track_matches(const sb_trace *trace, const sb_track *track, sb_slice filter) {
    char buffer[32];
    if (sb_trace_matches(view_track_name(trace, track, buffer), filter, false))
        return true;
    return track->kind == SB_TRACK_LANE &&
           sb_trace_matches(sb_trace_text(trace, sb_trace_context(trace, track->context)->name),
                            filter, false);
}

sb_status view_answer_tracks(view_call *call) {
    enum { TRACKS = 10000 };
    int64_t first = 0;
    int64_t count = 0;
    SB_TRY(view_call_page(call, TRACKS, &first, &count));
    const sb_slice filter = view_call_text(call, "filter");
    const sb_trace *trace = call->view->trace;
    const uint64_t total = sb_series_count(&trace->tracks);
    int64_t matched = 0;
    sb_put_text(call->body, "{\"tracks\":[");
    for (uint64_t i = 0; i < total; i++) {
        if (!track_matches(trace, sb_trace_track(trace, i), filter))
            continue;
        if (matched >= first && matched - first < count) {
            if (matched > first)
                sb_put_char(call->body, ',');
            put_track(call, (uint32_t)i);
        }
        matched++;
    }
    sb_put_format(call->body, "],\"matched\":%" PRId64 ",\"total\":%" PRIu64 "}", matched, total);
    return SB_OK;
}

/* ---- sources ---- */

void view_put_source(sb_output *output, const sb_trace *trace, uint32_t number) {
    const sb_source *source = sb_trace_source(trace, number);
    sb_put_char(output, '[');
    sb_put_json(output, sb_trace_source_name(trace, number));
    sb_put_char(output, ',');
    sb_put_json(output, sb_trace_text(trace, source->file));
    sb_put_format(output, ",%u,%u,", source->line, source->colour);
    sb_put_json(output, sb_trace_text(trace, source->function));
    sb_put_char(output, ']');
}

sb_status view_answer_sources(view_call *call) {
    enum { SOURCES = 20000 };
    int64_t first = 0;
    int64_t count = 0;
    SB_TRY(view_call_page(call, SOURCES, &first, &count));
    const int64_t total = (int64_t)sb_series_count(&call->view->trace->sources);
    sb_put_text(call->body, "{\"sources\":[");
    for (int64_t i = first; i < total && i - first < count; i++) {
        if (i > first)
            sb_put_char(call->body, ',');
        view_put_source(call->body, call->view->trace, (uint32_t)i);
    }
    sb_put_format(call->body, "],\"total\":%" PRId64 "}", total);
    return SB_OK;
}
