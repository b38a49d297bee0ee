/*
 * `strobe capture`: records programs that speak Tracy's protocol. Also known as tracy-capture.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli_recording.h"
#include "cli/cli_trace.h"

static int run_capture(const cli_command *command, int argc, char **argv);

enum {
    OPT_OUTPUT,
    OPT_ADDRESS,
    OPT_PORT,
    OPT_FORCE,
    OPT_SECONDS,
    OPT_MEMORY_LIMIT,
    OPT_ALL,
    OPT_WAIT,
    OPT_PROTOCOL,
    OPT_FLAVOUR,
    OPT_MEMORY,
    OPT_SYNC,
    OPT_KEEP_JOURNAL,
    OPT_COMPRESSION,
    OPT_LEVEL,
    OPT_JSON,
    OPT_QUIET,
};

static const cli_option capture_options[] = {
    {.id = OPT_OUTPUT,
     .name = "output",
     .short_name = 'o',
     .argument = "FILE",
     .takes_file = true,
     .heading = "What and where to",
     .help = "the trace to write; with --all a folder (default there: a new one named after the "
             "time)"},
    {.id = OPT_ADDRESS,
     .name = "address",
     .short_name = 'a',
     .argument = "HOST",
     .help = "where the program runs (default: 127.0.0.1)"},
    {.id = OPT_PORT,
     .name = "port",
     .short_name = 'p',
     .argument = "N",
     .help = "the port it listens on (default: the first of 8086 to 8105 that answers)"},
    {.id = OPT_FORCE, .name = "force", .short_name = 'f', .help = "replace files that exist"},
    {.id = OPT_ALL,
     .name = "all",
     .help = "record every program on this machine, each into a file of its own"},
    {.id = OPT_SECONDS,
     .name = "seconds",
     .short_name = 's',
     .argument = "N",
     .heading = "How long",
     .help = "stop after so many seconds (default: when the program ends)"},
    {.id = OPT_WAIT,
     .name = "wait",
     .argument = "N",
     .help = "give up if no program is found for so many seconds (default: wait on)"},
    {.id = OPT_MEMORY_LIMIT,
     .name = "memory-limit",
     .short_name = 'm',
     .argument = "PERCENT",
     .help = "stop when this process uses more of the machine's memory"},
    {.id = OPT_PROTOCOL,
     .name = "protocol",
     .argument = "N",
     .heading = "How",
     .help = "the protocol number the program speaks (default: found out)"},
    {.id = OPT_FLAVOUR,
     .name = "flavour",
     .argument = "NAME",
     .choices = "upstream|tenstorrent",
     .help = "whose Tracy the program has, where the number is not enough: upstream or tenstorrent "
             "(default: found out)"},
    {.id = OPT_MEMORY,
     .name = "memory",
     .argument = "SIZE",
     .help = "keep at most so much of the trace in memory (K, M, G), the rest in a file without a "
             "name; 0: all of it (default: 1G)"},
    {.id = OPT_SYNC,
     .name = "sync",
     .argument = "SECONDS",
     .help = "how often the journal is forced to the disk (default: 1)"},
    {.id = OPT_KEEP_JOURNAL,
     .name = "keep-journal",
     .help = "keep FILE.journal when the trace is written"},
    {.id = OPT_COMPRESSION,
     .name = "compression",
     .argument = "KIND",
     .choices = "lz4|zstd",
     .help = "of the trace: lz4 is faster, zstd smaller (default: lz4)"},
    {.id = OPT_LEVEL,
     .name = "level",
     .argument = "N",
     .help = "how hard to compress: 1 to 12 for lz4, 1 to 22 for zstd"},
    {.id = OPT_JSON,
     .name = "json",
     .heading = "What is said",
     .help = "print the summary as JSON"},
    {.id = OPT_QUIET, .name = "quiet", .short_name = 'q', .help = "no progress and no summary"},
};

const cli_command cli_capture_command = {
    .name = "capture",
    .summary = "record a running program that is built with Tracy",
    .arguments = "-o FILE",
    .about = "Waits for a program with Tracy's client (0.9 to 0.14, and Tenstorrent's), records it "
             "until\n"
             "it ends or Ctrl-C, and writes a .tracy file. What arrives is on disk at once, in\n"
             "FILE.journal: if the recording is cut short by anything, `strobe recover` makes a "
             "trace of\n"
             "that. Started under the name tracy-capture or capture-release it is this command.",
    .examples = "  strobe capture -o run.tracy\n"
                "  strobe capture -o run.tracy -f -s 10 -p 8087 --json\n"
                "  strobe capture --all -o session/\n",
    .options = capture_options,
    .option_count = sizeof capture_options / sizeof capture_options[0],
    .run = run_capture,
};

/* ---- options ---- */

typedef struct capture_arguments {
    sb_capture_options capture;
    bool all;
    bool json;
    bool quiet;
    const char *level;
} capture_arguments;

static sb_status take_text_option(const cli_parsed_option *option, capture_arguments *arguments) {
    sb_capture_options *capture = &arguments->capture;
    switch (option->id) {
    case OPT_OUTPUT:
        capture->output = option->value;
        break;
    case OPT_ADDRESS:
        capture->address = option->value;
        break;
    case OPT_FORCE:
        capture->replace = true;
        break;
    case OPT_ALL:
        arguments->all = true;
        break;
    case OPT_FLAVOUR:
        capture->flavour =
            strcmp(option->value, "upstream") == 0 ? SB_WIRE_UPSTREAM : SB_WIRE_TENSTORRENT;
        break;
    case OPT_KEEP_JOURNAL:
        capture->keep_journal = true;
        break;
    case OPT_COMPRESSION:
        capture->file.compression =
            strcmp(option->value, "zstd") == 0 ? SB_TRACE_ZSTD : SB_TRACE_LZ4;
        break;
    case OPT_LEVEL:
        arguments->level = option->value;
        break;
    case OPT_JSON:
        arguments->json = true;
        break;
    default:
        arguments->quiet = true;
    }
    return SB_OK;
}

static sb_status take_option(const cli_parsed_option *option, capture_arguments *arguments,
                             sb_error *error) {
    enum { PORT_MAX = 65535, PERCENT_MAX = 100 };
    sb_capture_options *capture = &arguments->capture;
    int64_t value = 0;
    switch (option->id) {
    case OPT_PORT:
        SB_TRY(cli_trace_number("port", option->value, 1, PORT_MAX, &value, error));
        capture->port = (uint16_t)value;
        return SB_OK;
    case OPT_MEMORY_LIMIT:
        SB_TRY(cli_trace_number("memory-limit", option->value, 1, PERCENT_MAX, &value, error));
        capture->memory_percent = (unsigned)value;
        return SB_OK;
    case OPT_PROTOCOL:
        SB_TRY(cli_trace_number("protocol", option->value, 1, UINT16_MAX, &value, error));
        capture->protocol = (uint32_t)value;
        return SB_OK;
    case OPT_SECONDS:
        return cli_parse_seconds("seconds", option->value, &capture->seconds, error);
    case OPT_WAIT:
        return cli_parse_seconds("wait", option->value, &capture->wait_seconds, error);
    case OPT_SYNC:
        return cli_parse_seconds("sync", option->value, &capture->sync_seconds, error);
    case OPT_MEMORY:
        return cli_parse_size("memory", option->value, &capture->memory_bytes, error);
    default:
        return take_text_option(option, arguments);
    }
}

static sb_status take_options(const cli_parsed *parsed, capture_arguments *arguments,
                              sb_error *error) {
    enum { LZ4_LEVEL_MAX = 12, ZSTD_LEVEL_MAX = 22 };
    for (size_t i = 0; i < parsed->option_count; i++)
        SB_TRY(take_option(&parsed->options[i], arguments, error));
    if (parsed->operand_count > 0)
        SB_FAIL(error, SB_ERR_USAGE, "'%s' is not an option; the trace is named with -o",
                parsed->operands[0]);
    if (arguments->capture.output == NULL && !arguments->all)
        SB_FAIL(error, SB_ERR_USAGE, "name the trace to write with -o");
    if (arguments->all && arguments->capture.port != 0)
        SB_FAIL(error, SB_ERR_USAGE, "--all looks at every port, so -p cannot go with it");
    if (arguments->capture.protocol != 0 &&
        sb_wire_protocol_any(arguments->capture.protocol) == NULL)
        SB_FAIL(error, SB_ERR_USAGE, "--protocol: %u is not known; Strobe knows 63 to 83",
                arguments->capture.protocol);
    if (arguments->level == NULL)
        return SB_OK;
    int64_t level = 0;
    const bool is_zstd = arguments->capture.file.compression == SB_TRACE_ZSTD;
    SB_TRY(cli_trace_number("level", arguments->level, 1, is_zstd ? ZSTD_LEVEL_MAX : LZ4_LEVEL_MAX,
                            &level, error));
    arguments->capture.file.level = (int)level;
    return SB_OK;
}

/* ---- stopping ---- */

static volatile sig_atomic_t stop;

/* The first ends the recording and writes the trace; another ends us, and leaves the journal. */
static void stop_on_signal(int signal_number) {
    stop = 1;
    signal(signal_number, SIG_DFL);
}

static void stop_on_signals(void) {
    static const int ending[] = {SIGHUP, SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        if (signal(ending[i], stop_on_signal) == SIG_IGN)
            signal(ending[i], SIG_IGN);
    }
}

/* ---- progress ---- */

typedef struct progress_line {
    bool was_waiting;
    bool is_shown;
    double last_seconds;
    uint64_t last_bytes;
    double megabits;
} progress_line;

static void show_progress(void *context, const sb_capture_progress *progress) {
    enum { LINE_SIZE = 200 };
    progress_line *line = context;
    char text[LINE_SIZE];
    char span[SB_NUMBER_SIZE];
    const double megabyte = 1024.0 * 1024.0;
    if (!progress->is_connected) {
        if (!line->was_waiting)
            fprintf(stderr, "waiting for a program ...");
        line->was_waiting = true;
        return;
    }
    const double passed = progress->seconds - line->last_seconds;
    if (passed > 0)
        line->megabits = (double)(progress->wire_bytes - line->last_bytes) * 8 / 1e6 / passed;
    line->last_seconds = progress->seconds;
    line->last_bytes = progress->wire_bytes;
    const double ratio = progress->stream_bytes == 0 ? 100
                                                     : 100.0 * (double)progress->wire_bytes /
                                                           (double)progress->stream_bytes;
    const sb_slice shown = cli_format_time(progress->span_ns, span);
    snprintf(text, sizeof text,
             "\r%7.1f Mbit/s, %4.1f %% of %.1f MB | %.*s | %" PRIu64
             " zones | %.0f MB memory | %zu frames, %zu questions behind\033[K",
             line->megabits, ratio, (double)progress->stream_bytes / megabyte, (int)shown.size,
             shown.data, progress->zones, (double)progress->memory_bytes / megabyte,
             progress->frames_waiting, progress->questions_open);
    fputs(text, stderr);
    line->is_shown = true;
}

/* ---- the command ---- */

static sb_status print_report(const capture_arguments *arguments, const sb_capture_report *report,
                              sb_error *error) {
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    if (arguments->json) {
        cli_put_recording_json(&output, report, arguments->capture.output);
        sb_put_char(&output, '\n');
    } else if (!arguments->quiet) {
        cli_put_recording(&output, report, arguments->capture.output);
    }
    return sb_output_finish(&output, error);
}

static sb_status capture_one(capture_arguments *arguments, int *exit_code, sb_error *error) {
    progress_line line = {0};
    sb_capture_report report;
    if (isatty(STDERR_FILENO) == 1 && !arguments->quiet) {
        arguments->capture.progress = show_progress;
        arguments->capture.context = &line;
    }
    const sb_status status = sb_capture_run(&arguments->capture, &report, error);
    if (line.was_waiting || line.is_shown)
        fputs("\r\033[K", stderr);
    cli_warn_of_recording(&report);
    if (status != SB_OK) {
        if (report.has_journal)
            sb_log(SB_LOG_NOTE, "what was recorded is in %s.journal: `strobe recover` reads it",
                   arguments->capture.output);
        return status;
    }
    if (cli_recording_is_partial(&report))
        *exit_code = SB_EXIT_PARTIAL;
    return print_report(arguments, &report, error);
}

/* ---- several programs ---- */

static void name_folder(char folder[64]) {
    struct tm date;
    const time_t now = time(NULL);
    if (localtime_r(&now, &date) == NULL ||
        strftime(folder, 64, "strobe-%Y%m%d-%H%M%S", &date) == 0)
        snprintf(folder, 64, "strobe-session");
}

static void put_session(const capture_arguments *arguments, const sb_capture_session *session,
                        sb_output *output) {
    const bool json = arguments->json;
    sb_put_text(output, json ? "[" : "");
    for (size_t i = 0; i < session->reports.count; i++) {
        const sb_capture_report *report = sb_vector_at(&session->reports, i);
        const char *path = *(char **)sb_vector_at(&session->paths, i);
        sb_put_text(output, i == 0 ? "" : json ? ",\n " : "\n");
        if (json)
            cli_put_recording_json(output, report, path);
        else if (!arguments->quiet)
            cli_put_recording(output, report, path);
    }
    sb_put_text(output, json ? "]\n" : "");
}

static sb_status capture_all(capture_arguments *arguments, int *exit_code, sb_error *error) {
    char folder[64];
    sb_capture_session session;
    if (arguments->capture.output == NULL) {
        name_folder(folder);
        arguments->capture.output = folder;
    }
    sb_status status = sb_capture_all(&arguments->capture, &session, error);
    if (status == SB_OK) {
        for (size_t i = 0; i < session.reports.count; i++) {
            const sb_capture_report *report = sb_vector_at(&session.reports, i);
            cli_warn_of_recording(report);
            if (cli_recording_is_partial(report) || !report->has_file)
                *exit_code = SB_EXIT_PARTIAL;
        }
        if (session.failed > 0)
            sb_log(SB_LOG_WARNING, "%zu programs could not be recorded; session.json says why",
                   session.failed);
        sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
        put_session(arguments, &session, &output);
        status = sb_output_finish(&output, error);
    }
    sb_capture_session_free(&session);
    return status;
}

static sb_status capture(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    capture_arguments arguments = {
        .capture = {
            .flavour = -1, .sync_seconds = 1, .memory_bytes = UINT64_C(1) << 30, .stop = &stop}};
    SB_TRY(take_options(parsed, &arguments, error));
    sb_arena arena = {0};
    arguments.capture.origin = cli_trace_origin(&cli_capture_command, parsed, &arena);
    stop_on_signals();
    const sb_status status = arguments.all ? capture_all(&arguments, exit_code, error)
                                           : capture_one(&arguments, exit_code, error);
    sb_arena_free(&arena);
    return status;
}

static int run_capture(const cli_command *command, int argc, char **argv) {
    return cli_trace_run(command, argc, argv, capture);
}
