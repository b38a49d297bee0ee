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

enum {
    SLAB_SIZE = 4 << 20,
    ALIGNMENT = 64,
    PIECE_SIZE = 1 << 20, /* what goes to the file at once */
    PAGE_SIZE_MIN = 4096,
};

/* A stretch of address space from which memory is handed out. Each piece of it is in one place. */
typedef struct slab {
    char *memory;
    size_t size;
    bool *in_file; /* by piece; NULL without a bound */
    off_t offset;  /* of the first piece, should it go to the file */
} slab;

struct sb_store {
    uint64_t bound;     /* 0: none */
    int descriptor;     /* of the file; -1: none */
    uint64_t in_memory; /* bytes written that are not in the file; the writer's own */
    uint64_t spilled;   /* bytes in the file */
    uint64_t touched;   /* of those, since pages were last taken out; by several threads */
    int failure;

    pthread_mutex_t lock; /* guards slabs */
    sb_vector slabs;      /* slab */
    off_t offset;         /* for the next slab */
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
        free(mapped->in_file);
    }
    if (store->descriptor >= 0)
        close(store->descriptor);
    sb_vector_free(&store->slabs);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* ---- memory ---- */

static size_t pieces_of(const slab *mapped) {
    return (mapped->size + PIECE_SIZE - 1) / PIECE_SIZE;
}

/*
 * Pages of the usual size: zeroing large ones cost twice the time on virtual machines, and going
 * through a column in order does not miss them.
 */
static char *add_slab(sb_store *store, size_t size) {
    slab added = {.size = size, .offset = store->offset};
    added.memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (added.memory == MAP_FAILED)
        sb_out_of_memory(size);
    if (store->bound > 0)
        added.in_file = sb_alloc_zeroed(pieces_of(&added), sizeof(bool));
    store->offset += (off_t)size;
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

/* ---- from memory to the file ---- */

/* How much of it was ever touched. */
static uint64_t used_bytes(char *memory, size_t size) {
    unsigned char pages[PIECE_SIZE / PAGE_SIZE_MIN];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t count = (size + page - 1) / page;
    uint64_t used = 0;
    if (mincore(memory, size, pages) != 0)
        return size;
    for (size_t i = 0; i < count; i++)
        used += (pages[i] & 1) != 0 ? page : 0;
    return used;
}

/* Writes all of it, which takes the space on the disk; 0, or the reason why it cannot be. */
static int write_piece(int descriptor, const char *memory, size_t size, off_t offset) {
    while (size > 0) {
        const ssize_t written = pwrite(descriptor, memory, size, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        memory += written;
        size -= (size_t)written;
        offset += written;
    }
    return 0;
}

/*
 * Puts the file in place of a piece of memory: readers find the same bytes at the same address,
 * before and after, and wait for the system in between (ThreadSanitizer takes the mapping for a
 * write). Returns the memory that this has freed.
 */
static uint64_t spill_piece(sb_store *store, slab *mapped, size_t piece, bool only_full) {
    const size_t start = piece * PIECE_SIZE;
    const size_t left = mapped->size - start;
    const size_t size = left < PIECE_SIZE ? left : PIECE_SIZE;
    char *memory = mapped->memory + start;
    const off_t offset = mapped->offset + (off_t)start;
    const uint64_t used = mapped->in_file[piece] ? 0 : used_bytes(memory, size);
    if (used == 0 || (only_full && used < size))
        return 0;
    const int failed = write_piece(store->descriptor, memory, size, offset);
    if (failed != 0) {
        __atomic_store_n(&store->failure, failed, __ATOMIC_RELAXED);
        return 0;
    }
    if (mmap(memory, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, store->descriptor,
             offset) == MAP_FAILED)
        sb_out_of_memory(size);
    mapped->in_file[piece] = true;
    __atomic_add_fetch(&store->spilled, size, __ATOMIC_RELAXED);
    return used;
}

/* Moves the oldest pieces to the file until no more than `goal` is in memory. */
static void spill_pieces(sb_store *store, uint64_t goal, bool only_full) {
    for (size_t i = 0; i < store->slabs.count; i++) {
        slab *mapped = sb_vector_at(&store->slabs, i);
        for (size_t k = 0; k < pieces_of(mapped); k++) {
            if (store->in_memory <= goal || store->failure != 0)
                return;
            const uint64_t freed = spill_piece(store, mapped, k, only_full);
            store->in_memory -= freed < store->in_memory ? freed : store->in_memory;
        }
    }
}

/* What is being written to goes last: it would only come back page by page. */
static void spill(sb_store *store, uint64_t goal) {
    pthread_mutex_lock(&store->lock);
    spill_pieces(store, goal, true);
    spill_pieces(store, goal, false);
    pthread_mutex_unlock(&store->lock);
    /* What was counted and not found had gone to pieces that are in the file. */
    if (store->in_memory > goal)
        store->in_memory = 0;
}

/* ---- the bound ---- */

/* Takes the pages of neighbouring pieces out. */
static void trim_slab(const slab *mapped) {
    const size_t count = pieces_of(mapped);
    for (size_t first = 0; first < count;) {
        size_t end = first;
        while (end < count && mapped->in_file[end])
            end++;
        const size_t start = first * PIECE_SIZE;
        const size_t stop = end * PIECE_SIZE < mapped->size ? end * PIECE_SIZE : mapped->size;
        /* Of a shared mapping this forgets where the pages are, never what is in them. */
        if (end > first)
            madvise(mapped->memory + start, stop - start, MADV_DONTNEED);
        first = end + 1;
    }
}

void sb_store_trim(sb_store *store) {
    if (sb_store_spilled(store) == 0)
        return;
    __atomic_store_n(&store->touched, 0, __ATOMIC_RELAXED);
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->slabs.count; i++)
        trim_slab(sb_vector_at(&store->slabs, i));
    pthread_mutex_unlock(&store->lock);
}

/* Once there is a file, a quarter of the bound is for pages of it. */
void sb_store_touch(sb_store *store, uint64_t bytes) {
    if (sb_store_spilled(store) == 0)
        return;
    const uint64_t touched = __atomic_add_fetch(&store->touched, bytes, __ATOMIC_RELAXED);
    if (touched >= store->bound / 4)
        sb_store_trim(store);
}

/* Little goes at a time, so that who records is not held up for long. */
void sb_store_wrote(sb_store *store, uint64_t bytes) {
    if (store->bound == 0 || store->failure != 0)
        return;
    const uint64_t limit =
        sb_store_spilled(store) == 0 ? store->bound : store->bound - store->bound / 4;
    store->in_memory += bytes;
    if (store->in_memory < limit)
        return;
    spill(store, store->in_memory - store->bound / 8);
    sb_store_trim(store);
}

uint64_t sb_store_spilled(const sb_store *store) {
    return __atomic_load_n(&store->spilled, __ATOMIC_RELAXED);
}

int sb_store_failure(const sb_store *store) {
    return __atomic_load_n(&store->failure, __ATOMIC_RELAXED);
}
