/*
 * Statistics of an ops report from any bytes. Whatever they are, calls, rows and outliers agree.
 */
#include <assert.h>

#include "report/report_stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const sb_report_stats *stats) {
    uint64_t calls = 0;
    for (size_t i = 0; i < stats->ops.count; i++)
        calls += ((const stats_op *)sb_vector_at(&stats->ops, i))->calls;
    assert(calls == stats->calls);
    for (size_t i = 0; i < stats->outliers.count; i++) {
        const stats_outlier *outlier = sb_vector_at(&stats->outliers, i);
        assert(outlier->op < stats->ops.count && outlier->row >= stats->first_row);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const sb_file file = sb_file_of((sb_slice){(const char *)data, size});
    const sb_report_stats_options options = {.from = size % 4 == 1 ? "start" : NULL,
                                             .to = size % 4 == 2 ? "stop" : NULL,
                                             .top = size % 3};
    sb_report_stats *stats = NULL;
    sb_error error;
    if (stats_of_file(file, "input", &options, &stats, &error) != SB_OK)
        return 0;
    check(stats);
    sb_output output = sb_output_to_memory();
    sb_report_stats_print(stats, &output);
    sb_report_stats_json(stats, &output);
    sb_output_discard(&output);
    sb_report_stats_free(stats);
    return 0;
}
