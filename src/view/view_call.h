/*
 * A call: one question to the API, apart from HTTP.
 *
 * Its parameters come as texts. The functions below read one each and refuse what is out of its
 * bounds with a sentence that names it; without the parameter, the value stays as it was. The
 * answer is written to body.
 */
#ifndef SB_VIEW_CALL_H
#define SB_VIEW_CALL_H

#include "view/view_model.h"

enum {
    VIEW_PARAMETERS = 16,   /* of one call */
    VIEW_VALUE_SIZE = 8192, /* bytes of one value */
    VIEW_WIDTH = 16384,     /* pixels */
};

typedef struct view_parameter {
    const char *name;
    const char *value;
} view_parameter;

typedef struct view_call {
    sb_view *view;
    view_parameter parameters[VIEW_PARAMETERS];
    size_t parameter_count;
    bool wants_all; /* every zone on its own: for a page that has no server to ask */
    sb_output *body;
    const char *content_type;
    sb_error error;
} view_call;

/* Answers a call: finds what path names and runs it. SB_ERR_NOT_FOUND if there is nothing. */
sb_status view_api_answer(view_call *call, const char *path);

/* The value of a parameter; empty if it is not there. */
sb_slice view_call_text(const view_call *call, const char *name);
bool view_call_flag(const view_call *call, const char *name);
sb_status view_call_integer(view_call *call, const char *name, int64_t low, int64_t high,
                            int64_t *value);
/* from and to: all the trace without them. */
sb_status view_call_range(view_call *call, sb_range *range);
/* from, to and width: the grain is that of a pixel. */
sb_status view_call_window(view_call *call, view_window *window);
/* first and count: a part of a list. */
sb_status view_call_page(view_call *call, int64_t most, int64_t *first, int64_t *count);
/* The number of a track; SB_NONE without the parameter. */
sb_status view_call_track(view_call *call, uint32_t *track);
/* One of the words in choices ("linear|log"), as its position; 0 without the parameter. */
sb_status view_call_choice(view_call *call, const char *name, const char *choices,
                           unsigned *choice);

/* What the paths do, a file each for what belongs together. */
sb_status view_answer_info(view_call *call);
sb_status view_answer_news(view_call *call);
sb_status view_answer_tracks(view_call *call);
sb_status view_answer_sources(view_call *call);
sb_status view_answer_zones(view_call *call);
sb_status view_answer_overview(view_call *call);
sb_status view_answer_zone(view_call *call);
sb_status view_answer_stats(view_call *call);
sb_status view_answer_find(view_call *call);
sb_status view_answer_flame(view_call *call);
sb_status view_answer_messages(view_call *call);
sb_status view_answer_plots(view_call *call);
sb_status view_answer_plot(view_call *call);
sb_status view_answer_frames(view_call *call);
sb_status view_answer_losses(view_call *call);
sb_status view_answer_search(view_call *call);
sb_status view_answer_device(view_call *call);
sb_status view_answer_ops(view_call *call);
sb_status view_answer_runs(view_call *call);
sb_status view_answer_run(view_call *call);
sb_status view_answer_locks(view_call *call);
sb_status view_answer_noc(view_call *call);

/* Shared by them. */
/* [name, file, line, colour] */
void view_put_source(sb_output *output, const sb_trace *trace, uint32_t number);
/* {"track":..., "zone":..., "source":..., "start":..., "end":..., "name":...} */
void view_put_zone(sb_output *output, const sb_trace *trace, uint32_t number, uint32_t zone);
void view_put_message(sb_output *output, const sb_trace *trace, uint64_t number, uint64_t count);
/* ,"stack":[[name, file, line, is inlined], ...], if the trace has the call stack */
void view_put_stack(sb_output *output, const sb_trace *trace, uint32_t number);
/* ,"name":{a run of an op} */
void view_put_op(view_call *call, const char *name, uint32_t op);
/* ,"issue":{where the host asked for a run}, if that is known */
void view_put_call(view_call *call, uint32_t number);
/* ,"asked":[runs that were asked for in that time on a host track] */
void view_put_asked(view_call *call, uint32_t track, int64_t start, int64_t end);
/* The part of a zone that lies in a range. */
int64_t view_length_in(sb_range range, int64_t start, int64_t end);
/* The first place in a list of ascending times that is at time or later. */
uint64_t view_first_at(const sb_series *series, int64_t time);
/* What a track is called: a queue that belongs to a thread has the name of its context. */
sb_slice view_track_name(const sb_trace *trace, const sb_track *track, char buffer[32]);

enum {
    VIEW_LOCKS = 200,
    VIEW_FRAME_STRIPS = 4, /* that a page has room for, web/src/layout.ts */
    VIEW_LOSSES = 2000,    /* that a page asks for, web/src/api.ts */
};
/* ,"limits":[sentences on what there is more of than is shown] */
void view_put_limits(sb_output *output, sb_view *view);

enum { VIEW_ADDRESS_SIZE = 64 };
/* An address of this machine that others may reach, IPv4 before IPv6. False: there is none. */
bool view_find_address(bool takes_six, char text[VIEW_ADDRESS_SIZE]);

#endif
