/*
 * Reading a trace file: locks, messages, plots, memory.
 */
#include "trace/trace_read.h"

/* ---- locks ---- */

static void read_lock_events(trace_reader *reader, sb_lock *lock) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 12);
    int64_t reference = lock->announced;
    for (uint64_t i = 0; i < count; i++) {
        sb_lock_event event = {.time = trace_input_time(input, &reference)};
        const int16_t source = (int16_t)trace_input_u16(input);
        event.thread = trace_input_u8(input);
        event.kind = trace_input_u8(input);
        if (input->failed)
            return;
        event.source = reader_source(reader, source);
        *(sb_lock_event *)sb_series_push(&lock->events) = event;
    }
}

static void read_lock(trace_reader *reader) {
    trace_input *input = &reader->input;
    const uint32_t id = trace_input_u32(input);
    const sb_string name = reader_string_index(reader);
    const int16_t source = (int16_t)trace_input_u16(input);
    const uint8_t type = trace_input_u8(input);
    const uint8_t valid = trace_input_u8(input);
    const int64_t announced = trace_input_i64(input);
    const int64_t terminated = trace_input_i64(input);
    const uint64_t threads = trace_input_count(input, 8);
    if (input->failed)
        return;
    sb_lock *lock = sb_trace_add_lock(reader->trace, id);
    lock->name = name;
    lock->source = reader_source(reader, source);
    lock->type = type;
    lock->valid = valid;
    lock->announced = announced;
    lock->terminated = terminated;
    for (uint64_t i = 0; i < threads && !input->failed; i++) {
        const uint64_t thread_id = trace_input_u64(input);
        *(uint32_t *)sb_series_push(&lock->threads) = sb_trace_thread(reader->trace, thread_id);
    }
    read_lock_events(reader, lock);
}

void read_locks(trace_reader *reader) {
    const uint64_t count = trace_input_count(&reader->input, 43);
    for (uint64_t i = 0; i < count && !reader->input.failed; i++)
        read_lock(reader);
}

/* ---- messages ---- */

void read_messages(trace_reader *reader) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 32);
    int64_t reference = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key = trace_input_u64(input);
        sb_message message = {.time = trace_input_time(input, &reference),
                              .severity = SB_MESSAGE_INFO};
        message.text = reader_string_reference(reader);
        message.colour = trace_input_u32(input);
        message.callstack = trace_input_u24(input);
        if (reader->layout.message_source) {
            message.source = trace_input_u8(input);
            message.severity = trace_input_u8(input);
        }
        if (input->failed)
            return;
        sb_idmap_set(&reader->message_keys, key, (uint32_t)i);
        sb_trace_add_message(reader->trace, &message);
    }
}

/* ---- plots ---- */

static void read_plot(trace_reader *reader) {
    trace_input *input = &reader->input;
    uint8_t head[4];
    trace_input_copy(input, head, sizeof head);
    const uint32_t colour = trace_input_u32(input);
    const uint64_t name = trace_input_u64(input);
    trace_input_skip(input, 24); /* minimum, maximum and sum: found again when needed */
    const uint64_t count = trace_input_count(input, 16);
    if (input->failed)
        return;
    const sb_string string = name == 0 ? 0 : reader_string_id(reader, name);
    sb_plot *plot = sb_trace_add_plot(reader->trace, string);
    plot->type = head[0];
    plot->format = head[1];
    plot->steps = head[2];
    plot->fill = head[3];
    plot->colour = colour;
    int64_t reference = 0;
    for (uint64_t i = 0; i < count; i++) {
        sb_plot_point point = {.time = trace_input_time(input, &reference)};
        point.value = trace_input_double(input);
        if (input->failed)
            return;
        *(sb_plot_point *)sb_series_push(&plot->points) = point;
    }
}

void read_plots(trace_reader *reader) {
    const uint64_t count = trace_input_count(&reader->input, 48);
    for (uint64_t i = 0; i < count && !reader->input.failed; i++)
        read_plot(reader);
}

/* ---- memory ---- */

static void read_memory_event(trace_reader *reader, sb_memory_pool *pool, int64_t *reference) {
    trace_input *input = &reader->input;
    sb_memory_event event = {.address = trace_input_u64(input)};
    event.size = trace_input_u64(input);
    event.callstack = trace_input_u24(input);
    event.freed_callstack = trace_input_u24(input);
    event.time = trace_input_time(input, reference);
    const int64_t lived = trace_input_i64(input);
    event.freed = lived < 0 ? SB_NO_TIME : (int64_t)((uint64_t)event.time + (uint64_t)lived);
    const uint16_t thread = trace_input_u16(input);
    const uint16_t freed_by = trace_input_u16(input);
    if (input->failed)
        return;
    event.thread = reader_thread(reader, thread);
    event.freed_by = reader_thread(reader, freed_by);
    *(sb_memory_event *)sb_series_push(&pool->events) = event;
}

static void read_pool(trace_reader *reader) {
    trace_input *input = &reader->input;
    const uint64_t name = trace_input_u64(input);
    const uint64_t count = trace_input_count(input, 42);
    trace_input_skip(input, 16); /* how many were freed: found again when needed */
    if (input->failed)
        return;
    const sb_string string = name == 0 ? 0 : reader_string_id(reader, name);
    sb_memory_pool *pool = sb_trace_add_pool(reader->trace, string);
    int64_t reference = 0;
    for (uint64_t i = 0; i < count && !input->failed; i++)
        read_memory_event(reader, pool, &reference);
    trace_input_skip(input, 32); /* bounds and use: likewise */
}

void read_memory(trace_reader *reader) {
    const uint64_t count = trace_input_count(&reader->input, 64);
    trace_input_skip(&reader->input, 8);
    for (uint64_t i = 0; i < count && !reader->input.failed; i++)
        read_pool(reader);
}

/* ---- application info ---- */

void read_app_info(trace_reader *reader) {
    const uint64_t count = trace_input_count(&reader->input, 9);
    for (uint64_t i = 0; i < count; i++) {
        const sb_string text = reader_string_reference(reader);
        if (reader->input.failed)
            return;
        *(sb_string *)sb_series_push(&reader->trace->app_info) = text;
    }
}
