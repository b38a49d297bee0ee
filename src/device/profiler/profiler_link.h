/*
 * Clocks of chips compared over the links between them, as well as through the host.
 *
 * When a mesh of several chips is opened, the first core of each sends messages to that of the next
 * one, which notes its time and answers. The other's time lies between sending and answer, so half
 * of the way there and back bounds the error, whatever happens on the way. A line through all
 * messages gives the rate; the lines of neighbours, one after the other, lead to the first device.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_LINK_H
#define SB_DEVICE_PROFILER_PROFILER_LINK_H

#include "device/profiler/profiler.h"

/* Measures all devices behind the first; their clocks have been opened. */
sb_status profiler_measure_links(device_profiler *profiler, sb_error *error);

#endif
