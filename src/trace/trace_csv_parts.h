/*
 * What the files that write CSV share.
 */
#ifndef SB_TRACE_CSV_PARTS_H
#define SB_TRACE_CSV_PARTS_H

#include "trace/trace_csv.h"

typedef struct csv_writer {
    const sb_trace *trace;
    const sb_trace_csv_options *options;
    sb_output *output;
} csv_writer;

/* Zones of one track, by source. */
typedef struct csv_track {
    const sb_track *track;
    uint32_t *zones;   /* grouped by source, in order inside a group */
    sb_vector groups;  /* csv_group, by source */
    size_t next_group; /* the first that has not been written */
    int64_t *inside;   /* per zone: durations of what is directly inside; NULL: not wanted */
} csv_track;

typedef struct csv_group {
    uint32_t source;
    uint64_t first;
    uint64_t count;
} csv_group;

/* All tracks of the host, or of devices. */
typedef struct csv_zones {
    csv_track *tracks;
    uint64_t track_count;
} csv_zones;

void csv_put_field(const csv_writer *writer, sb_slice field);
void csv_put_separator(const csv_writer *writer);
/* Columns are separated by '|' in names. */
void csv_put_header(const csv_writer *writer, const char *names);
bool csv_wants_source(const csv_writer *writer, uint32_t source);

csv_zones csv_group_zones(const csv_writer *writer, bool devices, bool with_inside);
void csv_zones_free(csv_zones *zones);
/* The zones of source in a track, asked for in ascending order of source. */
csv_group csv_next_group(csv_track *track, uint32_t source);
/* How long a zone lasted, self time if wanted. */
int64_t csv_duration(const csv_track *track, uint32_t zone);

void csv_write_zones(const csv_writer *writer);
void csv_write_device_zones(const csv_writer *writer);

#endif
