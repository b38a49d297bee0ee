/*
 * Devices: zones whose times come later, on another clock.
 *
 * A zone's begin and end each name a query; the device time of a query comes when the device has
 * told it. Tracks want zones in order of their begin with their start, so each lane holds begins
 * and ends back until the times of all before them are known:
 *
 *     lane:  begin q1 (known) | begin q2 (known) | end q3 (waits) | begin q4 (known) ...
 *            ------- handed to the track -------> stays here
 *
 * A program that tells the time at once (Tenstorrent's) never makes a lane hold anything.
 */
#include <math.h>
#include <stdlib.h>

#include "capture/capture_model.h"

typedef struct lane_step {
    bool is_end;
    bool is_known;
    int64_t time;   /* on the host's clock, if it is known */
    int64_t issued; /* when the host gave the command */
    uint32_t source;
    uint32_t issuer;
    uint32_t callstack;
    uint16_t query;
} lane_step;

typedef struct whole_zone {
    int64_t start;
    int64_t end;
    uint32_t source;
} whole_zone;

typedef struct lane {
    uint32_t context;
    sb_track *track;
    sb_vector steps; /* lane_step: those held back */
    size_t first;    /* of them */
    uint64_t passed; /* steps handed over before the first */
    sb_vector whole; /* whole_zone: zones that came complete, children before parents */
} lane;

typedef struct device_context {
    uint32_t number; /* in the trace */
    bool is_bound;   /* all its zones are of one thread */
    bool is_calibrated;
    double period;
    int64_t reference_device; /* nanoseconds */
    int64_t reference_host;
    double slope;
    sb_string marker_meta; /* for the next marker */
} device_context;

typedef struct pending_time {
    uint32_t lane;
    uint64_t step; /* counted from the first of the lane */
} pending_time;

typedef struct capture_devices {
    sb_idmap contexts;      /* number on the wire to position */
    sb_vector all;          /* device_context */
    sb_idmap lanes;         /* context << 32 | thread to position */
    sb_series lane_list;    /* lane */
    sb_idmap queries;       /* context << 16 | query to a pending time */
    sb_vector pending;      /* pending_time */
    sb_vector free_pending; /* uint32_t */
} capture_devices;

struct capture_devices *capture_devices_create(void) {
    capture_devices *devices = sb_alloc_zeroed(1, sizeof *devices);
    sb_idmap_init(&devices->contexts);
    sb_idmap_init(&devices->lanes);
    sb_idmap_init(&devices->queries);
    devices->all = sb_vector_of(sizeof(device_context));
    devices->pending = sb_vector_of(sizeof(pending_time));
    devices->free_pending = sb_vector_of(sizeof(uint32_t));
    sb_series_init(&devices->lane_list, sizeof(lane), NULL);
    return devices;
}

void capture_devices_free(struct capture_devices *devices) {
    for (uint64_t i = 0; i < devices->lane_list.count; i++) {
        lane *each = sb_series_at(&devices->lane_list, i);
        sb_vector_free(&each->steps);
        sb_vector_free(&each->whole);
    }
    sb_series_free(&devices->lane_list);
    sb_idmap_free(&devices->contexts);
    sb_idmap_free(&devices->lanes);
    sb_idmap_free(&devices->queries);
    sb_vector_free(&devices->all);
    sb_vector_free(&devices->pending);
    sb_vector_free(&devices->free_pending);
    free(devices);
}

static void *last_of(const sb_vector *list) {
    return sb_vector_at(list, list->count - 1);
}

/* ---- clocks ---- */

static int64_t clamp_to_ns(double value) {
    const double limit = 4.6e18;
    return value > -limit && value < limit ? (int64_t)value : 0;
}

static int64_t device_ns(const device_context *context, int64_t ticks) {
    return context->period == 1.0 ? ticks : clamp_to_ns((double)ticks * context->period);
}

static int64_t host_time(const device_context *context, int64_t ticks) {
    const int64_t ns = device_ns(context, ticks);
    const uint64_t distance = (uint64_t)ns - (uint64_t)context->reference_device;
    if (context->slope == 1.0)
        return (int64_t)(distance + (uint64_t)context->reference_host);
    return (int64_t)((uint64_t)clamp_to_ns((double)(int64_t)distance * context->slope) +
                     (uint64_t)context->reference_host);
}

static void add_clock_pair(capture_model *model, const device_context *context, int64_t host_ns,
                           int64_t ticks) {
    const sb_clock_pair pair = {.host_ns = host_ns, .device_ticks = ticks};
    sb_series_add(&sb_trace_context(model->trace, context->number)->clocks, &pair);
}

/*
 * Both clocks count time, so that a true slope is near one. Programs whose first pair of readings
 * was none give slopes far off, which would scale every zone: then the offset alone is taken.
 */
static void calibrate(capture_model *model, device_context *context, const sb_wire_event *event) {
    const double slope_max = 1.01;
    const double slope_min = 0.99;
    const int64_t ns = device_ns(context, event->device_time);
    const double passed = (double)ns - (double)context->reference_device;
    const double slope = passed > 0 ? (double)event->delta / passed : 0;
    const bool is_sane = slope >= slope_min && slope <= slope_max;
    if (!is_sane)
        capture_count(model, CAPTURE_BAD_CALIBRATION);
    context->slope = is_sane ? slope : 1.0;
    context->reference_device = ns;
    context->reference_host = capture_time(model, event->time);
    add_clock_pair(model, context, context->reference_host, event->device_time);
}

static void synchronise(capture_model *model, device_context *context, const sb_wire_event *event) {
    context->reference_device = device_ns(context, event->device_time);
    context->reference_host = capture_time(model, event->time);
    add_clock_pair(model, context, context->reference_host, event->device_time);
}

/* ---- contexts ---- */

static device_context *find_context(capture_model *model, uint16_t wire_number) {
    uint32_t place = 0;
    if (!sb_idmap_get(&model->devices->contexts, wire_number, &place)) {
        capture_count(model, CAPTURE_STRAY_DEVICE);
        return NULL;
    }
    return sb_vector_at(&model->devices->all, place);
}

static void add_context(capture_model *model, const sb_wire_event *event) {
    capture_devices *devices = model->devices;
    sb_context *made = sb_trace_add_context(model->trace);
    const capture_thread *owner =
        event->thread == 0 ? NULL : capture_thread_of(model, event->thread);
    made->thread = owner == NULL ? 0 : owner->number;
    made->type = event->type;
    made->calibrated = (event->flags & 1) != 0;
    made->period = (float)event->number;
    sb_idmap_set(&devices->contexts, event->context, (uint32_t)devices->all.count);
    device_context *context = sb_vector_push(&devices->all);
    *context = (device_context){.number = (uint32_t)sb_series_count(&model->trace->contexts) - 1,
                                .is_bound = event->thread != 0,
                                .is_calibrated = made->calibrated,
                                .period = isfinite(event->number) ? event->number : 1.0,
                                .slope = 1.0,
                                .reference_host = capture_time(model, event->time)};
    context->reference_device = device_ns(context, event->device_time);
    add_clock_pair(model, context, context->reference_host, event->device_time);
}

/* ---- lanes ---- */

/* The thread that stands for a lane; lanes of a bound context are its thread's. */
static uint32_t lane_thread(capture_model *model, const device_context *context, uint64_t id) {
    const sb_context *made = sb_trace_context(model->trace, context->number);
    if (context->is_bound)
        return made->thread;
    const uint32_t number = sb_trace_thread(model->trace, id);
    ((sb_thread *)sb_series_at(&model->trace->threads, number))->is_lane = true;
    capture_ask(model->questions, SB_WIRE_ASK_THREAD_NAME, id);
    return number;
}

static uint32_t find_lane(capture_model *model, const device_context *context, uint32_t thread) {
    capture_devices *devices = model->devices;
    const uint64_t key =
        (uint64_t)context->number << 32 | (context->is_bound ? 0 : (uint64_t)thread);
    uint32_t place = 0;
    if (sb_idmap_get(&devices->lanes, key, &place))
        return place;
    if (devices->lane_list.count >= CAPTURE_THREADS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return SB_NONE;
    }
    place = (uint32_t)devices->lane_list.count;
    sb_idmap_set(&devices->lanes, key, place);
    lane *made = sb_series_push(&devices->lane_list);
    made->context = context->number;
    made->steps = sb_vector_of(sizeof(lane_step));
    made->whole = sb_vector_of(sizeof(whole_zone));
    made->track = sb_trace_add_track(model->trace, SB_TRACK_LANE,
                                     lane_thread(model, context, thread), context->number);
    made->track->lane_id = thread;
    return place;
}

/* ---- steps ---- */

static void hand_over(capture_model *model, lane *from, const lane_step *step) {
    sb_track *track = from->track;
    /* Without a device time the moment of the command is the best that is known. */
    const int64_t time = step->is_known ? step->time : step->issued;
    capture_see(model, time);
    if (step->is_end) {
        const uint32_t zone = track->open;
        if (zone == SB_NONE) {
            capture_count(model, CAPTURE_STRAY_DEVICE);
            return;
        }
        *(int64_t *)sb_series_slot(&track->issue_end, zone) = step->issued;
        sb_track_end(track, step->is_known ? time : SB_NO_TIME);
        return;
    }
    const uint32_t zone = sb_track_begin(track, time, step->source);
    if (zone == SB_NONE)
        return;
    *(int64_t *)sb_series_slot(&track->issue_start, zone) = step->issued;
    *(uint32_t *)sb_series_slot(&track->issuer, zone) = step->issuer;
    *(uint32_t *)sb_series_slot(&track->query, zone) = step->query;
    if (step->callstack != 0)
        *(uint32_t *)sb_series_slot(&track->callstack, zone) = step->callstack;
}

/* Hands over the steps in front whose time is known; at the end of the recording all of them. */
static void advance(capture_model *model, lane *from, bool all) {
    while (from->first < from->steps.count) {
        const lane_step *step = sb_vector_at(&from->steps, from->first);
        if (!step->is_known && !all)
            return;
        hand_over(model, from, step);
        from->first++;
        from->passed++;
    }
    sb_vector_clear(&from->steps);
    from->first = 0;
}

static bool await_time(capture_model *model, const sb_wire_event *event, uint32_t lane_place,
                       uint64_t step) {
    capture_devices *devices = model->devices;
    uint32_t number = 0;
    if (devices->free_pending.count > 0) {
        number = *(uint32_t *)last_of(&devices->free_pending);
        devices->free_pending.count--;
    } else if (devices->pending.count < CAPTURE_PENDING_MAX) {
        number = (uint32_t)devices->pending.count;
        sb_vector_push(&devices->pending);
    } else {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return false;
    }
    *(pending_time *)sb_vector_at(&devices->pending, number) = (pending_time){lane_place, step};
    sb_idmap_set(&devices->queries, (uint64_t)event->context << 16 | event->query, number);
    return true;
}

static uint32_t event_source(capture_model *model, const sb_wire_event *event) {
    return (event->form & SB_WIRE_DYNAMIC) != 0 ? capture_location(model, event)
                                                : capture_source(model, event->token);
}

static uint32_t event_stack(capture_model *model, const sb_wire_event *event) {
    if ((event->form & SB_WIRE_WITH_CALLSTACK) == 0)
        return 0;
    capture_thread *thread = NULL;
    uint32_t *slot = &model->serial_callstack;
    if ((event->form & SB_WIRE_SERIAL) == 0) {
        thread = capture_runner(model, event->thread);
        if (thread == NULL)
            return 0;
        slot = &thread->callstack;
    }
    const uint32_t callstack = *slot;
    *slot = 0;
    return callstack;
}

static void take_step(capture_model *model, const device_context *context,
                      const sb_wire_event *event) {
    const uint32_t place = find_lane(model, context, event->thread);
    if (place == SB_NONE)
        return;
    lane *to = sb_series_at(&model->devices->lane_list, place);
    lane_step step = {.is_end = event->kind == SB_WIRE_DEVICE_END,
                      .issued = capture_time(model, event->time),
                      .query = event->query};
    if (!step.is_end) {
        const capture_thread *issuer =
            context->is_bound ? capture_thread_of(model, event->thread) : NULL;
        step.issuer = issuer == NULL ? 0 : issuer->number;
        step.source = event_source(model, event);
        step.callstack = event_stack(model, event);
    }
    const uint64_t number = to->passed + to->steps.count - to->first;
    if (await_time(model, event, place, number))
        *(lane_step *)sb_vector_push(&to->steps) = step;
}

static void take_time(capture_model *model, const device_context *context,
                      const sb_wire_event *event) {
    capture_devices *devices = model->devices;
    const uint64_t key = (uint64_t)event->context << 16 | event->query;
    uint32_t number = 0;
    if (!sb_idmap_get(&devices->queries, key, &number)) {
        capture_count(model, CAPTURE_STRAY_DEVICE);
        return;
    }
    sb_idmap_remove(&devices->queries, key);
    const pending_time pending = *(pending_time *)sb_vector_at(&devices->pending, number);
    *(uint32_t *)sb_vector_push(&devices->free_pending) = number;
    lane *of = sb_series_at(&devices->lane_list, pending.lane);
    if (pending.step < of->passed)
        return;
    lane_step *step = sb_vector_at(&of->steps, of->first + (size_t)(pending.step - of->passed));
    step->is_known = true;
    step->time = host_time(context, event->device_time);
    advance(model, of, false);
}

/* ---- zones that come whole ---- */

static void take_whole(capture_model *model, const device_context *context,
                       const sb_wire_event *event) {
    const uint32_t place = find_lane(model, context, event->thread);
    if (place == SB_NONE)
        return;
    lane *to = sb_series_at(&model->devices->lane_list, place);
    if (to->whole.count >= CAPTURE_LIVE_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return;
    }
    *(whole_zone *)sb_vector_push(&to->whole) =
        (whole_zone){.start = host_time(context, event->device_time),
                     .end = host_time(context, event->delta),
                     .source = event_source(model, event)};
}

/* Outer before inner. */
static int compare_whole(const void *a, const void *b) {
    const whole_zone *left = a;
    const whole_zone *right = b;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left->end == right->end ? 0 : left->end > right->end ? -1 : 1;
}

static void hand_over_whole(capture_model *model, lane *from) {
    if (from->whole.count == 0)
        return;
    qsort(from->whole.data, from->whole.count, sizeof(whole_zone), compare_whole);
    sb_vector open_ends = sb_vector_of(sizeof(int64_t));
    for (size_t i = 0; i < from->whole.count; i++) {
        const whole_zone *zone = sb_vector_at(&from->whole, i);
        while (open_ends.count > 0) {
            const int64_t end = *(int64_t *)last_of(&open_ends);
            if (end > zone->start)
                break;
            sb_track_end(from->track, end);
            open_ends.count--;
        }
        sb_track_begin(from->track, zone->start, zone->source);
        *(int64_t *)sb_vector_push(&open_ends) = zone->end;
        capture_see(model, zone->end);
    }
    for (; open_ends.count > 0; open_ends.count--)
        sb_track_end(from->track, *(int64_t *)last_of(&open_ends));
    sb_vector_free(&open_ends);
}

void capture_finish_devices(capture_model *model) {
    for (uint64_t i = 0; i < model->devices->lane_list.count; i++) {
        lane *each = sb_series_at(&model->devices->lane_list, i);
        advance(model, each, true);
        hand_over_whole(model, each);
    }
}

/* ---- values and markers ---- */

static void take_value(capture_model *model, const device_context *context,
                       const sb_wire_event *event) {
    sb_context *made = sb_trace_context(model->trace, context->number);
    if (event->kind == SB_WIRE_DEVICE_VALUE_NAME) {
        const sb_value_name name = {(int64_t)event->value, capture_text(model, event->text)};
        sb_series_add(&made->value_names, &name);
        return;
    }
    const sb_device_value value = {
        .query = event->query, .name_id = (int64_t)event->value, .value = event->number};
    sb_series_add(&made->values, &value);
}

static void take_marker(capture_model *model, device_context *context, const sb_wire_event *event) {
    if (event->kind == SB_WIRE_DEVICE_MARKER_META) {
        context->marker_meta = capture_text(model, event->text);
        return;
    }
    const sb_device_marker marker = {.time = host_time(context, event->device_time),
                                     .lane_id = event->thread,
                                     .source = event_source(model, event),
                                     .meta = context->marker_meta,
                                     .type = event->type};
    context->marker_meta = 0;
    sb_series_add(&sb_trace_context(model->trace, context->number)->markers, &marker);
}

/* ---- events ---- */

static void take_context_event(capture_model *model, device_context *context,
                               const sb_wire_event *event) {
    switch (event->kind) {
    case SB_WIRE_DEVICE_CONTEXT_NAME:
        sb_trace_context(model->trace, context->number)->name = capture_text(model, event->text);
        break;
    case SB_WIRE_DEVICE_BEGIN:
    case SB_WIRE_DEVICE_END:
        take_step(model, context, event);
        break;
    case SB_WIRE_DEVICE_TIME:
        take_time(model, context, event);
        break;
    case SB_WIRE_DEVICE_CALIBRATION:
        calibrate(model, context, event);
        break;
    case SB_WIRE_DEVICE_SYNC:
        synchronise(model, context, event);
        break;
    case SB_WIRE_DEVICE_ZONE:
        take_whole(model, context, event);
        break;
    case SB_WIRE_DEVICE_VALUE:
    case SB_WIRE_DEVICE_VALUE_NAME:
        take_value(model, context, event);
        break;
    default:
        take_marker(model, context, event);
    }
}

bool capture_take_device(capture_model *model, const sb_wire_event *event) {
    if (event->kind < SB_WIRE_DEVICE_CONTEXT || event->kind > SB_WIRE_DEVICE_ZONE)
        return false;
    if (event->kind == SB_WIRE_DEVICE_CONTEXT) {
        add_context(model, event);
        return true;
    }
    device_context *context = find_context(model, event->context);
    if (context != NULL)
        take_context_event(model, context, event);
    return true;
}
