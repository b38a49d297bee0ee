#include "record/record_file.h"

#include <stdlib.h>

#include "record/record_kinds.h"

_Static_assert(sizeof(sb_record_header) <= SB_CHUNK_SIZE, "the header fits before the chunks");

/* Lanes that wait for each other in a row; more are found in made-up files only. */
enum { WAITING_LANES_MAX = 64 };

/* A lane of the file: its chunks are a run of the sorted list. */
typedef struct file_lane {
    uint32_t id;
    size_t next; /* in the list: the chunk that is being read */
    size_t end;
    const uint64_t *at; /* NULL: at the beginning of the chunk */
    bool is_busy;       /* further down on the stack; a file that asks for this is malformed */
    sb_record_lane state;
} file_lane;

typedef struct replay {
    const sb_chunk **chunks;
    size_t chunk_count;
    file_lane *lanes;
    size_t lane_count;
    sb_record_translator translator;
    sb_record_summary *summary;
    int64_t last_ticks;
    unsigned depth; /* of lanes that wait for each other */
} replay;

bool sb_record_file_is_one(sb_slice bytes) {
    return sb_slice_starts_with(bytes, SB_RECORD_MAGIC);
}

static sb_status read_header(sb_slice bytes, sb_record_header *header, sb_error *error) {
    if (!sb_record_file_is_one(bytes))
        SB_FAIL(error, SB_ERR_FORMAT, "not a recording: it does not begin with %s",
                SB_RECORD_MAGIC);
    *header = (sb_record_header){0};
    memcpy(header, bytes.data, bytes.size < sizeof *header ? bytes.size : sizeof *header);
    if (bytes.size < SB_CHUNK_SIZE)
        SB_FAIL(error, SB_ERR_FORMAT, "the recording ends in its header, at byte %zu", bytes.size);
    if (header->version > SB_RECORD_FILE_VERSION)
        SB_FAIL(error, SB_ERR_FORMAT, "the recording has version %u; this program reads up to %d",
                header->version, SB_RECORD_FILE_VERSION);
    if (header->chunk_size != SB_CHUNK_SIZE)
        SB_FAIL(error, SB_ERR_FORMAT, "the recording has chunks of %u bytes, expected %d",
                header->chunk_size, SB_CHUNK_SIZE);
    return SB_OK;
}

static double ns_per_tick(const sb_record_header *header) {
    const sb_record_clock *latest = &header->latest[header->clock_slot & 1];
    const double ticks = (double)latest->ticks - (double)header->start.ticks;
    const double ns = (double)latest->ns - (double)header->start.ns;
    return ticks > 0 && ns > 0 ? ns / ticks : 1.0;
}

sb_status sb_record_file_welcome(sb_slice bytes, sb_wire_welcome *welcome, sb_error *error) {
    sb_record_header header = {0};
    SB_TRY(read_header(bytes, &header, error));
    *welcome = (sb_wire_welcome){.timer_multiplier = ns_per_tick(&header),
                                 .init_begin = header.start.ticks,
                                 .init_end = header.init_end,
                                 .resolution = header.resolution,
                                 .epoch = header.wall_seconds,
                                 .process_id = header.process_id,
                                 .flags = SB_WIRE_FLAG_IGNORE_MEMORY_FAULTS,
                                 .cpu_architecture = (uint8_t)header.cpu_architecture,
                                 .cpu_id = header.cpu_id};
    memcpy(welcome->cpu_manufacturer, header.cpu_manufacturer, sizeof header.cpu_manufacturer);
    memcpy(welcome->program, header.program, sizeof header.program - 1);
    memcpy(welcome->host, header.host, sizeof header.host - 1);
    return SB_OK;
}

/* ---- finding the chunks ---- */

static int compare_chunks(const void *a, const void *b) {
    const sb_chunk *first = *(const sb_chunk *const *)a;
    const sb_chunk *second = *(const sb_chunk *const *)b;
    if (first->lane != second->lane)
        return first->lane < second->lane ? -1 : 1;
    if (first->sequence != second->sequence)
        return first->sequence < second->sequence ? -1 : 1;
    return 0;
}

static bool is_sound(const sb_chunk *chunk) {
    if (chunk->magic != SB_CHUNK_MAGIC || chunk->sealed_words > SB_CHUNK_WORDS)
        return false;
    return chunk->checksum == 0 || chunk->checksum == sb_chunk_checksum(chunk, chunk->sealed_words);
}

static sb_status find_chunks(replay *all, sb_slice bytes, uint32_t session, sb_error *error) {
    const size_t slots = bytes.size / SB_CHUNK_SIZE;
    all->chunks = calloc(slots, sizeof(void *));
    all->lanes = calloc(slots, sizeof *all->lanes);
    if (all->chunks == NULL || all->lanes == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "no memory for a recording of %zu chunks", slots);
    for (size_t i = 1; i < slots; i++) {
        /* The file is mapped or read to memory that is aligned for this. */
        const void *place = bytes.data + i * SB_CHUNK_SIZE;
        const sb_chunk *chunk = place;
        if (chunk->magic == 0)
            continue;
        if (is_sound(chunk))
            all->chunks[all->chunk_count++] = chunk;
        else
            all->summary->damaged_chunks++;
    }
    all->summary->chunks = all->chunk_count;
    if (all->chunk_count > 0)
        qsort(all->chunks, all->chunk_count, sizeof(void *), compare_chunks);
    for (size_t i = 0; i < all->chunk_count; i++) {
        if (i == 0 || all->chunks[i]->lane != all->chunks[i - 1]->lane)
            all->lanes[all->lane_count++] =
                (file_lane){.id = all->chunks[i]->lane,
                            .next = i,
                            .state.is_serial = all->chunks[i]->lane == SB_RECORD_SERIAL_LANE,
                            .state.session = session};
        all->lanes[all->lane_count - 1].end = i + 1;
    }
    return SB_OK;
}

/* ---- replaying ---- */

static void replay_lane(replay *all, file_lane *lane, uint64_t position) {
    if (lane->is_busy)
        return;
    lane->is_busy = true;
    while (lane->next < lane->end) {
        const sb_chunk *chunk = all->chunks[lane->next];
        if (lane->at == NULL) {
            lane->at = chunk->words;
            lane->state.ticks = chunk->ticks;
        }
        const sb_record_stop stop =
            sb_record_translate(&all->translator, &lane->state, chunk, &lane->at, position);
        if (lane->state.ticks > all->last_ticks)
            all->last_ticks = lane->state.ticks;
        if (stop == SB_RECORD_REACHED)
            break;
        if (stop == SB_RECORD_BROKEN)
            all->summary->damaged_chunks++;
        lane->next++;
        lane->at = NULL;
    }
    lane->is_busy = false;
}

static int compare_lane(const void *id, const void *element) {
    const uint32_t wanted = *(const uint32_t *)id;
    const file_lane *lane = element;
    return wanted < lane->id ? -1 : wanted > lane->id;
}

static void replay_other(void *context, uint32_t id, uint64_t position) {
    replay *all = context;
    file_lane *lane = bsearch(&id, all->lanes, all->lane_count, sizeof *all->lanes, compare_lane);
    if (lane == NULL || all->depth == WAITING_LANES_MAX)
        return;
    all->depth++;
    replay_lane(all, lane, position);
    all->depth--;
}

static void end_lanes(replay *all) {
    for (size_t i = 0; i < all->lane_count; i++) {
        sb_record_close_lane(&all->translator, &all->lanes[i].state, all->last_ticks);
        sb_record_lane_free(&all->lanes[i].state);
    }
    sb_record_close_fibers(&all->translator, all->last_ticks);
    sb_record_flush(&all->translator);
}

sb_status sb_record_file_replay(sb_slice bytes, sb_record_names *names,
                                const sb_wire_handler *handler, sb_record_summary *summary,
                                sb_error *error) {
    sb_record_header header = {0};
    *summary = (sb_record_summary){0};
    SB_TRY(read_header(bytes, &header, error));
    replay *all = calloc(1, sizeof *all);
    if (all == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "no memory to read a recording");
    all->summary = summary;
    all->translator.names = names;
    all->translator.handler = *handler;
    all->translator.session = header.session;
    all->translator.wait_for = replay_other;
    all->translator.wait_context = all;
    const sb_status status = find_chunks(all, bytes, header.session, error);
    if (status == SB_OK) {
        for (size_t i = 0; i < all->lane_count; i++)
            replay_lane(all, &all->lanes[i], UINT64_MAX);
        if (header.untold > 0)
            sb_record_tell_loss(&all->translator, 0, all->last_ticks, header.untold,
                                SB_RECORD_LOST_TO_DISK);
        end_lanes(all);
        summary->lost = all->translator.lost;
        summary->is_closed = header.is_closed != 0;
    }
    free(all->chunks);
    free(all->lanes);
    free(all);
    return status;
}
