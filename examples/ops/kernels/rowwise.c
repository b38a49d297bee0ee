/* Compute: OPERATION on rows. A band of tiles (32 rows, all columns) is taken at a time.
   Arguments: columns, tiles in a band, count of bands, first row of the first band. */
#include <strobe/kernel.h>

#include "ops_math.h"

#define SOFTMAX 0
#define CAUSAL_SOFTMAX 1
#define LAYER_NORM 2
#define REDUCE 3

#define SIDE 32u
#define TILE_WORDS (SIDE * SIDE)

/* One row of a band: the words of a tile's row lie together, its tiles one after the other. */
static inline int32_t *at(int32_t *band, uint32_t row, uint32_t column) {
    return band + column / SIDE * TILE_WORDS + row * SIDE + column % SIDE;
}

static inline void fill(int32_t *out, uint32_t row, uint32_t from, uint32_t to) {
    for (uint32_t column = from; column < to; column++)
        *at(out, row, column) = 0;
}

static inline void softmax(int32_t *in, int32_t *out, uint32_t row, uint32_t columns) {
    int32_t largest = *at(in, row, 0);
    for (uint32_t column = 1; column < columns; column++)
        largest = *at(in, row, column) > largest ? *at(in, row, column) : largest;
    int32_t sum = 0;
    for (uint32_t column = 0; column < columns; column++) {
        const int32_t power = ops_exp(*at(in, row, column) - largest);
        *at(out, row, column) = power;
        sum += power;
    }
    for (uint32_t column = 0; column < columns; column++)
        *at(out, row, column) = (*at(out, row, column) << 8) / sum;
}

static inline void layer_norm(int32_t *in, int32_t *out, uint32_t row, uint32_t columns) {
    int32_t sum = 0;
    for (uint32_t column = 0; column < columns; column++)
        sum += *at(in, row, column);
    const int32_t mean = sum / (int32_t)columns;
    uint32_t squares = 0;
    for (uint32_t column = 0; column < columns; column++) {
        const int32_t distance = *at(in, row, column) - mean;
        squares += (uint32_t)ops_product(distance, distance);
    }
    const int32_t deviation = (int32_t)ops_root(squares / columns << 8) + 1;
    for (uint32_t column = 0; column < columns; column++)
        *at(out, row, column) = ((*at(in, row, column) - mean) << 8) / deviation;
}

static inline void reduce(int32_t *in, int32_t *out, uint32_t row, uint32_t columns) {
    uint32_t sum = 0;
    for (uint32_t column = 0; column < columns; column++)
        sum += (uint32_t)*at(in, row, column);
    *at(out, row, 0) = (int32_t)sum;
}

static void do_row(int32_t *in, int32_t *out, uint32_t row, uint32_t absolute, uint32_t columns,
                   uint32_t width) {
#if OPERATION == SOFTMAX
    (void)absolute;
    softmax(in, out, row, columns);
    fill(out, row, columns, width);
#elif OPERATION == CAUSAL_SOFTMAX
    const uint32_t seen = absolute + 1 < columns ? absolute + 1 : columns;
    softmax(in, out, row, seen);
    fill(out, row, seen, width);
#elif OPERATION == LAYER_NORM
    (void)absolute;
    layer_norm(in, out, row, columns);
    fill(out, row, columns, width);
#else
    (void)absolute;
    (void)width;
    reduce(in, out, row, columns);
    fill(out, row, 1, SIDE);
#endif
}

void kernel_main(void) {
    const uint32_t columns = get_arg_val(0);
    const uint32_t tiles = get_arg_val(1);
    const uint32_t bands = get_arg_val(2);
    const uint32_t first = get_arg_val(3);
    const uint32_t results = OPERATION == REDUCE ? 1 : tiles;
    for (uint32_t band = 0; band < bands; band++) {
        DeviceZoneScopedN("ROWS");
        cb_wait_front(0, tiles);
        cb_reserve_back(16, results);
        int32_t *in = (int32_t *)get_read_ptr(0);
        int32_t *out = (int32_t *)get_write_ptr(16);
        for (uint32_t row = 0; row < SIDE; row++)
            do_row(in, out, row, first + band * SIDE + row, columns, tiles * SIDE);
        cb_pop_front(0, tiles);
        cb_push_back(16, results);
    }
}
