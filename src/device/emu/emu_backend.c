/* The built-in machine as a backend. */
#include <stdio.h>
#include <stdlib.h>

#include <strobe/kernel_layout.h>

#include "device/device_backend.h"
#include "device/emu/emu.h"

typedef struct backend {
    emu_machine *machine;
    uint32_t columns;
} backend;

static sb_status emu_backend_read(void *machine, uint32_t chip, uint32_t x, uint32_t y,
                                  uint64_t address, void *data, size_t size, sb_error *error) {
    const backend *self = machine;
    return emu_read(self->machine, chip, x, y, address, data, size, error);
}

static sb_status emu_backend_write(void *machine, uint32_t chip, uint32_t x, uint32_t y,
                                   uint64_t address, const void *data, size_t size,
                                   sb_error *error) {
    const backend *self = machine;
    return emu_write(self->machine, chip, x, y, address, data, size, error);
}

static sb_status emu_backend_run(void *machine, uint64_t clocks, bool *has_fault,
                                 device_fault *fault, sb_error *error) {
    const backend *self = machine;
    (void)error;
    *has_fault = !emu_run(self->machine, clocks);
    if (*has_fault) {
        const emu_fault *seen = emu_fault_of(self->machine);
        *fault = (device_fault){
            .chip = seen->chip,
            .core = {seen->tile % self->columns, seen->tile / self->columns},
            .processor = (sb_processor)seen->hart,
            .pc = seen->pc,
        };
        snprintf(fault->text, sizeof fault->text, "%s", seen->text);
    }
    return SB_OK;
}

static void emu_backend_close(void *machine) {
    backend *self = machine;
    emu_destroy(self->machine);
    free(self);
}

static uint64_t emu_backend_clock(const void *machine) {
    const backend *self = machine;
    return emu_clock(self->machine);
}

static uint64_t emu_backend_instructions(const void *machine) {
    const backend *self = machine;
    uint64_t skipped = 0;
    return emu_retired(self->machine, &skipped);
}

static bool emu_backend_is_still(const void *machine) {
    const backend *self = machine;
    return emu_is_still(self->machine);
}

static device_activity emu_backend_activity(const void *machine, uint32_t chip, sb_core core,
                                            sb_processor processor) {
    const backend *self = machine;
    const emu_hart_view view =
        emu_view(self->machine, chip, core.y * self->columns + core.x, processor);
    return (device_activity){.is_waiting = view.is_waiting, .pc = view.pc, .address = view.address};
}

static const device_backend functions = {
    .name = "emu",
    .read = emu_backend_read,
    .write = emu_backend_write,
    .run = emu_backend_run,
    .close = emu_backend_close,
    .clock = emu_backend_clock,
    .instructions = emu_backend_instructions,
    .is_still = emu_backend_is_still,
    .activity = emu_backend_activity,
};

static void copy_delays(const device_options *options, emu_delays *delays) {
    delays->clocks = options->delay_clocks;
    memcpy(delays->read_harts, options->read_delays.processors, sizeof delays->read_harts);
    memcpy(delays->write_harts, options->write_delays.processors, sizeof delays->write_harts);
}

sb_status device_emu_open(const device_options *options, const device_backend **found,
                          void **machine, sb_error *error) {
    emu_options chosen = emu_default_options();
    chosen.rows = options->rows;
    chosen.columns = options->columns;
    chosen.chips = options->chips;
    chosen.threads = options->threads;
    chosen.time = options->counts_time ? EMU_COUNT : EMU_MODELLED;
    chosen.checks_reserved = options->watches;
    chosen.reserved_end = SB_L1_CONFIG;
    chosen.skew_clocks = options->skew_clocks;
    chosen.offset_clocks = options->offset_clocks;
    chosen.drift_ppm = options->drift_ppm;
    copy_delays(options, &chosen.delays);
    backend *self = sb_alloc(sizeof *self);
    *self = (backend){.columns = options->columns};
    const sb_status status = emu_create(&chosen, &self->machine, error);
    if (status != SB_OK) {
        free(self);
        return status;
    }
    *found = &functions;
    *machine = self;
    return SB_OK;
}
