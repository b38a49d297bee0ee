/*
 * The NoC part of kernel.h, which includes it.
 *
 * Requests are counted when they are made; a barrier waits until the interface has counted as many
 * answers. Counts start from what the interface shows when the kernel begins.
 */
#ifndef STROBE_KERNEL_NOC_H
#define STROBE_KERNEL_NOC_H

#include <strobe/kernel_layout.h>

/* Command buffers, one for each use, so that settings of one do not disturb another. */
enum { SB_BUFFER_WRITE = 0, SB_BUFFER_READ = 1, SB_BUFFER_INLINE = 2, SB_BUFFER_ATOMIC = 3 };

enum {
    SB_NOC_TARGET_LOW = 0x00,
    SB_NOC_TARGET_HIGH = 0x04,
    SB_NOC_RETURN_LOW = 0x0C,
    SB_NOC_RETURN_HIGH = 0x10,
    SB_NOC_TAG = 0x18,
    SB_NOC_CONTROL = 0x1C,
    SB_NOC_LENGTH = 0x20,
    SB_NOC_DATA = 0x24,
    SB_NOC_SEND = 0x28,
    SB_NOC_COUNTERS = 0x200
};

enum {
    SB_COUNTER_ATOMICS = 0,
    SB_COUNTER_ACKS = 1,
    SB_COUNTER_READS = 2,
    SB_COUNTER_WRITES_SENT = 10,
    SB_COUNTER_POSTED_SENT = 11,
    SB_COUNTER_OUTSTANDING = 16 /* and one for each further transaction id */
};

/* Bits of the control word. */
#define SB_CONTROL_ATOMIC (1u << 0)
#define SB_CONTROL_WRITE (1u << 1)
#define SB_CONTROL_INLINE (1u << 3)
#define SB_CONTROL_RESPONSE (1u << 4)
#define SB_CONTROL_MULTICAST (1u << 5)
#define SB_CONTROL_STATIC_CHANNEL (1u << 7)
#define SB_CONTROL_PATH_RESERVE (1u << 8)
#define SB_CONTROL_CHANNEL(number) ((uint32_t)(number) << 13)
#define SB_CONTROL_INCLUDE_SOURCE (1u << 17)

#define SB_NOC_PACKET_BYTES 8192u
#define SB_ATOMIC_INCREMENT 0x107Cu

/* What this kernel has asked for; the barriers wait for these counts. */
typedef struct sb_noc_state {
    uint32_t reads;
    uint32_t acks;
    uint32_t writes_sent;
    uint32_t posted_sent;
    uint32_t atomics;
    uint32_t own; /* this tile's coordinates, placed as in the high word of an address */
} sb_noc_state;

extern sb_noc_state sb_noc;

static inline volatile uint32_t *sb_noc_register(uint32_t buffer, uint32_t offset) {
    return sb_word(0xFFB20000u + STROBE_NOC * 0x10000u + buffer * 0x400u + offset);
}

static inline uint32_t sb_noc_counter(uint32_t counter) {
    return *sb_noc_register(0, SB_NOC_COUNTERS + counter * 4);
}

static inline void sb_noc_send(uint32_t buffer) {
    while (*sb_noc_register(buffer, SB_NOC_SEND) != 0) {
    }
    *sb_noc_register(buffer, SB_NOC_SEND) = 1;
}

/* ---- addresses ---- */

/* An address on the tile at x, y: translated coordinates, or those of this kernel's NoC. */
static inline uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t address) {
    return (uint64_t)(y << 10 | x << 4) << 32 | address;
}

/* An address on the tile at this place of the grid. */
static inline uint64_t get_noc_addr_of_core(uint32_t column, uint32_t row, uint32_t address) {
    return get_noc_addr(column + 18, row + 18, address);
}

/* The tiles from one corner to the opposite one; on NoC 1 they change places. */
static inline uint64_t get_noc_multicast_addr(uint32_t first_x, uint32_t first_y, uint32_t last_x,
                                              uint32_t last_y, uint32_t address) {
    const uint32_t first = first_y << 10 | first_x << 4;
    const uint32_t last = last_y << 10 | last_x << 4;
    const uint32_t start = STROBE_NOC == 0 ? first : last;
    const uint32_t end = STROBE_NOC == 0 ? last : first;
    return (uint64_t)(start << 12 | end) << 32 | address;
}

/* The same by their places in the grid. */
static inline uint64_t get_noc_multicast_addr_of_cores(uint32_t first_column, uint32_t first_row,
                                                       uint32_t last_column, uint32_t last_row,
                                                       uint32_t address) {
    return get_noc_multicast_addr(first_column + 18, first_row + 18, last_column + 18,
                                  last_row + 18, address);
}

static inline uint64_t get_dram_noc_addr(uint32_t bank, uint32_t address) {
    static const uint8_t x[SB_DRAM_BANKS] = {0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5};
    static const uint8_t y[SB_DRAM_BANKS] = {11, 1, 5, 7, 1, 11, 2, 9, 8, 3, 5, 7};
    const uint32_t column = STROBE_NOC == 0 ? x[bank] : 9u - x[bank];
    const uint32_t row = STROBE_NOC == 0 ? y[bank] : 11u - y[bank];
    return get_noc_addr(column, row, address + (bank & 1) * SB_DRAM_BANK_BYTES);
}

/*
 * An L1 address on a tile of a neighbouring chip: the next one in the ring, or the one before.
 * Only writes and increments can be sent there.
 */
static inline uint64_t get_link_noc_addr(bool next, uint32_t column, uint32_t row,
                                         uint32_t address) {
    const uint32_t x = next ? 1u : 9u;
    const uint32_t link_x = STROBE_NOC == 0 ? x : 9u - x;
    const uint32_t link_y = STROBE_NOC == 0 ? 0u : 11u;
    const uint64_t tile = (uint64_t)((row + 18) << 6 | (column + 18)) << 24;
    return get_noc_addr(link_x, link_y, 0) | tile | address;
}

/* ---- reads and writes ---- */

static inline void sb_noc_packet(uint32_t buffer, uint32_t control, uint64_t target, uint64_t back,
                                 uint32_t length) {
    *sb_noc_register(buffer, SB_NOC_TARGET_LOW) = (uint32_t)target;
    *sb_noc_register(buffer, SB_NOC_TARGET_HIGH) = (uint32_t)(target >> 32);
    *sb_noc_register(buffer, SB_NOC_RETURN_LOW) = (uint32_t)back;
    *sb_noc_register(buffer, SB_NOC_RETURN_HIGH) = (uint32_t)(back >> 32);
    *sb_noc_register(buffer, SB_NOC_CONTROL) = control;
    *sb_noc_register(buffer, SB_NOC_LENGTH) = length;
    sb_noc_send(buffer);
}

static inline uint64_t sb_noc_own(uint32_t address) {
    return (uint64_t)sb_noc.own << 32 | address;
}

/* Begins to read size bytes from a NoC address into L1. */
static inline void noc_async_read(uint64_t from, uint32_t to, uint32_t size) {
    sb_record_noc_event(SB_NOC_EVENT_READ, from, size, false);
    while (size > 0) {
        const uint32_t part = size < SB_NOC_PACKET_BYTES ? size : SB_NOC_PACKET_BYTES;
        sb_noc_packet(SB_BUFFER_READ, SB_CONTROL_RESPONSE | SB_CONTROL_STATIC_CHANNEL, from,
                      sb_noc_own(to), part);
        sb_noc.reads++;
        from += part;
        to += part;
        size -= part;
    }
}

/* Waits until all that was asked for has arrived. */
static inline void noc_async_read_barrier(void) {
    sb_record_noc_step(SB_NOC_EVENT_READ_BARRIER_START);
    while (sb_noc_counter(SB_COUNTER_READS) != sb_noc.reads) {
    }
    sb_record_noc_step(SB_NOC_EVENT_READ_BARRIER_END);
}

/* Begins to write size bytes of L1 to a NoC address. */
static inline void noc_async_write(uint32_t from, uint64_t to, uint32_t size) {
    sb_record_noc_event(SB_NOC_EVENT_WRITE, to, size, false);
    while (size > 0) {
        const uint32_t part = size < SB_NOC_PACKET_BYTES ? size : SB_NOC_PACKET_BYTES;
        sb_noc_packet(SB_BUFFER_WRITE,
                      SB_CONTROL_WRITE | SB_CONTROL_RESPONSE | SB_CONTROL_STATIC_CHANNEL |
                          SB_CONTROL_CHANNEL(1),
                      sb_noc_own(from), to, part);
        sb_noc.acks++;
        sb_noc.writes_sent++;
        from += part;
        to += part;
        size -= part;
    }
}

/*
 * The same without acknowledgement: nobody says when it has arrived, so the barrier does not wait
 * for it and the receiver has to find out by itself.
 */
static inline void noc_async_write_posted(uint32_t from, uint64_t to, uint32_t size) {
    sb_record_noc_event(SB_NOC_EVENT_WRITE, to, size, true);
    while (size > 0) {
        const uint32_t part = size < SB_NOC_PACKET_BYTES ? size : SB_NOC_PACKET_BYTES;
        sb_noc_packet(SB_BUFFER_WRITE,
                      SB_CONTROL_WRITE | SB_CONTROL_STATIC_CHANNEL | SB_CONTROL_CHANNEL(1),
                      sb_noc_own(from), to, part);
        sb_noc.posted_sent++;
        from += part;
        to += part;
        size -= part;
    }
}

static inline void sb_noc_multicast(uint32_t from, uint64_t to, uint32_t size, uint32_t count) {
    while (size > 0) {
        const uint32_t part = size < SB_NOC_PACKET_BYTES ? size : SB_NOC_PACKET_BYTES;
        sb_noc_packet(SB_BUFFER_WRITE,
                      SB_CONTROL_WRITE | SB_CONTROL_RESPONSE | SB_CONTROL_MULTICAST |
                          SB_CONTROL_PATH_RESERVE | SB_CONTROL_STATIC_CHANNEL |
                          SB_CONTROL_CHANNEL(4),
                      sb_noc_own(from), to, part);
        sb_noc.acks += count;
        sb_noc.writes_sent++;
        from += part;
        to += part;
        size -= part;
    }
}

/* Writes to all tiles of get_noc_multicast_addr but this one; count is how many these are. */
static inline void noc_async_write_multicast(uint32_t from, uint64_t to, uint32_t size,
                                             uint32_t count) {
    sb_record_noc_event(SB_NOC_EVENT_WRITE_MULTICAST, to, size, false);
    sb_noc_multicast(from, to, size, count);
}

/* Waits until the sources of all writes may be changed again. */
static inline void noc_async_writes_flushed(void) {
    sb_record_noc_step(SB_NOC_EVENT_WRITE_FLUSH);
    while (sb_noc_counter(SB_COUNTER_WRITES_SENT) != sb_noc.writes_sent) {
    }
}

/* The same for posted writes. */
static inline void noc_async_posted_writes_flushed(void) {
    while (sb_noc_counter(SB_COUNTER_POSTED_SENT) != sb_noc.posted_sent) {
    }
}

static inline void sb_noc_wait_for_acks(void) {
    while (sb_noc_counter(SB_COUNTER_ACKS) != sb_noc.acks) {
    }
}

/* Waits until all writes have arrived, posted ones apart. */
static inline void noc_async_write_barrier(void) {
    sb_record_noc_step(SB_NOC_EVENT_WRITE_BARRIER_START);
    sb_noc_wait_for_acks();
    sb_record_noc_step(SB_NOC_EVENT_WRITE_BARRIER_END);
}

/* ---- transaction ids ---- */

/* Reads, or writes, from here on have this id (0 to 15; 0 at the start of a kernel). */
static inline void noc_async_read_set_trid(uint32_t id) {
    *sb_noc_register(SB_BUFFER_READ, SB_NOC_TAG) = id << 10;
}

static inline void noc_async_write_set_trid(uint32_t id) {
    *sb_noc_register(SB_BUFFER_WRITE, SB_NOC_TAG) = id << 10;
}

/* Waits for what has this id, of both processors that share the NoC's interface. */
static inline void noc_async_read_barrier_with_trid(uint32_t id) {
    while (sb_noc_counter(SB_COUNTER_OUTSTANDING + id) != 0) {
    }
}

static inline void noc_async_write_barrier_with_trid(uint32_t id) {
    noc_async_read_barrier_with_trid(id);
}

/* Writes one word; it need not be in L1. */
static inline void noc_inline_dw_write(uint64_t to, uint32_t value) {
    sb_record_noc_word(SB_NOC_EVENT_WRITE_INLINE, to, 4);
    *sb_noc_register(SB_BUFFER_INLINE, SB_NOC_DATA) = value;
    sb_noc_packet(SB_BUFFER_INLINE,
                  SB_CONTROL_WRITE | SB_CONTROL_INLINE | SB_CONTROL_RESPONSE |
                      SB_CONTROL_STATIC_CHANNEL | SB_CONTROL_CHANNEL(1),
                  to, sb_noc_own(0), 0xFu << ((uint32_t)to & 15));
    sb_noc.acks++;
    sb_noc.writes_sent++;
}

/* ---- remote semaphores ---- */

/* Adds to a semaphore, here or elsewhere; get_noc_addr(x, y, get_semaphore(id)) names it. */
static inline void noc_semaphore_inc(uint64_t semaphore, uint32_t increment) {
    sb_record_noc_word(SB_NOC_EVENT_SEMAPHORE_INC, semaphore, 0);
    *sb_noc_register(SB_BUFFER_ATOMIC, SB_NOC_DATA) = increment;
    sb_noc_packet(SB_BUFFER_ATOMIC, SB_CONTROL_ATOMIC | SB_CONTROL_RESPONSE, semaphore,
                  sb_noc_own((uint32_t)&sb_mail()->scratch[STROBE_PROCESSOR]), SB_ATOMIC_INCREMENT);
    sb_noc.atomics++;
}

static inline void noc_async_atomic_barrier(void) {
    sb_record_noc_step(SB_NOC_EVENT_ATOMIC_BARRIER);
    while (sb_noc_counter(SB_COUNTER_ATOMICS) != sb_noc.atomics) {
    }
}

/* Sends the value of a semaphore here to the same semaphore of count other tiles. */
static inline void noc_semaphore_set_multicast(uint32_t from, uint64_t to, uint32_t count) {
    sb_record_noc_word(SB_NOC_EVENT_SEMAPHORE_SET_MULTICAST, to, 4);
    sb_noc_multicast(from, to, 4, count);
}

/* ---- interleaved buffers ---- */

/* A buffer whose pages go round the DRAM banks, or round the L1 of all tiles. */
typedef struct interleaved {
    uint32_t base;
    uint32_t page_size; /* a multiple of 32 */
    bool in_l1;
} interleaved;

static inline uint64_t get_page_noc_addr(uint32_t page, const interleaved *buffer) {
    if (!buffer->in_l1)
        return get_dram_noc_addr(page % SB_DRAM_BANKS,
                                 buffer->base + page / SB_DRAM_BANKS * buffer->page_size);
    const uint32_t columns = sb_mail()->columns;
    const uint32_t tiles = columns * sb_mail()->rows;
    const uint32_t tile = page % tiles;
    return get_noc_addr_of_core(tile % columns, tile / columns,
                                buffer->base + page / tiles * buffer->page_size);
}

static inline void noc_async_read_page(uint32_t page, const interleaved *buffer, uint32_t to) {
    noc_async_read(get_page_noc_addr(page, buffer), to, buffer->page_size);
}

static inline void noc_async_write_page(uint32_t page, const interleaved *buffer, uint32_t from) {
    noc_async_write(from, get_page_noc_addr(page, buffer), buffer->page_size);
}

#endif
