#include "report/report_json.h"

#include <ctype.h>
#include <string.h>

/*
 * Hashes are unsigned and 64 bits wide, which the JSON library has no type for. Such a number is
 * made a string that begins with this mark, a code point nobody uses in text.
 */
#define NUMBER_MARK "\xee\x80\x80"

enum { LONGEST_SAFE_NUMBER = 18 };

static bool continues_number(char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
}

/* Copies a number, marked if it is an integer too long for the library. */
static size_t copy_number(sb_slice text, size_t at, sb_output *out) {
    size_t end = at;
    bool is_integer = true;
    while (end < text.size && continues_number(text.data[end])) {
        is_integer =
            is_integer && (text.data[end] == '-' || isdigit((unsigned char)text.data[end]));
        end++;
    }
    const sb_slice number = {text.data + at, end - at};
    const bool is_long = is_integer && number.size > LONGEST_SAFE_NUMBER;
    if (is_long)
        sb_put_text(out, "\"" NUMBER_MARK);
    sb_put(out, number);
    if (is_long)
        sb_put_char(out, '"');
    return end;
}

/* Copies a string with its quotes. */
static size_t copy_string(sb_slice text, size_t at, sb_output *out) {
    size_t end = at + 1;
    while (end < text.size && text.data[end] != '"')
        end += text.data[end] == '\\' ? 2 : 1;
    end = end < text.size ? end + 1 : text.size;
    sb_put(out, (sb_slice){text.data + at, end - at});
    return end;
}

static sb_output mark_long_numbers(sb_slice text) {
    sb_output out = sb_output_to_memory();
    for (size_t at = 0; at < text.size;) {
        const char c = text.data[at];
        if (c == '"') {
            at = copy_string(text, at, &out);
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            at = copy_number(text, at, &out);
        } else {
            sb_put_char(&out, c);
            at++;
        }
    }
    return out;
}

json_t *report_json_load(sb_slice text) {
    sb_arena arena = {0};
    if (!sb_utf8_is_valid(text))
        text = sb_utf8_clean(&arena, text);
    sb_output marked = mark_long_numbers(text);
    const sb_slice readable = sb_output_text(&marked);
    json_t *value =
        json_loadb(readable.data, readable.size, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    sb_output_discard(&marked);
    sb_arena_free(&arena);
    return value;
}

sb_slice report_json_text(const json_t *value) {
    if (!json_is_string(value))
        return (sb_slice){"", 0};
    return (sb_slice){json_string_value(value), json_string_length(value)};
}

/* ---- Python's text ---- */

/* Whether Python shows a code point as it is. A rule of thumb for what is not ASCII. */
static bool is_printable(uint32_t code) {
    if (code < 0x7f)
        return code >= 0x20;
    const bool is_control = code < 0xa1 || code == 0xad;
    const bool is_format = (code >= 0x2000 && code <= 0x200f) ||
                           (code >= 0x2028 && code <= 0x202f) ||
                           (code >= 0x205f && code <= 0x206f) || code == 0x3000 || code == 0xfeff;
    const bool is_private = (code >= 0xe000 && code <= 0xf8ff) || code >= 0xe0000;
    return !is_control && !is_format && !is_private;
}

static void put_code_point(sb_output *output, sb_slice raw, uint32_t code, char quote) {
    if (code == (unsigned char)quote || code == '\\') {
        sb_put_char(output, '\\');
        sb_put_char(output, (char)code);
    } else if (code == '\n' || code == '\r' || code == '\t') {
        sb_put_text(output, code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t");
    } else if (is_printable(code)) {
        sb_put(output, raw);
    } else if (code < 0x100) {
        sb_put_format(output, "\\x%02x", code);
    } else {
        sb_put_format(output, code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
    }
}

void report_put_python_text(sb_output *output, sb_slice text) {
    const char quote = sb_slice_contains(text, "'") && !sb_slice_contains(text, "\"") ? '"' : '\'';
    sb_put_char(output, quote);
    while (text.size > 0) {
        const sb_slice before = text;
        bool valid = true;
        const uint32_t code = sb_utf8_next(&text, &valid);
        put_code_point(output, sb_slice_first(before, before.size - text.size), code, quote);
    }
    sb_put_char(output, quote);
}

static void put_quoted(sb_output *output, sb_slice text) {
    if (sb_slice_starts_with(text, NUMBER_MARK))
        sb_put(output, sb_slice_after(text, strlen(NUMBER_MARK)));
    else
        report_put_python_text(output, text);
}

static void put_nested(sb_output *output, json_t *value);

static void put_object(sb_output *output, json_t *object) {
    const char *key;
    json_t *member;
    bool is_first = true;
    sb_put_char(output, '{');
    json_object_foreach(object, key, member) {
        if (!is_first)
            sb_put_text(output, ", ");
        is_first = false;
        put_quoted(output, sb_slice_of(key));
        sb_put_text(output, ": ");
        put_nested(output, member);
    }
    sb_put_char(output, '}');
}

static void put_array(sb_output *output, json_t *array) {
    sb_put_char(output, '[');
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0)
            sb_put_text(output, ", ");
        put_nested(output, json_array_get(array, i));
    }
    sb_put_char(output, ']');
}

static void put_nested(sb_output *output, json_t *value) {
    char text[SB_NUMBER_SIZE];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        put_object(output, value);
        break;
    case JSON_ARRAY:
        put_array(output, value);
        break;
    case JSON_STRING:
        put_quoted(output, report_json_text(value));
        break;
    case JSON_INTEGER:
        sb_put(output, (sb_slice){text, sb_format_int64(json_integer_value(value), text)});
        break;
    case JSON_REAL:
        sb_put(output, (sb_slice){text, sb_format_shortest(json_real_value(value), text)});
        break;
    case JSON_TRUE:
        sb_put_text(output, "True");
        break;
    case JSON_FALSE:
        sb_put_text(output, "False");
        break;
    case JSON_NULL:
        sb_put_text(output, "None");
        break;
    }
}

void report_put_python(sb_output *output, json_t *value) {
    if (!json_is_string(value)) {
        put_nested(output, value);
        return;
    }
    sb_slice text = report_json_text(value);
    if (sb_slice_starts_with(text, NUMBER_MARK))
        text = sb_slice_after(text, strlen(NUMBER_MARK));
    sb_put(output, text);
}

json_t *report_json_string(sb_slice text) {
    json_t *value = json_stringn(text.data, text.size);
    return value == NULL ? json_null() : value;
}
