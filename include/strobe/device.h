/*
 * device.h: running programs on a device.
 *
 * A mesh is one or more devices opened together by name. A device is a grid of cores, each with
 * five processors and L1, and DRAM beside them. A program is a set of kernels with the cores they
 * run on, circular buffers and semaphores; it is enqueued, runs, and is waited for.
 *
 *     sb_mesh *mesh;
 *     sb_error error;
 *     if (sb_mesh_open(NULL, &mesh, &error) != SB_OK)    // $STROBE_DEVICE, or "emu"
 *         return complain(error.message);
 *     sb_device *device = sb_mesh_device(mesh, 0);
 *
 *     sb_program *program = sb_program_create(device);
 *     uint32_t kernel;
 *     sb_program_add_kernel(program, &(sb_kernel_options){.path = "hello.c",
 *         .processor = SB_BRISC, .cores = {{0, 0}, {7, 7}}}, &kernel, &error);
 *     sb_program_enqueue(program, &error);
 *     sb_device_finish(device, &error);
 *     sb_program_destroy(program);
 *     sb_mesh_close(mesh);
 *
 * Names: `emu` is the built-in emulator, `emu:rows=8,cols=8,chips=2,time=count` one with options
 * (docs/device.md lists them), `ttsim:PATH` the vendor's simulator, `cuda` the first NVIDIA GPU,
 * `cuda:gpus=4` the first four.
 *
 * On a GPU a core is an SM. Kernels are CUDA source, have a shape and parameters of any type, and
 * are placed by the GPU itself:
 *
 *     sb_program_add_kernel(program, &(sb_kernel_options){.path = "scale.cu", .function = "scale",
 *         .grid = {128}, .block = {256}}, &kernel, &error);
 *     const uint64_t values = sb_buffer_address(buffer);
 *     sb_program_set_parameters(program, kernel, (sb_parameter[]){SB_PARAMETER(values),
 *         SB_PARAMETER(count)}, 2, &error);
 *
 * What a GPU does not have (five processors, L1 of a core, circular buffers, semaphores, banks of
 * DRAM) is refused with a sentence; docs/device.md has the list.
 *
 * Whoever creates, destroys: buffers, programs and traces before the mesh. Functions that can fail
 * return a status and fill *error (which may be NULL) with one sentence. A mesh and all that
 * belongs to it is used by one thread at a time. Without memory the process ends with one sentence.
 */
#ifndef STROBE_DEVICE_H
#define STROBE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <strobe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the library exports. */
#pragma GCC visibility push(default)

typedef struct sb_mesh sb_mesh;
typedef struct sb_device sb_device;
typedef struct sb_buffer sb_buffer;
typedef struct sb_program sb_program;
typedef struct sb_device_trace sb_device_trace;

/* ---- devices ---- */

/* Opens the named mesh and starts the firmware. NULL: $STROBE_DEVICE, or "emu" without it. */
sb_status sb_mesh_open(const char *name, sb_mesh **mesh, sb_error *error);
void sb_mesh_close(sb_mesh *mesh);
uint32_t sb_mesh_device_count(const sb_mesh *mesh);
/* NULL: the mesh has fewer. Whatever is asked of such a device says so. */
sb_device *sb_mesh_device(sb_mesh *mesh, uint32_t index);

typedef struct sb_device_info {
    const char *backend;    /* "emu", "ttsim", "cuda" */
    const char *time_model; /* "modelled", "count" or "measured": what clocks mean */
    uint32_t index;         /* within the mesh */
    uint32_t columns;
    uint32_t rows;
    uint32_t dram_banks;
    uint32_t clock_mhz;       /* what a clock stands for */
    uint32_t cores;           /* columns x rows, or fewer: the last row of a GPU may be short */
    const char *architecture; /* as logs call it: "wormhole_b0", "h200" */
    const char *name;         /* "NVIDIA H200"; else as architecture */
} sb_device_info;

const sb_device_info *sb_device_describe(const sb_device *device);
/* Clocks that have passed. Time passes only while something is waited for, except on a GPU. */
uint64_t sb_device_clock(const sb_device *device);
/* Instructions that all processors have executed; 0 where nobody counts them. */
uint64_t sb_device_instructions(const sb_device *device);

/* A place in the grid of cores. */
typedef struct sb_core {
    uint32_t x;
    uint32_t y;
} sb_core;

/* All cores from first to last, both included. */
typedef struct sb_core_range {
    sb_core first;
    sb_core last;
} sb_core_range;

typedef enum sb_processor {
    SB_BRISC = 0,
    SB_NCRISC = 1,
    SB_TRISC0 = 2,
    SB_TRISC1 = 3,
    SB_TRISC2 = 4
} sb_processor;

/* Raw memory of a core's L1 or of a DRAM bank. */
sb_status sb_device_read_l1(sb_device *device, sb_core core, uint32_t address, void *data,
                            size_t size, sb_error *error);
sb_status sb_device_write_l1(sb_device *device, sb_core core, uint32_t address, const void *data,
                             size_t size, sb_error *error);
sb_status sb_device_read_dram(sb_device *device, uint32_t bank, uint32_t address, void *data,
                              size_t size, sb_error *error);
sb_status sb_device_write_dram(sb_device *device, uint32_t bank, uint32_t address, const void *data,
                               size_t size, sb_error *error);

/* ---- buffers ---- */

typedef enum sb_memory { SB_DRAM, SB_L1 } sb_memory;

typedef enum sb_layout {
    SB_INTERLEAVED, /* pages go round all DRAM banks, or the L1 of all cores */
    SB_SHARDED      /* consecutive pages on each core of a range, in L1 */
} sb_layout;

typedef struct sb_buffer_options {
    sb_memory memory;
    sb_layout layout;
    size_t size;         /* bytes; the last page may be part of one */
    uint32_t page_size;  /* a multiple of 32; on a GPU it means nothing */
    sb_core_range cores; /* of a sharded buffer, row by row */
} sb_buffer_options;

/* Allocates on the device. Contents are not cleared. */
sb_status sb_buffer_create(sb_device *device, const sb_buffer_options *options, sb_buffer **buffer,
                           sb_error *error);
void sb_buffer_destroy(sb_buffer *buffer);
/*
 * Where it begins in every bank or core (32 bits): what a kernel's `interleaved` wants as its base.
 * On a GPU the pointer to it.
 */
uint64_t sb_buffer_address(const sb_buffer *buffer);
size_t sb_buffer_size(const sb_buffer *buffer);
uint32_t sb_buffer_page_size(const sb_buffer *buffer);
sb_status sb_buffer_write(sb_buffer *buffer, size_t offset, const void *data, size_t size,
                          sb_error *error);
sb_status sb_buffer_read(sb_buffer *buffer, size_t offset, void *data, size_t size,
                         sb_error *error);

/* ---- programs ---- */

sb_program *sb_program_create(sb_device *device);
void sb_program_destroy(sb_program *program);

typedef struct sb_define {
    const char *name;
    const char *value; /* NULL: 1 */
} sb_define;

/* One of path, source and elf says what the kernel is. */
typedef struct sb_kernel_options {
    const char *path;    /* a C file; for a GPU a CUDA file */
    const char *source;  /* its text; name says what messages call it */
    const char *elf;     /* a file that is already built */
    const char *name;    /* NULL: from the file */
    const char *include; /* a folder for #include, or NULL */
    sb_processor processor;
    sb_core_range cores;
    const sb_define *defines; /* macros */
    size_t define_count;
    /* For a GPU, in place of processor and cores; a size of 0 stands for 1. */
    const char *function;  /* which __global__ function, extern "C"; NULL: kernel_main */
    uint32_t grid[3];      /* blocks */
    uint32_t block[3];     /* threads of each */
    uint32_t shared_bytes; /* dynamic shared memory of each */
} sb_kernel_options;

/* *number is the kernel's number within the program. Sources are built at the first enqueue. */
sb_status sb_program_add_kernel(sb_program *program, const sb_kernel_options *options,
                                uint32_t *number, sb_error *error);

/* A ring of pages in L1 between two kernels of a core. */
typedef struct sb_circular_options {
    uint32_t id; /* 0 to 31, as kernels call it */
    sb_core_range cores;
    uint32_t page_size; /* a multiple of 32 */
    uint32_t page_count;
} sb_circular_options;

sb_status sb_program_add_circular(sb_program *program, const sb_circular_options *options,
                                  sb_error *error);
/* A semaphore on all cores of the range, set to initial at each launch. *id is for get_semaphore.
 */
sb_status sb_program_add_semaphore(sb_program *program, sb_core_range cores, uint32_t initial,
                                   uint32_t *id, sb_error *error);
/* Run-time arguments of a kernel on one core; they hold until they are set again. */
sb_status sb_program_set_args(sb_program *program, uint32_t number, sb_core core,
                              const uint32_t *args, size_t count, sb_error *error);

/* The value of a parameter of a GPU's kernel. */
typedef struct sb_parameter {
    const void *value;
    size_t size;
} sb_parameter;

#define SB_PARAMETER(variable) \
    { &(variable), sizeof(variable) }

/* Parameters of a GPU's kernel, in their order; more than are given are 0. Copied; they hold until
   they are set again. */
sb_status sb_program_set_parameters(sb_program *program, uint32_t number,
                                    const sb_parameter *parameters, size_t count, sb_error *error);
/* What the launch is called in recordings; assigned in order (1, 2, ...) where it is not set. */
void sb_program_set_id(sb_program *program, uint32_t id);

/* Builds what is not built yet, as many kernels at a time as there are processors. */
sb_status sb_program_build(sb_program *program, sb_error *error);

typedef struct sb_kernel_size {
    const char *name;
    uint32_t code_bytes;  /* code, constants and initial data */
    uint32_t code_room;   /* that are left of the kernel's place in L1 */
    uint32_t local_bytes; /* data in local memory */
    uint32_t stack_room;  /* that are left of it for the stack */
    uint32_t stack_bytes; /* deepest stack seen on any core; 0 unless the watcher measures it */
    /* Of a GPU's kernel, where local_bytes is what each thread has; all else is 0. */
    uint32_t registers;    /* of a thread */
    uint32_t shared_bytes; /* of a block, without dynamic shared memory */
} sb_kernel_size;

uint32_t sb_program_kernel_count(const sb_program *program);
/* Sizes of a built kernel; all 0 where there is no such kernel. */
sb_kernel_size sb_program_kernel_size(const sb_program *program, uint32_t number);

/*
 * Starts the program after those enqueued before it have ended. Returns while it runs (or, between
 * sb_device_trace_begin and _end, without running it).
 */
sb_status sb_program_enqueue(sb_program *program, sb_error *error);
/* Waits for all that was enqueued. */
sb_status sb_device_finish(sb_device *device, sb_error *error);

/* ---- the profiler ---- */

/*
 * With TT_METAL_DEVICE_PROFILER=1 in the environment, zones of kernels are recorded
 * (docs/profiler.md). They are written to profile_log_device.csv, and into the recording of the
 * program where there is one, as they are read: when room gets short, when this is called, and when
 * the mesh is closed. Waits for all that was enqueued. Without the variable it does nothing.
 */
sb_status sb_read_profiler(sb_device *device, sb_error *error);

/* What became of markers: two for a zone, one for data, events and sums. */
typedef struct sb_profiler_counts {
    uint64_t markers;     /* read */
    uint64_t refused;     /* found no room in the core's memory */
    uint64_t dropped;     /* found no room in DRAM */
    uint64_t overwritten; /* older than what is kept, in mode keep-newest */
    uint64_t strange;     /* words that are no markers */
} sb_profiler_counts;

/* What profiling itself takes, measured when the mesh was opened; clocks. */
typedef struct sb_profiler_costs {
    double zone[5];   /* by processor: a zone with nothing in it, beside what is around it */
    double push;      /* at the end of a program that used all five, behind its last zone */
    double full_push; /* of a full buffer in the middle of a kernel */
} sb_profiler_costs;

bool sb_profiler_is_on(const sb_device *device);
sb_profiler_costs sb_profiler_cost(const sb_device *device);
/* So far, of one processor; on a GPU SB_BRISC stands for all warps of the SM, and dropped are those
   that found no room in its memory. */
sb_profiler_counts sb_profiler_count(const sb_device *device, sb_core core, sb_processor processor);
/*
 * How certain the times of zones are on the machine's clock: plus or minus so many nanoseconds.
 * 0: clocks are not compared (TT_METAL_PROFILER_SYNC).
 */
double sb_profiler_error_ns(const sb_device *device);

/*
 * The clock of device 0 = ratio * clock + shift, as messages over the links between the chips have
 * shown when the mesh was opened. samples 0: they were not sent (one chip, no
 * TT_METAL_PROFILER_SYNC).
 */
typedef struct sb_profiler_link {
    double ratio;
    double shift; /* clocks */
    double error; /* plus or minus so many clocks, when it was measured */
    uint32_t samples;
} sb_profiler_link;

sb_profiler_link sb_profiler_link_of(const sb_device *device);

/* ---- traces ---- */

/* From here on programs are recorded instead of run. */
sb_status sb_device_trace_begin(sb_device *device, sb_error *error);
/* Ends the recording. Programs and their arguments are as they were when they were enqueued. */
sb_status sb_device_trace_end(sb_device *device, sb_device_trace **trace, sb_error *error);
/* Runs what was recorded. The programs must still be there. */
sb_status sb_device_trace_replay(sb_device_trace *trace, sb_error *error);
void sb_device_trace_destroy(sb_device_trace *trace);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
