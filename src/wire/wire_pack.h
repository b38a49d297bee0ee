/*
 * Frames on the wire: a length of four bytes and an LZ4 block that may refer to the 64 KiB before.
 */
#ifndef SB_WIRE_PACK_H
#define SB_WIRE_PACK_H

#include "base/base.h"

enum {
    SB_WIRE_FRAME_MAX = 262144, /* unpacked */
    SB_WIRE_BLOCK_MAX = 263188, /* packed, without the length */
    SB_WIRE_PACKED_MAX = 4 + SB_WIRE_BLOCK_MAX,
    SB_WIRE_HISTORY = 65536, /* unpacked bytes that a block may refer to */
};

/* The length of the block that follows, from the four bytes in front of it. */
static inline uint32_t sb_wire_block_size(const uint8_t bytes[4]) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

typedef struct sb_wire_unpacker sb_wire_unpacker;

/* NULL without memory. */
sb_wire_unpacker *sb_wire_unpacker_create(void);
void sb_wire_unpacker_free(sb_wire_unpacker *unpacker);
/*
 * Unpacks one block (without its length) to `to`, which has room for SB_WIRE_FRAME_MAX bytes. The
 * SB_WIRE_HISTORY bytes unpacked last must still be where they were; unpacking right behind them is
 * quickest.
 */
sb_status sb_wire_unpack_to(sb_wire_unpacker *unpacker, sb_slice block, uint8_t *to, size_t *size,
                            sb_error *error);
/* The same into the unpacker's own memory; the frame is valid until the next call. */
sb_status sb_wire_unpack(sb_wire_unpacker *unpacker, sb_slice block, sb_slice *frame,
                         sb_error *error);

typedef struct sb_wire_packer sb_wire_packer;

/* NULL without memory. */
sb_wire_packer *sb_wire_packer_create(void);
void sb_wire_packer_free(sb_wire_packer *packer);
/* Where the next frame is to be written: room for SB_WIRE_FRAME_MAX bytes. */
uint8_t *sb_wire_packer_room(sb_wire_packer *packer);
/* Packs the `size` bytes (at least one) that stand there; returns the size with the length. */
size_t sb_wire_pack(sb_wire_packer *packer, size_t size, uint8_t packed[SB_WIRE_PACKED_MAX]);

#endif
