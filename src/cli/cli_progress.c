#include "cli/cli_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { FIRST_AFTER_MS = 500, THEN_EVERY_MS = 200, NS_PER_MS = 1000000, MEGABYTE = 1 << 20 };

static void show(void *context, uint64_t written) {
    cli_progress *progress = context;
    const int64_t now = sb_clock_ns();
    if (now < progress->next_ns)
        return;
    progress->next_ns = now + (int64_t)THEN_EVERY_MS * NS_PER_MS;
    progress->is_shown = true;
    fprintf(stderr, "\r%" PRIu64 " MB written\033[K", written / MEGABYTE);
}

cli_progress cli_progress_begin(void) {
    return (cli_progress){.next_ns = sb_clock_ns() + (int64_t)FIRST_AFTER_MS * NS_PER_MS};
}

void cli_progress_watch(cli_progress *progress, sb_output *output) {
    if (isatty(STDERR_FILENO) && !isatty(output->descriptor))
        sb_output_watch(output, show, progress);
}

void cli_progress_end(cli_progress *progress) {
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    progress->is_shown = false;
}

cli_bar cli_bar_of(const char *what) {
    const int64_t never = INT64_MAX;
    return (cli_bar){.what = what,
                     .next_ns = isatty(STDERR_FILENO)
                                    ? sb_clock_ns() + (int64_t)FIRST_AFTER_MS * NS_PER_MS
                                    : never};
}

void cli_bar_show(void *shown, uint64_t done, uint64_t total) {
    enum { WIDTH = 30 };
    cli_bar *bar = shown;
    const int64_t now = bar->next_ns == INT64_MAX ? 0 : sb_clock_ns();
    if (now < bar->next_ns || total == 0)
        return;
    const double part = done < total ? (double)done / (double)total : 1;
    const int filled = (int)(part * WIDTH);
    bar->next_ns = now + (int64_t)THEN_EVERY_MS * NS_PER_MS;
    bar->is_shown = true;
    fprintf(stderr, "\r%s [%.*s%*s] %3d %%\033[K", bar->what, filled,
            "##############################", WIDTH - filled, "", (int)(part * 100));
}

void cli_bar_end(cli_bar *bar) {
    if (bar->is_shown)
        fputs("\r\033[K", stderr);
    bar->is_shown = false;
}
