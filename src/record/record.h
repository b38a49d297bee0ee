/*
 * record: what the threads of an instrumented program write, and how it becomes events.
 *
 * A thread writes records into a lane: a list of chunks of fixed size. A chunk is a head and words
 * of 64 bits; in memory it goes to the sender, in a recording file it is where the thread writes
 * it, so a file is a header and the chunks of all lanes:
 *
 *     lane 3:   [head|record|record|...|END] -> [head|record|record| 0 0 0 ...]
 *
 *     record:   word 0    ticks (56 bits, the upper ones cut off) << 8 | kind
 *               word 1..  as record_kinds.h lists them
 *               payload   bytes, padded to whole words; the low half of word 1 is their count
 *
 * A writer fills words 1.. and the payload with plain stores and then stores word 0 with release
 * order. Chunks of a file are zero before, so that whoever loads word 0 with acquire order and
 * finds it not zero sees all of the record, and a process that is killed leaves whole records only.
 * Chunks in memory are used again as they are, since clearing them would cost more than writing the
 * records: there the writer says how far it is, and the reader goes no further.
 *
 * Locations and literal texts are known by tokens (their address, and in the upper byte a count of
 * unloaded libraries); a lane defines a token before it uses it. sb_record_names keeps what was
 * defined and answers questions about it. sb_record_translate turns the records of a lane into
 * events of the wire (sb_wire_handler), live in the client and later from a file alike.
 *
 * It runs inside programs that are not ours: no base/memory.h, no assertion on what others wrote;
 * without memory names are "?" and nothing else happens. Objects belong to one thread at a time.
 */
#ifndef SB_RECORD_RECORD_H
#define SB_RECORD_RECORD_H

#include "record/record_chunk.h"
#include "record/record_file.h"
#include "record/record_kinds.h"
#include "record/record_names.h"
#include "record/record_translate.h"

#endif
