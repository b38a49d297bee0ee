/*
 * Parking: a hart that polls is taken out of the schedule until what it polls changes, and the
 * turns it would have made are added up. Most of the harts of a chip wait most of the time, so this
 * matters more than the speed of the interpreter.
 */
#include <string.h>

#include "device/emu/emu_machine.h"

/* Stops between two tries at the most. */
#define REST_MAX 256u

static bool has_flag_byte(uint32_t address) {
    return address < EMU_L1_SIZE;
}

/* ---- recognising a loop ---- */

/* Words that only a store, a packet or a counter changes. Anything else is not waited for. */
static bool can_be_watched(uint32_t address) {
    if (has_flag_byte(address))
        return true;
    const uint32_t noc = (address - EMU_NOC_BASE) >> 16;
    const uint32_t offset = (address - EMU_NOC_BASE) & 0xFFFF;
    return noc < EMU_NOCS && offset >= 0x200 && offset < 0x200 + 4 * EMU_COUNTERS;
}

static void begin(emu_hart *hart) {
    emu_poll *poll = &hart->poll;
    poll->observes = true;
    poll->pc = hart->pc;
    poll->clock = hart->clock;
    poll->effects = hart->effects;
    poll->retired = hart->retired;
    poll->watch_count = 0;
    memcpy(poll->registers, hart->registers, sizeof poll->registers);
}

static void give_up(emu_poll *poll) {
    poll->observes = false;
    poll->period = 0;
    poll->rest = 1u << (poll->failures < 8 ? poll->failures : 8);
    if (poll->rest > REST_MAX)
        poll->rest = REST_MAX;
    poll->failures++;
}

static void park(emu_tile *tile, emu_hart *hart) {
    emu_poll *poll = &hart->poll;
    /* The head is now: the watches were seen in the turn that has just ended. */
    hart->turn = hart->retired - poll->retired;
    poll->clock = hart->clock;
    poll->observes = false;
    poll->failures = 0;
    poll->rest = 0;
    for (uint32_t i = 0; i < poll->watch_count; i++)
        if (has_flag_byte(poll->watches[i].address))
            tile->flags[poll->watches[i].address >> EMU_PAGE_SHIFT]++;
    hart->state = EMU_PARKED;
    tile->parked++;
    emu_hart_changed(tile, hart);
}

/* The hart stands at the head again, after a turn. */
static void end_turn(emu_tile *tile, emu_hart *hart) {
    emu_poll *poll = &hart->poll;
    const uint64_t period = hart->clock - poll->clock;
    if (hart->effects != poll->effects ||
        memcmp(hart->registers, poll->registers, sizeof poll->registers) != 0) {
        give_up(poll);
        return;
    }
    if (period == poll->period) {
        park(tile, hart);
        return;
    }
    poll->period = period;
    begin(hart);
}

static bool watch(emu_tile *tile, emu_hart *hart) {
    emu_poll *poll = &hart->poll;
    const emu_op op = emu_next_op(tile, hart);
    const uint32_t address = hart->registers[op.rs1] + (uint32_t)op.imm;
    if (!emu_is_load((emu_kind)op.kind) || poll->watch_count == EMU_WATCH_MAX ||
        !can_be_watched(address))
        return false;
    poll->watches[poll->watch_count++] =
        (emu_watch){.address = address & ~3u, .offset = hart->clock - poll->clock};
    return true;
}

void emu_poll_stopped(emu_tile *tile, emu_hart *hart) {
    emu_poll *poll = &hart->poll;
    if (poll->observes) {
        if (hart->pc == poll->pc)
            end_turn(tile, hart);
        if (poll->observes && !watch(tile, hart))
            give_up(poll);
        return;
    }
    /* A second stop at the same place is what a loop looks like; so may be every other one. */
    if (hart->pc == poll->last_pc || (hart->retired & 7) == 0) {
        begin(hart);
        if (!watch(tile, hart))
            give_up(poll);
    }
    poll->last_pc = hart->pc;
}

/* ---- waking ---- */

static void drop_watches(emu_tile *tile, const emu_hart *hart) {
    for (uint32_t i = 0; i < hart->poll.watch_count; i++)
        if (has_flag_byte(hart->poll.watches[i].address))
            tile->flags[hart->poll.watches[i].address >> EMU_PAGE_SHIFT]--;
    tile->parked--;
}

void emu_unpark(emu_tile *tile, emu_hart *hart) {
    if (hart->state == EMU_PARKED)
        drop_watches(tile, hart);
    hart->poll = (emu_poll){0};
}

/*
 * The load of one watch, made at clock or later, sees something new. The hart goes back to the head
 * of the turn in which that load is made; what the turn loaded before it has not changed.
 */
static void wake(emu_tile *tile, emu_hart *hart, const emu_watch *seen, uint64_t clock) {
    emu_poll *poll = &hart->poll;
    const uint64_t first = poll->clock + seen->offset;
    const uint64_t turns = first >= clock ? 0 : (clock - first + poll->period - 1) / poll->period;
    const uint64_t shift = turns * poll->period;
    drop_watches(tile, hart);
    hart->clock = poll->clock + shift;
    hart->retired += turns * hart->turn;
    hart->skipped += turns * hart->turn;
    hart->store_ready += shift;
    for (uint32_t waited = hart->pending; waited != 0; waited &= waited - 1)
        hart->ready[__builtin_ctz(waited)] += shift;
    hart->state = EMU_ACTIVE;
    poll->period = 0;
    emu_hart_changed(tile, hart);
}

static void wake_watchers(emu_tile *tile, uint32_t address, uint32_t size, uint64_t clock,
                          emu_actor actor) {
    for (uint32_t order = 0; order < EMU_HARTS && tile->parked > 0; order++) {
        emu_hart *hart = &tile->harts[order];
        if (hart->state != EMU_PARKED)
            continue;
        const uint64_t seen_from = emu_actor_of(tile, hart) > actor ? clock : clock + 1;
        for (uint32_t i = 0; i < hart->poll.watch_count; i++) {
            const emu_watch *watched = &hart->poll.watches[i];
            if (watched->address + 4 > address && watched->address < address + size) {
                wake(tile, hart, watched, seen_from);
                break;
            }
        }
    }
}

/* ---- writes ---- */

static void forget_code(emu_tile *tile, uint32_t first, uint32_t last) {
    for (uint32_t page = first; page <= last; page++) {
        tile->pages[page] = NULL;
        tile->flags[page] &= (uint8_t)~EMU_FLAG_CODE;
    }
}

void emu_written(emu_tile *tile, uint32_t address, uint32_t size, uint64_t clock, emu_actor actor) {
    if (has_flag_byte(address)) {
        const uint32_t first = address >> EMU_PAGE_SHIFT;
        const uint32_t last = (address + size - 1) >> EMU_PAGE_SHIFT;
        uint8_t flags = 0;
        for (uint32_t page = first; page <= last; page++)
            flags |= tile->flags[page];
        if ((flags & EMU_FLAG_CODE) != 0)
            forget_code(tile, first, last);
        if ((flags & ~EMU_FLAG_CODE) == 0)
            return;
    }
    if (tile->parked > 0)
        wake_watchers(tile, address, size, clock, actor);
}

void emu_count(emu_tile *tile, uint32_t noc, emu_counter counter, uint64_t clock, emu_actor actor) {
    tile->nocs[noc].counters[counter]++;
    emu_written(tile, EMU_NOC_BASE + noc * 0x10000 + 0x200 + 4 * (uint32_t)counter, 4, clock,
                actor);
}

void emu_count_outstanding(emu_tile *tile, uint32_t noc, uint32_t transaction, int change,
                           uint64_t clock) {
    const uint32_t counter = EMU_OUTSTANDING + transaction;
    tile->nocs[noc].counters[counter] += (uint32_t)change;
    emu_written(tile, EMU_NOC_BASE + noc * 0x10000 + 0x200 + 4 * counter, 4, clock, EMU_OUTSIDE);
}
