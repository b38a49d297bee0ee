/* Locks in Tracy's C interface: both kinds are an sb_lock behind another name. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the names are Tracy's. */
#include "client/client_tracy.h"

typedef struct __tracy_lockable_context_data plain_lock;
typedef struct __tracy_shared_lockable_context_data shared_lock;

static sb_lock *of_lockable(plain_lock *lock) {
    return (sb_lock *)(void *)lock;
}

plain_lock *___tracy_announce_lockable_ctx(const client_tracy_location *srcloc) {
    return (plain_lock *)(void *)sb_lock_announce(client_location_of(srcloc), 0);
}

void ___tracy_terminate_lockable_ctx(plain_lock *lockdata) {
    sb_lock_terminate(of_lockable(lockdata));
}

int32_t ___tracy_before_lock_lockable_ctx(plain_lock *lockdata) {
    return sb_lock_waiting(of_lockable(lockdata));
}

void ___tracy_after_lock_lockable_ctx(plain_lock *lockdata) {
    sb_lock_obtained(of_lockable(lockdata));
}

void ___tracy_after_unlock_lockable_ctx(plain_lock *lockdata) {
    sb_lock_released(of_lockable(lockdata));
}

void ___tracy_after_try_lock_lockable_ctx(plain_lock *lockdata, int32_t acquired) {
    sb_lock_tried(of_lockable(lockdata), acquired);
}

void ___tracy_mark_lockable_ctx(plain_lock *lockdata, const client_tracy_location *srcloc) {
    sb_lock_mark(of_lockable(lockdata), client_location_of(srcloc));
}

void ___tracy_custom_name_lockable_ctx(plain_lock *lockdata, const char *name, size_t nameSz) {
    sb_lock_name(of_lockable(lockdata), name, nameSz);
}

static sb_lock *of_shared_lockable(shared_lock *lock) {
    return (sb_lock *)(void *)lock;
}

shared_lock *___tracy_announce_shared_lockable_ctx(const client_tracy_location *srcloc) {
    return (shared_lock *)(void *)sb_lock_announce(client_location_of(srcloc), 1);
}

void ___tracy_terminate_shared_lockable_ctx(shared_lock *lockdata) {
    sb_lock_terminate(of_shared_lockable(lockdata));
}

int32_t ___tracy_before_lock_shared_lockable_ctx(shared_lock *lockdata) {
    return sb_lock_waiting(of_shared_lockable(lockdata));
}

void ___tracy_after_lock_shared_lockable_ctx(shared_lock *lockdata) {
    sb_lock_obtained(of_shared_lockable(lockdata));
}

void ___tracy_after_unlock_shared_lockable_ctx(shared_lock *lockdata) {
    sb_lock_released(of_shared_lockable(lockdata));
}

void ___tracy_after_try_lock_shared_lockable_ctx(shared_lock *lockdata, int32_t acquired) {
    sb_lock_tried(of_shared_lockable(lockdata), acquired);
}

void ___tracy_mark_shared_lockable_ctx(shared_lock *lockdata, const client_tracy_location *srcloc) {
    sb_lock_mark(of_shared_lockable(lockdata), client_location_of(srcloc));
}

void ___tracy_custom_name_shared_lockable_ctx(shared_lock *lockdata, const char *name,
                                              size_t nameSz) {
    sb_lock_name(of_shared_lockable(lockdata), name, nameSz);
}

int32_t ___tracy_before_lock_shared_shared_lockable_ctx(shared_lock *lockdata) {
    return sb_lock_waiting_shared(of_shared_lockable(lockdata));
}

void ___tracy_after_lock_shared_shared_lockable_ctx(shared_lock *lockdata) {
    sb_lock_obtained_shared(of_shared_lockable(lockdata));
}

void ___tracy_after_unlock_shared_shared_lockable_ctx(shared_lock *lockdata) {
    sb_lock_released_shared(of_shared_lockable(lockdata));
}

void ___tracy_after_try_lock_shared_shared_lockable_ctx(shared_lock *lockdata, int32_t acquired) {
    sb_lock_tried_shared(of_shared_lockable(lockdata), acquired);
}

/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
