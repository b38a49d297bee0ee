#include "cli/cli.h"

const cli_option cli_help_option = {
    .id = -1, .name = "help", .short_name = 'h', .help = "this text"};

enum { HELP_INDENT = 26, HELP_WIDTH = 88 };

/* Words of text from column indent on, wrapped. */
static void put_wrapped(sb_output *output, const char *text, size_t indent) {
    sb_slice rest = sb_slice_of(text);
    size_t column = indent;
    bool first = true;
    while (rest.size > 0) {
        const sb_slice word = sb_slice_cut(rest, ' ', &rest);
        const size_t width = sb_utf8_width(word);
        if (!first && column + 1 + width > HELP_WIDTH) {
            sb_put_char(output, '\n');
            sb_put_fill(output, ' ', indent);
            column = indent;
        } else if (!first) {
            sb_put_char(output, ' ');
            column++;
        }
        sb_put(output, word);
        column += width;
        first = false;
    }
    sb_put_char(output, '\n');
}

static void print_option(const cli_option *option, sb_output *output) {
    sb_output left = sb_output_to_memory();
    if (option->short_name != '\0')
        sb_put_format(&left, "  -%c, --%s", option->short_name, option->name);
    else
        sb_put_format(&left, "  --%s", option->name);
    if (option->argument != NULL)
        sb_put_format(&left, " %s", option->argument);
    const sb_slice text = sb_output_text(&left);
    sb_put(output, text);
    if (text.size + 2 > HELP_INDENT) {
        sb_put_char(output, '\n');
        sb_put_fill(output, ' ', HELP_INDENT);
    } else {
        sb_put_fill(output, ' ', HELP_INDENT - text.size);
    }
    put_wrapped(output, option->help, HELP_INDENT);
    sb_output_discard(&left);
}

void cli_print_help(const cli_command *command, const char *program, sb_output *output) {
    sb_put_format(output, "Usage: %s [OPTIONS] %s\n\n%s\n", program, command->arguments,
                  command->about);
    if (command->option_count == 0 || command->options[0].heading == NULL)
        sb_put_text(output, "\nOptions:\n");
    for (size_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        if (option->heading != NULL)
            sb_put_format(output, "\n%s:\n", option->heading);
        if (!option->deprecated)
            print_option(option, output);
    }
    print_option(&cli_help_option, output);
    if (command->examples != NULL)
        sb_put_format(output, "\nExamples:\n%s", command->examples);
    sb_put_text(output, "\nExit codes: 0 done, 1 error, 2 wrong usage, 3 partial result.\n");
}

void cli_print_overview(sb_output *output) {
    sb_put_text(output, "Usage: strobe COMMAND [OPTIONS] ...\n\n"
                        "Strobe says where the time of a program on an accelerator went, and what "
                        "to change.\n\nCommands:\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        const cli_command *command = cli_commands[i];
        sb_put_format(output, "  %-12s %s\n", command->name, command->summary);
    }
    sb_put_text(output, "\n"
                        "  strobe COMMAND --help   the options of a command, with examples\n"
                        "  strobe --version        the version\n"
                        "\nExit codes: 0 done, 1 error, 2 wrong usage, 3 partial result.\n");
}
