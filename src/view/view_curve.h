/*
 * Curves: values over time, drawn at the cost of the pixels and not of the points.
 *
 * Over the points, which are in order of time, stands a pyramid of the lowest and highest values of
 * 16 points, of 16 such nodes, and so on; so a pixel costs a few nodes however many points are in
 * it. A curve is made when it is asked for first, and extended when the trace has grown. Only full
 * nodes are kept: a node never changes.
 *
 * All of it behind the view's lock for what is derived.
 */
#ifndef SB_VIEW_CURVE_H
#define SB_VIEW_CURVE_H

#include "view/view_model.h"

/* What curves are called: plots by their number, then memory pools and locks from these on. */
enum { VIEW_POOL_FIRST = 1000000, VIEW_LOCK_FIRST = 2000000 };

enum { VIEW_CURVE_LEVELS = 8 };

typedef struct view_extremes {
    double low;
    double high;
} view_extremes;

struct view_curve {
    uint32_t number;
    sb_series own;     /* sb_plot_point, where the trace has none: of a pool or a lock */
    uint64_t revision; /* of the trace, when they were made */
    uint64_t taken;    /* events that they are made of */
    void *state;       /* what it takes to go on with the next event; NULL: nothing */
    sb_series levels[VIEW_CURVE_LEVELS]; /* view_extremes */
};

/* The curve of a number, made empty if it was not there. */
view_curve *view_curve_of(sb_view *view, uint32_t number);
/* Forgets all points and nodes. */
void view_curve_empty(view_curve *curve);
/* Makes the nodes over points that are new. */
void view_curve_raise(view_curve *curve, const sb_series *points);
/* The lowest and highest of points from..to - 1, of which there is one at least. */
view_extremes view_curve_between(const view_curve *curve, const sb_series *points, uint64_t from,
                                 uint64_t to);
/* The point behind those that fall on one pixel with the given one; at most end. */
uint64_t view_curve_next(const sb_series *points, uint64_t from, uint64_t end, int64_t grain);

#endif
