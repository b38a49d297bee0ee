/*
 * Arithmetic that kernels and the references of the tests have in common: fixed point with 8
 * fractional bits, wrapping around at 32 bits.
 */
#ifndef STROBE_EXAMPLES_OPS_MATH_H
#define STROBE_EXAMPLES_OPS_MATH_H

#include <stdint.h>

static inline int32_t ops_product(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a * (uint32_t)b) >> 8;
}

/* e to the power of x, for x <= 0: a power of two and a parabola between two of them. */
static inline int32_t ops_exp(int32_t x) {
    if (x < -2048)
        return 0;
    const int32_t power = x * 369 >> 8; /* times log2(e) */
    const uint32_t whole = (uint32_t)(-(power >> 8));
    const int32_t part = power & 255;
    const int32_t between = 256 + (part * (168 + (part * 88 >> 8)) >> 8);
    return whole > 16 ? 0 : between >> whole;
}

/* The whole part of the root. */
static inline uint32_t ops_root(uint32_t value) {
    uint32_t root = 0;
    for (uint32_t bit = 1u << 15; bit != 0; bit >>= 1) {
        const uint32_t tried = root | bit;
        if (tried * tried <= value)
            root = tried;
    }
    return root;
}

#endif
