#include "base/json.h"

#include <math.h>

#include "base/number.h"
#include "base/unicode.h"

static void put_escaped(sb_output *output, uint32_t code) {
    if (code == '\n')
        sb_put_text(output, "\\n");
    else if (code == '\t')
        sb_put_text(output, "\\t");
    else if (code == '"' || code == '\\')
        sb_put_format(output, "\\%c", (int)code);
    else
        sb_put_format(output, "\\u%04x", (unsigned)code);
}

void sb_put_json(sb_output *output, sb_slice text) {
    sb_put_char(output, '"');
    while (text.size > 0) {
        const sb_slice before = text;
        bool valid = true;
        const uint32_t code = sb_utf8_next(&text, &valid);
        /* The last two end a line of JavaScript, and JSON ends up in scripts. */
        const bool escaped =
            code < 0x20 || code == '"' || code == '\\' || code == 0x2028 || code == 0x2029;
        if (!valid)
            sb_put_text(output, "\xef\xbf\xbd");
        else if (escaped)
            put_escaped(output, code);
        else
            sb_put(output, (sb_slice){before.data, before.size - text.size});
    }
    sb_put_char(output, '"');
}

void sb_put_json_real(sb_output *output, double value) {
    char text[SB_NUMBER_SIZE];
    if (isfinite(value))
        sb_put(output, (sb_slice){text, sb_format_shortest(value, text)});
    else
        sb_put_text(output, "null");
}
