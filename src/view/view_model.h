/*
 * What the parts of this module share: the view itself.
 */
#ifndef SB_VIEW_MODEL_H
#define SB_VIEW_MODEL_H

#include <pthread.h>

#include "view/view.h"
#include "view/view_index.h"

struct sb_view {
    sb_trace *trace;
    const sb_perf_report *ops;
    sb_arena arena;
    sb_slice name;
    sb_slice damage;
    sb_slice version;
    view_index own_index;
    view_index *index; /* its own, or one that was kept */
    /* Questions that go through all zones are answered one after the other, so that many clients
     * cannot take all processors and all memory from the drawing. */
    pthread_mutex_t heavy;
    /* Statistics of the whole trace, per source, host and devices; NULL: not asked yet. Behind
     * heavy, and only of a trace that does not grow. */
    sb_zone_stats *whole_stats[2];
    /* Behind events: */
    pthread_mutex_t events;
    pthread_cond_t grown;
    uint64_t revision; /* counts what the pages have to be told */
    bool is_live;
};

/* The revision, and whether the trace still grows. */
uint64_t view_revision(sb_view *view, bool *is_live);
/* Waits up to timeout_ms until the revision is another than `known`, and returns it. */
uint64_t view_wait(sb_view *view, uint64_t known, unsigned timeout_ms);

#endif
