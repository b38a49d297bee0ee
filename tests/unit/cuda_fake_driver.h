/*
 * What tests tell the driver that is none (cuda_fake_driver.c), and what it tells them. It is
 * loaded as the real one would be, so they find these by name.
 */
#ifndef CUDA_FAKE_DRIVER_H
#define CUDA_FAKE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))

typedef struct fake_context fake_context;
typedef struct fake_stream fake_stream;

typedef struct fake_state {
    _Atomic bool is_started; /* cuInit was called */
    /* A graph is being captured; in a stream that waits for the default stream; and was broken by
       a call that is forbidden meanwhile. */
    _Atomic bool is_capturing;
    _Atomic bool is_capture_blocking;
    _Atomic bool is_capture_broken;
    _Atomic int retained;   /* how often somebody keeps the primary context */
    _Atomic bool is_unseen; /* whether that is in use is not told */
    /* A gate was opened before all that is behind it was there. */
    _Atomic bool was_gate_torn;
    _Atomic bool is_held; /* a kernel runs, and whoever waits for the context waits */
    _Atomic int waiting;  /* that do */
    _Atomic int waits;    /* that were over */
    /* Units, which ask without a module, have a gate of their own; it is gone; and was written to.
     */
    _Atomic bool has_unit_gate;
    _Atomic bool is_unit_gone;
    _Atomic bool was_gone_used;
    _Atomic bool has_no_memory;
    _Atomic int allocations;    /* tried */
    _Atomic long sync_delay_ns; /* the kernel that tells the time begins late */
    _Atomic int syncs;
    _Atomic bool has_sync_overlapped;
    _Atomic int devices;    /* 0: one. The others are never used */
    _Atomic int sms;        /* that a GPU says it has; 0: those that it has */
    _Atomic int capability; /* of the GPU, as 90 for 9.0; 0: that */
    _Atomic bool was_ptx;   /* what was loaded last */
    char loaded[128];       /* and how it begins */
    _Atomic int compilations;
    _Atomic int version;    /* of the compiler, as 130 for 13.0; 0: that */
    const char *brings;     /* a header that the compiler has; NULL: none */
    const char *overwrites; /* a file that changes while a source is compiled; NULL: none */
} fake_state;

API fake_state *fake_get(void);
/* Ends the primary context, and all that is in it; the next one has the same handle. */
API void fake_reset(void);
/* Another context than the primary one. */
API fake_context *fake_other_context(void);

#endif
