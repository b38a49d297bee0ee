/*
 * Launching. What the cores of a program are told is first written down as a list of writes (a
 * launch): an enqueue performs it at once, a trace keeps it and performs it again and again.
 */
#include <stdlib.h>
#include <string.h>

#include "device/device_gpu.h"
#include "device/device_profiler.h"
#include "device/device_program.h"

typedef struct launch_write {
    sb_core core;
    uint32_t address;
    uint32_t offset; /* into bytes */
    uint32_t size;
} launch_write;

typedef struct launch {
    sb_program *program;
    uint32_t program_id; /* 0: the next free one */
    sb_vector writes;    /* launch_write */
    sb_output bytes;
    sb_vector cores; /* sb_core: those that take part */
} launch;

struct sb_device_trace {
    sb_device *device;
    uint32_t id;
    sb_vector launches; /* launch */
    gpu_trace *gpu;     /* of a GPU, in place of launches */
};

/* ---- writing it down ---- */

static void put_write(launch *self, sb_core core, uint32_t address, const void *data, size_t size) {
    *(launch_write *)sb_vector_push(&self->writes) =
        (launch_write){.core = core,
                       .address = address,
                       .offset = (uint32_t)self->bytes.used,
                       .size = (uint32_t)size};
    sb_put(&self->bytes, (sb_slice){data, size});
}

static uint32_t put_kernels(launch *self, sb_core core, uint32_t index) {
    uint32_t processors = 0;
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        const program_kernel *kernel = program_kernel_at(self->program, core, i);
        if (kernel == NULL)
            continue;
        processors |= 1u << i;
        if (kernel->args[index].count > 0)
            put_write(self, core, SB_L1_ARGS + i * SB_L1_ARGS_BYTES, kernel->args[index].words,
                      kernel->args[index].count * 4);
    }
    return processors;
}

static uint32_t put_circulars(launch *self, sb_core core) {
    uint32_t mask = 0;
    for (size_t i = 0; i < self->program->circulars.count; i++) {
        const program_circular *circular = sb_vector_at(&self->program->circulars, i);
        if (!range_has(circular->cores, core))
            continue;
        mask |= 1u << circular->id;
        put_write(self, core, SB_L1_CIRCULAR + circular->id * (uint32_t)sizeof(sb_circular),
                  &circular->config, sizeof circular->config);
    }
    return mask;
}

static void put_semaphores(launch *self, sb_core core) {
    for (size_t i = 0; i < self->program->semaphores.count; i++) {
        const program_semaphore *semaphore = sb_vector_at(&self->program->semaphores, i);
        if (range_has(semaphore->cores, core))
            put_write(self, core, SB_L1_SEMAPHORES + semaphore->id * SB_SEMAPHORE_STRIDE,
                      &semaphore->initial, 4);
    }
}

static void put_core(launch *self, sb_core core) {
    const uint32_t index = device_core_index(self->program->device, core);
    const uint32_t processors = put_kernels(self, core, index);
    if (processors == 0)
        return;
    const sb_launch message = {.processors = processors, .circular = put_circulars(self, core)};
    put_semaphores(self, core);
    put_write(self, core, SB_L1_MAILBOX + (uint32_t)offsetof(sb_mailbox, launch.processors),
              &message.processors, offsetof(sb_launch, replay) - offsetof(sb_launch, processors));
    *(sb_core *)sb_vector_push(&self->cores) = core;
}

static launch write_down(sb_program *program) {
    const sb_device_info *info = &program->device->info;
    launch self = {.program = program,
                   .program_id = program->id,
                   .writes = sb_vector_of(sizeof(launch_write)),
                   .bytes = sb_output_to_memory(),
                   .cores = sb_vector_of(sizeof(sb_core))};
    for (uint32_t y = 0; y < info->rows; y++)
        for (uint32_t x = 0; x < info->columns; x++)
            put_core(&self, (sb_core){x, y});
    return self;
}

static void free_launch(launch *self) {
    sb_vector_free(&self->writes);
    sb_vector_free(&self->cores);
    sb_output_discard(&self->bytes);
}

/* ---- performing it ---- */

/* What we built has a name made from its content; a file of the user's may have changed. */
static bool is_loaded(const char *path, const program_kernel *kernel) {
    if (path == NULL)
        return false;
    return path == kernel->image.path || (!kernel->is_elf && strcmp(path, kernel->image.path) == 0);
}

static sb_status load_kernels(sb_device *device, const sb_program *program, sb_core core,
                              sb_error *error) {
    const char **loaded = device->loaded[device_core_index(device, core)];
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        const program_kernel *kernel = program_kernel_at(program, core, i);
        /* One that was added after the launch was recorded may not even be built. */
        if (kernel == NULL || kernel->image.path == NULL || is_loaded(loaded[i], kernel))
            continue;
        SB_TRY(device_image_load(device, core, &kernel->image, error));
        loaded[i] = kernel->image.path;
    }
    return SB_OK;
}

/* What is different in each run: what it is called in recordings. */
static sb_status write_names(sb_device *device, sb_core core, uint32_t program_id, uint32_t replay,
                             sb_error *error) {
    SB_TRY(sb_device_write_l1(device, core,
                              SB_L1_MAILBOX + (uint32_t)offsetof(sb_mailbox, launch.program_id),
                              &program_id, 4, error));
    return sb_device_write_l1(device, core,
                              SB_L1_MAILBOX + (uint32_t)offsetof(sb_mailbox, launch.replay),
                              &replay, 4, error);
}

static sb_status perform(const launch *self, uint32_t replay, sb_error *error) {
    static const uint32_t go = SB_GO;
    sb_device *device = self->program->device;
    SB_TRY(device_wait(device, error));
    SB_TRY(device_profiler_before_launch(device, error));
    const uint32_t id = self->program_id != 0 ? self->program_id : device->next_program_id++;
    for (size_t i = 0; i < self->cores.count; i++) {
        const sb_core core = *(const sb_core *)sb_vector_at(&self->cores, i);
        SB_TRY(load_kernels(device, self->program, core, error));
        SB_TRY(write_names(device, core, id, replay, error));
    }
    for (size_t i = 0; i < self->writes.count; i++) {
        const launch_write *write = sb_vector_at(&self->writes, i);
        SB_TRY(sb_device_write_l1(device, write->core, write->address,
                                  self->bytes.buffer + write->offset, write->size, error));
    }
    for (size_t i = 0; i < self->cores.count; i++)
        SB_TRY(sb_device_write_l1(device, *(const sb_core *)sb_vector_at(&self->cores, i),
                                  SB_L1_MAILBOX + (uint32_t)offsetof(sb_mailbox, go), &go, 4,
                                  error));
    device->running = self->program;
    device->started = sb_device_clock(device);
    device_profiler_launched(device);
    return SB_OK;
}

/* ---- waiting ---- */

static bool takes_part(const sb_program *program, sb_core core) {
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        if (program_kernel_at(program, core, i) != NULL)
            return true;
    return false;
}

/* Another device of the mesh may still do what this one waits for. */
static bool is_stuck(const sb_mesh *mesh) {
    return mesh->backend->is_still != NULL && mesh->backend->is_still(mesh->machine);
}

/*
 * Clocks until the next look. Where time is counted a look may cost more than the clocks between
 * two of them (another process is asked), so they get rarer as a program gets longer; modelled time
 * is for gaps between programs to be looked at, so there they stay close.
 */
static uint64_t clocks_until_look(const sb_device *device) {
    const uint64_t elapsed = sb_device_clock(device) - device->started;
    uint64_t clocks = elapsed / 8 / DEVICE_POLL_CLOCKS * DEVICE_POLL_CLOCKS;
    if (!device->mesh->options.counts_time || clocks < DEVICE_POLL_CLOCKS)
        clocks = DEVICE_POLL_CLOCKS;
    return clocks < DEVICE_POLL_CLOCKS_MAX ? clocks : DEVICE_POLL_CLOCKS_MAX;
}

static sb_status wait_for_core(sb_device *device, sb_core core, sb_error *error) {
    const uint64_t limit = device->mesh->options.limit_clocks;
    for (;;) {
        uint32_t go = SB_GO;
        SB_TRY(sb_device_read_l1(device, core, SB_L1_MAILBOX + (uint32_t)offsetof(sb_mailbox, go),
                                 &go, 4, error));
        if (go == SB_DONE)
            return SB_OK;
        if (limit != 0 && sb_device_clock(device) - device->started > limit)
            return device_report_limit(device, error);
        SB_TRY(device_run(device->mesh, clocks_until_look(device), error));
        bool has_moved = false;
        for (uint32_t i = 0; i < device->mesh->device_count; i++) {
            SB_TRY(device_print_drain(&device->mesh->devices[i], &has_moved, error));
            SB_TRY(device_profiler_serve(&device->mesh->devices[i], &has_moved, error));
        }
        if (!has_moved && is_stuck(device->mesh)) {
            SB_TRY(sb_device_read_l1(
                device, core, SB_L1_MAILBOX + (uint32_t)offsetof(sb_mailbox, go), &go, 4, error));
            if (go != SB_DONE)
                return device_report_deadlock(device, error);
        }
    }
}

/* What the kernels left behind about their stacks. */
static sb_status check_stacks(sb_device *device, const sb_program *program, sb_core core,
                              sb_error *error) {
    sb_mailbox mail;
    SB_TRY(sb_device_read_l1(device, core, SB_L1_MAILBOX, &mail, sizeof mail, error));
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        program_kernel *kernel = program_kernel_at(program, core, i);
        if (kernel == NULL)
            continue;
        if (mail.overflows[i] != 0)
            SB_FAIL(error, SB_ERR_DEVICE,
                    "kernel %s on %s of core (%u,%u) ran over the end of its stack: %u bytes of "
                    "local memory are left beside its data",
                    kernel->name, device_processor_name(i), core.x, core.y,
                    program_kernel_sizes(kernel).stack_room);
        if (mail.stack_bytes[i] > kernel->stack_bytes)
            kernel->stack_bytes = mail.stack_bytes[i];
    }
    return SB_OK;
}

sb_status device_wait(sb_device *device, sb_error *error) {
    const sb_program *program = device->running;
    if (device->mesh->failed != SB_OK)
        SB_FAIL(error, device->mesh->failed, "%s", device->mesh->failure);
    if (device_is_gpu(device))
        return device_gpu_wait(device, error);
    if (program == NULL)
        return SB_OK;
    for (uint32_t y = 0; y < device->info.rows; y++)
        for (uint32_t x = 0; x < device->info.columns; x++)
            if (takes_part(program, (sb_core){x, y}))
                SB_TRY(wait_for_core(device, (sb_core){x, y}, error));
    device->running = NULL;
    for (uint32_t y = 0; y < device->info.rows; y++)
        for (uint32_t x = 0; x < device->info.columns; x++)
            if (takes_part(program, (sb_core){x, y}))
                SB_TRY(check_stacks(device, program, (sb_core){x, y}, error));
    return device_profiler_finished(device, error);
}

void device_forget_program(sb_device *device, const sb_program *program) {
    if (device->running == program)
        (void)device_wait(device, NULL);
    device->running = device->running == program ? NULL : device->running;
    for (uint32_t core = 0; core < DEVICE_MAX_CORES; core++)
        for (uint32_t i = 0; i < SB_PROCESSORS; i++)
            for (size_t k = 0; k < program->kernels.count; k++) {
                const program_kernel *kernel = sb_vector_at(&program->kernels, k);
                if (device->loaded[core][i] == kernel->image.path)
                    device->loaded[core][i] = NULL;
            }
}

/* ---- the public functions ---- */

static sb_status enqueue_on_gpu(const sb_program *program, sb_error *error) {
    sb_device *device = program->device;
    const uint32_t id = program->id != 0 ? program->id : device->next_program_id++;
    if (device->recording == NULL)
        return device_gpu_launch(program->gpu, id, error);
    device_profiler_trace_program(device, device->recording->id, id);
    return device_gpu_trace_add(device->recording->gpu, program->gpu, id, error);
}

sb_status sb_program_enqueue(sb_program *program, sb_error *error) {
    sb_device *device = program->device;
    if (program->gpu != NULL)
        return enqueue_on_gpu(program, error);
    if (program->kernels.count == 0)
        SB_FAIL(error, SB_ERR_USAGE, "a program without kernels was enqueued");
    SB_TRY(sb_program_build(program, error));
    launch written = write_down(program);
    if (device->recording != NULL) {
        /* Replays are told apart by their number, programs by their id: that stays the same. */
        if (written.program_id == 0)
            written.program_id = device->next_program_id++;
        device_profiler_trace_program(device, device->recording->id, written.program_id);
        *(launch *)sb_vector_push(&device->recording->launches) = written;
        return SB_OK;
    }
    const sb_status status = perform(&written, 0, error);
    free_launch(&written);
    return status;
}

sb_status sb_device_finish(sb_device *device, sb_error *error) {
    SB_TRY(device_check(device, error));
    return device_wait(device, error);
}

sb_status sb_device_trace_begin(sb_device *device, sb_error *error) {
    SB_TRY(device_check(device, error));
    if (device->recording != NULL)
        SB_FAIL(error, SB_ERR_USAGE, "a trace is already being recorded on device %u",
                device->info.index);
    gpu_trace *gpu = NULL;
    if (device_is_gpu(device))
        SB_TRY(device_gpu_trace_create(device, &gpu, error));
    device->recording = sb_alloc(sizeof *device->recording);
    *device->recording = (sb_device_trace){.device = device,
                                           .id = device->next_trace_id++,
                                           .launches = sb_vector_of(sizeof(launch)),
                                           .gpu = gpu};
    device_profiler_trace(device, "BEGIN", device->recording->id);
    return SB_OK;
}

sb_status sb_device_trace_end(sb_device *device, sb_device_trace **trace, sb_error *error) {
    SB_TRY(device_check(device, error));
    if (device->recording == NULL)
        SB_FAIL(error, SB_ERR_USAGE, "no trace is being recorded on device %u", device->info.index);
    *trace = device->recording;
    device->recording = NULL;
    device_profiler_trace(device, "END", (*trace)->id);
    return SB_OK;
}

sb_status sb_device_trace_replay(sb_device_trace *trace, sb_error *error) {
    if (trace->device->recording != NULL)
        SB_FAIL(error, SB_ERR_USAGE, "a trace cannot be replayed while another is recorded");
    if (trace->gpu != NULL) {
        device_profiler_trace(trace->device, "REPLAY", trace->id);
        return device_gpu_trace_replay(trace->gpu, trace->id, error);
    }
    const uint32_t replay = device_profiler_replay(trace->device, trace->id);
    device_profiler_trace(trace->device, "REPLAY", trace->id);
    for (size_t i = 0; i < trace->launches.count; i++)
        SB_TRY(perform(sb_vector_at(&trace->launches, i), replay, error));
    return SB_OK;
}

void sb_device_trace_destroy(sb_device_trace *trace) {
    if (trace == NULL)
        return;
    device_profiler_trace(trace->device, "RELEASE", trace->id);
    for (size_t i = 0; i < trace->launches.count; i++)
        free_launch(sb_vector_at(&trace->launches, i));
    sb_vector_free(&trace->launches);
    device_gpu_trace_destroy(trace->gpu);
    free(trace);
}
