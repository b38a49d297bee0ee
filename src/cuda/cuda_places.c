#include "cuda/cuda_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <strobe/cuda_layout.h>
#include <strobe/strobe.h>

/* Texts are not longer than this; they come from memory that kernels write. */
#define TEXT_MOST 1000u

typedef struct cuda_place_entry {
    uint64_t address;
    bool is_forgotten;
    sb_source_location *location; /* NULL: the entry is free */
} cuda_place_entry;

/* Never freed, since recordings know a location by its address; all of them hang together. */
typedef struct kept_location {
    sb_source_location location;
    struct kept_location *next;
} kept_location;

static kept_location *kept;

static sb_source_location *keep_location(void) {
    kept_location *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->next = __atomic_load_n(&kept, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&kept, &made->next, made, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    return &made->location;
}

static const sb_source_location unknown = {"zone", "", "", 0, 0};

void cuda_places_free(cuda_places *places) {
    free(places->entries);
    *places = (cuda_places){0};
}

void cuda_places_forget(cuda_places *places) {
    for (size_t i = 0; i < places->capacity; i++)
        places->entries[i].is_forgotten = true;
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

static sb_source_location *read_place(const cuda_driver *driver, cuda_stream stream,
                                      uint64_t address) {
    sb_source_location *location = keep_location();
    if (location == NULL)
        return NULL;
    *location = unknown;
    uint64_t itself = 0;
    sb_cuda_place place;
    char *name = NULL;
    if (address != 0 && read_gpu(driver, stream, address, &itself, sizeof itself) && itself != 0 &&
        read_gpu(driver, stream, itself, &place, sizeof place)) {
        name = read_text(driver, stream, place.name, place.name_size);
        const char *file = read_text(driver, stream, place.file, place.file_size);
        const char *function = read_text(driver, stream, place.function, place.function_size);
        location->file = file != NULL ? file : "";
        location->function = function != NULL ? function : "";
        location->line = place.line;
    }
    if (name == NULL) {
        enum { SIZE = 32 };
        name = malloc(SIZE);
        if (name != NULL)
            snprintf(name, SIZE, "zone 0x%llx", (unsigned long long)address);
    }
    location->name = name != NULL ? name : unknown.name;
    return location;
}

const sb_source_location *cuda_places_find(cuda_places *places, const cuda_driver *driver,
                                           cuda_stream stream, uint64_t address) {
    if (!grow(places))
        return &unknown;
    cuda_place_entry *entry = entry_for(places, address);
    if (entry->location == NULL || entry->is_forgotten) {
        sb_source_location *location = read_place(driver, stream, address);
        if (location == NULL)
            return &unknown;
        places->count += entry->location == NULL ? 1 : 0;
        *entry = (cuda_place_entry){address, false, location};
    }
    return entry->location;
}
