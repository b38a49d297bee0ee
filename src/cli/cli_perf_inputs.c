#include "cli/cli_perf.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- report folders ---- */

/* Deep enough for generated/profiler/reports/NAME/DATE; folders are not followed further. */
enum { FOLDER_DEPTH_MAX = 5, ENTRIES_MAX = 100000 };

typedef struct folder_search {
    sb_arena *arena;
    const char *newest;
    struct timespec newest_time;
    size_t found;
    size_t entries;
    int failed_errno; /* why a folder could not be read, or 0 */
} folder_search;

static bool is_ops_report(const char *name) {
    const sb_slice text = sb_slice_of(name);
    return sb_slice_starts_with(text, "ops_perf_results") && sb_slice_ends_with(text, ".csv");
}

static void look_at_entry(folder_search *search, const char *folder, const char *name, int depth);

static void search_folder(folder_search *search, const char *folder, int depth) {
    DIR *directory = opendir(folder);
    if (directory == NULL) {
        search->failed_errno = errno;
        return;
    }
    for (const struct dirent *entry = readdir(directory);
         entry != NULL && search->entries < ENTRIES_MAX; entry = readdir(directory)) {
        if (entry->d_name[0] != '.')
            look_at_entry(search, folder, entry->d_name, depth);
    }
    closedir(directory);
}

static void look_at_entry(folder_search *search, const char *folder, const char *name, int depth) {
    const char *path = sb_arena_format(search->arena, "%s/%s", folder, name).data;
    struct stat status;
    search->entries++;
    if (lstat(path, &status) != 0)
        return;
    const bool is_link = S_ISLNK(status.st_mode); /* to a file it counts, to a folder it may loop */
    if (is_link && stat(path, &status) != 0)
        return;
    if (S_ISDIR(status.st_mode) && !is_link && depth < FOLDER_DEPTH_MAX)
        search_folder(search, path, depth + 1);
    if (!S_ISREG(status.st_mode) || !is_ops_report(name))
        return;
    search->found++;
    if (search->newest == NULL || sb_time_is_later(status.st_mtim, search->newest_time) ||
        (!sb_time_is_later(search->newest_time, status.st_mtim) &&
         strcmp(path, search->newest) > 0)) {
        search->newest = path;
        search->newest_time = status.st_mtim;
    }
}

sb_status cli_perf_find_newest(sb_arena *arena, const char *path, const char **report,
                               size_t *found, sb_error *error) {
    folder_search search = {.arena = arena};
    search_folder(&search, path, 0);
    if (search.newest == NULL && search.failed_errno != 0)
        SB_FAIL(error, SB_ERR_IO, "%s: cannot look for reports: %s", path,
                strerror(search.failed_errno));
    if (search.newest == NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND,
                "%s: this is a directory with %zu entries, but no ops report "
                "(ops_perf_results*.csv) among them",
                path, search.entries);
    *report = search.newest;
    *found = search.found;
    return SB_OK;
}

/* A folder stands for the newest report in it. */
static sb_status find_report(sb_arena *arena, const char *path, const char **report,
                             sb_error *error) {
    size_t found = 0;
    *report = path;
    if (strcmp(path, "-") == 0 || !sb_folder_is(path))
        return SB_OK;
    SB_TRY(cli_perf_find_newest(arena, path, report, &found, error));
    if (found > 1)
        sb_log(SB_LOG_NOTE, "%s: the newest of %zu reports is taken: %s", path, found, *report);
    return SB_OK;
}

/* ---- labels of hosts ---- */

static sb_slice file_stem(const char *path) {
    const char *slash = strrchr(path, '/');
    const sb_slice name = sb_slice_of(slash != NULL ? slash + 1 : path);
    return sb_slice_ends_with(name, ".csv") ? sb_slice_first(name, name.size - 4) : name;
}

static sb_slice folder_name(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return (sb_slice){"", 0};
    const char *start = slash;
    while (start > path && start[-1] != '/')
        start--;
    return (sb_slice){start, (size_t)(slash - start)};
}

typedef sb_slice (*label_source)(const char *path);

static bool labels_differ(const cli_perf_inputs *inputs, label_source source) {
    for (size_t i = 0; i < inputs->count; i++) {
        if (source(inputs->inputs[i].name).size == 0)
            return false;
        for (size_t k = 0; k < i; k++) {
            if (sb_slice_equal(source(inputs->inputs[i].name), source(inputs->inputs[k].name)))
                return false;
        }
    }
    return true;
}

/* A label is printed, so it is made fit for a terminal. */
static const char *keep_label(cli_perf_inputs *inputs, sb_slice label) {
    const sb_slice clean = sb_utf8_clean(&inputs->arena, label);
    return sb_arena_format(&inputs->arena, "%.*s", (int)clean.size, clean.data).data;
}

/* File names if they tell the files apart, else their folders, else numbers. */
static void label_by_path(cli_perf_inputs *inputs) {
    label_source source = labels_differ(inputs, file_stem)     ? file_stem
                          : labels_differ(inputs, folder_name) ? folder_name
                                                               : NULL;
    for (size_t i = 0; i < inputs->count; i++) {
        inputs->inputs[i].host = source != NULL
                                     ? keep_label(inputs, source(inputs->inputs[i].name))
                                     : sb_arena_format(&inputs->arena, "host%zu", i).data;
    }
}

static sb_status label_by_list(cli_perf_inputs *inputs, const char *host_names, sb_error *error) {
    sb_slice rest = sb_slice_of(host_names);
    size_t given = 1;
    for (size_t i = 0; i < rest.size; i++)
        given += rest.data[i] == ',' ? 1 : 0;
    if (given != inputs->count)
        SB_FAIL(error, SB_ERR_USAGE, "--host-names gives %zu names for %zu files", given,
                inputs->count);
    for (size_t i = 0; i < inputs->count; i++) {
        inputs->inputs[i].host = keep_label(inputs, sb_slice_cut(rest, ',', &rest));
    }
    return SB_OK;
}

/* ---- opening ---- */

sb_status cli_perf_open(cli_perf_inputs *inputs, const char **operands, size_t count,
                        const char *host_names, sb_error *error) {
    *inputs = (cli_perf_inputs){
        .inputs = sb_alloc_zeroed(count, sizeof *inputs->inputs),
        .files = sb_alloc_zeroed(count, sizeof *inputs->files),
    };
    for (size_t i = 0; i < count; i++) {
        const char *path = NULL;
        SB_TRY(find_report(&inputs->arena, operands[i], &path, error));
        SB_TRY(sb_file_open(&inputs->files[i], path, error));
        inputs->inputs[i].name = strcmp(path, "-") == 0 ? "standard input" : path;
        inputs->inputs[i].file = &inputs->files[i];
        inputs->count++;
    }
    if (host_names != NULL)
        return label_by_list(inputs, host_names, error);
    label_by_path(inputs);
    return SB_OK;
}

void cli_perf_close(cli_perf_inputs *inputs) {
    for (size_t i = 0; i < inputs->count; i++)
        sb_file_close(&inputs->files[i]);
    free(inputs->files);
    free(inputs->inputs);
    sb_arena_free(&inputs->arena);
    *inputs = (cli_perf_inputs){0};
}
