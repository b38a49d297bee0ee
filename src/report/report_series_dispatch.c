/*
 * What a dispatch core did for each program. Its processors write a zone per command, with markers
 * inside that name the command and the program it is for.
 */
#include <stdlib.h>

#include "report/report_programs_parts.h"
#include "report/report_series.h"

/* The zones of one program on one processor. */
typedef struct command_op {
    uint64_t program;
    uint64_t time;   /* of the first mark */
    sb_vector marks; /* uint32_t */
} command_op;

typedef struct command_reader {
    sb_vector zone; /* uint32_t: marks since the last end of a zone */
    uint64_t program;
    sb_slice command;
    bool is_last_zone; /* the zone that is open is the program's last */
    sb_vector ops;     /* command_op; some stay empty */
    sb_intern programs;
} command_reader;

static command_op *find_op(command_reader *reader, uint64_t program) {
    const sb_slice key = {(const char *)&program, sizeof program};
    const uint32_t index = sb_intern_add(&reader->programs, key);
    if (index == reader->ops.count)
        *(command_op *)sb_vector_push(&reader->ops) =
            (command_op){.program = program, .marks = sb_vector_of(sizeof(uint32_t))};
    return sb_vector_at(&reader->ops, index);
}

static void end_zone(report_marks *marks, command_reader *reader) {
    command_op *op = find_op(reader, reader->program);
    if (op->marks.count == 0)
        op->time = report_mark_at(marks, report_index_at(&reader->zone, 0))->time;
    for (size_t i = 0; i < reader->zone.count; i++)
        report_push_index(&op->marks, report_index_at(&reader->zone, i));
    report_mark_at(marks, report_index_at(&reader->zone, 0))->zone = reader->command;
    report_mark_at(marks, report_index_at(&reader->zone, reader->zone.count - 1))->zone =
        reader->command;
    sb_vector_clear(&reader->zone);
    if (reader->is_last_zone)
        reader->program = 0;
}

static void take_mark(report_marks *marks, command_reader *reader, uint32_t index) {
    const report_mark *mark = report_mark_at(marks, index);
    uint64_t program = 0;
    sb_slice command;
    report_push_index(&reader->zone, index);
    if (report_meta_number(mark->meta, "workers_runtime_id", &program)) {
        reader->is_last_zone = false;
        /* Only the first execution of a program counts. */
        reader->program = find_op(reader, program)->marks.count == 0 ? program : 0;
    }
    if (report_meta_text(mark->meta, "dispatch_command_type", &command)) {
        reader->command = command;
        if (sb_slice_contains(command, "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL"))
            reader->is_last_zone = true;
        if (sb_slice_contains(command, "CQ_DISPATCH_CMD_SEND_GO_SIGNAL"))
            reader->program++;
    }
    if (mark->type == REPORT_MARKER_END)
        end_zone(marks, reader);
}

static void append(sb_vector *to, const sb_vector *from) {
    for (size_t i = 0; i < from->count; i++)
        report_push_index(to, report_index_at(from, i));
}

static int compare_ops(const void *a, const void *b) {
    const command_op *left = a;
    const command_op *right = b;
    return left->time < right->time ? -1 : left->time > right->time ? 1 : 0;
}

/* Programs that were served, in that order; times differ, since zones follow each other. */
static void sort_ops(command_reader *reader) {
    size_t kept = 0;
    for (size_t i = 0; i < reader->ops.count; i++) {
        command_op *op = sb_vector_at(&reader->ops, i);
        if (op->marks.count > 0)
            *(command_op *)sb_vector_at(&reader->ops, kept++) = *op;
    }
    reader->ops.count = kept;
    if (kept > 1)
        qsort(reader->ops.data, kept, sizeof(command_op), compare_ops);
}

/* Master and subordinate name programs differently, but serve them in the same order. */
static void pair_up(report_marks *marks, const command_reader *master,
                    const command_reader *subordinate, sb_vector *ops) {
    for (size_t i = 0; i < master->ops.count; i++) {
        const command_op *op = sb_vector_at(&master->ops, i);
        if (op->program == 0)
            continue;
        report_series *series = report_marks_add_series(marks);
        append(&series->marks, &op->marks);
        if (i < subordinate->ops.count)
            append(&series->marks, &((command_op *)sb_vector_at(&subordinate->ops, i))->marks);
        report_sort_by_time(marks, &series->marks);
        *(report_series **)sb_vector_push(ops) = series;
    }
}

static void free_reader(command_reader *reader) {
    for (size_t i = 0; i < reader->ops.count; i++)
        sb_vector_free(&((command_op *)sb_vector_at(&reader->ops, i))->marks);
    sb_vector_free(&reader->ops);
    sb_vector_free(&reader->zone);
    sb_intern_free(&reader->programs);
}

static command_reader new_reader(void) {
    command_reader reader = {.zone = sb_vector_of(sizeof(uint32_t)),
                             .command = {"", 0},
                             .ops = sb_vector_of(sizeof(command_op))};
    sb_intern_init(&reader.programs);
    return reader;
}

void report_detect_dispatch_ops(report_marks *marks, report_series_core *core) {
    command_reader master = new_reader();
    command_reader subordinate = new_reader();
    for (size_t i = 0; i < core->all.marks.count; i++) {
        const uint32_t index = report_index_at(&core->all.marks, i);
        const sb_slice processor =
            sb_intern_text(&marks->processors, report_mark_at(marks, index)->processor);
        if (sb_slice_is(processor, "BRISC"))
            take_mark(marks, &master, index);
        else if (sb_slice_is(processor, "NCRISC"))
            take_mark(marks, &subordinate, index);
    }
    sort_ops(&master);
    sort_ops(&subordinate);
    pair_up(marks, &master, &subordinate, &core->ops);
    free_reader(&master);
    free_reader(&subordinate);
}
