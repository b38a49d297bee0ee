#include "testing.h"

static int make_map(void **state) {
    static sb_intern map;
    sb_intern_init(&map);
    *state = &map;
    return 0;
}

static int free_map(void **state) {
    sb_intern_free(*state);
    return 0;
}

static void indexes_follow_the_order_of_appearance(void **state) {
    sb_intern *map = *state;
    static const char *const texts[] = {"b", "a", "b", "c", "a", "b"};
    static const uint32_t indexes[] = {0, 1, 0, 2, 1, 0};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_int_equal(sb_intern_add(map, sb_slice_of(texts[i])), indexes[i]);
    assert_int_equal(sb_intern_count(map), 3);
    check_slice(sb_intern_text(map, 0), "b");
    check_slice(sb_intern_text(map, 2), "c");
}

static void texts_survive_growth_past_ten_thousand(void **state) {
    sb_intern *map = *state;
    enum { TEXTS = 25000 };
    char text[32];
    for (uint32_t i = 0; i < TEXTS; i++) {
        snprintf(text, sizeof text, "text number %u", i);
        assert_int_equal(sb_intern_add(map, sb_slice_of(text)), i);
    }
    assert_int_equal(sb_intern_count(map), TEXTS);
    for (uint32_t i = 0; i < TEXTS; i++) {
        snprintf(text, sizeof text, "text number %u", i);
        assert_int_equal(sb_intern_add(map, sb_slice_of(text)), i);
        check_slice(sb_intern_text(map, i), text);
    }
    assert_int_equal(sb_intern_count(map), TEXTS);
}

static void text_behind_a_nul_counts(void **state) {
    sb_intern *map = *state;
    const sb_slice first = SB_SLICE("a\0b");
    const sb_slice second = SB_SLICE("a\0c");
    assert_int_equal(sb_intern_add(map, first), 0);
    assert_int_equal(sb_intern_add(map, second), 1);
    assert_int_equal(sb_intern_add(map, sb_slice_of("a")), 2);
    assert_int_equal(sb_intern_add(map, second), 1);
    check_slices(sb_intern_text(map, 0), first);
}

static void empty_text_is_a_text(void **state) {
    sb_intern *map = *state;
    assert_int_equal(sb_intern_add(map, sb_slice_of("x")), 0);
    assert_int_equal(sb_intern_add(map, sb_slice_of("")), 1);
    assert_int_equal(sb_intern_add(map, (sb_slice){NULL, 0}), 1);
    assert_int_equal(sb_intern_text(map, 1).size, 0);
}

static void texts_are_copied(void **state) {
    sb_intern *map = *state;
    char text[] = "abc";
    sb_intern_add(map, sb_slice_of(text));
    text[0] = 'x';
    check_slice(sb_intern_text(map, 0), "abc");
    assert_int_equal(sb_intern_add(map, sb_slice_of("abc")), 0);
    assert_int_equal(sb_intern_add(map, sb_slice_of(text)), 1);
}

static void hash_depends_on_every_byte_the_length_and_the_seed(void **state) {
    (void)state;
    char text[40];
    memset(text, 'x', sizeof text);
    for (size_t size = 1; size <= sizeof text; size++) {
        const uint64_t hash = sb_hash((sb_slice){text, size}, 1);
        assert_true(hash == sb_hash((sb_slice){text, size}, 1));
        assert_true(hash != sb_hash((sb_slice){text, size}, 2));
        assert_true(hash != sb_hash((sb_slice){text, size - 1}, 1));
        for (size_t i = 0; i < size; i++) {
            text[i] = 'y';
            assert_true(hash != sb_hash((sb_slice){text, size}, 1));
            text[i] = 'x';
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(indexes_follow_the_order_of_appearance, make_map, free_map),
        cmocka_unit_test_setup_teardown(texts_survive_growth_past_ten_thousand, make_map, free_map),
        cmocka_unit_test_setup_teardown(text_behind_a_nul_counts, make_map, free_map),
        cmocka_unit_test_setup_teardown(empty_text_is_a_text, make_map, free_map),
        cmocka_unit_test_setup_teardown(texts_are_copied, make_map, free_map),
        cmocka_unit_test(hash_depends_on_every_byte_the_length_and_the_seed),
    };
    return RUN(tests);
}
