/* The device log as lanes of a trace. */
#include "report/report.h"
#include "testing.h"
#include "trace_testing.h"

#define HEAD                                                                                     \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500, Max Compute Cores: 64\n"                            \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, " \
    "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta "  \
    "data\n"
#define ROW(place, time, data, run, zone, type) \
    place ",7," #time "," #data "," #run ",,," zone "," type ",12,kernel.cc,\n"

static sb_report_device_flaws add_lanes(sb_trace *trace, const char *const *rows, size_t count) {
    sb_output text = sb_output_to_memory();
    sb_report_device_flaws flaws = {0};
    for (size_t i = 0; i < count; i++)
        sb_put_text(&text, rows[i]);
    assert_true(sb_report_is_device_log(sb_output_text(&text)));
    sb_report_add_lanes(sb_output_text(&text), trace, &flaws);
    sb_output_discard(&text);
    return flaws;
}

static void check_zone(const sb_trace *trace, uint32_t number, uint32_t zone, const char *name,
                       int64_t start, int64_t end) {
    const sb_track *track = sb_trace_track(trace, number);
    check_slice(sb_trace_source_name(trace, sb_track_zone_source(track, zone)), name);
    assert_int_equal(sb_track_zone_start(track, zone), start);
    assert_int_equal(sb_track_zone_end(track, zone), end);
}

/* Two ns a cycle; a lane a processor; rows in any order; ops by the first processor's firmware. */
static void zones_are_paired_by_processor(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    static const char *const rows[] = {
        HEAD,
        ROW("0,1,2,BRISC", 1000, 0, 1024, "BRISC-FW", "ZONE_START"),
        ROW("0,1,2,BRISC", 1100, 0, 1024, "BRISC-FW", "ZONE_END"),
        ROW("0,1,2,NCRISC", 1010, 0, 1024, "NCRISC-FW", "ZONE_START"),
        ROW("0,1,2,NCRISC", 1090, 0, 1024, "NCRISC-FW", "ZONE_END"),
        ROW("0,1,2,BRISC", 1020, 0, 1024, "WORK", "ZONE_START"),
        ROW("0,1,2,BRISC", 1050, 0, 1024, "WORK", "ZONE_END"),
        ROW("0,1,2,BRISC", 1030, 5, 1024, "ROWS", "TS_DATA")};
    const sb_report_device_flaws flaws = add_lanes(trace, rows, COUNT_OF(rows));
    assert_int_equal(flaws.bad_rows, 0);
    assert_false(flaws.is_cut);
    assert_int_equal(sb_series_count(&trace->tracks), 2);
    assert_int_equal(sb_series_count(&trace->contexts), 1);
    assert_int_equal(sb_series_count(&trace->losses), 0);
    sb_core core;
    assert_true(sb_core_parse(sb_trace_text(trace, sb_trace_context(trace, 0)->name), &core));
    assert_int_equal(core.x, 1);
    assert_int_equal(core.y, 2);
    check_zone(trace, 0, 0, "BRISC-FW", 0, 200);
    check_zone(trace, 0, 1, "WORK", 40, 100);
    check_zone(trace, 0, 2, "ROWS", 60, 60);
    assert_int_equal(sb_track_zone_parent(sb_trace_track(trace, 0), 2), 1);
    const sb_zone_note *note = sb_trace_zone_note(trace, sb_trace_track(trace, 0), 2);
    check_slice(sb_trace_text(trace, note->name), "ROWS = 5");
    check_zone(trace, 1, 0, "NCRISC-FW", 20, 180);
    sb_trace_find_ops(trace);
    assert_int_equal(sb_series_count(&trace->ops), 1);
    assert_int_equal(((sb_op *)sb_series_at(&trace->ops, 0))->id, 1024);
    assert_int_equal(sb_series_count(&trace->op_kernels), 2);
    sb_trace_free(trace);
}

/* What is missing is a loss of its lane, and hurts nothing else; repeated rows count once. */
static void zones_with_one_end_are_losses(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    static const char *const rows[] = {HEAD,
                                       ROW("0,1,1,BRISC", 100, 0, 1, "BRISC-FW", "ZONE_START"),
                                       ROW("0,1,1,BRISC", 100, 0, 1, "BRISC-FW", "ZONE_START"),
                                       ROW("0,1,1,BRISC", 110, 0, 1, "WORK", "ZONE_START"),
                                       ROW("0,1,1,BRISC", 150, 0, 2, "BRISC-FW", "ZONE_START"),
                                       ROW("0,1,1,BRISC", 160, 0, 2, "OTHER", "ZONE_END"),
                                       ROW("0,1,1,BRISC", 170, 0, 2, "BRISC-FW", "ZONE_END"),
                                       ROW("0,1,1,BRISC", x, 0, 2, "BRISC-FW", "ZONE_END"),
                                       "0,1,1,BRISC,7,18"};
    const sb_report_device_flaws flaws = add_lanes(trace, rows, COUNT_OF(rows));
    assert_int_equal(flaws.bad_rows, 2);
    assert_int_equal(flaws.first_bad_line, 9);
    assert_true(flaws.is_cut);
    assert_int_equal(sb_track_zone_count(sb_trace_track(trace, 0)), 3);
    check_zone(trace, 0, 0, "BRISC-FW", 0, 100);
    check_zone(trace, 0, 1, "WORK", 20, 100);
    check_zone(trace, 0, 2, "BRISC-FW", 100, 140);
    assert_int_equal(sb_series_count(&trace->losses), 1);
    const sb_loss *loss = sb_series_at(&trace->losses, 0);
    assert_int_equal(loss->count, 3);
    assert_int_equal(loss->from, 100);
    assert_int_equal(loss->to, 120);
    sb_trace_free(trace);
}

/* No op begins before the host called it; each device has a clock of its own. */
static void devices_are_placed_by_calls(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    const uint32_t host = sb_trace_thread(trace, 1);
    static const char *const calls[] = {"`TT_DNN_DEVICE_OP: \"First\", 9, 0, false, 1 ->\n{}`",
                                        "TT_DNN_DEVICE_OP: \"Second\", 9, 0, true, 2"};
    for (int i = 0; i < 2; i++)
        sb_trace_add_message(trace,
                             &(sb_message){.time = 1000 + i * 500,
                                           .thread = host,
                                           .text = sb_trace_string(trace, sb_slice_of(calls[i]))});
    static const char *const rows[] = {HEAD,
                                       ROW("0,1,1,BRISC", 5000, 0, 1, "BRISC-FW", "ZONE_START"),
                                       ROW("0,1,1,BRISC", 5100, 0, 1, "BRISC-FW", "ZONE_END"),
                                       ROW("0,1,1,BRISC", 5200, 0, 2, "BRISC-FW", "ZONE_START"),
                                       ROW("0,1,1,BRISC", 5300, 0, 2, "BRISC-FW", "ZONE_END"),
                                       ROW("1,1,1,BRISC", 90, 0, 3, "BRISC-FW", "ZONE_START"),
                                       ROW("1,1,1,BRISC", 95, 0, 3, "BRISC-FW", "ZONE_END")};
    add_lanes(trace, rows, COUNT_OF(rows));
    /* Op 2 began 400 ns after op 1 and was called 500 ns after it. */
    check_zone(trace, 0, 0, "BRISC-FW", 1100, 1300);
    check_zone(trace, 0, 1, "BRISC-FW", 1500, 1700);
    check_zone(trace, 1, 0, "BRISC-FW", 0, 10);
    sb_trace_find_ops(trace);
    check_slice(sb_trace_text(trace, ((sb_op *)sb_series_at(&trace->ops, 1))->name), "Second");
    sb_trace_free(trace);
}

static void other_files_are_refused(void **state) {
    (void)state;
    assert_true(sb_report_is_device_log(sb_slice_of(HEAD)));
    assert_false(sb_report_is_device_log(sb_slice_of("OP CODE,OP TYPE,DEVICE ARCH\n1,2,3\n")));
    assert_false(sb_report_is_device_log(sb_slice_of("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_are_paired_by_processor),
        cmocka_unit_test(zones_with_one_end_are_losses),
        cmocka_unit_test(devices_are_placed_by_calls),
        cmocka_unit_test(other_files_are_refused),
    };
    return RUN(tests);
}
