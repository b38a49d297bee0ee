/* The door: sockets, announcements, greetings. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client/client_reader.h"

enum {
    DOORS = 2, /* IPv4 and IPv6 */
    BACKLOG = 4,
    ANNOUNCE_EVERY_MS = 3000,
    GREETING_TIMEOUT_MS = 2000,
    NEWEST_PROTOCOL = 82,
    NEWEST_TENSTORRENT_PROTOCOL = 76,
};

typedef struct client_door {
    int listening[DOORS];
    size_t count;
    uint16_t port;
    int announcer;
    int64_t announced_ms;
} client_door;

/* ---- listening ---- */

static int listen_on(const struct sockaddr *address, socklen_t size, bool takes_both) {
    const int yes = 1;
    const int only_ipv6 = !takes_both;
    const int descriptor = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address->sa_family == AF_INET6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &only_ipv6, sizeof only_ipv6);
    if (bind(descriptor, address, size) == 0 && listen(descriptor, BACKLOG) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

static int listen_ipv4(uint16_t port, bool everywhere) {
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(port),
                                        .sin_addr.s_addr =
                                            htonl(everywhere ? INADDR_ANY : INADDR_LOOPBACK)};
    return listen_on((const struct sockaddr *)&address, sizeof address, false);
}

static int listen_ipv6(uint16_t port, bool everywhere) {
    const struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                         .sin6_port = htons(port),
                                         .sin6_addr = everywhere ? in6addr_any : in6addr_loopback};
    return listen_on((const struct sockaddr *)&address, sizeof address, everywhere);
}

/* On all interfaces one socket takes both kinds; on the loopback there is one for each. */
static bool open_port(client_door *door, uint16_t port) {
    const bool everywhere = client_has_flag(SB_ALL_INTERFACES);
    int found = -1;
    if (everywhere && !client_has_flag(SB_IPV4_ONLY))
        found = listen_ipv6(port, true);
    if (found < 0)
        found = listen_ipv4(port, everywhere);
    if (found < 0)
        return false;
    door->listening[door->count++] = found;
    if (!everywhere && !client_has_flag(SB_IPV4_ONLY)) {
        const int second = listen_ipv6(port, false);
        if (second >= 0)
            door->listening[door->count++] = second;
    }
    door->port = port;
    return true;
}

static bool open_door(client_door *door) {
    *door = (client_door){.announcer = -1};
    if (client_global.options.port != 0)
        return open_port(door, (uint16_t)client_global.options.port);
    for (int i = 0; i < SB_WIRE_PORT_COUNT; i++) {
        if (open_port(door, (uint16_t)(SB_WIRE_PORT + i)))
            return true;
    }
    return false;
}

static void say_no_port(void) {
    const uint32_t port = client_global.options.port;
    if (port != 0)
        client_say("port %u cannot be listened on (%s): nothing is recorded", port,
                   strerror(errno));
    else
        client_say("no port from %d to %d is free: nothing is recorded; TRACY_PORT names another",
                   SB_WIRE_PORT, SB_WIRE_PORT + SB_WIRE_PORT_COUNT - 1);
}

static void close_door(client_door *door) {
    for (size_t i = 0; i < door->count; i++)
        close(door->listening[i]);
    if (door->announcer >= 0)
        close(door->announcer);
}

/* ---- announcing ---- */

static uint32_t announced_protocol(void) {
    if (client_global.options.protocol != 0)
        return client_global.options.protocol;
    return client_has_flag(SB_TENSTORRENT) ? NEWEST_TENSTORRENT_PROTOCOL : NEWEST_PROTOCOL;
}

/* One datagram; `seconds` below zero: we are gone, or taken. */
static void announce(client_door *door, int32_t seconds) {
    if (client_has_flag(SB_NO_BROADCAST))
        return;
    if (door->announcer < 0) {
        const int yes = 1;
        door->announcer = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (door->announcer < 0)
            return;
        setsockopt(door->announcer, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes);
    }
    const uint32_t everywhere = 0xffffffff;   /* 255.255.255.255 */
    const uint32_t this_machine = 0x7fffffff; /* 127.255.255.255 */
    const struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons(SB_WIRE_PORT),
        .sin_addr.s_addr = htonl(client_has_flag(SB_ALL_INTERFACES) ? everywhere : this_machine)};
    sb_wire_announcement announcement = {.port = door->port,
                                         .protocol = announced_protocol(),
                                         .process_id = (uint64_t)getpid(),
                                         .active_seconds = seconds};
    snprintf(announcement.program, sizeof announcement.program, "%s", client_program_name());
    uint8_t bytes[SB_WIRE_ANNOUNCEMENT_MAX];
    const size_t size = sb_wire_announcement_encode(&announcement, bytes);
    sendto(door->announcer, bytes, size, 0, (const struct sockaddr *)&to, sizeof to);
    door->announced_ms = client_clock_ms();
}

static int32_t active_seconds(void) {
    return (int32_t)((int64_t)time(NULL) - client_global.started_wall);
}

/* ---- greeting ---- */

static bool read_hello(int descriptor, uint8_t *bytes, size_t size) {
    const int64_t until = client_clock_ms() + GREETING_TIMEOUT_MS;
    size_t got = 0;
    while (got < size && client_clock_ms() < until) {
        if (!client_wait(&descriptor, 1, false, (int)(until - client_clock_ms())))
            continue;
        const ssize_t part = recv(descriptor, bytes + got, size - got, MSG_DONTWAIT);
        if (part == 0 || (part < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        got += part > 0 ? (size_t)part : 0;
    }
    return got == size;
}

static bool answer(int descriptor, sb_wire_status status) {
    const uint8_t byte = (uint8_t)status;
    return send(descriptor, &byte, 1, MSG_NOSIGNAL) == 1;
}

/* Reads the hello; the protocol to speak, or NULL if this reader is not to be served. */
static const sb_wire_protocol *greet(int descriptor, bool is_available) {
    uint8_t hello[SB_WIRE_HELLO_SIZE];
    uint32_t number = 0;
    if (!read_hello(descriptor, hello, sizeof hello) || !sb_wire_hello_decode(hello, &number))
        return NULL;
    const sb_wire_flavour flavour =
        client_has_flag(SB_TENSTORRENT) ? SB_WIRE_TENSTORRENT : SB_WIRE_UPSTREAM;
    const sb_wire_protocol *protocol = sb_wire_protocol_find(number, flavour);
    if (protocol == NULL)
        protocol = sb_wire_protocol_any(number);
    if (protocol == NULL)
        answer(descriptor, SB_WIRE_MISMATCH);
    else if (!is_available)
        answer(descriptor, SB_WIRE_NOT_AVAILABLE);
    else if (answer(descriptor, SB_WIRE_WELCOME))
        return protocol;
    return NULL;
}

/* ---- waiting ---- */

/* A connection, or -1 when the client stops. */
static int wait_for_reader(client_door *door) {
    for (;;) {
        if (client_is_stopping() && !client_has_flag(SB_NO_EXIT))
            return -1;
        const int64_t age = client_clock_ms() - door->announced_ms;
        if (age >= ANNOUNCE_EVERY_MS)
            announce(door, active_seconds());
        const int64_t left = ANNOUNCE_EVERY_MS - (client_clock_ms() - door->announced_ms);
        if (!client_wait(door->listening, door->count, false, left > 0 ? (int)left : 0))
            continue;
        for (size_t i = 0; i < door->count; i++) {
            if (!client_wait(&door->listening[i], 1, false, 0))
                continue;
            const int descriptor = accept(door->listening[i], NULL, NULL);
            if (descriptor >= 0)
                return descriptor;
        }
    }
}

static void serve(client_door *door) {
    const bool on_demand = client_has_flag(SB_ON_DEMAND);
    bool is_available = true;
    for (;;) {
        const int descriptor = wait_for_reader(door);
        if (descriptor < 0)
            return;
        const int yes = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        const sb_wire_protocol *protocol = greet(descriptor, is_available);
        client_ending ending = CLIENT_READER_GONE;
        if (protocol != NULL) {
            announce(door, -1);
            ending = client_run_session(descriptor, protocol);
            is_available = on_demand;
            if (!is_available)
                client_discard();
        }
        close(descriptor);
        if (ending == CLIENT_ALL_SENT || (!is_available && client_is_stopping()))
            return;
    }
}

void client_serve_readers(void) {
    client_door door;
    if (!open_door(&door)) {
        /* As Tracy does: without a port nothing is recorded. */
        say_no_port();
        client_discard();
        return;
    }
    door.announced_ms = client_clock_ms() - ANNOUNCE_EVERY_MS;
    serve(&door);
    announce(&door, -1);
    close_door(&door);
}
