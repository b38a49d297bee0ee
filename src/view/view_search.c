/*
 * The answer to "where is this text": in names of sources and tracks, in messages, and in what a
 * program wrote onto single zones.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "view/view_call.h"

enum { SEARCH_RESULTS = 20 };

static void search_sources(view_call *call, sb_slice part) {
    const sb_trace *trace = call->view->trace;
    uint32_t source = sb_trace_search(trace, part, false, 1);
    for (unsigned i = 0; i < SEARCH_RESULTS && source != SB_NONE; i++) {
        sb_put_format(call->body, "%s{\"id\":%u,\"source\":", i == 0 ? "" : ",", source);
        view_put_source(call->body, trace, source);
        sb_put_char(call->body, '}');
        source = sb_trace_search(trace, part, false, source + 1);
    }
}

static void search_tracks(view_call *call, sb_slice part) {
    const sb_trace *trace = call->view->trace;
    unsigned written = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks) && written < SEARCH_RESULTS; i++) {
        char buffer[32];
        const sb_slice name = view_track_name(trace, sb_trace_track(trace, i), buffer);
        if (!sb_trace_matches(name, part, false))
            continue;
        sb_put_format(call->body, "%s{\"id\":%" PRIu64 ",\"name\":", written++ == 0 ? "" : ",", i);
        sb_put_json(call->body, name);
        sb_put_char(call->body, '}');
    }
}

static void search_messages(view_call *call, sb_slice part) {
    const sb_trace *trace = call->view->trace;
    unsigned written = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->messages) && written < SEARCH_RESULTS; i++) {
        const sb_message *message = sb_series_at(&trace->messages, i);
        if (!sb_trace_matches(sb_trace_text(trace, message->text), part, false))
            continue;
        if (written++ > 0)
            sb_put_char(call->body, ',');
        view_put_message(call->body, trace, i, 1);
    }
}

/* By number: does a text contain the part. */
static char *match_strings(const sb_trace *trace, sb_slice part, uint64_t *count) {
    *count = sb_series_count(&trace->strings);
    char *matches = sb_alloc_zeroed(*count, 1);
    for (uint64_t i = 1; i < *count; i++)
        matches[i] = sb_trace_matches(sb_trace_text(trace, (sb_string)i), part, false) ? 1 : 0;
    return matches;
}

static bool note_matches(const sb_trace *trace, uint32_t number, const char *matches,
                         uint64_t count) {
    if (number == 0 || number >= sb_series_count(&trace->notes))
        return false;
    const sb_zone_note *note = sb_series_at(&trace->notes, number);
    return (note->text < count && matches[note->text]) ||
           (note->name < count && matches[note->name]);
}

static void put_noted_zone(view_call *call, uint32_t track, uint32_t zone) {
    enum { SHOWN_TEXT = 200 };
    const sb_trace *trace = call->view->trace;
    const sb_zone_note *note = sb_trace_zone_note(trace, sb_trace_track(trace, track), zone);
    sb_put_text(call->body, "{\"zone\":");
    view_put_zone(call->body, trace, track, zone);
    sb_put_text(call->body, ",\"text\":");
    sb_put_json(call->body, sb_slice_first(sb_trace_text(trace, note->text), SHOWN_TEXT));
    sb_put_char(call->body, '}');
}

/* Notes are few among zones: stretches that have none are passed over at once. */
static unsigned search_track_notes(view_call *call, uint32_t number, const char *matches,
                                   uint64_t count, unsigned written) {
    const sb_trace *trace = call->view->trace;
    const sb_track *track = sb_trace_track(trace, number);
    const uint64_t zones = sb_track_zone_count(track);
    for (uint64_t zone = 0; zone < zones && written < SEARCH_RESULTS;) {
        const sb_zone_block block = sb_track_block(track, zone, zones);
        for (uint64_t i = 0; block.note != NULL && i < block.count && written < SEARCH_RESULTS;
             i++) {
            if (!note_matches(trace, block.note[i], matches, count))
                continue;
            if (written++ > 0)
                sb_put_char(call->body, ',');
            put_noted_zone(call, number, (uint32_t)(zone + i));
        }
        zone += block.count;
    }
    return written;
}

static void search_notes(view_call *call, sb_slice part) {
    const sb_trace *trace = call->view->trace;
    uint64_t count = 0;
    char *matches = match_strings(trace, part, &count);
    unsigned written = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks) && written < SEARCH_RESULTS; i++)
        written = search_track_notes(call, (uint32_t)i, matches, count, written);
    free(matches);
}

sb_status view_answer_search(view_call *call) {
    const sb_slice part = view_call_text(call, "text");
    if (part.size == 0)
        SB_FAIL(&call->error, SB_ERR_USAGE, "text: is needed");
    pthread_mutex_lock(&call->view->heavy);
    sb_put_text(call->body, "{\"sources\":[");
    search_sources(call, part);
    sb_put_text(call->body, "],\"tracks\":[");
    search_tracks(call, part);
    sb_put_text(call->body, "],\"messages\":[");
    search_messages(call, part);
    sb_put_text(call->body, "],\"zones\":[");
    search_notes(call, part);
    sb_put_text(call->body, "]}");
    pthread_mutex_unlock(&call->view->heavy);
    return SB_OK;
}
