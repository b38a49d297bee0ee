/* Any bytes as an executable: parsed or refused, and what is found lies inside the file. */
#include <stdlib.h>

#include "device/device_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    device_elf elf;
    sb_error error;
    const sb_slice file = {(const char *)data, size};
    if (device_elf_parse(file, &elf, &error) != SB_OK)
        return 0;
    uint64_t sum = 0;
    for (size_t i = 0; i < elf.segments.count; i++) {
        const device_segment *segment = sb_vector_at(&elf.segments, i);
        for (size_t k = 0; k < segment->bytes.size; k++)
            sum += (uint8_t)segment->bytes.data[k];
    }
    uint32_t value = 0;
    uint32_t offset = 0;
    if (device_elf_find(&elf, "kernel_start", &value))
        sum += device_elf_function_at(&elf, value, &offset).size;
    sum += device_elf_function_at(&elf, (uint32_t)sum, &offset).size;
    device_elf_free(&elf);
    return sum == UINT64_MAX ? 1 : 0;
}
