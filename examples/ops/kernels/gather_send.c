/* All-gather, sending side (BRISC): each tile goes to this chip's result and to the other chip,
   where it lands in one of SLOTS slots of circular buffer 1. Semaphore 0 counts there what has
   arrived, semaphore 1 counts here which slots are free again. Arguments: addresses of source and
   result, count of tiles, this chip's first tile in the result. */
#include <strobe/kernel.h>

void kernel_main(void) {
    const uint32_t size = get_tile_size(0);
    const interleaved source = {.base = get_arg_val(0), .page_size = size};
    const interleaved result = {.base = get_arg_val(1), .page_size = size};
    const uint32_t count = get_arg_val(2);
    const uint32_t first = get_arg_val(3);
    const uint32_t page = get_write_ptr(0);
    const uint32_t landing = sb_circular_at(1)->address;
    const uint32_t x = get_absolute_logical_x();
    const uint32_t y = get_absolute_logical_y();
    for (uint32_t i = 0; i < count; i++) {
        DeviceZoneScopedN("SEND-PAGE");
        noc_async_read_page(i, &source, page);
        noc_async_read_barrier();
        noc_async_write_page(first + i, &result, page);
        noc_semaphore_wait_min(get_semaphore(1), i + 1 > SLOTS ? i + 1 - SLOTS : 0);
        noc_async_write(page, get_link_noc_addr(true, x, y, landing + i % SLOTS * size), size);
        noc_async_write_barrier();
        noc_semaphore_inc(get_link_noc_addr(true, x, y, get_semaphore(0)), 1);
    }
    noc_async_atomic_barrier();
}
