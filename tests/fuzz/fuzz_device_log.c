/*
 * The reader of device logs: any bytes, twice, with the same result; and rows that look like
 * earlier ones give the same read quickly and thoroughly.
 */
#include <assert.h>

#include "report/report.h"
#include "report/report_programs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const report_marker *a, const report_marker *b) {
    assert(sb_slice_equal(a->place, b->place) && sb_slice_equal(a->processor, b->processor));
    assert(a->device == b->device && a->core_x == b->core_x && a->core_y == b->core_y);
    assert(a->timer == b->timer && a->type == b->type && a->time == b->time);
    assert(a->data == b->data && a->program == b->program);
    assert(a->trace == b->trace && a->session == b->session);
    assert(sb_slice_equal(a->zone, b->zone) && sb_slice_equal(a->file, b->file));
    assert(sb_slice_equal(a->line, b->line) && sb_slice_equal(a->meta, b->meta));
}

static void read_both_ways(sb_slice text) {
    static report_log quick;
    static report_log thorough;
    report_marker left;
    report_marker right;
    report_log_begin(&quick, text);
    report_log_begin(&thorough, text);
    thorough.has_todays_columns = false; /* nothing is remembered */
    while (report_log_next(&thorough, &right)) {
        const bool has_row = report_log_next(&quick, &left);
        assert(has_row);
        check_same(&left, &right);
    }
    const bool has_more = report_log_next(&quick, &left);
    assert(!has_more);
    assert(quick.rows == thorough.rows && quick.line == thorough.line);
    assert(quick.bad_rows == thorough.bad_rows && quick.is_cut == thorough.is_cut);
}

/* Whatever a log says, its lanes are in order and no zone ends before it begins. */
static void make_lanes(sb_slice text) {
    sb_trace *trace = sb_trace_create();
    sb_report_device_flaws flaws;
    sb_report_add_lanes(text, trace, &flaws);
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
        const sb_track *track = sb_trace_track(trace, i);
        assert(!sb_track_is_unsorted(track) && !sb_track_is_overlapping(track));
        for (uint32_t zone = 0; zone < sb_track_zone_count(track); zone++) {
            const int64_t end = sb_track_zone_end(track, zone);
            assert(end == SB_NO_TIME || end >= sb_track_zone_start(track, zone));
        }
    }
    sb_trace_find_ops(trace);
    sb_trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    make_lanes((sb_slice){(const char *)data, size});
    read_both_ways((sb_slice){(const char *)data, size});
    sb_file file = sb_file_of((sb_slice){(const char *)data, size});
    report_device_log first;
    report_device_log second;
    report_read_device_log(&first, &file, NULL);
    report_read_device_log(&second, &file, NULL);
    assert(first.programs.count == second.programs.count);
    assert(first.findings.count == second.findings.count);
    for (size_t i = 0; i < first.programs.count; i++) {
        const report_program *program = report_program_at(&first, i);
        assert(program->id == report_program_at(&second, i)->id);
        assert(program->first == report_program_at(&second, i)->first);
    }
    report_device_log_free(&first);
    report_device_log_free(&second);
    return 0;
}
