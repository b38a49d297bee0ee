/*
 * Dispatch cores: what they did for each program.
 *
 * A dispatch core's master works through commands, a zone each; markers inside say for which
 * program (workers_runtime_id) and which command. Its subordinate sends the go signals. The report
 * wants two times of a program: from its first to its last command, and how long its go signal
 * took. Programs of the two are matched by their order.
 */
#include <stdlib.h>
#include <string.h>

#include "report/report_programs_parts.h"

/* What one processor did for one program. */
typedef struct part {
    uint64_t id;
    uint64_t first; /* its first marker */
    report_span span;
} part;

typedef struct side {
    uint64_t id; /* of the program being worked on; 0: none */
    bool is_last_command;
    bool command_counts; /* the command of the open zone is one to be timed */
    bool in_zone;
    uint64_t zone_first;
    report_span inner; /* markers inside the zone that count by their own name */
    sb_vector parts;   /* part, in order of appearance */
    sb_intern ids;
} side;

typedef struct dispatch_core {
    uint32_t core;
    side sides[2]; /* BRISC, NCRISC */
} dispatch_core;

struct report_dispatch {
    sb_vector cores; /* dispatch_core */
};

static dispatch_core *find_core(report_device_log *read, uint32_t core) {
    if (read->dispatch == NULL) {
        read->dispatch = sb_alloc_zeroed(1, sizeof *read->dispatch);
        read->dispatch->cores = sb_vector_of(sizeof(dispatch_core));
    }
    sb_vector *cores = &read->dispatch->cores;
    for (size_t i = cores->count; i > 0; i--) {
        dispatch_core *found = sb_vector_at(cores, i - 1);
        if (found->core == core)
            return found;
    }
    dispatch_core *added = sb_vector_push(cores);
    added->core = core;
    for (int i = 0; i < 2; i++) {
        added->sides[i].parts = sb_vector_of(sizeof(part));
        sb_intern_init(&added->sides[i].ids);
    }
    return added;
}

static part *find_part(side *on, uint64_t id) {
    const uint32_t index = sb_intern_add(&on->ids, (sb_slice){(const char *)&id, sizeof id});
    if (index < on->parts.count)
        return sb_vector_at(&on->parts, index);
    part *added = sb_vector_push(&on->parts);
    added->id = id;
    added->first = UINT64_MAX;
    return added;
}

static void extend(report_span *span, uint64_t first, uint64_t last, uint64_t count) {
    if (count == 0)
        return;
    if (span->count == 0 || first < span->first)
        span->first = first;
    if (span->count == 0 || last > span->last)
        span->last = last;
    span->count += count;
}

/* A marker that names the program; only its first execution is timed. */
static void take_program(side *on, const report_marker *marker) {
    uint64_t id = 0;
    if (!report_meta_number(marker->meta, "workers_runtime_id", &id))
        return;
    on->is_last_command = false;
    const bool is_known = find_part(on, id)->first != UINT64_MAX;
    on->id = is_known ? 0 : id;
}

static void take_command(side *on, const report_marker *marker, bool is_master) {
    sb_slice command;
    if (!report_meta_text(marker->meta, "dispatch_command_type", &command))
        return;
    const bool is_go = sb_slice_contains(command, "CQ_DISPATCH_CMD_SEND_GO_SIGNAL");
    on->command_counts = is_master ? sb_slice_contains(command, "CQ_DISPATCH_")
                                   : sb_slice_is(command, "CQ_DISPATCH_CMD_SEND_GO_SIGNAL");
    if (sb_slice_contains(command, "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL"))
        on->is_last_command = true;
    if (is_go)
        on->id++;
}

static void close_zone(side *on, uint64_t time) {
    part *of = find_part(on, on->id);
    if (on->zone_first < of->first)
        of->first = on->zone_first;
    if (on->command_counts)
        extend(&of->span, on->zone_first, time, 2);
    extend(&of->span, on->inner.first, on->inner.last, on->inner.count);
    on->inner = (report_span){0};
    on->in_zone = false;
    if (on->is_last_command)
        on->id = 0;
}

void report_dispatch_marker(report_device_log *read, uint32_t core, report_processor processor,
                            const report_marker *marker) {
    if (processor > REPORT_NCRISC)
        return;
    side *on = &find_core(read, core)->sides[processor];
    const bool is_master = processor == REPORT_BRISC;
    const bool opens = !on->in_zone;
    if (opens) {
        on->in_zone = true;
        on->zone_first = marker->time;
    }
    if (marker->meta.size > 0) {
        take_program(on, marker);
        take_command(on, marker, is_master);
    }
    if (marker->type == REPORT_MARKER_END)
        close_zone(on, marker->time);
    else if (!opens && is_master && sb_slice_contains(marker->zone, "CQ_DISPATCH_"))
        extend(&on->inner, marker->time, marker->time, 1);
}

static int compare_parts(const void *a, const void *b) {
    const part *left = a;
    const part *right = b;
    return left->first < right->first ? -1 : left->first > right->first ? 1 : 0;
}

static void add_ops(report_device_log *read, dispatch_core *core) {
    sb_vector *masters = &core->sides[0].parts;
    sb_vector *subordinates = &core->sides[1].parts;
    if (masters->count > 1)
        qsort(masters->data, masters->count, sizeof(part), compare_parts);
    if (subordinates->count > 1)
        qsort(subordinates->data, subordinates->count, sizeof(part), compare_parts);
    for (size_t i = 0; i < masters->count; i++) {
        const part *master = sb_vector_at(masters, i);
        if (master->id == 0)
            continue;
        report_dispatch_op *op = sb_vector_push(&read->dispatch_ops);
        op->device = report_core_at(read, core->core)->device;
        op->id = master->id;
        op->commands = master->span;
        if (i < subordinates->count)
            op->go = ((const part *)sb_vector_at(subordinates, i))->span;
    }
}

void report_dispatch_finish(report_device_log *read) {
    if (read->dispatch == NULL)
        return;
    for (size_t i = 0; i < read->dispatch->cores.count; i++)
        add_ops(read, sb_vector_at(&read->dispatch->cores, i));
}

void report_dispatch_free(report_device_log *read) {
    if (read->dispatch == NULL)
        return;
    for (size_t i = 0; i < read->dispatch->cores.count; i++) {
        dispatch_core *core = sb_vector_at(&read->dispatch->cores, i);
        for (int k = 0; k < 2; k++) {
            sb_vector_free(&core->sides[k].parts);
            sb_intern_free(&core->sides[k].ids);
        }
    }
    sb_vector_free(&read->dispatch->cores);
    free(read->dispatch);
    read->dispatch = NULL;
}
