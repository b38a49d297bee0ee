/*
 * strobe.h: instrument a program in C or C++.
 *
 *     #include <strobe/strobe.h>
 *
 *     void parse(void) {
 *         ZoneScoped;                        the rest of this scope is a zone
 *         sb_zone_text(sb_this_zone, path, strlen(path));
 *     }
 *
 * Compile with -DSTROBE_ENABLE (or -DTRACY_ENABLE) and link libstrobe. Without either macro
 * everything here compiles to nothing, and the library is not needed.
 *
 * The concepts, in the order of need:
 *
 *   zone      a stretch of one thread's time with a name and a place in the source. Zones of a
 *             thread nest. A zone must end on the thread, or in the fiber, in which it began.
 *   message   a text at a moment. frame: a mark that cuts the run into pieces. plot: a number over
 *             time. Memory, locks, device ("gpu") zones, fibers, sections, parameters: below.
 *   literal   a parameter called `literal` must point to text that stays where it is and does not
 *             change: it is read when it is first met and then known by its address. Other texts
 *             are copied at once.
 *   session   what one reader records. Zones remember their session, so that a reader who comes or
 *             goes in the middle of a zone never sees half of it.
 *
 * Everything may be called from any thread at any time: before main, in destructors, in signal
 * handlers (an event that interrupts the recording of another is dropped and counted), after fork.
 * Nothing here ever stops or blocks the program. docs/client.md says what is sent where and lists
 * the environment variables; include/tracy/ holds the same interface under Tracy's names.
 *
 * C++ programs use include/tracy/Tracy.hpp for scoped zones; the functions below are for both.
 * Structures are only ever extended at the end.
 */
#ifndef STROBE_STROBE_H
#define STROBE_STROBE_H

#include <stddef.h>
#include <stdint.h>

#if (defined(TRACY_ENABLE) || defined(STROBE_ENABLE)) && !defined(SB_ENABLED)
#define SB_ENABLED 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SB_API __attribute__((visibility("default")))
/* Called without the linker's stub, where the compiler can. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define SB_DIRECT __attribute__((noplt))
#endif
#endif
#ifndef SB_DIRECT
#define SB_DIRECT
#endif
/* An address that is only a number to us; else compilers miss the initialisation of its memory. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define SB_NOT_READ(index) __attribute__((access(none, index)))
#else
#define SB_NOT_READ(index)
#endif
#define SB_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Where a zone stands. Static, since it is known by its address. */
typedef struct sb_source_location {
    const char *name; /* NULL: the function's name serves */
    const char *function;
    const char *file;
    uint32_t line;
    uint32_t color; /* 0xRRGGBB; 0: the reader chooses */
} sb_source_location;

/* An open zone: the session it belongs to, 0 if it is not recorded. */
typedef struct sb_zone {
    uint32_t session;
} sb_zone;

/* Calls how deep a zone, message or allocation looks into the call stack; 0: not at all. */
enum { SB_STACK_DEPTH_MAX = 62 };

typedef enum sb_plot_format {
    SB_PLOT_NUMBER = 0,
    SB_PLOT_MEMORY = 1,
    SB_PLOT_PERCENTAGE = 2,
    SB_PLOT_WATT = 3,
} sb_plot_format;

typedef enum sb_severity {
    SB_SEVERITY_TRACE = 0,
    SB_SEVERITY_DEBUG = 1,
    SB_SEVERITY_INFO = 2,
    SB_SEVERITY_WARNING = 3,
    SB_SEVERITY_ERROR = 4,
    SB_SEVERITY_FATAL = 5,
} sb_severity;

typedef enum sb_parameter_type {
    SB_PARAMETER_INTEGER = 0,
    SB_PARAMETER_BOOLEAN = 1,
    SB_PARAMETER_TRIGGER = 2,
} sb_parameter_type;

/* What a GPU context is; the numbers of Tracy's protocol. */
typedef enum sb_gpu_type {
    SB_GPU_OPENGL = 1,
    SB_GPU_VULKAN = 2,
    SB_GPU_OPENCL = 3,
    SB_GPU_DIRECT3D12 = 4,
    SB_GPU_DIRECT3D11 = 5,
    SB_GPU_METAL = 6,
    SB_GPU_CUSTOM = 7,
    SB_GPU_CUDA = 8,
    SB_GPU_ROCPROF = 9,
    SB_GPU_WEBGPU = 10,
} sb_gpu_type;

typedef struct sb_lock sb_lock;

/* How the client behaves, beside the environment. Each flag is also a variable (docs/client.md). */
enum {
    SB_ON_DEMAND = 1,        /* record only while a reader is connected */
    SB_NO_EXIT = 2,          /* at exit, wait for a reader to come and take everything */
    SB_ALL_INTERFACES = 4,   /* listen beyond the loopback interface */
    SB_NO_BROADCAST = 8,     /* do not announce this process */
    SB_IPV4_ONLY = 16,       /* listen on IPv4 only */
    SB_MONOTONIC_CLOCK = 32, /* the system's clock instead of the time-stamp counter */
    SB_TENSTORRENT = 64,     /* readers of protocols 66 and 76 are Tenstorrent's */
};

typedef struct sb_client_options {
    uint32_t size;  /* of this structure as the caller knows it */
    uint32_t flags; /* SB_ON_DEMAND and its neighbours */
    uint32_t port;  /* 0: the first free one from 8086 on */
} sb_client_options;

#ifdef SB_ENABLED

/*
 * What is being recorded: the session in the low half, 0 if none; in the high half a count of
 * unloaded libraries. Written by the library only.
 */
extern SB_API uint64_t sb_client_state;

/* ---- Life cycle -------------------------------------------------------------------------- */

/*
 * Starts the client; a second call only adds flags. Called by itself before main in every program
 * and library that includes this header, unless TRACY_MANUAL_LIFETIME or STROBE_MANUAL_LIFETIME
 * says otherwise.
 */
SB_API void sb_client_start(const sb_client_options *options);
/* Sends or writes what is left, within STROBE_EXIT_TIMEOUT, and stops. Called by itself at exit. */
SB_API void sb_client_stop(void);
SB_API int sb_client_is_started(void);
/* Is a reader connected (or a file being recorded)? */
SB_API int sb_client_is_connected(void);
/*
 * Starts the client, and everything goes into a file as with STROBE_OUT: for programs that define
 * STROBE_MANUAL_LIFETIME, since others have started by then. 0, or -1 if the client is started or
 * the file cannot be made.
 */
SB_API int sb_client_record_to_file(const char *path);
/* Called when a library that used this header is unloaded; its names may be taken by another. */
SB_API void sb_client_forget_library(void);
SB_API void sb_set_program_name(const char *literal);
SB_API void sb_set_thread_name(const char *name);
/* Threads of one group are shown together. */
SB_API void sb_set_thread_name_in_group(const char *name, int32_t group);
/* This thread as the reader knows it. */
SB_API uint32_t sb_thread_id(void);
/* Ticks of the recording's clock. */
SB_API int64_t sb_now(void);

/* ---- Zones ------------------------------------------------------------------------------- */

#include "zone.h"

SB_API SB_DIRECT sb_zone sb_zone_open(const sb_source_location *location);
SB_API sb_zone sb_zone_open_with_stack(const sb_source_location *location, int32_t depth);
SB_API SB_DIRECT void sb_zone_close(sb_zone zone);

static inline int sb_is_recording(void) {
    return (uint32_t)__atomic_load_n(&sb_client_state, __ATOMIC_RELAXED) != 0;
}

/* A zone that nobody records costs a load and a branch. */
static inline sb_zone sb_zone_begin(const sb_source_location *location) {
    const uint64_t state = __atomic_load_n(&sb_client_state, __ATOMIC_RELAXED);
    const sb_zone recorded = {(uint32_t)state};
    if (recorded.session == 0 || (SB_ZONES_IN_PLACE && sb_zone_begin_in_place(location, state)))
        return recorded;
    return sb_zone_open(location);
}

static inline sb_zone sb_zone_begin_with_stack(const sb_source_location *location, int32_t depth) {
    const sb_zone none = {0};
    if (depth <= 0)
        return sb_zone_begin(location);
    return sb_is_recording() ? sb_zone_open_with_stack(location, depth) : none;
}

static inline void sb_zone_end(sb_zone zone) {
    if (zone.session != 0 && !(SB_ZONES_IN_PLACE && sb_zone_end_in_place(zone)))
        sb_zone_close(zone);
}

/* A zone whose place is made up at run time; all texts are copied. name may be NULL. */
SB_API sb_zone sb_zone_begin_dynamic(uint32_t line, const char *file, size_t file_size,
                                     const char *function, size_t function_size, const char *name,
                                     size_t name_size, uint32_t color, int32_t depth);
/* Several texts of a zone are joined by the reader, a line each. */
SB_API void sb_zone_text(sb_zone zone, const char *text, size_t size);
SB_API void sb_zone_text_format(sb_zone zone, const char *format, ...) SB_PRINTF(2, 3);
/* Replaces the name of this one zone. */
SB_API void sb_zone_name(sb_zone zone, const char *name, size_t size);
SB_API void sb_zone_name_format(sb_zone zone, const char *format, ...) SB_PRINTF(2, 3);
SB_API void sb_zone_color(sb_zone zone, uint32_t color);
SB_API void sb_zone_value(sb_zone zone, uint64_t value);

/* ---- Messages, frames, plots ------------------------------------------------------------- */

SB_API void sb_message(sb_severity severity, uint32_t color, int32_t depth, const char *text,
                       size_t size);
SB_API void sb_message_literal(sb_severity severity, uint32_t color, int32_t depth,
                               const char *literal);
/* A line about the program, shown with the recording. */
SB_API void sb_app_info(const char *text, size_t size);

/* NULL is the default frame set. A set is used either with marks or with starts and ends. */
SB_API void sb_frame_mark(const char *literal);
SB_API void sb_frame_start(const char *literal);
SB_API void sb_frame_end(const char *literal);
/*
 * A picture of the frame that was marked `offset` marks ago: RGBA, width and height multiples of 4.
 * It is compressed here, at about 25 ns per block of 16 pixels.
 */
SB_API void sb_frame_image(const void *pixels, uint16_t width, uint16_t height, uint8_t offset,
                           int flip);

SB_API void sb_plot_integer(const char *literal, int64_t value);
SB_API void sb_plot_double(const char *literal, double value);
SB_API void sb_plot_float(const char *literal, float value);
SB_API void sb_plot_configure(const char *literal, sb_plot_format format, int step, int fill,
                              uint32_t color);

/* ---- Memory ------------------------------------------------------------------------------ */

/* A pool is an address space of its own; NULL is the unnamed one. */
SB_NOT_READ(1)
SB_API void sb_memory_allocated(const void *address, size_t size, const char *pool_literal,
                                int32_t depth);
SB_NOT_READ(1)
SB_API void sb_memory_freed(const void *address, const char *pool_literal, int32_t depth);
/* All that is allocated in a pool is gone at once. */
SB_API void sb_memory_discarded(const char *pool_literal, int32_t depth);

/* ---- Locks ------------------------------------------------------------------------------- */

SB_API sb_lock *sb_lock_announce(const sb_source_location *location, int is_shared);
SB_API void sb_lock_terminate(sb_lock *lock);
/* True if the matching _obtained must follow. */
SB_API int sb_lock_waiting(sb_lock *lock);
SB_API void sb_lock_obtained(sb_lock *lock);
SB_API void sb_lock_released(sb_lock *lock);
SB_API void sb_lock_tried(sb_lock *lock, int is_obtained);
SB_API int sb_lock_waiting_shared(sb_lock *lock);
SB_API void sb_lock_obtained_shared(sb_lock *lock);
SB_API void sb_lock_released_shared(sb_lock *lock);
SB_API void sb_lock_tried_shared(sb_lock *lock, int is_obtained);
SB_API void sb_lock_mark(sb_lock *lock, const sb_source_location *location);
SB_API void sb_lock_name(sb_lock *lock, const char *name, size_t size);

/* ---- Devices ----------------------------------------------------------------------------- */

/*
 * A context is a device's queue with a clock of its own. Each end of a zone names a query; when the
 * device has answered it, sb_gpu_time gives its time. Numbers of contexts above 255 need a reader
 * of Tenstorrent's. thread 0 in sb_gpu_context: zones of any thread.
 */
SB_API void sb_gpu_context(uint16_t context, sb_gpu_type type, int64_t gpu_time, float period,
                           uint8_t flags, uint32_t thread);
SB_API void sb_gpu_context_name(uint16_t context, const char *name, size_t size);
/* What a lane of a device is called: a number that device zones have as their thread. */
SB_API void sb_gpu_lane_name(uint32_t thread, const char *name);
SB_API void sb_gpu_zone_begin(uint16_t context, uint16_t query, const sb_source_location *location,
                              uint32_t thread, int32_t depth);
/* As sb_zone_begin_dynamic. thread may be any number that tells the lanes of a device apart. */
SB_API void sb_gpu_zone_begin_dynamic(uint16_t context, uint16_t query, uint32_t thread,
                                      uint32_t line, const char *file, size_t file_size,
                                      const char *function, size_t function_size, const char *name,
                                      size_t name_size, uint32_t color);
SB_API void sb_gpu_zone_end(uint16_t context, uint16_t query, uint32_t thread);
SB_API void sb_gpu_time(uint16_t context, uint16_t query, int64_t gpu_time);
/* The device's time now, and the host nanoseconds since the last calibration. */
SB_API void sb_gpu_calibration(uint16_t context, int64_t gpu_time, int64_t host_delta_ns);
SB_API void sb_gpu_time_sync(uint16_t context, int64_t gpu_time);

/* ---- The rest ---------------------------------------------------------------------------- */

/* From enter to leave what this thread records belongs to the fiber. */
SB_API void sb_fiber_enter(const char *literal, int32_t group);
SB_API void sb_fiber_leave(void);

/* A section is a stretch of the whole program's time. The number that leave wants; 0: none. */
SB_API uint32_t sb_section_enter(uint16_t category, const char *format, ...) SB_PRINTF(2, 3);
SB_API void sb_section_leave(uint32_t section);
SB_API void sb_section_setup(uint16_t category, const char *format, ...) SB_PRINTF(2, 3);

typedef void (*sb_parameter_callback)(void *data, uint32_t index, int32_t value);
/* The callback runs on a thread of the client's. */
SB_API void sb_parameter_register(sb_parameter_callback callback, void *data);
SB_API void sb_parameter_setup(uint32_t index, const char *literal, sb_parameter_type type,
                               int32_t value);

/* ---- What the header does by itself ------------------------------------------------------ */

#if !defined(STROBE_MANUAL_LIFETIME) && !defined(TRACY_MANUAL_LIFETIME)

static inline uint32_t sb_flags_of_this_build(void) {
    uint32_t flags = 0;
#ifdef TRACY_ON_DEMAND
    flags |= SB_ON_DEMAND;
#endif
#ifdef TRACY_NO_EXIT
    flags |= SB_NO_EXIT;
#endif
#ifdef TRACY_NO_BROADCAST
    flags |= SB_NO_BROADCAST;
#endif
#ifdef TRACY_ONLY_IPV4
    flags |= SB_IPV4_ONLY;
#endif
#ifdef TRACY_TIMER_QPC
    flags |= SB_MONOTONIC_CLOCK;
#endif
    return flags;
}

/*
 * One pair of these in each program and library, however many of its files include this header:
 * weak, so that the linker keeps one, and hidden, so that libraries do not share it. Before all
 * constructors of the program's own, so that zones in those are recorded.
 */
__attribute__((weak, visibility("hidden"), constructor(101))) void sb_start_before_main(void);
__attribute__((weak, visibility("hidden"), constructor(101))) void sb_start_before_main(void) {
#ifdef TRACY_DATA_PORT
    const sb_client_options options = {sizeof options, sb_flags_of_this_build(), TRACY_DATA_PORT};
#else
    const sb_client_options options = {sizeof options, sb_flags_of_this_build(), 0};
#endif
    sb_client_start(&options);
}

__attribute__((weak, visibility("hidden"), destructor(101))) void sb_forget_at_unload(void);
__attribute__((weak, visibility("hidden"), destructor(101))) void sb_forget_at_unload(void) {
    sb_client_forget_library();
}

#endif /* lifetime */

#else /* SB_ENABLED */

#include "strobe_off.h"

#endif /* SB_ENABLED */

#ifdef __cplusplus
}
#endif

/* ---- Scoped zones in plain C ------------------------------------------------------------- */

#ifndef __cplusplus

#ifdef SB_ENABLED

#ifndef TRACY_CALLSTACK
#define TRACY_CALLSTACK 0
#endif

#define SB_JOIN_PARTS(a, b) a##b
#define SB_JOIN(a, b) SB_JOIN_PARTS(a, b)

static inline void sb_zone_leave_scope(const sb_zone *zone) {
    sb_zone_end(*zone);
}

/* Declares the zone `variable`, which ends with the scope. */
#define SB_ZONE_VARIABLE(variable, zone_name, zone_color, depth)                   \
    static const sb_source_location SB_JOIN(sb_location_, __LINE__) = {            \
        zone_name, __func__, __FILE__, (uint32_t)__LINE__, zone_color};            \
    __attribute__((cleanup(sb_zone_leave_scope), unused)) const sb_zone variable = \
        sb_zone_begin_with_stack(&SB_JOIN(sb_location_, __LINE__), depth)

#define ZoneScoped SB_ZONE_VARIABLE(sb_this_zone, NULL, 0, TRACY_CALLSTACK)
#define ZoneScopedN(name) SB_ZONE_VARIABLE(sb_this_zone, name, 0, TRACY_CALLSTACK)
#define ZoneScopedC(color) SB_ZONE_VARIABLE(sb_this_zone, NULL, color, TRACY_CALLSTACK)
#define ZoneScopedNC(name, color) SB_ZONE_VARIABLE(sb_this_zone, name, color, TRACY_CALLSTACK)
#define ZoneScopedS(depth) SB_ZONE_VARIABLE(sb_this_zone, NULL, 0, depth)
#define ZoneScopedNS(name, depth) SB_ZONE_VARIABLE(sb_this_zone, name, 0, depth)
#define ZoneText(text, size) sb_zone_text(sb_this_zone, text, size)
#define ZoneTextF(...) sb_zone_text_format(sb_this_zone, __VA_ARGS__)
#define ZoneName(text, size) sb_zone_name(sb_this_zone, text, size)
#define ZoneNameF(...) sb_zone_name_format(sb_this_zone, __VA_ARGS__)
#define ZoneColor(color) sb_zone_color(sb_this_zone, color)
#define ZoneValue(value) sb_zone_value(sb_this_zone, value)
#define FrameMark sb_frame_mark(NULL)
#define FrameMarkNamed(name) sb_frame_mark(name)

#else

#define ZoneScoped
#define ZoneScopedN(name)
#define ZoneScopedC(color)
#define ZoneScopedNC(name, color)
#define ZoneScopedS(depth)
#define ZoneScopedNS(name, depth)
#define ZoneText(text, size)
#define ZoneTextF(...)
#define ZoneName(text, size)
#define ZoneNameF(...)
#define ZoneColor(color)
#define ZoneValue(value)
#define FrameMark
#define FrameMarkNamed(name)

#endif /* SB_ENABLED */

#endif /* __cplusplus */

#endif
