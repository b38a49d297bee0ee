/*
 * Writing a trace file: the order of its sections, and what several of them need.
 */
#include "trace/trace_write.h"

#include <stdlib.h>

/* ---- shared ---- */

int64_t writer_clamp(trace_writer *writer, int64_t time) {
    const int64_t clamped = time < 0 ? 0 : time > TIME_MAX ? TIME_MAX : time;
    if (clamped != time)
        writer->written.adjusted_times++;
    return clamped;
}

typedef struct timed {
    int64_t time;
    uint64_t index;
} timed;

static int compare_timed(const void *a, const void *b) {
    const timed *left = a;
    const timed *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

uint64_t *writer_order(const sb_series *series) {
    const uint64_t count = sb_series_count(series);
    bool ascends = true;
    for (uint64_t i = 1; i < count && ascends; i++)
        ascends = *(const int64_t *)sb_series_at(series, i - 1) <=
                  *(const int64_t *)sb_series_at(series, i);
    if (ascends)
        return NULL;
    timed *sorted = sb_alloc(count * sizeof *sorted);
    for (uint64_t i = 0; i < count; i++)
        sorted[i] = (timed){*(const int64_t *)sb_series_at(series, i), i};
    qsort(sorted, count, sizeof *sorted, compare_timed);
    uint64_t *order = sb_alloc(count * sizeof *order);
    for (uint64_t i = 0; i < count; i++)
        order[i] = sorted[i].index;
    free(sorted);
    return order;
}

uint32_t writer_callstack(const trace_writer *writer, uint32_t callstack) {
    return callstack <= writer->trace->file.opaque_items[SB_OPAQUE_CALLSTACKS] ? callstack : 0;
}

void write_file_string(trace_writer *writer, sb_string number) {
    enum { NONE = 0, INDEX = 3 };
    trace_pack_u64(&writer->packer, number == 0 ? 0 : number - 1);
    trace_pack(&writer->packer, number == 0 ? NONE : INDEX, 1);
}

void write_string_reference(trace_writer *writer, sb_string string) {
    write_file_string(writer, writer_string(writer, string));
}

void write_string_index(trace_writer *writer, sb_string string) {
    trace_pack(&writer->packer, writer_string(writer, string), 3);
}

bool writer_has_track(const trace_writer *writer, const sb_track *track) {
    (void)writer;
    return track->thread < THREADS_MAX;
}

/*
 * The fork's viewer of 0.10 names a lane after the low three bits of its id and has seven names. An
 * eighth is given the last of them, and a bit that no lane or thread uses keeps it apart.
 */
uint64_t writer_thread_id(const trace_writer *writer, uint32_t thread) {
    const uint64_t id = sb_trace_thread_at(writer->trace, thread)->id;
    const uint64_t processor_mask = 7;
    const uint64_t last_name = 6;
    const uint64_t apart = UINT64_C(1) << 40;
    return writer->moved_lanes[thread] ? (id & ~processor_mask) | last_name | apart : id;
}

static void move_lanes(trace_writer *writer) {
    enum { TENSTORRENT_0_10 = 6, TENSTORRENT = 10, PROCESSOR_MASK = 7 };
    const sb_trace *trace = writer->trace;
    writer->moved_lanes = sb_alloc_zeroed(sb_series_count(&trace->threads), sizeof(bool));
    if (writer->options.version != SB_TRACE_VERSION_0_10)
        return;
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        const sb_track *track = sb_trace_track(trace, i);
        if (track->kind != SB_TRACK_LANE)
            continue;
        const uint8_t type = sb_trace_context(trace, track->context)->type;
        const uint64_t id = sb_trace_thread_at(trace, track->thread)->id;
        if ((type == TENSTORRENT || type == TENSTORRENT_0_10) &&
            (id & PROCESSOR_MASK) == PROCESSOR_MASK)
            writer->moved_lanes[track->thread] = true;
    }
}

/* ---- what must be known before the first byte ---- */

static void number_strings(trace_writer *writer) {
    enum { OURS = 3 };
    const uint64_t losses = sb_series_count(&writer->trace->losses);
    writer->loss_count = (uint32_t)(losses < LOSSES_MAX ? losses : LOSSES_MAX);
    writer->written.dropped_losses = losses - writer->loss_count;
    const uint64_t count = sb_series_count(&writer->trace->strings) - 1;
    const uint64_t room = STRINGS_MAX - OURS - writer->loss_count;
    const uint32_t kept = (uint32_t)(count < room ? count : room);
    writer->frame_string = kept + 1;
    writer->loss_string = kept + 2;
    writer->unknown_string = writer->loss_string + writer->loss_count;
    writer->more_string = writer->unknown_string + 1;
    writer->string_count = kept;
}

/*
 * Sources are numbered below zero (dynamic) as long as they fit. If they do not, the first are
 * numbered above zero (static): readers number those first, so that the order stays. What fits
 * neither shares the last number.
 */
static void number_sources(trace_writer *writer) {
    const uint64_t count = sb_series_count(&writer->trace->sources) - 1;
    writer->has_unknown_source = writer->zone_counts[0][0] + writer->zone_counts[1][0] > 0;
    const uint64_t extra = writer->has_unknown_source ? 1 : 0;
    const uint64_t static_room = SOURCES_MAX - 1; /* 32,767 itself means "none" to some readers */
    const uint64_t room = static_room + SOURCES_MAX - extra;
    writer->static_count = count + extra <= SOURCES_MAX ? 0 : (uint32_t)static_room;
    writer->has_more_sources = count > room;
    writer->last_source = (uint32_t)(writer->has_more_sources ? room - 1 : count);
    const uint32_t dynamic_count = writer->last_source - writer->static_count;
    writer->source_numbers = sb_alloc_zeroed(count + 1, sizeof *writer->source_numbers);
    for (uint64_t i = 1; i <= count; i++) {
        const int64_t place = (int64_t)i - writer->static_count;
        int64_t number = place <= 0 ? (int64_t)i : -place;
        if (i > writer->last_source) {
            number = -(int64_t)dynamic_count - 1;
            writer->written.folded_sources++;
        }
        writer->source_numbers[i] = (int16_t)number;
    }
    if (writer->has_unknown_source)
        writer->source_numbers[0] =
            (int16_t)(-(int64_t)dynamic_count - 1 - (writer->has_more_sources ? 1 : 0));
}

/* Sorts messages by time, and groups them by thread in that order. */
static void group_messages(trace_writer *writer) {
    const sb_series *messages = &writer->trace->messages;
    const uint64_t count = sb_series_count(messages);
    const uint64_t threads = sb_series_count(&writer->trace->threads);
    writer->message_order = writer_order(messages);
    writer->thread_messages = sb_alloc(count * sizeof *writer->thread_messages);
    writer->message_starts = sb_alloc_zeroed(threads + 2, sizeof *writer->message_starts);
    uint64_t *next = writer->message_starts + 1;
    for (uint64_t i = 0; i < count; i++)
        next[((const sb_message *)sb_series_at(messages, i))->thread + 1]++;
    for (uint64_t i = 1; i <= threads; i++)
        next[i] += next[i - 1];
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t position = writer_position(writer->message_order, i);
        const sb_message *message = sb_series_at(messages, position);
        writer->thread_messages[next[message->thread]++] = i;
    }
}

static void find_last_time(trace_writer *writer) {
    int64_t last = sb_trace_end_time(writer->trace);
    last = last < 2 ? 2 : last; /* after both frames that every file has */
    writer->last_time = last > TIME_MAX ? TIME_MAX : last;
}

/* ---- sections kept as bytes ---- */

static void write_opaque(trace_writer *writer, sb_opaque section) {
    static const uint16_t empty_sizes[SB_OPAQUE_COUNT] = {
        [SB_OPAQUE_FRAME_IMAGES] = 12,
        [SB_OPAQUE_CPU_SWITCHES] = 8 + 256 * 8,
        [SB_OPAQUE_SYMBOLS] = 24,
    };
    const sb_slice bytes = writer->trace->opaque[section];
    if (bytes.size > 0)
        trace_pack_bytes(&writer->packer, bytes.data, bytes.size);
    else
        trace_pack_zeroes(&writer->packer, empty_sizes[section] > 0 ? empty_sizes[section] : 8);
}

static void write_body(trace_writer *writer) {
    write_head(writer);
    write_opaque(writer, SB_OPAQUE_EXTERNAL_THREADS);
    write_sources(writer);
    write_zone_counts(writer, false);
    write_zone_counts(writer, true);
    write_locks(writer);
    write_messages(writer);
    write_notes(writer);
    write_zones(writer);
    write_devices(writer);
    write_plots(writer);
    write_memory(writer);
    write_opaque(writer, SB_OPAQUE_CALLSTACKS);
    write_opaque(writer, SB_OPAQUE_CALLSTACK_FRAMES);
    write_app_info(writer);
    for (sb_opaque section = SB_OPAQUE_FRAME_IMAGES; section < SB_OPAQUE_COUNT; section++)
        write_opaque(writer, section);
}

void sb_trace_write(const sb_trace *trace, const sb_trace_write_options *options, sb_output *output,
                    sb_trace_written *written) {
    trace_writer writer = {.trace = trace, .options = *options};
    if (writer.options.version == 0)
        writer.options.version = SB_TRACE_VERSION_0_11;
    assert(writer.options.version == SB_TRACE_VERSION_0_10 ||
           writer.options.version == SB_TRACE_VERSION_0_11);
    writer.written.dropped_ops = sb_series_count(&trace->ops);
    number_strings(&writer);
    count_zones(&writer);
    number_sources(&writer);
    move_lanes(&writer);
    group_messages(&writer);
    find_last_time(&writer);
    const trace_packing packing = {.compression = options->compression == SB_TRACE_LZ4 ? TRACE_LZ4
                                                                                       : TRACE_ZSTD,
                                   .level = options->level,
                                   .one_stream = writer.options.version == SB_TRACE_VERSION_0_10};
    trace_pack_begin(&writer.packer, &packing, output);
    write_body(&writer);
    writer.written.body_bytes = trace_pack_end(&writer.packer);
    free(writer.source_numbers);
    free_zone_counts(&writer);
    free(writer.moved_lanes);
    free(writer.message_order);
    free(writer.thread_messages);
    free(writer.message_starts);
    if (written != NULL)
        *written = writer.written;
}
