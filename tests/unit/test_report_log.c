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

/* Rows of one place and few zones, whole and broken in all ways that a quick look could miss. */
static const char *const varied_rows[] = {
    "0,1,1,BRISC,5,100,0,1024,,,BRISC-FW,ZONE_START,1,f,",
    "0,1,1,BRISC,5,200,0,1024,,,BRISC-FW,ZONE_END,1,f,",
    "0,1,1,BRISC,5,300,0,1024,,,BRISC-FW,ZONE_START,1,f,",
    "0,1,1,BRISC,5, 400 ,0,1024,,,BRISC-FW,ZONE_END,1,f,",
    "0,1,1,BRISC,5,500,18446744073709551615,1024,7,3,BRISC-FW,ZONE_START,1,f,",
    "0,1,1,BRISC,5,600,99999999999999999999,1024,9999999999999999999,3,BRISC-FW,ZONE_END,1,f,",
    "0,1,1,BRISC,5,700,x,1024,,,BRISC-FW,ZONE_START,1,f,",
    "0,1,1,BRISC,5,800,,1024,,,BRISC-FW,ZONE_START,1,f,",
    "0,1,1,BRISC,4294967296,800,0,1024,,,BRISC-FW,ZONE_START,1,f,",
    "0,1,1,BRISC,5,900,0,1024,,,BRISC-FW,ZONE_START,1,f,{\"sub_device_id\":1}",
    "0,1,1,BRISC,5,910,0,1024,,,BRISC-FW,ZONE_START,1,f,{\"a\":1,\"b\":2}",
    "0,1,1,BRISC,5,920,0,1024,,,BRISC-FW,ZONE_START,1,f",
    "0,1,1,BRISC,5,930,0,1024,,,BRISC-FW,ZONE_START,1,file,",
    "0,1,1,BRISC2,5,940,0,1024,,,BRISC-FW,ZONE_START,1,f,",
    "0,1,1,BRISC,5,950,0,1024,,,BRISC-FW,ZONE_START,1,f,",
    "0,1,12,BRISC,5,960,0,1024,,,BRISC-FW,ZONE_START,1,f,",
    "",
    "0,1,12,BRISC,69,970,0,1024,,,BRISC-KERNEL,ZONE_START,1,f,",
    "0,1,12,BRISC,5,-980,0,1024,,,BRISC-FW,ZONE_START,1,f,",
};

static void check_same_marker(const report_marker *a, const report_marker *b) {
    assert_true(sb_slice_equal(a->processor, b->processor));
    assert_int_equal(a->device, b->device);
    assert_int_equal(a->core_x, b->core_x);
    assert_int_equal(a->core_y, b->core_y);
    assert_int_equal(a->timer, b->timer);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->time, b->time);
    assert_int_equal(a->data, b->data);
    assert_int_equal(a->program, b->program);
    assert_int_equal(a->trace, b->trace);
    assert_int_equal(a->session, b->session);
    assert_true(sb_slice_equal(a->zone, b->zone));
    assert_true(sb_slice_equal(a->file, b->file));
    assert_true(sb_slice_equal(a->line, b->line));
    assert_true(sb_slice_equal(a->meta, b->meta));
}

/* A log with another column in front is read the thorough way; the result has to be the same. */
static void check_both_ways(const char *line_end) {
    sb_output usual = sb_output_to_memory();
    sb_output other = sb_output_to_memory();
    sb_put_text(&usual, HEAD);
    sb_put(&other, sb_slice_first(sb_slice_of(HEAD), sb_slice_find(sb_slice_of(HEAD), "PCIe")));
    sb_put_text(&other, "more, ");
    sb_put(&other, sb_slice_after(sb_slice_of(HEAD), sb_slice_find(sb_slice_of(HEAD), "PCIe")));
    for (size_t i = 0; i < sizeof varied_rows / sizeof varied_rows[0]; i++) {
        sb_put_format(&usual, "%s%s", varied_rows[i], line_end);
        sb_put_format(&other, "%s%s%s", varied_rows[i][0] == '\0' ? "" : ",", varied_rows[i],
                      line_end);
    }
    report_log quick;
    report_log thorough;
    report_marker left;
    report_marker right;
    report_log_begin(&quick, sb_output_text(&usual));
    report_log_begin(&thorough, sb_output_text(&other));
    assert_true(quick.has_todays_columns);
    assert_false(thorough.has_todays_columns);
    while (report_log_next(&thorough, &right)) {
        assert_true(report_log_next(&quick, &left));
        check_same_marker(&left, &right);
    }
    assert_false(report_log_next(&quick, &left));
    assert_int_equal(quick.rows, thorough.rows);
    assert_int_equal(quick.bad_rows, thorough.bad_rows);
    assert_int_equal(quick.first_bad_line, thorough.first_bad_line);
    sb_output_discard(&usual);
    sb_output_discard(&other);
}

static void familiar_rows_are_read_as_others_are(void **state) {
    (void)state;
    check_both_ways("\n");
    check_both_ways("\r\n");
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
        cmocka_unit_test(familiar_rows_are_read_as_others_are),
        cmocka_unit_test(spans_are_first_to_last),
        cmocka_unit_test(an_id_that_comes_back_is_another_execution),
        cmocka_unit_test(replays_are_told_apart_by_their_columns),
        cmocka_unit_test(a_missing_end_is_found_with_its_place),
        cmocka_unit_test(a_repeated_row_breaks_nothing),
    };
    return RUN(tests);
}
