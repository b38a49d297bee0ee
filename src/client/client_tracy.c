/* The functions of Tracy's C interface, for programs that bind them by name. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the names are Tracy's. */
#include "client/client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client_tracy.h"

static sb_zone zone_of(TracyCZoneCtx ctx) {
    return (sb_zone){ctx.id};
}

static TracyCZoneCtx context_of(sb_zone zone) {
    return (TracyCZoneCtx){zone.session, zone.session != 0};
}

/* ---- life cycle ---- */

void ___tracy_startup_profiler(void) {
    sb_client_start(NULL);
}

void ___tracy_shutdown_profiler(void) {
    sb_client_stop();
}

int32_t ___tracy_profiler_started(void) {
    return sb_client_is_started();
}

int32_t ___tracy_connected(void) {
    return sb_client_is_connected();
}

int64_t ___tracy_get_time(void) {
    return sb_now();
}

void ___tracy_set_thread_name(const char *name) {
    sb_set_thread_name(name);
}

int ___tracy_begin_sampling_profiling(void) {
    return 0;
}

void ___tracy_end_sampling_profiling(void) {}

/* ---- locations made at run time: used once, then freed ---- */

uint64_t ___tracy_alloc_srcloc_name(uint32_t line, const char *source, size_t sourceSz,
                                    const char *function, size_t functionSz, const char *name,
                                    size_t nameSz, uint32_t color) {
    client_made_location *made = malloc(sizeof *made + sourceSz + functionSz + nameSz);
    if (made == NULL)
        return 0;
    *made = (client_made_location){line, color, sourceSz, functionSz, nameSz, name != NULL};
    memcpy(made->texts, source, sourceSz);
    memcpy(made->texts + sourceSz, function, functionSz);
    if (nameSz > 0)
        memcpy(made->texts + sourceSz + functionSz, name, nameSz);
    return (uintptr_t)made;
}

uint64_t ___tracy_alloc_srcloc(uint32_t line, const char *source, size_t sourceSz,
                               const char *function, size_t functionSz, uint32_t color) {
    return ___tracy_alloc_srcloc_name(line, source, sourceSz, function, functionSz, NULL, 0, color);
}

/* ---- zones ---- */

TracyCZoneCtx ___tracy_emit_zone_begin_callstack(const client_tracy_location *srcloc, int32_t depth,
                                                 int32_t active) {
    if (!active)
        return (TracyCZoneCtx){0, 0};
    return context_of(sb_zone_begin_with_stack(client_location_of(srcloc), depth));
}

TracyCZoneCtx ___tracy_emit_zone_begin(const client_tracy_location *srcloc, int32_t active) {
    return ___tracy_emit_zone_begin_callstack(srcloc, 0, active);
}

TracyCZoneCtx ___tracy_emit_zone_begin_alloc_callstack(uint64_t srcloc, int32_t depth,
                                                       int32_t active) {
    client_made_location *made = client_made_location_of(srcloc);
    sb_zone zone = {0};
    if (made != NULL && active && sb_is_recording())
        zone = sb_zone_begin_dynamic(made->line, made->texts, made->file_size,
                                     made->texts + made->file_size, made->function_size,
                                     client_made_name(made), made->name_size, made->color, depth);
    free(made);
    return context_of(zone);
}

TracyCZoneCtx ___tracy_emit_zone_begin_alloc(uint64_t srcloc, int32_t active) {
    return ___tracy_emit_zone_begin_alloc_callstack(srcloc, 0, active);
}

void ___tracy_emit_zone_end(TracyCZoneCtx ctx) {
    sb_zone_end(zone_of(ctx));
}

void ___tracy_emit_zone_text(TracyCZoneCtx ctx, const char *txt, size_t size) {
    sb_zone_text(zone_of(ctx), txt, size);
}

void ___tracy_emit_zone_name(TracyCZoneCtx ctx, const char *txt, size_t size) {
    sb_zone_name(zone_of(ctx), txt, size);
}

void ___tracy_emit_zone_text_fmt(TracyCZoneCtx ctx, const char *fmt, ...) {
    va_list arguments;
    va_start(arguments, fmt);
    client_zone_format(zone_of(ctx), SB_RECORD_ZONE_TEXT, fmt, arguments);
    va_end(arguments);
}

void ___tracy_emit_zone_name_fmt(TracyCZoneCtx ctx, const char *fmt, ...) {
    va_list arguments;
    va_start(arguments, fmt);
    client_zone_format(zone_of(ctx), SB_RECORD_ZONE_NAME, fmt, arguments);
    va_end(arguments);
}

void ___tracy_emit_zone_color(TracyCZoneCtx ctx, uint32_t color) {
    sb_zone_color(zone_of(ctx), color);
}

void ___tracy_emit_zone_value(TracyCZoneCtx ctx, uint64_t value) {
    sb_zone_value(zone_of(ctx), value);
}

/* ---- messages, frames, plots ---- */

void ___tracy_emit_logString(int8_t severity, int32_t color, int32_t callstack_depth, size_t size,
                             const char *txt) {
    sb_message((sb_severity)severity, (uint32_t)color, callstack_depth, txt, size);
}

void ___tracy_emit_logStringL(int8_t severity, int32_t color, int32_t callstack_depth,
                              const char *txt) {
    sb_message_literal((sb_severity)severity, (uint32_t)color, callstack_depth, txt);
}

void ___tracy_emit_message(const char *txt, size_t size, int32_t callstack_depth) {
    sb_message(SB_SEVERITY_INFO, 0, callstack_depth, txt, size);
}

void ___tracy_emit_messageL(const char *txt, int32_t callstack_depth) {
    sb_message_literal(SB_SEVERITY_INFO, 0, callstack_depth, txt);
}

void ___tracy_emit_messageC(const char *txt, size_t size, uint32_t color, int32_t callstack_depth) {
    sb_message(SB_SEVERITY_INFO, color, callstack_depth, txt, size);
}

void ___tracy_emit_messageLC(const char *txt, uint32_t color, int32_t callstack_depth) {
    sb_message_literal(SB_SEVERITY_INFO, color, callstack_depth, txt);
}

void ___tracy_emit_message_appinfo(const char *txt, size_t size) {
    sb_app_info(txt, size);
}

void ___tracy_emit_frame_mark(const char *name) {
    sb_frame_mark(name);
}

void ___tracy_emit_frame_mark_start(const char *name) {
    sb_frame_start(name);
}

void ___tracy_emit_frame_mark_end(const char *name) {
    sb_frame_end(name);
}

void ___tracy_emit_frame_image(const void *image, uint16_t w, uint16_t h, uint8_t offset,
                               int32_t flip) {
    sb_frame_image(image, w, h, offset, flip);
}

void ___tracy_emit_plot(const char *name, double val) {
    sb_plot_double(name, val);
}

void ___tracy_emit_plot_float(const char *name, float val) {
    sb_plot_float(name, val);
}

void ___tracy_emit_plot_int(const char *name, int64_t val) {
    sb_plot_integer(name, val);
}

void ___tracy_emit_plot_config(const char *name, int32_t type, int32_t step, int32_t fill,
                               uint32_t color) {
    sb_plot_configure(name, (sb_plot_format)type, step, fill, color);
}

/* ---- memory ---- */

void ___tracy_emit_memory_alloc(const void *ptr, size_t size) {
    sb_memory_allocated(ptr, size, NULL, 0);
}

void ___tracy_emit_memory_alloc_callstack(const void *ptr, size_t size, int32_t depth) {
    sb_memory_allocated(ptr, size, NULL, depth);
}

void ___tracy_emit_memory_free(const void *ptr) {
    sb_memory_freed(ptr, NULL, 0);
}

void ___tracy_emit_memory_free_callstack(const void *ptr, int32_t depth) {
    sb_memory_freed(ptr, NULL, depth);
}

void ___tracy_emit_memory_alloc_named(const void *ptr, size_t size, const char *name) {
    sb_memory_allocated(ptr, size, name, 0);
}

void ___tracy_emit_memory_alloc_callstack_named(const void *ptr, size_t size, int32_t depth,
                                                const char *name) {
    sb_memory_allocated(ptr, size, name, depth);
}

void ___tracy_emit_memory_free_named(const void *ptr, const char *name) {
    sb_memory_freed(ptr, name, 0);
}

void ___tracy_emit_memory_free_callstack_named(const void *ptr, int32_t depth, const char *name) {
    sb_memory_freed(ptr, name, depth);
}

void ___tracy_emit_memory_discard(const char *name) {
    sb_memory_discarded(name, 0);
}

void ___tracy_emit_memory_discard_callstack(const char *name, int32_t depth) {
    sb_memory_discarded(name, depth);
}

/* ---- fibers ---- */

void ___tracy_fiber_enter(const char *fiber) {
    sb_fiber_enter(fiber, 0);
}

void ___tracy_fiber_leave(void) {
    sb_fiber_leave();
}

/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
