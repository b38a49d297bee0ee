/*
 * The index: how to draw any stretch of a track at the cost of what is on the screen.
 *
 * For each track and each depth of nesting there is a row: the numbers of the zones at that depth
 * in order of start, and over them a pyramid. A node says what a run of zones adds up to:
 *
 *     level 1    [           4 nodes of level 0           ] ...
 *     level 0    [16 zones][16 zones][16 zones][16 zones] ...
 *     zones       |  |||| ||   |  |  | || |||| |   |
 *
 * A question names a range of time and a grain, the width of a pixel. It goes down from the top and
 * stops at nodes narrower than the grain, so that its cost depends on the pixels asked for and not
 * on the zones below them. Zones narrower than the grain that follow each other come out as one
 * span, with their number and the source that took most of the time among them.
 *
 * A row costs 4 bytes a zone, and a track without nesting nothing: there the number of a zone is
 * its place. Nodes cost four bytes a zone; a row of 16 zones or fewer has none. (Larger
 * leaves would cost less; but where a leaf is just wider than a pixel all its zones are looked at,
 * and that is what the slowest questions consist of.)
 *
 * Threads: view_index_extend takes the lock for writing, view_index_spans for reading. A trace may
 * grow between calls; zones that were open are looked at again.
 */
#ifndef SB_VIEW_INDEX_H
#define SB_VIEW_INDEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"
#include "view/view.h"

enum {
    VIEW_DEPTHS = 1024,     /* zones nested deeper are counted, not drawn */
    VIEW_SPANS = 500000,    /* at most so many come out of one question */
    VIEW_SOURCE_SLOTS = 8,  /* candidates kept while looking for the main source of a node */
    VIEW_LEAF_ZONES = 16,   /* of a node at level 0 */
    VIEW_NODE_CHILDREN = 4, /* of a node above: few, so that a pixel is a few nodes wide */
};

typedef struct view_node {
    int64_t start;   /* of the first zone */
    int64_t end;     /* the latest; INT64_MAX if one is open */
    int64_t busy;    /* sum of durations */
    int64_t longest; /* duration of the longest */
    int64_t weight;  /* time of the main source */
    uint32_t source; /* the main one: most of the time, as far as a few candidates tell */
    uint32_t zone;   /* number of the longest */
} view_node;

/* What is drawn: a zone, or several too narrow to be told apart. */
typedef struct view_span {
    int64_t start;
    int64_t end;
    int64_t busy; /* sum of durations */
    uint32_t source;
    uint32_t zone;  /* its number; of several, the longest */
    uint32_t count; /* zones in it */
    uint16_t depth;
    bool is_open; /* a single zone without an end */
} view_span;

typedef struct view_row {
    sb_series zones; /* uint32_t, in order of start; empty where the place is the number */
    uint64_t count;
    sb_vector levels; /* sb_series of view_node; the last one has one node */
} view_row;

typedef struct view_track {
    sb_vector rows;    /* view_row, by depth */
    sb_vector open;    /* uint32_t: the zones around the next one, outermost first */
    uint64_t indexed;  /* zones looked at */
    uint64_t too_deep; /* zones that have no row */
    bool is_flat;      /* no zone is inside another */
} view_track;

typedef struct view_index {
    const sb_trace *trace;
    pthread_rwlock_t lock;
    sb_vector tracks; /* view_track */
    int64_t end;      /* the latest time of the trace when it was last extended */
} view_index;

/* The latest time that is shown, so that lengths and sums of two times fit. */
#define VIEW_TIME_MOST (INT64_MAX / 4)

/* Times of files can be anything: sums and lengths that do not fit are the largest that do. */
int64_t view_clipped_sum(int64_t a, int64_t b);
int64_t view_length_between(int64_t start, int64_t end);

void view_index_init(view_index *index, const sb_trace *trace);
/* Takes in what the trace has gained. progress may be NULL. Returns whether there was any. */
bool view_index_extend(view_index *index, sb_view_progress progress, void *context);
void view_index_free(view_index *index);
/* Empty tracks for those that the trace has gained; and a row of one, added if it is not there. */
void view_index_add_tracks(view_index *index);
view_row *view_track_row(view_track *track, size_t depth);

typedef struct view_window {
    sb_range range;
    int64_t grain; /* zones narrower than this need not be told apart; at least 1 */
} view_window;

/*
 * Adds the spans (view_span) of a track, row by row. False if there were more than VIEW_SPANS in
 * spans, which then holds as many.
 */
bool view_index_spans(view_index *index, uint32_t track, const view_window *window,
                      sb_vector *spans);
/* The same for the outermost row alone. */
bool view_index_roots(view_index *index, uint32_t track, const view_window *window,
                      sb_vector *spans);
/* The zones before and after one in its row of a track, SB_NONE where there is none. */
void view_index_neighbours(view_index *index, uint32_t number, uint32_t zone, uint32_t *before,
                           uint32_t *after);
/* Depth of a track's nesting, from 0 for no zones. */
unsigned view_index_depth(view_index *index, uint32_t track);
/* When the first zone of a track begins and the last ends; false if there is none. */
bool view_index_extent(view_index *index, uint32_t track, sb_range *extent);
uint64_t view_index_too_deep(view_index *index, uint32_t track);
/* The latest time of the trace. */
int64_t view_index_end(view_index *index);

#endif
