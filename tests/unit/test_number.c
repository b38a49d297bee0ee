#include <float.h>
#include <math.h>

#include "testing.h"

/* ---- reading ---- */

static void integers_are_read_up_to_their_limits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {" \t12\r\n", 12},
        {"007", 7},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"-9223372036854775807", -INT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t value = 99;
        assert_true(sb_parse_int64(sb_slice_of(cases[i].text), &value));
        assert_true(value == cases[i].value);
    }
}

static void what_is_no_int64_is_refused(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",
        " ",
        "-",
        "+",
        "1.0",
        "1e3",
        "0x10",
        "1 2",
        "--1",
        "12a",
        "a12",
        "1,0",
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "99999999999999999999999",
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t value = 0;
        if (sb_parse_int64(sb_slice_of(cases[i]), &value))
            fail_msg("'%s' was taken as %lld", cases[i], (long long)value);
    }
}

static void doubles_are_read_to_the_nearest(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0.1", 0.1},
        {"-2.5", -2.5},
        {"+3", 3},
        {".5", 0.5},
        {"5.", 5},
        {" 1e3\n", 1000},
        {"1E-3", 1e-3},
        {"1e+400", HUGE_VAL},
        {"1e-400", 0},
        {"0.30000000000000004", 0.30000000000000004},
        {"123456789012345678", 123456789012345680.0},
        {"9007199254740993", 9007199254740992.0},
        {"5e-324", 5e-324},
        {"1.7976931348623157e308", DBL_MAX},
        {"inf", HUGE_VAL},
        {"-Infinity", -HUGE_VAL},
        {"INF", HUGE_VAL},
        {"000000000000000000000000000000000000000000000000000000000000000000000000000001.5", 1.5},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double value = 99;
        if (!sb_parse_double(sb_slice_of(cases[i].text), &value))
            fail_msg("'%s' was refused", cases[i].text);
        check_double(value, cases[i].value);
    }
}

static void what_is_no_decimal_number_is_refused(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",     " ",   ".",    "-",   "+.",    "e5",  "1e",      "1e+",   "1.2.3",
        "0x10", "nan", "NaN",  "1 2", "1,000", "1d5", "infinit", "in",    "--1",
        "1f",   "1_0", "1e5x", "- 1", "+-1",   "µ",   "one",     "1e5.5", "infinity1",
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double value = 0;
        if (sb_parse_double(sb_slice_of(cases[i]), &value))
            fail_msg("'%s' was taken as %g", cases[i], value);
    }
    double value = 0;
    assert_false(sb_parse_double((sb_slice)SB_SLICE("1\0002"), &value));
    assert_false(sb_parse_double((sb_slice){NULL, 0}, &value));
}

static void minus_zero_keeps_its_sign(void **state) {
    (void)state;
    double value = 1;
    assert_true(sb_parse_double(sb_slice_of("-0.0"), &value));
    assert_true(value == 0 && signbit(value) != 0);
}

static void random_decimals_read_as_strtod_reads_them(void **state) {
    (void)state;
    uint64_t random = 0x1234567;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        const uint64_t digits = next_random(&random) >> (next_random(&random) % 64);
        const uint64_t decimals = next_random(&random) % 1000000;
        snprintf(text, sizeof text, i % 3 == 0 ? "-%llu.%06llu" : "%llu.%llu",
                 (unsigned long long)digits, (unsigned long long)decimals);
        double value = 0;
        assert_true(sb_parse_double(sb_slice_of(text), &value));
        check_double(value, strtod(text, NULL));
    }
}

/* ---- writing ---- */

static sb_slice shortest(double value) {
    static char text[SB_NUMBER_SIZE];
    return (sb_slice){text, sb_format_shortest(value, text)};
}

static sb_slice fixed(double value, int decimals, bool separators) {
    static char text[SB_NUMBER_SIZE];
    return (sb_slice){text, sb_format_fixed(value, decimals, separators, text)};
}

static void integers_are_written_up_to_their_limits(void **state) {
    (void)state;
    char text[SB_NUMBER_SIZE];
    check_slice((sb_slice){text, sb_format_int64(0, text)}, "0");
    check_slice((sb_slice){text, sb_format_int64(-7, text)}, "-7");
    check_slice((sb_slice){text, sb_format_int64(INT64_MAX, text)}, "9223372036854775807");
    check_slice((sb_slice){text, sb_format_int64(INT64_MIN, text)}, "-9223372036854775808");
}

static void shortest_text_of_known_values(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {-12, "-12.0"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {0.30000000000000004, "0.30000000000000004"},
        {5e-324, "5e-324"},
        {1.2e-320, "1.2e-320"},
        {0x1p-24, "5.960464477539063e-08"},
        {674026836176.34375, "674026836176.3438"},
        {100, "100.0"},
        {1e15, "1000000000000000.0"},
        {9999999999999998.0, "9999999999999998.0"},
        {1e16, "1e+16"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {1e-4, "0.0001"},
        {1e-5, "1e-05"},
        {7.38704552618168e-05, "7.38704552618168e-05"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {1e100, "1e+100"},
        {1.5e-300, "1.5e-300"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {9007199254740993.0, "9007199254740992.0"},
        {99.99999999999999, "99.99999999999999"},
        {0.99999999999999989, "0.9999999999999999"},
        {674026836176.34375, "674026836176.3438"}, /* a tie: to even */
        {674026836176.53125, "674026836176.5312"},
        {HUGE_VAL, "inf"},
        {-HUGE_VAL, "-inf"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_slice(shortest(cases[i].value), cases[i].text);
    check_slice(shortest(NAN), "nan");
}

/* Powers of two, whose neighbour below is nearer than the one above. */
static void shortest_text_of_powers_of_two(void **state) {
    (void)state;
    static const struct {
        int exponent;
        const char *text;
    } cases[] = {
        {-20, "9.5367431640625e-07"},
        {-10, "0.0009765625"},
        {-1, "0.5"},
        {10, "1024.0"},
        {52, "4503599627370496.0"},
        {53, "9007199254740992.0"},
        {60, "1.152921504606847e+18"},
        {100, "1.2676506002282294e+30"},
        {1000, "1.0715086071862673e+301"},
        {-1000, "9.332636185032189e-302"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_slice(shortest(ldexp(1, cases[i].exponent)), cases[i].text);
    for (int exponent = -1074; exponent < 1024; exponent++) {
        char text[SB_NUMBER_SIZE + 1];
        text[sb_format_shortest(ldexp(1, exponent), text)] = '\0';
        check_double(strtod(text, NULL), ldexp(1, exponent));
    }
}

/* The digits of a text, without point, exponent and zeros at its ends. */
static sb_slice digits_of(const char *text, char digits[40]) {
    size_t count = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text != '-' && *text != '.' && (count > 0 || *text != '0'))
            digits[count++] = *text;
    }
    while (count > 0 && digits[count - 1] == '0')
        count--;
    return (sb_slice){digits, count};
}

static void check_shortest_by_search(double value) {
    char text[SB_NUMBER_SIZE + 1];
    char searched[64];
    char digits[2][40];
    text[sb_format_shortest(value, text)] = '\0';
    if (strtod(text, NULL) != value)
        fail_msg("%s does not read back to %.17g", text, value);
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(searched, sizeof searched, "%.*g", precision, value);
        if (strtod(searched, NULL) == value)
            break;
    }
    if (!sb_slice_equal(digits_of(text, digits[0]), digits_of(searched, digits[1])))
        fail_msg("%s is not %s", text, searched);
}

static double random_double(uint64_t *random, int kind) {
    const uint64_t bits = next_random(random);
    const double unit = (double)(bits >> 11) / 9007199254740992.0;
    switch (kind) {
    case 0: /* any bits, but neither subnormal nor infinite */
    {
        const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
        const uint64_t exponent = 1 + (bits >> 52) % 2046;
        const uint64_t whole = exponent << 52 | fraction | 1;
        double value = 0;
        memcpy(&value, &whole, sizeof value);
        return value;
    }
    case 1: /* percentages */
        return unit * 100;
    case 2: /* times in thousandths */
        return (double)(bits % 10000000000) / 1000;
    case 3:
        return unit * 1e-6;
    case 4: /* large whole numbers */
        return (double)bits;
    case 5:
        return -unit * 1e12;
    case 6: /* around powers of ten */
        return pow(10, (double)(bits % 40) - 20) * (1 + (unit - 0.5) * 1e-14);
    default:
        return unit;
    }
}

static void random_doubles_have_the_shortest_text_and_read_back(void **state) {
    (void)state;
    uint64_t random = 42;
    for (int i = 0; i < 200000; i++)
        check_shortest_by_search(random_double(&random, i % 8));
}

static void fixed_decimals_of_known_values(void **state) {
    (void)state;
    static const struct {
        double value;
        int decimals;
        const char *text;
    } cases[] = {
        {0.5, 0, "0"},
        {1.5, 0, "2"},
        {2.5, 0, "2"},
        {3.5, 0, "4"},
        {0.125, 2, "0.12"},
        {0.375, 2, "0.38"},
        {1.035, 2, "1.03"},
        {99.95, 1, "100.0"},
        {-0.4, 0, "-0"},
        {-0.0, 1, "-0.0"},
        {-1.5, 0, "-2"},
        {0, 3, "0.000"},
        {1e-300, 9, "0.000000000"},
        {5e-324, 0, "0"},
        {999999999.9, 0, "1000000000"},
        {1e9, 2, "1000000000.00"},
        {1e22, 0, "10000000000000000000000"},
        {0.000000001, 9, "0.000000001"},
        {HUGE_VAL, 2, "inf"},
        {-HUGE_VAL, 2, "-inf"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_slice(fixed(cases[i].value, cases[i].decimals, false), cases[i].text);
    check_slice(fixed(NAN, 1, true), "nan");
}

static void separators_stand_before_every_three_digits(void **state) {
    (void)state;
    static const struct {
        double value;
        int decimals;
        const char *text;
    } cases[] = {
        {1, 0, "1"},
        {999, 0, "999"},
        {999.5, 0, "1,000"},
        {1000, 0, "1,000"},
        {-1000, 0, "-1,000"},
        {-999, 1, "-999.0"},
        {123456, 2, "123,456.00"},
        {1234567.891, 3, "1,234,567.891"},
        {1e15, 0, "1,000,000,000,000,000"},
        {1234.56789, 5, "1,234.56789"},
        {HUGE_VAL, 0, "inf"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_slice(fixed(cases[i].value, cases[i].decimals, true), cases[i].text);
}

static void the_largest_double_fits_with_separators_and_decimals(void **state) {
    (void)state;
    const sb_slice text = fixed(-DBL_MAX, 9, true);
    assert_true(text.size <= SB_NUMBER_SIZE);
    assert_int_equal(text.size, 1 + 309 + 102 + 10);
}

static void random_doubles_are_fixed_as_printf_does(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int i = 0; i < 200000; i++) {
        char printed[400];
        double value = random_double(&random, i % 8);
        if (i % 16 == 9) /* exact ties */
            value = (double)(next_random(&random) % 2000000) / 64;
        const int decimals = i % 10;
        snprintf(printed, sizeof printed, "%.*f", decimals, value);
        check_slice(fixed(value, decimals, false), printed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_read_up_to_their_limits),
        cmocka_unit_test(what_is_no_int64_is_refused),
        cmocka_unit_test(doubles_are_read_to_the_nearest),
        cmocka_unit_test(what_is_no_decimal_number_is_refused),
        cmocka_unit_test(minus_zero_keeps_its_sign),
        cmocka_unit_test(random_decimals_read_as_strtod_reads_them),
        cmocka_unit_test(integers_are_written_up_to_their_limits),
        cmocka_unit_test(shortest_text_of_known_values),
        cmocka_unit_test(shortest_text_of_powers_of_two),
        cmocka_unit_test(random_doubles_have_the_shortest_text_and_read_back),
        cmocka_unit_test(fixed_decimals_of_known_values),
        cmocka_unit_test(separators_stand_before_every_three_digits),
        cmocka_unit_test(the_largest_double_fits_with_separators_and_decimals),
        cmocka_unit_test(random_doubles_are_fixed_as_printf_does),
    };
    return RUN(tests);
}
