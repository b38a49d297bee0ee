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

/* The same for GPUs: "NVIDIA H200 0, SM 17, \u00B11240 ns". */
typedef struct sb_sm {
    sb_slice gpu; /* "NVIDIA H200 0" */
    unsigned device;
    unsigned number;
} sb_sm;

bool sb_sm_parse(sb_slice name, sb_sm *sm);

#endif
