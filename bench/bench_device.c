/*
 * What profiling a kernel costs: clocks for a zone and for pushes, on the device, in both models of
 * time; bytes for a marker; and how fast the host takes buffers apart. Beside it the figures that
 * are known of the original profiler, from runs of its firmware on the vendor's simulator, whose
 * time is the same as count.
 *
 *     bench_device 100000      runs so many programs with zones on 64 cores x 5 processors instead,
 *                              and says what was lost and how much memory it took
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <strobe/device.h>
#include <strobe/kernel_profiler.h>

#include "device/profiler/profiler_decode.h"

/* Of the original: instructions of a zone, and of the push at the end of a program. */
#define ORIGINAL_ZONE 39.0
#define ORIGINAL_PUSH 1000.0
#define LIMIT_ZONE 40.0
#define LIMIT_RATE 50.0
#define PROGRAMS 4096
#define RUNS 7

static double processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void show_costs(const char *name) {
    sb_mesh *mesh = NULL;
    sb_error error;
    if (sb_mesh_open(name, &mesh, &error) != SB_OK) {
        fprintf(stderr, "bench_device: %s\n", error.message);
        exit(1);
    }
    const sb_device *device = sb_mesh_device(mesh, 0);
    const sb_profiler_costs costs = sb_profiler_cost(device);
    const char *model = sb_device_describe(device)->time_model;
    printf("%-9s zone %6.1f clocks on BRISC, %.1f on TRISC0; push of a full buffer %5.0f, at the "
           "end of a program %5.0f\n",
           model, costs.zone[SB_BRISC], costs.zone[SB_TRISC0], costs.full_push, costs.push);
    if (sb_device_describe(device)->time_model[0] == 'c')
        printf("          original: zone %.0f, push at the end of a program about %.0f: ratio %.2f "
               "and %.2f; at most %.0f: %s\n",
               ORIGINAL_ZONE, ORIGINAL_PUSH, costs.zone[SB_BRISC] / ORIGINAL_ZONE,
               costs.push / ORIGINAL_PUSH, LIMIT_ZONE,
               costs.zone[SB_BRISC] <= LIMIT_ZONE ? "yes" : "NO");
    sb_mesh_close(mesh);
}

static uint32_t marker_word(uint32_t type, uint32_t id) {
    return SB_MARKER_VALID | type << SB_MARKER_TYPE_SHIFT | id << SB_MARKER_ID_SHIFT;
}

/* Slots as programs with full buffers leave them. */
static uint32_t *make_slots(void) {
    uint32_t *words = calloc((size_t)PROGRAMS * SB_PROFILER_WORDS, sizeof *words);
    uint32_t time = 1;
    for (uint32_t i = 0; words != NULL && i < PROGRAMS; i++) {
        uint32_t *buffer = words + (size_t)i * SB_PROFILER_WORDS;
        buffer[SB_PROFILER_PROGRAM] = i + 1;
        for (uint32_t at = SB_PROFILER_MAIN_START; at < SB_PROFILER_WORDS; at += 2) {
            buffer[at] = marker_word(at / 2 % 2, 1 + at / 4 % 50);
            buffer[at + 1] = time += 20;
        }
        buffer[SB_PROFILER_MAIN_END + 1] = time + 2;
        buffer[SB_PROFILER_CHILD_END + 1] = time + 1;
    }
    return words;
}

static void show_decoding(void) {
    uint32_t *words = make_slots();
    if (words == NULL)
        return;
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        profiler_decoder decoder =
            profiler_decoder_of(words, (size_t)PROGRAMS * SB_PROFILER_WORDS, UINT64_C(1) << 40);
        profiler_block block;
        uint64_t markers = 0;
        const double begin = processor_time();
        while (profiler_decode_next(&decoder, &block))
            markers += block.count;
        const double rate = (double)markers / (processor_time() - begin) * 1e-6;
        best = rate > best ? rate : best;
        profiler_decoder_free(&decoder);
    }
    printf("decoding  %.0f million markers/s (processor time, best of %d); at least %.0f: %s\n",
           best, RUNS, LIMIT_RATE, best >= LIMIT_RATE ? "yes" : "NO");
    free(words);
}

/* ---- a long run ---- */

static const char source[] = "#include <strobe/kernel.h>\n"
                             "void kernel_main(void) {\n"
                             "    for (uint32_t i = 0; i < 3; i++) {\n"
                             "        DeviceZoneScopedN(\"WORK\");\n"
                             "        __asm__ volatile(\"nop\");\n"
                             "    }\n"
                             "}\n";
/* Three zones, firmware and kernel. */
#define MARKERS_EACH 10u

static void check(sb_status status, const sb_error *error) {
    if (status == SB_OK)
        return;
    fprintf(stderr, "bench_device: %s\n", error->message);
    exit(1);
}

static long memory_kb(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Markers of all processors that were read, less those that were lost or made no sense. */
static uint64_t count_markers(const sb_device *device) {
    uint64_t count = 0;
    for (uint32_t core = 0; core < 64; core++)
        for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
            const sb_profiler_counts counts =
                sb_profiler_count(device, (sb_core){core % 8, core / 8}, (sb_processor)i);
            count += counts.markers - counts.refused - counts.dropped - counts.strange;
        }
    return count;
}

static int run_long(uint32_t programs) {
    sb_mesh *mesh = NULL;
    sb_error error;
    check(sb_mesh_open("emu", &mesh, &error), &error);
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        uint32_t number = 0;
        const sb_kernel_options options = {.source = source,
                                           .name = "work.c",
                                           .processor = (sb_processor)i,
                                           .cores = {{0, 0}, {7, 7}}};
        check(sb_program_add_kernel(program, &options, &number, &error), &error);
    }
    long early = 0;
    for (uint32_t i = 0; i < programs; i++) {
        check(sb_program_enqueue(program, &error), &error);
        if (i == programs / 100)
            early = memory_kb();
    }
    check(sb_read_profiler(device, &error), &error);
    const uint64_t expected = (uint64_t)programs * 64 * SB_PROCESSORS * MARKERS_EACH;
    const uint64_t count = count_markers(device);
    printf("%u programs: %llu of %llu markers; %ld kB after a hundredth of them, %ld kB at the "
           "end\n",
           programs, (unsigned long long)count, (unsigned long long)expected, early, memory_kb());
    sb_program_destroy(program);
    sb_mesh_close(mesh);
    return count == expected ? 0 : 1;
}

int main(int count, char **arguments) {
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    setenv("TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES", "1", 1);
    setenv("TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY", "1", 1);
    const long programs = count > 1 ? strtol(arguments[1], NULL, 10) : 0;
    if (programs > 0)
        return run_long((uint32_t)programs);
    show_costs("emu:rows=1,cols=1,time=count");
    show_costs("emu:rows=1,cols=1,time=modelled");
    printf("markers   8 bytes, 16 with data; a program 48 bytes for each processor beside them\n");
    show_decoding();
    return 0;
}
