/*
 * The viewer against any trace: what could be read of it is indexed, asked one question of each
 * kind, and written as a page.
 */
#include "fuzz_file.h"
#include "fuzz_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void view_trace(sb_trace *trace) {
    const sb_view_source source = {.trace = trace, .name = "fuzz", .version = "0"};
    sb_view *view = sb_view_create(&source);
    sb_view_index(view, NULL, NULL);
    ask_view_all(view);
    sb_output page = sb_output_to_memory();
    sb_view_write_page(view, SB_RANGE_ALL, &page, &(sb_error){0});
    sb_output_discard(&page);
    sb_view_free(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_trace *trace = read_fuzz_trace(data, size);
    if (trace != NULL)
        view_trace(trace);
    sb_trace_free(trace);
    return 0;
}
