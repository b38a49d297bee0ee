/*
 * UTF-8: is it valid, how wide is it, how to make it harmless.
 */
#ifndef SB_BASE_UNICODE_H
#define SB_BASE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/slice.h"

/*
 * Takes one code point off the front of *text, which must not be empty. A byte that begins no valid
 * sequence is taken alone; then *valid is false and the result U+FFFD.
 */
uint32_t sb_utf8_next(sb_slice *text, bool *valid);

bool sb_utf8_is_valid(sb_slice text);

/* How many code points text has, if it is valid. */
size_t sb_utf8_length(sb_slice text);

/* Columns on a terminal: 0 for combining marks, 2 for wide characters and emoji. */
size_t sb_utf8_width(sb_slice text);

/*
 * text fit for a terminal and for one line: control characters and invalid bytes become U+FFFD,
 * line breaks and tabs become blanks. Returns text itself when it is plain ASCII.
 */
sb_slice sb_utf8_clean(sb_arena *arena, sb_slice text);

#endif
