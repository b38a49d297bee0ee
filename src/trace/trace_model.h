/*
 * The model: what a trace holds, and how it is filled and asked.
 *
 * Times are int64_t nanoseconds since the start of the recording; SB_NO_TIME is "not known".
 *
 * Zones of a track stand in pre-order: a zone is followed by all that ran inside it. Nesting is one
 * column, the parent; a track whose starts ascend and whose zones overlap only where they nest
 * (nearly all do) says so, and time is then found by bisection. A zone costs 16 bytes, 20 if it is
 * nested and 24 with an annotation.
 */
#ifndef SB_TRACE_MODEL_H
#define SB_TRACE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "trace/trace_core.h"
#include "trace/trace_series.h"

#define SB_NO_TIME INT64_C(-1)
#define SB_NONE UINT32_MAX

/* A text of the trace by number; 0 is none. */
typedef uint32_t sb_string;

/* ---- places in the source ---- */

typedef struct sb_source {
    sb_string name; /* given by the programmer; 0: the function's name is shown */
    sb_string function;
    sb_string file;
    uint32_t line;
    uint32_t colour; /* 0xBBGGRR; 0: none */
} sb_source;

/* ---- tracks and zones ---- */

typedef struct sb_process {
    uint64_t id;
    sb_string name;
} sb_process;

typedef struct sb_thread {
    uint64_t id; /* the system's, a fiber's or a lane's */
    sb_string name;
    uint32_t process;
    bool is_lane; /* of a device, not of the host */
} sb_thread;

typedef enum sb_track_kind { SB_TRACK_THREAD, SB_TRACK_FIBER, SB_TRACK_LANE } sb_track_kind;

/* What a zone has beyond its times and its source. */
typedef struct sb_zone_note {
    sb_string text;
    sb_string name;
    uint32_t colour; /* 0xBBGGRR; 0: none */
    uint32_t callstack;
} sb_zone_note;

typedef struct sb_track {
    sb_track_kind kind;
    uint32_t thread;    /* its number; for a lane, that of the lane */
    uint32_t context;   /* the device context of a lane, else SB_NONE */
    int32_t group_hint; /* where a viewer should put it */
    uint64_t lane_id;   /* what the context calls the lane */
    bool unsorted;      /* starts do not ascend */
    bool overlapping;   /* a zone began before one ended that is not around it */
    uint32_t open;      /* the innermost zone that has not ended, or SB_NONE */
    uint64_t zone_count;
    int64_t last_start;
    int64_t latest_end; /* of the zones that are not open any more */
    struct sb_zone_tail {
        int64_t *start;
        uint32_t *duration;
        uint32_t *source;
        uint32_t *parent; /* NULL: no zone of the segment has one */
        uint64_t first;   /* the segment's first zone */
        uint64_t piece;   /* from this one on the store was not told yet */
        uint64_t left;
    } tail; /* where the next zones go, as long as their segments last */

    sb_series start;       /* int64_t */
    sb_series duration;    /* uint32_t; see sb_track_zone_end */
    sb_series source;      /* uint32_t */
    sb_series parent;      /* uint32_t, sparse: index + 1, 0 is none */
    sb_series note;        /* uint32_t, sparse: number of an sb_zone_note */
    sb_series long_end;    /* int64_t, sparse: the end where the duration does not fit */
    sb_series issue_start; /* int64_t, sparse, lanes only: when the host gave the command */
    sb_series issue_end;   /* int64_t, sparse, lanes only */
    sb_series issuer;      /* uint32_t, sparse, lanes only: number of the thread that did */
    sb_series callstack;   /* uint32_t, sparse, lanes only */
    sb_series query;       /* uint32_t, sparse, lanes only: key of the context's values */

    uint64_t kernel_samples;
    sb_slice switch_samples; /* sampled callstacks as a file stores them: a count, then entries */
    sb_slice samples;
} sb_track;

/* Durations from here on are marks. */
#define SB_ZONE_LONG (UINT32_MAX - 1) /* the end is in long_end */
#define SB_ZONE_OPEN UINT32_MAX       /* the zone has no end */

/* ---- devices ---- */

/* One reading of both clocks at (nearly) the same moment. */
typedef struct sb_clock_pair {
    int64_t host_ns;
    int64_t device_ticks;
    int64_t error_ns; /* the reading is no better than this */
} sb_clock_pair;

typedef struct sb_value_name {
    int64_t id;
    sb_string name;
} sb_value_name;

/* A number attached to device zones: those whose query is this one. */
typedef struct sb_device_value {
    uint32_t query;
    int64_t name_id;
    double value;
} sb_device_value;

/* A point in time on a lane. */
typedef struct sb_device_marker {
    int64_t time;
    uint64_t lane_id;
    uint32_t source;
    sb_string meta;
    uint8_t type;
} sb_device_marker;

typedef struct sb_context {
    uint32_t thread; /* the one that issues all its work; 0: its lanes say */
    uint8_t type;    /* of the programming interface, as in files: 1 OpenGL ... */
    bool calibrated;
    float period; /* nanoseconds per tick */
    sb_string name;
    uint64_t overflow;
    sb_series clocks;      /* sb_clock_pair */
    sb_series value_names; /* sb_value_name */
    sb_series values;      /* sb_device_value */
    sb_series markers;     /* sb_device_marker */
} sb_context;

/* ---- ops ---- */

/* One run of an operation: what the host asked for, and what a device did for it. */
typedef struct sb_op {
    int64_t start; /* on the host; SB_NO_TIME if it never ran there */
    int64_t end;
    uint64_t id;      /* what the host calls this run */
    uint64_t program; /* what it calls what the device ran; 0: nothing ran there */
    uint32_t device;
    uint32_t thread; /* that asked for it; 0: not known */
    sb_string name;
} sb_op;

/* A zone of a device lane that belongs to an op. */
typedef struct sb_op_kernel {
    uint32_t op;    /* its number in the trace */
    uint32_t track; /* that of the lane */
    uint32_t zone;
} sb_op_kernel;

/* ---- the rest of what happens; each begins with its time, ascending ---- */

typedef struct sb_message {
    int64_t time;
    sb_string text;
    uint32_t colour; /* 0xFFFFFFFF: the viewer's own; else 0xFFBBGGRR */
    uint32_t callstack;
    uint32_t thread;  /* 0: nobody's */
    uint8_t source;   /* 0 the program, 1 the library that records it */
    uint8_t severity; /* 0 trace, 1 debug, SB_MESSAGE_INFO, 3 warning, 4 error, 5 fatal */
} sb_message;

enum { SB_MESSAGE_INFO = 2 }; /* of messages that do not say */

typedef struct sb_frame {
    int64_t start;
    int64_t end; /* SB_NO_TIME in a continuous set: it lasts until the next */
    int32_t image;
} sb_frame;

typedef struct sb_frame_set {
    sb_string name;    /* 0: the frames of the program itself */
    uint64_t vsync_id; /* with the top bit: a display's refreshes, and which */
    bool continuous;
    sb_series frames; /* sb_frame */
} sb_frame_set;

typedef struct sb_plot_point {
    int64_t time;
    double value;
} sb_plot_point;

typedef struct sb_plot {
    sb_string name; /* 0: unnamed (the processor's use) */
    uint8_t type;
    uint8_t format;
    uint8_t steps;
    uint8_t fill;
    uint32_t colour;
    sb_series points; /* sb_plot_point */
} sb_plot;

typedef struct sb_memory_event {
    int64_t time;
    int64_t freed; /* SB_NO_TIME: never */
    uint64_t address;
    uint64_t size;
    uint32_t thread;
    uint32_t freed_by;
    uint32_t callstack;
    uint32_t freed_callstack;
} sb_memory_event;

typedef struct sb_memory_pool {
    sb_string name;   /* 0: the default pool */
    sb_series events; /* sb_memory_event */
} sb_memory_pool;

typedef struct sb_lock_event {
    int64_t time;
    uint32_t source;
    uint8_t thread; /* position among the lock's threads */
    uint8_t kind;   /* 0 wait, 1 obtain, 2 release; 3 to 5 the same, shared */
} sb_lock_event;

typedef struct sb_lock {
    uint32_t id;
    sb_string name;
    uint32_t source;
    uint8_t type; /* 0 exclusive, 1 shared */
    uint8_t valid;
    int64_t announced;
    int64_t terminated;
    sb_series threads; /* uint32_t: thread numbers */
    sb_series events;  /* sb_lock_event */
} sb_lock;

typedef enum sb_loss_cause {
    SB_LOSS_FILE_DAMAGED = 0, /* the file ended early or made no sense from some place on */
    SB_LOSS_BUFFER_FULL = 1,
    SB_LOSS_NOT_STORED = 2, /* read, but there is no place for it here */
    SB_LOSS_OTHER = 3,
} sb_loss_cause;

typedef struct sb_loss {
    int64_t from;
    int64_t to;
    uint32_t thread; /* SB_NONE: not of one thread */
    sb_loss_cause cause;
    uint64_t count; /* 0: not known */
    sb_string text;
} sb_loss;

/* A thread of another program, seen while it used a processor. */
typedef struct sb_stranger {
    uint64_t thread_id;
    sb_string process_name;
    sb_string thread_name;
} sb_stranger;

/* ---- where it comes from ---- */

typedef struct sb_crash {
    uint64_t thread_id;
    int64_t time;
    sb_string message;
    uint32_t callstack;
} sb_crash;

typedef struct sb_trace_info {
    sb_slice capture_name; /* in the trace's arena, as the two below */
    sb_slice program;
    sb_slice host;        /* lines about the machine */
    uint64_t captured_at; /* seconds since 1970 */
    uint64_t built_at;    /* the program file; 0: not known */
    int64_t resolution;
    double timer_multiplier;
    int64_t last_time; /* as the recorder had it; see sb_trace_end_time */
    uint64_t frame_offset;
    uint64_t process_id;
    int64_t sampling_period;
    uint8_t cpu_architecture;
    uint32_t cpu_id;
    char cpu_manufacturer[12];
    bool on_demand;
    sb_crash crash;
} sb_trace_info;

/* Sections of a file that are kept as they are, in the layout of 0.11.0. */
typedef enum sb_opaque {
    SB_OPAQUE_TOPOLOGY,
    SB_OPAQUE_EXTERNAL_THREADS,
    SB_OPAQUE_CALLSTACKS,
    SB_OPAQUE_CALLSTACK_FRAMES,
    SB_OPAQUE_FRAME_IMAGES,
    SB_OPAQUE_CONTEXT_SWITCHES,
    SB_OPAQUE_CPU_SWITCHES,
    SB_OPAQUE_THREAD_PROCESSES,
    SB_OPAQUE_CPU_THREADS,
    SB_OPAQUE_SYMBOLS,
    SB_OPAQUE_SYMBOL_CODE,
    SB_OPAQUE_CODE_SYMBOLS,
    SB_OPAQUE_HARDWARE_SAMPLES,
    SB_OPAQUE_SOURCE_FILES,
    SB_OPAQUE_COUNT,
} sb_opaque;

enum { SB_TRACE_SECTIONS = 40 };

/* What was found about the file a trace was read from. */
typedef struct sb_trace_file {
    uint32_t version;        /* major << 16 | minor << 8 | patch; 0: not from a .tracy file */
    bool tenstorrent;        /* the layout is that of the fork */
    const char *recording;   /* what else it was made from, "journal"; NULL: from nothing else */
    const char *protocol;    /* which the program spoke when a journal was written, or NULL */
    const char *compression; /* "LZ4" or "Zstandard"; NULL: none */
    unsigned stream_count;
    uint64_t file_bytes;
    uint64_t body_bytes;
    uint64_t section_bytes[SB_TRACE_SECTIONS]; /* by number, 1 to 39 */
    uint64_t opaque_items[SB_OPAQUE_COUNT];    /* entries in the sections kept as bytes */
    uint64_t skipped_sections;                 /* entries that were read past */
    uint64_t bad_references;                   /* numbers that name nothing */
} sb_trace_file;

typedef struct sb_trace {
    sb_trace_info info;
    sb_trace_file file;
    sb_arena arena;
    sb_series strings; /* sb_slice; entry 0 is empty */
    sb_intern interned;
    sb_vector interned_numbers; /* sb_string by index of the map */
    sb_series sources;          /* sb_source; entry 0 is empty */
    sb_series processes;        /* sb_process */
    sb_series threads;          /* sb_thread; entry 0 is nobody */
    sb_series tracks;           /* sb_track */
    sb_series contexts;         /* sb_context */
    sb_series notes;            /* sb_zone_note; entry 0 is empty */
    sb_series ops;              /* sb_op */
    sb_series op_kernels;       /* sb_op_kernel */
    sb_series messages;         /* sb_message */
    sb_series frame_sets;       /* sb_frame_set; the one without a name first */
    sb_series plots;            /* sb_plot */
    sb_series pools;            /* sb_memory_pool */
    sb_series locks;            /* sb_lock */
    sb_series losses;           /* sb_loss */
    sb_series strangers;        /* sb_stranger */
    sb_series app_info;         /* sb_string: lines about the application and the trace's origin */
    sb_slice opaque[SB_OPAQUE_COUNT];
    struct sb_idmap *thread_numbers;
    sb_store *store; /* where the long columns live */
} sb_trace;

/* ---- making one ---- */

sb_trace *sb_trace_create(void);
/*
 * A trace that keeps about bound->bytes of its columns in memory, and what is beyond in a file that
 * has no name and goes away with the trace (or with the process, however it ends). Everything below
 * works as on any other trace, also for threads that read while another records. Bounded are zones,
 * messages, points, frames, memory and lock events; texts and names stay in memory. If the disk is
 * full it goes on in memory: sb_store_failure(trace->store) says so, as errno.
 */
sb_status sb_trace_create_bounded(const sb_trace_bound *bound, sb_trace **trace, sb_error *error);
/* Takes the pages of a bounded trace out of memory now. For threads that read through it. */
void sb_trace_trim(const sb_trace *trace);
void sb_trace_free(sb_trace *trace);

/* The number of text, the same for the same text. */
sb_string sb_trace_string(sb_trace *trace, sb_slice text);
/* A number of its own for text, even if the same text has one. */
sb_string sb_trace_add_string(sb_trace *trace, sb_slice text);
/* The same for text that is in the trace's arena already. */
sb_string sb_trace_place_string(sb_trace *trace, sb_slice text);
uint32_t sb_trace_add_source(sb_trace *trace, const sb_source *source);
/* The number of the thread with this id, added if there is none. */
uint32_t sb_trace_thread(sb_trace *trace, uint64_t id);
sb_track *sb_trace_add_track(sb_trace *trace, sb_track_kind kind, uint32_t thread,
                             uint32_t context);
sb_context *sb_trace_add_context(sb_trace *trace);
sb_frame_set *sb_trace_add_frame_set(sb_trace *trace, sb_string name, bool continuous);
sb_plot *sb_trace_add_plot(sb_trace *trace, sb_string name);
sb_memory_pool *sb_trace_add_pool(sb_trace *trace, sb_string name);
sb_lock *sb_trace_add_lock(sb_trace *trace, uint32_t id);
void sb_trace_add_message(sb_trace *trace, const sb_message *message);
void sb_trace_add_loss(sb_trace *trace, const sb_loss *loss);
/* The loss that a line about the application tells (trace_ledger.h); false: it tells none. */
bool sb_trace_add_loss_line(sb_trace *trace, sb_slice line);
/*
 * A line on what made the trace or changed it: tool, version, options. Kept among the lines about
 * the application, which files hold and viewers show.
 */
void sb_trace_add_origin(sb_trace *trace, sb_slice line);
/* The op's number, for its kernels. */
uint32_t sb_trace_add_op(sb_trace *trace, const sb_op *op);
void sb_trace_add_op_kernel(sb_trace *trace, const sb_op_kernel *kernel);
/* A trace that others are joined to. */
typedef struct sb_trace_joint sb_trace_joint;
sb_trace_joint *sb_trace_joint_create(sb_trace *into);
/*
 * Adds all of another trace, as that of a process with this name; its times are `shift` nanoseconds
 * later here. What files keep as bytes is left out, but for call stacks.
 */
void sb_trace_join(sb_trace_joint *joint, const sb_trace *from, int64_t shift, sb_slice program,
                   uint64_t process_id);
/* Frees it; the trace has its call stacks from now on. */
void sb_trace_joint_finish(sb_trace_joint *joint);
/* A host's message about an op that it calls. */
typedef struct sb_op_message {
    sb_slice name;
    uint64_t device;
    uint64_t id;
} sb_op_message;

/* False if the text is no such message. */
bool sb_trace_parse_op(sb_slice text, sb_op_message *message);
/* Adds ops and their kernels from what a recording says of them (trace_ops.c), unless it has. */
void sb_trace_find_ops(sb_trace *trace);

/*
 * Opens a zone inside the one that is open, and returns its index. A track holds up to SB_NONE
 * zones; past that nothing is added and SB_NONE comes back.
 */
uint32_t sb_track_begin(sb_track *track, int64_t start, uint32_t source);
/* A zone with nothing inside, begun and ended at once: quicker than the two calls. */
uint32_t sb_track_add(sb_track *track, int64_t start, int64_t end, uint32_t source);
/* Ends the innermost open zone; SB_NO_TIME leaves it without an end. Nothing open: ignored. */
void sb_track_end(sb_track *track, int64_t end);
/* Gives a zone of a track text, name, colour or callstack. */
void sb_track_annotate(sb_trace *trace, sb_track *track, uint32_t zone, const sb_zone_note *note);

/* ---- reading one ---- */

/* While a program is recorded a text may follow its number: then it is empty until it is there. */
static inline sb_slice sb_trace_text(const sb_trace *trace, sb_string string) {
    const sb_slice *text = sb_series_at(&trace->strings, string);
    const size_t size = __atomic_load_n(&text->size, __ATOMIC_ACQUIRE);
    return (sb_slice){__atomic_load_n(&text->data, __ATOMIC_RELAXED), size};
}

static inline const sb_source *sb_trace_source(const sb_trace *trace, uint32_t source) {
    return sb_series_at(&trace->sources, source);
}

static inline const sb_thread *sb_trace_thread_at(const sb_trace *trace, uint32_t thread) {
    return sb_series_at(&trace->threads, thread);
}

static inline sb_track *sb_trace_track(const sb_trace *trace, uint64_t track) {
    return sb_series_at(&trace->tracks, track);
}

static inline sb_context *sb_trace_context(const sb_trace *trace, uint64_t context) {
    return sb_series_at(&trace->contexts, context);
}

/* What a source is called: its name, else its function. */
sb_slice sb_trace_source_name(const sb_trace *trace, uint32_t source);
/* The number of the thread with this id, or 0. */
uint32_t sb_trace_find_thread(const sb_trace *trace, uint64_t id);
/* A name for a track: its thread's, or its number. Written to buffer if there is no name. */
sb_slice sb_trace_track_name(const sb_trace *trace, const sb_track *track, char buffer[32]);
/* The SM of a GPU that a lane is of; false: it is no such lane. */
bool sb_trace_track_sm(const sb_trace *trace, const sb_track *track, sb_sm *sm);
/* The latest time of anything in the trace. */
int64_t sb_trace_end_time(const sb_trace *trace);
/* Zones on the host's tracks, or on those of devices. */
uint64_t sb_trace_zone_count(const sb_trace *trace, bool devices);

static inline uint64_t sb_track_zone_count(const sb_track *track) {
    return __atomic_load_n(&track->zone_count, __ATOMIC_ACQUIRE);
}

/* Do starts not ascend? Others may be adding: it can become true, and never false again. */
static inline bool sb_track_is_unsorted(const sb_track *track) {
    return __atomic_load_n(&track->unsorted, __ATOMIC_RELAXED);
}

static inline bool sb_track_is_overlapping(const sb_track *track) {
    return __atomic_load_n(&track->overlapping, __ATOMIC_RELAXED);
}

static inline int64_t sb_track_zone_start(const sb_track *track, uint32_t zone) {
    return *(const int64_t *)sb_series_find(&track->start, zone);
}

/* When a zone ended; SB_NO_TIME if it did not. */
static inline int64_t sb_track_zone_end(const sb_track *track, uint32_t zone) {
    const uint32_t *duration = sb_series_find(&track->duration, zone);
    const uint32_t ns = __atomic_load_n(duration, __ATOMIC_ACQUIRE);
    if (__builtin_expect(ns < SB_ZONE_LONG, 1))
        return sb_track_zone_start(track, zone) + ns;
    return ns == SB_ZONE_OPEN ? SB_NO_TIME
                              : *(const int64_t *)sb_series_find(&track->long_end, zone);
}

static inline uint32_t sb_track_zone_source(const sb_track *track, uint32_t zone) {
    return *(const uint32_t *)sb_series_find(&track->source, zone);
}

/* The zone around this one, or SB_NONE. */
static inline uint32_t sb_track_zone_parent(const sb_track *track, uint32_t zone) {
    const uint32_t *parent = sb_series_find(&track->parent, zone);
    return parent == NULL ? SB_NONE : *parent - 1;
}

/* Columns of zones that stand side by side in memory, for going through many. */
typedef struct sb_zone_block {
    uint64_t count;
    const int64_t *start;
    const uint32_t *duration;
    const uint32_t *source;
    const uint32_t *parent; /* NULL: none of them has one */
    const uint32_t *note;   /* NULL: none of them has one */
} sb_zone_block;

/*
 * The block that begins with this zone and ends before zone number `end` at the latest. It is said
 * to the store, so that going through all blocks keeps a bounded trace within its bound.
 */
static inline sb_zone_block sb_track_block(const sb_track *track, uint64_t zone, uint64_t end) {
    enum { LONGEST = 1 << 15, ZONE_BYTES = 24 };
    assert(zone < end);
    const uint64_t left = end - zone < LONGEST ? end - zone : LONGEST;
    const uint64_t run = sb_series_run(zone);
    const sb_zone_block block = {.count = run < left ? run : left,
                                 .start = sb_series_find(&track->start, zone),
                                 .duration = sb_series_find(&track->duration, zone),
                                 .source = sb_series_find(&track->source, zone),
                                 .parent = sb_series_find(&track->parent, zone),
                                 .note = sb_series_find(&track->note, zone)};
    assert(block.start != NULL);
    assert(block.duration != NULL);
    assert(block.source != NULL);
    sb_store_touch(track->start.store, block.count * ZONE_BYTES);
    return block;
}

/* A zone's annotation, or NULL. */
const sb_zone_note *sb_trace_zone_note(const sb_trace *trace, const sb_track *track, uint32_t zone);

/* ---- questions ---- */

/* A stretch of time; zones, messages and losses that touch [from, to) are in it. */
typedef struct sb_range {
    int64_t from;
    int64_t to;
} sb_range;

#define SB_RANGE_ALL ((sb_range){INT64_MIN, INT64_MAX})

typedef bool (*sb_zone_visitor)(void *context, const sb_track *track, uint32_t zone);

/*
 * Calls visit for each zone of the track that touches the range, outer before inner, in order of
 * start; visit returns false to stop. Cost: a bisection, and the zones visited; on a track that is
 * unsorted or overlapping, all zones that start before the end of the range.
 */
void sb_track_visit(const sb_track *track, sb_range range, sb_zone_visitor visit, void *context);
/* The first zone inside this one and the next one beside it; SB_NONE if there is none. */
uint32_t sb_track_first_child(const sb_track *track, uint32_t zone);
uint32_t sb_track_next_sibling(const sb_track *track, uint32_t zone);
/* The first zone that starts at time or later; the count if there is none. Sorted tracks only. */
uint64_t sb_track_find(const sb_track *track, int64_t time);
/* The innermost zone of a track at a time, or SB_NONE. Sorted tracks only. */
uint32_t sb_track_zone_at(const sb_track *track, int64_t time);
/* The track of a host thread, or SB_NONE. */
uint32_t sb_trace_track_of_thread(const sb_trace *trace, uint32_t thread);
/* Messages with first <= index < last are in the range. */
void sb_trace_messages_in(const sb_trace *trace, sb_range range, uint64_t *first, uint64_t *last);
/* How much was lost in the range: the records of the ledger that touch it, and their sum. */
uint64_t sb_trace_losses_in(const sb_trace *trace, sb_range range, uint64_t *lost);
/* Does text contain part; without case, ASCII letters are equal to their capitals. */
bool sb_trace_matches(sb_slice text, sb_slice part, bool with_case);
/* Sources whose name contains part, from source number `from` on: the next one, or SB_NONE. */
uint32_t sb_trace_search(const sb_trace *trace, sb_slice part, bool with_case, uint32_t from);

/* ---- statistics ---- */

typedef struct sb_zone_stats {
    uint64_t count;
    int64_t total; /* nanoseconds, as all below */
    int64_t min;
    int64_t max;
    int64_t self_total; /* without what ran inside; 0 unless asked for, as the next two */
    int64_t self_min;
    int64_t self_max;
    double mean;
    double sum_squares;
    double deviation; /* of the sample: divided by count - 1 */
    double self_deviation;
    int64_t median; /* the lower of the two in the middle */
    int64_t p99;    /* the smallest that 99 % do not exceed */
} sb_zone_stats;

typedef struct sb_stats_options {
    sb_range range;       /* of zones that touch it, the part inside counts */
    bool whole_only;      /* only zones that lie wholly in the range */
    bool devices;         /* zones of device lanes instead of the host's */
    bool skip_empty;      /* leave out zones of 0 ns */
    bool with_self;       /* times without what ran inside */
    bool with_quantiles;  /* median and p99, which cost two more passes */
    const sb_track *only; /* one track; NULL: all */
} sb_stats_options;

/*
 * Statistics per source: an array with an entry for each source of the trace. Zones without an end
 * are not counted. The caller frees it.
 */
sb_zone_stats *sb_trace_stats(const sb_trace *trace, const sb_stats_options *options);
/* How much of one zone they count: its part in the range; -1 if it is not counted at all. */
int64_t sb_stats_part_of(const sb_stats_options *options, const sb_track *track, uint32_t zone);

#endif
