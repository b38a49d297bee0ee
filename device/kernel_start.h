/*
 * What kernel_start.c needs of kernel_profiler.c. Without profiling there is nothing to do.
 */
#ifndef STROBE_KERNEL_START_H
#define STROBE_KERNEL_START_H

#ifdef PROFILE_KERNEL
void sb_profiler_start(void);
void sb_profiler_finish(void);
#else
static inline void sb_profiler_start(void) {}

static inline void sb_profiler_finish(void) {}
#endif

#endif
