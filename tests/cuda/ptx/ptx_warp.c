/*
 * Which lanes of a warp run. Lanes that are at the same place run together, as a group. In order,
 * the group at the lowest place runs, so that those that went ahead are caught up with where paths
 * join. Unruly, any group runs, and now and then one parts.
 */
#include "ptx.h"

/* In order: after so many instructions others get a turn, since they may be waited for. */
enum { PATIENCE = 1 << 20, TURN = 4096 };
/* Unruly: one of so many instructions changes the group that runs, and leaves two groups parted
   that could run together. How often groups part depends on the launch. */
enum { CHANGES = 12, STAYS_PARTED = 4 };
/* Lanes that rest do so for that many instructions of the others at most. */
enum { REST_MOST = 2000 };

uint32_t ptx_random(ptx_launch *launch, uint32_t below) {
    uint64_t state = launch->random;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    launch->random = state;
    return (uint32_t)(state >> 32) % below;
}

/* ---- groups ---- */

static void add_group(ptx_warp *warp, ptx_group group) {
    warp->groups[warp->group_count++] = group;
}

static void remove_group(ptx_warp *warp, ptx_group *group) {
    *group = warp->groups[--warp->group_count];
}

static bool may_run(const ptx_warp *warp, const ptx_group *group) {
    return group->state == PTX_RUNS && group->rests_until <= warp->turns;
}

/* Takes in others that are at the same place. */
static void merge(ptx_warp *warp, ptx_group *group) {
    ptx_launch *launch = warp->block->launch;
    for (uint32_t i = 0; i < warp->group_count;) {
        ptx_group *other = &warp->groups[i];
        if (other == group || !may_run(warp, other) || other->at != group->at ||
            (launch->random != 0 && ptx_random(launch, STAYS_PARTED) == 0)) {
            i++;
            continue;
        }
        group->lanes |= other->lanes;
        const bool is_moved = group == &warp->groups[warp->group_count - 1];
        remove_group(warp, other);
        if (is_moved)
            group = other;
    }
}

static ptx_group *any_running(ptx_warp *warp, uint32_t random) {
    ptx_group *found[PTX_LANES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < warp->group_count; i++)
        if (may_run(warp, &warp->groups[i]))
            found[count++] = &warp->groups[i];
    /* If all that could run rest, they do not. */
    for (uint32_t i = 0; i < warp->group_count && count == 0; i++)
        if (warp->groups[i].state == PTX_RUNS)
            found[count++] = &warp->groups[i];
    return count > 0 ? found[random % count] : NULL;
}

static ptx_group *lowest(ptx_warp *warp) {
    ptx_group *found = NULL;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        ptx_group *group = &warp->groups[i];
        if (group->state == PTX_RUNS && (found == NULL || group->at < found->at))
            found = group;
    }
    return found;
}

/* The group that runs next; NULL: all wait. */
static ptx_group *choose(ptx_warp *warp, ptx_group *last) {
    ptx_launch *launch = warp->block->launch;
    warp->turns++;
    if (warp->group_count == 1)
        return warp->groups[0].state == PTX_RUNS ? &warp->groups[0] : NULL;
    if (launch->random == 0)
        return warp->turns < PATIENCE || warp->turns % PATIENCE >= TURN
                   ? lowest(warp)
                   : any_running(warp, (uint32_t)(warp->turns / PATIENCE));
    if (last != NULL && ptx_random(launch, CHANGES) > 0)
        return last;
    return any_running(warp, ptx_random(launch, PTX_LANES));
}

/* Parts a group, now and then so that some lanes get far ahead of the others. */
static void part(ptx_warp *warp, ptx_group *group) {
    ptx_launch *launch = warp->block->launch;
    if ((group->lanes & (group->lanes - 1)) == 0 || ptx_random(launch, launch->parts) > 0)
        return;
    const uint32_t left =
        group->lanes & (ptx_random(launch, UINT32_MAX) | 1u << ptx_random(launch, PTX_LANES));
    if (left == 0 || left == group->lanes)
        return;
    const uint64_t rest = ptx_random(launch, 2) == 0 ? 0 : ptx_random(launch, REST_MOST);
    group->lanes &= ~left;
    add_group(warp, (ptx_group){.state = PTX_RUNS,
                                .at = group->at,
                                .lanes = left,
                                .rests_until = rest > 0 ? warp->turns + rest : 0});
}

/* ---- meeting ---- */

/* Instructions that lanes execute together, once they have met. */
static bool is_together(const ptx_instruction *op) {
    return op->code == PTX_OP_SHFL || op->code == PTX_OP_MMA;
}

static void execute_together(ptx_warp *warp, const ptx_instruction *op, uint32_t lanes) {
    if (op->code == PTX_OP_SHFL)
        ptx_shuffle(warp, op, lanes);
    else
        ptx_multiply_matrices(warp, op);
}

/* All lanes that wait with these members: for what they do together at one place, else at any. */
static uint32_t met(const ptx_warp *warp, const ptx_group *with) {
    const ptx_instruction *code = warp->block->launch->function->code;
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const ptx_group *group = &warp->groups[i];
        if (group->state == PTX_MEETS && group->members == with->members &&
            (group->at == with->at ||
             (!is_together(&code[group->at]) && !is_together(&code[with->at]))))
            lanes |= group->lanes;
    }
    return lanes;
}

static void let_go(ptx_warp *warp, uint32_t lanes) {
    for (uint32_t i = 0; i < warp->group_count; i++) {
        ptx_group *group = &warp->groups[i];
        if (group->state != PTX_MEETS || (group->lanes & ~lanes) != 0)
            continue;
        group->state = PTX_RUNS;
        group->at++;
    }
    /* Those that met at one place go on together. */
    for (uint32_t i = 0; i < warp->group_count; i++)
        for (uint32_t j = warp->group_count - 1; j > i; j--)
            if ((warp->groups[i].lanes & lanes) != 0 && (warp->groups[j].lanes & lanes) != 0 &&
                warp->groups[i].state == PTX_RUNS && warp->groups[j].state == PTX_RUNS &&
                warp->groups[i].at == warp->groups[j].at) {
                warp->groups[i].lanes |= warp->groups[j].lanes;
                remove_group(warp, &warp->groups[j]);
            }
}

/* Are there lanes that have all met? Lanes that have ended are not waited for. */
static void look_who_met(ptx_warp *warp) {
    const ptx_instruction *code = warp->block->launch->function->code;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const ptx_group *group = &warp->groups[i];
        if (group->state != PTX_MEETS)
            continue;
        const ptx_instruction *op = &code[group->at];
        const uint32_t lanes = met(warp, group);
        if ((group->members & warp->live & ~lanes) != 0)
            continue;
        if (is_together(op))
            execute_together(warp, op, lanes);
        let_go(warp, lanes);
        i = UINT32_MAX;
    }
}

static uint32_t members_of(const ptx_warp *warp, const ptx_instruction *op, uint32_t lane) {
    if (op->code == PTX_OP_MMA)
        return UINT32_MAX;
    return (uint32_t)ptx_value(warp, &op->operand[op->code == PTX_OP_SHFL ? 5 : 0], lane);
}

/* Lanes of a group may name different members. */
static void arrive(ptx_warp *warp, const ptx_instruction *op, ptx_group arrived) {
    while (arrived.lanes != 0) {
        const uint32_t first = (uint32_t)__builtin_ctz(arrived.lanes);
        ptx_group same = {
            .state = PTX_MEETS, .at = arrived.at, .members = members_of(warp, op, first)};
        for (uint32_t lane = first; lane < PTX_LANES; lane++)
            if ((arrived.lanes >> lane & 1) != 0 && members_of(warp, op, lane) == same.members)
                same.lanes |= 1u << lane;
        if ((same.lanes & ~same.members) != 0) {
            ptx_launch_fail(warp->block->launch, PTX_TRAPPED, op,
                            "lanes 0x%x wait for lanes 0x%x, of which they are none", same.lanes,
                            same.members);
            return;
        }
        arrived.lanes &= ~same.lanes;
        add_group(warp, same);
    }
    look_who_met(warp);
}

/* ---- the block ---- */

/* Everybody who is left has arrived. */
static void open_barrier(ptx_block *block) {
    block->arrived = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        ptx_warp *warp = &block->warps[i];
        uint32_t released = 0;
        for (uint32_t j = 0; j < warp->group_count; j++)
            if (warp->groups[j].state == PTX_WAITS) {
                warp->groups[j].state = PTX_RUNS;
                warp->groups[j].at++;
                released |= warp->groups[j].lanes;
            }
        for (uint32_t j = 0; j < warp->group_count; j++)
            for (uint32_t k = warp->group_count - 1; k > j; k--)
                if ((warp->groups[j].lanes & released) != 0 &&
                    (warp->groups[k].lanes & released) != 0 &&
                    warp->groups[j].at == warp->groups[k].at) {
                    warp->groups[j].lanes |= warp->groups[k].lanes;
                    remove_group(warp, &warp->groups[k]);
                }
    }
}

static void look_at_barrier(ptx_block *block) {
    if (block->arrived > 0 && block->arrived == block->live)
        open_barrier(block);
}

static void end_lanes(ptx_warp *warp, uint32_t lanes) {
    warp->live &= ~lanes;
    warp->block->live -= (uint32_t)__builtin_popcount(lanes);
    look_who_met(warp);
    look_at_barrier(warp->block);
}

/* ---- instructions ---- */

/* Takes these lanes out of their group; what is left of it goes on behind the instruction. */
static void split_off(ptx_warp *warp, ptx_group *group, uint32_t lanes) {
    group->lanes &= ~lanes;
    group->at++;
    if (group->lanes == 0)
        remove_group(warp, group);
    else
        merge(warp, group);
}

static void branch(ptx_warp *warp, ptx_group *group, uint32_t target, uint32_t lanes) {
    if (lanes == group->lanes) {
        group->at = target;
        merge(warp, group);
        return;
    }
    split_off(warp, group, lanes);
    add_group(warp, (ptx_group){.state = PTX_RUNS, .at = target, .lanes = lanes});
    merge(warp, &warp->groups[warp->group_count - 1]);
}

/* Those after which a group is not what it was. */
static bool leads_elsewhere(ptx_code code) {
    return code == PTX_OP_BRA || code == PTX_OP_EXIT || code == PTX_OP_WARP_SYNC ||
           code == PTX_OP_BLOCK_SYNC || code == PTX_OP_SHFL || code == PTX_OP_MMA ||
           code == PTX_OP_TRAP;
}

static void go_elsewhere(ptx_warp *warp, ptx_group *group, const ptx_instruction *op,
                         uint32_t lanes) {
    const ptx_group arrived = {.at = group->at, .lanes = lanes};
    switch (op->code) {
    case PTX_OP_BRA:
        branch(warp, group, op->target, lanes);
        break;
    case PTX_OP_EXIT:
        split_off(warp, group, lanes);
        end_lanes(warp, lanes);
        break;
    case PTX_OP_BLOCK_SYNC:
        split_off(warp, group, lanes);
        add_group(warp, (ptx_group){.state = PTX_WAITS, .at = arrived.at, .lanes = lanes});
        warp->block->arrived += (uint32_t)__builtin_popcount(lanes);
        look_at_barrier(warp->block);
        break;
    case PTX_OP_TRAP:
        ptx_launch_fail(warp->block->launch, PTX_TRAPPED, op, "the kernel trapped");
        break;
    default:
        split_off(warp, group, lanes);
        arrive(warp, op, arrived);
        break;
    }
}

static void execute(ptx_warp *warp, const ptx_instruction *op, uint32_t lanes) {
    switch (op->code) {
    case PTX_OP_LD:
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        ptx_access(warp, op, lanes);
        break;
    case PTX_OP_FENCE:
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        break;
    case PTX_OP_NOTHING:
        break;
    default:
        ptx_calculate(warp, op, lanes);
        break;
    }
}

/* One instruction of a group. True: the same group can go on. */
static bool step(ptx_warp *warp, ptx_group *group) {
    const ptx_function *function = warp->block->launch->function;
    if (group->at == function->count) {
        const uint32_t lanes = group->lanes;
        remove_group(warp, group);
        end_lanes(warp, lanes);
        return false;
    }
    const ptx_instruction *op = &function->code[group->at];
    uint32_t lanes = group->lanes;
    if (op->has_guard)
        lanes &= ptx_predicate(warp, &op->guard);
    if (lanes != 0 && leads_elsewhere(op->code)) {
        go_elsewhere(warp, group, op, lanes);
        return false;
    }
    if (lanes != 0)
        execute(warp, op, lanes);
    group->at++;
    if (warp->group_count == 1)
        return true;
    const uint32_t count = warp->group_count;
    merge(warp, group);
    return warp->group_count == count;
}

bool ptx_warp_run(ptx_warp *warp, uint32_t steps) {
    ptx_launch *launch = warp->block->launch;
    bool has_run = false;
    ptx_group *last = NULL;
    for (; steps > 0 && warp->group_count > 0 && launch->fault == 0; steps--) {
        ptx_group *group = choose(warp, last);
        if (group == NULL)
            break;
        if (launch->random != 0)
            part(warp, group);
        last = step(warp, group) ? group : NULL;
        has_run = true;
    }
    return has_run;
}
