/*
 * HTTP: takes connections, checks who asks for what, hands calls to the API, sends the page, and
 * tells open pages what has grown.
 *
 * Each connection has a thread, so a slow question holds up nobody else's drawing. Only GET and
 * HEAD exist. Nothing a request says is ever used as the name of a file: the page's parts are a
 * table in the binary.
 *
 * Who may ask: on the loopback, whoever addresses the loopback by name or number. A page of another
 * site that had its name point here would send that name as Host, and is refused. Elsewhere, and
 * with a token, whoever knows the token.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "view/view_assets.h"
#include "view/view_call.h"

enum {
    CONNECTIONS = 256,     /* at the same time */
    IDLE_SECONDS = 60,     /* before a silent connection is closed */
    CLIENT_PART = 4,       /* of the connections that one address may have, except our own */
    HEADER_BYTES = 262144, /* of a request, with what is kept about each of its parameters */
    EVENT_WAIT_MS = 500,   /* how often a waiting page's thread looks whether the server ends */
    EVENT_KEEP_MS = 10000, /* how often something is sent, so that a lost page is noticed */
    TOKEN_BYTES = 16,
};

struct sb_view_server {
    sb_view *view;
    struct MHD_Daemon *daemon;
    bool needs_token;
    bool ends; /* atomic */
    char token[2 * TOKEN_BYTES + 1];
    char link[160];
    char link_for_others[160]; /* empty: the same, or there is none */
};

/* ---- answers ---- */

static const struct {
    const char *name;
    const char *value;
} safety_headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
     "img-src 'self' data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors "
     "'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
};

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned code,
                                     struct MHD_Response *response, const char *content_type) {
    if (response == NULL)
        return MHD_NO;
    for (size_t i = 0; i < sizeof safety_headers / sizeof safety_headers[0]; i++)
        MHD_add_response_header(response, safety_headers[i].name, safety_headers[i].value);
    MHD_add_response_header(response, "Content-Type", content_type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    const enum MHD_Result result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

/* Sends what was written to body, whose memory is the response's from then on. */
static enum MHD_Result send_body(struct MHD_Connection *connection, unsigned code, sb_output *body,
                                 const char *content_type) {
    struct MHD_Response *response = MHD_create_response_from_buffer(
        sb_output_text(body).size, body->buffer, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        sb_output_discard(body);
    return send_response(connection, code, response, content_type);
}

static enum MHD_Result send_error(struct MHD_Connection *connection, unsigned code,
                                  const char *sentence) {
    sb_output body = sb_output_to_memory();
    sb_put_text(&body, "{\"error\":");
    sb_put_json(&body, sb_slice_of(sentence));
    sb_put_char(&body, '}');
    return send_body(connection, code, &body, "application/json");
}

/* ---- who may ask ---- */

static bool is_loopback_name(const char *host) {
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; host != NULL && i < sizeof names / sizeof names[0]; i++) {
        const size_t size = strlen(names[i]);
        if (strncmp(host, names[i], size) == 0 && (host[size] == ':' || host[size] == '\0'))
            return true;
    }
    return false;
}

/* Takes the same time wherever two texts of one length differ. */
static bool same_secret(const char *given, const char *secret) {
    unsigned difference = 0;
    if (strlen(given) != strlen(secret))
        return false;
    for (size_t i = 0; secret[i] != '\0'; i++)
        difference |= (unsigned char)given[i] ^ (unsigned char)secret[i];
    return difference == 0;
}

static bool is_allowed(const sb_view_server *server, struct MHD_Connection *connection) {
    if (!server->needs_token)
        return is_loopback_name(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"));
    const char *given = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    return given != NULL && same_secret(given, server->token);
}

/* ---- events ---- */

typedef struct event_stream {
    sb_view_server *server;
    uint64_t told;      /* the revision that was sent last */
    unsigned silent_ms; /* since something was sent */
    char text[VIEW_NEWS_SIZE + 16];
    size_t size;
    size_t sent;
} event_stream;

static void write_event(event_stream *stream, uint64_t revision) {
    char news[VIEW_NEWS_SIZE];
    view_write_news(stream->server->view, news);
    stream->size = (size_t)snprintf(stream->text, sizeof stream->text, "data: %s\n\n", news);
    stream->sent = 0;
    stream->told = revision;
}

static ssize_t read_events(void *context, uint64_t position, char *buffer, size_t room) {
    event_stream *stream = context;
    (void)position;
    while (stream->sent == stream->size) {
        if (__atomic_load_n(&stream->server->ends, __ATOMIC_ACQUIRE))
            return MHD_CONTENT_READER_END_OF_STREAM;
        const uint64_t revision = view_wait(stream->server->view, stream->told, EVENT_WAIT_MS);
        stream->silent_ms += EVENT_WAIT_MS;
        if (revision != stream->told) {
            write_event(stream, revision);
        } else if (stream->silent_ms >= EVENT_KEEP_MS) {
            stream->size = (size_t)snprintf(stream->text, sizeof stream->text, ": here\n\n");
            stream->sent = 0;
        }
    }
    const size_t left = stream->size - stream->sent;
    const size_t size = left < room ? left : room;
    memcpy(buffer, stream->text + stream->sent, size);
    stream->sent += size;
    stream->silent_ms = 0;
    return (ssize_t)size;
}

static enum MHD_Result send_events(sb_view_server *server, struct MHD_Connection *connection) {
    enum { BLOCK = 1024 };
    event_stream *stream = sb_alloc_zeroed(1, sizeof *stream);
    stream->server = server;
    write_event(stream, view_wait(server->view, UINT64_MAX, 0));
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_events, stream, free);
    return send_response(connection, MHD_HTTP_OK, response, "text/event-stream");
}

/* ---- calls ---- */

static enum MHD_Result take_parameter(void *context, enum MHD_ValueKind kind, const char *name,
                                      const char *value) {
    view_call *call = context;
    (void)kind;
    if (strcmp(name, "token") == 0)
        return MHD_YES;
    if (call->parameter_count == VIEW_PARAMETERS) {
        sb_error_set(&call->error, SB_ERR_USAGE, "more than %d parameters", VIEW_PARAMETERS);
        return MHD_NO;
    }
    call->parameters[call->parameter_count++] = (view_parameter){name, value == NULL ? "" : value};
    return MHD_YES;
}

static unsigned code_of(sb_status status) {
    return status == SB_ERR_NOT_FOUND ? MHD_HTTP_NOT_FOUND : MHD_HTTP_BAD_REQUEST;
}

static enum MHD_Result answer_call(sb_view_server *server, struct MHD_Connection *connection,
                                   const char *path) {
    sb_output body = sb_output_to_memory();
    view_call call = {.view = server->view, .body = &body};
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_parameter, &call);
    sb_status status = call.error.status;
    if (status == SB_OK)
        status = view_api_answer(&call, path);
    if (status == SB_OK)
        return send_body(connection, MHD_HTTP_OK, &body, call.content_type);
    sb_output_discard(&body);
    return send_error(connection, code_of(status), call.error.message);
}

static enum MHD_Result send_asset(struct MHD_Connection *connection, const char *path) {
    const char *name = strcmp(path, "/") == 0 ? "/index.html" : path;
    for (size_t i = 0; i < view_asset_count; i++) {
        if (strcmp(view_assets[i].path, name) != 0)
            continue;
        sb_output body = sb_output_to_memory();
        sb_put(&body, view_assets[i].bytes);
        return send_body(connection, MHD_HTTP_OK, &body, view_assets[i].content_type);
    }
    return send_error(connection, MHD_HTTP_NOT_FOUND, "there is nothing at this address");
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state) {
    sb_view_server *server = context;
    static int seen;
    (void)version;
    (void)upload;
    /* The first time a request comes without its end; answering then would close the connection. */
    if (*state == NULL) {
        *state = &seen;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        *upload_size = 0;
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return send_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD");
    const bool is_call = strncmp(url, "/api/", sizeof "/api/" - 1) == 0;
    if ((is_call || !server->needs_token) && !is_allowed(server, connection))
        return send_error(connection, MHD_HTTP_FORBIDDEN,
                          server->needs_token ? "the token in the link is missing or wrong"
                                              : "the Host of the request is not this machine");
    if (strcmp(url, "/api/events") == 0)
        return send_events(server, connection);
    return is_call ? answer_call(server, connection, url) : send_asset(connection, url);
}

/* ---- starting and ending ---- */

static sb_status read_address(const sb_view_listen *listen, struct sockaddr_storage *address,
                              sb_error *error) {
    const char *text = listen->address == NULL ? "127.0.0.1" : listen->address;
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)address;
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(listen->port);
    } else if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(listen->port);
    } else {
        SB_FAIL(error, SB_ERR_USAGE,
                "'%s' is no address: give numbers, such as 0.0.0.0 or ::", text);
    }
    return SB_OK;
}

static sb_status make_token(sb_view_server *server, sb_error *error) {
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        SB_FAIL(error, SB_ERR_IO, "the system gives no random numbers for a token");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
    return SB_OK;
}

static bool is_every_address(const struct sockaddr_storage *address) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
    return address->ss_family == AF_INET ? four->sin_addr.s_addr == htonl(INADDR_ANY)
                                         : IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
}

static void make_link(const sb_view_server *server, const char *address, unsigned port,
                      char link[160]) {
    const bool is_six = strchr(address, ':') != NULL;
    snprintf(link, 160, "http://%s%s%s:%u/%s%s", is_six ? "[" : "", address, is_six ? "]" : "",
             port, server->needs_token ? "?token=" : "", server->token);
}

/* "All addresses" is none that can be opened. */
static void make_links(sb_view_server *server, const sb_view_listen *listen,
                       const struct sockaddr_storage *address) {
    char found[VIEW_ADDRESS_SIZE];
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    const unsigned port = info == NULL ? listen->port : info->port;
    const bool is_six = address->ss_family == AF_INET6;
    if (!is_every_address(address)) {
        make_link(server, listen->address == NULL ? "127.0.0.1" : listen->address, port,
                  server->link);
        return;
    }
    make_link(server, is_six ? "::1" : "127.0.0.1", port, server->link);
    if (view_find_address(is_six, found))
        make_link(server, found, port, server->link_for_others);
}

static unsigned family_flags(const struct sockaddr_storage *address) {
    if (address->ss_family != AF_INET6)
        return 0;
    return is_every_address(address) ? (unsigned)MHD_USE_DUAL_STACK : (unsigned)MHD_USE_IPv6;
}

static sb_status start_daemon(sb_view_server *server, const sb_view_listen *listen,
                              sb_error *error) {
    struct sockaddr_storage address;
    SB_TRY(read_address(listen, &address, error));
    const unsigned six = family_flags(&address);
    /* On the loopback all clients have one address. */
    const unsigned per_client = server->needs_token ? CONNECTIONS / CLIENT_PART : CONNECTIONS;
    errno = 0;
    server->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | six,
        listen->port, NULL, NULL, answer, server, MHD_OPTION_SOCK_ADDR, &address,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        per_client, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES, MHD_OPTION_END);
    if (server->daemon != NULL) {
        make_links(server, listen, &address);
        return SB_OK;
    }
    const int reason = errno;
    char port[24] = "";
    if (listen->port != 0)
        snprintf(port, sizeof port, " port %u", (unsigned)listen->port);
    SB_FAIL(error, SB_ERR_IO, "cannot listen on %s%s: %s",
            listen->address == NULL ? "127.0.0.1" : listen->address, port,
            reason == 0 ? "the system refuses it" : strerror(reason));
}

sb_status sb_view_start(sb_view *view, const sb_view_listen *listen, sb_view_server **server,
                        sb_error *error) {
    sb_view_server *made = sb_alloc_zeroed(1, sizeof *made);
    made->view = view;
    made->needs_token = listen->needs_token;
    sb_status status = made->needs_token ? make_token(made, error) : SB_OK;
    if (status == SB_OK)
        status = start_daemon(made, listen, error);
    if (status != SB_OK) {
        free(made);
        return status;
    }
    *server = made;
    return SB_OK;
}

const char *sb_view_link(const sb_view_server *server) {
    return server->link;
}

const char *sb_view_link_for_others(const sb_view_server *server) {
    return server->link_for_others[0] == '\0' ? NULL : server->link_for_others;
}

void sb_view_stop(sb_view_server *server) {
    if (server == NULL)
        return;
    __atomic_store_n(&server->ends, true, __ATOMIC_RELEASE);
    MHD_stop_daemon(server->daemon);
    free(server);
}
