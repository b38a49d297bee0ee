#include "testing.h"

static int sign(int number) {
    return (number > 0) - (number < 0);
}

static void slice_of_text_has_its_length(void **state) {
    (void)state;
    const sb_slice literal = SB_SLICE("a\0b");
    assert_int_equal(literal.size, 3);
    assert_int_equal(sb_slice_of("abc").size, 3);
    assert_int_equal(sb_slice_of("").size, 0);
}

static void equality_compares_length_and_bytes(void **state) {
    (void)state;
    assert_true(sb_slice_is(sb_slice_of("abc"), "abc"));
    assert_false(sb_slice_is(sb_slice_of("abc"), "ab"));
    assert_false(sb_slice_is(sb_slice_of("abc"), "abd"));
    assert_true(sb_slice_equal((sb_slice){NULL, 0}, sb_slice_of("")));
    assert_false(sb_slice_equal((sb_slice)SB_SLICE("a\0b"), (sb_slice)SB_SLICE("a\0c")));
}

static void comparison_is_by_byte_and_prefixes_come_first(void **state) {
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        int order;
    } cases[] = {
        {"", "", 0},      {"", "a", -1},        {"a", "", 1},  {"ab", "abc", -1},
        {"abc", "ab", 1}, {"\xc3\xa9", "z", 1}, {"b", "a", 1}, {"same", "same", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(sign(sb_slice_compare(sb_slice_of(cases[i].a), sb_slice_of(cases[i].b))),
                         cases[i].order);
    assert_int_equal(sb_slice_compare((sb_slice){NULL, 0}, sb_slice_of("")), 0);
}

static void prefix_and_suffix_are_recognised(void **state) {
    (void)state;
    const sb_slice text = SB_SLICE("abcabc");
    assert_true(sb_slice_starts_with(text, "abc"));
    assert_true(sb_slice_starts_with(text, ""));
    assert_false(sb_slice_starts_with(text, "bc"));
    assert_false(sb_slice_starts_with(text, "abcabcd"));
    assert_true(sb_slice_ends_with(text, "cabc"));
    assert_true(sb_slice_ends_with(text, ""));
    assert_false(sb_slice_ends_with(text, "ab"));
    assert_false(sb_slice_ends_with(text, "xabcabc"));
}

static void find_gives_the_first_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *part;
        size_t place;
    } cases[] = {
        {"abcabc", "abc", 0},        {"abcabc", "cab", 2},
        {"aaab", "ab", 2},           {"abc", "c", 2},
        {"abc", "cd", SB_NOT_FOUND}, {"", "a", SB_NOT_FOUND},
        {"ab", "abc", SB_NOT_FOUND}, {"xxabxxabc", "abc", 6},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const sb_slice text = sb_slice_of(cases[i].text);
        assert_int_equal(sb_slice_find(text, cases[i].part), cases[i].place);
        assert_int_equal(sb_slice_contains(text, cases[i].part), cases[i].place != SB_NOT_FOUND);
    }
    assert_int_equal(sb_slice_find((sb_slice){NULL, 0}, "a"), SB_NOT_FOUND);
}

static void find_does_not_look_behind_the_end(void **state) {
    (void)state;
    assert_false(sb_slice_contains((sb_slice){"abcdef", 3}, "cd"));
    assert_true(sb_slice_contains((sb_slice)SB_SLICE("a\0cd"), "cd"));
}

static void parts_never_reach_beyond_the_text(void **state) {
    (void)state;
    const sb_slice text = SB_SLICE("abc");
    check_slice(sb_slice_after(text, 0), "abc");
    check_slice(sb_slice_after(text, 2), "c");
    check_slice(sb_slice_after(text, 3), "");
    check_slice(sb_slice_after(text, 99), "");
    check_slice(sb_slice_first(text, 0), "");
    check_slice(sb_slice_first(text, 2), "ab");
    check_slice(sb_slice_first(text, 99), "abc");
}

static void cut_splits_at_the_first_separator(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *first;
        const char *rest;
    } cases[] = {
        {"a;b;c", "a", "b;c"}, {"a", "a", ""}, {"a;", "a", ""}, {";a", "", "a"}, {"", "", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_slice rest = SB_SLICE("not set");
        check_slice(sb_slice_cut(sb_slice_of(cases[i].text), ';', &rest), cases[i].first);
        check_slice(rest, cases[i].rest);
    }
}

static void trim_removes_white_space_at_both_ends_only(void **state) {
    (void)state;
    check_slice(sb_slice_trim(sb_slice_of(" \t\r\n\v\fa b \n")), "a b");
    check_slice(sb_slice_trim(sb_slice_of("   ")), "");
    check_slice(sb_slice_trim(sb_slice_of("")), "");
    check_slice(sb_slice_trim(sb_slice_of("\xc2\xa0x")), "\xc2\xa0x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slice_of_text_has_its_length),
        cmocka_unit_test(equality_compares_length_and_bytes),
        cmocka_unit_test(comparison_is_by_byte_and_prefixes_come_first),
        cmocka_unit_test(prefix_and_suffix_are_recognised),
        cmocka_unit_test(find_gives_the_first_place),
        cmocka_unit_test(find_does_not_look_behind_the_end),
        cmocka_unit_test(parts_never_reach_beyond_the_text),
        cmocka_unit_test(cut_splits_at_the_first_separator),
        cmocka_unit_test(trim_removes_white_space_at_both_ends_only),
    };
    return RUN(tests);
}
