/*
 * GPUs behind the interface of devices. A GPU has no firmware, no L1 of cores and no five
 * processors, so it is no backend (device_backend.h): what device.h promises is made of other parts
 * here, in device/cuda. The public functions ask `mesh->gpu` and come here if it is there.
 */
#ifndef SB_DEVICE_DEVICE_GPU_H
#define SB_DEVICE_DEVICE_GPU_H

#include "device/device_mesh.h"

typedef struct gpu_program gpu_program;
typedef struct gpu_trace gpu_trace;

static inline bool device_is_gpu(const sb_device *device) {
    return device != NULL && device->mesh->gpu != NULL;
}

/* ---- devices and memory ---- */

/* Fills in the mesh's devices. */
sb_status device_gpu_open(sb_mesh *mesh, sb_error *error);
void device_gpu_close(sb_mesh *mesh);
uint64_t device_gpu_clock(const sb_device *device);
/* All that was launched has ended. */
sb_status device_gpu_wait(sb_device *device, sb_error *error);
sb_status device_gpu_allocate(sb_device *device, const sb_buffer_options *options,
                              uint64_t *address, sb_error *error);
void device_gpu_free(sb_device *device, uint64_t address);
/* One of out and in is NULL. */
sb_status device_gpu_move(sb_device *device, uint64_t address, size_t size, void *out,
                          const void *in, sb_error *error);

/* ---- programs ---- */

gpu_program *device_gpu_program_create(sb_device *device);
void device_gpu_program_destroy(gpu_program *program);
sb_status device_gpu_add_kernel(gpu_program *program, const sb_kernel_options *options,
                                uint32_t *number, sb_error *error);
sb_status device_gpu_set_parameters(gpu_program *program, uint32_t number,
                                    const sb_parameter *parameters, size_t count, sb_error *error);
sb_status device_gpu_build(gpu_program *program, sb_error *error);
uint32_t device_gpu_kernel_count(const gpu_program *program);
sb_kernel_size device_gpu_kernel_size(const gpu_program *program, uint32_t number);

/* ---- launches and traces ---- */

/* Builds what is not built, and launches; id is what it is called in recordings. */
sb_status device_gpu_launch(gpu_program *program, uint32_t id, sb_error *error);
sb_status device_gpu_trace_create(sb_device *device, gpu_trace **trace, sb_error *error);
void device_gpu_trace_destroy(gpu_trace *trace);
sb_status device_gpu_trace_add(gpu_trace *trace, gpu_program *program, uint32_t id,
                               sb_error *error);
sb_status device_gpu_trace_replay(gpu_trace *trace, uint32_t trace_id, sb_error *error);

/* ---- the profiler ---- */

bool device_gpu_is_profiled(const sb_device *device);
sb_status device_gpu_read_profiler(sb_device *device, sb_error *error);
sb_profiler_counts device_gpu_count(const sb_device *device, sb_core core, sb_processor processor);
double device_gpu_error_ns(const sb_device *device);

#endif
