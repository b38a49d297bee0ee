/*
 * Answers about all zones of a kind: statistics per source, and the search for one source with its
 * histogram and its calls. The figures are those of sb_trace_stats, as `strobe stats` prints them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_call.h"

/* ---- statistics ---- */

static void put_stats(sb_output *output, const sb_zone_stats *stats) {
    sb_put_format(output,
                  "\"count\":%" PRIu64 ",\"total\":%" PRId64 ",\"self\":%" PRId64 ",\"mean\":",
                  stats->count, stats->total, stats->self_total);
    sb_put_json_real(output, stats->mean);
    sb_put_format(output,
                  ",\"median\":%" PRId64 ",\"p99\":%" PRId64 ",\"min\":%" PRId64 ",\"max\":%" PRId64
                  ",\"deviation\":",
                  stats->median, stats->p99, stats->min, stats->max);
    sb_put_json_real(output, stats->deviation);
}

static bool is_whole(const sb_stats_options *options) {
    return options->only == NULL && options->range.from <= 0 && options->range.to >= VIEW_TIME_MOST;
}

/*
 * Statistics, from the ones kept where they are of the whole trace; *kept says that they are not
 * the caller's to free. Behind the lock for heavy questions. All figures are computed, whoever asks
 * first: what is kept answers every later question.
 */
static sb_zone_stats *compute(sb_view *view, const sb_stats_options *asked, bool *kept) {
    sb_stats_options options = *asked;
    options.with_quantiles = true;
    options.with_self = true;
    *kept = is_whole(&options) && !view_state_of(view).is_live;
    if (!*kept)
        return sb_trace_stats(view->trace, &options);
    sb_zone_stats **place = &view->whole_stats[options.devices];
    if (*place == NULL)
        *place = sb_trace_stats(view->trace, &options);
    return *place;
}

static void put_row(sb_output *output, const sb_zone_stats *stats, uint32_t source) {
    sb_put_format(output, "{\"source\":%u,", source);
    put_stats(output, stats);
    sb_put_char(output, '}');
}

sb_status view_answer_stats(view_call *call) {
    enum { ROWS = 20000 };
    uint32_t track = SB_NONE;
    sb_stats_options options = {0};
    SB_TRY(view_call_range(call, &options.range));
    SB_TRY(view_call_track(call, &track));
    options.devices = view_call_flag(call, "devices");
    const sb_slice filter = view_call_text(call, "filter");
    const sb_trace *trace = call->view->trace;
    if (track != SB_NONE) {
        options.only = sb_trace_track(trace, track);
        options.devices = options.only->kind == SB_TRACK_LANE;
    }
    bool kept = false;
    pthread_mutex_lock(&call->view->heavy);
    const uint32_t count = (uint32_t)sb_series_count(&trace->sources);
    sb_zone_stats *stats = compute(call->view, &options, &kept);
    pthread_mutex_unlock(&call->view->heavy);
    uint64_t written = 0;
    uint64_t matched = 0;
    sb_put_text(call->body, "{\"rows\":[");
    for (uint32_t i = 0; i < count; i++) {
        if (stats[i].count == 0 || !sb_trace_matches(sb_trace_source_name(trace, i), filter, false))
            continue;
        matched++;
        if (written == ROWS)
            continue;
        if (written++ > 0)
            sb_put_char(call->body, ',');
        put_row(call->body, &stats[i], i);
    }
    sb_put_format(call->body, "],\"matched\":%" PRIu64 "}", matched);
    if (!kept)
        free(stats);
    return SB_OK;
}

/* ---- one source ---- */

typedef struct call_entry {
    int64_t start;
    int64_t duration;
    uint32_t track;
    uint32_t zone;
} call_entry;

typedef enum call_order { ORDER_LONGEST, ORDER_SHORTEST, ORDER_TIME } call_order;

typedef struct search {
    uint32_t source;
    sb_stats_options options;
    call_order order;
    size_t wanted; /* calls to keep: those that come first in the order */
    bool is_log;
    int64_t low; /* the extremes of the durations */
    int64_t high;
    uint64_t bins;
    uint64_t *counts;
    int64_t *sums;
    sb_vector kept; /* call_entry, a heap with the last of the order on top */
} search;

static bool comes_before(const search *find, const call_entry *a, const call_entry *b) {
    if (find->order == ORDER_LONGEST && a->duration != b->duration)
        return a->duration > b->duration;
    if (find->order == ORDER_SHORTEST && a->duration != b->duration)
        return a->duration < b->duration;
    if (a->start != b->start)
        return a->start < b->start;
    return a->track != b->track ? a->track < b->track : a->zone < b->zone;
}

static void sink(const search *find, call_entry *heap, size_t count, size_t at) {
    for (;;) {
        size_t last = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            if (comes_before(find, &heap[last], &heap[child]))
                last = child;
        }
        if (last == at)
            return;
        const call_entry moved = heap[at];
        heap[at] = heap[last];
        heap[last] = moved;
        at = last;
    }
}

static void rise(const search *find, call_entry *heap, size_t at) {
    while (at > 0 && comes_before(find, &heap[(at - 1) / 2], &heap[at])) {
        const call_entry moved = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = moved;
        at = (at - 1) / 2;
    }
}

static void keep_call(search *find, const call_entry *entry) {
    call_entry *heap = (call_entry *)(void *)find->kept.data;
    if (find->kept.count < find->wanted) {
        *(call_entry *)sb_vector_push(&find->kept) = *entry;
        heap = (call_entry *)(void *)find->kept.data;
        rise(find, heap, find->kept.count - 1);
    } else if (find->wanted > 0 && comes_before(find, entry, &heap[0])) {
        heap[0] = *entry;
        sink(find, heap, find->kept.count, 0);
    }
}

/* Takes the last of the order off the heap until it is a sorted list. */
static void sort_kept(search *find) {
    call_entry *heap = (call_entry *)(void *)find->kept.data;
    for (size_t left = find->kept.count; left > 1; left--) {
        const call_entry last = heap[0];
        heap[0] = heap[left - 1];
        heap[left - 1] = last;
        sink(find, heap, left - 1, 0);
    }
}

static uint64_t bin_of(const search *find, int64_t duration) {
    double part = 0;
    if (find->is_log) {
        const double low = log((double)find->low + 1);
        const double span = log((double)find->high + 1) - low;
        part = span > 0 ? (log((double)duration + 1) - low) / span : 0;
    } else if (find->high > find->low) {
        part = (double)(duration - find->low) / (double)(find->high - find->low);
    }
    const uint64_t bin = (uint64_t)(part * (double)find->bins);
    return bin < find->bins ? bin : find->bins - 1;
}

static void count_call(search *find, const call_entry *entry) {
    const uint64_t bin = bin_of(find, entry->duration);
    find->counts[bin]++;
    find->sums[bin] = view_clipped_sum(find->sums[bin], entry->duration);
    keep_call(find, entry);
}

/* The zones of the source on one track, of those that the statistics count. */
static void search_track(search *find, const sb_trace *trace, uint32_t number) {
    const sb_track *track = sb_trace_track(trace, number);
    const uint64_t count = sb_track_zone_count(track);
    for (uint64_t zone = 0; zone < count;) {
        const sb_zone_block block = sb_track_block(track, zone, count);
        for (uint64_t i = 0; i < block.count; i++) {
            if (block.source[i] != find->source)
                continue;
            const uint32_t found = (uint32_t)(zone + i);
            const int64_t part = sb_stats_part_of(&find->options, track, found);
            const call_entry entry = {block.start[i], part, number, found};
            if (entry.duration >= find->low && entry.duration <= find->high)
                count_call(find, &entry);
        }
        zone += block.count;
    }
}

static void search_all(search *find, const sb_trace *trace) {
    const uint64_t tracks = sb_series_count(&trace->tracks);
    for (uint64_t i = 0; i < tracks; i++) {
        const sb_track *track = sb_trace_track(trace, i);
        if (find->options.only != NULL && find->options.only != track)
            continue;
        if ((track->kind == SB_TRACK_LANE) == find->options.devices)
            search_track(find, trace, (uint32_t)i);
    }
    sort_kept(find);
}

static double bin_edge(const search *find, uint64_t bin) {
    const double part = (double)bin / (double)find->bins;
    if (!find->is_log)
        return (double)find->low + part * (double)(find->high - find->low);
    const double low = log((double)find->low + 1);
    return exp(low + part * (log((double)find->high + 1) - low)) - 1;
}

static void put_found(sb_output *output, const search *find, int64_t first) {
    sb_put_text(output, ",\"edges\":[");
    for (uint64_t i = 0; i <= find->bins; i++) {
        sb_put_text(output, i == 0 ? "" : ",");
        sb_put_json_real(output, bin_edge(find, i));
    }
    sb_put_text(output, "],\"counts\":[");
    for (uint64_t i = 0; i < find->bins; i++)
        sb_put_format(output, "%s%" PRIu64, i == 0 ? "" : ",", find->counts[i]);
    sb_put_text(output, "],\"sums\":[");
    for (uint64_t i = 0; i < find->bins; i++)
        sb_put_format(output, "%s%" PRId64, i == 0 ? "" : ",", find->sums[i]);
    sb_put_text(output, "],\"calls\":[");
    for (size_t i = (size_t)first; i < find->kept.count; i++) {
        const call_entry *entry = sb_vector_at(&find->kept, i);
        sb_put_format(output, "%s[%u,%u,%" PRId64 ",%" PRId64 "]", i == (size_t)first ? "" : ",",
                      entry->track, entry->zone, entry->start, entry->duration);
    }
    sb_put_char(output, ']');
}

/* A source runs on the host or on devices; the statistics are asked for where it does. */
static sb_zone_stats stats_of(sb_view *view, search *find) {
    sb_zone_stats found = {0};
    for (int devices = 0; devices < 2 && found.count == 0; devices++) {
        bool kept = false;
        find->options.devices = devices == 1;
        sb_zone_stats *stats = compute(view, &find->options, &kept);
        found = stats[find->source];
        if (!kept)
            free(stats);
    }
    return found;
}

static sb_status read_search(view_call *call, search *find, int64_t *first) {
    int64_t source = -1;
    int64_t bins = 64;
    int64_t count = 0;
    unsigned scale = 0;
    unsigned order = 0;
    uint32_t track = SB_NONE;
    const sb_trace *trace = call->view->trace;
    const int64_t sources = (int64_t)sb_series_count(&trace->sources);
    SB_TRY(view_call_integer(call, "source", 0, sources - 1, &source));
    SB_TRY(view_call_integer(call, "bins", 1, 1000, &bins));
    SB_TRY(view_call_choice(call, "scale", "linear|log", &scale));
    SB_TRY(view_call_choice(call, "order", "longest|shortest|time", &order));
    SB_TRY(view_call_page(call, 1000, first, &count));
    SB_TRY(view_call_range(call, &find->options.range));
    SB_TRY(view_call_track(call, &track));
    if (source < 0)
        SB_FAIL(&call->error, SB_ERR_USAGE, "source: is needed");
    if (*first > 100000)
        SB_FAIL(&call->error, SB_ERR_USAGE, "first: at most 100000");
    find->source = (uint32_t)source;
    find->bins = (uint64_t)bins;
    find->is_log = scale == 1;
    find->order = (call_order)order;
    find->wanted = (size_t)(*first + count);
    find->options.only = track == SB_NONE ? NULL : sb_trace_track(trace, track);
    return SB_OK;
}

sb_status view_answer_find(view_call *call) {
    int64_t first = 0;
    search find = {.kept = sb_vector_of(sizeof(call_entry))};
    SB_TRY(read_search(call, &find, &first));
    find.counts = sb_alloc_zeroed(find.bins, sizeof *find.counts);
    find.sums = sb_alloc_zeroed(find.bins, sizeof *find.sums);
    pthread_mutex_lock(&call->view->heavy);
    const sb_zone_stats stats = stats_of(call->view, &find);
    find.low = stats.min;
    find.high = stats.max;
    if (stats.count > 0)
        search_all(&find, call->view->trace);
    pthread_mutex_unlock(&call->view->heavy);
    sb_put_format(call->body, "{\"source\":%u,\"devices\":%s,", find.source,
                  find.options.devices ? "true" : "false");
    put_stats(call->body, &stats);
    put_found(call->body, &find, first);
    sb_put_char(call->body, '}');
    sb_vector_free(&find.kept);
    free(find.counts);
    free(find.sums);
    return SB_OK;
}
