/*
 * What cores did: the time between executions on each of them (per_core_op_to_op_times), the time
 * of their kernels (core_kernel_stats), and durations of zones by name (zone_stats).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_costs.h"
#include "report/report_model.h"

/* ---- from one execution to the next, per core ---- */

/* The original takes this off every value, as the cost of profiling itself. */
enum { PROFILER_OVERHEAD = 1500 };

/* What a core did for one program. */
typedef struct stay {
    const report_core_run *run;
    uint64_t id;
} stay;

/* From the last kernel that ended to the next data-moving kernel that starts. */
typedef struct transition {
    uint64_t start;
    uint64_t from;
    uint64_t to;
    uint64_t cycles;
} transition;

/* The stays of one core in order of time, and the transition that comes next. */
typedef struct queue {
    stay *next;
    stay *end;
    const stay *last; /* the last one with a kernel */
    transition head;
    bool has_head;
} queue;

static int compare_numbers(uint64_t left, uint64_t right) {
    return left < right ? -1 : left > right ? 1 : 0;
}

static int compare_stays(const void *a, const void *b) {
    return compare_numbers(((const stay *)a)->run->first, ((const stay *)b)->run->first);
}

static bool is_wanted(const report_program *program, uint32_t device) {
    return program->device == device && !program->is_dropped;
}

/* Makes room for the stays of every core, one core behind the other. */
static stay *make_room(const sb_report *report, uint32_t device, queue *queues) {
    size_t *counts = sb_alloc_zeroed(report->device.cores.count + 1, sizeof *counts);
    size_t all = 0;
    for (size_t i = 0; i < report->device.programs.count; i++) {
        const report_program *program = report_program_at(&report->device, i);
        for (uint32_t k = 0; is_wanted(program, device) && k < program->run_count; k++, all++)
            counts[program->runs[k]->core]++;
    }
    stay *stays = sb_alloc_zeroed(all + 1, sizeof *stays);
    stay *at = stays;
    for (size_t i = 0; i < report->device.cores.count; i++) {
        queues[i].next = at;
        queues[i].end = at;
        at += counts[i];
    }
    free(counts);
    return stays;
}

static void sort_stays(queue *of) {
    bool is_sorted = true;
    for (const stay *one = of->next; is_sorted && one + 1 < of->end; one++)
        is_sorted = one->run->first <= one[1].run->first;
    if (!is_sorted)
        qsort(of->next, (size_t)(of->end - of->next), sizeof(stay), compare_stays);
}

/* Goes on to the next transition of a core. */
static void advance(queue *of) {
    of->has_head = false;
    while (of->next < of->end && !of->has_head) {
        const stay *now = of->next++;
        const uint64_t start = now->run->mover_start;
        if (of->last != NULL && start != UINT64_MAX && start >= of->last->run->kernel_last) {
            const uint64_t end = of->last->run->kernel_last;
            of->head = (transition){end, of->last->id, now->id, start - end};
            of->has_head = true;
        }
        if (now->run->kernel_count > 0)
            of->last = now;
    }
}

/* A queue per core, and one that is always empty; *stays is what they point into. */
static queue *make_queues(const sb_report *report, uint32_t device, stay **stays) {
    const size_t count = report->device.cores.count;
    queue *queues = sb_alloc_zeroed(count + 1, sizeof *queues);
    *stays = make_room(report, device, queues);
    for (size_t i = 0; i < report->device.programs.count; i++) {
        const report_program *program = report_program_at(&report->device, i);
        for (uint32_t k = 0; is_wanted(program, device) && k < program->run_count; k++)
            *queues[program->runs[k]->core].end++ = (stay){program->runs[k], program->id};
    }
    for (size_t i = 0; i < count; i++) {
        sort_stays(&queues[i]);
        advance(&queues[i]);
    }
    return queues;
}

static int compare_transitions(const transition *left, const transition *right) {
    const int orders[] = {
        compare_numbers(left->start, right->start),
        compare_numbers(left->from, right->from),
        compare_numbers(left->to, right->to),
        compare_numbers(left->cycles, right->cycles),
    };
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (orders[i] != 0)
            return orders[i];
    }
    return 0;
}

/* The earliest of all that come next; of equal ones, that of the first core. */
static bool find_earliest(const queue *queues, const uint32_t *cores, size_t core_count,
                          transition *earliest) {
    bool found = false;
    for (size_t i = 0; i < core_count; i++) {
        const queue *of = &queues[cores[i]];
        if (!of->has_head || (found && compare_transitions(&of->head, earliest) >= 0))
            continue;
        *earliest = of->head;
        found = true;
    }
    return found;
}

static void put_transition(const transition *like, queue *queues, const uint32_t *cores,
                           size_t core_count, sb_output *output) {
    for (size_t i = 0; i < core_count; i++) {
        queue *of = &queues[cores[i]];
        sb_put_char(output, ',');
        if (!of->has_head || of->head.from != like->from || of->head.to != like->to)
            continue;
        char text[SB_NUMBER_SIZE];
        const int64_t cycles = (int64_t)of->head.cycles - PROFILER_OVERHEAD;
        sb_put(output, (sb_slice){text, sb_format_int64(cycles, text)});
        advance(of);
    }
    sb_put_text(output, "\r\n");
}

static void put_device(const sb_report *report, uint32_t device, const uint32_t *cores,
                       size_t core_count, sb_output *output) {
    stay *stays = NULL;
    queue *queues = make_queues(report, device, &stays);
    transition next;
    while (find_earliest(queues, cores, core_count, &next)) {
        sb_put_format(output, "%u,%" PRIu64 " -> %" PRIu64, device, next.from, next.to);
        put_transition(&next, queues, cores, core_count, output);
    }
    free(queues);
    free(stays);
}

/* ---- cores in order ---- */

typedef struct placed {
    const report_core *core;
    uint32_t index;
} placed;

static int compare_places(const void *a, const void *b) {
    const placed *left = a;
    const placed *right = b;
    const int orders[] = {compare_numbers(left->core->x, right->core->x),
                          compare_numbers(left->core->y, right->core->y),
                          compare_numbers(left->core->device, right->core->device)};
    return orders[0] != 0 ? orders[0] : orders[1] != 0 ? orders[1] : orders[2];
}

static placed *sort_cores(const sb_report *report) {
    placed *cores = sb_alloc_zeroed(report->device.cores.count + 1, sizeof *cores);
    for (uint32_t i = 0; i < report->device.cores.count; i++)
        cores[i] = (placed){report_core_at(&report->device, i), i};
    qsort(cores, report->device.cores.count, sizeof *cores, compare_places);
    return cores;
}

static bool is_same_place(const report_core *left, const report_core *right) {
    return left->x == right->x && left->y == right->y;
}

/* A column per place; devices share the places that they both have. */
static size_t put_core_titles(const placed *sorted, size_t count, sb_output *output) {
    size_t columns = 0;
    sb_put_text(output, "device ID,op2op ID");
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && is_same_place(sorted[i].core, sorted[i - 1].core))
            continue;
        sb_put_format(output, ",%u; %u [ns]", sorted[i].core->x, sorted[i].core->y);
        columns++;
    }
    sb_put_text(output, "\r\n");
    return columns;
}

/* Which core of a device stands in each column; one that is on no device stands for none. */
static void find_columns(const sb_report *report, const placed *sorted, uint32_t device,
                         uint32_t *cores) {
    const size_t count = report->device.cores.count;
    size_t column = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !is_same_place(sorted[i].core, sorted[i - 1].core))
            column++;
        if (i == 0 || !is_same_place(sorted[i].core, sorted[i - 1].core))
            cores[column] = (uint32_t)count; /* an empty queue */
        if (sorted[i].core->device == device)
            cores[column] = sorted[i].index;
    }
}

void report_put_per_core_csv(sb_report *report, sb_output *output) {
    const size_t count = report->device.cores.count;
    placed *sorted = sort_cores(report);
    uint32_t *cores = sb_alloc_zeroed(count + 1, sizeof *cores);
    const size_t columns = put_core_titles(sorted, count, output);
    for (size_t i = 0; i < count; i++) {
        const uint32_t device = report_core_at(&report->device, i)->device;
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && report_core_at(&report->device, k)->device != device;
        if (!is_new)
            continue;
        find_columns(report, sorted, device, cores);
        put_device(report, device, cores, columns, output);
    }
    free(cores);
    free(sorted);
}

/* ---- kernels of a core ---- */

typedef struct core_sum {
    uint64_t programs;
    uint64_t total;
    uint64_t min;
    uint64_t max;
    double excess; /* sum of span / longest span of the program */
} core_sum;

static void add_program(const report_program *program, core_sum *sums) {
    report_per_core cores;
    if (!report_program_per_core(program, &cores))
        return;
    for (uint32_t i = 0; i < program->run_count; i++) {
        const report_core_run *run = program->runs[i];
        if (run->kernel_count < 2)
            continue;
        const uint64_t cycles = run->kernel_last - run->kernel_first;
        core_sum *sum = &sums[run->core];
        if (sum->programs == 0 || cycles < sum->min)
            sum->min = cycles;
        if (cycles > sum->max)
            sum->max = cycles;
        sum->programs++;
        sum->total += cycles;
        sum->excess += cores.max == 0 ? 1 : (double)cycles / (double)cores.max;
    }
}

static void put_number(sb_output *output, double value) {
    char text[SB_NUMBER_SIZE];
    sb_put_char(output, ',');
    sb_put(output, (sb_slice){text, sb_format_fixed(value, 1, false, text)});
}

void report_put_core_stats(sb_report *report, sb_output *output) {
    const size_t count = report->device.cores.count;
    core_sum *sums = sb_alloc_zeroed(count + 1, sizeof *sums);
    const double clock = (double)report->device.log.clock_mhz;
    for (size_t i = 0; i < report->program_count; i++)
        add_program(report_program_at(&report->device, report->programs_by_id[i]), sums);
    sb_put_text(output, "device,core_x,core_y,programs,kernel_total_ns,kernel_min_ns,"
                        "kernel_mean_ns,kernel_max_ns,mean_share_of_slowest_core_percent\r\n");
    for (size_t i = 0; i < count; i++) {
        const report_core *core = report_core_at(&report->device, i);
        const core_sum *sum = &sums[i];
        if (sum->programs == 0 || clock <= 0)
            continue;
        const double programs = (double)sum->programs;
        sb_put_format(output, "%u,%u,%u,%" PRIu64, core->device, core->x, core->y, sum->programs);
        put_number(output, (double)sum->total * 1000 / clock);
        put_number(output, (double)sum->min * 1000 / clock);
        put_number(output, (double)sum->total * 1000 / clock / programs);
        put_number(output, (double)sum->max * 1000 / clock);
        put_number(output, 100 * sum->excess / programs);
        sb_put_text(output, "\r\n");
    }
    free(sums);
}

/* ---- zones ---- */

/* The mean without what the profiler took for the zones inside; only where that is known. */
static void put_corrected(sb_output *output, const struct report_zone_sum *sum, double cost,
                          double clock) {
    const double inner = (double)sum->inner * cost;
    const double total = (double)sum->total > inner ? (double)sum->total - inner : 0;
    sb_put_format(output, ",%" PRIu64, sum->inner);
    put_number(output, total * 1000 / clock / (double)sum->count);
}

void report_put_zone_stats(sb_report *report, sb_output *output) {
    const double clock = (double)report->device.log.clock_mhz;
    const report_costs costs = report_read_costs(report->log_folder);
    sb_put_text(output, "zone,processor,count,total_ns,min_ns,mean_ns,max_ns");
    sb_put_text(output, costs.is_known ? ",inner_zones,corrected_mean_ns\r\n" : "\r\n");
    for (size_t i = 0; i < report->device.zones.count && clock > 0; i++) {
        const report_zone *zone = sb_vector_at(&report->device.zones, i);
        for (int k = 0; k < REPORT_PROCESSORS; k++) {
            const struct report_zone_sum *sum = &zone->sums[k];
            if (sum->count == 0)
                continue;
            sb_put_csv(output, zone->name);
            sb_put_format(output, ",%s,%" PRIu64, report_processor_name((report_processor)k),
                          sum->count);
            put_number(output, (double)sum->total * 1000 / clock);
            put_number(output, (double)sum->min * 1000 / clock);
            put_number(output, (double)sum->total * 1000 / clock / (double)sum->count);
            put_number(output, (double)sum->max * 1000 / clock);
            if (costs.is_known)
                put_corrected(output, sum, costs.zone[k], clock);
            sb_put_text(output, "\r\n");
        }
    }
}
