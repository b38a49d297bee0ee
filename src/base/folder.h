/*
 * Folders.
 *
 * What does not take an arena takes no memory of memory.h, so that code in somebody else's process
 * may use it.
 */
#ifndef SB_BASE_FOLDER_H
#define SB_BASE_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory.h"
#include "base/status.h"

/* Makes the folder and those above it that are missing. */
sb_status sb_folder_make(const char *path, sb_error *error);
bool sb_folder_is(const char *path);
/* Told of what is in a folder: its path, valid during the call, and what stat says of it. */
typedef void (*sb_folder_visitor)(void *context, const char *path, const struct stat *status);
/* Shows all whose names begin and end so, in no order. A folder that is not there is empty. */
void sb_folder_visit(const char *folder, const char *prefix, const char *suffix,
                     sb_folder_visitor visitor, void *context);
/* Is a after b? */
bool sb_time_is_later(struct timespec a, struct timespec b);
/* The path of the newest file of a folder whose name begins and ends so; NULL if there is none. */
const char *sb_folder_newest(sb_arena *arena, const char *folder, const char *prefix,
                             const char *suffix);
/* The path from the root on, so that it holds wherever a process goes; it need not exist. */
const char *sb_path_absolute(sb_arena *arena, const char *path);

/*
 * A folder for what can be made again: NAME in $STROBE_CACHE, else in $XDG_CACHE_HOME/strobe, else
 * in ~/.cache/strobe. It is made if it is not there.
 */
sb_status sb_folder_cache(sb_arena *arena, const char *name, const char **path, sb_error *error);
sb_status sb_folder_cache_into(const char *name, char path[PATH_MAX], sb_error *error);

#endif
