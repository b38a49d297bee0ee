/*
 * What is ordered across threads: memory, locks, devices; and what every session begins with.
 *
 * Readers want these in order of time whatever thread they come from, so all threads write them
 * into one lane, under a lock, and the time is read while it is held. If one of them has to be
 * dropped, the reader's picture of the heap or of a lock would be wrong from there on; so then the
 * rest of the session goes without them, which is counted as well.
 */
#include "client/client.h"

#include <stdlib.h>
#include <string.h>

pthread_mutex_t client_serial_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t broken_session; /* in which an event was dropped */

/* The serial lane, locked, if something is recorded now; else NULL, and nothing is locked. */
static client_lane *enter(void) {
    if (client_is_inside || !client_ensure_started())
        return NULL;
    if ((uint32_t)__atomic_load_n(&sb_client_state, __ATOMIC_RELAXED) == 0)
        return NULL;
    client_is_inside = true; /* a handler of signals must not wait for a lock that we hold */
    pthread_mutex_lock(&client_serial_lock);
    client_lane *lane = client_shared_lane(SB_RECORD_SERIAL_LANE);
    const uint64_t state = __atomic_load_n(&sb_client_state, __ATOMIC_RELAXED);
    if ((uint32_t)state == broken_session)
        client_count_loss(lane, SB_RECORD_LOST_TO_MEMORY);
    else if ((uint32_t)state != 0 && client_shared_lane_prepare(lane, state))
        return lane;
    pthread_mutex_unlock(&client_serial_lock);
    client_is_inside = false;
    return NULL;
}

static void leave(client_lane *lane, bool is_recorded) {
    if (!is_recorded)
        broken_session = (uint32_t)lane->state;
    pthread_mutex_unlock(&client_serial_lock);
    client_is_inside = false;
}

static void record(client_lane *lane, sb_record_kind kind, const uint64_t *words, size_t count) {
    leave(lane, client_record_words(lane, kind, words, count));
}

/* ---- what lasts ---- */

/* The lane of what lasts, locked. Lasting things are recorded whether somebody listens or not. */
static client_lane *enter_lasting(void) {
    if (client_is_inside || !client_ensure_started())
        return NULL;
    client_is_inside = true;
    pthread_mutex_lock(&client_serial_lock);
    client_lane *lane = client_shared_lane(SB_RECORD_LASTING_LANE);
    const uint64_t state = __atomic_load_n(&sb_client_state, __ATOMIC_RELAXED);
    lane->front.generation = (state >> 32 & 0xff) << CLIENT_GENERATION_SHIFT;
    return lane;
}

/*
 * What follows in the serial lane comes after what was just recorded as lasting. Nobody listens:
 * the next session begins with it anyway.
 */
static void leave_lasting(const client_lane *lane) {
    client_lane *serial = client_shared_lane(SB_RECORD_SERIAL_LANE);
    const uint64_t state = __atomic_load_n(&sb_client_state, __ATOMIC_RELAXED);
    const uint64_t words[2] = {lane->id, client_lane_position(lane)};
    if ((uint32_t)state != 0 && (uint32_t)state != broken_session &&
        client_shared_lane_prepare(serial, state) &&
        !client_record_words(serial, SB_RECORD_WAIT_FOR, words, 2))
        broken_session = (uint32_t)state;
    pthread_mutex_unlock(&client_serial_lock);
    client_is_inside = false;
}

static bool record_lasting_payload(sb_record_kind kind, uint32_t upper, const uint64_t *words,
                                   size_t count, sb_slice text) {
    client_lane *lane = enter_lasting();
    if (lane == NULL)
        return false;
    const bool is_recorded = client_record_payload(lane, kind, upper, words, count, &text, 1);
    leave_lasting(lane);
    return is_recorded;
}

bool client_record_lasting_text(sb_record_kind kind, const uint64_t *words, size_t count,
                                sb_slice text) {
    return record_lasting_payload(kind, 0, words, count, text);
}

bool client_record_lasting_name(bool has_group, uint64_t thread_and_group, sb_slice name) {
    return record_lasting_payload(SB_RECORD_THREAD_NAME, has_group, &thread_and_group, 1, name);
}

bool client_record_lasting(sb_record_kind kind, const char *literal, const uint64_t *words,
                           size_t count) {
    uint64_t all[3] = {0};
    client_lane *lane = literal == NULL || count > 2 ? NULL : enter_lasting();
    if (lane == NULL)
        return false;
    all[0] = client_string(lane, literal);
    for (size_t i = 0; i < count; i++)
        all[1 + i] = words[i];
    const bool is_recorded = all[0] != 0 && client_record_words(lane, kind, all, 1 + count);
    leave_lasting(lane);
    return is_recorded;
}

/* ---- memory ---- */

void sb_memory_allocated(const void *address, size_t size, const char *pool_literal,
                         int32_t depth) {
    client_lane *lane = enter();
    if (lane == NULL)
        return;
    const uint64_t words[4] = {(uintptr_t)address, size, client_string(lane, pool_literal),
                               sb_thread_id()};
    if (depth > 0)
        client_record_stack(lane, depth);
    record(lane, SB_RECORD_MEMORY_ALLOC, words, 4);
}

void sb_memory_freed(const void *address, const char *pool_literal, int32_t depth) {
    client_lane *lane = enter();
    if (lane == NULL)
        return;
    const uint64_t words[3] = {(uintptr_t)address, client_string(lane, pool_literal),
                               sb_thread_id()};
    if (depth > 0)
        client_record_stack(lane, depth);
    record(lane, SB_RECORD_MEMORY_FREE, words, 3);
}

void sb_memory_discarded(const char *pool_literal, int32_t depth) {
    client_lane *lane = enter();
    if (lane == NULL)
        return;
    const uint64_t words[2] = {client_string(lane, pool_literal), sb_thread_id()};
    if (depth > 0)
        client_record_stack(lane, depth);
    record(lane, SB_RECORD_MEMORY_DISCARD, words, 2);
}

/* ---- locks ---- */

struct sb_lock {
    uint32_t id;
    uint32_t holders; /* threads that have it or wait for it */
    uint32_t session; /* in which it is recorded: since it was free at some moment of it */
    bool is_announced;
    bool is_shared;
};

sb_lock *sb_lock_announce(const sb_source_location *location, int is_shared) {
    static uint32_t ids;
    sb_lock *lock = calloc(1, sizeof *lock);
    if (lock == NULL)
        return NULL;
    lock->id = __atomic_fetch_add(&ids, 1, __ATOMIC_RELAXED);
    lock->is_shared = is_shared != 0;
    client_lane *lane = enter_lasting();
    if (lane == NULL)
        return lock;
    const uint64_t words[2] = {sb_record_pair(lock->id, lock->is_shared),
                               client_location(lane, location)};
    lock->is_announced =
        words[1] != 0 && client_record_words(lane, SB_RECORD_LOCK_ANNOUNCE, words, 2);
    leave_lasting(lane);
    return lock;
}

void sb_lock_terminate(sb_lock *lock) {
    if (lock == NULL)
        return;
    client_lane *lane = lock->is_announced ? enter_lasting() : NULL;
    if (lane != NULL) {
        const uint64_t word = lock->id;
        client_record_words(lane, SB_RECORD_LOCK_TERMINATE, &word, 1);
        leave_lasting(lane);
    }
    free(lock);
}

static void record_lock(const sb_lock *lock, sb_record_kind kind) {
    client_lane *lane = enter();
    const uint64_t word = sb_record_pair(lock->id, sb_thread_id());
    if (lane != NULL)
        record(lane, kind, &word, 1);
}

/*
 * One thread more has or wants the lock. True: record it. A lock that was held when a session began
 * is left alone until it was free once, so that no release comes without its obtain.
 */
static bool count_in(sb_lock *lock) {
    if (lock == NULL || !lock->is_announced)
        return false;
    const uint32_t session = (uint32_t)__atomic_load_n(&sb_client_state, __ATOMIC_RELAXED);
    const uint32_t before = __atomic_fetch_add(&lock->holders, 1, __ATOMIC_RELAXED);
    if (session == 0)
        return false;
    if (before == 0)
        __atomic_store_n(&lock->session, session, __ATOMIC_RELAXED);
    return __atomic_load_n(&lock->session, __ATOMIC_RELAXED) == session;
}

static bool is_recorded(const sb_lock *lock) {
    const uint32_t session = (uint32_t)__atomic_load_n(&sb_client_state, __ATOMIC_RELAXED);
    return lock != NULL && lock->is_announced && session != 0 &&
           __atomic_load_n(&lock->session, __ATOMIC_RELAXED) == session;
}

static bool wait_for(sb_lock *lock, sb_record_kind kind) {
    const bool records = count_in(lock);
    if (records)
        record_lock(lock, kind);
    return records;
}

static void obtain(const sb_lock *lock, sb_record_kind kind) {
    if (is_recorded(lock))
        record_lock(lock, kind);
}

static void release(sb_lock *lock, sb_record_kind kind) {
    if (lock == NULL || !lock->is_announced)
        return;
    __atomic_fetch_sub(&lock->holders, 1, __ATOMIC_RELAXED);
    if (is_recorded(lock))
        record_lock(lock, kind);
}

int sb_lock_waiting(sb_lock *lock) {
    return wait_for(lock, SB_RECORD_LOCK_WAIT);
}

void sb_lock_obtained(sb_lock *lock) {
    obtain(lock, SB_RECORD_LOCK_OBTAIN);
}

void sb_lock_released(sb_lock *lock) {
    release(lock, SB_RECORD_LOCK_RELEASE);
}

void sb_lock_tried(sb_lock *lock, int is_obtained) {
    if (is_obtained && count_in(lock))
        record_lock(lock, SB_RECORD_LOCK_OBTAIN);
}

int sb_lock_waiting_shared(sb_lock *lock) {
    return wait_for(lock, SB_RECORD_LOCK_WAIT_SHARED);
}

void sb_lock_obtained_shared(sb_lock *lock) {
    obtain(lock, SB_RECORD_LOCK_OBTAIN_SHARED);
}

void sb_lock_released_shared(sb_lock *lock) {
    release(lock, SB_RECORD_LOCK_RELEASE_SHARED);
}

void sb_lock_tried_shared(sb_lock *lock, int is_obtained) {
    if (is_obtained && count_in(lock))
        record_lock(lock, SB_RECORD_LOCK_OBTAIN_SHARED);
}

void sb_lock_mark(sb_lock *lock, const sb_source_location *location) {
    if (!is_recorded(lock))
        return;
    client_lane *lane = enter();
    if (lane == NULL)
        return;
    const uint64_t words[2] = {sb_record_pair(lock->id, sb_thread_id()),
                               client_location(lane, location)};
    leave(lane, words[1] != 0 && client_record_words(lane, SB_RECORD_LOCK_MARK, words, 2));
}

void sb_lock_name(sb_lock *lock, const char *name, size_t size) {
    const uint64_t word = lock == NULL ? 0 : lock->id;
    if (lock != NULL && lock->is_announced)
        client_record_lasting_text(
            SB_RECORD_LOCK_NAME, &word, 1,
            (sb_slice){name, size < CLIENT_TEXT_MAX ? size : CLIENT_TEXT_MAX});
}

/* ---- devices ---- */

static uint64_t place(uint16_t query, uint16_t context) {
    return sb_record_pair(query, context);
}

void sb_gpu_context(uint16_t context, sb_gpu_type type, int64_t gpu_time, float period,
                    uint8_t flags, uint32_t thread) {
    client_lane *lane = enter_lasting();
    if (lane == NULL)
        return;
    const double exact = (double)period;
    uint64_t words[4] = {(uint64_t)gpu_time, thread,
                         sb_record_pair(context | (uint32_t)flags << 16, (uint32_t)type), 0};
    memcpy(&words[3], &exact, sizeof words[3]);
    client_record_words(lane, SB_RECORD_DEVICE_CONTEXT, words, 4);
    leave_lasting(lane);
}

void sb_gpu_context_name(uint16_t context, const char *name, size_t size) {
    const uint64_t word = context;
    client_record_lasting_text(SB_RECORD_DEVICE_NAME, &word, 1,
                               (sb_slice){name, size < CLIENT_TEXT_MAX ? size : CLIENT_TEXT_MAX});
}

void sb_gpu_zone_begin(uint16_t context, uint16_t query, const sb_source_location *location,
                       uint32_t thread, int32_t depth) {
    client_lane *lane = enter();
    if (lane == NULL)
        return;
    const uint64_t words[3] = {client_location(lane, location), thread, place(query, context)};
    if (depth > 0)
        client_record_stack(lane, depth);
    leave(lane, words[0] != 0 && client_record_words(lane, SB_RECORD_DEVICE_BEGIN, words, 3));
}

void sb_gpu_zone_begin_dynamic(uint16_t context, uint16_t query, uint32_t thread, uint32_t line,
                               const char *file, size_t file_size, const char *function,
                               size_t function_size, const char *name, size_t name_size,
                               uint32_t color) {
    enum { NAME_MAX_BYTES = 4096 };
    client_lane *lane = enter();
    if (lane == NULL)
        return;
    const sb_slice pieces[3] = {
        sb_slice_first((sb_slice){name, name == NULL ? 0 : name_size}, NAME_MAX_BYTES),
        sb_slice_first((sb_slice){function, function_size}, NAME_MAX_BYTES),
        sb_slice_first((sb_slice){file, file_size}, NAME_MAX_BYTES)};
    const uint64_t words[4] = {sb_record_pair(line, color), client_text_sizes(pieces), thread,
                               place(query, context)};
    leave(lane,
          client_record_payload(lane, SB_RECORD_DEVICE_BEGIN_DYNAMIC, 0, words, 4, pieces, 3));
}

void sb_gpu_zone_end(uint16_t context, uint16_t query, uint32_t thread) {
    client_lane *lane = enter();
    const uint64_t words[2] = {thread, place(query, context)};
    if (lane != NULL)
        record(lane, SB_RECORD_DEVICE_END, words, 2);
}

void sb_gpu_time(uint16_t context, uint16_t query, int64_t gpu_time) {
    client_lane *lane = enter();
    const uint64_t words[2] = {(uint64_t)gpu_time, place(query, context)};
    if (lane != NULL)
        record(lane, SB_RECORD_DEVICE_TIME, words, 2);
}

void sb_gpu_calibration(uint16_t context, int64_t gpu_time, int64_t host_delta_ns) {
    client_lane *lane = enter();
    const uint64_t words[3] = {(uint64_t)gpu_time, (uint64_t)host_delta_ns, context};
    if (lane != NULL)
        record(lane, SB_RECORD_DEVICE_CALIBRATION, words, 3);
}

void sb_gpu_time_sync(uint16_t context, int64_t gpu_time) {
    client_lane *lane = enter();
    const uint64_t words[2] = {(uint64_t)gpu_time, context};
    if (lane != NULL)
        record(lane, SB_RECORD_DEVICE_SYNC, words, 2);
}
