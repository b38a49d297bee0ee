/*
 * Any bytes as code: two harts of two tiles run it, in both models of time. Whatever it does must
 * stay inside the machine and end in a fault or at the limit.
 */
#include <string.h>

#include "device/emu/emu.h"

#define CODE_MAX 4096
#define CLOCKS 3000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const uint8_t *code, size_t size, emu_time time) {
    static const uint32_t release = 0x47800u & ~0x40800u; /* BRISC and NCRISC */
    emu_options options = emu_default_options();
    options.columns = 2;
    options.rows = 1;
    options.chips = 2;
    options.time = time;
    emu_machine *machine = NULL;
    if (emu_create(&options, &machine, NULL) != SB_OK)
        return;
    for (uint32_t x = 18; x < 20; x++) {
        emu_write(machine, 0, x, 18, 0, code, size, NULL);
        emu_write(machine, 0, x, 18, 0x12000, code, size, NULL);
        emu_write(machine, 0, x, 18, 0xFFB121B0u, &release, 4, NULL);
    }
    emu_run(machine, CLOCKS);
    emu_destroy(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const size_t used = size < CODE_MAX ? size : CODE_MAX;
    run(data, used, EMU_COUNT);
    run(data, used, EMU_MODELLED);
    return 0;
}
