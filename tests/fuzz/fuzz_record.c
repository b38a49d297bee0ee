/*
 * The reader of recording files. The input is a file, or, since whole files are large, the words of
 * chunks: each piece of 512 bytes becomes a chunk of its own, of the lane its first byte says.
 */
#include <assert.h>
#include <stdlib.h>

#include "record/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct answering {
    sb_record_names *names;
    sb_wire_handler handler;
    unsigned depth;
} answering;

/* Asks about everything that has a token, as a reader would. */
static void take_event(void *context, const sb_wire_event *event) {
    answering *answering = context;
    if (event->token == 0 || answering->depth > 0)
        return;
    answering->depth++;
    for (unsigned kind = 0; kind < SB_WIRE_QUERY_KINDS; kind++) {
        const sb_wire_query query = {(sb_wire_query_kind)kind, event->token, 0};
        sb_record_answer(answering->names, &query, &answering->handler);
    }
    answering->depth--;
}

static void take_zones(void *context, uint32_t thread, const sb_wire_zone *zones, size_t count) {
    (void)context;
    (void)thread;
    (void)zones;
    assert(count <= SB_RECORD_BATCH);
}

static void replay(sb_slice bytes) {
    answering answering = {.names = sb_record_names_create()};
    sb_record_summary summary;
    sb_error error = {0};
    sb_wire_welcome welcome;
    answering.handler = (sb_wire_handler){&answering, take_zones, take_event};
    sb_record_file_welcome(bytes, &welcome, &error);
    sb_record_file_replay(bytes, answering.names, &answering.handler, &summary, &error);
    sb_record_names_free(answering.names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { PIECE = 512, PIECES_MAX = 6 };
    const size_t pieces = size / PIECE < PIECES_MAX ? size / PIECE + 1 : PIECES_MAX;
    char *file = calloc(1 + pieces, SB_CHUNK_SIZE);
    assert(file != NULL);
    sb_record_header *header = (void *)file;
    memcpy(header->magic, SB_RECORD_MAGIC, sizeof header->magic);
    header->chunk_size = SB_CHUNK_SIZE;
    header->version = SB_RECORD_FILE_VERSION;
    header->session = 1;
    for (size_t i = 0; i < pieces && i * PIECE < size; i++) {
        sb_chunk *chunk = (void *)(file + (1 + i) * SB_CHUNK_SIZE);
        const size_t left = size - i * PIECE;
        chunk->magic = SB_CHUNK_MAGIC;
        chunk->lane = data[i * PIECE] % 4;
        chunk->sequence = i;
        memcpy(chunk->words, data + i * PIECE, left < PIECE ? left : PIECE);
    }
    replay((sb_slice){file, (1 + pieces) * SB_CHUNK_SIZE});
    free(file);
    replay((sb_slice){(const char *)data, size});
    return 0;
}
