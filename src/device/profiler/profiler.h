/*
 * What the files of the profiler share.
 *
 *   profiler.c          opening, reading, closing, losses
 *   profiler_options.c  the environment
 *   profiler_names.c    ids of zones
 *   profiler_slots.c    where data is on the device, and fetching it
 *   profiler_decode.c   taking it apart
 *   profiler_keep.c     the newest runs of each processor (mode keep newest)
 *   profiler_cost.c     what profiling itself takes
 *   profiler_clock.c    clocks of cores, the machine and the host
 *   profiler_link.c     clocks of chips, over the links between them
 *   profiler_log.c      profile_log_device.csv
 *   profiler_side.c     files beside it
 *   profiler_tracks.c   zones into a recording of the program (libstrobe)
 *   profiler_noc.c      transfers, as JSON
 *   profiler_whole.c    replays as a whole instead of their programs
 *
 * Data goes one way: slots are fetched, decoded into blocks, and each block is given to those who
 * write it down. Nothing is kept but counts, so memory does not grow with the run.
 */
#ifndef SB_DEVICE_PROFILER_PROFILER_H
#define SB_DEVICE_PROFILER_PROFILER_H

#include "device/device_profiler.h"
#include "device/profiler/profiler_clock.h"
#include "device/profiler/profiler_decode.h"
#include "device/profiler/profiler_log.h"
#include "device/profiler/profiler_names.h"
#include "device/profiler/profiler_options.h"

/* What happened to markers of one processor. */
typedef struct profiler_lane {
    sb_profiler_counts counts;
    sb_vector kept;    /* in mode keep newest, see profiler_keep.c */
    size_t kept_first; /* those before it are forgotten */
    uint32_t kept_runs;
} profiler_lane;

typedef struct profiler_tracks profiler_tracks;
typedef struct profiler_noc profiler_noc;
typedef struct profiler_whole profiler_whole;

/* Processors in logs and recordings: those of a core, and one that stands for all of them. */
enum { PROFILER_WHOLE_LANE = SB_PROCESSORS, PROFILER_LANES };

/* The clock of device 0 from that of another; both since they were opened. */
typedef struct profiler_link {
    double own_mean;
    double root_mean;
    double ratio; /* clocks of device 0 in one of this; 0: nobody has measured */
    double error; /* at the mean, clocks */
    uint32_t samples;
} profiler_link;

typedef struct profiler_device {
    device_profiler *profiler;
    sb_device *device;
    uint32_t cores_per_bank;
    uint32_t launches_until_look; /* programs that certainly fit into all slots */
    int64_t fetched_ns;           /* when all slots were last read, on the host's clock */
    profiler_lane lanes[DEVICE_MAX_CORES][SB_PROCESSORS];
    profiler_clock clock;
    profiler_link link;
    sb_profiler_costs costs;
    bool is_measuring;       /* what is read now is nobody's */
    bool is_closing;         /* nothing follows what is read now */
    sb_vector replays;       /* profiler_replay, by number - 1 */
    profiler_tracks *tracks; /* NULL: zones go into no recording */
    profiler_noc *noc;       /* NULL: transfers are not recorded */
    profiler_whole *whole;   /* NULL: programs are written down, not replays */
} profiler_device;

struct device_profiler {
    sb_mesh *mesh;
    profiler_options options;
    profiler_names names;
    uint32_t slot_bytes;
    profiler_device *devices;
    profiler_log *log; /* NULL: nothing is written to files */
    profiler_decoder decoder;
    uint32_t *words; /* room for a slot */
};

static inline profiler_device *profiler_of(const sb_device *device) {
    const device_profiler *profiler = device->mesh->profiler;
    return profiler != NULL ? &profiler->devices[device->info.index] : NULL;
}

static inline sb_core profiler_core_at(const sb_device *device, uint32_t index) {
    return (sb_core){index % device->info.columns, index / device->info.columns};
}

/* Coordinates of a core on NoC 0, as logs have them. */
sb_core profiler_physical(sb_core core);
/* What logs call a processor. */
const char *profiler_processor_text(uint32_t processor);

/* A block that was read. */
void profiler_deliver(profiler_device *self, uint32_t core, const profiler_block *block);
/* A block goes to all who write something down. */
void profiler_write_down(profiler_device *self, uint32_t core, const profiler_block *block);
/* All that is known of a core so far is delivered. */
void profiler_delivered(profiler_device *self, uint32_t core);
/* Takes the words of a processor apart and delivers them. now is its clock. */
void profiler_decode(profiler_device *self, uint32_t core, uint32_t processor,
                     const uint32_t *words, size_t count, uint64_t now);
/* Where a block belongs: its trace and replay; false: to none. */
bool profiler_find_replay(const profiler_device *self, uint32_t number, profiler_replay *replay);

/* ---- profiler_slots.c ---- */

/* Room of each processor in DRAM, for a number of programs. */
uint32_t profiler_slot_bytes(const profiler_options *options);
uint32_t profiler_cores_per_bank(uint32_t cores);
/* Fetches all that is in the slots of a device, which is idle. */
sb_status profiler_fetch(profiler_device *self, sb_error *error);
/* Answers the requests of one core. */
sb_status profiler_serve_core(profiler_device *self, uint32_t core, bool *has_served,
                              sb_error *error);
/* Takes what is in the buffers of cores that stopped in the middle of a program. */
sb_status profiler_salvage(profiler_device *self, sb_error *error);
/* Looks how full the slots are. */
sb_status profiler_look(profiler_device *self, sb_error *error);

/* ---- profiler_keep.c ---- */

/* Keeps words of a lane, and forgets the oldest runs beyond the limit. */
void profiler_keep(profiler_device *self, uint32_t core, uint32_t processor, const uint32_t *words,
                   size_t count, uint64_t now);
/* Delivers what is kept. */
void profiler_deliver_kept(profiler_device *self);
void profiler_free_kept(profiler_device *self);

#endif
