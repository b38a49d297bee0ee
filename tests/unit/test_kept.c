#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "testing.h"

static const sb_key key = {{1, 2}};
static const sb_slice content = SB_SLICE("what was kept");

static void keep(const char *path) {
    assert_true(sb_kept_write(path, &key, content));
}

static bool is_kept(const char *path) {
    size_t size = 0;
    char *found = sb_kept_read(path, &key, &size);
    if (found != NULL)
        check_slices((sb_slice){found, size}, content);
    free(found);
    return found != NULL;
}

static void what_is_kept_is_found(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "a.code");
    struct stat status;
    assert_false(is_kept(path));
    keep(path);
    assert_true(is_kept(path));
    keep(path);
    assert_true(is_kept(path));
    assert_int_equal(count_files(&folder), 1);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    remove_folder(&folder);
}

static void another_key_is_not_found(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const sb_key other = {{1, 3}};
    size_t size = 0;
    keep(path_in(&folder, "a.code"));
    assert_null(sb_kept_read(path_in(&folder, "a.code"), &other, &size));
    remove_folder(&folder);
}

static void damage_is_noticed(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "a.code");
    char bytes[128];
    keep(path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t i = 0; i < size; i++) {
        write_file(path, (sb_slice){bytes, i});
        assert_false(is_kept(path));
        bytes[i] ^= 1;
        write_file(path, (sb_slice){bytes, size});
        assert_false(is_kept(path));
        bytes[i] ^= 1;
    }
    bytes[size] = '\0';
    write_file(path, (sb_slice){bytes, size + 1});
    assert_false(is_kept(path));
    write_file(path, (sb_slice){bytes, size});
    assert_true(is_kept(path));
    remove_folder(&folder);
}

static void links_are_not_followed(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *target = path_in(&folder, "target");
    const char *path = path_in(&folder, "a.code");
    keep(target);
    assert_int_equal(symlink(target, path), 0);
    assert_false(is_kept(path));
    assert_false(sb_kept_is_own(path));
    write_file(target, sb_slice_of("mine"));
    keep(path);
    assert_true(is_kept(path));
    assert_true(sb_kept_is_own(path));
    check_file(target, "mine");
    remove_folder(&folder);
}

/* A pipe would be waited for, and a folder be in the way for ever. */
static void other_things_are_no_files(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "a.code");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(is_kept(path));
    keep(path);
    assert_true(is_kept(path));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(is_kept(path));
    assert_false(sb_kept_write(path, &key, content));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(count_files(&folder), 0);
    assert_false(sb_kept_write("/proc/nothing/a.code", &key, content));
    remove_folder(&folder);
}

/* The signal of a file that is too large would end the process. */
static void limits_on_files_are_kept(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {.rlim_cur = 8, .rlim_max = 8};
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(sb_kept_write(path_in(&folder, "a.code"), &key, content) ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(count_files(&folder), 0);
    remove_folder(&folder);
}

static void write_aged(const test_folder *folder, const char *name, time_t second) {
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    keep(path_in(folder, name));
    assert_int_equal(utimensat(AT_FDCWD, path_in(folder, name), times, 0), 0);
}

static void what_was_not_used_for_longest_goes(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    struct stat status;
    write_aged(&folder, "a.code", 1000);
    write_aged(&folder, "b.code", 500);
    write_aged(&folder, "c.code", 2000);
    write_aged(&folder, "d.code", 100);
    write_aged(&folder, "other", 1);
    assert_int_equal(stat(path_in(&folder, "a.code"), &status), 0);
    const uint64_t one = (uint64_t)status.st_size;
    sb_kept_bound(folder.path, ".code", "", 0, 4 * one);
    assert_int_equal(count_files(&folder), 5);
    /* Reading counts as use. */
    assert_true(is_kept(path_in(&folder, "b.code")));
    sb_kept_bound(folder.path, ".code", path_in(&folder, "d.code"), one, 4 * one);
    assert_false(is_kept(path_in(&folder, "a.code")));
    sb_kept_bound(folder.path, ".code", "", 0, 2 * one);
    assert_false(is_kept(path_in(&folder, "d.code")));
    assert_int_equal(count_files(&folder), 3);
    sb_kept_bound(folder.path, ".code", "", 0, 0);
    assert_int_equal(count_files(&folder), 1);
    remove_folder(&folder);
}

static void leftovers_of_the_dead_are_swept(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    char own[64];
    char dead[64];
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    snprintf(own, sizeof own, SB_UNFINISHED "%ld.0", (long)getpid());
    snprintf(dead, sizeof dead, SB_UNFINISHED "%ld.0", (long)child);
    write_file(path_in(&folder, own), content);
    write_file(path_in(&folder, dead), content);
    sb_kept_sweep(folder.path);
    assert_int_equal(access(path_in(&folder, own), F_OK), 0);
    assert_int_equal(count_files(&folder), 1);
    remove_folder(&folder);
}

static void keys_tell_content_apart(void **state) {
    (void)state;
    sb_key a = {{0, 1}};
    sb_key b = {{0, 1}};
    char first[SB_KEY_TEXT];
    char second[SB_KEY_TEXT];
    sb_key_add(&a, sb_slice_of("ab"));
    sb_key_add(&a, sb_slice_of("c"));
    sb_key_add(&b, sb_slice_of("a"));
    sb_key_add(&b, sb_slice_of("bc"));
    sb_key_text(&a, first);
    sb_key_text(&b, second);
    assert_string_not_equal(first, second);
    assert_int_equal(strlen(first), SB_KEY_TEXT - 1);
}

static void paths_that_are_too_long_are_errors(void **state) {
    (void)state;
    char name[PATH_MAX + 2] = "";
    char path[PATH_MAX];
    sb_error error = {0};
    memset(name, 'a', sizeof name - 1);
    assert_int_equal(sb_folder_cache_into(name, path, &error), SB_ERR_LIMIT);
    check_contains(sb_slice_of(error.message), "the path is too long");
    assert_int_equal(sb_folder_make(name, &error), SB_ERR_LIMIT);
    assert_false(sb_kept_write(name, &key, content));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_found),
        cmocka_unit_test(another_key_is_not_found),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(other_things_are_no_files),
        cmocka_unit_test(limits_on_files_are_kept),
        cmocka_unit_test(what_was_not_used_for_longest_goes),
        cmocka_unit_test(leftovers_of_the_dead_are_swept),
        cmocka_unit_test(keys_tell_content_apart),
        cmocka_unit_test(paths_that_are_too_long_are_errors),
    };
    return RUN(tests);
}
