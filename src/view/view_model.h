/*
 * What the parts of this module share: the view itself.
 */
#ifndef SB_VIEW_MODEL_H
#define SB_VIEW_MODEL_H

#include <pthread.h>

#include "view/view.h"
#include "view/view_index.h"

/* One graph, see view_curve.h. */
typedef struct view_curve view_curve;
void view_curve_free(view_curve *curve);

/* Transfers over the network on chip, see view_noc.c. */
typedef struct view_noc view_noc;
void view_noc_free(view_noc *noc);

/* What is known of a run of an op besides the trace's record of it. */
typedef struct view_run {
    int64_t from; /* of its kernels */
    int64_t to;
    uint64_t kernels;
    uint64_t first_kernel; /* in the trace's list */
    int64_t row;           /* of the ops report; 0: none */
} view_run;

struct sb_view {
    sb_trace *trace;
    const sb_perf_report *ops;
    sb_arena arena;
    sb_slice name;
    sb_slice version;
    uint64_t identity;  /* tells what is shown from anything else a server here may show later */
    sb_slice transfers; /* folder with files of transfers; empty: there are none */
    const sb_view_fact *facts;
    size_t fact_count;
    view_index own_index;
    view_index *index; /* its own, or one that was kept */
    /* Questions that go through all zones are answered one after the other, so that many clients
     * cannot take all processors and all memory from the drawing. */
    pthread_mutex_t heavy;
    /* Statistics of the whole trace, per source, host and devices; NULL: not asked yet. Behind
     * heavy, and only of a trace that does not grow. */
    sb_zone_stats *whole_stats[2];
    /* Made from the trace when they are asked for first, behind a lock of their own. */
    pthread_mutex_t derived;
    sb_vector curves; /* view_curve * */
    view_noc *noc;    /* NULL: not asked yet */
    /* Behind the same: runs of ops, and outermost zones of devices by track and number, with the op
     * each belongs to. */
    sb_vector runs; /* view_run, by number of the op */
    sb_idmap kernels;
    /* Behind events: */
    pthread_mutex_t events;
    pthread_cond_t grown;
    uint64_t revision; /* counts what the pages have to be told */
    bool is_live;
    bool has_ended;  /* it was live */
    sb_slice damage; /* what is wrong with the file; empty: nothing */
};

/* Takes in the ops of the trace. */
void view_find_runs(sb_view *view);
/* The op that a device zone belongs to, or SB_NONE. Behind the lock, as all that names runs. */
uint32_t view_op_of(sb_view *view, uint32_t number, uint32_t zone);
/* How a trace that grows, or that grew, is. */
typedef struct view_state {
    uint64_t revision;
    bool is_live;
    bool has_ended;
    sb_slice damage;
} view_state;
view_state view_state_of(sb_view *view);
/* {"id":..., "revision":..., "end":..., "live":...}: what a page has to know to stay true. */
enum { VIEW_NEWS_SIZE = 160 };
size_t view_write_news(sb_view *view, char text[VIEW_NEWS_SIZE]);
/* Waits up to timeout_ms until the revision is another than `known`, and returns it. */
uint64_t view_wait(sb_view *view, uint64_t known, unsigned timeout_ms);

#endif
