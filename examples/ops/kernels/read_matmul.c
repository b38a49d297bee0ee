/* Reader of a matrix product: for each tile of the result the row of tiles of the first matrix and
   the column of tiles of the second, side by side.
   Arguments: addresses of both, tiles along the inner side, columns of tiles of the result, first
   tile of the result, count. */
#include <strobe/kernel.h>

void kernel_main(void) {
    const interleaved a = {.base = get_arg_val(0), .page_size = get_tile_size(0)};
    const interleaved b = {.base = get_arg_val(1), .page_size = get_tile_size(1)};
    const uint32_t inner = get_arg_val(2);
    const uint32_t columns = get_arg_val(3);
    const uint32_t first = get_arg_val(4);
    const uint32_t count = get_arg_val(5);
    for (uint32_t tile = first; tile < first + count; tile++) {
        const uint32_t row = tile / columns;
        const uint32_t column = tile % columns;
        for (uint32_t k = 0; k < inner; k++) {
            DeviceZoneScopedN("READ-TILES");
            cb_reserve_back(0, 1);
            cb_reserve_back(1, 1);
            noc_async_read_page(row * inner + k, &a, get_write_ptr(0));
            noc_async_read_page(k * columns + column, &b, get_write_ptr(1));
            noc_async_read_barrier();
            cb_push_back(0, 1);
            cb_push_back(1, 1);
        }
    }
}
