/*
 * view: a trace in the browser.
 *
 * An sb_view is a trace with an index for drawing it (view_index.h), the questions a page asks
 * about it (an HTTP API, docs/view.md), and the page itself, which is part of the binary:
 *
 *     sb_view *view = sb_view_create(&source);
 *     sb_view_index(view, progress, context);
 *     sb_view_server *server = NULL;
 *     SB_TRY(sb_view_start(view, &listen, &server, error));
 *     puts(sb_view_link(server));
 *     ... until told to end
 *     sb_view_stop(server);
 *     sb_view_free(view);
 *
 * or, without a server, one file with page and data: sb_view_write_page.
 *
 * Who owns what: the source's trace (or what was kept of it) and report stay the caller's and must
 * outlive the view; texts are copied. Threads: the server answers each connection in a thread of
 * its own. Another thread may add to the trace meanwhile and call sb_view_index to show what is
 * new; all open pages are told.
 */
#ifndef SB_VIEW_VIEW_H
#define SB_VIEW_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "perf/perf.h"
#include "trace/trace.h"

typedef struct sb_view sb_view;
typedef struct sb_view_server sb_view_server;
typedef struct sb_view_kept sb_view_kept;

/* Something that is known of a recording besides what is in it, for people: "Clock of device 0". */
typedef struct sb_view_fact {
    const char *name;
    const char *text;
} sb_view_fact;

typedef struct sb_view_source {
    sb_trace *trace;
    sb_view_kept *kept;        /* where the trace and its index come from; NULL: not kept */
    const char *name;          /* what the page calls it */
    const char *damage;        /* what is wrong with the file; NULL: nothing */
    const char *version;       /* of Strobe */
    const sb_perf_report *ops; /* NULL: there is none */
    const char *transfers;     /* folder with noc_trace_dev*.json; NULL: there are none */
    const sb_view_fact *facts; /* live as long as the view */
    size_t fact_count;
    bool is_live; /* the trace is still growing */
} sb_view_source;

sb_view *sb_view_create(const sb_view_source *source);
void sb_view_free(sb_view *view);

/* Says how far something is: indexing in zones, reading in bytes. */
typedef void (*sb_view_progress)(void *context, uint64_t done, uint64_t total);

/* ---- indexes that are kept ---- */

/* What a file is, as far as can be told without reading it; or several, mixed into one. */
typedef struct sb_view_stamp {
    uint64_t size;
    uint64_t changed_ns;
    uint64_t ends; /* checksum of its first and last bytes */
} sb_view_stamp;

/* The files that a trace was read from: its own, or the list of a session and all in it. */
typedef struct sb_view_files {
    const char *const *paths; /* what is kept is named after the first */
    size_t count;
    sb_view_stamp stamp; /* of them all */
} sb_view_files;

/* Notes what the files are now. Before they are read: one may be replaced while it is. */
sb_status sb_view_stamp_files(sb_view_files *files, sb_error *error);

/*
 * Opens what was kept of the trace in these files: the trace and its index, mapped from a file in
 * the cache folder and checked. SB_ERR_NOT_FOUND: nothing was, or of an older state of the files;
 * SB_ERR_FORMAT: it is damaged, or another version wrote it. progress counts bytes.
 */
sb_status sb_view_kept_open(const sb_view_files *files, sb_view_progress progress, void *context,
                            sb_view_kept **kept, sb_error *error);
/* Its trace, to which nothing may be added. */
sb_trace *sb_view_kept_trace(const sb_view_kept *kept);
void sb_view_kept_free(sb_view_kept *kept);
/*
 * Keeps the trace and its index for the next time. It may take seconds, and others may ask the view
 * meanwhile. Ends early, without a file, once *stop is true. Fails without harm if there is no
 * room, or if the files are no longer what they were when they were stamped.
 */
sb_status sb_view_keep(sb_view *view, const sb_view_files *files, const bool *stop,
                       sb_error *error);

/* ---- filling ---- */

/* Takes in what the trace holds, or has gained since. progress may be NULL. */
void sb_view_index(sb_view *view, sb_view_progress progress, void *context);
/* Says that the trace of a live view grows no more; damage: what is wrong with it, or NULL. */
void sb_view_end_live(sb_view *view, const char *damage);

typedef struct sb_view_listen {
    const char *address; /* numeric; NULL: the loopback */
    uint16_t port;       /* 0: any that is free */
    bool needs_token;    /* answers only those who know the token in the link */
} sb_view_listen;

/* Starts to answer. The view must outlive the server. */
sb_status sb_view_start(sb_view *view, const sb_view_listen *listen, sb_view_server **server,
                        sb_error *error);
/*
 * The address to open on this machine; and for others where it listens on all addresses, NULL where
 * that is the same or there is none.
 */
const char *sb_view_link(const sb_view_server *server);
const char *sb_view_link_for_others(const sb_view_server *server);
void sb_view_stop(sb_view_server *server);

enum { SB_VIEW_PAGE_ZONES = 500000 };

/*
 * Writes one HTML file that needs no server, with the zones that touch the range. More than
 * SB_VIEW_PAGE_ZONES of them are refused.
 */
sb_status sb_view_write_page(sb_view *view, sb_range range, sb_output *output, sb_error *error);

#endif
