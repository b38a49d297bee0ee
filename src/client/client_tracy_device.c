/* Devices in Tracy's C interface. All of it goes through the one ordered lane, whatever its name.
 */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the names are Tracy's. */
#include <stdlib.h>

#include "client/client_tracy.h"

typedef struct ___tracy_gpu_zone_begin_data begin_data;
typedef struct ___tracy_gpu_zone_begin_callstack_data begin_callstack_data;

/* Contexts are bound to their thread, so an end names none; that is how readers match the two. */
enum { BOUND = 0 };

static void begin(uint64_t srcloc, uint16_t query, uint8_t context, int32_t depth) {
    const client_tracy_location *location =
        (const client_tracy_location *)(uintptr_t)srcloc; // NOLINT(performance-no-int-to-ptr)
    sb_gpu_zone_begin(context, query, client_location_of(location), sb_thread_id(), depth);
}

static void begin_made(uint64_t srcloc, uint16_t query, uint8_t context) {
    client_made_location *made = client_made_location_of(srcloc);
    if (made != NULL)
        sb_gpu_zone_begin_dynamic(context, query, sb_thread_id(), made->line, made->texts,
                                  made->file_size, made->texts + made->file_size,
                                  made->function_size, client_made_name(made), made->name_size,
                                  made->color);
    free(made);
}

void ___tracy_emit_gpu_zone_begin(const begin_data data) {
    begin(data.srcloc, data.queryId, data.context, 0);
}

void ___tracy_emit_gpu_zone_begin_serial(const begin_data data) {
    begin(data.srcloc, data.queryId, data.context, 0);
}

void ___tracy_emit_gpu_zone_begin_callstack(const begin_callstack_data data) {
    begin(data.srcloc, data.queryId, data.context, data.depth);
}

void ___tracy_emit_gpu_zone_begin_callstack_serial(const begin_callstack_data data) {
    begin(data.srcloc, data.queryId, data.context, data.depth);
}

void ___tracy_emit_gpu_zone_begin_alloc(const begin_data data) {
    begin_made(data.srcloc, data.queryId, data.context);
}

void ___tracy_emit_gpu_zone_begin_alloc_serial(const begin_data data) {
    begin_made(data.srcloc, data.queryId, data.context);
}

void ___tracy_emit_gpu_zone_begin_alloc_callstack(const begin_callstack_data data) {
    begin_made(data.srcloc, data.queryId, data.context);
}

void ___tracy_emit_gpu_zone_begin_alloc_callstack_serial(const begin_callstack_data data) {
    begin_made(data.srcloc, data.queryId, data.context);
}

void ___tracy_emit_gpu_zone_end(const struct ___tracy_gpu_zone_end_data data) {
    sb_gpu_zone_end(data.context, data.queryId, BOUND);
}

void ___tracy_emit_gpu_zone_end_serial(const struct ___tracy_gpu_zone_end_data data) {
    sb_gpu_zone_end(data.context, data.queryId, BOUND);
}

void ___tracy_emit_gpu_time(const struct ___tracy_gpu_time_data data) {
    sb_gpu_time(data.context, data.queryId, data.gpuTime);
}

void ___tracy_emit_gpu_time_serial(const struct ___tracy_gpu_time_data data) {
    sb_gpu_time(data.context, data.queryId, data.gpuTime);
}

void ___tracy_emit_gpu_new_context(const struct ___tracy_gpu_new_context_data data) {
    sb_gpu_context(data.context, (sb_gpu_type)data.type, data.gpuTime, data.period, data.flags,
                   sb_thread_id());
}

void ___tracy_emit_gpu_new_context_serial(const struct ___tracy_gpu_new_context_data data) {
    sb_gpu_context(data.context, (sb_gpu_type)data.type, data.gpuTime, data.period, data.flags,
                   sb_thread_id());
}

void ___tracy_emit_gpu_context_name(const struct ___tracy_gpu_context_name_data data) {
    sb_gpu_context_name(data.context, data.name, data.len);
}

void ___tracy_emit_gpu_context_name_serial(const struct ___tracy_gpu_context_name_data data) {
    sb_gpu_context_name(data.context, data.name, data.len);
}

void ___tracy_emit_gpu_calibration(const struct ___tracy_gpu_calibration_data data) {
    sb_gpu_calibration(data.context, data.gpuTime, data.cpuDelta);
}

void ___tracy_emit_gpu_calibration_serial(const struct ___tracy_gpu_calibration_data data) {
    sb_gpu_calibration(data.context, data.gpuTime, data.cpuDelta);
}

void ___tracy_emit_gpu_time_sync(const struct ___tracy_gpu_time_sync_data data) {
    sb_gpu_time_sync(data.context, data.gpuTime);
}

void ___tracy_emit_gpu_time_sync_serial(const struct ___tracy_gpu_time_sync_data data) {
    sb_gpu_time_sync(data.context, data.gpuTime);
}

/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
