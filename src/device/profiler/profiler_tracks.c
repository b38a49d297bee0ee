#include "device/profiler/profiler_tracks.h"

#include <stdio.h>
#include <stdlib.h>

#include <strobe/kernel_profiler.h>
#include <strobe/strobe.h>

/* Numbers of contexts are counted down from the end, away from those of the program itself. */
#define CONTEXT_LAST 255u
#define CONTEXT_MAX 250u
/* Readers of Tenstorrent's know more. */
#define CONTEXT_TT_LAST 65535u
#define CONTEXT_TT_MAX 60000u
#define NO_CONTEXT UINT32_MAX
/* Zones inside zones; deeper ones are not shown. */
#define DEPTH_MAX 64u
/* Zones of a core that wait at most. */
#define WAITING_MAX 65536u
#define ID_COUNT 65536u
/* Different values that are told: readers of Tracy's have room for 32,767 names made at run time.
 */
#define VALUES_MAX 8192u

/* A marker that waits to be told. */
typedef struct track_event {
    int64_t time_ns;
    uint64_t data;
    uint32_t timer;
    uint32_t program;
    uint32_t processor;
    uint32_t number; /* in the order of arrival */
} track_event;

/* Open zones of a processor: the session each began in, so that no session sees half of one. */
typedef struct track_lane {
    bool is_named;
    uint32_t depth;
    uint32_t sessions[DEPTH_MAX];
} track_lane;

struct profiler_tracks {
    const profiler_device *device;
    sb_arena arena;
    sb_source_location **locations;      /* by id: one for each processor */
    sb_vector waiting[DEVICE_MAX_CORES]; /* track_event */
    uint32_t contexts[DEVICE_MAX_CORES];
    uint16_t queries[DEVICE_MAX_CORES];
    sb_idmap values; /* that were told, with the ids of their names */
    bool has_too_many_values;
    track_lane lanes[DEVICE_MAX_CORES][PROFILER_LANES];
};

/* ---- contexts ---- */

/* A context lives as long as the process: readers do not expect a number to mean something else. */
typedef struct known_core {
    uint32_t device;
    sb_core physical;
} known_core;

static known_core *known;
static uint32_t known_count;

static bool is_for_tenstorrent(void) {
    const char *value = getenv("STROBE_TT");
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

static uint32_t number_of(uint32_t index) {
    return (is_for_tenstorrent() ? CONTEXT_TT_LAST : CONTEXT_LAST) - index;
}

static void announce(const profiler_device *device, sb_core logical, sb_core physical,
                     uint32_t number) {
    char name[128];
    char certainty[32] = "";
    if (device->clock.syncs)
        snprintf(certainty, sizeof certainty, ", \u00B1%.0f ns", device->clock.error_ns);
    const int size = snprintf(name, sizeof name, "Device: %u, Logical (%u,%u) Physical (%u,%u)%s",
                              device->device->info.index, logical.x, logical.y, physical.x,
                              physical.y, certainty);
    sb_gpu_context((uint16_t)number, SB_GPU_OPENCL, sb_clock_ns(), 1.0F, 0, 0);
    sb_gpu_context_name((uint16_t)number, name, (size_t)size);
}

/* The context of a core, which is made when the core first reports. */
static uint32_t context_of(profiler_tracks *self, uint32_t core) {
    if (self->contexts[core] != 0)
        return self->contexts[core];
    const sb_core logical = profiler_core_at(self->device->device, core);
    const known_core wanted = {self->device->device->info.index, profiler_physical(logical)};
    uint32_t index = 0;
    while (index < known_count &&
           (known[index].device != wanted.device || known[index].physical.x != wanted.physical.x ||
            known[index].physical.y != wanted.physical.y))
        index++;
    if (index == known_count) {
        if (known_count == (is_for_tenstorrent() ? CONTEXT_TT_MAX : CONTEXT_MAX)) {
            self->contexts[core] = NO_CONTEXT;
            sb_log(SB_LOG_WARNING,
                   "zones of device %u, core %u,%u are not in the recording: readers know %u "
                   "contexts",
                   wanted.device, wanted.physical.x, wanted.physical.y, CONTEXT_MAX);
            return NO_CONTEXT;
        }
        known = sb_realloc(known, known_count + 1, sizeof *known);
        known[known_count++] = wanted;
        announce(self->device, logical, wanted.physical, number_of(index));
    }
    self->contexts[core] = number_of(index);
    return self->contexts[core];
}

/* ---- places in the source ---- */

static uint32_t color_of(const profiler_zone *zone, uint32_t processor) {
    static const uint32_t colors[PROFILER_LANES] = {0xEE9A00, 0x43CD80, 0x6CA6CD,
                                                    0x00E5EE, 0x98F5FF, 0x79CDCD};
    if (zone->color != 0)
        return zone->color;
    return sb_slice_contains(zone->name, "PROFILER") ? 0xCD4F39 : colors[processor];
}

static const sb_source_location *location_of(profiler_tracks *self, const profiler_zone *zone,
                                             uint32_t processor) {
    sb_source_location **known_at = &self->locations[zone->id];
    if (*known_at == NULL) {
        *known_at = sb_arena_alloc_zeroed(&self->arena, PROFILER_LANES * sizeof **known_at);
        for (uint32_t i = 0; i < PROFILER_LANES; i++)
            (*known_at)[i] = (sb_source_location){
                .name = sb_arena_format(&self->arena, "%.*s", (int)zone->name.size, zone->name.data)
                            .data,
                .function = "",
                .file = sb_arena_format(&self->arena, "%.*s", (int)zone->file.size, zone->file.data)
                            .data,
                .line = zone->line,
                .color = color_of(zone, i)};
    }
    return &(*known_at)[processor];
}

/* ---- telling ---- */

/* What tells processors apart: chip, core and processor, as readers of this hardware know it. */
static uint32_t lane_code(const profiler_tracks *self, uint32_t core, uint32_t processor) {
    enum { AGGREGATE = 6 };
    const sb_core place = profiler_physical(profiler_core_at(self->device->device, core));
    const uint32_t lane = processor == PROFILER_WHOLE_LANE ? (uint32_t)AGGREGATE : processor;
    return lane | place.x << 3 | place.y << 7 | self->device->device->info.index << 11;
}

static uint32_t session_now(void) {
    return (uint32_t)__atomic_load_n(&sb_client_state, __ATOMIC_RELAXED);
}

/* The master's firmware zone says which program this is; all others can share a location. */
static void tell_begin(profiler_tracks *self, uint32_t context, uint16_t query, uint32_t lane,
                       const profiler_zone *zone, const track_event *event) {
    if (event->processor != SB_BRISC || !sb_slice_is(zone->name, "BRISC-FW")) {
        sb_gpu_zone_begin((uint16_t)context, query, location_of(self, zone, event->processor), lane,
                          0);
        return;
    }
    char function[32];
    const int size = snprintf(function, sizeof function, "OP ID:%u", event->program);
    sb_gpu_zone_begin_dynamic((uint16_t)context, query, lane, zone->line, zone->file.data,
                              zone->file.size, function, (size_t)size, zone->name.data,
                              zone->name.size, color_of(zone, event->processor));
}

static void name_lane(track_lane *lane, uint32_t code, uint32_t processor) {
    if (!lane->is_named)
        sb_gpu_lane_name(code, processor == PROFILER_WHOLE_LANE ? "programs"
                                                                : device_processor_name(processor));
    lane->is_named = true;
}

/* ---- values and events ---- */

static profiler_type type_of(const track_event *event) {
    return (profiler_type)(event->timer >> 16);
}

/* Each value is a name to readers. What comes beyond their room is told without it. */
static bool may_tell_value(profiler_tracks *self, const track_event *event) {
    uint32_t found = 0;
    const uint64_t key = event->data * UINT64_C(0x9E3779B97F4A7C15) ^ event->timer;
    if (sb_idmap_get(&self->values, key, &found))
        return true;
    if (self->values.count < VALUES_MAX) {
        sb_idmap_set(&self->values, key, 1);
        return true;
    }
    if (!self->has_too_many_values)
        sb_log(SB_LOG_NOTE,
               "kernels record more than %u different values: in the recording the others have "
               "their names only, the log has them all",
               VALUES_MAX);
    self->has_too_many_values = true;
    return false;
}

/* "rows = 5", "event 77": a moment is a zone that takes no time. */
static void tell_moment(profiler_tracks *self, uint32_t core, uint32_t context, uint32_t code,
                        const track_event *event) {
    static const profiler_zone unnamed = {.name = {"event", 5}, .file = {"", 0}};
    const bool is_event = type_of(event) == PROFILER_EVENT;
    const profiler_zone *zone =
        is_event ? &unnamed
                 : profiler_names_find(&self->device->profiler->names, (uint16_t)event->timer);
    char name[256];
    if (zone == NULL || session_now() == 0)
        return;
    int size = snprintf(name, sizeof name, "%.*s", (int)zone->name.size, zone->name.data);
    if (is_event)
        size = snprintf(name, sizeof name, "event %u", event->timer & 0xFFFF);
    else if (may_tell_value(self, event))
        size = snprintf(name, sizeof name, "%.*s = %llu", (int)zone->name.size, zone->name.data,
                        (unsigned long long)event->data);
    const size_t length = (size_t)size < sizeof name ? (size_t)size : sizeof name - 1;
    const uint16_t begin = self->queries[core]++;
    const uint16_t end = self->queries[core]++;
    sb_gpu_zone_begin_dynamic((uint16_t)context, begin, code, zone->line, zone->file.data,
                              zone->file.size, zone->name.data, zone->name.size, name, length,
                              color_of(zone, event->processor));
    sb_gpu_time((uint16_t)context, begin, event->time_ns);
    sb_gpu_zone_end((uint16_t)context, end, code);
    sb_gpu_time((uint16_t)context, end, event->time_ns);
}

/* ---- zones ---- */

static void tell(profiler_tracks *self, uint32_t core, uint32_t context, const track_event *event) {
    track_lane *lane = &self->lanes[core][event->processor];
    const uint32_t code = lane_code(self, core, event->processor);
    name_lane(lane, code, event->processor);
    if (type_of(event) > PROFILER_END) {
        tell_moment(self, core, context, code, event);
        return;
    }
    const uint32_t session = session_now();
    if (type_of(event) == PROFILER_START) {
        const profiler_zone *zone =
            profiler_names_find(&self->device->profiler->names, (uint16_t)event->timer);
        const bool is_told = session != 0 && zone != NULL && lane->depth < DEPTH_MAX;
        if (lane->depth < DEPTH_MAX)
            lane->sessions[lane->depth] = is_told ? session : 0;
        lane->depth++;
        if (!is_told)
            return;
        const uint16_t query = self->queries[core]++;
        tell_begin(self, context, query, code, zone, event);
        sb_gpu_time((uint16_t)context, query, event->time_ns);
        return;
    }
    /* Its start was lost: nobody knows of this zone. */
    if (lane->depth == 0)
        return;
    lane->depth--;
    if (lane->depth >= DEPTH_MAX || lane->sessions[lane->depth] == 0 ||
        lane->sessions[lane->depth] != session)
        return;
    const uint16_t query = self->queries[core]++;
    sb_gpu_zone_end((uint16_t)context, query, code);
    sb_gpu_time((uint16_t)context, query, event->time_ns);
}

static int compare_events(const void *a, const void *b) {
    const track_event *left = a;
    const track_event *right = b;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

void profiler_tracks_flush(profiler_tracks *self, uint32_t core) {
    sb_vector *waiting = &self->waiting[core];
    if (waiting->count == 0)
        return;
    const uint32_t context = context_of(self, core);
    qsort(waiting->data, waiting->count, sizeof(track_event), compare_events);
    for (size_t i = 0; i < waiting->count && context != NO_CONTEXT; i++)
        tell(self, core, context, sb_vector_at(waiting, i));
    sb_vector_clear(waiting);
}

/* Zones, and what authors record; transfers have files of their own. */
static bool is_shown(const profiler_marker *marker) {
    const profiler_type type = profiler_type_of(marker);
    return type <= PROFILER_END || type == PROFILER_EVENT ||
           (type == PROFILER_DATA && profiler_id_of(marker) != SB_MARKER_NOC_EVENT);
}

void profiler_tracks_put(profiler_tracks *self, uint32_t core, const profiler_block *block) {
    sb_vector *waiting = &self->waiting[core];
    for (size_t i = 0; i < block->count; i++) {
        const profiler_marker *marker = &block->markers[i];
        if (!is_shown(marker))
            continue;
        *(track_event *)sb_vector_push(waiting) =
            (track_event){.time_ns = profiler_clock_host(&self->device->clock, core, marker->time),
                          .data = marker->data,
                          .timer = marker->timer,
                          .program = block->program,
                          .processor = block->processor,
                          .number = (uint32_t)waiting->count};
    }
    if (waiting->count > WAITING_MAX)
        profiler_tracks_flush(self, core);
}

/* ---- opening and closing ---- */

void profiler_tracks_prepare(void) {
    sb_client_start(&(sb_client_options){.size = sizeof(sb_client_options)});
}

profiler_tracks *profiler_tracks_open(const profiler_device *device) {
    profiler_tracks *self = sb_alloc_zeroed(1, sizeof *self);
    self->device = device;
    self->locations = sb_alloc_zeroed(ID_COUNT, sizeof(sb_source_location *));
    sb_idmap_init(&self->values);
    for (size_t i = 0; i < DEVICE_MAX_CORES; i++)
        self->waiting[i] = sb_vector_of(sizeof(track_event));
    return self;
}

void profiler_tracks_close(profiler_tracks *self) {
    if (self == NULL)
        return;
    for (uint32_t i = 0; i < DEVICE_MAX_CORES; i++) {
        profiler_tracks_flush(self, i);
        sb_vector_free(&self->waiting[i]);
    }
    free(self->locations);
    sb_idmap_free(&self->values);
    sb_arena_free(&self->arena);
    free(self);
    /* Names that come to lie at the same addresses are others. */
    sb_client_forget_library();
}

/* ---- messages and memory ---- */

void profiler_tracks_say(bool is_warning, sb_slice text) {
    sb_message(is_warning ? SB_SEVERITY_WARNING : SB_SEVERITY_INFO, 0, 0, text.data, text.size);
}

/* Each memory of each device is a pool, whose name must stay where it is. */
static const char *pool_of(const sb_device *device, sb_memory memory) {
    static char names[DEVICE_MAX_GPUS][2][24];
    char *name = names[device->info.index % DEVICE_MAX_GPUS][memory == SB_DRAM ? 0 : 1];
    if (name[0] == '\0')
        snprintf(name, sizeof names[0][0], "Device %u %s", device->info.index,
                 memory == SB_DRAM ? "DRAM" : "L1");
    return name;
}

/* An address on the device: only a number here. */
static const void *as_pointer(uint64_t address) {
    return (const void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

void device_profiler_allocated(sb_device *device, sb_memory memory, uint64_t address, size_t size) {
    if (device->mesh->records_memory)
        sb_memory_allocated(as_pointer(address), size, pool_of(device, memory), 0);
}

void device_profiler_freed(sb_device *device, sb_memory memory, uint64_t address) {
    if (device->mesh->records_memory)
        sb_memory_freed(as_pointer(address), pool_of(device, memory), 0);
}
