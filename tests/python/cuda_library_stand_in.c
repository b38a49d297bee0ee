/*
 * In the place of libstrobe_cuda and of the CUDA driver, for tests of how Python calls them
 * (test_cuda.py): remembers what it was given. Its GPU can do 64 bytes of arguments.
 */
#include <stdio.h>
#include <string.h>

#include <strobe/cuda_gpu.h>

#define API __attribute__((visibility("default")))

typedef struct seen_launch {
    sb_cuda_shape shape;
    void *stream;
    unsigned char arguments[64];
} seen_launch;

static struct {
    char build[256]; /* name, source, options, in a row */
    int launches;
    seen_launch last;
    int built;
    int unloaded;
} seen;

static _Thread_local void *current; /* the context */

API const char *stand_in_build(void);
API const seen_launch *stand_in_launch(void);
API int stand_in_built(void);
API int stand_in_unloaded(void);
API int cuInit(unsigned flags);
API int cuCtxGetCurrent(void **context);
API int cuCtxSetCurrent(void *context);
API int cuDeviceGet(int *device, int ordinal);
API int cuDevicePrimaryCtxRetain(void **context, int device);

const char *stand_in_build(void) {
    return seen.build;
}

const seen_launch *stand_in_launch(void) {
    return &seen.last;
}

int stand_in_built(void) {
    return seen.built;
}

int stand_in_unloaded(void) {
    return seen.unloaded;
}

/* ---- the driver ---- */

int cuInit(unsigned flags) {
    return (int)flags;
}

int cuCtxGetCurrent(void **context) {
    *context = current;
    return 0;
}

int cuCtxSetCurrent(void *context) {
    current = context;
    return 0;
}

int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return ordinal < 2 ? 0 : 101;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    static char contexts[2];
    *context = &contexts[device];
    return 0;
}

/* ---- the library ---- */

sb_status sb_cuda_attach(sb_error *error) {
    error->status = SB_OK;
    return SB_OK;
}

sb_status sb_cuda_build(const sb_cuda_build_options *options, sb_cuda_module **module,
                        sb_error *error) {
    static char made;
    if (strstr(options->source, "nonsense") != NULL) {
        error->status = SB_ERR_BUILD;
        snprintf(error->message, sizeof error->message, "%s: cannot be built", options->name);
        return SB_ERR_BUILD;
    }
    size_t used = (size_t)snprintf(seen.build, sizeof seen.build, "%s|%zu|%d", options->name,
                                   strlen(options->source), options->without_zones);
    for (size_t i = 0; i < options->option_count && used < sizeof seen.build; i++)
        used += (size_t)snprintf(seen.build + used, sizeof seen.build - used, "|%s",
                                 options->options[i]);
    *module = (sb_cuda_module *)(void *)&made;
    seen.built++;
    if (current == NULL)
        (void)cuDevicePrimaryCtxRetain(&current, 0);
    return SB_OK;
}

sb_status sb_cuda_find(sb_cuda_module *module, const char *name, sb_cuda_kernel **kernel,
                       sb_error *error) {
    (void)error;
    *kernel = (sb_cuda_kernel *)(void *)module;
    return name[0] != '\0' ? SB_OK : SB_ERR_NOT_FOUND;
}

/* The kernel has four parameters. */
static const size_t sizes[] = {8, 8, 4, 4};

size_t sb_cuda_kernel_parameter(const sb_cuda_kernel *kernel, size_t index) {
    (void)kernel;
    return index < sizeof sizes / sizeof sizes[0] ? sizes[index] : SIZE_MAX;
}

sb_status sb_cuda_launch(sb_cuda_kernel *kernel, const sb_cuda_shape *shape, void *stream,
                         void **arguments, sb_error *error) {
    unsigned char *to = seen.last.arguments;
    if (kernel == NULL || shape->grid[0] == 13) {
        error->status = SB_ERR_DEVICE;
        snprintf(error->message, sizeof error->message, "k cannot be launched: no luck");
        return SB_ERR_DEVICE;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; to += sizes[i++])
        memcpy(to, arguments[i], sizes[i]);
    seen.last.shape = *shape;
    seen.last.stream = stream;
    seen.launches++;
    return SB_OK;
}

void sb_cuda_unload(sb_cuda_module *module) {
    seen.unloaded += module != NULL ? 1 : 0;
}

sb_status sb_cuda_flush(sb_error *error) {
    error->status = SB_OK;
    return SB_OK;
}

sb_cuda_counts sb_cuda_count(void) {
    return (sb_cuda_counts){(uint64_t)seen.launches, 2, 3, 4, 5, 6};
}
