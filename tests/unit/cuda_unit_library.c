/*
 * A library with zones in kernels, as nvcc would make it (the end of strobe/cuda.h, in C): it says
 * where its gate is when it is loaded, and takes that back when it is unloaded.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <strobe/cuda_host.h>

static void *find(const char *name) {
    int (*global)(unsigned long long *, size_t *, void *, const char *) = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = library != NULL ? dlsym(library, "cuModuleGetGlobal_v2") : NULL;
    unsigned long long address = 0;
    size_t size = 0;
    memcpy(&global, &found, sizeof found);
    if (global == NULL || global(&address, &size, NULL, name) != 0)
        return NULL;
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static void *find_gate(void) {
    return find("sb_cuda_this_gate");
}

static void *find_missed(void) {
    return find("sb_cuda_this_missed");
}

static sb_cuda_unit unit = {.gate = find_gate, .missed = find_missed};

__attribute__((constructor)) static void come(void) {
    sb_cuda_register(&unit);
}

__attribute__((destructor)) static void go(void) {
    sb_cuda_unregister(&unit);
}
