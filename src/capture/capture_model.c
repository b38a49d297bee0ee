#include "capture/capture_model.h"

bool capture_clock_is_sane(const sb_wire_welcome *welcome) {
    const double slowest = 1e9;
    return welcome->timer_multiplier > 0 && welcome->timer_multiplier < slowest;
}

/* ---- making one ---- */

static void init_maps(capture_model *model) {
    sb_idmap *const maps[] = {&model->strings,     &model->sources,    &model->thread_indices,
                              &model->fibers,      &model->frame_sets, &model->plots,
                              &model->power_plots, &model->pools,      &model->locks,
                              &model->stack_frames};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        sb_idmap_init(maps[i]);
    sb_intern_init(&model->locations);
    sb_intern_init(&model->stacks);
    sb_intern_init(&model->script_frames);
    model->stack_ids = sb_vector_of(sizeof(uint64_t));
    model->script_bytes = sb_output_to_memory();
    model->parameters = sb_vector_of(sizeof(capture_parameter));
    model->location_sources = sb_vector_of(sizeof(uint32_t));
    model->powers = sb_vector_of(sizeof(capture_power));
    model->live = sb_vector_of(sizeof(sb_idmap));
    model->lock_owners = sb_vector_of(sizeof(uint32_t));
    model->frame_bytes = sb_output_to_memory();
    sb_series_init(&model->threads, sizeof(capture_thread), NULL);
    model->devices = capture_devices_create();
    model->switches = capture_switches_create(model->trace->store);
}

/* A second: what is coarser is no clock. */
#define RESOLUTION_MAX 1e9

static void describe(sb_trace *trace, const sb_wire_welcome *welcome) {
    sb_trace_info *info = &trace->info;
    info->program = sb_arena_copy(&trace->arena, sb_slice_of(welcome->program));
    info->host = sb_arena_copy(&trace->arena, sb_slice_of(welcome->host));
    info->captured_at = welcome->epoch;
    info->built_at = welcome->executable_time;
    const double resolution = (double)welcome->resolution * welcome->timer_multiplier;
    info->resolution = resolution < RESOLUTION_MAX ? (int64_t)resolution : 0;
    info->timer_multiplier = welcome->timer_multiplier;
    info->process_id = welcome->process_id;
    info->sampling_period = welcome->sampling_period;
    info->cpu_architecture = welcome->cpu_architecture;
    info->cpu_id = welcome->cpu_id;
    memcpy(info->cpu_manufacturer, welcome->cpu_manufacturer, sizeof info->cpu_manufacturer);
    info->on_demand = (welcome->flags & SB_WIRE_FLAG_ON_DEMAND) != 0;
}

/* The program's own frames begin with its start and that of its profiler. */
static void add_first_frames(capture_model *model, const sb_wire_on_demand *on_demand) {
    sb_frame_set *set = sb_trace_add_frame_set(model->trace, 0, true);
    sb_idmap_set(&model->frame_sets, 0, 0);
    const int64_t starts[] = {0, capture_time(model, model->welcome.init_end),
                              capture_time(model, (int64_t)on_demand->time)};
    const size_t count = model->trace->info.on_demand ? 3 : 2;
    for (size_t i = 0; i < count; i++) {
        const sb_frame frame = {.start = starts[i], .end = SB_NO_TIME, .image = -1};
        sb_series_add(&set->frames, &frame);
    }
    model->trace->info.frame_offset = model->trace->info.on_demand ? on_demand->frames : 0;
}

void capture_model_init(capture_model *model, sb_trace *trace, const sb_wire_protocol *protocol,
                        const sb_wire_welcome *welcome, const sb_wire_on_demand *on_demand,
                        capture_questions *questions) {
    const unsigned tolerant = SB_WIRE_FLAG_ON_DEMAND | SB_WIRE_FLAG_IGNORE_MEMORY_FAULTS;
    *model = (capture_model){.trace = trace,
                             .protocol = protocol,
                             .questions = questions,
                             .welcome = *welcome,
                             .zero_tick = welcome->init_begin,
                             .ns_per_tick = welcome->timer_multiplier,
                             .ignores_memory_faults = (welcome->flags & tolerant) != 0};
    init_maps(model);
    describe(trace, welcome);
    add_first_frames(model, on_demand);
}

void capture_model_free(capture_model *model) {
    sb_idmap *const maps[] = {&model->strings,     &model->sources,    &model->thread_indices,
                              &model->fibers,      &model->frame_sets, &model->plots,
                              &model->power_plots, &model->pools,      &model->locks,
                              &model->stack_frames};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        sb_idmap_free(maps[i]);
    sb_intern_free(&model->locations);
    sb_intern_free(&model->stacks);
    sb_intern_free(&model->script_frames);
    sb_vector_free(&model->stack_ids);
    sb_vector_free(&model->parameters);
    sb_output_discard(&model->script_bytes);
    sb_vector_free(&model->location_sources);
    sb_vector_free(&model->powers);
    sb_vector_free(&model->lock_owners);
    capture_free_memory(model);
    sb_output_discard(&model->frame_bytes);
    sb_series_free(&model->threads);
    capture_devices_free(model->devices);
    capture_switches_free(model->switches);
}

/* ---- events ---- */

static void take_callstack(capture_model *model, const sb_wire_event *event) {
    const uint32_t callstack = capture_stack(model, event->payload, event->script);
    if ((event->form & SB_WIRE_SERIAL) != 0) {
        model->serial_callstack = callstack;
        return;
    }
    capture_thread *thread = capture_runner(model, event->thread);
    if (thread != NULL)
        thread->callstack = callstack;
}

static void set_group(capture_model *model, const sb_wire_event *event) {
    capture_thread *thread = capture_thread_of(model, event->thread);
    if (thread != NULL)
        capture_track(model, thread)->group_hint = event->hint;
}

/* True if the event is of a thread itself. */
static bool take_thread_event(capture_model *model, const sb_wire_event *event) {
    switch (event->kind) {
    case SB_WIRE_ZONE_BEGIN:
        capture_begin_zone(model, event);
        return true;
    case SB_WIRE_ZONE_TEXT:
    case SB_WIRE_ZONE_NAME:
    case SB_WIRE_ZONE_COLOUR:
    case SB_WIRE_ZONE_VALUE:
        capture_annotate_zone(model, event);
        return true;
    case SB_WIRE_CALLSTACK:
    case SB_WIRE_CALLSTACK_SCRIPT:
        take_callstack(model, event);
        return true;
    case SB_WIRE_THREAD_GROUP:
        set_group(model, event);
        return true;
    case SB_WIRE_FIBER_ENTER:
        capture_enter_fiber(model, event);
        return true;
    case SB_WIRE_FIBER_LEAVE:
        capture_leave_fiber(model, event);
        return true;
    default:
        return false;
    }
}

/* What says nothing that could be kept. */
static bool is_of_the_protocol(capture_model *model, const sb_wire_event *event) {
    if (event->kind == SB_WIRE_TERMINATE)
        model->has_ended = true;
    return event->kind == SB_WIRE_TERMINATE || event->kind == SB_WIRE_KEEP_ALIVE ||
           event->kind == SB_WIRE_ZONE_VALIDATION;
}

static void take_event(void *context, const sb_wire_event *event) {
    capture_model *model = context;
    model->events++;
    capture_questions_answered(model->questions, (sb_wire_kind)event->kind);
    if (take_thread_event(model, event) || capture_take_device(model, event) ||
        capture_take_plot(model, event) || capture_take_message(model, event) ||
        capture_take_memory(model, event) || capture_take_lock(model, event) ||
        capture_take_frame(model, event) || capture_take_answer(model, event) ||
        capture_take_system(model, event) || is_of_the_protocol(model, event))
        return;
    model->unkept[event->kind]++;
}

sb_wire_handler capture_model_handler(capture_model *model) {
    return (sb_wire_handler){.context = model, .zones = capture_take_zones, .event = take_event};
}

/* ---- the end ---- */

/* What still runs ends with the recording. */
static void close_zones(capture_model *model) {
    for (uint64_t i = 0; i < sb_series_count(&model->trace->tracks); i++) {
        sb_track *track = sb_trace_track(model->trace, i);
        while (track->open != SB_NONE && track->kind != SB_TRACK_LANE)
            sb_track_end(track, model->last_ns);
    }
}

void capture_model_finish(capture_model *model) {
    capture_finish_devices(model);
    capture_store_stacks(model);
    capture_store_switches(model);
    capture_store_parameters(model);
    close_zones(model);
    __atomic_store_n(&model->trace->info.last_time, model->last_ns, __ATOMIC_RELAXED);
}
