/*
 * A GPU made of software, for tests: it runs PTX, the text that NVRTC makes of kernels, and stands
 * behind the names of the CUDA driver (ptx_driver.c). So compiled kernels are seen to work where
 * there is no GPU.
 *
 *   ptx_text.c     words and numbers of a text
 *   ptx_parse.c    a module: variables, kernels, labels
 *   ptx_decode.c   an instruction; what is not known here is an error that names the line
 *   ptx_memory.c   which memory there is, so that an access outside of it is found
 *   ptx_math.c     instructions that calculate
 *   ptx_together.c instructions of a whole warp
 *   ptx_access.c   instructions that load and store
 *   ptx_warp.c     which lanes of a warp run, and how they part and meet
 *   ptx_launch.c   blocks, the SMs they run on, and a kernel from its begin to its end
 *   ptx_stream.c   the order of work; each stream is a thread
 *   ptx_graph.c    graphs of launches
 *   ptx_driver.c   the rest of the driver
 *
 * Lanes of a warp have a place in the code each. Those at the lowest place run together, and come
 * together with others there; at the end of a loop, where compilers for a GPU let lanes wait for
 * each other, some may go round once more before. With STROBE_PTX_UNRULY=SEED lanes part at any
 * instruction, wait for each other only where the code says so, and warps take turns at random: all
 * of that is allowed to a GPU whose threads are scheduled each for itself.
 */
#ifndef PTX_H
#define PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <strobe/error.h>

enum {
    PTX_LANES = 32,
    PTX_OPERANDS_MOST = 16,
    PTX_SMS = 4,     /* of each GPU */
    PTX_GPUS = 4,    /* at most; STROBE_PTX_GPUS says how many there are, one without it */
    PTX_PLACES = 64, /* of warps on an SM */
    PTX_SHARED_BYTES = 228 * 1024, /* of an SM */
    PTX_BLOCK_SHARED = 227 * 1024,
    PTX_THREADS_MOST = 1024,
    PTX_CLOCK_KHZ = 1500000,
};

/* Errors of the driver. */
enum {
    PTX_INVALID = 1,
    PTX_OUT_OF_MEMORY = 2,
    PTX_NOT_STARTED = 3,
    PTX_NO_CONTEXT = 201,
    PTX_BAD_TEXT = 218,
    PTX_NOT_FOUND = 500,
    PTX_NOT_READY = 600,
    PTX_BAD_ADDRESS = 700,
    PTX_TOO_LARGE = 701,
    PTX_MISALIGNED = 716,
    PTX_TRAPPED = 719,
};

/* ---- modules ---- */

typedef enum ptx_kind { PTX_BITS, PTX_UNSIGNED, PTX_SIGNED, PTX_FLOAT, PTX_PREDICATE } ptx_kind;

typedef struct ptx_type {
    ptx_kind kind;
    uint32_t bits; /* 0: none was named */
} ptx_type;

typedef enum ptx_space {
    PTX_GENERIC,
    PTX_GLOBAL,
    PTX_CONST,
    PTX_SHARED,
    PTX_PARAM,
} ptx_space;

typedef enum ptx_operand_kind {
    PTX_REGISTER,
    PTX_NUMBER,
    PTX_SPECIAL,
    PTX_SINK, /* nothing, or "_" */
} ptx_operand_kind;

/* Small, so that the host's caches hold many instructions. */
typedef struct ptx_operand {
    uint8_t kind;    /* ptx_operand_kind */
    bool is_not;     /* of a predicate */
    uint8_t bits;    /* of a register: 1, 32 or 64 */
    uint32_t row;    /* where a register begins in those of a warp; which special register */
    uint64_t number; /* added to the register in an address */
} ptx_operand;

typedef enum ptx_special {
    PTX_TID_X,
    PTX_TID_Y,
    PTX_TID_Z,
    PTX_NTID_X,
    PTX_NTID_Y,
    PTX_NTID_Z,
    PTX_CTAID_X,
    PTX_CTAID_Y,
    PTX_CTAID_Z,
    PTX_NCTAID_X,
    PTX_NCTAID_Y,
    PTX_NCTAID_Z,
    PTX_LANEID,
    PTX_WARPID,
    PTX_SMID,
    PTX_NSMID,
    PTX_GRIDID,
    PTX_LANEMASK_EQ,
    PTX_LANEMASK_LT,
    PTX_LANEMASK_LE,
    PTX_LANEMASK_GT,
    PTX_LANEMASK_GE,
    PTX_CLOCK,
    PTX_CLOCK64,
    PTX_TIMER,
    PTX_SPECIALS,
} ptx_special;

typedef enum ptx_code {
    PTX_OP_ADD,
    PTX_OP_SUB,
    PTX_OP_MUL,
    PTX_OP_MAD,
    PTX_OP_DIV,
    PTX_OP_REM,
    PTX_OP_MIN,
    PTX_OP_MAX,
    PTX_OP_AND,
    PTX_OP_OR,
    PTX_OP_XOR,
    PTX_OP_NOT,
    PTX_OP_NEG,
    PTX_OP_ABS,
    PTX_OP_SHL,
    PTX_OP_SHR,
    PTX_OP_BFI,
    PTX_OP_POPC,
    PTX_OP_CLZ,
    PTX_OP_FMA,
    PTX_OP_RSQRT,
    PTX_OP_SQRT,
    PTX_OP_RCP,
    PTX_OP_EX2,
    PTX_OP_LG2,
    PTX_OP_SELP,
    PTX_OP_SETP,
    PTX_OP_CVT,
    PTX_OP_CVTA,
    PTX_OP_MOV,
    PTX_OP_PACK,
    PTX_OP_UNPACK,
    PTX_OP_ACTIVEMASK,
    PTX_OP_LD,
    PTX_OP_ST,
    PTX_OP_ATOM,
    PTX_OP_RED,
    PTX_OP_SHFL,
    PTX_OP_MMA,
    PTX_OP_WARP_SYNC,
    PTX_OP_BLOCK_SYNC,
    PTX_OP_FENCE,
    PTX_OP_NOTHING, /* that which software has no need of */
    PTX_OP_BRA,
    PTX_OP_EXIT,
    PTX_OP_TRAP,
} ptx_code;

/* Of an instruction: which half a product is, a comparison, an atomic operation, a shuffle. */
typedef enum ptx_way {
    PTX_NO_WAY,
    PTX_LO,
    PTX_HI,
    PTX_WIDE,
    PTX_EQ,
    PTX_NE,
    PTX_LT,
    PTX_LE,
    PTX_GT,
    PTX_GE,
    PTX_ADD,
    PTX_MIN,
    PTX_MAX,
    PTX_EXCHANGE,
    PTX_CAS,
    PTX_UP,
    PTX_DOWN,
    PTX_BFLY,
    PTX_IDX,
} ptx_way;

typedef struct ptx_instruction {
    ptx_code code;
    ptx_way way;
    ptx_type type;
    ptx_type from; /* what is converted */
    ptx_space space;
    uint32_t vector;  /* how many at once, 1 to 4 */
    bool is_to;       /* of cvta: from a generic address */
    bool is_flushing; /* numbers that are too small become 0 */
    bool has_guard;
    ptx_operand guard;
    uint32_t target; /* of a branch */
    uint32_t line;
    uint32_t operand_count;
    ptx_operand operand[PTX_OPERANDS_MOST];
} ptx_instruction;

/* Text of the module, not of its own. */
typedef struct ptx_name {
    const char *data;
    size_t size;
} ptx_name;

typedef struct ptx_variable {
    ptx_name name;
    ptx_space space;
    uint32_t element_bytes;
    uint64_t offset; /* in its memory */
    uint64_t size;
} ptx_variable;

typedef struct ptx_module ptx_module;

typedef struct ptx_function {
    ptx_module *module;
    char *name;
    struct ptx_function *next;
    ptx_instruction *code;
    uint32_t count;
    uint32_t register_bytes; /* of a warp */
    uint32_t parameter_count;
    ptx_variable *parameters;
    uint32_t parameter_bytes;
    uint32_t shared_bytes; /* without the dynamic ones */
    uint32_t most_shared;  /* dynamic ones that it may have */
} ptx_function;

struct ptx_module {
    char *text;
    unsigned char *constants;
    unsigned char *globals;
    uint64_t constant_bytes;
    uint64_t global_bytes;
    ptx_variable *variables;
    uint32_t variable_count;
    ptx_function *functions;
};

sb_status ptx_module_load(const char *text, ptx_module **module, sb_error *error);
void ptx_module_free(ptx_module *module);
ptx_function *ptx_module_function(const ptx_module *module, const char *name);
/* Its address; 0: there is none. */
uint64_t ptx_module_variable(const ptx_module *module, const char *name, size_t *size);
bool ptx_name_is(ptx_name name, const char *text);

/* ---- memory ---- */

/* Shared memory has addresses of its own among those of everything. */
#define PTX_SHARED_WINDOW (UINT64_C(1) << 60)

void ptx_memory_add(uint64_t address, uint64_t size, bool is_writable);
/* False: none begins there. */
bool ptx_memory_remove(uint64_t address);
bool ptx_memory_has(uint64_t address, uint64_t size, bool is_written);

/* Memory that begins as `byte`, aligned as any kernel may want it; for free. */
void *ptx_memory_make(size_t size, int byte);

/* What was found last, so that memory need not be looked up for each lane. */
typedef struct ptx_memory_cache {
    uint64_t version;
    uint64_t begin;
    uint64_t end;
    bool is_writable;
} ptx_memory_cache;

bool ptx_memory_find(ptx_memory_cache *cache, uint64_t address, uint64_t size, bool is_written);
/* 16 bytes at a time, which nobody sees half done. */
void ptx_memory_copy(void *to, const void *from, size_t size);

/* ---- launches ---- */

typedef struct ptx_shape {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
} ptx_shape;

typedef struct ptx_launch {
    const ptx_function *function;
    ptx_shape shape;
    uint64_t number; /* %gridid */
    uint32_t gpu;
    unsigned char *parameters;
    uint64_t random; /* 0: lanes and warps are in order */
    uint32_t parts;  /* else: one of so many instructions parts a group */
    uint64_t next_block;
    uint64_t block_count;
    struct ptx_block *blocks; /* those that run */
    uint32_t running;
    int fault;
    uint64_t stores; /* so far; when that was last looked at, and when it had changed */
    uint64_t stores_seen;
    int64_t stored_ns;
    ptx_memory_cache caches[4];
} ptx_launch;

typedef struct ptx_block {
    struct ptx_block *next;
    ptx_launch *launch;
    uint32_t index[3];
    uint32_t sm;
    unsigned char *shared;
    uint32_t shared_at; /* of the SM's */
    uint32_t shared_bytes;
    uint32_t live;    /* threads */
    uint32_t arrived; /* those that wait for the block */
    uint32_t warp_count;
    struct ptx_warp *warps;
} ptx_block;

typedef enum ptx_state {
    PTX_RUNS,
    PTX_MEETS, /* waits for other lanes of the warp */
    PTX_WAITS, /* waits for the block */
} ptx_state;

/* Lanes that run together. */
typedef struct ptx_group {
    ptx_state state;
    uint32_t at;
    uint32_t lanes;
    uint32_t members;     /* who is to meet */
    uint64_t rests_until; /* so many instructions of the warp; unruly lanes do */
} ptx_group;

/* When a warp has last looked at its clock. */
typedef struct ptx_moment {
    bool is_new; /* and not at the timer since */
    uint64_t turn;
    uint64_t ns;
} ptx_moment;

typedef struct ptx_warp {
    ptx_block *block;
    uint32_t number;
    uint32_t place; /* %warpid */
    uint32_t live;  /* lanes */
    uint32_t group_count;
    uint64_t turns; /* instructions */
    ptx_moment last_clock;
    ptx_group groups[PTX_LANES];
    unsigned char *registers;
} ptx_warp;

/* Runs to its end; 0 or one of the driver's numbers. */
int ptx_launch_run(ptx_launch *launch);
/* Said on standard error, with the instruction. */
void ptx_launch_fail(ptx_launch *launch, int fault, const ptx_instruction *at, const char *format,
                     ...) __attribute__((format(printf, 4, 5)));
/* Runs a warp for some instructions. False: it could not run at all. */
bool ptx_warp_run(ptx_warp *warp, uint32_t steps);
uint32_t ptx_random(ptx_launch *launch, uint32_t below);
/* How often a path has asked which of its lanes are active: each does once for each zone. */
uint64_t ptx_path_count(void);

/* As kernels see a time of the host's. */
uint64_t ptx_clock(const ptx_block *block, uint64_t ns);
uint64_t ptx_timer(const ptx_block *block, uint64_t ns);

/* ---- instructions, for the lanes of a mask ---- */

void ptx_calculate(ptx_warp *warp, const ptx_instruction *op, uint32_t mask);
void ptx_access(ptx_warp *warp, const ptx_instruction *op, uint32_t mask);
void ptx_shuffle(ptx_warp *warp, const ptx_instruction *op, uint32_t mask);
void ptx_multiply_matrices(ptx_warp *warp, const ptx_instruction *op);
/* The value of an operand in a lane; of a predicate 0 or 1. */
uint64_t ptx_value(const ptx_warp *warp, const ptx_operand *operand, uint32_t lane);
void ptx_set_value(ptx_warp *warp, const ptx_operand *operand, uint32_t lane, uint64_t value);
/* The lanes where a predicate holds. */
uint32_t ptx_predicate(const ptx_warp *warp, const ptx_operand *operand);
/* A number and the register that holds it. */
static inline float ptx_float(uint64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static inline uint32_t ptx_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
