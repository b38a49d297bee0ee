/*
 * Journal: a stream on disk, readable up to the last whole block whatever happened to its writer.
 *
 *     file    "SBJRNL01", then blocks
 *     block   u32 size of the content | u16 kind | u16 zero | u64 checksum | content
 *
 * The checksum (XXH3) covers size, kind, the number of the block and the content, so that a block
 * that is cut, changed, or left from another file is told from a good one. All numbers are
 * little-endian. What the kinds hold is the writer's business; these are common:
 *
 *   SB_JOURNAL_START    where the stream comes from (sb_journal_start)
 *   SB_JOURNAL_FRAMES   frames as they came over the wire, lengths included
 *   SB_JOURNAL_ASKED    source locations that were asked for: tokens, eight bytes each
 *   SB_JOURNAL_END      the stream ended on purpose: one byte says how
 *
 * Kinds that a reader does not know are to be skipped.
 */
#ifndef SB_WIRE_JOURNAL_H
#define SB_WIRE_JOURNAL_H

#include "base/base.h"
#include "wire/wire_greeting.h"
#include "wire/wire_protocol.h"

enum {
    SB_JOURNAL_MAGIC_SIZE = 8,
    SB_JOURNAL_BLOCK_HEAD = 16,
    SB_JOURNAL_CONTENT_MAX = 4194304,
};

typedef enum sb_journal_kind {
    SB_JOURNAL_START = 1,
    SB_JOURNAL_FRAMES = 2,
    SB_JOURNAL_ASKED = 3,
    SB_JOURNAL_END = 4,
} sb_journal_kind;

typedef enum sb_journal_ending {
    SB_JOURNAL_PROGRAM_ENDED = 0,
    SB_JOURNAL_STOPPED = 1,   /* the recorder was told to stop */
    SB_JOURNAL_CUT = 2,       /* the connection was lost */
    SB_JOURNAL_MALFORMED = 3, /* the stream made no sense from here on */
} sb_journal_ending;

/* The first block. */
typedef struct sb_journal_start {
    uint32_t protocol;
    sb_wire_flavour flavour;
    bool is_certain;   /* the flavour was told, not assumed */
    uint64_t wall_ns;  /* since 1970, when the connection was made */
    uint64_t clock_ns; /* CLOCK_MONOTONIC at the same moment */
    sb_wire_welcome welcome;
    sb_wire_on_demand on_demand; /* if the welcome's flags say so */
    char address[64];            /* of the program; ends in NUL */
} sb_journal_start;

/* ---- writing ---- */

typedef struct sb_journal_writer {
    int descriptor;
    uint64_t blocks;
    uint64_t bytes;
} sb_journal_writer;

/*
 * Creates the file, which must not exist unless `replace`; one that is being written is never
 * replaced. As long as it is open its writer has a lock on it (F_OFD_SETLK), which goes with the
 * process, however that ends.
 */
sb_status sb_journal_create(sb_journal_writer *writer, const char *path, bool replace,
                            sb_error *error);
/* Appends a block. After a failure the file ends before it. */
sb_status sb_journal_append(sb_journal_writer *writer, sb_journal_kind kind, sb_slice content,
                            sb_error *error);
sb_status sb_journal_append_start(sb_journal_writer *writer, const sb_journal_start *start,
                                  sb_error *error);
/* What was appended is on the disk when this returns. May be called by another thread. */
sb_status sb_journal_sync(const sb_journal_writer *writer, sb_error *error);
void sb_journal_close(sb_journal_writer *writer);

/* ---- reading ---- */

typedef struct sb_journal_block {
    sb_journal_kind kind;
    sb_slice content;
} sb_journal_block;

typedef struct sb_journal_reader {
    sb_slice bytes;
    uint64_t base; /* of the bytes, in the file */
    size_t offset; /* of the next block, in the bytes */
    uint64_t blocks;
    bool is_short; /* the bytes end within a block */
} sb_journal_reader;

bool sb_journal_is_one(sb_slice bytes);
/* Does somebody still write the file that was opened? */
bool sb_journal_is_written(int descriptor);
sb_status sb_journal_open(sb_journal_reader *reader, sb_slice bytes, sb_error *error);
/*
 * The next block. False at the end: *error is then SB_OK if the file ends with a whole block, else
 * it says what is wrong with what follows.
 */
bool sb_journal_next(sb_journal_reader *reader, sb_journal_block *block, sb_error *error);
sb_status sb_journal_decode_start(sb_slice content, sb_journal_start *start, sb_error *error);

#endif
