/* Reader: tiles in the order in which the transposed matrix has them.
   Arguments: address, rows and columns of tiles of the source, first tile of the result, count. */
#include <strobe/kernel.h>

void kernel_main(void) {
    const interleaved source = {.base = get_arg_val(0), .page_size = get_tile_size(0)};
    const uint32_t rows = get_arg_val(1);
    const uint32_t columns = get_arg_val(2);
    const uint32_t first = get_arg_val(3);
    const uint32_t count = get_arg_val(4);
    for (uint32_t tile = first; tile < first + count; tile++) {
        DeviceZoneScopedN("READ-TILE");
        cb_reserve_back(0, 1);
        noc_async_read_page(tile % rows * columns + tile / rows, &source, get_write_ptr(0));
        noc_async_read_barrier();
        cb_push_back(0, 1);
    }
}
