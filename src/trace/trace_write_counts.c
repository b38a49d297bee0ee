/*
 * Writing a trace file: what has to be known about zones before the first of them is written.
 *
 * A file says of each zone how many are directly inside it, in front of these. The walk that writes
 * zones counts children window by window when it comes there, while the window is in the cache. So
 * only children that stand in a later window than their parent are counted here: those of the few
 * zones that are open where a window begins.
 */
#include <stdlib.h>

#include "trace/trace_write.h"

typedef struct zone_count {
    const sb_track *track;
    track_counts *counts;
    uint64_t *by_source;
    sb_vector open; /* size_t: places in the list of far parents, of the zones that are open */
} zone_count;

static far_parent *innermost(const zone_count *count) {
    const size_t *place = sb_vector_at(&count->open, count->open.count - 1);
    return sb_vector_at(&count->counts->far, *place);
}

/* Zones before `zone` that are inside it, or none are left: all of them have ended. */
static void leave_inner(zone_count *count, uint32_t zone) {
    while (count->open.count > 0 && (zone == SB_NONE || innermost(count)->zone != zone))
        count->open.count--;
}

/*
 * Lists the zones that are open where a window begins. Those that were open at the window before
 * are listed already, so that the list ascends.
 */
static void open_window(zone_count *count, uint64_t first, uint64_t first_before) {
    sb_vector *far = &count->counts->far;
    uint32_t zone = sb_track_zone_parent(count->track, (uint32_t)first);
    size_t added = 0;
    for (; zone != SB_NONE && zone >= first_before; added++) {
        *(far_parent *)sb_vector_push(far) = (far_parent){.zone = zone};
        zone = sb_track_zone_parent(count->track, zone);
    }
    leave_inner(count, zone);
    /* They came innermost first. */
    const size_t start = far->count - added;
    for (size_t i = 0; i < added / 2; i++) {
        far_parent *low = sb_vector_at(far, start + i);
        far_parent *high = sb_vector_at(far, far->count - 1 - i);
        const far_parent swapped = *low;
        *low = *high;
        *high = swapped;
    }
    for (size_t i = 0; i < added; i++)
        *(size_t *)sb_vector_push(&count->open) = start + i;
}

static void count_far_child(zone_count *count, uint32_t parent) {
    leave_inner(count, parent);
    assert(count->open.count > 0);
    innermost(count)->children++;
}

/* A zone's first child stands right behind it: there are as many parents as such children. */
static void count_parents(zone_count *count, const sb_zone_block *window, uint64_t first) {
    track_counts *counts = count->counts;
    for (uint64_t i = 0; i < window->count; i++) {
        const uint64_t after_outer = window->parent[i];
        if (after_outer == 0) {
            counts->top++;
            continue;
        }
        counts->parents += after_outer == first + i;
        if (after_outer <= first)
            count_far_child(count, (uint32_t)after_outer - 1);
    }
}

static void count_track(zone_count *count) {
    track_counts *counts = count->counts;
    uint64_t first_before = 0;
    for (uint64_t first = 0; first < counts->zones;) {
        const sb_zone_block window = track_window(count->track, first, counts->zones);
        for (uint64_t i = 0; i < window.count; i++)
            count->by_source[window.source[i]]++;
        open_window(count, first, first_before);
        if (window.parent == NULL)
            counts->top += window.count;
        else
            count_parents(count, &window, first);
        first_before = first;
        first += window.count;
    }
}

void count_zones(trace_writer *writer) {
    const sb_trace *trace = writer->trace;
    const uint64_t tracks = sb_series_count(&trace->tracks);
    writer->track_counts = sb_alloc_zeroed(tracks, sizeof *writer->track_counts);
    writer->track_count = tracks;
    for (unsigned i = 0; i < 2; i++)
        writer->zone_counts[i] =
            sb_alloc_zeroed(sb_series_count(&trace->sources), sizeof(uint64_t));
    zone_count count = {.open = sb_vector_of(sizeof(size_t))};
    for (uint64_t i = 0; i < tracks; i++) {
        count.track = sb_trace_track(trace, i);
        count.counts = &writer->track_counts[i];
        count.by_source = writer->zone_counts[writer_is_device(count.track) ? 1 : 0];
        count.counts->far = sb_vector_of(sizeof(far_parent));
        if (!writer_has_track(writer, count.track))
            continue;
        count.counts->zones = sb_track_zone_count(count.track);
        sb_vector_clear(&count.open);
        count_track(&count);
    }
    sb_vector_free(&count.open);
}

void free_zone_counts(trace_writer *writer) {
    for (uint64_t i = 0; i < writer->track_count; i++)
        sb_vector_free(&writer->track_counts[i].far);
    free(writer->track_counts);
    free(writer->zone_counts[0]);
    free(writer->zone_counts[1]);
}
