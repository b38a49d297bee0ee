#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* Pages are given back in steps of this size: few system calls, little kept. */
enum { RELEASE_STEP = 8 << 20, READ_STEP = 1 << 20 };

static sb_status read_whole(sb_file *file, int descriptor, const char *path, sb_error *error) {
    char *data = NULL;
    size_t size = 0;
    size_t capacity = 0;
    for (;;) {
        if (size == capacity) {
            capacity = capacity == 0 ? READ_STEP : capacity * 2;
            data = sb_realloc(data, capacity, 1);
        }
        const ssize_t got = read(descriptor, data + size, capacity - size);
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            const sb_status status =
                sb_error_set(error, SB_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
            free(data);
            return status;
        }
        size += (size_t)got;
    }
    *file = (sb_file){.text = {data, size}, .kind = SB_FILE_READ, .memory = data};
    return SB_OK;
}

static sb_status map_or_read(sb_file *file, int descriptor, const char *path, sb_error *error) {
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        SB_FAIL(error, SB_ERR_IO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        SB_FAIL(error, SB_ERR_FORMAT, "%s: this is a directory, a file is expected", path);
    if (!S_ISREG(status.st_mode) || status.st_size == 0)
        return read_whole(file, descriptor, path, error);
    void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED)
        return read_whole(file, descriptor, path, error);
    madvise(data, (size_t)status.st_size, MADV_SEQUENTIAL);
    *file =
        (sb_file){.text = {data, (size_t)status.st_size}, .kind = SB_FILE_MAPPED, .memory = data};
    return SB_OK;
}

sb_status sb_file_open(sb_file *file, const char *path, sb_error *error) {
    *file = sb_file_of((sb_slice){"", 0});
    if (strcmp(path, "-") == 0)
        return read_whole(file, STDIN_FILENO, "standard input", error);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        SB_FAIL(error, errno == ENOENT ? SB_ERR_NOT_FOUND : SB_ERR_IO, "%s: %s", path,
                errno == ENOENT ? "there is no such file" : strerror(errno));
    const sb_status result = map_or_read(file, descriptor, path, error);
    close(descriptor);
    return result;
}

sb_file sb_file_of(sb_slice text) {
    return (sb_file){.text = text, .kind = SB_FILE_BORROWED};
}

void sb_file_release(sb_file *file, size_t offset) {
    if (file->kind != SB_FILE_MAPPED || offset < file->released + RELEASE_STEP)
        return;
    const size_t whole = offset / RELEASE_STEP * RELEASE_STEP;
    madvise(file->memory + file->released, whole - file->released, MADV_DONTNEED);
    file->released = whole;
}

void sb_file_close(sb_file *file) {
    if (file->kind == SB_FILE_MAPPED)
        munmap(file->memory, file->text.size);
    else if (file->kind == SB_FILE_READ)
        free(file->memory);
    *file = sb_file_of((sb_slice){"", 0});
}

/* The part of a path before its last name; "." if there is none. The caller frees it. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    const size_t size = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *folder = sb_alloc(size + 2);
    memcpy(folder, path, size);
    memcpy(folder + size, ".", 2);
    return folder;
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static bool is_one_inode(const char *a, const char *b) {
    struct stat first;
    struct stat second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Of files that are still to be made: whether they would be in one place. */
static bool is_one_place(const char *a, const char *b) {
    char *first = folder_of(a);
    char *second = folder_of(b);
    const bool is_one = strcmp(name_of(a), name_of(b)) == 0 && is_one_inode(first, second);
    free(first);
    free(second);
    return is_one;
}

bool sb_file_is_same(const char *a, const char *b) {
    struct stat first;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    if (stat(a, &first) == 0)
        return S_ISREG(first.st_mode) && is_one_inode(a, b);
    return strcmp(a, b) == 0 || is_one_place(a, b);
}

bool sb_file_is_regular(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool sync_path(const char *path, int flags) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | flags);
    const bool done = descriptor >= 0 && fsync(descriptor) == 0;
    const int failure = errno;
    if (descriptor >= 0)
        close(descriptor);
    errno = failure;
    return done;
}

bool sb_file_sync(const char *path) {
    sb_arena arena = {0};
    const char *slash = strrchr(path, '/');
    const char *folder =
        slash == NULL ? "." : sb_arena_format(&arena, "%.*s/", (int)(slash - path), path).data;
    const bool done = sync_path(path, 0) && sync_path(folder, O_DIRECTORY);
    sb_arena_free(&arena);
    return done;
}
