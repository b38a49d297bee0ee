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
        sb_trace_joint *joint = sb_trace_joint_create(joined);
        sb_trace_join(joint, a, 0, sb_slice_of("first"), 1);
        sb_trace_join(joint, b, 5000, sb_slice_of("second"), 2);
        sb_trace_joint_finish(joint);
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
    sb_trace_joint *joint = sb_trace_joint_create(joined);
    sb_trace_join(joint, one, 0, sb_slice_of("a"), 1);
    sb_trace_join(joint, one, 100, sb_slice_of("b"), 2);
    sb_trace_joint_finish(joint);
    assert_int_equal(sb_series_count(&joined->sources), 2);
    assert_int_equal(sb_series_count(&joined->tracks), 2);
    assert_int_equal(sb_trace_thread_at(joined, sb_trace_track(joined, 1)->thread)->process, 2);
    sb_trace_free(one);
    sb_trace_free(joined);
}

/* A trace whose one zone has a call stack: a frame of this name, and an address without one. */
static sb_trace *trace_with_stack(const char *function, const char *filler) {
    static const uint64_t address = 0x4000;
    sb_trace *trace = sb_trace_create();
    sb_trace_string(trace, sb_slice_of(filler)); /* so that texts have other numbers */
    const sb_string name = sb_trace_string(trace, sb_slice_of(function));
    const char stacks[] = {2, 0, 0, 0, 0, 0,    0, 0, /* the first is of nobody */
                           0, 0, 2, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0x77, 0, 0, 0, 0, 0, 0, 0};
    char frames[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 1, 0, 0,
                     0, 0, 0, 0, 0, 0, 0, 9, 0, 0,    0, 0, 0, 0, 0, 0, 0, 0, 0};
    frames[20] = (char)name;
    assert_int_equal(frames[9], address >> 8);
    trace->opaque[SB_OPAQUE_CALLSTACKS] =
        sb_arena_copy(&trace->arena, (sb_slice){stacks, sizeof stacks});
    trace->opaque[SB_OPAQUE_CALLSTACK_FRAMES] =
        sb_arena_copy(&trace->arena, (sb_slice){frames, sizeof frames});
    sb_track *track =
        sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 5), SB_NONE);
    const uint32_t zone = sb_track_add(track, 10, 20, 0);
    sb_track_annotate(trace, track, zone, &(sb_zone_note){.callstack = 2});
    sb_message message = {.time = 1, .text = name, .callstack = 3};
    sb_series_add(&trace->messages, &message); /* a number that the table does not have */
    return trace;
}

/* The named frame of a zone's stack, and the id of the frame behind it. */
static sb_slice frame_of(const sb_trace *trace, uint32_t stack, uint64_t *second, uint32_t *line) {
    sb_slice rest = trace->opaque[SB_OPAQUE_CALLSTACKS];
    sb_slice ids = {0};
    uint64_t first = 0;
    sb_stack_frame frame = {0};
    sb_stack_part part = {0};
    assert_true(sb_stack_take_count(&rest) >= stack);
    for (uint32_t i = 0; i < stack; i++)
        assert_true(sb_stack_take(&rest, &ids));
    assert_true(sb_stack_take_id(&ids, &first));
    assert_true(sb_stack_take_id(&ids, second));
    rest = trace->opaque[SB_OPAQUE_CALLSTACK_FRAMES];
    sb_stack_take_count(&rest);
    do
        assert_true(sb_stack_take_frame(&rest, &frame));
    while (frame.id != first);
    assert_true(sb_stack_take_part(&frame.parts, &part));
    *line = part.line;
    return sb_trace_text(trace, part.name);
}

/* A program for a device: it calls op 7, and one core runs it. */
static sb_trace *trace_with_op(const char *op, bool is_gpu) {
    char text[64];
    sb_trace *trace = sb_trace_create();
    const uint32_t host = sb_trace_thread(trace, 1);
    snprintf(text, sizeof text, "TT_DNN_DEVICE_OP: \"%s\", 99, 0, false, 7", op);
    sb_trace_add_message(trace, &(sb_message){.time = 10,
                                              .thread = host,
                                              .text = sb_trace_string(trace, sb_slice_of(text))});
    sb_trace_add_context(trace)->name = sb_trace_string(
        trace, sb_slice_of(is_gpu ? "NVIDIA H200 0, SM 1" : "Device: 0, Core (1,1)"));
    const uint32_t main_zone = sb_trace_add_source(
        trace, &(sb_source){.name = sb_trace_string(trace, sb_slice_of("MAIN")),
                            .function = sb_trace_string(trace, sb_slice_of("OP ID:7"))});
    sb_track *lane = sb_trace_add_track(trace, SB_TRACK_LANE, sb_trace_thread(trace, 5), 0);
    sb_track_add(lane, 20, 30, main_zone);
    return trace;
}

/* Programs number their devices and ops each for itself. */
static void ops_stay_those_of_their_programs(void **state) {
    (void)state;
    static const char *const ops[] = {"Matmul", "Softmax"};
    for (unsigned is_gpu = 0; is_gpu < 2; is_gpu++) {
        sb_trace *joined = sb_trace_create();
        sb_trace_joint *joint = sb_trace_joint_create(joined);
        for (size_t i = 0; i < 2; i++) {
            sb_trace *one = trace_with_op(ops[i], is_gpu != 0);
            sb_trace_join(joint, one, (int64_t)i * 1000, sb_slice_of("program"), i + 1);
            sb_trace_free(one);
        }
        sb_trace_joint_finish(joint);
        sb_trace_find_ops(joined);
        assert_int_equal(sb_series_count(&joined->ops), 2);
        for (uint32_t i = 0; i < 2; i++) {
            const sb_op *op = sb_series_at(&joined->ops, i);
            const sb_op_kernel *kernel = sb_series_at(&joined->op_kernels, i);
            assert_true(sb_slice_is(sb_trace_text(joined, op->name), ops[i]));
            assert_int_equal(op->start, 10 + i * 1000);
            assert_int_equal(op->device, 0);
            assert_int_equal(kernel->op, i);
            assert_int_equal(kernel->track, i);
        }
        sb_trace_free(joined);
    }
}

/* Two programs have something else at the same address, as programs do. */
static void stacks_stay_those_of_their_programs(void **state) {
    (void)state;
    static const char *const functions[] = {"run", "serve"};
    sb_trace *joined = sb_trace_create();
    sb_trace_joint *joint = sb_trace_joint_create(joined);
    for (size_t i = 0; i < 2; i++) {
        sb_trace *one = trace_with_stack(functions[i], i == 0 ? "a" : "quite another");
        sb_trace_join(joint, one, 0, sb_slice_of(functions[i]), i);
        sb_trace_free(one);
    }
    sb_trace_joint_finish(joint);
    assert_int_equal(joined->file.opaque_items[SB_OPAQUE_CALLSTACKS], 4);
    for (size_t i = 0; i < 2; i++) {
        uint64_t second = 0;
        uint32_t line = 0;
        const sb_zone_note *note = sb_trace_zone_note(joined, sb_trace_track(joined, i), 0);
        const sb_slice name = frame_of(joined, note->callstack, &second, &line);
        assert_true(sb_slice_is(name, functions[i]));
        assert_int_equal(line, 9);
        assert_int_equal(second, 0x77);
        assert_int_equal(((sb_message *)sb_series_at(&joined->messages, i))->callstack, 0);
    }
    sb_trace_free(joined);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_both_is_there),
        cmocka_unit_test(a_source_of_two_processes_is_one),
        cmocka_unit_test(ops_stay_those_of_their_programs),
        cmocka_unit_test(stacks_stay_those_of_their_programs),
    };
    return RUN(tests);
}
