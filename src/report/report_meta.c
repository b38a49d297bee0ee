/*
 * The meta data of a marker: a JSON object in which ';' stands for ','. Only single values are ever
 * wanted, so it is searched and not parsed. Old logs have it with single quotes.
 */
#include <string.h>

#include "report/report_programs_parts.h"

/* What follows "key": without blanks in front. */
static bool find_value(sb_slice meta, const char *key, sb_slice *value) {
    const size_t key_size = strlen(key);
    sb_slice rest = meta;
    for (;;) {
        const size_t at = sb_slice_find(rest, key);
        if (at == SB_NOT_FOUND)
            return false;
        char quote = '\0';
        if (at > 0)
            quote = rest.data[at - 1];
        const bool opens = quote == '"' || quote == '\'';
        rest = sb_slice_after(rest, at + key_size);
        if (!opens || rest.size == 0 || rest.data[0] != quote)
            continue;
        const sb_slice behind = sb_slice_trim(sb_slice_after(rest, 1));
        if (behind.size == 0 || behind.data[0] != ':')
            continue;
        *value = sb_slice_trim(sb_slice_after(behind, 1));
        return true;
    }
}

bool report_meta_number(sb_slice meta, const char *key, uint64_t *value) {
    sb_slice text;
    if (!find_value(meta, key, &text))
        return false;
    size_t digits = 0;
    while (digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    return report_parse_number(sb_slice_first(text, digits), value);
}

bool report_meta_text(sb_slice meta, const char *key, sb_slice *value) {
    sb_slice text;
    if (!find_value(meta, key, &text) || text.size == 0 ||
        (text.data[0] != '"' && text.data[0] != '\''))
        return false;
    const char *end = memchr(text.data + 1, text.data[0], text.size - 1);
    if (end == NULL)
        return false;
    *value = (sb_slice){text.data + 1, (size_t)(end - text.data) - 1};
    return true;
}
