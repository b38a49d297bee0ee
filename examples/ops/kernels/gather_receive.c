/* All-gather, receiving side (NCRISC): takes the other chip's tiles from the slots they land in.
   Arguments: address of the result, count of tiles, the other chip's first tile in the result. */
#include <strobe/kernel.h>

void kernel_main(void) {
    const uint32_t size = get_tile_size(1);
    const interleaved result = {.base = get_arg_val(0), .page_size = size};
    const uint32_t count = get_arg_val(1);
    const uint32_t first = get_arg_val(2);
    const uint32_t landing = sb_circular_at(1)->address;
    const uint32_t x = get_absolute_logical_x();
    const uint32_t y = get_absolute_logical_y();
    for (uint32_t i = 0; i < count; i++) {
        DeviceZoneScopedN("RECEIVE-PAGE");
        noc_semaphore_wait_min(get_semaphore(0), i + 1);
        noc_async_write_page(first + i, &result, landing + i % SLOTS * size);
        noc_async_write_barrier();
        noc_semaphore_inc(get_link_noc_addr(true, x, y, get_semaphore(1)), 1);
    }
    noc_async_atomic_barrier();
}
