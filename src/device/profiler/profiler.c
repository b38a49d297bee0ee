/*
 * Opening, reading, closing; and what is said about losses.
 */
#include "device/profiler/profiler.h"

#include <stdio.h>
#include <stdlib.h>

#include "device/device_gpu.h"
#include "device/profiler/profiler_cost.h"
#include "device/profiler/profiler_link.h"
#include "device/profiler/profiler_noc.h"
#include "device/profiler/profiler_side.h"
#include "device/profiler/profiler_tracks.h"
#include "device/profiler/profiler_whole.h"

/* Processors named in a warning; the rest is counted. */
#define NAMED_LANES 4
/* Readers of a recording take times that go back by two seconds for a clock that ran over. */
#define FETCH_NS INT64_C(1000000000)
/* Clocks by which cores may differ before it is worth a warning. */
#define LARGE_SKEW 1000

/* ---- names of places ---- */

sb_core profiler_physical(sb_core core) {
    static const uint8_t x[8] = {1, 2, 3, 4, 6, 7, 8, 9};
    static const uint8_t y[10] = {1, 2, 3, 4, 5, 7, 8, 9, 10, 11};
    return (sb_core){x[core.x], y[core.y]};
}

const char *profiler_processor_text(uint32_t processor) {
    static const char *const names[PROFILER_LANES] = {"BRISC",   "NCRISC",  "TRISC_0",
                                                      "TRISC_1", "TRISC_2", "TENSIX_RISC_AGG"};
    return names[processor];
}

static uint32_t core_count(const profiler_device *self) {
    return self->device->info.columns * self->device->info.rows;
}

/* ---- opening ---- */

sb_status device_profiler_create(sb_mesh *mesh, sb_error *error) {
    profiler_options options;
    SB_TRY(profiler_options_read(&options, mesh->options.kind == DEVICE_EMU, error));
    mesh->records_memory = options.records_memory;
    if (options.records_memory || (options.is_on && options.pushes))
        profiler_tracks_prepare();
    if (!options.is_on)
        return SB_OK;
    device_profiler *self = sb_alloc_zeroed(1, sizeof *self);
    *self = (device_profiler){.mesh = mesh,
                              .options = options,
                              .slot_bytes = profiler_slot_bytes(&options),
                              .decoder = profiler_decoder_of(NULL, 0, 0)};
    self->words = sb_alloc(self->slot_bytes);
    profiler_names_init(&self->names);
    self->devices = sb_alloc_zeroed(mesh->options.chips, sizeof *self->devices);
    mesh->profiler = self;
    mesh->tracks_traces = options.tracks_traces;
    const profiler_log_chip chip = {DEVICE_ARCHITECTURE, DEVICE_CLOCK_MHZ,
                                    mesh->options.columns * mesh->options.rows};
    return options.writes_files
               ? profiler_log_open(options.folder, &chip, &self->names, &self->log, error)
               : SB_OK;
}

device_instrument device_profiler_instrument(const device_profiler *profiler) {
    if (profiler == NULL)
        return (device_instrument){0};
    return (device_instrument){.is_on = true,
                               .adds_up = profiler->options.adds_up,
                               .accumulates = profiler->options.accumulates,
                               .drops = profiler->options.mode == PROFILER_DROP_NEWEST,
                               .records_steps = profiler->options.records_steps,
                               .counts_instructions = profiler->options.counts_instructions,
                               .records_noc = profiler->options.records_noc,
                               .records_noc_steps = profiler->options.records_noc_steps};
}

sb_status device_profiler_name_zones(device_profiler *profiler, device_image *image,
                                     sb_error *error) {
    return profiler != NULL ? profiler_names_write(&profiler->names, image, error) : SB_OK;
}

void device_profiler_prepare(sb_device *device) {
    profiler_device *self = profiler_of(device);
    if (self == NULL)
        return;
    *self = (profiler_device){.profiler = device->mesh->profiler,
                              .device = device,
                              .replays = sb_vector_of(sizeof(profiler_replay))};
    self->cores_per_bank = profiler_cores_per_bank(core_count(self));
    if (self->profiler->options.pushes)
        self->tracks = profiler_tracks_open(self);
    if (self->profiler->options.records_noc && self->profiler->options.writes_files)
        self->noc = profiler_noc_open(self);
}

/* It is taken out of all times here, but other tools that read the log do not know of it. */
static void warn_of_skew(const profiler_device *self) {
    int64_t most = 0;
    for (uint32_t i = 0; i < core_count(self); i++)
        if (llabs(self->clock.skews[i]) > most)
            most = llabs(self->clock.skews[i]);
    if (most > LARGE_SKEW)
        sb_log(SB_LOG_WARNING,
               "clocks of the cores of device %u differ by up to %lld: compare times in "
               "profile_log_device.csv only within a core",
               self->device->info.index, (long long)most);
}

/* All clocks first: a device that waits looks after the others as well. */
sb_status device_profiler_start(device_profiler *profiler, sb_error *error) {
    if (profiler == NULL)
        return SB_OK;
    const uint32_t count = profiler->mesh->device_count;
    for (uint32_t i = 0; i < count; i++) {
        profiler_device *self = &profiler->devices[i];
        SB_TRY(profiler_clock_open(&self->clock, self->device, profiler->options.syncs, error));
        warn_of_skew(self);
        if (profiler->options.joins_replays)
            SB_TRY(profiler_whole_open(self, &self->whole, error));
    }
    SB_TRY(profiler_measure_links(profiler, error));
    for (uint32_t i = 0; i < count; i++) {
        SB_TRY(profiler_measure_costs(&profiler->devices[i], error));
        SB_TRY(profiler_look(&profiler->devices[i], error));
    }
    if (!profiler->options.writes_files)
        return SB_OK;
    SB_TRY(profiler_write_costs(profiler, error));
    return profiler_write_sync(profiler, error);
}

/* ---- while programs run ---- */

/* What was delivered is in its files, whatever happens to this process. */
static sb_status write_out(profiler_device *self, sb_error *error) {
    if (self->noc != NULL)
        SB_TRY(profiler_noc_write(self->noc, error));
    return self->profiler->log != NULL ? profiler_log_flush(self->profiler->log, error) : SB_OK;
}

static sb_status fetch(profiler_device *self, sb_error *error) {
    SB_TRY(profiler_fetch(self, error));
    return write_out(self, error);
}

sb_status device_profiler_before_launch(sb_device *device, sb_error *error) {
    profiler_device *self = profiler_of(device);
    if (self == NULL)
        return SB_OK;
    SB_TRY(profiler_clock_follow(&self->clock, device, error));
    if (self->profiler->options.mode == PROFILER_DROP_NEWEST)
        return SB_OK;
    if (self->launches_until_look == 0)
        SB_TRY(profiler_look(self, error));
    const bool is_late = self->tracks != NULL && sb_clock_ns() - self->fetched_ns > FETCH_NS;
    if (self->launches_until_look == 0 || is_late) {
        SB_TRY(fetch(self, error));
        SB_TRY(profiler_look(self, error));
    }
    self->launches_until_look -= self->launches_until_look > 0 ? 1 : 0;
    return SB_OK;
}

void device_profiler_launched(sb_device *device) {
    profiler_device *self = profiler_of(device);
    if (self != NULL)
        profiler_clock_launched(&self->clock, device);
}

sb_status device_profiler_serve(sb_device *device, bool *has_served, sb_error *error) {
    profiler_device *self = profiler_of(device);
    if (self == NULL || self->profiler->options.mode == PROFILER_DROP_NEWEST)
        return SB_OK;
    SB_TRY(profiler_clock_follow(&self->clock, device, error));
    for (uint32_t core = 0; core < core_count(self); core++)
        SB_TRY(profiler_serve_core(self, core, has_served, error));
    return SB_OK;
}

/* Where somebody reads along, a program is written down as soon as it has ended. */
static bool is_read_along(const profiler_device *self) {
    const profiler_options *options = &self->profiler->options;
    return (options->dumps_in_time || options->pushes_in_time) &&
           options->mode == PROFILER_NEVER_DROP && !self->is_measuring;
}

sb_status device_profiler_finished(sb_device *device, sb_error *error) {
    profiler_device *self = profiler_of(device);
    if (self == NULL)
        return SB_OK;
    SB_TRY(profiler_clock_follow(&self->clock, device, error));
    if (!is_read_along(self))
        return SB_OK;
    SB_TRY(fetch(self, error));
    return profiler_look(self, error);
}

uint32_t device_profiler_replay(sb_device *device, uint32_t trace_id) {
    profiler_device *self = profiler_of(device);
    if (self == NULL)
        return 0;
    uint32_t session = 1;
    for (size_t i = 0; i < self->replays.count; i++)
        if (((const profiler_replay *)sb_vector_at(&self->replays, i))->trace_id == trace_id)
            session++;
    *(profiler_replay *)sb_vector_push(&self->replays) = (profiler_replay){trace_id, session};
    return (uint32_t)self->replays.count;
}

void device_profiler_trace(sb_device *device, const char *what, uint32_t trace_id) {
    char text[96];
    if (!device->mesh->tracks_traces)
        return;
    const int size = snprintf(text, sizeof text, "`TT_METAL_TRACE_%s: %u, %u`", what,
                              device->info.index, trace_id);
    profiler_tracks_say(false, (sb_slice){text, (size_t)size});
}

void device_profiler_trace_program(sb_device *device, uint32_t trace_id, uint32_t program_id) {
    char text[96];
    if (!device->mesh->tracks_traces)
        return;
    const int size = snprintf(text, sizeof text, "`TT_METAL_TRACE_ENQUEUE_PROGRAM: %u, %u, %u`",
                              device->info.index, trace_id, program_id);
    profiler_tracks_say(false, (sb_slice){text, (size_t)size});
}

bool profiler_find_replay(const profiler_device *self, uint32_t number, profiler_replay *replay) {
    if (number == 0 || number > self->replays.count)
        return false;
    *replay = *(const profiler_replay *)sb_vector_at(&self->replays, number - 1);
    return true;
}

static void log_block(const profiler_device *self, uint32_t core, const profiler_block *block) {
    profiler_replay replay;
    const bool is_replay = profiler_find_replay(self, block->replay, &replay);
    const profiler_log_place place = {
        .device = self->device->info.index,
        .core = profiler_physical(profiler_core_at(self->device, core)),
        .processor = profiler_processor_text(block->processor),
        .program = block->program,
        .replay = is_replay ? &replay : NULL,
    };
    profiler_log_put(self->profiler->log, &place, block->markers, block->count);
}

void profiler_write_down(profiler_device *self, uint32_t core, const profiler_block *block) {
    if (self->profiler->log != NULL)
        log_block(self, core, block);
    if (self->tracks != NULL)
        profiler_tracks_put(self->tracks, core, block);
}

void profiler_deliver(profiler_device *self, uint32_t core, const profiler_block *block) {
    if (self->is_measuring)
        return;
    if (self->whole != NULL)
        profiler_whole_put(self->whole, core, block);
    else
        profiler_write_down(self, core, block);
    if (self->noc != NULL)
        profiler_noc_put(self->noc, core, block);
}

void profiler_delivered(profiler_device *self, uint32_t core) {
    if (self->whole != NULL)
        profiler_whole_deliver(self->whole, core, self->is_closing);
    if (self->tracks != NULL)
        profiler_tracks_flush(self->tracks, core);
}

/* ---- reading ---- */

static sb_status read_all(profiler_device *self, sb_error *error) {
    SB_TRY(profiler_fetch(self, error));
    if (self->profiler->options.mode == PROFILER_KEEP_NEWEST)
        profiler_deliver_kept(self);
    SB_TRY(profiler_look(self, error));
    return write_out(self, error);
}

sb_status sb_read_profiler(sb_device *device, sb_error *error) {
    if (device_is_gpu(device))
        return device_gpu_read_profiler(device, error);
    profiler_device *self = profiler_of(device);
    SB_TRY(device_wait(device, error));
    return self != NULL ? read_all(self, error) : SB_OK;
}

bool sb_profiler_is_on(const sb_device *device) {
    return device->mesh->profiler != NULL ||
           (device_is_gpu(device) && device_gpu_is_profiled(device));
}

sb_profiler_counts sb_profiler_count(const sb_device *device, sb_core core,
                                     sb_processor processor) {
    if (device_is_gpu(device))
        return device_gpu_count(device, core, processor);
    const profiler_device *self = profiler_of(device);
    if (self == NULL || device_check_core(device, core, NULL) != SB_OK ||
        (uint32_t)processor >= SB_PROCESSORS)
        return (sb_profiler_counts){0};
    return self->lanes[device_core_index(device, core)][processor].counts;
}

sb_profiler_costs sb_profiler_cost(const sb_device *device) {
    const profiler_device *self = profiler_of(device);
    return self != NULL ? self->costs : (sb_profiler_costs){0};
}

double sb_profiler_error_ns(const sb_device *device) {
    if (device_is_gpu(device))
        return device_gpu_error_ns(device);
    const profiler_device *self = profiler_of(device);
    return self != NULL ? self->clock.error_ns : 0;
}

/* ---- losses ---- */

typedef struct loss_cause {
    size_t count; /* offset in sb_profiler_counts */
    const char *what;
    const char *remedy;
    const char *remedy_otherwise; /* if nothing is dropped on purpose; NULL: the same */
} loss_cause;

static const char *remedy_for(const loss_cause *cause, profiler_mode mode) {
    return mode != PROFILER_DROP_NEWEST && cause->remedy_otherwise != NULL ? cause->remedy_otherwise
                                                                           : cause->remedy;
}

static const loss_cause causes[] = {
    {offsetof(sb_profiler_counts, refused), "Profiler L1 buffers were full, markers were dropped!",
     "use fewer zones in a kernel, or leave out STROBE_PROFILER_MODE=drop-newest",
     "nest fewer zones: of more than 247 that are open at a time the inner ones have no room"},
    {offsetof(sb_profiler_counts, dropped),
     "Profiler DRAM buffers were full, markers were dropped!",
     "decrease the number of programs between two calls of sb_read_profiler, raise "
     "TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT, or leave out STROBE_PROFILER_MODE=drop-newest",
     NULL},
    {offsetof(sb_profiler_counts, overwritten), "Older programs were not kept.",
     "raise TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT, or leave out "
     "STROBE_PROFILER_MODE=keep-newest",
     NULL},
    {offsetof(sb_profiler_counts, strange),
     "Profiler buffers held words that are no markers: something wrote into them.",
     "try the device's option watcher=1, which finds stray writes", NULL},
};

static uint64_t loss_of(const profiler_lane *lane, const loss_cause *cause) {
    uint64_t count;
    memcpy(&count, (const char *)&lane->counts + cause->count, sizeof count);
    return count;
}

/* One sentence for each cause, with the processors that are concerned. */
static void say_loss(const profiler_device *self, const loss_cause *cause) {
    uint64_t total = 0;
    uint32_t lanes = 0;
    sb_output text = sb_output_to_memory();
    for (uint32_t core = 0; core < core_count(self); core++)
        for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
            const uint64_t lost = loss_of(&self->lanes[core][i], cause);
            const sb_core place = profiler_physical(profiler_core_at(self->device, core));
            if (lost == 0)
                continue;
            total += lost;
            if (lanes++ < NAMED_LANES)
                sb_put_format(&text, "%s core %u,%u %s: %llu", lanes > 1 ? ";" : "", place.x,
                              place.y, profiler_processor_text(i), (unsigned long long)lost);
        }
    if (lanes > NAMED_LANES)
        sb_put_format(&text, "; and %u more processors", lanes - NAMED_LANES);
    if (total > 0) {
        sb_arena arena = {0};
        const sb_slice sentence =
            sb_arena_format(&arena, "%s Device %u, %llu in all:%.*s. Please %s.", cause->what,
                            self->device->info.index, (unsigned long long)total, (int)text.used,
                            text.buffer, remedy_for(cause, self->profiler->options.mode));
        sb_log(SB_LOG_WARNING, "%s", sentence.data);
        if (self->tracks != NULL)
            profiler_tracks_say(true, sentence);
        sb_arena_free(&arena);
    }
    sb_output_discard(&text);
}

static void say_losses(const profiler_device *self) {
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        say_loss(self, &causes[i]);
}

/* ---- closing ---- */

static void close_device(profiler_device *self) {
    sb_error error;
    if (self->device == NULL)
        return;
    self->is_closing = true;
    /* A device that stopped has said why; what it recorded is still there. */
    const bool has_stopped = device_wait(self->device, NULL) != SB_OK;
    if ((has_stopped && profiler_salvage(self, &error) != SB_OK) || read_all(self, &error) != SB_OK)
        sb_log(SB_LOG_WARNING, "the profiler of device %u: %s", self->device->info.index,
               error.message);
    say_losses(self);
    profiler_tracks_close(self->tracks);
    profiler_noc_close(self->noc);
    profiler_whole_close(self->whole);
    profiler_free_kept(self);
    profiler_clock_free(&self->clock);
    sb_vector_free(&self->replays);
}

void device_profiler_close(device_profiler *profiler) {
    sb_error error;
    if (profiler == NULL)
        return;
    for (uint32_t i = 0; i < profiler->mesh->device_count; i++)
        close_device(&profiler->devices[i]);
    if (profiler->log != NULL && profiler_write_locations(profiler, &error) != SB_OK)
        sb_log(SB_LOG_WARNING, "%s", error.message);
    if (profiler_log_close(profiler->log, &error) != SB_OK)
        sb_log(SB_LOG_WARNING, "%s", error.message);
    profiler_decoder_free(&profiler->decoder);
    profiler_names_free(&profiler->names);
    free(profiler->devices);
    free(profiler->words);
    free(profiler);
}
