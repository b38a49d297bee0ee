/*
 * Answers about what is not a zone: messages, frames and losses.
 */
#include <inttypes.h>

#include "view/view_call.h"

/* ---- messages ---- */

enum { MESSAGES = 2000, MESSAGE_SIZE = 2000 };

void view_put_message(sb_output *output, const sb_trace *trace, uint64_t number, uint64_t count) {
    const sb_message *message = sb_series_at(&trace->messages, number);
    sb_put_format(output, "{\"id\":%" PRIu64 ",\"time\":%" PRId64 ",\"colour\":%u,\"severity\":%u",
                  number, message->time, message->colour, message->severity);
    if (message->thread != 0) {
        const uint32_t track = sb_trace_track_of_thread(trace, message->thread);
        if (track != SB_NONE)
            sb_put_format(output, ",\"track\":%u", track);
    }
    if (count > 1)
        sb_put_format(output, ",\"count\":%" PRIu64, count);
    sb_put_text(output, ",\"text\":");
    sb_put_json(output, sb_slice_first(sb_trace_text(trace, message->text), MESSAGE_SIZE));
    sb_put_char(output, '}');
}

/* The messages of a window: those that fall on one pixel come as the first of them. */
static void put_flags(view_call *call, const view_window *window) {
    const sb_trace *trace = call->view->trace;
    uint64_t next = 0;
    uint64_t end = 0;
    unsigned written = 0;
    sb_trace_messages_in(trace, window->range, &next, &end);
    while (next < end && written < MESSAGES) {
        const sb_message *message = sb_series_at(&trace->messages, next);
        const sb_range pixel = {message->time, message->time + window->grain};
        uint64_t first = 0;
        uint64_t after = 0;
        sb_trace_messages_in(trace, pixel, &first, &after);
        after = after <= next ? next + 1 : after > end ? end : after;
        if (written++ > 0)
            sb_put_char(call->body, ',');
        view_put_message(call->body, trace, next, after - next);
        next = after;
    }
}

/* Which messages are listed, and which of those are sent. */
typedef struct message_list {
    sb_range range;
    sb_slice filter;
    int64_t severity; /* the least one */
    int64_t first;
    int64_t count;
} message_list;

static uint64_t put_listed(view_call *call, const message_list *list) {
    const sb_trace *trace = call->view->trace;
    uint64_t matched = 0;
    uint64_t next = 0;
    uint64_t end = 0;
    sb_trace_messages_in(trace, list->range, &next, &end);
    for (; next < end; next++) {
        const sb_message *message = sb_series_at(&trace->messages, next);
        if (message->severity < list->severity ||
            !sb_trace_matches(sb_trace_text(trace, message->text), list->filter, false))
            continue;
        const int64_t place = (int64_t)matched++ - list->first;
        if (place < 0 || place >= list->count)
            continue;
        if (place > 0)
            sb_put_char(call->body, ',');
        view_put_message(call->body, trace, next, 1);
    }
    return matched;
}

/* With a width: what to draw. Without: a list, filtered. */
sb_status view_answer_messages(view_call *call) {
    message_list list = {.filter = view_call_text(call, "filter")};
    view_window window;
    SB_TRY(view_call_page(call, MESSAGES, &list.first, &list.count));
    SB_TRY(view_call_integer(call, "severity", 0, UINT8_MAX, &list.severity));
    SB_TRY(view_call_window(call, &window));
    list.range = window.range;
    sb_put_text(call->body, "{\"messages\":[");
    if (view_call_text(call, "width").size > 0) {
        put_flags(call, &window);
        sb_put_text(call->body, "]}");
        return SB_OK;
    }
    pthread_mutex_lock(&call->view->heavy);
    const uint64_t matched = put_listed(call, &list);
    pthread_mutex_unlock(&call->view->heavy);
    sb_put_format(call->body, "],\"matched\":%" PRIu64 "}", matched);
    return SB_OK;
}

/* The first place in a list of ascending times that is at time or later. */
uint64_t view_first_at(const sb_series *series, int64_t time) {
    uint64_t low = 0;
    uint64_t high = sb_series_count(series);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (*(const int64_t *)sb_series_at(series, middle) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- frames ---- */

static int64_t frame_end(const sb_frame_set *set, uint64_t number, int64_t horizon) {
    const sb_frame *frame = sb_series_at(&set->frames, number);
    if (!set->continuous && frame->end != SB_NO_TIME)
        return frame->end;
    if (number + 1 < sb_series_count(&set->frames))
        return ((sb_frame *)sb_series_at(&set->frames, number + 1))->start;
    return horizon > frame->start ? horizon : frame->start;
}

/* The frame behind those that are drawn with the given one: all that begin on its pixel, if it ends
   there too. */
static uint64_t frames_together(const sb_frame_set *set, uint64_t first, int64_t grain,
                                int64_t horizon) {
    const int64_t start = ((const sb_frame *)sb_series_at(&set->frames, first))->start;
    if (view_length_between(start, frame_end(set, first, horizon)) >= grain)
        return first + 1;
    const uint64_t next = view_first_at(&set->frames, view_clipped_sum(start, grain));
    return next > first ? next : first + 1;
}

/* Frames narrower than a pixel are sent together: their first number and how many. */
sb_status view_answer_frames(view_call *call) {
    enum { FRAMES = 4000 };
    view_window window;
    int64_t number = 0;
    const sb_trace *trace = call->view->trace;
    SB_TRY(view_call_window(call, &window));
    SB_TRY(view_call_integer(call, "set", 0, (int64_t)sb_series_count(&trace->frame_sets) - 1,
                             &number));
    sb_put_text(call->body, "{\"frames\":[");
    unsigned written = 0;
    if (sb_series_count(&trace->frame_sets) > 0) {
        const sb_frame_set *set = sb_series_at(&trace->frame_sets, (uint64_t)number);
        const uint64_t count = sb_series_count(&set->frames);
        const int64_t horizon = view_index_end(call->view->index);
        uint64_t i = view_first_at(&set->frames, window.range.from);
        for (i = i > 0 ? i - 1 : 0; i < count && written < FRAMES;) {
            const int64_t start = ((sb_frame *)sb_series_at(&set->frames, i))->start;
            if (start >= window.range.to)
                break;
            const uint64_t next = frames_together(set, i, window.grain, horizon);
            sb_put_format(call->body, "%s[%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRId64 "]",
                          written++ == 0 ? "" : ",", i, next - i, start,
                          frame_end(set, next - 1, horizon));
            i = next;
        }
    }
    sb_put_text(call->body, "]}");
    return SB_OK;
}

/* ---- losses ---- */

static const char *cause_name(sb_loss_cause cause) {
    switch (cause) {
    case SB_LOSS_FILE_DAMAGED:
        return "file damaged";
    case SB_LOSS_BUFFER_FULL:
        return "buffer full";
    case SB_LOSS_NOT_STORED:
        return "not stored";
    case SB_LOSS_OTHER:
        break;
    }
    return "other";
}

static void put_loss(sb_output *output, const sb_trace *trace, const sb_loss *loss) {
    sb_put_format(output, "{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"count\":%" PRIu64, loss->from,
                  loss->to, loss->count);
    sb_put_format(output, ",\"cause\":\"%s\"", cause_name(loss->cause));
    if (loss->thread != SB_NONE)
        sb_put_format(output, ",\"thread\":%u", loss->thread);
    sb_put_text(output, ",\"text\":");
    sb_put_json(output, sb_trace_text(trace, loss->text));
    sb_put_char(output, '}');
}

sb_status view_answer_losses(view_call *call) {
    sb_range range;
    int64_t first = 0;
    int64_t count = 0;
    int64_t matched = 0;
    SB_TRY(view_call_range(call, &range));
    SB_TRY(view_call_page(call, MESSAGES, &first, &count));
    const sb_trace *trace = call->view->trace;
    sb_put_text(call->body, "{\"losses\":[");
    for (uint64_t i = 0; i < sb_series_count(&trace->losses); i++) {
        const sb_loss *loss = sb_series_at(&trace->losses, i);
        if (loss->from >= range.to || (loss->to != SB_NO_TIME && loss->to < range.from))
            continue;
        const int64_t place = matched++ - first;
        if (place < 0 || place >= count)
            continue;
        if (place > 0)
            sb_put_char(call->body, ',');
        put_loss(call->body, trace, loss);
    }
    sb_put_format(call->body, "],\"matched\":%" PRId64 "}", matched);
    return SB_OK;
}
