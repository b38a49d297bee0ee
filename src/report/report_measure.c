/*
 * Finding durations in series of markers.
 */
#include <stdlib.h>
#include <string.h>

#include "report/report_series.h"

/* ---- does a marker look like it? ---- */

static const char *type_name(report_marker_type type) {
    return type == REPORT_MARKER_START ? "ZONE_START" : type == REPORT_MARKER_END ? "ZONE_END" : "";
}

static bool is_named(sb_slice zone, const char *name) {
    const size_t size = strlen(name);
    if (name[size - 1] != '*')
        return sb_slice_is(zone, name);
    char part[64];
    if (size > sizeof part)
        return false;
    memcpy(part, name, size - 1);
    part[size - 1] = '\0';
    return sb_slice_contains(zone, part);
}

static bool has_processor(const report_marks *marks, const report_mark *mark, const char *name) {
    return strcmp(name, "ANY") == 0 ||
           sb_slice_is(sb_intern_text(&marks->processors, mark->processor), name);
}

static bool matches(const report_marks *marks, const report_mark *mark,
                    const report_pattern *pattern) {
    if (pattern->phase != NULL && strcmp(type_name(mark->type), pattern->phase) != 0)
        return false;
    bool is_zone = pattern->zone != NULL && is_named(mark->zone, pattern->zone);
    for (size_t i = 0; pattern->zones != NULL && pattern->zones[i] != NULL && !is_zone; i++)
        is_zone = is_named(mark->zone, pattern->zones[i]);
    return is_zone && has_processor(marks, mark, pattern->processor);
}

const report_pattern *report_measure_end(const report_measure *measure) {
    return measure->end.processor == NULL ? &measure->start : &measure->end;
}

bool report_is_event(const report_marks *marks, const report_mark *mark,
                     const report_measure *measure) {
    return (mark->type == REPORT_MARKER_EVENT || mark->type == REPORT_MARKER_DATA) &&
           has_processor(marks, mark, measure->start.processor);
}

/* ---- methods ---- */

static int64_t distance(const report_marks *marks, uint32_t start, uint32_t end) {
    return (int64_t)(report_mark_at(marks, end)->time - report_mark_at(marks, start)->time);
}

static void find_first_last(const report_marks *marks, const sb_vector *series,
                            const report_measure *measure, sb_vector *durations) {
    size_t first = 0;
    while (first < series->count &&
           !matches(marks, report_mark_at(marks, report_index_at(series, first)), &measure->start))
        first++;
    for (size_t last = series->count; last > first + 1; last--) {
        const uint32_t end = report_index_at(series, last - 1);
        if (!matches(marks, report_mark_at(marks, end), report_measure_end(measure)))
            continue;
        const uint32_t start = report_index_at(series, first);
        *(report_duration *)sb_vector_push(durations) =
            (report_duration){.start = start, .end = end, .cycles = distance(marks, start, end)};
        return;
    }
}

/* The same for each core, in the order in which cores appear. */
static void find_per_core(const report_marks *marks, const sb_vector *series,
                          const report_measure *measure, sb_vector *durations) {
    sb_intern cores;
    sb_vector parts = sb_vector_of(sizeof(sb_vector));
    sb_intern_init(&cores);
    for (size_t i = 0; i < series->count; i++) {
        const uint32_t index = report_index_at(series, i);
        const uint32_t core = report_mark_at(marks, index)->core;
        const uint32_t part = sb_intern_add(&cores, (sb_slice){(const char *)&core, sizeof core});
        if (part == parts.count)
            *(sb_vector *)sb_vector_push(&parts) = sb_vector_of(sizeof(uint32_t));
        report_push_index(sb_vector_at(&parts, part), index);
    }
    for (size_t i = 0; i < parts.count; i++) {
        find_first_last(marks, sb_vector_at(&parts, i), measure, durations);
        sb_vector_free(sb_vector_at(&parts, i));
    }
    sb_vector_free(&parts);
    sb_intern_free(&cores);
}

static bool starts_firmware(const report_mark *mark) {
    return mark->type == REPORT_MARKER_START &&
           (sb_slice_is(mark->zone, "BRISC-FW") || sb_slice_is(mark->zone, "DM0-FW"));
}

/* A start that comes while one is open takes its place, unless it is also an end. */
static void find_adjacent(const report_marks *marks, const sb_vector *series,
                          const report_measure *measure, sb_vector *durations) {
    report_duration open = {0};
    bool is_open = false;
    uint32_t firmware = 0;
    for (size_t i = 0; i < series->count; i++) {
        const uint32_t index = report_index_at(series, i);
        const report_mark *mark = report_mark_at(marks, index);
        if (starts_firmware(mark))
            firmware = index + 1;
        if (is_open && matches(marks, mark, report_measure_end(measure))) {
            open.end = index;
            open.end_firmware = firmware;
            open.cycles = distance(marks, open.start, index);
            *(report_duration *)sb_vector_push(durations) = open;
            is_open = false;
        } else if (matches(marks, mark, &measure->start)) {
            open = (report_duration){.start = index, .start_firmware = firmware};
            is_open = true;
        }
    }
}

static void add_up(const report_marks *marks, const sb_vector *series,
                   const report_measure *measure, sb_vector *durations) {
    uint64_t total = 0;
    for (size_t i = 0; i < series->count; i++) {
        const report_mark *mark = report_mark_at(marks, report_index_at(series, i));
        if (matches(marks, mark, &measure->start))
            total += mark->data;
    }
    if (total > 0)
        *(report_duration *)sb_vector_push(durations) = (report_duration){.cycles = (int64_t)total};
}

/* ---- figures ---- */

static int compare_doubles(const void *a, const void *b) {
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right ? 1 : 0;
}

static double median_of(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void add_figures(report_duration_stats *stats, uint64_t count, int64_t sum, int64_t min,
                        int64_t max) {
    stats->min = stats->count == 0 || min < stats->min ? min : stats->min;
    stats->max = stats->count == 0 || max > stats->max ? max : stats->max;
    stats->count += count;
    stats->sum = (int64_t)((uint64_t)stats->sum + (uint64_t)sum);
}

static report_duration_stats figures_of(const sb_vector *durations) {
    report_duration_stats stats = {0};
    double *values = sb_alloc_zeroed(durations->count, sizeof *values);
    for (size_t i = 0; i < durations->count; i++) {
        const int64_t cycles = ((report_duration *)sb_vector_at(durations, i))->cycles;
        add_figures(&stats, 1, cycles, cycles, cycles);
        values[i] = (double)cycles;
    }
    stats.median = median_of(values, durations->count);
    free(values);
    return stats;
}

static void measure_series(const report_marks *marks, report_series *series,
                           const report_measure *measure) {
    static void (*const methods[REPORT_METHODS])(const report_marks *, const sb_vector *,
                                                 const report_measure *, sb_vector *) = {
        [REPORT_ADJACENT] = find_adjacent,
        [REPORT_FIRST_LAST] = find_first_last,
        [REPORT_CORE_FIRST_LAST] = find_per_core,
        [REPORT_SUM] = add_up,
    };
    if (methods[measure->method] == NULL)
        return;
    sb_vector durations = sb_vector_of(sizeof(report_duration));
    methods[measure->method](marks, &series->marks, measure, &durations);
    if (durations.count == 0) {
        sb_vector_free(&durations);
        return;
    }
    *(report_result *)sb_vector_push(&series->results) =
        (report_result){measure, durations, figures_of(&durations)};
}

static void measure_list(const report_marks *marks, const sb_vector *list,
                         const report_measure *measure) {
    for (size_t i = 0; i < list->count; i++)
        measure_series(marks, report_series_at(list, i), measure);
}

static void apply(report_marks *marks, const report_measure *measure) {
    for (size_t i = 0; i < marks->cores.count && measure->scope == REPORT_SCOPE_CORE; i++)
        measure_series(marks, &((report_series_core *)sb_vector_at(&marks->cores, i))->all,
                       measure);
    for (size_t i = 0; i < marks->devices.count; i++) {
        report_series_device *device = sb_vector_at(&marks->devices, i);
        if (measure->scope == REPORT_SCOPE_DEVICE)
            measure_series(marks, &device->all, measure);
        else if (measure->scope == REPORT_SCOPE_OPS)
            measure_list(marks, &device->ops, measure);
        else if (measure->scope == REPORT_SCOPE_DISPATCH_OPS)
            measure_list(marks, &device->dispatch_ops, measure);
    }
}

/* ---- summaries of devices ---- */

typedef struct summary_part {
    report_duration_stats stats;
    sb_vector medians; /* double */
} summary_part;

static void add_results(summary_part *part, const report_measure *measure,
                        const report_series *series) {
    for (size_t i = 0; i < series->results.count; i++) {
        const report_result *result = sb_vector_at(&series->results, i);
        const report_duration_stats *stats = &result->stats;
        if (result->measure != measure)
            continue;
        add_figures(&part->stats, stats->count, stats->sum, stats->min, stats->max);
        *(double *)sb_vector_push(&part->medians) = stats->median;
    }
}

static void add_list(summary_part *part, const report_measure *measure, const sb_vector *list) {
    for (size_t i = 0; i < list->count; i++)
        add_results(part, measure, report_series_at(list, i));
}

/* The median is that of medians, as in the original. */
static void summarise(const report_marks *marks, report_series_device *device,
                      const report_measure *measure) {
    summary_part part = {.medians = sb_vector_of(sizeof(double))};
    for (size_t i = 0; i < device->cores.count; i++) {
        const report_series_core *core =
            sb_vector_at(&marks->cores, report_index_at(&device->cores, i));
        add_results(&part, measure, &core->all);
    }
    add_results(&part, measure, &device->all);
    add_list(&part, measure, &device->ops);
    add_list(&part, measure, &device->dispatch_ops);
    if (part.medians.count > 0) {
        part.stats.median = median_of((double *)(void *)part.medians.data, part.medians.count);
        *(report_result *)sb_vector_push(&device->summary) =
            (report_result){measure, sb_vector_of(sizeof(report_duration)), part.stats};
    }
    sb_vector_free(&part.medians);
}

static void apply_list(report_marks *marks, const report_measure *measures, size_t count) {
    for (size_t i = 0; i < count; i++) {
        apply(marks, &measures[i]);
        for (size_t k = 0; k < marks->devices.count; k++)
            summarise(marks, sb_vector_at(&marks->devices, k), &measures[i]);
    }
}

void report_measure_all(report_marks *marks, const report_setup *setup) {
    size_t count = 0;
    const report_measure *usual = report_usual_measures(&count);
    apply_list(marks, setup->measures, setup->count);
    apply_list(marks, usual, count);
}

void report_free_results(sb_vector *results) {
    for (size_t i = 0; i < results->count; i++)
        sb_vector_free(&((report_result *)sb_vector_at(results, i))->durations);
    sb_vector_free(results);
}
