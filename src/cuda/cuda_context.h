/*
 * cuda: zones of kernels on NVIDIA GPUs, from the GPU's memory into the recording of the program.
 *
 * Its interface is include/strobe/cuda_host.h and cuda_gpu.h; kernels include
 * include/strobe/cuda.h. This header is what its own files share:
 *
 *   cuda_driver.c    the CUDA driver, loaded at run time
 *   cuda_pinned.c    memory of the host that GPUs reach
 *   cuda_units.c     files of nvcc's that have registered themselves
 *   cuda_pool.c      chunks on the GPU: reading them, giving them back
 *   cuda_decode.c    records to events
 *   cuda_clock.c     clocks of SMs, the global timer, the host
 *   cuda_sync.c      the round trips that tell the GPU's time
 *   cuda_lanes.c     zones that nest
 *   cuda_places.c    names, read out of modules
 *   cuda_tracks.c    lanes into the recording
 *   cuda_log.c       events into a CSV file
 *   cuda_drain.c     one look at a context: all of the above
 *   cuda_context.c   what is kept for a context
 *   cuda_attach.c    contexts of the process, the interface
 *   cuda_watch.c     the thread that looks at them; waiting
 *   cuda_options.c   variables
 *   cuda_compile.c   from source to code, with NVRTC
 *   cuda_cache.c     code that was built before
 *   cuda_includes.c  what a source includes
 *   cuda_build.c     modules and kernels from source
 *   cuda_gpu.c       which GPU is used
 *   cuda_graph.c     launches that are replayed
 *   cuda_observe.c   zones for others than the recording
 *
 * We live in somebody else's process: no base/memory.h, no log, no exit. What cannot be had is
 * counted or said once.
 */
#ifndef SB_CUDA_CUDA_CONTEXT_H
#define SB_CUDA_CUDA_CONTEXT_H

#include <pthread.h>
#include <stdio.h>

#include <strobe/cuda_host.h>

#include "cuda/cuda_clock.h"
#include "cuda/cuda_decode.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_lanes.h"
#include "cuda/cuda_places.h"
#include "cuda/cuda_pool.h"
#include "cuda/cuda_sync.h"

typedef struct cuda_options {
    uint32_t chunks_per_sm;
    bool is_on_host;
    bool is_off;
    bool may_wait; /* for all of a context, in the background */
    bool is_cache_off;
    uint32_t every_sm, every_block, every_warp, every_launch;
    uint32_t exit_wait_s; /* for kernels, at the end of the program */
    char log[4096];       /* empty: no file */
} cuda_options;

const cuda_options *cuda_options_get(void);
/* A child has locks that others held, and no one who opens them: these are taken for the time of a
   fork, those of the log first. */
void cuda_options_before_fork(void);
void cuda_options_after_fork(void);
/* For tests: from a text of each variable, or NULL. False: something in them is not understood. */
bool cuda_options_parse(cuda_options *options, const char *chunks, const char *pool,
                        const char *sample, const char *log);
/* One line on standard error, about what the user asked for and does not get. */
__attribute__((format(printf, 1, 2))) void cuda_say(const char *format, ...);

/* A module that records into a context. */
typedef struct cuda_attached {
    const void *module; /* its handle; NULL: it is a unit */
    uint64_t unit;      /* its serial */
    cuda_address gate;
    cuda_address missed;   /* 0: it does not count */
    uint64_t missed_known; /* when it was last asked */
    struct cuda_attached *next;
} cuda_attached;

/* An SM in the recording. Where there are more than readers know contexts, several SMs share one:
   that of the first of them. */
typedef struct cuda_track {
    uint16_t context;
    uint16_t query;
    bool is_announced;
    uint32_t lanes_named; /* of this SM alone */
} cuda_track;

typedef struct cuda_context {
    pthread_mutex_t lock;
    const cuda_driver *driver;
    cuda_context_handle handle; /* NULL: the program has ended it */
    unsigned long long id;      /* of the driver, which gives handles again; 0: it has none */
    bool is_primary;
    cuda_device device;
    char name[96];
    cuda_pool pool;
    cuda_clock_fit fit;
    cuda_sync sync;
    cuda_places places;
    cuda_attached *modules;
    int64_t missed_ns;      /* when all of them were last asked what they missed */
    uint32_t units_version; /* when those that are gone were last looked for */
    cuda_lanes *lanes;      /* per SM */
    cuda_track *tracks;     /* per SM */
    uint32_t sms_in_track;  /* that share a context */
    uint32_t number;        /* among those that live on this GPU, from 0 on */
    uint32_t seat;          /* in the recording (cuda_tracks.c) */
    cuda_event *events;     /* of one SM, while it is looked at */
    size_t event_count;
    size_t event_capacity;
    uint64_t cut_in_lanes; /* of lanes that are gone */
    uint64_t unplaced_in_lanes;
    sb_cuda_counts counts; /* told; what the GPU counts is added when asked */
    bool is_told_of_loss;
    bool is_told_of_nowhere;
    bool is_told_of_time;
    bool has_programs; /* launches were given numbers */
    bool is_recorded;  /* somebody wants to see lanes */
    bool is_dead;      /* nothing can be read any more */
    bool is_off;       /* nothing is recorded, and there is no pool */
    /* Chunks that warps forgot are marked; what may still use them is being waited for; is over. */
    enum { CUDA_RESTING, CUDA_WAITING, CUDA_WAITED } reclaim;
    uint32_t reclaims;     /* how often they were marked */
    int64_t waited_ns;     /* when the wait was over */
    int64_t over_ns;       /* what was launched before has ended; 0: nobody has waited yet */
    int64_t wait_after_ns; /* a graph was being captured: not before then */
    struct cuda_context *next;
} cuda_context;

/* A look: all that is known up to a moment is told. With the lock, and the context current. */
typedef enum cuda_look {
    CUDA_LOOK_RUNNING, /* kernels may run */
    CUDA_LOOK_ENDED,   /* all that was launched before has ended */
} cuda_look;
sb_status cuda_drain(cuda_context *context, cuda_look look, sb_error *error);
/* The context is gone: tells what was read last. With the lock. */
void cuda_drain_last(cuda_context *context);

/* Makes all that a context needs; the context must be current. Tests bring a driver of their own.
 */
sb_status cuda_context_open(cuda_context *context, const cuda_driver *driver,
                            const cuda_options *options, sb_error *error);
void cuda_context_close(cuda_context *context);
/* A module by its handle, or a unit by its serial and without one. */
sb_status cuda_context_add_module(cuda_context *context, const cuda_attached *module,
                                  sb_error *error);
bool cuda_context_has_module(const cuda_context *context, const void *module);
void cuda_context_remove_module(cuda_context *context, const void *module);
/* Forgets units whose library was unloaded; their gates are gone already. */
void cuda_context_drop_units(cuda_context *context);
/* From now on warps say what their launch is called. Takes the lock. */
sb_status cuda_context_use_programs(cuda_context *context, sb_error *error);
/*
 * Has the program ended the context (cudaDeviceReset, cuCtxDestroy)? Then nothing of it is touched
 * again, and one sentence says so. True: it is there. With the lock.
 */
bool cuda_context_is_there(cuda_context *context);
/* A zone's name. With the lock. */
const struct sb_source_location *cuda_context_place(cuda_context *context, uint64_t address);
/*
 * Marks forgotten chunks, to be taken back when all that was launched until now has ended. The
 * number is for cuda_context_end_wait; 0: there is nothing to wait for. anew: also if somebody
 * waits already, whose wait then counts for nothing.
 */
uint32_t cuda_context_begin_reclaim(cuda_context *context, bool anew);
/* All that was launched before began_ns has ended, and with it what a reclaim waits for (or 0). */
void cuda_context_end_wait(cuda_context *context, uint32_t reclaim, int64_t began_ns);
/* The wait came to nothing: it may be tried again. */
void cuda_context_give_up_wait(cuda_context *context, uint32_t reclaim);
uint64_t cuda_context_missed(cuda_context *context);
/* Asks all modules what they missed: their counts go with the context. Entered. */
void cuda_context_read_missed(cuda_context *context);
bool cuda_context_has_unit(const cuda_context *context, uint64_t unit);
/* The unit is about to go; missed: where its count is now, 0 if it has gone already. Entered. */
void cuda_context_part_with(cuda_context *context, uint64_t unit, cuda_address missed);

/* ---- contexts of the process ---- */

/* All that there ever were. */
cuda_context *cuda_contexts_first(void);
/* Finds those that programs have begun to use by themselves. */
void cuda_contexts_find(const cuda_driver *driver);
/* All is told when the program ends. The driver has its own handlers, and those that are asked for
   later are called earlier: this is called again once the driver is in use. */
void cuda_follow_exit(void);
/* A unit is about to go: what it missed is read while its count is there. The loader's lock may be
   held, so nothing is waited for for long. */
void cuda_contexts_part_with(uint64_t unit, void *(*missed)(void));
/* A unit is not listed any more: whoever was busy with it, and did not know, is waited for. */
void cuda_contexts_let_go(void);
/* We are the child of a fork: locks may be held and contexts be used by threads that we do not
   have, so nothing is recorded. */
bool cuda_is_child(void);
void cuda_follow_forks(void);

/* What a thread had before it came to a context, which is current and locked for it meanwhile. */
typedef struct cuda_visit {
    cuda_context_handle before;
    int mode;
    bool is_set;
} cuda_visit;
/* False: nothing can be asked of it; it is locked all the same. */
bool cuda_enter(cuda_context *context, cuda_visit *visit);
/* The same with the lock. */
bool cuda_enter_locked(cuda_context *context, cuda_visit *visit);
void cuda_leave(cuda_context *context, const cuda_visit *visit);

/* What this thread asks of the driver until cuda_strict is no part of a graph that somebody
   captures, and breaks none. The result is for cuda_strict. */
int cuda_relax(const cuda_driver *driver);
void cuda_strict(const cuda_driver *driver, int mode);

/* Starts the thread that looks, once. */
void cuda_watch_start(void);
/* Stops it; it must not be started again. */
void cuda_watch_end(void);
/*
 * Waits for all that was launched in a context, and reads it. Between cuda_enter and cuda_leave;
 * the lock is open while it waits.
 */
sb_status cuda_flush_entered(cuda_context *context, sb_error *error);
/* Waits for what was launched in the current context, unless that would break a capture that the
   driver tells of. */
int cuda_wait_unless_capturing(const cuda_driver *driver);
/* Does work in a thread of its own; false: it goes on after so many nanoseconds. Once. */
bool cuda_do_within(void (*work)(void), int64_t limit_ns);
/* Waits for the current context; chunks that are getting short are taken back on the way. */
sb_status cuda_wait_for_current(const cuda_driver *driver, sb_error *error);

/* The primary context of a GPU, which is kept once for all threads, and anew after a reset. */
sb_status cuda_keep_primary(const cuda_driver *driver, uint32_t gpu, cuda_context_handle *context,
                            sb_error *error);
/* Where no context is current, that of the first GPU becomes it. */
sb_status cuda_ensure_context(const cuda_driver *driver, sb_error *error);
/* The one that is current, attached if it was not; *context stays NULL where that fails. */
sb_status cuda_current_context(cuda_context **context, sb_error *error);
/* Shared memory beyond the usual, which a kernel must be allowed once. */
sb_status cuda_allow_shared(sb_cuda_kernel *kernel, uint32_t bytes, sb_error *error);
/* What the driver calls a kernel. */
cuda_function cuda_kernel_function(const sb_cuda_kernel *kernel);

/* ---- where it goes ---- */

/* A context of so many SMs will be told: sets what is told of it as of which, and how many SMs
   share a context of the recording. */
void cuda_tracks_join(cuda_context *context, uint32_t sms);
/* Nothing more will be told: the next context on this GPU goes on in the lanes of this one. */
void cuda_tracks_release(const cuda_context *context);
/* Zones of an SM, by lanes. */
cuda_lane_sink cuda_tracks_sink(cuda_context *context, uint32_t sm);
void cuda_tracks_prepare(void);
bool cuda_tracks_is_recording(void);
/* What each SM lost so far, at the end. */
void cuda_tracks_tell_losses(const cuda_context *context);
void cuda_log_event(cuda_context *context, const cuda_event *event);
void cuda_log_flush(void);
/* Rows that are not in the file yet would be written by the child too. */
void cuda_log_before_fork(void);
void cuda_log_after_fork(void);

#endif
