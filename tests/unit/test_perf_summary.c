#include "perf_testing.h"

static const sb_perf_group *find_group(const sb_perf_report *report, const char *key,
                                       double device) {
    for (size_t i = 0; i < report->group_count; i++) {
        const sb_perf_group *group = &report->groups[i];
        const bool same = device < 0 ? !sb_perf_has(group->device)
                                     : sb_perf_has(group->device) && group->device.value == device;
        if (same && sb_slice_is(group->key, key))
            return group;
    }
    fail_msg("there is no group %s of device %g", key, device);
    return NULL;
}

/* Groups in order: "key=count,". */
static void check_groups(const sb_perf_report *report, const char *expected) {
    sb_output text = sb_output_to_memory();
    for (size_t i = 0; i < report->group_count; i++) {
        sb_put(&text, report->groups[i].key);
        sb_put_format(&text, "=%zu,", report->groups[i].op_count);
    }
    check_slice(sb_output_text(&text), expected);
    sb_output_discard(&text);
}

static sb_perf_options grouped_by(sb_perf_grouping grouping) {
    sb_perf_options options = compat_options();
    options.grouping = grouping;
    return options;
}

static void categories_follow_from_the_name(void **state) {
    (void)state;
    static const struct {
        const char *word;
        const char *category;
    } cases[] = {
        {"Matmul", "Compute"},
        {"MatmulDeviceOperation", "Compute"},
        {"MinimalMatmulOp", "Compute"},
        {"Conv2dDeviceOperation", "Compute"},
        {"GridSampleOperation", "Compute"},
        {"SDPAOperation", "Compute"},
        {"HaloDeviceOperation", "DM"},
        {"ReduceScatter", "DM"},
        {"PagedUpdateCacheDeviceOperation", "DM"},
        {"PagedUpdateCacheDeviceOperationDeviceOperation", "DM"},
        {"PagedUpdateCache", "Other"},
        {"Tilize", "TM"},
        {"PadDeviceOperation", "TM"},
        {"Pad", "Other"},
        {"(torch)", "Host"},
        {"AllGather", "Other"},
        {"matmul", "Other"},
        {"DeviceOperation", "Other"},
    };
    const sb_perf_options options = grouped_by(SB_PERF_BY_OP);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_report *report = ANALYSE(&options, OPS({.code = cases[i].word}));
        assert_int_equal(report->group_count, 1);
        assert_string_equal(report->groups[0].category, cases[i].category);
        sb_perf_free(report);
    }
}

static const test_op mixed_ops[] = {
    {.code = "Tilize", .memories = {"DEV_1_DRAM_INTERLEAVED"}, .duration = "1000"},
    {.code = "Tilize", .memories = {"DEV_0_L1_HEIGHT_SHARDED"}, .duration = "2000"},
    {.code = "Softmax", .memories = {""}, .duration = "4000"},
    {.code = "Tilize", .memories = {"DEV_0_DRAM_INTERLEAVED"}, .duration = "3000"},
    {.code = "Reshape extra words", .memories = {"L1_X"}, .duration = "500"},
    HOST_OP("(torch) add"),
};

static void ops_are_grouped_by_name_memory_or_category(void **state) {
    (void)state;
    static const struct {
        sb_perf_grouping grouping;
        const char *groups;
    } cases[] = {
        {SB_PERF_BY_OP, "Tilize=3,Softmax=1,Reshape=1,(torch)=1,"},
        {SB_PERF_BY_MEMORY, "Softmax=1,Tilize (in0:dram_interleaved)=2,"
                            "Tilize (in0:height_sharded)=1,Reshape (in0:l1_x)=1,(torch)=1,"},
        {SB_PERF_BY_CATEGORY, "TM=4,Compute=1,Host=1,"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const sb_perf_options options = grouped_by(cases[i].grouping);
        sb_perf_report *report = ANALYSE(&options, mixed_ops);
        check_groups(report, cases[i].groups);
        assert_int_equal(report->groups_have_flops, cases[i].grouping != SB_PERF_BY_CATEGORY);
        sb_perf_free(report);
    }
}

static void memory_without_parts_is_left_out_in_compat_only(void **state) {
    (void)state;
    sb_perf_options options = grouped_by(SB_PERF_BY_MEMORY);
    const test_op ops[] = {{.code = "Tilize", .memories = {"DRAM"}}, {.code = "Softmax"}};
    sb_perf_report *report = ANALYSE(&options, ops);
    check_groups(report, "Softmax=1,");
    sb_perf_free(report);
    options.compat = false;
    report = ANALYSE(&options, ops);
    check_groups(report, "Softmax=1,Tilize=1,");
    sb_perf_free(report);
}

static void largest_groups_come_first_and_ties_by_key(void **state) {
    (void)state;
    const sb_perf_options options = grouped_by(SB_PERF_BY_OP);
    sb_perf_report *report =
        ANALYSE(&options, OPS({.code = "c"}, {.code = "a"}, {.code = "b", .duration = "9000"}));
    check_groups(report, "b=1,a=1,c=1,");
    sb_perf_free(report);
}

static void shares_are_of_device_time_only(void **state) {
    (void)state;
    const sb_perf_options options = grouped_by(SB_PERF_BY_OP);
    sb_perf_report *report =
        ANALYSE(&options, OPS({.code = "a", .duration = "1000"},
                              {.code = "b", .duration = "3000", .latency = "100000"}));
    check_near(find_group(report, "b", -1)->total_percent, 75);
    check_near(find_group(report, "b", -1)->device_time, 3);
    sb_perf_free(report);
}

static void signposts_and_what_is_called_so_are_left_out(void **state) {
    (void)state;
    sb_perf_options options = grouped_by(SB_PERF_BY_OP);
    options.ignore_signposts = true;
    const test_op ops[] = {{.code = "Add"}, SIGNPOST("mark"), {.code = "signpost_op"}};
    sb_perf_report *report = ANALYSE(&options, ops);
    check_groups(report, "Add=1,");
    sb_perf_free(report);
    options.compat = false;
    report = ANALYSE(&options, ops);
    check_groups(report, "Add=1,signpost_op=1,");
    sb_perf_free(report);
}

static void no_host_ops_leaves_no_host_group(void **state) {
    (void)state;
    sb_perf_options options = grouped_by(SB_PERF_BY_OP);
    options.no_host_ops = true;
    sb_perf_report *report = ANALYSE(&options, OPS({.code = "Add"}, HOST_OP("(torch) add")));
    check_groups(report, "Add=1,");
    sb_perf_free(report);
}

static void unknown_names_are_warned_of_once(void **state) {
    (void)state;
    const sb_perf_options options = grouped_by(SB_PERF_BY_OP);
    sb_perf_report *report = ANALYSE(&options, OPS({.code = "Strange"}, {.code = "Strange"},
                                                   {.code = "Matmul2"}, {.code = "Tilize"}));
    assert_int_equal(report->summary_note_count, 2);
    check_contains(report->summary_notes[0].text, "Strange");
    sb_perf_free(report);
}

/* A matmul that reaches this many percent of one wormhole core at HiFi4 in its time. */
static test_op matmul(const char *device, const char *depth, const char *duration) {
    static char sizes[8][64];
    static size_t next;
    char *size = sizes[next++ % COUNT_OF(sizes)];
    snprintf(size, sizeof sizes[0], "1,1,32,%s", depth);
    return (test_op){.code = "Matmul",
                     .device = device,
                     .cores = "1",
                     .fidelity = "HiFi4",
                     .duration = duration,
                     .memories = {"L1_A", "L1_A", "L1_A"},
                     .sizes = {size, "1,1,1,32", ""}};
}

static double share_of(double depth, double duration) {
    return 2 * 32 * 32 * depth / (duration * 1e-9) / (74.0 / 72 * 1e12) * 100;
}

static void flops_are_summarised(void **state) {
    (void)state;
    const sb_perf_options options = grouped_by(SB_PERF_BY_OP);
    const test_op ops[] = {matmul("0", "64", "1000"),
                           matmul("0", "128", "1000"),
                           matmul("0", "32", "4000"),
                           {.code = "Softmax"}};
    const double x[] = {share_of(64, 1000), share_of(128, 1000), share_of(32, 4000)};
    const double mean = (x[0] + x[1] + x[2]) / 3;
    double squares = 0;
    for (size_t i = 0; i < COUNT_OF(x); i++)
        squares += (x[i] - mean) * (x[i] - mean);
    sb_perf_report *report = ANALYSE(&options, ops);
    const sb_perf_group *group = find_group(report, "Matmul", -1);
    check_number(group->flops_min, x[2]);
    check_number(group->flops_max, x[1]);
    check_number(group->flops_mean, mean);
    assert_true(sb_perf_has(group->flops_deviation));
    check_near(group->flops_deviation.value * group->flops_deviation.value, squares / 2);
    check_number(group->flops_weighted, (x[0] + x[1] + 4 * x[2]) / 6);
    const sb_perf_group *other = find_group(report, "Softmax", -1);
    check_absent(other->flops_min);
    check_absent(other->flops_mean);
    check_absent(other->flops_weighted);
    sb_perf_free(report);
}

static void deviation_needs_two_values(void **state) {
    (void)state;
    const sb_perf_options options = grouped_by(SB_PERF_BY_OP);
    const test_op ops[] = {matmul("0", "64", "1000")};
    sb_perf_report *report = ANALYSE(&options, ops);
    check_absent(report->groups[0].flops_deviation);
    check_number(report->groups[0].flops_mean, share_of(64, 1000));
    sb_perf_free(report);
}

static void grouping_by_category_has_no_flops(void **state) {
    (void)state;
    const sb_perf_options options = grouped_by(SB_PERF_BY_CATEGORY);
    const test_op ops[] = {matmul("0", "64", "1000")};
    sb_perf_report *report = ANALYSE(&options, ops);
    check_absent(report->groups[0].flops_mean);
    sb_perf_free(report);
}

static void groups_of_devices_are_kept_apart(void **state) {
    (void)state;
    const test_op ops[] = {matmul("0", "64", "1000"),
                           matmul("1", "128", "3000"),
                           {.code = "Tilize", .device = "1", .duration = "1000"},
                           HOST_OP("(torch) add")};
    const double x[] = {share_of(64, 1000), share_of(128, 3000)};
    for (int compat = 0; compat <= 1; compat++) {
        sb_perf_options options = grouped_by(SB_PERF_BY_OP);
        options.compat = compat == 1;
        options.no_merge_devices = true;
        sb_perf_report *report = ANALYSE(&options, ops);
        check_near(find_group(report, "Matmul", 0)->total_percent, 100);
        check_near(find_group(report, "Matmul", 1)->total_percent, 75); /* of its device */
        check_near(find_group(report, "Tilize", 1)->total_percent, 25);
        /* The original takes the weighted mean over all devices. */
        const double all = (x[0] + 3 * x[1]) / 4;
        check_number(find_group(report, "Matmul", 0)->flops_weighted, compat == 1 ? all : x[0]);
        check_number(find_group(report, "Matmul", 1)->flops_weighted, compat == 1 ? all : x[1]);
        check_number(find_group(report, "Matmul", 1)->flops_mean, x[1]);
        /* Rows without a device are left out in compat. */
        assert_int_equal(report->group_count, compat == 1 ? 3 : 4);
        sb_perf_free(report);
    }
}

static void one_device_has_its_number_too_when_kept_apart(void **state) {
    (void)state;
    sb_perf_options options = grouped_by(SB_PERF_BY_OP);
    options.no_merge_devices = true;
    sb_perf_report *report = ANALYSE(&options, OPS({.code = "Tilize", .device = "3"}));
    find_group(report, "Tilize", 3);
    sb_perf_free(report);
}

static void time_of_zero_has_no_share(void **state) {
    (void)state;
    const sb_perf_options options = grouped_by(SB_PERF_BY_OP);
    sb_perf_report *report =
        ANALYSE(&options, OPS({.code = "Tilize", .duration = ""}, HOST_OP("(torch) add")));
    for (size_t i = 0; i < report->group_count; i++) {
        check_double(report->groups[i].total_percent, 0);
        assert_true(report->groups[i].time_is_whole);
    }
    assert_int_equal(report->group_count, 2);
    sb_perf_free(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(categories_follow_from_the_name),
        cmocka_unit_test(ops_are_grouped_by_name_memory_or_category),
        cmocka_unit_test(memory_without_parts_is_left_out_in_compat_only),
        cmocka_unit_test(largest_groups_come_first_and_ties_by_key),
        cmocka_unit_test(shares_are_of_device_time_only),
        cmocka_unit_test(signposts_and_what_is_called_so_are_left_out),
        cmocka_unit_test(no_host_ops_leaves_no_host_group),
        cmocka_unit_test(unknown_names_are_warned_of_once),
        cmocka_unit_test(flops_are_summarised),
        cmocka_unit_test(deviation_needs_two_values),
        cmocka_unit_test(grouping_by_category_has_no_flops),
        cmocka_unit_test(groups_of_devices_are_kept_apart),
        cmocka_unit_test(one_device_has_its_number_too_when_kept_apart),
        cmocka_unit_test(time_of_zero_has_no_share),
    };
    return RUN(tests);
}
