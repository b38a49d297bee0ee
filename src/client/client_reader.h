/*
 * Readers: how they find us and what they are given. All of it runs in the sender's thread.
 */
#ifndef SB_CLIENT_READER_H
#define SB_CLIENT_READER_H

#include "client/client.h"

/* Listens, announces, and serves one reader after another until the client stops. */
void client_serve_readers(void);

/* How a session ended. */
typedef enum client_ending { CLIENT_READER_GONE, CLIENT_ALL_SENT } client_ending;

/* A greeted reader, from its welcome on. */
client_ending client_run_session(int descriptor, const sb_wire_protocol *protocol);
/* What waits for a reader that is gone, or will never come, is given up. */
void client_discard(void);

/*
 * Sleeps until one of the descriptors is ready (true), the client is woken, or the time is over;
 * -1: any time.
 */
bool client_wait(const int *descriptors, size_t count, bool for_writing, int timeout_ms);
/* The next pause: the shortest after work, else twice the last up to a limit. */
int client_longer_pause(int pause_ms, bool was_busy);

#endif
