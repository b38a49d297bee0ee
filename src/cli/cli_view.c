/*
 * `strobe view FILE|FOLDER`: a trace in the browser.
 */
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli_perf.h"
#include "cli/cli_view.h"

extern char **environ;

static int run_view(const cli_command *command, int argc, char **argv);

enum {
    OPT_PORT,
    OPT_LISTEN,
    OPT_OPEN,
    OPT_OPS,
    OPT_STATIC,
    OPT_FROM,
    OPT_TO,
    OPT_LIVE,
    OPT_OUTPUT
};

static const cli_option view_options[] = {
    {.id = OPT_OPS,
     .name = "ops",
     .argument = "PATH",
     .heading = "What is shown",
     .help = "the ops report to show with the trace, a file or a folder (default: the one in the "
             "FOLDER)",
     .takes_file = true},
    {.id = OPT_LIVE,
     .name = "live",
     .heading = "While it is recorded",
     .help = "record the program that runs at HOST:PORT (default: the first found on this machine) "
             "and show it meanwhile"},
    {.id = OPT_OUTPUT,
     .name = "output",
     .short_name = 'o',
     .argument = "FILE",
     .help = "with --live: the trace to write at the end (default: named after the time)",
     .takes_file = true},
    {.id = OPT_OPEN, .name = "open", .heading = "Server", .help = "open the page in the browser"},
    {.id = OPT_PORT,
     .name = "port",
     .argument = "N",
     .help = "the port to listen on (default: any that is free)"},
    {.id = OPT_LISTEN,
     .name = "listen",
     .argument = "ADDRESS",
     .help = "listen on this address, such as 0.0.0.0, instead of the loopback alone; the link "
             "then carries a token, without which nothing is shown"},
    {.id = OPT_STATIC,
     .name = "static",
     .argument = "FILE",
     .heading = "Without a server",
     .help = "write one HTML page with the data in it, for up to 500,000 zones",
     .takes_file = true},
    {.id = OPT_FROM,
     .name = "from",
     .argument = "TIME",
     .help = "with --static: begin there: 1.5s, 20ms, 300us, 4000 (nanoseconds), or the text of a "
             "message"},
    {.id = OPT_TO, .name = "to", .argument = "TIME", .help = "with --static: end there"},
};

const cli_command cli_view_command = {
    .name = "view",
    .summary = "show a trace in the browser",
    .arguments = "FILE|FOLDER|--live [HOST[:PORT]]",
    .about =
        "Serves a page with the timeline, statistics, messages, ops and devices of a trace on\n"
        "this machine's loopback and prints its address. FILE is a .tracy file, a journal of a\n"
        "recording or an ops report (.csv); of a FOLDER the newest trace and the newest ops report "
        "in it are taken. The\n"
        "server runs until it is interrupted.",
    .examples = "  strobe view run.tracy --open\n"
                "  strobe view --live --open\n"
                "  strobe view generated/profiler/reports/2026_01_15\n"
                "  strobe view run.tracy --static run.html --from 1.2s --to 1.4s\n",
    .options = view_options,
    .option_count = sizeof view_options / sizeof view_options[0],
    .run = run_view,
};

/* ---- options ---- */

static sb_status take_option(const cli_parsed_option *option, cli_view_arguments *arguments,
                             sb_error *error) {
    int64_t number = 0;
    switch (option->id) {
    case OPT_PORT:
        SB_TRY(cli_trace_number("port", option->value, 0, UINT16_MAX, &number, error));
        arguments->listen.port = (uint16_t)number;
        break;
    case OPT_LISTEN:
        arguments->listen.address = option->value;
        arguments->listen.needs_token = true;
        break;
    case OPT_LIVE:
        arguments->is_live = true;
        break;
    case OPT_OUTPUT:
        arguments->output = option->value;
        break;
    case OPT_OPEN:
        arguments->opens = true;
        break;
    case OPT_OPS:
        arguments->ops = option->value;
        break;
    case OPT_STATIC:
        arguments->page = option->value;
        break;
    case OPT_FROM:
        arguments->from = option->value;
        break;
    case OPT_TO:
        arguments->to = option->value;
        break;
    default:
        break;
    }
    return SB_OK;
}

static sb_status take_options(const cli_parsed *parsed, cli_view_arguments *arguments,
                              sb_error *error) {
    for (size_t i = 0; i < parsed->option_count; i++)
        SB_TRY(take_option(&parsed->options[i], arguments, error));
    if ((arguments->from != NULL || arguments->to != NULL) && arguments->page == NULL)
        SB_FAIL(error, SB_ERR_USAGE, "--from and --to choose what goes into a --static page");
    if (arguments->is_live && (arguments->page != NULL || arguments->ops != NULL))
        SB_FAIL(error, SB_ERR_USAGE, "--live goes with neither --static nor --ops");
    if (arguments->output != NULL && !arguments->is_live)
        SB_FAIL(error, SB_ERR_USAGE, "--output names the trace that --live records");
    if (arguments->is_live && parsed->operand_count > 1)
        SB_FAIL(error, SB_ERR_USAGE, "name one HOST:PORT at most");
    if (!arguments->is_live && parsed->operand_count != 1)
        SB_FAIL(error, SB_ERR_USAGE, "name one trace file or folder");
    return SB_OK;
}

/* ---- inputs ---- */

/* What is shown, and the memory behind it. */
typedef struct view_inputs {
    cli_trace opened;
    sb_trace *empty; /* where there is an ops report but no trace */
    cli_perf_inputs ops_files;
    sb_perf_report *ops;
    sb_arena arena;
} view_inputs;

static bool is_newer(const struct stat *a, const struct stat *b) {
    if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
        return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
    return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* The newest .tracy file of a folder, or NULL. */
static const char *newest_trace(sb_arena *arena, const char *folder) {
    const char *newest = NULL;
    struct stat newest_status = {0};
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return NULL;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        struct stat status;
        if (!sb_slice_ends_with(sb_slice_of(entry->d_name), ".tracy"))
            continue;
        const char *path = sb_arena_format(arena, "%s/%s", folder, entry->d_name).data;
        if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        if (newest == NULL || is_newer(&status, &newest_status)) {
            newest = path;
            newest_status = status;
        }
    }
    closedir(directory);
    return newest;
}

static sb_status open_ops(view_inputs *inputs, const char *path, sb_error *error) {
    const sb_perf_options options = sb_perf_defaults();
    SB_TRY(cli_perf_open(&inputs->ops_files, &path, 1, NULL, error));
    return sb_perf_analyse(&options, inputs->ops_files.inputs, inputs->ops_files.count,
                           &inputs->ops, error);
}

/* A folder may hold a trace, an ops report, or both; the report that is missing is no error. */
static sb_status open_folder(view_inputs *inputs, const char *folder, const char *ops,
                             sb_error *error) {
    const char *trace = newest_trace(&inputs->arena, folder);
    const sb_status status = open_ops(inputs, ops != NULL ? ops : folder, error);
    const bool is_missing = ops == NULL && status == SB_ERR_NOT_FOUND;
    if (trace == NULL && is_missing)
        SB_FAIL(error, SB_ERR_NOT_FOUND,
                "%s: neither a trace (*.tracy) nor an ops report (ops_perf_results*.csv) is in it",
                folder);
    if (status != SB_OK && !is_missing)
        return status;
    return trace == NULL ? SB_OK : cli_trace_open(&inputs->opened, trace, error);
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static sb_status open_inputs(view_inputs *inputs, const char *path, const char *ops,
                             sb_error *error) {
    *inputs = (view_inputs){.opened = {.file = {.kind = SB_FILE_BORROWED}}};
    if (is_folder(path)) {
        SB_TRY(open_folder(inputs, path, ops, error));
    } else if (sb_slice_ends_with(sb_slice_of(path), ".csv")) {
        SB_TRY(open_ops(inputs, path, error));
    } else {
        SB_TRY(cli_trace_open(&inputs->opened, path, error));
        if (ops != NULL)
            SB_TRY(open_ops(inputs, ops, error));
    }
    if (inputs->opened.trace == NULL)
        inputs->empty = sb_trace_create();
    return SB_OK;
}

static void close_inputs(view_inputs *inputs) {
    sb_perf_free(inputs->ops);
    cli_perf_close(&inputs->ops_files);
    cli_trace_close(&inputs->opened);
    sb_trace_free(inputs->empty);
    sb_arena_free(&inputs->arena);
}

/* ---- progress ---- */

enum { BAR_WIDTH = 30, BAR_FROM = 1000000 };

/* A bar on a terminal, for traces large enough to be waited for. */
static void show_progress(void *context, uint64_t done, uint64_t total) {
    unsigned *shown = context;
    if (total < BAR_FROM)
        return;
    const unsigned filled = (unsigned)(done * BAR_WIDTH / total);
    if (filled == *shown)
        return;
    *shown = filled;
    fprintf(stderr, "\rindexing [%.*s%*s] %3u %%", (int)filled, "##############################",
            (int)(BAR_WIDTH - filled), "", (unsigned)(done * 100 / total));
    if (filled == BAR_WIDTH)
        fputs("\r\033[K", stderr);
}

static void make_index(sb_view *view) {
    unsigned shown = UINT32_MAX;
    sb_view_index(view, isatty(STDERR_FILENO) ? show_progress : NULL, &shown);
}

/* ---- serving ---- */

static void open_browser(const char *link) {
    char program[] = "xdg-open";
    char *address = strdup(link);
    char *arguments[] = {program, address, NULL};
    pid_t child = 0;
    if (posix_spawnp(&child, program, NULL, NULL, arguments, environ) != 0)
        sb_log(SB_LOG_WARNING, "there is no xdg-open to start a browser with; open the link");
    free(address);
}

void cli_view_ending_signals(sigset_t *ending) {
    sigemptyset(ending);
    sigaddset(ending, SIGINT);
    sigaddset(ending, SIGTERM);
    sigaddset(ending, SIGHUP);
}

void cli_view_block_signals(void) {
    sigset_t ending;
    cli_view_ending_signals(&ending);
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
    signal(SIGPIPE, SIG_IGN); /* a page that goes away is no reason to end */
}

sb_status cli_view_start(sb_view *view, const cli_view_arguments *arguments,
                         sb_view_server **server, sb_error *error) {
    SB_TRY(sb_view_start(view, &arguments->listen, server, error));
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    sb_put_format(&output, "%s\n", sb_view_link(*server));
    if (arguments->opens)
        open_browser(sb_view_link(*server));
    return sb_output_finish(&output, error);
}

/* Until someone ends it. */
static sb_status serve(sb_view *view, const cli_view_arguments *arguments, sb_error *error) {
    int caught = 0;
    sigset_t ending;
    sb_view_server *server = NULL;
    cli_view_block_signals();
    const sb_status status = cli_view_start(view, arguments, &server, error);
    cli_view_ending_signals(&ending);
    if (status == SB_OK)
        sigwait(&ending, &caught);
    sb_view_stop(server);
    return status;
}

static sb_status write_page(sb_view *view, const sb_trace *trace,
                            const cli_view_arguments *arguments, sb_error *error) {
    sb_range range;
    sb_output output;
    SB_TRY(cli_trace_range(trace, arguments->from, arguments->to, &range, error));
    SB_TRY(sb_output_to_file(&output, arguments->page, error));
    const sb_status status = sb_view_write_page(view, range, &output, error);
    if (status != SB_OK) {
        sb_output_discard(&output);
        return status;
    }
    return sb_output_finish(&output, error);
}

static sb_status show(view_inputs *inputs, const char *path, const cli_view_arguments *arguments,
                      sb_error *error) {
    const char *slash = strrchr(path, '/');
    const bool has_name = slash != NULL && slash[1] != '\0';
    const sb_view_source source = {
        .trace = inputs->empty != NULL ? inputs->empty : inputs->opened.trace,
        .name = has_name ? slash + 1 : path,
        .damage = inputs->opened.is_partial ? inputs->opened.damage : NULL,
        .version = STROBE_VERSION,
        .ops = inputs->ops,
    };
    sb_view *view = sb_view_create(&source);
    make_index(view);
    const sb_status status = arguments->page != NULL
                                 ? write_page(view, source.trace, arguments, error)
                                 : serve(view, arguments, error);
    sb_view_free(view);
    return status;
}

static sb_status view_trace(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    cli_view_arguments arguments = {0};
    SB_TRY(take_options(parsed, &arguments, error));
    if (arguments.is_live)
        return cli_view_live(&arguments, parsed->operand_count == 0 ? NULL : parsed->operands[0],
                             exit_code, error);
    view_inputs inputs;
    sb_status status = open_inputs(&inputs, parsed->operands[0], arguments.ops, error);
    if (status == SB_OK)
        status = show(&inputs, parsed->operands[0], &arguments, error);
    if (status == SB_OK && inputs.opened.is_partial)
        *exit_code = SB_EXIT_PARTIAL;
    close_inputs(&inputs);
    return status;
}

static int run_view(const cli_command *command, int argc, char **argv) {
    return cli_trace_run(command, argc, argv, view_trace);
}
