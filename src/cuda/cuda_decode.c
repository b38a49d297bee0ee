#include "cuda/cuda_decode.h"

#include <stdlib.h>

enum { SLOTS = SB_CUDA_CHUNK_SLOTS };

#define PLACE_MASK UINT64_C(0xFFFF)

static sb_cuda_kind kind_of(const sb_cuda_record *record) {
    return (sb_cuda_kind)(record->word[0] >> SB_CUDA_KIND_SHIFT);
}

static bool is_zone(sb_cuda_kind kind) {
    return kind == SB_CUDA_ZONE || kind == SB_CUDA_MAIN || kind == SB_CUDA_SPAN;
}

static bool is_complete(const sb_cuda_record *record) {
    switch (kind_of(record)) {
    case SB_CUDA_NOTHING:
        return false;
    case SB_CUDA_ZONE:
    case SB_CUDA_MAIN:
    case SB_CUDA_SPAN:
        return record->word[2] != 0;
    case SB_CUDA_DATA:
    case SB_CUDA_EVENT:
        return record->word[3] != 0;
    /* Somebody may still add to it, unless he has left, or the chunk is full: see final_sums. */
    case SB_CUDA_SUM:
        return false;
    default:
        return true;
    }
}

static uint32_t sm_of(const sb_cuda_record *warp) {
    return (uint32_t)(warp->word[0] >> 32) & 0xFFFF;
}

bool cuda_decode_sm(const sb_cuda_record *records, uint32_t *sm) {
    *sm = sm_of(&records[0]);
    return kind_of(&records[0]) == SB_CUDA_WARP;
}

static bool is_full(const sb_cuda_record *records) {
    return kind_of(&records[SLOTS - 1]) != SB_CUDA_NOTHING;
}

static uint32_t used_slots(const sb_cuda_record *records) {
    if (is_full(records))
        return SLOTS;
    const uint64_t state = records[0].word[3];
    if (kind_of(&records[0]) != SB_CUDA_WARP || (state & SB_CUDA_RETIRED) == 0)
        return 0;
    const uint32_t used = state & 0xFF;
    return used < SLOTS ? used : SLOTS;
}

/* The slots before this one are of owners that have left: they have said so, or somebody else has
   signed. */
static uint32_t done_slots(const sb_cuda_record *records) {
    for (uint32_t slot = SLOTS; slot-- > 0;)
        if (kind_of(&records[slot]) == SB_CUDA_WARP || kind_of(&records[slot]) == SB_CUDA_DONE)
            return slot;
    return 0;
}

static bool is_same_warp(const sb_cuda_record *a, const sb_cuda_record *b) {
    return a->word[0] == b->word[0] && a->word[1] == b->word[1] && a->word[2] == b->word[2];
}

/*
 * The slots before this one are of warps that have ended: another warp has signed since. (One that
 * has only left may have paths that still record.) Their open zones will never end.
 */
static uint32_t over_slots(const sb_cuda_record *records) {
    const sb_cuda_record *last = NULL;
    for (uint32_t slot = SLOTS; slot-- > 0;) {
        if (kind_of(&records[slot]) != SB_CUDA_WARP)
            continue;
        if (last != NULL && !is_same_warp(&records[slot], last))
            return (uint32_t)(last - records);
        last = &records[slot];
    }
    return 0;
}

static bool will_end(const sb_cuda_record *records, uint32_t slot, uint32_t over) {
    const sb_cuda_kind kind = kind_of(&records[slot]);
    return slot >= over || (kind != SB_CUDA_ZONE && kind != SB_CUDA_MAIN);
}

cuda_chunk_state cuda_decode_state(const sb_cuda_record *records) {
    cuda_chunk_state state = {.used = used_slots(records)};
    const uint32_t over = over_slots(records);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const sb_cuda_kind kind = kind_of(&records[slot]);
        if (kind == SB_CUDA_WARP)
            state.owner_slot = slot;
        if (kind == SB_CUDA_WARP || kind == SB_CUDA_DONE)
            state.is_done = kind == SB_CUDA_DONE;
    }
    const uint32_t done = is_full(records) ? SLOTS : done_slots(records);
    state.is_complete = state.used > 0;
    for (uint32_t slot = 0; slot < state.used; slot++) {
        const bool is_final_sum = kind_of(&records[slot]) == SB_CUDA_SUM && slot < done;
        state.is_complete = state.is_complete && (is_final_sum || is_complete(&records[slot]) ||
                                                  !will_end(records, slot, over));
    }
    return state;
}

/* ---- clocks ---- */

/* Does the record say what time it is on both clocks, and is it new? */
static bool is_anchor(const sb_cuda_record *record, const cuda_chunk *chunk, uint32_t slot,
                      uint64_t *clock, uint64_t *timer) {
    const sb_cuda_kind kind = kind_of(record);
    if (kind == SB_CUDA_ANCHOR) {
        *clock = record->word[1];
        *timer = record->word[2];
        return true;
    }
    *clock = record->word[2];
    *timer = record->word[3];
    return (kind == SB_CUDA_ZONE || kind == SB_CUDA_MAIN) && is_complete(record) && *timer != 0 &&
           (chunk->ended & CUDA_SLOT(slot)) == 0;
}

void cuda_decode_range(const sb_cuda_record *records, const cuda_chunk *chunk, uint64_t *first,
                       uint64_t *last) {
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint64_t clock;
        uint64_t timer;
        /* An anchor that was told of is old: others say more about now. */
        if (!is_anchor(&records[slot], chunk, slot, &clock, &timer) ||
            (chunk->ended & CUDA_SLOT(slot)) != 0)
            continue;
        if (timer < *first)
            *first = timer;
        if (timer > *last)
            *last = timer;
    }
}

void cuda_decode_anchors(const sb_cuda_record *records, const cuda_chunk *chunk,
                         cuda_clock_fit *fit) {
    uint32_t sm = UINT32_MAX;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint64_t clock;
        uint64_t timer;
        if (kind_of(&records[slot]) == SB_CUDA_WARP)
            sm = sm_of(&records[slot]);
        if (sm != UINT32_MAX && is_anchor(&records[slot], chunk, slot, &clock, &timer))
            cuda_fit_add(fit, sm, clock, timer);
    }
}

/* ---- events ---- */

static cuda_owner owner_of(const sb_cuda_record *warp, const sb_cuda_record *anchor) {
    const uint64_t block = warp->word[2];
    return (cuda_owner){
        .launch = warp->word[1],
        .block = {(uint32_t)block, (uint32_t)(block >> 32) & 0xFFFF, (uint32_t)(block >> 48)},
        .warp = (uint32_t)warp->word[0] & 0xFFFF,
        .sm = sm_of(warp),
        .program = anchor != NULL ? (uint32_t)(anchor->word[0] >> 16) : 0,
    };
}

/* Where the address of a zone's name is, less what its record says: the constant memory of the
   owner's module. */
static uint64_t names_of(const sb_cuda_record *anchor) {
    return anchor != NULL ? anchor->word[3] - (anchor->word[0] & 0xFFFF) : 0;
}

typedef struct look {
    const sb_cuda_record *records;
    cuda_chunk *chunk;
    const cuda_clock_fit *fit;
    int64_t until;
    int64_t over;
    uint32_t final_sums; /* the slots before this one; see there */
    uint32_t left;       /* see over_slots */
    uint64_t record;     /* of slot 0 */
    cuda_event_sink sink;
    void *sink_context;
} look;

/* When the next warp signed. */
static bool successor_time(const look *at, uint32_t slot, uint32_t sm, int64_t *time) {
    while (slot < SLOTS && kind_of(&at->records[slot]) != SB_CUDA_WARP)
        slot++;
    return slot + 1 < SLOTS && kind_of(&at->records[slot + 1]) == SB_CUDA_ANCHOR &&
           cuda_fit_convert(at->fit, sm, at->records[slot + 1].word[1], time);
}

/* CUDA_FOREVER: it is open. False: it cannot be told. */
static bool end_time(const look *at, uint32_t slot, uint32_t sm, int64_t *time) {
    const sb_cuda_record *record = &at->records[slot];
    const uint64_t said = record->word[3];
    if (!is_complete(record)) {
        *time = CUDA_FOREVER;
        return will_end(at->records, slot, at->left) || successor_time(at, slot, sm, time);
    }
    if (kind_of(record) == SB_CUDA_SPAN && (said & SB_CUDA_ON_SM) != 0)
        sm = (uint32_t)(said & 0xFFFF);
    return cuda_fit_convert(at->fit, sm, record->word[2], time);
}

/* A span that nobody has ended or will, or whose end is on an SM that is not known. */
static bool is_cut_span(const look *at, const sb_cuda_record *record, int64_t begin) {
    if (kind_of(record) != SB_CUDA_SPAN)
        return false;
    if (!is_complete(record))
        return begin <= at->over;
    return (record->word[3] & SB_CUDA_ON_SM) != 0 &&
           (record->word[3] & 0xFFFF) >= at->fit->sm_count;
}

/*
 * When a zone began, as it was told when it did: clocks that are fitted when it ends, perhaps
 * seconds later, would have it elsewhere.
 */
static int64_t told_begin(const cuda_chunk *chunk, uint32_t slot, int64_t begin) {
    const bool is_kept = chunk->begins != NULL && (chunk->begun & CUDA_SLOT(slot)) != 0;
    return is_kept && chunk->begins[slot] != 0 ? chunk->begins[slot] : begin;
}

/* For the looks to come; without memory it is fitted anew. */
static void keep_begin(cuda_chunk *chunk, uint32_t slot, int64_t begin) {
    if (chunk->begins == NULL)
        chunk->begins = calloc(SLOTS, sizeof *chunk->begins);
    if (chunk->begins != NULL)
        chunk->begins[slot] = begin;
}

void cuda_chunk_free(cuda_chunk *chunk) {
    free(chunk->begins);
    *chunk = (cuda_chunk){0};
}

static void tell_zone(const look *at, const sb_cuda_record *record, uint32_t slot,
                      cuda_event *event) {
    const cuda_slots bit = CUDA_SLOT(slot);
    int64_t begin;
    int64_t end;
    if (!cuda_fit_convert(at->fit, event->owner.sm, record->word[1], &begin) || begin > at->until)
        return;
    begin = told_begin(at->chunk, slot, begin);
    event->is_cut = is_cut_span(at, record, begin);
    if (event->is_cut)
        end = at->until;
    else if (!end_time(at, slot, event->owner.sm, &end))
        return;
    /* Longer than nothing, so that its end comes behind its start in every order. */
    if (end <= begin)
        end = begin + 1;
    event->is_main = kind_of(record) == SB_CUDA_MAIN;
    event->begin = begin;
    event->value = is_complete(record) ? record->word[2] - record->word[1] : 0;
    if ((at->chunk->begun & bit) == 0) {
        const bool is_span = kind_of(record) == SB_CUDA_SPAN;
        if (is_span && end > at->until && !event->is_cut)
            return;
        event->kind = is_span ? CUDA_WHOLE_SPAN : CUDA_BEGIN;
        event->time = begin;
        event->end = end;
        at->chunk->begun |= bit;
        at->sink(at->sink_context, event);
        if (is_span)
            at->chunk->ended |= bit;
    }
    if ((at->chunk->begun & bit) != 0 && (at->chunk->ended & bit) == 0 && end <= at->until &&
        end != CUDA_FOREVER) {
        event->kind = CUDA_END;
        event->time = end;
        event->end = end;
        at->chunk->ended |= bit;
        at->sink(at->sink_context, event);
    } else if ((at->chunk->ended & bit) == 0)
        keep_begin(at->chunk, slot, begin);
}

/* The last who has signed; NULL: nobody has. */
static const sb_cuda_record *last_owner(const sb_cuda_record *records) {
    for (uint32_t slot = SLOTS; slot-- > 0;)
        if (kind_of(&records[slot]) == SB_CUDA_WARP)
            return &records[slot];
    return NULL;
}

/* It is full, and all that was on its way when its last slot was claimed has arrived. */
static bool is_settled(const look *at) {
    const sb_cuda_record *owner = last_owner(at->records);
    int64_t time;
    return is_full(at->records) && owner != NULL &&
           cuda_fit_convert(at->fit, sm_of(owner), at->records[SLOTS - 1].word[1], &time) &&
           time <= at->until;
}

/* Sums before this slot are final: warps add to those of the chunk that they are in, while it has
   room. */
static uint32_t final_sums(const look *at) {
    return at->over == CUDA_FOREVER || is_settled(at) ? SLOTS : done_slots(at->records);
}

static void tell_other(const look *at, const sb_cuda_record *record, uint32_t slot,
                       cuda_event *event) {
    const cuda_slots bit = CUDA_SLOT(slot);
    const sb_cuda_kind kind = kind_of(record);
    const bool is_ready = kind == SB_CUDA_SUM ? slot < at->final_sums : is_complete(record);
    if ((at->chunk->ended & bit) != 0 || !is_ready)
        return;
    if (!cuda_fit_convert(at->fit, event->owner.sm, record->word[1], &event->time) ||
        event->time > at->until)
        return;
    event->kind = kind == SB_CUDA_SUM ? CUDA_SUM : kind == SB_CUDA_DATA ? CUDA_DATA : CUDA_NUMBER;
    event->end = event->time;
    event->is_main = false;
    event->value = record->word[2];
    event->times = kind == SB_CUDA_SUM ? record->word[3] : 0;
    at->chunk->begun |= bit;
    at->chunk->ended |= bit;
    at->sink(at->sink_context, event);
}

/* Counted, and then as told as it will ever be. */
static void tell_nowhere(cuda_chunk *chunk, uint32_t slot, cuda_event *event, cuda_event_sink sink,
                         void *context) {
    const cuda_slots bit = CUDA_SLOT(slot);
    event->kind = CUDA_NOWHERE;
    chunk->begun |= bit;
    chunk->ended |= bit;
    sink(context, event);
}

/* Records of an SM that the driver does not count among the GPU's: there is no clock for it. */
static void pass_over(const look *at, const sb_cuda_record *record, uint32_t slot,
                      cuda_event *event) {
    const cuda_slots bit = CUDA_SLOT(slot);
    if (is_zone(kind_of(record)) && (at->chunk->begun & bit) == 0)
        tell_nowhere(at->chunk, slot, event, at->sink, at->sink_context);
    at->chunk->ended |= bit;
}

/* Who owns the records from here on, and where the names of their zones are. */
static void change_owner(const sb_cuda_record *records, uint32_t slot, cuda_owner *owner,
                         uint64_t *names) {
    const bool has_anchor = slot + 1 < SLOTS && kind_of(&records[slot + 1]) == SB_CUDA_ANCHOR;
    const sb_cuda_record *anchor = has_anchor ? &records[slot + 1] : NULL;
    *owner = owner_of(&records[slot], anchor);
    *names = names_of(anchor);
}

static uint64_t place_of(const sb_cuda_record *record, uint64_t names) {
    const uint64_t said = record->word[0] & PLACE_MASK;
    return kind_of(record) == SB_CUDA_EVENT ? said : names + said;
}

static void tell_record(const look *at, uint32_t slot, cuda_event *event) {
    const sb_cuda_record *record = &at->records[slot];
    const sb_cuda_kind kind = kind_of(record);
    const bool is_other = kind == SB_CUDA_DATA || kind == SB_CUDA_EVENT || kind == SB_CUDA_SUM;
    if (!is_zone(kind) && !is_other)
        return;
    event->is_cut = false;
    if (event->owner.sm >= at->fit->sm_count)
        pass_over(at, record, slot, event);
    else if (is_other)
        tell_other(at, record, slot, event);
    else
        tell_zone(at, record, slot, event);
}

void cuda_decode_events(const sb_cuda_record *records, cuda_chunk *chunk, uint32_t number,
                        const cuda_clock_fit *fit, int64_t until, int64_t over,
                        cuda_event_sink sink, void *context) {
    look at = {.records = records,
               .chunk = chunk,
               .fit = fit,
               .until = until,
               .over = over,
               .left = over_slots(records),
               .record = (uint64_t)number * SLOTS,
               .sink = sink,
               .sink_context = context};
    at.final_sums = final_sums(&at);
    cuda_event event = {0};
    uint64_t names = 0;
    bool is_owned = false;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const sb_cuda_kind kind = kind_of(&records[slot]);
        if (kind == SB_CUDA_WARP) {
            change_owner(records, slot, &event.owner, &names);
            is_owned = true;
        }
        if (kind == SB_CUDA_WARP || kind == SB_CUDA_ANCHOR || kind == SB_CUDA_DONE)
            chunk->ended |= CUDA_SLOT(slot);
        event.record = at.record + slot;
        event.place = place_of(&records[slot], names);
        if (is_owned)
            tell_record(&at, slot, &event);
    }
}

void cuda_decode_abandon(const sb_cuda_record *records, cuda_chunk *chunk, uint32_t number,
                         int64_t time, cuda_event_sink sink, void *context) {
    cuda_event event = {.time = time + 1, .end = time + 1};
    uint64_t names = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const cuda_slots bit = CUDA_SLOT(slot);
        const sb_cuda_kind kind = kind_of(&records[slot]);
        if (kind == SB_CUDA_WARP)
            change_owner(records, slot, &event.owner, &names);
        event.record = (uint64_t)number * SLOTS + slot;
        event.place = place_of(&records[slot], names);
        if (is_zone(kind) && (chunk->begun & bit) == 0)
            tell_nowhere(chunk, slot, &event, sink, context);
        if ((chunk->begun & ~chunk->ended & bit) == 0)
            continue;
        event.kind = CUDA_END;
        event.begin = told_begin(chunk, slot, time);
        event.is_main = kind == SB_CUDA_MAIN;
        chunk->ended |= bit;
        sink(context, &event);
    }
}
