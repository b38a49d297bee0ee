/*
 * Statistics per source: counts, sums, extremes, deviations, times without what ran inside.
 *
 * A zone's self time needs the durations of its children. They follow it and know it as their
 * parent, so one loop over a piece subtracts each zone from its parent and a second one counts.
 * Zones that reach beyond their piece are left over for the end: each piece says what it had inside
 * zones of earlier ones, and the pieces are gone through in order with a stack of open zones.
 *
 * Sums are integers, so that the result does not depend on how the work was divided.
 */
#include "trace/trace_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct stats_tally {
    uint64_t count;
    int64_t total;
    int64_t min;
    int64_t max;
    sb_u128 squares;
    int64_t self_total;
    int64_t self_min;
    int64_t self_max;
    sb_u128 self_squares;
} stats_tally;

/* Of one thread. */
typedef struct scratch {
    int64_t durations[STATS_PIECE_SIZE];
    int64_t inside[STATS_PIECE_SIZE];
} scratch;

/* ---- counting ---- */

/* Sums of times from a broken file may not fit; they wrap rather than trap. */
static int64_t wrap_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrap_sub(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static sb_u128 square(int64_t value) {
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    return (sb_u128)size * size;
}

static void add_whole(stats_tally *tally, int64_t duration) {
    tally->count++;
    tally->total = wrap_add(tally->total, duration);
    tally->min = duration < tally->min ? duration : tally->min;
    tally->max = duration > tally->max ? duration : tally->max;
    tally->squares += square(duration);
}

static void add_self(stats_tally *tally, int64_t self) {
    tally->self_total = wrap_add(tally->self_total, self);
    tally->self_min = self < tally->self_min ? self : tally->self_min;
    tally->self_max = self > tally->self_max ? self : tally->self_max;
    tally->self_squares += square(self);
}

static void clear_tally(stats_tally *tally) {
    *tally = (stats_tally){
        .min = INT64_MAX, .max = INT64_MIN, .self_min = INT64_MAX, .self_max = INT64_MIN};
}

static void merge_tally(stats_tally *into, const stats_tally *from) {
    into->count += from->count;
    into->total = wrap_add(into->total, from->total);
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    into->squares += from->squares;
    into->self_total = wrap_add(into->self_total, from->self_total);
    into->self_min = from->self_min < into->self_min ? from->self_min : into->self_min;
    into->self_max = from->self_max > into->self_max ? from->self_max : into->self_max;
    into->self_squares += from->self_squares;
}

/* ---- durations ---- */

stats_piece *stats_take_piece(stats_run *run) {
    const uint64_t piece = __atomic_fetch_add(&run->next_piece, 1, __ATOMIC_RELAXED);
    return piece < run->piece_count ? &run->pieces[piece] : NULL;
}

/* The part of [start, end) in the range; -1 if the zone is not to be counted. */
static int64_t part_in_range(const sb_stats_options *options, int64_t start, int64_t end) {
    const sb_range range = options->range;
    if (end < start || (start < 0 && end > INT64_MAX + start))
        return -1;
    if (options->whole_only)
        return start < range.from || end > range.to ? -1 : end - start;
    if (start >= range.to || end < range.from || (end == range.from && start < end))
        return -1;
    const int64_t from = start > range.from ? start : range.from;
    const int64_t to = end < range.to ? end : range.to;
    return to - from;
}

int64_t sb_stats_part_of(const sb_stats_options *options, const sb_track *track, uint32_t zone) {
    const int64_t start = sb_track_zone_start(track, zone);
    const int64_t end = sb_track_zone_end(track, zone);
    if (end == SB_NO_TIME || (track->kind == SB_TRACK_LANE && start == SB_NO_TIME))
        return -1;
    const int64_t duration = part_in_range(options, start, end);
    return duration == 0 && options->skip_empty ? -1 : duration;
}

static bool is_unlimited(sb_range range) {
    return range.from == INT64_MIN && range.to == INT64_MAX;
}

void stats_load_durations(const stats_run *run, const stats_piece *piece,
                          int64_t durations[STATS_PIECE_SIZE]) {
    const sb_track *track = piece->track;
    /* Nearly always the column of durations says it all. */
    const bool is_plain = is_unlimited(run->options->range) && track->kind != SB_TRACK_LANE;
    const uint32_t least = run->options->skip_empty ? 1 : 0;
    const uint64_t end = piece->first + piece->count;
    for (uint64_t zone = piece->first; zone < end;) {
        const sb_zone_block block = sb_track_block(track, zone, end);
        for (uint64_t i = 0; i < block.count; i++, zone++) {
            const uint32_t mark = __atomic_load_n(&block.duration[i], __ATOMIC_RELAXED);
            if (__builtin_expect(is_plain && mark < SB_ZONE_LONG, 1))
                *durations++ = mark >= least ? (int64_t)mark : -1;
            else
                *durations++ = sb_stats_part_of(run->options, track, (uint32_t)zone);
        }
    }
}

/* ---- a piece ---- */

static void add_outside(stats_piece *piece, uint32_t parent, int64_t duration) {
    sb_vector *shares = &piece->outside;
    stats_share *last = shares->count == 0 ? NULL : sb_vector_at(shares, shares->count - 1);
    if (last == NULL || last->zone != parent) {
        last = sb_vector_push(shares);
        last->zone = parent;
    }
    last->inside = wrap_add(last->inside, duration);
}

/* Adds each zone's duration to its parent's `inside`. */
static void sum_inside(stats_piece *piece, scratch *own) {
    const uint64_t end = piece->first + piece->count;
    memset(own->inside, 0, piece->count * sizeof own->inside[0]);
    for (uint64_t zone = piece->first; zone < end;) {
        const sb_zone_block block = sb_track_block(piece->track, zone, end);
        const int64_t *durations = own->durations + (zone - piece->first);
        zone += block.count;
        if (block.parent == NULL)
            continue;
        for (uint64_t i = 0; i < block.count; i++) {
            const uint32_t parent = block.parent[i] - 1;
            const int64_t duration = durations[i] < 0 ? 0 : durations[i];
            if (parent == SB_NONE)
                continue;
            if (__builtin_expect(parent >= piece->first, 1))
                own->inside[parent - piece->first] =
                    wrap_add(own->inside[parent - piece->first], duration);
            else
                add_outside(piece, parent, duration);
        }
    }
}

/* Sets the zones aside that are around the first zone of the next piece. */
static void keep_open(stats_piece *piece, scratch *own) {
    const uint64_t next = piece->first + piece->count;
    if (next >= piece->track_count)
        return;
    uint32_t zone = sb_track_zone_parent(piece->track, (uint32_t)next);
    for (; zone != SB_NONE && zone >= piece->first;
         zone = sb_track_zone_parent(piece->track, zone)) {
        const uint64_t i = zone - piece->first;
        *(stats_open *)sb_vector_push(&piece->open) = (stats_open){
            zone, sb_track_zone_source(piece->track, zone), own->durations[i], own->inside[i]};
        own->durations[i] = -1;
    }
}

static void count_block(const sb_zone_block *block, stats_tally *tallies,
                        const int64_t *durations) {
    for (uint64_t i = 0; i < block->count; i++) {
        if (__builtin_expect(durations[i] >= 0, 1))
            add_whole(&tallies[block->source[i]], durations[i]);
    }
}

static void count_block_with_self(const sb_zone_block *block, stats_tally *tallies,
                                  const int64_t *durations, const int64_t *inside) {
    for (uint64_t i = 0; i < block->count; i++) {
        if (__builtin_expect(durations[i] < 0, 0))
            continue;
        stats_tally *tally = &tallies[block->source[i]];
        add_whole(tally, durations[i]);
        add_self(tally, wrap_sub(durations[i], inside[i]));
    }
}

static void count_piece(const stats_run *run, stats_piece *piece, stats_tally *tallies,
                        scratch *own) {
    const bool with_self = run->options->with_self;
    const uint64_t end = piece->first + piece->count;
    stats_load_durations(run, piece, own->durations);
    if (with_self) {
        sum_inside(piece, own);
        keep_open(piece, own);
    }
    for (uint64_t zone = piece->first; zone < end;) {
        const sb_zone_block block = sb_track_block(piece->track, zone, end);
        const uint64_t done = zone - piece->first;
        if (with_self)
            count_block_with_self(&block, tallies, own->durations + done, own->inside + done);
        else
            count_block(&block, tallies, own->durations + done);
        zone += block.count;
    }
}

static void count_pieces(void *context, unsigned worker) {
    stats_run *run = context;
    scratch *own = sb_alloc(sizeof *own);
    stats_tally *tallies = sb_alloc(run->source_count * sizeof *tallies);
    for (uint64_t i = 0; i < run->source_count; i++)
        clear_tally(&tallies[i]);
    run->tallies[worker] = tallies;
    for (stats_piece *piece = stats_take_piece(run); piece != NULL; piece = stats_take_piece(run))
        count_piece(run, piece, tallies, own);
    free(own);
}

/* ---- zones that reach beyond their piece ---- */

static void finish_top(sb_vector *open, stats_tally *tallies) {
    const stats_open *top = sb_vector_at(open, open->count - 1);
    open->count--;
    if (top->duration < 0)
        return;
    add_whole(&tallies[top->source], top->duration);
    add_self(&tallies[top->source], wrap_sub(top->duration, top->inside));
}

/* Finishes what is open until the zone is on top. */
static stats_open *finish_until(sb_vector *open, stats_tally *tallies, uint32_t zone) {
    for (;;) {
        stats_open *top = sb_vector_at(open, open->count - 1);
        if (top->zone == zone)
            return top;
        finish_top(open, tallies);
    }
}

static void finish_all(sb_vector *open, stats_tally *tallies) {
    while (open->count > 0)
        finish_top(open, tallies);
}

static void settle_open(stats_run *run, stats_tally *tallies) {
    sb_vector open = sb_vector_of(sizeof(stats_open));
    for (uint64_t i = 0; i < run->piece_count; i++) {
        stats_piece *piece = &run->pieces[i];
        if (piece->first == 0)
            finish_all(&open, tallies);
        for (size_t k = 0; k < piece->outside.count; k++) {
            const stats_share *share = sb_vector_at(&piece->outside, k);
            stats_open *top = finish_until(&open, tallies, share->zone);
            top->inside = wrap_add(top->inside, share->inside);
        }
        for (size_t k = piece->open.count; k > 0; k--)
            *(stats_open *)sb_vector_push(&open) =
                *(const stats_open *)sb_vector_at(&piece->open, k - 1);
    }
    finish_all(&open, tallies);
    sb_vector_free(&open);
}

/* ---- all together ---- */

static bool is_wanted(const sb_stats_options *options, const sb_track *track) {
    if (options->only != NULL && options->only != track)
        return false;
    return (track->kind == SB_TRACK_LANE) == options->devices;
}

/* Pieces end where segments of the columns end, or inside one. */
static uint64_t piece_end(uint64_t first, uint64_t count) {
    const uint64_t begin = UINT64_C(1) << SB_SERIES_FIRST_BITS;
    const uint64_t end = (first + begin) / STATS_PIECE_SIZE * STATS_PIECE_SIZE + STATS_PIECE_SIZE;
    return end - begin < count ? end - begin : count;
}

/* Zones are counted before sources, so that no zone names a source that is not there. */
static void begin_run(stats_run *run) {
    const sb_trace *trace = run->trace;
    sb_vector pieces = sb_vector_of(sizeof(stats_piece));
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        const sb_track *track = sb_trace_track(trace, i);
        const uint64_t count = is_wanted(run->options, track) ? sb_track_zone_count(track) : 0;
        for (uint64_t first = 0; first < count;) {
            const uint64_t end = piece_end(first, count);
            *(stats_piece *)sb_vector_push(&pieces) =
                (stats_piece){.track = track,
                              .first = first,
                              .count = end - first,
                              .track_count = count,
                              .outside = sb_vector_of(sizeof(stats_share)),
                              .open = sb_vector_of(sizeof(stats_open))};
            first = end;
        }
    }
    run->source_count = sb_series_count(&trace->sources);
    run->pieces = (stats_piece *)pieces.data;
    run->piece_count = pieces.count;
    run->workers = sb_parallel_width(STATS_WORKERS_MAX);
    if (run->workers > run->piece_count)
        run->workers = run->piece_count == 0 ? 1 : (unsigned)run->piece_count;
    run->tallies = sb_alloc_zeroed(run->workers, sizeof(stats_tally *));
}

static void end_run(stats_run *run) {
    for (uint64_t i = 0; i < run->piece_count; i++) {
        sb_vector_free(&run->pieces[i].outside);
        sb_vector_free(&run->pieces[i].open);
    }
    for (unsigned i = 0; i < run->workers; i++)
        free(run->tallies[i]);
    free(run->tallies);
    free(run->pieces);
}

/*
 * The deviation of a sample. Squares are first taken about the whole part of the mean, in integers:
 * the difference of two large numbers would lose digits.
 */
static double deviation(uint64_t count, int64_t total, sb_u128 squares) {
    if (count < 2)
        return 0;
    const int64_t mean = total / (int64_t)count;
    const int64_t rest = total % (int64_t)count;
    /* Unsigned, since durations from a broken file may wrap; what is right is the same. */
    const sb_u128 wide_mean = (sb_u128)mean;
    const sb_u128 apart =
        squares - 2 * wide_mean * (sb_u128)total + wide_mean * wide_mean * (sb_u128)count;
    const double variance =
        ((double)apart - (double)rest * (double)rest / (double)count) / (double)(count - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

static sb_zone_stats stats_of(const stats_tally *tally, bool with_self) {
    if (tally->count == 0)
        return (sb_zone_stats){0};
    sb_zone_stats stats = {.count = tally->count,
                           .total = tally->total,
                           .min = tally->min,
                           .max = tally->max,
                           .mean = (double)tally->total / (double)tally->count,
                           .sum_squares = (double)tally->squares};
    stats.deviation = deviation(tally->count, tally->total, tally->squares);
    if (!with_self)
        return stats;
    stats.self_total = tally->self_total;
    stats.self_min = tally->self_min;
    stats.self_max = tally->self_max;
    stats.self_deviation = deviation(tally->count, tally->self_total, tally->self_squares);
    return stats;
}

sb_zone_stats *sb_trace_stats(const sb_trace *trace, const sb_stats_options *options) {
    stats_run run = {.trace = trace, .options = options};
    begin_run(&run);
    sb_parallel(run.workers, count_pieces, &run);
    stats_tally *tallies = run.tallies[0];
    for (unsigned worker = 1; worker < run.workers; worker++) {
        for (uint64_t i = 0; i < run.source_count; i++)
            merge_tally(&tallies[i], &run.tallies[worker][i]);
    }
    settle_open(&run, tallies);
    sb_zone_stats *all = sb_alloc_zeroed(run.source_count, sizeof *all);
    for (uint64_t i = 0; i < run.source_count; i++)
        all[i] = stats_of(&tallies[i], options->with_self);
    if (options->with_quantiles)
        stats_find_quantiles(&run, all);
    end_run(&run);
    return all;
}
