/*
 * Chunks: where records stand, in memory and in a recording file alike.
 */
#ifndef SB_RECORD_CHUNK_H
#define SB_RECORD_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SB_CHUNK_SIZE = 65536,
    SB_CHUNK_HEAD_SIZE = 64,
    SB_CHUNK_WORDS = (SB_CHUNK_SIZE - SB_CHUNK_HEAD_SIZE) / 8,
    SB_CHUNK_MAGIC = 0x4b484353, /* "SCHK" */
    /* A longer payload is written as SB_RECORD_PARTs and a rest. */
    SB_RECORD_PAYLOAD_MAX = 16384,
};

/* The head of a chunk. Fields are written once, before its first record, except where said. */
typedef struct sb_chunk {
    uint32_t magic;
    uint32_t lane;
    uint64_t sequence; /* of the lane's chunks, from 0 */
    int64_t ticks;     /* when it was begun, all 64 bits */
    /* When a chunk of a file is full: its words, and a checksum over head and words. 0 before. */
    uint64_t sealed_words;
    uint64_t checksum;
    struct sb_chunk *next; /* the lane's next chunk; has a meaning in its process only */
    uint64_t reserved[2];
    uint64_t words[SB_CHUNK_WORDS];
} sb_chunk;

_Static_assert(sizeof(sb_chunk) == SB_CHUNK_SIZE, "a chunk fills its size");
_Static_assert(offsetof(sb_chunk, words) == SB_CHUNK_HEAD_SIZE, "the head has its size");

/* Over the head's first three fields, the words' count and the words. */
uint64_t sb_chunk_checksum(const sb_chunk *chunk, uint64_t words);

/* A place in a lane that only grows: words since its beginning. */
static inline uint64_t sb_chunk_position(const sb_chunk *chunk, const uint64_t *at) {
    return chunk->sequence * SB_CHUNK_WORDS + (uint64_t)(at - chunk->words);
}

/* Word 0 of a record. */
static inline uint64_t sb_record_stamp(int64_t ticks, uint32_t kind) {
    return (uint64_t)ticks << 8 | kind;
}

#endif
