/*
 * The name of a mesh, taken apart, together with what the environment says about it.
 */
#ifndef SB_DEVICE_DEVICE_OPTIONS_H
#define SB_DEVICE_DEVICE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <strobe/device.h>

#include "base/base.h"

#define DEVICE_MAX_CORES 80
#define DEVICE_MAX_GPUS 64

typedef enum device_kind { DEVICE_EMU, DEVICE_TTSIM, DEVICE_CUDA } device_kind;

/* For each core (row * columns + column) a bit per processor. */
typedef struct device_mask {
    uint8_t processors[DEVICE_MAX_CORES];
} device_mask;

typedef struct device_options {
    device_kind kind;
    char path[512]; /* of the library, for ttsim */
    uint32_t rows;
    uint32_t columns;
    uint32_t chips;
    uint32_t threads;
    bool counts_time;      /* one clock per instruction */
    bool watches;          /* watcher: NoC addresses and stacks */
    uint64_t limit_clocks; /* a program that runs longer is stopped; 0: no limit */
    uint32_t skew_clocks;
    int64_t offset_clocks;
    double drift_ppm;
    uint32_t delay_clocks;
    device_mask read_delays;
    device_mask write_delays;
    device_mask prints;
} device_options;

/* name may be NULL. */
sb_status device_options_parse(const char *name, device_options *options, sb_error *error);

/*
 * A set of cores as the environment variables of this hardware write it: "0,0", "(0,0),(1,2)",
 * "(0,0)-(7,7)", "all", "worker". Adds processors to each of its cores.
 */
sb_status device_mask_add(device_mask *mask, const device_options *grid, sb_slice cores,
                          uint8_t processors, sb_error *error);
/* Processors as "BR+NC+TR0+TR1+TR2", "TR*" or "*"; separators + , and | are the same. */
sb_status device_parse_processors(sb_slice text, uint8_t *processors, sb_error *error);

#endif
