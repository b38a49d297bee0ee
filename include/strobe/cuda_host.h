/*
 * cuda_host.h: the host's side of zones in CUDA kernels (cuda.h).
 *
 * A program of nvcc's needs nothing of this: its files register themselves before main, and what
 * they record appears as soon as the program uses a GPU. sb_cuda_init, in cuda.h, only makes sure
 * that the very first kernel is recorded too; without it the zones of kernels in the first
 * milliseconds are counted as missed.
 *
 * Programs that load modules themselves attach each of them:
 *
 *     cuModuleLoadData(&module, image);
 *     sb_cuda_attach_module(module, &error);
 *
 * or let this library build and launch kernels (sb_cuda_build, below).
 *
 * Zones go into the recording of the program (strobe.h): a device context for each SM, a lane for
 * each warp that was recorded at a time. With STROBE_CUDA_LOG=FILE they go into a CSV file as well.
 * A thread of this library's reads them while kernels run. docs/cuda.md lists the variables.
 *
 * The CUDA driver is loaded when it is first wanted. Functions that can fail return a status and
 * fill *error (which may be NULL) with one sentence; nothing here ever stops the program. All may
 * be called from any thread; those about modules and kernels with the context current.
 */
#ifndef STROBE_CUDA_HOST_H
#define STROBE_CUDA_HOST_H

#include <stddef.h>
#include <stdint.h>

#include <strobe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ---- recording ---- */

/* Attaches the calling thread's context, or that of the first GPU if it has none. */
sb_status sb_cuda_attach(sb_error *error);
/* A CUmodule of the current context. One without zones is fine. */
sb_status sb_cuda_attach_module(void *module, sb_error *error);
/* Before a module is unloaded: reads what its kernels recorded and forgets its names. */
void sb_cuda_detach_module(void *module);

/* A file of nvcc's: where its sb_cuda_gate, and its count of missed records, are on the GPU. */
typedef struct sb_cuda_unit {
    void *(*gate)(void);
    void *(*missed)(void);
} sb_cuda_unit;

/* Called by cuda.h, before main or when a library is loaded; and before it is unloaded. */
void sb_cuda_register(sb_cuda_unit *unit);
void sb_cuda_unregister(sb_cuda_unit *unit);

/*
 * Waits for all that was launched, and tells all of it. Done by itself at exit, where
 * kernels are waited for for 10 s (STROBE_CUDA_EXIT_WAIT). As
 * cuCtxSynchronize, it must not be called while a graph is captured; where the driver tells that
 * one is, it is an error, and the capture goes on.
 */
sb_status sb_cuda_flush(sb_error *error);

/* What became of records, over all GPUs. */
typedef struct sb_cuda_counts {
    uint64_t zones;    /* that began, spans included */
    uint64_t others;   /* data, events, sums */
    uint64_t lost;     /* found no room: the pool was used up (STROBE_CUDA_CHUNKS) */
    uint64_t missed;   /* came before their module was attached, or from too large a block */
    uint64_t cut;      /* of divergent paths, shown shorter than they were; spans without an end */
    uint64_t unplaced; /* not shown: too many at a time, of an unknown SM, or of one for which the
                          recording has no context */
} sb_cuda_counts;

sb_cuda_counts sb_cuda_count(void);
/* How certain times are on the host's clock, plus or minus; 0: not compared yet. */
double sb_cuda_error_ns(void);
/*
 * What launches of the current context are called from here on: the program id of reports. It is
 * one number for all streams, written in the order of this one: kernels that run meanwhile in
 * others take it too, and so do replays of graphs that sb_cuda_graph_replay has not given theirs.
 */
sb_status sb_cuda_set_program(void *stream, uint32_t program, sb_error *error);

/* ---- kernels from source ---- */

typedef struct sb_cuda_module sb_cuda_module;
typedef struct sb_cuda_kernel sb_cuda_kernel;

typedef struct sb_cuda_build_options {
    const char *source;         /* CUDA C++; <strobe/cuda.h> is found by itself */
    const char *name;           /* what messages call it; NULL: kernel.cu */
    const char *const *options; /* of NVRTC */
    size_t option_count;
    int without_zones; /* builds with STROBE_ENABLE unless this is set */
} sb_cuda_build_options;

/* Builds with NVRTC for the current context's GPU, loads and attaches. */
sb_status sb_cuda_build(const sb_cuda_build_options *options, sb_cuda_module **module,
                        sb_error *error);
void sb_cuda_unload(sb_cuda_module *module);
/* Owned by the module. Kernels of C++ are found by their extern "C" name. */
sb_status sb_cuda_find(sb_cuda_module *module, const char *name, sb_cuda_kernel **kernel,
                       sb_error *error);

typedef struct sb_cuda_kernel_size {
    int registers; /* of a thread */
    int shared_bytes;
    int local_bytes; /* of a thread: spilt registers and arrays */
} sb_cuda_kernel_size;

sb_cuda_kernel_size sb_cuda_kernel_describe(const sb_cuda_kernel *kernel);

typedef struct sb_cuda_shape {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
} sb_cuda_shape;

/* arguments point to the values of the kernel's parameters. stream: a CUstream; NULL the default.
 */
sb_status sb_cuda_launch(sb_cuda_kernel *kernel, const sb_cuda_shape *shape, void *stream,
                         void **arguments, sb_error *error);

typedef struct sb_cuda_gpu {
    char name[96];
    int sm_count;
    int clock_mhz;
    int major, minor; /* compute capability */
    uint64_t memory_bytes;
    double bandwidth_gbs; /* peak of its memory */
} sb_cuda_gpu;

/* The GPU of the current context. */
sb_status sb_cuda_describe(sb_cuda_gpu *gpu, sb_error *error);

/* Memory on the GPU, for programs that have no other way to it. */
sb_status sb_cuda_allocate(size_t size, uint64_t *address, sb_error *error);
void sb_cuda_free(uint64_t address);
sb_status sb_cuda_write(uint64_t address, const void *data, size_t size, sb_error *error);
sb_status sb_cuda_read(uint64_t address, void *data, size_t size, sb_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
