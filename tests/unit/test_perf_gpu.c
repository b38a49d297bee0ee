#include "perf_testing.h"

static sb_slice named(const char *text) {
    return sb_slice_of(text);
}

static void gpus_are_known_by_many_names(void **state) {
    (void)state;
    static const struct {
        const char *name;
        const char *known;
        double cores;
        double bandwidth;
    } cases[] = {
        {"h200", "h200", 132, 4800},
        {"NVIDIA H200", "h200", 132, 4800},
        {"H100", "h100", 132, 3350},
        {"NVIDIA H100 80GB HBM3", "h100", 132, 3350},
        {"NVIDIA H100 PCIe", "h100_pcie", 114, 2000},
        {"a100", "a100", 108, 2039},
        {"NVIDIA A100-SXM4-80GB", "a100", 108, 2039},
        {"NVIDIA A100-SXM4-40GB", "a100_40gb", 108, 1555},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const perf_arch *arch = perf_find_arch(named(cases[i].name), false);
        assert_non_null(arch);
        assert_string_equal(arch->name, cases[i].known);
        check_double(arch->worker_cores, cases[i].cores);
        check_double(arch->dram_bandwidth, cases[i].bandwidth);
        assert_null(perf_find_arch(named(cases[i].name), true));
    }
    assert_null(perf_find_arch(named("NVIDIA H300"), false));
    assert_null(perf_find_arch(named("wormhole b0"), true));
}

static double peak(const char *gpu, const char *fidelity, const char *in0, const char *in1) {
    const sb_slice types[SB_PERF_TENSORS] = {named(in0), named(in1), named("FLOAT32")};
    const perf_arch *arch = perf_find_arch(named(gpu), false);
    return perf_peak_tflops(arch, named(fidelity), types, false) * arch->worker_cores;
}

static void the_peak_is_that_of_the_precision(void **state) {
    (void)state;
    check_near(peak("h200", "", "BFLOAT16", "BFLOAT16"), 989.4);
    check_near(peak("h200", "", "FLOAT16", "BFLOAT16"), 989.4);
    check_near(peak("h200", "", "FLOAT32", "FLOAT32"), 66.9);
    check_near(peak("h200", "TF32", "FLOAT32", "FLOAT32"), 494.7);
    check_near(peak("h200", "HiFi4", "FLOAT32", "FLOAT32"), 66.9);
    check_near(peak("h200", "", "FLOAT8_E4M3", "FLOAT8_E4M3"), 1978.9);
    check_near(peak("h200", "", "BFLOAT16", "FLOAT8_E4M3"), 989.4);
    check_near(peak("h100_pcie", "", "INT8", "INT8"), 1513);
    check_near(peak("a100", "", "INT8", "UINT8"), 624);
    check_near(peak("a100", "", "FLOAT64", "FLOAT64"), 19.5);
    check_double(peak("a100", "", "FLOAT8_E4M3", "FLOAT8_E4M3"), 0); /* it has none */
    check_double(peak("h200", "", "BFLOAT8_B", "BFLOAT8_B"), 0);
    check_double(peak("h200", "", "BFLOAT16", ""), 0);
}

#define DRAM "DEV_0_DRAM_INTERLEAVED"

static test_op matmul(const char *type, const char *duration, const char *cores) {
    return (test_op){
        .code = "MatmulDeviceOperation",
        .duration = duration,
        .cores = cores,
        .types = {type, type, type},
        .memories = {DRAM, DRAM, DRAM},
        .sizes = {"1,1,4096,4096", "1,1,4096,4096", "1,1,4096,4096"},
        .arch = "h200",
        .available = "132",
    };
}

static void rows_are_measured_against_the_gpu(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    const test_op ops[] = {matmul("BFLOAT16", "180000", "132"), matmul("INT32", "180000", "132")};
    sb_perf_report *report = analyse_as(TRACE_V21, &options, ops, COUNT_OF(ops));
    const sb_perf_row *row = row_with_id(report, 2);
    const double flops = 2.0 * 4096 * 4096 * 4096 / 180e-6;
    assert_true(has_note(report, "Architecture h200, 132 SMs"));
    check_number(row->flops_percent, flops / 989.4e12 * 100);
    check_number(row->utilisation, flops / 989.4e12 * 100);
    check_number(row->dram_percent, 3.0 * 4096 * 4096 * 2 / 180e-6 / 4800e9 * 100);
    check_slice(row->math_fidelity, "BF16 x BF16 => BF16");
    assert_int_equal(row->bound, SB_PERF_FLOP);
    check_absent(row_with_id(report, 3)->flops_percent);
    check_problem(report, 3, "INPUT_0_DATATYPE, INPUT_1_DATATYPE", "on h200");
    sb_perf_free(report);
}

/* A MIG slice, or another product with the same chip: its own number of SMs counts. */
static void the_number_of_sms_is_that_of_the_device(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    test_op op = matmul("BFLOAT16", "1800000", "");
    op.available = "16";
    sb_perf_report *report = analyse_as(TRACE_V21, &options, &op, 1);
    const double flops = 2.0 * 4096 * 4096 * 4096 / 1800e-6;
    check_double(report->worker_cores, 16);
    check_number(row_with_id(report, 2)->flops_percent, flops / (989.4e12 / 132 * 16) * 100);
    sb_perf_free(report);
}

/* ---- advice ---- */

static sb_perf_row row_of(sb_perf_bound bound, const char *type) {
    return (sb_perf_row){
        .kind = SB_PERF_MATMUL,
        .bound = bound,
        .datatypes = {named(type), named(type), named(type)},
        .fidelity = SB_SLICE(""),
        .input_0_memory = SB_SLICE(DRAM),
        .inner_block = -1,
        .subblock_height = -1,
        .subblock_width = -1,
        .device_time = {100, SB_PERF_REAL},
        .cores = {132, SB_PERF_INTEGER},
        .dram_percent = {20, SB_PERF_REAL},
        .flops_percent = {30, SB_PERF_REAL},
        .available_cores = 132,
        .arch = perf_find_arch(named("h200"), false),
    };
}

static void check_advice(const sb_perf_row *row, size_t count, const char *first, double gain) {
    const sb_perf_report report = {0};
    sb_arena arena = {0};
    const sb_perf_advice advice = sb_perf_advise(&report, row, &arena);
    assert_int_equal(advice.count, count);
    if (count > 0)
        check_contains(advice.items[0], first);
    check_near(advice.gain_us, gain);
    assert_int_equal(sb_perf_advise(&report, row, NULL).count, count);
    sb_arena_free(&arena);
}

static void advice_is_what_holds_on_a_gpu(void **state) {
    (void)state;
    sb_perf_row row = row_of(SB_PERF_FLOP, "BFLOAT16");
    check_advice(&row, 0, NULL, 0);
    row.cores.value = 33;
    check_advice(&row, 1, "runs on 33 of 132 SMs", 75);
    row = row_of(SB_PERF_FLOP, "FLOAT32");
    check_advice(&row, 1, "495 for TF32", 100 * (1 - 66.9 / 989.4));
    row.fidelity = named("TF32");
    check_advice(&row, 1, "BF16 has 989", 50);
    row = row_of(SB_PERF_SLOW, "BFLOAT16");
    check_advice(&row, 1, "reaches 30 % of the peak and 20 % of the bandwidth",
                 100 * (1 - 30 / PERF_BOUND_PERCENT));
    row = row_of(SB_PERF_DRAM, "BFLOAT16");
    row.dram_percent.value = 72;
    check_advice(&row, 1, "asynchronous copies reach about 90 %", 20);
    row.dram_percent.value = 95;
    check_advice(&row, 0, NULL, 0);
    row = row_of(SB_PERF_BOTH, "FLOAT32");
    row.dram_percent.value = 95;
    check_advice(&row, 1, "half as much is read", 50);
    row.bound = SB_PERF_UNKNOWN;
    check_advice(&row, 0, NULL, 0);
}

static void fidelity_is_not_judged(void **state) {
    (void)state;
    sb_perf_row row = row_of(SB_PERF_FLOP, "BFLOAT16");
    row.fidelity = named("LoFi");
    const perf_fidelity judged = perf_judge_fidelity(&row, NULL);
    assert_int_equal(judged.class, PERF_FIDELITY_NOT_APPLICABLE);
    assert_int_equal(judged.hint.size, 0);
}

static void gaps_are_for_graphs(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    test_op ops[] = {matmul("BFLOAT16", "180000", "132"), matmul("BFLOAT16", "180000", "132")};
    ops[1].latency = "900000";
    sb_perf_report *report = analyse_as(TRACE_V21, &options, ops, COUNT_OF(ops));
    check_contains(report->verdict.first_step, "in a CUDA graph");
    check_lacks(report->verdict.first_step, "trace");
    sb_perf_free(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_are_known_by_many_names),
        cmocka_unit_test(the_peak_is_that_of_the_precision),
        cmocka_unit_test(rows_are_measured_against_the_gpu),
        cmocka_unit_test(the_number_of_sms_is_that_of_the_device),
        cmocka_unit_test(advice_is_what_holds_on_a_gpu),
        cmocka_unit_test(fidelity_is_not_judged),
        cmocka_unit_test(gaps_are_for_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
