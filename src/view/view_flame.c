/*
 * The answer for the flame graph: time by path of sources, all tracks on top of each other.
 *
 * Zones come in pre-order, so the path to a zone is the path of its parent and its own source. A
 * path is a node; its children are a list in which the one used last stands first, since calls
 * repeat.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "view/view_call.h"

enum {
    FLAME_NODES = 1000000, /* paths beyond are counted with their parent */
    FLAME_SHOWN = 5000,    /* the heaviest are sent */
};

typedef struct flame_node {
    uint32_t parent;
    uint32_t source;
    uint32_t child;   /* the first of its children; 0: none */
    uint32_t sibling; /* the next child of its parent; 0: none */
    uint64_t count;
    int64_t total;  /* within the range */
    int64_t inside; /* of its children */
} flame_node;

typedef struct flame {
    sb_range range;
    sb_vector nodes; /* flame_node; the first is the root of all */
    sb_vector path;  /* path_step: zones around the current one */
} flame;

typedef struct path_step {
    uint32_t zone;
    uint32_t node;
} path_step;

static flame_node *node_at(const flame *graph, uint32_t number) {
    return sb_vector_at(&graph->nodes, number);
}

static uint32_t child_of(flame *graph, uint32_t parent, uint32_t source) {
    uint32_t before = 0;
    for (uint32_t i = node_at(graph, parent)->child; i != 0; i = node_at(graph, i)->sibling) {
        flame_node *child = node_at(graph, i);
        if (child->source != source) {
            before = i;
            continue;
        }
        if (before != 0) {
            node_at(graph, before)->sibling = child->sibling;
            child->sibling = node_at(graph, parent)->child;
            node_at(graph, parent)->child = i;
        }
        return i;
    }
    if (graph->nodes.count >= FLAME_NODES)
        return parent;
    const uint32_t number = (uint32_t)graph->nodes.count;
    flame_node *added = sb_vector_push(&graph->nodes);
    *added = (flame_node){parent, source, 0, node_at(graph, parent)->child, 0, 0, 0};
    node_at(graph, parent)->child = number;
    return number;
}

static uint32_t enclosing_node(flame *graph, uint32_t parent) {
    while (graph->path.count > 0) {
        const path_step *step = sb_vector_at(&graph->path, graph->path.count - 1);
        if (step->zone == parent)
            return step->node;
        graph->path.count--;
    }
    return 0;
}

static bool add_zone(void *context, const sb_track *track, uint32_t zone) {
    flame *graph = context;
    const int64_t start = sb_track_zone_start(track, zone);
    const int64_t end = sb_track_zone_end(track, zone);
    const uint32_t parent = enclosing_node(graph, sb_track_zone_parent(track, zone));
    const uint32_t number = child_of(graph, parent, sb_track_zone_source(track, zone));
    *(path_step *)sb_vector_push(&graph->path) = (path_step){zone, number};
    if (end == SB_NO_TIME || number == parent)
        return true;
    const int64_t length = view_length_in(graph->range, start, end);
    flame_node *node = node_at(graph, number);
    node->count++;
    node->total = view_clipped_sum(node->total, length);
    flame_node *around = node_at(graph, parent);
    around->inside = view_clipped_sum(around->inside, length);
    return true;
}

/* ---- sending ---- */

static int compare_totals(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

/* What a node must last at least to be among those that are sent. */
static int64_t least_shown(const flame *graph) {
    if (graph->nodes.count <= FLAME_SHOWN)
        return 0;
    int64_t *totals = sb_alloc_zeroed(graph->nodes.count, sizeof *totals);
    for (size_t i = 0; i < graph->nodes.count; i++)
        totals[i] = node_at(graph, (uint32_t)i)->total;
    qsort(totals, graph->nodes.count, sizeof *totals, compare_totals);
    const int64_t least = totals[FLAME_SHOWN] + 1;
    free(totals);
    return least;
}

/* A parent lasts as long as its children, so whoever is sent follows its parent. */
static void put_nodes(sb_output *output, const flame *graph) {
    const int64_t least = least_shown(graph);
    uint32_t *places = sb_alloc_zeroed(graph->nodes.count, sizeof *places);
    uint32_t written = 0;
    for (uint32_t i = 1; i < graph->nodes.count; i++) {
        const flame_node *node = node_at(graph, i);
        const bool has_parent = node->parent == 0 || places[node->parent] != 0;
        if (node->total < least || !has_parent)
            continue;
        places[i] = ++written;
        sb_put_format(output, "%s[%u,%u,%" PRIu64 ",%" PRId64 ",%" PRId64 "]",
                      written == 1 ? "" : ",", places[node->parent], node->source, node->count,
                      node->total, node->total - node->inside);
    }
    free(places);
}

sb_status view_answer_flame(view_call *call) {
    uint32_t only = SB_NONE;
    flame graph = {.nodes = sb_vector_of(sizeof(flame_node)),
                   .path = sb_vector_of(sizeof(path_step))};
    SB_TRY(view_call_range(call, &graph.range));
    SB_TRY(view_call_track(call, &only));
    const bool devices = view_call_flag(call, "devices");
    const sb_trace *trace = call->view->trace;
    sb_vector_push(&graph.nodes);
    pthread_mutex_lock(&call->view->heavy);
    const uint64_t tracks = sb_series_count(&trace->tracks);
    for (uint64_t i = 0; i < tracks; i++) {
        const sb_track *track = sb_trace_track(trace, i);
        const bool is_wanted =
            only == SB_NONE ? (track->kind == SB_TRACK_LANE) == devices : i == only;
        if (!is_wanted)
            continue;
        sb_vector_clear(&graph.path);
        sb_track_visit(track, graph.range, add_zone, &graph);
    }
    pthread_mutex_unlock(&call->view->heavy);
    sb_put_format(call->body, "{\"paths\":%zu,\"nodes\":[", graph.nodes.count - 1);
    put_nodes(call->body, &graph);
    sb_put_text(call->body, "]}");
    sb_vector_free(&graph.nodes);
    sb_vector_free(&graph.path);
    return SB_OK;
}
