/*
 * Kept indexes: a trace and its index as they lie in memory, in a file of the cache folder, so that
 * the trace is shown at once when it is opened again.
 *
 * The file is an image (trace/trace_image.h), named after the path of the trace. It begins with a
 * stamp of the trace's file: size, time of change, and checksums of its first and last bytes; of
 * a session, of its list and the files of all its traces. One that does not fit, is damaged or
 * comes from another version is made anew.
 *
 * All files together take up to KEPT_BYTES, the ones not used for longest go first, and none is
 * written that would take the last of the disk.
 */
#ifndef SB_VIEW_KEPT_H
#define SB_VIEW_KEPT_H

#include "view/view.h"
#include "view/view_index.h"

/* What a file is, as far as can be told without reading it; or several, mixed into one. */
typedef struct view_stamp {
    uint64_t size;
    uint64_t changed_ns;
    uint64_t ends; /* checksum of its first and last bytes */
} view_stamp;

struct sb_view_kept {
    sb_file file;
    sb_trace *trace;
    view_index index;
};

/* Reads an image; bytes are those of kept->file. Takes what is to be freed into kept. */
sb_status view_kept_read(sb_view_kept *kept, sb_slice bytes, const view_stamp *stamp,
                         sb_view_progress progress, void *context, sb_error *error);
/* Writes one. The caller finishes the output. */
void view_kept_write(sb_trace *trace, view_index *index, const view_stamp *stamp,
                     sb_output *output);

#endif
