/* Zones from warps to the host on a GPU of threads: nothing is lost uncounted. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* What is recorded goes into a file, so that lanes are wanted. */
#define STROBE_ENABLE
#define STROBE_MANUAL_LIFETIME
#include <strobe/strobe.h>

#include "cuda_context_testing.h"

#include "testing.h"

typedef struct work {
    uint32_t sm;
    uint32_t blocks;
    uint32_t zones;  /* inside the outer one, for each warp */
    uint64_t launch; /* of the first block; 0: each block is a launch of its own */
    bool without_main;
    bool is_divergent;
    bool leaves_open;  /* the outer zone never ends */
    uint32_t pause_us; /* behind each block */
} work;

/* Two paths of a divergent warp would share an entry; threads that share one would be worse, so
   each SM is one thread. */
static void *run_sm(void *of) {
    const work *job = of;
    for (uint32_t block = 0; block < job->blocks; block++) {
        for (uint32_t warp = 0; warp < STAND_IN_WARPS; warp++) {
            stand_in = (stand_in_warp){.sm = job->sm,
                                       .launch = job->launch != 0 ? job->launch : block + 1,
                                       .block = job->launch != 0 ? block * STAND_IN_SMS + job->sm
                                                                 : job->sm,
                                       .warp = warp,
                                       .is_divergent = job->is_divergent};
            const unsigned main =
                stand_in_begin(job->without_main ? SB_CUDA_ZONE : SB_CUDA_MAIN, outer);
            for (uint32_t i = 0; i < job->zones; i++)
                stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
            if (job->leaves_open)
                continue;
            if (job->without_main)
                stand_in_end(main);
            else
                stand_in_end_main(main);
        }
        if (job->pause_us > 0)
            nanosleep(&(struct timespec){.tv_nsec = job->pause_us * 1000}, NULL);
    }
    return NULL;
}

/* As sb_cuda_flush does it. */
static void flush(cuda_context *context) {
    drain(context, CUDA_LOOK_RUNNING);
    const int64_t began = sb_clock_ns();
    cuda_context_end_wait(context, cuda_context_begin_reclaim(context, true), began);
    drain(context, CUDA_LOOK_ENDED);
}

/* Runs on all SMs, reading meanwhile if wanted, and reads what is left. */
static void run(cuda_context *context, work job, bool reads) {
    pthread_t threads[STAND_IN_SMS];
    work jobs[STAND_IN_SMS];
    for (uint32_t sm = 0; sm < STAND_IN_SMS; sm++) {
        jobs[sm] = job;
        jobs[sm].sm = sm;
        pthread_create(&threads[sm], NULL, run_sm, &jobs[sm]);
    }
    for (uint32_t i = 0; reads && i < 20; i++)
        drain(context, CUDA_LOOK_RUNNING);
    for (uint32_t sm = 0; sm < STAND_IN_SMS; sm++)
        pthread_join(threads[sm], NULL);
    flush(context);
}

static uint64_t zones_of(const work *job) {
    return (uint64_t)STAND_IN_SMS * STAND_IN_WARPS * job->blocks * (job->zones + 1);
}

static uint32_t lanes_of(const cuda_context *context) {
    uint32_t most = 0;
    for (uint32_t sm = 0; sm < STAND_IN_SMS; sm++)
        if (context->lanes[sm].count > most)
            most = context->lanes[sm].count;
    return most;
}

static void assert_nothing_open(const cuda_context *context) {
    for (uint32_t sm = 0; sm < STAND_IN_SMS; sm++)
        for (uint32_t i = 0; i < context->lanes[sm].count; i++)
            assert_int_equal(context->lanes[sm].lanes[i].depth, 0);
}

static void all_zones_arrive_while_kernels_run(void **state) {
    (void)state;
    cuda_context *context = open_context(512, false);
    const work job = {.blocks = 200, .zones = 20, .launch = 5, .pause_us = 20};
    run(context, job, true);
    assert_int_equal(context->counts.zones, zones_of(&job));
    assert_int_equal(context->pool.lost, 0);
    assert_int_equal(cuda_context_missed(context), 0);
    assert_nothing_open(context);
    /* One warp at a time, but for what fitted clocks are off by. */
    assert_true(lanes_of(context) <= STAND_IN_WARPS);
    close_context(context);
}

static void short_warps_share_chunks(void **state) {
    (void)state;
    cuda_context *context = open_context(64, false);
    const work job = {.blocks = 100, .zones = 1};
    run(context, job, false);
    assert_int_equal(context->counts.zones, zones_of(&job));
    assert_int_equal(context->pool.lost, 0);
    close_context(context);
}

static uint32_t taken_of(const cuda_context *context) {
    uint32_t taken = 0;
    for (uint32_t sm = 0; sm < STAND_IN_SMS; sm++)
        taken += context->pool.sms[sm].taken;
    return taken;
}

/* Through the stash, or without a main zone through shared memory: few chunks are ever drawn. */
static void chunks_go_from_block_to_block(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    work job = {.sm = 2, .blocks = 5, .zones = 2};
    uint64_t zones = 0;
    for (uint32_t i = 0; i < 12; i++) {
        job.launch = 300 + i;
        job.without_main = i % 3 == 2;
        job.is_divergent = i % 2 == 1;
        run_sm(&job);
        zones += zones_of(&job) / STAND_IN_SMS;
    }
    flush(context);
    assert_int_equal(context->counts.zones, zones);
    assert_int_equal(context->pool.lost, 0);
    /* 12 launches of 5 blocks: 5 or 6 slots for each warp, of which 56 are passed on. */
    assert_in_range(taken_of(context), STAND_IN_WARPS, STAND_IN_WARPS * 8);
    assert_nothing_open(context);
    close_context(context);
}

static void what_finds_no_room_is_counted(void **state) {
    (void)state;
    cuda_context *context = open_context(16, false);
    const work job = {.blocks = 200, .zones = 200, .launch = 9};
    run(context, job, false);
    assert_true(context->pool.lost > 0);
    assert_int_equal(context->counts.zones + context->pool.lost, zones_of(&job));
    /* And once there is room again, all is as before. */
    const uint64_t before = context->counts.zones;
    const uint64_t lost = context->pool.lost;
    const work small = {.blocks = 2, .zones = 30, .launch = 10};
    run(context, small, false);
    assert_int_equal(context->counts.zones + context->pool.lost, before + lost + zones_of(&small));
    assert_int_equal(context->pool.lost, lost);
    assert_nothing_open(context);
    close_context(context);
}

/* Threads that record until they are told to stop, while somebody looks. */
typedef struct busy_sm {
    work job;
    _Atomic bool *stop;
} busy_sm;

static void *run_busily(void *of) {
    busy_sm *self = of;
    while (!*self->stop) {
        run_sm(&self->job);
        self->job.launch++;
    }
    return NULL;
}

static void look_for(cuda_context *context, uint32_t looks) {
    for (uint32_t i = 0; i < looks; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        drain(context, CUDA_LOOK_RUNNING);
    }
}

/* Warps that find nothing, while the host is about to offer something, leave it to those to come.
 */
static void an_overload_is_overcome(void **state) {
    (void)state;
    cuda_context *context = open_context(64, false);
    _Atomic bool stop = false;
    busy_sm sms[STAND_IN_SMS];
    pthread_t threads[STAND_IN_SMS];
    for (uint32_t i = 0; i < STAND_IN_SMS; i++) {
        sms[i] = (busy_sm){{.sm = i, .blocks = 4, .zones = 200, .launch = 1000}, &stop};
        pthread_create(&threads[i], NULL, run_busily, &sms[i]);
    }
    look_for(context, 60);
    stop = true;
    for (uint32_t i = 0; i < STAND_IN_SMS; i++)
        pthread_join(threads[i], NULL);
    look_for(context, 64);
    assert_true(context->pool.lost > 0);
    /* Nobody has waited for anything; what follows finds room. */
    const uint64_t lost = context->pool.lost;
    const uint64_t zones = context->counts.zones;
    work light = {.sm = 1, .blocks = 5, .zones = 100};
    for (uint32_t i = 0; i < 20; i++) {
        light.launch = 5000 + i;
        run_sm(&light);
        look_for(context, 5);
    }
    assert_int_equal(context->pool.lost, lost);
    flush(context);
    assert_int_equal(context->counts.zones - zones, 20 * zones_of(&light) / STAND_IN_SMS);
    close_context(context);
}

static void forgotten_chunks_come_back(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    work job = {.blocks = 4, .zones = 3, .without_main = true};
    for (uint32_t i = 0; i < 20; i++) {
        job.launch = 100 + i;
        run(context, job, false);
    }
    assert_int_equal(context->counts.zones, 20 * zones_of(&job));
    assert_int_equal(context->pool.lost, 0);
    /* Replays of a graph have the same number, and find in shared memory what they left there. */
    for (uint32_t i = 0; i < 20; i++)
        run(context, job, false);
    assert_int_equal(context->counts.zones, 40 * zones_of(&job));
    assert_int_equal(context->pool.lost, 0);
    close_context(context);
}

/* They are taken back while others run: what was written last is too young to be told at first. */
static void forgotten_chunks_are_told_before_they_come_back(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    work job = {.blocks = 1, .zones = 3, .without_main = true};
    for (uint32_t i = 0; i < 10; i++) {
        job.launch = 500 + i;
        job.sm = i % STAND_IN_SMS;
        run_sm(&job);
        drain(context, CUDA_LOOK_RUNNING);
        const sb_cuda_gate before = *gate();
        const uint32_t reclaim = cuda_context_begin_reclaim(context, false);
        const sb_cuda_gate after = *gate();
        const int64_t began = sb_clock_ns();
        /* The same warps go on, with the key that they began with, and end. */
        *gate() = before;
        run_sm(&job);
        *gate() = after;
        cuda_context_end_wait(context, reclaim, began);
        drain(context, CUDA_LOOK_RUNNING);
        /* Until the young ones have come of age. */
        while (context->reclaim != CUDA_RESTING)
            drain(context, CUDA_LOOK_RUNNING);
        assert_int_equal(context->pool.taken_count, 0);
    }
    flush(context);
    assert_int_equal(context->counts.zones + context->pool.lost,
                     20 * zones_of(&job) / STAND_IN_SMS);
    assert_int_equal(context->pool.lost, 0);
    assert_int_equal(context->counts.unplaced, 0);
    assert_nothing_open(context);
    close_context(context);
}

/* Somebody waits for a kernel already; who waits for all that was launched takes back all. */
static void a_flush_takes_back_what_another_waits_for(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    work job = {.blocks = 1, .zones = 3, .without_main = true, .launch = 600};
    run_sm(&job);
    drain(context, CUDA_LOOK_RUNNING);
    const uint32_t first = cuda_context_begin_reclaim(context, false);
    assert_int_not_equal(first, 0);
    assert_int_equal(cuda_context_begin_reclaim(context, false), 0);
    job.launch = 601;
    run_sm(&job);
    flush(context);
    assert_int_equal(context->pool.taken_count, 0);
    assert_int_equal(context->counts.zones, 2 * zones_of(&job) / STAND_IN_SMS);
    /* The first one comes late, and its word counts for nothing. */
    job.launch = 602;
    run_sm(&job);
    drain(context, CUDA_LOOK_RUNNING);
    assert_int_not_equal(cuda_context_begin_reclaim(context, false), 0);
    cuda_context_end_wait(context, first, sb_clock_ns());
    assert_int_equal(context->reclaim, CUDA_WAITING);
    cuda_context_give_up_wait(context, first);
    assert_int_equal(context->reclaim, CUDA_WAITING);
    close_context(context);
}

static void spans_without_an_end_are_cut(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    for (uint32_t i = 0; i < 3; i++) {
        stand_in = (stand_in_warp){.sm = 1, .launch = 700 + i};
        const unsigned main = stand_in_begin(SB_CUDA_MAIN, outer);
        (void)stand_in_begin(SB_CUDA_SPAN, inner);
        stand_in_end_main(main);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        drain(context, CUDA_LOOK_RUNNING);
        /* Another warp may end it as long as the kernel runs. */
        assert_int_equal(context->counts.cut, i);
        flush(context);
        assert_int_equal(context->counts.cut, i + 1);
        assert_int_equal(context->counts.zones, 2 * (i + 1));
    }
    assert_nothing_open(context);
    close_context(context);
}

/* A GPU that is shared in parts may number SMs beyond those that the driver counts. */
static void zones_of_unknown_sms_are_counted(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    stand_in = (stand_in_warp){.sm = STAND_IN_SMS_MOST - 1, .launch = 1};
    for (uint32_t i = 0; i < 2 * SB_CUDA_CHUNK_SLOTS; i++)
        stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
    stand_in = (stand_in_warp){.sm = 0, .launch = 2};
    stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
    flush(context);
    assert_int_equal(context->counts.zones, 2 * SB_CUDA_CHUNK_SLOTS + 1);
    assert_int_equal(context->counts.unplaced, 2 * SB_CUDA_CHUNK_SLOTS);
    assert_int_equal(context->pool.lost, 0);
    assert_int_equal(context->pool.taken_count, 0);
    close_context(context);
}

/* Of a warp that has no entry in shared memory, since its block is larger than was said. */
static void warps_beyond_the_entries_touch_no_other(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    const uint64_t missed = cuda_context_missed(context);
    stand_in = (stand_in_warp){.sm = 0, .launch = 1, .warp = 1};
    stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
    stand_in_add(inner, 100);
    stand_in.warp = STAND_IN_WARPS + 1;
    stand_in_validate(false);
    stand_in_add(inner, 1);
    stand_in.warp = 1;
    stand_in_add(inner, 100);
    stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
    flush(context);
    assert_int_equal(context->counts.zones, 2);
    assert_int_equal(context->counts.others, 1);
    assert_int_equal(cuda_context_missed(context) - missed, 1);
    close_context(context);
}

static void zones_that_never_end_are_ended(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    work job = {.blocks = 1, .zones = 3, .without_main = true, .leaves_open = true};
    for (uint32_t i = 0; i < 30; i++) {
        job.launch = 200 + i;
        run(context, job, false);
    }
    assert_int_equal(context->counts.zones, 30 * zones_of(&job));
    assert_nothing_open(context);
    close_context(context);
}

static void a_trap_leaves_what_is_on_the_host(void **state) {
    (void)state;
    cuda_context *context = open_context(32, true);
    const work job = {.blocks = 2, .zones = 10, .launch = 3};
    /* Names are known from before. */
    run(context, job, false);
    work last = {.sm = 1, .blocks = 1, .zones = 4, .launch = 4, .leaves_open = true};
    run_sm(&last);
    stand_in_break(true);
    sb_error error = {0};
    assert_int_equal(cuda_drain(context, CUDA_LOOK_ENDED, &error), SB_ERR_DEVICE);
    stand_in_break(false);
    assert_non_null(strstr(error.message, "unspecified launch failure"));
    assert_int_equal(context->counts.zones, zones_of(&job) + (uint64_t)STAND_IN_WARPS * 5);
    assert_nothing_open(context);
    close_context(context);
}

static void look_often(cuda_context *context) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (uint32_t i = 0; i < 20; i++)
        drain(context, CUDA_LOOK_RUNNING);
}

/* The outer zone is in one chunk, the last inner one in another, in which nothing happens for long.
 */
static void an_outer_zone_does_not_end_before_those_inside(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    stand_in = (stand_in_warp){.sm = 3, .launch = 1};
    const unsigned main = stand_in_begin(SB_CUDA_MAIN, outer);
    for (uint32_t i = 0; i < SB_CUDA_CHUNK_SLOTS + 6; i++)
        stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
    const unsigned last = stand_in_begin(SB_CUDA_ZONE, inner);
    look_often(context);
    stand_in_end(last);
    stand_in_end_main(main);
    look_often(context);
    flush(context);
    assert_int_equal(context->counts.zones, SB_CUDA_CHUNK_SLOTS + 8);
    assert_int_equal(context->lanes[3].cut, 0);
    assert_nothing_open(context);
    close_context(context);
}

/* Looks at a chunk in which nothing happens are few, but not when its warp goes on in another. */
static void a_zone_ends_before_the_next_one_begins(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    stand_in = (stand_in_warp){.sm = 3, .launch = 1};
    const unsigned main = stand_in_begin(SB_CUDA_MAIN, outer);
    /* Behind the owner's slots and the main zone: the last one of the chunk. */
    for (uint32_t i = 3; i < SB_CUDA_CHUNK_SLOTS - 1; i++)
        stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
    const unsigned last = stand_in_begin(SB_CUDA_ZONE, inner);
    for (uint32_t looks = 0; looks < 7; looks++) {
        look_often(context);
        drain(context, CUDA_LOOK_RUNNING);
    }
    stand_in_end(last);
    const unsigned next = stand_in_begin(SB_CUDA_ZONE, inner);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    drain(context, CUDA_LOOK_RUNNING);
    stand_in_end(next);
    stand_in_end_main(main);
    flush(context);
    assert_int_equal(context->counts.zones, SB_CUDA_CHUNK_SLOTS - 3 + 2);
    assert_int_equal(context->lanes[3].cut, 0);
    assert_nothing_open(context);
    close_context(context);
}

static void data_events_and_sums_are_read(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    const uint32_t first = stand_in_place("first");
    const uint32_t second = stand_in_place("second");
    stand_in = (stand_in_warp){.sm = 2, .launch = 1};
    const unsigned main = stand_in_begin(SB_CUDA_MAIN, outer);
    stand_in_note(SB_CUDA_DATA, first, 42);
    stand_in_note(SB_CUDA_EVENT, 77, 0);
    for (uint32_t i = 0; i < 10; i++) {
        stand_in_add(first, 100);
        stand_in_add(first, 10);
        stand_in_add(second, 1);
    }
    stand_in_end_main(main);
    flush(context);
    assert_int_equal(context->counts.zones, 1);
    /* Two places that take turns: a record each time. */
    assert_int_equal(context->counts.others, 2 + 20);
    /* A replay of the graph: what it adds is not added to records that were told. */
    for (uint32_t i = 0; i < 3; i++) {
        const unsigned again = stand_in_begin(SB_CUDA_MAIN, outer);
        stand_in_add(second, 1);
        stand_in_add(second, 1);
        stand_in_end_main(again);
        flush(context);
        assert_int_equal(context->counts.others, 2 + 20 + 1 + i);
    }
    close_context(context);
}

/* A warp that fills chunks adds to the one that it is in. */
static void sums_do_not_keep_full_chunks(void **state) {
    (void)state;
    enum { WARPS = 20 };
    cuda_context *context = open_context(32, false);
    const uint32_t first = stand_in_place("first");
    for (uint32_t block = 0; block < WARPS; block++) {
        stand_in = (stand_in_warp){.sm = 1, .launch = 3, .block = block};
        const unsigned main = stand_in_begin(SB_CUDA_MAIN, outer);
        for (uint32_t i = 0; i < SB_CUDA_CHUNK_SLOTS + 20; i++) {
            stand_in_add(first, 10);
            stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
        }
        stand_in_end_main(main);
        look_for(context, 2);
    }
    look_for(context, 64);
    assert_int_equal(context->pool.taken_count, 1);
    /* A warp begins in what the one before has left, so it is in two or three. */
    assert_in_range(context->counts.others, 2 * WARPS, 3 * WARPS);
    assert_int_equal(context->pool.lost, 0);
    flush(context);
    close_context(context);
}

static void a_warp_that_is_not_valid_records_nothing(void **state) {
    (void)state;
    cuda_context *context = open_context(32, false);
    stand_in = (stand_in_warp){.sm = 0, .launch = 1};
    stand_in_validate(false);
    for (uint32_t i = 0; i < 100; i++)
        stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
    stand_in.block = 1;
    stand_in_validate(true);
    stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
    flush(context);
    assert_int_equal(context->counts.zones, 1);
    assert_int_equal(context->pool.lost, 0);
    close_context(context);
}

static void zones_before_the_attachment_are_missed(void **state) {
    (void)state;
    *gate() = (sb_cuda_gate){0};
    cuda_context *context = open_context(32, false);
    const uint64_t before = cuda_context_missed(context);
    const sb_cuda_gate attached = *gate();
    *gate() = (sb_cuda_gate){0};
    stand_in = (stand_in_warp){.sm = 0, .launch = 1};
    stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
    stand_in.warp = STAND_IN_WARPS + 1;
    *gate() = attached;
    stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
    assert_int_equal(cuda_context_missed(context) - before, 2);
    close_context(context);
}

/* The last case: it ends the recording. */
static void what_ends_while_nobody_records_is_let_go(void **state) {
    (void)state;
    enum { ZONES = 10 };
    unsigned open[ZONES];
    cuda_context *context = open_context(32, false);
    for (uint32_t i = 0; i < ZONES; i++) {
        stand_in = (stand_in_warp){.sm = 2, .launch = 7, .block = i};
        open[i] = stand_in_begin(SB_CUDA_ZONE, inner);
    }
    look_for(context, 2);
    assert_int_equal(context->counts.zones, ZONES);
    sb_client_stop();
    for (uint32_t i = 0; i < ZONES; i++)
        stand_in_end(open[i]);
    flush(context);
    assert_nothing_open(context);
    close_context(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_zones_arrive_while_kernels_run),
        cmocka_unit_test(short_warps_share_chunks),
        cmocka_unit_test(chunks_go_from_block_to_block),
        cmocka_unit_test(what_finds_no_room_is_counted),
        cmocka_unit_test(an_overload_is_overcome),
        cmocka_unit_test(forgotten_chunks_come_back),
        cmocka_unit_test(forgotten_chunks_are_told_before_they_come_back),
        cmocka_unit_test(a_flush_takes_back_what_another_waits_for),
        cmocka_unit_test(spans_without_an_end_are_cut),
        cmocka_unit_test(zones_of_unknown_sms_are_counted),
        cmocka_unit_test(warps_beyond_the_entries_touch_no_other),
        cmocka_unit_test(zones_that_never_end_are_ended),
        cmocka_unit_test(a_trap_leaves_what_is_on_the_host),
        cmocka_unit_test(an_outer_zone_does_not_end_before_those_inside),
        cmocka_unit_test(a_zone_ends_before_the_next_one_begins),
        cmocka_unit_test(data_events_and_sums_are_read),
        cmocka_unit_test(sums_do_not_keep_full_chunks),
        cmocka_unit_test(a_warp_that_is_not_valid_records_nothing),
        cmocka_unit_test(zones_before_the_attachment_are_missed),
        cmocka_unit_test(what_ends_while_nobody_records_is_let_go),
    };
    char path[] = "/tmp/strobe-cuda-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0 || sb_client_record_to_file(path) != 0)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sb_client_stop();
    close(file);
    unlink(path);
    return failed;
}
