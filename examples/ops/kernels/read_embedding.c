/* Reader of an embedding: puts each tile together from the table's rows that the ids name. Ids are
   a row of tiles whose first row counts; ids outside the table read its first row. Arguments:
   addresses of ids and table, rows and columns of tiles of the table, first tile of the result,
   count. */
#include <strobe/kernel.h>

#define SIDE 32u
#define ROW_BYTES (SIDE * 4)

void kernel_main(void) {
    const uint32_t size = get_tile_size(0);
    const interleaved ids = {.base = get_arg_val(0), .page_size = size};
    const interleaved table = {.base = get_arg_val(1), .page_size = size};
    const uint32_t rows = get_arg_val(2);
    const uint32_t columns = get_arg_val(3);
    const uint32_t first = get_arg_val(4);
    const uint32_t count = get_arg_val(5);
    const uint32_t chosen = get_write_ptr(1);
    for (uint32_t tile = first; tile < first + count; tile++) {
        DeviceZoneScopedN("READ-ROWS");
        noc_async_read(get_page_noc_addr(tile / columns, &ids), chosen, ROW_BYTES);
        noc_async_read_barrier();
        cb_reserve_back(0, 1);
        for (uint32_t i = 0; i < SIDE; i++) {
            const uint32_t id = ((const volatile uint32_t *)chosen)[i];
            const uint32_t row = id < rows * SIDE ? id : 0;
            const uint32_t page = row / SIDE * columns + tile % columns;
            noc_async_read(get_page_noc_addr(page, &table) + row % SIDE * ROW_BYTES,
                           get_write_ptr(0) + i * ROW_BYTES, ROW_BYTES);
        }
        noc_async_read_barrier();
        cb_push_back(0, 1);
    }
}
