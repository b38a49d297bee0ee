/*
 * What passes before the first frame, and what a recorder asks.
 *
 *   announcement   a datagram of the waiting program to UDP port 8086
 *   hello          recorder to program: eight letters and the protocol number
 *   status         one byte back
 *   welcome        the program's clock, name and machine; its size depends on the protocol
 *   on-demand      16 bytes more, if the welcome says so
 *   query          recorder to program, 13 bytes, at any time
 */
#ifndef SB_WIRE_GREETING_H
#define SB_WIRE_GREETING_H

#include "base/base.h"
#include "wire/wire_protocol.h"

enum {
    SB_WIRE_PORT = 8086, /* the first of those a program tries, and that of announcements */
    SB_WIRE_PORT_COUNT = 20,
    SB_WIRE_HELLO_SIZE = 12,
    SB_WIRE_WELCOME_MAX = 1178,
    SB_WIRE_ON_DEMAND_SIZE = 16,
    SB_WIRE_QUERY_SIZE = 13,
    SB_WIRE_ANNOUNCEMENT_MAX = 84,
};

/* ---- announcement ---- */

typedef struct sb_wire_announcement {
    uint16_t port;
    uint32_t protocol;
    uint64_t process_id;    /* 0: not told (programs before 0.9) */
    int32_t active_seconds; /* since the program began; below zero: gone, or taken by a recorder */
    char program[64];       /* ends in NUL */
} sb_wire_announcement;

/* Returns the size to send. */
size_t sb_wire_announcement_encode(const sb_wire_announcement *announcement,
                                   uint8_t bytes[SB_WIRE_ANNOUNCEMENT_MAX]);
/* False if it is none, or of a kind we do not know. */
bool sb_wire_announcement_decode(sb_slice datagram, sb_wire_announcement *announcement);

/* ---- hello ---- */

void sb_wire_hello_encode(uint32_t number, uint8_t bytes[SB_WIRE_HELLO_SIZE]);
/* False if the letters are wrong. */
bool sb_wire_hello_decode(const uint8_t bytes[SB_WIRE_HELLO_SIZE], uint32_t *number);

typedef enum sb_wire_status {
    SB_WIRE_WELCOME = 1,
    SB_WIRE_MISMATCH = 2,      /* another number; the program waits for the next connection */
    SB_WIRE_NOT_AVAILABLE = 3, /* it was recorded already, and that is possible once only */
} sb_wire_status;

/* ---- welcome ---- */

enum {
    SB_WIRE_FLAG_ON_DEMAND = 1,
    SB_WIRE_FLAG_IGNORE_MEMORY_FAULTS = 2,
    SB_WIRE_FLAG_CODE_TRANSFER = 4,
    SB_WIRE_FLAG_COMBINE_SAMPLES = 8,
    SB_WIRE_FLAG_IDENTIFY_SAMPLES = 16,
};

typedef struct sb_wire_welcome {
    double timer_multiplier; /* nanoseconds per tick */
    int64_t init_begin;      /* tick at time zero */
    int64_t init_end;
    uint64_t delay;
    uint64_t resolution;
    uint64_t epoch;           /* seconds since 1970 at the program's start */
    uint64_t executable_time; /* when the program was built; 0: not known */
    uint64_t process_id;
    int64_t sampling_period;
    uint8_t flags;
    uint8_t cpu_architecture;
    char cpu_manufacturer[12];
    uint32_t cpu_id;
    char program[65]; /* ends in NUL, as the next */
    char host[1025];
} sb_wire_welcome;

size_t sb_wire_welcome_size(const sb_wire_protocol *protocol);
void sb_wire_welcome_encode(const sb_wire_protocol *protocol, const sb_wire_welcome *welcome,
                            uint8_t bytes[SB_WIRE_WELCOME_MAX]);
void sb_wire_welcome_decode(const sb_wire_protocol *protocol, const uint8_t *bytes,
                            sb_wire_welcome *welcome);

typedef struct sb_wire_on_demand {
    uint64_t frames; /* since the program's start */
    uint64_t time;   /* tick of the connection */
} sb_wire_on_demand;

void sb_wire_on_demand_encode(const sb_wire_on_demand *on_demand,
                              uint8_t bytes[SB_WIRE_ON_DEMAND_SIZE]);
void sb_wire_on_demand_decode(const uint8_t bytes[SB_WIRE_ON_DEMAND_SIZE],
                              sb_wire_on_demand *on_demand);

/* ---- queries ---- */

typedef enum sb_wire_query_kind {
    SB_WIRE_ASK_TERMINATE,
    SB_WIRE_ASK_STRING,
    SB_WIRE_ASK_THREAD_NAME,
    SB_WIRE_ASK_SOURCE_LOCATION,
    SB_WIRE_ASK_PLOT_NAME,
    SB_WIRE_ASK_FRAME_NAME,
    SB_WIRE_ASK_PARAMETER,
    SB_WIRE_ASK_FIBER_NAME,
    SB_WIRE_ASK_EXTERNAL_NAME,
    SB_WIRE_ASK_DISCONNECT,
    SB_WIRE_ASK_CALLSTACK_FRAME,
    SB_WIRE_ASK_SYMBOL,
    SB_WIRE_ASK_SYMBOL_CODE,
    SB_WIRE_ASK_SOURCE_CODE,
    SB_WIRE_ASK_DATA_TRANSFER,
    SB_WIRE_ASK_DATA_TRANSFER_PART,
    SB_WIRE_QUERY_KINDS,
} sb_wire_query_kind;

typedef struct sb_wire_query {
    sb_wire_query_kind kind;
    uint64_t token;
    uint32_t extra;
} sb_wire_query;

void sb_wire_query_encode(const sb_wire_protocol *protocol, const sb_wire_query *query,
                          uint8_t bytes[SB_WIRE_QUERY_SIZE]);
/* False if the protocol has no such query. */
bool sb_wire_query_decode(const sb_wire_protocol *protocol, const uint8_t bytes[SB_WIRE_QUERY_SIZE],
                          sb_wire_query *query);

#endif
