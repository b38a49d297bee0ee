#include "base/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sb_style sb_style_for(int descriptor) {
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    const bool refused = no_color != NULL && no_color[0] != '\0';
    const bool dumb = terminal != NULL && strcmp(terminal, "dumb") == 0;
    return (sb_style){.colours = !refused && !dumb && isatty(descriptor) == 1};
}

void sb_put_painted(sb_output *output, sb_style style, sb_colour colour, sb_slice text) {
    if (!style.colours || colour == SB_PLAIN) {
        sb_put(output, text);
        return;
    }
    sb_put_format(output, "\x1b[38;5;%dm", (int)colour);
    sb_put(output, text);
    sb_put_text(output, "\x1b[0m");
}
