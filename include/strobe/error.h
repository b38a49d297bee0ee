/*
 * How functions say that they failed.
 *
 * A function that can fail returns an sb_status. Where a person will read the reason it also fills
 * an sb_error: the status and one sentence that names the file, row or offset concerned. SB_TRY
 * passes a failure up, SB_FAIL makes one; no other macro hides control flow.
 *
 * Numbers of statuses never change, so that logs of different versions can be compared.
 */
#ifndef STROBE_ERROR_H
#define STROBE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sb_status {
    SB_OK = 0,
    SB_ERR_IO = 1,        /* the system refused: open, read, write, rename */
    SB_ERR_NOT_FOUND = 2, /* a file or a named thing is not there */
    SB_ERR_FORMAT = 3,    /* the input is not what it claims to be */
    SB_ERR_EMPTY = 4,     /* the input is sound but holds nothing to work on */
    SB_ERR_USAGE = 5,     /* the caller's options contradict themselves or are malformed */
    SB_ERR_LIMIT = 6,     /* a documented limit was reached */
    SB_ERR_DEVICE = 20,   /* a device stopped: a kernel did what it may not, or nothing moves */
    SB_ERR_BUILD = 21,    /* a kernel could not be built */
} sb_status;

/* Long enough for a path and a sentence; longer messages are cut, never overrun. */
#define SB_ERROR_TEXT_SIZE 1024

typedef struct sb_error {
    sb_status status;
    char message[SB_ERROR_TEXT_SIZE];
} sb_error;

/* Fills *error (which may be NULL) and returns status, so that it can end a function. */
sb_status sb_error_set(sb_error *error, sb_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), visibility("default")));

#define SB_TRY(expression)                            \
    do {                                              \
        const sb_status sb_try_status = (expression); \
        if (sb_try_status != SB_OK)                   \
            return sb_try_status;                     \
    } while (0)

#define SB_FAIL(error, status, ...) return sb_error_set((error), (status), __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
