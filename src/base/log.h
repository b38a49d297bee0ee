/*
 * Messages to the person at the terminal.
 *
 * They go to standard error, one line each, with the program's name and what kind of message it is;
 * standard output is for results. Modules do not log on their own: they return what they found and
 * the command decides what to say. Safe to call from any thread.
 */
#ifndef SB_BASE_LOG_H
#define SB_BASE_LOG_H

typedef enum sb_log_level {
    SB_LOG_ERROR = 0,   /* the command fails */
    SB_LOG_WARNING = 1, /* the result is partial or doubtful */
    SB_LOG_NOTE = 2,    /* what was chosen on the user's behalf */
} sb_log_level;

/* Messages above this level are dropped; SB_LOG_NOTE at the start. */
void sb_log_set_level(sb_log_level level);
/* The name in front of each message; "strobe" at the start. */
void sb_log_set_name(const char *name);
void sb_log(sb_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
