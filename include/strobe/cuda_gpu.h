/*
 * cuda_gpu.h: GPUs for programs that do without CUDA's own libraries: which one is used, graphs of
 * launches, and zones as they are read.
 *
 * It stands beside cuda_host.h, which builds and launches kernels; the same rules hold. What
 * device.h does on a GPU is made of these two.
 */
#ifndef STROBE_CUDA_GPU_H
#define STROBE_CUDA_GPU_H

#include <strobe/cuda_host.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ---- GPUs ---- */

/* That the driver shows (CUDA_VISIBLE_DEVICES). */
sb_status sb_cuda_gpu_count(uint32_t *count, sb_error *error);
/* Makes the primary context of a GPU the calling thread's. It stays until the process ends. */
sb_status sb_cuda_use(uint32_t gpu, sb_error *error);
/* All that was launched in the current context has ended; an error of a kernel shows here. */
sb_status sb_cuda_wait(sb_error *error);
/* The time of the current context's GPU, nanoseconds of its global timer, as the host knows it. */
sb_status sb_cuda_timer_now(int64_t *timer_ns, sb_error *error);

/* Records of an SM that found no room, so far. */
uint64_t sb_cuda_lost_on(uint32_t gpu, uint32_t sm);

/* ---- parameters of kernels ---- */

/* The size of a kernel's parameter, from 0 on. SIZE_MAX: there is none; 0: the driver is too old to
   tell (before 12.4). */
size_t sb_cuda_kernel_parameter(const sb_cuda_kernel *kernel, size_t index);

/* ---- graphs ---- */

typedef struct sb_cuda_graph sb_cuda_graph;

/* A row of launches that is replayed as one. */
sb_status sb_cuda_graph_create(sb_cuda_graph **graph, sb_error *error);
void sb_cuda_graph_destroy(sb_cuda_graph *graph);
/* One more launch, behind the others; arguments are copied. with_program: replays give it a number
   of a program. */
sb_status sb_cuda_graph_add(sb_cuda_graph *graph, sb_cuda_kernel *kernel,
                            const sb_cuda_shape *shape, void **arguments, int with_program,
                            sb_error *error);
/* programs: what the launches are called this time, one for each that has a number. */
sb_status sb_cuda_graph_replay(sb_cuda_graph *graph, const uint32_t *programs, sb_error *error);

/* ---- zones as they are read ---- */

typedef enum sb_cuda_moment_kind {
    SB_CUDA_MOMENT_BEGIN, /* of a zone */
    SB_CUDA_MOMENT_END,   /* of the zone that began last in this lane and has not ended */
    SB_CUDA_MOMENT_DATA,  /* value */
    SB_CUDA_MOMENT_EVENT, /* value, 16 bits; without a name */
    SB_CUDA_MOMENT_TOTAL, /* value: cycles of a sum */
} sb_cuda_moment_kind;

/*
 * Something that a warp recorded. Zones of a lane nest; a lane belongs to a warp as long as a zone
 * is open in it. Moments of a lane come in the order of time, those of different lanes do not.
 */
typedef struct sb_cuda_moment {
    sb_cuda_moment_kind kind;
    uint32_t gpu;
    uint32_t sm;
    uint32_t lane;    /* of the SM; contexts that live at a time on a GPU have different ones */
    uint32_t program; /* sb_cuda_set_program */
    int64_t timer_ns; /* of the GPU's global timer */
    const char *name; /* of a zone's begin, data and sums; these three stay valid */
    const char *file;
    uint32_t line;
    uint64_t value;
} sb_cuda_moment;

typedef struct sb_cuda_observer {
    /* Called by whatever thread reads, by one at a time for each GPU. It must not call back. */
    void (*see)(void *context, const sb_cuda_moment *moment);
    /* What the recording says of a program's main zones, "OP ID:7" for an op: how many bytes of
       text it wrote, fewer than room; 0: nothing in particular. Called as `see` is; may be NULL. */
    size_t (*name)(void *context, uint32_t program, char *text, size_t room);
    void *context;
} sb_cuda_observer;

/* From now on; before kernels are launched that are to be seen. NULL: nobody any more. */
void sb_cuda_observe(const sb_cuda_observer *observer);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
