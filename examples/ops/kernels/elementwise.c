/* Compute: OPERATION on tiles of circular buffers 0 and 1 (relu: 0 only), into 16.
   Argument: count of tiles. */
#include <strobe/kernel.h>

#include "ops_math.h"

#define ADD 0
#define MULTIPLY 1
#define RELU 2

static int32_t combine(int32_t a, int32_t b) {
#if OPERATION == ADD
    return (int32_t)((uint32_t)a + (uint32_t)b);
#elif OPERATION == MULTIPLY
    return ops_product(a, b);
#else
    (void)b;
    return a > 0 ? a : 0;
#endif
}

void kernel_main(void) {
    const uint32_t words = get_tile_size(0) / 4;
    const uint32_t count = get_arg_val(0);
    const uint32_t second = OPERATION == RELU ? 0 : 1;
    for (uint32_t i = 0; i < count; i++) {
        DeviceZoneScopedN("ELEMENTWISE");
        cb_wait_front(0, 1);
        cb_wait_front(second, 1);
        cb_reserve_back(16, 1);
        const int32_t *a = (const int32_t *)get_read_ptr(0);
        const int32_t *b = (const int32_t *)get_read_ptr(second);
        int32_t *out = (int32_t *)get_write_ptr(16);
        for (uint32_t k = 0; k < words; k++)
            out[k] = combine(a[k], b[k]);
        cb_pop_front(0, 1);
        if (second != 0)
            cb_pop_front(second, 1);
        cb_push_back(16, 1);
    }
}
