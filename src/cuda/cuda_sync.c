#include "cuda/cuda_sync.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

/* Questions of a session, and how many must be answered. */
enum { ROUNDS = 48, ROUNDS_LEAST = 16 };
/* How long the kernel waits for questions and the host for an answer, ns. */
#define PATIENCE_NS 20000000
/* Between sessions: the first ones follow each other sooner. */
#define PAUSE_NS 200000000
#define FIRST_PAUSE_NS 50000000
/* A rate comes from two sessions that lie at least so far apart. */
#define RATE_NS_LEAST 140000000
/* How long a GPU is asked that does not answer, and between two sessions of that. */
#define FIND_NS 2000000000
#define FIND_PAUSE_NS 5000000

/* On lines of the cache of their own. */
typedef struct cuda_sync_box {
    uint32_t question;
    uint32_t unused[31];
    uint32_t answer;
    uint32_t unused_too;
    uint64_t timer;
} cuda_sync_box;

/* Answers the questions first + 1 to first + rounds, or leaves when it has waited long enough. */
static const char kernel_text[] =
    ".version 6.4\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry strobe_sync(.param .u64 box, .param .u32 first, .param .u32 rounds)\n"
    "{\n"
    "    .reg .pred %late, %same, %more;\n"
    "    .reg .b32 %number, %last, %asked;\n"
    "    .reg .b64 %box, %begin, %now, %waited;\n"
    "    ld.param.u64 %box, [box];\n"
    "    ld.param.u32 %number, [first];\n"
    "    ld.param.u32 %last, [rounds];\n"
    "    add.u32 %last, %last, %number;\n"
    "    mov.u64 %begin, %globaltimer;\n"
    "next:\n"
    "    add.u32 %number, %number, 1;\n"
    "ask:\n"
    "    mov.u64 %now, %globaltimer;\n"
    "    sub.u64 %waited, %now, %begin;\n"
    "    setp.gt.u64 %late, %waited, 20000000;\n"
    "    @%late bra leave;\n"
    "    ld.volatile.global.u32 %asked, [%box];\n"
    "    setp.eq.u32 %same, %asked, %number;\n"
    "    @!%same bra ask;\n"
    "    mov.u64 %now, %globaltimer;\n"
    "    st.volatile.global.u64 [%box+136], %now;\n"
    "    membar.sys;\n"
    "    st.volatile.global.u32 [%box+128], %number;\n"
    "    setp.lt.u32 %more, %number, %last;\n"
    "    @%more bra next;\n"
    "leave:\n"
    "    ret;\n"
    "}\n";

sb_status cuda_sync_open(cuda_sync *sync, const cuda_driver *driver, sb_error *error) {
    _Static_assert(offsetof(cuda_sync_box, answer) == 128, "as the kernel has it");
    _Static_assert(offsetof(cuda_sync_box, timer) == 136, "as the kernel has it");
    *sync = (cuda_sync){0};
    const char *what = "the GPU's clock cannot be read";
    SB_TRY(cuda_check(driver, driver->stream_create(&sync->stream, CUDA_STREAM_NON_BLOCKING), what,
                      error));
    SB_TRY(cuda_check(driver, driver->module_load(&sync->module, kernel_text), what, error));
    SB_TRY(cuda_check(driver, driver->module_function(&sync->kernel, sync->module, "strobe_sync"),
                      what, error));
    SB_TRY(cuda_pinned_allocate(&sync->memory, driver, sizeof *sync->box, what, error));
    sync->box = sync->memory.data;
    return cuda_check(driver, driver->host_address(&sync->box_address, sync->box, 0), what, error);
}

void cuda_sync_close(cuda_sync *sync, const cuda_driver *driver) {
    /* The kernel leaves by itself; until then the box is its. */
    if (sync->stream != NULL)
        (void)driver->stream_wait(sync->stream);
    cuda_pinned_free(&sync->memory, driver);
    if (sync->module != NULL)
        driver->module_unload(sync->module);
    if (sync->stream != NULL)
        driver->stream_destroy(sync->stream);
    *sync = (cuda_sync){0};
}

/* One question. False: nobody answered in time. */
static bool ask(cuda_sync *sync, uint32_t number, cuda_sync_sample *sample) {
    sample->sent_ns = sb_clock_ns();
    __atomic_store_n(&sync->box->question, number, __ATOMIC_RELEASE);
    while (__atomic_load_n(&sync->box->answer, __ATOMIC_ACQUIRE) != number)
        if (sb_clock_ns() - sample->sent_ns > PATIENCE_NS)
            return false;
    sample->answered_ns = sb_clock_ns();
    sample->timer = __atomic_load_n(&sync->box->timer, __ATOMIC_RELAXED);
    return true;
}

/*
 * The line goes through what the last session found, at the rate since one a little before. Not
 * longer before: the host's clock is slewed, faster at one time than at another.
 */
static void draw_line(cuda_sync *sync, cuda_sync_line now) {
    now.rate = cuda_sync_is_known(sync) ? sync->line.rate : 1;
    for (size_t i = 0; i < CUDA_SYNC_KEPT && sync->kept[i].used > 0; i++) {
        const double timer = (double)(int64_t)(now.timer_mean - sync->kept[i].timer_mean);
        const double rate = (double)(now.host_mean - sync->kept[i].host_mean) / timer;
        if (timer < RATE_NS_LEAST)
            continue;
        if (fabs(rate - 1) < 1e-3)
            now.rate = rate;
        break;
    }
    memmove(&sync->kept[1], &sync->kept[0], (CUDA_SYNC_KEPT - 1) * sizeof sync->kept[0]);
    sync->kept[0] = now;
    /* How far off the last line had become says how far off this one will. */
    if (cuda_sync_is_known(sync))
        now.error_ns +=
            fabs((double)(cuda_sync_host(&sync->line, (int64_t)now.timer_mean) - now.host_mean));
    sync->line = now;
}

sb_status cuda_sync_follow(cuda_sync *sync, const cuda_driver *driver, sb_error *error) {
    const int64_t now = sb_clock_ns();
    const int64_t pause = sync->sessions < 4 ? FIRST_PAUSE_NS : PAUSE_NS;
    if (sync->last_ns != 0 && now - sync->last_ns < pause)
        return SB_OK;
    /* The last kernel may not even have begun. */
    if (driver->stream_query(sync->stream) == CUDA_ERROR_NOT_READY)
        return SB_OK;
    sync->last_ns = now;
    uint32_t first = sync->asked;
    uint32_t rounds = ROUNDS;
    void *arguments[] = {&sync->box_address, &first, &rounds};
    SB_TRY(cuda_check(
        driver, driver->launch(sync->kernel, 1, 1, 1, 1, 1, 1, 0, sync->stream, arguments, NULL),
        "the GPU's clock cannot be read", error));
    sync->asked += ROUNDS;
    cuda_sync_sample samples[ROUNDS];
    size_t count = 0;
    while (count < ROUNDS && ask(sync, first + 1 + (uint32_t)count, &samples[count]))
        count++;
    if (count < ROUNDS_LEAST)
        return SB_OK;
    sync->sessions++;
    draw_line(sync, cuda_sync_fit(samples, count));
    return SB_OK;
}

bool cuda_sync_find(cuda_sync *sync, const cuda_driver *driver) {
    const int64_t begin = sb_clock_ns();
    while (!cuda_sync_is_known(sync) && sb_clock_ns() - begin < FIND_NS) {
        sync->last_ns = 0;
        if (cuda_sync_follow(sync, driver, NULL) != SB_OK)
            return false;
        if (!cuda_sync_is_known(sync))
            nanosleep(&(struct timespec){.tv_nsec = FIND_PAUSE_NS}, NULL);
    }
    return cuda_sync_is_known(sync);
}
