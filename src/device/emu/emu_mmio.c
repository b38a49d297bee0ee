/*
 * Registers: soft reset, wall clock, start addresses, the NoC interfaces, and counters. Whatever is
 * not listed here does not exist, and touching it stops the machine.
 */
#include "device/emu/emu_machine.h"

#define SOFT_RESET 0xFFB121B0u
#define CLOCK_LOW 0xFFB121F0u
#define CLOCK_HIGH 0xFFB121F4u
#define CLOCK_HIGH_LATCHED 0xFFB121F8u

/* Tensix configuration words 157 to 163 are indices 0 to 6 of emu_tile.config. */
#define CONFIG_FIRST 157u
#define CONFIG_COUNT 7u
enum { CONFIG_TRISC0_PC = 1, CONFIG_TRISC_MASK = 4, CONFIG_NCRISC_PC = 5, CONFIG_NCRISC_MASK = 6 };

#define NOC_TARGET_LOW 0x00u
#define NOC_TARGET_HIGH 0x04u
#define NOC_RETURN_LOW 0x0Cu
#define NOC_RETURN_HIGH 0x10u
#define NOC_TAG 0x18u
#define NOC_CONTROL 0x1Cu
#define NOC_LENGTH 0x20u
#define NOC_DATA 0x24u
#define NOC_SEND 0x28u
#define NOC_NODE_ID 0x2Cu
#define NOC_LOGICAL_ID 0x138u
#define NOC_COUNTERS 0x200u
#define NOC_COUNTERS_END 0x280u
#define NOC_BUFFER_BYTES 0x400u
#define NOC_TAG_BITS (0xFu << 10)

bool emu_is_wall_clock(uint32_t address) {
    return address >= CLOCK_LOW && address <= CLOCK_HIGH_LATCHED;
}

/* ---- wall clock ---- */

static uint64_t wall_clock(const emu_tile *tile, uint64_t clock) {
    const emu_options *options = &tile->machine->options;
    const double gained = (double)clock * options->drift_ppm * 1e-6 * tile->chip;
    return clock + tile->skew + (uint64_t)(options->offset_clocks * (int64_t)tile->chip) +
           (uint64_t)(int64_t)gained;
}

static uint32_t read_clock(emu_tile *tile, uint32_t address, uint64_t clock) {
    const uint64_t time = wall_clock(tile, clock);
    if (address == CLOCK_LOW) {
        tile->clock_high = (uint32_t)(time >> 32);
        return (uint32_t)time;
    }
    return address == CLOCK_HIGH ? (uint32_t)(time >> 32) : tile->clock_high;
}

/* ---- soft reset ---- */

static uint32_t reset_bit(const emu_hart *hart) {
    static const uint32_t bits[EMU_HARTS] = {1u << 11, 1u << 18, 1u << 12, 1u << 13, 1u << 14};
    return bits[hart->number];
}

static uint32_t start_pc(const emu_tile *tile, const emu_hart *hart) {
    static const uint32_t trisc_defaults[3] = {0x6000, 0xA000, 0xE000};
    if (hart->number == EMU_BRISC)
        return 0;
    if (hart->number == EMU_NCRISC)
        return (tile->config[CONFIG_NCRISC_MASK] & 1) != 0 ? tile->config[CONFIG_NCRISC_PC]
                                                           : 0x12000;
    const uint32_t trisc = hart->number - EMU_TRISC0;
    return (tile->config[CONFIG_TRISC_MASK] >> trisc & 1) != 0
               ? tile->config[CONFIG_TRISC0_PC + trisc]
               : trisc_defaults[trisc];
}

static void hold(emu_tile *tile, emu_hart *hart) {
    emu_unpark(tile, hart);
    hart->state = EMU_HELD;
    emu_hart_changed(tile, hart);
}

/* Registers keep what they held: start-up code may not rely on them being zero. */
static void release(emu_tile *tile, emu_hart *hart, uint64_t clock) {
    hart->pc = start_pc(tile, hart);
    hart->clock = clock;
    hart->pending = 0;
    hart->store_ready = clock;
    hart->state = EMU_ACTIVE;
    emu_hart_changed(tile, hart);
}

/* Harts let go by a hart begin with the next clock; by the host, with this one. */
static void set_soft_reset(emu_tile *tile, uint32_t value, uint64_t start) {
    tile->soft_reset = value;
    for (uint32_t order = 0; order < EMU_HARTS; order++) {
        emu_hart *hart = &tile->harts[order];
        const bool is_held = (value & reset_bit(hart)) != 0;
        if (is_held && hart->state != EMU_HELD)
            hold(tile, hart);
        else if (!is_held && hart->state == EMU_HELD)
            release(tile, hart, start);
    }
}

static bool is_soft_reset_value(uint32_t value) {
    return (value & ~0x47800u) == 0;
}

/* ---- NoC interface ---- */

static uint32_t *command_word(emu_command *command, uint32_t offset) {
    switch (offset) {
    case NOC_TARGET_LOW:
        return &command->target_low;
    case NOC_TARGET_HIGH:
        return &command->target_high;
    case NOC_RETURN_LOW:
        return &command->return_low;
    case NOC_RETURN_HIGH:
        return &command->return_high;
    case NOC_TAG:
        return &command->tag;
    case NOC_CONTROL:
        return &command->control;
    case NOC_LENGTH:
        return &command->length;
    case NOC_DATA:
        return &command->data;
    default:
        return NULL;
    }
}

static uint32_t node_id(const emu_tile *tile, uint32_t noc) {
    const emu_place place = emu_place_of_tile(tile->machine, tile->index);
    const uint32_t x = noc == 0 ? place.x : 9 - place.x;
    const uint32_t y = noc == 0 ? place.y : 11 - place.y;
    return x | y << 6 | 10u << 12 | 12u << 19 | (noc == 0 ? 1u << 28 : 0);
}

static uint32_t logical_id(const emu_tile *tile) {
    const uint32_t columns = tile->machine->options.columns;
    return (18 + tile->index % columns) | (18 + tile->index / columns) << 6;
}

static bool read_noc(emu_tile *tile, uint32_t noc, uint32_t offset, uint32_t *value) {
    const uint32_t counter = (offset - NOC_COUNTERS) / 4;
    if (offset >= NOC_COUNTERS && offset < NOC_COUNTERS_END) {
        *value = counter < EMU_COUNTERS ? tile->nocs[noc].counters[counter] : 0;
        return (offset & 3) == 0;
    }
    if (offset == NOC_NODE_ID || offset == NOC_LOGICAL_ID) {
        *value = offset == NOC_NODE_ID ? node_id(tile, noc) : logical_id(tile);
        return true;
    }
    const uint32_t buffer = offset / NOC_BUFFER_BYTES;
    const uint32_t in_buffer = offset % NOC_BUFFER_BYTES;
    if (buffer >= EMU_COMMAND_BUFFERS)
        return false;
    if (in_buffer == NOC_SEND) {
        *value = 0;
        return true;
    }
    const uint32_t *word = command_word(&tile->nocs[noc].commands[buffer], in_buffer);
    *value = word != NULL ? *word : 0;
    return word != NULL;
}

static bool write_noc(emu_tile *tile, emu_hart *hart, uint32_t address, uint32_t value,
                      uint64_t clock) {
    const uint32_t noc = (address - EMU_NOC_BASE) >> 16;
    const uint32_t offset = (address - EMU_NOC_BASE) & 0xFFFF;
    const uint32_t buffer = offset / NOC_BUFFER_BYTES;
    const uint32_t in_buffer = offset % NOC_BUFFER_BYTES;
    if (buffer >= EMU_COMMAND_BUFFERS)
        return emu_fail(tile, hart, clock, "store to a register that does not exist, 0x%08x",
                        address);
    if (in_buffer == NOC_SEND) {
        if (value != 1)
            return emu_fail(tile, hart, clock, "NoC %u: 0x%x written to send a command, not 1", noc,
                            value);
        return emu_noc_send(tile, hart, noc, buffer, clock);
    }
    if (in_buffer == NOC_TAG && (value & ~NOC_TAG_BITS) != 0)
        return emu_fail(tile, hart, clock, "NoC %u: packet tag 0x%x", noc, value);
    uint32_t *word = command_word(&tile->nocs[noc].commands[buffer], in_buffer);
    if (word == NULL)
        return emu_fail(tile, hart, clock, "store to a register that does not exist, 0x%08x",
                        address);
    *word = value;
    return true;
}

/* ---- all of them ---- */

static bool is_noc(uint32_t address) {
    return address >= EMU_NOC_BASE && address < EMU_NOC_BASE + EMU_NOCS * 0x10000u;
}

static bool is_config(uint32_t address) {
    return address >= EMU_CONFIG_BASE + CONFIG_FIRST * 4 &&
           address < EMU_CONFIG_BASE + (CONFIG_FIRST + CONFIG_COUNT) * 4;
}

bool emu_register_read_outside(emu_tile *tile, uint32_t address, uint64_t clock, uint32_t *value) {
    if (emu_is_wall_clock(address)) {
        *value = read_clock(tile, address, clock);
        return true;
    }
    if (address == SOFT_RESET) {
        *value = tile->soft_reset;
        return true;
    }
    if (is_noc(address))
        return read_noc(tile, (address - EMU_NOC_BASE) >> 16, (address - EMU_NOC_BASE) & 0xFFFF,
                        value);
    return false;
}

bool emu_register_write_outside(emu_tile *tile, uint32_t address, uint32_t value, uint64_t clock) {
    if (address != SOFT_RESET || !is_soft_reset_value(value))
        return false;
    set_soft_reset(tile, value, clock);
    return true;
}

bool emu_register_read(emu_tile *tile, emu_hart *hart, uint32_t address, uint64_t clock,
                       uint32_t *value) {
    if (emu_register_read_outside(tile, address, clock, value))
        return true;
    if (is_config(address) && hart->number != EMU_NCRISC) {
        *value = tile->config[(address - EMU_CONFIG_BASE) / 4 - CONFIG_FIRST];
        return true;
    }
    if (emu_is_counter(address) && emu_counter_read(tile, address, value))
        return true;
    return emu_fail(tile, hart, clock, "load from a register that does not exist, 0x%08x", address);
}

bool emu_register_write(emu_tile *tile, emu_hart *hart, uint32_t address, uint32_t value,
                        uint64_t clock) {
    if (is_noc(address))
        return write_noc(tile, hart, address, value, clock);
    if (address == SOFT_RESET) {
        if (!is_soft_reset_value(value))
            return emu_fail(tile, hart, clock, "soft reset 0x%x has bits that are no hart's",
                            value);
        set_soft_reset(tile, value, clock + 1);
        return true;
    }
    if (is_config(address) && hart->number != EMU_NCRISC) {
        tile->config[(address - EMU_CONFIG_BASE) / 4 - CONFIG_FIRST] = value;
        return true;
    }
    if (emu_is_counter(address) && emu_counter_write(tile, address, value))
        return true;
    return emu_fail(tile, hart, clock, "store to a register that does not exist, 0x%08x", address);
}
