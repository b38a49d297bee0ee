/*
 * Messages about a device that stopped: where it was, in the words of the kernel's author.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/device_mesh.h"

#define DEFAULT_ADDR2LINE "riscv64-unknown-elf-addr2line"
#define PLACE_SIZE 300
/* Processors that a message about a deadlock names. */
#define NAMED_MAX 4

/* ---- source lines ---- */

/* Asks addr2line; false if it cannot be had. */
static bool run_addr2line(const char *path, uint32_t pc, sb_output *text) {
    enum { MOST = 1024 };
    const char *named = getenv("STROBE_RISCV_ADDR2LINE");
    const bool is_named = named != NULL && named[0] != '\0';
    char address[16];
    snprintf(address, sizeof address, "0x%x", pc);
    const char *const arguments[] = {
        is_named ? named : DEFAULT_ADDR2LINE, "-fi", "-e", path, address, NULL};
    return sb_process_run(arguments, MOST, text) == 0;
}

/* Behind the line number the tool may write " (discriminator 3)"; paths may have blanks too. */
static sb_slice without_remark(sb_slice line) {
    for (size_t i = 0; i + 1 < line.size; i++)
        if (line.data[i] == ' ' && line.data[i + 1] == '(')
            return sb_slice_first(line, i);
    return line;
}

/*
 * "function at file:line", or as much as is known. The tool names inlined functions from the inside
 * out, two lines each; the author's own is the first that is not of our headers.
 */
static void describe_with_tool(sb_slice lines, char place[PLACE_SIZE]) {
    while (lines.size > 0) {
        const sb_slice function = sb_slice_cut(lines, '\n', &lines);
        sb_slice line = without_remark(sb_slice_cut(lines, '\n', &lines));
        if (sb_slice_starts_with(function, "?"))
            return;
        if (sb_slice_contains(line, "/include/strobe/kernel") && lines.size > 0)
            continue;
        if (sb_slice_starts_with(line, "./"))
            line = sb_slice_after(line, 2);
        if (sb_slice_starts_with(line, "?"))
            snprintf(place, PLACE_SIZE, "%.*s", (int)function.size, function.data);
        else
            snprintf(place, PLACE_SIZE, "%.*s at %.*s", (int)function.size, function.data,
                     (int)line.size, line.data);
        return;
    }
}

static void describe_with_symbols(const char *path, uint32_t pc, char place[PLACE_SIZE]) {
    device_image image;
    if (device_image_open(&image, NULL, path, NULL) != SB_OK)
        return;
    uint32_t offset = 0;
    const sb_slice function = device_elf_function_at(&image.elf, pc, &offset);
    if (function.size > 0)
        snprintf(place, PLACE_SIZE, "%.*s+0x%x", (int)function.size, function.data, offset);
    device_image_close(&image);
}

static void describe(const sb_device *device, sb_core core, uint32_t processor, uint32_t pc,
                     char place[PLACE_SIZE]) {
    const uint32_t kernel = SB_L1_KERNELS + processor * SB_L1_KERNEL_BYTES;
    const char *path = device->mesh->firmware[processor].path;
    if (pc >= kernel && pc < kernel + SB_L1_KERNEL_BYTES)
        path = device->loaded[device_core_index(device, core)][processor];
    snprintf(place, PLACE_SIZE, "no known function");
    if (path == NULL)
        return;
    describe_with_symbols(path, pc, place);
    sb_output lines = sb_output_to_memory();
    if (run_addr2line(path, pc, &lines))
        describe_with_tool(sb_output_text(&lines), place);
    sb_output_discard(&lines);
}

/* ---- messages ---- */

/* The mesh stays stopped: whatever is asked of it next gets the same answer. */
static sb_status stop(sb_mesh *mesh, sb_error *error) {
    mesh->failed = SB_ERR_DEVICE;
    SB_FAIL(error, mesh->failed, "%s", mesh->failure);
}

sb_status device_report_fault(sb_mesh *mesh, const device_fault *fault, sb_error *error) {
    char place[PLACE_SIZE];
    char chip[32] = "";
    const sb_device *device = &mesh->devices[fault->chip];
    if (mesh->device_count > 1)
        snprintf(chip, sizeof chip, "chip %u, ", fault->chip);
    describe(device, fault->core, fault->processor, fault->pc, place);
    snprintf(mesh->failure, sizeof mesh->failure, "%score (%u,%u), %s, pc 0x%x (%s): %s", chip,
             fault->core.x, fault->core.y, device_processor_name(fault->processor), fault->pc,
             place, fault->text);
    return stop(mesh, error);
}

/* Adds what one processor of the program is doing, if it has not ended. */
static void add_activity(const sb_device *device, sb_core core, uint32_t processor, char *text,
                         size_t size, uint32_t *named) {
    const sb_mesh *mesh = device->mesh;
    const uint32_t kernel = SB_L1_KERNELS + processor * SB_L1_KERNEL_BYTES;
    const device_activity activity =
        mesh->backend->activity(mesh->machine, device->info.index, core, (sb_processor)processor);
    if (activity.pc < kernel || activity.pc >= kernel + SB_L1_KERNEL_BYTES)
        return;
    if ((*named)++ >= NAMED_MAX)
        return;
    char place[PLACE_SIZE];
    describe(device, core, processor, activity.pc, place);
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "; core (%u,%u) %s waits in %s", core.x, core.y,
             device_processor_name(processor), place);
    if (activity.is_waiting) {
        const size_t more = strlen(text);
        snprintf(text + more, size - more, " for the word at 0x%x", activity.address);
    }
}

static void add_activities(const sb_device *device, char *text, size_t size) {
    uint32_t named = 0;
    if (device->mesh->backend->activity == NULL)
        return;
    for (uint32_t y = 0; y < device->info.rows; y++)
        for (uint32_t x = 0; x < device->info.columns; x++)
            for (uint32_t i = 0; i < SB_PROCESSORS; i++)
                add_activity(device, (sb_core){x, y}, i, text, size, &named);
    if (named > NAMED_MAX) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "; and %u more", named - NAMED_MAX);
    }
}

sb_status device_report_deadlock(sb_device *device, sb_error *error) {
    sb_mesh *mesh = device->mesh;
    snprintf(mesh->failure, sizeof mesh->failure,
             "deadlock: the program has not ended and nothing moves any more");
    add_activities(device, mesh->failure, sizeof mesh->failure);
    return stop(mesh, error);
}

sb_status device_report_limit(sb_device *device, sb_error *error) {
    sb_mesh *mesh = device->mesh;
    snprintf(mesh->failure, sizeof mesh->failure,
             "the program has not ended after %llu clocks (option limit)",
             (unsigned long long)mesh->options.limit_clocks);
    add_activities(device, mesh->failure, sizeof mesh->failure);
    return stop(mesh, error);
}
