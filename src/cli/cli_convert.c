/*
 * `strobe convert IN OUT`: a trace file in another version or compression.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/cli_progress.h"
#include "cli/cli_trace.h"
#include "cli/cli_written.h"

static int run_convert(const cli_command *command, int argc, char **argv);

enum { OPT_VERSION, OPT_COMPRESSION, OPT_LEVEL };

static const cli_option convert_options[] = {
    {.id = OPT_VERSION,
     .name = "tracy-version",
     .argument = "VERSION",
     .choices = "0.10.0|0.11.0",
     .help = "the version to write: 0.11.0 opens in Tracy 0.11 and later, 0.10.0 in 0.10 to 0.14.0 "
             "and in Tenstorrent's viewer of 0.10 (default: 0.11.0)"},
    {.id = OPT_COMPRESSION,
     .name = "compression",
     .argument = "KIND",
     .choices = "lz4|zstd",
     .help = "lz4 is faster, zstd smaller (default: lz4)"},
    {.id = OPT_LEVEL,
     .name = "level",
     .argument = "N",
     .help = "how hard to compress: 1 to 12 for lz4, 1 to 22 for zstd"},
};

const cli_command cli_convert_command = {
    .name = "convert",
    .summary = "write a trace file in another version or compression",
    .arguments = "IN OUT",
    .about =
        "Reads a .tracy file of any version from 0.9.0 on and writes it again. OUT appears only\n"
        "when it is complete. What the version cannot hold is left out, and said.",
    .examples = "  strobe convert new.tracy old.tracy --tracy-version 0.10.0\n"
                "  strobe convert run.tracy small.tracy --compression zstd --level 19\n",
    .options = convert_options,
    .option_count = sizeof convert_options / sizeof convert_options[0],
    .run = run_convert,
};

static sb_status take_options(const cli_parsed *parsed, sb_trace_write_options *options,
                              sb_error *error) {
    enum { LZ4_LEVEL_MAX = 12, ZSTD_LEVEL_MAX = 22 };
    const char *level = NULL;
    for (size_t i = 0; i < parsed->option_count; i++) {
        const cli_parsed_option *option = &parsed->options[i];
        if (option->id == OPT_VERSION)
            options->version = strcmp(option->value, "0.10.0") == 0 ? SB_TRACE_VERSION_0_10
                                                                    : SB_TRACE_VERSION_0_11;
        else if (option->id == OPT_COMPRESSION)
            options->compression =
                strcmp(option->value, "zstd") == 0 ? SB_TRACE_ZSTD : SB_TRACE_LZ4;
        else
            level = option->value;
    }
    if (level == NULL)
        return SB_OK;
    int64_t value = 0;
    const bool is_zstd = options->compression == SB_TRACE_ZSTD;
    SB_TRY(cli_trace_number("level", level, 1, is_zstd ? ZSTD_LEVEL_MAX : LZ4_LEVEL_MAX, &value,
                            error));
    options->level = (int)value;
    return SB_OK;
}

/* Says what did not fit; true if something was left out. */
static bool say_what_changed(const sb_trace *trace, const sb_trace_written *written) {
    const bool lost = cli_say_what_changed(written);
    const uint64_t ranges = trace->file.skipped_sections;
    if (ranges > 0)
        sb_log(SB_LOG_WARNING, "%" PRIu64 " named time ranges have no place in this version",
               ranges);
    return lost || ranges > 0;
}

static sb_status convert(const cli_parsed *parsed, int *exit_code, sb_error *error) {
    sb_trace_write_options options = {0};
    if (parsed->operand_count != 2)
        SB_FAIL(error, SB_ERR_USAGE, "name the file to read and the file to write");
    SB_TRY(take_options(parsed, &options, error));
    if (sb_file_is_same(parsed->operands[1], parsed->operands[0]))
        SB_FAIL(error, SB_ERR_USAGE, "%s is the trace that is read: it would be overwritten",
                parsed->operands[1]);
    cli_trace opened;
    sb_output output = {.descriptor = -1};
    cli_progress progress = cli_progress_begin();
    sb_status status = cli_trace_open(&opened, parsed->operands[0], error);
    if (status == SB_OK)
        status = sb_output_to_file(&output, parsed->operands[1], error);
    if (status == SB_OK) {
        sb_trace_written written;
        sb_trace *trace = opened.trace;
        sb_trace_add_origin(trace, cli_trace_origin(&cli_convert_command, parsed, &trace->arena));
        cli_progress_watch(&progress, &output);
        sb_trace_write(trace, &options, &output, &written);
        cli_progress_end(&progress);
        if (say_what_changed(opened.trace, &written) || opened.is_partial)
            *exit_code = SB_EXIT_PARTIAL;
        status = sb_output_finish(&output, error);
    }
    cli_trace_close(&opened);
    return status;
}

static int run_convert(const cli_command *command, int argc, char **argv) {
    return cli_trace_run(command, argc, argv, convert);
}
