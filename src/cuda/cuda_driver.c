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
#undef CUDA_SYMBOL

static sb_status load(cuda_driver *driver, sb_error *error) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND,
                "there is no CUDA driver here: libcuda.so.1 cannot be loaded");
    const char *missing =
        cuda_find_symbols(library, symbols, sizeof symbols / sizeof symbols[0], driver);
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
    static cuda_driver loaded;
    static bool is_loaded;
    pthread_mutex_lock(&load_lock);
    const sb_status status = is_loaded ? SB_OK : load(&loaded, error);
    is_loaded = status == SB_OK;
    pthread_mutex_unlock(&load_lock);
    *driver = &loaded;
    return status;
}

sb_status cuda_check(const cuda_driver *driver, int result, const char *what, sb_error *error) {
    if (result == 0)
        return SB_OK;
    const char *text = NULL;
    if (driver->error_text(result, &text) != 0 || text == NULL)
        text = "unknown error";
    SB_FAIL(error, SB_ERR_DEVICE, "%s: %s (CUDA error %d)", what, text, result);
}
