#include "base/unicode.h"

#include <assert.h>
#include <string.h>

#define REPLACEMENT UINT32_C(0xfffd)

/* How many bytes a sequence has that begins with this byte; 0 if none does. */
static size_t sequence_size(unsigned char first) {
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    if (first >= 0xf0 && first <= 0xf4)
        return 4;
    return 0;
}

static bool is_well_formed(uint32_t code, size_t size) {
    if (size == 3)
        return code >= 0x800 && !(code >= 0xd800 && code <= 0xdfff);
    if (size == 4)
        return code >= 0x10000 && code <= 0x10ffff;
    return true;
}

uint32_t sb_utf8_next(sb_slice *text, bool *valid) {
    assert(text->size > 0);
    const unsigned char *bytes = (const unsigned char *)text->data;
    const size_t size = sequence_size(bytes[0]);
    *valid = size > 0 && size <= text->size;
    uint32_t code = bytes[0];
    if (*valid && size > 1) {
        code = bytes[0] & (0x7fU >> size);
        for (size_t i = 1; i < size; i++) {
            *valid = *valid && (bytes[i] & 0xc0) == 0x80;
            code = code << 6 | (bytes[i] & 0x3fU);
        }
        *valid = *valid && is_well_formed(code, size);
    }
    *text = sb_slice_after(*text, *valid ? size : 1);
    return *valid ? code : REPLACEMENT;
}

bool sb_utf8_is_valid(sb_slice text) {
    bool valid = true;
    while (text.size > 0 && valid)
        sb_utf8_next(&text, &valid);
    return valid;
}

/* Every code point has one byte that continues none. */
size_t sb_utf8_length(sb_slice text) {
    size_t length = 0;
    for (size_t i = 0; i < text.size; i++)
        length += ((unsigned char)text.data[i] & 0xc0) != 0x80 ? 1 : 0;
    return length;
}

typedef struct code_range {
    uint32_t first;
    uint32_t last;
} code_range;

/* Marks and joiners that stand on or in the character before them. */
static const code_range zero_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
};

/* East Asian wide and fullwidth characters, and emoji. */
static const code_range double_width[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

static bool is_in(uint32_t code, const code_range *ranges, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    }
    return false;
}

size_t sb_utf8_width(sb_slice text) {
    size_t width = 0;
    bool valid = true;
    while (text.size > 0) {
        const uint32_t code = sb_utf8_next(&text, &valid);
        if (code < 0x300)
            width += 1;
        else if (is_in(code, zero_width, sizeof zero_width / sizeof zero_width[0]))
            width += 0;
        else
            width +=
                is_in(code, double_width, sizeof double_width / sizeof double_width[0]) ? 2 : 1;
    }
    return width;
}

static bool is_plain(sb_slice text) {
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < 0x20 || text.data[i] == 0x7f)
            return false; /* char may be signed: bytes from 0x80 on are caught here as well */
        if ((unsigned char)text.data[i] >= 0x80)
            return false;
    }
    return true;
}

sb_slice sb_utf8_clean(sb_arena *arena, sb_slice text) {
    if (is_plain(text))
        return text;
    char *clean = sb_arena_alloc(arena, text.size * 3);
    size_t size = 0;
    while (text.size > 0) {
        const sb_slice before = text;
        bool valid = true;
        const uint32_t code = sb_utf8_next(&text, &valid);
        const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        if (code == '\n' || code == '\r' || code == '\t') {
            clean[size++] = ' ';
        } else if (!valid || control) {
            memcpy(clean + size, "\xef\xbf\xbd", 3);
            size += 3;
        } else {
            const size_t taken = before.size - text.size;
            memcpy(clean + size, before.data, taken);
            size += taken;
        }
    }
    return (sb_slice){clean, size};
}
