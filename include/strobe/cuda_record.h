/*
 * cuda_record.h: how a warp claims records. Included by cuda.h, which says what the processor is
 * (sb_cuda_clock, sb_cuda_shared_add and the like); tests of the host include it with threads
 * in the place of warps.
 *
 * Each warp of a block has an entry in shared memory: whose it is, the next slot to claim, and
 * where its chunk ends. Shared memory begins with whatever the last block left there, so an entry
 * counts only if launch, epoch and block in it are ours. Claiming is one atomic addition, because
 * the paths of a divergent warp do not wait for each other. Whoever gets a slot beyond the limit
 * fetches a chunk; if two paths do, both get one and the entry keeps the later.
 *
 * A zone's record is claimed once, at its start. The lane that claimed it keeps the slot's number
 * and writes the end there, so an end can neither be lost nor land in a chunk that went to somebody
 * else: the host takes no chunk back before all records in it are complete.
 *
 * Instead of a slot an entry may hold one of two numbers out of reach: SB_CUDA_SLOT_OFF, the
 * warp is not recorded; SB_CUDA_SLOT_LOST, no chunk was to be had, and after SB_CUDA_RETRY more
 * losses it is time to ask again.
 */
#ifndef STROBE_CUDA_RECORD_H
#define STROBE_CUDA_RECORD_H

#include "cuda_layout.h"

#define SB_CUDA_SLOT_NONE 0u /* the first slot of a chunk is never anybody's */
#define SB_CUDA_SLOT_OFF 0x80000000u
#define SB_CUDA_SLOT_LOST 0xC0000000u
#define SB_CUDA_RETRY 16u
/* A warp that ends with fewer slots left does not pass its chunk on. */
#define SB_CUDA_STASH_ROOM 8u
/* Rings of so many SMs are asked before a record is given up. */
#define SB_CUDA_RINGS 3u

/* Loaded and stored at once; 16 bytes. */
typedef struct SB_CUDA_ALIGN(16) sb_cuda_entry {
    unsigned int launch;
    unsigned int block;
    unsigned int limit; /* 0: next is no slot */
    unsigned int next;
} sb_cuda_entry;

/* ---- places ---- */

SB_CUDA_FN sb_cuda_record *sb_cuda_record_at(unsigned int slot) {
    return (sb_cuda_record *)SB_CUDA_GATE.records + slot;
}

SB_CUDA_FN sb_cuda_sm *sb_cuda_sm_at(unsigned int sm) {
    return (sb_cuda_sm *)SB_CUDA_GATE.sms + sm;
}

/* Which of the SMs' rings and counters is ours. */
SB_CUDA_FN unsigned int sb_cuda_this_sm(void) {
    const unsigned int sm = sb_cuda_sm_number();
    return sm < SB_CUDA_GATE.sm_count ? sm : 0;
}

SB_CUDA_FN unsigned int sb_cuda_this_launch(void) {
    return (unsigned int)sb_cuda_grid() + (SB_CUDA_GATE.epoch << 24);
}

SB_CUDA_FN sb_cuda_word sb_cuda_word_of(sb_cuda_kind kind, const void *place) {
    return (sb_cuda_word)kind << SB_CUDA_KIND_SHIFT | (sb_cuda_word)place;
}

SB_CUDA_FN void sb_cuda_count_lost(void) {
    sb_cuda_global_count(&sb_cuda_sm_at(sb_cuda_this_sm())->lost);
}

/* ---- chunks ---- */

/* Nobody will write more into it. */
SB_CUDA_FN void sb_cuda_retire(unsigned int chunk, unsigned int used) {
    sb_cuda_store_word(&sb_cuda_record_at(chunk * SB_CUDA_CHUNK_SLOTS)->word[3],
                       SB_CUDA_RETIRED | used);
}

/* A chunk of an SM's ring: its first slot, or SB_CUDA_SLOT_LOST. */
SB_CUDA_FN unsigned int sb_cuda_draw_from(unsigned int sm) {
    unsigned int *taken = &sb_cuda_sm_at(sm)->taken;
    /* A ticket without a chunk is one that the host must pass over, so look first. */
    const unsigned int offered = sb_cuda_load((const unsigned int *)SB_CUDA_GATE.offered + sm);
    if ((int)(offered - sb_cuda_load(taken)) <= 0)
        return SB_CUDA_SLOT_LOST;
    const unsigned int ticket = sb_cuda_global_add(taken, 1);
    const sb_cuda_word *ring = (const sb_cuda_word *)SB_CUDA_GATE.rings;
    const unsigned int at = sm * SB_CUDA_GATE.ring_size + (ticket & (SB_CUDA_GATE.ring_size - 1));
    const sb_cuda_word entry = sb_cuda_load_word(ring + at);
    if ((unsigned int)(entry >> 32) != ticket)
        return SB_CUDA_SLOT_LOST;
    return (unsigned int)entry * SB_CUDA_CHUNK_SLOTS;
}

/* The first free slot of a chunk that is now ours; SB_CUDA_SLOT_LOST: there is none. */
SB_CUDA_FN unsigned int sb_cuda_draw(void) {
    unsigned int sm = sb_cuda_this_sm();
    const sb_cuda_word stashed =
        sb_cuda_global_exchange(&sb_cuda_sm_at(sm)->stash[sb_cuda_place_in_sm()], 0);
    if (stashed != 0)
        return ((unsigned int)(stashed >> 32) - 1) * SB_CUDA_CHUNK_SLOTS + (unsigned int)stashed;
    unsigned int slot = sb_cuda_draw_from(sm);
    for (unsigned int i = 1; i < SB_CUDA_RINGS && slot == SB_CUDA_SLOT_LOST; i++) {
        sm = sm + 37 < SB_CUDA_GATE.sm_count ? sm + 37 : sm / 2;
        slot = sb_cuda_draw_from(sm);
    }
    return slot;
}

/* Says who writes from here on. */
SB_CUDA_FN void sb_cuda_sign(unsigned int slot) {
    sb_cuda_record *record = sb_cuda_record_at(slot);
    sb_cuda_store_pair(&record[0].word[0],
                       (sb_cuda_word)SB_CUDA_WARP << SB_CUDA_KIND_SHIFT |
                           (sb_cuda_word)sb_cuda_sm_number() << 32 | sb_cuda_warp(),
                       sb_cuda_grid());
    sb_cuda_store_pair(&record[0].word[2], sb_cuda_block_place(), 0);
    const sb_cuda_word timer = sb_cuda_timer();
    const sb_cuda_word clock = sb_cuda_clock();
    sb_cuda_store_pair(&record[1].word[0], (sb_cuda_word)SB_CUDA_ANCHOR << SB_CUDA_KIND_SHIFT,
                       clock);
    sb_cuda_store_pair(&record[1].word[2], timer, *(const unsigned int *)SB_CUDA_GATE.program);
}

/* Is this warp one of those to be recorded? */
SB_CUDA_FN int sb_cuda_is_sampled(void) {
    if (!SB_CUDA_GATE.is_sampled)
        return 1;
    return sb_cuda_sm_number() % SB_CUDA_GATE.every_sm == 0 &&
           sb_cuda_block() % SB_CUDA_GATE.every_block == 0 &&
           sb_cuda_warp() % SB_CUDA_GATE.every_warp == 0 &&
           (unsigned int)sb_cuda_grid() % SB_CUDA_GATE.every_launch == 0;
}

SB_CUDA_FN void sb_cuda_set_entry(sb_cuda_entry *entry, unsigned int limit, unsigned int next) {
    sb_cuda_entry now;
    now.launch = sb_cuda_this_launch();
    now.block = sb_cuda_block();
    now.limit = limit;
    now.next = next;
    *entry = now;
}

/* A slot from a new chunk, or none. Seldom needed. */
SB_CUDA_FN unsigned int sb_cuda_refill(sb_cuda_entry *entry, unsigned int slot, int is_ours) {
    if (SB_CUDA_GATE.records == 0 || !sb_cuda_has_entry()) {
        sb_cuda_count_missed();
        return SB_CUDA_SLOT_NONE;
    }
    if (is_ours && entry->limit == 0) {
        if (slot < SB_CUDA_SLOT_LOST) {
            if (slot > SB_CUDA_SLOT_OFF + SB_CUDA_SLOT_OFF / 4)
                sb_cuda_set_entry(entry, 0, SB_CUDA_SLOT_OFF);
            return SB_CUDA_SLOT_NONE;
        }
        if (slot - SB_CUDA_SLOT_LOST < SB_CUDA_RETRY) {
            sb_cuda_count_lost();
            return SB_CUDA_SLOT_NONE;
        }
    }
    if (SB_CUDA_GATE.is_off || (!is_ours && !sb_cuda_is_sampled())) {
        sb_cuda_set_entry(entry, 0, SB_CUDA_SLOT_OFF);
        return SB_CUDA_SLOT_NONE;
    }
    const unsigned int first = sb_cuda_draw();
    if (first == SB_CUDA_SLOT_LOST) {
        sb_cuda_set_entry(entry, 0, SB_CUDA_SLOT_LOST);
        sb_cuda_count_lost();
        return SB_CUDA_SLOT_NONE;
    }
    sb_cuda_sign(first);
    const unsigned int claimed = first + SB_CUDA_OWNER_SLOTS;
    sb_cuda_set_entry(entry,
                      first / SB_CUDA_CHUNK_SLOTS * SB_CUDA_CHUNK_SLOTS + SB_CUDA_CHUNK_SLOTS,
                      claimed + 1);
    return claimed;
}

/* ---- records ---- */

/* Claims a slot; 0: there is none. By one lane. */
SB_CUDA_FN unsigned int sb_cuda_claim(void) {
    sb_cuda_entry *entry = sb_cuda_this_entry();
    const sb_cuda_entry now = *entry;
    const unsigned int slot = sb_cuda_shared_add(&entry->next, 1);
    const int is_ours = now.launch == sb_cuda_this_launch() && now.block == sb_cuda_block();
    if (is_ours && now.limit - slot - 1 < SB_CUDA_CHUNK_SLOTS - SB_CUDA_OWNER_SLOTS &&
        sb_cuda_has_entry())
        return slot;
    return sb_cuda_refill(entry, slot, is_ours);
}

/*
 * All lanes that come together go on together: a lane that ran ahead of the one that records would
 * be taken for a path of its own at the next zone, and lead there.
 */
SB_CUDA_FN unsigned int sb_cuda_begin(sb_cuda_word what) {
    const unsigned int lanes = sb_cuda_active_lanes();
    unsigned int slot = SB_CUDA_SLOT_NONE;
    if (sb_cuda_leads(lanes))
        slot = sb_cuda_claim();
    sb_cuda_meet(lanes);
    /* As late as can be, so that what goes before is no part of the zone. */
    sb_cuda_record *record = sb_cuda_record_at(slot);
    const sb_cuda_word clock = sb_cuda_clock_after(&record, &what);
    if (slot != SB_CUDA_SLOT_NONE)
        sb_cuda_store_pair(&record->word[0], what, clock);
    return slot;
}

SB_CUDA_FN void sb_cuda_end(unsigned int slot) {
    const sb_cuda_word clock = sb_cuda_clock();
    const unsigned int lanes = sb_cuda_active_lanes();
    if (slot != SB_CUDA_SLOT_NONE)
        sb_cuda_store_pair(&sb_cuda_record_at(slot)->word[2], clock, sb_cuda_timer());
    sb_cuda_meet(lanes);
}

/* This warp is done: what is left of its chunk is for the next one. */
SB_CUDA_FN void sb_cuda_release(void) {
    sb_cuda_entry *entry = sb_cuda_this_entry();
    const sb_cuda_entry now = *entry;
    if (now.launch != sb_cuda_this_launch() || now.block != sb_cuda_block() || now.limit == 0)
        return;
    entry->launch = ~now.launch;
    const unsigned int next = sb_cuda_shared_exchange(&entry->next, SB_CUDA_SLOT_OFF);
    const unsigned int chunk = now.limit / SB_CUDA_CHUNK_SLOTS - 1;
    if (next >= now.limit)
        return;
    sb_cuda_store_pair(&sb_cuda_record_at(next)->word[0],
                       (sb_cuda_word)SB_CUDA_DONE << SB_CUDA_KIND_SHIFT, 0);
    const unsigned int used = next + 1 - chunk * SB_CUDA_CHUNK_SLOTS;
    if (used + SB_CUDA_STASH_ROOM > SB_CUDA_CHUNK_SLOTS) {
        if (used < SB_CUDA_CHUNK_SLOTS)
            sb_cuda_retire(chunk, used);
        return;
    }
    /* It is empty: we have taken what was there. */
    sb_cuda_sm *sm = sb_cuda_sm_at(sb_cuda_this_sm());
    sb_cuda_store_word(&sm->stash[sb_cuda_place_in_sm()], SB_CUDA_STASH(chunk, used));
}

SB_CUDA_FN void sb_cuda_end_main(unsigned int slot) {
    const unsigned int lanes = sb_cuda_active_lanes();
    sb_cuda_end(slot);
    if (slot != SB_CUDA_SLOT_NONE)
        sb_cuda_release();
    sb_cuda_meet(lanes);
}

/* The SM is told, since the clock is the SM's. */
SB_CUDA_FN void sb_cuda_end_span(unsigned int slot) {
    if (slot == SB_CUDA_SLOT_NONE || !sb_cuda_leads(sb_cuda_active_lanes()))
        return;
    const sb_cuda_word clock = sb_cuda_clock();
    sb_cuda_store_pair(&sb_cuda_record_at(slot)->word[2], clock,
                       SB_CUDA_ON_SM | sb_cuda_sm_number());
}

SB_CUDA_FN void sb_cuda_note(sb_cuda_word what, sb_cuda_word value) {
    const unsigned int slot = sb_cuda_begin(what);
    if (slot != SB_CUDA_SLOT_NONE)
        sb_cuda_store_pair(&sb_cuda_record_at(slot)->word[2], value, 1);
}

/* From here on this warp is not recorded, zones that are open excepted. */
SB_CUDA_FN void sb_cuda_validate(int condition) {
    const unsigned int lanes = sb_cuda_active_lanes();
    if (!condition && sb_cuda_leads(lanes) && SB_CUDA_GATE.records != 0)
        sb_cuda_set_entry(sb_cuda_this_entry(), 0, SB_CUDA_SLOT_OFF);
    sb_cuda_meet(lanes);
}

/* ---- sums ---- */

/* The record that a warp adds to, as long as it comes from one place. */
typedef struct SB_CUDA_ALIGN(16) sb_cuda_sum {
    unsigned int launch;
    unsigned int block;
    unsigned int place; /* the lower half */
    unsigned int slot;
} sb_cuda_sum;

/* By one lane. Two places that take turns cost a record each time; the host adds up all records of
   a place. */
SB_CUDA_FN void sb_cuda_add(sb_cuda_sum *sum, const void *place, sb_cuda_word cycles) {
    sb_cuda_sum now = *sum;
    if (now.launch != sb_cuda_this_launch() || now.block != sb_cuda_block() ||
        now.place != (unsigned int)(sb_cuda_word)place) {
        now.launch = sb_cuda_this_launch();
        now.block = sb_cuda_block();
        now.place = (unsigned int)(sb_cuda_word)place;
        now.slot = sb_cuda_claim();
        if (now.slot != SB_CUDA_SLOT_NONE)
            sb_cuda_store_pair(&sb_cuda_record_at(now.slot)->word[0],
                               sb_cuda_word_of(SB_CUDA_SUM, place), sb_cuda_clock());
        *sum = now;
    } else if (now.slot == SB_CUDA_SLOT_NONE)
        sb_cuda_count_lost();
    if (now.slot == SB_CUDA_SLOT_NONE)
        return;
    sb_cuda_record *record = sb_cuda_record_at(now.slot);
    sb_cuda_global_sum(&record->word[2], cycles);
    sb_cuda_global_sum(&record->word[3], 1);
}

#endif
