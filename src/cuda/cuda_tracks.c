/*
 * Zones of a GPU in the recording of the program: a device context for each SM.
 */
#include <string.h>

#include <strobe/strobe.h>

#include "base/base.h"
#include "cuda/cuda_context.h"
#include "cuda/cuda_observe.h"

/* Numbers of contexts are counted down from the end, away from those of the program itself. So many
   are for the first context of each GPU; what they leave is for further ones. */
enum { CONTEXT_LAST = 255, CONTEXTS = 250, CONTEXTS_OF_FIRST = 224, NO_CONTEXT = 0 };

/* Contexts of the driver that live at a time. */
enum { SEATS_MOST = 64 };

/* A recording has 32,000 source locations that are made up as the program runs (client_session.c),
   and a main zone that says whose it is takes one; those of a program that has a name share theirs.
   So does each value that has another name. What is left is for the program itself. */
enum { OWNERS_MOST = 16384, OWNER_SIZE = 160, VALUES_MOST = 8192, VALUE_SIZE = 256 };

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

/* ---- seats ---- */

/*
 * What is told of a context of the driver goes to its seat. When the context has ended, the next
 * one on this GPU takes the seat, and goes on in the same lanes.
 */
typedef struct track_seat {
    const cuda_context *owner; /* NULL: it is free */
    cuda_device device;
    uint32_t number; /* among the seats of this GPU */
    uint32_t share;  /* SMs that share a context of the recording */
    uint32_t wanted; /* contexts of the recording */
} track_seat;

static struct {
    pthread_mutex_t lock;
    uint32_t seat_count;
    track_seat seats[SEATS_MOST];
    /* Contexts of the recording that were announced: of whose SMs, from the first of them on. */
    uint32_t count;
    struct {
        uint32_t seat;
        uint32_t first;
    } places[CONTEXTS];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t wanted_of(uint32_t sms, uint32_t share) {
    return (sms + share - 1) / share;
}

/* What the first contexts of all GPUs want together. */
static uint32_t wanted_of_first(const cuda_driver *driver, uint32_t share) {
    uint32_t wanted = 0;
    int devices = 0;
    (void)driver->device_count(&devices);
    for (int i = 0; i < devices; i++) {
        cuda_device device;
        int sms = 0;
        if (driver->device_get(&device, i) == 0 &&
            driver->device_attribute(&sms, CUDA_SM_COUNT, device) == 0 && sms > 0)
            wanted += wanted_of((uint32_t)sms, share);
    }
    return wanted;
}

static uint32_t share_of_first(const cuda_driver *driver) {
    enum { SHARE_MOST = 4096 };
    uint32_t share = 1;
    while (share < SHARE_MOST && wanted_of_first(driver, share) > CONTEXTS_OF_FIRST)
        share++;
    return share;
}

/* A further context gets half of what is left, since more may follow. */
static uint32_t share_of_further(const cuda_driver *driver, uint32_t sms) {
    uint32_t used = wanted_of_first(driver, share_of_first(driver));
    for (uint32_t i = 0; i < all.seat_count; i++)
        used += all.seats[i].number > 0 ? all.seats[i].wanted : 0;
    const uint32_t most = used < CONTEXTS ? (CONTEXTS - used + 1) / 2 : 1;
    uint32_t share = 1;
    while (wanted_of(sms, share) > most)
        share++;
    return share;
}

/* With the lock. */
static void add_seat(const cuda_context *context, uint32_t sms) {
    track_seat seat = {.device = context->device};
    for (uint32_t i = 0; i < all.seat_count; i++)
        seat.number += all.seats[i].device == context->device ? 1 : 0;
    seat.share =
        seat.number == 0 ? share_of_first(context->driver) : share_of_further(context->driver, sms);
    seat.wanted = wanted_of(sms, seat.share);
    all.seats[all.seat_count++] = seat;
}

void cuda_tracks_join(cuda_context *context, uint32_t sms) {
    uint32_t at = 0;
    pthread_mutex_lock(&all.lock);
    while (at < all.seat_count &&
           (all.seats[at].owner != NULL || all.seats[at].device != context->device))
        at++;
    if (at == all.seat_count && at < SEATS_MOST)
        add_seat(context, sms);
    const bool has_seat = at < all.seat_count;
    if (has_seat)
        all.seats[at].owner = context;
    context->seat = at;
    context->number = has_seat ? all.seats[at].number : SEATS_MOST;
    context->sms_in_track = has_seat ? all.seats[at].share : sms;
    pthread_mutex_unlock(&all.lock);
}

void cuda_tracks_release(const cuda_context *context) {
    pthread_mutex_lock(&all.lock);
    if (context->seat < all.seat_count && all.seats[context->seat].owner == context)
        all.seats[context->seat].owner = NULL;
    pthread_mutex_unlock(&all.lock);
}

/* ---- contexts of the recording ---- */

static uint32_t first_of(const cuda_context *context, uint32_t sm) {
    return sm - sm % context->sms_in_track;
}

/* The one whose context an SM is told in. */
static cuda_track *track_of(cuda_context *context, uint32_t sm) {
    return &context->tracks[first_of(context, sm)];
}

/* NO_CONTEXT: there are no more. */
static uint16_t take_number(const cuda_context *context, uint32_t first, bool *is_new) {
    uint32_t at = 0;
    if (context->seat >= SEATS_MOST)
        return NO_CONTEXT;
    pthread_mutex_lock(&all.lock);
    while (at < all.count &&
           (all.places[at].seat != context->seat || all.places[at].first != first))
        at++;
    *is_new = at == all.count;
    if (*is_new && at < CONTEXTS) {
        all.places[at].seat = context->seat;
        all.places[at].first = first;
        all.count++;
    }
    pthread_mutex_unlock(&all.lock);
    return at < CONTEXTS ? (uint16_t)(CONTEXT_LAST - at) : NO_CONTEXT;
}

static void name_context(const cuda_context *context, uint32_t first, uint16_t number) {
    const uint32_t count = context->pool.options.sm_count;
    const uint32_t end = first + context->sms_in_track;
    char sms[40];
    char name[160];
    if (context->sms_in_track == 1)
        snprintf(sms, sizeof sms, "SM %u", first);
    else
        snprintf(sms, sizeof sms, "SMs %u to %u", first, (end < count ? end : count) - 1);
    const int size = snprintf(name, sizeof name, "%s %d, %s, \u00B1%.0f ns", context->name,
                              context->device, sms, context->sync.line.error_ns);
    sb_gpu_context_name(number, name, (size_t)size);
}

static void announce(cuda_context *context, uint32_t sm) {
    static bool is_told;
    const uint32_t first = first_of(context, sm);
    cuda_track *track = &context->tracks[first];
    bool is_new = false;
    track->is_announced = true;
    track->context = take_number(context, first, &is_new);
    if (track->context == NO_CONTEXT) {
        if (!__atomic_exchange_n(&is_told, true, __ATOMIC_RELAXED))
            cuda_say("zones of some SMs are counted and not in the recording: readers know %d "
                     "contexts",
                     CONTEXTS);
        return;
    }
    if (is_new)
        sb_gpu_context(track->context, SB_GPU_CUDA, sb_clock_ns(), 1.0F, 0, 0);
    name_context(context, first, track->context);
}

/* What tells the lanes of all SMs apart, and from threads, whose numbers are below. GPUs have fewer
   than 4096 SMs. */
static uint32_t code_of(const cuda_context *context, uint32_t sm, uint32_t lane) {
    return ((uint32_t)context->device + 1) << 24 | (context->number & 15) << 20 | sm << 8 | lane;
}

static void name_lanes(cuda_context *context, uint32_t sm, uint32_t lane) {
    cuda_track *track = &context->tracks[sm];
    for (; track->lanes_named <= lane; track->lanes_named++) {
        char name[48];
        if (context->sms_in_track == 1)
            snprintf(name, sizeof name, "warp slot %u", track->lanes_named);
        else
            snprintf(name, sizeof name, "SM %u, warp slot %u", sm, track->lanes_named);
        sb_gpu_lane_name(code_of(context, sm, track->lanes_named), name);
    }
}

/* Places that the recording of this session was told of. Contexts of several GPUs meet here. */
typedef struct told_places {
    uint32_t most;
    uint32_t session;
    uint32_t count;
    sb_map names; /* of those that are shared, by hash: 1 */
} told_places;

static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;
static told_places told_owners = {.most = OWNERS_MOST};
static told_places told_values = {.most = VALUES_MOST};

/* Whether the recording can take a place, which may be there already: name is empty for one that no
   other zone has. */
static bool can_tell(told_places *told, sb_slice name, const sb_source_location *location) {
    const uint64_t key = sb_hash_text(sb_hash_number((uintptr_t)location), name) | 1;
    const uint32_t now = session_now();
    pthread_mutex_lock(&told_lock);
    if (told->session != now) {
        sb_map_free(&told->names);
        told->session = now;
        told->count = 0;
    }
    const bool is_known = name.size > 0 && sb_map_get(&told->names, key) != 0;
    const bool fits = !is_known && told->count < told->most;
    if (fits) {
        told->count++;
        if (name.size > 0)
            (void)sb_map_set(&told->names, key, 1); /* if it fails it is counted again */
    }
    pthread_mutex_unlock(&told_lock);
    return is_known || fits;
}

/* Whose a main zone is: bytes of text; 0 where there is no room to say it. */
static size_t name_owner(const cuda_event *event, const sb_source_location *location,
                         char text[OWNER_SIZE]) {
    const cuda_owner *who = &event->owner;
    const size_t size = cuda_observed_name(who->program, text, OWNER_SIZE);
    if (!can_tell(&told_owners, (sb_slice){text, size}, location))
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

/* Can be told now: the SM has a context, and the lane a name. Once for each zone and value: those
   that the recording has no context for are counted. */
static bool prepare_lane(cuda_context *context, uint32_t sm, uint32_t lane) {
    cuda_track *track = track_of(context, sm);
    if (session_now() == 0 || !cuda_sync_is_known(&context->sync))
        return false;
    if (!track->is_announced)
        announce(context, sm);
    if (track->context == NO_CONTEXT) {
        context->counts.unplaced++;
        return false;
    }
    name_lanes(context, sm, lane);
    return true;
}

/* The mark is the session in which the zone began, so that no session sees half of one. */
static uint32_t begin_zone(void *of, uint32_t lane, const cuda_event *event) {
    cuda_context *context = of;
    const uint32_t sm = event->owner.sm;
    cuda_track *track = track_of(context, sm);
    const uint32_t session = session_now();
    if (!prepare_lane(context, sm, lane))
        return 0;
    const uint16_t query = track->query++;
    tell_begin(context, track, query, code_of(context, sm, lane), event);
    sb_gpu_time(track->context, query, cuda_sync_host(&context->sync.line, event->time));
    return session;
}

static void end_at(cuda_context *context, uint32_t sm, uint32_t lane, int64_t time) {
    cuda_track *track = track_of(context, sm);
    const uint16_t query = track->query++;
    sb_gpu_zone_end(track->context, query, code_of(context, sm, lane));
    sb_gpu_time(track->context, query, cuda_sync_host(&context->sync.line, time));
}

static void end_zone(void *of, uint32_t sm, uint32_t lane, int64_t time, uint32_t session) {
    if (session != 0 && session == session_now())
        end_at(of, sm, lane, time);
}

/* ---- values and events ---- */

/* "rows = 5", "event 77": a place, and the value as long as there is room for more names. */
static size_t name_moment(const cuda_event *event, const sb_source_location *location,
                          char text[VALUE_SIZE]) {
    static bool is_told;
    const bool is_number = event->kind == CUDA_NUMBER;
    int size = is_number
                   ? snprintf(text, VALUE_SIZE, "event %llu", (unsigned long long)event->place)
                   : snprintf(text, VALUE_SIZE, "%.200s = %llu", location->name,
                              (unsigned long long)event->value);
    if (can_tell(&told_values, (sb_slice){text, (size_t)size}, location))
        return (size_t)size;
    if (!__atomic_exchange_n(&is_told, true, __ATOMIC_RELAXED))
        cuda_say("kernels record more than %d different values: in the recording the others have "
                 "their names only, a log (STROBE_CUDA_LOG) has them all",
                 VALUES_MOST);
    size = snprintf(text, VALUE_SIZE, "%.200s", location->name);
    return (size_t)size;
}

/* A moment is a zone that takes no time, as on other devices. Sums, which belong to no moment, are
   for logs. */
static void note_moment(void *of, uint32_t lane, const cuda_event *event) {
    static const sb_source_location unnamed = {"event", "", "", 0, 0};
    cuda_context *context = of;
    const uint32_t sm = event->owner.sm;
    cuda_track *track = track_of(context, sm);
    char name[VALUE_SIZE];
    if (event->kind == CUDA_SUM || !prepare_lane(context, sm, lane))
        return;
    const sb_source_location *location =
        event->kind == CUDA_NUMBER ? &unnamed : cuda_context_place(context, event->place);
    const size_t size = name_moment(event, location, name);
    const uint16_t query = track->query++;
    sb_gpu_zone_begin_dynamic(track->context, query, code_of(context, sm, lane), location->line,
                              location->file, strlen(location->file), location->name,
                              strlen(location->name), name, size, 0);
    sb_gpu_time(track->context, query, cuda_sync_host(&context->sync.line, event->time));
    end_at(context, sm, lane, event->time);
}

cuda_lane_sink cuda_tracks_sink(cuda_context *context, uint32_t sm) {
    return (cuda_lane_sink){
        .begin = begin_zone, .end = end_zone, .note = note_moment, .context = context, .sm = sm};
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
        if (context->tracks[sm].lanes_named > 0) /* else it lost all, and has no lane */
            snprintf(thread, sizeof thread, " thread=%u", code_of(context, sm, 0));
        const int size =
            snprintf(line, sizeof line,
                     "strobe lost count=%llu from=0%s cause=%d GPU %d, SM %u: no room "
                     "for records",
                     (unsigned long long)lost, thread, BUFFER_FULL, context->device, sm);
        sb_app_info(line, (size_t)size);
    }
}
