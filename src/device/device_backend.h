/*
 * What a backend is: memory, registers and time of one or more chips. Everything above (firmware,
 * buffers, programs, printing) is the same for all of them and made of these few functions.
 *
 * Coordinates are those of NoC 0 or translated ones. Time passes only in run.
 */
#ifndef SB_DEVICE_DEVICE_BACKEND_H
#define SB_DEVICE_DEVICE_BACKEND_H

#include "base/base.h"
#include "device/device_options.h"

/* Where a chip stopped, for a message with symbol and line. */
typedef struct device_fault {
    uint32_t chip;
    sb_core core;
    sb_processor processor;
    uint32_t pc;
    char text[256];
} device_fault;

/* What a processor is doing when nothing moves. */
typedef struct device_activity {
    bool is_waiting; /* it polls */
    uint32_t pc;
    uint32_t address; /* what it polls */
} device_activity;

typedef struct device_backend {
    const char *name;
    sb_status (*read)(void *machine, uint32_t chip, uint32_t x, uint32_t y, uint64_t address,
                      void *data, size_t size, sb_error *error);
    sb_status (*write)(void *machine, uint32_t chip, uint32_t x, uint32_t y, uint64_t address,
                       const void *data, size_t size, sb_error *error);
    /* Lets clocks pass. When a kernel did what it may not, *has_fault and *fault say so. */
    sb_status (*run)(void *machine, uint64_t clocks, bool *has_fault, device_fault *fault,
                     sb_error *error);
    void (*close)(void *machine);
    uint64_t (*clock)(const void *machine);
    /* NULL where a backend cannot tell. */
    uint64_t (*instructions)(const void *machine);
    bool (*is_still)(const void *machine);
    device_activity (*activity)(const void *machine, uint32_t chip, sb_core core,
                                sb_processor processor);
} device_backend;

sb_status device_emu_open(const device_options *options, const device_backend **found,
                          void **machine, sb_error *error);
/* Fills in the grid that the library has. */
sb_status device_ttsim_open(device_options *options, const device_backend **found, void **machine,
                            sb_error *error);

#endif
