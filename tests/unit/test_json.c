#include <math.h>

#include "testing.h"

static void check_json(const char *text, size_t size, const char *expected) {
    sb_output output = sb_output_to_memory();
    sb_put_json(&output, (sb_slice){text, size});
    check_slice(sb_output_text(&output), expected);
    sb_output_discard(&output);
}

static void texts_are_quoted_and_escaped(void **state) {
    (void)state;
    check_json("", 0, "\"\"");
    check_json("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
    check_json("a\nb\tc\x01", 6, "\"a\\nb\\tc\\u0001\"");
    check_json("\0", 1, "\"\\u0000\"");
    check_json("\xc3\xa9", 2, "\"\xc3\xa9\"");
    check_json("\xff", 1, "\"\xef\xbf\xbd\"");
    check_json("\xe2\x80\xa8", 3, "\"\\u2028\"");
}

static void reals_are_numbers_or_null(void **state) {
    (void)state;
    sb_output output = sb_output_to_memory();
    sb_put_json_real(&output, 0.5);
    sb_put_char(&output, ' ');
    sb_put_json_real(&output, (double)NAN);
    sb_put_char(&output, ' ');
    sb_put_json_real(&output, (double)INFINITY);
    check_slice(sb_output_text(&output), "0.5 null null");
    sb_output_discard(&output);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_quoted_and_escaped),
        cmocka_unit_test(reals_are_numbers_or_null),
    };
    return RUN(tests);
}
