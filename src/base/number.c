#include "base/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const uint64_t powers_of_ten[] = {
    1U,
    10U,
    100U,
    1000U,
    10000U,
    100000U,
    1000000U,
    10000000U,
    100000000U,
    1000000000U,
    10000000000U,
    100000000000U,
    1000000000000U,
    10000000000000U,
    100000000000000U,
    1000000000000000U,
    10000000000000000U,
    100000000000000000U,
};

/* ---- reading ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool sb_parse_int64(sb_slice text, int64_t *value) {
    text = sb_slice_trim(text);
    bool negative = false;
    if (text.size > 0 && (text.data[0] == '-' || text.data[0] == '+')) {
        negative = text.data[0] == '-';
        text = sb_slice_after(text, 1);
    }
    if (text.size == 0)
        return false;
    const uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t magnitude = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (!is_digit(text.data[i]))
            return false;
        const uint64_t digit = (uint64_t)(text.data[i] - '0');
        if (magnitude > (limit - digit) / 10)
            return false;
        magnitude = magnitude * 10 + digit;
    }
    if (negative)
        *value = magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    else
        *value = (int64_t)magnitude;
    return true;
}

static size_t skip_digits(sb_slice text, size_t at) {
    while (at < text.size && is_digit(text.data[at]))
        at++;
    return at;
}

static size_t skip_sign(sb_slice text, size_t at) {
    return at < text.size && (text.data[at] == '-' || text.data[at] == '+') ? at + 1 : at;
}

static bool is_infinity(sb_slice text) {
    char lower[8];
    if (text.size != 3 && text.size != 8)
        return false;
    for (size_t i = 0; i < text.size; i++)
        lower[i] = (char)(text.data[i] | 0x20);
    return memcmp(lower, "infinity", text.size) == 0;
}

/* Whether text is what strtod would take as a decimal number (and not hexadecimal or nan). */
static bool is_decimal_number(sb_slice text) {
    const size_t start = skip_sign(text, 0);
    if (is_infinity(sb_slice_after(text, start)))
        return true;
    size_t at = skip_digits(text, start);
    size_t digits = at - start;
    if (at < text.size && text.data[at] == '.') {
        const size_t fraction = at + 1;
        at = skip_digits(text, fraction);
        digits += at - fraction;
    }
    if (digits == 0)
        return false;
    if (at < text.size && (text.data[at] | 0x20) == 'e') {
        const size_t exponent = skip_sign(text, at + 1);
        at = skip_digits(text, exponent);
        if (at == exponent)
            return false;
    }
    return at == text.size;
}

static bool parse_with_strtod(sb_slice text, double *value) {
    if (!is_decimal_number(text))
        return false;
    char fixed[64];
    char *copy = text.size < sizeof fixed ? fixed : sb_alloc(text.size + 1);
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    *value = strtod(copy, NULL);
    if (copy != fixed)
        free(copy);
    return true;
}

/*
 * Up to 15 digits with up to 15 of them behind the point: both the digits as an integer and the
 * power of ten are exact doubles, so one division gives the correctly rounded result. Everything
 * else is left to strtod.
 */
bool sb_parse_double(sb_slice text, double *value) {
    text = sb_slice_trim(text);
    sb_slice rest = text;
    const bool negative = rest.size > 0 && rest.data[0] == '-';
    if (negative)
        rest = sb_slice_after(rest, 1);
    uint64_t digits = 0;
    size_t decimals = 0;
    size_t count = 0;
    bool point = false;
    if (rest.size == 0 || rest.size > 16)
        return parse_with_strtod(text, value);
    for (size_t i = 0; i < rest.size; i++) {
        const char c = rest.data[i];
        if (c == '.' && !point) {
            point = true;
        } else if (is_digit(c)) {
            digits = digits * 10 + (uint64_t)(c - '0');
            decimals += point ? 1 : 0;
            count++;
        } else {
            return parse_with_strtod(text, value);
        }
    }
    if (count == 0 || count > 15)
        return parse_with_strtod(text, value);
    const double magnitude = (double)digits / (double)powers_of_ten[decimals];
    *value = negative ? -magnitude : magnitude;
    return true;
}

/* ---- writing ---- */

/* Writes magnitude in digits, at least min_digits of them (with leading zeros). */
static size_t put_digits(uint64_t magnitude, size_t min_digits, char *text) {
    char reversed[20];
    size_t count = 0;
    while (magnitude > 0 || count < min_digits) {
        reversed[count++] = (char)('0' + magnitude % 10);
        magnitude /= 10;
    }
    for (size_t i = 0; i < count; i++)
        text[i] = reversed[count - 1 - i];
    return count;
}

size_t sb_format_int64(int64_t value, char text[SB_NUMBER_SIZE]) {
    const bool negative = value < 0;
    if (negative)
        text[0] = '-';
    const uint64_t magnitude = negative ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
    return (negative ? 1 : 0) + put_digits(magnitude, 1, text + (negative ? 1 : 0));
}

/* A positive finite double as mantissa * 2^exponent. */
typedef struct binary {
    uint64_t mantissa; /* below 2^53 */
    int exponent;
} binary;

static binary take_apart(double value) {
    assert(value > 0 && isfinite(value));
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const int biased = (int)(bits >> 52) & 0x7ff;
    if (biased == 0)
        return (binary){fraction, -1074};
    return (binary){fraction | (UINT64_C(1) << 52), biased - 1075};
}

/* The largest power of five that fits in 64 bits is the 27th. */
enum { EXACT_POWER_MAX = 27 };

static uint64_t power_of_five(int exponent) {
    assert(exponent >= 0 && exponent <= EXACT_POWER_MAX);
    uint64_t power = 1;
    for (int i = 0; i < exponent; i++)
        power *= 5;
    return power;
}

/* A number as decimal digits: 0.DIGITS * 10^point. */
typedef struct decimal {
    uint64_t digits;
    int point;
} decimal;

/* scaled / 2^shift to the nearest integer, ties to even. */
static uint64_t round_shifted(sb_u128 scaled, int shift) {
    assert(shift > 0 && shift < 128);
    const sb_u128 whole = scaled >> shift;
    const sb_u128 rest = scaled - (whole << shift);
    const sb_u128 half = (sb_u128)1 << (shift - 1);
    const bool up = rest > half || (rest == half && (whole & 1) == 1);
    return (uint64_t)whole + (up ? 1 : 0);
}

/* Removes trailing zeros: "1200" with its point kept is the same number as "12". */
static decimal strip_zeros(decimal number) {
    while (number.digits % 10 == 0 && number.digits != 0)
        number.digits /= 10;
    return number;
}

/*
 * One value in units of 10^-power: scaled / 2^shift, where every number closer to it than
 * five / 2 / 2^shift reads back to the same double.
 */
typedef struct scaled_value {
    sb_u128 scaled;
    int shift;
    uint64_t five; /* 5^power */
} scaled_value;

/* Rounds to a multiple of unit; false if that is too far away to read back. */
static bool round_to_unit(const scaled_value *value, uint64_t unit, uint64_t *rounded) {
    const uint64_t below = (uint64_t)(value->scaled >> value->shift) / unit * unit;
    const sb_u128 down = value->scaled - ((sb_u128)below << value->shift);
    const sb_u128 up = ((sb_u128)(below + unit) << value->shift) - value->scaled;
    const bool is_tie = down == up;
    const bool is_below = is_tie ? below / unit % 2 == 0 : down < up;
    *rounded = is_below ? below : below + unit;
    return (is_below ? down : up) * 2 < value->five;
}

/*
 * The shortest digits of value in exact integer arithmetic.
 *
 * With 10^power chosen so that value * 10^power has 17 digits, that product is
 * mantissa * 5^power / 2^shift, and for powers up to 27 the numerator fits in 128 bits. The
 * shortest number that reads back is found by rounding it to 15, 16 and then 17 digits. False
 * outside the range of this arithmetic, and for powers of two, whose neighbour below is nearer.
 */
static bool find_shortest(double value, decimal *result) {
    const binary parts = take_apart(value);
    int magnitude = (int)floor(log10(value));
    /* log10 rounds: a value just below a power of ten may come out one too large. */
    const int power = 16 - magnitude;
    const int shift = -(parts.exponent + power);
    if (power < 0 || power > EXACT_POWER_MAX || shift < 1 || shift > 115 ||
        parts.mantissa == UINT64_C(1) << 52)
        return false;
    const uint64_t five = power_of_five(power);
    const scaled_value exact = {(sb_u128)parts.mantissa * five, shift, five};
    uint64_t digits = round_shifted(exact.scaled, shift);
    if (digits < powers_of_ten[16] || digits >= powers_of_ten[17])
        return false;
    uint64_t shorter = 0;
    if (round_to_unit(&exact, 100, &shorter) || round_to_unit(&exact, 10, &shorter))
        digits = shorter;
    if (digits == powers_of_ten[17])
        magnitude++;
    *result = strip_zeros((decimal){digits, magnitude + 1});
    return true;
}

static bool reads_back(decimal number, double value) {
    char text[40];
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)number.digits, number.point);
    return strtod(text, NULL) == value;
}

/*
 * The same by trial, for numbers out of the range above. Next to a power of two the digits nearest
 * to the value may read back to its neighbour below while those one higher are right. Here point is
 * the power of ten of the last digit.
 */
static void find_shortest_by_trial(double value, decimal *result) {
    decimal number = {0, 0};
    int count = 1;
    for (; count <= 17; count++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", count - 1, value);
        char *exponent = strchr(text, 'e');
        number = (decimal){0, (int)strtol(exponent + 1, NULL, 10) - (count - 1)};
        for (const char *at = text; at < exponent; at++)
            number.digits = *at == '.' ? number.digits : number.digits * 10 + (uint64_t)(*at - '0');
        if (reads_back(number, value))
            break;
        number.digits++;
        if (reads_back(number, value))
            break;
    }
    char digits[20];
    const int size = (int)put_digits(number.digits, 1, digits);
    *result = strip_zeros((decimal){number.digits, number.point + size});
}

/* DIGITS.DIGITS or 0.000DIGITS. */
static size_t put_positional(const char *digits, int count, int point, char *text) {
    size_t size = 0;
    if (point <= 0) {
        text[size++] = '0';
        text[size++] = '.';
        for (int i = point; i < 0; i++)
            text[size++] = '0';
        memcpy(text + size, digits, (size_t)count);
        return size + (size_t)count;
    }
    for (int i = 0; i < point; i++)
        text[size++] = (char)(i < count ? digits[i] : '0');
    text[size++] = '.';
    if (count <= point)
        text[size++] = '0';
    for (int i = point; i < count; i++)
        text[size++] = digits[i];
    return size;
}

static size_t put_exponential(const char *digits, int count, int exponent, char *text) {
    size_t size = 0;
    text[size++] = digits[0];
    if (count > 1) {
        text[size++] = '.';
        memcpy(text + size, digits + 1, (size_t)count - 1);
        size += (size_t)count - 1;
    }
    text[size++] = 'e';
    text[size++] = exponent < 0 ? '-' : '+';
    const uint64_t magnitude = (uint64_t)(exponent < 0 ? -exponent : exponent);
    return size + put_digits(magnitude, 2, text + size);
}

/* All of "nan", "inf" or "-inf" (then true), or the sign, which is taken off the value. */
static bool put_special_or_sign(double *value, char *text, size_t *size) {
    const bool negative = signbit(*value) && !isnan(*value);
    *size = negative ? 1 : 0;
    text[0] = '-';
    if (isfinite(*value)) {
        *value = fabs(*value);
        return false;
    }
    memcpy(text + *size, isnan(*value) ? "nan" : "inf", 3);
    *size += 3;
    return true;
}

size_t sb_format_shortest(double value, char text[SB_NUMBER_SIZE]) {
    size_t size = 0;
    if (put_special_or_sign(&value, text, &size))
        return size;
    if (value == 0) {
        memcpy(text + size, "0.0", 3);
        return size + 3;
    }
    decimal number;
    if (!find_shortest(value, &number))
        find_shortest_by_trial(value, &number);
    char digits[20];
    const int count = (int)put_digits(number.digits, 1, digits);
    if (number.point > 16 || number.point < -3)
        return size + put_exponential(digits, count, number.point - 1, text + size);
    return size + put_positional(digits, count, number.point, text + size);
}

/*
 * value * 10^decimals to the nearest integer, ties to even, from the exact value. False if the
 * result does not fit in 64 bits.
 */
static bool scale_exactly(double value, int decimals, uint64_t *scaled) {
    if (value == 0) {
        *scaled = 0;
        return true;
    }
    if (value >= 1e9)
        return false;
    const binary parts = take_apart(value);
    const sb_u128 product = (sb_u128)parts.mantissa * powers_of_ten[decimals];
    const int shift = -parts.exponent;
    assert(shift > 0); /* value is below 2^53 */
    *scaled = shift > 115 ? 0 : round_shifted(product, shift);
    return true;
}

/* Copies the digits in front of the point with a comma before each group of three. */
static size_t put_with_separators(const char *digits, size_t whole, size_t all, char *text) {
    size_t size = 0;
    for (size_t i = 0; i < all; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0)
            text[size++] = ',';
        text[size++] = digits[i];
    }
    return size;
}

size_t sb_format_fixed(double value, int decimals, bool separators, char text[SB_NUMBER_SIZE]) {
    assert(decimals >= 0 && decimals <= 9);
    size_t size = 0;
    if (put_special_or_sign(&value, text, &size))
        return size;
    char digits[SB_NUMBER_SIZE];
    size_t all = 0;
    uint64_t scaled = 0;
    if (scale_exactly(value, decimals, &scaled)) {
        const uint64_t unit = powers_of_ten[decimals];
        all = put_digits(scaled / unit, 1, digits);
        if (decimals > 0) {
            digits[all++] = '.';
            all += put_digits(scaled % unit, (size_t)decimals, digits + all);
        }
    } else {
        all = (size_t)snprintf(digits, sizeof digits, "%.*f", decimals, value);
    }
    const size_t whole = decimals > 0 ? all - (size_t)decimals - 1 : all;
    if (separators)
        return size + put_with_separators(digits, whole, all, text + size);
    memcpy(text + size, digits, all);
    return size + all;
}
