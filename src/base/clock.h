/*
 * Clocks: time that only goes forward, and time as on the wall. Nanoseconds.
 */
#ifndef SB_BASE_CLOCK_H
#define SB_BASE_CLOCK_H

#include <stdint.h>

/* Since some moment in the past; not set by anybody, so that differences are durations. */
int64_t sb_clock_ns(void);
/* Since 1970. */
int64_t sb_wall_ns(void);

#endif
