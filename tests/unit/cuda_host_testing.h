/*
 * For tests of what programs do to their GPU while zones are recorded (cuda_fake_driver.h). Each
 * case is a process of its own, the test program with the name of the case, since what is attached
 * stays so until a process ends. Included once in a program.
 */
#ifndef CUDA_HOST_TESTING_H
#define CUDA_HOST_TESTING_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <strobe/cuda_gpu.h>

#include "cuda/cuda_driver.h"
#include "cuda_fake_driver.h"
#include "testing.h"

static sb_error error;
static fake_state *fake;

static inline void check(sb_status status) {
    if (status != SB_OK)
        fail_msg("%s", error.message);
}

static inline void sleep_ms(long ms) {
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

static inline void load_driver(void) {
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

static inline fake_context *current_context(void) {
    fake_context *context = NULL;
    calls.current(&context);
    return context;
}

static inline void use_context(fake_context *context) {
    assert_int_equal(calls.use(context), 0);
}

/* As a program does that uses CUDA's own library: the primary context is current. */
static inline fake_context *use_primary(void) {
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
static inline void wait_for_time(void) {
    int64_t timer = 0;
    while (sb_cuda_timer_now(&timer, &error) != SB_OK)
        sleep_ms(1);
    assert_true(timer > 0);
}

static inline sb_cuda_kernel *kernel_named(const char *name) {
    sb_cuda_kernel *kernel = NULL;
    if (module == NULL) {
        check(sb_cuda_build(&(sb_cuda_build_options){.source = "kernels"}, &module, &error));
        wait_for_time();
    }
    check(sb_cuda_find(module, name, &kernel, &error));
    return kernel;
}

/* So many launches, of which each leaves a chunk behind on every SM that nobody goes on with. */
static inline void launch_plainly(uint32_t count) {
    sb_cuda_kernel *kernel = kernel_named("plain");
    const sb_cuda_shape shape = {.grid = {SMS, 1, 1}, .block = {32, 1, 1}};
    for (uint32_t i = 0; i < count; i++)
        check(sb_cuda_launch(kernel, &shape, NULL, NULL, &error));
}

/* The same kernel, in a module that is not attached: what it records into is some unit's. */
static inline void launch_of_a_unit(uint32_t count) {
    static sb_cuda_module *loaded;
    const sb_cuda_build_options options = {.source = "kernels", .without_zones = 1};
    const sb_cuda_shape shape = {.grid = {SMS, 1, 1}, .block = {32, 1, 1}};
    sb_cuda_kernel *kernel = NULL;
    if (loaded == NULL)
        check(sb_cuda_build(&options, &loaded, &error));
    check(sb_cuda_find(loaded, "plain", &kernel, &error));
    for (uint32_t i = 0; i < count; i++)
        check(sb_cuda_launch(kernel, &shape, NULL, NULL, &error));
}

/* Until all of them are read; the thread that looks does that by itself. */
static inline void wait_for_zones(uint64_t zones) {
    while (sb_cuda_count().zones < zones)
        sleep_ms(1);
}

/* ---- running cases ---- */

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

/* Of all that a process said, the lines of Strobe's. */
static inline void check_said(const char *output, const char *expected) {
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

static inline void run_case(void **state) {
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

static inline void run_here(void **state) {
    const host_case *which = *state;
    load_driver();
    which->run();
}

/* All of them, or the one that is named. */
static inline int run_cases(const host_case *cases, size_t count, int argc, char **argv) {
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    size_t chosen = 0;
    assert_non_null(tests);
    for (size_t i = 0; i < count; i++)
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0)
            tests[chosen++] = (struct CMUnitTest){.name = cases[i].name,
                                                  .test_func = argc < 2 ? run_case : run_here,
                                                  .initial_state = (void *)(uintptr_t)&cases[i]};
    const int failed = _cmocka_run_group_tests("tests", tests, chosen, NULL, NULL);
    free(tests);
    return failed;
}

#endif
