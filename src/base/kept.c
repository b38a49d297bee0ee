#include "base/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/intern.h"
#include "base/number.h"
#include "base/output.h"

/* How a file begins. The number at the end of the magic is that of this form. */
typedef struct kept_head {
    char magic[8];
    sb_key key;
    uint64_t size; /* of what follows */
    uint64_t checksum;
} kept_head;

static const char magic[] = "sbkept01";

static kept_head head_of(const sb_key *key, sb_slice content) {
    kept_head head = {.key = *key, .size = content.size, .checksum = sb_hash(content, 0)};
    memcpy(head.magic, magic, sizeof head.magic);
    return head;
}

/* ---- writing ---- */

static bool write_all(int descriptor, const void *data, size_t size) {
    const char *at = data;
    while (size > 0) {
        const ssize_t written = write(descriptor, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

/* Beyond the limit on files, a write would end the process. */
static bool may_write(uint64_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

bool sb_kept_write(const char *path, const sb_key *key, sb_slice content) {
    char temporary[PATH_MAX];
    const kept_head head = head_of(key, content);
    if (!may_write(sizeof head + content.size))
        return false;
    const int descriptor = sb_output_open_beside(path, 0600, temporary, sizeof temporary);
    if (descriptor < 0)
        return false;
    bool is_whole = write_all(descriptor, &head, sizeof head) &&
                    write_all(descriptor, content.data, content.size);
    is_whole = close(descriptor) == 0 && is_whole;
    if (is_whole && rename(temporary, path) == 0)
        return true;
    unlink(temporary);
    return false;
}

/* ---- reading ---- */

static bool is_own(const struct stat *status) {
    return S_ISREG(status->st_mode) && status->st_uid == geteuid();
}

bool sb_kept_is_own(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && is_own(&status);
}

/* Read and not mapped: a file that is cut meanwhile would end the process. */
static bool read_all(int descriptor, void *data, size_t size) {
    char *at = data;
    while (size > 0) {
        const ssize_t got = read(descriptor, at, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static char *read_content(int descriptor, const sb_key *key, size_t *size) {
    struct stat status;
    kept_head found;
    if (fstat(descriptor, &status) != 0 || !is_own(&status) ||
        !read_all(descriptor, &found, sizeof found) ||
        memcmp(found.magic, magic, sizeof found.magic) != 0 ||
        memcmp(&found.key, key, sizeof *key) != 0 || found.size == 0 ||
        found.size != (uint64_t)status.st_size - sizeof found)
        return NULL;
    char *content = malloc(found.size);
    if (content != NULL && read_all(descriptor, content, found.size) &&
        sb_hash((sb_slice){content, found.size}, 0) == found.checksum) {
        *size = found.size;
        return content;
    }
    free(content);
    return NULL;
}

char *sb_kept_read(const char *path, const sb_key *key, size_t *size) {
    /* Whatever has the name, opening it must not wait. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return NULL;
    char *content = read_content(descriptor, key, size);
    if (content != NULL)
        futimens(descriptor, NULL);
    close(descriptor);
    return content;
}

/* ---- the bound ---- */

typedef struct kept_files {
    const char *apart;
    uint64_t total;        /* bytes of all */
    char oldest[PATH_MAX]; /* used longest ago, but for the one apart; empty: there is none */
    struct timespec oldest_time;
} kept_files;

static void take_older(void *context, const char *path, const struct stat *status) {
    kept_files *files = context;
    files->total += (uint64_t)status->st_size;
    if (strcmp(path, files->apart) == 0 ||
        (files->oldest[0] != '\0' && !sb_time_is_later(files->oldest_time, status->st_mtim)))
        return;
    snprintf(files->oldest, sizeof files->oldest, "%s", path);
    files->oldest_time = status->st_mtim;
}

void sb_kept_bound(const char *folder, const char *suffix, const char *apart, uint64_t coming,
                   uint64_t bound) {
    for (;;) {
        kept_files files = {.apart = apart};
        sb_folder_visit(folder, "", suffix, take_older, &files);
        if (files.total + coming <= bound || files.oldest[0] == '\0' ||
            (unlink(files.oldest) != 0 && errno != ENOENT))
            return;
    }
}

static void sweep_unfinished(void *context, const char *path, const struct stat *status) {
    const char *slash = strrchr(path, '/');
    const sb_slice name = sb_slice_of(slash == NULL ? path : slash + 1);
    sb_slice rest = sb_slice_after(name, sizeof SB_UNFINISHED - 1);
    int64_t process = 0;
    (void)context;
    (void)status;
    if (sb_parse_int64(sb_slice_cut(rest, '.', &rest), &process) && process > 0 &&
        process <= INT32_MAX && kill((pid_t)process, 0) != 0 && errno == ESRCH)
        unlink(path);
}

void sb_kept_sweep(const char *folder) {
    sb_folder_visit(folder, SB_UNFINISHED, "", sweep_unfinished, NULL);
}
