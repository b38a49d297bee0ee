/*
 * A library with the functions of the vendor's simulator that misbehaves as STAND_IN says: "other
 * chip", "talk" (more than a pipe holds), "end" (a message, then exit) or "crash".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

static int does(const char *what) {
    const char *wanted = getenv("STAND_IN");
    return wanted != NULL && strcmp(wanted, what) == 0;
}

EXPORTED void libttsim_init(void) {
    for (int i = 0; i < 20000 && !does("crash"); i++)
        printf("line %d of what nobody asked for\n", i);
}

EXPORTED uint32_t libttsim_pci_config_rd32(uint32_t device, uint32_t offset) {
    (void)device;
    return offset == 0 && !does("other chip") ? 0x401E1E52u : 0;
}

EXPORTED void libttsim_pci_mem_rd_bytes(uint64_t address, void *data, uint32_t size) {
    (void)address;
    memset(data, 0, size);
}

EXPORTED void libttsim_pci_mem_wr_bytes(uint64_t address, const void *data, uint32_t size) {
    (void)address;
    (void)data;
    (void)size;
    if (does("crash"))
        abort();
    if (does("end")) {
        printf("these are my last words\n");
        fflush(stdout);
        _Exit(1);
    }
}

EXPORTED void libttsim_clock(uint32_t clocks) {
    (void)clocks;
}
