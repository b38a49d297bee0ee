/*
 * zone.h: begin and end of a zone, compiled into the program. Included by strobe.h.
 *
 * A zone costs little more than two reads of the clock only if it calls nothing. So programs know
 * the front of a thread's lane and write the two commonest records themselves. Whatever is not
 * plain (the first event of a thread or a session, a new place in the source, a full chunk, a clock
 * that is not the counter) is left to sb_zone_open and sb_zone_close.
 *
 * This makes the front of a lane and the two records part of the binary interface: a program may be
 * compiled with the header of one release and run with the library of another. So they are fixed
 * for the number in the name of sb_this_lane_1. Who changes one of them changes the number:
 * programs compiled before are then refused by the linker or the loader, for want of that symbol,
 * and do not write into what they do not know.
 */
#ifndef STROBE_ZONE_H
#define STROBE_ZONE_H

/*
 * Elsewhere the two functions are called for every zone. -Os asks for small code; on other
 * processors the counter is not used.
 */
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#define SB_ZONES_IN_PLACE 1
#else
#define SB_ZONES_IN_PLACE 0
#endif

enum {
    SB_LANE_LOCATIONS = 512,
    SB_LANE_ZONE_BEGIN = 11, /* two words: the stamp and the location's token */
    SB_LANE_ZONE_END = 13,   /* the stamp */
};

/* No state, but: a record is being written. */
#define SB_LANE_IS_WRITING UINT64_MAX

/* What a thread looks at when it writes a zone. The thread alone stores it; the sender loads at. */
typedef struct sb_lane {
    /* The sb_client_state that this lane is ready for. While it is SB_LANE_IS_WRITING the rest is
     * the writer's: a signal handler that finds this writes nothing. */
    uint64_t ready_for;
    uint64_t *at; /* stored with release order: all in front of it is the sender's to read */
    uintptr_t end_for_begins; /* from here on there is no room for a begin; low: never write here */
    uintptr_t end_for_ends;   /* further: ends of zones that are open must not fail */
    uint64_t generation;      /* upper byte of tokens */
    uint64_t locations[SB_LANE_LOCATIONS]; /* some tokens that were defined, each in its place */
} sb_lane;

/* The lane of this thread; NULL before its first event. */
extern SB_API __thread sb_lane *sb_this_lane_1 __attribute__((tls_model("initial-exec")));

/* Locations are 32 bytes long, so that neighbours have neighbouring places. */
static inline size_t sb_lane_place(uint64_t token) {
    return token / sizeof(sb_source_location) % SB_LANE_LOCATIONS;
}

#if defined(__x86_64__)

/* Word 0 of a record. */
static inline uint64_t sb_lane_stamp(uint64_t kind) {
    return __builtin_ia32_rdtsc() << 8 | kind;
}

/* Not 0: the begin is written. */
static inline int sb_zone_begin_in_place(const sb_source_location *location, uint64_t state) {
    sb_lane *lane = sb_this_lane_1;
    if (__builtin_expect(lane == NULL || lane->ready_for != state, 0))
        return 0;
    const uint64_t token = (uintptr_t)location | lane->generation;
    if (__builtin_expect(lane->locations[sb_lane_place(token)] != token, 0))
        return 0;
    lane->ready_for = SB_LANE_IS_WRITING;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t *at = lane->at;
    const int has_room = (uintptr_t)at < lane->end_for_begins;
    if (__builtin_expect(has_room, 1)) {
        at[1] = token;
        __atomic_store_n(at, sb_lane_stamp(SB_LANE_ZONE_BEGIN), __ATOMIC_RELEASE);
        __atomic_store_n(&lane->at, at + 2, __ATOMIC_RELEASE);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->ready_for = state;
    return has_room;
}

/* Not 0: the end is written. */
static inline int sb_zone_end_in_place(sb_zone zone) {
    sb_lane *lane = sb_this_lane_1;
    if (__builtin_expect(lane == NULL, 0))
        return 0;
    /* A session that has ended meanwhile does not matter: nobody will read it. */
    const uint64_t state = lane->ready_for;
    if (__builtin_expect((uint32_t)state != zone.session, 0))
        return 0;
    lane->ready_for = SB_LANE_IS_WRITING;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t *at = lane->at;
    const int has_room = (uintptr_t)at < lane->end_for_ends;
    if (__builtin_expect(has_room, 1)) {
        __atomic_store_n(at, sb_lane_stamp(SB_LANE_ZONE_END), __ATOMIC_RELEASE);
        __atomic_store_n(&lane->at, at + 1, __ATOMIC_RELEASE);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->ready_for = state;
    return has_room;
}

#else

static inline int sb_zone_begin_in_place(const sb_source_location *location, uint64_t state) {
    (void)location;
    (void)state;
    return 0;
}

static inline int sb_zone_end_in_place(sb_zone zone) {
    (void)zone;
    return 0;
}

#endif

#endif
