/*
 * cuda_layout.h: what kernels on a GPU and the host agree on. For C, C++ and NVRTC.
 *
 *   pool      chunks of 128 records of 32 bytes, in memory of the GPU (or of the host, mapped).
 *   chunk     belongs to one warp at a time. Slots are claimed upwards; each warp that writes into
 *             a chunk begins with two records that say who it is and what time it is:
 *
 *               0 WARP  1 ANCHOR  2 MAIN  3 ZONE  4 DONE  5 WARP  6 ANCHOR  7 MAIN ... 127
 *               `--------------- one warp --------------'  `------ the next one -----'
 *
 *             Without DONE the next one has inherited the chunk; the warp before has left then too.
 *
 *   record    four words. The first says what it is: the kind in the top four bits, and of whatever
 *             has a name, in the lowest 16 bits, where in its module's constant memory the address
 *             of the name's sb_cuda_place is. The owner's ANCHOR has the address of the module's
 *             gate and where that is in constant memory. A zone's record is claimed when it begins,
 *             so its end always has room:
 *
 *               kind    word 0                   word 1        word 2          word 3
 *               WARP    sm, warp                 launch        block (x, y, z) retired | slots used
 *               ANCHOR  program << 16, gate's    clock         global timer    address of the gate
 *               ZONE    place                    clock, begin  clock, end      timer at the end
 *               SPAN    place                    clock, begin  clock, end      see below
 *               DATA    place                    clock         value           1
 *               EVENT   number                   clock                         1
 *               SUM     place                    clock, first  cycles in all   times
 *               DONE                                                           (the warp left)
 *
 *             MAIN is a ZONE. A SPAN may end on another SM, so its word 3 has the top bit set and
 *             the number of that SM. Word 2 (of DATA and EVENT word 3) is 0 until the record is
 *             complete; the host never has to guess whether a slot is written.
 *   ticket    how a chunk changes hands. Each SM has a ring of chunks that the host offers. A warp
 *             draws a ticket (adds 1 to `taken`) if there are more offered than taken; the ring's
 *             entry at that place is a chunk if it carries the ticket's number, else the ring had
 *             run dry.
 *   stash     chunks that a warp left with room in them, for the next one that gets its place on
 *             the SM.
 */
#ifndef STROBE_CUDA_LAYOUT_H
#define STROBE_CUDA_LAYOUT_H

enum {
    SB_CUDA_CHUNK_SLOTS = 128,
    SB_CUDA_RECORD_BYTES = 32,
    SB_CUDA_CHUNK_BYTES = SB_CUDA_CHUNK_SLOTS * SB_CUDA_RECORD_BYTES,
    SB_CUDA_OWNER_SLOTS = 2, /* WARP and ANCHOR */
    SB_CUDA_STASHES = 64,    /* of an SM: as many as warps have places there */
    SB_CUDA_KIND_SHIFT = 60,
};

typedef enum sb_cuda_kind {
    SB_CUDA_NOTHING = 0, /* not claimed, or not written yet */
    SB_CUDA_WARP = 1,
    SB_CUDA_ANCHOR = 2,
    SB_CUDA_ZONE = 3,
    SB_CUDA_MAIN = 4,
    SB_CUDA_SPAN = 5,
    SB_CUDA_DATA = 6,
    SB_CUDA_EVENT = 7,
    SB_CUDA_SUM = 8,
    SB_CUDA_DONE = 9,
} sb_cuda_kind;

typedef unsigned long long sb_cuda_word;

typedef struct sb_cuda_record {
    sb_cuda_word word[4];
} sb_cuda_record;

/* Of the first WARP's last word: nobody will write more into the chunk; slots used are below. */
#define SB_CUDA_RETIRED 0x100u
/* Of a SPAN's last word. */
#define SB_CUDA_ON_SM (1ull << 63)

/* A zone's name and place in the source, in memory of the module. Sizes do not count the NUL. */
typedef struct sb_cuda_place {
    const char *name;
    const char *file;
    const char *function;
    unsigned int name_size;
    unsigned int file_size;
    unsigned int function_size;
    unsigned int line;
} sb_cuda_place;

/*
 * How a module finds the pool; in its constant memory, all 0 until the host has attached it. The
 * host alone writes `offered` (for each SM, the tickets that had a chunk so far) and the rings (for
 * each SM ring_size words: ticket << 32 | chunk).
 */
typedef struct sb_cuda_gate {
    unsigned int records; /* address of the pool: the lower half, */
    unsigned int records_above;
    sb_cuda_word sms; /* addresses: of an sb_cuda_sm for each SM, */
    sb_cuda_word offered;
    sb_cuda_word rings;
    sb_cuda_word program; /* and of what launches are called, set in the order of a stream */
    unsigned int sm_count;
    unsigned int ring_size; /* a power of two */
    unsigned int key;       /* drawn anew whenever the host takes back chunks that warps forgot */
    unsigned int is_off;
    unsigned int is_sampled; /* one of the following is not 1 */
    unsigned int every_sm;   /* n: every n-th is recorded */
    unsigned int every_block;
    unsigned int every_warp;
    unsigned int every_launch;
    unsigned int has_program;
    sb_cuda_word itself; /* the gate's address */
} sb_cuda_gate;

/* The bits that a key has. */
#define SB_CUDA_KEY_MASK 0xFFFFFF00u
/* The pool lies between multiples of 4 GiB, and not in the first of so many bytes behind one. */
#define SB_CUDA_BELOW_POOL 0x20000u

/* What warps on one SM share. A line of the cache each, so that SMs do not meet. */
typedef struct sb_cuda_sm {
    unsigned int taken; /* tickets drawn */
    unsigned int unused;
    sb_cuda_word lost;                   /* records that found no room */
    sb_cuda_word stash[SB_CUDA_STASHES]; /* 0, or SB_CUDA_STASH */
    sb_cuda_word unused_words[14];
} sb_cuda_sm;

/* A stashed chunk: its number and 1, and how many of its slots are used. */
#define SB_CUDA_STASH(chunk, used) ((sb_cuda_word)((chunk) + 1) << 32 | (used))

#endif
