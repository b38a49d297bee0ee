/*
 * What recording costs a program with a zone every microsecond. Work of about a microsecond is done
 * with and without a zone around it, in turns; the shortest turn of each counts, which a busy
 * machine disturbs little. Records into a file, as `strobe run` does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <strobe/strobe.h>

enum { TURNS = 400, ZONES_PER_TURN = 1000, NS_PER_ZONE = 1000 };

static volatile uint64_t sink;

static void work(unsigned steps) {
    uint64_t value = sink;
    for (unsigned i = 0; i < steps; i++)
        value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
    sink = value;
}

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double plain_turn(unsigned steps) {
    const double start = now_ns();
    for (int i = 0; i < ZONES_PER_TURN; i++)
        work(steps);
    return (now_ns() - start) / ZONES_PER_TURN;
}

static double zoned_turn(unsigned steps) {
    const double start = now_ns();
    for (int i = 0; i < ZONES_PER_TURN; i++) {
        ZoneScopedN("work");
        work(steps);
    }
    return (now_ns() - start) / ZONES_PER_TURN;
}

/* Steps that take a microsecond, by the fastest of many tries. */
static unsigned calibrate(void) {
    enum { STEPS = 1000, TRIES = 50 };
    double best = 1e18;
    for (int i = 0; i < TRIES; i++) {
        const double time = plain_turn(STEPS);
        best = time < best ? time : best;
    }
    return (unsigned)(STEPS * NS_PER_ZONE / best);
}

int main(void) {
    char path[] = "/tmp/bench_zones.XXXXXX";
    const int file = mkstemp(path);
    if (file < 0 || close(file) != 0 || sb_client_record_to_file(path) != 0) {
        fprintf(stderr, "bench_zones: cannot record into a file\n");
        return 1;
    }
    const unsigned steps = calibrate();
    double plain = 1e18;
    double zoned = 1e18;
    for (int i = 0; i < TURNS; i++) {
        const double without = plain_turn(steps);
        const double with = zoned_turn(steps);
        plain = without < plain ? without : plain;
        zoned = with < zoned ? with : zoned;
    }
    unlink(path);
    printf("C, a zone every microsecond: %.0f ns without, %.0f ns with recording: %.1f %% more\n",
           plain, zoned, 100 * (zoned - plain) / plain);
    return 0;
}
