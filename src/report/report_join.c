/*
 * Which op of the host is which execution on a device, and in what order rows stand.
 */
#include <stdlib.h>
#include <string.h>

#include "report/report_model.h"

/* ---- executions by device and id ---- */

typedef struct sortable {
    const report_program *program;
    uint32_t index;
} sortable;

static int compare_keys(const report_program *program, int64_t device, uint64_t id) {
    if ((int64_t)program->device != device)
        return (int64_t)program->device < device ? -1 : 1;
    return program->id < id ? -1 : program->id > id ? 1 : 0;
}

static int compare_sortables(const void *a, const void *b) {
    const sortable *left = a;
    const sortable *right = b;
    const int order =
        compare_keys(left->program, (int64_t)right->program->device, right->program->id);
    if (order != 0)
        return order;
    if (left->program->first != right->program->first)
        return left->program->first < right->program->first ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

void report_sort_programs(sb_report *report) {
    const size_t all = report->device.programs.count;
    sortable *programs = sb_alloc_zeroed(all + 1, sizeof *programs);
    size_t count = 0;
    for (size_t i = 0; i < all; i++) {
        const report_program *program = report_program_at(&report->device, i);
        if (!program->is_dropped && program->id != 0)
            programs[count++] = (sortable){program, (uint32_t)i};
    }
    qsort(programs, count, sizeof *programs, compare_sortables);
    report->programs_by_id = sb_alloc_zeroed(count + 1, sizeof *report->programs_by_id);
    report->program_count = count;
    for (size_t i = 0; i < count; i++)
        report->programs_by_id[i] = programs[i].index;
    free(programs);
}

static const report_program *sorted_at(const sb_report *report, size_t index) {
    return report_program_at(&report->device, report->programs_by_id[index]);
}

size_t report_find_programs(const sb_report *report, int64_t device, uint64_t id, size_t *first) {
    size_t low = 0;
    size_t high = report->program_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_keys(sorted_at(report, middle), device, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < report->program_count && compare_keys(sorted_at(report, end), device, id) == 0)
        end++;
    *first = low;
    return end - low;
}

/*
 * Dispatch cores name programs as workers do, or by the base id alone, of which they keep 16 bits.
 */
static bool is_dispatched_as(const report_program *program, uint64_t id) {
    enum { DEVICE_BITS = 10, BASE_MASK = 0xffff, BASE_BITS = 21 };
    const uint64_t base = program->id >> DEVICE_BITS & ((1U << BASE_BITS) - 1);
    return program->id == id || (base & BASE_MASK) == id;
}

report_dispatch_times report_find_dispatch(const sb_report *report, const report_program *program) {
    report_dispatch_times times = {0};
    for (size_t i = 0; i < report->device.dispatch_ops.count; i++) {
        const report_dispatch_op *op = sb_vector_at(&report->device.dispatch_ops, i);
        if (op->device != program->device || !is_dispatched_as(program, op->id))
            continue;
        times.has_total = op->commands.count >= 2;
        times.total = op->commands.last - op->commands.first;
        times.has_go = op->go.count >= 2;
        times.go = op->go.last - op->go.first;
    }
    return times;
}

/* ---- replays ---- */

/* When a trace was replayed for the n-th time, n from 1; false if it was not. */
static bool find_replay(const sb_report *report, int64_t device, int64_t trace, int64_t n,
                        int64_t *time) {
    int64_t seen = 0;
    for (size_t i = 0; i < report->host.replays.count; i++) {
        const report_replay *replay = sb_vector_at(&report->host.replays, i);
        if (replay->device != device || replay->trace != trace || ++seen < n)
            continue;
        *time = replay->time;
        return n > 0;
    }
    return false;
}

static int64_t count_replays(const sb_report *report, int64_t device, int64_t trace) {
    int64_t count = 0;
    for (size_t i = 0; i < report->host.replays.count; i++) {
        const report_replay *replay = sb_vector_at(&report->host.replays, i);
        count += replay->device == device && replay->trace == trace ? 1 : 0;
    }
    return count;
}

/* ---- rows ---- */

static report_row *add_row(sb_report *report, report_row_kind kind, uint32_t op, int64_t time) {
    report_row *row = sb_vector_push(&report->rows);
    row->kind = kind;
    row->op = op;
    row->time = time;
    row->order = (uint32_t)report->rows.count;
    row->trace = REPORT_NO_TRACE;
    row->session = REPORT_NO_TRACE;
    return row;
}

static int64_t time_of(const report_op *op) {
    return op->has_zone ? op->start : op->message_time;
}

static bool is_damaged(const report_op *op) {
    return op->info->is_cut || !op->has_zone;
}

static sb_completeness judge(const report_op *op, const report_program *program) {
    if (op != NULL && is_damaged(op))
        return SB_TRUNCATED;
    if (program != NULL && program->is_broken)
        return SB_TRUNCATED;
    const bool is_repeated =
        (op != NULL && op->is_repeated) || (program != NULL && program->is_repeated);
    return is_repeated ? SB_DUPLICATE : SB_COMPLETE;
}

/* Rows of the host's ops, those of replays apart: they stand behind all others of the same time. */
typedef struct join {
    sb_report *report;
    sb_vector replays; /* report_row */
    bool *is_used;     /* by program */
} join;

static void add_replay_row(join *at, uint32_t op_index, uint32_t program, int64_t session) {
    sb_report *report = at->report;
    const report_op *op = report_op_at(&report->host, op_index);
    report_row *row = sb_vector_push(&at->replays);
    *row = (report_row){.kind = REPORT_ROW_REPLAY,
                        .op = op_index,
                        .program = program,
                        .trace = op->trace,
                        .session = session,
                        .time = op->message_time};
    const bool is_known = find_replay(report, op->info->device, op->trace, session, &row->time);
    if (program == 0) {
        row->completeness = SB_NO_DEVICE_DATA;
        return;
    }
    row->completeness = judge(op, report_program_at(&report->device, program - 1));
    if (!is_known && row->completeness == SB_COMPLETE)
        row->completeness = SB_NO_HOST_DATA;
}

/* The executions of a captured op: one row for each replay. */
static void join_replays(join *at, uint32_t op_index, size_t first, size_t count) {
    sb_report *report = at->report;
    const report_op *op = report_op_at(&report->host, op_index);
    const int64_t replays = count_replays(report, op->info->device, op->trace);
    bool *seen = sb_alloc_zeroed((size_t)replays + 1, sizeof *seen);
    report_row *captured = add_row(report, REPORT_ROW_OP, op_index, time_of(op));
    captured->completeness = replays == 0 && count == 0 ? SB_NOT_REPLAYED : judge(op, NULL);
    for (size_t i = 0; i < count; i++) {
        const uint32_t program = report->programs_by_id[first + i];
        const int64_t named = report_program_at(&report->device, program)->session;
        const int64_t session = named == REPORT_NO_TRACE ? (int64_t)i + 1 : named;
        at->is_used[program] = true;
        if (session >= 1 && session <= replays)
            seen[session - 1] = true;
        add_replay_row(at, op_index, program + 1, session);
    }
    for (int64_t session = 1; session <= replays; session++) {
        if (!seen[session - 1])
            add_replay_row(at, op_index, 0, session);
    }
    free(seen);
}

static void join_plain(join *at, uint32_t op_index, size_t first, size_t count) {
    sb_report *report = at->report;
    const report_op *op = report_op_at(&report->host, op_index);
    if (count == 0) {
        report_row *row = add_row(report, REPORT_ROW_OP, op_index, time_of(op));
        row->completeness = op->trace != REPORT_NO_TRACE ? SB_NOT_REPLAYED : SB_NO_DEVICE_DATA;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t program = report->programs_by_id[first + i];
        report_row *row = add_row(report, REPORT_ROW_OP, op_index, time_of(op));
        row->program = program + 1;
        row->completeness =
            i > 0 ? SB_DUPLICATE : judge(op, report_program_at(&report->device, program));
        at->is_used[program] = true;
    }
}

/* ---- with the figures of the runtime ---- */

static const report_cpp_row *cpp_at(const sb_report *report, size_t sorted, uint32_t *index) {
    *index = *(uint32_t *)sb_vector_at(&report->cpp.sorted, sorted);
    return sb_vector_at(&report->cpp.rows, *index);
}

/* The execution in the log that a row of the file describes: index + 1, or 0. */
static uint32_t program_of_cpp(const sb_report *report, const report_cpp_row *row) {
    size_t first = 0;
    const size_t count = report_find_programs(report, row->device, row->id, &first);
    for (size_t i = 0; i < count; i++) {
        const report_program *program = sorted_at(report, first + i);
        if (program->trace == row->trace && program->session == row->session)
            return report->programs_by_id[first + i] + 1;
    }
    return 0;
}

static void add_cpp_row(join *at, uint32_t op_index, const report_cpp_row *cpp, uint32_t index) {
    sb_report *report = at->report;
    const report_op *op = report_op_at(&report->host, op_index);
    const uint32_t program = program_of_cpp(report, cpp);
    report_row row = {.kind = REPORT_ROW_OP, .op = op_index, .program = program, .cpp = index + 1};
    if (program != 0)
        at->is_used[program - 1] = true;
    row.completeness =
        judge(op, program == 0 ? NULL : report_program_at(&report->device, program - 1));
    row.trace = REPORT_NO_TRACE;
    row.session = REPORT_NO_TRACE;
    if (cpp->session == REPORT_NO_TRACE) {
        report_row *added = add_row(report, REPORT_ROW_OP, op_index, time_of(op));
        row.time = added->time;
        row.order = added->order;
        *added = row;
        return;
    }
    row.kind = REPORT_ROW_REPLAY;
    row.trace = cpp->trace;
    row.session = cpp->session;
    row.time = op->message_time;
    find_replay(report, op->info->device, cpp->trace, cpp->session, &row.time);
    *(report_row *)sb_vector_push(&at->replays) = row;
}

static void join_cpp(join *at, uint32_t op_index) {
    sb_report *report = at->report;
    const report_op *op = report_op_at(&report->host, op_index);
    size_t first = 0;
    const size_t count = report_cpp_find(&report->cpp, op->info->device, op->id, &first);
    bool has_trace = false;
    bool has_plain = false;
    uint32_t index = 0;
    for (size_t i = 0; i < count; i++)
        has_trace = has_trace || cpp_at(report, first + i, &index)->trace == op->trace;
    for (size_t i = 0; i < count; i++) {
        const report_cpp_row *row = cpp_at(report, first + i, &index);
        if (has_trace && row->trace != op->trace)
            continue;
        has_plain = has_plain || row->session == REPORT_NO_TRACE;
        add_cpp_row(at, op_index, row, index);
    }
    if (has_plain)
        return;
    report_row *row = add_row(report, REPORT_ROW_OP, op_index, time_of(op));
    if (count > 0)
        row->completeness = judge(op, NULL); /* the op as it was captured */
    else if (op->trace != REPORT_NO_TRACE &&
             count_replays(report, op->info->device, op->trace) == 0)
        row->completeness = SB_NOT_REPLAYED;
    else
        row->completeness = SB_NO_DEVICE_DATA;
}

/* ---- all of it ---- */

static void join_op(join *at, uint32_t index) {
    sb_report *report = at->report;
    const report_op *op = report_op_at(&report->host, index);
    if (!op->info->has_device) {
        const sb_completeness verdict = judge(op, NULL);
        add_row(report, REPORT_ROW_OP, index, time_of(op))->completeness =
            verdict == SB_COMPLETE ? SB_HOST_ONLY : verdict;
        return;
    }
    if (report->options.no_device) {
        add_row(report, REPORT_ROW_OP, index, time_of(op))->completeness = judge(op, NULL);
        return;
    }
    if (report->has_cpp) {
        join_cpp(at, index);
        return;
    }
    size_t first = 0;
    const size_t count = report_find_programs(report, op->info->device, op->id, &first);
    if (op->trace != REPORT_NO_TRACE && report->host.replays.count > 0)
        join_replays(at, index, first, count);
    else
        join_plain(at, index, first, count);
}

/* Devices in the order in which the host first used them. */
static size_t device_rank(const sb_vector *devices, int64_t device) {
    for (size_t i = 0; i < devices->count; i++) {
        if (*(int64_t *)sb_vector_at(devices, i) == device)
            return i;
    }
    return devices->count;
}

typedef struct ranked {
    report_row row;
    size_t rank;
    uint64_t id;
} ranked;

static int compare_ranked(const void *a, const void *b) {
    const ranked *left = a;
    const ranked *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return left->row.session < right->row.session ? -1 : left->row.session > right->row.session;
}

static void append_replays(join *at) {
    sb_report *report = at->report;
    sb_vector devices = sb_vector_of(sizeof(int64_t));
    for (size_t i = 0; i < report->host.ops.count; i++) {
        const report_op_info *info = report_op_at(&report->host, i)->info;
        if (info->has_device && device_rank(&devices, info->device) == devices.count)
            *(int64_t *)sb_vector_push(&devices) = info->device;
    }
    ranked *rows = sb_alloc_zeroed(at->replays.count + 1, sizeof *rows);
    for (size_t i = 0; i < at->replays.count; i++) {
        const report_row *row = sb_vector_at(&at->replays, i);
        const report_op *op = report_op_at(&report->host, row->op);
        rows[i] = (ranked){*row, device_rank(&devices, op->info->device), op->id};
    }
    qsort(rows, at->replays.count, sizeof *rows, compare_ranked);
    for (size_t i = 0; i < at->replays.count; i++) {
        report_row *added = sb_vector_push(&report->rows);
        *added = rows[i].row;
        added->order = (uint32_t)report->rows.count;
    }
    free(rows);
    sb_vector_free(&devices);
}

/* Executions that no op of the host asked for. Replays bring some along that are no ops. */
static void add_strangers(join *at) {
    sb_report *report = at->report;
    for (size_t i = 0; i < report->program_count; i++) {
        const uint32_t program = report->programs_by_id[i];
        if (at->is_used[program])
            continue;
        if (report->host.replays.count > 0 || report->has_cpp) {
            report->strangers++;
            continue;
        }
        report_row *row = add_row(report, REPORT_ROW_DEVICE, 0, INT64_MAX);
        row->program = program + 1;
        row->completeness = SB_NO_HOST_DATA;
    }
}

static int compare_rows(const void *a, const void *b) {
    const report_row *left = a;
    const report_row *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

void report_join(sb_report *report) {
    join at = {.report = report, .replays = sb_vector_of(sizeof(report_row))};
    at.is_used = sb_alloc_zeroed(report->device.programs.count + 1, sizeof *at.is_used);
    for (uint32_t i = 0; i < report->host.ops.count; i++)
        join_op(&at, i);
    append_replays(&at);
    for (uint32_t i = 0; i < report->host.signposts.count; i++) {
        const report_signpost *signpost = sb_vector_at(&report->host.signposts, i);
        add_row(report, REPORT_ROW_SIGNPOST, i, signpost->time);
    }
    add_strangers(&at);
    if (report->rows.count > 1)
        qsort(report->rows.data, report->rows.count, sizeof(report_row), compare_rows);
    sb_vector_free(&at.replays);
    free(at.is_used);
}
