/*
 * TracyC.h: Tracy's C interface over strobe.h.
 *
 * Programs that include Tracy's header of this name compile against this one unchanged. Zones in
 * the macros are inlined down to the question whether somebody records; everything else calls the
 * functions below, which are also there for programs that bind them by name.
 *
 * What the real header offers and this one does not is said in docs/client.md; nothing here is
 * silently empty while TRACY_ENABLE is defined. Without it every macro is empty.
 */
/* The names are Tracy's.
 * NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,bugprone-macro-parentheses)
 */
#ifndef STROBE_TRACYC_H
#define STROBE_TRACYC_H

#if defined(STROBE_ENABLE) && !defined(TRACY_ENABLE)
#define TRACY_ENABLE
#endif

#include <stddef.h>
#include <stdint.h>

#include "../strobe/strobe.h"

#ifndef TRACY_API
#define TRACY_API __attribute__((visibility("default")))
#endif
#ifndef TRACY_ATTRIBUTE_FORMAT_PRINTF
#define TRACY_ATTRIBUTE_FORMAT_PRINTF(text, first) __attribute__((format(printf, text, first)))
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum TracyPlotFormatEnum {
    TracyPlotFormatNumber,
    TracyPlotFormatMemory,
    TracyPlotFormatPercentage,
    TracyPlotFormatWatt
};

enum TracyMessageSeverity {
    TracyMessageSeverityTrace,
    TracyMessageSeverityDebug,
    TracyMessageSeverityInfo,
    TracyMessageSeverityWarning,
    TracyMessageSeverityError,
    TracyMessageSeverityFatal
};

#ifndef TracyFunction
#define TracyFunction __FUNCTION__
#endif
#ifndef TracyFile
#define TracyFile __FILE__
#endif
#ifndef TracyLine
#define TracyLine __LINE__
#endif

#ifndef TRACY_ENABLE

typedef const void *TracyCZoneCtx;
typedef const void *TracyCLockCtx;
typedef const void *TracyCSharedLockCtx;

#define TracyCSetThreadName(name)

#define TracyCZone(ctx, active)
#define TracyCZoneN(ctx, name, active)
#define TracyCZoneC(ctx, color, active)
#define TracyCZoneNC(ctx, name, color, active)
#define TracyCZoneS(ctx, depth, active)
#define TracyCZoneNS(ctx, name, depth, active)
#define TracyCZoneCS(ctx, color, depth, active)
#define TracyCZoneNCS(ctx, name, color, depth, active)
#define TracyCZoneEnd(ctx)
#define TracyCZoneText(ctx, text, size)
#define TracyCZoneTextF(ctx, format, ...)
#define TracyCZoneName(ctx, text, size)
#define TracyCZoneNameF(ctx, format, ...)
#define TracyCZoneColor(ctx, color)
#define TracyCZoneValue(ctx, value)

#define TracyCAlloc(ptr, size)
#define TracyCFree(ptr)
#define TracyCAllocN(ptr, size, name)
#define TracyCFreeN(ptr, name)
#define TracyCAllocS(ptr, size, depth)
#define TracyCFreeS(ptr, depth)
#define TracyCAllocNS(ptr, size, depth, name)
#define TracyCFreeNS(ptr, depth, name)
#define TracyCSecureAlloc(ptr, size)
#define TracyCSecureFree(ptr)
#define TracyCSecureAllocN(ptr, size, name)
#define TracyCSecureFreeN(ptr, name)
#define TracyCSecureAllocS(ptr, size, depth)
#define TracyCSecureFreeS(ptr, depth)
#define TracyCSecureAllocNS(ptr, size, depth, name)
#define TracyCSecureFreeNS(ptr, depth, name)
#define TracyCMemoryDiscard(name)
#define TracyCMemoryDiscardS(name, depth)

#define TracyCFrameMark
#define TracyCFrameMarkNamed(name)
#define TracyCFrameMarkStart(name)
#define TracyCFrameMarkEnd(name)
#define TracyCFrameImage(image, width, height, offset, flip)

#define TracyCPlot(name, value)
#define TracyCPlotF(name, value)
#define TracyCPlotI(name, value)
#define TracyCPlotConfig(name, type, step, fill, color)

#define TracyCMessage(text, size)
#define TracyCMessageL(text)
#define TracyCMessageC(text, size, color)
#define TracyCMessageLC(text, color)
#define TracyCMessageS(text, size, depth)
#define TracyCMessageLS(text, depth)
#define TracyCMessageCS(text, size, color, depth)
#define TracyCMessageLCS(text, color, depth)
#define TracyCAppInfo(text, size)

#define TracyCLockAnnounce(lock)
#define TracyCLockTerminate(lock)
#define TracyCLockBeforeLock(lock)
#define TracyCLockAfterLock(lock)
#define TracyCLockAfterUnlock(lock)
#define TracyCLockAfterTryLock(lock, acquired)
#define TracyCLockMark(lock)
#define TracyCLockCustomName(lock, name, size)
#define TracyCSharedLockAnnounce(lock)
#define TracyCSharedLockTerminate(lock)
#define TracyCSharedLockBeforeLock(lock)
#define TracyCSharedLockAfterLock(lock)
#define TracyCSharedLockAfterUnlock(lock)
#define TracyCSharedLockAfterTryLock(lock, acquired)
#define TracyCSharedLockBeforeSharedLock(lock)
#define TracyCSharedLockAfterSharedLock(lock)
#define TracyCSharedLockAfterSharedUnlock(lock)
#define TracyCSharedLockAfterTrySharedLock(lock, acquired)
#define TracyCSharedLockMark(lock)
#define TracyCSharedLockCustomName(lock, name, size)

#define TracyCIsConnected 0
#define TracyCIsStarted 0
#define TracyCBeginSamplingProfiling() 0
#define TracyCEndSamplingProfiling()

#define TracyCFiberEnter(fiber)
#define TracyCFiberLeave

#else /* TRACY_ENABLE */

#ifndef TracyConcat
#define TracyConcat(x, y) TracyConcatIndirect(x, y)
#endif
#ifndef TracyConcatIndirect
#define TracyConcatIndirect(x, y) x##y
#endif
#ifndef TRACY_CALLSTACK
#define TRACY_CALLSTACK 0
#endif

struct ___tracy_source_location_data {
    const char *name;
    const char *function;
    const char *file;
    uint32_t line;
    uint32_t color;
};

/* id is the session of the zone; active says whether it is recorded. */
struct ___tracy_c_zone_context {
    uint32_t id;
    int32_t active;
};

struct ___tracy_gpu_time_data {
    int64_t gpuTime;
    uint16_t queryId;
    uint8_t context;
};

struct ___tracy_gpu_zone_begin_data {
    uint64_t srcloc;
    uint16_t queryId;
    uint8_t context;
};

struct ___tracy_gpu_zone_begin_callstack_data {
    uint64_t srcloc;
    int32_t depth;
    uint16_t queryId;
    uint8_t context;
};

struct ___tracy_gpu_zone_end_data {
    uint16_t queryId;
    uint8_t context;
};

struct ___tracy_gpu_new_context_data {
    int64_t gpuTime;
    float period;
    uint8_t context;
    uint8_t flags;
    uint8_t type;
};

struct ___tracy_gpu_context_name_data {
    uint8_t context;
    const char *name;
    uint16_t len;
};

struct ___tracy_gpu_calibration_data {
    int64_t gpuTime;
    int64_t cpuDelta;
    uint8_t context;
};

struct ___tracy_gpu_time_sync_data {
    int64_t gpuTime;
    uint8_t context;
};

/* Both kinds of lock are an sb_lock. */
struct __tracy_lockable_context_data;
struct __tracy_shared_lockable_context_data;

typedef struct ___tracy_c_zone_context TracyCZoneCtx;
typedef struct __tracy_lockable_context_data *TracyCLockCtx;
typedef struct __tracy_shared_lockable_context_data *TracyCSharedLockCtx;

TRACY_API void ___tracy_set_thread_name(const char *name);

TRACY_API void ___tracy_startup_profiler(void);
TRACY_API void ___tracy_shutdown_profiler(void);
TRACY_API int32_t ___tracy_profiler_started(void);
TRACY_API int32_t ___tracy_connected(void);
TRACY_API int64_t ___tracy_get_time(void);

TRACY_API uint64_t ___tracy_alloc_srcloc(uint32_t line, const char *source, size_t sourceSz,
                                         const char *function, size_t functionSz, uint32_t color);
TRACY_API uint64_t ___tracy_alloc_srcloc_name(uint32_t line, const char *source, size_t sourceSz,
                                              const char *function, size_t functionSz,
                                              const char *name, size_t nameSz, uint32_t color);

TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin(const struct ___tracy_source_location_data *srcloc,
                                                 int32_t active);
TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin_callstack(
    const struct ___tracy_source_location_data *srcloc, int32_t depth, int32_t active);
TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin_alloc(uint64_t srcloc, int32_t active);
TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin_alloc_callstack(uint64_t srcloc, int32_t depth,
                                                                 int32_t active);
TRACY_API void ___tracy_emit_zone_end(TracyCZoneCtx ctx);
TRACY_API void ___tracy_emit_zone_text(TracyCZoneCtx ctx, const char *txt, size_t size);
TRACY_API void ___tracy_emit_zone_text_fmt(TracyCZoneCtx ctx, const char *fmt, ...)
    TRACY_ATTRIBUTE_FORMAT_PRINTF(2, 3);
TRACY_API void ___tracy_emit_zone_name(TracyCZoneCtx ctx, const char *txt, size_t size);
TRACY_API void ___tracy_emit_zone_name_fmt(TracyCZoneCtx ctx, const char *fmt, ...)
    TRACY_ATTRIBUTE_FORMAT_PRINTF(2, 3);
TRACY_API void ___tracy_emit_zone_color(TracyCZoneCtx ctx, uint32_t color);
TRACY_API void ___tracy_emit_zone_value(TracyCZoneCtx ctx, uint64_t value);

TRACY_API void ___tracy_emit_gpu_zone_begin(const struct ___tracy_gpu_zone_begin_data);
TRACY_API void
___tracy_emit_gpu_zone_begin_callstack(const struct ___tracy_gpu_zone_begin_callstack_data);
TRACY_API void ___tracy_emit_gpu_zone_begin_alloc(const struct ___tracy_gpu_zone_begin_data);
TRACY_API void
___tracy_emit_gpu_zone_begin_alloc_callstack(const struct ___tracy_gpu_zone_begin_callstack_data);
TRACY_API void ___tracy_emit_gpu_zone_end(const struct ___tracy_gpu_zone_end_data data);
TRACY_API void ___tracy_emit_gpu_time(const struct ___tracy_gpu_time_data);
TRACY_API void ___tracy_emit_gpu_new_context(const struct ___tracy_gpu_new_context_data);
TRACY_API void ___tracy_emit_gpu_context_name(const struct ___tracy_gpu_context_name_data);
TRACY_API void ___tracy_emit_gpu_calibration(const struct ___tracy_gpu_calibration_data);
TRACY_API void ___tracy_emit_gpu_time_sync(const struct ___tracy_gpu_time_sync_data);
TRACY_API void ___tracy_emit_gpu_zone_begin_serial(const struct ___tracy_gpu_zone_begin_data);
TRACY_API void
___tracy_emit_gpu_zone_begin_callstack_serial(const struct ___tracy_gpu_zone_begin_callstack_data);
TRACY_API void ___tracy_emit_gpu_zone_begin_alloc_serial(const struct ___tracy_gpu_zone_begin_data);
TRACY_API void ___tracy_emit_gpu_zone_begin_alloc_callstack_serial(
    const struct ___tracy_gpu_zone_begin_callstack_data);
TRACY_API void ___tracy_emit_gpu_zone_end_serial(const struct ___tracy_gpu_zone_end_data data);
TRACY_API void ___tracy_emit_gpu_time_serial(const struct ___tracy_gpu_time_data);
TRACY_API void ___tracy_emit_gpu_new_context_serial(const struct ___tracy_gpu_new_context_data);
TRACY_API void ___tracy_emit_gpu_context_name_serial(const struct ___tracy_gpu_context_name_data);
TRACY_API void ___tracy_emit_gpu_calibration_serial(const struct ___tracy_gpu_calibration_data);
TRACY_API void ___tracy_emit_gpu_time_sync_serial(const struct ___tracy_gpu_time_sync_data);

SB_NOT_READ(1)
TRACY_API void ___tracy_emit_memory_alloc(const void *ptr, size_t size);
SB_NOT_READ(1)
TRACY_API void ___tracy_emit_memory_alloc_callstack(const void *ptr, size_t size, int32_t depth);
SB_NOT_READ(1)
TRACY_API void ___tracy_emit_memory_free(const void *ptr);
SB_NOT_READ(1)
TRACY_API void ___tracy_emit_memory_free_callstack(const void *ptr, int32_t depth);
SB_NOT_READ(1)
TRACY_API void ___tracy_emit_memory_alloc_named(const void *ptr, size_t size, const char *name);
SB_NOT_READ(1)
TRACY_API void ___tracy_emit_memory_alloc_callstack_named(const void *ptr, size_t size,
                                                          int32_t depth, const char *name);
SB_NOT_READ(1)
TRACY_API void ___tracy_emit_memory_free_named(const void *ptr, const char *name);
SB_NOT_READ(1)
TRACY_API void ___tracy_emit_memory_free_callstack_named(const void *ptr, int32_t depth,
                                                         const char *name);
TRACY_API void ___tracy_emit_memory_discard(const char *name);
TRACY_API void ___tracy_emit_memory_discard_callstack(const char *name, int32_t depth);

TRACY_API void ___tracy_emit_logString(int8_t severity, int32_t color, int32_t callstack_depth,
                                       size_t size, const char *txt);
TRACY_API void ___tracy_emit_logStringL(int8_t severity, int32_t color, int32_t callstack_depth,
                                        const char *txt);
/* As they were called up to 0.13. */
TRACY_API void ___tracy_emit_message(const char *txt, size_t size, int32_t callstack_depth);
TRACY_API void ___tracy_emit_messageL(const char *txt, int32_t callstack_depth);
TRACY_API void ___tracy_emit_messageC(const char *txt, size_t size, uint32_t color,
                                      int32_t callstack_depth);
TRACY_API void ___tracy_emit_messageLC(const char *txt, uint32_t color, int32_t callstack_depth);
TRACY_API void ___tracy_emit_message_appinfo(const char *txt, size_t size);

TRACY_API void ___tracy_emit_frame_mark(const char *name);
TRACY_API void ___tracy_emit_frame_mark_start(const char *name);
TRACY_API void ___tracy_emit_frame_mark_end(const char *name);
TRACY_API void ___tracy_emit_frame_image(const void *image, uint16_t w, uint16_t h, uint8_t offset,
                                         int32_t flip);

TRACY_API void ___tracy_emit_plot(const char *name, double val);
TRACY_API void ___tracy_emit_plot_float(const char *name, float val);
TRACY_API void ___tracy_emit_plot_int(const char *name, int64_t val);
TRACY_API void ___tracy_emit_plot_config(const char *name, int32_t type, int32_t step, int32_t fill,
                                         uint32_t color);

TRACY_API struct __tracy_lockable_context_data *
___tracy_announce_lockable_ctx(const struct ___tracy_source_location_data *srcloc);
TRACY_API void ___tracy_terminate_lockable_ctx(struct __tracy_lockable_context_data *lockdata);
TRACY_API int32_t ___tracy_before_lock_lockable_ctx(struct __tracy_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_lock_lockable_ctx(struct __tracy_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_unlock_lockable_ctx(struct __tracy_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_try_lock_lockable_ctx(struct __tracy_lockable_context_data *lockdata,
                                                    int32_t acquired);
TRACY_API void ___tracy_mark_lockable_ctx(struct __tracy_lockable_context_data *lockdata,
                                          const struct ___tracy_source_location_data *srcloc);
TRACY_API void ___tracy_custom_name_lockable_ctx(struct __tracy_lockable_context_data *lockdata,
                                                 const char *name, size_t nameSz);

TRACY_API struct __tracy_shared_lockable_context_data *
___tracy_announce_shared_lockable_ctx(const struct ___tracy_source_location_data *srcloc);
TRACY_API void
___tracy_terminate_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API int32_t
___tracy_before_lock_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void
___tracy_after_lock_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void
___tracy_after_unlock_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void
___tracy_after_try_lock_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata,
                                            int32_t acquired);
TRACY_API int32_t ___tracy_before_lock_shared_shared_lockable_ctx(
    struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_lock_shared_shared_lockable_ctx(
    struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_unlock_shared_shared_lockable_ctx(
    struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_try_lock_shared_shared_lockable_ctx(
    struct __tracy_shared_lockable_context_data *lockdata, int32_t acquired);
TRACY_API void
___tracy_mark_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata,
                                  const struct ___tracy_source_location_data *srcloc);
TRACY_API void
___tracy_custom_name_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata,
                                         const char *name, size_t nameSz);

TRACY_API void ___tracy_fiber_enter(const char *fiber);
TRACY_API void ___tracy_fiber_leave(void);

/* There is no sampling: begin says that it could not. */
TRACY_API int ___tracy_begin_sampling_profiling(void);
TRACY_API void ___tracy_end_sampling_profiling(void);

/* The same as ___tracy_emit_zone_begin_callstack, inlined where it matters. */
static inline TracyCZoneCtx
___tracy_zone_begin_inline(const struct ___tracy_source_location_data *srcloc, int32_t depth,
                           int32_t active) {
    TracyCZoneCtx ctx = {0, 0};
    if (active) {
        ctx.id = sb_zone_begin_with_stack((const sb_source_location *)(const void *)srcloc, depth)
                     .session;
        ctx.active = ctx.id != 0;
    }
    return ctx;
}

static inline void ___tracy_zone_end_inline(TracyCZoneCtx ctx) {
    const sb_zone zone = {ctx.id};
    sb_zone_end(zone);
}

#define ___tracy_location(name, text, color)                                             \
    static const struct ___tracy_source_location_data name = {text, __func__, TracyFile, \
                                                              (uint32_t)TracyLine, color}
#define ___tracy_zone(ctx, name, color, depth, active)                               \
    ___tracy_location(TracyConcat(__tracy_source_location, TracyLine), name, color); \
    TracyCZoneCtx ctx = ___tracy_zone_begin_inline(                                  \
        &TracyConcat(__tracy_source_location, TracyLine), depth, active);

#define TracyCSetThreadName(name) ___tracy_set_thread_name(name);

#define TracyCZone(ctx, active) ___tracy_zone(ctx, NULL, 0, TRACY_CALLSTACK, active)
#define TracyCZoneN(ctx, name, active) ___tracy_zone(ctx, name, 0, TRACY_CALLSTACK, active)
#define TracyCZoneC(ctx, color, active) ___tracy_zone(ctx, NULL, color, TRACY_CALLSTACK, active)
#define TracyCZoneNC(ctx, name, color, active) \
    ___tracy_zone(ctx, name, color, TRACY_CALLSTACK, active)
#define TracyCZoneS(ctx, depth, active) ___tracy_zone(ctx, NULL, 0, depth, active)
#define TracyCZoneNS(ctx, name, depth, active) ___tracy_zone(ctx, name, 0, depth, active)
#define TracyCZoneCS(ctx, color, depth, active) ___tracy_zone(ctx, NULL, color, depth, active)
#define TracyCZoneNCS(ctx, name, color, depth, active) \
    ___tracy_zone(ctx, name, color, depth, active)
#define TracyCZoneEnd(ctx) ___tracy_zone_end_inline(ctx);
#define TracyCZoneText(ctx, text, size) ___tracy_emit_zone_text(ctx, text, size);
#define TracyCZoneTextF(ctx, format, ...) ___tracy_emit_zone_text_fmt(ctx, format, ##__VA_ARGS__);
#define TracyCZoneName(ctx, text, size) ___tracy_emit_zone_name(ctx, text, size);
#define TracyCZoneNameF(ctx, format, ...) ___tracy_emit_zone_name_fmt(ctx, format, ##__VA_ARGS__);
#define TracyCZoneColor(ctx, color) ___tracy_emit_zone_color(ctx, color);
#define TracyCZoneValue(ctx, value) ___tracy_emit_zone_value(ctx, value);

#define TracyCAlloc(ptr, size) ___tracy_emit_memory_alloc_callstack(ptr, size, TRACY_CALLSTACK)
#define TracyCFree(ptr) ___tracy_emit_memory_free_callstack(ptr, TRACY_CALLSTACK)
#define TracyCAllocN(ptr, size, name) \
    ___tracy_emit_memory_alloc_callstack_named(ptr, size, TRACY_CALLSTACK, name)
#define TracyCFreeN(ptr, name) ___tracy_emit_memory_free_callstack_named(ptr, TRACY_CALLSTACK, name)
#define TracyCAllocS(ptr, size, depth) ___tracy_emit_memory_alloc_callstack(ptr, size, depth)
#define TracyCFreeS(ptr, depth) ___tracy_emit_memory_free_callstack(ptr, depth)
#define TracyCAllocNS(ptr, size, depth, name) \
    ___tracy_emit_memory_alloc_callstack_named(ptr, size, depth, name)
#define TracyCFreeNS(ptr, depth, name) ___tracy_emit_memory_free_callstack_named(ptr, depth, name)
/* Recording is always possible here, so these (of 0.12 and before) do not differ. */
#define TracyCSecureAlloc(ptr, size) TracyCAlloc(ptr, size)
#define TracyCSecureFree(ptr) TracyCFree(ptr)
#define TracyCSecureAllocN(ptr, size, name) TracyCAllocN(ptr, size, name)
#define TracyCSecureFreeN(ptr, name) TracyCFreeN(ptr, name)
#define TracyCSecureAllocS(ptr, size, depth) TracyCAllocS(ptr, size, depth)
#define TracyCSecureFreeS(ptr, depth) TracyCFreeS(ptr, depth)
#define TracyCSecureAllocNS(ptr, size, depth, name) TracyCAllocNS(ptr, size, depth, name)
#define TracyCSecureFreeNS(ptr, depth, name) TracyCFreeNS(ptr, depth, name)
#define TracyCMemoryDiscard(name) ___tracy_emit_memory_discard_callstack(name, TRACY_CALLSTACK);
#define TracyCMemoryDiscardS(name, depth) ___tracy_emit_memory_discard_callstack(name, depth)

#define TracyCFrameMark ___tracy_emit_frame_mark(0);
#define TracyCFrameMarkNamed(name) ___tracy_emit_frame_mark(name);
#define TracyCFrameMarkStart(name) ___tracy_emit_frame_mark_start(name);
#define TracyCFrameMarkEnd(name) ___tracy_emit_frame_mark_end(name);
#define TracyCFrameImage(image, width, height, offset, flip) \
    ___tracy_emit_frame_image(image, width, height, offset, flip);

#define TracyCPlot(name, value) ___tracy_emit_plot(name, value);
#define TracyCPlotF(name, value) ___tracy_emit_plot_float(name, value);
#define TracyCPlotI(name, value) ___tracy_emit_plot_int(name, value);
#define TracyCPlotConfig(name, type, step, fill, color) \
    ___tracy_emit_plot_config(name, type, step, fill, color);

#define ___tracy_info TracyMessageSeverityInfo
#define TracyCMessage(text, size) \
    ___tracy_emit_logString(___tracy_info, 0, TRACY_CALLSTACK, size, text)
#define TracyCMessageL(text) ___tracy_emit_logStringL(___tracy_info, 0, TRACY_CALLSTACK, text)
#define TracyCMessageC(text, size, color) \
    ___tracy_emit_logString(___tracy_info, color, TRACY_CALLSTACK, size, text)
#define TracyCMessageLC(text, color) \
    ___tracy_emit_logStringL(___tracy_info, color, TRACY_CALLSTACK, text)
#define TracyCMessageS(text, size, depth) \
    ___tracy_emit_logString(___tracy_info, 0, depth, size, text)
#define TracyCMessageLS(text, depth) ___tracy_emit_logStringL(___tracy_info, 0, depth, text)
#define TracyCMessageCS(text, size, color, depth) \
    ___tracy_emit_logString(___tracy_info, color, depth, size, text)
#define TracyCMessageLCS(text, color, depth) \
    ___tracy_emit_logStringL(___tracy_info, color, depth, text)
#define TracyCAppInfo(text, size) ___tracy_emit_message_appinfo(text, size);

#define TracyCLockAnnounce(lock)                                                 \
    ___tracy_location(TracyConcat(__tracy_source_location, TracyLine), NULL, 0); \
    lock = ___tracy_announce_lockable_ctx(&TracyConcat(__tracy_source_location, TracyLine));
#define TracyCLockTerminate(lock) ___tracy_terminate_lockable_ctx(lock);
#define TracyCLockBeforeLock(lock) ___tracy_before_lock_lockable_ctx(lock);
#define TracyCLockAfterLock(lock) ___tracy_after_lock_lockable_ctx(lock);
#define TracyCLockAfterUnlock(lock) ___tracy_after_unlock_lockable_ctx(lock);
#define TracyCLockAfterTryLock(lock, acquired) ___tracy_after_try_lock_lockable_ctx(lock, acquired);
#define TracyCLockMark(lock)                                                     \
    ___tracy_location(TracyConcat(__tracy_source_location, TracyLine), NULL, 0); \
    ___tracy_mark_lockable_ctx(lock, &TracyConcat(__tracy_source_location, TracyLine));
#define TracyCLockCustomName(lock, name, size) ___tracy_custom_name_lockable_ctx(lock, name, size);

#define TracyCSharedLockAnnounce(lock)                                           \
    ___tracy_location(TracyConcat(__tracy_source_location, TracyLine), NULL, 0); \
    lock = ___tracy_announce_shared_lockable_ctx(&TracyConcat(__tracy_source_location, TracyLine));
#define TracyCSharedLockTerminate(lock) ___tracy_terminate_shared_lockable_ctx(lock);
#define TracyCSharedLockBeforeLock(lock) ___tracy_before_lock_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterLock(lock) ___tracy_after_lock_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterUnlock(lock) ___tracy_after_unlock_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterTryLock(lock, acquired) \
    ___tracy_after_try_lock_shared_lockable_ctx(lock, acquired);
#define TracyCSharedLockBeforeSharedLock(lock) \
    ___tracy_before_lock_shared_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterSharedLock(lock) ___tracy_after_lock_shared_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterSharedUnlock(lock) \
    ___tracy_after_unlock_shared_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterTrySharedLock(lock, acquired) \
    ___tracy_after_try_lock_shared_shared_lockable_ctx(lock, acquired);
#define TracyCSharedLockMark(lock)                                               \
    ___tracy_location(TracyConcat(__tracy_source_location, TracyLine), NULL, 0); \
    ___tracy_mark_shared_lockable_ctx(lock, &TracyConcat(__tracy_source_location, TracyLine));
#define TracyCSharedLockCustomName(lock, name, size) \
    ___tracy_custom_name_shared_lockable_ctx(lock, name, size);

#define TracyCIsConnected ___tracy_connected()
#ifdef TRACY_MANUAL_LIFETIME
#define TracyCIsStarted ___tracy_profiler_started()
#else
#define TracyCIsStarted 1
#endif

#define TracyCBeginSamplingProfiling() ___tracy_begin_sampling_profiling()
#define TracyCEndSamplingProfiling() ___tracy_end_sampling_profiling()

#define TracyCFiberEnter(fiber) ___tracy_fiber_enter(fiber);
#define TracyCFiberLeave ___tracy_fiber_leave();

#endif /* TRACY_ENABLE */

#ifdef __cplusplus
}
#endif

#endif
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,bugprone-macro-parentheses) */
