/*
 * Answers for graphs: plots that the program recorded, and how much of each memory pool was in use.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "view/view_call.h"
#include "view/view_curve.h"

enum { PLOTS = 1000 };

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
    free(changes);
}

/* What is in use now may be given back later, so the curve of a pool that grows begins anew. */
static void renew_pool(view_curve *curve, const sb_memory_pool *pool, uint64_t revision) {
    if (sb_series_count(&curve->own) > 0 && curve->revision == revision)
        return;
    view_curve_empty(curve);
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

static void put_point(sb_output *output, bool is_first, int64_t time, view_extremes range,
                      double last) {
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
        const uint64_t next = view_curve_next(points, i, end, window->grain);
        const sb_plot_point *last = sb_series_at(points, next - 1);
        put_point(output, is_first, time, view_curve_between(curve, points, i, next), last->value);
        is_first = false;
        i = next;
    }
}

sb_status view_answer_plot(view_call *call) {
    view_window window;
    int64_t number = -1;
    sb_view *view = call->view;
    const uint64_t plots = sb_series_count(&view->trace->plots);
    const uint64_t pools = sb_series_count(&view->trace->pools);
    SB_TRY(view_call_window(call, &window));
    SB_TRY(view_call_integer(call, "plot", 0, VIEW_POOL_FIRST + (int64_t)pools - 1, &number));
    if (number < 0 || (number >= (int64_t)plots && number < VIEW_POOL_FIRST))
        SB_FAIL(&call->error, SB_ERR_USAGE, "plot: is needed, the id of one");
    const uint64_t revision = view_state_of(view).revision;
    pthread_mutex_lock(&view->derived);
    view_curve *curve = view_curve_of(view, (uint32_t)number);
    const sb_series *points = &curve->own;
    if (number < VIEW_POOL_FIRST)
        points = &((const sb_plot *)sb_series_at(&view->trace->plots, (uint64_t)number))->points;
    else
        renew_pool(curve, sb_series_at(&view->trace->pools, (uint64_t)number - VIEW_POOL_FIRST),
                   revision);
    view_curve_raise(curve, points);
    sb_put_text(call->body, "{\"points\":[");
    put_points(call->body, curve, points, &window);
    sb_put_text(call->body, "]}");
    pthread_mutex_unlock(&view->derived);
    return SB_OK;
}
