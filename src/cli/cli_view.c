/*
 * `strobe view FILE|FOLDER`: a trace in the browser.
 */
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli_progress.h"
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
    OPT_OUTPUT,
    OPT_FORCE,
    OPT_NO_INDEX
};

static const cli_option view_options[] = {
    {.id = OPT_OPS,
     .name = "ops",
     .argument = "PATH",
     .heading = "What is shown",
     .help = "the ops report to show with the trace, a file or a folder (default: the one in the "
             "FOLDER)",
     .takes_file = true},
    {.id = OPT_NO_INDEX,
     .name = "no-index",
     .help = "read the trace itself, and keep no index of it in the cache folder"},
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
    {.id = OPT_FORCE,
     .name = "force",
     .short_name = 'f',
     .help = "with --output: replace that file if it exists"},
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
        "recording, a device log or an ops report (.csv); of a FOLDER everything is shown that\n"
        "is in it: traces, device log, newest ops report, transfers. The server runs until it is\n"
        "interrupted.",
    .examples = "  strobe view run.tracy --open\n"
                "  strobe view --live --open\n"
                "  strobe view generated/profiler/reports/2026_01_15\n"
                "  strobe view profile_log_device.csv\n"
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
    case OPT_NO_INDEX:
        arguments->without_index = true;
        break;
    case OPT_LIVE:
        arguments->is_live = true;
        break;
    case OPT_OUTPUT:
        arguments->output = option->value;
        break;
    case OPT_FORCE:
        arguments->replaces = true;
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

/* A slip of the keyboard must not cost a trace: only pages are replaced by pages. */
static sb_status check_goal(const char *path, sb_error *error) {
    static const char start[] = "<!doctype html>";
    char found[sizeof start] = "";
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return SB_OK;
    FILE *file = fopen(path, "re");
    const size_t size = file == NULL ? 0 : fread(found, 1, sizeof start - 1, file);
    if (file != NULL)
        fclose(file);
    if (size == sizeof start - 1 && strcasecmp(found, start) == 0)
        return SB_OK;
    SB_FAIL(error, SB_ERR_USAGE, "%s: is there already and is no page, so it is not overwritten",
            path);
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
    if (arguments->replaces && arguments->output == NULL)
        SB_FAIL(error, SB_ERR_USAGE, "--force goes with --output");
    if (arguments->is_live && parsed->operand_count > 1)
        SB_FAIL(error, SB_ERR_USAGE, "name one HOST:PORT at most");
    if (!arguments->is_live && parsed->operand_count != 1)
        SB_FAIL(error, SB_ERR_USAGE, "name one trace file or folder");
    return arguments->page == NULL ? SB_OK : check_goal(arguments->page, error);
}

/* ---- serving ---- */

void cli_view_name(const char *path, char name[CLI_VIEW_NAME_SIZE]) {
    char real[PATH_MAX];
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    size_t start = size;
    while (start > 0 && path[start - 1] != '/')
        start--;
    const sb_slice last = {path + start, size - start};
    /* "." and ".." say nothing to anybody else. */
    if ((sb_slice_is(last, ".") || sb_slice_is(last, "..")) && realpath(path, real) != NULL)
        cli_view_name(real, name);
    else if (last.size == 0)
        snprintf(name, CLI_VIEW_NAME_SIZE, "/");
    else
        snprintf(name, CLI_VIEW_NAME_SIZE, "%.*s", (int)last.size, last.data);
}

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
    if (sb_view_link_for_others(*server) != NULL)
        sb_put_format(&output, "%s\n", sb_view_link_for_others(*server));
    sb_put_format(&output, "%s\n", sb_view_link(*server));
    if (arguments->opens)
        open_browser(sb_view_link(*server));
    return sb_output_finish(&output, error);
}

/* Keeping the index while pages are served already. */
typedef struct keeper {
    sb_view *view;
    const sb_view_files *files;
    pthread_t thread;
    bool has_thread;
    bool stop; /* atomic */
} keeper;

static void *keep_index(void *context) {
    keeper *self = context;
    sb_error error = {0};
    if (sb_view_keep(self->view, self->files, &self->stop, &error) != SB_OK)
        sb_log(SB_LOG_WARNING, "the index is not kept, and will be made anew next time: %s",
               error.message);
    return NULL;
}

static void stop_keeping(keeper *self) {
    __atomic_store_n(&self->stop, true, __ATOMIC_RELAXED);
    if (self->has_thread)
        pthread_join(self->thread, NULL);
}

/* Until someone ends it. */
static sb_status serve(sb_view *view, const sb_view_files *files,
                       const cli_view_arguments *arguments, sb_error *error) {
    int caught = 0;
    sigset_t ending;
    sb_view_server *server = NULL;
    keeper index = {.view = view, .files = files};
    cli_view_block_signals();
    const sb_status status = cli_view_start(view, arguments, &server, error);
    cli_view_ending_signals(&ending);
    if (status == SB_OK) {
        index.has_thread =
            files->count > 0 && pthread_create(&index.thread, NULL, keep_index, &index) == 0;
        sigwait(&ending, &caught);
    }
    stop_keeping(&index);
    sb_view_stop(server);
    return status;
}

static sb_status write_page(sb_view *view, const sb_trace *trace,
                            const cli_view_arguments *arguments, sb_error *error) {
    sb_range range;
    sb_output output;
    SB_TRY(cli_trace_range(trace, arguments->from, arguments->to, &range, error));
    const int64_t end = sb_trace_end_time(trace);
    if (arguments->from != NULL && range.from > end) {
        char text[SB_NUMBER_SIZE];
        const sb_slice length = cli_format_time(end, text);
        SB_FAIL(error, SB_ERR_USAGE, "--from: the trace ends before, at %.*s", (int)length.size,
                length.data);
    }
    SB_TRY(sb_output_to_file(&output, arguments->page, error));
    const sb_status status = sb_view_write_page(view, range, &output, error);
    if (status != SB_OK) {
        sb_output_discard(&output);
        return status;
    }
    return sb_output_finish(&output, error);
}

static sb_status show(cli_view_inputs *inputs, const cli_view_arguments *arguments,
                      sb_error *error) {
    char name[CLI_VIEW_NAME_SIZE];
    cli_view_name(inputs->shown_path, name);
    const sb_view_source source = {
        .trace = inputs->trace,
        .kept = inputs->kept,
        .name = name,
        .damage = inputs->is_partial ? inputs->damage : NULL,
        .version = STROBE_VERSION,
        .ops = inputs->ops,
        .transfers = inputs->transfers,
        .facts = (const sb_view_fact *)inputs->facts.data,
        .fact_count = inputs->facts.count,
    };
    cli_bar bar = cli_bar_of("indexing");
    sb_view *view = sb_view_create(&source);
    sb_view_index(view, cli_bar_show, &bar);
    cli_bar_end(&bar);
    const sb_status status = arguments->page != NULL
                                 ? write_page(view, source.trace, arguments, error)
                                 : serve(view, &inputs->keep, arguments, error);
    sb_view_free(view);
    return status;
}

static sb_status view_trace(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    cli_view_arguments arguments = {0};
    SB_TRY(take_options(parsed, &arguments, error));
    if (arguments.is_live)
        return cli_view_live(&arguments, parsed->operand_count == 0 ? NULL : parsed->operands[0],
                             exit_code, error);
    /* A page without a server does not grow, and an op is known once it is over. */
    bool is_followed = false;
    if (arguments.page == NULL && arguments.ops == NULL)
        SB_TRY(cli_view_journal(&arguments, parsed->operands[0], &is_followed, exit_code, error));
    if (is_followed)
        return SB_OK;
    cli_view_inputs inputs;
    sb_status status = cli_view_open(&inputs, parsed->operands[0], &arguments, error);
    if (status == SB_OK)
        status = show(&inputs, &arguments, error);
    if (status == SB_OK && inputs.is_partial)
        *exit_code = SB_EXIT_PARTIAL;
    cli_view_close(&inputs);
    return status;
}

static int run_view(const cli_command *command, int argc, char **argv) {
    return cli_trace_run(command, argc, argv, view_trace);
}
