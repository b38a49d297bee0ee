/*
 * Collector: what a recording told, as counts and texts that tests compare.
 *
 * It takes events (as a reader of a running program, or from a recording file), asks for names
 * through `ask`, and checks what must always hold: zones nest per thread, times of a thread ascend,
 * texts belong to an open zone. collector_print gives sorted lines such as
 *
 *     frame second 20
 *     message hello
 *     zone parse 300
 */
#ifndef SB_TESTS_COLLECTOR_H
#define SB_TESTS_COLLECTOR_H

#include "wire/wire.h"

typedef struct collector_name {
    uint64_t token;
    char text[256];
} collector_name;

typedef struct collector_thread {
    uint32_t id;
    uint32_t open;
    uint64_t fiber; /* that it runs */
    int64_t time;
    uint64_t zones;
} collector_thread;

typedef struct test_collector {
    void *context;
    void (*ask)(void *context, const sb_wire_query *query);
    sb_vector lines; /* char[512] each: what happened, one by one */
    sb_vector zones; /* collector_zone: count by location */
    sb_map zones_by_hash;
    sb_vector names;     /* collector_name */
    sb_vector locations; /* collector_location, in order of asking */
    sb_vector threads;   /* collector_thread */
    size_t locations_answered;
    size_t questions; /* open ones */
    uint64_t zone_count;
    uint64_t lost_messages;
    bool has_ended;  /* the program said that this was all */
    char fault[256]; /* the first thing that must not be; empty: none */
} test_collector;

void collector_init(test_collector *collector, void *context,
                    void (*ask)(void *context, const sb_wire_query *query));
sb_wire_handler collector_handler(test_collector *collector);
/* Sorted lines, equal ones once with their count behind. Empty texts are "-". */
void collector_print(test_collector *collector, sb_output *output);
/* Zones of that name. */
uint64_t collector_zones_named(const test_collector *collector, const char *name);
void collector_free(test_collector *collector);

#endif
