#include "capture/capture_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RING_SIZE = 8 * 1024 * 1024,
    INPUT_SIZE = 1024 * 1024,
    POLL_MS = 100, /* how soon a stop is seen */
    LENGTH_SIZE = 4,
    NS_PER_MS = 1000000,
};

/* ---- the reader ---- */

static void end_stream(capture_stream *stream, capture_stream_end end, const sb_error *error) {
    pthread_mutex_lock(&stream->lock);
    if (stream->end == CAPTURE_STREAM_RUNS) {
        stream->end = end;
        if (error != NULL)
            stream->error = *error;
    }
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}

/* The oldest position that is still in use. Under the lock. */
static uint64_t oldest_position(const capture_stream *stream) {
    if (stream->taken == stream->queued)
        return stream->write_position;
    return stream->queue[stream->taken % CAPTURE_QUEUE].position;
}

/* Where the next frame goes; waits for room. False: we are to stop. */
static bool make_room(capture_stream *stream) {
    const uint64_t offset = stream->write_position % RING_SIZE;
    if (offset + SB_WIRE_FRAME_MAX > RING_SIZE)
        stream->write_position += RING_SIZE - offset;
    pthread_mutex_lock(&stream->lock);
    /* What a block refers to stands before it, and must not be overwritten either. */
    while (!stream->is_stopping &&
           (stream->queued - stream->taken == CAPTURE_QUEUE ||
            stream->write_position + SB_WIRE_FRAME_MAX + SB_WIRE_HISTORY - oldest_position(stream) >
                RING_SIZE))
        pthread_cond_wait(&stream->changed, &stream->lock);
    const bool goes_on = !stream->is_stopping;
    pthread_mutex_unlock(&stream->lock);
    return goes_on;
}

static void publish(capture_stream *stream, size_t size, size_t packed) {
    pthread_mutex_lock(&stream->lock);
    stream->queue[stream->queued % CAPTURE_QUEUE] = (capture_frame){stream->write_position, size};
    stream->queued++;
    stream->wire_bytes += packed;
    stream->stream_bytes += size;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    stream->write_position += size;
}

static bool unpack_frame(capture_stream *stream, sb_slice block) {
    sb_error error = {0};
    size_t size = 0;
    if (!make_room(stream))
        return false;
    uint8_t *to = stream->ring + stream->write_position % RING_SIZE;
    if (sb_wire_unpack_to(stream->unpacker, block, to, &size, &error) != SB_OK) {
        end_stream(stream, CAPTURE_STREAM_MALFORMED, &error);
        return false;
    }
    publish(stream, size, block.size + LENGTH_SIZE);
    return true;
}

/* How many of the bytes are whole frames; SIZE_MAX: a length that cannot be. */
static size_t whole_frames(const uint8_t *bytes, size_t size) {
    size_t at = 0;
    while (size - at >= LENGTH_SIZE) {
        const size_t block = sb_wire_block_size(bytes + at);
        if (block == 0 || block > SB_WIRE_BLOCK_MAX)
            return at > 0 ? at : SIZE_MAX;
        if (size - at - LENGTH_SIZE < block)
            break;
        at += LENGTH_SIZE + block;
    }
    return at;
}

static bool keep_frames(capture_stream *stream, sb_slice frames) {
    sb_error error = {0};
    pthread_mutex_lock(stream->journal_lock);
    const sb_status status = sb_journal_append(stream->journal, SB_JOURNAL_FRAMES, frames, &error);
    pthread_mutex_unlock(stream->journal_lock);
    if (status != SB_OK)
        end_stream(stream, CAPTURE_STREAM_UNWRITTEN, &error);
    return status == SB_OK;
}

/* Journals and unpacks the whole frames in front; returns their size, SIZE_MAX to end. */
static size_t take_frames(capture_stream *stream, const uint8_t *bytes, size_t size) {
    const size_t whole = whole_frames(bytes, size);
    if (whole == SIZE_MAX) {
        sb_error error = {0};
        sb_error_set(&error, SB_ERR_FORMAT, "a frame of %u bytes, where 1 to %d are possible",
                     sb_wire_block_size(bytes), SB_WIRE_BLOCK_MAX);
        end_stream(stream, CAPTURE_STREAM_MALFORMED, &error);
        return SIZE_MAX;
    }
    if (whole == 0)
        return 0;
    if (!keep_frames(stream, (sb_slice){(const char *)bytes, whole}))
        return SIZE_MAX;
    for (size_t at = 0; at < whole;) {
        const size_t block = sb_wire_block_size(bytes + at);
        if (!unpack_frame(stream, (sb_slice){(const char *)bytes + at + LENGTH_SIZE, block}))
            return SIZE_MAX;
        at += LENGTH_SIZE + block;
    }
    return whole;
}

static bool is_stopping(capture_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    const bool stops = stream->is_stopping;
    pthread_mutex_unlock(&stream->lock);
    return stops;
}

static void end_of_input(capture_stream *stream, ssize_t got, size_t left) {
    sb_error error = {0};
    if (got < 0) {
        sb_error_set(&error, SB_ERR_IO, "the connection was lost: %s", strerror(errno));
        end_stream(stream, CAPTURE_STREAM_LOST, &error);
    } else if (left > 0) {
        sb_error_set(&error, SB_ERR_IO, "the connection was closed in the middle of a frame");
        end_stream(stream, CAPTURE_STREAM_LOST, &error);
    } else {
        end_stream(stream, CAPTURE_STREAM_CLOSED, NULL);
    }
}

static void *read_stream(void *context) {
    capture_stream *stream = context;
    uint8_t *input = sb_alloc(INPUT_SIZE);
    size_t used = 0;
    while (!is_stopping(stream)) {
        const ssize_t got =
            sb_socket_read_some(stream->socket, input + used, INPUT_SIZE - used, POLL_MS);
        if (got < 0 && errno == ETIMEDOUT)
            continue;
        if (got <= 0) {
            end_of_input(stream, got, used);
            break;
        }
        used += (size_t)got;
        const size_t taken = take_frames(stream, input, used);
        if (taken == SIZE_MAX)
            break;
        used -= taken;
        memmove(input, input + taken, used);
    }
    end_stream(stream, CAPTURE_STREAM_STOPPED, NULL);
    free(input);
    return NULL;
}

/* ---- the session's side ---- */

void capture_stream_start(capture_stream *stream, int socket, sb_journal_writer *journal,
                          pthread_mutex_t *journal_lock) {
    *stream = (capture_stream){.socket = socket, .journal = journal, .journal_lock = journal_lock};
    stream->ring = sb_alloc(RING_SIZE);
    stream->unpacker = sb_wire_unpacker_create();
    pthread_mutex_init(&stream->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&stream->changed, &clock);
    pthread_condattr_destroy(&clock);
    if (stream->unpacker == NULL || pthread_create(&stream->thread, NULL, read_stream, stream) != 0)
        abort(); /* without memory or threads a command can do nothing */
}

bool capture_stream_next(capture_stream *stream, sb_slice *frame, int timeout_ms) {
    const int64_t deadline = sb_clock_ns() + (int64_t)timeout_ms * NS_PER_MS;
    const int64_t ns_per_second = 1000000000;
    const struct timespec until = {.tv_sec = deadline / ns_per_second,
                                   .tv_nsec = deadline % ns_per_second};
    pthread_mutex_lock(&stream->lock);
    int waited = 0;
    while (stream->taken == stream->queued && stream->end == CAPTURE_STREAM_RUNS && waited == 0)
        waited = pthread_cond_timedwait(&stream->changed, &stream->lock, &until);
    const bool has_frame = stream->taken < stream->queued;
    if (has_frame) {
        const capture_frame *next = &stream->queue[stream->taken % CAPTURE_QUEUE];
        *frame = (sb_slice){(const char *)stream->ring + next->position % RING_SIZE, next->size};
    }
    pthread_mutex_unlock(&stream->lock);
    return has_frame;
}

void capture_stream_give_back(capture_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    stream->taken++;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}

capture_stream_end capture_stream_ended(capture_stream *stream, sb_error *error) {
    pthread_mutex_lock(&stream->lock);
    const capture_stream_end end =
        stream->taken < stream->queued ? CAPTURE_STREAM_RUNS : stream->end;
    *error = stream->error;
    pthread_mutex_unlock(&stream->lock);
    return end;
}

void capture_stream_counts(capture_stream *stream, uint64_t *wire_bytes, uint64_t *stream_bytes,
                           size_t *waiting) {
    pthread_mutex_lock(&stream->lock);
    *wire_bytes = stream->wire_bytes;
    *stream_bytes = stream->stream_bytes;
    *waiting = (size_t)(stream->queued - stream->taken);
    pthread_mutex_unlock(&stream->lock);
}

void capture_stream_stop(capture_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    stream->is_stopping = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    pthread_join(stream->thread, NULL);
    pthread_mutex_destroy(&stream->lock);
    pthread_cond_destroy(&stream->changed);
    sb_wire_unpacker_free(stream->unpacker);
    free(stream->ring);
}
