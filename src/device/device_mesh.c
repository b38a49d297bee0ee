#include "device/device_mesh.h"

#include <stdlib.h>

#include "device/device_build.h"
#include "device/device_gpu.h"
#include "device/device_profiler.h"

#define TRANSLATED_FIRST 18u
#define SOFT_RESET 0xFFB121B0u
#define RESET_ALL 0x47800u
#define RESET_ALL_BUT_BRISC 0x47000u
/* Boot takes a few thousand clocks. */
#define BOOT_CLOCKS 1000000u

/* ---- places ---- */

uint32_t device_core_index(const sb_device *device, sb_core core) {
    return core.y * device->info.columns + core.x;
}

sb_status device_check(const sb_device *device, sb_error *error) {
    if (device == NULL)
        SB_FAIL(error, SB_ERR_USAGE,
                "there is no such device: the mesh has fewer (option chips of the emulator)");
    return SB_OK;
}

sb_status device_check_core(const sb_device *device, sb_core core, sb_error *error) {
    SB_TRY(device_check(device, error));
    if (core.x >= device->info.columns || core.y >= device->info.rows ||
        device_core_index(device, core) >= device->info.cores)
        SB_FAIL(error, SB_ERR_USAGE, "there is no core (%u,%u); the grid is %u x %u", core.x,
                core.y, device->info.columns, device->info.rows);
    return SB_OK;
}

sb_status device_check_range(const sb_device *device, sb_core_range range, sb_error *error) {
    SB_TRY(device_check_core(device, range.first, error));
    SB_TRY(device_check_core(device, range.last, error));
    if (range.first.x > range.last.x || range.first.y > range.last.y)
        SB_FAIL(error, SB_ERR_USAGE, "a range of cores goes from (%u,%u) back to (%u,%u)",
                range.first.x, range.first.y, range.last.x, range.last.y);
    return SB_OK;
}

const char *device_processor_name(uint32_t processor) {
    static const char *const names[SB_PROCESSORS] = {"BRISC", "NCRISC", "TRISC0", "TRISC1",
                                                     "TRISC2"};
    return processor < SB_PROCESSORS ? names[processor] : "?";
}

sb_status device_refuse_gpu(const sb_device *device, const char *sentence, sb_error *error) {
    if (device_is_gpu(device))
        SB_FAIL(error, SB_ERR_USAGE, "%s", sentence);
    return SB_OK;
}

/* ---- raw memory ---- */

static const char no_l1[] = "a GPU has no L1 that the host can reach";
static const char no_banks[] = "the memory of a GPU has no banks; buffers are the way to it";

sb_status sb_device_read_l1(sb_device *device, sb_core core, uint32_t address, void *data,
                            size_t size, sb_error *error) {
    SB_TRY(device_check_core(device, core, error));
    SB_TRY(device_refuse_gpu(device, no_l1, error));
    return device->mesh->backend->read(device->mesh->machine, device->info.index,
                                       TRANSLATED_FIRST + core.x, TRANSLATED_FIRST + core.y,
                                       address, data, size, error);
}

sb_status sb_device_write_l1(sb_device *device, sb_core core, uint32_t address, const void *data,
                             size_t size, sb_error *error) {
    SB_TRY(device_check_core(device, core, error));
    SB_TRY(device_refuse_gpu(device, no_l1, error));
    return device->mesh->backend->write(device->mesh->machine, device->info.index,
                                        TRANSLATED_FIRST + core.x, TRANSLATED_FIRST + core.y,
                                        address, data, size, error);
}

/* One endpoint for each bank; odd banks are the upper half of their channel. */
static const struct {
    uint8_t x, y;
} bank_endpoints[SB_DRAM_BANKS] = {{0, 11}, {0, 1}, {0, 5}, {0, 7}, {5, 1}, {5, 11},
                                   {5, 2},  {5, 9}, {5, 8}, {5, 3}, {5, 5}, {5, 7}};

static sb_status check_bank(uint32_t bank, uint32_t address, size_t size, sb_error *error) {
    if (bank >= SB_DRAM_BANKS)
        SB_FAIL(error, SB_ERR_USAGE, "there is no DRAM bank %u; there are %d", bank, SB_DRAM_BANKS);
    if (address > SB_DRAM_BANK_BYTES || size > SB_DRAM_BANK_BYTES - address)
        SB_FAIL(error, SB_ERR_USAGE, "%zu bytes at 0x%x lie outside a DRAM bank", size, address);
    return SB_OK;
}

static uint64_t bank_address(uint32_t bank, uint32_t address) {
    return (uint64_t)(bank & 1) * SB_DRAM_BANK_BYTES + address;
}

sb_status sb_device_read_dram(sb_device *device, uint32_t bank, uint32_t address, void *data,
                              size_t size, sb_error *error) {
    SB_TRY(device_check(device, error));
    SB_TRY(device_refuse_gpu(device, no_banks, error));
    SB_TRY(check_bank(bank, address, size, error));
    return device->mesh->backend->read(device->mesh->machine, device->info.index,
                                       bank_endpoints[bank].x, bank_endpoints[bank].y,
                                       bank_address(bank, address), data, size, error);
}

sb_status sb_device_write_dram(sb_device *device, uint32_t bank, uint32_t address, const void *data,
                               size_t size, sb_error *error) {
    SB_TRY(device_check(device, error));
    SB_TRY(device_refuse_gpu(device, no_banks, error));
    SB_TRY(check_bank(bank, address, size, error));
    return device->mesh->backend->write(device->mesh->machine, device->info.index,
                                        bank_endpoints[bank].x, bank_endpoints[bank].y,
                                        bank_address(bank, address), data, size, error);
}

/* ---- time ---- */

sb_status device_run(sb_mesh *mesh, uint64_t clocks, sb_error *error) {
    bool has_fault = false;
    device_fault fault = {0};
    if (mesh->failed != SB_OK)
        SB_FAIL(error, mesh->failed, "%s", mesh->failure);
    SB_TRY(mesh->backend->run(mesh->machine, clocks, &has_fault, &fault, error));
    return has_fault ? device_report_fault(mesh, &fault, error) : SB_OK;
}

uint64_t sb_device_clock(const sb_device *device) {
    if (device_is_gpu(device))
        return device_gpu_clock(device);
    return device->mesh->backend->clock(device->mesh->machine);
}

uint64_t sb_device_instructions(const sb_device *device) {
    const device_backend *backend = device->mesh->backend;
    return backend != NULL && backend->instructions != NULL
               ? backend->instructions(device->mesh->machine)
               : 0;
}

/* ---- images ---- */

sb_status device_image_open(device_image *image, device_profiler *profiler, const char *path,
                            sb_error *error) {
    sb_error inner;
    *image = (device_image){0};
    SB_TRY(sb_file_open(&image->file, path, error));
    sb_slice text = image->file.text;
    if (profiler != NULL && text.size > 0) {
        image->copy = sb_alloc(text.size);
        memcpy(image->copy, text.data, text.size);
        text.data = image->copy;
    }
    sb_status status = device_elf_parse(text, &image->elf, &inner);
    if (status == SB_OK) {
        status = device_profiler_name_zones(profiler, image, &inner);
        if (status != SB_OK)
            device_elf_free(&image->elf);
    }
    if (status != SB_OK) {
        sb_file_close(&image->file);
        free(image->copy);
        SB_FAIL(error, status, "%s: %s", path, inner.message);
    }
    image->path = strdup(path);
    return SB_OK;
}

void device_image_close(device_image *image) {
    if (image->path == NULL)
        return;
    device_elf_free(&image->elf);
    sb_file_close(&image->file);
    free(image->copy);
    free(image->path);
    *image = (device_image){0};
}

sb_status device_image_load(sb_device *device, sb_core core, const device_image *image,
                            sb_error *error) {
    for (size_t i = 0; i < image->elf.segments.count; i++) {
        const device_segment *segment = sb_vector_at(&image->elf.segments, i);
        if (segment->bytes.size > 0)
            SB_TRY(sb_device_write_l1(device, core, segment->address, segment->bytes.data,
                                      segment->bytes.size, error));
    }
    return SB_OK;
}

/* ---- firmware ---- */

static sb_status build_firmware(sb_mesh *mesh, sb_error *error) {
    const char *sources = NULL;
    device_job jobs[SB_PROCESSORS];
    sb_arena arena = {0};
    SB_TRY(device_source_folder(&sources, error));
    const char *path = sb_arena_format(&arena, "%s/firmware.c", sources).data;
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        jobs[i] = (device_job){.name = "firmware",
                               .path = path,
                               .processor = i,
                               .is_firmware = true,
                               .instrument = device_profiler_instrument(mesh->profiler)};
    sb_status status = device_build(jobs, SB_PROCESSORS, error);
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        if (status == SB_OK)
            status = device_image_open(&mesh->firmware[i], mesh->profiler, jobs[i].elf_path, error);
        free(jobs[i].elf_path);
    }
    sb_arena_free(&arena);
    return status;
}

/* `jal x0, target`: what BRISC finds at address 0. */
static uint32_t jump_to(uint32_t target) {
    return 0x6Fu | (target & 0xFF000u) | (target >> 11 & 1u) << 20 | (target >> 1 & 0x3FFu) << 21;
}

static sb_status boot_core(sb_device *device, sb_core core, sb_error *error) {
    const sb_mesh *mesh = device->mesh;
    const uint32_t index = device_core_index(device, core);
    const uint32_t hold = RESET_ALL;
    const uint32_t release = RESET_ALL_BUT_BRISC;
    const uint32_t jump = jump_to(mesh->firmware[0].elf.entry);
    sb_mailbox mailbox = {.go = SB_INIT,
                          .columns = device->info.columns,
                          .rows = device->info.rows,
                          .chip = device->info.index,
                          .chips = mesh->device_count,
                          .print_mask = mesh->options.prints.processors[index],
                          .paints_stack = mesh->options.watches};
    SB_TRY(device_profiler_boot_core(device, core, &mailbox.profiler, error));
    SB_TRY(sb_device_write_l1(device, core, SOFT_RESET, &hold, 4, error));
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        SB_TRY(device_image_load(device, core, &mesh->firmware[i], error));
    SB_TRY(sb_device_write_l1(device, core, 0, &jump, 4, error));
    SB_TRY(sb_device_write_l1(device, core, SB_L1_MAILBOX, &mailbox, sizeof mailbox, error));
    return sb_device_write_l1(device, core, SOFT_RESET, &release, 4, error);
}

static sb_status wait_for_boot(sb_device *device, sb_error *error) {
    const uint64_t begin = sb_device_clock(device);
    for (uint32_t y = 0; y < device->info.rows; y++)
        for (uint32_t x = 0; x < device->info.columns; x++)
            for (;;) {
                uint32_t go = 0;
                SB_TRY(sb_device_read_l1(device, (sb_core){x, y}, SB_L1_MAILBOX, &go, 4, error));
                if (go == SB_DONE)
                    break;
                if (sb_device_clock(device) - begin > BOOT_CLOCKS)
                    SB_FAIL(error, SB_ERR_DEVICE, "the firmware of core (%u,%u) does not start", x,
                            y);
                SB_TRY(device_run(device->mesh, DEVICE_POLL_CLOCKS, error));
            }
    return SB_OK;
}

static sb_status boot(sb_device *device, sb_error *error) {
    for (uint32_t y = 0; y < device->info.rows; y++)
        for (uint32_t x = 0; x < device->info.columns; x++)
            SB_TRY(boot_core(device, (sb_core){x, y}, error));
    return device_print_start(device, error);
}

/* ---- opening ---- */

static void prepare_device(sb_mesh *mesh, uint32_t index) {
    sb_device *device = &mesh->devices[index];
    device->mesh = mesh;
    device->info = (sb_device_info){
        .backend = mesh->backend->name,
        .time_model = mesh->options.counts_time ? "count" : "modelled",
        .index = index,
        .columns = mesh->options.columns,
        .rows = mesh->options.rows,
        .dram_banks = SB_DRAM_BANKS,
        .clock_mhz = DEVICE_CLOCK_MHZ,
        .cores = mesh->options.columns * mesh->options.rows,
        .architecture = DEVICE_ARCHITECTURE,
        .name = DEVICE_ARCHITECTURE,
    };
    device->dram = device_memory_of(
        "DRAM", device_profiler_dram_end(mesh->profiler, &mesh->options), SB_DRAM_BANK_BYTES);
    device->l1 = device_memory_of("L1", SB_L1_FREE, SB_L1_END);
    device->next_program_id = 1;
    device->next_trace_id = 1;
    device_profiler_prepare(device);
}

static sb_status open_backend(sb_mesh *mesh, sb_error *error) {
    if (mesh->options.kind == DEVICE_TTSIM)
        return device_ttsim_open(&mesh->options, &mesh->backend, &mesh->machine, error);
    return device_emu_open(&mesh->options, &mesh->backend, &mesh->machine, error);
}

static sb_status open_mesh(sb_mesh *mesh, sb_error *error) {
    SB_TRY(device_profiler_create(mesh, error));
    SB_TRY(build_firmware(mesh, error));
    SB_TRY(open_backend(mesh, error));
    mesh->device_count = mesh->options.chips;
    mesh->devices = sb_alloc_zeroed(mesh->device_count, sizeof *mesh->devices);
    for (uint32_t i = 0; i < mesh->device_count; i++)
        prepare_device(mesh, i);
    for (uint32_t i = 0; i < mesh->device_count; i++)
        SB_TRY(boot(&mesh->devices[i], error));
    for (uint32_t i = 0; i < mesh->device_count; i++)
        SB_TRY(wait_for_boot(&mesh->devices[i], error));
    return device_profiler_start(mesh->profiler, error);
}

sb_status sb_mesh_open(const char *name, sb_mesh **mesh, sb_error *error) {
    sb_mesh *opened = sb_alloc_zeroed(1, sizeof *opened);
    sb_status status = device_options_parse(name, &opened->options, error);
    if (status == SB_OK)
        status = opened->options.kind == DEVICE_CUDA ? device_gpu_open(opened, error)
                                                     : open_mesh(opened, error);
    if (status != SB_OK) {
        sb_mesh_close(opened);
        return status;
    }
    *mesh = opened;
    return SB_OK;
}

void sb_mesh_close(sb_mesh *mesh) {
    if (mesh == NULL)
        return;
    device_profiler_close(mesh->profiler);
    for (uint32_t i = 0; i < mesh->device_count; i++)
        sb_device_trace_destroy(mesh->devices[i].recording);
    if (mesh->gpu != NULL)
        device_gpu_close(mesh);
    for (uint32_t i = 0; i < mesh->device_count; i++) {
        device_print_stop(&mesh->devices[i]);
        device_memory_free(&mesh->devices[i].dram);
        device_memory_free(&mesh->devices[i].l1);
    }
    if (mesh->machine != NULL)
        mesh->backend->close(mesh->machine);
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        device_image_close(&mesh->firmware[i]);
    free(mesh->devices);
    free(mesh);
}

uint32_t sb_mesh_device_count(const sb_mesh *mesh) {
    return mesh->device_count;
}

sb_device *sb_mesh_device(sb_mesh *mesh, uint32_t index) {
    return index < mesh->device_count ? &mesh->devices[index] : NULL;
}

const sb_device_info *sb_device_describe(const sb_device *device) {
    return &device->info;
}
