/*
 * Making and filling a trace.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/trace_model.h"
#include "trace/trace_track.h"

static sb_trace *create_in(sb_store *store) {
    sb_trace *trace = sb_alloc_zeroed(1, sizeof *trace);
    trace->store = store;
    sb_series_init(&trace->strings, sizeof(sb_slice), trace->store);
    sb_series_init(&trace->sources, sizeof(sb_source), NULL);
    sb_series_init(&trace->processes, sizeof(sb_process), NULL);
    sb_series_init(&trace->threads, sizeof(sb_thread), NULL);
    sb_series_init(&trace->tracks, sizeof(sb_track), NULL);
    sb_series_init(&trace->contexts, sizeof(sb_context), NULL);
    sb_series_init(&trace->notes, sizeof(sb_zone_note), trace->store);
    sb_series_init(&trace->ops, sizeof(sb_op), trace->store);
    sb_series_init(&trace->op_kernels, sizeof(sb_op_kernel), trace->store);
    sb_series_init(&trace->messages, sizeof(sb_message), trace->store);
    sb_series_init(&trace->frame_sets, sizeof(sb_frame_set), NULL);
    sb_series_init(&trace->plots, sizeof(sb_plot), NULL);
    sb_series_init(&trace->pools, sizeof(sb_memory_pool), NULL);
    sb_series_init(&trace->locks, sizeof(sb_lock), NULL);
    sb_series_init(&trace->losses, sizeof(sb_loss), NULL);
    sb_series_init(&trace->strangers, sizeof(sb_stranger), NULL);
    sb_series_init(&trace->app_info, sizeof(sb_string), NULL);
    sb_intern_init(&trace->interned);
    trace->interned_numbers = sb_vector_of(sizeof(sb_string));
    trace->thread_numbers = sb_alloc(sizeof *trace->thread_numbers);
    sb_idmap_init(trace->thread_numbers);
    trace->info.timer_multiplier = 1;
    /* Number 0 of each of these means that there is none. */
    sb_series_push(&trace->strings);
    sb_series_push(&trace->sources);
    sb_series_push(&trace->notes);
    sb_series_push(&trace->processes);
    sb_trace_thread(trace, 0);
    return trace;
}

sb_trace *sb_trace_create(void) {
    sb_store *store = NULL;
    sb_store_create(NULL, &store, NULL); /* cannot fail without a file */
    return create_in(store);
}

sb_status sb_trace_create_bounded(const sb_trace_bound *bound, sb_trace **trace, sb_error *error) {
    sb_store *store = NULL;
    *trace = NULL;
    SB_TRY(sb_store_create(bound, &store, error));
    *trace = create_in(store);
    return SB_OK;
}

void sb_trace_trim(const sb_trace *trace) {
    sb_store_trim(trace->store);
}

/* ---- freeing ---- */

static void free_track(sb_track *track) {
    sb_series *const all[] = {&track->start,       &track->duration,  &track->source,
                              &track->parent,      &track->note,      &track->long_end,
                              &track->issue_start, &track->issue_end, &track->issuer,
                              &track->callstack,   &track->query};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sb_series_free(all[i]);
}

static void free_context(sb_context *context) {
    sb_series_free(&context->clocks);
    sb_series_free(&context->value_names);
    sb_series_free(&context->values);
    sb_series_free(&context->markers);
}

static void free_members(sb_trace *trace) {
    for (uint64_t i = 0; i < trace->tracks.count; i++)
        free_track(sb_series_at(&trace->tracks, i));
    for (uint64_t i = 0; i < trace->contexts.count; i++)
        free_context(sb_series_at(&trace->contexts, i));
    for (uint64_t i = 0; i < trace->frame_sets.count; i++)
        sb_series_free(&((sb_frame_set *)sb_series_at(&trace->frame_sets, i))->frames);
    for (uint64_t i = 0; i < trace->plots.count; i++)
        sb_series_free(&((sb_plot *)sb_series_at(&trace->plots, i))->points);
    for (uint64_t i = 0; i < trace->pools.count; i++)
        sb_series_free(&((sb_memory_pool *)sb_series_at(&trace->pools, i))->events);
    for (uint64_t i = 0; i < trace->locks.count; i++) {
        sb_lock *lock = sb_series_at(&trace->locks, i);
        sb_series_free(&lock->threads);
        sb_series_free(&lock->events);
    }
}

void sb_trace_free(sb_trace *trace) {
    if (trace == NULL)
        return;
    free_members(trace);
    sb_series *const all[] = {&trace->strings, &trace->sources,   &trace->processes,
                              &trace->threads, &trace->tracks,    &trace->contexts,
                              &trace->notes,   &trace->messages,  &trace->frame_sets,
                              &trace->plots,   &trace->pools,     &trace->locks,
                              &trace->losses,  &trace->strangers, &trace->app_info,
                              &trace->ops,     &trace->op_kernels};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sb_series_free(all[i]);
    sb_intern_free(&trace->interned);
    sb_vector_free(&trace->interned_numbers);
    sb_idmap_free(trace->thread_numbers);
    free(trace->thread_numbers);
    sb_arena_free(&trace->arena);
    sb_store_free(trace->store);
    free(trace);
}

/* ---- names ---- */

sb_string sb_trace_place_string(sb_trace *trace, sb_slice text) {
    assert(trace->strings.count < SB_NONE);
    const sb_string number = (sb_string)trace->strings.count;
    sb_series_add(&trace->strings, &text);
    return number;
}

sb_string sb_trace_add_string(sb_trace *trace, sb_slice text) {
    return sb_trace_place_string(trace, sb_arena_copy(&trace->arena, text));
}

sb_string sb_trace_string(sb_trace *trace, sb_slice text) {
    const uint32_t index = sb_intern_add(&trace->interned, text);
    if (index < trace->interned_numbers.count)
        return *(sb_string *)sb_vector_at(&trace->interned_numbers, index);
    const sb_string number = sb_trace_place_string(trace, sb_intern_text(&trace->interned, index));
    *(sb_string *)sb_vector_push(&trace->interned_numbers) = number;
    return number;
}

uint32_t sb_trace_add_source(sb_trace *trace, const sb_source *source) {
    assert(trace->sources.count < SB_NONE);
    const uint32_t number = (uint32_t)trace->sources.count;
    sb_series_add(&trace->sources, source);
    return number;
}

uint32_t sb_trace_find_thread(const sb_trace *trace, uint64_t id) {
    uint32_t number = 0;
    sb_idmap_get(trace->thread_numbers, id, &number);
    return number;
}

uint32_t sb_trace_thread(sb_trace *trace, uint64_t id) {
    uint32_t number = 0;
    if (sb_idmap_get(trace->thread_numbers, id, &number))
        return number;
    assert(trace->threads.count < SB_NONE);
    number = (uint32_t)trace->threads.count;
    sb_thread *thread = sb_series_slot(&trace->threads, number);
    *thread = (sb_thread){.id = id};
    sb_series_publish(&trace->threads, number + UINT64_C(1));
    sb_idmap_set(trace->thread_numbers, id, number);
    return number;
}

/* ---- what holds other things ---- */

sb_track *sb_trace_add_track(sb_trace *trace, sb_track_kind kind, uint32_t thread,
                             uint32_t context) {
    assert(thread < trace->threads.count);
    assert((kind == SB_TRACK_LANE) == (context != SB_NONE));
    const uint64_t number = trace->tracks.count;
    sb_track *track = sb_series_slot(&trace->tracks, number);
    *track = (sb_track){.kind = kind,
                        .thread = thread,
                        .context = context,
                        .open = SB_NONE,
                        .last_start = INT64_MIN,
                        .latest_end = INT64_MIN};
    track->lane_id = sb_trace_thread_at(trace, thread)->id;
    sb_series_init(&track->start, sizeof(int64_t), trace->store);
    sb_series_init(&track->duration, sizeof(uint32_t), trace->store);
    sb_series_init(&track->source, sizeof(uint32_t), trace->store);
    sb_series_init(&track->parent, sizeof(uint32_t), trace->store);
    sb_series_init(&track->note, sizeof(uint32_t), trace->store);
    sb_series_init(&track->long_end, sizeof(int64_t), trace->store);
    sb_series_init(&track->issue_start, sizeof(int64_t), trace->store);
    sb_series_init(&track->issue_end, sizeof(int64_t), trace->store);
    sb_series_init(&track->issuer, sizeof(uint32_t), trace->store);
    sb_series_init(&track->callstack, sizeof(uint32_t), trace->store);
    sb_series_init(&track->query, sizeof(uint32_t), trace->store);
    sb_series_publish(&trace->tracks, number + 1);
    return track;
}

sb_context *sb_trace_add_context(sb_trace *trace) {
    const uint64_t number = trace->contexts.count;
    sb_context *context = sb_series_slot(&trace->contexts, number);
    *context = (sb_context){.period = 1, .type = 3, .calibrated = true};
    sb_series_init(&context->clocks, sizeof(sb_clock_pair), NULL);
    sb_series_init(&context->value_names, sizeof(sb_value_name), NULL);
    sb_series_init(&context->values, sizeof(sb_device_value), trace->store);
    sb_series_init(&context->markers, sizeof(sb_device_marker), trace->store);
    sb_series_publish(&trace->contexts, number + 1);
    return context;
}

sb_frame_set *sb_trace_add_frame_set(sb_trace *trace, sb_string name, bool continuous) {
    const uint64_t number = trace->frame_sets.count;
    sb_frame_set *set = sb_series_slot(&trace->frame_sets, number);
    *set = (sb_frame_set){.name = name, .continuous = continuous};
    sb_series_init(&set->frames, sizeof(sb_frame), trace->store);
    sb_series_publish(&trace->frame_sets, number + 1);
    return set;
}

sb_plot *sb_trace_add_plot(sb_trace *trace, sb_string name) {
    const uint64_t number = trace->plots.count;
    sb_plot *plot = sb_series_slot(&trace->plots, number);
    *plot = (sb_plot){.name = name, .fill = 1};
    sb_series_init(&plot->points, sizeof(sb_plot_point), trace->store);
    sb_series_publish(&trace->plots, number + 1);
    return plot;
}

sb_memory_pool *sb_trace_add_pool(sb_trace *trace, sb_string name) {
    const uint64_t number = trace->pools.count;
    sb_memory_pool *pool = sb_series_slot(&trace->pools, number);
    *pool = (sb_memory_pool){.name = name};
    sb_series_init(&pool->events, sizeof(sb_memory_event), trace->store);
    sb_series_publish(&trace->pools, number + 1);
    return pool;
}

sb_lock *sb_trace_add_lock(sb_trace *trace, uint32_t id) {
    const uint64_t number = trace->locks.count;
    sb_lock *lock = sb_series_slot(&trace->locks, number);
    *lock = (sb_lock){.id = id, .valid = 1};
    sb_series_init(&lock->threads, sizeof(uint32_t), NULL);
    sb_series_init(&lock->events, sizeof(sb_lock_event), trace->store);
    sb_series_publish(&trace->locks, number + 1);
    return lock;
}

void sb_trace_add_message(sb_trace *trace, const sb_message *message) {
    sb_series_add(&trace->messages, message);
}

void sb_trace_add_loss(sb_trace *trace, const sb_loss *loss) {
    sb_series_add(&trace->losses, loss);
}

void sb_trace_add_origin(sb_trace *trace, sb_slice line) {
    const sb_string text = sb_trace_string(trace, line);
    sb_series_add(&trace->app_info, &text);
}

uint32_t sb_trace_add_op(sb_trace *trace, const sb_op *op) {
    assert(trace->ops.count < SB_NONE);
    sb_series_add(&trace->ops, op);
    return (uint32_t)(trace->ops.count - 1);
}

void sb_trace_add_op_kernel(sb_trace *trace, const sb_op_kernel *kernel) {
    assert(kernel->op < trace->ops.count);
    assert(kernel->track < trace->tracks.count);
    sb_series_add(&trace->op_kernels, kernel);
}

/* ---- zones ---- */

/* What a zone takes in the columns, given that its neighbours are like it. */
static uint64_t zone_bytes(const sb_track *track, uint64_t zone) {
    enum { HOST_BYTES = 16, LANE_BYTES = 52, COLUMN_BYTES = 4 };
    if (track->kind == SB_TRACK_LANE)
        return LANE_BYTES;
    const bool has_parents = sb_series_find(&track->parent, zone) != NULL;
    const bool has_notes = sb_series_find(&track->note, zone) != NULL;
    return HOST_BYTES + (has_parents ? COLUMN_BYTES : 0) + (has_notes ? COLUMN_BYTES : 0);
}

/*
 * All columns have the same segments, so that one count says when the next ones are needed. Long
 * ones are taken in pieces, to tell the store how much was written.
 */
void track_renew_tail(sb_track *track) {
    enum { PIECE = 16384 };
    const uint64_t zone = track->zone_count;
    const uint64_t run = sb_series_run(zone);
    const uint64_t written = zone - track->tail.piece;
    if (written > 0)
        sb_store_wrote(track->start.store, written * zone_bytes(track, zone - 1));
    track->tail = (struct sb_zone_tail){.start = sb_series_slot(&track->start, zone),
                                        .duration = sb_series_slot(&track->duration, zone),
                                        .source = sb_series_slot(&track->source, zone),
                                        .parent = sb_series_find(&track->parent, zone),
                                        .first = zone - sb_series_locate(zone).offset,
                                        .piece = zone,
                                        .left = run < PIECE ? run : PIECE};
}

uint32_t track_long_mark(sb_track *track, uint32_t zone, int64_t end) {
    if (end == SB_NO_TIME)
        return SB_ZONE_OPEN;
    *(int64_t *)sb_series_slot(&track->long_end, zone) = end;
    return SB_ZONE_LONG;
}

uint32_t sb_track_begin(sb_track *track, int64_t start, uint32_t source) {
    return track_is_full(track) ? SB_NONE : track_begin(track, start, source);
}

uint32_t sb_track_add(sb_track *track, int64_t start, int64_t end, uint32_t source) {
    return track_is_full(track) ? SB_NONE : track_add(track, start, end, source);
}

void sb_track_end(sb_track *track, int64_t end) {
    if (track->open != SB_NONE)
        track_end(track, end);
}

void sb_track_annotate(sb_trace *trace, sb_track *track, uint32_t zone, const sb_zone_note *note) {
    assert(zone < track->zone_count);
    assert(trace->notes.count < SB_NONE);
    const uint32_t number = (uint32_t)trace->notes.count;
    sb_series_add(&trace->notes, note);
    __atomic_store_n((uint32_t *)sb_series_slot(&track->note, zone), number, __ATOMIC_RELEASE);
}
