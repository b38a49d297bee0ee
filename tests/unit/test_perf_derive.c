#include "perf_testing.h"

static void share_is_time_and_gap_of_the_total(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report =
        ANALYSE(&options, OPS({.duration = "1000"}, {.duration = "2000", .latency = "500"},
                              {.duration = "5000", .latency = "1500"}));
    check_number(row_with_id(report, 2)->total_percent, 10);
    check_number(row_with_id(report, 3)->total_percent, 25);
    check_number(row_with_id(report, 4)->total_percent, 65);
    check_near(report->totals.device_time, 8);
    check_near(report->totals.gap, 2);
    sb_perf_free(report);
}

static void first_op_has_no_gap(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.ignore_signposts = true;
    sb_perf_report *report =
        ANALYSE(&options, OPS(SIGNPOST("mark"), {.latency = "1000"}, SIGNPOST("mark"),
                              {.latency = "2000"}, {.latency = ""}));
    check_absent(row_with_id(report, 3)->gap); /* a signpost before it does not count */
    check_number(row_with_id(report, 5)->gap, 2);
    check_absent(row_with_id(report, 6)->gap);
    sb_perf_free(report);
}

static void negative_gaps_are_kept(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report = ANALYSE(&options, OPS({0}, {.latency = "-500"}));
    check_number(row_with_id(report, 3)->gap, -0.5);
    check_near(report->totals.gap, -0.5);
    sb_perf_free(report);
}

static void gaps_belong_to_the_list_not_to_the_device(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.no_merge_devices = true;
    sb_perf_report *report =
        ANALYSE(&options, OPS({.latency = "1000"}, {.device = "1", .latency = "2000"}));
    check_absent(row_with_id(report, 2)->gap);
    check_number(row_with_id(report, 3)->gap, 2);
    sb_perf_free(report);
}

static void total_of_zero_leaves_shares_empty(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report = ANALYSE(&options, OPS({.duration = ""}, {.duration = "0"}));
    check_absent(row_with_id(report, 2)->total_percent);
    check_absent(row_with_id(report, 3)->total_percent);
    sb_perf_free(report);
}

static const test_op with_host_op[] = {
    {.duration = "1000"},
    {.code = "(torch) add", .type = "python_fallback", .duration = "4000", .latency = "1000"},
    {.duration = "2000", .latency = "3000"},
};

static void host_ops_lose_their_time_but_keep_their_gap(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report = ANALYSE(&options, with_host_op);
    const sb_perf_row *host = row_with_id(report, 3);
    assert_true(host->is_host_op);
    assert_int_equal(host->bound, SB_PERF_HOST);
    check_absent(host->device_time);
    check_number(host->gap, 1);
    check_near(report->totals.device_time, 3);
    check_near(report->totals.gap, 4);
    check_number(host->total_percent, 1.0 / 7 * 100);
    check_number(row_with_id(report, 4)->total_percent, 5.0 / 7 * 100);
    sb_perf_free(report);
}

static void host_op_without_gap_has_no_share(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report = ANALYSE(&options, OPS({0}, HOST_OP("(torch) add")));
    check_absent(row_with_id(report, 3)->total_percent);
    sb_perf_free(report);
}

static void no_host_ops_drops_them_and_keeps_the_next_gap(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.no_host_ops = true;
    sb_perf_report *report = ANALYSE(&options, with_host_op);
    check_ids(report, "2 4");
    check_number(row_with_id(report, 4)->gap, 3);
    check_number(row_with_id(report, 4)->total_percent, 5.0 / 6 * 100);
    assert_int_equal(report->totals.host_ops, 1); /* counted before the filters */
    sb_perf_free(report);
}

static void id_range_keeps_its_rows_and_takes_the_first_gap(void **state) {
    (void)state;
    static const struct {
        sb_perf_id_range range;
        const char *ids;
    } cases[] = {
        {{true, 3, 4}, "3 4"}, {{true, INT64_MIN, 3}, "2 3"}, {{true, 4, INT64_MAX}, "4 5"},
        {{true, 4, 3}, ""},    {{true, 9, 99}, ""},           {{false, 3, 4}, "2 3 4 5"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_options options = compat_options();
        options.id_range = cases[i].range;
        sb_perf_report *report = ANALYSE(
            &options, OPS({0}, {.latency = "1000"}, {.latency = "1000"}, {.latency = "1000"}));
        check_ids(report, cases[i].ids);
        if (report->row_count > 0)
            check_absent(report->rows[0].gap);
        if (report->row_count > 1)
            check_number(report->rows[1].gap, 1);
        assert_int_equal(report->totals.device_ops, 4);
        sb_perf_free(report);
    }
}

static void host_op_first_in_range_leaves_the_gap_of_the_next(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.id_range = (sb_perf_id_range){true, 3, 4};
    options.no_host_ops = true;
    sb_perf_report *report = ANALYSE(&options, with_host_op);
    check_ids(report, "4");
    check_number(report->rows[0].gap, 3);
    sb_perf_free(report);
}

static void id_ranges_are_parsed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool valid;
        int64_t first;
        int64_t last;
    } cases[] = {
        {"5-10", true, 5, 10},
        {"31-", true, 31, INT64_MAX},
        {"-12", true, INT64_MIN, 12},
        {"1,000-2,000", true, 1000, 2000},
        {" 2 - 3 ", true, 2, 3},
        {"10-5", true, 10, 5},
        {"-", false, 0, 0},
        {"", false, 0, 0},
        {"12", false, 0, 0},
        {"a-b", false, 0, 0},
        {"1-2-3", false, 0, 0},
        {"--5", false, 0, 0},
        {",-5", false, 0, 0},
        {" -5", false, 0, 0},
        {"1.5-2", false, 0, 0},
        {"99999999999999999999-", false, 0, 0},
        {"0000000000000000000000000000000000000000000001-2", false, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_id_range range = {0};
        if (sb_perf_parse_id_range(cases[i].text, &range) != cases[i].valid)
            fail_msg("'%s'", cases[i].text);
        if (cases[i].valid)
            assert_true(range.given && range.first == cases[i].first &&
                        range.last == cases[i].last);
    }
}

static void rows_are_counted_by_their_text_in_compat(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.ignore_signposts = true;
    const test_op ops[] = {{.code = "Add"},
                           {.code = "my signpost op"},
                           HOST_OP("(torch) signpost"),
                           SIGNPOST("mark"),
                           {.code = "tt_cpu", .type = "tt_dnn_cpu"}};
    sb_perf_report *report = ANALYSE(&options, ops);
    assert_int_equal(report->totals.device_ops, 2);
    assert_int_equal(report->totals.host_ops, 1);
    assert_int_equal(report->totals.signposts, 2);
    sb_perf_free(report);
    options.compat = false;
    report = ANALYSE(&options, ops);
    assert_int_equal(report->totals.signposts, 1);
    assert_int_equal(report->totals.device_ops, 3);
    sb_perf_free(report);
}

static void top_keeps_the_costliest_rows_and_all_totals(void **state) {
    (void)state;
    sb_perf_options options = sb_perf_defaults();
    options.top = 2;
    const test_op ops[] = {
        {.duration = "1000"}, {.duration = "4000"}, {.duration = "2000"}, {.duration = "4000"}};
    sb_perf_report *report = ANALYSE(&options, ops);
    check_ids(report, "3 5");
    check_near(report->totals.device_time, 11);
    assert_int_equal(report->groups[0].op_count, 4);
    sb_perf_free(report);
    options.top = 99;
    report = ANALYSE(&options, ops);
    check_ids(report, "3 5 4 2");
    sb_perf_free(report);
}

/* A plain sum of these is 0: 1e16 + 1 has no room for the 1. */
static void sums_are_compensated(void **state) {
    (void)state;
    perf_sum sum = {0};
    static const double values[] = {1e16, 1, 1, -1e16};
    check_double(perf_sum_value(&sum), 0);
    for (size_t i = 0; i < COUNT_OF(values); i++)
        perf_sum_add(&sum, values[i]);
    check_double(perf_sum_value(&sum), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share_is_time_and_gap_of_the_total),
        cmocka_unit_test(first_op_has_no_gap),
        cmocka_unit_test(negative_gaps_are_kept),
        cmocka_unit_test(gaps_belong_to_the_list_not_to_the_device),
        cmocka_unit_test(total_of_zero_leaves_shares_empty),
        cmocka_unit_test(host_ops_lose_their_time_but_keep_their_gap),
        cmocka_unit_test(host_op_without_gap_has_no_share),
        cmocka_unit_test(no_host_ops_drops_them_and_keeps_the_next_gap),
        cmocka_unit_test(id_range_keeps_its_rows_and_takes_the_first_gap),
        cmocka_unit_test(host_op_first_in_range_leaves_the_gap_of_the_next),
        cmocka_unit_test(id_ranges_are_parsed),
        cmocka_unit_test(rows_are_counted_by_their_text_in_compat),
        cmocka_unit_test(top_keeps_the_costliest_rows_and_all_totals),
        cmocka_unit_test(sums_are_compensated),
    };
    return RUN(tests);
}
