#include "perf_testing.h"

#define DRAM_SHARDED \
    "program_config=MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=4)"

/* 1024 x 1024 x 1024 in 100 μs, everything in DRAM. */
static test_op square_matmul(void) {
    return (test_op){
        .code = "Matmul",
        .duration = "100000",
        .fidelity = "HiFi2",
        .types = {"BFLOAT16", "BFLOAT8_B", "BFLOAT16"},
        .memories = {"DEV_0_DRAM_INTERLEAVED", "DEV_0_DRAM_INTERLEAVED", "DEV_0_DRAM_INTERLEAVED"},
        .sizes = {"1,1,1024,1024", "1,1,1024,1024", "1,1,1024,1024"},
    };
}

/* A convolution with this attributes cell: 64 x (32 * window) x 16. */
static test_op convolution(const char *attributes) {
    return (test_op){
        .code = "Conv2dDeviceOperation",
        .duration = "1000",
        .cores = "8",
        .fidelity = "HiFi4",
        .attributes = attributes,
        .types = {"BFLOAT16", "BFLOAT16", "BFLOAT16"},
        .memories = {"L1", "L1", "L1"},
        .sizes = {"1,1,64,32", "1,1,32,16", "1,1,64,16"},
    };
}

static sb_perf_report *analyse_op(bool compat, test_op op) {
    sb_perf_options options = sb_perf_defaults();
    options.compat = compat;
    return analyse_ops(&options, &op, 1);
}

static const double square_flops = 2.0 * 1024 * 1024 * 1024 / 1e-4;
static const double square_bytes = 1024.0 * 1024 * (2 + 1 + 2);

static void matmul_has_rates_and_shares(void **state) {
    (void)state;
    sb_perf_report *report = analyse_op(true, square_matmul());
    const sb_perf_row *row = &report->rows[0];
    check_number(row->dram, square_bytes / 1e-4 / 1e9);
    check_number(row->dram_percent, square_bytes / 1e-4 / 1e9 / 288 * 100);
    check_number(row->flops, square_flops / 1e12);
    check_number(row->flops_percent, square_flops / (148.0 / 72 * 1e12 * 64) * 100);
    check_slice(row->op_code, "Matmul 1024 x 1024 x 1024");
    check_slice(row->raw_op_code, "Matmul");
    check_slice(row->math_fidelity, "HiFi2 BF16 x BFP8 => BF16");
    assert_int_equal(row->kind, SB_PERF_MATMUL);
    check_absent(row->utilisation); /* not in compat */
    sb_perf_free(report);
}

static void batch_counts_and_is_shown(void **state) {
    (void)state;
    test_op op = square_matmul();
    op.sizes[0] = "2,1,32,64";
    op.sizes[1] = "1,3,64,96";
    sb_perf_report *report = analyse_op(true, op);
    check_slice(report->rows[0].op_code, "Matmul b={6} x 32 x 64 x 96");
    check_number(report->rows[0].flops, 2.0 * 6 * 32 * 64 * 96 / 1e-4 / 1e12);
    sb_perf_free(report);
}

static void only_tensors_in_dram_make_traffic(void **state) {
    (void)state;
    test_op op = square_matmul();
    op.memories[0] = "DEV_0_L1_INTERLEAVED";
    op.memories[2] = "DEV_0_L1_HEIGHT_SHARDED";
    sb_perf_report *report = analyse_op(true, op);
    check_number(report->rows[0].dram, 1024.0 * 1024 / 1e-4 / 1e9);
    sb_perf_free(report);
    op.memories[1] = "DEV_0_L1_INTERLEAVED";
    report = analyse_op(true, op);
    check_absent(report->rows[0].dram);
    check_absent(report->rows[0].dram_percent);
    assert_int_equal(report->rows[0].bound, SB_PERF_UNKNOWN);
    sb_perf_free(report);
    report = analyse_op(false, op); /* plain mode judges the compute alone */
    assert_int_equal(report->rows[0].bound, SB_PERF_SLOW);
    sb_perf_free(report);
}

static void datatypes_have_the_size_their_name_says(void **state) {
    (void)state;
    static const struct {
        const char *type;
        double bytes;
    } cases[] = {{"FLOAT32", 4},     {"BFLOAT16", 2}, {"BFLOAT8_B", 1},
                 {"BFLOAT4_B", 0.5}, {"UINT32", 4},   {"UINT16", 2},
                 {"UINT8", 1},       {"INT32", 4},    {"DataType::X", 4}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        test_op op = square_matmul();
        op.types[0] = cases[i].type;
        op.memories[1] = "L1";
        op.memories[2] = "L1";
        sb_perf_report *report = analyse_op(true, op);
        check_number(report->rows[0].dram, 1024.0 * 1024 * cases[i].bytes / 1e-4 / 1e9);
        sb_perf_free(report);
    }
}

static void dram_sharded_matmul_has_12_cores_in_compat_and_its_own_in_plain(void **state) {
    (void)state;
    test_op op = square_matmul();
    op.attributes = DRAM_SHARDED;
    op.cores = "20";
    sb_perf_report *report = analyse_op(true, op);
    assert_true(report->rows[0].dram_sharded);
    check_number(report->rows[0].cores, 12);
    check_number(report->rows[0].flops_percent, square_flops / (148.0 / 72 * 1e12 * 12) * 100);
    sb_perf_free(report);
    report = analyse_op(false, op);
    assert_true(report->rows[0].dram_sharded);
    check_number(report->rows[0].cores, 20);
    check_number(report->rows[0].flops_percent, square_flops / (148.0 / 72 * 1e12 * 20) * 100);
    sb_perf_free(report);
}

static void utilisation_is_measured_against_all_worker_cores(void **state) {
    (void)state;
    test_op op = square_matmul();
    op.cores = "16";
    op.arch = "blackhole";
    op.available = "110";
    const sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = analyse_as(TRACE_V21, &options, &op, 1);
    const sb_perf_row *row = &report->rows[0];
    check_double(row->available_cores, 110);
    check_number(row->flops_percent, square_flops / (2.7648e12 * 16) * 100);
    check_number(row->utilisation, square_flops / (2.7648e12 * 110) * 100);
    sb_perf_free(report);
}

static void rows_are_measured_against_their_own_architecture_in_plain_mode(void **state) {
    (void)state;
    test_op ops[] = {square_matmul(), square_matmul()};
    ops[0].arch = "wormhole_b0";
    ops[1].arch = "blackhole";
    ops[0].available = "64";
    ops[1].available = "130";
    sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = analyse_as(TRACE_V21, &options, ops, 2);
    const double share = square_bytes / 1e-4 / 1e9 * 100;
    check_number(report->rows[1].dram_percent, share / 512);
    check_double(report->rows[1].available_cores, 130);
    sb_perf_free(report);
    options.compat = true;
    report = analyse_as(TRACE_V21, &options, ops, 2);
    check_number(report->rows[1].dram_percent, share / 288);
    sb_perf_free(report);
}

/* ---- bounds ---- */

/* 1 x size x 1 on one core: traffic and compute can be chosen to the digit. */
static sb_perf_bound bound_of(const char *arch, const char *duration, const char *size,
                              const char *fidelity) {
    char sizes[64];
    snprintf(sizes, sizeof sizes, "1,1,1,%s", size);
    const test_op op = {.code = "Matmul",
                        .duration = duration,
                        .cores = "1",
                        .fidelity = fidelity,
                        .types = {"BFLOAT8_B", "BFLOAT8_B", "BFLOAT8_B"},
                        .memories = {"DRAM", "L1", "L1"},
                        .sizes = {sizes, "1,1,1,1", "1,1,1,1"}};
    sb_perf_options options = compat_options();
    options.arch = arch;
    sb_perf_report *report = analyse_ops(&options, &op, 1);
    const sb_perf_bound bound = report->rows[0].bound;
    sb_perf_free(report);
    return bound;
}

static void bounds_begin_at_65_percent(void **state) {
    (void)state;
    /* 336,128 bytes in 1.01 μs are 65.0 % of 512 GB/s. */
    assert_int_equal(bound_of("blackhole", "1010", "336128", "LoFi"), SB_PERF_DRAM);
    assert_int_equal(bound_of("blackhole", "1010", "336127", "LoFi"), SB_PERF_SLOW);
    /* 2 * 1,297,920 operations in 1.5 μs are 65.0 % of a core of n1 (and the bytes too many). */
    assert_int_equal(bound_of("n1", "1500", "1297920", "LoFi"), SB_PERF_BOTH);
    assert_int_equal(bound_of("n1", "1500", "1297919", "LoFi"), SB_PERF_DRAM);
}

static void compute_bound_matmul_is_recognised(void **state) {
    (void)state;
    test_op op = square_matmul();
    op.cores = "8"; /* 21 of 16 TFLOP/s */
    sb_perf_report *report = analyse_op(true, op);
    assert_int_equal(report->rows[0].bound, SB_PERF_FLOP);
    assert_true(report->rows[0].flops_percent.value > 100);
    sb_perf_free(report);
    assert_string_equal(sb_perf_bound_text(SB_PERF_FLOP), "FLOP");
    assert_string_equal(sb_perf_bound_text(SB_PERF_UNKNOWN), "");
}

/* ---- what is missing ---- */

static void unknown_fidelity_leaves_the_share_empty(void **state) {
    (void)state;
    test_op op = square_matmul();
    op.fidelity = "HiFi3";
    sb_perf_report *report = analyse_op(true, op);
    check_number(report->rows[0].flops, square_flops / 1e12);
    check_absent(report->rows[0].flops_percent);
    assert_int_equal(report->rows[0].bound, SB_PERF_UNKNOWN);
    check_problem(report, 2, "MATH FIDELITY", "HiFi3");
    sb_perf_free(report);
    report = analyse_op(false, op); /* plain mode knows it: three passes */
    check_number(report->rows[0].flops_percent,
                 square_flops / (74.0 / 72 * 4 / 3 * 1e12 * 64) * 100);
    sb_perf_free(report);
    op.fidelity = "";
    report = analyse_op(false, op);
    check_absent(report->rows[0].flops_percent);
    check_problem(report, 2, "MATH FIDELITY", "nan");
    sb_perf_free(report);
}

static void zero_duration_leaves_rates_empty(void **state) {
    (void)state;
    test_op op = square_matmul();
    op.duration = "0";
    for (int compat = 0; compat <= 1; compat++) {
        sb_perf_report *report = analyse_op(compat == 1, op);
        const sb_perf_row *row = &report->rows[0];
        check_absent(row->dram);
        check_absent(row->flops);
        check_absent(row->flops_percent);
        check_number(row->device_time, 0);
        check_problem(report, 2, "DEVICE KERNEL DURATION [ns]", "is 0");
        sb_perf_free(report);
    }
}

static void missing_duration_gives_not_a_number(void **state) {
    (void)state;
    test_op op = square_matmul();
    op.duration = "";
    sb_perf_report *report = analyse_op(true, op);
    const sb_perf_row *row = &report->rows[0];
    assert_int_equal(row->dram.kind, SB_PERF_NAN);
    assert_int_equal(row->dram_percent.kind, SB_PERF_NAN);
    assert_int_equal(row->flops_percent.kind, SB_PERF_NAN);
    check_absent(row->flops);
    assert_int_equal(row->bound, SB_PERF_SLOW);
    assert_int_equal(row->device_time.kind, SB_PERF_INTEGER);
    sb_perf_free(report);
}

static void missing_cells_of_a_matmul_are_problems(void **state) {
    (void)state;
    test_op op = square_matmul();
    op.memories[1] = NULL;
    sb_perf_report *report = analyse_op(false, op);
    check_problem(report, 2, "INPUT_1_MEMORY", "DRAM traffic");
    check_absent(report->rows[0].dram);
    check_number(report->rows[0].flops, square_flops / 1e12);
    sb_perf_free(report);
    op = square_matmul();
    op.types[2] = NULL;
    report = analyse_op(true, op);
    check_problem(report, 2, "OUTPUT_0_DATATYPE", "DRAM traffic");
    check_slice(report->rows[0].math_fidelity, "HiFi2 BF16 x BFP8 => nan");
    sb_perf_free(report);
    op = square_matmul();
    op.sizes[0] = "1,1,,1024";
    report = analyse_op(false, op);
    check_absent(report->rows[0].flops);
    check_slice(report->rows[0].op_code, "Matmul");
    sb_perf_free(report);
}

static void overflowing_sizes_are_problems_not_rates(void **state) {
    (void)state;
    static const char *const sizes[] = {
        "1,1,9223372036854775807,9223372036854775807",
        "9223372036854775807,9223372036854775807,2,2",
    };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        test_op op = square_matmul();
        op.sizes[0] = sizes[i];
        op.sizes[1] = sizes[i];
        sb_perf_report *report = analyse_op(true, op);
        check_absent(report->rows[0].flops);
        assert_true(report->problem_count > 0);
        sb_perf_free(report);
    }
}

static void impossible_numbers_are_problems_not_rates(void **state) {
    (void)state;
    test_op op = square_matmul();
    op.cores = "0";
    sb_perf_report *report = analyse_op(false, op);
    assert_non_null(find_problem(report, 2, "CORE COUNT"));
    assert_true(report->rows[0].flops_percent.value < 100);
    sb_perf_free(report);
    op = square_matmul();
    op.duration = "-5";
    report = analyse_op(false, op);
    assert_non_null(find_problem(report, 2, "DEVICE KERNEL DURATION [ns]"));
    assert_false(sb_perf_has(report->rows[0].flops));
    check_number(report->rows[0].device_time, 0);
    sb_perf_free(report);
}

/* ---- convolutions and halos ---- */

static void convolution_has_compute_but_no_traffic(void **state) {
    (void)state;
    const char *attributes = "window_hw=(3;3); per_core_out_matrix_height_ntile=2; "
                             "act_block_h_ntiles=4; 'enable_act_double_buffer': 'true'; "
                             "'enable_split_reader': 'false'}";
    const double flops = 2.0 * 64 * (32 * 9) * 16 / 1e-6;
    sb_perf_report *report = analyse_op(true, convolution(attributes));
    const sb_perf_row *row = &report->rows[0];
    check_slice(row->op_code, "Conv2dDeviceOperation 64 x 288 x 16 [ABH=2|4 ADB]");
    check_slice(row->math_fidelity, "HiFi4 BF16 x BF16 => BF16");
    check_number(row->flops, flops / 1e12);
    check_number(row->flops_percent, flops / (74.0 / 72 * 1e12 * 64) * 100); /* of all cores */
    check_number(row->cores, 8);
    check_absent(row->dram);
    assert_int_equal(row->bound, SB_PERF_UNKNOWN);
    sb_perf_free(report);
    report = analyse_op(false, convolution(attributes)); /* of the cores it ran on */
    check_number(report->rows[0].flops_percent, flops / (74.0 / 72 * 1e12 * 8) * 100);
    assert_int_equal(report->rows[0].bound, SB_PERF_SLOW);
    sb_perf_free(report);
}

static void flags_that_are_not_said_are_shown_in_compat_only(void **state) {
    (void)state;
    sb_perf_report *report = analyse_op(true, convolution("window_hw=(1;1); x"));
    check_slice(report->rows[0].op_code, "Conv2dDeviceOperation 64 x 32 x 16 [ABH=x|x ADB SR]");
    sb_perf_free(report);
    report = analyse_op(false, convolution("window_hw=(1;1); x"));
    check_slice(report->rows[0].op_code, "Conv2dDeviceOperation 64 x 32 x 16 [ABH=x|x]");
    sb_perf_free(report);
}

static void convolution_without_window_is_a_problem(void **state) {
    (void)state;
    static const char *const attributes[] = {"", "window_hw", "window_hw=(a;b); ", "window_hw=(3)"};
    for (size_t i = 0; i < COUNT_OF(attributes); i++) {
        sb_perf_report *report = analyse_op(true, convolution(attributes[i]));
        check_slice(report->rows[0].op_code, "Conv2dDeviceOperation");
        check_absent(report->rows[0].flops);
        check_problem(report, 2, "ATTRIBUTES", "window_hw");
        sb_perf_free(report);
    }
}

static void halo_shows_its_window(void **state) {
    (void)state;
    static const struct {
        const char *attributes;
        const char *code;
    } cases[] = {
        {"window_hw=(7;7); stride_hw=(2;2); padding=((3; 3); (3; 3)); dilation_hw=(1;1); "
         "memory_layout=TensorMemoryLayout::HEIGHT_SHARDED;x",
         "HaloDeviceOperation w=(7,7) s=(2,2) p=((3, 3), (3, 3)) d=(1,1) | HEIGHT_SHARDED"},
        {"", "HaloDeviceOperation w=x s=x p=x d=x | x"},
        {"memory_layout=plain;", "HaloDeviceOperation w=x s=x p=x d=x | x"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const test_op op = {.code = "HaloDeviceOperation", .attributes = cases[i].attributes};
        sb_perf_report *report = analyse_op(true, op);
        check_slice(report->rows[0].op_code, cases[i].code);
        sb_perf_free(report);
    }
}

/* ---- other rows ---- */

static void fidelity_text_of_other_rows_lists_known_types(void **state) {
    (void)state;
    static const struct {
        const char *types[SB_PERF_TENSORS];
        const char *text;
    } cases[] = {
        {{"BFLOAT16", NULL, "BFLOAT16"}, "BF16 => BF16"},
        {{"BFLOAT16", "FLOAT32", "BFLOAT8_B"}, "BF16, FP32 => BFP8"},
        {{NULL, NULL, "BFLOAT4_B"}, "=> BFP4"},
        {{"UINT32", NULL, NULL}, "UINT32"},
        {{NULL, NULL, NULL}, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        test_op op = {.code = "Softmax"};
        memcpy(op.types, cases[i].types, sizeof op.types);
        sb_perf_report *report = analyse_op(true, op);
        check_slice(report->rows[0].math_fidelity, cases[i].text);
        check_absent(report->rows[0].flops);
        sb_perf_free(report);
    }
}

static void block_sizes_come_from_the_program_config(void **state) {
    (void)state;
    static const struct {
        const char *attributes;
        int64_t sizes[3];
    } cases[] = {
        {"program_config=X(in0_block_w=2; out_subblock_h=1; out_subblock_w=4)", {2, 1, 4}},
        {"in0_block_w=2; out_subblock_h=1; out_subblock_w=4", {-1, -1, -1}},
        {"program_config in0_block_w=std; in0_block_w=8", {8, -1, -1}},
        {"program_config out_subblock_w=99999999999999999999", {-1, -1, -1}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_report *report = analyse_op(true, (test_op){.attributes = cases[i].attributes});
        assert_true(report->rows[0].inner_block == cases[i].sizes[0]);
        assert_true(report->rows[0].subblock_height == cases[i].sizes[1]);
        assert_true(report->rows[0].subblock_width == cases[i].sizes[2]);
        sb_perf_free(report);
    }
}

static void signposts_are_never_analysed_as_matmuls(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.ignore_signposts = true;
    sb_perf_report *report = ANALYSE(&options, OPS({0}, SIGNPOST("Matmul begins")));
    const sb_perf_row *mark = row_with_id(report, 3);
    check_slice(mark->op_code, "Matmul begins (signpost)");
    assert_int_equal(mark->kind, SB_PERF_SIGNPOST);
    check_absent(mark->device_time);
    assert_int_equal(report->problem_count, 0);
    sb_perf_free(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_has_rates_and_shares),
        cmocka_unit_test(batch_counts_and_is_shown),
        cmocka_unit_test(only_tensors_in_dram_make_traffic),
        cmocka_unit_test(datatypes_have_the_size_their_name_says),
        cmocka_unit_test(dram_sharded_matmul_has_12_cores_in_compat_and_its_own_in_plain),
        cmocka_unit_test(utilisation_is_measured_against_all_worker_cores),
        cmocka_unit_test(rows_are_measured_against_their_own_architecture_in_plain_mode),
        cmocka_unit_test(bounds_begin_at_65_percent),
        cmocka_unit_test(compute_bound_matmul_is_recognised),
        cmocka_unit_test(unknown_fidelity_leaves_the_share_empty),
        cmocka_unit_test(zero_duration_leaves_rates_empty),
        cmocka_unit_test(missing_duration_gives_not_a_number),
        cmocka_unit_test(missing_cells_of_a_matmul_are_problems),
        cmocka_unit_test(overflowing_sizes_are_problems_not_rates),
        cmocka_unit_test(impossible_numbers_are_problems_not_rates),
        cmocka_unit_test(convolution_has_compute_but_no_traffic),
        cmocka_unit_test(flags_that_are_not_said_are_shown_in_compat_only),
        cmocka_unit_test(convolution_without_window_is_a_problem),
        cmocka_unit_test(halo_shows_its_window),
        cmocka_unit_test(fidelity_text_of_other_rows_lists_known_types),
        cmocka_unit_test(block_sizes_come_from_the_program_config),
        cmocka_unit_test(signposts_are_never_analysed_as_matmuls),
    };
    return RUN(tests);
}
