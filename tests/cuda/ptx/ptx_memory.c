/*
 * Which memory kernels may touch: a table in the order of addresses.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "ptx.h"

typedef struct stretch {
    uint64_t begin;
    uint64_t end;
    bool is_writable;
} stretch;

static struct {
    pthread_mutex_t lock;
    stretch *stretches;
    size_t count;
    size_t capacity;
    _Atomic uint64_t version; /* changes whenever something is taken away */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .version = 1};

/* The first that ends behind an address. */
static size_t find(uint64_t address) {
    size_t low = 0;
    size_t high = all.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (all.stretches[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void ptx_memory_add(uint64_t address, uint64_t size, bool is_writable) {
    if (size == 0)
        return;
    pthread_mutex_lock(&all.lock);
    if (all.count == all.capacity) {
        all.capacity = 2 * all.capacity + 64;
        stretch *grown = sb_alloc(all.capacity * sizeof *grown);
        if (all.count > 0)
            memcpy(grown, all.stretches, all.count * sizeof *grown);
        free(all.stretches);
        all.stretches = grown;
    }
    const size_t at = find(address);
    memmove(&all.stretches[at + 1], &all.stretches[at], (all.count - at) * sizeof(stretch));
    all.stretches[at] = (stretch){address, address + size, is_writable};
    all.count++;
    pthread_mutex_unlock(&all.lock);
}

bool ptx_memory_remove(uint64_t address) {
    pthread_mutex_lock(&all.lock);
    const size_t at = find(address);
    const bool is_there = at < all.count && all.stretches[at].begin == address;
    if (is_there) {
        memmove(&all.stretches[at], &all.stretches[at + 1], (all.count - at - 1) * sizeof(stretch));
        all.count--;
        all.version++;
    }
    pthread_mutex_unlock(&all.lock);
    return is_there;
}

static bool is_inside(const ptx_memory_cache *cache, uint64_t address, uint64_t size,
                      bool is_written) {
    return address >= cache->begin && address < cache->end && cache->end - address >= size &&
           (cache->is_writable || !is_written);
}

bool ptx_memory_find(ptx_memory_cache *cache, uint64_t address, uint64_t size, bool is_written) {
    if (cache->version == all.version && is_inside(cache, address, size, is_written))
        return true;
    pthread_mutex_lock(&all.lock);
    const size_t at = find(address);
    if (at < all.count)
        *cache = (ptx_memory_cache){all.version, all.stretches[at].begin, all.stretches[at].end,
                                    all.stretches[at].is_writable};
    const bool is_found = at < all.count && is_inside(cache, address, size, is_written);
    pthread_mutex_unlock(&all.lock);
    return is_found;
}

bool ptx_memory_has(uint64_t address, uint64_t size, bool is_written) {
    return ptx_memory_find(&(ptx_memory_cache){0}, address, size, is_written);
}

void *ptx_memory_make(size_t size, int byte) {
    enum { ALIGNMENT = 512 };
    const size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *made = aligned_alloc(ALIGNMENT, rounded);
    return made != NULL ? memset(made, byte, rounded) : NULL;
}

/* 16 bytes in a register of the processor's. */
typedef uint64_t pair __attribute__((vector_size(16)));

void ptx_memory_copy(void *to, const void *from, size_t size) {
    size_t done = 0;
    if (((uintptr_t)to | (uintptr_t)from) % sizeof(pair) == 0)
        for (; size - done >= sizeof(pair); done += sizeof(pair))
            *(volatile pair *)(void *)((char *)to + done) =
                *(const volatile pair *)(const void *)((const char *)from + done);
    if (done < size)
        memcpy((char *)to + done, (const char *)from + done, size - done);
}
