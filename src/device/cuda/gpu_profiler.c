/*
 * Zones of warps into profile_log_device.csv. libstrobe_cuda reads them out of the GPU and puts
 * them into the recording of the program; here they become rows of the log:
 *
 *   core       the SM, by its place in the grid
 *   WARP_n     a lane of the SM: zones, data, events and sums of the warps in it
 *   BRISC      the SM as a whole: BRISC-FW and BRISC-KERNEL, from the first thing that any warp of
 *              a launch recorded there to the last. From these reports have a program's duration,
 *              the number of its cores and the time between programs
 *   clocks     nanoseconds of the GPU's global timer since the mesh was opened, in clocks of the
 *              GPU's greatest rate: one time for all SMs, whatever rate they run at
 *
 * A launch has a number that its warps read; the number's name (program, trace, replay) is kept
 * here until all its zones are read.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/cuda/gpu.h"
#include "device/profiler/profiler_log.h"
#include "device/profiler/profiler_options.h"

enum {
    DEPTH_MAX = 32,       /* of zones in a lane; libstrobe_cuda has no deeper ones */
    LAUNCHES_MOST = 4096, /* that are not written down */
    KNOWN_NAMES = 256,
};

/* First and last moment of a launch on an SM; last < first: none. */
typedef struct launch_span {
    int64_t first;
    int64_t last;
} launch_span;

typedef struct profiled_launch {
    uint32_t device;
    gpu_launch_name name;
    launch_span *spans; /* by SM; NULL: nothing was seen of it */
} profiled_launch;

typedef struct open_zone {
    uint32_t launch;
    uint16_t id;
} open_zone;

typedef struct profiled_lane {
    uint32_t depth;
    open_zone open[DEPTH_MAX];
} profiled_lane;

typedef struct profiled_sm {
    sb_vector lanes; /* profiled_lane */
    uint64_t markers;
} profiled_sm;

typedef struct profiled_device {
    const sb_device_info *info;
    int64_t origin; /* of the global timer */
    profiled_sm *sms;
} profiled_device;

/* Which id a name has that was seen lately. */
typedef struct known_name {
    const char *name;
    const char *file;
    uint32_t line;
    uint16_t id;
} known_name;

struct gpu_profiler {
    sb_mesh *mesh;
    profiler_options options;
    pthread_mutex_t lock; /* zones are read by a thread of their own */
    profiler_names names;
    known_name known[KNOWN_NAMES];
    profiler_log *log; /* NULL: nothing is written to files */
    profiled_device *devices;
    sb_vector launches;    /* profiled_launch */
    uint32_t first_number; /* of the first of them */
    uint16_t firmware_id;
    uint16_t kernel_id;
};

/* ---- names ---- */

static uint16_t add_name(gpu_profiler *self, const char *name, const char *file, uint32_t line) {
    const profiler_zone zone = {.name = sb_slice_of(name), .file = sb_slice_of(file), .line = line};
    uint16_t id = 0;
    /* Ids can run out; what is then written has none. */
    (void)profiler_names_add(&self->names, &zone, &id, NULL);
    return id;
}

static uint16_t id_of(gpu_profiler *self, const sb_cuda_moment *moment) {
    const size_t hash = ((uintptr_t)moment->name >> 3) + moment->line;
    known_name *known = &self->known[hash % KNOWN_NAMES];
    if (known->name != moment->name || known->file != moment->file || known->line != moment->line)
        *known = (known_name){moment->name, moment->file, moment->line,
                              add_name(self, moment->name, moment->file, moment->line)};
    return known->id;
}

/* ---- rows ---- */

static uint64_t clocks_of(const profiled_device *device, int64_t timer_ns) {
    const double passed = (double)(timer_ns - device->origin) * device->info->clock_mhz / 1000;
    return passed > 0 ? (uint64_t)(passed + 0.5) : 0;
}

static profiled_launch *launch_at(const gpu_profiler *self, uint32_t number) {
    const uint32_t index = number - self->first_number;
    return number != 0 && index < self->launches.count ? sb_vector_at(&self->launches, index)
                                                       : NULL;
}

static void put(gpu_profiler *self, uint32_t sm, const char *processor,
                const profiled_launch *launch, const profiler_marker *marker) {
    const sb_device_info *info = self->devices[launch->device].info;
    const profiler_replay replay = {launch->name.trace_id, launch->name.session};
    const profiler_log_place place = {
        .device = info->index,
        .core = gpu_core_of(info, sm),
        .processor = processor,
        .program = launch->name.id,
        .replay = launch->name.trace_id != 0 ? &replay : NULL,
    };
    self->devices[launch->device].sms[sm].markers++;
    if (self->log != NULL)
        profiler_log_put(self->log, &place, marker, 1);
}

static void put_moment(gpu_profiler *self, const sb_cuda_moment *moment,
                       const profiled_launch *launch, profiler_type type, uint16_t id) {
    char processor[24];
    snprintf(processor, sizeof processor, "WARP_%u", moment->lane);
    put(self, moment->sm, processor, launch,
        &(profiler_marker){.time = clocks_of(&self->devices[launch->device], moment->timer_ns),
                           .data = type >= PROFILER_TOTAL ? moment->value : 0,
                           .timer = (uint32_t)type << 16 | id});
}

/* ---- seeing ---- */

static void widen(gpu_profiler *self, profiled_launch *launch, const sb_cuda_moment *moment) {
    const uint32_t cores = self->devices[launch->device].info->cores;
    if (launch->spans == NULL) {
        launch->spans = sb_alloc_zeroed(cores, sizeof *launch->spans);
        for (uint32_t i = 0; i < cores; i++)
            launch->spans[i] = (launch_span){INT64_MAX, INT64_MIN};
    }
    launch_span *span = &launch->spans[moment->sm];
    span->first = moment->timer_ns < span->first ? moment->timer_ns : span->first;
    span->last = moment->timer_ns > span->last ? moment->timer_ns : span->last;
}

static profiled_lane *lane_of(profiled_sm *sm, uint32_t lane) {
    while (sm->lanes.count <= lane)
        sb_vector_push(&sm->lanes);
    return sb_vector_at(&sm->lanes, lane);
}

static void see_begin(gpu_profiler *self, profiled_lane *lane, const sb_cuda_moment *moment) {
    const uint16_t id = id_of(self, moment);
    profiled_launch *launch = launch_at(self, moment->program);
    if (lane->depth < DEPTH_MAX)
        lane->open[lane->depth] = (open_zone){moment->program, id};
    lane->depth++;
    if (launch == NULL)
        return;
    widen(self, launch, moment);
    put_moment(self, moment, launch, PROFILER_START, id);
}

static void see_end(gpu_profiler *self, profiled_lane *lane, const sb_cuda_moment *moment) {
    if (lane->depth == 0 || --lane->depth >= DEPTH_MAX)
        return;
    const open_zone zone = lane->open[lane->depth];
    profiled_launch *launch = launch_at(self, zone.launch);
    if (launch == NULL)
        return;
    widen(self, launch, moment);
    put_moment(self, moment, launch, PROFILER_END, zone.id);
}

static void see_value(gpu_profiler *self, const sb_cuda_moment *moment) {
    const profiled_launch *launch = launch_at(self, moment->program);
    if (launch == NULL)
        return;
    if (moment->kind == SB_CUDA_MOMENT_EVENT)
        put_moment(self, moment, launch, PROFILER_EVENT, (uint16_t)moment->value);
    else
        put_moment(self, moment, launch,
                   moment->kind == SB_CUDA_MOMENT_DATA ? PROFILER_DATA : PROFILER_TOTAL,
                   id_of(self, moment));
}

static void see(void *of, const sb_cuda_moment *moment) {
    gpu_profiler *self = of;
    if (moment->gpu >= self->mesh->device_count ||
        moment->sm >= self->devices[moment->gpu].info->cores)
        return;
    pthread_mutex_lock(&self->lock);
    profiled_lane *lane = lane_of(&self->devices[moment->gpu].sms[moment->sm], moment->lane);
    if (moment->kind == SB_CUDA_MOMENT_BEGIN)
        see_begin(self, lane, moment);
    else if (moment->kind == SB_CUDA_MOMENT_END)
        see_end(self, lane, moment);
    else
        see_value(self, moment);
    pthread_mutex_unlock(&self->lock);
}

/* What recordings of this hardware's tools call an op; a replay is told from the others. */
static size_t name_program(void *of, uint32_t program, char *text, size_t room) {
    gpu_profiler *self = of;
    int size = 0;
    pthread_mutex_lock(&self->lock);
    const profiled_launch *launch = launch_at(self, program);
    if (launch != NULL && launch->name.trace_id != 0)
        size = snprintf(text, room, "OP ID:%u, replay %u", launch->name.id, launch->name.session);
    else if (launch != NULL)
        size = snprintf(text, room, "OP ID:%u", launch->name.id);
    pthread_mutex_unlock(&self->lock);
    return size > 0 && (size_t)size < room ? (size_t)size : 0;
}

/* ---- launches ---- */

uint32_t gpu_profiler_add(gpu_profiler *self, const sb_device *device,
                          const gpu_launch_name *name) {
    pthread_mutex_lock(&self->lock);
    *(profiled_launch *)sb_vector_push(&self->launches) =
        (profiled_launch){.device = device->info.index, .name = *name};
    const uint32_t number = self->first_number + (uint32_t)self->launches.count - 1;
    pthread_mutex_unlock(&self->lock);
    return number;
}

/* The SM as a whole. */
static void put_span(gpu_profiler *self, const profiled_launch *launch, uint32_t sm) {
    const profiled_device *device = &self->devices[launch->device];
    const uint64_t first = clocks_of(device, launch->spans[sm].first);
    const uint64_t last = clocks_of(device, launch->spans[sm].last);
    const profiler_marker markers[] = {
        {.time = first, .timer = (uint32_t)PROFILER_START << 16 | self->firmware_id},
        {.time = first, .timer = (uint32_t)PROFILER_START << 16 | self->kernel_id},
        {.time = last, .timer = (uint32_t)PROFILER_END << 16 | self->kernel_id},
        {.time = last, .timer = (uint32_t)PROFILER_END << 16 | self->firmware_id},
    };
    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++)
        put(self, sm, "BRISC", launch, &markers[i]);
}

/* Everything of them was seen; later numbers go on. */
static void write_launches(gpu_profiler *self) {
    for (size_t i = 0; i < self->launches.count; i++) {
        profiled_launch *launch = sb_vector_at(&self->launches, i);
        if (launch->spans == NULL)
            continue;
        for (uint32_t sm = 0; sm < self->devices[launch->device].info->cores; sm++)
            if (launch->spans[sm].first <= launch->spans[sm].last)
                put_span(self, launch, sm);
        free(launch->spans);
    }
    self->first_number += (uint32_t)self->launches.count;
    sb_vector_clear(&self->launches);
}

static sb_status write_out(gpu_profiler *self, sb_error *error) {
    pthread_mutex_lock(&self->lock);
    write_launches(self);
    const sb_status written = self->log != NULL ? profiler_log_flush(self->log, error) : SB_OK;
    pthread_mutex_unlock(&self->lock);
    return written;
}

/* Where launches cannot be waited for now, their zones come later: they are kept. */
sb_status gpu_profiler_read(gpu_profiler *self, sb_error *error) {
    SB_TRY(sb_cuda_flush(error));
    return write_out(self, error);
}

sb_status gpu_profiler_make_room(gpu_profiler *self, size_t launches, sb_error *error) {
    pthread_mutex_lock(&self->lock);
    const bool is_full =
        self->launches.count > 0 && self->launches.count + launches > LAUNCHES_MOST;
    pthread_mutex_unlock(&self->lock);
    return is_full ? gpu_profiler_read(self, error) : SB_OK;
}

bool gpu_profiler_reads_along(const gpu_profiler *self) {
    return self != NULL && (self->options.dumps_in_time || self->options.pushes_in_time);
}

uint64_t gpu_profiler_markers(gpu_profiler *self, const sb_device *device, uint32_t sm) {
    pthread_mutex_lock(&self->lock);
    const uint64_t markers = self->devices[device->info.index].sms[sm].markers;
    pthread_mutex_unlock(&self->lock);
    return markers;
}

/* ---- opening and closing ---- */

/* What was asked for and is not to be had on a GPU. */
static void say_what_is_not(const profiler_options *options) {
    const struct {
        bool is_asked;
        const char *variable;
    } asked[] = {
        {options->records_noc, "TT_METAL_DEVICE_PROFILER_NOC_EVENTS: a GPU has no NoC"},
        {options->syncs, "TT_METAL_PROFILER_SYNC: clocks of a GPU are compared in any case"},
        {options->joins_replays,
         "TT_METAL_TRACE_PROFILER: replays are recorded program by program"},
        {options->mode != PROFILER_NEVER_DROP,
         "STROBE_PROFILER_MODE: zones that find no room on a GPU are counted and lost"},
        {!options->pushes, "TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY: zones of a GPU go into the "
                           "recording, if the program makes one"},
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        if (asked[i].is_asked)
            sb_log(SB_LOG_NOTE, "%s", asked[i].variable);
}

static sb_status open_devices(gpu_profiler *self, sb_error *error) {
    sb_mesh *mesh = self->mesh;
    for (uint32_t i = 0; i < mesh->device_count; i++) {
        profiled_device *device = &self->devices[i];
        device->info = &mesh->devices[i].info;
        device->sms = sb_alloc_zeroed(device->info->cores, sizeof *device->sms);
        for (uint32_t sm = 0; sm < device->info->cores; sm++)
            device->sms[sm].lanes = sb_vector_of(sizeof(profiled_lane));
        SB_TRY(gpu_use(&mesh->devices[i], error));
        SB_TRY(sb_cuda_timer_now(&device->origin, error));
    }
    return SB_OK;
}

static sb_status open_log(gpu_profiler *self, sb_error *error) {
    const sb_device_info *info = self->devices[0].info;
    const profiler_log_chip chip = {info->architecture, info->clock_mhz, info->cores};
    return profiler_log_open(self->options.folder, &chip, &self->names, &self->log, error);
}

sb_status gpu_profiler_open(sb_mesh *mesh, gpu_profiler **profiler, sb_error *error) {
    profiler_options options;
    SB_TRY(profiler_options_read(&options, false, error));
    mesh->records_memory = options.records_memory;
    mesh->tracks_traces = options.is_on && options.tracks_traces;
    if (!options.is_on)
        return SB_OK;
    say_what_is_not(&options);
    gpu_profiler *self = sb_alloc_zeroed(1, sizeof *self);
    self->mesh = mesh;
    self->options = options;
    self->launches = sb_vector_of(sizeof(profiled_launch));
    self->first_number = 1;
    self->devices = sb_alloc_zeroed(mesh->device_count, sizeof *self->devices);
    pthread_mutex_init(&self->lock, NULL);
    profiler_names_init(&self->names);
    self->firmware_id = add_name(self, "BRISC-FW", "", 0);
    self->kernel_id = add_name(self, "BRISC-KERNEL", "", 0);
    *profiler = self;
    SB_TRY(open_devices(self, error));
    if (options.writes_files)
        SB_TRY(open_log(self, error));
    sb_cuda_observe(&(sb_cuda_observer){.see = see, .name = name_program, .context = self});
    return SB_OK;
}

static void free_devices(gpu_profiler *self) {
    for (uint32_t i = 0; i < self->mesh->device_count; i++) {
        const profiled_device *device = &self->devices[i];
        for (uint32_t sm = 0; device->sms != NULL && sm < device->info->cores; sm++)
            sb_vector_free(&device->sms[sm].lanes);
        free(device->sms);
    }
    free(self->devices);
}

void gpu_profiler_close(gpu_profiler *self) {
    sb_error error;
    if (self == NULL)
        return;
    if (self->launches.count > 0 && gpu_profiler_read(self, &error) != SB_OK)
        sb_log(SB_LOG_WARNING, "the profiler: %s", error.message);
    sb_cuda_observe(NULL);
    write_launches(self); /* that could not be waited for: what was seen of them */
    if (profiler_log_close(self->log, &error) != SB_OK)
        sb_log(SB_LOG_WARNING, "%s", error.message);
    free_devices(self);
    profiler_names_free(&self->names);
    sb_vector_free(&self->launches);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
