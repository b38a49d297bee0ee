#include "base/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum { NS_PER_MS = 1000000 };

static int close_keeping_errno(int socket) {
    const int reason = errno;
    close(socket);
    errno = reason;
    return -1;
}

/* ---- waiting ---- */

static bool wait_until(int socket, short events, int64_t deadline) {
    for (;;) {
        const int64_t left = deadline - sb_clock_ns();
        struct pollfd entry = {.fd = socket, .events = events};
        const int timeout_ms = left <= 0 ? 0 : (int)((left + NS_PER_MS - 1) / NS_PER_MS);
        const int ready = poll(&entry, 1, timeout_ms);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready == 0 && left <= 0) {
            errno = ETIMEDOUT;
            return false;
        }
    }
}

static int64_t deadline_after(int timeout_ms) {
    return sb_clock_ns() + (int64_t)timeout_ms * NS_PER_MS;
}

bool sb_socket_readable(int socket, int timeout_ms) {
    return wait_until(socket, POLLIN, deadline_after(timeout_ms));
}

/* ---- connecting ---- */

static int connect_to(const struct addrinfo *target, int64_t deadline) {
    const int made = socket(target->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0)
        return -1;
    if (connect(made, target->ai_addr, target->ai_addrlen) != 0) {
        if (errno != EINPROGRESS || !wait_until(made, POLLOUT, deadline))
            return close_keeping_errno(made);
        socklen_t size = sizeof errno;
        int reason = 0;
        getsockopt(made, SOL_SOCKET, SO_ERROR, &reason, &size);
        errno = reason;
        if (reason != 0)
            return close_keeping_errno(made);
    }
    const int on = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
}

int sb_socket_connect(const char *host, uint16_t port, int timeout_ms) {
    char service[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *targets = NULL;
    const int64_t deadline = deadline_after(timeout_ms);
    snprintf(service, sizeof service, "%u", port);
    if (getaddrinfo(host, service, &hints, &targets) != 0) {
        errno = EHOSTUNREACH;
        return -1;
    }
    int made = -1;
    for (const struct addrinfo *target = targets; target != NULL && made < 0;
         target = target->ai_next)
        made = connect_to(target, deadline);
    freeaddrinfo(targets);
    return made;
}

/* ---- reading and writing ---- */

static ssize_t read_until(int socket, void *bytes, size_t size, int64_t deadline) {
    for (;;) {
        const ssize_t got = recv(socket, bytes, size, MSG_DONTWAIT);
        if (got >= 0)
            return got;
        if (errno == EINTR)
            continue;
        if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait_until(socket, POLLIN, deadline))
            return -1;
    }
}

ssize_t sb_socket_read_some(int socket, void *bytes, size_t size, int timeout_ms) {
    return read_until(socket, bytes, size, deadline_after(timeout_ms));
}

bool sb_socket_read(int socket, void *bytes, size_t size, int timeout_ms) {
    const int64_t deadline = deadline_after(timeout_ms);
    for (size_t done = 0; done < size;) {
        const ssize_t got = read_until(socket, (char *)bytes + done, size - done, deadline);
        if (got == 0)
            errno = ECONNRESET;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

bool sb_socket_write(int socket, const void *bytes, size_t size, int timeout_ms) {
    const int64_t deadline = deadline_after(timeout_ms);
    for (size_t done = 0; done < size;) {
        const ssize_t sent =
            send(socket, (const char *)bytes + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0)
            done += (size_t)sent;
        else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_until(socket, POLLOUT, deadline))
                return false;
        } else if (errno != EINTR)
            return false;
    }
    return true;
}

size_t sb_socket_send_room(int socket) {
    int room = 0;
    socklen_t size = sizeof room;
    /* The system says twice what it takes, for its own needs. */
    if (getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, &size) != 0 || room < 0)
        return 0;
    return (size_t)room / 2;
}

/* ---- listening ---- */

int sb_socket_listen(uint16_t *port) {
    enum { BACKLOG = 4 };
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(*port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const int on = 1;
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0)
        return -1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(made, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(made, BACKLOG) != 0 || getsockname(made, (struct sockaddr *)&address, &size) != 0)
        return close_keeping_errno(made);
    *port = ntohs(address.sin_port);
    return made;
}

int sb_socket_accept(int socket, int timeout_ms) {
    if (!sb_socket_readable(socket, timeout_ms))
        return -1;
    const int made = accept(socket, NULL, NULL);
    if (made >= 0)
        fcntl(made, F_SETFD, FD_CLOEXEC);
    return made;
}

/* ---- datagrams ---- */

int sb_socket_receive_datagrams(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int on = 1;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    const int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0)
        return -1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(made, (const struct sockaddr *)&address, sizeof address) != 0)
        return close_keeping_errno(made);
    return made;
}

ssize_t sb_socket_datagram(int socket, void *bytes, size_t size, uint32_t *address) {
    struct sockaddr_in from = {0};
    socklen_t from_size = sizeof from;
    const ssize_t got =
        recvfrom(socket, bytes, size, MSG_DONTWAIT, (struct sockaddr *)&from, &from_size);
    *address = ntohl(from.sin_addr.s_addr);
    return got;
}
