/*
 * Zones of a GPU in the recording of the program: a device context for each SM.
 */
#include <string.h>

#include <strobe/strobe.h>

#include "base/base.h"
#include "cuda/cuda_context.h"
#include "cuda/cuda_observe.h"

/* Numbers of contexts are counted down from the end, away from those of the program itself. */
enum { CONTEXT_LAST = 255, CONTEXTS = 250, NO_CONTEXT = 0 };

/* Readers know 65,534 source locations, and a main zone that says whose it is takes one; those of a
   program that has a name share theirs. */
enum { OWNERS_MOST = 16384, OWNER_SIZE = 160 };

static void start_client(void) {
    sb_client_start(&(sb_client_options){.size = sizeof(sb_client_options)});
}

void cuda_tracks_prepare(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_client);
}

static uint32_t session_now(void) {
    return (uint32_t)__atomic_load_n(&sb_client_state, __ATOMIC_RELAXED);
}

bool cuda_tracks_is_recording(void) {
    return session_now() != 0;
}

static void announce(cuda_context *context, uint32_t sm) {
    static uint32_t used;
    cuda_track *track = &context->tracks[sm];
    track->is_announced = true;
    const uint32_t number = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
    if (number >= CONTEXTS) {
        if (number == CONTEXTS)
            cuda_say("zones of some SMs are not in the recording: readers know %d contexts",
                     CONTEXTS);
        return;
    }
    track->context = (uint16_t)(CONTEXT_LAST - number);
    char name[160];
    const int size = snprintf(name, sizeof name, "%s %d, SM %u, \u00B1%.0f ns", context->name,
                              context->device, sm, context->sync.line.error_ns);
    sb_gpu_context(track->context, SB_GPU_CUDA, sb_clock_ns(), 1.0F, 0, 0);
    sb_gpu_context_name(track->context, name, (size_t)size);
}

/* What tells the lanes of all SMs apart, and from threads, whose numbers are below. */
static uint32_t code_of(const cuda_context *context, uint32_t sm, uint32_t lane) {
    return ((uint32_t)context->device + 1) << 24 | sm << 8 | lane;
}

static void name_lanes(cuda_context *context, uint32_t sm, uint32_t lane) {
    cuda_track *track = &context->tracks[sm];
    for (; track->lanes_named <= lane; track->lanes_named++) {
        char name[32];
        snprintf(name, sizeof name, "warp slot %u", track->lanes_named);
        sb_gpu_lane_name(code_of(context, sm, track->lanes_named), name);
    }
}

/* Places that the recording of this session was told of. Contexts of several GPUs meet here. */
static struct {
    pthread_mutex_t lock;
    uint32_t session;
    uint32_t count;
    sb_map names; /* of those that are shared, by hash: 1 */
} told = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whether the recording can take a place, which may be there already: name is empty for one that no
   other zone has. */
static bool can_tell(sb_slice name, const sb_source_location *location) {
    const uint64_t key = sb_hash_text(sb_hash_number((uintptr_t)location), name) | 1;
    const uint32_t now = session_now();
    pthread_mutex_lock(&told.lock);
    if (told.session != now) {
        sb_map_free(&told.names);
        told.session = now;
        told.count = 0;
    }
    const bool is_known = name.size > 0 && sb_map_get(&told.names, key) != 0;
    const bool fits = !is_known && told.count < OWNERS_MOST;
    if (fits) {
        told.count++;
        if (name.size > 0)
            (void)sb_map_set(&told.names, key, 1); /* if it fails it is counted again */
    }
    pthread_mutex_unlock(&told.lock);
    return is_known || fits;
}

/* Whose a main zone is: bytes of text; 0 where there is no room to say it. */
static size_t name_owner(const cuda_event *event, const sb_source_location *location,
                         char text[OWNER_SIZE]) {
    const cuda_owner *who = &event->owner;
    const size_t size = cuda_observed_name(who->program, text, OWNER_SIZE);
    if (!can_tell((sb_slice){text, size}, location))
        return 0;
    if (size > 0)
        return size;
    return (size_t)snprintf(text, OWNER_SIZE, "launch %llu, block %u,%u,%u, warp %u",
                            (unsigned long long)who->launch, who->block[0], who->block[1],
                            who->block[2], who->warp);
}

/* The main zone says whose it is, as long as there is room; all others share their location. */
static void tell_begin(cuda_context *context, const cuda_track *track, uint16_t query,
                       uint32_t code, const cuda_event *event) {
    const sb_source_location *location = cuda_context_place(context, event->place);
    char owner[OWNER_SIZE];
    const size_t size = event->is_main ? name_owner(event, location, owner) : 0;
    if (size == 0) {
        sb_gpu_zone_begin(track->context, query, location, code, 0);
        return;
    }
    sb_gpu_zone_begin_dynamic(track->context, query, code, location->line, location->file,
                              strlen(location->file), owner, size, location->name,
                              strlen(location->name), 0);
}

/* The mark is the session in which the zone began, so that no session sees half of one. */
static uint32_t begin_zone(void *of, uint32_t lane, const cuda_event *event) {
    cuda_context *context = of;
    const uint32_t sm = event->owner.sm;
    cuda_track *track = &context->tracks[sm];
    const uint32_t session = session_now();
    if (session == 0 || !cuda_sync_is_known(&context->sync))
        return 0;
    if (!track->is_announced)
        announce(context, sm);
    if (track->context == NO_CONTEXT)
        return 0;
    name_lanes(context, sm, lane);
    const uint16_t query = track->query++;
    tell_begin(context, track, query, code_of(context, sm, lane), event);
    sb_gpu_time(track->context, query, cuda_sync_host(&context->sync.line, event->time));
    return session;
}

static void end_zone(void *of, uint32_t sm, uint32_t lane, int64_t time, uint32_t session) {
    cuda_context *context = of;
    cuda_track *track = &context->tracks[sm];
    if (session == 0 || session != session_now())
        return;
    const uint16_t query = track->query++;
    sb_gpu_zone_end(track->context, query, code_of(context, sm, lane));
    sb_gpu_time(track->context, query, cuda_sync_host(&context->sync.line, time));
}

cuda_lane_sink cuda_tracks_sink(cuda_context *context, uint32_t sm) {
    return (cuda_lane_sink){.begin = begin_zone, .end = end_zone, .context = context, .sm = sm};
}

void cuda_tracks_tell_losses(const cuda_context *context) {
    enum { BUFFER_FULL = 1 }; /* as the ledger of traces calls it */
    if (session_now() == 0)
        return;
    for (uint32_t sm = 0; sm < context->pool.options.sm_count; sm++) {
        char line[160];
        char thread[32] = "";
        const uint64_t lost = context->pool.sms[sm].lost;
        if (lost == 0)
            continue;
        if (context->tracks[sm].context != NO_CONTEXT) /* else it lost all, and has no lane */
            snprintf(thread, sizeof thread, " thread=%u", code_of(context, sm, 0));
        const int size =
            snprintf(line, sizeof line,
                     "strobe lost count=%llu from=0%s cause=%d GPU %d, SM %u: no room "
                     "for records",
                     (unsigned long long)lost, thread, BUFFER_FULL, context->device, sm);
        sb_app_info(line, (size_t)size);
    }
}
