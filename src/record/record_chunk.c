#include "record/record_chunk.h"

static inline uint64_t rotate(uint64_t word) {
    return word << 31 | word >> 33;
}

/*
 * Four sums over interleaved words, each multiplied by an odd number and rotated per step: a
 * changed, missing or moved word changes the result, and it runs at the speed of memory without any
 * library.
 */
uint64_t sb_chunk_checksum(const sb_chunk *chunk, uint64_t words) {
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t sums[4] = {chunk->magic | (uint64_t)chunk->lane << 32, chunk->sequence,
                        (uint64_t)chunk->ticks, words};
    if (words > SB_CHUNK_WORDS)
        words = SB_CHUNK_WORDS;
    for (uint64_t i = 0; i < words; i++)
        sums[i % 4] = rotate((sums[i % 4] ^ chunk->words[i]) * factor);
    uint64_t sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        sum = (sum ^ sums[i]) * factor;
        sum ^= sum >> 29;
    }
    return sum | 1; /* 0 is a chunk that is not sealed */
}
