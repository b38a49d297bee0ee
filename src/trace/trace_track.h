/*
 * Adding zones to a track, inline: for the model's own functions and for the reader of files, which
 * adds tens of millions in a second.
 */
#ifndef SB_TRACE_TRACK_H
#define SB_TRACE_TRACK_H

#include "trace/trace_model.h"

/* Finds room for the next zones. */
void track_renew_tail(sb_track *track);
/* What stands in the column of durations when the end does not fit there; it goes elsewhere. */
uint32_t track_long_mark(sb_track *track, uint32_t zone, int64_t end);

static inline bool track_is_full(const sb_track *track) {
    return __builtin_expect(track->zone_count >= SB_NONE - 1, 0);
}

/* Fills the columns of the next zone and shows it. */
static inline uint32_t track_place(sb_track *track, int64_t start, uint32_t duration,
                                   uint32_t source) {
    const uint32_t zone = (uint32_t)track->zone_count;
    if (__builtin_expect(track->tail.left == 0, 0))
        track_renew_tail(track);
    struct sb_zone_tail *tail = &track->tail;
    tail->left--;
    *tail->start++ = start;
    *tail->duration++ = duration;
    *tail->source++ = source;
    if (tail->parent == NULL && track->open != SB_NONE)
        tail->parent = sb_series_slot(&track->parent, zone);
    if (tail->parent != NULL)
        *tail->parent++ = track->open + 1; /* SB_NONE becomes 0 */
    if (__builtin_expect(start < track->last_start, 0))
        __atomic_store_n(&track->unsorted, true, __ATOMIC_RELAXED);
    if (__builtin_expect(start < track->latest_end, 0))
        __atomic_store_n(&track->overlapping, true, __ATOMIC_RELAXED);
    track->last_start = start;
    __atomic_store_n(&track->zone_count, zone + UINT64_C(1), __ATOMIC_RELEASE);
    return zone;
}

static inline uint32_t track_begin(sb_track *track, int64_t start, uint32_t source) {
    const uint32_t zone = track_place(track, start, SB_ZONE_OPEN, source);
    track->open = zone;
    return zone;
}

static inline uint32_t track_mark(sb_track *track, uint32_t zone, int64_t start, int64_t end) {
    /* In unsigned numbers, so that times from a broken file cannot overflow. */
    const uint64_t ns = (uint64_t)end - (uint64_t)start;
    if (__builtin_expect(end >= start && ns < SB_ZONE_LONG && end != SB_NO_TIME, 1))
        return (uint32_t)ns;
    return track_long_mark(track, zone, end);
}

/* A zone without an end goes on for ever. */
static inline void track_note_end(sb_track *track, int64_t end) {
    const int64_t last = end == SB_NO_TIME ? INT64_MAX : end;
    track->latest_end = last > track->latest_end ? last : track->latest_end;
}

static inline uint32_t track_add(sb_track *track, int64_t start, int64_t end, uint32_t source) {
    const uint32_t mark = track_mark(track, (uint32_t)track->zone_count, start, end);
    const uint32_t zone = track_place(track, start, mark, source);
    track_note_end(track, end);
    return zone;
}

/* Ends the innermost open zone, which there must be. Most are still near the tail. */
static inline void track_end(sb_track *track, int64_t end) {
    const uint32_t zone = track->open;
    track_note_end(track, end);
    const struct sb_zone_tail *tail = &track->tail;
    const int64_t *start = NULL;
    uint32_t *duration = NULL;
    if (__builtin_expect(zone >= tail->first, 1)) {
        const uint64_t back = track->zone_count - zone;
        start = tail->start - back;
        duration = tail->duration - back;
        track->open = tail->parent == NULL ? SB_NONE : *(tail->parent - back) - 1;
    } else {
        start = sb_series_find(&track->start, zone);
        duration = sb_series_find(&track->duration, zone);
        track->open = sb_track_zone_parent(track, zone);
    }
    if (end != SB_NO_TIME)
        __atomic_store_n(duration, track_mark(track, zone, *start, end), __ATOMIC_RELEASE);
}

#endif
