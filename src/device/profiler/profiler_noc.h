/*
 * Transfers that kernels ask the NoC for, one JSON file for each program: what goes from where to
 * where, when, between the zones it belongs to. The format is that of tools for this hardware.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_NOC_H
#define SB_DEVICE_PROFILER_PROFILER_NOC_H

#include "device/profiler/profiler.h"

profiler_noc *profiler_noc_open(const profiler_device *device);
/* Keeps transfers and zones of a block until they are written. */
void profiler_noc_put(profiler_noc *self, uint32_t core, const profiler_block *block);
/* Writes a file for each program that was put since, and forgets them. */
sb_status profiler_noc_write(profiler_noc *self, sb_error *error);
void profiler_noc_close(profiler_noc *self);

/* The members of a JSON object that a transfer's value gives. */
void profiler_noc_put_transfer(sb_output *out, uint64_t data);

#endif
