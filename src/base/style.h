/*
 * Colours of terminal output, and whether to use them at all.
 *
 * Colours are those of the 256-colour palette that every terminal of today has. Whether they are
 * used is decided once, at the edge (sb_style_for), and carried along as an sb_style.
 */
#ifndef SB_BASE_STYLE_H
#define SB_BASE_STYLE_H

#include <stdbool.h>

#include "base/output.h"

typedef enum sb_colour {
    SB_PLAIN = 0, /* as the terminal has it: no escape sequence at all */
    SB_GREY = 8,
    SB_RED = 9,
    SB_GREEN = 10,
    SB_YELLOW = 11,
    SB_BLUE = 12,
    SB_MAGENTA = 13,
    SB_CYAN = 14,
    SB_WHITE = 15,
    SB_ORANGE = 208,
} sb_colour;

typedef struct sb_style {
    bool colours;
} sb_style;

/* Colours if descriptor is a terminal, TERM is not "dumb" and NO_COLOR is unset or empty. */
sb_style sb_style_for(int descriptor);

/* text in colour, if the style has colours. */
void sb_put_painted(sb_output *output, sb_style style, sb_colour colour, sb_slice text);

#endif
