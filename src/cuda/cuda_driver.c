#include "cuda/cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

const char *cuda_find_symbols(void *library, const cuda_symbol *symbols, size_t count,
                              void *table) {
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (found == NULL)
            return symbols[i].name;
        memcpy((char *)table + symbols[i].offset, &found, sizeof found);
    }
    return NULL;
}

#define CUDA_SYMBOL(member, symbol, parameters) {symbol, offsetof(cuda_driver, member)},
static const cuda_symbol symbols[] = {CUDA_DRIVER_FUNCTIONS(CUDA_SYMBOL)};
static const cuda_symbol options[] = {CUDA_DRIVER_OPTIONS(CUDA_SYMBOL)};
#undef CUDA_SYMBOL

static const char library_name[] = "libcuda.so.1";
static cuda_driver loaded;
static bool is_loaded;

/* Never with the lock: libraries are loaded with the loader's held, and may call us then. */
static const char *fill(cuda_driver *driver, void *library) {
    *driver = (cuda_driver){0};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        (void)cuda_find_symbols(library, &options[i], 1, driver);
    return cuda_find_symbols(library, symbols, sizeof symbols / sizeof symbols[0], driver);
}

static const cuda_driver *keep(const cuda_driver *driver) {
    pthread_mutex_lock(&load_lock);
    if (!is_loaded)
        loaded = *driver;
    __atomic_store_n(&is_loaded, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&load_lock);
    return &loaded;
}

static sb_status load(cuda_driver *driver, sb_error *error) {
    void *library = dlopen(library_name, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "there is no CUDA driver here: %s cannot be loaded",
                library_name);
    const char *missing = fill(driver, library);
    if (missing != NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "the CUDA driver is too old: it has no %s", missing);
    SB_TRY(cuda_check(driver, driver->init(0), "the CUDA driver cannot be started", error));
    int count = 0;
    SB_TRY(cuda_check(driver, driver->device_count(&count), "GPUs cannot be counted", error));
    if (count == 0)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "the CUDA driver finds no GPU");
    return SB_OK;
}

sb_status cuda_driver_load(const cuda_driver **driver, sb_error *error) {
    cuda_driver found;
    *driver = &loaded;
    if (__atomic_load_n(&is_loaded, __ATOMIC_ACQUIRE))
        return SB_OK;
    SB_TRY(load(&found, error));
    *driver = keep(&found);
    return SB_OK;
}

const cuda_driver *cuda_driver_in_use(void) {
    cuda_driver found;
    int count = 0;
    if (__atomic_load_n(&is_loaded, __ATOMIC_ACQUIRE))
        return &loaded;
    void *library = dlopen(library_name, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL)
        return NULL;
    const bool is_started =
        fill(&found, library) == NULL && found.device_count(&count) == 0 && count > 0;
    dlclose(library);
    return is_started ? keep(&found) : NULL;
}

sb_status cuda_check(const cuda_driver *driver, int result, const char *what, sb_error *error) {
    if (result == 0)
        return SB_OK;
    const char *text = NULL;
    if (driver->error_text(result, &text) != 0 || text == NULL)
        text = "unknown error";
    SB_FAIL(error, SB_ERR_DEVICE, "%s: %s (CUDA error %d)", what, text, result);
}
