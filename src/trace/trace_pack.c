#include "trace/trace_pack.h"

#include <assert.h>
#include <lz4.h>
#include <lz4hc.h>
#include <stdlib.h>
#include <zstd.h>

enum {
    LZ4_HC_LEVEL_MIN = 3, /* below, the fast encoder is used */
    ZSTD_LEVEL_USUAL = 3,
};

/*
 * Two chunks take turns, because an encoder refers back to the one before. Each is compressed as a
 * block that continues its stream.
 */
typedef struct trace_encoder {
    uint8_t *chunks[2];
    unsigned current;
    char *block;
    size_t block_capacity;
    LZ4_stream_t *lz4; /* exactly one of the three exists */
    LZ4_streamHC_t *lz4_hc;
    ZSTD_CCtx *zstd;
    sb_output *output;
} trace_encoder;

/* An encoder that the library could not make is a lack of memory, which ends a command. */
static void *must_exist(void *made) {
    return made != NULL ? made : sb_alloc(SIZE_MAX / 2);
}

void trace_pack_begin(trace_packer *packer, trace_compression compression, int level,
                      sb_output *output) {
    trace_encoder *encoder = sb_alloc_zeroed(1, sizeof *encoder);
    encoder->output = output;
    encoder->chunks[0] = sb_alloc((size_t)2 * TRACE_CHUNK_SIZE);
    encoder->chunks[1] = encoder->chunks[0] + TRACE_CHUNK_SIZE;
    encoder->block_capacity = ZSTD_compressBound(TRACE_CHUNK_SIZE);
    if (compression == TRACE_LZ4)
        encoder->block_capacity = (size_t)LZ4_compressBound(TRACE_CHUNK_SIZE);
    encoder->block = sb_alloc(encoder->block_capacity);
    if (compression == TRACE_ZSTD) {
        encoder->zstd = must_exist(ZSTD_createCCtx());
        ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_compressionLevel,
                               level == 0 ? ZSTD_LEVEL_USUAL : level);
        ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_contentSizeFlag, 0);
    } else if (level < LZ4_HC_LEVEL_MIN) {
        encoder->lz4 = must_exist(LZ4_createStream());
    } else {
        encoder->lz4_hc = must_exist(LZ4_createStreamHC());
        LZ4_resetStreamHC_fast(encoder->lz4_hc, level);
    }
    *packer = (trace_packer){
        .at = encoder->chunks[0], .end = encoder->chunks[0] + TRACE_CHUNK_SIZE, .encoder = encoder};
    sb_put_text(output, compression == TRACE_LZ4 ? "tlZ\x04" : "tZst");
}

static size_t encode_zstd(const trace_encoder *encoder, const uint8_t *chunk, size_t size) {
    ZSTD_inBuffer input = {chunk, size, 0};
    ZSTD_outBuffer block = {encoder->block, encoder->block_capacity, 0};
    const size_t left = ZSTD_compressStream2(encoder->zstd, &block, &input, ZSTD_e_flush);
    assert(left == 0); /* the block has room for the worst case */
    assert(input.pos == size);
    (void)left;
    return block.pos;
}

static size_t encode(const trace_encoder *encoder, const uint8_t *chunk, size_t size) {
    const char *source = (const char *)chunk;
    const int capacity = (int)encoder->block_capacity;
    int packed = 0;
    if (encoder->zstd != NULL)
        return encode_zstd(encoder, chunk, size);
    if (encoder->lz4 != NULL)
        packed = LZ4_compress_fast_continue(encoder->lz4, source, encoder->block, (int)size,
                                            capacity, 1);
    else
        packed =
            LZ4_compress_HC_continue(encoder->lz4_hc, source, encoder->block, (int)size, capacity);
    assert(packed > 0);
    return (size_t)packed;
}

void trace_pack_next_chunk(trace_packer *packer) {
    trace_encoder *encoder = packer->encoder;
    const uint8_t *chunk = encoder->chunks[encoder->current];
    const size_t size = (size_t)(packer->at - chunk);
    if (size == 0)
        return;
    const size_t packed = encode(encoder, chunk, size);
    uint8_t length[4];
    store_le(length, packed, sizeof length);
    sb_put(encoder->output, (sb_slice){(const char *)length, sizeof length});
    sb_put(encoder->output, (sb_slice){encoder->block, packed});
    packer->body_bytes += size;
    encoder->current ^= 1;
    packer->at = encoder->chunks[encoder->current];
    packer->end = packer->at + TRACE_CHUNK_SIZE;
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
    trace_encoder *encoder = packer->encoder;
    trace_pack_next_chunk(packer);
    /* Readers of version 0.10 look for the size of one more block before they know the end. */
    sb_put_fill(encoder->output, '\0', 4);
    LZ4_freeStream(encoder->lz4);
    LZ4_freeStreamHC(encoder->lz4_hc);
    ZSTD_freeCCtx(encoder->zstd);
    free(encoder->chunks[0]);
    free(encoder->block);
    free(encoder);
    packer->encoder = NULL;
    return packer->body_bytes;
}
