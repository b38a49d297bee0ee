/*
 * Parts of the reader of trace files, for its own files only.
 */
#ifndef SB_TRACE_READ_H
#define SB_TRACE_READ_H

#include "trace/trace_input.h"
#include "trace/trace_layout.h"

#include "trace/trace_model.h"

enum { SOURCE_NUMBERS = 65536 };

/* What is known while a file is read. */
typedef struct trace_reader {
    trace_input input;
    trace_layout layout;
    sb_trace *trace;
    uint64_t string_count; /* strings 1 to this are the file's, in its order */
    sb_idmap tokens;       /* address of a stored string -> string */
    sb_idmap ids;          /* address in the program -> string */
    sb_idmap source_ids;   /* address in the program -> source */
    sb_idmap message_keys; /* -> number of the message */
    sb_vector late_ids;    /* late_id: ids used before the table of ids */
    sb_vector late_names;  /* late_name: names of threads that may not be listed yet */
    uint32_t *sources;     /* by 16-bit number: source of the trace */
    uint64_t file_notes;   /* zone notes the file holds */
} trace_reader;

typedef struct late_id {
    sb_string *string; /* where the answer goes */
    uint64_t id;
} late_id;

typedef struct late_name {
    uint64_t thread_id;
    sb_string name;
} late_name;

typedef void (*section_reader)(trace_reader *reader);

/* ---- references; a bad one is counted and reads as none ---- */

sb_string reader_string_index(trace_reader *reader);     /* a string by position, 3 bytes */
sb_string reader_string_reference(trace_reader *reader); /* by position or id, 9 bytes */
sb_string reader_string_id(trace_reader *reader, uint64_t id);
uint32_t reader_source(trace_reader *reader, int16_t number);
/* A thread by its 16-bit number. */
uint32_t reader_thread(trace_reader *reader, uint16_t number);

/* ---- sections, by file ---- */

/* trace_read_head.c: what comes before the zones */
void read_parameters(trace_reader *reader);
void read_names(trace_reader *reader);
void read_crash(trace_reader *reader);
void read_frames(trace_reader *reader);
void read_ranges(trace_reader *reader);
void read_strings(trace_reader *reader);
void read_string_ids(trace_reader *reader);
void read_thread_names(trace_reader *reader);
void read_external_names(trace_reader *reader);
void read_threads(trace_reader *reader);
void read_static_sources(trace_reader *reader);
void read_source_numbers(trace_reader *reader);
void read_dynamic_sources(trace_reader *reader);
void read_zone_counts(trace_reader *reader);

/* trace_read_zones.c: zones of the host and of devices, and what belongs to them */
void read_notes(trace_reader *reader);
void read_zones(trace_reader *reader);
void read_devices(trace_reader *reader);

/* trace_read_events.c: everything else that has a time */
void read_locks(trace_reader *reader);
void read_messages(trace_reader *reader);
void read_plots(trace_reader *reader);
void read_memory(trace_reader *reader);
void read_app_info(trace_reader *reader);

/* trace_read_opaque.c: what is kept as bytes */
void read_topology(trace_reader *reader);
void read_external_threads(trace_reader *reader);
void read_callstacks(trace_reader *reader);
void read_callstack_frames(trace_reader *reader);
void read_frame_images(trace_reader *reader);
void read_context_switches(trace_reader *reader);
void read_cpu_switches(trace_reader *reader);
void read_thread_processes(trace_reader *reader);
void read_cpu_threads(trace_reader *reader);
void read_symbols(trace_reader *reader);
void read_symbol_code(trace_reader *reader);
void read_code_symbols(trace_reader *reader);
void read_hardware_samples(trace_reader *reader);
void read_source_files(trace_reader *reader);
/* A list of entries of one size, kept as bytes with its count in front. */
sb_slice read_opaque_list(trace_reader *reader, uint64_t entry_size, uint64_t *count);

#endif
