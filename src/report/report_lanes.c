/*
 * The device log as lanes of a trace, for those who want to see it: a context for each core, a lane
 * for each processor, zones paired from their markers. Names are those that recordings have, so
 * that ops are found in them in the same way (sb_trace_find_ops).
 *
 * The log knows nothing but cycles of each device. A device's first marker is at time 0; if the
 * trace has what the host did, the device is moved to where none of its ops begins before the host
 * called it. That is as early as it can have been, and nobody knows how much later it was, so the
 * contexts have no clock readings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/report_log.h"
#include "trace/trace.h"

enum {
    LANES = 65536,      /* as many as any mesh has; what is beyond is left out and said */
    DEFAULT_MHZ = 1000, /* of logs that do not say */
};

/* So far beyond any recording that sums of two such times still fit. */
#define LATEST_NS (INT64_MAX / 8)
/* Ids of threads that no system gives: those of lanes are numbers of ours. */
#define LANE_IDS (UINT64_C(1) << 63)

typedef struct lane_marker {
    uint64_t time;
    uint64_t program;
    uint64_t data;
    uint32_t zone; /* its place in zones */
    report_marker_type type;
    size_t order; /* in the log */
} lane_marker;

/* What a zone is called and where it stands. */
typedef struct lane_zone {
    sb_string name;
    sb_string file;
    uint32_t line;
    uint32_t source;     /* in the trace, for all but those that name an op; 0: none yet */
    bool is_firmware;    /* it is around all others */
    bool names_op;       /* the firmware zone of a core's first processor */
    sb_idmap op_sources; /* in the trace, by program */
} lane_zone;

typedef struct lane {
    uint32_t device; /* place in devices */
    uint32_t context;
    sb_string processor;
    sb_vector markers; /* lane_marker */
} lane;

typedef struct lane_device {
    uint32_t number;
    uint64_t first;    /* the time of its first marker */
    int64_t shift;     /* ns that time 0 is moved to */
    sb_idmap programs; /* when an op began: the place in starts */
    sb_vector starts;  /* uint64_t, in cycles */
} lane_device;

typedef struct lane_maker {
    sb_trace *trace;
    report_log log;
    uint64_t mhz;
    sb_intern lane_keys; /* device, core, processor */
    sb_vector lanes;     /* lane */
    sb_intern core_keys; /* device, core: the context, counted from first_context */
    uint32_t first_context;
    sb_intern zone_keys;
    sb_vector zones; /* lane_zone */
    sb_idmap device_places;
    sb_vector devices; /* lane_device */
    uint64_t left_out; /* markers of lanes beyond the bound */
} lane_maker;

/* ---- who and what ---- */

static uint32_t device_of(lane_maker *maker, uint32_t number) {
    uint32_t place = 0;
    if (sb_idmap_get(&maker->device_places, number, &place))
        return place;
    place = (uint32_t)maker->devices.count;
    sb_idmap_set(&maker->device_places, number, place);
    lane_device *device = sb_vector_push(&maker->devices);
    *device = (lane_device){
        .number = number, .first = UINT64_MAX, .starts = sb_vector_of(sizeof(uint64_t))};
    sb_idmap_init(&device->programs);
    return place;
}

static uint32_t context_of(lane_maker *maker, const report_marker *marker) {
    const uint32_t core[] = {marker->device, marker->core_x, marker->core_y};
    const uint32_t known = sb_intern_count(&maker->core_keys);
    const uint32_t place =
        sb_intern_add(&maker->core_keys, (sb_slice){(const char *)core, sizeof core});
    if (place == known) {
        char name[80];
        const int size =
            snprintf(name, sizeof name, "Device: %u, Core (%u,%u)", core[0], core[1], core[2]);
        sb_context *context = sb_trace_add_context(maker->trace);
        context->name = sb_trace_string(maker->trace, (sb_slice){name, (size_t)size});
        context->calibrated = false;
        context->period = 1000.0F / (float)maker->mhz;
    }
    return maker->first_context + place;
}

/* The lane of a marker; NULL beyond the bound. */
static lane *lane_of(lane_maker *maker, const report_marker *marker) {
    char key[128];
    const int size = snprintf(
        key, sizeof key, "%u,%u,%u,%.*s", marker->device, marker->core_x, marker->core_y,
        (int)(marker->processor.size < 64 ? marker->processor.size : 64), marker->processor.data);
    const uint32_t place = sb_intern_add(&maker->lane_keys, (sb_slice){key, (size_t)size});
    if (place >= LANES)
        return NULL;
    if (place == maker->lanes.count)
        *(lane *)sb_vector_push(&maker->lanes) =
            (lane){.device = device_of(maker, marker->device),
                   .context = context_of(maker, marker),
                   .processor = sb_trace_string(maker->trace, marker->processor),
                   .markers = sb_vector_of(sizeof(lane_marker))};
    return sb_vector_at(&maker->lanes, place);
}

static bool names_op(sb_slice name) {
    return sb_slice_is(name, "BRISC-FW") || sb_slice_is(name, "ERISC-FW") ||
           sb_slice_is(name, "DM0-FW");
}

static uint32_t zone_of(lane_maker *maker, const report_marker *marker) {
    char key[512];
    const int size = snprintf(key, sizeof key, "%.*s\n%.*s\n%.*s", (int)marker->zone.size,
                              marker->zone.data, (int)marker->line.size, marker->line.data,
                              (int)marker->file.size, marker->file.data);
    const size_t kept = (size_t)size < sizeof key ? (size_t)size : sizeof key - 1;
    const uint32_t place = sb_intern_add(&maker->zone_keys, (sb_slice){key, kept});
    if (place == maker->zones.count) {
        uint64_t line = 0;
        report_parse_number(sb_slice_trim(marker->line), &line);
        lane_zone *zone = sb_vector_push(&maker->zones);
        *zone = (lane_zone){.name = sb_trace_string(maker->trace, marker->zone),
                            .file = sb_trace_string(maker->trace, sb_slice_trim(marker->file)),
                            .line = (uint32_t)line,
                            .is_firmware = sb_slice_ends_with(marker->zone, "-FW"),
                            .names_op = names_op(marker->zone)};
        sb_idmap_init(&zone->op_sources);
    }
    return place;
}

/* ---- reading ---- */

static void note_start(lane_device *device, const lane_marker *marker) {
    uint32_t place = 0;
    if (!sb_idmap_get(&device->programs, marker->program, &place)) {
        sb_idmap_set(&device->programs, marker->program, (uint32_t)device->starts.count);
        *(uint64_t *)sb_vector_push(&device->starts) = marker->time;
        return;
    }
    uint64_t *start = sb_vector_at(&device->starts, place);
    *start = marker->time < *start ? marker->time : *start;
}

/* Sums say nothing of when, and values without a name are for others (counters, transfers). */
static bool is_shown(const report_marker *marker) {
    return marker->type != REPORT_MARKER_TOTAL && marker->zone.size > 0;
}

static void read_markers(lane_maker *maker) {
    report_marker marker;
    lane *to = NULL;
    while (report_log_next(&maker->log, &marker)) {
        if (!is_shown(&marker))
            continue;
        if (to == NULL || !marker.is_same_place)
            to = lane_of(maker, &marker);
        if (to == NULL) {
            maker->left_out++;
            continue;
        }
        const lane_marker kept = {marker.time, marker.program,
                                  marker.data, zone_of(maker, &marker),
                                  marker.type, to->markers.count};
        *(lane_marker *)sb_vector_push(&to->markers) = kept;
        lane_device *device = sb_vector_at(&maker->devices, to->device);
        device->first = marker.time < device->first ? marker.time : device->first;
        const lane_zone *zone = sb_vector_at(&maker->zones, kept.zone);
        if (zone->names_op && marker.type == REPORT_MARKER_START && marker.program != 0)
            note_start(device, &kept);
    }
}

/* ---- time ---- */

static int64_t time_of(const lane_maker *maker, const lane_device *device, uint64_t cycles) {
    const uint64_t since = cycles - device->first;
    if (since / maker->mhz >= LATEST_NS / 1000)
        return LATEST_NS;
    const uint64_t ns = since / maker->mhz * 1000 + since % maker->mhz * 1000 / maker->mhz;
    return device->shift + (int64_t)ns;
}

/* Nothing runs before it is asked for. */
static void place_devices(lane_maker *maker) {
    const sb_trace *trace = maker->trace;
    for (uint64_t i = 0; i < sb_series_count(&trace->messages); i++) {
        const sb_message *message = sb_series_at(&trace->messages, i);
        sb_op_message call;
        uint32_t place = 0;
        uint32_t start = 0;
        if (message->time > LATEST_NS ||
            !sb_trace_parse_op(sb_trace_text(trace, message->text), &call) ||
            !sb_idmap_get(&maker->device_places, call.device, &place))
            continue;
        lane_device *device = sb_vector_at(&maker->devices, place);
        if (!sb_idmap_get(&device->programs, call.id, &start))
            continue;
        const int64_t began =
            time_of(maker, device, *(uint64_t *)sb_vector_at(&device->starts, start));
        if (began < message->time)
            device->shift += message->time - began;
        sb_idmap_remove(&device->programs, call.id); /* the first call, for the first run */
    }
}

/* ---- lanes ---- */

static uint32_t op_source_of(lane_maker *maker, lane_zone *zone, uint64_t program) {
    uint32_t known = 0;
    char function[40];
    if (sb_idmap_get(&zone->op_sources, program, &known))
        return known;
    const int size = snprintf(function, sizeof function, "OP ID:%llu", (unsigned long long)program);
    const sb_source source = {.name = zone->name,
                              .function =
                                  sb_trace_string(maker->trace, (sb_slice){function, (size_t)size}),
                              .file = zone->file,
                              .line = zone->line};
    known = sb_trace_add_source(maker->trace, &source);
    sb_idmap_set(&zone->op_sources, program, known);
    return known;
}

static uint32_t source_of(lane_maker *maker, lane_zone *zone, uint64_t program) {
    if (zone->names_op && program != 0)
        return op_source_of(maker, zone, program);
    if (zone->source == 0)
        zone->source = sb_trace_add_source(
            maker->trace, &(sb_source){.name = zone->name, .file = zone->file, .line = zone->line});
    return zone->source;
}

static int compare_markers(const void *a, const void *b) {
    const lane_marker *left = a;
    const lane_marker *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

/* A lane while its zones are paired. */
typedef struct lane_walk {
    lane_maker *maker;
    const lane_device *device;
    sb_track *track;
    sb_vector open; /* uint32_t: zones that have begun, outermost first */
    sb_loss missing;
} lane_walk;

static uint32_t open_at(const lane_walk *walk, size_t depth) {
    return *(uint32_t *)sb_vector_at(&walk->open, depth);
}

static void miss(lane_walk *walk, int64_t time) {
    if (walk->missing.count++ == 0)
        walk->missing.from = time;
    walk->missing.to = time;
}

/* Ends zones until `left` are open; all but the last of them have no end in the log. */
static void end_down_to(lane_walk *walk, size_t left, int64_t time) {
    while (walk->open.count > left) {
        if (walk->open.count > left + 1)
            miss(walk, time);
        sb_track_end(walk->track, time);
        walk->open.count--;
    }
}

static void begin_zone(lane_walk *walk, const lane_marker *marker, int64_t time) {
    lane_zone *zone = sb_vector_at(&walk->maker->zones, marker->zone);
    if (zone->is_firmware && walk->open.count > 0) {
        const lane_zone *outermost = sb_vector_at(&walk->maker->zones, open_at(walk, 0));
        if (outermost->is_firmware) { /* the next program: the one before has no end */
            miss(walk, time);
            end_down_to(walk, 0, time);
        }
    }
    sb_track_begin(walk->track, time, source_of(walk->maker, zone, marker->program));
    *(uint32_t *)sb_vector_push(&walk->open) = marker->zone;
}

static void end_zone(lane_walk *walk, const lane_marker *marker, int64_t time) {
    size_t depth = walk->open.count;
    while (depth > 0 && open_at(walk, depth - 1) != marker->zone)
        depth--;
    if (depth == 0)
        miss(walk, time);
    else
        end_down_to(walk, depth - 1, time);
}

/* A moment is a zone that takes no time; a value is in its name. */
static void add_moment(lane_walk *walk, const lane_marker *marker, int64_t time) {
    sb_trace *trace = walk->maker->trace;
    lane_zone *zone = sb_vector_at(&walk->maker->zones, marker->zone);
    const uint32_t added =
        sb_track_add(walk->track, time, time, source_of(walk->maker, zone, marker->program));
    if (marker->type != REPORT_MARKER_DATA || added == SB_NONE)
        return;
    char name[256];
    const sb_slice text = sb_trace_text(trace, zone->name);
    const int size =
        snprintf(name, sizeof name, "%.*s = %llu", (int)(text.size < 200 ? text.size : 200),
                 text.data, (unsigned long long)marker->data);
    const sb_zone_note note = {.name = sb_trace_string(trace, (sb_slice){name, (size_t)size})};
    sb_track_annotate(trace, walk->track, added, &note);
}

static void walk_lane(lane_walk *walk, const lane *from) {
    const lane_marker *last = NULL;
    for (size_t i = 0; i < from->markers.count; i++) {
        const lane_marker *marker = sb_vector_at(&from->markers, i);
        const int64_t time = time_of(walk->maker, walk->device, marker->time);
        /* A dump that was appended may repeat rows of the one before. */
        if (last != NULL && last->time == marker->time && last->zone == marker->zone &&
            last->type == marker->type && last->data == marker->data)
            continue;
        last = marker;
        if (marker->type == REPORT_MARKER_START)
            begin_zone(walk, marker, time);
        else if (marker->type == REPORT_MARKER_END)
            end_zone(walk, marker, time);
        else
            add_moment(walk, marker, time);
    }
}

static void make_lane(lane_maker *maker, uint32_t number) {
    sb_trace *trace = maker->trace;
    lane *from = sb_vector_at(&maker->lanes, number);
    const uint32_t thread = sb_trace_thread(trace, LANE_IDS + number);
    sb_thread *named = sb_series_at(&trace->threads, thread);
    named->name = from->processor;
    named->is_lane = true;
    lane_walk walk = {.maker = maker,
                      .device = sb_vector_at(&maker->devices, from->device),
                      .track = sb_trace_add_track(trace, SB_TRACK_LANE, thread, from->context),
                      .open = sb_vector_of(sizeof(uint32_t)),
                      .missing = {.thread = thread, .cause = SB_LOSS_OTHER}};
    walk.track->lane_id = number;
    qsort(from->markers.data, from->markers.count, sizeof(lane_marker), compare_markers);
    walk_lane(&walk, from);
    if (walk.missing.count > 0) {
        walk.missing.text =
            sb_trace_string(trace, sb_slice_of("the device log has not both ends of some zones"));
        sb_trace_add_loss(trace, &walk.missing);
    }
    sb_vector_free(&walk.open);
    sb_vector_free(&from->markers);
}

/* ---- the whole ---- */

static void free_maker(lane_maker *maker) {
    for (size_t i = 0; i < maker->devices.count; i++) {
        lane_device *device = sb_vector_at(&maker->devices, i);
        sb_idmap_free(&device->programs);
        sb_vector_free(&device->starts);
    }
    for (size_t i = 0; i < maker->zones.count; i++)
        sb_idmap_free(&((lane_zone *)sb_vector_at(&maker->zones, i))->op_sources);
    sb_vector_free(&maker->devices);
    sb_vector_free(&maker->lanes);
    sb_vector_free(&maker->zones);
    sb_intern_free(&maker->lane_keys);
    sb_intern_free(&maker->core_keys);
    sb_intern_free(&maker->zone_keys);
    sb_idmap_free(&maker->device_places);
}

static void make_lanes(lane_maker *maker) {
    sb_trace *trace = maker->trace;
    maker->mhz = maker->log.clock_mhz > 0 ? (uint64_t)maker->log.clock_mhz : DEFAULT_MHZ;
    maker->first_context = (uint32_t)sb_series_count(&trace->contexts);
    sb_intern_init(&maker->lane_keys);
    sb_intern_init(&maker->core_keys);
    sb_intern_init(&maker->zone_keys);
    sb_idmap_init(&maker->device_places);
    read_markers(maker);
    place_devices(maker);
    for (uint32_t i = 0; i < maker->lanes.count; i++)
        make_lane(maker, i);
    if (maker->left_out > 0)
        sb_trace_add_loss(
            trace, &(sb_loss){.thread = SB_NONE,
                              .cause = SB_LOSS_NOT_STORED,
                              .count = maker->left_out,
                              .text = sb_trace_string(
                                  trace, sb_slice_of("the device log has more processors than "
                                                     "there is room for"))});
}

bool sb_report_is_device_log(sb_slice text) {
    report_log *log = sb_alloc_zeroed(1, sizeof *log);
    report_log_begin(log, text);
    const bool is_log = log->has_titles || sb_slice_starts_with(text, "ARCH:");
    free(log);
    return is_log;
}

void sb_report_add_lanes(sb_slice log, sb_trace *trace, sb_report_device_flaws *flaws) {
    lane_maker *maker = sb_alloc_zeroed(1, sizeof *maker); /* its reader knows much by heart */
    maker->trace = trace;
    maker->lanes = sb_vector_of(sizeof(lane));
    maker->zones = sb_vector_of(sizeof(lane_zone));
    maker->devices = sb_vector_of(sizeof(lane_device));
    report_log_begin(&maker->log, log);
    make_lanes(maker);
    *flaws =
        (sb_report_device_flaws){maker->log.bad_rows, maker->log.first_bad_line, maker->log.is_cut};
    free_maker(maker);
    free(maker);
}
