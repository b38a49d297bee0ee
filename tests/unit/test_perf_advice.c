#include "perf_testing.h"

/* A matmul of which nothing is to be said, to be changed by each case. */
static sb_perf_row good_matmul(sb_perf_bound bound) {
    return (sb_perf_row){
        .id = 2,
        .kind = SB_PERF_MATMUL,
        .bound = bound,
        .op_code = SB_SLICE("Matmul 32 x 32 x 32"),
        .math_fidelity = SB_SLICE("HiFi2 BFP8 x BFP8 => BFP8"),
        .fidelity = SB_SLICE("HiFi2"),
        .datatypes = {SB_SLICE("BFLOAT8_B"), SB_SLICE("BFLOAT8_B"), SB_SLICE("BFLOAT8_B")},
        .input_0_memory = SB_SLICE("DEV_0_L1_INTERLEAVED"),
        .inner_block = 4,
        .subblock_height = 2,
        .subblock_width = 2,
        .dram_sharded = true,
        .device_time = {100, SB_PERF_REAL},
        .cores = {64, SB_PERF_INTEGER},
        .dram_percent = {70, SB_PERF_REAL},
        .flops_percent = {30, SB_PERF_REAL},
        .available_cores = 64,
    };
}

static void set_types(sb_perf_row *row, const char *fidelity, const char *in0, const char *in1,
                      const char *out) {
    row->fidelity = sb_slice_of(fidelity);
    row->datatypes[SB_PERF_INPUT_0] = sb_slice_of(in0);
    row->datatypes[SB_PERF_INPUT_1] = sb_slice_of(in1);
    row->datatypes[SB_PERF_OUTPUT_0] = sb_slice_of(out);
}

static void set_too_high(sb_perf_row *row) {
    set_types(row, "HiFi4", "BFLOAT8_B", "BFLOAT8_B", "BFLOAT8_B");
}

static void set_too_low(sb_perf_row *row) {
    set_types(row, "LoFi", "BFLOAT8_B", "BFLOAT8_B", "BFLOAT8_B");
}

static void set_sufficient_with_hint(sb_perf_row *row) {
    set_types(row, "HiFi4", "BFLOAT16", "BFLOAT16", "BFLOAT16");
}

/* With and without words it must be the same number. */
static void check_items(const sb_perf_row *row, bool compat, size_t expected) {
    const sb_perf_report report = {.options = {.compat = compat}};
    sb_arena arena = {0};
    const sb_perf_advice advice = sb_perf_advise(&report, row, &arena);
    assert_int_equal(advice.count, expected);
    for (size_t i = 0; i < advice.count; i++) {
        assert_true(advice.items[i].size > 0);
        check_lacks(advice.items[i], " • ");
    }
    const sb_perf_advice wordless = sb_perf_advise(&report, row, NULL);
    assert_int_equal(wordless.count, expected);
    check_double(wordless.gain_us, advice.gain_us);
    sb_arena_free(&arena);
}

static void check_item(const sb_perf_row *row, size_t index, const char *part) {
    const sb_perf_report report = {.options = {.compat = true}};
    sb_arena arena = {0};
    const sb_perf_advice advice = sb_perf_advise(&report, row, &arena);
    assert_true(index < advice.count);
    check_contains(advice.items[index], part);
    sb_arena_free(&arena);
}

static void only_matmuls_with_a_bound_get_advice(void **state) {
    (void)state;
    sb_perf_row row = good_matmul(SB_PERF_UNKNOWN);
    row.dram_sharded = false;
    set_too_high(&row);
    check_items(&row, true, 0);
    row.bound = SB_PERF_HOST;
    check_items(&row, true, 0);
    row.bound = SB_PERF_DRAM;
    check_items(&row, true, 2);
    row.kind = SB_PERF_CONV;
    check_items(&row, true, 0);
    row.kind = SB_PERF_OTHER_OP;
    check_items(&row, true, 0);
}

/* ---- DRAM and BOTH ---- */

static void dram_bound_matmul_is_told_to_shard(void **state) {
    (void)state;
    static const sb_perf_bound bounds[] = {SB_PERF_DRAM, SB_PERF_BOTH};
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        sb_perf_row row = good_matmul(bounds[i]);
        check_items(&row, true, 0);
        row.dram_sharded = false;
        check_items(&row, true, 1);
        check_item(&row, 0, "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig");
    }
}

static void dram_bound_matmul_with_too_low_fidelity_below_40_percent(void **state) {
    (void)state;
    sb_perf_row row = good_matmul(SB_PERF_DRAM);
    set_too_low(&row);
    row.flops_percent.value = 39.9;
    check_items(&row, true, 1);
    row.flops_percent.value = 40;
    check_items(&row, true, 0);
    row.dram_sharded = false;
    row.flops_percent.value = 10;
    check_items(&row, true, 2);
}

static void dram_bound_matmul_with_too_high_fidelity(void **state) {
    (void)state;
    sb_perf_row row = good_matmul(SB_PERF_BOTH);
    set_too_high(&row);
    row.flops_percent.value = 90;
    check_items(&row, true, 1);
    check_item(&row, 0, "HiFi2");
}

static void dram_bound_matmul_ignores_hints_of_sufficient_fidelity(void **state) {
    (void)state;
    sb_perf_row row = good_matmul(SB_PERF_DRAM);
    set_sufficient_with_hint(&row);
    check_items(&row, true, 0);
}

/* ---- FLOP ---- */

static void compute_bound_matmul_on_few_cores_is_told_to_use_more(void **state) {
    (void)state;
    sb_perf_row row = good_matmul(SB_PERF_FLOP);
    check_items(&row, true, 0);
    row.cores.value = 63;
    check_items(&row, true, 1);
    check_item(&row, 0, "63");
    row.available_cores = 110; /* the original always compares with 64 */
    row.cores.value = 64;
    check_items(&row, true, 0);
    check_items(&row, false, 1);
}

static void compute_bound_matmul_with_too_high_fidelity(void **state) {
    (void)state;
    sb_perf_row row = good_matmul(SB_PERF_FLOP);
    set_too_high(&row);
    check_items(&row, true, 1);
    row.cores.value = 8;
    check_items(&row, true, 2);
    set_too_low(&row);
    check_items(&row, true, 1);
    set_sufficient_with_hint(&row);
    check_items(&row, true, 1);
}

/* ---- SLOW ---- */

static void slow_matmul_with_good_blocks_hears_so(void **state) {
    (void)state;
    const sb_perf_row row = good_matmul(SB_PERF_SLOW);
    check_items(&row, true, 1);
    check_item(&row, 0, "good");
    check_item(&row, 0, "2x2");
}

static void slow_matmul_with_input_outside_l1_is_told_to_move_it(void **state) {
    (void)state;
    sb_perf_row row = good_matmul(SB_PERF_SLOW);
    row.input_0_memory = (sb_slice)SB_SLICE("DEV_0_DRAM_INTERLEAVED");
    check_items(&row, true, 2);
    check_item(&row, 0, "DEV_0_DRAM_INTERLEAVED");
    row.input_0_memory = (sb_slice){NULL, 0};
    check_items(&row, true, 1);
}

static void slow_matmul_without_program_config_gets_nothing_more(void **state) {
    (void)state;
    sb_perf_row row = good_matmul(SB_PERF_SLOW);
    row.inner_block = row.subblock_height = row.subblock_width = -1;
    set_too_high(&row);
    check_items(&row, true, 1);
    check_item(&row, 0, "program config");
    row.input_0_memory = (sb_slice)SB_SLICE("DRAM");
    check_items(&row, true, 2);
}

static void slow_matmul_with_small_or_unknown_blocks(void **state) {
    (void)state;
    static const struct {
        int64_t block, height, width;
        size_t items;
        const char *first;
    } cases[] = {
        {2, 1, 2, 1, "good"},
        {1, 2, 2, 1, "in0_block_w=1"},
        {0, 2, 2, 1, "in0_block_w=0"},
        {-1, 2, 2, 1, "in0_block_w"},
        {4, 1, 1, 1, "1x1"},
        {4, 0, 5, 1, "0x5"},
        {4, -1, 2, 1, "out_subblock_h"},
        {4, 2, -1, 1, "out_subblock_h"},
        {4, -1, -1, 1, "out_subblock_h"},
        {1, 1, 1, 2, "in0_block_w=1"},
        {-1, 1, 1, 2, "in0_block_w"},
        {-1, -1, 1, 2, "in0_block_w"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_row row = good_matmul(SB_PERF_SLOW);
        row.inner_block = cases[i].block;
        row.subblock_height = cases[i].height;
        row.subblock_width = cases[i].width;
        check_items(&row, true, cases[i].items);
        check_item(&row, 0, cases[i].first);
    }
}

static void slow_matmul_gets_every_hint_on_fidelity(void **state) {
    (void)state;
    static const struct {
        const char *fidelity, *in0, *in1, *out;
        size_t items;
    } cases[] = {
        {"HiFi2", "BFLOAT8_B", "BFLOAT8_B", "BFLOAT8_B", 1}, /* sufficient without a hint */
        {"LoFi", "BFLOAT8_B", "BFLOAT4_B", "BFLOAT8_B", 1},
        {"HiFi4", "BFLOAT16", "BFLOAT16", "BFLOAT16", 2}, /* sufficient with a hint */
        {"LoFi", "BFLOAT16", "BFLOAT16", "BFLOAT16", 2},
        {"HiFi4", "BFLOAT8_B", "BFLOAT8_B", "BFLOAT8_B", 2},
        {"HiFi4", "UINT32", "BFLOAT16", "BFLOAT16", 2}, /* does not apply */
        {"HiFi4", "nan", "BFLOAT16", "BFLOAT16", 2},    /* unknown */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_row row = good_matmul(SB_PERF_SLOW);
        set_types(&row, cases[i].fidelity, cases[i].in0, cases[i].in1, cases[i].out);
        check_items(&row, true, cases[i].items);
    }
}

static void everything_at_once_fits(void **state) {
    (void)state;
    sb_perf_row row = good_matmul(SB_PERF_SLOW);
    row.input_0_memory = (sb_slice)SB_SLICE("DRAM");
    row.inner_block = row.subblock_height = row.subblock_width = 1;
    set_too_high(&row);
    check_items(&row, true, 4);
}

/* ---- fidelity ---- */

static void fidelity_is_judged_by_mantissa_bits(void **state) {
    (void)state;
    enum {
        OK = PERF_FIDELITY_SUFFICIENT,
        HIGH = PERF_FIDELITY_TOO_HIGH,
        LOW = PERF_FIDELITY_TOO_LOW
    };
    static const char *const fidelities[] = {"HiFi4", "HiFi2", "LoFi"};
    static const struct {
        const char *in0, *in1, *out;
        int class[3];
        bool hint[3];
    } cases[] = {
        {"BFLOAT16", "BFLOAT16", "BFLOAT16", {OK, LOW, LOW}, {true, true, true}},
        {"BFLOAT16", "BFLOAT4_B", "BFLOAT8_B", {OK, LOW, LOW}, {true, true, true}},
        {"BFLOAT16", "BFLOAT8_B", "FLOAT32", {OK, LOW, LOW}, {true, true, true}},
        {"BFLOAT16", "BFLOAT16", "BFLOAT4_B", {HIGH, OK, LOW}, {true, true, true}},
        {"BFLOAT8_B", "BFLOAT16", "BFLOAT16", {HIGH, OK, LOW}, {true, false, true}},
        {"FLOAT32", "FLOAT32", "FLOAT32", {HIGH, OK, LOW}, {true, false, true}},
        {"BFLOAT8_B", "BFLOAT8_B", "BFLOAT4_B", {HIGH, OK, LOW}, {true, true, true}},
        {"BFLOAT8_B", "BFLOAT4_B", "BFLOAT16", {HIGH, HIGH, OK}, {true, true, false}},
        {"FLOAT32", "BFLOAT4_B", "BFLOAT4_B", {HIGH, HIGH, OK}, {true, true, false}},
        {"BFLOAT4_B", "BFLOAT8_B", "BFLOAT8_B", {HIGH, OK, LOW}, {true, false, true}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (size_t k = 0; k < COUNT_OF(fidelities); k++) {
            sb_perf_row row = good_matmul(SB_PERF_SLOW);
            set_types(&row, fidelities[k], cases[i].in0, cases[i].in1, cases[i].out);
            const perf_fidelity judged = perf_judge_fidelity(&row, NULL);
            assert_int_equal((int)judged.class, cases[i].class[k]);
            assert_int_equal(judged.hint.size > 0, cases[i].hint[k]);
        }
    }
}

static void integers_come_before_unknown_types(void **state) {
    (void)state;
    static const char *const integers[] = {"UINT8", "UINT16", "INT32", "UINT32"};
    for (size_t i = 0; i < COUNT_OF(integers); i++) {
        sb_perf_row row = good_matmul(SB_PERF_SLOW);
        set_types(&row, "HiFi4", "mystery", "BFLOAT16", integers[i]);
        assert_int_equal(perf_judge_fidelity(&row, NULL).class, PERF_FIDELITY_NOT_APPLICABLE);
    }
}

static void first_unknown_type_is_named(void **state) {
    (void)state;
    sb_arena arena = {0};
    sb_perf_row row = good_matmul(SB_PERF_SLOW);
    set_types(&row, "HiFi4", "BFLOAT16", "mystery", "nan");
    const perf_fidelity judged = perf_judge_fidelity(&row, &arena);
    assert_int_equal(judged.class, PERF_FIDELITY_UNKNOWN);
    check_contains(judged.hint, "mystery");
    row.datatypes[SB_PERF_INPUT_0] = (sb_slice){NULL, 0};
    assert_int_equal(perf_judge_fidelity(&row, &arena).class, PERF_FIDELITY_UNKNOWN);
    sb_arena_free(&arena);
}

static void unknown_fidelity_is_not_judged(void **state) {
    (void)state;
    sb_perf_row row = good_matmul(SB_PERF_SLOW);
    set_types(&row, "HiFi3", "BFLOAT16", "BFLOAT16", "BFLOAT16");
    assert_int_equal(perf_judge_fidelity(&row, NULL).class, PERF_FIDELITY_UNKNOWN);
}

/* ---- the page ---- */

static sb_slice print_advice(const test_op *ops, size_t count, sb_output *output) {
    const sb_perf_options options = compat_options();
    sb_perf_report *report = analyse_ops(&options, ops, count);
    sb_perf_print_advice(report, (sb_style){.colours = false}, output);
    sb_perf_free(report);
    return sb_output_text(output);
}

static void parts_appear_only_when_there_is_something(void **state) {
    (void)state;
    static const struct {
        test_op second;
        const char *part;
    } cases[] = {
        {{0}, NULL},
        {{.latency = "6500"}, NULL}, /* 6.5 is not above 6.5 */
        {{.latency = "6501"}, "High op-to-op gaps"},
        {HOST_OP("(torch) add"), "Operations on the host"},
        {{.code = "Matmul"}, "Matmuls"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_output output = sb_output_to_memory();
        const test_op ops[] = {{0}, cases[i].second};
        const sb_slice text = print_advice(ops, COUNT_OF(ops), &output);
        if (cases[i].part != NULL)
            check_contains(text, cases[i].part);
        else
            check_slice(text, "\n💡 Advice 💡\n============\n\n");
        sb_output_discard(&output);
    }
}

static void saving_of_gaps_is_what_is_above_6_microseconds(void **state) {
    (void)state;
    sb_output output = sb_output_to_memory();
    const test_op ops[] = {{.duration = "40000"},
                           {.duration = "10000", .latency = "10000"},
                           {.duration = "20000", .latency = "20000"}};
    check_contains(print_advice(ops, COUNT_OF(ops), &output), "18 μs (18.0 % of the total)");
    sb_output_discard(&output);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_matmuls_with_a_bound_get_advice),
        cmocka_unit_test(dram_bound_matmul_is_told_to_shard),
        cmocka_unit_test(dram_bound_matmul_with_too_low_fidelity_below_40_percent),
        cmocka_unit_test(dram_bound_matmul_with_too_high_fidelity),
        cmocka_unit_test(dram_bound_matmul_ignores_hints_of_sufficient_fidelity),
        cmocka_unit_test(compute_bound_matmul_on_few_cores_is_told_to_use_more),
        cmocka_unit_test(compute_bound_matmul_with_too_high_fidelity),
        cmocka_unit_test(slow_matmul_with_good_blocks_hears_so),
        cmocka_unit_test(slow_matmul_with_input_outside_l1_is_told_to_move_it),
        cmocka_unit_test(slow_matmul_without_program_config_gets_nothing_more),
        cmocka_unit_test(slow_matmul_with_small_or_unknown_blocks),
        cmocka_unit_test(slow_matmul_gets_every_hint_on_fidelity),
        cmocka_unit_test(everything_at_once_fits),
        cmocka_unit_test(fidelity_is_judged_by_mantissa_bits),
        cmocka_unit_test(integers_come_before_unknown_types),
        cmocka_unit_test(first_unknown_type_is_named),
        cmocka_unit_test(unknown_fidelity_is_not_judged),
        cmocka_unit_test(parts_appear_only_when_there_is_something),
        cmocka_unit_test(saving_of_gaps_is_what_is_above_6_microseconds),
    };
    return RUN(tests);
}
