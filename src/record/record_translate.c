#include "record/record_translate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/record_cursor.h"
#include "record/record_kinds.h"

void sb_record_flush(sb_record_translator *translator) {
    if (translator->zone_count == 0)
        return;
    translator->handler.zones(translator->handler.context, translator->zones_thread,
                              translator->zones, translator->zone_count);
    translator->zone_count = 0;
}

/* One more begin or end; the commonest events go in batches of one thread. */
static void add_zone(sb_record_translator *translator, uint32_t thread, sb_wire_zone zone) {
    if (translator->zone_count == SB_RECORD_BATCH || translator->zones_thread != thread)
        sb_record_flush(translator);
    translator->zones_thread = thread;
    translator->zones[translator->zone_count++] = zone;
}

void record_send(sb_record_translator *translator, const sb_wire_event *event) {
    sb_record_flush(translator);
    translator->handler.event(translator->handler.context, event);
}

static uint32_t thread_of(const sb_record_lane *lane) {
    return lane->carrier != 0 ? lane->carrier : lane->thread;
}

static void end_open_zones(sb_record_translator *translator, sb_record_lane *lane, int64_t ticks) {
    for (; lane->open_zones > 0; lane->open_zones--)
        add_zone(translator, thread_of(lane), (sb_wire_zone){ticks, SB_WIRE_END_ZONE});
}

void sb_record_close_lane(sb_record_translator *translator, sb_record_lane *lane, int64_t ticks) {
    end_open_zones(translator, lane, ticks);
    if (lane->carrier != 0)
        record_send(
            translator,
            &(sb_wire_event){.kind = SB_WIRE_FIBER_LEAVE, .time = ticks, .thread = lane->carrier});
    lane->carrier = 0;
}

/* ---- fibers that nobody runs: token to open zones and the thread that ran them last ---- */

static void fiber_left(sb_record_translator *translator, const sb_record_lane *lane) {
    if (translator->fibers == NULL)
        translator->fibers = calloc(1, sizeof *translator->fibers);
    if (translator->fibers != NULL && lane->fiber != 0)
        sb_map_set(translator->fibers, lane->fiber,
                   sb_record_pair(lane->open_zones, lane->carrier));
}

static uint32_t fiber_open_zones(const sb_record_translator *translator, uint64_t fiber) {
    if (translator->fibers == NULL || fiber == 0)
        return 0;
    return record_low(sb_map_get(translator->fibers, fiber));
}

void sb_record_close_fibers(sb_record_translator *translator, int64_t ticks) {
    const sb_map *fibers = translator->fibers;
    for (size_t i = 0; fibers != NULL && i < fibers->capacity; i++) {
        const sb_map_entry *fiber = &fibers->entries[i];
        sb_record_lane lane = {.open_zones = record_low(fiber->value),
                               .carrier = record_high(fiber->value),
                               .fiber = fiber->key};
        if (fiber->key == 0 || lane.open_zones == 0)
            continue;
        record_send(translator, &(sb_wire_event){.kind = SB_WIRE_FIBER_ENTER,
                                                 .time = ticks,
                                                 .token = lane.fiber,
                                                 .thread = lane.carrier});
        sb_record_close_lane(translator, &lane, ticks);
    }
    sb_record_forget_fibers(translator);
}

void sb_record_forget_fibers(sb_record_translator *translator) {
    if (translator->fibers != NULL)
        sb_map_free(translator->fibers);
    free(translator->fibers);
    translator->fibers = NULL;
}

void sb_record_lane_trim(sb_record_lane *lane) {
    free(lane->staged);
    lane->staged = NULL;
    lane->staged_size = 0;
    lane->staged_capacity = 0;
}

void sb_record_lane_free(sb_record_lane *lane) {
    free(lane->staged);
    *lane = (sb_record_lane){0};
}

void sb_record_tell_loss(sb_record_translator *translator, uint32_t thread, int64_t ticks,
                         uint64_t count, uint32_t cause) {
    enum { WARNING_OF_THE_CLIENT = 0x31, ORANGE = 0xff8800 };
    char text[160];
    snprintf(text, sizeof text, "strobe: %llu events of thread %u were lost: %s",
             (unsigned long long)count, thread, sb_record_cause_text(cause));
    translator->lost += count;
    record_send(translator, &(sb_wire_event){.kind = SB_WIRE_MESSAGE,
                                             .form = SB_WIRE_WITH_COLOUR,
                                             .colour = ORANGE,
                                             .time = ticks,
                                             .thread = thread,
                                             .metadata = WARNING_OF_THE_CLIENT,
                                             .text = sb_slice_of(text)});
}

/* ---- payloads in parts ---- */

static void stage(sb_record_lane *lane, sb_slice part) {
    const size_t wanted = lane->staged_size + part.size;
    if (part.size == 0 || wanted > SB_RECORD_STAGED_MAX)
        return;
    if (wanted > lane->staged_capacity) {
        char *larger = realloc(lane->staged, 2 * wanted);
        if (larger == NULL)
            return;
        lane->staged = larger;
        lane->staged_capacity = 2 * wanted;
    }
    memcpy(lane->staged + lane->staged_size, part.data, part.size);
    lane->staged_size = wanted;
}

/* The whole payload of a record: what was staged, and its own. */
static sb_slice whole_payload(sb_record_lane *lane, const record_cursor *record) {
    if (lane->staged_size == 0)
        return record->payload;
    stage(lane, record->payload);
    const sb_slice whole = {lane->staged, lane->staged_size};
    lane->staged_size = 0;
    return whole;
}

/* ---- definitions and the lane itself ---- */

record_texts record_cut_texts(sb_slice payload, uint64_t sizes) {
    record_texts cut = {0};
    const sb_slice name = sb_slice_first(payload, sizes & 0xffff);
    const sb_slice rest = sb_slice_after(payload, sizes & 0xffff);
    if ((sizes & SB_RECORD_HAS_NAME) != 0)
        cut.name = name;
    cut.function = sb_slice_first(rest, sizes >> 16 & 0xffff);
    cut.file = sb_slice_first(sb_slice_after(rest, sizes >> 16 & 0xffff), sizes >> 32 & 0xffff);
    return cut;
}

static void define(sb_record_translator *translator, const record_cursor *record) {
    const uint64_t *words = record->words;
    if (record->kind == SB_RECORD_STRING) {
        sb_record_define_string(translator->names, words[2], record->payload);
        return;
    }
    const record_texts cut =
        record_cut_texts(record->payload, words[record->kind == SB_RECORD_SYMBOL ? 3 : 4]);
    if (record->kind == SB_RECORD_SYMBOL) {
        sb_record_define_symbol(translator->names, words[2], cut.function, cut.file);
        return;
    }
    const sb_record_location location = {.name = cut.name,
                                         .function = cut.function,
                                         .file = cut.file,
                                         .line = record_low(words[3]),
                                         .colour = record_high(words[3])};
    sb_record_define_location(translator->names, words[2], &location);
}

static void take_thread(sb_record_translator *translator, sb_record_lane *lane,
                        const record_cursor *record) {
    const uint64_t *words = record->words;
    const uint32_t thread = record_low(words[2]);
    if (record->kind == SB_RECORD_THREAD) {
        end_open_zones(translator, lane, record->ticks);
        lane->thread = thread;
        sb_record_define_thread(translator->names, thread, record->payload, false,
                                record_high(words[2]) != 0);
        return;
    }
    sb_record_define_thread(translator->names, thread, record->payload, true, false);
    if (record_high(words[1]) != 0 && lane->session == translator->session)
        record_send(translator, &(sb_wire_event){.kind = SB_WIRE_THREAD_GROUP,
                                                 .thread = thread,
                                                 .hint = (int32_t)record_high(words[2])});
}

/* Records that count in every session. True: it was one. */
static bool take_standing(sb_record_translator *translator, sb_record_lane *lane,
                          const record_cursor *record) {
    const uint64_t *words = record->words;
    switch (record->kind) {
    case SB_RECORD_LOCATION:
    case SB_RECORD_STRING:
    case SB_RECORD_SYMBOL:
        define(translator, record);
        return true;
    case SB_RECORD_THREAD:
    case SB_RECORD_THREAD_NAME:
        take_thread(translator, lane, record);
        return true;
    case SB_RECORD_SESSION:
        lane->session = (uint32_t)words[1];
        lane->open_zones = 0;
        lane->carrier = 0;
        lane->stack_count = 0;
        return true;
    case SB_RECORD_WAIT_FOR:
        if (translator->wait_for != NULL)
            translator->wait_for(translator->wait_context, (uint32_t)words[1], words[2]);
        return true;
    default:
        return false;
    }
}

/* ---- what happens in a thread ---- */

/*
 * The call stack goes out right before the event that takes it, not when its record is met: a
 * recorder waits for ever for the taker of one that was dropped.
 */
uint8_t record_taken_stack(sb_record_translator *translator, sb_record_lane *lane) {
    if (lane->stack_count == 0)
        return 0;
    const sb_slice payload = {(const char *)lane->stack, lane->stack_count * sizeof lane->stack[0]};
    lane->stack_count = 0;
    record_send(translator, &(sb_wire_event){.kind = SB_WIRE_CALLSTACK,
                                             .form = lane->is_serial ? SB_WIRE_SERIAL : 0,
                                             .thread = thread_of(lane),
                                             .payload = payload});
    return SB_WIRE_WITH_CALLSTACK;
}

static void begin_zone(sb_record_translator *translator, sb_record_lane *lane,
                       const record_cursor *record) {
    const uint64_t *words = record->words;
    lane->open_zones++;
    const uint8_t stack = record_taken_stack(translator, lane);
    sb_wire_event event = {.kind = SB_WIRE_ZONE_BEGIN,
                           .form = stack,
                           .time = record->ticks,
                           .thread = thread_of(lane)};
    if (record->kind == SB_RECORD_ZONE_BEGIN_DYNAMIC) {
        const record_texts cut = record_cut_texts(whole_payload(lane, record), words[3]);
        event.form |= SB_WIRE_DYNAMIC;
        event.text = cut.name;
        event.function_text = cut.function;
        event.file_text = cut.file;
        event.line = record_low(words[2]);
        event.colour = record_high(words[2]);
    } else {
        event.token = sb_record_location_token(translator->names, words[1]);
    }
    record_send(translator, &event);
}

static void end_zone(sb_record_translator *translator, sb_record_lane *lane,
                     const record_cursor *record) {
    if (lane->open_zones == 0) {
        translator->dropped++;
        return;
    }
    lane->open_zones--;
    add_zone(translator, thread_of(lane), (sb_wire_zone){record->ticks, SB_WIRE_END_ZONE});
}

/* Text, name, colour, value: of the innermost zone, if there is one. */
static void add_to_zone(sb_record_translator *translator, sb_record_lane *lane,
                        const record_cursor *record) {
    sb_wire_event event = {.thread = thread_of(lane)};
    switch (record->kind) {
    case SB_RECORD_ZONE_COLOUR:
        event.kind = SB_WIRE_ZONE_COLOUR;
        event.colour = (uint32_t)record->words[1];
        break;
    case SB_RECORD_ZONE_VALUE:
        event.kind = SB_WIRE_ZONE_VALUE;
        event.value = record->words[1];
        break;
    default:
        event.kind = record->kind == SB_RECORD_ZONE_TEXT ? SB_WIRE_ZONE_TEXT : SB_WIRE_ZONE_NAME;
        event.text = whole_payload(lane, record);
    }
    if (lane->open_zones == 0)
        translator->dropped++;
    else
        record_send(translator, &event);
}

static void send_message(sb_record_translator *translator, sb_record_lane *lane,
                         const record_cursor *record) {
    const uint64_t *words = record->words;
    sb_wire_event event = {.kind = SB_WIRE_MESSAGE,
                           .form = record_taken_stack(translator, lane),
                           .time = record->ticks,
                           .thread = thread_of(lane),
                           .colour = record_low(words[2]),
                           .metadata = (uint8_t)record_high(words[2])};
    if (event.colour != 0)
        event.form |= SB_WIRE_WITH_COLOUR;
    if (record->kind == SB_RECORD_MESSAGE_LITERAL) {
        event.form |= SB_WIRE_LITERAL;
        event.token = sb_record_string_token(translator->names, words[1]);
    } else {
        event.text = whole_payload(lane, record);
    }
    record_send(translator, &event);
}

static void send_frame(sb_record_translator *translator, sb_record_lane *lane,
                       const record_cursor *record) {
    const uint64_t *words = record->words;
    if (record->kind == SB_RECORD_FRAME_IMAGE) {
        record_send(translator, &(sb_wire_event){.kind = SB_WIRE_FRAME_IMAGE,
                                                 .id = record_low(words[2]),
                                                 .flip = (uint8_t)record_high(words[2]),
                                                 .width = (uint16_t)record_low(words[3]),
                                                 .height = (uint16_t)record_high(words[3]),
                                                 .payload = whole_payload(lane, record)});
        return;
    }
    uint8_t kind = SB_WIRE_FRAME;
    if (record->kind != SB_RECORD_FRAME)
        kind = record->kind == SB_RECORD_FRAME_START ? SB_WIRE_FRAME_START : SB_WIRE_FRAME_END;
    record_send(translator,
                &(sb_wire_event){.kind = kind,
                                 .time = record->ticks,
                                 .token = sb_record_string_token(translator->names, words[1])});
}

static void send_plot(sb_record_translator *translator, const sb_record_lane *lane,
                      const record_cursor *record) {
    const uint64_t *words = record->words;
    sb_wire_event event = {.kind = SB_WIRE_PLOT_INT,
                           .time = record->ticks,
                           .thread = thread_of(lane),
                           .token = sb_record_string_token(translator->names, words[1])};
    if (record->kind == SB_RECORD_PLOT_CONFIG) {
        event.kind = SB_WIRE_PLOT_CONFIG;
        event.type = (uint8_t)words[2];
        event.step = (uint8_t)(words[2] >> 8);
        event.fill = (uint8_t)(words[2] >> 16);
        event.colour = record_high(words[2]);
    } else if (record->kind == SB_RECORD_PLOT_INT) {
        event.value = words[2];
    } else {
        event.kind =
            record->kind == SB_RECORD_PLOT_FLOAT ? SB_WIRE_PLOT_FLOAT : SB_WIRE_PLOT_DOUBLE;
        memcpy(&event.number, &words[2], sizeof event.number);
        /* A recorder of Tracy's loses its clock over a value that is no number. */
        if (!isfinite(event.number)) {
            translator->dropped++;
            return;
        }
    }
    record_send(translator, &event);
}

static void change_fiber(sb_record_translator *translator, sb_record_lane *lane,
                         const record_cursor *record) {
    const uint64_t *words = record->words;
    if (record->kind == SB_RECORD_FIBER_ENTER) {
        lane->fiber = sb_record_string_token(translator->names, words[1]);
        lane->carrier = record_low(words[2]);
        lane->open_zones = fiber_open_zones(translator, lane->fiber);
        record_send(translator, &(sb_wire_event){.kind = SB_WIRE_FIBER_ENTER,
                                                 .time = record->ticks,
                                                 .token = lane->fiber,
                                                 .thread = lane->carrier,
                                                 .hint = (int32_t)record_high(words[2])});
        return;
    }
    if (lane->carrier == 0) {
        translator->dropped++;
        return;
    }
    fiber_left(translator, lane);
    lane->open_zones = 0;
    sb_record_close_lane(translator, lane, record->ticks);
}

static void send_section(sb_record_translator *translator, sb_record_lane *lane,
                         const record_cursor *record) {
    const uint64_t *words = record->words;
    sb_wire_event event = {.time = record->ticks, .thread = thread_of(lane)};
    if (record->kind == SB_RECORD_SECTION_LEAVE) {
        event.kind = SB_WIRE_SECTION_LEAVE;
        event.id = (uint32_t)words[1];
    } else {
        event.kind = SB_WIRE_SECTION_SETUP;
        event.category = (uint16_t)words[2];
        event.text = whole_payload(lane, record);
        if (record->kind == SB_RECORD_SECTION_ENTER) {
            event.kind = SB_WIRE_SECTION_ENTER;
            event.id = record_low(words[2]);
            event.category = (uint16_t)record_high(words[2]);
        }
    }
    record_send(translator, &event);
}

static void send_parameter(sb_record_translator *translator, const record_cursor *record) {
    const uint64_t *words = record->words;
    record_send(translator,
                &(sb_wire_event){.kind = SB_WIRE_PARAMETER,
                                 .token = sb_record_string_token(translator->names, words[1]),
                                 .id = record_low(words[2]),
                                 .type = (uint8_t)record_high(words[2]),
                                 .value = words[3]});
}

static void keep_stack(sb_record_lane *lane, const record_cursor *record) {
    const size_t count = record->payload.size / sizeof lane->stack[0];
    lane->stack_count = (uint32_t)(count < SB_RECORD_STACK_MAX ? count : SB_RECORD_STACK_MAX);
    memcpy(lane->stack, record->payload.data, lane->stack_count * sizeof lane->stack[0]);
}

/* One record of the session that is being recorded. */
static void take_event(sb_record_translator *translator, sb_record_lane *lane,
                       const record_cursor *record) {
    switch (record->kind) {
    case SB_RECORD_ZONE_BEGIN:
    case SB_RECORD_ZONE_BEGIN_DYNAMIC:
        begin_zone(translator, lane, record);
        return;
    case SB_RECORD_ZONE_END:
        end_zone(translator, lane, record);
        return;
    case SB_RECORD_ZONE_TEXT:
    case SB_RECORD_ZONE_NAME:
    case SB_RECORD_ZONE_COLOUR:
    case SB_RECORD_ZONE_VALUE:
        add_to_zone(translator, lane, record);
        return;
    case SB_RECORD_MESSAGE:
    case SB_RECORD_MESSAGE_LITERAL:
        send_message(translator, lane, record);
        return;
    case SB_RECORD_APP_INFO:
        record_send(translator, &(sb_wire_event){.kind = SB_WIRE_APP_INFO,
                                                 .time = record->ticks,
                                                 .thread = thread_of(lane),
                                                 .text = whole_payload(lane, record)});
        return;
    case SB_RECORD_CALLSTACK:
        keep_stack(lane, record);
        return;
    case SB_RECORD_FRAME:
    case SB_RECORD_FRAME_START:
    case SB_RECORD_FRAME_END:
    case SB_RECORD_FRAME_IMAGE:
        send_frame(translator, lane, record);
        return;
    case SB_RECORD_PLOT_INT:
    case SB_RECORD_PLOT_FLOAT:
    case SB_RECORD_PLOT_DOUBLE:
    case SB_RECORD_PLOT_CONFIG:
        send_plot(translator, lane, record);
        return;
    case SB_RECORD_FIBER_ENTER:
    case SB_RECORD_FIBER_LEAVE:
        change_fiber(translator, lane, record);
        return;
    case SB_RECORD_SECTION_ENTER:
    case SB_RECORD_SECTION_LEAVE:
    case SB_RECORD_SECTION_SETUP:
        send_section(translator, lane, record);
        return;
    case SB_RECORD_PARAMETER:
        send_parameter(translator, record);
        return;
    case SB_RECORD_LOSS:
        sb_record_tell_loss(translator, record_high(record->words[2]), record->ticks,
                            record->words[1], record_low(record->words[2]));
        return;
    default:
        record_take_serial(translator, lane, record);
    }
}

/* ---- the walk ---- */

/*
 * The quick way for what nearly all records are: begins and ends of zones, without call stack,
 * in the session that is recorded. What changes with each of them is kept in variables, since the
 * compiler cannot know that storing a zone leaves the lane alone.
 */
static const uint64_t *take_zones(sb_record_translator *translator, sb_record_lane *lane,
                                  const uint64_t *at, const uint64_t *end) {
    if (translator->zones_thread != thread_of(lane) || translator->zone_count == SB_RECORD_BATCH)
        sb_record_flush(translator);
    translator->zones_thread = thread_of(lane);
    sb_wire_zone *zone = translator->zones + translator->zone_count;
    const sb_wire_zone *full = translator->zones + SB_RECORD_BATCH;
    uint32_t open_zones = lane->open_zones;
    int64_t ticks = lane->ticks;
    for (; at < end && zone < full; zone++) {
        const uint64_t stamp = __atomic_load_n(at, __ATOMIC_ACQUIRE);
        const uint32_t kind = stamp & 0xff;
        if (kind == SB_RECORD_ZONE_BEGIN && lane->stack_count == 0 && at + 1 < end) {
            zone->token = sb_record_location_token(translator->names, at[1]);
            at += 2;
            open_zones++;
        } else if (kind == SB_RECORD_ZONE_END && open_zones > 0) {
            zone->token = SB_WIRE_END_ZONE;
            at++;
            open_zones--;
        } else {
            break;
        }
        ticks = record_unwrap(ticks, stamp);
        zone->time = ticks;
    }
    translator->zone_count = (size_t)(zone - translator->zones);
    lane->open_zones = open_zones;
    lane->ticks = ticks;
    return at;
}

sb_record_stop sb_record_translate(sb_record_translator *translator, sb_record_lane *lane,
                                   const sb_chunk *chunk, const uint64_t **at, uint64_t position) {
    const uint64_t *end = chunk->words + SB_CHUNK_WORDS;
    const uint64_t begins = chunk->sequence * SB_CHUNK_WORDS;
    const uint64_t *goal = end;
    if (position < begins + SB_CHUNK_WORDS)
        goal = chunk->words + (position > begins ? position - begins : 0);
    while (*at < goal) {
        if (lane->session == translator->session) {
            *at = take_zones(translator, lane, *at, goal);
            if (*at >= goal || translator->zone_count == SB_RECORD_BATCH)
                continue;
        }
        record_cursor record;
        const record_reading reading = record_read(&record, *at, end, lane->ticks);
        if (reading == RECORD_NOTHING_YET)
            return SB_RECORD_MORE_LATER;
        if (reading == RECORD_MALFORMED)
            return SB_RECORD_BROKEN;
        if (record.kind == SB_RECORD_END)
            return SB_RECORD_CHUNK_ENDED;
        lane->ticks = record.ticks;
        *at += record.size;
        if (record.kind == SB_RECORD_PART)
            stage(lane, record.payload);
        else if (!take_standing(translator, lane, &record) && lane->session == translator->session)
            take_event(translator, lane, &record);
        if (record.kind != SB_RECORD_PART)
            lane->staged_size = 0;
    }
    return *at >= end ? SB_RECORD_CHUNK_ENDED : SB_RECORD_REACHED;
}
