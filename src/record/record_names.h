/*
 * Names: what tokens stand for, and the answers to a recorder's questions about them.
 *
 * Raw tokens are what records hold; tokens are what goes over the wire. A location that was met
 * without any library having been unloaded before is its own token. Otherwise equal locations share
 * the token of the first of them, so that a library which is loaded again keeps its statistics.
 * The token of a text is the address of our copy, so equal texts have one token.
 */
#ifndef SB_RECORD_NAMES_H
#define SB_RECORD_NAMES_H

#include "base/base.h"
#include "wire/wire.h"

typedef struct sb_record_names sb_record_names;

/* A location's texts; a name of size 0 with data NULL is no name. */
typedef struct sb_record_location {
    sb_slice name;
    sb_slice function;
    sb_slice file;
    uint32_t line;
    uint32_t colour;
} sb_record_location;

/* NULL without memory. */
sb_record_names *sb_record_names_create(void);
void sb_record_names_free(sb_record_names *names);

void sb_record_define_location(sb_record_names *names, uint64_t raw,
                               const sb_record_location *given);
void sb_record_define_string(sb_record_names *names, uint64_t raw, sb_slice slice);
void sb_record_define_symbol(sb_record_names *names, uint64_t address, sb_slice function,
                             sb_slice image);
/* A later name replaces an earlier one, a given name one that the system had. */
void sb_record_define_thread(sb_record_names *names, uint32_t id, sb_slice name, bool is_given,
                             bool is_main);

uint64_t sb_record_location_token(const sb_record_names *names, uint64_t raw);
/* How many different locations were defined. */
size_t sb_record_location_count(const sb_record_names *names);
uint64_t sb_record_string_token(const sb_record_names *names, uint64_t raw);
/* The token of a text that is kept from now on. */
uint64_t sb_record_keep_text(sb_record_names *names, sb_slice slice);

/*
 * Answers a question by one or more events to the handler. False: it is none that names can answer
 * (parameters, the end, unknown ones).
 */
bool sb_record_answer(sb_record_names *names, const sb_wire_query *query,
                      const sb_wire_handler *handler);

#endif
