/* Zones of GPUs, the parts that need none: records, clocks, lanes, variables. */
#include "cuda/cuda_context.h"

#include "testing.h"

enum { SLOTS = SB_CUDA_CHUNK_SLOTS };

#define KIND(kind) ((sb_cuda_word)(kind) << SB_CUDA_KIND_SHIFT)
#define RATE 0.5 /* nanoseconds of a cycle */
/* Where the module's gate is, and where that is in its constant memory. */
#define GATE UINT64_C(0x700000100)
#define GATE_PLACE 0x100u

/* ---- chunks made by hand ---- */

static uint64_t timer_at(uint64_t clock) {
    return 1000000000 + clock / 2;
}

static void sign(sb_cuda_record *at, uint32_t sm, uint32_t warp, uint64_t launch, uint64_t clock) {
    at[0] = (sb_cuda_record){
        {KIND(SB_CUDA_WARP) | (sb_cuda_word)sm << 32 | warp, launch, 3ull << 48 | 2ull << 32 | 1}};
    at[1] = (sb_cuda_record){
        {KIND(SB_CUDA_ANCHOR) | 99ull << 16 | GATE_PLACE, clock, timer_at(clock), GATE}};
}

static sb_cuda_record zone(sb_cuda_kind kind, uint64_t place, uint64_t begin, uint64_t end) {
    return (sb_cuda_record){{KIND(kind) | place, begin, end, end != 0 ? timer_at(end) : 0}};
}

/* What is known of a chunk when a test ends. */
static void free_chunk(cuda_chunk *chunk) {
    cuda_chunk_free(chunk);
}

typedef struct collected {
    cuda_event events[256];
    size_t count;
} collected;

static void collect(void *context, const cuda_event *event) {
    collected *all = context;
    assert_true(all->count < COUNT_OF(all->events));
    all->events[all->count++] = *event;
}

/* All that a look at one chunk tells up to a time. What is known of clocks is kept. */
static collected look(const sb_cuda_record *records, cuda_chunk *told, int64_t until) {
    static cuda_clock_fit fit;
    collected all = {.count = 0};
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    if (fit.sums == NULL)
        assert_true(cuda_fit_open(&fit, 8, RATE));
    cuda_decode_range(records, told, &first, &last);
    cuda_fit_begin(&fit, first <= last ? first : 0, last);
    cuda_decode_anchors(records, told, &fit);
    cuda_fit_finish(&fit);
    cuda_decode_events(records, told, 5, &fit, until, INT64_MIN, collect, &all);
    return all;
}

static void a_chunk_is_told_as_it_fills(void **state) {
    (void)state;
    sb_cuda_record records[SLOTS] = {0};
    cuda_chunk told __attribute__((cleanup(free_chunk))) = {0};
    sign(records, 3, 7, 42, 1000);
    records[2] = zone(SB_CUDA_MAIN, 0x1000, 2000, 0);
    records[3] = zone(SB_CUDA_ZONE, 0x2000, 3000, 5000);
    collected all = look(records, &told, INT64_MAX - 1);
    assert_int_equal(all.count, 3);
    assert_int_equal(all.events[0].kind, CUDA_BEGIN);
    assert_true(all.events[0].is_main);
    assert_int_equal(all.events[0].time, timer_at(2000));
    assert_int_equal(all.events[0].end, CUDA_FOREVER);
    assert_int_equal(all.events[1].place, UINT64_C(0x700002000));
    assert_int_equal(all.events[1].end, timer_at(5000));
    assert_int_equal(all.events[2].kind, CUDA_END);
    assert_int_equal(all.events[2].value, 2000);
    const cuda_owner *owner = &all.events[0].owner;
    assert_int_equal(owner->launch, 42);
    assert_int_equal(owner->block[0], 1);
    assert_int_equal(owner->block[1], 2);
    assert_int_equal(owner->block[2], 3);
    assert_int_equal(owner->warp, 7);
    assert_int_equal(owner->sm, 3);
    assert_int_equal(owner->program, 99);
    /* Nothing is told twice. */
    all = look(records, &told, INT64_MAX - 1);
    assert_int_equal(all.count, 0);
    records[2] = zone(SB_CUDA_MAIN, 0x1000, 2000, 9000);
    all = look(records, &told, INT64_MAX - 1);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.events[0].kind, CUDA_END);
    assert_int_equal(all.events[0].record, 5 * SLOTS + 2);
}

static void what_is_too_young_waits(void **state) {
    (void)state;
    sb_cuda_record records[SLOTS] = {0};
    cuda_chunk told __attribute__((cleanup(free_chunk))) = {0};
    sign(records, 0, 0, 1, 1000);
    records[2] = zone(SB_CUDA_ZONE, 0x1000, 2000, 4000);
    records[3] = zone(SB_CUDA_ZONE, 0x1000, 5000, 6000);
    collected all = look(records, &told, (int64_t)timer_at(3000));
    assert_int_equal(all.count, 1);
    all = look(records, &told, (int64_t)timer_at(7000));
    assert_int_equal(all.count, 3);
}

static void data_events_sums_and_spans_are_told(void **state) {
    (void)state;
    sb_cuda_record records[SLOTS] = {0};
    cuda_chunk told __attribute__((cleanup(free_chunk))) = {0};
    sign(records, 1, 0, 1, 1000);
    records[2] = (sb_cuda_record){{KIND(SB_CUDA_DATA) | 0x10, 2000, 1234, 1}};
    records[3] = (sb_cuda_record){{KIND(SB_CUDA_EVENT) | 77, 2100, 0, 1}};
    records[4] = (sb_cuda_record){{KIND(SB_CUDA_SUM) | 0x20, 2200, 500, 3}};
    records[5] = zone(SB_CUDA_SPAN, 0x30, 2300, 0);
    collected all = look(records, &told, INT64_MAX - 1);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.events[0].kind, CUDA_DATA);
    assert_int_equal(all.events[0].value, 1234);
    assert_int_equal(all.events[1].kind, CUDA_NUMBER);
    assert_int_equal(all.events[1].place, 77);
    /* The span ends; the warp leaves, so that its sum is final. */
    records[5].word[2] = 2900;
    records[5].word[3] = SB_CUDA_ON_SM | 1;
    records[6] = (sb_cuda_record){{KIND(SB_CUDA_DONE)}};
    all = look(records, &told, INT64_MAX - 1);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.events[0].kind, CUDA_SUM);
    assert_int_equal(all.events[0].value, 500);
    assert_int_equal(all.events[0].times, 3);
    assert_int_equal(all.events[1].kind, CUDA_WHOLE_SPAN);
    assert_int_equal(all.events[1].end, timer_at(2900));
}

static void several_warps_share_a_chunk(void **state) {
    (void)state;
    sb_cuda_record records[SLOTS] = {0};
    cuda_chunk told __attribute__((cleanup(free_chunk))) = {0};
    sign(records, 1, 4, 1, 1000);
    records[2] = zone(SB_CUDA_MAIN, 0x10, 1000, 2000);
    records[3] = (sb_cuda_record){{KIND(SB_CUDA_DONE)}};
    assert_true(cuda_decode_state(records).is_done);
    assert_false(cuda_decode_state(records).is_complete);
    sign(records + 4, 1, 5, 2, 3000);
    records[6] = zone(SB_CUDA_MAIN, 0x10, 3000, 0);
    assert_false(cuda_decode_state(records).is_done);
    assert_int_equal(cuda_decode_state(records).owner_slot, 4);
    const collected all = look(records, &told, INT64_MAX - 1);
    assert_int_equal(all.count, 3);
    assert_int_equal(all.events[0].owner.warp, 4);
    assert_int_equal(all.events[2].owner.warp, 5);
    /* Retired with an open zone, then without. */
    records[0].word[3] = SB_CUDA_RETIRED | 7;
    assert_int_equal(cuda_decode_state(records).used, 7);
    assert_false(cuda_decode_state(records).is_complete);
    records[6] = zone(SB_CUDA_MAIN, 0x10, 3000, 4000);
    assert_true(cuda_decode_state(records).is_complete);
}

/* A warp that was stopped amid a zone; the next one has inherited its chunk. */
static void zones_of_warps_that_have_ended_end(void **state) {
    (void)state;
    sb_cuda_record records[SLOTS] = {0};
    cuda_chunk told __attribute__((cleanup(free_chunk))) = {0};
    sign(records, 1, 4, 1, 1000);
    records[2] = zone(SB_CUDA_ZONE, 0x10, 2000, 0);
    records[3] = zone(SB_CUDA_SPAN, 0x10, 2000, 0);
    sign(records + 4, 1, 4, 1, 5000);
    records[6] = zone(SB_CUDA_ZONE, 0x10, 6000, 7000);
    /* The same again, so it may still run. */
    collected all = look(records, &told, INT64_MAX - 1);
    assert_int_equal(all.count, 3);
    assert_int_equal(all.events[0].end, CUDA_FOREVER);
    sign(records + 7, 1, 5, 1, 8000);
    records[9] = zone(SB_CUDA_ZONE, 0x10, 8000, 9000);
    all = look(records, &told, INT64_MAX - 1);
    assert_int_equal(all.count, 3);
    assert_int_equal(all.events[0].kind, CUDA_END);
    assert_int_equal(all.events[0].record, 5 * SLOTS + 2);
    assert_int_equal(all.events[0].time, timer_at(5000));
    /* Spans may end elsewhere. */
    records[0].word[3] = SB_CUDA_RETIRED | 10;
    assert_false(cuda_decode_state(records).is_complete);
    records[3].word[2] = 3000;
    assert_true(cuda_decode_state(records).is_complete);
}

static void a_full_chunk_is_complete_when_all_have_ended(void **state) {
    (void)state;
    sb_cuda_record records[SLOTS] = {0};
    sign(records, 1, 4, 1, 1000);
    for (uint64_t i = 2; i < SLOTS; i++)
        records[i] = zone(SB_CUDA_ZONE, 0x10, i * 1000, i * 1000 + 500);
    assert_true(cuda_decode_state(records).is_complete);
    records[20].word[2] = 0;
    assert_false(cuda_decode_state(records).is_complete);
    /* A slot that was claimed and never written. */
    records[20] = (sb_cuda_record){{0}};
    assert_false(cuda_decode_state(records).is_complete);
}

/* ---- clocks ---- */

static void clocks_of_sms_are_fitted(void **state) {
    (void)state;
    enum { SMS = 4, SPAN_NS = 3000000 };
    cuda_clock_fit fit;
    assert_true(cuda_fit_open(&fit, SMS, 0.6));
    const double rate = 1 / 1.98;
    const uint64_t origin = UINT64_C(1800000000000000000);
    cuda_fit_begin(&fit, origin, origin + SPAN_NS);
    for (uint32_t sm = 0; sm < 3; sm++)
        for (uint64_t ns = 0; ns < SPAN_NS; ns += 977)
            cuda_fit_add(&fit, sm, (uint64_t)((double)ns / rate) + sm * 1000000007ull,
                         (origin + ns) / 32 * 32);
    cuda_fit_finish(&fit);
    for (uint32_t sm = 0; sm < 3; sm++)
        for (uint64_t ns = 100; ns < SPAN_NS; ns += 12345) {
            int64_t time;
            assert_true(cuda_fit_convert(
                &fit, sm, (uint64_t)((double)ns / rate) + sm * 1000000007ull, &time));
            const int64_t off = time - (int64_t)(origin + ns);
            if (off < -40 || off > 40)
                fail_msg("off by %lld ns", (long long)off);
        }
    int64_t time;
    assert_false(cuda_fit_convert(&fit, 3, 1, &time));
    assert_false(cuda_fit_convert(&fit, SMS, 1, &time));
    /* What is not seen in the next look goes by what was known. */
    cuda_fit_begin(&fit, origin + 2 * SPAN_NS, origin + 3 * SPAN_NS);
    cuda_fit_finish(&fit);
    assert_true(cuda_fit_convert(&fit, 0, (uint64_t)(2.5 * SPAN_NS / rate), &time));
    assert_true(llabs(time - (int64_t)(origin + (uint64_t)(2.5 * SPAN_NS))) < 200);
    cuda_fit_close(&fit);
}

/* Groups of SMs have clocks of their own: short launches over half a
   millisecond, one SM of them seldom seen. */
static void clocks_of_sms_may_differ(void **state) {
    (void)state;
    enum { SMS = 3, LAUNCH_NS = 12000, SPAN_NS = 600000 };
    static const double mhz[SMS] = {1980, 1870, 1870};
    cuda_clock_fit fit;
    assert_true(cuda_fit_open(&fit, SMS, 1 / 1.98));
    const uint64_t origin = UINT64_C(1800000000000000000);
    cuda_fit_begin(&fit, origin, origin + SPAN_NS);
    for (uint32_t sm = 0; sm < SMS; sm++)
        for (uint64_t begin = 0; begin < SPAN_NS; begin += sm == 2 ? 3 * LAUNCH_NS : LAUNCH_NS)
            for (uint64_t ns = begin; ns < begin + 1600; ns += 400)
                cuda_fit_add(&fit, sm, (uint64_t)((double)ns * mhz[sm] / 1000),
                             (origin + ns) / 32 * 32);
    cuda_fit_finish(&fit);
    for (uint32_t sm = 0; sm < SMS; sm++)
        for (uint64_t ns = 800; ns < SPAN_NS; ns += 3 * LAUNCH_NS) {
            int64_t time;
            assert_true(cuda_fit_convert(&fit, sm, (uint64_t)((double)ns * mhz[sm] / 1000), &time));
            const int64_t off = time - (int64_t)(origin + ns);
            if (off < -80 || off > 80)
                fail_msg("SM %u: off by %lld ns", sm, (long long)off);
        }
    cuda_fit_close(&fit);
}

/* A zone may begin long after the last anchor of its SM, and shortly before the next. */
static void a_pause_between_anchors_is_bridged(void **state) {
    (void)state;
    enum { PAUSE_NS = 50000000, SHORT_NS = 16000 };
    const double rate = 1 / 1.98;
    const uint64_t origin = UINT64_C(1800000000000000000);
    cuda_clock_fit fit;
    assert_true(cuda_fit_open(&fit, 1, 0.6));
    cuda_fit_begin(&fit, origin, origin + PAUSE_NS + SHORT_NS);
    for (uint64_t begin = 0; begin <= PAUSE_NS; begin += PAUSE_NS)
        for (uint64_t ns = begin; ns <= begin + SHORT_NS; ns += SHORT_NS - 17)
            cuda_fit_add(&fit, 0, (uint64_t)((double)ns / rate), (origin + ns) / 32 * 32);
    cuda_fit_finish(&fit);
    static const uint64_t moments[] = {1000000, PAUSE_NS / 2, PAUSE_NS - 1000};
    for (size_t i = 0; i < COUNT_OF(moments); i++) {
        int64_t time;
        assert_true(cuda_fit_convert(&fit, 0, (uint64_t)((double)moments[i] / rate), &time));
        const int64_t off = time - (int64_t)(origin + moments[i]);
        if (off < -80 || off > 80)
            fail_msg("%llu ns: off by %lld ns", (unsigned long long)moments[i], (long long)off);
    }
    cuda_fit_close(&fit);
}

/* A quarter of a second of launches: more windows than there is room for. */
static void windows_that_are_too_many_are_joined(void **state) {
    (void)state;
    enum { SMS = 2, STEP_NS = 21001, SPAN_NS = 250000000 };
    static const double mhz[SMS] = {1500, 1400};
    cuda_clock_fit fit;
    assert_true(cuda_fit_open(&fit, SMS, 1 / 1.5));
    const uint64_t origin = UINT64_C(1800000000000000000);
    cuda_fit_begin(&fit, origin, origin + SPAN_NS);
    for (uint64_t ns = 0; ns < SPAN_NS; ns += STEP_NS)
        for (uint32_t sm = 0; sm < SMS; sm++)
            cuda_fit_add(&fit, sm, (uint64_t)((double)ns * mhz[sm] / 1000),
                         (origin + ns) / 32 * 32);
    cuda_fit_finish(&fit);
    assert_true(fit.window_count > CUDA_WINDOWS / 2 - 2 && fit.window_count <= CUDA_WINDOWS);
    for (uint64_t ns = 0; ns < SPAN_NS; ns += 77777)
        for (uint32_t sm = 0; sm < SMS; sm++) {
            int64_t time;
            assert_true(cuda_fit_convert(&fit, sm, (uint64_t)((double)ns * mhz[sm] / 1000), &time));
            const int64_t off = time - (int64_t)(origin + ns);
            if (off < -40 || off > 40)
                fail_msg("SM %u: off by %lld ns", sm, (long long)off);
        }
    cuda_fit_close(&fit);
}

static void a_short_launch_keeps_the_known_rate(void **state) {
    (void)state;
    cuda_clock_fit fit;
    assert_true(cuda_fit_open(&fit, 1, 0.5));
    cuda_fit_begin(&fit, 1000000, 1000100);
    cuda_fit_add(&fit, 0, 5000, 1000000);
    cuda_fit_add(&fit, 0, 5200, 1000032);
    cuda_fit_finish(&fit);
    int64_t first;
    int64_t second;
    assert_true(cuda_fit_convert(&fit, 0, 5000, &first));
    assert_true(cuda_fit_convert(&fit, 0, 5200, &second));
    assert_int_equal(second - first, 100);
    cuda_fit_close(&fit);
}

static void the_host_is_found_by_round_trips(void **state) {
    (void)state;
    cuda_sync_sample samples[100];
    for (int64_t i = 0; i < 100; i++) {
        const int64_t host = 5000000000 + i * 50000000;
        /* Every third answer is late, on its way back. */
        const int64_t trip = 1500 + (i % 3 == 0 ? 40000 : i % 7 * 10);
        const double timer = 1e9 + (double)(host + 750 - 5000000000) * (1 + 20e-6);
        samples[i] = (cuda_sync_sample){host, host + trip, (uint64_t)timer};
    }
    const cuda_sync_line line = cuda_sync_fit(samples, COUNT_OF(samples));
    assert_int_equal(line.used, 66);
    assert_true(line.error_ns > 700 && line.error_ns < 900);
    assert_true(line.rate > 1 - 21e-6 && line.rate < 1 - 19e-6);
    const int64_t host = 5000000000 + 2500000000;
    const int64_t timer = (int64_t)(1e9 + 2.5e9 * (1 + 20e-6));
    assert_true(llabs(cuda_sync_host(&line, timer) - host) < 100);
    assert_true(llabs(cuda_sync_timer(&line, host) - timer) < 100);
    assert_int_equal(cuda_sync_fit(samples, 0).used, 0);
}

/* ---- lanes ---- */

typedef struct told_lane {
    char text[512];
} told_lane;

static uint32_t tell_begin(void *context, uint32_t lane, const cuda_event *event) {
    told_lane *told = context;
    snprintf(told->text + strlen(told->text), sizeof told->text - strlen(told->text),
             "%u+%llu@%lld ", lane, (unsigned long long)event->record, (long long)event->time);
    return (uint32_t)event->record;
}

static void tell_end(void *context, uint32_t sm, uint32_t lane, int64_t time, uint32_t mark) {
    told_lane *told = context;
    assert_int_equal(sm, 6);
    snprintf(told->text + strlen(told->text), sizeof told->text - strlen(told->text), "%u-%u@%lld ",
             lane, mark, (long long)time);
}

static void tell_note(void *context, uint32_t lane, const cuda_event *event) {
    told_lane *told = context;
    snprintf(told->text + strlen(told->text), sizeof told->text - strlen(told->text),
             "%u=%llu@%lld ", lane, (unsigned long long)event->value, (long long)event->time);
}

static void put_zone(collected *all, uint32_t warp, uint64_t record, int64_t begin, int64_t end) {
    cuda_event event = {.kind = CUDA_BEGIN,
                        .time = begin,
                        .end = end,
                        .record = record,
                        .owner = {.launch = 1, .warp = warp}};
    all->events[all->count++] = event;
    if (end == CUDA_FOREVER)
        return;
    event.kind = CUDA_END;
    event.time = end;
    all->events[all->count++] = event;
}

static void put_lanes(cuda_lanes *lanes, collected *all, const char *expected) {
    told_lane told = {""};
    const cuda_lane_sink sink = {
        .begin = tell_begin, .end = tell_end, .note = tell_note, .context = &told, .sm = 6};
    cuda_lanes_put(lanes, all->events, all->count, &sink);
    assert_string_equal(told.text, expected);
    all->count = 0;
}

static void zones_of_a_warp_nest_in_its_lane(void **state) {
    (void)state;
    cuda_lanes lanes = {0};
    collected all = {.count = 0};
    put_zone(&all, 0, 1, 10, 100);
    put_zone(&all, 0, 2, 10, 50);
    put_zone(&all, 0, 3, 50, 90);
    put_zone(&all, 1, 4, 20, 30);
    put_lanes(&lanes, &all, "0+1@10 0+2@10 1+4@20 1-4@30 0-2@50 0+3@50 0-3@90 0-1@100 ");
    /* The next warp takes a lane that is free. */
    put_zone(&all, 2, 5, 110, 111);
    put_lanes(&lanes, &all, "0+5@110 0-5@111 ");
    assert_int_equal(lanes.count, 2);
    cuda_lanes_free(&lanes);
}

static void put_note(collected *all, cuda_event_kind kind, uint32_t warp, uint64_t value,
                     int64_t time) {
    all->events[all->count++] = (cuda_event){.kind = kind,
                                             .time = time,
                                             .end = time,
                                             .value = value,
                                             .owner = {.launch = 1, .warp = warp}};
}

static void values_lie_in_the_lane_of_their_warp(void **state) {
    (void)state;
    cuda_lanes lanes = {0};
    collected all = {.count = 0};
    /* Nobody has a lane yet. */
    put_note(&all, CUDA_DATA, 1, 7, 5);
    put_zone(&all, 0, 1, 10, 100);
    put_zone(&all, 1, 2, 20, 90);
    put_note(&all, CUDA_DATA, 1, 8, 30);
    put_note(&all, CUDA_NUMBER, 0, 9, 40);
    put_lanes(&lanes, &all, "0=7@5 0+1@10 1+2@20 1=8@30 0=9@40 1-2@90 0-1@100 ");
    /* Told when the warp has left, of what happened before: nothing goes back in time. */
    put_note(&all, CUDA_SUM, 0, 10, 50);
    put_lanes(&lanes, &all, "0=10@100 ");
    cuda_lanes_free(&lanes);
}

static void open_zones_wait_for_their_end(void **state) {
    (void)state;
    cuda_lanes lanes = {0};
    collected all = {.count = 0};
    put_zone(&all, 0, 1, 10, CUDA_FOREVER);
    put_zone(&all, 0, 2, 20, 30);
    put_zone(&all, 1, 3, 40, 50);
    put_lanes(&lanes, &all, "0+1@10 0+2@20 0-2@30 1+3@40 1-3@50 ");
    all.events[all.count++] =
        (cuda_event){.kind = CUDA_END, .time = 60, .record = 1, .owner = {.launch = 1}};
    put_lanes(&lanes, &all, "0-1@60 ");
    cuda_lanes_free(&lanes);
}

static void paths_that_overlap_lie_side_by_side(void **state) {
    (void)state;
    cuda_lanes lanes = {0};
    collected all = {.count = 0};
    put_zone(&all, 0, 1, 10, 50);
    put_zone(&all, 0, 2, 30, 80);
    put_lanes(&lanes, &all, "0+1@10 1+2@30 0-1@50 1-2@80 ");
    assert_int_equal(lanes.cut, 0);
    /* If nothing is known of the ends, the inner one is cut off. */
    put_zone(&all, 0, 3, 100, CUDA_FOREVER);
    put_zone(&all, 0, 4, 110, CUDA_FOREVER);
    put_lanes(&lanes, &all, "1+3@100 1+4@110 ");
    all.events[all.count++] =
        (cuda_event){.kind = CUDA_END, .time = 120, .record = 3, .owner = {.launch = 1}};
    all.events[all.count++] =
        (cuda_event){.kind = CUDA_END, .time = 130, .record = 4, .owner = {.launch = 1}};
    put_lanes(&lanes, &all, "1-4@120 1-3@120 ");
    assert_int_equal(lanes.cut, 1);
    cuda_lanes_free(&lanes);
}

/* A graph's replays have the same launch, block and warp; an earlier one may be told later. */
static void replays_are_told_apart_by_time(void **state) {
    (void)state;
    cuda_lanes lanes = {0};
    collected all = {.count = 0};
    put_zone(&all, 0, 1, 200000, CUDA_FOREVER);
    put_lanes(&lanes, &all, "0+1@200000 ");
    put_zone(&all, 0, 2, 100000, 100500);
    put_zone(&all, 0, 3, 199990, 200500);
    put_lanes(&lanes, &all, "1+2@100000 1-2@100500 0+3@200000 0-3@200500 ");
    cuda_lanes_free(&lanes);
}

static void times_in_a_lane_never_go_back(void **state) {
    (void)state;
    cuda_lanes lanes = {0};
    collected all = {.count = 0};
    put_zone(&all, 0, 1, 10, CUDA_FOREVER);
    put_zone(&all, 0, 2, 20, 100);
    put_lanes(&lanes, &all, "0+1@10 0+2@20 0-2@100 ");
    put_zone(&all, 0, 3, 95, 120);
    put_lanes(&lanes, &all, "0+3@100 0-3@120 ");
    cuda_lanes_free(&lanes);
}

/* ---- variables ---- */

static void variables_are_understood(void **state) {
    (void)state;
    cuda_options options;
    assert_true(cuda_options_parse(&options, "600", "host", "sm=4,launch=10", "zones.csv"));
    assert_int_equal(options.chunks_per_sm, 1024);
    assert_true(options.is_on_host);
    assert_int_equal(options.every_sm, 4);
    assert_int_equal(options.every_block, 1);
    assert_int_equal(options.every_launch, 10);
    assert_string_equal(options.log, "zones.csv");
    static const char *const samples[] = {"sm",     "sm=",          "sm=0",          "sm=x",
                                          "lane=3", "sm=4;block=2", "sm=99999999999"};
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        assert_false(cuda_options_parse(&options, NULL, NULL, samples[i], NULL));
    assert_false(cuda_options_parse(&options, "3", NULL, NULL, NULL));
    assert_int_equal(options.chunks_per_sm, 512);
    assert_false(cuda_options_parse(&options, NULL, "disk", NULL, NULL));
}

static void without_a_gpu_one_sentence_says_so(void **state) {
    (void)state;
    sb_error error = {0};
    if (sb_cuda_attach(&error) == SB_OK)
        skip();
    assert_true(error.status == SB_ERR_NOT_FOUND || error.status == SB_ERR_DEVICE);
    assert_non_null(strstr(error.message, "CUDA driver"));
    assert_int_equal(sb_cuda_flush(&error), SB_OK);
    assert_int_equal(sb_cuda_count().zones, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_is_told_as_it_fills),
        cmocka_unit_test(what_is_too_young_waits),
        cmocka_unit_test(data_events_sums_and_spans_are_told),
        cmocka_unit_test(several_warps_share_a_chunk),
        cmocka_unit_test(zones_of_warps_that_have_ended_end),
        cmocka_unit_test(a_full_chunk_is_complete_when_all_have_ended),
        cmocka_unit_test(clocks_of_sms_are_fitted),
        cmocka_unit_test(clocks_of_sms_may_differ),
        cmocka_unit_test(a_pause_between_anchors_is_bridged),
        cmocka_unit_test(windows_that_are_too_many_are_joined),
        cmocka_unit_test(a_short_launch_keeps_the_known_rate),
        cmocka_unit_test(the_host_is_found_by_round_trips),
        cmocka_unit_test(zones_of_a_warp_nest_in_its_lane),
        cmocka_unit_test(values_lie_in_the_lane_of_their_warp),
        cmocka_unit_test(open_zones_wait_for_their_end),
        cmocka_unit_test(paths_that_overlap_lie_side_by_side),
        cmocka_unit_test(replays_are_told_apart_by_time),
        cmocka_unit_test(times_in_a_lane_never_go_back),
        cmocka_unit_test(variables_are_understood),
        cmocka_unit_test(without_a_gpu_one_sentence_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
