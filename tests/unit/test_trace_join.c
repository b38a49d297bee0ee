/*
 * Joined traces: everything of both is there, moved and renumbered.
 */
#include "trace_testing.h"

static uint64_t count_zones(const sb_trace *trace) {
    return sb_trace_zone_count(trace, false) + sb_trace_zone_count(trace, true);
}

/* Each zone of a trace is found again on its track in the joined one. */
static void check_tracks(const sb_trace *joined, const sb_trace *one, uint64_t first,
                         int64_t shift) {
    for (uint64_t i = 0; i < sb_series_count(&one->tracks); i++) {
        const sb_track *from = sb_trace_track(one, i);
        const sb_track *into = sb_trace_track(joined, first + i);
        assert_int_equal(sb_track_zone_count(into), sb_track_zone_count(from));
        for (uint32_t zone = 0; zone < sb_track_zone_count(from); zone++) {
            const int64_t start = sb_track_zone_start(from, zone);
            const int64_t end = sb_track_zone_end(from, zone);
            assert_int_equal(sb_track_zone_start(into, zone),
                             start == SB_NO_TIME ? start : start + shift);
            if (end != SB_NO_TIME && start != SB_NO_TIME)
                assert_int_equal(sb_track_zone_end(into, zone), end + shift);
            assert_int_equal(sb_track_zone_parent(into, zone), sb_track_zone_parent(from, zone));
            const sb_slice name = sb_trace_source_name(one, sb_track_zone_source(from, zone));
            const sb_slice same = sb_trace_source_name(joined, sb_track_zone_source(into, zone));
            assert_true(sb_slice_equal(name, same));
            const sb_zone_note *note = sb_trace_zone_note(one, from, zone);
            const sb_zone_note *copied = sb_trace_zone_note(joined, into, zone);
            assert_true((note == NULL) == (copied == NULL));
            if (note != NULL)
                assert_true(sb_slice_equal(sb_trace_text(one, note->text),
                                           sb_trace_text(joined, copied->text)));
        }
    }
}

static void all_of_both_is_there(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        sb_trace *a = make_random_trace(seed);
        sb_trace *b = make_random_trace(seed + 100);
        sb_trace *joined = sb_trace_create();
        sb_trace_join(joined, a, 0, sb_slice_of("first"), 1);
        sb_trace_join(joined, b, 5000, sb_slice_of("second"), 2);
        assert_int_equal(count_zones(joined), count_zones(a) + count_zones(b));
        check_tracks(joined, a, 0, 0);
        check_tracks(joined, b, sb_series_count(&a->tracks), 5000);
        assert_int_equal(sb_series_count(&joined->processes), 3);
        assert_int_equal(sb_series_count(&joined->messages),
                         sb_series_count(&a->messages) + sb_series_count(&b->messages));
        int64_t last = INT64_MIN;
        for (uint64_t i = 0; i < sb_series_count(&joined->messages); i++) {
            const sb_message *message = sb_series_at(&joined->messages, i);
            assert_true(message->time >= last);
            last = message->time;
        }
        assert_int_equal(sb_series_count(&joined->losses),
                         sb_series_count(&a->losses) + sb_series_count(&b->losses));
        sb_trace_free(a);
        sb_trace_free(b);
        sb_trace_free(joined);
    }
}

static void a_source_of_two_processes_is_one(void **state) {
    (void)state;
    sb_trace *one = sb_trace_create();
    const sb_source place = {.name = sb_trace_string(one, sb_slice_of("work")), .line = 7};
    sb_track *track = sb_trace_add_track(one, SB_TRACK_THREAD, sb_trace_thread(one, 5), SB_NONE);
    sb_track_add(track, 10, 20, sb_trace_add_source(one, &place));
    sb_trace *joined = sb_trace_create();
    sb_trace_join(joined, one, 0, sb_slice_of("a"), 1);
    sb_trace_join(joined, one, 100, sb_slice_of("b"), 2);
    assert_int_equal(sb_series_count(&joined->sources), 2);
    assert_int_equal(sb_series_count(&joined->tracks), 2);
    assert_int_equal(sb_trace_thread_at(joined, sb_trace_track(joined, 1)->thread)->process, 2);
    sb_trace_free(one);
    sb_trace_free(joined);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_both_is_there),
        cmocka_unit_test(a_source_of_two_processes_is_one),
    };
    return RUN(tests);
}
