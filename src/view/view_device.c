/*
 * The answer for the map of a device: what each core did in a range.
 *
 * Without a filter, busy is the time in outermost zones, from the index: it costs a few hundred
 * nodes a lane. With one, it is the time in zones whose name contains the text (not counted twice
 * where such zones are nested), which goes through the zones of the range.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "view/view_call.h"
#include "view/view_core.h"

typedef struct lane_sum {
    int64_t busy;
    uint64_t zones;
} lane_sum;

static int64_t length_in(sb_range range, int64_t start, int64_t end) {
    const int64_t from = start > range.from ? start : range.from;
    const int64_t to = end < range.to ? end : range.to;
    return to > from ? to - from : 0;
}

static lane_sum sum_lane(view_index *index, uint32_t track, const view_window *window) {
    lane_sum sum = {0, 0};
    sb_vector spans = sb_vector_of(sizeof(view_span));
    view_index_roots(index, track, window, &spans);
    for (size_t i = 0; i < spans.count; i++) {
        const view_span *span = sb_vector_at(&spans, i);
        const int64_t inside = length_in(window->range, span->start, span->end);
        sum.busy += span->busy < inside ? span->busy : inside;
        sum.zones += span->count;
    }
    sb_vector_free(&spans);
    return sum;
}

typedef struct filtered {
    const char *wanted; /* by source: 1 if its name matches */
    uint64_t source_count;
    sb_range range;
    int64_t counted_to; /* the end of the last zone that was added */
    lane_sum sum;
} filtered;

static bool add_wanted(void *context, const sb_track *track, uint32_t zone) {
    filtered *all = context;
    const uint32_t source = sb_track_zone_source(track, zone);
    if (source >= all->source_count || !all->wanted[source])
        return true;
    const int64_t start = sb_track_zone_start(track, zone);
    const int64_t end = sb_track_zone_end(track, zone);
    all->sum.zones++;
    if (end == SB_NO_TIME || end <= all->counted_to)
        return true;
    const int64_t from = start > all->counted_to ? start : all->counted_to;
    all->sum.busy += length_in(all->range, from, end);
    all->counted_to = end;
    return true;
}

static char *match_sources(const sb_trace *trace, sb_slice filter, uint64_t *count) {
    *count = sb_series_count(&trace->sources);
    char *wanted = sb_alloc_zeroed(*count, 1);
    uint32_t source = sb_trace_search(trace, filter, false, 0);
    while (source != SB_NONE && source < *count) {
        wanted[source] = 1;
        source = sb_trace_search(trace, filter, false, source + 1);
    }
    return wanted;
}

static lane_sum sum_filtered(const sb_track *track, const filtered *question) {
    filtered all = *question;
    all.counted_to = INT64_MIN;
    sb_track_visit(track, all.range, add_wanted, &all);
    return all.sum;
}

static void put_lane(view_call *call, uint32_t number, lane_sum sum) {
    char buffer[32];
    const sb_trace *trace = call->view->trace;
    const sb_track *track = sb_trace_track(trace, number);
    sb_put_format(call->body, "{\"track\":%u,\"context\":%u,\"name\":", number, track->context);
    sb_put_json(call->body, view_track_name(trace, track, buffer));
    view_core core;
    const sb_slice name = sb_trace_text(trace, sb_trace_context(trace, track->context)->name);
    if (view_core_parse(name, &core))
        sb_put_format(call->body, ",\"core\":[%u,%u,%u]", core.device, core.x, core.y);
    sb_put_format(call->body, ",\"busy\":%" PRId64 ",\"zones\":%" PRIu64 "}", sum.busy, sum.zones);
}

sb_status view_answer_device(view_call *call) {
    enum { LANES = 20000, GRID_WIDTH = 2048 };
    view_window window;
    SB_TRY(view_call_window(call, &window));
    window.grain = (window.range.to - window.range.from) / GRID_WIDTH;
    window.grain = window.grain < 1 ? 1 : window.grain;
    const sb_slice filter = view_call_text(call, "filter");
    const sb_trace *trace = call->view->trace;
    filtered question = {.range = window.range};
    char *wanted = match_sources(trace, filter, &question.source_count);
    question.wanted = wanted;
    pthread_mutex_lock(&call->view->heavy);
    uint64_t written = 0;
    sb_put_format(call->body, "{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"lanes\":[",
                  window.range.from, window.range.to);
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks) && written < LANES; i++) {
        const sb_track *track = sb_trace_track(trace, i);
        if (track->kind != SB_TRACK_LANE)
            continue;
        if (written++ > 0)
            sb_put_char(call->body, ',');
        put_lane(call, (uint32_t)i,
                 filter.size == 0 ? sum_lane(call->view->index, (uint32_t)i, &window)
                                  : sum_filtered(track, &question));
    }
    pthread_mutex_unlock(&call->view->heavy);
    sb_put_text(call->body, "]}");
    free(wanted);
    return SB_OK;
}
