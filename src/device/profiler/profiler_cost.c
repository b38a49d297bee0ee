#include "device/profiler/profiler_cost.h"

#include <stdio.h>

/* Where the kernels leave what they measured: no buffer exists yet. */
#define RESULTS SB_L1_FREE
#define ZONES "64"
#define ZONE_COUNT 64.0

/*
 * The same loop without and with a zone; then the buffer is filled up and one more zone begun. In
 * mode drop newest that is refused, which costs what it costs.
 */
static const char source[] =
    "#include <strobe/kernel.h>\n"
    "static void note(uint32_t index, uint32_t clocks) {\n"
    "    *sb_word(SB_L1_FREE + (STROBE_PROCESSOR * 3 + index) * 4) = clocks;\n"
    "}\n"
    "void kernel_main(void) {\n"
    "    const uint32_t begin = get_timestamp_32b();\n"
    "    for (uint32_t i = 0; i < " ZONES "; i++)\n"
    "        __asm__ volatile(\"nop\");\n"
    "    const uint32_t middle = get_timestamp_32b();\n"
    "    for (uint32_t i = 0; i < " ZONES "; i++) {\n"
    "        DeviceZoneScopedN(\"PROFILER-COST\");\n"
    "        __asm__ volatile(\"nop\");\n"
    "    }\n"
    "    const uint32_t end = get_timestamp_32b();\n"
    "    note(0, middle - begin);\n"
    "    note(1, end - middle);\n"
    "    uint32_t longest = 0;\n"
    "    for (uint32_t i = 0; i < 125 - " ZONES " + 1; i++) {\n"
    "        const uint32_t before = get_timestamp_32b();\n"
    "        { DeviceZoneScopedN(\"PROFILER-COST\"); }\n"
    "        const uint32_t clocks = get_timestamp_32b() - before;\n"
    "        longest = clocks > longest ? clocks : longest;\n"
    "    }\n"
    "    note(2, longest);\n"
    "}\n";

static sb_status run_kernels(sb_device *device, sb_error *error) {
    sb_program *program = sb_program_create(device);
    sb_status status = SB_OK;
    for (uint32_t i = 0; i < SB_PROCESSORS && status == SB_OK; i++) {
        uint32_t number = 0;
        status = sb_program_add_kernel(program,
                                       &(sb_kernel_options){.source = source,
                                                            .name = "profiler_cost.c",
                                                            .processor = (sb_processor)i},
                                       &number, error);
    }
    /* An id of its own, so that the first program of the user is still number 1. */
    sb_program_set_id(program, UINT32_MAX);
    if (status == SB_OK)
        status = sb_program_enqueue(program, error);
    if (status == SB_OK)
        status = sb_device_finish(device, error);
    sb_program_destroy(program);
    return status;
}

sb_status profiler_measure_costs(profiler_device *self, sb_error *error) {
    uint32_t results[SB_PROCESSORS][3];
    sb_mailbox mail;
    const sb_core first = {0, 0};
    self->is_measuring = true;
    SB_TRY(run_kernels(self->device, error));
    SB_TRY(sb_device_read_l1(self->device, first, RESULTS, results, sizeof results, error));
    SB_TRY(sb_device_read_l1(self->device, first, SB_L1_MAILBOX, &mail, sizeof mail, error));
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        self->costs.zone[i] = ((double)results[i][1] - (double)results[i][0]) / ZONE_COUNT;
    self->costs.full_push = (double)results[SB_BRISC][2] - self->costs.zone[SB_BRISC];
    self->costs.push = mail.profiler.push_clocks;
    SB_TRY(profiler_fetch(self, error));
    self->is_measuring = false;
    memset(self->lanes, 0, sizeof self->lanes);
    return SB_OK;
}

sb_status profiler_write_costs(const device_profiler *profiler, sb_error *error) {
    char path[4200];
    sb_output out;
    snprintf(path, sizeof path, "%s/.logs/profiler_costs.csv", profiler->options.folder);
    SB_TRY(sb_output_to_file(&out, path, error));
    sb_put_text(&out, "device,time model,what,clocks\n");
    for (uint32_t i = 0; i < profiler->mesh->device_count; i++) {
        const profiler_device *device = &profiler->devices[i];
        const char *model = device->device->info.time_model;
        for (uint32_t k = 0; k < SB_PROCESSORS; k++)
            sb_put_format(&out, "%u,%s,zone on %s,%.1f\n", i, model, profiler_processor_text(k),
                          device->costs.zone[k]);
        sb_put_format(&out, "%u,%s,push at the end of a program,%.0f\n", i, model,
                      device->costs.push);
        sb_put_format(&out, "%u,%s,push of a full buffer,%.0f\n", i, model,
                      device->costs.full_push);
    }
    return sb_output_finish(&out, error);
}
