/*
 * Replays as a whole (TT_METAL_TRACE_PROFILER): instead of each program's markers, when firmware
 * and kernels of a replay began first and ended last on each core.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_WHOLE_H
#define SB_DEVICE_PROFILER_PROFILER_WHOLE_H

#include "device/profiler/profiler.h"

sb_status profiler_whole_open(profiler_device *device, profiler_whole **whole, sb_error *error);
/* Programs outside of replays are passed over. */
void profiler_whole_put(profiler_whole *self, uint32_t core, const profiler_block *block);
/* Delivers replays of a core that are over; the newest one only at the end. */
void profiler_whole_deliver(profiler_whole *self, uint32_t core, bool is_end);
void profiler_whole_close(profiler_whole *self);

#endif
