/*
 * From events to a trace: what the files of this module share.
 *
 * The program names things by tokens and is asked what they mean. Here a thing gets its number in
 * the trace when its token is first seen, with an empty name; the answer fills the name in. So the
 * order of answers does not matter, and a recording that is cut keeps everything but some names.
 */
#ifndef SB_CAPTURE_MODEL_H
#define SB_CAPTURE_MODEL_H

#include "base/base.h"
#include "capture/capture_questions.h"
#include "trace/trace.h"
#include "wire/wire.h"

/* What a program may make us keep in memory; the rest is counted and left out. */
enum {
    CAPTURE_THREADS_MAX = 65000, /* with fibers and device lanes */
    CAPTURE_SOURCES_MAX = 1000000,
    CAPTURE_TOKENS_MAX = 4000000, /* texts that the program names by token */
    CAPTURE_SETS_MAX = 65536,     /* of frame sets, plots, pools, each */
    CAPTURE_LOCKS_MAX = 1000000,
    CAPTURE_LOCK_THREADS_MAX = 64,
    CAPTURE_STACKS_MAX = 4000000,
    CAPTURE_FRAMES_MAX = 4000000,   /* of call stacks: addresses */
    CAPTURE_LIVE_MAX = 64000000,    /* allocations that are not freed */
    CAPTURE_PENDING_MAX = 4000000,  /* device times that are not known yet */
    CAPTURE_SWITCHES_MAX = 4000000, /* context switches */
};
#define CAPTURE_TEXT_BYTES_MAX (UINT64_C(1) << 30)

typedef struct capture_thread {
    uint64_t id;
    uint32_t number;              /* in the trace */
    uint32_t callstack;           /* for the next event that takes one */
    sb_track *track;              /* NULL: no zones yet */
    struct capture_thread *fiber; /* runs on it now; NULL: none */
} capture_thread;

/* A meter of energy. */
typedef struct capture_power {
    int64_t last_time;
    uint32_t plot;
} capture_power;

/* A number of the program that a viewer could change. */
typedef struct capture_parameter {
    sb_string name;
    int32_t value;
    uint8_t type; /* 0 number, 1 switch, 2 trigger */
} capture_parameter;

/* Why something that came is not in the trace. */
typedef enum capture_fault {
    CAPTURE_STRAY_END,       /* zone ends, texts ... without a zone */
    CAPTURE_STRAY_FREE,      /* memory freed that was not allocated */
    CAPTURE_STRAY_LOCK,      /* events of locks that were not announced */
    CAPTURE_STRAY_DEVICE,    /* events of device contexts or queries that there are not */
    CAPTURE_STRAY_FRAME,     /* frames that end without a start */
    CAPTURE_STRAY_ANSWER,    /* answers to what was not asked */
    CAPTURE_BAD_VALUE,       /* plot values that are no numbers */
    CAPTURE_BAD_CALIBRATION, /* clocks that drift more than one per cent */
    CAPTURE_BAD_STACK,       /* call stacks of scripts that are cut */
    CAPTURE_OVER_LIMIT,      /* beyond what is kept, see above */
    CAPTURE_FAULTS,
} capture_fault;

enum { CAPTURE_CACHE = 4096 };

typedef struct capture_model {
    sb_trace *trace;
    const sb_wire_protocol *protocol;
    capture_questions *questions;
    sb_wire_welcome welcome;
    int64_t zero_tick;
    double ns_per_tick;
    int64_t last_ns; /* the latest time seen */
    bool ignores_memory_faults;
    bool has_ended; /* the program said that it ends */
    bool has_crashed;
    uint64_t text_bytes;
    uint64_t faults[CAPTURE_FAULTS];
    uint64_t unkept[SB_WIRE_KINDS]; /* events that there is no place for, by kind */
    uint64_t events;
    uint64_t zones;

    /* names, capture_names.c */
    sb_idmap strings;    /* token to sb_string */
    sb_idmap sources;    /* token to source */
    sb_intern locations; /* of zones that bring their location: its bytes */
    sb_vector location_sources;
    struct {
        uint64_t token;
        uint32_t source;
    } cache[CAPTURE_CACHE];
    /* threads */
    sb_series threads; /* capture_thread */
    sb_idmap thread_indices;
    capture_thread *last_thread;
    sb_idmap fibers; /* token to position in threads */
    uint32_t fiber_count;
    /* call stacks, capture_stacks.c */
    sb_intern stacks;    /* ids of frames, eight bytes each */
    sb_vector stack_ids; /* uint64_t: of the one at hand */
    sb_intern script_frames;
    sb_output script_bytes;
    sb_idmap stack_frames; /* address to whether it is answered */
    sb_output frame_bytes;
    uint64_t frame_count;
    unsigned frames_expected; /* of the address that is being answered */
    uint32_t serial_callstack;
    /* other events, capture_events.c */
    sb_idmap frame_sets;
    sb_idmap plots;
    sb_idmap power_plots;
    sb_vector powers;  /* capture_power */
    uint32_t cpu_plot; /* position + 1 */
    sb_idmap pools;
    sb_vector live; /* sb_idmap by pool: address to event */
    sb_idmap locks;
    sb_vector lock_owners; /* uint32_t by lock: position of the thread that has it */
    sb_vector parameters;  /* capture_parameter */
    /* context switches, capture_switches.c */
    struct capture_switches *switches;
    /* devices, capture_devices.c */
    struct capture_devices *devices;
} capture_model;

/* A clock that stands still or runs backwards cannot be converted. */
bool capture_clock_is_sane(const sb_wire_welcome *welcome);
/* The trace must be new, and the clock sane. */
void capture_model_init(capture_model *model, sb_trace *trace, const sb_wire_protocol *protocol,
                        const sb_wire_welcome *welcome, const sb_wire_on_demand *on_demand,
                        capture_questions *questions);
/* Nothing more will come: closes what is open and hands over what was gathered aside. */
void capture_model_finish(capture_model *model);
void capture_model_free(capture_model *model);
/* For a decoder. */
sb_wire_handler capture_model_handler(capture_model *model);

static inline int64_t capture_time(capture_model *model, int64_t tick) {
    const int64_t since_zero = (int64_t)((uint64_t)tick - (uint64_t)model->zero_tick);
    const double ns = (double)since_zero * model->ns_per_tick;
    /* Beyond 146 years the conversion is not defined; such times are a program's mistake. */
    const double limit = 4.6e18;
    return ns > -limit && ns < limit ? (int64_t)ns : 0;
}

static inline void capture_count(capture_model *model, capture_fault fault) {
    model->faults[fault]++;
}

/* The recording lasts until this time at least. */
static inline void capture_see(capture_model *model, int64_t time) {
    if (time > model->last_ns)
        model->last_ns = time;
}

/* ---- capture_names.c ---- */

/* A text that came with an event. */
sb_string capture_text(capture_model *model, sb_slice text);
/* The text of a token, asked for with this question if it is new; token 0 is none. */
sb_string capture_token_text(capture_model *model, sb_wire_query_kind question, uint64_t token);
uint32_t capture_source(capture_model *model, uint64_t token);
/* The source of an event that brings its location. */
uint32_t capture_location(capture_model *model, const sb_wire_event *event);
/* The thread with this id; its name is asked for. NULL: too many. */
capture_thread *capture_thread_of(capture_model *model, uint64_t id);
/* The same, or the fiber that runs on it. */
capture_thread *capture_runner(capture_model *model, uint32_t id);
void capture_enter_fiber(capture_model *model, const sb_wire_event *event);
void capture_leave_fiber(capture_model *model, const sb_wire_event *event);
/* True if the event was an answer. */
bool capture_take_answer(capture_model *model, const sb_wire_event *event);
uint32_t capture_swap_colour(uint32_t colour);

/* ---- capture_zones.c ---- */

void capture_take_zones(void *context, uint32_t thread, const sb_wire_zone *zones, size_t count);
void capture_begin_zone(capture_model *model, const sb_wire_event *event);
void capture_annotate_zone(capture_model *model, const sb_wire_event *event);
sb_track *capture_track(capture_model *model, capture_thread *thread);

/* ---- capture_stacks.c ---- */

/* The number of a call stack: frames of a script, then addresses, eight bytes each. */
uint32_t capture_stack(capture_model *model, sb_slice addresses, sb_slice script);
void capture_take_stack_frame(capture_model *model, const sb_wire_event *event);
/* Puts stacks and frames into the trace. */
void capture_store_stacks(capture_model *model);

/* ---- capture_events.c: true if the event is of these ---- */

bool capture_take_frame(capture_model *model, const sb_wire_event *event);
bool capture_take_plot(capture_model *model, const sb_wire_event *event);
void capture_name_plot(capture_model *model, uint64_t token, sb_slice name);
bool capture_take_message(capture_model *model, const sb_wire_event *event);
/* Writes the parameters among the lines about the application. */
void capture_store_parameters(capture_model *model);

/* ---- capture_switches.c ---- */

struct capture_switches *capture_switches_create(sb_store *store);
void capture_switches_free(struct capture_switches *switches);
bool capture_take_system(capture_model *model, const sb_wire_event *event);
/* A fiber, by its thread id, runs on the thread with this number. */
void capture_begin_fiber(capture_model *model, uint64_t fiber, uint32_t thread, int64_t time);
void capture_end_fiber(capture_model *model, uint64_t fiber, int64_t time);
/* Puts switches, processes and topology into the trace. */
void capture_store_switches(capture_model *model);

/* ---- capture_sections.c ---- */

/* The low bytes of a number, the lowest first. */
void capture_put_number(sb_output *output, uint64_t value, unsigned size);
/* Makes bytes a section of the trace, unless it has no items; the output is discarded. */
void capture_keep_section(capture_model *model, sb_opaque section, sb_output *bytes,
                          uint64_t items);

/* ---- capture_memory.c ---- */

bool capture_take_memory(capture_model *model, const sb_wire_event *event);
bool capture_take_lock(capture_model *model, const sb_wire_event *event);
void capture_free_memory(capture_model *model);

/* ---- capture_devices.c ---- */

struct capture_devices *capture_devices_create(void);
bool capture_take_device(capture_model *model, const sb_wire_event *event);
void capture_finish_devices(capture_model *model);
void capture_devices_free(struct capture_devices *devices);

#endif
