#include "trace_testing.h"

/* ---- random traces ---- */

typedef struct maker {
    uint64_t random;
    sb_trace *trace;
    uint32_t callstacks;
} maker;

static sb_string any_string(maker *make) {
    const uint64_t count = sb_series_count(&make->trace->strings);
    return one_in(&make->random, 4) ? 0 : (sb_string)below(&make->random, count);
}

static sb_string some_string(maker *make) {
    return (sb_string)(1 + below(&make->random, sb_series_count(&make->trace->strings) - 1));
}

static uint32_t some_source(maker *make) {
    return (uint32_t)(1 + below(&make->random, sb_series_count(&make->trace->sources) - 1));
}

static uint32_t any_thread(maker *make) {
    return (uint32_t)below(&make->random, sb_series_count(&make->trace->threads));
}

/* Mostly small, sometimes huge: what comes after a time. */
static int64_t some_step(maker *make) {
    if (one_in(&make->random, 50))
        return (int64_t)below(&make->random, UINT64_C(1) << 36);
    return (int64_t)below(&make->random, one_in(&make->random, 3) ? 3 : 5000);
}

static void make_names(maker *make) {
    char text[64];
    const uint64_t strings = 1 + below(&make->random, 40);
    for (uint64_t i = 0; i < strings; i++) {
        const size_t size = below(&make->random, sizeof text);
        for (size_t k = 0; k < size; k++)
            text[k] = (char)(1 + below(&make->random, 255));
        sb_trace_add_string(make->trace, (sb_slice){text, size});
    }
    const uint64_t sources = 1 + below(&make->random, 20);
    for (uint64_t i = 0; i < sources; i++) {
        const sb_source source = {any_string(make), any_string(make), any_string(make),
                                  (uint32_t)next_random(&make->random),
                                  (uint32_t)next_random(&make->random)};
        sb_trace_add_source(make->trace, &source);
    }
    const uint64_t notes = below(&make->random, 20);
    for (uint64_t i = 0; i < notes; i++)
        *(sb_zone_note *)sb_series_push(&make->trace->notes) = (sb_zone_note){
            any_string(make), any_string(make), (uint32_t)below(&make->random, 1 << 24),
            (uint32_t)below(&make->random, make->callstacks + 1)};
}

static uint32_t make_thread(maker *make, uint64_t id) {
    const uint32_t thread = sb_trace_thread(make->trace, id);
    ((sb_thread *)sb_series_at(&make->trace->threads, thread))->name = any_string(make);
    return thread;
}

static void annotate(maker *make, sb_track *track, uint32_t zone) {
    const uint64_t notes = sb_series_count(&make->trace->notes);
    if (one_in(&make->random, 3))
        *(uint32_t *)sb_series_slot(&track->note, zone) = (uint32_t)below(&make->random, notes);
}

/* Opens and closes zones at random; those open at the end have none, as in a cut recording. */
static void make_zones(maker *make, sb_track *track, uint64_t steps) {
    int64_t time = some_step(make);
    unsigned depth = 0;
    for (uint64_t i = 0; i < steps; i++) {
        time += some_step(make);
        if (depth == 0 || one_in(&make->random, 2)) {
            annotate(make, track, sb_track_begin(track, time, some_source(make)));
            depth++;
        } else {
            sb_track_end(track, time);
            depth--;
        }
    }
    while (depth-- > 0)
        sb_track_end(track, one_in(&make->random, 4) ? SB_NO_TIME : time);
}

/* Zones without an end may only be around others without one. */
static void close_open_zones(sb_track *track) {
    for (uint64_t i = sb_track_zone_count(track); i > 0; i--) {
        const uint32_t zone = (uint32_t)i - 1;
        const uint32_t parent = sb_track_zone_parent(track, zone);
        if (sb_track_zone_end(track, zone) != SB_NO_TIME || parent == SB_NONE)
            continue;
        *(uint32_t *)sb_series_slot(&track->duration, parent) = SB_ZONE_OPEN;
    }
}

static void make_host_tracks(maker *make) {
    const uint64_t count = below(&make->random, 5);
    for (uint64_t i = 0; i < count; i++) {
        const bool fiber = one_in(&make->random, 4);
        const uint32_t thread = make_thread(make, (fiber ? UINT64_C(1) << 32 : 100) + i);
        sb_track *track = sb_trace_add_track(make->trace, fiber ? SB_TRACK_FIBER : SB_TRACK_THREAD,
                                             thread, SB_NONE);
        make_zones(make, track, below(&make->random, 400));
        close_open_zones(track);
    }
}

static void make_issue_times(maker *make, sb_track *track, bool has_owner) {
    for (uint32_t i = 0; i < sb_track_zone_count(track); i++) {
        *(int64_t *)sb_series_slot(&track->issue_start, i) = some_step(make);
        *(int64_t *)sb_series_slot(&track->issue_end, i) =
            one_in(&make->random, 5) ? SB_NO_TIME : some_step(make);
        *(uint32_t *)sb_series_slot(&track->issuer, i) =
            has_owner ? any_thread(make) : track->thread;
        *(uint32_t *)sb_series_slot(&track->callstack, i) =
            (uint32_t)below(&make->random, make->callstacks + 1);
        *(uint32_t *)sb_series_slot(&track->note, i) = 0;
    }
}

static void make_devices(maker *make) {
    const uint64_t count = below(&make->random, 4);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t threads = sb_series_count(&make->trace->threads);
        const bool has_owner = threads > 1 && one_in(&make->random, 2);
        sb_context *context = sb_trace_add_context(make->trace);
        context->thread = has_owner ? (uint32_t)(1 + below(&make->random, threads - 1)) : 0;
        context->type = (uint8_t)(1 + below(&make->random, 5));
        context->calibrated = one_in(&make->random, 2);
        context->period = (float)below(&make->random, 100) / 8;
        context->name = any_string(make);
        context->overflow = next_random(&make->random);
        const uint64_t lanes = has_owner ? 1 : 1 + below(&make->random, 4);
        for (uint64_t k = 0; k < lanes; k++) {
            const uint32_t thread =
                has_owner ? context->thread : make_thread(make, 100000 + i * 100 + k);
            sb_track *track = sb_trace_add_track(make->trace, SB_TRACK_LANE, thread, i);
            if (has_owner)
                track->lane_id = 0;
            make_zones(make, track, 1 + below(&make->random, 100));
            close_open_zones(track);
            make_issue_times(make, track, has_owner);
        }
    }
}

static void make_messages(maker *make) {
    int64_t time = 0;
    const uint64_t tracks = sb_series_count(&make->trace->tracks);
    const uint64_t count = tracks > 0 ? below(&make->random, 50) : 0;
    for (uint64_t i = 0; i < count; i++) {
        const sb_track *track = sb_trace_track(make->trace, below(&make->random, tracks));
        const bool lone = track->kind == SB_TRACK_LANE || one_in(&make->random, 5);
        time += some_step(make);
        const sb_message message = {.time = time,
                                    .text = any_string(make),
                                    .colour = (uint32_t)next_random(&make->random),
                                    .callstack =
                                        (uint32_t)below(&make->random, make->callstacks + 1),
                                    .thread = lone ? 0 : track->thread,
                                    .severity = 2};
        sb_trace_add_message(make->trace, &message);
    }
}

static void make_frames(maker *make) {
    const uint64_t sets = 1 + below(&make->random, 3);
    for (uint64_t i = 0; i < sets; i++) {
        const bool continuous = i == 0 || one_in(&make->random, 2);
        sb_frame_set *set =
            sb_trace_add_frame_set(make->trace, i == 0 ? 0 : some_string(make), continuous);
        if (i > 0 && one_in(&make->random, 4)) {
            set->name = 0;
            set->vsync_id = UINT64_C(1) << 63 | i;
        }
        int64_t time = 0;
        const uint64_t frames = (i == 0 ? 2 : 0) + below(&make->random, 20);
        for (uint64_t k = 0; k < frames; k++) {
            sb_frame frame = {.start = time, .end = SB_NO_TIME, .image = -1};
            time += some_step(make);
            if (!continuous && !one_in(&make->random, 9))
                frame.end = time;
            *(sb_frame *)sb_series_push(&set->frames) = frame;
        }
    }
}

static void make_plots(maker *make) {
    const uint64_t count = below(&make->random, 4);
    for (uint64_t i = 0; i < count; i++) {
        sb_plot *plot = sb_trace_add_plot(make->trace, any_string(make));
        plot->type = (uint8_t)below(&make->random, 4);
        plot->format = (uint8_t)below(&make->random, 4);
        plot->steps = (uint8_t)below(&make->random, 2);
        plot->colour = (uint32_t)next_random(&make->random);
        int64_t time = 0;
        for (uint64_t k = below(&make->random, 30); k > 0; k--) {
            time += some_step(make);
            *(sb_plot_point *)sb_series_push(&plot->points) =
                (sb_plot_point){time, (double)(int64_t)next_random(&make->random) / 1024};
        }
    }
}

static void make_memory(maker *make) {
    for (sb_string name = 0; name < 3 && name < sb_series_count(&make->trace->strings); name++) {
        sb_memory_pool *pool = sb_trace_add_pool(make->trace, name);
        int64_t time = 0;
        for (uint64_t k = below(&make->random, 30); k > 0; k--) {
            time += some_step(make);
            sb_memory_event event = {.time = time, .freed = SB_NO_TIME};
            event.address = next_random(&make->random);
            event.size = below(&make->random, UINT64_C(1) << 40);
            event.thread = any_thread(make);
            event.freed_by = any_thread(make);
            event.callstack = (uint32_t)below(&make->random, make->callstacks + 1);
            if (one_in(&make->random, 2))
                event.freed = time + some_step(make);
            *(sb_memory_event *)sb_series_push(&pool->events) = event;
        }
    }
}

static void make_locks(maker *make) {
    const uint64_t count = below(&make->random, 3);
    for (uint32_t i = 0; i < count; i++) {
        sb_lock *lock = sb_trace_add_lock(make->trace, i);
        lock->name = any_string(make);
        lock->source = one_in(&make->random, 3) ? 0 : some_source(make);
        lock->type = (uint8_t)below(&make->random, 2);
        lock->announced = some_step(make);
        lock->terminated = one_in(&make->random, 2) ? 0 : some_step(make);
        const uint64_t threads = below(&make->random, 4);
        for (uint64_t k = 0; k < threads; k++)
            *(uint32_t *)sb_series_push(&lock->threads) = any_thread(make);
        int64_t time = lock->announced;
        for (uint64_t k = threads > 0 ? below(&make->random, 30) : 0; k > 0; k--) {
            time += some_step(make);
            *(sb_lock_event *)sb_series_push(&lock->events) =
                (sb_lock_event){time, one_in(&make->random, 3) ? 0 : some_source(make),
                                (uint8_t)below(&make->random, threads),
                                (uint8_t)below(&make->random, lock->type == 0 ? 3 : 6)};
        }
    }
}

/* Two callstacks, one of them empty; a thread of another program. */
static void make_opaque(maker *make) {
    static const char callstacks[] = "\2\0\0\0\0\0\0\0"
                                     "\1\0\x55\0\0\0\0\0\0\0"
                                     "\0";
    static const char strangers[] = "\1\0\0\0\0\0\0\0"
                                    "\x11\0\0\0\0\0\0";
    sb_trace *trace = make->trace;
    make->callstacks = 2;
    trace->file.opaque_items[SB_OPAQUE_CALLSTACKS] = 2;
    trace->opaque[SB_OPAQUE_CALLSTACKS] = (sb_slice){callstacks, sizeof callstacks};
    trace->file.opaque_items[SB_OPAQUE_EXTERNAL_THREADS] = 1;
    trace->opaque[SB_OPAQUE_EXTERNAL_THREADS] = (sb_slice){strangers, sizeof strangers};
}

static void make_info(maker *make) {
    sb_trace_info *info = &make->trace->info;
    info->program = (sb_slice)SB_SLICE("program");
    info->capture_name = (sb_slice)SB_SLICE("capture");
    info->host = (sb_slice)SB_SLICE("OS: one\nCPU: two");
    info->captured_at = next_random(&make->random);
    info->resolution = 7;
    info->timer_multiplier = 0.25;
    info->process_id = next_random(&make->random);
    info->cpu_architecture = 2;
    memcpy(info->cpu_manufacturer, "GenuineIntel", sizeof info->cpu_manufacturer);
    info->crash = (sb_crash){5, 6, some_string(make), make->callstacks};
    *(sb_stranger *)sb_series_push(&make->trace->strangers) =
        (sb_stranger){17, some_string(make), any_string(make)};
    *(sb_string *)sb_series_push(&make->trace->app_info) = any_string(make);
    sb_trace_add_loss(make->trace,
                      &(sb_loss){.from = 5,
                                 .to = one_in(&make->random, 2) ? 9 : SB_NO_TIME,
                                 .thread = sb_series_count(&make->trace->threads) > 1 ? 1 : SB_NONE,
                                 .cause = SB_LOSS_BUFFER_FULL,
                                 .count = next_random(&make->random),
                                 .text = some_string(make)});
    const int64_t end = sb_trace_end_time(make->trace);
    info->last_time = end < 2 ? 2 : end;
}

sb_trace *make_random_trace(uint64_t seed) {
    maker make = {.random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1, .trace = sb_trace_create()};
    if (one_in(&make.random, 2))
        make_opaque(&make);
    make_names(&make);
    make_host_tracks(&make);
    make_devices(&make);
    make_messages(&make);
    make_frames(&make);
    make_plots(&make);
    make_memory(&make);
    make_locks(&make);
    make_info(&make);
    return make.trace;
}

/* ---- as text ---- */

static void dump_string(const sb_trace *trace, sb_output *output, sb_string string) {
    if (string == 0) {
        sb_put_text(output, " -");
        return;
    }
    const sb_slice text = sb_trace_text(trace, string);
    sb_put_format(output, " %zu'", text.size);
    sb_put(output, text);
    sb_put_char(output, '\'');
}

static void dump_number(sb_output *output, int64_t number) {
    sb_put_format(output, " %" PRId64, number);
}

static int64_t slot_or_zero(const sb_series *series, uint32_t index) {
    const void *slot = sb_series_find(series, index);
    if (slot == NULL)
        return 0;
    return series->element_size == 8 ? *(const int64_t *)slot : *(const uint32_t *)slot;
}

static void dump_track(const sb_trace *trace, sb_output *output, const sb_track *track) {
    sb_put_format(output, "track %d %u %u %" PRIu64 " %d", (int)track->kind, track->thread,
                  track->context, track->lane_id, track->unsorted);
    sb_put(output, track->samples);
    sb_put_char(output, '\n');
    for (uint32_t i = 0; i < sb_track_zone_count(track); i++) {
        const sb_zone_note *note = sb_trace_zone_note(trace, track, i);
        sb_put_format(output, " %u %u", sb_track_zone_source(track, i),
                      sb_track_zone_parent(track, i));
        dump_number(output, sb_track_zone_start(track, i));
        dump_number(output, sb_track_zone_end(track, i));
        if (note != NULL) {
            dump_string(trace, output, note->text);
            dump_string(trace, output, note->name);
            sb_put_format(output, " %u %u", note->colour, note->callstack);
        }
        if (track->kind == SB_TRACK_LANE) {
            dump_number(output, slot_or_zero(&track->issue_start, i));
            dump_number(output, slot_or_zero(&track->issue_end, i));
            dump_number(output, slot_or_zero(&track->issuer, i));
            dump_number(output, slot_or_zero(&track->callstack, i));
        }
        sb_put_char(output, '\n');
    }
}

static void dump_names(const sb_trace *trace, sb_output *output) {
    for (uint32_t i = 1; i < sb_series_count(&trace->sources); i++) {
        const sb_source *source = sb_trace_source(trace, i);
        sb_put_format(output, "source %u %u", source->line, source->colour);
        dump_string(trace, output, source->name);
        dump_string(trace, output, source->function);
        dump_string(trace, output, source->file);
        sb_put_char(output, '\n');
    }
    for (uint32_t i = 0; i < sb_series_count(&trace->threads); i++) {
        const sb_thread *thread = sb_trace_thread_at(trace, i);
        sb_put_format(output, "thread %" PRIu64, thread->id);
        dump_string(trace, output, thread->name);
        sb_put_char(output, '\n');
    }
}

static void dump_contexts(const sb_trace *trace, sb_output *output) {
    for (uint32_t i = 0; i < sb_series_count(&trace->contexts); i++) {
        const sb_context *context = sb_trace_context(trace, i);
        sb_put_format(output, "context %u %u %d %g %" PRIu64, context->thread, context->type,
                      context->calibrated, (double)context->period, context->overflow);
        dump_string(trace, output, context->name);
        sb_put_char(output, '\n');
        for (uint64_t k = 0; k < sb_series_count(&context->value_names); k++) {
            const sb_value_name *name = sb_series_at(&context->value_names, k);
            dump_number(output, name->id);
            dump_string(trace, output, name->name);
        }
        for (uint64_t k = 0; k < sb_series_count(&context->values); k++) {
            const sb_device_value *value = sb_series_at(&context->values, k);
            sb_put_format(output, " value %u %" PRId64 " %g\n", value->query, value->name_id,
                          value->value);
        }
        for (uint64_t k = 0; k < sb_series_count(&context->markers); k++) {
            const sb_device_marker *marker = sb_series_at(&context->markers, k);
            sb_put_format(output, " marker %" PRId64 " %" PRIu64 " %u %u", marker->time,
                          marker->lane_id, marker->source, marker->type);
            dump_string(trace, output, marker->meta);
            sb_put_char(output, '\n');
        }
    }
}

static void dump_messages(const sb_trace *trace, sb_output *output) {
    for (uint64_t i = 0; i < sb_series_count(&trace->messages); i++) {
        const sb_message *message = sb_series_at(&trace->messages, i);
        sb_put_format(output, "message %" PRId64 " %u %u %u %u %u", message->time, message->colour,
                      message->callstack, message->thread, message->source, message->severity);
        dump_string(trace, output, message->text);
        sb_put_char(output, '\n');
    }
}

static void dump_frames(const sb_trace *trace, sb_output *output) {
    for (uint64_t i = 0; i < sb_series_count(&trace->frame_sets); i++) {
        const sb_frame_set *set = sb_series_at(&trace->frame_sets, i);
        sb_put_format(output, "frames %d %" PRIu64, set->continuous, set->vsync_id);
        dump_string(trace, output, set->name);
        for (uint64_t k = 0; k < sb_series_count(&set->frames); k++) {
            const sb_frame *frame = sb_series_at(&set->frames, k);
            sb_put_format(output, " %" PRId64 "-%" PRId64 "/%d", frame->start, frame->end,
                          frame->image);
        }
        sb_put_char(output, '\n');
    }
}

static void dump_plots(const sb_trace *trace, sb_output *output) {
    for (uint64_t i = 0; i < sb_series_count(&trace->plots); i++) {
        const sb_plot *plot = sb_series_at(&trace->plots, i);
        sb_put_format(output, "plot %u %u %u %u %u", plot->type, plot->format, plot->steps,
                      plot->fill, plot->colour);
        dump_string(trace, output, plot->name);
        for (uint64_t k = 0; k < sb_series_count(&plot->points); k++) {
            const sb_plot_point *point = sb_series_at(&plot->points, k);
            sb_put_format(output, " %" PRId64 "=%a", point->time, point->value);
        }
        sb_put_char(output, '\n');
    }
}

static void dump_memory(const sb_trace *trace, sb_output *output) {
    for (uint64_t i = 0; i < sb_series_count(&trace->pools); i++) {
        const sb_memory_pool *pool = sb_series_at(&trace->pools, i);
        sb_put_text(output, "pool");
        dump_string(trace, output, pool->name);
        for (uint64_t k = 0; k < sb_series_count(&pool->events); k++) {
            const sb_memory_event *event = sb_series_at(&pool->events, k);
            sb_put_format(output, "\n %" PRId64 "-%" PRId64 " %" PRIx64 "+%" PRIu64 " %u %u %u %u",
                          event->time, event->freed, event->address, event->size, event->thread,
                          event->freed_by, event->callstack, event->freed_callstack);
        }
        sb_put_char(output, '\n');
    }
}

static void dump_locks(const sb_trace *trace, sb_output *output) {
    for (uint64_t i = 0; i < sb_series_count(&trace->locks); i++) {
        const sb_lock *lock = sb_series_at(&trace->locks, i);
        sb_put_format(output, "lock %u %u %u %u %" PRId64 "-%" PRId64, lock->id, lock->source,
                      lock->type, lock->valid, lock->announced, lock->terminated);
        dump_string(trace, output, lock->name);
        for (uint64_t k = 0; k < sb_series_count(&lock->threads); k++)
            dump_number(output, *(const uint32_t *)sb_series_at(&lock->threads, k));
        for (uint64_t k = 0; k < sb_series_count(&lock->events); k++) {
            const sb_lock_event *event = sb_series_at(&lock->events, k);
            sb_put_format(output, " %" PRId64 ":%u:%u:%u", event->time, event->source,
                          event->thread, event->kind);
        }
        sb_put_char(output, '\n');
    }
}

static void dump_info(const sb_trace *trace, sb_output *output) {
    const sb_trace_info *info = &trace->info;
    sb_put_format(output, "info %" PRId64 " %a %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u",
                  info->resolution, info->timer_multiplier, info->last_time, info->process_id,
                  info->captured_at, info->built_at, info->cpu_architecture);
    sb_put(output, (sb_slice){info->cpu_manufacturer, sizeof info->cpu_manufacturer});
    sb_put(output, info->program);
    sb_put(output, info->capture_name);
    sb_put(output, info->host);
    dump_string(trace, output, info->crash.message);
    sb_put_format(output, " %" PRIu64 " %" PRId64 " %u\n", info->crash.thread_id, info->crash.time,
                  info->crash.callstack);
    for (uint64_t i = 0; i < sb_series_count(&trace->app_info); i++)
        dump_string(trace, output, *(const sb_string *)sb_series_at(&trace->app_info, i));
    for (uint64_t i = 0; i < sb_series_count(&trace->losses); i++) {
        const sb_loss *loss = sb_series_at(&trace->losses, i);
        sb_put_format(output, "loss %" PRId64 " %" PRId64 " %u %u %" PRIu64 " ", loss->from,
                      loss->to, loss->thread, (unsigned)loss->cause, loss->count);
        dump_string(trace, output, loss->text);
    }
    for (uint64_t i = 0; i < sb_series_count(&trace->strangers); i++) {
        const sb_stranger *stranger = sb_series_at(&trace->strangers, i);
        dump_number(output, (int64_t)stranger->thread_id);
        dump_string(trace, output, stranger->process_name);
        dump_string(trace, output, stranger->thread_name);
    }
    for (unsigned i = 0; i < SB_OPAQUE_COUNT; i++) {
        sb_put_format(output, "\nopaque %" PRIu64 " ", trace->file.opaque_items[i]);
        sb_put(output, trace->opaque[i]);
    }
    sb_put_char(output, '\n');
}

void dump_trace(const sb_trace *trace, sb_output *output) {
    dump_info(trace, output);
    dump_names(trace, output);
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++)
        dump_track(trace, output, sb_trace_track(trace, i));
    dump_contexts(trace, output);
    dump_messages(trace, output);
    dump_frames(trace, output);
    dump_plots(trace, output);
    dump_memory(trace, output);
    dump_locks(trace, output);
}
