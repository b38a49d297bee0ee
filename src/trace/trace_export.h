/*
 * Traces for other viewers: Perfetto's own format and the JSON that Chrome and many others read;
 * and a summary for programs.
 *
 * Both formats get the same: a track for each thread and device lane, zones as slices with name,
 * source, text and colour left out where there is none, messages as instants, plots as counters,
 * frames as slices, ops as slices of a track for each device, and an arrow (a flow) from each op to
 * the kernels it ran. Slices must nest there, so times that do not are moved, and counted.
 */
#ifndef SB_TRACE_EXPORT_H
#define SB_TRACE_EXPORT_H

#include "trace/trace_model.h"

/* What was written. */
typedef struct sb_trace_exported {
    uint64_t slices;
    uint64_t instants;
    uint64_t counts; /* values of counters */
    uint64_t flows;  /* ends of arrows at kernels */
    uint64_t adjusted_times;
} sb_trace_exported;

/* exported may be NULL. */
void sb_trace_write_perfetto(const sb_trace *trace, sb_output *output, sb_trace_exported *exported);
void sb_trace_write_chrome(const sb_trace *trace, sb_output *output, sb_trace_exported *exported);
/* A JSON object (schema "strobe.trace", version 1): docs/export.md describes it. */
void sb_trace_write_summary(const sb_trace *trace, sb_output *output);

#endif
