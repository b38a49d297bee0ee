#include "base/slice.h"

#include <assert.h>
#include <string.h>

int sb_slice_compare(sb_slice a, sb_slice b) {
    const size_t common = a.size < b.size ? a.size : b.size;
    const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

bool sb_slice_starts_with(sb_slice text, const char *prefix) {
    const size_t size = strlen(prefix);
    return text.size >= size && memcmp(text.data, prefix, size) == 0;
}

bool sb_slice_ends_with(sb_slice text, const char *suffix) {
    const size_t size = strlen(suffix);
    return text.size >= size && memcmp(text.data + text.size - size, suffix, size) == 0;
}

size_t sb_slice_find(sb_slice text, const char *part) {
    const size_t size = strlen(part);
    assert(size > 0);
    size_t from = 0;
    while (text.size - from >= size) {
        const char *hit = memchr(text.data + from, part[0], text.size - from - size + 1);
        if (hit == NULL)
            return SB_NOT_FOUND;
        if (memcmp(hit, part, size) == 0)
            return (size_t)(hit - text.data);
        from = (size_t)(hit - text.data) + 1;
    }
    return SB_NOT_FOUND;
}

bool sb_slice_contains(sb_slice text, const char *part) {
    return sb_slice_find(text, part) != SB_NOT_FOUND;
}

sb_slice sb_slice_after(sb_slice text, size_t count) {
    if (count >= text.size)
        return (sb_slice){"", 0};
    return (sb_slice){text.data + count, text.size - count};
}

sb_slice sb_slice_first(sb_slice text, size_t count) {
    return (sb_slice){text.data, count < text.size ? count : text.size};
}

sb_slice sb_slice_cut(sb_slice text, char separator, sb_slice *rest) {
    const char *hit = text.size == 0 ? NULL : memchr(text.data, separator, text.size);
    if (hit == NULL) {
        *rest = (sb_slice){"", 0};
        return text;
    }
    const size_t at = (size_t)(hit - text.data);
    *rest = sb_slice_after(text, at + 1);
    return sb_slice_first(text, at);
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

sb_slice sb_slice_first_word(sb_slice text, sb_slice *rest) {
    size_t end = 0;
    text = sb_slice_trim(text);
    while (end < text.size && !is_space(text.data[end]))
        end++;
    *rest = sb_slice_trim(sb_slice_after(text, end));
    return sb_slice_first(text, end);
}

sb_slice sb_slice_trim(sb_slice text) {
    while (text.size > 0 && is_space(text.data[0])) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && is_space(text.data[text.size - 1]))
        text.size--;
    return text;
}
