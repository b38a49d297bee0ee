/* Compute: transposes each tile. Argument: count. */
#include <strobe/kernel.h>

#define SIDE 32u

void kernel_main(void) {
    const uint32_t count = get_arg_val(0);
    for (uint32_t tile = 0; tile < count; tile++) {
        DeviceZoneScopedN("TRANSPOSE");
        cb_wait_front(0, 1);
        cb_reserve_back(16, 1);
        const uint32_t *in = (const uint32_t *)get_read_ptr(0);
        uint32_t *out = (uint32_t *)get_write_ptr(16);
        for (uint32_t row = 0; row < SIDE; row++)
            for (uint32_t column = 0; column < SIDE; column++)
                out[column * SIDE + row] = in[row * SIDE + column];
        cb_pop_front(0, 1);
        cb_push_back(16, 1);
    }
}
