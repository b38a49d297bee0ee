/*
 * Folders.
 */
#ifndef SB_BASE_FOLDER_H
#define SB_BASE_FOLDER_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/status.h"

/* Makes the folder and those above it that are missing. */
sb_status sb_folder_make(const char *path, sb_error *error);
bool sb_folder_is(const char *path);
/* The path from the root on, so that it holds wherever a process goes; it need not exist. */
const char *sb_path_absolute(sb_arena *arena, const char *path);

#endif
