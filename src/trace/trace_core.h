/*
 * Cores: which core of which device a context stands for, as its name says.
 *
 * Recorders of Tenstorrent devices make a context per core and name it after its place, in one of
 * two ways: "Device: 0, Core (1,2)" and "Device: 0, Logical (0,0) Physical (1,2)". The physical
 * place is used, which both have.
 */
#ifndef SB_TRACE_CORE_H
#define SB_TRACE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

typedef struct sb_core {
    unsigned device;
    unsigned x;
    unsigned y;
} sb_core;

/* False if the name is not that of a core. */
bool sb_core_parse(sb_slice name, sb_core *core);

/*
 * The same for SMs of GPUs. "NVIDIA H200 0, SM 17, \u00B11240 ns" has lanes "warp slot 3"; where
 * there are more SMs than contexts, those of "NVIDIA H200 0, SMs 16 to 19, \u00B11240 ns" are
 * "SM 17, warp slot 3".
 */
typedef struct sb_sm {
    sb_slice gpu;  /* "NVIDIA H200 0" */
    sb_slice lane; /* "warp slot 3" */
    unsigned device;
    unsigned number;
} sb_sm;

bool sb_sm_parse(sb_slice context, sb_slice lane, sb_sm *sm);

#endif
