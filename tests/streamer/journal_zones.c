/*
 * Counts the zones that begin and end in the whole blocks of a journal, and checks that they follow
 * each other as streamer sends them: without the code that makes traces. Prints "BEGUN ENDED".
 */
#include <inttypes.h>
#include <stdio.h>

#include "wire/wire.h"

typedef struct counts {
    uint64_t begun;
    uint64_t ended;
    int64_t last_time;
    bool is_ordered;
} counts;

static void count_zones(void *context, uint32_t thread, const sb_wire_zone *zones, size_t count) {
    counts *of = context;
    (void)thread;
    for (size_t i = 0; i < count; i++) {
        of->is_ordered = of->is_ordered && zones[i].time > of->last_time;
        of->last_time = zones[i].time;
        if (zones[i].token == SB_WIRE_END_ZONE)
            of->ended++;
        else
            of->begun++;
    }
}

static void ignore_event(void *context, const sb_wire_event *event) {
    (void)context;
    (void)event;
}

static bool count_block(sb_wire_unpacker *unpacker, sb_wire_decoder *decoder, sb_slice frames) {
    while (frames.size > 0) {
        sb_slice frame = {0};
        const size_t size = sb_wire_block_size((const uint8_t *)frames.data);
        if (sb_wire_unpack(unpacker, sb_slice_first(sb_slice_after(frames, 4), size), &frame,
                           NULL) != SB_OK ||
            sb_wire_decode(decoder, frame, NULL) != SB_OK)
            return false;
        frames = sb_slice_after(frames, 4 + size);
    }
    return true;
}

int main(int argc, char **argv) {
    sb_file file;
    sb_error error = {0};
    sb_journal_reader reader;
    sb_journal_block block;
    sb_journal_start start;
    counts all = {.is_ordered = true};
    const sb_wire_handler handler = {&all, count_zones, ignore_event};
    if (argc != 2 || sb_file_open(&file, argv[1], &error) != SB_OK ||
        sb_journal_open(&reader, file.text, &error) != SB_OK ||
        !sb_journal_next(&reader, &block, &error) ||
        sb_journal_decode_start(block.content, &start, &error) != SB_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    sb_wire_unpacker *unpacker = sb_wire_unpacker_create();
    sb_wire_decoder *decoder = sb_wire_decoder_create(
        sb_wire_protocol_find(start.protocol, start.flavour), start.is_certain, &handler);
    while (sb_journal_next(&reader, &block, &error)) {
        if (block.kind == SB_JOURNAL_FRAMES && !count_block(unpacker, decoder, block.content))
            break;
    }
    printf("%" PRIu64 " %" PRIu64 "\n", all.begun, all.ended);
    sb_wire_decoder_free(decoder);
    sb_wire_unpacker_free(unpacker);
    sb_file_close(&file);
    return all.is_ordered ? 0 : 3;
}
