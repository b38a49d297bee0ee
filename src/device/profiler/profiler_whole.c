#include "device/profiler/profiler_whole.h"

#include <stdlib.h>

/* From the first start to the last end; begin is 0 where there was none. */
typedef struct whole_span {
    uint64_t begin;
    uint64_t end;
} whole_span;

typedef struct whole_replay {
    uint32_t number;
    whole_span firmware;
    whole_span kernels;
} whole_replay;

struct profiler_whole {
    profiler_device *device;
    uint16_t firmware_id;
    uint16_t kernel_id;
    sb_vector replays[DEVICE_MAX_CORES]; /* whole_replay, those that are not delivered */
};

static sb_status add_name(profiler_device *device, const char *name, uint16_t *id,
                          sb_error *error) {
    const profiler_zone zone = {.name = sb_slice_of(name), .file = sb_slice_of("")};
    return profiler_names_add(&device->profiler->names, &zone, id, error);
}

sb_status profiler_whole_open(profiler_device *device, profiler_whole **whole, sb_error *error) {
    uint16_t firmware = 0;
    uint16_t kernel = 0;
    SB_TRY(add_name(device, "TRACE-FW", &firmware, error));
    SB_TRY(add_name(device, "TRACE-KERNEL", &kernel, error));
    profiler_whole *self = sb_alloc_zeroed(1, sizeof *self);
    self->device = device;
    self->firmware_id = firmware;
    self->kernel_id = kernel;
    for (size_t i = 0; i < DEVICE_MAX_CORES; i++)
        self->replays[i] = sb_vector_of(sizeof(whole_replay));
    *whole = self;
    return SB_OK;
}

void profiler_whole_close(profiler_whole *self) {
    if (self == NULL)
        return;
    for (size_t i = 0; i < DEVICE_MAX_CORES; i++)
        sb_vector_free(&self->replays[i]);
    free(self);
}

/* ---- collecting ---- */

static whole_replay *replay_of(profiler_whole *self, uint32_t core, uint32_t number) {
    sb_vector *replays = &self->replays[core];
    for (size_t i = replays->count; i > 0; i--) {
        whole_replay *replay = sb_vector_at(replays, i - 1);
        if (replay->number == number)
            return replay;
    }
    whole_replay *added = sb_vector_push(replays);
    added->number = number;
    return added;
}

static void extend(whole_span *span, uint64_t time) {
    if (span->begin == 0 || time < span->begin)
        span->begin = time;
    if (time > span->end)
        span->end = time;
}

void profiler_whole_put(profiler_whole *self, uint32_t core, const profiler_block *block) {
    if (block->replay == 0)
        return;
    whole_replay *replay = replay_of(self, core, block->replay);
    for (size_t i = 0; i < block->count; i++) {
        const profiler_marker *marker = &block->markers[i];
        const profiler_zone *zone =
            profiler_type_of(marker) <= PROFILER_END
                ? profiler_names_find(&self->device->profiler->names, profiler_id_of(marker))
                : NULL;
        if (zone != NULL && sb_slice_ends_with(zone->name, "-FW"))
            extend(&replay->firmware, marker->time);
        if (zone != NULL && sb_slice_ends_with(zone->name, "-KERNEL"))
            extend(&replay->kernels, marker->time);
    }
}

/* ---- delivering ---- */

static profiler_marker marker_of(profiler_type type, uint16_t id, uint64_t time) {
    return (profiler_marker){.time = time, .timer = (uint32_t)type << 16 | id};
}

/* The replay's number takes the place of the program's id. */
static void deliver(profiler_whole *self, uint32_t core, const whole_replay *replay) {
    const profiler_marker markers[] = {
        marker_of(PROFILER_START, self->firmware_id, replay->firmware.begin),
        marker_of(PROFILER_START, self->kernel_id, replay->kernels.begin),
        marker_of(PROFILER_END, self->kernel_id, replay->kernels.end),
        marker_of(PROFILER_END, self->firmware_id, replay->firmware.end),
    };
    const profiler_block block = {.processor = PROFILER_WHOLE_LANE,
                                  .program = replay->number,
                                  .markers = markers,
                                  .count = sizeof markers / sizeof markers[0]};
    profiler_write_down(self->device, core, &block);
}

void profiler_whole_deliver(profiler_whole *self, uint32_t core, bool is_end) {
    sb_vector *replays = &self->replays[core];
    size_t left = 0;
    for (size_t i = 0; i < replays->count; i++) {
        whole_replay *replay = sb_vector_at(replays, i);
        if (is_end || replay->number < self->device->replays.count)
            deliver(self, core, replay);
        else
            *(whole_replay *)sb_vector_at(replays, left++) = *replay;
    }
    replays->count = left;
}
