/* A whole report from a .tracy file: the host's part is taken from its zones and messages. */
#include "report/report.h"
#include "testing.h"
#include "trace/trace.h"

static void write_trace(const char *path) {
    sb_trace *trace = sb_trace_create();
    const sb_source place = {.name = sb_trace_string(trace, sb_slice_of("TT_DNN_DEVICE_OP")),
                             .file = sb_trace_string(trace, sb_slice_of("op.hpp")),
                             .line = 7};
    const uint32_t source = sb_trace_add_source(trace, &place);
    const uint32_t thread = sb_trace_thread(trace, 1);
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, thread, SB_NONE);
    const uint32_t zone = sb_track_add(track, 1000, 5000, source);
    const sb_zone_note note = {.text = sb_trace_string(trace, sb_slice_of("id:1024"))};
    sb_track_annotate(trace, track, zone, &note);
    const sb_message message = {
        .time = 1100,
        .thread = thread,
        .text = sb_trace_string(
            trace, sb_slice_of("`TT_DNN_DEVICE_OP: \"Matmul\", 5, 0, false, 1024 ->\n"
                               "{\"device_id\": 0, \"global_call_count\": 1024, \"op_code\": "
                               "\"Matmul\", \"op_hash\": 5, \"input_tensors\": []}`")),
        .colour = UINT32_MAX,
    };
    sb_trace_add_message(trace, &message);
    sb_output output;
    assert_int_equal(sb_output_to_file(&output, path, NULL), SB_OK);
    sb_trace_write(trace, &(sb_trace_write_options){0}, &output, NULL);
    assert_int_equal(sb_output_finish(&output, NULL), SB_OK);
    sb_trace_free(trace);
}

static void a_tracy_file_takes_the_place_of_host_files(void **state) {
    char folder[] = "/tmp/strobe-report-XXXXXX";
    char path[64];
    sb_report *report = NULL;
    sb_error error = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.tracy", folder);
    write_trace(path);
    const sb_report_options options = {.input = path, .no_device = true, .tool_version = "test"};
    assert_int_equal(sb_report_read(&options, &report, &error), SB_OK);
    assert_int_equal(sb_report_write(report, &error), SB_OK);
    const sb_report_summary *summary = sb_report_summarise(report);
    assert_int_equal(summary->row_count, 1);
    assert_int_equal(summary->rows[SB_COMPLETE], 1);
    sb_file written;
    assert_int_equal(sb_file_open(&written, summary->csv_path, &error), SB_OK);
    check_contains(written.text, "\r\nMatmul,,1024,0,");
    check_contains(written.text, ",1000,5000,4000,");
    sb_file_close(&written);
    char command[256];
    snprintf(command, sizeof command, "test -s %s/reports/tracy_ops_data.csv && rm -r %s", folder,
             folder);
    sb_report_free(report);
    assert_int_equal(system(command), 0);
}

static void names_of_analyses_are_checked(void **state) {
    (void)state;
    const char *const names[] = {"device_kernel_duration", "no_such_analysis"};
    const sb_report_options options = {.input = ".", .analyses = names, .analysis_count = 2};
    sb_report *report = NULL;
    sb_error error = {0};
    assert_int_equal(sb_report_read(&options, &report, &error), SB_ERR_USAGE);
    check_contains(sb_slice_of(error.message), "no_such_analysis");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tracy_file_takes_the_place_of_host_files),
        cmocka_unit_test(names_of_analyses_are_checked),
    };
    return RUN(tests);
}
