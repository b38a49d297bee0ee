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
