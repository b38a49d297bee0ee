/* Kernels that are profiled on the emulator, from their zones to the log. */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "profiler_testing.h"

static const char *const kinds[SB_PROCESSORS] = {"BRISC", "NCRISC", "TRISC", "TRISC", "TRISC"};

/* ---- what holds ---- */

static void read_code(const char *source, unsigned char *code, uint32_t *size) {
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self, source, 1, one_core);
    run(&self, 1);
    *size = sb_program_kernel_size(self.program, 0).code_bytes;
    check(sb_device_read_l1(self.device, (sb_core){0, 0}, SB_L1_KERNELS, code, *size, &error));
    close_bench(&self);
}

static void without_profiling_zones_leave_no_trace_in_the_code(void **state) {
    (void)state;
    static unsigned char with[SB_L1_KERNEL_BYTES];
    static unsigned char without[SB_L1_KERNEL_BYTES];
    uint32_t with_size = 0;
    uint32_t without_size = 0;
    unsetenv("TT_METAL_DEVICE_PROFILER");
    read_code(KERNEL "void kernel_main(void) {\n"
                     "    const uint32_t n = get_arg_val(0);\n"
                     "    DeviceZoneScopedN(\"OUTER\");\n"
                     "    for (uint32_t i = 0; i < n; i++) {\n"
                     "        DeviceZoneScopedN(\"INNER\");\n"
                     "        DeviceZoneScopedSumN1(\"SUM\");\n"
                     "        DeviceTimestampedData(\"DATA\", n);\n"
                     "        DeviceRecordEvent(i);\n"
                     "        noc_semaphore_set(get_semaphore(0), i);\n"
                     "    }\n"
                     "}\n",
              with, &with_size);
    read_code(KERNEL "void kernel_main(void) {\n"
                     "    const uint32_t n = get_arg_val(0);\n"
                     "\n"
                     "    for (uint32_t i = 0; i < n; i++) {\n\n\n\n\n"
                     "        noc_semaphore_set(get_semaphore(0), i);\n"
                     "    }\n"
                     "}\n",
              without, &without_size);
    assert_int_equal(with_size, without_size);
    assert_memory_equal(with, without, with_size);
}

static void every_processor_has_firmware_and_kernel_zones(void **state) {
    (void)state;
    bench self = open_bench("emu:rows=2,cols=2");
    add_kernel(&self, KERNEL "void kernel_main(void) {}", 31, (sb_core_range){{0, 0}, {1, 1}});
    run(&self, 3);
    close_bench(&self);
    const device_log log = read_log();
    assert_int_equal(log.count, 4 * SB_PROCESSORS * 4 * 3);
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s-FW", kinds[i]);
        assert_int_equal(count_rows(&log, processors[i], name, "ZONE_START"), 12);
        assert_int_equal(count_rows(&log, processors[i], name, "ZONE_END"), 12);
        const row *firmware = find_row(&log, processors[i], name, "ZONE_START");
        snprintf(name, sizeof name, "%s-KERNEL", kinds[i]);
        assert_int_equal(count_rows(&log, processors[i], name, "ZONE_START"), 12);
        const row *kernel = find_row(&log, processors[i], name, "ZONE_START");
        assert_true(firmware->time < kernel->time);
        assert_int_equal(find_row(&log, processors[i], name, "ZONE_END")->timer, kernel->timer);
    }
    free(log.rows);
}

/* The subordinates' ends are there before BRISC's: none is published late. */
static void the_master_ends_last(void **state) {
    (void)state;
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self, KERNEL "void kernel_main(void) {}", 31, one_core);
    run(&self, 1);
    close_bench(&self);
    const device_log log = read_log();
    const uint64_t end = find_row(&log, "BRISC", "BRISC-FW", "ZONE_END")->time;
    for (size_t i = 0; i < log.count; i++)
        assert_true(log.rows[i].time <= end);
    free(log.rows);
}

/* Zones of known length: in counted time each nop is one clock. */
static void zones_last_as_long_as_their_code(void **state) {
    (void)state;
    static const char source[] = KERNEL
        "void kernel_main(void) {\n"
        "    { DeviceZoneScopedN(\"EMPTY\"); }\n"
        "    { DeviceZoneScopedN(\"NOPS\"); __asm__ volatile(\".rept 100\\nnop\\n.endr\"); }\n"
        "}\n";
    bench self = open_bench("emu:rows=1,cols=1,time=count");
    add_kernel(&self, source, 31, one_core);
    run(&self, 1);
    close_bench(&self);
    const device_log log = read_log();
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        const uint64_t empty = find_row(&log, processors[i], "EMPTY", "ZONE_END")->time -
                               find_row(&log, processors[i], "EMPTY", "ZONE_START")->time;
        const uint64_t nops = find_row(&log, processors[i], "NOPS", "ZONE_END")->time -
                              find_row(&log, processors[i], "NOPS", "ZONE_START")->time;
        assert_true(nops >= empty + 99 && nops <= empty + 102);
        assert_true(empty <= 20);
    }
    free(log.rows);
}

static void data_and_events_carry_their_values(void **state) {
    (void)state;
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self,
               KERNEL "void kernel_main(void) {\n"
                      "    DeviceTimestampedData(\"VALUE\", (uint64_t)1 << 32 | 3);\n"
                      "    for (uint32_t i = 0; i < 3; i++) DeviceRecordEvent(77 + i);\n"
                      "}\n",
               31, one_core);
    run(&self, 1);
    close_bench(&self);
    const device_log log = read_log();
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        const row *data = find_row(&log, processors[i], "VALUE", "TS_DATA");
        assert_true(data->data == (UINT64_C(1) << 32) + 3);
        assert_int_equal(data->line, 3);
        assert_int_equal(count_rows(&log, processors[i], "", "TS_EVENT"), 3);
        assert_int_equal(find_row(&log, processors[i], "", "TS_EVENT")->timer, 77);
    }
    free(log.rows);
}

static void sums_are_one_figure_per_run(void **state) {
    (void)state;
    static const char source[] =
        KERNEL "void kernel_main(void) {\n"
               "    for (uint32_t i = 0; i < 10; i++) {\n"
               "        { DeviceZoneScopedSumN1(\"SHORT\"); __asm__ volatile(\"nop\"); }\n"
               "        { DeviceZoneScopedSumN1(\"LONG\"); "
               "__asm__ volatile(\".rept 50\\nnop\\n.endr\"); }\n"
               "    }\n"
               "}\n";
    setenv("TT_METAL_PROFILER_SUM", "1", 1);
    bench self = open_bench("emu:rows=1,cols=1,time=count");
    add_kernel(&self, source, 31, one_core);
    run(&self, 2);
    close_bench(&self);
    const device_log log = read_log();
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        const row *brief = find_row(&log, processors[i], "SHORT", "ZONE_TOTAL");
        const row *extended = find_row(&log, processors[i], "LONG", "ZONE_TOTAL");
        assert_int_equal(count_rows(&log, processors[i], "LONG", "ZONE_TOTAL"), 2);
        assert_int_equal(extended->data - brief->data, 490);
    }
    free(log.rows);
}

/* Several zones in a scope, on a line, and left by a return in their middle. */
static void zones_of_a_scope_end_in_reverse(void **state) {
    (void)state;
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self,
               KERNEL "void kernel_main(void) {\n"
                      "    DeviceZoneScopedN(\"A\"); DeviceZoneScopedN(\"B\");\n"
                      "    { DeviceZoneScopedN(\"C\"); return; }\n"
                      "}\n",
               1, one_core);
    run(&self, 1);
    close_bench(&self);
    static const char *const expected[] = {"BRISC-FW", "BRISC-KERNEL", "A", "B", "C", "C", "B",
                                           "A"};
    const device_log log = read_log();
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_string_equal(log.rows[i].zone, expected[i]);
        assert_string_equal(log.rows[i].type, i < 5 ? "ZONE_START" : "ZONE_END");
    }
    free(log.rows);
}

/* BRISC starts the others and waits for them; its kernel fills what is left of the buffer. */
static void steps_of_the_firmware_are_zones_if_asked_for(void **state) {
    (void)state;
    setenv("TT_METAL_DEVICE_PROFILER_DISPATCH", "1", 1);
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self,
               KERNEL "void kernel_main(void) {\n"
                      "    for (uint32_t i = 0; i < 250; i++) { DeviceZoneScopedN(\"WORK\"); }\n"
                      "}\n",
               31, one_core);
    run(&self, 4);
    close_bench(&self);
    unsetenv("TT_METAL_DEVICE_PROFILER_DISPATCH");
    const device_log log = read_log();
    assert_int_equal(count_rows(&log, "BRISC", "WORK", "ZONE_END"), 1000);
    assert_int_equal(count_rows(&log, "NCRISC", "WORK", "ZONE_END"), 1000);
    for (size_t i = 0; i < 4; i++) {
        const char *name = i % 2 == 0 ? "BRISC-GO" : "BRISC-WAIT";
        assert_int_equal(count_rows(&log, "BRISC", name, i < 2 ? "ZONE_START" : "ZONE_END"), 4);
    }
    assert_int_equal(count_rows(&log, "NCRISC", "BRISC-GO", "ZONE_START"), 0);
    const uint64_t go = find_row(&log, "BRISC", "BRISC-GO", "ZONE_START")->time;
    const uint64_t wait = find_row(&log, "BRISC", "BRISC-WAIT", "ZONE_START")->time;
    assert_true(go < find_row(&log, "NCRISC", "NCRISC-KERNEL", "ZONE_START")->time);
    assert_true(go < find_row(&log, "BRISC", "BRISC-KERNEL", "ZONE_START")->time);
    assert_true(wait > find_row(&log, "BRISC", "BRISC-KERNEL", "ZONE_END")->time);
    free(log.rows);
}

static void programs_keep_the_ids_they_were_given(void **state) {
    (void)state;
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self, KERNEL "void kernel_main(void) {}", 1, one_core);
    for (uint32_t i = 0; i < 5; i++) {
        sb_program_set_id(self.program, (i + 1) << 10);
        run(&self, 1);
    }
    close_bench(&self);
    const device_log log = read_log();
    assert_int_equal(log.count, 20);
    for (size_t i = 0; i < log.count; i++)
        assert_int_equal(log.rows[i].program, (i / 4 + 1) << 10);
    free(log.rows);
}

static sb_file open_log(const char *name) {
    char path[256];
    sb_file file;
    snprintf(path, sizeof path, "%s/.logs/%s", getenv("TT_METAL_PROFILER_DIR"), name);
    check(sb_file_open(&file, path, &error));
    return file;
}

static void files_beside_the_log_are_written(void **state) {
    (void)state;
    setenv("TT_METAL_PROFILER_SYNC", "1", 1);
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self, ZONES_KERNEL("1"), 1, one_core);
    run(&self, 1);
    close_bench(&self);
    sb_file file = open_log("zone_src_locations.log");
    check_contains(file.text, "'#pragma message: TEST-FULL,test.c,4,KERNEL_PROFILER'\n");
    check_contains(file.text, "'#pragma message: BRISC-FW,strobe/firmware.c,");
    sb_file_close(&file);
    file = open_log("sync_device_info.csv");
    size_t lines = 0;
    for (size_t i = 0; i < file.text.size; i++)
        lines += file.text.data[i] == '\n' ? 1 : 0;
    assert_int_equal(lines, 1 + 249);
    check_contains(file.text, "1.000000000000000");
    sb_file_close(&file);
}

static void replays_are_told_apart(void **state) {
    (void)state;
    sb_device_trace *traces[2];
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self, KERNEL "void kernel_main(void) {}", 1, one_core);
    for (uint32_t i = 0; i < 2; i++) {
        check(sb_device_trace_begin(self.device, &error));
        check(sb_program_enqueue(self.program, &error));
        check(sb_program_enqueue(self.program, &error));
        check(sb_device_trace_end(self.device, &traces[i], &error));
    }
    run(&self, 1);
    check(sb_device_trace_replay(traces[0], &error));
    check(sb_device_trace_replay(traces[1], &error));
    check(sb_device_trace_replay(traces[0], &error));
    check(sb_read_profiler(self.device, &error));
    sb_device_trace_destroy(traces[0]);
    sb_device_trace_destroy(traces[1]);
    close_bench(&self);
    static const struct {
        const char *trace, *session;
        uint32_t program;
    } expected[] = {{"", "", 5},   {"1", "1", 1}, {"1", "1", 2}, {"2", "1", 3},
                    {"2", "1", 4}, {"1", "2", 1}, {"1", "2", 2}};
    const device_log log = read_log();
    assert_int_equal(log.count, 4 * COUNT_OF(expected));
    for (size_t i = 0; i < log.count; i++) {
        assert_string_equal(log.rows[i].trace, expected[i / 4].trace);
        assert_string_equal(log.rows[i].session, expected[i / 4].session);
        assert_int_equal(log.rows[i].program, expected[i / 4].program);
    }
    free(log.rows);
}

/* With TT_METAL_TRACE_PROFILER: from the first start to the last end of each replay. */
static void replays_can_be_seen_as_a_whole(void **state) {
    (void)state;
    sb_device_trace *trace = NULL;
    setenv("TT_METAL_TRACE_PROFILER", "1", 1);
    bench self = open_bench("emu:rows=1,cols=2");
    add_kernel(&self, ZONES_KERNEL("5"), 31, (sb_core_range){{0, 0}, {1, 0}});
    check(sb_device_trace_begin(self.device, &error));
    for (uint32_t i = 0; i < 4; i++)
        check(sb_program_enqueue(self.program, &error));
    check(sb_device_trace_end(self.device, &trace, &error));
    run(&self, 3);
    for (uint32_t i = 0; i < 20; i++)
        check(sb_device_trace_replay(trace, &error));
    sb_device_trace_destroy(trace);
    close_bench(&self);
    unsetenv("TT_METAL_TRACE_PROFILER");
    const device_log log = read_log();
    assert_int_equal(log.count, 2 * 20 * 4);
    assert_int_equal(count_rows(&log, "TENSIX_RISC_AGG", "TRACE-FW", "ZONE_END"), 40);
    assert_int_equal(count_rows(&log, "TENSIX_RISC_AGG", "TRACE-KERNEL", "ZONE_START"), 40);
    for (size_t i = 0; i < log.count; i += 4) {
        const row *at = &log.rows[i];
        assert_true(at[0].time < at[1].time && at[1].time < at[2].time && at[2].time < at[3].time);
        assert_true(at[3].time - at[0].time > 4 * 500);
        assert_int_equal(at[0].program, at[3].program);
    }
    assert_int_equal(log.rows[log.count - 1].program, 20);
    free(log.rows);
}

static void transfers_are_written_as_json(void **state) {
    (void)state;
    static const char source[] =
        KERNEL "void kernel_main(void) {\n"
               "    DeviceZoneScopedN(\"MOVE\");\n"
               "    noc_async_read(get_dram_noc_addr(3, 0x800000), 0x100000, 2048);\n"
               "    noc_async_read_barrier();\n"
               "    noc_async_write(0x100000, get_noc_addr_of_core(1, 0, 0x100000), 100);\n"
               "    noc_async_write_barrier();\n"
               "}\n";
    setenv("TT_METAL_DEVICE_PROFILER_NOC_EVENTS", "1", 1);
    bench self = open_bench("emu:rows=1,cols=2");
    add_kernel(&self, source, 3, one_core);
    run(&self, 1);
    close_bench(&self);
    char path[256];
    sb_file file;
    snprintf(path, sizeof path, "%s/.logs/noc_trace_dev0_ID1.json",
             getenv("TT_METAL_PROFILER_DIR"));
    check(sb_file_open(&file, path, &error));
    static const char *const parts[] = {
        "\"proc\": \"BRISC\", \"src_device_id\": 0, \"sx\": 1, \"sy\": 1,",
        "\"noc\": \"NOC_0\", \"vc\": -1, \"num_bytes\": 2048, \"type\": \"READ\", \"dx\": 0, "
        "\"dy\": 7}",
        "\"noc\": \"NOC_1\", \"vc\": -1, \"num_bytes\": 2048, \"type\": \"READ\", \"dx\": 0, "
        "\"dy\": 7}",
        "\"num_bytes\": 128, \"type\": \"WRITE_\", \"dx\": 2, \"dy\": 1}",
        "\"zone\": \"MOVE\", \"zone_phase\": \"ZONE_START\"}",
        "\"zone\": \"NCRISC-KERNEL\", \"zone_phase\": \"ZONE_END\"}",
    };
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        check_contains(file.text, parts[i]);
    check_lacks(file.text, "-FW");
    sb_file_close(&file);
}

/* A child that is killed after it has run three programs, with or without somebody reading. */
static device_log log_of_killed_child(void) {
    const pid_t child = fork();
    if (child == 0) {
        bench self = open_bench("emu:rows=1,cols=1");
        add_kernel(&self, KERNEL "void kernel_main(void) { DeviceZoneScopedN(\"WORK\"); }", 31,
                   one_core);
        run(&self, 3);
        raise(SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return read_log();
}

static void programs_that_ended_are_in_the_log_of_a_killed_process(void **state) {
    (void)state;
    setenv("TT_METAL_PROFILER_MID_RUN_DUMP", "1", 1);
    const device_log log = log_of_killed_child();
    unsetenv("TT_METAL_PROFILER_MID_RUN_DUMP");
    assert_int_equal(log.count, 3 * SB_PROCESSORS * 6);
    assert_int_equal(count_rows(&log, "TRISC_2", "WORK", "ZONE_END"), 3);
    assert_int_equal(log.rows[log.count - 1].program, 3);
    free(log.rows);
}

static size_t count_parts(sb_slice text, const char *part) {
    size_t count = 0;
    for (size_t i = 0; i + strlen(part) <= text.size; i++)
        count += memcmp(text.data + i, part, strlen(part)) == 0 ? 1 : 0;
    return count;
}

/* Enough of them that the buffer is pushed in the middle, by barriers that are recorded too. */
static void semaphores_words_and_barriers_are_written_if_asked_for(void **state) {
    (void)state;
    static const char source[] =
        KERNEL "void kernel_main(void) {\n"
               "    for (uint32_t i = 0; i < 100; i++) {\n"
               "        noc_semaphore_inc(get_noc_addr_of_core(1, 0, get_semaphore(0)), 1);\n"
               "        noc_async_atomic_barrier();\n"
               "        noc_inline_dw_write(get_noc_addr_of_core(1, 0, 0x100000), i);\n"
               "        noc_async_write_barrier();\n"
               "    }\n"
               "    noc_semaphore_set(get_semaphore(1), 1);\n"
               "    noc_semaphore_wait(get_semaphore(1), 1);\n"
               "}\n";
    static const struct {
        const char *part;
        size_t count;
    } expected[] = {
        {"\"type\": \"SEMAPHORE_INC\", \"dx\": 2, \"dy\": 1}", 200},
        {"\"vc\": -1, \"num_bytes\": 0, \"type\": \"ATOMIC_BARRIER\"}", 200},
        {"\"num_bytes\": 32, \"type\": \"WRITE_INLINE\", \"dx\": 2, \"dy\": 1}", 200},
        {"\"type\": \"WRITE_BARRIER_START\"}", 200},
        {"\"type\": \"WRITE_BARRIER_END\"}", 200},
        {"\"type\": \"SEMAPHORE_SET\"}", 2},
        {"\"type\": \"SEMAPHORE_WAIT\"}", 2},
        /* on each of two processors 502 markers, of which 125 fill a buffer */
        {"\"zone\": \"PROFILER-NOC-QUICK-PUSH\", \"zone_phase\": \"ZONE_START\"}", 8},
    };
    setenv("TT_METAL_NOC_DEBUG_DUMP", "1", 1);
    bench self = open_bench("emu:rows=1,cols=2");
    add_kernel(&self, source, 3, one_core);
    run(&self, 1);
    close_bench(&self);
    unsetenv("TT_METAL_NOC_DEBUG_DUMP");
    char path[256];
    sb_file file;
    snprintf(path, sizeof path, "%s/.logs/noc_trace_dev0_ID1.json",
             getenv("TT_METAL_PROFILER_DIR"));
    check(sb_file_open(&file, path, &error));
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_int_equal(count_parts(file.text, expected[i].part), expected[i].count);
    sb_file_close(&file);
}

/* Where a kernel hangs is seen from the zones it has begun. */
static void a_program_that_hangs_leaves_its_zones(void **state) {
    (void)state;
    static const char source[] =
        KERNEL "void kernel_main(void) {\n"
               "    { DeviceZoneScopedN(\"DONE\"); DeviceTimestampedData(\"VALUE\", 5); }\n"
               "    DeviceZoneScopedN(\"STUCK\");\n"
               "    noc_semaphore_wait(get_semaphore(0), 9);\n"
               "}\n";
    bench self = open_bench("emu:rows=1,cols=1");
    sb_program *before = sb_program_create(self.device);
    uint32_t number = 0;
    check(sb_program_add_kernel(
        before, &(sb_kernel_options){.source = ZONES_KERNEL("50"), .cores = one_core}, &number,
        &error));
    check(sb_program_enqueue(before, &error));
    add_kernel(&self, source, 1, one_core);
    check(sb_program_enqueue(self.program, &error));
    assert_int_equal(sb_device_finish(self.device, &error), SB_ERR_DEVICE);
    sb_program_destroy(before);
    close_bench(&self);
    const device_log log = read_log();
    assert_int_equal(count_rows(&log, "BRISC", "TEST-FULL", "ZONE_END"), 50);
    assert_int_equal(log.count, 104 + 6);
    assert_string_equal(log.rows[log.count - 1].zone, "STUCK");
    assert_int_equal(find_row(&log, "BRISC", "VALUE", "TS_DATA")->data, 5);
    assert_int_equal(count_rows(&log, "BRISC", "STUCK", "ZONE_END"), 0);
    free(log.rows);
}

static void names_with_commas_are_refused(void **state) {
    (void)state;
    bench self = open_bench("emu:rows=1,cols=1");
    add_kernel(&self, KERNEL "void kernel_main(void) { DeviceZoneScopedN(\"A,B\"); }", 1, one_core);
    assert_int_equal(sb_program_enqueue(self.program, &error), SB_ERR_USAGE);
    check_contains(sb_slice_of(error.message), "the zone's name \"A,B\" has a comma");
    close_bench(&self);
}

static void costs_are_measured_when_a_mesh_is_opened(void **state) {
    (void)state;
    bench self = open_bench("emu:rows=1,cols=1,time=count");
    const sb_profiler_costs costs = sb_profiler_cost(self.device);
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        assert_true(costs.zone[i] > 10 && costs.zone[i] <= 40);
    assert_true(costs.push > 100 && costs.push < 1000);
    assert_true(costs.full_push > 50 && costs.full_push < 1000);
    assert_int_equal(total(&self, 1, 1).markers, 0);
    close_bench(&self);
}

/* ---- clocks ---- */

/* Ten seconds in which nothing happens, once the emulator has seen that all processors wait. */
static void pass_ten_seconds(sb_mesh *mesh) {
    for (uint32_t i = 0; i < 1000; i++)
        check(device_run(mesh, DEVICE_POLL_CLOCKS, &error));
    check(device_run(mesh, UINT64_C(10000000000), &error));
}

/* Ten emulated minutes with drift, offset and skew: times land where they were. */
static void times_stay_right_over_ten_minutes(void **state) {
    (void)state;
    setenv("TT_METAL_PROFILER_SYNC", "1", 1);
    bench self = open_bench("emu:rows=2,cols=2,chips=2,drift=50,offset=123456789012,skew=5000");
    sb_device *device = sb_mesh_device(self.mesh, 1);
    sb_program *program = sb_program_create(device);
    uint32_t number = 0;
    check(sb_program_add_kernel(program,
                                &(sb_kernel_options){.source = KERNEL "void kernel_main(void) {}",
                                                     .cores = {{0, 0}, {1, 1}}},
                                &number, &error));
    const profiler_device *profiler = &self.mesh->profiler->devices[1];
    const double error_ns = sb_profiler_error_ns(device);
    assert_true(error_ns > 0 && error_ns < 1000);
    for (uint32_t i = 0; i < 60; i++) {
        pass_ten_seconds(self.mesh);
        const double before = (double)sb_device_clock(device);
        check(sb_program_enqueue(program, &error));
        check(sb_device_finish(device, &error));
        for (uint32_t core = 0; core < 4; core++) {
            uint64_t clock = 0;
            check(profiler_clock_read(device, (sb_core){core % 2, core / 2}, &clock, &error));
            const double now = (double)sb_device_clock(device);
            const double found = profiler_clock_machine(&profiler->clock, core, clock);
            assert_true(found > now - error_ns && found < now + error_ns);
            assert_true(now > before);
        }
        check(sb_read_profiler(device, &error));
    }
    sb_program_destroy(program);
    close_bench(&self);
}

/* Chips drift apart and are not set alike; what the links say is compared with the truth. */
static void links_show_how_clocks_of_chips_differ(void **state) {
    (void)state;
    const double drift = 50e-6;
    const double offset = 123456789012.0;
    setenv("TT_METAL_PROFILER_SYNC", "1", 1);
    bench self = open_bench("emu:rows=1,cols=2,chips=3,drift=50,offset=123456789012");
    assert_int_equal(sb_profiler_link_of(self.device).samples, 0);
    for (uint32_t i = 1; i < 3; i++) {
        uint64_t clock = 0;
        sb_device *device = sb_mesh_device(self.mesh, i);
        const sb_profiler_link link = sb_profiler_link_of(device);
        assert_true(link.samples > 200);
        assert_true(link.error > 0 && link.error < 2000);
        assert_true(fabs(link.ratio * (1 + i * drift) - 1) < 1e-6);
        check(profiler_clock_read(device, (sb_core){0, 0}, &clock, &error));
        const double truth = ((double)clock - i * offset) / (1 + i * drift);
        assert_true(fabs(link.ratio * (double)clock + link.shift - truth) < link.error);
    }
    close_bench(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(without_profiling_zones_leave_no_trace_in_the_code),
        TEST(every_processor_has_firmware_and_kernel_zones),
        TEST(the_master_ends_last),
        TEST(zones_last_as_long_as_their_code),
        TEST(data_and_events_carry_their_values),
        TEST(sums_are_one_figure_per_run),
        TEST(zones_of_a_scope_end_in_reverse),
        TEST(steps_of_the_firmware_are_zones_if_asked_for),
        TEST(programs_keep_the_ids_they_were_given),
        TEST(files_beside_the_log_are_written),
        TEST(replays_are_told_apart),
        TEST(replays_can_be_seen_as_a_whole),
        TEST(programs_that_ended_are_in_the_log_of_a_killed_process),
        TEST(transfers_are_written_as_json),
        TEST(semaphores_words_and_barriers_are_written_if_asked_for),
        TEST(a_program_that_hangs_leaves_its_zones),
        TEST(names_with_commas_are_refused),
        TEST(costs_are_measured_when_a_mesh_is_opened),
        TEST(times_stay_right_over_ten_minutes),
        TEST(links_show_how_clocks_of_chips_differ),
    };
    return RUN(tests);
}
