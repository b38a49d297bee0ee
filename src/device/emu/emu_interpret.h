/*
 * The interpreter's one function, RUN, for the model of time that MODELLED says. Included twice by
 * emu_hart.c, which has all that it calls: a function that keeps the addresses of its labels can be
 * neither inlined nor copied.
 *
 * regs[] are the registers, op the operation, a and b its operands, clock the time at which it
 * issues. Whatever does not say so takes one clock. The function is as long as the instruction set
 * is; every operation is one line or one idea.
 */
// NOLINTNEXTLINE(readability-function-size)
static void RUN(emu_tile *tile, emu_hart *hart, uint64_t limit) {
    static const void *const operations[] = {
        [EMU_ILLEGAL] = &&do_illegal,
        [EMU_PAGE_END] = &&do_page_end,
        [EMU_LUI] = &&do_lui,
        [EMU_AUIPC] = &&do_auipc,
        [EMU_JAL_NEAR] = &&do_jal_near,
        [EMU_JAL_FAR] = &&do_jal_far,
        [EMU_JALR] = &&do_jalr,
        [EMU_BEQ_NEAR] = &&do_beq_near,
        [EMU_BNE_NEAR] = &&do_bne_near,
        [EMU_BLT_NEAR] = &&do_blt_near,
        [EMU_BGE_NEAR] = &&do_bge_near,
        [EMU_BLTU_NEAR] = &&do_bltu_near,
        [EMU_BGEU_NEAR] = &&do_bgeu_near,
        [EMU_BEQ_FAR] = &&do_beq_far,
        [EMU_BNE_FAR] = &&do_bne_far,
        [EMU_BLT_FAR] = &&do_blt_far,
        [EMU_BGE_FAR] = &&do_bge_far,
        [EMU_BLTU_FAR] = &&do_bltu_far,
        [EMU_BGEU_FAR] = &&do_bgeu_far,
        [EMU_LB] = &&do_lb,
        [EMU_LH] = &&do_lh,
        [EMU_LW] = &&do_lw,
        [EMU_LBU] = &&do_lbu,
        [EMU_LHU] = &&do_lhu,
        [EMU_SB] = &&do_sb,
        [EMU_SH] = &&do_sh,
        [EMU_SW] = &&do_sw,
        [EMU_ADDI] = &&do_addi,
        [EMU_SLTI] = &&do_slti,
        [EMU_SLTIU] = &&do_sltiu,
        [EMU_XORI] = &&do_xori,
        [EMU_ORI] = &&do_ori,
        [EMU_ANDI] = &&do_andi,
        [EMU_SLLI] = &&do_slli,
        [EMU_SRLI] = &&do_srli,
        [EMU_SRAI] = &&do_srai,
        [EMU_ADD] = &&do_add,
        [EMU_SUB] = &&do_sub,
        [EMU_SLL] = &&do_sll,
        [EMU_SLT] = &&do_slt,
        [EMU_SLTU] = &&do_sltu,
        [EMU_XOR] = &&do_xor,
        [EMU_SRL] = &&do_srl,
        [EMU_SRA] = &&do_sra,
        [EMU_OR] = &&do_or,
        [EMU_AND] = &&do_and,
        [EMU_MUL] = &&do_mul,
        [EMU_MULH] = &&do_mulh,
        [EMU_MULHSU] = &&do_mulhsu,
        [EMU_MULHU] = &&do_mulhu,
        [EMU_DIV] = &&do_div,
        [EMU_DIVU] = &&do_divu,
        [EMU_REM] = &&do_rem,
        [EMU_REMU] = &&do_remu,
    };
    uint32_t *const regs = hart->registers;
    const uint64_t horizon = limit + EMU_RUN_AHEAD;
    uint64_t clock = hart->clock;
    uint64_t retired = 0;
    uint32_t pending = hart->pending;
    uint32_t pc = hart->pc;
    const emu_page *page = NULL;
    const emu_op *op = NULL;
    access result = ACCESS_DONE;
    uint32_t a = 0;
    uint32_t b = 0;
    uint32_t value = 0;
    uint32_t latency = 0;

enter:
    /* From here on op moves along, and pc is where its page begins. */
    if (pc >= EMU_L1_SIZE || (pc & 3) != 0) {
        emu_fail(tile, hart, clock, "jump to 0x%08x, where there is no code", pc);
        goto stop_at_pc;
    }
    page = page_at(tile, pc);
    op = &page->ops[(pc & (EMU_PAGE_BYTES - 1)) / 4];
    pc &= ~(EMU_PAGE_BYTES - 1);
    /* The steps of NEXT undo these: the first operation has not been issued yet. */
    op--;
    clock--;
    retired--;
    NEXT;

do_lui:
    regs[op->rd] = (uint32_t)op->imm;
    NEXT;
do_auipc:
    regs[op->rd] = (uint32_t)op->imm;
    NEXT;
do_addi:
    regs[op->rd] = a + (uint32_t)op->imm;
    NEXT;
do_slti:
    regs[op->rd] = (int32_t)a < op->imm;
    NEXT;
do_sltiu:
    regs[op->rd] = a < (uint32_t)op->imm;
    NEXT;
do_xori:
    regs[op->rd] = a ^ (uint32_t)op->imm;
    NEXT;
do_ori:
    regs[op->rd] = a | (uint32_t)op->imm;
    NEXT;
do_andi:
    regs[op->rd] = a & (uint32_t)op->imm;
    NEXT;
do_slli:
    regs[op->rd] = a << op->imm;
    NEXT;
do_srli:
    regs[op->rd] = a >> op->imm;
    NEXT;
do_srai:
    regs[op->rd] = shift_right(a, (uint32_t)op->imm);
    NEXT;
do_add:
    regs[op->rd] = a + b;
    NEXT;
do_sub:
    regs[op->rd] = a - b;
    NEXT;
do_sll:
    regs[op->rd] = a << (b & 31);
    NEXT;
do_slt:
    regs[op->rd] = (int32_t)a < (int32_t)b;
    NEXT;
do_sltu:
    regs[op->rd] = a < b;
    NEXT;
do_xor:
    regs[op->rd] = a ^ b;
    NEXT;
do_srl:
    regs[op->rd] = a >> (b & 31);
    NEXT;
do_sra:
    regs[op->rd] = shift_right(a, b);
    NEXT;
do_or:
    regs[op->rd] = a | b;
    NEXT;
do_and:
    regs[op->rd] = a & b;
    NEXT;

do_mul:
    regs[op->rd] = a * b;
    goto multiplied;
do_mulh:
    regs[op->rd] = (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
    goto multiplied;
do_mulhsu:
    regs[op->rd] = (uint32_t)((uint64_t)((int64_t)(int32_t)a * b) >> 32);
    goto multiplied;
do_mulhu:
    regs[op->rd] = (uint32_t)((uint64_t)a * b >> 32);
multiplied:
    if (MODELLED && op->rd != EMU_REGISTER_SINK) {
        hart->ready[op->rd] = clock + EMU_MULTIPLY_LATENCY;
        pending |= 1u << op->rd;
    }
    NEXT;
do_div:
    regs[op->rd] = divide(a, b);
    clock += MODELLED ? divide_clocks(magnitude(a), magnitude(b)) - 1 : 0;
    NEXT;
do_divu:
    regs[op->rd] = b == 0 ? UINT32_MAX : a / b;
    clock += MODELLED ? divide_clocks(a, b) - 1 : 0;
    NEXT;
do_rem:
    regs[op->rd] = remainder_of(a, b);
    clock += MODELLED ? divide_clocks(magnitude(a), magnitude(b)) - 1 : 0;
    NEXT;
do_remu:
    regs[op->rd] = b == 0 ? a : a % b;
    clock += MODELLED ? divide_clocks(a, b) - 1 : 0;
    NEXT;

do_beq_near:
    if (a == b)
        goto taken;
    goto not_taken;
do_bne_near:
    if (a != b)
        goto taken;
    goto not_taken;
do_blt_near:
    if ((int32_t)a < (int32_t)b)
        goto taken;
    goto not_taken;
do_bge_near:
    if ((int32_t)a >= (int32_t)b)
        goto taken;
    goto not_taken;
do_bltu_near:
    if (a < b)
        goto taken;
    goto not_taken;
do_bgeu_near:
    if (a >= b)
        goto taken;
not_taken:
    /* Backward branches are taken to be loops. */
    clock += MODELLED && op->imm < 0 ? EMU_BRANCH_PENALTY : 0;
    NEXT;
taken:
    clock += MODELLED && op->imm >= 0 ? EMU_BRANCH_PENALTY : 0;
    op += op->imm - 1;
    if (clock >= horizon)
        goto stop_after;
    NEXT;
do_jal_near:
    regs[op->rd] = pc + (uint32_t)(op - page->ops + 1) * 4;
    op += op->imm - 1;
    if (clock >= horizon)
        goto stop_after;
    NEXT;

do_beq_far:
    if (a == b)
        goto taken_far;
    NEXT;
do_bne_far:
    if (a != b)
        goto taken_far;
    NEXT;
do_blt_far:
    if ((int32_t)a < (int32_t)b)
        goto taken_far;
    NEXT;
do_bge_far:
    if ((int32_t)a >= (int32_t)b)
        goto taken_far;
    NEXT;
do_bltu_far:
    if (a < b)
        goto taken_far;
    NEXT;
do_bgeu_far:
    if (a >= b)
        goto taken_far;
    NEXT;
taken_far:
    clock += MODELLED ? EMU_BRANCH_PENALTY : 0;
    hart->pc = (uint32_t)op->imm;
    goto jumped;
do_jal_far:
    regs[op->rd] = pc + (uint32_t)(op - page->ops + 1) * 4;
    hart->pc = (uint32_t)op->imm;
    goto jumped;
do_jalr:
    hart->pc = (a + (uint32_t)op->imm) & ~1u;
    regs[op->rd] = pc + (uint32_t)(op - page->ops + 1) * 4;
    clock += MODELLED ? EMU_BRANCH_PENALTY : 0;
jumped:
    clock++;
    retired++;
    pc = hart->pc;
    if (clock >= horizon)
        goto stop_at_pc;
    goto enter;
do_page_end:
    hart->pc = pc + EMU_PAGE_BYTES;
    pc = hart->pc;
    goto enter;

do_lw:
    result = load(tile, hart, a + (uint32_t)op->imm, 4, clock, limit, &value, &latency);
    goto loaded;
do_lb:
    result = load(tile, hart, a + (uint32_t)op->imm, 1, clock, limit, &value, &latency);
    value = (uint32_t)(int32_t)(int8_t)value;
    goto loaded;
do_lh:
    result = load(tile, hart, a + (uint32_t)op->imm, 2, clock, limit, &value, &latency);
    value = (uint32_t)(int32_t)(int16_t)value;
    goto loaded;
do_lbu:
    result = load(tile, hart, a + (uint32_t)op->imm, 1, clock, limit, &value, &latency);
    goto loaded;
do_lhu:
    result = load(tile, hart, a + (uint32_t)op->imm, 2, clock, limit, &value, &latency);
loaded:
    if (result != ACCESS_DONE)
        goto stop_before;
    regs[op->rd] = value;
    if (MODELLED && op->rd != EMU_REGISTER_SINK) {
        hart->ready[op->rd] = clock + latency;
        pending |= 1u << op->rd;
    }
    NEXT;

do_sw:
    clock = MODELLED ? wait_for_port(hart, a + (uint32_t)op->imm, clock) : clock;
    result = store(tile, hart, a + (uint32_t)op->imm, 4, clock, limit, b);
    goto stored;
do_sb:
    clock = MODELLED ? wait_for_port(hart, a + (uint32_t)op->imm, clock) : clock;
    result = store(tile, hart, a + (uint32_t)op->imm, 1, clock, limit, b);
    goto stored;
do_sh:
    clock = MODELLED ? wait_for_port(hart, a + (uint32_t)op->imm, clock) : clock;
    result = store(tile, hart, a + (uint32_t)op->imm, 2, clock, limit, b);
stored:
    if (result == ACCESS_DONE)
        NEXT;
    if (result != ACCESS_REGISTER)
        goto stop_before;
    /* It may have changed who runs next, or how far. */
    clock += hart->stall;
    goto stop_after;

do_illegal:
    hart->pc = pc + (uint32_t)(op - page->ops) * 4;
    emu_fail(tile, hart, clock, "illegal instruction");
    goto stop_at_pc;

stop_after:
    op++;
    clock++;
    retired++;
stop_before:
    hart->pc = pc + (uint32_t)(op - page->ops) * 4;
stop_at_pc:
    hart->clock = clock;
    hart->retired += retired;
    hart->pending = pending;
}
