#include "wire/wire_decoder.h"

#include <stdlib.h>

#include "wire/wire_tables.h"

enum {
    RUN_MAX = 1024,     /* zones that are handed over at once */
    QUICK_REACH = 24,   /* bytes that reading a zone item may touch */
    REGISTER_COUNT = 6, /* those that hold bytes: text to image */
    LOCATION_HEAD = 8,
    KEPT_SIZE = 262144, /* a register holds no more than a frame */
};

struct sb_wire_decoder {
    const sb_wire_protocol *protocol;
    const sb_wire_protocol *rival; /* the other flavour, as long as it may be that; else NULL */
    sb_wire_handler handler;
    uint64_t references[WIRE_REFERENCES];
    uint32_t thread;
    uint64_t pool;
    uint64_t offset;                    /* of the frame in the stream */
    sb_slice registers[REGISTER_COUNT]; /* by the bit of WIRE_REGISTER_...; no data: empty */
    char *kept[REGISTER_COUNT];         /* their bytes between frames; KEPT_SIZE each */
    size_t zone_count;
    sb_wire_zone zones[RUN_MAX];
};

sb_wire_decoder *sb_wire_decoder_create(const sb_wire_protocol *protocol, bool is_certain,
                                        const sb_wire_handler *handler) {
    sb_wire_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return NULL;
    decoder->protocol = protocol;
    decoder->handler = *handler;
    decoder->rival = is_certain ? NULL : sb_wire_protocol_rival(protocol);
    return decoder;
}

void sb_wire_decoder_free(sb_wire_decoder *decoder) {
    if (decoder == NULL)
        return;
    for (size_t i = 0; i < REGISTER_COUNT; i++)
        free(decoder->kept[i]);
    free(decoder);
}

const sb_wire_protocol *sb_wire_decoder_protocol(const sb_wire_decoder *decoder) {
    return decoder->protocol;
}

uint64_t sb_wire_decoder_offset(const sb_wire_decoder *decoder) {
    return decoder->offset;
}

/* ---- sizes ---- */

/* How long the item at p is, head and data; 0 if it does not fit before end. */
static size_t item_size(const sb_wire_protocol *protocol, const uint8_t *p, const uint8_t *end) {
    const wire_entry *entry = &protocol->entries[p[0]];
    size_t size = entry->size;
    const size_t left = (size_t)(end - p);
    if (left < size)
        return 0;
    switch (wire_items[entry->item].shape) {
    case WIRE_STRING_8:
        size += p[1];
        break;
    case WIRE_STRING_16:
        size += wire_load(p + 1, 2) + protocol->string_bias;
        break;
    case WIRE_TRANSFER_16:
        size += wire_load(p + 9, 2);
        break;
    case WIRE_TRANSFER_32:
        size += wire_load(p + 9, 4);
        break;
    default:
        break;
    }
    return size <= left ? size : 0;
}

/* How well items of a protocol go with bytes. */
typedef enum fit { FITS_NOT, FITS_IN_SIZE, FITS } fit;

/*
 * Do whole items of this protocol fill the bytes exactly, and does each that takes a text or a
 * location come after one? `filled` are the registers that hold something before.
 */
static fit fit_of(const sb_wire_protocol *protocol, unsigned filled, const uint8_t *p,
                  const uint8_t *end) {
    const unsigned needed = WIRE_REGISTER_TEXT | WIRE_REGISTER_LOCATION;
    fit found = FITS;
    while (p < end) {
        const size_t size = p[0] < protocol->count ? item_size(protocol, p, end) : 0;
        if (size == 0)
            return FITS_NOT;
        const wire_item *item = &wire_items[protocol->entries[p[0]].item];
        if ((item->takes & needed & ~filled) != 0)
            found = FITS_IN_SIZE;
        filled = (filled & ~(unsigned)item->takes) | item->fills;
        p += size;
    }
    return found;
}

/* ---- which flavour ---- */

static void settle(sb_wire_decoder *decoder, const sb_wire_protocol *protocol) {
    decoder->protocol = protocol;
    decoder->rival = NULL;
}

static unsigned filled_registers(const sb_wire_decoder *decoder) {
    unsigned filled = 0;
    for (unsigned i = 0; i < REGISTER_COUNT; i++)
        filled |= decoder->registers[i].data != NULL ? 1U << i : 0;
    return filled;
}

/*
 * Ids that differ show in the first frame; sizes that differ show in the first item that has
 * another size. In both cases the flavour is the one whose items fit the frame better.
 */
static void compare_flavours(sb_wire_decoder *decoder, const uint8_t *p, const uint8_t *end) {
    const unsigned filled = filled_registers(decoder);
    const fit ours = fit_of(decoder->protocol, filled, p, end);
    const fit theirs = fit_of(decoder->rival, filled, p, end);
    if (ours != theirs)
        settle(decoder, ours > theirs ? decoder->protocol : decoder->rival);
}

/* When both fit: upstream's type of a context is never 0, and the fork's flags are 0 or 1. */
static void judge_context(sb_wire_decoder *decoder, const uint8_t *p, const uint8_t *end) {
    enum { THREAD_AT = 17, DECIDING_AT = 27 };
    if (decoder->rival == NULL || end - p <= DECIDING_AT + 1)
        return;
    const bool ours_is_fork = decoder->protocol->flavour == SB_WIRE_TENSTORRENT;
    const unsigned deciding = p[DECIDING_AT];
    const bool is_fork = deciding == 0 || (deciding == 1 && p[DECIDING_AT + 1] > 1 &&
                                           wire_load(p + THREAD_AT, 4) == 0);
    settle(decoder, is_fork == ours_is_fork ? decoder->protocol : decoder->rival);
}

static void decide_flavour(sb_wire_decoder *decoder, const uint8_t *p, const uint8_t *end) {
    const unsigned item = decoder->protocol->entries[p[0]].item;
    compare_flavours(decoder, p, end);
    if (wire_items[item].kind == SB_WIRE_DEVICE_CONTEXT)
        judge_context(decoder, p, end);
}

/* ---- fields ---- */

static uint64_t read_number(sb_wire_decoder *decoder, const wire_field *field, const uint8_t *p) {
    const uint64_t widest_bias = (UINT64_C(1) << 16) + (UINT64_C(1) << 32);
    uint64_t value = wire_load(p, field->width);
    const unsigned unused_bits = 64 - 8 * field->width;
    switch (field->coding) {
    case WIRE_SIGNED:
        return (uint64_t)((int64_t)(value << unused_bits) >> unused_bits);
    case WIRE_BIASED:
        value += (int64_t)value < 0 ? 0 : widest_bias;
        break;
    case WIRE_DELTA:
        value += field->bias;
        break;
    default:
        return value;
    }
    decoder->references[field->reference] += value;
    return decoder->references[field->reference];
}

static double read_real(const wire_field *field, const uint8_t *p) {
    double value = 0;
    float narrow = 0;
    const uint64_t bits = wire_load(p, field->width);
    const uint32_t low_bits = (uint32_t)bits;
    if (field->width == sizeof value) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    memcpy(&narrow, &low_bits, sizeof narrow);
    return narrow;
}

static void store_member(sb_wire_event *event, const wire_field *field, uint64_t value) {
    char *member = (char *)event + field->member;
    const uint8_t value_8 = (uint8_t)value;
    const uint16_t value_16 = (uint16_t)value;
    const uint32_t value_32 = (uint32_t)value;
    switch (field->member_size) {
    case sizeof value_8:
        memcpy(member, &value_8, sizeof value_8);
        break;
    case sizeof value_16:
        memcpy(member, &value_16, sizeof value_16);
        break;
    case sizeof value_32:
        memcpy(member, &value_32, sizeof value_32);
        break;
    default:
        memcpy(member, &value, sizeof value);
    }
}

static void read_fields(sb_wire_decoder *decoder, const uint8_t *fields, const uint8_t *p,
                        sb_wire_event *event) {
    enum { TAG_BITS = 8, TAG_SHIFT = 56 };
    for (; *fields != 0; fields++) {
        const wire_field *field = &wire_fields[*fields];
        uint64_t value = read_number(decoder, field, p);
        if (field->coding == WIRE_FLOAT) {
            event->number = read_real(field, p);
        } else if (field->coding == WIRE_TAG_HIGH) {
            event->metadata = (uint8_t)(value >> TAG_SHIFT);
            event->token = value & ((UINT64_C(1) << TAG_SHIFT) - 1);
        } else if (field->coding == WIRE_TAG_LOW) {
            event->metadata = (uint8_t)value;
            event->token = value >> TAG_BITS;
        } else {
            store_member(event, field, value);
        }
        p += field->width;
    }
}

/* ---- registers ---- */

static unsigned register_index(unsigned wire_register) {
    return (unsigned)__builtin_ctz(wire_register);
}

static void fill_register(sb_wire_decoder *decoder, unsigned wire_register, sb_slice data) {
    decoder->registers[register_index(wire_register)] = data;
}

static sb_slice take_register(sb_wire_decoder *decoder, unsigned takes, unsigned wire_register) {
    if ((takes & wire_register) == 0)
        return (sb_slice){NULL, 0};
    sb_slice *slot = &decoder->registers[register_index(wire_register)];
    const sb_slice data = *slot;
    *slot = (sb_slice){NULL, 0};
    return data;
}

/* Colour, line, function, NUL, file, NUL, name. */
static bool parse_location(sb_slice data, sb_wire_event *event) {
    if (data.size < LOCATION_HEAD)
        return false;
    const uint8_t *head = (const uint8_t *)data.data;
    sb_slice rest = sb_slice_after(data, LOCATION_HEAD);
    const char *first_end = rest.size == 0 ? NULL : memchr(rest.data, '\0', rest.size);
    if (first_end == NULL)
        return false;
    event->function_text = sb_slice_cut(rest, '\0', &rest);
    if (rest.size == 0 || memchr(rest.data, '\0', rest.size) == NULL)
        return false;
    event->file_text = sb_slice_cut(rest, '\0', &rest);
    event->text = rest;
    event->colour = (uint32_t)wire_load(head, 4);
    event->line = (uint32_t)wire_load(head + 4, 4);
    return true;
}

static bool take_registers(sb_wire_decoder *decoder, unsigned takes, sb_wire_event *event) {
    const sb_slice text = take_register(decoder, takes, WIRE_REGISTER_TEXT);
    const sb_slice second = take_register(decoder, takes, WIRE_REGISTER_SECOND);
    const sb_slice stack = take_register(decoder, takes, WIRE_REGISTER_STACK);
    const sb_slice image = take_register(decoder, takes, WIRE_REGISTER_IMAGE);
    event->script = take_register(decoder, takes, WIRE_REGISTER_SCRIPT);
    if ((takes & WIRE_REGISTER_TEXT) != 0)
        event->text = text;
    if ((takes & WIRE_REGISTER_SECOND) != 0)
        event->file_text = second;
    event->payload = image.size > 0 ? image : stack;
    if ((takes & WIRE_REGISTER_POOL) != 0) {
        event->pool = decoder->pool;
        decoder->pool = 0;
    }
    if ((takes & WIRE_REGISTER_LOCATION) == 0)
        return true;
    return parse_location(take_register(decoder, takes, WIRE_REGISTER_LOCATION), event);
}

/* What waits for its taker must outlive the frame. False without memory. */
static bool keep_registers(sb_wire_decoder *decoder) {
    for (size_t i = 0; i < REGISTER_COUNT; i++) {
        sb_slice *slot = &decoder->registers[i];
        if (slot->size == 0 || slot->data == decoder->kept[i])
            continue;
        if (decoder->kept[i] == NULL)
            decoder->kept[i] = malloc(KEPT_SIZE);
        if (decoder->kept[i] == NULL)
            return false;
        memcpy(decoder->kept[i], slot->data, slot->size);
        slot->data = decoder->kept[i];
    }
    return true;
}

/* ---- items ---- */

static void hand_over_zones(sb_wire_decoder *decoder) {
    if (decoder->zone_count > 0)
        decoder->handler.zones(decoder->handler.context, decoder->thread, decoder->zones,
                               decoder->zone_count);
    decoder->zone_count = 0;
}

static void add_zone(sb_wire_decoder *decoder, int64_t time, uint64_t token) {
    decoder->zones[decoder->zone_count++] = (sb_wire_zone){time, token};
    if (decoder->zone_count == RUN_MAX)
        hand_over_zones(decoder);
}

static void hand_over(sb_wire_decoder *decoder, const sb_wire_event *event) {
    if (event->kind == SB_WIRE_ZONE_END) {
        add_zone(decoder, event->time, SB_WIRE_END_ZONE);
    } else if (event->kind == SB_WIRE_ZONE_BEGIN && event->form == 0) {
        add_zone(decoder, event->time, event->token);
    } else {
        hand_over_zones(decoder);
        decoder->handler.event(decoder->handler.context, event);
    }
}

static sb_slice bytes_of(const uint8_t *p, size_t size) {
    return (sb_slice){(const char *)p, size};
}

/* An item with data: for a register, or an answer. */
static void take_data(sb_wire_decoder *decoder, const wire_item *item, const uint8_t *p,
                      size_t head, size_t size) {
    const sb_slice data = bytes_of(p + head, size - head);
    if (item->fills != 0) {
        fill_register(decoder, item->fills, data);
        return;
    }
    const sb_wire_event event = {
        .kind = item->kind, .token = wire_load(p + 1, 8), .text = data, .payload = data};
    hand_over(decoder, &event);
}

static bool take_fixed(sb_wire_decoder *decoder, const wire_entry *entry, const uint8_t *p) {
    const wire_item *item = &wire_items[entry->item];
    sb_wire_event event = {.kind = item->kind, .form = item->form, .type = item->type};
    if (item->of_thread)
        event.thread = decoder->thread;
    read_fields(decoder, entry->fields, p + 1, &event);
    if (entry->item == wire_item_thread_context()) {
        hand_over_zones(decoder);
        decoder->thread = event.thread;
        decoder->references[WIRE_THREAD_TIME] = 0;
        return true;
    }
    if (item->fills != 0)
        decoder->pool = event.pool;
    if (item->takes != 0 && !take_registers(decoder, item->takes, &event))
        return false;
    if (item->kind != SB_WIRE_NOTHING)
        hand_over(decoder, &event);
    return true;
}

/* Zones as long as there is nothing else; returns where it stopped. */
static const uint8_t *take_zones(sb_wire_decoder *decoder, const uint8_t *p, const uint8_t *end) {
    const wire_quick *table = decoder->protocol->quick;
    uint64_t time = decoder->references[WIRE_THREAD_TIME];
    sb_wire_zone *zone = decoder->zones + decoder->zone_count;
    while (end - p >= QUICK_REACH) {
        const wire_quick *quick = &table[p[0]];
        if (quick->size == 0)
            break;
        const uint64_t stored = wire_load_64(p + 1) & quick->time_mask;
        /* The bias is for numbers that are not negative: no branch, since it cannot be foreseen. */
        time += stored + (quick->time_bias & ~(uint64_t)((int64_t)stored >> 63));
        zone->time = (int64_t)time;
        zone->token = (wire_load_64(p + quick->token_at) & quick->token_mask) | quick->token_or;
        p += quick->size;
        if (++zone == decoder->zones + RUN_MAX) {
            decoder->zone_count = RUN_MAX;
            hand_over_zones(decoder);
            zone = decoder->zones;
        }
    }
    decoder->zone_count = (size_t)(zone - decoder->zones);
    decoder->references[WIRE_THREAD_TIME] = time;
    return p;
}

static bool take_item(sb_wire_decoder *decoder, const uint8_t *p, size_t size) {
    const wire_entry *entry = &decoder->protocol->entries[p[0]];
    const wire_item *item = &wire_items[entry->item];
    if (item->shape == WIRE_FIXED)
        return take_fixed(decoder, entry, p);
    take_data(decoder, item, p, entry->size, size);
    return true;
}

/* ---- frames ---- */

static bool may_be_rival(const sb_wire_decoder *decoder, unsigned id) {
    return decoder->rival != NULL && id < decoder->protocol->count &&
           decoder->rival->entries[id].size != decoder->protocol->entries[id].size;
}

/* What came before the item is sound, and is handed over. */
static sb_status refuse(sb_wire_decoder *decoder, sb_slice frame, const uint8_t *p,
                        const char *reason, sb_error *error) {
    hand_over_zones(decoder);
    const uint64_t within = (uint64_t)((const char *)p - frame.data);
    const char *name = p[0] < decoder->protocol->count
                           ? wire_items[decoder->protocol->entries[p[0]].item].name
                           : "unknown";
    SB_FAIL(error, SB_ERR_FORMAT, "protocol %s: item %s (id %u) at offset %llu of the stream %s",
            decoder->protocol->name, name, p[0], (unsigned long long)(decoder->offset + within),
            reason);
}

sb_status sb_wire_decode(sb_wire_decoder *decoder, sb_slice frame, sb_error *error) {
    const uint8_t *p = (const uint8_t *)frame.data;
    const uint8_t *end = p + frame.size;
    if (decoder->rival != NULL && decoder->rival->count != decoder->protocol->count)
        compare_flavours(decoder, p, end);
    while (p < end) {
        p = take_zones(decoder, p, end);
        if (p >= end)
            break;
        if (may_be_rival(decoder, p[0]))
            decide_flavour(decoder, p, end);
        if (p[0] >= decoder->protocol->count)
            return refuse(decoder, frame, p, "does not exist", error);
        const size_t size = item_size(decoder->protocol, p, end);
        if (size == 0)
            return refuse(decoder, frame, p, "reaches past the end of its frame", error);
        if (!take_item(decoder, p, size))
            return refuse(decoder, frame, p, "has a malformed source location before it", error);
        p += size;
    }
    hand_over_zones(decoder);
    decoder->offset += frame.size;
    if (!keep_registers(decoder))
        SB_FAIL(error, SB_ERR_LIMIT, "no memory");
    return SB_OK;
}
