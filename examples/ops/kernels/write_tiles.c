/* Writer: what comes out of circular buffer OUTPUT becomes tiles first to first + count.
   Arguments: address, first, count. */
#include <strobe/kernel.h>

void kernel_main(void) {
    const interleaved goal = {.base = get_arg_val(0), .page_size = get_tile_size(OUTPUT)};
    const uint32_t first = get_arg_val(1);
    const uint32_t count = get_arg_val(2);
    for (uint32_t i = 0; i < count; i++) {
        DeviceZoneScopedN("WRITE-TILE");
        cb_wait_front(OUTPUT, 1);
        noc_async_write_page(first + i, &goal, get_read_ptr(OUTPUT));
        noc_async_writes_flushed();
        cb_pop_front(OUTPUT, 1);
    }
    noc_async_write_barrier();
}
