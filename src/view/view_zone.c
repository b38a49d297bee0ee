/*
 * The answer about one zone: itself, what is around and inside it, who started it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "view/view_call.h"

enum { CHILDREN = 200, PARENTS = 256 };

/* ---- short form ---- */

static sb_slice zone_name(const sb_trace *trace, const sb_track *track, uint32_t zone) {
    const sb_zone_note *note = sb_trace_zone_note(trace, track, zone);
    if (note != NULL && note->name != 0)
        return sb_trace_text(trace, note->name);
    return sb_trace_source_name(trace, sb_track_zone_source(track, zone));
}

void view_put_zone(sb_output *output, const sb_trace *trace, uint32_t number, uint32_t zone) {
    const sb_track *track = sb_trace_track(trace, number);
    const int64_t end = sb_track_zone_end(track, zone);
    sb_put_format(output, "{\"track\":%u,\"zone\":%u,\"source\":%u,\"start\":%" PRId64, number,
                  zone, sb_track_zone_source(track, zone), sb_track_zone_start(track, zone));
    if (end != SB_NO_TIME)
        sb_put_format(output, ",\"end\":%" PRId64, end);
    sb_put_text(output, ",\"name\":");
    sb_put_json(output, zone_name(trace, track, zone));
    sb_put_char(output, '}');
}

/* ---- around ---- */

static void put_parents(sb_output *output, const sb_trace *trace, uint32_t number, uint32_t zone) {
    const sb_track *track = sb_trace_track(trace, number);
    sb_put_text(output, ",\"parents\":[");
    unsigned written = 0;
    uint32_t outer = sb_track_zone_parent(track, zone);
    for (; outer != SB_NONE && written < PARENTS; outer = sb_track_zone_parent(track, outer)) {
        if (written++ > 0)
            sb_put_char(output, ',');
        view_put_zone(output, trace, number, outer);
    }
    sb_put_char(output, ']');
}

/* The zones beside it in its row, to step through. */
static void put_neighbours(view_call *call, uint32_t number, uint32_t zone) {
    uint32_t around[2];
    static const char *const names[] = {"previous", "next"};
    view_index_neighbours(call->view->index, number, zone, &around[0], &around[1]);
    for (size_t i = 0; i < 2; i++) {
        if (around[i] == SB_NONE)
            continue;
        sb_put_format(call->body, ",\"%s\":", names[i]);
        view_put_zone(call->body, call->view->trace, number, around[i]);
    }
}

/* ---- inside ---- */

typedef struct inside {
    uint64_t count;
    int64_t total;    /* durations */
    sb_vector listed; /* uint32_t: the first ones */
} inside;

/* Zones stand in pre-order: what is inside follows, until one whose parent is further out. */
static inside look_inside(const sb_track *track, uint32_t zone) {
    inside found = {.listed = sb_vector_of(sizeof(uint32_t))};
    const uint64_t count = sb_track_zone_count(track);
    for (uint64_t i = zone + UINT64_C(1); i < count; i++) {
        const uint32_t parent = sb_track_zone_parent(track, (uint32_t)i);
        if (parent == SB_NONE || parent < zone)
            break;
        if (parent != zone)
            continue;
        const int64_t end = sb_track_zone_end(track, (uint32_t)i);
        const int64_t start = sb_track_zone_start(track, (uint32_t)i);
        found.count++;
        if (end > start)
            found.total = view_clipped_sum(found.total, view_length_between(start, end));
        if (found.listed.count < CHILDREN)
            *(uint32_t *)sb_vector_push(&found.listed) = (uint32_t)i;
    }
    return found;
}

static void put_children(sb_output *output, const sb_trace *trace, uint32_t number, uint32_t zone) {
    const sb_track *track = sb_trace_track(trace, number);
    const int64_t start = sb_track_zone_start(track, zone);
    const int64_t end = sb_track_zone_end(track, zone);
    inside found = look_inside(track, zone);
    if (end >= start)
        sb_put_format(output, ",\"self\":%" PRId64, view_length_between(start, end) - found.total);
    sb_put_format(output, ",\"childCount\":%" PRIu64 ",\"children\":[", found.count);
    for (size_t i = 0; i < found.listed.count; i++) {
        if (i > 0)
            sb_put_char(output, ',');
        view_put_zone(output, trace, number, *(uint32_t *)sb_vector_at(&found.listed, i));
    }
    sb_put_char(output, ']');
    sb_vector_free(&found.listed);
}

/* ---- on a device ---- */

/* When and by whom the host gave the command, and the zone of the host that was open then. */
static bool put_issue(sb_output *output, const sb_trace *trace, const sb_track *track,
                      uint32_t zone) {
    const int64_t *begun = sb_series_find(&track->issue_start, zone);
    const uint32_t *issuer = sb_series_find(&track->issuer, zone);
    /* Where a context has several lanes, files name the lane and not who gave the command. */
    if (begun == NULL || issuer == NULL || *issuer == 0 ||
        sb_trace_thread_at(trace, *issuer)->is_lane)
        return false;
    const uint32_t number = sb_trace_track_of_thread(trace, *issuer);
    sb_put_format(output, ",\"issue\":{\"time\":%" PRId64, *begun);
    if (number != SB_NONE) {
        const uint32_t around = sb_track_zone_at(sb_trace_track(trace, number), *begun);
        sb_put_format(output, ",\"track\":%u", number);
        if (around != SB_NONE) {
            sb_put_text(output, ",\"zone\":");
            view_put_zone(output, trace, number, around);
        }
    }
    sb_put_char(output, '}');
    return true;
}

static sb_slice value_name(const sb_trace *trace, const sb_context *context, int64_t id) {
    for (uint64_t i = 0; i < sb_series_count(&context->value_names); i++) {
        const sb_value_name *name = sb_series_at(&context->value_names, i);
        if (name->id == id)
            return sb_trace_text(trace, name->name);
    }
    return (sb_slice){"", 0};
}

static void put_values(sb_output *output, const sb_trace *trace, const sb_track *track,
                       uint32_t zone) {
    enum { VALUES = 64 };
    const uint32_t *query = sb_series_find(&track->query, zone);
    if (query == NULL || *query == 0)
        return;
    const sb_context *context = sb_trace_context(trace, track->context);
    unsigned written = 0;
    sb_put_text(output, ",\"values\":[");
    for (uint64_t i = 0; i < sb_series_count(&context->values) && written < VALUES; i++) {
        const sb_device_value *value = sb_series_at(&context->values, i);
        if (value->query != *query)
            continue;
        sb_put_text(output, written++ > 0 ? ",[" : "[");
        sb_put_json(output, value_name(trace, context, value->name_id));
        sb_put_char(output, ',');
        sb_put_json_real(output, value->value);
        sb_put_char(output, ']');
    }
    sb_put_char(output, ']');
}

/* Tables of call stacks are complete when a recording has ended, and not before. */
static void put_stack(view_call *call, const sb_track *track, uint32_t zone,
                      const sb_zone_note *note) {
    const uint32_t *own = sb_series_find(&track->callstack, zone);
    uint32_t number = own == NULL ? 0 : *own;
    if (note != NULL && note->callstack != 0)
        number = note->callstack;
    if (number != 0 && !view_state_of(call->view).is_live)
        view_put_stack(call->body, call->view->trace, number);
}

/* What leads from the host to devices and back. */
static void put_links(view_call *call, uint32_t number, uint32_t zone) {
    const sb_trace *trace = call->view->trace;
    const sb_track *track = sb_trace_track(trace, number);
    if (track->kind != SB_TRACK_LANE) {
        if (call->view->runs.count > 0)
            view_put_asked(call, number, sb_track_zone_start(track, zone),
                           sb_track_zone_end(track, zone));
        return;
    }
    const uint32_t op = view_op_of(call->view, number, zone);
    const bool is_issued = put_issue(call->body, trace, track, zone);
    if (op != SB_NONE)
        view_put_op(call, "op", op);
    if (op != SB_NONE && !is_issued)
        view_put_call(call, op);
    put_values(call->body, trace, track, zone);
}

/* ---- the answer ---- */

sb_status view_answer_zone(view_call *call) {
    uint32_t number = SB_NONE;
    SB_TRY(view_call_track(call, &number));
    if (number == SB_NONE)
        SB_FAIL(&call->error, SB_ERR_USAGE, "track: is needed");
    const sb_trace *trace = call->view->trace;
    const sb_track *track = sb_trace_track(trace, number);
    int64_t zone = -1;
    SB_TRY(view_call_integer(call, "zone", 0, (int64_t)sb_track_zone_count(track) - 1, &zone));
    if (zone < 0)
        SB_FAIL(&call->error, SB_ERR_USAGE, "zone: is needed");
    sb_output *output = call->body;
    sb_put_text(output, "{\"zone\":");
    view_put_zone(output, trace, number, (uint32_t)zone);
    const sb_zone_note *note = sb_trace_zone_note(trace, track, (uint32_t)zone);
    if (note != NULL && note->text != 0) {
        sb_put_text(output, ",\"text\":");
        sb_put_json(output, sb_trace_text(trace, note->text));
    }
    put_stack(call, track, (uint32_t)zone, note);
    put_parents(output, trace, number, (uint32_t)zone);
    put_neighbours(call, number, (uint32_t)zone);
    put_children(output, trace, number, (uint32_t)zone);
    pthread_mutex_lock(&call->view->derived);
    put_links(call, number, (uint32_t)zone);
    pthread_mutex_unlock(&call->view->derived);
    sb_put_char(output, '}');
    return SB_OK;
}
