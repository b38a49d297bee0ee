/*
 * The order of work. Each stream is a thread that does what it was given, one after the other;
 * the default stream and those that are not told otherwise wait for each other.
 */
#ifndef PTX_STREAM_H
#define PTX_STREAM_H

#include "ptx.h"

#define API __attribute__((visibility("default")))

typedef struct ptx_stream ptx_stream;

typedef enum ptx_work_kind { PTX_WORK_LAUNCH, PTX_WORK_COPY, PTX_WORK_WRITE } ptx_work_kind;

typedef struct ptx_work {
    struct ptx_work *next;
    ptx_work_kind kind;
    ptx_launch launch; /* its parameters are freed with it */
    void *to;
    const void *from;
    void *staged; /* freed with it */
    size_t size;
    uint32_t value;
    struct ptx_awaited *awaited;
    size_t awaited_count;
} ptx_work;

ptx_stream *ptx_stream_create(bool is_apart);
/* What it was given is done first. */
void ptx_stream_destroy(ptx_stream *stream);
/* stream: NULL is the default stream. */
void ptx_stream_give(ptx_stream *stream, const ptx_work *work);
bool ptx_stream_is_idle(ptx_stream *stream);
/* 0, or what went wrong on the GPU. */
int ptx_stream_wait(ptx_stream *stream);
int ptx_streams_wait(void);
/* What went wrong and stays so; 0: nothing. */
int ptx_sticky_error(void);

/* Of the calling thread's context. */
uint32_t ptx_current_gpu(void);
/* For launches by hand and those of graphs. 0, or what is wrong with it. */
int ptx_prepare_launch(ptx_function *function, const ptx_shape *shape, void **arguments,
                       ptx_work *work);
uint64_t ptx_next_launch(void);

#endif
