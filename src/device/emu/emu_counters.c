/*
 * Performance counters: of the hardware's five groups the one of instructions, and in it what this
 * machine knows of its harts. A thread is a TRISC; it has stalled in every clock in which it has
 * finished no instruction. Whatever else the hardware counts does not exist here.
 */
#include "device/emu/emu_machine.h"

#define PERIOD 0xFFB12000u
#define MODE 0xFFB12004u
#define CONTROL 0xFFB12008u
#define REFERENCE 0xFFB12100u
#define COUNT 0xFFB12104u

#define CONTROL_START 1u
#define CONTROL_STOP 2u
#define SELECTOR_SHIFT 8

/* Selectors, each with those of the other two threads behind it. */
#define SELECT_STALLS 24u
#define SELECT_INSTRUCTIONS 256u
#define INSTRUCTIONS_STEP 8u

bool emu_is_counter(uint32_t address) {
    return (address >= PERIOD && address <= CONTROL) || address == REFERENCE || address == COUNT;
}

/* The thread whose stalls or instructions a selector stands for. */
static bool find_thread(uint32_t selector, uint32_t *thread, bool *is_stalls) {
    *is_stalls = selector < SELECT_INSTRUCTIONS;
    *thread = *is_stalls ? selector - SELECT_STALLS
                         : (selector - SELECT_INSTRUCTIONS) / INSTRUCTIONS_STEP;
    const uint32_t whole =
        *is_stalls ? SELECT_STALLS + *thread : SELECT_INSTRUCTIONS + *thread * INSTRUCTIONS_STEP;
    return *thread < EMU_THREADS && whole == selector;
}

/*
 * Harts run ahead of each other where nobody can tell the difference: then it is a part of what the
 * hart did when it last ran. Turns of polling that a parked hart is spared are added when it wakes.
 */
static uint64_t retired_at(const emu_hart *hart, uint64_t clock) {
    if (hart->state == EMU_PARKED)
        return hart->poll.period == 0 || clock <= hart->poll.clock
                   ? hart->retired
                   : hart->retired + (clock - hart->poll.clock) / hart->poll.period * hart->turn;
    if (clock >= hart->clock || clock < hart->run_clock)
        return hart->retired;
    return hart->run_retired + (hart->retired - hart->run_retired) * (clock - hart->run_clock) /
                                   (hart->clock - hart->run_clock);
}

static const emu_hart *hart_of_thread(const emu_tile *tile, uint32_t thread) {
    const emu_hart *hart = tile->harts;
    while (hart->number != EMU_TRISC0 + thread)
        hart++;
    return hart;
}

/* Harts of a tile may be a few clocks apart. */
static uint32_t stalls_of(const emu_counters *counters, uint32_t thread) {
    const uint32_t instructions = counters->instructions[thread];
    return counters->reference > instructions ? counters->reference - instructions : 0;
}

bool emu_counter_read(const emu_tile *tile, uint32_t address, uint32_t *value) {
    const emu_counters *counters = &tile->counters;
    uint32_t thread = 0;
    bool is_stalls = false;
    if (address == PERIOD || address == CONTROL)
        *value = address == PERIOD ? counters->period : counters->control;
    else if (address == MODE)
        *value = counters->mode;
    else if (address == REFERENCE)
        *value = counters->reference;
    else if (find_thread(counters->mode >> SELECTOR_SHIFT, &thread, &is_stalls))
        *value = is_stalls ? stalls_of(counters, thread) : counters->instructions[thread];
    else
        return false;
    return true;
}

/* Starting and stopping wait for the end of the store: only then is known what the hart has done.
 */
bool emu_counter_write(emu_tile *tile, uint32_t address, uint32_t value) {
    emu_counters *counters = &tile->counters;
    if (address == PERIOD)
        counters->period = value;
    else if (address == MODE)
        counters->mode = value;
    else if (address == CONTROL) {
        counters->rises = value & ~counters->control;
        counters->control = value;
    } else
        return false;
    return true;
}

void emu_counters_settle(emu_tile *tile, uint64_t clock) {
    emu_counters *counters = &tile->counters;
    const uint32_t rises = counters->rises;
    counters->rises = 0;
    for (uint32_t i = 0; i < EMU_THREADS; i++) {
        const uint64_t retired = retired_at(hart_of_thread(tile, i), clock);
        if ((rises & CONTROL_START) != 0)
            counters->begin[i] = retired;
        counters->instructions[i] = (uint32_t)(retired - counters->begin[i]);
    }
    if ((rises & CONTROL_START) != 0)
        counters->begin_clock = clock;
    counters->reference = (uint32_t)(clock - counters->begin_clock);
}
