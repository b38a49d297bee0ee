/* Kernels that are profiled on the emulator, from their zones to the log. */
#include <strobe/device.h>
#include <strobe/kernel_layout.h>

#include "device/device_mesh.h"
#include "device/profiler/profiler.h"

#include "testing.h"

#define KERNEL "#include <strobe/kernel.h>\n"
#define ROWS_MAX 200000

static sb_error error;

static void check(sb_status status) {
    if (status != SB_OK)
        fail_msg("%s", error.message);
}

/* ---- a device that is profiled ---- */

typedef struct bench {
    sb_mesh *mesh;
    sb_device *device;
    sb_program *program;
} bench;

static const sb_core_range one_core = {{0, 0}, {0, 0}};

static int set_up(void **state) {
    (void)state;
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    setenv("TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY", "1", 1);
    char folder[64] = "profiler_test.XXXXXX";
    if (mkdtemp(folder) == NULL)
        return 1;
    setenv("TT_METAL_PROFILER_DIR", folder, 1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char path[256];
    const char *folder = getenv("TT_METAL_PROFILER_DIR");
    static const char *const names[] = {"profile_log_device.csv", "profiler_costs.csv",
                                        "zone_src_locations.log", "sync_device_info.csv",
                                        "noc_trace_dev0_ID1.json"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/.logs/%s", folder, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/.logs", folder);
    rmdir(path);
    rmdir(folder);
    unsetenv("STROBE_PROFILER_MODE");
    unsetenv("TT_METAL_PROFILER_SUM");
    unsetenv("TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT");
    unsetenv("TT_METAL_PROFILER_SYNC");
    unsetenv("TT_METAL_DEVICE_PROFILER_NOC_EVENTS");
    return 0;
}

static bench open_bench(const char *name) {
    bench self = {0};
    check(sb_mesh_open(name, &self.mesh, &error));
    self.device = sb_mesh_device(self.mesh, 0);
    self.program = sb_program_create(self.device);
    return self;
}

static void add_kernel(const bench *self, const char *source, uint32_t processors,
                       sb_core_range cores) {
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        uint32_t number = 0;
        if ((processors >> i & 1) != 0)
            check(sb_program_add_kernel(self->program,
                                        &(sb_kernel_options){.source = source,
                                                             .name = "test.c",
                                                             .processor = (sb_processor)i,
                                                             .cores = cores},
                                        &number, &error));
    }
}

static void run(const bench *self, uint32_t times) {
    for (uint32_t i = 0; i < times; i++) {
        check(sb_program_enqueue(self->program, &error));
        check(sb_device_finish(self->device, &error));
    }
}

static void close_bench(bench *self) {
    sb_program_destroy(self->program);
    sb_mesh_close(self->mesh);
}

/* ---- the log ---- */

typedef struct row {
    char core[16];
    char processor[16];
    uint32_t timer;
    uint64_t time, data;
    uint32_t program;
    char trace[8], session[8];
    char zone[64], type[16];
    uint32_t line;
} row;

typedef struct device_log {
    row *rows;
    size_t count;
} device_log;

static sb_slice next_field(sb_slice *line) {
    return sb_slice_cut(*line, ',', line);
}

static void copy_field(char *to, size_t size, sb_slice *line) {
    const sb_slice field = next_field(line);
    snprintf(to, size, "%.*s", (int)field.size, field.data);
}

static uint64_t number_field(sb_slice *line) {
    int64_t number = 0;
    const sb_slice field = next_field(line);
    if (!sb_parse_int64(field, &number))
        fail_msg("'%.*s' is no number", (int)field.size, field.data);
    return (uint64_t)number;
}

static row read_row(sb_slice line) {
    row read = {0};
    next_field(&line);
    const sb_slice x = next_field(&line);
    const sb_slice y = next_field(&line);
    snprintf(read.core, sizeof read.core, "%.*s,%.*s", (int)x.size, x.data, (int)y.size, y.data);
    copy_field(read.processor, sizeof read.processor, &line);
    read.timer = (uint32_t)number_field(&line);
    read.time = number_field(&line);
    read.data = number_field(&line);
    read.program = (uint32_t)number_field(&line);
    copy_field(read.trace, sizeof read.trace, &line);
    copy_field(read.session, sizeof read.session, &line);
    copy_field(read.zone, sizeof read.zone, &line);
    copy_field(read.type, sizeof read.type, &line);
    read.line = (uint32_t)number_field(&line);
    return read;
}

static device_log read_log(void) {
    char path[256];
    sb_file file;
    device_log log = {.rows = sb_alloc(ROWS_MAX * sizeof(row))};
    snprintf(path, sizeof path, "%s/.logs/profile_log_device.csv", getenv("TT_METAL_PROFILER_DIR"));
    check(sb_file_open(&file, path, &error));
    sb_slice rest = file.text;
    check_contains(sb_slice_cut(rest, '\n', &rest), "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000");
    check_contains(sb_slice_cut(rest, '\n', &rest), "time[cycles since reset], data, run host ID");
    while (rest.size > 0) {
        assert_true(log.count < ROWS_MAX);
        log.rows[log.count++] = read_row(sb_slice_cut(rest, '\n', &rest));
    }
    sb_file_close(&file);
    return log;
}

static size_t count_rows(const device_log *log, const char *processor, const char *zone,
                         const char *type) {
    size_t count = 0;
    for (size_t i = 0; i < log->count; i++)
        if (strcmp(log->rows[i].processor, processor) == 0 &&
            strcmp(log->rows[i].zone, zone) == 0 && strcmp(log->rows[i].type, type) == 0)
            count++;
    return count;
}

static const row *find_row(const device_log *log, const char *processor, const char *zone,
                           const char *type) {
    for (size_t i = 0; i < log->count; i++)
        if (strcmp(log->rows[i].processor, processor) == 0 &&
            strcmp(log->rows[i].zone, zone) == 0 && strcmp(log->rows[i].type, type) == 0)
            return &log->rows[i];
    fail_msg("no %s of %s on %s", type, zone, processor);
    return NULL;
}

static const char *const processors[SB_PROCESSORS] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1",
                                                      "TRISC_2"};
static const char *const kinds[SB_PROCESSORS] = {"BRISC", "NCRISC", "TRISC", "TRISC", "TRISC"};

/* ---- kernels ---- */

#define ZONES_KERNEL(count)                               \
    KERNEL "void kernel_main(void) {\n"                   \
           "for (uint32_t i = 0; i < " count "; i++) {\n" \
           "DeviceZoneScopedN(\"TEST-FULL\");\n"          \
           "__asm__ volatile(\"nop\");\n}\n}\n"

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
        assert_int_equal(find_row(&log, processors[i], name, "ZONE_END")->timer,
                         kernel->timer + 65536);
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
        assert_int_equal(find_row(&log, processors[i], "", "TS_EVENT")->timer, 4 * 65536 + 77);
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
        "\"noc\": \"NOC_0\", \"vc\": 0, \"num_bytes\": 2048, \"type\": \"READ\", \"dx\": 0, "
        "\"dy\": 7}",
        "\"noc\": \"NOC_1\", \"vc\": 0, \"num_bytes\": 2048, \"type\": \"READ\", \"dx\": 0, "
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

/* ---- when there is much ---- */

static sb_profiler_counts total(const bench *self, uint32_t rows, uint32_t columns) {
    sb_profiler_counts sum = {0};
    for (uint32_t core = 0; core < rows * columns; core++)
        for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
            const sb_profiler_counts counts = sb_profiler_count(
                self->device, (sb_core){core % columns, core / columns}, (sb_processor)i);
            sum.markers += counts.markers;
            sum.refused += counts.refused;
            sum.dropped += counts.dropped;
            sum.overwritten += counts.overwritten;
            sum.strange += counts.strange;
        }
    return sum;
}

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
                assert_int_equal(stack[--depth] + 65536, at->timer);
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

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(without_profiling_zones_leave_no_trace_in_the_code),
        TEST(every_processor_has_firmware_and_kernel_zones),
        TEST(the_master_ends_last),
        TEST(zones_last_as_long_as_their_code),
        TEST(data_and_events_carry_their_values),
        TEST(sums_are_one_figure_per_run),
        TEST(programs_keep_the_ids_they_were_given),
        TEST(files_beside_the_log_are_written),
        TEST(replays_are_told_apart),
        TEST(transfers_are_written_as_json),
        TEST(ten_thousand_zones_in_a_kernel_are_all_there),
        TEST(zones_that_stay_open_while_room_is_made_keep_their_ends),
        TEST(dropped_markers_are_counted_exactly),
        TEST(the_newest_programs_are_kept),
        TEST(accumulated_programs_are_all_there),
        TEST(many_programs_lose_nothing),
        TEST(old_markers_are_not_sent_again),
        TEST(a_program_that_hangs_leaves_its_zones),
        TEST(names_with_commas_are_refused),
        TEST(costs_are_measured_when_a_mesh_is_opened),
        TEST(times_stay_right_over_ten_minutes),
    };
    return RUN(tests);
}
