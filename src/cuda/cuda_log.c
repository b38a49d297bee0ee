/*
 * Zones, data, events and sums as rows of a CSV file (STROBE_CUDA_LOG). Times are nanoseconds of
 * the host's clock; zones are written when they have ended.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <strobe/strobe.h>

#include "cuda/cuda_context.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *log_file;
static bool is_tried;

/* The file, made when it is first wanted; NULL: none is wanted or can be had. With the lock. */
static FILE *open_log(void) {
    const char *path = cuda_options_get()->log;
    if (!is_tried && path[0] != '\0') {
        log_file = fopen(path, "we");
        if (log_file == NULL)
            cuda_say("%s: cannot be written: %s", path, strerror(errno));
        else
            fputs("device,sm,launch,program,block_x,block_y,block_z,warp,kind,name,file,line,"
                  "begin_ns,end_ns,value,times\n",
                  log_file);
    }
    is_tried = true;
    return log_file;
}

static const char *kind_text(const cuda_event *event) {
    static const char *const texts[] = {"", "zone", "span", "data", "event", "sum"};
    return event->is_main ? "main" : texts[event->kind];
}

/* Names may hold anything. */
static void put_text(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void put_event(FILE *file, cuda_context *context, const cuda_event *event) {
    static const sb_source_location none = {"", "", "", 0, 0};
    const bool is_zone = event->kind == CUDA_END || event->kind == CUDA_WHOLE_SPAN;
    const cuda_sync_line *line = &context->sync.line;
    const sb_source_location *place =
        event->kind == CUDA_NUMBER ? &none : cuda_context_place(context, event->place);
    const cuda_owner *owner = &event->owner;
    fprintf(file, "%d,%u,%" PRIu64 ",%u,%u,%u,%u,%u,%s,", context->device, owner->sm, owner->launch,
            owner->program, owner->block[0], owner->block[1], owner->block[2], owner->warp,
            kind_text(event));
    put_text(file, place->name);
    fputc(',', file);
    put_text(file, place->file);
    fprintf(file, ",%u,%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n", place->line,
            cuda_sync_host(line, is_zone ? event->begin : event->time),
            cuda_sync_host(line, is_zone ? event->end : event->time),
            event->kind == CUDA_NUMBER ? event->place : event->value, event->times);
}

void cuda_log_event(cuda_context *context, const cuda_event *event) {
    if (event->kind == CUDA_BEGIN || cuda_options_get()->log[0] == '\0')
        return;
    pthread_mutex_lock(&log_lock);
    FILE *file = open_log();
    if (file != NULL)
        put_event(file, context, event);
    pthread_mutex_unlock(&log_lock);
}

/* With the lock. */
static void flush(void) {
    if (log_file != NULL && (fflush(log_file) != 0 || ferror(log_file) != 0)) {
        cuda_say("%s: cannot be written: %s", cuda_options_get()->log, strerror(errno));
        fclose(log_file);
        log_file = NULL;
    }
}

void cuda_log_flush(void) {
    pthread_mutex_lock(&log_lock);
    flush();
    pthread_mutex_unlock(&log_lock);
}

void cuda_log_before_fork(void) {
    pthread_mutex_lock(&log_lock);
    flush();
}

void cuda_log_after_fork(void) {
    pthread_mutex_unlock(&log_lock);
}
