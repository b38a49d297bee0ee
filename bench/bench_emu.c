/*
 * How fast the emulator is: instructions per second of one hart, of the five of a tile, and of all
 * of 64 tiles, in both models of time; and beside it the vendor's simulator where its library is
 * given (PEER_TTSIM=.../libttsim.so). Times are processor time, the best of several runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <strobe/device.h>

#define RUNS 3
#define MIPS_ONE 400.0
#define MIPS_ALL 250.0

/* Arithmetic, local memory, L1 and branches, about as compiled code mixes them. */
static const char source[] =
    "#include <strobe/kernel.h>\n"
    "void kernel_main(void) {\n"
    "    volatile uint32_t *shared = (volatile uint32_t *)(0x100000 + STROBE_PROCESSOR * 1024);\n"
    "    volatile uint32_t local[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
    "    const uint32_t count = get_arg_val(0);\n"
    "    uint32_t a = 1, b = 12345;\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        a += local[i & 7];\n"
    "        b = (b ^ a) * 1664525 + 1013904223;\n"
    "        a = (a << 3 | a >> 29) + (b >> 7);\n"
    "        local[b & 7] = a;\n"
    "        if ((i & 3) == 0)\n"
    "            shared[i >> 2 & 63] += a;\n"
    "    }\n"
    "    shared[64] = a + b;\n"
    "}\n";

typedef struct figure {
    double mips;
    double clocks; /* per second */
} figure;

static void check(sb_status status, const sb_error *error) {
    if (status == SB_OK)
        return;
    fprintf(stderr, "bench_emu: %s\n", error->message);
    exit(1);
}

static double seconds_of(const struct timeval *time) {
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

/* Processor time of this process and of its children; these count when they have ended. */
static double processor_time(void) {
    double total = 0;
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (size_t i = 0; i < sizeof whose / sizeof whose[0]; i++) {
        struct rusage usage;
        getrusage(whose[i], &usage);
        total += seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
    }
    return total;
}

static void add_kernels(sb_program *program, sb_core_range cores, uint32_t harts, uint32_t count) {
    sb_error error;
    for (uint32_t i = 0; i < harts; i++) {
        uint32_t number = 0;
        const sb_kernel_options options = {
            .source = source, .name = "mix.c", .processor = (sb_processor)i, .cores = cores};
        check(sb_program_add_kernel(program, &options, &number, &error), &error);
        for (uint32_t y = 0; y <= cores.last.y; y++)
            for (uint32_t x = 0; x <= cores.last.x; x++)
                check(sb_program_set_args(program, number, (sb_core){x, y}, &count, 1, &error),
                      &error);
    }
    check(sb_program_build(program, &error), &error);
}

/* What a whole session takes, opening and closing included. */
typedef struct session {
    double seconds;
    double clocks;
    double instructions;
} session;

static session run_session(const char *name, uint32_t tiles, uint32_t harts, uint32_t count) {
    const sb_core_range cores = {{0, 0}, {tiles > 1 ? 7 : 0, tiles > 1 ? tiles / 8 - 1 : 0}};
    sb_mesh *mesh = NULL;
    sb_error error;
    const double begin = processor_time();
    check(sb_mesh_open(name, &mesh, &error), &error);
    sb_device *device = sb_mesh_device(mesh, 0);
    sb_program *program = sb_program_create(device);
    add_kernels(program, cores, harts, count);
    check(sb_program_enqueue(program, &error), &error);
    check(sb_device_finish(device, &error), &error);
    session taken = {.clocks = (double)sb_device_clock(device),
                     .instructions = (double)sb_device_instructions(device)};
    sb_program_destroy(program);
    sb_mesh_close(mesh);
    taken.seconds = processor_time() - begin;
    return taken;
}

/* The quickest of several: the first one may have to build the kernels. */
static session run_idle(const char *name, uint32_t tiles, uint32_t harts) {
    session best = run_session(name, tiles, harts, 1);
    for (int i = 0; i < RUNS; i++) {
        const session again = run_session(name, tiles, harts, 1);
        if (again.seconds < best.seconds)
            best = again;
    }
    return best;
}

/* The difference between a long session and a short one is the kernels' work alone. */
static figure measure(const char *name, uint32_t tiles, uint32_t harts, uint32_t count) {
    const session idle = run_idle(name, tiles, harts);
    figure best = {0};
    for (int i = 0; i < RUNS; i++) {
        const session busy = run_session(name, tiles, harts, count);
        const double seconds = busy.seconds - idle.seconds;
        const figure once = {.mips = (busy.instructions - idle.instructions) / seconds * 1e-6,
                             .clocks = (busy.clocks - idle.clocks) / seconds};
        if (once.clocks > best.clocks)
            best = once;
    }
    return best;
}

int main(void) {
    static const struct {
        uint32_t tiles, harts, count;
        uint32_t peer_part; /* the peer is slower: it does this part of the work */
        double wanted;
    } sizes[] = {{1, 1, 8000000, 20, MIPS_ONE}, {1, 5, 1600000, 8, 0}, {64, 5, 30000, 4, MIPS_ALL}};
    const char *peer = getenv("PEER_TTSIM");
    char peer_name[600];
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (peer == NULL)
        printf("PEER_TTSIM is not set: measured without the vendor's simulator\n");
    else
        snprintf(peer_name, sizeof peer_name, "ttsim:%s", peer);
    printf("%-10s %-9s %9s %14s\n", "harts", "time", "MIPS", "clocks/s");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        figure modelled = {0};
        for (int is_count = 0; is_count < 2; is_count++) {
            const figure ours = measure(is_count ? "emu:time=count" : "emu", sizes[i].tiles,
                                        sizes[i].harts, sizes[i].count);
            printf("%2u x %-5u %-9s %9.0f %14.0f", sizes[i].tiles, sizes[i].harts,
                   is_count ? "count" : "modelled", ours.mips, ours.clocks);
            if (!is_count && sizes[i].wanted > 0)
                printf("   %.2f of the %.0f wanted", ours.mips / sizes[i].wanted, sizes[i].wanted);
            printf("\n");
            modelled = is_count ? modelled : ours;
        }
        if (peer != NULL) {
            const figure theirs = measure(peer_name, sizes[i].tiles, sizes[i].harts,
                                          sizes[i].count / sizes[i].peer_part);
            printf("%2u x %-5u %-9s %9s %14.0f   ours (modelled) has %.1f times the clocks/s\n",
                   sizes[i].tiles, sizes[i].harts, "ttsim", "", theirs.clocks,
                   modelled.clocks / theirs.clocks);
        }
    }
    return 0;
}
