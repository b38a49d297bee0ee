#include "device/profiler/profiler_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <strobe/kernel_profiler.h>

#define TITLES                                                                                   \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, " \
    "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta "  \
    "data\n"

struct profiler_log {
    const profiler_names *names;
    char path[4200];
    sb_output output;
};

/* A process that opens several meshes, one after the other, adds to the log it has begun. */
static bool is_begun(const char *path) {
    static char begun[4200];
    if (sb_slice_is(sb_slice_of(begun), path) && access(path, W_OK) == 0)
        return true;
    snprintf(begun, sizeof begun, "%s", path);
    return false;
}

sb_status profiler_log_open(const char *folder, const profiler_log_chip *chip,
                            const profiler_names *names, profiler_log **log, sb_error *error) {
    profiler_log *self = sb_alloc_zeroed(1, sizeof *self);
    self->names = names;
    snprintf(self->path, sizeof self->path, "%s/.logs", folder);
    sb_status status = sb_folder_make(self->path, error);
    if (status == SB_OK) {
        snprintf(self->path, sizeof self->path, "%s/.logs/profile_log_device.csv", folder);
        const bool adds = is_begun(self->path);
        const int file =
            open(self->path, O_WRONLY | O_CREAT | O_CLOEXEC | (adds ? O_APPEND : O_TRUNC), 0666);
        if (file < 0)
            status = sb_error_set(error, SB_ERR_IO, "%s: cannot be written: %s", self->path,
                                  strerror(errno));
        else {
            self->output = sb_output_to_descriptor(file);
            self->output.closes = true;
            if (!adds)
                sb_put_format(&self->output,
                              "ARCH: %s, CHIP_FREQ[MHz]: %u, Max Compute Cores: %u\n" TITLES,
                              chip->architecture, chip->clock_mhz, chip->cores);
        }
    }
    if (status != SB_OK) {
        free(self);
        return status;
    }
    *log = self;
    return SB_OK;
}

static const char *type_text(profiler_type type) {
    static const char *const texts[] = {"ZONE_START", "ZONE_END", "ZONE_TOTAL",
                                        "TS_DATA",    "TS_EVENT", "TS_DATA"};
    return texts[type];
}

/* What all rows of a place have in common: in front of the marker, and behind its value. */
typedef struct row_parts {
    char place[64];
    char run[64];
} row_parts;

static row_parts parts_of(const profiler_log_place *place) {
    row_parts parts;
    snprintf(parts.place, sizeof parts.place, "%u,%u,%u,%s,", place->device, place->core.x,
             place->core.y, place->processor);
    if (place->replay != NULL)
        snprintf(parts.run, sizeof parts.run, "%u,%u,%u,", place->program, place->replay->trace_id,
                 place->replay->session);
    else
        snprintf(parts.run, sizeof parts.run, "%u,,,", place->program);
    return parts;
}

static void put_number(sb_output *out, uint64_t number, char behind) {
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = behind;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    sb_put(out, (sb_slice){digits + at, sizeof digits - at});
}

/* What a counter's marker says, as others write it: commas would end the field. */
static void put_counter(sb_output *out, const profiler_marker *marker) {
    static const char *const stalls[] = {"THREAD_STALLS_0", "THREAD_STALLS_1", "THREAD_STALLS_2"};
    static const char *const instructions[] = {"THREAD_INSTRUCTIONS_0", "THREAD_INSTRUCTIONS_1",
                                               "THREAD_INSTRUCTIONS_2"};
    const uint64_t number = marker->more & 255;
    const char *name = number >= 42 && number <= 44     ? stalls[number - 42]
                       : number >= 110 && number <= 112 ? instructions[number - 110]
                                                        : "UNDEF";
    sb_put_format(out, "{\"counter type\":\"%s\";\"ref cnt\":%u;\"value\":%u}", name,
                  (uint32_t)(marker->data >> 32), (uint32_t)marker->data);
}

static void put_marker(profiler_log *log, const row_parts *parts, const profiler_marker *marker) {
    sb_output *out = &log->output;
    const profiler_type type = profiler_type_of(marker);
    /* An event's number is its own, not the id of a zone. */
    const profiler_zone *zone =
        type == PROFILER_EVENT ? NULL : profiler_names_find(log->names, profiler_id_of(marker));
    sb_put_text(out, parts->place);
    put_number(out, profiler_id_of(marker), ',');
    put_number(out, marker->time, ',');
    put_number(out, marker->data, ',');
    sb_put_text(out, parts->run);
    if (zone != NULL)
        sb_put(out, zone->name);
    sb_put_char(out, ',');
    sb_put_text(out, type_text(type));
    sb_put_char(out, ',');
    put_number(out, zone != NULL ? zone->line : 0, ',');
    if (zone != NULL)
        sb_put(out, zone->file);
    sb_put_char(out, ',');
    if (type == PROFILER_DATA_16B && profiler_id_of(marker) == SB_MARKER_COUNTER)
        put_counter(out, marker);
    sb_put_char(out, '\n');
}

void profiler_log_put(profiler_log *log, const profiler_log_place *place,
                      const profiler_marker *markers, size_t count) {
    const row_parts parts = parts_of(place);
    for (size_t i = 0; i < count; i++)
        put_marker(log, &parts, &markers[i]);
}

static sb_status check(const profiler_log *log, sb_error *error) {
    if (log->output.failed_errno != 0)
        SB_FAIL(error, SB_ERR_IO, "%s: cannot be written: %s", log->path,
                strerror(log->output.failed_errno));
    return SB_OK;
}

sb_status profiler_log_flush(profiler_log *log, sb_error *error) {
    sb_output_flush(&log->output);
    return check(log, error);
}

sb_status profiler_log_close(profiler_log *log, sb_error *error) {
    if (log == NULL)
        return SB_OK;
    sb_output_flush(&log->output);
    const sb_status status = check(log, error);
    (void)sb_output_finish(&log->output, NULL);
    free(log);
    return status;
}
