/*
 * Frames, plots, messages and what the program says of itself.
 */
#include <math.h>

#include "capture/capture_model.h"

/* The position under which token is known; false: it is new and there is room for it. */
static bool find_place(capture_model *model, const sb_idmap *map, uint64_t token, uint32_t *place) {
    if (sb_idmap_get(map, token, place))
        return true;
    if (map->count >= CAPTURE_SETS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        *place = SB_NONE;
        return true;
    }
    return false;
}

/* ---- frames ---- */

static sb_frame_set *frame_set(capture_model *model, uint64_t token, bool continuous) {
    uint32_t place = 0;
    if (!find_place(model, &model->frame_sets, token, &place)) {
        place = (uint32_t)sb_series_count(&model->trace->frame_sets);
        sb_idmap_set(&model->frame_sets, token, place);
        sb_trace_add_frame_set(
            model->trace, capture_token_text(model, SB_WIRE_ASK_FRAME_NAME, token), continuous);
    }
    return place == SB_NONE ? NULL : sb_series_at(&model->trace->frame_sets, place);
}

static void add_frame(capture_model *model, sb_frame_set *set, int64_t time) {
    if (set == NULL)
        return;
    const sb_frame frame = {.start = time, .end = SB_NO_TIME, .image = -1};
    sb_series_add(&set->frames, &frame);
    capture_see(model, time);
}

static void end_frame(capture_model *model, uint64_t token, int64_t time) {
    const sb_frame_set *set = frame_set(model, token, false);
    const uint64_t count = set == NULL ? 0 : sb_series_count(&set->frames);
    sb_frame *last = count == 0 ? NULL : sb_series_at(&set->frames, count - 1);
    if (last == NULL || last->end != SB_NO_TIME || set->continuous) {
        capture_count(model, CAPTURE_STRAY_FRAME);
        return;
    }
    last->end = time;
    capture_see(model, time);
}

static sb_frame_set *vsync_set(capture_model *model, uint32_t id) {
    const uint64_t token = UINT64_C(1) << 63 | id;
    uint32_t place = 0;
    if (!find_place(model, &model->frame_sets, token, &place)) {
        place = (uint32_t)sb_series_count(&model->trace->frame_sets);
        sb_idmap_set(&model->frame_sets, token, place);
        sb_trace_add_frame_set(model->trace, 0, true)->vsync_id = token;
    }
    return place == SB_NONE ? NULL : sb_series_at(&model->trace->frame_sets, place);
}

bool capture_take_frame(capture_model *model, const sb_wire_event *event) {
    const int64_t time = capture_time(model, event->time);
    switch (event->kind) {
    case SB_WIRE_FRAME:
        add_frame(model, frame_set(model, event->token, true), time);
        return true;
    case SB_WIRE_FRAME_START:
        add_frame(model, frame_set(model, event->token, false), time);
        return true;
    case SB_WIRE_FRAME_END:
        end_frame(model, event->token, time);
        return true;
    case SB_WIRE_FRAME_VSYNC:
        add_frame(model, vsync_set(model, event->id), time);
        return true;
    default:
        return false;
    }
}

/* ---- plots ---- */

enum { PLOT_USER = 0, PLOT_CPU = 2, PLOT_POWER = 3, FORMAT_PERCENT = 2, FORMAT_WATT = 3 };

static sb_plot *plot_at(const capture_model *model, uint32_t place) {
    return sb_series_at(&model->trace->plots, place);
}

static sb_plot *user_plot(capture_model *model, uint64_t token) {
    uint32_t place = 0;
    if (!find_place(model, &model->plots, token, &place)) {
        place = (uint32_t)sb_series_count(&model->trace->plots);
        sb_idmap_set(&model->plots, token, place);
        sb_trace_add_plot(model->trace, capture_token_text(model, SB_WIRE_ASK_PLOT_NAME, token));
    }
    return place == SB_NONE ? NULL : plot_at(model, place);
}

static void add_point(capture_model *model, sb_plot *plot, int64_t time, double value) {
    if (plot == NULL)
        return;
    if (!isfinite(value)) {
        capture_count(model, CAPTURE_BAD_VALUE);
        return;
    }
    const sb_plot_point point = {time, value};
    sb_series_add(&plot->points, &point);
    capture_see(model, time);
}

/* Two tokens may have the same text: then they are one plot, that of the first. */
void capture_name_plot(capture_model *model, uint64_t token, sb_slice name) {
    uint32_t place = 0;
    if (!sb_idmap_get(&model->plots, token, &place))
        return;
    sb_plot *plot = plot_at(model, place);
    for (uint32_t i = 0; i < sb_series_count(&model->trace->plots); i++) {
        sb_plot *other = plot_at(model, i);
        if (i == place || other->name == 0 || other->type != PLOT_USER ||
            !sb_slice_equal(sb_trace_text(model->trace, other->name), name))
            continue;
        for (uint64_t k = 0; k < sb_series_count(&plot->points); k++)
            sb_series_add(&other->points, sb_series_at(&plot->points, k));
        sb_series_publish(&plot->points, 0);
        sb_idmap_set(&model->plots, token, i);
        return;
    }
}

static void configure_plot(capture_model *model, const sb_wire_event *event) {
    sb_plot *plot = user_plot(model, event->token);
    if (plot == NULL)
        return;
    plot->format = event->type;
    plot->steps = event->step;
    plot->fill = event->fill;
    plot->colour = capture_swap_colour(event->colour);
}

static void add_load(capture_model *model, int64_t time, double percent) {
    if (model->cpu_plot == 0) {
        sb_plot *plot = sb_trace_add_plot(model->trace, 0);
        plot->type = PLOT_CPU;
        plot->format = FORMAT_PERCENT;
        model->cpu_plot = (uint32_t)sb_series_count(&model->trace->plots);
    }
    add_point(model, plot_at(model, model->cpu_plot - 1), time, percent);
}

/* Energy since the last report over the time since then. */
static void add_power(capture_model *model, const sb_wire_event *event, int64_t time) {
    const double microjoule_ns_per_watt = 1000;
    uint32_t place = 0;
    if (!find_place(model, &model->power_plots, event->token, &place)) {
        place = (uint32_t)model->powers.count;
        sb_idmap_set(&model->power_plots, event->token, place);
        sb_plot *plot = sb_trace_add_plot(
            model->trace, capture_token_text(model, SB_WIRE_ASK_STRING, event->token));
        plot->type = PLOT_POWER;
        plot->format = FORMAT_WATT;
        *(capture_power *)sb_vector_push(&model->powers) =
            (capture_power){time, (uint32_t)sb_series_count(&model->trace->plots) - 1};
        return;
    }
    if (place == SB_NONE)
        return;
    capture_power *power = sb_vector_at(&model->powers, place);
    if (time > power->last_time)
        add_point(model, plot_at(model, power->plot), time,
                  (double)event->value * microjoule_ns_per_watt /
                      (double)(time - power->last_time));
    power->last_time = time;
}

bool capture_take_plot(capture_model *model, const sb_wire_event *event) {
    const int64_t time = capture_time(model, event->time);
    switch (event->kind) {
    case SB_WIRE_PLOT_INT:
        add_point(model, user_plot(model, event->token), time, (double)(int64_t)event->value);
        return true;
    case SB_WIRE_PLOT_FLOAT:
    case SB_WIRE_PLOT_DOUBLE:
        add_point(model, user_plot(model, event->token), time, event->number);
        return true;
    case SB_WIRE_PLOT_CONFIG:
        configure_plot(model, event);
        return true;
    case SB_WIRE_CPU_LOAD:
        add_load(model, time, event->number);
        return true;
    case SB_WIRE_POWER:
        add_power(model, event, time);
        return true;
    default:
        return false;
    }
}

/* ---- messages ---- */

static void add_message(capture_model *model, const sb_wire_event *event) {
    enum { HALF_BITS = 4, LOW_HALF = 15 };
    capture_thread *thread = capture_runner(model, event->thread);
    if (thread == NULL)
        return;
    sb_message message = {.time = capture_time(model, event->time),
                          .colour = UINT32_MAX,
                          .thread = thread->number,
                          .source = event->metadata & LOW_HALF,
                          .severity = sb_wire_protocol_has_severities(model->protocol)
                                          ? event->metadata >> HALF_BITS
                                          : SB_MESSAGE_INFO};
    message.text = (event->form & SB_WIRE_LITERAL) != 0
                       ? capture_token_text(model, SB_WIRE_ASK_STRING, event->token)
                       : capture_text(model, event->text);
    if ((event->form & SB_WIRE_WITH_COLOUR) != 0)
        message.colour = UINT32_C(0xFF000000) | capture_swap_colour(event->colour);
    if ((event->form & SB_WIRE_WITH_CALLSTACK) != 0) {
        message.callstack = thread->callstack;
        thread->callstack = 0;
    }
    sb_trace_add_message(model->trace, &message);
    capture_see(model, message.time);
}

static void take_crash(capture_model *model, const sb_wire_event *event) {
    capture_thread *thread = capture_runner(model, event->thread);
    sb_crash *crash = &model->trace->info.crash;
    crash->thread_id = event->thread;
    crash->time = capture_time(model, event->time);
    crash->message = capture_token_text(model, SB_WIRE_ASK_STRING, event->token);
    crash->callstack = thread == NULL ? 0 : thread->callstack;
    capture_see(model, crash->time);
}

static void add_app_info(capture_model *model, sb_slice line) {
    const sb_string text = capture_text(model, line);
    if (sb_series_count(&model->trace->app_info) < CAPTURE_TOKENS_MAX)
        sb_series_add(&model->trace->app_info, &text);
    else
        capture_count(model, CAPTURE_OVER_LIMIT);
}

/* Programs say in this way what their devices lost. */
static bool take_loss(capture_model *model, sb_slice line) {
    return sb_series_count(&model->trace->losses) < CAPTURE_TOKENS_MAX &&
           sb_trace_add_loss_line(model->trace, line);
}

static void take_parameter(capture_model *model, const sb_wire_event *event) {
    if (model->parameters.count >= CAPTURE_SETS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return;
    }
    *(capture_parameter *)sb_vector_push(&model->parameters) =
        (capture_parameter){.name = capture_token_text(model, SB_WIRE_ASK_STRING, event->token),
                            .value = (int32_t)event->value,
                            .type = event->type};
}

/* Files have no place of their own for parameters. Names are known at the end only. */
void capture_store_parameters(capture_model *model) {
    enum { SWITCH = 1, TRIGGER = 2 };
    for (size_t i = 0; i < model->parameters.count; i++) {
        const capture_parameter *each = sb_vector_at(&model->parameters, i);
        sb_output line = sb_output_to_memory();
        sb_put_text(&line, "Parameter ");
        sb_put(&line, sb_trace_text(model->trace, each->name));
        if (each->type == TRIGGER)
            sb_put_text(&line, ": a trigger");
        else if (each->type == SWITCH)
            sb_put_text(&line, each->value != 0 ? ": on" : ": off");
        else
            sb_put_format(&line, ": %d", each->value);
        add_app_info(model, sb_output_text(&line));
        sb_output_discard(&line);
    }
}

bool capture_take_message(capture_model *model, const sb_wire_event *event) {
    switch (event->kind) {
    case SB_WIRE_MESSAGE:
        add_message(model, event);
        return true;
    case SB_WIRE_APP_INFO:
        if (!take_loss(model, event->text))
            add_app_info(model, event->text);
        return true;
    case SB_WIRE_PARAMETER:
        take_parameter(model, event);
        return true;
    case SB_WIRE_CRASH_REPORT:
        take_crash(model, event);
        return true;
    case SB_WIRE_CRASH:
        model->has_crashed = true;
        return true;
    default:
        return false;
    }
}
