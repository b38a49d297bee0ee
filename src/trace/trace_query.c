/*
 * Questions about a trace: names, ranges of time, search.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/trace_model.h"

/* ---- names ---- */

sb_slice sb_trace_source_name(const sb_trace *trace, uint32_t source) {
    const sb_source *place = sb_trace_source(trace, source);
    return sb_trace_text(trace, place->name != 0 ? place->name : place->function);
}

sb_slice sb_trace_track_name(const sb_trace *trace, const sb_track *track, char buffer[32]) {
    const sb_thread *thread = sb_trace_thread_at(trace, track->thread);
    const sb_slice name = sb_trace_text(trace, thread->name);
    if (name.size > 0)
        return name;
    const char *kind = track->kind == SB_TRACK_LANE ? "lane" : "thread";
    const int size = snprintf(buffer, 32, "%s %" PRIu64, kind, track->lane_id);
    return (sb_slice){buffer, (size_t)size};
}

bool sb_trace_track_sm(const sb_trace *trace, const sb_track *track, sb_sm *sm) {
    if (track->kind != SB_TRACK_LANE)
        return false;
    const sb_slice context = sb_trace_text(trace, sb_trace_context(trace, track->context)->name);
    const sb_thread *thread = sb_trace_thread_at(trace, track->thread);
    return sb_sm_parse(context, sb_trace_text(trace, thread->name), sm);
}

const sb_zone_note *sb_trace_zone_note(const sb_trace *trace, const sb_track *track,
                                       uint32_t zone) {
    const uint32_t *slot = sb_series_find(&track->note, zone);
    const uint32_t number = slot == NULL ? 0 : __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    return number == 0 ? NULL : sb_series_at(&trace->notes, number);
}

uint64_t sb_trace_zone_count(const sb_trace *trace, bool devices) {
    uint64_t count = 0;
    const uint64_t tracks = sb_series_count(&trace->tracks);
    for (uint64_t i = 0; i < tracks; i++) {
        const sb_track *track = sb_trace_track(trace, i);
        if ((track->kind == SB_TRACK_LANE) == devices)
            count += sb_track_zone_count(track);
    }
    return count;
}

/* ---- the end of time ---- */

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Issue times stand beside the times on the device. */
static int64_t lane_end(const sb_track *track, uint64_t count) {
    int64_t end = 0;
    for (uint64_t i = 0; i < count; i++) {
        const int64_t *issued = sb_series_find(&track->issue_end, i);
        const int64_t *begun = sb_series_find(&track->issue_start, i);
        end = later(end, issued == NULL ? 0 : *issued);
        end = later(end, begun == NULL ? 0 : *begun);
    }
    return end;
}

static int64_t track_end(const sb_track *track) {
    const uint64_t count = sb_track_zone_count(track);
    const bool is_lane = track->kind == SB_TRACK_LANE;
    /* Where zones come in order and all have an end, the track knows it. */
    if (!is_lane && !track->unsorted && track->latest_end != INT64_MAX)
        return later(0, later(track->last_start, track->latest_end));
    int64_t end = is_lane ? lane_end(track, count) : 0;
    for (uint64_t i = 0; i < count; i++) {
        end = later(end, sb_track_zone_start(track, (uint32_t)i));
        end = later(end, sb_track_zone_end(track, (uint32_t)i));
    }
    return end;
}

/* The latest time of a list whose elements begin with one. */
static int64_t series_end(const sb_series *series) {
    int64_t end = 0;
    const uint64_t count = sb_series_count(series);
    for (uint64_t i = 0; i < count; i++)
        end = later(end, *(const int64_t *)sb_series_at(series, i));
    return end;
}

static int64_t frames_end(const sb_series *frames) {
    int64_t end = series_end(frames);
    for (uint64_t i = 0; i < sb_series_count(frames); i++)
        end = later(end, ((const sb_frame *)sb_series_at(frames, i))->end);
    return end;
}

static int64_t pool_end(const sb_series *events) {
    int64_t end = series_end(events);
    for (uint64_t i = 0; i < sb_series_count(events); i++)
        end = later(end, ((const sb_memory_event *)sb_series_at(events, i))->freed);
    return end;
}

int64_t sb_trace_end_time(const sb_trace *trace) {
    int64_t end = later(trace->info.last_time, series_end(&trace->messages));
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++)
        end = later(end, track_end(sb_trace_track(trace, i)));
    for (uint64_t i = 0; i < sb_series_count(&trace->contexts); i++)
        end = later(end, series_end(&sb_trace_context(trace, i)->markers));
    for (uint64_t i = 0; i < sb_series_count(&trace->frame_sets); i++)
        end =
            later(end, frames_end(&((sb_frame_set *)sb_series_at(&trace->frame_sets, i))->frames));
    for (uint64_t i = 0; i < sb_series_count(&trace->plots); i++)
        end = later(end, series_end(&((sb_plot *)sb_series_at(&trace->plots, i))->points));
    for (uint64_t i = 0; i < sb_series_count(&trace->pools); i++)
        end = later(end, pool_end(&((sb_memory_pool *)sb_series_at(&trace->pools, i))->events));
    for (uint64_t i = 0; i < sb_series_count(&trace->locks); i++) {
        end = later(end, series_end(&((sb_lock *)sb_series_at(&trace->locks, i))->events));
    }
    return end;
}

/* ---- ranges ---- */

/* The first element of an ascending list that is at time or later; elements begin with a time. */
static uint64_t lower_bound(const sb_series *series, uint64_t count, int64_t time) {
    uint64_t low = 0;
    uint64_t high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (*(const int64_t *)sb_series_find(series, middle) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t sb_track_find(const sb_track *track, int64_t time) {
    assert(!sb_track_is_unsorted(track));
    return lower_bound(&track->start, sb_track_zone_count(track), time);
}

static bool touches(const sb_track *track, uint32_t zone, sb_range range) {
    const int64_t end = sb_track_zone_end(track, zone);
    const int64_t start = sb_track_zone_start(track, zone);
    return start < range.to && (end == SB_NO_TIME || end > range.from || start >= range.from);
}

/*
 * Visits the zones that began before the range and reach into it: if zones overlap only where they
 * nest, each of them encloses the last zone that began before it, or is that zone. Outermost first,
 * which is the end of the chain of parents.
 */
static bool visit_enclosing(const sb_track *track, uint32_t last, sb_range range,
                            sb_zone_visitor visit, void *context) {
    sb_vector chain = sb_vector_of(sizeof(uint32_t));
    for (uint32_t zone = last; zone != SB_NONE; zone = sb_track_zone_parent(track, zone)) {
        if (touches(track, zone, range))
            *(uint32_t *)sb_vector_push(&chain) = zone;
    }
    bool goes_on = true;
    for (size_t i = chain.count; i > 0 && goes_on; i--)
        goes_on = visit(context, track, *(const uint32_t *)sb_vector_at(&chain, i - 1));
    sb_vector_free(&chain);
    return goes_on;
}

void sb_track_visit(const sb_track *track, sb_range range, sb_zone_visitor visit, void *context) {
    const uint64_t count = sb_track_zone_count(track);
    uint64_t first = 0;
    uint64_t last = count;
    if (!sb_track_is_unsorted(track))
        last = lower_bound(&track->start, count, range.to);
    if (!sb_track_is_unsorted(track) && !sb_track_is_overlapping(track)) {
        first = lower_bound(&track->start, count, range.from);
        if (first > 0 && !visit_enclosing(track, (uint32_t)first - 1, range, visit, context))
            return;
    }
    for (uint64_t i = first; i < last; i++) {
        if (touches(track, (uint32_t)i, range) && !visit(context, track, (uint32_t)i))
            return;
    }
}

uint32_t sb_track_first_child(const sb_track *track, uint32_t zone) {
    const uint64_t next = zone + UINT64_C(1);
    if (next >= sb_track_zone_count(track))
        return SB_NONE;
    return sb_track_zone_parent(track, (uint32_t)next) == zone ? (uint32_t)next : SB_NONE;
}

uint32_t sb_track_next_sibling(const sb_track *track, uint32_t zone) {
    const uint64_t count = sb_track_zone_count(track);
    const uint32_t parent = sb_track_zone_parent(track, zone);
    for (uint64_t next = zone + UINT64_C(1); next < count; next++) {
        const uint32_t outer = sb_track_zone_parent(track, (uint32_t)next);
        if (outer == parent)
            return (uint32_t)next;
        /* A zone with an outer one before ours is past the end of our parent. */
        if (outer == SB_NONE || outer < zone)
            return SB_NONE;
    }
    return SB_NONE;
}

void sb_trace_messages_in(const sb_trace *trace, sb_range range, uint64_t *first, uint64_t *last) {
    const uint64_t count = sb_series_count(&trace->messages);
    *first = lower_bound(&trace->messages, count, range.from);
    *last = lower_bound(&trace->messages, count, range.to);
}

uint64_t sb_trace_losses_in(const sb_trace *trace, sb_range range, uint64_t *lost) {
    uint64_t records = 0;
    *lost = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->losses); i++) {
        const sb_loss *loss = sb_series_at(&trace->losses, i);
        if (loss->from >= range.to || (loss->to != SB_NO_TIME && loss->to < range.from))
            continue;
        records++;
        *lost += loss->count;
    }
    return records;
}

/* ---- search ---- */

static char lower(char c) {
    if (c < 'A' || c > 'Z')
        return c;
    return (char)(c - 'A' + 'a');
}

static bool matches_at(const char *text, sb_slice part, bool with_case) {
    if (with_case)
        return memcmp(text, part.data, part.size) == 0;
    for (size_t i = 0; i < part.size; i++) {
        if (lower(text[i]) != lower(part.data[i]))
            return false;
    }
    return true;
}

bool sb_trace_matches(sb_slice text, sb_slice part, bool with_case) {
    if (part.size == 0)
        return true;
    for (size_t i = 0; i + part.size <= text.size; i++) {
        if (matches_at(text.data + i, part, with_case))
            return true;
    }
    return false;
}

uint32_t sb_trace_search(const sb_trace *trace, sb_slice part, bool with_case, uint32_t from) {
    const uint64_t count = sb_series_count(&trace->sources);
    for (uint64_t i = from; i < count; i++) {
        if (sb_trace_matches(sb_trace_source_name(trace, (uint32_t)i), part, with_case))
            return (uint32_t)i;
    }
    return SB_NONE;
}

uint32_t sb_track_zone_at(const sb_track *track, int64_t time) {
    if (sb_track_is_unsorted(track))
        return SB_NONE;
    const uint64_t next = sb_track_find(track, time + 1);
    uint32_t zone = next == 0 ? SB_NONE : (uint32_t)(next - 1);
    while (zone != SB_NONE) {
        const int64_t end = sb_track_zone_end(track, zone);
        if (end == SB_NO_TIME || end > time)
            return zone;
        zone = sb_track_zone_parent(track, zone);
    }
    return SB_NONE;
}

uint32_t sb_trace_track_of_thread(const sb_trace *trace, uint32_t thread) {
    const uint64_t count = sb_series_count(&trace->tracks);
    for (uint64_t i = 0; i < count; i++) {
        const sb_track *track = sb_trace_track(trace, i);
        if (track->thread == thread && track->kind != SB_TRACK_LANE)
            return (uint32_t)i;
    }
    return SB_NONE;
}
