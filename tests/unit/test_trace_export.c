/*
 * Exports for other viewers, read back by something else: a decoder of Protocol Buffers as small as
 * its encoder, and jansson.
 */
#include <jansson.h>

#include "trace_testing.h"

/* ---- a decoder ---- */

static uint64_t take_varint(sb_slice *rest) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(rest->size > 0);
        const uint8_t byte = (uint8_t)rest->data[0];
        *rest = sb_slice_after(*rest, 1);
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return value;
    }
}

typedef struct field {
    uint64_t number;
    uint64_t value;
    sb_slice bytes;
} field;

static bool take_field(sb_slice *rest, field *taken) {
    if (rest->size == 0)
        return false;
    const uint64_t key = take_varint(rest);
    *taken = (field){.number = key >> 3};
    if ((key & 7) == 0) {
        taken->value = take_varint(rest);
    } else if ((key & 7) == 1) {
        taken->bytes = sb_slice_first(*rest, 8);
        memcpy(&taken->value, rest->data, 8);
        *rest = sb_slice_after(*rest, 8);
    } else {
        assert_int_equal(key & 7, 2);
        const uint64_t size = take_varint(rest);
        assert_true(size <= rest->size);
        taken->bytes = sb_slice_first(*rest, size);
        *rest = sb_slice_after(*rest, size);
    }
    return true;
}

/* The field of a message; fails if it is not there. */
static field get(sb_slice message, uint64_t number) {
    field taken;
    while (take_field(&message, &taken)) {
        if (taken.number == number)
            return taken;
    }
    fail_msg("no field %d", (int)number);
    return (field){0};
}

static bool has(sb_slice message, uint64_t number) {
    field taken;
    while (take_field(&message, &taken)) {
        if (taken.number == number)
            return true;
    }
    return false;
}

enum { PACKET_TIME = 8, PACKET_EVENT = 11, PACKET_TRACK = 60 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_FLOW = 47 };

typedef struct seen_events {
    uint64_t types[5];
    uint64_t tracks;
    uint64_t flows;
    uint64_t flow_sum;
    uint64_t depth; /* on all tracks */
} seen_events;

static seen_events decode(sb_slice trace) {
    seen_events seen = {{0}, 0, 0, 0, 0};
    field packet;
    uint64_t last_time = 0;
    uint64_t last_track = 0;
    while (take_field(&trace, &packet)) {
        assert_int_equal(packet.number, 1);
        seen.tracks += has(packet.bytes, PACKET_TRACK);
        if (!has(packet.bytes, PACKET_EVENT))
            continue;
        const sb_slice event = get(packet.bytes, PACKET_EVENT).bytes;
        const uint64_t time = get(packet.bytes, PACKET_TIME).value;
        const uint64_t type = get(event, EVENT_TYPE).value;
        const uint64_t track = get(event, EVENT_TRACK).value;
        assert_in_range(type, 1, 4);
        seen.types[type]++;
        if (track == last_track)
            assert_true(time >= last_time);
        last_time = time;
        last_track = track;
        if (has(event, EVENT_FLOW)) {
            seen.flows++;
            seen.flow_sum += get(event, EVENT_FLOW).value;
        }
    }
    return seen;
}

/* ---- Perfetto ---- */

static void every_zone_is_a_slice(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        sb_trace *trace = make_random_trace(seed);
        sb_output output = sb_output_to_memory();
        sb_trace_exported exported;
        sb_trace_write_perfetto(trace, &output, &exported);
        const seen_events seen = decode(sb_output_text(&output));
        assert_int_equal(seen.types[1], exported.slices);
        assert_true(seen.types[2] <= seen.types[1]);
        assert_int_equal(seen.types[3], sb_series_count(&trace->messages));
        assert_int_equal(seen.types[4], exported.counts);
        assert_true(exported.slices >= sb_trace_zone_count(trace, false));
        sb_output_discard(&output);
        sb_trace_free(trace);
    }
}

/* An op that ran two kernels on a lane, and a kernel of nobody's. */
static sb_trace *make_op_trace(void) {
    sb_trace *trace = sb_trace_create();
    const sb_source source = {.name = sb_trace_string(trace, sb_slice_of("kernel"))};
    const uint32_t kernel = sb_trace_add_source(trace, &source);
    sb_trace_add_context(trace);
    const uint32_t lane = sb_trace_thread(trace, 77);
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_LANE, lane, 0);
    for (int64_t i = 0; i < 3; i++)
        sb_track_add(track, 100 + i * 50, 120 + i * 50, kernel);
    const sb_op op = {.start = 10,
                      .end = 60,
                      .id = 5,
                      .program = 9,
                      .device = 1,
                      .name = sb_trace_string(trace, sb_slice_of("Mat\"Mul\""))};
    const uint32_t number = sb_trace_add_op(trace, &op);
    sb_trace_add_op_kernel(trace, &(sb_op_kernel){.op = number, .track = 0, .zone = 0});
    sb_trace_add_op_kernel(trace, &(sb_op_kernel){.op = number, .track = 0, .zone = 2});
    return trace;
}

static void an_op_points_at_its_kernels(void **state) {
    (void)state;
    sb_trace *trace = make_op_trace();
    sb_output output = sb_output_to_memory();
    sb_trace_exported exported;
    sb_trace_write_perfetto(trace, &output, &exported);
    const seen_events seen = decode(sb_output_text(&output));
    assert_int_equal(exported.flows, 2);
    assert_int_equal(seen.flows, 3); /* the op itself, and two kernels */
    assert_int_equal(seen.flow_sum, 3);
    assert_int_equal(seen.types[1], 4);
    assert_int_equal(seen.tracks, 4); /* program, context, lane, ops */
    sb_output_discard(&output);
    sb_trace_free(trace);
}

static void zones_that_do_not_nest_are_moved(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, 0, SB_NONE);
    sb_track_begin(track, 100, 0);
    sb_track_begin(track, 50, 0); /* begins before the zone around it */
    sb_track_end(track, 500);     /* and ends after it */
    sb_track_end(track, 200);
    sb_output output = sb_output_to_memory();
    sb_trace_exported exported;
    sb_trace_write_perfetto(trace, &output, &exported);
    decode(sb_output_text(&output));
    assert_int_equal(exported.adjusted_times, 2);
    sb_output_discard(&output);
    sb_trace_free(trace);
}

/* ---- JSON ---- */

static size_t count_phase(json_t *events, const char *phase) {
    size_t count = 0;
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event) {
        if (strcmp(json_string_value(json_object_get(event, "ph")), phase) == 0)
            count++;
    }
    return count;
}

static void chrome_gets_the_same(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed <= 50; seed++) {
        sb_trace *trace = seed == 0 ? make_op_trace() : make_random_trace(seed);
        sb_output output = sb_output_to_memory();
        sb_output perfetto = sb_output_to_memory();
        sb_trace_exported exported;
        sb_trace_exported expected;
        sb_trace_write_chrome(trace, &output, &exported);
        sb_trace_write_perfetto(trace, &perfetto, &expected);
        json_error_t error;
        const sb_slice text = sb_output_text(&output);
        json_t *whole = json_loadb(text.data, text.size, 0, &error);
        if (whole == NULL)
            fail_msg("seed %d: %s", (int)seed, error.text);
        json_t *events = json_object_get(whole, "traceEvents");
        assert_int_equal(count_phase(events, "B"), expected.slices);
        assert_int_equal(count_phase(events, "i"), expected.instants);
        assert_int_equal(count_phase(events, "f"), expected.flows);
        assert_int_equal(exported.slices, expected.slices);
        assert_int_equal(exported.adjusted_times, expected.adjusted_times);
        json_decref(whole);
        sb_output_discard(&output);
        sb_output_discard(&perfetto);
        sb_trace_free(trace);
    }
}

static void a_summary_counts_what_is_there(void **state) {
    (void)state;
    sb_trace *trace = make_op_trace();
    const sb_string application = sb_trace_string(trace, sb_slice_of("built from trunk"));
    sb_series_add(&trace->app_info, &application);
    sb_output output = sb_output_to_memory();
    sb_trace_write_summary(trace, &output);
    const sb_slice text = sb_output_text(&output);
    json_t *whole = json_loadb(text.data, text.size, 0, NULL);
    assert_non_null(whole);
    json_t *counts = json_object_get(whole, "counts");
    assert_int_equal(json_integer_value(json_object_get(counts, "device_zones")), 3);
    assert_int_equal(json_integer_value(json_object_get(counts, "ops")), 1);
    json_t *contexts = json_object_get(whole, "contexts");
    json_t *tracks = json_object_get(whole, "tracks");
    assert_int_equal(json_array_size(contexts), sb_series_count(&trace->contexts));
    for (size_t i = 0; i < json_array_size(tracks); i++) {
        json_t *context = json_object_get(json_array_get(tracks, i), "context");
        assert_true(context == NULL ||
                    json_array_get(contexts, (size_t)json_integer_value(context)) != NULL);
    }
    assert_string_equal(json_string_value(json_array_get(json_object_get(whole, "application"), 0)),
                        "built from trunk");
    json_t *statistics = json_object_get(whole, "statistics");
    assert_int_equal(json_array_size(statistics), 1);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(statistics, 0), "total_ns")),
                     60);
    json_decref(whole);
    sb_output_discard(&output);
    sb_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_zone_is_a_slice),
        cmocka_unit_test(an_op_points_at_its_kernels),
        cmocka_unit_test(zones_that_do_not_nest_are_moved),
        cmocka_unit_test(chrome_gets_the_same),
        cmocka_unit_test(a_summary_counts_what_is_there),
    };
    return RUN(tests);
}
