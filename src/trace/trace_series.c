#include "trace/trace_series.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Segments from this size on live in the store; the rest is not worth a place there. */
enum { STORED_SIZE = 16384 };

static size_t segment_bytes(const sb_series *series, unsigned segment) {
    return (size_t)sb_series_segment_size(segment) * series->element_size;
}

static bool is_stored(const sb_series *series, unsigned segment) {
    return series->store != NULL && segment_bytes(series, segment) >= STORED_SIZE;
}

void sb_series_init(sb_series *series, size_t element_size, sb_store *store) {
    assert(element_size > 0);
    *series = (sb_series){.element_size = element_size, .store = store};
}

void sb_series_free(sb_series *series) {
    for (unsigned i = 0; i < SB_SERIES_SEGMENTS; i++) {
        if (!is_stored(series, i) && !series->is_borrowed)
            free(series->segments[i]);
    }
    *series = (sb_series){.element_size = series->element_size, .store = series->store};
}

char *sb_series_grow(sb_series *series, unsigned segment) {
    assert(series->element_size > 0);
    assert(series->segments[segment] == NULL);
    assert(!series->is_borrowed);
    char *memory = is_stored(series, segment)
                       ? sb_store_alloc(series->store, segment_bytes(series, segment))
                       : sb_alloc_zeroed(sb_series_segment_size(segment), series->element_size);
    __atomic_store_n(&series->segments[segment], memory, __ATOMIC_RELEASE);
    return memory;
}

void *sb_series_push(sb_series *series) {
    void *element = sb_series_slot(series, series->count);
    sb_series_publish(series, series->count + 1);
    if (series->store != NULL)
        sb_store_wrote(series->store, series->element_size);
    return element;
}

void sb_series_add(sb_series *series, const void *element) {
    memcpy(sb_series_slot(series, series->count), element, series->element_size);
    sb_series_publish(series, series->count + 1);
    if (series->store != NULL)
        sb_store_wrote(series->store, series->element_size);
}

uint64_t sb_series_bytes(const sb_series *series) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < SB_SERIES_SEGMENTS; i++) {
        if (series->segments[i] != NULL)
            bytes += segment_bytes(series, i);
    }
    return bytes;
}
