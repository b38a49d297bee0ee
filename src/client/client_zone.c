/* Zones. What costs when it is on is in strobe/zone.h; here is what is rare. */
#include "client/client.h"

#include <stdarg.h>

uint64_t sb_client_state = CLIENT_NOT_STARTED;

static const sb_zone no_zone = {0};

/* The interface of number 1, as programs were compiled with it. */
_Static_assert(offsetof(sb_lane, ready_for) == 0 && offsetof(sb_lane, at) == 8 &&
                   offsetof(sb_lane, end_for_begins) == 16 &&
                   offsetof(sb_lane, end_for_ends) == 24 && offsetof(sb_lane, generation) == 32 &&
                   offsetof(sb_lane, locations) == 40 && SB_LANE_LOCATIONS == 512,
               "a lane's front stays as it is, or sb_this_lane_1 gets another number");
_Static_assert((int)SB_LANE_ZONE_BEGIN == SB_RECORD_ZONE_BEGIN &&
                   (int)SB_LANE_ZONE_END == SB_RECORD_ZONE_END,
               "programs write the records that readers know");

static inline uint64_t current_state(void) {
    return __atomic_load_n(&sb_client_state, __ATOMIC_RELAXED);
}

/* First event of a thread or a session, new location, full chunk: everything that is rare. */
static __attribute__((noinline, cold)) sb_zone open_slowly(const sb_source_location *location,
                                                           int32_t depth) {
    if (!client_ensure_started())
        return no_zone;
    const uint64_t state = current_state();
    client_lane *lane = client_lane_prepare(state);
    if (lane == NULL)
        return no_zone;
    const uint64_t token = client_location(lane, location);
    if (token == 0)
        return no_zone;
    if (depth > 0)
        client_record_stack(lane, depth);
    uint64_t *at = client_record_begin(lane, 2, false);
    if (at == NULL)
        return no_zone;
    at[1] = token;
    client_record_publish(lane, 2, sb_record_stamp(client_now(), SB_RECORD_ZONE_BEGIN));
    return (sb_zone){(uint32_t)state};
}

sb_zone sb_zone_open(const sb_source_location *location) {
    const uint64_t state = current_state();
    if (sb_zone_begin_in_place(location, state))
        return (sb_zone){(uint32_t)state};
    return open_slowly(location, 0);
}

sb_zone sb_zone_open_with_stack(const sb_source_location *location, int32_t depth) {
    return open_slowly(location, depth);
}

static __attribute__((noinline, cold)) void close_slowly(sb_zone zone) {
    client_lane *lane = client_this_lane();
    if ((uint32_t)current_state() != zone.session || lane == NULL)
        return; /* nobody listens any more, or it began on a thread that is not this one */
    uint64_t *at = client_record_begin(lane, 1, true);
    if (at != NULL)
        client_record_publish(lane, 1, sb_record_stamp(client_now(), SB_RECORD_ZONE_END));
}

void sb_zone_close(sb_zone zone) {
    if (!sb_zone_end_in_place(zone))
        close_slowly(zone);
}

sb_zone sb_zone_begin_dynamic(uint32_t line, const char *file, size_t file_size,
                              const char *function, size_t function_size, const char *name,
                              size_t name_size, uint32_t color, int32_t depth) {
    if (!client_ensure_started())
        return no_zone;
    const uint64_t state = current_state();
    client_lane *lane = client_lane_prepare(state);
    if (lane == NULL)
        return no_zone;
    if (depth > 0)
        client_record_stack(lane, depth);
    const sb_slice pieces[3] = {client_cut_text(name, name == NULL ? 0 : name_size),
                                client_cut_text(function, function_size),
                                client_cut_text(file, file_size)};
    const uint64_t words[2] = {sb_record_pair(line, color), client_text_sizes(pieces)};
    if (!client_record_payload(lane, SB_RECORD_ZONE_BEGIN_DYNAMIC, 0, words, 2, pieces, 3))
        return no_zone;
    return (sb_zone){(uint32_t)state};
}

/* The lane of a zone that is recorded now; NULL otherwise. */
static client_lane *lane_of(sb_zone zone) {
    const uint64_t state = current_state();
    if (zone.session == 0 || (uint32_t)state != zone.session)
        return NULL;
    return client_lane_prepare(state);
}

static void add_text(sb_zone zone, sb_record_kind kind, const char *text, size_t size) {
    client_lane *lane = lane_of(zone);
    const sb_slice piece = client_cut_text(text, size);
    if (lane != NULL)
        client_record_payload(lane, kind, 0, NULL, 0, &piece, 1);
}

void client_zone_format(sb_zone zone, sb_record_kind kind, const char *format, va_list arguments) {
    if (zone.session == 0)
        return;
    client_text made;
    if (client_text_make(&made, format, arguments))
        add_text(zone, kind, made.text.data, made.text.size);
    client_text_free(&made);
}

void sb_zone_text(sb_zone zone, const char *text, size_t size) {
    add_text(zone, SB_RECORD_ZONE_TEXT, text, size);
}

void sb_zone_name(sb_zone zone, const char *name, size_t size) {
    add_text(zone, SB_RECORD_ZONE_NAME, name, size);
}

void sb_zone_text_format(sb_zone zone, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    client_zone_format(zone, SB_RECORD_ZONE_TEXT, format, arguments);
    va_end(arguments);
}

void sb_zone_name_format(sb_zone zone, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    client_zone_format(zone, SB_RECORD_ZONE_NAME, format, arguments);
    va_end(arguments);
}

void sb_zone_color(sb_zone zone, uint32_t color) {
    client_lane *lane = lane_of(zone);
    const uint64_t word = color;
    if (lane != NULL)
        client_record_words(lane, SB_RECORD_ZONE_COLOUR, &word, 1);
}

void sb_zone_value(sb_zone zone, uint64_t value) {
    client_lane *lane = lane_of(zone);
    if (lane != NULL)
        client_record_words(lane, SB_RECORD_ZONE_VALUE, &value, 1);
}
