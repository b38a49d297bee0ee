/*
 * Where the long columns of a trace live: in memory, and in a file beyond a bound.
 *
 * A store hands out zeroed memory that never moves and is given back with the store. The writer
 * says how much it wrote (sb_store_wrote). When that reaches the bound, the oldest pieces go to a
 * file without a name, which is mapped in their place:
 *
 *     writer ---> memory ---> mapped pages ---> the system's file cache ---> disk
 *                 3/4 of the bound, 1/4
 *
 * Who goes through much of a trace says so (sb_store_touch). When that reaches its part of the
 * bound, all pages of the file are taken out of the process; what is in them stays in the file, and
 * whoever reads or writes there again gets the page back by a fault. So addresses stay valid and
 * readers need to know nothing, and a trace that stays below the bound never sees the disk.
 *
 * A full disk is an error when a piece is written and not a signal later: then the store goes on in
 * memory, and says so (sb_store_failure).
 *
 * Threads: one allocates, writes into what it got and calls sb_store_wrote; any may read, and call
 * sb_store_touch and sb_store_trim.
 */
#ifndef SB_TRACE_STORE_H
#define SB_TRACE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

typedef struct sb_store sb_store;

/* What a trace may keep in memory. */
typedef struct sb_trace_bound {
    uint64_t bytes;     /* of columns; 0: all of them */
    const char *folder; /* where the rest goes; NULL: $TMPDIR, else /var/tmp */
} sb_trace_bound;

/* A store; bound may be NULL. Fails if the file cannot be made. */
sb_status sb_store_create(const sb_trace_bound *bound, sb_store **store, sb_error *error);
void sb_store_free(sb_store *store);
/* Zeroed memory aligned to a cache line. */
void *sb_store_alloc(sb_store *store, size_t size);
/* Says that so many bytes were written, mostly ones not touched before. */
void sb_store_wrote(sb_store *store, uint64_t bytes);
/* Says that so many bytes were read. */
void sb_store_touch(sb_store *store, uint64_t bytes);
/* Takes all pages of the file out of the process now. */
void sb_store_trim(sb_store *store);
/* Bytes in the file. */
uint64_t sb_store_spilled(const sb_store *store);
/* Why the store went on in memory, as errno; 0: it did not. */
int sb_store_failure(const sb_store *store);

#endif
