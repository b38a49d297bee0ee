/*
 * cuda.h: zones inside CUDA kernels. For nvcc, clang and NVRTC.
 *
 *     #include <strobe/cuda.h>
 *
 *     __global__ void scale(float *values, float by, int count) {
 *         DeviceZoneScopedMainN("scale");                the whole kernel, for this warp
 *         for (int i = ...; i < count; i += ...) {
 *             DeviceZoneScopedN("row");                  the rest of this scope
 *             ...
 *         }
 *     }
 *
 * Compile with -DSTROBE_ENABLE and link libstrobe_cuda; kernels take no argument more. Without the
 * macro everything here is empty, and the code of a kernel is the same as without it.
 *
 * Zones belong to warps: the first active lane records. In divergent code each path is recorded for
 * itself. A zone ends when its last instruction is issued; what it loads, copies or multiplies may
 * still be under way, unless it is one of the Wait variants.
 *
 *   DeviceZoneScopedN(name)          a zone to the end of the scope
 *   DeviceZoneScopedWaitN(name)      its end waits for the lanes' loads, stores, asynchronous
 *                                    copies and matrix operations
 *   DeviceZoneScopedMainN(name)      around all that a kernel does, once. Kernels do without, but
 *                                    with it warps leave their memory to those of other kernels
 *   DeviceZoneScopedMainChildN(name) the part of a kernel that does the work; a zone
 *   DeviceZoneScopedSumN1, N2(name)  only the time spent in the scope, added up for each warp
 *   DeviceTimestampedData(name, u64) a number at a moment
 *   DeviceRecordEvent(number)        16 bits at a moment
 *   DeviceValidateProfiler(is_valid) if false, this warp is not recorded until it is true
 *   DeviceSpanBegin(name)            an sb_cuda_span that any warp of the launch may end:
 *                                    DeviceSpanEnd(span). It is a number in the lane that leads
 *                                    here, 0 in the others
 *
 * Names are literals. STROBE_CUDA_WARPS, 32 where it is not defined, is the number of warps in the
 * largest block: 20 bytes of shared memory each, and as many again if sums are used; 8 bytes of
 * constant memory for each place in the source.
 */
#ifndef STROBE_CUDA_H
#define STROBE_CUDA_H

#if defined(TRACY_ENABLE) || defined(STROBE_ENABLE)

#ifndef STROBE_CUDA_WARPS
#define STROBE_CUDA_WARPS 32
#endif

/* No calls: one that a single lane makes would part it from the others for good, and one amid
   matrix operations would make the compiler wait for these. */
#define SB_CUDA_FN static __device__ __forceinline__
#define SB_CUDA_ALIGN(bytes) __align__(bytes)

#include "cuda_layout.h"

/* The host finds these by name in modules that were built at run time. */
#ifdef __CUDACC_RTC__
extern "C" {
__constant__ sb_cuda_gate sb_cuda_this_gate;
__device__ sb_cuda_word sb_cuda_this_missed;
}
#else
static __constant__ sb_cuda_gate sb_cuda_this_gate;
static __device__ sb_cuda_word sb_cuda_this_missed;
#endif
#define SB_CUDA_GATE sb_cuda_this_gate

/* Where something lies in constant memory, which ends at 64 KiB. The compiler knows that. */
#define SB_CUDA_CONSTANT_PLACE(variable) \
    ((unsigned int)(unsigned long long)__cvta_generic_to_constant(&(variable)))
#define SB_CUDA_GATE_PLACE SB_CUDA_CONSTANT_PLACE(sb_cuda_this_gate)

/* ---- the processor ---- */

SB_CUDA_FN sb_cuda_word sb_cuda_clock(void) {
    sb_cuda_word now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) : : "memory");
    return now;
}

/* The clock, once these are worked out. */
SB_CUDA_FN sb_cuda_word sb_cuda_clock_after(unsigned int *one, unsigned int *other) {
    sb_cuda_word now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now), "+r"(*one), "+r"(*other) : : "memory");
    return now;
}

SB_CUDA_FN sb_cuda_word sb_cuda_timer(void) {
    sb_cuda_word now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) : : "memory");
    return now;
}

/* Of the context, counted from 1; replays of a graph keep theirs. */
SB_CUDA_FN sb_cuda_word sb_cuda_grid(void) {
    sb_cuda_word launch;
    asm("mov.u64 %0, %%gridid;" : "=l"(launch));
    return launch;
}

SB_CUDA_FN unsigned int sb_cuda_sm_number(void) {
    unsigned int sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

/* Within its launch. */
SB_CUDA_FN unsigned int sb_cuda_block(void) {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

SB_CUDA_FN sb_cuda_word sb_cuda_block_place(void) {
    return (sb_cuda_word)blockIdx.z << 48 | (sb_cuda_word)blockIdx.y << 32 | blockIdx.x;
}

/* Within its block. */
SB_CUDA_FN unsigned int sb_cuda_warp(void) {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
}

/* Where the warp sits on its SM; the next one to sit there finds what this one left. */
SB_CUDA_FN unsigned int sb_cuda_place_in_sm(void) {
    unsigned int place;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(place));
    return place % SB_CUDA_STASHES;
}

SB_CUDA_FN unsigned int sb_cuda_active_lanes(void) {
    return __activemask();
}

SB_CUDA_FN int sb_cuda_leads(unsigned int lanes) {
    unsigned int before;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
    return (lanes & before) == 0;
}

SB_CUDA_FN void sb_cuda_meet(unsigned int lanes) {
    __syncwarp(lanes);
}

/* 0: all lanes of the warp are among these. */
SB_CUDA_FN unsigned int sb_cuda_missing(unsigned int lanes) {
    return ~lanes;
}

SB_CUDA_FN unsigned int sb_cuda_shared_compare(unsigned int *at, unsigned int wanted,
                                               unsigned int number) {
    return atomicCAS_block(at, wanted, number);
}

SB_CUDA_FN unsigned int sb_cuda_shared_exchange(unsigned int *at, unsigned int number) {
    return atomicExch_block(at, number);
}

SB_CUDA_FN unsigned int sb_cuda_global_add(unsigned int *at, unsigned int number) {
    return atomicAdd(at, number);
}

SB_CUDA_FN sb_cuda_word sb_cuda_global_exchange(sb_cuda_word *at, sb_cuda_word word) {
    return atomicExch(at, word);
}

SB_CUDA_FN void sb_cuda_global_sum(sb_cuda_word *at, sb_cuda_word number) {
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" : : "l"(at), "l"(number) : "memory");
}

SB_CUDA_FN void sb_cuda_global_count(sb_cuda_word *at) {
    sb_cuda_global_sum(at, 1);
}

/* What other warps or the host write. */
SB_CUDA_FN unsigned int sb_cuda_load(const unsigned int *at) {
    unsigned int number;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(number) : "l"(at) : "memory");
    return number;
}

SB_CUDA_FN sb_cuda_word sb_cuda_load_word(const sb_cuda_word *at) {
    sb_cuda_word word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}

SB_CUDA_FN void sb_cuda_store_word(sb_cuda_word *at, sb_cuda_word word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(word) : "memory");
}

/* 16 bytes at once. */
SB_CUDA_FN void sb_cuda_store_pair(sb_cuda_word *at, sb_cuda_word first, sb_cuda_word second) {
    asm volatile("st.global.cs.v2.u64 [%0], {%1, %2};"
                 :
                 : "l"(at), "l"(first), "l"(second)
                 : "memory");
}

/* Of the gate. */
SB_CUDA_FN unsigned int sb_cuda_number(const unsigned int *at) {
    unsigned int number;
    asm volatile("ld.const.u32 %0, [%1];" : "=r"(number) : "l"(__cvta_generic_to_constant(at)));
    return number;
}

SB_CUDA_FN sb_cuda_word sb_cuda_address(const sb_cuda_word *at) {
    sb_cuda_word word;
    asm volatile("ld.const.u64 %0, [%1];" : "=l"(word) : "l"(__cvta_generic_to_constant(at)));
    return word;
}

/* In every zone, so it is for the compiler to say when it is loaded. */
SB_CUDA_FN unsigned int sb_cuda_key(void) {
    return sb_cuda_this_gate.key;
}

SB_CUDA_FN void sb_cuda_count_missed(void) {
    sb_cuda_global_count(&sb_cuda_this_missed);
}

/* Blocks may be larger than was said. */
SB_CUDA_FN int sb_cuda_has_entry(void) {
    return STROBE_CUDA_WARPS >= 32 || sb_cuda_warp() < STROBE_CUDA_WARPS;
}

struct sb_cuda_entry;
SB_CUDA_FN unsigned int *sb_cuda_this_key(void);
SB_CUDA_FN struct sb_cuda_entry sb_cuda_load_entry(const struct sb_cuda_entry *entry);
SB_CUDA_FN struct sb_cuda_entry *sb_cuda_this_entry(void);

#include "cuda_record.h"

SB_CUDA_FN sb_cuda_entry sb_cuda_load_entry(const sb_cuda_entry *entry) {
    const uint4 words = *(const uint4 *)entry;
    sb_cuda_entry now;
    now.launch = words.x;
    now.block = words.y;
    now.next = words.z;
    now.above = words.w;
    return now;
}

SB_CUDA_FN sb_cuda_entry *sb_cuda_this_entry(void) {
    __shared__ sb_cuda_entry entries[STROBE_CUDA_WARPS];
    return &entries[sb_cuda_warp() % STROBE_CUDA_WARPS];
}

SB_CUDA_FN unsigned int *sb_cuda_this_key(void) {
    __shared__ unsigned int keys[STROBE_CUDA_WARPS];
    return &keys[sb_cuda_warp() % STROBE_CUDA_WARPS];
}

SB_CUDA_FN sb_cuda_sum *sb_cuda_this_sum(void) {
    __shared__ sb_cuda_sum sums[STROBE_CUDA_WARPS];
    return &sums[sb_cuda_warp() % STROBE_CUDA_WARPS];
}

/* All that the lanes have started is done. */
SB_CUDA_FN void sb_cuda_wait(void) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
    asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
#endif
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
}

/* ---- scopes ---- */

typedef unsigned int sb_cuda_span;

struct sb_cuda_scoped_zone {
    unsigned int record;
    __device__ __forceinline__ sb_cuda_scoped_zone(unsigned int place)
        : record(sb_cuda_begin(sb_cuda_word_of(SB_CUDA_ZONE, place))) {}
    __device__ __forceinline__ ~sb_cuda_scoped_zone() {
        sb_cuda_end(record);
    }
};

struct sb_cuda_scoped_wait {
    unsigned int record;
    __device__ __forceinline__ sb_cuda_scoped_wait(unsigned int place)
        : record(sb_cuda_begin(sb_cuda_word_of(SB_CUDA_ZONE, place))) {}
    __device__ __forceinline__ ~sb_cuda_scoped_wait() {
        sb_cuda_wait();
        sb_cuda_end(record);
    }
};

struct sb_cuda_scoped_main {
    unsigned int record;
    __device__ __forceinline__ sb_cuda_scoped_main(unsigned int place)
        : record(sb_cuda_begin(sb_cuda_word_of(SB_CUDA_MAIN, place))) {}
    __device__ __forceinline__ ~sb_cuda_scoped_main() {
        sb_cuda_end_main(record);
    }
};

struct sb_cuda_scoped_sum {
    unsigned int place;
    sb_cuda_word start;
    bool is_leader;
    __device__ __forceinline__ sb_cuda_scoped_sum(unsigned int at)
        : place(at), is_leader(sb_cuda_leads(sb_cuda_active_lanes())) {
        start = sb_cuda_clock();
    }
    __device__ __forceinline__ ~sb_cuda_scoped_sum() {
        const sb_cuda_word spent = sb_cuda_clock() - start;
        const unsigned int lanes = sb_cuda_active_lanes();
        if (is_leader)
            sb_cuda_add(sb_cuda_this_sum(), place, spent);
        sb_cuda_meet(lanes);
    }
};

#define SB_CUDA_JOIN_PARTS(a, b) a##b
#define SB_CUDA_JOIN(a, b) SB_CUDA_JOIN_PARTS(a, b)

/* A name and its place in the source; `variable` is where the address of that is. */
#define SB_CUDA_PLACE(variable, name)                                                        \
    static __device__ const sb_cuda_place SB_CUDA_JOIN(variable,                             \
                                                       _itself) = {name,                     \
                                                                   __FILE__,                 \
                                                                   __FUNCTION__,             \
                                                                   sizeof("" name) - 1,      \
                                                                   sizeof(__FILE__) - 1,     \
                                                                   sizeof(__FUNCTION__) - 1, \
                                                                   __LINE__};                \
    static __constant__ const sb_cuda_place *const variable = &SB_CUDA_JOIN(variable, _itself)

#define SB_CUDA_SCOPED(type, name)                               \
    SB_CUDA_PLACE(SB_CUDA_JOIN(sb_cuda_place_, __LINE__), name); \
    const type SB_CUDA_JOIN(sb_cuda_scope_, __LINE__)(           \
        SB_CUDA_CONSTANT_PLACE(SB_CUDA_JOIN(sb_cuda_place_, __LINE__)))

#define DeviceZoneScopedN(name) SB_CUDA_SCOPED(sb_cuda_scoped_zone, name)
#define DeviceZoneScopedWaitN(name) SB_CUDA_SCOPED(sb_cuda_scoped_wait, name)
#define DeviceZoneScopedMainN(name) SB_CUDA_SCOPED(sb_cuda_scoped_main, name)
#define DeviceZoneScopedMainChildN(name) SB_CUDA_SCOPED(sb_cuda_scoped_zone, name)
#define DeviceZoneScopedSumN1(name) SB_CUDA_SCOPED(sb_cuda_scoped_sum, name)
#define DeviceZoneScopedSumN2(name) SB_CUDA_SCOPED(sb_cuda_scoped_sum, name)

#define DeviceTimestampedData(name, value)                                                      \
    do {                                                                                        \
        SB_CUDA_PLACE(sb_cuda_data_place, name);                                                \
        sb_cuda_note(sb_cuda_word_of(SB_CUDA_DATA, SB_CUDA_CONSTANT_PLACE(sb_cuda_data_place)), \
                     (value));                                                                  \
    } while (0)

#define DeviceRecordEvent(number) \
    sb_cuda_note(sb_cuda_word_of(SB_CUDA_EVENT, (unsigned short)(number)), 0)

#define DeviceValidateProfiler(is_valid) sb_cuda_validate(is_valid)

#define DeviceSpanBegin(name)                                                           \
    ([&]() -> sb_cuda_span {                                                            \
        SB_CUDA_PLACE(sb_cuda_span_place, name);                                        \
        return sb_cuda_begin(                                                           \
            sb_cuda_word_of(SB_CUDA_SPAN, SB_CUDA_CONSTANT_PLACE(sb_cuda_span_place))); \
    }())
#define DeviceSpanEnd(span) sb_cuda_end_span(span)

/* ---- what the header does by itself ---- */

/* A file of nvcc's or clang's says where its gate is; this must not begin to use a GPU. */
#ifndef __CUDACC_RTC__

#include <strobe/cuda_host.h>

static void *sb_cuda_find_gate(void) {
    void *address = 0;
    return cudaGetSymbolAddress(&address, sb_cuda_this_gate) == cudaSuccess ? address : 0;
}

static void *sb_cuda_find_missed(void) {
    void *address = 0;
    return cudaGetSymbolAddress(&address, sb_cuda_this_missed) == cudaSuccess ? address : 0;
}

namespace {
struct sb_cuda_registration {
    sb_cuda_unit unit;
    sb_cuda_registration() : unit() {
        unit.gate = sb_cuda_find_gate;
        unit.missed = sb_cuda_find_missed;
        sb_cuda_register(&unit);
    }
    ~sb_cuda_registration() {
        sb_cuda_unregister(&unit);
    }
} sb_cuda_registered;
} // namespace

/* Begins to use the current GPU, so that its first kernel is recorded. 0: done. */
static inline int sb_cuda_init(void) {
    return cudaFree(0) == cudaSuccess && sb_cuda_attach(0) == SB_OK ? 0 : -1;
}

#endif

#else /* not enabled */

typedef unsigned int sb_cuda_span;

#ifndef __CUDACC_RTC__
static inline int sb_cuda_init(void) {
    return 0;
}
#endif

#define DeviceZoneScopedN(name)
#define DeviceZoneScopedWaitN(name)
#define DeviceZoneScopedMainN(name)
#define DeviceZoneScopedMainChildN(name)
#define DeviceZoneScopedSumN1(name)
#define DeviceZoneScopedSumN2(name)
#define DeviceTimestampedData(name, value) ((void)0)
#define DeviceRecordEvent(number) ((void)0)
#define DeviceValidateProfiler(is_valid) ((void)0)
#define DeviceSpanBegin(name) 0u
#define DeviceSpanEnd(span) ((void)0)

#endif

#endif
