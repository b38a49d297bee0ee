/*
 * From streams to traces, in every protocol: journals made with the encoder, and recovered.
 */
#include "capture/capture.h"
#include "testing.h"

/* ---- making a journal ---- */

typedef struct maker {
    sb_journal_writer journal;
    sb_wire_encoder *encoder;
    test_folder folder;
    const char *path;
} maker;

static bool to_journal(void *context, const void *bytes, size_t size) {
    maker *of = context;
    return sb_journal_append(&of->journal, SB_JOURNAL_FRAMES, (sb_slice){bytes, size}, NULL) ==
           SB_OK;
}

static void begin(maker *of, const sb_wire_protocol *protocol) {
    of->folder = make_folder();
    of->path = path_in(&of->folder, "journal");
    const sb_journal_start start = {
        .protocol = sb_wire_protocol_number(protocol),
        .flavour = sb_wire_protocol_flavour(protocol),
        .is_certain = true,
        .welcome = {
            .timer_multiplier = 1, .init_begin = 1000, .init_end = 1500, .program = "made"}};
    assert_int_equal(sb_journal_create(&of->journal, of->path, false, NULL), SB_OK);
    assert_int_equal(sb_journal_append_start(&of->journal, &start, NULL), SB_OK);
    of->encoder = sb_wire_encoder_create(protocol, to_journal, of);
}

static bool put(maker *of, sb_wire_event event) {
    return sb_wire_encode(of->encoder, &event);
}

static void asked(maker *of, uint64_t token) {
    assert_true(sb_wire_encoder_flush(of->encoder));
    assert_int_equal(sb_journal_append(&of->journal, SB_JOURNAL_ASKED,
                                       (sb_slice){(const char *)&token, sizeof token}, NULL),
                     SB_OK);
}

static sb_trace *recover(maker *of, sb_capture_report *report) {
    static const char ended = SB_JOURNAL_PROGRAM_ENDED;
    sb_file file;
    sb_trace *trace = NULL;
    sb_error damage = {0};
    sb_error error = {0};
    assert_true(sb_wire_encoder_flush(of->encoder));
    assert_int_equal(sb_journal_append(&of->journal, SB_JOURNAL_END, (sb_slice){&ended, 1}, NULL),
                     SB_OK);
    sb_journal_close(&of->journal);
    sb_wire_encoder_free(of->encoder);
    assert_int_equal(sb_file_open(&file, of->path, &error), SB_OK);
    const sb_capture_recover_options options = {0};
    if (sb_capture_recover(file.text, &options, &trace, report, &damage, &error) != SB_OK)
        fail_msg("%s", error.message);
    assert_int_equal(damage.status, SB_OK);
    sb_file_close(&file);
    remove_folder(&of->folder);
    return trace;
}

static uint64_t fault_count(const sb_capture_report *report, const char *part) {
    for (size_t i = 0; i < report->fault_count; i++) {
        if (strstr(report->faults[i].what, part) != NULL)
            return report->faults[i].count;
    }
    return 0;
}

static sb_slice text_of(const sb_trace *trace, sb_string string) {
    return sb_trace_text(trace, string);
}

/* ---- in every protocol ---- */

static void put_zones(maker *of) {
    const sb_wire_zone zones[] = {{2000, 0x111}, {2100, 0x222}, {2200, SB_WIRE_END_ZONE}};
    sb_wire_encode_thread(of->encoder, 5);
    sb_wire_encode_zones(of->encoder, zones, COUNT_OF(zones));
    put(of, (sb_wire_event){.kind = SB_WIRE_ZONE_TEXT, .thread = 5, .text = SB_SLICE("one")});
    put(of, (sb_wire_event){.kind = SB_WIRE_ZONE_TEXT, .thread = 5, .text = SB_SLICE("two")});
    put(of, (sb_wire_event){.kind = SB_WIRE_ZONE_NAME, .thread = 5, .text = SB_SLICE("named")});
    put(of, (sb_wire_event){.kind = SB_WIRE_ZONE_COLOUR, .thread = 5, .colour = 0x112233});
    put(of, (sb_wire_event){.kind = SB_WIRE_ZONE_END, .thread = 5, .time = 2500});
    asked(of, 0x111);
    put(of, (sb_wire_event){.kind = SB_WIRE_SOURCE_LOCATION,
                            .token = 0x31,
                            .function = 0x32,
                            .file = 0x33,
                            .line = 12,
                            .colour = 0x0000ff});
    put(of, (sb_wire_event){.kind = SB_WIRE_STRING, .token = 0x32, .text = SB_SLICE("function")});
    put(of, (sb_wire_event){.kind = SB_WIRE_STRING, .token = 0x31, .text = SB_SLICE("zone")});
    put(of, (sb_wire_event){.kind = SB_WIRE_THREAD_NAME, .token = 5, .text = SB_SLICE("thread")});
}

static void zones_names_and_notes_are_kept(void **state) {
    (void)state;
    for (size_t i = 0; i < sb_wire_protocol_count(); i++) {
        maker of;
        sb_capture_report report;
        begin(&of, sb_wire_protocol_at(i));
        put_zones(&of);
        sb_trace *trace = recover(&of, &report);
        assert_int_equal(report.last.zones, 2);
        const sb_track *track = sb_trace_track(trace, 0);
        assert_int_equal(sb_track_zone_count(track), 2);
        assert_int_equal(sb_track_zone_start(track, 0), 1000);
        assert_int_equal(sb_track_zone_end(track, 0), 1500);
        assert_int_equal(sb_track_zone_start(track, 1), 1100);
        assert_int_equal(sb_track_zone_end(track, 1), 1200);
        assert_int_equal(sb_track_zone_parent(track, 1), 0);
        const sb_zone_note *note = sb_trace_zone_note(trace, track, 0);
        check_slice(text_of(trace, note->text), "one\ntwo");
        check_slice(text_of(trace, note->name), "named");
        assert_int_equal(note->colour, 0x332211);
        const sb_source *source = sb_trace_source(trace, sb_track_zone_source(track, 0));
        check_slice(text_of(trace, source->name), "zone");
        check_slice(text_of(trace, source->function), "function");
        assert_int_equal(source->line, 12);
        assert_int_equal(source->colour, 0xff0000);
        check_slice(text_of(trace, sb_trace_thread_at(trace, track->thread)->name), "thread");
        assert_int_equal(report.fault_count, 0);
        sb_trace_free(trace);
    }
}

static void everything_else_is_kept_in_every_protocol(void **state) {
    (void)state;
    for (size_t i = 0; i < sb_wire_protocol_count(); i++) {
        maker of;
        sb_capture_report report;
        begin(&of, sb_wire_protocol_at(i));
        put(&of, (sb_wire_event){.kind = SB_WIRE_MESSAGE,
                                 .form = SB_WIRE_LITERAL | SB_WIRE_WITH_COLOUR,
                                 .thread = 5,
                                 .time = 3000,
                                 .token = 0x77,
                                 .colour = 0x00ff00,
                                 .metadata = 0x30});
        put(&of, (sb_wire_event){.kind = SB_WIRE_STRING, .token = 0x77, .text = SB_SLICE("hello")});
        put(&of, (sb_wire_event){.kind = SB_WIRE_FRAME, .time = 3100});
        put(&of, (sb_wire_event){.kind = SB_WIRE_FRAME_START, .time = 3200, .token = 0x88});
        put(&of, (sb_wire_event){.kind = SB_WIRE_FRAME_END, .time = 3300, .token = 0x88});
        put(&of,
            (sb_wire_event){
                .kind = SB_WIRE_PLOT_INT, .thread = 5, .time = 3400, .token = 0x91, .value = 4});
        put(&of, (sb_wire_event){.kind = SB_WIRE_PLOT_DOUBLE,
                                 .thread = 5,
                                 .time = 3500,
                                 .token = 0x92,
                                 .number = 2.5});
        put(&of, (sb_wire_event){.kind = SB_WIRE_PLOT_CONFIG,
                                 .token = 0x91,
                                 .type = 1,
                                 .step = 1,
                                 .fill = 0,
                                 .colour = 0x010203});
        put(&of, (sb_wire_event){.kind = SB_WIRE_PLOT_NAME, .token = 0x91, .text = SB_SLICE("p")});
        put(&of, (sb_wire_event){.kind = SB_WIRE_PLOT_NAME, .token = 0x92, .text = SB_SLICE("p")});
        put(&of, (sb_wire_event){.kind = SB_WIRE_MEMORY_ALLOC,
                                 .form = SB_WIRE_NAMED,
                                 .pool = 0x99,
                                 .time = 3600,
                                 .thread = 5,
                                 .token = 0xA000,
                                 .size = 64});
        put(&of, (sb_wire_event){.kind = SB_WIRE_MEMORY_FREE,
                                 .form = SB_WIRE_NAMED,
                                 .pool = 0x99,
                                 .time = 3700,
                                 .thread = 5,
                                 .token = 0xA000});
        put(&of,
            (sb_wire_event){.kind = SB_WIRE_LOCK_ANNOUNCE, .id = 3, .time = 3800, .token = 0x111});
        put(&of, (sb_wire_event){.kind = SB_WIRE_LOCK_WAIT, .id = 3, .time = 3810, .thread = 5});
        put(&of, (sb_wire_event){.kind = SB_WIRE_LOCK_OBTAIN, .id = 3, .time = 3820, .thread = 5});
        put(&of, (sb_wire_event){.kind = SB_WIRE_LOCK_RELEASE, .id = 3, .time = 3830});
        put(&of, (sb_wire_event){.kind = SB_WIRE_APP_INFO, .time = 1, .text = SB_SLICE("info")});
        put(&of,
            (sb_wire_event){.kind = SB_WIRE_APP_INFO,
                            .time = 1,
                            .text = SB_SLICE("strobe lost count=7 from=0 thread=5 cause=1 x")});
        sb_trace *trace = recover(&of, &report);
        const sb_message *message = sb_series_at(&trace->messages, 0);
        check_slice(text_of(trace, message->text), "hello");
        assert_int_equal(message->time, 2000);
        assert_int_equal(message->severity,
                         sb_wire_protocol_has_severities(sb_wire_protocol_at(i)) ? 3 : 2);
        assert_int_equal(message->colour, 0xff00ff00);
        assert_int_equal(sb_series_count(&trace->frame_sets), 2);
        const sb_frame_set *named = sb_series_at(&trace->frame_sets, 1);
        assert_int_equal(((const sb_frame *)sb_series_at(&named->frames, 0))->end, 2300);
        const sb_plot *plot = sb_series_at(&trace->plots, 0);
        assert_int_equal(sb_series_count(&plot->points), 2); /* two tokens, one name */
        assert_int_equal(plot->format, 1);
        assert_int_equal(plot->steps, 1);
        assert_int_equal(plot->fill, 0);
        assert_int_equal(plot->colour, 0x030201);
        const sb_memory_pool *pool = sb_series_at(&trace->pools, 0);
        assert_int_equal(((const sb_memory_event *)sb_series_at(&pool->events, 0))->freed, 2700);
        const sb_lock *lock = sb_series_at(&trace->locks, 0);
        assert_int_equal(sb_series_count(&lock->events), 3);
        assert_int_equal(sb_series_count(&trace->app_info), 1);
        const sb_loss *loss = sb_series_at(&trace->losses, 0);
        assert_int_equal(loss->count, 7);
        assert_int_equal(loss->thread, sb_trace_thread(trace, 5));
        assert_int_equal(report.fault_count, 0);
        sb_trace_free(trace);
    }
}

/* ---- devices ---- */

static void put_context(maker *of, uint16_t context) {
    put(of, (sb_wire_event){.kind = SB_WIRE_DEVICE_CONTEXT,
                            .time = 2000,
                            .device_time = 500,
                            .number = 1,
                            .context = context,
                            .type = 6,
                            .flags = 1});
    put(of, (sb_wire_event){.kind = SB_WIRE_DEVICE_CONTEXT_NAME,
                            .context = context,
                            .text = SB_SLICE("Device: 0")});
}

static void put_step(maker *of, sb_wire_kind kind, uint16_t query) {
    put(of, (sb_wire_event){.kind = (uint8_t)kind,
                            .form = kind == SB_WIRE_DEVICE_BEGIN ? SB_WIRE_SERIAL | SB_WIRE_DYNAMIC
                                                                 : SB_WIRE_SERIAL,
                            .time = 2100,
                            .thread = 9,
                            .query = query,
                            .context = 200,
                            .text = SB_SLICE("BRISC-FW"),
                            .function_text = SB_SLICE("OP ID:1"),
                            .file_text = SB_SLICE("k.cpp"),
                            .line = 3});
}

static void put_time(maker *of, uint16_t query, int64_t time) {
    put(of, (sb_wire_event){
                .kind = SB_WIRE_DEVICE_TIME, .query = query, .context = 200, .device_time = time});
}

/* Times come in another order than the zones, and on the device's clock. */
static void device_zones_wait_for_their_times(void **state) {
    (void)state;
    for (size_t i = 0; i < sb_wire_protocol_count(); i++) {
        maker of;
        sb_capture_report report;
        begin(&of, sb_wire_protocol_at(i));
        put_context(&of, 200);
        put_step(&of, SB_WIRE_DEVICE_BEGIN, 1);
        put_step(&of, SB_WIRE_DEVICE_BEGIN, 2);
        put_step(&of, SB_WIRE_DEVICE_END, 3);
        put_step(&of, SB_WIRE_DEVICE_END, 4);
        put_time(&of, 4, 900);
        put_time(&of, 2, 600);
        put_time(&of, 3, 700);
        put_time(&of, 1, 550);
        sb_trace *trace = recover(&of, &report);
        const sb_track *track = sb_trace_track(trace, 0);
        assert_int_equal(track->kind, SB_TRACK_LANE);
        assert_int_equal(sb_track_zone_count(track), 2);
        assert_int_equal(sb_track_zone_start(track, 0), 1050); /* 550 - 500 after tick 2000 */
        assert_int_equal(sb_track_zone_end(track, 0), 1400);
        assert_int_equal(sb_track_zone_start(track, 1), 1100);
        assert_int_equal(sb_track_zone_end(track, 1), 1200);
        assert_int_equal(sb_trace_context(trace, 0)->type, 6);
        check_slice(text_of(trace, sb_trace_context(trace, 0)->name), "Device: 0");
        assert_int_equal(report.fault_count, 0);
        sb_trace_free(trace);
    }
}

static void whole_device_zones_nest(void **state) {
    (void)state;
    maker of;
    sb_capture_report report;
    begin(&of, sb_wire_protocol_find(79, SB_WIRE_TENSTORRENT));
    put_context(&of, 300);
    static const int64_t spans[][2] = {{600, 700}, {710, 800}, {550, 900}, {950, 960}};
    for (size_t i = 0; i < COUNT_OF(spans); i++)
        put(&of, (sb_wire_event){.kind = SB_WIRE_DEVICE_ZONE,
                                 .device_time = spans[i][0],
                                 .delta = spans[i][1],
                                 .token = 0x111,
                                 .thread = 9,
                                 .context = 300});
    put(&of, (sb_wire_event){.kind = SB_WIRE_DEVICE_MARKER_META,
                             .context = 300,
                             .text = SB_SLICE("key: value")});
    put(&of, (sb_wire_event){.kind = SB_WIRE_DEVICE_MARKER,
                             .form = SB_WIRE_DYNAMIC,
                             .context = 300,
                             .device_time = 620,
                             .thread = 9,
                             .type = 4,
                             .text = SB_SLICE("marker")});
    sb_trace *trace = recover(&of, &report);
    const sb_track *track = sb_trace_track(trace, 0);
    assert_int_equal(sb_track_zone_count(track), 4);
    assert_int_equal(sb_track_zone_parent(track, 0), SB_NONE);
    assert_int_equal(sb_track_zone_parent(track, 1), 0);
    assert_int_equal(sb_track_zone_parent(track, 2), 0);
    assert_int_equal(sb_track_zone_parent(track, 3), SB_NONE);
    const sb_device_marker *marker = sb_series_at(&sb_trace_context(trace, 0)->markers, 0);
    assert_int_equal(marker->time, 1120);
    check_slice(text_of(trace, marker->meta), "key: value");
    sb_trace_free(trace);
}

static void a_clock_that_drifts_wildly_is_not_followed(void **state) {
    (void)state;
    maker of;
    sb_capture_report report;
    begin(&of, sb_wire_protocol_find(82, SB_WIRE_UPSTREAM));
    put_context(&of, 200);
    put(&of, (sb_wire_event){.kind = SB_WIRE_DEVICE_CALIBRATION,
                             .device_time = 1500,
                             .time = 3000,
                             .delta = 50000,
                             .context = 200});
    put_step(&of, SB_WIRE_DEVICE_BEGIN, 1);
    put_time(&of, 1, 1600);
    sb_trace *trace = recover(&of, &report);
    assert_int_equal(sb_track_zone_start(sb_trace_track(trace, 0), 0), 2100);
    assert_int_equal(fault_count(&report, "device clock"), 1);
    assert_int_equal(sb_series_count(&sb_trace_context(trace, 0)->clocks), 2);
    sb_trace_free(trace);
}

/* ---- the rest ---- */

static void fibers_have_tracks_of_their_own(void **state) {
    (void)state;
    maker of;
    sb_capture_report report;
    begin(&of, sb_wire_protocol_find(82, SB_WIRE_UPSTREAM));
    const sb_wire_zone pair[] = {{2000, 0x111}, {2100, SB_WIRE_END_ZONE}};
    sb_wire_encode_thread(of.encoder, 5);
    put(&of,
        (sb_wire_event){.kind = SB_WIRE_FIBER_ENTER, .time = 1900, .token = 0x55, .thread = 5});
    sb_wire_encode_zones(of.encoder, pair, 2);
    put(&of, (sb_wire_event){.kind = SB_WIRE_FIBER_LEAVE, .time = 2150, .thread = 5});
    sb_wire_encode_zones(of.encoder, pair, 2);
    put(&of, (sb_wire_event){.kind = SB_WIRE_FIBER_NAME, .token = 0x55, .text = SB_SLICE("fiber")});
    sb_trace *trace = recover(&of, &report);
    assert_int_equal(sb_series_count(&trace->tracks), 2);
    const sb_track *fiber = sb_trace_track(trace, 0);
    assert_int_equal(fiber->kind, SB_TRACK_FIBER);
    assert_int_equal(sb_track_zone_count(fiber), 1);
    check_slice(text_of(trace, sb_trace_thread_at(trace, fiber->thread)->name), "fiber");
    assert_int_equal(sb_track_zone_count(sb_trace_track(trace, 1)), 1);
    sb_trace_free(trace);
}

static void call_stacks_keep_their_frames(void **state) {
    (void)state;
    static const uint64_t addresses[] = {0x1000, 0x2000};
    maker of;
    sb_capture_report report;
    begin(&of, sb_wire_protocol_find(82, SB_WIRE_UPSTREAM));
    put(&of, (sb_wire_event){.kind = SB_WIRE_CALLSTACK,
                             .thread = 5,
                             .payload = {(const char *)addresses, sizeof addresses}});
    put(&of, (sb_wire_event){.kind = SB_WIRE_ZONE_BEGIN,
                             .form = SB_WIRE_WITH_CALLSTACK,
                             .thread = 5,
                             .time = 2000,
                             .token = 0x111});
    put(&of, (sb_wire_event){.kind = SB_WIRE_CALLSTACK_FRAME_SIZE,
                             .token = 0x1000,
                             .type = 1,
                             .text = SB_SLICE("image")});
    put(&of, (sb_wire_event){.kind = SB_WIRE_CALLSTACK_FRAME,
                             .line = 7,
                             .text = SB_SLICE("f"),
                             .file_text = SB_SLICE("f.c")});
    sb_trace *trace = recover(&of, &report);
    const sb_track *track = sb_trace_track(trace, 0);
    assert_int_equal(sb_trace_zone_note(trace, track, 0)->callstack, 1);
    assert_int_equal(trace->file.opaque_items[SB_OPAQUE_CALLSTACKS], 1);
    assert_int_equal(trace->opaque[SB_OPAQUE_CALLSTACKS].size, 8 + 2 + 16);
    assert_int_equal(trace->file.opaque_items[SB_OPAQUE_CALLSTACK_FRAMES], 1);
    assert_int_equal(trace->opaque[SB_OPAQUE_CALLSTACK_FRAMES].size, 8 + 12 + 18);
    sb_trace_free(trace);
}

/* A script's frames stand before the addresses, under ids of their own. */
static void call_stacks_of_scripts_are_kept(void **state) {
    (void)state;
    static const uint64_t address = 0x1000;
    static const char script[] = {2, 7, 0, 0, 0, 1, 0,   'f', 3, 0,   'a', '.', 's',
                                  9, 0, 0, 0, 1, 0, 'g', 3,   0, 'a', '.', 's'};
    maker of;
    sb_capture_report report;
    begin(&of, sb_wire_protocol_find(82, SB_WIRE_UPSTREAM));
    for (unsigned i = 0; i < 3; i++) {
        put(&of, (sb_wire_event){.kind = SB_WIRE_CALLSTACK_SCRIPT,
                                 .thread = 5,
                                 .payload = {(const char *)&address, sizeof address},
                                 .script = {script, i < 2 ? sizeof script : sizeof script - 1}});
        put(&of, (sb_wire_event){.kind = SB_WIRE_ZONE_BEGIN,
                                 .form = SB_WIRE_WITH_CALLSTACK,
                                 .thread = 5,
                                 .time = 2000 + (int64_t)i,
                                 .token = 0x111});
    }
    sb_trace *trace = recover(&of, &report);
    const sb_track *track = sb_trace_track(trace, 0);
    assert_int_equal(sb_trace_zone_note(trace, track, 0)->callstack, 1);
    assert_int_equal(sb_trace_zone_note(trace, track, 1)->callstack, 1);
    assert_int_equal(sb_trace_zone_note(trace, track, 2)->callstack, 2); /* what is whole of it */
    assert_int_equal(fault_count(&report, "scripts"), 1);
    const sb_slice stacks = trace->opaque[SB_OPAQUE_CALLSTACKS];
    assert_int_equal(stacks.size, 8 + 2 + 3 * 8 + 2 + 2 * 8);
    assert_memory_equal(stacks.data + 8 + 2, "\0\0\0\0\0\0\0\x40\1\0\0\0\0\0\0\x40\0\x10", 18);
    assert_int_equal(trace->file.opaque_items[SB_OPAQUE_CALLSTACK_FRAMES], 2);
    assert_int_equal(trace->opaque[SB_OPAQUE_CALLSTACK_FRAMES].size, 8 + 2 * (12 + 18));
    sb_trace_free(trace);
}

/* ---- the system ---- */

static uint64_t number_at(sb_slice bytes, size_t at, unsigned size) {
    uint64_t number = 0;
    assert_true(at + size <= bytes.size);
    for (unsigned i = 0; i < size; i++)
        number |= (uint64_t)(uint8_t)bytes.data[at + i] << (8 * i);
    return number;
}

static void put_switch(maker *of, int64_t time, uint32_t from, uint32_t to, uint8_t cpu) {
    put(of, (sb_wire_event){.kind = SB_WIRE_SWITCH,
                            .time = time,
                            .thread = from,
                            .other_thread = to,
                            .cpu = cpu,
                            .reason = 100,
                            .state = 104});
}

static void context_switches_are_kept_in_every_protocol(void **state) {
    (void)state;
    for (size_t i = 0; i < sb_wire_protocol_count(); i++) {
        maker of;
        sb_capture_report report;
        begin(&of, sb_wire_protocol_at(i));
        put(&of, (sb_wire_event){.kind = SB_WIRE_WAKEUP, .time = 1900, .thread = 5});
        put_switch(&of, 2000, 0, 5, 1);
        put_switch(&of, 2400, 5, 6, 1);
        put_switch(&of, 2500, 0, 5, 3);
        put_switch(&of, 2600, 5, 0, 3);
        put(&of, (sb_wire_event){.kind = SB_WIRE_THREAD_PROCESS, .token = 6, .value = 77});
        put(&of, (sb_wire_event){
                     .kind = SB_WIRE_EXTERNAL_THREAD_NAME, .token = 6, .text = SB_SLICE("other")});
        put(&of, (sb_wire_event){
                     .kind = SB_WIRE_EXTERNAL_NAME, .token = 6, .text = SB_SLICE("process")});
        sb_trace *trace = recover(&of, &report);
        assert_int_equal(report.fault_count, 0);
        assert_int_equal(report.unkept_count, 0);
        /* thread 5: id, count, then wakeup, start and end as distances */
        const sb_slice runs = trace->opaque[SB_OPAQUE_CONTEXT_SWITCHES];
        assert_int_equal(runs.size, 8 + 2 * 16 + 3 * 35);
        assert_int_equal(number_at(runs, 8, 8), 5);
        assert_int_equal(number_at(runs, 16, 8), 2);
        assert_int_equal(number_at(runs, 24, 8), 900);
        assert_int_equal(number_at(runs, 32, 8), 100);
        assert_int_equal(number_at(runs, 40, 8), 400);
        assert_int_equal(number_at(runs, 48, 1), 1);
        assert_int_equal(number_at(runs, 50, 1), 104);
        /* processor 1 had two, processor 3 one */
        const sb_slice stints = trace->opaque[SB_OPAQUE_CPU_SWITCHES];
        assert_int_equal(number_at(stints, 0, 8), 3);
        assert_int_equal(stints.size, 8 + 256 * 8 + 3 * 18);
        /* thread 5 ran for 500 ns in two pieces, on two processors */
        const sb_slice use = trace->opaque[SB_OPAQUE_CPU_THREADS];
        assert_int_equal(number_at(use, 16, 8), 500);
        assert_int_equal(number_at(use, 24, 4), 2);
        assert_int_equal(number_at(use, 28, 4), 1);
        assert_int_equal(trace->file.opaque_items[SB_OPAQUE_EXTERNAL_THREADS], 3);
        assert_int_equal(trace->file.opaque_items[SB_OPAQUE_THREAD_PROCESSES], 1);
        const sb_stranger *stranger = sb_series_at(&trace->strangers, 0);
        check_slice(text_of(trace, stranger->process_name), "process");
        check_slice(text_of(trace, stranger->thread_name), "other");
        sb_trace_free(trace);
    }
}

static void topology_and_parameters_are_kept(void **state) {
    (void)state;
    static const uint32_t threads[][3] = {{1, 0, 3}, {0, 1, 2}, {0, 0, 0}, {0, 0, 1}};
    maker of;
    sb_capture_report report;
    begin(&of, sb_wire_protocol_find(82, SB_WIRE_UPSTREAM));
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        put(&of, (sb_wire_event){.kind = SB_WIRE_TOPOLOGY,
                                 .package = threads[i][0],
                                 .core = threads[i][1],
                                 .thread = threads[i][2]});
    put(&of,
        (sb_wire_event){.kind = SB_WIRE_PARAMETER, .id = 1, .token = 0x71, .value = (uint64_t)-4});
    put(&of, (sb_wire_event){.kind = SB_WIRE_PARAMETER, .token = 0x72, .type = 1, .value = 1});
    put(&of, (sb_wire_event){.kind = SB_WIRE_STRING, .token = 0x71, .text = SB_SLICE("depth")});
    put(&of, (sb_wire_event){.kind = SB_WIRE_STRING, .token = 0x72, .text = SB_SLICE("fast")});
    put(&of, (sb_wire_event){.kind = SB_WIRE_CRASH_REPORT, .thread = 5, .time = 2500, .token = 9});
    put(&of, (sb_wire_event){.kind = SB_WIRE_STRING, .token = 9, .text = SB_SLICE("fault")});
    put(&of, (sb_wire_event){.kind = SB_WIRE_THREAD_GROUP, .thread = 5, .hint = -3});
    sb_trace *trace = recover(&of, &report);
    assert_int_equal(report.unkept_count, 0);
    /* two packages: the first has two cores, of two threads and of one */
    const sb_slice topology = trace->opaque[SB_OPAQUE_TOPOLOGY];
    assert_int_equal(number_at(topology, 0, 8), 2);
    assert_int_equal(number_at(topology, 12, 8), 2);
    assert_int_equal(number_at(topology, 24, 8), 2);
    assert_int_equal(topology.size, 8 + 2 * 12 + 3 * 12 + 4 * 4);
    check_slice(text_of(trace, *(sb_string *)sb_series_at(&trace->app_info, 0)),
                "Parameter depth: -4");
    check_slice(text_of(trace, *(sb_string *)sb_series_at(&trace->app_info, 1)),
                "Parameter fast: on");
    check_slice(text_of(trace, trace->info.crash.message), "fault");
    assert_int_equal(trace->info.crash.time, 1500);
    assert_int_equal(sb_trace_track(trace, 0)->group_hint, -3);
    sb_trace_free(trace);
}

/* What a trace has no place for is passed by its size, and listed. */
static void what_is_not_kept_is_listed(void **state) {
    (void)state;
    static const uint64_t address = 0x1000;
    static const struct {
        sb_wire_event event;
        const char *name;
    } unkept[] = {
        {{.kind = SB_WIRE_CALLSTACK_SAMPLE, .payload = {(const char *)&address, sizeof address}},
         "callstack sample"},
        {{.kind = SB_WIRE_FRAME_IMAGE, .width = 4, .height = 4, .payload = SB_SLICE("12345678")},
         "frame image"},
        {{.kind = SB_WIRE_HARDWARE_SAMPLE, .type = 2}, "hardware sample"},
        {{.kind = SB_WIRE_SECTION_ENTER, .id = 1, .text = SB_SLICE("s")}, "section enter"},
        {{.kind = SB_WIRE_SECTION_LEAVE, .id = 1}, "section leave"},
        {{.kind = SB_WIRE_SECTION_SETUP, .text = SB_SLICE("s")}, "section setup"},
        {{.kind = SB_WIRE_SYMBOL_CODE, .payload = SB_SLICE("code")}, "symbol code"},
        {{.kind = SB_WIRE_SOURCE_CODE, .payload = SB_SLICE("source")}, "source code"},
        {{.kind = SB_WIRE_SYMBOL, .text = SB_SLICE("file")}, "symbol"},
    };
    maker of;
    sb_capture_report report;
    begin(&of, sb_wire_protocol_find(82, SB_WIRE_UPSTREAM));
    for (size_t i = 0; i < COUNT_OF(unkept); i++) {
        for (size_t k = 0; k <= i; k++)
            assert_true(put(&of, unkept[i].event));
    }
    put(&of, (sb_wire_event){.kind = SB_WIRE_FRAME, .time = 3100});
    sb_trace *trace = recover(&of, &report);
    assert_int_equal(report.unkept_count, COUNT_OF(unkept));
    for (size_t i = 0; i < COUNT_OF(unkept); i++) {
        uint64_t count = 0;
        for (size_t k = 0; k < report.unkept_count; k++) {
            if (strcmp(report.unkept[k].what, unkept[i].name) == 0)
                count = report.unkept[k].count;
        }
        assert_int_equal(count, i + 1);
    }
    const sb_frame_set *frames = sb_series_at(&trace->frame_sets, 0);
    assert_int_equal(sb_series_count(&frames->frames), 3);
    sb_trace_free(trace);
}

/* ---- what cannot be ---- */

static void what_makes_no_sense_is_counted(void **state) {
    (void)state;
    maker of;
    sb_capture_report report;
    begin(&of, sb_wire_protocol_find(82, SB_WIRE_UPSTREAM));
    put(&of, (sb_wire_event){.kind = SB_WIRE_ZONE_END, .thread = 5, .time = 2000});
    put(&of, (sb_wire_event){.kind = SB_WIRE_ZONE_TEXT, .thread = 5, .text = SB_SLICE("lost")});
    put(&of, (sb_wire_event){.kind = SB_WIRE_MEMORY_FREE, .time = 1, .thread = 5, .token = 0xA});
    put(&of, (sb_wire_event){.kind = SB_WIRE_LOCK_WAIT, .time = 1, .thread = 5, .id = 9});
    put(&of, (sb_wire_event){.kind = SB_WIRE_DEVICE_TIME, .context = 4});
    put(&of, (sb_wire_event){.kind = SB_WIRE_FRAME_END, .token = 0x88});
    put(&of, (sb_wire_event){.kind = SB_WIRE_SOURCE_LOCATION});
    put(&of, (sb_wire_event){.kind = SB_WIRE_PLOT_DOUBLE, .token = 0x91, .number = 1 / 0.0});
    put(&of, (sb_wire_event){.kind = SB_WIRE_SECTION_ENTER, .id = 1});
    sb_trace *trace = recover(&of, &report);
    assert_int_equal(report.fault_count, 7);
    assert_int_equal(fault_count(&report, "without a zone"), 2);
    assert_int_equal(report.unkept_count, 1);
    assert_string_equal(report.unkept[0].what, "section enter");
    assert_int_equal(sb_series_count(&trace->losses), 8);
    sb_trace_free(trace);
}

/* The program was killed in the middle of a zone. */
static void open_zones_end_with_the_recording(void **state) {
    (void)state;
    maker of;
    sb_capture_report report;
    begin(&of, sb_wire_protocol_find(82, SB_WIRE_UPSTREAM));
    const sb_wire_zone zones[] = {{2000, 0x111}, {2100, 0x222}, {2900, SB_WIRE_END_ZONE}};
    sb_wire_encode_thread(of.encoder, 5);
    sb_wire_encode_zones(of.encoder, zones, COUNT_OF(zones));
    sb_trace *trace = recover(&of, &report);
    assert_int_equal(sb_track_zone_end(sb_trace_track(trace, 0), 0), 1900);
    sb_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_names_and_notes_are_kept),
        cmocka_unit_test(everything_else_is_kept_in_every_protocol),
        cmocka_unit_test(device_zones_wait_for_their_times),
        cmocka_unit_test(whole_device_zones_nest),
        cmocka_unit_test(a_clock_that_drifts_wildly_is_not_followed),
        cmocka_unit_test(fibers_have_tracks_of_their_own),
        cmocka_unit_test(call_stacks_keep_their_frames),
        cmocka_unit_test(call_stacks_of_scripts_are_kept),
        cmocka_unit_test(context_switches_are_kept_in_every_protocol),
        cmocka_unit_test(topology_and_parameters_are_kept),
        cmocka_unit_test(what_is_not_kept_is_listed),
        cmocka_unit_test(what_makes_no_sense_is_counted),
        cmocka_unit_test(open_zones_end_with_the_recording),
    };
    return RUN(tests);
}
