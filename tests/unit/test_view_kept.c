/*
 * Kept indexes: what comes back is what was kept, and anything else is noticed.
 */
#include "trace_testing.h"
#include "view/view_call.h"
#include <limits.h>

#include "view/view_kept.h"

static const sb_view_stamp stamp = {.size = 1, .changed_ns = 2, .ends = 3};

static sb_output image_of(sb_trace *trace) {
    view_index index;
    sb_output image = sb_output_to_memory();
    view_index_init(&index, trace);
    view_index_extend(&index, NULL, NULL);
    view_kept_write(trace, &index, &stamp, &image);
    view_index_free(&index);
    return image;
}

static sb_view_kept *read_image(sb_slice bytes, sb_status *status, sb_error *error) {
    sb_view_kept *kept = sb_alloc_zeroed(1, sizeof *kept);
    *status = view_kept_read(kept, bytes, &stamp, NULL, NULL, error);
    return kept;
}

static sb_status open_files(sb_view_files files, sb_view_kept **kept, sb_error *error) {
    SB_TRY(sb_view_stamp_files(&files, error));
    return sb_view_kept_open(&files, NULL, NULL, kept, error);
}

static sb_status keep_files(sb_view *view, sb_view_files files, const bool *stop, sb_error *error) {
    SB_TRY(sb_view_stamp_files(&files, error));
    return sb_view_keep(view, &files, stop, error);
}

static sb_status open_kept(const char *path, sb_view_kept **kept, sb_error *error) {
    return open_files((sb_view_files){.paths = &path, .count = 1}, kept, error);
}

static sb_status keep(sb_view *view, const char *path, const bool *stop, sb_error *error) {
    return keep_files(view, (sb_view_files){.paths = &path, .count = 1}, stop, error);
}

static sb_output answers_of(sb_view *view) {
    static const char *const paths[] = {"/api/info",     "/api/tracks", "/api/sources",
                                        "/api/overview", "/api/stats",  "/api/flame",
                                        "/api/messages", "/api/plots",  "/api/device"};
    sb_output all = sb_output_to_memory();
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        view_call call = {.view = view, .body = &all};
        assert_int_equal(view_api_answer(&call, paths[i]), SB_OK);
    }
    view_call zones = {.view = view,
                       .body = &all,
                       .parameters = {{"tracks", "0"}, {"width", "300"}},
                       .parameter_count = sb_series_count(&view->trace->tracks) > 0 ? 2 : 0};
    assert_int_equal(view_api_answer(&zones, "/api/zones"), SB_OK);
    return all;
}

static void check_same(sb_output *a, sb_output *b) {
    assert_int_equal(sb_output_text(a).size, sb_output_text(b).size);
    assert_memory_equal(sb_output_text(a).data, sb_output_text(b).data, sb_output_text(a).size);
    sb_output_discard(a);
    sb_output_discard(b);
}

static void what_was_kept_comes_back(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        sb_status status = SB_OK;
        sb_error error = {0};
        sb_trace *trace = make_random_trace(seed);
        sb_output image = image_of(trace);
        sb_view_kept *kept = read_image(sb_output_text(&image), &status, &error);
        if (status != SB_OK)
            fail_msg("seed %" PRIu64 ": %s", seed, error.message);
        sb_output before = sb_output_to_memory();
        sb_output after = sb_output_to_memory();
        dump_trace(trace, &before);
        dump_trace(sb_view_kept_trace(kept), &after);
        check_same(&before, &after);
        const sb_view_source fresh = {.trace = trace, .name = "", .version = ""};
        const sb_view_source mapped = {
            .trace = kept->trace, .kept = kept, .name = "", .version = ""};
        sb_view *views[] = {sb_view_create(&fresh), sb_view_create(&mapped)};
        sb_output answers[2];
        for (size_t i = 0; i < 2; i++) {
            sb_view_index(views[i], NULL, NULL);
            answers[i] = answers_of(views[i]);
            sb_view_free(views[i]);
        }
        check_same(&answers[0], &answers[1]);
        sb_view_kept_free(kept);
        sb_output_discard(&image);
        sb_trace_free(trace);
    }
}

/* Any byte that matters is under a checksum; others are padding. */
static void damage_is_noticed(void **state) {
    (void)state;
    enum { ATTEMPTS = 400 };
    uint64_t random = 5;
    unsigned refused = 0;
    sb_trace *trace = make_random_trace(4);
    sb_output image = image_of(trace);
    sb_output whole = sb_output_to_memory();
    dump_trace(trace, &whole);
    const sb_slice bytes = sb_output_text(&image);
    for (int i = 0; i < ATTEMPTS; i++) {
        sb_status status = SB_OK;
        sb_error error = {0};
        const size_t at = (size_t)below(&random, bytes.size);
        const char change = (char)(1 << below(&random, 8));
        image.buffer[at] = (char)(image.buffer[at] ^ change);
        sb_view_kept *kept = read_image(bytes, &status, &error);
        if (status == SB_OK) {
            sb_output text = sb_output_to_memory();
            dump_trace(kept->trace, &text);
            assert_memory_equal(sb_output_text(&text).data, sb_output_text(&whole).data,
                                sb_output_text(&whole).size);
            sb_output_discard(&text);
        }
        refused += status != SB_OK;
        sb_view_kept_free(kept);
        image.buffer[at] = (char)(image.buffer[at] ^ change);
    }
    assert_true(refused > ATTEMPTS / 2);
    for (size_t size = 0; size < bytes.size; size += 1 + bytes.size / 100) {
        sb_status status = SB_OK;
        sb_error error = {0};
        sb_view_kept_free(read_image(sb_slice_first(bytes, size), &status, &error));
        assert_int_equal(status, SB_ERR_FORMAT);
    }
    sb_output_discard(&whole);
    sb_output_discard(&image);
    sb_trace_free(trace);
}

static void write_trace(const sb_trace *trace, const char *path) {
    sb_output file;
    assert_int_equal(sb_output_to_file(&file, path, NULL), SB_OK);
    sb_trace_write(trace, &(sb_trace_write_options){0}, &file, NULL);
    assert_int_equal(sb_output_finish(&file, NULL), SB_OK);
}

static void a_file_that_changes_is_read_again(void **state) {
    (void)state;
    bool stop = false;
    sb_error error = {0};
    sb_view_kept *kept = NULL;
    const test_folder folder = make_folder();
    test_folder cache;
    const char *path = path_in(&folder, "a.tracy");
    snprintf(cache.path, sizeof cache.path, "%.50s/view", folder.path);
    setenv("STROBE_CACHE", folder.path, 1);
    sb_trace *trace = make_random_trace(9);
    write_trace(trace, path);
    assert_int_equal(open_kept(path, &kept, &error), SB_ERR_NOT_FOUND);
    const sb_view_source source = {.trace = trace, .name = "", .version = ""};
    sb_view *view = sb_view_create(&source);
    sb_view_index(view, NULL, NULL);
    assert_int_equal(keep(view, path, &stop, &error), SB_OK);
    assert_int_equal(open_kept(path, &kept, &error), SB_OK);
    assert_int_equal(sb_trace_zone_count(sb_view_kept_trace(kept), false),
                     sb_trace_zone_count(trace, false));
    sb_view_kept_free(kept);
    sb_trace *other = make_random_trace(10);
    write_trace(other, path);
    assert_int_equal(open_kept(path, &kept, &error), SB_ERR_NOT_FOUND);
    check_contains(sb_slice_of(error.message), "has changed");
    assert_int_equal(count_files(&cache), 1);
    /* Told to stop, it leaves nothing behind. */
    stop = true;
    assert_int_equal(keep(view, path, &stop, &error), SB_OK);
    assert_int_equal(count_files(&cache), 1);
    sb_view_free(view);
    sb_trace_free(other);
    sb_trace_free(trace);
    remove_folder(&cache);
    remove_folder(&folder);
}

/* What is kept is what was read, not what has its name by then. */
static void a_file_that_changes_while_it_is_read_is_not_kept(void **state) {
    (void)state;
    bool stop = false;
    sb_error error = {0};
    sb_view_kept *kept = NULL;
    test_folder cache;
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "a.tracy");
    sb_view_files files = {.paths = &path, .count = 1};
    snprintf(cache.path, sizeof cache.path, "%.50s/view", folder.path);
    setenv("STROBE_CACHE", folder.path, 1);
    sb_trace *trace = make_random_trace(9);
    sb_trace *other = make_random_trace(10);
    write_trace(trace, path);
    assert_int_equal(sb_view_stamp_files(&files, &error), SB_OK);
    const sb_view_source source = {.trace = trace, .name = "", .version = ""};
    sb_view *view = sb_view_create(&source);
    sb_view_index(view, NULL, NULL);
    write_trace(other, path);
    assert_int_equal(sb_view_keep(view, &files, &stop, &error), SB_ERR_NOT_FOUND);
    check_contains(sb_slice_of(error.message), "has changed since it was read");
    assert_int_equal(open_kept(path, &kept, &error), SB_ERR_NOT_FOUND);
    assert_int_equal(count_files(&cache), 0);
    sb_view_free(view);
    sb_trace_free(other);
    sb_trace_free(trace);
    remove_folder(&cache);
    remove_folder(&folder);
}

/* Of a session: a change in any of its files, or in which they are. */
static void a_session_that_changes_is_read_again(void **state) {
    (void)state;
    enum { FILES = 3 };
    static const char *const names[FILES] = {"session.json", "a.tracy", "b.tracy"};
    bool stop = false;
    sb_error error = {0};
    sb_view_kept *kept = NULL;
    test_folder cache;
    const test_folder folder = make_folder();
    char real[FILES][PATH_MAX];
    const char *paths[FILES];
    const sb_view_files files = {.paths = paths, .count = FILES};
    snprintf(cache.path, sizeof cache.path, "%.50s/view", folder.path);
    setenv("STROBE_CACHE", folder.path, 1);
    for (size_t i = 0; i < FILES; i++) {
        snprintf(real[i], sizeof real[i], "%s", path_in(&folder, names[i]));
        write_file(real[i], sb_slice_of(names[i]));
        paths[i] = real[i];
    }
    sb_trace *trace = make_random_trace(9);
    const sb_view_source source = {.trace = trace, .name = "", .version = ""};
    sb_view *view = sb_view_create(&source);
    sb_view_index(view, NULL, NULL);
    for (size_t i = 0; i < FILES; i++) {
        assert_int_equal(keep_files(view, files, &stop, &error), SB_OK);
        assert_int_equal(open_files(files, &kept, &error), SB_OK);
        sb_view_kept_free(kept);
        write_file(real[i], sb_slice_of("changed"));
        assert_int_equal(open_files(files, &kept, &error), SB_ERR_NOT_FOUND);
        check_contains(sb_slice_of(error.message), "has changed");
    }
    assert_int_equal(keep_files(view, files, &stop, &error), SB_OK);
    paths[1] = real[2];
    paths[2] = real[1];
    assert_int_equal(open_files(files, &kept, &error), SB_ERR_NOT_FOUND);
    paths[1] = real[1];
    const sb_view_files fewer = {.paths = paths, .count = FILES - 1};
    assert_int_equal(open_files(fewer, &kept, &error), SB_ERR_NOT_FOUND);
    paths[2] = real[2];
    assert_int_equal(unlink(real[2]), 0);
    assert_int_equal(open_files(files, &kept, &error), SB_ERR_NOT_FOUND);
    sb_view_free(view);
    sb_trace_free(trace);
    remove_folder(&cache);
    remove_folder(&folder);
}

/* Whoever can write to the folder cannot have other files overwritten; nothing stays of the dead.
 */
static void the_folder_is_not_trusted(void **state) {
    (void)state;
    bool stop = false;
    sb_error error = {0};
    sb_view_kept *kept = NULL;
    test_folder cache;
    const test_folder folder = make_folder();
    char path[PATH_MAX];
    char goal[PATH_MAX];
    char leftover[PATH_MAX];
    snprintf(path, sizeof path, "%s", path_in(&folder, "a.tracy"));
    snprintf(goal, sizeof goal, "%s", path_in(&folder, "precious"));
    snprintf(cache.path, sizeof cache.path, "%.50s/view", folder.path);
    setenv("STROBE_CACHE", folder.path, 1);
    sb_trace *trace = make_random_trace(9);
    write_trace(trace, path);
    const sb_view_source source = {.trace = trace, .name = "", .version = ""};
    sb_view *view = sb_view_create(&source);
    sb_view_index(view, NULL, NULL);
    assert_int_equal(keep(view, path, &stop, &error), SB_OK);
    sb_arena arena = {0};
    const char *index = sb_folder_newest(&arena, cache.path, "", ".index");
    assert_non_null(index);
    write_file(goal, sb_slice_of("precious"));
    assert_int_equal(unlink(index), 0);
    assert_int_equal(symlink(goal, index), 0);
    snprintf(leftover, sizeof leftover, "%s/" SB_UNFINISHED "%d.0", cache.path, INT32_MAX);
    write_file(leftover, sb_slice_of("half"));
    assert_int_equal(open_kept(path, &kept, &error), SB_ERR_NOT_FOUND);
    assert_int_equal(keep(view, path, &stop, &error), SB_OK);
    sb_file file = {.kind = SB_FILE_BORROWED};
    assert_int_equal(sb_file_open(&file, goal, &error), SB_OK);
    check_slice(file.text, "precious");
    sb_file_close(&file);
    assert_int_equal(open_kept(path, &kept, &error), SB_OK);
    sb_view_kept_free(kept);
    assert_int_equal(count_files(&cache), 1);
    sb_arena_free(&arena);
    sb_view_free(view);
    sb_trace_free(trace);
    remove_folder(&cache);
    remove_folder(&folder);
}

static void a_folder_that_cannot_be_made_is_said(void **state) {
    (void)state;
    bool stop = false;
    sb_error error = {0};
    const test_folder folder = make_folder();
    const char *path = path_in(&folder, "a.tracy");
    write_file(path_in(&folder, "cache"), sb_slice_of("no folder"));
    setenv("STROBE_CACHE", path_in(&folder, "cache"), 1);
    sb_trace *trace = make_random_trace(9);
    write_trace(trace, path);
    const sb_view_source source = {.trace = trace, .name = "", .version = ""};
    sb_view *view = sb_view_create(&source);
    sb_view_index(view, NULL, NULL);
    assert_int_equal(keep(view, path, &stop, &error), SB_ERR_IO);
    check_contains(sb_slice_of(error.message), "cannot make this folder");
    sb_view_free(view);
    sb_trace_free(trace);
    remove_folder(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_comes_back),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(a_file_that_changes_is_read_again),
        cmocka_unit_test(a_file_that_changes_while_it_is_read_is_not_kept),
        cmocka_unit_test(a_session_that_changes_is_read_again),
        cmocka_unit_test(the_folder_is_not_trusted),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_said),
    };
    return RUN(tests);
}
