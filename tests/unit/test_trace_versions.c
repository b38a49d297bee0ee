#include "trace_versions.h"

#include "trace/trace.h"
#include "trace/trace_pack.h"

static sb_trace *read_body(sb_slice body) {
    sb_output file = sb_output_to_memory();
    trace_packer packer;
    trace_pack_begin(&packer, &(trace_packing){.compression = TRACE_ZSTD, .one_stream = true},
                     &file);
    trace_pack_bytes(&packer, body.data, body.size);
    trace_pack_end(&packer);
    sb_trace *trace = NULL;
    sb_error error = {0};
    const sb_trace_read_options options = {.threads = 1};
    const sb_status status = sb_trace_read(sb_output_text(&file), &options, &trace, &error);
    if (status != SB_OK)
        fail_msg("%s", error.message);
    sb_output_discard(&file);
    return trace;
}

static void check_opaque(const sb_trace *trace) {
    /* Without the die, and with a reason that old readers understand. */
    static const char topology[] =
        "\1\0\0\0\0\0\0\0\5\0\0\0\1\0\0\0\0\0\0\0\7\0\0\0\1\0\0\0\0\0\0\0"
        "\10\0\0";
    const sb_slice kept = trace->opaque[SB_OPAQUE_TOPOLOGY];
    assert_int_equal(kept.size, sizeof topology);
    assert_memory_equal(kept.data, topology, sizeof topology);
    const sb_slice switches = trace->opaque[SB_OPAQUE_CONTEXT_SWITCHES];
    assert_int_equal(switches.size, 8 + 8 + 8 + 35);
    assert_int_equal(switches.data[24 + 25], 100);
}

static void check_version(uint32_t version, bool tenstorrent) {
    sb_output body = make_versioned_body(version, tenstorrent);
    sb_trace *trace = read_body(sb_output_text(&body));
    assert_int_equal(trace->file.version, version);
    assert_int_equal(trace->file.body_bytes, sb_output_text(&body).size);
    assert_int_equal(trace->file.bad_references, 0);
    assert_int_equal(trace->info.on_demand, version >= VERSION(0, 9, 2));
    const sb_track *track = sb_trace_track(trace, 0);
    assert_int_equal(sb_track_zone_start(track, 0), 100);
    assert_int_equal(sb_track_zone_end(track, 0), 150);
    assert_int_equal(track->group_hint, version >= VERSION(0, 11, 1) ? -4 : 0);
    check_slice(sb_trace_source_name(trace, sb_track_zone_source(track, 0)), "zone name");
    const sb_message *message = sb_series_at(&trace->messages, 0);
    assert_int_equal(message->severity, version >= VERSION(0, 13, 2) ? 4 : 2);
    assert_int_equal(message->thread, 1);
    const sb_track *lane = sb_trace_track(trace, 1);
    assert_int_equal(sb_track_zone_start(lane, 0), 210);
    assert_int_equal(sb_track_zone_end(lane, 0), 240);
    const sb_context *context = sb_trace_context(trace, 0);
    check_slice(sb_trace_text(trace, context->name), "text");
    assert_int_equal(sb_series_count(&context->values), version >= VERSION(0, 12, 4) ? 1 : 0);
    const bool has_markers = tenstorrent && version >= VERSION(0, 13, 4);
    assert_int_equal(sb_series_count(&context->markers), has_markers ? 1 : 0);
    assert_int_equal(trace->file.tenstorrent, has_markers);
    check_opaque(trace);
    sb_trace_free(trace);
    sb_output_discard(&body);
}

static void every_version_is_read(void **state) {
    (void)state;
    static const uint32_t versions[] = {
        VERSION(0, 9, 0),  VERSION(0, 9, 1),  VERSION(0, 9, 2),  VERSION(0, 10, 0),
        VERSION(0, 11, 0), VERSION(0, 11, 1), VERSION(0, 11, 2), VERSION(0, 11, 3),
        VERSION(0, 12, 0), VERSION(0, 12, 2), VERSION(0, 12, 3), VERSION(0, 12, 4),
        VERSION(0, 13, 0), VERSION(0, 13, 1), VERSION(0, 13, 2), VERSION(0, 13, 3),
        VERSION(0, 13, 4), VERSION(0, 13, 5), VERSION(0, 13, 6), VERSION(0, 14, 0),
        VERSION(0, 14, 9), VERSION(1, 0, 0),
    };
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        check_version(versions[i], false);
        check_version(versions[i], true);
    }
}

static void what_follows_the_last_section_is_an_error(void **state) {
    (void)state;
    sb_output body = make_versioned_body(VERSION(0, 11, 0), false);
    sb_put_char(&body, 'x');
    sb_output file = sb_output_to_memory();
    trace_packer packer;
    trace_pack_begin(&packer, &(trace_packing){.compression = TRACE_LZ4, .one_stream = true},
                     &file);
    trace_pack_bytes(&packer, sb_output_text(&body).data, sb_output_text(&body).size);
    trace_pack_end(&packer);
    sb_trace *trace = NULL;
    sb_error error = {0};
    const sb_trace_read_options options = {.threads = 1};
    assert_int_equal(sb_trace_read(sb_output_text(&file), &options, &trace, &error), SB_ERR_FORMAT);
    check_contains(sb_slice_of(error.message), "bytes follow");
    assert_int_equal(sb_trace_zone_count(trace, false), 1);
    sb_trace_free(trace);
    sb_output_discard(&file);
    sb_output_discard(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_is_read),
        cmocka_unit_test(what_follows_the_last_section_is_an_error),
    };
    return RUN(tests);
}
