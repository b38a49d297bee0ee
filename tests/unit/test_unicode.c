#include "testing.h"

typedef struct decoded {
    const char *text;
    uint32_t code;
    size_t taken;
} decoded;

static void valid_sequences_are_taken_whole(void **state) {
    (void)state;
    static const decoded cases[] = {
        {"a", 'a', 1},
        {"\x7f", 0x7f, 1},
        {"\xc2\x80", 0x80, 2},
        {"\xdf\xbf", 0x7ff, 2},
        {"\xe0\xa0\x80", 0x800, 3},
        {"\xed\x9f\xbf", 0xd7ff, 3},
        {"\xee\x80\x80", 0xe000, 3},
        {"\xef\xbf\xbf", 0xffff, 3},
        {"\xf0\x90\x80\x80", 0x10000, 4},
        {"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_slice text = sb_slice_of(cases[i].text);
        bool valid = false;
        assert_int_equal(sb_utf8_next(&text, &valid), cases[i].code);
        assert_true(valid);
        assert_int_equal(text.size, 0);
    }
}

static void invalid_bytes_are_taken_one_by_one(void **state) {
    (void)state;
    static const char *const cases[] = {
        "\x80", /* continuation without a start */
        "\xbf",
        "\xc0\x80", /* overlong NUL */
        "\xc1\xbf", /* overlong 0x7f */
        "\xe0\x80\x80",
        "\xe0\x9f\xbf", /* overlong 0x7ff */
        "\xf0\x80\x80\x80",
        "\xf0\x8f\xbf\xbf", /* overlong 0xffff */
        "\xed\xa0\x80",
        "\xed\xbf\xbf", /* surrogates */
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff", /* beyond the last code point */
        "\xc3",
        "\xe2\x82",
        "\xf0\x9f\x98", /* cut off */
        "\xc3(",
        "\xe2(\xa1",
        "\xe2\x82(",
        "\xf0\x9f\x98(",
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_slice text = sb_slice_of(cases[i]);
        const size_t size = text.size;
        bool valid = true;
        assert_int_equal(sb_utf8_next(&text, &valid), 0xfffd);
        assert_false(valid);
        assert_int_equal(text.size, size - 1);
    }
}

static void every_code_point_survives_decoding(void **state) {
    (void)state;
    for (uint32_t code = 0x80; code <= 0x10ffff; code += code < 0x3000 ? 1 : 17) {
        if (code >= 0xd800 && code <= 0xdfff)
            continue;
        char bytes[4];
        size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        const uint32_t lead = size == 2 ? 0xc0 : size == 3 ? 0xe0 : 0xf0;
        for (size_t i = size - 1; i > 0; i--)
            bytes[i] = (char)(0x80 | (code >> (6 * (size - 1 - i)) & 0x3f));
        bytes[0] = (char)(lead | code >> (6 * (size - 1)));
        sb_slice text = {bytes, size};
        bool valid = false;
        assert_int_equal(sb_utf8_next(&text, &valid), code);
        assert_true(valid);
        assert_int_equal(text.size, 0);
    }
}

static void texts_are_valid_if_every_sequence_is(void **state) {
    (void)state;
    static const char *const valid[] = {"", "abc", "μs 🚀", "\xf4\x8f\xbf\xbf", "a\x01"};
    static const char *const invalid[] = {"\xff", "abc\xc3", "\xed\xa0\x80", "a\x80z", "🚀\xe2\x82"};
    for (size_t i = 0; i < COUNT_OF(valid); i++)
        assert_true(sb_utf8_is_valid(sb_slice_of(valid[i])));
    for (size_t i = 0; i < COUNT_OF(invalid); i++)
        assert_false(sb_utf8_is_valid(sb_slice_of(invalid[i])));
}

static void length_counts_code_points(void **state) {
    (void)state;
    assert_int_equal(sb_utf8_length(sb_slice_of("")), 0);
    assert_int_equal(sb_utf8_length(sb_slice_of("abc")), 3);
    assert_int_equal(sb_utf8_length(sb_slice_of("12 μs")), 5);
    assert_int_equal(sb_utf8_length(sb_slice_of("🚀 x")), 3);
}

static void width_is_that_of_a_terminal(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t width;
    } cases[] = {
        {"", 0},     {"abc", 3}, {"μs", 2}, {"é", 1}, {"e\xcc\x81", 1}, /* combining acute accent */
        {"漢字", 4}, {"ｗ", 2},  {"한", 2}, {"🚀", 2}, {"\xe2\x80\x8b", 0}, /* zero width space */
        {"\xff", 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(sb_utf8_width(sb_slice_of(cases[i].text)), cases[i].width);
}

static void plain_text_is_returned_itself(void **state) {
    (void)state;
    sb_arena arena = {0};
    const sb_slice text = SB_SLICE("plain text ~");
    assert_ptr_equal(sb_utf8_clean(&arena, text).data, text.data);
    assert_null(arena.newest);
    check_slice(sb_utf8_clean(&arena, (sb_slice){NULL, 0}), "");
    sb_arena_free(&arena);
}

static void harmful_text_is_made_harmless(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *clean;
    } cases[] = {
        {"a\nb\rc\td", "a b c d"},
        {"\x1b[31mred", "\xef\xbf\xbd[31mred"},
        {"bell\x07", "bell\xef\xbf\xbd"},
        {"\x7f", "\xef\xbf\xbd"},
        {"\xc2\x9b[2J", "\xef\xbf\xbd[2J"}, /* C1 control sequence introducer */
        {"\xc2\xa0", "\xc2\xa0"},
        {"μs 🚀", "μs 🚀"},
        {"\xc3(", "\xef\xbf\xbd("},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd"},
    };
    sb_arena arena = {0};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_slice(sb_utf8_clean(&arena, sb_slice_of(cases[i].text)), cases[i].clean);
    check_slice(sb_utf8_clean(&arena, (sb_slice)SB_SLICE("a\0b")), "a\xef\xbf\xbd"
                                                                   "b");
    sb_arena_free(&arena);
}

static void cleaning_random_bytes_gives_valid_printable_text(void **state) {
    (void)state;
    uint64_t random = 99;
    for (int round = 0; round < 2000; round++) {
        char bytes[50];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)next_random(&random);
        sb_arena arena = {0};
        sb_slice clean = sb_utf8_clean(&arena, (sb_slice){bytes, sizeof bytes});
        while (clean.size > 0) {
            bool valid = false;
            const uint32_t code = sb_utf8_next(&clean, &valid);
            assert_true(valid);
            assert_true(code >= 0x20 && !(code >= 0x7f && code < 0xa0));
        }
        sb_arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_sequences_are_taken_whole),
        cmocka_unit_test(invalid_bytes_are_taken_one_by_one),
        cmocka_unit_test(every_code_point_survives_decoding),
        cmocka_unit_test(texts_are_valid_if_every_sequence_is),
        cmocka_unit_test(length_counts_code_points),
        cmocka_unit_test(width_is_that_of_a_terminal),
        cmocka_unit_test(plain_text_is_returned_itself),
        cmocka_unit_test(harmful_text_is_made_harmless),
        cmocka_unit_test(cleaning_random_bytes_gives_valid_printable_text),
    };
    return RUN(tests);
}
