#include "trace/trace_pack.h"

#include <assert.h>
#include <lz4.h>
#include <lz4hc.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

enum {
    STREAMS_MAX = 4,      /* as many as Tracy's own recorder writes */
    SLOTS = 16,           /* chunks between the writer and the last block that was written */
    LZ4_HC_LEVEL_MIN = 3, /* below, the fast encoder is used */
    ZSTD_LEVEL_USUAL = 3,
    ZSTD_LEVEL_HUGE = 20, /* from here on an encoder takes hundreds of megabytes */
};

/* The encoder of one stream: exactly one of the three exists. */
typedef struct stream {
    LZ4_stream_t *lz4; /* keeps no history, see pack_lz4 */
    LZ4_streamHC_t *lz4_hc;
    ZSTD_CCtx *zstd;
} stream;

/* A chunk on its way: filled by the writer, then compressed by a worker, then written. */
typedef struct slot {
    uint8_t *chunk;
    size_t size;
    char *block;
    size_t packed;
    bool is_packed;
} slot;

typedef struct worker {
    struct trace_encoder *encoder;
    unsigned number;
    pthread_t thread;
} worker;

/*
 * Chunk i belongs to stream i modulo the streams and stands in slot i modulo SLOTS. Its encoder
 * refers back to the chunk before it in the stream, so a slot is filled again only when the next
 * chunk of its stream is packed too.
 */
struct trace_encoder {
    sb_output *output;
    uint8_t *memory; /* of all chunks and blocks */
    size_t block_capacity;
    stream streams[STREAMS_MAX];
    unsigned stream_count;
    slot slots[SLOTS];
    uint64_t written; /* chunks whose blocks are in the output; the writer's own */
    worker workers[STREAMS_MAX];
    unsigned worker_count; /* 0: the writer packs */
    pthread_mutex_t lock;
    pthread_cond_t filled_more;
    pthread_cond_t packed_more;
    uint64_t filled; /* chunks that may be packed */
    bool is_ending;
};

/* ---- encoders ---- */

/* An encoder that the library could not make is a lack of memory, which ends a command. */
static void *must_exist(void *made) {
    return made != NULL ? made : sb_alloc(SIZE_MAX / 2);
}

/*
 * The usual level, fitted to what a body is: nearly all of it are zones, whose short numbers stand
 * between zeroes. Matches below seven bytes are those zeroes and do not pay; a smaller window and
 * table keep more of several streams in a core's caches. The files are no larger than with the
 * level's own parameters, and take two thirds of the time.
 */
static void tune_usual_level(ZSTD_CCtx *zstd) {
    static const struct {
        ZSTD_cParameter parameter;
        int value;
    } tuned[] = {{ZSTD_c_strategy, ZSTD_dfast},
                 {ZSTD_c_minMatch, 7},
                 {ZSTD_c_windowLog, 17},
                 {ZSTD_c_hashLog, 18},
                 {ZSTD_c_chainLog, 13}};
    for (size_t i = 0; i < sizeof tuned / sizeof tuned[0]; i++)
        ZSTD_CCtx_setParameter(zstd, tuned[i].parameter, tuned[i].value);
}

static ZSTD_CCtx *open_zstd(int level) {
    ZSTD_CCtx *zstd = must_exist(ZSTD_createCCtx());
    const int used = level == 0 ? ZSTD_LEVEL_USUAL : level;
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, used);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, 0);
    if (used == ZSTD_LEVEL_USUAL)
        tune_usual_level(zstd);
    return zstd;
}

static void open_stream(stream *made, trace_compression compression, int level) {
    if (compression == TRACE_ZSTD) {
        made->zstd = open_zstd(level);
    } else if (level < LZ4_HC_LEVEL_MIN) {
        made->lz4 = must_exist(LZ4_createStream());
    } else {
        made->lz4_hc = must_exist(LZ4_createStreamHC());
        LZ4_resetStreamHC_fast(made->lz4_hc, level);
    }
}

static void close_stream(const stream *made) {
    LZ4_freeStream(made->lz4);
    LZ4_freeStreamHC(made->lz4_hc);
    ZSTD_freeCCtx(made->zstd);
}

static size_t pack_zstd(const stream *history, const slot *from, size_t capacity) {
    ZSTD_inBuffer input = {from->chunk, from->size, 0};
    ZSTD_outBuffer block = {from->block, capacity, 0};
    const size_t left = ZSTD_compressStream2(history->zstd, &block, &input, ZSTD_e_flush);
    assert(left == 0); /* the block has room for the worst case */
    assert(input.pos == from->size);
    (void)left;
    return block.pos;
}

/*
 * The fast encoder takes each chunk by itself, which it does in two thirds of the time it takes
 * with what came before (realistic zones; the files are 7 % larger). Who chose a level chose the
 * size.
 */
static size_t pack_lz4(const stream *history, const slot *from, size_t capacity) {
    const char *source = (const char *)from->chunk;
    const int size = (int)from->size;
    const int packed =
        history->lz4 != NULL
            ? LZ4_compress_fast_extState(history->lz4, source, from->block, size, (int)capacity, 1)
            : LZ4_compress_HC_continue(history->lz4_hc, source, from->block, size, (int)capacity);
    assert(packed > 0);
    return (size_t)packed;
}

static void pack_chunk(struct trace_encoder *encoder, uint64_t chunk) {
    const stream *history = &encoder->streams[chunk % encoder->stream_count];
    slot *at = &encoder->slots[chunk % SLOTS];
    at->packed = history->zstd != NULL ? pack_zstd(history, at, encoder->block_capacity)
                                       : pack_lz4(history, at, encoder->block_capacity);
}

/* ---- workers ---- */

/* Packs the chunks of its streams, in order, until there are no more. */
static void *work(void *context) {
    const worker *self = context;
    struct trace_encoder *encoder = self->encoder;
    pthread_mutex_lock(&encoder->lock);
    for (uint64_t chunk = 0;; chunk++) {
        if (chunk % encoder->stream_count % encoder->worker_count != self->number)
            continue;
        while (chunk >= encoder->filled && !encoder->is_ending)
            pthread_cond_wait(&encoder->filled_more, &encoder->lock);
        if (chunk >= encoder->filled)
            break;
        pthread_mutex_unlock(&encoder->lock);
        pack_chunk(encoder, chunk);
        pthread_mutex_lock(&encoder->lock);
        encoder->slots[chunk % SLOTS].is_packed = true;
        pthread_cond_signal(&encoder->packed_more);
    }
    pthread_mutex_unlock(&encoder->lock);
    return NULL;
}

/*
 * As many workers as there are processors; the streams are dealt out to them before they begin. A
 * body of one chunk has none.
 */
static void start_workers(struct trace_encoder *encoder) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned wanted = encoder->stream_count;
    if (processors > 0 && (unsigned long)processors < wanted)
        wanted = (unsigned)processors;
    pthread_mutex_lock(&encoder->lock);
    for (unsigned i = 0; i < wanted; i++) {
        worker *started = &encoder->workers[encoder->worker_count];
        *started = (worker){.encoder = encoder, .number = encoder->worker_count};
        if (pthread_create(&started->thread, NULL, work, started) == 0)
            encoder->worker_count++;
    }
    pthread_mutex_unlock(&encoder->lock);
}

static void stop_workers(struct trace_encoder *encoder) {
    pthread_mutex_lock(&encoder->lock);
    encoder->is_ending = true;
    pthread_cond_broadcast(&encoder->filled_more);
    pthread_mutex_unlock(&encoder->lock);
    for (unsigned i = 0; i < encoder->worker_count; i++)
        pthread_join(encoder->workers[i].thread, NULL);
    pthread_mutex_destroy(&encoder->lock);
    pthread_cond_destroy(&encoder->filled_more);
    pthread_cond_destroy(&encoder->packed_more);
}

/* ---- the writer's side ---- */

static void write_block(struct trace_encoder *encoder) {
    slot *at = &encoder->slots[encoder->written++ % SLOTS];
    uint8_t length[4];
    store_le(length, at->packed, sizeof length);
    sb_put(encoder->output, (sb_slice){(const char *)length, sizeof length});
    sb_put(encoder->output, (sb_slice){at->block, at->packed});
    at->is_packed = false;
}

/* Writes the blocks that are ready, and waits for those of the chunks before `needed`. */
static void write_blocks(struct trace_encoder *encoder, uint64_t needed) {
    pthread_mutex_lock(&encoder->lock);
    while (encoder->written < encoder->filled) {
        while (!encoder->slots[encoder->written % SLOTS].is_packed && encoder->written < needed)
            pthread_cond_wait(&encoder->packed_more, &encoder->lock);
        if (!encoder->slots[encoder->written % SLOTS].is_packed)
            break;
        pthread_mutex_unlock(&encoder->lock);
        write_block(encoder);
        pthread_mutex_lock(&encoder->lock);
    }
    pthread_mutex_unlock(&encoder->lock);
}

static void begin_chunk(trace_packer *packer) {
    const struct trace_encoder *encoder = packer->encoder;
    packer->at = encoder->slots[encoder->filled % SLOTS].chunk;
    packer->end = packer->at + TRACE_CHUNK_SIZE;
}

void trace_pack_next_chunk(trace_packer *packer) {
    struct trace_encoder *encoder = packer->encoder;
    slot *at = &encoder->slots[encoder->filled % SLOTS];
    at->size = (size_t)(packer->at - at->chunk);
    if (at->size == 0)
        return;
    packer->body_bytes += at->size;
    if (encoder->filled == 0 && at->size == TRACE_CHUNK_SIZE)
        start_workers(encoder);
    if (encoder->worker_count == 0) {
        pack_chunk(encoder, encoder->filled);
        at->is_packed = true;
    }
    pthread_mutex_lock(&encoder->lock);
    encoder->filled++;
    pthread_cond_broadcast(&encoder->filled_more);
    pthread_mutex_unlock(&encoder->lock);
    const uint64_t kept = SLOTS - encoder->stream_count - 1;
    write_blocks(encoder, encoder->filled > kept ? encoder->filled - kept : 0);
    begin_chunk(packer);
}

/* Readers of 0.10 know the older headers only, which have one stream. */
static void write_header(const struct trace_encoder *encoder, trace_compression compression) {
    if (encoder->stream_count == 1) {
        sb_put_text(encoder->output, compression == TRACE_LZ4 ? "tlZ\x04" : "tZst");
        return;
    }
    sb_put_text(encoder->output, "tr\xfdP");
    sb_put_char(encoder->output, compression == TRACE_LZ4 ? 0 : 1);
    sb_put_char(encoder->output, (char)encoder->stream_count);
}

static void allocate_slots(struct trace_encoder *encoder, trace_compression compression) {
    encoder->block_capacity = compression == TRACE_LZ4 ? (size_t)LZ4_compressBound(TRACE_CHUNK_SIZE)
                                                       : ZSTD_compressBound(TRACE_CHUNK_SIZE);
    const size_t slot_size = TRACE_CHUNK_SIZE + encoder->block_capacity;
    encoder->memory = sb_alloc(SLOTS * slot_size);
    for (unsigned i = 0; i < SLOTS; i++) {
        encoder->slots[i].chunk = encoder->memory + i * slot_size;
        encoder->slots[i].block = (char *)encoder->slots[i].chunk + TRACE_CHUNK_SIZE;
    }
}

void trace_pack_begin(trace_packer *packer, const trace_packing *packing, sb_output *output) {
    struct trace_encoder *encoder = sb_alloc_zeroed(1, sizeof *encoder);
    const bool is_huge = packing->compression == TRACE_ZSTD && packing->level >= ZSTD_LEVEL_HUGE;
    encoder->output = output;
    encoder->stream_count = packing->one_stream || is_huge ? 1 : STREAMS_MAX;
    allocate_slots(encoder, packing->compression);
    for (unsigned i = 0; i < encoder->stream_count; i++)
        open_stream(&encoder->streams[i], packing->compression, packing->level);
    write_header(encoder, packing->compression);
    pthread_mutex_init(&encoder->lock, NULL);
    pthread_cond_init(&encoder->filled_more, NULL);
    pthread_cond_init(&encoder->packed_more, NULL);
    *packer = (trace_packer){.encoder = encoder};
    begin_chunk(packer);
}

void trace_pack_bytes(trace_packer *packer, const void *bytes, size_t size) {
    const uint8_t *from = bytes;
    while (size > 0) {
        if (packer->at == packer->end)
            trace_pack_next_chunk(packer);
        const size_t room = (size_t)(packer->end - packer->at);
        const size_t part = size < room ? size : room;
        memcpy(packer->at, from, part);
        packer->at += part;
        from += part;
        size -= part;
    }
}

void trace_pack_zeroes(trace_packer *packer, size_t size) {
    static const uint8_t zeroes[64];
    for (; size > sizeof zeroes; size -= sizeof zeroes)
        trace_pack_bytes(packer, zeroes, sizeof zeroes);
    trace_pack_bytes(packer, zeroes, size);
}

uint64_t trace_pack_end(trace_packer *packer) {
    struct trace_encoder *encoder = packer->encoder;
    trace_pack_next_chunk(packer);
    write_blocks(encoder, encoder->filled);
    /* Readers of version 0.10 look for the size of one more block before they know the end. */
    if (encoder->stream_count == 1)
        sb_put_fill(encoder->output, '\0', 4);
    stop_workers(encoder);
    for (unsigned i = 0; i < encoder->stream_count; i++)
        close_stream(&encoder->streams[i]);
    free(encoder->memory);
    free(encoder);
    packer->encoder = NULL;
    return packer->body_bytes;
}
