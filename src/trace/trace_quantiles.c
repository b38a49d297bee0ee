/*
 * Statistics per source: exact quantiles in little memory.
 *
 * A source with few zones keeps its durations and sorts them. A source with many counts them in
 * buckets, 256 to each power of two; the bucket that holds the quantile is then counted again in
 * finer cells, until a cell is one nanosecond wide. For durations below a millisecond that is one
 * more pass. Each thread has counters of its own; they are added up after a pass.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/trace_stats.h"

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
    uint64_t *cells; /* of all threads; NULL once it is found */
    unsigned shift;  /* a cell is 2^shift wide */
} search;

typedef struct source_entry {
    uint64_t count;
    int64_t *values; /* of a source with few */
    uint64_t filled;
    uint64_t *buckets; /* of a source with many, of all threads */
    search searches[QUANTILES];
} source_entry;

typedef struct quantile_run {
    stats_run *stats_run;
    source_entry *entries;
    bool is_refining;
} quantile_run;

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

/* ---- passes over the zones ---- */

/* In a growing trace zones may have ended since they were counted: there is no room for those. */
static void count_one(source_entry *entry, int64_t duration, unsigned worker) {
    if (entry->buckets != NULL) {
        entry->buckets[(size_t)worker * BUCKETS + bucket_of(duration)]++;
        return;
    }
    const uint64_t place = __atomic_fetch_add(&entry->filled, 1, __ATOMIC_RELAXED);
    if (place < entry->count)
        entry->values[place] = duration;
}

static void refine_one(const source_entry *entry, int64_t duration, unsigned worker) {
    for (int quantile = 0; quantile < QUANTILES; quantile++) {
        const search *goal = &entry->searches[quantile];
        if (goal->cells != NULL && duration >= goal->low && duration - goal->low < goal->width)
            goal->cells[(size_t)worker * CELLS + (size_t)((duration - goal->low) >> goal->shift)]++;
    }
}

static void pass_piece(const quantile_run *run, const stats_piece *piece, const int64_t *durations,
                       unsigned worker) {
    const uint64_t end = piece->first + piece->count;
    for (uint64_t zone = piece->first; zone < end;) {
        const sb_zone_block block = sb_track_block(piece->track, zone, end);
        for (uint64_t i = 0; i < block.count; i++, durations++) {
            source_entry *entry = &run->entries[block.source[i]];
            if (*durations < 0)
                continue;
            if (run->is_refining)
                refine_one(entry, *durations, worker);
            else
                count_one(entry, *durations, worker);
        }
        zone += block.count;
    }
}

static void pass_pieces(void *context, unsigned worker) {
    const quantile_run *run = context;
    int64_t *durations = sb_alloc(STATS_PIECE_SIZE * sizeof *durations);
    for (const stats_piece *piece = stats_take_piece(run->stats_run); piece != NULL;
         piece = stats_take_piece(run->stats_run)) {
        stats_load_durations(run->stats_run, piece, durations);
        pass_piece(run, piece, durations, worker);
    }
    free(durations);
}

static void pass(quantile_run *run) {
    run->stats_run->next_piece = 0;
    sb_parallel(run->stats_run->workers, pass_pieces, run);
}

/* Adds the counters of all threads to those of the first. */
static void add_up(uint64_t *counters, size_t count, unsigned workers) {
    for (size_t i = count; i < count * workers; i++)
        counters[i % count] += counters[i];
}

/* ---- finding ---- */

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

static void set_quantile(sb_zone_stats *stats, int quantile, int64_t value) {
    if (quantile == QUANTILE_MEDIAN)
        stats->median = value;
    else
        stats->p99 = value;
}

/* Narrows a search to [low, low + width); sets up cells if that is not one value, and is true. */
static bool narrow(search *goal, int64_t low, int64_t width, unsigned workers) {
    goal->low = low;
    goal->width = width;
    if (width == 1) {
        free(goal->cells);
        goal->cells = NULL;
        return false;
    }
    goal->shift = 0;
    while ((width >> goal->shift) > CELLS)
        goal->shift++;
    if (goal->cells == NULL)
        goal->cells = sb_alloc((size_t)workers * CELLS * sizeof *goal->cells);
    memset(goal->cells, 0, (size_t)workers * CELLS * sizeof *goal->cells);
    return true;
}

/* The counter in which the rank-th value lies; *rank becomes its rank in there. */
static unsigned find_counter(const uint64_t *counters, uint64_t *rank) {
    unsigned i = 0;
    while (*rank >= counters[i])
        *rank -= counters[i++];
    return i;
}

static bool begin_searches(source_entry *entry, sb_zone_stats *stats, unsigned workers) {
    bool unsettled = false;
    add_up(entry->buckets, BUCKETS, workers);
    for (int quantile = 0; quantile < QUANTILES; quantile++) {
        search *goal = &entry->searches[quantile];
        goal->rank = rank_of(quantile, entry->count);
        const unsigned bucket = find_counter(entry->buckets, &goal->rank);
        const int64_t low = bucket_low(bucket);
        if (narrow(goal, low, bucket_low(bucket + 1) - low, workers))
            unsettled = true;
        else
            set_quantile(stats, quantile, low);
    }
    return unsettled;
}

static void sort_values(source_entry *entry, sb_zone_stats *stats) {
    qsort(entry->values, entry->count, sizeof *entry->values, compare_values);
    for (int quantile = 0; quantile < QUANTILES; quantile++)
        set_quantile(stats, quantile, entry->values[rank_of(quantile, entry->count)]);
}

/* Quantiles of what is held in memory; true if some source must be counted more finely. */
static bool settle(quantile_run *run, sb_zone_stats *stats) {
    bool unsettled = false;
    for (uint64_t i = 0; i < run->stats_run->source_count; i++) {
        source_entry *entry = &run->entries[i];
        if (entry->values != NULL)
            sort_values(entry, &stats[i]);
        else if (entry->buckets != NULL)
            unsettled |= begin_searches(entry, &stats[i], run->stats_run->workers);
    }
    return unsettled;
}

/* Takes each search one step on; true if some are still open. */
static bool narrow_searches(quantile_run *run, sb_zone_stats *stats) {
    const unsigned workers = run->stats_run->workers;
    bool unsettled = false;
    for (uint64_t i = 0; i < run->stats_run->source_count; i++) {
        for (int quantile = 0; quantile < QUANTILES; quantile++) {
            search *goal = &run->entries[i].searches[quantile];
            if (goal->cells == NULL)
                continue;
            add_up(goal->cells, CELLS, workers);
            const int64_t cell = find_counter(goal->cells, &goal->rank);
            const int64_t low = goal->low + (cell << goal->shift);
            if (narrow(goal, low, INT64_C(1) << goal->shift, workers))
                unsettled = true;
            else
                set_quantile(&stats[i], quantile, low);
        }
    }
    return unsettled;
}

static void prepare(quantile_run *run, const sb_zone_stats *stats) {
    const stats_run *all = run->stats_run;
    run->entries = sb_alloc_zeroed(all->source_count, sizeof *run->entries);
    for (uint64_t i = 0; i < all->source_count; i++) {
        source_entry *entry = &run->entries[i];
        entry->count = stats[i].count;
        if (entry->count > FEW)
            entry->buckets =
                sb_alloc_zeroed((size_t)all->workers * BUCKETS, sizeof *entry->buckets);
        else if (entry->count > 0)
            entry->values = sb_alloc(entry->count * sizeof *entry->values);
    }
}

void stats_find_quantiles(stats_run *all, sb_zone_stats *stats) {
    quantile_run run = {.stats_run = all};
    prepare(&run, stats);
    pass(&run);
    if (settle(&run, stats)) {
        run.is_refining = true;
        do
            pass(&run);
        while (narrow_searches(&run, stats));
    }
    for (uint64_t i = 0; i < all->source_count; i++) {
        free(run.entries[i].values);
        free(run.entries[i].buckets);
    }
    free(run.entries);
}
