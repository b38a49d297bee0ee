/*
 * Maps from ids to numbers.
 */
#include "testing.h"

static void what_is_set_is_found(void **state) {
    (void)state;
    sb_idmap map;
    sb_idmap_init(&map);
    uint32_t number = 7;
    assert_false(sb_idmap_get(&map, 1, &number));
    assert_int_equal(number, 7);
    for (uint32_t i = 0; i < 1000; i++)
        sb_idmap_set(&map, i * UINT64_C(4096), i);
    sb_idmap_set(&map, 4096, 5);
    assert_true(sb_idmap_get(&map, 4096, &number));
    assert_int_equal(number, 5);
    assert_true(sb_idmap_get(&map, 999 * UINT64_C(4096), &number));
    assert_int_equal(number, 999);
    assert_int_equal(map.count, 1000);
    sb_idmap_free(&map);
}

/* Beside a plain table that says what must be there. */
static void removing_keeps_all_others(void **state) {
    (void)state;
    enum { IDS = 512 };
    bool is_there[IDS] = {false};
    sb_idmap map;
    sb_idmap_init(&map);
    uint64_t random = 88172645463325252U;
    for (unsigned i = 0; i < 200000; i++) {
        const uint32_t id = (uint32_t)(next_random(&random) % IDS);
        is_there[id] = next_random(&random) % 2 == 0;
        if (is_there[id])
            sb_idmap_set(&map, id, id + 1);
        else
            sb_idmap_remove(&map, id);
        uint32_t number = 0;
        if (i % 1000 != 0)
            continue;
        size_t count = 0;
        for (uint32_t k = 0; k < IDS; k++) {
            const bool found = sb_idmap_get(&map, k, &number);
            assert_int_equal(found, is_there[k]);
            assert_true(!found || number == k + 1);
            count += found;
        }
        assert_int_equal(map.count, count);
    }
    sb_idmap_free(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_set_is_found),
        cmocka_unit_test(removing_keeps_all_others),
    };
    return RUN(tests);
}
