/*
 * What host and device agree on: where things are in a tile's L1 and DRAM, and the words they talk
 * through. Included by both sides; kernels get it through kernel.h.
 *
 *   0x00000  jump to BRISC's firmware
 *   0x00010  mailbox: sb_mailbox
 *   0x00B00  profiler control vector, 64 words      } the layout that profilers of
 *   0x00C00  profiler buffers, 5 x 512 words         } this hardware agree on
 *   0x03400  512 zero bytes, a source for clearing by NoC
 *   0x03600  print buffers, 5 x 1 KiB: sb_print_buffer
 *   0x05000  firmware: BRISC 8 KiB, NCRISC and TRISC0-2 4 KiB each
 *   0x0B000  program configuration: arguments, circular buffers, semaphores
 *   0x10000  kernels: 32 KiB for each processor
 *   0x38000  free for buffers: circular ones from below, others from above
 *   0x16E000 end
 */
#ifndef STROBE_KERNEL_LAYOUT_H
#define STROBE_KERNEL_LAYOUT_H

#include <stdint.h>

#define SB_PROCESSORS 5

#define SB_L1_MAILBOX 0x00010u
#define SB_L1_PROFILER_CONTROL 0x00B00u
#define SB_L1_PROFILER_BUFFERS 0x00C00u
#define SB_L1_PROFILER_BUFFER_BYTES 2048u
#define SB_L1_ZEROS 0x03400u
#define SB_L1_PRINT 0x03600u
#define SB_L1_PRINT_BYTES 1024u
#define SB_L1_FIRMWARE 0x05000u
#define SB_L1_CONFIG 0x0B000u
#define SB_L1_ARGS SB_L1_CONFIG
#define SB_L1_ARGS_BYTES 1024u
#define SB_L1_CIRCULAR 0x0C400u
#define SB_L1_SEMAPHORES 0x0C800u
#define SB_L1_KERNELS 0x10000u
#define SB_L1_KERNEL_BYTES 0x8000u
/* Of these, kernels without instrumentation leave this much free, so that with it they still fit.
 */
#define SB_L1_KERNEL_RESERVE 0x1000u
#define SB_L1_FREE 0x38000u
#define SB_L1_END 0x16E000u

#define SB_ARGS_MAX (SB_L1_ARGS_BYTES / 4)
#define SB_CIRCULAR_MAX 32
#define SB_SEMAPHORE_MAX 16
#define SB_SEMAPHORE_STRIDE 16u /* atomics want their word at a multiple of 16 */

/* DRAM: the beginning of each bank is kept for a barrier word and the profiler. */
#define SB_DRAM_BANKS 12
#define SB_DRAM_BANK_BYTES (1u << 30)
#define SB_DRAM_FREE 0x400000u

/* Where profiler data begins in a bank, behind the barrier word. */
#define SB_DRAM_PROFILER 32u

/* Values of go and sync. */
#define SB_DONE 0x00u
#define SB_INIT 0x40u
#define SB_GO 0x80u

/* What is written below the stack, and must still be there when a kernel ends. */
#define SB_STACK_GUARD 0x5AFE57ACu
#define SB_STACK_PAINT 0x57AC57ACu

typedef struct sb_launch {
    uint32_t program_id;
    uint32_t processors; /* bit = processor that has a kernel */
    uint32_t circular;   /* bit = circular buffer in use */
    uint32_t replay;     /* which replay of a trace on this device, from 1; 0: none */
} sb_launch;

/*
 * What the profiler on a core is told, and what it says. DRAM has a slot for each processor, side
 * by side; the control vector says how far they are filled.
 */
typedef struct sb_profiler_mail {
    uint32_t slot_address; /* of BRISC's slot, in the DRAM channel */
    uint32_t slot_tile[2]; /* where that channel is, on NoC 0 and 1, as in a NoC address */
    uint32_t slot_bytes;   /* of each processor; 0: nothing is pushed */
    uint32_t identity;     /* the core's number, placed as in the third word of a buffer */
    /* A processor that cannot go on until the host has made room; the host answers with 0. */
    uint32_t request[SB_PROCESSORS];
    /* Markers that were not recorded: no room in L1, no room in DRAM. The host counts them up. */
    uint32_t refused[SB_PROCESSORS];
    uint32_t dropped[SB_PROCESSORS];
    uint32_t push_clocks;         /* what the last push at the end of a program took */
    uint32_t base[SB_PROCESSORS]; /* where the run begins in the buffer, if several share it */
} sb_profiler_mail;

/* Values of a request: read my slot in DRAM, read my buffer in L1. */
#define SB_PROFILER_SLOT_FULL 1u
#define SB_PROFILER_BUFFER_FULL 2u

typedef struct sb_mailbox {
    uint32_t go;                  /* to BRISC: GO; back: DONE */
    uint32_t sync[SB_PROCESSORS]; /* from BRISC to the others, and back; [0] is not used */
    uint32_t columns;             /* tiles of the chip */
    uint32_t rows;
    uint32_t chip;
    uint32_t chips;
    uint32_t print_mask;   /* bit = processor whose prints are read */
    uint32_t paints_stack; /* measure how deep stacks get */
    sb_launch launch;
    uint32_t overflows[SB_PROCESSORS];   /* not 0: the stack of the processor ran over */
    uint32_t stack_bytes[SB_PROCESSORS]; /* the deepest stack of the last kernel, if measured */
    uint32_t scratch[SB_PROCESSORS];     /* results of atomics nobody wants */
    sb_profiler_mail profiler;
} sb_mailbox;

typedef struct sb_circular {
    uint32_t address;
    uint32_t page_size;
    uint32_t page_count;
    uint32_t reserved;
    uint32_t received; /* pages ever pushed */
    uint32_t acked;    /* pages ever popped */
    uint32_t padding[2];
} sb_circular;

#define SB_PRINT_WORDS (SB_L1_PRINT_BYTES / 4 - 2)

/* A ring of records: address of the format, count of values, values. Counts are of words, for ever.
 */
typedef struct sb_print_buffer {
    uint32_t written;
    uint32_t read;
    uint32_t words[SB_PRINT_WORDS];
} sb_print_buffer;

#endif
