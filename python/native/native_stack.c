/*
 * The open zones of a thread. Zones end in the reverse order of their beginning: one that is to end
 * while others are open inside it ends these as well.
 */
#include "native.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct entry {
    const void *key;
    sb_zone zone;
} entry;

typedef struct stack {
    entry *entries;
    size_t count;
    size_t capacity;
} stack;

static _Thread_local stack *own __attribute__((tls_model("initial-exec")));
static pthread_key_t at_thread_end;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void free_stack(void *context) {
    stack *old = context;
    free(old->entries);
    free(old);
}

static void prepare(void) {
    pthread_key_create(&at_thread_end, free_stack);
}

static bool grow(void) {
    if (own == NULL) {
        pthread_once(&prepared, prepare);
        own = calloc(1, sizeof *own);
        if (own == NULL)
            return false;
        pthread_setspecific(at_thread_end, own);
    }
    const size_t capacity = own->capacity == 0 ? 128 : 2 * own->capacity;
    entry *entries = realloc(own->entries, capacity * sizeof *entries);
    if (entries == NULL)
        return false;
    own->entries = entries;
    own->capacity = capacity;
    return true;
}

void native_push(const void *key, const sb_source_location *location) {
    stack *zones = own;
    if (__builtin_expect(zones == NULL || zones->count == zones->capacity, 0)) {
        if (!grow())
            return;
        zones = own;
    }
    zones->entries[zones->count++] = (entry){key, sb_zone_begin(location)};
}

/* The place behind the innermost zone with this key; 0: none. */
static size_t find(const void *key) {
    size_t place = own == NULL ? 0 : own->count;
    while (place > 0 && own->entries[place - 1].key != key)
        place--;
    return place;
}

bool native_pop_if_last(const void *key) {
    stack *zones = own;
    if (zones == NULL || zones->count == 0 || zones->entries[zones->count - 1].key != key)
        return false;
    sb_zone_end(zones->entries[--zones->count].zone);
    return true;
}

void native_pop(const void *key) {
    if (__builtin_expect(native_pop_if_last(key), 1))
        return;
    const size_t place = find(key);
    while (place > 0 && own->count >= place)
        sb_zone_end(own->entries[--own->count].zone);
}

sb_zone native_zone_of(const void *key) {
    const size_t place = find(key);
    return place == 0 ? (sb_zone){0} : own->entries[place - 1].zone;
}
