/*
 * GPUs as devices, on a GPU made of threads (cuda_fake_driver.c): programs, parameters, traces, the
 * device log, and what is refused. Real ones: examples/cuda.
 */
#include <dlfcn.h>

#include <strobe/device.h>

#include "cuda/cuda_driver.h"
#include "cuda_fake_driver.h"
#include "testing.h"

enum { COUNT = 16, BLOCKS = 6, THREADS = 64, SMS = 4 };

static const char source[] = "extern \"C\" __global__ void scale(float *, float, int);";

static sb_error error;
static test_folder folder;

static void check(sb_status status) {
    if (status != SB_OK)
        fail_msg("%s", error.message);
}

static void check_refused(sb_status status, const char *text) {
    assert_int_not_equal(status, SB_OK);
    check_contains(sb_slice_of(error.message), text);
}

static int begin(void **state) {
    (void)state;
    folder = make_folder();
    setenv("TT_METAL_PROFILER_DIR", folder.path, 1);
    return 0;
}

static int end(void **state) {
    (void)state;
    unsetenv("TT_METAL_DEVICE_PROFILER");
    unlink(path_in(&folder, ".logs/profile_log_device.csv"));
    rmdir(path_in(&folder, ".logs"));
    remove_folder(&folder);
    return 0;
}

static sb_mesh *open_gpu(void) {
    sb_mesh *mesh = NULL;
    check(sb_mesh_open("cuda", &mesh, &error));
    return mesh;
}

static sb_buffer *make_buffer(sb_device *device) {
    sb_buffer *buffer = NULL;
    float values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)i;
    check(sb_buffer_create(device, &(sb_buffer_options){.size = sizeof values}, &buffer, &error));
    check(sb_buffer_write(buffer, 0, values, sizeof values, &error));
    return buffer;
}

static void check_buffer(sb_buffer *buffer, float factor) {
    float values[COUNT];
    check(sb_buffer_read(buffer, 0, values, sizeof values, &error));
    for (int i = 0; i < COUNT; i++)
        assert_true(values[i] == (float)i * factor);
}

static sb_program *make_program(sb_device *device, const sb_buffer *buffer, float by) {
    sb_program *program = sb_program_create(device);
    const uint64_t address = sb_buffer_address(buffer);
    const int32_t count = COUNT;
    uint32_t kernel = 7;
    const sb_kernel_options options = {.source = source,
                                       .name = "scale.cu",
                                       .function = "scale",
                                       .grid = {BLOCKS},
                                       .block = {THREADS}};
    const sb_parameter parameters[] = {SB_PARAMETER(address), SB_PARAMETER(by),
                                       SB_PARAMETER(count)};
    check(sb_program_add_kernel(program, &options, &kernel, &error));
    assert_int_equal(kernel, 0);
    check(sb_program_set_parameters(program, kernel, parameters, 3, &error));
    return program;
}

static void gpus_are_described(void **state) {
    (void)state;
    sb_mesh *mesh = open_gpu();
    const sb_device_info *info = sb_device_describe(sb_mesh_device(mesh, 0));
    assert_string_equal(info->backend, "cuda");
    assert_string_equal(info->name, "NVIDIA A100-SXM4-80GB");
    assert_string_equal(info->architecture, "a100");
    assert_string_equal(info->time_model, "measured");
    assert_int_equal(info->cores, SMS);
    assert_int_equal(info->columns, 2);
    assert_int_equal(info->rows, 2);
    assert_int_equal(info->clock_mhz, 2000);
    assert_null(sb_mesh_device(mesh, 1));
    assert_false(sb_profiler_is_on(sb_mesh_device(mesh, 0)));
    sb_mesh_close(mesh);
    check_refused(sb_mesh_open("cuda:gpus=2", &mesh, &error),
                  "2 GPUs are asked for; the CUDA driver shows 1");
}

static void programs_and_traces_run(void **state) {
    (void)state;
    sb_mesh *mesh = open_gpu();
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_buffer *buffer = make_buffer(device);
    sb_program *program = make_program(device, buffer, 2);
    check(sb_program_enqueue(program, &error));
    check(sb_device_finish(device, &error));
    check_buffer(buffer, 2);
    assert_int_equal(sb_program_kernel_count(program), 1);
    assert_int_equal(sb_program_kernel_size(program, 0).registers, 40);
    sb_device_trace *trace = NULL;
    check(sb_device_trace_begin(device, &error));
    check(sb_program_enqueue(program, &error));
    check(sb_program_enqueue(program, &error));
    check(sb_device_trace_end(device, &trace, &error));
    check_buffer(buffer, 2);
    check(sb_device_trace_replay(trace, &error));
    check(sb_device_trace_replay(trace, &error));
    check_buffer(buffer, 32);
    sb_device_trace_destroy(trace);
    sb_program_destroy(program);
    sb_buffer_destroy(buffer);
    sb_mesh_close(mesh);
}

/* ---- what is refused ---- */

static void what_gpus_do_not_have_is_refused(void **state) {
    (void)state;
    sb_mesh *mesh = open_gpu();
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    sb_buffer *buffer = NULL;
    uint32_t number = 0;
    char bytes[4] = {0};
    const sb_core core = {0, 0};
    const sb_core_range cores = {{0, 0}, {1, 1}};
    check_refused(sb_device_read_l1(device, core, 0, bytes, 4, &error), "a GPU has no L1");
    check_refused(sb_device_write_l1(device, core, 0, bytes, 4, &error), "a GPU has no L1");
    check_refused(sb_device_read_dram(device, 0, 0, bytes, 4, &error), "has no banks");
    check_refused(sb_device_write_dram(device, 0, 0, bytes, 4, &error), "has no banks");
    check_refused(sb_buffer_create(device, &(sb_buffer_options){.memory = SB_L1, .size = 64},
                                   &buffer, &error),
                  "a GPU has no L1 for buffers");
    check_refused(sb_buffer_create(device, &(sb_buffer_options){.layout = SB_SHARDED, .size = 64},
                                   &buffer, &error),
                  "cannot be sharded");
    check_refused(sb_program_add_circular(program, &(sb_circular_options){.page_size = 32}, &error),
                  "a GPU has no circular buffers");
    check_refused(sb_program_add_semaphore(program, cores, 0, &number, &error),
                  "a GPU has no semaphores");
    check_refused(sb_program_set_args(program, 0, core, &number, 1, &error),
                  "sb_program_set_parameters");
    check_refused(sb_program_enqueue(program, &error), "without kernels");
    const sb_kernel_options with_elf = {.elf = "kernel.elf"};
    const sb_kernel_options with_cores = {.source = source, .cores = cores};
    const sb_kernel_options with_nothing = {.function = "scale"};
    check_refused(sb_program_add_kernel(program, &with_elf, &number, &error), "not from elf");
    check_refused(sb_program_add_kernel(program, &with_cores, &number, &error),
                  "a GPU places blocks by itself");
    check_refused(sb_program_add_kernel(program, &with_nothing, &number, &error),
                  "one of path and source");
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

static void kernels_that_do_not_fit_are_errors(void **state) {
    (void)state;
    sb_mesh *mesh = open_gpu();
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_buffer *buffer = make_buffer(device);
    sb_program *program = make_program(device, buffer, 2);
    const uint64_t number = 1;
    const uint32_t word = 0;
    const sb_parameter wide[] = {SB_PARAMETER(number), SB_PARAMETER(number), SB_PARAMETER(word)};
    const sb_parameter many[] = {SB_PARAMETER(number), SB_PARAMETER(word), SB_PARAMETER(word),
                                 SB_PARAMETER(word)};
    check(sb_program_set_parameters(program, 0, wide, 3, &error));
    check_refused(sb_program_enqueue(program, &error),
                  "parameter 2 of kernel scale has 4 bytes; 8 are set");
    check(sb_program_set_parameters(program, 0, many, 4, &error));
    check_refused(sb_program_enqueue(program, &error),
                  "kernel scale takes 3 parameters; 4 are set");
    check(sb_program_set_parameters(program, 0, wide, 1, &error));
    check_refused(sb_program_enqueue(program, &error),
                  "kernel scale takes 3 parameters; 1 are set");
    check_refused(sb_program_set_parameters(program, 1, wide, 2, &error), "has no kernel 1");
    sb_program_destroy(program);
    static const struct {
        sb_kernel_options options;
        const char *text;
    } cases[] = {
        {{.source = "#error", .name = "wrong.cu"}, "wrong.cu: cannot be built"},
        {{.source = source, .function = "nobody"}, "the module has no kernel nobody"},
        {{.path = "/no/such/kernel.cu"}, "/no/such/kernel.cu"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint32_t kernel = 0;
        program = sb_program_create(device);
        check(sb_program_add_kernel(program, &cases[i].options, &kernel, &error));
        check_refused(sb_program_build(program, &error), cases[i].text);
        sb_program_destroy(program);
    }
    sb_buffer_destroy(buffer);
    sb_mesh_close(mesh);
}

/* ---- the profiler ---- */

/* Lines of the log that have all of the given parts. */
static size_t count_lines(sb_slice text, const char *first, const char *second) {
    size_t count = 0;
    while (text.size > 0) {
        const sb_slice line = sb_slice_cut(text, '\n', &text);
        if (sb_slice_contains(line, first) && sb_slice_contains(line, second))
            count++;
    }
    return count;
}

static void zones_are_in_the_log(void **state) {
    (void)state;
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    sb_mesh *mesh = open_gpu();
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_buffer *buffer = make_buffer(device);
    sb_program *program = make_program(device, buffer, 2);
    sb_device_trace *trace = NULL;
    sb_program_set_id(program, 1024);
    check(sb_program_enqueue(program, &error));
    check(sb_device_trace_begin(device, &error));
    sb_program_set_id(program, 2048);
    check(sb_program_enqueue(program, &error));
    check(sb_device_trace_end(device, &trace, &error));
    for (int i = 0; i < 3; i++)
        check(sb_device_trace_replay(trace, &error));
    check(sb_read_profiler(device, &error));
    assert_true(sb_profiler_is_on(device));
    assert_true(sb_profiler_error_ns(device) > 0);
    /* 4 launches on this SM: two blocks of two warps with two zones, and two zones of the SM. */
    const sb_profiler_counts counts = sb_profiler_count(device, (sb_core){0, 0}, SB_BRISC);
    assert_int_equal(counts.markers, 4 * (2 * 2 * 2 * 2 + 4));
    sb_device_trace_destroy(trace);
    sb_program_destroy(program);
    sb_buffer_destroy(buffer);
    sb_mesh_close(mesh);

    sb_file file;
    check(sb_file_open(&file, path_in(&folder, ".logs/profile_log_device.csv"), &error));
    assert_true(sb_slice_starts_with(
        file.text, "ARCH: a100, CHIP_FREQ[MHz]: 2000, Max Compute Cores: 4\nPCIe slot, core_x"));
    /* 6 blocks of two warps go round 4 SMs. */
    assert_int_equal(count_lines(file.text, ",1024,,,SCALE,ZONE_START,7,kernel.cu", "WARP_"), 12);
    assert_int_equal(count_lines(file.text, ",1024,,,MULTIPLY,ZONE_END,7,kernel.cu", "WARP_"), 12);
    assert_int_equal(count_lines(file.text, ",1024,,,BRISC-FW,ZONE_START", ",BRISC,"), SMS);
    assert_int_equal(count_lines(file.text, ",1024,,,BRISC-KERNEL,ZONE_END", ",BRISC,"), SMS);
    for (int i = 1; i <= 3; i++) {
        char run[64];
        snprintf(run, sizeof run, ",2048,1,%d,BRISC-KERNEL,ZONE_START", i);
        assert_int_equal(count_lines(file.text, run, ",BRISC,"), SMS);
    }
    assert_int_equal(count_lines(file.text, "0,1,1,BRISC,", "ZONE_START"), 2 * 4);
    assert_int_equal(count_lines(file.text, "ZONE_START", ","),
                     count_lines(file.text, "ZONE_END", ","));
    sb_file_close(&file);
}

static fake_state *find_fake(void) {
    static struct { fake_state *(*get)(void); } calls;
    static const cuda_symbol symbols[] = {{"fake_get", 0}};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    assert_non_null(driver);
    assert_null(cuda_find_symbols(driver, symbols, COUNT_OF(symbols), &calls));
    return calls.get();
}

static sb_program *make_flood(sb_device *device, int32_t zones) {
    sb_program *program = sb_program_create(device);
    const sb_parameter parameters[] = {SB_PARAMETER(zones)};
    const sb_kernel_options options = {.source = source, .function = "flood"};
    uint32_t kernel = 0;
    check(sb_program_add_kernel(program, &options, &kernel, &error));
    check(sb_program_set_parameters(program, kernel, parameters, 1, &error));
    return program;
}

/* So many launches are read before the next one; which cannot be while a graph is captured. */
static void launches_that_cannot_be_waited_for_are_read_later(void **state) {
    (void)state;
    enum { LAUNCHES_MOST = 4096 };
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    fake_state *fake = find_fake();
    sb_mesh *mesh = open_gpu();
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_buffer *buffer = make_buffer(device);
    sb_program *program = make_program(device, buffer, 2);
    sb_program *empty = make_flood(device, 0);
    for (int i = 1; i < LAUNCHES_MOST; i++)
        check(sb_program_enqueue(empty, &error));
    sb_program_set_id(program, 4096);
    check(sb_program_enqueue(program, &error));
    fake->is_capture_blocking = true;
    fake->is_capturing = true;
    check_refused(sb_program_enqueue(program, &error), "while a graph is captured");
    fake->is_capturing = false;
    check(sb_read_profiler(device, &error));
    assert_int_equal(sb_profiler_count(device, (sb_core){0, 0}, SB_BRISC).markers,
                     2 * 2 * 2 * 2 + 4);
    sb_program_destroy(empty);
    sb_program_destroy(program);
    sb_buffer_destroy(buffer);
    sb_mesh_close(mesh);
}

/* More zones that are open at a time than the 16 chunks of an SM hold. */
static void losses_are_counted(void **state) {
    (void)state;
    enum { ZONES = 3000, ROOM = 16 * (128 - 2) };
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    sb_mesh *mesh = open_gpu();
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = make_flood(device, ZONES);
    const sb_core first = {0, 0};
    const uint64_t before = sb_profiler_count(device, first, SB_BRISC).dropped;
    check(sb_program_enqueue(program, &error));
    check(sb_read_profiler(device, &error));
    const uint64_t dropped = sb_profiler_count(device, first, SB_BRISC).dropped - before;
    assert_true(dropped >= ZONES - ROOM && dropped < ZONES);
    assert_int_equal(sb_profiler_count(device, (sb_core){1, 1}, SB_BRISC).dropped, 0);
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

/* The last one: the GPU does not come back. */
static void a_kernel_that_fails_stops_the_mesh(void **state) {
    (void)state;
    sb_mesh *mesh = open_gpu();
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    uint32_t kernel = 0;
    const sb_kernel_options options = {.source = source, .function = "trap"};
    check(sb_program_add_kernel(program, &options, &kernel, &error));
    check(sb_program_enqueue(program, &error));
    check_refused(sb_device_finish(device, &error), "kernels failed: unspecified launch failure");
    check_refused(sb_program_enqueue(program, &error),
                  "kernels failed: unspecified launch failure");
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

int main(void) {
    setenv("STROBE_CUDA_CHUNKS", "16", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gpus_are_described, begin, end),
        cmocka_unit_test_setup_teardown(programs_and_traces_run, begin, end),
        cmocka_unit_test_setup_teardown(what_gpus_do_not_have_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(kernels_that_do_not_fit_are_errors, begin, end),
        cmocka_unit_test_setup_teardown(zones_are_in_the_log, begin, end),
        cmocka_unit_test_setup_teardown(launches_that_cannot_be_waited_for_are_read_later, begin,
                                        end),
        cmocka_unit_test_setup_teardown(losses_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(a_kernel_that_fails_stops_the_mesh, begin, end),
    };
    return RUN(tests);
}
