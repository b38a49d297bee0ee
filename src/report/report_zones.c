/*
 * Names of processors and zones, and what they mean. Each distinct name is looked at once.
 */
#include <string.h>

#include "report/report_programs_parts.h"

static const char *const processor_names[REPORT_PROCESSORS] = {
    "BRISC",
    "NCRISC",
    "TRISC_0",
    "TRISC_1",
    "TRISC_2",
    "ERISC",
    "TENSIX_RISC_AGG",
    "QUASAR_DM0",
    "QUASAR_DM1",
    "QUASAR_DM2",
    "QUASAR_DM3",
    "QUASAR_DM4",
    "QUASAR_DM5",
    "QUASAR_DM6",
    "QUASAR_DM7",
    "QUASAR_NEO0_TRISC0",
    "QUASAR_NEO0_TRISC1",
    "QUASAR_NEO0_TRISC2",
    "QUASAR_NEO0_TRISC3",
    "QUASAR_NEO1_TRISC0",
    "QUASAR_NEO1_TRISC1",
    "QUASAR_NEO1_TRISC2",
    "QUASAR_NEO1_TRISC3",
    "QUASAR_NEO2_TRISC0",
    "QUASAR_NEO2_TRISC1",
    "QUASAR_NEO2_TRISC2",
    "QUASAR_NEO2_TRISC3",
    "QUASAR_NEO3_TRISC0",
    "QUASAR_NEO3_TRISC1",
    "QUASAR_NEO3_TRISC2",
    "QUASAR_NEO3_TRISC3",
    "WARP",
    "(unknown)",
};

const char *report_processor_name(report_processor processor) {
    return processor_names[processor];
}

report_processor report_processor_of(sb_slice name) {
    for (int i = 0; i < REPORT_WARP; i++) {
        if (sb_slice_is(name, processor_names[i]))
            return (report_processor)i;
    }
    return sb_slice_starts_with(name, "WARP_") ? REPORT_WARP : REPORT_UNKNOWN_PROCESSOR;
}

enum {
    ONLY_TRISCS = 1 << REPORT_TRISC_0 | 1 << REPORT_TRISC_1 | 1 << REPORT_TRISC_2,
};

/* Names that mean something by themselves. */
static const struct {
    const char *name;
    unsigned flags;
    int master;
    uint32_t processors;
} known_zones[] = {
    {"BRISC-FW", REPORT_ZONE_TYPE_FW, REPORT_BRISC, 0},
    {"NCRISC-FW", REPORT_ZONE_TYPE_FW, -1, 0},
    {"TRISC-FW", REPORT_ZONE_TYPE_FW, -1, 0},
    {"ERISC-FW", REPORT_ZONE_TYPE_FW, REPORT_ERISC, 0},
    {"TENSIX_RISC_AGG-FW", REPORT_ZONE_TYPE_FW, -1, 0},
    {"DM-FW", REPORT_ZONE_TYPE_FW, -1, 0},
    {"DM0-FW", 0, REPORT_QUASAR_DM0, 0},
    {"TRACE-FW", REPORT_ZONE_TRACE_FW, REPORT_TRACE_AGGREGATE, 0},
    {"BRISC-KERNEL", REPORT_ZONE_TYPE_KERNEL | REPORT_ZONE_MOVER_KERNEL, -1, 1 << REPORT_BRISC},
    {"NCRISC-KERNEL", REPORT_ZONE_TYPE_KERNEL | REPORT_ZONE_MOVER_KERNEL, -1, 1 << REPORT_NCRISC},
    {"TRISC-KERNEL", REPORT_ZONE_TYPE_KERNEL, -1, ONLY_TRISCS},
    {"ERISC-KERNEL", REPORT_ZONE_TYPE_KERNEL | REPORT_ZONE_MOVER_KERNEL, -1, 1 << REPORT_ERISC},
    {"TENSIX_RISC_AGG-KERNEL", REPORT_ZONE_TYPE_KERNEL, -1, 0},
    {"DM-KERNEL", REPORT_ZONE_TYPE_KERNEL, -1, 0},
    {"TRACE-KERNEL", REPORT_ZONE_TRACE_KERNEL, -1, 0},
    {"CB-COMPUTE-WAIT-FRONT", REPORT_ZONE_WAIT_FRONT, -1, 0},
    {"CB-COMPUTE-RESERVE-BACK", REPORT_ZONE_RESERVE_BACK, -1, 0},
};

static void classify(report_zone *zone) {
    zone->master = -1;
    if (sb_slice_contains(zone->name, "FW"))
        zone->flags |= REPORT_ZONE_HAS_FW;
    if (sb_slice_ends_with(zone->name, "-FW"))
        zone->flags |= REPORT_ZONE_FIRMWARE;
    if (sb_slice_contains(zone->name, "CQ-DISPATCH") ||
        sb_slice_contains(zone->name, "CQ-PREFETCH"))
        zone->flags |= REPORT_ZONE_DISPATCH;
    for (size_t i = 0; i < sizeof known_zones / sizeof known_zones[0]; i++) {
        if (!sb_slice_is(zone->name, known_zones[i].name))
            continue;
        zone->flags |= known_zones[i].flags;
        zone->master = known_zones[i].master;
        zone->processors = known_zones[i].processors;
    }
}

/* Which zone a timer id meant when it was last seen: ids are 16 bits wide and stand for one name.
 */
struct report_zone_cache {
    uint32_t zone[UINT16_MAX + 1]; /* index + 1; 0: none */
};

uint32_t report_find_zone(report_device_log *read, uint32_t timer, sb_slice name) {
    if (read->zone_cache == NULL)
        read->zone_cache = sb_alloc_zeroed(1, sizeof *read->zone_cache);
    uint32_t *cached = &read->zone_cache->zone[timer & UINT16_MAX];
    if (*cached != 0) {
        const report_zone *zone = sb_vector_at(&read->zones, *cached - 1);
        if (sb_slice_equal(zone->name, name))
            return *cached - 1;
    }
    const uint32_t index = sb_intern_add(&read->zone_names, name);
    if (index == read->zones.count) {
        report_zone *zone = sb_vector_push(&read->zones);
        zone->name = sb_intern_text(&read->zone_names, index);
        classify(zone);
    }
    *cached = index + 1;
    return index;
}
