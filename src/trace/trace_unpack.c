#include "trace/trace_unpack.h"

#include <assert.h>
#include <lz4.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/trace_bytes.h"
#include "trace/trace_file.h"

enum {
    THREADS_MAX = 16,
    AHEAD = 32,           /* chunks decoded ahead of the reader, at least */
    WINDOW_BITS_MAX = 27, /* what the strongest levels of Zstandard use */
    LZ4_BLOCK_MAX = TRACE_CHUNK_SIZE + 257 + 16,
    ZSTD_BLOCK_MAX = 1 << 20, /* far above what a chunk can need */
};

typedef struct block {
    size_t offset; /* of its bytes in the file */
    uint32_t size;
} block;

typedef struct slot {
    uint8_t *bytes;
    size_t size;
    uint64_t decoded; /* number of the chunk it holds + 1 */
    bool failed;
} slot;

/* The history of one stream. */
typedef struct decoder {
    ZSTD_DCtx *zstd; /* made on first use */
} decoder;

typedef struct worker {
    trace_unpacker *unpacker;
    unsigned number;
    pthread_t thread;
} worker;

struct trace_unpacker {
    sb_slice text;
    trace_compression compression;
    unsigned stream_count;
    sb_vector blocks; /* block */
    bool cut;         /* the file ends inside a block */
    size_t cut_offset;
    decoder *decoders; /* by stream */
    slot *slots;
    uint64_t slot_count;
    uint8_t *memory; /* of all slots; those of a stream are side by side */
    uint64_t taken;  /* chunks that the reader has asked for */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t released; /* chunks that the reader no longer needs */
    bool stopping;
    worker workers[THREADS_MAX];
    unsigned worker_count; /* 0: the reader decodes */
};

/* ---- header and blocks ---- */

static const char lz4_magic[] = "tlZ\x04";
static const char zstd_magic[] = "tZst";
static const char streams_magic[] = "tr\xfdP"; /* then compression and number of streams */

bool sb_trace_is_file(sb_slice bytes) {
    return sb_slice_starts_with(bytes, lz4_magic) || sb_slice_starts_with(bytes, zstd_magic) ||
           (bytes.size >= 6 && sb_slice_starts_with(bytes, streams_magic));
}

static sb_status read_header(trace_unpacker *unpacker, size_t *offset, sb_error *error) {
    const sb_slice text = unpacker->text;
    *offset = 4;
    unpacker->stream_count = 1;
    if (sb_slice_starts_with(text, lz4_magic)) {
        unpacker->compression = TRACE_LZ4;
        return SB_OK;
    }
    if (sb_slice_starts_with(text, zstd_magic)) {
        unpacker->compression = TRACE_ZSTD;
        return SB_OK;
    }
    if (!sb_trace_is_file(text))
        SB_FAIL(error, SB_ERR_FORMAT, "not a .tracy file: it does not begin like one");
    const uint8_t *fields = (const uint8_t *)text.data + 4;
    *offset = 6;
    if (fields[0] > 1 || fields[1] == 0)
        SB_FAIL(error, SB_ERR_FORMAT,
                "container header: compression %u with %u streams is not known", fields[0],
                fields[1]);
    unpacker->compression = fields[0] == 0 ? TRACE_LZ4 : TRACE_ZSTD;
    unpacker->stream_count = fields[1];
    return SB_OK;
}

/* Finds the blocks, up to the first that the file does not hold whole or that is empty. */
static void find_blocks(trace_unpacker *unpacker, size_t offset) {
    const sb_slice text = unpacker->text;
    const size_t largest = unpacker->compression == TRACE_LZ4 ? LZ4_BLOCK_MAX : ZSTD_BLOCK_MAX;
    while (offset < text.size) {
        const size_t left = text.size - offset;
        const size_t size = left >= 4 ? load_le32((const uint8_t *)text.data + offset) : SIZE_MAX;
        if (size == 0)
            return;
        if (left < 4 || size > largest || size > left - 4) {
            unpacker->cut = true;
            unpacker->cut_offset = offset;
            return;
        }
        block *found = sb_vector_push(&unpacker->blocks);
        *found = (block){offset + 4, (uint32_t)size};
        offset += 4 + size;
    }
}

/* ---- decoding ---- */

static bool decode_lz4(const trace_unpacker *unpacker, uint64_t chunk, const block *from,
                       slot *into) {
    const char *source = unpacker->text.data + from->offset;
    const unsigned streams = unpacker->stream_count;
    int size = -1;
    if (chunk >= streams) {
        const slot *before = &unpacker->slots[(chunk - streams) % unpacker->slot_count];
        size = LZ4_decompress_safe_usingDict(source, (char *)into->bytes, (int)from->size,
                                             TRACE_CHUNK_SIZE, (const char *)before->bytes,
                                             (int)before->size);
    } else {
        size = LZ4_decompress_safe(source, (char *)into->bytes, (int)from->size, TRACE_CHUNK_SIZE);
    }
    into->size = size < 0 ? 0 : (size_t)size;
    return size >= 0;
}

static bool decode_zstd(trace_unpacker *unpacker, uint64_t chunk, const block *from, slot *into) {
    decoder *stream = &unpacker->decoders[chunk % unpacker->stream_count];
    if (stream->zstd == NULL) {
        stream->zstd = ZSTD_createDCtx();
        if (stream->zstd == NULL)
            return false;
        ZSTD_DCtx_setParameter(stream->zstd, ZSTD_d_windowLogMax, WINDOW_BITS_MAX);
    }
    ZSTD_inBuffer input = {unpacker->text.data + from->offset, from->size, 0};
    ZSTD_outBuffer output = {into->bytes, TRACE_CHUNK_SIZE, 0};
    while (input.pos < input.size && output.pos < output.size) {
        if (ZSTD_isError(ZSTD_decompressStream(stream->zstd, &output, &input)))
            return false;
    }
    /* What the decoder still holds back of a full chunk. */
    if (output.pos < output.size &&
        ZSTD_isError(ZSTD_decompressStream(stream->zstd, &output, &input)))
        return false;
    into->size = output.pos;
    return true;
}

/* Decodes one chunk into its slot. A chunk after a failed one of its stream fails too. */
static void decode_chunk(trace_unpacker *unpacker, uint64_t chunk) {
    assert(unpacker->slots != NULL);
    assert(unpacker->decoders != NULL);
    slot *into = &unpacker->slots[chunk % unpacker->slot_count];
    const block *from = sb_vector_at(&unpacker->blocks, chunk);
    const bool follows = chunk >= unpacker->stream_count;
    const slot *before =
        follows ? &unpacker->slots[(chunk - unpacker->stream_count) % unpacker->slot_count] : NULL;
    bool decoded = before == NULL || !before->failed;
    if (decoded && unpacker->compression == TRACE_LZ4)
        decoded = decode_lz4(unpacker, chunk, from, into);
    else if (decoded)
        decoded = decode_zstd(unpacker, chunk, from, into);
    const bool last = chunk + 1 == unpacker->blocks.count;
    into->failed = !decoded || into->size == 0 || (!last && into->size < TRACE_CHUNK_SIZE);
}

/* ---- threads ---- */

static void *run_worker(void *argument) {
    const worker *self = argument;
    trace_unpacker *unpacker = self->unpacker;
    for (uint64_t chunk = 0; chunk < unpacker->blocks.count; chunk++) {
        if (chunk % unpacker->stream_count % unpacker->worker_count != self->number)
            continue;
        pthread_mutex_lock(&unpacker->lock);
        while (!unpacker->stopping && chunk >= unpacker->released + unpacker->slot_count)
            pthread_cond_wait(&unpacker->changed, &unpacker->lock);
        const bool stopping = unpacker->stopping;
        pthread_mutex_unlock(&unpacker->lock);
        if (stopping)
            return NULL;
        decode_chunk(unpacker, chunk);
        pthread_mutex_lock(&unpacker->lock);
        unpacker->slots[chunk % unpacker->slot_count].decoded = chunk + 1;
        pthread_cond_broadcast(&unpacker->changed);
        pthread_mutex_unlock(&unpacker->lock);
    }
    return NULL;
}

static unsigned choose_threads(const trace_unpacker *unpacker, unsigned wanted) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = wanted > 0 ? wanted : online > 0 ? (unsigned)online : 1;
    if (threads < 2 || unpacker->blocks.count < 2)
        return 0;
    if (threads > unpacker->stream_count)
        threads = unpacker->stream_count;
    return threads > THREADS_MAX ? THREADS_MAX : threads;
}

static void start_workers(trace_unpacker *unpacker, unsigned threads) {
    const unsigned wanted = choose_threads(unpacker, threads);
    /* Each worker needs the number of workers to know its share, so it is set before they run, and
     * the share of one that cannot be started would be missing: then the reader decodes alone. */
    unpacker->worker_count = wanted;
    for (unsigned i = 0; i < wanted; i++) {
        unpacker->workers[i] = (worker){.unpacker = unpacker, .number = i};
        if (pthread_create(&unpacker->workers[i].thread, NULL, run_worker, &unpacker->workers[i]) ==
            0)
            continue;
        pthread_mutex_lock(&unpacker->lock);
        unpacker->stopping = true;
        pthread_cond_broadcast(&unpacker->changed);
        pthread_mutex_unlock(&unpacker->lock);
        for (unsigned k = 0; k < i; k++)
            pthread_join(unpacker->workers[k].thread, NULL);
        for (uint64_t k = 0; k < unpacker->slot_count; k++)
            unpacker->slots[k].decoded = 0;
        unpacker->worker_count = 0;
        return;
    }
}

/* ---- for the reader ---- */

/* A chunk that follows its predecessor in memory is decoded without looking where to copy from. */
static void place_slots(trace_unpacker *unpacker, uint64_t rounds) {
    const unsigned streams = unpacker->stream_count;
    const uint64_t blocks = unpacker->blocks.count;
    const uint64_t used_streams = blocks < streams ? blocks : streams;
    const uint64_t used = blocks < unpacker->slot_count ? blocks : unpacker->slot_count;
    unpacker->memory = sb_alloc(used_streams * rounds * TRACE_CHUNK_SIZE);
    for (uint64_t i = 0; i < used; i++) {
        const uint64_t place = i % streams * rounds + i / streams;
        unpacker->slots[i].bytes = unpacker->memory + place * TRACE_CHUNK_SIZE;
    }
}

sb_status trace_unpack_begin(trace_unpacker **unpacker, sb_slice text, unsigned threads,
                             sb_error *error) {
    trace_unpacker *made = sb_alloc_zeroed(1, sizeof *made);
    *unpacker = made;
    made->text = text;
    made->blocks = sb_vector_of(sizeof(block));
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    size_t offset = 0;
    const sb_status status = read_header(made, &offset, error);
    if (status != SB_OK) {
        trace_unpack_end(made);
        *unpacker = NULL;
        return status;
    }
    find_blocks(made, offset);
    const unsigned streams = made->stream_count;
    made->decoders = sb_alloc_zeroed(streams, sizeof *made->decoders);
    /* A file that is shorter than the ring needs no more than one way around it. */
    const uint64_t ahead = AHEAD / streams < 2 ? 2 : AHEAD / streams;
    const uint64_t whole = (made->blocks.count + streams - 1) / streams;
    const uint64_t rounds = whole == 0 ? 1 : whole < ahead ? whole : ahead;
    made->slot_count = rounds * streams;
    made->slots = sb_alloc_zeroed(made->slot_count, sizeof *made->slots);
    place_slots(made, rounds);
    start_workers(made, threads);
    return SB_OK;
}

trace_compression trace_unpack_compression(const trace_unpacker *unpacker) {
    return unpacker->compression;
}

unsigned trace_unpack_streams(const trace_unpacker *unpacker) {
    return unpacker->stream_count;
}

uint64_t trace_unpack_chunks(const trace_unpacker *unpacker) {
    return unpacker->blocks.count;
}

/* Gives back the chunks before the one the reader wants, and waits for that. */
static void await_chunk(trace_unpacker *unpacker, uint64_t chunk) {
    const slot *wanted = &unpacker->slots[chunk % unpacker->slot_count];
    pthread_mutex_lock(&unpacker->lock);
    unpacker->released = chunk;
    pthread_cond_broadcast(&unpacker->changed);
    while (wanted->decoded != chunk + 1)
        pthread_cond_wait(&unpacker->changed, &unpacker->lock);
    pthread_mutex_unlock(&unpacker->lock);
}

sb_status trace_unpack_next(trace_unpacker *unpacker, sb_slice *chunk, sb_error *error) {
    const uint64_t number = unpacker->taken;
    *chunk = (sb_slice){"", 0};
    if (number >= unpacker->blocks.count) {
        if (unpacker->cut)
            SB_FAIL(error, SB_ERR_FORMAT, "the file ends inside block %llu at byte %zu",
                    (unsigned long long)number, unpacker->cut_offset);
        return SB_OK;
    }
    if (unpacker->worker_count > 0)
        await_chunk(unpacker, number);
    else
        decode_chunk(unpacker, number);
    const slot *taken = &unpacker->slots[number % unpacker->slot_count];
    if (taken->failed)
        SB_FAIL(error, SB_ERR_FORMAT, "block %llu at byte %zu of the file cannot be decoded",
                (unsigned long long)number,
                ((const block *)sb_vector_at(&unpacker->blocks, number))->offset);
    unpacker->taken = number + 1;
    *chunk = (sb_slice){(const char *)taken->bytes, taken->size};
    return SB_OK;
}

size_t trace_unpack_passed(const trace_unpacker *unpacker) {
    if (unpacker->taken == 0)
        return 0;
    const block *last = sb_vector_at(&unpacker->blocks, unpacker->taken - 1);
    return last->offset + last->size;
}

void trace_unpack_end(trace_unpacker *unpacker) {
    if (unpacker == NULL)
        return;
    pthread_mutex_lock(&unpacker->lock);
    unpacker->stopping = true;
    pthread_cond_broadcast(&unpacker->changed);
    pthread_mutex_unlock(&unpacker->lock);
    for (unsigned i = 0; i < unpacker->worker_count; i++)
        pthread_join(unpacker->workers[i].thread, NULL);
    pthread_mutex_destroy(&unpacker->lock);
    pthread_cond_destroy(&unpacker->changed);
    free(unpacker->memory);
    for (unsigned i = 0; unpacker->decoders != NULL && i < unpacker->stream_count; i++)
        ZSTD_freeDCtx(unpacker->decoders[i].zstd);
    free(unpacker->decoders);
    free(unpacker->slots);
    sb_vector_free(&unpacker->blocks);
    free(unpacker);
}
