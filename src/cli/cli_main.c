/*
 * The `strobe` binary: finds the command and runs it. Started under the name of a tool that a
 * command stands in for, it is that command.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

const cli_command *const cli_commands[] = {
    &cli_run_command,     &cli_profile_command, &cli_perf_command,    &cli_report_command,
    &cli_capture_command, &cli_recover_command, &cli_view_command,    &cli_stats_command,
    &cli_export_command,  &cli_info_command,    &cli_convert_command, &cli_completion_command,
};
const size_t cli_command_count = sizeof cli_commands / sizeof cli_commands[0];
const char *cli_started_as = "strobe";

/* A mapped file that another process cuts short ends in this signal when it is read. */
static void end_on_bus_error(int signal_number) {
    static const char message[] = "strobe: error: an input file became shorter while it was read\n";
    (void)signal_number;
    sb_output_remove_unfinished(); /* NOLINT(bugprone-signal-handler,cert-sig30-c): made for this */
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
        _exit(SB_EXIT_ERROR);
    _exit(SB_EXIT_ERROR);
}

/* Leaves no half-written files behind, then ends as the signal would have ended it. */
static void end_on_signal(int signal_number) {
    sb_output_remove_unfinished(); /* NOLINT(bugprone-signal-handler,cert-sig30-c): made for this */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void handle_signals(void) {
    static const int ending[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        if (signal(ending[i], end_on_signal) == SIG_IGN)
            signal(ending[i], SIG_IGN); /* whoever started us wants it ignored */
    }
    signal(SIGBUS, end_on_bus_error);
    signal(SIGXFSZ, SIG_IGN); /* then writing past the limit is an error like a full disk */
}

/*
 * Whoever starts us without one of the standard streams would have the next file or connection
 * take its number, and get what is printed. What holds the place fails when it is used.
 */
static void hold_standard_streams(void) {
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
    }
}

static int print_and_exit(void (*print)(sb_output *), int descriptor, int exit_code) {
    sb_output output = sb_output_to_descriptor(descriptor);
    sb_error error = {0};
    print(&output);
    if (sb_output_finish(&output, &error) == SB_OK)
        return exit_code;
    sb_log(SB_LOG_ERROR, "%s", error.message);
    return SB_EXIT_ERROR;
}

static void print_version(sb_output *output) {
    sb_put_text(output, "strobe " STROBE_VERSION "\n");
}

static const cli_command *find_command(const char *name) {
    for (size_t i = 0; i < cli_command_count; i++) {
        if (strcmp(name, cli_commands[i]->name) == 0)
            return cli_commands[i];
    }
    return NULL;
}

static int refuse_command(const char *name) {
    sb_log(SB_LOG_ERROR, "there is no command '%s'; 'strobe --help' lists them", name);
    return SB_EXIT_USAGE;
}

/* `strobe help perf` is `strobe perf --help`. */
static int run_help(int argc, char **argv) {
    if (argc < 3)
        return print_and_exit(cli_print_overview, STDOUT_FILENO, SB_EXIT_DONE);
    const cli_command *command = find_command(argv[2]);
    if (command == NULL)
        return refuse_command(argv[2]);
    char help[] = "--help";
    char *arguments[] = {argv[2], help};
    return command->run(command, 2, arguments);
}

int main(int argc, char **argv) {
    hold_standard_streams();
    handle_signals();
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *program = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "strobe";
    if (slash != NULL)
        cli_started_as = argv[0];
    if (strcmp(program, "tt-perf-report") == 0) {
        sb_log_set_name(program);
        return cli_perf_command.run(&cli_perf_command, argc, argv);
    }
    if (strcmp(program, "tracy-csvexport") == 0 || strcmp(program, "csvexport-release") == 0) {
        sb_log_set_name(program);
        return cli_export_command.run(&cli_export_command, argc, argv);
    }
    if (strcmp(program, "tracy-capture") == 0 || strcmp(program, "capture-release") == 0) {
        sb_log_set_name(program);
        return cli_capture_command.run(&cli_capture_command, argc, argv);
    }
    if (argc < 2)
        return print_and_exit(cli_print_overview, STDERR_FILENO, SB_EXIT_USAGE);
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0)
        return print_and_exit(print_version, STDOUT_FILENO, SB_EXIT_DONE);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return run_help(argc, argv);
    const cli_command *command = find_command(name);
    if (command == NULL)
        return refuse_command(name);
    return command->run(command, argc - 1, argv + 1);
}
