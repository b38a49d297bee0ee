#include "base/parallel.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

typedef struct helper {
    sb_work work;
    void *context;
    unsigned worker;
    bool has_thread;
    pthread_t thread;
} helper;

unsigned sb_parallel_width(unsigned most) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    assert(most > 0);
    if (online < 1)
        return 1;
    return (unsigned long)online < most ? (unsigned)online : most;
}

static void *run_helper(void *argument) {
    const helper *self = argument;
    self->work(self->context, self->worker);
    return NULL;
}

void sb_parallel(unsigned workers, sb_work work, void *context) {
    assert(workers > 0);
    helper *helpers = sb_alloc(workers * sizeof *helpers);
    for (unsigned i = 1; i < workers; i++) {
        helpers[i] = (helper){.work = work, .context = context, .worker = i};
        helpers[i].has_thread =
            pthread_create(&helpers[i].thread, NULL, run_helper, &helpers[i]) == 0;
    }
    work(context, 0);
    for (unsigned i = 1; i < workers; i++) {
        if (helpers[i].has_thread)
            pthread_join(helpers[i].thread, NULL);
        else
            work(context, i);
    }
    free(helpers);
}
