/*
 * Zones of kernels in the recording of the program (libstrobe): one context for each core, named as
 * tools for this hardware expect it, with a lane for each processor. Times are the host's, in
 * nanoseconds. Nothing happens unless the program is recorded.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_TRACKS_H
#define SB_DEVICE_PROFILER_PROFILER_TRACKS_H

#include "device/profiler/profiler.h"

/* Starts the client, unless the program has. */
void profiler_tracks_prepare(void);
profiler_tracks *profiler_tracks_open(const profiler_device *device);
/* Zones wait until the core is flushed, so that they can be told in the order of time. */
void profiler_tracks_put(profiler_tracks *self, uint32_t core, const profiler_block *block);
void profiler_tracks_flush(profiler_tracks *self, uint32_t core);
void profiler_tracks_close(profiler_tracks *self);

/* A message in the recording. */
void profiler_tracks_say(bool is_warning, sb_slice text);

#endif
