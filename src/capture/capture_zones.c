/*
 * Zones of host threads and fibers: nearly all that ever comes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "capture/capture_model.h"

sb_track *capture_track(capture_model *model, capture_thread *thread) {
    if (thread->track == NULL)
        thread->track = sb_trace_add_track(model->trace, SB_TRACK_THREAD, thread->number, SB_NONE);
    return thread->track;
}

/* ---- runs of zones ---- */

static uint32_t cached_source(capture_model *model, uint64_t token) {
    const size_t place = (token ^ token >> 12) / 8 % CAPTURE_CACHE;
    if (__builtin_expect(model->cache[place].token == token && token != 0, 1))
        return model->cache[place].source;
    const uint32_t source = capture_source(model, token);
    model->cache[place].token = token;
    model->cache[place].source = source;
    return source;
}

static void end_zone(capture_model *model, sb_track *track, int64_t time) {
    if (track->open == SB_NONE)
        capture_count(model, CAPTURE_STRAY_END);
    else
        sb_track_end(track, time);
}

void capture_take_zones(void *context, uint32_t thread_id, const sb_wire_zone *zones,
                        size_t count) {
    capture_model *model = context;
    capture_thread *thread = capture_runner(model, thread_id);
    if (thread == NULL)
        return;
    sb_track *track = capture_track(model, thread);
    uint64_t begun = 0;
    int64_t time = 0;
    for (size_t i = 0; i < count; i++) {
        time = capture_time(model, zones[i].time);
        if (zones[i].token == SB_WIRE_END_ZONE) {
            end_zone(model, track, time);
            continue;
        }
        const uint32_t source = cached_source(model, zones[i].token);
        begun++;
        /* Most zones have nothing inside: both ends at once. */
        if (i + 1 < count && zones[i + 1].token == SB_WIRE_END_ZONE) {
            const int64_t end = capture_time(model, zones[++i].time);
            sb_track_add(track, time, end, source);
            time = end;
        } else {
            sb_track_begin(track, time, source);
        }
    }
    model->zones += begun;
    capture_see(model, time);
}

/* ---- zones one by one ---- */

/* The annotation of a zone, made if it has none. */
static sb_zone_note *note_of(capture_model *model, sb_track *track, uint32_t zone) {
    const uint32_t *number = sb_series_find(&track->note, zone);
    if (number == NULL || *number == 0) {
        sb_track_annotate(model->trace, track, zone, &(sb_zone_note){0});
        number = sb_series_find(&track->note, zone);
    }
    return sb_series_at(&model->trace->notes, *number);
}

void capture_begin_zone(capture_model *model, const sb_wire_event *event) {
    capture_thread *thread = capture_runner(model, event->thread);
    if (thread == NULL)
        return;
    sb_track *track = capture_track(model, thread);
    const bool is_dynamic = (event->form & SB_WIRE_DYNAMIC) != 0;
    const uint32_t source =
        is_dynamic ? capture_location(model, event) : cached_source(model, event->token);
    const int64_t time = capture_time(model, event->time);
    const uint32_t zone = sb_track_begin(track, time, source);
    model->zones++;
    if (zone != SB_NONE && (event->form & SB_WIRE_WITH_CALLSTACK) != 0 && thread->callstack != 0) {
        note_of(model, track, zone)->callstack = thread->callstack;
        thread->callstack = 0;
    }
}

/* Several texts of one zone are lines of one. */
static sb_string joined_text(capture_model *model, sb_string before, sb_slice text) {
    if (before == 0)
        return capture_text(model, text);
    sb_output both = sb_output_to_memory();
    sb_put(&both, sb_trace_text(model->trace, before));
    sb_put_char(&both, '\n');
    sb_put(&both, text);
    const sb_string joined = capture_text(model, sb_output_text(&both));
    sb_output_discard(&both);
    return joined;
}

static sb_slice value_text(const capture_model *model, uint64_t value, char text[64]) {
    int size = 0;
    if (sb_wire_protocol_shows_hex(model->protocol))
        size = snprintf(text, 64, "%" PRIu64 " [0x%" PRIx64 "]", value, value);
    else
        size = snprintf(text, 64, "%" PRIu64, value);
    return (sb_slice){text, (size_t)size};
}

void capture_annotate_zone(capture_model *model, const sb_wire_event *event) {
    char text[64];
    capture_thread *thread = capture_runner(model, event->thread);
    sb_track *track = thread == NULL ? NULL : thread->track;
    if (track == NULL || track->open == SB_NONE) {
        capture_count(model, CAPTURE_STRAY_END);
        return;
    }
    sb_zone_note *note = note_of(model, track, track->open);
    switch (event->kind) {
    case SB_WIRE_ZONE_TEXT:
        note->text = joined_text(model, note->text, event->text);
        break;
    case SB_WIRE_ZONE_VALUE:
        note->text = joined_text(model, note->text, value_text(model, event->value, text));
        break;
    case SB_WIRE_ZONE_NAME:
        note->name = capture_text(model, event->text);
        break;
    default:
        note->colour = capture_swap_colour(event->colour);
    }
}
