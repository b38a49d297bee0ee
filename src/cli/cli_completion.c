/*
 * `strobe completion SHELL`: a completion script made from the option tables.
 */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static int run_completion(const cli_command *command, int argc, char **argv);

const cli_command cli_completion_command = {
    .name = "completion",
    .summary = "print a completion script for bash or zsh",
    .arguments = "bash|zsh",
    .about = "Prints a script that completes commands, options, their values and file names.",
    .examples = "  strobe completion bash > ~/.local/share/bash-completion/completions/strobe\n"
                "  strobe completion zsh > ~/.zfunc/_strobe    # a folder of your fpath\n",
    .run = run_completion,
};

static void put_choices(const char *choices, sb_output *output) {
    for (const char *c = choices; *c != '\0'; c++)
        sb_put_char(output, (char)(*c == '|' ? ' ' : *c));
}

/* ---- bash ---- */

static void put_bash_command(const cli_command *command, sb_output *output) {
    sb_put_format(output, "    %s)\n        case \"$previous\" in\n", command->name);
    for (size_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        if (option->argument == NULL || option->deprecated)
            continue;
        sb_put_format(output, "        --%s) ", option->name);
        if (option->choices != NULL) {
            sb_put_text(output, "mapfile -t COMPREPLY < <(compgen -W '");
            put_choices(option->choices, output);
            sb_put_text(output, "' -- \"$word\"); return ;;\n");
        } else {
            sb_put_text(output,
                        option->takes_file
                            ? "mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n"
                            : "return ;;\n");
        }
    }
    sb_put_format(output, "        esac\n        options='--%s", cli_help_option.name);
    for (size_t i = 0; i < command->option_count; i++) {
        if (!command->options[i].deprecated)
            sb_put_format(output, " --%s", command->options[i].name);
    }
    sb_put_text(output, "' ;;\n");
}

static void put_bash(sb_output *output) {
    sb_put_text(output,
                "# bash completion for strobe\n"
                "_strobe() {\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    local command=${COMP_WORDS[1]} options=\n"
                "    if [[ ${COMP_WORDS[0]##*/} == tt-perf-report ]]; then\n"
                "        command=perf\n"
                "    elif [[ ${COMP_WORDS[0]##*/} == *csvexport* ]]; then\n"
                "        command=export\n"
                "    elif [[ $COMP_CWORD == 1 ]]; then\n"
                "        mapfile -t COMPREPLY < <(compgen -W '");
    for (size_t i = 0; i < cli_command_count; i++)
        sb_put_format(output, "%s ", cli_commands[i]->name);
    sb_put_text(output, "help --help --version' -- \"$word\")\n        return\n    fi\n"
                        "    case \"$command\" in\n");
    for (size_t i = 0; i < cli_command_count; i++)
        put_bash_command(cli_commands[i], output);
    sb_put_text(output, "    esac\n"
                        "    if [[ $word == -* ]]; then\n"
                        "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
                        "    else\n"
                        "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                        "    fi\n"
                        "}\n"
                        "complete -o filenames -F _strobe strobe tt-perf-report tracy-csvexport "
                        "csvexport-release\n");
}

/* ---- zsh ---- */

/* Help texts stand in single quotes and brackets there. */
static void put_zsh_text(const char *text, sb_output *output) {
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '[' || *c == ']' || *c == ':')
            sb_put_char(output, '\\');
        if (*c == '\'')
            sb_put_text(output, "'\\'");
        sb_put_char(output, *c);
    }
}

static void put_zsh_option(const cli_option *option, sb_output *output) {
    sb_put_format(output, "            '--%s%s[", option->name,
                  option->argument != NULL ? "=" : "");
    put_zsh_text(option->help, output);
    sb_put_char(output, ']');
    if (option->choices != NULL) {
        sb_put_format(output, ":%s:(", option->argument);
        put_choices(option->choices, output);
        sb_put_char(output, ')');
    } else if (option->argument != NULL) {
        sb_put_format(output, ":%s:%s", option->argument, option->takes_file ? "_files" : " ");
    }
    sb_put_text(output, "' \\\n");
}

static void put_zsh_command(const cli_command *command, sb_output *output) {
    sb_put_format(output, "    %s)\n        _arguments \\\n", command->name);
    for (size_t i = 0; i < command->option_count; i++) {
        if (!command->options[i].deprecated)
            put_zsh_option(&command->options[i], output);
    }
    put_zsh_option(&cli_help_option, output);
    sb_put_text(output, "            '*:file:_files' ;;\n");
}

static void put_zsh(sb_output *output) {
    sb_put_text(output, "#compdef strobe tt-perf-report tracy-csvexport csvexport-release\n"
                        "# zsh completion for strobe\n"
                        "_strobe() {\n"
                        "    local command=$words[2]\n"
                        "    if [[ ${words[1]:t} == tt-perf-report ]]; then\n"
                        "        command=perf\n"
                        "    elif [[ ${words[1]:t} == *csvexport* ]]; then\n"
                        "        command=export\n"
                        "    elif (( CURRENT == 2 )); then\n"
                        "        local -a commands=(\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        sb_put_format(output, "            '%s:", cli_commands[i]->name);
        put_zsh_text(cli_commands[i]->summary, output);
        sb_put_text(output, "'\n");
    }
    sb_put_text(output, "        )\n"
                        "        _describe command commands\n"
                        "        return\n"
                        "    else\n"
                        "        shift words\n"
                        "        (( CURRENT-- ))\n"
                        "    fi\n"
                        "    case $command in\n");
    for (size_t i = 0; i < cli_command_count; i++)
        put_zsh_command(cli_commands[i], output);
    sb_put_text(output, "    esac\n}\n_strobe \"$@\"\n");
}

static int run_completion(const cli_command *command, int argc, char **argv) {
    cli_parsed parsed;
    sb_error error = {0};
    void (*put)(sb_output *) = NULL;
    const sb_status status = cli_parse(command, false, argc, argv, &parsed, &error);
    sb_output output = sb_output_to_descriptor(STDOUT_FILENO);
    int exit_code = SB_EXIT_DONE;
    if (status == SB_OK && parsed.operand_count == 1) {
        put = strcmp(parsed.operands[0], "bash") == 0  ? put_bash
              : strcmp(parsed.operands[0], "zsh") == 0 ? put_zsh
                                                       : NULL;
    }
    if (status == SB_OK && parsed.wants_help) {
        cli_print_help(command, "strobe completion", &output);
    } else if (put != NULL) {
        put(&output);
    } else {
        sb_log(SB_LOG_ERROR, "%s",
               status != SB_OK ? error.message : "name the shell: strobe completion bash|zsh");
        exit_code = SB_EXIT_USAGE;
    }
    if (sb_output_finish(&output, &error) != SB_OK) {
        sb_log(SB_LOG_ERROR, "%s", error.message);
        exit_code = SB_EXIT_ERROR;
    }
    cli_parsed_free(&parsed);
    return exit_code;
}
