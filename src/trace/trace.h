/*
 * trace: the one model of what happened, and the files it is kept in.
 *
 * Everything that records fills an sb_trace, everything that shows reads one. It holds:
 *
 *   strings      texts by number; 0 is "no text"
 *   sources      places in the program's source that zones come from; 0 is "unknown"
 *   threads      host threads, fibers and device lanes by number, with their ids and names
 *   tracks       the zones of one thread, or of one lane of a device context, as columns
 *   contexts     devices or parts of them, with the clock that puts their times on the host's
 *   ops          what the host asked devices to do, and the zones that did it
 *   messages, frame sets, plots, memory pools, locks
 *   losses       what was not recorded: where, from when to when, why, how much
 *   info         program, host, clock: where the trace comes from
 *   app_info     what the program said of itself; tools that made the trace, and their options
 *   sections     what a file held that has no place above, as bytes, so that it can be written
 * again
 *
 * Its parts:
 *
 *   trace_store.h    memory for long columns, kept in a file beyond a bound (sb_trace_bound)
 *   trace_series.h   lists that grow while others read them (sb_series)
 *   trace_model.h    the model and the questions it answers (sb_trace, sb_track, sb_trace_stats)
 *   trace_file.h     reading and writing .tracy files (sb_trace_read, sb_trace_write)
 *   trace_export.h   the same for other viewers: Perfetto, Chrome; a summary as JSON
 *   trace_image.h    traces as they lie in memory, in files that are mapped (sb_image)
 *   trace_csv.h      rows as tracy-csvexport gives them (sb_trace_write_csv)
 *
 *     sb_trace *trace = sb_trace_create();
 *     sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, thread, SB_NONE);
 *     sb_track_begin(track, 100, source);
 *     sb_track_end(track, 250);
 *     sb_trace_free(trace);
 *
 * Threads: one thread adds, any number read at the same time. All lists are sb_series, so nothing a
 * reader points at ever moves; the zones of a track are complete up to sb_track_zone_count, except
 * that the end of a zone still open, or its annotation, may appear later. The trace owns all it
 * hands out. Other modules include this header only.
 */
#ifndef SB_TRACE_TRACE_H
#define SB_TRACE_TRACE_H

#include "trace/trace_core.h"
#include "trace/trace_csv.h"
#include "trace/trace_export.h"
#include "trace/trace_file.h"
#include "trace/trace_image.h"
#include "trace/trace_model.h"
#include "trace/trace_series.h"
#include "trace/trace_stacks.h"
#include "trace/trace_store.h"

#endif
