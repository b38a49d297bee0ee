#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sb_folder_is(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

sb_status sb_folder_make(const char *path, sb_error *error) {
    char part[PATH_MAX];
    if (strlen(path) >= sizeof part)
        SB_FAIL(error, SB_ERR_LIMIT, "%.100s...: the path is too long", path);
    for (const char *end = path; *end != '\0'; end++) {
        if (*end != '/' || end == path)
            continue;
        memcpy(part, path, (size_t)(end - path));
        part[end - path] = '\0';
        mkdir(part, 0777); /* what cannot be made shows below */
    }
    if (mkdir(path, 0777) == 0)
        return SB_OK;
    const int reason = errno;
    if (sb_folder_is(path))
        return SB_OK;
    SB_FAIL(error, SB_ERR_IO, "%s: cannot make this folder: %s", path, strerror(reason));
}

void sb_folder_visit(const char *folder, const char *prefix, const char *suffix,
                     sb_folder_visitor visitor, void *context) {
    char path[PATH_MAX];
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        struct stat status;
        const sb_slice name = sb_slice_of(entry->d_name);
        if (!sb_slice_starts_with(name, prefix) || !sb_slice_ends_with(name, suffix))
            continue;
        const int size = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (size < (int)sizeof path && stat(path, &status) == 0)
            visitor(context, path, &status);
    }
    closedir(directory);
}

bool sb_time_is_later(struct timespec a, struct timespec b) {
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

typedef struct newest_file {
    sb_arena *arena;
    const char *path;
    struct timespec time;
} newest_file;

static void take_newer(void *context, const char *path, const struct stat *status) {
    newest_file *newest = context;
    if (!S_ISREG(status->st_mode) ||
        (newest->path != NULL && !sb_time_is_later(status->st_mtim, newest->time)))
        return;
    newest->path = sb_arena_format(newest->arena, "%s", path).data;
    newest->time = status->st_mtim;
}

const char *sb_folder_newest(sb_arena *arena, const char *folder, const char *prefix,
                             const char *suffix) {
    newest_file newest = {.arena = arena};
    sb_folder_visit(folder, prefix, suffix, take_newer, &newest);
    return newest.path;
}

const char *sb_path_absolute(sb_arena *arena, const char *path) {
    char here[PATH_MAX];
    if (path[0] == '/' || getcwd(here, sizeof here) == NULL)
        return sb_arena_format(arena, "%s", path).data;
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    return sb_arena_format(arena, "%s/%s", here, path).data;
}

static const char *set_variable(const char *name) {
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets the environment */
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Where caches are: a folder, and a part of its path that follows. */
static const char *find_caches(const char **below) {
    static const char *const variables[] = {"STROBE_CACHE", "XDG_CACHE_HOME", "HOME"};
    static const char *const parts[] = {"", "/strobe", "/.cache/strobe"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && found == NULL; i++) {
        found = set_variable(variables[i]);
        *below = parts[i];
    }
    return found;
}

sb_status sb_folder_cache_into(const char *name, char path[PATH_MAX], sb_error *error) {
    const char *below = "";
    const char *caches = find_caches(&below);
    if (caches == NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "there is no cache folder: set STROBE_CACHE, or HOME");
    if (snprintf(path, PATH_MAX, "%s%s/%s", caches, below, name) >= PATH_MAX)
        SB_FAIL(error, SB_ERR_LIMIT, "%.100s...: the path is too long", path);
    return sb_folder_make(path, error);
}

sb_status sb_folder_cache(sb_arena *arena, const char *name, const char **path, sb_error *error) {
    char made[PATH_MAX];
    SB_TRY(sb_folder_cache_into(name, made, error));
    *path = sb_arena_format(arena, "%s", made).data;
    return SB_OK;
}
