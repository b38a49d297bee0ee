/*
 * What the profiler itself takes. When a mesh is opened its first core runs a small program that
 * makes zones with nothing in them; what it finds is kept with the logs (profiler_costs.csv), so
 * that durations and gaps can be read without it.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_COST_H
#define SB_DEVICE_PROFILER_PROFILER_COST_H

#include "device/profiler/profiler.h"

/* Runs before anything is recorded; leaves nothing behind in the buffers. */
sb_status profiler_measure_costs(profiler_device *self, sb_error *error);
/* Writes the costs of all devices beside the log. */
sb_status profiler_write_costs(const device_profiler *profiler, sb_error *error);

#endif
