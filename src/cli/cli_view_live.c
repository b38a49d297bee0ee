/*
 * `strobe view --live`: shows a program's trace while it is being recorded.
 *
 * One thread records (sb_capture_run), this one shows (cli_view_follow.c). When the program has
 * ended the trace is written to its file and stays on the pages until the command is interrupted.
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
    bool has_told_start; /* these two: of the thread that shows */
    bool has_told_end;
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

static bool look(void *context, sb_trace **trace) {
    live *recording = context;
    pthread_mutex_lock(&recording->lock);
    *trace = recording->trace;
    const bool has_ended = recording->has_ended;
    pthread_mutex_unlock(&recording->lock);
    if (*trace != NULL && !recording->has_told_start) {
        const sb_slice program = (*trace)->info.program;
        recording->has_told_start = true;
        sb_log(SB_LOG_NOTE, "recording %.*s", (int)program.size, program.data);
    }
    return has_ended;
}

static const char *tell_end(void *context) {
    live *recording = context;
    recording->has_told_end = true;
    cli_warn_of_recording(&recording->report);
    if (recording->status != SB_OK) {
        sb_log(SB_LOG_ERROR, "%s", recording->error.message);
        return recording->error.message;
    }
    sb_log(SB_LOG_NOTE, "the recording has ended and is in %s%s", recording->options.output,
           recording->stop != 0 ? "" : "; Ctrl-C ends the viewer");
    return recording->report.ending_text[0] == '\0' ? NULL : recording->report.ending_text;
}

/* Before the page goes, so that it shows all to the end. */
static void end_recording(void *context) {
    live *recording = context;
    recording->stop = 1;
    pthread_join(recording->thread, NULL);
}

sb_status cli_view_live(const cli_view_arguments *arguments, const char *address, int *exit_code,
                        sb_error *error) {
    char host[256];
    char path[64];
    char name[CLI_VIEW_NAME_SIZE];
    live recording = {.options = {.flavour = -1,
                                  .origin = SB_SLICE("strobe " STROBE_VERSION " view --live"),
                                  .sync_seconds = 1,
                                  .memory_bytes = UINT64_C(1) << 30,
                                  .output = arguments->output,
                                  .replace = arguments->replaces,
                                  .began = keep_trace}};
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
    cli_view_name(recording.options.output, name);
    const cli_view_growing growing = {.name = name,
                                      .look = look,
                                      .tell_end = tell_end,
                                      .end = end_recording,
                                      .context = &recording};
    sb_status status = cli_view_follow(&growing, arguments, error);
    if (status == SB_OK && recording.status != SB_OK && !recording.has_told_end) {
        *error = recording.error;
        status = recording.status;
    }
    if (status == SB_OK && recording.trace != NULL && !recording.has_told_end)
        tell_end(&recording);
    if (cli_recording_is_partial(&recording.report))
        *exit_code = SB_EXIT_PARTIAL;
    sb_trace_free(recording.trace);
    pthread_mutex_destroy(&recording.lock);
    return status;
}
