/*
 * Other programs, run to their end for what they print.
 */
#ifndef SB_BASE_PROCESS_H
#define SB_BASE_PROCESS_H

#include "base/output.h"

/*
 * Runs a program, looked for in PATH if its name has no '/', and adds what it writes to its
 * standard output to text, at most `limit` bytes; what is beyond is read and dropped. Returns its
 * exit code, 128 + the number of the signal that ended it, or -1 if it could not be started.
 * arguments begin with the name and end with NULL.
 */
int sb_process_run(const char *const *arguments, size_t limit, sb_output *text);

#endif
