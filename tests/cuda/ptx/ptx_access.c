/*
 * Instructions that load and store. An access outside of memory that there is, or one that is not
 * aligned, ends the launch as on a GPU.
 */
#include <string.h>

#include "ptx.h"

typedef uint64_t pair __attribute__((vector_size(16)));

/* One access of a lane. */
typedef struct access {
    ptx_launch *launch;
    const ptx_instruction *op;
    uint64_t address;
    uint32_t bytes;
    bool is_written;
} access;

static void *fail(const access *of, int fault) {
    static const char *const spaces[] = {[PTX_GENERIC] = "memory",
                                         [PTX_GLOBAL] = "global memory",
                                         [PTX_CONST] = "constant memory",
                                         [PTX_SHARED] = "shared memory",
                                         [PTX_PARAM] = "parameters"};
    ptx_launch_fail(of->launch, fault, of->op, "%s of %u bytes at 0x%llx of %s, %s",
                    of->is_written ? "a store" : "a load", of->bytes,
                    (unsigned long long)of->address, spaces[of->op->space],
                    fault == PTX_MISALIGNED ? "which is not aligned" : "where there is none");
    return NULL;
}

static void *inside(const access *of, unsigned char *memory, uint64_t size, uint64_t at) {
    return at < size && size - at >= of->bytes ? memory + at : fail(of, PTX_BAD_ADDRESS);
}

static void *in_memory(const access *of, uint64_t address) {
    ptx_memory_cache *cache =
        &of->launch->caches[(of->is_written ? 1 : 0) + (of->op->space == PTX_CONST ? 2 : 0)];
    if (!ptx_memory_find(cache, address, of->bytes, of->is_written))
        return fail(of, PTX_BAD_ADDRESS);
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* Where that is on the host; NULL: the launch has failed. */
static void *locate(const ptx_warp *warp, const access *of) {
    const ptx_block *block = warp->block;
    const ptx_function *function = of->launch->function;
    if (of->address % of->bytes != 0)
        return fail(of, PTX_MISALIGNED);
    switch (of->op->space) {
    case PTX_PARAM:
        return inside(of, of->launch->parameters, function->parameter_bytes, of->address);
    case PTX_SHARED:
        return inside(of, block->shared, block->shared_bytes, of->address);
    case PTX_CONST:
        if (of->address >= function->module->constant_bytes)
            return fail(of, PTX_BAD_ADDRESS);
        return in_memory(of, (uint64_t)(uintptr_t)function->module->constants + of->address);
    case PTX_GENERIC:
        if (of->address >= PTX_SHARED_WINDOW)
            return inside(of, block->shared, block->shared_bytes, of->address - PTX_SHARED_WINDOW);
        return in_memory(of, of->address);
    default:
        return in_memory(of, of->address);
    }
}

/* The host and other streams may look at the same time. */
static uint64_t load_one(const void *at, uint32_t bytes) {
    switch (bytes) {
    case 1:
        return __atomic_load_n((const uint8_t *)at, __ATOMIC_ACQUIRE);
    case 2:
        return __atomic_load_n((const uint16_t *)at, __ATOMIC_ACQUIRE);
    case 4:
        return __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
    default:
        return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
    }
}

static void store_one(void *at, uint32_t bytes, uint64_t value) {
    switch (bytes) {
    case 1:
        __atomic_store_n((uint8_t *)at, (uint8_t)value, __ATOMIC_RELEASE);
        break;
    case 2:
        __atomic_store_n((uint16_t *)at, (uint16_t)value, __ATOMIC_RELEASE);
        break;
    case 4:
        __atomic_store_n((uint32_t *)at, (uint32_t)value, __ATOMIC_RELEASE);
        break;
    default:
        __atomic_store_n((uint64_t *)at, value, __ATOMIC_RELEASE);
        break;
    }
}

static uint64_t extended(ptx_type type, uint64_t value) {
    const uint32_t unused = 64 - type.bits;
    return type.kind == PTX_SIGNED ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static access access_of(const ptx_warp *warp, const ptx_instruction *op, uint32_t which,
                        uint32_t lane, bool is_written) {
    const ptx_operand *operand = &op->operand[which];
    uint64_t address = ptx_value(warp, operand, lane);
    if (operand->kind == PTX_REGISTER)
        address += operand->number;
    return (access){warp->block->launch, op, address, op->vector * op->type.bits / 8, is_written};
}

static void load(ptx_warp *warp, const ptx_instruction *op, uint32_t lane) {
    const uint32_t bytes = op->type.bits / 8;
    const access of = access_of(warp, op, op->vector, lane, false);
    const unsigned char *at = locate(warp, &of);
    if (at == NULL)
        return;
    /* 16 bytes at once. */
    unsigned char room[16] __attribute__((aligned(16)));
    if (of.bytes == sizeof(pair)) {
        *(pair *)(void *)room = *(const volatile pair *)(const void *)at;
        at = room;
    }
    for (uint32_t i = 0; i < op->vector; i++)
        ptx_set_value(warp, &op->operand[i], lane,
                      extended(op->type, load_one(at + (size_t)i * bytes, bytes)));
}

static void store(ptx_warp *warp, const ptx_instruction *op, uint32_t lane) {
    const uint32_t bytes = op->type.bits / 8;
    const access of = access_of(warp, op, 0, lane, true);
    unsigned char *at = locate(warp, &of);
    if (at == NULL)
        return;
    of.launch->stores++;
    unsigned char room[16] __attribute__((aligned(16)));
    const bool is_pair = of.bytes == sizeof(pair);
    for (uint32_t i = 0; i < op->vector; i++)
        store_one((is_pair ? room : at) + (size_t)i * bytes, bytes,
                  ptx_value(warp, &op->operand[1 + i], lane));
    if (is_pair)
        *(volatile pair *)(void *)at = *(const pair *)(const void *)room;
}

/* What an atomic operation leaves behind. */
static uint64_t combine(const ptx_instruction *op, uint64_t old, uint64_t value, uint64_t other) {
    const uint64_t a = extended(op->type, old);
    const uint64_t b = extended(op->type, value);
    const bool is_less = op->type.kind == PTX_SIGNED ? (int64_t)a < (int64_t)b : a < b;
    switch (op->way) {
    case PTX_ADD:
        return old + value;
    case PTX_MIN:
        return is_less ? old : value;
    case PTX_MAX:
        return is_less ? value : old;
    case PTX_CAS:
        return old == value ? other : old;
    default:
        return value;
    }
}

static uint64_t update32(const ptx_instruction *op, void *memory, uint64_t value, uint64_t other) {
    uint32_t *at = memory;
    uint32_t old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(
        at, &old, (uint32_t)combine(op, old, (uint32_t)value, (uint32_t)other), false,
        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        continue;
    return old;
}

static uint64_t update64(const ptx_instruction *op, void *memory, uint64_t value, uint64_t other) {
    uint64_t *at = memory;
    uint64_t old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(at, &old, combine(op, old, value, other), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        continue;
    return old;
}

static void update(ptx_warp *warp, const ptx_instruction *op, uint32_t lane) {
    const uint32_t first = op->code == PTX_OP_ATOM ? 1 : 0;
    const access of = access_of(warp, op, first, lane, true);
    void *at = locate(warp, &of);
    if (at == NULL)
        return;
    const uint64_t value = ptx_value(warp, &op->operand[first + 1], lane);
    const uint64_t other = op->way == PTX_CAS ? ptx_value(warp, &op->operand[first + 2], lane) : 0;
    const uint64_t old =
        op->type.bits == 64 ? update64(op, at, value, other) : update32(op, at, value, other);
    if (op->code == PTX_OP_ATOM)
        ptx_set_value(warp, &op->operand[0], lane, old);
}

void ptx_access(ptx_warp *warp, const ptx_instruction *op, uint32_t mask) {
    for (uint32_t left = mask; left != 0 && warp->block->launch->fault == 0; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (op->code == PTX_OP_LD)
            load(warp, op, lane);
        else if (op->code == PTX_OP_ST)
            store(warp, op, lane);
        else
            update(warp, op, lane);
    }
}
