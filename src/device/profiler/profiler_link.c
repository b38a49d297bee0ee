#include "device/profiler/profiler_link.h"

#include <math.h>

/* As many messages as other profilers of this hardware send. */
#define MESSAGES "240"
enum { MESSAGE_COUNT = 240 };
/* Clocks between two of them: the longer all of it takes, the better the rate. */
#define SPACING "2000"
/* Where the kernels leave their times: no buffer exists yet. */
#define RESULTS (SB_L1_FREE + 128u)

/* Both kernels: the word that arrives, the one that is sent, and behind them the times. */
#define KERNEL_HEAD                                                                               \
    "#include <strobe/kernel.h>\n"                                                                \
    "#define ARRIVES SB_L1_FREE\n"                                                                \
    "#define IS_SENT (SB_L1_FREE + 64)\n"                                                         \
    "static volatile uint64_t *times(void) { return (volatile uint64_t *)(SB_L1_FREE + 128); }\n" \
    "static void send(bool next, uint32_t number) {\n"                                            \
    "    *sb_word(IS_SENT) = number;\n"                                                           \
    "    noc_async_write(IS_SENT, get_link_noc_addr(next, 0, 0, ARRIVES), 16);\n"                 \
    "}\n"

static const char sender[] =
    KERNEL_HEAD "void kernel_main(void) {\n"
                "    for (uint32_t i = 1; i <= " MESSAGES "; i++) {\n"
                "        const uint64_t begin = get_timestamp();\n"
                "        send(true, i);\n"
                "        while (*sb_word(ARRIVES) != i) {\n"
                "        }\n"
                "        times()[i * 2 - 1] = get_timestamp();\n"
                "        times()[i * 2 - 2] = begin;\n"
                "        while (get_timestamp_32b() - (uint32_t)begin < " SPACING ") {\n"
                "        }\n"
                "    }\n"
                "    noc_async_write_barrier();\n"
                "}\n";

static const char receiver[] = KERNEL_HEAD "void kernel_main(void) {\n"
                                           "    for (uint32_t i = 1; i <= " MESSAGES "; i++) {\n"
                                           "        while (*sb_word(ARRIVES) != i) {\n"
                                           "        }\n"
                                           "        times()[i - 1] = get_timestamp();\n"
                                           "        send(false, i);\n"
                                           "    }\n"
                                           "    noc_async_write_barrier();\n"
                                           "}\n";

/* ---- messages ---- */

static sb_status start(sb_device *device, const char *source, const char *name,
                       sb_program **program, sb_error *error) {
    static const uint32_t none[4];
    uint32_t number = 0;
    *program = sb_program_create(device);
    /* An id of its own, so that the first program of the user is still number 1. */
    sb_program_set_id(*program, UINT32_MAX);
    SB_TRY(sb_device_write_l1(device, (sb_core){0, 0}, SB_L1_FREE, none, sizeof none, error));
    SB_TRY(sb_program_add_kernel(*program, &(sb_kernel_options){.source = source, .name = name},
                                 &number, error));
    return sb_program_enqueue(*program, error);
}

/* The receiver waits before the first message is on its way. */
static sb_status exchange(sb_device *from, sb_device *to, sb_error *error) {
    sb_program *sends = NULL;
    sb_program *answers = NULL;
    sb_status status = start(to, receiver, "profiler_link_receiver.c", &answers, error);
    if (status == SB_OK)
        status = start(from, sender, "profiler_link_sender.c", &sends, error);
    if (status == SB_OK)
        status = sb_device_finish(from, error);
    if (status == SB_OK)
        status = sb_device_finish(to, error);
    sb_program_destroy(answers);
    sb_program_destroy(sends);
    return status;
}

/* Times on both clocks since these were opened; the sender's is the middle. */
static sb_status read_samples(const profiler_device *from, const profiler_device *to,
                              clock_sample *samples, sb_error *error) {
    uint64_t sent[MESSAGE_COUNT][2];
    uint64_t arrived[MESSAGE_COUNT];
    const sb_core first = {0, 0};
    SB_TRY(sb_device_read_l1(from->device, first, RESULTS, sent, sizeof sent, error));
    SB_TRY(sb_device_read_l1(to->device, first, RESULTS, arrived, sizeof arrived, error));
    for (size_t i = 0; i < MESSAGE_COUNT; i++)
        samples[i] =
            (clock_sample){.machine = (double)(int64_t)(sent[i][0] - from->clock.device_begin) +
                                      (double)(sent[i][1] - sent[i][0]) / 2,
                           .device = (double)(int64_t)(arrived[i] - to->clock.device_begin),
                           .round_trip = (double)(sent[i][1] - sent[i][0])};
    return SB_OK;
}

/* ---- lines ---- */

static double longest_used(const clock_sample *samples, const clock_line *line) {
    double longest = 0;
    for (size_t i = 0; i < MESSAGE_COUNT; i++) {
        const double off = samples[i].device - line->device_mean -
                           line->rate * (samples[i].machine - line->machine_mean);
        if (fabs(off) <= samples[i].round_trip / 2)
            longest = fmax(longest, samples[i].round_trip);
    }
    return longest;
}

/* Behind the way from the first device to `from` comes that from there to `to`. */
static void compose(const profiler_device *from, profiler_device *to, const clock_line *line,
                    double error) {
    const profiler_link *before = &from->link;
    to->link = (profiler_link){.own_mean = line->device_mean,
                               .root_mean = before->root_mean +
                                            before->ratio * (line->machine_mean - before->own_mean),
                               .ratio = before->ratio / line->rate,
                               .error = before->error + error,
                               .samples = (uint32_t)line->used};
}

/* Both ways must agree, or one of the clocks jumps. */
static void compare_ways(const profiler_device *root, const profiler_device *self) {
    const double through_host =
        (self->link.own_mean - self->clock.line.device_mean) / self->clock.line.rate +
        self->clock.line.machine_mean;
    const double through_link =
        (self->link.root_mean - root->clock.line.device_mean) / root->clock.line.rate +
        root->clock.line.machine_mean;
    const double allowed = self->link.error + self->clock.error_ns + root->clock.error_ns;
    if (fabs(through_host - through_link) > allowed)
        sb_log(SB_LOG_WARNING,
               "the clock of device %u differs by %.0f ns over the links from what the host sees, "
               "more than the %.0f ns that are certain",
               self->device->info.index, through_host - through_link, allowed);
}

static sb_status measure(profiler_device *from, profiler_device *to, sb_error *error) {
    clock_sample samples[MESSAGE_COUNT];
    from->is_measuring = true;
    to->is_measuring = true;
    SB_TRY(exchange(from->device, to->device, error));
    SB_TRY(read_samples(from, to, samples, error));
    SB_TRY(profiler_fetch(from, error));
    SB_TRY(profiler_fetch(to, error));
    from->is_measuring = false;
    to->is_measuring = false;
    const clock_line line = profiler_fit_line(samples, MESSAGE_COUNT);
    compose(from, to, &line, longest_used(samples, &line) / 2 + line.residual);
    return SB_OK;
}

sb_status profiler_measure_links(device_profiler *profiler, sb_error *error) {
    profiler_device *devices = profiler->devices;
    devices[0].link = (profiler_link){.ratio = 1};
    for (uint32_t i = 1; i < profiler->mesh->device_count && profiler->options.syncs; i++) {
        SB_TRY(measure(&devices[i - 1], &devices[i], error));
        compare_ways(&devices[0], &devices[i]);
    }
    return SB_OK;
}

/* ---- results ---- */

sb_profiler_link sb_profiler_link_of(const sb_device *device) {
    const profiler_device *self = profiler_of(device);
    if (self == NULL || self->link.ratio == 0)
        return (sb_profiler_link){.ratio = 1};
    const profiler_link *link = &self->link;
    const profiler_device *root = &self->profiler->devices[0];
    const double own_begin = (double)(int64_t)self->clock.device_begin;
    const double root_begin = (double)(int64_t)root->clock.device_begin;
    return (sb_profiler_link){.ratio = link->ratio,
                              .shift = root_begin + link->root_mean -
                                       link->ratio * (own_begin + link->own_mean),
                              .error = link->error,
                              .samples = link->samples};
}
