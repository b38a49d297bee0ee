/*
 * A set of numbers that may grow in a signal handler: its memory comes from mmap. Where a handler
 * interrupts a change, an element may be forgotten, which costs its owner a second definition.
 */
#include "client/client.h"

#include <sys/mman.h>

enum { FIRST_CAPACITY = 512 }; /* a page */

static uint64_t *find(uint64_t *elements, size_t capacity, uint64_t element) {
    size_t index = (size_t)sb_hash_number(element) & (capacity - 1);
    while (elements[index] != 0 && elements[index] != element)
        index = (index + 1) & (capacity - 1);
    return &elements[index];
}

bool client_set_has(const client_set *set, uint64_t element) {
    return set->capacity != 0 && *find(set->elements, set->capacity, element) == element;
}

static bool grow(client_set *set) {
    const size_t capacity = set->capacity == 0 ? FIRST_CAPACITY : 2 * set->capacity;
    void *memory = mmap(NULL, capacity * sizeof *set->elements, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    uint64_t *elements = memory;
    for (size_t i = 0; i < set->capacity; i++) {
        if (set->elements[i] != 0)
            *find(elements, capacity, set->elements[i]) = set->elements[i];
    }
    void *old = set->elements;
    const size_t old_capacity = set->capacity;
    set->elements = elements; /* first: it is large enough for either capacity */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    set->capacity = capacity;
    if (old != NULL)
        munmap(old, old_capacity * sizeof *elements);
    return true;
}

void client_set_add(client_set *set, uint64_t element) {
    if (2 * (set->count + 1) > set->capacity && !grow(set))
        return;
    *find(set->elements, set->capacity, element) = element;
    set->count++;
}

void client_set_free(client_set *set) {
    if (set->elements != NULL)
        munmap(set->elements, set->capacity * sizeof *set->elements);
    *set = (client_set){0};
}
