#include "cuda/cuda_clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Windows are not shorter than this, ns. */
#define WINDOW_NS_LEAST 50000u
/* A rate is believed if the anchors it comes from lie this far apart: the root of the sum of their
   squared distances from the middle, ns. The timer's step of up to 32 ns is then 0.1 % of it. */
#define SPREAD_NS_LEAST 10000.0

/* No clock goes that far in a window; whoever says so has no clock. */
#define CYCLES_MOST 1e15
/* The global timer may count from 1970 on: this is in the year 2116. */
#define TIMER_MOST (INT64_MAX / 2)

bool cuda_fit_open(cuda_clock_fit *fit, uint32_t sm_count, double nominal_ns) {
    *fit = (cuda_clock_fit){.sm_count = sm_count, .nominal = nominal_ns};
    fit->sums = calloc((size_t)CUDA_WINDOWS * sm_count, sizeof *fit->sums);
    fit->lines = calloc((size_t)CUDA_WINDOWS * sm_count, sizeof *fit->lines);
    fit->used = calloc((size_t)CUDA_WINDOWS * sm_count, sizeof *fit->used);
    fit->used_count = calloc(sm_count, sizeof *fit->used_count);
    fit->ratios = calloc(sm_count, sizeof *fit->ratios);
    fit->last = calloc(sm_count, sizeof *fit->last);
    if (fit->sums != NULL && fit->lines != NULL && fit->used != NULL && fit->used_count != NULL &&
        fit->ratios != NULL && fit->last != NULL)
        return true;
    cuda_fit_close(fit);
    return false;
}

void cuda_fit_close(cuda_clock_fit *fit) {
    free(fit->sums);
    free(fit->lines);
    free(fit->used);
    free(fit->used_count);
    free(fit->ratios);
    free(fit->last);
    *fit = (cuda_clock_fit){0};
}

void cuda_fit_begin(cuda_clock_fit *fit, uint64_t first, uint64_t last) {
    const uint64_t span = last > first ? last - first : 0;
    fit->origin = first;
    if (fit->last_origin == 0)
        fit->last_origin = first;
    fit->width = span / CUDA_WINDOW_PLACES + 1;
    if (fit->width < WINDOW_NS_LEAST)
        fit->width = WINDOW_NS_LEAST;
    fit->window_count = 0;
    memset(fit->windows, 0, sizeof fit->windows);
    memset(fit->used_count, 0, fit->sm_count * sizeof *fit->used_count);
}

/* ---- windows ---- */

static cuda_window_sums *sums_at(const cuda_clock_fit *fit, uint32_t window) {
    return fit->sums + (size_t)window * fit->sm_count;
}

/* Of other anchors of the same SM; both are counted from their own first. */
static void add_sums(cuda_window_sums *sums, const cuda_window_sums *more) {
    if (more->count == 0)
        return;
    if (sums->count == 0) {
        *sums = *more;
        return;
    }
    const double clock = (double)(int64_t)(more->first_clock - sums->first_clock);
    const double timer = (double)(int64_t)(more->first_timer - sums->first_timer);
    sums->clock_clock += more->clock_clock + clock * (2 * more->clock + more->count * clock);
    sums->clock_timer +=
        more->clock_timer + clock * more->timer + timer * more->clock + more->count * clock * timer;
    sums->clock += more->clock + more->count * clock;
    sums->timer += more->timer + more->count * timer;
    sums->count += more->count;
    if (more->least_clock < sums->least_clock)
        sums->least_clock = more->least_clock;
}

/* Two windows become one, as often as it takes to have room for another. */
static void join_windows(cuda_clock_fit *fit) {
    while (fit->window_count == CUDA_WINDOWS) {
        for (size_t i = 0; i < CUDA_WINDOW_PLACES; i += 2) {
            const uint16_t first = fit->windows[i];
            const uint16_t second = fit->windows[i + 1];
            fit->windows[i] = fit->windows[i + 1] = 0;
            fit->windows[i / 2] = first != 0 ? first : second;
            if (first == 0 || second == 0)
                continue;
            for (uint32_t sm = 0; sm < fit->sm_count; sm++)
                add_sums(sums_at(fit, first - 1u) + sm, sums_at(fit, second - 1u) + sm);
            /* The last one moves to where the second was. */
            const uint16_t last = (uint16_t)fit->window_count--;
            memmove(sums_at(fit, second - 1u), sums_at(fit, last - 1u),
                    fit->sm_count * sizeof *fit->sums);
            for (size_t k = 0; k < CUDA_WINDOW_PLACES; k++)
                if (fit->windows[k] == last)
                    fit->windows[k] = second;
        }
        fit->width *= 2;
    }
}

/* The sums of an SM in the window of a time; NULL: it lies outside of all. */
static cuda_window_sums *sums_for(cuda_clock_fit *fit, uint32_t sm, uint64_t timer) {
    if (sm >= fit->sm_count || timer < fit->origin)
        return NULL;
    uint64_t place = (timer - fit->origin) / fit->width;
    if (place >= CUDA_WINDOW_PLACES)
        return NULL;
    if (fit->windows[place] == 0) {
        join_windows(fit);
        place = (timer - fit->origin) / fit->width;
    }
    if (fit->windows[place] == 0) {
        memset(sums_at(fit, fit->window_count), 0, fit->sm_count * sizeof *fit->sums);
        fit->windows[place] = (uint16_t)++fit->window_count;
    }
    return sums_at(fit, fit->windows[place] - 1u) + sm;
}

void cuda_fit_add(cuda_clock_fit *fit, uint32_t sm, uint64_t clock, uint64_t timer) {
    cuda_window_sums *sums = sums_for(fit, sm, timer);
    if (sums == NULL)
        return;
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

/* Nanoseconds of a cycle from sums over anchors, around their means; 0: they say too little. */
static double rate_from(double clock_clock, double clock_timer) {
    if (clock_clock <= 0 || clock_timer <= 0)
        return 0;
    const double rate = clock_timer / clock_clock;
    return sqrt(clock_clock) * rate >= SPREAD_NS_LEAST ? rate : 0;
}

static double clock_variance(const cuda_window_sums *sums) {
    return sums->count < 2 ? 0 : sums->clock_clock - sums->clock * sums->clock / sums->count;
}

static double timer_variance(const cuda_window_sums *sums) {
    return sums->count < 2 ? 0 : sums->clock_timer - sums->clock * sums->timer / sums->count;
}

/* The rate that all SMs of a window agree on; 0: too little is known. */
static double rate_of_all(const cuda_clock_fit *fit, uint32_t window) {
    double clock_clock = 0;
    double clock_timer = 0;
    for (uint32_t sm = 0; sm < fit->sm_count; sm++) {
        const cuda_window_sums *sums = sums_at(fit, window) + sm;
        clock_clock += clock_variance(sums);
        clock_timer += timer_variance(sums);
    }
    return rate_from(clock_clock, clock_timer);
}

static void fit_line(cuda_clock_fit *fit, uint32_t window, uint32_t sm, double rate_of_window) {
    const cuda_window_sums *sums = sums_at(fit, window) + sm;
    if (sums->count == 0)
        return;
    const double own = rate_from(clock_variance(sums), timer_variance(sums));
    if (own > 0)
        fit->ratios[sm] = own / rate_of_window;
    const double ratio = fit->ratios[sm] > 0 ? fit->ratios[sm] : 1;
    const double rate = own > 0 ? own : rate_of_window * ratio;
    const double cycles = sums->clock / sums->count;
    const double whole = floor(cycles);
    cuda_window_line *line = &fit->lines[(size_t)window * fit->sm_count + sm];
    *line = (cuda_window_line){
        .is_known = true,
        .clock = sums->first_clock + (uint64_t)(int64_t)whole,
        .timer = (double)(sums->first_timer - fit->origin) + sums->timer / sums->count -
                 (cycles - whole) * rate,
        .rate = rate,
    };
    fit->last[sm] = *line;
    fit->last[sm].timer += (double)(int64_t)(fit->origin - fit->last_origin);
    fit->used[(size_t)sm * CUDA_WINDOWS + fit->used_count[sm]++] = (uint16_t)window;
}

void cuda_fit_finish(cuda_clock_fit *fit) {
    for (size_t place = 0; place < CUDA_WINDOW_PLACES; place++) {
        if (fit->windows[place] == 0)
            continue;
        const uint32_t window = fit->windows[place] - 1u;
        const double rate = rate_of_all(fit, window);
        if (rate > 0)
            fit->rate = rate;
        for (uint32_t sm = 0; sm < fit->sm_count; sm++)
            fit_line(fit, window, sm, fit->rate > 0 ? fit->rate : fit->nominal);
    }
}

/*
 * Behind all that a window has seen, its own rate would lead astray: anchors step, and over a short
 * time that is a part of it. There the line goes to where the next window has seen the SM.
 */
static const cuda_window_line *bridge(const cuda_clock_fit *fit, const cuda_window_line *line,
                                      const cuda_window_line *next, uint64_t clock,
                                      cuda_window_line *room) {
    const double cycles = (double)(int64_t)(next->clock - line->clock);
    const double ns = next->timer - line->timer;
    if ((double)(int64_t)(clock - line->clock) * line->rate <= (double)fit->width || cycles <= 0 ||
        ns <= 0)
        return line;
    *room = *line;
    room->rate = ns / cycles;
    return room;
}

/* That of the last window that has seen this SM before the clock, or of the first that has seen it
   at all; NULL: none has. */
static const cuda_window_line *line_for(const cuda_clock_fit *fit, uint32_t sm, uint64_t clock,
                                        cuda_window_line *room) {
    const uint16_t *used = fit->used + (size_t)sm * CUDA_WINDOWS;
    size_t low = 0;
    size_t high = fit->used_count[sm];
    if (high == 0)
        return NULL;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (sums_at(fit, used[middle])[sm].least_clock <= clock)
            low = middle;
        else
            high = middle;
    }
    const cuda_window_line *line = &fit->lines[used[low] * (size_t)fit->sm_count + sm];
    if (low + 1 == fit->used_count[sm])
        return line;
    return bridge(fit, line, &fit->lines[used[low + 1] * (size_t)fit->sm_count + sm], clock, room);
}

bool cuda_fit_convert(const cuda_clock_fit *fit, uint32_t sm, uint64_t clock, int64_t *timer) {
    if (sm >= fit->sm_count)
        return false;
    cuda_window_line room;
    const cuda_window_line *line = line_for(fit, sm, clock, &room);
    const bool is_now = line != NULL;
    if (!is_now)
        line = &fit->last[sm];
    if (!line->is_known)
        return false;
    const double ns = line->timer + (double)(int64_t)(clock - line->clock) * line->rate;
    /* Hostile clocks lie further away than any number can say, or so far that sums do not fit. */
    if (!(fabs(ns) < 9e18))
        return false;
    *timer = (int64_t)((is_now ? fit->origin : fit->last_origin) + (uint64_t)(int64_t)llround(ns));
    return *timer > -TIMER_MOST && *timer < TIMER_MOST;
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
