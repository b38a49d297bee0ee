#include "device/emu/emu.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/emu/emu_machine.h"

/* ---- creation ---- */

emu_options emu_default_options(void) {
    return (emu_options){.columns = 8, .rows = 8, .chips = 1, .threads = 1, .time = EMU_MODELLED};
}

static sb_status check_options(const emu_options *options, sb_error *error) {
    if (options->columns < 1 || options->columns > EMU_MAX_COLUMNS)
        SB_FAIL(error, SB_ERR_USAGE, "an emulated chip has 1 to %d columns, not %u",
                EMU_MAX_COLUMNS, options->columns);
    if (options->rows < 1 || options->rows > EMU_MAX_ROWS)
        SB_FAIL(error, SB_ERR_USAGE, "an emulated chip has 1 to %d rows, not %u", EMU_MAX_ROWS,
                options->rows);
    if (options->chips < 1 || options->chips > EMU_MAX_CHIPS)
        SB_FAIL(error, SB_ERR_USAGE, "an emulated mesh has 1 to %d chips, not %u", EMU_MAX_CHIPS,
                options->chips);
    if (options->threads < 1 || options->threads > EMU_MAX_THREADS)
        SB_FAIL(error, SB_ERR_USAGE, "the emulator runs on 1 to %d threads, not %u",
                EMU_MAX_THREADS, options->threads);
    return SB_OK;
}

/* Memory that costs nothing until it is touched. */
static void *reserve(uint64_t size, sb_error *error) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        sb_error_set(error, SB_ERR_LIMIT, "cannot reserve %llu MiB for the emulator: %s",
                     (unsigned long long)(size >> 20), strerror(errno));
        return NULL;
    }
    return memory;
}

static void prepare_harts(emu_tile *tile) {
    static const uint8_t by_order[EMU_HARTS] = {EMU_BRISC, EMU_TRISC0, EMU_TRISC1, EMU_TRISC2,
                                                EMU_NCRISC};
    for (uint32_t order = 0; order < EMU_HARTS; order++) {
        emu_hart *hart = &tile->harts[order];
        hart->number = by_order[order];
        hart->order = (uint8_t)order;
        hart->local_bytes = hart->number == EMU_BRISC || hart->number == EMU_NCRISC ? 4096 : 2048;
        tile->next[order] = EMU_NEVER;
    }
}

static sb_status prepare_tile(emu_machine *machine, uint32_t chip, uint32_t index,
                              sb_error *error) {
    emu_tile *tile = emu_tile_at(machine, chip, index);
    tile->machine = machine;
    tile->chip = chip;
    tile->index = index;
    tile->node = chip * (machine->tile_count + EMU_DRAM_CHANNELS) + index;
    tile->soft_reset = 0x47800;
    /* Spread over the range without a pattern along rows or columns. */
    if (machine->options.skew_clocks > 0)
        tile->skew = (index * 2654435761u >> 8) % (machine->options.skew_clocks + 1);
    prepare_harts(tile);
    tile->l1 = reserve(EMU_L1_SIZE, error);
    return tile->l1 != NULL ? SB_OK : SB_ERR_LIMIT;
}

static sb_status prepare_dram(emu_machine *machine, uint32_t chip, uint32_t channel,
                              sb_error *error) {
    emu_dram *dram = &machine->chips[chip].dram[channel];
    dram->chip = chip;
    dram->node = chip * (machine->tile_count + EMU_DRAM_CHANNELS) + machine->tile_count + channel;
    dram->bytes = reserve(EMU_DRAM_CHANNEL_BYTES, error);
    return dram->bytes != NULL ? SB_OK : SB_ERR_LIMIT;
}

static sb_status prepare(emu_machine *machine, sb_error *error) {
    for (uint32_t chip = 0; chip < machine->options.chips; chip++) {
        for (uint32_t index = 0; index < machine->tile_count; index++)
            SB_TRY(prepare_tile(machine, chip, index, error));
        for (uint32_t channel = 0; channel < EMU_DRAM_CHANNELS; channel++)
            SB_TRY(prepare_dram(machine, chip, channel, error));
    }
    emu_threads_start(machine);
    return SB_OK;
}

/* All harts are touched every few clocks: on large pages the processor finds them faster. */
static emu_tile *allocate_tiles(size_t count) {
    const size_t large_page = 2u << 20;
    const size_t size = (count * sizeof(emu_tile) + large_page - 1) / large_page * large_page;
    emu_tile *tiles = aligned_alloc(large_page, size);
    if (tiles == NULL)
        return sb_alloc_zeroed(count, sizeof *tiles);
    madvise(tiles, size, MADV_HUGEPAGE);
    memset(tiles, 0, size);
    return tiles;
}

sb_status emu_create(const emu_options *options, emu_machine **machine, sb_error *error) {
    SB_TRY(check_options(options, error));
    emu_machine *created = sb_alloc_zeroed(1, sizeof *created);
    created->options = *options;
    created->tile_count = options->columns * options->rows;
    created->tiles = allocate_tiles((size_t)options->chips * created->tile_count);
    created->pages = emu_pages_create();
    created->node_count = options->chips * (created->tile_count + EMU_DRAM_CHANNELS);
    created->wakes = sb_alloc(created->node_count * sizeof *created->wakes);
    memset(created->wakes, 0xFF, created->node_count * sizeof *created->wakes);
    /* Flags are looked at eight at a time. */
    created->is_awake = sb_alloc_zeroed(created->node_count + 8, 1);
    created->has_sent = sb_alloc_zeroed(created->node_count + 8, 1);
    created->due = sb_alloc_zeroed(created->node_count, sizeof *created->due);
    const sb_status status = prepare(created, error);
    if (status != SB_OK) {
        emu_destroy(created);
        return status;
    }
    *machine = created;
    return SB_OK;
}

static void free_tile(emu_tile *tile) {
    emu_queue_free(&tile->inbox);
    emu_queue_free(&tile->outbox);
    if (tile->l1 != NULL)
        munmap(tile->l1, EMU_L1_SIZE);
}

static void free_dram(emu_dram *dram) {
    emu_queue_free(&dram->inbox);
    emu_queue_free(&dram->outbox);
    if (dram->bytes != NULL)
        munmap(dram->bytes, EMU_DRAM_CHANNEL_BYTES);
}

void emu_destroy(emu_machine *machine) {
    if (machine == NULL)
        return;
    emu_threads_stop(machine);
    for (uint32_t i = 0; i < machine->options.chips * machine->tile_count; i++)
        free_tile(&machine->tiles[i]);
    for (uint32_t chip = 0; chip < machine->options.chips; chip++)
        for (uint32_t channel = 0; channel < EMU_DRAM_CHANNELS; channel++)
            free_dram(&machine->chips[chip].dram[channel]);
    emu_pages_destroy(machine->pages);
    free(machine->tiles);
    free(machine->wakes);
    free(machine->is_awake);
    free(machine->has_sent);
    free(machine->due);
    free(machine);
}

/* ---- host access ---- */

static sb_status locate(const emu_machine *machine, uint32_t chip, uint32_t x, uint32_t y,
                        uint64_t address, size_t size, emu_place *place, sb_error *error) {
    if (chip >= machine->options.chips)
        SB_FAIL(error, SB_ERR_USAGE, "there is no chip %u", chip);
    *place = emu_find(machine, chip, 0, x, y);
    uint64_t end = 0;
    if (place->kind == EMU_TILE)
        end = EMU_L1_SIZE;
    else if (place->kind == EMU_DRAM)
        end = EMU_DRAM_CHANNEL_BYTES;
    else
        SB_FAIL(error, SB_ERR_USAGE, "there is no memory at (%u, %u)", x, y);
    if (address > end || size > end - address)
        SB_FAIL(error, SB_ERR_USAGE, "%zu bytes at 0x%llx of (%u, %u) lie outside its memory", size,
                (unsigned long long)address, x, y);
    return SB_OK;
}

static bool is_register(uint64_t address, size_t size) {
    return address >= EMU_LOCAL_BASE && address <= UINT32_MAX && size == 4;
}

static emu_tile *tile_with_registers(emu_machine *machine, uint32_t chip, uint32_t x, uint32_t y) {
    const emu_place place = emu_find(machine, chip, 0, x, y);
    return chip < machine->options.chips && place.kind == EMU_TILE
               ? emu_tile_at(machine, chip, place.index)
               : NULL;
}

sb_status emu_read(emu_machine *machine, uint32_t chip, uint32_t x, uint32_t y, uint64_t address,
                   void *data, size_t size, sb_error *error) {
    emu_tile *tile = is_register(address, size) ? tile_with_registers(machine, chip, x, y) : NULL;
    if (tile != NULL) {
        uint32_t value = 0;
        if (!emu_register_read_outside(tile, (uint32_t)address, machine->clock, &value))
            SB_FAIL(error, SB_ERR_USAGE, "there is no register at 0x%llx",
                    (unsigned long long)address);
        memcpy(data, &value, 4);
        return SB_OK;
    }
    emu_place place = {0};
    SB_TRY(locate(machine, chip, x, y, address, size, &place, error));
    const uint8_t *memory = place.kind == EMU_TILE ? emu_tile_at(machine, chip, place.index)->l1
                                                   : machine->chips[chip].dram[place.index].bytes;
    memcpy(data, memory + address, size);
    return SB_OK;
}

sb_status emu_write(emu_machine *machine, uint32_t chip, uint32_t x, uint32_t y, uint64_t address,
                    const void *data, size_t size, sb_error *error) {
    emu_tile *tile = is_register(address, size) ? tile_with_registers(machine, chip, x, y) : NULL;
    if (tile != NULL) {
        uint32_t value = 0;
        memcpy(&value, data, 4);
        if (!emu_register_write_outside(tile, (uint32_t)address, value, machine->clock))
            SB_FAIL(error, SB_ERR_USAGE, "the host cannot write 0x%x to the register at 0x%llx",
                    value, (unsigned long long)address);
        return SB_OK;
    }
    emu_place place = {0};
    SB_TRY(locate(machine, chip, x, y, address, size, &place, error));
    if (size == 0)
        return SB_OK;
    if (place.kind == EMU_DRAM) {
        memcpy(machine->chips[chip].dram[place.index].bytes + address, data, size);
        return SB_OK;
    }
    tile = emu_tile_at(machine, chip, place.index);
    memcpy(tile->l1 + address, data, size);
    emu_written(tile, (uint32_t)address, (uint32_t)size, machine->clock, EMU_OUTSIDE);
    return SB_OK;
}

/* ---- running ---- */

bool emu_run(emu_machine *machine, uint64_t clocks) {
    if (machine->fault.happened)
        return false;
    uint64_t end = machine->clock + clocks;
    if (machine->options.time == EMU_COUNT) {
        emu_run_count(machine, end);
    } else {
        end += (EMU_QUANTUM - end % EMU_QUANTUM) % EMU_QUANTUM;
        emu_run_modelled(machine, end);
    }
    return !machine->fault.happened;
}

const emu_fault *emu_fault_of(const emu_machine *machine) {
    return &machine->fault;
}

uint64_t emu_clock(const emu_machine *machine) {
    return machine->clock;
}

bool emu_is_still(const emu_machine *machine) {
    return emu_earliest(machine) == EMU_NEVER;
}

bool emu_fail(emu_tile *tile, const emu_hart *hart, uint64_t clock, const char *format, ...) {
    emu_fault *fault = &tile->fault;
    if (fault->happened)
        return false;
    fault->happened = true;
    fault->chip = tile->chip;
    fault->tile = tile->index;
    fault->hart = hart->number;
    fault->pc = hart->pc;
    fault->clock = clock;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- questions ---- */

static const emu_hart *hart_at(const emu_machine *machine, uint32_t chip, uint32_t tile,
                               uint32_t hart) {
    return emu_hart_of(&machine->tiles[(size_t)chip * machine->tile_count + tile], hart);
}

emu_hart_view emu_view(const emu_machine *machine, uint32_t chip, uint32_t tile, uint32_t hart) {
    const emu_hart *seen = hart_at(machine, chip, tile, hart);
    return (emu_hart_view){
        .is_running = seen->state == EMU_ACTIVE,
        .is_waiting = seen->state == EMU_PARKED,
        .pc = seen->pc,
        .address = seen->state == EMU_PARKED ? seen->poll.watches[0].address : 0,
        .retired = seen->retired,
    };
}

uint64_t emu_retired(const emu_machine *machine, uint64_t *skipped) {
    uint64_t retired = 0;
    *skipped = 0;
    for (uint32_t i = 0; i < machine->options.chips * machine->tile_count; i++)
        for (uint32_t order = 0; order < EMU_HARTS; order++) {
            retired += machine->tiles[i].harts[order].retired;
            *skipped += machine->tiles[i].harts[order].skipped;
        }
    return retired;
}

uint32_t emu_register(const emu_machine *machine, uint32_t chip, uint32_t tile, uint32_t hart,
                      uint32_t number) {
    return hart_at(machine, chip, tile, hart)->registers[number];
}
