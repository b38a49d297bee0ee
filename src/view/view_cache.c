/*
 * The folder of kept indexes: finding one, writing one, keeping all of them within their bound.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "view/view_kept.h"
#include "view/view_model.h"

enum {
    ENDS_BYTES = 65536, /* that are looked at on either end of a trace */
    ZONE_BYTES = 32,    /* a zone and its part of the index take so much at most, mostly */
    SPARE_PARTS = 4,    /* of the free disk, one is left */
};

#define KEPT_BYTES (UINT64_C(12) << 30)

/* ---- which file ---- */

static sb_status stamp_file(const char *path, sb_view_stamp *stamp, sb_error *error) {
    struct stat status;
    sb_file file = {.kind = SB_FILE_BORROWED};
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        SB_FAIL(error, SB_ERR_NOT_FOUND, "%s: is no file", path);
    SB_TRY(sb_file_open(&file, path, error));
    const sb_slice text = file.text;
    const size_t end = text.size > ENDS_BYTES ? text.size - ENDS_BYTES : 0;
    *stamp = (sb_view_stamp){
        .size = text.size,
        .changed_ns =
            (uint64_t)status.st_mtim.tv_sec * 1000000000U + (uint64_t)status.st_mtim.tv_nsec,
        .ends = sb_hash(sb_slice_first(text, ENDS_BYTES), sb_hash(sb_slice_after(text, end), 0))};
    sb_file_close(&file);
    return SB_OK;
}

static uint64_t mixed(uint64_t a, uint64_t b) {
    return sb_hash((sb_slice){(const char *)&b, sizeof b}, a);
}

/* Of several files, whatever changes in one of them or in their order changes it. */
static sb_status stamp_of(const sb_view_files *files, sb_view_stamp *stamp, sb_error *error) {
    SB_TRY(stamp_file(files->paths[0], stamp, error));
    for (size_t i = 1; i < files->count; i++) {
        sb_view_stamp one = {0};
        char real[PATH_MAX];
        SB_TRY(stamp_file(files->paths[i], &one, error));
        const char *path = realpath(files->paths[i], real);
        stamp->size = mixed(stamp->size, one.size);
        stamp->changed_ns = mixed(stamp->changed_ns, one.changed_ns);
        stamp->ends = sb_hash(sb_slice_of(path == NULL ? "" : path), mixed(stamp->ends, one.ends));
    }
    return SB_OK;
}

sb_status sb_view_stamp_files(sb_view_files *files, sb_error *error) {
    return stamp_of(files, &files->stamp, error);
}

/* FOLDER/NAME-HASH.index, by the real path of the trace. */
static sb_status name_kept(sb_arena *arena, const char *trace_path, const char **folder,
                           const char **path, sb_error *error) {
    char real[PATH_MAX];
    if (realpath(trace_path, real) == NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "%s: %s", trace_path, strerror(errno));
    SB_TRY(sb_folder_cache(arena, "view", folder, error));
    const char *slash = strrchr(real, '/');
    *path = sb_arena_format(arena, "%s/%.100s-%016" PRIx64 ".index", *folder,
                            slash == NULL ? real : slash + 1, sb_hash(sb_slice_of(real), 0))
                .data;
    return SB_OK;
}

/* ---- opening ---- */

void sb_view_kept_free(sb_view_kept *kept) {
    if (kept == NULL)
        return;
    view_index_free(&kept->index);
    sb_trace_free(kept->trace);
    sb_file_close(&kept->file);
    free(kept);
}

sb_trace *sb_view_kept_trace(const sb_view_kept *kept) {
    return kept->trace;
}

static sb_status open_kept(sb_arena *arena, const sb_view_files *files, sb_view_progress progress,
                           void *context, sb_view_kept **kept, sb_error *error) {
    const char *folder = "";
    const char *path = "";
    sb_file file = {.kind = SB_FILE_BORROWED};
    SB_TRY(name_kept(arena, files->paths[0], &folder, &path, error));
    if (!sb_kept_is_own(path))
        SB_FAIL(error, SB_ERR_NOT_FOUND, "%s: is not there", path);
    SB_TRY(sb_file_open(&file, path, error));
    sb_view_kept *made = sb_alloc_zeroed(1, sizeof *made);
    sb_error reason = {0};
    made->file = file;
    const sb_status status =
        view_kept_read(made, file.text, &files->stamp, progress, context, &reason);
    if (status == SB_OK) {
        sb_file_release(&made->file, made->file.text.size); /* until somebody looks at it */
        utimensat(AT_FDCWD, path, NULL, 0);                 /* used last now */
        *kept = made;
        return SB_OK;
    }
    sb_view_kept_free(made);
    SB_FAIL(error, status, "%s: %s", path, reason.message);
}

sb_status sb_view_kept_open(const sb_view_files *files, sb_view_progress progress, void *context,
                            sb_view_kept **kept, sb_error *error) {
    sb_arena arena = {0};
    *kept = NULL;
    const sb_status status = open_kept(&arena, files, progress, context, kept, error);
    sb_arena_free(&arena);
    return status;
}

/* ---- writing ---- */

typedef struct keeping {
    sb_output output;
    const bool *stop; /* atomic */
} keeping;

/* Whoever ends the viewer does not wait until all is written. */
static void look_whether_to_stop(void *context, uint64_t written) {
    keeping *all = context;
    (void)written;
    if (__atomic_load_n(all->stop, __ATOMIC_RELAXED) && all->output.failed_errno == 0)
        all->output.failed_errno = ECANCELED;
}

static sb_status check_room(const char *folder, uint64_t size, sb_error *error) {
    struct statvfs disk;
    if (size > KEPT_BYTES)
        SB_FAIL(error, SB_ERR_LIMIT, "it would be larger than %" PRIu64 " GB", KEPT_BYTES >> 30);
    if (statvfs(folder, &disk) != 0)
        return SB_OK;
    const uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (size > left - left / SPARE_PARTS)
        SB_FAIL(error, SB_ERR_LIMIT, "%s: the disk has too little room for it", folder);
    return SB_OK;
}

/* What was read is shown; under the stamp of something else it must not be found again. */
static sb_status check_unchanged(const sb_view_files *files, sb_error *error) {
    sb_view_stamp now = {0};
    SB_TRY(stamp_of(files, &now, error));
    if (!view_is_stamp(&now, &files->stamp))
        SB_FAIL(error, SB_ERR_NOT_FOUND, "%s: has changed since it was read", files->paths[0]);
    return SB_OK;
}

static sb_status keep(sb_arena *arena, sb_view *view, const sb_view_files *files, const bool *stop,
                      sb_error *error) {
    const char *folder = "";
    const char *path = "";
    const uint64_t zones =
        sb_trace_zone_count(view->trace, false) + sb_trace_zone_count(view->trace, true);
    SB_TRY(name_kept(arena, files->paths[0], &folder, &path, error));
    SB_TRY(check_unchanged(files, error));
    sb_kept_sweep(folder);
    SB_TRY(check_room(folder, zones * ZONE_BYTES, error));
    sb_kept_bound(folder, ".index", path, zones * ZONE_BYTES, KEPT_BYTES);
    keeping all = {.stop = stop};
    SB_TRY(sb_output_to_cache(&all.output, path, error));
    sb_output_watch(&all.output, look_whether_to_stop, &all);
    view_kept_write(view->trace, view->index, &files->stamp, &all.output);
    if (__atomic_load_n(stop, __ATOMIC_RELAXED)) {
        sb_output_discard(&all.output);
        return SB_OK;
    }
    SB_TRY(sb_output_finish(&all.output, error));
    sb_kept_bound(folder, ".index", path, 0, KEPT_BYTES);
    return SB_OK;
}

sb_status sb_view_keep(sb_view *view, const sb_view_files *files, const bool *stop,
                       sb_error *error) {
    sb_arena arena = {0};
    const sb_status status = keep(&arena, view, files, stop, error);
    sb_arena_free(&arena);
    return status;
}
