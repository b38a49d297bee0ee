/*
 * Reading the parameters of a call, and finding who answers it.
 */
#include "view/view_call.h"

#include <string.h>

/* ---- parameters ---- */

static const char *find_value(const view_call *call, const char *name) {
    for (size_t i = 0; i < call->parameter_count; i++) {
        if (strcmp(call->parameters[i].name, name) == 0)
            return call->parameters[i].value;
    }
    return NULL;
}

sb_slice view_call_text(const view_call *call, const char *name) {
    const char *value = find_value(call, name);
    return value == NULL ? (sb_slice){"", 0} : sb_slice_of(value);
}

bool view_call_flag(const view_call *call, const char *name) {
    const sb_slice value = view_call_text(call, name);
    return value.size > 0 && !sb_slice_is(value, "0");
}

sb_status view_call_integer(view_call *call, const char *name, int64_t low, int64_t high,
                            int64_t *value) {
    const char *text = find_value(call, name);
    if (text == NULL)
        return SB_OK;
    if (sb_parse_int64(sb_slice_of(text), value) && *value >= low && *value <= high)
        return SB_OK;
    SB_FAIL(&call->error, SB_ERR_USAGE, "%s: '%.40s' is no whole number from %lld to %lld", name,
            text, (long long)low, (long long)high);
}

sb_status view_call_range(view_call *call, sb_range *range) {
    const int64_t limit = VIEW_TIME_MOST;
    *range = (sb_range){-limit, limit};
    SB_TRY(view_call_integer(call, "from", -limit, limit, &range->from));
    SB_TRY(view_call_integer(call, "to", -limit, limit, &range->to));
    if (range->from >= range->to)
        SB_FAIL(&call->error, SB_ERR_USAGE, "from: must be before to");
    return SB_OK;
}

sb_status view_call_window(view_call *call, view_window *window) {
    SB_TRY(view_call_range(call, &window->range));
    if (find_value(call, "from") == NULL)
        window->range.from = 0;
    if (find_value(call, "to") == NULL)
        window->range.to = view_index_end(call->view->index) + 1;
    if (window->range.from >= window->range.to)
        window->range.to = window->range.from + 1;
    int64_t width = 1024;
    SB_TRY(view_call_integer(call, "width", 1, VIEW_WIDTH, &width));
    const int64_t grain = (window->range.to - window->range.from) / width;
    window->grain = grain < 1 ? 1 : grain;
    return SB_OK;
}

sb_status view_call_page(view_call *call, int64_t most, int64_t *first, int64_t *count) {
    *first = 0;
    *count = most < 200 ? most : 200;
    SB_TRY(view_call_integer(call, "first", 0, INT32_MAX, first));
    return view_call_integer(call, "count", 0, most, count);
}

sb_status view_call_track(view_call *call, uint32_t *track) {
    int64_t number = -1;
    const int64_t count = (int64_t)sb_series_count(&call->view->trace->tracks);
    SB_TRY(view_call_integer(call, "track", 0, count - 1, &number));
    *track = number < 0 ? SB_NONE : (uint32_t)number;
    return SB_OK;
}

sb_status view_call_choice(view_call *call, const char *name, const char *choices,
                           unsigned *choice) {
    const sb_slice value = view_call_text(call, name);
    *choice = 0;
    if (value.size == 0)
        return SB_OK;
    sb_slice rest = sb_slice_of(choices);
    for (unsigned i = 0; rest.size > 0; i++) {
        if (sb_slice_equal(sb_slice_cut(rest, '|', &rest), value)) {
            *choice = i;
            return SB_OK;
        }
    }
    SB_FAIL(&call->error, SB_ERR_USAGE, "%s: must be one of %s", name, choices);
}

/* ---- times ---- */

int64_t view_length_in(sb_range range, int64_t start, int64_t end) {
    const int64_t from = start > range.from ? start : range.from;
    const int64_t to = end < range.to ? end : range.to;
    return to > from ? to - from : 0;
}

/* ---- paths ---- */

typedef struct route {
    const char *path;
    sb_status (*answer)(view_call *call);
    const char *parameters; /* "from|to": all it takes */
} route;

static const route routes[] = {
    {"/api/info", view_answer_info, ""},
    {"/api/news", view_answer_news, ""},
    {"/api/tracks", view_answer_tracks, "first|count|filter"},
    {"/api/sources", view_answer_sources, "first|count"},
    {"/api/zones", view_answer_zones, "from|to|width|tracks"},
    {"/api/overview", view_answer_overview, "from|to|width"},
    {"/api/zone", view_answer_zone, "track|zone"},
    {"/api/stats", view_answer_stats, "from|to|track|devices|filter"},
    {"/api/find", view_answer_find, "source|from|to|track|bins|scale|order|first|count"},
    {"/api/flame", view_answer_flame, "from|to|track|devices"},
    {"/api/messages", view_answer_messages, "from|to|width|filter|severity|first|count"},
    {"/api/plots", view_answer_plots, ""},
    {"/api/plot", view_answer_plot, "plot|from|to|width"},
    {"/api/frames", view_answer_frames, "set|from|to|width"},
    {"/api/losses", view_answer_losses, "from|to|first|count"},
    {"/api/search", view_answer_search, "text"},
    {"/api/device", view_answer_device, "from|to|filter"},
    {"/api/ops", view_answer_ops, ""},
    {"/api/runs", view_answer_runs, "first|count|row"},
    {"/api/run", view_answer_run, "op"},
    {"/api/noc", view_answer_noc, "id|from|to"},
    {"/api/locks", view_answer_locks, "from|to|width"},
};

static bool takes(const route *to, const char *name) {
    sb_slice rest = sb_slice_of(to->parameters);
    while (rest.size > 0) {
        if (sb_slice_is(sb_slice_cut(rest, '|', &rest), name))
            return true;
    }
    return false;
}

static sb_status check_parameters(view_call *call, const route *to) {
    for (size_t i = 0; i < call->parameter_count; i++) {
        const view_parameter *parameter = &call->parameters[i];
        if (!takes(to, parameter->name))
            SB_FAIL(&call->error, SB_ERR_USAGE, "%s takes no parameter '%.40s'", to->path,
                    parameter->name);
        if (strlen(parameter->value) > VIEW_VALUE_SIZE)
            SB_FAIL(&call->error, SB_ERR_USAGE, "%s: longer than %d bytes", parameter->name,
                    VIEW_VALUE_SIZE);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(call->parameters[k].name, parameter->name) == 0)
                SB_FAIL(&call->error, SB_ERR_USAGE, "%s: given twice", parameter->name);
        }
    }
    return SB_OK;
}

sb_status view_api_answer(view_call *call, const char *path) {
    call->content_type = "application/json";
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (strcmp(routes[i].path, path) != 0)
            continue;
        SB_TRY(check_parameters(call, &routes[i]));
        return routes[i].answer(call);
    }
    SB_FAIL(&call->error, SB_ERR_NOT_FOUND, "there is nothing at this address");
}
