/*
 * Traces that are shown while they grow: `strobe view --live`, and journals that are being written.
 *
 * Several times a second what has come is taken into the index, of which the pages are told.
 */
#include <signal.h>
#include <time.h>

#include "cli/cli_view.h"

enum { TICK_MS = 200 };

typedef struct growing_page {
    sb_view *view;
    sb_view_server *server;
    bool has_told_end;
} growing_page;

static sb_status open_page(growing_page *page, sb_trace *trace, const char *name,
                           const cli_view_arguments *arguments, sb_error *error) {
    const sb_view_source source = {
        .trace = trace, .name = name, .version = STROBE_VERSION, .is_live = true};
    page->view = sb_view_create(&source);
    sb_view_index(page->view, NULL, NULL);
    return cli_view_start(page->view, arguments, &page->server, error);
}

static sb_status follow(const cli_view_growing *growing, growing_page *page,
                        const cli_view_arguments *arguments, sb_error *error) {
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    sigset_t ending;
    bool is_over = false;
    sb_trace *trace = NULL;
    cli_view_ending_signals(&ending);
    do {
        if (page->has_told_end)
            continue;
        is_over = growing->look(growing->context, &trace);
        if (is_over && trace == NULL)
            return SB_OK;
        if (trace == NULL)
            continue;
        if (page->view == NULL)
            SB_TRY(open_page(page, trace, growing->name, arguments, error));
        else if (!is_over)
            sb_view_index(page->view, NULL, NULL);
        if (is_over) {
            page->has_told_end = true;
            sb_view_end_live(page->view, growing->tell_end(growing->context));
        }
    } while (sigtimedwait(&ending, NULL, &tick) < 0);
    return SB_OK;
}

sb_status cli_view_follow(const cli_view_growing *growing, const cli_view_arguments *arguments,
                          sb_error *error) {
    growing_page page = {0};
    const sb_status status = follow(growing, &page, arguments, error);
    if (growing->end != NULL)
        growing->end(growing->context);
    sb_view_stop(page.server);
    sb_view_free(page.view);
    return status;
}
