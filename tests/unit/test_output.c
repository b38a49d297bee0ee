#include <fcntl.h>
#include <sys/stat.h>

#include "testing.h"

static sb_output open_file(const char *path) {
    sb_output output;
    sb_error error = {0};
    assert_int_equal(sb_output_to_file(&output, path, &error), SB_OK);
    return output;
}

static void finish(sb_output *output) {
    sb_error error = {0};
    if (sb_output_finish(output, &error) != SB_OK)
        fail_msg("%s", error.message);
}

static void memory_output_collects_everything(void **state) {
    (void)state;
    sb_output output = sb_output_to_memory();
    check_slice(sb_output_text(&output), "");
    sb_put_text(&output, "ab");
    sb_put_char(&output, 'c');
    sb_put_fill(&output, '-', 3);
    sb_put(&output, (sb_slice){NULL, 0});
    sb_put_format(&output, "%d", 42);
    check_slice(sb_output_text(&output), "abc---42");
    sb_output_truncate(&output, 2);
    check_slice(sb_output_text(&output), "ab");
    finish(&output);
}

static void remember_written(void *context, uint64_t written) {
    uint64_t *last = context;
    assert_true(written > *last);
    *last = written;
}

static void watcher_is_told_how_much_was_written(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    sb_output output = open_file(path_in(&folder, "watched"));
    uint64_t written = 0;
    sb_output_watch(&output, remember_written, &written);
    sb_put_text(&output, "ab");
    assert_int_equal(written, 0);
    sb_output_flush(&output);
    assert_int_equal(written, 2);
    sb_put_fill(&output, 'z', 1000000);
    finish(&output);
    assert_int_equal(written, 1000002);
    remove_folder(&folder);
}

static void memory_output_grows(void **state) {
    (void)state;
    sb_output output = sb_output_to_memory();
    for (int i = 0; i < 100000; i++)
        sb_put_char(&output, (char)('a' + i % 26));
    sb_put_fill(&output, 'z', 1000000);
    const sb_slice text = sb_output_text(&output);
    assert_int_equal(text.size, 1100000);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(text.data[i], 'a' + (int)(i % 26));
    assert_int_equal(text.data[text.size - 1], 'z');
    sb_output_discard(&output);
}

static void format_of_any_length_is_whole(void **state) {
    (void)state;
    static const int lengths[] = {0, 1, 510, 511, 512, 513, 5000};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        sb_output output = sb_output_to_memory();
        sb_put_format(&output, "%*s|", lengths[i], "");
        const sb_slice text = sb_output_text(&output);
        assert_int_equal(text.size, lengths[i] + 1);
        assert_int_equal(text.data[text.size - 1], '|');
        sb_output_discard(&output);
    }
}

static void csv_fields_are_quoted_only_if_needed(void **state) {
    (void)state;
    static const struct {
        const char *field;
        const char *written;
    } cases[] = {
        {"", ""},
        {"plain text", "plain text"},
        {"a,b", "\"a,b\""},
        {"a\"b", "\"a\"\"b\""},
        {"\"", "\"\"\"\""},
        {"a\nb", "\"a\nb\""},
        {"a\rb", "\"a\rb\""},
        {" x ", " x "},
        {"a;b'", "a;b'"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_output output = sb_output_to_memory();
        sb_put_csv(&output, sb_slice_of(cases[i].field));
        check_slice(sb_output_text(&output), cases[i].written);
        sb_output_discard(&output);
    }
}

static void descriptor_gets_what_was_put(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    sb_output output = sb_output_to_descriptor(ends[1]);
    sb_put_text(&output, "first ");
    sb_output_flush(&output);
    char text[32];
    assert_int_equal(read(ends[0], text, sizeof text), 6);
    sb_put_text(&output, "second");
    finish(&output);
    assert_int_equal(write(ends[1], "!", 1), 1); /* the descriptor was not ours to close */
    close(ends[1]);
    const ssize_t size = read(ends[0], text, sizeof text);
    check_slice((sb_slice){text, (size_t)size}, "second!");
    close(ends[0]);
}

static void pieces_larger_than_the_buffer_arrive_in_order(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "large");
    enum { LARGE = 200000 };
    char *large = sb_alloc(LARGE);
    memset(large, 'L', LARGE);
    sb_output output = open_file(path);
    sb_put_text(&output, "a");
    sb_put(&output, (sb_slice){large, LARGE});
    sb_put_fill(&output, 'f', LARGE);
    sb_put_text(&output, "z");
    finish(&output);
    free(large);
    sb_file file;
    assert_int_equal(sb_file_open(&file, path, NULL), SB_OK);
    assert_int_equal(file.text.size, 2 * LARGE + 2);
    assert_int_equal(file.text.data[0], 'a');
    assert_int_equal(file.text.data[LARGE], 'L');
    assert_int_equal(file.text.data[LARGE + 1], 'f');
    assert_int_equal(file.text.data[2 * LARGE + 1], 'z');
    sb_file_close(&file);
    remove_folder(&folder);
}

static void file_appears_only_when_finished(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "report");
    sb_output output = open_file(path);
    sb_put_text(&output, "content");
    sb_output_flush(&output);
    assert_int_not_equal(access(path, F_OK), 0);
    finish(&output);
    check_file(path, "content");
    assert_int_equal(count_files(&folder), 1);
    sb_output_discard(&output); /* safe after finish */
    check_file(path, "content");
    remove_folder(&folder);
}

static void discard_leaves_the_old_file_and_no_temporary(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "report");
    write_file(path, sb_slice_of("old"));
    sb_output output = open_file(path);
    sb_put_text(&output, "new");
    sb_output_flush(&output);
    sb_output_discard(&output);
    check_file(path, "old");
    assert_int_equal(count_files(&folder), 1);
    remove_folder(&folder);
}

static void two_outputs_to_one_goal_do_not_disturb_each_other(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "report");
    sb_output first = open_file(path);
    sb_output second = open_file(path);
    sb_put_text(&first, "first");
    sb_put_text(&second, "second");
    finish(&first);
    check_file(path, "first");
    finish(&second);
    check_file(path, "second");
    assert_int_equal(count_files(&folder), 1);
    remove_folder(&folder);
}

static void unfinished_files_can_be_removed_at_once(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    sb_output done = open_file(path_in(&folder, "done"));
    sb_output first = open_file(path_in(&folder, "first"));
    sb_output second = open_file(path_in(&folder, "second"));
    finish(&done);
    assert_int_equal(count_files(&folder), 3);
    sb_output_remove_unfinished();
    assert_int_equal(count_files(&folder), 1);
    assert_int_equal(access(path_in(&folder, "done"), F_OK), 0);
    sb_output_discard(&first);
    sb_output_discard(&second);
    remove_folder(&folder);
}

static void finish_replaces_the_old_file(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "report");
    write_file(path, sb_slice_of("old and longer"));
    sb_output output = open_file(path);
    sb_put_text(&output, "new");
    finish(&output);
    check_file(path, "new");
    remove_folder(&folder);
}

static void a_full_device_gives_an_error(void **state) {
    (void)state;
    sb_output output = open_file("/dev/full");
    sb_error error = {0};
    sb_put_text(&output, "content");
    assert_int_equal(sb_output_finish(&output, &error), SB_ERR_IO);
    assert_int_equal(error.status, SB_ERR_IO);
    check_contains(sb_slice_of(error.message), "/dev/full");
}

static void writing_goes_on_quietly_after_an_error(void **state) {
    (void)state;
    const int full = open("/dev/full", O_WRONLY);
    assert_true(full >= 0);
    sb_output output = sb_output_to_descriptor(full);
    for (int i = 0; i < 100; i++)
        sb_put_fill(&output, 'x', 10000);
    assert_int_equal(sb_output_finish(&output, NULL), SB_ERR_IO);
    close(full);
}

static void a_failed_write_keeps_the_old_file(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "report");
    write_file(path, sb_slice_of("old"));
    sb_output output = open_file(path);
    const int full = open("/dev/full", O_WRONLY); /* the disk fills up while writing */
    assert_int_equal(dup2(full, output.descriptor), output.descriptor);
    close(full);
    sb_put_text(&output, "new");
    assert_int_equal(sb_output_finish(&output, NULL), SB_ERR_IO);
    check_file(path, "old");
    assert_int_equal(count_files(&folder), 1);
    remove_folder(&folder);
}

static void a_missing_folder_gives_an_error(void **state) {
    (void)state;
    sb_output output;
    sb_error error = {0};
    assert_int_equal(sb_output_to_file(&output, "/tmp/strobe-no-such-folder/x", &error), SB_ERR_IO);
    check_contains(sb_slice_of(error.message), "/tmp/strobe-no-such-folder/x");
    sb_output_discard(&output);
}

static void a_folder_as_goal_gives_an_error(void **state) {
    (void)state;
    sb_output output;
    assert_int_equal(sb_output_to_file(&output, "/tmp", NULL), SB_ERR_IO);
    sb_output_discard(&output);
}

static void symlink_goal_is_followed(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *target = path_in(&folder, "target");
    const char *link = path_in(&folder, "link");
    write_file(target, sb_slice_of("old"));
    assert_int_equal(symlink(target, link), 0);
    sb_output output = open_file(link);
    sb_put_text(&output, "new");
    finish(&output);
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    check_file(target, "new");
    assert_int_equal(count_files(&folder), 2);
    remove_folder(&folder);
}

static void mode_of_an_existing_file_is_kept(void **state) {
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0644, 0755};
    const mode_t mask = umask(022);
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        const test_folder folder = make_folder();
        const char *path = path_in(&folder, "report");
        write_file(path, sb_slice_of("old"));
        assert_int_equal(chmod(path, modes[i]), 0);
        sb_output output = open_file(path);
        finish(&output);
        struct stat status;
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 0777, modes[i]);
        remove_folder(&folder);
    }
    umask(mask);
}

static void a_dash_is_standard_output(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    sb_output output = open_file("-");
    sb_put_text(&output, "to stdout");
    const sb_status status = sb_output_finish(&output, NULL);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(ends[1]);
    assert_int_equal(status, SB_OK);
    char text[32];
    const ssize_t size = read(ends[0], text, sizeof text);
    check_slice((sb_slice){text, (size_t)size}, "to stdout");
    close(ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_output_collects_everything),
        cmocka_unit_test(watcher_is_told_how_much_was_written),
        cmocka_unit_test(memory_output_grows),
        cmocka_unit_test(format_of_any_length_is_whole),
        cmocka_unit_test(csv_fields_are_quoted_only_if_needed),
        cmocka_unit_test(descriptor_gets_what_was_put),
        cmocka_unit_test(pieces_larger_than_the_buffer_arrive_in_order),
        cmocka_unit_test(file_appears_only_when_finished),
        cmocka_unit_test(discard_leaves_the_old_file_and_no_temporary),
        cmocka_unit_test(two_outputs_to_one_goal_do_not_disturb_each_other),
        cmocka_unit_test(unfinished_files_can_be_removed_at_once),
        cmocka_unit_test(finish_replaces_the_old_file),
        cmocka_unit_test(a_full_device_gives_an_error),
        cmocka_unit_test(writing_goes_on_quietly_after_an_error),
        cmocka_unit_test(a_failed_write_keeps_the_old_file),
        cmocka_unit_test(a_missing_folder_gives_an_error),
        cmocka_unit_test(a_folder_as_goal_gives_an_error),
        cmocka_unit_test(symlink_goal_is_followed),
        cmocka_unit_test(mode_of_an_existing_file_is_kept),
        cmocka_unit_test(a_dash_is_standard_output),
    };
    return RUN(tests);
}
