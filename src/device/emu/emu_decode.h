/*
 * Instructions, decoded once. A page of 4 KiB of code becomes an array of operations that the
 * interpreter walks; what an instruction means is worked out here and nowhere else.
 */
#ifndef SB_DEVICE_EMU_EMU_DECODE_H
#define SB_DEVICE_EMU_EMU_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

#define EMU_PAGE_SHIFT 12
#define EMU_PAGE_BYTES (1u << EMU_PAGE_SHIFT)
#define EMU_PAGE_WORDS (EMU_PAGE_BYTES / 4)

/* Writes to x0 go to a register that nobody reads. */
#define EMU_REGISTER_SINK 32
#define EMU_REGISTERS 33

/*
 * Branches and jumps come in two kinds: NEAR ones stay in their page, so that the target is a
 * distance in operations; FAR ones need the page of their target to be found.
 */
typedef enum emu_kind {
    EMU_ILLEGAL,
    EMU_PAGE_END,
    EMU_LUI,
    EMU_AUIPC,
    EMU_JAL_NEAR,
    EMU_JAL_FAR,
    EMU_JALR,
    EMU_BEQ_NEAR,
    EMU_BNE_NEAR,
    EMU_BLT_NEAR,
    EMU_BGE_NEAR,
    EMU_BLTU_NEAR,
    EMU_BGEU_NEAR,
    EMU_BEQ_FAR,
    EMU_BNE_FAR,
    EMU_BLT_FAR,
    EMU_BGE_FAR,
    EMU_BLTU_FAR,
    EMU_BGEU_FAR,
    EMU_LB,
    EMU_LH,
    EMU_LW,
    EMU_LBU,
    EMU_LHU,
    EMU_SB,
    EMU_SH,
    EMU_SW,
    EMU_ADDI,
    EMU_SLTI,
    EMU_SLTIU,
    EMU_XORI,
    EMU_ORI,
    EMU_ANDI,
    EMU_SLLI,
    EMU_SRLI,
    EMU_SRAI,
    EMU_ADD,
    EMU_SUB,
    EMU_SLL,
    EMU_SLT,
    EMU_SLTU,
    EMU_XOR,
    EMU_SRL,
    EMU_SRA,
    EMU_OR,
    EMU_AND,
    EMU_MUL,
    EMU_MULH,
    EMU_MULHSU,
    EMU_MULHU,
    EMU_DIV,
    EMU_DIVU,
    EMU_REM,
    EMU_REMU,
} emu_kind;

typedef struct emu_op {
    uint8_t kind; /* an emu_kind */
    uint8_t rd;   /* EMU_REGISTER_SINK instead of x0 */
    uint8_t rs1;
    uint8_t rs2;
    int32_t imm;   /* NEAR: operations to go; AUIPC, FAR: the address itself */
    uint32_t uses; /* bit = register that must be ready first, rd included */
} emu_op;

/* A decoded page; the last operation leads to the next page. It never changes. */
typedef struct emu_page {
    emu_op ops[EMU_PAGE_WORDS + 1];
    uint8_t code[EMU_PAGE_BYTES]; /* what it was made from */
    uint32_t pc;                  /* of its first word */
    uint64_t hash;                /* of code and pc */
    struct emu_page *next;        /* with a hash that falls into the same slot */
} emu_page;

emu_op emu_decode(uint32_t word, uint32_t pc);

/*
 * All pages decoded so far. Tiles run the same few kernels again and again, so equal code at an
 * equal address is decoded once and shared. Safe to use from several threads.
 */
typedef struct emu_pages emu_pages;
emu_pages *emu_pages_create(void);
void emu_pages_destroy(emu_pages *pages);
/* The page for EMU_PAGE_BYTES of code at pc; lives as long as pages. */
const emu_page *emu_pages_find(emu_pages *pages, const uint8_t *code, uint32_t pc);

static inline bool emu_is_load(emu_kind kind) {
    return kind >= EMU_LB && kind <= EMU_LHU;
}

#endif
