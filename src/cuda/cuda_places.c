#include "cuda/cuda_places.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <strobe/cuda_layout.h>
#include <strobe/strobe.h>

#include "base/base.h"

/* Texts are not longer than this; they come from memory that kernels write. */
#define TEXT_MOST 1000u

typedef struct cuda_place_entry {
    uint64_t address;
    const sb_source_location *location; /* NULL: the entry is free */
} cuda_place_entry;

/*
 * Never freed, since recordings know a location by its address. A module that is loaded again
 * brings its places again: those of the same content are one, or recordings would run out of them.
 */
typedef struct kept_location {
    sb_source_location location;
    struct kept_location *next; /* of the same hash */
} kept_location;

static struct {
    pthread_mutex_t lock;
    sb_map by_hash; /* kept_location * */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Those of a hash, or NULL. With the lock. */
static kept_location *kept_of(uint64_t hash) {
    const uintptr_t first = (uintptr_t)sb_map_get(&kept.by_hash, hash);
    return (kept_location *)first; // NOLINT(performance-no-int-to-ptr)
}

static uint64_t hash_of(const sb_source_location *location) {
    uint64_t hash = sb_hash_number(location->line);
    hash = sb_hash_text(hash, sb_slice_of(location->name));
    hash = sb_hash_text(hash, sb_slice_of(location->file));
    return sb_hash_text(hash, sb_slice_of(location->function)) | 1;
}

static bool is_same(const sb_source_location *a, const sb_source_location *b) {
    return a->line == b->line && strcmp(a->name, b->name) == 0 && strcmp(a->file, b->file) == 0 &&
           strcmp(a->function, b->function) == 0;
}

/* One of this content, or NULL. With the lock. */
static const sb_source_location *find_kept(const sb_source_location *location, uint64_t hash) {
    const kept_location *at = kept_of(hash);
    while (at != NULL && !is_same(&at->location, location))
        at = at->next;
    return at != NULL ? &at->location : NULL;
}

/* With the lock. NULL: no memory. */
static const sb_source_location *add_kept(const sb_source_location *location, uint64_t hash) {
    kept_location *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    *made = (kept_location){*location, kept_of(hash)};
    if (!sb_map_set(&kept.by_hash, hash, (uintptr_t)made)) {
        free(made);
        return NULL;
    }
    return &made->location;
}

static const sb_source_location unknown = {"zone", "", "", 0, 0};

void cuda_places_free(cuda_places *places) {
    free(places->entries);
    *places = (cuda_places){0};
}

void cuda_places_forget(cuda_places *places) {
    if (places->entries != NULL)
        memset(places->entries, 0, places->capacity * sizeof *places->entries);
    places->count = 0;
}

static cuda_place_entry *entry_for(const cuda_places *places, uint64_t address) {
    size_t at = (address >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 20;
    while (true) {
        cuda_place_entry *entry = &places->entries[at++ & (places->capacity - 1)];
        if (entry->location == NULL || entry->address == address)
            return entry;
    }
}

static bool grow(cuda_places *places) {
    if (places->count * 2 < places->capacity)
        return true;
    cuda_places larger = {.capacity = places->capacity == 0 ? 256 : places->capacity * 2,
                          .count = places->count};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < places->capacity; i++)
        if (places->entries[i].location != NULL)
            *entry_for(&larger, places->entries[i].address) = places->entries[i];
    free(places->entries);
    *places = larger;
    return true;
}

static bool read_gpu(const cuda_driver *driver, cuda_stream stream, uint64_t address, void *to,
                     size_t size) {
    return driver != NULL && driver->copy_to_host(to, address, size, stream) == 0 &&
           driver->stream_wait(stream) == 0;
}

/* A copy of a text on the GPU; NULL: it cannot be had. */
static char *read_text(const cuda_driver *driver, cuda_stream stream, const char *at,
                       uint32_t size) {
    if (size > TEXT_MOST)
        size = TEXT_MOST;
    char *text = calloc(1, size + 1);
    if (text != NULL && size > 0 &&
        !read_gpu(driver, stream, (uint64_t)(uintptr_t)at, text, size)) {
        free(text);
        return NULL;
    }
    return text;
}

/* What a module says of a place; texts that are NULL cannot be had. */
typedef struct read_texts {
    char *name;
    char *file;
    char *function;
    uint32_t line;
} read_texts;

static read_texts read_place(const cuda_driver *driver, cuda_stream stream, uint64_t address) {
    uint64_t itself = 0;
    sb_cuda_place place;
    if (address == 0 || !read_gpu(driver, stream, address, &itself, sizeof itself) || itself == 0 ||
        !read_gpu(driver, stream, itself, &place, sizeof place))
        return (read_texts){0};
    return (read_texts){.name = read_text(driver, stream, place.name, place.name_size),
                        .file = read_text(driver, stream, place.file, place.file_size),
                        .function = read_text(driver, stream, place.function, place.function_size),
                        .line = place.line};
}

static char *name_after(uint64_t address) {
    enum { SIZE = 32 };
    char *name = malloc(SIZE);
    if (name != NULL)
        snprintf(name, SIZE, "zone 0x%llx", (unsigned long long)address);
    return name;
}

/* Takes the texts over. NULL: no memory. */
static const sb_source_location *keep(const read_texts *texts) {
    const sb_source_location location = {.name = texts->name != NULL ? texts->name : unknown.name,
                                         .function = texts->function != NULL ? texts->function
                                                                             : unknown.function,
                                         .file = texts->file != NULL ? texts->file : unknown.file,
                                         .line = texts->line};
    const uint64_t hash = hash_of(&location);
    pthread_mutex_lock(&kept.lock);
    const sb_source_location *found = find_kept(&location, hash);
    const sb_source_location *made = found == NULL ? add_kept(&location, hash) : NULL;
    pthread_mutex_unlock(&kept.lock);
    if (made != NULL)
        return made;
    free(texts->name);
    free(texts->file);
    free(texts->function);
    return found;
}

const sb_source_location *cuda_places_find(cuda_places *places, const cuda_driver *driver,
                                           cuda_stream stream, uint64_t address) {
    if (!grow(places))
        return &unknown;
    cuda_place_entry *entry = entry_for(places, address);
    if (entry->location == NULL) {
        read_texts texts = read_place(driver, stream, address);
        if (texts.name == NULL)
            texts.name = name_after(address);
        const sb_source_location *location = keep(&texts);
        if (location == NULL)
            return &unknown;
        places->count++;
        *entry = (cuda_place_entry){address, location};
    }
    return entry->location;
}
