/* Words that a person can paste into a shell. */
#include <string.h>

#include "cli/cli.h"

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_-./:=,@%+", c) != NULL);
}

void cli_put_word(sb_output *output, const char *word) {
    const char *end = word;
    while (is_plain(*end))
        end++;
    if (*end == '\0' && end != word) {
        sb_put_text(output, word);
        return;
    }
    sb_put_char(output, '\'');
    for (const char *c = word; *c != '\0'; c++) {
        if (*c == '\'')
            sb_put_text(output, "'\\''");
        else
            sb_put_char(output, *c);
    }
    sb_put_char(output, '\'');
}

void cli_put_command(sb_output *output, const char *command, const char *path, const char *option) {
    cli_put_word(output, cli_started_as);
    sb_put_format(output, " %s ", command);
    cli_put_word(output, path);
    sb_put_format(output, "%s%s\n", option[0] == '\0' ? "" : " ", option);
}
