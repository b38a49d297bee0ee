#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/output.h"
#include "base/style.h"
#include "base/unicode.h"

static sb_log_level loudest = SB_LOG_NOTE;
static const char *program_name = "strobe";

void sb_log_set_level(sb_log_level level) {
    loudest = level;
}

void sb_log_set_name(const char *name) {
    program_name = name;
}

static sb_slice word_of(sb_log_level level) {
    switch (level) {
    case SB_LOG_ERROR:
        return (sb_slice)SB_SLICE("error");
    case SB_LOG_WARNING:
        return (sb_slice)SB_SLICE("warning");
    case SB_LOG_NOTE:
        return (sb_slice)SB_SLICE("note");
    }
    return (sb_slice)SB_SLICE("message");
}

static sb_colour colour_of(sb_log_level level) {
    if (level == SB_LOG_ERROR)
        return SB_RED;
    return level == SB_LOG_WARNING ? SB_YELLOW : SB_CYAN;
}

void sb_log(sb_log_level level, const char *format, ...) {
    if (level > loudest)
        return;
    char text[1536];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* One write per message, so that messages of several threads or processes do not mix. */
    sb_output line = sb_output_to_descriptor(STDERR_FILENO);
    sb_put_format(&line, "%s: ", program_name);
    sb_put_painted(&line, sb_style_for(STDERR_FILENO), colour_of(level), word_of(level));
    sb_put_text(&line, ": ");
    sb_arena scratch = {0};
    sb_put(&line,
           sb_utf8_clean(&scratch, sb_slice_of(text))); /* it may quote a name from outside */
    sb_put_char(&line, '\n');
    sb_arena_free(&scratch);
    sb_output_flush(&line);
    sb_output_discard(&line);
}
