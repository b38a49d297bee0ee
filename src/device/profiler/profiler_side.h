/*
 * Files beside the log, in the formats that tools for this hardware know: what zones are called
 * (zone_src_locations.log), and how clocks were compared (sync_device_info.csv).
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_SIDE_H
#define SB_DEVICE_PROFILER_PROFILER_SIDE_H

#include "device/profiler/profiler.h"

sb_status profiler_write_locations(const device_profiler *profiler, sb_error *error);
/* Nothing, unless clocks are compared. */
sb_status profiler_write_sync(const device_profiler *profiler, sb_error *error);

#endif
