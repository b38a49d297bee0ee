/*
 * Answers about ops: the report, which runs of ops the trace has, and the kernels of one.
 *
 * The trace knows runs of ops and the zones that belong to them (sb_trace_find_ops); the report
 * knows what they cost. A row of the report and a run belong together by device and id; the second
 * row with an id is the second run of it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "view/view_call.h"

enum { RUNS = 10000, RUN_KERNELS = 4096 };

/* ---- what is known of each run ---- */

static uint64_t kernel_key(uint32_t track, uint32_t zone) {
    return (uint64_t)track << 32 | zone;
}

static void extend_run(view_run *run, const sb_trace *trace, const sb_op_kernel *kernel) {
    const sb_track *track = sb_trace_track(trace, kernel->track);
    const int64_t start = sb_track_zone_start(track, kernel->zone);
    const int64_t end = sb_track_zone_end(track, kernel->zone);
    const int64_t last = end < start ? start : end;
    run->from = run->kernels == 0 || start < run->from ? start : run->from;
    run->to = run->kernels == 0 || last > run->to ? last : run->to;
    run->kernels++;
}

/* Runs by device and id, in order, and how many of them have a row. */
typedef struct run_matches {
    sb_intern keys;
    sb_vector lists; /* sb_vector of uint32_t: ops */
    sb_vector used;  /* size_t */
} run_matches;

static uint32_t place_of(run_matches *all, uint64_t device, uint64_t id) {
    const uint64_t key[] = {device, id};
    const uint32_t place = sb_intern_add(&all->keys, (sb_slice){(const char *)key, sizeof key});
    if (place == all->lists.count) {
        *(sb_vector *)sb_vector_push(&all->lists) = sb_vector_of(sizeof(uint32_t));
        sb_vector_push(&all->used);
    }
    return place;
}

static void match_row(run_matches *all, sb_view *view, const sb_perf_row *row) {
    double id = 0;
    /* What a trace captured has a row of its own, with no time. */
    if (row->is_host_op || row->kind == SB_PERF_SIGNPOST ||
        !(sb_perf_or_zero(row->device_time) > 0) || !sb_parse_double(row->call_count, &id) ||
        !(id >= 0 && id < 1e18))
        return;
    const double device = sb_perf_or_zero(row->device);
    const uint32_t place = place_of(all, device >= 0 ? (uint64_t)device : 0, (uint64_t)id);
    const sb_vector *list = sb_vector_at(&all->lists, place);
    size_t *used = sb_vector_at(&all->used, place);
    if (*used >= list->count)
        return;
    const uint32_t op = *(uint32_t *)sb_vector_at(list, (*used)++);
    ((view_run *)sb_vector_at(&view->runs, op))->row = row->id;
}

static void match_rows(sb_view *view) {
    run_matches all = {.lists = sb_vector_of(sizeof(sb_vector)),
                       .used = sb_vector_of(sizeof(size_t))};
    sb_intern_init(&all.keys);
    for (uint32_t i = 0; i < view->runs.count; i++) {
        const sb_op *op = sb_series_at(&view->trace->ops, i);
        const uint32_t place = place_of(&all, op->device, op->id);
        *(uint32_t *)sb_vector_push(sb_vector_at(&all.lists, place)) = i;
    }
    for (size_t i = 0; i < view->ops->row_count; i++)
        match_row(&all, view, &view->ops->rows[i]);
    for (size_t i = 0; i < all.lists.count; i++)
        sb_vector_free(sb_vector_at(&all.lists, i));
    sb_vector_free(&all.lists);
    sb_vector_free(&all.used);
    sb_intern_free(&all.keys);
}

static void add_runs(sb_view *view) {
    const sb_trace *trace = view->trace;
    const uint64_t ops = sb_series_count(&trace->ops);
    if (view->runs.count == ops)
        return;
    while (view->runs.count < ops)
        sb_vector_push(&view->runs);
    for (uint64_t i = 0; i < sb_series_count(&trace->op_kernels); i++) {
        const sb_op_kernel *kernel = sb_series_at(&trace->op_kernels, i);
        view_run *run = sb_vector_at(&view->runs, kernel->op);
        if (run->kernels == 0)
            run->first_kernel = i;
        extend_run(run, trace, kernel);
        sb_idmap_set(&view->kernels, kernel_key(kernel->track, kernel->zone), kernel->op);
    }
    if (view->ops != NULL)
        match_rows(view);
}

void view_find_runs(sb_view *view) {
    pthread_mutex_lock(&view->derived);
    add_runs(view);
    pthread_mutex_unlock(&view->derived);
}

uint32_t view_op_of(sb_view *view, uint32_t number, uint32_t zone) {
    const sb_track *track = sb_trace_track(view->trace, number);
    uint32_t op = SB_NONE;
    for (uint32_t outer = zone; outer != SB_NONE; outer = sb_track_zone_parent(track, outer))
        zone = outer;
    sb_idmap_get(&view->kernels, kernel_key(number, zone), &op);
    return op;
}

/* ---- answers ---- */

static void put_run(view_call *call, uint32_t number) {
    const sb_trace *trace = call->view->trace;
    const sb_op *op = sb_series_at(&trace->ops, number);
    const view_run *run = sb_vector_at(&call->view->runs, number);
    sb_put_format(call->body, "{\"op\":%u,\"id\":%" PRIu64 ",\"device\":%u,\"name\":", number,
                  op->id, op->device);
    sb_put_json(call->body, sb_trace_text(trace, op->name));
    sb_put_format(call->body, ",\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"kernels\":%" PRIu64,
                  run->from, run->to, run->kernels);
    if (run->row != 0)
        sb_put_format(call->body, ",\"row\":%" PRId64, run->row);
    sb_put_char(call->body, '}');
}

void view_put_op(view_call *call, const char *name, uint32_t op) {
    sb_put_format(call->body, ",\"%s\":", name);
    put_run(call, op);
}

/* Runs one after the other; with `row`, the one of that row of the report. */
sb_status view_answer_runs(view_call *call) {
    int64_t first = 0;
    int64_t count = 0;
    int64_t row = -1;
    SB_TRY(view_call_page(call, RUNS, &first, &count));
    SB_TRY(view_call_integer(call, "row", 0, INT32_MAX, &row));
    pthread_mutex_lock(&call->view->derived);
    const int64_t total = (int64_t)call->view->runs.count;
    int64_t written = 0;
    sb_put_text(call->body, "{\"runs\":[");
    for (int64_t i = row >= 0 ? 0 : first; i < total && written < count; i++) {
        const view_run *run = sb_vector_at(&call->view->runs, (size_t)i);
        if (row >= 0 && run->row != row)
            continue;
        if (written++ > 0)
            sb_put_char(call->body, ',');
        put_run(call, (uint32_t)i);
    }
    pthread_mutex_unlock(&call->view->derived);
    sb_put_format(call->body, "],\"total\":%" PRId64 "}", total);
    return SB_OK;
}

/* Where and when the host asked for a run. */
void view_put_call(view_call *call, uint32_t number) {
    const sb_trace *trace = call->view->trace;
    const sb_op *op = sb_series_at(&trace->ops, number);
    if (op->start == SB_NO_TIME)
        return;
    const uint32_t host = sb_trace_track_of_thread(trace, op->thread);
    sb_put_format(call->body, ",\"issue\":{\"time\":%" PRId64, op->start);
    if (host != SB_NONE) {
        const uint32_t around = sb_track_zone_at(sb_trace_track(trace, host), op->start);
        sb_put_format(call->body, ",\"track\":%u", host);
        if (around != SB_NONE) {
            sb_put_text(call->body, ",\"zone\":");
            view_put_zone(call->body, trace, host, around);
        }
    }
    sb_put_char(call->body, '}');
}

static void put_kernels(view_call *call, uint32_t number) {
    const sb_trace *trace = call->view->trace;
    sb_put_text(call->body, "{\"run\":");
    put_run(call, number);
    view_put_call(call, number);
    const view_run *run = sb_vector_at(&call->view->runs, number);
    uint64_t written = 0;
    sb_put_text(call->body, ",\"zones\":[");
    for (uint64_t i = run->first_kernel;
         written < run->kernels && written < RUN_KERNELS && i < sb_series_count(&trace->op_kernels);
         i++) {
        const sb_op_kernel *kernel = sb_series_at(&trace->op_kernels, i);
        if (kernel->op != number)
            continue;
        if (written++ > 0)
            sb_put_char(call->body, ',');
        view_put_zone(call->body, trace, kernel->track, kernel->zone);
    }
    sb_put_text(call->body, "]}");
}

sb_status view_answer_run(view_call *call) {
    int64_t number = -1;
    pthread_mutex_lock(&call->view->derived);
    const int64_t count = (int64_t)call->view->runs.count;
    sb_status status = view_call_integer(call, "op", 0, count - 1, &number);
    if (status == SB_OK && number >= 0)
        put_kernels(call, (uint32_t)number);
    pthread_mutex_unlock(&call->view->derived);
    if (status == SB_OK && number < 0)
        SB_FAIL(&call->error, SB_ERR_USAGE, "op: is needed");
    return status;
}

/* Runs that were asked for while a host zone was open. */
void view_put_asked(view_call *call, uint32_t track, int64_t start, int64_t end) {
    enum { SHOWN = 50 };
    const sb_trace *trace = call->view->trace;
    const uint32_t thread = sb_trace_track(trace, track)->thread;
    uint64_t found = 0;
    sb_put_text(call->body, ",\"asked\":[");
    for (uint32_t i = 0; i < call->view->runs.count; i++) {
        const sb_op *op = sb_series_at(&trace->ops, i);
        if (op->start == SB_NO_TIME || op->thread != thread || op->start < start ||
            (end != SB_NO_TIME && op->start > end))
            continue;
        if (found < SHOWN) {
            if (found > 0)
                sb_put_char(call->body, ',');
            put_run(call, i);
        }
        found++;
    }
    sb_put_format(call->body, "],\"askedCount\":%" PRIu64, found);
}

sb_status view_answer_ops(view_call *call) {
    if (call->view->ops == NULL)
        SB_FAIL(&call->error, SB_ERR_NOT_FOUND, "no ops report was found with this trace");
    sb_perf_write_json(call->view->ops, call->body);
    return SB_OK;
}
