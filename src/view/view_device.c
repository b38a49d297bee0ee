/*
 * The answer for the map of a device: what each processor of each core did in a range.
 *
 * busy      in outermost zones; with a filter, in zones whose name contains the text
 * kernel    in zones whose name ends in -KERNEL: what was asked of the processor
 * waiting   in zones whose name has WAIT in it
 * lost      what the recording says it lost there
 *
 * Time in zones of one kind that are nested counts once. Where no source is called like that, and
 * without a filter, the index has the answer at the cost of a few hundred nodes a lane; else the
 * zones of the range are gone through.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "view/view_call.h"

typedef enum lane_measure { MEASURE_BUSY, MEASURE_KERNEL, MEASURE_WAITING, MEASURES } lane_measure;

typedef struct lane_sum {
    int64_t time[MEASURES];
    uint64_t zones;
    uint64_t lost;
} lane_sum;

static void sum_roots(view_index *index, uint32_t track, const view_window *window, lane_sum *sum) {
    sb_vector spans = sb_vector_of(sizeof(view_span));
    view_index_roots(index, track, window, &spans);
    for (size_t i = 0; i < spans.count; i++) {
        const view_span *span = sb_vector_at(&spans, i);
        const int64_t inside = view_length_in(window->range, span->start, span->end);
        sum->time[MEASURE_BUSY] += span->busy < inside ? span->busy : inside;
        sum->zones += span->count;
    }
    sb_vector_free(&spans);
}

/* ---- zones of some kinds ---- */

typedef struct kinds_of_zones {
    const unsigned char *kinds; /* by source: a bit for each measure it counts for */
    uint64_t source_count;
    sb_range range;
    int64_t counted_to[MEASURES]; /* the end of the last zone that was added */
    lane_sum sum;
} kinds_of_zones;

static void add_time(kinds_of_zones *all, lane_measure measure, int64_t start, int64_t end) {
    if (end <= all->counted_to[measure])
        return;
    const int64_t from = start > all->counted_to[measure] ? start : all->counted_to[measure];
    all->sum.time[measure] += view_length_in(all->range, from, end);
    all->counted_to[measure] = end;
}

static bool add_zone(void *context, const sb_track *track, uint32_t zone) {
    kinds_of_zones *all = context;
    const uint32_t source = sb_track_zone_source(track, zone);
    const unsigned kinds = source < all->source_count ? all->kinds[source] : 0;
    if (kinds == 0)
        return true;
    const int64_t start = sb_track_zone_start(track, zone);
    const int64_t end = sb_track_zone_end(track, zone);
    all->sum.zones += kinds >> MEASURE_BUSY & 1;
    for (lane_measure i = MEASURE_BUSY; i < MEASURES && end != SB_NO_TIME; i++) {
        if ((kinds >> i & 1) != 0)
            add_time(all, i, start, end);
    }
    return true;
}

static unsigned kinds_of(sb_slice name, sb_slice filter) {
    unsigned kinds = 0;
    if (filter.size > 0 && sb_trace_matches(name, filter, false))
        kinds |= 1U << MEASURE_BUSY;
    if (sb_slice_ends_with(name, "-KERNEL"))
        kinds |= 1U << MEASURE_KERNEL;
    if (sb_trace_matches(name, (sb_slice)SB_SLICE("wait"), false))
        kinds |= 1U << MEASURE_WAITING;
    return kinds;
}

static unsigned char *sort_sources(const sb_trace *trace, sb_slice filter, uint64_t *count,
                                   unsigned *found) {
    *count = sb_series_count(&trace->sources);
    *found = 0;
    unsigned char *kinds = sb_alloc_zeroed(*count, 1);
    for (uint64_t i = 0; i < *count; i++) {
        kinds[i] = (unsigned char)kinds_of(sb_trace_source_name(trace, (uint32_t)i), filter);
        *found |= kinds[i];
    }
    return kinds;
}

static lane_sum sum_kinds(const sb_track *track, const kinds_of_zones *question) {
    kinds_of_zones all = *question;
    for (size_t i = 0; i < MEASURES; i++)
        all.counted_to[i] = INT64_MIN;
    sb_track_visit(track, all.range, add_zone, &all);
    return all.sum;
}

/* ---- losses ---- */

/* What was lost in the range, by number of the thread. The caller frees it. */
static uint64_t *sum_losses(const sb_trace *trace, sb_range range) {
    const uint64_t threads = sb_series_count(&trace->threads);
    uint64_t *lost = sb_alloc_zeroed(threads, sizeof *lost);
    for (uint64_t i = 0; i < sb_series_count(&trace->losses); i++) {
        const sb_loss *loss = sb_series_at(&trace->losses, i);
        if (loss->thread >= threads || loss->from >= range.to ||
            (loss->to != SB_NO_TIME && loss->to < range.from))
            continue;
        lost[loss->thread] += loss->count > 0 ? loss->count : 1; /* one at least */
    }
    return lost;
}

/* ---- the answer ---- */

static void put_lane(view_call *call, uint32_t number, const lane_sum *sum) {
    char buffer[32];
    const sb_trace *trace = call->view->trace;
    const sb_track *track = sb_trace_track(trace, number);
    sb_put_format(call->body, "{\"track\":%u,\"context\":%u,\"name\":", number, track->context);
    sb_put_json(call->body, view_track_name(trace, track, buffer));
    sb_core core;
    sb_sm sm;
    const sb_slice name = sb_trace_text(trace, sb_trace_context(trace, track->context)->name);
    if (sb_core_parse(name, &core))
        sb_put_format(call->body, ",\"core\":[%u,%u,%u]", core.device, core.x, core.y);
    if (sb_trace_track_sm(trace, track, &sm))
        sb_put_format(call->body, ",\"sm\":[%u,%u]", sm.device, sm.number);
    sb_put_format(call->body,
                  ",\"busy\":%" PRId64 ",\"kernel\":%" PRId64 ",\"waiting\":%" PRId64
                  ",\"zones\":%" PRIu64 ",\"lost\":%" PRIu64 "}",
                  sum->time[MEASURE_BUSY], sum->time[MEASURE_KERNEL], sum->time[MEASURE_WAITING],
                  sum->zones, sum->lost);
}

sb_status view_answer_device(view_call *call) {
    enum { LANES = 20000, GRID_WIDTH = 2048 };
    view_window window;
    SB_TRY(view_call_window(call, &window));
    window.grain = (window.range.to - window.range.from) / GRID_WIDTH;
    window.grain = window.grain < 1 ? 1 : window.grain;
    const sb_slice filter = view_call_text(call, "filter");
    const sb_trace *trace = call->view->trace;
    unsigned found = 0;
    kinds_of_zones question = {.range = window.range};
    unsigned char *kinds = sort_sources(trace, filter, &question.source_count, &found);
    question.kinds = kinds;
    const uint64_t threads = sb_series_count(&trace->threads);
    uint64_t *lost = sum_losses(trace, window.range);
    pthread_mutex_lock(&call->view->heavy);
    uint64_t written = 0;
    sb_put_format(call->body, "{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"lanes\":[",
                  window.range.from, window.range.to);
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks) && written < LANES; i++) {
        const sb_track *track = sb_trace_track(trace, i);
        if (track->kind != SB_TRACK_LANE)
            continue;
        lane_sum sum = {.zones = 0};
        if (found != 0)
            sum = sum_kinds(track, &question);
        if (filter.size == 0)
            sum_roots(call->view->index, (uint32_t)i, &window, &sum);
        sum.lost = track->thread < threads ? lost[track->thread] : 0;
        if (written++ > 0)
            sb_put_char(call->body, ',');
        put_lane(call, (uint32_t)i, &sum);
    }
    pthread_mutex_unlock(&call->view->heavy);
    sb_put_text(call->body, "]}");
    free(kinds);
    free(lost);
    return SB_OK;
}
