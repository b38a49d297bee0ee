#include "perf_testing.h"

/* One letter per record: lower case an op of that name, upper case a signpost of that name. */
static sb_perf_report *analyse_letters(const sb_perf_options *options, const char *letters,
                                       const char *const *starts) {
    enum { MOST = 32 };
    static char names[MOST][2];
    test_op ops[MOST];
    const size_t count = strlen(letters);
    assert_true(count <= MOST);
    for (size_t i = 0; i < count; i++) {
        names[i][0] = letters[i];
        const bool is_mark = letters[i] >= 'A' && letters[i] <= 'Z';
        ops[i] = is_mark ? (test_op)SIGNPOST(names[i]) : (test_op){.code = names[i]};
        ops[i].start = starts != NULL ? starts[i] : NULL;
    }
    return analyse_ops(options, ops, count);
}

typedef struct window_case {
    const char *letters;
    const char *start;
    const char *end;
    const char *ids;
} window_case;

static void check_windows(const window_case *cases, size_t count, bool print_signposts) {
    for (size_t i = 0; i < count; i++) {
        sb_perf_options options = compat_options();
        options.start_signpost = cases[i].start;
        options.end_signpost = cases[i].end;
        options.print_signposts = print_signposts;
        sb_perf_report *report = analyse_letters(&options, cases[i].letters, NULL);
        check_ids(report, cases[i].ids);
        sb_perf_free(report);
    }
}

/* ---- order ---- */

static void rows_are_sorted_by_time_with_missing_ones_last(void **state) {
    (void)state;
    static const char *const starts[] = {"30", "", "10", "20", "10"};
    sb_perf_options options = compat_options();
    options.no_merge_devices = true; /* merging puts rows back in ID order */
    const test_op second_device = {.device = "1", .start = "5"};
    test_op ops[6];
    for (size_t i = 0; i < 5; i++)
        ops[i] = (test_op){.start = starts[i]};
    ops[5] = second_device;
    sb_perf_report *report = analyse_ops(&options, ops, 6);
    check_ids(report, "7 4 6 5 2 3");
    assert_true(has_note(report, "sorted by HOST START TS"));
    sb_perf_free(report);
}

static void tracing_mode_keeps_the_order_of_the_file(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.no_merge_devices = true;
    options.tracing_mode = true;
    sb_perf_report *report =
        ANALYSE(&options, OPS({.start = "30"}, {.start = "10", .device = "1"}, {.start = "20"}));
    check_ids(report, "2 3 4");
    sb_perf_free(report);
}

static void large_time_stamps_are_compared_exactly(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.no_merge_devices = true;
    sb_perf_report *report = ANALYSE(
        &options, OPS({.start = "9007199254740994"}, {.start = "9007199254740993", .device = "1"}));
    check_ids(report, "3 2");
    sb_perf_free(report);
}

static void without_time_column_rows_are_not_sorted(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report = analyse_text(
        &options, "OP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns]\nA,tt_dnn_device,0,1\n");
    assert_true(has_note(report, "no column HOST START TS"));
    sb_perf_free(report);
}

/* ---- windows ---- */

static void without_signposts_everything_is_kept(void **state) {
    (void)state;
    static const window_case cases[] = {
        {"abc", NULL, NULL, "2 3 4"},
        {"abc", "X", "Y", "2 3 4"},
    };
    check_windows(cases, COUNT_OF(cases), false);
}

static void ignoring_signposts_keeps_them_as_rows(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.ignore_signposts = true;
    options.start_signpost = "X";
    sb_perf_report *report = analyse_letters(&options, "aXb", NULL);
    check_ids(report, "2 3 4");
    check_slice(row_with_id(report, 3)->op_code, "X (signpost)");
    sb_perf_free(report);
}

static void named_signposts_cut_the_window(void **state) {
    (void)state;
    static const window_case cases[] = {
        {"aXbYc", "X", NULL, "4 6"}, /* start only */
        {"aXbYc", NULL, "Y", "2 4"}, /* end only */
        {"aXbYc", "X", "Y", "4"},    /* both */
        {"aYbXc", "X", "Y", ""},     /* end before start */
        {"aXbXc", "X", NULL, "4 6"}, /* the first of a name starts */
        {"aXbYcYd", "X", "Y", "4"},  /* the first of a name ends */
        {"aXbYc", "Q", "Y", "2 4"},  /* start not found: nothing cut there */
        {"aXbYc", "X", "Q", "4 6"},  /* end not found */
        {"aXbYc", "", "Y", "2 4"},   /* empty counts as not given */
        {"aXbYc", "X", "", "4 6"},
    };
    check_windows(cases, COUNT_OF(cases), false);
}

static void equal_names_take_the_second_one_as_end(void **state) {
    (void)state;
    static const window_case cases[] = {
        {"aXbXc", "X", "X", "4"},
        {"aXbXcXd", "X", "X", "4"},
        {"aXbYc", "X", "X", "4 6"}, /* only once: the end is not cut */
    };
    check_windows(cases, COUNT_OF(cases), false);
}

static void unusable_names_are_warned_of(void **state) {
    (void)state;
    static const struct {
        const char *letters;
        const char *start;
        const char *end;
        size_t warnings;
    } cases[] = {
        {"aXbYc", "X", "Y", 0}, {"aXbYc", "Q", "Y", 1},   {"aXbYc", "X", "Q", 1},
        {"aXbXc", "X", "X", 0}, {"aXbXcXd", "X", "X", 1}, {"aXbYc", "X", "X", 1},
        {"aXbYc", "P", "Q", 2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_options options = compat_options();
        options.start_signpost = cases[i].start;
        options.end_signpost = cases[i].end;
        sb_perf_report *report = analyse_letters(&options, cases[i].letters, NULL);
        assert_int_equal(count_warnings(report), cases[i].warnings);
        sb_perf_free(report);
    }
}

static void without_usable_names_the_last_section_is_kept(void **state) {
    (void)state;
    static const window_case cases[] = {
        {"aXbYc", NULL, NULL, "6"},       {"aXbYc", "P", "Q", "6"},
        {"aXbYcXd", NULL, NULL, "4 6 8"}, /* after the first use of the last one's name */
        {"abX", NULL, NULL, ""},          {"Xab", NULL, NULL, "3 4"},
    };
    check_windows(cases, COUNT_OF(cases), false);
}

static void device_op_called_like_the_last_signpost_starts_the_section(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report = ANALYSE(
        &options, OPS({.code = "a"}, {.code = "go"}, {.code = "b"}, SIGNPOST("go"), {.code = "c"}));
    check_ids(report, "4 6");
    sb_perf_free(report);
}

static void printed_signposts_stay_inside_the_window(void **state) {
    (void)state;
    static const window_case cases[] = {
        {"aXbYcZd", "X", "Z", "4 5 6"},
        {"aXbYcZd", "X", NULL, "4 5 6 7 8"},
        {"aXbYcXd", NULL, NULL, "4 5 6 7 8"},
    };
    check_windows(cases, COUNT_OF(cases), true);
}

static void named_windows_go_by_id_and_the_last_section_by_time(void **state) {
    (void)state;
    /* In time order: b (4), X (3), a (2), c (5). */
    static const char *const starts[] = {"30", "20", "10", "40"};
    sb_perf_options options = compat_options();
    sb_perf_report *report = analyse_letters(&options, "aXbc", starts);
    check_ids(report, "2 5");
    sb_perf_free(report);
    options.start_signpost = "X";
    report = analyse_letters(&options, "aXbc", starts);
    check_ids(report, "4 5");
    sb_perf_free(report);
}

static void time_decides_which_signpost_of_a_name_is_first(void **state) {
    (void)state;
    static const char *const starts[] = {"20", "30", "10", "40"};
    sb_perf_options options = compat_options();
    options.start_signpost = "X";
    sb_perf_report *report = analyse_letters(&options, "XaXb", starts);
    check_ids(report, "5");
    sb_perf_free(report);
}

/* ---- plain mode ---- */

static void plain_mode_takes_the_whole_file_if_nothing_follows(void **state) {
    (void)state;
    sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = analyse_letters(&options, "aXbY", NULL);
    check_ids(report, "2 4");
    assert_true(has_note(report, "the whole file is analysed"));
    sb_perf_free(report);
    report = analyse_letters(&options, "aXbYc", NULL);
    check_ids(report, "6");
    sb_perf_free(report);
    options.print_signposts = true;
    report = analyse_letters(&options, "aXbY", NULL);
    check_ids(report, "2 3 4 5");
    sb_perf_free(report);
}

static void plain_mode_warns_of_names_in_a_file_without_signposts(void **state) {
    (void)state;
    sb_perf_options options = sb_perf_defaults();
    options.start_signpost = "X";
    sb_perf_report *report = analyse_letters(&options, "ab", NULL);
    check_ids(report, "2 3");
    assert_int_equal(count_warnings(report), 1);
    sb_perf_free(report);
}

static void plain_mode_cuts_named_windows_by_time(void **state) {
    (void)state;
    static const char *const starts[] = {"30", "20", "10", "40"};
    sb_perf_options options = sb_perf_defaults();
    options.start_signpost = "X";
    sb_perf_report *report = analyse_letters(&options, "aXbc", starts);
    check_ids(report, "2 5");
    sb_perf_free(report);
}

/* The clocks of two hosts have nothing to do with each other. */
static void plain_mode_cuts_each_host_by_its_own_signposts(void **state) {
    (void)state;
    const sb_slice texts[] = {
        SB_SLICE("OP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns],HOST START TS\n"
                 "a,tt_dnn_device,0,1,10\nX,signpost,,,20\nb,tt_dnn_device,0,1,30\n"),
        SB_SLICE("OP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns],HOST START TS\n"
                 "c,tt_dnn_device,0,1,1\nX,signpost,,,2\nd,tt_dnn_device,0,1,3\n"),
    };
    sb_perf_options options = sb_perf_defaults();
    options.no_merge_devices = true;
    options.start_signpost = "X";
    for (int compat = 0; compat <= 1; compat++) {
        options.compat = compat == 1;
        sb_perf_report *report = NULL;
        assert_int_equal(analyse_texts(&options, texts, 2, &report, NULL), SB_OK);
        check_ids(report, compat == 1 ? "7" : "7 4");
        sb_perf_free(report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_by_time_with_missing_ones_last),
        cmocka_unit_test(tracing_mode_keeps_the_order_of_the_file),
        cmocka_unit_test(large_time_stamps_are_compared_exactly),
        cmocka_unit_test(without_time_column_rows_are_not_sorted),
        cmocka_unit_test(without_signposts_everything_is_kept),
        cmocka_unit_test(ignoring_signposts_keeps_them_as_rows),
        cmocka_unit_test(named_signposts_cut_the_window),
        cmocka_unit_test(equal_names_take_the_second_one_as_end),
        cmocka_unit_test(unusable_names_are_warned_of),
        cmocka_unit_test(without_usable_names_the_last_section_is_kept),
        cmocka_unit_test(device_op_called_like_the_last_signpost_starts_the_section),
        cmocka_unit_test(printed_signposts_stay_inside_the_window),
        cmocka_unit_test(named_windows_go_by_id_and_the_last_section_by_time),
        cmocka_unit_test(time_decides_which_signpost_of_a_name_is_first),
        cmocka_unit_test(plain_mode_takes_the_whole_file_if_nothing_follows),
        cmocka_unit_test(plain_mode_warns_of_names_in_a_file_without_signposts),
        cmocka_unit_test(plain_mode_cuts_named_windows_by_time),
        cmocka_unit_test(plain_mode_cuts_each_host_by_its_own_signposts),
    };
    return RUN(tests);
}
