#include "emu_testing.h"

#define MOST_CODE 64

/* Runs code on BRISC with a in x10 and b in x11, and returns x12. */
static uint32_t run_with(const uint32_t *body, size_t count, uint32_t a, uint32_t b) {
    uint32_t code[MOST_CODE];
    size_t at = 0;
    at += rv_li(code + at, 10, a);
    at += rv_li(code + at, 11, b);
    memcpy(code + at, body, count * 4);
    at += count;
    code[at++] = RV_HALT;
    uint32_t results[2];
    for (emu_time time = EMU_COUNT; time <= EMU_MODELLED; time++) {
        emu_machine *machine = small_machine(time);
        start_brisc(machine, 0, 0, code, at);
        assert_true(emu_run(machine, 200));
        results[time] = emu_register(machine, 0, 0, EMU_BRISC, 12);
        emu_destroy(machine);
    }
    assert_int_equal(results[0], results[1]);
    return results[0];
}

static void arithmetic_gives_what_the_manual_says(void **state) {
    (void)state;
    static const struct {
        uint32_t upper, function, a, b, result;
    } cases[] = {
        {0, 0, 5, 0xFFFFFFFF, 4},          /* add */
        {32, 0, 5, 7, 0xFFFFFFFE},         /* sub */
        {0, 1, 1, 33, 2},                  /* sll takes five bits */
        {0, 2, 0xFFFFFFFF, 1, 1},          /* slt is signed */
        {0, 3, 0xFFFFFFFF, 1, 0},          /* sltu is not */
        {0, 4, 0xF0F0, 0xFF00, 0x0FF0},    /* xor */
        {0, 5, 0x80000000, 4, 0x08000000}, /* srl */
        {32, 5, 0x80000000, 4, 0xF8000000},
        {0, 6, 0xF0, 0x0F, 0xFF},
        {0, 7, 0xF0, 0x3C, 0x30},
        {1, 0, 0xFFFFFFFF, 3, 0xFFFFFFFD}, /* mul */
        {1, 1, 0xFFFFFFFF, 0xFFFFFFFF, 0}, /* mulh: -1 * -1 */
        {1, 1, 0x80000000, 0x80000000, 0x40000000},
        {1, 2, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, /* mulhsu: -1 * 2^32-1 */
        {1, 3, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFE}, /* mulhu */
        {1, 4, 0xFFFFFFF9, 2, 0xFFFFFFFD},          /* div rounds to zero */
        {1, 4, 7, 0, 0xFFFFFFFF},
        {1, 4, 0x80000000, 0xFFFFFFFF, 0x80000000}, /* overflow */
        {1, 5, 0xFFFFFFF9, 2, 0x7FFFFFFC},          /* divu */
        {1, 5, 7, 0, 0xFFFFFFFF},
        {1, 6, 0xFFFFFFF9, 2, 0xFFFFFFFF}, /* rem has the sign of the dividend */
        {1, 6, 7, 0, 7},
        {1, 6, 0x80000000, 0xFFFFFFFF, 0},
        {1, 7, 0xFFFFFFF9, 10, 9}, /* remu: 4294967289 % 10 */
        {1, 7, 7, 0, 7},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const uint32_t op = rv_r(cases[i].upper, cases[i].function, 12, 10, 11);
        const uint32_t result = run_with(&op, 1, cases[i].a, cases[i].b);
        if (result != cases[i].result)
            fail_msg("case %zu is 0x%x, should be 0x%x", i, result, cases[i].result);
    }
}

static void immediates_are_extended(void **state) {
    (void)state;
    static const struct {
        uint32_t function;
        int32_t imm;
        uint32_t a, result;
    } cases[] = {
        {0, -1, 5, 4},          {2, -1, 0xFFFFFFFE, 1},    {3, -1, 5, 1},
        {4, -1, 0xF0, ~0xF0u},  {6, -2048, 0, 0xFFFFF800}, {7, -16, 0xFF, 0xF0},
        {1, 31, 1, 0x80000000}, {5, 31, 0x80000000, 1},    {5, 0x400 | 31, 0x80000000, 0xFFFFFFFF},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const uint32_t op = rv_i(0x13, cases[i].function, 12, 10, cases[i].imm);
        assert_int_equal(run_with(&op, 1, cases[i].a, 0), cases[i].result);
    }
}

static void loads_extend_and_stores_keep_neighbours(void **state) {
    (void)state;
    static const uint32_t bases[] = {0x40000, 0xFFB00100}; /* L1, local memory */
    for (size_t i = 0; i < COUNT_OF(bases); i++) {
        const uint32_t signed_byte[] = {rv_store(RV_SW, 11, 10, 0), rv_load(RV_LB, 12, 10, 3)};
        assert_int_equal(run_with(signed_byte, 2, bases[i], 0x80FFFF7F), 0xFFFFFF80);
        const uint32_t byte[] = {rv_store(RV_SW, 11, 10, 0), rv_load(RV_LBU, 12, 10, 3)};
        assert_int_equal(run_with(byte, 2, bases[i], 0x80FFFF7F), 0x80);
        const uint32_t half[] = {rv_store(RV_SW, 11, 10, 0), rv_load(RV_LH, 12, 10, 2)};
        assert_int_equal(run_with(half, 2, bases[i], 0x80FFFF7F), 0xFFFF80FF);
        const uint32_t middle[] = {rv_store(RV_SW, 11, 10, 0), rv_store(RV_SB, 0, 10, 1),
                                   rv_load(RV_LW, 12, 10, 0)};
        assert_int_equal(run_with(middle, 3, bases[i], 0x80FFFF7F), 0x80FF007F);
    }
}

static void x0_stays_zero(void **state) {
    (void)state;
    const uint32_t code[] = {rv_addi(0, 10, 1), rv_r(1, 0, 0, 10, 11), rv_addi(12, 0, 3)};
    assert_int_equal(run_with(code, 3, 40, 50), 3);
}

static void jumps_link_and_cross_pages(void **state) {
    (void)state;
    /* From 0x10 to 0x2000, two pages on, and back by the link. */
    uint32_t code[0x2010 / 4] = {0};
    size_t at = rv_li(code, 10, 7);
    at += rv_li(code + at, 11, 9);
    code[at] = rv_jal(1, 0x2000 - (int32_t)at * 4);
    code[at + 1] = RV_HALT;
    code[0x2000 / 4] = rv_r(0, 0, 12, 10, 11);
    code[0x2004 / 4] = rv_jalr(0, 1, 0);
    emu_machine *machine = small_machine(EMU_COUNT);
    start_brisc(machine, 0, 0, code, COUNT_OF(code));
    assert_true(emu_run(machine, 50));
    assert_int_equal(emu_register(machine, 0, 0, EMU_BRISC, 12), 16);
    assert_int_equal(emu_register(machine, 0, 0, EMU_BRISC, 1), at * 4 + 4);
    emu_destroy(machine);
}

static void code_runs_off_a_page_into_the_next(void **state) {
    (void)state;
    uint32_t code[1100];
    for (size_t i = 0; i < COUNT_OF(code); i++)
        code[i] = rv_addi(12, 12, 1);
    code[1099] = RV_HALT;
    emu_machine *machine = small_machine(EMU_COUNT);
    start_brisc(machine, 0, 0, code, COUNT_OF(code));
    assert_true(emu_run(machine, 2000));
    assert_int_equal(emu_register(machine, 0, 0, EMU_BRISC, 12), 1099);
    emu_destroy(machine);
}

static void code_that_is_overwritten_is_decoded_anew(void **state) {
    (void)state;
    const uint32_t before[] = {rv_addi(12, 0, 1), RV_HALT};
    const uint32_t after[] = {rv_addi(12, 0, 2), RV_HALT};
    const uint32_t hold = 0x47800;
    emu_machine *machine = small_machine(EMU_MODELLED);
    start_brisc(machine, 0, 0, before, 2);
    assert_true(emu_run(machine, 32));
    assert_int_equal(emu_register(machine, 0, 0, EMU_BRISC, 12), 1);
    put_l1(machine, 0, 0, SOFT_RESET, &hold, 4);
    start_brisc(machine, 0, 0, after, 2);
    assert_true(emu_run(machine, 32));
    assert_int_equal(emu_register(machine, 0, 0, EMU_BRISC, 12), 2);
    emu_destroy(machine);
}

static void bad_code_stops_with_its_place(void **state) {
    (void)state;
    const struct {
        uint32_t words[4];
        uint32_t pc;
        const char *text;
    } cases[] = {
        {{rv_addi(1, 0, 1), 0xFFFFFFFF}, 4, "illegal instruction"},
        {{0x0000000F}, 0, "illegal instruction"}, /* fence */
        {{0x00000073}, 0, "illegal instruction"}, /* ecall */
        {{0x00000001}, 0, "illegal instruction"}, /* compressed */
        {{rv_lui(1, 0x40000), rv_load(RV_LW, 2, 1, 2)}, 4, "misaligned load of 4 bytes"},
        {{rv_lui(1, 0x40000), rv_store(RV_SH, 2, 1, 1)}, 4, "misaligned store of 2 bytes"},
        {{rv_lui(1, 0x16E000), rv_load(RV_LW, 2, 1, 0)}, 4, "where there is nothing"},
        {{rv_lui(1, 0xFFB12000), rv_load(RV_LW, 2, 1, 12)}, 4, "register that does not exist"},
        /* a counter that nobody counts */
        {{rv_lui(1, 0xFFB12000), rv_load(RV_LW, 2, 1, 0x104)}, 4, "register that does not exist"},
        {{rv_lui(1, 0xFFB12000), rv_load(RV_LBU, 2, 1, 0x1F0)}, 4, "load of 1 bytes"},
        {{rv_lui(1, 0x200000), rv_jalr(0, 1, 0)}, 0x200000, "where there is no code"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        emu_machine *machine = small_machine(EMU_MODELLED);
        start_brisc(machine, 0, 0, cases[i].words, 4);
        assert_false(emu_run(machine, 100));
        const emu_fault *fault = emu_fault_of(machine);
        assert_true(fault->happened);
        assert_int_equal(fault->hart, EMU_BRISC);
        assert_int_equal(fault->pc, cases[i].pc);
        check_contains(sb_slice_of(fault->text), cases[i].text);
        assert_false(emu_run(machine, 100));
        emu_destroy(machine);
    }
}

/* Reads the clock, runs body, reads it again: clocks between the reads. */
static uint32_t clocks_of(emu_time time, const uint32_t *body, size_t count) {
    uint32_t code[MOST_CODE];
    size_t at = 0;
    at += rv_li(code + at, 1, 0xFFB12000);
    at += rv_li(code + at, 10, 0x40000);
    at += rv_li(code + at, 11, 3);
    code[at++] = rv_load(RV_LW, 2, 1, 0x1F0);
    code[at++] = rv_addi(2, 2, 0);
    memcpy(code + at, body, count * 4);
    at += count;
    code[at++] = rv_load(RV_LW, 3, 1, 0x1F0);
    code[at++] = rv_r(32, 0, 12, 3, 2);
    code[at++] = RV_HALT;
    emu_machine *machine = small_machine(time);
    start_brisc(machine, 0, 0, code, at);
    assert_true(emu_run(machine, 400));
    const uint32_t clocks = emu_register(machine, 0, 0, EMU_BRISC, 12);
    emu_destroy(machine);
    return clocks;
}

static void time_is_counted_or_modelled(void **state) {
    (void)state;
    const uint32_t nothing[] = {rv_addi(0, 0, 0), rv_addi(0, 0, 0), rv_addi(0, 0, 0)};
    const uint32_t division[] = {rv_r(1, 5, 12, 10, 11), rv_addi(0, 0, 0), rv_addi(0, 0, 0)};
    const uint32_t load[] = {rv_load(RV_LW, 12, 10, 0), rv_addi(12, 12, 0), rv_addi(0, 0, 0)};
    const uint32_t stores[] = {rv_store(RV_SW, 11, 10, 0), rv_store(RV_SW, 11, 10, 4),
                               rv_addi(0, 0, 0)};
    const uint32_t base = clocks_of(EMU_COUNT, nothing, 3);
    assert_int_equal(clocks_of(EMU_COUNT, division, 3), base);
    assert_int_equal(clocks_of(EMU_COUNT, load, 3), base);
    const uint32_t modelled = clocks_of(EMU_MODELLED, nothing, 3);
    /* 0x40000 has 19 bits: 6 + 19 * 27 / 32 clocks instead of one. */
    assert_int_equal(clocks_of(EMU_MODELLED, division, 3), modelled + 21);
    /* The value is there 8 clocks after the load. */
    assert_int_equal(clocks_of(EMU_MODELLED, load, 3), modelled + 7);
    /* The port takes a store every 5 clocks. */
    assert_int_equal(clocks_of(EMU_MODELLED, stores, 3), modelled + 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_gives_what_the_manual_says),
        cmocka_unit_test(immediates_are_extended),
        cmocka_unit_test(loads_extend_and_stores_keep_neighbours),
        cmocka_unit_test(x0_stays_zero),
        cmocka_unit_test(jumps_link_and_cross_pages),
        cmocka_unit_test(code_runs_off_a_page_into_the_next),
        cmocka_unit_test(code_that_is_overwritten_is_decoded_anew),
        cmocka_unit_test(bad_code_stops_with_its_place),
        cmocka_unit_test(time_is_counted_or_modelled),
    };
    return RUN(tests);
}
