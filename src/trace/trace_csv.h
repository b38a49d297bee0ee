/*
 * Traces as comma-separated values, with the columns of tracy-csvexport.
 *
 * With `compat` the rows are those of the tool, its quirks included: zones of 0 ns are left out, a
 * zone without a text repeats the text of the row before it (of the same source), nothing is
 * quoted, and the deviation is computed in arithmetic that overflows. Without, fields are quoted
 * where they need to be, every zone with an end has its row, and numbers are right.
 */
#ifndef SB_TRACE_CSV_H
#define SB_TRACE_CSV_H

#include "trace/trace_model.h"

typedef enum sb_trace_csv_mode {
    SB_TRACE_CSV_STATISTICS, /* a row per source */
    SB_TRACE_CSV_ZONES,      /* a row per zone of the host */
    SB_TRACE_CSV_DEVICE,     /* a row per zone of a device */
    SB_TRACE_CSV_MESSAGES,
} sb_trace_csv_mode;

/* Which columns a row per zone has. */
typedef enum sb_trace_csv_layout {
    SB_TRACE_CSV_TRACY_0_11, /* 0.10 and 0.11 */
    SB_TRACE_CSV_TRACY,      /* with the column `value`, the zone's text */
    SB_TRACE_CSV_TRACY_0_9,  /* up to 0.9: no thread, and no deviation of a single zone */
    SB_TRACE_CSV_TT_0_10,    /* Tenstorrent's: name, text, text of a special parent */
    SB_TRACE_CSV_TT_0_13,    /* the same with `value` */
    SB_TRACE_CSV_TT,         /* and device zones follow those of the host */
} sb_trace_csv_layout;

typedef struct sb_trace_csv_options {
    sb_trace_csv_mode mode;
    sb_trace_csv_layout layout;
    bool compat;
    bool with_case; /* the filter distinguishes capitals */
    bool self;      /* times without what ran inside */
    bool plots;     /* points of plots after the zones */
    sb_slice filter;
    sb_slice separator;
    int truncated_mean;         /* percentile for a mean of what is below it, 1 to 99; 0: none */
    sb_slice special_parent;    /* part of the name of zones whose text is wanted ... */
    sb_slice special_functions; /* ... inside these, separated by commas */
} sb_trace_csv_options;

void sb_trace_write_csv(const sb_trace *trace, const sb_trace_csv_options *options,
                        sb_output *output);

#endif
