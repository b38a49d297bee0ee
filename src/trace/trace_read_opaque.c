/*
 * Reading a trace file: what has no place in the model and is kept as bytes.
 *
 * Each function walks over its section with the tap open. What newer versions added to a section is
 * walked over with the tap closed, so that what is kept has the layout that the writer writes.
 */
#include "trace/trace_read.h"

enum { COUNT_SIZE = 8 };

static void open_tap(trace_reader *reader, sb_output *kept) {
    *kept = sb_output_to_memory();
    reader->input.tap = kept;
}

/* Half a section is none. */
static sb_slice close_tap(trace_reader *reader, sb_output *kept, bool is_empty) {
    sb_slice bytes = {NULL, 0};
    reader->input.tap = NULL;
    if (!reader->input.failed && !is_empty)
        bytes = sb_arena_copy(&reader->trace->arena, sb_output_text(kept));
    sb_output_discard(kept);
    return bytes;
}

static void keep(trace_reader *reader, sb_opaque section, sb_output *kept, uint64_t items) {
    reader->trace->opaque[section] = close_tap(reader, kept, items == 0);
    reader->trace->file.opaque_items[section] = items;
}

sb_slice read_opaque_list(trace_reader *reader, uint64_t entry_size, uint64_t *count) {
    sb_output kept;
    open_tap(reader, &kept);
    *count = trace_input_count(&reader->input, entry_size);
    trace_input_skip(&reader->input, *count * entry_size);
    return close_tap(reader, &kept, *count == 0);
}

static void keep_list(trace_reader *reader, sb_opaque section, uint64_t entry_size) {
    uint64_t count = 0;
    reader->trace->opaque[section] = read_opaque_list(reader, entry_size, &count);
    reader->trace->file.opaque_items[section] = count;
}

/* A list inside a section: its count and its entries pass. */
static void pass_list(trace_input *input, uint64_t entry_size) {
    trace_input_skip(input, trace_input_count(input, entry_size) * entry_size);
}

/* A list of entries whose size is told by pass_entry. */
static void keep_entries(trace_reader *reader, sb_opaque section, uint64_t least_size,
                         void (*pass_entry)(trace_input *)) {
    sb_output kept;
    open_tap(reader, &kept);
    const uint64_t count = trace_input_count(&reader->input, least_size);
    for (uint64_t i = 0; i < count && !reader->input.failed; i++)
        pass_entry(&reader->input);
    keep(reader, section, &kept, count);
}

/* ---- topology ---- */

static void put_u64(sb_output *output, uint64_t value) {
    uint8_t bytes[8];
    store_le(bytes, value, sizeof bytes);
    sb_put(output, (sb_slice){(const char *)bytes, sizeof bytes});
}

/* The cores of one package, without the dies between: their cores one after the other. */
static void read_package(trace_reader *reader, sb_output *kept) {
    trace_input *input = &reader->input;
    trace_input_skip(input, 4);
    input->tap = NULL;
    sb_output cores = sb_output_to_memory();
    uint64_t core_count = 0;
    const uint64_t dies = reader->layout.dies ? trace_input_count(input, 12) : 1;
    for (uint64_t i = 0; i < dies && !input->failed; i++) {
        if (reader->layout.dies)
            trace_input_skip(input, 4);
        const uint64_t count = trace_input_count(input, 12);
        core_count += count;
        input->tap = &cores;
        for (uint64_t k = 0; k < count && !input->failed; k++) {
            trace_input_skip(input, 4);
            pass_list(input, 4);
        }
        input->tap = NULL;
    }
    put_u64(kept, core_count);
    sb_put(kept, sb_output_text(&cores));
    sb_output_discard(&cores);
    input->tap = kept;
}

void read_topology(trace_reader *reader) {
    sb_output kept;
    open_tap(reader, &kept);
    const uint64_t packages = trace_input_count(&reader->input, 12);
    for (uint64_t i = 0; i < packages && !reader->input.failed; i++)
        read_package(reader, &kept);
    keep(reader, SB_OPAQUE_TOPOLOGY, &kept, packages);
}

/* ---- context switches ---- */

/* A switch without what newer versions added; older readers spoil its end if the reason is
 * negative. */
static void keep_switch(trace_reader *reader, sb_output *kept) {
    enum { SWITCH_SIZE = 35, REASON = 25, NO_REASON = 100 };
    uint8_t bytes[SWITCH_SIZE];
    reader->input.tap = NULL;
    trace_input_copy(&reader->input, bytes, sizeof bytes);
    if (reader->layout.wakeup_cpu)
        trace_input_skip(&reader->input, 1);
    if ((bytes[REASON] & 0x80) != 0)
        bytes[REASON] = NO_REASON;
    sb_put(kept, (sb_slice){(const char *)bytes, sizeof bytes});
    reader->input.tap = kept;
}

void read_context_switches(trace_reader *reader) {
    trace_input *input = &reader->input;
    const uint64_t switch_size = reader->layout.wakeup_cpu ? 36 : 35;
    sb_output kept;
    open_tap(reader, &kept);
    const uint64_t threads = trace_input_count(input, 16);
    for (uint64_t i = 0; i < threads && !input->failed; i++) {
        trace_input_skip(input, 8);
        const uint64_t count = trace_input_count(input, switch_size);
        for (uint64_t k = 0; k < count && !input->failed; k++)
            keep_switch(reader, &kept);
    }
    keep(reader, SB_OPAQUE_CONTEXT_SWITCHES, &kept, threads);
}

void read_cpu_switches(trace_reader *reader) {
    enum { CPUS = 256, SWITCH_SIZE = 18 };
    trace_input *input = &reader->input;
    uint64_t switches = 0;
    sb_output kept;
    open_tap(reader, &kept);
    trace_input_skip(input, COUNT_SIZE);
    for (unsigned i = 0; i < CPUS && !input->failed; i++) {
        const uint64_t count = trace_input_count(input, SWITCH_SIZE);
        trace_input_skip(input, count * SWITCH_SIZE);
        switches += count;
    }
    keep(reader, SB_OPAQUE_CPU_SWITCHES, &kept, switches);
}

/* ---- callstacks and symbols ---- */

static void pass_callstack(trace_input *input) {
    trace_input_skip(input, UINT64_C(8) * trace_input_u16(input));
}

void read_callstacks(trace_reader *reader) {
    keep_entries(reader, SB_OPAQUE_CALLSTACKS, 2, pass_callstack);
}

static void pass_callstack_frame(trace_input *input) {
    enum { INLINED_SIZE = 18 };
    trace_input_skip(input, 8);
    const uint8_t inlined = trace_input_u8(input);
    trace_input_skip(input, 3 + UINT64_C(1) * INLINED_SIZE * inlined);
}

void read_callstack_frames(trace_reader *reader) {
    keep_entries(reader, SB_OPAQUE_CALLSTACK_FRAMES, 12, pass_callstack_frame);
}

void read_symbols(trace_reader *reader) {
    enum { SYMBOL_SIZE = 32 };
    sb_output kept;
    open_tap(reader, &kept);
    trace_input_skip(&reader->input, (uint64_t)2 * COUNT_SIZE);
    const uint64_t count = trace_input_count(&reader->input, SYMBOL_SIZE);
    trace_input_skip(&reader->input, count * SYMBOL_SIZE);
    keep(reader, SB_OPAQUE_SYMBOLS, &kept, count);
}

static void pass_symbol_code(trace_input *input) {
    trace_input_skip(input, 8);
    trace_input_skip(input, trace_input_u32(input));
}

void read_symbol_code(trace_reader *reader) {
    keep_entries(reader, SB_OPAQUE_SYMBOL_CODE, 12, pass_symbol_code);
}

static void pass_hardware_samples(trace_input *input) {
    enum { COUNTERS = 6 };
    trace_input_skip(input, 8);
    for (unsigned i = 0; i < COUNTERS; i++)
        pass_list(input, 8);
}

void read_hardware_samples(trace_reader *reader) {
    keep_entries(reader, SB_OPAQUE_HARDWARE_SAMPLES, 56, pass_hardware_samples);
}

static void pass_source_file(trace_input *input) {
    trace_input_skip(input, trace_input_u32(input));
    trace_input_skip(input, trace_input_u32(input));
}

void read_source_files(trace_reader *reader) {
    keep_entries(reader, SB_OPAQUE_SOURCE_FILES, 8, pass_source_file);
}

/* ---- images and plain lists ---- */

void read_frame_images(trace_reader *reader) {
    trace_input *input = &reader->input;
    sb_output kept;
    open_tap(reader, &kept);
    trace_input_skip(input, trace_input_u32(input));
    const uint64_t count = trace_input_count(input, 5);
    for (uint64_t i = 0; i < count && !input->failed; i++) {
        const uint64_t width = trace_input_u16(input);
        const uint64_t height = trace_input_u16(input);
        trace_input_skip(input, 1 + width * height / 2);
    }
    keep(reader, SB_OPAQUE_FRAME_IMAGES, &kept, count);
}

void read_external_threads(trace_reader *reader) {
    keep_list(reader, SB_OPAQUE_EXTERNAL_THREADS, 8);
}

void read_thread_processes(trace_reader *reader) {
    keep_list(reader, SB_OPAQUE_THREAD_PROCESSES, 16);
}

void read_cpu_threads(trace_reader *reader) {
    keep_list(reader, SB_OPAQUE_CPU_THREADS, 24);
}

void read_code_symbols(trace_reader *reader) {
    keep_list(reader, SB_OPAQUE_CODE_SYMBOLS, 16);
}
