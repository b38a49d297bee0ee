/*
 * What the files of the module share: a mesh and its devices.
 *
 *   device_options.c   names and environment
 *   device_mesh.c      opening, firmware, raw memory, time
 *   device_fault.c     messages about a device that stopped
 *   device_memory.c    allocation on the device
 *   device_buffer.c    buffers
 *   device_program.c   kernels, circular buffers, semaphores, arguments
 *   device_launch.c    enqueue, finish, traces
 *   device_print.c     prints of kernels
 *   device_build.c     compiling and keeping results, device_elf.c reading them
 *   profiler/          markers of kernels (device_profiler.h)
 *   cuda/              the same for GPUs, which have none of the above (device_gpu.h)
 */
#ifndef SB_DEVICE_DEVICE_MESH_H
#define SB_DEVICE_DEVICE_MESH_H

#include <strobe/device.h>
#include <strobe/kernel_layout.h>

#include "base/base.h"
#include "device/device_backend.h"
#include "device/device_elf.h"
#include "device/device_options.h"

/* Clocks that pass between two looks at whether a program has ended, at least and at most. */
#define DEVICE_POLL_CLOCKS 256u
#define DEVICE_POLL_CLOCKS_MAX 65536u

/* What the emulated chip is called, and its clock. */
#define DEVICE_ARCHITECTURE "wormhole_b0"
#define DEVICE_CLOCK_MHZ 1000

typedef struct device_profiler device_profiler;
typedef struct device_gpu device_gpu;

/* A file that is loaded on the device: firmware or kernel. */
typedef struct device_image {
    char *path;
    sb_file file;
    char *copy; /* of the file, where ids of zones are written into it; else NULL */
    device_elf elf;
} device_image;

/* Part of a memory; see device_memory.c. */
typedef struct device_extent {
    uint32_t address;
    uint32_t size;
} device_extent;

/* Free parts of a memory that looks the same in every bank or core, by address. */
typedef struct device_memory {
    const char *name;
    sb_vector free; /* device_extent */
} device_memory;

struct sb_device {
    sb_mesh *mesh;
    sb_device_info info;
    device_memory dram;
    device_memory l1;
    sb_program *programs; /* all that are there, each knows the next */
    /* The files whose kernels lie in each core's L1; NULL where nobody knows. */
    const char *loaded[DEVICE_MAX_CORES][SB_PROCESSORS];
    uint32_t next_program_id;
    uint32_t next_trace_id;
    const sb_program *running; /* NULL when the device is idle */
    uint64_t started;          /* at which clock it began */
    sb_device_trace *recording;
    sb_vector print_lines; /* sb_output: per core and processor, the line begun */
};

struct sb_mesh {
    device_options options;
    const device_backend *backend;
    void *machine;
    uint32_t device_count;
    sb_device *devices;
    device_image firmware[SB_PROCESSORS];
    device_profiler *profiler; /* NULL: nothing is profiled */
    device_gpu *gpu;           /* NULL: the devices are no GPUs. See device_gpu.h */
    bool records_memory;       /* allocations are recorded */
    bool tracks_traces;        /* messages about traces are recorded */
    sb_status failed;          /* a device that stopped stays stopped */
    char failure[SB_ERROR_TEXT_SIZE];
};

/* ---- device_mesh.c ---- */

/* Opens a file and, where programs are profiled, gives its zones their ids. */
sb_status device_image_open(device_image *image, device_profiler *profiler, const char *path,
                            sb_error *error);
void device_image_close(device_image *image);
/* Loads all segments of an image into a core's L1. */
sb_status device_image_load(sb_device *device, sb_core core, const device_image *image,
                            sb_error *error);
uint32_t device_core_index(const sb_device *device, sb_core core);
/* Refuses NULL, which sb_mesh_device gives where there is no such device. */
sb_status device_check(const sb_device *device, sb_error *error);
sb_status device_check_core(const sb_device *device, sb_core core, sb_error *error);
sb_status device_check_range(const sb_device *device, sb_core_range range, sb_error *error);
/* On a GPU fails with the sentence, which says what it does not have. */
sb_status device_refuse_gpu(const sb_device *device, const char *sentence, sb_error *error);
/* Lets time pass; a fault becomes an error. */
sb_status device_run(sb_mesh *mesh, uint64_t clocks, sb_error *error);

/* ---- device_fault.c ---- */

sb_status device_report_fault(sb_mesh *mesh, const device_fault *fault, sb_error *error);
sb_status device_report_deadlock(sb_device *device, sb_error *error);
sb_status device_report_limit(sb_device *device, sb_error *error);

/* ---- device_memory.c ---- */

device_memory device_memory_of(const char *name, uint32_t begin, uint32_t end);
void device_memory_free(device_memory *memory);
/* From the end of memory if from_above, else from its beginning; never below floor. */
sb_status device_memory_take(device_memory *memory, uint64_t size, bool from_above, uint32_t floor,
                             uint32_t *address, sb_error *error);
void device_memory_give_back(device_memory *memory, uint32_t address, uint32_t size);
/* How far memory is free from begin on; begin itself if it is taken. */
uint32_t device_memory_free_until(const device_memory *memory, uint32_t begin);

/* ---- device_program.c ---- */

/* How far the circular buffers of any program reach in L1. */
uint32_t device_circular_end(const sb_device *device);

/* ---- device_launch.c ---- */

/* Waits for the program that runs, if one does. */
sb_status device_wait(sb_device *device, sb_error *error);
void device_forget_program(sb_device *device, const sb_program *program);

/* ---- device_print.c ---- */

sb_status device_print_start(sb_device *device, sb_error *error);
/* Shows what kernels have printed since; *has_printed becomes true if there was something. */
sb_status device_print_drain(sb_device *device, bool *has_printed, sb_error *error);
void device_print_stop(sb_device *device);

/* What a processor is called. */
const char *device_processor_name(uint32_t processor);

#endif
