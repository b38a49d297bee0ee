/*
 * Files of a cache folder, for code that lives in somebody else's process: nothing here ends it,
 * says anything or waits. What cannot be kept is not, and what cannot be read was never there.
 *
 * A kept file begins with the key of what it was made from, its length and a checksum, so that one
 * that was cut, damaged, exchanged or written by another version is not taken for what it is not.
 * It appears whole under its name, is for its owner alone, and is never reached through a link: in
 * a folder that others can write to, they may put what they like under its name.
 *
 * Any number of processes and threads may use a folder at once.
 */
#ifndef SB_BASE_KEPT_H
#define SB_BASE_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/key.h"
#include "base/slice.h"

/* False: it could not be written, and nothing is left of it. */
bool sb_kept_write(const char *path, const sb_key *key, sb_slice content);
/*
 * What was kept for this key, which the caller frees; NULL: there is no such file, or none that can
 * be trusted. Reading it makes it the one that was used last.
 */
char *sb_kept_read(const char *path, const sb_key *key, size_t *size);

/* Is it a file of the user's own, and no link to one? */
bool sb_kept_is_own(const char *path);
/*
 * Removes files whose names end so, the ones not used for longest first, until all that are left
 * and `coming` more bytes are within the bound. The one called apart stays.
 */
void sb_kept_bound(const char *folder, const char *suffix, const char *apart, uint64_t coming,
                   uint64_t bound);
/* Removes what is left in a folder of processes that were killed while they wrote. */
void sb_kept_sweep(const char *folder);

#endif
