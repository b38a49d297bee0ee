/*
 * Several traces as one: the programs of a session on one line of time.
 *
 * What a trace names by number (texts, sources, threads, notes) gets the numbers of the trace it is
 * joined to; times are moved by how much later its program's clock began.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/trace_stacks.h"

struct sb_trace_joint {
    sb_trace *into;
    sb_stack_tables stacks;
};

typedef struct trace_joiner {
    sb_trace *into;
    const sb_trace *from;
    int64_t shift;
    sb_slice program;
    sb_string *strings; /* numbers there, by number here; as all below */
    uint32_t *sources;
    uint32_t *threads;
    uint32_t first_stack;   /* call stack 1 becomes the one after this */
    uint64_t stack_count;   /* of the trace that is joined */
    uint32_t first_note;    /* note 1 becomes this one */
    uint32_t first_context; /* and context 0 this one */
    uint32_t process;
} trace_joiner;

static int64_t moved(const trace_joiner *join, int64_t time) {
    int64_t sum = 0;
    if (time == SB_NO_TIME || __builtin_add_overflow(time, join->shift, &sum))
        return time;
    return sum;
}

/* ---- names ---- */

static void join_strings(trace_joiner *join) {
    const uint64_t count = sb_series_count(&join->from->strings);
    join->strings = sb_alloc_zeroed(count, sizeof *join->strings);
    for (uint64_t i = 1; i < count; i++)
        join->strings[i] = sb_trace_string(join->into, sb_trace_text(join->from, (sb_string)i));
}

static sb_source moved_source(const trace_joiner *join, const sb_source *source) {
    return (sb_source){.name = join->strings[source->name],
                       .function = join->strings[source->function],
                       .file = join->strings[source->file],
                       .line = source->line,
                       .colour = source->colour};
}

/* The same place of two processes of one program is one. */
static void join_sources(trace_joiner *join) {
    sb_intern known;
    sb_vector numbers = sb_vector_of(sizeof(uint32_t));
    const uint64_t before = sb_series_count(&join->into->sources);
    const uint64_t count = sb_series_count(&join->from->sources);
    sb_intern_init(&known);
    join->sources = sb_alloc_zeroed(count, sizeof *join->sources);
    for (uint64_t i = 0; i < before + count; i++) {
        const bool is_new = i >= before;
        const sb_source source =
            is_new ? moved_source(join, sb_trace_source(join->from, (uint32_t)(i - before)))
                   : *sb_trace_source(join->into, (uint32_t)i);
        const uint32_t place =
            sb_intern_add(&known, (sb_slice){(const char *)&source, sizeof source});
        if (place == numbers.count)
            *(uint32_t *)sb_vector_push(&numbers) =
                is_new ? sb_trace_add_source(join->into, &source) : (uint32_t)i;
        if (is_new)
            join->sources[i - before] = *(uint32_t *)sb_vector_at(&numbers, place);
    }
    sb_intern_free(&known);
    sb_vector_free(&numbers);
}

/* Ids are a process's own, so each thread is a new one; who asks for an id finds the first. */
static void join_threads(trace_joiner *join, uint64_t process_id) {
    sb_trace *into = join->into;
    const uint64_t count = sb_series_count(&join->from->threads);
    join->process = (uint32_t)sb_series_count(&into->processes);
    sb_series_add(&into->processes,
                  &(sb_process){.id = process_id, .name = sb_trace_string(into, join->program)});
    join->threads = sb_alloc_zeroed(count, sizeof *join->threads);
    for (uint64_t i = 1; i < count; i++) {
        uint32_t known = 0;
        sb_thread thread = *sb_trace_thread_at(join->from, (uint32_t)i);
        thread.name = join->strings[thread.name];
        thread.process = join->process;
        join->threads[i] = (uint32_t)sb_series_count(&into->threads);
        sb_series_add(&into->threads, &thread);
        if (!sb_idmap_get(into->thread_numbers, thread.id, &known))
            sb_idmap_set(into->thread_numbers, thread.id, join->threads[i]);
    }
}

static uint32_t moved_stack(const trace_joiner *join, uint32_t number) {
    return number == 0 || number > join->stack_count ? 0 : number + join->first_stack;
}

static void join_notes(trace_joiner *join) {
    const uint64_t count = sb_series_count(&join->from->notes);
    join->first_note = (uint32_t)sb_series_count(&join->into->notes);
    for (uint64_t i = 1; i < count; i++) {
        sb_zone_note note = *(const sb_zone_note *)sb_series_at(&join->from->notes, i);
        note.text = join->strings[note.text];
        note.name = join->strings[note.name];
        note.callstack = moved_stack(join, note.callstack);
        sb_series_add(&join->into->notes, &note);
    }
}

/* "NAME (program)", so that plots of two processes are told apart. */
static sb_string labelled(const trace_joiner *join, sb_string name) {
    const sb_slice text = sb_trace_text(join->from, name);
    const sb_slice label =
        sb_arena_format(&join->into->arena, text.size > 0 ? "%.*s (%.*s)" : "%.*s%.*s",
                        (int)text.size, text.data, (int)join->program.size, join->program.data);
    return sb_trace_string(join->into, label);
}

/* ---- zones ---- */

static void join_times(const trace_joiner *join, sb_series *into, const sb_series *from,
                       uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        const int64_t *time = sb_series_find(from, i);
        if (time != NULL)
            *(int64_t *)sb_series_slot(into, i) = moved(join, *time);
        else
            i += sb_series_run(i) - 1; /* a segment that is not there */
    }
}

typedef uint32_t (*number_mapping)(const trace_joiner *join, uint32_t number);

static uint32_t same_number(const trace_joiner *join, uint32_t number) {
    (void)join;
    return number;
}

static uint32_t moved_source_number(const trace_joiner *join, uint32_t number) {
    return join->sources[number];
}

static uint32_t moved_note(const trace_joiner *join, uint32_t number) {
    return number == 0 ? 0 : number - 1 + join->first_note;
}

static uint32_t moved_thread(const trace_joiner *join, uint32_t number) {
    return join->threads[number];
}

static void join_words(const trace_joiner *join, sb_series *into, const sb_series *from,
                       uint64_t count, number_mapping mapping) {
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t *word = sb_series_find(from, i);
        if (word != NULL)
            *(uint32_t *)sb_series_slot(into, i) = mapping(join, *word);
        else
            i += sb_series_run(i) - 1;
    }
}

static void join_track(const trace_joiner *join, const sb_track *from) {
    sb_track *into = sb_trace_add_track(
        join->into, from->kind, join->threads[from->thread],
        from->context == SB_NONE ? SB_NONE : from->context + join->first_context);
    const uint64_t count = sb_track_zone_count(from);
    into->group_hint = from->group_hint;
    into->lane_id = from->lane_id;
    into->unsorted = from->unsorted;
    into->overlapping = from->overlapping;
    into->open = from->open;
    into->last_start = moved(join, from->last_start);
    into->latest_end = moved(join, from->latest_end);
    join_times(join, &into->start, &from->start, count);
    join_times(join, &into->long_end, &from->long_end, count);
    join_times(join, &into->issue_start, &from->issue_start, count);
    join_times(join, &into->issue_end, &from->issue_end, count);
    join_words(join, &into->duration, &from->duration, count, same_number);
    join_words(join, &into->source, &from->source, count, moved_source_number);
    join_words(join, &into->parent, &from->parent, count, same_number);
    join_words(join, &into->note, &from->note, count, moved_note);
    join_words(join, &into->issuer, &from->issuer, count, moved_thread);
    join_words(join, &into->query, &from->query, count, same_number);
    join_words(join, &into->callstack, &from->callstack, count, moved_stack);
    __atomic_store_n(&into->zone_count, count, __ATOMIC_RELEASE);
}

static void join_context(const trace_joiner *join, const sb_context *from) {
    sb_context *into = sb_trace_add_context(join->into);
    into->thread = join->threads[from->thread];
    into->type = from->type;
    into->calibrated = from->calibrated;
    into->period = from->period;
    into->name = join->strings[from->name];
    into->overflow = from->overflow;
    for (uint64_t i = 0; i < sb_series_count(&from->clocks); i++) {
        sb_clock_pair pair = *(const sb_clock_pair *)sb_series_at(&from->clocks, i);
        pair.host_ns = moved(join, pair.host_ns);
        sb_series_add(&into->clocks, &pair);
    }
    for (uint64_t i = 0; i < sb_series_count(&from->value_names); i++) {
        sb_value_name name = *(const sb_value_name *)sb_series_at(&from->value_names, i);
        name.name = join->strings[name.name];
        sb_series_add(&into->value_names, &name);
    }
    for (uint64_t i = 0; i < sb_series_count(&from->values); i++)
        sb_series_add(&into->values, sb_series_at(&from->values, i));
    for (uint64_t i = 0; i < sb_series_count(&from->markers); i++) {
        sb_device_marker marker = *(const sb_device_marker *)sb_series_at(&from->markers, i);
        marker.time = moved(join, marker.time);
        marker.source = join->sources[marker.source];
        marker.meta = join->strings[marker.meta];
        sb_series_add(&into->markers, &marker);
    }
}

/* ---- what happens ---- */

static int compare_times(const void *a, const void *b) {
    const sb_message *left = a;
    const sb_message *right = b;
    return (left->time > right->time) - (left->time < right->time);
}

/* Those of all programs, in order of time. */
static void join_messages(const trace_joiner *join) {
    sb_series *all = &join->into->messages;
    for (uint64_t i = 0; i < sb_series_count(&join->from->messages); i++) {
        sb_message message = *(const sb_message *)sb_series_at(&join->from->messages, i);
        message.time = moved(join, message.time);
        message.text = join->strings[message.text];
        message.thread = join->threads[message.thread];
        message.callstack = moved_stack(join, message.callstack);
        sb_series_add(all, &message);
    }
    const uint64_t count = sb_series_count(all);
    if (count == 0)
        return;
    sb_message *sorted = sb_alloc_zeroed(count, sizeof *sorted);
    for (uint64_t i = 0; i < count; i++)
        sorted[i] = *(const sb_message *)sb_series_at(all, i);
    qsort(sorted, count, sizeof *sorted, compare_times);
    for (uint64_t i = 0; i < count; i++)
        *(sb_message *)sb_series_at(all, i) = sorted[i];
    free(sorted);
}

/* Frames last until the next, the last one as long as its own program: their ends are said. */
static void join_frames(const trace_joiner *join, const sb_frame_set *from) {
    sb_frame_set *into = sb_trace_add_frame_set(join->into, labelled(join, from->name), false);
    const uint64_t count = sb_series_count(&from->frames);
    for (uint64_t i = 0; i < count; i++) {
        sb_frame frame = *(const sb_frame *)sb_series_at(&from->frames, i);
        if (from->continuous)
            frame.end = i + 1 < count ? ((sb_frame *)sb_series_at(&from->frames, i + 1))->start
                                      : sb_trace_end_time(join->from);
        frame.start = moved(join, frame.start);
        frame.end = moved(join, frame.end);
        frame.image = -1;
        sb_series_add(&into->frames, &frame);
    }
}

static void join_plot(const trace_joiner *join, const sb_plot *from) {
    sb_plot *into = sb_trace_add_plot(join->into, labelled(join, from->name));
    into->type = from->type;
    into->format = from->format;
    into->steps = from->steps;
    into->fill = from->fill;
    into->colour = from->colour;
    for (uint64_t i = 0; i < sb_series_count(&from->points); i++) {
        sb_plot_point point = *(const sb_plot_point *)sb_series_at(&from->points, i);
        point.time = moved(join, point.time);
        sb_series_add(&into->points, &point);
    }
}

static void join_pool(const trace_joiner *join, const sb_memory_pool *from) {
    sb_memory_pool *into = sb_trace_add_pool(join->into, labelled(join, from->name));
    for (uint64_t i = 0; i < sb_series_count(&from->events); i++) {
        sb_memory_event event = *(const sb_memory_event *)sb_series_at(&from->events, i);
        event.time = moved(join, event.time);
        event.freed = moved(join, event.freed);
        event.thread = join->threads[event.thread];
        event.freed_by = join->threads[event.freed_by];
        event.callstack = moved_stack(join, event.callstack);
        event.freed_callstack = moved_stack(join, event.freed_callstack);
        sb_series_add(&into->events, &event);
    }
}

static void join_lock(const trace_joiner *join, const sb_lock *from) {
    sb_lock *into = sb_trace_add_lock(join->into, from->id);
    into->name = labelled(join, from->name);
    into->source = join->sources[from->source];
    into->type = from->type;
    into->valid = from->valid;
    into->announced = moved(join, from->announced);
    into->terminated = moved(join, from->terminated);
    for (uint64_t i = 0; i < sb_series_count(&from->threads); i++) {
        const uint32_t thread = join->threads[*(const uint32_t *)sb_series_at(&from->threads, i)];
        sb_series_add(&into->threads, &thread);
    }
    for (uint64_t i = 0; i < sb_series_count(&from->events); i++) {
        sb_lock_event event = *(const sb_lock_event *)sb_series_at(&from->events, i);
        event.time = moved(join, event.time);
        event.source = join->sources[event.source];
        sb_series_add(&into->events, &event);
    }
}

static void join_losses(const trace_joiner *join) {
    for (uint64_t i = 0; i < sb_series_count(&join->from->losses); i++) {
        sb_loss loss = *(const sb_loss *)sb_series_at(&join->from->losses, i);
        loss.from = moved(join, loss.from);
        loss.to = moved(join, loss.to);
        loss.thread = loss.thread == SB_NONE ? SB_NONE : join->threads[loss.thread];
        loss.text = join->strings[loss.text];
        sb_trace_add_loss(join->into, &loss);
    }
}

/* ---- the whole ---- */

static void join_lists(const trace_joiner *join) {
    const sb_trace *from = join->from;
    for (uint64_t i = 0; i < sb_series_count(&from->contexts); i++)
        join_context(join, sb_trace_context(from, i));
    for (uint64_t i = 0; i < sb_series_count(&from->tracks); i++)
        join_track(join, sb_trace_track(from, i));
    join_messages(join);
    for (uint64_t i = 0; i < sb_series_count(&from->frame_sets); i++)
        join_frames(join, sb_series_at(&from->frame_sets, i));
    for (uint64_t i = 0; i < sb_series_count(&from->plots); i++)
        join_plot(join, sb_series_at(&from->plots, i));
    for (uint64_t i = 0; i < sb_series_count(&from->pools); i++)
        join_pool(join, sb_series_at(&from->pools, i));
    for (uint64_t i = 0; i < sb_series_count(&from->locks); i++)
        join_lock(join, sb_series_at(&from->locks, i));
    join_losses(join);
}

/* Of the first that is joined all of it counts. */
static void join_info(const trace_joiner *join) {
    sb_trace_info *into = &join->into->info;
    const sb_trace_info *from = &join->from->info;
    const int64_t last_time = moved(join, from->last_time);
    if (into->program.size == 0) {
        sb_arena *arena = &join->into->arena;
        *into = *from;
        into->program = sb_arena_copy(arena, from->program);
        into->capture_name = sb_arena_copy(arena, from->capture_name);
        into->host = sb_arena_copy(arena, from->host);
        into->crash = (sb_crash){0};
        into->last_time = 0;
    }
    into->last_time = last_time > into->last_time ? last_time : into->last_time;
}

sb_trace_joint *sb_trace_joint_create(sb_trace *into) {
    sb_trace_joint *joint = sb_alloc_zeroed(1, sizeof *joint);
    *joint = (sb_trace_joint){.into = into, .stacks = sb_stack_tables_make()};
    return joint;
}

void sb_trace_joint_finish(sb_trace_joint *joint) {
    sb_stack_tables_finish(&joint->stacks, joint->into);
    free(joint);
}

void sb_trace_join(sb_trace_joint *joint, const sb_trace *from, int64_t shift, sb_slice program,
                   uint64_t process_id) {
    trace_joiner join = {.into = joint->into,
                         .from = from,
                         .shift = shift,
                         .program = program,
                         .first_stack = (uint32_t)joint->stacks.stack_count,
                         .first_context = (uint32_t)sb_series_count(&joint->into->contexts)};
    join_strings(&join);
    join.stack_count = sb_stack_tables_add(&joint->stacks, from, join.strings);
    join_sources(&join);
    join_threads(&join, process_id);
    join_notes(&join);
    join_lists(&join);
    join_info(&join);
    free(join.strings);
    free(join.sources);
    free(join.threads);
}
