#include "device/emu/emu_decode.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Bits high..low of word. */
static uint32_t bits(uint32_t word, unsigned high, unsigned low) {
    return (word >> low) & ((1u << (high - low + 1)) - 1u);
}

/* value's low count bits, the topmost of them being the sign. */
static int32_t extend(uint32_t value, unsigned count) {
    const uint32_t sign = 1u << (count - 1);
    return (int32_t)((value ^ sign) - sign);
}

static int32_t imm_i(uint32_t word) {
    return extend(bits(word, 31, 20), 12);
}

static int32_t imm_s(uint32_t word) {
    return extend(bits(word, 31, 25) << 5 | bits(word, 11, 7), 12);
}

static int32_t imm_b(uint32_t word) {
    return extend(bits(word, 31, 31) << 12 | bits(word, 7, 7) << 11 | bits(word, 30, 25) << 5 |
                      bits(word, 11, 8) << 1,
                  13);
}

static int32_t imm_j(uint32_t word) {
    return extend(bits(word, 31, 31) << 20 | bits(word, 19, 12) << 12 | bits(word, 20, 20) << 11 |
                      bits(word, 30, 21) << 1,
                  21);
}

static uint32_t register_bit(uint32_t number) {
    return number == 0 ? 0 : 1u << number;
}

static emu_op make(emu_kind kind, uint32_t rd, uint32_t rs1, uint32_t rs2, int32_t imm) {
    return (emu_op){
        .kind = (uint8_t)kind,
        .rd = (uint8_t)(rd == 0 ? EMU_REGISTER_SINK : rd),
        .rs1 = (uint8_t)rs1,
        .rs2 = (uint8_t)rs2,
        .imm = imm,
        .uses = register_bit(rd) | register_bit(rs1) | register_bit(rs2),
    };
}

static emu_op illegal(void) {
    return make(EMU_ILLEGAL, 0, 0, 0, 0);
}

static bool is_near(uint32_t pc, uint32_t target) {
    return pc >> EMU_PAGE_SHIFT == target >> EMU_PAGE_SHIFT;
}

/* Turns the distance into what the near or far kind wants. A target between words is illegal. */
static emu_op aim(emu_op op, emu_kind far, uint32_t pc) {
    const uint32_t target = pc + (uint32_t)op.imm;
    if ((target & 3) != 0)
        return illegal();
    if (is_near(pc, target)) {
        op.imm /= 4;
    } else {
        op.kind = (uint8_t)far;
        op.imm = (int32_t)target;
    }
    return op;
}

static emu_op decode_branch(uint32_t word, uint32_t pc) {
    static const uint8_t near_kinds[8] = {EMU_BEQ_NEAR, EMU_BNE_NEAR, EMU_ILLEGAL,   EMU_ILLEGAL,
                                          EMU_BLT_NEAR, EMU_BGE_NEAR, EMU_BLTU_NEAR, EMU_BGEU_NEAR};
    const emu_kind kind = (emu_kind)near_kinds[bits(word, 14, 12)];
    if (kind == EMU_ILLEGAL)
        return illegal();
    const emu_op op = make(kind, 0, bits(word, 19, 15), bits(word, 24, 20), imm_b(word));
    return aim(op, (emu_kind)(kind - EMU_BEQ_NEAR + EMU_BEQ_FAR), pc);
}

static emu_op decode_load(uint32_t word) {
    static const uint8_t kinds[8] = {EMU_LB,  EMU_LH,  EMU_LW,      EMU_ILLEGAL,
                                     EMU_LBU, EMU_LHU, EMU_ILLEGAL, EMU_ILLEGAL};
    const emu_kind kind = (emu_kind)kinds[bits(word, 14, 12)];
    return kind == EMU_ILLEGAL ? illegal()
                               : make(kind, bits(word, 11, 7), bits(word, 19, 15), 0, imm_i(word));
}

static emu_op decode_store(uint32_t word) {
    static const uint8_t kinds[8] = {EMU_SB, EMU_SH, EMU_SW};
    const emu_kind kind = (emu_kind)kinds[bits(word, 14, 12)];
    return kind == EMU_ILLEGAL ? illegal()
                               : make(kind, 0, bits(word, 19, 15), bits(word, 24, 20), imm_s(word));
}

/* Shifts by a constant have the kind of shift where others have the upper half of the constant. */
static emu_op decode_shift(uint32_t word) {
    const uint32_t upper = bits(word, 31, 25);
    const bool is_left = bits(word, 14, 12) == 1;
    emu_kind kind = EMU_ILLEGAL;
    if (upper == 0)
        kind = is_left ? EMU_SLLI : EMU_SRLI;
    else if (upper == 0x20 && !is_left)
        kind = EMU_SRAI;
    return kind == EMU_ILLEGAL
               ? illegal()
               : make(kind, bits(word, 11, 7), bits(word, 19, 15), 0, (int32_t)bits(word, 24, 20));
}

static emu_op decode_immediate(uint32_t word) {
    static const uint8_t kinds[8] = {EMU_ADDI, EMU_ILLEGAL, EMU_SLTI, EMU_SLTIU,
                                     EMU_XORI, EMU_ILLEGAL, EMU_ORI,  EMU_ANDI};
    const emu_kind kind = (emu_kind)kinds[bits(word, 14, 12)];
    return kind == EMU_ILLEGAL ? decode_shift(word)
                               : make(kind, bits(word, 11, 7), bits(word, 19, 15), 0, imm_i(word));
}

static emu_op decode_register(uint32_t word) {
    static const uint8_t base[8] = {EMU_ADD, EMU_SLL, EMU_SLT, EMU_SLTU,
                                    EMU_XOR, EMU_SRL, EMU_OR,  EMU_AND};
    static const uint8_t multiply[8] = {EMU_MUL, EMU_MULH, EMU_MULHSU, EMU_MULHU,
                                        EMU_DIV, EMU_DIVU, EMU_REM,    EMU_REMU};
    const uint32_t function = bits(word, 14, 12);
    emu_kind kind = EMU_ILLEGAL;
    switch (bits(word, 31, 25)) {
    case 0x00:
        kind = (emu_kind)base[function];
        break;
    case 0x01:
        kind = (emu_kind)multiply[function];
        break;
    case 0x20:
        if (function == 0)
            kind = EMU_SUB;
        else if (function == 5)
            kind = EMU_SRA;
        break;
    default:
        break;
    }
    return kind == EMU_ILLEGAL
               ? illegal()
               : make(kind, bits(word, 11, 7), bits(word, 19, 15), bits(word, 24, 20), 0);
}

emu_op emu_decode(uint32_t word, uint32_t pc) {
    const uint32_t rd = bits(word, 11, 7);
    switch (word & 0x7F) {
    case 0x37:
        return make(EMU_LUI, rd, 0, 0, (int32_t)(word & 0xFFFFF000u));
    case 0x17:
        return make(EMU_AUIPC, rd, 0, 0, (int32_t)(pc + (word & 0xFFFFF000u)));
    case 0x6F:
        return aim(make(EMU_JAL_NEAR, rd, 0, 0, imm_j(word)), EMU_JAL_FAR, pc);
    case 0x67:
        return bits(word, 14, 12) != 0 ? illegal()
                                       : make(EMU_JALR, rd, bits(word, 19, 15), 0, imm_i(word));
    case 0x63:
        return decode_branch(word, pc);
    case 0x03:
        return decode_load(word);
    case 0x23:
        return decode_store(word);
    case 0x13:
        return decode_immediate(word);
    case 0x33:
        return decode_register(word);
    default:
        return illegal();
    }
}

/* ---- pages ---- */

#define PAGE_SLOTS 1024u

struct emu_pages {
    pthread_mutex_t lock;
    emu_page *slots[PAGE_SLOTS];
};

emu_pages *emu_pages_create(void) {
    emu_pages *pages = sb_alloc_zeroed(1, sizeof *pages);
    pthread_mutex_init(&pages->lock, NULL);
    return pages;
}

void emu_pages_destroy(emu_pages *pages) {
    for (uint32_t i = 0; i < PAGE_SLOTS; i++)
        for (emu_page *page = pages->slots[i]; page != NULL;) {
            emu_page *next = page->next;
            free(page);
            page = next;
        }
    pthread_mutex_destroy(&pages->lock);
    free(pages);
}

static emu_page *decode_page(const uint8_t *code, uint32_t pc, uint64_t hash) {
    emu_page *page = sb_alloc(sizeof *page);
    for (uint32_t i = 0; i < EMU_PAGE_WORDS; i++) {
        uint32_t word;
        memcpy(&word, code + (size_t)i * 4, 4);
        page->ops[i] = emu_decode(word, pc + i * 4);
    }
    page->ops[EMU_PAGE_WORDS] = make(EMU_PAGE_END, 0, 0, 0, 0);
    memcpy(page->code, code, EMU_PAGE_BYTES);
    page->pc = pc;
    page->hash = hash;
    return page;
}

const emu_page *emu_pages_find(emu_pages *pages, const uint8_t *code, uint32_t pc) {
    const uint64_t hash = sb_hash((sb_slice){(const char *)code, EMU_PAGE_BYTES}, pc);
    pthread_mutex_lock(&pages->lock);
    emu_page **slot = &pages->slots[hash % PAGE_SLOTS];
    emu_page *page = *slot;
    while (page != NULL &&
           (page->hash != hash || page->pc != pc || memcmp(page->code, code, EMU_PAGE_BYTES) != 0))
        page = page->next;
    if (page == NULL) {
        page = decode_page(code, pc, hash);
        page->next = *slot;
        *slot = page;
    }
    pthread_mutex_unlock(&pages->lock);
    return page;
}
