#include "fuzz_file.h"

#include <string.h>

#include "trace/trace_pack.h"

static bool begins_like_a_file(const uint8_t *data, size_t size) {
    return size >= 4 && (memcmp(data, "tlZ\x04", 4) == 0 || memcmp(data, "tZst", 4) == 0 ||
                         memcmp(data, "tr\xfdP", 4) == 0);
}

static sb_output pack(const uint8_t *data, size_t size) {
    sb_output file = sb_output_to_memory();
    trace_packer packer;
    trace_pack_begin(&packer, &(trace_packing){.compression = TRACE_LZ4, .one_stream = true},
                     &file);
    trace_pack_bytes(&packer, data, size);
    trace_pack_end(&packer);
    return file;
}

sb_trace *read_fuzz_trace(const uint8_t *data, size_t size) {
    const sb_trace_read_options one_thread = {.threads = 1};
    sb_output packed = {.descriptor = -1};
    sb_slice file = {(const char *)data, size};
    if (!begins_like_a_file(data, size)) {
        packed = pack(data, size);
        file = sb_output_text(&packed);
    }
    sb_trace *trace = NULL;
    sb_trace_read(file, &one_thread, &trace, &(sb_error){0});
    sb_output_discard(&packed);
    return trace;
}
