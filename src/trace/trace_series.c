#include "trace/trace_series.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

void sb_series_init(sb_series *series, size_t element_size) {
    assert(element_size > 0);
    *series = (sb_series){.element_size = element_size};
}

void sb_series_free(sb_series *series) {
    for (unsigned i = 0; i < SB_SERIES_SEGMENTS; i++)
        free(series->segments[i]);
    *series = (sb_series){.element_size = series->element_size};
}

char *sb_series_grow(sb_series *series, unsigned segment) {
    assert(series->element_size > 0);
    assert(series->segments[segment] == NULL);
    /* calloc takes large blocks from the system, whose pages exist only once they are touched. */
    char *memory = sb_alloc_zeroed(sb_series_segment_size(segment), series->element_size);
    __atomic_store_n(&series->segments[segment], memory, __ATOMIC_RELEASE);
    return memory;
}

void *sb_series_push(sb_series *series) {
    void *element = sb_series_slot(series, series->count);
    sb_series_publish(series, series->count + 1);
    return element;
}

uint64_t sb_series_bytes(const sb_series *series) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < SB_SERIES_SEGMENTS; i++) {
        if (series->segments[i] != NULL)
            bytes += sb_series_segment_size(i) * series->element_size;
    }
    return bytes;
}
