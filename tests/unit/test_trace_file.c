#include "trace/trace_pack.h"
#include "trace_testing.h"
#include "trace_vector.h"

static const sb_trace_read_options one_thread = {.threads = 1};

static sb_output write_to_memory(const sb_trace *trace, sb_trace_write_options options,
                                 sb_trace_written *written) {
    sb_output output = sb_output_to_memory();
    sb_trace_write(trace, &options, &output, written);
    return output;
}

static sb_trace *read_back(sb_slice bytes, const sb_trace_read_options *options) {
    sb_trace *trace = NULL;
    sb_error error = {0};
    if (sb_trace_read(bytes, options, &trace, &error) != SB_OK)
        fail_msg("%s", error.message);
    return trace;
}

/* Line by line, so that a failure shows the one that differs. */
static void check_same(const sb_trace *trace, const sb_trace *expected) {
    sb_output ours = sb_output_to_memory();
    sb_output theirs = sb_output_to_memory();
    dump_trace(trace, &ours);
    dump_trace(expected, &theirs);
    sb_slice left = sb_output_text(&ours);
    sb_slice right = sb_output_text(&theirs);
    while (left.size > 0 || right.size > 0)
        check_slices(sb_slice_cut(left, '\n', &left), sb_slice_cut(right, '\n', &right));
    sb_output_discard(&ours);
    sb_output_discard(&theirs);
}

/* ---- writing and reading ---- */

static void random_traces_come_back_as_they_were(void **state) {
    (void)state;
    static const sb_trace_write_options ways[] = {
        {.version = SB_TRACE_VERSION_0_11, .compression = SB_TRACE_LZ4},
        {.version = SB_TRACE_VERSION_0_10, .compression = SB_TRACE_LZ4, .level = 9},
        {.version = SB_TRACE_VERSION_0_11, .compression = SB_TRACE_ZSTD},
        {.version = SB_TRACE_VERSION_0_10, .compression = SB_TRACE_ZSTD, .level = 1},
    };
    for (uint64_t seed = 1; seed <= 400; seed++) {
        const sb_trace_write_options *way = &ways[seed % COUNT_OF(ways)];
        sb_trace *trace = make_random_trace(seed);
        sb_trace_written written;
        sb_output file = write_to_memory(trace, *way, &written);
        assert_int_equal(written.adjusted_times, 0);
        assert_int_equal(written.dropped_events, 0);
        sb_trace *back = read_back(sb_output_text(&file), &one_thread);
        assert_int_equal(back->file.version, way->version);
        assert_int_equal(back->file.bad_references, 0);
        assert_int_equal(back->file.body_bytes, written.body_bytes);
        check_same(back, trace);
        sb_trace_free(back);
        sb_trace_free(trace);
        sb_output_discard(&file);
    }
}

static void an_empty_trace_can_be_written(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    sb_output file = write_to_memory(trace, (sb_trace_write_options){0}, NULL);
    sb_trace *back = read_back(sb_output_text(&file), &one_thread);
    check_slice(back->info.program, "unknown");
    assert_int_equal(sb_series_count(&back->frame_sets), 1);
    const sb_frame_set *frames = sb_series_at(&back->frame_sets, 0);
    assert_int_equal(sb_series_count(&frames->frames), 2);
    assert_int_equal(sb_series_count(&back->pools), 1);
    assert_true(back->info.last_time > 0);
    sb_trace_free(back);
    sb_trace_free(trace);
    sb_output_discard(&file);
}

static void large_bodies_span_chunks(void **state) {
    (void)state;
    for (int kind = SB_TRACE_LZ4; kind <= SB_TRACE_ZSTD; kind++) {
        uint64_t random = 5;
        sb_trace *trace = sb_trace_create();
        sb_trace_add_source(trace, &(sb_source){.line = 1});
        sb_track *track =
            sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 1), SB_NONE);
        int64_t time = 0;
        for (int i = 0; i < 50000; i++) {
            time += (int64_t)below(&random, 1000);
            sb_track_begin(track, time, 1);
            time += (int64_t)below(&random, 1000);
            sb_track_end(track, time);
        }
        sb_output file = write_to_memory(
            trace, (sb_trace_write_options){.compression = (sb_trace_compression)kind}, NULL);
        const sb_trace_read_options threads = {.threads = 4};
        sb_trace *back = read_back(sb_output_text(&file), &threads);
        assert_int_equal(sb_track_zone_count(sb_trace_track(back, 0)), 50000);
        assert_int_equal(sb_track_zone_end(sb_trace_track(back, 0), 49999), time);
        sb_trace_free(back);
        sb_trace_free(trace);
        sb_output_discard(&file);
    }
}

/* The body of a file, unpacked. */
static sb_output unpack(sb_slice file) {
    sb_output body = sb_output_to_memory();
    trace_unpacker *unpacker = NULL;
    sb_error error = {0};
    sb_slice chunk;
    assert_int_equal(trace_unpack_begin(&unpacker, file, 1, &error), SB_OK);
    do {
        assert_int_equal(trace_unpack_next(unpacker, &chunk, &error), SB_OK);
        sb_put(&body, chunk);
    } while (chunk.size > 0);
    trace_unpack_end(unpacker);
    return body;
}

static sb_output pack(sb_slice body) {
    sb_output file = sb_output_to_memory();
    trace_packer packer;
    trace_pack_begin(&packer, &(trace_packing){.compression = TRACE_LZ4, .one_stream = true},
                     &file);
    trace_pack_bytes(&packer, body.data, body.size);
    trace_pack_end(&packer);
    return file;
}

/* One stream of several: every so many chunks of the body. */
static sb_output pack_stream(sb_slice body, unsigned stream, unsigned streams) {
    sb_output part = sb_output_to_memory();
    trace_packer packer;
    trace_pack_begin(&packer, &(trace_packing){.compression = TRACE_ZSTD, .one_stream = true},
                     &part);
    body = sb_slice_after(body, (size_t)stream * TRACE_CHUNK_SIZE);
    while (body.size > 0) {
        const sb_slice chunk = sb_slice_first(body, TRACE_CHUNK_SIZE);
        trace_pack_bytes(&packer, chunk.data, chunk.size);
        body = sb_slice_after(body, (size_t)streams * TRACE_CHUNK_SIZE);
    }
    trace_pack_end(&packer);
    return part;
}

/* A file of several streams: each chunk belongs to the next stream. */
static sb_output pack_streams(sb_slice body, unsigned streams) {
    enum { HEADER_SIZE = 4, LENGTH_SIZE = 4 };
    const size_t chunks = (body.size + TRACE_CHUNK_SIZE - 1) / TRACE_CHUNK_SIZE;
    sb_output file = sb_output_to_memory();
    sb_output *parts = sb_alloc_zeroed(streams, sizeof *parts);
    sb_slice *rests = sb_alloc_zeroed(streams, sizeof *rests);
    for (unsigned i = 0; i < streams; i++) {
        parts[i] = pack_stream(body, i, streams);
        rests[i] = sb_slice_after(sb_output_text(&parts[i]), HEADER_SIZE);
    }
    sb_put(&file, (sb_slice){"tr\xfdP\1", 5});
    sb_put_char(&file, (char)streams);
    for (size_t i = 0; i < chunks; i++) {
        sb_slice *rest = &rests[i % streams];
        const size_t size = LENGTH_SIZE + load_le32((const uint8_t *)rest->data);
        sb_put(&file, sb_slice_first(*rest, size));
        *rest = sb_slice_after(*rest, size);
    }
    for (unsigned i = 0; i < streams; i++)
        sb_output_discard(&parts[i]);
    free(parts);
    free(rests);
    return file;
}

static void streams_are_put_together_in_order(void **state) {
    (void)state;
    static const unsigned stream_counts[] = {1, 2, 4, 17, 255};
    sb_trace *trace = sb_trace_create();
    char text[100] = "";
    for (int i = 0; i < 12000; i++) {
        snprintf(text, sizeof text, "text number %d of the many", i * 7919);
        sb_trace_add_string(trace, sb_slice_of(text));
    }
    sb_output file = write_to_memory(trace, (sb_trace_write_options){0}, NULL);
    sb_output body = unpack(sb_output_text(&file));
    for (size_t i = 0; i < COUNT_OF(stream_counts); i++) {
        sb_output streams = pack_streams(sb_output_text(&body), stream_counts[i]);
        for (unsigned threads = 1; threads < 4; threads++) {
            const sb_trace_read_options options = {.threads = threads};
            sb_trace *back = read_back(sb_output_text(&streams), &options);
            assert_int_equal(back->file.stream_count, stream_counts[i]);
            check_slice(sb_trace_text(back, 12000), text);
            sb_trace_free(back);
        }
        sb_output_discard(&streams);
    }
    sb_output_discard(&body);
    sb_output_discard(&file);
    sb_trace_free(trace);
}

/* Zones within zones, so many that every stream has several chunks. */
static sb_trace *make_long_trace(void) {
    enum { ZONES = 100000, DEPTH = 7 };
    sb_trace *trace = sb_trace_create();
    sb_trace_add_source(trace, &(sb_source){.line = 1});
    sb_track *track =
        sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 1), SB_NONE);
    uint64_t noise = 1;
    int64_t time = 0;
    unsigned depth = 0;
    for (unsigned i = 0; i < ZONES; i++) {
        noise = noise * 6364136223846793005U + 1442695040888963407U;
        sb_track_begin(track, time += (int64_t)(noise >> 50), 1);
        depth++;
        for (unsigned ends = noise >> 20 & 3; (ends > 1 || depth > DEPTH) && depth > 0; ends--) {
            sb_track_end(track, time += (int64_t)(noise >> 54));
            depth--;
        }
    }
    for (; depth > 0; depth--)
        sb_track_end(track, ++time);
    return trace;
}

static void check_same_zones(const sb_track *track, const sb_track *expected) {
    assert_int_equal(sb_track_zone_count(track), sb_track_zone_count(expected));
    for (uint32_t i = 0; i < sb_track_zone_count(expected); i++) {
        assert_int_equal(sb_track_zone_start(track, i), sb_track_zone_start(expected, i));
        assert_int_equal(sb_track_zone_end(track, i), sb_track_zone_end(expected, i));
        assert_int_equal(sb_track_zone_parent(track, i), sb_track_zone_parent(expected, i));
    }
}

/* The file is the same whichever thread was quicker. */
static void long_traces_are_packed_in_streams(void **state) {
    (void)state;
    static const struct {
        sb_trace_write_options options;
        unsigned streams;
    } ways[] = {
        {{.compression = SB_TRACE_LZ4}, 4},
        {{.compression = SB_TRACE_LZ4, .level = 9}, 4},
        {{.compression = SB_TRACE_ZSTD}, 4},
        {{.compression = SB_TRACE_ZSTD, .level = 1}, 4},
        {{.version = SB_TRACE_VERSION_0_10, .compression = SB_TRACE_LZ4}, 1},
        {{.version = SB_TRACE_VERSION_0_10, .compression = SB_TRACE_ZSTD}, 1},
    };
    sb_trace *trace = make_long_trace();
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        sb_output file = write_to_memory(trace, ways[i].options, NULL);
        sb_output again = write_to_memory(trace, ways[i].options, NULL);
        check_slices(sb_output_text(&again), sb_output_text(&file));
        sb_trace *back = read_back(sb_output_text(&file), &one_thread);
        assert_int_equal(back->file.stream_count, ways[i].streams);
        assert_true(back->file.body_bytes > UINT64_C(30) * TRACE_CHUNK_SIZE);
        check_same_zones(sb_trace_track(back, 0), sb_trace_track(trace, 0));
        sb_trace_free(back);
        sb_output_discard(&again);
        sb_output_discard(&file);
    }
    sb_trace_free(trace);
}

/* ---- the vector ---- */

static void the_vector_is_read_to_the_last_byte(void **state) {
    (void)state;
    static char bytes[VECTOR_SIZE + 2];
    sb_trace *trace = read_back(decode_vector(bytes), &one_thread);
    assert_int_equal(trace->file.version, SB_TRACE_VERSION_0_10);
    assert_int_equal(trace->file.body_bytes, 4494);
    assert_int_equal(trace->file.section_bytes[9], 945 - 291);
    assert_int_equal(trace->file.section_bytes[23], 1916 - 1606);
    assert_int_equal(trace->file.section_bytes[32], 2056);
    assert_int_equal(sb_trace_zone_count(trace, false), 6);
    assert_int_equal(sb_trace_zone_count(trace, true), 3);
    assert_int_equal(sb_series_count(&trace->messages), 3);
    check_slice(sb_trace_text(trace, sb_trace_thread_at(trace, 1)->name), "main thread");
    const sb_context *context = sb_trace_context(trace, 0);
    check_slice(sb_trace_text(trace, context->name), "Device: 0, Core (1,2)");
    assert_int_equal(context->type, 6);
    check_slice(sb_trace_text(trace, ((sb_plot *)sb_series_at(&trace->plots, 0))->name), "plot A");
    sb_output file =
        write_to_memory(trace, (sb_trace_write_options){.version = SB_TRACE_VERSION_0_10}, NULL);
    sb_trace *back = read_back(sb_output_text(&file), &one_thread);
    check_same(back, trace);
    sb_trace_free(back);
    sb_output_discard(&file);
    sb_trace_free(trace);
}

/* ---- traces that do not fit ---- */

static void zones_that_do_not_nest_are_made_to(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    sb_trace_add_source(trace, &(sb_source){.line = 1});
    sb_track *track =
        sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 1), SB_NONE);
    sb_track_begin(track, 100, 1);
    sb_track_begin(track, 50, 1); /* before the one around it */
    sb_track_end(track, 500);     /* and after it */
    sb_track_begin(track, 120, 1);
    sb_track_end(track, SB_NO_TIME);
    sb_track_end(track, 200);
    sb_track_begin(track, -5, 0);
    sb_track_end(track, INT64_MAX);
    sb_trace_written written;
    sb_output file = write_to_memory(trace, (sb_trace_write_options){0}, &written);
    assert_true(written.adjusted_times > 0);
    sb_trace *back = read_back(sb_output_text(&file), &one_thread);
    const sb_track *fixed = sb_trace_track(back, 0);
    assert_int_equal(sb_track_zone_count(fixed), 4);
    assert_false(fixed->unsorted);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t parent = sb_track_zone_parent(fixed, i);
        assert_true(sb_track_zone_end(fixed, i) >= sb_track_zone_start(fixed, i));
        if (parent != SB_NONE)
            assert_true(sb_track_zone_end(fixed, i) <= sb_track_zone_end(fixed, parent));
    }
    assert_int_equal(sb_track_zone_end(fixed, 3), (INT64_C(1) << 47) - 1);
    check_slice(sb_trace_source_name(back, sb_track_zone_source(fixed, 3)), "???");
    sb_trace_free(back);
    sb_output_discard(&file);
    sb_trace_free(trace);
}

static void check_sources(uint32_t count, uint64_t folded) {
    sb_trace *trace = sb_trace_create();
    sb_track *track =
        sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 1), SB_NONE);
    for (uint32_t i = 1; i <= count; i++) {
        sb_track_begin(track, i, sb_trace_add_source(trace, &(sb_source){.line = i}));
        sb_track_end(track, i + 1);
    }
    sb_trace_written written;
    sb_output file = write_to_memory(trace, (sb_trace_write_options){0}, &written);
    assert_int_equal(written.folded_sources, folded);
    sb_trace *back = read_back(sb_output_text(&file), &one_thread);
    assert_int_equal(back->file.bad_references, 0);
    const sb_track *read = sb_trace_track(back, 0);
    for (uint32_t i = 1; i <= count - folded; i++)
        assert_int_equal(sb_trace_source(back, sb_track_zone_source(read, i - 1))->line, i);
    if (folded > 0)
        check_slice(sb_trace_source_name(back, sb_track_zone_source(read, count - 1)),
                    "(more source locations)");
    sb_trace_free(back);
    sb_output_discard(&file);
    sb_trace_free(trace);
}

static void many_sources_are_folded_into_one(void **state) {
    (void)state;
    check_sources(32767, 0);
    check_sources(32768, 0);
    check_sources(65533, 0);
    check_sources(65534, 2);
    check_sources(70000, 70000 - 65532);
}

static void group_hints_that_are_left_out_are_counted(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    for (uint64_t id = 1; id <= 3; id++) {
        sb_track *track =
            sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, id), SB_NONE);
        track->group_hint = id == 3 ? 0 : -(int32_t)id;
    }
    sb_trace_written written = {0};
    sb_output file = write_to_memory(trace, (sb_trace_write_options){0}, &written);
    assert_int_equal(written.dropped_hints, 2);
    sb_output_discard(&file);
    sb_trace_free(trace);
}

static void lanes_get_names_that_old_viewers_have(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    sb_trace_add_source(trace, &(sb_source){.line = 1});
    sb_context *context = sb_trace_add_context(trace);
    context->type = 6;
    sb_track *track = sb_trace_add_track(trace, SB_TRACK_LANE, sb_trace_thread(trace, 15), 0);
    sb_track_begin(track, 1, 1);
    sb_track_end(track, 2);
    sb_trace_add_context(trace); /* without lanes: left out */
    sb_trace_written written;
    sb_output file = write_to_memory(
        trace, (sb_trace_write_options){.version = SB_TRACE_VERSION_0_10}, &written);
    sb_trace *back = read_back(sb_output_text(&file), &one_thread);
    assert_int_equal(sb_series_count(&back->contexts), 1);
    assert_int_equal(sb_trace_track(back, 0)->lane_id & 7, 6);
    assert_int_equal(written.changed_contexts, 0);
    sb_trace_free(back);
    sb_output_discard(&file);
    file = write_to_memory(trace, (sb_trace_write_options){0}, &written);
    assert_int_equal(written.changed_contexts, 1);
    sb_output_discard(&file);
    sb_trace_free(trace);
}

/* ---- files that are broken ---- */

static void cut_files_give_what_stands_before_the_cut(void **state) {
    (void)state;
    static char bytes[VECTOR_SIZE + 2];
    sb_output body = unpack(decode_vector(bytes));
    const sb_slice whole = sb_output_text(&body);
    for (size_t size = 0; size < whole.size; size += size < 3000 ? 1 : 37) {
        sb_output file = pack(sb_slice_first(whole, size));
        sb_trace *trace = NULL;
        sb_error error = {0};
        assert_int_equal(sb_trace_read(sb_output_text(&file), &one_thread, &trace, &error),
                         SB_ERR_FORMAT);
        check_contains(sb_slice_of(error.message), "section ");
        assert_int_equal(trace != NULL, size >= 8);
        if (size > 1800)
            assert_true(sb_trace_zone_count(trace, false) >= 4);
        if (trace != NULL)
            assert_int_equal(sb_series_count(&trace->losses), 1);
        sb_trace_free(trace);
        sb_output_discard(&file);
    }
    sb_output_discard(&body);
    for (size_t size = 0; size < VECTOR_SIZE - 4; size += 7) {
        sb_trace *trace = NULL;
        sb_error error = {0};
        const sb_slice cut = {bytes, size};
        assert_int_equal(sb_trace_read(cut, &one_thread, &trace, &error), SB_ERR_FORMAT);
        sb_trace_free(trace);
    }
}

static void changed_bytes_never_break_the_reader(void **state) {
    (void)state;
    uint64_t random = 11;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sb_trace *trace = make_random_trace(seed);
        sb_output file = write_to_memory(trace, (sb_trace_write_options){0}, NULL);
        sb_output body = unpack(sb_output_text(&file));
        const size_t size = sb_output_text(&body).size;
        for (int i = 0; i < 100; i++) {
            char *changed = sb_alloc(size);
            memcpy(changed, sb_output_text(&body).data, size);
            for (uint64_t k = 1 + below(&random, 4); k > 0; k--)
                changed[8 + below(&random, size - 8)] =
                    (char)(one_in(&random, 3) ? 255 : below(&random, 256));
            sb_output packed = pack((sb_slice){changed, size});
            sb_trace *back = NULL;
            sb_error error = {0};
            sb_trace_read(sb_output_text(&packed), &one_thread, &back, &error);
            if (back != NULL) {
                sb_output again = write_to_memory(back, (sb_trace_write_options){0}, NULL);
                sb_output_discard(&again);
            }
            sb_trace_free(back);
            sb_output_discard(&packed);
            free(changed);
        }
        sb_output_discard(&body);
        sb_output_discard(&file);
        sb_trace_free(trace);
    }
}

static void strange_files_are_refused(void **state) {
    (void)state;
    static const struct {
        sb_slice bytes;
        const char *reason;
    } cases[] = {
        {SB_SLICE(""), "not a .tracy file"},
        {SB_SLICE("tlZ"), "not a .tracy file"},
        {SB_SLICE("hello, world"), "not a .tracy file"},
        {SB_SLICE("tr\xfdP\2\1"), "compression 2"},
        {SB_SLICE("tr\xfdP\0\0"), "0 streams"},
        {SB_SLICE("tlZ\4"), "too early"},
        {SB_SLICE("tlZ\4\xff\xff\xff\xff"), "ends inside block 0"},
        {SB_SLICE("tZst\4\0\0\0abcd"), "cannot be decoded"},
        {SB_SLICE("tlZ\4\xa\0\0\0\x90tracx\0\xa\0\0"), "does not begin with"},
        {SB_SLICE("tlZ\4\xa\0\0\0\x90tracy\0\x8\0\0"), "older than 0.9.0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_trace *trace = NULL;
        sb_error error = {0};
        assert_int_equal(sb_trace_read(cases[i].bytes, &one_thread, &trace, &error), SB_ERR_FORMAT);
        check_contains(sb_slice_of(error.message), cases[i].reason);
        assert_null(trace);
    }
}

static void deep_nesting_uses_no_stack(void **state) {
    (void)state;
    enum { DEPTH = 300000 };
    sb_trace *trace = sb_trace_create();
    sb_trace_add_source(trace, &(sb_source){.line = 1});
    sb_track *track =
        sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 1), SB_NONE);
    for (int64_t i = 0; i < DEPTH; i++)
        sb_track_begin(track, i, 1);
    for (int64_t i = DEPTH; i > 0; i--)
        sb_track_end(track, 2 * DEPTH - i);
    sb_output file = write_to_memory(trace, (sb_trace_write_options){0}, NULL);
    sb_trace *back = read_back(sb_output_text(&file), &one_thread);
    const sb_track *deep = sb_trace_track(back, 0);
    assert_int_equal(sb_track_zone_parent(deep, DEPTH - 1), DEPTH - 2);
    sb_trace_free(back);
    sb_output_discard(&file);
    sb_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces_come_back_as_they_were),
        cmocka_unit_test(an_empty_trace_can_be_written),
        cmocka_unit_test(large_bodies_span_chunks),
        cmocka_unit_test(streams_are_put_together_in_order),
        cmocka_unit_test(long_traces_are_packed_in_streams),
        cmocka_unit_test(the_vector_is_read_to_the_last_byte),
        cmocka_unit_test(zones_that_do_not_nest_are_made_to),
        cmocka_unit_test(many_sources_are_folded_into_one),
        cmocka_unit_test(group_hints_that_are_left_out_are_counted),
        cmocka_unit_test(lanes_get_names_that_old_viewers_have),
        cmocka_unit_test(cut_files_give_what_stands_before_the_cut),
        cmocka_unit_test(changed_bytes_never_break_the_reader),
        cmocka_unit_test(strange_files_are_refused),
        cmocka_unit_test(deep_nesting_uses_no_stack),
    };
    return RUN(tests);
}
