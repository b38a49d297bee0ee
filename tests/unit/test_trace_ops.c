/*
 * Ops found in a recording: kernels by core and time, runs by how often a core had the id, the call
 * by its message, replays by theirs.
 */
#include "trace_testing.h"

static uint32_t add_source(sb_trace *trace, const char *name, const char *function) {
    return sb_trace_add_source(
        trace, &(sb_source){.name = sb_trace_string(trace, sb_slice_of(name)),
                            .function = sb_trace_string(trace, sb_slice_of(function))});
}

static void say(sb_trace *trace, int64_t time, uint32_t thread, const char *text) {
    sb_trace_add_message(trace, &(sb_message){.time = time,
                                              .thread = thread,
                                              .text = sb_trace_string(trace, sb_slice_of(text))});
}

/* Two lanes of a core: one names the op, the other does not. */
static void run_on_core(sb_track *const lanes[2], int64_t start, uint32_t named, uint32_t other) {
    sb_track_begin(lanes[0], start, named);
    sb_track_add(lanes[0], start + 5, start + 90, other);
    sb_track_end(lanes[0], start + 100);
    sb_track_add(lanes[1], start + 2, start + 101, other);
}

static void kernels_belong_to_runs_of_ops(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    const uint32_t host = sb_trace_thread(trace, 1);
    const uint32_t call = add_source(trace, "TT_DNN_DEVICE_OP", "");
    const uint32_t seven = add_source(trace, "BRISC-FW", "OP ID:7");
    const uint32_t eight = add_source(trace, "BRISC-FW", "OP ID:8");
    const uint32_t other = add_source(trace, "KERNEL", "");
    sb_track *calls = sb_trace_add_track(trace, SB_TRACK_THREAD, host, SB_NONE);
    sb_track_add(calls, 100, 150, call);
    sb_track_add(calls, 200, 250, call);
    say(trace, 120, host, "`TT_DNN_DEVICE_OP: \"Matmul\", 99, 0, false, 7 ->\n{}`");
    say(trace, 190, host, "`TT_METAL_TRACE_BEGIN: 0, 3`");
    say(trace, 220, host, "TT_DNN_DEVICE_OP: \"Softmax\", 98, 0, true, 8");
    say(trace, 260, host, "`TT_METAL_TRACE_END: 0, 3`");
    say(trace, 1000, host, "`TT_METAL_TRACE_REPLAY: 0, 3`");
    say(trace, 2000, host, "`TT_METAL_TRACE_REPLAY: 0, 3`");
    for (unsigned core = 0; core < 2; core++) {
        char name[64];
        snprintf(name, sizeof name, "Device: 0, Logical (0,%u) Physical (1,%u)", core, core + 1);
        sb_context *context = sb_trace_add_context(trace);
        context->name = sb_trace_string(trace, sb_slice_of(name));
        sb_track *lanes[2];
        for (unsigned i = 0; i < 2; i++)
            lanes[i] = sb_trace_add_track(trace, SB_TRACK_LANE,
                                          sb_trace_thread(trace, 10 + 2 * core + i), core);
        run_on_core(lanes, 300 + core, seven, other);
        run_on_core(lanes, 1010 + core, eight, other);
        run_on_core(lanes, 2010 + core, eight, other);
    }
    sb_trace_find_ops(trace);
    assert_int_equal(sb_series_count(&trace->ops), 3);
    assert_int_equal(sb_series_count(&trace->op_kernels), 12);
    const sb_op *ops[3];
    for (unsigned i = 0; i < 3; i++)
        ops[i] = sb_series_at(&trace->ops, i);
    check_slice(sb_trace_text(trace, ops[0]->name), "Matmul");
    assert_int_equal(ops[0]->start, 100);
    assert_int_equal(ops[0]->end, 150);
    check_slice(sb_trace_text(trace, ops[1]->name), "Softmax");
    assert_int_equal(ops[1]->start, 1000);
    assert_int_equal(ops[2]->start, 2000);
    assert_int_equal(ops[2]->thread, host);
    unsigned of_op[3] = {0};
    for (unsigned i = 0; i < 12; i++) {
        const sb_op_kernel *kernel = sb_series_at(&trace->op_kernels, i);
        const sb_track *track = sb_trace_track(trace, kernel->track);
        const int64_t start = sb_track_zone_start(track, kernel->zone);
        assert_int_equal(kernel->op, start < 1000 ? 0 : start < 2000 ? 1 : 2);
        of_op[kernel->op]++;
    }
    assert_int_equal(of_op[0], 4);
    assert_int_equal(of_op[2], 4);
    sb_trace_find_ops(trace);
    assert_int_equal(sb_series_count(&trace->ops), 3);
    sb_trace_free(trace);
}

/* On a GPU many warps of an SM have the id, several at once; a replay says which it is. */
static void warps_belong_to_runs_of_ops(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    const uint32_t host = sb_trace_thread(trace, 1);
    const uint32_t sources[] = {add_source(trace, "MATMUL", "OP ID:7"),
                                add_source(trace, "SOFTMAX", "OP ID:8, replay 1"),
                                add_source(trace, "SOFTMAX", "OP ID:8, replay 2"),
                                add_source(trace, "OTHER", "launch 3, block 0,0,0, warp 1"),
                                add_source(trace, "OTHER", "OP ID:8, replay 0"),
                                add_source(trace, "OTHER", "OP ID:8, x")};
    say(trace, 120, host, "TT_DNN_DEVICE_OP: \"Matmul\", 99, 1, false, 7");
    say(trace, 190, host, "`TT_METAL_TRACE_BEGIN: 1, 3`");
    say(trace, 220, host, "TT_DNN_DEVICE_OP: \"Softmax\", 98, 1, true, 8");
    say(trace, 260, host, "`TT_METAL_TRACE_END: 1, 3`");
    say(trace, 1000, host, "`TT_METAL_TRACE_REPLAY: 1, 3`");
    say(trace, 2000, host, "`TT_METAL_TRACE_REPLAY: 1, 3`");
    for (unsigned sm = 0; sm < 2; sm++) {
        char name[64];
        snprintf(name, sizeof name, "NVIDIA H200 1, SM %u, \u00B11240 ns", sm);
        sb_trace_add_context(trace)->name = sb_trace_string(trace, sb_slice_of(name));
        for (unsigned lane = 0; lane < 3; lane++) {
            sb_track *track = sb_trace_add_track(trace, SB_TRACK_LANE,
                                                 sb_trace_thread(trace, 10 + 3 * sm + lane), sm);
            for (size_t i = 0; i < COUNT_OF(sources); i++) {
                sb_track_begin(track, (int64_t)i * 1000 + lane, sources[i]);
                sb_track_add(track, (int64_t)i * 1000 + 10, (int64_t)i * 1000 + 20, sources[0]);
                sb_track_end(track, (int64_t)i * 1000 + 50);
                sb_track_add(track, (int64_t)i * 1000 + 60, (int64_t)i * 1000 + 70, sources[i]);
            }
        }
    }
    sb_trace_find_ops(trace);
    assert_int_equal(sb_series_count(&trace->ops), 3);
    assert_int_equal(sb_series_count(&trace->op_kernels), 2 * 3 * 3 * 2);
    static const struct {
        const char *name;
        int64_t start;
    } expected[] = {{"Matmul", 120}, {"Softmax", 1000}, {"Softmax", 2000}};
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const sb_op *op = sb_series_at(&trace->ops, i);
        check_slice(sb_trace_text(trace, op->name), expected[i].name);
        assert_int_equal(op->start, expected[i].start);
        assert_int_equal(op->device, 1);
    }
    for (uint64_t i = 0; i < sb_series_count(&trace->op_kernels); i++) {
        const sb_op_kernel *kernel = sb_series_at(&trace->op_kernels, i);
        const sb_track *track = sb_trace_track(trace, kernel->track);
        assert_int_equal(sb_track_zone_start(track, kernel->zone) / 1000, kernel->op);
    }
    sb_trace_free(trace);
}

/* Numbers of ops come from the file: the largest there is must not be looked for beyond it. */
static void the_largest_id_is_an_id_like_others(void **state) {
    (void)state;
    for (unsigned is_called = 0; is_called < 2; is_called++) {
        sb_trace *trace = sb_trace_create();
        const uint32_t last = add_source(trace, "MAIN", "OP ID:9223372036854775807, replay 2");
        say(trace, 10, 0, "TT_DNN_DEVICE_OP: \"First\", 1, 0, false, 7");
        if (is_called != 0)
            say(trace, 20, 0, "TT_DNN_DEVICE_OP: \"Last\", 1, 0, false, 9223372036854775807");
        sb_trace_add_context(trace)->name =
            sb_trace_string(trace, sb_slice_of("NVIDIA H200 0, SM 1"));
        sb_track *lane = sb_trace_add_track(trace, SB_TRACK_LANE, sb_trace_thread(trace, 5), 0);
        sb_track_add(lane, 30, 40, last);
        sb_trace_find_ops(trace);
        assert_int_equal(sb_series_count(&trace->ops), 1);
        const sb_op *op = sb_series_at(&trace->ops, 0);
        check_slice(sb_trace_text(trace, op->name), is_called != 0 ? "Last" : "");
        sb_trace_free(trace);
    }
}

static void messages_that_make_no_sense_are_passed_over(void **state) {
    (void)state;
    static const char *const texts[] = {"`TT_DNN_DEVICE_OP: \"",
                                        "`TT_DNN_DEVICE_OP: \"a\", 1, x, false, 7",
                                        "`TT_METAL_TRACE_BEGIN",
                                        "`TT_METAL_TRACE_REPLAY: 1",
                                        "`TT_METAL_TRACE_END: a, b`",
                                        "TT_DNN_DEVICE_OP: \"a\"",
                                        "`"};
    sb_trace *trace = sb_trace_create();
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        say(trace, (int64_t)i, 0, texts[i]);
    const uint32_t seven = add_source(trace, "BRISC-FW", "OP ID:7");
    sb_trace_add_context(trace)->name =
        sb_trace_string(trace, sb_slice_of("Device: 0, Core (1,1)"));
    sb_track *lane = sb_trace_add_track(trace, SB_TRACK_LANE, sb_trace_thread(trace, 5), 0);
    sb_track_add(lane, 10, 20, seven);
    sb_trace_find_ops(trace);
    assert_int_equal(sb_series_count(&trace->ops), 1);
    const sb_op *op = sb_series_at(&trace->ops, 0);
    assert_int_equal(op->id, 7);
    assert_int_equal(op->name, 0);
    assert_int_equal(op->start, SB_NO_TIME);
    sb_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_belong_to_runs_of_ops),
        cmocka_unit_test(warps_belong_to_runs_of_ops),
        cmocka_unit_test(the_largest_id_is_an_id_like_others),
        cmocka_unit_test(messages_that_make_no_sense_are_passed_over),
    };
    return RUN(tests);
}
