/* One reader: lanes to events, events to bytes, questions to answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/client_reader.h"

enum {
    CHUNKS_AT_ONCE = 16, /* of one lane, before the others and the questions have their turn */
    QUERIES_AT_ONCE = 1024,
    CALIBRATION_MS = 100, /* how far the two readings of the clocks should be apart */
    KEEP_ALIVE_MS = 5000,
    /* Recorders of Tracy's end at 32767 locations of either kind; the rest share one. */
    LOCATIONS_MAX = 32000,
};

static const char rest_name[] = "(further source locations)";

typedef struct client_session {
    int descriptor;
    const sb_wire_protocol *protocol;
    sb_wire_encoder *encoder;
    sb_record_translator translator;
    int64_t deadline_ms; /* when stopping: how long the reader may take; 0: no limit yet */
    int64_t sent_ms;
    bool is_over;      /* the reader is gone or wants nothing more */
    bool answers_only; /* it asked for the end */
    bool has_told_limit;
    sb_map dynamic_locations; /* by hash: those the reader has */
    sb_map static_locations;
    uint64_t rest_token;
    uint8_t asked[QUERIES_AT_ONCE * SB_WIRE_QUERY_SIZE];
    size_t asked_size;
} client_session;

/* What is known lasts longer than a session. */
static sb_record_names *all_names;

/* ---- sending ---- */

static void note_stopping(client_session *session) {
    if (session->deadline_ms == 0 && client_is_stopping())
        session->deadline_ms = client_clock_ms() + client_global.options.exit_timeout_ms;
}

/* Can we wait on? Sets how long at most. */
static bool may_wait(client_session *session, int *timeout_ms) {
    note_stopping(session);
    *timeout_ms = -1;
    if (session->deadline_ms == 0)
        return true;
    const int64_t left = session->deadline_ms - client_clock_ms();
    *timeout_ms = left > 0 ? (int)left : 0;
    return left > 0;
}

static bool send_all(void *context, const void *bytes, size_t size) {
    client_session *session = context;
    const char *at = bytes;
    while (size > 0) {
        const ssize_t part = send(session->descriptor, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (part > 0) {
            at += part;
            size -= (size_t)part;
            continue;
        }
        int timeout_ms = 0;
        if (part < 0 && errno == EINTR)
            continue;
        if (part == 0 || errno != EAGAIN || !may_wait(session, &timeout_ms)) {
            session->is_over = true;
            return false;
        }
        client_wait(&session->descriptor, 1, true, timeout_ms);
    }
    session->sent_ms = client_clock_ms();
    return true;
}

static void flush(client_session *session) {
    sb_record_flush(&session->translator);
    if (!sb_wire_encoder_flush(session->encoder))
        session->is_over = true;
}

/* ---- what the reader cannot hold ---- */

static void tell_limit(client_session *session, int64_t ticks, uint32_t thread) {
    enum { WARNING_OF_THE_CLIENT = 0x31 };
    static const char text[] = "strobe: more than 32000 source locations; the rest are shown as "
                               "\"(further source locations)\" and keep their names as zone names";
    if (session->has_told_limit)
        return;
    session->has_told_limit = true;
    sb_wire_encode(session->encoder, &(sb_wire_event){.kind = SB_WIRE_MESSAGE,
                                                      .time = ticks,
                                                      .thread = thread,
                                                      .metadata = WARNING_OF_THE_CLIENT,
                                                      .text = SB_SLICE(text)});
}

/* May this location go to the reader, who holds only so many? */
static bool has_place(sb_map *known, uint64_t key) {
    if (sb_map_get(known, key) != 0)
        return true;
    return known->count < LOCATIONS_MAX && sb_map_set(known, key, 1);
}

static bool has_dynamic_place(client_session *session, const sb_wire_event *event) {
    uint64_t hash = sb_hash_text(event->line + ((uint64_t)event->colour << 32), event->text);
    hash = sb_hash_text(hash, event->function_text);
    hash = sb_hash_text(hash, event->file_text);
    return has_place(&session->dynamic_locations, sb_hash_number(hash) | 1);
}

/* A dynamic zone that must share a location with others keeps its name as its own. */
static void send_folded(client_session *session, const sb_wire_event *event) {
    sb_wire_event folded = *event;
    folded.text = (sb_slice)SB_SLICE(rest_name);
    folded.function_text = folded.text;
    folded.file_text = (sb_slice){0};
    folded.line = 0;
    folded.colour = 0;
    tell_limit(session, event->time, event->thread);
    sb_wire_encode(session->encoder, &folded);
    const sb_slice name = event->text.size > 0 ? event->text : event->function_text;
    if (event->kind == SB_WIRE_ZONE_BEGIN)
        sb_wire_encode(
            session->encoder,
            &(sb_wire_event){.kind = SB_WIRE_ZONE_NAME, .thread = event->thread, .text = name});
}

static uint64_t shared_token(client_session *session) {
    if (session->rest_token == 0) {
        static const sb_source_location place = {rest_name, rest_name, "", 0, 0};
        const sb_record_location location = {
            .name = SB_SLICE(rest_name), .function = SB_SLICE(rest_name), .file = {"", 0}};
        session->rest_token = (uintptr_t)&place;
        sb_record_define_location(all_names, session->rest_token, &location);
    }
    return session->rest_token;
}

/* ---- the translator's events ---- */

static void take_event(void *context, const sb_wire_event *event) {
    client_session *session = context;
    const bool is_begin = event->kind == SB_WIRE_ZONE_BEGIN || event->kind == SB_WIRE_DEVICE_BEGIN;
    if (is_begin && (event->form & SB_WIRE_DYNAMIC) != 0 && !has_dynamic_place(session, event))
        send_folded(session, event);
    else
        sb_wire_encode(session->encoder, event);
}

static void take_zones(void *context, uint32_t thread, const sb_wire_zone *zones, size_t count) {
    client_session *session = context;
    if (!sb_wire_encoder_is_in(session->encoder, thread))
        sb_wire_encode_thread(session->encoder, thread);
    if (sb_record_location_count(all_names) < LOCATIONS_MAX) {
        sb_wire_encode_zones(session->encoder, zones, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        sb_wire_zone zone = zones[i];
        if (zone.token != SB_WIRE_END_ZONE && !has_place(&session->static_locations, zone.token)) {
            zone.token = shared_token(session);
            tell_limit(session, zone.time, thread);
        }
        sb_wire_encode_zones(session->encoder, &zone, 1);
    }
}

/* ---- lanes ---- */

/* How far the chunk that is being read is written: its thread is in it, or has left it for good. */
static uint64_t published_position(const client_lane *lane) {
    const sb_chunk *chunk = lane->reading;
    const uint64_t *at = __atomic_load_n(&lane->front.at, __ATOMIC_ACQUIRE);
    const bool is_inside = (uintptr_t)at - (uintptr_t)chunk->words <= sizeof chunk->words;
    return is_inside ? sb_chunk_position(chunk, at) : UINT64_MAX;
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Translates a lane up to a position, or what is there; true if there was a whole chunk of it. */
static bool drain_lane(sb_record_translator *translator, client_lane *lane, uint64_t position,
                       size_t chunks_max) {
    if (lane->is_draining)
        return false;
    lane->is_draining = true;
    size_t chunks = 0;
    while (chunks < chunks_max) {
        if (lane->reading == NULL) {
            lane->reading = __atomic_load_n(&lane->first, __ATOMIC_ACQUIRE);
            if (lane->reading == NULL)
                break;
            lane->read_at = lane->reading->words;
            lane->record.ticks = lane->reading->ticks;
        }
        const uint64_t goal = earlier(position, published_position(lane));
        if (sb_record_translate(translator, &lane->record, lane->reading, &lane->read_at, goal) !=
            SB_RECORD_CHUNK_ENDED)
            break;
        sb_chunk *next = __atomic_load_n(&lane->reading->next, __ATOMIC_ACQUIRE);
        if (next == NULL)
            break;
        /* What lasts is read again by the next reader. */
        if (lane->id != SB_RECORD_LASTING_LANE)
            client_pool_give(lane->reading);
        lane->reading = next;
        lane->read_at = next->words;
        chunks++;
    }
    lane->is_draining = false;
    return chunks > 0;
}

static void drain_other(void *context, uint32_t id, uint64_t position) {
    client_lane *lane = client_lane_find(id);
    if (lane != NULL)
        drain_lane(context, lane, position, SIZE_MAX);
}

static bool drain_all(sb_record_translator *translator) {
    bool is_any = false;
    client_lane *lasting = client_lane_find(SB_RECORD_LASTING_LANE);
    lasting->record.session = translator->session;
    drain_lane(translator, lasting, UINT64_MAX, SIZE_MAX);
    for (client_lane *lane = client_lanes(); lane != NULL; lane = lane->next)
        is_any |= drain_lane(translator, lane, UINT64_MAX, CHUNKS_AT_ONCE);
    return is_any;
}

/* Losses that a lane has not written down yet, since it had no room; when all is over. */
static void tell_losses(client_session *session) {
    for (client_lane *lane = client_lanes(); lane != NULL; lane = lane->next) {
        for (uint32_t cause = 0; cause < SB_RECORD_CAUSES; cause++) {
            const uint64_t count = __atomic_load_n(&lane->lost[cause], __ATOMIC_RELAXED) -
                                   __atomic_load_n(&lane->told[cause], __ATOMIC_RELAXED);
            if (count > 0 && lane->record.session == session->translator.session)
                sb_record_tell_loss(&session->translator, lane->record.thread, client_now(), count,
                                    cause);
        }
    }
}

static void close_lanes(client_session *session) {
    const int64_t now = client_now();
    for (client_lane *lane = client_lanes(); lane != NULL; lane = lane->next) {
        if (lane->record.session == session->translator.session)
            sb_record_close_lane(&session->translator, &lane->record, now);
    }
    sb_record_close_fibers(&session->translator, now);
}

/* Names are learnt even from records that nobody will see. */
static void ignore_event(void *context, const sb_wire_event *event) {
    (void)context;
    (void)event;
}

static void ignore_zones(void *context, uint32_t thread, const sb_wire_zone *zones, size_t count) {
    (void)context;
    (void)thread;
    (void)zones;
    (void)count;
}

static bool has_names(void) {
    if (all_names == NULL)
        all_names = sb_record_names_create();
    return all_names != NULL;
}

void client_discard(void) {
    sb_record_translator *translator = has_names() ? calloc(1, sizeof *translator) : NULL;
    client_change_session(false);
    if (translator == NULL)
        return;
    translator->names = all_names;
    translator->handler = (sb_wire_handler){NULL, ignore_zones, ignore_event};
    translator->session = CLIENT_NOT_STARTED; /* nobody's */
    while (drain_all(translator)) {
    }
    for (client_lane *lane = client_lanes(); lane != NULL; lane = lane->next)
        sb_record_lane_trim(&lane->record);
    free(translator);
    client_pool_trim();
}

/* ---- questions ---- */

static void run_parameter(const client_session *session, uint64_t token) {
    const sb_parameter_callback callback =
        __atomic_load_n(&client_global.parameter, __ATOMIC_ACQUIRE);
    if (callback != NULL)
        callback(client_global.parameter_data, (uint32_t)(token >> 32), (int32_t)(uint32_t)token);
    sb_wire_encode(session->encoder, &(sb_wire_event){.kind = SB_WIRE_ACK});
}

static void answer(client_session *session, const sb_wire_query *query) {
    if (query->kind == SB_WIRE_ASK_TERMINATE) {
        session->is_over = true;
    } else if (query->kind == SB_WIRE_ASK_DISCONNECT) {
        session->answers_only = true;
        close_lanes(session);
        sb_record_flush(&session->translator);
        sb_wire_encode(session->encoder, &(sb_wire_event){.kind = SB_WIRE_TERMINATE});
    } else if (query->kind == SB_WIRE_ASK_PARAMETER) {
        run_parameter(session, query->token);
    } else {
        sb_record_answer(all_names, query, &session->translator.handler);
    }
}

/* Answers what was asked so far; false: nothing was. */
static bool answer_questions(client_session *session) {
    const size_t room = sizeof session->asked - session->asked_size;
    const ssize_t got =
        recv(session->descriptor, session->asked + session->asked_size, room, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        session->is_over = true;
    if (got <= 0)
        return false;
    session->asked_size += (size_t)got;
    sb_record_flush(&session->translator);
    size_t at = 0;
    for (; session->asked_size - at >= SB_WIRE_QUERY_SIZE; at += SB_WIRE_QUERY_SIZE) {
        sb_wire_query query;
        if (sb_wire_query_decode(session->protocol, session->asked + at, &query))
            answer(session, &query);
    }
    session->asked_size -= at;
    memmove(session->asked, session->asked + at, session->asked_size);
    return true;
}

/* ---- the welcome ---- */

static void wait_for_calibration(void) {
    for (;;) {
        const int64_t age = client_clock_system() - client_clock_started.ns;
        const int64_t wanted = (int64_t)(client_is_stopping() ? 1 : CALIBRATION_MS) * 1000000;
        if (age >= wanted)
            return;
        client_wait(NULL, 0, false, (int)((wanted - age) / 1000000) + 1);
    }
}

static bool send_welcome(client_session *session) {
    const bool on_demand = client_has_flag(SB_ON_DEMAND);
    wait_for_calibration();
    const sb_record_clock now = client_clock_pair();
    sb_wire_welcome welcome = {.timer_multiplier = (double)(now.ns - client_clock_started.ns) /
                                                   (double)(now.ticks - client_clock_started.ticks),
                               .init_begin = client_clock_started.ticks,
                               .init_end = client_global.init_end,
                               .resolution = 1,
                               .epoch = (uint64_t)client_global.started_wall,
                               .process_id = (uint64_t)getpid(),
                               .flags = SB_WIRE_FLAG_IGNORE_MEMORY_FAULTS |
                                        (on_demand ? SB_WIRE_FLAG_ON_DEMAND : 0)};
    client_describe_cpu(&welcome);
    client_describe_host(welcome.host, sizeof welcome.host);
    strncpy(welcome.program, client_program_name(), sizeof welcome.program - 2);
    uint8_t bytes[SB_WIRE_WELCOME_MAX];
    sb_wire_welcome_encode(session->protocol, &welcome, bytes);
    if (!send_all(session, bytes, sb_wire_welcome_size(session->protocol)))
        return false;
    if (!on_demand)
        return true;
    const sb_wire_on_demand begin = {.frames =
                                         __atomic_load_n(&client_global.frames, __ATOMIC_RELAXED),
                                     .time = (uint64_t)now.ticks};
    sb_wire_on_demand_encode(&begin, bytes);
    return send_all(session, bytes, SB_WIRE_ON_DEMAND_SIZE);
}

/* ---- the session ---- */

/* What was recorded up to the end of the program, then the end itself. */
static void send_end(client_session *session) {
    while (!session->is_over && drain_all(&session->translator))
        answer_questions(session);
    tell_losses(session);
    close_lanes(session);
    sb_record_flush(&session->translator);
    sb_wire_encode(session->encoder, &(sb_wire_event){.kind = SB_WIRE_TERMINATE});
    session->answers_only = true;
    flush(session);
}

static void keep_alive(client_session *session) {
    if (client_clock_ms() - session->sent_ms < KEEP_ALIVE_MS)
        return;
    sb_wire_encode(session->encoder, &(sb_wire_event){.kind = SB_WIRE_KEEP_ALIVE});
    flush(session);
}

static void run(client_session *session) {
    int pause_ms = 1;
    while (!session->is_over) {
        note_stopping(session);
        if (client_is_stopping() && !session->answers_only)
            send_end(session);
        bool is_busy = !session->answers_only && drain_all(&session->translator);
        is_busy |= answer_questions(session);
        sb_record_flush(&session->translator);
        const bool has_sent = sb_wire_encoder_pending(session->encoder) > 0;
        if (!is_busy)
            flush(session);
        keep_alive(session);
        client_clock_watch();
        int timeout_ms = 0;
        if (!may_wait(session, &timeout_ms))
            session->is_over = true;
        pause_ms = client_longer_pause(pause_ms, is_busy || has_sent);
        if (timeout_ms < 0 || timeout_ms > pause_ms)
            timeout_ms = pause_ms;
        if (!is_busy && !session->is_over)
            client_wait(&session->descriptor, 1, false, timeout_ms);
    }
}

static bool begin_session(client_session *session, int descriptor,
                          const sb_wire_protocol *protocol) {
    session->descriptor = descriptor;
    session->protocol = protocol;
    session->sent_ms = client_clock_ms();
    session->encoder = sb_wire_encoder_create(protocol, send_all, session);
    if (session->encoder == NULL || !has_names())
        return false;
    session->translator.names = all_names;
    session->translator.handler = (sb_wire_handler){session, take_zones, take_event};
    session->translator.wait_for = drain_other;
    session->translator.wait_context = &session->translator;
    client_lane_find(SB_RECORD_LASTING_LANE)->reading = NULL; /* from its beginning */
    return send_welcome(session);
}

client_ending client_run_session(int descriptor, const sb_wire_protocol *protocol) {
    const bool on_demand = client_has_flag(SB_ON_DEMAND);
    client_session *session = calloc(1, sizeof *session);
    bool has_ended = false;
    if (session != NULL && begin_session(session, descriptor, protocol)) {
        session->translator.session =
            on_demand ? client_change_session(true) : client_global.session;
        __atomic_store_n(&client_global.is_connected, 1, __ATOMIC_RELEASE);
        run(session);
        __atomic_store_n(&client_global.is_connected, 0, __ATOMIC_RELEASE);
        has_ended = client_is_stopping();
        client_discard();
    }
    if (session != NULL) {
        sb_record_forget_fibers(&session->translator);
        sb_wire_encoder_free(session->encoder);
        sb_map_free(&session->dynamic_locations);
        sb_map_free(&session->static_locations);
    }
    free(session);
    return has_ended ? CLIENT_ALL_SENT : CLIENT_READER_GONE;
}
