#include "fuzz_view.h"

#include <assert.h>
#include <string.h>

static void add_zones(sb_trace *trace, sb_track *track) {
    enum { ZONES = 90 };
    for (int64_t i = 0; i < ZONES; i++) {
        const uint32_t outer = sb_track_begin(track, i * 100, (uint32_t)(i % 3));
        sb_track_add(track, i * 100 + 10, i * 100 + 30, 1);
        sb_track_add(track, i * 100 + 40, i * 100 + 41 + (i % 7 == 0 ? INT64_C(5000000000) : 0), 2);
        sb_track_end(track, i * 100 + 90);
        if (i % 10 == 0)
            sb_track_annotate(trace, track, outer, &(sb_zone_note){.text = 1, .name = 2});
    }
}

static void add_events(sb_trace *trace) {
    sb_frame_set *frames = sb_trace_add_frame_set(trace, 0, true);
    sb_plot *plot = sb_trace_add_plot(trace, 1);
    sb_memory_pool *pool = sb_trace_add_pool(trace, 2);
    sb_lock *lock = sb_trace_add_lock(trace, 5);
    const uint32_t thread = 1;
    sb_series_add(&lock->threads, &thread);
    for (int64_t i = 0; i < 20; i++) {
        sb_trace_add_message(trace, &(sb_message){.time = i * 400, .text = 1, .thread = 1});
        sb_series_add(&frames->frames, &(sb_frame){.start = i * 500, .end = SB_NO_TIME});
        sb_series_add(&plot->points, &(sb_plot_point){.time = i * 300, .value = (double)i});
        sb_series_add(&pool->events, &(sb_memory_event){.time = i * 300,
                                                        .freed = i * 300 + 200,
                                                        .address = (uint64_t)i,
                                                        .size = 64,
                                                        .thread = 1});
        sb_series_add(&lock->events, &(sb_lock_event){.time = i * 90, .kind = (uint8_t)(i % 3)});
    }
    sb_trace_add_loss(trace, &(sb_loss){.from = 10, .to = 90, .thread = SB_NONE, .text = 1});
}

sb_trace *make_fuzz_trace(void) {
    sb_trace *trace = sb_trace_create();
    const sb_string text = sb_trace_string(trace, sb_slice_of("some text"));
    const sb_string core =
        sb_trace_string(trace, sb_slice_of("Device: 0, Logical (0,0) Physical (1,1)"));
    for (uint32_t i = 0; i < 3; i++)
        sb_trace_add_source(trace, &(sb_source){.name = text, .line = i});
    sb_track *host = sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 7), SB_NONE);
    sb_context *context = sb_trace_add_context(trace);
    context->name = core;
    sb_series_add(&context->clocks, &(sb_clock_pair){1, 2, 3});
    const uint32_t lane_thread = sb_trace_thread(trace, 8);
    sb_track *lane = sb_trace_add_track(trace, SB_TRACK_LANE, lane_thread, 0);
    add_zones(trace, host);
    add_zones(trace, lane);
    add_events(trace);
    return trace;
}

void ask_view(sb_view *view, char *text) {
    sb_output body = sb_output_to_memory();
    view_call call = {.view = view, .body = &body};
    char *rest = strchr(text, '?');
    if (rest != NULL)
        *rest++ = '\0';
    while (rest != NULL && call.parameter_count < VIEW_PARAMETERS) {
        char *part = rest;
        rest = strchr(part, '&');
        if (rest != NULL)
            *rest++ = '\0';
        char *value = strchr(part, '=');
        if (value == NULL)
            break;
        *value++ = '\0';
        call.parameters[call.parameter_count++] = (view_parameter){part, value};
    }
    const sb_status status = view_api_answer(&call, text);
    assert((status == SB_OK) == (call.error.message[0] == '\0'));
    sb_output_discard(&body);
}

void ask_view_all(sb_view *view) {
    char questions[][80] = {"/api/info",
                            "/api/tracks",
                            "/api/sources",
                            "/api/zones?tracks=0,1",
                            "/api/zones?tracks=0&from=-1000000000000000000&to=1000000000000000000",
                            "/api/stats",
                            "/api/stats?devices=1",
                            "/api/flame",
                            "/api/flame?devices=1",
                            "/api/messages",
                            "/api/messages?width=100",
                            "/api/plots",
                            "/api/plot?plot=0",
                            "/api/plot?plot=1000000",
                            "/api/frames",
                            "/api/losses",
                            "/api/locks",
                            "/api/device",
                            "/api/device?filter=a",
                            "/api/overview",
                            "/api/find?source=1",
                            "/api/find?source=1&scale=log&order=shortest",
                            "/api/zone?track=0&zone=0",
                            "/api/zone?track=1&zone=4",
                            "/api/runs",
                            "/api/run?op=0",
                            "/api/search?text=e"};
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
        ask_view(view, questions[i]);
}
