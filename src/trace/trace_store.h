/*
 * Where the long columns of a trace live: in memory, or in a file beyond a bound.
 *
 * A store hands out zeroed memory that never moves and is given back with the store. Without a
 * bound it is anonymous memory in large pages. With one it is a file without a name, mapped shared:
 *
 *     writer ---> mapped pages ---> the system's file cache ---> disk
 *                 at most `bound`
 *
 * The writer says how much it touched (sb_store_touch). When that reaches the bound, all pages are
 * taken out of the process; what is in them stays in the file, and whoever reads or writes there
 * again gets the page back by a fault. So addresses stay valid, readers need to know nothing, and
 * what counts as memory of the process goes up and down between nothing and the bound. Threads that
 * read much of a bounded trace say so too, or they would fill memory with pages of the file.
 *
 * Disk space is reserved before it is mapped, so that a full disk is an error here and not a signal
 * later: then the store goes on in memory, and says so (sb_store_failure).
 *
 * Threads: one allocates; sb_store_touch and sb_store_trim may be called by any.
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
/* Says that so many bytes were read or written, mostly ones not touched before. */
void sb_store_touch(sb_store *store, uint64_t bytes);
/* Takes all pages out of the process now. Without a bound it does nothing. */
void sb_store_trim(sb_store *store);
/* Bytes reserved in the file. */
uint64_t sb_store_spilled(const sb_store *store);
/* Why the store went on in memory, as errno; 0: it did not. */
int sb_store_failure(const sb_store *store);

#endif
