#include "device/profiler/profiler_noc.h"

#include <stdio.h>
#include <stdlib.h>

#include <strobe/kernel_profiler.h>

/* Kinds of transfers, as other tools number and call them. */
static const char *const type_texts[] = {
    "UNDEF",
    "READ",
    "READ_SET_STATE",
    "READ_SET_TRID",
    "READ_WITH_STATE",
    "READ_WITH_STATE_AND_TRID",
    "READ_BARRIER_START",
    "READ_BARRIER_END",
    "READ_BARRIER_WITH_TRID",
    "READ_DRAM_SHARDED_SET_STATE",
    "READ_DRAM_SHARDED_WITH_STATE",
    "WRITE_",
    "WRITE_SET_TRID",
    "WRITE_WITH_TRID",
    "WRITE_INLINE",
    "WRITE_MULTICAST",
    "WRITE_SET_STATE",
    "WRITE_WITH_STATE",
    "WRITE_WITH_TRID_SET_STATE",
    "WRITE_WITH_TRID_WITH_STATE",
    "WRITE_BARRIER_START",
    "WRITE_BARRIER_END",
    "WRITE_BARRIER_WITH_TRID",
    "WRITE_FLUSH",
    "WRITE_FLUSH_WITH_TRID",
    "FULL_BARRIER",
    "ATOMIC_BARRIER",
    "SEMAPHORE_INC",
    "SEMAPHORE_WAIT",
    "SEMAPHORE_SET",
    "SEMAPHORE_SET_REMOTE",
    "SEMAPHORE_SET_MULTICAST",
    "SEMAPHORE_INC_MULTICAST",
};
enum {
    READ_WITH_STATE = 4,
    READ_WITH_STATE_AND_TRID = 5,
    WRITE_MULTICAST = 15,
    WRITE_WITH_STATE = 17,
    WRITE_WITH_TRID_WITH_STATE = 19,
    SEMAPHORE_SET_MULTICAST = 31,
    SEMAPHORE_INC_MULTICAST = 32,
    TYPE_COUNT = sizeof type_texts / sizeof type_texts[0]
};

/* Both coordinates of a place that says there is none. */
#define NOWHERE 255u
/* Cores have coordinates of their own, which are the same on both NoCs. */
#define TRANSLATED_FIRST 18u
#define COLUMNS 8u
#define ROWS 10u

typedef struct noc_record {
    uint32_t program;
    uint32_t replay;
    sb_core core; /* physical */
    uint32_t processor;
    profiler_marker marker;
} noc_record;

struct profiler_noc {
    const profiler_device *device;
    sb_vector records; /* noc_record */
};

profiler_noc *profiler_noc_open(const profiler_device *device) {
    profiler_noc *self = sb_alloc(sizeof *self);
    *self = (profiler_noc){.device = device, .records = sb_vector_of(sizeof(noc_record))};
    return self;
}

void profiler_noc_close(profiler_noc *self) {
    if (self == NULL)
        return;
    sb_vector_free(&self->records);
    free(self);
}

/* ---- collecting ---- */

/* Zones of authors and pushes, and kernels of the processors that move data. */
static bool is_wanted_zone(const profiler_noc *self, const profiler_marker *marker,
                           uint32_t processor) {
    const profiler_zone *zone =
        profiler_names_find(&self->device->profiler->names, profiler_id_of(marker));
    if (zone == NULL || sb_slice_ends_with(zone->name, "-FW"))
        return false;
    return !sb_slice_ends_with(zone->name, "-KERNEL") || processor <= SB_NCRISC;
}

static bool is_wanted(const profiler_noc *self, const profiler_marker *marker, uint32_t processor) {
    if (profiler_type_of(marker) <= PROFILER_END)
        return is_wanted_zone(self, marker, processor);
    return profiler_type_of(marker) == PROFILER_DATA &&
           profiler_id_of(marker) == SB_MARKER_NOC_EVENT;
}

void profiler_noc_put(profiler_noc *self, uint32_t core, const profiler_block *block) {
    const sb_core place = profiler_physical(profiler_core_at(self->device->device, core));
    for (size_t i = 0; i < block->count; i++)
        if (is_wanted(self, &block->markers[i], block->processor))
            *(noc_record *)sb_vector_push(&self->records) =
                (noc_record){.program = block->program,
                             .replay = block->replay,
                             .core = place,
                             .processor = block->processor,
                             .marker = block->markers[i]};
}

/* ---- writing ---- */

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* By execution; within it by core, processor and time. */
static int compare_records(const void *a, const void *b) {
    const noc_record *left = a;
    const noc_record *right = b;
    int order = compare_numbers(left->replay, right->replay);
    order = order != 0 ? order : compare_numbers(left->program, right->program);
    order = order != 0 ? order : compare_numbers(left->core.x, right->core.x);
    order = order != 0 ? order : compare_numbers(left->core.y, right->core.y);
    order = order != 0 ? order : compare_numbers(left->processor, right->processor);
    order = order != 0 ? order : compare_numbers(left->marker.time, right->marker.time);
    return order != 0 ? order : compare_numbers(left->marker.timer, right->marker.timer);
}

static sb_core destination(uint32_t noc, uint32_t x, uint32_t y) {
    if (x - TRANSLATED_FIRST < COLUMNS && y - TRANSLATED_FIRST < ROWS)
        return profiler_physical((sb_core){x - TRANSLATED_FIRST, y - TRANSLATED_FIRST});
    return noc == 0 || x > 9 || y > 11 ? (sb_core){x, y} : (sb_core){9 - x, 11 - y};
}

static const char *type_text(uint32_t type) {
    return type < TYPE_COUNT ? type_texts[type] : "UNSUPPORTED";
}

static bool is_multicast(uint32_t type) {
    return type == WRITE_MULTICAST || type == SEMAPHORE_SET_MULTICAST ||
           type == SEMAPHORE_INC_MULTICAST;
}

/* Transfers that reuse what was set before do not say where they go. */
static bool has_place(uint32_t type, uint32_t x, uint32_t y) {
    return x != NOWHERE && y != NOWHERE && type != READ_WITH_STATE &&
           type != READ_WITH_STATE_AND_TRID && type != WRITE_WITH_STATE &&
           type != WRITE_WITH_TRID_WITH_STATE && type < TYPE_COUNT;
}

/* Four bits; the largest stands for a channel that nobody knows. */
static int channel_of(uint64_t data) {
    const int channel = (int)(data >> 44 & 15);
    return channel < 8 ? channel : channel - 16;
}

static void put_place(sb_output *out, const profiler_noc *self, const noc_record *record) {
    sb_put_format(out,
                  "  {\"run_host_id\": %u, \"op_name\": \"\", \"proc\": \"%s\", "
                  "\"src_device_id\": %u, \"sx\": %u, \"sy\": %u, \"timestamp\": %llu, ",
                  record->program, profiler_processor_text(record->processor),
                  self->device->device->info.index, record->core.x, record->core.y,
                  (unsigned long long)record->marker.time);
}

static void put_zone(sb_output *out, const profiler_noc *self, const noc_record *record) {
    const profiler_zone *zone =
        profiler_names_find(&self->device->profiler->names, profiler_id_of(&record->marker));
    sb_put_text(out, "\"zone\": ");
    sb_put_json(out, zone->name);
    sb_put_format(out, ", \"zone_phase\": \"%s\"",
                  profiler_type_of(&record->marker) == PROFILER_START ? "ZONE_START" : "ZONE_END");
}

void profiler_noc_put_transfer(sb_output *out, uint64_t data) {
    const uint32_t type = data & 255;
    const uint32_t x = data >> 8 & 255;
    const uint32_t y = data >> 16 & 255;
    const uint32_t noc = (data >> 40 & 15) == 2 ? 1 : 0;
    sb_put_format(out, "\"noc\": \"NOC_%u\", \"vc\": %d, \"num_bytes\": %u, \"type\": \"%s\"", noc,
                  channel_of(data), (uint32_t)(data >> 48 & 255) * 32, type_text(type));
    if (!has_place(type, x, y))
        return;
    const sb_core first = destination(noc, x, y);
    const sb_core last = destination(noc, data >> 24 & 255, data >> 32 & 255);
    if (is_multicast(type))
        sb_put_format(out,
                      ", \"mcast_start_x\": %u, \"mcast_start_y\": %u, \"mcast_end_x\": %u, "
                      "\"mcast_end_y\": %u",
                      first.x, first.y, last.x, last.y);
    else
        sb_put_format(out, ", \"dx\": %u, \"dy\": %u", first.x, first.y);
}

/* The records of one execution, which lie side by side. */
static sb_status write_program(const profiler_noc *self, const char *folder,
                               const noc_record *records, size_t count, sb_error *error) {
    char path[4400];
    char trace[64] = "";
    sb_output out;
    profiler_replay replay;
    if (profiler_find_replay(self->device, records[0].replay, &replay))
        snprintf(trace, sizeof trace, "_traceID%llu",
                 (unsigned long long)replay.trace_id << 32 | replay.session);
    snprintf(path, sizeof path, "%s/noc_trace_dev%u_ID%u%s.json", folder,
             self->device->device->info.index, records[0].program, trace);
    SB_TRY(sb_output_to_file(&out, path, error));
    sb_put_text(&out, "[\n");
    for (size_t i = 0; i < count; i++) {
        put_place(&out, self, &records[i]);
        if (profiler_type_of(&records[i].marker) <= PROFILER_END)
            put_zone(&out, self, &records[i]);
        else
            profiler_noc_put_transfer(&out, records[i].marker.data);
        sb_put_text(&out, i + 1 < count ? "},\n" : "}\n");
    }
    sb_put_text(&out, "]\n");
    return sb_output_finish(&out, error);
}

sb_status profiler_noc_write(profiler_noc *self, sb_error *error) {
    const profiler_options *options = &self->device->profiler->options;
    char folder[4200];
    const noc_record *records = (const noc_record *)(const void *)self->records.data;
    const size_t count = self->records.count;
    if (count == 0)
        return SB_OK;
    if (options->noc_folder[0] != '\0')
        snprintf(folder, sizeof folder, "%s", options->noc_folder);
    else
        snprintf(folder, sizeof folder, "%s/.logs", options->folder);
    SB_TRY(sb_folder_make(folder, error));
    qsort(self->records.data, count, sizeof(noc_record), compare_records);
    size_t begin = 0;
    for (size_t i = 1; i <= count; i++)
        if (i == count || records[i].program != records[begin].program ||
            records[i].replay != records[begin].replay) {
            SB_TRY(write_program(self, folder, records + begin, i - begin, error));
            begin = i;
        }
    sb_vector_clear(&self->records);
    return SB_OK;
}
