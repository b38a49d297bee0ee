/*
 * The reader of trace files against anything. An input that begins like a file is read as one;
 * anything else is taken as the body of a file, because compression hides it from the fuzzer. What
 * could be read is asked for statistics, rows and exports and written again, and the written file
 * must be read without complaint.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"
#include "trace/trace_pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

static void ask(const sb_trace *trace) {
    sb_output rows = sb_output_to_memory();
    sb_trace_csv_options options = {.separator = SB_SLICE(","), .layout = SB_TRACE_CSV_TT};
    for (int mode = SB_TRACE_CSV_STATISTICS; mode <= SB_TRACE_CSV_MESSAGES; mode++) {
        options.mode = (sb_trace_csv_mode)mode;
        options.compat = mode % 2 == 0;
        options.self = true;
        options.plots = true;
        options.truncated_mean = 90;
        options.special_parent = (sb_slice)SB_SLICE("a");
        options.special_functions = (sb_slice)SB_SLICE("a,b");
        sb_trace_write_csv(trace, &options, &rows);
    }
    sb_trace_write_perfetto(trace, &rows, NULL);
    sb_trace_write_chrome(trace, &rows, NULL);
    sb_trace_write_summary(trace, &rows);
    sb_output_discard(&rows);
    const sb_stats_options all = {.range = SB_RANGE_ALL, .with_self = true, .with_quantiles = true};
    free(sb_trace_stats(trace, &all));
}

static void write_and_read(const sb_trace *trace) {
    sb_output file = sb_output_to_memory();
    const sb_trace_write_options options = {.version = SB_TRACE_VERSION_0_10};
    sb_trace_write(trace, &options, &file, NULL);
    const sb_trace_read_options one_thread = {.threads = 1};
    sb_trace *again = NULL;
    const sb_status status =
        sb_trace_read(sb_output_text(&file), &one_thread, &again, &(sb_error){0});
    assert(status == SB_OK);
    assert(sb_trace_zone_count(again, false) == sb_trace_zone_count(trace, false));
    assert(sb_trace_zone_count(again, true) == sb_trace_zone_count(trace, true));
    assert(sb_series_count(&again->messages) == sb_series_count(&trace->messages));
    for (uint64_t i = 0; i < sb_series_count(&again->tracks); i++)
        assert(sb_trace_track(again, i)->kind == SB_TRACK_LANE ||
               !sb_trace_track(again, i)->unsorted);
    sb_trace_free(again);
    sb_output_discard(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const sb_trace_read_options one_thread = {.threads = 1};
    sb_output packed = {.descriptor = -1};
    sb_slice file = {(const char *)data, size};
    if (!begins_like_a_file(data, size)) {
        packed = pack(data, size);
        file = sb_output_text(&packed);
    }
    sb_trace *trace = NULL;
    sb_error error = {0};
    sb_trace_read(file, &one_thread, &trace, &error);
    if (trace != NULL) {
        ask(trace);
        write_and_read(trace);
    }
    sb_trace_free(trace);
    sb_output_discard(&packed);
    return 0;
}
