/*
 * What differs between versions of the file format: one place, asked by the reader.
 */
#ifndef SB_TRACE_LAYOUT_H
#define SB_TRACE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_VERSION(major, minor, patch) \
    ((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(patch))

enum { TRACE_VERSION_SIZE = 3 };

/* How sections of time (a file section of its own) are stored. */
typedef enum trace_ranges {
    TRACE_RANGES_NONE,
    TRACE_RANGES_FLAT,
    TRACE_RANGES_GROUPED
} trace_ranges;

typedef struct trace_layout {
    bool delay;          /* the cost of an event comes first */
    bool on_demand;      /* a byte says whether recording waited for a connection */
    bool dies;           /* processor topology has a level between package and core */
    bool group_hint;     /* threads say where they want to be shown */
    bool wakeup_cpu;     /* context switches say where the wakeup came from */
    bool device_values;  /* device zones carry numbers */
    bool message_source; /* messages have a source and a severity */
    bool markers;        /* device contexts end in a list of points in time */
    trace_ranges ranges;
} trace_layout;

/* The layout of a version; tenstorrent: that of the fork, which changed it without saying so. */
trace_layout trace_layout_of(uint32_t version, bool tenstorrent);
/* From this version on the two flavours differ. */
bool trace_layout_is_ambiguous(uint32_t version);

/* Numbers of the sections, in the order of the file. */
enum {
    SECTION_SIGNATURE = 1,
    SECTION_DELAY,
    SECTION_PARAMETERS,
    SECTION_NAMES,
    SECTION_TOPOLOGY,
    SECTION_CRASH,
    SECTION_FRAMES,
    SECTION_RANGES,
    SECTION_STRINGS,
    SECTION_STRING_IDS,
    SECTION_THREAD_NAMES,
    SECTION_EXTERNAL_NAMES,
    SECTION_THREADS,
    SECTION_EXTERNAL_THREADS,
    SECTION_STATIC_SOURCES,
    SECTION_SOURCE_NUMBERS,
    SECTION_DYNAMIC_SOURCES,
    SECTION_ZONE_COUNTS,
    SECTION_DEVICE_ZONE_COUNTS,
    SECTION_LOCKS,
    SECTION_MESSAGES,
    SECTION_NOTES,
    SECTION_ZONES,
    SECTION_DEVICES,
    SECTION_PLOTS,
    SECTION_MEMORY,
    SECTION_CALLSTACKS,
    SECTION_CALLSTACK_FRAMES,
    SECTION_APP_INFO,
    SECTION_FRAME_IMAGES,
    SECTION_CONTEXT_SWITCHES,
    SECTION_CPU_SWITCHES,
    SECTION_THREAD_PROCESSES,
    SECTION_CPU_THREADS,
    SECTION_SYMBOLS,
    SECTION_SYMBOL_CODE,
    SECTION_CODE_SYMBOLS,
    SECTION_HARDWARE_SAMPLES,
    SECTION_SOURCE_FILES,
    SECTION_END,
};

#endif
