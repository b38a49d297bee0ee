#include "base/thread.h"

#include <signal.h>

bool sb_thread_start(pthread_t *thread, void *(*run)(void *), void *context) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    /* A thread begins with the signals of the one that starts it. */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const int failed = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}
