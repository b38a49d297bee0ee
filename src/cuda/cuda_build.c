/*
 * Kernels from source: NVRTC, loaded at run time, and launching what it built.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cuda/cuda_context.h"
#include "cuda/cuda_sources.h"

typedef struct nvrtc_opaque_program *nvrtc_program;

/* X(member, symbol, parameters) */
#define NVRTC_FUNCTIONS(X)                                                              \
    X(create, "nvrtcCreateProgram",                                                     \
      (nvrtc_program * program, const char *source, const char *name, int header_count, \
       const char *const *headers, const char *const *names))                           \
    X(destroy, "nvrtcDestroyProgram", (nvrtc_program * program))                        \
    X(compile, "nvrtcCompileProgram",                                                   \
      (nvrtc_program program, int count, const char *const *options))                   \
    X(log_size, "nvrtcGetProgramLogSize", (nvrtc_program program, size_t * size))       \
    X(log, "nvrtcGetProgramLog", (nvrtc_program program, char *log))                    \
    X(code_size, "nvrtcGetCUBINSize", (nvrtc_program program, size_t * size))           \
    X(code, "nvrtcGetCUBIN", (nvrtc_program program, char *code))

#define NVRTC_MEMBER(member, symbol, parameters) \
    int(*member) parameters; // NOLINT(bugprone-macro-parentheses)
typedef struct nvrtc {
    NVRTC_FUNCTIONS(NVRTC_MEMBER)
} nvrtc;
#undef NVRTC_MEMBER

struct sb_cuda_kernel {
    cuda_function function;
    const cuda_driver *driver;
    char *name;
    sb_cuda_kernel *next;
    uint32_t shared_bytes; /* dynamic ones that it may have; 0: as many as any kernel */
};

struct sb_cuda_module {
    cuda_module_handle handle;
    const cuda_driver *driver;
    sb_cuda_kernel *kernels;
    bool has_zones;
};

/* ---- the compiler ---- */

#define NVRTC_SYMBOL(member, symbol, parameters) {symbol, offsetof(nvrtc, member)},
static const cuda_symbol symbols[] = {NVRTC_FUNCTIONS(NVRTC_SYMBOL)};
#undef NVRTC_SYMBOL

/* $STROBE_NVRTC, or the newest that the loader finds, or that of a toolkit in its usual place. */
static void *open_library(void) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    const char *chosen = getenv("STROBE_NVRTC");
    if (chosen != NULL)
        return dlopen(chosen, RTLD_NOW);
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW);
    return library;
}

static sb_status load_compiler(const nvrtc **compiler, sb_error *error) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static nvrtc loaded;
    static bool is_loaded;
    const char *missing = NULL;
    pthread_mutex_lock(&lock);
    if (!is_loaded) {
        void *library = open_library();
        missing = library == NULL ? ""
                                  : cuda_find_symbols(library, symbols,
                                                      sizeof symbols / sizeof symbols[0], &loaded);
        is_loaded = missing == NULL;
    }
    pthread_mutex_unlock(&lock);
    *compiler = &loaded;
    if (missing == NULL)
        return SB_OK;
    if (missing[0] != '\0')
        SB_FAIL(error, SB_ERR_NOT_FOUND, "libnvrtc is too old: it has no %s", missing);
    SB_FAIL(error, SB_ERR_NOT_FOUND,
            "kernels cannot be built: libnvrtc cannot be loaded (STROBE_NVRTC names it)");
}

/* Our own headers, which NVRTC is handed as texts. */
static nvrtc_program make_program(const nvrtc *compiler, const char *source, const char *name) {
    enum { MOST = 8 };
    char *texts[MOST] = {0};
    const char *names[MOST];
    nvrtc_program program = NULL;
    bool has_memory = cuda_source_file_count <= MOST;
    for (size_t i = 0; has_memory && i < cuda_source_file_count; i++) {
        const cuda_source_file *file = &cuda_source_files[i];
        names[i] = file->name;
        texts[i] = calloc(1, file->size + 1);
        has_memory = texts[i] != NULL;
        if (has_memory)
            memcpy(texts[i], file->bytes, file->size);
    }
    if (has_memory)
        (void)compiler->create(&program, source, name, (int)cuda_source_file_count,
                               (const char *const *)texts, names);
    for (size_t i = 0; i < MOST; i++)
        free(texts[i]);
    return program;
}

/* What the compiler says goes to standard error as it is; the sentence names the source. */
static sb_status say_log(const nvrtc *compiler, nvrtc_program program, const char *name,
                         sb_error *error) {
    size_t size = 0;
    (void)compiler->log_size(program, &size);
    char *log = calloc(1, size + 1);
    if (log != NULL && compiler->log(program, log) == 0)
        fputs(log, stderr);
    free(log);
    SB_FAIL(error, SB_ERR_BUILD, "%s: cannot be built", name);
}

static sb_status compile_program(const nvrtc *compiler, nvrtc_program program,
                                 const sb_cuda_build_options *options, const char *name,
                                 const char **list, char **code, sb_error *error) {
    size_t count = 1;
    size_t size = 0;
    if (!options->without_zones)
        list[count++] = "-DSTROBE_ENABLE";
    for (size_t i = 0; i < options->option_count; i++)
        list[count++] = options->options[i];
    if (compiler->compile(program, (int)count, list) != 0)
        return say_log(compiler, program, name, error);
    if (compiler->code_size(program, &size) != 0 || (*code = malloc(size)) == NULL ||
        compiler->code(program, *code) != 0)
        SB_FAIL(error, SB_ERR_BUILD, "%s: its code cannot be had", name);
    return SB_OK;
}

static sb_status compile(const nvrtc *compiler, const sb_cuda_build_options *options,
                         const char *architecture, char **code, sb_error *error) {
    const char *name = options->name != NULL ? options->name : "kernel.cu";
    const char **list = calloc(options->option_count + 2, sizeof *list);
    if (list == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "%s: there is not enough memory to build it", name);
    list[0] = architecture;
    nvrtc_program program = make_program(compiler, options->source, name);
    const sb_status status =
        program != NULL
            ? compile_program(compiler, program, options, name, list, code, error)
            : sb_error_set(error, SB_ERR_LIMIT, "%s: there is not enough memory to build it", name);
    free(list);
    if (program != NULL)
        (void)compiler->destroy(&program);
    return status;
}

/* ---- modules ---- */

static sb_status architecture_of(char *text, size_t size, sb_error *error) {
    sb_cuda_gpu gpu;
    SB_TRY(sb_cuda_describe(&gpu, error));
    snprintf(text, size, "--gpu-architecture=sm_%d%d", gpu.major, gpu.minor);
    return SB_OK;
}

static sb_status load_module(sb_cuda_module *module, const char *code, sb_error *error) {
    SB_TRY(cuda_check(module->driver, module->driver->module_load(&module->handle, code),
                      "a module cannot be loaded", error));
    return module->has_zones ? sb_cuda_attach_module(module->handle, error) : SB_OK;
}

sb_status sb_cuda_build(const sb_cuda_build_options *options, sb_cuda_module **module,
                        sb_error *error) {
    const cuda_driver *driver = NULL;
    const nvrtc *compiler = NULL;
    char architecture[64];
    char *code = NULL;
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(options->without_zones ? cuda_ensure_context(driver, error) : sb_cuda_attach(error));
    SB_TRY(load_compiler(&compiler, error));
    SB_TRY(architecture_of(architecture, sizeof architecture, error));
    sb_cuda_module *made = calloc(1, sizeof *made);
    if (made == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for a module");
    made->driver = driver;
    made->has_zones = !options->without_zones;
    sb_status status = compile(compiler, options, architecture, &code, error);
    if (status == SB_OK)
        status = load_module(made, code, error);
    free(code);
    if (status != SB_OK) {
        sb_cuda_unload(made);
        return status;
    }
    *module = made;
    return SB_OK;
}

void sb_cuda_unload(sb_cuda_module *module) {
    if (module == NULL)
        return;
    while (module->kernels != NULL) {
        sb_cuda_kernel *kernel = module->kernels;
        module->kernels = kernel->next;
        free(kernel->name);
        free(kernel);
    }
    if (module->handle != NULL) {
        if (module->has_zones)
            sb_cuda_detach_module(module->handle);
        (void)module->driver->module_unload(module->handle);
    }
    free(module);
}

sb_status sb_cuda_find(sb_cuda_module *module, const char *name, sb_cuda_kernel **kernel,
                       sb_error *error) {
    for (*kernel = module->kernels; *kernel != NULL; *kernel = (*kernel)->next)
        if (strcmp((*kernel)->name, name) == 0)
            return SB_OK;
    cuda_function function;
    if (module->driver->module_function(&function, module->handle, name) != 0)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "the module has no kernel %s", name);
    sb_cuda_kernel *made = calloc(1, sizeof *made);
    char *copy = strdup(name);
    if (made == NULL || copy == NULL) {
        free(copy);
        free(made);
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for a kernel");
    }
    *made = (sb_cuda_kernel){
        .function = function, .driver = module->driver, .name = copy, .next = module->kernels};
    module->kernels = made;
    *kernel = made;
    return SB_OK;
}

cuda_function cuda_kernel_function(const sb_cuda_kernel *kernel) {
    return kernel->function;
}

sb_cuda_kernel_size sb_cuda_kernel_describe(const sb_cuda_kernel *kernel) {
    sb_cuda_kernel_size size = {0};
    const cuda_driver *driver = kernel->driver;
    (void)driver->function_attribute(&size.registers, CUDA_FUNCTION_REGISTERS, kernel->function);
    (void)driver->function_attribute(&size.shared_bytes, CUDA_FUNCTION_SHARED, kernel->function);
    (void)driver->function_attribute(&size.local_bytes, CUDA_FUNCTION_LOCAL, kernel->function);
    return size;
}

sb_status cuda_allow_shared(sb_cuda_kernel *kernel, uint32_t bytes, sb_error *error) {
    enum { FOR_ANY = 48 * 1024 };
    const cuda_driver *driver = kernel->driver;
    if (bytes <= FOR_ANY || bytes <= kernel->shared_bytes)
        return SB_OK;
    char what[300];
    snprintf(what, sizeof what, "%.200s cannot have %u bytes of shared memory", kernel->name,
             bytes);
    SB_TRY(cuda_check(driver,
                      driver->function_set(kernel->function, CUDA_FUNCTION_MOST_SHARED, (int)bytes),
                      what, error));
    kernel->shared_bytes = bytes;
    return SB_OK;
}

sb_status sb_cuda_launch(sb_cuda_kernel *kernel, const sb_cuda_shape *shape, void *stream,
                         void **arguments, sb_error *error) {
    SB_TRY(cuda_allow_shared(kernel, shape->shared_bytes, error));
    const int launched = kernel->driver->launch(
        kernel->function, shape->grid[0], shape->grid[1], shape->grid[2], shape->block[0],
        shape->block[1], shape->block[2], shape->shared_bytes, stream, arguments, NULL);
    char what[300];
    snprintf(what, sizeof what, "%.250s cannot be launched", kernel->name);
    return cuda_check(kernel->driver, launched, what, error);
}

/* ---- the GPU and its memory ---- */

static int attribute(const cuda_driver *driver, cuda_device device, int which) {
    int value = 0;
    (void)driver->device_attribute(&value, which, device);
    return value;
}

sb_status sb_cuda_describe(sb_cuda_gpu *gpu, sb_error *error) {
    const cuda_driver *driver = NULL;
    cuda_device device;
    size_t bytes = 0;
    *gpu = (sb_cuda_gpu){0};
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(cuda_ensure_context(driver, error));
    SB_TRY(cuda_check(driver, driver->context_device(&device), "the GPU cannot be asked", error));
    SB_TRY(cuda_check(driver, driver->device_name(gpu->name, sizeof gpu->name, device),
                      "the GPU cannot be asked", error));
    (void)driver->device_memory(&bytes, device);
    gpu->memory_bytes = bytes;
    gpu->sm_count = attribute(driver, device, CUDA_SM_COUNT);
    gpu->clock_mhz = attribute(driver, device, CUDA_CLOCK_KHZ) / 1000;
    gpu->major = attribute(driver, device, CUDA_MAJOR);
    gpu->minor = attribute(driver, device, CUDA_MINOR);
    /* Twice: memory moves data on both edges of its clock. */
    gpu->bandwidth_gbs = 2.0 * attribute(driver, device, CUDA_MEMORY_KHZ) *
                         attribute(driver, device, CUDA_MEMORY_BITS) / 8 / 1e6;
    return SB_OK;
}

sb_status sb_cuda_allocate(size_t size, uint64_t *address, sb_error *error) {
    const cuda_driver *driver = NULL;
    cuda_address made = 0;
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(cuda_ensure_context(driver, error));
    SB_TRY(cuda_check(driver, driver->allocate(&made, size), "memory of the GPU", error));
    *address = made;
    return SB_OK;
}

void sb_cuda_free(uint64_t address) {
    const cuda_driver *driver = NULL;
    if (address != 0 && cuda_driver_load(&driver, NULL) == SB_OK)
        (void)driver->free(address);
}

/* In the order of the default stream. */
sb_status sb_cuda_write(uint64_t address, const void *data, size_t size, sb_error *error) {
    const cuda_driver *driver = NULL;
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(cuda_check(driver, driver->copy_to_gpu(address, data, size, NULL),
                      "memory of the GPU cannot be written", error));
    return cuda_check(driver, driver->stream_wait(NULL), "memory of the GPU cannot be written",
                      error);
}

sb_status sb_cuda_read(uint64_t address, void *data, size_t size, sb_error *error) {
    const cuda_driver *driver = NULL;
    SB_TRY(cuda_driver_load(&driver, error));
    SB_TRY(cuda_check(driver, driver->copy_to_host(data, address, size, NULL),
                      "memory of the GPU cannot be read", error));
    return cuda_check(driver, driver->stream_wait(NULL), "memory of the GPU cannot be read", error);
}
