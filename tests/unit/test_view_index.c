/*
 * The index of the viewer: spans against all zones one by one, growth against building at once.
 */
#include "trace_testing.h"
#include "view/view_index.h"

enum { SOURCES = 9, DEPTH = 6 };

typedef struct sample {
    sb_trace *trace;
    sb_track *track;
    uint64_t random;
    int64_t now;
    unsigned depth;
} sample;

static sample make_sample(uint64_t seed) {
    sample made = {.trace = sb_trace_create(), .random = seed};
    for (unsigned i = 0; i < SOURCES; i++)
        sb_trace_add_source(made.trace, &(sb_source){.line = i});
    made.track =
        sb_trace_add_track(made.trace, SB_TRACK_THREAD, sb_trace_thread(made.trace, 7), SB_NONE);
    return made;
}

/* Opens and closes zones at random; some are still open at the end. */
static void grow(sample *made, unsigned steps) {
    for (unsigned i = 0; i < steps; i++) {
        made->now += (int64_t)below(&made->random, one_in(&made->random, 50) ? 20000 : 60);
        if (made->depth == 0 || (made->depth < DEPTH && one_in(&made->random, 2))) {
            sb_track_begin(made->track, made->now, (uint32_t)below(&made->random, SOURCES));
            made->depth++;
        } else {
            sb_track_end(made->track, made->now);
            made->depth--;
        }
    }
}

static unsigned depth_of(const sb_track *track, uint32_t zone) {
    unsigned depth = 0;
    for (uint32_t outer = sb_track_zone_parent(track, zone); outer != SB_NONE;
         outer = sb_track_zone_parent(track, outer))
        depth++;
    return depth;
}

static bool is_seen(const sb_track *track, uint32_t zone, sb_range range, int64_t horizon) {
    const int64_t start = sb_track_zone_start(track, zone);
    const int64_t end = sb_track_zone_end(track, zone);
    const int64_t drawn = end == SB_NO_TIME ? (horizon > start ? horizon : start) : end;
    return start < range.to && (drawn > range.from || start >= range.from);
}

static void check_against_all(view_index *index, const sb_track *track, view_window window) {
    sb_vector spans = sb_vector_of(sizeof(view_span));
    assert_true(view_index_spans(index, 0, &window, &spans));
    uint64_t zones = 0;
    int64_t last_start[DEPTH] = {0};
    for (size_t i = 0; i < spans.count; i++) {
        const view_span *span = sb_vector_at(&spans, i);
        zones += span->count;
        assert_true(span->depth < DEPTH);
        assert_true(span->start >= last_start[span->depth]);
        last_start[span->depth] = span->start;
        if (span->count == 1 && span->busy >= window.grain) {
            assert_int_equal(sb_track_zone_start(track, span->zone), span->start);
            assert_int_equal(depth_of(track, span->zone), span->depth);
            assert_int_equal(sb_track_zone_source(track, span->zone), span->source);
        }
    }
    uint64_t wide = 0;
    uint64_t seen = 0;
    for (uint32_t zone = 0; zone < sb_track_zone_count(track); zone++)
        seen += is_seen(track, zone, window.range, view_index_end(index));
    for (size_t i = 0; i < spans.count; i++)
        wide += ((view_span *)sb_vector_at(&spans, i))->count;
    /* A node at the edge of the range may reach beyond it by less than a pixel. */
    if (window.grain == 1)
        assert_int_equal(wide, seen);
    else
        assert_true(zones >= seen);
    sb_vector_free(&spans);
}

static void spans_are_those_of_all_zones(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        sample made = make_sample(seed);
        view_index index;
        view_index_init(&index, made.trace);
        grow(&made, 4000);
        assert_true(view_index_extend(&index, NULL, NULL));
        for (unsigned i = 0; i < 30; i++) {
            const int64_t from = (int64_t)below(&made.random, (uint64_t)made.now);
            const int64_t length = 1 + (int64_t)below(&made.random, (uint64_t)made.now);
            const int64_t grain = one_in(&made.random, 2) ? 1 : 1 + length / 500;
            check_against_all(&index, made.track, (view_window){{from, from + length}, grain});
        }
        view_index_free(&index);
        sb_trace_free(made.trace);
    }
}

static void check_same_spans(view_index *a, view_index *b, view_window window) {
    sb_vector left = sb_vector_of(sizeof(view_span));
    sb_vector right = sb_vector_of(sizeof(view_span));
    view_index_spans(a, 0, &window, &left);
    view_index_spans(b, 0, &window, &right);
    assert_int_equal(left.count, right.count);
    for (size_t i = 0; i < left.count; i++) {
        const view_span *one = sb_vector_at(&left, i);
        const view_span *other = sb_vector_at(&right, i);
        assert_int_equal(one->start, other->start);
        assert_int_equal(one->end, other->end);
        assert_int_equal(one->count, other->count);
        assert_int_equal(one->source, other->source);
    }
    sb_vector_free(&left);
    sb_vector_free(&right);
}

static void an_index_that_grew_equals_one_built_at_once(void **state) {
    (void)state;
    sample made = make_sample(99);
    view_index grown;
    view_index_init(&grown, made.trace);
    for (unsigned i = 0; i < 40; i++) {
        grow(&made, 300);
        view_index_extend(&grown, NULL, NULL);
    }
    view_index built;
    view_index_init(&built, made.trace);
    view_index_extend(&built, NULL, NULL);
    for (int64_t grain = 1; grain < made.now; grain *= 7)
        check_same_spans(&grown, &built, (view_window){{0, made.now + 1}, grain});
    assert_false(view_index_extend(&grown, NULL, NULL));
    view_index_free(&grown);
    view_index_free(&built);
    sb_trace_free(made.trace);
}

static void a_question_costs_pixels_not_zones(void **state) {
    (void)state;
    sample made = make_sample(5);
    view_index index;
    enum { ZONES = 300000, WIDTH = 1000 };
    for (int64_t i = 0; i < ZONES; i++)
        sb_track_add(made.track, i * 100, i * 100 + 60, 1);
    view_index_init(&index, made.trace);
    view_index_extend(&index, NULL, NULL);
    sb_vector spans = sb_vector_of(sizeof(view_span));
    const view_window window = {{0, ZONES * 100}, ZONES * 100 / WIDTH};
    assert_true(view_index_spans(&index, 0, &window, &spans));
    assert_true(spans.count <= 2 * WIDTH);
    uint64_t zones = 0;
    for (size_t i = 0; i < spans.count; i++)
        zones += ((view_span *)sb_vector_at(&spans, i))->count;
    assert_int_equal(zones, ZONES);
    sb_vector_free(&spans);
    view_index_free(&index);
    sb_trace_free(made.trace);
}

static void lanes_out_of_order_are_drawn_in_order(void **state) {
    (void)state;
    sample made = make_sample(6);
    sb_track_add(made.track, 500, 600, 1);
    sb_track_add(made.track, 100, 200, 2);
    sb_track_add(made.track, 300, 400, 3);
    assert_true(made.track->unsorted);
    view_index index;
    view_index_init(&index, made.trace);
    view_index_extend(&index, NULL, NULL);
    sb_vector spans = sb_vector_of(sizeof(view_span));
    view_index_spans(&index, 0, &(view_window){{0, 1000}, 1}, &spans);
    assert_int_equal(spans.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(((view_span *)sb_vector_at(&spans, i))->start, 100 + 200 * (int64_t)i);
    sb_vector_free(&spans);
    view_index_free(&index);
    sb_trace_free(made.trace);
}

/* From any zone of a row one gets to all of them, in order of start. */
static void neighbours_are_those_of_the_row(void **state) {
    (void)state;
    sample made = make_sample(8);
    view_index index;
    grow(&made, 4000);
    view_index_init(&index, made.trace);
    view_index_extend(&index, NULL, NULL);
    uint32_t visited = 0;
    for (uint32_t zone = 0; zone < sb_track_zone_count(made.track); zone++) {
        uint32_t before = 0;
        uint32_t after = 0;
        uint32_t back = 0;
        uint32_t unused = 0;
        view_index_neighbours(&index, 0, zone, &before, &after);
        if (after == SB_NONE)
            continue;
        visited++;
        assert_int_equal(depth_of(made.track, after), depth_of(made.track, zone));
        assert_true(sb_track_zone_start(made.track, after) >=
                    sb_track_zone_start(made.track, zone));
        view_index_neighbours(&index, 0, after, &back, &unused);
        assert_int_equal(back, zone);
    }
    assert_int_equal(visited + view_index_depth(&index, 0), sb_track_zone_count(made.track));
    view_index_free(&index);
    sb_trace_free(made.trace);
}

static void a_trace_of_any_content_is_indexed(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 40; seed++) {
        sb_trace *trace = make_random_trace(seed);
        view_index index;
        view_index_init(&index, trace);
        view_index_extend(&index, NULL, NULL);
        sb_vector spans = sb_vector_of(sizeof(view_span));
        for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
            const view_window window = {{0, view_index_end(&index) + 1}, 1};
            view_index_spans(&index, (uint32_t)i, &window, &spans);
        }
        view_index_free(&index);
        sb_vector_free(&spans);
        sb_trace_free(trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_those_of_all_zones),
        cmocka_unit_test(an_index_that_grew_equals_one_built_at_once),
        cmocka_unit_test(a_question_costs_pixels_not_zones),
        cmocka_unit_test(lanes_out_of_order_are_drawn_in_order),
        cmocka_unit_test(neighbours_are_those_of_the_row),
        cmocka_unit_test(a_trace_of_any_content_is_indexed),
    };
    return RUN(tests);
}
