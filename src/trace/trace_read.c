/*
 * Reading a trace file: the order of its sections, and which flavour it is.
 */
#include "trace/trace_read.h"

#include <stdlib.h>
#include <string.h>

#include "trace/trace_file.h"
#include "trace/trace_ledger.h"

static void read_delay(trace_reader *reader) {
    if (reader->layout.delay)
        trace_input_skip(&reader->input, 8);
}

static const section_reader section_readers[SECTION_END] = {
    [SECTION_DELAY] = read_delay,
    [SECTION_PARAMETERS] = read_parameters,
    [SECTION_NAMES] = read_names,
    [SECTION_TOPOLOGY] = read_topology,
    [SECTION_CRASH] = read_crash,
    [SECTION_FRAMES] = read_frames,
    [SECTION_RANGES] = read_ranges,
    [SECTION_STRINGS] = read_strings,
    [SECTION_STRING_IDS] = read_string_ids,
    [SECTION_THREAD_NAMES] = read_thread_names,
    [SECTION_EXTERNAL_NAMES] = read_external_names,
    [SECTION_THREADS] = read_threads,
    [SECTION_EXTERNAL_THREADS] = read_external_threads,
    [SECTION_STATIC_SOURCES] = read_static_sources,
    [SECTION_SOURCE_NUMBERS] = read_source_numbers,
    [SECTION_DYNAMIC_SOURCES] = read_dynamic_sources,
    [SECTION_ZONE_COUNTS] = read_zone_counts,
    [SECTION_DEVICE_ZONE_COUNTS] = read_zone_counts,
    [SECTION_LOCKS] = read_locks,
    [SECTION_MESSAGES] = read_messages,
    [SECTION_NOTES] = read_notes,
    [SECTION_ZONES] = read_zones,
    [SECTION_DEVICES] = read_devices,
    [SECTION_PLOTS] = read_plots,
    [SECTION_MEMORY] = read_memory,
    [SECTION_CALLSTACKS] = read_callstacks,
    [SECTION_CALLSTACK_FRAMES] = read_callstack_frames,
    [SECTION_APP_INFO] = read_app_info,
    [SECTION_FRAME_IMAGES] = read_frame_images,
    [SECTION_CONTEXT_SWITCHES] = read_context_switches,
    [SECTION_CPU_SWITCHES] = read_cpu_switches,
    [SECTION_THREAD_PROCESSES] = read_thread_processes,
    [SECTION_CPU_THREADS] = read_cpu_threads,
    [SECTION_SYMBOLS] = read_symbols,
    [SECTION_SYMBOL_CODE] = read_symbol_code,
    [SECTION_CODE_SYMBOLS] = read_code_symbols,
    [SECTION_HARDWARE_SAMPLES] = read_hardware_samples,
    [SECTION_SOURCE_FILES] = read_source_files,
};

static sb_status reader_init(trace_reader *reader, trace_unpacker *unpacker,
                             const sb_trace_bound *bound, sb_error *error) {
    *reader = (trace_reader){.trace = NULL};
    SB_TRY(sb_trace_create_bounded(bound, &reader->trace, error));
    trace_input_begin(&reader->input, unpacker, error);
    sb_idmap_init(&reader->tokens);
    sb_idmap_init(&reader->ids);
    sb_idmap_init(&reader->source_ids);
    sb_idmap_init(&reader->message_keys);
    reader->late_ids = sb_vector_of(sizeof(late_id));
    reader->late_names = sb_vector_of(sizeof(late_name));
    reader->sources = sb_alloc_zeroed(SOURCE_NUMBERS, sizeof *reader->sources);
    return SB_OK;
}

static void reader_free(trace_reader *reader) {
    sb_idmap_free(&reader->tokens);
    sb_idmap_free(&reader->ids);
    sb_idmap_free(&reader->source_ids);
    sb_idmap_free(&reader->message_keys);
    sb_vector_free(&reader->late_ids);
    sb_vector_free(&reader->late_names);
    free(reader->sources);
}

static void read_signature(trace_reader *reader) {
    trace_input *input = &reader->input;
    input->section = SECTION_SIGNATURE;
    const uint8_t *bytes = trace_input_take(input, 8);
    const uint32_t version = TRACE_VERSION(bytes[5], bytes[6], bytes[7]);
    reader->trace->file.version = version;
    if (input->failed)
        return;
    if (memcmp(bytes, "tracy", 5) != 0)
        trace_input_fail(input, "the body does not begin with \"tracy\"");
    else if (version < TRACE_VERSION(0, 9, 0))
        trace_input_fail(input, "version %u.%u.%u is older than 0.9.0, the oldest that can be read",
                         bytes[5], bytes[6], bytes[7]);
}

/* Names are bound last: the order in which threads appear elsewhere decides their numbers. */
static void name_threads(trace_reader *reader) {
    for (size_t i = 0; i < reader->late_names.count; i++) {
        const late_name *late = sb_vector_at(&reader->late_names, i);
        const uint32_t thread = sb_trace_thread(reader->trace, late->thread_id);
        ((sb_thread *)sb_series_at(&reader->trace->threads, thread))->name = late->name;
    }
}

static void record_damage(trace_reader *reader) {
    const sb_loss loss = {
        .from = 0,
        .to = SB_NO_TIME,
        .thread = SB_NONE,
        .cause = SB_LOSS_FILE_DAMAGED,
        .text = sb_trace_string(reader->trace, sb_slice_of(reader->input.error->message)),
    };
    sb_trace_add_loss(reader->trace, &loss);
}

static void read_body(trace_reader *reader, bool tenstorrent) {
    trace_input *input = &reader->input;
    sb_trace_file *file = &reader->trace->file;
    read_signature(reader);
    reader->layout = trace_layout_of(file->version, tenstorrent);
    file->tenstorrent = tenstorrent;
    file->section_bytes[SECTION_SIGNATURE] = trace_input_offset(input);
    for (unsigned section = SECTION_DELAY; section < SECTION_END && !input->failed; section++) {
        const uint64_t start = trace_input_offset(input);
        input->section = section;
        section_readers[section](reader);
        file->section_bytes[section] = trace_input_offset(input) - start;
    }
    name_threads(reader);
    ledger_take(reader->trace);
    if (!input->failed) {
        input->section = SECTION_END;
        if (!trace_input_is_done(input))
            trace_input_fail(input, "bytes follow the last section");
    }
    file->body_bytes = trace_input_offset(input);
}

/* One attempt with one layout; the trace and how it went. */
static sb_status attempt(sb_slice bytes, const sb_trace_read_options *options, bool tenstorrent,
                         sb_trace **trace, sb_error *error) {
    trace_unpacker *unpacker = NULL;
    *trace = NULL;
    SB_TRY(trace_unpack_begin(&unpacker, bytes, options->threads, error));
    trace_reader reader;
    const sb_status begun = reader_init(&reader, unpacker, options->bound, error);
    if (begun != SB_OK) {
        trace_unpack_end(unpacker);
        return begun;
    }
    reader.input.file = options->file;
    reader.input.progress = options->progress;
    reader.input.progress_context = options->progress_context;
    reader.input.file_bytes = bytes.size;
    read_body(&reader, tenstorrent);
    sb_trace_file *file = &reader.trace->file;
    file->compression = trace_unpack_compression(unpacker) == TRACE_LZ4 ? "LZ4" : "Zstandard";
    file->stream_count = trace_unpack_streams(unpacker);
    file->file_bytes = bytes.size;
    if (reader.input.failed)
        record_damage(&reader);
    reader_free(&reader);
    trace_unpack_end(unpacker);
    if (reader.input.failed && reader.input.section == SECTION_SIGNATURE) {
        sb_trace_free(reader.trace);
        return SB_ERR_FORMAT;
    }
    *trace = reader.trace;
    return reader.input.failed ? SB_ERR_FORMAT : SB_OK;
}

sb_status sb_trace_read(sb_slice bytes, const sb_trace_read_options *options, sb_trace **trace,
                        sb_error *error) {
    sb_error first_error = {0};
    const sb_status status = attempt(bytes, options, false, trace, &first_error);
    const sb_trace *first = *trace;
    if (first != NULL && trace_layout_is_ambiguous(first->file.version) &&
        (status != SB_OK || first->file.bad_references > 0)) {
        sb_trace *second = NULL;
        sb_error second_error = {0};
        const sb_status other = attempt(bytes, options, true, &second, &second_error);
        if (other == SB_OK && second->file.bad_references == 0) {
            sb_trace_free(*trace);
            *trace = second;
            return SB_OK;
        }
        sb_trace_free(second);
    }
    if (status != SB_OK && error != NULL)
        *error = first_error;
    return status;
}
