/*
 * What the parts of the machine share: its state, and the functions between its files.
 *
 *   emu_decode.c    words to operations
 *   emu_hart.c      the interpreter: runs one hart up to a limit
 *   emu_poll.c      parking of harts that poll, and waking them
 *   emu_mmio.c      registers
 *   emu_noc.c       NoC commands: checking, and doing them at once (count)
 *   emu_packet.c    NoC commands as packets that take time (modelled)
 *   emu_grid.c      coordinates and distances
 *   emu_schedule.c  who runs when, threads
 *   emu.c           creation, host access, questions
 *
 * Only accesses to what harts share (L1, registers) have to happen in order. So a hart runs through
 * private instructions as far as it likes (up to RUN_AHEAD) and stops in front of the first shared
 * access that lies at or beyond its limit: its clock is then the time of that access, and the
 * scheduler puts accesses, not instructions, in order. Results are as if harts took turns by clock.
 */
#ifndef SB_DEVICE_EMU_EMU_MACHINE_H
#define SB_DEVICE_EMU_EMU_MACHINE_H

#include <string.h>

#include "device/emu/emu.h"
#include "device/emu/emu_decode.h"

#define EMU_PAGES (EMU_L1_SIZE >> EMU_PAGE_SHIFT)
#define EMU_LOCAL_BASE 0xFFB00000u
#define EMU_LOCAL_MAX 4096u
#define EMU_NOC_BASE 0xFFB20000u
#define EMU_CONFIG_BASE 0xFFEF0000u

#define EMU_NOCS 2
#define EMU_COMMAND_BUFFERS 4
#define EMU_PACKET_MAX 8192u
#define EMU_DRAM_CHANNELS 6
#define EMU_DRAM_CHANNEL_BYTES (2ull << 30)

/* A tile may run this many clocks without looking at others: the nearest is 19 clocks away. */
#define EMU_QUANTUM 16u
/* Harts of a tile may be out of step by this many clocks in modelled time. */
#define EMU_SLACK 16u
/* Private instructions a hart may run beyond its limit, in clocks. */
#define EMU_RUN_AHEAD 1024u
#define EMU_NEVER UINT64_MAX

/* Latencies of modelled time, in clocks. */
#define EMU_LOCAL_LATENCY 2u
#define EMU_REGISTER_LATENCY 7u
#define EMU_L1_LATENCY 8u
#define EMU_L1_STORE_CLOCKS 5u
#define EMU_MULTIPLY_LATENCY 2u
#define EMU_BRANCH_PENALTY 2u
#define EMU_NOC_INTERFACE_CLOCKS 10u
#define EMU_NOC_HOP_CLOCKS 9u
#define EMU_NOC_BYTES_PER_CLOCK 32u
#define EMU_DRAM_LATENCY 100u
#define EMU_DRAM_BYTES_PER_CLOCK 48u
#define EMU_LINK_CLOCKS 500u
#define EMU_LINK_BYTES_PER_CLOCK 12u

typedef enum emu_hart_state { EMU_HELD, EMU_ACTIVE, EMU_PARKED } emu_hart_state;

#define EMU_WATCH_MAX 8

/* One shared word that a polling loop loads. */
typedef struct emu_watch {
    uint32_t address;
    uint64_t offset; /* clocks after the head of the loop */
} emu_watch;

/*
 * What is known of a loop that may be polling. The head is the shared load at pc. A turn that comes
 * back to the head with the same registers, without a store, will repeat for as long as the loaded
 * words stay as they are; two such turns of equal length, and the hart is parked.
 */
typedef struct emu_poll {
    bool observes;     /* a turn is being watched */
    uint32_t last_pc;  /* of the last stop */
    uint32_t pc;       /* the head */
    uint64_t clock;    /* of the head */
    uint64_t effects;  /* of the hart at the head */
    uint64_t retired;  /* of the hart at the head */
    uint64_t period;   /* clocks of the last whole turn, 0 before there was one */
    uint32_t rest;     /* stops to let pass before the next try */
    uint32_t failures; /* in a row; each doubles the rest */
    uint32_t watch_count;
    emu_watch watches[EMU_WATCH_MAX];
    uint32_t registers[32];
} emu_poll;

typedef struct emu_hart {
    uint32_t registers[EMU_REGISTERS];
    uint32_t pc;
    emu_hart_state state;
    uint8_t number; /* an emu_processor */
    uint8_t order;  /* its turn within the tile */
    uint32_t local_bytes;
    uint64_t clock;       /* when its next instruction issues */
    uint64_t effects;     /* stores, and loads of what changes by itself */
    uint64_t retired;     /* instructions, skipped ones included */
    uint64_t skipped;     /* instructions it was spared while parked */
    uint64_t run_clock;   /* its clock when it was last let run, */
    uint64_t run_retired; /* and its instructions then */
    uint64_t turn;        /* instructions of one turn of the loop it is parked in */
    uint64_t stall;       /* clocks that the last store to a register cost on top */
    uint32_t pending;     /* bit = register whose value is still on its way */
    uint64_t store_ready; /* when the L1 port takes the next store */
    uint64_t ready[32];   /* when pending registers have their value */
    emu_poll poll;
    uint8_t local[EMU_LOCAL_MAX];
} emu_hart;

typedef struct emu_command {
    uint32_t target_low, target_high;
    uint32_t return_low, return_high;
    uint32_t tag;
    uint32_t control;
    uint32_t length;
    uint32_t data;
} emu_command;

/* What software reads at 0x200 + 4 * index. */
typedef enum emu_counter {
    EMU_ATOMIC_RESPONSES = 0,
    EMU_WRITE_ACKS = 1,
    EMU_READ_RESPONSES = 2,
    EMU_POSTED_ATOMICS = 9,
    EMU_WRITES_SENT = 10,
    EMU_POSTED_SENT = 11,
    EMU_OUTSTANDING = 16, /* and one for each further transaction id */
    EMU_COUNTERS = 32
} emu_counter;

typedef struct emu_noc {
    emu_command commands[EMU_COMMAND_BUFFERS];
    uint32_t counters[EMU_COUNTERS];
    uint64_t out_busy; /* until when the interface sends */
    uint64_t in_busy;  /* until when it receives */
} emu_noc;

/* Where something on the NoC is. */
typedef enum emu_node_kind { EMU_NOWHERE, EMU_TILE, EMU_DRAM, EMU_LINK } emu_node_kind;

typedef struct emu_place {
    emu_node_kind kind;
    uint32_t index; /* tile, channel, or the chip behind the link */
    uint32_t x;     /* on NoC 0 */
    uint32_t y;
} emu_place;

typedef enum emu_packet_kind {
    EMU_PACKET_WRITE,
    EMU_PACKET_READ,
    EMU_PACKET_ATOMIC,
    EMU_PACKET_COUNT,  /* adds one to a counter of the receiver: acknowledgement, or data sent */
    EMU_PACKET_DATA,   /* answer to a read */
    EMU_PACKET_RESULT, /* answer to an atomic */
} emu_packet_kind;

/* A packet belongs to the queue it is in. */
typedef struct emu_packet {
    uint64_t time;     /* when its head arrives, or once received when it takes effect */
    uint64_t sequence; /* of its sender */
    uint32_t sender;   /* node */
    uint32_t receiver; /* node */
    emu_packet_kind kind;
    uint8_t noc;
    bool is_received; /* it has been through the interface of the receiver */
    bool wants_answer;
    bool is_register; /* the address is one of a register */
    emu_counter counter;
    uint8_t transaction;     /* id under which an answer is awaited */
    bool ends_transaction;   /* it is that answer */
    uint8_t x, y;            /* on NoC 0: the end it was sent to */
    uint64_t address;        /* at the receiver */
    uint32_t answer_address; /* at the sender */
    uint32_t operand;
    uint32_t size;  /* bytes that travel, or that a read asks for */
    uint8_t data[]; /* for kinds that carry some */
} emu_packet;

/* Packets by time, then sender, then sequence: a binary heap. */
typedef struct emu_queue {
    emu_packet **packets;
    size_t count;
    size_t capacity;
} emu_queue;

#define EMU_THREADS 3 /* TRISCs, as counters call them */

/* See emu_counters.c. */
typedef struct emu_counters {
    uint32_t period, mode, control;
    uint32_t rises; /* bits of control that have just been set */
    uint64_t begin_clock;
    uint64_t begin[EMU_THREADS]; /* instructions when it was started */
    uint32_t reference;          /* clocks when it was stopped, since it was started */
    uint32_t instructions[EMU_THREADS];
} emu_counters;

typedef struct emu_tile {
    struct emu_machine *machine;
    uint32_t node;
    uint32_t chip;
    uint32_t index;           /* row * columns + column */
    uint64_t next[EMU_HARTS]; /* by order: the hart's clock, or EMU_NEVER */
    uint64_t end;             /* how far it may run by itself; a packet sent brings it nearer */
    uint8_t *l1;
    const emu_page *pages[EMU_PAGES]; /* decoded; NULL when unknown or out of date */
    /* Per page: EMU_FLAG_CODE when it is decoded; below it, how many polled words it holds. */
    uint8_t flags[EMU_PAGES];
    emu_hart harts[EMU_HARTS]; /* by order */
    emu_noc nocs[EMU_NOCS];
    emu_counters counters;
    uint32_t soft_reset;
    uint32_t config[7];  /* Tensix configuration words 157 to 163 */
    uint32_t clock_high; /* latched by a read of the low half */
    uint64_t skew;
    uint32_t parked; /* harts */
    uint64_t sequence;
    emu_queue inbox;
    emu_queue outbox; /* not ordered: emptied at the end of each quantum */
    emu_fault fault;
} emu_tile;

#define EMU_FLAG_CODE 0x80u

/* A DRAM channel as a receiver of packets. */
typedef struct emu_dram {
    uint8_t *bytes;
    uint32_t node;
    uint32_t chip;
    uint64_t busy;
    uint64_t sequence;
    emu_queue inbox;
    emu_queue outbox;
} emu_dram;

typedef struct emu_chip {
    emu_dram dram[EMU_DRAM_CHANNELS];
} emu_chip;

struct emu_machine {
    emu_options options;
    uint32_t tile_count; /* per chip */
    uint32_t node_count; /* tiles and DRAM channels of all chips, chip by chip */
    uint64_t clock;
    emu_tile *tiles; /* chip by chip */
    emu_pages *pages;
    /* By node. Side by side, because the scheduler looks at all of them all the time. */
    uint64_t *wakes;
    uint8_t *is_awake; /* its wake is not EMU_NEVER */
    uint8_t *has_sent; /* its outbox is not empty */
    /* Nodes that act in the quantum under way. */
    uint32_t *due;
    uint32_t due_count;
    emu_chip chips[EMU_MAX_CHIPS];
    emu_fault fault;
    struct emu_threads *threads; /* NULL with one thread */
};

/* ---- emu_hart.c ---- */

/* Runs hart until its next shared access lies at or beyond limit, or it stops for good. */
void emu_hart_run(emu_tile *tile, emu_hart *hart, uint64_t limit);
/* The operation in front of which a stopped hart stands. */
emu_op emu_next_op(emu_tile *tile, const emu_hart *hart);

/* ---- emu_poll.c ---- */

/* Called when an active hart has stopped in front of a shared access and its rest is over. */
void emu_poll_stopped(emu_tile *tile, emu_hart *hart);
/*
 * Who did something, as its place among all that take turns within one clock: 0 for the host and
 * for packets, which come first, else emu_actor_of. Those whose turn is later see it at once, the
 * others one clock later.
 */
typedef uint32_t emu_actor;
#define EMU_OUTSIDE 0u
/*
 * actor wrote [address, address + size) of the tile's L1, or a register, at clock. Wakes harts that
 * poll there. Code that is overwritten is decoded anew when a hart next comes to its page.
 */
void emu_written(emu_tile *tile, uint32_t address, uint32_t size, uint64_t clock, emu_actor actor);
/* One more in a counter of the tile, at clock. */
void emu_count(emu_tile *tile, uint32_t noc, emu_counter counter, uint64_t clock, emu_actor actor);
/* One request of that id more, or fewer (-1), that waits for its answer. */
void emu_count_outstanding(emu_tile *tile, uint32_t noc, uint32_t transaction, int change,
                           uint64_t clock);
/* Forgets what the hart polls; it is held in reset now. */
void emu_unpark(emu_tile *tile, emu_hart *hart);

/* ---- emu_counters.c ---- */

bool emu_is_counter(uint32_t address);
/* False: nobody counts what is selected. */
bool emu_counter_read(const emu_tile *tile, uint32_t address, uint32_t *value);
/* False: the register can only be read. */
bool emu_counter_write(emu_tile *tile, uint32_t address, uint32_t value);
/* After a hart has run up to a clock and set a control bit. */
void emu_counters_settle(emu_tile *tile, uint64_t clock);

/* ---- emu_mmio.c ---- */

bool emu_register_read(emu_tile *tile, emu_hart *hart, uint32_t address, uint64_t clock,
                       uint32_t *value);
bool emu_register_write(emu_tile *tile, emu_hart *hart, uint32_t address, uint32_t value,
                        uint64_t clock);
/* A write that came from outside the tile: the host or the NoC. */
bool emu_register_write_outside(emu_tile *tile, uint32_t address, uint32_t value, uint64_t clock);
bool emu_register_read_outside(emu_tile *tile, uint32_t address, uint64_t clock, uint32_t *value);
bool emu_is_wall_clock(uint32_t address);

/* ---- emu_noc.c ---- */

bool emu_noc_send(emu_tile *tile, emu_hart *hart, uint32_t noc, uint32_t buffer, uint64_t clock);

/* A command with its addresses taken apart and checked. */
typedef struct emu_transfer {
    emu_packet_kind kind; /* WRITE, READ or ATOMIC */
    bool is_inline;
    bool is_posted;
    bool is_register;
    uint8_t transaction;
    uint32_t noc;
    uint32_t size;
    uint32_t data; /* inline data, operand */
    uint32_t local_address;
    uint64_t address; /* at the other end */
    emu_place place;
} emu_transfer;

/* ---- emu_packet.c ---- */

/* Returns when the last of it has left the tile. */
uint64_t emu_packet_send(emu_tile *tile, const emu_transfer *transfer, uint64_t clock);
/* One more in a counter of the tile, later. */
void emu_packet_count(emu_tile *tile, uint32_t noc, emu_counter counter, uint64_t clock);
/* Handles everything that takes effect at the tile up to and including clock. */
void emu_tile_receive(emu_tile *tile, uint64_t clock);
void emu_dram_receive(emu_machine *machine, emu_dram *dram, uint64_t end);
/* Moves what was sent during a quantum to its receivers. */
void emu_exchange(emu_machine *machine);
uint64_t emu_queue_time(const emu_queue *queue);
void emu_queue_free(emu_queue *queue);

/* ---- emu_grid.c ---- */

/* The tile a transfer ends at, its own or one behind a link, and the address there. */
emu_tile *emu_receiver(emu_tile *sender, const emu_transfer *transfer, uint32_t *offset);

emu_place emu_find(const emu_machine *machine, uint32_t chip, uint32_t noc, uint32_t x, uint32_t y);
emu_place emu_place_of_tile(const emu_machine *machine, uint32_t index);
uint32_t emu_hops(uint32_t noc, const emu_place *from, const emu_place *to);
/* What a node is: a tile, or a DRAM channel; the other is NULL. */
emu_tile *emu_tile_of_node(emu_machine *machine, uint32_t node);
emu_dram *emu_dram_of_node(emu_machine *machine, uint32_t node);
/* The tile at a place on chip; the place must be a tile. */
emu_tile *emu_tile_at(emu_machine *machine, uint32_t chip, uint32_t index);

/* ---- emu_schedule.c ---- */

void emu_run_count(emu_machine *machine, uint64_t end);
void emu_run_modelled(emu_machine *machine, uint64_t end);
void emu_threads_start(emu_machine *machine);
/* When something will happen next, or EMU_NEVER. */
uint64_t emu_earliest(const emu_machine *machine);
void emu_threads_stop(emu_machine *machine);

/* ---- emu.c ---- */

/* Stops the machine. hart may be NULL. Returns false, so that it can end a function. */
bool emu_fail(emu_tile *tile, const emu_hart *hart, uint64_t clock, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- small things ---- */

static inline emu_hart *emu_hart_of(emu_tile *tile, uint32_t processor) {
    /* Turns within a tile are BRISC, TRISC0, TRISC1, TRISC2, NCRISC. */
    static const uint8_t orders[EMU_HARTS] = {0, 4, 1, 2, 3};
    return &tile->harts[orders[processor]];
}

static inline emu_actor emu_actor_of(const emu_tile *tile, const emu_hart *hart) {
    return 1 + tile->node * 8 + hart->order;
}

/* Something happens at node at clock. */
static inline void emu_wake_by(emu_machine *machine, uint32_t node, uint64_t clock) {
    if (clock < machine->wakes[node]) {
        machine->wakes[node] = clock;
        machine->is_awake[node] = 1;
    }
}

/* Nothing happens at node before clock, which may be EMU_NEVER. */
static inline void emu_sleep_until(emu_machine *machine, uint32_t node, uint64_t clock) {
    machine->wakes[node] = clock;
    machine->is_awake[node] = clock != EMU_NEVER;
}

/* The first node at or after from whose flag is set; node_count if there is none. */
static inline uint32_t emu_next_flag(const emu_machine *machine, const uint8_t *flags,
                                     uint32_t from) {
    while (from < machine->node_count) {
        uint64_t eight;
        memcpy(&eight, flags + from, 8);
        if (eight != 0)
            return from + (uint32_t)__builtin_ctzll(eight) / 8;
        from += 8;
    }
    return machine->node_count;
}

/* To be called whenever a hart's clock or state changed outside of emu_hart_run. */
static inline void emu_hart_changed(emu_tile *tile, const emu_hart *hart) {
    const uint64_t next = hart->state == EMU_ACTIVE ? hart->clock : EMU_NEVER;
    tile->next[hart->order] = next;
    emu_wake_by(tile->machine, tile->node, next);
}

#endif
