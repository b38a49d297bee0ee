#include "view/view_model.h"

#include "view/view_kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of a trace that grows, what will not change. */
static uint64_t identify(sb_view *view) {
    const sb_trace *trace = view->trace;
    const sb_trace_info *info = &trace->info;
    const uint64_t zones =
        view->is_live ? 0 : sb_trace_zone_count(trace, false) + sb_trace_zone_count(trace, true);
    const sb_slice text =
        sb_arena_format(&view->arena, "%.*s\n%.*s\n%" PRIu64 "\n%" PRIu64 "\n%" PRIu64,
                        (int)view->name.size, view->name.data, (int)info->program.size,
                        info->program.data, info->captured_at, info->process_id, zones);
    return sb_hash(text, 0);
}

sb_view *sb_view_create(const sb_view_source *source) {
    sb_view *view = sb_alloc_zeroed(1, sizeof *view);
    view->trace = source->trace;
    view->ops = source->ops;
    view->is_live = source->is_live;
    view->name = sb_arena_copy(&view->arena, sb_slice_of(source->name));
    view->version = sb_arena_copy(&view->arena, sb_slice_of(source->version));
    if (source->damage != NULL)
        view->damage = sb_arena_copy(&view->arena, sb_slice_of(source->damage));
    if (source->transfers != NULL)
        view->transfers = sb_arena_format(&view->arena, "%s", source->transfers);
    view->facts = source->facts;
    view->fact_count = source->fact_count;
    view->identity = identify(view);
    view_index_init(&view->own_index, source->trace);
    view->index = source->kept != NULL ? &source->kept->index : &view->own_index;
    view->revision = source->kept != NULL ? 1 : 0;
    pthread_mutex_init(&view->heavy, NULL);
    pthread_mutex_init(&view->events, NULL);
    pthread_mutex_init(&view->derived, NULL);
    view->curves = sb_vector_of(sizeof(view_curve *));
    view->runs = sb_vector_of(sizeof(view_run));
    sb_idmap_init(&view->kernels);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&view->grown, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return view;
}

void sb_view_free(sb_view *view) {
    if (view == NULL)
        return;
    view_index_free(&view->own_index);
    free(view->whole_stats[0]);
    free(view->whole_stats[1]);
    pthread_mutex_destroy(&view->heavy);
    pthread_mutex_destroy(&view->events);
    pthread_mutex_destroy(&view->derived);
    for (size_t i = 0; i < view->curves.count; i++)
        view_curve_free(*(view_curve **)sb_vector_at(&view->curves, i));
    sb_vector_free(&view->curves);
    view_noc_free(view->noc);
    sb_vector_free(&view->runs);
    sb_idmap_free(&view->kernels);
    pthread_cond_destroy(&view->grown);
    sb_arena_free(&view->arena);
    free(view);
}

static void tell_pages(sb_view *view) {
    pthread_mutex_lock(&view->events);
    view->revision++;
    pthread_cond_broadcast(&view->grown);
    pthread_mutex_unlock(&view->events);
}

/* A trace that still grows may get ops that are not whole yet. */
static void find_ops(sb_view *view) {
    if (view->index == &view->own_index)
        sb_trace_find_ops(view->trace);
    view_find_runs(view);
}

void sb_view_index(sb_view *view, sb_view_progress progress, void *context) {
    if (!view->is_live)
        find_ops(view);
    if (view->index == &view->own_index && view_index_extend(view->index, progress, context))
        tell_pages(view);
}

void sb_view_end_live(sb_view *view, const char *damage) {
    view_index_extend(view->index, NULL, NULL);
    find_ops(view);
    pthread_mutex_lock(&view->events);
    view->is_live = false;
    view->has_ended = true;
    if (damage != NULL)
        view->damage = sb_arena_copy(&view->arena, sb_slice_of(damage));
    pthread_mutex_unlock(&view->events);
    tell_pages(view);
}

view_state view_state_of(sb_view *view) {
    pthread_mutex_lock(&view->events);
    const view_state state = {.revision = view->revision,
                              .is_live = view->is_live,
                              .has_ended = view->has_ended,
                              .damage = view->damage};
    pthread_mutex_unlock(&view->events);
    return state;
}

size_t view_write_news(sb_view *view, char text[VIEW_NEWS_SIZE]) {
    const view_state state = view_state_of(view);
    return (size_t)snprintf(text, VIEW_NEWS_SIZE,
                            "{\"id\":\"%016" PRIx64 "\",\"revision\":%" PRIu64 ",\"end\":%" PRId64
                            ",\"live\":%s}",
                            view->identity, state.revision, view_index_end(view->index),
                            state.is_live ? "true" : "false");
}

uint64_t view_wait(sb_view *view, uint64_t known, unsigned timeout_ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t ns = until.tv_nsec + (int64_t)timeout_ms * 1000000;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_mutex_lock(&view->events);
    int expired = 0;
    while (view->revision == known && expired == 0)
        expired = pthread_cond_timedwait(&view->grown, &view->events, &until);
    const uint64_t revision = view->revision;
    pthread_mutex_unlock(&view->events);
    return revision;
}
