#include "view/view_kept.h"

#include <stddef.h>
#include <stdlib.h>

enum { LEVELS = 32 };

/* ---- the index ---- */

static void visit_levels(sb_image *image, view_row *row, const sb_image_form *nodes) {
    uint64_t count = row->levels.count;
    sb_image_number(image, &count);
    if (count > LEVELS)
        sb_image_refuse(image);
    for (uint64_t i = 0; i < count && !image->is_bad; i++) {
        if (image->is_reading)
            sb_series_init(sb_vector_push(&row->levels), sizeof(view_node), NULL);
        sb_series *level = sb_vector_at(&row->levels, i);
        sb_image_list(image, level, nodes);
        if (level->count == 0)
            sb_image_refuse(image);
    }
}

static sb_image_reference word_at(size_t offset, uint64_t bound) {
    return (sb_image_reference){.offset = (uint16_t)offset, .width = 4, .bound = bound};
}

/* A row lists its zones, or has no list because their places are their numbers. */
static void visit_row(sb_image *image, const sb_trace *trace, uint64_t zones, view_row *row) {
    const sb_image_form numbers = {.references = {word_at(0, zones)}};
    const sb_image_form nodes = {
        .references = {word_at(offsetof(view_node, source), sb_series_count(&trace->sources)),
                       word_at(offsetof(view_node, zone), zones)}};
    sb_image_number(image, &row->count);
    sb_image_list(image, &row->zones, &numbers);
    if (row->count > zones || (row->zones.count != 0 && row->zones.count != row->count))
        sb_image_refuse(image);
    visit_levels(image, row, &nodes);
}

static void visit_track(sb_image *image, const sb_trace *trace, uint32_t number,
                        view_track *track) {
    const uint64_t zones = sb_track_zone_count(sb_trace_track(trace, number));
    uint64_t rows = track->rows.count;
    sb_image_number(image, &rows);
    sb_image_number(image, &track->indexed);
    sb_image_number(image, &track->too_deep);
    sb_image_flag(image, &track->is_flat);
    if (rows > VIEW_DEPTHS || track->indexed != zones)
        sb_image_refuse(image);
    for (uint64_t i = 0; i < rows && !image->is_bad; i++)
        visit_row(image, trace, zones, view_track_row(track, i));
}

static void visit_index(sb_image *image, view_index *index) {
    sb_image_time(image, &index->end);
    view_index_add_tracks(index);
    for (size_t i = 0; i < index->tracks.count && !image->is_bad; i++)
        visit_track(image, index->trace, (uint32_t)i, sb_vector_at(&index->tracks, i));
}

/* ---- the whole ---- */

bool view_is_stamp(const sb_view_stamp *a, const sb_view_stamp *b) {
    return a->size == b->size && a->changed_ns == b->changed_ns && a->ends == b->ends;
}

static void visit_stamp(sb_image *image, sb_view_stamp *stamp) {
    sb_image_number(image, &stamp->size);
    sb_image_number(image, &stamp->changed_ns);
    sb_image_number(image, &stamp->ends);
}

void view_kept_write(sb_trace *trace, view_index *index, const sb_view_stamp *stamp,
                     sb_output *output) {
    sb_view_stamp written = *stamp;
    sb_image image = sb_image_write(output);
    visit_stamp(&image, &written);
    sb_image_trace(&image, trace);
    visit_index(&image, index);
    sb_image_finish(&image);
}

static sb_status read_image(sb_view_kept *kept, sb_image *image, const sb_view_stamp *stamp,
                            sb_view_progress progress, void *context, sb_error *error) {
    sb_view_stamp found = {0};
    visit_stamp(image, &found);
    if (!view_is_stamp(&found, stamp))
        SB_FAIL(error, SB_ERR_NOT_FOUND, "the trace has changed since");
    sb_image_trace(image, kept->trace);
    if (!image->is_bad)
        visit_index(image, &kept->index);
    return sb_image_check(image, progress, context, error);
}

sb_status view_kept_read(sb_view_kept *kept, sb_slice bytes, const sb_view_stamp *stamp,
                         sb_view_progress progress, void *context, sb_error *error) {
    sb_image image;
    kept->trace = sb_trace_create();
    view_index_init(&kept->index, kept->trace);
    sb_status status = sb_image_open(&image, bytes, error);
    if (status == SB_OK)
        status = read_image(kept, &image, stamp, progress, context, error);
    sb_image_close(&image);
    return status;
}
