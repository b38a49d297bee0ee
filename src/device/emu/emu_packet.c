/*
 * NoC transfers that take time. A packet leaves through its sender's interface, one at a time,
 * travels by distance, and is received one at a time; then it takes effect and may be answered.
 *
 * A node keeps what it sends during a quantum in its outbox. emu_exchange hands it over at the end
 * of the quantum, always before it can be due, so nodes never touch each other while they run.
 */
#include <stdlib.h>
#include <string.h>

#include "device/emu/emu_machine.h"

/* ---- queues ---- */

static bool is_before(const emu_packet *a, const emu_packet *b) {
    if (a->time != b->time)
        return a->time < b->time;
    if (a->sender != b->sender)
        return a->sender < b->sender;
    return a->sequence < b->sequence;
}

uint64_t emu_queue_time(const emu_queue *queue) {
    return queue->count == 0 ? EMU_NEVER : queue->packets[0]->time;
}

static void append(emu_queue *queue, emu_packet *packet) {
    if (queue->count == queue->capacity) {
        queue->capacity = queue->capacity == 0 ? 16 : queue->capacity * 2;
        // NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are what it holds
        queue->packets = sb_realloc(queue->packets, queue->capacity, sizeof *queue->packets);
    }
    queue->packets[queue->count++] = packet;
}

static void push(emu_queue *queue, emu_packet *packet) {
    append(queue, packet);
    size_t at = queue->count - 1;
    while (at > 0 && is_before(packet, queue->packets[(at - 1) / 2])) {
        queue->packets[at] = queue->packets[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->packets[at] = packet;
}

static emu_packet *pop(emu_queue *queue) {
    emu_packet *first = queue->packets[0];
    emu_packet *last = queue->packets[--queue->count];
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= queue->count)
            break;
        if (child + 1 < queue->count && is_before(queue->packets[child + 1], queue->packets[child]))
            child++;
        if (!is_before(queue->packets[child], last))
            break;
        queue->packets[at] = queue->packets[child];
        at = child;
    }
    if (queue->count > 0)
        queue->packets[at] = last;
    return first;
}

void emu_queue_free(emu_queue *queue) {
    for (size_t i = 0; i < queue->count; i++)
        free(queue->packets[i]);
    free(queue->packets);
    *queue = (emu_queue){0};
}

/* ---- making packets ---- */

static emu_packet *make(emu_packet_kind kind, uint32_t noc, uint32_t size, const void *data) {
    const uint32_t carried = data == NULL ? 0 : size;
    emu_packet *packet = sb_alloc(sizeof *packet + carried);
    memset(packet, 0, sizeof *packet);
    packet->kind = kind;
    packet->noc = (uint8_t)noc;
    packet->size = size;
    if (carried > 0)
        memcpy(packet->data, data, carried);
    return packet;
}

/* Clocks that the bytes of a packet keep an interface busy; its head counts as one. */
static uint64_t flits(const emu_packet *packet) {
    const bool carries = packet->kind == EMU_PACKET_WRITE || packet->kind == EMU_PACKET_DATA;
    return 1 + (carries ? packet->size / EMU_NOC_BYTES_PER_CLOCK : 0);
}

static emu_place place_at(const emu_packet *packet) {
    return (emu_place){.x = packet->x, .y = packet->y};
}

/* Sends from a tile. Returns when the last of it has left. */
static uint64_t dispatch(emu_tile *tile, emu_packet *packet, uint64_t clock, uint64_t link_clocks) {
    emu_noc *noc = &tile->nocs[packet->noc];
    const emu_place from = emu_place_of_tile(tile->machine, tile->index);
    const emu_place to = place_at(packet);
    const uint64_t start = noc->out_busy > clock ? noc->out_busy : clock;
    noc->out_busy = start + flits(packet);
    packet->time = start + EMU_NOC_INTERFACE_CLOCKS + link_clocks +
                   (uint64_t)EMU_NOC_HOP_CLOCKS * emu_hops(packet->noc, &from, &to);
    if (to.x == from.x && to.y == from.y)
        packet->time += EMU_NOC_HOP_CLOCKS; /* to itself: through its own router */
    packet->sender = tile->node;
    packet->sequence = tile->sequence++;
    append(&tile->outbox, packet);
    tile->machine->has_sent[tile->node] = 1;
    /* Nothing that this brings about can come back sooner. */
    if (clock + EMU_QUANTUM < tile->end)
        tile->end = clock + EMU_QUANTUM;
    return noc->out_busy;
}

static uint32_t dram_node(const emu_machine *machine, uint32_t chip, uint32_t channel) {
    return chip * (machine->tile_count + EMU_DRAM_CHANNELS) + machine->tile_count + channel;
}

static emu_packet *make_for(emu_tile *tile, const emu_transfer *transfer) {
    static const bool carries[] = {
        [EMU_PACKET_WRITE] = true, [EMU_PACKET_READ] = false, [EMU_PACKET_ATOMIC] = false};
    const void *data = NULL;
    if (carries[transfer->kind])
        data = transfer->is_inline ? (const void *)&transfer->data
                                   : (const void *)(tile->l1 + transfer->local_address);
    emu_packet *packet = make(transfer->kind, transfer->noc, transfer->size, data);
    packet->wants_answer = !transfer->is_posted;
    packet->is_register = transfer->is_register;
    packet->operand = transfer->data;
    packet->transaction = transfer->transaction;
    packet->answer_address = transfer->local_address;
    packet->x = (uint8_t)transfer->place.x;
    packet->y = (uint8_t)transfer->place.y;
    if (transfer->place.kind == EMU_DRAM) {
        packet->address = transfer->address;
        packet->receiver = dram_node(tile->machine, tile->chip, transfer->place.index);
    } else {
        uint32_t offset = 0;
        packet->receiver = emu_receiver(tile, transfer, &offset)->node;
        packet->address = offset;
    }
    return packet;
}

uint64_t emu_packet_send(emu_tile *tile, const emu_transfer *transfer, uint64_t clock) {
    uint64_t link_clocks = 0;
    if (transfer->place.kind == EMU_LINK)
        link_clocks = EMU_LINK_CLOCKS + transfer->size / EMU_LINK_BYTES_PER_CLOCK;
    if (transfer->kind == EMU_PACKET_ATOMIC && transfer->is_posted)
        emu_packet_count(tile, transfer->noc, EMU_POSTED_ATOMICS, clock + 1);
    if (!transfer->is_posted)
        emu_count_outstanding(tile, transfer->noc, transfer->transaction, 1, clock);
    return dispatch(tile, make_for(tile, transfer), clock, link_clocks);
}

void emu_packet_count(emu_tile *tile, uint32_t noc, emu_counter counter, uint64_t clock) {
    emu_packet *packet = make(EMU_PACKET_COUNT, noc, 0, NULL);
    packet->counter = counter;
    packet->is_received = true;
    packet->sender = tile->node;
    packet->receiver = tile->node;
    packet->sequence = tile->sequence++;
    packet->time = clock;
    push(&tile->inbox, packet);
    emu_wake_by(tile->machine, tile->node, clock);
}

/* An answer goes back to the sender's tile; on its way it knows only where that is. */
static emu_packet *answer_to(const emu_machine *machine, const emu_packet *packet,
                             emu_packet_kind kind, uint32_t size, const void *data) {
    const uint32_t per_chip = machine->tile_count + EMU_DRAM_CHANNELS;
    const emu_place back = emu_place_of_tile(machine, packet->sender % per_chip);
    emu_packet *answer = make(kind, packet->noc, size, data);
    answer->receiver = packet->sender;
    answer->address = packet->answer_address;
    answer->transaction = packet->transaction;
    answer->ends_transaction = packet->wants_answer;
    answer->x = (uint8_t)back.x;
    answer->y = (uint8_t)back.y;
    return answer;
}

/* ---- taking effect at a tile ---- */

static void write_l1(emu_tile *tile, const emu_packet *packet, const void *data, uint32_t size) {
    memcpy(tile->l1 + packet->address, data, size);
    emu_written(tile, (uint32_t)packet->address, size, packet->time, EMU_OUTSIDE);
}

/* Answers to another chip take the way back over the link. */
static uint64_t way_back(const emu_tile *tile, const emu_packet *packet) {
    const uint32_t per_chip = tile->machine->tile_count + EMU_DRAM_CHANNELS;
    return packet->sender / per_chip == tile->chip ? 0 : EMU_LINK_CLOCKS;
}

static void answer_count(emu_tile *tile, const emu_packet *packet, emu_counter counter) {
    emu_packet *answer = answer_to(tile->machine, packet, EMU_PACKET_COUNT, 0, NULL);
    answer->counter = counter;
    dispatch(tile, answer, packet->time, way_back(tile, packet));
}

static void answer_atomic(emu_tile *tile, const emu_packet *packet) {
    uint32_t old = 0;
    memcpy(&old, tile->l1 + packet->address, 4);
    const uint32_t sum = old + packet->operand;
    write_l1(tile, packet, &sum, 4);
    emu_packet *answer = answer_to(tile->machine, packet, EMU_PACKET_RESULT, 4, &old);
    answer->wants_answer = packet->wants_answer;
    dispatch(tile, answer, packet->time, way_back(tile, packet));
}

static void take_effect(emu_tile *tile, const emu_packet *packet) {
    switch (packet->kind) {
    case EMU_PACKET_WRITE:
        if (packet->is_register)
            emu_register_write_outside(tile, (uint32_t)packet->address, packet->operand,
                                       packet->time);
        else
            write_l1(tile, packet, packet->data, packet->size);
        if (packet->wants_answer)
            answer_count(tile, packet, EMU_WRITE_ACKS);
        break;
    case EMU_PACKET_READ:
        dispatch(tile,
                 answer_to(tile->machine, packet, EMU_PACKET_DATA, packet->size,
                           tile->l1 + packet->address),
                 packet->time, 0);
        break;
    case EMU_PACKET_ATOMIC:
        answer_atomic(tile, packet);
        break;
    case EMU_PACKET_DATA:
        write_l1(tile, packet, packet->data, packet->size);
        emu_count(tile, packet->noc, EMU_READ_RESPONSES, packet->time, EMU_OUTSIDE);
        break;
    case EMU_PACKET_RESULT:
        write_l1(tile, packet, packet->data, 4);
        if (packet->wants_answer)
            emu_count(tile, packet->noc, EMU_ATOMIC_RESPONSES, packet->time, EMU_OUTSIDE);
        break;
    case EMU_PACKET_COUNT:
        emu_count(tile, packet->noc, packet->counter, packet->time, EMU_OUTSIDE);
        break;
    }
    if (packet->ends_transaction)
        emu_count_outstanding(tile, packet->noc, packet->transaction, -1, packet->time);
}

void emu_tile_receive(emu_tile *tile, uint64_t clock) {
    while (emu_queue_time(&tile->inbox) <= clock) {
        emu_packet *packet = pop(&tile->inbox);
        if (!packet->is_received) {
            /* Its head is here; the interface takes it in behind what came before. */
            emu_noc *noc = &tile->nocs[packet->noc];
            packet->is_received = true;
            packet->time = (noc->in_busy > packet->time ? noc->in_busy : packet->time);
            packet->time += flits(packet) - 1;
            noc->in_busy = packet->time;
            push(&tile->inbox, packet);
            continue;
        }
        take_effect(tile, packet);
        free(packet);
    }
}

/* ---- DRAM ---- */

static void dram_answer(emu_machine *machine, emu_dram *dram, const emu_packet *packet,
                        uint64_t clock) {
    emu_packet *answer = NULL;
    if (packet->kind == EMU_PACKET_READ) {
        answer = answer_to(machine, packet, EMU_PACKET_DATA, packet->size,
                           dram->bytes + packet->address);
    } else {
        answer = answer_to(machine, packet, EMU_PACKET_COUNT, 0, NULL);
        answer->counter = EMU_WRITE_ACKS;
    }
    const emu_place from = place_at(packet);
    const emu_place to = place_at(answer);
    answer->time = clock + EMU_NOC_INTERFACE_CLOCKS +
                   (uint64_t)EMU_NOC_HOP_CLOCKS * emu_hops(packet->noc, &from, &to);
    answer->sender = dram->node;
    answer->sequence = dram->sequence++;
    append(&dram->outbox, answer);
    machine->has_sent[dram->node] = 1;
}

void emu_dram_receive(emu_machine *machine, emu_dram *dram, uint64_t end) {
    while (emu_queue_time(&dram->inbox) < end) {
        emu_packet *packet = pop(&dram->inbox);
        const uint64_t start = dram->busy > packet->time ? dram->busy : packet->time;
        dram->busy = start + 1 + packet->size / EMU_DRAM_BYTES_PER_CLOCK;
        if (packet->kind == EMU_PACKET_WRITE)
            memcpy(dram->bytes + packet->address, packet->data, packet->size);
        if (packet->kind == EMU_PACKET_READ || packet->wants_answer)
            dram_answer(machine, dram, packet, dram->busy + EMU_DRAM_LATENCY);
        free(packet);
    }
    emu_sleep_until(machine, dram->node, emu_queue_time(&dram->inbox));
}

/* ---- hand-over ---- */

static void hand_over(emu_machine *machine, emu_queue *outbox) {
    for (size_t i = 0; i < outbox->count; i++) {
        emu_packet *packet = outbox->packets[i];
        emu_tile *tile = emu_tile_of_node(machine, packet->receiver);
        push(tile != NULL ? &tile->inbox : &emu_dram_of_node(machine, packet->receiver)->inbox,
             packet);
        emu_wake_by(machine, packet->receiver, packet->time);
    }
    outbox->count = 0;
}

void emu_exchange(emu_machine *machine) {
    const uint8_t *flags = machine->has_sent;
    for (uint32_t node = emu_next_flag(machine, flags, 0); node < machine->node_count;
         node = emu_next_flag(machine, flags, node + 1)) {
        emu_tile *tile = emu_tile_of_node(machine, node);
        hand_over(machine, tile != NULL ? &tile->outbox : &emu_dram_of_node(machine, node)->outbox);
        machine->has_sent[node] = 0;
    }
}
