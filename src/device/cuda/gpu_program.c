#include "device/cuda/gpu.h"

#include <stdlib.h>
#include <string.h>

/* What parameters that nobody set are, where the driver does not tell how many there are. */
static unsigned char zeros[4096];

gpu_program *device_gpu_program_create(sb_device *device) {
    gpu_program *program = sb_alloc(sizeof *program);
    *program = (gpu_program){.device = device, .kernels = sb_vector_of(sizeof(gpu_kernel))};
    return program;
}

void device_gpu_program_destroy(gpu_program *program) {
    if (program == NULL)
        return;
    for (size_t i = 0; i < program->kernels.count; i++)
        free(((gpu_kernel *)sb_vector_at(&program->kernels, i))->storage);
    sb_vector_free(&program->kernels);
    sb_arena_free(&program->arena);
    free(program);
}

/* ---- kernels ---- */

static const char *copy(gpu_program *program, const char *text) {
    return text == NULL ? NULL : sb_arena_format(&program->arena, "%s", text).data;
}

static sb_status check_kernel(const sb_kernel_options *options, sb_error *error) {
    const sb_core_range none = {{0, 0}, {0, 0}};
    if (options->elf != NULL)
        SB_FAIL(error, SB_ERR_USAGE, "a kernel of a GPU is made from path or source, not from elf");
    if ((options->path != NULL) == (options->source != NULL))
        SB_FAIL(error, SB_ERR_USAGE, "a kernel of a GPU is made from one of path and source");
    if (options->processor != SB_BRISC || memcmp(&options->cores, &none, sizeof none) != 0)
        SB_FAIL(error, SB_ERR_USAGE,
                "a GPU places blocks by itself: a kernel has a grid and a block there, no "
                "processor and no cores");
    for (size_t i = 0; i < options->define_count; i++)
        if (options->defines[i].name == NULL || options->defines[i].name[0] == '\0')
            SB_FAIL(error, SB_ERR_USAGE, "define %zu of a kernel has no name", i);
    return SB_OK;
}

static const char *name_of(const sb_kernel_options *options) {
    if (options->name != NULL)
        return options->name;
    const char *slash = options->path != NULL ? strrchr(options->path, '/') : NULL;
    return slash != NULL ? slash + 1 : options->path != NULL ? options->path : "kernel.cu";
}

static void copy_defines(gpu_program *program, gpu_kernel *kernel,
                         const sb_kernel_options *options) {
    kernel->define_count = options->define_count;
    kernel->defines = sb_arena_alloc_zeroed(&program->arena,
                                            (options->define_count + 1) * sizeof *kernel->defines);
    for (size_t i = 0; i < options->define_count; i++) {
        const sb_define *given = &options->defines[i];
        kernel->defines[i] = (sb_define){copy(program, given->name),
                                         copy(program, given->value != NULL ? given->value : "1")};
    }
}

sb_status device_gpu_add_kernel(gpu_program *program, const sb_kernel_options *options,
                                uint32_t *number, sb_error *error) {
    SB_TRY(check_kernel(options, error));
    *number = (uint32_t)program->kernels.count;
    gpu_kernel *kernel = sb_vector_push(&program->kernels);
    kernel->name = copy(program, name_of(options));
    kernel->function = copy(program, options->function != NULL ? options->function : "kernel_main");
    kernel->path = copy(program, options->path);
    kernel->source = copy(program, options->source);
    kernel->include = copy(program, options->include);
    copy_defines(program, kernel, options);
    kernel->shape.shared_bytes = options->shared_bytes;
    for (int i = 0; i < 3; i++) {
        kernel->shape.grid[i] = options->grid[i] != 0 ? options->grid[i] : 1;
        kernel->shape.block[i] = options->block[i] != 0 ? options->block[i] : 1;
    }
    for (size_t i = 0; i < GPU_PARAMETERS_MAX; i++)
        kernel->values[i] = zeros;
    return SB_OK;
}

uint32_t device_gpu_kernel_count(const gpu_program *program) {
    return (uint32_t)program->kernels.count;
}

sb_kernel_size device_gpu_kernel_size(const gpu_program *program, uint32_t number) {
    if (number >= program->kernels.count)
        return (sb_kernel_size){.name = ""};
    const gpu_kernel *kernel = sb_vector_at(&program->kernels, number);
    if (kernel->built == NULL)
        return (sb_kernel_size){.name = kernel->name};
    const sb_cuda_kernel_size size = sb_cuda_kernel_describe(kernel->built);
    return (sb_kernel_size){.name = kernel->name,
                            .local_bytes = (uint32_t)size.local_bytes,
                            .registers = (uint32_t)size.registers,
                            .shared_bytes = (uint32_t)size.shared_bytes};
}

/* ---- parameters ---- */

sb_status device_gpu_set_parameters(gpu_program *program, uint32_t number,
                                    const sb_parameter *parameters, size_t count, sb_error *error) {
    enum { ALIGNMENT = 16 };
    size_t size = 0;
    if (number >= program->kernels.count)
        SB_FAIL(error, SB_ERR_USAGE, "the program has no kernel %u", number);
    gpu_kernel *kernel = sb_vector_at(&program->kernels, number);
    if (count > GPU_PARAMETERS_MAX)
        SB_FAIL(error, SB_ERR_LIMIT, "%zu parameters for kernel %s; at most %d are taken", count,
                kernel->function, GPU_PARAMETERS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (parameters[i].size > sizeof zeros)
            SB_FAIL(error, SB_ERR_LIMIT,
                    "parameter %zu of kernel %s has %zu bytes; at most %zu fit", i + 1,
                    kernel->function, parameters[i].size, sizeof zeros);
        size += (parameters[i].size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    unsigned char *storage = sb_alloc_zeroed(1, size + ALIGNMENT);
    size_t at = 0;
    for (size_t i = 0; i < GPU_PARAMETERS_MAX; i++) {
        kernel->values[i] = i < count ? storage + at : zeros;
        if (i >= count)
            continue;
        memcpy(storage + at, parameters[i].value, parameters[i].size);
        kernel->sizes[i] = parameters[i].size;
        at += (parameters[i].size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    free(kernel->storage);
    kernel->storage = storage;
    kernel->parameter_count = count;
    return SB_OK;
}

/* How many a kernel takes; SIZE_MAX: the driver is too old to tell. */
static size_t count_parameters(const gpu_kernel *kernel) {
    size_t count = 0;
    size_t size = sb_cuda_kernel_parameter(kernel->built, count);
    while (size != 0 && size != SIZE_MAX)
        size = sb_cuda_kernel_parameter(kernel->built, ++count);
    return size == SIZE_MAX ? count : SIZE_MAX;
}

/* A value of another size would be read past its end, and one that is not there from nowhere. */
static sb_status check_parameters(const gpu_kernel *kernel, sb_error *error) {
    const size_t count = count_parameters(kernel);
    if (count == SIZE_MAX)
        return SB_OK;
    if (count != kernel->parameter_count)
        SB_FAIL(error, SB_ERR_USAGE, "kernel %s takes %zu parameters; %zu are set",
                kernel->function, count, kernel->parameter_count);
    for (size_t i = 0; i < count; i++) {
        const size_t size = sb_cuda_kernel_parameter(kernel->built, i);
        if (size != kernel->sizes[i])
            SB_FAIL(error, SB_ERR_USAGE, "parameter %zu of kernel %s has %zu bytes; %zu are set",
                    i + 1, kernel->function, size, kernel->sizes[i]);
    }
    return SB_OK;
}

/* ---- building ---- */

/* Options of the compiler; the array and its texts are the arena's. */
static const char *const *options_of(sb_arena *arena, const gpu_kernel *kernel, size_t *count) {
    const char **options =
        sb_arena_alloc_zeroed(arena, (kernel->define_count + 1) * sizeof *options);
    *count = 0;
    if (kernel->include != NULL)
        options[(*count)++] = sb_arena_format(arena, "-I%s", kernel->include).data;
    for (size_t i = 0; i < kernel->define_count; i++)
        options[(*count)++] =
            sb_arena_format(arena, "-D%s=%s", kernel->defines[i].name, kernel->defines[i].value)
                .data;
    return options;
}

/* Two kernels whose modules are made from the same share one. */
static uint32_t find_module(device_gpu *gpu, const sb_device *device,
                            const sb_cuda_build_options *options) {
    sb_output key = sb_output_to_memory();
    sb_put_format(&key, "%u%c%s%c", device->info.index, 0, options->name, 0);
    for (size_t i = 0; i < options->option_count; i++)
        sb_put_format(&key, "%s%c", options->options[i], 0);
    sb_put_text(&key, options->source);
    const uint32_t index = sb_intern_add(&gpu->module_keys, sb_output_text(&key));
    sb_output_discard(&key);
    if (index == gpu->modules.count)
        sb_vector_push(&gpu->modules);
    return index;
}

static sb_status build_from(gpu_program *program, gpu_kernel *kernel, const char *source,
                            sb_error *error) {
    sb_arena arena = {0};
    device_gpu *gpu = program->device->mesh->gpu;
    sb_cuda_build_options options = {.source = source,
                                     .name = kernel->path != NULL ? kernel->path : kernel->name,
                                     .without_zones = gpu->profiler == NULL};
    options.options = options_of(&arena, kernel, &options.option_count);
    const uint32_t index = find_module(gpu, program->device, &options);
    sb_cuda_module **module = sb_vector_at(&gpu->modules, index);
    sb_status status = SB_OK;
    if (*module == NULL)
        status = sb_cuda_build(&options, module, error);
    if (status == SB_OK)
        status = sb_cuda_find(*module, kernel->function, &kernel->built, error);
    sb_arena_free(&arena);
    return status;
}

static sb_status build_kernel(gpu_program *program, gpu_kernel *kernel, sb_error *error) {
    sb_file file;
    if (kernel->source != NULL)
        return build_from(program, kernel, kernel->source, error);
    SB_TRY(sb_file_open(&file, kernel->path, error));
    char *text = sb_alloc(file.text.size + 1);
    if (file.text.size > 0)
        memcpy(text, file.text.data, file.text.size);
    text[file.text.size] = '\0';
    sb_file_close(&file);
    const sb_status status = build_from(program, kernel, text, error);
    free(text);
    return status;
}

sb_status device_gpu_build(gpu_program *program, sb_error *error) {
    SB_TRY(gpu_use(program->device, error));
    for (size_t i = 0; i < program->kernels.count; i++) {
        gpu_kernel *kernel = sb_vector_at(&program->kernels, i);
        if (kernel->built == NULL)
            SB_TRY(build_kernel(program, kernel, error));
    }
    return SB_OK;
}

sb_status gpu_program_prepare(gpu_program *program, sb_error *error) {
    if (program->kernels.count == 0)
        SB_FAIL(error, SB_ERR_USAGE, "a program without kernels was enqueued");
    SB_TRY(device_gpu_build(program, error));
    for (size_t i = 0; i < program->kernels.count; i++)
        SB_TRY(check_parameters(sb_vector_at(&program->kernels, i), error));
    return SB_OK;
}
