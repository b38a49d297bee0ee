/*
 * The reading half of a session: a thread of its own that does nothing but take what comes, put it
 * into the journal and unpack it, so that the program is never kept waiting by what the trace does.
 *
 * Unpacked frames stand one behind the other in a ring. Positions only grow; a frame lies at its
 * position modulo the size of the ring, and never across its end. The reader waits when the ring is
 * full, and then the system makes the program wait.
 */
#ifndef SB_CAPTURE_STREAM_H
#define SB_CAPTURE_STREAM_H

#include <pthread.h>

#include "base/base.h"
#include "wire/wire.h"

enum { CAPTURE_QUEUE = 256 };

typedef enum capture_stream_end {
    CAPTURE_STREAM_RUNS,
    CAPTURE_STREAM_CLOSED,    /* by the program */
    CAPTURE_STREAM_LOST,      /* the connection broke */
    CAPTURE_STREAM_MALFORMED, /* what came does not unpack */
    CAPTURE_STREAM_UNWRITTEN, /* the journal cannot be written */
    CAPTURE_STREAM_STOPPED,   /* by us */
} capture_stream_end;

typedef struct capture_frame {
    uint64_t position;
    size_t size;
} capture_frame;

typedef struct capture_stream {
    int socket;
    sb_journal_writer *journal;
    pthread_mutex_t *journal_lock;
    sb_wire_unpacker *unpacker;
    uint8_t *ring;
    uint64_t write_position; /* of the reader */

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    capture_frame queue[CAPTURE_QUEUE]; /* under the lock, as all below */
    uint64_t queued;                    /* frames put in, ever */
    uint64_t taken;                     /* frames given back, ever */
    bool is_stopping;
    capture_stream_end end;
    sb_error error;
    uint64_t wire_bytes;
    uint64_t stream_bytes;
} capture_stream;

/* Starts reading. The journal must outlive the stream. */
void capture_stream_start(capture_stream *stream, int socket, sb_journal_writer *journal,
                          pthread_mutex_t *journal_lock);
/* The next frame, waiting for it up to the limit; false: none by now. Give it back when done. */
bool capture_stream_next(capture_stream *stream, sb_slice *frame, int timeout_ms);
void capture_stream_give_back(capture_stream *stream);
/* How it ended; CAPTURE_STREAM_RUNS as long as frames wait or may come. */
capture_stream_end capture_stream_ended(capture_stream *stream, sb_error *error);
void capture_stream_counts(capture_stream *stream, uint64_t *wire_bytes, uint64_t *stream_bytes,
                           size_t *waiting);
void capture_stream_stop(capture_stream *stream);

#endif
