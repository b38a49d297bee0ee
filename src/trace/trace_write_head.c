/*
 * Writing a trace file: who, when and what is called how.
 */
#include <stdlib.h>

#include "trace/trace_ledger.h"
#include "trace/trace_write.h"

/* ---- parameters and names ---- */

static const sb_frame_set *base_frames(const sb_trace *trace) {
    for (uint64_t i = 0; i < sb_series_count(&trace->frame_sets); i++) {
        const sb_frame_set *set = sb_series_at(&trace->frame_sets, i);
        if (set->name == 0 && set->vsync_id == 0)
            return set;
    }
    return NULL;
}

static void write_parameters(trace_writer *writer) {
    enum { ON_DEMAND_FRAMES_MIN = 3 };
    trace_packer *packer = &writer->packer;
    const sb_trace_info *info = &writer->trace->info;
    const sb_frame_set *frames = base_frames(writer->trace);
    const bool has_frames =
        frames != NULL && sb_series_count(&frames->frames) >= ON_DEMAND_FRAMES_MIN;
    trace_pack_u64(packer, (uint64_t)info->resolution);
    trace_pack_double(packer, info->timer_multiplier);
    trace_pack_u64(packer, (uint64_t)writer->last_time);
    trace_pack_u64(packer, info->frame_offset);
    trace_pack_u64(packer, info->process_id);
    trace_pack_u64(packer, (uint64_t)info->sampling_period);
    trace_pack(packer, info->cpu_architecture, 1);
    trace_pack(packer, info->cpu_id, 4);
    trace_pack_bytes(packer, info->cpu_manufacturer, sizeof info->cpu_manufacturer);
    /* Viewers take the third frame as the start of a recording that waited for its connection. */
    trace_pack(packer, info->on_demand && has_frames ? 1 : 0, 1);
}

static void write_text(trace_packer *packer, sb_slice text, size_t size_max) {
    const sb_slice kept = sb_slice_first(text, size_max);
    trace_pack_u64(packer, kept.size);
    trace_pack_bytes(packer, kept.data, kept.size);
}

/* Readers copy these into buffers of fixed size without looking. */
static void write_names(trace_writer *writer) {
    enum { NAME_MAX_SIZE = 1023, PROGRAM_MAX_SIZE = 511 };
    const sb_trace_info *info = &writer->trace->info;
    const sb_slice unknown = SB_SLICE("unknown");
    write_text(&writer->packer, info->capture_name, NAME_MAX_SIZE);
    write_text(&writer->packer, info->program.size > 0 ? info->program : unknown, PROGRAM_MAX_SIZE);
    trace_pack_u64(&writer->packer, info->captured_at);
    trace_pack_u64(&writer->packer, info->built_at);
    write_text(&writer->packer, info->host, NAME_MAX_SIZE);
}

static void write_topology(trace_writer *writer) {
    const sb_slice bytes = writer->trace->opaque[SB_OPAQUE_TOPOLOGY];
    if (bytes.size > 0)
        trace_pack_bytes(&writer->packer, bytes.data, bytes.size);
    else
        trace_pack_zeroes(&writer->packer, 8);
}

static void write_crash(trace_writer *writer) {
    const sb_crash *crash = &writer->trace->info.crash;
    trace_pack_u64(&writer->packer, crash->thread_id);
    trace_pack_u64(&writer->packer, (uint64_t)crash->time);
    trace_pack_u64(&writer->packer, writer_string(writer, crash->message));
    trace_pack(&writer->packer, writer_callstack(writer, crash->callstack), 4);
}

/* ---- frames ---- */

static int32_t frame_image(const trace_writer *writer, int32_t image) {
    const uint64_t images = writer->trace->file.opaque_items[SB_OPAQUE_FRAME_IMAGES];
    return image >= 0 && (uint64_t)image < images ? image : -1;
}

static void write_frame_list(trace_writer *writer, const sb_frame_set *set, bool continuous,
                             int64_t *reference) {
    const uint64_t count = sb_series_count(&set->frames);
    uint64_t *order = writer_order(&set->frames);
    for (uint64_t i = 0; i < count; i++) {
        const sb_frame *frame = sb_series_at(&set->frames, writer_position(order, i));
        const int64_t start = writer_clamp(writer, frame->start);
        trace_pack_time(&writer->packer, start, reference);
        if (!continuous) {
            int64_t end = frame->end;
            if (end != SB_NO_TIME)
                end = writer_clamp(writer, end < start ? start : end);
            trace_pack_time(&writer->packer, end, reference);
        }
        trace_pack(&writer->packer, (uint32_t)frame_image(writer, frame->image), 4);
    }
    free(order);
}

/* The program's own frames come first, and are two at least. */
static void write_base_frames(trace_writer *writer) {
    enum { FRAMES_MIN = 2 };
    trace_packer *packer = &writer->packer;
    const sb_frame_set *set = base_frames(writer->trace);
    const uint64_t count = set == NULL ? 0 : sb_series_count(&set->frames);
    const uint64_t added = count < FRAMES_MIN ? FRAMES_MIN - count : 0;
    int64_t reference = 0;
    trace_pack_u64(packer, 0);
    trace_pack(packer, 1, 1);
    trace_pack_u64(packer, count + added);
    for (uint64_t i = 0; i < added; i++) {
        trace_pack_time(packer, 0, &reference);
        trace_pack(packer, UINT32_MAX, 4);
    }
    if (set != NULL)
        write_frame_list(writer, set, true, &reference);
}

static void write_frames(trace_writer *writer) {
    const sb_series *sets = &writer->trace->frame_sets;
    const sb_frame_set *base = base_frames(writer->trace);
    const uint64_t count = sb_series_count(sets);
    trace_pack_u64(&writer->packer, count + (base == NULL ? 1 : 0));
    write_base_frames(writer);
    for (uint64_t i = 0; i < count; i++) {
        const sb_frame_set *set = sb_series_at(sets, i);
        if (set == base)
            continue;
        int64_t reference = 0;
        const uint64_t name =
            set->vsync_id != 0 ? set->vsync_id : (uint64_t)writer_string(writer, set->name);
        trace_pack_u64(&writer->packer, name);
        trace_pack(&writer->packer, set->continuous ? 1 : 0, 1);
        trace_pack_u64(&writer->packer, sb_series_count(&set->frames));
        write_frame_list(writer, set, set->continuous, &reference);
    }
}

/* ---- strings ---- */

static void write_string(trace_writer *writer, uint64_t token, sb_slice text) {
    trace_pack_u64(&writer->packer, token);
    trace_pack_u64(&writer->packer, text.size);
    trace_pack_bytes(&writer->packer, text.data, text.size);
}

static void write_losses(trace_writer *writer) {
    sb_output line = sb_output_to_memory();
    for (uint32_t i = 0; i < writer->loss_count; i++) {
        const sb_loss *loss = sb_series_at(&writer->trace->losses, i);
        const uint64_t id = loss->thread == SB_NONE ? 0 : writer_thread_id(writer, loss->thread);
        sb_output_truncate(&line, 0);
        ledger_put(writer->trace, loss, id, &line);
        write_string(writer, writer->loss_string + i, sb_output_text(&line));
    }
    sb_output_discard(&line);
}

/* The number of a string in the file is also the token under which other sections find it. */
static void write_strings(trace_writer *writer) {
    const bool has_stand_ins = writer->has_unknown_source || writer->has_more_sources;
    const uint64_t ours = UINT64_C(1) + writer->loss_count + (has_stand_ins ? 2 : 0);
    trace_pack_u64(&writer->packer, writer->string_count + ours);
    for (sb_string i = 1; i <= writer->string_count; i++)
        write_string(writer, i, sb_trace_text(writer->trace, i));
    write_string(writer, writer->frame_string, (sb_slice)SB_SLICE("Frame"));
    write_losses(writer);
    if (!has_stand_ins)
        return;
    write_string(writer, writer->unknown_string, (sb_slice)SB_SLICE("???"));
    write_string(writer, writer->more_string, (sb_slice)SB_SLICE("(more source locations)"));
}

static void add_id(trace_writer *writer, sb_vector *ids, bool *has_id, sb_string string) {
    if (string == 0 || string > writer->string_count || has_id[string])
        return;
    has_id[string] = true;
    *(sb_string *)sb_vector_push(ids) = string;
}

/* Names that are stored as ids get their string's number as id. */
static void write_string_ids(trace_writer *writer) {
    const sb_trace *trace = writer->trace;
    sb_vector ids = sb_vector_of(sizeof(sb_string));
    bool *has_id = sb_alloc_zeroed(writer->string_count + UINT64_C(1), sizeof *has_id);
    add_id(writer, &ids, has_id, trace->info.crash.message);
    for (uint64_t i = 0; i < sb_series_count(&trace->frame_sets); i++)
        add_id(writer, &ids, has_id, ((sb_frame_set *)sb_series_at(&trace->frame_sets, i))->name);
    for (uint64_t i = 0; i < sb_series_count(&trace->plots); i++)
        add_id(writer, &ids, has_id, ((sb_plot *)sb_series_at(&trace->plots, i))->name);
    for (uint64_t i = 0; i < sb_series_count(&trace->pools); i++)
        add_id(writer, &ids, has_id, ((sb_memory_pool *)sb_series_at(&trace->pools, i))->name);
    trace_pack_u64(&writer->packer, ids.count + 1);
    trace_pack_u64(&writer->packer, 0);
    trace_pack_u64(&writer->packer, writer->frame_string);
    for (size_t i = 0; i < ids.count; i++) {
        const sb_string string = *(const sb_string *)sb_vector_at(&ids, i);
        trace_pack_u64(&writer->packer, string);
        trace_pack_u64(&writer->packer, string);
    }
    free(has_id);
    sb_vector_free(&ids);
}

/* ---- threads ---- */

static uint64_t thread_count(const trace_writer *writer) {
    const uint64_t count = sb_series_count(&writer->trace->threads);
    return count < THREADS_MAX ? count : THREADS_MAX;
}

static void write_thread_names(trace_writer *writer) {
    const uint64_t count = thread_count(writer);
    uint64_t named = 0;
    for (uint32_t i = 0; i < count; i++)
        named += writer_string(writer, sb_trace_thread_at(writer->trace, i)->name) != 0;
    trace_pack_u64(&writer->packer, named);
    for (uint32_t i = 0; i < count; i++) {
        const sb_thread *thread = sb_trace_thread_at(writer->trace, i);
        if (thread->name == 0 || thread->name > writer->string_count)
            continue;
        trace_pack_u64(&writer->packer, writer_thread_id(writer, i));
        trace_pack_u64(&writer->packer, thread->name);
    }
}

static void write_external_names(trace_writer *writer) {
    const sb_series *strangers = &writer->trace->strangers;
    const uint64_t count = sb_series_count(strangers);
    trace_pack_u64(&writer->packer, count);
    for (uint64_t i = 0; i < count; i++) {
        const sb_stranger *stranger = sb_series_at(strangers, i);
        trace_pack_u64(&writer->packer, stranger->thread_id);
        trace_pack_u64(&writer->packer, writer_string(writer, stranger->process_name));
        trace_pack_u64(&writer->packer, writer_string(writer, stranger->thread_name));
    }
}

static void write_threads(trace_writer *writer) {
    const uint64_t count = thread_count(writer);
    trace_pack_u64(&writer->packer, count);
    for (uint32_t i = 0; i < count; i++)
        trace_pack_u64(&writer->packer, writer_thread_id(writer, i));
}

void write_head(trace_writer *writer) {
    const uint32_t version = writer->options.version;
    trace_pack_bytes(&writer->packer, "tracy", 5);
    for (int shift = 16; shift >= 0; shift -= 8)
        trace_pack(&writer->packer, version >> shift, 1);
    trace_pack_u64(&writer->packer, 0);
    write_parameters(writer);
    write_names(writer);
    write_topology(writer);
    write_crash(writer);
    write_frames(writer);
    write_strings(writer);
    write_string_ids(writer);
    write_thread_names(writer);
    write_external_names(writer);
    write_threads(writer);
}

/* ---- sources ---- */

static void write_source(trace_writer *writer, uint32_t number) {
    const sb_source *source = sb_trace_source(writer->trace, number);
    write_string_reference(writer, source->name);
    write_string_reference(writer, source->function);
    write_string_reference(writer, source->file);
    trace_pack(&writer->packer, source->line, 4);
    trace_pack(&writer->packer, source->colour, 4);
}

/* A location that stands for others. */
static void write_stand_in(trace_writer *writer, sb_string name) {
    write_file_string(writer, name);
    write_file_string(writer, name);
    write_file_string(writer, writer->unknown_string);
    trace_pack_zeroes(&writer->packer, 8);
}

void write_sources(trace_writer *writer) {
    trace_packer *packer = &writer->packer;
    trace_pack_u64(packer, writer->static_count);
    for (uint32_t i = 1; i <= writer->static_count; i++) {
        trace_pack_u64(packer, i);
        write_source(writer, i);
    }
    trace_pack_u64(packer, writer->static_count + UINT64_C(1));
    for (uint32_t i = 0; i <= writer->static_count; i++)
        trace_pack_u64(packer, i);
    trace_pack_u64(packer, writer->last_source - writer->static_count +
                               (writer->has_more_sources ? UINT64_C(1) : 0) +
                               (writer->has_unknown_source ? UINT64_C(1) : 0));
    for (uint32_t i = writer->static_count + 1; i <= writer->last_source; i++)
        write_source(writer, i);
    if (writer->has_more_sources)
        write_stand_in(writer, writer->more_string);
    if (writer->has_unknown_source)
        write_stand_in(writer, writer->unknown_string);
}
