#include "device/profiler/profiler_decode.h"

#include <stdlib.h>

#define VALID 0x80000000u
/* Words in front of the markers, and behind them the guaranteed ones. */
#define HEAD_WORDS 4u
#define GUARANTEED_WORDS 12u
/* Ends of the firmware's and of the kernel's zone lie in front of all that came before them. */
#define MAIN_END 6u
#define CHILD_END 10u

profiler_decoder profiler_decoder_of(const uint32_t *words, size_t count, uint64_t now) {
    return (profiler_decoder){.words = words, .count = count, .now = now};
}

void profiler_decoder_reset(profiler_decoder *self, const uint32_t *words, size_t count,
                            uint64_t now) {
    self->words = words;
    self->count = count;
    self->at = 0;
    self->now = now;
    self->earlier = NULL;
    self->earlier_words = 0;
}

void profiler_decoder_free(profiler_decoder *self) {
    free(self->markers);
    self->markers = NULL;
    self->capacity = 0;
}

/* 44 bits of a moment before now. */
static uint64_t whole_time(uint64_t now, uint32_t high, uint32_t low) {
    const uint64_t mask = (UINT64_C(1) << PROFILER_TIME_BITS) - 1;
    const uint64_t part = (uint64_t)(high & 0xFFF) << 32 | low;
    return now - ((now - part) & mask);
}

static bool is_sentinel(const uint32_t *words) {
    return words[0] == 0 && words[1] == 0;
}

/* Words of a marker with its payload; 0: there is no such marker. */
static size_t words_of(profiler_type type) {
    static const uint8_t words[8] = {2, 2, 2, 4, 2, 6, 0, 0};
    return words[type];
}

static profiler_type type_of(const uint32_t *words) {
    return (profiler_type)(words[0] >> 28 & 7);
}

static uint64_t value_at(const uint32_t *words) {
    return (uint64_t)words[0] << 32 | words[1];
}

static void read_marker(const profiler_decoder *self, const uint32_t *words, profiler_type type,
                        profiler_marker *marker) {
    marker->timer = words[0] >> 12 & 0x7FFFF;
    marker->data = 0;
    marker->more = 0;
    if (type == PROFILER_TOTAL) {
        marker->time = 0;
        marker->data = words[1];
        return;
    }
    marker->time = whole_time(self->now, words[0], words[1]);
    if (type == PROFILER_DATA || type == PROFILER_DATA_16B)
        marker->data = value_at(words + 2);
    if (type == PROFILER_DATA_16B)
        marker->more = value_at(words + 4);
}

/* Firmware on other machines, and clocks that were set, leave markers out of order. */
static void sort_markers(profiler_marker *markers, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (markers[i].time >= markers[i - 1].time)
            continue;
        const profiler_marker moved = markers[i];
        size_t to = i;
        for (; to > 0 && markers[to - 1].time > moved.time; to--)
            markers[to] = markers[to - 1];
        markers[to] = moved;
    }
}

/* Totals have no time of their own: they are as old as the first zone of their block. */
static void date_totals(profiler_marker *markers, size_t count, uint64_t first) {
    for (size_t i = 0; i < count; i++)
        if (profiler_type_of(&markers[i]) == PROFILER_TOTAL)
            markers[i].time = first;
}

static void reserve(profiler_decoder *self, size_t markers) {
    if (markers <= self->capacity)
        return;
    self->capacity = markers;
    self->markers = sb_realloc(self->markers, markers, sizeof *self->markers);
}

/* Where the next block begins, from here on. */
static size_t find_sentinel(const profiler_decoder *self, size_t at) {
    while (at + 1 < self->count && !is_sentinel(self->words + at)) {
        const size_t words = words_of(type_of(self->words + at));
        at += words > 0 ? words : 2;
    }
    return at < self->count ? at : self->count;
}

/* What is known of a block while it is read. */
typedef struct reading {
    const uint32_t
        *earlier; /* the block before it, from its first marker on; NULL: there is none */
    size_t earlier_words;
    profiler_marker late[2]; /* ends of guaranteed zones */
    size_t late_count;
    uint64_t first; /* the time of the first zone marker */
    size_t totals;
    size_t dated; /* markers that have a time of their own */
} reading;

/*
 * Other firmware pushes a buffer more than once: in the middle of a run with the guaranteed markers
 * that were sent before, and, of a processor that takes no part in a run, with all that it recorded
 * earlier. What lies at the same place with the same id and time is the same marker.
 */
static bool is_repeated(const reading *block, const uint32_t *words, size_t offset) {
    return offset + 1 < block->earlier_words && block->earlier[offset] == words[0] &&
           block->earlier[offset + 1] == words[1];
}

static bool is_guaranteed_end(size_t offset) {
    return offset == MAIN_END - HEAD_WORDS || offset == CHILD_END - HEAD_WORDS;
}

/* A marker at its place; returns how many there are now, without ends of guaranteed zones. */
static size_t take_marker(profiler_decoder *self, const uint32_t *words, size_t offset,
                          size_t count, reading *block) {
    profiler_marker marker;
    const profiler_type type = type_of(words);
    read_marker(self, words, type, &marker);
    if (type <= PROFILER_END && block->first == 0)
        block->first = marker.time;
    if (type == PROFILER_TOTAL)
        block->totals++;
    else if (is_repeated(block, words, offset))
        return count;
    else
        block->dated++;
    if (is_guaranteed_end(offset)) {
        block->late[block->late_count++] = marker;
        return count;
    }
    self->markers[count] = marker;
    return count + 1;
}

/* Timer 0 with no upper half of a time says nothing, whatever its lower half. */
static bool is_filler(const uint32_t *words) {
    return words[0] == VALID;
}

/* The markers from `from` to `to`; returns how many, ends of guaranteed zones put aside. */
static size_t read_markers(profiler_decoder *self, size_t from, size_t to, reading *block) {
    const uint32_t *words = self->words;
    size_t count = 0;
    for (size_t at = from; at + 1 < to;) {
        const size_t size = words_of(type_of(words + at));
        if (is_filler(words + at)) {
            at += 2;
            continue;
        }
        if ((words[at] & VALID) == 0 || size == 0 || size > to - at) {
            self->strange++;
            at += 2;
            continue;
        }
        count = take_marker(self, words + at, at - from, count, block);
        at += size;
    }
    return count;
}

static size_t add_late(profiler_decoder *self, size_t count, const reading *block) {
    /* The kernel's end comes before the firmware's. */
    for (size_t i = block->late_count; i > 0; i--)
        self->markers[count++] = block->late[i - 1];
    return count;
}

/* All markers of the words from `first` to `end`, in order. */
static size_t read_block(profiler_decoder *self, size_t first, size_t end) {
    reading block = {.earlier = self->earlier, .earlier_words = self->earlier_words};
    reserve(self, (end - first) / 2 + 3);
    size_t count = read_markers(self, first, end, &block);
    count = add_late(self, count, &block);
    self->earlier = self->words + first;
    self->earlier_words = end - first;
    /* Nothing here is of this run: its sums are not either. */
    if (block.dated == 0)
        return 0;
    if (block.totals > 0)
        date_totals(self->markers, count, block.first);
    sort_markers(self->markers, count);
    return count;
}

bool profiler_decode_next(profiler_decoder *self, profiler_block *block) {
    size_t begin = self->at;
    if (begin + HEAD_WORDS > self->count)
        return false;
    if (!is_sentinel(self->words + begin)) {
        begin = find_sentinel(self, begin);
        self->strange += (begin - self->at) / 2;
        if (begin + HEAD_WORDS > self->count) {
            self->at = self->count;
            return false;
        }
    }
    const uint32_t identity = self->words[begin + 2];
    const size_t first = begin + HEAD_WORDS;
    const size_t end = find_sentinel(self, first);
    const size_t count = read_block(self, first, end);
    *block = (profiler_block){.processor = identity & 31,
                              .core = identity >> 5 & 255,
                              .replay = identity >> 13 & 0xFFFF,
                              .program = self->words[begin + 3],
                              .markers = self->markers,
                              .count = count};
    self->at = end;
    return true;
}
