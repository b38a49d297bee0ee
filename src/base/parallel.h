/*
 * Work split over threads.
 *
 * For loops over many things of about the same kind: the threads live as long as the call, share
 * what `context` points at, and divide it among themselves by their number or by a counter.
 */
#ifndef SB_BASE_PARALLEL_H
#define SB_BASE_PARALLEL_H

/* worker is 0 to the number of workers - 1. */
typedef void (*sb_work)(void *context, unsigned worker);

/* As many threads as there are processors, but no more than most. */
unsigned sb_parallel_width(unsigned most);
/*
 * Calls work once for each worker, the first on the caller's thread and the others on their own,
 * and returns when all are done. A worker for whom the system has no thread runs after the first,
 * so work must not make one worker wait for a later one to begin.
 */
void sb_parallel(unsigned workers, sb_work work, void *context);

#endif
