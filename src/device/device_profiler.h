/*
 * The profiler as the rest of the module sees it. It is made in device/profiler.
 *
 *   mesh->profiler is NULL unless the environment asks for it; functions that take it do nothing
 *   then. When a mesh is opened the profiler says what is built into kernels, names the zones of
 *   each image before it is loaded, and tells each core where its data goes. While programs run it
 *   reads what was recorded before it gets too much; at the end it writes out the rest.
 */
#ifndef SB_DEVICE_DEVICE_PROFILER_H
#define SB_DEVICE_DEVICE_PROFILER_H

#include <strobe/device.h>
#include <strobe/kernel_layout.h>

#include "device/device_build.h"
#include "device/device_mesh.h"

/* Reads the environment and makes the profiler if it is wanted. Before the firmware is built. */
sb_status device_profiler_create(sb_mesh *mesh, sb_error *error);
/* What is built into kernels and firmware. */
device_instrument device_profiler_instrument(const device_profiler *profiler);
/* Bytes at the beginning of each DRAM bank that belong to the profiler. */
uint32_t device_profiler_dram_end(const device_profiler *profiler, const device_options *options);
/* Gives the zones of an image their ids and writes these into its code. */
sb_status device_profiler_name_zones(device_profiler *profiler, device_image *image,
                                     sb_error *error);
/* The device's place in the mesh is known. */
void device_profiler_prepare(sb_device *device);
/* What a core's mailbox says about the profiler; at boot. Clears the control vector. */
sb_status device_profiler_boot_core(sb_device *device, sb_core core, sb_profiler_mail *mail,
                                    sb_error *error);
/* After all cores have started. */
sb_status device_profiler_start(device_profiler *profiler, sb_error *error);
/* Before a program is launched on an idle device: makes room where it may be needed. */
sb_status device_profiler_before_launch(sb_device *device, sb_error *error);
/* The program has been started. */
void device_profiler_launched(sb_device *device);
/* While it runs: serves processors that wait for room. *has_served becomes true if one did. */
sb_status device_profiler_serve(sb_device *device, bool *has_served, sb_error *error);
/* The program has ended. */
sb_status device_profiler_finished(sb_device *device, sb_error *error);
/* The replay of a trace begins; what programs of it are attributed to. Returns its number. */
uint32_t device_profiler_replay(sb_device *device, uint32_t trace_id);
/* Something happened to a trace: BEGIN, END, REPLAY, RELEASE. */
void device_profiler_trace(sb_device *device, const char *what, uint32_t trace_id);
/* A program was recorded into a trace. */
void device_profiler_trace_program(sb_device *device, uint32_t trace_id, uint32_t program_id);
/* A buffer was made or destroyed. */
void device_profiler_allocated(sb_device *device, sb_memory memory, uint64_t address, size_t size);
void device_profiler_freed(sb_device *device, sb_memory memory, uint64_t address);
/* Reads and writes out all that is left, says what was lost, and frees. */
void device_profiler_close(device_profiler *profiler);

#endif
