#include <fcntl.h>

#include "testing.h"

static void regular_file_is_mapped(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "in");
    write_file(path, sb_slice_of("some text"));
    sb_file file;
    assert_int_equal(sb_file_open(&file, path, NULL), SB_OK);
    assert_int_equal(file.kind, SB_FILE_MAPPED);
    check_slice(file.text, "some text");
    sb_file_close(&file);
    assert_int_equal(file.text.size, 0);
    sb_file_close(&file); /* twice is harmless */
    remove_folder(&folder);
}

static void empty_file_is_empty_text(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "in");
    write_file(path, sb_slice_of(""));
    sb_file file;
    assert_int_equal(sb_file_open(&file, path, NULL), SB_OK);
    assert_int_equal(file.text.size, 0);
    assert_non_null(file.text.data);
    sb_file_close(&file);
    remove_folder(&folder);
}

static void directory_is_refused(void **state) {
    (void)state;
    sb_file file;
    sb_error error = {0};
    assert_int_equal(sb_file_open(&file, "/tmp", &error), SB_ERR_FORMAT);
    check_contains(sb_slice_of(error.message), "/tmp");
    check_contains(sb_slice_of(error.message), "directory");
    assert_int_equal(file.text.size, 0);
    sb_file_close(&file);
}

static void missing_file_is_not_found(void **state) {
    (void)state;
    sb_file file;
    sb_error error = {0};
    assert_int_equal(sb_file_open(&file, "/tmp/strobe-no-such-file", &error), SB_ERR_NOT_FOUND);
    check_contains(sb_slice_of(error.message), "/tmp/strobe-no-such-file");
    sb_file_close(&file);
}

static void file_below_a_file_is_an_io_error(void **state) {
    (void)state;
    sb_file file;
    assert_int_equal(sb_file_open(&file, "/dev/null/x", NULL), SB_ERR_IO);
    sb_file_close(&file);
}

static void one_place_has_many_paths(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "in");
    const char *detour = path_in(&folder, "./in");
    const char *other = path_in(&folder, "other");
    assert_true(sb_file_is_same(path, detour)); /* before either is there */
    assert_false(sb_file_is_same(path, other));
    assert_false(sb_file_is_same(path, "in"));
    write_file(path, sb_slice_of("some text"));
    assert_true(sb_file_is_same(path, detour));
    assert_false(sb_file_is_same(path, other));
    assert_false(sb_file_is_same(other, path));
    assert_int_equal(link(path, other), 0);
    assert_true(sb_file_is_same(path, other));
    assert_false(sb_file_is_same("-", "-"));
    assert_false(sb_file_is_same("/dev/null", "/dev/null")); /* takes both */
    remove_folder(&folder);
}

static void borrowed_text_is_not_freed(void **state) {
    (void)state;
    sb_file file = sb_file_of(sb_slice_of("borrowed"));
    check_slice(file.text, "borrowed");
    sb_file_release(&file, 100U << 20);
    assert_int_equal(file.released, 0);
    sb_file_close(&file);
}

static void released_content_stays_readable(void **state) {
    (void)state;
    enum { SIZE = 20 << 20 };
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "large");
    char *text = sb_alloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = (char)('a' + i % 23);
    write_file(path, (sb_slice){text, SIZE});
    sb_file file;
    assert_int_equal(sb_file_open(&file, path, NULL), SB_OK);
    sb_file_release(&file, 1000);
    assert_int_equal(file.released, 0); /* too little to bother */
    sb_file_release(&file, 17 << 20);
    assert_true(file.released > 0 && file.released <= 17 << 20);
    assert_int_equal(file.text.size, SIZE);
    assert_memory_equal(file.text.data, text, SIZE);
    sb_file_release(&file, SIZE);
    assert_memory_equal(file.text.data, text, SIZE);
    sb_file_close(&file);
    free(text);
    remove_folder(&folder);
}

/* Opens "-" while standard input is descriptor. */
static sb_status open_stdin(sb_file *file, int descriptor, sb_error *error) {
    const int saved = dup(STDIN_FILENO);
    assert_true(descriptor >= 0);
    assert_int_equal(dup2(descriptor, STDIN_FILENO), STDIN_FILENO);
    const sb_status status = sb_file_open(file, "-", error);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    return status;
}

static void dash_reads_a_redirected_standard_input(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "in");
    enum { SIZE = 3 << 20 };
    char *text = sb_alloc(SIZE);
    memset(text, 'q', SIZE);
    write_file(path, (sb_slice){text, SIZE});
    const int input = open(path, O_RDONLY);
    sb_file file;
    assert_int_equal(open_stdin(&file, input, NULL), SB_OK);
    assert_int_equal(file.kind, SB_FILE_READ);
    assert_int_equal(file.text.size, SIZE);
    assert_memory_equal(file.text.data, text, SIZE);
    sb_file_close(&file);
    free(text);
    close(input);
    remove_folder(&folder);
}

static void dash_reads_a_pipe(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    sb_file file;
    assert_int_equal(open_stdin(&file, ends[0], NULL), SB_OK);
    check_slice(file.text, "piped");
    sb_file_close(&file);
    close(ends[0]);
}

static void dash_on_a_directory_is_an_error(void **state) {
    (void)state;
    const int input = open("/tmp", O_RDONLY);
    sb_file file;
    sb_error error = {0};
    assert_int_equal(open_stdin(&file, input, &error), SB_ERR_IO);
    check_contains(sb_slice_of(error.message), "standard input");
    sb_file_close(&file);
    close(input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_file_is_mapped),
        cmocka_unit_test(empty_file_is_empty_text),
        cmocka_unit_test(directory_is_refused),
        cmocka_unit_test(missing_file_is_not_found),
        cmocka_unit_test(file_below_a_file_is_an_io_error),
        cmocka_unit_test(one_place_has_many_paths),
        cmocka_unit_test(borrowed_text_is_not_freed),
        cmocka_unit_test(released_content_stays_readable),
        cmocka_unit_test(dash_reads_a_redirected_standard_input),
        cmocka_unit_test(dash_reads_a_pipe),
        cmocka_unit_test(dash_on_a_directory_is_an_error),
    };
    return RUN(tests);
}
