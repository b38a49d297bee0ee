/*
 * A journal that is being written, as a trace that grows.
 *
 * The file is read, never mapped: whoever cuts it while it is read makes it end, not us. The
 * recorder's lock tells whether more may come; what is in the file is looked at once more after the
 * lock is gone, since the last blocks were written before.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture_session.h"
#include "record/record.h"

enum {
    AT_ONCE = SB_JOURNAL_BLOCK_HEAD + SB_JOURNAL_CONTENT_MAX, /* the largest block */
    WRONG_LOOKS =
        25, /* at a block that is wrong while the recorder lives: its bytes may come late */
};

struct sb_capture_follower {
    int descriptor;
    capture_replay replay;
    sb_capture_report report;
    sb_journal_reader reader; /* of what is in the buffer; its base is where that begins */
    char *buffer;
    unsigned wrong_looks;
    bool is_finished;
};

/* What the file begins with. */
static sb_slice read_magic(int descriptor, char bytes[SB_JOURNAL_MAGIC_SIZE]) {
    const ssize_t size = pread(descriptor, bytes, SB_JOURNAL_MAGIC_SIZE, 0);
    return (sb_slice){bytes, size < 0 ? 0 : (size_t)size};
}

bool sb_capture_is_written(const char *path) {
    char bytes[SB_JOURNAL_MAGIC_SIZE];
    bool is_written = false;
    struct stat status;
    /* Who writes a pipe would take us for its reader. */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return false;
    const sb_slice magic = read_magic(descriptor, bytes);
    if (sb_journal_is_one(magic))
        is_written = sb_journal_is_written(descriptor);
    else if (sb_record_file_is_one(magic)) /* this kind of lock shows by being asked for only */
        is_written = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(descriptor);
    return is_written;
}

static sb_capture_follower *begin(int descriptor) {
    sb_capture_follower *made = sb_alloc_zeroed(1, sizeof *made);
    made->descriptor = descriptor;
    made->buffer = sb_alloc(AT_ONCE);
    made->replay.report = &made->report;
    made->reader.base = SB_JOURNAL_MAGIC_SIZE;
    return made;
}

sb_status sb_capture_follow(const char *path, sb_capture_follower **follower, sb_error *error) {
    char bytes[SB_JOURNAL_MAGIC_SIZE];
    const bool is_written = sb_capture_is_written(path);
    const int descriptor = is_written ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    *follower = NULL;
    if (descriptor >= 0 && !sb_journal_is_one(read_magic(descriptor, bytes)))
        close(descriptor);
    else if (descriptor >= 0)
        *follower = begin(descriptor);
    if (*follower != NULL)
        return SB_OK;
    SB_FAIL(error, SB_ERR_NOT_FOUND, "%s: is no journal that is being written", path);
}

/* What follows the last whole block. A file that ends before that was cut by somebody. */
static bool read_on(sb_capture_follower *follower, sb_error *damage) {
    struct stat status;
    follower->reader.base += follower->reader.offset;
    follower->reader.offset = 0;
    follower->reader.bytes = (sb_slice){follower->buffer, 0};
    const bool is_there = fstat(follower->descriptor, &status) == 0;
    const ssize_t size = is_there ? pread(follower->descriptor, follower->buffer, AT_ONCE,
                                          (off_t)follower->reader.base)
                                  : -1;
    if (size < 0) {
        sb_error_set(damage, SB_ERR_IO, "the journal cannot be read any more: %s", strerror(errno));
        return false;
    }
    if ((uint64_t)status.st_size < follower->reader.base) {
        sb_error_set(damage, SB_ERR_FORMAT,
                     "the journal was cut to %lld bytes while it was shown; %llu had been read",
                     (long long)status.st_size, (unsigned long long)follower->reader.base);
        return false;
    }
    follower->reader.bytes.size = (size_t)size;
    return true;
}

static sb_capture_growth finish(sb_capture_follower *follower, const sb_error *damage) {
    const bool is_broken = damage->status != SB_OK;
    if (follower->replay.trace != NULL)
        capture_replay_finish(&follower->replay, damage,
                              follower->reader.base + follower->reader.offset);
    follower->is_finished = true;
    return is_broken ? SB_CAPTURE_BROKEN : SB_CAPTURE_ENDED;
}

/* No whole block is left in the buffer, for the reason in damage. */
static sb_capture_growth judge(sb_capture_follower *follower, bool was_written, sb_error *damage) {
    const bool is_wrong = damage->status != SB_OK && !follower->reader.is_short;
    follower->wrong_looks = is_wrong ? follower->wrong_looks + 1 : 0;
    if (was_written && follower->wrong_looks < WRONG_LOOKS) {
        *damage = (sb_error){.status = SB_OK};
        return SB_CAPTURE_GROWS;
    }
    if (damage->status == SB_OK)
        capture_say_no_end(damage);
    return finish(follower, damage);
}

sb_capture_growth sb_capture_follow_on(sb_capture_follower *follower, sb_error *damage) {
    const bool was_written = sb_journal_is_written(follower->descriptor);
    sb_journal_block block = {0};
    unsigned taken = 0;
    assert(!follower->is_finished);
    *damage = (sb_error){.status = SB_OK};
    if (!read_on(follower, damage))
        return finish(follower, damage);
    while (sb_journal_next(&follower->reader, &block, damage)) {
        taken++;
        if (capture_replay_block(&follower->replay, &block, damage) != SB_OK ||
            follower->replay.has_end)
            return finish(follower, damage);
    }
    if (taken > 0) {
        follower->wrong_looks = 0;
        *damage = (sb_error){.status = SB_OK};
        return SB_CAPTURE_BEHIND;
    }
    return judge(follower, was_written, damage);
}

sb_trace *sb_capture_follower_trace(const sb_capture_follower *follower) {
    return follower->replay.trace;
}

const sb_capture_report *sb_capture_follower_report(const sb_capture_follower *follower) {
    return &follower->report;
}

bool sb_capture_follower_is_removed(const sb_capture_follower *follower) {
    struct stat status;
    return fstat(follower->descriptor, &status) == 0 && status.st_nlink == 0;
}

void sb_capture_follower_free(sb_capture_follower *follower) {
    const sb_error damage = {.status = SB_OK};
    if (follower == NULL)
        return;
    if (!follower->is_finished)
        finish(follower, &damage);
    close(follower->descriptor);
    free(follower->buffer);
    free(follower);
}
