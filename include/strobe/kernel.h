/*
 * kernel.h: what a kernel includes.
 *
 * A kernel is a C11 file with `void kernel_main(void)`. It is built for one of a tile's five
 * processors (BRISC and NCRISC move data, TRISC0-2 compute) and runs on every core it was placed
 * on, each with its own arguments:
 *
 *     #include <strobe/kernel.h>
 *
 *     void kernel_main(void) {
 *         const uint32_t pages = get_arg_val(0);
 *         const interleaved source = {.base = get_arg_val(1), .page_size = get_tile_size(0)};
 *         for (uint32_t page = 0; page < pages; page++) {
 *             cb_reserve_back(0, 1);
 *             noc_async_read_page(page, &source, get_write_ptr(0));
 *             noc_async_read_barrier();
 *             cb_push_back(0, 1);
 *         }
 *     }
 *
 * Names are those that authors of kernels for this hardware know. Constants of a build come as
 * macros (sb_kernel_options.defines). Data and stack live in the processor's local memory: 4 KiB on
 * BRISC and NCRISC, 2 KiB on TRISCs, so large arrays belong into circular buffers or L1 buffers.
 *
 * NoC functions are for BRISC (NoC 0) and NCRISC (NoC 1). Source and destination of a transfer must
 * be equal modulo 16, of a read from DRAM modulo 32.
 */
#ifndef STROBE_KERNEL_H
#define STROBE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <strobe/kernel_layout.h>

#ifndef STROBE_PROCESSOR
#error "STROBE_PROCESSOR is missing: kernels are built by strobe, not by hand"
#endif

#define BRISC 0
#define NCRISC 1
#define TRISC0 2
#define TRISC1 3
#define TRISC2 4

#define STROBE_NOC (STROBE_PROCESSOR == NCRISC ? 1u : 0u)

/* To be written by the author. */
void kernel_main(void);

/* ---- memory ---- */

static inline volatile uint32_t *sb_word(uint32_t address) {
    return (volatile uint32_t *)address;
}

static inline volatile sb_mailbox *sb_mail(void) {
    return (volatile sb_mailbox *)SB_L1_MAILBOX;
}

/* ---- zones, data and events of the profiler ---- */

#include <strobe/kernel_profiler.h>

/* ---- arguments and place ---- */

/* The index-th run-time argument of this kernel on this core. */
static inline uint32_t get_arg_val(uint32_t index) {
    return *sb_word(SB_L1_ARGS + STROBE_PROCESSOR * SB_L1_ARGS_BYTES + index * 4);
}

/* This core's place in the grid. */
static inline uint32_t get_absolute_logical_x(void) {
    return (*sb_word(0xFFB20138u) & 63) - 18;
}

static inline uint32_t get_absolute_logical_y(void) {
    return (*sb_word(0xFFB20138u) >> 6 & 63) - 18;
}

/* ---- time ---- */

/* The tile's clock, 64 bits that belong together. */
static inline uint64_t get_timestamp(void) {
    for (;;) {
        const uint32_t before = *sb_word(0xFFB121F4u);
        const uint32_t low = *sb_word(0xFFB121F0u);
        if (*sb_word(0xFFB121F4u) == before)
            return (uint64_t)before << 32 | low;
    }
}

static inline uint32_t get_timestamp_32b(void) {
    return *sb_word(0xFFB121F0u);
}

/* ---- circular buffers ---- */

/* Where this kernel reads and writes, in pages; in local memory, fresh at every start. */
extern uint16_t sb_circular_read[SB_CIRCULAR_MAX];
extern uint16_t sb_circular_write[SB_CIRCULAR_MAX];

static inline volatile sb_circular *sb_circular_at(uint32_t id) {
    return (volatile sb_circular *)(SB_L1_CIRCULAR + id * sizeof(sb_circular));
}

static inline uint32_t get_tile_size(uint32_t id) {
    return sb_circular_at(id)->page_size;
}

/* How long compute waits for data, and for room, is what the sums of the profiler are for. */
#if STROBE_PROCESSOR == TRISC0 || STROBE_PROCESSOR == TRISC1 || STROBE_PROCESSOR == TRISC2
#define SB_COMPUTE_WAIT(name) DeviceZoneScopedSumN1(name)
#else
#define SB_COMPUTE_WAIT(name) _Static_assert(sizeof("" name) > 1, "a zone has a name")
#endif

/* Waits until count pages are free: for ever, if the buffer has fewer. */
static inline void cb_reserve_back(uint32_t id, uint32_t count) {
    volatile sb_circular *buffer = sb_circular_at(id);
    const uint32_t pages = buffer->page_count;
    SB_COMPUTE_WAIT("CB-COMPUTE-RESERVE-BACK");
    while (pages - (buffer->received - buffer->acked) < count) {
    }
}

static inline uint32_t get_write_ptr(uint32_t id) {
    return sb_circular_at(id)->address + sb_circular_write[id] * get_tile_size(id);
}

/* Hands count pages to the reader. They must have been reserved. */
static inline void cb_push_back(uint32_t id, uint32_t count) {
    volatile sb_circular *buffer = sb_circular_at(id);
    const uint32_t next = sb_circular_write[id] + count;
    sb_circular_write[id] =
        (uint16_t)(next >= buffer->page_count ? next - buffer->page_count : next);
    buffer->received += count;
}

/* Waits until count pages have been pushed. */
static inline void cb_wait_front(uint32_t id, uint32_t count) {
    volatile sb_circular *buffer = sb_circular_at(id);
    SB_COMPUTE_WAIT("CB-COMPUTE-WAIT-FRONT");
    while (buffer->received - buffer->acked < count) {
    }
}

static inline uint32_t get_read_ptr(uint32_t id) {
    return sb_circular_at(id)->address + sb_circular_read[id] * get_tile_size(id);
}

/* Gives count pages back to the writer. */
static inline void cb_pop_front(uint32_t id, uint32_t count) {
    volatile sb_circular *buffer = sb_circular_at(id);
    const uint32_t next = sb_circular_read[id] + count;
    sb_circular_read[id] =
        (uint16_t)(next >= buffer->page_count ? next - buffer->page_count : next);
    buffer->acked += count;
}

/* ---- semaphores ---- */

/* The L1 address of a semaphore; the same on every core. */
static inline uint32_t get_semaphore(uint32_t id) {
    return SB_L1_SEMAPHORES + id * SB_SEMAPHORE_STRIDE;
}

static inline void noc_semaphore_set(uint32_t address, uint32_t value) {
    sb_record_noc_step(SB_NOC_EVENT_SEMAPHORE_SET);
    *sb_word(address) = value;
}

/* Waits until the semaphore is value. */
static inline void noc_semaphore_wait(uint32_t address, uint32_t value) {
    sb_record_noc_step(SB_NOC_EVENT_SEMAPHORE_WAIT);
    while (*sb_word(address) != value) {
    }
}

/* Waits until the semaphore is at least value. */
static inline void noc_semaphore_wait_min(uint32_t address, uint32_t value) {
    sb_record_noc_step(SB_NOC_EVENT_SEMAPHORE_WAIT);
    while (*sb_word(address) < value) {
    }
}

/* ---- print ---- */

/*
 * printf to the host: %d %i %u %x %X %o %c %p with 32-bit values, %s with text that stays where it
 * is; all of them with a width (%5u, %-5u, %08x). Does nothing unless the host reads this core's
 * prints.
 */
void sb_dprint(const char *format, ...);
#define DPRINT(...) sb_dprint(__VA_ARGS__)

/* ---- NoC ---- */

#if STROBE_PROCESSOR == BRISC || STROBE_PROCESSOR == NCRISC
#include <strobe/kernel_noc.h>
#endif

#endif
