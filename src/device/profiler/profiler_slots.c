/*
 * Slots: where the data of each processor is on the device, and fetching it.
 *
 * A device's cores are spread over the DRAM banks, the same number in each. A core has a slot for
 * each of its processors, side by side; the control vector in its L1 says how far they are filled.
 */
#include <strobe/kernel_profiler.h>

#include "device/profiler/profiler.h"

/* Words for each program in a slot: the guaranteed ones, and four more for sums. */
#define PROGRAM_BYTES 48u
#define PROGRAM_SUM_BYTES 16u
#define CONTROL_WORDS 64u

static const struct {
    uint8_t x, y;
} bank_tiles[SB_DRAM_BANKS] = {{0, 11}, {0, 1}, {0, 5}, {0, 7}, {5, 1}, {5, 11},
                               {5, 2},  {5, 9}, {5, 8}, {5, 3}, {5, 5}, {5, 7}};

/* ---- places ---- */

uint32_t profiler_slot_bytes(const profiler_options *options) {
    return options->programs * (PROGRAM_BYTES + (options->adds_up ? PROGRAM_SUM_BYTES : 0));
}

uint32_t profiler_cores_per_bank(uint32_t cores) {
    return (cores + SB_DRAM_BANKS - 1) / SB_DRAM_BANKS;
}

/* Cores are numbered column by column, as their coordinates sort. */
static uint32_t flat_id(const sb_device *device, sb_core core) {
    return core.x * device->info.rows + core.y;
}

static uint32_t slot_bank(const profiler_device *self, sb_core core) {
    return flat_id(self->device, core) / self->cores_per_bank;
}

static uint32_t slot_address(const profiler_device *self, sb_core core, uint32_t processor) {
    const uint32_t number = flat_id(self->device, core) % self->cores_per_bank;
    return SB_DRAM_PROFILER + (number * SB_PROCESSORS + processor) * self->profiler->slot_bytes;
}

uint32_t device_profiler_dram_end(const device_profiler *profiler, const device_options *options) {
    if (profiler == NULL)
        return SB_DRAM_FREE;
    const uint32_t end =
        SB_DRAM_PROFILER + profiler_cores_per_bank(options->columns * options->rows) *
                               SB_PROCESSORS * profiler->slot_bytes;
    return end > SB_DRAM_FREE ? (end + 31) / 32 * 32 : SB_DRAM_FREE;
}

sb_status device_profiler_boot_core(sb_device *device, sb_core core, sb_profiler_mail *mail,
                                    sb_error *error) {
    uint32_t control[CONTROL_WORDS] = {0};
    const profiler_device *self = profiler_of(device);
    if (self == NULL)
        return SB_OK;
    const uint32_t bank = slot_bank(self, core);
    const uint32_t x = bank_tiles[bank].x;
    const uint32_t y = bank_tiles[bank].y;
    *mail = (sb_profiler_mail){
        .slot_address = slot_address(self, core, 0) + (bank & 1) * SB_DRAM_BANK_BYTES,
        .slot_tile = {y << 10 | x << 4, (11 - y) << 10 | (9 - x) << 4},
        .slot_bytes = self->profiler->slot_bytes,
        .identity = flat_id(device, core) << 5,
    };
    control[SB_PROFILER_DRAM] = SB_DRAM_PROFILER;
    control[SB_PROFILER_FLAT_ID] = flat_id(device, core);
    control[SB_PROFILER_CORES_PER_BANK] = self->cores_per_bank;
    control[SB_PROFILER_DONE] = 1;
    return sb_device_write_l1(device, core, SB_L1_PROFILER_CONTROL, control, sizeof control, error);
}

/* ---- reading ---- */

static sb_status read_control(const profiler_device *self, sb_core core, uint32_t first,
                              uint32_t *words, uint32_t count, sb_error *error) {
    return sb_device_read_l1(self->device, core, SB_L1_PROFILER_CONTROL + first * 4, words,
                             (size_t)count * 4, error);
}

static uint32_t mail_address(size_t offset) {
    return SB_L1_MAILBOX + (uint32_t)(offsetof(sb_mailbox, profiler) + offset);
}

/* Adds up what a core could not record since the host last asked. */
static sb_status read_losses(profiler_device *self, uint32_t core, sb_error *error) {
    static const uint32_t none[2 * SB_PROCESSORS];
    uint32_t lost[2 * SB_PROCESSORS];
    const sb_core place = profiler_core_at(self->device, core);
    const uint32_t address = mail_address(offsetof(sb_profiler_mail, refused));
    bool has_lost = false;
    SB_TRY(sb_device_read_l1(self->device, place, address, lost, sizeof lost, error));
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        self->lanes[core][i].counts.refused += lost[i];
        self->lanes[core][i].counts.dropped += lost[SB_PROCESSORS + i];
        has_lost |= lost[i] != 0 || lost[SB_PROCESSORS + i] != 0;
    }
    return has_lost ? sb_device_write_l1(self->device, place, address, none, sizeof none, error)
                    : SB_OK;
}

void profiler_decode(profiler_device *self, uint32_t core, uint32_t processor,
                     const uint32_t *words, size_t count, uint64_t now) {
    profiler_decoder *decoder = &self->profiler->decoder;
    profiler_lane *lane = &self->lanes[core][processor];
    profiler_block block;
    profiler_decoder_reset(decoder, words, count, now);
    while (profiler_decode_next(decoder, &block)) {
        /* Its place says whose it is; what it says itself can only agree. */
        if (block.processor != processor)
            decoder->strange++;
        block.processor = processor;
        lane->counts.markers += block.count;
        profiler_deliver(self, core, &block);
    }
    lane->counts.strange += decoder->strange;
    decoder->strange = 0;
}

/* Words of a processor, wherever they were read from. */
static void take_words(profiler_device *self, uint32_t core, uint32_t processor, size_t count,
                       uint64_t now) {
    device_profiler *profiler = self->profiler;
    if (profiler->options.mode == PROFILER_KEEP_NEWEST && !self->is_measuring)
        profiler_keep(self, core, processor, profiler->words, count, now);
    else
        profiler_decode(self, core, processor, profiler->words, count, now);
}

static sb_status fetch_slot(profiler_device *self, uint32_t core, uint32_t processor, uint32_t used,
                            uint64_t now, sb_error *error) {
    const sb_core place = profiler_core_at(self->device, core);
    const uint32_t most = self->profiler->slot_bytes / 4;
    if (used > most) {
        self->lanes[core][processor].counts.strange++;
        used = most;
    }
    SB_TRY(sb_device_read_dram(self->device, slot_bank(self, place),
                               slot_address(self, place, processor), self->profiler->words,
                               (size_t)used * 4, error));
    take_words(self, core, processor, used, now);
    return SB_OK;
}

static sb_status read_buffer(const profiler_device *self, sb_core place, uint32_t processor,
                             uint32_t words, sb_error *error) {
    return sb_device_read_l1(self->device, place,
                             SB_L1_PROFILER_BUFFERS + processor * SB_L1_PROFILER_BUFFER_BYTES,
                             self->profiler->words, (size_t)words * 4, error);
}

/* The next run of a processor begins at the beginning of its buffer, as firmware prepares it. */
static sb_status empty_buffer(const profiler_device *self, sb_core place, uint32_t processor,
                              sb_error *error) {
    static const uint32_t none;
    uint32_t head[SB_PROFILER_FIRST] = {0};
    for (uint32_t i = SB_PROFILER_MAIN_START; i < SB_PROFILER_FIRST; i += 2)
        head[i] = SB_MARKER_FILLER;
    SB_TRY(sb_device_write_l1(self->device, place,
                              SB_L1_PROFILER_BUFFERS + processor * SB_L1_PROFILER_BUFFER_BYTES,
                              head, sizeof head, error));
    SB_TRY(sb_device_write_l1(self->device, place,
                              mail_address(offsetof(sb_profiler_mail, base)) + processor * 4, &none,
                              4, error));
    return sb_device_write_l1(self->device, place,
                              SB_L1_PROFILER_CONTROL + (SB_PROFILER_USED + processor) * 4, &none, 4,
                              error);
}

/* Runs that share a buffer and were not pushed yet. */
static sb_status fetch_buffers(profiler_device *self, uint32_t core, uint64_t now,
                               sb_error *error) {
    uint32_t used[SB_PROCESSORS];
    const sb_core place = profiler_core_at(self->device, core);
    SB_TRY(read_control(self, place, SB_PROFILER_USED, used, SB_PROCESSORS, error));
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        if (used[i] == 0 || used[i] > SB_PROFILER_WORDS)
            continue;
        SB_TRY(read_buffer(self, place, i, used[i], error));
        take_words(self, core, i, used[i], now);
        SB_TRY(empty_buffer(self, place, i, error));
    }
    return SB_OK;
}

static sb_status fetch_core(profiler_device *self, uint32_t core, sb_error *error) {
    static const uint32_t none[SB_PROCESSORS];
    uint32_t used[SB_PROCESSORS];
    uint64_t now = 0;
    const sb_core place = profiler_core_at(self->device, core);
    SB_TRY(read_control(self, place, SB_PROFILER_SLOT_USED, used, SB_PROCESSORS, error));
    SB_TRY(profiler_clock_read(self->device, place, &now, error));
    bool is_empty = true;
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        if (used[i] == 0)
            continue;
        is_empty = false;
        SB_TRY(fetch_slot(self, core, i, used[i], now, error));
    }
    if (self->profiler->options.accumulates && self->device->mesh->failed == SB_OK)
        SB_TRY(fetch_buffers(self, core, now, error));
    SB_TRY(read_losses(self, core, error));
    return is_empty ? SB_OK
                    : sb_device_write_l1(self->device, place, SB_L1_PROFILER_CONTROL, none,
                                         sizeof none, error);
}

static uint32_t core_count(const sb_device *device) {
    return device->info.columns * device->info.rows;
}

sb_status profiler_fetch(profiler_device *self, sb_error *error) {
    for (uint32_t core = 0; core < core_count(self->device); core++) {
        SB_TRY(fetch_core(self, core, error));
        profiler_delivered(self, core);
    }
    const profiler_options *options = &self->profiler->options;
    profiler_clock_forget(&self->clock,
                          options->mode == PROFILER_KEEP_NEWEST ? options->programs : 0);
    self->fetched_ns = sb_clock_ns();
    return SB_OK;
}

/* ---- in time ---- */

/* The fullest slot says how many programs certainly fit, if each fills its buffer once. */
sb_status profiler_look(profiler_device *self, sb_error *error) {
    const uint32_t words = self->profiler->slot_bytes / 4;
    uint32_t most = 0;
    for (uint32_t core = 0; core < core_count(self->device); core++) {
        uint32_t used[SB_PROCESSORS];
        SB_TRY(read_control(self, profiler_core_at(self->device, core), SB_PROFILER_SLOT_USED, used,
                            SB_PROCESSORS, error));
        for (uint32_t i = 0; i < SB_PROCESSORS; i++)
            most = used[i] > most ? used[i] : most;
    }
    self->launches_until_look = most < words ? (words - most) / SB_PROFILER_WORDS : 0;
    return SB_OK;
}

static sb_status serve(profiler_device *self, uint32_t core, uint32_t processor, uint32_t request,
                       sb_error *error) {
    static const uint32_t none;
    const sb_core place = profiler_core_at(self->device, core);
    const bool is_slot = request == SB_PROFILER_SLOT_FULL;
    const uint32_t word = is_slot ? SB_PROFILER_SLOT_USED : SB_PROFILER_USED;
    uint32_t used = 0;
    uint64_t now = 0;
    SB_TRY(read_control(self, place, word + processor, &used, 1, error));
    SB_TRY(profiler_clock_read(self->device, place, &now, error));
    if (is_slot) {
        SB_TRY(fetch_slot(self, core, processor, used, now, error));
        return sb_device_write_l1(self->device, place,
                                  SB_L1_PROFILER_CONTROL + (word + processor) * 4, &none, 4, error);
    }
    /* What is older is in the slot, and comes first. */
    uint32_t older = 0;
    SB_TRY(read_control(self, place, SB_PROFILER_SLOT_USED + processor, &older, 1, error));
    if (older > 0)
        SB_TRY(serve(self, core, processor, SB_PROFILER_SLOT_FULL, error));
    used = used > SB_PROFILER_WORDS ? SB_PROFILER_WORDS : used;
    SB_TRY(read_buffer(self, place, processor, used, error));
    take_words(self, core, processor, used, now);
    return SB_OK;
}

sb_status profiler_serve_core(profiler_device *self, uint32_t core, bool *has_served,
                              sb_error *error) {
    static const uint32_t none;
    uint32_t requests[SB_PROCESSORS];
    const sb_core place = profiler_core_at(self->device, core);
    const uint32_t address = mail_address(offsetof(sb_profiler_mail, request));
    SB_TRY(sb_device_read_l1(self->device, place, address, requests, sizeof requests, error));
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        if (requests[i] == 0)
            continue;
        SB_TRY(serve(self, core, i, requests[i], error));
        SB_TRY(sb_device_write_l1(self->device, place, address + i * 4, &none, 4, error));
        *has_served = true;
    }
    return SB_OK;
}

/* ---- after a stop ---- */

static uint64_t marker_time(const uint32_t *words) {
    return (uint64_t)(words[0] & 0xFFF) << 32 | words[1];
}

/*
 * How far a buffer holds markers of the run that has not ended. Only the kernel knows where it is,
 * but what lies behind is of earlier runs, and older than this one's start.
 */
static uint32_t salvaged_words(const uint32_t *words, uint32_t room) {
    if (room < SB_PROFILER_FIRST || words[SB_PROFILER_MAIN_START] == SB_MARKER_FILLER)
        return 0;
    uint64_t time = marker_time(words + SB_PROFILER_MAIN_START);
    uint32_t at = SB_PROFILER_FIRST;
    while (at + 1 < room && (words[at] & SB_MARKER_VALID) != 0 && words[at] != SB_MARKER_FILLER &&
           marker_time(words + at) >= time) {
        const bool has_value = (words[at] >> SB_MARKER_TYPE_SHIFT & 7) == PROFILER_DATA;
        time = marker_time(words + at);
        at += has_value ? 4 : 2;
    }
    return at < room ? at : room;
}

static sb_status salvage_core(profiler_device *self, uint32_t core, sb_error *error) {
    const sb_core place = profiler_core_at(self->device, core);
    uint32_t bases[SB_PROCESSORS];
    uint64_t now = 0;
    SB_TRY(profiler_clock_read(self->device, place, &now, error));
    SB_TRY(sb_device_read_l1(self->device, place, mail_address(offsetof(sb_profiler_mail, base)),
                             bases, sizeof bases, error));
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        const uint32_t base = bases[i] < SB_PROFILER_WORDS ? bases[i] : 0;
        SB_TRY(read_buffer(self, place, i, SB_PROFILER_WORDS, error));
        /* Runs before this one are complete. */
        const uint32_t count =
            base + salvaged_words(self->profiler->words + base, SB_PROFILER_WORDS - base);
        if (count > 0)
            take_words(self, core, i, count, now);
    }
    return SB_OK;
}

/* What is in the slots is older, and comes first. */
sb_status profiler_salvage(profiler_device *self, sb_error *error) {
    for (uint32_t core = 0; core < core_count(self->device); core++) {
        SB_TRY(fetch_core(self, core, error));
        SB_TRY(salvage_core(self, core, error));
        profiler_delivered(self, core);
    }
    return SB_OK;
}
