/*
 * Three clocks. Each core counts its own; the machine's runs for all of its chips; the host has
 * one. Markers carry the core's.
 *
 *   core -> machine   The host reads a core's clock and the machine's together, a number of times
 *                     when the mesh is opened and again while programs run. A line through the
 *                     samples gives rate and offset of each device; cores differ from the first one
 *                     by an amount that is read from all of them at once.
 *   machine -> host   An emulated machine's time passes only while the host waits for it, so there
 *                     is no line. Each launch is noted on both clocks, and what a program did is
 *                     placed behind its launch, one nanosecond for one.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_CLOCK_H
#define SB_DEVICE_PROFILER_PROFILER_CLOCK_H

#include "base/base.h"
#include "device/device_mesh.h"

/* One look at two clocks. */
typedef struct clock_sample {
    double machine; /* the middle of the look */
    double device;
    double round_trip;
} clock_sample;

/* device = device_mean + rate * (machine - machine_mean) */
typedef struct clock_line {
    double machine_mean;
    double device_mean;
    double rate;     /* clocks of the device in one of the machine */
    double residual; /* root of the mean square distance, clocks */
    size_t used;     /* samples; the others were too far off */
} clock_line;

/* At least one sample. Samples far from the line, or that took much longer, are left out. */
clock_line profiler_fit_line(const clock_sample *samples, size_t count);

/* When a program was started. */
typedef struct clock_launch {
    uint64_t machine;
    int64_t host_ns;
} clock_launch;

typedef struct profiler_clock {
    bool syncs;
    uint64_t device_begin; /* the device's clock at the opening; samples count from there */
    sb_vector samples;     /* clock_sample: those of the opening */
    clock_line line;
    sb_vector anchors; /* clock_sample: taken since the oldest marker not read yet, by time */
    int64_t skews[DEVICE_MAX_CORES];
    double error_ns;    /* times of markers are that certain; 0: clocks are not compared */
    sb_vector launches; /* clock_launch: since the oldest program that is not read yet */
} profiler_clock;

sb_status profiler_clock_open(profiler_clock *self, sb_device *device, bool syncs, sb_error *error);
void profiler_clock_free(profiler_clock *self);
/* The clock of a core. */
sb_status profiler_clock_read(sb_device *device, sb_core core, uint64_t *clock, sb_error *error);
/* Another look, if the last one is a while ago. */
sb_status profiler_clock_follow(profiler_clock *self, sb_device *device, sb_error *error);
void profiler_clock_launched(profiler_clock *self, const sb_device *device);
/* All but the newest programs are written: what belongs to the others may be forgotten. */
void profiler_clock_forget(profiler_clock *self, size_t programs);
/* A core's time on the machine's clock. */
double profiler_clock_machine(const profiler_clock *self, uint32_t core, uint64_t time);
/* And on the host's, in nanoseconds. */
int64_t profiler_clock_host(const profiler_clock *self, uint32_t core, uint64_t time);

#endif
