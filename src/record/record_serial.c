#include "record/record_cursor.h"
#include "record/record_kinds.h"

static void send_memory(sb_record_translator *translator, sb_record_lane *lane,
                        const record_cursor *record) {
    const uint64_t *words = record->words;
    sb_wire_event event = {.form = record_taken_stack(translator, lane), .time = record->ticks};
    uint64_t pool = 0;
    switch (record->kind) {
    case SB_RECORD_MEMORY_ALLOC:
        event.kind = SB_WIRE_MEMORY_ALLOC;
        event.size = words[2];
        pool = words[3];
        event.thread = (uint32_t)words[4];
        break;
    case SB_RECORD_MEMORY_FREE:
        event.kind = SB_WIRE_MEMORY_FREE;
        pool = words[2];
        event.thread = (uint32_t)words[3];
        break;
    default:
        event.kind = SB_WIRE_MEMORY_DISCARD;
        pool = words[1];
        event.thread = (uint32_t)words[2];
    }
    const uint64_t pool_token = sb_record_string_token(translator->names, pool);
    event.token = words[1];
    if (record->kind == SB_RECORD_MEMORY_DISCARD) {
        event.token = pool_token;
    } else if (pool != 0) {
        event.form |= SB_WIRE_NAMED;
        event.pool = pool_token;
    }
    record_send(translator, &event);
}

static void send_lock(sb_record_translator *translator, sb_record_lane *lane,
                      const record_cursor *record) {
    const uint64_t *words = record->words;
    sb_wire_event event = {
        .time = record->ticks, .id = record_low(words[1]), .thread = record_high(words[1])};
    switch (record->kind) {
    case SB_RECORD_LOCK_ANNOUNCE:
        event.kind = SB_WIRE_LOCK_ANNOUNCE;
        event.type = (uint8_t)record_high(words[1]);
        event.thread = 0;
        event.token = sb_record_location_token(translator->names, words[2]);
        break;
    case SB_RECORD_LOCK_TERMINATE:
        event.kind = SB_WIRE_LOCK_TERMINATE;
        break;
    case SB_RECORD_LOCK_WAIT_SHARED:
        event.form = SB_WIRE_SHARED; /* fall through */
    case SB_RECORD_LOCK_WAIT:
        event.kind = SB_WIRE_LOCK_WAIT;
        break;
    case SB_RECORD_LOCK_OBTAIN_SHARED:
        event.form = SB_WIRE_SHARED; /* fall through */
    case SB_RECORD_LOCK_OBTAIN:
        event.kind = SB_WIRE_LOCK_OBTAIN;
        break;
    case SB_RECORD_LOCK_RELEASE_SHARED:
        event.form = SB_WIRE_SHARED; /* fall through */
    case SB_RECORD_LOCK_RELEASE:
        event.kind = SB_WIRE_LOCK_RELEASE;
        break;
    case SB_RECORD_LOCK_MARK:
        event.kind = SB_WIRE_LOCK_MARK;
        event.token = sb_record_location_token(translator->names, words[2]);
        break;
    default: /* a name */
        event.kind = SB_WIRE_LOCK_NAME;
        event.id = (uint32_t)words[2];
        event.text = record->payload;
    }
    (void)lane;
    record_send(translator, &event);
}

static void send_device_zone(sb_record_translator *translator, sb_record_lane *lane,
                             const record_cursor *record) {
    const uint64_t *words = record->words;
    const bool is_end = record->kind == SB_RECORD_DEVICE_END;
    const bool is_dynamic = record->kind == SB_RECORD_DEVICE_BEGIN_DYNAMIC;
    const uint64_t *place = is_dynamic ? words + 4 : words + (is_end ? 1 : 2);
    sb_wire_event event = {.kind = is_end ? SB_WIRE_DEVICE_END : SB_WIRE_DEVICE_BEGIN,
                           .form = SB_WIRE_SERIAL,
                           .time = record->ticks,
                           .thread = (uint32_t)place[0],
                           .query = (uint16_t)record_low(place[1]),
                           .context = (uint16_t)record_high(place[1])};
    if (!is_end)
        event.form |= record_taken_stack(translator, lane);
    if (is_dynamic) {
        const record_texts cut = record_cut_texts(record->payload, words[3]);
        event.form |= SB_WIRE_DYNAMIC;
        event.text = cut.name;
        event.function_text = cut.function;
        event.file_text = cut.file;
        event.line = record_low(words[2]);
        event.colour = record_high(words[2]);
    } else if (!is_end) {
        event.token = sb_record_location_token(translator->names, words[1]);
    }
    record_send(translator, &event);
}

static void send_device(sb_record_translator *translator, const record_cursor *record) {
    const uint64_t *words = record->words;
    sb_wire_event event = {.time = record->ticks, .device_time = (int64_t)words[1]};
    switch (record->kind) {
    case SB_RECORD_DEVICE_CONTEXT: {
        event.kind = SB_WIRE_DEVICE_CONTEXT;
        event.thread = (uint32_t)words[2];
        event.context = (uint16_t)words[3];
        event.flags = (uint8_t)(words[3] >> 16);
        event.type = (uint8_t)record_high(words[3]);
        memcpy(&event.number, &words[4], sizeof event.number);
        break;
    }
    case SB_RECORD_DEVICE_NAME:
        event.kind = SB_WIRE_DEVICE_CONTEXT_NAME;
        event.context = (uint16_t)words[2];
        event.text = record->payload;
        break;
    case SB_RECORD_DEVICE_TIME:
        event.kind = SB_WIRE_DEVICE_TIME;
        event.query = (uint16_t)record_low(words[2]);
        event.context = (uint16_t)record_high(words[2]);
        break;
    case SB_RECORD_DEVICE_CALIBRATION:
        event.kind = SB_WIRE_DEVICE_CALIBRATION;
        event.delta = (int64_t)words[2];
        event.context = (uint16_t)words[3];
        break;
    default:
        event.kind = SB_WIRE_DEVICE_SYNC;
        event.context = (uint16_t)words[2];
    }
    record_send(translator, &event);
}

void record_take_serial(sb_record_translator *translator, sb_record_lane *lane,
                        const record_cursor *record) {
    switch (record->kind) {
    case SB_RECORD_MEMORY_ALLOC:
    case SB_RECORD_MEMORY_FREE:
    case SB_RECORD_MEMORY_DISCARD:
        send_memory(translator, lane, record);
        return;
    case SB_RECORD_DEVICE_BEGIN:
    case SB_RECORD_DEVICE_BEGIN_DYNAMIC:
    case SB_RECORD_DEVICE_END:
        send_device_zone(translator, lane, record);
        return;
    case SB_RECORD_DEVICE_CONTEXT:
    case SB_RECORD_DEVICE_NAME:
    case SB_RECORD_DEVICE_TIME:
    case SB_RECORD_DEVICE_CALIBRATION:
    case SB_RECORD_DEVICE_SYNC:
        send_device(translator, record);
        return;
    default:
        if (record->kind >= SB_RECORD_LOCK_ANNOUNCE && record->kind <= SB_RECORD_LOCK_NAME)
            send_lock(translator, lane, record);
        else
            translator->dropped++;
    }
}
