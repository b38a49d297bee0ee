#include "ptx_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/base.h"

/* Work of another stream that must be done before. */
typedef struct ptx_awaited {
    ptx_stream *stream;
    uint64_t count;
} ptx_awaited;

/* Kept when it is destroyed: others may wait for what it did. */
struct ptx_stream {
    ptx_stream *next;
    pthread_t thread;
    bool is_apart; /* does not wait for the default stream */
    bool is_ending;
    ptx_work *first;
    ptx_work *last;
    uint64_t given;
    uint64_t done;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    ptx_stream *streams;
    ptx_stream *by_default;
    int sticky;
    uint64_t launches;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- doing it ---- */

static int do_work(ptx_work *work) {
    switch (work->kind) {
    case PTX_WORK_LAUNCH:
        return ptx_launch_run(&work->launch);
    case PTX_WORK_WRITE:
        __atomic_store_n((uint32_t *)work->to, work->value, __ATOMIC_RELEASE);
        return 0;
    default:
        ptx_memory_copy(work->to, work->from, work->size);
        return 0;
    }
}

static bool is_ready(const ptx_work *work) {
    for (size_t i = 0; i < work->awaited_count; i++)
        if (work->awaited[i].stream->done < work->awaited[i].count)
            return false;
    return true;
}

static void free_work(ptx_work *work) {
    free(work->launch.parameters);
    free(work->staged);
    free(work->awaited);
    free(work);
}

/* With the lock, which is let go meanwhile. */
static void do_first(ptx_stream *stream) {
    ptx_work *work = stream->first;
    const bool is_done = all.sticky == 0;
    pthread_mutex_unlock(&all.lock);
    const int fault = is_done ? do_work(work) : 0;
    pthread_mutex_lock(&all.lock);
    if (fault != 0 && all.sticky == 0)
        all.sticky = fault;
    stream->first = work->next;
    if (stream->first == NULL)
        stream->last = NULL;
    stream->done++;
    free_work(work);
    pthread_cond_broadcast(&all.changed);
}

static void *serve(void *of) {
    ptx_stream *stream = of;
    (void)prctl(PR_SET_TIMERSLACK, 1); /* what rests for a moment is not to rest longer */
    pthread_mutex_lock(&all.lock);
    while (!stream->is_ending || stream->first != NULL) {
        if (stream->first != NULL && (all.sticky != 0 || is_ready(stream->first)))
            do_first(stream);
        else
            pthread_cond_wait(&all.changed, &all.lock);
    }
    pthread_mutex_unlock(&all.lock);
    return NULL;
}

/* ---- streams ---- */

static ptx_stream *create(bool is_apart) {
    ptx_stream *stream = sb_alloc_zeroed(1, sizeof *stream);
    stream->is_apart = is_apart;
    stream->next = all.streams;
    all.streams = stream;
    if (pthread_create(&stream->thread, NULL, serve, stream) != 0)
        abort();
    return stream;
}

ptx_stream *ptx_stream_create(bool is_apart) {
    pthread_mutex_lock(&all.lock);
    ptx_stream *made = create(is_apart);
    pthread_mutex_unlock(&all.lock);
    return made;
}

void ptx_stream_destroy(ptx_stream *stream) {
    pthread_mutex_lock(&all.lock);
    stream->is_ending = true;
    pthread_cond_broadcast(&all.changed);
    pthread_mutex_unlock(&all.lock);
    pthread_join(stream->thread, NULL);
}

/* 1 and 2 are other names of the default stream. With the lock. */
static ptx_stream *find(ptx_stream *stream) {
    if ((uintptr_t)stream > 2)
        return stream;
    if (all.by_default == NULL)
        all.by_default = create(false);
    return all.by_default;
}

/* What must be done before, as things stand. With the lock. */
static void note_awaited(const ptx_stream *stream, ptx_work *work) {
    size_t count = 0;
    for (const ptx_stream *other = all.streams; other != NULL; other = other->next)
        count++;
    work->awaited = sb_alloc_zeroed(count, sizeof *work->awaited);
    for (ptx_stream *other = all.streams; other != NULL; other = other->next) {
        const bool is_default = stream == all.by_default || other == all.by_default;
        if (other != stream && is_default && !stream->is_apart && !other->is_apart)
            work->awaited[work->awaited_count++] = (ptx_awaited){other, other->given};
    }
}

void ptx_stream_give(ptx_stream *stream, const ptx_work *work) {
    ptx_work *kept = sb_alloc(sizeof *kept);
    *kept = *work;
    kept->next = NULL;
    pthread_mutex_lock(&all.lock);
    stream = find(stream);
    note_awaited(stream, kept);
    if (stream->last != NULL)
        stream->last->next = kept;
    else
        stream->first = kept;
    stream->last = kept;
    stream->given++;
    pthread_cond_broadcast(&all.changed);
    pthread_mutex_unlock(&all.lock);
}

bool ptx_stream_is_idle(ptx_stream *stream) {
    pthread_mutex_lock(&all.lock);
    const ptx_stream *found = find(stream);
    const bool is_idle = found->done == found->given;
    pthread_mutex_unlock(&all.lock);
    return is_idle;
}

int ptx_stream_wait(ptx_stream *stream) {
    pthread_mutex_lock(&all.lock);
    const ptx_stream *found = find(stream);
    const uint64_t count = found->given;
    while (found->done < count)
        pthread_cond_wait(&all.changed, &all.lock);
    const int sticky = all.sticky;
    pthread_mutex_unlock(&all.lock);
    return sticky;
}

int ptx_streams_wait(void) {
    pthread_mutex_lock(&all.lock);
    for (const ptx_stream *stream = all.streams; stream != NULL; stream = stream->next) {
        const uint64_t count = stream->given;
        while (stream->done < count)
            pthread_cond_wait(&all.changed, &all.lock);
    }
    const int sticky = all.sticky;
    pthread_mutex_unlock(&all.lock);
    return sticky;
}

int ptx_sticky_error(void) {
    pthread_mutex_lock(&all.lock);
    const int sticky = all.sticky;
    pthread_mutex_unlock(&all.lock);
    return sticky;
}

/* ---- launches ---- */

uint64_t ptx_next_launch(void) {
    return __atomic_add_fetch(&all.launches, 1, __ATOMIC_RELAXED);
}

static bool is_size_fine(const ptx_shape *shape) {
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (shape->grid[i] == 0 || shape->block[i] == 0 || shape->block[i] > PTX_THREADS_MOST)
            return false;
        threads *= shape->block[i];
    }
    return threads <= PTX_THREADS_MOST && shape->grid[1] <= UINT16_MAX &&
           shape->grid[2] <= UINT16_MAX;
}

int ptx_prepare_launch(ptx_function *function, const ptx_shape *shape, void **arguments,
                       ptx_work *work) {
    enum { FOR_ANY = 48 * 1024 };
    if (!is_size_fine(shape))
        return PTX_INVALID;
    const uint32_t most = function->most_shared > FOR_ANY ? function->most_shared : FOR_ANY;
    if (shape->shared_bytes > most ||
        function->shared_bytes + shape->shared_bytes > PTX_BLOCK_SHARED)
        return PTX_INVALID;
    *work = (ptx_work){.kind = PTX_WORK_LAUNCH};
    work->launch.function = function;
    work->launch.shape = *shape;
    work->launch.number = ptx_next_launch();
    work->launch.gpu = ptx_current_gpu();
    work->launch.parameters = sb_alloc_zeroed(1, function->parameter_bytes + 1);
    for (uint32_t i = 0; i < function->parameter_count; i++)
        memcpy(work->launch.parameters + function->parameters[i].offset, arguments[i],
               function->parameters[i].size);
    return 0;
}
