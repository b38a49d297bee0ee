/*
 * Map from a 64-bit id to a 32-bit number, for what files and programs name by address.
 *
 * Open addressing with linear steps. The hash is mixed with a random seed, so that no file can be
 * made to collide.
 */
#ifndef SB_BASE_IDMAP_H
#define SB_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sb_idmap {
    struct sb_idmap_entry *entries;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    uint64_t seed;
} sb_idmap;

void sb_idmap_init(sb_idmap *map);
/* Binds id to number, replacing what it was bound to. */
void sb_idmap_set(sb_idmap *map, uint64_t id, uint32_t number);
/* False if id is not bound. */
bool sb_idmap_get(const sb_idmap *map, uint64_t id, uint32_t *number);
/* Forgets id, if it is bound. */
void sb_idmap_remove(sb_idmap *map, uint64_t id);
void sb_idmap_free(sb_idmap *map);

#endif
