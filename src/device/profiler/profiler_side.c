#include "device/profiler/profiler_side.h"

#include <stdio.h>

static sb_status open_file(const device_profiler *profiler, const char *name, sb_output *out,
                           sb_error *error) {
    char path[4200];
    snprintf(path, sizeof path, "%s/.logs/%s", profiler->options.folder, name);
    return sb_output_to_file(out, path, error);
}

/* As a compiler's note would say it; readers look for the text behind "message: ". */
sb_status profiler_write_locations(const device_profiler *profiler, sb_error *error) {
    sb_output out;
    SB_TRY(open_file(profiler, "zone_src_locations.log", &out, error));
    for (size_t i = 0; i < profiler->names.zones.count; i++) {
        const profiler_zone *zone = sb_vector_at(&profiler->names.zones, i);
        sb_put(&out, zone->file);
        sb_put_format(&out, ":%u: note: '#pragma message: ", zone->line);
        sb_put(&out, zone->name);
        sb_put_char(&out, ',');
        sb_put(&out, zone->file);
        sb_put_format(&out, ",%u,KERNEL_PROFILER'\n", zone->line);
    }
    return sb_output_finish(&out, error);
}

static void put_sample(sb_output *out, const profiler_device *self, const clock_sample *sample) {
    const sb_core core = profiler_physical((sb_core){0, 0});
    const clock_line *line = &self->clock.line;
    const double ghz = self->device->info.clock_mhz / 1000.0 * line->rate;
    const double delay = line->device_mean - line->rate * line->machine_mean +
                         (double)(int64_t)self->clock.device_begin;
    const double begin = ((const clock_sample *)sb_vector_at(&self->clock.samples, 0))->machine;
    sb_put_format(out, "%5u,%5u,%5u,%20.0f,%20.0f,%20.2f,%20.0f,%20.0f,%20.2f,%20.15f,%20.15f,",
                  self->device->info.index, core.x, core.y,
                  sample->device + (double)(int64_t)self->clock.device_begin, sample->machine,
                  sample->machine * 1000.0 / self->device->info.clock_mhz, sample->round_trip,
                  begin, delay, ghz, 1.0);
    const sb_profiler_link link = sb_profiler_link_of(self->device);
    sb_put_format(out, "%20.0f,%20.15f,%20.1f\n", begin, link.ratio, link.shift);
}

sb_status profiler_write_sync(const device_profiler *profiler, sb_error *error) {
    sb_output out;
    if (!profiler->options.syncs)
        return SB_OK;
    SB_TRY(open_file(profiler, "sync_device_info.csv", &out, error));
    sb_put_text(&out, "device id,core_x, core_y,device,host_tracy,host_real,write_overhead,"
                      "host_start,delay,frequency,tracy_ratio,tracy_base_time,"
                      "device_frequency_ratio,device_shift\n");
    for (uint32_t i = 0; i < profiler->mesh->device_count; i++) {
        const profiler_device *self = &profiler->devices[i];
        for (size_t k = 0; k < self->clock.samples.count; k++)
            put_sample(&out, self, sb_vector_at(&self->clock.samples, k));
    }
    return sb_output_finish(&out, error);
}
