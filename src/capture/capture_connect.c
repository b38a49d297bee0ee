#include "capture/capture_connect.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture_model.h"

enum {
    CONNECT_MS = 2000,
    ANSWER_MS = 2000, /* a program that is being recorded by another gives none */
    WELCOME_MS = 10000,
    PAUSE_MS = 50, /* between two looks at all ports */
    HEARD_MAX = 1024,
    SILENT_MAX = 3, /* attempts that got no answer before we say so */
};

/* ---- announcements ---- */

void capture_ear_open(capture_ear *ear) {
    *ear = (capture_ear){.socket = sb_socket_receive_datagrams(SB_WIRE_PORT),
                         .heard = sb_vector_of(sizeof(sb_wire_announcement))};
}

static sb_wire_announcement *entry_of(capture_ear *ear, uint16_t port) {
    for (size_t i = 0; i < ear->heard.count; i++) {
        sb_wire_announcement *entry = sb_vector_at(&ear->heard, i);
        if (entry->port == port)
            return entry;
    }
    return ear->heard.count < HEARD_MAX ? sb_vector_push(&ear->heard) : NULL;
}

/* Whoever sent it: a number that is not true costs one attempt more. */
void capture_ear_listen(capture_ear *ear) {
    char bytes[SB_WIRE_ANNOUNCEMENT_MAX + 1];
    uint32_t from = 0;
    if (ear->socket < 0)
        return;
    for (;;) {
        const ssize_t got = sb_socket_datagram(ear->socket, bytes, sizeof bytes, &from);
        if (got < 0)
            return;
        sb_wire_announcement announcement;
        if (!sb_wire_announcement_decode((sb_slice){bytes, (size_t)got}, &announcement))
            continue;
        sb_wire_announcement *entry = entry_of(ear, announcement.port);
        if (entry != NULL)
            *entry = announcement;
    }
}

uint32_t capture_ear_protocol(const capture_ear *ear, uint16_t port) {
    for (size_t i = 0; i < ear->heard.count; i++) {
        const sb_wire_announcement *entry = sb_vector_at(&ear->heard, i);
        if (entry->port == port && entry->active_seconds >= 0)
            return entry->protocol;
    }
    return 0;
}

void capture_ear_close(capture_ear *ear) {
    if (ear->socket >= 0)
        close(ear->socket);
    sb_vector_free(&ear->heard);
}

/* ---- one attempt with one number ---- */

static const char *host_of(const sb_capture_options *options) {
    return options->address != NULL ? options->address : "127.0.0.1";
}

static capture_attempt refuse(capture_peer *peer, sb_error *error, const char *reason) {
    close(peer->socket);
    peer->socket = -1;
    sb_error_set(error, SB_ERR_FORMAT, "%s:%u %s", peer->host, peer->port, reason);
    return CAPTURE_REFUSED;
}

static bool read_welcome(capture_peer *peer) {
    uint8_t bytes[SB_WIRE_WELCOME_MAX];
    uint8_t more[SB_WIRE_ON_DEMAND_SIZE];
    if (!sb_socket_read(peer->socket, bytes, sb_wire_welcome_size(peer->protocol), WELCOME_MS))
        return false;
    sb_wire_welcome_decode(peer->protocol, bytes, &peer->welcome);
    peer->wall_ns = sb_wall_ns();
    peer->clock_ns = sb_clock_ns();
    if ((peer->welcome.flags & SB_WIRE_FLAG_ON_DEMAND) == 0)
        return true;
    if (!sb_socket_read(peer->socket, more, sizeof more, WELCOME_MS))
        return false;
    sb_wire_on_demand_decode(more, &peer->on_demand);
    return true;
}

typedef enum greeting { GREETED, WRONG_NUMBER, NO_GREETING } greeting;

static greeting greet(capture_peer *peer, capture_attempt *attempt, sb_error *error) {
    uint8_t hello[SB_WIRE_HELLO_SIZE];
    uint8_t status = 0;
    *attempt = CAPTURE_REFUSED;
    sb_wire_hello_encode(sb_wire_protocol_number(peer->protocol), hello);
    if (!sb_socket_write(peer->socket, hello, sizeof hello, ANSWER_MS) ||
        !sb_socket_read(peer->socket, &status, 1, ANSWER_MS)) {
        refuse(peer, error,
               errno == ETIMEDOUT ? "does not answer: another recorder may be connected to it"
                                  : "closed the connection: it is no profiled program");
        return NO_GREETING;
    }
    switch (status) {
    case SB_WIRE_WELCOME:
        if (!read_welcome(peer)) {
            refuse(peer, error, "welcomed us and then fell silent");
        } else if (!capture_clock_is_sane(&peer->welcome)) {
            refuse(peer, error, "has a clock that makes no sense");
        } else {
            *attempt = CAPTURE_WELCOMED;
        }
        return GREETED;
    case SB_WIRE_MISMATCH:
        close(peer->socket);
        return WRONG_NUMBER;
    case SB_WIRE_NOT_AVAILABLE:
        refuse(peer, error,
               "was recorded before, and its program is built to be recorded once only: start it "
               "again, or build it with TRACY_ON_DEMAND");
        return NO_GREETING;
    default:
        refuse(peer, error, "answered with something that is not Tracy's protocol");
        return NO_GREETING;
    }
}

/* ---- one port ---- */

static const sb_wire_protocol *choose_flavour(const sb_capture_options *options, uint32_t number,
                                              bool *is_certain) {
    const sb_wire_protocol *chosen =
        options->flavour < 0 ? NULL
                             : sb_wire_protocol_find(number, options->flavour == SB_WIRE_TENSTORRENT
                                                                 ? SB_WIRE_TENSTORRENT
                                                                 : SB_WIRE_UPSTREAM);
    *is_certain = chosen != NULL;
    return chosen != NULL ? chosen : sb_wire_protocol_any(number);
}

static greeting try_number(const sb_capture_options *options, uint32_t number, capture_peer *peer,
                           capture_attempt *attempt, sb_error *error) {
    *attempt = CAPTURE_NOBODY;
    peer->protocol = choose_flavour(options, number, &peer->is_certain);
    peer->socket = sb_socket_connect(peer->host, peer->port, CONNECT_MS);
    if (peer->socket < 0) {
        sb_error_set(error, SB_ERR_NOT_FOUND, "nothing listens on %s:%u: %s", peer->host,
                     peer->port, strerror(errno));
        return NO_GREETING;
    }
    return greet(peer, attempt, error);
}

static capture_attempt refuse_number(const capture_peer *peer, uint32_t number, sb_error *error) {
    if (number != 0)
        sb_error_set(error, SB_ERR_FORMAT,
                     "%s:%u speaks protocol %u, which Strobe does not know: a newer Strobe may",
                     peer->host, peer->port, number);
    else
        sb_error_set(error, SB_ERR_FORMAT,
                     "%s:%u is a profiled program, but speaks none of the protocols that Strobe "
                     "knows (Tracy 0.9 to 0.14): a newer Strobe may",
                     peer->host, peer->port);
    return CAPTURE_REFUSED;
}

capture_attempt capture_try(const sb_capture_options *options, uint16_t port, uint32_t known,
                            capture_peer *peer, sb_error *error) {
    capture_attempt attempt = CAPTURE_NOBODY;
    *peer = (capture_peer){.socket = -1, .port = port};
    snprintf(peer->host, sizeof peer->host, "%s", host_of(options));
    const uint32_t told = options->protocol != 0 ? options->protocol : known;
    if (told != 0 && sb_wire_protocol_any(told) == NULL)
        return refuse_number(peer, told, error);
    if (told != 0) {
        const greeting result = try_number(options, told, peer, &attempt, error);
        if (result != WRONG_NUMBER)
            return attempt;
        if (options->protocol != 0) {
            sb_error_set(error, SB_ERR_FORMAT, "%s:%u does not speak protocol %u", peer->host, port,
                         told);
            return CAPTURE_REFUSED;
        }
    }
    uint32_t tried = told;
    for (size_t i = 0; i < sb_wire_protocol_count(); i++) {
        const uint32_t number = sb_wire_protocol_number(sb_wire_protocol_at(i));
        const bool is_second =
            sb_wire_protocol_at(i) != sb_wire_protocol_any(number) || number == tried;
        if (is_second)
            continue; /* the other flavour of a number, or the one we were told */
        const greeting result = try_number(options, number, peer, &attempt, error);
        if (result != WRONG_NUMBER)
            return attempt;
    }
    return refuse_number(peer, 0, error);
}

/* ---- all ports ---- */

/*
 * Looks once at every port. Whether to go on looking: not if a program was found, nor if one has
 * refused several times. *refusal is the last refusal of this look; SB_OK: there was none.
 */
static bool look_around(const sb_capture_options *options, capture_ear *ear, capture_peer *peer,
                        unsigned *refusals, sb_error *refusal) {
    const uint16_t first = options->port != 0 ? options->port : (uint16_t)SB_WIRE_PORT;
    const uint16_t count = options->port != 0 ? 1 : (uint16_t)SB_WIRE_PORT_COUNT;
    *refusal = (sb_error){.status = SB_OK};
    capture_ear_listen(ear);
    for (uint16_t i = 0; i < count && !capture_is_stopped(options); i++) {
        sb_error reason = {0};
        const uint16_t port = (uint16_t)(first + i);
        const capture_attempt attempt =
            capture_try(options, port, capture_ear_protocol(ear, port), peer, &reason);
        if (attempt == CAPTURE_WELCOMED)
            return false;
        if (attempt == CAPTURE_REFUSED)
            *refusal = reason;
    }
    if (refusal->status != SB_OK)
        ++*refusals;
    return *refusals < SILENT_MAX;
}

static sb_status nobody_found(const sb_capture_options *options, const sb_error *refusal,
                              bool is_over, sb_error *error) {
    const bool is_refused = refusal->status != SB_OK;
    char ports[32] = "ports 8086 to 8105";
    if (options->port != 0)
        snprintf(ports, sizeof ports, "port %u", (unsigned)options->port);
    return sb_error_set(error, SB_ERR_NOT_FOUND, "no profiled program was found on %s, %s%s%s%s",
                        host_of(options), ports, is_over ? " before the wait was over" : "",
                        is_refused ? "; " : "", is_refused ? refusal->message : "");
}

sb_status capture_find(const sb_capture_options *options, capture_peer *peer, sb_error *error) {
    const int64_t start = sb_clock_ns();
    const double ns_per_second = 1e9;
    unsigned refusals = 0;
    capture_ear ear;
    sb_error refusal;
    sb_status status = SB_OK;
    *peer = (capture_peer){.socket = -1};
    capture_ear_open(&ear);
    while (look_around(options, &ear, peer, &refusals, &refusal)) {
        const double waited = (double)(sb_clock_ns() - start) / ns_per_second;
        const bool is_over = options->wait_seconds > 0 && waited >= options->wait_seconds;
        if (capture_is_stopped(options) || is_over) {
            status = nobody_found(options, &refusal, is_over, error);
            break;
        }
        if (options->progress != NULL)
            options->progress(options->context, &(sb_capture_progress){.seconds = waited});
        poll(NULL, 0, PAUSE_MS);
    }
    capture_ear_close(&ear);
    if (status != SB_OK)
        return status;
    if (peer->socket >= 0)
        return SB_OK;
    *error = refusal;
    return refusal.status;
}
