/*
 * For tests of the profiler: a device that is profiled, kernels with zones, and the log they leave.
 */
#ifndef SB_TESTS_UNIT_PROFILER_TESTING_H
#define SB_TESTS_UNIT_PROFILER_TESTING_H

#include <strobe/device.h>
#include <strobe/kernel_layout.h>

#include "device/device_mesh.h"
#include "device/profiler/profiler.h"

#include "testing.h"

#define KERNEL "#include <strobe/kernel.h>\n"
#define ROWS_MAX 200000

static sb_error error;

static inline void check(sb_status status) {
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

static inline int set_up(void **state) {
    (void)state;
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    setenv("TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY", "1", 1);
    char folder[64] = "profiler_test.XXXXXX";
    if (mkdtemp(folder) == NULL)
        return 1;
    setenv("TT_METAL_PROFILER_DIR", folder, 1);
    return 0;
}

static inline int tear_down(void **state) {
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

static inline bench open_bench(const char *name) {
    bench self = {0};
    check(sb_mesh_open(name, &self.mesh, &error));
    self.device = sb_mesh_device(self.mesh, 0);
    self.program = sb_program_create(self.device);
    return self;
}

static inline void add_kernel(const bench *self, const char *source, uint32_t processors,
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

static inline void run(const bench *self, uint32_t times) {
    for (uint32_t i = 0; i < times; i++) {
        check(sb_program_enqueue(self->program, &error));
        check(sb_device_finish(self->device, &error));
    }
}

static inline void close_bench(bench *self) {
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

static inline sb_slice next_field(sb_slice *line) {
    return sb_slice_cut(*line, ',', line);
}

static inline void copy_field(char *to, size_t size, sb_slice *line) {
    const sb_slice field = next_field(line);
    snprintf(to, size, "%.*s", (int)field.size, field.data);
}

static inline uint64_t number_field(sb_slice *line) {
    int64_t number = 0;
    const sb_slice field = next_field(line);
    if (!sb_parse_int64(field, &number))
        fail_msg("'%.*s' is no number", (int)field.size, field.data);
    return (uint64_t)number;
}

static inline row read_row(sb_slice line) {
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

static inline device_log read_log(void) {
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

static inline size_t count_rows(const device_log *log, const char *processor, const char *zone,
                                const char *type) {
    size_t count = 0;
    for (size_t i = 0; i < log->count; i++)
        if (strcmp(log->rows[i].processor, processor) == 0 &&
            strcmp(log->rows[i].zone, zone) == 0 && strcmp(log->rows[i].type, type) == 0)
            count++;
    return count;
}

static inline const row *find_row(const device_log *log, const char *processor, const char *zone,
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

/* ---- kernels ---- */

#define ZONES_KERNEL(count)                               \
    KERNEL "void kernel_main(void) {\n"                   \
           "for (uint32_t i = 0; i < " count "; i++) {\n" \
           "DeviceZoneScopedN(\"TEST-FULL\");\n"          \
           "__asm__ volatile(\"nop\");\n}\n}\n"

/* What became of all markers of a device. */
static inline sb_profiler_counts total(const bench *self, uint32_t rows, uint32_t columns) {
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

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

#endif
