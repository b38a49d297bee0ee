/*
 * Statistics of zones against a count by the book: every zone is looked at alone, and what is found
 * is sorted. Traces are small ones, many of them, for odd cases; and large ones, whose tracks are
 * counted in several pieces by several threads.
 */
#include <math.h>
#include <pthread.h>

#include "trace/trace_stats.h"
#include "trace_testing.h"

enum { SOURCES = 5, TRACKS_MAX = 5 };

typedef struct plain_zone {
    const sb_track *track;
    size_t parent; /* among all zones; SIZE_MAX: none */
    int64_t start;
    int64_t end; /* SB_NO_TIME: none */
    uint32_t source;
} plain_zone;

/* A trace, and beside it what was put into it. */
typedef struct sample {
    uint64_t random;
    sb_trace *trace;
    sb_vector zones; /* plain_zone */
    int64_t last_time;
} sample;

static plain_zone *zone_at(const sample *of, size_t index) {
    return sb_vector_at(&of->zones, index);
}

/* ---- random traces ---- */

/* Often nothing, mostly little, sometimes more than a column of durations can hold. */
static int64_t some_step(uint64_t *random) {
    switch (below(random, 16)) {
    case 0:
        return one_in(random, 40) ? (int64_t)below(random, UINT64_C(1) << 34) : 0;
    case 1:
    case 2:
        return 0;
    case 3:
        return (int64_t)below(random, 1000000);
    default:
        return (int64_t)below(random, 700);
    }
}

/* Half of all zones have one source: enough that its durations are not kept but counted. */
static uint32_t some_source(uint64_t *random) {
    return one_in(random, 2) ? 1 : (uint32_t)below(random, SOURCES);
}

static size_t note_zone(sample *of, const sb_track *track, size_t parent, int64_t start) {
    *(plain_zone *)sb_vector_push(&of->zones) =
        (plain_zone){track, parent, start, SB_NO_TIME, some_source(&of->random)};
    return of->zones.count - 1;
}

/* A zone with nothing inside, which a track takes in one call. */
static int64_t add_leaf(sample *of, sb_track *track, size_t parent, int64_t time) {
    plain_zone *leaf = zone_at(of, note_zone(of, track, parent, time));
    leaf->end = time + some_step(&of->random);
    sb_track_add(track, leaf->start, leaf->end, leaf->source);
    return leaf->end;
}

static void end_zone(sample *of, sb_track *track, size_t index, int64_t time) {
    zone_at(of, index)->end = one_in(&of->random, 100) ? SB_NO_TIME : time;
    sb_track_end(track, zone_at(of, index)->end);
}

/* How eager a track is to open zones, and how many may be open, decides what it looks like. */
static void fill_track(sample *of, sb_track *track, uint64_t steps) {
    static const size_t depths[] = {1, 4, 60, 100000};
    const size_t depth_max = depths[below(&of->random, COUNT_OF(depths))];
    const uint64_t eagerness = 2 + below(&of->random, 3);
    sb_vector open = sb_vector_of(sizeof(size_t));
    int64_t time = (int64_t)below(&of->random, 5000);
    for (uint64_t i = 0; i < steps; i++) {
        const size_t around =
            open.count == 0 ? SIZE_MAX : *(const size_t *)sb_vector_at(&open, open.count - 1);
        time += some_step(&of->random);
        if (one_in(&of->random, 4)) {
            time = add_leaf(of, track, around, time);
        } else if (open.count == 0 || (open.count < depth_max && !one_in(&of->random, eagerness))) {
            const size_t added = note_zone(of, track, around, time);
            sb_track_begin(track, time, zone_at(of, added)->source);
            *(size_t *)sb_vector_push(&open) = added;
        } else {
            end_zone(of, track, around, time);
            open.count--;
        }
    }
    /* Some of what is still open is closed, from inside, as far as it goes. */
    for (size_t left = below(&of->random, open.count + 1); open.count > left; open.count--)
        end_zone(of, track, *(const size_t *)sb_vector_at(&open, open.count - 1), time);
    of->last_time = time > of->last_time ? time : of->last_time;
    sb_vector_free(&open);
}

static sample make_sample(uint64_t seed, uint64_t steps) {
    sample made = {.random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1,
                   .trace = sb_trace_create(),
                   .zones = sb_vector_of(sizeof(plain_zone))};
    while (sb_series_count(&made.trace->sources) < SOURCES)
        sb_trace_add_source(made.trace, &(sb_source){.line = 1});
    sb_trace_add_context(made.trace);
    const uint64_t tracks = 1 + below(&made.random, TRACKS_MAX);
    for (uint64_t i = 0; i < tracks; i++) {
        const bool is_lane = i > 0 && one_in(&made.random, 3);
        sb_track *track =
            sb_trace_add_track(made.trace, is_lane ? SB_TRACK_LANE : SB_TRACK_THREAD,
                               sb_trace_thread(made.trace, 100 + i), is_lane ? 0 : SB_NONE);
        fill_track(&made, track, i == 0 ? steps : below(&made.random, steps));
    }
    return made;
}

static void free_sample(sample *of) {
    sb_vector_free(&of->zones);
    sb_trace_free(of->trace);
}

/* ---- counting by the book ---- */

static bool is_counted(const plain_zone *zone, const sb_stats_options *options) {
    const sb_range range = options->range;
    if (zone->end == SB_NO_TIME || (zone->track->kind == SB_TRACK_LANE) != options->devices)
        return false;
    if (options->only != NULL && options->only != zone->track)
        return false;
    if (options->whole_only)
        return zone->start >= range.from && zone->end <= range.to;
    return zone->start < range.to && (zone->start >= range.from || zone->end > range.from);
}

/* The part of a zone that counts, or -1. */
static int64_t part_of(const plain_zone *zone, const sb_stats_options *options) {
    if (!is_counted(zone, options))
        return -1;
    const sb_range range = options->range;
    const int64_t from = zone->start < range.from ? range.from : zone->start;
    const int64_t to = zone->end > range.to ? range.to : zone->end;
    return to == from && options->skip_empty ? -1 : to - from;
}

/* Durations and self times of all zones; a duration of -1: does not count. */
static void look_at_zones(const sample *of, const sb_stats_options *options, int64_t *parts,
                          int64_t *selves) {
    for (size_t i = 0; i < of->zones.count; i++) {
        parts[i] = part_of(zone_at(of, i), options);
        selves[i] = parts[i];
    }
    for (size_t i = 0; i < of->zones.count; i++) {
        const size_t parent = zone_at(of, i)->parent;
        if (parts[i] > 0 && parent != SIZE_MAX)
            selves[parent] -= parts[i];
    }
}

static int compare_times(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t sum_of(const int64_t *values, size_t count) {
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static double deviation_of(const int64_t *values, size_t count) {
    const long double mean = (long double)sum_of(values, count) / (long double)count;
    long double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
    return count < 2 ? 0 : (double)sqrtl(squares / (long double)(count - 1));
}

/* The smallest of the sorted values that 99 % do not exceed. */
static int64_t p99_of(const int64_t *sorted, size_t count) {
    size_t rank = 0;
    while ((rank + 1) * 100 < count * 99)
        rank++;
    return sorted[rank];
}

static void check_whole(const sb_zone_stats *stats, int64_t *values, size_t count) {
    qsort(values, count, sizeof *values, compare_times);
    long double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (long double)values[i] * (long double)values[i];
    assert_int_equal(stats->total, sum_of(values, count));
    assert_int_equal(stats->min, values[0]);
    assert_int_equal(stats->max, values[count - 1]);
    check_near(stats->mean, (double)sum_of(values, count) / (double)count);
    check_near(stats->sum_squares, (double)squares);
    check_near(stats->deviation, deviation_of(values, count));
    assert_int_equal(stats->median, values[(count - 1) / 2]);
    assert_int_equal(stats->p99, p99_of(values, count));
}

static void check_self(const sb_zone_stats *stats, int64_t *values, size_t count) {
    qsort(values, count, sizeof *values, compare_times);
    assert_int_equal(stats->self_total, sum_of(values, count));
    assert_int_equal(stats->self_min, values[0]);
    assert_int_equal(stats->self_max, values[count - 1]);
    check_near(stats->self_deviation, deviation_of(values, count));
}

/* ---- comparing ---- */

/* Returns the most zones that a source has. */
static uint64_t check_sample(const sample *of, sb_stats_options options) {
    const size_t size = (of->zones.count + 1) * sizeof(int64_t);
    int64_t *parts = sb_alloc(size);
    int64_t *selves = sb_alloc(size);
    int64_t *values = sb_alloc(size);
    int64_t *self_values = sb_alloc(size);
    uint64_t most = 0;
    options.with_quantiles = true;
    sb_zone_stats *stats = sb_trace_stats(of->trace, &options);
    look_at_zones(of, &options, parts, selves);
    for (uint32_t source = 0; source < SOURCES; source++) {
        size_t count = 0;
        for (size_t i = 0; i < of->zones.count; i++) {
            if (parts[i] < 0 || zone_at(of, i)->source != source)
                continue;
            self_values[count] = options.with_self ? selves[i] : 0;
            values[count++] = parts[i];
        }
        assert_int_equal(stats[source].count, count);
        if (count == 0)
            continue;
        check_whole(&stats[source], values, count);
        check_self(&stats[source], self_values, count);
        most = count > most ? count : most;
    }
    free(stats);
    free(parts);
    free(selves);
    free(values);
    free(self_values);
    return most;
}

/* Often one where a zone begins or ends. */
static int64_t some_time(sample *of) {
    const int64_t any = (int64_t)below(&of->random, (uint64_t)of->last_time + 1);
    if (of->zones.count == 0 || one_in(&of->random, 2))
        return any;
    const plain_zone *zone = zone_at(of, below(&of->random, of->zones.count));
    return zone->end == SB_NO_TIME || one_in(&of->random, 2) ? zone->start : zone->end;
}

static sb_range some_range(sample *of) {
    const int64_t a = some_time(of);
    const int64_t b = some_time(of);
    return a < b ? (sb_range){a, b} : (sb_range){b, a + 1};
}

static sb_stats_options some_options(sample *of) {
    const uint64_t tracks = sb_series_count(&of->trace->tracks);
    return (sb_stats_options){
        .range = one_in(&of->random, 3) ? SB_RANGE_ALL : some_range(of),
        .whole_only = one_in(&of->random, 3),
        .devices = one_in(&of->random, 3),
        .skip_empty = one_in(&of->random, 3),
        .with_self = !one_in(&of->random, 4),
        .only =
            one_in(&of->random, 3) ? sb_trace_track(of->trace, below(&of->random, tracks)) : NULL,
    };
}

static void statistics_agree_with_looking_at_every_zone(void **state) {
    (void)state;
    enum { SEEDS = 400, QUESTIONS = 12, STEPS = 150 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        sample of = make_sample(seed, STEPS);
        for (int i = 0; i < QUESTIONS; i++)
            check_sample(&of, some_options(&of));
        free_sample(&of);
    }
}

static void statistics_in_pieces_agree_with_looking_at_every_zone(void **state) {
    (void)state;
    enum { SEEDS = 8, QUESTIONS = 8, STEPS = 9 * STATS_PIECE_SIZE, COUNTED_IN_BUCKETS = 16384 };
    uint64_t most = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        sample of = make_sample(seed, STEPS);
        const sb_stats_options all = {.range = SB_RANGE_ALL, .with_self = true};
        const uint64_t counted = check_sample(&of, all);
        most = counted > most ? counted : most;
        assert_true(sb_track_zone_count(sb_trace_track(of.trace, 0)) > 4 * STATS_PIECE_SIZE);
        for (int i = 0; i < QUESTIONS; i++)
            check_sample(&of, some_options(&of));
        free_sample(&of);
    }
    /* Else the other way to find quantiles was not tried. */
    assert_true(most > COUNTED_IN_BUCKETS);
}

/* ---- while it grows ---- */

enum { GROWN_ZONES = 600000, GROWN_DEPTH_MAX = 12, GROWN_SOURCES = 40 };

/* Zones that stay open for long, and sources that are new, while others count. */
static void *grow(void *argument) {
    sb_trace *trace = argument;
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_THREAD, 0, SB_NONE);
    uint64_t random = 7;
    int64_t now = 0;
    uint32_t sources = 1;
    unsigned depth = 0;
    for (uint64_t begun = 0; begun < GROWN_ZONES || depth > 0; now++) {
        if (depth > 0 && (begun == GROWN_ZONES || depth == GROWN_DEPTH_MAX || one_in(&random, 2))) {
            sb_track_end(track, now);
            depth--;
            continue;
        }
        if (begun % (GROWN_ZONES / GROWN_SOURCES) == 0)
            sources = sb_trace_add_source(trace, &(sb_source){.line = (uint32_t)begun}) + 1;
        sb_track_begin(track, now, (uint32_t)below(&random, sources));
        depth++;
        begun++;
    }
    return NULL;
}

static uint64_t count_grown(const sb_trace *trace, sb_range range) {
    const sb_stats_options options = {.range = range, .with_self = true, .with_quantiles = true};
    const uint64_t sources = sb_series_count(&trace->sources);
    sb_zone_stats *stats = sb_trace_stats(trace, &options);
    uint64_t count = 0;
    for (uint64_t i = 0; i < sources; i++) {
        count += stats[i].count;
        assert_true(stats[i].count == 0 || stats[i].min <= stats[i].max);
        assert_true(stats[i].self_total <= stats[i].total);
    }
    free(stats);
    return count;
}

static void statistics_of_a_growing_trace_are_of_what_has_ended(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, grow, trace), 0);
    uint64_t count = 0;
    while (count < GROWN_ZONES / 2) {
        const uint64_t more = count_grown(trace, SB_RANGE_ALL);
        assert_true(more >= count);
        count = more;
        count_grown(trace, (sb_range){1000, 200000});
    }
    pthread_join(thread, NULL);
    assert_int_equal(count_grown(trace, SB_RANGE_ALL), GROWN_ZONES);
    sb_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_of_a_growing_trace_are_of_what_has_ended),
        cmocka_unit_test(statistics_agree_with_looking_at_every_zone),
        cmocka_unit_test(statistics_in_pieces_agree_with_looking_at_every_zone),
    };
    return RUN(tests);
}
