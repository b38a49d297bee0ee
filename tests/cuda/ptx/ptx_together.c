/*
 * Instructions that the lanes of a warp execute together: shuffles and products of matrices.
 */
#include "ptx.h"

/* The lane that a lane of a shuffle reads from; itself where there is none such. */
static uint32_t source_of(ptx_way way, uint32_t lane, uint32_t by, uint32_t limits,
                          bool *is_there) {
    const uint32_t clamp = limits & 31;
    const uint32_t segment = limits >> 8 & 31;
    const uint32_t most = (lane & segment) | (clamp & ~segment);
    const uint32_t least = lane & segment;
    int32_t from = 0;
    switch (way) {
    case PTX_UP:
        from = (int32_t)lane - (int32_t)by;
        *is_there = from >= (int32_t)most;
        break;
    case PTX_DOWN:
        from = (int32_t)(lane + by);
        *is_there = from <= (int32_t)most;
        break;
    case PTX_BFLY:
        from = (int32_t)(lane ^ by);
        *is_there = from <= (int32_t)most;
        break;
    default:
        from = (int32_t)(least | (by & ~segment));
        *is_there = from <= (int32_t)most;
        break;
    }
    return *is_there ? (uint32_t)from : lane;
}

void ptx_shuffle(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    uint64_t before[PTX_LANES] = {0};
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        before[lane] = ptx_value(warp, &op->operand[2], lane);
    for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
        if ((mask >> lane & 1) == 0)
            continue;
        bool is_there = false;
        const uint32_t from =
            source_of(op->way, lane, (uint32_t)ptx_value(warp, &op->operand[3], lane) & 31,
                      (uint32_t)ptx_value(warp, &op->operand[4], lane), &is_there);
        ptx_set_value(warp, &op->operand[0], lane, before[from]);
        ptx_set_value(warp, &op->operand[1], lane, is_there);
    }
}

static float half_of(uint32_t pair, uint32_t which) {
    return ptx_float(which == 0 ? pair << 16 : pair & 0xFFFF0000);
}

/*
 * D = A B + C for A of 16 x 16, B of 16 x 8 in bfloat16: operands 0 to 3 are D, 4 to 7 A, 8 and 9
 * B, 10 to 13 C. Four lanes hold a row: two neighbours of each, and two eight further on.
 */
void ptx_multiply_matrices(ptx_warp *warp, const ptx_instruction *op) {
    float a[16][16];
    float b[16][8];
    for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
        const uint32_t group = lane / 4;
        const uint32_t column = lane % 4 * 2;
        for (uint32_t i = 0; i < 8; i++)
            a[group + (i / 2 % 2) * 8][column + i % 2 + (i / 4) * 8] =
                half_of((uint32_t)ptx_value(warp, &op->operand[4 + i / 2], lane), i % 2);
        for (uint32_t i = 0; i < 4; i++)
            b[column + i % 2 + (i / 2) * 8][group] =
                half_of((uint32_t)ptx_value(warp, &op->operand[8 + i / 2], lane), i % 2);
    }
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t row = lane / 4 + i / 2 * 8;
            const uint32_t column = lane % 4 * 2 + i % 2;
            float sum = ptx_float(ptx_value(warp, &op->operand[10 + i], lane));
            for (uint32_t k = 0; k < 16; k++)
                sum += a[row][k] * b[k][column];
            ptx_set_value(warp, &op->operand[i], lane, ptx_bits(sum));
        }
}
