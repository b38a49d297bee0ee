/*
 * Writing a trace file: locks, messages, plots, memory.
 */
#include <stdlib.h>

#include "trace/trace_write.h"

/* ---- locks ---- */

static uint64_t lock_threads(const sb_lock *lock) {
    const uint64_t count = sb_series_count(&lock->threads);
    return count < LOCK_THREADS_MAX ? count : LOCK_THREADS_MAX;
}

/* Readers index tables with both numbers. */
static bool is_sound(const sb_lock *lock, const sb_lock_event *event) {
    enum { EXCLUSIVE_KINDS = 3, KINDS = 6 };
    return event->thread < lock_threads(lock) &&
           event->kind < (lock->type == 0 ? EXCLUSIVE_KINDS : KINDS);
}

/* The number of a source; unlike zones, locks may have none. */
static uint16_t lock_source(const trace_writer *writer, uint32_t source) {
    if (source == 0)
        return 0;
    return (uint16_t)writer->source_numbers[source];
}

static void write_lock_events(trace_writer *writer, const sb_lock *lock, int64_t announced) {
    const uint64_t count = sb_series_count(&lock->events);
    uint64_t sound = 0;
    for (uint64_t i = 0; i < count; i++)
        sound += is_sound(lock, sb_series_at(&lock->events, i));
    writer->written.dropped_events += count - sound;
    trace_pack_u64(&writer->packer, sound);
    uint64_t *order = writer_order(&lock->events);
    int64_t reference = announced;
    for (uint64_t i = 0; i < count; i++) {
        const sb_lock_event *event = sb_series_at(&lock->events, writer_position(order, i));
        if (!is_sound(lock, event))
            continue;
        trace_pack_time(&writer->packer, writer_clamp(writer, event->time), &reference);
        trace_pack(&writer->packer, lock_source(writer, event->source), 2);
        trace_pack(&writer->packer, event->thread, 1);
        trace_pack(&writer->packer, event->kind, 1);
    }
    free(order);
}

static void write_lock(trace_writer *writer, const sb_lock *lock) {
    trace_packer *packer = &writer->packer;
    const int64_t announced = writer_clamp(writer, lock->announced);
    trace_pack(packer, lock->id, 4);
    write_string_index(writer, lock->name);
    trace_pack(packer, lock_source(writer, lock->source), 2);
    trace_pack(packer, lock->type, 1);
    trace_pack(packer, lock->valid, 1);
    trace_pack_u64(packer, (uint64_t)announced);
    trace_pack_u64(packer, (uint64_t)lock->terminated);
    trace_pack_u64(packer, lock_threads(lock));
    for (uint64_t i = 0; i < lock_threads(lock); i++)
        trace_pack_u64(
            packer, writer_thread_id(writer, *(const uint32_t *)sb_series_at(&lock->threads, i)));
    write_lock_events(writer, lock, announced);
}

void write_locks(trace_writer *writer) {
    const uint64_t count = sb_series_count(&writer->trace->locks);
    trace_pack_u64(&writer->packer, count);
    for (uint64_t i = 0; i < count; i++)
        write_lock(writer, sb_series_at(&writer->trace->locks, i));
}

/* ---- messages ---- */

void write_messages(trace_writer *writer) {
    trace_packer *packer = &writer->packer;
    const sb_series *messages = &writer->trace->messages;
    const uint64_t count = sb_series_count(messages);
    int64_t reference = 0;
    trace_pack_u64(packer, count);
    for (uint64_t i = 0; i < count; i++) {
        const sb_message *message =
            sb_series_at(messages, writer_position(writer->message_order, i));
        trace_pack_u64(packer, i + 1);
        trace_pack_time(packer, writer_clamp(writer, message->time), &reference);
        write_string_reference(writer, message->text);
        trace_pack(packer, message->colour, 4);
        trace_pack(packer, writer_callstack(writer, message->callstack), 3);
        if (message->severity != SB_MESSAGE_INFO)
            writer->written.dropped_severities++;
    }
}

/* ---- plots ---- */

static void write_extremes(trace_writer *writer, const sb_series *points) {
    const uint64_t count = sb_series_count(points);
    double low = 0;
    double high = 0;
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        const double value = ((const sb_plot_point *)sb_series_at(points, i))->value;
        low = i == 0 || value < low ? value : low;
        high = i == 0 || value > high ? value : high;
        sum += value;
    }
    trace_pack_double(&writer->packer, low);
    trace_pack_double(&writer->packer, high);
    trace_pack_double(&writer->packer, sum);
}

static void write_plot(trace_writer *writer, const sb_plot *plot) {
    trace_packer *packer = &writer->packer;
    const uint64_t count = sb_series_count(&plot->points);
    trace_pack(packer, plot->type, 1);
    trace_pack(packer, plot->format, 1);
    trace_pack(packer, plot->steps, 1);
    trace_pack(packer, plot->fill, 1);
    trace_pack(packer, plot->colour, 4);
    trace_pack_u64(packer, writer_string(writer, plot->name));
    write_extremes(writer, &plot->points);
    trace_pack_u64(packer, count);
    uint64_t *order = writer_order(&plot->points);
    int64_t reference = 0;
    for (uint64_t i = 0; i < count; i++) {
        const sb_plot_point *point = sb_series_at(&plot->points, writer_position(order, i));
        trace_pack_time(packer, writer_clamp(writer, point->time), &reference);
        trace_pack_double(packer, point->value);
    }
    free(order);
}

void write_plots(trace_writer *writer) {
    const uint64_t count = sb_series_count(&writer->trace->plots);
    trace_pack_u64(&writer->packer, count);
    for (uint64_t i = 0; i < count; i++)
        write_plot(writer, sb_series_at(&writer->trace->plots, i));
}

/* ---- memory ---- */

static uint16_t thread_number(uint32_t thread) {
    return thread < THREADS_MAX ? (uint16_t)thread : 0;
}

static void write_memory_event(trace_writer *writer, const sb_memory_event *event,
                               int64_t *reference) {
    trace_packer *packer = &writer->packer;
    const int64_t time = writer_clamp(writer, event->time);
    int64_t lived = SB_NO_TIME;
    if (event->freed != SB_NO_TIME) {
        const int64_t freed = writer_clamp(writer, event->freed);
        lived = freed < time ? 0 : freed - time;
        writer->written.adjusted_times += freed < time;
    }
    trace_pack_u64(packer, event->address);
    trace_pack_u64(packer, event->size);
    trace_pack(packer, writer_callstack(writer, event->callstack), 3);
    trace_pack(packer, writer_callstack(writer, event->freed_callstack), 3);
    trace_pack_time(packer, time, reference);
    trace_pack_u64(packer, (uint64_t)lived);
    trace_pack(packer, thread_number(event->thread), 2);
    trace_pack(packer, thread_number(event->freed_by), 2);
}

/* What a pool says about its events; readers size tables by it. */
typedef struct pool_totals {
    uint64_t active;
    uint64_t freed;
    uint64_t low;
    uint64_t high;
    uint64_t used;
} pool_totals;

static pool_totals count_pool(const sb_series *events) {
    pool_totals totals = {.low = UINT64_MAX};
    for (uint64_t i = 0; i < sb_series_count(events); i++) {
        const sb_memory_event *event = sb_series_at(events, i);
        const uint64_t end = event->address + event->size;
        totals.low = event->address < totals.low ? event->address : totals.low;
        totals.high = end > totals.high ? end : totals.high;
        if (event->freed == SB_NO_TIME) {
            totals.active++;
            totals.used += event->size;
        } else {
            totals.freed++;
        }
    }
    return totals;
}

static void write_pool(trace_writer *writer, sb_string name, const sb_series *events) {
    trace_packer *packer = &writer->packer;
    const uint64_t count = sb_series_count(events);
    const pool_totals totals = count_pool(events);
    trace_pack_u64(packer, name);
    trace_pack_u64(packer, count);
    trace_pack_u64(packer, totals.active);
    trace_pack_u64(packer, totals.freed);
    uint64_t *order = writer_order(events);
    int64_t reference = 0;
    for (uint64_t i = 0; i < count; i++)
        write_memory_event(writer, sb_series_at(events, writer_position(order, i)), &reference);
    free(order);
    trace_pack_u64(packer, totals.high);
    trace_pack_u64(packer, totals.low);
    trace_pack_u64(packer, totals.used);
    trace_pack_u64(packer, name);
}

/* The default pool is always there. */
void write_memory(trace_writer *writer) {
    sb_series no_events;
    sb_series_init(&no_events, sizeof(sb_memory_event), NULL);
    const sb_series *pools = &writer->trace->pools;
    const uint64_t count = sb_series_count(pools);
    uint64_t events = 0;
    bool has_default = false;
    for (uint64_t i = 0; i < count; i++) {
        const sb_memory_pool *pool = sb_series_at(pools, i);
        events += sb_series_count(&pool->events);
        has_default = has_default || pool->name == 0;
    }
    trace_pack_u64(&writer->packer, count + (has_default ? 0 : 1));
    trace_pack_u64(&writer->packer, events);
    if (!has_default)
        write_pool(writer, 0, &no_events);
    for (uint64_t i = 0; i < count; i++) {
        const sb_memory_pool *pool = sb_series_at(pools, i);
        write_pool(writer, writer_string(writer, pool->name), &pool->events);
    }
}

/* ---- application info, and the ledger of losses among it ---- */

void write_app_info(trace_writer *writer) {
    const sb_series *texts = &writer->trace->app_info;
    const uint64_t count = sb_series_count(texts);
    trace_pack_u64(&writer->packer, count + writer->loss_count);
    for (uint64_t i = 0; i < count; i++)
        write_string_reference(writer, *(const sb_string *)sb_series_at(texts, i));
    for (uint32_t i = 0; i < writer->loss_count; i++)
        write_file_string(writer, writer->loss_string + i);
}
