/*
 * What the files of this part share.
 *
 *   gpu_mesh.c      GPUs, their grids and memory, waiting
 *   gpu_program.c   kernels: building, parameters
 *   gpu_launch.c    launches, and traces as graphs
 *   gpu_profiler.c  zones of warps, into profile_log_device.csv
 *
 * All work of a GPU is in its default stream, one launch behind the other. libstrobe_cuda has the
 * driver; nothing here knows its calls.
 */
#ifndef SB_DEVICE_CUDA_GPU_H
#define SB_DEVICE_CUDA_GPU_H

#include <strobe/cuda_gpu.h>

#include "device/device_gpu.h"

enum { GPU_PARAMETERS_MAX = 64 };

typedef struct gpu_profiler gpu_profiler;

typedef struct gpu_device {
    sb_cuda_gpu about;
    char architecture[64];
    int64_t opened_ns;
} gpu_device;

struct device_gpu {
    sb_mesh *mesh;
    gpu_device *devices;
    sb_intern module_keys;  /* all that a module is made of: index into modules */
    sb_vector modules;      /* sb_cuda_module *; NULL: it could not be built */
    gpu_profiler *profiler; /* NULL: nothing is profiled */
};

typedef struct gpu_kernel {
    const char *name;
    const char *function;
    const char *path;   /* or NULL */
    const char *source; /* or NULL */
    const char *include;
    sb_define *defines;
    size_t define_count;
    sb_cuda_shape shape;
    sb_cuda_kernel *built; /* NULL: not yet */
    size_t parameter_count;
    size_t sizes[GPU_PARAMETERS_MAX];
    /* Beyond those that were set they point to zeros: the driver reads as many as there are. */
    void *values[GPU_PARAMETERS_MAX];
    void *storage;
} gpu_kernel;

struct gpu_program {
    sb_device *device;
    sb_arena arena;
    sb_vector kernels; /* gpu_kernel */
};

/* ---- gpu_mesh.c ---- */

/* The device's GPU is the one that calls of this thread are about. */
sb_status gpu_use(const sb_device *device, sb_error *error);
/* The place of an SM in the grid. */
sb_core gpu_core_of(const sb_device_info *info, uint32_t sm);

/* ---- gpu_program.c ---- */

/* Before a launch: everything is built, and parameters are as large as the kernels want them. */
sb_status gpu_program_prepare(gpu_program *program, sb_error *error);

/* ---- gpu_profiler.c ---- */

/* Which program a launch is of, and which replay of which trace. */
typedef struct gpu_launch_name {
    uint32_t id;
    uint32_t trace_id; /* 0: of none */
    uint32_t session;
} gpu_launch_name;

/* Reads the environment; *profiler becomes NULL if nothing is to be recorded. */
sb_status gpu_profiler_open(sb_mesh *mesh, gpu_profiler **profiler, sb_error *error);
void gpu_profiler_close(gpu_profiler *self);
/* What a launch is called on the GPU. */
uint32_t gpu_profiler_add(gpu_profiler *self, const sb_device *device, const gpu_launch_name *name);
/* So many launches follow: writes out those before if they get too many. */
sb_status gpu_profiler_make_room(gpu_profiler *self, size_t launches, sb_error *error);
/* Waits, and writes all down. An error: launches that were not waited for are written later. */
sb_status gpu_profiler_read(gpu_profiler *self, sb_error *error);
/* Where programs are to be written down as soon as they have ended. */
bool gpu_profiler_reads_along(const gpu_profiler *self);
uint64_t gpu_profiler_markers(gpu_profiler *self, const sb_device *device, uint32_t sm);

#endif
