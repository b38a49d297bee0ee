#include "cuda/cuda_clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Windows are not shorter than this, ns. */
#define WINDOW_NS_LEAST 1000000u
/* A rate is believed if the anchors it comes from lie this far apart: the root of the sum of their
   squared distances from the middle, ns. The timer's step of up to 32 ns is then 0.1 % of it. */
#define SPREAD_NS_LEAST 10000.0

/* No clock goes that far in a window; whoever says so has no clock. */
#define CYCLES_MOST 1e15

bool cuda_fit_open(cuda_clock_fit *fit, uint32_t sm_count, double nominal_ns) {
    *fit = (cuda_clock_fit){.sm_count = sm_count, .nominal = nominal_ns};
    fit->sums = calloc((size_t)CUDA_WINDOWS * sm_count, sizeof *fit->sums);
    fit->lines = calloc((size_t)CUDA_WINDOWS * sm_count, sizeof *fit->lines);
    fit->last = calloc(sm_count, sizeof *fit->last);
    if (fit->sums != NULL && fit->lines != NULL && fit->last != NULL)
        return true;
    cuda_fit_close(fit);
    return false;
}

void cuda_fit_close(cuda_clock_fit *fit) {
    free(fit->sums);
    free(fit->lines);
    free(fit->last);
    *fit = (cuda_clock_fit){0};
}

void cuda_fit_begin(cuda_clock_fit *fit, uint64_t first, uint64_t last) {
    const uint64_t span = last > first ? last - first : 0;
    fit->origin = first;
    if (fit->last_origin == 0)
        fit->last_origin = first;
    fit->width = span / CUDA_WINDOWS + 1;
    if (fit->width < WINDOW_NS_LEAST)
        fit->width = WINDOW_NS_LEAST;
    memset(fit->sums, 0, (size_t)CUDA_WINDOWS * fit->sm_count * sizeof *fit->sums);
    memset(fit->lines, 0, (size_t)CUDA_WINDOWS * fit->sm_count * sizeof *fit->lines);
}

void cuda_fit_add(cuda_clock_fit *fit, uint32_t sm, uint64_t clock, uint64_t timer) {
    if (sm >= fit->sm_count || timer < fit->origin)
        return;
    const uint64_t window = (timer - fit->origin) / fit->width;
    if (window >= CUDA_WINDOWS)
        return;
    cuda_window_sums *sums = &fit->sums[window * fit->sm_count + sm];
    if (sums->count == 0) {
        sums->first_clock = clock;
        sums->first_timer = timer;
        sums->least_clock = clock;
    }
    const double cycles = (double)(int64_t)(clock - sums->first_clock);
    if (fabs(cycles) > CYCLES_MOST)
        return;
    const double ns = (double)(int64_t)(timer - sums->first_timer);
    if (clock < sums->least_clock)
        sums->least_clock = clock;
    sums->count++;
    sums->clock += cycles;
    sums->timer += ns;
    sums->clock_clock += cycles * cycles;
    sums->clock_timer += cycles * ns;
}

/* The rate that all SMs of a window agree on; 0: too little is known. */
static double rate_of(const cuda_clock_fit *fit, size_t window) {
    double clock_clock = 0;
    double clock_timer = 0;
    for (uint32_t sm = 0; sm < fit->sm_count; sm++) {
        const cuda_window_sums *sums = &fit->sums[window * fit->sm_count + sm];
        if (sums->count < 2)
            continue;
        clock_clock += sums->clock_clock - sums->clock * sums->clock / sums->count;
        clock_timer += sums->clock_timer - sums->clock * sums->timer / sums->count;
    }
    if (clock_clock <= 0 || clock_timer <= 0)
        return 0;
    const double rate = clock_timer / clock_clock;
    return sqrt(clock_clock) * rate >= SPREAD_NS_LEAST ? rate : 0;
}

void cuda_fit_finish(cuda_clock_fit *fit) {
    for (size_t window = 0; window < CUDA_WINDOWS; window++) {
        const double rate = rate_of(fit, window);
        if (rate > 0)
            fit->rate = rate;
        fit->rates[window] = fit->rate > 0 ? fit->rate : fit->nominal;
        for (uint32_t sm = 0; sm < fit->sm_count; sm++) {
            const cuda_window_sums *sums = &fit->sums[window * fit->sm_count + sm];
            if (sums->count == 0)
                continue;
            const double cycles = sums->clock / sums->count;
            const double whole = floor(cycles);
            cuda_window_line *line = &fit->lines[window * fit->sm_count + sm];
            *line = (cuda_window_line){
                .is_known = true,
                .clock = sums->first_clock + (uint64_t)(int64_t)whole,
                .timer = (double)(sums->first_timer - fit->origin) + sums->timer / sums->count -
                         (cycles - whole) * fit->rates[window],
            };
            fit->last[sm] = *line;
            fit->last[sm].timer += (double)(int64_t)(fit->origin - fit->last_origin);
        }
    }
}

/* The last window that has seen this SM before the clock, or the first that has seen it at all. */
static size_t window_for(const cuda_clock_fit *fit, uint32_t sm, uint64_t clock) {
    size_t chosen = CUDA_WINDOWS;
    for (size_t window = 0; window < CUDA_WINDOWS; window++) {
        const cuda_window_sums *sums = &fit->sums[window * fit->sm_count + sm];
        if (sums->count > 0 && (chosen == CUDA_WINDOWS || sums->least_clock <= clock))
            chosen = window;
    }
    return chosen;
}

bool cuda_fit_convert(const cuda_clock_fit *fit, uint32_t sm, uint64_t clock, int64_t *timer) {
    if (sm >= fit->sm_count)
        return false;
    const size_t window = window_for(fit, sm, clock);
    const bool is_now = window < CUDA_WINDOWS;
    const cuda_window_line *line =
        is_now ? &fit->lines[window * fit->sm_count + sm] : &fit->last[sm];
    if (!line->is_known)
        return false;
    const double known = fit->rate > 0 ? fit->rate : fit->nominal;
    const double rate = is_now ? fit->rates[window] : known;
    const double ns = line->timer + (double)(int64_t)(clock - line->clock) * rate;
    /* Hostile clocks lie further away than any number can say. */
    if (!(fabs(ns) < 9e18))
        return false;
    *timer = (int64_t)((is_now ? fit->origin : fit->last_origin) + (uint64_t)(int64_t)llround(ns));
    return true;
}

/* ---- timer to host ---- */

static int64_t round_trip(const cuda_sync_sample *sample) {
    return sample->answered_ns - sample->sent_ns;
}

static int compare_samples(const void *a, const void *b) {
    const int64_t left = round_trip(a);
    const int64_t right = round_trip(b);
    return (left > right) - (left < right);
}

static double middle_of(const cuda_sync_sample *sample, int64_t origin) {
    return (double)(sample->sent_ns - origin) + (double)round_trip(sample) / 2;
}

cuda_sync_line cuda_sync_fit(cuda_sync_sample *samples, size_t count) {
    cuda_sync_line line = {.rate = 1};
    if (count == 0)
        return line;
    qsort(samples, count, sizeof *samples, compare_samples);
    const int64_t quickest = round_trip(&samples[0]);
    while (line.used < count && round_trip(&samples[line.used]) <= quickest + quickest / 4 + 100)
        line.used++;
    const int64_t host_origin = samples[0].sent_ns;
    const uint64_t timer_origin = samples[0].timer;
    double host = 0;
    double timer = 0;
    for (size_t i = 0; i < line.used; i++) {
        host += middle_of(&samples[i], host_origin) / (double)line.used;
        timer += (double)(int64_t)(samples[i].timer - timer_origin) / (double)line.used;
    }
    double both = 0;
    double square = 0;
    for (size_t i = 0; i < line.used; i++) {
        const double x = (double)(int64_t)(samples[i].timer - timer_origin) - timer;
        both += x * (middle_of(&samples[i], host_origin) - host);
        square += x * x;
    }
    /* Over less than a tenth of a second, how answers scatter says more than the rate does. */
    if (square > 1e16 * (double)line.used / 12 && fabs(both / square - 1) < 1e-3)
        line.rate = both / square;
    double scatter = 0;
    for (size_t i = 0; i < line.used; i++) {
        const double x = (double)(int64_t)(samples[i].timer - timer_origin) - timer;
        const double off = middle_of(&samples[i], host_origin) - host - line.rate * x;
        scatter += off * off / (double)line.used;
    }
    line.host_mean = host_origin + (int64_t)llround(host);
    line.timer_mean = timer_origin + (uint64_t)(int64_t)llround(timer);
    line.error_ns = (double)quickest / 2 + sqrt(scatter);
    return line;
}

int64_t cuda_sync_host(const cuda_sync_line *line, int64_t timer) {
    const double ns = (double)(int64_t)((uint64_t)timer - line->timer_mean) * line->rate;
    return (int64_t)((uint64_t)line->host_mean + (uint64_t)llround(ns));
}

int64_t cuda_sync_timer(const cuda_sync_line *line, int64_t host_ns) {
    const double ns = (double)(host_ns - line->host_mean) / line->rate;
    return (int64_t)(line->timer_mean + (uint64_t)(int64_t)llround(ns));
}
