/*
 * The interpreter: memory, arithmetic and time of one hart. The function that runs through the
 * operations is in emu_interpret.h and compiled once for each model of time; the compiler drops
 * what the other model needs.
 */
#include <stdlib.h>
#include <string.h>

#include "device/emu/emu_machine.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A store to a register is done as well, and says so because it may have changed much. */
typedef enum access { ACCESS_DONE, ACCESS_REGISTER, ACCESS_LATER, ACCESS_FAILED } access;

static __attribute__((noinline)) const emu_page *find_page(emu_tile *tile, uint32_t number) {
    const uint32_t begin = number << EMU_PAGE_SHIFT;
    tile->pages[number] = emu_pages_find(tile->machine->pages, tile->l1 + begin, begin);
    tile->flags[number] |= EMU_FLAG_CODE;
    return tile->pages[number];
}

static ALWAYS_INLINE const emu_page *page_at(emu_tile *tile, uint32_t address) {
    const emu_page *page = tile->pages[address >> EMU_PAGE_SHIFT];
    return page != NULL ? page : find_page(tile, address >> EMU_PAGE_SHIFT);
}

emu_op emu_next_op(emu_tile *tile, const emu_hart *hart) {
    return page_at(tile, hart->pc)->ops[(hart->pc & (EMU_PAGE_BYTES - 1)) / 4];
}

/* ---- memory ---- */

static bool is_local(const emu_hart *hart, uint32_t address) {
    return address - EMU_LOCAL_BASE < hart->local_bytes;
}

/* So far below local memory an address is taken for one of a stack that is too deep. */
#define STACK_REACH 0x4000u

static access fail_access(emu_tile *tile, const emu_hart *hart, uint64_t clock, const char *what,
                          uint32_t address, uint32_t size) {
    if ((address & (size - 1)) != 0)
        emu_fail(tile, hart, clock, "misaligned %s of %u bytes at 0x%08x", what, size, address);
    else if (EMU_LOCAL_BASE - address <= STACK_REACH)
        emu_fail(tile, hart, clock, "%s at 0x%08x, below local memory: the stack ran over its end",
                 what, address);
    else
        emu_fail(tile, hart, clock, "%s at 0x%08x, where there is nothing", what, address);
    return ACCESS_FAILED;
}

/* A load from elsewhere than local memory and L1. */
static access load_register(emu_tile *tile, emu_hart *hart, uint32_t address, uint32_t size,
                            uint64_t clock, uint64_t limit, uint32_t *value) {
    if ((address & (size - 1)) != 0 || address < EMU_LOCAL_BASE)
        return fail_access(tile, hart, clock, "load", address, size);
    if (size != 4) {
        emu_fail(tile, hart, clock, "load of %u bytes from a register, 0x%08x", size, address);
        return ACCESS_FAILED;
    }
    if (emu_is_wall_clock(address))
        hart->effects++;
    else if (clock >= limit)
        return ACCESS_LATER;
    return emu_register_read(tile, hart, address, clock, value) ? ACCESS_DONE : ACCESS_FAILED;
}

static access store_register(emu_tile *tile, emu_hart *hart, uint32_t address, uint32_t size,
                             uint64_t clock, uint64_t limit, uint32_t value) {
    if ((address & (size - 1)) != 0 || address < EMU_LOCAL_BASE)
        return fail_access(tile, hart, clock, "store", address, size);
    if (size != 4) {
        emu_fail(tile, hart, clock, "store of %u bytes to a register, 0x%08x", size, address);
        return ACCESS_FAILED;
    }
    if (clock >= limit)
        return ACCESS_LATER;
    hart->effects++;
    hart->stall = 0;
    return emu_register_write(tile, hart, address, value, clock) ? ACCESS_REGISTER : ACCESS_FAILED;
}

static ALWAYS_INLINE access load(emu_tile *tile, emu_hart *hart, uint32_t address, uint32_t size,
                                 uint64_t clock, uint64_t limit, uint32_t *value,
                                 uint32_t *latency) {
    uint32_t word = 0;
    if (address < EMU_L1_SIZE && (address & (size - 1)) == 0) {
        if (clock >= limit)
            return ACCESS_LATER;
        memcpy(&word, tile->l1 + address, size);
        *latency = EMU_L1_LATENCY;
    } else if (is_local(hart, address) && (address & (size - 1)) == 0) {
        memcpy(&word, hart->local + (address - EMU_LOCAL_BASE), size);
        *latency = EMU_LOCAL_LATENCY;
    } else {
        *latency = EMU_REGISTER_LATENCY;
        return load_register(tile, hart, address, size, clock, limit, value);
    }
    *value = word;
    return ACCESS_DONE;
}

static ALWAYS_INLINE access store(emu_tile *tile, emu_hart *hart, uint32_t address, uint32_t size,
                                  uint64_t clock, uint64_t limit, uint32_t value) {
    if (address < EMU_L1_SIZE && (address & (size - 1)) == 0) {
        if (clock >= limit)
            return ACCESS_LATER;
        memcpy(tile->l1 + address, &value, size);
        hart->effects++;
        hart->store_ready = clock + EMU_L1_STORE_CLOCKS;
        if (tile->flags[address >> EMU_PAGE_SHIFT] != 0)
            emu_written(tile, address, size, clock, emu_actor_of(tile, hart));
    } else if (is_local(hart, address) && (address & (size - 1)) == 0) {
        memcpy(hart->local + (address - EMU_LOCAL_BASE), &value, size);
        hart->effects++;
    } else {
        return store_register(tile, hart, address, size, clock, limit, value);
    }
    return ACCESS_DONE;
}

/* ---- arithmetic ---- */

static uint32_t divide(uint32_t a, uint32_t b) {
    if (b == 0)
        return UINT32_MAX;
    if (a == 0x80000000u && b == UINT32_MAX)
        return a;
    return (uint32_t)((int32_t)a / (int32_t)b);
}

static uint32_t remainder_of(uint32_t a, uint32_t b) {
    if (b == 0)
        return a;
    if (a == 0x80000000u && b == UINT32_MAX)
        return 0;
    return (uint32_t)((int32_t)a % (int32_t)b);
}

static uint32_t shift_right(uint32_t value, uint32_t count) {
    return (uint32_t)((int32_t)value >> (count & 31));
}

/* Divisions take longer the larger the dividend is. */
static uint32_t divide_clocks(uint32_t dividend, uint32_t divisor) {
    if (divisor <= 1)
        return 2;
    const uint32_t bits = dividend == 0 ? 0 : 32u - (uint32_t)__builtin_clz(dividend);
    return 6 + bits * 27 / 32;
}

static uint32_t magnitude(uint32_t value) {
    return (int32_t)value < 0 ? 0u - value : value;
}

/* ---- time ---- */

/* The clock at which L1 takes a store; other memory does at once. */
static ALWAYS_INLINE uint64_t wait_for_port(const emu_hart *hart, uint32_t address,
                                            uint64_t clock) {
    return address < EMU_L1_SIZE && hart->store_ready > clock ? hart->store_ready : clock;
}

/* The clock at which all registers in uses have their values. */
static uint64_t settle(const emu_hart *hart, uint32_t waited, uint64_t clock) {
    while (waited != 0) {
        const unsigned number = (unsigned)__builtin_ctz(waited);
        if (hart->ready[number] > clock)
            clock = hart->ready[number];
        waited &= waited - 1;
    }
    return clock;
}

/*
 * Operations are reached by a jump at the end of the one before (labels as values, a GNU extension,
 * used in this file only): each of these jumps is predicted by itself, which makes the interpreter
 * half as fast again as one jump at the head of a switch.
 */
#pragma GCC diagnostic ignored "-Wpedantic"
#define NEXT                                                 \
    do {                                                     \
        op++;                                                \
        clock++;                                             \
        retired++;                                           \
        if (MODELLED && (pending & op->uses) != 0) {         \
            clock = settle(hart, pending & op->uses, clock); \
            pending &= ~op->uses;                            \
        }                                                    \
        a = regs[op->rs1];                                   \
        b = regs[op->rs2];                                   \
        goto *operations[op->kind];                          \
    } while (0)

#define RUN run_count
#define MODELLED false
#include "device/emu/emu_interpret.h"
#undef RUN
#undef MODELLED
#define RUN run_modelled
#define MODELLED true
#include "device/emu/emu_interpret.h"

void emu_hart_run(emu_tile *tile, emu_hart *hart, uint64_t limit) {
    hart->run_clock = hart->clock;
    hart->run_retired = hart->retired;
    if (tile->machine->options.time == EMU_COUNT)
        run_count(tile, hart, limit);
    else
        run_modelled(tile, hart, limit);
    if (tile->counters.rises != 0)
        emu_counters_settle(tile, hart->clock);
    /* While it ran, where it was could be seen only from op. */
    if (tile->fault.happened && tile->fault.hart == hart->number)
        tile->fault.pc = hart->pc;
    emu_hart_changed(tile, hart);
}
