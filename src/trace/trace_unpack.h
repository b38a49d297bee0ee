/*
 * The container of a trace file: from compressed blocks to the body's bytes.
 *
 *     file   := header, block 0, block 1, ... until the end of the file
 *     block  := u32 size, bytes          each gives 65,536 bytes of the body, the last one fewer
 *
 * Block i belongs to stream i mod n; each stream has a compression history of its own. Worker
 * threads decode ahead of the reader into a ring of buffers:
 *
 *     ring[i mod r] holds chunk i; r is a multiple of n, so a chunk overwrites one of its own
 *     stream, and its predecessor in the stream (which LZ4 refers back to) is still there
 *
 * A worker decodes chunk i once the reader has given back chunk i - r; the reader takes chunk i
 * once it is decoded. One mutex guards both conditions; it is taken once per 64 KiB.
 */
#ifndef SB_TRACE_UNPACK_H
#define SB_TRACE_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

enum { TRACE_CHUNK_SIZE = 65536 };

typedef enum trace_compression { TRACE_LZ4, TRACE_ZSTD } trace_compression;

typedef struct trace_unpacker trace_unpacker;

/* Looks at the header and starts decoding with up to `threads` threads; 0: as many as there are
 * processors. With 1 the reader's own thread decodes. text must stay until the end. */
sb_status trace_unpack_begin(trace_unpacker **unpacker, sb_slice text, unsigned threads,
                             sb_error *error);
trace_compression trace_unpack_compression(const trace_unpacker *unpacker);
unsigned trace_unpack_streams(const trace_unpacker *unpacker);
/* How many chunks the body has at most. */
uint64_t trace_unpack_chunks(const trace_unpacker *unpacker);
/*
 * The next chunk; empty at the end of the body. The one before it is no longer valid. Fails when a
 * block cannot be decoded or the file ends inside one.
 */
sb_status trace_unpack_next(trace_unpacker *unpacker, sb_slice *chunk, sb_error *error);
/* The byte of the file up to which nothing is needed any more. */
size_t trace_unpack_passed(const trace_unpacker *unpacker);
void trace_unpack_end(trace_unpacker *unpacker);

#endif
