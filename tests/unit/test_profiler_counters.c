/* Performance counters, from the emulator's registers to the log. */
#include "profiler_testing.h"

enum { STALLS = 0, INSTRUCTIONS = 3, COUNTERS = 6 };

/* What the log has of one program: counts, and the clocks they were taken in. */
typedef struct counted {
    uint32_t values[COUNTERS];
    uint32_t reference;
} counted;

static counted read_counters(const device_log *log, uint32_t program) {
    counted found = {0};
    size_t count = 0;
    for (size_t i = 0; i < log->count; i++) {
        const row *at = &log->rows[i];
        if (at->timer != 9090 || at->program != program)
            continue;
        assert_string_equal(at->type, "TS_DATA");
        assert_string_equal(at->processor, "BRISC");
        assert_true(count < COUNTERS);
        found.values[count++] = (uint32_t)at->data;
        found.reference = (uint32_t)(at->data >> 32);
    }
    assert_int_equal(count, COUNTERS);
    return found;
}

/* 1000 turns of a loop of three instructions on TRISC1, a third of that on TRISC2, none on TRISC0.
 */
static counted count_on(const char *device) {
    static const char source[] =
        KERNEL "void kernel_main(void) {\n"
               "    uint32_t turns = STROBE_PROCESSOR == TRISC1 ? 1000 : 333;\n"
               "    __asm__ volatile(\"1: addi %0, %0, -1\\n\\tmul t0, %0, %0\\n\\tbnez %0, 1b\"\n"
               "                     : \"+r\"(turns) : : \"t0\");\n"
               "}\n";
    setenv("TT_METAL_PROFILE_PERF_COUNTERS", "32", 1);
    bench self = open_bench(device);
    add_kernel(&self, source, 1 << SB_TRISC1 | 1 << SB_TRISC2, one_core);
    run(&self, 2);
    close_bench(&self);
    unsetenv("TT_METAL_PROFILE_PERF_COUNTERS");
    const device_log log = read_log();
    const counted found = read_counters(&log, 2);
    const counted first = read_counters(&log, 1);
    assert_int_equal(first.values[INSTRUCTIONS + 1], found.values[INSTRUCTIONS + 1]);
    free(log.rows);
    return found;
}

static void check_near_count(uint32_t actual, uint32_t expected) {
    if (actual < expected || actual > expected + 60)
        fail_msg("%u, not about %u", actual, expected);
}

static void without_latencies_nobody_stalls(void **state) {
    (void)state;
    const counted found = count_on("emu:rows=1,cols=1,time=count");
    check_near_count(found.values[INSTRUCTIONS + 1], 3000);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(found.values[STALLS + i] + found.values[INSTRUCTIONS + i],
                         found.reference);
        /* A processor that polls is counted by whole turns. */
        assert_true(found.values[STALLS + i] <= (i == 1 ? 1 : 8));
    }
}

static void multiplications_and_branches_are_stalls(void **state) {
    (void)state;
    const counted found = count_on("emu:rows=1,cols=1");
    check_near_count(found.values[INSTRUCTIONS + 1], 3000);
    assert_true(found.reference > 3000);
    assert_true(found.values[STALLS + 1] > 0);
    /* Their kernels are as long as that of TRISC1, or they poll: all have done something. */
    for (uint32_t i = 0; i < 3; i++)
        assert_true(found.values[INSTRUCTIONS + i] > 0);
}

static void what_counters_say_is_in_the_meta_data(void **state) {
    (void)state;
    char path[256];
    sb_file file;
    char text[128];
    const counted found = count_on("emu:rows=1,cols=1");
    snprintf(path, sizeof path, "%s/.logs/profile_log_device.csv", getenv("TT_METAL_PROFILER_DIR"));
    check(sb_file_open(&file, path, &error));
    snprintf(text, sizeof text,
             ",,,,TS_DATA,0,,{\"counter type\":\"THREAD_INSTRUCTIONS_1\";\"ref cnt\":%u;"
             "\"value\":%u}\n",
             found.reference, found.values[INSTRUCTIONS + 1]);
    check_contains(file.text, text);
    check_contains(file.text, "\"counter type\":\"THREAD_STALLS_0\"");
    sb_file_close(&file);
}

/* Where nothing computes, nothing is counted; a full buffer still has room for the counters. */
static void programs_without_compute_have_no_counters(void **state) {
    (void)state;
    setenv("TT_METAL_PROFILE_PERF_COUNTERS", "32", 1);
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self,
               KERNEL "void kernel_main(void) {\n"
                      "    for (uint32_t i = 0; i < 120; i++) { DeviceZoneScopedN(\"WORK\"); }\n"
                      "}\n",
               1, one_core);
    run(&self, 1);
    add_kernel(&self, KERNEL "void kernel_main(void) {}", 1 << SB_TRISC1, one_core);
    run(&self, 1);
    close_bench(&self);
    unsetenv("TT_METAL_PROFILE_PERF_COUNTERS");
    const device_log log = read_log();
    size_t count = 0;
    for (size_t i = 0; i < log.count; i++)
        count += log.rows[i].timer == 9090 && log.rows[i].program == 1 ? 1 : 0;
    assert_int_equal(count, 0);
    (void)read_counters(&log, 2);
    assert_int_equal(count_rows(&log, "BRISC", "WORK", "ZONE_END"), 240);
    free(log.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(without_latencies_nobody_stalls),
        TEST(multiplications_and_branches_are_stalls),
        TEST(what_counters_say_is_in_the_meta_data),
        TEST(programs_without_compute_have_no_counters),
    };
    return RUN(tests);
}
