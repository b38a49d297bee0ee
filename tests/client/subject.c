/*
 * A program to be recorded. The first argument says what it does; tests/client/test_client.c says
 * what should come of it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tracy/TracyC.h>

static void wait_for_reader(void) {
    for (int i = 0; i < 10000 && !sb_client_is_connected(); i++)
        usleep(1000);
}

__attribute__((constructor)) static void before_main(void) {
    ZoneScopedN("before main");
}

/* ---- everything at once ---- */

static void zones(void) {
    ZoneScopedN("everything");
    ZoneText("a text", 6);
    ZoneTextF("number %d", 7);
    ZoneName("another name", 12);
    ZoneColor(0x112233);
    ZoneValue(42);
    TracyCZone(by_hand, 1);
    TracyCZoneText(by_hand, "by hand", 7);
    TracyCZoneEnd(by_hand);
    TracyCZoneN(not_active, "not active", 0);
    TracyCZoneEnd(not_active);
    TracyCZoneNS(with_stack, "with stack", 8, 1);
    TracyCZoneEnd(with_stack);
    const sb_zone made = sb_zone_begin_dynamic(5, "made.c", 6, "made", 4, "at run time", 11, 0, 0);
    sb_zone_end(made);
    const uint64_t location = ___tracy_alloc_srcloc(9, "alloc.c", 7, "allocated", 9, 0);
    TracyCZoneCtx allocated = ___tracy_emit_zone_begin_alloc(location, 1);
    ___tracy_emit_zone_end(allocated);
    char *large = malloc(100000);
    memset(large, 'x', 100000);
    ZoneText(large, 100000);
    free(large);
}

static void messages_and_plots(void) {
    TracyCMessage("copied", 6);
    TracyCMessageL("literal");
    TracyCMessageC("in colour", 9, 0xff0000);
    sb_message(SB_SEVERITY_ERROR, 0, 4, "with stack", 10);
    TracyCAppInfo("about the program", 17);
    FrameMark;
    FrameMarkNamed("second");
    TracyCFrameMarkStart("stretch");
    TracyCFrameMarkEnd("stretch");
    TracyCPlot("plot", 2.5);
    TracyCPlotF("plot", 0.5F);
    TracyCPlotI("whole", -3);
    TracyCPlot("plot", 1.0 / 0.0);
    TracyCPlotConfig("plot", TracyPlotFormatMemory, 1, 0, 0);
    static uint8_t pixels[16 * 16 * 4];
    TracyCFrameImage(pixels, 16, 16, 0, 0);
}

static void memory_and_locks(void) {
    TracyCAlloc((void *)0x1000, 64);
    TracyCFree((void *)0x1000);
    TracyCAllocN((void *)0x2000, 64, "pool");
    TracyCMemoryDiscard("pool");
    TracyCLockCtx lock = NULL;
    TracyCLockAnnounce(lock);
    TracyCLockCustomName(lock, "my lock", 7);
    TracyCLockBeforeLock(lock);
    TracyCLockAfterLock(lock);
    TracyCLockMark(lock);
    TracyCLockAfterUnlock(lock);
    TracyCLockAfterTryLock(lock, 0);
    TracyCLockTerminate(lock);
    TracyCSharedLockCtx shared = NULL;
    TracyCSharedLockAnnounce(shared);
    TracyCSharedLockBeforeSharedLock(shared);
    TracyCSharedLockAfterSharedLock(shared);
    TracyCSharedLockAfterSharedUnlock(shared);
    TracyCSharedLockTerminate(shared);
}

static void device(void) {
    const struct ___tracy_gpu_new_context_data context = {
        .gpuTime = 0, .period = 1.0F, .context = 3, .type = 3};
    ___tracy_emit_gpu_new_context(context);
    const struct ___tracy_gpu_context_name_data name = {.context = 3, .name = "Device", .len = 6};
    ___tracy_emit_gpu_context_name(name);
    const struct ___tracy_gpu_zone_begin_data begin = {
        .srcloc = ___tracy_alloc_srcloc_name(1, "k.cl", 4, "kernel", 6, "kernel zone", 11, 0),
        .queryId = 0,
        .context = 3};
    ___tracy_emit_gpu_zone_begin_alloc(begin);
    const struct ___tracy_gpu_zone_end_data end = {.queryId = 1, .context = 3};
    ___tracy_emit_gpu_zone_end(end);
    const struct ___tracy_gpu_time_data times[2] = {{.gpuTime = 100, .queryId = 0, .context = 3},
                                                    {.gpuTime = 200, .queryId = 1, .context = 3}};
    ___tracy_emit_gpu_time(times[0]);
    ___tracy_emit_gpu_time_serial(times[1]);
}

static void fibers_and_sections(void) {
    TracyCFiberEnter("fiber");
    { ZoneScopedN("in fiber"); }
    TracyCFiberLeave;
    sb_section_setup(1, "category %d", 1);
    const uint32_t section = sb_section_enter(1, "section %s", "one");
    sb_section_leave(section);
    sb_parameter_setup(0, "parameter", SB_PARAMETER_INTEGER, 5);
}

static int everything(void) {
    wait_for_reader();
    TracyCSetThreadName("given name");
    zones();
    messages_and_plots();
    memory_and_locks();
    device();
    fibers_and_sections();
    return 0;
}

/* ---- threads ---- */

static void *work(void *argument) {
    const long count = (long)(intptr_t)argument;
    for (long i = 0; i < count; i++) {
        ZoneScopedN("work");
        ZoneValue((uint64_t)i);
    }
    return NULL;
}

/* `count` threads, at most `at_once` of them at a time, each with `zones` zones. */
static int threads(long count, long at_once, long zone_count) {
    pthread_t running[256];
    wait_for_reader();
    for (long done = 0; done < count;) {
        const long now = count - done < at_once ? count - done : at_once;
        for (long i = 0; i < now; i++)
            pthread_create(&running[i], NULL, work, (void *)(intptr_t)zone_count);
        for (long i = 0; i < now; i++)
            pthread_join(running[i], NULL);
        done += now;
    }
    return 0;
}

/* A fiber that goes on in other threads, with zones open all the while. */
static void *run_fiber(void *argument) {
    sb_zone *open = argument;
    sb_fiber_enter("wanderer", 0);
    static const sb_source_location outer = {"outer", "run_fiber", "subject.c", 1, 0};
    if (open->session != 0)
        sb_zone_end(*open);
    { ZoneScopedN("in wanderer"); }
    *open = sb_zone_begin(&outer);
    sb_fiber_leave();
    ZoneScopedN("own");
    return NULL;
}

static int wandering_fiber(long stays) {
    sb_zone open = {0};
    wait_for_reader();
    for (long i = 0; i < stays; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run_fiber, &open);
        pthread_join(thread, NULL);
    }
    return 0;
}

/* ---- ends ---- */

static int exit_in_zone(void) {
    wait_for_reader();
    ZoneScopedN("never ended");
    TracyCZoneN(inner, "neither", 1);
    (void)inner;
    exit(0);
}

static int fork_in_zone(void) {
    wait_for_reader();
    ZoneScopedN("parent");
    const pid_t child = fork();
    if (child == 0) {
        { ZoneScopedN("child"); }
        exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("fork.rec.%d\n", (int)child);
    fflush(stdout);
    TracyCZoneN(after, "after the child", 1);
    TracyCZoneEnd(after);
    return status;
}

static volatile sig_atomic_t signals;

static void handler(int signal) {
    (void)signal;
    ZoneScopedN("in handler");
    signals++;
}

static int interrupted(void) {
    wait_for_reader();
    const struct sigaction action = {.sa_handler = handler};
    const struct itimerspec often = {.it_interval.tv_nsec = 20000, .it_value.tv_nsec = 20000};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t timer;
    sigaction(SIGUSR1, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return 1;
    timer_settime(timer, 0, &often, NULL);
    long count = 0;
    while (signals < 2000) {
        ZoneScopedN("work");
        ZoneValue(1);
        count++;
    }
    timer_delete(timer);
    printf("%ld\n", count);
    return 0;
}

static int plugins(const char *path, long times) {
    wait_for_reader();
    for (long i = 0; i < times; i++) {
        void *library = dlopen(path, RTLD_NOW);
        if (library == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        void (*run)(void) = NULL;
        *(void **)&run = dlsym(library, "plugin_run");
        run();
        dlclose(library);
    }
    return 0;
}

/* ---- amounts ---- */

static int transient(long count) {
    char name[32];
    wait_for_reader();
    for (long i = 0; i < count; i++) {
        const int size = snprintf(name, sizeof name, "name %ld", i);
        const sb_zone zone =
            sb_zone_begin_dynamic((uint32_t)i, "t.c", 3, "f", 1, name, (size_t)size, 0, 0);
        sb_zone_end(zone);
    }
    return 0;
}

/* Zones without end, numbered; says now and then how many are certainly published. */
static int count_forever(void) {
    const bool is_quiet = getenv("SUBJECT_QUIET") != NULL;
    for (uint64_t i = 1;; i++) {
        { ZoneScopedN("counted"); }
        if (!is_quiet && i % 1000 == 0 && write(STDOUT_FILENO, &i, sizeof i) < 0)
            return 1;
    }
}

static int many(long count) {
    if (getenv("SUBJECT_WAITS") != NULL)
        wait_for_reader();
    for (long i = 0; i < count; i++) {
        ZoneScopedN("many");
        TracyCZoneN(inner, "inner", 1);
        TracyCZoneText(inner, "text", 4);
        TracyCZoneEnd(inner);
    }
    if (getenv("SUBJECT_WAITS") == NULL)
        wait_for_reader();
    return 0;
}

static long number(char **argv, int argc, int index) {
    return index < argc ? strtol(argv[index], NULL, 10) : 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    const long first = number(argv, argc, 2);
    if (strcmp(what, "everything") == 0)
        return everything();
    if (strcmp(what, "threads") == 0)
        return threads(first, number(argv, argc, 3), number(argv, argc, 4));
    if (strcmp(what, "fiber") == 0)
        return wandering_fiber(first);
    if (strcmp(what, "exit") == 0)
        return exit_in_zone();
    if (strcmp(what, "fork") == 0)
        return fork_in_zone();
    if (strcmp(what, "signals") == 0)
        return interrupted();
    if (strcmp(what, "plugins") == 0)
        return plugins(argv[3], first);
    if (strcmp(what, "transient") == 0)
        return transient(first);
    if (strcmp(what, "forever") == 0)
        return count_forever();
    if (strcmp(what, "many") == 0)
        return many(first);
    fprintf(stderr, "subject: what is '%s'?\n", what);
    return 2;
}
