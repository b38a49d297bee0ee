#include "cuda/cuda_pinned.h"

#include <sys/mman.h>

#include "base/base.h"

sb_status cuda_pinned_allocate(cuda_pinned *memory, const cuda_driver *driver, size_t size,
                               const char *what, sb_error *error) {
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        SB_FAIL(error, SB_ERR_LIMIT, "%s: there is not enough memory", what);
    const int result = driver->host_register(data, size, CUDA_HOST_MAPPED);
    if (result != 0) {
        munmap(data, size);
        return cuda_check(driver, result, what, error);
    }
    *memory = (cuda_pinned){data, size};
    return SB_OK;
}

void cuda_pinned_free(cuda_pinned *memory, const cuda_driver *driver) {
    if (memory->data == NULL)
        return;
    if (driver != NULL)
        (void)driver->host_unregister(memory->data);
    munmap(memory->data, memory->size);
    *memory = (cuda_pinned){0};
}
