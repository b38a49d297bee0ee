#include "trace/trace_layout.h"

#include <assert.h>

#include "trace/trace_file.h"

trace_layout trace_layout_of(uint32_t version, bool tenstorrent) {
    trace_layout layout = {
        .delay = version < TRACE_VERSION(0, 12, 3),
        .on_demand = version >= TRACE_VERSION(0, 9, 2),
        .group_hint = version >= TRACE_VERSION(0, 11, 1),
        .dies = version >= TRACE_VERSION(0, 11, 2),
        .wakeup_cpu = version >= TRACE_VERSION(0, 11, 3),
        .device_values = version >= TRACE_VERSION(0, 12, 4),
        .message_source = version >= TRACE_VERSION(0, 13, 2),
        .ranges = TRACE_RANGES_NONE,
    };
    if (version >= TRACE_VERSION(0, 13, 5))
        layout.ranges = TRACE_RANGES_GROUPED;
    else if (version >= TRACE_VERSION(0, 13, 4))
        layout.ranges = TRACE_RANGES_FLAT;
    if (!tenstorrent || !trace_layout_is_ambiguous(version))
        return layout;
    layout.markers = true;
    if (version <= TRACE_VERSION(0, 13, 5))
        layout.ranges = TRACE_RANGES_NONE;
    return layout;
}

bool trace_layout_is_ambiguous(uint32_t version) {
    return version >= TRACE_VERSION(0, 13, 4);
}

const char *sb_trace_section_name(unsigned section) {
    static const char *const names[] = {
        "container",
        "signature",
        "delay",
        "parameters",
        "names",
        "topology",
        "crash",
        "frames",
        "time ranges",
        "strings",
        "string ids",
        "thread names",
        "external names",
        "threads",
        "external threads",
        "static sources",
        "source numbers",
        "dynamic sources",
        "zone counts",
        "device zone counts",
        "locks",
        "messages",
        "zone notes",
        "zones",
        "devices",
        "plots",
        "memory",
        "callstacks",
        "callstack frames",
        "application info",
        "frame images",
        "context switches",
        "cpu switches",
        "thread processes",
        "cpu threads",
        "symbols",
        "symbol code",
        "code symbols",
        "hardware samples",
        "source files",
        "end",
    };
    _Static_assert(sizeof names / sizeof names[0] == SECTION_END + 1, "a name for each section");
    assert(section <= SECTION_END);
    return names[section];
}
