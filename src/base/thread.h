/*
 * Threads of our own in other people's processes.
 */
#ifndef SB_BASE_THREAD_H
#define SB_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that takes none of the program's signals: they are the program's. False: the
   system has no thread for us. */
bool sb_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif
