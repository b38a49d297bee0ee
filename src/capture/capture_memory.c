/*
 * Memory and locks: what goes through the program's ordered queue.
 */
#include "capture/capture_model.h"

static uint32_t thread_number(capture_model *model, uint32_t id) {
    const capture_thread *thread = capture_thread_of(model, id);
    return thread == NULL ? 0 : thread->number;
}

/* ---- memory ---- */

static uint32_t pool_of(capture_model *model, uint64_t token) {
    uint32_t place = 0;
    if (sb_idmap_get(&model->pools, token, &place))
        return place;
    if (model->pools.count >= CAPTURE_SETS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return SB_NONE;
    }
    place = (uint32_t)model->live.count;
    sb_idmap_set(&model->pools, token, place);
    sb_idmap_init(sb_vector_push(&model->live));
    sb_trace_add_pool(model->trace, capture_token_text(model, SB_WIRE_ASK_STRING, token));
    return place;
}

static uint32_t take_serial_stack(capture_model *model, const sb_wire_event *event) {
    if ((event->form & SB_WIRE_WITH_CALLSTACK) == 0)
        return 0;
    const uint32_t callstack = model->serial_callstack;
    model->serial_callstack = 0;
    return callstack;
}

static sb_series *events_of(const capture_model *model, uint32_t pool) {
    return &((sb_memory_pool *)sb_series_at(&model->trace->pools, pool))->events;
}

static void take_alloc(capture_model *model, uint32_t pool, const sb_wire_event *event) {
    sb_idmap *live = sb_vector_at(&model->live, pool);
    sb_series *events = events_of(model, pool);
    const uint64_t number = sb_series_count(events);
    const sb_memory_event added = {.time = capture_time(model, event->time),
                                   .freed = SB_NO_TIME,
                                   .address = event->token,
                                   .size = event->size,
                                   .thread = thread_number(model, event->thread),
                                   .callstack = take_serial_stack(model, event)};
    if (live->count >= CAPTURE_LIVE_MAX || number >= SB_NONE) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return;
    }
    sb_series_add(events, &added);
    sb_idmap_set(live, event->token, (uint32_t)number);
    capture_see(model, added.time);
}

static void free_event(capture_model *model, uint32_t pool, uint32_t number,
                       const sb_wire_event *event, uint32_t callstack) {
    sb_memory_event *freed = sb_series_at(events_of(model, pool), number);
    freed->freed = capture_time(model, event->time);
    freed->freed_by = thread_number(model, event->thread);
    freed->freed_callstack = callstack;
    capture_see(model, freed->freed);
}

static void take_free(capture_model *model, uint32_t pool, const sb_wire_event *event) {
    sb_idmap *live = sb_vector_at(&model->live, pool);
    const uint32_t callstack = take_serial_stack(model, event);
    uint32_t number = 0;
    if (sb_idmap_get(live, event->token, &number)) {
        free_event(model, pool, number, event, callstack);
        sb_idmap_remove(live, event->token);
    } else if (event->token != 0 && !model->ignores_memory_faults) {
        capture_count(model, CAPTURE_STRAY_FREE);
    }
}

/* All that lives in a pool is freed at once. */
static void take_discard(capture_model *model, const sb_wire_event *event) {
    uint32_t pool = 0;
    const uint32_t callstack = take_serial_stack(model, event);
    if (!sb_idmap_get(&model->pools, event->token, &pool))
        return;
    const uint64_t count = sb_series_count(events_of(model, pool));
    for (uint32_t i = 0; i < count; i++) {
        const sb_memory_event *each = sb_series_at(events_of(model, pool), i);
        if (each->freed == SB_NO_TIME)
            free_event(model, pool, i, event, callstack);
    }
    sb_idmap *live = sb_vector_at(&model->live, pool);
    sb_idmap_free(live);
    sb_idmap_init(live);
}

bool capture_take_memory(capture_model *model, const sb_wire_event *event) {
    if (event->kind == SB_WIRE_MEMORY_DISCARD) {
        take_discard(model, event);
        return true;
    }
    if (event->kind != SB_WIRE_MEMORY_ALLOC && event->kind != SB_WIRE_MEMORY_FREE)
        return false;
    const uint32_t pool = pool_of(model, event->pool);
    if (pool == SB_NONE)
        return true;
    if (event->kind == SB_WIRE_MEMORY_ALLOC)
        take_alloc(model, pool, event);
    else
        take_free(model, pool, event);
    return true;
}

void capture_free_memory(capture_model *model) {
    for (size_t i = 0; i < model->live.count; i++)
        sb_idmap_free(sb_vector_at(&model->live, i));
    sb_vector_free(&model->live);
}

/* ---- locks ---- */

enum { LOCK_WAIT = 0, LOCK_OBTAIN = 1, LOCK_RELEASE = 2, LOCK_SHARED = 3 };

static void announce_lock(capture_model *model, const sb_wire_event *event) {
    uint32_t place = 0;
    if (sb_idmap_get(&model->locks, event->id, &place))
        return;
    if (model->locks.count >= CAPTURE_LOCKS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return;
    }
    sb_idmap_set(&model->locks, event->id, (uint32_t)model->lock_owners.count);
    *(uint32_t *)sb_vector_push(&model->lock_owners) = 0;
    sb_lock *lock = sb_trace_add_lock(model->trace, event->id);
    lock->source = capture_source(model, event->token);
    lock->type = event->type == 0 ? 0 : 1;
    lock->announced = capture_time(model, event->time);
    lock->terminated = lock->announced;
    capture_see(model, lock->announced);
}

/* The position of a thread among those of a lock; beyond the limit: that limit. */
static uint8_t lock_thread(capture_model *model, sb_lock *lock, uint32_t id) {
    const uint32_t number = thread_number(model, id);
    const uint64_t count = sb_series_count(&lock->threads);
    for (uint64_t i = 0; i < count; i++) {
        if (*(const uint32_t *)sb_series_at(&lock->threads, i) == number)
            return (uint8_t)i;
    }
    if (count < CAPTURE_LOCK_THREADS_MAX)
        sb_series_add(&lock->threads, &number);
    return (uint8_t)count;
}

static void add_lock_event(capture_model *model, sb_lock *lock, uint8_t thread, unsigned kind,
                           const sb_wire_event *event) {
    if (thread >= CAPTURE_LOCK_THREADS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return;
    }
    const unsigned shared = (event->form & SB_WIRE_SHARED) != 0 ? LOCK_SHARED : 0;
    const sb_lock_event added = {.time = capture_time(model, event->time),
                                 .thread = thread,
                                 .kind = (uint8_t)(kind + shared)};
    sb_series_add(&lock->events, &added);
    capture_see(model, added.time);
}

/* The place in the source belongs to the latest wait or obtain of its thread. */
static void mark_lock(capture_model *model, sb_lock *lock, const sb_wire_event *event) {
    enum { LOOK_BACK_MAX = 1000 };
    const uint8_t thread = lock_thread(model, lock, event->thread);
    const uint64_t count = sb_series_count(&lock->events);
    for (uint64_t i = count; i > 0 && count - i < LOOK_BACK_MAX; i--) {
        sb_lock_event *each = sb_series_at(&lock->events, i - 1);
        if (each->thread != thread || each->kind % LOCK_SHARED == LOCK_RELEASE)
            continue;
        each->source = capture_source(model, event->token);
        return;
    }
}

static void release_lock(capture_model *model, uint32_t place, sb_lock *lock,
                         const sb_wire_event *event) {
    const bool is_shared = (event->form & SB_WIRE_SHARED) != 0;
    const uint32_t owner = *(uint32_t *)sb_vector_at(&model->lock_owners, place);
    const uint8_t thread = is_shared ? lock_thread(model, lock, event->thread) : (uint8_t)owner;
    if (thread < sb_series_count(&lock->threads))
        add_lock_event(model, lock, thread, LOCK_RELEASE, event);
    else
        capture_count(model, CAPTURE_STRAY_LOCK);
}

static void take_lock_event(capture_model *model, uint32_t place, const sb_wire_event *event) {
    sb_lock *lock = sb_series_at(&model->trace->locks, place);
    switch (event->kind) {
    case SB_WIRE_LOCK_WAIT:
        add_lock_event(model, lock, lock_thread(model, lock, event->thread), LOCK_WAIT, event);
        break;
    case SB_WIRE_LOCK_OBTAIN: {
        const uint8_t thread = lock_thread(model, lock, event->thread);
        if ((event->form & SB_WIRE_SHARED) == 0)
            *(uint32_t *)sb_vector_at(&model->lock_owners, place) = thread;
        add_lock_event(model, lock, thread, LOCK_OBTAIN, event);
        break;
    }
    case SB_WIRE_LOCK_RELEASE:
        release_lock(model, place, lock, event);
        break;
    case SB_WIRE_LOCK_MARK:
        mark_lock(model, lock, event);
        break;
    case SB_WIRE_LOCK_NAME:
        lock->name = capture_text(model, event->text);
        break;
    default:
        lock->terminated = capture_time(model, event->time);
    }
}

bool capture_take_lock(capture_model *model, const sb_wire_event *event) {
    uint32_t place = 0;
    switch (event->kind) {
    case SB_WIRE_LOCK_ANNOUNCE:
        announce_lock(model, event);
        return true;
    case SB_WIRE_LOCK_TERMINATE:
    case SB_WIRE_LOCK_WAIT:
    case SB_WIRE_LOCK_OBTAIN:
    case SB_WIRE_LOCK_RELEASE:
    case SB_WIRE_LOCK_MARK:
    case SB_WIRE_LOCK_NAME:
        if (sb_idmap_get(&model->locks, event->id, &place))
            take_lock_event(model, place, event);
        else
            capture_count(model, CAPTURE_STRAY_LOCK);
        return true;
    default:
        return false;
    }
}
