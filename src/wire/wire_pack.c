#include "wire/wire_pack.h"

#include <assert.h>
#include <lz4.h>
#include <stdlib.h>

#include "wire/wire_tables.h"

/* ---- unpacking ---- */

/* Room for a frame behind each position up to here, with the history before it untouched. */
enum { RING_SIZE = 3 * SB_WIRE_FRAME_MAX, WRAP_AT = 2 * SB_WIRE_FRAME_MAX };

struct sb_wire_unpacker {
    LZ4_streamDecode_t *stream;
    size_t position;
    uint8_t ring[RING_SIZE];
};

sb_wire_unpacker *sb_wire_unpacker_create(void) {
    sb_wire_unpacker *unpacker = malloc(sizeof *unpacker);
    if (unpacker == NULL)
        return NULL;
    unpacker->stream = LZ4_createStreamDecode();
    unpacker->position = 0;
    if (unpacker->stream != NULL)
        return unpacker;
    free(unpacker);
    return NULL;
}

void sb_wire_unpacker_free(sb_wire_unpacker *unpacker) {
    if (unpacker == NULL)
        return;
    LZ4_freeStreamDecode(unpacker->stream);
    free(unpacker);
}

sb_status sb_wire_unpack_to(sb_wire_unpacker *unpacker, sb_slice block, uint8_t *to, size_t *size,
                            sb_error *error) {
    if (block.size == 0 || block.size > SB_WIRE_BLOCK_MAX)
        SB_FAIL(error, SB_ERR_FORMAT, "a frame of %zu bytes, where 1 to %d are possible",
                block.size, SB_WIRE_BLOCK_MAX);
    const int unpacked = LZ4_decompress_safe_continue(unpacker->stream, block.data, (char *)to,
                                                      (int)block.size, SB_WIRE_FRAME_MAX);
    if (unpacked <= 0)
        SB_FAIL(error, SB_ERR_FORMAT, "a frame of %zu bytes that does not unpack", block.size);
    *size = (size_t)unpacked;
    return SB_OK;
}

sb_status sb_wire_unpack(sb_wire_unpacker *unpacker, sb_slice block, sb_slice *frame,
                         sb_error *error) {
    uint8_t *to = unpacker->ring + unpacker->position;
    size_t size = 0;
    SB_TRY(sb_wire_unpack_to(unpacker, block, to, &size, error));
    *frame = (sb_slice){(const char *)to, size};
    unpacker->position += size;
    if (unpacker->position > WRAP_AT)
        unpacker->position = 0;
    return SB_OK;
}

/* ---- packing ---- */

struct sb_wire_packer {
    LZ4_stream_t *stream;
    size_t position;
    uint8_t ring[RING_SIZE];
};

sb_wire_packer *sb_wire_packer_create(void) {
    sb_wire_packer *packer = malloc(sizeof *packer);
    if (packer == NULL)
        return NULL;
    packer->stream = LZ4_createStream();
    packer->position = 0;
    if (packer->stream != NULL)
        return packer;
    free(packer);
    return NULL;
}

void sb_wire_packer_free(sb_wire_packer *packer) {
    if (packer == NULL)
        return;
    LZ4_freeStream(packer->stream);
    free(packer);
}

uint8_t *sb_wire_packer_room(sb_wire_packer *packer) {
    return packer->ring + packer->position;
}

size_t sb_wire_pack(sb_wire_packer *packer, size_t size, uint8_t packed[SB_WIRE_PACKED_MAX]) {
    enum { LENGTH_SIZE = 4 };
    assert(size > 0);
    assert(size <= SB_WIRE_FRAME_MAX);
    const int block =
        LZ4_compress_fast_continue(packer->stream, (const char *)packer->ring + packer->position,
                                   (char *)packed + LENGTH_SIZE, (int)size, SB_WIRE_BLOCK_MAX, 1);
    assert(block > 0); /* there is room for the worst case */
    wire_store(packed, (uint64_t)block, LENGTH_SIZE);
    packer->position += size;
    if (packer->position > WRAP_AT)
        packer->position = 0;
    return LENGTH_SIZE + (size_t)block;
}
