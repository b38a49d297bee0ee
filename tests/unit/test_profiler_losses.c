/* More zones and programs than fit: all of them are there, or the losses are counted. */
#include "profiler_testing.h"

/* Every start has its end, in order, on each processor. */
static void check_nesting(const device_log *log) {
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        uint32_t stack[64];
        size_t depth = 0;
        uint64_t time = 0;
        for (size_t k = 0; k < log->count; k++) {
            const row *at = &log->rows[k];
            if (strcmp(at->processor, processors[i]) != 0)
                continue;
            assert_true(at->time >= time);
            time = at->time;
            if (strcmp(at->type, "ZONE_START") == 0)
                stack[depth++] = at->timer;
            if (strcmp(at->type, "ZONE_END") == 0) {
                assert_true(depth > 0);
                assert_int_equal(stack[--depth], at->timer);
            }
        }
        assert_int_equal(depth, 0);
    }
}

static void ten_thousand_zones_in_a_kernel_are_all_there(void **state) {
    (void)state;
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self, ZONES_KERNEL("10000"), 1u << SB_BRISC | 1u << SB_TRISC1, one_core);
    run(&self, 1);
    check(sb_read_profiler(self.device, &error));
    const sb_profiler_counts counts = total(&self, 1, 1);
    assert_int_equal(counts.refused + counts.dropped + counts.strange, 0);
    close_bench(&self);
    const device_log log = read_log();
    assert_int_equal(count_rows(&log, "BRISC", "TEST-FULL", "ZONE_START"), 10000);
    assert_int_equal(count_rows(&log, "BRISC", "TEST-FULL", "ZONE_END"), 10000);
    assert_int_equal(count_rows(&log, "TRISC_1", "TEST-FULL", "ZONE_END"), 10000);
    /* What it took to make room is a zone of its own, not work. */
    assert_true(count_rows(&log, "BRISC", "PROFILER-NOC-QUICK-PUSH", "ZONE_END") >= 80);
    assert_true(count_rows(&log, "TRISC_1", "PROFILER-HOST-READ", "ZONE_END") >= 80);
    assert_int_equal(log.count, counts.markers);
    check_nesting(&log);
    free(log.rows);
}

static void zones_that_stay_open_while_room_is_made_keep_their_ends(void **state) {
    (void)state;
    static const char source[] =
        KERNEL "static void nest(uint32_t depth) {\n"
               "    DeviceZoneScopedN(\"NEST\");\n"
               "    if (depth > 0) { nest(depth - 1); DeviceRecordEvent(depth); }\n"
               "    __asm__ volatile(\"nop\");\n"
               "}\n"
               "void kernel_main(void) { for (uint32_t i = 0; i < 40; i++) nest(9); }\n";
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self, source, 31, one_core);
    run(&self, 1);
    close_bench(&self);
    const device_log log = read_log();
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        assert_int_equal(count_rows(&log, processors[i], "NEST", "ZONE_START"), 400);
        assert_int_equal(count_rows(&log, processors[i], "NEST", "ZONE_END"), 400);
        assert_int_equal(count_rows(&log, processors[i], "", "TS_EVENT"), 360);
    }
    check_nesting(&log);
    free(log.rows);
}

/* The counts of the original: slots of 12,000 words take 23 full buffers. */
static void dropped_markers_are_counted_exactly(void **state) {
    (void)state;
    setenv("STROBE_PROFILER_MODE", "drop-newest", 1);
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self, ZONES_KERNEL("130"), 31, one_core);
    run(&self, 30);
    check(sb_read_profiler(self.device, &error));
    const sb_profiler_counts counts = total(&self, 1, 1);
    assert_int_equal(counts.refused, SB_PROCESSORS * 30 * 5 * 2);
    assert_int_equal(counts.dropped, SB_PROCESSORS * 7 * 250);
    assert_int_equal(counts.markers + counts.refused + counts.dropped,
                     SB_PROCESSORS * 30 * (4 + 260));
    close_bench(&self);
    const device_log log = read_log();
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        assert_int_equal(count_rows(&log, processors[i], "TEST-FULL", "ZONE_END"), 23 * 125);
    free(log.rows);
}

static void the_newest_programs_are_kept(void **state) {
    (void)state;
    setenv("STROBE_PROFILER_MODE", "keep-newest", 1);
    setenv("TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT", "50", 1);
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self, ZONES_KERNEL("200"), 1u << SB_NCRISC, one_core);
    run(&self, 70);
    check(sb_read_profiler(self.device, &error));
    const sb_profiler_counts counts = sb_profiler_count(self.device, (sb_core){0, 0}, SB_NCRISC);
    close_bench(&self);
    const device_log log = read_log();
    assert_int_equal(count_rows(&log, "NCRISC", "TEST-FULL", "ZONE_END"), 50 * 200);
    assert_int_equal(count_rows(&log, "BRISC", "BRISC-FW", "ZONE_END"), 50);
    assert_int_equal(log.rows[0].program, 21);
    assert_int_equal(counts.overwritten % 20, 0);
    assert_int_equal(counts.markers / 50, counts.overwritten / 20);
    free(log.rows);
}

/* Short programs share a buffer and a push, and keep their ids. */
static void accumulated_programs_are_all_there(void **state) {
    (void)state;
    setenv("TT_METAL_PROFILER_ACCUMULATE", "1", 1);
    bench self = open_bench("emu:rows=1,cols=1");
    sb_program *other = sb_program_create(self.device);
    uint32_t number = 0;
    check(sb_program_add_kernel(other,
                                &(sb_kernel_options){.source = ZONES_KERNEL("300"),
                                                     .name = "test.c",
                                                     .processor = SB_TRISC0,
                                                     .cores = one_core},
                                &number, &error));
    add_kernel(&self, ZONES_KERNEL("4"), 31, one_core);
    for (uint32_t i = 0; i < 100; i++) {
        run(&self, 1);
        if (i % 10 == 3)
            check(sb_program_enqueue(other, &error));
        if (i == 50)
            check(sb_read_profiler(self.device, &error));
    }
    sb_program_destroy(other);
    close_bench(&self);
    const device_log log = read_log();
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        assert_int_equal(count_rows(&log, processors[i], "TEST-FULL", "ZONE_END"),
                         400 + (i == SB_TRISC0 ? 3000 : 0));
    uint32_t program = 0;
    for (size_t i = 0; i < log.count; i++) {
        if (strcmp(log.rows[i].processor, "BRISC") != 0)
            continue;
        assert_true(log.rows[i].program == program || log.rows[i].program == program + 1);
        program = log.rows[i].program;
    }
    assert_int_equal(program, 110);
    check_nesting(&log);
    unsetenv("TT_METAL_PROFILER_ACCUMULATE");
    free(log.rows);
}

static void many_programs_lose_nothing(void **state) {
    (void)state;
    setenv("TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES", "1", 1);
    bench self = open_bench("emu:rows=8,cols=8");
    add_kernel(&self, ZONES_KERNEL("3"), 31, (sb_core_range){{0, 0}, {7, 7}});
    run(&self, 300);
    check(sb_read_profiler(self.device, &error));
    const sb_profiler_counts counts = total(&self, 8, 8);
    assert_int_equal(counts.refused + counts.dropped + counts.strange, 0);
    assert_int_equal(counts.markers, 300 * 64 * SB_PROCESSORS * 10);
    close_bench(&self);
    unsetenv("TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES");
}

/* A processor that takes no part is not recorded again with what it did before. */
static void old_markers_are_not_sent_again(void **state) {
    (void)state;
    bench self = open_bench("emu:rows=1,cols=1");
    sb_program *other = sb_program_create(self.device);
    uint32_t number = 0;
    add_kernel(&self, ZONES_KERNEL("5"), 31, one_core);
    check(sb_program_add_kernel(
        other,
        &(sb_kernel_options){.source = KERNEL "void kernel_main(void) {}", .cores = one_core},
        &number, &error));
    run(&self, 1);
    check(sb_program_enqueue(other, &error));
    check(sb_device_finish(self.device, &error));
    sb_program_destroy(other);
    close_bench(&self);
    const device_log log = read_log();
    for (size_t i = 0; i < log.count; i++)
        assert_true(log.rows[i].program == 1 || strcmp(log.rows[i].processor, "BRISC") == 0);
    assert_int_equal(count_rows(&log, "NCRISC", "TEST-FULL", "ZONE_END"), 5);
    free(log.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(ten_thousand_zones_in_a_kernel_are_all_there),
        TEST(zones_that_stay_open_while_room_is_made_keep_their_ends),
        TEST(dropped_markers_are_counted_exactly),
        TEST(the_newest_programs_are_kept),
        TEST(accumulated_programs_are_all_there),
        TEST(many_programs_lose_nothing),
        TEST(old_markers_are_not_sent_again),
    };
    return RUN(tests);
}
