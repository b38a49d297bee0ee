#include "cli/cli.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct argument_parser {
    const cli_command *command;
    bool compat;
    int argc;
    char **argv;
    int next;
    cli_parsed *parsed;
    sb_error *error;
} argument_parser;

static bool has_prefix(const char *name, sb_slice prefix) {
    return strlen(name) >= prefix.size && memcmp(name, prefix.data, prefix.size) == 0;
}

/* The option at place i; the one after the last is --help, which every command has. */
static const cli_option *option_at(const argument_parser *parser, size_t i) {
    return i < parser->command->option_count ? &parser->command->options[i] : &cli_help_option;
}

static sb_status find_long(const argument_parser *parser, sb_slice name, const cli_option **found) {
    sb_output matches = sb_output_to_memory();
    size_t match_count = 0;
    *found = NULL;
    for (size_t i = 0; i <= parser->command->option_count; i++) {
        const cli_option *option = option_at(parser, i);
        if (sb_slice_is(name, option->name)) {
            *found = option;
            match_count = 1;
            break;
        }
        const bool exact_only = parser->compat && option->exact_in_compat;
        if (exact_only || !has_prefix(option->name, name))
            continue;
        sb_put_format(&matches, "%s--%s", match_count > 0 ? ", " : "", option->name);
        *found = option;
        match_count++;
    }
    sb_status status = SB_OK;
    if (*found == NULL)
        status = sb_error_set(parser->error, SB_ERR_USAGE, "there is no option --%.*s",
                              (int)name.size, name.data);
    else if (match_count > 1)
        status = sb_error_set(parser->error, SB_ERR_USAGE, "--%.*s is ambiguous: it could be %.*s",
                              (int)name.size, name.data, (int)sb_output_text(&matches).size,
                              sb_output_text(&matches).data);
    sb_output_discard(&matches);
    return status;
}

static sb_status find_short(const argument_parser *parser, const char *argument,
                            const cli_option **found) {
    for (size_t i = 0; i <= parser->command->option_count; i++) {
        *found = option_at(parser, i);
        if ((*found)->short_name != '\0' && (*found)->short_name == argument[1])
            return SB_OK;
    }
    SB_FAIL(parser->error, SB_ERR_USAGE, "there is no option -%c", argument[1]);
}

/* "-12" and "-.5" are values, "-x" and "--x" are options, "-" is a file. */
static bool looks_like_option(const char *argument) {
    if (argument[0] != '-' || argument[1] == '\0')
        return false;
    const char *behind = argument[1] == '.' ? argument + 2 : argument + 1;
    return behind[0] < '0' || behind[0] > '9';
}

static bool is_choice(const char *choices, const char *value) {
    sb_slice rest = sb_slice_of(choices);
    while (rest.size > 0) {
        if (sb_slice_is(sb_slice_cut(rest, '|', &rest), value))
            return true;
    }
    return false;
}

static sb_status add_option(argument_parser *parser, const cli_option *option, const char *value) {
    assert(option != NULL);
    if (option == &cli_help_option) {
        parser->parsed->wants_help = true;
        return SB_OK;
    }
    if (option->argument == NULL && value != NULL)
        SB_FAIL(parser->error, SB_ERR_USAGE, "--%s takes no value", option->name);
    if (option->argument != NULL && value == NULL) {
        if (parser->next >= parser->argc || looks_like_option(parser->argv[parser->next]))
            SB_FAIL(parser->error, SB_ERR_USAGE, "--%s needs a value: --%s %s", option->name,
                    option->name, option->argument);
        value = parser->argv[parser->next++];
    }
    if (value != NULL && option->choices != NULL && !is_choice(option->choices, value))
        SB_FAIL(parser->error, SB_ERR_USAGE, "--%s: '%s' is none of %s", option->name, value,
                option->choices);
    cli_parsed *parsed = parser->parsed;
    parsed->options[parsed->option_count++] = (cli_parsed_option){option->id, value};
    return SB_OK;
}

/* "-o FILE", "-oFILE", "-rv": letters that take no value may share a dash. */
static sb_status parse_short(argument_parser *parser, const char *argument) {
    const cli_option *option = NULL;
    const char *rest = argument;
    do {
        SB_TRY(find_short(parser, rest, &option));
        rest++;
        if (option->argument != NULL)
            return add_option(parser, option, rest[1] != '\0' ? rest + 1 : NULL);
        SB_TRY(add_option(parser, option, NULL));
    } while (rest[1] != '\0');
    return SB_OK;
}

static sb_status parse_argument(argument_parser *parser, const char *argument) {
    const cli_option *option = NULL;
    if (!looks_like_option(argument)) {
        parser->parsed->operands[parser->parsed->operand_count++] = argument;
        return SB_OK;
    }
    if (argument[1] != '-')
        return parse_short(parser, argument);
    sb_slice rest;
    const sb_slice whole = sb_slice_of(argument + 2);
    const sb_slice name = sb_slice_cut(whole, '=', &rest);
    SB_TRY(find_long(parser, name, &option));
    return add_option(parser, option, name.size < whole.size ? argument + 3 + name.size : NULL);
}

sb_status cli_parse(const cli_command *command, bool compat, int argc, char **argv,
                    cli_parsed *parsed, sb_error *error) {
    *parsed = (cli_parsed){
        .options = sb_alloc_zeroed((size_t)argc, sizeof *parsed->options),
        .operands = sb_alloc_zeroed((size_t)argc, sizeof *parsed->operands),
    };
    argument_parser parser = {command, compat, argc, argv, 1, parsed, error};
    bool options_ended = false;
    while (parser.next < argc) {
        const char *argument = argv[parser.next++];
        if (options_ended)
            parsed->operands[parsed->operand_count++] = argument;
        else if (strcmp(argument, "--") == 0)
            options_ended = true;
        else
            SB_TRY(parse_argument(&parser, argument));
        if (command->ends_at_operand && parsed->operand_count > 0)
            options_ended = true;
    }
    return SB_OK;
}

void cli_parsed_free(cli_parsed *parsed) {
    free(parsed->options);
    free(parsed->operands);
    *parsed = (cli_parsed){0};
}
