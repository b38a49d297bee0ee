/* Compute of a matrix product: adds up products of tiles and shifts the sum back at the end.
   Arguments: tiles along the inner side, count of tiles of the result. */
#include <strobe/kernel.h>

#define SIDE 32u

/* out += a b. The columns of b are walked four at a time, so that a value of a is loaded once. */
static void add_product(const uint32_t *a, const uint32_t *b, uint32_t *out) {
    for (uint32_t row = 0; row < SIDE; row++, a += SIDE, out += SIDE)
        for (uint32_t column = 0; column < SIDE; column += 4) {
            uint32_t sums[4] = {out[column], out[column + 1], out[column + 2], out[column + 3]};
            const uint32_t *factors = b + column;
            for (uint32_t k = 0; k < SIDE; k++, factors += SIDE) {
                const uint32_t value = a[k];
                sums[0] += value * factors[0];
                sums[1] += value * factors[1];
                sums[2] += value * factors[2];
                sums[3] += value * factors[3];
            }
            for (uint32_t i = 0; i < 4; i++)
                out[column + i] = sums[i];
        }
}

void kernel_main(void) {
    const uint32_t inner = get_arg_val(0);
    const uint32_t count = get_arg_val(1);
    for (uint32_t tile = 0; tile < count; tile++) {
        DeviceZoneScopedN("MATMUL");
        cb_reserve_back(16, 1);
        uint32_t *out = (uint32_t *)get_write_ptr(16);
        for (uint32_t i = 0; i < SIDE * SIDE; i++)
            out[i] = 0;
        for (uint32_t k = 0; k < inner; k++) {
            cb_wait_front(0, 1);
            cb_wait_front(1, 1);
            {
                DeviceZoneScopedN("MULTIPLY");
                add_product((const uint32_t *)get_read_ptr(0), (const uint32_t *)get_read_ptr(1),
                            out);
            }
            cb_pop_front(0, 1);
            cb_pop_front(1, 1);
        }
        for (uint32_t i = 0; i < SIDE * SIDE; i++)
            out[i] = (uint32_t)((int32_t)out[i] >> 8);
        cb_push_back(16, 1);
    }
}
