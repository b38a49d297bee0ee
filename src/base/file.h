/*
 * Input files.
 *
 * A regular file is mapped, so that parsers hand out slices of it without copying. Standard input
 * and pipes are read whole. A reader that goes through a large file from front to back tells with
 * sb_file_release how far it is, and the pages behind it stop counting as this process's memory;
 * slices into them stay valid (the kernel brings the pages back when they are touched).
 */
#ifndef SB_BASE_FILE_H
#define SB_BASE_FILE_H

#include <stdbool.h>

#include "base/slice.h"
#include "base/status.h"

typedef enum sb_file_kind { SB_FILE_BORROWED, SB_FILE_READ, SB_FILE_MAPPED } sb_file_kind;

typedef struct sb_file {
    sb_slice text;
    sb_file_kind kind; /* whose memory text is */
    char *memory;      /* what to give back when it is closed; NULL if borrowed */
    size_t released;   /* bytes of a mapped file that were given back, from the front */
} sb_file;

/* Opens path for reading; "-" is standard input. A directory is refused. */
sb_status sb_file_open(sb_file *file, const char *path, sb_error *error);
/* A file that is already in memory and stays there; closing it does nothing. */
sb_file sb_file_of(sb_slice text);
void sb_file_release(sb_file *file, size_t offset);
void sb_file_close(sb_file *file);
/*
 * Whether both paths lead to one regular file, or to one that is still to be made; "-" is none.
 * Writing one would change the other.
 */
bool sb_file_is_same(const char *a, const char *b);
/* Pipes and devices can be named by a user, but one found among files could be read for ever. */
bool sb_file_is_regular(const char *path);
/* Waits until the file and its name are on the disk, so that they outlive a power cut; errno. */
bool sb_file_sync(const char *path);

#endif
