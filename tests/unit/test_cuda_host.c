/*
 * What programs do to their GPU while zones are recorded: they capture graphs, end contexts, run
 * for long, use several threads and GPUs. What they do to the process is in test_cuda_process.c.
 */
#include <pthread.h>

#include "cuda_host_testing.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = true };
#else
enum { IS_SANITIZED = false };
#endif

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

/* And only then; chunks that warps keep are no reason. */
static void the_time_is_asked_when_something_is_to_be_placed(void) {
    use_primary();
    launch_plainly(1);
    check(sb_cuda_flush(&error));
    sleep_ms(300);
    const int idle = fake->syncs;
    sleep_ms(500);
    assert_int_equal(fake->syncs, idle);
    launch_plainly(1);
    wait_for_zones(2 * SMS);
    assert_true(fake->syncs > idle);
}

/* More SMs than readers know contexts: contexts.py looks at the recording. A context that follows
   one that has ended goes on in its lanes. */
static void sms_of_many_gpus_share_contexts(void) {
    fake->devices = 3;
    fake->sms = 100;
    for (uint64_t round = 1; round <= 3; round++) {
        use_primary();
        launch_plainly(2);
        check(sb_cuda_flush(&error));
        assert_int_equal(sb_cuda_count().zones, round * 2 * SMS);
        calls.reset();
        sb_cuda_unload(module);
        module = NULL;
    }
}

/* Two that live at a time want more than readers know: the second one's SMs share what is left. */
static void contexts_of_one_gpu_all_have_room(void) {
    fake->sms = 132;
    use_primary();
    launch_plainly(2);
    check(sb_cuda_flush(&error));
    sb_cuda_unload(module);
    module = NULL;
    use_context(calls.other_context());
    launch_plainly(2);
    check(sb_cuda_flush(&error));
    assert_int_equal(sb_cuda_count().zones, 4 * SMS);
    assert_int_equal(sb_cuda_count().unplaced, 0);
}

static void a_gpu_that_the_compiler_does_not_know_gets_ptx(void) {
    use_primary();
    fake->capability = 123;
    launch_plainly(1);
    assert_true(fake->was_ptx);
    sb_cuda_unload(module);
    module = NULL;
    fake->capability = 80;
    launch_plainly(1);
    assert_false(fake->was_ptx);
    check(sb_cuda_flush(&error));
    assert_int_equal(sb_cuda_count().zones, 2 * SMS);
}

static void a_gpu_that_is_too_old_is_named(void) {
    use_primary();
    fake->capability = 61;
    assert_int_equal(sb_cuda_build(&(sb_cuda_build_options){.source = "kernels"}, &module, &error),
                     SB_ERR_BUILD);
    assert_string_equal(error.message,
                        "kernel.cu: this libnvrtc does not build for GPUs as old as this one "
                        "(compute capability 6.1); STROBE_NVRTC names another");
}

static void calls_of_the_program_break_no_capture(void) {
    int64_t timer = 0;
    use_primary();
    launch_plainly(1);
    check(sb_cuda_flush(&error));
    fake->is_capturing = true;
    check(sb_cuda_set_program(NULL, 7, &error));
    check(sb_cuda_attach_module(&timer, &error));
    check(sb_cuda_timer_now(&timer, &error));
    use_context(calls.other_context());
    check(sb_cuda_attach(&error));
    assert_false(fake->is_capture_broken);
    fake->is_capturing = false;
}

typedef struct finder {
    pthread_barrier_t *start;
    sb_cuda_module *module;
    sb_cuda_kernel *kernel;
} finder;

static void *find_plain(void *of) {
    finder *found = of;
    const sb_cuda_shape shape = {
        .grid = {SMS, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 60 * 1024};
    use_primary();
    pthread_barrier_wait(found->start);
    if (sb_cuda_find(found->module, "plain", &found->kernel, NULL) == SB_OK)
        (void)sb_cuda_launch(found->kernel, &shape, NULL, NULL, NULL);
    return NULL;
}

static void a_kernel_is_found_by_several_threads(void) {
    pthread_barrier_t start;
    use_primary();
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 100; i++) {
        const sb_cuda_build_options options = {.source = "kernels", .without_zones = 1};
        pthread_t thread;
        check(sb_cuda_build(&options, &module, &error));
        finder one = {.start = &start, .module = module};
        finder other = one;
        pthread_create(&thread, NULL, find_plain, &one);
        find_plain(&other);
        pthread_join(thread, NULL);
        assert_non_null(one.kernel);
        assert_ptr_equal(one.kernel, other.kernel);
        sb_cuda_unload(module);
    }
    pthread_barrier_destroy(&start);
}

/* Kernels may run while a module is attached. */
static void a_gate_is_opened_last(void) {
    use_primary();
    launch_plainly(2);
    check(sb_cuda_flush(&error));
    assert_int_equal(sb_cuda_count().zones, 2 * SMS);
    assert_false(fake->was_gate_torn);
}

static long resident_kb(void) {
    long all = 0;
    long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &all, &resident),
                     2); // NOLINT(cert-err34-c)
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void contexts_that_have_ended_keep_little(void) {
    enum { ROUNDS = 20, FIRST = 4, LEAST_KB = 1024 };
    long before = 0;
    fake->sms = 132;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        use_primary();
        launch_plainly(2);
        check(sb_cuda_flush(&error));
        calls.reset();
        sb_cuda_unload(module);
        module = NULL;
        assert_int_equal(sb_cuda_count().zones, round * 2 * SMS);
        assert_int_equal(sb_cuda_lost_on(0, 1), 0);
        if (round == FIRST)
            before = resident_kb();
    }
    /* Sanitizers keep what is freed. */
    if (!IS_SANITIZED)
        assert_true(resident_kb() - before < (long)(ROUNDS - FIRST) * LEAST_KB);
}

static void *describe_gpu(void *unused) {
    sb_cuda_gpu gpu;
    (void)unused;
    (void)sb_cuda_describe(&gpu, NULL);
    return NULL;
}

static void a_gpu_is_kept_once(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, describe_gpu, NULL);
        pthread_join(thread, NULL);
    }
    check(sb_cuda_use(0, &error));
    assert_int_equal(fake->retained, 1);
    /* What was kept ends with a reset. */
    calls.reset();
    check(sb_cuda_use(0, &error));
    launch_plainly(1);
    assert_int_equal(fake->retained, 2);
    /* Also where somebody else has begun another one. */
    calls.reset();
    use_primary();
    check(sb_cuda_use(0, &error));
    assert_int_equal(fake->retained, 4);
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

int main(int argc, char **argv) {
    static const host_case cases[] = {
        CASE(a_capture_is_spared, "STROBE_CUDA_CHUNKS=16", ""),
        CASE(a_wait_is_put_off_by_a_capture, "STROBE_CUDA_CHUNKS=16 STROBE_CUDA_WAIT=1", ""),
        CASE(counting_is_no_part_of_a_capture, "", ""),
        CASE(waiting_takes_chunks_back, "STROBE_CUDA_CHUNKS=16", ANYTHING),
        CASE(
            a_context_that_is_ended_is_let_go, "",
            "strobe: cuda: GPU 0: the program has ended its context; 8 zones were read before, and "
            "what was not is lost (sb_cuda_flush reads all)\n"),
        CASE(a_long_kernel_blocks_nobody, "", ""),
        CASE(nothing_is_allocated_when_it_is_off, "STROBE_CUDA=0", ""),
        CASE(late_answers_are_nobodys, "", ""),
        CASE(the_time_is_asked_when_something_is_to_be_placed, "", ""),
        CASE(sms_of_many_gpus_share_contexts, "STROBE_CUDA_CHUNKS=16", ANYTHING),
        CASE(contexts_of_one_gpu_all_have_room, "STROBE_CUDA_CHUNKS=16", ""),
        CASE(a_gpu_that_the_compiler_does_not_know_gets_ptx, "", ""),
        CASE(a_gpu_that_is_too_old_is_named, "", ""),
        CASE(calls_of_the_program_break_no_capture, "", ""),
        CASE(a_kernel_is_found_by_several_threads, "", ""),
        CASE(a_gate_is_opened_last, "", ""),
        CASE(contexts_that_have_ended_keep_little, "STROBE_CUDA_CHUNKS=16", ANYTHING),
        CASE(a_gpu_is_kept_once, "", ANYTHING),
    };
    return run_cases(cases, COUNT_OF(cases), argc, argv);
}
