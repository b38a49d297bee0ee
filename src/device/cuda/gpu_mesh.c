#include "device/cuda/gpu.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- names and grids ---- */

static bool has_digit(sb_slice word) {
    for (size_t i = 0; i < word.size; i++)
        if (isdigit((unsigned char)word.data[i]))
            return true;
    return false;
}

static bool is_maker(sb_slice word) {
    static const char *const makers[] = {"", "NVIDIA", "Tesla", "GeForce", "Quadro"};
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        if (sb_slice_is(word, makers[i]))
            return true;
    return false;
}

/*
 * What logs call a GPU: the words of its name up to the first with a number in it, without the
 * maker's. "NVIDIA H200" is h200, "NVIDIA A100-SXM4-80GB" a100, "NVIDIA GeForce RTX 4090" rtx_4090.
 */
static void name_architecture(const char *name, char *text, size_t size) {
    sb_output words = sb_output_to_memory();
    sb_slice rest = sb_slice_of(name);
    for (bool is_found = false; rest.size > 0 && !is_found;) {
        const sb_slice word = sb_slice_cut(sb_slice_cut(rest, ' ', &rest), '-', &(sb_slice){0});
        if (is_maker(word))
            continue;
        sb_put_format(&words, "%s%.*s", words.used > 0 ? "_" : "", (int)word.size, word.data);
        is_found = has_digit(word);
    }
    snprintf(text, size, "%.*s", (int)words.used, words.buffer);
    if (words.used == 0)
        snprintf(text, size, "gpu");
    sb_output_discard(&words);
    for (; *text != '\0'; text++)
        *text = (char)(*text >= 'A' && *text <= 'Z' ? *text + ('a' - 'A') : *text);
}

/* Columns as near to the square as whole rows allow; where they allow none, the last is short. */
static void choose_grid(uint32_t cores, uint32_t *columns, uint32_t *rows) {
    uint32_t least = 1;
    while (least * least < cores)
        least++;
    *columns = least;
    for (uint32_t i = 2 * least; i >= least; i--)
        if (cores % i == 0)
            *columns = i;
    *rows = (cores + *columns - 1) / *columns;
}

sb_core gpu_core_of(const sb_device_info *info, uint32_t sm) {
    return (sb_core){sm % info->columns, sm / info->columns};
}

/* ---- opening ---- */

static sb_status open_device(sb_mesh *mesh, uint32_t index, sb_error *error) {
    gpu_device *gpu = &mesh->gpu->devices[index];
    sb_device *device = &mesh->devices[index];
    SB_TRY(sb_cuda_use(index, error));
    SB_TRY(sb_cuda_describe(&gpu->about, error));
    name_architecture(gpu->about.name, gpu->architecture, sizeof gpu->architecture);
    gpu->opened_ns = sb_clock_ns();
    *device = (sb_device){.mesh = mesh, .next_program_id = 1, .next_trace_id = 1};
    device->info = (sb_device_info){
        .backend = "cuda",
        .time_model = "measured",
        .index = index,
        .clock_mhz = (uint32_t)gpu->about.clock_mhz,
        .cores = (uint32_t)gpu->about.sm_count,
        .architecture = gpu->architecture,
        .name = gpu->about.name,
    };
    choose_grid(device->info.cores, &device->info.columns, &device->info.rows);
    return SB_OK;
}

static sb_status check_count(uint32_t wanted, sb_error *error) {
    uint32_t count = 0;
    SB_TRY(sb_cuda_gpu_count(&count, error));
    if (wanted > count)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "%u GPUs are asked for; the CUDA driver shows %u", wanted,
                count);
    return SB_OK;
}

sb_status device_gpu_open(sb_mesh *mesh, sb_error *error) {
    const uint32_t count = mesh->options.chips;
    SB_TRY(check_count(count, error));
    device_gpu *gpu = sb_alloc_zeroed(1, sizeof *gpu);
    *gpu = (device_gpu){.mesh = mesh,
                        .devices = sb_alloc_zeroed(count, sizeof *gpu->devices),
                        .modules = sb_vector_of(sizeof(sb_cuda_module *))};
    sb_intern_init(&gpu->module_keys);
    mesh->gpu = gpu;
    mesh->devices = sb_alloc_zeroed(count, sizeof *mesh->devices);
    mesh->device_count = count;
    for (uint32_t i = 0; i < count; i++)
        SB_TRY(open_device(mesh, i, error));
    return gpu_profiler_open(mesh, &gpu->profiler, error);
}

void device_gpu_close(sb_mesh *mesh) {
    device_gpu *gpu = mesh->gpu;
    for (uint32_t i = 0; i < mesh->device_count; i++)
        if (mesh->devices[i].mesh != NULL)
            (void)device_gpu_wait(&mesh->devices[i], NULL);
    gpu_profiler_close(gpu->profiler);
    for (size_t i = 0; i < gpu->modules.count; i++)
        sb_cuda_unload(*(sb_cuda_module **)sb_vector_at(&gpu->modules, i));
    sb_vector_free(&gpu->modules);
    sb_intern_free(&gpu->module_keys);
    free(gpu->devices);
    free(gpu);
    mesh->gpu = NULL;
}

/* ---- time ---- */

sb_status gpu_use(const sb_device *device, sb_error *error) {
    const sb_mesh *mesh = device->mesh;
    if (mesh->failed != SB_OK)
        SB_FAIL(error, mesh->failed, "%s", mesh->failure);
    return sb_cuda_use(device->info.index, error);
}

/* Nanoseconds of the host, in clocks of the GPU's greatest rate. */
uint64_t device_gpu_clock(const sb_device *device) {
    const int64_t passed = sb_clock_ns() - device->mesh->gpu->devices[device->info.index].opened_ns;
    return (uint64_t)((double)passed * device->info.clock_mhz / 1000);
}

/* A kernel that failed takes its context with it: the mesh stays stopped. */
sb_status device_gpu_wait(sb_device *device, sb_error *error) {
    sb_mesh *mesh = device->mesh;
    sb_error failure = {0};
    SB_TRY(gpu_use(device, error));
    const sb_status status = sb_cuda_wait(&failure);
    if (status != SB_OK) {
        mesh->failed = status;
        snprintf(mesh->failure, sizeof mesh->failure, "%s", failure.message);
        SB_FAIL(error, status, "%s", failure.message);
    }
    if (gpu_profiler_reads_along(mesh->gpu->profiler))
        return gpu_profiler_read(mesh->gpu->profiler, error);
    return SB_OK;
}

/* ---- memory ---- */

sb_status device_gpu_allocate(sb_device *device, const sb_buffer_options *options,
                              uint64_t *address, sb_error *error) {
    if (options->memory != SB_DRAM)
        SB_FAIL(error, SB_ERR_USAGE, "a GPU has no L1 for buffers; they are in SB_DRAM");
    if (options->layout != SB_INTERLEAVED)
        SB_FAIL(error, SB_ERR_USAGE, "buffers of a GPU cannot be sharded over cores");
    if (options->size == 0)
        SB_FAIL(error, SB_ERR_USAGE, "a buffer of no bytes");
    SB_TRY(gpu_use(device, error));
    return sb_cuda_allocate(options->size, address, error);
}

void device_gpu_free(sb_device *device, uint64_t address) {
    if (gpu_use(device, NULL) == SB_OK)
        sb_cuda_free(address);
}

sb_status device_gpu_move(sb_device *device, uint64_t address, size_t size, void *out,
                          const void *in, sb_error *error) {
    SB_TRY(gpu_use(device, error));
    return out != NULL ? sb_cuda_read(address, out, size, error)
                       : sb_cuda_write(address, in, size, error);
}

/* ---- the profiler ---- */

bool device_gpu_is_profiled(const sb_device *device) {
    return device->mesh->gpu->profiler != NULL;
}

sb_status device_gpu_read_profiler(sb_device *device, sb_error *error) {
    SB_TRY(device_gpu_wait(device, error));
    gpu_profiler *profiler = device->mesh->gpu->profiler;
    return profiler != NULL ? gpu_profiler_read(profiler, error) : SB_OK;
}

sb_profiler_counts device_gpu_count(const sb_device *device, sb_core core, sb_processor processor) {
    const uint32_t sm = core.y * device->info.columns + core.x;
    gpu_profiler *profiler = device->mesh->gpu->profiler;
    if (profiler == NULL || processor != SB_BRISC || core.x >= device->info.columns ||
        sm >= device->info.cores)
        return (sb_profiler_counts){0};
    return (sb_profiler_counts){.markers = gpu_profiler_markers(profiler, device, sm),
                                .dropped = sb_cuda_lost_on(device->info.index, sm)};
}

double device_gpu_error_ns(const sb_device *device) {
    return device_gpu_is_profiled(device) ? sb_cuda_error_ns() : 0;
}
