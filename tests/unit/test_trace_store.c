/*
 * Traces that keep part of themselves in a file: the same answers in a bounded amount of memory.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "trace_testing.h"

enum { MEGABYTE = 1 << 20, BOUND = 8 * MEGABYTE, ZONES = 1000000 };

/* Memory of this process that is mapped from files, as what a trace has beyond its bound. */
static uint64_t file_bytes_in_memory(void) {
    char line[256];
    unsigned long long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    assert_non_null(status);
    while (fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "RssFile: %llu", &kilobytes) == 1)
            break;
    }
    fclose(status);
    return kilobytes * 1024;
}

static sb_trace *create_bounded(uint64_t bytes) {
    const sb_trace_bound bound = {.bytes = bytes};
    sb_trace *trace = NULL;
    sb_error error = {0};
    if (sb_trace_create_bounded(&bound, &trace, &error) != SB_OK)
        fail_msg("%s", error.message);
    return trace;
}

/* Zone i of a long recording: every fourth is around the three that follow. */
static void record_zone(sb_track *track, uint32_t i) {
    const int64_t time = (int64_t)i * 10;
    sb_track_begin(track, time, i % 3);
    if (i % 4 != 0)
        sb_track_end(track, time + 5);
    if (i % 4 == 3)
        sb_track_end(track, time + 8);
}

static void add_sources(sb_trace *trace) {
    for (uint32_t i = 0; i < 3; i++)
        sb_trace_add_source(trace, &(sb_source){.line = i});
}

static void a_long_recording_stays_within_its_bound(void **state) {
    (void)state;
    sb_trace *trace = create_bounded(BOUND);
    add_sources(trace);
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, 0, SB_NONE);
    const uint64_t before = file_bytes_in_memory();
    uint64_t most = before;
    for (uint32_t i = 0; i < ZONES; i++) {
        record_zone(track, i);
        if (i % 1024 == 0) {
            sb_trace_add_message(trace, &(sb_message){.time = (int64_t)i * 10});
            const uint64_t now = file_bytes_in_memory();
            most = now > most ? now : most;
        }
    }
    /* 20 bytes a zone were written: what did not go to the file is within the bound. */
    assert_true(sb_store_spilled(trace->store) >= UINT64_C(20) * ZONES - BOUND);
    assert_int_equal(sb_store_failure(trace->store), 0);
    assert_in_range(most - before, 0, BOUND + MEGABYTE);
    sb_trace_trim(trace);
    assert_in_range(file_bytes_in_memory(), 0, before + MEGABYTE);
    for (uint32_t i = 0; i < ZONES; i++) {
        assert_int_equal(sb_track_zone_start(track, i), (int64_t)i * 10);
        assert_int_equal(sb_track_zone_source(track, i), i % 3);
        const int64_t end = (int64_t)i * 10 + (i % 4 == 0 ? 38 : 5);
        assert_int_equal(sb_track_zone_end(track, i), end);
        assert_int_equal(sb_track_zone_parent(track, i), i % 4 == 0 ? SB_NONE : i / 4 * 4);
    }
    assert_int_equal(sb_series_count(&trace->messages), (ZONES + 1023) / 1024);
    sb_trace_free(trace);
}

static void a_trace_below_its_bound_needs_no_file(void **state) {
    (void)state;
    sb_trace *trace = create_bounded(UINT64_C(32) * MEGABYTE);
    add_sources(trace);
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, 0, SB_NONE);
    for (uint32_t i = 0; i < ZONES; i++)
        record_zone(track, i);
    assert_int_equal(sb_store_spilled(trace->store), 0);
    sb_trace_free(trace);
}

static void counting_a_spilled_trace_stays_within_its_bound(void **state) {
    (void)state;
    sb_trace *bounded = create_bounded(BOUND);
    sb_trace *whole = sb_trace_create();
    sb_trace *const both[] = {bounded, whole};
    for (size_t k = 0; k < COUNT_OF(both); k++) {
        add_sources(both[k]);
        sb_track *track = sb_trace_add_track(both[k], SB_TRACK_THREAD, 0, SB_NONE);
        for (uint32_t i = 0; i < ZONES; i++)
            record_zone(track, i);
    }
    sb_trace_trim(bounded);
    const uint64_t before = file_bytes_in_memory();
    const sb_stats_options options = {
        .range = SB_RANGE_ALL, .with_self = true, .with_quantiles = true};
    sb_zone_stats *stats = sb_trace_stats(bounded, &options);
    sb_zone_stats *expected = sb_trace_stats(whole, &options);
    assert_memory_equal(stats, expected, 4 * sizeof *stats);
    /* Of the pages read in the end, at most the bound is still there. */
    assert_in_range(file_bytes_in_memory(), 0, before + BOUND + MEGABYTE);
    free(stats);
    free(expected);
    sb_trace_free(bounded);
    sb_trace_free(whole);
}

static void *record_all(void *argument) {
    for (uint32_t i = 0; i < ZONES; i++)
        record_zone(argument, i);
    return NULL;
}

static void a_bounded_trace_can_be_read_while_it_grows(void **state) {
    (void)state;
    sb_trace *trace = create_bounded(MEGABYTE);
    add_sources(trace);
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, 0, SB_NONE);
    pthread_t thread;
    uint64_t random = 5;
    assert_int_equal(pthread_create(&thread, NULL, record_all, track), 0);
    for (uint64_t seen = 0; seen < ZONES;) {
        seen = sb_track_zone_count(track);
        for (int i = 0; i < 100 && seen > 0; i++) {
            const uint32_t zone = (uint32_t)below(&random, seen);
            const int64_t end = sb_track_zone_end(track, zone);
            assert_int_equal(sb_track_zone_start(track, zone), (int64_t)zone * 10);
            assert_true(end == SB_NO_TIME || end == (int64_t)zone * 10 + (zone % 4 == 0 ? 38 : 5));
        }
        if (one_in(&random, 50))
            sb_trace_trim(trace);
    }
    pthread_join(thread, NULL);
    sb_trace_free(trace);
}

static void random_traces_are_the_same_when_bounded(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        sb_trace *trace = make_random_trace(seed);
        sb_output file = sb_output_to_memory();
        sb_trace_write(trace, &(sb_trace_write_options){0}, &file, NULL);
        const sb_trace_bound bound = {.bytes = 65536};
        const sb_trace_read_options options = {.bound = &bound};
        sb_trace *read = NULL;
        assert_int_equal(sb_trace_read(sb_output_text(&file), &options, &read, NULL), SB_OK);
        sb_output expected = sb_output_to_memory();
        sb_output got = sb_output_to_memory();
        sb_trace *unbounded = NULL;
        assert_int_equal(
            sb_trace_read(sb_output_text(&file), &(sb_trace_read_options){0}, &unbounded, NULL),
            SB_OK);
        dump_trace(unbounded, &expected);
        dump_trace(read, &got);
        check_slices(sb_output_text(&got), sb_output_text(&expected));
        sb_output_discard(&expected);
        sb_output_discard(&got);
        sb_output_discard(&file);
        sb_trace_free(read);
        sb_trace_free(unbounded);
        sb_trace_free(trace);
    }
}

static void a_folder_that_is_not_there_is_an_error(void **state) {
    (void)state;
    const sb_trace_bound bound = {.bytes = BOUND, .folder = "/nowhere/at/all"};
    sb_trace *trace = NULL;
    sb_error error = {0};
    assert_int_equal(sb_trace_create_bounded(&bound, &trace, &error), SB_ERR_IO);
    assert_null(trace);
    check_contains(sb_slice_of(error.message), "/nowhere/at/all: cannot make a file");
}

/* A limit on the size of files stands in for a full disk. */
static void a_full_disk_loses_nothing(void **state) {
    (void)state;
    struct rlimit usual;
    sb_trace *trace = create_bounded(BOUND);
    add_sources(trace);
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, 0, SB_NONE);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    const struct rlimit small = {BOUND, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    void (*usual_action)(int) = signal(SIGXFSZ, SIG_IGN);
    for (uint32_t i = 0; i < ZONES; i++)
        record_zone(track, i);
    signal(SIGXFSZ, usual_action);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    assert_int_equal(sb_store_failure(trace->store), EFBIG);
    for (uint32_t i = 0; i < ZONES; i++)
        assert_int_equal(sb_track_zone_start(track, i), (int64_t)i * 10);
    sb_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_recording_stays_within_its_bound),
        cmocka_unit_test(a_trace_below_its_bound_needs_no_file),
        cmocka_unit_test(counting_a_spilled_trace_stays_within_its_bound),
        cmocka_unit_test(a_bounded_trace_can_be_read_while_it_grows),
        cmocka_unit_test(random_traces_are_the_same_when_bounded),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
        cmocka_unit_test(a_full_disk_loses_nothing),
    };
    return RUN(tests);
}
