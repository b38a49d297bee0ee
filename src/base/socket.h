/*
 * Sockets: TCP connections with a limit on every wait, and datagrams.
 *
 * All functions return -1 or false on failure and leave the reason in errno (ETIMEDOUT when the
 * limit passed). Descriptors are closed on exec. Writing to a closed connection is an error and no
 * signal.
 */
#ifndef SB_BASE_SOCKET_H
#define SB_BASE_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Connects to a host by name or number. */
int sb_socket_connect(const char *host, uint16_t port, int timeout_ms);
/* Reads exactly size bytes; a connection that ends before is ECONNRESET. */
bool sb_socket_read(int socket, void *bytes, size_t size, int timeout_ms);
/* Reads what there is, at least a byte: as recv, with a limit. 0: the other side has closed. */
ssize_t sb_socket_read_some(int socket, void *bytes, size_t size, int timeout_ms);
/* Writes all of it. */
bool sb_socket_write(int socket, const void *bytes, size_t size, int timeout_ms);
/* Is there something to read? Waits up to the limit. */
bool sb_socket_readable(int socket, int timeout_ms);

/* Bytes that writing takes without the other side reading. */
size_t sb_socket_send_room(int socket);

/* Listens for connections on the loopback interface; port 0: any. *port is the one it became. */
int sb_socket_listen(uint16_t *port);
int sb_socket_accept(int socket, int timeout_ms);

/* Receives datagrams on a port, shared with others that do. Who sent them is for the caller to
 * check: broadcasts do not reach a socket that is bound to the loopback interface. */
int sb_socket_receive_datagrams(uint16_t port);
/* One datagram and the IPv4 address it came from, in the host's byte order; -1: none by now. */
ssize_t sb_socket_datagram(int socket, void *bytes, size_t size, uint32_t *address);

#endif
