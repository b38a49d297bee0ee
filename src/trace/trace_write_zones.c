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

typedef struct zone_walk {
    trace_writer *writer;
    const sb_track *track;
    const track_counts *counts;
    size_t far_done;    /* far parents that were passed */
    uint32_t *children; /* of the zones of the window: how many are directly inside */
    sb_vector stack;    /* open_zone */
    int64_t floor;      /* nothing may start before this */
    int64_t limit;      /* nor end after this */
    bool is_limited;    /* the zone around ends there */
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

static zone_walk walk_of(trace_writer *writer, uint64_t track) {
    return (zone_walk){.writer = writer,
                       .track = sb_trace_track(writer->trace, track),
                       .counts = &writer->track_counts[track],
                       .children = sb_alloc(TRACK_WINDOW * sizeof(uint32_t)),
                       .stack = sb_vector_of(sizeof(open_zone)),
                       .limit = TIME_MAX};
}

/* Counts the children of the zones of a window; those in later windows are known already. */
static void count_children(zone_walk *walk, const sb_zone_block *window, uint64_t first) {
    memset(walk->children, 0, window->count * sizeof walk->children[0]);
    for (uint64_t i = 0; window->parent != NULL && i < window->count; i++) {
        if (window->parent[i] > first)
            walk->children[window->parent[i] - 1 - first]++;
    }
    for (; walk->far_done < walk->counts->far.count; walk->far_done++) {
        const far_parent *parent = sb_vector_at(&walk->counts->far, walk->far_done);
        if (parent->zone >= first + window->count)
            return;
        walk->children[parent->zone - first] += parent->children;
    }
}

static int64_t hold(trace_writer *writer, int64_t time, int64_t low, int64_t high) {
    const int64_t held = time < low ? low : time > high ? high : time;
    if (held != time)
        writer->written.adjusted_times++;
    return held;
}

/* The end of a zone that has none: kept if it is the last of its level and the one around it has no
 * end either; else where the next one begins, or the one around it ends. */
static int64_t end_of_open(const zone_walk *walk, const walked_zone *zone) {
    const uint32_t next = sb_track_next_sibling(walk->track, zone->number);
    if (next == SB_NONE && !walk->is_limited)
        return SB_NO_TIME;
    const int64_t end = next == SB_NONE ? walk->limit : sb_track_zone_start(walk->track, next);
    return hold(walk->writer, end, zone->start, walk->limit);
}

/* Holds a zone to where it may be. */
static void fit_zone(const zone_walk *walk, walked_zone *zone) {
    zone->start = hold(walk->writer, zone->start, walk->floor, walk->limit);
    if (zone->end != SB_NO_TIME)
        zone->end = hold(walk->writer, zone->end, zone->start, walk->limit);
    else
        zone->end = end_of_open(walk, zone);
}

/* ---- a zone's bytes ---- */

enum { BEGIN_SIZE = 18, END_SIZE = 8 };

static void store_begin(zone_walk *walk, const walked_zone *zone, uint8_t *to) {
    store_le(to, (uint16_t)walk->writer->source_numbers[zone->source], 2);
    store_le(to + 2, (uint64_t)zone->start - (uint64_t)walk->references[0], 8);
    store_le(to + 10, zone->note, 4);
    store_le(to + 14, zone->children, 4);
}

static void begin_zone(zone_walk *walk, const walked_zone *zone) {
    uint8_t aside[BEGIN_SIZE];
    uint8_t *to = trace_pack_room(&walk->writer->packer, sizeof aside, aside);
    store_begin(walk, zone, to);
    trace_pack_placed(&walk->writer->packer, to, sizeof aside);
    walk->references[0] = zone->start;
}

/* A zone with nothing inside, both ends at once. */
static void put_leaf(zone_walk *walk, const walked_zone *zone) {
    uint8_t aside[BEGIN_SIZE + END_SIZE];
    uint8_t *to = trace_pack_room(&walk->writer->packer, sizeof aside, aside);
    store_begin(walk, zone, to);
    store_le(to + BEGIN_SIZE, (uint64_t)zone->end - (uint64_t)zone->start, END_SIZE);
    trace_pack_placed(&walk->writer->packer, to, sizeof aside);
    walk->references[0] = zone->end;
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

static void end_zone(zone_walk *walk, uint32_t zone, int64_t end) {
    if (walk->is_device)
        end_device_zone(walk, zone, end);
    else
        trace_pack_time(&walk->writer->packer, end, &walk->references[0]);
    if (end != SB_NO_TIME)
        walk->floor = end;
}

/* What comes now stands inside the zone on top of the stack. */
static void limit_by_top(zone_walk *walk) {
    const size_t count = walk->stack.count;
    const open_zone *around = count == 0 ? NULL : sb_vector_at(&walk->stack, count - 1);
    walk->is_limited = around != NULL && around->end != SB_NO_TIME;
    walk->limit = walk->is_limited ? around->end : TIME_MAX;
}

static void enter(zone_walk *walk, const walked_zone *zone) {
    *(open_zone *)sb_vector_push(&walk->stack) =
        (open_zone){zone->number, zone->children, zone->end};
    limit_by_top(walk);
}

/* A zone is written: ends those around it that have no more zones to come. */
static void leave(zone_walk *walk) {
    while (walk->stack.count > 0) {
        open_zone *around = sb_vector_at(&walk->stack, walk->stack.count - 1);
        if (--around->children_left > 0)
            return;
        walk->stack.count--;
        end_zone(walk, around->zone, around->end);
        limit_by_top(walk);
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
    if (zone->children > 0) {
        enter(walk, zone);
        return;
    }
    end_zone(walk, zone->number, zone->end);
    leave(walk);
}

/* Most zones have nothing inside and are where they may be. */
static bool is_plain_leaf(const zone_walk *walk, const walked_zone *zone) {
    return zone->children == 0 && zone->start >= walk->floor && zone->start <= zone->end &&
           zone->end <= walk->limit && !walk->is_device;
}

static void pass_window(zone_walk *walk, const sb_zone_block *window, uint64_t first) {
    for (uint64_t i = 0; i < window->count; i++) {
        const uint32_t number = (uint32_t)(first + i);
        const bool is_short = window->duration[i] < SB_ZONE_LONG;
        walked_zone zone = {.number = number,
                            .source = window->source[i],
                            .note = window->note == NULL ? 0 : window->note[i],
                            .children = walk->children[i],
                            .start = window->start[i],
                            .end = is_short ? window->start[i] + window->duration[i]
                                            : sb_track_zone_end(walk->track, number)};
        if (!is_plain_leaf(walk, &zone)) {
            pass_zone(walk, &zone);
            continue;
        }
        put_leaf(walk, &zone);
        walk->floor = zone.end;
        leave(walk);
    }
}

static void walk_zones(zone_walk *walk) {
    const uint64_t count = walk->counts->zones;
    for (uint64_t first = 0; first < count;) {
        const sb_zone_block window = track_window(walk->track, first, count);
        count_children(walk, &window, first);
        pass_window(walk, &window, first);
        first += window.count;
    }
    assert(walk->stack.count == 0);
    sb_vector_free(&walk->stack);
    free(walk->children);
}

/* ---- counts by source ---- */

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

static void write_track(trace_writer *writer, uint64_t number, bool with_messages) {
    trace_packer *packer = &writer->packer;
    const sb_track *track = sb_trace_track(writer->trace, number);
    zone_walk walk = walk_of(writer, number);
    trace_pack_u64(packer, writer_thread_id(writer, track->thread));
    trace_pack_u64(packer, walk.counts->zones);
    trace_pack_u64(packer, track->kernel_samples);
    trace_pack(packer, track->kind == SB_TRACK_FIBER ? 1 : 0, 1);
    trace_pack(packer, walk.counts->top, 4);
    walk_zones(&walk);
    if (with_messages)
        write_message_keys(writer, track->thread);
    else
        trace_pack_u64(packer, 0);
    write_samples(writer, track->switch_samples);
    write_samples(writer, track->samples);
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

static zone_totals sum_zones(trace_writer *writer) {
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
        if (writer_is_device(track))
            continue;
        totals.has_track[track->thread] = true;
        totals.tracks++;
        writer->written.dropped_hints += track->group_hint != 0;
        totals.zones += writer->track_counts[i].zones;
        totals.parents += writer->track_counts[i].parents;
    }
    for (uint32_t i = 0; i < written_threads(writer); i++)
        totals.message_threads += has_lone_messages(writer, &totals, i);
    return totals;
}

void write_zones(trace_writer *writer) {
    const sb_trace *trace = writer->trace;
    zone_totals totals = sum_zones(writer);
    trace_pack_u64(&writer->packer, totals.zones);
    trace_pack_u64(&writer->packer, totals.parents);
    trace_pack_u64(&writer->packer, totals.tracks + totals.message_threads);
    bool *has_messages = sb_alloc_zeroed(sb_series_count(&trace->threads), sizeof(bool));
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        const sb_track *track = sb_trace_track(trace, i);
        if (writer_is_device(track) || !writer_has_track(writer, track))
            continue;
        /* A message may be listed once only. */
        write_track(writer, i, !has_messages[track->thread]);
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

static bool is_lane_of(const trace_writer *writer, uint64_t number, uint64_t context) {
    const sb_track *track = sb_trace_track(writer->trace, number);
    return writer_is_device(track) && track->context == context &&
           writer_has_track(writer, track) && writer->track_counts[number].zones > 0;
}

typedef struct device_totals {
    uint64_t zones;
    uint64_t parents;
    uint64_t lanes;
} device_totals;

static device_totals count_context(trace_writer *writer, uint64_t context) {
    device_totals totals = {0};
    for (uint64_t i = 0; i < sb_series_count(&writer->trace->tracks); i++) {
        if (!is_lane_of(writer, i, context))
            continue;
        totals.lanes++;
        totals.zones += writer->track_counts[i].zones;
        totals.parents += writer->track_counts[i].parents;
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

static void write_lane(trace_writer *writer, uint64_t number, bool has_owner) {
    const sb_track *track = sb_trace_track(writer->trace, number);
    zone_walk walk = walk_of(writer, number);
    walk.is_device = true;
    walk.has_owner = has_owner;
    trace_pack_u64(&writer->packer, has_owner ? 0 : writer_thread_id(writer, track->thread));
    trace_pack_u64(&writer->packer, walk.counts->top);
    walk_zones(&walk);
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
        if (is_lane_of(writer, i, number))
            write_lane(writer, i, has_owner);
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
