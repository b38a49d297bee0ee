/*
 * NoC commands: what a command buffer says is taken apart and checked; in count mode it is then
 * done at once, in modelled time it becomes packets (emu_packet.c).
 */
#include <string.h>

#include "device/emu/emu_machine.h"

#define CONTROL_ATOMIC (1u << 0)
#define CONTROL_WRITE (1u << 1)
#define CONTROL_BYTE_ENABLES (1u << 2)
#define CONTROL_INLINE (1u << 3)
#define CONTROL_RESPONSE (1u << 4)
#define CONTROL_MULTICAST (1u << 5)
#define CONTROL_PATH_RESERVE (1u << 8)
#define CONTROL_INCLUDE_SOURCE (1u << 17)
/* What exists: the above, linked, static virtual channel and the channel's number. */
#define CONTROL_KNOWN 0x2E1FBu

/* The one thing that a packet's tag says. */
#define TAG_TRANSACTION(tag) ((tag) >> 10 & 0xF)

#define ATOMIC_INCREMENT 0x107Cu /* increment and get, wrapping at 32 bits */
#define SOFT_RESET_ADDRESS 0xFFB121B0u

/* Who sends, for messages. */
typedef struct sender {
    emu_tile *tile;
    emu_hart *hart;
    uint32_t noc;
    uint64_t clock;
} sender;

#define REFUSE(from, ...) \
    return emu_fail((from)->tile, (from)->hart, (from)->clock, "NoC: " __VA_ARGS__)

/* ---- ends of a transfer ---- */

typedef struct address {
    uint64_t offset;
    emu_place place;
    uint32_t x, y; /* as written */
} address;

static address take_apart(const sender *from, uint32_t low, uint32_t high) {
    address end = {
        .offset = (uint64_t)(high & 0xF) << 32 | low, .x = high >> 4 & 63, .y = high >> 10 & 63};
    end.place = emu_find(from->tile->machine, from->tile->chip, from->noc, end.x, end.y);
    return end;
}

static bool is_own_tile(const sender *from, const address *end) {
    return end->place.kind == EMU_TILE && end->place.index == from->tile->index;
}

static bool check_local(const sender *from, const address *end, uint32_t size) {
    if (!is_own_tile(from, end))
        REFUSE(from, "the local end of a transfer is at (%u, %u), which is not this tile", end->x,
               end->y);
    if (end->offset >= EMU_L1_SIZE || size > EMU_L1_SIZE - end->offset)
        REFUSE(from, "%u bytes at local address 0x%llx do not lie in L1", size,
               (unsigned long long)end->offset);
    return true;
}

/* With the watcher on, what firmware and mailboxes occupy may not be written. */
static bool check_reserved(const sender *from, const address *end) {
    const emu_options *options = &from->tile->machine->options;
    if (options->checks_reserved && end->offset < options->reserved_end)
        REFUSE(from, "watcher: write to 0x%llx of (%u, %u); below 0x%x L1 is reserved",
               (unsigned long long)end->offset, end->x, end->y, options->reserved_end);
    return true;
}

static uint64_t link_offset(const address *end) {
    return end->offset & 0xFFFFFF;
}

static bool check_remote(const sender *from, const address *end, uint32_t size, bool is_write) {
    switch (end->place.kind) {
    case EMU_TILE:
        if (end->offset >= EMU_L1_SIZE || size > EMU_L1_SIZE - end->offset)
            REFUSE(from, "%u bytes at 0x%llx of tile (%u, %u) do not lie in its L1", size,
                   (unsigned long long)end->offset, end->x, end->y);
        return !is_write || check_reserved(from, end);
    case EMU_DRAM:
        if (end->offset >= EMU_DRAM_CHANNEL_BYTES || size > EMU_DRAM_CHANNEL_BYTES - end->offset)
            REFUSE(from, "%u bytes at 0x%llx of DRAM (%u, %u) do not lie in its channel", size,
                   (unsigned long long)end->offset, end->x, end->y);
        return true;
    case EMU_LINK: {
        const emu_place behind =
            emu_find(from->tile->machine, end->place.index, 0, (uint32_t)(end->offset >> 24) & 63,
                     (uint32_t)(end->offset >> 30) & 63);
        if (!is_write)
            REFUSE(from, "nothing can be read through the link to another chip");
        if (behind.kind != EMU_TILE || link_offset(end) + size > EMU_L1_SIZE)
            REFUSE(from, "address 0x%llx leads through the link to no tile's L1",
                   (unsigned long long)end->offset);
        return true;
    }
    case EMU_NOWHERE:
    default:
        REFUSE(from, "there is no tile at (%u, %u)", end->x, end->y);
    }
}

static bool check_alignment(const sender *from, uint64_t a, uint64_t b, uint32_t modulus) {
    if ((a & (modulus - 1)) != (b & (modulus - 1)))
        REFUSE(from, "addresses 0x%llx and 0x%llx differ modulo %u", (unsigned long long)a,
               (unsigned long long)b, modulus);
    return true;
}

static bool check_size(const sender *from, uint32_t size) {
    if (size == 0 || size > EMU_PACKET_MAX)
        REFUSE(from, "a transfer of %u bytes; a packet holds 1 to %u", size, EMU_PACKET_MAX);
    return true;
}

/* ---- commands ---- */

static bool parse_write(const sender *from, const emu_command *command, const address *target,
                        const address *back, emu_transfer *transfer) {
    transfer->kind = EMU_PACKET_WRITE;
    transfer->size = command->length;
    transfer->local_address = (uint32_t)target->offset;
    transfer->address = back->offset;
    transfer->place = back->place;
    return check_size(from, command->length) && check_local(from, target, command->length) &&
           check_remote(from, back, command->length, true) &&
           check_alignment(from, target->offset, back->offset, 16);
}

/* The byte mask must select one aligned word, the one that the address names. */
static bool is_word_mask(uint32_t mask, uint64_t offset) {
    return mask == 0xFu << (offset & 15) || mask == 0xFu << ((offset & 15) + 16);
}

static bool parse_inline(const sender *from, const emu_command *command, const address *target,
                         emu_transfer *transfer) {
    transfer->kind = EMU_PACKET_WRITE;
    transfer->is_inline = true;
    transfer->size = 4;
    transfer->data = command->data;
    transfer->address = target->offset;
    transfer->place = target->place;
    if (target->place.kind == EMU_TILE && target->offset == SOFT_RESET_ADDRESS) {
        transfer->is_register = true;
        return true;
    }
    if (target->place.kind == EMU_DRAM)
        REFUSE(from, "inline write to DRAM (%u, %u)", target->x, target->y);
    if ((target->offset & 3) != 0 || !is_word_mask(command->length, target->offset))
        REFUSE(from, "inline write to 0x%llx with byte mask 0x%x",
               (unsigned long long)target->offset, command->length);
    return check_remote(from, target, 4, true);
}

static bool parse_read(const sender *from, const emu_command *command, const address *target,
                       const address *back, emu_transfer *transfer) {
    transfer->kind = EMU_PACKET_READ;
    transfer->size = command->length;
    transfer->local_address = (uint32_t)back->offset;
    transfer->address = target->offset;
    transfer->place = target->place;
    if (transfer->is_posted)
        REFUSE(from, "a read that wants no response");
    return check_size(from, command->length) && check_local(from, back, command->length) &&
           check_remote(from, target, command->length, false) &&
           check_alignment(from, target->offset, back->offset,
                           target->place.kind == EMU_DRAM ? 32 : 16);
}

static bool parse_atomic(const sender *from, const emu_command *command, const address *target,
                         const address *back, emu_transfer *transfer) {
    transfer->kind = EMU_PACKET_ATOMIC;
    transfer->size = 4;
    transfer->data = command->data;
    transfer->local_address = (uint32_t)back->offset;
    transfer->address = target->offset;
    transfer->place = target->place;
    if (command->length != ATOMIC_INCREMENT)
        REFUSE(from, "atomic operation 0x%x; only increment (0x%x) is there", command->length,
               ATOMIC_INCREMENT);
    if ((target->offset & 15) != 0 || (back->offset & 3) != 0)
        REFUSE(from, "misaligned atomic, 0x%llx with result at 0x%llx",
               (unsigned long long)target->offset, (unsigned long long)back->offset);
    if (target->place.kind == EMU_DRAM)
        REFUSE(from, "atomic on DRAM (%u, %u)", target->x, target->y);
    return check_local(from, back, 4) && check_remote(from, target, 4, true);
}

/* ---- doing it at once ---- */

static void write_tile(const sender *from, emu_tile *tile, uint32_t offset, const void *data,
                       uint32_t size) {
    memmove(tile->l1 + offset, data, size);
    emu_written(tile, offset, size, from->clock, emu_actor_of(from->tile, from->hart));
}

static void do_write(const sender *from, const emu_transfer *transfer) {
    const void *data = transfer->is_inline
                           ? (const void *)&transfer->data
                           : (const void *)(from->tile->l1 + transfer->local_address);
    const emu_actor actor = emu_actor_of(from->tile, from->hart);
    if (transfer->place.kind == EMU_DRAM) {
        uint8_t *bytes =
            from->tile->machine->chips[from->tile->chip].dram[transfer->place.index].bytes;
        memcpy(bytes + transfer->address, data, transfer->size);
    } else {
        uint32_t offset = 0;
        emu_tile *tile = emu_receiver(from->tile, transfer, &offset);
        if (transfer->is_register)
            emu_register_write_outside(tile, offset, transfer->data, from->clock + 1);
        else
            write_tile(from, tile, offset, data, transfer->size);
    }
    if (!transfer->is_posted)
        emu_count(from->tile, transfer->noc, EMU_WRITE_ACKS, from->clock, actor);
}

static void do_read(const sender *from, const emu_transfer *transfer) {
    emu_machine *machine = from->tile->machine;
    const uint8_t *source = transfer->place.kind == EMU_DRAM
                                ? machine->chips[from->tile->chip].dram[transfer->place.index].bytes
                                : emu_tile_at(machine, from->tile->chip, transfer->place.index)->l1;
    write_tile(from, from->tile, transfer->local_address, source + transfer->address,
               transfer->size);
    emu_count(from->tile, transfer->noc, EMU_READ_RESPONSES, from->clock,
              emu_actor_of(from->tile, from->hart));
}

static void do_atomic(const sender *from, const emu_transfer *transfer) {
    uint32_t offset = 0;
    uint32_t old = 0;
    emu_tile *tile = emu_receiver(from->tile, transfer, &offset);
    memcpy(&old, tile->l1 + offset, 4);
    const uint32_t sum = old + transfer->data;
    write_tile(from, tile, offset, &sum, 4);
    write_tile(from, from->tile, transfer->local_address, &old, 4);
    emu_count(from->tile, transfer->noc,
              transfer->is_posted ? EMU_POSTED_ATOMICS : EMU_ATOMIC_RESPONSES, from->clock,
              emu_actor_of(from->tile, from->hart));
}

static bool is_modelled(const sender *from) {
    return from->tile->machine->options.time == EMU_MODELLED;
}

/* The data left the tile at clock: its source may be written again. */
static void count_sent(const sender *from, const emu_transfer *transfer, uint64_t clock) {
    const emu_counter counter = transfer->is_posted ? EMU_POSTED_SENT : EMU_WRITES_SENT;
    if (is_modelled(from))
        emu_packet_count(from->tile, transfer->noc, counter, clock);
    else
        emu_count(from->tile, transfer->noc, counter, clock, emu_actor_of(from->tile, from->hart));
}

/*
 * One transfer to one receiver. A multicast is several of them that were sent once. Returns when
 * the data has left.
 */
static uint64_t carry_out(const sender *from, const emu_transfer *transfer) {
    if (is_modelled(from))
        return emu_packet_send(from->tile, transfer, from->clock);
    if (transfer->kind == EMU_PACKET_WRITE)
        do_write(from, transfer);
    else if (transfer->kind == EMU_PACKET_READ)
        do_read(from, transfer);
    else
        do_atomic(from, transfer);
    return from->clock;
}

/* ---- multicast ---- */

typedef struct span {
    uint32_t first_x, first_y, last_x, last_y; /* on NoC 0 */
} span;

static bool parse_span(const sender *from, const emu_command *command, span *tiles) {
    const address end = take_apart(from, 0, command->return_high);
    const address start = take_apart(from, 0, command->return_high >> 12 & ~0xFu);
    if (end.place.kind != EMU_TILE || start.place.kind != EMU_TILE)
        REFUSE(from, "multicast from (%u, %u) to (%u, %u), which are not both tiles", start.x,
               start.y, end.x, end.y);
    const emu_place *first = from->noc == 0 ? &start.place : &end.place;
    const emu_place *last = from->noc == 0 ? &end.place : &start.place;
    if (first->x > last->x || first->y > last->y)
        REFUSE(from, "multicast from (%u, %u) to (%u, %u) goes against the direction of NoC %u",
               start.x, start.y, end.x, end.y, from->noc);
    *tiles = (span){first->x, first->y, last->x, last->y};
    return true;
}

static bool is_in_span(const span *tiles, const emu_place *place) {
    return place->x >= tiles->first_x && place->x <= tiles->last_x && place->y >= tiles->first_y &&
           place->y <= tiles->last_y;
}

static bool send_multicast(const sender *from, const emu_command *command, emu_transfer *transfer) {
    const emu_machine *machine = from->tile->machine;
    const address source = take_apart(from, command->target_low, command->target_high);
    const uint32_t offset = command->return_low;
    span tiles = {0};
    transfer->kind = EMU_PACKET_WRITE;
    transfer->size = command->length;
    transfer->local_address = (uint32_t)source.offset;
    transfer->address = offset;
    if (!check_size(from, command->length) || !check_local(from, &source, command->length) ||
        !parse_span(from, command, &tiles) || !check_alignment(from, source.offset, offset, 16))
        return false;
    if (offset >= EMU_L1_SIZE || command->length > EMU_L1_SIZE - offset)
        REFUSE(from, "multicast of %u bytes to 0x%x, not in L1", command->length, offset);
    uint64_t *out_busy = &from->tile->nocs[from->noc].out_busy;
    const uint64_t was_busy = *out_busy;
    uint64_t sent = from->clock;
    for (uint32_t index = 0; index < machine->tile_count; index++) {
        transfer->place = emu_place_of_tile(machine, index);
        const bool is_self = index == from->tile->index;
        if (is_in_span(&tiles, &transfer->place) &&
            (!is_self || (command->control & CONTROL_INCLUDE_SOURCE) != 0)) {
            /* The routers make the copies: the packet leaves the tile once. */
            *out_busy = was_busy;
            sent = carry_out(from, transfer);
        }
    }
    count_sent(from, transfer, sent);
    return true;
}

/* ---- entry ---- */

static bool check_control(const sender *from, uint32_t control) {
    if ((control & ~CONTROL_KNOWN) != 0)
        REFUSE(from, "control word 0x%x has bits that are not there", control);
    const bool is_multicast = (control & CONTROL_MULTICAST) != 0;
    const bool is_plain_write =
        (control & (CONTROL_WRITE | CONTROL_ATOMIC | CONTROL_INLINE)) == CONTROL_WRITE;
    if (is_multicast && (!is_plain_write || (control & CONTROL_PATH_RESERVE) == 0))
        REFUSE(from, "control word 0x%x: only plain writes with a reserved path are multicast",
               control);
    if (!is_multicast && (control & (CONTROL_PATH_RESERVE | CONTROL_INCLUDE_SOURCE)) != 0)
        REFUSE(from, "control word 0x%x has bits of a multicast without being one", control);
    if ((control & CONTROL_ATOMIC) != 0 && (control & CONTROL_WRITE) != 0)
        REFUSE(from, "control word 0x%x is a write and an atomic", control);
    return true;
}

static uint64_t injected_delay(const sender *from, bool is_write) {
    const emu_delays *delays = &from->tile->machine->options.delays;
    const uint8_t harts =
        is_write ? delays->write_harts[from->tile->index] : delays->read_harts[from->tile->index];
    return (harts >> from->hart->number & 1) != 0 ? delays->clocks : 0;
}

static bool send_unicast(const sender *from, const emu_command *command, emu_transfer *transfer) {
    const address target = take_apart(from, command->target_low, command->target_high);
    const address back = take_apart(from, command->return_low, command->return_high);
    bool is_sound = false;
    if ((command->control & CONTROL_ATOMIC) != 0)
        is_sound = parse_atomic(from, command, &target, &back, transfer);
    else if ((command->control & CONTROL_INLINE) != 0)
        is_sound = parse_inline(from, command, &target, transfer);
    else if ((command->control & CONTROL_WRITE) != 0)
        is_sound = parse_write(from, command, &target, &back, transfer);
    else
        is_sound = parse_read(from, command, &target, &back, transfer);
    if (!is_sound)
        return false;
    const uint64_t sent = carry_out(from, transfer);
    if (transfer->kind == EMU_PACKET_WRITE)
        count_sent(from, transfer, sent);
    return true;
}

bool emu_noc_send(emu_tile *tile, emu_hart *hart, uint32_t noc, uint32_t buffer, uint64_t clock) {
    const emu_command *command = &tile->nocs[noc].commands[buffer];
    const bool is_write = (command->control & CONTROL_WRITE) != 0;
    sender from = {.tile = tile, .hart = hart, .noc = noc, .clock = clock};
    if (!check_control(&from, command->control))
        return false;
    hart->stall = injected_delay(&from, is_write);
    from.clock += is_modelled(&from) ? hart->stall : 0;
    emu_transfer transfer = {.noc = noc,
                             .is_posted = (command->control & CONTROL_RESPONSE) == 0,
                             .transaction = (uint8_t)TAG_TRANSACTION(command->tag)};
    if ((command->control & CONTROL_MULTICAST) != 0)
        return send_multicast(&from, command, &transfer);
    return send_unicast(&from, command, &transfer);
}
