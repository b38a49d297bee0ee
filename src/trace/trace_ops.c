/*
 * Ops of a recording: which run of which op each kernel belongs to.
 *
 * Recordings of programs for Tenstorrent devices have no records of ops. But the host leaves a
 * message for each that it calls,
 *
 *     `TT_DNN_DEVICE_OP: "NAME", HASH, DEVICE, CACHED, ID ->...
 *     `TT_METAL_TRACE_BEGIN: DEVICE, TRACE`     ops until END are captured, not run
 *     `TT_METAL_TRACE_REPLAY: DEVICE, TRACE`    all that were captured run once more
 *
 * and on each core of a device the outermost zone of one processor has the function "OP ID:ID".
 * What else ran on the core meanwhile belongs to the same run. The second time that a core has an
 * id is the second run of it, on all cores.
 *
 * An SM of a GPU runs many warps of an op, at once and in turn. There each outermost zone that has
 * the function belongs to the run itself, and replays are numbered: "OP ID:ID, replay 2".
 */
#include <stdlib.h>
#include <string.h>

#include "trace/trace_core.h"
#include "trace/trace_model.h"

enum { NO_TRACE = -1 };

/* A device by the number that a program has for it: in a session each has its own. */
typedef struct op_device {
    uint32_t process;
    int64_t number;
} op_device;

/* What the host says of an op. */
typedef struct host_op {
    uint64_t id;
    op_device device;
    int64_t trace; /* that it was captured in, or NO_TRACE */
    int64_t start;
    int64_t end;
    uint32_t thread;
    sb_string name;
    size_t order; /* of its message */
} host_op;

typedef struct replay {
    op_device device;
    int64_t trace;
    int64_t time;
    uint32_t thread;
    size_t order;
} replay;

/* The outermost zone of a core that names its op. */
typedef struct named_zone {
    int64_t start;
    int64_t end;
    uint32_t op; /* number in the trace */
} named_zone;

/* What the function of a source names. */
typedef struct source_op {
    bool is_named;
    uint64_t id;
    uint64_t run; /* how many there were before, where that is said */
} source_op;

typedef struct ops_finder {
    sb_trace *trace;
    sb_vector host_ops;    /* host_op, by device, id and order */
    sb_vector replays;     /* replay, by device, trace and order */
    sb_vector capturing;   /* replay, of which device and trace: BEGIN without END */
    source_op *source_ops; /* by source */
    uint64_t source_count; /* of those */
    sb_intern runs;        /* process, device, id and how often before: the number of the op */
    sb_intern seen;        /* context and id: how often, in seen_counts */
    sb_vector seen_counts; /* uint64_t */
    sb_vector named;       /* named_zone, of one core */
} ops_finder;

/* ---- the host ---- */

/* Messages that are larger than others stand between ticks. */
static sb_slice without_tick(sb_slice text) {
    return sb_slice_starts_with(text, "`") ? sb_slice_after(text, 1) : text;
}

/* The numbers behind a colon: "..: 0, 1". */
static unsigned read_numbers(sb_slice text, int64_t numbers[], unsigned most) {
    const size_t colon = sb_slice_find(text, ":");
    unsigned count = 0;
    if (colon == SB_NOT_FOUND)
        return 0;
    sb_slice rest = sb_slice_after(text, colon + 1);
    while (rest.size > 0 && count < most) {
        sb_slice part = sb_slice_trim(sb_slice_cut(rest, ',', &rest));
        if (part.size > 0 && part.data[part.size - 1] == '`')
            part.size--;
        if (!sb_parse_int64(part, &numbers[count]))
            return count;
        count++;
    }
    return count;
}

static op_device device_of(const ops_finder *finder, int64_t number, uint32_t thread) {
    return (op_device){sb_trace_thread_at(finder->trace, thread)->process, number};
}

static int compare_devices(op_device left, op_device right) {
    if (left.process != right.process)
        return left.process < right.process ? -1 : 1;
    return (left.number > right.number) - (left.number < right.number);
}

static int64_t capture_of(const ops_finder *finder, op_device device) {
    for (size_t i = finder->capturing.count; i-- > 0;) {
        const replay *capture = sb_vector_at(&finder->capturing, i);
        if (compare_devices(capture->device, device) == 0)
            return capture->trace;
    }
    return NO_TRACE;
}

static void take_trace(ops_finder *finder, sb_slice text, const sb_message *message) {
    int64_t numbers[2];
    if (read_numbers(text, numbers, 2) != 2)
        return;
    const replay found = {.device = device_of(finder, numbers[0], message->thread),
                          .trace = numbers[1],
                          .time = message->time,
                          .thread = message->thread,
                          .order = finder->replays.count};
    if (sb_slice_contains(text, "_BEGIN")) {
        *(replay *)sb_vector_push(&finder->capturing) = found;
    } else if (sb_slice_contains(text, "_REPLAY")) {
        *(replay *)sb_vector_push(&finder->replays) = found;
    } else if (sb_slice_contains(text, "_END")) {
        for (size_t i = 0; i < finder->capturing.count; i++) {
            replay *capture = sb_vector_at(&finder->capturing, i);
            if (compare_devices(capture->device, found.device) == 0)
                capture->device.number = -1; /* none has this number */
        }
    }
}

/* The zone of the call: the outermost around the message that is called like one, else any. */
static void find_call(const sb_trace *trace, const sb_message *message, host_op *op) {
    const uint32_t number = sb_trace_track_of_thread(trace, message->thread);
    op->start = op->end = message->time;
    if (number == SB_NONE)
        return;
    const sb_track *track = sb_trace_track(trace, number);
    const uint32_t around = sb_track_zone_at(track, message->time);
    uint32_t best = around;
    for (uint32_t zone = around; zone != SB_NONE; zone = sb_track_zone_parent(track, zone)) {
        const sb_slice name = sb_trace_source_name(trace, sb_track_zone_source(track, zone));
        if (sb_slice_contains(name, "TT_DNN") || sb_slice_contains(name, "TT_METAL"))
            best = zone;
    }
    if (best == SB_NONE)
        return;
    op->start = sb_track_zone_start(track, best);
    op->end = sb_track_zone_end(track, best);
}

/* NAME in quotes, a hash, the device, whether it was cached, the id and what follows it. */
bool sb_trace_parse_op(sb_slice text, sb_op_message *message) {
    static const char start[] = "TT_DNN_DEVICE_OP: \"";
    int64_t device = 0;
    int64_t id = 0;
    text = without_tick(text);
    if (!sb_slice_starts_with(text, start))
        return false;
    sb_slice rest;
    message->name = sb_slice_cut(sb_slice_after(text, sizeof start - 1), '"', &rest);
    sb_slice_cut(rest, ',', &rest);
    sb_slice_cut(rest, ',', &rest);
    const sb_slice device_text = sb_slice_trim(sb_slice_cut(rest, ',', &rest));
    sb_slice_cut(rest, ',', &rest);
    rest = sb_slice_trim(rest);
    size_t digits = 0;
    while (digits < rest.size && rest.data[digits] >= '0' && rest.data[digits] <= '9')
        digits++;
    if (!sb_parse_int64(device_text, &device) || device < 0 ||
        !sb_parse_int64(sb_slice_first(rest, digits), &id) || id < 0)
        return false;
    message->device = (uint64_t)device;
    message->id = (uint64_t)id;
    return true;
}

static void take_op(ops_finder *finder, const sb_op_message *call, const sb_message *message) {
    const op_device device = device_of(finder, (int64_t)call->device, message->thread);
    host_op op = {.id = call->id,
                  .device = device,
                  .trace = capture_of(finder, device),
                  .thread = message->thread,
                  .name = sb_trace_string(finder->trace, call->name),
                  .order = finder->host_ops.count};
    find_call(finder->trace, message, &op);
    *(host_op *)sb_vector_push(&finder->host_ops) = op;
}

static int compare_keys(int64_t left, int64_t right, size_t left_order, size_t right_order) {
    if (left != right)
        return left < right ? -1 : 1;
    return (left_order > right_order) - (left_order < right_order);
}

static int compare_host_ops(const void *a, const void *b) {
    const host_op *left = a;
    const host_op *right = b;
    const int order = compare_devices(left->device, right->device);
    if (order != 0)
        return order;
    return compare_keys((int64_t)left->id, (int64_t)right->id, left->order, right->order);
}

static int compare_replays(const void *a, const void *b) {
    const replay *left = a;
    const replay *right = b;
    const int order = compare_devices(left->device, right->device);
    if (order != 0)
        return order;
    return compare_keys(left->trace, right->trace, left->order, right->order);
}

static void read_messages(ops_finder *finder) {
    const uint64_t count = sb_series_count(&finder->trace->messages);
    for (uint64_t i = 0; i < count; i++) {
        const sb_message *message = sb_series_at(&finder->trace->messages, i);
        const sb_slice text = without_tick(sb_trace_text(finder->trace, message->text));
        sb_op_message call;
        if (sb_trace_parse_op(text, &call))
            take_op(finder, &call, message);
        else if (sb_slice_starts_with(text, "TT_METAL_TRACE_") &&
                 !sb_slice_starts_with(text, "TT_METAL_TRACE_ENQUEUE"))
            take_trace(finder, text, message);
    }
    if (finder->host_ops.count > 0)
        qsort(finder->host_ops.data, finder->host_ops.count, sizeof(host_op), compare_host_ops);
    if (finder->replays.count > 0)
        qsort(finder->replays.data, finder->replays.count, sizeof(replay), compare_replays);
}

/* ---- devices ---- */

/* "OP ID:ID" or "OP ID:ID, replay N", from 1 on. */
static source_op read_source(sb_slice function) {
    static const char start[] = "OP ID:";
    static const char replayed[] = " replay ";
    int64_t id = -1;
    int64_t number_of_replay = 1;
    sb_slice rest = {"", 0};
    if (!sb_slice_starts_with(function, start))
        return (source_op){0};
    const sb_slice number = sb_slice_cut(sb_slice_after(function, sizeof start - 1), ',', &rest);
    const bool says_replay = sb_slice_starts_with(rest, replayed);
    if (!sb_parse_int64(number, &id) || id < 0 || (rest.size > 0 && !says_replay) ||
        (says_replay &&
         !sb_parse_int64(sb_slice_after(rest, sizeof replayed - 1), &number_of_replay)) ||
        number_of_replay < 1)
        return (source_op){0};
    return (source_op){true, (uint64_t)id, (uint64_t)number_of_replay - 1};
}

static bool read_sources(ops_finder *finder) {
    const sb_trace *trace = finder->trace;
    bool found = false;
    finder->source_count = sb_series_count(&trace->sources);
    finder->source_ops = sb_alloc_zeroed(finder->source_count, sizeof *finder->source_ops);
    for (uint64_t i = 0; i < finder->source_count; i++) {
        finder->source_ops[i] =
            read_source(sb_trace_text(trace, sb_trace_source(trace, (uint32_t)i)->function));
        found = found || finder->source_ops[i].is_named;
    }
    return found;
}

/* The first element that does not come before the wanted one. */
static size_t first_not_before(const sb_vector *sorted, const void *wanted,
                               int (*compare)(const void *, const void *)) {
    size_t low = 0;
    size_t high = sorted->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(sb_vector_at(sorted, middle), wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The op as the host called it for the n-th time; the last one if it was called less often. */
static const host_op *find_host_op(const ops_finder *finder, op_device device, uint64_t id,
                                   uint64_t n) {
    const host_op first = {.device = device, .id = id};
    const host_op last = {.device = device, .id = id, .order = SIZE_MAX};
    const size_t begin = first_not_before(&finder->host_ops, &first, compare_host_ops);
    const size_t end = first_not_before(&finder->host_ops, &last, compare_host_ops);
    if (begin == end)
        return NULL;
    return sb_vector_at(&finder->host_ops, n < end - begin ? begin + n : end - 1);
}

static const replay *find_replay(const ops_finder *finder, op_device device, int64_t trace,
                                 uint64_t n) {
    const replay first = {.device = device, .trace = trace};
    const size_t begin = first_not_before(&finder->replays, &first, compare_replays);
    if (n >= finder->replays.count - begin)
        return NULL;
    const replay *found = sb_vector_at(&finder->replays, begin + n);
    const bool fits = compare_devices(found->device, device) == 0 && found->trace == trace;
    return fits ? found : NULL;
}

/* A run that has not been seen on any core yet. */
static void add_run(ops_finder *finder, op_device device, uint64_t id, uint64_t n) {
    sb_op op = {.start = SB_NO_TIME,
                .end = SB_NO_TIME,
                .id = id,
                .program = id,
                .device = (uint32_t)device.number};
    const host_op *called = find_host_op(finder, device, id, n);
    if (called != NULL) {
        op.name = called->name;
        op.start = called->start;
        op.end = called->end;
        op.thread = called->thread;
    }
    if (called != NULL && called->trace != NO_TRACE) {
        const replay *asked = find_replay(finder, device, called->trace, n);
        op.start = op.end = asked == NULL ? SB_NO_TIME : asked->time;
        op.thread = asked == NULL ? 0 : asked->thread;
    }
    sb_trace_add_op(finder->trace, &op);
}

/* The n-th run of an id. */
static uint32_t run_of(ops_finder *finder, op_device device, uint64_t id, uint64_t n) {
    const uint64_t run[] = {device.process, (uint64_t)device.number, id, n};
    const uint32_t known = sb_intern_count(&finder->runs);
    const uint32_t op = sb_intern_add(&finder->runs, (sb_slice){(const char *)run, sizeof run});
    if (op == known)
        add_run(finder, device, id, n);
    return op;
}

/* The op that a core runs when it shows an id once more. */
static uint32_t next_run(ops_finder *finder, uint32_t context, op_device device, uint64_t id) {
    const uint64_t on_core[] = {context, id};
    const uint32_t place =
        sb_intern_add(&finder->seen, (sb_slice){(const char *)on_core, sizeof on_core});
    if (place == finder->seen_counts.count)
        sb_vector_push(&finder->seen_counts);
    uint64_t *count = sb_vector_at(&finder->seen_counts, place);
    return run_of(finder, device, id, (*count)++);
}

static int compare_starts(const void *a, const void *b) {
    const int64_t left = ((const named_zone *)a)->start;
    const int64_t right = ((const named_zone *)b)->start;
    return (left > right) - (left < right);
}

/* Is it an outermost zone that names an op? */
static bool names_op(const ops_finder *finder, const sb_zone_block *block, uint64_t i) {
    const bool is_outer = block->parent == NULL || block->parent[i] == 0;
    return is_outer && block->source[i] < finder->source_count &&
           finder->source_ops[block->source[i]].is_named;
}

/* Zones of a lane that name an op, as if their sources were ops. */
static void collect_named(ops_finder *finder, const sb_track *track) {
    const uint64_t count = sb_track_zone_count(track);
    for (uint64_t zone = 0; zone < count;) {
        const sb_zone_block block = sb_track_block(track, zone, count);
        for (uint64_t i = 0; i < block.count; i++) {
            const int64_t end = sb_track_zone_end(track, (uint32_t)(zone + i));
            if (!names_op(finder, &block, i) || end == SB_NO_TIME)
                continue;
            *(named_zone *)sb_vector_push(&finder->named) =
                (named_zone){block.start[i], end, block.source[i]};
        }
        zone += block.count;
    }
}

/* The op that ran on the core while a zone did, or SB_NONE. */
static uint32_t op_during(const sb_vector *named, int64_t start, int64_t end) {
    const named_zone *all = (const named_zone *)(const void *)named->data;
    size_t low = 0;
    size_t high = named->count;
    while (low < high) { /* the first that begins after the zone does */
        const size_t middle = low + (high - low) / 2;
        if (all[middle].start <= start)
            low = middle + 1;
        else
            high = middle;
    }
    const bool before = low > 0 && all[low - 1].end > start;
    const bool after = low < named->count && all[low].start < end;
    if (before && after)
        return all[low - 1].end - start >= end - all[low].start ? all[low - 1].op : all[low].op;
    return before ? all[low - 1].op : after ? all[low].op : SB_NONE;
}

static void add_kernels(ops_finder *finder, uint32_t number) {
    const sb_track *track = sb_trace_track(finder->trace, number);
    const uint64_t count = sb_track_zone_count(track);
    for (uint64_t zone = 0; zone < count; zone++) {
        if (sb_track_zone_parent(track, (uint32_t)zone) != SB_NONE)
            continue;
        const int64_t start = sb_track_zone_start(track, (uint32_t)zone);
        const int64_t end = sb_track_zone_end(track, (uint32_t)zone);
        const uint32_t op = op_during(&finder->named, start, end == SB_NO_TIME ? start + 1 : end);
        if (op != SB_NONE)
            sb_trace_add_op_kernel(finder->trace, &(sb_op_kernel){op, number, (uint32_t)zone});
    }
}

/* A lane of an SM. */
static void read_warps(ops_finder *finder, uint32_t device_number, uint32_t number) {
    const sb_track *track = sb_trace_track(finder->trace, number);
    const op_device device = device_of(finder, device_number, track->thread);
    const uint64_t count = sb_track_zone_count(track);
    for (uint64_t zone = 0; zone < count;) {
        const sb_zone_block block = sb_track_block(track, zone, count);
        for (uint64_t i = 0; i < block.count; i++) {
            if (!names_op(finder, &block, i))
                continue;
            const source_op *named = &finder->source_ops[block.source[i]];
            const uint32_t op = run_of(finder, device, named->id, named->run);
            sb_trace_add_op_kernel(finder->trace,
                                   &(sb_op_kernel){op, number, (uint32_t)(zone + i)});
        }
        zone += block.count;
    }
}

/* All lanes of one core. */
static void read_core(ops_finder *finder, uint32_t context, const uint32_t *lanes, size_t count) {
    const sb_trace *trace = finder->trace;
    const sb_slice name = sb_trace_text(trace, sb_trace_context(trace, context)->name);
    sb_core core;
    for (size_t i = 0; i < count; i++) {
        sb_sm sm;
        if (sb_trace_track_sm(trace, sb_trace_track(trace, lanes[i]), &sm))
            read_warps(finder, sm.device, lanes[i]);
    }
    if (!sb_core_parse(name, &core))
        return;
    sb_vector_clear(&finder->named);
    for (size_t i = 0; i < count; i++)
        collect_named(finder, sb_trace_track(trace, lanes[i]));
    if (finder->named.count == 0)
        return;
    qsort(finder->named.data, finder->named.count, sizeof(named_zone), compare_starts);
    const op_device device =
        device_of(finder, core.device, sb_trace_track(trace, lanes[0])->thread);
    for (size_t i = 0; i < finder->named.count; i++) {
        named_zone *zone = sb_vector_at(&finder->named, i);
        zone->op = next_run(finder, context, device, finder->source_ops[zone->op].id);
    }
    for (size_t i = 0; i < count; i++)
        add_kernels(finder, lanes[i]);
}

static void read_cores(ops_finder *finder) {
    const sb_trace *trace = finder->trace;
    const uint64_t contexts = sb_series_count(&trace->contexts);
    sb_vector lanes = sb_vector_of(sizeof(uint32_t));
    for (uint64_t context = 0; context < contexts; context++) {
        sb_vector_clear(&lanes);
        for (uint64_t i = 0; i < sb_series_count(&trace->tracks); i++) {
            if (sb_trace_track(trace, i)->context == context)
                *(uint32_t *)sb_vector_push(&lanes) = (uint32_t)i;
        }
        read_core(finder, (uint32_t)context, (const uint32_t *)(const void *)lanes.data,
                  lanes.count);
    }
    sb_vector_free(&lanes);
}

void sb_trace_find_ops(sb_trace *trace) {
    if (sb_series_count(&trace->ops) > 0)
        return;
    ops_finder finder = {.trace = trace,
                         .host_ops = sb_vector_of(sizeof(host_op)),
                         .replays = sb_vector_of(sizeof(replay)),
                         .capturing = sb_vector_of(sizeof(replay)),
                         .seen_counts = sb_vector_of(sizeof(uint64_t)),
                         .named = sb_vector_of(sizeof(named_zone))};
    sb_intern_init(&finder.runs);
    sb_intern_init(&finder.seen);
    if (read_sources(&finder)) {
        read_messages(&finder);
        read_cores(&finder);
    }
    free(finder.source_ops);
    sb_vector_free(&finder.host_ops);
    sb_vector_free(&finder.replays);
    sb_vector_free(&finder.capturing);
    sb_vector_free(&finder.seen_counts);
    sb_vector_free(&finder.named);
    sb_intern_free(&finder.runs);
    sb_intern_free(&finder.seen);
}
