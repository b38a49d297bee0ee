/*
 * What a source includes, found without the compiler, which does not tell: all files that the lines
 * of a source and of these files name, in all folders where they might be looked for. That is more
 * than the compiler takes (conditions and comments are not looked at), so nothing that it takes is
 * missing.
 */
#ifndef SB_CUDA_CUDA_INCLUDES_H
#define SB_CUDA_CUDA_INCLUDES_H

#include "base/base.h"

typedef struct cuda_include_search {
    const char *source;
    sb_slice folder; /* that of the source */
    const char *const *options;
    size_t option_count;
    const sb_slice *folders; /* those that options name */
    size_t folder_count;
} cuda_include_search;

/*
 * Adds the source and the names and contents of all files to the key. False: it cannot be said for
 * certain what is included, or the code depends on the time at which it is built.
 *
 * Files that are named and not found stand in branches that are not taken (else the source could
 * not be compiled), unless the compiler knows of more folders than we do. *question, which the
 * caller frees, is a source that can be compiled only if it does not; NULL: all were found.
 */
bool cuda_includes_add(sb_key *key, const cuda_include_search *search, char **question);

/* Where a file lies: "." if its path has no folder. */
sb_slice cuda_folder_of(const char *path);

#endif
