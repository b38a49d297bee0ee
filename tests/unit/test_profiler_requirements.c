/*
 * What the original's own tests of its device profiler ask for, with their counts; the list, with
 * those that are tested elsewhere, is in docs/profiler.md.
 */
#include "profiler_testing.h"

static const char *const kinds[SB_PROCESSORS] = {"BRISC", "NCRISC", "TRISC", "TRISC", "TRISC"};
static const sb_core_range four_cores = {{0, 0}, {1, 1}};

static size_t count_kernels(const device_log *log, uint32_t processor, const char *type) {
    char name[32];
    snprintf(name, sizeof name, "%s-KERNEL", kinds[processor]);
    return count_rows(log, processors[processor], name, type);
}

/* 1000 programs twice, with a read in between: cores x programs x runs kernels on each processor.
 */
static void every_program_of_many_is_there(void **state) {
    (void)state;
    enum { PROGRAMS = 1000, RUNS = 2, CORES = 4 };
    bench self = open_bench("emu:rows=2,cols=2");
    add_kernel(&self, KERNEL "void kernel_main(void) {}", 31, four_cores);
    for (uint32_t i = 0; i < RUNS; i++) {
        run(&self, PROGRAMS);
        check(sb_read_profiler(self.device, &error));
    }
    close_bench(&self);
    const device_log log = read_log();
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        assert_int_equal(count_kernels(&log, i, "ZONE_START"), CORES * PROGRAMS * RUNS);
        assert_int_equal(count_kernels(&log, i, "ZONE_END"), CORES * PROGRAMS * RUNS);
    }
    free(log.rows);
}

/* 2000 turns of 50 instructions, and two that make the loop. */
static void kernels_take_as_long_as_their_instructions(void **state) {
    (void)state;
    enum { CLOCKS = 2000 * 52 };
    bench self = open_bench("emu:rows=2,cols=2,time=count");
    add_kernel(&self,
               KERNEL "void kernel_main(void) {\n"
                      "    for (uint32_t i = 0; i < 2000; i++)\n"
                      "        __asm__ volatile(\".rept 50\\n\\tnop\\n\\t.endr\");\n"
                      "}\n",
               31, four_cores);
    run(&self, 1);
    close_bench(&self);
    const device_log log = read_log();
    for (size_t i = 0; i < log.count; i++) {
        const row *start = &log.rows[i];
        if (!sb_slice_ends_with(sb_slice_of(start->zone), "-KERNEL") ||
            strcmp(start->type, "ZONE_START") != 0)
            continue;
        const row *end = start + 1;
        assert_string_equal(end->zone, start->zone);
        assert_true(end->time - start->time >= CLOCKS && end->time - start->time < CLOCKS + 500);
    }
    free(log.rows);
}

/* Where the original keeps 23 programs of 125 zones, all are there unless asked otherwise. */
static void buffers_that_run_full_lose_nothing(void **state) {
    (void)state;
    enum { PROGRAMS = 30, ZONES = 130, CORES = 4 };
    bench self = open_bench("emu:rows=2,cols=2");
    add_kernel(&self, ZONES_KERNEL("130"), 31, four_cores);
    run(&self, PROGRAMS);
    close_bench(&self);
    const device_log log = read_log();
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        assert_int_equal(count_rows(&log, processors[i], "TEST-FULL", "ZONE_END"),
                         CORES * PROGRAMS * ZONES);
    free(log.rows);
}

/* Each of 20 events of a kernel, in order, on each processor of each core. */
static void events_are_in_the_order_of_time(void **state) {
    (void)state;
    enum { EVENTS = 20, CORES = 4 };
    bench self = open_bench("emu:rows=2,cols=2");
    add_kernel(&self,
               KERNEL "void kernel_main(void) {\n"
                      "    for (uint32_t i = 0; i < 20; i++)\n"
                      "        DeviceRecordEvent(100 + i);\n"
                      "}\n",
               31, four_cores);
    run(&self, 1);
    close_bench(&self);
    const device_log log = read_log();
    size_t count = 0;
    for (size_t i = 0; i < log.count; i++) {
        const row *at = &log.rows[i];
        if (strcmp(at->type, "TS_EVENT") != 0)
            continue;
        assert_int_equal(at->timer, 100 + count++ % EVENTS);
        assert_true(at->timer == 100 || at->time > at[-1].time);
    }
    assert_int_equal(count, EVENTS * SB_PROCESSORS * CORES);
    free(log.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_program_of_many_is_there),
        TEST(kernels_take_as_long_as_their_instructions),
        TEST(buffers_that_run_full_lose_nothing),
        TEST(events_are_in_the_order_of_time),
    };
    return RUN(tests);
}
