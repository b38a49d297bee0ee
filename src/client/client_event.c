/* What threads tell besides zones: messages, frames, plots, fibers, sections, parameters. */
#include "client/client.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The lane to record in, or NULL if nothing is recorded now. */
static client_lane *lane_now(void) {
    if (!client_ensure_started())
        return NULL;
    return client_lane_prepare(__atomic_load_n(&sb_client_state, __ATOMIC_RELAXED));
}

/* ---- messages ---- */

static uint64_t message_word(sb_severity severity, uint32_t color) {
    enum { OF_THE_PROGRAM = 0 };
    return sb_record_pair(color, (uint32_t)severity << 4 | OF_THE_PROGRAM);
}

void sb_message(sb_severity severity, uint32_t color, int32_t depth, const char *text,
                size_t size) {
    client_lane *lane = lane_now();
    if (lane == NULL)
        return;
    if (depth > 0)
        client_record_stack(lane, depth);
    const uint64_t word = message_word(severity, color);
    const sb_slice piece = client_cut_text(text, size);
    client_record_payload(lane, SB_RECORD_MESSAGE, 0, &word, 1, &piece, 1);
}

void sb_message_literal(sb_severity severity, uint32_t color, int32_t depth, const char *literal) {
    client_lane *lane = lane_now();
    if (lane == NULL || literal == NULL)
        return;
    const uint64_t words[2] = {client_string(lane, literal), message_word(severity, color)};
    if (words[0] == 0)
        return;
    if (depth > 0)
        client_record_stack(lane, depth);
    client_record_words(lane, SB_RECORD_MESSAGE_LITERAL, words, 2);
}

/* ---- frames ---- */

static void record_frame(sb_record_kind kind, const char *literal) {
    client_lane *lane = lane_now();
    if (lane == NULL)
        return;
    const uint64_t token = client_string(lane, literal);
    if (token != 0 || literal == NULL)
        client_record_words(lane, kind, &token, 1);
}

void sb_frame_mark(const char *literal) {
    if (literal == NULL)
        __atomic_fetch_add(&client_global.frames, 1, __ATOMIC_RELAXED);
    record_frame(SB_RECORD_FRAME, literal);
}

void sb_frame_start(const char *literal) {
    record_frame(SB_RECORD_FRAME_START, literal);
}

void sb_frame_end(const char *literal) {
    record_frame(SB_RECORD_FRAME_END, literal);
}

void sb_frame_image(const void *pixels, uint16_t width, uint16_t height, uint8_t offset, int flip) {
    const size_t size = (size_t)width * height / 2;
    if (width % 4 != 0 || height % 4 != 0 || size == 0 || size > CLIENT_IMAGE_MAX)
        return;
    client_lane *lane = lane_now();
    uint8_t *blocks = lane == NULL ? NULL : malloc(size);
    if (blocks == NULL)
        return;
    client_compress_image(pixels, width, height, blocks);
    const uint64_t frames = __atomic_load_n(&client_global.frames, __ATOMIC_RELAXED);
    const uint64_t words[2] = {sb_record_pair((uint32_t)(frames - offset), flip != 0),
                               sb_record_pair(width, height)};
    const sb_slice piece = {(const char *)blocks, size};
    client_record_payload(lane, SB_RECORD_FRAME_IMAGE, 0, words, 2, &piece, 1);
    free(blocks);
}

/* ---- plots ---- */

static void record_plot(sb_record_kind kind, const char *literal, uint64_t value) {
    client_lane *lane = lane_now();
    if (lane == NULL || literal == NULL)
        return;
    const uint64_t words[2] = {client_string(lane, literal), value};
    if (words[0] != 0)
        client_record_words(lane, kind, words, 2);
}

static uint64_t bits_of(double value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void sb_plot_integer(const char *literal, int64_t value) {
    record_plot(SB_RECORD_PLOT_INT, literal, (uint64_t)value);
}

/* What is no number cannot be shown, and makes readers of Tracy's lose their clock. */
void sb_plot_double(const char *literal, double value) {
    if (isfinite(value))
        record_plot(SB_RECORD_PLOT_DOUBLE, literal, bits_of(value));
}

void sb_plot_float(const char *literal, float value) {
    if (isfinite(value))
        record_plot(SB_RECORD_PLOT_FLOAT, literal, bits_of((double)value));
}

/* ---- fibers ---- */

/*
 * A fiber may go on in another thread, and its records must stay in order. So between enter and
 * leave its thread writes to a lane taken for this stay; records of waiting say in which order the
 * stays and the threads' own lanes belong:
 *
 *     thread A   zone |  wait: stay 1  | zone
 *     stay 1          wait: A | enter zone leave
 *     stay 2                              wait: B, stay 1 | enter zone leave
 */
typedef struct fiber_stay {
    uint32_t lane;
    uint64_t position;
} fiber_stay;

/* By the address of the fiber's name: lane + 1 in one map, position in the other. */
static pthread_mutex_t fibers_lock = PTHREAD_MUTEX_INITIALIZER;
static sb_map fiber_lanes;
static sb_map fiber_positions;
static _Thread_local const char *this_fiber;

static void wait_for(client_lane *lane, uint32_t other, uint64_t position) {
    const uint64_t words[2] = {other, position};
    client_record_words(lane, SB_RECORD_WAIT_FOR, words, 2);
}

static void remember_stay(const char *fiber, const client_lane *lane) {
    pthread_mutex_lock(&fibers_lock);
    sb_map_set(&fiber_lanes, (uintptr_t)fiber, (uint64_t)lane->id + 1);
    sb_map_set(&fiber_positions, (uintptr_t)fiber, client_lane_position(lane));
    pthread_mutex_unlock(&fibers_lock);
}

static void wait_for_last_stay(client_lane *lane, const char *fiber) {
    pthread_mutex_lock(&fibers_lock);
    const uint64_t last = sb_map_get(&fiber_lanes, (uintptr_t)fiber);
    const uint64_t position = sb_map_get(&fiber_positions, (uintptr_t)fiber);
    pthread_mutex_unlock(&fibers_lock);
    if (last != 0 && last - 1 != lane->id)
        wait_for(lane, (uint32_t)(last - 1), position);
}

static bool enter_stay(client_lane *home, client_lane *stay, const char *fiber, int32_t group) {
    if (!client_shared_lane_prepare(stay, home->state))
        return false;
    wait_for(stay, home->id, client_lane_position(home));
    wait_for_last_stay(stay, fiber);
    const uint64_t words[2] = {client_string(stay, fiber),
                               sb_record_pair(sb_thread_id(), (uint32_t)group)};
    return words[0] != 0 && client_record_words(stay, SB_RECORD_FIBER_ENTER, words, 2);
}

void sb_fiber_leave(void) {
    client_lane *stay = client_this_lane();
    if (stay == NULL || stay->home == NULL)
        return;
    client_lane *home = stay->home;
    client_is_inside = true;
    const uint64_t thread = sb_thread_id();
    uint64_t *at = client_record_begin(stay, 2, true);
    if (at != NULL) {
        at[1] = thread;
        client_record_publish(stay, 2, sb_record_stamp(client_now(), SB_RECORD_FIBER_LEAVE));
    }
    remember_stay(this_fiber, stay);
    wait_for(home, stay->id, client_lane_position(stay));
    stay->home = NULL;
    sb_this_lane_1 = &home->front;
    client_lane_release(stay);
    client_is_inside = false;
}

void sb_fiber_enter(const char *literal, int32_t group) {
    sb_fiber_leave(); /* of another fiber, if it was not left */
    client_lane *home = lane_now();
    if (home == NULL || literal == NULL)
        return;
    client_is_inside = true;
    client_lane *stay = client_lane_take();
    if (stay != NULL && enter_stay(home, stay, literal, group)) {
        this_fiber = literal;
        stay->home = home;
        stay->thread = home->thread;
        sb_this_lane_1 = &stay->front;
    } else if (stay != NULL) {
        client_lane_release(stay);
    }
    client_is_inside = false;
}

/* ---- sections ---- */

uint32_t sb_section_enter(uint16_t category, const char *format, ...) {
    static uint32_t sections;
    client_lane *lane = lane_now();
    if (lane == NULL)
        return 0;
    client_text made;
    va_list arguments;
    va_start(arguments, format);
    const bool has_text = client_text_make(&made, format, arguments);
    va_end(arguments);
    uint32_t section = 0;
    if (has_text) {
        section = __atomic_add_fetch(&sections, 1, __ATOMIC_RELAXED);
        const uint64_t word = sb_record_pair(section, category);
        if (!client_record_payload(lane, SB_RECORD_SECTION_ENTER, 0, &word, 1, &made.text, 1))
            section = 0;
    }
    client_text_free(&made);
    return section;
}

void sb_section_leave(uint32_t section) {
    client_lane *lane = section == 0 ? NULL : lane_now();
    const uint64_t word = section;
    if (lane != NULL)
        client_record_words(lane, SB_RECORD_SECTION_LEAVE, &word, 1);
}

void sb_section_setup(uint16_t category, const char *format, ...) {
    client_text made;
    va_list arguments;
    va_start(arguments, format);
    const uint64_t word = category;
    if (client_text_make(&made, format, arguments))
        client_record_lasting_text(SB_RECORD_SECTION_SETUP, &word, 1, made.text);
    va_end(arguments);
    client_text_free(&made);
}

/* ---- what every session begins with ---- */

void sb_app_info(const char *text, size_t size) {
    client_record_lasting_text(SB_RECORD_APP_INFO, NULL, 0, client_cut_text(text, size));
}

void sb_plot_configure(const char *literal, sb_plot_format format, int step, int fill,
                       uint32_t color) {
    const uint32_t style =
        (uint32_t)format | (step != 0 ? 1U << 8 : 0) | (fill != 0 ? 1U << 16 : 0);
    client_record_lasting(SB_RECORD_PLOT_CONFIG, literal,
                          (uint64_t[]){sb_record_pair(style, color)}, 1);
}

void sb_parameter_setup(uint32_t index, const char *literal, sb_parameter_type type,
                        int32_t value) {
    const uint64_t words[2] = {sb_record_pair(index, (uint32_t)type), (uint64_t)(uint32_t)value};
    client_record_lasting(SB_RECORD_PARAMETER, literal, words, 2);
}

void sb_parameter_register(sb_parameter_callback callback, void *data) {
    client_global.parameter_data = data;
    __atomic_store_n(&client_global.parameter, callback, __ATOMIC_RELEASE);
}

static void name_thread(const char *name, bool has_group, int32_t group) {
    const uint64_t word = sb_record_pair(sb_thread_id(), (uint32_t)group);
    client_record_lasting_name(has_group, word, client_cut_text(name, strlen(name)));
}

void sb_set_thread_name(const char *name) {
    name_thread(name, false, 0);
}

void sb_set_thread_name_in_group(const char *name, int32_t group) {
    name_thread(name, true, group);
}

void sb_gpu_lane_name(uint32_t thread, const char *name) {
    client_record_lasting_name(false, sb_record_pair(thread, 0),
                               client_cut_text(name, strlen(name)));
}

void sb_set_program_name(const char *literal) {
    __atomic_store_n(&client_global.program, literal, __ATOMIC_RELEASE);
}
