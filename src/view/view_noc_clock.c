/*
 * When transfers were: cycles of a device against times of the trace.
 *
 * The first kernel in a file of transfers, on its core and processor, is looked up among the zones
 * of the run that the file is of; so each file has a moment that is known on both clocks. (One line
 * through all of them would not do: the clocks of simulated devices stand still between runs.) How
 * long these kernels took on both gives the rate. Of several runs of one op, files and runs belong
 * together in their order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_noc.h"

/* ---- lanes of the trace ---- */

/* Tracks by device, core and processor. */
typedef struct lane_map {
    sb_intern keys;
    sb_vector tracks; /* uint32_t */
} lane_map;

static uint32_t place_of_lane(lane_map *map, const int64_t core[3], sb_slice processor) {
    char key[96];
    const size_t size = processor.size < 64 ? processor.size : 64;
    memcpy(key, core, 3 * sizeof *core);
    memcpy(key + 3 * sizeof *core, processor.data, size);
    return sb_intern_add(&map->keys, (sb_slice){key, 3 * sizeof *core + size});
}

static lane_map map_lanes(const sb_trace *trace) {
    lane_map map = {.tracks = sb_vector_of(sizeof(uint32_t))};
    sb_intern_init(&map.keys);
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        char buffer[32];
        sb_core core;
        const sb_track *track = sb_trace_track(trace, i);
        if (track->kind != SB_TRACK_LANE ||
            !sb_core_parse(sb_trace_text(trace, sb_trace_context(trace, track->context)->name),
                           &core))
            continue;
        const int64_t place[] = {core.device, core.x, core.y};
        const sb_slice name = sb_trace_track_name(trace, track, buffer);
        if (place_of_lane(&map, place, name) == map.tracks.count)
            *(uint32_t *)sb_vector_push(&map.tracks) = (uint32_t)i;
    }
    return map;
}

static void free_lanes(lane_map *map) {
    sb_intern_free(&map->keys);
    sb_vector_free(&map->tracks);
}

/* ---- kernels ---- */

typedef struct kernel_search {
    const sb_trace *trace;
    sb_slice name;
    int64_t start;
    int64_t end;
    bool is_found;
} kernel_search;

static bool look_at_zone(void *context, const sb_track *track, uint32_t zone) {
    kernel_search *search = context;
    const sb_slice name = sb_trace_source_name(search->trace, sb_track_zone_source(track, zone));
    const int64_t end = sb_track_zone_end(track, zone);
    if (!sb_slice_equal(name, search->name) || end == SB_NO_TIME)
        return true;
    search->start = sb_track_zone_start(track, zone);
    search->end = end;
    search->is_found = true;
    return false;
}

/* The kernel of a file among the zones of a run. */
static kernel_search find_kernel(const sb_trace *trace, lane_map *lanes, const noc_file *file,
                                 const view_run *run) {
    kernel_search search = {.trace = trace, .name = file->zone};
    const int64_t core[] = {file->device, file->x, file->y};
    const uint32_t place = place_of_lane(lanes, core, file->processor);
    if (place < lanes->tracks.count) {
        const uint32_t track = *(uint32_t *)sb_vector_at(&lanes->tracks, place);
        sb_track_visit(sb_trace_track(trace, track), (sb_range){run->from, run->to + 1},
                       look_at_zone, &search);
    }
    return search;
}

/* ---- files and runs ---- */

static int compare_files(const void *a, const void *b) {
    const noc_file *left = a;
    const noc_file *right = b;
    if (left->device != right->device)
        return left->device < right->device ? -1 : 1;
    if (left->op != right->op)
        return left->op < right->op ? -1 : 1;
    return (left->kernel_start > right->kernel_start) - (left->kernel_start < right->kernel_start);
}

typedef struct ordered_run {
    int64_t device;
    uint64_t op;
    const view_run *run;
} ordered_run;

static int compare_runs(const void *a, const void *b) {
    const ordered_run *left = a;
    const ordered_run *right = b;
    if (left->device != right->device)
        return left->device < right->device ? -1 : 1;
    if (left->op != right->op)
        return left->op < right->op ? -1 : 1;
    return (left->run->from > right->run->from) - (left->run->from < right->run->from);
}

static sb_vector order_runs(const sb_view *view) {
    sb_vector runs = sb_vector_of(sizeof(ordered_run));
    for (size_t i = 0; i < view->runs.count; i++) {
        const sb_op *op = sb_series_at(&view->trace->ops, i);
        const view_run *run = sb_vector_at(&view->runs, i);
        if (run->kernels > 0)
            *(ordered_run *)sb_vector_push(&runs) = (ordered_run){op->device, op->id, run};
    }
    if (runs.count > 0)
        qsort(runs.data, runs.count, sizeof(ordered_run), compare_runs);
    return runs;
}

/* -1: the run is of an op before that of the file; 0: of the same; 1: of one behind it. */
static int compare_op(const ordered_run *run, const noc_file *file) {
    if (run->device != file->device)
        return run->device < file->device ? -1 : 1;
    return (run->op > file->op) - (run->op < file->op);
}

/* ---- placing ---- */

static noc_rate *rate_of(view_noc *noc, int32_t device) {
    for (size_t i = 0; i < noc->rates.count; i++) {
        noc_rate *rate = sb_vector_at(&noc->rates, i);
        if (rate->device == device)
            return rate;
    }
    noc_rate *added = sb_vector_push(&noc->rates);
    added->device = device;
    return added;
}

static void place_file(view_noc *noc, noc_file *file, const kernel_search *kernel) {
    file->is_placed = true;
    file->start_ns = (double)kernel->start;
    if (file->kernel_end <= file->kernel_start)
        return;
    noc_rate *rate = rate_of(noc, file->device);
    rate->cycles += (double)file->kernel_end - (double)file->kernel_start;
    rate->ns += (double)kernel->end - (double)kernel->start;
}

/* Both lists are in the same order, so one walk finds all that belongs together. */
static void place_files(view_noc *noc, const sb_trace *trace, const sb_vector *runs) {
    lane_map lanes = map_lanes(trace);
    size_t next = 0;
    for (size_t i = 0; i < noc->files.count && next < runs->count;) {
        noc_file *file = sb_vector_at(&noc->files, i);
        const ordered_run *run = sb_vector_at(runs, next);
        const int order = compare_op(run, file);
        next += order <= 0 ? 1 : 0;
        i += order >= 0 ? 1 : 0;
        if (order != 0)
            continue;
        const kernel_search kernel = find_kernel(trace, &lanes, file, run->run);
        if (kernel.is_found)
            place_file(noc, file, &kernel);
    }
    free_lanes(&lanes);
}

void view_noc_place(view_noc *noc, const sb_view *view) {
    if (noc->files.count == 0)
        return;
    qsort(noc->files.data, noc->files.count, sizeof(noc_file), compare_files);
    sb_vector runs = order_runs(view);
    place_files(noc, view->trace, &runs);
    sb_vector_free(&runs);
    for (size_t i = 0; i < noc->files.count; i++) {
        noc_file *file = sb_vector_at(&noc->files, i);
        const noc_rate *rate = file->is_placed ? rate_of(noc, file->device) : NULL;
        file->is_placed = rate != NULL && rate->cycles > 0 && rate->ns > 0;
    }
}

double view_noc_time(const view_noc *noc, const noc_file *file, const noc_event *event) {
    double ns_per_cycle = 0;
    for (size_t i = 0; i < noc->rates.count; i++) {
        const noc_rate *rate = sb_vector_at(&noc->rates, i);
        if (rate->device == file->device)
            ns_per_cycle = rate->ns / rate->cycles;
    }
    return file->start_ns + ((double)event->cycle - (double)file->kernel_start) * ns_per_cycle;
}
