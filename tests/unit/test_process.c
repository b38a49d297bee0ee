#include "testing.h"

static int run_shell(const char *script, size_t limit, sb_output *text) {
    const char *const arguments[] = {"sh", "-c", script, NULL};
    return sb_process_run(arguments, limit, text);
}

static void what_it_prints_and_its_exit_code_come_back(void **state) {
    (void)state;
    sb_output text = sb_output_to_memory();
    assert_int_equal(run_shell("echo one; echo two; exit 3", 100, &text), 3);
    check_slice(sb_output_text(&text), "one\ntwo\n");
    sb_output_discard(&text);
}

static void more_than_the_limit_is_dropped_and_does_not_block(void **state) {
    (void)state;
    sb_output text = sb_output_to_memory();
    assert_int_equal(run_shell("head -c 1000000 /dev/zero | tr '\\0' x", 5, &text), 0);
    check_slice(sb_output_text(&text), "xxxxx");
    sb_output_discard(&text);
}

static void what_cannot_start_and_what_is_killed_differ(void **state) {
    (void)state;
    sb_output text = sb_output_to_memory();
    const char *const missing[] = {"/no/such/program", NULL};
    assert_int_equal(sb_process_run(missing, 100, &text), -1);
    assert_int_equal(run_shell("kill -9 $$", 100, &text), 128 + 9);
    check_slice(sb_output_text(&text), "");
    sb_output_discard(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_prints_and_its_exit_code_come_back),
        cmocka_unit_test(more_than_the_limit_is_dropped_and_does_not_block),
        cmocka_unit_test(what_cannot_start_and_what_is_killed_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
