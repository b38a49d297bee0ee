/*
 * What programs do to their GPU while zones are recorded (cuda_fake_driver.h): they capture graphs,
 * end contexts, load and unload libraries, fork, run out of memory. Each case is a process of its
 * own, this program with the name of the case, since what is attached stays so until a process
 * ends.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <strobe/cuda_gpu.h>

#include "cuda/cuda_driver.h"
#include "cuda_fake_driver.h"
#include "testing.h"

static sb_error error;
static fake_state *fake;

static void check(sb_status status) {
    if (status != SB_OK)
        fail_msg("%s", error.message);
}

static void sleep_ms(long ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* What is called of the driver beside what Strobe does. */
static struct driver_calls {
    fake_state *(*get)(void);
    void (*reset)(void);
    fake_context *(*other_context)(void);
    int (*start)(unsigned flags);
    int (*retain)(fake_context **context, int device);
    int (*current)(fake_context **context);
    int (*use)(fake_context *context);
} calls;

static void load_driver(void) {
    static const cuda_symbol symbols[] = {
        {"fake_get", offsetof(struct driver_calls, get)},
        {"fake_reset", offsetof(struct driver_calls, reset)},
        {"fake_other_context", offsetof(struct driver_calls, other_context)},
        {"cuInit", offsetof(struct driver_calls, start)},
        {"cuDevicePrimaryCtxRetain", offsetof(struct driver_calls, retain)},
        {"cuCtxGetCurrent", offsetof(struct driver_calls, current)},
        {"cuCtxSetCurrent", offsetof(struct driver_calls, use)}};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    assert_non_null(driver);
    assert_null(cuda_find_symbols(driver, symbols, COUNT_OF(symbols), &calls));
    fake = calls.get();
}

static fake_context *current_context(void) {
    fake_context *context = NULL;
    calls.current(&context);
    return context;
}

static void use_context(fake_context *context) {
    assert_int_equal(calls.use(context), 0);
}

/* As a program does that uses CUDA's own library: the primary context is current. */
static fake_context *use_primary(void) {
    fake_context *context = NULL;
    assert_int_equal(calls.start(0), 0);
    assert_int_equal(calls.retain(&context, 0), 0);
    use_context(context);
    return context;
}

/* ---- kernels ---- */

enum { SMS = 4 };

static sb_cuda_module *module;

/* However busy the machine is. */
static void wait_for_time(void) {
    int64_t timer = 0;
    while (sb_cuda_timer_now(&timer, &error) != SB_OK)
        sleep_ms(1);
    assert_true(timer > 0);
}

static sb_cuda_kernel *kernel_named(const char *name) {
    sb_cuda_kernel *kernel = NULL;
    if (module == NULL) {
        check(sb_cuda_build(&(sb_cuda_build_options){.source = "kernels"}, &module, &error));
        wait_for_time();
    }
    check(sb_cuda_find(module, name, &kernel, &error));
    return kernel;
}

/* So many launches, of which each leaves a chunk behind on every SM that nobody goes on with. */
static void launch_plainly(uint32_t count) {
    sb_cuda_kernel *kernel = kernel_named("plain");
    const sb_cuda_shape shape = {.grid = {SMS, 1, 1}, .block = {32, 1, 1}};
    for (uint32_t i = 0; i < count; i++)
        check(sb_cuda_launch(kernel, &shape, NULL, NULL, &error));
}

/* Until all of them are read; the thread that looks does that by itself. */
static void wait_for_zones(uint64_t zones) {
    while (sb_cuda_count().zones < zones)
        sleep_ms(1);
}

/* ---- cases ---- */

/* More than half of the 16 chunks of each SM are forgotten, which calls for a wait. */
enum { LAUNCHES = 10 };

static void a_capture_is_spared(void) {
    use_primary();
    launch_plainly(1);
    fake->is_capturing = true;
    launch_plainly(LAUNCHES - 1);
    wait_for_zones((uint64_t)LAUNCHES * SMS);
    sleep_ms(100);
    assert_false(fake->is_capture_broken);
    assert_int_equal(fake->waits + fake->waiting, 0);
    fake->is_capturing = false;
    check(sb_cuda_flush(&error));
    assert_int_equal(fake->waits, 1);
    /* All came back. */
    launch_plainly(16);
    check(sb_cuda_flush(&error));
    assert_int_equal(sb_cuda_count().lost, 0);
    assert_int_equal(sb_cuda_count().zones, (LAUNCHES + 16) * SMS);
}

/* STROBE_CUDA_WAIT=1: where the driver tells of a capture, that is waited for first. */
static void a_wait_is_put_off_by_a_capture(void) {
    use_primary();
    launch_plainly(1);
    fake->is_capture_blocking = true;
    fake->is_capturing = true;
    launch_plainly(LAUNCHES - 1);
    wait_for_zones((uint64_t)LAUNCHES * SMS);
    sleep_ms(300);
    assert_int_equal(sb_cuda_flush(&error), SB_ERR_USAGE);
    assert_non_null(strstr(error.message, "while a graph is captured"));
    assert_false(fake->is_capture_broken);
    assert_int_equal(fake->waits + fake->waiting, 0);
    fake->is_capturing = false;
    /* By itself, some time later. */
    while (fake->waits == 0)
        sleep_ms(1);
    assert_int_equal(sb_cuda_count().lost, 0);
}

static void counting_is_no_part_of_a_capture(void) {
    use_primary();
    launch_plainly(2);
    check(sb_cuda_flush(&error));
    fake->is_capturing = true;
    assert_int_equal(sb_cuda_count().zones, 2 * SMS);
    assert_false(fake->is_capture_broken);
    /* And what this thread does is as forbidden as before. */
    uint64_t address = 0;
    assert_int_not_equal(sb_cuda_allocate(64, &address, &error), SB_OK);
    assert_true(fake->is_capture_broken);
}

static uint64_t found_and_lost(void) {
    const sb_cuda_counts counts = sb_cuda_count();
    return counts.zones + counts.lost;
}

/* All 16 chunks are forgotten; a program that waits, for whatever reason, gets them back. */
static void waiting_takes_chunks_back(void) {
    uint64_t launched = 16;
    use_primary();
    launch_plainly(16);
    wait_for_zones(16 * SMS);
    check(sb_cuda_wait(&error));
    while (sb_cuda_count().zones == 16 * SMS) {
        launch_plainly(1);
        launched++;
        while (found_and_lost() < launched * SMS)
            sleep_ms(1);
    }
    assert_int_equal(fake->waits, 1);
}

/* ---- */

static bool is_registered;
static bool is_asked;

static void *no_gate(void) {
    return NULL;
}

static void *register_another(void *unused) {
    static sb_cuda_unit another = {.gate = no_gate, .missed = no_gate};
    (void)unused;
    while (!__atomic_load_n(&is_asked, __ATOMIC_ACQUIRE))
        sleep_ms(1);
    sb_cuda_register(&another);
    __atomic_store_n(&is_registered, true, __ATOMIC_RELEASE);
    sb_cuda_unregister(&another);
    return NULL;
}

/* As where CUDA's library loads code for the GPU, and for that waits for a library that another
   thread is loading. */
static void *gate_that_waits(void) {
    __atomic_store_n(&is_asked, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 10000 && !__atomic_load_n(&is_registered, __ATOMIC_ACQUIRE); i++)
        sleep_ms(1);
    return NULL;
}

static void units_register_while_others_are_asked(void) {
    static sb_cuda_unit unit = {.gate = gate_that_waits, .missed = gate_that_waits};
    pthread_t thread;
    use_primary();
    pthread_create(&thread, NULL, register_another, NULL);
    sb_cuda_register(&unit);
    check(sb_cuda_attach(&error));
    assert_true(is_registered);
    pthread_join(thread, NULL);
    sb_cuda_unregister(&unit);
}

static void libraries_come_and_go(void) {
    use_primary();
    check(sb_cuda_attach(&error));
    fake->has_unit_gate = true;
    for (uint32_t i = 1; i <= 3; i++) {
        fake->is_unit_gone = false;
        void *library = dlopen(UNIT_LIBRARY, RTLD_NOW);
        if (library == NULL)
            fail_msg("%s", dlerror());
        check(sb_cuda_attach(&error));
        launch_plainly(4);
        check(sb_cuda_flush(&error));
        assert_int_equal(sb_cuda_count().zones, 8ull * SMS * i - 4 * SMS);
        /* What was not read yet may make chunks come back, and all gates be written. */
        launch_plainly(4);
        dlclose(library);
        fake->is_unit_gone = true;
        assert_null(dlopen(UNIT_LIBRARY, RTLD_NOW | RTLD_NOLOAD));
        check(sb_cuda_attach(&error));
        check(sb_cuda_flush(&error));
        assert_false(fake->was_gone_used);
    }
}

/* ---- */

static void a_context_that_is_ended_is_let_go(void) {
    const fake_context *context = use_primary();
    launch_plainly(2);
    check(sb_cuda_flush(&error));
    calls.reset();
    /* What is asked meanwhile leaves the thread's context as it is. */
    fake_context *other = calls.other_context();
    use_context(other);
    check(sb_cuda_flush(&error));
    assert_int_equal(sb_cuda_count().zones, 2 * SMS);
    sb_cuda_unload(module);
    module = NULL;
    assert_ptr_equal(current_context(), other);
    /* The next one has the same handle, and is another. */
    assert_ptr_equal(use_primary(), context);
    launch_plainly(3);
    check(sb_cuda_flush(&error));
    assert_int_equal(sb_cuda_count().zones, 5 * SMS);
}

/* A program of nvcc's, which calls nothing of ours. */
static void another_context_is_found_by_itself(void) {
    void *library = dlopen(UNIT_LIBRARY, RTLD_NOW);
    sleep_ms(100);
    assert_false(fake->is_started);
    use_primary();
    for (uint64_t round = 1; round <= 3; round++) {
        sb_cuda_kernel *kernel = NULL;
        sb_cuda_build_options options = {.source = "kernels", .without_zones = 1};
        check(sb_cuda_build(&options, &module, &error));
        check(sb_cuda_find(module, "plain", &kernel, &error));
        const uint64_t before = sb_cuda_count().zones;
        const sb_cuda_shape shape = {.grid = {SMS, 1, 1}, .block = {32, 1, 1}};
        /* Until it is attached, zones are missed. */
        while (sb_cuda_count().zones == before) {
            check(sb_cuda_launch(kernel, &shape, NULL, NULL, &error));
            sleep_ms(1);
        }
        calls.reset();
        sb_cuda_unload(module);
        use_primary();
    }
    assert_non_null(library);
}

static void *detach(void *of) {
    use_primary();
    sb_cuda_unload(of);
    return NULL;
}

static void a_long_kernel_blocks_nobody(void) {
    pthread_t thread;
    use_primary();
    launch_plainly(2);
    fake->is_held = true;
    pthread_create(&thread, NULL, detach, module);
    while (fake->waiting == 0)
        sleep_ms(1);
    /* It waits for as long as the kernel runs. */
    wait_for_zones(2 * SMS);
    fake->is_held = false;
    pthread_join(thread, NULL);
    assert_int_equal(sb_cuda_count().zones, 2 * SMS);
}

static void a_child_says_and_records_nothing(void) {
    int status = 0;
    use_primary();
    launch_plainly(2);
    const pid_t child = fork();
    if (child == 0) {
        fake->is_held = true;
        (void)sb_cuda_attach(NULL);
        (void)sb_cuda_flush(NULL);
        exit(sb_cuda_count().zones == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    check(sb_cuda_flush(&error));
    assert_int_equal(sb_cuda_count().zones, 2 * SMS);
}

/* Said once, and tried ever more seldom. */
static void without_memory_it_is_given_up(void) {
    fake->has_no_memory = true;
    void *library = dlopen(UNIT_LIBRARY, RTLD_NOW);
    assert_non_null(library);
    use_primary();
    const time_t begin = time(NULL);
    while (fake->allocations == 0)
        sleep_ms(1);
    sleep_ms(300);
    assert_true(fake->allocations <= 2 + (time(NULL) - begin));
    assert_int_not_equal(sb_cuda_attach(&error), SB_OK);
    assert_non_null(strstr(error.message, "memory of the GPU for zones"));
}

/* Nobody waits, and nobody ends the spans; that is said when the program ends. */
static void spans_that_are_open_at_the_end_are_cut(void) {
    use_primary();
    const sb_cuda_shape shape = {.grid = {SMS, 1, 1}, .block = {32, 1, 1}};
    for (int i = 0; i < 3; i++)
        check(sb_cuda_launch(kernel_named("spans"), &shape, NULL, NULL, &error));
}

/* STROBE_CUDA=0 */
static void nothing_is_allocated_when_it_is_off(void) {
    use_primary();
    launch_plainly(LAUNCHES);
    check(sb_cuda_set_program(NULL, 7, &error));
    check(sb_cuda_flush(&error));
    const sb_cuda_counts counts = sb_cuda_count();
    assert_int_equal(fake->allocations, 0);
    assert_int_equal(counts.zones + counts.lost + counts.missed, 0);
}

/* The kernel that tells the time begins when nobody asks any more. */
static void late_answers_are_nobodys(void) {
    fake->sync_delay_ns = 60000000;
    use_primary();
    check(sb_cuda_attach(&error));
    while (fake->syncs < 3)
        sleep_ms(1);
    fake->sync_delay_ns = 0;
    wait_for_time();
    assert_true(sb_cuda_error_ns() > 0);
    assert_false(fake->has_sync_overlapped);
}

/* ---- running them ---- */

typedef struct host_case {
    void (*run)(void);
    const char *name;
    const char *variables;
    const char *says;
} host_case;

/* What it says is not what the case is about. */
#define ANYTHING NULL

#define CASE(name, ...) \
    { name, #name, __VA_ARGS__ }

static const host_case cases[] = {
    CASE(a_capture_is_spared, "STROBE_CUDA_CHUNKS=16", ""),
    CASE(a_wait_is_put_off_by_a_capture, "STROBE_CUDA_CHUNKS=16 STROBE_CUDA_WAIT=1", ""),
    CASE(counting_is_no_part_of_a_capture, "", ""),
    CASE(waiting_takes_chunks_back, "STROBE_CUDA_CHUNKS=16", ANYTHING),
    CASE(units_register_while_others_are_asked, "", ""),
    CASE(libraries_come_and_go, "", ""),
    CASE(a_context_that_is_ended_is_let_go, "",
         "strobe: cuda: GPU 0: the program has ended its context; 8 zones were read before, and "
         "what was not is lost (sb_cuda_flush reads all)\n"),
    CASE(another_context_is_found_by_itself, "", ANYTHING),
    CASE(a_long_kernel_blocks_nobody, "", ""),
    CASE(a_child_says_and_records_nothing, "", ""),
    CASE(without_memory_it_is_given_up, "",
         "strobe: cuda: GPU 0: zones are not recorded: memory of the GPU for zones: some error "
         "(CUDA error 2)\n"),
    CASE(spans_that_are_open_at_the_end_are_cut, "",
         "strobe: cuda: 24 zones recorded, 0 lost, 0 missed, 12 cut, 0 not shown\n"),
    CASE(nothing_is_allocated_when_it_is_off, "STROBE_CUDA=0", ""),
    CASE(late_answers_are_nobodys, "", ""),
};

/* Of all that a process said, the lines of Strobe's. */
static void check_said(const char *output, const char *expected) {
    char said[4096] = "";
    sb_slice text = sb_slice_of(output);
    while (text.size > 0) {
        const sb_slice line = sb_slice_cut(text, '\n', &text);
        const size_t used = strlen(said);
        if (sb_slice_starts_with(line, "strobe:"))
            snprintf(said + used, sizeof said - used, "%.*s\n", (int)line.size, line.data);
    }
    assert_string_equal(said, expected);
}

static void run_case(void **state) {
    const host_case *which = *state;
    char itself[1024] = "";
    char command[2048];
    char output[16384];
    assert_true(readlink("/proc/self/exe", itself, sizeof itself - 1) > 0);
    snprintf(command, sizeof command, "env %s '%s' %s 2>&1", which->variables, itself, which->name);
    FILE *pipe = popen(command, "r"); // NOLINT(cert-env33-c)
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    if (pclose(pipe) != 0)
        fail_msg("%s", output);
    if (which->says != ANYTHING)
        check_said(output, which->says);
}

static void run_here(void **state) {
    const host_case *which = *state;
    load_driver();
    which->run();
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[COUNT_OF(cases)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0)
            tests[count++] = (struct CMUnitTest){.name = cases[i].name,
                                                 .test_func = argc < 2 ? run_case : run_here,
                                                 .initial_state = (void *)(uintptr_t)&cases[i]};
    return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
