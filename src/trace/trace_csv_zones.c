/*
 * Writing CSV: zones by source.
 *
 * Rows are grouped by source, as the tool groups them. Zones are sorted by counting, four bytes
 * each; long tracks are counted and sorted by several threads, each with a part of the track.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/trace_csv_parts.h"

enum { PARTS_MAX = 16, LONG_TRACK = 1 << 16 };

/* What threads that group a track share. */
typedef struct grouping {
    const csv_writer *writer;
    csv_track *track;
    const bool *wanted; /* by source */
    uint64_t sources;
    uint64_t zones;
    unsigned parts;
    uint64_t *counts; /* by part, then source; later: where the part's next zone of it goes */
} grouping;

/* Does a zone get a row? */
static bool is_shown(const csv_writer *writer, const sb_track *track, uint32_t zone,
                     uint32_t mark) {
    if (mark < SB_ZONE_LONG && track->kind != SB_TRACK_LANE)
        return mark > 0 || !writer->options->compat;
    const int64_t start = sb_track_zone_start(track, zone);
    const int64_t end = sb_track_zone_end(track, zone);
    if (end == SB_NO_TIME || (start == SB_NO_TIME && track->kind == SB_TRACK_LANE))
        return false;
    return writer->options->compat ? end > start : end >= start;
}

static void sum_inside(csv_track *track, uint64_t count) {
    track->inside = sb_alloc_zeroed(count, sizeof *track->inside);
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t parent = sb_track_zone_parent(track->track, (uint32_t)i);
        const int64_t end = sb_track_zone_end(track->track, (uint32_t)i);
        const int64_t start = sb_track_zone_start(track->track, (uint32_t)i);
        if (parent != SB_NONE && end > start)
            track->inside[parent] =
                (int64_t)((uint64_t)track->inside[parent] + (uint64_t)end - (uint64_t)start);
    }
}

/* ---- one track ---- */

static uint64_t part_begin(const grouping *group, unsigned part) {
    return group->zones / group->parts * part;
}

static uint64_t part_end(const grouping *group, unsigned part) {
    return part + 1 == group->parts ? group->zones : part_begin(group, part + 1);
}

static void count_part(void *context, unsigned part) {
    const grouping *group = context;
    const sb_track *track = group->track->track;
    uint64_t *counts = group->counts + part * group->sources;
    const uint64_t end = part_end(group, part);
    for (uint64_t zone = part_begin(group, part); zone < end;) {
        const sb_zone_block block = sb_track_block(track, zone, end);
        for (uint64_t i = 0; i < block.count; i++, zone++) {
            const uint32_t source = block.source[i];
            if (group->wanted[source] &&
                is_shown(group->writer, track, (uint32_t)zone, block.duration[i]))
                counts[source]++;
        }
    }
}

static void sort_part(void *context, unsigned part) {
    const grouping *group = context;
    const sb_track *track = group->track->track;
    uint64_t *places = group->counts + part * group->sources;
    const uint64_t end = part_end(group, part);
    for (uint64_t zone = part_begin(group, part); zone < end;) {
        const sb_zone_block block = sb_track_block(track, zone, end);
        for (uint64_t i = 0; i < block.count; i++, zone++) {
            const uint32_t source = block.source[i];
            if (group->wanted[source] &&
                is_shown(group->writer, track, (uint32_t)zone, block.duration[i]))
                group->track->zones[places[source]++] = (uint32_t)zone;
        }
    }
}

/* Turns counts into groups, and each part's counts into where its next zone of a source goes. */
static void make_groups(const grouping *group) {
    csv_track *track = group->track;
    uint64_t next = 0;
    for (uint64_t source = 0; source < group->sources; source++) {
        const uint64_t first = next;
        for (unsigned part = 0; part < group->parts; part++) {
            uint64_t *place = &group->counts[part * group->sources + source];
            const uint64_t count = *place;
            *place = next;
            next += count;
        }
        if (next > first)
            *(csv_group *)sb_vector_push(&track->groups) =
                (csv_group){(uint32_t)source, first, next - first};
    }
    track->zones = sb_alloc(next * sizeof *track->zones);
}

static void group_track(const csv_writer *writer, csv_track *track, const bool *wanted,
                        uint64_t *counts, uint64_t sources) {
    grouping group = {.writer = writer,
                      .track = track,
                      .wanted = wanted,
                      .sources = sources,
                      .zones = sb_track_zone_count(track->track),
                      .counts = counts};
    group.parts = group.zones < LONG_TRACK ? 1 : sb_parallel_width(PARTS_MAX);
    track->groups = sb_vector_of(sizeof(csv_group));
    memset(counts, 0, group.parts * sources * sizeof *counts);
    sb_parallel(group.parts, count_part, &group);
    make_groups(&group);
    sb_parallel(group.parts, sort_part, &group);
}

/* ---- all tracks ---- */

csv_zones csv_group_zones(const csv_writer *writer, bool devices, bool with_inside) {
    const sb_trace *trace = writer->trace;
    const uint64_t tracks = sb_series_count(&trace->tracks);
    csv_zones zones = {.tracks = sb_alloc_zeroed(tracks, sizeof *zones.tracks)};
    const uint64_t sources = sb_series_count(&trace->sources);
    uint64_t *counts = sb_alloc(PARTS_MAX * sources * sizeof *counts);
    bool *wanted = sb_alloc(sources * sizeof *wanted);
    for (uint32_t i = 0; i < sources; i++)
        wanted[i] = csv_wants_source(writer, i);
    for (uint64_t i = 0; i < tracks; i++) {
        const sb_track *track = sb_trace_track(trace, i);
        if ((track->kind == SB_TRACK_LANE) != devices)
            continue;
        csv_track *grouped = &zones.tracks[zones.track_count++];
        grouped->track = track;
        group_track(writer, grouped, wanted, counts, sources);
        if (with_inside)
            sum_inside(grouped, sb_track_zone_count(track));
    }
    free(counts);
    free(wanted);
    return zones;
}

void csv_zones_free(csv_zones *zones) {
    for (uint64_t i = 0; i < zones->track_count; i++) {
        free(zones->tracks[i].zones);
        free(zones->tracks[i].inside);
        sb_vector_free(&zones->tracks[i].groups);
    }
    free(zones->tracks);
    *zones = (csv_zones){0};
}

csv_group csv_next_group(csv_track *track, uint32_t source) {
    while (track->next_group < track->groups.count) {
        const csv_group *group = sb_vector_at(&track->groups, track->next_group);
        if (group->source > source)
            break;
        track->next_group++;
        if (group->source == source)
            return *group;
    }
    return (csv_group){.source = source};
}

int64_t csv_duration(const csv_track *track, uint32_t zone) {
    /* In unsigned numbers: times from a broken file may be too far apart. */
    const uint64_t duration = (uint64_t)sb_track_zone_end(track->track, zone) -
                              (uint64_t)sb_track_zone_start(track->track, zone);
    return (int64_t)(track->inside == NULL ? duration : duration - (uint64_t)track->inside[zone]);
}
