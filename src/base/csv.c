#include "base/csv.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { BLOCK_SIZE = 64 };

/* ---- classifying: one bit for each comma, quote, line feed and carriage return ---- */

#if defined(__SSE2__)

static uint64_t classify(const char *block, bool *non_ascii) {
    const __m128i comma = _mm_set1_epi8(',');
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i feed = _mm_set1_epi8('\n');
    const __m128i carriage_return = _mm_set1_epi8('\r');
    uint64_t mask = 0;
    int high_bits = 0;
    for (int part = 0; part < BLOCK_SIZE / 16; part++) {
        const __m128i bytes =
            _mm_loadu_si128((const __m128i *)(const void *)(block + (size_t)part * 16));
        const __m128i separators =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, comma), _mm_cmpeq_epi8(bytes, quote));
        const __m128i breaks =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, feed), _mm_cmpeq_epi8(bytes, carriage_return));
        const int bits = _mm_movemask_epi8(_mm_or_si128(separators, breaks));
        mask |= (uint64_t)(unsigned)bits << (part * 16);
        high_bits |= _mm_movemask_epi8(bytes);
    }
    *non_ascii = *non_ascii || high_bits != 0;
    return mask;
}

#else

static uint64_t classify(const char *block, bool *non_ascii) {
    uint64_t mask = 0;
    unsigned char seen = 0;
    for (int i = 0; i < BLOCK_SIZE; i++) {
        const char c = block[i];
        seen |= (unsigned char)c;
        if (c == ',' || c == '"' || c == '\n' || c == '\r')
            mask |= UINT64_C(1) << i;
    }
    *non_ascii = *non_ascii || seen >= 0x80;
    return mask;
}

#endif

static void classify_block(sb_csv *csv) {
    const size_t left = csv->text.size - csv->block;
    if (left >= BLOCK_SIZE) {
        csv->mask = classify(csv->text.data + csv->block, &csv->non_ascii);
        return;
    }
    char padded[BLOCK_SIZE] = {0};
    memcpy(padded, csv->text.data + csv->block, left);
    csv->mask = classify(padded, &csv->non_ascii);
}

/* Where the next special character is; false if there is none left. */
static inline bool next_special(sb_csv *csv, size_t *at) {
    while (csv->mask == 0) {
        csv->block += BLOCK_SIZE;
        if (csv->block >= csv->text.size)
            return false;
        classify_block(csv);
    }
    *at = csv->block + (size_t)__builtin_ctzll(csv->mask);
    csv->mask &= csv->mask - 1;
    return true;
}

/* ---- records ---- */

static void grow_fields(sb_csv *csv) {
    csv->field_capacity = csv->field_capacity == 0 ? 128 : csv->field_capacity * 2;
    csv->fields = sb_realloc(csv->fields, csv->field_capacity, sizeof *csv->fields);
}

static inline void add_field(sb_csv *csv, sb_slice field) {
    if (csv->field_count == csv->field_capacity)
        grow_fields(csv);
    csv->fields[csv->field_count++] = field;
}

/* Copies raw without the first of each pair of quotes, then what followed the closing one. */
static sb_slice put_together(sb_csv *csv, sb_slice raw, sb_slice tail) {
    char *text = sb_arena_alloc(&csv->arena, raw.size + tail.size);
    size_t size = 0;
    for (size_t i = 0; i < raw.size; i++) {
        if (raw.data[i] == '"')
            i++;
        text[size++] = raw.data[i];
    }
    memcpy(text + size, tail.data, tail.size);
    return (sb_slice){text, size + tail.size};
}

static bool begins_crlf(const sb_csv *csv, size_t at) {
    return csv->text.data[at] == '\r' && at + 1 < csv->text.size && csv->text.data[at + 1] == '\n';
}

/* Takes the line end at at, both characters of it if it is a CRLF. */
static void pass_line_end(sb_csv *csv, size_t at) {
    csv->lines_passed++;
    if (begins_crlf(csv, at))
        next_special(csv, &at);
    csv->offset = at + 1;
}

/* Where the quote stands that closes the field, or the end of the text. */
static size_t find_closing_quote(sb_csv *csv, bool *doubled) {
    const char *data = csv->text.data;
    size_t at = 0;
    while (next_special(csv, &at)) {
        if (data[at] != '"') {
            csv->lines_passed += data[at] != ',' && !begins_crlf(csv, at) ? 1 : 0;
            continue;
        }
        if (at + 1 < csv->text.size && data[at + 1] == '"') {
            next_special(csv, &at);
            *doubled = true;
            continue;
        }
        return at;
    }
    csv->flaws |= SB_CSV_OPEN_QUOTE;
    return csv->text.size;
}

typedef enum field_end { END_SEPARATOR, END_LINE, END_TEXT } field_end;

/* Skips to the separator or line end that closes the field; *at is its place. */
static field_end find_field_end(sb_csv *csv, size_t *at) {
    while (next_special(csv, at)) {
        const char c = csv->text.data[*at];
        if (c == ',')
            return END_SEPARATOR;
        if (c != '"')
            return END_LINE;
    }
    *at = csv->text.size;
    return END_TEXT;
}

/* The rest of a field whose opening quote stands at open. */
static field_end take_quoted_field(sb_csv *csv, size_t open, size_t *at) {
    bool doubled = false;
    const size_t close = find_closing_quote(csv, &doubled);
    const sb_slice raw = {csv->text.data + open + 1, close - open - 1};
    field_end end = END_TEXT;
    sb_slice tail = {"", 0};
    *at = close;
    if (close < csv->text.size) {
        end = find_field_end(csv, at);
        tail = (sb_slice){csv->text.data + close + 1, *at - close - 1};
    }
    if (tail.size > 0)
        csv->flaws |= SB_CSV_AFTER_QUOTE;
    add_field(csv, doubled || tail.size > 0 ? put_together(csv, raw, tail) : raw);
    return end;
}

/*
 * Bare fields from start on, as many as end in a separator: the common case, kept in registers.
 * Stops before the first special character that is not a comma and returns where the field begins
 * that it belongs to.
 */
static size_t take_bare_fields(sb_csv *csv, size_t start) {
    const char *data = csv->text.data;
    for (;;) {
        uint64_t mask = csv->mask;
        const size_t block = csv->block;
        while (mask != 0) {
            const size_t at = block + (size_t)__builtin_ctzll(mask);
            if (data[at] != ',') {
                csv->mask = mask;
                return start;
            }
            mask &= mask - 1;
            add_field(csv, (sb_slice){data + start, at - start});
            start = at + 1;
        }
        csv->mask = 0;
        if (csv->text.size - block <= BLOCK_SIZE)
            return start;
        csv->block += BLOCK_SIZE;
        classify_block(csv);
    }
}

/* One field that begins at start; *at is where what ends it stands. */
static field_end take_field(sb_csv *csv, size_t start, size_t *at) {
    const char *data = csv->text.data;
    while (next_special(csv, at)) {
        const char c = data[*at];
        if (c == '"') {
            if (*at == start)
                return take_quoted_field(csv, start, at);
            continue; /* a quote in the middle of a bare field is text */
        }
        add_field(csv, (sb_slice){data + start, *at - start});
        return c == ',' ? END_SEPARATOR : END_LINE;
    }
    *at = csv->text.size;
    add_field(csv, (sb_slice){data + start, csv->text.size - start});
    return END_TEXT;
}

static bool is_blank(const sb_csv *csv, size_t start, size_t end) {
    for (size_t i = start; i < end; i++) {
        if (csv->text.data[i] != ' ' && csv->text.data[i] != '\t')
            return false;
    }
    return true;
}

void sb_csv_begin(sb_csv *csv, sb_slice text) {
    *csv = (sb_csv){.text = text};
    if (sb_slice_starts_with(text, "\xef\xbb\xbf"))
        csv->text = sb_slice_after(text, 3);
    if (csv->text.size > 0)
        classify_block(csv);
}

bool sb_csv_next(sb_csv *csv) {
    sb_arena_free(&csv->arena);
    while (csv->offset < csv->text.size) {
        const size_t start = csv->offset;
        csv->field_count = 0;
        csv->flaws = 0;
        csv->line = csv->lines_passed + 1;
        size_t at = start;
        field_end end = take_field(csv, take_bare_fields(csv, start), &at);
        while (end == END_SEPARATOR)
            end = take_field(csv, take_bare_fields(csv, at + 1), &at);
        csv->ended_by_eof = end == END_TEXT;
        if (end == END_TEXT)
            csv->offset = csv->text.size;
        else
            pass_line_end(csv, at);
        if (csv->field_count > 1 || !is_blank(csv, start, at))
            return true;
    }
    return false;
}

void sb_csv_end(sb_csv *csv) {
    free(csv->fields);
    sb_arena_free(&csv->arena);
    *csv = (sb_csv){.text = {"", 0}};
}
