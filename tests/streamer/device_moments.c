/*
 * A program whose kernels record values and events, that makes and destroys buffers, and replays a
 * trace: for tests of what the device profiler puts into a recording.
 */
#include <strobe/device.h>

#include <stdio.h>
#include <stdlib.h>

static const char source[] = "#include <strobe/kernel.h>\n"
                             "void kernel_main(void) {\n"
                             "    DeviceZoneScopedN(\"WORK\");\n"
                             "    for (uint32_t i = 0; i < 3; i++)\n"
                             "        DeviceTimestampedData(\"rows\", 10 + i);\n"
                             "    DeviceRecordEvent(77);\n"
                             "}\n";

static sb_error error;

static void check(sb_status status) {
    if (status == SB_OK)
        return;
    fprintf(stderr, "%s\n", error.message);
    exit(1);
}

static sb_buffer *make_buffer(sb_device *device, sb_memory memory, size_t size) {
    sb_buffer *buffer = NULL;
    check(sb_buffer_create(device,
                           &(sb_buffer_options){.memory = memory, .size = size, .page_size = 1024},
                           &buffer, &error));
    return buffer;
}

static void replay_twice(sb_device *device, sb_program *program) {
    sb_device_trace *trace = NULL;
    check(sb_device_trace_begin(device, &error));
    check(sb_program_enqueue(program, &error));
    check(sb_device_trace_end(device, &trace, &error));
    check(sb_device_trace_replay(trace, &error));
    check(sb_device_trace_replay(trace, &error));
    check(sb_device_finish(device, &error));
    sb_device_trace_destroy(trace);
}

int main(void) {
    sb_mesh *mesh = NULL;
    uint32_t number = 0;
    check(sb_mesh_open("emu:rows=1,cols=2", &mesh, &error));
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_buffer *dram = make_buffer(device, SB_DRAM, 65536);
    sb_buffer *l1 = make_buffer(device, SB_L1, 4096);
    sb_program *program = sb_program_create(device);
    check(sb_program_add_kernel(program,
                                &(sb_kernel_options){.source = source,
                                                     .name = "moments.c",
                                                     .processor = SB_NCRISC,
                                                     .cores = {{0, 0}, {1, 0}}},
                                &number, &error));
    check(sb_program_enqueue(program, &error));
    check(sb_device_finish(device, &error));
    replay_twice(device, program);
    sb_program_destroy(program);
    sb_buffer_destroy(l1);
    sb_buffer_destroy(dram);
    sb_mesh_close(mesh);
    return 0;
}
