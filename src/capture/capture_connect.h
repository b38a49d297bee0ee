/*
 * Finding a program and being welcomed by it.
 */
#ifndef SB_CAPTURE_CONNECT_H
#define SB_CAPTURE_CONNECT_H

#include "base/base.h"
#include "capture/capture.h"

/* A program that has welcomed us. */
typedef struct capture_peer {
    int socket;
    char host[48];
    uint16_t port;
    const sb_wire_protocol *protocol;
    bool is_certain; /* the flavour was told, not assumed */
    sb_wire_welcome welcome;
    sb_wire_on_demand on_demand;
    int64_t wall_ns;
    int64_t clock_ns;
} capture_peer;

/* What an attempt came to. */
typedef enum capture_attempt {
    CAPTURE_WELCOMED,
    CAPTURE_NOBODY,  /* nothing listens there */
    CAPTURE_REFUSED, /* something does, but recording is not possible; the error says why */
} capture_attempt;

/* Programs that were heard announcing themselves. */
typedef struct capture_ear {
    int socket;      /* -1: cannot listen */
    sb_vector heard; /* sb_wire_announcement: the latest of each port */
} capture_ear;

void capture_ear_open(capture_ear *ear);
/* Takes in what has arrived. */
void capture_ear_listen(capture_ear *ear);
/* The number that the program on this port announced, or 0. */
uint32_t capture_ear_protocol(const capture_ear *ear, uint16_t port);
void capture_ear_close(capture_ear *ear);

/*
 * Connects to one port. Which protocol the program speaks is taken from `known` (0: not known) or
 * found by trying: a program that hears a wrong number goes back to waiting.
 */
capture_attempt capture_try(const sb_capture_options *options, uint16_t port, uint32_t known,
                            capture_peer *peer, sb_error *error);
/* Looks for a program until there is one, the wait is over or stop is set. */
sb_status capture_find(const sb_capture_options *options, capture_peer *peer, sb_error *error);

static inline bool capture_is_stopped(const sb_capture_options *options) {
    return options->stop != NULL && *options->stop != 0;
}

#endif
