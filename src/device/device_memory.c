/*
 * Allocation on the device. DRAM banks all look the same, and so do the L1s of all cores: an
 * allocation takes the same addresses in each, so one list of free parts describes them all.
 */
#include "device/device_mesh.h"

#define ALIGNMENT 32u

static uint32_t round_up(uint32_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

device_memory device_memory_of(const char *name, uint32_t begin, uint32_t end) {
    device_memory memory = {.name = name, .free = sb_vector_of(sizeof(device_extent))};
    *(device_extent *)sb_vector_push(&memory.free) = (device_extent){begin, end - begin};
    return memory;
}

void device_memory_free(device_memory *memory) {
    sb_vector_free(&memory->free);
}

static device_extent *extent_at(const device_memory *memory, size_t index) {
    return sb_vector_at(&memory->free, index);
}

static void remove_extent(device_memory *memory, size_t index) {
    for (size_t i = index; i + 1 < memory->free.count; i++)
        *extent_at(memory, i) = *extent_at(memory, i + 1);
    memory->free.count--;
}

static void insert_extent(device_memory *memory, size_t index, device_extent extent) {
    sb_vector_push(&memory->free);
    for (size_t i = memory->free.count - 1; i > index; i--)
        *extent_at(memory, i) = *extent_at(memory, i - 1);
    *extent_at(memory, index) = extent;
}

/* What of an extent may be used when nothing below floor may. */
static uint32_t usable(const device_extent *extent, uint32_t floor) {
    const uint32_t end = extent->address + extent->size;
    if (extent->address >= floor)
        return extent->size;
    return end > floor ? end - floor : 0;
}

static uint32_t take_from(device_memory *memory, size_t index, uint32_t size, bool from_above) {
    device_extent *extent = extent_at(memory, index);
    const uint32_t address = from_above ? extent->address + extent->size - size : extent->address;
    if (!from_above)
        extent->address += size;
    extent->size -= size;
    if (extent->size == 0)
        remove_extent(memory, index);
    return address;
}

sb_status device_memory_take(device_memory *memory, uint64_t size, bool from_above, uint32_t floor,
                             uint32_t *address, sb_error *error) {
    const uint64_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    uint32_t largest = 0;
    for (size_t i = 0; i < memory->free.count; i++) {
        const size_t index = from_above ? memory->free.count - 1 - i : i;
        const uint32_t room = usable(extent_at(memory, index), floor);
        largest = room > largest ? room : largest;
        if (rounded <= room) {
            *address = take_from(memory, index, (uint32_t)rounded, from_above);
            return SB_OK;
        }
    }
    SB_FAIL(error, SB_ERR_LIMIT, "%s is full: %llu bytes are wanted, the largest free part has %u",
            memory->name, (unsigned long long)rounded, largest);
}

/* Makes one of two neighbours that touch. */
static void join_with_next(device_memory *memory, size_t index) {
    if (index + 1 >= memory->free.count)
        return;
    device_extent *extent = extent_at(memory, index);
    const device_extent *next = extent_at(memory, index + 1);
    if (extent->address + extent->size != next->address)
        return;
    extent->size += next->size;
    remove_extent(memory, index + 1);
}

void device_memory_give_back(device_memory *memory, uint32_t address, uint32_t size) {
    size_t index = 0;
    while (index < memory->free.count && extent_at(memory, index)->address < address)
        index++;
    insert_extent(memory, index, (device_extent){address, round_up(size)});
    join_with_next(memory, index);
    if (index > 0)
        join_with_next(memory, index - 1);
}

uint32_t device_memory_free_until(const device_memory *memory, uint32_t begin) {
    for (size_t i = 0; i < memory->free.count; i++) {
        const device_extent *extent = extent_at(memory, i);
        if (extent->address <= begin && begin - extent->address < extent->size)
            return extent->address + extent->size;
    }
    return begin;
}
