#include "cuda/cuda_observe.h"

#include <strobe/cuda_gpu.h>
#include <strobe/strobe.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sb_cuda_observer current;

void sb_cuda_observe(const sb_cuda_observer *observer) {
    pthread_mutex_lock(&lock);
    current = observer != NULL ? *observer : (sb_cuda_observer){0};
    pthread_mutex_unlock(&lock);
}

bool cuda_is_observed(void) {
    pthread_mutex_lock(&lock);
    const bool is_observed = current.see != NULL;
    pthread_mutex_unlock(&lock);
    return is_observed;
}

/* Contexts that live at a time on a GPU use the same SMs: their lanes are not the same. */
static uint32_t lane_for_all(const cuda_context *context, uint32_t lane) {
    return context->number * (CUDA_LANES_MAX + 1) + lane;
}

/* Under the lock, so that nobody is called who has left. */
static void show(const sb_cuda_moment *moment) {
    pthread_mutex_lock(&lock);
    if (current.see != NULL)
        current.see(current.context, moment);
    pthread_mutex_unlock(&lock);
}

size_t cuda_observed_name(uint32_t program, char *text, size_t room) {
    pthread_mutex_lock(&lock);
    const size_t size = current.name != NULL && program != 0
                            ? current.name(current.context, program, text, room)
                            : 0;
    pthread_mutex_unlock(&lock);
    return size;
}

static sb_cuda_moment moment_of(cuda_context *context, uint32_t lane, const cuda_event *event) {
    static const sb_source_location none = {"", "", "", 0, 0};
    const sb_source_location *place =
        event->kind == CUDA_NUMBER ? &none : cuda_context_place(context, event->place);
    return (sb_cuda_moment){.gpu = (uint32_t)context->device,
                            .sm = event->owner.sm,
                            .lane = lane_for_all(context, lane),
                            .program = event->owner.program,
                            .timer_ns = event->time,
                            .name = place->name,
                            .file = place->file,
                            .line = place->line,
                            .value = event->kind == CUDA_NUMBER ? event->place : event->value};
}

static uint32_t begin(void *of, uint32_t lane, const cuda_event *event) {
    cuda_context *context = of;
    sb_cuda_moment moment = moment_of(context, lane, event);
    moment.kind = SB_CUDA_MOMENT_BEGIN;
    show(&moment);
    const cuda_lane_sink tracks = cuda_tracks_sink(context, event->owner.sm);
    return tracks.begin(tracks.context, lane, event);
}

static void end(void *of, uint32_t sm, uint32_t lane, int64_t time, uint32_t mark) {
    cuda_context *context = of;
    show(&(sb_cuda_moment){.kind = SB_CUDA_MOMENT_END,
                           .gpu = (uint32_t)context->device,
                           .sm = sm,
                           .lane = lane_for_all(context, lane),
                           .timer_ns = time});
    const cuda_lane_sink tracks = cuda_tracks_sink(context, sm);
    tracks.end(tracks.context, sm, lane, time, mark);
}

static void note(void *of, uint32_t lane, const cuda_event *event) {
    cuda_context *context = of;
    sb_cuda_moment moment = moment_of(context, lane, event);
    moment.kind = event->kind == CUDA_DATA     ? SB_CUDA_MOMENT_DATA
                  : event->kind == CUDA_NUMBER ? SB_CUDA_MOMENT_EVENT
                                               : SB_CUDA_MOMENT_TOTAL;
    show(&moment);
    const cuda_lane_sink tracks = cuda_tracks_sink(context, event->owner.sm);
    tracks.note(tracks.context, lane, event);
}

cuda_lane_sink cuda_observed_sink(cuda_context *context, uint32_t sm) {
    if (!cuda_is_observed())
        return cuda_tracks_sink(context, sm);
    return (cuda_lane_sink){.begin = begin, .end = end, .note = note, .context = context, .sm = sm};
}
