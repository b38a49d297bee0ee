/*
 * Makes the table of each protocol out of the items and layouts.
 */
#include "wire/wire_protocol.h"

#include <pthread.h>

#include "wire/wire_item_names.h"
#include "wire/wire_tables.h"

/* ---- which there are ---- */

typedef struct release {
    uint8_t number;
    uint8_t flavour;
    bool is_release;
    const char *name;
} release;

/* In the order in which a recorder that knows nothing tries them. */
static const release releases[] = {
    {82, SB_WIRE_UPSTREAM, true, "82 (Tracy 0.14)"},
    {83, SB_WIRE_TENSTORRENT, true, "83 (Tenstorrent's Tracy on 0.14)"},
    {76, SB_WIRE_UPSTREAM, true, "76 (Tracy 0.13)"},
    {76, SB_WIRE_TENSTORRENT, true, "76 (Tenstorrent's Tracy 0.12.4)"},
    {79, SB_WIRE_TENSTORRENT, true, "79 (Tenstorrent's Tracy on 0.13)"},
    {66, SB_WIRE_UPSTREAM, true, "66 (Tracy 0.11.0)"},
    {66, SB_WIRE_TENSTORRENT, true, "66 (Tenstorrent's Tracy 0.10.0)"},
    {74, SB_WIRE_UPSTREAM, true, "74 (Tracy 0.12)"},
    {69, SB_WIRE_UPSTREAM, true, "69 (Tracy 0.11.1)"},
    {64, SB_WIRE_UPSTREAM, true, "64 (Tracy 0.10)"},
    {63, SB_WIRE_UPSTREAM, true, "63 (Tracy 0.9)"},
    {81, SB_WIRE_UPSTREAM, false, "81 (Tracy between 0.13 and 0.14)"},
    {80, SB_WIRE_UPSTREAM, false, "80 (Tracy between 0.13 and 0.14)"},
    {79, SB_WIRE_UPSTREAM, false, "79 (Tracy between 0.13 and 0.14)"},
    {78, SB_WIRE_UPSTREAM, false, "78 (Tracy between 0.13 and 0.14)"},
    {77, SB_WIRE_UPSTREAM, false, "77 (Tracy between 0.13 and 0.14)"},
    {77, SB_WIRE_TENSTORRENT, false, "77 (Tenstorrent's Tracy on 0.13)"},
    {75, SB_WIRE_UPSTREAM, false, "75 (Tracy between 0.12 and 0.13)"},
    {73, SB_WIRE_UPSTREAM, false, "73 (Tracy between 0.11.1 and 0.12)"},
    {72, SB_WIRE_UPSTREAM, false, "72 (Tracy between 0.11.1 and 0.12)"},
    {71, SB_WIRE_UPSTREAM, false, "71 (Tracy between 0.11.1 and 0.12)"},
    {70, SB_WIRE_UPSTREAM, false, "70 (Tracy between 0.11.1 and 0.12)"},
    {68, SB_WIRE_UPSTREAM, false, "68 (Tracy between 0.11.0 and 0.11.1)"},
    {67, SB_WIRE_UPSTREAM, false, "67 (Tracy between 0.11.0 and 0.11.1)"},
    {65, SB_WIRE_UPSTREAM, false, "65 (Tracy between 0.10 and 0.11.0)"},
    {82, SB_WIRE_EARLY, false, "82 (Tracy shortly before 0.14)"},
};

enum { PROTOCOLS = sizeof releases / sizeof releases[0] };

/* What is not an item but changed all the same: the first number with the new way. */
enum {
    WITHOUT_DELAY_SINCE = 75,
    LONG_STRINGS_BIASED_SINCE = 80,
    LONG_STRING_BIAS = 256,
    HEX_SHOWN_SINCE = 74,
    SEVERITIES_SINCE = 77,
    QUERIES_REORDERED_SINCE = 66,
};

static sb_wire_protocol protocols[PROTOCOLS];

/* ---- making them ---- */

static bool has_flavour(unsigned flavours, unsigned flavour) {
    return (flavours >> flavour & 1) != 0;
}

static const uint8_t *find_fields(const sb_wire_protocol *protocol, unsigned item) {
    static const uint8_t none[WIRE_FIELDS_MAX];
    for (size_t i = 0; i < wire_layout_count; i++) {
        const wire_layout *layout = &wire_layouts[i];
        if (layout->item == item && layout->since <= protocol->number &&
            layout->until >= protocol->number && has_flavour(layout->flavours, protocol->flavour))
            return layout->fields;
    }
    return none;
}

static uint8_t fixed_size(const wire_item *item, const uint8_t *fields) {
    static const uint8_t head_sizes[] = {[WIRE_FIXED] = 1,
                                         [WIRE_STRING_8] = 2,
                                         [WIRE_STRING_16] = 3,
                                         [WIRE_TRANSFER_16] = 11,
                                         [WIRE_TRANSFER_32] = 13};
    unsigned size = head_sizes[item->shape];
    for (unsigned i = 0; fields[i] != 0; i++)
        size += wire_fields[fields[i]].width;
    return (uint8_t)size;
}

static void number_items(sb_wire_protocol *protocol) {
    for (unsigned item = 0; item < wire_item_count; item++) {
        const wire_item *row = &wire_items[item];
        protocol->ids[item] = WIRE_NO_ID;
        if (row->since > protocol->number || !has_flavour(row->flavours, protocol->flavour))
            continue;
        wire_entry *entry = &protocol->entries[protocol->count];
        entry->item = (uint8_t)item;
        entry->fields = find_fields(protocol, item);
        entry->size = fixed_size(row, entry->fields);
        protocol->ids[item] = (uint8_t)protocol->count++;
    }
}

/* Zones with a static location, and ends: time first, then the token. */
static void make_quick(sb_wire_protocol *protocol) {
    const uint64_t widest_bias = (UINT64_C(1) << 16) + (UINT64_C(1) << 32);
    for (unsigned id = 0; id < protocol->count; id++) {
        const wire_entry *entry = &protocol->entries[id];
        const wire_item *item = &wire_items[entry->item];
        const bool is_end = item->kind == SB_WIRE_ZONE_END;
        if (!is_end && (item->kind != SB_WIRE_ZONE_BEGIN || item->form != 0))
            continue;
        const wire_field *time = &wire_fields[entry->fields[0]];
        wire_quick *quick = &protocol->quick[id];
        quick->size = entry->size;
        quick->time_mask = time->width == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * time->width)) - 1;
        quick->time_bias = time->coding == WIRE_BIASED ? widest_bias : time->bias;
        quick->token_at = is_end ? 1 : (uint8_t)(1 + time->width);
        quick->token_mask = is_end ? 0 : UINT64_MAX;
        quick->token_or = is_end ? SB_WIRE_END_ZONE : 0;
    }
}

static void make_protocols(void) {
    for (size_t i = 0; i < PROTOCOLS; i++) {
        sb_wire_protocol *protocol = &protocols[i];
        const unsigned number = releases[i].number;
        protocol->number = (uint8_t)number;
        protocol->flavour = releases[i].flavour;
        protocol->is_release = releases[i].is_release;
        protocol->name = releases[i].name;
        protocol->has_delay = number < WITHOUT_DELAY_SINCE;
        protocol->shows_hex = number >= HEX_SHOWN_SINCE;
        protocol->has_severities = number >= SEVERITIES_SINCE;
        protocol->old_query_order = number < QUERIES_REORDERED_SINCE;
        protocol->string_bias = number >= LONG_STRINGS_BIASED_SINCE ? LONG_STRING_BIAS : 0;
        number_items(protocol);
        make_quick(protocol);
    }
}

static void make_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_protocols);
}

/* ---- asking for them ---- */

const sb_wire_protocol *sb_wire_protocol_find(uint32_t number, sb_wire_flavour flavour) {
    make_once();
    for (size_t i = 0; i < PROTOCOLS; i++) {
        if (protocols[i].number == number && protocols[i].flavour == flavour)
            return &protocols[i];
    }
    return NULL;
}

const sb_wire_protocol *sb_wire_protocol_any(uint32_t number) {
    const sb_wire_protocol *upstream = sb_wire_protocol_find(number, SB_WIRE_UPSTREAM);
    return upstream != NULL ? upstream : sb_wire_protocol_find(number, SB_WIRE_TENSTORRENT);
}

const sb_wire_protocol *sb_wire_protocol_rival(const sb_wire_protocol *protocol) {
    for (size_t i = 0; i < PROTOCOLS; i++) {
        if (protocols[i].number == protocol->number && &protocols[i] != protocol)
            return &protocols[i];
    }
    return NULL;
}

size_t sb_wire_protocol_count(void) {
    return PROTOCOLS;
}

const sb_wire_protocol *sb_wire_protocol_at(size_t index) {
    make_once();
    return index < PROTOCOLS ? &protocols[index] : NULL;
}

uint32_t sb_wire_protocol_number(const sb_wire_protocol *protocol) {
    return protocol->number;
}

sb_wire_flavour sb_wire_protocol_flavour(const sb_wire_protocol *protocol) {
    return (sb_wire_flavour)protocol->flavour;
}

const char *sb_wire_protocol_name(const sb_wire_protocol *protocol) {
    return protocol->name;
}

bool sb_wire_protocol_shows_hex(const sb_wire_protocol *protocol) {
    return protocol->shows_hex;
}

bool sb_wire_protocol_has_severities(const sb_wire_protocol *protocol) {
    return protocol->has_severities;
}

bool sb_wire_protocol_is_release(const sb_wire_protocol *protocol) {
    return protocol->is_release;
}
