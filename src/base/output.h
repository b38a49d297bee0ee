/*
 * Buffered output.
 *
 * One type for three goals, so that code which renders a report does not care where it goes:
 *
 *   sb_output_to_descriptor   standard output or another open descriptor
 *   sb_output_to_memory       a growing buffer (tests, parts of a larger page)
 *   sb_output_to_file         a file that appears under its name only when it is complete
 *
 * Writing never returns an error: the first one is remembered, what follows is dropped, and
 * sb_output_finish reports it. A file is written under a temporary name in the folder of its goal;
 * sb_output_finish renames it, sb_output_discard removes it. So a reader never sees half a file and
 * a full disk leaves the old one in place. A goal that is no regular file (a pipe, /dev/null, a
 * link to nothing) is written directly.
 */
#ifndef SB_BASE_OUTPUT_H
#define SB_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/slice.h"
#include "base/status.h"

/* Told how many bytes have been written so far. */
typedef void (*sb_output_watcher)(void *context, uint64_t written);

typedef struct sb_output {
    char *buffer;
    size_t used;
    size_t capacity;
    int descriptor;       /* -1: memory */
    int failed_errno;     /* the first error, or 0 */
    bool closes;          /* the descriptor is ours */
    char *goal_path;      /* what the file will be called; NULL unless it goes to a file */
    char *temporary_path; /* what it is called until then; NULL when written directly */
    uint64_t written;     /* bytes that have left the buffer */
    sb_output_watcher watcher;
    void *watcher_context;
} sb_output;

sb_output sb_output_to_descriptor(int descriptor);
sb_output sb_output_to_memory(void);
/* "-" is standard output. */
sb_status sb_output_to_file(sb_output *output, const char *path, sb_error *error);

/*
 * The same for a file of a cache folder, where nobody has named it and others may have put what
 * they like under its name: a link is replaced and never followed, and the file is for its owner
 * alone.
 */
sb_status sb_output_to_cache(sb_output *output, const char *path, sb_error *error);
/* How the temporary names begin; the number of the process follows. */
#define SB_UNFINISHED ".strobe-unfinished."
/* What is beside a goal under such a name has a path that is longer by less than this. */
#define SB_UNFINISHED_MORE 64
/*
 * Makes a new file beside goal under a temporary name; the path has room for size bytes. Returns a
 * descriptor, or -1 with errno set. It takes no memory.
 */
int sb_output_open_beside(const char *goal, mode_t mode, char *path, size_t size);

/* Calls the watcher each time that bytes have been written, which is once for many small pieces. */
void sb_output_watch(sb_output *output, sb_output_watcher watcher, void *context);

/* What sb_put does when the buffer has no room. */
void sb_put_beyond(sb_output *output, sb_slice text);

/* Inline, since a report is written in millions of small pieces. */
static inline void sb_put(sb_output *output, sb_slice text) {
    if (output->capacity - output->used < text.size) {
        sb_put_beyond(output, text);
        return;
    }
    if (text.size > 0)
        memcpy(output->buffer + output->used, text.data, text.size);
    output->used += text.size;
}

static inline void sb_put_text(sb_output *output, const char *text) {
    sb_put(output, sb_slice_of(text));
}

static inline void sb_put_char(sb_output *output, char c) {
    if (output->used == output->capacity)
        sb_put_beyond(output, (sb_slice){&c, 1});
    else
        output->buffer[output->used++] = c;
}

/* c, count times. */
void sb_put_fill(sb_output *output, char c, size_t count);
void sb_put_format(sb_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* One CSV field in quotes, those inside doubled. */
void sb_put_quoted(sb_output *output, sb_slice field);
/* One CSV field, quoted if it needs to be between commas. */
void sb_put_csv(sb_output *output, sb_slice field);

/* Room for size more bytes of a memory output; who fills it adds to `used` what was filled. */
char *sb_output_room(sb_output *output, size_t size);
/* What is in the buffer of a memory output; valid until the next write. */
sb_slice sb_output_text(const sb_output *output);
/* The first count bytes of a memory output are kept, the rest forgotten. */
void sb_output_truncate(sb_output *output, size_t count);

/* Writes out what is buffered, so that it is seen before something slow begins. */
void sb_output_flush(sb_output *output);
/* Flushes, closes and, for a file, gives it its name. The output is empty afterwards. */
sb_status sb_output_finish(sb_output *output, sb_error *error);
/*
 * Removes the temporary files of all outputs that are not finished. For handlers of signals that
 * end the process: it only calls what is safe there.
 */
void sb_output_remove_unfinished(void);
/* Drops everything; a file under its temporary name is removed. Safe after finish. */
void sb_output_discard(sb_output *output);

#endif
