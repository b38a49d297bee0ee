#include "base/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { BUFFER_SIZE = 1 << 16 };

sb_output sb_output_to_descriptor(int descriptor) {
    assert(descriptor >= 0);
    return (sb_output){
        .buffer = sb_alloc(BUFFER_SIZE), .capacity = BUFFER_SIZE, .descriptor = descriptor};
}

sb_output sb_output_to_memory(void) {
    return (sb_output){.descriptor = -1};
}

/* ---- files that appear whole ---- */

static char *copy_text(const char *text) {
    const size_t size = strlen(text) + 1;
    return memcpy(sb_alloc(size), text, size);
}

/* Follows a symbolic link, so that the file it points to is replaced and not the link. */
static char *resolve_goal(const char *path) {
    char resolved[PATH_MAX];
    return copy_text(realpath(path, resolved) != NULL ? resolved : path);
}

/*
 * The temporary files that exist, for a handler that has to remove them. Entries are set after the
 * file was made and cleared before its path is freed. Several threads may write files, so that an
 * entry is changed in one go; there is room for one file of each program that is recorded at once.
 */
enum { UNFINISHED_MAX = 256 };
static _Atomic(const char *) unfinished[UNFINISHED_MAX];

static void note_unfinished(const char *old_path, const char *new_path) {
    for (size_t i = 0; i < UNFINISHED_MAX; i++) {
        const char *expected = old_path;
        if (atomic_compare_exchange_strong(&unfinished[i], &expected, new_path))
            return;
    }
}

void sb_output_remove_unfinished(void) {
    for (size_t i = 0; i < UNFINISHED_MAX; i++) {
        const char *path = atomic_load(&unfinished[i]);
        if (path != NULL)
            unlink(path);
    }
}

int sb_output_open_beside(const char *goal, mode_t mode, char *path, size_t size) {
    enum { ATTEMPTS = 100 };
    const char *slash = strrchr(goal, '/');
    const int folder_size = slash != NULL ? (int)(slash - goal) + 1 : 0;
    int descriptor = -1;
    for (int i = 0; i < ATTEMPTS; i++) {
        const int length = snprintf(path, size, "%.*s" SB_UNFINISHED "%ld.%d", folder_size, goal,
                                    (long)getpid(), i);
        errno = ENAMETOOLONG;
        if ((size_t)length >= size)
            break;
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (descriptor >= 0 || errno != EEXIST)
            break;
    }
    return descriptor;
}

static int open_temporary(const char *goal, mode_t mode, char **path) {
    const size_t size = strlen(goal) + SB_UNFINISHED_MORE;
    *path = sb_alloc(size);
    const int descriptor = sb_output_open_beside(goal, mode, *path, size);
    if (descriptor >= 0)
        note_unfinished(NULL, *path);
    return descriptor;
}

static sb_status refuse(const char *path, sb_error *error) {
    SB_FAIL(error, SB_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
}

/* Begins a file that takes the place of goal when it is finished; goal is the output's then. */
static sb_status write_behind(sb_output *output, const char *path, char *goal, mode_t mode,
                              sb_error *error) {
    char *temporary = NULL;
    const int descriptor = open_temporary(goal, mode, &temporary);
    if (descriptor < 0) {
        const sb_status refused = refuse(path, error);
        free(goal);
        free(temporary);
        return refused;
    }
    *output = sb_output_to_descriptor(descriptor);
    output->closes = true;
    output->goal_path = goal;
    output->temporary_path = temporary;
    return SB_OK;
}

sb_status sb_output_to_file(sb_output *output, const char *path, sb_error *error) {
    *output = (sb_output){.descriptor = -1};
    if (strcmp(path, "-") == 0) {
        *output = sb_output_to_descriptor(STDOUT_FILENO);
        return SB_OK;
    }
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    struct stat link;
    const bool is_dangling = !exists && lstat(path, &link) == 0; /* a link to what is to be made */
    if (is_dangling || (exists && !S_ISREG(status.st_mode))) {
        const int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (descriptor < 0)
            return refuse(path, error);
        *output = sb_output_to_descriptor(descriptor);
        output->closes = true;
        output->goal_path = copy_text(path);
        return SB_OK;
    }
    const mode_t mode = exists ? status.st_mode & 0777 : 0666;
    SB_TRY(write_behind(output, path, resolve_goal(path), mode, error));
    if (exists) /* the mask of the process has no say in what was there before */
        fchmod(output->descriptor, mode);
    return SB_OK;
}

sb_status sb_output_to_cache(sb_output *output, const char *path, sb_error *error) {
    return write_behind(output, path, copy_text(path), 0600, error);
}

/* ---- writing ---- */

static void write_all(sb_output *output, const char *data, size_t size) {
    while (size > 0 && output->failed_errno == 0) {
        const ssize_t written = write(output->descriptor, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            output->failed_errno = errno;
            return;
        }
        data += written;
        size -= (size_t)written;
        output->written += (uint64_t)written;
        if (output->watcher != NULL)
            output->watcher(output->watcher_context, output->written);
    }
}

void sb_output_watch(sb_output *output, sb_output_watcher watcher, void *context) {
    output->watcher = watcher;
    output->watcher_context = context;
}

void sb_output_flush(sb_output *output) {
    if (output->descriptor < 0)
        return;
    write_all(output, output->buffer, output->used);
    output->used = 0;
}

/* Makes room for size more bytes; false if they should go past the buffer. */
static bool reserve(sb_output *output, size_t size) {
    if (output->capacity - output->used >= size)
        return true;
    if (output->descriptor >= 0) {
        sb_output_flush(output);
        return output->capacity >= size;
    }
    size_t capacity = output->capacity == 0 ? 256 : output->capacity;
    while (capacity - output->used < size)
        capacity *= 2;
    output->buffer = sb_realloc(output->buffer, capacity, 1);
    output->capacity = capacity;
    return true;
}

char *sb_output_room(sb_output *output, size_t size) {
    assert(output->descriptor < 0);
    reserve(output, size);
    return output->buffer + output->used;
}

void sb_put_beyond(sb_output *output, sb_slice text) {
    if (!reserve(output, text.size)) {
        write_all(output, text.data, text.size);
        return;
    }
    memcpy(output->buffer + output->used, text.data, text.size);
    output->used += text.size;
}

void sb_put_fill(sb_output *output, char c, size_t count) {
    while (count > 0) {
        if (output->used == output->capacity)
            reserve(output, 1);
        const size_t room = output->capacity - output->used;
        const size_t part = count < room ? count : room;
        memset(output->buffer + output->used, c, part);
        output->used += part;
        count -= part;
    }
}

void sb_put_format(sb_output *output, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_list again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert(length >= 0);
    if ((size_t)length < sizeof text) {
        sb_put(output, (sb_slice){text, (size_t)length});
    } else {
        char *whole = sb_alloc((size_t)length + 1);
        vsnprintf(whole, (size_t)length + 1, format, again);
        sb_put(output, (sb_slice){whole, (size_t)length});
        free(whole);
    }
    va_end(again);
}

static bool needs_quotes(sb_slice field) {
    for (size_t i = 0; i < field.size; i++) {
        const char c = field.data[i];
        if (c == ',' || c == '"' || c == '\r' || c == '\n')
            return true;
    }
    return false;
}

void sb_put_quoted(sb_output *output, sb_slice field) {
    sb_put_char(output, '"');
    for (size_t i = 0; i < field.size; i++) {
        if (field.data[i] == '"')
            sb_put_char(output, '"');
        sb_put_char(output, field.data[i]);
    }
    sb_put_char(output, '"');
}

void sb_put_csv(sb_output *output, sb_slice field) {
    if (needs_quotes(field))
        sb_put_quoted(output, field);
    else
        sb_put(output, field);
}

sb_slice sb_output_text(const sb_output *output) {
    assert(output->descriptor < 0);
    return (sb_slice){output->buffer == NULL ? "" : output->buffer, output->used};
}

void sb_output_truncate(sb_output *output, size_t count) {
    assert(output->descriptor < 0);
    assert(count <= output->used);
    output->used = count;
}

/* ---- the end ---- */

static void close_descriptor(sb_output *output) {
    if (output->closes && close(output->descriptor) != 0 && output->failed_errno == 0)
        output->failed_errno = errno;
    output->closes = false;
}

sb_status sb_output_finish(sb_output *output, sb_error *error) {
    sb_output_flush(output);
    close_descriptor(output);
    if (output->failed_errno == 0 && output->temporary_path != NULL &&
        rename(output->temporary_path, output->goal_path) != 0)
        output->failed_errno = errno;
    sb_status result = SB_OK;
    if (output->failed_errno != 0)
        result = sb_error_set(error, SB_ERR_IO, "%s: cannot write: %s",
                              output->goal_path != NULL ? output->goal_path : "standard output",
                              strerror(output->failed_errno));
    else
        output->descriptor = -1; /* nothing left for discard to remove */
    sb_output_discard(output);
    return result;
}

void sb_output_discard(sb_output *output) {
    close_descriptor(output);
    if (output->temporary_path != NULL && output->descriptor >= 0)
        unlink(output->temporary_path);
    free(output->buffer);
    if (output->temporary_path != NULL)
        note_unfinished(output->temporary_path, NULL);
    free(output->goal_path);
    free(output->temporary_path);
    *output = (sb_output){.descriptor = -1};
}
