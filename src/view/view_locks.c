/*
 * The answer for locks: when each was held, and when somebody waited meanwhile. What a lock's
 * events come to is a curve of its state.
 */
#include <inttypes.h>

#include "view/view_call.h"
#include "view/view_curve.h"

enum { LOCK_THREADS = 256, SPANS = 20000 };

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

/* ---- the curve of a lock ---- */

/* A point for each change of state: what the events say, less what nobody would see. */
static void take_events(view_curve *curve, const sb_lock *lock) {
    const uint64_t count = sb_series_count(&lock->events);
    if (curve->state == NULL)
        curve->state = sb_alloc_zeroed(1, sizeof(lock_walk));
    lock_walk *walk = curve->state;
    for (; curve->taken < count; curve->taken++) {
        const sb_lock_event *event = sb_series_at(&lock->events, curve->taken);
        const lock_state before = state_of(walk);
        take_event(walk, event);
        if (state_of(walk) != before)
            sb_series_add(&curve->own, &(sb_plot_point){event->time, (double)state_of(walk)});
    }
    view_curve_raise(curve, &curve->own);
}

/* ---- drawing ---- */

/* When the stretch that a change begins is over. */
static int64_t stretch_end(const sb_series *points, uint64_t change, int64_t horizon) {
    if (change + 1 == sb_series_count(points))
        return horizon;
    return ((const sb_plot_point *)sb_series_at(points, change + 1))->time;
}

/* The change behind those that are drawn with the given one: all on its pixel, but for a last one
   that can be seen by itself. */
static uint64_t changes_together(const sb_series *points, uint64_t from, uint64_t end,
                                 int64_t grain, int64_t horizon) {
    const uint64_t next = view_curve_next(points, from, end, grain);
    const sb_plot_point *last = sb_series_at(points, next - 1);
    const bool is_wide =
        view_length_between(last->time, stretch_end(points, next - 1, horizon)) >= grain;
    return is_wide && next - from > 1 ? next - 1 : next;
}

/* Of changes that are drawn together the worst state is shown. */
static void put_spans(view_call *call, const view_curve *curve, const view_window *window) {
    const sb_series *points = &curve->own;
    const int64_t horizon = view_index_end(call->view->index);
    const uint64_t inside = view_first_at(points, window->range.from);
    const uint64_t end = view_first_at(points, window->range.to);
    unsigned written = 0;
    uint64_t next = 0;
    for (uint64_t i = inside > 0 ? inside - 1 : 0; i < end && written < SPANS; i = next) {
        next = changes_together(points, i, end, window->grain, horizon);
        const int64_t start = ((const sb_plot_point *)sb_series_at(points, i))->time;
        const int64_t until = stretch_end(points, next - 1, horizon);
        const lock_state worst = (lock_state)view_curve_between(curve, points, i, next).high;
        if (worst == LOCK_FREE || until <= window->range.from || until <= start)
            continue;
        sb_put_format(call->body, "%s[%" PRId64 ",%" PRId64 ",%d,%" PRIu64 "]",
                      written++ == 0 ? "" : ",", start, until, (int)worst, next - i);
    }
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
    for (uint64_t i = 0; i < count && written < VIEW_LOCKS; i++) {
        const sb_lock *lock = sb_series_at(&trace->locks, i);
        if (sb_series_count(&lock->events) == 0)
            continue;
        sb_put_format(call->body, "%s{\"id\":%" PRIu64 ",\"name\":", written++ == 0 ? "" : ",", i);
        sb_put_json(call->body, lock_name(trace, lock));
        sb_put_format(call->body, ",\"threads\":%" PRIu64 ",\"spans\":[",
                      sb_series_count(&lock->threads));
        view_curve *curve = view_curve_of(call->view, VIEW_LOCK_FIRST + (uint32_t)i);
        take_events(curve, lock);
        put_spans(call, curve, &window);
        sb_put_text(call->body, "]}");
    }
    pthread_mutex_unlock(&call->view->derived);
    sb_put_format(call->body, "],\"total\":%" PRIu64 "}", count);
    return SB_OK;
}
