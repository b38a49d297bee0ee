/* Where chunks come from: memory within its bound, or a recording file. */
#include "client/client.h"

#include <string.h>
#include <sys/mman.h>

enum {
    SLAB_CHUNKS = 32, /* taken from the system at once: 2 MiB, a large page */
    SLAB_SIZE = SLAB_CHUNKS * SB_CHUNK_SIZE,
    CHUNKS_KEPT = 16, /* free ones that stay when memory is given back */
};

pthread_mutex_t client_pool_lock = PTHREAD_MUTEX_INITIALIZER;

/* What stands in free chunks does not matter: who takes one gets an empty head, and publishes how
 * far the words have a meaning. */
static sb_chunk *free_chunks;
static size_t free_count;
static size_t chunks_made;
static size_t chunks_allowed = SLAB_CHUNKS;
static bool is_empty; /* no free chunk and none to be made; read without the lock */
static void **slabs;  /* in a page of their own: malloc may be instrumented */
static size_t slab_count;

enum { SLABS_MAX = 65536 };

void client_pool_set_bound(uint64_t bytes) {
    chunks_allowed = (size_t)(bytes / SB_CHUNK_SIZE);
    if (chunks_allowed < 4)
        chunks_allowed = 4;
}

bool client_pool_is_empty(void) {
    return __atomic_load_n(&is_empty, __ATOMIC_RELAXED);
}

static void push_free(sb_chunk *chunk) {
    chunk->next = free_chunks;
    free_chunks = chunk;
    free_count++;
}

/* Memory aligned to its size, so that the system can use a large page for it. */
static void *map_slab(void) {
    char *area = mmap(NULL, (size_t)2 * SLAB_SIZE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        return NULL;
    const size_t front = (SLAB_SIZE - ((uintptr_t)area & (SLAB_SIZE - 1))) & (SLAB_SIZE - 1);
    if (front > 0)
        munmap(area, front);
    munmap(area + front + SLAB_SIZE, SLAB_SIZE - front);
    return area + front;
}

static bool has_list_of_slabs(void) {
    if (slabs == NULL) {
        void *list = mmap(NULL, SLABS_MAX * sizeof *slabs, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        slabs = list == MAP_FAILED ? NULL : list;
    }
    return slabs != NULL && slab_count < SLABS_MAX;
}

/* Small programs stay small: only who needs more than one slab gets large pages. */
static char *make_slab(void) {
    char *slab = map_slab();
    if (slab != NULL && slab_count > 0)
        madvise(slab, SLAB_SIZE, MADV_HUGEPAGE);
    return slab;
}

static void add_slab(char *slab) {
    slabs[slab_count++] = slab;
    for (size_t i = SLAB_CHUNKS; i-- > 0;) {
        void *place = slab + i * SB_CHUNK_SIZE;
        push_free(place);
    }
    chunks_made += SLAB_CHUNKS;
}

static bool make_chunks(void) {
    char *slab = has_list_of_slabs() ? make_slab() : NULL;
    if (slab != NULL)
        add_slab(slab);
    return slab != NULL;
}

/* Will free chunks run out although more may be made? */
static bool is_low(void) {
    return free_count < SLAB_CHUNKS / 2 && chunks_made < chunks_allowed;
}

void client_pool_prepare(void) {
    pthread_mutex_lock(&client_pool_lock);
    const bool is_needed = !client_file_is_open() && is_low() && has_list_of_slabs();
    pthread_mutex_unlock(&client_pool_lock);
    /* Without the lock: the system clears the pages now, which takes long. */
    char *slab = is_needed ? make_slab() : NULL;
    if (slab == NULL)
        return;
#ifdef MADV_POPULATE_WRITE
    madvise(slab, SLAB_SIZE, MADV_POPULATE_WRITE);
#endif
    pthread_mutex_lock(&client_pool_lock);
    const bool is_still_needed = is_low() && has_list_of_slabs();
    if (is_still_needed)
        add_slab(slab);
    pthread_mutex_unlock(&client_pool_lock);
    if (!is_still_needed)
        munmap(slab, SLAB_SIZE);
}

static sb_chunk *take_from_memory(bool beyond, sb_record_cause *cause) {
    /* Chunks in use may not pass the bound, even where a slab has more of them. */
    const size_t in_use = chunks_made - free_count;
    if (in_use >= chunks_allowed && !beyond) {
        *cause = SB_RECORD_LOST_TO_MEMORY;
        __atomic_store_n(&is_empty, true, __ATOMIC_RELAXED);
        return NULL;
    }
    if (free_chunks == NULL && !make_chunks()) {
        *cause = SB_RECORD_LOST_TO_SYSTEM;
        return NULL;
    }
    sb_chunk *chunk = free_chunks;
    free_chunks = chunk->next;
    free_count--;
    return chunk;
}

/*
 * Is it time that the sender did something? It comes by itself every few milliseconds; calling it
 * is a system call, and where it gets this thread's processor a long one.
 */
static bool is_short(void) {
    if (client_file_is_open())
        return client_file_is_low();
    return is_low() || (sb_client_is_connected() && chunks_made - free_count > chunks_allowed / 4);
}

sb_chunk *client_pool_take(bool beyond, sb_record_cause *cause) {
    pthread_mutex_lock(&client_pool_lock);
    sb_chunk *chunk =
        client_file_is_open() ? client_file_take(cause) : take_from_memory(beyond, cause);
    const bool is_sender_wanted = is_short();
    pthread_mutex_unlock(&client_pool_lock);
    if (is_sender_wanted)
        client_wake_sender();
    if (chunk != NULL)
        memset(chunk, 0, SB_CHUNK_HEAD_SIZE);
    return chunk;
}

void client_pool_give(sb_chunk *chunk) {
    pthread_mutex_lock(&client_pool_lock);
    push_free(chunk);
    __atomic_store_n(&is_empty, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&client_pool_lock);
}

void client_pool_trim(void) {
    pthread_mutex_lock(&client_pool_lock);
    size_t kept = 0;
    for (sb_chunk *chunk = free_chunks; chunk != NULL; chunk = chunk->next) {
        /* The first page holds the link; the rest is not needed. */
        enum { PAGE = 4096 };
        if (kept++ >= CHUNKS_KEPT)
            madvise((char *)chunk + PAGE, SB_CHUNK_SIZE - PAGE, MADV_DONTNEED);
    }
    pthread_mutex_unlock(&client_pool_lock);
}

void client_pool_forget(void) {
    for (size_t i = 0; i < slab_count; i++)
        munmap(slabs[i], SLAB_SIZE);
    slab_count = 0;
    free_chunks = NULL;
    free_count = 0;
    chunks_made = 0;
    is_empty = false;
}
