/*
 * `strobe recover JOURNAL`: the trace that a recording left when it was cut short.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli_recording.h"
#include "cli/cli_trace.h"

static int run_recover(const cli_command *command, int argc, char **argv);

enum { OPT_OUTPUT, OPT_FORCE, OPT_MEMORY, OPT_JSON };

static const cli_option recover_options[] = {
    {.id = OPT_OUTPUT,
     .name = "output",
     .short_name = 'o',
     .argument = "FILE",
     .takes_file = true,
     .help = "the trace to write (default: the journal's name without .journal)"},
    {.id = OPT_FORCE, .name = "force", .short_name = 'f', .help = "replace a file that exists"},
    {.id = OPT_MEMORY,
     .name = "memory",
     .argument = "SIZE",
     .help = "keep at most so much of the trace in memory; 0: all of it (default: 1G)"},
    {.id = OPT_JSON, .name = "json", .help = "print the summary as JSON"},
};

const cli_command cli_recover_command = {
    .name = "recover",
    .summary = "make a trace of the journal that a recording left",
    .arguments = "JOURNAL",
    .about =
        "`strobe capture` writes what it receives to a journal first. If it was killed, the disk "
        "was\n"
        "full or the machine went down, this makes a trace of all that is whole in the journal. "
        "The\n"
        "journal itself is left as it is. Files that programs record by themselves (STROBE_OUT) "
        "are\n"
        "taken in the same way. `strobe info`, `stats`, `export` and `convert` read\n"
        "journals too.",
    .examples = "  strobe recover run.tracy.journal\n"
                "  strobe recover run.tracy.journal -o what-there-was.tracy\n",
    .options = recover_options,
    .option_count = sizeof recover_options / sizeof recover_options[0],
    .run = run_recover,
};

typedef struct recover_arguments {
    const char *journal;
    char output[4096];
    bool replace;
    bool json;
    uint64_t memory_bytes;
} recover_arguments;

static void choose_output(recover_arguments *arguments) {
    static const char suffix[] = ".journal";
    const size_t size = strlen(arguments->journal);
    const size_t cut = sizeof suffix - 1;
    if (size > cut && strcmp(arguments->journal + size - cut, suffix) == 0)
        snprintf(arguments->output, sizeof arguments->output, "%.*s", (int)(size - cut),
                 arguments->journal);
    else
        snprintf(arguments->output, sizeof arguments->output, "%s.tracy", arguments->journal);
}

static sb_status take_options(const cli_parsed *parsed, recover_arguments *arguments,
                              sb_error *error) {
    if (parsed->operand_count != 1)
        SB_FAIL(error, SB_ERR_USAGE, "name one journal");
    arguments->journal = parsed->operands[0];
    choose_output(arguments);
    for (size_t i = 0; i < parsed->option_count; i++) {
        const cli_parsed_option *option = &parsed->options[i];
        if (option->id == OPT_OUTPUT)
            snprintf(arguments->output, sizeof arguments->output, "%s", option->value);
        else if (option->id == OPT_FORCE)
            arguments->replace = true;
        else if (option->id == OPT_JSON)
            arguments->json = true;
        else
            SB_TRY(cli_parse_size("memory", option->value, &arguments->memory_bytes, error));
    }
    if (sb_file_is_same(arguments->output, arguments->journal))
        SB_FAIL(error, SB_ERR_USAGE, "%s is the journal that is read: it would be overwritten",
                arguments->output);
    struct stat status;
    if (!arguments->replace && stat(arguments->output, &status) == 0)
        SB_FAIL(error, SB_ERR_USAGE, "%s exists; -f replaces it, -o names another",
                arguments->output);
    return SB_OK;
}

static sb_status write_trace(const cli_parsed *parsed, const recover_arguments *arguments,
                             sb_trace *trace, sb_capture_report *report, sb_error *error) {
    sb_output output;
    struct stat status;
    sb_trace_add_origin(trace, cli_trace_origin(&cli_recover_command, parsed, &trace->arena));
    SB_TRY(sb_output_to_file(&output, arguments->output, error));
    sb_trace_write(trace, &(sb_trace_write_options){0}, &output, &report->written);
    SB_TRY(sb_output_finish(&output, error));
    report->has_file = true;
    report->has_journal = true;
    report->file_bytes = stat(arguments->output, &status) == 0 ? (uint64_t)status.st_size : 0;
    return SB_OK;
}

static sb_status print_report(const recover_arguments *arguments, const sb_capture_report *report,
                              sb_error *error) {
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    if (arguments->json) {
        cli_put_recording_json(&output, report, arguments->output);
        sb_put_char(&output, '\n');
    } else {
        cli_put_recording(&output, report, arguments->output);
    }
    return sb_output_finish(&output, error);
}

static sb_status recover(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    recover_arguments arguments = {.memory_bytes = UINT64_C(1) << 30};
    SB_TRY(take_options(parsed, &arguments, error));
    sb_file file;
    const bool is_written = sb_capture_is_written(arguments.journal);
    SB_TRY(sb_file_open(&file, arguments.journal, error));
    const sb_trace_bound bound = {.bytes = arguments.memory_bytes};
    const sb_capture_recover_options options = {.bound =
                                                    arguments.memory_bytes == 0 ? NULL : &bound,
                                                .file = &file,
                                                .is_written = is_written};
    sb_trace *trace = NULL;
    sb_error damage = {0};
    sb_error reason = {0};
    sb_capture_report report = {0};
    sb_status status = sb_capture_recover(file.text, &options, &trace, &report, &damage, &reason);
    if (status != SB_OK)
        sb_error_set(error, status, "%s: %s", arguments.journal, reason.message);
    else
        status = write_trace(parsed, &arguments, trace, &report, error);
    if (status == SB_OK) {
        cli_warn_of_recording(&report);
        *exit_code = cli_recording_is_partial(&report) ? SB_EXIT_PARTIAL : SB_EXIT_DONE;
        status = print_report(&arguments, &report, error);
    }
    sb_trace_free(trace);
    sb_file_close(&file);
    return status;
}

static int run_recover(const cli_command *command, int argc, char **argv) {
    return cli_trace_run(command, argc, argv, recover);
}
