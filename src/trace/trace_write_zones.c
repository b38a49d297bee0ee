/*
 * Writing a trace file: zones.
 *
 * Readers rely on zones that nest: siblings ascend and do not overlap, children lie inside. A trace
 * may hold anything, so times are held to these rules on the way out, and each that had to move is
 * counted. A zone without an end is kept only where nothing follows it or encloses it with an end.
 */
#include <stdlib.h>

#include "trace/trace_write.h"

/* ---- the walk over a track ---- */

/* A zone whose children are being written. */
typedef struct open_zone {
    uint32_t zone;
    uint32_t children_left;
    int64_t end;
} open_zone;

/* A zone with others inside, and how many directly. */
typedef struct zone_parent {
    uint32_t zone;
    uint32_t children;
} zone_parent;

typedef struct zone_walk {
    trace_writer *writer;
    const sb_track *track;
    uint64_t top_count;  /* zones inside none */
    sb_vector parents;   /* zone_parent, ascending */
    size_t parents_done; /* those that were passed */
    sb_vector stack;     /* open_zone */
    int64_t floor;       /* nothing may start before this */
    int64_t references[2];
    bool is_device;
    bool has_owner; /* the context belongs to one thread */
} zone_walk;

/* A zone on its way out. */
typedef struct walked_zone {
    uint32_t number;
    uint32_t source;
    uint32_t note;
    uint32_t children;
    int64_t start;
    int64_t end;
} walked_zone;

/* A zone stands inside the one with this position; `around` lists the parents it may be inside. */
static void count_child(zone_walk *walk, sb_vector *around, uint32_t outer) {
    for (;; around->count--) {
        assert(around->count > 0);
        const uint32_t place = *(uint32_t *)sb_vector_at(around, around->count - 1);
        zone_parent *parent = sb_vector_at(&walk->parents, place);
        if (parent->zone != outer)
            continue;
        parent->children++;
        return;
    }
}

/*
 * Zones come outer before inner, so that a zone's first child stands right behind it. Most have
 * none: only those with children are listed.
 */
static void count_children(zone_walk *walk) {
    const uint64_t count = sb_track_zone_count(walk->track);
    sb_vector around = sb_vector_of(sizeof(uint32_t)); /* positions among the parents */
    for (uint64_t first = 0; first < count;) {
        const sb_zone_block block = sb_track_block(walk->track, first, count);
        for (uint64_t i = 0; i < block.count; i++) {
            const uint64_t after_outer = block.parent == NULL ? 0 : block.parent[i];
            if (after_outer == 0) {
                walk->top_count++;
                sb_vector_clear(&around);
            } else if (after_outer == first + i) {
                *(uint32_t *)sb_vector_push(&around) = (uint32_t)walk->parents.count;
                *(zone_parent *)sb_vector_push(&walk->parents) =
                    (zone_parent){(uint32_t)after_outer - 1, 1};
            } else {
                count_child(walk, &around, (uint32_t)after_outer - 1);
            }
        }
        first += block.count;
    }
    sb_vector_free(&around);
}

static zone_walk walk_of(trace_writer *writer, const sb_track *track) {
    zone_walk walk = {.writer = writer,
                      .track = track,
                      .parents = sb_vector_of(sizeof(zone_parent)),
                      .stack = sb_vector_of(sizeof(open_zone))};
    count_children(&walk);
    return walk;
}

static void walk_free(zone_walk *walk) {
    sb_vector_free(&walk->parents);
    sb_vector_free(&walk->stack);
}

/* How many zones are directly inside this one; asked in the order of zones. */
static uint32_t children_of(zone_walk *walk, uint32_t zone) {
    if (walk->parents_done == walk->parents.count)
        return 0;
    const zone_parent *next = sb_vector_at(&walk->parents, walk->parents_done);
    if (next->zone != zone)
        return 0;
    walk->parents_done++;
    return next->children;
}

static int64_t hold(trace_writer *writer, int64_t time, int64_t low, int64_t high) {
    const int64_t held = time < low ? low : time > high ? high : time;
    if (held != time)
        writer->written.adjusted_times++;
    return held;
}

/* The end of a zone that has none: kept if it is the last of its level and the one around it has no
 * end either; else where the next one begins, or the one around it ends. */
static int64_t end_of_open(const zone_walk *walk, uint32_t zone, int64_t start, int64_t limit,
                           bool limited) {
    const uint32_t next = sb_track_next_sibling(walk->track, zone);
    if (next == SB_NONE && !limited)
        return SB_NO_TIME;
    int64_t end = limit;
    if (next != SB_NONE)
        end = sb_track_zone_start(walk->track, next);
    return hold(walk->writer, end, start, limit);
}

/* Holds a zone to where it may be. */
static void fit_zone(const zone_walk *walk, walked_zone *zone) {
    int64_t limit = TIME_MAX;
    bool limited = false;
    if (walk->stack.count > 0) {
        const open_zone *around = sb_vector_at(&walk->stack, walk->stack.count - 1);
        limited = around->end != SB_NO_TIME;
        limit = limited ? around->end : TIME_MAX;
    }
    zone->start = hold(walk->writer, zone->start, walk->floor, limit);
    if (zone->end != SB_NO_TIME)
        zone->end = hold(walk->writer, zone->end, zone->start, limit);
    else
        zone->end = end_of_open(walk, zone->number, zone->start, limit, limited);
}

/* ---- a zone's bytes ---- */

static void begin_zone(zone_walk *walk, const walked_zone *zone) {
    trace_packer *packer = &walk->writer->packer;
    trace_pack(packer, (uint16_t)walk->writer->source_numbers[zone->source], 2);
    trace_pack_time(packer, zone->start, &walk->references[0]);
    trace_pack(packer, zone->note, 4);
    trace_pack(packer, zone->children, 4);
}

static int64_t issue_time(zone_walk *walk, const sb_series *column, uint32_t zone, int64_t other) {
    const int64_t *issued = sb_series_find(column, zone);
    const int64_t time = issued == NULL ? other : *issued;
    return time == SB_NO_TIME ? time : writer_clamp(walk->writer, time);
}

static void begin_device_zone(zone_walk *walk, const walked_zone *zone) {
    trace_packer *packer = &walk->writer->packer;
    const sb_track *track = walk->track;
    const uint32_t *callstack = sb_series_find(&track->callstack, zone->number);
    const uint32_t *issuer = sb_series_find(&track->issuer, zone->number);
    uint32_t thread = track->thread;
    /* With an owner the thread is the one that issued the work; without, it names the lane. */
    if (walk->has_owner && issuer != NULL && *issuer < THREADS_MAX)
        thread = *issuer;
    trace_pack_time(packer, issue_time(walk, &track->issue_start, zone->number, zone->start),
                    &walk->references[0]);
    trace_pack_time(packer, zone->start, &walk->references[1]);
    trace_pack(packer, (uint16_t)walk->writer->source_numbers[zone->source], 2);
    trace_pack(packer, callstack == NULL ? 0 : writer_callstack(walk->writer, *callstack), 3);
    trace_pack(packer, thread, 2);
    trace_pack_u64(packer, zone->children);
}

static void end_device_zone(zone_walk *walk, uint32_t zone, int64_t end) {
    const int64_t issued = issue_time(walk, &walk->track->issue_end, zone, end);
    trace_pack_time(&walk->writer->packer, issued, &walk->references[0]);
    trace_pack_time(&walk->writer->packer, end, &walk->references[1]);
}

/* ---- from one zone to the next ---- */

/* Ends a zone, and those around it that have no more zones to come. */
static void finish(zone_walk *walk, uint32_t zone, int64_t end) {
    for (;;) {
        if (walk->is_device)
            end_device_zone(walk, zone, end);
        else
            trace_pack_time(&walk->writer->packer, end, &walk->references[0]);
        if (end != SB_NO_TIME)
            walk->floor = end;
        if (walk->stack.count == 0)
            return;
        open_zone *around = sb_vector_at(&walk->stack, walk->stack.count - 1);
        if (--around->children_left > 0)
            return;
        zone = around->zone;
        end = around->end;
        walk->stack.count--;
    }
}

static void pass_zone(zone_walk *walk, walked_zone *zone) {
    /* A device zone that never got its times is written as such. */
    if (walk->is_device && zone->start == SB_NO_TIME) {
        zone->end = SB_NO_TIME;
    } else {
        fit_zone(walk, zone);
        walk->floor = zone->start;
    }
    if (walk->is_device)
        begin_device_zone(walk, zone);
    else
        begin_zone(walk, zone);
    if (zone->children == 0) {
        finish(walk, zone->number, zone->end);
        return;
    }
    *(open_zone *)sb_vector_push(&walk->stack) =
        (open_zone){zone->number, zone->children, zone->end};
}

static void walk_zones(zone_walk *walk) {
    const sb_track *track = walk->track;
    const uint64_t count = sb_track_zone_count(track);
    for (uint64_t first = 0; first < count;) {
        const sb_zone_block block = sb_track_block(track, first, count);
        for (uint64_t i = 0; i < block.count; i++) {
            const uint32_t number = (uint32_t)(first + i);
            const bool is_short = block.duration[i] < SB_ZONE_LONG;
            walked_zone zone = {.number = number,
                                .source = block.source[i],
                                .note = block.note == NULL ? 0 : block.note[i],
                                .children = children_of(walk, number),
                                .start = block.start[i],
                                .end = is_short ? block.start[i] + block.duration[i]
                                                : sb_track_zone_end(track, number)};
            pass_zone(walk, &zone);
        }
        first += block.count;
    }
    assert(walk->stack.count == 0);
}

/* ---- counts by source ---- */

static bool is_device(const sb_track *track) {
    return track->kind == SB_TRACK_LANE;
}

void count_zone_sources(trace_writer *writer) {
    const sb_trace *trace = writer->trace;
    for (unsigned i = 0; i < 2; i++)
        writer->zone_counts[i] =
            sb_alloc_zeroed(sb_series_count(&trace->sources), sizeof(uint64_t));
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        const sb_track *track = sb_trace_track(trace, i);
        const uint64_t count = writer_has_track(writer, track) ? sb_track_zone_count(track) : 0;
        uint64_t *counts = writer->zone_counts[is_device(track) ? 1 : 0];
        for (uint64_t first = 0; first < count;) {
            const sb_zone_block block = sb_track_block(track, first, count);
            for (uint64_t k = 0; k < block.count; k++)
                counts[block.source[k]]++;
            first += block.count;
        }
    }
}

/* By the number in the file, which several sources may share. */
void write_zone_counts(trace_writer *writer, bool devices) {
    const uint64_t *by_source = writer->zone_counts[devices ? 1 : 0];
    uint64_t *counts = sb_alloc_zeroed(1 << 16, sizeof *counts);
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->sources); i++)
        counts[(uint16_t)writer->source_numbers[i]] += by_source[i];
    uint64_t keys = 0;
    for (unsigned i = 0; i < 1U << 16; i++)
        keys += counts[i] > 0;
    trace_pack_u64(&writer->packer, keys);
    for (unsigned i = 0; i < 1U << 16; i++) {
        if (counts[i] == 0)
            continue;
        trace_pack(&writer->packer, i, 2);
        trace_pack_u64(&writer->packer, counts[i]);
    }
    free(counts);
}

/* ---- notes ---- */

void write_notes(trace_writer *writer) {
    const sb_series *notes = &writer->trace->notes;
    const uint64_t count = sb_series_count(notes);
    assert(count > 0);
    trace_pack_u64(&writer->packer, count);
    for (uint64_t i = 0; i < count; i++) {
        const sb_zone_note *note = sb_series_at(notes, i);
        trace_pack(&writer->packer, writer_callstack(writer, note->callstack), 3);
        write_string_index(writer, note->text);
        write_string_index(writer, note->name);
        trace_pack(&writer->packer, note->colour & 0xFFFFFF, 3);
    }
}

/* ---- zones of the host ---- */

static void write_samples(trace_writer *writer, sb_slice samples) {
    if (samples.size > 0)
        trace_pack_bytes(&writer->packer, samples.data, samples.size);
    else
        trace_pack_zeroes(&writer->packer, 8);
}

/* A message's key is its position in the file, from 1. */
static void write_message_keys(trace_writer *writer, uint32_t thread) {
    const uint64_t first = writer->message_starts[thread];
    const uint64_t last = writer->message_starts[thread + 1];
    trace_pack_u64(&writer->packer, last - first);
    for (uint64_t i = first; i < last; i++)
        trace_pack_u64(&writer->packer, writer->thread_messages[i] + 1);
}

static void write_track(trace_writer *writer, const sb_track *track, bool with_messages) {
    trace_packer *packer = &writer->packer;
    zone_walk walk = walk_of(writer, track);
    trace_pack_u64(packer, writer_thread_id(writer, track->thread));
    trace_pack_u64(packer, sb_track_zone_count(track));
    trace_pack_u64(packer, track->kernel_samples);
    trace_pack(packer, track->kind == SB_TRACK_FIBER ? 1 : 0, 1);
    trace_pack(packer, walk.top_count, 4);
    walk_zones(&walk);
    if (with_messages)
        write_message_keys(writer, track->thread);
    else
        trace_pack_u64(packer, 0);
    write_samples(writer, track->switch_samples);
    write_samples(writer, track->samples);
    walk_free(&walk);
}

/* A thread that only sent messages. */
static void write_message_thread(trace_writer *writer, uint32_t thread) {
    trace_pack_u64(&writer->packer, writer_thread_id(writer, thread));
    trace_pack_zeroes(&writer->packer, 8 + 8 + 1 + 4);
    write_message_keys(writer, thread);
    trace_pack_zeroes(&writer->packer, 16);
}

/* What stands in front of the host's zones, and who still needs a place for messages. */
typedef struct zone_totals {
    uint64_t zones;
    uint64_t parents;
    uint64_t tracks;
    uint64_t message_threads;
    bool *has_track; /* by thread */
} zone_totals;

static bool has_lone_messages(const trace_writer *writer, const zone_totals *totals,
                              uint32_t thread) {
    return thread != 0 && !totals->has_track[thread] &&
           writer->message_starts[thread + 1] > writer->message_starts[thread];
}

static uint64_t written_threads(const trace_writer *writer) {
    const uint64_t count = sb_series_count(&writer->trace->threads);
    return count < THREADS_MAX ? count : THREADS_MAX;
}

/* Zones with others inside: as many as there are first children. */
static uint64_t count_parents(const sb_track *track) {
    const uint64_t count = sb_track_zone_count(track);
    uint64_t parents = 0;
    for (uint64_t first = 0; first < count;) {
        const sb_zone_block block = sb_track_block(track, first, count);
        for (uint64_t i = 0; block.parent != NULL && i < block.count; i++)
            parents += block.parent[i] == first + i && block.parent[i] != 0;
        first += block.count;
    }
    return parents;
}

static zone_totals count_zones(trace_writer *writer) {
    const sb_trace *trace = writer->trace;
    zone_totals totals = {.has_track =
                              sb_alloc_zeroed(sb_series_count(&trace->threads), sizeof(bool))};
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        const sb_track *track = sb_trace_track(trace, i);
        if (!writer_has_track(writer, track)) {
            writer->written.dropped_tracks++;
            writer->written.dropped_zones += sb_track_zone_count(track);
            continue;
        }
        if (is_device(track))
            continue;
        totals.has_track[track->thread] = true;
        totals.tracks++;
        totals.zones += sb_track_zone_count(track);
        totals.parents += count_parents(track);
    }
    for (uint32_t i = 0; i < written_threads(writer); i++)
        totals.message_threads += has_lone_messages(writer, &totals, i);
    return totals;
}

void write_zones(trace_writer *writer) {
    const sb_trace *trace = writer->trace;
    zone_totals totals = count_zones(writer);
    trace_pack_u64(&writer->packer, totals.zones);
    trace_pack_u64(&writer->packer, totals.parents);
    trace_pack_u64(&writer->packer, totals.tracks + totals.message_threads);
    bool *has_messages = sb_alloc_zeroed(sb_series_count(&trace->threads), sizeof(bool));
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        const sb_track *track = sb_trace_track(trace, i);
        if (is_device(track) || !writer_has_track(writer, track))
            continue;
        /* A message may be listed once only. */
        write_track(writer, track, !has_messages[track->thread]);
        has_messages[track->thread] = true;
    }
    for (uint32_t i = 0; i < written_threads(writer); i++) {
        if (has_lone_messages(writer, &totals, i))
            write_message_thread(writer, i);
    }
    free(has_messages);
    free(totals.has_track);
}

/* ---- contexts ---- */

static bool is_lane_of(const trace_writer *writer, const sb_track *track, uint64_t context) {
    return is_device(track) && track->context == context && writer_has_track(writer, track) &&
           sb_track_zone_count(track) > 0;
}

typedef struct device_totals {
    uint64_t zones;
    uint64_t parents;
    uint64_t lanes;
} device_totals;

static device_totals count_context(trace_writer *writer, uint64_t context) {
    device_totals totals = {0};
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->tracks); i++) {
        const sb_track *track = sb_trace_track(writer->trace, i);
        if (!is_lane_of(writer, track, context))
            continue;
        totals.lanes++;
        totals.zones += sb_track_zone_count(track);
        totals.parents += count_parents(track);
    }
    return totals;
}

/* Viewers look the type up in a table without checking; only these are in all of them. */
static uint8_t context_type(trace_writer *writer, const sb_context *context) {
    enum { FIRST = 1, LAST = 5, OPENCL = 3, TENSTORRENT = 6 };
    const uint8_t type = context->type;
    if (type >= FIRST && type <= LAST)
        return type;
    if (type == TENSTORRENT && writer->options.version == SB_TRACE_VERSION_0_10)
        return type;
    writer->written.changed_contexts++;
    return OPENCL;
}

static void write_lane(trace_writer *writer, const sb_track *track, bool has_owner) {
    zone_walk walk = walk_of(writer, track);
    walk.is_device = true;
    walk.has_owner = has_owner;
    trace_pack_u64(&writer->packer, has_owner ? 0 : writer_thread_id(writer, track->thread));
    trace_pack_u64(&writer->packer, walk.top_count);
    walk_zones(&walk);
    walk_free(&walk);
}

static void write_context(trace_writer *writer, uint64_t number, const device_totals *totals) {
    trace_packer *packer = &writer->packer;
    const sb_context *context = sb_trace_context(writer->trace, number);
    uint32_t period = 0;
    memcpy(&period, &context->period, sizeof period);
    const bool has_owner = context->thread != 0 && totals->lanes == 1;
    trace_pack_u64(packer, has_owner ? writer_thread_id(writer, context->thread) : 0);
    trace_pack(packer, context->calibrated ? 1 : 0, 1);
    trace_pack_u64(packer, totals->zones);
    trace_pack(packer, period, 4);
    trace_pack(packer, context_type(writer, context), 1);
    write_string_index(writer, context->name);
    trace_pack_u64(packer, context->overflow);
    trace_pack_u64(packer, totals->lanes);
    writer->written.dropped_values +=
        sb_series_count(&context->values) + sb_series_count(&context->markers);
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->tracks); i++) {
        const sb_track *track = sb_trace_track(writer->trace, i);
        if (is_lane_of(writer, track, number))
            write_lane(writer, track, has_owner);
    }
}

/* A context without zones is left out: viewers look at the first zone of the first lane. */
void write_devices(trace_writer *writer) {
    const uint64_t count = sb_series_count(&writer->trace->contexts);
    device_totals *totals = sb_alloc_zeroed(count, sizeof *totals);
    device_totals sum = {0};
    uint64_t contexts = 0;
    for (uint64_t i = 0; i < count; i++) {
        totals[i] = count_context(writer, i);
        sum.zones += totals[i].zones;
        sum.parents += totals[i].parents;
        contexts += totals[i].lanes > 0;
    }
    trace_pack_u64(&writer->packer, sum.zones);
    trace_pack_u64(&writer->packer, sum.parents);
    trace_pack_u64(&writer->packer, contexts);
    for (uint64_t i = 0; i < count; i++) {
        if (totals[i].lanes > 0)
            write_context(writer, i, &totals[i]);
    }
    free(totals);
}
