/*
 * The functions of strobe.h without STROBE_ENABLE: nothing. Included by it.
 */
#ifndef STROBE_OFF_H
#define STROBE_OFF_H

typedef void (*sb_parameter_callback)(void *data, uint32_t index, int32_t value);

static inline void sb_client_start(const sb_client_options *options) {
    (void)options;
}

static inline void sb_client_stop(void) {}

static inline int sb_client_is_started(void) {
    return 0;
}

static inline int sb_client_is_connected(void) {
    return 0;
}

static inline int sb_client_record_to_file(const char *path) {
    (void)path;
    return 0;
}

static inline void sb_client_forget_library(void) {}

static inline void sb_set_program_name(const char *literal) {
    (void)literal;
}

static inline void sb_set_thread_name(const char *name) {
    (void)name;
}

static inline void sb_set_thread_name_in_group(const char *name, int32_t group) {
    (void)name;
    (void)group;
}

static inline uint32_t sb_thread_id(void) {
    return 0;
}

static inline int64_t sb_now(void) {
    return 0;
}

static inline sb_zone sb_zone_begin_dynamic(uint32_t line, const char *file, size_t file_size,
                                            const char *function, size_t function_size,
                                            const char *name, size_t name_size, uint32_t color,
                                            int32_t depth) {
    (void)line;
    (void)file;
    (void)file_size;
    (void)function;
    (void)function_size;
    (void)name;
    (void)name_size;
    (void)color;
    (void)depth;
    const sb_zone none = {0};
    return none;
}

static inline void sb_zone_text(sb_zone zone, const char *text, size_t size) {
    (void)zone;
    (void)text;
    (void)size;
}

static inline void sb_zone_text_format(sb_zone zone, const char *format, ...) {
    (void)zone;
    (void)format;
}

static inline void sb_zone_name(sb_zone zone, const char *name, size_t size) {
    (void)zone;
    (void)name;
    (void)size;
}

static inline void sb_zone_name_format(sb_zone zone, const char *format, ...) {
    (void)zone;
    (void)format;
}

static inline void sb_zone_color(sb_zone zone, uint32_t color) {
    (void)zone;
    (void)color;
}

static inline void sb_zone_value(sb_zone zone, uint64_t value) {
    (void)zone;
    (void)value;
}

static inline void sb_message(sb_severity severity, uint32_t color, int32_t depth, const char *text,
                              size_t size) {
    (void)severity;
    (void)color;
    (void)depth;
    (void)text;
    (void)size;
}

static inline void sb_message_literal(sb_severity severity, uint32_t color, int32_t depth,
                                      const char *literal) {
    (void)severity;
    (void)color;
    (void)depth;
    (void)literal;
}

static inline void sb_app_info(const char *text, size_t size) {
    (void)text;
    (void)size;
}

static inline void sb_frame_mark(const char *literal) {
    (void)literal;
}

static inline void sb_frame_start(const char *literal) {
    (void)literal;
}

static inline void sb_frame_end(const char *literal) {
    (void)literal;
}

static inline void sb_frame_image(const void *pixels, uint16_t width, uint16_t height,
                                  uint8_t offset, int flip) {
    (void)pixels;
    (void)width;
    (void)height;
    (void)offset;
    (void)flip;
}

static inline void sb_plot_integer(const char *literal, int64_t value) {
    (void)literal;
    (void)value;
}

static inline void sb_plot_double(const char *literal, double value) {
    (void)literal;
    (void)value;
}

static inline void sb_plot_float(const char *literal, float value) {
    (void)literal;
    (void)value;
}

static inline void sb_plot_configure(const char *literal, sb_plot_format format, int step, int fill,
                                     uint32_t color) {
    (void)literal;
    (void)format;
    (void)step;
    (void)fill;
    (void)color;
}

SB_NOT_READ(1)
static inline void sb_memory_allocated(const void *address, size_t size, const char *pool_literal,
                                       int32_t depth) {
    (void)address;
    (void)size;
    (void)pool_literal;
    (void)depth;
}

SB_NOT_READ(1)
static inline void sb_memory_freed(const void *address, const char *pool_literal, int32_t depth) {
    (void)address;
    (void)pool_literal;
    (void)depth;
}

static inline void sb_memory_discarded(const char *pool_literal, int32_t depth) {
    (void)pool_literal;
    (void)depth;
}

static inline sb_lock *sb_lock_announce(const sb_source_location *location, int is_shared) {
    (void)location;
    (void)is_shared;
    return NULL;
}

static inline void sb_lock_terminate(sb_lock *lock) {
    (void)lock;
}

static inline int sb_lock_waiting(sb_lock *lock) {
    (void)lock;
    return 0;
}

static inline void sb_lock_obtained(sb_lock *lock) {
    (void)lock;
}

static inline void sb_lock_released(sb_lock *lock) {
    (void)lock;
}

static inline void sb_lock_tried(sb_lock *lock, int is_obtained) {
    (void)lock;
    (void)is_obtained;
}

static inline int sb_lock_waiting_shared(sb_lock *lock) {
    (void)lock;
    return 0;
}

static inline void sb_lock_obtained_shared(sb_lock *lock) {
    (void)lock;
}

static inline void sb_lock_released_shared(sb_lock *lock) {
    (void)lock;
}

static inline void sb_lock_tried_shared(sb_lock *lock, int is_obtained) {
    (void)lock;
    (void)is_obtained;
}

static inline void sb_lock_mark(sb_lock *lock, const sb_source_location *location) {
    (void)lock;
    (void)location;
}

static inline void sb_lock_name(sb_lock *lock, const char *name, size_t size) {
    (void)lock;
    (void)name;
    (void)size;
}

static inline void sb_gpu_context(uint16_t context, sb_gpu_type type, int64_t gpu_time,
                                  float period, uint8_t flags, uint32_t thread) {
    (void)context;
    (void)type;
    (void)gpu_time;
    (void)period;
    (void)flags;
    (void)thread;
}

static inline void sb_gpu_context_name(uint16_t context, const char *name, size_t size) {
    (void)context;
    (void)name;
    (void)size;
}

static inline void sb_gpu_lane_name(uint32_t thread, const char *name) {
    (void)thread;
    (void)name;
}

static inline void sb_gpu_zone_begin(uint16_t context, uint16_t query,
                                     const sb_source_location *location, uint32_t thread,
                                     int32_t depth) {
    (void)context;
    (void)query;
    (void)location;
    (void)thread;
    (void)depth;
}

static inline void sb_gpu_zone_begin_dynamic(uint16_t context, uint16_t query, uint32_t thread,
                                             uint32_t line, const char *file, size_t file_size,
                                             const char *function, size_t function_size,
                                             const char *name, size_t name_size, uint32_t color) {
    (void)context;
    (void)query;
    (void)thread;
    (void)line;
    (void)file;
    (void)file_size;
    (void)function;
    (void)function_size;
    (void)name;
    (void)name_size;
    (void)color;
}

static inline void sb_gpu_zone_end(uint16_t context, uint16_t query, uint32_t thread) {
    (void)context;
    (void)query;
    (void)thread;
}

static inline void sb_gpu_time(uint16_t context, uint16_t query, int64_t gpu_time) {
    (void)context;
    (void)query;
    (void)gpu_time;
}

static inline void sb_gpu_calibration(uint16_t context, int64_t gpu_time, int64_t host_delta_ns) {
    (void)context;
    (void)gpu_time;
    (void)host_delta_ns;
}

static inline void sb_gpu_time_sync(uint16_t context, int64_t gpu_time) {
    (void)context;
    (void)gpu_time;
}

static inline void sb_fiber_enter(const char *literal, int32_t group) {
    (void)literal;
    (void)group;
}

static inline void sb_fiber_leave(void) {}

static inline uint32_t sb_section_enter(uint16_t category, const char *format, ...) {
    (void)category;
    (void)format;
    return 0;
}

static inline void sb_section_leave(uint32_t section) {
    (void)section;
}

static inline void sb_section_setup(uint16_t category, const char *format, ...) {
    (void)category;
    (void)format;
}

static inline void sb_parameter_register(sb_parameter_callback callback, void *data) {
    (void)callback;
    (void)data;
}

static inline void sb_parameter_setup(uint32_t index, const char *literal, sb_parameter_type type,
                                      int32_t value) {
    (void)index;
    (void)literal;
    (void)type;
    (void)value;
}

static inline sb_zone sb_zone_begin(const sb_source_location *location) {
    (void)location;
    const sb_zone none = {0};
    return none;
}

static inline sb_zone sb_zone_begin_with_stack(const sb_source_location *location, int32_t depth) {
    (void)location;
    (void)depth;
    const sb_zone none = {0};
    return none;
}

static inline void sb_zone_end(sb_zone zone) {
    (void)zone;
}

static inline int sb_is_recording(void) {
    return 0;
}

#endif
