#include "ptx_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sb_status ptx_fail(const ptx_text *text, const char *format, ...) {
    char said[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    return sb_error_set(text->error, SB_ERR_FORMAT, "line %u: %s", text->line, said);
}

/* Behind a comment; NULL: there is none here. */
static const char *behind_comment(const char *at) {
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] != '/' || at[1] != '*')
        return NULL;
    const char *end = strstr(at + 2, "*/");
    return end != NULL ? end + 2 : at + strlen(at);
}

void ptx_skip(ptx_text *text) {
    for (;;) {
        const char *end = behind_comment(text->at);
        if (end == NULL && !isspace((unsigned char)*text->at))
            return;
        if (end == NULL)
            end = text->at + 1;
        for (; text->at < end; text->at++)
            text->line += *text->at == '\n' ? 1 : 0;
    }
}

bool ptx_is_at_end(ptx_text *text) {
    ptx_skip(text);
    return *text->at == '\0';
}

bool ptx_next_is(ptx_text *text, char mark) {
    ptx_skip(text);
    return *text->at == mark;
}

bool ptx_take(ptx_text *text, char mark) {
    const bool is_there = ptx_next_is(text, mark);
    text->at += is_there ? 1 : 0;
    return is_there;
}

sb_status ptx_expect(ptx_text *text, char mark) {
    if (!ptx_take(text, mark))
        PTX_FAIL(text, "'%c' is expected before '%.12s'", mark, text->at);
    return SB_OK;
}

static bool is_of_word(char c) {
    return isalnum((unsigned char)c) || (c != '\0' && strchr("_$%.", c) != NULL);
}

ptx_name ptx_word(ptx_text *text) {
    ptx_skip(text);
    const char *begin = text->at;
    for (;;) {
        if (text->at[0] == ':' && text->at[1] == ':')
            text->at += 2;
        else if (is_of_word(*text->at))
            text->at++;
        else
            break;
    }
    return (ptx_name){begin, (size_t)(text->at - begin)};
}

ptx_name ptx_cut(ptx_name *rest) {
    const char *dot = rest->size > 0 ? memchr(rest->data, '.', rest->size) : NULL;
    const ptx_name part = {rest->data, dot != NULL ? (size_t)(dot - rest->data) : rest->size};
    const size_t used = part.size + (dot != NULL ? 1 : 0);
    *rest = (ptx_name){rest->data + used, rest->size - used};
    return part;
}

bool ptx_name_is(ptx_name name, const char *text) {
    return name.size == strlen(text) && memcmp(name.data, text, name.size) == 0;
}

bool ptx_is_number_next(ptx_text *text) {
    ptx_skip(text);
    return isdigit((unsigned char)*text->at) || *text->at == '-';
}

sb_status ptx_number(ptx_text *text, uint64_t *number) {
    if (!ptx_is_number_next(text))
        PTX_FAIL(text, "a number is expected before '%.12s'", text->at);
    const bool is_negative = ptx_take(text, '-');
    const bool is_float = text->at[0] == '0' && (text->at[1] == 'f' || text->at[1] == 'F');
    const char *begin = text->at + (is_float ? 2 : 0);
    char *end;
    errno = 0;
    *number = strtoull(begin, &end, is_float ? 16 : 0);
    end += *end == 'U' ? 1 : 0;
    if (errno != 0 || end == begin || is_of_word(*end))
        PTX_FAIL(text, "'%.20s' is no number that is known here", text->at);
    if (is_negative)
        *number = 0 - *number;
    text->at = end;
    return SB_OK;
}

bool ptx_type_of(ptx_name name, ptx_type *type) {
    static const struct {
        const char *name;
        ptx_type type;
    } types[] = {
        {"pred", {PTX_PREDICATE, 1}}, {"b8", {PTX_BITS, 8}},       {"b16", {PTX_BITS, 16}},
        {"b32", {PTX_BITS, 32}},      {"b64", {PTX_BITS, 64}},     {"u8", {PTX_UNSIGNED, 8}},
        {"u16", {PTX_UNSIGNED, 16}},  {"u32", {PTX_UNSIGNED, 32}}, {"u64", {PTX_UNSIGNED, 64}},
        {"s8", {PTX_SIGNED, 8}},      {"s16", {PTX_SIGNED, 16}},   {"s32", {PTX_SIGNED, 32}},
        {"s64", {PTX_SIGNED, 64}},    {"f32", {PTX_FLOAT, 32}},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (ptx_name_is(name, types[i].name)) {
            *type = types[i].type;
            return true;
        }
    return false;
}
