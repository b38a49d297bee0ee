/*
 * Reading a trace file: zones.
 *
 * A file stores zones as trees: a zone, the number of its children, the children, its end. They are
 * read with a list of open levels instead of recursion, so that no nesting, however deep, can use
 * up the stack.
 */
#include "trace/trace_read.h"
#include "trace/trace_track.h"

/* ---- notes ---- */

void read_notes(trace_reader *reader) {
    enum { NOTE_SIZE = 12 };
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, NOTE_SIZE);
    for (uint64_t i = 0; i < count; i++) {
        sb_zone_note note = {.callstack = trace_input_u24(input)};
        note.text = reader_string_index(reader);
        note.name = reader_string_index(reader);
        note.colour = trace_input_u24(input);
        if (input->failed)
            return;
        reader->file_notes = i + 1;
        /* The file's number 0 is nobody's, as ours is. */
        if (i > 0)
            *(sb_zone_note *)sb_series_push(&reader->trace->notes) = note;
    }
}

static void attach_note(trace_reader *reader, sb_track *track, uint32_t zone, uint32_t note) {
    if (note < reader->file_notes)
        *(uint32_t *)sb_series_slot(&track->note, zone) = note;
    else
        reader->trace->file.bad_references++;
}

/* ---- zones of the host ---- */

enum { ZONE_HEAD_SIZE = 18, ZONE_SIZE = 26 };

/* Zones still to come on each open level, innermost last. */
typedef struct levels {
    sb_vector left; /* uint64_t */
} levels;

static void open_level(levels *stack, uint64_t count) {
    *(uint64_t *)sb_vector_push(&stack->left) = count;
}

static uint64_t *innermost(const levels *stack) {
    return sb_vector_at(&stack->left, stack->left.count - 1);
}

/*
 * The tree of zones is read in two ways that continue each other: quickly while what comes next is
 * whole in the current chunk, and one field at a time where it spans two chunks.
 */
typedef struct zone_tree {
    trace_reader *reader;
    sb_track *track;
    levels stack;
    uint64_t left;  /* zones still to come on the innermost level */
    int64_t time;   /* the running time */
    bool is_ending; /* the next thing is the end of the innermost open zone */
} zone_tree;

static void take_note(zone_tree *tree, uint32_t zone, const uint8_t *bytes) {
    const uint32_t note = load_le32(bytes + 10);
    if (note != 0)
        attach_note(tree->reader, tree->track, zone, note);
}

/* Goes into a zone that has others inside. */
static void descend(zone_tree *tree, uint32_t children) {
    trace_input *input = &tree->reader->input;
    if (children > trace_input_left(input) / ZONE_SIZE) {
        trace_input_fail(input, "%u zones inside a zone cannot follow", children);
        return;
    }
    open_level(&tree->stack, tree->left);
    tree->left = children;
}

/* Goes back to the level around; what comes next is the end of the zone there. */
static void ascend(zone_tree *tree) {
    tree->left = *innermost(&tree->stack);
    tree->stack.left.count--;
    tree->is_ending = true;
}

static bool is_whole(const zone_tree *tree) {
    return tree->left == 0 && tree->stack.left.count == 0 && !tree->is_ending;
}

/* As much as the current chunk holds whole. */
static void read_zones_quickly(zone_tree *tree) {
    trace_input *input = &tree->reader->input;
    sb_track *track = tree->track;
    const uint8_t *at = input->at;
    int64_t time = tree->time;
    while (input->end - at >= ZONE_SIZE && !track_is_full(track)) {
        if (tree->is_ending) {
            time = (int64_t)((uint64_t)time + load_le64(at));
            at += 8;
            track_end(track, time);
            tree->is_ending = false;
        } else if (tree->left > 0) {
            const uint32_t children = load_le32(at + 14);
            const uint32_t source = reader_source(tree->reader, (int16_t)load_le16(at));
            const int64_t start = (int64_t)((uint64_t)time + load_le64(at + 2));
            tree->left--;
            if (children == 0) {
                time = (int64_t)((uint64_t)start + load_le64(at + 18));
                take_note(tree, track_add(track, start, time, source), at);
                at += ZONE_SIZE;
            } else {
                time = start;
                take_note(tree, track_begin(track, start, source), at);
                at += ZONE_HEAD_SIZE;
                input->at = at;
                descend(tree, children);
                if (input->failed)
                    return;
            }
        } else if (tree->stack.left.count > 0) {
            ascend(tree);
        } else {
            break;
        }
    }
    input->at = at;
    tree->time = time;
}

/* One step across chunks. */
static void read_zone_slowly(zone_tree *tree) {
    trace_input *input = &tree->reader->input;
    if (tree->is_ending) {
        trace_input_time(input, &tree->time);
        if (!input->failed)
            track_end(tree->track, tree->time);
        tree->is_ending = false;
        return;
    }
    if (tree->left == 0) {
        ascend(tree);
        return;
    }
    const uint8_t *bytes = trace_input_take(input, ZONE_HEAD_SIZE);
    const uint32_t children = load_le32(bytes + 14);
    const uint32_t source = reader_source(tree->reader, (int16_t)load_le16(bytes));
    tree->time = (int64_t)((uint64_t)tree->time + load_le64(bytes + 2));
    if (input->failed)
        return;
    if (track_is_full(tree->track)) {
        trace_input_fail(input, "a thread has more zones than can be numbered");
        return;
    }
    tree->left--;
    take_note(tree, track_begin(tree->track, tree->time, source), bytes);
    if (children > 0)
        descend(tree, children);
    else
        tree->is_ending = true;
}

/* A level of zones with all that is inside them. */
static void read_zone_tree(trace_reader *reader, sb_track *track, uint64_t count) {
    zone_tree tree = {
        .reader = reader, .track = track, .stack = {sb_vector_of(sizeof(uint64_t))}, .left = count};
    while (!is_whole(&tree) && !reader->input.failed) {
        read_zones_quickly(&tree);
        if (!is_whole(&tree) && !reader->input.failed)
            read_zone_slowly(&tree);
    }
    track->open = SB_NONE;
    sb_vector_free(&tree.stack.left);
}

/* The messages of a thread are a list of keys; the messages themselves came before. */
static void read_message_keys(trace_reader *reader, uint32_t thread) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 8);
    for (uint64_t i = 0; i < count && !input->failed; i++) {
        const uint64_t key = trace_input_u64(input);
        uint32_t number = 0;
        if (input->failed)
            return;
        if (sb_idmap_get(&reader->message_keys, key, &number))
            ((sb_message *)sb_series_at(&reader->trace->messages, number))->thread = thread;
        else
            reader->trace->file.bad_references++;
    }
}

static void read_thread(trace_reader *reader) {
    enum { SAMPLE_SIZE = 11, FIRST_FIBER_BIT = 32 };
    trace_input *input = &reader->input;
    const uint64_t id = trace_input_u64(input);
    trace_input_skip(input, 8);
    const uint64_t kernel_samples = trace_input_u64(input);
    const bool is_fiber = trace_input_u8(input) != 0;
    const int32_t hint = reader->layout.group_hint ? (int32_t)trace_input_u32(input) : 0;
    if (input->failed)
        return;
    const uint32_t thread = sb_trace_thread(reader->trace, id);
    const sb_track_kind kind = is_fiber ? SB_TRACK_FIBER : SB_TRACK_THREAD;
    sb_track *track = sb_trace_add_track(reader->trace, kind, thread, SB_NONE);
    track->kernel_samples = kernel_samples;
    track->group_hint = hint;
    read_zone_tree(reader, track, trace_input_count32(input, ZONE_SIZE));
    read_message_keys(reader, thread);
    uint64_t samples = 0;
    track->switch_samples = read_opaque_list(reader, SAMPLE_SIZE, &samples);
    track->samples = read_opaque_list(reader, SAMPLE_SIZE, &samples);
}

void read_zones(trace_reader *reader) {
    trace_input_skip(&reader->input, 16);
    const uint64_t count = trace_input_count(&reader->input, 8 + 8 + 8 + 1 + 4 + 3 * 8);
    for (uint64_t i = 0; i < count && !reader->input.failed; i++)
        read_thread(reader);
}

/* ---- zones of devices ---- */

enum { DEVICE_HEAD_SIZE = 31, DEVICE_SIZE = 47 };

/* Device zones have two running times. */
typedef struct device_times {
    int64_t issued;
    int64_t executed;
} device_times;

static void set_issue(sb_series *column, uint32_t zone, int64_t time) {
    *(int64_t *)sb_series_slot(column, zone) = time;
}

static uint64_t read_device_zone_head(trace_reader *reader, sb_track *track, device_times *times) {
    trace_input *input = &reader->input;
    const uint8_t *bytes = trace_input_take(input, DEVICE_HEAD_SIZE);
    times->issued = (int64_t)((uint64_t)times->issued + load_le64(bytes));
    times->executed = (int64_t)((uint64_t)times->executed + load_le64(bytes + 8));
    const int16_t number = (int16_t)load_le16(bytes + 16);
    const uint32_t callstack = load_le24(bytes + 18);
    const uint16_t issuer = load_le16(bytes + 21);
    const uint64_t children = load_le64(bytes + 23);
    if (input->failed)
        return 0;
    const uint32_t zone = sb_track_begin(track, times->executed, reader_source(reader, number));
    if (zone == SB_NONE) {
        trace_input_fail(input, "a lane has more zones than can be numbered");
        return 0;
    }
    set_issue(&track->issue_start, zone, times->issued);
    set_issue(&track->issue_end, zone, SB_NO_TIME);
    if (callstack != 0)
        *(uint32_t *)sb_series_slot(&track->callstack, zone) = callstack;
    *(uint32_t *)sb_series_slot(&track->issuer, zone) = reader_thread(reader, issuer);
    if (children > trace_input_left(input) / DEVICE_SIZE)
        trace_input_fail(input, "%llu zones inside a zone cannot follow",
                         (unsigned long long)children);
    return input->failed ? 0 : children;
}

static void read_device_zone_end(trace_reader *reader, sb_track *track, device_times *times) {
    trace_input *input = &reader->input;
    const uint32_t zone = track->open;
    trace_input_time(input, &times->issued);
    trace_input_time(input, &times->executed);
    const uint16_t query = reader->layout.device_values ? trace_input_u16(input) : 0;
    if (input->failed)
        return;
    set_issue(&track->issue_end, zone, times->issued);
    if (query != 0)
        *(uint32_t *)sb_series_slot(&track->query, zone) = query;
    sb_track_end(track, times->executed);
}

static void read_device_tree(trace_reader *reader, sb_track *track, uint64_t count) {
    device_times times = {0, 0};
    levels stack = {sb_vector_of(sizeof(uint64_t))};
    open_level(&stack, count);
    while (!reader->input.failed) {
        uint64_t *left = innermost(&stack);
        if (*left > 0) {
            --*left;
            const uint64_t children = read_device_zone_head(reader, track, &times);
            if (children > 0) {
                open_level(&stack, children);
                continue;
            }
        } else {
            stack.left.count--;
            if (stack.left.count == 0)
                break;
        }
        read_device_zone_end(reader, track, &times);
    }
    track->open = SB_NONE;
    sb_vector_free(&stack.left);
}

/* ---- contexts ---- */

static void read_lanes(trace_reader *reader, uint32_t context, uint32_t owner) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 16);
    for (uint64_t i = 0; i < count && !input->failed; i++) {
        const uint64_t lane_id = trace_input_u64(input);
        const uint64_t zones = trace_input_count(input, DEVICE_SIZE);
        if (input->failed)
            return;
        const uint32_t thread = owner != 0 ? owner : sb_trace_thread(reader->trace, lane_id);
        sb_track *track = sb_trace_add_track(reader->trace, SB_TRACK_LANE, thread, context);
        track->lane_id = lane_id;
        if (owner == 0)
            ((sb_thread *)sb_series_at(&reader->trace->threads, thread))->is_lane = true;
        read_device_tree(reader, track, zones);
    }
}

static void read_value_names(trace_reader *reader, sb_context *context) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 11);
    for (uint64_t i = 0; i < count; i++) {
        sb_value_name name = {.id = trace_input_i64(input)};
        name.name = reader_string_index(reader);
        if (input->failed)
            return;
        *(sb_value_name *)sb_series_push(&context->value_names) = name;
    }
}

static void read_values(trace_reader *reader, sb_context *context) {
    trace_input *input = &reader->input;
    const uint64_t queries = trace_input_count(input, 10);
    for (uint64_t i = 0; i < queries && !input->failed; i++) {
        const uint16_t query = trace_input_u16(input);
        const uint64_t count = trace_input_count(input, 16);
        for (uint64_t k = 0; k < count; k++) {
            sb_device_value value = {.query = query, .name_id = trace_input_i64(input)};
            value.value = trace_input_double(input);
            if (input->failed)
                return;
            *(sb_device_value *)sb_series_push(&context->values) = value;
        }
    }
}

static void read_markers(trace_reader *reader, sb_context *context) {
    trace_input *input = &reader->input;
    const uint64_t lanes = trace_input_count(input, 16);
    for (uint64_t i = 0; i < lanes && !input->failed; i++) {
        const uint64_t lane_id = trace_input_u64(input);
        const uint64_t count = trace_input_count(input, 14);
        for (uint64_t k = 0; k < count; k++) {
            sb_device_marker marker = {.time = trace_input_i64(input), .lane_id = lane_id};
            const int16_t number = (int16_t)trace_input_u16(input);
            marker.type = trace_input_u8(input);
            marker.meta = reader_string_index(reader);
            if (input->failed)
                return;
            marker.source = reader_source(reader, number);
            *(sb_device_marker *)sb_series_push(&context->markers) = marker;
        }
    }
}

static void read_context(trace_reader *reader) {
    trace_input *input = &reader->input;
    const uint64_t thread_id = trace_input_u64(input);
    const bool calibrated = trace_input_u8(input) != 0;
    trace_input_skip(input, 8);
    const float period = load_float(trace_input_take(input, 4));
    const uint8_t type = trace_input_u8(input);
    const sb_string name = reader_string_index(reader);
    const uint64_t overflow = trace_input_u64(input);
    if (input->failed)
        return;
    const uint32_t number = (uint32_t)reader->trace->contexts.count;
    sb_context *context = sb_trace_add_context(reader->trace);
    context->thread = thread_id == 0 ? 0 : sb_trace_thread(reader->trace, thread_id);
    context->calibrated = calibrated;
    context->period = period;
    context->type = type;
    context->name = name;
    context->overflow = overflow;
    if (reader->layout.device_values)
        read_value_names(reader, context);
    read_lanes(reader, number, context->thread);
    if (reader->layout.device_values)
        read_values(reader, context);
    if (reader->layout.markers)
        read_markers(reader, context);
}

void read_devices(trace_reader *reader) {
    trace_input_skip(&reader->input, 16);
    const uint64_t count = trace_input_count(&reader->input, 41);
    for (uint64_t i = 0; i < count && !reader->input.failed; i++)
        read_context(reader);
}
