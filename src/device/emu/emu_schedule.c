/*
 * Who runs when.
 *
 * count: clock by clock, tile by tile, hart by hart, each making the shared accesses that are due.
 *
 * modelled: in quanta that are shorter than the way between two tiles. During a quantum every tile
 * runs by itself, the hart that is furthest behind first; at its end packets change hands. Which
 * thread runs a tile therefore makes no difference.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/emu/emu_machine.h"

struct emu_threads {
    emu_machine *machine;
    pthread_barrier_t begin;
    pthread_barrier_t end;
    pthread_mutex_t gate; /* held until it is known how many helpers there are */
    uint64_t quantum_end;
    bool quits;
    uint32_t count; /* helpers, the caller not included */
    pthread_t helpers[EMU_MAX_THREADS];
    struct helper {
        struct emu_threads *threads;
        uint32_t number; /* 1, 2, ... ; the caller is 0 */
    } arguments[EMU_MAX_THREADS];
};

static void refresh_wake(emu_tile *tile) {
    uint64_t wake = emu_queue_time(&tile->inbox);
    for (uint32_t order = 0; order < EMU_HARTS; order++)
        if (tile->next[order] < wake)
            wake = tile->next[order];
    emu_sleep_until(tile->machine, tile->node, wake);
}

static uint32_t first_awake(const emu_machine *machine) {
    return emu_next_flag(machine, machine->is_awake, 0);
}

static uint32_t next_awake(const emu_machine *machine, uint32_t node) {
    return emu_next_flag(machine, machine->is_awake, node + 1);
}

uint64_t emu_earliest(const emu_machine *machine) {
    uint64_t wake = EMU_NEVER;
    for (uint32_t node = first_awake(machine); node < machine->node_count;
         node = next_awake(machine, node))
        if (machine->wakes[node] < wake)
            wake = machine->wakes[node];
    return wake;
}

static void run_hart(emu_tile *tile, emu_hart *hart, uint64_t limit) {
    emu_hart_run(tile, hart, limit);
    if (hart->state != EMU_ACTIVE || tile->fault.happened)
        return;
    if (hart->poll.rest > 0)
        hart->poll.rest--;
    else
        emu_poll_stopped(tile, hart);
}

/* ---- count ---- */

static void clock_tile(emu_tile *tile, uint64_t clock) {
    for (uint32_t order = 0; order < EMU_HARTS; order++)
        if (tile->next[order] <= clock && !tile->fault.happened)
            run_hart(tile, &tile->harts[order], clock + 1);
    refresh_wake(tile);
}

void emu_run_count(emu_machine *machine, uint64_t end) {
    while (machine->clock < end) {
        const uint64_t wake = emu_earliest(machine);
        if (wake >= end)
            break;
        if (wake > machine->clock)
            machine->clock = wake;
        for (uint32_t node = first_awake(machine); node < machine->node_count;
             node = next_awake(machine, node)) {
            if (machine->wakes[node] > machine->clock)
                continue;
            emu_tile *tile = emu_tile_of_node(machine, node);
            clock_tile(tile, machine->clock);
            if (tile->fault.happened) {
                machine->fault = tile->fault;
                return;
            }
        }
        machine->clock++;
    }
    machine->clock = end;
}

/* ---- modelled ---- */

/* The hart furthest behind, and how far it may go before another one's turn comes. */
static emu_hart *choose(emu_tile *tile, uint64_t *limit) {
    uint32_t chosen = 0;
    uint64_t least = tile->next[0];
    uint64_t second = EMU_NEVER - EMU_SLACK;
    for (uint32_t order = 1; order < EMU_HARTS; order++) {
        const uint64_t next = tile->next[order];
        if (next < least) {
            second = least < second ? least : second;
            least = next;
            chosen = order;
        } else if (next < second) {
            second = next;
        }
    }
    *limit = second + EMU_SLACK;
    return &tile->harts[chosen];
}

static void run_tile(emu_tile *tile, uint64_t end) {
    tile->end = end;
    while (!tile->fault.happened) {
        uint64_t limit = 0;
        emu_hart *hart = choose(tile, &limit);
        const uint64_t now = tile->next[hart->order];
        const uint64_t arrival = emu_queue_time(&tile->inbox);
        if (arrival <= now && arrival < tile->end) {
            emu_tile_receive(tile, arrival);
            continue;
        }
        if (now >= tile->end)
            break;
        if (arrival < limit)
            limit = arrival;
        if (tile->end < limit)
            limit = tile->end;
        if (hart->poll.observes || limit <= now)
            limit = now + 1;
        run_hart(tile, hart, limit);
    }
    refresh_wake(tile);
}

/* Tiles are dealt out in turn, so that those of a small program do not all go to one thread. */
static void run_share(emu_machine *machine, uint32_t number, uint32_t threads, uint64_t end) {
    for (uint32_t i = number; i < machine->due_count; i += threads) {
        emu_tile *tile = emu_tile_of_node(machine, machine->due[i]);
        if (tile != NULL)
            run_tile(tile, end);
    }
}

static void find_due(emu_machine *machine, uint64_t end) {
    machine->due_count = 0;
    for (uint32_t node = first_awake(machine); node < machine->node_count;
         node = next_awake(machine, node))
        if (machine->wakes[node] < end)
            machine->due[machine->due_count++] = node;
}

/* DRAM answers, packets change hands; of several faults the first tile's is the machine's. */
static void finish_quantum(emu_machine *machine, uint64_t end) {
    for (uint32_t i = 0; i < machine->due_count; i++) {
        emu_dram *dram = emu_dram_of_node(machine, machine->due[i]);
        const emu_tile *tile = emu_tile_of_node(machine, machine->due[i]);
        if (dram != NULL)
            emu_dram_receive(machine, dram, end);
        else if (tile->fault.happened && !machine->fault.happened)
            machine->fault = tile->fault;
    }
    emu_exchange(machine);
}

static void run_quantum(emu_machine *machine, uint64_t end) {
    struct emu_threads *threads = machine->threads;
    find_due(machine, end);
    if (threads == NULL) {
        run_share(machine, 0, 1, end);
    } else {
        threads->quantum_end = end;
        pthread_barrier_wait(&threads->begin);
        run_share(machine, 0, threads->count + 1, end);
        pthread_barrier_wait(&threads->end);
    }
    finish_quantum(machine, end);
}

/* When something happens first, where, and when it does at any other node. */
typedef struct outlook {
    uint64_t first;
    uint32_t node;
    uint64_t second;
} outlook;

static outlook look_ahead(const emu_machine *machine) {
    outlook seen = {.first = EMU_NEVER, .second = EMU_NEVER};
    for (uint32_t node = first_awake(machine); node < machine->node_count;
         node = next_awake(machine, node)) {
        const uint64_t wake = machine->wakes[node];
        if (wake < seen.first) {
            seen.second = seen.first;
            seen.first = wake;
            seen.node = node;
        } else if (wake < seen.second) {
            seen.second = wake;
        }
    }
    return seen;
}

/* The tile that acts first, when all others stay still for a good while longer; else NULL. */
static emu_tile *find_lonely(emu_machine *machine, const outlook *seen) {
    if (seen->second - seen->first < (uint64_t)2 * EMU_QUANTUM)
        return NULL;
    return emu_tile_of_node(machine, seen->node);
}

static uint64_t round_down(uint64_t clock) {
    return clock - clock % EMU_QUANTUM;
}

/* A tile on its own may run until what the next one does could reach it. */
static void run_lonely(emu_machine *machine, emu_tile *tile, uint64_t others, uint64_t end) {
    run_tile(tile, others < end - EMU_QUANTUM ? others + EMU_QUANTUM : end);
    if (tile->fault.happened)
        machine->fault = tile->fault;
    emu_exchange(machine);
    const uint64_t reached = round_down(tile->end < others ? tile->end : others);
    if (reached > machine->clock)
        machine->clock = reached;
}

void emu_run_modelled(emu_machine *machine, uint64_t end) {
    while (machine->clock < end) {
        const outlook seen = look_ahead(machine);
        if (seen.first >= end) {
            machine->clock = end;
            return;
        }
        if (seen.first >= machine->clock + EMU_QUANTUM)
            machine->clock = round_down(seen.first);
        emu_tile *lonely = find_lonely(machine, &seen);
        if (lonely != NULL) {
            run_lonely(machine, lonely, seen.second, end);
        } else {
            run_quantum(machine, machine->clock + EMU_QUANTUM);
            machine->clock += EMU_QUANTUM;
        }
        if (machine->fault.happened)
            return;
    }
}

/* ---- threads ---- */

static void *help(void *argument) {
    const struct helper *self = argument;
    struct emu_threads *threads = self->threads;
    pthread_mutex_lock(&threads->gate);
    pthread_mutex_unlock(&threads->gate);
    for (;;) {
        pthread_barrier_wait(&threads->begin);
        if (threads->quits)
            return NULL;
        run_share(threads->machine, self->number, threads->count + 1, threads->quantum_end);
        pthread_barrier_wait(&threads->end);
    }
}

/* Where the system gives fewer threads than asked for, those it gives must do. */
void emu_threads_start(emu_machine *machine) {
    if (machine->options.threads <= 1 || machine->options.time == EMU_COUNT)
        return;
    struct emu_threads *threads = sb_alloc_zeroed(1, sizeof *threads);
    threads->machine = machine;
    pthread_mutex_init(&threads->gate, NULL);
    pthread_mutex_lock(&threads->gate);
    for (uint32_t i = 0; i + 1 < machine->options.threads; i++) {
        threads->arguments[i] = (struct helper){threads, i + 1};
        if (pthread_create(&threads->helpers[i], NULL, help, &threads->arguments[i]) != 0)
            break;
        threads->count++;
    }
    pthread_barrier_init(&threads->begin, NULL, threads->count + 1);
    pthread_barrier_init(&threads->end, NULL, threads->count + 1);
    pthread_mutex_unlock(&threads->gate);
    machine->threads = threads;
}

void emu_threads_stop(emu_machine *machine) {
    struct emu_threads *threads = machine->threads;
    if (threads == NULL)
        return;
    threads->quits = true;
    pthread_barrier_wait(&threads->begin);
    for (uint32_t i = 0; i < threads->count; i++)
        pthread_join(threads->helpers[i], NULL);
    pthread_barrier_destroy(&threads->begin);
    pthread_barrier_destroy(&threads->end);
    pthread_mutex_destroy(&threads->gate);
    free(threads);
    machine->threads = NULL;
}
