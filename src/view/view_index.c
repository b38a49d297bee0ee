#include "view/view_index.h"

#include <stdlib.h>

/* ---- making and freeing ---- */

static void init_row(view_row *row) {
    *row = (view_row){.levels = sb_vector_of(sizeof(sb_series))};
    sb_series_init(&row->zones, sizeof(uint32_t), NULL);
}

static void free_row(view_row *row) {
    sb_series_free(&row->zones);
    for (size_t i = 0; i < row->levels.count; i++)
        sb_series_free(sb_vector_at(&row->levels, i));
    sb_vector_free(&row->levels);
}

static void reset_track(view_track *track) {
    for (size_t i = 0; i < track->rows.count; i++)
        free_row(sb_vector_at(&track->rows, i));
    sb_vector_free(&track->rows);
    sb_vector_free(&track->open);
    *track = (view_track){.rows = sb_vector_of(sizeof(view_row)),
                          .open = sb_vector_of(sizeof(uint32_t)),
                          .is_flat = true};
}

void view_index_init(view_index *index, const sb_trace *trace) {
    *index = (view_index){.trace = trace, .tracks = sb_vector_of(sizeof(view_track))};
    pthread_rwlock_init(&index->lock, NULL);
}

void view_index_free(view_index *index) {
    for (size_t i = 0; i < index->tracks.count; i++) {
        view_track *track = sb_vector_at(&index->tracks, i);
        reset_track(track);
        sb_vector_free(&track->rows);
        sb_vector_free(&track->open);
    }
    sb_vector_free(&index->tracks);
    pthread_rwlock_destroy(&index->lock);
}

/* ---- zones ---- */

static uint32_t zone_at(const view_row *row, uint64_t place) {
    const uint32_t *zone = sb_series_find(&row->zones, place);
    return zone == NULL ? (uint32_t)place : *zone;
}

/* When a zone ends, for drawing: never before it begins, and open ones never. */
static int64_t drawn_end(const sb_track *track, uint32_t zone, int64_t start) {
    const int64_t end = sb_track_zone_end(track, zone);
    if (end == SB_NO_TIME)
        return INT64_MAX;
    return end < start ? start : end;
}

/* ---- the main source of many zones ---- */

typedef struct source_vote {
    uint32_t source[VIEW_SOURCE_SLOTS];
    int64_t weight[VIEW_SOURCE_SLOTS];
    unsigned used;
} source_vote;

/* With more sources than slots the lightest gives way: the main one is heavy enough to stay. */
static void vote_for(source_vote *vote, uint32_t source, int64_t weight) {
    unsigned lightest = 0;
    for (unsigned i = 0; i < vote->used; i++) {
        if (vote->source[i] == source) {
            vote->weight[i] = view_clipped_sum(vote->weight[i], weight);
            return;
        }
        if (vote->weight[i] < vote->weight[lightest])
            lightest = i;
    }
    if (vote->used < VIEW_SOURCE_SLOTS)
        lightest = vote->used++;
    else if (vote->weight[lightest] >= weight)
        return;
    vote->source[lightest] = source;
    vote->weight[lightest] = weight;
}

static void take_vote(const source_vote *vote, view_node *node) {
    for (unsigned i = 0; i < vote->used; i++) {
        if (i == 0 || vote->weight[i] > node->weight) {
            node->source = vote->source[i];
            node->weight = vote->weight[i];
        }
    }
}

/* ---- nodes ---- */

int64_t view_clipped_sum(int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t view_length_between(int64_t start, int64_t end) {
    int64_t length = 0;
    return __builtin_sub_overflow(end, start, &length) ? INT64_MAX : length;
}

static view_node sum_zones(const view_row *row, const sb_track *track, uint64_t from, uint64_t to) {
    view_node node = {.start = INT64_MAX, .end = INT64_MIN, .longest = -1};
    source_vote vote = {.used = 0};
    for (uint64_t place = from; place < to; place++) {
        const uint32_t zone = zone_at(row, place);
        const int64_t start = sb_track_zone_start(track, zone);
        const int64_t end = drawn_end(track, zone, start);
        const int64_t length = end == INT64_MAX ? 0 : view_length_between(start, end);
        node.start = start < node.start ? start : node.start;
        node.end = end > node.end ? end : node.end;
        node.busy = view_clipped_sum(node.busy, length);
        if (length > node.longest) {
            node.longest = length;
            node.zone = zone;
        }
        vote_for(&vote, sb_track_zone_source(track, zone), length);
    }
    take_vote(&vote, &node);
    return node;
}

static view_node sum_nodes(const sb_series *below, uint64_t from, uint64_t to) {
    view_node node = {.start = INT64_MAX, .end = INT64_MIN, .longest = -1};
    source_vote vote = {.used = 0};
    for (uint64_t i = from; i < to; i++) {
        const view_node *child = sb_series_at(below, i);
        node.start = child->start < node.start ? child->start : node.start;
        node.end = child->end > node.end ? child->end : node.end;
        node.busy = view_clipped_sum(node.busy, child->busy);
        if (child->longest > node.longest) {
            node.longest = child->longest;
            node.zone = child->zone;
        }
        vote_for(&vote, child->source, child->weight);
    }
    take_vote(&vote, &node);
    return node;
}

static void put_node(sb_series *level, uint64_t place, const view_node *node) {
    *(view_node *)sb_series_slot(level, place) = *node;
    if (place >= sb_series_count(level))
        sb_series_publish(level, place + 1);
}

static uint64_t divide_up(uint64_t count, uint64_t by) {
    return (count + by - 1) / by;
}

static sb_series *level_of(const view_row *row, size_t level) {
    return sb_vector_at(&row->levels, level);
}

/* The nodes of a level, which is added if it is the next one. */
static sb_series *reach_level(view_row *row, size_t level) {
    if (level == row->levels.count)
        sb_series_init(sb_vector_push(&row->levels), sizeof(view_node), NULL);
    return level_of(row, level);
}

static uint64_t raise_leaves(view_row *row, const sb_track *track, uint64_t first) {
    sb_series *leaves = reach_level(row, 0);
    const uint64_t count = divide_up(row->count, VIEW_LEAF_ZONES);
    for (uint64_t i = first; i < count; i++) {
        const uint64_t end = (i + 1) * VIEW_LEAF_ZONES;
        const view_node node =
            sum_zones(row, track, i * VIEW_LEAF_ZONES, end < row->count ? end : row->count);
        put_node(leaves, i, &node);
    }
    return count;
}

/* Makes the nodes over the zones from place `changed` on anew. */
static void raise_pyramid(view_row *row, const sb_track *track, uint64_t changed) {
    if (row->count <= VIEW_LEAF_ZONES)
        return;
    uint64_t first = row->levels.count == 0 ? 0 : changed / VIEW_LEAF_ZONES;
    uint64_t count = raise_leaves(row, track, first);
    for (size_t level = 1; count > 1; level++) {
        const uint64_t below = count;
        sb_series *nodes = reach_level(row, level);
        count = divide_up(below, VIEW_NODE_CHILDREN);
        first = sb_series_count(nodes) == 0 ? 0 : first / VIEW_NODE_CHILDREN;
        for (uint64_t i = first; i < count; i++) {
            const uint64_t end = (i + 1) * VIEW_NODE_CHILDREN;
            const view_node node = sum_nodes(level_of(row, level - 1), i * VIEW_NODE_CHILDREN,
                                             end < below ? end : below);
            put_node(nodes, i, &node);
        }
    }
}

/* ---- rows ---- */

view_row *view_track_row(view_track *track, size_t depth) {
    while (track->rows.count <= depth)
        init_row(sb_vector_push(&track->rows));
    return sb_vector_at(&track->rows, depth);
}

/* How deep a zone is: the zones around it are those of the one before, less those that ended. */
static size_t enter_zone(view_track *track, uint32_t zone, uint32_t parent) {
    while (track->open.count > 0 &&
           *(uint32_t *)sb_vector_at(&track->open, track->open.count - 1) != parent)
        track->open.count--;
    const size_t depth = track->open.count;
    *(uint32_t *)sb_vector_push(&track->open) = zone;
    return depth;
}

static void place_zone(view_track *track, uint32_t zone, size_t depth) {
    if (depth >= VIEW_DEPTHS) {
        track->too_deep++;
        return;
    }
    view_row *row = view_track_row(track, depth);
    if (!track->is_flat) {
        sb_series_add(&row->zones, &zone);
    }
    row->count++;
}

/* Rows of a track without nesting have no list; once a zone is inside another they need one. */
static bool has_parents(const sb_track *track, uint64_t from, uint64_t to) {
    for (uint64_t zone = from; zone < to;) {
        const sb_zone_block block = sb_track_block(track, zone, to);
        for (uint64_t i = 0; block.parent != NULL && i < block.count; i++) {
            if (block.parent[i] != 0)
                return true;
        }
        zone += block.count;
    }
    return false;
}

typedef struct order {
    int64_t start;
    uint32_t zone;
} order;

static int compare_orders(const void *a, const void *b) {
    const order *left = a;
    const order *right = b;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left->zone < right->zone ? -1 : 1;
}

/* Lanes of devices may list zones in the order in which they ended or were read. */
static void sort_row(view_row *row, const sb_track *track) {
    if (row->count == 0)
        return;
    order *orders = sb_alloc_zeroed(row->count, sizeof(order));
    for (uint64_t i = 0; i < row->count; i++) {
        const uint32_t zone = zone_at(row, i);
        orders[i] = (order){sb_track_zone_start(track, zone), zone};
    }
    qsort(orders, row->count, sizeof(order), compare_orders);
    for (uint64_t i = 0; i < row->count; i++)
        *(uint32_t *)sb_series_slot(&row->zones, i) = orders[i].zone;
    sb_series_publish(&row->zones, row->count);
    free(orders);
}

static void place_zones(view_track *track, const sb_track *zones, uint64_t to) {
    for (uint64_t zone = track->indexed; zone < to;) {
        const sb_zone_block block = sb_track_block(zones, zone, to);
        for (uint64_t i = 0; i < block.count; i++) {
            const uint32_t number = (uint32_t)(zone + i);
            const uint32_t parent = block.parent == NULL ? SB_NONE : block.parent[i] - 1;
            if (track->is_flat)
                view_track_row(track, 0)->count++;
            else
                place_zone(track, number, enter_zone(track, number, parent));
        }
        zone += block.count;
    }
    track->indexed = to;
}

/* What all zones of a row add up to. */
static view_node top_node(const view_row *row, const sb_track *track) {
    if (row->levels.count == 0)
        return sum_zones(row, track, 0, row->count);
    return *(const view_node *)sb_series_at(level_of(row, row->levels.count - 1), 0);
}

/* Is a zone of the track without an end, as far as the rows know? */
static bool has_open(const view_track *track, const sb_track *zones) {
    for (size_t i = 0; i < track->rows.count; i++) {
        if (top_node(sb_vector_at(&track->rows, i), zones).end == INT64_MAX)
            return true;
    }
    return false;
}

/* Zones are only added behind; what changes before them is the end of the last of each row. */
static void extend_track(view_track *track, const sb_track *zones) {
    const uint64_t to = sb_track_zone_count(zones);
    if (to == track->indexed && !has_open(track, zones))
        return;
    const bool is_unsorted = sb_track_is_unsorted(zones);
    const bool starts_anew =
        is_unsorted || (track->is_flat && has_parents(zones, track->indexed, to));
    if (starts_anew) {
        reset_track(track);
        track->is_flat = false;
    }
    sb_vector counts = sb_vector_of(sizeof(uint64_t));
    for (size_t i = 0; i < track->rows.count; i++)
        *(uint64_t *)sb_vector_push(&counts) = ((view_row *)sb_vector_at(&track->rows, i))->count;
    place_zones(track, zones, to);
    for (size_t i = 0; i < track->rows.count; i++) {
        view_row *row = sb_vector_at(&track->rows, i);
        const uint64_t before = i < counts.count ? *(uint64_t *)sb_vector_at(&counts, i) : 0;
        if (is_unsorted)
            sort_row(row, zones);
        raise_pyramid(row, zones, before == 0 || is_unsorted ? 0 : before - 1);
    }
    sb_vector_free(&counts);
}

/* ---- extending ---- */

static int64_t last_of_series(const sb_series *series) {
    const uint64_t count = sb_series_count(series);
    return count == 0 ? 0 : *(const int64_t *)sb_series_at(series, count - 1);
}

static int64_t latest_time(const view_index *index) {
    int64_t end = __atomic_load_n(&index->trace->info.last_time, __ATOMIC_RELAXED);
    const int64_t message = last_of_series(&index->trace->messages);
    end = message > end ? message : end;
    for (size_t i = 0; i < index->tracks.count; i++) {
        const view_track *track = sb_vector_at(&index->tracks, i);
        for (size_t depth = 0; depth < track->rows.count; depth++) {
            const view_node top =
                top_node(sb_vector_at(&track->rows, depth), sb_trace_track(index->trace, i));
            const int64_t reached = top.end == INT64_MAX ? top.start : top.end;
            end = reached > end ? reached : end;
        }
    }
    return end < 0 ? 0 : end;
}

void view_index_add_tracks(view_index *index) {
    const uint64_t count = sb_series_count(&index->trace->tracks);
    while (index->tracks.count < count)
        reset_track(sb_vector_push(&index->tracks));
}

/* Tracks that several threads take one after the other. */
typedef struct extension {
    view_index *index;
    uint64_t next; /* atomic, as the next: the first track that nobody has taken */
    uint64_t done; /* zones */
    uint64_t total;
    sb_view_progress progress; /* told by the first thread */
    void *context;
    bool has_grown; /* atomic */
} extension;

static void extend_tracks(void *context, unsigned worker) {
    extension *all = context;
    for (;;) {
        const uint64_t i = __atomic_fetch_add(&all->next, 1, __ATOMIC_RELAXED);
        if (i >= all->index->tracks.count)
            return;
        view_track *track = sb_vector_at(&all->index->tracks, i);
        const uint64_t before = track->indexed;
        extend_track(track, sb_trace_track(all->index->trace, i));
        if (track->indexed != before)
            __atomic_store_n(&all->has_grown, true, __ATOMIC_RELAXED);
        const uint64_t done = __atomic_add_fetch(&all->done, track->indexed, __ATOMIC_RELAXED);
        if (worker == 0 && all->progress != NULL)
            all->progress(all->context, done, all->total);
    }
}

bool view_index_extend(view_index *index, sb_view_progress progress, void *context) {
    enum { WORKERS = 8, ZONES_FOR_THREADS = 100000 };
    pthread_rwlock_wrlock(&index->lock);
    const size_t tracks_before = index->tracks.count;
    view_index_add_tracks(index);
    extension all = {.index = index,
                     .progress = progress,
                     .context = context,
                     .total = sb_trace_zone_count(index->trace, false) +
                              sb_trace_zone_count(index->trace, true)};
    for (size_t i = 0; i < index->tracks.count; i++)
        all.done += ((const view_track *)sb_vector_at(&index->tracks, i))->indexed;
    const bool is_much = all.total - all.done > ZONES_FOR_THREADS;
    all.done = 0;
    sb_parallel(is_much ? sb_parallel_width(WORKERS) : 1, extend_tracks, &all);
    /* A zone that is open hides how far its row reaches: the end may seem to come nearer. */
    const int64_t end = latest_time(index);
    const bool has_grown = all.has_grown || index->tracks.count > tracks_before || end > index->end;
    index->end = end > index->end ? end : index->end;
    pthread_rwlock_unlock(&index->lock);
    return has_grown;
}

/* ---- questions ---- */

/* What one question needs on its way down. */
typedef struct descent {
    const sb_track *track;
    const view_row *row;
    const view_window *window;
    int64_t horizon; /* where open zones are drawn to */
    uint16_t depth;
    sb_vector *spans;
    view_span run; /* narrow zones so far; count 0: none */
    int64_t run_weight;
    bool is_full;
} descent;

static void emit(descent *down, const view_span *span) {
    if (down->spans->count >= VIEW_SPANS) {
        down->is_full = true;
        return;
    }
    *(view_span *)sb_vector_push(down->spans) = *span;
}

static void end_run(descent *down) {
    if (down->run.count > 0)
        emit(down, &down->run);
    down->run.count = 0;
}

/*
 * Adds something narrow to the run. A run is at most a few pixels long, so that a busy stretch
 * keeps some of its texture instead of becoming one bar of one colour.
 */
static void add_to_run(descent *down, const view_span *narrow, int64_t weight) {
    enum { RUN_PIXELS = 4 };
    const int64_t grain = down->window->grain;
    view_span *run = &down->run;
    const bool joins = run->count > 0 && view_length_between(run->end, narrow->start) < grain &&
                       view_length_between(run->start, narrow->end) / RUN_PIXELS < grain;
    if (!joins) {
        end_run(down);
        *run = *narrow;
        down->run_weight = weight;
        return;
    }
    run->end = narrow->end > run->end ? narrow->end : run->end;
    run->busy = view_clipped_sum(run->busy, narrow->busy);
    run->count += narrow->count;
    if (weight > down->run_weight) {
        run->source = narrow->source;
        run->zone = narrow->zone;
        down->run_weight = weight;
    }
}

static void visit_zone(descent *down, uint32_t zone) {
    const int64_t start = sb_track_zone_start(down->track, zone);
    const int64_t raw_end = drawn_end(down->track, zone, start);
    const bool is_open = raw_end == INT64_MAX;
    const int64_t end = is_open && down->horizon > start ? down->horizon
                        : is_open                        ? start
                                                         : raw_end;
    const sb_range range = down->window->range;
    if (start >= range.to || (end <= range.from && start < range.from))
        return;
    const view_span span = {.start = start,
                            .end = end,
                            .busy = view_length_between(start, end),
                            .source = sb_track_zone_source(down->track, zone),
                            .zone = zone,
                            .count = 1,
                            .depth = down->depth,
                            .is_open = is_open};
    if (span.busy < down->window->grain) {
        add_to_run(down, &span, span.busy);
        return;
    }
    end_run(down);
    emit(down, &span);
}

static void visit_leaf(descent *down, uint64_t leaf) {
    const uint64_t first = leaf * VIEW_LEAF_ZONES;
    const uint64_t end = first + VIEW_LEAF_ZONES;
    for (uint64_t i = first; i < end && i < down->row->count && !down->is_full; i++)
        visit_zone(down, zone_at(down->row, i));
}

/* How many zones a node stands for. */
static uint32_t node_count(const view_row *row, size_t level, uint64_t place) {
    uint64_t zones = VIEW_LEAF_ZONES;
    for (size_t i = 0; i < level; i++)
        zones *= VIEW_NODE_CHILDREN;
    const uint64_t first = place * zones;
    const uint64_t left = row->count - first;
    return (uint32_t)(left < zones ? left : zones);
}

static void visit_node(descent *down, size_t level, uint64_t place) {
    const view_node *node = sb_series_at(level_of(down->row, level), place);
    const sb_range range = down->window->range;
    if (down->is_full || node->start >= range.to ||
        (node->end <= range.from && node->start < range.from))
        return;
    if (view_length_between(node->start, node->end) < down->window->grain) {
        const view_span narrow = {.start = node->start,
                                  .end = node->end,
                                  .busy = node->busy,
                                  .source = node->source,
                                  .zone = node->zone,
                                  .count = node_count(down->row, level, place),
                                  .depth = down->depth};
        add_to_run(down, &narrow, node->weight);
        return;
    }
    if (level == 0) {
        visit_leaf(down, place);
        return;
    }
    const uint64_t first = place * VIEW_NODE_CHILDREN;
    const uint64_t count = sb_series_count(level_of(down->row, level - 1));
    for (uint64_t i = first; i < first + VIEW_NODE_CHILDREN && i < count; i++)
        visit_node(down, level - 1, i);
}

static bool visit_row(descent *down) {
    if (down->row->levels.count == 0)
        visit_leaf(down, 0);
    else
        visit_node(down, down->row->levels.count - 1, 0);
    end_run(down);
    return !down->is_full;
}

static bool collect(view_index *index, uint32_t number, const view_window *window, size_t rows,
                    sb_vector *spans) {
    assert(window->grain >= 1);
    bool is_complete = true;
    pthread_rwlock_rdlock(&index->lock);
    if (number < index->tracks.count) {
        const view_track *track = sb_vector_at(&index->tracks, number);
        for (size_t i = 0; i < track->rows.count && i < rows && is_complete; i++) {
            descent down = {.track = sb_trace_track(index->trace, number),
                            .row = sb_vector_at(&track->rows, i),
                            .window = window,
                            .horizon = index->end,
                            .depth = (uint16_t)i,
                            .spans = spans};
            is_complete = visit_row(&down);
        }
    }
    pthread_rwlock_unlock(&index->lock);
    return is_complete;
}

bool view_index_spans(view_index *index, uint32_t track, const view_window *window,
                      sb_vector *spans) {
    return collect(index, track, window, VIEW_DEPTHS, spans);
}

bool view_index_roots(view_index *index, uint32_t track, const view_window *window,
                      sb_vector *spans) {
    return collect(index, track, window, 1, spans);
}

/* The place of a zone in its row, which is in order of start; the count if it is not there. */
static uint64_t place_in_row(const view_row *row, const sb_track *track, uint32_t zone) {
    const int64_t start = sb_track_zone_start(track, zone);
    uint64_t low = 0;
    uint64_t high = row->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (sb_track_zone_start(track, zone_at(row, middle)) < start)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < row->count && zone_at(row, low) != zone)
        low++;
    return low;
}

void view_index_neighbours(view_index *index, uint32_t number, uint32_t zone, uint32_t *before,
                           uint32_t *after) {
    size_t depth = 0;
    const sb_track *zones = sb_trace_track(index->trace, number);
    for (uint32_t outer = zone; (outer = sb_track_zone_parent(zones, outer)) != SB_NONE;)
        depth++;
    *before = *after = SB_NONE;
    pthread_rwlock_rdlock(&index->lock);
    const view_track *track =
        number < index->tracks.count ? sb_vector_at(&index->tracks, number) : NULL;
    if (track != NULL && depth < track->rows.count && zone < track->indexed) {
        const view_row *row = sb_vector_at(&track->rows, depth);
        const uint64_t place = place_in_row(row, zones, zone);
        if (place > 0 && place < row->count)
            *before = zone_at(row, place - 1);
        if (place + 1 < row->count)
            *after = zone_at(row, place + 1);
    }
    pthread_rwlock_unlock(&index->lock);
}

unsigned view_index_depth(view_index *index, uint32_t track) {
    pthread_rwlock_rdlock(&index->lock);
    size_t depth = 0;
    if (track < index->tracks.count)
        depth = ((view_track *)sb_vector_at(&index->tracks, track))->rows.count;
    pthread_rwlock_unlock(&index->lock);
    return (unsigned)depth;
}

bool view_index_extent(view_index *index, uint32_t number, sb_range *extent) {
    bool found = false;
    pthread_rwlock_rdlock(&index->lock);
    if (number < index->tracks.count) {
        const view_track *track = sb_vector_at(&index->tracks, number);
        const sb_track *zones = sb_trace_track(index->trace, number);
        for (size_t i = 0; i < track->rows.count; i++) {
            const view_node top = top_node(sb_vector_at(&track->rows, i), zones);
            const int64_t end = top.end == INT64_MAX ? index->end : top.end;
            extent->from = !found || top.start < extent->from ? top.start : extent->from;
            extent->to = !found || end > extent->to ? end : extent->to;
            found = true;
        }
    }
    pthread_rwlock_unlock(&index->lock);
    return found;
}

uint64_t view_index_too_deep(view_index *index, uint32_t track) {
    pthread_rwlock_rdlock(&index->lock);
    uint64_t count = 0;
    if (track < index->tracks.count)
        count = ((view_track *)sb_vector_at(&index->tracks, track))->too_deep;
    pthread_rwlock_unlock(&index->lock);
    return count;
}

int64_t view_index_end(view_index *index) {
    pthread_rwlock_rdlock(&index->lock);
    const int64_t end = index->end;
    pthread_rwlock_unlock(&index->lock);
    return end < VIEW_TIME_MOST ? end : VIEW_TIME_MOST;
}
