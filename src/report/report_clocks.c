#include "report/report_clocks.h"

#include <math.h>

/* The columns that matter, by title: older files lack the last ones. */
enum { DEVICE, CYCLES, HOST_NS, WRITE_TICKS, DELAY, FREQUENCY, NS_PER_TICK, COLUMNS };

static const char *const titles[COLUMNS] = {
    "device id", "device", "host_real", "write_overhead", "delay", "frequency", "tracy_ratio",
};

enum { NO_FIELD = -1 };

static bool find_columns(const sb_csv *csv, int fields[COLUMNS]) {
    bool found_all = true;
    for (int i = 0; i < COLUMNS; i++) {
        fields[i] = NO_FIELD;
        for (size_t k = 0; k < csv->field_count && fields[i] == NO_FIELD; k++) {
            if (sb_slice_is(sb_slice_trim(csv->fields[k]), titles[i]))
                fields[i] = (int)k;
        }
        found_all = found_all && fields[i] != NO_FIELD;
    }
    return found_all;
}

static report_clock *find_clock(report_clocks *clocks, int64_t device) {
    for (size_t i = 0; i < clocks->clocks.count; i++) {
        report_clock *clock = sb_vector_at(&clocks->clocks, i);
        if (clock->device == device)
            return clock;
    }
    report_clock *added = sb_vector_push(&clocks->clocks);
    added->device = device;
    return added;
}

static void take_sample(report_clocks *clocks, const double values[COLUMNS]) {
    const double mhz_per_ghz = 1000;
    report_clock *clock = find_clock(clocks, (int64_t)values[DEVICE]);
    const double fitted = values[DELAY] + values[FREQUENCY] * values[HOST_NS];
    const double residual_ns = (values[CYCLES] - fitted) / values[FREQUENCY];
    clock->samples++;
    clock->mhz = values[FREQUENCY] * mhz_per_ghz;
    clock->residual_squares += residual_ns * residual_ns;
    clock->residual_max_ns = fmax(clock->residual_max_ns, fabs(residual_ns));
    clock->write_ns += values[WRITE_TICKS] * values[NS_PER_TICK];
}

static sb_slice cell_of(const sb_csv *csv, int field) {
    return (size_t)field < csv->field_count ? sb_slice_trim(csv->fields[field]) : (sb_slice){"", 0};
}

static void take_record(report_clocks *clocks, const sb_csv *csv, const int fields[COLUMNS]) {
    const double most_devices = 1024;
    double values[COLUMNS];
    if (cell_of(csv, fields[FREQUENCY]).size == 0)
        return; /* it compares devices with each other */
    for (int i = 0; i < COLUMNS; i++) {
        if (!sb_parse_double(cell_of(csv, fields[i]), &values[i]) || !isfinite(values[i])) {
            clocks->bad_rows++;
            return;
        }
    }
    if (values[FREQUENCY] <= 0 || values[DEVICE] < 0 || values[DEVICE] >= most_devices)
        clocks->bad_rows++;
    else
        take_sample(clocks, values);
}

void report_read_clocks(report_clocks *clocks, sb_slice text) {
    *clocks = (report_clocks){.clocks = sb_vector_of(sizeof(report_clock))};
    sb_csv csv;
    int fields[COLUMNS];
    sb_csv_begin(&csv, text);
    if (sb_csv_next(&csv) && find_columns(&csv, fields)) {
        while (sb_csv_next(&csv))
            take_record(clocks, &csv, fields);
    }
    sb_csv_end(&csv);
}

void report_clocks_free(report_clocks *clocks) {
    sb_vector_free(&clocks->clocks);
}

double report_clock_residual_ns(const report_clock *clock) {
    return clock->samples == 0 ? 0 : sqrt(clock->residual_squares / (double)clock->samples);
}
