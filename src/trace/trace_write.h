/*
 * Parts of the writer of trace files, for its own files only.
 */
#ifndef SB_TRACE_WRITE_H
#define SB_TRACE_WRITE_H

#include "trace/trace_file.h"
#include "trace/trace_pack.h"

enum {
    STRINGS_MAX = 16777214, /* what three bytes can number */
    SOURCES_MAX = 32767,    /* of each of the two kinds */
    THREADS_MAX = 65536,    /* what two bytes can number */
    LOCK_THREADS_MAX = 64,
    LOSSES_MAX = 65536, /* no more lines than that about the application */
};

/* The largest time readers can hold: 48 bits with a sign. */
#define TIME_MAX ((INT64_C(1) << 47) - 1)

/* Zones are gone through in windows that fit into a processor's cache with all that is counted. */
enum { TRACK_WINDOW = 4096 };

/* A zone with children in later windows, and how many. */
typedef struct far_parent {
    uint32_t zone;
    uint32_t children;
} far_parent;

/* What has to be known of a track's zones before the first is written. */
typedef struct track_counts {
    uint64_t zones;
    uint64_t top;     /* those inside none */
    uint64_t parents; /* those with others inside */
    sb_vector far;    /* far_parent, ascending */
} track_counts;

typedef struct trace_writer {
    trace_packer packer;
    const sb_trace *trace;
    sb_trace_write_options options;
    sb_trace_written written;
    int64_t last_time;
    /* strings: those of the trace keep their numbers, then come ours */
    uint32_t string_count;
    sb_string frame_string;   /* "Frame" */
    sb_string unknown_string; /* "???" */
    sb_string more_string;    /* "(more source locations)" */
    sb_string loss_string;    /* the first line of the ledger */
    uint32_t loss_count;      /* lines that are written */
    /* zones */
    track_counts *track_counts; /* by track */
    uint64_t track_count;
    /* sources */
    uint64_t *zone_counts[2]; /* by source of the trace: zones of the host, and of devices */
    int16_t *source_numbers;  /* by source of the trace */
    uint32_t static_count;    /* sources 1 to this are written as static ones */
    uint32_t last_source;     /* the last that is written under its own number */
    bool has_unknown_source;  /* zones have none: a location of its own stands for that */
    bool has_more_sources;
    bool *moved_lanes; /* by thread: lanes that must have another id; see writer_thread_id */
    /* messages by thread */
    uint64_t *message_order;   /* by time; NULL: as they are */
    uint64_t *thread_messages; /* positions in that order, grouped by thread */
    uint64_t *message_starts;  /* where each thread's begin; one more than there are threads */
} trace_writer;

/* ---- shared ---- */

static inline sb_string writer_string(trace_writer *writer, sb_string string) {
    if (string <= writer->string_count)
        return string;
    writer->written.dropped_strings++;
    return 0;
}

/* A time inside what readers can hold. */
int64_t writer_clamp(trace_writer *writer, int64_t time);
/* The order of a list by the times its elements begin with; NULL if it ascends. Caller frees. */
uint64_t *writer_order(const sb_series *series);
static inline uint64_t writer_position(const uint64_t *order, uint64_t i) {
    return order == NULL ? i : order[i];
}
/* A callstack that exists, or 0. */
uint32_t writer_callstack(const trace_writer *writer, uint32_t callstack);
/* A string of the file by its number there, as a reference of nine bytes. */
void write_file_string(trace_writer *writer, sb_string number);
/* A string of the trace as such a reference. */
void write_string_reference(trace_writer *writer, sb_string string);
/* A string as three bytes. */
void write_string_index(trace_writer *writer, sb_string string);
/* The id of a thread in the file. */
uint64_t writer_thread_id(const trace_writer *writer, uint32_t thread);
/* Is this track written? */
bool writer_has_track(const trace_writer *writer, const sb_track *track);

static inline bool writer_is_device(const sb_track *track) {
    return track->kind == SB_TRACK_LANE;
}
/* The zones from `first` on that are gone through together. */
static inline sb_zone_block track_window(const sb_track *track, uint64_t first, uint64_t count) {
    return sb_track_block(track, first,
                          count - first < TRACK_WINDOW ? count : first + TRACK_WINDOW);
}

/* trace_write_counts.c */

/* Goes through all zones once, for all that is said about them before they come. */
void count_zones(trace_writer *writer);
void free_zone_counts(trace_writer *writer);

/* ---- sections, by file ---- */

/* trace_write_head.c */
void write_head(trace_writer *writer);
void write_sources(trace_writer *writer);

/* trace_write_zones.c */
void write_zone_counts(trace_writer *writer, bool devices);
void write_notes(trace_writer *writer);
void write_zones(trace_writer *writer);
void write_devices(trace_writer *writer);

/* trace_write_events.c */
void write_locks(trace_writer *writer);
void write_messages(trace_writer *writer);
void write_plots(trace_writer *writer);
void write_memory(trace_writer *writer);
void write_app_info(trace_writer *writer);

#endif
