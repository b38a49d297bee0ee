#include <stdlib.h>

#include "device/device_gpu.h"
#include "device/device_mesh.h"
#include "device/device_profiler.h"

struct sb_buffer {
    sb_device *device;
    sb_buffer_options options;
    uint32_t page_count;
    uint32_t pages_each; /* pages that one bank or core holds, at most */
    uint64_t address;
};

/* ---- creation ---- */

static uint32_t range_width(sb_core_range range) {
    return range.last.x - range.first.x + 1;
}

/* Banks or cores that the pages are spread over. */
static uint32_t holder_count(const sb_device *device, const sb_buffer_options *options) {
    if (options->layout == SB_SHARDED)
        return range_width(options->cores) * (options->cores.last.y - options->cores.first.y + 1);
    return options->memory == SB_DRAM ? SB_DRAM_BANKS : device->info.columns * device->info.rows;
}

static sb_status check_options(const sb_device *device, const sb_buffer_options *options,
                               sb_error *error) {
    SB_TRY(device_check(device, error));
    if (options->memory != SB_DRAM && options->memory != SB_L1)
        SB_FAIL(error, SB_ERR_USAGE, "there is no memory %d; there are SB_DRAM and SB_L1",
                (int)options->memory);
    if (options->layout != SB_INTERLEAVED && options->layout != SB_SHARDED)
        SB_FAIL(error, SB_ERR_USAGE,
                "there is no layout %d; there are SB_INTERLEAVED and SB_SHARDED",
                (int)options->layout);
    if (options->size == 0)
        SB_FAIL(error, SB_ERR_USAGE, "a buffer of no bytes");
    if (options->page_size == 0 || options->page_size % 32 != 0)
        SB_FAIL(error, SB_ERR_USAGE, "a page of %u bytes: it must be a multiple of 32",
                options->page_size);
    if (options->layout == SB_SHARDED && options->memory != SB_L1)
        SB_FAIL(error, SB_ERR_USAGE, "only buffers in L1 can be sharded over cores");
    if (options->layout == SB_SHARDED)
        SB_TRY(device_check_range(device, options->cores, error));
    if (options->size / options->page_size >= UINT32_MAX)
        SB_FAIL(error, SB_ERR_LIMIT, "a buffer of more pages than can be counted");
    return SB_OK;
}

static sb_buffer *make_buffer(const sb_buffer *made) {
    sb_buffer *created = sb_alloc(sizeof *created);
    *created = *made;
    device_profiler_allocated(made->device, made->options.memory, made->address,
                              made->options.size);
    return created;
}

/* Linear: pages mean nothing there. */
static sb_status create_on_gpu(sb_device *device, const sb_buffer_options *options,
                               sb_buffer **buffer, sb_error *error) {
    uint64_t address = 0;
    SB_TRY(device_gpu_allocate(device, options, &address, error));
    *buffer = make_buffer(&(sb_buffer){.device = device, .options = *options, .address = address});
    return SB_OK;
}

sb_status sb_buffer_create(sb_device *device, const sb_buffer_options *options, sb_buffer **buffer,
                           sb_error *error) {
    if (device_is_gpu(device))
        return create_on_gpu(device, options, buffer, error);
    SB_TRY(check_options(device, options, error));
    const uint32_t pages =
        (uint32_t)((options->size + options->page_size - 1) / options->page_size);
    const uint32_t holders = holder_count(device, options);
    const uint32_t each = (uint32_t)(((uint64_t)pages + holders - 1) / holders);
    const bool is_dram = options->memory == SB_DRAM;
    uint32_t address = 0;
    SB_TRY(device_memory_take(is_dram ? &device->dram : &device->l1,
                              (uint64_t)each * options->page_size, !is_dram,
                              is_dram ? 0 : device_circular_end(device), &address, error));
    *buffer = make_buffer(&(sb_buffer){.device = device,
                                       .options = *options,
                                       .page_count = pages,
                                       .pages_each = each,
                                       .address = address});
    return SB_OK;
}

void sb_buffer_destroy(sb_buffer *buffer) {
    if (buffer == NULL)
        return;
    device_memory *memory =
        buffer->options.memory == SB_DRAM ? &buffer->device->dram : &buffer->device->l1;
    device_profiler_freed(buffer->device, buffer->options.memory, buffer->address);
    if (device_is_gpu(buffer->device))
        device_gpu_free(buffer->device, buffer->address);
    else
        device_memory_give_back(memory, (uint32_t)buffer->address,
                                buffer->pages_each * buffer->options.page_size);
    free(buffer);
}

uint64_t sb_buffer_address(const sb_buffer *buffer) {
    return buffer->address;
}

size_t sb_buffer_size(const sb_buffer *buffer) {
    return buffer->options.size;
}

uint32_t sb_buffer_page_size(const sb_buffer *buffer) {
    return buffer->options.page_size;
}

/* ---- access ---- */

typedef struct page_place {
    uint32_t holder;
    uint32_t address;
} page_place;

static page_place place_of(const sb_buffer *buffer, uint32_t page) {
    const uint32_t holders = holder_count(buffer->device, &buffer->options);
    const bool is_sharded = buffer->options.layout == SB_SHARDED;
    const uint32_t holder = is_sharded ? page / buffer->pages_each : page % holders;
    const uint32_t slot = is_sharded ? page % buffer->pages_each : page / holders;
    return (page_place){holder, (uint32_t)buffer->address + slot * buffer->options.page_size};
}

static sb_core core_of(const sb_buffer *buffer, uint32_t holder) {
    const sb_core_range cores = buffer->options.cores;
    const uint32_t columns = buffer->device->info.columns;
    if (buffer->options.layout == SB_INTERLEAVED)
        return (sb_core){holder % columns, holder / columns};
    return (sb_core){cores.first.x + holder % range_width(cores),
                     cores.first.y + holder / range_width(cores)};
}

/* Part of a page, to or from the device; one of out and in is NULL. */
static sb_status move_part(const sb_buffer *buffer, uint32_t page, uint32_t offset, uint32_t size,
                           void *out, const void *in, sb_error *error) {
    const page_place place = place_of(buffer, page);
    const uint32_t address = place.address + offset;
    if (buffer->options.memory == SB_DRAM)
        return out != NULL
                   ? sb_device_read_dram(buffer->device, place.holder, address, out, size, error)
                   : sb_device_write_dram(buffer->device, place.holder, address, in, size, error);
    const sb_core core = core_of(buffer, place.holder);
    return out != NULL ? sb_device_read_l1(buffer->device, core, address, out, size, error)
                       : sb_device_write_l1(buffer->device, core, address, in, size, error);
}

static sb_status move(const sb_buffer *buffer, size_t offset, size_t size, char *out,
                      const char *in, sb_error *error) {
    if (offset > buffer->options.size || size > buffer->options.size - offset)
        SB_FAIL(error, SB_ERR_USAGE, "%zu bytes at %zu of a buffer that has %zu", size, offset,
                buffer->options.size);
    /* A program that is still running may use the buffer. */
    SB_TRY(device_wait(buffer->device, error));
    if (device_is_gpu(buffer->device))
        return device_gpu_move(buffer->device, buffer->address + offset, size, out, in, error);
    const size_t page_size = buffer->options.page_size;
    for (size_t done = 0; done < size;) {
        const size_t at = (offset + done) % page_size;
        const size_t part = size - done < page_size - at ? size - done : page_size - at;
        SB_TRY(move_part(buffer, (uint32_t)((offset + done) / page_size), (uint32_t)at,
                         (uint32_t)part, out != NULL ? out + done : NULL,
                         in != NULL ? in + done : NULL, error));
        done += part;
    }
    return SB_OK;
}

sb_status sb_buffer_write(sb_buffer *buffer, size_t offset, const void *data, size_t size,
                          sb_error *error) {
    return move(buffer, offset, size, NULL, data, error);
}

sb_status sb_buffer_read(sb_buffer *buffer, size_t offset, void *data, size_t size,
                         sb_error *error) {
    return move(buffer, offset, size, data, NULL, error);
}
