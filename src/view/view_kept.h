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

struct sb_view_kept {
    sb_file file;
    sb_trace *trace;
    view_index index;
};

bool view_is_stamp(const sb_view_stamp *a, const sb_view_stamp *b);
/* Reads an image; bytes are those of kept->file. Takes what is to be freed into kept. */
sb_status view_kept_read(sb_view_kept *kept, sb_slice bytes, const sb_view_stamp *stamp,
                         sb_view_progress progress, void *context, sb_error *error);
/* Writes one. The caller finishes the output. */
void view_kept_write(sb_trace *trace, view_index *index, const sb_view_stamp *stamp,
                     sb_output *output);

#endif
