/*
 * Several programs at once: a session thread for each, and a list of them on disk.
 */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture_connect.h"
#include "capture/capture_session.h"

enum {
    PROGRAMS_MAX = 256, /* recorded at the same time */
    PORTS_MAX = 65536,
    LOOK_MS = 200,     /* between two looks for programs */
    REFUSED_MS = 5000, /* a port that refused is left alone so long */
    LINGER_MS = 1000,  /* after the last program has ended */
    NAME_SIZE = 48,
    PATH_SIZE = 4096,
    NS_PER_MS = 1000000,
    FOLDER_MODE = 0755,
};

/* A program that is, or was, recorded. */
typedef struct follower {
    pthread_t thread;
    sb_capture_options options;
    capture_peer peer;
    sb_capture_report report;
    sb_status status;
    sb_error error;
    char path[PATH_SIZE];
    bool is_done; /* atomic: set by the thread when all else is */
    bool is_joined;
} follower;

typedef struct gathering {
    const sb_capture_options *options;
    sb_capture_session *session;
    sb_vector followers;   /* follower * */
    int64_t *silent_until; /* by port: not to be tried before */
    int64_t started_wall_ns;
    int64_t started_ns;
    int64_t last_seen_ns; /* when a program was last there */
    bool is_listed;       /* session.json is up to date */
    sb_error refusal;     /* why the last program that refused did so */
} gathering;

static follower *follower_at(const gathering *of, size_t index) {
    return *(follower **)sb_vector_at(&of->followers, index);
}

/* ---- names of files ---- */

/* A name that is a file's name on any system, whatever the program calls itself. */
static void clean_name(const char *program, char name[NAME_SIZE]) {
    size_t size = 0;
    for (const char *p = program; *p != '\0' && size < NAME_SIZE - 1; p++) {
        const bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                              (*p >= '0' && *p <= '9') || *p == '-' || *p == '_' ||
                              (*p == '.' && size > 0);
        name[size++] = *p;
        if (!is_plain)
            name[size - 1] = '_';
    }
    if (size == 0)
        name[size++] = '_';
    name[size] = '\0';
}

static void choose_path(const gathering *of, const capture_peer *peer, char path[PATH_SIZE]) {
    char name[NAME_SIZE];
    struct stat status;
    clean_name(peer->welcome.program, name);
    const unsigned long long pid = peer->welcome.process_id;
    snprintf(path, PATH_SIZE, "%s/%s-%llu.tracy", of->options->output, name, pid);
    for (unsigned i = 2; stat(path, &status) == 0; i++)
        snprintf(path, PATH_SIZE, "%s/%s-%llu-%u.tracy", of->options->output, name, pid, i);
}

/* ---- the list ---- */

static json_t *text_json(const char *text) {
    sb_arena arena = {0};
    const sb_slice clean = sb_utf8_clean(&arena, sb_slice_of(text));
    json_t *made = json_stringn(clean.data, clean.size);
    sb_arena_free(&arena);
    return made;
}

static const char *state_of(const follower *each) {
    if (!each->is_joined)
        return "recording";
    if (each->status != SB_OK)
        return "failed";
    return each->report.ending == SB_JOURNAL_CUT || each->report.ending == SB_JOURNAL_MALFORMED
               ? "cut"
               : "done";
}

/* What later tools need to put the traces on one time line. */
static json_t *follower_json(const follower *each) {
    const char *slash = strrchr(each->path, '/');
    const capture_peer *peer = &each->peer;
    json_t *entry = json_object();
    json_object_set_new(entry, "file", text_json(slash == NULL ? each->path : slash + 1));
    json_object_set_new(entry, "state", json_string(state_of(each)));
    json_object_set_new(entry, "program", text_json(peer->welcome.program));
    json_object_set_new(entry, "process_id", json_integer((json_int_t)peer->welcome.process_id));
    json_object_set_new(entry, "host_info", text_json(peer->welcome.host));
    json_object_set_new(entry, "port", json_integer(peer->port));
    json_object_set_new(entry, "protocol", json_string(sb_wire_protocol_name(peer->protocol)));
    json_object_set_new(entry, "program_start_s", json_integer((json_int_t)peer->welcome.epoch));
    json_object_set_new(entry, "connected_wall_ns", json_integer((json_int_t)peer->wall_ns));
    json_object_set_new(entry, "connected_clock_ns", json_integer((json_int_t)peer->clock_ns));
    json_object_set_new(entry, "zero_tick", json_integer((json_int_t)peer->welcome.init_begin));
    json_object_set_new(entry, "ns_per_tick", json_real(peer->welcome.timer_multiplier));
    if (!each->is_joined)
        return entry; /* the rest belongs to its thread */
    json_object_set_new(entry, "zones", json_integer((json_int_t)each->report.last.zones));
    if (each->status != SB_OK)
        json_object_set_new(entry, "error", text_json(each->error.message));
    return entry;
}

static sb_status write_list(gathering *of, sb_error *error) {
    char path[PATH_SIZE];
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%s/session.json", of->options->output);
    json_t *list = json_object();
    json_t *programs = json_array();
    json_object_set_new(list, "schema", json_string("strobe.session"));
    json_object_set_new(list, "schema_version", json_integer(1));
    json_object_set_new(list, "host", text_json(host));
    json_object_set_new(list, "started_wall_ns", json_integer((json_int_t)of->started_wall_ns));
    json_object_set_new(list, "started_clock_ns", json_integer((json_int_t)of->started_ns));
    for (size_t i = 0; i < of->followers.count; i++)
        json_array_append_new(programs, follower_json(follower_at(of, i)));
    json_object_set_new(list, "programs", programs);
    char *text = json_dumps(list, JSON_INDENT(2));
    json_decref(list);
    sb_output output;
    sb_status status = sb_output_to_file(&output, path, error);
    if (status == SB_OK) {
        sb_put_text(&output, text);
        sb_put_char(&output, '\n');
        status = sb_output_finish(&output, error);
    }
    free(text);
    of->is_listed = true;
    return status;
}

/* ---- following ---- */

static void *follow(void *context) {
    follower *each = context;
    each->status = capture_record(&each->options, &each->peer, &each->report, &each->error);
    __atomic_store_n(&each->is_done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void add_follower(gathering *of, const capture_peer *peer) {
    follower *each = sb_alloc_zeroed(1, sizeof *each);
    each->peer = *peer;
    each->options = *of->options;
    each->options.progress = NULL;
    each->options.journal = NULL;
    choose_path(of, peer, each->path);
    each->options.output = each->path;
    *(follower **)sb_vector_push(&of->followers) = each;
    of->is_listed = false;
    if (pthread_create(&each->thread, NULL, follow, each) == 0)
        return;
    close(each->peer.socket);
    each->status = sb_error_set(&each->error, SB_ERR_LIMIT, "no thread could be started");
    each->is_done = true;
    each->is_joined = true;
}

static bool is_followed(const gathering *of, uint16_t port) {
    for (size_t i = 0; i < of->followers.count; i++) {
        const follower *each = follower_at(of, i);
        if (!each->is_joined && each->peer.port == port)
            return true;
    }
    return false;
}

static size_t count_running(const gathering *of) {
    size_t running = 0;
    for (size_t i = 0; i < of->followers.count; i++)
        running += follower_at(of, i)->is_joined ? 0 : 1;
    return running;
}

static void join_ended(gathering *of) {
    for (size_t i = 0; i < of->followers.count; i++) {
        follower *each = follower_at(of, i);
        if (each->is_joined || !__atomic_load_n(&each->is_done, __ATOMIC_ACQUIRE))
            continue;
        pthread_join(each->thread, NULL);
        each->is_joined = true;
        of->is_listed = false;
    }
}

static void try_port(gathering *of, const capture_ear *ear, uint16_t port) {
    capture_peer peer;
    sb_error error = {0};
    const int64_t now = sb_clock_ns();
    if (port == 0 || is_followed(of, port) || now < of->silent_until[port] ||
        count_running(of) >= PROGRAMS_MAX || capture_is_stopped(of->options))
        return;
    switch (capture_try(of->options, port, capture_ear_protocol(ear, port), &peer, &error)) {
    case CAPTURE_WELCOMED:
        add_follower(of, &peer);
        break;
    case CAPTURE_REFUSED:
        of->refusal = error;
        of->silent_until[port] = now + (int64_t)REFUSED_MS * NS_PER_MS;
        break;
    default:
        break;
    }
}

static void look_around(gathering *of, capture_ear *ear) {
    capture_ear_listen(ear);
    for (unsigned i = 0; i < SB_WIRE_PORT_COUNT; i++)
        try_port(of, ear, (uint16_t)(SB_WIRE_PORT + i));
    for (size_t i = 0; i < ear->heard.count; i++) {
        const sb_wire_announcement *entry = sb_vector_at(&ear->heard, i);
        if (entry->active_seconds >= 0)
            try_port(of, ear, entry->port);
    }
}

/* ---- the whole ---- */

static bool is_over(gathering *of) {
    const double ns_per_second = 1e9;
    const int64_t now = sb_clock_ns();
    const double passed = (double)(now - of->started_ns) / ns_per_second;
    if (capture_is_stopped(of->options))
        return true;
    if (of->options->seconds > 0 && passed >= of->options->seconds)
        return true;
    if (count_running(of) > 0)
        of->last_seen_ns = now;
    if (of->followers.count == 0)
        return of->options->wait_seconds > 0 && passed >= of->options->wait_seconds;
    return of->options->seconds <= 0 && now - of->last_seen_ns > (int64_t)LINGER_MS * NS_PER_MS;
}

/* Sessions end by the same stop and the same limit; they only need to be waited for. */
static void await_all(gathering *of) {
    for (size_t i = 0; i < of->followers.count; i++) {
        follower *each = follower_at(of, i);
        if (!each->is_joined)
            pthread_join(each->thread, NULL);
        each->is_joined = true;
        of->is_listed = false;
    }
}

static void hand_over(gathering *of) {
    for (size_t i = 0; i < of->followers.count; i++) {
        follower *each = follower_at(of, i);
        *(sb_capture_report *)sb_vector_push(&of->session->reports) = each->report;
        char *path = sb_alloc(strlen(each->path) + 1);
        memcpy(path, each->path, strlen(each->path) + 1);
        *(char **)sb_vector_push(&of->session->paths) = path;
        of->session->failed += each->status == SB_OK ? 0 : 1;
        free(each);
    }
    sb_vector_free(&of->followers);
    free(of->silent_until);
}

sb_status sb_capture_all(const sb_capture_options *options, sb_capture_session *session,
                         sb_error *error) {
    *session = (sb_capture_session){.reports = sb_vector_of(sizeof(sb_capture_report)),
                                    .paths = sb_vector_of(sizeof(char *))};
    const bool is_new = mkdir(options->output, FOLDER_MODE) == 0;
    if (!is_new && errno != EEXIST)
        SB_FAIL(error, SB_ERR_IO, "%s: cannot be made: %s", options->output, strerror(errno));
    gathering of = {.options = options,
                    .session = session,
                    .followers = sb_vector_of(sizeof(follower *)),
                    .silent_until = sb_alloc_zeroed(PORTS_MAX, sizeof(int64_t)),
                    .started_wall_ns = sb_wall_ns(),
                    .started_ns = sb_clock_ns(),
                    .is_listed = true};
    sb_status status = SB_OK;
    capture_ear ear;
    capture_ear_open(&ear);
    while (!is_over(&of) && status == SB_OK) {
        look_around(&of, &ear);
        join_ended(&of);
        if (!of.is_listed)
            status = write_list(&of, error);
        poll(NULL, 0, LOOK_MS);
    }
    capture_ear_close(&ear);
    await_all(&of);
    const bool found_none = of.followers.count == 0;
    if (status == SB_OK && !found_none)
        status = write_list(&of, error);
    const sb_error refusal = of.refusal;
    hand_over(&of);
    if (status != SB_OK || !found_none)
        return status;
    if (is_new)
        rmdir(options->output);
    const bool is_refused = refusal.status != SB_OK;
    SB_FAIL(error, SB_ERR_NOT_FOUND, "no profiled program was found%s%s", is_refused ? "; " : "",
            is_refused ? refusal.message : "");
}

void sb_capture_session_free(sb_capture_session *session) {
    for (size_t i = 0; i < session->paths.count; i++)
        free(*(char **)sb_vector_at(&session->paths, i));
    sb_vector_free(&session->paths);
    sb_vector_free(&session->reports);
}
