#include <math.h>
#include <pthread.h>

#include "trace_testing.h"

/* ---- series ---- */

static void a_series_keeps_its_elements_in_place(void **state) {
    (void)state;
    enum { COUNT = 10000 };
    sb_series series;
    sb_series_init(&series, sizeof(uint32_t), NULL);
    const uint32_t *first = sb_series_push(&series);
    for (uint32_t i = 1; i < COUNT; i++)
        *(uint32_t *)sb_series_push(&series) = i;
    assert_ptr_equal(first, sb_series_at(&series, 0));
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(*(const uint32_t *)sb_series_at(&series, i), i);
    for (uint32_t i = 0; i + 1 < COUNT; i++) {
        const uint32_t *at = sb_series_at(&series, i);
        if (sb_series_run(i) > 1)
            assert_ptr_equal(at + 1, sb_series_at(&series, i + 1));
    }
    sb_series_free(&series);
}

static void a_sparse_series_reads_as_nothing_where_it_was_not_written(void **state) {
    (void)state;
    sb_series series;
    sb_series_init(&series, sizeof(uint32_t), NULL);
    *(uint32_t *)sb_series_slot(&series, 100000) = 7;
    assert_null(sb_series_find(&series, 5));
    assert_int_equal(*(const uint32_t *)sb_series_find(&series, 99999), 0);
    assert_int_equal(*(const uint32_t *)sb_series_find(&series, 100000), 7);
    assert_true(sb_series_bytes(&series) > 0);
    sb_series_free(&series);
}

/* ---- names ---- */

static void texts_get_one_number_each(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    const sb_string a = sb_trace_string(trace, sb_slice_of("a"));
    const sb_string added = sb_trace_add_string(trace, sb_slice_of("a"));
    const sb_string b = sb_trace_string(trace, sb_slice_of("b"));
    assert_int_equal(sb_trace_string(trace, sb_slice_of("a")), a);
    assert_int_equal(sb_trace_string(trace, sb_slice_of("b")), b);
    assert_int_not_equal(added, a);
    check_slice(sb_trace_text(trace, added), "a");
    check_slice(sb_trace_text(trace, 0), "");
    sb_trace_free(trace);
}

static void threads_are_numbered_in_order_of_appearance(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    for (uint64_t i = 1; i <= 1000; i++)
        assert_int_equal(sb_trace_thread(trace, i * 0x100000000), i);
    assert_int_equal(sb_trace_thread(trace, 500 * UINT64_C(0x100000000)), 500);
    assert_int_equal(sb_trace_find_thread(trace, 7), 0);
    assert_int_equal(sb_series_count(&trace->threads), 1001);
    sb_trace_free(trace);
}

static void sources_are_found_by_name(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    const sb_source named = {.name = sb_trace_string(trace, sb_slice_of("MatMul"))};
    const sb_source unnamed = {.function = sb_trace_string(trace, sb_slice_of("run_matmul"))};
    sb_trace_add_source(trace, &named);
    sb_trace_add_source(trace, &unnamed);
    assert_int_equal(sb_trace_search(trace, sb_slice_of("matmul"), false, 0), 1);
    assert_int_equal(sb_trace_search(trace, sb_slice_of("matmul"), false, 2), 2);
    assert_int_equal(sb_trace_search(trace, sb_slice_of("matmul"), true, 0), 2);
    assert_int_equal(sb_trace_search(trace, sb_slice_of("other"), false, 0), SB_NONE);
    sb_trace_free(trace);
}

/* ---- zones ---- */

/* Zones [0,100) [10,40) [20,30) [50,60) [200,-). */
static sb_track *make_small_track(sb_trace *trace) {
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, 0, SB_NONE);
    sb_track_begin(track, 0, 0);
    sb_track_begin(track, 10, 0);
    sb_track_begin(track, 20, 0);
    sb_track_end(track, 30);
    sb_track_end(track, 40);
    sb_track_begin(track, 50, 0);
    sb_track_end(track, 60);
    sb_track_end(track, 100);
    sb_track_begin(track, 200, 0);
    return track;
}

static void zones_know_their_parents_and_children(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    const sb_track *track = make_small_track(trace);
    assert_int_equal(sb_track_zone_parent(track, 0), SB_NONE);
    assert_int_equal(sb_track_zone_parent(track, 2), 1);
    assert_int_equal(sb_track_first_child(track, 0), 1);
    assert_int_equal(sb_track_next_sibling(track, 1), 3);
    assert_int_equal(sb_track_next_sibling(track, 3), SB_NONE);
    assert_int_equal(sb_track_next_sibling(track, 0), 4);
    assert_int_equal(sb_track_first_child(track, 3), SB_NONE);
    assert_int_equal(sb_track_zone_end(track, 1), 40);
    assert_int_equal(sb_track_zone_end(track, 4), SB_NO_TIME);
    sb_trace_free(trace);
}

static void long_and_backward_zones_keep_their_ends(void **state) {
    (void)state;
    static const int64_t ends[] = {INT64_MAX, 5, UINT32_MAX, (int64_t)UINT32_MAX + 100, -7};
    sb_trace *trace = sb_trace_create();
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, 0, SB_NONE);
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        sb_track_begin(track, 10, 0);
        sb_track_end(track, ends[i]);
    }
    for (uint32_t i = 0; i < COUNT_OF(ends); i++)
        assert_int_equal(sb_track_zone_end(track, i), ends[i]);
    sb_track_end(track, 3); /* nothing is open: no harm */
    sb_trace_free(trace);
}

typedef struct visited {
    uint32_t zones[1000];
    size_t count;
    size_t stop_at;
} visited;

static bool remember(void *context, const sb_track *track, uint32_t zone) {
    (void)track;
    visited *seen = context;
    seen->zones[seen->count++] = zone;
    return seen->count != seen->stop_at;
}

static void zones_of_a_range_come_outer_first(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    const sb_track *track = make_small_track(trace);
    visited seen = {.count = 0};
    sb_track_visit(track, (sb_range){25, 55}, remember, &seen);
    static const uint32_t expected[] = {0, 1, 2, 3};
    assert_int_equal(seen.count, 4);
    assert_memory_equal(seen.zones, expected, sizeof expected);
    seen = (visited){.stop_at = 2};
    sb_track_visit(track, SB_RANGE_ALL, remember, &seen);
    assert_int_equal(seen.count, 2);
    seen = (visited){.count = 0};
    sb_track_visit(track, (sb_range){300, 301}, remember, &seen);
    assert_int_equal(seen.count, 1); /* the one without an end */
    sb_trace_free(trace);
}

static bool touches(const sb_track *track, uint32_t zone, sb_range range) {
    const int64_t start = sb_track_zone_start(track, zone);
    const int64_t end = sb_track_zone_end(track, zone);
    return start < range.to && (end == SB_NO_TIME || end > range.from || start >= range.from);
}

static void check_range(const sb_track *track, sb_range range) {
    visited seen = {.count = 0};
    sb_track_visit(track, range, remember, &seen);
    size_t next = 0;
    for (uint32_t i = 0; i < sb_track_zone_count(track); i++) {
        if (touches(track, i, range))
            assert_int_equal(seen.zones[next++], i);
    }
    assert_int_equal(seen.count, next);
}

/* As kernels of a device do that run side by side, or zones whose end was lost. */
static void zones_that_overlap_are_all_in_their_ranges(void **state) {
    (void)state;
    static const int64_t ends[][3] = {
        {100, 20, 40},        /* the first reaches past the others */
        {SB_NO_TIME, 20, 40}, /* it has no end */
        {5, 35, 40},          /* the second does, into the third */
        {5, 20, 40},          /* none does */
    };
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        sb_trace *trace = sb_trace_create();
        sb_track *track =
            sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 7), SB_NONE);
        sb_track_add(track, 0, ends[i][0], 0);
        sb_track_begin(track, 10, 0);
        sb_track_add(track, 12, ends[i][1], 0); /* may leave the zone around it */
        sb_track_end(track, 20);
        sb_track_add(track, 30, ends[i][2], 0);
        assert_int_equal(track->overlapping, i < 3);
        for (int64_t from = 0; from < 110; from++) {
            check_range(track, (sb_range){from, from + 1});
            check_range(track, (sb_range){from, from + 7});
        }
        sb_trace_free(trace);
    }
}

static void ranges_agree_with_looking_at_every_zone(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 60; seed++) {
        sb_trace *trace = make_random_trace(seed);
        uint64_t random = seed;
        for (uint64_t t = 0; t < sb_series_count(&trace->tracks); t++) {
            const sb_track *track = sb_trace_track(trace, t);
            const int64_t from = (int64_t)below(&random, 200000);
            const sb_range range = {from, from + (int64_t)below(&random, 50000)};
            check_range(track, range);
        }
        sb_trace_free(trace);
    }
}

static void messages_and_losses_are_found_by_time(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    for (int64_t i = 0; i < 10; i++)
        sb_trace_add_message(trace, &(sb_message){.time = i * 10});
    uint64_t first = 0;
    uint64_t last = 0;
    sb_trace_messages_in(trace, (sb_range){15, 41}, &first, &last);
    assert_int_equal(first, 2);
    assert_int_equal(last, 5);
    sb_trace_add_loss(trace, &(sb_loss){.from = 0, .to = 10, .count = 3});
    sb_trace_add_loss(trace, &(sb_loss){.from = 50, .to = SB_NO_TIME, .count = 4});
    uint64_t lost = 0;
    assert_int_equal(sb_trace_losses_in(trace, (sb_range){5, 20}, &lost), 1);
    assert_int_equal(lost, 3);
    assert_int_equal(sb_trace_losses_in(trace, SB_RANGE_ALL, &lost), 2);
    assert_int_equal(lost, 7);
    sb_trace_free(trace);
}

/* ---- statistics ---- */

static void self_time_is_what_children_leave(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    sb_trace_add_source(trace, &(sb_source){.line = 1});
    make_small_track(trace);
    const sb_stats_options options = {
        .range = SB_RANGE_ALL, .with_self = true, .with_quantiles = true};
    sb_zone_stats *stats = sb_trace_stats(trace, &options);
    assert_int_equal(stats[0].count, 4); /* the open one is not counted */
    assert_int_equal(stats[0].total, 100 + 30 + 10 + 10);
    assert_int_equal(stats[0].self_total, 60 + 20 + 10 + 10);
    assert_int_equal(stats[0].self_min, 10);
    assert_int_equal(stats[0].self_max, 60);
    assert_int_equal(stats[0].median, 10);
    assert_int_equal(stats[0].p99, 100);
    check_near(stats[0].mean, 37.5);
    check_near(stats[0].deviation, sqrt((62.5 * 62.5 + 7.5 * 7.5 + 2 * 27.5 * 27.5) / 3));
    assert_int_equal(stats[1].count, 0);
    free(stats);
    const sb_stats_options inside = {.range = {10, 60}, .whole_only = true};
    stats = sb_trace_stats(trace, &inside);
    assert_int_equal(stats[0].count, 3);
    assert_int_equal(stats[0].total, 50);
    free(stats);
    sb_trace_free(trace);
}

static int compare_int64(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void quantiles_of_many_zones_are_exact(void **state) {
    (void)state;
    enum { COUNT = 40000 };
    static int64_t durations[COUNT];
    static const unsigned widths[] = {3, 9, 16, 24, 40, 62};
    for (size_t w = 0; w < COUNT_OF(widths); w++) {
        uint64_t random = 99 + w;
        sb_trace *trace = sb_trace_create();
        sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, 0, SB_NONE);
        for (size_t i = 0; i < COUNT; i++) {
            durations[i] = (int64_t)(next_random(&random) >> (64 - widths[w]));
            sb_track_begin(track, 0, 0);
            sb_track_end(track, durations[i]);
        }
        qsort(durations, COUNT, sizeof durations[0], compare_int64);
        const sb_stats_options options = {
            .range = SB_RANGE_ALL, .with_self = true, .with_quantiles = true};
        sb_zone_stats *stats = sb_trace_stats(trace, &options);
        assert_int_equal(stats[0].median, durations[(COUNT - 1) / 2]);
        assert_int_equal(stats[0].p99, durations[COUNT / 100 * 99 - 1]);
        assert_int_equal(stats[0].min, durations[0]);
        assert_int_equal(stats[0].max, durations[COUNT - 1]);
        free(stats);
        sb_trace_free(trace);
    }
}

/* ---- reading while it grows ---- */

enum { GROWN_ZONES = 200000 };

static void *grow(void *argument) {
    sb_track *track = argument;
    for (int64_t i = 0; i < GROWN_ZONES; i++) {
        sb_track_begin(track, i * 10, 0);
        sb_track_end(track, i * 10 + 5);
    }
    return NULL;
}

static void a_growing_track_can_be_read(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, 0, SB_NONE);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, grow, track), 0);
    uint64_t seen = 0;
    while (seen < GROWN_ZONES) {
        seen = sb_track_zone_count(track);
        for (uint64_t i = seen > 100 ? seen - 100 : 0; i < seen; i++) {
            const int64_t start = sb_track_zone_start(track, (uint32_t)i);
            const int64_t end = sb_track_zone_end(track, (uint32_t)i);
            assert_int_equal(start, i * 10);
            assert_true(end == SB_NO_TIME || end == start + 5);
        }
    }
    pthread_join(thread, NULL);
    const sb_stats_options options = {.range = SB_RANGE_ALL};
    sb_zone_stats *stats = sb_trace_stats(trace, &options);
    assert_int_equal(stats[0].count, GROWN_ZONES);
    free(stats);
    sb_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_keeps_its_elements_in_place),
        cmocka_unit_test(a_sparse_series_reads_as_nothing_where_it_was_not_written),
        cmocka_unit_test(texts_get_one_number_each),
        cmocka_unit_test(threads_are_numbered_in_order_of_appearance),
        cmocka_unit_test(sources_are_found_by_name),
        cmocka_unit_test(zones_know_their_parents_and_children),
        cmocka_unit_test(long_and_backward_zones_keep_their_ends),
        cmocka_unit_test(zones_of_a_range_come_outer_first),
        cmocka_unit_test(zones_that_overlap_are_all_in_their_ranges),
        cmocka_unit_test(ranges_agree_with_looking_at_every_zone),
        cmocka_unit_test(messages_and_losses_are_found_by_time),
        cmocka_unit_test(self_time_is_what_children_leave),
        cmocka_unit_test(quantiles_of_many_zones_are_exact),
        cmocka_unit_test(a_growing_track_can_be_read),
    };
    return RUN(tests);
}
