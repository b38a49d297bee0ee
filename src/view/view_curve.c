#include "view/view_curve.h"

#include <math.h>
#include <stdlib.h>

#include "view/view_call.h"

enum { FAN_OUT = 16 };

/* ---- making and freeing ---- */

void view_curve_empty(view_curve *curve) {
    sb_series_free(&curve->own);
    for (size_t i = 0; i < VIEW_CURVE_LEVELS; i++)
        sb_series_free(&curve->levels[i]);
}

void view_curve_free(view_curve *curve) {
    view_curve_empty(curve);
    free(curve->state);
    free(curve);
}

static view_curve *make_curve(uint32_t number) {
    view_curve *curve = sb_alloc_zeroed(1, sizeof *curve);
    curve->number = number;
    sb_series_init(&curve->own, sizeof(sb_plot_point), NULL);
    for (size_t i = 0; i < VIEW_CURVE_LEVELS; i++)
        sb_series_init(&curve->levels[i], sizeof(view_extremes), NULL);
    return curve;
}

view_curve *view_curve_of(sb_view *view, uint32_t number) {
    for (size_t i = 0; i < view->curves.count; i++) {
        view_curve **kept = sb_vector_at(&view->curves, i);
        if ((*kept)->number == number)
            return *kept;
    }
    view_curve *made = make_curve(number);
    *(view_curve **)sb_vector_push(&view->curves) = made;
    return made;
}

/* ---- nodes ---- */

static void widen(view_extremes *sum, view_extremes part) {
    sum->low = fmin(sum->low, part.low);
    sum->high = fmax(sum->high, part.high);
}

/* What element i of a level stands for; level 0 is that of the points themselves. */
static view_extremes extremes_at(const view_curve *curve, const sb_series *points, size_t level,
                                 uint64_t i) {
    if (level > 0)
        return *(const view_extremes *)sb_series_at(&curve->levels[level - 1], i);
    const double value = ((const sb_plot_point *)sb_series_at(points, i))->value;
    return (view_extremes){value, value};
}

void view_curve_raise(view_curve *curve, const sb_series *points) {
    uint64_t below = sb_series_count(points);
    for (size_t level = 0; level < VIEW_CURVE_LEVELS; level++) {
        sb_series *nodes = &curve->levels[level];
        for (uint64_t i = sb_series_count(nodes); i < below / FAN_OUT; i++) {
            view_extremes node = extremes_at(curve, points, level, i * FAN_OUT);
            for (uint64_t k = 1; k < FAN_OUT; k++)
                widen(&node, extremes_at(curve, points, level, i * FAN_OUT + k));
            sb_series_add(nodes, &node);
        }
        below = sb_series_count(nodes);
    }
}

/* ---- questions ---- */

view_extremes view_curve_between(const view_curve *curve, const sb_series *points, uint64_t from,
                                 uint64_t to) {
    view_extremes sum = extremes_at(curve, points, 0, from);
    while (from < to) {
        size_t level = 0;
        uint64_t size = 1;
        while (level < VIEW_CURVE_LEVELS && from % (size * FAN_OUT) == 0 &&
               from + size * FAN_OUT <= to &&
               from / (size * FAN_OUT) < sb_series_count(&curve->levels[level])) {
            size *= FAN_OUT;
            level++;
        }
        widen(&sum, extremes_at(curve, points, level, from / size));
        from += size;
    }
    return sum;
}

uint64_t view_curve_next(const sb_series *points, uint64_t from, uint64_t end, int64_t grain) {
    const int64_t time = ((const sb_plot_point *)sb_series_at(points, from))->time;
    const uint64_t next = view_first_at(points, view_clipped_sum(time, grain));
    return next <= from ? from + 1 : next < end ? next : end;
}
