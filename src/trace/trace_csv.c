/*
 * Writing CSV: statistics, messages, plots.
 */
#include "trace/trace_csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace_csv_parts.h"

/* ---- fields ---- */

static bool needs_quotes(const csv_writer *writer, sb_slice field) {
    const sb_slice separator = writer->options->separator;
    for (size_t i = 0; i < field.size; i++) {
        const char c = field.data[i];
        if (c == '"' || c == '\n' || c == '\r' || memchr(separator.data, c, separator.size) != NULL)
            return true;
    }
    return false;
}

void csv_put_field(const csv_writer *writer, sb_slice field) {
    if (!writer->options->compat && needs_quotes(writer, field))
        sb_put_quoted(writer->output, field);
    else
        sb_put(writer->output, field);
}

void csv_put_separator(const csv_writer *writer) {
    sb_put(writer->output, writer->options->separator);
}

void csv_put_header(const csv_writer *writer, const char *names) {
    sb_slice rest = sb_slice_of(names);
    for (bool first = true; rest.size > 0; first = false) {
        if (!first)
            csv_put_separator(writer);
        sb_put(writer->output, sb_slice_cut(rest, '|', &rest));
    }
    sb_put_char(writer->output, '\n');
}

static void put_integer(const csv_writer *writer, int64_t value) {
    char text[SB_NUMBER_SIZE];
    csv_put_separator(writer);
    sb_put(writer->output, (sb_slice){text, sb_format_int64(value, text)});
}

/* As C's "%f" writes it, whatever the locale. */
static void put_real(const csv_writer *writer, double value) {
    enum { DECIMALS = 6 };
    char text[SB_NUMBER_SIZE];
    csv_put_separator(writer);
    if (isnan(value))
        sb_put_text(writer->output, signbit(value) ? "-nan" : "nan");
    else
        sb_put(writer->output, (sb_slice){text, sb_format_fixed(value, DECIMALS, false, text)});
}

bool csv_wants_source(const csv_writer *writer, uint32_t source) {
    const sb_trace_csv_options *options = writer->options;
    return sb_trace_matches(sb_trace_source_name(writer->trace, source), options->filter,
                            options->with_case);
}

/* ---- statistics ---- */

/*
 * The tool's own arithmetic: a mean cut to an integer, squares of it in 64 bits that wrap. For self
 * times it mixes the sums of whole durations with the mean of self times.
 */
static double compat_deviation(const csv_writer *writer, const sb_zone_stats *stats,
                               uint64_t mean) {
    if (stats->count < 2)
        return writer->options->layout == SB_TRACE_CSV_TRACY_0_9 ? -(double)NAN : 0;
    const double squares = stats->sum_squares - 2. * (double)stats->total * (double)mean +
                           (double)(mean * mean * stats->count);
    return sqrt(squares / (double)(stats->count - 1));
}

static int compare_durations(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The percentile, between two values if it falls there, and the mean of what does not exceed it. */
static void put_truncated_mean(const csv_writer *writer, int64_t *durations, uint64_t count) {
    const double share = writer->options->truncated_mean / 100.0;
    qsort(durations, count, sizeof *durations, compare_durations);
    const double place = share * ((double)count - 1.0);
    const uint64_t low = (uint64_t)floor(place);
    const uint64_t high = low + 1 < count ? low + 1 : count - 1;
    const double below = (double)durations[low];
    const double percentile = below + ((double)durations[high] - below) * (place - (double)low);
    uint64_t sum = 0; /* may wrap, if the durations are those of a broken file */
    uint64_t within = 0;
    while (within < count && (double)durations[within] <= percentile)
        sum += (uint64_t)durations[within++];
    put_integer(writer, llround(percentile));
    put_integer(writer, within == 0 ? 0 : (int64_t)(sum / within));
}

static void put_source_truncated_mean(const csv_writer *writer, csv_zones *zones, uint32_t source,
                                      uint64_t count) {
    int64_t *durations = sb_alloc(count * sizeof *durations);
    uint64_t filled = 0;
    for (uint64_t i = 0; i < zones->track_count; i++) {
        csv_track *track = &zones->tracks[i];
        const csv_group group = csv_next_group(track, source);
        for (uint64_t k = 0; k < group.count && filled < count; k++)
            durations[filled++] = csv_duration(track, track->zones[group.first + k]);
    }
    put_truncated_mean(writer, durations, filled);
    free(durations);
}

static void put_source(const csv_writer *writer, uint32_t source) {
    const sb_source *place = sb_trace_source(writer->trace, source);
    csv_put_field(writer, sb_trace_source_name(writer->trace, source));
    csv_put_separator(writer);
    csv_put_field(writer, sb_trace_text(writer->trace, place->file));
    put_integer(writer, place->line);
}

static void put_statistics(const csv_writer *writer, const sb_zone_stats *stats) {
    const bool self = writer->options->self;
    const int64_t total = self ? stats->self_total : stats->total;
    const uint64_t mean = (uint64_t)total / stats->count;
    const double last_time = (double)writer->trace->info.last_time;
    double spread = self ? stats->self_deviation : stats->deviation;
    if (writer->options->compat)
        spread = compat_deviation(writer, stats, mean);
    put_integer(writer, total);
    put_real(writer, 100. * (double)total / last_time);
    put_integer(writer, (int64_t)stats->count);
    put_integer(writer, (int64_t)mean);
    put_integer(writer, self ? stats->self_min : stats->min);
    put_integer(writer, self ? stats->self_max : stats->max);
    put_real(writer, spread);
}

static void write_statistics_of(const csv_writer *writer, bool devices) {
    const sb_trace_csv_options *options = writer->options;
    const sb_stats_options what = {.range = SB_RANGE_ALL,
                                   .devices = devices,
                                   .skip_empty = options->compat,
                                   .with_self = options->self};
    sb_zone_stats *stats = sb_trace_stats(writer->trace, &what);
    const uint64_t sources = sb_series_count(&writer->trace->sources);
    csv_zones zones = {0};
    if (options->truncated_mean > 0)
        zones = csv_group_zones(writer, devices, options->self);
    for (uint32_t source = 0; source < sources; source++) {
        const sb_zone_stats *entry = &stats[source];
        if (entry->count == 0 || !csv_wants_source(writer, source))
            continue;
        put_source(writer, source);
        put_statistics(writer, entry);
        if (options->truncated_mean > 0)
            put_source_truncated_mean(writer, &zones, source, entry->count);
        sb_put_char(writer->output, '\n');
    }
    csv_zones_free(&zones);
    free(stats);
}

static void write_statistics(const csv_writer *writer) {
    csv_put_header(writer, writer->options->truncated_mean > 0
                               ? "name|src_file|src_line|total_ns|total_perc|counts|mean_ns|"
                                 "min_ns|max_ns|std_ns|percentile_ns|truncated_mean_ns"
                               : "name|src_file|src_line|total_ns|total_perc|counts|mean_ns|"
                                 "min_ns|max_ns|std_ns");
    write_statistics_of(writer, false);
    if (writer->options->layout == SB_TRACE_CSV_TT)
        write_statistics_of(writer, true);
}

/* ---- messages ---- */

/* The tool filters zones only. */
static bool wants_message(const csv_writer *writer, sb_slice text) {
    const sb_trace_csv_options *options = writer->options;
    return options->compat || sb_trace_matches(text, options->filter, options->with_case);
}

static void write_messages(const csv_writer *writer) {
    const sb_series *messages = &writer->trace->messages;
    const uint64_t count = sb_series_count(messages);
    if (count == 0 && writer->options->compat) {
        sb_put_text(writer->output, "There are currently no messages!\n");
        return;
    }
    csv_put_header(writer, "MessageName|total_ns");
    for (uint64_t i = 0; i < count; i++) {
        const sb_message *message = sb_series_at(messages, i);
        const sb_slice text = sb_trace_text(writer->trace, message->text);
        if (!wants_message(writer, text))
            continue;
        csv_put_field(writer, text);
        put_integer(writer, message->time);
        sb_put_char(writer->output, '\n');
    }
}

/* ---- plots ---- */

static sb_slice plot_name(const csv_writer *writer, const sb_plot *plot) {
    const sb_slice frame = SB_SLICE("Frame"); /* what the tool takes for a missing name */
    const sb_slice unnamed = SB_SLICE("(unnamed)");
    if (plot->name != 0)
        return sb_trace_text(writer->trace, plot->name);
    return writer->options->compat ? frame : unnamed;
}

/* Columns before the time, between time and value, and behind: they follow the rows of zones. */
typedef struct plot_columns {
    unsigned before;
    unsigned between;
    unsigned behind;
} plot_columns;

static plot_columns plot_columns_of(sb_trace_csv_layout layout) {
    switch (layout) {
    case SB_TRACE_CSV_TT_0_13:
    case SB_TRACE_CSV_TT: /* the fork put its columns in and left these where they were */
        return (plot_columns){2, 2, 3};
    case SB_TRACE_CSV_TT_0_10:
        return (plot_columns){2, 2, 2};
    case SB_TRACE_CSV_TRACY_0_9:
    case SB_TRACE_CSV_TRACY_0_11:
        return (plot_columns){2, 0, 1};
    default:
        return (plot_columns){2, 2, 0};
    }
}

static void put_empty(const csv_writer *writer, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        csv_put_separator(writer);
}

static void write_plots(const csv_writer *writer) {
    const sb_series *plots = &writer->trace->plots;
    const plot_columns columns = plot_columns_of(writer->options->layout);
    for (uint64_t i = 0; i < sb_series_count(plots); i++) {
        const sb_plot *plot = sb_series_at(plots, i);
        for (uint64_t k = 0; k < sb_series_count(&plot->points); k++) {
            const sb_plot_point *point = sb_series_at(&plot->points, k);
            csv_put_field(writer, plot_name(writer, plot));
            put_empty(writer, columns.before);
            put_integer(writer, point->time);
            put_empty(writer, columns.between);
            put_real(writer, point->value);
            put_empty(writer, columns.behind);
            sb_put_char(writer->output, '\n');
        }
    }
}

void sb_trace_write_csv(const sb_trace *trace, const sb_trace_csv_options *options,
                        sb_output *output) {
    const csv_writer writer = {trace, options, output};
    switch (options->mode) {
    case SB_TRACE_CSV_MESSAGES:
        write_messages(&writer);
        break;
    case SB_TRACE_CSV_DEVICE:
        csv_write_device_zones(&writer);
        break;
    case SB_TRACE_CSV_ZONES:
        csv_write_zones(&writer);
        if (options->plots)
            write_plots(&writer);
        break;
    default:
        write_statistics(&writer);
        break;
    }
}
