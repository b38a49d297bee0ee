/*
 * What an image holds of a trace, for writing and reading alike.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace_image.h"

/* A word of an element that names something. */
static sb_image_reference word_at(size_t offset, uint64_t bound) {
    return (sb_image_reference){.offset = (uint16_t)offset, .width = 4, .bound = bound};
}

static const sb_image_form any_form = {.rule = SB_IMAGE_ANY};

static sb_image_form words_below(uint64_t bound) {
    return (sb_image_form){.references = {word_at(0, bound)}};
}

/* ---- texts ---- */

/* Where texts end, one after the other, and their bytes. */
static void write_strings(sb_image *image, const sb_trace *trace) {
    sb_series ends;
    sb_output bytes = sb_output_to_memory();
    sb_series_init(&ends, sizeof(uint64_t), NULL);
    for (uint64_t i = 0; i < trace->strings.count; i++) {
        sb_put(&bytes, sb_trace_text(trace, (sb_string)i));
        const uint64_t end = sb_output_text(&bytes).size;
        sb_series_add(&ends, &end);
    }
    sb_slice text = sb_output_text(&bytes);
    sb_image_list(image, &ends, &any_form);
    sb_image_bytes(image, &text);
    sb_series_free(&ends);
    sb_output_discard(&bytes);
}

static void read_strings(sb_image *image, sb_trace *trace) {
    sb_series ends;
    sb_slice text = {"", 0};
    sb_series_init(&ends, sizeof(uint64_t), NULL);
    sb_image_list(image, &ends, &any_form);
    sb_image_bytes(image, &text);
    uint64_t begin = 0;
    for (uint64_t i = 0; i < ends.count && !image->is_bad; i++) {
        const uint64_t end = *(const uint64_t *)sb_series_at(&ends, i);
        if (end < begin || end > text.size) {
            sb_image_refuse(image);
            break;
        }
        if (i > 0) /* the first is the empty one that every trace has */
            sb_trace_place_string(trace, (sb_slice){text.data + begin, end - begin});
        begin = end;
    }
    sb_series_free(&ends);
}

/* A text that stands beside the trace's strings; read, it is in the arena. */
static void visit_text(sb_image *image, sb_trace *trace, sb_slice *text) {
    sb_image_bytes(image, text);
    if (image->is_reading)
        *text = sb_arena_copy(&trace->arena, *text);
}

/* The same for a C string, or NULL. */
static void visit_word(sb_image *image, sb_trace *trace, const char **word) {
    bool is_there = *word != NULL;
    sb_image_flag(image, &is_there);
    sb_slice text = *word == NULL ? (sb_slice){"", 0} : sb_slice_of(*word);
    sb_image_bytes(image, &text);
    if (image->is_reading)
        *word =
            is_there
                ? sb_arena_format(&trace->arena, "%.*s", (int)(text.size & 0xFF), text.data).data
                : NULL;
}

/* ---- where it comes from ---- */

static void visit_info(sb_image *image, sb_trace *trace) {
    sb_trace_info *info = &trace->info;
    const uint64_t strings = trace->strings.count;
    visit_text(image, trace, &info->capture_name);
    visit_text(image, trace, &info->program);
    visit_text(image, trace, &info->host);
    sb_image_number(image, &info->captured_at);
    sb_image_number(image, &info->built_at);
    sb_image_time(image, &info->resolution);
    sb_image_real(image, &info->timer_multiplier);
    sb_image_time(image, &info->last_time);
    sb_image_number(image, &info->frame_offset);
    sb_image_number(image, &info->process_id);
    sb_image_time(image, &info->sampling_period);
    sb_image_byte(image, &info->cpu_architecture);
    sb_image_word(image, &info->cpu_id);
    for (size_t i = 0; i < sizeof info->cpu_manufacturer; i++)
        sb_image_byte(image, (uint8_t *)&info->cpu_manufacturer[i]);
    sb_image_flag(image, &info->on_demand);
    sb_image_number(image, &info->crash.thread_id);
    sb_image_time(image, &info->crash.time);
    sb_image_named(image, &info->crash.message, strings, false);
    sb_image_word(image, &info->crash.callstack);
}

static void visit_file(sb_image *image, sb_trace *trace) {
    sb_trace_file *file = &trace->file;
    sb_image_word(image, &file->version);
    sb_image_flag(image, &file->tenstorrent);
    visit_word(image, trace, &file->recording);
    visit_word(image, trace, &file->protocol);
    visit_word(image, trace, &file->compression);
    sb_image_word(image, &file->stream_count);
    sb_image_number(image, &file->file_bytes);
    sb_image_number(image, &file->body_bytes);
    for (size_t i = 0; i < SB_TRACE_SECTIONS; i++)
        sb_image_number(image, &file->section_bytes[i]);
    for (size_t i = 0; i < SB_OPAQUE_COUNT; i++)
        sb_image_number(image, &file->opaque_items[i]);
    sb_image_number(image, &file->skipped_sections);
    sb_image_number(image, &file->bad_references);
    for (size_t i = 0; i < SB_OPAQUE_COUNT; i++)
        sb_image_bytes(image, &trace->opaque[i]);
}

/* ---- tables ---- */

/* The lists that name texts and each other. A trace begins with an entry 0 of some of them. */
static void visit_tables(sb_image *image, sb_trace *trace) {
    const uint64_t strings = trace->strings.count;
    const sb_image_form sources = {.references = {word_at(offsetof(sb_source, name), strings),
                                                  word_at(offsetof(sb_source, function), strings),
                                                  word_at(offsetof(sb_source, file), strings)}};
    const sb_image_form processes = {.references = {word_at(offsetof(sb_process, name), strings)}};
    const sb_image_form threads = {
        .references = {word_at(offsetof(sb_thread, name), strings),
                       {.offset = offsetof(sb_thread, is_lane), .width = 1, .bound = 2}}};
    const sb_image_form notes = {.references = {word_at(offsetof(sb_zone_note, text), strings),
                                                word_at(offsetof(sb_zone_note, name), strings)}};
    const sb_image_form strangers = {
        .references = {word_at(offsetof(sb_stranger, process_name), strings),
                       word_at(offsetof(sb_stranger, thread_name), strings)}};
    const sb_image_form lines = words_below(strings);
    sb_series *const begun[] = {&trace->sources, &trace->processes, &trace->threads, &trace->notes};
    for (size_t i = 0; image->is_reading && i < sizeof begun / sizeof begun[0]; i++)
        sb_series_free(begun[i]);
    sb_image_list(image, &trace->sources, &sources);
    sb_image_list(image, &trace->processes, &processes);
    sb_image_list(image, &trace->threads, &threads);
    sb_image_list(image, &trace->notes, &notes);
    sb_image_list(image, &trace->strangers, &strangers);
    sb_image_list(image, &trace->app_info, &lines);
    for (size_t i = 0; i < sizeof begun / sizeof begun[0]; i++) {
        if (begun[i]->count == 0)
            sb_image_refuse(image);
    }
    for (uint64_t i = 0; image->is_reading && !image->is_bad && i < trace->threads.count; i++)
        sb_idmap_set(trace->thread_numbers, sb_trace_thread_at(trace, (uint32_t)i)->id,
                     (uint32_t)i);
}

static void visit_events(sb_image *image, sb_trace *trace) {
    const uint64_t strings = trace->strings.count;
    const uint64_t threads = trace->threads.count;
    const sb_image_form messages = {.references = {word_at(offsetof(sb_message, text), strings),
                                                   word_at(offsetof(sb_message, thread), threads)}};
    const sb_image_form losses = {
        .references = {word_at(offsetof(sb_loss, text), strings),
                       {.offset = offsetof(sb_loss, thread),
                        .width = 4,
                        .may_be_none = true,
                        .bound = threads},
                       word_at(offsetof(sb_loss, cause), SB_LOSS_OTHER + 1)}};
    sb_image_list(image, &trace->messages, &messages);
    sb_image_list(image, &trace->losses, &losses);
}

/* How many of something there are; read, no more than the head can describe. */
static uint64_t count_of(sb_image *image, uint64_t count) {
    sb_image_number(image, &count);
    if (!image->is_reading || count <= image->left.size)
        return count;
    sb_image_refuse(image);
    return 0;
}

/* ---- zones ---- */

static void visit_columns(sb_image *image, const sb_trace *trace, sb_track *track) {
    const uint64_t zones = track->zone_count;
    const sb_image_form sources = words_below(trace->sources.count);
    const sb_image_form notes = words_below(trace->notes.count);
    const sb_image_form issuers = words_below(trace->threads.count);
    const sb_image_form parents = {.rule = SB_IMAGE_PARENTS};
    const sb_image_form durations = {.rule = SB_IMAGE_ENDS, .ends = &track->long_end};
    sb_image_column(image, &track->long_end, zones, false, &any_form);
    sb_image_column(image, &track->start, zones, true, &any_form);
    sb_image_column(image, &track->duration, zones, true, &durations);
    sb_image_column(image, &track->source, zones, true, &sources);
    sb_image_column(image, &track->parent, zones, false, &parents);
    sb_image_column(image, &track->note, zones, false, &notes);
    sb_image_column(image, &track->issue_start, zones, false, &any_form);
    sb_image_column(image, &track->issue_end, zones, false, &any_form);
    sb_image_column(image, &track->issuer, zones, false, &issuers);
    sb_image_column(image, &track->callstack, zones, false, &any_form);
    sb_image_column(image, &track->query, zones, false, &any_form);
}

static void visit_track(sb_image *image, const sb_trace *trace, sb_track *track) {
    sb_image_word(image, (uint32_t *)&track->group_hint);
    sb_image_number(image, &track->lane_id);
    sb_image_flag(image, &track->unsorted);
    sb_image_flag(image, &track->overlapping);
    sb_image_number(image, &track->zone_count);
    sb_image_named(image, &track->open, track->zone_count, true);
    sb_image_time(image, &track->last_start);
    sb_image_time(image, &track->latest_end);
    sb_image_number(image, &track->kernel_samples);
    sb_image_bytes(image, &track->switch_samples);
    sb_image_bytes(image, &track->samples);
    visit_columns(image, trace, track);
    if (image->is_bad)
        track->zone_count = 0;
}

static void visit_tracks(sb_image *image, sb_trace *trace) {
    const uint64_t count = count_of(image, trace->tracks.count);
    for (uint64_t i = 0; i < count && !image->is_bad; i++) {
        uint32_t kind = 0;
        uint32_t thread = 0;
        uint32_t context = 0;
        if (!image->is_reading) {
            const sb_track *track = sb_trace_track(trace, i);
            kind = track->kind;
            thread = track->thread;
            context = track->context;
        }
        sb_image_named(image, &kind, SB_TRACK_LANE + 1, false);
        sb_image_named(image, &thread, trace->threads.count, false);
        sb_image_named(image, &context, trace->contexts.count, true);
        if ((kind == SB_TRACK_LANE) != (context != SB_NONE))
            sb_image_refuse(image);
        if (image->is_reading && !image->is_bad)
            sb_trace_add_track(trace, (sb_track_kind)kind, thread, context);
        if (!image->is_bad)
            visit_track(image, trace, sb_trace_track(trace, i));
    }
}

/* ---- what holds lists of its own ---- */

static void visit_contexts(sb_image *image, sb_trace *trace) {
    const uint64_t strings = trace->strings.count;
    const sb_image_form names = {.references = {word_at(offsetof(sb_value_name, name), strings)}};
    const sb_image_form markers = {
        .references = {word_at(offsetof(sb_device_marker, source), trace->sources.count),
                       word_at(offsetof(sb_device_marker, meta), strings)}};
    const uint64_t count = count_of(image, trace->contexts.count);
    for (uint64_t i = 0; i < count && !image->is_bad; i++) {
        sb_context *context =
            image->is_reading ? sb_trace_add_context(trace) : sb_trace_context(trace, i);
        double period = context->period;
        sb_image_named(image, &context->thread, trace->threads.count, false);
        sb_image_byte(image, &context->type);
        sb_image_flag(image, &context->calibrated);
        sb_image_real(image, &period);
        context->period = (float)period;
        sb_image_named(image, &context->name, strings, false);
        sb_image_number(image, &context->overflow);
        sb_image_list(image, &context->clocks, &any_form);
        sb_image_list(image, &context->value_names, &names);
        sb_image_list(image, &context->values, &any_form);
        sb_image_list(image, &context->markers, &markers);
    }
}

static void visit_frame_sets(sb_image *image, sb_trace *trace) {
    const uint64_t count = count_of(image, trace->frame_sets.count);
    for (uint64_t i = 0; i < count && !image->is_bad; i++) {
        sb_frame_set *set = image->is_reading ? sb_trace_add_frame_set(trace, 0, false)
                                              : sb_series_at(&trace->frame_sets, i);
        sb_image_named(image, &set->name, trace->strings.count, false);
        sb_image_number(image, &set->vsync_id);
        sb_image_flag(image, &set->continuous);
        sb_image_list(image, &set->frames, &any_form);
    }
}

static void visit_plots(sb_image *image, sb_trace *trace) {
    const uint64_t count = count_of(image, trace->plots.count);
    for (uint64_t i = 0; i < count && !image->is_bad; i++) {
        sb_plot *plot =
            image->is_reading ? sb_trace_add_plot(trace, 0) : sb_series_at(&trace->plots, i);
        sb_image_named(image, &plot->name, trace->strings.count, false);
        sb_image_byte(image, &plot->type);
        sb_image_byte(image, &plot->format);
        sb_image_byte(image, &plot->steps);
        sb_image_byte(image, &plot->fill);
        sb_image_word(image, &plot->colour);
        sb_image_list(image, &plot->points, &any_form);
    }
}

static void visit_pools(sb_image *image, sb_trace *trace) {
    const uint64_t threads = trace->threads.count;
    const sb_image_form events = {
        .references = {word_at(offsetof(sb_memory_event, thread), threads),
                       word_at(offsetof(sb_memory_event, freed_by), threads)}};
    const uint64_t count = count_of(image, trace->pools.count);
    for (uint64_t i = 0; i < count && !image->is_bad; i++) {
        sb_memory_pool *pool =
            image->is_reading ? sb_trace_add_pool(trace, 0) : sb_series_at(&trace->pools, i);
        sb_image_named(image, &pool->name, trace->strings.count, false);
        sb_image_list(image, &pool->events, &events);
    }
}

static void visit_lock(sb_image *image, const sb_trace *trace, sb_lock *lock) {
    const sb_image_form threads = words_below(trace->threads.count);
    sb_image_named(image, &lock->name, trace->strings.count, false);
    sb_image_named(image, &lock->source, trace->sources.count, false);
    sb_image_byte(image, &lock->type);
    sb_image_byte(image, &lock->valid);
    sb_image_time(image, &lock->announced);
    sb_image_time(image, &lock->terminated);
    sb_image_list(image, &lock->threads, &threads);
    const sb_image_form events = {
        .references = {
            word_at(offsetof(sb_lock_event, source), trace->sources.count),
            {.offset = offsetof(sb_lock_event, thread), .width = 1, .bound = lock->threads.count}}};
    sb_image_list(image, &lock->events, &events);
}

static void visit_locks(sb_image *image, sb_trace *trace) {
    const uint64_t count = count_of(image, trace->locks.count);
    for (uint64_t i = 0; i < count && !image->is_bad; i++) {
        uint32_t id = 0;
        if (!image->is_reading)
            id = ((const sb_lock *)sb_series_at(&trace->locks, i))->id;
        sb_image_word(image, &id);
        visit_lock(image, trace,
                   image->is_reading ? sb_trace_add_lock(trace, id)
                                     : sb_series_at(&trace->locks, i));
    }
}

/* A kernel names a zone of a track, and tracks differ. */
static void check_kernels(sb_image *image, const sb_trace *trace) {
    for (uint64_t i = 0; i < trace->op_kernels.count && !image->is_bad; i++) {
        const sb_op_kernel *kernel = sb_series_at(&trace->op_kernels, i);
        if (kernel->track >= trace->tracks.count ||
            kernel->zone >= sb_trace_track(trace, kernel->track)->zone_count)
            sb_image_refuse(image);
    }
}

static void visit_ops(sb_image *image, sb_trace *trace) {
    const sb_image_form ops = {
        .references = {word_at(offsetof(sb_op, thread), trace->threads.count),
                       word_at(offsetof(sb_op, name), trace->strings.count)}};
    sb_image_list(image, &trace->ops, &ops);
    const sb_image_form kernels = {
        .references = {word_at(offsetof(sb_op_kernel, op), trace->ops.count)}};
    sb_image_list(image, &trace->op_kernels, &kernels);
    if (image->is_reading)
        check_kernels(image, trace);
}

void sb_image_trace(sb_image *image, sb_trace *trace) {
    if (image->is_reading)
        read_strings(image, trace);
    else
        write_strings(image, trace);
    visit_info(image, trace);
    visit_file(image, trace);
    visit_tables(image, trace);
    visit_events(image, trace);
    visit_contexts(image, trace);
    visit_tracks(image, trace);
    visit_frame_sets(image, trace);
    visit_plots(image, trace);
    visit_pools(image, trace);
    visit_locks(image, trace);
    visit_ops(image, trace);
}
