/*
 * The clock of a recording: the processor's time-stamp counter where it is usable.
 *
 * It is usable if the processor says that it runs at one rate in all states (invariant) and the
 * kernel has not found otherwise: a kernel that distrusts the counter takes another clock source.
 * Where it is not, and on other processors, the clock is CLOCK_MONOTONIC_RAW in nanoseconds.
 *
 * The rate is not measured at the start, which would delay the program, but taken from two readings
 * of both clocks: one at the start and one when a reader comes, or again and again into a file.
 */
#include "client/client.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool client_clock_is_counter;
sb_record_clock client_clock_started;

int64_t client_clock_system(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t client_clock_ms(void) {
    return client_clock_system() / 1000000;
}

#if defined(__x86_64__)

static bool processor_has_invariant_counter(void) {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & 1U << 8) != 0;
}

/* Clock sources that kernels fall back to when they distrust the counter. */
static bool kernel_distrusts_counter(void) {
    char source[32] = "";
    const int descriptor = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                                O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    const ssize_t size = read(descriptor, source, sizeof source - 1);
    close(descriptor);
    if (size <= 0)
        return false;
    return strncmp(source, "hpet", 4) == 0 || strncmp(source, "acpi_pm", 7) == 0 ||
           strncmp(source, "jiffies", 7) == 0;
}

static bool is_usable(void) {
    return processor_has_invariant_counter() && !kernel_distrusts_counter();
}

#else

static bool is_usable(void) {
    return false;
}

#endif

void client_clock_start(bool wants_counter) {
    client_clock_is_counter = wants_counter && is_usable();
    client_clock_started = client_clock_pair();
}

sb_record_clock client_clock_pair(void) {
    enum { TRIES = 5 };
    sb_record_clock best = {0};
    int64_t narrowest = INT64_MAX;
    /* The reading that was least disturbed: the other clock read in the shortest time. */
    for (int i = 0; i < TRIES; i++) {
        const int64_t before = client_now();
        const int64_t ns = client_clock_system();
        const int64_t after = client_now();
        if (after - before < narrowest) {
            narrowest = after - before;
            best = (sb_record_clock){before + (after - before) / 2, ns};
        }
    }
    return best;
}

/*
 * Nanoseconds for each tick from one pair of readings to another, in parts of a million that the
 * second stretch differs from the first.
 */
double client_clock_deviation(sb_record_clock first, sb_record_clock middle, sb_record_clock last) {
    const double before = (double)(middle.ns - first.ns) / (double)(middle.ticks - first.ticks);
    const double after = (double)(last.ns - middle.ns) / (double)(last.ticks - middle.ticks);
    return (after / before - 1) * 1e6;
}

/*
 * A virtual machine that was moved or held, or firmware that writes the counter, changes what a
 * tick is; nothing tells us but the other clock.
 */
void client_clock_watch(void) {
    enum { EVERY_S = 1 };
    /* Readings that far apart are good to a few millionths, and clocks are disciplined by 500. */
    static const double deviation_max = 1000;
    static sb_record_clock previous;
    static bool has_told;
    if (!client_clock_is_counter || has_told)
        return;
    if (previous.ns == 0 || previous.ns < client_clock_started.ns)
        previous = client_clock_started;
    const int64_t age = client_clock_system() - previous.ns;
    if (age < (int64_t)EVERY_S * 1000000000)
        return;
    const sb_record_clock now = client_clock_pair();
    const double deviation = previous.ns == client_clock_started.ns
                                 ? 0
                                 : client_clock_deviation(client_clock_started, previous, now);
    if (deviation > deviation_max || deviation < -deviation_max) {
        client_say("the time-stamp counter has changed its rate by %.0f millionths: times of this "
                   "recording are wrong by as much; STROBE_CLOCK=monotonic avoids it",
                   deviation);
        has_told = true;
    }
    previous = now;
}

int64_t sb_now(void) {
    client_ensure_started();
    return client_now();
}
