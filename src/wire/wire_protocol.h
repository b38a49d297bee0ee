/*
 * Protocol numbers and what each of them looks like.
 *
 * Some numbers exist twice: Tenstorrent's fork widened the device items without changing the
 * number, and so did upstream once with an item of sections. Nothing in the handshake tells the two
 * apart; the decoder finds out from the first item that differs.
 */
#ifndef SB_WIRE_PROTOCOL_H
#define SB_WIRE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sb_wire_flavour {
    SB_WIRE_UPSTREAM = 0,
    SB_WIRE_TENSTORRENT = 1,
    SB_WIRE_EARLY = 2, /* upstream's, before it changed under the same number */
    SB_WIRE_FLAVOURS,
} sb_wire_flavour;

/* A protocol; its insides are in wire_tables.h. All there are live as long as the process. */
typedef struct sb_wire_protocol sb_wire_protocol;

/* The protocol of this number and flavour, or NULL. */
const sb_wire_protocol *sb_wire_protocol_find(uint32_t number, sb_wire_flavour flavour);
/* The same number in whichever flavour exists, upstream's if there are two; NULL if none. */
const sb_wire_protocol *sb_wire_protocol_any(uint32_t number);
/* The other flavour of a protocol's number, or NULL. */
const sb_wire_protocol *sb_wire_protocol_rival(const sb_wire_protocol *protocol);

/* All of them, those of releases first and the newest of these first: the order to try them in. */
size_t sb_wire_protocol_count(void);
const sb_wire_protocol *sb_wire_protocol_at(size_t index);

uint32_t sb_wire_protocol_number(const sb_wire_protocol *protocol);
sb_wire_flavour sb_wire_protocol_flavour(const sb_wire_protocol *protocol);
/* "82 (Tracy 0.14)": for people. */
const char *sb_wire_protocol_name(const sb_wire_protocol *protocol);
/* Do recorders of this version show the value of a zone in base 16 as well? */
bool sb_wire_protocol_shows_hex(const sb_wire_protocol *protocol);
/* Do messages say how severe they are? */
bool sb_wire_protocol_has_severities(const sb_wire_protocol *protocol);
/* Is it the number of a release, or of some state in between? */
bool sb_wire_protocol_is_release(const sb_wire_protocol *protocol);

#endif
