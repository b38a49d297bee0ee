/*
 * What all unit tests use: cmocka with what it needs included before it, checks of slices and
 * texts, random numbers that are the same in every run, and a folder for files.
 */
#ifndef SB_TESTS_UNIT_TESTING_H
#define SB_TESTS_UNIT_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define RUN(tests) cmocka_run_group_tests((tests), NULL, NULL)

/* ---- slices ---- */

/* Compares as C strings, so that a failure shows both texts. */
static inline void check_slices(sb_slice actual, sb_slice expected) {
    if (!sb_slice_equal(actual, expected))
        fail_msg("is '%.*s', should be '%.*s'", (int)actual.size, actual.data, (int)expected.size,
                 expected.data);
}

static inline void check_slice(sb_slice actual, const char *expected) {
    check_slices(actual, sb_slice_of(expected));
}

static inline void check_contains(sb_slice text, const char *part) {
    if (!sb_slice_contains(text, part))
        fail_msg("'%s' is not in '%.*s'", part, (int)text.size, text.data);
}

static inline void check_lacks(sb_slice text, const char *part) {
    if (sb_slice_contains(text, part))
        fail_msg("'%s' is in '%.*s'", part, (int)text.size, text.data);
}

/* ---- numbers ---- */

static inline void check_double(double actual, double expected) {
    if (actual != expected)
        fail_msg("is %.17g, should be %.17g", actual, expected);
}

static inline void check_near(double actual, double expected) {
    const double distance = actual > expected ? actual - expected : expected - actual;
    const double size = expected < 0 ? -expected : expected;
    if (!(distance <= 1e-9 * (size > 1 ? size : 1)))
        fail_msg("is %.17g, should be near %.17g", actual, expected);
}

/* xorshift: never 0 if the state is not. */
static inline uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- files ---- */

typedef struct test_folder {
    char path[64];
} test_folder;

static inline test_folder make_folder(void) {
    test_folder folder = {.path = "/tmp/strobe-test-XXXXXX"};
    assert_non_null(mkdtemp(folder.path));
    return folder;
}

/* A path inside the folder; valid until the next call. */
static inline const char *path_in(const test_folder *folder, const char *name) {
    static char paths[4][128];
    static size_t next;
    char *path = paths[next++ % COUNT_OF(paths)];
    snprintf(path, sizeof paths[0], "%s/%s", folder->path, name);
    return path;
}

static inline void write_file(const char *path, sb_slice text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.size, file), text.size);
    assert_int_equal(fclose(file), 0);
}

static inline void check_file(const char *path, const char *expected) {
    char text[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    check_slice((sb_slice){text, size}, expected);
}

static inline size_t count_files(const test_folder *folder) {
    size_t count = 0;
    DIR *directory = opendir(folder->path);
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 ? 1 : 0;
    closedir(directory);
    return count;
}

static inline void remove_folder(const test_folder *folder) {
    DIR *directory = opendir(folder->path);
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    assert_int_equal(rmdir(folder->path), 0);
}

#endif
