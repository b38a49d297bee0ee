/* Reader: tiles first to first + count of one or two tensors into circular buffers 0 and 1.
   Arguments: address of each (the second only if INPUTS is 2), first, count. */
#include <strobe/kernel.h>

void kernel_main(void) {
    const uint32_t size = get_tile_size(0);
    const uint32_t first = get_arg_val(2);
    const uint32_t count = get_arg_val(3);
    for (uint32_t i = 0; i < count; i++) {
        DeviceZoneScopedN("READ-TILES");
        for (uint32_t input = 0; input < INPUTS; input++) {
            const interleaved source = {.base = get_arg_val(input), .page_size = size};
            cb_reserve_back(input, 1);
            noc_async_read_page(first + i, &source, get_write_ptr(input));
        }
        noc_async_read_barrier();
        for (uint32_t input = 0; input < INPUTS; input++)
            cb_push_back(input, 1);
    }
}
