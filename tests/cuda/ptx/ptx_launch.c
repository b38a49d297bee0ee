/*
 * Launches: blocks find a place on an SM, their warps take turns, and they leave. Kernels of
 * several streams run in several threads and share the SMs. Shared memory is never cleared: a block
 * finds what the last one left there.
 */
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "ptx.h"

/* Of one kernel on an SM, so that others find room beside it; and registers, for the sake of the
   host's caches. */
enum { WARPS_MOST = 32, REGISTER_BYTES_MOST = 8 << 20 };
/* Instructions until another warp gets its turn. */
enum { STEPS = 200 };
/* Shared memory is given in parts of so many bytes. */
enum { SHARED_PART = 1024, SHARED_PARTS = PTX_SHARED_BYTES / SHARED_PART };

typedef struct processor {
    bool is_place_taken[PTX_PLACES];
    bool is_part_taken[SHARED_PARTS];
    unsigned char *shared;
} processor;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    processor sms[PTX_GPUS][PTX_SMS];
    _Atomic int fault; /* of any launch: all end */
} gpu = {.lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

/* ---- time ---- */

/* The timer counts from somewhere else than the host's clock, in steps; that of each GPU too. */
#define TIMER_AHEAD UINT64_C(1600000000000000000)
#define TIMERS_APART UINT64_C(3600000000000)
enum { TIMER_STEP = 32 };

uint64_t ptx_timer(const ptx_block *block, uint64_t ns) {
    return (ns + TIMER_AHEAD + block->launch->gpu * TIMERS_APART) / TIMER_STEP * TIMER_STEP;
}

/* The host's clock as well: the library takes it that clocks run evenly. Each SM has its origin. */
uint64_t ptx_clock(const ptx_block *block, uint64_t ns) {
    const uint32_t sm = block->launch->gpu * PTX_SMS + block->sm;
    return ns + ns / 2 + (UINT64_C(1) + sm) * UINT64_C(98765432109);
}

/* ---- room ---- */

static uint32_t count_places(const processor *sm) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < PTX_PLACES; i++)
        count += sm->is_place_taken[i] ? 0 : 1;
    return count;
}

/* The first of so many parts in a row; SHARED_PARTS: there are none. */
static uint32_t find_parts(const processor *sm, uint32_t count) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < SHARED_PARTS; i++) {
        found = sm->is_part_taken[i] ? 0 : found + 1;
        if (found >= count)
            return i + 1 - found;
    }
    return SHARED_PARTS;
}

static uint32_t parts_of(uint32_t bytes) {
    return (bytes + SHARED_PART - 1) / SHARED_PART;
}

static void fill_shared(processor *sm) {
    uint32_t state = 12345;
    sm->shared = ptx_memory_make(PTX_SHARED_BYTES, 0);
    for (uint32_t i = 0; i < PTX_SHARED_BYTES; i++) {
        state = state * 1664525 + 1013904223;
        sm->shared[i] = (unsigned char)(state >> 24);
    }
}

/* With the lock. */
static bool take_room(ptx_block *block, uint32_t number) {
    processor *sm = &gpu.sms[block->launch->gpu][number];
    const uint32_t count = parts_of(block->shared_bytes);
    const uint32_t first = count > 0 ? find_parts(sm, count) : 0;
    if (first == SHARED_PARTS || count_places(sm) < block->warp_count)
        return false;
    if (sm->shared == NULL)
        fill_shared(sm);
    for (uint32_t i = 0; i < count; i++)
        sm->is_part_taken[first + i] = true;
    block->sm = number;
    block->shared_at = first;
    block->shared = sm->shared + (size_t)first * SHARED_PART;
    uint32_t place = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        while (sm->is_place_taken[place])
            place++;
        sm->is_place_taken[place] = true;
        block->warps[i].place = place;
    }
    return true;
}

static void give_room(const ptx_block *block) {
    processor *sm = &gpu.sms[block->launch->gpu][block->sm];
    pthread_mutex_lock(&gpu.lock);
    for (uint32_t i = 0; i < parts_of(block->shared_bytes); i++)
        sm->is_part_taken[block->shared_at + i] = false;
    for (uint32_t i = 0; i < block->warp_count; i++)
        sm->is_place_taken[block->warps[i].place] = false;
    pthread_cond_broadcast(&gpu.freed);
    pthread_mutex_unlock(&gpu.lock);
}

/* ---- blocks ---- */

static ptx_block *make_block(ptx_launch *launch) {
    const uint32_t *size = launch->shape.block;
    ptx_block *block = sb_alloc_zeroed(1, sizeof *block);
    block->launch = launch;
    block->live = size[0] * size[1] * size[2];
    block->warp_count = (block->live + PTX_LANES - 1) / PTX_LANES;
    block->shared_bytes = launch->function->shared_bytes + launch->shape.shared_bytes;
    block->warps = sb_alloc_zeroed(block->warp_count, sizeof *block->warps);
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].registers =
            ptx_memory_make((size_t)launch->function->register_bytes + PTX_LANES, 0xA5);
    return block;
}

static void free_block(ptx_block *block) {
    for (uint32_t i = 0; i < block->warp_count; i++)
        free(block->warps[i].registers);
    free(block->warps);
    free(block);
}

/* At its first instruction. */
static void begin_block(ptx_block *block, uint64_t number) {
    const ptx_shape *shape = &block->launch->shape;
    const uint32_t threads = shape->block[0] * shape->block[1] * shape->block[2];
    block->live = threads;
    block->arrived = 0;
    block->index[0] = (uint32_t)(number % shape->grid[0]);
    block->index[1] = (uint32_t)(number / shape->grid[0] % shape->grid[1]);
    block->index[2] = (uint32_t)(number / shape->grid[0] / shape->grid[1]);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        ptx_warp *warp = &block->warps[i];
        const uint32_t left = threads - i * PTX_LANES;
        warp->block = block;
        warp->number = i;
        warp->turns = 0;
        warp->last_clock = (ptx_moment){0};
        warp->live = left >= PTX_LANES ? UINT32_MAX : (1u << left) - 1;
        warp->group_count = 1;
        warp->groups[0] = (ptx_group){.state = PTX_RUNS, .lanes = warp->live};
    }
}

/* Blocks that have ended, for others of the launch. */
typedef struct block_store {
    ptx_block *free;
} block_store;

static uint32_t blocks_most(const ptx_block *block) {
    const uint32_t bytes = block->launch->function->register_bytes + 1;
    const uint32_t fitting = REGISTER_BYTES_MOST / bytes;
    const uint32_t warps = fitting < WARPS_MOST ? fitting : WARPS_MOST;
    return PTX_SMS * (block->warp_count < warps ? warps / block->warp_count : 1);
}

/* The next block on the next SM that has room; each SM gets blocks of even and odd numbers. With
   the lock. */
static bool place_block(ptx_launch *launch, ptx_block *block) {
    const uint64_t number = launch->next_block;
    for (uint32_t i = 0; i < PTX_SMS; i++) {
        if (!take_room(block, (uint32_t)((number + number / PTX_SMS + i) % PTX_SMS)))
            continue;
        begin_block(block, launch->next_block++);
        block->next = launch->blocks;
        launch->blocks = block;
        launch->running++;
        return true;
    }
    return false;
}

/* As many blocks as find room; it is waited for if nothing of the launch runs. */
static void place_blocks(ptx_launch *launch, block_store *store) {
    bool has_room = true;
    while (has_room && launch->next_block < launch->block_count && gpu.fault == 0) {
        ptx_block *block = store->free != NULL ? store->free : make_block(launch);
        store->free = store->free != NULL ? block->next : NULL;
        pthread_mutex_lock(&gpu.lock);
        has_room = launch->running < blocks_most(block) && place_block(launch, block);
        if (!has_room && launch->running == 0 && gpu.fault == 0)
            pthread_cond_wait(&gpu.freed, &gpu.lock);
        has_room = has_room || launch->running == 0;
        const bool is_placed = launch->blocks == block;
        pthread_mutex_unlock(&gpu.lock);
        if (!is_placed) {
            block->next = store->free;
            store->free = block;
        }
    }
}

static bool is_over(const ptx_block *block) {
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (block->warps[i].group_count > 0)
            return false;
    return true;
}

static void run_block(ptx_block *block) {
    ptx_launch *launch = block->launch;
    bool has_run = false;
    /* Unruly: they begin anywhere, and stop anywhere. */
    const uint32_t first = launch->random != 0 ? ptx_random(launch, block->warp_count) : 0;
    for (uint32_t i = 0; i < block->warp_count && launch->fault == 0; i++) {
        const uint32_t steps = launch->random != 0 ? 1 + ptx_random(launch, STEPS / 2) : STEPS;
        has_run |= ptx_warp_run(&block->warps[(first + i) % block->warp_count], steps);
    }
    if (!has_run && !is_over(block) && launch->fault == 0)
        ptx_launch_fail(launch, PTX_TRAPPED, NULL, "threads of block %u wait for each other",
                        block->index[0]);
}

/* Takes blocks out that have ended. */
static void remove_blocks(ptx_launch *launch, block_store *store, bool all) {
    for (ptx_block **at = &launch->blocks; *at != NULL;) {
        ptx_block *block = *at;
        if (!all && !is_over(block)) {
            at = &block->next;
            continue;
        }
        assert(all || block->live == 0);
        give_room(block);
        *at = block->next;
        block->next = store->free;
        store->free = block;
        launch->running--;
    }
}

/* ---- launches ---- */

void ptx_launch_fail(ptx_launch *launch, int fault, const ptx_instruction *at, const char *format,
                     ...) {
    char said[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    fprintf(stderr, "ptx: %s, launch %llu, line %u: %s (CUDA error %d)\n", launch->function->name,
            (unsigned long long)launch->number, at != NULL ? at->line : 0, said, fault);
    launch->fault = fault;
}

/* Lanes that part seldom find other mistakes than those that part often. */
static void begin_unruly(ptx_launch *launch) {
    enum { OFTEN = 40, SELDOM_SHIFT = 7 };
    const char *seed = getenv("STROBE_PTX_UNRULY");
    if (seed == NULL || seed[0] == '\0')
        return;
    const uint64_t mixed = (strtoull(seed, NULL, 10) + 1) * UINT64_C(0x9E3779B97F4A7C15) +
                           launch->number * UINT64_C(0xBF58476D1CE4E5B9);
    launch->random = mixed != 0 ? mixed : 1;
    launch->parts = OFTEN << ptx_random(launch, SELDOM_SHIFT);
}

/*
 * A single warp that has long said nothing waits for something. On a busy machine that must have a
 * processor to come about; and who sleeps is let in soon, however busy the machine is.
 */
static void rest(ptx_launch *launch) {
    enum { LONG_NS = 100000, REST_NS = 20000 };
    const int64_t now = sb_clock_ns();
    if (launch->stores != launch->stores_seen) {
        launch->stores_seen = launch->stores;
        launch->stored_ns = now;
    }
    if (launch->block_count == 1 && launch->blocks->warp_count == 1 &&
        now - launch->stored_ns > LONG_NS)
        nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
}

int ptx_launch_run(ptx_launch *launch) {
    block_store store = {0};
    const uint32_t *grid = launch->shape.grid;
    launch->block_count = (uint64_t)grid[0] * grid[1] * grid[2];
    begin_unruly(launch);
    while (launch->fault == 0 && gpu.fault == 0) {
        place_blocks(launch, &store);
        if (launch->blocks == NULL)
            break;
        for (ptx_block *block = launch->blocks; block != NULL; block = block->next)
            run_block(block);
        rest(launch);
        remove_blocks(launch, &store, false);
    }
    if (launch->fault != 0) {
        pthread_mutex_lock(&gpu.lock);
        gpu.fault = launch->fault;
        pthread_cond_broadcast(&gpu.freed);
        pthread_mutex_unlock(&gpu.lock);
    }
    remove_blocks(launch, &store, true);
    while (store.free != NULL) {
        ptx_block *block = store.free;
        store.free = block->next;
        free_block(block);
    }
    return gpu.fault;
}
