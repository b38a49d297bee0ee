/*
 * Trace files: `.tracy`, as Tracy and its relatives write and read them.
 *
 * Reading takes versions 0.9.0 to 0.14.x, all containers, and the flavours of Tenstorrent's fork.
 * A file that is cut or damaged gives what stands before the damage, and an error that says where
 * it is. Writing gives version 0.11.0 or 0.10.0 and keeps every rule that the readers of those and
 * all later versions rely on, whatever the trace holds; what had to be changed or left out for that
 * is counted.
 *
 * What version 0.11.0 has no place for is not written: values and markers of device contexts,
 * severities of messages, ops, pairs of clock readings. The ledger of losses is written as
 * lines about the application.
 */
#ifndef SB_TRACE_FILE_H
#define SB_TRACE_FILE_H

#include "trace/trace_model.h"

typedef struct sb_trace_read_options {
    unsigned threads; /* that decode; 0: as many as there are processors */
    sb_file *file;    /* what the bytes are of, if its pages may be given back; else NULL */
    const sb_trace_bound *bound; /* of what the trace keeps in memory; NULL: all */
    /* Told how many bytes of the file are behind; NULL: nobody is. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
} sb_trace_read_options;

/* Does it begin as .tracy files do? */
bool sb_trace_is_file(sb_slice bytes);
/*
 * Reads a trace from the bytes of a file. On failure *trace is NULL if nothing could be read, else
 * what was, with an entry in its ledger of losses.
 */
sb_status sb_trace_read(sb_slice bytes, const sb_trace_read_options *options, sb_trace **trace,
                        sb_error *error);

/* What a section of a file holds, by its number from 1 to SB_TRACE_SECTIONS - 1. */
const char *sb_trace_section_name(unsigned section);

typedef enum sb_trace_compression { SB_TRACE_LZ4, SB_TRACE_ZSTD } sb_trace_compression;

#define SB_TRACE_VERSION_0_10 UINT32_C(0x000A00)
#define SB_TRACE_VERSION_0_11 UINT32_C(0x000B00)

typedef struct sb_trace_write_options {
    uint32_t version; /* SB_TRACE_VERSION_...; 0: 0.11.0 */
    sb_trace_compression compression;
    int level; /* 0: the usual one; LZ4 takes 1 to 12, Zstandard 1 to 22 */
} sb_trace_write_options;

/* What did not fit the format as it was. */
typedef struct sb_trace_written {
    uint64_t adjusted_times;     /* moved so that zones nest and lists ascend */
    uint64_t folded_sources;     /* beyond what can be numbered: in "(more source locations)" */
    uint64_t dropped_strings;    /* beyond what can be numbered */
    uint64_t dropped_tracks;     /* beyond what can be numbered */
    uint64_t dropped_zones;      /* of those tracks */
    uint64_t dropped_events;     /* of locks with more threads than a file can hold */
    uint64_t dropped_ops;        /* ops have no place in a file */
    uint64_t dropped_losses;     /* beyond 65,536 entries of the ledger */
    uint64_t dropped_values;     /* values and markers of device contexts */
    uint64_t dropped_severities; /* of messages that were not plain ones */
    uint64_t dropped_hints;      /* tracks that said where they want to be shown */
    uint64_t changed_contexts;   /* types of device contexts that old viewers do not know */
    uint64_t body_bytes;
} sb_trace_written;

/* Writes a trace. written may be NULL. The caller finishes or discards the output. */
void sb_trace_write(const sb_trace *trace, const sb_trace_write_options *options, sb_output *output,
                    sb_trace_written *written);

#endif
