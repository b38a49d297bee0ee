/*
 * One record in a chunk, and what the parts of the translation share.
 */
#ifndef SB_RECORD_CURSOR_H
#define SB_RECORD_CURSOR_H

#include "record/record_translate.h"

typedef struct record_cursor {
    uint32_t kind;
    uint32_t size; /* in words */
    int64_t ticks;
    const uint64_t *words;
    sb_slice payload;
} record_cursor;

typedef enum record_reading { RECORD_READ, RECORD_NOTHING_YET, RECORD_MALFORMED } record_reading;

/* Reads the record at `at`; every size is checked against `end`. `before` is the last time. */
record_reading record_read(record_cursor *record, const uint64_t *at, const uint64_t *end,
                           int64_t before);

/* The full time of a stamp that is less than half of the counter's 56 bits away from `before`. */
static inline int64_t record_unwrap(int64_t before, uint64_t stamp) {
    const int64_t step = (int64_t)((stamp & ~UINT64_C(0xff)) - ((uint64_t)before << 8)) >> 8;
    return before + step;
}

static inline uint32_t record_low(uint64_t word) {
    return (uint32_t)word;
}

static inline uint32_t record_high(uint64_t word) {
    return (uint32_t)(word >> 32);
}

/* Memory, locks and devices: what all threads write into one lane. */
void record_take_serial(sb_record_translator *translator, sb_record_lane *lane,
                        const record_cursor *record);

/* An event to the handler, behind the zones that wait. */
void record_send(sb_record_translator *translator, const sb_wire_event *event);
/* Sends the call stack that waits for this record, if one does; the form bit that says so. */
uint8_t record_taken_stack(sb_record_translator *translator, sb_record_lane *lane);

typedef struct record_texts {
    sb_slice name; /* data NULL: none */
    sb_slice function;
    sb_slice file;
} record_texts;

/* Cuts a payload into the three texts of a location. */
record_texts record_cut_texts(sb_slice payload, uint64_t sizes);

#endif
