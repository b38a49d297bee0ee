/* The one thread of our own: waits for readers, or looks after a recording file. */
#include "client/client.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/client_reader.h"

enum {
    BRIEF_PAUSE_MS = 5,
    LONG_PAUSE_MS = 50,
    CLOCK_AGE_MAX_MS = 1000,
};

static uint32_t is_asleep; /* worth waking */

/* A program that closes what it has not opened may have a file of its own under our number. */
static bool owns_wake(void) {
    struct stat status;
    return fstat(client_global.wake, &status) == 0 && (status.st_mode & S_IFMT) == 0;
}

void client_wake(void) {
    const uint64_t one = 1;
    if (owns_wake())
        (void)!write(client_global.wake, &one, sizeof one);
}

void client_wake_sender(void) {
    if (__atomic_load_n(&is_asleep, __ATOMIC_RELAXED) != 0)
        client_wake();
}

bool client_wait(const int *descriptors, size_t count, bool for_writing, int timeout_ms) {
    enum { DESCRIPTORS_MAX = 3 };
    struct pollfd polled[DESCRIPTORS_MAX + 1];
    size_t used = 0;
    for (; used < count && used < DESCRIPTORS_MAX; used++)
        polled[used] = (struct pollfd){descriptors[used], for_writing ? POLLOUT : POLLIN, 0};
    /* When we stop, the wake-up call stays: it must not keep us from waiting for the reader. */
    const bool is_deaf = client_is_stopping() || !owns_wake();
    const size_t wake = used;
    if (!is_deaf)
        polled[used++] = (struct pollfd){client_global.wake, POLLIN, 0};
    __atomic_store_n(&is_asleep, 1, __ATOMIC_RELAXED);
    const int ready = poll(polled, used, timeout_ms);
    __atomic_store_n(&is_asleep, 0, __ATOMIC_RELAXED);
    if (ready > 0 && !is_deaf && polled[wake].revents != 0 && !client_is_stopping()) {
        uint64_t calls = 0;
        if (owns_wake())
            (void)!read(client_global.wake, &calls, sizeof calls);
        client_pool_prepare();
    }
    for (size_t i = 0; ready > 0 && i < wake; i++) {
        if (polled[i].revents != 0)
            return true;
    }
    return false;
}

int client_longer_pause(int pause_ms, bool was_busy) {
    if (was_busy)
        return BRIEF_PAUSE_MS;
    return 2 * pause_ms < LONG_PAUSE_MS ? 2 * pause_ms : LONG_PAUSE_MS;
}

/* ---- a recording file ---- */

static bool seal_full_chunks(client_lane *lane) {
    bool is_any = false;
    if (lane->reading == NULL)
        lane->reading = __atomic_load_n(&lane->first, __ATOMIC_ACQUIRE);
    while (lane->reading != NULL) {
        sb_chunk *next = __atomic_load_n(&lane->reading->next, __ATOMIC_ACQUIRE);
        if (next == NULL)
            break;
        client_file_seal(lane->reading, lane->reading->sealed_words);
        lane->reading = next;
        is_any = true;
    }
    return is_any;
}

static void look_after_file(void) {
    int pause_ms = BRIEF_PAUSE_MS;
    int64_t clock_read = 0;
    int64_t clock_age_ms = 1; /* longer and longer, so that short runs have a good rate too */
    while (!client_is_stopping()) {
        bool is_busy = false;
        client_file_prepare();
        for (client_lane *lane = client_lanes(); lane != NULL; lane = lane->next)
            is_busy |= seal_full_chunks(lane);
        client_clock_watch();
        const int64_t now = client_clock_system();
        if (now - clock_read > clock_age_ms * 1000000) {
            client_file_update_clock();
            clock_read = now;
            clock_age_ms = clock_age_ms < CLOCK_AGE_MAX_MS ? 2 * clock_age_ms : CLOCK_AGE_MAX_MS;
        }
        pause_ms = client_longer_pause(pause_ms, is_busy);
        client_wait(NULL, 0, false, pause_ms);
    }
    for (client_lane *lane = client_lanes(); lane != NULL; lane = lane->next)
        seal_full_chunks(lane);
    client_file_close();
}

/* ---- */

void *client_sender_main(void *unused) {
    (void)unused;
    client_is_inside = true; /* nothing of what we do is recorded */
    prctl(PR_SET_NAME, "strobe", 0, 0, 0);
    if (client_file_is_open())
        look_after_file();
    else
        client_serve_readers();
    return NULL;
}
