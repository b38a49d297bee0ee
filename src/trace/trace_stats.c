/*
 * Statistics per source.
 *
 * One pass over the columns gives counts, sums, extremes and deviations. Self times need the sum of
 * a zone's children, known only when the walk leaves it: zones come in pre-order, so the zones that
 * are still open form a stack, and a zone is finished when the next one is not inside it.
 *
 * Quantiles are exact and need little memory. A source with few zones keeps its durations and sorts
 * them. A source with many counts them in buckets, 256 to each power of two; the bucket that holds
 * the quantile is then counted again in finer cells, until a cell is one nanosecond wide. For
 * durations below a millisecond that is one more pass.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace_model.h"

enum {
    SUB_BITS = 8,
    BUCKETS = (63 - SUB_BITS) << SUB_BITS, /* enough for any duration */
    CELLS = 4096,
    FEW = 16384, /* up to here a source keeps its durations */
};

enum { QUANTILE_MEDIAN, QUANTILE_P99, QUANTILES };

/* Where a quantile is looked for: in [low, low + width), as the rank-th of those inside. */
typedef struct search {
    int64_t low;
    int64_t width;
    uint64_t rank;
    uint32_t *cells; /* NULL once it is found */
    unsigned shift;  /* a cell is 2^shift wide */
} search;

typedef struct collector {
    sb_zone_stats stats;
    int64_t pivot;  /* deviations are summed from the first duration, to lose no digits */
    double sum;     /* of durations from the pivot */
    double squares; /* of the same */
    int64_t self_pivot;
    double self_sum;
    double self_squares;
    uint64_t expected; /* zones of the source, filtered or not */
    int64_t *values;   /* of a source with few */
    uint32_t *buckets; /* of a source with many */
    search searches[QUANTILES];
} collector;

typedef struct stats_run {
    const sb_trace *trace;
    const sb_stats_options *options;
    collector *collectors;
    uint64_t source_count;
    uint64_t *zone_counts; /* of each track when we began: the trace may be growing */
    uint64_t track_count;
    struct open_zone *stack; /* zones around the current one, outermost first */
    size_t depth;
    size_t stack_capacity;
} stats_run;

typedef struct open_zone {
    uint32_t zone;
    uint32_t source;
    int64_t duration; /* below 0: not to be counted */
    int64_t inside;   /* durations of its children */
} open_zone;

/* ---- buckets ---- */

static unsigned bucket_of(int64_t duration) {
    const uint64_t value = (uint64_t)duration;
    if (value < (2U << SUB_BITS))
        return (unsigned)value;
    const unsigned shift = 63U - (unsigned)__builtin_clzll(value) - SUB_BITS;
    return (shift << SUB_BITS) + (unsigned)(value >> shift);
}

static int64_t bucket_low(unsigned bucket) {
    if (bucket < (2U << SUB_BITS))
        return bucket;
    const unsigned shift = (bucket >> SUB_BITS) - 1;
    return (int64_t)((uint64_t)(bucket - (shift << SUB_BITS)) << shift);
}

/* ---- going through the zones ---- */

static bool is_wanted(const stats_run *run, const sb_track *track) {
    if (run->options->only != NULL && run->options->only != track)
        return false;
    return (track->kind == SB_TRACK_LANE) == run->options->devices;
}

/* How long a zone lasted, or -1 if it is not to be counted. */
static int64_t duration_of(const stats_run *run, const sb_track *track, uint64_t zone,
                           const sb_zone_block *block, uint64_t i) {
    const int64_t start = block->start[i];
    uint32_t mark = __atomic_load_n(&block->duration[i], __ATOMIC_ACQUIRE);
    int64_t duration = mark;
    if (mark >= SB_ZONE_LONG) {
        if (mark == SB_ZONE_OPEN)
            return -1;
        const int64_t end = sb_track_zone_end(track, (uint32_t)zone);
        if (end < start || (start < 0 && end > INT64_MAX + start))
            return -1;
        duration = end - start;
    }
    if (start == SB_NO_TIME || (duration == 0 && run->options->skip_empty))
        return -1;
    if (start < run->options->range.from || start + duration > run->options->range.to)
        return -1;
    return duration;
}

/* Sums of times from a broken file may not fit; they wrap rather than trap. */
static int64_t wrap_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrap_sub(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void add_to(collector *entry, int64_t duration, int64_t self) {
    sb_zone_stats *stats = &entry->stats;
    if (stats->count == 0) {
        entry->pivot = duration;
        entry->self_pivot = self;
        stats->min = stats->max = duration;
        stats->self_min = stats->self_max = self;
    }
    if (entry->buckets != NULL)
        entry->buckets[bucket_of(duration)]++;
    else if (entry->values != NULL)
        entry->values[stats->count] = duration;
    stats->count++;
    stats->total = wrap_add(stats->total, duration);
    stats->self_total = wrap_add(stats->self_total, self);
    stats->min = duration < stats->min ? duration : stats->min;
    stats->max = duration > stats->max ? duration : stats->max;
    stats->self_min = self < stats->self_min ? self : stats->self_min;
    stats->self_max = self > stats->self_max ? self : stats->self_max;
    stats->sum_squares += (double)duration * (double)duration;
    const double apart = (double)(duration - entry->pivot);
    entry->sum += apart;
    entry->squares += apart * apart;
    const double self_apart = (double)self - (double)entry->self_pivot;
    entry->self_sum += self_apart;
    entry->self_squares += self_apart * self_apart;
}

static void finish_zone(stats_run *run, const open_zone *zone, open_zone *parent) {
    if (zone->duration < 0)
        return;
    add_to(&run->collectors[zone->source], zone->duration, wrap_sub(zone->duration, zone->inside));
    if (parent != NULL)
        parent->inside = wrap_add(parent->inside, zone->duration);
}

static void enclose(stats_run *run, const open_zone *zone) {
    if (run->depth == run->stack_capacity) {
        run->stack_capacity = run->stack_capacity == 0 ? 64 : run->stack_capacity * 2;
        run->stack = sb_realloc(run->stack, run->stack_capacity, sizeof *run->stack);
    }
    run->stack[run->depth++] = *zone;
}

static open_zone *innermost(const stats_run *run) {
    return run->depth > 0 ? &run->stack[run->depth - 1] : NULL;
}

/* Finishes the current zone and those around it that do not enclose the next one. */
static void leave(stats_run *run, const open_zone *current, uint32_t parent) {
    open_zone *top = innermost(run);
    finish_zone(run, current, top);
    while (top != NULL && top->zone != parent) {
        const open_zone done = *top;
        run->depth--;
        top = innermost(run);
        finish_zone(run, &done, top);
    }
}

static void collect_track(stats_run *run, const sb_track *track, uint64_t count) {
    open_zone current = {.zone = SB_NONE, .duration = -1};
    run->depth = 0;
    for (uint64_t zone = 0; zone < count;) {
        const sb_zone_block block = sb_track_block(track, zone, count);
        for (uint64_t i = 0; i < block.count; i++, zone++) {
            const uint32_t parent = block.parent == NULL ? SB_NONE : block.parent[i] - 1;
            if (parent != SB_NONE && parent == current.zone)
                enclose(run, &current);
            else
                leave(run, &current, parent);
            current = (open_zone){.zone = (uint32_t)zone,
                                  .source = block.source[i],
                                  .duration = duration_of(run, track, zone, &block, i)};
        }
    }
    leave(run, &current, SB_NONE);
}

static void count_track(stats_run *run, const sb_track *track, uint64_t count) {
    for (uint64_t zone = 0; zone < count;) {
        const sb_zone_block block = sb_track_block(track, zone, count);
        for (uint64_t i = 0; i < block.count; i++)
            run->collectors[block.source[i]].expected++;
        zone += block.count;
    }
}

/* ---- quantiles ---- */

static void prepare_quantiles(stats_run *run) {
    for (uint64_t i = 0; i < run->source_count; i++) {
        collector *entry = &run->collectors[i];
        if (entry->expected > FEW)
            entry->buckets = sb_alloc_zeroed(BUCKETS, sizeof *entry->buckets);
        else if (entry->expected > 0)
            entry->values = sb_alloc(entry->expected * sizeof *entry->values);
    }
}

static int compare_values(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The rank of a quantile among count sorted values: the smallest that enough do not exceed. */
static uint64_t rank_of(int quantile, uint64_t count) {
    assert(count > 0);
    if (quantile == QUANTILE_MEDIAN)
        return (count - 1) / 2;
    return (count * 99 + 99) / 100 - 1;
}

static void set_quantile(collector *entry, int quantile, int64_t value) {
    if (quantile == QUANTILE_MEDIAN)
        entry->stats.median = value;
    else
        entry->stats.p99 = value;
}

/* Narrows a search to [low, low + width), and sets up cells if that is not yet one value. */
static void narrow(collector *entry, int quantile, int64_t low, int64_t width) {
    search *goal = &entry->searches[quantile];
    goal->low = low;
    goal->width = width;
    if (width == 1) {
        set_quantile(entry, quantile, low);
        free(goal->cells);
        goal->cells = NULL;
        return;
    }
    goal->shift = 0;
    while ((width >> goal->shift) > CELLS)
        goal->shift++;
    if (goal->cells == NULL)
        goal->cells = sb_alloc(CELLS * sizeof *goal->cells);
    memset(goal->cells, 0, CELLS * sizeof *goal->cells);
}

/* The counter in which the rank-th value lies; *rank becomes its rank in there. */
static unsigned find_counter(const uint32_t *counters, uint64_t *rank) {
    unsigned i = 0;
    while (*rank >= counters[i])
        *rank -= counters[i++];
    return i;
}

static void begin_searches(collector *entry) {
    for (int quantile = 0; quantile < QUANTILES; quantile++) {
        search *goal = &entry->searches[quantile];
        goal->rank = rank_of(quantile, entry->stats.count);
        const unsigned bucket = find_counter(entry->buckets, &goal->rank);
        const int64_t low = bucket_low(bucket);
        narrow(entry, quantile, low, bucket_low(bucket + 1) - low);
    }
    free(entry->buckets);
    entry->buckets = NULL;
}

/* Quantiles of what is held in memory; true if some source must be counted more finely. */
static bool settle_quantiles(stats_run *run) {
    bool unsettled = false;
    for (uint64_t i = 0; i < run->source_count; i++) {
        collector *entry = &run->collectors[i];
        if (entry->stats.count == 0)
            continue;
        if (entry->values != NULL) {
            qsort(entry->values, entry->stats.count, sizeof *entry->values, compare_values);
            for (int quantile = 0; quantile < QUANTILES; quantile++)
                set_quantile(entry, quantile, entry->values[rank_of(quantile, entry->stats.count)]);
            continue;
        }
        begin_searches(entry);
        for (int quantile = 0; quantile < QUANTILES; quantile++)
            unsettled = unsettled || entry->searches[quantile].cells != NULL;
    }
    return unsettled;
}

static void refine_track(stats_run *run, const sb_track *track, uint64_t count) {
    for (uint64_t zone = 0; zone < count;) {
        const sb_zone_block block = sb_track_block(track, zone, count);
        for (uint64_t i = 0; i < block.count; i++, zone++) {
            const search *goals = run->collectors[block.source[i]].searches;
            if (goals[0].cells == NULL && goals[1].cells == NULL)
                continue;
            const int64_t duration = duration_of(run, track, zone, &block, i);
            for (int quantile = 0; quantile < QUANTILES; quantile++) {
                const search *goal = &goals[quantile];
                if (goal->cells != NULL && duration >= goal->low &&
                    duration - goal->low < goal->width)
                    goal->cells[(duration - goal->low) >> goal->shift]++;
            }
        }
    }
}

/* Takes each search one step on; true if some are still open. */
static bool narrow_searches(stats_run *run) {
    bool unsettled = false;
    for (uint64_t i = 0; i < run->source_count; i++) {
        collector *entry = &run->collectors[i];
        for (int quantile = 0; quantile < QUANTILES; quantile++) {
            search *goal = &entry->searches[quantile];
            if (goal->cells == NULL)
                continue;
            const int64_t cell = find_counter(goal->cells, &goal->rank);
            narrow(entry, quantile, goal->low + (cell << goal->shift), INT64_C(1) << goal->shift);
            unsettled = unsettled || goal->cells != NULL;
        }
    }
    return unsettled;
}

/* ---- all together ---- */

typedef void (*track_pass)(stats_run *run, const sb_track *track, uint64_t zone_count);

static void for_each_track(stats_run *run, track_pass pass) {
    for (uint64_t i = 0; i < run->track_count; i++) {
        const sb_track *track = sb_trace_track(run->trace, i);
        if (is_wanted(run, track))
            pass(run, track, run->zone_counts[i]);
    }
}

/* Zones are counted before sources, so that no zone names a source that is not there. */
static void begin_run(stats_run *run) {
    run->track_count = sb_series_count(&run->trace->tracks);
    run->zone_counts = sb_alloc_zeroed(run->track_count, sizeof *run->zone_counts);
    for (uint64_t i = 0; i < run->track_count; i++)
        run->zone_counts[i] = sb_track_zone_count(sb_trace_track(run->trace, i));
    run->source_count = sb_series_count(&run->trace->sources);
    run->collectors = sb_alloc_zeroed(run->source_count, sizeof *run->collectors);
}

static double deviation(double sum, double squares, uint64_t count) {
    if (count < 2)
        return 0;
    const double variance = (squares - sum * sum / (double)count) / (double)(count - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

static void finish_stats(collector *entry) {
    sb_zone_stats *stats = &entry->stats;
    if (stats->count == 0)
        return;
    stats->mean = (double)stats->total / (double)stats->count;
    stats->deviation = deviation(entry->sum, entry->squares, stats->count);
    stats->self_deviation = deviation(entry->self_sum, entry->self_squares, stats->count);
}

sb_zone_stats *sb_trace_stats(const sb_trace *trace, const sb_stats_options *options) {
    stats_run run = {.trace = trace, .options = options};
    begin_run(&run);
    if (options->with_quantiles) {
        for_each_track(&run, count_track);
        prepare_quantiles(&run);
    }
    for_each_track(&run, collect_track);
    if (options->with_quantiles && settle_quantiles(&run)) {
        do
            for_each_track(&run, refine_track);
        while (narrow_searches(&run));
    }
    sb_zone_stats *all = sb_alloc_zeroed(run.source_count, sizeof *all);
    for (uint64_t i = 0; i < run.source_count; i++) {
        finish_stats(&run.collectors[i]);
        all[i] = run.collectors[i].stats;
        free(run.collectors[i].values);
        free(run.collectors[i].buckets);
    }
    free(run.collectors);
    free(run.zone_counts);
    free(run.stack);
    return all;
}
