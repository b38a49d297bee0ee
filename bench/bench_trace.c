/*
 * Traces for bench/trace.py, and how fast they are loaded and counted:
 *
 *     bench_trace make random|identical ZONES FILE
 *     bench_trace load FILE
 *
 * `load` prints seconds to load, bytes of memory a zone, and seconds for the statistics of all
 * zones with and without quantiles: each the best of a few passes, as the rest is the machine's
 * noise.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/trace.h"

enum { PASSES = 3, SOURCES = 64, THREADS = 4, DEPTH = 12 };

static double now_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- making ---- */

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint32_t add_source(sb_trace *trace, unsigned number) {
    char text[64];
    const int name = snprintf(text, sizeof text, "zone_%u", number);
    sb_source source = {.line = number * 10};
    source.name = sb_trace_string(trace, (sb_slice){text, (size_t)name});
    source.function = source.name;
    const int file = snprintf(text, sizeof text, "src/part_%u/file_%u.c", number % 7, number);
    source.file = sb_trace_string(trace, (sb_slice){text, (size_t)file});
    return sb_trace_add_source(trace, &source);
}

static sb_track *add_thread(sb_trace *trace, uint64_t id) {
    const uint32_t thread = sb_trace_thread(trace, id);
    return sb_trace_add_track(trace, SB_TRACK_THREAD, thread, SB_NONE);
}

/* Zones that begin and end at random, up to DEPTH deep; durations from tens of nanoseconds on. */
static int64_t fill_random(sb_track *track, uint64_t count, uint64_t random) {
    int64_t now = 1000;
    unsigned depth = 0;
    while (count > 0 || depth > 0) {
        const uint64_t bits = next_random(&random);
        now += (int64_t)(bits & 1023) + 1;
        if (count > 0 && (depth == 0 || (depth < DEPTH && (bits >> 20) % 2 == 0))) {
            sb_track_begin(track, now, 1 + (uint32_t)((bits >> 30) % SOURCES));
            depth++;
            count--;
        } else {
            sb_track_end(track, now);
            depth--;
        }
    }
    return now;
}

static int64_t fill_identical(sb_track *track, uint64_t count) {
    enum { START = 1000, STEP = 100, LENGTH = 50 };
    for (uint64_t i = 0; i < count; i++) {
        const int64_t start = START + (int64_t)i * STEP;
        sb_track_add(track, start, start + LENGTH, 1);
    }
    return START + (int64_t)count * STEP;
}

static sb_trace *make_trace(bool is_random, uint64_t zones) {
    sb_trace *trace = sb_trace_create();
    trace->info.program = sb_slice_of("bench");
    for (unsigned i = 0; i < (is_random ? SOURCES : 1); i++)
        add_source(trace, i);
    const unsigned threads = is_random ? THREADS : 1;
    for (unsigned i = 0; i < threads; i++) {
        const uint64_t share = zones * (i + 1) / threads - zones * i / threads;
        sb_track *track = add_thread(trace, i + 1);
        const int64_t end = is_random ? fill_random(track, share, 0x9E3779B97F4A7C15U + i)
                                      : fill_identical(track, share);
        if (end > trace->info.last_time)
            trace->info.last_time = end;
    }
    return trace;
}

static int make(const char *kind, const char *count, const char *path) {
    sb_output output;
    sb_error error = {0};
    int64_t zones = 0;
    if (!sb_parse_int64(sb_slice_of(count), &zones) || zones < 1) {
        fprintf(stderr, "bench_trace: '%s' is no number of zones\n", count);
        return 2;
    }
    if (sb_output_to_file(&output, path, &error) != SB_OK) {
        fprintf(stderr, "bench_trace: %s\n", error.message);
        return 1;
    }
    sb_trace *trace = make_trace(strcmp(kind, "random") == 0, (uint64_t)zones);
    const sb_trace_write_options options = {.compression = SB_TRACE_LZ4};
    sb_trace_write(trace, &options, &output, NULL);
    sb_trace_free(trace);
    if (sb_output_finish(&output, &error) != SB_OK) {
        fprintf(stderr, "bench_trace: %s\n", error.message);
        return 1;
    }
    return 0;
}

/* ---- measuring ---- */

/* Memory of this process that is not shared with a file. */
static uint64_t private_bytes(void) {
    sb_file file;
    int64_t resident = 0;
    int64_t shared = 0;
    if (sb_file_open(&file, "/proc/self/statm", NULL) != SB_OK)
        return 0;
    sb_slice rest;
    sb_slice_cut(file.text, ' ', &rest);
    sb_parse_int64(sb_slice_cut(rest, ' ', &rest), &resident);
    sb_parse_int64(sb_slice_cut(rest, ' ', &rest), &shared);
    sb_file_close(&file);
    return (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static double time_stats(const sb_trace *trace, bool with_quantiles) {
    double best = 1e9;
    for (int pass = 0; pass < PASSES; pass++) {
        const double start = now_seconds();
        const sb_stats_options options = {
            .range = SB_RANGE_ALL, .with_self = true, .with_quantiles = with_quantiles};
        free(sb_trace_stats(trace, &options));
        const double seconds = now_seconds() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static int load(const char *path) {
    sb_error error = {0};
    sb_trace *trace = NULL;
    double best = 1e9;
    double bytes = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        sb_file file;
        sb_trace_free(trace);
        trace = NULL;
        const uint64_t before = private_bytes();
        const double start = now_seconds();
        const sb_trace_read_options options = {.file = &file};
        if (sb_file_open(&file, path, &error) != SB_OK ||
            sb_trace_read(file.text, &options, &trace, &error) != SB_OK) {
            fprintf(stderr, "bench_trace: %s\n", error.message);
            return 1;
        }
        const double seconds = now_seconds() - start;
        best = seconds < best ? seconds : best;
        if (pass == 0)
            bytes = (double)(private_bytes() - before);
        sb_file_close(&file);
    }
    const uint64_t zones = sb_trace_zone_count(trace, false);
    printf("zones %" PRIu64 " load %.3f bytes %.1f stats %.3f quantiles %.3f\n", zones, best,
           bytes / (double)zones, time_stats(trace, false), time_stats(trace, true));
    sb_trace_free(trace);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "make") == 0)
        return make(argv[2], argv[3], argv[4]);
    if (argc == 3 && strcmp(argv[1], "load") == 0)
        return load(argv[2]);
    fprintf(stderr, "usage: bench_trace make random|identical ZONES FILE\n"
                    "       bench_trace load FILE\n");
    return 2;
}
