/*
 * Coordinates. NoC 0 numbers a grid of 10 x 12 from one corner, NoC 1 from the opposite one.
 * Coordinates from 16 on are translated ones and mean the same on both.
 */
#include "device/emu/emu_machine.h"

#define GRID_WIDTH 10u
#define GRID_HEIGHT 12u
#define TRANSLATED 16u
#define TRANSLATED_TILE 18u

static const uint8_t tile_columns[EMU_MAX_COLUMNS] = {1, 2, 3, 4, 6, 7, 8, 9};
static const uint8_t tile_rows[EMU_MAX_ROWS] = {1, 2, 3, 4, 5, 7, 8, 9, 10, 11};

/* The three endpoints of each DRAM channel. */
static const struct {
    uint8_t x, y;
} dram_endpoints[EMU_DRAM_CHANNELS][3] = {
    {{0, 0}, {0, 1}, {0, 11}}, {{0, 5}, {0, 6}, {0, 7}}, {{5, 0}, {5, 1}, {5, 11}},
    {{5, 2}, {5, 9}, {5, 10}}, {{5, 3}, {5, 4}, {5, 8}}, {{5, 5}, {5, 6}, {5, 7}},
};

/* Two of the places where the hardware has Ethernet lead to the neighbours. */
#define LINK_NEXT_X 1u
#define LINK_BEFORE_X 9u
#define LINK_Y 0u

emu_place emu_place_of_tile(const emu_machine *machine, uint32_t index) {
    const uint32_t columns = machine->options.columns;
    return (emu_place){EMU_TILE, index, tile_columns[index % columns], tile_rows[index / columns]};
}

emu_tile *emu_tile_at(emu_machine *machine, uint32_t chip, uint32_t index) {
    return &machine->tiles[(size_t)chip * machine->tile_count + index];
}

static uint32_t nodes_per_chip(const emu_machine *machine) {
    return machine->tile_count + EMU_DRAM_CHANNELS;
}

emu_tile *emu_tile_of_node(emu_machine *machine, uint32_t node) {
    const uint32_t index = node % nodes_per_chip(machine);
    return index < machine->tile_count ? emu_tile_at(machine, node / nodes_per_chip(machine), index)
                                       : NULL;
}

emu_dram *emu_dram_of_node(emu_machine *machine, uint32_t node) {
    const uint32_t index = node % nodes_per_chip(machine);
    return index < machine->tile_count
               ? NULL
               : &machine->chips[node / nodes_per_chip(machine)].dram[index - machine->tile_count];
}

static emu_place find_tile(const emu_machine *machine, uint32_t x, uint32_t y) {
    for (uint32_t row = 0; row < machine->options.rows; row++)
        for (uint32_t column = 0; column < machine->options.columns; column++)
            if (tile_columns[column] == x && tile_rows[row] == y)
                return (emu_place){EMU_TILE, row * machine->options.columns + column, x, y};
    return (emu_place){EMU_NOWHERE, 0, x, y};
}

static emu_place find_dram(uint32_t x, uint32_t y) {
    for (uint32_t channel = 0; channel < EMU_DRAM_CHANNELS; channel++)
        for (uint32_t i = 0; i < 3; i++)
            if (dram_endpoints[channel][i].x == x && dram_endpoints[channel][i].y == y)
                return (emu_place){EMU_DRAM, channel, x, y};
    return (emu_place){EMU_NOWHERE, 0, x, y};
}

static emu_place find_link(const emu_machine *machine, uint32_t chip, uint32_t x, uint32_t y) {
    const uint32_t chips = machine->options.chips;
    if (chips > 1 && y == LINK_Y && x == LINK_NEXT_X)
        return (emu_place){EMU_LINK, (chip + 1) % chips, x, y};
    if (chips > 1 && y == LINK_Y && x == LINK_BEFORE_X)
        return (emu_place){EMU_LINK, (chip + chips - 1) % chips, x, y};
    return (emu_place){EMU_NOWHERE, 0, x, y};
}

/* A translated tile coordinate to NoC 0; others to what they are. */
static bool untranslate(uint32_t noc, uint32_t *x, uint32_t *y) {
    const bool is_translated_x = *x >= TRANSLATED;
    const bool is_translated_y = *y >= TRANSLATED;
    if (is_translated_x) {
        if (*x - TRANSLATED_TILE >= EMU_MAX_COLUMNS)
            return false;
        *x = tile_columns[*x - TRANSLATED_TILE];
    } else if (noc == 1) {
        *x = GRID_WIDTH - 1 - *x;
    }
    if (is_translated_y) {
        if (*y - TRANSLATED_TILE >= EMU_MAX_ROWS)
            return false;
        *y = tile_rows[*y - TRANSLATED_TILE];
    } else if (noc == 1) {
        *y = GRID_HEIGHT - 1 - *y;
    }
    return *x < GRID_WIDTH && *y < GRID_HEIGHT;
}

emu_place emu_find(const emu_machine *machine, uint32_t chip, uint32_t noc, uint32_t x,
                   uint32_t y) {
    if (!untranslate(noc, &x, &y))
        return (emu_place){EMU_NOWHERE, 0, x, y};
    emu_place place = find_tile(machine, x, y);
    if (place.kind == EMU_NOWHERE)
        place = find_dram(x, y);
    if (place.kind == EMU_NOWHERE)
        place = find_link(machine, chip, x, y);
    return place;
}

/* NoC 0 goes right and down, NoC 1 left and up; both wrap around. */
uint32_t emu_hops(uint32_t noc, const emu_place *from, const emu_place *to) {
    const emu_place *start = noc == 0 ? from : to;
    const emu_place *end = noc == 0 ? to : from;
    return (end->x + GRID_WIDTH - start->x) % GRID_WIDTH +
           (end->y + GRID_HEIGHT - start->y) % GRID_HEIGHT;
}

/* Behind a link the address holds the coordinates of the tile above 24 bits of L1 address. */
emu_tile *emu_receiver(emu_tile *sender, const emu_transfer *transfer, uint32_t *offset) {
    emu_machine *machine = sender->machine;
    if (transfer->place.kind != EMU_LINK) {
        *offset = (uint32_t)transfer->address;
        return emu_tile_at(machine, sender->chip, transfer->place.index);
    }
    const emu_place behind =
        emu_find(machine, transfer->place.index, 0, (uint32_t)(transfer->address >> 24) & 63,
                 (uint32_t)(transfer->address >> 30) & 63);
    *offset = (uint32_t)transfer->address & 0xFFFFFF;
    return emu_tile_at(machine, transfer->place.index, behind.index);
}
