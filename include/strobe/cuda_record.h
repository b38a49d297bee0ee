/*
 * cuda_record.h: how a warp claims records. Included by cuda.h, which says what the processor is
 * (sb_cuda_clock, sb_cuda_shared_exchange and the like); tests of the host include it with threads
 * in the place of warps.
 *
 * Each warp of a block has an entry in shared memory: whose it is and the next record to claim.
 * Shared memory begins with whatever the last block left there, so an entry counts only if launch
 * and block in it are ours. Where all lanes of a warp come together nobody else can claim, so
 * claiming is a load and a store; paths of a divergent warp do not wait for each other and use an
 * atomic operation. Whoever finds a chunk full fetches another; if two paths do, both get one and
 * the entry keeps the later.
 *
 * A zone's record is claimed once, at its start. The lane that claimed it keeps its address and
 * writes the end there, so an end can neither be lost nor land in a chunk that went to somebody
 * else: the host takes no chunk back before all records in it are complete.
 *
 * Chunks go from warp to warp in one of two ways, because fetching one from the host's ring takes
 * several round trips to the GPU's second-level cache:
 *
 *   stashed     A main zone that ends puts the chunk where the next warp finds it that sits at this
 *               place of the SM.
 *   inherited   A block that finds in its shared memory the entry of another knows that this one
 *               has ended, and goes on with its chunk. A key, which the host draws anew whenever it
 *               takes forgotten chunks back, tells entries from other data. That is for kernels
 *               without a main zone: blocks get all of the shared memory in turn, so each warp that
 *               it has room for would keep a chunk there.
 *
 * What is done for every zone is a chain of dependent instructions, and each counts: an entry holds
 * an address, because a number would have to be turned into one; names are known by where they lie
 * in constant memory, because that is a constant and their address would have to be loaded. What is
 * seldom needed is read from the gate with sb_cuda_number and sb_cuda_address, which the compiler
 * does not move: it would keep it in registers otherwise, just in case.
 *
 * Instead of an address an entry may hold one of two numbers: SB_CUDA_OFF, the warp is not
 * recorded; from SB_CUDA_LOST on, no chunk was to be had, and after SB_CUDA_RETRY more losses it is
 * time to ask again.
 */
#ifndef STROBE_CUDA_RECORD_H
#define STROBE_CUDA_RECORD_H

#include "cuda_layout.h"

/* No addresses, and where a chunk would begin: nothing can be claimed there. */
#define SB_CUDA_OFF ((unsigned int)SB_CUDA_CHUNK_BYTES)
#define SB_CUDA_LOST (2u * SB_CUDA_CHUNK_BYTES)
#define SB_CUDA_RETRY 16u
#define SB_CUDA_NO_CHUNK 0xFFFFFFFFu
/* A warp that ends with fewer slots left does not pass its chunk on. */
#define SB_CUDA_ROOM_LEAST 8u
/* In a warp's key: we have emptied the stash of our place; and a count of who has signed. */
#define SB_CUDA_EMPTIED 1u
#define SB_CUDA_SIGNED 2u

/* Loaded at once; 16 bytes. */
typedef struct SB_CUDA_ALIGN(16) sb_cuda_entry {
    unsigned int launch; /* and the key */
    unsigned int block;
    unsigned int next;  /* address of a record; where a chunk begins: the one before is full */
    unsigned int above; /* the upper half of that address */
} sb_cuda_entry;

/* ---- places ---- */

SB_CUDA_FN void *sb_cuda_pointer(sb_cuda_word address) {
    return (void *)address; // NOLINT(performance-no-int-to-ptr)
}

/* Of addresses in the pool the lower halves are kept: all of it has the same upper half. */
SB_CUDA_FN sb_cuda_word *sb_cuda_words_at(unsigned int above, unsigned int record) {
    return (sb_cuda_word *)sb_cuda_pointer((sb_cuda_word)above << 32 | record);
}

SB_CUDA_FN sb_cuda_word *sb_cuda_record_at(unsigned int record) {
    return sb_cuda_words_at(sb_cuda_number(&SB_CUDA_GATE.records_above), record);
}

SB_CUDA_FN unsigned int sb_cuda_address_of(unsigned int slot) {
    return sb_cuda_number(&SB_CUDA_GATE.records) + slot * SB_CUDA_RECORD_BYTES;
}

/* Chunks are numbered, their slots too. */
SB_CUDA_FN unsigned int sb_cuda_slot_of(unsigned int address) {
    return (address - sb_cuda_number(&SB_CUDA_GATE.records)) / SB_CUDA_RECORD_BYTES;
}

/* May it be claimed, or does it stand behind the last record of a chunk? Chunks are aligned. */
SB_CUDA_FN int sb_cuda_is_free(unsigned int next) {
    return next % SB_CUDA_CHUNK_BYTES != 0;
}

/* Slots of its chunk before it. */
SB_CUDA_FN unsigned int sb_cuda_used(unsigned int next) {
    return next % SB_CUDA_CHUNK_BYTES / SB_CUDA_RECORD_BYTES;
}

SB_CUDA_FN sb_cuda_sm *sb_cuda_sm_at(unsigned int sm) {
    return (sb_cuda_sm *)sb_cuda_pointer(sb_cuda_address(&SB_CUDA_GATE.sms)) + sm;
}

/* Which of the SMs' rings and counters is ours. */
SB_CUDA_FN unsigned int sb_cuda_this_sm(void) {
    const unsigned int sm = sb_cuda_sm_number();
    return sm < sb_cuda_number(&SB_CUDA_GATE.sm_count) ? sm : 0;
}

SB_CUDA_FN unsigned int sb_cuda_this_launch(void) {
    return (unsigned int)sb_cuda_grid() + sb_cuda_key();
}

SB_CUDA_FN int sb_cuda_is_ours(const sb_cuda_entry *entry) {
    return entry->launch == sb_cuda_this_launch() && entry->block == sb_cuda_block();
}

/* place: where the name's address lies in constant memory. */
SB_CUDA_FN sb_cuda_word sb_cuda_word_of(sb_cuda_kind kind, unsigned int place) {
    return (sb_cuda_word)kind << SB_CUDA_KIND_SHIFT | place;
}

SB_CUDA_FN void sb_cuda_count_lost(void) {
    sb_cuda_global_count(&sb_cuda_sm_at(sb_cuda_this_sm())->lost);
}

/* ---- chunks ---- */

/* Nobody will write more into it. */
SB_CUDA_FN void sb_cuda_retire(unsigned int chunk, unsigned int used) {
    sb_cuda_store_word(sb_cuda_record_at(sb_cuda_address_of(chunk * SB_CUDA_CHUNK_SLOTS)) + 3,
                       SB_CUDA_RETIRED | used);
}

/*
 * A chunk of an SM's ring: its first slot, or SB_CUDA_NO_CHUNK. Nobody draws from a ring that has
 * run dry: the host would offer chunks behind tickets that were drawn in vain. Of those that look
 * at once, some may still come too late; the host passes their tickets over.
 */
SB_CUDA_FN unsigned int sb_cuda_draw_from(unsigned int sm) {
    const unsigned int offered = sb_cuda_load(
        (const unsigned int *)sb_cuda_pointer(sb_cuda_address(&SB_CUDA_GATE.offered)) + sm);
    const unsigned int taken = sb_cuda_load(&sb_cuda_sm_at(sm)->taken);
    if ((int)(offered - taken) <= 0)
        return SB_CUDA_NO_CHUNK;
    const unsigned int ticket = sb_cuda_global_add(&sb_cuda_sm_at(sm)->taken, 1);
    if ((int)(offered - ticket) <= 0)
        return SB_CUDA_NO_CHUNK;
    const sb_cuda_word *ring =
        (const sb_cuda_word *)sb_cuda_pointer(sb_cuda_address(&SB_CUDA_GATE.rings));
    const unsigned int size = sb_cuda_number(&SB_CUDA_GATE.ring_size);
    const sb_cuda_word entry =
        sb_cuda_load_word(ring + (sb_cuda_word)sm * size + (ticket & (size - 1)));
    if ((unsigned int)(entry >> 32) != ticket)
        return SB_CUDA_NO_CHUNK;
    return (unsigned int)entry * SB_CUDA_CHUNK_SLOTS;
}

/* Without a loop: behind one, the compiler does not believe that lanes come together. */
SB_CUDA_FN unsigned int sb_cuda_draw(void) {
    const unsigned int count = sb_cuda_number(&SB_CUDA_GATE.sm_count);
    const unsigned int sm = sb_cuda_this_sm();
    unsigned int slot = sb_cuda_draw_from(sm);
    if (slot == SB_CUDA_NO_CHUNK)
        slot = sb_cuda_draw_from(sm + 37 < count ? sm + 37 : sm / 2);
    if (slot == SB_CUDA_NO_CHUNK)
        slot = sb_cuda_draw_from(sm + 71 < count ? sm + 71 : sm / 3);
    return slot;
}

/*
 * Where the chunk goes on that the block before us had here; SB_CUDA_NO_CHUNK: it had none. The
 * key is taken away first and comes back with our own entry, so that of two paths one inherits.
 */
SB_CUDA_FN unsigned int sb_cuda_inherit(const sb_cuda_entry *entry) {
    const unsigned int slots = sb_cuda_number(&SB_CUDA_GATE.sm_count) *
                               sb_cuda_number(&SB_CUDA_GATE.ring_size) * SB_CUDA_CHUNK_SLOTS;
    const unsigned int key = sb_cuda_shared_exchange(sb_cuda_this_key(), 0);
    const sb_cuda_entry left = sb_cuda_load_entry(entry);
    const unsigned int slot = sb_cuda_slot_of(left.next);
    if ((key & SB_CUDA_KEY_MASK) != sb_cuda_number(&SB_CUDA_GATE.key) || slot >= slots ||
        left.next % SB_CUDA_RECORD_BYTES != 0 || !sb_cuda_is_free(left.next) ||
        sb_cuda_is_ours(&left))
        return SB_CUDA_NO_CHUNK;
    const unsigned int used = sb_cuda_used(left.next);
    if (used + SB_CUDA_ROOM_LEAST <= SB_CUDA_CHUNK_SLOTS)
        return slot;
    sb_cuda_retire(slot / SB_CUDA_CHUNK_SLOTS, used);
    return SB_CUDA_NO_CHUNK;
}

SB_CUDA_FN sb_cuda_word *sb_cuda_this_stash(void) {
    return &sb_cuda_sm_at(sb_cuda_this_sm())->stash[sb_cuda_place_in_sm()];
}

/* What was stashed at our place: the first free slot of a chunk, or SB_CUDA_NO_CHUNK. A load would
   overtake the store of the warp that has just left. */
SB_CUDA_FN unsigned int sb_cuda_unstash(void) {
    const sb_cuda_word stashed = sb_cuda_global_exchange(sb_cuda_this_stash(), 0);
    if (stashed == 0)
        return SB_CUDA_NO_CHUNK;
    return ((unsigned int)(stashed >> 32) - 1) * SB_CUDA_CHUNK_SLOTS + (unsigned int)stashed;
}

/* Says who writes from here on. */
SB_CUDA_FN void sb_cuda_sign(unsigned int address) {
    sb_cuda_word *words = sb_cuda_record_at(address);
    sb_cuda_store_pair(&words[0],
                       (sb_cuda_word)SB_CUDA_WARP << SB_CUDA_KIND_SHIFT |
                           (sb_cuda_word)sb_cuda_sm_number() << 32 | sb_cuda_warp(),
                       sb_cuda_grid());
    sb_cuda_store_pair(&words[2], sb_cuda_block_place(), 0);
    unsigned int program = 0;
    if (sb_cuda_number(&SB_CUDA_GATE.has_program))
        program = sb_cuda_load(
            (const unsigned int *)sb_cuda_pointer(sb_cuda_address(&SB_CUDA_GATE.program)));
    const sb_cuda_word clock = sb_cuda_clock();
    const sb_cuda_word timer = sb_cuda_timer();
    sb_cuda_store_pair(&words[4],
                       (sb_cuda_word)SB_CUDA_ANCHOR << SB_CUDA_KIND_SHIFT |
                           (sb_cuda_word)program << 16 | SB_CUDA_GATE_PLACE,
                       clock);
    sb_cuda_store_pair(&words[6], timer, sb_cuda_address(&SB_CUDA_GATE.itself));
}

/* Is this warp one of those to be recorded? */
SB_CUDA_FN int sb_cuda_is_sampled(void) {
    if (!sb_cuda_number(&SB_CUDA_GATE.is_sampled))
        return 1;
    return sb_cuda_sm_number() % sb_cuda_number(&SB_CUDA_GATE.every_sm) == 0 &&
           sb_cuda_block() % sb_cuda_number(&SB_CUDA_GATE.every_block) == 0 &&
           sb_cuda_warp() % sb_cuda_number(&SB_CUDA_GATE.every_warp) == 0 &&
           (unsigned int)sb_cuda_grid() % sb_cuda_number(&SB_CUDA_GATE.every_launch) == 0;
}

SB_CUDA_FN void sb_cuda_set_entry(sb_cuda_entry *entry, unsigned int next) {
    sb_cuda_entry now;
    now.launch = sb_cuda_this_launch();
    now.block = sb_cuda_block();
    now.next = next;
    now.above = sb_cuda_number(&SB_CUDA_GATE.records_above);
    *entry = now;
}

/* Not recorded: nobody inherits that. */
SB_CUDA_FN void sb_cuda_set_off(sb_cuda_entry *entry) {
    *sb_cuda_this_key() = 0;
    sb_cuda_set_entry(entry, SB_CUDA_OFF);
}

/* The first free slot of a chunk for a warp that has none yet, or SB_CUDA_NO_CHUNK; its key. */
SB_CUDA_FN unsigned int sb_cuda_first_chunk(const sb_cuda_entry *entry, unsigned int *key) {
    *key = sb_cuda_number(&SB_CUDA_GATE.key) |
           ((*key + SB_CUDA_SIGNED) & ~SB_CUDA_KEY_MASK & ~SB_CUDA_EMPTIED);
    const unsigned int inherited = sb_cuda_inherit(entry);
    if (inherited != SB_CUDA_NO_CHUNK)
        return inherited;
    *key |= SB_CUDA_EMPTIED;
    return sb_cuda_unstash();
}

/* A record of a new chunk, or 0. Seldom needed. */
SB_CUDA_FN unsigned int sb_cuda_refill(sb_cuda_entry *entry, const sb_cuda_entry *now) {
    const int is_ours = sb_cuda_is_ours(now);
    if (sb_cuda_number(&SB_CUDA_GATE.records) == 0 || !sb_cuda_has_entry()) {
        sb_cuda_count_missed();
        return 0;
    }
    if (is_ours && now->next == SB_CUDA_OFF)
        return 0;
    if (is_ours && now->next - SB_CUDA_LOST < SB_CUDA_RETRY * SB_CUDA_CHUNK_BYTES) {
        entry->next = now->next + SB_CUDA_CHUNK_BYTES;
        sb_cuda_count_lost();
        return 0;
    }
    if (sb_cuda_number(&SB_CUDA_GATE.is_off) || (!is_ours && !sb_cuda_is_sampled())) {
        sb_cuda_set_off(entry);
        return 0;
    }
    unsigned int key = *sb_cuda_this_key();
    unsigned int first = is_ours ? SB_CUDA_NO_CHUNK : sb_cuda_first_chunk(entry, &key);
    if (first == SB_CUDA_NO_CHUNK)
        first = sb_cuda_draw();
    if (first == SB_CUDA_NO_CHUNK) {
        sb_cuda_set_entry(entry, SB_CUDA_LOST);
        /* Whoever comes after us inherits what we get yet. */
        *sb_cuda_this_key() = key;
        sb_cuda_count_lost();
        return 0;
    }
    const unsigned int address = sb_cuda_address_of(first);
    sb_cuda_sign(address);
    const unsigned int claimed = address + SB_CUDA_OWNER_SLOTS * SB_CUDA_RECORD_BYTES;
    sb_cuda_set_entry(entry, claimed + SB_CUDA_RECORD_BYTES);
    *sb_cuda_this_key() = key;
    return claimed;
}

/* ---- records ---- */

/* Claims a record while other paths of the warp may; 0: it did not come to that. Paths seldom meet
   here, and a third time in a row is given up for another chunk. */
SB_CUDA_FN unsigned int sb_cuda_claim_among_paths(sb_cuda_entry *entry, unsigned int next) {
    unsigned int found = sb_cuda_shared_compare(&entry->next, next, next + SB_CUDA_RECORD_BYTES);
    if (found == next)
        return next;
    next = found;
    if (sb_cuda_is_free(next))
        found = sb_cuda_shared_compare(&entry->next, next, next + SB_CUDA_RECORD_BYTES);
    return found == next && sb_cuda_is_free(next) ? next : 0;
}

/* May all lanes of the warp, which are here, go on with the next record? In as few steps as it can
   be said: nothing else can begin before. */
SB_CUDA_FN int sb_cuda_is_simple(const sb_cuda_entry *now, unsigned int lanes) {
    const unsigned int differs =
        (now->launch ^ sb_cuda_this_launch()) | (now->block ^ sb_cuda_block());
    return sb_cuda_is_free(now->next) && (differs | sb_cuda_missing(lanes)) == 0 &&
           sb_cuda_has_entry();
}

/* Claims a record where it is not that simple; 0: there is none. By one lane. */
SB_CUDA_FN unsigned int sb_cuda_claim_slowly(sb_cuda_entry *entry, const sb_cuda_entry *now) {
    if (sb_cuda_is_ours(now) && sb_cuda_is_free(now->next) && sb_cuda_has_entry()) {
        const unsigned int claimed = sb_cuda_claim_among_paths(entry, now->next);
        if (claimed != 0)
            return claimed;
    }
    return sb_cuda_refill(entry, now);
}

/*
 * The address of the record, or 0. All lanes that come together go on together: a lane that ran
 * ahead of the one that records would be taken for a path of its own at the next zone, and lead
 * there.
 */
SB_CUDA_FN unsigned int sb_cuda_begin(sb_cuda_word what) {
    sb_cuda_entry *entry = sb_cuda_this_entry();
    const unsigned int lanes = sb_cuda_active_lanes();
    sb_cuda_entry now = sb_cuda_load_entry(entry);
    sb_cuda_meet(lanes);
    const int leads = sb_cuda_leads(lanes);
    const int is_simple = sb_cuda_is_simple(&now, lanes);
    if (is_simple && leads)
        entry->next = now.next + SB_CUDA_RECORD_BYTES;
    if (!is_simple && leads) {
        now.next = sb_cuda_claim_slowly(entry, &now);
        now.above = sb_cuda_number(&SB_CUDA_GATE.records_above);
    }
    sb_cuda_meet(lanes);
    unsigned int record = leads ? now.next : 0;
    /* As late as can be, so that what goes before is no part of the zone. */
    const sb_cuda_word clock = sb_cuda_clock_after(&record, &now.above);
    if (record != 0)
        sb_cuda_store_pair(sb_cuda_words_at(now.above, record), what, clock);
    return record;
}

SB_CUDA_FN void sb_cuda_end(unsigned int record) {
    const sb_cuda_word clock = sb_cuda_clock();
    if (record != 0)
        sb_cuda_store_pair(sb_cuda_record_at(record) + 2, clock, sb_cuda_timer());
}

/* Leaves a chunk to the next warp at our place of the SM. Where nothing was found something may
   have been on its way. */
SB_CUDA_FN void sb_cuda_stash_chunk(unsigned int chunk, unsigned int used, int is_empty) {
    if (is_empty) {
        sb_cuda_store_word(sb_cuda_this_stash(), SB_CUDA_STASH(chunk, used));
        return;
    }
    const sb_cuda_word before =
        sb_cuda_global_exchange(sb_cuda_this_stash(), SB_CUDA_STASH(chunk, used));
    if (before != 0)
        sb_cuda_retire((unsigned int)(before >> 32) - 1, (unsigned int)before);
}

/* This warp is done: what is left of its chunk is for the next one. */
SB_CUDA_FN void sb_cuda_release(void) {
    sb_cuda_entry *entry = sb_cuda_this_entry();
    const sb_cuda_entry now = sb_cuda_load_entry(entry);
    if (!sb_cuda_is_ours(&now))
        return;
    const unsigned int key = *sb_cuda_this_key();
    *sb_cuda_this_key() = key & ~SB_CUDA_KEY_MASK;
    entry->launch = ~now.launch;
    const unsigned int next = sb_cuda_shared_exchange(&entry->next, SB_CUDA_OFF);
    if (!sb_cuda_is_free(next))
        return;
    sb_cuda_store_pair(sb_cuda_record_at(next), (sb_cuda_word)SB_CUDA_DONE << SB_CUDA_KIND_SHIFT,
                       0);
    const unsigned int chunk = sb_cuda_slot_of(next) / SB_CUDA_CHUNK_SLOTS;
    const unsigned int used = sb_cuda_used(next) + 1;
    if (used + SB_CUDA_ROOM_LEAST <= SB_CUDA_CHUNK_SLOTS)
        sb_cuda_stash_chunk(chunk, used, (int)(key & SB_CUDA_EMPTIED));
    else if (used < SB_CUDA_CHUNK_SLOTS)
        sb_cuda_retire(chunk, used);
}

SB_CUDA_FN void sb_cuda_end_main(unsigned int record) {
    const unsigned int lanes = sb_cuda_active_lanes();
    sb_cuda_end(record);
    if (record != 0)
        sb_cuda_release();
    sb_cuda_meet(lanes);
}

/* The SM is told, since the clock is the SM's. */
SB_CUDA_FN void sb_cuda_end_span(unsigned int record) {
    if (record == 0 || !sb_cuda_leads(sb_cuda_active_lanes()))
        return;
    const sb_cuda_word clock = sb_cuda_clock();
    sb_cuda_store_pair(sb_cuda_record_at(record) + 2, clock, SB_CUDA_ON_SM | sb_cuda_sm_number());
}

SB_CUDA_FN void sb_cuda_note(sb_cuda_word what, sb_cuda_word value) {
    const unsigned int record = sb_cuda_begin(what);
    if (record != 0)
        sb_cuda_store_pair(sb_cuda_record_at(record) + 2, value, 1);
}

/* From here on this warp is not recorded, zones that are open excepted; or it is again. */
SB_CUDA_FN void sb_cuda_validate(int condition) {
    const unsigned int lanes = sb_cuda_active_lanes();
    if (sb_cuda_leads(lanes) && sb_cuda_has_entry() && sb_cuda_number(&SB_CUDA_GATE.records) != 0) {
        sb_cuda_entry *entry = sb_cuda_this_entry();
        const sb_cuda_entry now = sb_cuda_load_entry(entry);
        if (!condition)
            sb_cuda_set_off(entry);
        else if (sb_cuda_is_ours(&now) && now.next == SB_CUDA_OFF)
            entry->launch = ~now.launch;
    }
    sb_cuda_meet(lanes);
}

/* ---- sums ---- */

/* The record that a warp adds to, as long as it comes from one place and has room in its chunk. */
typedef struct sb_cuda_sum {
    unsigned int launch;
    unsigned int block;
    unsigned int key; /* the warp's, so that it is not another warp's */
    unsigned int place;
    unsigned int record;
} sb_cuda_sum;

/* In the chunk that the warp is in, as long as it has room: so sums in a full one are final. */
SB_CUDA_FN int sb_cuda_is_sum_of(const sb_cuda_sum *sum, const sb_cuda_entry *now,
                                 unsigned int place) {
    return sb_cuda_is_ours(now) && sum->launch == now->launch && sum->block == now->block &&
           sum->key == *sb_cuda_this_key() && sum->place == place && sum->record != 0 &&
           sb_cuda_is_free(now->next) && (sum->record ^ now->next) < SB_CUDA_CHUNK_BYTES;
}

/* By one lane. Two places that take turns cost a record each time; the host adds up all records of
   a place. */
SB_CUDA_FN void sb_cuda_add(sb_cuda_sum *sum, unsigned int place, sb_cuda_word cycles) {
    if (!sb_cuda_has_entry()) {
        sb_cuda_count_missed();
        return;
    }
    sb_cuda_entry *entry = sb_cuda_this_entry();
    const sb_cuda_entry now = sb_cuda_load_entry(entry);
    if (!sb_cuda_is_sum_of(sum, &now, place)) {
        sum->record = sb_cuda_claim_slowly(entry, &now);
        sum->launch = sb_cuda_this_launch();
        sum->block = sb_cuda_block();
        sum->key = *sb_cuda_this_key();
        sum->place = place;
        if (sum->record == 0)
            return;
        sb_cuda_store_pair(sb_cuda_record_at(sum->record), sb_cuda_word_of(SB_CUDA_SUM, place),
                           sb_cuda_clock());
    }
    sb_cuda_word *words = sb_cuda_record_at(sum->record);
    sb_cuda_global_sum(&words[2], cycles);
    sb_cuda_global_sum(&words[3], 1);
}

#endif
