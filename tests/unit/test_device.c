#include <strobe/device.h>
#include <strobe/kernel_layout.h>

#include "testing.h"

#define KERNEL "#include <strobe/kernel.h>\n"
#define RESULT 0x100000u /* where kernels of these tests leave their results */

static sb_error error;

static void check(sb_status status) {
    if (status != SB_OK)
        fail_msg("%s", error.message);
}

static sb_mesh *open_mesh(const char *name) {
    sb_mesh *mesh = NULL;
    check(sb_mesh_open(name, &mesh, &error));
    return mesh;
}

static const sb_core_range one_core = {{0, 0}, {0, 0}};

/* Adds a kernel made of text, whose first line is line 2. */
static uint32_t add_kernel(sb_program *program, const char *source, sb_processor processor,
                           sb_core_range cores) {
    uint32_t number = 0;
    check(sb_program_add_kernel(
        program,
        &(sb_kernel_options){
            .source = source, .name = "test.c", .processor = processor, .cores = cores},
        &number, &error));
    return number;
}

static uint32_t result_of(sb_device *device, sb_core core, uint32_t index) {
    uint32_t word = 0;
    check(sb_device_read_l1(device, core, RESULT + index * 4, &word, 4, &error));
    return word;
}

/* Runs one kernel on one core and returns how that ended. */
static sb_status run_one(const char *mesh_name, const char *source, sb_processor processor) {
    sb_mesh *mesh = NULL;
    check(sb_mesh_open(mesh_name, &mesh, &error));
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    add_kernel(program, source, processor, one_core);
    sb_status status = sb_program_enqueue(program, &error);
    if (status == SB_OK)
        status = sb_device_finish(device, &error);
    sb_program_destroy(program);
    sb_mesh_close(mesh);
    return status;
}

/* ---- names ---- */

static void names_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *name;
        const char *text;
    } cases[] = {
        {"gpu", "there is no device 'gpu'"},
        {"cuda:gpus=0", "cuda has one option, gpus=1 to gpus=64, not 'gpus=0'"},
        {"cuda:sms=3", "cuda has one option"},
        {"cuda:0", "cuda has one option"},
        {"emu:rows=11", "option rows of the emulator is 1 to 10, not '11'"},
        {"emu:cols=0", "option cols"},
        {"emu:time=fast", "count or modelled"},
        {"emu:speed=2", "no option 'speed'"},
        {"emu:drift=x", "option drift"},
        {"ttsim", "needs the path"},
        {"ttsim:/no/such/library.so", "the simulator has ended"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_mesh *mesh = NULL;
        assert_int_not_equal(sb_mesh_open(cases[i].name, &mesh, &error), SB_OK);
        check_contains(sb_slice_of(error.message), cases[i].text);
    }
}

static void options_are_described(void **state) {
    (void)state;
    sb_mesh *mesh = open_mesh("emu:rows=3,cols=2,chips=2,time=count");
    assert_int_equal(sb_mesh_device_count(mesh), 2);
    const sb_device_info *info = sb_device_describe(sb_mesh_device(mesh, 1));
    assert_int_equal(info->rows, 3);
    assert_int_equal(info->columns, 2);
    assert_int_equal(info->index, 1);
    assert_string_equal(info->time_model, "count");
    assert_string_equal(info->backend, "emu");
    assert_null(sb_mesh_device(mesh, 2));
    sb_mesh_close(mesh);
}

/* ---- programs ---- */

static void kernels_get_arguments_and_defines(void **state) {
    (void)state;
    sb_mesh *mesh = open_mesh("emu:rows=2,cols=2");
    sb_device *device = sb_mesh_device(mesh, 0);
    const sb_core_range all = {{0, 0}, {1, 1}};
    const sb_define defines[] = {{"SCALE", "3"}};
    for (uint32_t processor = 0; processor < SB_PROCESSORS; processor++) {
        sb_program *program = sb_program_create(device);
        uint32_t kernel = 0;
        check(sb_program_add_kernel(
            program,
            &(sb_kernel_options){.source = KERNEL
                                 "static int kept = 4;\n"
                                 "void kernel_main(void) { volatile uint32_t *out = (volatile "
                                 "uint32_t *)0x100000; kept++; out[STROBE_PROCESSOR] = "
                                 "get_arg_val(0) * SCALE + get_arg_val(1) + (uint32_t)kept; }",
                                 .processor = (sb_processor)processor,
                                 .cores = all,
                                 .defines = defines,
                                 .define_count = 1},
            &kernel, &error));
        for (uint32_t i = 0; i < 4; i++)
            check(sb_program_set_args(program, kernel, (sb_core){i % 2, i / 2},
                                      (uint32_t[]){10 * i, processor}, 2, &error));
        /* Twice: data of a kernel are fresh at every launch. */
        for (int round = 0; round < 2; round++) {
            check(sb_program_enqueue(program, &error));
            check(sb_device_finish(device, &error));
            for (uint32_t i = 0; i < 4; i++)
                assert_int_equal(result_of(device, (sb_core){i % 2, i / 2}, processor),
                                 30 * i + processor + 5);
        }
        sb_program_destroy(program);
    }
    sb_mesh_close(mesh);
}

/* One core writes to three at once, then raises their semaphores; from either NoC. */
static void cores_are_told_by_multicast(void **state) {
    (void)state;
    const char *source =
        KERNEL "void kernel_main(void) { const uint32_t semaphore = get_semaphore(0);\n"
               "volatile uint32_t *data = (volatile uint32_t *)0x110000;\n"
               "if (get_absolute_logical_x() == 0) { data[0] = 41; noc_async_write_multicast("
               "0x110000, get_noc_multicast_addr_of_cores(1, 0, 3, 0, 0x110000), 32, 3); "
               "noc_async_write_barrier(); noc_semaphore_set(semaphore, 1); "
               "noc_semaphore_set_multicast(semaphore, get_noc_multicast_addr_of_cores(1, 0, 3, 0, "
               "semaphore), 3); noc_async_write_barrier(); }\n"
               "noc_semaphore_wait(semaphore, 1);\n"
               "*(volatile uint32_t *)0x100000 = data[0] + get_absolute_logical_x(); }";
    const sb_core_range row = {{0, 0}, {3, 0}};
    for (uint32_t processor = SB_BRISC; processor <= SB_NCRISC; processor++) {
        sb_mesh *mesh = open_mesh("emu:rows=2,cols=4");
        sb_device *device = sb_mesh_device(mesh, 0);
        sb_program *program = sb_program_create(device);
        uint32_t id = 0;
        check(sb_program_add_semaphore(program, row, 0, &id, &error));
        add_kernel(program, source, (sb_processor)processor, row);
        check(sb_program_enqueue(program, &error));
        check(sb_device_finish(device, &error));
        for (uint32_t x = 0; x < 4; x++)
            assert_int_equal(result_of(device, (sb_core){x, 0}, 0), 41 + x);
        sb_program_destroy(program);
        sb_mesh_close(mesh);
    }
}

static void bad_use_is_refused_with_a_sentence(void **state) {
    (void)state;
    sb_mesh *mesh = open_mesh("emu:rows=2,cols=2");
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    uint32_t number = 0;
    sb_buffer *buffer = NULL;
    assert_int_equal(sb_program_enqueue(program, &error), SB_ERR_USAGE);
    check_contains(sb_slice_of(error.message), "without kernels");
    const sb_kernel_options outside = {.source = "", .cores = {{0, 0}, {2, 0}}};
    assert_int_equal(sb_program_add_kernel(program, &outside, &number, &error), SB_ERR_USAGE);
    check_contains(sb_slice_of(error.message), "there is no core (2,0); the grid is 2 x 2");
    const sb_kernel_options nothing = {.cores = one_core};
    assert_int_equal(sb_program_add_kernel(program, &nothing, &number, &error), SB_ERR_USAGE);
    number = add_kernel(program, KERNEL "void kernel_main(void) {}", SB_BRISC, one_core);
    const sb_kernel_options again = {.source = "", .cores = one_core};
    assert_int_equal(sb_program_add_kernel(program, &again, &number, &error), SB_ERR_USAGE);
    check_contains(sb_slice_of(error.message), "would have two kernels");
    assert_int_equal(sb_program_set_args(program, 0, (sb_core){1, 0}, NULL, 0, &error),
                     SB_ERR_USAGE);
    const uint32_t many[SB_ARGS_MAX + 1] = {0};
    assert_int_equal(sb_program_set_args(program, 0, (sb_core){0, 0}, many, COUNT_OF(many), &error),
                     SB_ERR_LIMIT);
    const sb_circular_options huge = {.cores = one_core, .page_size = 4096, .page_count = 1000};
    assert_int_equal(sb_program_add_circular(program, &huge, &error), SB_ERR_LIMIT);
    check_contains(sb_slice_of(error.message), "does not fit into L1");
    const sb_buffer_options odd = {.size = 100, .page_size = 33};
    assert_int_equal(sb_buffer_create(device, &odd, &buffer, &error), SB_ERR_USAGE);
    const sb_buffer_options large = {.memory = SB_L1, .size = 100u << 20, .page_size = 4096};
    assert_int_equal(sb_buffer_create(device, &large, &buffer, &error), SB_ERR_LIMIT);
    check_contains(sb_slice_of(error.message), "L1 is full");
    sb_device_trace *trace = NULL;
    assert_int_equal(sb_device_trace_end(device, &trace, &error), SB_ERR_USAGE);
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

static void kernels_that_do_not_compile_are_errors(void **state) {
    (void)state;
    assert_int_equal(
        run_one("emu:rows=1,cols=1", KERNEL "void kernel_main(void) { oops }", SB_BRISC),
        SB_ERR_BUILD);
    check_contains(sb_slice_of(error.message), "kernel test.c could not be built");
}

static void sizes_are_reported(void **state) {
    (void)state;
    sb_mesh *mesh = open_mesh("emu:rows=1,cols=1,watcher=1");
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    add_kernel(program,
               KERNEL "static volatile int data[10] = {1};\n"
                      "void kernel_main(void) { volatile int deep[40]; for (int i = 0; i < 40; i++)"
                      " deep[i] = data[i % 10]; data[0] = deep[39]; }",
               SB_TRISC2, one_core);
    check(sb_program_enqueue(program, &error));
    check(sb_device_finish(device, &error));
    const sb_kernel_size size = sb_program_kernel_size(program, 0);
    assert_true(size.code_bytes > 100 && size.code_bytes < 2000);
    assert_int_equal(size.code_bytes + size.code_room, SB_L1_KERNEL_BYTES);
    assert_true(size.local_bytes >= 40);
    assert_int_equal(size.local_bytes + size.stack_room, 2048);
    assert_true(size.stack_bytes >= 160 && size.stack_bytes < 600);
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

/* ---- faults ---- */

static void faults_name_core_processor_function_and_line(void **state) {
    (void)state;
    static const struct {
        const char *body;
        sb_processor processor;
        const char *parts[3];
    } cases[] = {
        {"void kernel_main(void) {\n\n *(volatile int *)0x200000 = 1; }",
         SB_TRISC0,
         {"core (0,0), TRISC0", "kernel_main at test.c:4", "store at 0x00200000"}},
        {"void kernel_main(void) { noc_async_read(get_noc_addr(3, 0, 0), 0x40000, 32); }",
         SB_BRISC,
         {"BRISC", "test.c:2", "there is no tile at (3, 0)"}},
        {"void kernel_main(void) { noc_async_write(0x40004, get_noc_addr_of_core(0, 0, 0x50000), "
         "32); }",
         SB_NCRISC,
         {"NCRISC", "test.c:2", "differ modulo 16"}},
        {"void kernel_main(void) { noc_async_read(get_dram_noc_addr(0, 0x500010), 0x40000, 32); }",
         SB_BRISC,
         {"differ modulo 32"}},
        {"void kernel_main(void) { __asm__ volatile(\".word 0\"); }",
         SB_TRISC1,
         {"TRISC1", "test.c:2", "illegal instruction"}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char source[1024];
        snprintf(source, sizeof source, "%s%s", KERNEL, cases[i].body);
        assert_int_equal(run_one("emu:rows=1,cols=1", source, cases[i].processor), SB_ERR_DEVICE);
        for (size_t k = 0; k < 3 && cases[i].parts[k] != NULL; k++)
            check_contains(sb_slice_of(error.message), cases[i].parts[k]);
    }
}

static void deadlocks_are_found(void **state) {
    (void)state;
    assert_int_equal(run_one("emu:rows=2,cols=2",
                             KERNEL "void kernel_main(void) {\n"
                                    "noc_semaphore_wait(get_semaphore(2), 7); }",
                             SB_NCRISC),
                     SB_ERR_DEVICE);
    check_contains(sb_slice_of(error.message), "deadlock");
    check_contains(sb_slice_of(error.message), "core (0,0) NCRISC waits in");
    check_contains(sb_slice_of(error.message), "for the word at 0xc820");
}

static void endless_loops_reach_the_limit(void **state) {
    (void)state;
    assert_int_equal(run_one("emu:rows=1,cols=1,limit=100000",
                             KERNEL "void kernel_main(void) { for (volatile int i = 0;; i++) {} }",
                             SB_TRISC2),
                     SB_ERR_DEVICE);
    check_contains(sb_slice_of(error.message), "has not ended after 100000 clocks");
    check_contains(sb_slice_of(error.message), "TRISC2 waits in kernel_main at test.c:2");
}

static void stacks_that_run_over_are_found(void **state) {
    (void)state;
    assert_int_equal(
        run_one("emu:rows=1,cols=1",
                KERNEL
                "static volatile char data[1200];\n"
                "static __attribute__((noinline)) int deep(int n) { volatile int a[20]; "
                "for (int i = 0; i < 20; i++) a[i] = n; return n == 0 ? 0 : deep(n - 1) + a[n % "
                "20]; }\n"
                "void kernel_main(void) { data[0] = 1; *(volatile int *)0x100000 = deep(8); }",
                SB_TRISC0),
        SB_ERR_DEVICE);
    check_contains(sb_slice_of(error.message), "ran over the end of its stack");
}

static void the_watcher_guards_reserved_memory(void **state) {
    (void)state;
    const char *source = KERNEL "void kernel_main(void) { noc_async_write(0x40000, "
                                "get_noc_addr_of_core(0, 0, 0x3400), 32); "
                                "noc_async_write_barrier(); }";
    check(run_one("emu:rows=1,cols=1", source, SB_BRISC));
    assert_int_equal(run_one("emu:rows=1,cols=1,watcher=1", source, SB_BRISC), SB_ERR_DEVICE);
    check_contains(sb_slice_of(error.message), "watcher: write to 0x3400");
}

/* ---- buffers ---- */

static void buffers_keep_what_is_written(void **state) {
    (void)state;
    sb_mesh *mesh = open_mesh("emu:rows=2,cols=3");
    sb_device *device = sb_mesh_device(mesh, 0);
    const sb_buffer_options kinds[] = {
        {.memory = SB_DRAM, .size = 100000, .page_size = 1024},
        {.memory = SB_L1, .size = 100000, .page_size = 96},
        {.memory = SB_L1,
         .layout = SB_SHARDED,
         .size = 70000,
         .page_size = 512,
         .cores = {{1, 0}, {2, 1}}},
    };
    sb_buffer *buffers[3];
    uint64_t random = 5;
    char *written[3];
    for (size_t i = 0; i < 3; i++) {
        check(sb_buffer_create(device, &kinds[i], &buffers[i], &error));
        written[i] = sb_alloc(kinds[i].size);
        for (size_t k = 0; k < kinds[i].size; k++)
            written[i][k] = (char)next_random(&random);
        check(sb_buffer_write(buffers[i], 0, written[i], kinds[i].size, &error));
        /* A part across pages. */
        check(sb_buffer_write(buffers[i], 1000, written[i] + 50, 3333, &error));
        memmove(written[i] + 1000, written[i] + 50, 3333);
    }
    for (size_t i = 0; i < 3; i++) {
        char *read = sb_alloc(kinds[i].size);
        check(sb_buffer_read(buffers[i], 0, read, kinds[i].size, &error));
        assert_memory_equal(read, written[i], kinds[i].size);
        assert_int_equal(sb_buffer_read(buffers[i], kinds[i].size, read, 1, &error), SB_ERR_USAGE);
        free(read);
        free(written[i]);
        sb_buffer_destroy(buffers[i]);
    }
    /* Everything was given back: the largest buffer fits again. */
    const sb_buffer_options all = {.memory = SB_L1,
                                   .layout = SB_SHARDED,
                                   .size = SB_L1_END - SB_L1_FREE,
                                   .page_size = 32,
                                   .cores = one_core};
    check(sb_buffer_create(device, &all, &buffers[0], &error));
    assert_int_equal(sb_buffer_address(buffers[0]), SB_L1_FREE);
    sb_buffer_destroy(buffers[0]);
    sb_mesh_close(mesh);
}

/* ---- traces ---- */

static void traces_replay_what_was_recorded(void **state) {
    (void)state;
    sb_mesh *mesh = open_mesh("emu:rows=1,cols=1");
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    const uint32_t kernel =
        add_kernel(program,
                   KERNEL "void kernel_main(void) { volatile uint32_t *out = (volatile uint32_t "
                          "*)0x100000; out[0] = out[0] * 10 + get_arg_val(0); }",
                   SB_BRISC, one_core);
    const uint32_t zero = 0;
    sb_device_trace *trace = NULL;
    check(sb_device_write_l1(device, (sb_core){0, 0}, RESULT, &zero, 4, &error));
    check(sb_device_trace_begin(device, &error));
    for (uint32_t i = 1; i <= 3; i++) {
        check(sb_program_set_args(program, kernel, (sb_core){0, 0}, &i, 1, &error));
        check(sb_program_enqueue(program, &error));
    }
    check(sb_device_trace_end(device, &trace, &error));
    assert_int_equal(result_of(device, (sb_core){0, 0}, 0), 0);
    check(sb_device_trace_replay(trace, &error));
    check(sb_device_trace_replay(trace, &error));
    check(sb_device_finish(device, &error));
    assert_int_equal(result_of(device, (sb_core){0, 0}, 0), 123123);
    sb_device_trace_destroy(trace);
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

/* ---- prints ---- */

static void prints_come_line_by_line(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    setenv("TT_METAL_DPRINT_CORES", "(1,0),(0,0)", 1);
    setenv("TT_METAL_DPRINT_RISCVS", "NC", 1);
    fflush(stdout);
    const int saved = dup(1);
    assert_non_null(freopen(path_in(&folder, "out"), "w", stdout));
    sb_mesh *mesh = open_mesh("emu:rows=1,cols=2");
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    const sb_core_range both = {{0, 0}, {1, 0}};
    /* More than the ring holds: the kernel waits for the host. */
    const char *source =
        KERNEL "void kernel_main(void) { for (uint32_t i = 0; i < 200; i++)"
               " DPRINT(\"%u%% is %d, [%5d|%-4lu|%04x] %s\", i, (int)-i, (int)-i, i, i, i % 2 ? "
               "\"odd\\n\" : \"even\\n\"); }";
    add_kernel(program, source, SB_NCRISC, both);
    add_kernel(program, source, SB_BRISC, both);
    sb_status status = sb_program_enqueue(program, &error);
    if (status == SB_OK)
        status = sb_device_finish(device, &error);
    sb_program_destroy(program);
    sb_mesh_close(mesh);
    fflush(stdout);
    dup2(saved, 1);
    close(saved);
    unsetenv("TT_METAL_DPRINT_CORES");
    unsetenv("TT_METAL_DPRINT_RISCVS");
    check(status);
    sb_file file;
    check(sb_file_open(&file, path_in(&folder, "out"), &error));
    check_contains(file.text, "0:(x=0,y=0):NCRISC: 0% is 0, [    0|0   |0000] even\n");
    check_contains(file.text, "0:(x=1,y=0):NCRISC: 199% is -199, [ -199|199 |00c7] odd\n");
    check_lacks(file.text, "BRISC: ");
    size_t lines = 0;
    for (size_t i = 0; i < file.text.size; i++)
        lines += file.text.data[i] == '\n' ? 1 : 0;
    assert_int_equal(lines, 400);
    sb_file_close(&file);
    remove_folder(&folder);
}

/* ---- time ---- */

/* All tiles exchange words, count and look at their clocks; returns a hash of all that is left. */
static uint64_t busy_run(const char *name) {
    static const char source[] = KERNEL
        "void kernel_main(void) {\n"
        " volatile uint32_t *out = (volatile uint32_t *)0x100000;\n"
        " const uint32_t x = get_absolute_logical_x(), y = get_absolute_logical_y();\n"
        " const uint32_t next = (x + 1) % 4, noc = STROBE_PROCESSOR;\n"
        " for (uint32_t i = 0; i < 20; i++) {\n"
        "  out[noc * 64 + i] = get_timestamp_32b() ^ x << 20 ^ y << 24;\n"
        "  noc_async_write(0x100000 + noc * 256, get_noc_addr_of_core(next, y, 0x101000 + noc * "
        "256), 64);\n"
        "  noc_async_read(get_dram_noc_addr((x + y + i) % 12, 0x500000), 0x102000 + noc * 256, "
        "64);\n"
        "  noc_async_read_barrier();\n"
        "  noc_async_write_barrier();\n"
        "  noc_semaphore_inc(get_noc_addr_of_core(next, y, get_semaphore(noc)), 1);\n"
        "  noc_semaphore_wait_min(get_semaphore(noc), i + 1);\n"
        " }\n"
        " noc_async_atomic_barrier();\n"
        "}";
    sb_mesh *mesh = open_mesh(name);
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    const sb_core_range all = {{0, 0}, {3, 3}};
    add_kernel(program, source, SB_BRISC, all);
    add_kernel(program, source, SB_NCRISC, all);
    uint32_t id = 0;
    check(sb_program_add_semaphore(program, all, 0, &id, &error));
    check(sb_program_add_semaphore(program, all, 0, &id, &error));
    for (int i = 0; i < 3; i++)
        check(sb_program_enqueue(program, &error));
    check(sb_device_finish(device, &error));
    uint64_t hash = sb_device_clock(device) * 31 + sb_device_instructions(device);
    for (uint32_t i = 0; i < 16; i++) {
        char memory[0x4000];
        check(sb_device_read_l1(device, (sb_core){i % 4, i / 4}, 0x100000, memory, sizeof memory,
                                &error));
        hash = sb_hash((sb_slice){memory, sizeof memory}, hash);
    }
    sb_program_destroy(program);
    sb_mesh_close(mesh);
    return hash;
}

static void runs_are_the_same_whatever_the_threads(void **state) {
    (void)state;
    static const char *const models[] = {"modelled", "count"};
    for (size_t model = 0; model < COUNT_OF(models); model++) {
        uint64_t first = 0;
        for (uint32_t round = 0; round < 6; round++) {
            char name[64];
            snprintf(name, sizeof name, "emu:rows=4,cols=4,time=%s,threads=%u", models[model],
                     round % 3 + 1);
            const uint64_t hash = busy_run(name);
            if (round == 0)
                first = hash;
            assert_int_equal(hash, first);
        }
    }
}

static void clocks_can_be_skewed_and_offset(void **state) {
    (void)state;
    const char *source = KERNEL "void kernel_main(void) { const uint64_t now = get_timestamp(); "
                                "volatile uint32_t *out = (volatile uint32_t *)0x100000; out[0] = "
                                "(uint32_t)now; out[1] = (uint32_t)(now >> 32); }";
    sb_mesh *mesh = open_mesh("emu:rows=2,cols=2,chips=2,skew=100000,offset=5000000000");
    uint64_t seen[2][4];
    for (uint32_t chip = 0; chip < 2; chip++) {
        sb_device *device = sb_mesh_device(mesh, chip);
        sb_program *program = sb_program_create(device);
        add_kernel(program, source, SB_BRISC, (sb_core_range){{0, 0}, {1, 1}});
        check(sb_program_enqueue(program, &error));
        check(sb_device_finish(device, &error));
        for (uint32_t i = 0; i < 4; i++)
            seen[chip][i] = result_of(device, (sb_core){i % 2, i / 2}, 0) |
                            (uint64_t)result_of(device, (sb_core){i % 2, i / 2}, 1) << 32;
        sb_program_destroy(program);
    }
    sb_mesh_close(mesh);
    assert_true(seen[0][0] != seen[0][1]);
    assert_true(seen[0][3] < 200000);
    assert_true(seen[1][0] > 5000000000 && seen[1][0] < 5000200000);
}

static void clocks_can_drift(void **state) {
    (void)state;
    const char *source = KERNEL "void kernel_main(void) { const uint32_t begin = "
                                "get_timestamp_32b(); for (volatile uint32_t i = 0; i < 100000; "
                                "i++) {} *(volatile uint32_t *)0x100000 = get_timestamp_32b() - "
                                "begin; }";
    sb_mesh *mesh = open_mesh("emu:rows=1,cols=1,chips=2,drift=1000");
    uint32_t clocks[2];
    for (uint32_t chip = 0; chip < 2; chip++) {
        sb_device *device = sb_mesh_device(mesh, chip);
        sb_program *program = sb_program_create(device);
        add_kernel(program, source, SB_BRISC, one_core);
        check(sb_program_enqueue(program, &error));
        check(sb_device_finish(device, &error));
        clocks[chip] = result_of(device, (sb_core){0, 0}, 0);
        sb_program_destroy(program);
    }
    sb_mesh_close(mesh);
    const uint32_t expected = clocks[0] + clocks[0] / 1000;
    assert_in_range(clocks[1], expected - 2, expected + 2);
}

/* How long BRISC takes for a read and for a write, each with its barrier. */
static void time_transfers(const char *name, uint32_t clocks[2]) {
    const char *source =
        KERNEL "void kernel_main(void) { volatile uint32_t *out = (volatile uint32_t *)0x100000;\n"
               "const uint32_t begin = get_timestamp_32b();\n"
               "noc_async_read(get_dram_noc_addr(0, 0x500000), 0x110000, 32); "
               "noc_async_read_barrier();\n"
               "const uint32_t middle = get_timestamp_32b();\n"
               "noc_async_write(0x110000, get_dram_noc_addr(0, 0x500000), 32); "
               "noc_async_write_barrier();\n"
               "out[1] = get_timestamp_32b() - middle; out[0] = middle - begin; }";
    sb_mesh *mesh = open_mesh(name);
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    add_kernel(program, source, SB_BRISC, one_core);
    check(sb_program_enqueue(program, &error));
    check(sb_device_finish(device, &error));
    for (uint32_t i = 0; i < 2; i++)
        clocks[i] = result_of(device, (sb_core){0, 0}, i);
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

static void transfers_can_be_delayed(void **state) {
    (void)state;
    static const struct {
        const char *cores;
        const char *riscvs;
        const char *processors;
        uint32_t more[2];
    } cases[] = {
        {"TT_METAL_READ_DEBUG_DELAY_CORES", "TT_METAL_READ_DEBUG_DELAY_RISCVS", "BR", {5000, 0}},
        {"TT_METAL_WRITE_DEBUG_DELAY_CORES", "TT_METAL_WRITE_DEBUG_DELAY_RISCVS", "*", {0, 5000}},
        {"TT_METAL_WRITE_DEBUG_DELAY_CORES", "TT_METAL_WRITE_DEBUG_DELAY_RISCVS", "NC", {0, 0}},
    };
    static const char *const names[] = {"emu:rows=1,cols=1", "emu:rows=1,cols=1,time=count"};
    for (size_t model = 0; model < COUNT_OF(names); model++) {
        uint32_t usual[2];
        time_transfers(names[model], usual);
        assert_true(usual[0] > 10 && usual[0] < 400);
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            uint32_t delayed[2];
            setenv(cases[i].cores, "0,0", 1);
            setenv(cases[i].riscvs, cases[i].processors, 1);
            setenv("TT_METAL_WATCHER_DEBUG_DELAY", "5000", 1);
            time_transfers(names[model], delayed);
            unsetenv(cases[i].cores);
            unsetenv(cases[i].riscvs);
            unsetenv("TT_METAL_WATCHER_DEBUG_DELAY");
            assert_int_equal(delayed[0], usual[0] + cases[i].more[0]);
            assert_int_equal(delayed[1], usual[1] + cases[i].more[1]);
        }
    }
}

/*
 * Two reads of different ids are under way; each barrier waits for its own. Then a write that
 * nobody acknowledges. In count time everything has arrived at once.
 */
static void transfers_have_ids_and_may_be_posted(void **state) {
    (void)state;
    const char *source =
        KERNEL "void kernel_main(void) { volatile uint32_t *out = (volatile uint32_t *)0x100000;\n"
               "noc_async_read_set_trid(3); noc_async_read(get_dram_noc_addr(0, 0x500000), "
               "0x110000, 64);\n"
               "noc_async_read_set_trid(15); noc_async_read(get_dram_noc_addr(0, 0x500000), "
               "0x120000, 8192);\n"
               "out[0] = sb_noc_counter(SB_COUNTER_OUTSTANDING + 3);\n"
               "noc_async_read_barrier_with_trid(3); out[1] = *(volatile uint32_t *)0x110000;\n"
               "out[2] = sb_noc_counter(SB_COUNTER_OUTSTANDING + 15);\n"
               "noc_async_read_barrier_with_trid(15); out[3] = *(volatile uint32_t *)0x121ffc;\n"
               "noc_async_write_posted(0x110000, get_noc_addr_of_core(1, 0, 0x110000), 64);\n"
               "noc_async_posted_writes_flushed(); noc_async_write_barrier(); }";
    const char *const names[] = {"emu:rows=1,cols=2", "emu:rows=1,cols=2,time=count"};
    for (uint32_t is_count = 0; is_count < 2; is_count++) {
        sb_mesh *mesh = open_mesh(names[is_count]);
        sb_device *device = sb_mesh_device(mesh, 0);
        uint32_t data[2048];
        for (uint32_t i = 0; i < 2048; i++)
            data[i] = 7 * i + 5;
        check(sb_device_write_dram(device, 0, 0x500000, data, sizeof data, &error));
        sb_program *program = sb_program_create(device);
        add_kernel(program, source, SB_BRISC, one_core);
        check(sb_program_enqueue(program, &error));
        check(sb_device_finish(device, &error));
        assert_int_equal(result_of(device, (sb_core){0, 0}, 0), is_count ? 0 : 1);
        assert_int_equal(result_of(device, (sb_core){0, 0}, 1), data[0]);
        assert_int_equal(result_of(device, (sb_core){0, 0}, 2), is_count ? 0 : 1);
        assert_int_equal(result_of(device, (sb_core){0, 0}, 3), data[2047]);
        uint32_t arrived[16];
        check(sb_device_read_l1(device, (sb_core){1, 0}, 0x110000, arrived, 64, &error));
        assert_memory_equal(arrived, data, 64);
        sb_program_destroy(program);
        sb_mesh_close(mesh);
    }
    assert_int_equal(run_one("emu:rows=1,cols=1",
                             KERNEL "void kernel_main(void) { noc_async_read_set_trid(16); "
                                    "noc_async_read(get_dram_noc_addr(0, 0x500000), 0x110000, "
                                    "32); }",
                             SB_BRISC),
                     SB_ERR_DEVICE);
    assert_non_null(strstr(error.message, "packet tag 0x4000"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_have_ids_and_may_be_posted),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(options_are_described),
        cmocka_unit_test(kernels_get_arguments_and_defines),
        cmocka_unit_test(cores_are_told_by_multicast),
        cmocka_unit_test(bad_use_is_refused_with_a_sentence),
        cmocka_unit_test(kernels_that_do_not_compile_are_errors),
        cmocka_unit_test(sizes_are_reported),
        cmocka_unit_test(faults_name_core_processor_function_and_line),
        cmocka_unit_test(deadlocks_are_found),
        cmocka_unit_test(endless_loops_reach_the_limit),
        cmocka_unit_test(stacks_that_run_over_are_found),
        cmocka_unit_test(the_watcher_guards_reserved_memory),
        cmocka_unit_test(buffers_keep_what_is_written),
        cmocka_unit_test(traces_replay_what_was_recorded),
        cmocka_unit_test(prints_come_line_by_line),
        cmocka_unit_test(runs_are_the_same_whatever_the_threads),
        cmocka_unit_test(clocks_can_be_skewed_and_offset),
        cmocka_unit_test(clocks_can_drift),
        cmocka_unit_test(transfers_can_be_delayed),
    };
    return RUN(tests);
}
