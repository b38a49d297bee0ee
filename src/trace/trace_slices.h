/*
 * Zones as slices that begin and end, in order and properly nested: what viewers of other formats
 * rely on. For the files that export.
 */
#ifndef SB_TRACE_SLICES_H
#define SB_TRACE_SLICES_H

#include "trace/trace_export.h"

typedef struct slice_visitor {
    void *context;
    void (*begin)(void *context, uint32_t zone, int64_t time);
    void (*end)(void *context, int64_t time);
} slice_visitor;

/*
 * Calls begin and end for all zones of a track with a start. A zone without an end gets none if
 * nothing follows it. How many times had to be moved.
 */
uint64_t slices_visit(const sb_track *track, const slice_visitor *visitor);

/* Kernels by track and zone: the op each belongs to. */
sb_idmap slices_map_kernels(const sb_trace *trace);
/* The op of a kernel, or SB_NONE. */
uint32_t slices_op_of(const sb_idmap *kernels, uint32_t track, uint32_t zone);

/* When a frame ends; SB_NO_TIME if it is not known. */
int64_t slices_frame_end(const sb_frame_set *set, uint64_t frame);

#endif
