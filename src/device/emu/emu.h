/*
 * emu: the built-in machine, a strict and deterministic subset of a Wormhole chip.
 *
 * A machine has one or more chips. A chip has a grid of tiles with five RV32IM harts each, L1,
 * local memory, a wall clock, soft reset and two NoCs, and twelve DRAM banks. Chips are linked in a
 * ring. Nothing happens by itself: time passes only inside emu_run, and what the harts do depends
 * on what was loaded and on nothing else, neither on threads nor on the load of the host.
 *
 * Two models of time (emu_time):
 *   count      one clock per instruction, NoC transfers complete at once, harts in the fixed order
 *              tile by tile, within a tile BRISC, TRISC0-2, NCRISC; as the vendor's simulator does
 *   modelled   latencies of loads, multiplications, divisions, branches, the NoCs and DRAM
 *
 * The machine refuses what the hardware leaves undefined (misaligned accesses, addresses nobody
 * answers, transfers whose two ends are aligned differently): it stops with an emu_fault that names
 * tile, hart and program counter, and stays stopped.
 *
 * A machine belongs to one thread at a time; with options.threads > 1 it uses helpers of its own
 * inside emu_run.
 */
#ifndef SB_DEVICE_EMU_EMU_H
#define SB_DEVICE_EMU_EMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

#define EMU_MAX_COLUMNS 8
#define EMU_MAX_ROWS 10
#define EMU_MAX_TILES (EMU_MAX_COLUMNS * EMU_MAX_ROWS)
#define EMU_MAX_CHIPS 8
#define EMU_MAX_THREADS 16
#define EMU_HARTS 5
#define EMU_L1_SIZE 0x16E000u /* 1464 KiB */

typedef enum emu_time { EMU_COUNT = 0, EMU_MODELLED = 1 } emu_time;

/* Processors in the order of their numbers. */
typedef enum emu_processor {
    EMU_BRISC = 0,
    EMU_NCRISC = 1,
    EMU_TRISC0 = 2,
    EMU_TRISC1 = 3,
    EMU_TRISC2 = 4
} emu_processor;

/* Clocks to wait before transfers of chosen harts, to bring races to light. */
typedef struct emu_delays {
    uint32_t clocks;
    uint8_t read_harts[EMU_MAX_TILES];  /* bit = processor */
    uint8_t write_harts[EMU_MAX_TILES]; /* bit = processor */
} emu_delays;

typedef struct emu_options {
    uint32_t columns;
    uint32_t rows;
    uint32_t chips;
    uint32_t threads;
    emu_time time;
    bool checks_reserved;  /* kernels may not write the reserved part of L1 through the NoC */
    uint32_t reserved_end; /* where that part ends */
    uint32_t skew_clocks;  /* wall clocks of tiles differ by up to this much */
    int64_t offset_clocks; /* each further chip's wall clocks are ahead by this much */
    double drift_ppm;      /* each further chip's wall clocks are faster by this many millionths */
    emu_delays delays;
} emu_options;

/* Why a machine stopped. */
typedef struct emu_fault {
    bool happened;
    uint32_t chip;
    uint32_t tile; /* row * columns + column */
    uint32_t hart; /* an emu_processor */
    uint32_t pc;
    uint64_t clock;
    char text[256];
} emu_fault;

/* What a hart waits for, for messages about a machine in which nothing moves. */
typedef struct emu_hart_view {
    bool is_running; /* neither held in reset nor waiting */
    bool is_waiting; /* polls words that nobody writes */
    uint32_t pc;
    uint32_t address; /* the first word it polls */
    uint64_t retired; /* instructions executed, skipped turns of polling included */
} emu_hart_view;

typedef struct emu_machine emu_machine;

/* 8 x 8 tiles, one chip, one thread, modelled time. */
emu_options emu_default_options(void);
sb_status emu_create(const emu_options *options, emu_machine **machine, sb_error *error);
void emu_destroy(emu_machine *machine);

/*
 * Memory and registers as the host sees them: x and y are NoC 0 or translated coordinates of a tile
 * or a DRAM endpoint. Registers are read and written by words.
 */
sb_status emu_read(emu_machine *machine, uint32_t chip, uint32_t x, uint32_t y, uint64_t address,
                   void *data, size_t size, sb_error *error);
sb_status emu_write(emu_machine *machine, uint32_t chip, uint32_t x, uint32_t y, uint64_t address,
                    const void *data, size_t size, sb_error *error);

/* Lets clocks pass. False when the machine stopped; emu_fault_of says why. */
bool emu_run(emu_machine *machine, uint64_t clocks);
const emu_fault *emu_fault_of(const emu_machine *machine);
uint64_t emu_clock(const emu_machine *machine);
/* Nothing moves any more and nothing is on its way: only the host can change that. */
bool emu_is_still(const emu_machine *machine);

emu_hart_view emu_view(const emu_machine *machine, uint32_t chip, uint32_t tile, uint32_t hart);
/* Instructions executed by all harts; skipped is the part that polling harts were spared. */
uint64_t emu_retired(const emu_machine *machine, uint64_t *skipped);
/* A register of a hart that is not running ahead: for tests. */
uint32_t emu_register(const emu_machine *machine, uint32_t chip, uint32_t tile, uint32_t hart,
                      uint32_t number);

#endif
