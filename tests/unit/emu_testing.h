/*
 * For tests of the emulated machine: RISC-V instructions as words, and a machine to run them on.
 */
#ifndef SB_TESTS_UNIT_EMU_TESTING_H
#define SB_TESTS_UNIT_EMU_TESTING_H

#include "device/emu/emu.h"
#include "testing.h"

/* ---- instructions ---- */

static inline uint32_t rv_r(uint32_t upper, uint32_t function, uint32_t rd, uint32_t rs1,
                            uint32_t rs2) {
    return upper << 25 | rs2 << 20 | rs1 << 15 | function << 12 | rd << 7 | 0x33;
}

static inline uint32_t rv_i(uint32_t opcode, uint32_t function, uint32_t rd, uint32_t rs1,
                            int32_t imm) {
    return (uint32_t)imm << 20 | rs1 << 15 | function << 12 | rd << 7 | opcode;
}

static inline uint32_t rv_addi(uint32_t rd, uint32_t rs1, int32_t imm) {
    return rv_i(0x13, 0, rd, rs1, imm);
}

static inline uint32_t rv_lui(uint32_t rd, uint32_t upper) {
    return (upper & 0xFFFFF000u) | rd << 7 | 0x37;
}

static inline uint32_t rv_load(uint32_t function, uint32_t rd, uint32_t rs1, int32_t imm) {
    return rv_i(0x03, function, rd, rs1, imm);
}

static inline uint32_t rv_store(uint32_t function, uint32_t rs2, uint32_t rs1, int32_t imm) {
    const uint32_t bits = (uint32_t)imm;
    return (bits >> 5 & 0x7F) << 25 | rs2 << 20 | rs1 << 15 | function << 12 | (bits & 31) << 7 |
           0x23;
}

static inline uint32_t rv_branch(uint32_t function, uint32_t rs1, uint32_t rs2, int32_t distance) {
    const uint32_t bits = (uint32_t)distance;
    return (bits >> 12 & 1) << 31 | (bits >> 5 & 0x3F) << 25 | rs2 << 20 | rs1 << 15 |
           function << 12 | (bits >> 1 & 0xF) << 8 | (bits >> 11 & 1) << 7 | 0x63;
}

static inline uint32_t rv_jal(uint32_t rd, int32_t distance) {
    const uint32_t bits = (uint32_t)distance;
    return (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3FF) << 21 | (bits >> 11 & 1) << 20 |
           (bits >> 12 & 0xFF) << 12 | rd << 7 | 0x6F;
}

static inline uint32_t rv_jalr(uint32_t rd, uint32_t rs1, int32_t imm) {
    return rv_i(0x67, 0, rd, rs1, imm);
}

/* Any 32-bit value in two instructions. */
static inline size_t rv_li(uint32_t *code, uint32_t rd, uint32_t value) {
    code[0] = rv_lui(rd, value + 0x800);
    code[1] = rv_addi(rd, rd, (int32_t)(value << 20) >> 20);
    return 2;
}

#define RV_LB 0
#define RV_LH 1
#define RV_LW 2
#define RV_LBU 4
#define RV_LHU 5
#define RV_SB 0
#define RV_SH 1
#define RV_SW 2
#define RV_BEQ 0
#define RV_BNE 1
#define RV_HALT 0x6Fu /* jumps to itself */

/* ---- a machine ---- */

#define SOFT_RESET 0xFFB121B0u

static inline emu_machine *make_machine(const emu_options *options) {
    emu_machine *machine = NULL;
    sb_error error;
    if (emu_create(options, &machine, &error) != SB_OK)
        fail_msg("%s", error.message);
    return machine;
}

/* One tile. */
static inline emu_machine *small_machine(emu_time time) {
    emu_options options = emu_default_options();
    options.columns = 1;
    options.rows = 1;
    options.time = time;
    return make_machine(&options);
}

static inline void put_l1(emu_machine *machine, uint32_t tile_x, uint32_t tile_y, uint32_t address,
                          const void *data, size_t size) {
    sb_error error;
    if (emu_write(machine, 0, 18 + tile_x, 18 + tile_y, address, data, size, &error) != SB_OK)
        fail_msg("%s", error.message);
}

static inline uint32_t get_l1(emu_machine *machine, uint32_t tile_x, uint32_t tile_y,
                              uint32_t address) {
    uint32_t word = 0;
    sb_error error;
    if (emu_read(machine, 0, 18 + tile_x, 18 + tile_y, address, &word, 4, &error) != SB_OK)
        fail_msg("%s", error.message);
    return word;
}

/* Lets BRISC of a tile begin with code, which goes to address 0. */
static inline void start_brisc(emu_machine *machine, uint32_t tile_x, uint32_t tile_y,
                               const uint32_t *code, size_t count) {
    const uint32_t release = 0x47000;
    put_l1(machine, tile_x, tile_y, 0, code, count * 4);
    put_l1(machine, tile_x, tile_y, SOFT_RESET, &release, 4);
}

#endif
