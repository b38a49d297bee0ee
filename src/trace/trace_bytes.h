/*
 * Numbers in byte streams: little-endian, at any address.
 */
#ifndef SB_TRACE_BYTES_H
#define SB_TRACE_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_le16(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t load_le24(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
}

static inline uint32_t load_le32(const uint8_t *bytes) {
    return load_le24(bytes) | (uint32_t)bytes[3] << 24;
}

static inline uint64_t load_le64(const uint8_t *bytes) {
    return load_le32(bytes) | (uint64_t)load_le32(bytes + 4) << 32;
}

static inline double load_double(const uint8_t *bytes) {
    const uint64_t bits = load_le64(bytes);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float load_float(const uint8_t *bytes) {
    const uint32_t bits = load_le32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The low `size` bytes of value. A copy of known size is one store; a loop over bytes is not. */
static inline void store_le(uint8_t *bytes, uint64_t value, unsigned size) {
    const uint64_t ordered = htole64(value);
    memcpy(bytes, &ordered, size);
}

#endif
