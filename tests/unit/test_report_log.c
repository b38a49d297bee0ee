/* The device log: rows of all ages, and programs from them. */
#include "report/report_programs.h"
#include "testing.h"

#define HEAD                                                                                     \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"                           \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, " \
    "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta "  \
    "data\n"

static report_device_log read_log(const char *text) {
    sb_file file = sb_file_of(sb_slice_of(text));
    report_device_log log;
    report_read_device_log(&log, &file, NULL);
    return log;
}

static void preamble_says_arch_clock_and_cores(void **state) {
    (void)state;
    report_log log;
    report_log_begin(&log, sb_slice_of(HEAD));
    check_slice(log.arch, "wormhole_b0");
    assert_int_equal(log.clock_mhz, 1000);
    assert_int_equal(log.compute_cores, 64);
    report_log_begin(&log, sb_slice_of("Chip clock is at 1202 MHz\n"));
    check_slice(log.arch, "grayskull");
    assert_int_equal(log.clock_mhz, 1200);
    report_log_begin(&log, sb_slice_of("nothing of the kind\n"));
    assert_false(log.has_preamble);
}

static void columns_are_found_by_title(void **state) {
    (void)state;
    report_log log;
    report_marker marker;
    report_log_begin(
        &log, sb_slice_of("ARCH: grayskull, CHIP_FREQ[MHz]: 1200, Max Compute Cores: 108\n"
                          "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles "
                          "since reset], stat value, Run ID, zone name, zone phase, source line, "
                          "source file\n"
                          "0, 1, 2, BRISC, 1, 345, 0, 7, BRISC-FW, begin, 3, brisc.cc\n"));
    assert_true(report_log_next(&log, &marker));
    assert_int_equal(marker.core_y, 2);
    assert_int_equal(marker.time, 345);
    assert_int_equal(marker.program, 7);
    assert_int_equal(marker.type, REPORT_MARKER_START);
    check_slice(marker.zone, "BRISC-FW");
    assert_false(report_log_next(&log, &marker));
}

static void rows_that_cannot_be_read_are_counted(void **state) {
    (void)state;
    report_log log;
    report_marker marker;
    report_log_begin(&log, sb_slice_of(HEAD "0,1,1,BRISC,5,x,0,1024,,,BRISC-FW,ZONE_START,1,f,\n"
                                            "0,1,1,BRISC,5,9,0,1024,,,BRISC-FW\n"
                                            "0,1,1,BRISC,5,9,0,1024,,,BRISC-FW,ZONE_END,1,f,\n"
                                            "0,1,1,BRISC,5,9,0,1024,,,BRISC-FW,ZONE_E"));
    assert_true(report_log_next(&log, &marker));
    assert_int_equal(marker.type, REPORT_MARKER_END);
    assert_false(report_log_next(&log, &marker));
    assert_int_equal(log.bad_rows, 3);
    assert_int_equal(log.first_bad_line, 3);
    assert_true(log.is_cut);
}

/* One processor's firmware and kernel. */
#define RUN_OF(processor, zone, start, end, id)                                    \
    "0,1,1," processor ",11," start "0,0," id "," zone "-FW,ZONE_START,1,f,\n"     \
    "0,1,1," processor ",12," start "5,0," id "," zone "-KERNEL,ZONE_START,1,f,\n" \
    "0,1,1," processor ",12," end "0,0," id "," zone "-KERNEL,ZONE_END,1,f,\n"     \
    "0,1,1," processor ",11," end "5,0," id "," zone "-FW,ZONE_END,1,f,\n"

static void spans_are_first_to_last(void **state) {
    (void)state;
    report_device_log log = read_log(HEAD RUN_OF("BRISC", "BRISC", "10", "50", "1024,,")
                                         RUN_OF("TRISC_1", "TRISC", "11", "40", "1024,,"));
    report_span span;
    const report_program *program = report_program_at(&log, 0);
    assert_int_equal(log.programs.count, 1);
    assert_true(report_program_is_whole(program));
    assert_int_equal(report_program_core_count(program), 1);
    assert_true(report_program_span(program, REPORT_SPAN_FW, &span));
    assert_int_equal(span.last - span.first, 405);
    assert_true(report_program_span(program, REPORT_SPAN_TRISC_1, &span));
    assert_int_equal(span.last - span.first, 285);
    assert_false(report_program_span(program, REPORT_SPAN_NCRISC, &span));
    report_device_log_free(&log);
}

static void an_id_that_comes_back_is_another_execution(void **state) {
    (void)state;
    report_device_log log = read_log(HEAD RUN_OF("BRISC", "BRISC", "10", "50", "1024,,")
                                         RUN_OF("BRISC", "BRISC", "60", "90", "1024,,")
                                             RUN_OF("NCRISC", "NCRISC", "11", "49", "1024,,")
                                                 RUN_OF("NCRISC", "NCRISC", "61", "89", "1024,,"));
    assert_int_equal(log.programs.count, 2);
    assert_true(report_program_is_whole(report_program_at(&log, 0)));
    assert_true(report_program_is_whole(report_program_at(&log, 1)));
    assert_int_equal(report_program_at(&log, 1)->spans[REPORT_SPAN_NCRISC].first, 615);
    report_device_log_free(&log);
}

static void replays_are_told_apart_by_their_columns(void **state) {
    (void)state;
    report_device_log log = read_log(HEAD RUN_OF("BRISC", "BRISC", "10", "50", "1024,7,1")
                                         RUN_OF("BRISC", "BRISC", "60", "90", "1024,7,2"));
    assert_int_equal(log.programs.count, 2);
    assert_int_equal(report_program_at(&log, 1)->trace, 7);
    assert_int_equal(report_program_at(&log, 1)->session, 2);
    report_device_log_free(&log);
}

static void a_missing_end_is_found_with_its_place(void **state) {
    (void)state;
    report_device_log log =
        read_log(HEAD RUN_OF("BRISC", "BRISC", "10", "50", "1024,,") "0,1,1,NCRISC,13,120,0,1024,,,"
                                                                     "READ,ZONE_START,1,f,\n");
    assert_true(report_program_at(&log, 0)->is_broken);
    assert_int_equal(log.findings.count, 1);
    const report_finding *finding = sb_vector_at(&log.findings, 0);
    assert_int_equal(finding->processor, REPORT_NCRISC);
    assert_int_equal(finding->missing, REPORT_MARKER_END);
    check_slice(finding->zone, "READ");
    report_device_log_free(&log);
}

static void a_repeated_row_breaks_nothing(void **state) {
    (void)state;
    report_device_log log =
        read_log(HEAD RUN_OF("BRISC", "BRISC", "10", "50", "1024,,")
                     RUN_OF("BRISC", "BRISC", "60", "90",
                            "2048,,") "0,1,1,BRISC,12,105,0,1024,,,BRISC-KERNEL,ZONE_START,"
                                      "1,f,\n");
    const report_program *program = report_program_at(&log, 0);
    assert_false(program->is_broken);
    assert_true(program->is_repeated);
    assert_int_equal(log.repeated_rows, 1);
    assert_false(report_program_at(&log, 1)->is_repeated);
    report_device_log_free(&log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preamble_says_arch_clock_and_cores),
        cmocka_unit_test(columns_are_found_by_title),
        cmocka_unit_test(rows_that_cannot_be_read_are_counted),
        cmocka_unit_test(spans_are_first_to_last),
        cmocka_unit_test(an_id_that_comes_back_is_another_execution),
        cmocka_unit_test(replays_are_told_apart_by_their_columns),
        cmocka_unit_test(a_missing_end_is_found_with_its_place),
        cmocka_unit_test(a_repeated_row_breaks_nothing),
    };
    return RUN(tests);
}
