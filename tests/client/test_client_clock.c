/*
 * Whether the counter of a recording keeps its rate.
 */
#include "client/client.h"
#include "testing.h"

static void a_steady_counter_does_not_deviate(void **state) {
    (void)state;
    const sb_record_clock first = {.ticks = 1000, .ns = 5};
    const sb_record_clock middle = {.ticks = 1000 + 2800000000, .ns = 5 + 1000000000};
    const sb_record_clock last = {.ticks = 1000 + 3 * INT64_C(2800000000), .ns = 5 + 3000000000};
    const double deviation = client_clock_deviation(first, middle, last);
    assert_true(deviation > -0.001 && deviation < 0.001);
}

static void a_counter_that_slows_down_is_found(void **state) {
    (void)state;
    const sb_record_clock first = {.ticks = 0, .ns = 0};
    const sb_record_clock middle = {.ticks = 2800000000, .ns = 1000000000};
    const sb_record_clock last = {.ticks = 2800000000 + 2772000000, .ns = 2000000000};
    const double deviation = client_clock_deviation(first, middle, last);
    assert_true(deviation > 10100 && deviation < 10102);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_counter_does_not_deviate),
        cmocka_unit_test(a_counter_that_slows_down_is_found),
    };
    return RUN(tests);
}
