/*
 * A whole report from any bytes: device log, messages, zones, figures of the runtime and compared
 * clocks, separated by NUL. Whatever they are, there is a report, and it counts what it holds.
 */
#include <assert.h>
#include <string.h>

#include "report/report_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sb_slice take_part(sb_slice *rest) {
    const char *end = rest->size == 0 ? NULL : memchr(rest->data, '\0', rest->size);
    const sb_slice part = {rest->data, end == NULL ? rest->size : (size_t)(end - rest->data)};
    *rest = end == NULL ? (sb_slice){"", 0} : sb_slice_after(*rest, part.size + 1);
    return part;
}

static void check(sb_report *report) {
    const sb_report_summary *summary = sb_report_summarise(report);
    uint64_t counted = summary->signpost_count;
    for (int i = 0; i < SB_COMPLETENESS_COUNT; i++)
        counted += summary->rows[i];
    assert(counted == summary->row_count);
}

static void write_all(sb_report *report) {
    sb_output output = sb_output_to_memory();
    if (report->has_host)
        report_put_ops_csv(report, &output);
    report_put_device_csv(report, &output);
    report_put_per_core_csv(report, &output);
    report_put_core_stats(report, &output);
    report_put_zone_stats(report, &output);
    report_put_side_file(report, &output);
    sb_output_discard(&output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_slice rest = {(const char *)data, size};
    const sb_report_options options = {.compat = size % 2 == 1};
    sb_report *report = report_create(&options);
    report->device_file = sb_file_of(take_part(&rest));
    report->has_device_file = true;
    report->host_files.messages_file = sb_file_of(take_part(&rest));
    report->host_files.zones_file = sb_file_of(take_part(&rest));
    report->host_files.is_there = true;
    report->cpp_file = sb_file_of(take_part(&rest));
    report->has_cpp = report->cpp_file.text.size > 0;
    report_read_clocks(&report->clocks, take_part(&rest));
    report_process(report);
    check(report);
    write_all(report);
    sb_report_free(report);
    return 0;
}
