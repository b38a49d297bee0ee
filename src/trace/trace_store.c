#include "trace/trace_store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLAB_SIZE = 4 << 20, ALIGNMENT = 64 };

/* A stretch of address space from which memory is handed out. */
typedef struct slab {
    char *memory;
    size_t size;
    bool in_file;
} slab;

struct sb_store {
    uint64_t bound; /* 0: none */
    int descriptor; /* of the file; -1: none */
    uint64_t file_size;
    uint64_t touched; /* since pages were last taken out; by several threads */
    int failure;

    pthread_mutex_t lock; /* guards slabs */
    sb_vector slabs;      /* slab */
    char *next;           /* free memory of the newest small slab */
    size_t left;
};

/* ---- the file ---- */

static const char *choose_folder(const char *wanted) {
    if (wanted != NULL)
        return wanted;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets the environment */
    const char *usual = getenv("TMPDIR");
    return usual != NULL && usual[0] != '\0' ? usual : "/var/tmp";
}

/* A file that has no name, or loses it at once where the file system knows no such files. */
static int open_unnamed(const char *folder) {
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0)
        return descriptor;
    const size_t size = strlen(folder) + 32;
    char *path = sb_alloc(size);
    snprintf(path, size, "%s/.strobe-spill.XXXXXX", folder);
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(path);
    free(path);
    return descriptor;
}

sb_status sb_store_create(const sb_trace_bound *bound, sb_store **store, sb_error *error) {
    sb_store *made = sb_alloc_zeroed(1, sizeof *made);
    made->descriptor = -1;
    made->slabs = sb_vector_of(sizeof(slab));
    pthread_mutex_init(&made->lock, NULL);
    *store = made;
    if (bound == NULL || bound->bytes == 0)
        return SB_OK;
    const char *folder = choose_folder(bound->folder);
    made->bound = bound->bytes;
    made->descriptor = open_unnamed(folder);
    if (made->descriptor >= 0)
        return SB_OK;
    const int reason = errno;
    sb_store_free(made);
    *store = NULL;
    SB_FAIL(error, SB_ERR_IO, "%s: cannot make a file for what does not fit in memory: %s", folder,
            strerror(reason));
}

void sb_store_free(sb_store *store) {
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->slabs.count; i++) {
        const slab *mapped = sb_vector_at(&store->slabs, i);
        munmap(mapped->memory, mapped->size);
    }
    if (store->descriptor >= 0)
        close(store->descriptor);
    sb_vector_free(&store->slabs);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* ---- memory ---- */

/* size bytes at the end of the file, with disk space behind them; NULL if there is none. */
static char *map_file(sb_store *store, size_t size) {
    const off_t offset = (off_t)store->file_size;
    if (fallocate(store->descriptor, 0, offset, (off_t)size) != 0) {
        store->failure = errno;
        /* A file system that cannot reserve can still grow the file. */
        if (errno != EOPNOTSUPP || ftruncate(store->descriptor, offset + (off_t)size) != 0)
            return NULL;
        store->failure = 0;
    }
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, store->descriptor, offset);
    if (memory == MAP_FAILED) {
        store->failure = errno;
        return NULL;
    }
    __atomic_store_n(&store->file_size, store->file_size + size, __ATOMIC_RELAXED);
    return memory;
}

static char *map_memory(size_t size) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        sb_out_of_memory(size);
    /* Fewer faults while a column is filled, fewer misses while it is read. */
    if (size > SLAB_SIZE)
        madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

static char *add_slab(sb_store *store, size_t size) {
    slab added = {.size = size};
    if (store->descriptor >= 0 && store->failure == 0)
        added.memory = map_file(store, size);
    added.in_file = added.memory != NULL;
    if (!added.in_file)
        added.memory = map_memory(size);
    pthread_mutex_lock(&store->lock);
    *(slab *)sb_vector_push(&store->slabs) = added;
    pthread_mutex_unlock(&store->lock);
    return added.memory;
}

void *sb_store_alloc(sb_store *store, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size >= SLAB_SIZE / 4)
        return add_slab(store, (size + page - 1) / page * page);
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > store->left) {
        store->next = add_slab(store, SLAB_SIZE);
        store->left = SLAB_SIZE;
    }
    char *memory = store->next;
    store->next += size;
    store->left -= size;
    return memory;
}

/* ---- the bound ---- */

void sb_store_trim(sb_store *store) {
    if (store->bound == 0)
        return;
    __atomic_store_n(&store->touched, 0, __ATOMIC_RELAXED);
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->slabs.count; i++) {
        const slab *mapped = sb_vector_at(&store->slabs, i);
        /* Of a shared mapping this forgets where the pages are, never what is in them. */
        if (mapped->in_file)
            madvise(mapped->memory, mapped->size, MADV_DONTNEED);
    }
    pthread_mutex_unlock(&store->lock);
}

void sb_store_touch(sb_store *store, uint64_t bytes) {
    if (store->bound == 0)
        return;
    const uint64_t touched = __atomic_add_fetch(&store->touched, bytes, __ATOMIC_RELAXED);
    if (touched >= store->bound)
        sb_store_trim(store);
}

uint64_t sb_store_spilled(const sb_store *store) {
    return __atomic_load_n(&store->file_size, __ATOMIC_RELAXED);
}

int sb_store_failure(const sb_store *store) {
    return __atomic_load_n(&store->failure, __ATOMIC_RELAXED);
}
