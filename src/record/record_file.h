/*
 * The recording file: a header of one chunk's size, then chunks.
 *
 *     0      header (sb_record_header), little-endian as the machines we run on
 *     64 Ki  chunk, 128 Ki chunk, ... in the order in which threads took them
 *
 * Chunks of a lane are found by their lane and sequence. A chunk that is sealed has a checksum; one
 * that is not (the process was killed, or still runs) is good up to its first empty place. A slot
 * whose magic is zero was never used.
 *
 * The clock: two pairs of ticks and nanoseconds, the second of them renewed while the program runs
 * in the slot that `clock_slot` does not name; then the slot is changed.
 */
#ifndef SB_RECORD_FILE_H
#define SB_RECORD_FILE_H

#include "base/base.h"
#include "record/record_chunk.h"
#include "record/record_translate.h"
#include "wire/wire.h"

#define SB_RECORD_MAGIC "SBRECRD1"

typedef struct sb_record_clock {
    int64_t ticks;
    int64_t ns;
} sb_record_clock;

typedef struct sb_record_header {
    char magic[8];
    uint32_t header_size; /* of this structure in the version that wrote it */
    uint32_t chunk_size;
    uint32_t version;   /* readers refuse a higher one */
    uint32_t is_closed; /* the program ended in order */
    sb_record_clock start;
    sb_record_clock latest[2];
    uint32_t clock_slot;
    uint32_t cpu_architecture;
    uint64_t resolution; /* ticks */
    uint64_t wall_seconds;
    uint64_t process_id;
    int64_t init_end;
    uint32_t cpu_id;
    uint32_t session; /* whose records count */
    char cpu_manufacturer[12];
    char program[64];
    char host[1024];
    uint64_t untold; /* losses without a record of their own: there was no room for one */
} sb_record_header;

enum { SB_RECORD_FILE_VERSION = 1 };

bool sb_record_file_is_one(sb_slice bytes);

/* What reading a file came to. */
typedef struct sb_record_summary {
    uint64_t chunks;
    uint64_t damaged_chunks; /* left out: checksum or head are wrong */
    uint64_t lost;           /* events the program itself lost */
    bool is_closed;
} sb_record_summary;

/*
 * The welcome that the program would have sent. The error says what is wrong with the header.
 */
sb_status sb_record_file_welcome(sb_slice bytes, sb_wire_welcome *welcome, sb_error *error);
/*
 * All events of the file, lane after lane where nothing asks for another order, to the handler. Its
 * questions are answered by sb_record_answer with the names, which the caller made; those that are
 * asked while a file is replayed may be answered at once, since definitions come before uses.
 */
sb_status sb_record_file_replay(sb_slice bytes, sb_record_names *names,
                                const sb_wire_handler *handler, sb_record_summary *summary,
                                sb_error *error);

#endif
