#include "trace/trace_slices.h"

typedef struct open_slice {
    uint32_t zone;
    int64_t end; /* SB_NO_TIME: not known */
} open_slice;

typedef struct slice_walk {
    const slice_visitor *visitor;
    sb_vector open; /* open_slice, innermost last */
    int64_t floor;  /* nothing may happen before this any more */
    uint64_t adjusted;
} slice_walk;

static int64_t hold(slice_walk *walk, int64_t time, int64_t from, int64_t to) {
    const int64_t held = time < from ? from : time > to ? to : time;
    walk->adjusted += held != time;
    return held;
}

static const open_slice *innermost(const slice_walk *walk) {
    return walk->open.count == 0 ? NULL : sb_vector_at(&walk->open, walk->open.count - 1);
}

/* Ends slices until the one of this zone is innermost. next is when something else begins. */
static void end_until(slice_walk *walk, uint32_t zone, int64_t next) {
    for (const open_slice *top = innermost(walk); top != NULL && top->zone != zone;
         top = innermost(walk)) {
        int64_t end = top->end;
        if (end == SB_NO_TIME)
            end = next;
        if (end != SB_NO_TIME) {
            walk->floor = end > walk->floor ? end : walk->floor;
            walk->visitor->end(walk->visitor->context, walk->floor);
        }
        walk->open.count--;
    }
}

static void begin_zone(slice_walk *walk, const sb_track *track, uint32_t zone) {
    const int64_t end = sb_track_zone_end(track, zone);
    int64_t start = sb_track_zone_start(track, zone);
    end_until(walk, sb_track_zone_parent(track, zone), start > walk->floor ? start : walk->floor);
    const open_slice *around = innermost(walk);
    const int64_t limit = around == NULL || around->end == SB_NO_TIME ? INT64_MAX : around->end;
    start = hold(walk, start, walk->floor, limit);
    walk->floor = start;
    walk->visitor->begin(walk->visitor->context, zone, start);
    *(open_slice *)sb_vector_push(&walk->open) = (open_slice){
        .zone = zone, .end = end == SB_NO_TIME ? SB_NO_TIME : hold(walk, end, start, limit)};
}

uint64_t slices_visit(const sb_track *track, const slice_visitor *visitor) {
    slice_walk walk = {.visitor = visitor, .open = sb_vector_of(sizeof(open_slice))};
    const uint64_t count = sb_track_zone_count(track);
    for (uint64_t zone = 0; zone < count; zone++) {
        /* A device zone that never got its times has no place. */
        if (track->kind != SB_TRACK_LANE || sb_track_zone_start(track, (uint32_t)zone) >= 0)
            begin_zone(&walk, track, (uint32_t)zone);
    }
    end_until(&walk, SB_NONE, SB_NO_TIME);
    sb_vector_free(&walk.open);
    return walk.adjusted;
}

static uint64_t kernel_key(uint32_t track, uint32_t zone) {
    return (uint64_t)track << 32 | zone;
}

sb_idmap slices_map_kernels(const sb_trace *trace) {
    sb_idmap kernels;
    sb_idmap_init(&kernels);
    for (uint64_t i = 0; i < sb_series_count(&trace->op_kernels); i++) {
        const sb_op_kernel *kernel = sb_series_at(&trace->op_kernels, i);
        sb_idmap_set(&kernels, kernel_key(kernel->track, kernel->zone), kernel->op);
    }
    return kernels;
}

uint32_t slices_op_of(const sb_idmap *kernels, uint32_t track, uint32_t zone) {
    uint32_t op = SB_NONE;
    sb_idmap_get(kernels, kernel_key(track, zone), &op);
    return op;
}

int64_t slices_frame_end(const sb_frame_set *set, uint64_t frame) {
    if (!set->continuous)
        return ((const sb_frame *)sb_series_at(&set->frames, frame))->end;
    if (frame + 1 >= sb_series_count(&set->frames))
        return SB_NO_TIME;
    return ((const sb_frame *)sb_series_at(&set->frames, frame + 1))->start;
}
