#include <stdalign.h>

#include "testing.h"

static void allocation_of_nothing_gives_a_block(void **state) {
    (void)state;
    void *block = sb_alloc(0);
    assert_non_null(block);
    free(block);
    block = sb_alloc_zeroed(0, 0);
    assert_non_null(block);
    free(block);
}

static void zeroed_memory_is_zero(void **state) {
    (void)state;
    char *block = sb_alloc_zeroed(100, 3);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(block[i], 0);
    free(block);
}

static void realloc_keeps_the_content(void **state) {
    (void)state;
    char *block = sb_realloc(NULL, 4, 1);
    memcpy(block, "abc", 4);
    block = sb_realloc(block, 5000, 2);
    assert_string_equal(block, "abc");
    free(block);
}

static void arena_blocks_are_aligned_for_any_type(void **state) {
    (void)state;
    sb_arena arena = {0};
    for (size_t size = 1; size < 3000; size += 7) {
        sb_arena_copy(&arena, sb_slice_of("odd")); /* copies are packed and upset the alignment */
        char *block = sb_arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)block % alignof(max_align_t), 0);
        memset(block, 0x5a, size);
    }
    sb_arena_free(&arena);
}

static void arena_is_aligned_after_a_large_odd_block(void **state) {
    (void)state;
    sb_arena arena = {0};
    sb_arena_alloc(&arena, (3U << 20) + 5);
    long double *number = sb_arena_alloc(&arena, sizeof *number);
    assert_int_equal((uintptr_t)number % alignof(max_align_t), 0);
    *number = 1;
    sb_arena_free(&arena);
}

static void arena_grows_and_keeps_what_it_gave(void **state) {
    (void)state;
    enum { BLOCKS = 5000, SIZE = 100 };
    sb_arena arena = {0};
    char **blocks = sb_alloc_zeroed(BLOCKS, sizeof *blocks);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = sb_arena_alloc(&arena, SIZE);
        memset(blocks[i], i % 128, SIZE);
    }
    for (int i = 0; i < BLOCKS; i++) {
        assert_int_equal(blocks[i][0], i % 128);
        assert_int_equal(blocks[i][SIZE - 1], i % 128);
    }
    free(blocks);
    sb_arena_free(&arena);
    assert_null(arena.newest);
}

static void arena_can_be_used_again_after_free(void **state) {
    (void)state;
    sb_arena arena = {0};
    sb_arena_free(&arena);
    check_slice(sb_arena_copy(&arena, sb_slice_of("x")), "x");
    sb_arena_free(&arena);
    check_slice(sb_arena_copy(&arena, sb_slice_of("y")), "y");
    sb_arena_free(&arena);
}

static void arena_zeroes_recycled_room(void **state) {
    (void)state;
    sb_arena arena = {0};
    const unsigned char *block = sb_arena_alloc_zeroed(&arena, 10000);
    for (size_t i = 0; i < 10000; i++)
        assert_int_equal(block[i], 0);
    sb_arena_free(&arena);
}

static void arena_copy_is_independent_of_its_source(void **state) {
    (void)state;
    sb_arena arena = {0};
    char text[] = "abc";
    const sb_slice copy = sb_arena_copy(&arena, sb_slice_of(text));
    text[0] = 'x';
    check_slice(copy, "abc");
    const sb_slice empty = sb_arena_copy(&arena, (sb_slice){NULL, 0});
    assert_non_null(empty.data);
    assert_int_equal(empty.size, 0);
    sb_arena_free(&arena);
}

static void format_of_any_length_is_whole_and_ends_in_nul(void **state) {
    (void)state;
    sb_arena arena = {0};
    static const size_t lengths[] = {0, 1, 254, 255, 256, 257, 1000, 100000};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        char *text = sb_alloc(lengths[i] + 1);
        memset(text, 'a' + (int)i, lengths[i]);
        text[lengths[i]] = '\0';
        const sb_slice formatted = sb_arena_format(&arena, "%s", text);
        assert_int_equal(formatted.size, lengths[i]);
        assert_string_equal(formatted.data, text);
        free(text);
    }
    check_slice(sb_arena_format(&arena, "%d-%s", 5, "x"), "5-x");
    sb_arena_free(&arena);
}

static void vector_keeps_elements_while_it_grows(void **state) {
    (void)state;
    sb_vector numbers = sb_vector_of(sizeof(int));
    for (int i = 0; i < 10000; i++) {
        int *added = sb_vector_push(&numbers);
        assert_int_equal(*added, 0);
        *added = i * 3;
    }
    assert_int_equal(numbers.count, 10000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(*(int *)sb_vector_at(&numbers, (size_t)i), i * 3);
    sb_vector_free(&numbers);
}

static void vector_can_be_used_again_after_free(void **state) {
    (void)state;
    sb_vector numbers = sb_vector_of(sizeof(int));
    sb_vector_free(&numbers);
    *(int *)sb_vector_push(&numbers) = 9;
    assert_int_equal(*(int *)sb_vector_at(&numbers, 0), 9);
    sb_vector_free(&numbers);
    assert_int_equal(numbers.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocation_of_nothing_gives_a_block),
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(realloc_keeps_the_content),
        cmocka_unit_test(arena_blocks_are_aligned_for_any_type),
        cmocka_unit_test(arena_is_aligned_after_a_large_odd_block),
        cmocka_unit_test(arena_grows_and_keeps_what_it_gave),
        cmocka_unit_test(arena_can_be_used_again_after_free),
        cmocka_unit_test(arena_zeroes_recycled_room),
        cmocka_unit_test(arena_copy_is_independent_of_its_source),
        cmocka_unit_test(format_of_any_length_is_whole_and_ends_in_nul),
        cmocka_unit_test(vector_keeps_elements_while_it_grows),
        cmocka_unit_test(vector_can_be_used_again_after_free),
    };
    return RUN(tests);
}
