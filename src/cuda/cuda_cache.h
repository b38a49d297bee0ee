/*
 * Code that was built at run time, kept for the next process: in the folder `cuda` of the cache
 * folder (base/folder.h), under a key of all that it depends on. Where that is not known for
 * certain, nothing is kept. What goes wrong here is nobody's error: the kernel is built.
 */
#ifndef SB_CUDA_CUDA_CACHE_H
#define SB_CUDA_CUDA_CACHE_H

#include "base/base.h"

/* All that goes into the compiler. */
typedef struct cuda_recipe {
    const char *source;
    const char *name;
    const char *const *options; /* all of them, the target among them */
    size_t option_count;
    const sb_key *compiler; /* which it is; NULL: not known */
} cuda_recipe;

/* Code on its way into the cache, or out of it. */
typedef struct cuda_cached {
    bool is_used; /* there is a place for it */
    sb_key key;
    char *code; /* what was found, which the caller frees; NULL: nothing */
    /* A source, which the caller frees: what is built is kept only if it can be compiled as well
       (cuda_includes.h). NULL: none. */
    char *question;
} cuda_cached;

cuda_cached cuda_cache_find(const cuda_recipe *recipe);
/* Keeps what was built because nothing was found, unless a file has changed meanwhile. */
void cuda_cache_keep(const cuda_recipe *recipe, const cuda_cached *place, sb_slice code);

#endif
