#include "cli/cli_trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "cli/cli_progress.h"

/* What a journal or a recording file holds, as if it was the trace that it would have become. */
static sb_status open_journal(cli_trace *opened, const char *path, bool is_written,
                              sb_error *error) {
    const sb_capture_recover_options options = {.file = &opened->file, .is_written = is_written};
    sb_capture_report report;
    sb_error damage = {0};
    sb_error reason = {0};
    const sb_status status =
        sb_capture_recover(opened->file.text, &options, &opened->trace, &report, &damage, &reason);
    if (status != SB_OK)
        SB_FAIL(error, status, "%s: %s", path, reason.message);
    if (damage.status != SB_OK) {
        opened->is_partial = true;
        opened->is_written = is_written;
        memcpy(opened->damage, damage.message, sizeof opened->damage);
        sb_log(SB_LOG_WARNING, "%s: shown is what it holds: %s", path, damage.message);
    }
    return SB_OK;
}

sb_status cli_trace_open(cli_trace *opened, const char *path, sb_error *error) {
    *opened = (cli_trace){.file = {.kind = SB_FILE_BORROWED}};
    const bool is_written = sb_capture_is_written(path);
    SB_TRY(sb_file_open(&opened->file, path, error));
    if (sb_capture_can_recover(opened->file.text))
        return open_journal(opened, path, is_written, error);
    cli_bar bar = cli_bar_of("reading");
    const sb_trace_read_options options = {
        .file = &opened->file, .progress = cli_bar_show, .progress_context = &bar};
    sb_error reason = {0};
    const sb_status status = sb_trace_read(opened->file.text, &options, &opened->trace, &reason);
    cli_bar_end(&bar);
    if (opened->trace == NULL)
        SB_FAIL(error, status, "%s: %s", path, reason.message);
    if (status != SB_OK) {
        opened->is_partial = true;
        memcpy(opened->damage, reason.message, sizeof opened->damage);
        sb_log(SB_LOG_WARNING, "%s: damaged, shown is what comes before: %s", path, reason.message);
    }
    return SB_OK;
}

void cli_trace_close(cli_trace *opened) {
    sb_trace_free(opened->trace);
    sb_file_close(&opened->file);
    *opened = (cli_trace){0};
}

int cli_trace_report(const char *command, const sb_error *error) {
    sb_log(SB_LOG_ERROR, "%s", error->message);
    if (error->status == SB_ERR_USAGE)
        sb_log(SB_LOG_NOTE, "'strobe %s --help' lists the options", command);
    return error->status == SB_ERR_USAGE ? SB_EXIT_USAGE : SB_EXIT_ERROR;
}

static int print_help(const cli_command *command) {
    char program[64];
    snprintf(program, sizeof program, "strobe %s", command->name);
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    cli_print_help(command, program, &output);
    return sb_output_finish(&output, NULL) == SB_OK ? SB_EXIT_DONE : SB_EXIT_ERROR;
}

int cli_trace_run(const cli_command *command, int argc, char **argv, cli_trace_action action) {
    cli_parsed parsed;
    sb_error error = {0};
    int exit_code = SB_EXIT_DONE;
    sb_status status = cli_parse(command, false, argc, argv, &parsed, &error);
    if (status == SB_OK && parsed.wants_help)
        exit_code = print_help(command);
    else if (status == SB_OK)
        status = action(&parsed, &exit_code, &error);
    if (status != SB_OK)
        exit_code = cli_trace_report(command->name, &error);
    cli_parsed_free(&parsed);
    return exit_code;
}

static void put_option(sb_output *line, const cli_command *command,
                       const cli_parsed_option *given) {
    for (size_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        if (option->id != given->id || option->takes_file)
            continue;
        sb_put_format(line, " --%s", option->name);
        if (given->value != NULL)
            sb_put_format(line, " %s", given->value);
    }
}

sb_slice cli_trace_origin(const cli_command *command, const cli_parsed *parsed, sb_arena *arena) {
    sb_output line = sb_output_to_memory();
    sb_put_format(&line, "strobe " STROBE_VERSION " %s", command->name);
    for (size_t i = 0; i < parsed->option_count; i++)
        put_option(&line, command, &parsed->options[i]);
    const sb_slice origin = sb_arena_copy(arena, sb_output_text(&line));
    sb_output_discard(&line);
    return origin;
}

sb_status cli_trace_number(const char *option, const char *text, int64_t least, int64_t most,
                           int64_t *value, sb_error *error) {
    if (sb_parse_int64(sb_slice_of(text), value) && *value >= least && *value <= most)
        return SB_OK;
    SB_FAIL(error, SB_ERR_USAGE, "--%s: '%s' is no number from %lld to %lld", option, text,
            (long long)least, (long long)most);
}

/* "1.5s", "20ms", "7us", "300ns", "300". */
static bool parse_time(const char *text, int64_t *time) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1}};
    const double largest = 9e18;
    const sb_slice whole = sb_slice_of(text);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t unit_size = strlen(units[i].unit);
        double value = 0;
        if (!sb_slice_ends_with(whole, units[i].unit) ||
            !sb_parse_double(sb_slice_first(whole, whole.size - unit_size), &value))
            continue;
        if (!(fabs(value * units[i].ns) < largest))
            return false;
        *time = (int64_t)llround(value * units[i].ns);
        return true;
    }
    return false;
}

static sb_status find_time(const sb_trace *trace, const char *option, const char *text,
                           int64_t *time, sb_error *error) {
    if (parse_time(text, time))
        return SB_OK;
    for (uint64_t i = 0; i < sb_series_count(&trace->messages); i++) {
        const sb_message *message = sb_series_at(&trace->messages, i);
        if (sb_slice_contains(sb_trace_text(trace, message->text), text)) {
            *time = message->time;
            return SB_OK;
        }
    }
    SB_FAIL(error, SB_ERR_NOT_FOUND, "--%s: '%s' is no time and no message contains it", option,
            text);
}

sb_status cli_trace_range(const sb_trace *trace, const char *from, const char *to, sb_range *range,
                          sb_error *error) {
    *range = SB_RANGE_ALL;
    if (from != NULL)
        SB_TRY(find_time(trace, "from", from, &range->from, error));
    if (to != NULL)
        SB_TRY(find_time(trace, "to", to, &range->to, error));
    if (from != NULL && to != NULL && range->from > range->to)
        SB_FAIL(error, SB_ERR_USAGE, "--from '%s' is after --to '%s'", from, to);
    return SB_OK;
}

sb_slice cli_format_time(int64_t ns, char text[SB_NUMBER_SIZE]) {
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}};
    enum { DECIMALS = 3 };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if ((double)ns < units[i].ns && (double)ns > -units[i].ns)
            continue;
        const size_t size = sb_format_fixed((double)ns / units[i].ns, DECIMALS, false, text);
        const size_t unit_size = strlen(units[i].unit);
        memcpy(text + size, units[i].unit, unit_size);
        return (sb_slice){text, size + unit_size};
    }
    const size_t size = sb_format_int64(ns, text);
    memcpy(text + size, " ns", 3);
    return (sb_slice){text, size + 3};
}
