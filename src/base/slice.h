/*
 * Slice: a piece of text somewhere, with its length.
 *
 * Text from outside is never assumed to end in NUL, so it travels as a slice. A slice owns nothing:
 * it is valid as long as what it points into. Comparisons are by byte, which for UTF-8 is also the
 * order of code points.
 */
#ifndef SB_BASE_SLICE_H
#define SB_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct sb_slice {
    const char *data;
    size_t size;
} sb_slice;

/* A slice of a string literal, usable in initialisers. */
#define SB_SLICE(literal) \
    { (literal), sizeof(literal) - 1 }

/* What sb_slice_find returns when there is nothing. */
#define SB_NOT_FOUND ((size_t)-1)

/* These three are inline because most of their arguments are literals of known length. */
static inline sb_slice sb_slice_of(const char *text) {
    return (sb_slice){text, strlen(text)};
}

static inline bool sb_slice_equal(sb_slice a, sb_slice b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool sb_slice_is(sb_slice a, const char *text) {
    return sb_slice_equal(a, sb_slice_of(text));
}

/* Below, equal to or above zero, as memcmp; a prefix comes before what it begins. */
int sb_slice_compare(sb_slice a, sb_slice b);
bool sb_slice_starts_with(sb_slice text, const char *prefix);
bool sb_slice_ends_with(sb_slice text, const char *suffix);
/* Where part first stands in text, or SB_NOT_FOUND. */
size_t sb_slice_find(sb_slice text, const char *part);
bool sb_slice_contains(sb_slice text, const char *part);
/* What follows the first count bytes; empty if there are fewer. */
sb_slice sb_slice_after(sb_slice text, size_t count);
/* The first count bytes; all of it if there are fewer. */
sb_slice sb_slice_first(sb_slice text, size_t count);
/* The part before the first separator, and in *rest what follows it (empty without one). */
sb_slice sb_slice_cut(sb_slice text, char separator, sb_slice *rest);
/* The first word, and in *rest what follows the white space behind it. */
sb_slice sb_slice_first_word(sb_slice text, sb_slice *rest);
/* Without ASCII white space at both ends. */
sb_slice sb_slice_trim(sb_slice text);

#endif
