/*
 * `strobe view --live`: shows a program's trace while it is being recorded.
 *
 * One thread records (sb_capture_run); this one waits for signals and, several times a second,
 * takes what has come into the index, of which the pages are told. When the program has ended the
 * trace is written to its file and stays on the pages until the command is interrupted.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/capture.h"
#include "cli/cli_recording.h"
#include "cli/cli_view.h"

enum { TICK_MS = 200 };

/* A recording under way. What is behind the lock is shared with the thread that records. */
typedef struct live {
    sb_capture_options options;
    sb_capture_report report;
    sb_error error;
    pthread_t thread;
    volatile sig_atomic_t stop;
    pthread_mutex_t lock;
    sb_trace *trace; /* NULL until the recording has begun */
    bool has_ended;
    sb_status status;
} live;

/* ---- recording ---- */

static void keep_trace(void *context, sb_trace *trace) {
    live *recording = context;
    pthread_mutex_lock(&recording->lock);
    recording->trace = trace;
    pthread_mutex_unlock(&recording->lock);
}

static void *record(void *context) {
    live *recording = context;
    const sb_status status =
        sb_capture_run(&recording->options, &recording->report, &recording->error);
    pthread_mutex_lock(&recording->lock);
    recording->status = status;
    recording->has_ended = true;
    pthread_mutex_unlock(&recording->lock);
    return NULL;
}

static bool has_ended(live *recording, sb_trace **trace) {
    pthread_mutex_lock(&recording->lock);
    *trace = recording->trace;
    const bool ended = recording->has_ended;
    pthread_mutex_unlock(&recording->lock);
    return ended;
}

/* ---- where ---- */

/* "HOST", "HOST:PORT" or nothing. */
static sb_status read_address(const char *text, char host[256], sb_capture_options *options,
                              sb_error *error) {
    int64_t port = 0;
    if (text == NULL)
        return SB_OK;
    const char *colon = strrchr(text, ':');
    const size_t size = colon == NULL ? strlen(text) : (size_t)(colon - text);
    if (size == 0 || size >= 256)
        SB_FAIL(error, SB_ERR_USAGE, "'%s' is no HOST or HOST:PORT", text);
    memcpy(host, text, size);
    host[size] = '\0';
    options->address = host;
    if (colon != NULL)
        SB_TRY(cli_trace_number("live", colon + 1, 1, UINT16_MAX, &port, error));
    options->port = (uint16_t)port;
    return SB_OK;
}

static void name_output(char path[64]) {
    struct tm date;
    const time_t now = time(NULL);
    if (localtime_r(&now, &date) == NULL ||
        strftime(path, 64, "live-%Y%m%d-%H%M%S.tracy", &date) == 0)
        snprintf(path, 64, "live.tracy");
}

/* ---- showing ---- */

typedef struct live_page {
    sb_view *view;
    sb_view_server *server;
    bool has_told_end;
} live_page;

static sb_status open_page(live_page *page, sb_trace *trace, const cli_view_arguments *arguments,
                           const char *name, sb_error *error) {
    const sb_view_source source = {
        .trace = trace, .name = name, .version = STROBE_VERSION, .is_live = true};
    page->view = sb_view_create(&source);
    sb_view_index(page->view, NULL, NULL);
    return cli_view_start(page->view, arguments, &page->server, error);
}

static void tell_end(live_page *page, const live *recording) {
    page->has_told_end = true;
    sb_view_end_live(page->view);
    cli_warn_of_recording(&recording->report);
    if (recording->status != SB_OK)
        sb_log(SB_LOG_ERROR, "%s", recording->error.message);
    else
        sb_log(SB_LOG_NOTE, "the recording has ended and is in %s; Ctrl-C ends the viewer",
               recording->options.output);
}

/* Until a signal comes, or the recording ends before it began. */
static sb_status follow(live *recording, live_page *page, const cli_view_arguments *arguments,
                        sb_error *error) {
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    sigset_t ending;
    cli_view_ending_signals(&ending);
    while (sigtimedwait(&ending, NULL, &tick) < 0) {
        sb_trace *trace = NULL;
        const bool ended = has_ended(recording, &trace);
        if (ended && trace == NULL)
            return SB_OK;
        if (trace == NULL)
            continue;
        if (page->view == NULL)
            SB_TRY(
                open_page(page, trace, arguments, cli_view_name(recording->options.output), error));
        else if (!ended)
            sb_view_index(page->view, NULL, NULL);
        if (ended && !page->has_told_end)
            tell_end(page, recording);
    }
    return SB_OK;
}

sb_status cli_view_live(const cli_view_arguments *arguments, const char *address, int *exit_code,
                        sb_error *error) {
    char host[256];
    char path[64];
    live recording = {.options = {.flavour = -1,
                                  .origin = SB_SLICE("strobe " STROBE_VERSION " view --live"),
                                  .sync_seconds = 1,
                                  .memory_bytes = UINT64_C(1) << 30,
                                  .output = arguments->output,
                                  .replace = arguments->replaces,
                                  .began = keep_trace}};
    live_page page = {0};
    SB_TRY(read_address(address, host, &recording.options, error));
    if (recording.options.output == NULL) {
        name_output(path);
        recording.options.output = path;
    }
    recording.options.stop = &recording.stop;
    recording.options.context = &recording;
    pthread_mutex_init(&recording.lock, NULL);
    cli_view_block_signals();
    if (pthread_create(&recording.thread, NULL, record, &recording) != 0)
        SB_FAIL(error, SB_ERR_IO, "the system gives no thread to record in");
    sb_log(SB_LOG_NOTE, "waiting for a program to record");
    sb_status status = follow(&recording, &page, arguments, error);
    recording.stop = 1;
    pthread_join(recording.thread, NULL);
    if (status == SB_OK && recording.status != SB_OK && !page.has_told_end) {
        *error = recording.error;
        status = recording.status;
    }
    if (cli_recording_is_partial(&recording.report))
        *exit_code = SB_EXIT_PARTIAL;
    sb_view_stop(page.server);
    sb_view_free(page.view);
    sb_trace_free(recording.trace);
    pthread_mutex_destroy(&recording.lock);
    return status;
}
