/*
 * Writing CSV: a row per zone.
 *
 * Rows are grouped by source, as the tool groups them. Zones are sorted by counting, four bytes
 * each; a row is the source's part, made once, and a few numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/trace_csv_parts.h"

/* ---- grouping ---- */

/* Does a zone get a row? */
static bool is_shown(const csv_writer *writer, const sb_track *track, uint32_t zone) {
    const int64_t start = sb_track_zone_start(track, zone);
    const int64_t end = sb_track_zone_end(track, zone);
    if (end == SB_NO_TIME || start == SB_NO_TIME)
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

/* Turns counts per source into groups, and the counts into where each group's next zone goes. */
static void make_groups(csv_track *track, uint64_t *counts, uint64_t sources) {
    uint64_t first = 0;
    for (uint64_t source = 0; source < sources; source++) {
        if (counts[source] == 0)
            continue;
        *(csv_group *)sb_vector_push(&track->groups) =
            (csv_group){(uint32_t)source, first, counts[source]};
        const uint64_t count = counts[source];
        counts[source] = first;
        first += count;
    }
    track->zones = sb_alloc(first * sizeof *track->zones);
}

static void group_track(const csv_writer *writer, csv_track *track, const bool *wanted,
                        uint64_t *counts, uint64_t sources) {
    const uint64_t count = sb_track_zone_count(track->track);
    track->groups = sb_vector_of(sizeof(csv_group));
    memset(counts, 0, sources * sizeof *counts);
    for (uint64_t zone = 0; zone < count;) {
        const sb_zone_block block = sb_track_block(track->track, zone, count);
        for (uint64_t i = 0; i < block.count; i++, zone++) {
            if (wanted[block.source[i]] && is_shown(writer, track->track, (uint32_t)zone))
                counts[block.source[i]]++;
        }
    }
    make_groups(track, counts, sources);
    for (uint64_t zone = 0; zone < count;) {
        const sb_zone_block block = sb_track_block(track->track, zone, count);
        for (uint64_t i = 0; i < block.count; i++, zone++) {
            if (wanted[block.source[i]] && is_shown(writer, track->track, (uint32_t)zone))
                track->zones[counts[block.source[i]]++] = (uint32_t)zone;
        }
    }
}

csv_zones csv_group_zones(const csv_writer *writer, bool devices, bool with_inside) {
    const sb_trace *trace = writer->trace;
    const uint64_t sources = sb_series_count(&trace->sources);
    const uint64_t tracks = sb_series_count(&trace->tracks);
    csv_zones zones = {.tracks = sb_alloc_zeroed(tracks, sizeof *zones.tracks)};
    uint64_t *counts = sb_alloc(sources * sizeof *counts);
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

/* ---- rows ---- */

/* Parts of a row that are the same, or stay until replaced, for all zones of a source. */
typedef struct row_parts {
    sb_output source; /* name, file, line and a separator, ready to be copied */
    bool is_special;  /* the source is one of the special functions */
    sb_slice name;
    sb_slice text;
    sb_slice special_text;
} row_parts;

/* Decimal digits of value, ending before `end`, two at a time; where they begin. */
static char *put_digits(char *end, int64_t value) {
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    while (rest >= 100) {
        end -= 2;
        memcpy(end, pairs + rest % 100 * 2, 2);
        rest /= 100;
    }
    if (rest >= 10) {
        end -= 2;
        memcpy(end, pairs + rest * 2, 2);
    } else {
        *--end = (char)('0' + rest);
    }
    if (value < 0)
        *--end = '-';
    return end;
}

static void put_number(sb_output *output, int64_t value) {
    char text[24];
    const char *begin = put_digits(text + sizeof text, value);
    sb_put(output, (sb_slice){begin, (size_t)(text + sizeof text - begin)});
}

static void begin_source(const csv_writer *writer, uint32_t source, row_parts *parts) {
    const sb_source *place = sb_trace_source(writer->trace, source);
    csv_writer to_memory = *writer;
    sb_output_truncate(&parts->source, 0);
    to_memory.output = &parts->source;
    csv_put_field(&to_memory, sb_trace_source_name(writer->trace, source));
    csv_put_separator(&to_memory);
    csv_put_field(&to_memory, sb_trace_text(writer->trace, place->file));
    csv_put_separator(&to_memory);
    put_number(&parts->source, place->line);
    csv_put_separator(&to_memory);
    parts->name = parts->text = parts->special_text = (sb_slice){"", 0};
    parts->is_special = false;
    sb_slice rest = writer->options->special_functions;
    while (rest.size > 0 && writer->options->special_parent.size > 0)
        parts->is_special |= sb_slice_equal(sb_slice_cut(rest, ',', &rest),
                                            sb_trace_source_name(writer->trace, source));
}

/* The text of the nearest enclosing zone whose name contains the special one. */
static bool find_special_text(const csv_writer *writer, const sb_track *track, uint32_t zone,
                              sb_slice *text) {
    const sb_slice wanted = writer->options->special_parent;
    uint32_t outer = sb_track_zone_parent(track, zone);
    for (; outer != SB_NONE; outer = sb_track_zone_parent(track, outer)) {
        const uint32_t source = sb_track_zone_source(track, outer);
        if (!sb_trace_matches(sb_trace_source_name(writer->trace, source), wanted, true))
            continue;
        const sb_zone_note *note = sb_trace_zone_note(writer->trace, track, outer);
        if (note == NULL || note->text == 0)
            return false;
        *text = sb_trace_text(writer->trace, note->text);
        return true;
    }
    return false;
}

/* The texts of one zone. In compat what is missing stays as it was in the row before. */
static void take_texts(const csv_writer *writer, const sb_track *track, uint32_t zone,
                       row_parts *parts) {
    const sb_slice none = {"", 0};
    if (!writer->options->compat)
        parts->name = parts->text = parts->special_text = none;
    const sb_zone_note *note = sb_trace_zone_note(writer->trace, track, zone);
    if (note != NULL && note->name != 0)
        parts->name = sb_trace_text(writer->trace, note->name);
    if (note != NULL && note->text != 0)
        parts->text = sb_trace_text(writer->trace, note->text);
    if (parts->is_special)
        find_special_text(writer, track, zone, &parts->special_text);
}

/* The fork wraps the text in quotes, and leaves those inside it alone. */
static void put_tt_text(const csv_writer *writer, sb_slice text) {
    if (!writer->options->compat) {
        csv_put_field(writer, text);
    } else if (text.size > 0) {
        sb_put_char(writer->output, '"');
        sb_put(writer->output, text);
        sb_put_char(writer->output, '"');
    }
}

static bool is_tt(const csv_writer *writer) {
    return writer->options->layout == SB_TRACE_CSV_TT ||
           writer->options->layout == SB_TRACE_CSV_TT_0_10;
}

/* Puts the separator before what begins at `begin`. */
static char *put_separator_before(char *begin, sb_slice separator) {
    begin -= separator.size;
    memcpy(begin, separator.data, separator.size);
    return begin;
}

/* Start, duration and thread: written from the last digit to the first, so as to copy them once. */
static void put_times(const csv_writer *writer, int64_t start, int64_t duration, uint64_t thread) {
    enum { SEPARATOR_MAX = 16 };
    const sb_slice separator = writer->options->separator;
    char text[128];
    char *const end = text + sizeof text;
    if (separator.size > SEPARATOR_MAX) {
        put_number(writer->output, start);
        csv_put_separator(writer);
        put_number(writer->output, duration);
        csv_put_separator(writer);
        put_number(writer->output, (int64_t)thread);
        return;
    }
    char *begin = put_separator_before(put_digits(end, (int64_t)thread), separator);
    begin = put_separator_before(put_digits(begin, duration), separator);
    begin = put_digits(begin, start);
    sb_put(writer->output, (sb_slice){begin, (size_t)(end - begin)});
}

static void put_row(const csv_writer *writer, const row_parts *parts, int64_t start,
                    int64_t duration, uint64_t thread) {
    sb_output *output = writer->output;
    const sb_trace_csv_layout layout = writer->options->layout;
    sb_put(output, sb_output_text(&parts->source));
    if (is_tt(writer)) {
        csv_put_field(writer, parts->name);
        csv_put_separator(writer);
        put_tt_text(writer, parts->text);
        csv_put_separator(writer);
    }
    put_times(writer, start, duration, thread);
    if (layout == SB_TRACE_CSV_TRACY || layout == SB_TRACE_CSV_TT) {
        csv_put_separator(writer);
        csv_put_field(writer, parts->text);
    }
    if (is_tt(writer)) {
        csv_put_separator(writer);
        csv_put_field(writer, parts->special_text);
    }
    sb_put_char(output, '\n');
}

/* Zones of one source are spread over memory; asked for ahead of time they are there when needed.
 */
static void expect_zone(const csv_track *track, csv_group group, uint64_t i) {
    enum { AHEAD = 16 };
    if (i + AHEAD >= group.count)
        return;
    const uint32_t zone = track->zones[group.first + i + AHEAD];
    __builtin_prefetch(sb_series_find(&track->track->start, zone));
    __builtin_prefetch(sb_series_find(&track->track->duration, zone));
}

static void put_group(const csv_writer *writer, const csv_track *track, csv_group group,
                      row_parts *parts) {
    enum { LANE_MASK = 0xFFFF };
    const bool is_lane = track->track->kind == SB_TRACK_LANE;
    const uint64_t thread = is_lane ? track->track->lane_id & LANE_MASK : track->track->thread;
    for (uint64_t i = 0; i < group.count; i++) {
        const uint32_t zone = track->zones[group.first + i];
        expect_zone(track, group, i);
        if (!is_lane)
            take_texts(writer, track->track, zone, parts);
        put_row(writer, parts, sb_track_zone_start(track->track, zone), csv_duration(track, zone),
                thread);
    }
}

static void put_rows(const csv_writer *writer, bool devices) {
    csv_zones zones = csv_group_zones(writer, devices, writer->options->self && !devices);
    row_parts parts = {.source = sb_output_to_memory()};
    for (uint32_t source = 0; source < sb_series_count(&writer->trace->sources); source++) {
        bool begun = false;
        for (uint64_t i = 0; i < zones.track_count; i++) {
            const csv_group group = csv_next_group(&zones.tracks[i], source);
            if (group.count == 0)
                continue;
            if (!begun)
                begin_source(writer, source, &parts);
            begun = true;
            put_group(writer, &zones.tracks[i], group, &parts);
        }
    }
    sb_output_discard(&parts.source);
    csv_zones_free(&zones);
}

void csv_write_zones(const csv_writer *writer) {
    static const char *const headers[] = {
        [SB_TRACE_CSV_TRACY_0_11] = "name|src_file|src_line|ns_since_start|exec_time_ns|thread",
        [SB_TRACE_CSV_TRACY] = "name|src_file|src_line|ns_since_start|exec_time_ns|thread|value",
        [SB_TRACE_CSV_TT_0_10] = "name|src_file|src_line|zone_name|zone_text|ns_since_start|"
                                 "exec_time_ns|thread|special_parent_text",
        [SB_TRACE_CSV_TT] = "name|src_file|src_line|zone_name|zone_text|ns_since_start|"
                            "exec_time_ns|thread|value|special_parent_text",
    };
    csv_put_header(writer, headers[writer->options->layout]);
    put_rows(writer, false);
    if (writer->options->layout == SB_TRACE_CSV_TT)
        put_rows(writer, true);
}

/* ---- zones of devices ---- */

static void put_device_group(const csv_writer *writer, const csv_track *track, csv_group group) {
    const sb_source *place = sb_trace_source(writer->trace, group.source);
    for (uint64_t i = 0; i < group.count; i++) {
        const uint32_t zone = track->zones[group.first + i];
        csv_put_field(writer, sb_trace_source_name(writer->trace, group.source));
        csv_put_separator(writer);
        csv_put_field(writer, sb_trace_text(writer->trace, place->file));
        csv_put_separator(writer);
        put_number(writer->output, sb_track_zone_start(track->track, zone));
        csv_put_separator(writer);
        put_number(writer->output, csv_duration(track, zone));
        sb_put_char(writer->output, '\n');
    }
}

void csv_write_device_zones(const csv_writer *writer) {
    csv_put_header(writer, "name|src_file|Time from start of program|GPU execution time");
    csv_zones zones = csv_group_zones(writer, true, false);
    for (uint32_t source = 0; source < sb_series_count(&writer->trace->sources); source++) {
        for (uint64_t i = 0; i < zones.track_count; i++) {
            const csv_group group = csv_next_group(&zones.tracks[i], source);
            if (group.count > 0)
                put_device_group(writer, &zones.tracks[i], group);
        }
    }
    csv_zones_free(&zones);
}
