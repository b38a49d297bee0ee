/*
 * Reading a trace file: who, when and what is called how.
 */
#include <string.h>

#include "trace/trace_read.h"

/* ---- references ---- */

static sb_string bad_reference(trace_reader *reader) {
    reader->trace->file.bad_references++;
    return 0;
}

sb_string reader_string_index(trace_reader *reader) {
    const uint32_t index = trace_input_u24(&reader->input);
    return index <= reader->string_count ? index : bad_reference(reader);
}

sb_string reader_string_id(trace_reader *reader, uint64_t id) {
    sb_string string = 0;
    if (sb_idmap_get(&reader->ids, id, &string))
        return string;
    return sb_trace_string(reader->trace, (sb_slice)SB_SLICE("???"));
}

sb_string reader_string_reference(trace_reader *reader) {
    enum { IS_INDEX = 1, IS_ACTIVE = 2 };
    const uint8_t *bytes = trace_input_take(&reader->input, 9);
    const uint64_t value = load_le64(bytes);
    const uint8_t flags = bytes[8];
    if ((flags & IS_ACTIVE) == 0)
        return 0;
    if ((flags & IS_INDEX) == 0)
        return reader_string_id(reader, value);
    return value < reader->string_count ? (sb_string)value + 1 : bad_reference(reader);
}

uint32_t reader_source(trace_reader *reader, int16_t number) {
    enum { NO_SOURCE = 32767 };
    const uint32_t source = reader->sources[(uint16_t)number];
    if (source == 0 && number != 0 && number != NO_SOURCE)
        reader->trace->file.bad_references++;
    return source;
}

uint32_t reader_thread(trace_reader *reader, uint16_t number) {
    if (number < reader->trace->threads.count)
        return number;
    reader->trace->file.bad_references++;
    return 0;
}

/* ---- parameters and names ---- */

void read_parameters(trace_reader *reader) {
    trace_input *input = &reader->input;
    sb_trace_info *info = &reader->trace->info;
    info->resolution = trace_input_i64(input);
    info->timer_multiplier = trace_input_double(input);
    info->last_time = trace_input_i64(input);
    info->frame_offset = trace_input_u64(input);
    info->process_id = trace_input_u64(input);
    info->sampling_period = trace_input_i64(input);
    info->cpu_architecture = trace_input_u8(input);
    info->cpu_id = trace_input_u32(input);
    memcpy(info->cpu_manufacturer, trace_input_take(input, sizeof info->cpu_manufacturer),
           sizeof info->cpu_manufacturer);
    info->on_demand = info->frame_offset != 0;
    if (reader->layout.on_demand)
        info->on_demand = trace_input_u8(input) != 0;
    ((sb_process *)sb_series_at(&reader->trace->processes, 0))->id = info->process_id;
}

static sb_slice read_text(trace_reader *reader) {
    return trace_input_text(&reader->input, trace_input_u64(&reader->input), &reader->trace->arena);
}

void read_names(trace_reader *reader) {
    sb_trace_info *info = &reader->trace->info;
    info->capture_name = read_text(reader);
    info->program = read_text(reader);
    info->captured_at = trace_input_u64(&reader->input);
    info->built_at = trace_input_u64(&reader->input);
    info->host = read_text(reader);
}

/* Asks for the string behind an id; the answer is filled in once the table of ids is read. */
static void ask_for_id(trace_reader *reader, uint64_t id, sb_string *string) {
    late_id *late = sb_vector_push(&reader->late_ids);
    late->string = string;
    late->id = id;
}

void read_crash(trace_reader *reader) {
    sb_crash *crash = &reader->trace->info.crash;
    crash->thread_id = trace_input_u64(&reader->input);
    crash->time = trace_input_i64(&reader->input);
    const uint64_t message = trace_input_u64(&reader->input);
    crash->callstack = trace_input_u32(&reader->input);
    if (message != 0)
        ask_for_id(reader, message, &crash->message);
}

/* ---- frames ---- */

static void read_frame_list(trace_reader *reader, sb_frame_set *set) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, set->continuous ? 12 : 20);
    int64_t reference = 0;
    for (uint64_t i = 0; i < count; i++) {
        sb_frame frame = {.end = SB_NO_TIME};
        frame.start = trace_input_time(input, &reference);
        if (!set->continuous)
            frame.end = trace_input_time(input, &reference);
        frame.image = (int32_t)trace_input_u32(input);
        if (input->failed)
            return;
        *(sb_frame *)sb_series_push(&set->frames) = frame;
    }
}

void read_frames(trace_reader *reader) {
    const uint64_t vsync = UINT64_C(1) << 63;
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 17);
    for (uint64_t i = 0; i < count && !input->failed; i++) {
        const uint64_t name = trace_input_u64(input);
        const bool continuous = trace_input_u8(input) != 0;
        if (input->failed)
            return;
        sb_frame_set *set = sb_trace_add_frame_set(reader->trace, 0, continuous);
        if ((name & vsync) != 0)
            set->vsync_id = name;
        else if (name != 0)
            ask_for_id(reader, name, &set->name);
        read_frame_list(reader, set);
    }
}

/* Named stretches of time have no place in the model yet: they are counted. */
void read_ranges(trace_reader *reader) {
    enum { ITEM_SIZE = 15, CATEGORY_NAME_SIZE = 5 };
    trace_input *input = &reader->input;
    if (reader->layout.ranges == TRACE_RANGES_NONE)
        return;
    if (reader->layout.ranges == TRACE_RANGES_FLAT) {
        const uint64_t items = trace_input_count(input, ITEM_SIZE);
        trace_input_skip(input, items * ITEM_SIZE);
        reader->trace->file.skipped_sections += items;
        return;
    }
    const uint64_t categories = trace_input_count(input, 10);
    for (uint64_t i = 0; i < categories && !input->failed; i++) {
        trace_input_skip(input, 2);
        const uint64_t items = trace_input_count(input, ITEM_SIZE);
        trace_input_skip(input, items * ITEM_SIZE);
        reader->trace->file.skipped_sections += items;
    }
    trace_input_skip(input, trace_input_count(input, CATEGORY_NAME_SIZE) * CATEGORY_NAME_SIZE);
}

/* ---- strings ---- */

void read_strings(trace_reader *reader) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 16);
    for (uint64_t i = 0; i < count && !input->failed; i++) {
        const uint64_t token = trace_input_u64(input);
        const uint64_t size = trace_input_u64(input);
        sb_arena *arena = &reader->trace->arena;
        const sb_slice text = trace_input_text(input, size, arena);
        if (input->failed)
            return;
        sb_idmap_set(&reader->tokens, token, sb_trace_place_string(reader->trace, text));
        reader->string_count = i + 1;
    }
}

static sb_string string_of_token(trace_reader *reader, uint64_t token) {
    sb_string string = 0;
    if (token != 0 && !sb_idmap_get(&reader->tokens, token, &string))
        reader->trace->file.bad_references++;
    return string;
}

void read_string_ids(trace_reader *reader) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 16);
    for (uint64_t i = 0; i < count && !input->failed; i++) {
        const uint64_t id = trace_input_u64(input);
        const uint64_t token = trace_input_u64(input);
        sb_string string = 0;
        if (!input->failed && sb_idmap_get(&reader->tokens, token, &string))
            sb_idmap_set(&reader->ids, id, string);
    }
    for (size_t i = 0; i < reader->late_ids.count; i++) {
        const late_id *late = sb_vector_at(&reader->late_ids, i);
        *late->string = reader_string_id(reader, late->id);
    }
    sb_vector_clear(&reader->late_ids);
}

/* ---- threads ---- */

void read_thread_names(trace_reader *reader) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 16);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t thread_id = trace_input_u64(input);
        const uint64_t token = trace_input_u64(input);
        if (input->failed)
            return;
        *(late_name *)sb_vector_push(&reader->late_names) =
            (late_name){thread_id, string_of_token(reader, token)};
    }
}

void read_external_names(trace_reader *reader) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 24);
    for (uint64_t i = 0; i < count; i++) {
        sb_stranger stranger = {.thread_id = trace_input_u64(input)};
        stranger.process_name = string_of_token(reader, trace_input_u64(input));
        stranger.thread_name = string_of_token(reader, trace_input_u64(input));
        if (input->failed)
            return;
        *(sb_stranger *)sb_series_push(&reader->trace->strangers) = stranger;
    }
}

void read_threads(trace_reader *reader) {
    trace_input *input = &reader->input;
    const uint64_t count = trace_input_count(input, 8);
    for (uint64_t i = 0; i < count && !input->failed; i++) {
        const uint64_t id = trace_input_u64(input);
        if (!input->failed)
            sb_trace_thread(reader->trace, id);
    }
}

/* ---- sources ---- */

static sb_source read_source(trace_reader *reader) {
    sb_source source = {.name = reader_string_reference(reader)};
    source.function = reader_string_reference(reader);
    source.file = reader_string_reference(reader);
    source.line = trace_input_u32(&reader->input);
    source.colour = trace_input_u32(&reader->input);
    return source;
}

enum { SOURCE_SIZE = 35, SOURCES_MAX = 32767 };

static uint64_t read_source_count(trace_reader *reader, uint64_t entry_size) {
    const uint64_t count = trace_input_count(&reader->input, entry_size);
    if (count <= SOURCES_MAX)
        return count;
    trace_input_fail(&reader->input, "%llu source locations, more than a file can number",
                     (unsigned long long)count);
    return 0;
}

void read_static_sources(trace_reader *reader) {
    const uint64_t count = read_source_count(reader, 8 + SOURCE_SIZE);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t id = trace_input_u64(&reader->input);
        const sb_source source = read_source(reader);
        if (reader->input.failed)
            return;
        sb_idmap_set(&reader->source_ids, id, sb_trace_add_source(reader->trace, &source));
    }
}

void read_source_numbers(trace_reader *reader) {
    const uint64_t count = trace_input_count(&reader->input, 8);
    for (uint64_t i = 0; i < count && !reader->input.failed; i++) {
        const uint64_t id = trace_input_u64(&reader->input);
        uint32_t source = 0;
        if (i > 0 && i <= SOURCES_MAX && sb_idmap_get(&reader->source_ids, id, &source))
            reader->sources[i] = source;
    }
}

void read_dynamic_sources(trace_reader *reader) {
    const uint64_t count = read_source_count(reader, SOURCE_SIZE);
    for (uint64_t i = 0; i < count; i++) {
        const sb_source source = read_source(reader);
        if (reader->input.failed)
            return;
        reader->sources[(uint16_t)(-(int)i - 1)] = sb_trace_add_source(reader->trace, &source);
    }
}

/* They only say how much room to make. */
void read_zone_counts(trace_reader *reader) {
    enum { ENTRY_SIZE = 10 };
    trace_input_skip(&reader->input, trace_input_count(&reader->input, ENTRY_SIZE) * ENTRY_SIZE);
}
