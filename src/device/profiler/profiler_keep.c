/*
 * The newest runs of each processor, as raw words, for mode keep newest: a flight recorder whose
 * memory is bounded however long the run is. What is forgotten is counted exactly.
 */
#include <stdlib.h>
#include <string.h>

#include <strobe/kernel_profiler.h>

#include "device/profiler/profiler.h"

/* One block as it was read. */
typedef struct kept_block {
    uint32_t *words;
    size_t count;
    uint64_t now;
    uint64_t markers;
    bool begins; /* the first block of its run */
} kept_block;

static kept_block *kept_at(const profiler_lane *lane, size_t index) {
    return sb_vector_at(&lane->kept, index);
}

/* The firmware's start is in the first block of a run and in no other. */
static bool begins_run(const uint32_t *words, size_t count) {
    return count > SB_PROFILER_MAIN_START && words[SB_PROFILER_MAIN_START] != SB_MARKER_FILLER;
}

static void add_block(profiler_lane *lane, const uint32_t *words, size_t count, uint64_t markers,
                      uint64_t now) {
    kept_block *kept = sb_vector_push(&lane->kept);
    *kept = (kept_block){.words = sb_alloc(count * sizeof *words),
                         .count = count,
                         .now = now,
                         .markers = markers,
                         .begins = begins_run(words, count)};
    memcpy(kept->words, words, count * sizeof *words);
    lane->kept_runs += kept->begins ? 1 : 0;
}

/* Forgets one run: its first block and those that follow up to the next one's. */
static void forget_oldest(profiler_lane *lane) {
    do {
        kept_block *kept = kept_at(lane, lane->kept_first++);
        lane->counts.overwritten += kept->markers;
        lane->kept_runs -= kept->begins ? 1 : 0;
        free(kept->words);
        kept->words = NULL;
    } while (lane->kept_first < lane->kept.count && !kept_at(lane, lane->kept_first)->begins);
    /* Moved rarely, so that it costs little for each. */
    if (lane->kept_first * 2 < lane->kept.count)
        return;
    const size_t left = lane->kept.count - lane->kept_first;
    memmove(lane->kept.data, lane->kept.data + lane->kept_first * sizeof(kept_block),
            left * sizeof(kept_block));
    lane->kept.count = left;
    lane->kept_first = 0;
}

void profiler_keep(profiler_device *self, uint32_t core, uint32_t processor, const uint32_t *words,
                   size_t count, uint64_t now) {
    profiler_lane *lane = &self->lanes[core][processor];
    profiler_decoder *decoder = &self->profiler->decoder;
    profiler_block block;
    profiler_decoder_reset(decoder, words, count, now);
    if (lane->kept.element_size == 0)
        lane->kept = sb_vector_of(sizeof(kept_block));
    for (size_t begin = 0; profiler_decode_next(decoder, &block);) {
        const size_t end = decoder->at;
        add_block(lane, words + begin, end - begin, block.count, now);
        begin = end;
        while (lane->kept_runs > self->profiler->options.programs)
            forget_oldest(lane);
    }
    lane->counts.strange += decoder->strange;
    decoder->strange = 0;
}

static uint32_t core_count(const profiler_device *self) {
    return self->device->info.columns * self->device->info.rows;
}

static void deliver_lane(profiler_device *self, uint32_t core, uint32_t processor) {
    profiler_lane *lane = &self->lanes[core][processor];
    for (size_t i = lane->kept_first; i < lane->kept.count; i++) {
        kept_block *kept = kept_at(lane, i);
        profiler_decode(self, core, processor, kept->words, kept->count, kept->now);
        free(kept->words);
    }
    lane->kept.count = 0;
    lane->kept_first = 0;
    lane->kept_runs = 0;
}

void profiler_deliver_kept(profiler_device *self) {
    for (uint32_t core = 0; core < core_count(self); core++) {
        for (uint32_t i = 0; i < SB_PROCESSORS; i++)
            deliver_lane(self, core, i);
        profiler_delivered(self, core);
    }
}

void profiler_free_kept(profiler_device *self) {
    for (uint32_t core = 0; core < core_count(self); core++)
        for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
            profiler_lane *lane = &self->lanes[core][i];
            for (size_t k = lane->kept_first; k < lane->kept.count; k++)
                free(kept_at(lane, k)->words);
            sb_vector_free(&lane->kept);
        }
}
