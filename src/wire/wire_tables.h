/*
 * The tables behind the protocols, for the files of this module only.
 *
 * An item is what an id byte introduces. wire_items.c lists all items in the order of their ids and
 * says for each since when it exists, how its bytes are laid out in which versions, which event it
 * becomes, and which registers it fills or takes from. wire_protocol.c makes a table per protocol
 * out of that: the ids follow from counting, the sizes from adding up.
 */
#ifndef SB_WIRE_TABLES_H
#define SB_WIRE_TABLES_H

#include "wire/wire_event.h"
#include "wire/wire_protocol.h"

/* ---- fields: how a member of an event is stored ---- */

/* How the number is stored; the four references of time are named by what they belong to. */
typedef enum wire_coding {
    WIRE_UNSIGNED,
    WIRE_SIGNED,
    WIRE_FLOAT,
    WIRE_DELTA,    /* distance from a reference, which moves along */
    WIRE_BIASED,   /* the same, with the values of the shorter forms left out */
    WIRE_TAG_HIGH, /* a token with the metadata in its top byte */
    WIRE_TAG_LOW,  /* ... in its lowest */
} wire_coding;

typedef enum wire_reference {
    WIRE_THREAD_TIME,
    WIRE_SERIAL_TIME,
    WIRE_SWITCH_TIME,
    WIRE_DEVICE_TIME,
    WIRE_REFERENCES,
} wire_reference;

typedef struct wire_field {
    uint8_t width;  /* bytes on the wire */
    uint8_t coding; /* wire_coding */
    uint8_t reference;
    uint8_t member_size; /* bytes in the event */
    uint16_t member;     /* offset in the event */
    uint32_t bias;       /* added to what a shorter form holds */
} wire_field;

enum { WIRE_FIELDS_MAX = 10 };

/* ---- items ---- */

typedef enum wire_shape {
    WIRE_FIXED,       /* fields only */
    WIRE_STRING_8,    /* a length of one byte and a text for a register */
    WIRE_STRING_16,   /* of two */
    WIRE_TRANSFER_16, /* a token, a length of two bytes, data */
    WIRE_TRANSFER_32, /* of four */
} wire_shape;

/* Where values wait for the item that takes them. */
enum {
    WIRE_REGISTER_TEXT = 1,
    WIRE_REGISTER_SECOND = 2,
    WIRE_REGISTER_LOCATION = 4,
    WIRE_REGISTER_STACK = 8,
    WIRE_REGISTER_SCRIPT = 16,
    WIRE_REGISTER_IMAGE = 32,
    WIRE_REGISTER_POOL = 64,
};

typedef struct wire_item {
    const char *name;
    uint8_t since;    /* the first protocol that has it */
    uint8_t flavours; /* bits: sb_wire_flavour */
    uint8_t kind;     /* the event it becomes; SB_WIRE_NOTHING: it only fills a register */
    uint8_t form;
    uint8_t type; /* for kinds that come as several items */
    uint8_t shape;
    uint8_t fills; /* registers */
    uint8_t takes;
    bool of_thread; /* belongs to the current thread */
} wire_item;

/* A layout that holds for some versions of an item. */
typedef struct wire_layout {
    uint8_t item;
    uint8_t since;
    uint8_t until;
    uint8_t flavours;
    uint8_t fields[WIRE_FIELDS_MAX]; /* ended by 0 */
} wire_layout;

/* Sets of flavours. */
enum {
    WIRE_LATE = 1 << SB_WIRE_UPSTREAM,
    WIRE_FORK = 1 << SB_WIRE_TENSTORRENT,
    WIRE_EARLY = 1 << SB_WIRE_EARLY,
    WIRE_UPSTREAM = WIRE_LATE | WIRE_EARLY,
    WIRE_BOTH = WIRE_UPSTREAM | WIRE_FORK,
};

enum { WIRE_ITEMS_MAX = 140, WIRE_NO_ID = 255 };

extern const wire_field wire_fields[];
extern const wire_item wire_items[];
extern const size_t wire_item_count;
extern const wire_layout wire_layouts[];
extern const size_t wire_layout_count;

/* The item that names the current thread: the one that codecs act upon themselves. */
unsigned wire_item_thread_context(void);
/* The items that fill a register; WIRE_NO_ID for the pool's, which has fields. */
unsigned wire_item_filling(unsigned wire_register, unsigned shape);

/* ---- protocols ---- */

/* How zone items of one id are read without looking at what they are. */
typedef struct wire_quick {
    uint64_t time_mask;
    uint64_t time_bias;  /* added unless the number is negative */
    uint64_t token_mask; /* 0 for the end of a zone */
    uint64_t token_or;   /* SB_WIRE_END_ZONE for the end of a zone */
    uint8_t token_at;
    uint8_t size; /* 0: not such an item */
} wire_quick;

typedef struct wire_entry {
    uint8_t item;
    uint8_t size; /* of the fixed part, id included */
    const uint8_t *fields;
} wire_entry;

struct sb_wire_protocol {
    uint8_t number;
    uint8_t flavour;
    bool is_release;
    bool has_delay; /* in the welcome */
    bool shows_hex;
    bool has_severities;
    bool old_query_order;
    uint16_t string_bias; /* subtracted from the lengths of 16-bit strings */
    const char *name;
    unsigned count; /* of ids */
    wire_entry entries[WIRE_ITEMS_MAX];
    uint8_t ids[WIRE_ITEMS_MAX]; /* by item; WIRE_NO_ID: not there */
    wire_quick quick[256];
};

/* The item that an event of this kind, form and type becomes, or WIRE_NO_ID. */
unsigned wire_item_of(unsigned kind, unsigned form, unsigned type);
/* The forms of an item with a shorter time; the item itself where there are none. */
unsigned wire_item_shorter(unsigned item, unsigned time_width);

/* ---- numbers ---- */

static inline uint64_t wire_load(const uint8_t *bytes, unsigned width) {
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static inline void wire_store(uint8_t *bytes, uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

/* Compilers know this one as a single load. */
static inline uint64_t wire_load_64(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static inline void wire_store_64(uint8_t *bytes, uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(bytes, &value, sizeof value);
}

#endif
