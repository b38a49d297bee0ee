#include "device/device_program.h"

#include <stdlib.h>
#include <string.h>

#include "device/device_build.h"
#include "device/device_profiler.h"

sb_program *sb_program_create(sb_device *device) {
    sb_program *program = sb_alloc(sizeof *program);
    *program = (sb_program){.device = device,
                            .kernels = sb_vector_of(sizeof(program_kernel)),
                            .circulars = sb_vector_of(sizeof(program_circular)),
                            .semaphores = sb_vector_of(sizeof(program_semaphore))};
    if (device != NULL) {
        program->next = device->programs;
        device->programs = program;
    }
    if (device_is_gpu(device))
        program->gpu = device_gpu_program_create(device);
    return program;
}

static void forget(sb_program *program) {
    if (program->device == NULL)
        return;
    device_forget_program(program->device, program);
    sb_program **link = &program->device->programs;
    while (*link != program)
        link = &(*link)->next;
    *link = program->next;
}

static void free_kernel(program_kernel *kernel) {
    device_image_close(&kernel->image);
    for (size_t i = 0; i < DEVICE_MAX_CORES; i++)
        free(kernel->args[i].words);
}

void sb_program_destroy(sb_program *program) {
    if (program == NULL)
        return;
    forget(program);
    for (size_t i = 0; i < program->kernels.count; i++)
        free_kernel(sb_vector_at(&program->kernels, i));
    sb_vector_free(&program->kernels);
    sb_vector_free(&program->circulars);
    sb_vector_free(&program->semaphores);
    device_gpu_program_destroy(program->gpu);
    sb_arena_free(&program->arena);
    free(program);
}

void sb_program_set_id(sb_program *program, uint32_t id) {
    program->id = id;
}

/* ---- kernels ---- */

program_kernel *program_kernel_at(const sb_program *program, sb_core core, uint32_t processor) {
    for (size_t i = 0; i < program->kernels.count; i++) {
        program_kernel *kernel = sb_vector_at(&program->kernels, i);
        if (kernel->processor == processor && range_has(kernel->cores, core))
            return kernel;
    }
    return NULL;
}

static const char *copy(sb_program *program, const char *text) {
    return text == NULL ? NULL : sb_arena_format(&program->arena, "%s", text).data;
}

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static sb_status check_kernel(const sb_program *program, const sb_kernel_options *options,
                              sb_error *error) {
    const int given = (options->path != NULL) + (options->source != NULL) + (options->elf != NULL);
    if (given != 1)
        SB_FAIL(error, SB_ERR_USAGE, "a kernel is made from one of path, source and elf; %d given",
                given);
    if ((uint32_t)options->processor >= SB_PROCESSORS)
        SB_FAIL(error, SB_ERR_USAGE, "there is no processor %d", (int)options->processor);
    SB_TRY(device_check_range(program->device, options->cores, error));
    if (options->function != NULL || options->grid[0] != 0 || options->block[0] != 0 ||
        options->shared_bytes != 0)
        SB_FAIL(error, SB_ERR_USAGE,
                "function, grid, block and shared_bytes of a kernel are for GPUs; %s is none",
                program->device->info.backend);
    /* It is written into the source, for the messages of the compiler. */
    if (options->name != NULL && strpbrk(options->name, "\"\\\r\n") != NULL)
        SB_FAIL(error, SB_ERR_USAGE,
                "the name of a kernel has no quotes, backslashes or line breaks");
    for (size_t i = 0; i < options->define_count; i++)
        if (options->defines[i].name == NULL || options->defines[i].name[0] == '\0')
            SB_FAIL(error, SB_ERR_USAGE, "define %zu of a kernel has no name", i);
    for (size_t i = 0; i < program->kernels.count; i++) {
        const program_kernel *other = sb_vector_at(&program->kernels, i);
        if (other->processor == options->processor && ranges_meet(other->cores, options->cores))
            SB_FAIL(error, SB_ERR_USAGE, "%s of core (%u,%u) would have two kernels, %s is one",
                    device_processor_name(options->processor), options->cores.first.x,
                    options->cores.first.y, other->name);
    }
    return SB_OK;
}

sb_status sb_program_add_kernel(sb_program *program, const sb_kernel_options *options,
                                uint32_t *number, sb_error *error) {
    if (program->gpu != NULL)
        return device_gpu_add_kernel(program->gpu, options, number, error);
    SB_TRY(check_kernel(program, options, error));
    const char *path = options->elf != NULL ? options->elf : options->path;
    *number = (uint32_t)program->kernels.count;
    program_kernel *kernel = sb_vector_push(&program->kernels);
    if (options->name != NULL)
        kernel->name = copy(program, options->name);
    else
        kernel->name = copy(program, path != NULL ? file_name(path) : "kernel.c");
    kernel->path = copy(program, path);
    kernel->source = copy(program, options->source);
    kernel->include = copy(program, options->include);
    kernel->is_elf = options->elf != NULL;
    kernel->processor = options->processor;
    kernel->cores = options->cores;
    kernel->define_count = options->define_count;
    kernel->defines = sb_arena_alloc_zeroed(&program->arena,
                                            (options->define_count + 1) * sizeof *kernel->defines);
    for (size_t i = 0; i < options->define_count; i++) {
        const sb_define *given = &options->defines[i];
        kernel->defines[i] = (sb_define){copy(program, given->name),
                                         copy(program, given->value != NULL ? given->value : "1")};
    }
    return SB_OK;
}

sb_status sb_program_set_args(sb_program *program, uint32_t number, sb_core core,
                              const uint32_t *args, size_t count, sb_error *error) {
    SB_TRY(device_refuse_gpu(
        program->device,
        "kernels of a GPU have parameters, not arguments of a core: sb_program_set_parameters",
        error));
    if (number >= program->kernels.count)
        SB_FAIL(error, SB_ERR_USAGE, "the program has no kernel %u", number);
    program_kernel *kernel = sb_vector_at(&program->kernels, number);
    SB_TRY(device_check_core(program->device, core, error));
    if (!range_has(kernel->cores, core))
        SB_FAIL(error, SB_ERR_USAGE, "kernel %s does not run on core (%u,%u)", kernel->name, core.x,
                core.y);
    if (count > SB_ARGS_MAX)
        SB_FAIL(error, SB_ERR_LIMIT, "%zu arguments for kernel %s; at most %u fit", count,
                kernel->name, SB_ARGS_MAX);
    program_args *held = &kernel->args[device_core_index(program->device, core)];
    held->words = sb_realloc(held->words, count + 1, sizeof *args);
    held->count = count;
    if (count > 0)
        memcpy(held->words, args, count * sizeof *args);
    return SB_OK;
}

sb_status sb_program_set_parameters(sb_program *program, uint32_t number,
                                    const sb_parameter *parameters, size_t count, sb_error *error) {
    SB_TRY(device_check(program->device, error));
    if (program->gpu == NULL)
        SB_FAIL(error, SB_ERR_USAGE,
                "parameters are for kernels of GPUs; sb_program_set_args is for those of %s",
                program->device->info.backend);
    return device_gpu_set_parameters(program->gpu, number, parameters, count, error);
}

/* ---- building ---- */

/* An ELF from elsewhere must not lie where others live. */
static sb_status check_image(const program_kernel *kernel, sb_error *error) {
    const uint32_t begin = SB_L1_KERNELS + kernel->processor * SB_L1_KERNEL_BYTES;
    const uint32_t end = begin + SB_L1_KERNEL_BYTES;
    for (size_t i = 0; i < kernel->image.elf.segments.count; i++) {
        const device_segment *segment = sb_vector_at(&kernel->image.elf.segments, i);
        if (segment->bytes.size > 0 && (segment->address < begin || segment->address > end ||
                                        segment->bytes.size > end - segment->address))
            SB_FAIL(error, SB_ERR_FORMAT,
                    "%s: 0x%x to 0x%llx lies outside the place of %s's kernels, 0x%x to 0x%x",
                    kernel->name, segment->address,
                    (unsigned long long)segment->address + segment->bytes.size,
                    device_processor_name(kernel->processor), begin, end);
    }
    if (kernel->image.elf.entry != begin)
        SB_FAIL(error, SB_ERR_FORMAT, "%s: it starts at 0x%x; a kernel of %s starts at 0x%x",
                kernel->name, kernel->image.elf.entry, device_processor_name(kernel->processor),
                begin);
    return SB_OK;
}

static bool is_built(const program_kernel *kernel) {
    return kernel->image.path != NULL;
}

static sb_status open_image(program_kernel *kernel, device_profiler *profiler, const char *path,
                            sb_error *error) {
    SB_TRY(device_image_open(&kernel->image, profiler, path, error));
    const sb_status status = check_image(kernel, error);
    if (status != SB_OK)
        device_image_close(&kernel->image);
    return status;
}

static device_job job_of(const sb_program *program, const program_kernel *kernel) {
    return (device_job){
        .name = kernel->name,
        .path = kernel->source == NULL ? kernel->path : NULL,
        .source = kernel->source == NULL ? (sb_slice){"", 0} : sb_slice_of(kernel->source),
        .include = kernel->include,
        .processor = kernel->processor,
        .instrument = device_profiler_instrument(program->device->mesh->profiler),
        .defines = kernel->defines,
        .define_count = kernel->define_count,
    };
}

sb_status sb_program_build(sb_program *program, sb_error *error) {
    if (program->gpu != NULL)
        return device_gpu_build(program->gpu, error);
    const size_t count = program->kernels.count;
    device_job *jobs = sb_alloc_zeroed(count + 1, sizeof *jobs);
    size_t job_count = 0;
    for (size_t i = 0; i < count; i++) {
        const program_kernel *kernel = sb_vector_at(&program->kernels, i);
        if (!is_built(kernel) && !kernel->is_elf)
            jobs[job_count++] = job_of(program, kernel);
    }
    sb_status status = job_count > 0 ? device_build(jobs, job_count, error) : SB_OK;
    size_t next = 0;
    for (size_t i = 0; i < count && status == SB_OK; i++) {
        program_kernel *kernel = sb_vector_at(&program->kernels, i);
        if (!is_built(kernel))
            status = open_image(kernel, program->device->mesh->profiler,
                                kernel->is_elf ? kernel->path : jobs[next++].elf_path, error);
    }
    for (size_t i = 0; i < job_count; i++)
        free(jobs[i].elf_path);
    free(jobs);
    return status;
}

uint32_t sb_program_kernel_count(const sb_program *program) {
    if (program->gpu != NULL)
        return device_gpu_kernel_count(program->gpu);
    return (uint32_t)program->kernels.count;
}

sb_kernel_size sb_program_kernel_size(const sb_program *program, uint32_t number) {
    if (program->gpu != NULL)
        return device_gpu_kernel_size(program->gpu, number);
    if (number >= program->kernels.count)
        return (sb_kernel_size){.name = ""};
    return program_kernel_sizes(sb_vector_at(&program->kernels, number));
}

sb_kernel_size program_kernel_sizes(const program_kernel *kernel) {
    sb_kernel_size size = {.name = kernel->name, .stack_bytes = kernel->stack_bytes};
    for (size_t i = 0; i < kernel->image.elf.segments.count; i++) {
        const device_segment *segment = sb_vector_at(&kernel->image.elf.segments, i);
        size.code_bytes += (uint32_t)segment->bytes.size;
        if (segment->virtual_address != segment->address || segment->bytes.size == 0)
            size.local_bytes += segment->memory_size;
    }
    size.code_room =
        size.code_bytes < SB_L1_KERNEL_BYTES ? SB_L1_KERNEL_BYTES - size.code_bytes : 0;
    const uint32_t local = kernel->processor <= SB_NCRISC ? 4096 : 2048;
    size.stack_room = size.local_bytes < local ? local - size.local_bytes : 0;
    return size;
}

/* ---- circular buffers and semaphores ---- */

/* Where the circular buffers of a program end that share a core with range. */
static uint32_t circular_end(const sb_program *program, sb_core_range range) {
    uint32_t last = SB_L1_FREE;
    for (size_t i = 0; i < program->circulars.count; i++) {
        const program_circular *other = sb_vector_at(&program->circulars, i);
        const uint32_t end =
            other->config.address + other->config.page_size * other->config.page_count;
        if (ranges_meet(other->cores, range) && end > last)
            last = end;
    }
    return last;
}

uint32_t device_circular_end(const sb_device *device) {
    const sb_core_range all = {{0, 0}, {device->info.columns - 1, device->info.rows - 1}};
    uint32_t last = SB_L1_FREE;
    for (const sb_program *program = device->programs; program != NULL; program = program->next) {
        const uint32_t end = circular_end(program, all);
        last = end > last ? end : last;
    }
    return last;
}

sb_status sb_program_add_circular(sb_program *program, const sb_circular_options *options,
                                  sb_error *error) {
    const sb_device *device = program->device;
    SB_TRY(device_refuse_gpu(device, "a GPU has no circular buffers; kernels have shared memory",
                             error));
    SB_TRY(device_check_range(device, options->cores, error));
    if (options->id >= SB_CIRCULAR_MAX)
        SB_FAIL(error, SB_ERR_USAGE, "there is no circular buffer %u; there are 0 to %d",
                options->id, SB_CIRCULAR_MAX - 1);
    if (options->page_size == 0 || options->page_size % 32 != 0 || options->page_count == 0 ||
        options->page_count > UINT16_MAX)
        SB_FAIL(error, SB_ERR_USAGE,
                "circular buffer %u: %u pages of %u bytes; pages are 1 to %d, of multiples of 32 "
                "bytes",
                options->id, options->page_count, options->page_size, UINT16_MAX);
    for (size_t i = 0; i < program->circulars.count; i++) {
        const program_circular *other = sb_vector_at(&program->circulars, i);
        if (other->id == options->id && ranges_meet(other->cores, options->cores))
            SB_FAIL(error, SB_ERR_USAGE, "a core would have circular buffer %u twice", options->id);
    }
    const uint32_t begin = circular_end(program, options->cores);
    const uint64_t end = begin + (uint64_t)options->page_size * options->page_count;
    const uint32_t free_until = device_memory_free_until(&device->l1, SB_L1_FREE);
    if (end > free_until)
        SB_FAIL(error, SB_ERR_LIMIT,
                "circular buffer %u of %u x %u bytes does not fit into L1: %u bytes are free",
                options->id, options->page_count, options->page_size,
                free_until > begin ? free_until - begin : 0);
    *(program_circular *)sb_vector_push(&program->circulars) = (program_circular){
        .cores = options->cores,
        .id = options->id,
        .config = {
            .address = begin, .page_size = options->page_size, .page_count = options->page_count}};
    return SB_OK;
}

sb_status sb_program_add_semaphore(sb_program *program, sb_core_range cores, uint32_t initial,
                                   uint32_t *id, sb_error *error) {
    SB_TRY(device_refuse_gpu(program->device,
                             "a GPU has no semaphores; kernels have barriers and atomics", error));
    SB_TRY(device_check_range(program->device, cores, error));
    if (program->semaphores.count >= SB_SEMAPHORE_MAX)
        SB_FAIL(error, SB_ERR_LIMIT, "a program has at most %d semaphores", SB_SEMAPHORE_MAX);
    *id = (uint32_t)program->semaphores.count;
    *(program_semaphore *)sb_vector_push(&program->semaphores) =
        (program_semaphore){.cores = cores, .id = *id, .initial = initial};
    return SB_OK;
}
