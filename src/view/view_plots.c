/*
 * Answers for graphs: plots that the program recorded, and how much of each memory pool was in use.
 *
 * Behind a graph stands a curve: points in order of time, and over them a pyramid of the lowest and
 * highest values of 16 points, of 16 such nodes, and so on; so a pixel costs a few nodes however
 * many points are in it. A curve is made when it is asked for first, and extended when the trace
 * has grown. Only full nodes are kept: a node never changes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "view/view_call.h"

enum { FAN_OUT = 16, LEVELS = 8, PLOTS = 1000 };

typedef struct extremes {
    double low;
    double high;
} extremes;

struct view_curve {
    uint32_t number;          /* as in the API: of a plot, or VIEW_POOL_FIRST and that of a pool */
    sb_series own;            /* sb_plot_point: of a pool */
    uint64_t pool_events;     /* that the points are made of */
    uint64_t revision;        /* of the trace, when they were */
    sb_series levels[LEVELS]; /* extremes */
};

/* ---- curves ---- */

void view_curve_free(view_curve *curve) {
    sb_series_free(&curve->own);
    for (size_t i = 0; i < LEVELS; i++)
        sb_series_free(&curve->levels[i]);
    free(curve);
}

static view_curve *make_curve(uint32_t number) {
    view_curve *curve = sb_alloc_zeroed(1, sizeof *curve);
    curve->number = number;
    sb_series_init(&curve->own, sizeof(sb_plot_point), NULL);
    for (size_t i = 0; i < LEVELS; i++)
        sb_series_init(&curve->levels[i], sizeof(extremes), NULL);
    return curve;
}

static void widen(extremes *sum, extremes part) {
    sum->low = fmin(sum->low, part.low);
    sum->high = fmax(sum->high, part.high);
}

/* What element i of a level stands for; level 0 is that of the points themselves. */
static extremes extremes_at(const view_curve *curve, const sb_series *points, size_t level,
                            uint64_t i) {
    if (level > 0)
        return *(const extremes *)sb_series_at(&curve->levels[level - 1], i);
    const double value = ((const sb_plot_point *)sb_series_at(points, i))->value;
    return (extremes){value, value};
}

static void raise_levels(view_curve *curve, const sb_series *points) {
    uint64_t below = sb_series_count(points);
    for (size_t level = 0; level < LEVELS; level++) {
        sb_series *nodes = &curve->levels[level];
        for (uint64_t i = sb_series_count(nodes); i < below / FAN_OUT; i++) {
            extremes node = extremes_at(curve, points, level, i * FAN_OUT);
            for (uint64_t k = 1; k < FAN_OUT; k++)
                widen(&node, extremes_at(curve, points, level, i * FAN_OUT + k));
            sb_series_add(nodes, &node);
        }
        below = sb_series_count(nodes);
    }
}

/* The lowest and highest of points from..to - 1, of which there is one at least. */
static extremes extremes_of(const view_curve *curve, const sb_series *points, uint64_t from,
                            uint64_t to) {
    extremes sum = extremes_at(curve, points, 0, from);
    while (from < to) {
        size_t level = 0;
        uint64_t size = 1;
        while (level < LEVELS && from % (size * FAN_OUT) == 0 && from + size * FAN_OUT <= to &&
               from / (size * FAN_OUT) < sb_series_count(&curve->levels[level])) {
            size *= FAN_OUT;
            level++;
        }
        widen(&sum, extremes_at(curve, points, level, from / size));
        from += size;
    }
    return sum;
}

/* ---- memory pools ---- */

typedef struct change {
    int64_t time;
    int64_t bytes;
} change;

static int compare_changes(const void *a, const void *b) {
    const int64_t left = ((const change *)a)->time;
    const int64_t right = ((const change *)b)->time;
    return (left > right) - (left < right);
}

/* The bytes in use after each allocation and each time something was given back. */
static void fill_pool(view_curve *curve, const sb_memory_pool *pool) {
    const uint64_t count = sb_series_count(&pool->events);
    change *changes = sb_alloc_zeroed(2 * count + 1, sizeof *changes);
    size_t used = 0;
    for (uint64_t i = 0; i < count; i++) {
        const sb_memory_event *event = sb_series_at(&pool->events, i);
        const int64_t size = (int64_t)(event->size & INT64_MAX);
        changes[used++] = (change){event->time, size};
        if (event->freed != SB_NO_TIME)
            changes[used++] = (change){event->freed, -size};
    }
    qsort(changes, used, sizeof *changes, compare_changes);
    double sum = 0;
    for (size_t i = 0; i < used; i++) {
        sum += (double)changes[i].bytes;
        sb_series_add(&curve->own, &(sb_plot_point){changes[i].time, sum});
    }
    curve->pool_events = count;
    free(changes);
}

/* ---- finding a curve ---- */

static view_curve *curve_of(sb_view *view, uint32_t number) {
    for (size_t i = 0; i < view->curves.count; i++) {
        view_curve **kept = sb_vector_at(&view->curves, i);
        if ((*kept)->number == number)
            return *kept;
    }
    view_curve *made = make_curve(number);
    *(view_curve **)sb_vector_push(&view->curves) = made;
    return made;
}

/* What is in use now may be given back later, so the curve of a pool that grows begins anew. */
static void renew_pool(view_curve *curve, const sb_memory_pool *pool, uint64_t revision) {
    if (sb_series_count(&curve->own) > 0 && curve->revision == revision)
        return;
    sb_series_free(&curve->own);
    for (size_t i = 0; i < LEVELS; i++)
        sb_series_free(&curve->levels[i]);
    fill_pool(curve, pool);
    curve->revision = revision;
}

/* ---- answers ---- */

static const char *plot_format(uint8_t format) {
    static const char *const names[] = {"number", "bytes", "percent"};
    return format < sizeof names / sizeof names[0] ? names[format] : names[0];
}

static void put_plot(sb_output *output, uint64_t id, sb_slice name, uint64_t points,
                     const char *rest) {
    sb_put_format(output, "{\"id\":%" PRIu64 ",\"name\":", id);
    sb_put_json(output, name);
    sb_put_format(output, ",\"points\":%" PRIu64 ",%s}", points, rest);
}

sb_status view_answer_plots(view_call *call) {
    const sb_trace *trace = call->view->trace;
    const uint64_t plots = sb_series_count(&trace->plots);
    const uint64_t pools = sb_series_count(&trace->pools);
    const char *between = "";
    sb_put_text(call->body, "{\"plots\":[");
    for (uint64_t i = 0; i < plots && i < PLOTS; i++) {
        char rest[80];
        const sb_plot *plot = sb_series_at(&trace->plots, i);
        snprintf(rest, sizeof rest, "\"kind\":\"plot\",\"format\":\"%s\",\"steps\":%s",
                 plot_format(plot->format), plot->steps != 0 ? "true" : "false");
        sb_put_text(call->body, between);
        put_plot(call->body, i, sb_trace_text(trace, plot->name), sb_series_count(&plot->points),
                 rest);
        between = ",";
    }
    for (uint64_t i = 0; i < pools && i < PLOTS; i++) {
        const sb_memory_pool *pool = sb_series_at(&trace->pools, i);
        const sb_slice name = sb_trace_text(trace, pool->name);
        const uint64_t events = sb_series_count(&pool->events);
        if (events == 0)
            continue;
        sb_put_text(call->body, between);
        put_plot(call->body, VIEW_POOL_FIRST + i, name.size > 0 ? name : sb_slice_of("Memory"),
                 events, "\"kind\":\"memory\",\"format\":\"bytes\",\"steps\":true");
        between = ",";
    }
    sb_put_format(call->body, "],\"total\":%" PRIu64 "}", plots + pools);
    return SB_OK;
}

static void put_point(sb_output *output, bool is_first, int64_t time, extremes range, double last) {
    sb_put_format(output, "%s[%" PRId64 ",", is_first ? "" : ",", time);
    sb_put_json_real(output, range.low);
    sb_put_char(output, ',');
    sb_put_json_real(output, range.high);
    sb_put_char(output, ',');
    sb_put_json_real(output, last);
    sb_put_char(output, ']');
}

/* For each pixel the lowest, highest and last value; and the points just outside on both sides. */
static void put_points(sb_output *output, const view_curve *curve, const sb_series *points,
                       const view_window *window) {
    const uint64_t count = sb_series_count(points);
    const uint64_t inside = view_first_at(points, window->range.from);
    const uint64_t behind = view_first_at(points, window->range.to);
    const uint64_t end = behind < count ? behind + 1 : count;
    bool is_first = true;
    for (uint64_t i = inside > 0 ? inside - 1 : 0; i < end;) {
        const int64_t time = ((const sb_plot_point *)sb_series_at(points, i))->time;
        uint64_t next = view_first_at(points, view_clipped_sum(time, window->grain));
        next = next <= i ? i + 1 : next < end ? next : end;
        const sb_plot_point *last = sb_series_at(points, next - 1);
        put_point(output, is_first, time, extremes_of(curve, points, i, next), last->value);
        is_first = false;
        i = next;
    }
}

sb_status view_answer_plot(view_call *call) {
    view_window window;
    int64_t number = -1;
    bool is_live = false;
    sb_view *view = call->view;
    const uint64_t plots = sb_series_count(&view->trace->plots);
    const uint64_t pools = sb_series_count(&view->trace->pools);
    SB_TRY(view_call_window(call, &window));
    SB_TRY(view_call_integer(call, "plot", 0, VIEW_POOL_FIRST + (int64_t)pools - 1, &number));
    if (number < 0 || (number >= (int64_t)plots && number < VIEW_POOL_FIRST))
        SB_FAIL(&call->error, SB_ERR_USAGE, "plot: is needed, the id of one");
    const uint64_t revision = view_revision(view, &is_live);
    pthread_mutex_lock(&view->derived);
    view_curve *curve = curve_of(view, (uint32_t)number);
    const sb_series *points = &curve->own;
    if (number < VIEW_POOL_FIRST)
        points = &((const sb_plot *)sb_series_at(&view->trace->plots, (uint64_t)number))->points;
    else
        renew_pool(curve, sb_series_at(&view->trace->pools, (uint64_t)number - VIEW_POOL_FIRST),
                   revision);
    raise_levels(curve, points);
    sb_put_text(call->body, "{\"points\":[");
    put_points(call->body, curve, points, &window);
    sb_put_text(call->body, "]}");
    pthread_mutex_unlock(&view->derived);
    return SB_OK;
}
