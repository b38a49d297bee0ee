/*
 * What becomes of zones on a GPU when libraries are loaded and unloaded, processes fork, memory
 * runs out and programs end.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "cuda_host_testing.h"

/* One with zones in kernels, as nvcc makes it. */
static void *load_library(void) {
    void *library = dlopen(UNIT_LIBRARY, RTLD_NOW);
    if (library == NULL)
        fail_msg("%s", dlerror());
    return library;
}

/* In a context that the library's thread does not find. */
static void launch_unseen(uint32_t count) {
    fake->is_unseen = true;
    launch_of_a_unit(count);
    fake->is_unseen = false;
}

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
        void *library = load_library();
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

/* A program that blocks a signal everywhere, and takes it where it wants to. Our thread is there
   before main, and must not be where it ends. */
static void signals_are_the_programs(void) {
    sigset_t set;
    (void)load_library();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    sleep_ms(50);
    assert_int_equal(sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 5}), SIGUSR1);
}

/* Nobody asks for the count between the launches and the end. */
static void what_is_missed_is_read_when_all_is_waited_for(void) {
    use_primary();
    fake->has_unit_gate = true;
    (void)load_library();
    check(sb_cuda_attach(&error));
    launch_of_a_unit(5);
    check(sb_cuda_flush(&error));
    calls.reset();
    assert_int_equal(sb_cuda_count().missed, 5 * SMS);
}

static void what_is_missed_outlives_its_library(void) {
    use_primary();
    fake->has_unit_gate = true;
    void *library = load_library();
    check(sb_cuda_attach(&error));
    launch_of_a_unit(5);
    dlclose(library);
    assert_int_equal(sb_cuda_count().missed, 5 * SMS);
}

static void what_is_missed_outlives_a_library_that_was_never_found(void) {
    void *library = load_library();
    use_primary();
    launch_unseen(5);
    dlclose(library);
    assert_int_equal(sb_cuda_count().missed, 5 * SMS);
}

static void a_short_program_says_what_it_missed(void) {
    (void)load_library();
    use_primary();
    launch_unseen(100);
    exit(0);
}

/* Nothing of the driver is touched where the program has not started it. */
static void a_program_without_a_gpu_ends_in_silence(void) {
    (void)load_library();
    assert_false(fake->is_started);
    exit(0);
}

/* As cuCtxCreate makes: it is not looked for, but may be attached. */
static void a_context_of_the_programs_own_is_attached(void) {
    (void)load_library();
    assert_int_equal(calls.start(0), 0);
    use_context(calls.other_context());
    check(sb_cuda_attach(&error));
    wait_for_time();
    launch_of_a_unit(3);
    check(sb_cuda_flush(&error));
    assert_int_equal(sb_cuda_count().zones, 3 * SMS);
}

/* STROBE_CUDA_EXIT_WAIT=1 */
static void a_kernel_that_never_ends_lets_the_program_end(void) {
    use_primary();
    launch_plainly(2);
    fake->is_held = true;
    exit(0);
}

/* Sanitizers have their own. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static _Atomic bool has_no_memory;

void *__libc_calloc(size_t count,
                    size_t size); // NOLINT(bugprone-reserved-identifier)
void *calloc(size_t count, size_t size) {
    return has_no_memory ? NULL : __libc_calloc(count, size);
}

static void units_without_memory_are_said_once(void) {
    static sb_cuda_unit units[3] = {
        {.gate = no_gate, .missed = no_gate},
        {.gate = no_gate, .missed = no_gate},
        {.gate = no_gate, .missed = no_gate},
    };
    has_no_memory = true;
    sb_cuda_register(&units[0]);
    sb_cuda_register(&units[1]);
    has_no_memory = false;
    sb_cuda_register(&units[2]);
    for (size_t i = 0; i < COUNT_OF(units); i++)
        sb_cuda_unregister(&units[i]);
}
#endif

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

static _Atomic bool is_loading;

static void *load_libraries(void *unused) {
    static sb_cuda_unit unit = {.gate = no_gate, .missed = no_gate};
    (void)unused;
    while (is_loading) {
        sb_cuda_register(&unit);
        sb_cuda_unregister(&unit);
    }
    return NULL;
}

/* While others are at work in the parent, of whom the child has only the locks. */
static void a_child_loads_libraries(void) {
    static sb_cuda_unit unit = {.gate = no_gate, .missed = no_gate};
    pthread_t thread;
    use_primary();
    launch_plainly(1);
    is_loading = true;
    pthread_create(&thread, NULL, load_libraries, NULL);
    for (int i = 0; i < 300; i++) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) {
            alarm(10);
            sb_cuda_register(&unit);
            sb_cuda_unregister(&unit);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    is_loading = false;
    pthread_join(thread, NULL);
}

/* Where those of the parent's that are not in the file yet come back from a child that ends. */
static void rows_are_written_once(void) {
    static int count = 3000;
    void *arguments[] = {&count};
    const sb_cuda_shape one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    char path[] = "/tmp/strobe_rows_XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    setenv("STROBE_CUDA_LOG", path, 1);
    use_primary();
    sb_cuda_kernel *kernel = kernel_named("flood");
    for (int i = 0; i < 60; i++) {
        check(sb_cuda_launch(kernel, &one, NULL, arguments, &error));
        sleep_ms(i % 5);
        const pid_t child = fork();
        if (child == 0) {
            fflush(NULL); /* as exit does */
            _exit(0);
        }
        assert_int_equal(waitpid(child, NULL, 0), child);
    }
    check(sb_cuda_flush(&error));
    uint64_t rows = 0;
    FILE *file = fdopen(descriptor, "r");
    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        rows += c == '\n' ? 1 : 0;
    fclose(file);
    unlink(path);
    assert_int_equal(rows, sb_cuda_count().zones + 1);
}

/* Said once, and tried ever more seldom. */
static void without_memory_it_is_given_up(void) {
    fake->has_no_memory = true;
    (void)load_library();
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

int main(int argc, char **argv) {
    static const host_case cases[] =
    { CASE(units_register_while_others_are_asked, "", ""),
      CASE(libraries_come_and_go, "", ""),
      CASE(another_context_is_found_by_itself, "", ANYTHING),
      CASE(a_child_says_and_records_nothing, "", ""),
      CASE(without_memory_it_is_given_up, "",
           "strobe: cuda: GPU 0: zones are not recorded: memory of the GPU for zones: some error "
           "(CUDA error 2)\n"),
      CASE(spans_that_are_open_at_the_end_are_cut, "",
           "strobe: cuda: 24 zones recorded, 0 lost, 0 missed, 12 cut, 0 not shown\n"),
      CASE(signals_are_the_programs, "", ""),
      CASE(what_is_missed_is_read_when_all_is_waited_for, "", ANYTHING),
      CASE(what_is_missed_outlives_its_library, "", ANYTHING),
      CASE(what_is_missed_outlives_a_library_that_was_never_found, "", ANYTHING),
      CASE(a_short_program_says_what_it_missed, "",
           "strobe: cuda: 0 zones recorded, 0 lost, 400 missed, 0 cut, 0 not shown\n"),
      CASE(a_program_without_a_gpu_ends_in_silence, "", ""),
      CASE(a_context_of_the_programs_own_is_attached, "", ""),
      CASE(a_kernel_that_never_ends_lets_the_program_end, "STROBE_CUDA_EXIT_WAIT=1",
           "strobe: cuda: kernels still run 1 s after the end of the program; 8 zones were read, "
           "and "
           "what was not is lost (STROBE_CUDA_EXIT_WAIT)\n"),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
      CASE(units_without_memory_are_said_once, "",
           "strobe: cuda: there is not enough memory to know all files with kernels; zones of some "
           "are missed and not counted\n"),
#endif
      CASE(a_child_loads_libraries, "", ANYTHING),
      CASE(rows_are_written_once, "", ANYTHING),
    };
    return run_cases(cases, COUNT_OF(cases), argc, argv);
}
