#include "cuda/cuda_lanes.h"

#include <stdlib.h>
#include <string.h>

/* By how much clocks that are fitted anew may put something back. */
#define LATE_NS 10000

/* At one moment ends come first, then starts, the longest in front. */
static int compare_events(const void *a, const void *b) {
    const cuda_event *left = a;
    const cuda_event *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    const bool left_ends = left->kind == CUDA_END;
    const bool right_ends = right->kind == CUDA_END;
    if (left_ends != right_ends)
        return left_ends ? -1 : 1;
    if (!left_ends && left->end != right->end)
        return left->end > right->end ? -1 : 1;
    return (left->record > right->record) - (left->record < right->record);
}

static bool is_same_owner(const cuda_owner *a, const cuda_owner *b) {
    return a->launch == b->launch && a->program == b->program && a->warp == b->warp &&
           memcmp(a->block, b->block, sizeof a->block) == 0;
}

void cuda_lanes_free(cuda_lanes *lanes) {
    free(lanes->lanes);
    *lanes = (cuda_lanes){0};
}

void cuda_lanes_forget(cuda_lanes *lanes) {
    for (uint32_t i = 0; i < lanes->count; i++)
        lanes->lanes[i].depth = 0;
}

static cuda_lane *add_lane(cuda_lanes *lanes) {
    if (lanes->count == CUDA_LANES_MAX)
        return NULL;
    if (lanes->count == lanes->capacity) {
        const uint32_t capacity = lanes->capacity == 0 ? 16 : 2 * lanes->capacity;
        cuda_lane *grown = realloc(lanes->lanes, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        lanes->lanes = grown;
        lanes->capacity = capacity;
    }
    cuda_lane *lane = &lanes->lanes[lanes->count++];
    *lane = (cuda_lane){.last = INT64_MIN};
    return lane;
}

/*
 * Can a zone lie inside the innermost open one of the lane? Launches of a graph's replays have the
 * same number, so one that is told late looks as if it were the same warp; its time tells.
 */
static bool has_room_inside(const cuda_lane *lane, const cuda_event *event) {
    return lane->depth < CUDA_DEPTH_MAX && lane->open[lane->depth - 1].end >= event->end &&
           event->time >= lane->last - LATE_NS;
}

/* The lane that a zone belongs into: inside those of its warp, else where nothing is open. */
static cuda_lane *lane_for(cuda_lanes *lanes, const cuda_event *event) {
    cuda_lane *free_lane = NULL;
    for (uint32_t i = 0; i < lanes->count; i++) {
        cuda_lane *lane = &lanes->lanes[i];
        const bool is_ours = is_same_owner(&lane->owner, &event->owner);
        if (lane->depth == 0 && lane->last <= event->time && (free_lane == NULL || is_ours))
            free_lane = lane;
        if (lane->depth > 0 && is_ours && event->kind == CUDA_BEGIN && has_room_inside(lane, event))
            return lane;
    }
    return free_lane != NULL ? free_lane : add_lane(lanes);
}

static void end_innermost(cuda_lanes *lanes, cuda_lane *lane, int64_t time,
                          const cuda_lane_sink *sink) {
    const cuda_lane_zone *zone = &lane->open[--lane->depth];
    lane->last = time > lane->last ? time : lane->last;
    sink->end(sink->context, sink->sm, (uint32_t)(lane - lanes->lanes), lane->last, zone->mark);
}

static void begin(cuda_lanes *lanes, const cuda_event *event, const cuda_lane_sink *sink) {
    cuda_lane *lane = lane_for(lanes, event);
    if (lane == NULL) {
        lanes->unplaced++;
        return;
    }
    lane->owner = event->owner;
    cuda_event told = *event;
    /* What was fitted anew may lie a little before what was told already. */
    if (told.time < lane->last)
        told.time = lane->last;
    lane->last = told.time;
    const uint32_t number = (uint32_t)(lane - lanes->lanes);
    lane->open[lane->depth++] =
        (cuda_lane_zone){event->record, event->end, sink->begin(sink->context, number, &told)};
    if (event->kind == CUDA_WHOLE_SPAN)
        end_innermost(lanes, lane, event->end, sink);
}

/* Zones that began inside it and are still open began on another path: they end here, for show. */
static void end(cuda_lanes *lanes, const cuda_event *event, const cuda_lane_sink *sink) {
    for (uint32_t i = 0; i < lanes->count; i++) {
        cuda_lane *lane = &lanes->lanes[i];
        uint32_t level = lane->depth;
        while (level > 0 && lane->open[level - 1].record != event->record)
            level--;
        if (level == 0)
            continue;
        lanes->cut += lane->depth - level;
        while (lane->depth >= level)
            end_innermost(lanes, lane, event->time, sink);
        return;
    }
}

/* The lane of the warp's open zones; the first one if it has none. */
static cuda_lane *lane_of(cuda_lanes *lanes, const cuda_owner *owner) {
    for (uint32_t i = 0; i < lanes->count; i++)
        if (lanes->lanes[i].depth > 0 && is_same_owner(&lanes->lanes[i].owner, owner))
            return &lanes->lanes[i];
    return lanes->count > 0 ? &lanes->lanes[0] : add_lane(lanes);
}

/* Data and the like. Sums are told when their warp has left, and so behind what it did later. */
static void note(cuda_lanes *lanes, const cuda_event *event, const cuda_lane_sink *sink) {
    cuda_lane *lane = lane_of(lanes, &event->owner);
    if (lane == NULL) {
        lanes->unplaced++;
        return;
    }
    cuda_event told = *event;
    if (told.time < lane->last)
        told.time = lane->last;
    lane->last = told.time;
    sink->note(sink->context, (uint32_t)(lane - lanes->lanes), &told);
}

void cuda_lanes_put(cuda_lanes *lanes, cuda_event *events, size_t count,
                    const cuda_lane_sink *sink) {
    if (count > 0)
        qsort(events, count, sizeof *events, compare_events);
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind == CUDA_BEGIN || events[i].kind == CUDA_WHOLE_SPAN)
            begin(lanes, &events[i], sink);
        else if (events[i].kind == CUDA_END)
            end(lanes, &events[i], sink);
        else
            note(lanes, &events[i], sink);
    }
}
