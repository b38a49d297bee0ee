/*
 * What goes wrong around programs: caches that are damaged, files and variables that make no sense,
 * calls in the wrong order. All of it is mended or told in a sentence.
 */
#include <sys/stat.h>

#include <strobe/device.h>
#include <strobe/kernel_layout.h>

#include "testing.h"

#define KERNEL "#include <strobe/kernel.h>\n"
#define RESULT 0x100000u
#define ONE_CORE "emu:rows=1,cols=1"

static sb_error error;
static test_folder folder;

static void check(sb_status status) {
    if (status != SB_OK)
        fail_msg("%s", error.message);
}

static void check_refused(sb_status status, sb_status wanted, const char *text) {
    assert_int_equal(status, wanted);
    check_contains(sb_slice_of(error.message), text);
}

static void put_text(const char *path, const char *text) {
    write_file(path, sb_slice_of(text));
}

static void remove_tree(const char *path) {
    DIR *entries = opendir(path);
    assert_non_null(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlink(inner) != 0)
            remove_tree(inner);
    }
    closedir(entries);
    assert_int_equal(rmdir(path), 0);
}

/* Kernels of a test are kept in a folder of its own, with a comma and blanks in its name. */
static int begin(void **state) {
    const char *cache = getenv("STROBE_CACHE");
    *state = cache != NULL ? strdup(cache) : NULL;
    folder = make_folder();
    setenv("STROBE_CACHE", path_in(&folder, "cache, of mine"), 1);
    return 0;
}

static int end(void **state) {
    char *cache = *state;
    remove_tree(folder.path);
    if (cache != NULL)
        setenv("STROBE_CACHE", cache, 1);
    else
        unsetenv("STROBE_CACHE");
    free(cache);
    return 0;
}

/* Runs one kernel on one core; *result is the word it leaves. */
static sb_status run(const char *mesh_name, const sb_kernel_options *options, uint32_t *result) {
    sb_mesh *mesh = NULL;
    SB_TRY(sb_mesh_open(mesh_name, &mesh, &error));
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    uint32_t number = 0;
    sb_status status = sb_program_add_kernel(program, options, &number, &error);
    if (status == SB_OK)
        status = sb_program_enqueue(program, &error);
    if (status == SB_OK)
        status = sb_device_finish(device, &error);
    if (status == SB_OK)
        status = sb_device_read_l1(device, (sb_core){0, 0}, RESULT, result, 4, &error);
    sb_program_destroy(program);
    sb_mesh_close(mesh);
    return status;
}

/* ---- the cache ---- */

/* Does something to every file of the cache that is called name. */
static size_t damage(const char *name, const char *text) {
    char kernels[128];
    snprintf(kernels, sizeof kernels, "%s/cache, of mine/kernels", folder.path);
    size_t count = 0;
    DIR *entries = opendir(kernels);
    assert_non_null(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s/%s", kernels, entry->d_name, name);
        if (entry->d_name[0] == '.' || access(path, F_OK) != 0)
            continue;
        put_text(path, text);
        count++;
    }
    closedir(entries);
    return count;
}

static void included_files_are_noticed(void **state) {
    (void)state;
    static const char *const values[] = {"#define VALUE 5\n", "#define VALUE 77\n"};
    char path[128];
    snprintf(path, sizeof path, "%s/kernel.c", folder.path);
    put_text(path, KERNEL "#include \"value.h\"\n"
                          "void kernel_main(void) { *(volatile uint32_t *)0x100000 = VALUE; }\n");
    const sb_kernel_options from_file = {.path = path};
    const sb_kernel_options from_text = {
        .source = KERNEL "#include <value.h>\n"
                         "void kernel_main(void) { *(volatile uint32_t *)0x100000 = VALUE + 1; }\n",
        .include = folder.path};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t result = 0;
        put_text(path_in(&folder, "value.h"), values[i]);
        check(run(ONE_CORE, &from_file, &result));
        assert_int_equal(result, i == 0 ? 5 : 77);
        check(run(ONE_CORE, &from_text, &result));
        assert_int_equal(result, i == 0 ? 6 : 78);
    }
}

static void damaged_caches_are_mended(void **state) {
    (void)state;
    static const char *const names[] = {"kernel.elf", "kernel.d", "kernel.hash"};
    const sb_kernel_options options = {
        .source = KERNEL "void kernel_main(void) { *(volatile uint32_t *)0x100000 = 9; }"};
    uint32_t result = 0;
    check(run(ONE_CORE, &options, &result));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_int_equal(damage(names[i], "nonsense"), SB_PROCESSORS + 1);
        result = 0;
        check(run(ONE_CORE, &options, &result));
        assert_int_equal(result, 9);
    }
}

/* With a compiler that fails nothing new is built, so what is kept must do. */
static void what_is_kept_is_used(void **state) {
    (void)state;
    const sb_kernel_options options = {
        .source = KERNEL "void kernel_main(void) { *(volatile uint32_t *)0x100000 = 4; }"};
    uint32_t result = 0;
    put_text(path_in(&folder, "compiler"),
             "#!/bin/sh\ntest ! -e \"$0.broken\" && exec riscv64-unknown-elf-gcc \"$@\"\n");
    assert_int_equal(chmod(path_in(&folder, "compiler"), 0755), 0);
    setenv("STROBE_RISCV_CC", path_in(&folder, "compiler"), 1);
    check(run(ONE_CORE, &options, &result));
    put_text(path_in(&folder, "compiler.broken"), "");
    check(run(ONE_CORE, &options, &result));
    assert_int_equal(result, 4);
    damage("kernel.hash", "");
    check_refused(run(ONE_CORE, &options, &result), SB_ERR_BUILD, "could not be built");
    unsetenv("STROBE_RISCV_CC");
}

static void compilers_that_are_missing_are_named(void **state) {
    (void)state;
    setenv("STROBE_RISCV_CC", "no-such-compiler", 1);
    check_refused(run(ONE_CORE, &(sb_kernel_options){.source = ""}, NULL), SB_ERR_BUILD,
                  "cannot run no-such-compiler");
    unsetenv("STROBE_RISCV_CC");
    /* Nothing is left of the attempt. */
    assert_int_equal(rmdir(path_in(&folder, "cache, of mine/kernels")), 0);
    put_text(path_in(&folder, "file"), "");
    setenv("STROBE_CACHE", path_in(&folder, "file"), 1);
    check_refused(run(ONE_CORE, &(sb_kernel_options){.source = ""}, NULL), SB_ERR_IO,
                  "cannot make this folder");
}

static void a_kernel_may_be_in_several_places(void **state) {
    (void)state;
    sb_mesh *mesh = NULL;
    check(sb_mesh_open("emu:rows=2,cols=2", &mesh, &error));
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    for (uint32_t i = 0; i < 4; i++) {
        const sb_core core = {i % 2, i / 2};
        uint32_t number = 0;
        check(sb_program_add_kernel(
            program,
            &(sb_kernel_options){.source = KERNEL
                                 "void kernel_main(void) { *(volatile uint32_t *)0x100000 = ON; }",
                                 .cores = {core, core},
                                 .defines = &(sb_define){"ON", NULL},
                                 .define_count = 1},
            &number, &error));
    }
    check(sb_program_enqueue(program, &error));
    check(sb_device_finish(device, &error));
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t word = 0;
        check(sb_device_read_l1(device, (sb_core){i % 2, i / 2}, RESULT, &word, 4, &error));
        assert_int_equal(word, 1);
    }
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

/* ---- what comes from outside ---- */

static void files_that_are_no_kernels_are_refused(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/kernel.elf", folder.path);
    const sb_kernel_options options = {.elf = path};
    check_refused(run(ONE_CORE, &options, NULL), SB_ERR_NOT_FOUND, "there is no such file");
    put_text(options.elf, "");
    check_refused(run(ONE_CORE, &options, NULL), SB_ERR_FORMAT, "less than a header");
    put_text(options.elf, "a text that is long enough to be the header of an ELF file, but is not");
    check_refused(run(ONE_CORE, &options, NULL), SB_ERR_FORMAT, "not an ELF file");
    const sb_kernel_options own = {.elf = "/proc/self/exe"};
    check_refused(run(ONE_CORE, &own, NULL), SB_ERR_FORMAT, "not an executable for 32-bit RISC-V");
}

static void variables_that_make_no_sense_are_named(void **state) {
    (void)state;
    static const struct {
        const char *variable;
        const char *value;
        const char *text;
    } cases[] = {
        {"TT_METAL_DPRINT_CORES", "banana", "'banana' is no set of cores"},
        {"TT_METAL_DPRINT_CORES", "(0,0)-(1", "a core must follow the dash"},
        {"TT_METAL_DPRINT_CORES", "9,9", "do not lie in the grid"},
        {"TT_METAL_DPRINT_RISCVS", "XX", "'XX' is no processor"},
        {"TT_METAL_READ_DEBUG_DELAY_CORES", "x", "is no set of cores"},
        {"TT_METAL_READ_DEBUG_DELAY_RISCVS", "BR+Q", "'Q' is no processor"},
        {"TT_METAL_WRITE_DEBUG_DELAY_CORES", "1,", "is no set of cores"},
        {"TT_METAL_WRITE_DEBUG_DELAY_RISCVS", "5", "'5' is no processor"},
        {"TT_METAL_WATCHER_DEBUG_DELAY", "-4", "'-4' is no number of clocks"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_mesh *mesh = NULL;
        setenv(cases[i].variable, cases[i].value, 1);
        check_refused(sb_mesh_open("emu", &mesh, &error), SB_ERR_USAGE, cases[i].variable);
        check_contains(sb_slice_of(error.message), cases[i].text);
        unsetenv(cases[i].variable);
    }
    sb_mesh *mesh = NULL;
    setenv("TT_METAL_WRITE_DEBUG_DELAY_CORES", "all", 1);
    check_refused(sb_mesh_open("ttsim:lib.so", &mesh, &error), SB_ERR_USAGE, "ttsim has no delays");
    unsetenv("TT_METAL_WRITE_DEBUG_DELAY_CORES");
    setenv("STROBE_DEVICE", "toaster", 1);
    check_refused(sb_mesh_open(NULL, &mesh, &error), SB_ERR_NOT_FOUND, "no device 'toaster'");
    unsetenv("STROBE_DEVICE");
}

/* The child that holds it may die at any call, or talk more than anybody listens to. */
static void simulators_that_misbehave_are_survived(void **state) {
    (void)state;
    static const struct {
        const char *does;
        const char *text; /* NULL: it opens */
    } cases[] = {
        {"other chip", "simulates another chip than a Wormhole"},
        {"end", "the simulator has ended: "},
        {"end", "these are my last words"},
        {"crash", "the simulator has ended by signal 6"},
        {"talk", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_mesh *mesh = NULL;
        setenv("STAND_IN", cases[i].does, 1);
        const sb_status status = sb_mesh_open("ttsim:" STAND_IN_LIBRARY, &mesh, &error);
        unsetenv("STAND_IN");
        if (cases[i].text != NULL)
            check_refused(status, SB_ERR_DEVICE, cases[i].text);
        else
            check(status);
        sb_mesh_close(mesh);
    }
}

/* ---- wrong use ---- */

static void devices_that_are_not_there_are_told(void **state) {
    (void)state;
    sb_mesh *mesh = NULL;
    sb_buffer *buffer = NULL;
    uint32_t number = 0;
    char byte = 0;
    check(sb_mesh_open(ONE_CORE, &mesh, &error));
    sb_device *second = sb_mesh_device(mesh, 1);
    sb_program *program = sb_program_create(second);
    const char *text = "there is no such device";
    check_refused(
        sb_program_add_kernel(program, &(sb_kernel_options){.source = ""}, &number, &error),
        SB_ERR_USAGE, text);
    check_refused(sb_buffer_create(second, &(sb_buffer_options){.size = 1}, &buffer, &error),
                  SB_ERR_USAGE, text);
    check_refused(sb_device_read_dram(second, 0, 0, &byte, 1, &error), SB_ERR_USAGE, text);
    check_refused(sb_device_finish(second, &error), SB_ERR_USAGE, text);
    check_refused(sb_device_trace_begin(second, &error), SB_ERR_USAGE, text);
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

static void options_without_sense_are_refused(void **state) {
    (void)state;
    sb_mesh *mesh = NULL;
    sb_buffer *buffer = NULL;
    uint32_t number = 0;
    check(sb_mesh_open(ONE_CORE, &mesh, &error));
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    check_refused(sb_program_add_kernel(program, &(sb_kernel_options){.source = "", .name = "a\"b"},
                                        &number, &error),
                  SB_ERR_USAGE, "no quotes");
    check_refused(
        sb_program_add_kernel(
            program,
            &(sb_kernel_options){.source = "", .defines = &(sb_define){"", "1"}, .define_count = 1},
            &number, &error),
        SB_ERR_USAGE, "has no name");
    assert_string_equal(sb_program_kernel_size(program, 3).name, "");
    /* So many pages that their number overflows when it is rounded up. */
    const sb_buffer_options huge = {.size = (size_t)UINT32_MAX * 32 - 32, .page_size = 32};
    check_refused(sb_buffer_create(device, &huge, &buffer, &error), SB_ERR_LIMIT, "DRAM is full");
    const sb_buffer_options strange = {.memory = (sb_memory)7, .size = 64, .page_size = 32};
    check_refused(sb_buffer_create(device, &strange, &buffer, &error), SB_ERR_USAGE, "no memory 7");
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

/* What only a GPU has. */
static void kernels_of_gpus_are_refused(void **state) {
    (void)state;
    sb_mesh *mesh = NULL;
    check(sb_mesh_open(ONE_CORE, &mesh, &error));
    sb_program *program = sb_program_create(sb_mesh_device(mesh, 0));
    const uint64_t number = 1;
    const sb_parameter parameters[] = {SB_PARAMETER(number)};
    uint32_t kernel = 0;
    const sb_kernel_options with_function = {.source = KERNEL, .function = "scale"};
    const sb_kernel_options with_grid = {.source = KERNEL, .grid = {2}, .block = {32}};
    check_refused(sb_program_add_kernel(program, &with_function, &kernel, &error), SB_ERR_USAGE,
                  "are for GPUs; emu is none");
    check_refused(sb_program_add_kernel(program, &with_grid, &kernel, &error), SB_ERR_USAGE,
                  "are for GPUs; emu is none");
    check_refused(sb_program_set_parameters(program, 0, parameters, 1, &error), SB_ERR_USAGE,
                  "sb_program_set_args is for those of emu");
    sb_program_destroy(program);
    sb_mesh_close(mesh);
}

static void circular_buffers_are_given_back(void **state) {
    (void)state;
    sb_mesh *mesh = NULL;
    sb_buffer *buffer = NULL;
    check(sb_mesh_open(ONE_CORE, &mesh, &error));
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *programs[] = {sb_program_create(device), sb_program_create(device)};
    const sb_circular_options circular = {.page_size = 4096, .page_count = 250};
    check(sb_program_add_circular(programs[0], &circular, &error));
    const sb_buffer_options large = {.memory = SB_L1, .size = 1000u << 10, .page_size = 4096};
    check_refused(sb_buffer_create(device, &large, &buffer, &error), SB_ERR_LIMIT, "L1 is full");
    sb_program_destroy(programs[0]);
    check(sb_buffer_create(device, &large, &buffer, &error));
    check_refused(sb_program_add_circular(programs[1], &circular, &error), SB_ERR_LIMIT,
                  "does not fit into L1");
    sb_buffer_destroy(buffer);
    sb_program_destroy(programs[1]);
    sb_mesh_close(mesh);
}

static void pages_that_are_not_there_are_waited_for(void **state) {
    (void)state;
    const sb_kernel_options options = {.source = KERNEL
                                       "void kernel_main(void) { cb_reserve_back(3, 5); }"};
    check_refused(run(ONE_CORE, &options, NULL), SB_ERR_DEVICE, "deadlock");
}

static void stacks_that_leave_local_memory_are_named(void **state) {
    (void)state;
    const sb_kernel_options options = {
        .source = KERNEL "static int deep(int n) { volatile int a[16]; a[0] = n; return n == 0 ? 0 "
                         ": deep(n - 1) + a[0]; }\n"
                         "void kernel_main(void) { *(volatile int *)0x100000 = deep(500); }"};
    check_refused(run(ONE_CORE, &options, NULL), SB_ERR_DEVICE, "the stack ran over its end");
}

/* A program may grow after a trace was made of it; what was recorded runs. */
static void traces_outlast_changes_of_programs(void **state) {
    (void)state;
    sb_mesh *mesh = NULL;
    sb_device_trace *trace = NULL;
    uint32_t number = 0;
    uint32_t word = 0;
    check(sb_mesh_open(ONE_CORE, &mesh, &error));
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *first = sb_program_create(device);
    sb_program *other = sb_program_create(device);
    const sb_kernel_options on_ncrisc = {.source = KERNEL "void kernel_main(void) {}",
                                         .processor = SB_NCRISC};
    check(sb_program_add_kernel(other, &on_ncrisc, &number, &error));
    check(sb_program_enqueue(other, &error));
    check(sb_program_add_kernel(
        first,
        &(sb_kernel_options){.source = KERNEL
                             "void kernel_main(void) { *(volatile uint32_t *)0x100000 = 3; }"},
        &number, &error));
    check(sb_device_trace_begin(device, &error));
    check(sb_program_enqueue(first, &error));
    check(sb_device_trace_end(device, &trace, &error));
    check(sb_program_add_kernel(first, &on_ncrisc, &number, &error));
    check(sb_device_trace_replay(trace, &error));
    check(sb_device_finish(device, &error));
    check(sb_device_read_l1(device, (sb_core){0, 0}, RESULT, &word, 4, &error));
    assert_int_equal(word, 3);
    sb_device_trace_destroy(trace);
    /* One that is never ended is not lost. */
    check(sb_device_trace_begin(device, &error));
    check(sb_program_enqueue(first, &error));
    sb_program_destroy(first);
    sb_program_destroy(other);
    sb_mesh_close(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(included_files_are_noticed, begin, end),
        cmocka_unit_test_setup_teardown(damaged_caches_are_mended, begin, end),
        cmocka_unit_test_setup_teardown(what_is_kept_is_used, begin, end),
        cmocka_unit_test_setup_teardown(compilers_that_are_missing_are_named, begin, end),
        cmocka_unit_test_setup_teardown(a_kernel_may_be_in_several_places, begin, end),
        cmocka_unit_test_setup_teardown(files_that_are_no_kernels_are_refused, begin, end),
        cmocka_unit_test(variables_that_make_no_sense_are_named),
        cmocka_unit_test(simulators_that_misbehave_are_survived),
        cmocka_unit_test(devices_that_are_not_there_are_told),
        cmocka_unit_test(options_without_sense_are_refused),
        cmocka_unit_test(kernels_of_gpus_are_refused),
        cmocka_unit_test(circular_buffers_are_given_back),
        cmocka_unit_test(pages_that_are_not_there_are_waited_for),
        cmocka_unit_test(stacks_that_leave_local_memory_are_named),
        cmocka_unit_test(traces_outlast_changes_of_programs),
    };
    return RUN(tests);
}
