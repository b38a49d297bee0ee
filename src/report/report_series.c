#include "report/report_series.h"

#include <stdlib.h>
#include <string.h>

/* ---- order of time ---- */

/* The place in the list is part of it, so that marks of one time keep their order. */
typedef struct timed {
    uint64_t time;
    uint32_t place;
    uint32_t index;
} timed;

static int compare_timed(const void *a, const void *b) {
    const timed *left = a;
    const timed *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->place < right->place ? -1 : 1;
}

void report_sort_by_time(const report_marks *marks, sb_vector *indices) {
    bool is_sorted = true;
    timed *entries = sb_alloc_zeroed(indices->count + 1, sizeof *entries);
    for (size_t i = 0; i < indices->count; i++) {
        const uint32_t index = report_index_at(indices, i);
        entries[i] = (timed){report_mark_at(marks, index)->time, (uint32_t)i, index};
        is_sorted = is_sorted && (i == 0 || entries[i - 1].time <= entries[i].time);
    }
    if (!is_sorted)
        qsort(entries, indices->count, sizeof *entries, compare_timed);
    for (size_t i = 0; i < indices->count && !is_sorted; i++)
        *(uint32_t *)sb_vector_at(indices, i) = entries[i].index;
    free(entries);
}

/* ---- reading ---- */

static report_series new_series(void) {
    return (report_series){.marks = sb_vector_of(sizeof(uint32_t)),
                           .results = sb_vector_of(sizeof(report_result))};
}

report_series *report_marks_add_series(report_marks *marks) {
    report_series *series = sb_alloc(sizeof *series);
    *series = new_series();
    *(report_series **)sb_vector_push(&marks->executions) = series;
    return series;
}

static uint32_t find_device(report_marks *marks, uint32_t id) {
    for (uint32_t i = 0; i < marks->devices.count; i++) {
        if (((report_series_device *)sb_vector_at(&marks->devices, i))->id == id)
            return i;
    }
    report_series_device *added = sb_vector_push(&marks->devices);
    *added = (report_series_device){.id = id,
                                    .cores = sb_vector_of(sizeof(uint32_t)),
                                    .lanes = sb_vector_of(sizeof(report_lane)),
                                    .all = new_series(),
                                    .ops = sb_vector_of(sizeof(report_series *)),
                                    .dispatch_ops = sb_vector_of(sizeof(report_series *)),
                                    .summary = sb_vector_of(sizeof(report_result))};
    return (uint32_t)marks->devices.count - 1;
}

static uint32_t find_core(report_marks *marks, const report_marker *marker) {
    const uint32_t key[] = {marker->device, marker->core_x, marker->core_y};
    const uint32_t index =
        sb_intern_add(&marks->core_keys, (sb_slice){(const char *)key, sizeof key});
    if (index < marks->cores.count)
        return index;
    const uint32_t device = find_device(marks, marker->device);
    report_series_core *added = sb_vector_push(&marks->cores);
    *added = (report_series_core){.device = device,
                                  .x = marker->core_x,
                                  .y = marker->core_y,
                                  .lanes = sb_vector_of(sizeof(report_lane)),
                                  .all = new_series(),
                                  .ops = sb_vector_of(sizeof(report_series *))};
    report_series_device *of = sb_vector_at(&marks->devices, device);
    report_push_index(&of->cores, index);
    return index;
}

static report_lane *find_lane(sb_vector *lanes, uint32_t processor) {
    for (size_t i = 0; i < lanes->count; i++) {
        report_lane *lane = sb_vector_at(lanes, i);
        if (lane->processor == processor)
            return lane;
    }
    report_lane *added = sb_vector_push(lanes);
    *added = (report_lane){processor, sb_vector_of(sizeof(uint32_t))};
    return added;
}

static void take_marker(report_marks *marks, const report_marker *marker) {
    uint64_t line = 0;
    const uint32_t index = (uint32_t)marks->marks.count;
    const uint32_t processor = sb_intern_add(&marks->processors, marker->processor);
    const uint32_t core_index = find_core(marks, marker);
    report_series_core *core = sb_vector_at(&marks->cores, core_index);
    *(report_mark *)sb_vector_push(&marks->marks) = (report_mark){
        .time = marker->time,
        .data = marker->data,
        .program = marker->program,
        .trace = marker->trace,
        .session = marker->session,
        .timer = marker->timer,
        .core = core_index,
        .processor = processor,
        .type = marker->type,
        .zone = marker->zone,
        .line = marker->line,
        .file = marker->file,
        .meta = marker->meta,
    };
    report_push_index(&find_lane(&core->lanes, processor)->marks, index);
    marks->has_plain_lines = marks->has_plain_lines && report_parse_number(marker->line, &line);
    if ((sb_slice_contains(marker->zone, "CQ-DISPATCH") ||
         sb_slice_contains(marker->zone, "CQ-PREFETCH")) &&
        !sb_slice_contains(marker->processor, "ERISC"))
        core->is_dispatch = true;
}

/* ---- from processors to cores and devices ---- */

static void append(sb_vector *to, const sb_vector *from) {
    for (size_t i = 0; i < from->count; i++)
        report_push_index(to, report_index_at(from, i));
}

static void merge_core(report_marks *marks, report_series_core *core) {
    for (size_t i = 0; i < core->lanes.count; i++) {
        report_lane *lane = sb_vector_at(&core->lanes, i);
        report_sort_by_time(marks, &lane->marks);
        append(&core->all.marks, &lane->marks);
    }
    report_sort_by_time(marks, &core->all.marks);
}

static void merge_device(report_marks *marks, report_series_device *device) {
    for (size_t i = 0; i < device->cores.count; i++) {
        report_series_core *core = sb_vector_at(&marks->cores, report_index_at(&device->cores, i));
        merge_core(marks, core);
        for (size_t k = 0; k < core->lanes.count; k++) {
            const report_lane *lane = sb_vector_at(&core->lanes, k);
            append(&find_lane(&device->lanes, lane->processor)->marks, &lane->marks);
        }
        append(&device->all.marks, &core->all.marks);
    }
    for (size_t i = 0; i < device->lanes.count; i++)
        report_sort_by_time(marks, &((report_lane *)sb_vector_at(&device->lanes, i))->marks);
    report_sort_by_time(marks, &device->all.marks);
}

void report_marks_read(report_marks *marks, sb_slice text) {
    *marks = (report_marks){
        .marks = sb_vector_of(sizeof(report_mark)),
        .cores = sb_vector_of(sizeof(report_series_core)),
        .devices = sb_vector_of(sizeof(report_series_device)),
        .executions = sb_vector_of(sizeof(report_series *)),
        .has_plain_lines = true,
    };
    sb_intern_init(&marks->processors);
    sb_intern_init(&marks->core_keys);
    report_marker marker;
    report_log_begin(&marks->log, text);
    while (marks->marks.count < UINT32_MAX - 1 && report_log_next(&marks->log, &marker))
        take_marker(marks, &marker);
    for (size_t i = 0; i < marks->devices.count; i++)
        merge_device(marks, sb_vector_at(&marks->devices, i));
}

/* ---- executions ---- */

/* Indices in groups of one program each, in order of the first mark of each program. */
static void group_by_program(const report_marks *marks, const sb_vector *indices,
                             sb_vector *groups) {
    sb_intern ids;
    sb_intern_init(&ids);
    for (size_t i = 0; i < indices->count; i++) {
        const uint32_t index = report_index_at(indices, i);
        const uint64_t id = report_mark_at(marks, index)->program;
        const uint32_t group = sb_intern_add(&ids, (sb_slice){(const char *)&id, sizeof id});
        if (group == groups->count)
            *(sb_vector *)sb_vector_push(groups) = sb_vector_of(sizeof(uint32_t));
        report_push_index(sb_vector_at(groups, group), index);
    }
    sb_intern_free(&ids);
}

/* Is it an edge of the zone that brackets what a core does for a program? */
static bool is_bracket(const report_marks *marks, const report_mark *mark,
                       report_marker_type type) {
    static const struct {
        const char *processor;
        const char *zone;
    } brackets[] = {
        {"BRISC", "BRISC-FW"},
        {"ERISC", "ERISC-FW"},
        {"TENSIX_RISC_AGG", "TRACE-FW"},
        {"QUASAR_DM0", "DM0-FW"},
    };
    if (mark->type != type)
        return false;
    for (size_t i = 0; i < sizeof brackets / sizeof brackets[0]; i++) {
        if (sb_slice_is(mark->zone, brackets[i].zone) &&
            sb_slice_is(sb_intern_text(&marks->processors, mark->processor), brackets[i].processor))
            return true;
    }
    return false;
}

enum { CORE_AWAY, CORE_IDLE, CORE_BUSY, CORE_DONE };

/* Where the cores of one program are with it. */
typedef struct core_states {
    uint8_t *of; /* by core */
    size_t count;
    uint32_t taking_part;
    uint32_t done;
} core_states;

/* Whether with this mark all cores that take part have come to their end. */
static bool ends_execution(const report_marks *marks, const report_mark *mark,
                           core_states *states) {
    uint8_t *state = &states->of[mark->core];
    if (*state == CORE_IDLE && is_bracket(marks, mark, REPORT_MARKER_START))
        *state = CORE_BUSY;
    else if (*state == CORE_BUSY && is_bracket(marks, mark, REPORT_MARKER_END)) {
        *state = CORE_DONE;
        states->done++;
    }
    return states->done > 0 && states->done == states->taking_part;
}

static void set_idle(core_states *states) {
    for (size_t i = 0; i < states->count; i++)
        states->of[i] = states->of[i] == CORE_AWAY ? CORE_AWAY : CORE_IDLE;
    states->done = 0;
}

static void find_cores(const report_marks *marks, const sb_vector *group, core_states *states) {
    memset(states->of, CORE_AWAY, states->count);
    states->taking_part = 0;
    states->done = 0;
    for (size_t i = 0; i < group->count; i++) {
        uint8_t *state = &states->of[report_mark_at(marks, report_index_at(group, i))->core];
        states->taking_part += *state == CORE_AWAY ? 1 : 0;
        *state = CORE_IDLE;
    }
}

/* Takes the marks of one program; returns the series that the next mark belongs to. */
static report_series *cut_group(report_marks *marks, const sb_vector *group, bool of_one_core,
                                core_states *states, report_series *open, sb_vector *ops) {
    find_cores(marks, group, states);
    for (size_t i = 0; i < group->count; i++) {
        const uint32_t index = report_index_at(group, i);
        const report_mark *mark = report_mark_at(marks, index);
        if (mark->timer == 0)
            continue;
        const bool is_end = of_one_core ? is_bracket(marks, mark, REPORT_MARKER_END)
                                        : ends_execution(marks, mark, states);
        report_push_index(&open->marks, index);
        if (!is_end)
            continue;
        *(report_series **)sb_vector_push(ops) = open;
        open = report_marks_add_series(marks);
        set_idle(states);
    }
    return open;
}

/*
 * An execution ends when all cores of its program have ended their firmware. What is left open at
 * the end is none: so does the original, and what it takes for an execution is asked for here.
 */
static void detect_ops(report_marks *marks, const sb_vector *indices, bool of_one_core,
                       sb_vector *ops) {
    sb_vector groups = sb_vector_of(sizeof(sb_vector));
    core_states states = {.of = sb_alloc_zeroed(marks->cores.count + 1, 1),
                          .count = marks->cores.count};
    group_by_program(marks, indices, &groups);
    report_series *open = report_marks_add_series(marks);
    for (size_t i = 0; i < groups.count; i++) {
        sb_vector *group = sb_vector_at(&groups, i);
        if (report_mark_at(marks, report_index_at(group, 0))->program != 0)
            open = cut_group(marks, group, of_one_core, &states, open, ops);
        sb_vector_free(group);
    }
    free(states.of);
    sb_vector_free(&groups);
}

/* The executions on dispatch cores, in order of their first marks. */
static void collect_dispatch_ops(report_marks *marks, report_series_device *device) {
    sb_vector starts = sb_vector_of(sizeof(timed));
    sb_vector found = sb_vector_of(sizeof(report_series *));
    for (size_t i = 0; i < device->cores.count; i++) {
        const report_series_core *core =
            sb_vector_at(&marks->cores, report_index_at(&device->cores, i));
        for (size_t k = 0; core->is_dispatch && k < core->ops.count; k++) {
            report_series *op = report_series_at(&core->ops, k);
            const uint32_t first = report_index_at(&op->marks, 0);
            const uint32_t place = (uint32_t)found.count;
            *(timed *)sb_vector_push(&starts) =
                (timed){report_mark_at(marks, first)->time, place, place};
            *(report_series **)sb_vector_push(&found) = op;
        }
    }
    if (starts.count > 1)
        qsort(starts.data, starts.count, sizeof(timed), compare_timed);
    for (size_t i = 0; i < starts.count; i++)
        *(report_series **)sb_vector_push(&device->dispatch_ops) =
            report_series_at(&found, ((timed *)sb_vector_at(&starts, i))->index);
    sb_vector_free(&starts);
    sb_vector_free(&found);
}

void report_marks_detect_ops(report_marks *marks) {
    for (size_t i = 0; i < marks->cores.count; i++) {
        report_series_core *core = sb_vector_at(&marks->cores, i);
        if (core->is_dispatch)
            report_detect_dispatch_ops(marks, core);
        else
            detect_ops(marks, &core->all.marks, true, &core->ops);
    }
    for (size_t i = 0; i < marks->devices.count; i++) {
        report_series_device *device = sb_vector_at(&marks->devices, i);
        collect_dispatch_ops(marks, device);
        detect_ops(marks, &device->all.marks, false, &device->ops);
    }
}

/* ---- the end ---- */

static void free_series(report_series *series) {
    sb_vector_free(&series->marks);
    report_free_results(&series->results);
}

static void free_lanes(sb_vector *lanes) {
    for (size_t i = 0; i < lanes->count; i++)
        sb_vector_free(&((report_lane *)sb_vector_at(lanes, i))->marks);
    sb_vector_free(lanes);
}

void report_marks_free(report_marks *marks) {
    for (size_t i = 0; i < marks->cores.count; i++) {
        report_series_core *core = sb_vector_at(&marks->cores, i);
        free_lanes(&core->lanes);
        free_series(&core->all);
        sb_vector_free(&core->ops);
    }
    for (size_t i = 0; i < marks->devices.count; i++) {
        report_series_device *device = sb_vector_at(&marks->devices, i);
        sb_vector_free(&device->cores);
        free_lanes(&device->lanes);
        free_series(&device->all);
        sb_vector_free(&device->ops);
        sb_vector_free(&device->dispatch_ops);
        report_free_results(&device->summary);
    }
    for (size_t i = 0; i < marks->executions.count; i++) {
        report_series *series = report_series_at(&marks->executions, i);
        free_series(series);
        free(series);
    }
    sb_vector_free(&marks->executions);
    sb_vector_free(&marks->marks);
    sb_vector_free(&marks->cores);
    sb_vector_free(&marks->devices);
    sb_intern_free(&marks->processors);
    sb_intern_free(&marks->core_keys);
}
