/*
 * One look at a context: copy what is taken, fit clocks, tell what is new, give chunks back.
 */
#include <stdlib.h>

#include "base/base.h"
#include "cuda/cuda_context.h"
#include "cuda/cuda_observe.h"

/* Kernels that run write while we look. What is older than this was written before. */
#define SETTLED_NS 200000
/* What has ended is told even if clocks are off by a little. */
#define SLACK_NS 1000000

/*
 * A chunk in which nothing happens is looked at every 2^IDLE_MOST-th time. Whenever one is looked
 * at, so are all that are looked at more often: a zone's end is not told before the zones inside
 * it, which may lie in another chunk.
 */
enum { IDLE_MOST = 5 };

/* False: there is nothing new in the chunks that were copied. */
static bool fit_clocks(cuda_context *context) {
    const cuda_pool *pool = &context->pool;
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        if (cuda_pool_is_copied(pool, i))
            cuda_decode_range(cuda_pool_records(pool, i), &pool->chunks[i].told, &first, &last);
    cuda_fit_begin(&context->fit, first <= last ? first : 0, last);
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        if (cuda_pool_is_copied(pool, i))
            cuda_decode_anchors(cuda_pool_records(pool, i), &pool->chunks[i].told, &context->fit);
    cuda_fit_finish(&context->fit);
    return first <= last;
}

static void count_event(cuda_context *context, const cuda_event *event) {
    const bool is_nowhere = event->kind == CUDA_NOWHERE;
    if (event->kind == CUDA_BEGIN || event->kind == CUDA_WHOLE_SPAN || is_nowhere)
        context->counts.zones++;
    else if (event->kind != CUDA_END)
        context->counts.others++;
    context->counts.cut += event->is_cut ? 1 : 0;
    context->counts.unplaced += is_nowhere ? 1 : 0;
}

/* A GPU that is shared in parts may number SMs beyond those that it says it has. */
static void warn_of_nowhere(cuda_context *context, const cuda_event *event) {
    if (context->is_told_of_nowhere || event->owner.sm < context->pool.options.sm_count)
        return;
    context->is_told_of_nowhere = true;
    cuda_say("GPU %d: zones of SM %u are counted and not shown: the driver says that there are %u",
             context->device, event->owner.sm, context->pool.options.sm_count);
}

/* Room for one more of an SM's events. */
static bool has_room(cuda_context *context) {
    if (context->event_count < context->event_capacity)
        return true;
    const size_t capacity = context->event_capacity == 0 ? 4096 : 2 * context->event_capacity;
    cuda_event *grown = realloc(context->events, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    context->events = grown;
    context->event_capacity = capacity;
    return true;
}

static void take_event(void *of, const cuda_event *event) {
    cuda_context *context = of;
    count_event(context, event);
    if (event->kind == CUDA_NOWHERE) {
        warn_of_nowhere(context, event);
        return;
    }
    /* Names are read while that can be done: after a trap it cannot. */
    if (event->kind != CUDA_END && event->kind != CUDA_NUMBER)
        (void)cuda_context_place(context, event->place);
    cuda_log_event(context, event);
    if (!context->is_recorded)
        return;
    if (has_room(context))
        context->events[context->event_count++] = *event;
    else if (event->kind != CUDA_END)
        context->counts.unplaced++;
}

/* Up to when what is known is told, and before when what was launched has ended; global timer. */
typedef struct look_times {
    int64_t until;
    int64_t over;
} look_times;

static void tell_chunk(cuda_context *context, uint32_t number, const look_times *times) {
    cuda_pool_chunk *chunk = &context->pool.chunks[number];
    const bool is_over = context->is_dead || chunk->is_forgotten;
    const sb_cuda_record *records = cuda_pool_records(&context->pool, number);
    const cuda_chunk before = chunk->told;
    cuda_decode_events(records, &chunk->told, number, &context->fit, times->until,
                       is_over ? CUDA_FOREVER : times->over, take_event, context);
    if (is_over)
        cuda_decode_abandon(records, &chunk->told, number, times->until, take_event, context);
    if (chunk->told.begun != before.begun || chunk->told.ended != before.ended)
        chunk->idle = 0;
    else if (chunk->idle < IDLE_MOST)
        chunk->idle++;
}

/* Chunks by the SM that wrote them: one may have taken another's. */
static void tell_sm(cuda_context *context, uint32_t sm, const uint32_t *chunks, size_t count,
                    const look_times *times) {
    context->event_count = 0;
    for (size_t i = 0; i < count; i++)
        tell_chunk(context, chunks[i], times);
    const cuda_lane_sink sink = cuda_observed_sink(context, sm);
    cuda_lanes_put(&context->lanes[sm], context->events, context->event_count, &sink);
}

/* The SM that a chunk is told with; those that are not known draw theirs from the first one's ring,
   and so may share them with it. False: it is empty, or not looked at. */
static bool sm_of_chunk(const cuda_pool *pool, uint32_t chunk, uint32_t *sm) {
    if (!cuda_pool_is_copied(pool, chunk) || !cuda_decode_sm(cuda_pool_records(pool, chunk), sm))
        return false;
    if (*sm >= pool->options.sm_count)
        *sm = 0;
    return true;
}

/* Taken chunks, sorted by SM: starts[sm] is where those of an SM begin. False: no memory. */
static bool sort_chunks(const cuda_context *context, uint32_t **sorted, uint32_t **starts) {
    const cuda_pool *pool = &context->pool;
    const uint32_t sms = pool->options.sm_count;
    uint32_t sm;
    *sorted = calloc(pool->chunk_count, sizeof **sorted);
    *starts = calloc(sms + 2, sizeof **starts);
    if (*sorted == NULL || *starts == NULL)
        return false;
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        if (sm_of_chunk(pool, i, &sm))
            (*starts)[sm + 2]++;
    for (uint32_t i = 2; i < sms + 2; i++)
        (*starts)[i] += (*starts)[i - 1];
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        if (sm_of_chunk(pool, i, &sm))
            (*sorted)[(*starts)[sm + 1]++] = i;
    return true;
}

/* Where nobody wants to see lanes any more, ends of what is open in them will not be told. */
static void note_recording(cuda_context *context) {
    const bool is_recorded = cuda_tracks_is_recording() || cuda_is_observed();
    for (uint32_t sm = 0; !is_recorded && sm < context->pool.options.sm_count; sm++)
        cuda_lanes_forget(&context->lanes[sm]);
    context->is_recorded = is_recorded;
}

/* False: there is no memory for it now. */
static bool tell(cuda_context *context, const look_times *times) {
    uint32_t *sorted = NULL;
    uint32_t *starts = NULL;
    note_recording(context);
    const bool is_sorted = sort_chunks(context, &sorted, &starts);
    for (uint32_t sm = 0; is_sorted && sm < context->pool.options.sm_count; sm++)
        tell_sm(context, sm, sorted + starts[sm], starts[sm + 1] - starts[sm], times);
    free(sorted);
    free(starts);
    return is_sorted;
}

static void warn_of_loss(cuda_context *context) {
    if (context->pool.lost == 0 || context->is_told_of_loss)
        return;
    context->is_told_of_loss = true;
    cuda_say("GPU %d: zones find no room and are lost, and counted; record fewer "
             "(STROBE_CUDA_SAMPLE), give more memory (STROBE_CUDA_CHUNKS, now %u), or see "
             "STROBE_CUDA_WAIT if kernels have no main zone",
             context->device, context->pool.options.chunks_per_sm);
}

/*
 * Forgotten chunks are cleared once they are told, so this has to wait until all that is in them is
 * old enough to be told: they were last written to before the wait was over.
 */
static bool may_sweep(const cuda_context *context, cuda_look look, int64_t settled) {
    return context->reclaim == CUDA_WAITED &&
           (look == CUDA_LOOK_ENDED || settled > context->waited_ns + SLACK_NS);
}

/* Tells what is known up to a moment of the host's clock, now that clocks are fitted. */
static void tell_until(cuda_context *context, cuda_look look, int64_t settled) {
    const cuda_sync_line *line = &context->sync.line;
    const look_times times = {
        .until = cuda_sync_timer(line, settled),
        .over = look == CUDA_LOOK_ENDED && context->over_ns != 0
                    ? cuda_sync_timer(line, context->over_ns - (int64_t)line->error_ns)
                    : INT64_MIN,
    };
    const bool sweeps = may_sweep(context, look, settled);
    if (sweeps)
        cuda_pool_sweep(&context->pool);
    const bool is_told = tell(context, &times);
    if (!is_told)
        cuda_pool_unsweep(&context->pool);
    if (sweeps && is_told)
        context->reclaim = CUDA_RESTING;
    cuda_log_flush();
}

/*
 * The GPU's time, so that what is read can be placed; has_news: there is something to be placed.
 * Asked after the copy: what comes after a pause lies far from when it was last asked.
 */
static void follow_time(cuda_context *context, cuda_look look, bool has_news) {
    const bool is_known = cuda_sync_is_known(&context->sync);
    /* A GPU that has nothing else to do answers at once. */
    if (look == CUDA_LOOK_ENDED && !is_known)
        (void)cuda_sync_find(&context->sync, context->driver);
    else if (has_news || !is_known)
        (void)cuda_sync_follow(&context->sync, context->driver, NULL);
}

/* Zones of a context that has failed before it told its time: they can be counted. */
static void count_unplaced(cuda_context *context) {
    cuda_pool *pool = &context->pool;
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        if (cuda_pool_is_copied(pool, i))
            cuda_decode_abandon(cuda_pool_records(pool, i), &pool->chunks[i].told, i, 0, take_event,
                                context);
}

static void warn_of_time(cuda_context *context) {
    if (context->is_told_of_time)
        return;
    context->is_told_of_time = true;
    cuda_say("GPU %d: does not answer when it is asked for its time; zones wait until it does",
             context->device);
}

sb_status cuda_drain(cuda_context *context, cuda_look look, sb_error *error) {
    cuda_pool *pool = &context->pool;
    if (context->is_dead || context->is_off)
        return SB_OK;
    const int64_t asked = sb_clock_ns();
    const int64_t settled = asked + (look == CUDA_LOOK_ENDED ? SLACK_NS : -SETTLED_NS);
    sb_error failure = {0};
    const sb_status copied = cuda_pool_copy(
        pool, look == CUDA_LOOK_ENDED || may_sweep(context, look, settled), &failure);
    if (copied != SB_OK) {
        context->is_dead = true;
        cuda_say("GPU %d: %s; zones that were not read yet are lost, except with "
                 "STROBE_CUDA_POOL=host",
                 context->device, failure.message);
    }
    warn_of_loss(context);
    const bool has_news = (pool->taken_count > 0 || context->is_dead) && fit_clocks(context);
    if (!context->is_dead)
        follow_time(context, look, has_news);
    if (pool->taken_count == 0 && copied == SB_OK)
        return SB_OK;
    /* Without the GPU's time nothing can be placed; it is asked again at the next look. */
    if (!cuda_sync_is_known(&context->sync)) {
        if (context->is_dead)
            count_unplaced(context);
        else if (look == CUDA_LOOK_ENDED)
            warn_of_time(context);
        return copied == SB_OK ? SB_OK : sb_error_set(error, copied, "%s", failure.message);
    }
    tell_until(context, look, settled);
    return copied == SB_OK ? cuda_pool_recycle(pool, error)
                           : sb_error_set(error, copied, "%s", failure.message);
}

void cuda_drain_last(cuda_context *context) {
    context->pool.copies_all = true;
    if (context->pool.copy == NULL)
        return;
    (void)fit_clocks(context);
    if (cuda_sync_is_known(&context->sync))
        tell_until(context, CUDA_LOOK_ENDED, sb_clock_ns());
}
