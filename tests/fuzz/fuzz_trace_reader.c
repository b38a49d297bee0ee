/*
 * The reader of trace files against anything. What could be read is asked for statistics, rows and
 * exports and written again, and the written file must be read without complaint.
 */
#include <assert.h>
#include <stdlib.h>

#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    sb_trace *trace = read_fuzz_trace(data, size);
    if (trace != NULL) {
        ask(trace);
        write_and_read(trace);
    }
    sb_trace_free(trace);
    return 0;
}
