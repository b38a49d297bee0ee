#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t clock) {
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t sb_clock_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

int64_t sb_wall_ns(void) {
    return read_clock(CLOCK_REALTIME);
}
