/*
 * profile_log_device.csv: one row per marker, in the format that tools for Tensix hardware read.
 *
 * The first line says what the chip is, the second names the columns. Clocks of all rows are of the
 * chip's frequency. Other machines than Tensix (GPUs) write the same rows with places and
 * processors of their own.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_LOG_H
#define SB_DEVICE_PROFILER_PROFILER_LOG_H

#include <strobe/device.h>

#include "base/base.h"
#include "device/profiler/profiler_decode.h"
#include "device/profiler/profiler_names.h"

typedef struct profiler_log profiler_log;

typedef struct profiler_log_chip {
    const char *architecture;
    uint32_t clock_mhz;
    uint32_t cores;
} profiler_log_chip;

/* A replay, by its number on the device. */
typedef struct profiler_replay {
    uint32_t trace_id;
    uint32_t session; /* the how-manieth of this trace */
} profiler_replay;

/* Whose rows follow. */
typedef struct profiler_log_place {
    uint32_t device;
    sb_core core; /* as it is written */
    const char *processor;
    uint32_t program;
    const profiler_replay *replay; /* NULL: of none */
} profiler_log_place;

/* In the folder's .logs. A process that opens several meshes adds to the log it has begun. */
sb_status profiler_log_open(const char *folder, const profiler_log_chip *chip,
                            const profiler_names *names, profiler_log **log, sb_error *error);
void profiler_log_put(profiler_log *log, const profiler_log_place *place,
                      const profiler_marker *markers, size_t count);
/* Everything so far is in the file. */
sb_status profiler_log_flush(profiler_log *log, sb_error *error);
sb_status profiler_log_close(profiler_log *log, sb_error *error);

#endif
