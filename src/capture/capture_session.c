#include "capture/capture_session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture_stream.h"

enum {
    FRAME_MS = 100,    /* how long to wait for a frame before looking at the clock */
    SEND_MS = 10000,   /* for questions to be taken */
    SLOW_MS = 1000,    /* for the slow answers, before we say that we go */
    ANSWERS_MS = 5000, /* for the last answers, once the program has ended */
    QUERIES_AT_ONCE = 1024,
    SPARE_QUESTIONS = 4,
    NS_PER_MS = 1000000,
    PATH_SIZE = 4096,
};

typedef enum session_phase {
    SESSION_RECORDS,
    SESSION_SLOW_ANSWERS, /* we were told to stop: waits for answers that take long */
    SESSION_CUT,          /* the program was told: sends answers only */
    SESSION_OVER,
} session_phase;

typedef struct session {
    const sb_capture_options *options;
    capture_peer *peer;
    sb_capture_report *report;
    capture_stream stream;
    capture_questions questions;
    capture_model model;
    sb_wire_decoder *decoder;
    sb_trace *trace;
    sb_vector asked; /* uint64_t: locations that are asked for by the next packet */
    sb_journal_writer journal;
    pthread_mutex_t journal_lock;
    const char *journal_path;
    session_phase phase;
    int64_t phase_start;
    int64_t ended_at; /* when the program said that it ends; 0: not yet */
    int64_t last_progress;
    /* forces the journal to the disk now and then */
    pthread_t syncer;
    pthread_mutex_t sync_lock;
    pthread_cond_t sync_stop;
    bool is_syncing;
} session;

/* ---- the journal ---- */

static void *sync_journal(void *context) {
    session *of = context;
    const int64_t ns_per_second = 1000000000;
    const int64_t interval = (int64_t)(of->options->sync_seconds * 1e9);
    pthread_mutex_lock(&of->sync_lock);
    while (of->is_syncing) {
        const int64_t next = sb_clock_ns() + interval;
        const struct timespec until = {next / ns_per_second, next % ns_per_second};
        pthread_cond_timedwait(&of->sync_stop, &of->sync_lock, &until);
        pthread_mutex_unlock(&of->sync_lock);
        sb_journal_sync(&of->journal, NULL); /* what cannot be written shows when appending */
        pthread_mutex_lock(&of->sync_lock);
    }
    pthread_mutex_unlock(&of->sync_lock);
    return NULL;
}

static void start_syncing(session *of) {
    pthread_condattr_t clock;
    pthread_mutex_init(&of->sync_lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&of->sync_stop, &clock);
    pthread_condattr_destroy(&clock);
    of->is_syncing = true;
    if (pthread_create(&of->syncer, NULL, sync_journal, of) != 0)
        of->is_syncing = false;
}

static void stop_syncing(session *of) {
    pthread_mutex_lock(&of->sync_lock);
    const bool was_syncing = of->is_syncing;
    of->is_syncing = false;
    pthread_cond_signal(&of->sync_stop);
    pthread_mutex_unlock(&of->sync_lock);
    if (was_syncing)
        pthread_join(of->syncer, NULL);
    pthread_mutex_destroy(&of->sync_lock);
    pthread_cond_destroy(&of->sync_stop);
}

static sb_status open_journal(session *of, const sb_journal_start *start, sb_error *error) {
    struct stat status;
    if (!of->options->replace && stat(of->options->output, &status) == 0)
        SB_FAIL(error, SB_ERR_USAGE, "%s exists; -f replaces it", of->options->output);
    SB_TRY(sb_journal_create(&of->journal, of->journal_path, of->options->replace, error));
    return sb_journal_append_start(&of->journal, start, error);
}

static sb_status journal_append(session *of, sb_journal_kind kind, sb_slice content,
                                sb_error *error) {
    pthread_mutex_lock(&of->journal_lock);
    const sb_status status = sb_journal_append(&of->journal, kind, content, error);
    pthread_mutex_unlock(&of->journal_lock);
    return status;
}

/* ---- questions ---- */

static void set_ending(session *of, sb_journal_ending ending, const char *text) {
    of->report->ending = ending;
    snprintf(of->report->ending_text, sizeof of->report->ending_text, "%s", text);
    of->phase = SESSION_OVER;
}

static bool send_query(session *of, sb_wire_query_kind kind) {
    const sb_wire_query query = {.kind = kind};
    uint8_t bytes[SB_WIRE_QUERY_SIZE];
    sb_wire_query_encode(of->model.protocol, &query, bytes);
    return sb_socket_write(of->peer->socket, bytes, sizeof bytes, SEND_MS);
}

/* What is asked is in the journal before the answer can come. */
static void send_questions(session *of) {
    uint8_t bytes[QUERIES_AT_ONCE * SB_WIRE_QUERY_SIZE];
    for (;;) {
        sb_error error = {0};
        sb_vector_clear(&of->asked);
        const size_t count = capture_questions_take(&of->questions, of->model.protocol, bytes,
                                                    QUERIES_AT_ONCE, &of->asked);
        if (count == 0)
            return;
        const sb_slice tokens = {of->asked.data, of->asked.count * sizeof(uint64_t)};
        if (tokens.size > 0 && journal_append(of, SB_JOURNAL_ASKED, tokens, &error) != SB_OK) {
            set_ending(of, SB_JOURNAL_CUT, error.message);
            return;
        }
        /* A connection that takes nothing more ends when reading finds out. */
        if (!sb_socket_write(of->peer->socket, bytes, count * SB_WIRE_QUERY_SIZE, SEND_MS))
            return;
    }
}

/* ---- the end ---- */

static int64_t in_phase_ms(const session *of) {
    return (sb_clock_ns() - of->phase_start) / NS_PER_MS;
}

static void enter_phase(session *of, session_phase phase) {
    of->phase = phase;
    of->phase_start = sb_clock_ns();
}

static bool is_time_over(const session *of) {
    const double ns_per_second = 1e9;
    const double passed = (double)(sb_clock_ns() - of->peer->clock_ns) / ns_per_second;
    if (capture_is_stopped(of->options))
        return true;
    return of->options->seconds > 0 && passed >= of->options->seconds;
}

static bool is_memory_over(const session *of) {
    const uint64_t percent = 100;
    return of->options->memory_percent > 0 &&
           of->report->last.memory_bytes >
               capture_machine_memory() / percent * of->options->memory_percent;
}

/* Why the ending of a recording is not as planned: nothing, if all answers have come. */
static const char *missing_answers(const session *of) {
    return capture_questions_done(&of->questions)
               ? ""
               : "the program did not answer all questions: some names are missing";
}

/* The program has ended by itself: only answers are missing. */
static void finish_answers(session *of) {
    if (of->ended_at == 0)
        of->ended_at = sb_clock_ns();
    const bool is_late = (sb_clock_ns() - of->ended_at) / NS_PER_MS > ANSWERS_MS;
    if (!capture_questions_done(&of->questions) && !is_late)
        return;
    set_ending(of, of->phase == SESSION_CUT ? SB_JOURNAL_STOPPED : SB_JOURNAL_PROGRAM_ENDED,
               missing_answers(of));
}

static void go_on(session *of) {
    if (of->phase == SESSION_OVER)
        return;
    if (of->model.has_ended) {
        finish_answers(of);
        return;
    }
    if (of->phase == SESSION_RECORDS && (is_time_over(of) || is_memory_over(of))) {
        of->questions.no_slow = true;
        enter_phase(of, SESSION_SLOW_ANSWERS);
    }
    if (of->phase == SESSION_SLOW_ANSWERS &&
        (of->questions.open_slow == 0 || in_phase_ms(of) > SLOW_MS)) {
        of->questions.open -= of->questions.open_slow; /* these will not come any more */
        of->questions.open_slow = 0;
        enter_phase(of, SESSION_CUT);
        if (!send_query(of, SB_WIRE_ASK_DISCONNECT))
            set_ending(of, SB_JOURNAL_STOPPED, "");
    }
    /* Some programs on demand do not say that they have heard it. */
    const int64_t patience_ms = capture_questions_done(&of->questions) ? SLOW_MS : ANSWERS_MS;
    if (of->phase == SESSION_CUT && in_phase_ms(of) > patience_ms)
        set_ending(of, SB_JOURNAL_STOPPED, missing_answers(of));
}

static void take_stream_end(session *of, capture_stream_end end, const sb_error *error) {
    switch (end) {
    case CAPTURE_STREAM_CLOSED:
        if (of->model.has_ended)
            set_ending(of, SB_JOURNAL_PROGRAM_ENDED, "");
        else
            set_ending(of, SB_JOURNAL_CUT, "the program closed the connection before its end");
        break;
    case CAPTURE_STREAM_MALFORMED:
        set_ending(of, SB_JOURNAL_MALFORMED, error->message);
        break;
    default:
        set_ending(of, SB_JOURNAL_CUT, error->message);
    }
}

/* ---- the loop ---- */

static void tell_progress(session *of) {
    enum { INTERVAL_MS = 100 };
    sb_capture_progress *last = &of->report->last;
    const int64_t now = sb_clock_ns();
    const double ns_per_second = 1e9;
    if (now - of->last_progress < (int64_t)INTERVAL_MS * NS_PER_MS)
        return;
    of->last_progress = now;
    last->is_connected = true;
    last->seconds = (double)(now - of->peer->clock_ns) / ns_per_second;
    last->zones = of->model.zones;
    last->events = of->model.events;
    last->span_ns = of->model.last_ns;
    last->questions_open = of->questions.open;
    last->memory_bytes = capture_process_memory();
    capture_stream_counts(&of->stream, &last->wire_bytes, &last->stream_bytes,
                          &last->frames_waiting);
    if (of->options->progress != NULL)
        of->options->progress(of->options->context, last);
}

static void take_frame(session *of, sb_slice frame) {
    sb_error error = {0};
    if (sb_wire_decode(of->decoder, frame, &error) != SB_OK)
        set_ending(of, SB_JOURNAL_MALFORMED, error.message);
    of->model.protocol = sb_wire_decoder_protocol(of->decoder);
    capture_stream_give_back(&of->stream);
}

static void run_loop(session *of) {
    while (of->phase != SESSION_OVER) {
        sb_slice frame = {0};
        sb_error error = {0};
        if (capture_stream_next(&of->stream, &frame, FRAME_MS)) {
            take_frame(of, frame);
        } else {
            const capture_stream_end end = capture_stream_ended(&of->stream, &error);
            if (end != CAPTURE_STREAM_RUNS)
                take_stream_end(of, end, &error);
        }
        if (of->phase != SESSION_OVER)
            send_questions(of);
        go_on(of);
        tell_progress(of);
    }
}

/* ---- a whole session ---- */

static void describe_start(const capture_peer *peer, sb_journal_start *start) {
    *start = (sb_journal_start){.protocol = sb_wire_protocol_number(peer->protocol),
                                .flavour = sb_wire_protocol_flavour(peer->protocol),
                                .is_certain = peer->is_certain,
                                .wall_ns = (uint64_t)peer->wall_ns,
                                .clock_ns = (uint64_t)peer->clock_ns,
                                .welcome = peer->welcome,
                                .on_demand = peer->on_demand};
    snprintf(start->address, sizeof start->address, "%.48s:%u", peer->host, peer->port);
}

static void find_folder(const char *path, char folder[PATH_SIZE]) {
    snprintf(folder, PATH_SIZE, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        snprintf(folder, PATH_SIZE, ".");
    else
        slash[slash == folder ? 1 : 0] = '\0';
}

/* What does not fit into memory goes where the trace will be. */
static sb_status make_trace(session *of, sb_error *error) {
    char folder[PATH_SIZE];
    find_folder(of->options->output, folder);
    const sb_trace_bound bound = {.bytes = of->options->memory_bytes, .folder = folder};
    if (bound.bytes == 0) {
        of->trace = sb_trace_create();
        return SB_OK;
    }
    return sb_trace_create_bounded(&bound, &of->trace, error);
}

static void start_session(session *of) {
    const size_t room = sb_socket_send_room(of->peer->socket) / SB_WIRE_QUERY_SIZE;
    capture_questions_init(&of->questions, false);
    if (room > SPARE_QUESTIONS && room - SPARE_QUESTIONS < of->questions.open_max)
        of->questions.open_max = room - SPARE_QUESTIONS;
    capture_model_init(&of->model, of->trace, of->peer->protocol, &of->peer->welcome,
                       &of->peer->on_demand, &of->questions);
    const sb_wire_handler handler = capture_model_handler(&of->model);
    of->decoder = sb_wire_decoder_create(of->peer->protocol, of->peer->is_certain, &handler);
    of->asked = sb_vector_of(sizeof(uint64_t));
    pthread_mutex_init(&of->journal_lock, NULL);
    start_syncing(of);
    capture_stream_start(&of->stream, of->peer->socket, &of->journal, &of->journal_lock);
}

static void end_session(session *of) {
    const uint8_t ending = (uint8_t)of->report->ending;
    const double ns_per_second = 1e9;
    send_query(of, SB_WIRE_ASK_TERMINATE);
    of->last_progress = 0;
    tell_progress(of);
    of->report->last.seconds = (double)(sb_clock_ns() - of->peer->clock_ns) / ns_per_second;
    capture_stream_stop(&of->stream);
    stop_syncing(of);
    journal_append(of, SB_JOURNAL_END, (sb_slice){(const char *)&ending, 1}, NULL);
    sb_journal_sync(&of->journal, NULL);
    sb_journal_close(&of->journal);
    pthread_mutex_destroy(&of->journal_lock);
    of->report->protocol = sb_wire_protocol_name(of->model.protocol);
    capture_model_finish(&of->model);
    capture_count_all(&of->model, of->report);
    capture_note_losses(&of->model, of->report);
    of->report->spill_failure = of->trace->store == NULL ? 0 : sb_store_failure(of->trace->store);
    sb_wire_decoder_free(of->decoder);
    capture_model_free(&of->model);
    capture_questions_free(&of->questions);
    sb_vector_free(&of->asked);
}

static const char *name_journal(const sb_capture_options *options, char path[PATH_SIZE]) {
    if (options->journal != NULL)
        return options->journal;
    snprintf(path, PATH_SIZE, "%s.journal", options->output);
    return path;
}

sb_status capture_record(const sb_capture_options *options, capture_peer *peer,
                         sb_capture_report *report, sb_error *error) {
    char default_path[PATH_SIZE];
    session *of = sb_alloc_zeroed(1, sizeof *of);
    of->options = options;
    of->peer = peer;
    of->report = report;
    of->journal.descriptor = -1;
    of->journal_path = name_journal(options, default_path);
    sb_journal_start start;
    describe_start(peer, &start);
    capture_describe(report, &start);
    sb_status status = open_journal(of, &start, error);
    if (status == SB_OK)
        status = make_trace(of, error);
    if (status == SB_OK) {
        if (options->origin.size > 0)
            sb_trace_add_origin(of->trace, options->origin);
        start_session(of);
        if (options->began != NULL)
            options->began(options->context, of->trace);
        run_loop(of);
        end_session(of);
        close(peer->socket);
        status = capture_write_trace(options, of->trace, of->journal_path, report, error);
    } else {
        close(peer->socket);
        sb_journal_close(&of->journal);
    }
    if (options->began == NULL)
        sb_trace_free(of->trace);
    free(of);
    return status;
}

/*
 * Most programs can be recorded once: whatever would keep the files from being made has to be found
 * before a program has been connected to.
 */
static sb_status check_paths(const sb_capture_options *options, sb_error *error) {
    char path[PATH_SIZE];
    char folder[PATH_SIZE];
    struct stat status;
    const char *output = options->output;
    if (output[0] == '\0')
        SB_FAIL(error, SB_ERR_USAGE, "the name of the trace is empty");
    if (stat(output, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            SB_FAIL(error, SB_ERR_USAGE, "%s is a folder, a file is expected", output);
        if (!options->replace)
            SB_FAIL(error, SB_ERR_USAGE, "%s exists; -f replaces it", output);
    }
    const char *journal = name_journal(options, path);
    if (!options->replace && stat(journal, &status) == 0)
        SB_FAIL(error, SB_ERR_USAGE,
                "%s exists and may hold a recording: `strobe recover` reads it, -f replaces it",
                journal);
    find_folder(journal, folder);
    if (access(folder, W_OK | X_OK) != 0)
        SB_FAIL(error, SB_ERR_IO, "%s: cannot be created: %s", journal, strerror(errno));
    return SB_OK;
}

sb_status sb_capture_run(const sb_capture_options *options, sb_capture_report *report,
                         sb_error *error) {
    capture_peer peer;
    *report = (sb_capture_report){0};
    SB_TRY(check_paths(options, error));
    SB_TRY(capture_find(options, &peer, error));
    return capture_record(options, &peer, report, error);
}
