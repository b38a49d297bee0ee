/*
 * The page as one file: its parts inline, and with them the answers it would have asked for.
 *
 * The zones are in the page one by one, so it can zoom, select and count on its own. Inside a
 * script a '<' could end it, so in JSON, where it only stands in texts, it is escaped.
 */
#include <stdio.h>
#include <string.h>

#include "view/view_assets.h"
#include "view/view_call.h"
#include "view/view_curve.h"

static sb_slice asset(const char *path) {
    for (size_t i = 0; i < view_asset_count; i++) {
        if (strcmp(view_assets[i].path, path) == 0)
            return view_assets[i].bytes;
    }
    return (sb_slice){"", 0};
}

static void put_script_json(sb_output *output, sb_slice json) {
    while (json.size > 0) {
        const size_t before = json.size;
        sb_slice rest;
        const sb_slice part = sb_slice_cut(json, '<', &rest);
        sb_put(output, part);
        if (part.size < before)
            sb_put_text(output, "\\u003c");
        json = rest;
    }
}

static void put_base64(sb_output *output, sb_slice bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const sb_slice padding = SB_SLICE("=");
    const unsigned char *data = (const unsigned char *)bytes.data;
    for (size_t i = 0; i < bytes.size; i += 3) {
        const size_t left = bytes.size - i;
        const unsigned group = (unsigned)data[i] << 16 |
                               (left > 1 ? (unsigned)data[i + 1] << 8 : 0) |
                               (left > 2 ? data[i + 2] : 0U);
        sb_put_char(output, digits[group >> 18]);
        sb_put_char(output, digits[group >> 12 & 63]);
        sb_put(output, left > 1 ? (sb_slice){&digits[group >> 6 & 63], 1} : padding);
        sb_put(output, left > 2 ? (sb_slice){&digits[group & 63], 1} : padding);
    }
}

/* ---- answers ---- */

typedef struct page {
    sb_view *view;
    sb_output *output;
    char from[32];
    char to[32];
} page;

/* Asks the API as the page would, and writes the answer under a name. */
static sb_status put_answer(const page *made, const char *name, const char *path,
                            const view_parameter *parameters, size_t count, sb_error *error) {
    sb_output body = sb_output_to_memory();
    view_call call = {
        .view = made->view, .wants_all = true, .body = &body, .parameter_count = count};
    for (size_t i = 0; i < count; i++)
        call.parameters[i] = parameters[i];
    const sb_status status = view_api_answer(&call, path);
    if (status == SB_OK) {
        sb_put_format(made->output, ",\"%s\":", name);
        if (strcmp(call.content_type, "application/json") == 0) {
            put_script_json(made->output, sb_output_text(&body));
        } else {
            sb_put_char(made->output, '"');
            put_base64(made->output, sb_output_text(&body));
            sb_put_char(made->output, '"');
        }
    } else if (error != NULL) {
        *error = call.error;
    }
    sb_output_discard(&body);
    return status;
}

typedef struct page_part {
    const char *name;
    const char *path;
    view_parameter extra; /* besides the range; no name: none */
    bool has_range;
} page_part;

static const page_part page_parts[] = {
    {"info", "/api/info", {NULL, NULL}, false},
    {"tracks", "/api/tracks", {"count", "10000"}, false},
    {"sources", "/api/sources", {"count", "20000"}, false},
    {"stats", "/api/stats", {"devices", "0"}, true},
    {"deviceStats", "/api/stats", {"devices", "1"}, true},
    {"messages", "/api/messages", {"count", "2000"}, true},
    {"losses", "/api/losses", {"count", "2000"}, true},
    {"flame", "/api/flame", {"devices", "0"}, true},
    {"deviceFlame", "/api/flame", {"devices", "1"}, true},
    {"device", "/api/device", {NULL, NULL}, true},
    {"overview", "/api/overview", {"width", "1024"}, false},
    {"plots", "/api/plots", {NULL, NULL}, false},
    {"runs", "/api/runs", {"count", "10000"}, false},
    {"locks", "/api/locks", {"width", "4096"}, true},
};

static sb_status put_part(const page *made, const page_part *part, sb_error *error) {
    view_parameter parameters[3];
    size_t count = 0;
    if (part->extra.name != NULL)
        parameters[count++] = part->extra;
    if (part->has_range) {
        parameters[count++] = (view_parameter){"from", made->from};
        parameters[count++] = (view_parameter){"to", made->to};
    }
    return put_answer(made, part->name, part->path, parameters, count, error);
}

/* Answers of which there are several, one after the other: plots and sets of frames. */
static sb_status put_numbered(const page *made, const char *name, const char *path,
                              const char *parameter, uint64_t first, uint64_t count,
                              sb_error *error) {
    for (uint64_t i = first; i < first + count; i++) {
        char number[24];
        char key[48];
        snprintf(number, sizeof number, "%llu", (unsigned long long)i);
        snprintf(key, sizeof key, "%s%s", name, number);
        const view_parameter parameters[] = {
            {parameter, number}, {"from", made->from}, {"to", made->to}, {"width", "4096"}};
        SB_TRY(put_answer(made, key, path, parameters, 4, error));
    }
    return SB_OK;
}

/* ---- zones ---- */

static bool count_zone(void *context, const sb_track *track, uint32_t zone) {
    uint64_t *zones = context;
    (void)track;
    (void)zone;
    return ++*zones <= SB_VIEW_PAGE_ZONES;
}

static sb_status check_size(const sb_trace *trace, sb_range range, sb_error *error) {
    uint64_t zones = 0;
    for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++)
        sb_track_visit(sb_trace_track(trace, i), range, count_zone, &zones);
    if (zones > SB_VIEW_PAGE_ZONES)
        SB_FAIL(error, SB_ERR_LIMIT,
                "there are more than %d zones between the two times, which is what a page may "
                "hold; choose less with --from and --to",
                SB_VIEW_PAGE_ZONES);
    return SB_OK;
}

/* All zones of all tracks, the tracks in as many documents as it takes. */
static sb_status put_zones(const page *made, sb_error *error) {
    enum { BATCH = 512, NUMBER_SIZE = 12 };
    const uint64_t tracks = sb_series_count(&made->view->trace->tracks);
    sb_status status = SB_OK;
    for (uint64_t first = 0; first < tracks && status == SB_OK; first += BATCH) {
        char key[32];
        sb_output list = sb_output_to_memory();
        for (uint64_t i = first; i < tracks && i < first + BATCH; i++)
            sb_put_format(&list, "%s%llu", i == first ? "" : ",", (unsigned long long)i);
        sb_put_char(&list, '\0');
        snprintf(key, sizeof key, "zones%llu", (unsigned long long)(first / BATCH));
        const view_parameter parameters[] = {
            {"from", made->from}, {"to", made->to}, {"tracks", sb_output_text(&list).data}};
        status = put_answer(made, key, "/api/zones", parameters, 3, error);
        sb_output_discard(&list);
    }
    return status;
}

static sb_status put_data(const page *made, sb_error *error) {
    const sb_trace *trace = made->view->trace;
    sb_put_format(made->output, "{\"from\":%s,\"to\":%s", made->from, made->to);
    for (size_t i = 0; i < sizeof page_parts / sizeof page_parts[0]; i++)
        SB_TRY(put_part(made, &page_parts[i], error));
    SB_TRY(
        put_numbered(made, "plot", "/api/plot", "plot", 0, sb_series_count(&trace->plots), error));
    SB_TRY(put_numbered(made, "plot", "/api/plot", "plot", VIEW_POOL_FIRST,
                        sb_series_count(&trace->pools), error));
    SB_TRY(put_numbered(made, "frames", "/api/frames", "set", 0,
                        sb_series_count(&trace->frame_sets), error));
    if (made->view->transfers.size > 0)
        SB_TRY(put_answer(made, "transfers", "/api/noc", NULL, 0, error));
    if (made->view->ops != NULL)
        SB_TRY(put_answer(made, "ops", "/api/ops", NULL, 0, error));
    SB_TRY(put_zones(made, error));
    sb_put_char(made->output, '}');
    return SB_OK;
}

sb_status sb_view_write_page(sb_view *view, sb_range range, sb_output *output, sb_error *error) {
    SB_TRY(check_size(view->trace, range, error));
    page made = {.view = view, .output = output};
    const int64_t end = view_index_end(view->index) + 1;
    const int64_t from = range.from < 0 ? 0 : range.from;
    int64_t to = range.to > end ? end : range.to;
    to = to > from ? to : from + 1;
    snprintf(made.from, sizeof made.from, "%lld", (long long)from);
    snprintf(made.to, sizeof made.to, "%lld", (long long)to);
    sb_put_text(
        output,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>Strobe</title>"
        "<style>");
    sb_put(output, asset("/app.css"));
    sb_put_text(output, "</style></head><body><div id=\"app\"></div>"
                        "<script type=\"application/json\" id=\"strobe-data\">");
    SB_TRY(put_data(&made, error));
    sb_put_text(output, "</script><script>");
    sb_put(output, asset("/app.js"));
    sb_put_text(output, "</script></body></html>\n");
    return SB_OK;
}
