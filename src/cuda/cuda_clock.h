/*
 * Clocks of a GPU. Each SM counts cycles of its own; all share a global timer in nanoseconds, which
 * steps too coarsely for short zones; the host has its clock.
 *
 *   SM -> timer     Every owner of a chunk and every end of a zone carries both. From what one
 *                   reading of the pool brings, lines are fitted for each SM, in windows of 50 us
 *                   (longer ones if there are too many): rates change with the load, and groups of
 *                   SMs have clocks of their own, which differ by percents while they do. An SM
 *                   that says too little in a window has the rate of all, times what it was off by
 *                   before.
 *   timer -> host   A kernel and the host answer each other over mapped memory (cuda_sync.h); a
 *                   line goes through the middles of the quickest round trips.
 */
#ifndef SB_CUDA_CUDA_CLOCK_H
#define SB_CUDA_CUDA_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Windows that have seen something, and places for them in a look. */
enum { CUDA_WINDOWS = 256, CUDA_WINDOW_PLACES = 16384 };

/* Sums over the anchors of an SM in a window, from its first anchor. */
typedef struct cuda_window_sums {
    uint64_t first_clock;
    uint64_t first_timer;
    uint64_t least_clock;
    double count;
    double clock, timer; /* sums of differences from the first */
    double clock_clock, clock_timer;
} cuda_window_sums;

typedef struct cuda_window_line {
    bool is_known;
    uint64_t clock; /* the point that the line goes through */
    double timer;   /* what it is behind the fit's origin */
    double rate;    /* nanoseconds of a cycle */
} cuda_window_line;

typedef struct cuda_clock_fit {
    uint32_t sm_count;
    double nominal; /* nanoseconds of a cycle, where nothing is known */
    double rate;    /* of all SMs, in the last window that told one; 0: none did */
    uint64_t origin;
    uint64_t width;                       /* of a window, ns */
    uint16_t windows[CUDA_WINDOW_PLACES]; /* by time: number + 1 of the window; 0: none */
    uint32_t window_count;
    cuda_window_sums *sums; /* CUDA_WINDOWS x sm_count */
    cuda_window_line *lines;
    uint16_t *used;         /* per SM: the windows that have seen it by time, CUDA_WINDOWS each */
    uint16_t *used_count;   /* per SM */
    double *ratios;         /* per SM: its rate over that of all, when it last told one */
    cuda_window_line *last; /* per SM: of the fits before */
    uint64_t last_origin;
} cuda_clock_fit;

/* False: there is no memory. */
bool cuda_fit_open(cuda_clock_fit *fit, uint32_t sm_count, double nominal_ns);
void cuda_fit_close(cuda_clock_fit *fit);
/* Begins a fit for anchors between two times of the global timer. */
void cuda_fit_begin(cuda_clock_fit *fit, uint64_t first, uint64_t last);
void cuda_fit_add(cuda_clock_fit *fit, uint32_t sm, uint64_t clock, uint64_t timer);
void cuda_fit_finish(cuda_clock_fit *fit);
/* An SM's clock on the global timer. False: nothing is known of that SM. */
bool cuda_fit_convert(const cuda_clock_fit *fit, uint32_t sm, uint64_t clock, int64_t *timer);

/* One round trip: when it began and ended on the host, and the timer that the GPU read. */
typedef struct cuda_sync_sample {
    int64_t sent_ns;
    int64_t answered_ns;
    uint64_t timer;
} cuda_sync_sample;

/* host = host_mean + rate * (timer - timer_mean) */
typedef struct cuda_sync_line {
    int64_t host_mean;
    uint64_t timer_mean;
    double rate;
    double
        error_ns; /* plus or minus: half of the quickest round trip, and how far samples scatter */
    size_t used;
} cuda_sync_line;

/* Samples that took much longer than the quickest are left out. Sorts them. */
cuda_sync_line cuda_sync_fit(cuda_sync_sample *samples, size_t count);
int64_t cuda_sync_host(const cuda_sync_line *line, int64_t timer);
int64_t cuda_sync_timer(const cuda_sync_line *line, int64_t host_ns);

#endif
