/*
 * Events: what a program tells, the same for every protocol.
 *
 * An event is what the protocol spreads over several items: the text of a message is in its event,
 * the location of a zone that brings its own too. Times are ticks of the program's clock, absolute;
 * device times are ticks of the device.
 *
 * The comment behind each kind lists the members that are used, besides time where the kind has
 * one. A member that the protocol of a stream does not have is zero.
 */
#ifndef SB_WIRE_EVENT_H
#define SB_WIRE_EVENT_H

#include <stdint.h>

#include "base/base.h"

typedef enum sb_wire_kind {
    SB_WIRE_NOTHING = 0,
    /* zones; thread is whose they are. DYNAMIC: location in text, function_text, file_text, line,
     * colour; else in token */
    SB_WIRE_ZONE_BEGIN,      /* time, thread, token | DYNAMIC; CALLSTACK */
    SB_WIRE_ZONE_END,        /* time, thread */
    SB_WIRE_ZONE_TEXT,       /* thread, text */
    SB_WIRE_ZONE_NAME,       /* thread, text */
    SB_WIRE_ZONE_COLOUR,     /* thread, colour */
    SB_WIRE_ZONE_VALUE,      /* thread, value */
    SB_WIRE_ZONE_VALIDATION, /* thread, id */
    /* messages: LITERAL: token, else text; COLOUR: colour; CALLSTACK; metadata */
    SB_WIRE_MESSAGE,  /* time, thread */
    SB_WIRE_APP_INFO, /* time, text */
    /* call stacks: payload is the addresses, eight bytes each */
    SB_WIRE_CALLSTACK,        /* thread, payload; SERIAL: of the next serial event instead */
    SB_WIRE_CALLSTACK_SCRIPT, /* thread, payload, script: frames given as text */
    SB_WIRE_CALLSTACK_SAMPLE, /* time, thread, payload; SWITCH */
    /* frames */
    SB_WIRE_FRAME,       /* time, token */
    SB_WIRE_FRAME_START, /* time, token */
    SB_WIRE_FRAME_END,   /* time, token */
    SB_WIRE_FRAME_VSYNC, /* time, id */
    SB_WIRE_FRAME_IMAGE, /* id: frame, width, height, flip; payload */
    /* plots */
    SB_WIRE_PLOT_INT,    /* time, token, value */
    SB_WIRE_PLOT_FLOAT,  /* time, token, number */
    SB_WIRE_PLOT_DOUBLE, /* time, token, number */
    SB_WIRE_PLOT_CONFIG, /* token, type, step, fill, colour */
    /* memory: token is the address; NAMED: pool; CALLSTACK */
    SB_WIRE_MEMORY_ALLOC,   /* time, thread, token, size */
    SB_WIRE_MEMORY_FREE,    /* time, thread, token */
    SB_WIRE_MEMORY_DISCARD, /* time, thread, token: pool */
    /* locks; SHARED */
    SB_WIRE_LOCK_ANNOUNCE,  /* time, id, token: location, type */
    SB_WIRE_LOCK_TERMINATE, /* time, id */
    SB_WIRE_LOCK_WAIT,      /* time, thread, id */
    SB_WIRE_LOCK_OBTAIN,    /* time, thread, id */
    SB_WIRE_LOCK_RELEASE,   /* time, id; SHARED: thread */
    SB_WIRE_LOCK_MARK,      /* thread, id, token: location */
    SB_WIRE_LOCK_NAME,      /* id, text */
    /* devices; SERIAL where the event went through the program's one ordered queue; locations as
     * for zones */
    SB_WIRE_DEVICE_CONTEXT, /* time, device_time, thread, number: period, context, flags, type */
    SB_WIRE_DEVICE_CONTEXT_NAME, /* context, text */
    SB_WIRE_DEVICE_BEGIN, /* time, thread, query, context, token | DYNAMIC; CALLSTACK, SERIAL */
    SB_WIRE_DEVICE_END,   /* time, thread, query, context; SERIAL */
    SB_WIRE_DEVICE_TIME,  /* device_time, query, context */
    SB_WIRE_DEVICE_CALIBRATION, /* device_time, time, delta: ns, context */
    SB_WIRE_DEVICE_SYNC,        /* device_time, time, context */
    SB_WIRE_DEVICE_VALUE_NAME,  /* value: id, context, text */
    SB_WIRE_DEVICE_VALUE,       /* value: id, number, thread, query, context */
    SB_WIRE_DEVICE_MARKER_META, /* context, text */
    SB_WIRE_DEVICE_MARKER,      /* device_time, token, thread, context, type; DYNAMIC */
    SB_WIRE_DEVICE_ZONE,        /* device_time, delta: end, token, thread, context */
    /* the system */
    SB_WIRE_CPU_LOAD,        /* time, number: percent */
    SB_WIRE_POWER,           /* time, value: microjoules, token: name */
    SB_WIRE_TOPOLOGY,        /* package, die, core, thread */
    SB_WIRE_SWITCH,          /* time, thread: old, other_thread: new, cpu, reason, state, c_state,
                              * priority, other_priority */
    SB_WIRE_WAKEUP,          /* time, thread, cpu, reason, priority */
    SB_WIRE_THREAD_PROCESS,  /* token: thread, value: process */
    SB_WIRE_HARDWARE_SAMPLE, /* time, token: address, type: 0 cycle, 1 instruction, 2 cache use, 3
                              * cache miss, 4 branch, 5 branch miss */
    SB_WIRE_THREAD_GROUP,    /* thread, hint */
    SB_WIRE_FIBER_ENTER,     /* time, token: fiber, thread, hint */
    SB_WIRE_FIBER_LEAVE,     /* time, thread */
    SB_WIRE_SECTION_ENTER,   /* time, id, category, text */
    SB_WIRE_SECTION_LEAVE,   /* time, id */
    SB_WIRE_SECTION_SETUP,   /* category, text */
    SB_WIRE_PARAMETER,       /* id, token: name, type, value */
    SB_WIRE_CRASH_REPORT,    /* time, thread, token: text */
    SB_WIRE_CRASH,
    SB_WIRE_KEEP_ALIVE,
    SB_WIRE_TERMINATE,
    /* answers: token is what was asked for, text or payload what it is */
    SB_WIRE_STRING,
    SB_WIRE_THREAD_NAME,
    SB_WIRE_PLOT_NAME,
    SB_WIRE_FRAME_NAME,
    SB_WIRE_FIBER_NAME,
    SB_WIRE_EXTERNAL_NAME,
    SB_WIRE_EXTERNAL_THREAD_NAME,
    SB_WIRE_SYMBOL_CODE,
    SB_WIRE_SOURCE_CODE,
    SB_WIRE_SOURCE_LOCATION, /* token: name, function, file, line, colour; in order of asking */
    SB_WIRE_CALLSTACK_FRAME_SIZE, /* token: address, type: count of frames that follow, text: image
                                   */
    SB_WIRE_CALLSTACK_FRAME,      /* line, token: symbol, id: its length, text, file_text */
    SB_WIRE_SYMBOL,               /* line, token: symbol, text: file */
    SB_WIRE_ACK,
    SB_WIRE_NO_SOURCE_CODE, /* id */
    SB_WIRE_NO_SYMBOL_CODE,
    SB_WIRE_KINDS,
} sb_wire_kind;

/* What form a kind has; several may hold. */
enum {
    SB_WIRE_WITH_CALLSTACK = 1, /* it takes the call stack that came before */
    SB_WIRE_SERIAL = 2,
    SB_WIRE_DYNAMIC = 4, /* the source location comes with it */
    SB_WIRE_NAMED = 8,
    SB_WIRE_SHARED = 16,
    SB_WIRE_LITERAL = 32,
    SB_WIRE_WITH_COLOUR = 64,
    SB_WIRE_AT_SWITCH = 128,
    SB_WIRE_FORMS = 256,
};

typedef struct sb_wire_event {
    uint8_t kind; /* sb_wire_kind */
    uint8_t form;
    uint8_t type;
    uint8_t flags;
    uint8_t metadata; /* low half: 0 the program, 1 the client itself; high half: severity */
    uint8_t step;
    uint8_t fill;
    uint8_t flip;
    uint8_t cpu;
    uint8_t reason;
    uint8_t state;
    uint8_t c_state;
    int8_t priority;
    int8_t other_priority;
    uint16_t query;
    uint16_t context;
    uint16_t width;
    uint16_t height;
    uint16_t category;
    uint32_t thread;
    uint32_t other_thread;
    uint32_t id;
    uint32_t line;
    uint32_t colour; /* 0xRRGGBB; 0: none */
    int32_t hint;
    uint32_t package;
    uint32_t die;
    uint32_t core;
    int64_t time;
    int64_t device_time;
    int64_t delta;
    uint64_t token;
    uint64_t function;
    uint64_t file;
    uint64_t value;
    uint64_t size;
    uint64_t pool;
    double number;
    sb_slice text;
    sb_slice function_text;
    sb_slice file_text;
    sb_slice payload;
    sb_slice script;
} sb_wire_event;

/* The two commonest events in their shortest form, many at a time. */
typedef struct sb_wire_zone {
    int64_t time;
    uint64_t token; /* of the location; SB_WIRE_END_ZONE: the innermost zone ends */
} sb_wire_zone;

#define SB_WIRE_END_ZONE UINT64_MAX

/* A text for people: "zone", "memory allocation". */
const char *sb_wire_kind_name(sb_wire_kind kind);

#endif
