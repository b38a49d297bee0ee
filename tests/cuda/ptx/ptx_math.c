/*
 * Instructions that calculate. Registers are rows of 32 values, one for each lane; a predicate is
 * one word with a bit for each. Values of 8 and 16 bits lie in rows of 32.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "ptx.h"

#define ALL UINT32_MAX

/* Where all lanes run the compiler makes the loop one over vectors. */
#define ON_LANES(mask, statement)                                       \
    do {                                                                \
        if ((mask) == ALL)                                              \
            for (uint32_t lane = 0; lane < PTX_LANES; lane++) {         \
                statement;                                              \
            }                                                           \
        else                                                            \
            for (uint32_t left = (mask); left != 0; left &= left - 1) { \
                const uint32_t lane = (uint32_t)__builtin_ctz(left);    \
                statement;                                              \
            }                                                           \
    } while (0)

static _Atomic uint64_t paths;

uint64_t ptx_path_count(void) {
    return paths;
}

/* ---- operands ---- */

static uint32_t *row32(const ptx_warp *warp, const ptx_operand *operand) {
    return (uint32_t *)(void *)(warp->registers + operand->row);
}

static uint64_t *row64(const ptx_warp *warp, const ptx_operand *operand) {
    return (uint64_t *)(void *)(warp->registers + operand->row);
}

/* A register's row, or `room` filled with a number. */
static const uint32_t *read32(const ptx_warp *warp, const ptx_operand *operand, uint32_t *room) {
    if (operand->kind == PTX_REGISTER)
        return row32(warp, operand);
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        room[lane] = (uint32_t)operand->number;
    return room;
}

static const uint64_t *read64(const ptx_warp *warp, const ptx_operand *operand, uint64_t *room) {
    if (operand->kind == PTX_REGISTER)
        return row64(warp, operand);
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        room[lane] = operand->number;
    return room;
}

uint32_t ptx_predicate(const ptx_warp *warp, const ptx_operand *operand) {
    if (operand->kind != PTX_REGISTER)
        return operand->number != 0 ? ALL : 0;
    const uint32_t lanes = *row32(warp, operand);
    return operand->is_not ? ~lanes : lanes;
}

static void set_predicate(const ptx_warp *warp, const ptx_operand *operand, uint32_t mask,
                          uint32_t lanes) {
    if (operand->kind != PTX_REGISTER)
        return;
    uint32_t *row = row32(warp, operand);
    *row = (*row & ~mask) | (lanes & mask);
}

uint64_t ptx_value(const ptx_warp *warp, const ptx_operand *operand, uint32_t lane) {
    if (operand->kind != PTX_REGISTER)
        return operand->number;
    if (operand->bits == 1)
        return ptx_predicate(warp, operand) >> lane & 1;
    return operand->bits == 64 ? row64(warp, operand)[lane] : row32(warp, operand)[lane];
}

void ptx_set_value(ptx_warp *warp, const ptx_operand *operand, uint32_t lane, uint64_t value) {
    if (operand->kind != PTX_REGISTER)
        return;
    if (operand->bits == 1)
        set_predicate(warp, operand, 1u << lane, (uint32_t)(value != 0) << lane);
    else if (operand->bits == 64)
        row64(warp, operand)[lane] = value;
    else
        row32(warp, operand)[lane] = (uint32_t)value;
}

/* A value of a type's bits, as 64. */
static uint64_t extend(ptx_type type, uint64_t value) {
    const uint32_t unused = 64 - type.bits;
    if (type.kind == PTX_SIGNED)
        return (uint64_t)((int64_t)(value << unused) >> unused);
    return value << unused >> unused;
}

/* ---- integers ---- */

__extension__ typedef __int128 wide_signed;
__extension__ typedef unsigned __int128 wide_unsigned;

static uint64_t high_half(ptx_type type, uint64_t a, uint64_t b) {
    if (type.bits < 64)
        return a * b >> type.bits;
    if (type.kind == PTX_SIGNED)
        return (uint64_t)((wide_signed)(int64_t)a * (int64_t)b >> 64);
    return (uint64_t)((wide_unsigned)a * b >> 64);
}

/* By 0 all bits are set, as on a GPU. */
static uint64_t divide(ptx_type type, uint64_t a, uint64_t b) {
    if (b == 0)
        return UINT64_MAX;
    if (type.kind != PTX_SIGNED)
        return a / b;
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t remainder_of(ptx_type type, uint64_t a, uint64_t b) {
    if (b == 0)
        return type.bits == 64 ? UINT64_MAX : a;
    if (type.kind != PTX_SIGNED)
        return a % b;
    return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

static bool is_less(ptx_type type, uint64_t a, uint64_t b) {
    return type.kind == PTX_SIGNED ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t shift(const ptx_instruction *op, uint64_t value, uint32_t by) {
    const bool is_far = by >= op->type.bits;
    if (op->code == PTX_OP_SHL)
        return is_far ? 0 : value << by;
    if (op->type.kind == PTX_SIGNED)
        return (uint64_t)((int64_t)value >> (is_far ? 63 : by));
    return is_far ? 0 : value >> by;
}

/* `length` bits of `from` into `into`, from `at` on. */
static uint64_t insert(uint32_t bits, uint64_t from, uint64_t into, uint32_t at, uint32_t length) {
    at &= 0xFF;
    length &= 0xFF;
    if (at >= bits || length == 0)
        return into;
    const uint64_t ones = length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
    return (into & ~(ones << at)) | (from & ones) << at;
}

/* What is seldom needed, or not simple, a lane at a time. Operands are extended to 64 bits. */
static uint64_t calculate_one(const ptx_instruction *op, const uint64_t *value) {
    switch (op->code) {
    case PTX_OP_ADD:
        return value[0] + value[1];
    case PTX_OP_SUB:
        return value[0] - value[1];
    case PTX_OP_MUL:
        return op->way == PTX_HI ? high_half(op->type, value[0], value[1]) : value[0] * value[1];
    case PTX_OP_MAD:
        return value[0] * value[1] + value[2];
    case PTX_OP_DIV:
        return divide(op->type, value[0], value[1]);
    case PTX_OP_REM:
        return remainder_of(op->type, value[0], value[1]);
    case PTX_OP_MIN:
        return is_less(op->type, value[1], value[0]) ? value[1] : value[0];
    case PTX_OP_MAX:
        return is_less(op->type, value[0], value[1]) ? value[1] : value[0];
    case PTX_OP_AND:
        return value[0] & value[1];
    case PTX_OP_OR:
        return value[0] | value[1];
    case PTX_OP_XOR:
        return value[0] ^ value[1];
    case PTX_OP_NOT:
        return ~value[0];
    case PTX_OP_NEG:
        return 0 - value[0];
    case PTX_OP_ABS:
        return (int64_t)value[0] < 0 ? 0 - value[0] : value[0];
    case PTX_OP_SHL:
    case PTX_OP_SHR:
        return shift(op, value[0], (uint32_t)value[1]);
    case PTX_OP_BFI:
        return insert(op->type.bits, value[0], value[1], (uint32_t)value[2], (uint32_t)value[3]);
    case PTX_OP_POPC:
        return (uint64_t)__builtin_popcountll(value[0]);
    case PTX_OP_CLZ:
        return value[0] == 0 ? op->type.bits
                             : (uint64_t)__builtin_clzll(value[0]) - (64 - op->type.bits);
    default:
        return 0;
    }
}

static bool is_plain_number(const ptx_instruction *op, uint32_t operand) {
    return (op->code == PTX_OP_SHL || op->code == PTX_OP_SHR) ? operand >= 2
           : op->code == PTX_OP_BFI                           ? operand >= 3
                                                              : false;
}

static void calculate_lane(ptx_warp *warp, const ptx_instruction *op, uint32_t lane) {
    const bool is_wide = op->way == PTX_WIDE;
    const ptx_type wide = {op->type.kind, 2 * op->type.bits};
    uint64_t value[4] = {0};
    for (uint32_t i = 1; i < op->operand_count; i++) {
        const uint64_t found = ptx_value(warp, &op->operand[i], lane);
        value[i - 1] = is_plain_number(op, i) ? (uint32_t)found
                       : is_wide && i == 3    ? extend(wide, found)
                                              : extend(op->type, found);
    }
    uint64_t result = calculate_one(op, value);
    if (op->type.bits < 32 && !is_wide)
        result &= (UINT64_C(1) << op->type.bits) - 1;
    ptx_set_value(warp, &op->operand[0], lane, result);
}

/* The common ones, over whole rows. False: it is none of these. */
static bool add_rows(const ptx_instruction *op, uint32_t *d, const uint32_t *a, const uint32_t *b,
                     const uint32_t *c, uint32_t mask) {
    switch (op->code) {
    case PTX_OP_ADD:
        ON_LANES(mask, d[lane] = a[lane] + b[lane]);
        return true;
    case PTX_OP_SUB:
        ON_LANES(mask, d[lane] = a[lane] - b[lane]);
        return true;
    case PTX_OP_MUL:
        ON_LANES(mask, d[lane] = a[lane] * b[lane]);
        return true;
    case PTX_OP_MAD:
        ON_LANES(mask, d[lane] = a[lane] * b[lane] + c[lane]);
        return true;
    default:
        return false;
    }
}

static bool combine_rows(const ptx_instruction *op, uint32_t *d, const uint32_t *a,
                         const uint32_t *b, uint32_t mask) {
    switch (op->code) {
    case PTX_OP_AND:
        ON_LANES(mask, d[lane] = a[lane] & b[lane]);
        return true;
    case PTX_OP_OR:
        ON_LANES(mask, d[lane] = a[lane] | b[lane]);
        return true;
    case PTX_OP_XOR:
        ON_LANES(mask, d[lane] = a[lane] ^ b[lane]);
        return true;
    case PTX_OP_NOT:
        ON_LANES(mask, d[lane] = ~a[lane]);
        return true;
    default:
        return false;
    }
}

/* Without a sign. */
static bool shift_rows(const ptx_instruction *op, uint32_t *d, const uint32_t *a, const uint32_t *b,
                       uint32_t mask) {
    if (op->code == PTX_OP_SHL)
        ON_LANES(mask, d[lane] = b[lane] > 31 ? 0 : a[lane] << (b[lane] & 31));
    else if (op->code == PTX_OP_SHR && op->type.kind != PTX_SIGNED)
        ON_LANES(mask, d[lane] = b[lane] > 31 ? 0 : a[lane] >> (b[lane] & 31));
    else
        return false;
    return true;
}

static bool calculate32(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    uint32_t rooms[3][PTX_LANES];
    uint32_t *d = row32(warp, &op->operand[0]);
    const uint32_t *a = read32(warp, &op->operand[1], rooms[0]);
    const uint32_t *b = op->operand_count > 2 ? read32(warp, &op->operand[2], rooms[1]) : a;
    const uint32_t *c = op->operand_count > 3 ? read32(warp, &op->operand[3], rooms[2]) : a;
    return add_rows(op, d, a, b, c, mask) || combine_rows(op, d, a, b, mask) ||
           shift_rows(op, d, a, b, mask);
}

static bool calculate64(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    uint64_t rooms[2][PTX_LANES];
    if (op->code != PTX_OP_ADD && op->code != PTX_OP_SUB && op->code != PTX_OP_AND &&
        op->code != PTX_OP_OR)
        return false;
    uint64_t *d = row64(warp, &op->operand[0]);
    const uint64_t *a = read64(warp, &op->operand[1], rooms[0]);
    const uint64_t *b = read64(warp, &op->operand[2], rooms[1]);
    if (op->code == PTX_OP_ADD)
        ON_LANES(mask, d[lane] = a[lane] + b[lane]);
    else if (op->code == PTX_OP_SUB)
        ON_LANES(mask, d[lane] = a[lane] - b[lane]);
    else if (op->code == PTX_OP_AND)
        ON_LANES(mask, d[lane] = a[lane] & b[lane]);
    else
        ON_LANES(mask, d[lane] = a[lane] | b[lane]);
    return true;
}

/* mul.wide of 32 bits. */
static void multiply_wide(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    uint32_t rooms[2][PTX_LANES];
    uint64_t *d = row64(warp, &op->operand[0]);
    const uint32_t *a = read32(warp, &op->operand[1], rooms[0]);
    const uint32_t *b = read32(warp, &op->operand[2], rooms[1]);
    if (op->type.kind == PTX_SIGNED)
        ON_LANES(mask, d[lane] = (uint64_t)((int64_t)(int32_t)a[lane] * (int32_t)b[lane]));
    else
        ON_LANES(mask, d[lane] = (uint64_t)a[lane] * b[lane]);
}

static void calculate_integers(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    const bool is_simple = op->way == PTX_NO_WAY || op->way == PTX_LO;
    if (is_simple && op->type.bits == 32 && calculate32(warp, op, mask))
        return;
    if (is_simple && op->type.bits == 64 && calculate64(warp, op, mask))
        return;
    if (op->code == PTX_OP_MUL && op->way == PTX_WIDE && op->type.bits == 32)
        multiply_wide(warp, op, mask);
    else
        ON_LANES(mask, calculate_lane(warp, op, lane));
}

static void calculate_predicates(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    const uint32_t a = ptx_predicate(warp, &op->operand[1]);
    const uint32_t b = op->operand_count > 2 ? ptx_predicate(warp, &op->operand[2]) : 0;
    const uint32_t result = op->code == PTX_OP_AND   ? a & b
                            : op->code == PTX_OP_OR  ? a | b
                            : op->code == PTX_OP_XOR ? a ^ b
                            : op->code == PTX_OP_NOT ? ~a
                                                     : a;
    set_predicate(warp, &op->operand[0], mask, result);
}

/* ---- floats ---- */

static float flushed(const ptx_instruction *op, float value) {
    return op->is_flushing && fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

static float calculate_float(const ptx_instruction *op, float a, float b, float c) {
    switch (op->code) {
    case PTX_OP_ADD:
        return a + b;
    case PTX_OP_SUB:
        return a - b;
    case PTX_OP_MUL:
        return a * b;
    case PTX_OP_DIV:
        return a / b;
    case PTX_OP_MIN:
        return fminf(a, b);
    case PTX_OP_MAX:
        return fmaxf(a, b);
    case PTX_OP_NEG:
        return -a;
    case PTX_OP_ABS:
        return fabsf(a);
    case PTX_OP_FMA:
        return fmaf(a, b, c);
    case PTX_OP_RSQRT:
        return 1 / sqrtf(a);
    case PTX_OP_SQRT:
        return sqrtf(a);
    case PTX_OP_RCP:
        return 1 / a;
    case PTX_OP_EX2:
        return exp2f(a);
    case PTX_OP_LG2:
        return log2f(a);
    default:
        return 0;
    }
}

static void calculate_floats(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    uint32_t rooms[3][PTX_LANES];
    uint32_t *d = row32(warp, &op->operand[0]);
    const uint32_t *a = read32(warp, &op->operand[1], rooms[0]);
    const uint32_t *b = op->operand_count > 2 ? read32(warp, &op->operand[2], rooms[1]) : a;
    const uint32_t *c = op->operand_count > 3 ? read32(warp, &op->operand[3], rooms[2]) : a;
    ON_LANES(mask,
             d[lane] = ptx_bits(flushed(op, calculate_float(op, flushed(op, ptx_float(a[lane])),
                                                            flushed(op, ptx_float(b[lane])),
                                                            flushed(op, ptx_float(c[lane]))))));
}

/* ---- choosing and comparing ---- */

static bool holds(ptx_way way, bool is_below, bool is_equal, bool is_above) {
    switch (way) {
    case PTX_EQ:
        return is_equal;
    case PTX_NE:
        return is_below || is_above;
    case PTX_LT:
        return is_below;
    case PTX_LE:
        return is_below || is_equal;
    case PTX_GT:
        return is_above;
    default:
        return is_above || is_equal;
    }
}

/* With what is no number nothing holds. */
static bool compare_one(const ptx_instruction *op, uint64_t a, uint64_t b) {
    if (op->type.kind == PTX_FLOAT) {
        const float x = ptx_float(a);
        const float y = ptx_float(b);
        return holds(op->way, x<y, x == y, x> y);
    }
    a = extend(op->type, a);
    b = extend(op->type, b);
    return holds(op->way, is_less(op->type, a, b), a == b, is_less(op->type, b, a));
}

/* Integers of 32 bits, which nearly all are. `bias` makes order the same with and without sign. */
static uint32_t compare_rows(const ptx_warp *warp, const ptx_instruction *op) {
    uint32_t rooms[2][PTX_LANES];
    const uint32_t *a = read32(warp, &op->operand[1], rooms[0]);
    const uint32_t *b = read32(warp, &op->operand[2], rooms[1]);
    const uint32_t bias = op->type.kind == PTX_SIGNED ? 0x80000000u : 0;
    uint32_t less = 0;
    uint32_t same = 0;
    for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
        less |= (uint32_t)((a[lane] ^ bias) < (b[lane] ^ bias)) << lane;
        same |= (uint32_t)(a[lane] == b[lane]) << lane;
    }
    switch (op->way) {
    case PTX_EQ:
        return same;
    case PTX_NE:
        return ~same;
    case PTX_LT:
        return less;
    case PTX_LE:
        return less | same;
    case PTX_GT:
        return ~(less | same);
    default:
        return ~less;
    }
}

static void compare(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    uint32_t result = 0;
    const bool is_one = (mask & (mask - 1)) == 0;
    if (!is_one && op->type.kind != PTX_FLOAT && op->type.bits == 32)
        result = compare_rows(warp, op);
    else
        ON_LANES(mask, result |= (uint32_t)compare_one(op, ptx_value(warp, &op->operand[1], lane),
                                                       ptx_value(warp, &op->operand[2], lane))
                                 << lane);
    set_predicate(warp, &op->operand[0], mask, result);
}

static void choose(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    const uint32_t first = ptx_predicate(warp, &op->operand[3]);
    uint32_t rooms[2][PTX_LANES];
    if (op->type.bits == 64) {
        ON_LANES(mask,
                 ptx_set_value(warp, &op->operand[0], lane,
                               ptx_value(warp, &op->operand[first >> lane & 1 ? 1 : 2], lane)));
        return;
    }
    uint32_t *d = row32(warp, &op->operand[0]);
    const uint32_t *a = read32(warp, &op->operand[1], rooms[0]);
    const uint32_t *b = read32(warp, &op->operand[2], rooms[1]);
    ON_LANES(mask, d[lane] = (first >> lane & 1) != 0 ? a[lane] : b[lane]);
}

/* ---- moving and converting ---- */

static uint64_t special_of(const ptx_warp *warp, uint32_t which, uint32_t lane) {
    const ptx_block *block = warp->block;
    const ptx_shape *shape = &block->launch->shape;
    const uint32_t thread = warp->number * PTX_LANES + lane;
    const uint32_t bit = 1u << lane;
    switch (which) {
    case PTX_TID_X:
        return thread % shape->block[0];
    case PTX_TID_Y:
        return thread / shape->block[0] % shape->block[1];
    case PTX_TID_Z:
        return thread / shape->block[0] / shape->block[1];
    case PTX_NTID_X:
    case PTX_NTID_Y:
    case PTX_NTID_Z:
        return shape->block[which - PTX_NTID_X];
    case PTX_CTAID_X:
    case PTX_CTAID_Y:
    case PTX_CTAID_Z:
        return block->index[which - PTX_CTAID_X];
    case PTX_NCTAID_X:
    case PTX_NCTAID_Y:
    case PTX_NCTAID_Z:
        return shape->grid[which - PTX_NCTAID_X];
    case PTX_LANEID:
        return lane;
    case PTX_WARPID:
        return warp->place;
    case PTX_SMID:
        return block->sm;
    case PTX_NSMID:
        return PTX_SMS;
    case PTX_GRIDID:
        return block->launch->number;
    case PTX_LANEMASK_EQ:
        return bit;
    case PTX_LANEMASK_LT:
        return bit - 1;
    case PTX_LANEMASK_LE:
        return bit | (bit - 1);
    case PTX_LANEMASK_GT:
        return ~(bit | (bit - 1));
    default:
        return ~(bit - 1);
    }
}

/*
 * The host's time, once for all lanes. A kernel that reads the timer right behind the clock takes
 * them for one moment, as they are on a GPU; here a warp may have to wait between the two.
 */
static uint64_t time_for(ptx_warp *warp, bool is_timer) {
    enum { SIDE_BY_SIDE = 32 };
    ptx_moment *last = &warp->last_clock;
    const bool is_near = last->is_new && warp->turns - last->turn < SIDE_BY_SIDE;
    last->is_new = !is_timer;
    if (is_timer)
        return is_near ? last->ns : (uint64_t)sb_clock_ns();
    last->turn = warp->turns;
    last->ns = (uint64_t)sb_clock_ns();
    return last->ns;
}

static void move_special(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    const uint32_t which = op->operand[1].row;
    const bool is_timer = which == PTX_TIMER;
    const bool is_time = is_timer || which == PTX_CLOCK || which == PTX_CLOCK64;
    uint64_t time = is_time ? time_for(warp, is_timer) : 0;
    if (is_time)
        time = is_timer ? ptx_timer(warp->block, time) : ptx_clock(warp->block, time);
    ON_LANES(mask, ptx_set_value(warp, &op->operand[0], lane,
                                 is_time ? time : special_of(warp, which, lane)));
}

static void move(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    uint32_t room32[PTX_LANES];
    uint64_t room64[PTX_LANES];
    if (op->type.bits == 64) {
        const uint64_t *from = read64(warp, &op->operand[1], room64);
        uint64_t *to = row64(warp, &op->operand[0]);
        ON_LANES(mask, to[lane] = from[lane]);
        return;
    }
    const uint32_t *from = read32(warp, &op->operand[1], room32);
    uint32_t *to = row32(warp, &op->operand[0]);
    const uint32_t kept = op->type.bits == 16 ? 0xFFFF : ALL;
    ON_LANES(mask, to[lane] = from[lane] & kept);
}

static void pack(ptx_warp *warp, const ptx_instruction *op, uint32_t lane) {
    const ptx_type part = {PTX_BITS, op->type.bits / op->vector};
    uint64_t whole = 0;
    for (uint32_t i = 0; i < op->vector; i++)
        whole |= extend(part, ptx_value(warp, &op->operand[1 + i], lane)) << i * part.bits;
    ptx_set_value(warp, &op->operand[0], lane, whole);
}

static void unpack(ptx_warp *warp, const ptx_instruction *op, uint32_t lane) {
    const ptx_type part = {PTX_BITS, op->type.bits / op->vector};
    const uint64_t whole = ptx_value(warp, &op->operand[op->vector], lane);
    for (uint32_t i = 0; i < op->vector; i++)
        ptx_set_value(warp, &op->operand[i], lane, extend(part, whole >> i * part.bits));
}

static uint64_t float_to_integer(ptx_type type, float value) {
    const double least = type.kind == PTX_SIGNED ? -ldexp(1, (int)type.bits - 1) : 0;
    const double most = ldexp(1, (int)type.bits - (type.kind == PTX_SIGNED ? 1 : 0)) - 1;
    const double whole = isnan(value) ? 0 : fmin(fmax(truncf(value), least), most);
    if (type.kind == PTX_SIGNED)
        return whole >= 9223372036854775807.0 ? INT64_MAX : (uint64_t)(int64_t)whole;
    return whole >= 18446744073709551615.0 ? UINT64_MAX : (uint64_t)whole;
}

static uint64_t convert_one(const ptx_instruction *op, uint64_t value) {
    if (op->type.kind == PTX_FLOAT && op->from.kind == PTX_FLOAT)
        return value;
    if (op->from.kind == PTX_FLOAT)
        return float_to_integer(op->type, ptx_float(value));
    value = extend(op->from, value);
    if (op->type.kind != PTX_FLOAT)
        return op->type.bits < 64 ? value & ((UINT64_C(1) << op->type.bits) - 1) : value;
    return ptx_bits(op->from.kind == PTX_SIGNED ? (float)(int64_t)value : (float)value);
}

/* Generic addresses are those of the host, but for shared memory. */
static uint64_t convert_address(const ptx_warp *warp, const ptx_instruction *op, uint64_t address) {
    const uint64_t base =
        op->space == PTX_SHARED ? PTX_SHARED_WINDOW
        : op->space == PTX_CONST
            ? (uint64_t)(uintptr_t)warp->block->launch->function->module->constants
            : 0;
    return op->is_to ? address - base : address + base;
}

static void convert_lane(ptx_warp *warp, const ptx_instruction *op, uint32_t lane) {
    const uint64_t value = ptx_value(warp, &op->operand[1], lane);
    ptx_set_value(warp, &op->operand[0], lane,
                  op->code == PTX_OP_CVTA ? convert_address(warp, op, value)
                                          : convert_one(op, value));
}

/* Between 32 and 64 bits, which is the most common. False: it is not that. */
static bool convert_rows(const ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    uint32_t room32[PTX_LANES];
    uint64_t room64[PTX_LANES];
    if (op->code != PTX_OP_CVT || op->type.kind == PTX_FLOAT || op->from.kind == PTX_FLOAT ||
        op->type.bits + op->from.bits != 96)
        return false;
    if (op->type.bits == 32) {
        uint32_t *d = row32(warp, &op->operand[0]);
        const uint64_t *a = read64(warp, &op->operand[1], room64);
        ON_LANES(mask, d[lane] = (uint32_t)a[lane]);
        return true;
    }
    uint64_t *d = row64(warp, &op->operand[0]);
    const uint32_t *a = read32(warp, &op->operand[1], room32);
    if (op->from.kind == PTX_SIGNED)
        ON_LANES(mask, d[lane] = (uint64_t)(int64_t)(int32_t)a[lane]);
    else
        ON_LANES(mask, d[lane] = a[lane]);
    return true;
}

static void convert(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    if (!convert_rows(warp, op, mask))
        ON_LANES(mask, convert_lane(warp, op, lane));
}

static void ask_active(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    uint32_t *d = row32(warp, &op->operand[0]);
    paths++;
    ON_LANES(mask, d[lane] = mask);
}

void ptx_calculate(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    switch (op->code) {
    case PTX_OP_SELP:
        choose(warp, op, mask);
        return;
    case PTX_OP_SETP:
        compare(warp, op, mask);
        return;
    case PTX_OP_CVT:
    case PTX_OP_CVTA:
        convert(warp, op, mask);
        return;
    case PTX_OP_PACK:
        ON_LANES(mask, pack(warp, op, lane));
        return;
    case PTX_OP_UNPACK:
        ON_LANES(mask, unpack(warp, op, lane));
        return;
    case PTX_OP_ACTIVEMASK:
        ask_active(warp, op, mask);
        return;
    default:
        break;
    }
    if (op->type.kind == PTX_PREDICATE)
        calculate_predicates(warp, op, mask);
    else if (op->code == PTX_OP_MOV && op->operand[1].kind == PTX_SPECIAL)
        move_special(warp, op, mask);
    else if (op->code == PTX_OP_MOV)
        move(warp, op, mask);
    else if (op->type.kind == PTX_FLOAT)
        calculate_floats(warp, op, mask);
    else
        calculate_integers(warp, op, mask);
}
