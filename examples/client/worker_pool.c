/*
 * A small pool of workers in plain C: zones, thread names, a lock, messages.
 *
 *     cc -DSTROBE_ENABLE worker_pool.c $(pkg-config --cflags --libs strobe) -pthread
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <tracy/TracyC.h>

enum { WORKERS = 3, JOBS = 60 };

static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static __attribute__((unused)) TracyCLockCtx queue_lock;
static int next_job;
static volatile double sink;

/* Takes the next job under a lock that the recording shows. */
static int take_job(void) {
    ZoneScoped;
    TracyCLockBeforeLock(queue_lock);
    pthread_mutex_lock(&queue_mutex);
    TracyCLockAfterLock(queue_lock);
    const int job = next_job < JOBS ? next_job++ : -1;
    pthread_mutex_unlock(&queue_mutex);
    TracyCLockAfterUnlock(queue_lock);
    return job;
}

static void run_job(int job) {
    ZoneScopedN("job");
    ZoneTextF("job %d", job);
    ZoneValue((uint64_t)job);
    double sum = 0;
    for (int i = 0; i < 20000 * (1 + job % 5); i++)
        sum += 1.0 / (1 + i);
    sink = sum;
}

static void *work(void *name) {
    (void)name;
    TracyCSetThreadName((const char *)name);
    for (int job = take_job(); job >= 0; job = take_job())
        run_job(job);
    TracyCMessageL("this worker has nothing left to do");
    return NULL;
}

int main(void) {
    ZoneScoped;
    static char names[WORKERS][16];
    pthread_t workers[WORKERS];
    TracyCLockAnnounce(queue_lock);
    TracyCLockCustomName(queue_lock, "queue", strlen("queue"));
    for (int i = 0; i < WORKERS; i++) {
        snprintf(names[i], sizeof names[i], "worker %d", i);
        pthread_create(&workers[i], NULL, work, names[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    TracyCLockTerminate(queue_lock);
    printf("%d jobs done\n", JOBS);
    return 0;
}
