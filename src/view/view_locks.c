/*
 * The answer for locks: when each was held, and when somebody waited meanwhile.
 */
#include <inttypes.h>
#include <string.h>

#include "view/view_call.h"

enum { LOCKS = 200, LOCK_THREADS = 256, SPANS = 20000 };

typedef enum lock_state { LOCK_FREE, LOCK_HELD, LOCK_CONTENDED } lock_state;

/* Who holds a lock and who waits for it, going through its events. */
typedef struct lock_walk {
    bool holds[LOCK_THREADS];
    bool waits[LOCK_THREADS];
    unsigned holders;
    unsigned waiters;
} lock_walk;

static void set_flag(bool *flag, bool value, unsigned *count) {
    if (*flag != value)
        *count = value ? *count + 1 : *count - 1;
    *flag = value;
}

static void take_event(lock_walk *walk, const sb_lock_event *event) {
    enum { KINDS = 3, WAIT = 0, OBTAIN = 1 };
    const unsigned kind = event->kind % KINDS; /* shared ones count like the others */
    set_flag(&walk->waits[event->thread], kind == WAIT, &walk->waiters);
    if (kind != WAIT)
        set_flag(&walk->holds[event->thread], kind == OBTAIN, &walk->holders);
}

static lock_state state_of(const lock_walk *walk) {
    if (walk->holders == 0)
        return LOCK_FREE;
    return walk->waiters > 0 ? LOCK_CONTENDED : LOCK_HELD;
}

/* Stretches narrower than a pixel that touch are sent as one, in the worse state. */
typedef struct lock_span {
    int64_t start;
    int64_t end;
    lock_state state;
    uint64_t count;
} lock_span;

typedef struct lock_spans {
    sb_output *output;
    const view_window *window;
    lock_span last; /* count 0: none */
    unsigned written;
} lock_spans;

static void send_span(lock_spans *spans) {
    const lock_span *last = &spans->last;
    if (last->count > 0 && spans->written < SPANS)
        sb_put_format(spans->output, "%s[%" PRId64 ",%" PRId64 ",%d,%" PRIu64 "]",
                      spans->written++ == 0 ? "" : ",", last->start, last->end, (int)last->state,
                      last->count);
    spans->last.count = 0;
}

static void add_span(lock_spans *spans, const lock_span *next) {
    const sb_range range = spans->window->range;
    const int64_t grain = spans->window->grain;
    lock_span *last = &spans->last;
    if (next->state == LOCK_FREE || next->end <= range.from || next->start >= range.to ||
        next->end <= next->start)
        return;
    const bool joins = last->count > 0 && view_length_between(last->end, next->start) < grain &&
                       (view_length_between(last->start, next->end) < grain ||
                        (last->state == next->state && next->start == last->end));
    if (!joins) {
        send_span(spans);
        *last = *next;
        return;
    }
    last->end = next->end;
    last->count += next->count;
    last->state = next->state > last->state ? next->state : last->state;
}

static void put_spans(view_call *call, const sb_lock *lock, const view_window *window) {
    lock_walk walk;
    memset(&walk, 0, sizeof walk);
    lock_spans spans = {.output = call->body, .window = window};
    const uint64_t count = sb_series_count(&lock->events);
    const int64_t horizon = view_index_end(call->view->index);
    for (uint64_t i = 0; i < count; i++) {
        const sb_lock_event *event = sb_series_at(&lock->events, i);
        if (event->time >= window->range.to)
            break;
        const sb_lock_event *next = i + 1 < count ? sb_series_at(&lock->events, i + 1) : NULL;
        take_event(&walk, event);
        const lock_span span = {event->time, next != NULL ? next->time : horizon, state_of(&walk),
                                1};
        add_span(&spans, &span);
    }
    send_span(&spans);
}

static sb_slice lock_name(const sb_trace *trace, const sb_lock *lock) {
    if (lock->name != 0)
        return sb_trace_text(trace, lock->name);
    return lock->source < sb_series_count(&trace->sources)
               ? sb_trace_source_name(trace, lock->source)
               : (sb_slice){"", 0};
}

sb_status view_answer_locks(view_call *call) {
    view_window window;
    SB_TRY(view_call_window(call, &window));
    const sb_trace *trace = call->view->trace;
    const uint64_t count = sb_series_count(&trace->locks);
    unsigned written = 0;
    pthread_mutex_lock(&call->view->derived);
    sb_put_text(call->body, "{\"locks\":[");
    for (uint64_t i = 0; i < count && written < LOCKS; i++) {
        const sb_lock *lock = sb_series_at(&trace->locks, i);
        if (sb_series_count(&lock->events) == 0)
            continue;
        sb_put_format(call->body, "%s{\"id\":%" PRIu64 ",\"name\":", written++ == 0 ? "" : ",", i);
        sb_put_json(call->body, lock_name(trace, lock));
        sb_put_format(call->body, ",\"threads\":%" PRIu64 ",\"spans\":[",
                      sb_series_count(&lock->threads));
        put_spans(call, lock, &window);
        sb_put_text(call->body, "]}");
    }
    pthread_mutex_unlock(&call->view->derived);
    sb_put_format(call->body, "],\"total\":%" PRIu64 "}", count);
    return SB_OK;
}
