/*
 * The viewer's API apart from HTTP: what it refuses, and what it says about any trace.
 */
#include <jansson.h>

#include "trace_testing.h"
#include "view/view_call.h"

static sb_view *view_of(sb_trace *trace) {
    const sb_view_source source = {.trace = trace, .name = "test", .version = "0"};
    sb_view *view = sb_view_create(&source);
    sb_view_index(view, NULL, NULL);
    return view;
}

/* Answers "path?a=1&b=2". */
static sb_status ask(sb_view *view, const char *question, sb_output *body, sb_error *error) {
    char text[512];
    snprintf(text, sizeof text, "%s", question);
    view_call call = {.view = view, .body = body};
    char *rest = strchr(text, '?');
    if (rest != NULL)
        *rest++ = '\0';
    for (char *part = rest == NULL ? NULL : strtok(rest, "&"); part != NULL;
         part = strtok(NULL, "&")) {
        char *value = strchr(part, '=');
        assert_non_null(value);
        *value++ = '\0';
        call.parameters[call.parameter_count++] = (view_parameter){part, value};
    }
    const sb_status status = view_api_answer(&call, text);
    *error = call.error;
    return status;
}

static void bad_parameters_are_refused_with_a_reason(void **state) {
    (void)state;
    static const struct {
        const char *question;
        const char *reason;
    } refused[] = {
        {"/api/info?x=1", "takes no parameter 'x'"},
        {"/api/stats?from=5&to=5", "must be before"},
        {"/api/stats?from=1e3", "is no whole number"},
        {"/api/stats?from=99999999999999999999", "is no whole number"},
        {"/api/stats?track=100000", "is no whole number"},
        {"/api/stats?from=1&from=2", "given twice"},
        {"/api/zones?width=0", "is no whole number"},
        {"/api/zones?width=100000000", "is no whole number"},
        {"/api/zones?tracks=0,x", "is no track"},
        {"/api/zones?tracks=-1", "is no track"},
        {"/api/zones?tracks=4294967296", "is no track"},
        {"/api/zone?zone=0", "track: is needed"},
        {"/api/zone?track=0", "zone: is needed"},
        {"/api/find?bins=4", "source: is needed"},
        {"/api/find?source=0&scale=cubic", "must be one of"},
        {"/api/find?source=0&first=100001", "at most"},
        {"/api/messages?count=1000000", "is no whole number"},
        {"/api/search?text=", "is needed"},
        {"/api/../etc/passwd", "nothing at this address"},
        {"/api/", "nothing at this address"},
        {"/api/ops", "no ops report"},
        {"/api/noc", "no transfers"},
        {"/api/run", "op: is needed"},
        {"/api/run?op=100000", "is no whole number"},
        {"/api/plot?plot=999999", "plot: is needed"},
        {"/api/plot?plot=100000000", "is no whole number"},
    };
    sb_trace *trace = make_random_trace(3);
    sb_view *view = view_of(trace);
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        sb_error error = {0};
        sb_output body = sb_output_to_memory();
        if (ask(view, refused[i].question, &body, &error) == SB_OK)
            fail_msg("%s is answered", refused[i].question);
        check_contains(sb_slice_of(error.message), refused[i].reason);
        sb_output_discard(&body);
    }
    sb_view_free(view);
    sb_trace_free(trace);
}

static void answers_are_json_whatever_the_trace_holds(void **state) {
    (void)state;
    static const char *const questions[] = {
        "/api/info",          "/api/tracks",
        "/api/sources",       "/api/overview",
        "/api/stats",         "/api/stats?devices=1",
        "/api/flame",         "/api/flame?devices=1",
        "/api/messages",      "/api/messages?width=9",
        "/api/plots",         "/api/frames",
        "/api/losses",        "/api/search?text=e",
        "/api/device",        "/api/device?filter=a",
        "/api/find?source=0", "/api/runs",
        "/api/locks",
    };
    for (uint64_t seed = 1; seed < 30; seed++) {
        sb_trace *trace = make_random_trace(seed);
        sb_view *view = view_of(trace);
        for (size_t i = 0; i < COUNT_OF(questions); i++) {
            sb_error error = {0};
            json_error_t flaw;
            sb_output body = sb_output_to_memory();
            if (ask(view, questions[i], &body, &error) != SB_OK)
                fail_msg("%s: %s", questions[i], error.message);
            const sb_slice text = sb_output_text(&body);
            json_t *json = json_loadb(text.data, text.size, JSON_DECODE_INT_AS_REAL, &flaw);
            if (json == NULL)
                fail_msg("%s: %s at %d", questions[i], flaw.text, flaw.position);
            json_decref(json);
            sb_output_discard(&body);
        }
        sb_view_free(view);
        sb_trace_free(trace);
    }
}

static void the_innermost_zone_at_a_time_is_found(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    sb_track *track =
        sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 1), SB_NONE);
    sb_track_begin(track, 100, 0);
    sb_track_begin(track, 120, 0);
    sb_track_end(track, 150);
    sb_track_end(track, 200);
    assert_int_equal(sb_track_zone_at(track, 99), SB_NONE);
    assert_int_equal(sb_track_zone_at(track, 100), 0);
    assert_int_equal(sb_track_zone_at(track, 120), 1);
    assert_int_equal(sb_track_zone_at(track, 149), 1);
    assert_int_equal(sb_track_zone_at(track, 150), 0);
    assert_int_equal(sb_track_zone_at(track, 200), SB_NONE);
    sb_trace_free(trace);
}

static void cores_are_read_from_the_names_of_contexts(void **state) {
    (void)state;
    sb_core core;
    assert_true(sb_core_parse(sb_slice_of("Device: 0, Core (1,2)"), &core));
    assert_int_equal(core.x, 1);
    assert_int_equal(core.y, 2);
    assert_true(sb_core_parse(sb_slice_of("Device: 3, Logical (0,0) Physical (9,12)"), &core));
    assert_int_equal(core.device, 3);
    assert_int_equal(core.x, 9);
    assert_int_equal(core.y, 12);
    assert_false(sb_core_parse(sb_slice_of("Vulkan context"), &core));
    assert_false(sb_core_parse(sb_slice_of("Device: x, Core (1,2)"), &core));
    assert_false(sb_core_parse(sb_slice_of("Device: 0, Core (1"), &core));
    assert_false(sb_core_parse(sb_slice_of("Device: 0, Core (-1,2)"), &core));
}

static bool parse_sm(const char *context, const char *lane, sb_sm *sm) {
    return sb_sm_parse(sb_slice_of(context), sb_slice_of(lane), sm);
}

static void sms_are_read_from_the_names_of_contexts(void **state) {
    (void)state;
    sb_sm sm;
    assert_true(parse_sm("NVIDIA H200 1, SM 17, \u00B11240 ns", "warp slot 3", &sm));
    check_slice(sm.gpu, "NVIDIA H200 1");
    check_slice(sm.lane, "warp slot 3");
    assert_int_equal(sm.device, 1);
    assert_int_equal(sm.number, 17);
    assert_true(parse_sm("NVIDIA A100-SXM4-80GB 0, SM 5", "", &sm));
    check_slice(sm.gpu, "NVIDIA A100-SXM4-80GB 0");
    assert_int_equal(sm.device, 0);
    assert_false(parse_sm("Device: 0, Core (1,2)", "", &sm));
    assert_false(parse_sm(", SM 5", "", &sm));
    assert_false(parse_sm("NVIDIA H200 x, SM 5", "", &sm));
    assert_false(parse_sm("NVIDIA H200 0, SM -5", "", &sm));
    assert_false(parse_sm("NVIDIA H200 0, SM ", "", &sm));
}

static void sms_that_share_a_context_are_read_from_their_lanes(void **state) {
    (void)state;
    sb_sm sm;
    const char *shared = "NVIDIA H200 7, SMs 16 to 19, \u00B11240 ns";
    assert_true(parse_sm(shared, "SM 18, warp slot 12", &sm));
    check_slice(sm.gpu, "NVIDIA H200 7");
    check_slice(sm.lane, "warp slot 12");
    assert_int_equal(sm.device, 7);
    assert_int_equal(sm.number, 18);
    assert_true(parse_sm(shared, "SM 18", &sm));
    check_slice(sm.lane, "");
    assert_false(parse_sm(shared, "warp slot 12", &sm));
    assert_false(parse_sm(shared, "SM x, warp slot 12", &sm));
    assert_false(parse_sm("NVIDIA H200 x, SMs 16 to 19", "SM 18, warp slot 12", &sm));
}

static void a_page_holds_no_more_than_it_says(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    sb_track *track =
        sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 1), SB_NONE);
    for (int64_t i = 0; i <= SB_VIEW_PAGE_ZONES; i++)
        sb_track_add(track, i * 10, i * 10 + 5, 0);
    sb_view *view = view_of(trace);
    sb_error error = {0};
    sb_output output = sb_output_to_memory();
    assert_int_equal(sb_view_write_page(view, SB_RANGE_ALL, &output, &error), SB_ERR_LIMIT);
    check_contains(sb_slice_of(error.message), "more than 500000 zones");
    assert_int_equal(sb_view_write_page(view, (sb_range){0, 1000}, &output, &error), SB_OK);
    sb_output_discard(&output);
    sb_view_free(view);
    sb_trace_free(trace);
}

/* ---- locks and frames ---- */

enum { LOCK_EVENTS = 30000, LOCK_USERS = 3 };

/* Threads wait for a lock, obtain it and release it, at random times. */
static sb_lock *add_busy_lock(sb_trace *trace, uint64_t seed) {
    uint64_t random = seed;
    int64_t now = 0;
    uint8_t last[LOCK_USERS] = {2, 2, 2};
    sb_lock *lock = sb_trace_add_lock(trace, 1);
    for (uint32_t i = 0; i < LOCK_EVENTS; i++) {
        const uint8_t thread = (uint8_t)below(&random, LOCK_USERS);
        now += 1 + (int64_t)below(&random, one_in(&random, 100) ? 100000 : 50);
        last[thread] = (uint8_t)((last[thread] + 1) % 3);
        sb_series_add(&lock->events,
                      &(sb_lock_event){.time = now, .thread = thread, .kind = last[thread]});
    }
    return lock;
}

/* What a lock is worst in while a stretch of it is drawn: 0 free, 1 held, 2 while others wait. */
static int worst_between(const sb_lock *lock, int64_t from, int64_t to) {
    bool holds[LOCK_USERS] = {false};
    bool waits[LOCK_USERS] = {false};
    int worst = 0;
    for (uint64_t i = 0; i < sb_series_count(&lock->events); i++) {
        const sb_lock_event *event = sb_series_at(&lock->events, i);
        if (event->time >= to)
            break;
        waits[event->thread] = event->kind == 0;
        if (event->kind != 0)
            holds[event->thread] = event->kind == 1;
        const bool lasts = i + 1 == sb_series_count(&lock->events) ||
                           ((const sb_lock_event *)sb_series_at(&lock->events, i + 1))->time > from;
        const bool is_held = holds[0] || holds[1] || holds[2];
        const int now = !is_held ? 0 : waits[0] || waits[1] || waits[2] ? 2 : 1;
        worst = lasts && now > worst ? now : worst;
    }
    return worst;
}

static int64_t number_in(const json_t *list, size_t place) {
    return json_integer_value(json_array_get(list, place));
}

/* What is drawn has the worst state that there is in it, and is free between, to a pixel. */
static void check_lock_window(sb_view *view, const sb_lock *lock, int64_t from, int64_t to,
                              int width) {
    char question[128];
    sb_error error = {0};
    sb_output body = sb_output_to_memory();
    snprintf(question, sizeof question, "/api/locks?from=%" PRId64 "&to=%" PRId64 "&width=%d", from,
             to, width);
    assert_int_equal(ask(view, question, &body, &error), SB_OK);
    const sb_slice text = sb_output_text(&body);
    json_t *answer = json_loadb(text.data, text.size, 0, NULL);
    const json_t *spans =
        json_object_get(json_array_get(json_object_get(answer, "locks"), 0), "spans");
    const int64_t grain = (to - from) / width < 1 ? 1 : (to - from) / width;
    assert_true(json_array_size(spans) <= 2 * (size_t)width + 2);
    int64_t reached = from;
    for (size_t i = 0; i < json_array_size(spans); i++) {
        const json_t *span = json_array_get(spans, i);
        const int64_t start = number_in(span, 0);
        const int64_t end = number_in(span, 1);
        assert_int_equal(number_in(span, 2), worst_between(lock, start, end));
        if (start > reached)
            assert_int_equal(worst_between(lock, reached, start), 0);
        reached = end > reached ? end : reached;
        if (grain == 1)
            assert_int_equal(number_in(span, 3), 1);
    }
    if (reached < to)
        assert_int_equal(worst_between(lock, reached, to), 0);
    json_decref(answer);
    sb_output_discard(&body);
}

static void locks_are_drawn_as_their_events_say(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    const sb_lock *lock = add_busy_lock(trace, 5);
    sb_trace_add_message(trace, &(sb_message){.time = 40000000});
    sb_view *view = view_of(trace);
    uint64_t random = 11;
    check_lock_window(view, lock, 0, 40000000, 300);
    for (int i = 0; i < 40; i++) {
        const int64_t from = (int64_t)below(&random, 30000000);
        const int64_t length = INT64_C(1) << (4 + below(&random, 20));
        check_lock_window(view, lock, from, from + length, 10 + (int)below(&random, 400));
    }
    sb_view_free(view);
    sb_trace_free(trace);
}

/* Each frame of the window is in one span; spans of several are not wider than they must be. */
static void frames_are_drawn_together_where_they_are_narrow(void **state) {
    (void)state;
    enum { FRAMES = 5000, WIDTH = 100 };
    sb_trace *trace = sb_trace_create();
    sb_frame_set *set = sb_trace_add_frame_set(trace, 0, true);
    uint64_t random = 3;
    int64_t now = 0;
    for (int i = 0; i < FRAMES; i++) {
        sb_series_add(&set->frames, &(sb_frame){.start = now, .end = SB_NO_TIME});
        now += 1 + (int64_t)below(&random, one_in(&random, 50) ? 50000 : 100);
    }
    sb_trace_add_message(trace, &(sb_message){.time = now});
    sb_view *view = view_of(trace);
    sb_error error = {0};
    sb_output body = sb_output_to_memory();
    assert_int_equal(ask(view, "/api/frames?width=100", &body, &error), SB_OK);
    const sb_slice text = sb_output_text(&body);
    json_t *answer = json_loadb(text.data, text.size, 0, NULL);
    const json_t *spans = json_object_get(answer, "frames");
    int64_t next = 0;
    int64_t end = 0;
    for (size_t i = 0; i < json_array_size(spans); i++) {
        const json_t *span = json_array_get(spans, i);
        const int64_t grain = now / WIDTH;
        assert_int_equal(number_in(span, 0), next);
        assert_int_equal(number_in(span, 2), end);
        next += number_in(span, 1);
        end = number_in(span, 3);
        const sb_frame *last = sb_series_at(&set->frames, (uint64_t)next - 1);
        assert_true(number_in(span, 1) == 1 || last->start - number_in(span, 2) < grain);
    }
    assert_int_equal(next, FRAMES);
    assert_int_equal(end, now);
    assert_true(json_array_size(spans) <= 2 * WIDTH + 2);
    json_decref(answer);
    sb_output_discard(&body);
    sb_view_free(view);
    sb_trace_free(trace);
}

/* ---- messages ---- */

static void messages_are_listed_from_a_severity_on(void **state) {
    (void)state;
    enum { MESSAGES = 30, SEVERITIES = 6 };
    sb_trace *trace = sb_trace_create();
    const sb_string texts[] = {sb_trace_string(trace, sb_slice_of("even")),
                               sb_trace_string(trace, sb_slice_of("odd"))};
    for (int i = 0; i < MESSAGES; i++)
        sb_trace_add_message(
            trace,
            &(sb_message){.time = i, .text = texts[i % 2], .severity = (uint8_t)(i % SEVERITIES)});
    sb_view *view = view_of(trace);
    sb_error error = {0};
    sb_output body = sb_output_to_memory();
    assert_int_equal(
        ask(view, "/api/messages?severity=4&filter=odd&first=1&count=2", &body, &error), SB_OK);
    check_contains(sb_output_text(&body), "\"matched\":5}");
    check_contains(sb_output_text(&body), "{\"messages\":[{\"id\":11,");
    check_contains(sb_output_text(&body), "{\"id\":17,");
    check_lacks(sb_output_text(&body), "{\"id\":5,");
    check_lacks(sb_output_text(&body), "{\"id\":23,");
    sb_output_discard(&body);
    sb_view_free(view);
    sb_trace_free(trace);
}

/* ---- limits ---- */

/* A trace with more of everything than a page shows. */
static sb_trace *make_excessive_trace(void) {
    enum { NESTED = 1030, LOCKS = 203, SETS = 6, LOSSES = 2001, DEPTH = 130 };
    sb_trace *trace = sb_trace_create();
    sb_output stack = sb_output_to_memory();
    sb_track *track =
        sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 1), SB_NONE);
    for (int64_t i = 0; i < NESTED; i++)
        sb_track_begin(track, i, 0);
    for (int64_t i = 0; i < NESTED; i++)
        sb_track_end(track, 5000 + i);
    for (uint32_t i = 0; i < LOCKS; i++)
        sb_series_add(&sb_trace_add_lock(trace, i)->events, &(sb_lock_event){.time = i});
    for (int64_t i = 0; i < SETS; i++)
        sb_series_add(&sb_trace_add_frame_set(trace, 0, true)->frames, &(sb_frame){.start = i});
    for (int64_t i = 0; i < LOSSES; i++)
        sb_trace_add_loss(trace, &(sb_loss){.from = i, .to = i + 1, .thread = SB_NONE});
    const char head[] = {1, 0, 0, 0, 0, 0, 0, 0, (char)DEPTH, 0};
    sb_put(&stack, (sb_slice){head, sizeof head});
    for (uint64_t i = 0; i < DEPTH; i++)
        sb_put(&stack, (sb_slice){(const char *)&i, sizeof i});
    trace->opaque[SB_OPAQUE_CALLSTACKS] = sb_arena_copy(&trace->arena, sb_output_text(&stack));
    sb_output_discard(&stack);
    sb_track_annotate(trace, track, 0, &(sb_zone_note){.callstack = 1});
    return trace;
}

static void what_is_left_out_is_said(void **state) {
    (void)state;
    static const char *const sentences[] = {
        "\"Zones nested deeper than 1024 are counted and not drawn: 6\"",
        "\"The first 200 of 203 locks are shown\"",
        "\"The first 4 of 6 sets of frames are shown\"",
        "\"The first 2000 of 2001 losses are hatched\"",
    };
    sb_error error = {0};
    sb_output body = sb_output_to_memory();
    sb_trace *trace = make_excessive_trace();
    sb_view *view = view_of(trace);
    assert_int_equal(ask(view, "/api/info", &body, &error), SB_OK);
    for (size_t i = 0; i < COUNT_OF(sentences); i++)
        check_contains(sb_output_text(&body), sentences[i]);
    assert_int_equal(ask(view, "/api/zone?track=0&zone=0", &body, &error), SB_OK);
    check_contains(sb_output_text(&body), ",[\"0x7f\",\"\",0,false],[\"and 2 frames more\"");
    sb_output_discard(&body);
    sb_view_free(view);
    sb_trace_free(trace);
    trace = make_random_trace(2);
    view = view_of(trace);
    body = sb_output_to_memory();
    assert_int_equal(ask(view, "/api/info", &body, &error), SB_OK);
    check_contains(sb_output_text(&body), "\"limits\":[]");
    sb_output_discard(&body);
    sb_view_free(view);
    sb_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_parameters_are_refused_with_a_reason),
        cmocka_unit_test(answers_are_json_whatever_the_trace_holds),
        cmocka_unit_test(the_innermost_zone_at_a_time_is_found),
        cmocka_unit_test(cores_are_read_from_the_names_of_contexts),
        cmocka_unit_test(sms_are_read_from_the_names_of_contexts),
        cmocka_unit_test(sms_that_share_a_context_are_read_from_their_lanes),
        cmocka_unit_test(a_page_holds_no_more_than_it_says),
        cmocka_unit_test(locks_are_drawn_as_their_events_say),
        cmocka_unit_test(messages_are_listed_from_a_severity_on),
        cmocka_unit_test(frames_are_drawn_together_where_they_are_narrow),
        cmocka_unit_test(what_is_left_out_is_said),
    };
    return RUN(tests);
}
