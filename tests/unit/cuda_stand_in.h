/*
 * A GPU made of threads, for tests of zones on GPUs: each thread is an SM that runs one warp after
 * the other, with the very code that kernels run (strobe/cuda_record.h), and a driver whose memory
 * is the host's.
 */
#ifndef CUDA_STAND_IN_H
#define CUDA_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/cuda_context.h"

/* Who the calling thread is. */
typedef struct stand_in_warp {
    uint32_t sm;
    uint64_t launch;
    uint32_t block;
    uint32_t warp;
    bool is_divergent;
    uint64_t cycles; /* of this SM, made up */
} stand_in_warp;

extern _Thread_local stand_in_warp stand_in;

/* As the driver counts SMs; there are more, as on a GPU that is shared in parts. */
enum { STAND_IN_SMS = 4, STAND_IN_SMS_MOST = 6, STAND_IN_WARPS = 4 };

/* The driver; cuda_context_open takes it. */
const cuda_driver *stand_in_driver(void);
/* Where the "module" has its gate and its count. */
uint64_t stand_in_gate(void);
uint64_t stand_in_missed(void);
/* From now on all calls of the driver fail, as after a trap. */
void stand_in_break(bool is_broken);

/* What kernels do: a zone, of a place, and the rest. */
unsigned stand_in_begin(sb_cuda_kind kind, uint32_t place);
void stand_in_end(unsigned record);
void stand_in_end_main(unsigned record);
void stand_in_note(sb_cuda_kind kind, uint32_t place, uint64_t value);
void stand_in_add(uint32_t place, uint64_t cycles);
void stand_in_validate(bool condition);
/* Other data lies in shared memory now. */
void stand_in_clear_shared(void);
/* Where a name is in "constant memory". */
uint32_t stand_in_place(const char *name);

#endif
