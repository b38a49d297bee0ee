#include "device/profiler/profiler_clock.h"

#include <math.h>
#include <stdlib.h>

#define CLOCK_LOW 0xFFB121F0u
#define CLOCK_HIGH 0xFFB121F4u
/* As many looks as other profilers of this hardware take, and the clocks between two of them. */
#define SAMPLE_COUNT 249
#define SAMPLE_CLOCKS 1000u
/* A new look after so many clocks. */
#define FOLLOW_CLOCKS 100000.0
/* What a sample may be off: so many times the usual. */
#define OUTLIER 4.0
#define OUTLIER_ROUNDS 3
/* A clock counts whole steps, and modelled cores run up to a quantum ahead of the machine. */
#define READING_ERROR_NS 17.0

/* ---- reading ---- */

sb_status profiler_clock_read(sb_device *device, sb_core core, uint64_t *clock, sb_error *error) {
    uint32_t high = 0;
    uint32_t low = 0;
    uint32_t again = 0;
    do {
        SB_TRY(sb_device_read_l1(device, core, CLOCK_HIGH, &high, 4, error));
        SB_TRY(sb_device_read_l1(device, core, CLOCK_LOW, &low, 4, error));
        SB_TRY(sb_device_read_l1(device, core, CLOCK_HIGH, &again, 4, error));
    } while (again != high);
    *clock = (uint64_t)high << 32 | low;
    return SB_OK;
}

static sb_status take_sample(const profiler_clock *self, sb_device *device, clock_sample *sample,
                             sb_error *error) {
    const uint64_t before = sb_device_clock(device);
    uint64_t clock = 0;
    SB_TRY(profiler_clock_read(device, (sb_core){0, 0}, &clock, error));
    const uint64_t after = sb_device_clock(device);
    *sample = (clock_sample){.machine = ((double)before + (double)after) / 2,
                             .device = (double)(int64_t)(clock - self->device_begin),
                             .round_trip = (double)(after - before)};
    return SB_OK;
}

/* ---- a line ---- */

/* Around the means, so that large numbers do not swallow small differences. */
static clock_line fit(const clock_sample *samples, const bool *is_out, size_t count) {
    clock_line line = {.rate = 1};
    for (size_t i = 0; i < count; i++)
        if (!is_out[i]) {
            line.used++;
            line.machine_mean += (samples[i].machine - line.machine_mean) / (double)line.used;
            line.device_mean += (samples[i].device - line.device_mean) / (double)line.used;
        }
    double square = 0;
    double product = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_out[i]) {
            const double x = samples[i].machine - line.machine_mean;
            square += x * x;
            product += x * (samples[i].device - line.device_mean);
        }
    if (square > 0)
        line.rate = product / square;
    return line;
}

static double distance_of(const clock_line *line, const clock_sample *sample) {
    return sample->device - line->device_mean - line->rate * (sample->machine - line->machine_mean);
}

static double residual_of(const clock_line *line, const clock_sample *samples, const bool *is_out,
                          size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_out[i])
            sum += distance_of(line, &samples[i]) * distance_of(line, &samples[i]);
    return line->used > 0 ? sqrt(sum / (double)line->used) : 0;
}

static int compare_doubles(const void *a, const void *b) {
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median_round_trip(const clock_sample *samples, size_t count) {
    double *sorted = sb_alloc(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = samples[i].round_trip;
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    const double median = sorted[count / 2];
    free(sorted);
    return median;
}

clock_line profiler_fit_line(const clock_sample *samples, size_t count) {
    bool *is_out = sb_alloc_zeroed(count, sizeof *is_out);
    const double usual = median_round_trip(samples, count);
    for (size_t i = 0; i < count; i++)
        is_out[i] = samples[i].round_trip > usual * 2;
    clock_line line = fit(samples, is_out, count);
    for (int round = 0; round < OUTLIER_ROUNDS; round++) {
        const double limit = OUTLIER * residual_of(&line, samples, is_out, count) + 1;
        for (size_t i = 0; i < count; i++)
            is_out[i] |= fabs(distance_of(&line, &samples[i])) > limit;
        line = fit(samples, is_out, count);
    }
    line.residual = residual_of(&line, samples, is_out, count);
    free(is_out);
    return line;
}

/* ---- opening and following ---- */

/* How far each core's clock is ahead of the first one's. */
static sb_status measure_skews(profiler_clock *self, sb_device *device, sb_error *error) {
    const uint32_t count = device->info.columns * device->info.rows;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t first = 0;
        uint64_t other = 0;
        uint64_t again = 0;
        const sb_core core = {i % device->info.columns, i / device->info.columns};
        SB_TRY(profiler_clock_read(device, (sb_core){0, 0}, &first, error));
        SB_TRY(profiler_clock_read(device, core, &other, error));
        SB_TRY(profiler_clock_read(device, (sb_core){0, 0}, &again, error));
        self->skews[i] = (int64_t)(other - (first + (again - first) / 2));
    }
    return SB_OK;
}

static void push_anchor(profiler_clock *self, const clock_sample *sample) {
    *(clock_sample *)sb_vector_push(&self->anchors) = *sample;
}

sb_status profiler_clock_open(profiler_clock *self, sb_device *device, bool syncs,
                              sb_error *error) {
    *self = (profiler_clock){.syncs = syncs,
                             .samples = sb_vector_of(sizeof(clock_sample)),
                             .anchors = sb_vector_of(sizeof(clock_sample)),
                             .launches = sb_vector_of(sizeof(clock_launch))};
    SB_TRY(profiler_clock_read(device, (sb_core){0, 0}, &self->device_begin, error));
    double longest = 0;
    for (size_t i = 0; i < (syncs ? SAMPLE_COUNT : 1); i++) {
        clock_sample sample = {0};
        SB_TRY(take_sample(self, device, &sample, error));
        *(clock_sample *)sb_vector_push(&self->samples) = sample;
        longest = fmax(longest, sample.round_trip);
        if (syncs)
            SB_TRY(device_run(device->mesh, SAMPLE_CLOCKS, error));
    }
    self->line = profiler_fit_line(sb_vector_at(&self->samples, 0), self->samples.count);
    push_anchor(self, sb_vector_at(&self->samples, self->samples.count - 1));
    if (!syncs)
        return SB_OK;
    const double ns_per_clock = 1000.0 / device->info.clock_mhz;
    self->error_ns =
        READING_ERROR_NS + (longest / 2 + OUTLIER * self->line.residual) * ns_per_clock;
    return measure_skews(self, device, error);
}

void profiler_clock_free(profiler_clock *self) {
    sb_vector_free(&self->samples);
    sb_vector_free(&self->anchors);
    sb_vector_free(&self->launches);
}

static const clock_sample *anchor_at(const profiler_clock *self, size_t index) {
    return sb_vector_at(&self->anchors, index);
}

sb_status profiler_clock_follow(profiler_clock *self, sb_device *device, sb_error *error) {
    const clock_sample *last = anchor_at(self, self->anchors.count - 1);
    if (!self->syncs || (double)sb_device_clock(device) - last->machine < FOLLOW_CLOCKS)
        return SB_OK;
    clock_sample sample = {0};
    SB_TRY(take_sample(self, device, &sample, error));
    push_anchor(self, &sample);
    return SB_OK;
}

void profiler_clock_launched(profiler_clock *self, const sb_device *device) {
    *(clock_launch *)sb_vector_push(&self->launches) =
        (clock_launch){sb_device_clock(device), sb_clock_ns()};
}

static void keep_last(sb_vector *vector, size_t count) {
    if (vector->count <= count)
        return;
    memmove(vector->data, vector->data + (vector->count - count) * vector->element_size,
            count * vector->element_size);
    vector->count = count;
}

void profiler_clock_forget(profiler_clock *self, size_t programs) {
    keep_last(&self->anchors, 2 + programs);
    keep_last(&self->launches, 1 + programs);
}

/* ---- converting ---- */

/* The first anchor after a device time, or the number of anchors. */
static size_t anchor_after(const profiler_clock *self, double device) {
    size_t low = 0;
    size_t high = self->anchors.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (anchor_at(self, middle)->device > device)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Between two looks on the line between them; outside, on the line of all from the nearest. */
double profiler_clock_machine(const profiler_clock *self, uint32_t core, uint64_t time) {
    const double device =
        (double)(int64_t)(time - (uint64_t)self->skews[core] - self->device_begin);
    const size_t after = anchor_after(self, device);
    const clock_sample *near = anchor_at(self, after > 0 ? after - 1 : 0);
    if (after == 0 || after == self->anchors.count)
        return near->machine + (device - near->device) / self->line.rate;
    const clock_sample *next = anchor_at(self, after);
    return near->machine + (device - near->device) * (next->machine - near->machine) /
                               (next->device - near->device);
}

/* The last launch that is not after a machine time. */
static const clock_launch *launch_before(const profiler_clock *self, double machine) {
    size_t low = 0;
    size_t high = self->launches.count;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        const clock_launch *launch = sb_vector_at(&self->launches, middle);
        if ((double)launch->machine > machine + READING_ERROR_NS)
            high = middle;
        else
            low = middle;
    }
    return self->launches.count > 0 ? sb_vector_at(&self->launches, low) : NULL;
}

int64_t profiler_clock_host(const profiler_clock *self, uint32_t core, uint64_t time) {
    const double machine = profiler_clock_machine(self, core, time);
    const clock_launch *launch = launch_before(self, machine);
    if (launch == NULL)
        return 0;
    return launch->host_ns + (int64_t)llround(machine - (double)launch->machine);
}
