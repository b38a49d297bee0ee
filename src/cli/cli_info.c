/*
 * `strobe info FILE`: what a trace file holds.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli_trace.h"

static int run_info(const cli_command *command, int argc, char **argv);

enum { OPT_TRACKS, OPT_JSON };

static const cli_option info_options[] = {
    {.id = OPT_TRACKS, .name = "tracks", .help = "a line for every thread and device lane"},
    {.id = OPT_JSON,
     .name = "json",
     .help = "all of it as JSON, with the statistics of each source location"},
};

const cli_command cli_info_command = {
    .name = "info",
    .summary = "say what a trace file holds",
    .arguments = "FILE",
    .about =
        "Prints the version of a .tracy file, the program and the machine it was recorded on,\n"
        "how much of everything it holds, what was lost, and which sections take the space.\n"
        "FILE may also be a journal or a recording of libstrobe's, which have no sections.",
    .examples = "  strobe info run.tracy\n"
                "  strobe info --tracks run.tracy\n"
                "  strobe info --json run.tracy | jq .counts\n",
    .options = info_options,
    .option_count = sizeof info_options / sizeof info_options[0],
    .run = run_info,
};

/* ---- lines ---- */

static void put_label(sb_output *output, const char *label) {
    sb_put_format(output, "%-14s", label);
}

/* A text on lines of its own is indented under its label. */
static void put_text(sb_output *output, const char *label, sb_slice text) {
    sb_arena arena = {0};
    bool first = true;
    while (text.size > 0) {
        const sb_slice line = sb_slice_cut(text, '\n', &text);
        if (line.size == 0)
            continue;
        put_label(output, first ? label : "");
        sb_put(output, sb_utf8_clean(&arena, line));
        sb_put_char(output, '\n');
        first = false;
    }
    sb_arena_free(&arena);
}

static void put_count(sb_output *output, const char *label, uint64_t count) {
    if (count == 0)
        return;
    char text[SB_NUMBER_SIZE];
    put_label(output, label);
    sb_put(output, (sb_slice){text, sb_format_fixed((double)count, 0, true, text)});
    sb_put_char(output, '\n');
}

static void put_date(sb_output *output, const char *label, uint64_t seconds) {
    char text[64];
    struct tm date;
    const time_t moment = (time_t)seconds;
    if (seconds == 0 || gmtime_r(&moment, &date) == NULL)
        return;
    if (strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &date) == 0)
        return;
    put_text(output, label, sb_slice_of(text));
}

/* ---- parts ---- */

static void put_format(sb_output *output, const sb_trace_file *file) {
    put_label(output, "format");
    if (file->recording != NULL)
        sb_put_text(output, file->recording);
    else
        sb_put_format(output, "Tracy %u.%u.%u%s", file->version >> 16, file->version >> 8 & 0xFF,
                      file->version & 0xFF, file->tenstorrent ? " (Tenstorrent's layout)" : "");
    if (file->protocol != NULL)
        sb_put_format(output, " of protocol %s", file->protocol);
    if (file->compression != NULL)
        sb_put_format(output, ", %s", file->compression);
    if (file->stream_count > 0)
        sb_put_format(output, ", %u stream%s", file->stream_count,
                      file->stream_count == 1 ? "" : "s");
    sb_put_char(output, '\n');
}

static void put_size(sb_output *output, const sb_trace_file *file) {
    put_label(output, "size");
    sb_put_format(output, "%" PRIu64 " bytes", file->file_bytes);
    if (file->compression != NULL)
        sb_put_format(output, ", %" PRIu64 " unpacked", file->body_bytes);
    sb_put_char(output, '\n');
}

static void put_origin(sb_output *output, const sb_trace *trace) {
    char text[SB_NUMBER_SIZE];
    const sb_trace_info *info = &trace->info;
    put_text(output, "program", info->program);
    put_text(output, "capture", info->capture_name);
    put_date(output, "recorded", info->captured_at);
    put_date(output, "built", info->built_at);
    if (info->process_id != 0) {
        put_label(output, "process");
        sb_put_format(output, "%" PRIu64 "\n", info->process_id);
    }
    put_text(output, "host", info->host);
    for (uint64_t i = 0; i < sb_series_count(&trace->app_info); i++)
        put_text(output, i == 0 ? "application" : "",
                 sb_trace_text(trace, *(const sb_string *)sb_series_at(&trace->app_info, i)));
    put_text(output, "duration", cli_format_time(info->last_time, text));
    if (info->crash.thread_id != 0) {
        put_text(output, "crash", cli_format_time(info->crash.time, text));
        put_text(output, "", sb_trace_text(trace, info->crash.message));
    }
}

static uint64_t count_tracks(const sb_trace *trace, bool devices) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++)
        count += (sb_trace_track(trace, i)->kind == SB_TRACK_LANE) == devices;
    return count;
}

static uint64_t count_inner(const sb_series *outer, size_t offset) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < sb_series_count(outer); i++)
        count += sb_series_count(
            (const sb_series *)(const void *)((const char *)sb_series_at(outer, i) + offset));
    return count;
}

static void put_counts(sb_output *output, const sb_trace *trace) {
    put_count(output, "threads", count_tracks(trace, false));
    put_count(output, "zones", sb_trace_zone_count(trace, false));
    put_count(output, "devices", sb_series_count(&trace->contexts));
    put_count(output, "lanes", count_tracks(trace, true));
    put_count(output, "device zones", sb_trace_zone_count(trace, true));
    put_count(output, "sources", sb_series_count(&trace->sources) - 1);
    put_count(output, "strings", sb_series_count(&trace->strings) - 1);
    put_count(output, "messages", sb_series_count(&trace->messages));
    put_count(output, "frame sets", sb_series_count(&trace->frame_sets));
    put_count(output, "frames", count_inner(&trace->frame_sets, offsetof(sb_frame_set, frames)));
    put_count(output, "plots", sb_series_count(&trace->plots));
    put_count(output, "plot points", count_inner(&trace->plots, offsetof(sb_plot, points)));
    put_count(output, "allocations", count_inner(&trace->pools, offsetof(sb_memory_pool, events)));
    put_count(output, "ops", sb_series_count(&trace->ops));
    put_count(output, "locks", sb_series_count(&trace->locks));
    put_count(output, "lock events", count_inner(&trace->locks, offsetof(sb_lock, events)));
    put_count(output, "time ranges", trace->file.skipped_sections);
    put_count(output, "bad references", trace->file.bad_references);
}

/* What is kept as bytes, so that it can be written again. */
static void put_opaque_counts(sb_output *output, const sb_trace_file *file) {
    static const char *const labels[SB_OPAQUE_COUNT] = {
        [SB_OPAQUE_CALLSTACKS] = "callstacks",     [SB_OPAQUE_FRAME_IMAGES] = "frame images",
        [SB_OPAQUE_SYMBOLS] = "symbols",           [SB_OPAQUE_HARDWARE_SAMPLES] = "hw samples",
        [SB_OPAQUE_SOURCE_FILES] = "source files", [SB_OPAQUE_CPU_SWITCHES] = "cpu switches",
        [SB_OPAQUE_SYMBOL_CODE] = "symbol code",
    };
    for (size_t i = 0; i < SB_OPAQUE_COUNT; i++) {
        if (labels[i] != NULL)
            put_count(output, labels[i], file->opaque_items[i]);
    }
}

/* How much and when, as far as it is known. */
static void put_extent(sb_output *output, const sb_loss *loss) {
    char text[SB_NUMBER_SIZE];
    if (loss->count > 0)
        sb_put_format(output, "%" PRIu64 ": ", loss->count);
    if (loss->from <= 0 && loss->to == SB_NO_TIME)
        return;
    sb_put_text(output, "from ");
    sb_put(output, cli_format_time(loss->from, text));
    if (loss->to != SB_NO_TIME) {
        sb_put_text(output, " to ");
        sb_put(output, cli_format_time(loss->to, text));
    }
    sb_put_text(output, ": ");
}

static void put_losses(sb_output *output, const sb_trace *trace) {
    for (uint64_t i = 0; i < sb_series_count(&trace->losses); i++) {
        const sb_loss *loss = sb_series_at(&trace->losses, i);
        sb_output line = sb_output_to_memory();
        put_extent(&line, loss);
        sb_put(&line, sb_trace_text(trace, loss->text));
        put_text(output, "lost", sb_output_text(&line));
        sb_output_discard(&line);
    }
}

static void put_tracks(sb_output *output, const sb_trace *trace) {
    sb_arena arena = {0};
    sb_put_text(output, "\nTracks\n");
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        char buffer[32];
        const sb_track *track = sb_trace_track(trace, i);
        const sb_slice name = sb_utf8_clean(&arena, sb_trace_track_name(trace, track, buffer));
        sb_put_format(output, "%12" PRIu64 " zones  ", sb_track_zone_count(track));
        if (track->kind == SB_TRACK_LANE) {
            const sb_context *context = sb_trace_context(trace, track->context);
            sb_put(output, sb_utf8_clean(&arena, sb_trace_text(trace, context->name)));
            sb_put_text(output, ": ");
        }
        sb_put(output, name);
        sb_put_char(output, '\n');
    }
    sb_arena_free(&arena);
}

static void put_sections(sb_output *output, const sb_trace_file *file) {
    sb_put_text(output, "\nSections, by size unpacked\n");
    bool shown[SB_TRACE_SECTIONS] = {false};
    for (;;) {
        unsigned largest = 0;
        for (unsigned i = 1; i < SB_TRACE_SECTIONS; i++) {
            if (!shown[i] &&
                (largest == 0 || file->section_bytes[i] > file->section_bytes[largest]))
                largest = i;
        }
        /* An empty list takes eight bytes; those say nothing. */
        if (largest == 0 || file->section_bytes[largest] <= 8)
            return;
        shown[largest] = true;
        sb_put_format(output, "%16" PRIu64 "  %s\n", file->section_bytes[largest],
                      sb_trace_section_name(largest));
    }
}

static void put_all(sb_output *output, const sb_trace *trace, bool with_tracks) {
    put_format(output, &trace->file);
    put_size(output, &trace->file);
    put_origin(output, trace);
    put_counts(output, trace);
    put_opaque_counts(output, &trace->file);
    put_losses(output, trace);
    if (with_tracks)
        put_tracks(output, trace);
    if (trace->file.recording == NULL)
        put_sections(output, &trace->file);
}

static sb_status print_info(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    bool with_tracks = false;
    bool as_json = false;
    for (size_t i = 0; i < parsed->option_count; i++) {
        with_tracks = with_tracks || parsed->options[i].id == OPT_TRACKS;
        as_json = as_json || parsed->options[i].id == OPT_JSON;
    }
    if (parsed->operand_count != 1)
        SB_FAIL(error, SB_ERR_USAGE, "name one trace file");
    cli_trace opened;
    const sb_status status = cli_trace_open(&opened, parsed->operands[0], error);
    if (status != SB_OK) {
        cli_trace_close(&opened);
        return status;
    }
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    if (as_json)
        sb_trace_write_summary(opened.trace, &output);
    else
        put_all(&output, opened.trace, with_tracks);
    *exit_code = opened.is_partial ? SB_EXIT_PARTIAL : SB_EXIT_DONE;
    cli_trace_close(&opened);
    return sb_output_finish(&output, error);
}

static int run_info(const cli_command *command, int argc, char **argv) {
    return cli_trace_run(command, argc, argv, print_info);
}
