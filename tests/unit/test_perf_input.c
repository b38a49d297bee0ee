#include "perf_testing.h"

static const char short_header[] = "OP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns],"
                                   "OP TO OP LATENCY [ns],CORE COUNT,GLOBAL CALL COUNT,"
                                   "ATTRIBUTES,INPUT_0_MEMORY";

/* A report on the short header and these lines. */
static sb_perf_report *analyse_lines(const sb_perf_options *options, const char *lines) {
    sb_output text = sb_output_to_memory();
    sb_put_text(&text, short_header);
    sb_put_char(&text, '\n');
    sb_put_text(&text, lines);
    sb_put_char(&text, '\0');
    sb_perf_report *report = analyse_text(options, sb_output_text(&text).data);
    sb_output_discard(&text);
    return report;
}

static void check_refused(const sb_perf_options *options, sb_slice text, sb_status status,
                          const char *part) {
    sb_perf_report *report = NULL;
    sb_error error = {0};
    assert_int_equal(analyse_texts(options, &text, 1, &report, &error), status);
    assert_null(report);
    check_contains(sb_slice_of(error.message), "first.csv");
    check_contains(sb_slice_of(error.message), part);
}

static void format_follows_from_the_columns(void **state) {
    (void)state;
    static const char *const formats[] = {"v1", "v2", "v2.1"};
    const sb_perf_options options = compat_options();
    for (int i = TRACE_V1; i <= TRACE_V21; i++) {
        sb_perf_report *report = analyse_as((trace_format)i, &options, OPS({0}), 1);
        assert_string_equal(report->format, formats[i]);
        sb_perf_free(report);
    }
}

static void sizes_are_read_in_every_format(void **state) {
    (void)state;
    const test_op op = {.code = "Matmul",
                        .fidelity = "HiFi2",
                        .memories = {"L1", "L1", "L1"},
                        .sizes = {"1,1,64[50],128[128]", "1,1,128,256[200]", "1,1,64,256"}};
    const sb_perf_options options = compat_options();
    for (int i = TRACE_V1; i <= TRACE_V21; i++) {
        sb_perf_report *report = analyse_as((trace_format)i, &options, &op, 1);
        check_slice(report->rows[0].op_code, "Matmul 64 x 128 x 256");
        sb_perf_free(report);
    }
}

static void architecture_follows_from_option_or_file(void **state) {
    (void)state;
    static const struct {
        trace_format format;
        const char *option;
        const char *arch;
        const char *available;
        const char *name;
        double cores;
    } cases[] = {
        {TRACE_V2, NULL, NULL, NULL, "wormhole", 64},
        {TRACE_V2, "blackhole", NULL, NULL, "blackhole", 130},
        {TRACE_V1, "Wormhole_B0", NULL, NULL, "wormhole", 64},
        {TRACE_V1, "n1", NULL, NULL, "n1", 20},
        {TRACE_V21, NULL, "blackhole", "110", "blackhole", 110},
        {TRACE_V21, "n1", "blackhole", "110", "blackhole", 110},
        {TRACE_V21, NULL, NULL, NULL, "wormhole", 64},
        {TRACE_V21, NULL, "blackhole", "0", "blackhole", 64},
        {TRACE_V21, NULL, "wormhole_b0", NULL, "wormhole", 64},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_options options = compat_options();
        options.arch = cases[i].option;
        const test_op op = {.arch = cases[i].arch, .available = cases[i].available};
        sb_perf_report *report = analyse_as(cases[i].format, &options, &op, 1);
        assert_string_equal(report->arch_name, cases[i].name);
        check_double(report->worker_cores, cases[i].cores);
        sb_perf_free(report);
    }
}

static void ignored_arch_option_and_mixed_values_are_warned_of(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.arch = "n1";
    const test_op ops[] = {{.arch = "blackhole", .available = "110"},
                           {.arch = "wormhole", .available = "64"}};
    sb_perf_report *report = analyse_as(TRACE_V21, &options, ops, 2);
    assert_true(has_note(report, "--arch n1 ignored"));
    assert_true(has_note(report, "blackhole, wormhole"));
    assert_true(has_note(report, "110, 64"));
    assert_string_equal(report->arch_name, "blackhole");
    check_double(report->worker_cores, 110);
    sb_perf_free(report);
}

static void unknown_architecture_is_a_problem_not_a_failure(void **state) {
    (void)state;
    sb_perf_options options = sb_perf_defaults();
    options.arch = "quasar";
    sb_perf_report *report = ANALYSE(&options, OPS({0}));
    check_problem(report, 0, NULL, "quasar");
    assert_string_equal(report->arch_name, "quasar");
    check_double(report->dram_bandwidth, 0);
    sb_perf_free(report);
}

static void board_names_are_known_in_plain_mode_only(void **state) {
    (void)state;
    assert_non_null(perf_find_arch(sb_slice_of("p150"), false));
    assert_null(perf_find_arch(sb_slice_of("p150"), true));
    assert_non_null(perf_find_arch(sb_slice_of("WORMHOLE_B0"), true));
    assert_null(perf_find_arch(sb_slice_of("wormhole_b1"), false));
}

static void rows_are_numbered_from_two_over_blank_lines(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report =
        analyse_lines(&options, "A,tt_dnn_device,0,1,,1,1,,\n\n  \nB,tt_dnn_device,0,1,,1,1,,\n");
    check_ids(report, "2 3");
    sb_perf_free(report);
}

static void missing_tokens_are_no_values(void **state) {
    (void)state;
    static const char *const tokens[] = {
        "",     "#N/A",   "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",
        "-nan", "1.#IND", "1.#QNAN",  "<NA>", "N/A",     "NA",       "NULL",
        "NaN",  "None",   "n/a",      "nan",  "null",    "\"\"",
    };
    const sb_perf_options options = compat_options();
    for (size_t i = 0; i < COUNT_OF(tokens); i++) {
        char line[256];
        snprintf(line, sizeof line, "A,tt_dnn_device,0,%s,%s,%s,%s,%s,%s\n", tokens[i], tokens[i],
                 tokens[i], tokens[i], tokens[i], tokens[i]);
        sb_perf_report *report = analyse_lines(&options, line);
        const sb_perf_row *row = &report->rows[0];
        assert_int_equal(row->device_time.kind, SB_PERF_INTEGER);
        check_absent(row->cores);
        assert_null(row->input_0_memory.data);
        check_slice(row->call_count, "nan");
        assert_int_equal(report->problem_count, 0);
        sb_perf_free(report);
    }
}

static void near_misses_of_missing_tokens_are_values(void **state) {
    (void)state;
    static const char *const texts[] = {"NAN", "none", "Null", " ", "N/A ", "nanx"};
    const sb_perf_options options = compat_options();
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char line[256];
        snprintf(line, sizeof line, "A,tt_dnn_device,0,1,,1,1,,%s\n", texts[i]);
        sb_perf_report *report = analyse_lines(&options, line);
        check_slice(report->rows[0].input_0_memory, texts[i]);
        sb_perf_free(report);
    }
}

static void what_is_no_number_is_a_problem_with_row_and_column(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = analyse_lines(&options, "A,tt_dnn_device,0,1,,1,1,,\n"
                                                     "B,tt_dnn_device,x,fast,soon,many,1,,\n"
                                                     "C,tt_dnn_device,0,inf,,1,1,,\n");
    check_problem(report, 3, "DEVICE KERNEL DURATION [ns]", "'fast'");
    check_problem(report, 3, "OP TO OP LATENCY [ns]", "'soon'");
    check_problem(report, 3, "CORE COUNT", "'many'");
    check_problem(report, 3, "DEVICE ID", "'x'");
    check_problem(report, 4, "DEVICE KERNEL DURATION [ns]", "finite");
    assert_int_equal(report->row_count, 3);
    sb_perf_free(report);
}

static void missing_op_code_and_type_are_problems(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = analyse_lines(&options, ",tt_dnn_device,0,1,,1,1,,\n"
                                                     "B,,0,1,,1,1,,\n");
    check_slice(row_with_id(report, 2)->op_code, "unnamed");
    check_problem(report, 2, "OP CODE", "empty");
    check_problem(report, 3, "OP TYPE", "empty");
    assert_int_equal(report->totals.device_ops, 2);
    sb_perf_free(report);
}

static void missing_columns_are_named(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report =
        analyse_text(&options, "OP CODE,DEVICE KERNEL DURATION [ns]\nA,1000\nB,\n");
    static const char *const columns[] = {
        "OP TYPE",        "GLOBAL CALL COUNT",    "DEVICE ID", "CORE COUNT", "ATTRIBUTES",
        "INPUT_0_MEMORY", "OP TO OP LATENCY [ns]"};
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        check_problem(report, 0, columns[i], "not in the file");
    check_number(row_with_id(report, 2)->device_time, 1);
    assert_int_equal(report->device_count, 1);
    sb_perf_free(report);
}

static void ragged_records_are_read_as_far_as_they_go(void **state) {
    (void)state;
    const char *lines = "A,tt_dnn_device,0,1000\n"
                        "B,tt_dnn_device,0,2000,,1,1,,,surplus\n"
                        "C,tt_dnn_device,0,3";
    sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = analyse_lines(&options, lines);
    check_problem(report, 2, NULL, "line 2: ends after 4 of 9 fields");
    check_problem(report, 3, NULL, "has 10 fields, the header has 9");
    check_problem(report, 4, NULL, "cut off");
    check_number(row_with_id(report, 2)->device_time, 1);
    check_number(row_with_id(report, 3)->device_time, 2);
    sb_perf_free(report);
    options.compat = true; /* short records are no problem there */
    report = analyse_lines(&options, lines);
    assert_null(find_problem(report, 2, NULL));
    sb_perf_free(report);
}

static void open_quote_is_a_problem(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = analyse_lines(&options, "A,tt_dnn_device,0,1,,1,1,,\n"
                                                     "B,tt_dnn_device,0,1,,1,1,\"open\n\n");
    check_problem(report, 3, NULL, "quote is never closed");
    sb_perf_free(report);
}

static void byte_order_mark_and_crlf_make_no_difference(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = analyse_text(
        &options, "\xef\xbb\xbfOP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns],CORE COUNT\r\n"
                  "A,tt_dnn_device,0,1500,8\r\n");
    check_slice(report->rows[0].op_code, "A");
    check_number(report->rows[0].device_time, 1.5);
    check_number(report->rows[0].cores, 8);
    sb_perf_free(report);
}

static void first_of_two_columns_of_a_name_counts(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = analyse_text(
        &options, "OP CODE,OP TYPE,OP CODE,DEVICE KERNEL DURATION [ns]\nA,tt_dnn_device,B,1\n");
    check_slice(report->rows[0].op_code, "A");
    sb_perf_free(report);
}

static void what_is_no_ops_report_is_refused(void **state) {
    (void)state;
    sb_perf_options options = sb_perf_defaults();
    check_refused(&options, sb_slice_of("name,age\nAnna,7\n"), SB_ERR_FORMAT, "'name', 'age'");
    check_refused(&options, sb_slice_of("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n1,2\n"),
                  SB_ERR_FORMAT, "device log");
    check_refused(&options,
                  (sb_slice)SB_SLICE("\x7f"
                                     "ELF\0\0\0binary"),
                  SB_ERR_FORMAT, "binary");
    check_refused(&options, sb_slice_of("OP CODE\nA\n"), SB_ERR_FORMAT, "no ops report");
    options.compat = true;
    check_refused(&options, sb_slice_of("OP CODE,OP TYPE\nA,tt_dnn_device\n"), SB_ERR_FORMAT,
                  "DEVICE ID");
}

static void empty_inputs_are_refused_as_empty(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    check_refused(&options, sb_slice_of(""), SB_ERR_EMPTY, "empty");
    check_refused(&options, sb_slice_of(" \n\t\r\n"), SB_ERR_EMPTY, "empty");
    check_refused(&options, sb_slice_of("\xef\xbb\xbf"), SB_ERR_EMPTY, "header");
}

static void report_without_device_ops_is_empty_in_plain_mode(void **state) {
    (void)state;
    const char *text = "OP CODE,OP TYPE,DEVICE ID\nMark,signpost,\n";
    sb_perf_options options = sb_perf_defaults();
    check_refused(&options, sb_slice_of(text), SB_ERR_EMPTY, "no device ops");
    options.compat = true;
    sb_perf_report *report = analyse_text(&options, text);
    assert_int_equal(report->row_count, 0);
    sb_perf_free(report);
}

static void kinds_of_columns_follow_from_their_cells(void **state) {
    (void)state;
    static const struct {
        const char *first;
        const char *second;
        bool is_real;
    } cases[] = {
        {"1", "2", false}, {"1", "2.0", true},  {"1", "", true},
        {"1", "x", false}, {" 1", "+2", false}, {"1e3", "2", true},
    };
    const sb_perf_options options = compat_options();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_report *report =
            ANALYSE(&options, OPS({.calls = cases[i].first, .cores = cases[i].first},
                                  {.calls = cases[i].second, .cores = cases[i].second}));
        assert_int_equal(report->call_count_is_real, cases[i].is_real);
        assert_int_equal(report->cores_are_real, cases[i].is_real);
        sb_perf_free(report);
    }
}

static const char two_devices[] = "OP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns]\n"
                                  "A,tt_dnn_device,0,1\nA,tt_dnn_device,1,2\n";
static const char one_device[] = "OP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns]\n"
                                 "A,tt_dnn_device,0,3\n";

static void devices_of_later_files_are_shifted(void **state) {
    (void)state;
    for (int compat = 0; compat <= 1; compat++) {
        sb_perf_options options = sb_perf_defaults();
        options.compat = compat == 1;
        options.no_merge_devices = true;
        const sb_slice texts[] = {sb_slice_of(two_devices), sb_slice_of(two_devices)};
        sb_perf_report *report = NULL;
        assert_int_equal(analyse_texts(&options, texts, 2, &report, NULL), SB_OK);
        check_ids(report, "2 3 4 5");
        assert_int_equal(report->device_count, 4);
        check_number(row_with_id(report, 5)->device, 3);
        assert_int_equal(row_with_id(report, 3)->host, 0);
        assert_int_equal(row_with_id(report, 4)->host, 1);
        assert_string_equal(report->hosts[1], "beta");
        sb_perf_free(report);
    }
}

static void files_of_different_device_counts_are_refused_in_compat_only(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    const sb_slice texts[] = {sb_slice_of(two_devices), sb_slice_of(one_device)};
    sb_perf_report *report = NULL;
    sb_error error = {0};
    assert_int_equal(analyse_texts(&options, texts, 2, &report, &error), SB_ERR_FORMAT);
    check_contains(sb_slice_of(error.message), "second.csv");
    options.compat = false;
    options.no_merge_devices = true;
    assert_int_equal(analyse_texts(&options, texts, 2, &report, &error), SB_OK);
    check_number(row_with_id(report, 4)->device, 2);
    sb_perf_free(report);
}

static void harmful_text_is_cleaned_in_plain_mode(void **state) {
    (void)state;
    sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = ANALYSE(&options, OPS({.code = "A\x1b[2J\nB"}));
    check_slice(report->rows[0].op_code, "A\xef\xbf\xbd[2J B");
    sb_perf_free(report);
    options.compat = true;
    report = ANALYSE(&options, OPS({.code = "A\nB"}));
    check_slice(report->rows[0].op_code, "A\nB");
    sb_perf_free(report);
}

static void only_the_first_thousand_problems_are_kept(void **state) {
    (void)state;
    enum { OPS_COUNT = 1500 };
    test_op *ops = sb_alloc_zeroed(OPS_COUNT, sizeof *ops);
    for (size_t i = 0; i < OPS_COUNT; i++)
        ops[i].cores = "many";
    const sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = analyse_ops(&options, ops, OPS_COUNT);
    assert_int_equal(report->problem_count, OPS_COUNT);
    assert_int_equal(report->problems_kept, 1000);
    sb_perf_free(report);
    free(ops);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(format_follows_from_the_columns),
        cmocka_unit_test(sizes_are_read_in_every_format),
        cmocka_unit_test(architecture_follows_from_option_or_file),
        cmocka_unit_test(ignored_arch_option_and_mixed_values_are_warned_of),
        cmocka_unit_test(unknown_architecture_is_a_problem_not_a_failure),
        cmocka_unit_test(board_names_are_known_in_plain_mode_only),
        cmocka_unit_test(rows_are_numbered_from_two_over_blank_lines),
        cmocka_unit_test(missing_tokens_are_no_values),
        cmocka_unit_test(near_misses_of_missing_tokens_are_values),
        cmocka_unit_test(what_is_no_number_is_a_problem_with_row_and_column),
        cmocka_unit_test(missing_op_code_and_type_are_problems),
        cmocka_unit_test(missing_columns_are_named),
        cmocka_unit_test(ragged_records_are_read_as_far_as_they_go),
        cmocka_unit_test(open_quote_is_a_problem),
        cmocka_unit_test(byte_order_mark_and_crlf_make_no_difference),
        cmocka_unit_test(first_of_two_columns_of_a_name_counts),
        cmocka_unit_test(what_is_no_ops_report_is_refused),
        cmocka_unit_test(empty_inputs_are_refused_as_empty),
        cmocka_unit_test(report_without_device_ops_is_empty_in_plain_mode),
        cmocka_unit_test(kinds_of_columns_follow_from_their_cells),
        cmocka_unit_test(devices_of_later_files_are_shifted),
        cmocka_unit_test(files_of_different_device_counts_are_refused_in_compat_only),
        cmocka_unit_test(harmful_text_is_cleaned_in_plain_mode),
        cmocka_unit_test(only_the_first_thousand_problems_are_kept),
    };
    return RUN(tests);
}
