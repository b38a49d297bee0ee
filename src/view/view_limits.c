/*
 * What a trace has more of than the page shows, in words: nothing is left out in silence.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "view/view_call.h"

typedef struct limit_list {
    sb_output *output;
    unsigned count;
} limit_list;

__attribute__((format(printf, 2, 3))) static void put_limit(limit_list *list, const char *format,
                                                            ...) {
    char sentence[160];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    sb_put_text(list->output, list->count++ == 0 ? "" : ",");
    sb_put_json(list->output, sb_slice_of(sentence));
}

static uint64_t count_too_deep(sb_view *view) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < sb_series_count(&view->trace->tracks); i++)
        count += view_index_too_deep(view->index, (uint32_t)i);
    return count;
}

/* Of locks and frame sets, those that something happened to. */
static uint64_t count_locks(const sb_trace *trace) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->locks); i++)
        count += sb_series_count(&((const sb_lock *)sb_series_at(&trace->locks, i))->events) > 0;
    return count;
}

static uint64_t count_frame_sets(const sb_trace *trace) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->frame_sets); i++) {
        const sb_frame_set *set = sb_series_at(&trace->frame_sets, i);
        count += sb_series_count(&set->frames) > 0;
    }
    return count;
}

void view_put_limits(sb_output *output, sb_view *view) {
    limit_list list = {.output = output};
    uint64_t lost = 0;
    const uint64_t too_deep = count_too_deep(view);
    const uint64_t locks = count_locks(view->trace);
    const uint64_t sets = count_frame_sets(view->trace);
    const uint64_t losses = sb_trace_losses_in(view->trace, SB_RANGE_ALL, &lost);
    sb_put_text(output, ",\"limits\":[");
    if (too_deep > 0)
        put_limit(&list, "Zones nested deeper than %d are counted and not drawn: %" PRIu64,
                  VIEW_DEPTHS, too_deep);
    if (locks > VIEW_LOCKS)
        put_limit(&list, "The first %d of %" PRIu64 " locks are shown", VIEW_LOCKS, locks);
    if (sets > VIEW_FRAME_STRIPS)
        put_limit(&list, "The first %d of %" PRIu64 " sets of frames are shown", VIEW_FRAME_STRIPS,
                  sets);
    if (losses > VIEW_LOSSES)
        put_limit(&list, "The first %d of %" PRIu64 " losses are hatched", VIEW_LOSSES, losses);
    sb_put_char(output, ']');
}
