/*
 * The wire form of Protocol Buffers, as much of it as an export needs.
 *
 * A message is a list of fields: a number with a type in its low three bits, then a varint, eight
 * bytes, or a length and so many bytes. A message inside another is such bytes, so it is made first
 * in a buffer of its own.
 */
#ifndef SB_TRACE_PROTO_H
#define SB_TRACE_PROTO_H

#include "base/base.h"
#include "trace/trace_bytes.h"

enum { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2 };

/* Seven bits to a byte, the lowest first; the top bit says that more follow. */
static inline void proto_put_varint(sb_output *output, uint64_t value) {
    while (value >= 0x80) {
        sb_put_char(output, (char)(value | 0x80));
        value >>= 7;
    }
    sb_put_char(output, (char)value);
}

static inline void proto_put_number(sb_output *output, uint32_t field, uint64_t value) {
    proto_put_varint(output, (uint64_t)field << 3 | PROTO_VARINT);
    proto_put_varint(output, value);
}

static inline void proto_put_fixed64(sb_output *output, uint32_t field, uint64_t value) {
    uint8_t bytes[8];
    store_le(bytes, value, sizeof bytes);
    proto_put_varint(output, (uint64_t)field << 3 | PROTO_FIXED64);
    sb_put(output, (sb_slice){(const char *)bytes, sizeof bytes});
}

static inline void proto_put_double(sb_output *output, uint32_t field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    proto_put_fixed64(output, field, bits);
}

static inline void proto_put_bytes(sb_output *output, uint32_t field, sb_slice bytes) {
    proto_put_varint(output, (uint64_t)field << 3 | PROTO_BYTES);
    proto_put_varint(output, bytes.size);
    sb_put(output, bytes);
}

/* A message made in `part`, which is then empty again. */
static inline void proto_put_message(sb_output *output, uint32_t field, sb_output *part) {
    proto_put_bytes(output, field, sb_output_text(part));
    sb_output_truncate(part, 0);
}

#endif
