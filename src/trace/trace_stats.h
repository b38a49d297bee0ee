/*
 * Parts of the statistics, for their own files only.
 *
 * The zones of all tracks that count are divided into pieces, which threads take one after the
 * other. What a piece needs beyond its own zones is settled when all are done.
 */
#ifndef SB_TRACE_STATS_H
#define SB_TRACE_STATS_H

#include "trace/trace_model.h"

enum { STATS_PIECE_SIZE = 8192, STATS_WORKERS_MAX = 16 };

typedef struct stats_piece {
    const sb_track *track;
    uint64_t first;
    uint64_t count;
    uint64_t track_count; /* zones of the track when we began: it may be growing */
    sb_vector outside;    /* stats_share: for zones of earlier pieces */
    sb_vector open;       /* stats_open: zones that later pieces are inside of, innermost first */
} stats_piece;

/* What a piece has to say about a zone of an earlier one. */
typedef struct stats_share {
    uint32_t zone;
    int64_t inside; /* durations of its children in this piece */
} stats_share;

typedef struct stats_open {
    uint32_t zone;
    uint32_t source;
    int64_t duration; /* below 0: not to be counted */
    int64_t inside;
} stats_open;

typedef struct stats_run {
    const sb_trace *trace;
    const sb_stats_options *options;
    uint64_t source_count;
    stats_piece *pieces;
    uint64_t piece_count;
    uint64_t next_piece; /* the first that no thread has taken */
    unsigned workers;
    struct stats_tally **tallies; /* by worker, then by source */
} stats_run;

/* The next piece for a thread, or NULL. */
stats_piece *stats_take_piece(stats_run *run);
/* How long each zone of a piece lasted, in the range asked for; -1: not to be counted. */
void stats_load_durations(const stats_run *run, const stats_piece *piece,
                          int64_t durations[STATS_PIECE_SIZE]);
/* Fills in median and p99. counts of stats must be there. */
void stats_find_quantiles(stats_run *all, sb_zone_stats *stats);

#endif
