#include "wire/wire_encoder.h"

#include <assert.h>
#include <stdlib.h>

#include "wire/wire_pack.h"
#include "wire/wire_tables.h"

enum {
    ITEM_SIZE_MAX = 32,
    TEXT_MAX = 65535,     /* what a length of two bytes can say */
    SHORT_TEXT_MAX = 255, /* ... of one */
    LOCATION_HEAD = 8,
    ZONE_SIZE_MAX = 17,
    THREAD_ITEM_SIZE = 5,
};

/* Distances that fit the shorter forms of items with a time. */
#define LIMIT_16 (UINT64_C(1) << 16)
#define LIMIT_32 ((UINT64_C(1) << 16) + (UINT64_C(1) << 32))

struct sb_wire_encoder {
    const sb_wire_protocol *protocol;
    sb_wire_sink sink;
    void *context;
    sb_wire_packer *packer;
    uint8_t *frame; /* where it begins */
    size_t used;
    bool failed;
    bool has_thread;
    uint32_t thread;
    uint64_t references[WIRE_REFERENCES];
    uint8_t items[SB_WIRE_KINDS][SB_WIRE_FORMS]; /* by kind and form; WIRE_NO_ID: not there */
    uint8_t packed[SB_WIRE_PACKED_MAX];
};

/* ---- making one ---- */

static void list_items(sb_wire_encoder *encoder) {
    memset(encoder->items, WIRE_NO_ID, sizeof encoder->items);
    for (unsigned i = (unsigned)wire_item_count; i-- > 0;) {
        const wire_item *item = &wire_items[i];
        if (encoder->protocol->ids[i] != WIRE_NO_ID)
            encoder->items[item->kind][item->form] = (uint8_t)i;
    }
}

sb_wire_encoder *sb_wire_encoder_create(const sb_wire_protocol *protocol, sb_wire_sink sink,
                                        void *context) {
    sb_wire_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL)
        return NULL;
    encoder->packer = sb_wire_packer_create();
    if (encoder->packer == NULL) {
        free(encoder);
        return NULL;
    }
    encoder->protocol = protocol;
    encoder->sink = sink;
    encoder->context = context;
    encoder->frame = sb_wire_packer_room(encoder->packer);
    list_items(encoder);
    return encoder;
}

void sb_wire_encoder_free(sb_wire_encoder *encoder) {
    if (encoder == NULL)
        return;
    sb_wire_packer_free(encoder->packer);
    free(encoder);
}

const sb_wire_protocol *sb_wire_encoder_protocol(const sb_wire_encoder *encoder) {
    return encoder->protocol;
}

size_t sb_wire_encoder_pending(const sb_wire_encoder *encoder) {
    return encoder->used;
}

/* ---- frames ---- */

bool sb_wire_encoder_flush(sb_wire_encoder *encoder) {
    if (encoder->used > 0 && !encoder->failed) {
        const size_t size = sb_wire_pack(encoder->packer, encoder->used, encoder->packed);
        encoder->failed = !encoder->sink(encoder->context, encoder->packed, size);
        encoder->frame = sb_wire_packer_room(encoder->packer);
    }
    encoder->used = 0;
    return !encoder->failed;
}

/* Room for an item of this size in the frame. */
static uint8_t *reserve(sb_wire_encoder *encoder, size_t size) {
    assert(size <= SB_WIRE_FRAME_MAX);
    if (encoder->used + size > SB_WIRE_FRAME_MAX)
        sb_wire_encoder_flush(encoder);
    uint8_t *room = encoder->frame + encoder->used;
    encoder->used += size;
    return room;
}

/* ---- fields ---- */

static uint64_t load_member(const sb_wire_event *event, const wire_field *field) {
    const char *member = (const char *)event + field->member;
    uint8_t value_8 = 0;
    uint16_t value_16 = 0;
    uint32_t value_32 = 0;
    uint64_t value = 0;
    switch (field->member_size) {
    case sizeof value_8:
        memcpy(&value_8, member, sizeof value_8);
        return value_8;
    case sizeof value_16:
        memcpy(&value_16, member, sizeof value_16);
        return value_16;
    case sizeof value_32:
        memcpy(&value_32, member, sizeof value_32);
        return value_32;
    default:
        memcpy(&value, member, sizeof value);
        return value;
    }
}

static uint64_t real_bits(double value, unsigned width) {
    const float narrow = (float)value;
    uint32_t low_bits = 0;
    uint64_t bits = 0;
    memcpy(&low_bits, &narrow, sizeof low_bits);
    memcpy(&bits, &value, sizeof bits);
    return width == sizeof bits ? bits : low_bits;
}

/* The distance from the last time of this reference, which the time now is. */
static uint64_t advance(sb_wire_encoder *encoder, const wire_field *field, uint64_t time) {
    const uint64_t distance = time - encoder->references[field->reference];
    encoder->references[field->reference] = time;
    if (field->coding == WIRE_DELTA)
        return distance - field->bias;
    return (int64_t)distance < 0 ? distance : distance - LIMIT_32;
}

static uint64_t field_value(sb_wire_encoder *encoder, const wire_field *field,
                            const sb_wire_event *event) {
    enum { TAG_BITS = 8, TAG_SHIFT = 56 };
    uint64_t value = load_member(event, field);
    switch (field->coding) {
    case WIRE_FLOAT:
        return real_bits(event->number, field->width);
    case WIRE_TAG_HIGH:
        return (value & ((UINT64_C(1) << TAG_SHIFT) - 1)) | (uint64_t)event->metadata << TAG_SHIFT;
    case WIRE_TAG_LOW:
        return value << TAG_BITS | event->metadata;
    case WIRE_DELTA:
    case WIRE_BIASED:
        return advance(encoder, field, value);
    default:
        return value;
    }
}

static void write_fixed(sb_wire_encoder *encoder, unsigned item, const sb_wire_event *event) {
    const unsigned id = encoder->protocol->ids[item];
    const wire_entry *entry = &encoder->protocol->entries[id];
    uint8_t *p = reserve(encoder, entry->size);
    *p++ = (uint8_t)id;
    for (const uint8_t *code = entry->fields; *code != 0; code++) {
        const wire_field *field = &wire_fields[*code];
        wire_store(p, field_value(encoder, field, event), field->width);
        p += field->width;
    }
}

/* The form whose time is just wide enough; a biased one cannot hold what the others can. */
static unsigned fitting_item(const sb_wire_encoder *encoder, unsigned item,
                             const sb_wire_event *event) {
    const unsigned of_16 = wire_item_shorter(item, 2);
    if (of_16 == item || encoder->protocol->ids[of_16] == WIRE_NO_ID)
        return item;
    const bool is_sample = event->kind == SB_WIRE_CALLSTACK_SAMPLE;
    const uint64_t reference = encoder->references[is_sample ? WIRE_SWITCH_TIME : WIRE_THREAD_TIME];
    const uint64_t distance = (uint64_t)event->time - reference;
    if (distance < LIMIT_16)
        return of_16;
    return distance < LIMIT_32 ? wire_item_shorter(item, 4) : item;
}

/* ---- texts and other data ---- */

static void put_data(uint8_t *to, sb_slice data) {
    if (data.size > 0)
        memcpy(to, data.data, data.size);
}

static void write_text(sb_wire_encoder *encoder, unsigned wire_register, sb_slice text) {
    const sb_wire_protocol *protocol = encoder->protocol;
    const unsigned short_id = protocol->ids[wire_item_filling(wire_register, WIRE_STRING_8)];
    const unsigned long_id = protocol->ids[wire_item_filling(wire_register, WIRE_STRING_16)];
    const sb_slice kept = sb_slice_first(text, TEXT_MAX);
    const bool is_short = short_id != WIRE_NO_ID && kept.size <= SHORT_TEXT_MAX;
    const size_t head = is_short ? 2 : 3;
    uint8_t *p = reserve(encoder, head + kept.size);
    p[0] = (uint8_t)(is_short ? short_id : long_id);
    if (is_short)
        p[1] = (uint8_t)kept.size;
    else
        wire_store(p + 1, kept.size - protocol->string_bias, 2);
    put_data(p + head, kept);
}

static void write_transfer(sb_wire_encoder *encoder, unsigned item, uint64_t token, sb_slice data) {
    enum { TOKEN_END = 9 };
    const unsigned id = encoder->protocol->ids[item];
    const size_t head = encoder->protocol->entries[id].size;
    const size_t room =
        wire_items[item].shape == WIRE_TRANSFER_16 ? (size_t)TEXT_MAX : SB_WIRE_FRAME_MAX - head;
    const sb_slice kept = sb_slice_first(data, room);
    uint8_t *p = reserve(encoder, head + kept.size);
    p[0] = (uint8_t)id;
    wire_store_64(p + 1, token);
    wire_store(p + TOKEN_END, kept.size, (unsigned)head - TOKEN_END);
    put_data(p + head, kept);
}

static void write_location(sb_wire_encoder *encoder, const sb_wire_event *event) {
    enum { PART_MAX = TEXT_MAX / 3 - LOCATION_HEAD };
    const sb_slice function = sb_slice_first(event->function_text, PART_MAX);
    const sb_slice file = sb_slice_first(event->file_text, PART_MAX);
    const sb_slice name = sb_slice_first(event->text, PART_MAX);
    const unsigned item = wire_item_filling(WIRE_REGISTER_LOCATION, WIRE_TRANSFER_16);
    const unsigned id = encoder->protocol->ids[item];
    const size_t head = encoder->protocol->entries[id].size;
    const size_t size = LOCATION_HEAD + function.size + 1 + file.size + 1 + name.size;
    uint8_t *p = reserve(encoder, head + size);
    p[0] = (uint8_t)id;
    wire_store_64(p + 1, 0);
    wire_store(p + head - 2, size, 2);
    p += head;
    wire_store(p, event->colour, 4);
    wire_store(p + 4, event->line, 4);
    p += LOCATION_HEAD;
    put_data(p, function);
    p[function.size] = 0;
    p += function.size + 1;
    put_data(p, file);
    p[file.size] = 0;
    put_data(p + file.size + 1, name);
}

static void write_pool(sb_wire_encoder *encoder, const sb_wire_event *event) {
    write_fixed(encoder, wire_item_filling(WIRE_REGISTER_POOL, WIRE_FIXED), event);
}

/* What the item will take, in the order real programs send it. */
static void fill_registers(sb_wire_encoder *encoder, unsigned takes, const sb_wire_event *event) {
    if ((takes & WIRE_REGISTER_STACK) != 0 &&
        (event->payload.size > 0 || (takes & WIRE_REGISTER_SCRIPT) == 0))
        write_transfer(encoder, wire_item_filling(WIRE_REGISTER_STACK, WIRE_TRANSFER_16), 0,
                       event->payload);
    if ((takes & WIRE_REGISTER_SCRIPT) != 0)
        write_transfer(encoder, wire_item_filling(WIRE_REGISTER_SCRIPT, WIRE_TRANSFER_16), 0,
                       event->script);
    if ((takes & WIRE_REGISTER_LOCATION) != 0)
        write_location(encoder, event);
    if ((takes & WIRE_REGISTER_TEXT) != 0)
        write_text(encoder, WIRE_REGISTER_TEXT, event->text);
    if ((takes & WIRE_REGISTER_SECOND) != 0)
        write_text(encoder, WIRE_REGISTER_SECOND, event->file_text);
    if ((takes & WIRE_REGISTER_IMAGE) != 0)
        write_transfer(encoder, wire_item_filling(WIRE_REGISTER_IMAGE, WIRE_TRANSFER_32), 0,
                       event->payload);
    if ((takes & WIRE_REGISTER_POOL) != 0)
        write_pool(encoder, event);
}

/* ---- events ---- */

void sb_wire_encode_thread(sb_wire_encoder *encoder, uint32_t thread) {
    const unsigned id = encoder->protocol->ids[wire_item_thread_context()];
    uint8_t *p = reserve(encoder, THREAD_ITEM_SIZE);
    p[0] = (uint8_t)id;
    wire_store(p + 1, thread, 4);
    encoder->thread = thread;
    encoder->has_thread = true;
    encoder->references[WIRE_THREAD_TIME] = 0;
}

bool sb_wire_encoder_is_in(const sb_wire_encoder *encoder, uint32_t thread) {
    return encoder->has_thread && encoder->thread == thread;
}

static unsigned find_item(const sb_wire_encoder *encoder, const sb_wire_event *event) {
    if (event->kind == SB_WIRE_HARDWARE_SAMPLE)
        return wire_item_of(event->kind, event->form, event->type);
    return encoder->items[event->kind][event->form];
}

bool sb_wire_encode(sb_wire_encoder *encoder, const sb_wire_event *event) {
    assert(event->kind < SB_WIRE_KINDS);
    const unsigned item = event->kind == SB_WIRE_NOTHING ? WIRE_NO_ID : find_item(encoder, event);
    if (item == WIRE_NO_ID)
        return false;
    const wire_item *row = &wire_items[item];
    if (row->of_thread && (!encoder->has_thread || event->thread != encoder->thread))
        sb_wire_encode_thread(encoder, event->thread);
    if (row->shape != WIRE_FIXED) {
        write_transfer(encoder, item, event->token,
                       row->shape == WIRE_TRANSFER_32 ? event->payload : event->text);
        return true;
    }
    fill_registers(encoder, row->takes, event);
    write_fixed(encoder, fitting_item(encoder, item, event), event);
    return true;
}

/* ---- zones ---- */

/* The ids of one of the two items by the width of its time, and whether there are shorter ones. */
typedef struct zone_ids {
    uint8_t of_64;
    uint8_t of_32;
    uint8_t of_16;
    bool is_compact;
} zone_ids;

static zone_ids ids_of_zone(const sb_wire_encoder *encoder, sb_wire_kind kind) {
    const uint8_t *ids = encoder->protocol->ids;
    const unsigned item = encoder->items[kind][0];
    zone_ids found = {.of_64 = ids[item]};
    found.of_32 = ids[wire_item_shorter(item, 4)];
    found.of_16 = ids[wire_item_shorter(item, 2)];
    found.is_compact = found.of_16 != WIRE_NO_ID;
    return found;
}

/* Writes id and time; returns what follows them. The room reaches beyond what is used. */
static uint8_t *put_zone_time(uint8_t *p, const zone_ids *ids, uint64_t distance) {
    if (!ids->is_compact || distance >= LIMIT_32) {
        const bool is_biased = ids->is_compact && (int64_t)distance >= 0;
        p[0] = ids->of_64;
        wire_store_64(p + 1, is_biased ? distance - LIMIT_32 : distance);
        return p + 9;
    }
    if (distance < LIMIT_16) {
        p[0] = ids->of_16;
        wire_store_64(p + 1, distance);
        return p + 3;
    }
    p[0] = ids->of_32;
    wire_store_64(p + 1, distance - LIMIT_16);
    return p + 5;
}

/* Begins and ends, as many as there is room for in any case; returns what follows them. */
static uint8_t *put_zones(const sb_wire_encoder *encoder, uint8_t *p, const sb_wire_zone *zones,
                          size_t count, uint64_t reference) {
    const zone_ids begin = ids_of_zone(encoder, SB_WIRE_ZONE_BEGIN);
    const zone_ids end = ids_of_zone(encoder, SB_WIRE_ZONE_END);
    for (size_t i = 0; i < count; i++) {
        const uint64_t time = (uint64_t)zones[i].time;
        const uint64_t token = zones[i].token;
        if (token == SB_WIRE_END_ZONE) {
            p = put_zone_time(p, &end, time - reference);
        } else {
            p = put_zone_time(p, &begin, time - reference);
            wire_store_64(p, token);
            p += 8;
        }
        reference = time;
    }
    return p;
}

void sb_wire_encode_zones(sb_wire_encoder *encoder, const sb_wire_zone *zones, size_t count) {
    uint64_t *reference = &encoder->references[WIRE_THREAD_TIME];
    while (count > 0) {
        const size_t room = (SB_WIRE_FRAME_MAX - encoder->used) / ZONE_SIZE_MAX;
        if (room == 0) {
            sb_wire_encoder_flush(encoder);
            continue;
        }
        const size_t part = count < room ? count : room;
        uint8_t *p = encoder->frame + encoder->used;
        const uint8_t *after = put_zones(encoder, p, zones, part, *reference);
        encoder->used += (size_t)(after - p);
        *reference = (uint64_t)zones[part - 1].time;
        zones += part;
        count -= part;
    }
}
