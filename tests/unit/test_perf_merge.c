#include "perf_testing.h"

/* Each row as "id:code:microseconds@device". */
static void check_rows(const sb_perf_report *report, const char *expected) {
    sb_output text = sb_output_to_memory();
    for (size_t i = 0; i < report->row_count; i++) {
        const sb_perf_row *row = &report->rows[i];
        sb_put_format(&text, "%s%lld:", i > 0 ? " " : "", (long long)row->id);
        sb_put(&text, row->op_code);
        sb_put_format(&text, ":%g@%g", sb_perf_or_zero(row->device_time),
                      sb_perf_or_zero(row->device));
    }
    check_slice(sb_output_text(&text), expected);
    sb_output_discard(&text);
}

static void check_merge(bool compat, const test_op *ops, size_t count, const char *expected) {
    sb_perf_options options = sb_perf_defaults();
    options.compat = compat;
    sb_perf_report *report = analyse_ops(&options, ops, count);
    check_rows(report, expected);
    sb_perf_free(report);
}

#define OP(device_id, name, ns) \
    { .device = (device_id), .code = (name), .duration = (ns) }

static void slowest_device_counts(void **state) {
    (void)state;
    const test_op ops[] = {OP("0", "A", "1000"), OP("1", "A", "3000"), OP("2", "A", "2000")};
    check_merge(true, ops, COUNT_OF(ops), "3:A:3@1");
    check_merge(false, ops, COUNT_OF(ops), "3:A:3@1");
}

static void first_device_counts_on_ties(void **state) {
    (void)state;
    const test_op ops[] = {OP("1", "A", "2000"), OP("0", "A", "2000"), OP("2", "A", "2000")};
    check_merge(true, ops, COUNT_OF(ops), "3:A:2@0");
    check_merge(false, ops, COUNT_OF(ops), "3:A:2@0");
}

static void collectives_take_the_average_on_the_first_row(void **state) {
    (void)state;
    static const char *const names[] = {"AllGather", "ReduceScatterMinimal", "RingAllReduceAsync"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const test_op ops[] = {OP("0", names[i], "1000"), OP("1", names[i], "4000"),
                               OP("2", names[i], "")};
        char expected[64];
        snprintf(expected, sizeof expected, "2:%s:2.5@0", names[i]);
        check_merge(true, ops, COUNT_OF(ops), expected);
        check_merge(false, ops, COUNT_OF(ops), expected);
    }
}

static void collective_without_any_duration_has_none(void **state) {
    (void)state;
    const test_op ops[] = {OP("0", "AllGather", ""), OP("1", "AllGather", "")};
    const sb_perf_options options = compat_options();
    sb_perf_report *report = analyse_ops(&options, ops, COUNT_OF(ops));
    assert_int_equal(report->row_count, 1);
    assert_int_equal(report->rows[0].device_time.kind, SB_PERF_INTEGER);
    sb_perf_free(report);
}

static void everything_else_comes_from_the_row_that_counts(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report = ANALYSE(
        &options, OPS({.code = "First"}, {.code = "First", .device = "1"},
                      {.latency = "5000", .cores = "10", .duration = "1000"},
                      {.device = "1", .latency = "7000", .cores = "20", .duration = "2000"}));
    check_ids(report, "2 5");
    const sb_perf_row *row = row_with_id(report, 5);
    check_number(row->gap, 7);
    check_number(row->cores, 20);
    sb_perf_free(report);
}

/* A missing duration neither beats an earlier row nor is beaten by a later one. */
static void missing_durations_in_compat(void **state) {
    (void)state;
    const test_op first[] = {OP("0", "A", ""), OP("1", "A", "2000")};
    check_merge(true, first, COUNT_OF(first), "2:A:0@0");
    const test_op second[] = {OP("0", "A", "1000"), OP("1", "A", "")};
    check_merge(true, second, COUNT_OF(second), "2:A:1@0");
}

static void known_durations_beat_missing_ones_in_plain_mode(void **state) {
    (void)state;
    const test_op ops[] = {OP("0", "A", ""), OP("1", "A", "2000"), OP("2", "A", "1000")};
    check_merge(false, ops, COUNT_OF(ops), "3:A:2@1");
}

static void op_missing_on_a_later_device_is_bridged(void **state) {
    (void)state;
    const test_op ops[] = {OP("0", "A", "1000"), OP("0", "B", "1000"), OP("0", "C", "1000"),
                           OP("1", "A", "1000"), OP("1", "C", "5000")};
    check_merge(true, ops, COUNT_OF(ops), "2:A:1@0 3:B:1@0 6:C:5@1");
    check_merge(false, ops, COUNT_OF(ops), "2:A:1@0 3:B:1@0 6:C:5@1");
}

static const test_op lacking_on_first[] = {
    OP("0", "A", "1000"), OP("0", "C", "1000"), OP("0", "D", "1000"), OP("1", "A", "1000"),
    OP("1", "B", "1000"), OP("1", "C", "3000"), OP("1", "D", "2000"),
};

static void op_missing_on_the_first_device_shifts_compat(void **state) {
    (void)state;
    check_merge(true, lacking_on_first, COUNT_OF(lacking_on_first),
                "2:A:1@0 3:C:1@0 4:D:1@0 6:B:1@1 7:C:3@1 8:D:2@1");
}

static void ops_of_one_name_are_aligned_by_their_sizes(void **state) {
    (void)state;
    const test_op ops[] = {
        {.device = "0", .code = "Add", .duration = "1000", .sizes = {"1,1,64,64"}},
        {.device = "1", .code = "Add", .duration = "2000", .sizes = {"1,1,32,32"}},
        {.device = "1", .code = "Add", .duration = "9000", .sizes = {"1,1,64,64"}},
    };
    check_merge(false, ops, COUNT_OF(ops), "3:Add:2@1 4:Add:9@1");
    check_merge(true, ops, COUNT_OF(ops), "3:Add:2@1 4:Add:9@1");
}

static void devices_with_shares_of_different_sizes_stay_together(void **state) {
    (void)state;
    const test_op ops[] = {
        {.device = "0", .code = "Add", .duration = "1000", .sizes = {"1,1,64,64"}},
        {.device = "1", .code = "Add", .duration = "2000", .sizes = {"1,1,32,64"}},
    };
    check_merge(false, ops, COUNT_OF(ops), "3:Add:2@1");
}

static void op_missing_on_the_first_device_is_realigned_in_plain_mode(void **state) {
    (void)state;
    check_merge(false, lacking_on_first, COUNT_OF(lacking_on_first),
                "2:A:1@0 6:B:1@1 7:C:3@1 8:D:2@1");
}

static void ops_of_different_sizes_are_merged_if_nothing_fits_better(void **state) {
    (void)state;
    const test_op ops[] = {{.device = "0", .sizes = {"1,1,32,64"}, .duration = "2000"},
                           {.device = "1", .sizes = {"1,1,32,96"}, .duration = "1000"}};
    check_merge(false, ops, COUNT_OF(ops), "2:Add:2@0");
}

static void missing_ops_are_warned_of(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report =
        ANALYSE(&options, OPS(OP("0", "A", "1"), OP("1", "B", "1"), OP("2", "A", "1")));
    assert_true(has_note(report, "A (row 2) is missing on device 1"));
    assert_true(has_note(report, "B (row 3) is missing on device 0, 2"));
    assert_int_equal(count_warnings(report), 2);
    sb_perf_free(report);
}

static void endless_warnings_are_counted_instead(void **state) {
    (void)state;
    enum { STEPS = 50 };
    test_op ops[STEPS + 1];
    for (size_t i = 0; i < STEPS; i++)
        ops[i] = (test_op){.device = "0"};
    ops[STEPS] = (test_op){.device = "1"};
    const sb_perf_options options = compat_options();
    sb_perf_report *report = analyse_ops(&options, ops, COUNT_OF(ops));
    assert_int_equal(report->row_count, STEPS);
    assert_int_equal(count_warnings(report), 21);
    assert_true(has_note(report, "29 more steps"));
    sb_perf_free(report);
}

static void devices_kept_apart_stay_as_they_are(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.no_merge_devices = true;
    sb_perf_report *report = ANALYSE(&options, OPS(OP("1", "A", "1000"), OP("0", "A", "3000")));
    check_rows(report, "2:A:1@1 3:A:3@0");
    assert_int_equal(report->device_count, 2);
    sb_perf_free(report);
}

static void one_device_is_only_put_in_id_order(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    for (int apart = 0; apart <= 1; apart++) {
        options.no_merge_devices = apart == 1;
        sb_perf_report *report =
            ANALYSE(&options, OPS({.start = "30"}, {.start = "20"}, {.start = "10"}));
        check_ids(report, "2 3 4");
        assert_int_equal(report->device_count, 1);
        sb_perf_free(report);
    }
}

static void host_rows_and_signposts_are_kept_in_id_order(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.ignore_signposts = true;
    sb_perf_report *report =
        ANALYSE(&options, OPS(OP("0", "A", "1"), HOST_OP("(torch) add"), OP("1", "A", "2"),
                              SIGNPOST("mark"), OP("0", "B", "1"), OP("1", "B", "1")));
    check_ids(report, "3 4 5 6");
    assert_int_equal(report->device_count, 2);
    sb_perf_free(report);
}

static void host_rows_alone_are_shown_only_without_device_id_in_compat(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report = ANALYSE(&options, OPS(HOST_OP("(torch) add")));
    check_ids(report, "2");
    assert_int_equal(report->device_count, 0);
    sb_perf_free(report);
    report = ANALYSE(&options, OPS({.code = "(torch) add", .type = "python_fallback"}));
    check_ids(report, "");
    sb_perf_free(report);
}

static void queues_follow_the_time_of_their_records(void **state) {
    (void)state;
    const test_op ops[] = {{.device = "0", .code = "B", .start = "20", .duration = "1000"},
                           {.device = "0", .code = "A", .start = "10", .duration = "1000"},
                           {.device = "1", .code = "A", .start = "11", .duration = "2000"},
                           {.device = "1", .code = "B", .start = "21", .duration = "2000"}};
    check_merge(true, ops, COUNT_OF(ops), "4:A:2@1 5:B:2@1");
}

static void more_devices_than_the_limit_are_refused(void **state) {
    (void)state;
    enum { LIMIT = 4096 };
    for (int count = LIMIT; count <= LIMIT + 1; count++) {
        sb_output text = sb_output_to_memory();
        sb_put_text(&text, "OP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns]\n");
        for (int i = 0; i < count; i++)
            sb_put_format(&text, "A,tt_dnn_device,%d,1\n", i);
        const sb_perf_options options = sb_perf_defaults();
        const sb_slice slice = sb_output_text(&text);
        sb_perf_report *report = NULL;
        assert_int_equal(analyse_texts(&options, &slice, 1, &report, NULL),
                         count > LIMIT ? SB_ERR_LIMIT : SB_OK);
        sb_perf_free(report);
        sb_output_discard(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slowest_device_counts),
        cmocka_unit_test(first_device_counts_on_ties),
        cmocka_unit_test(collectives_take_the_average_on_the_first_row),
        cmocka_unit_test(collective_without_any_duration_has_none),
        cmocka_unit_test(everything_else_comes_from_the_row_that_counts),
        cmocka_unit_test(missing_durations_in_compat),
        cmocka_unit_test(known_durations_beat_missing_ones_in_plain_mode),
        cmocka_unit_test(op_missing_on_a_later_device_is_bridged),
        cmocka_unit_test(op_missing_on_the_first_device_shifts_compat),
        cmocka_unit_test(ops_of_one_name_are_aligned_by_their_sizes),
        cmocka_unit_test(devices_with_shares_of_different_sizes_stay_together),
        cmocka_unit_test(op_missing_on_the_first_device_is_realigned_in_plain_mode),
        cmocka_unit_test(ops_of_different_sizes_are_merged_if_nothing_fits_better),
        cmocka_unit_test(missing_ops_are_warned_of),
        cmocka_unit_test(endless_warnings_are_counted_instead),
        cmocka_unit_test(devices_kept_apart_stay_as_they_are),
        cmocka_unit_test(one_device_is_only_put_in_id_order),
        cmocka_unit_test(host_rows_and_signposts_are_kept_in_id_order),
        cmocka_unit_test(host_rows_alone_are_shown_only_without_device_id_in_compat),
        cmocka_unit_test(queues_follow_the_time_of_their_records),
        cmocka_unit_test(more_devices_than_the_limit_are_refused),
    };
    return RUN(tests);
}
