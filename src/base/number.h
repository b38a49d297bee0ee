/*
 * Numbers to text and back, exactly.
 *
 * Reports are compared byte by byte with those of other tools, so rounding is never left to chance:
 * reading gives the nearest double, shortest text reads back to the same double, fixed decimals are
 * rounded from the exact binary value with ties to even. All of it is for the C locale, which a
 * program has until it calls setlocale.
 */
#ifndef SB_BASE_NUMBER_H
#define SB_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* Wide enough for the product of two 64-bit numbers. */
__extension__ typedef unsigned __int128 sb_u128;

/* Room for any number that the functions below write, without a closing NUL. */
#define SB_NUMBER_SIZE 512

/* Reads all of text, white space around it allowed. False if it is no such number. */
bool sb_parse_int64(sb_slice text, int64_t *value);
/* Accepts what C does in base ten, inf and infinity included; nan is not a number. */
bool sb_parse_double(sb_slice text, double *value);

/* Digits of value. Returns the length. */
size_t sb_format_int64(int64_t value, char text[SB_NUMBER_SIZE]);
/*
 * The fewest digits that read back to value: "0.1", "12.0", "1e+16", "nan", "inf". Positional
 * between 1e-4 and 1e16, always with a point or an exponent. Returns the length.
 */
size_t sb_format_shortest(double value, char text[SB_NUMBER_SIZE]);
/* value with 0 to 9 decimals; separators puts a comma every three digits. Returns the length. */
size_t sb_format_fixed(double value, int decimals, bool separators, char text[SB_NUMBER_SIZE]);

#endif
