/*
 * What `strobe run -v` says about itself: how well the clocks agree, what recording cost, and what
 * was lost.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "cli/cli_run.h"
#include "cli/cli_trace.h"

/* ---- clocks ---- */

/* A device's samples of both clocks, summed up for a straight line through them. */
typedef struct clock_fit {
    int64_t device;
    int64_t first_device_time;
    double first_host_time;
    sb_vector points; /* clock_point */
} clock_fit;

typedef struct clock_point {
    double device;
    double host;
} clock_point;

static bool find_title(const sb_csv *csv, const char *title, size_t *column) {
    for (size_t i = 0; i < csv->field_count; i++) {
        if (sb_slice_is(sb_slice_trim(csv->fields[i]), title)) {
            *column = i;
            return true;
        }
    }
    return false;
}

static clock_fit *fit_of(sb_vector *fits, int64_t device) {
    for (size_t i = 0; i < fits->count; i++) {
        clock_fit *fit = sb_vector_at(fits, i);
        if (fit->device == device)
            return fit;
    }
    clock_fit *fit = sb_vector_push(fits);
    *fit = (clock_fit){.device = device, .points = sb_vector_of(sizeof(clock_point))};
    return fit;
}

static void read_samples(const char *path, sb_vector *fits) {
    sb_file file;
    sb_csv csv;
    size_t id = 0;
    size_t device = 0;
    size_t host = 0;
    if (sb_file_open(&file, path, NULL) != SB_OK)
        return;
    sb_csv_begin(&csv, file.text);
    const bool has_titles = sb_csv_next(&csv) && find_title(&csv, "device id", &id) &&
                            find_title(&csv, "device", &device) &&
                            find_title(&csv, "host_real", &host);
    while (has_titles && sb_csv_next(&csv)) {
        int64_t number = 0;
        int64_t ticks = 0;
        double ns = 0;
        if (csv.field_count <= host || !sb_parse_int64(sb_slice_trim(csv.fields[id]), &number) ||
            !sb_parse_int64(sb_slice_trim(csv.fields[device]), &ticks) ||
            !sb_parse_double(sb_slice_trim(csv.fields[host]), &ns))
            continue;
        clock_fit *fit = fit_of(fits, number);
        if (fit->points.count == 0) {
            fit->first_device_time = ticks;
            fit->first_host_time = ns;
        }
        *(clock_point *)sb_vector_push(&fit->points) =
            (clock_point){(double)(ticks - fit->first_device_time), ns - fit->first_host_time};
    }
    sb_csv_end(&csv);
    sb_file_close(&file);
}

/* The straight line with the least squares, and how far the samples are from it. */
static void put_fit(const clock_fit *fit, sb_output *output) {
    const size_t count = fit->points.count;
    double mean_x = 0;
    double mean_y = 0;
    for (size_t i = 0; i < count; i++) {
        const clock_point *point = sb_vector_at(&fit->points, i);
        mean_x += point->device / (double)count;
        mean_y += point->host / (double)count;
    }
    double xx = 0;
    double xy = 0;
    for (size_t i = 0; i < count; i++) {
        const clock_point *point = sb_vector_at(&fit->points, i);
        xx += (point->device - mean_x) * (point->device - mean_x);
        xy += (point->device - mean_x) * (point->host - mean_y);
    }
    const double slope = xx > 0 ? xy / xx : 0;
    double squares = 0;
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        const clock_point *point = sb_vector_at(&fit->points, i);
        const double off = fabs(point->host - mean_y - slope * (point->device - mean_x));
        squares += off * off;
        largest = off > largest ? off : largest;
    }
    sb_put_format(output,
                  "Clock:  device %" PRId64
                  ": %zu samples, %.6f ns a clock, off by %.1f ns (root of "
                  "mean square), %.1f ns at most\n",
                  fit->device, count, slope, sqrt(squares / (double)count), largest);
}

static void put_clocks(const char *logs, sb_arena *arena, sb_output *output) {
    sb_vector fits = sb_vector_of(sizeof(clock_fit));
    read_samples(sb_arena_format(arena, "%s/sync_device_info.csv", logs).data, &fits);
    for (size_t i = 0; i < fits.count; i++) {
        clock_fit *fit = sb_vector_at(&fits, i);
        if (fit->points.count > 1)
            put_fit(fit, output);
        sb_vector_free(&fit->points);
    }
    sb_vector_free(&fits);
}

/* ---- cost and losses ---- */

/* A zone is two readings of the clock and little else: measured here, on this machine. */
static double zone_ns(void) {
    enum { READINGS = 20000, ZONE_READINGS = 2 };
    const double rest_ns = 3; /* what is stored; bench/client.py measures it */
    double best = 1e9;
    for (int turn = 0; turn < 5; turn++) {
        const int64_t start = sb_clock_ns();
        volatile uint64_t sink = 0;
        for (int i = 0; i < READINGS; i++) {
#if defined(__x86_64__)
            sink = __builtin_ia32_rdtsc();
#else
            sink = (uint64_t)sb_clock_ns();
#endif
        }
        (void)sink;
        const double each = (double)(sb_clock_ns() - start) / READINGS;
        best = each < best ? each : best;
    }
    return ZONE_READINGS * best + rest_ns;
}

/* Operations that a device should have told more of. */
static uint64_t cut_operations(const sb_report_summary *summary) {
    return summary->rows[SB_TRUNCATED] + summary->rows[SB_NO_DEVICE_DATA];
}

void cli_run_put_cost(const cli_run_arguments *arguments, const sb_run_result *result,
                      const sb_report_summary *summary, sb_output *output) {
    const double python_ns = 100; /* the interpreter's way to us and back: bench/python.py */
    const double ns_per_us = 1000;
    const double ns_per_second = 1e9;
    sb_arena arena = {0};
    uint64_t events = 0;
    uint64_t lost = 0;
    for (size_t i = 0; i < result->processes.count; i++) {
        const sb_run_process *process = sb_vector_at(&result->processes, i);
        events += process->zones + process->messages;
        lost += process->lost;
    }
    put_clocks(sb_arena_format(&arena, "%s/.logs", arguments->folder).data, &arena, output);
    const double each = zone_ns() + (result->is_python ? python_ns : 0);
    const double cost = (double)events * each;
    sb_put_format(output,
                  "Cost:   about %.0f us of %.3f s (%.2f %%), an estimate: %" PRIu64
                  " zones and messages on the host, %.0f ns each\n",
                  cost / ns_per_us, result->seconds,
                  result->seconds > 0 ? 100 * cost / (result->seconds * ns_per_second) : 0, events,
                  each);
    sb_put_format(output, "Lost:   %" PRIu64 " events on the host", lost);
    if (summary->device_count > 0)
        sb_put_format(output, ", device data of %" PRIu64 " operations", cut_operations(summary));
    sb_put_char(output, '\n');
    sb_arena_free(&arena);
}
