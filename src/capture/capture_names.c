/*
 * Names: tokens to texts, sources and threads, and the answers that tell them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "capture/capture_model.h"

/* ---- texts ---- */

uint32_t capture_swap_colour(uint32_t colour) {
    return (colour & 0xFF00) | (colour >> 16 & 0xFF) | (colour & 0xFF) << 16;
}

/* False if there is no more room for texts. */
static bool may_keep(capture_model *model, size_t size) {
    if (model->text_bytes + size <= CAPTURE_TEXT_BYTES_MAX &&
        sb_series_count(&model->trace->strings) < SB_NONE - 1) {
        model->text_bytes += size;
        return true;
    }
    capture_count(model, CAPTURE_OVER_LIMIT);
    return false;
}

sb_string capture_text(capture_model *model, sb_slice text) {
    if (text.size == 0 || !may_keep(model, text.size))
        return 0;
    return sb_trace_string(model->trace, text);
}

sb_string capture_token_text(capture_model *model, sb_wire_query_kind question, uint64_t token) {
    uint32_t string = 0;
    if (token == 0 || sb_idmap_get(&model->strings, token, &string))
        return string;
    if (model->strings.count >= CAPTURE_TOKENS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return 0;
    }
    string = sb_trace_place_string(model->trace, (sb_slice){"", 0});
    sb_idmap_set(&model->strings, token, string);
    capture_ask(model->questions, question, token);
    return string;
}

/* Fills in what a string is. */
static void set_text(capture_model *model, sb_string string, sb_slice text) {
    if (!may_keep(model, text.size))
        return;
    sb_slice *slot = sb_series_at(&model->trace->strings, string);
    if (sb_slice_equal(*slot, text))
        return;
    const sb_slice kept = sb_arena_copy(&model->trace->arena, text);
    /* Others may be reading: the size goes last (sb_trace_text). */
    __atomic_store_n(&slot->data, kept.data, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->size, kept.size, __ATOMIC_RELEASE);
}

static void take_text(capture_model *model, uint64_t token, sb_slice text) {
    /* A file that nobody was asked for may tell a text before it is used. */
    if (token == 0 || model->strings.count >= CAPTURE_TOKENS_MAX)
        return;
    uint32_t string = 0;
    if (!sb_idmap_get(&model->strings, token, &string)) {
        string = sb_trace_place_string(model->trace, (sb_slice){"", 0});
        sb_idmap_set(&model->strings, token, string);
    }
    set_text(model, string, text);
}

/* ---- sources ---- */

static uint32_t add_source(capture_model *model, const sb_source *source) {
    if (sb_series_count(&model->trace->sources) < CAPTURE_SOURCES_MAX)
        return sb_trace_add_source(model->trace, source);
    capture_count(model, CAPTURE_OVER_LIMIT);
    return 0;
}

uint32_t capture_source(capture_model *model, uint64_t token) {
    uint32_t source = 0;
    if (sb_idmap_get(&model->sources, token, &source))
        return source;
    source = add_source(model, &(sb_source){0});
    if (source == 0)
        return 0;
    sb_idmap_set(&model->sources, token, source);
    capture_ask(model->questions, SB_WIRE_ASK_SOURCE_LOCATION, token);
    return source;
}

static void take_source(capture_model *model, const sb_wire_event *event) {
    uint64_t token = 0;
    if (!capture_questions_location(model->questions, &token)) {
        capture_count(model, CAPTURE_STRAY_ANSWER);
        return;
    }
    const uint32_t number = capture_source(model, token);
    if (number == 0)
        return;
    sb_source *source = sb_series_at(&model->trace->sources, number);
    source->name = capture_token_text(model, SB_WIRE_ASK_STRING, event->token);
    source->function = capture_token_text(model, SB_WIRE_ASK_STRING, event->function);
    source->file = capture_token_text(model, SB_WIRE_ASK_STRING, event->file);
    source->line = event->line;
    source->colour = capture_swap_colour(event->colour);
}

/* Equal locations are one: compared as bytes, with their lengths in front. */
uint32_t capture_location(capture_model *model, const sb_wire_event *event) {
    const uint32_t head[] = {event->line, event->colour, (uint32_t)event->function_text.size,
                             (uint32_t)event->file_text.size};
    sb_output key = sb_output_to_memory();
    sb_put(&key, (sb_slice){(const char *)head, sizeof head});
    sb_put(&key, event->function_text);
    sb_put(&key, event->file_text);
    sb_put(&key, event->text);
    uint32_t number = 0;
    if (sb_intern_count(&model->locations) < CAPTURE_SOURCES_MAX) {
        const uint32_t index = sb_intern_add(&model->locations, sb_output_text(&key));
        if (index == model->location_sources.count) {
            const sb_source source = {.name = capture_text(model, event->text),
                                      .function = capture_text(model, event->function_text),
                                      .file = capture_text(model, event->file_text),
                                      .line = event->line,
                                      .colour = capture_swap_colour(event->colour)};
            *(uint32_t *)sb_vector_push(&model->location_sources) = add_source(model, &source);
        }
        number = *(uint32_t *)sb_vector_at(&model->location_sources, index);
    }
    sb_output_discard(&key);
    return number;
}

/* ---- threads ---- */

static capture_thread *add_thread(capture_model *model, uint64_t id) {
    if (model->threads.count >= CAPTURE_THREADS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return NULL;
    }
    sb_idmap_set(&model->thread_indices, id, (uint32_t)model->threads.count);
    capture_thread *thread = sb_series_push(&model->threads);
    *thread = (capture_thread){.id = id, .number = sb_trace_thread(model->trace, id)};
    return thread;
}

capture_thread *capture_thread_of(capture_model *model, uint64_t id) {
    uint32_t index = 0;
    if (model->last_thread != NULL && model->last_thread->id == id)
        return model->last_thread;
    if (sb_idmap_get(&model->thread_indices, id, &index)) {
        model->last_thread = sb_series_at(&model->threads, index);
        return model->last_thread;
    }
    capture_thread *thread = add_thread(model, id);
    if (thread != NULL)
        capture_ask(model->questions, SB_WIRE_ASK_THREAD_NAME, id);
    return thread;
}

capture_thread *capture_runner(capture_model *model, uint32_t id) {
    capture_thread *thread = capture_thread_of(model, id);
    return thread != NULL && thread->fiber != NULL ? thread->fiber : thread;
}

/* What clients say of a number that is no thread of theirs but a lane of a device. */
static bool is_no_name(uint64_t id, sb_slice text) {
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, id);
    return sb_slice_is(text, number) || sb_slice_is(text, "???");
}

static void take_thread_name(capture_model *model, uint64_t id, sb_slice text) {
    const uint32_t number = sb_trace_find_thread(model->trace, id);
    if (number == 0)
        return;
    sb_thread *thread = sb_series_at(&model->trace->threads, number);
    if (!thread->is_lane || !is_no_name(id, text))
        thread->name = capture_text(model, text);
}

/* ---- fibers ---- */

/* Ids of fibers are beyond those of threads, as in trace files. */
static capture_thread *fiber_of(capture_model *model, uint64_t token, int32_t hint) {
    const uint64_t first_id = UINT64_C(1) << 32;
    uint32_t index = 0;
    if (sb_idmap_get(&model->fibers, token, &index))
        return sb_series_at(&model->threads, index);
    index = (uint32_t)model->threads.count;
    capture_thread *fiber = add_thread(model, first_id + model->fiber_count);
    if (fiber == NULL)
        return NULL;
    model->fiber_count++;
    sb_idmap_set(&model->fibers, token, index);
    fiber->track = sb_trace_add_track(model->trace, SB_TRACK_FIBER, fiber->number, SB_NONE);
    fiber->track->group_hint = hint;
    capture_ask(model->questions, SB_WIRE_ASK_FIBER_NAME, token);
    return fiber;
}

void capture_enter_fiber(capture_model *model, const sb_wire_event *event) {
    capture_thread *thread = capture_thread_of(model, event->thread);
    const int64_t time = capture_time(model, event->time);
    if (thread == NULL)
        return;
    if (thread->fiber != NULL)
        capture_end_fiber(model, thread->fiber->id, time);
    thread->fiber = fiber_of(model, event->token, event->hint);
    if (thread->fiber != NULL)
        capture_begin_fiber(model, thread->fiber->id, thread->number, time);
}

void capture_leave_fiber(capture_model *model, const sb_wire_event *event) {
    capture_thread *thread = capture_thread_of(model, event->thread);
    if (thread == NULL || thread->fiber == NULL) {
        capture_count(model, CAPTURE_STRAY_END);
        return;
    }
    capture_end_fiber(model, thread->fiber->id, capture_time(model, event->time));
    thread->fiber = NULL;
}

static void take_fiber_name(capture_model *model, uint64_t token, sb_slice text) {
    uint32_t index = 0;
    if (!sb_idmap_get(&model->fibers, token, &index)) {
        capture_count(model, CAPTURE_STRAY_ANSWER);
        return;
    }
    const capture_thread *fiber = sb_series_at(&model->threads, index);
    take_thread_name(model, fiber->id, text);
}

/* ---- answers ---- */

bool capture_take_answer(capture_model *model, const sb_wire_event *event) {
    switch (event->kind) {
    case SB_WIRE_STRING:
    case SB_WIRE_FRAME_NAME:
        take_text(model, event->token, event->text);
        return true;
    case SB_WIRE_PLOT_NAME:
        take_text(model, event->token, event->text);
        capture_name_plot(model, event->token, event->text);
        return true;
    case SB_WIRE_THREAD_NAME:
        take_thread_name(model, event->token, event->text);
        return true;
    case SB_WIRE_FIBER_NAME:
        take_fiber_name(model, event->token, event->text);
        return true;
    case SB_WIRE_SOURCE_LOCATION:
        take_source(model, event);
        return true;
    case SB_WIRE_CALLSTACK_FRAME_SIZE:
    case SB_WIRE_CALLSTACK_FRAME:
        capture_take_stack_frame(model, event);
        return true;
    case SB_WIRE_ACK:
        return true;
    default:
        return false;
    }
}
