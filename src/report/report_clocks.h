/*
 * How well the clocks of host and devices agree (sync_device_info.csv).
 *
 * The runtime compares its clock with that of a device several times and fits a line through the
 * pairs: cycles = delay + frequency * host time. Each row has a pair and the line that it went
 * into, so the distance between them, the residual, tells how far times of host and device can be
 * compared.
 */
#ifndef SB_REPORT_CLOCKS_H
#define SB_REPORT_CLOCKS_H

#include "base/base.h"

typedef struct report_clock {
    int64_t device;
    uint64_t samples;
    double mhz; /* as fitted last */
    double residual_squares;
    double residual_max_ns;
    double write_ns; /* what taking the samples cost the host */
} report_clock;

typedef struct report_clocks {
    sb_vector clocks; /* report_clock, in order of appearance */
    uint64_t bad_rows;
} report_clocks;

/* Reads all of it; rows that are no pairs (devices compared with each other) are passed over. */
void report_read_clocks(report_clocks *clocks, sb_slice text);
void report_clocks_free(report_clocks *clocks);
/* Root of the mean square of a clock's residuals. */
double report_clock_residual_ns(const report_clock *clock);

#endif
