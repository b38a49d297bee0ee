/*
 * What cores did: the time between executions on each of them (per_core_op_to_op_times), the time
 * of their kernels (core_kernel_stats), and durations of zones by name (zone_stats).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_model.h"

/* ---- from one execution to the next, per core ---- */

/* The original takes this off every value, as the cost of profiling itself. */
enum { PROFILER_OVERHEAD = 1500 };

typedef struct stay {
    uint32_t core;
    uint64_t id;
    const report_core_run *run;
} stay;

typedef struct transition {
    uint64_t start;
    uint64_t from;
    uint64_t to;
    uint64_t cycles;
    uint32_t core;
    uint32_t x;
    uint32_t y;
    bool is_picked;
} transition;

static int compare_stays(const void *a, const void *b) {
    const stay *left = a;
    const stay *right = b;
    if (left->core != right->core)
        return left->core < right->core ? -1 : 1;
    const uint64_t times[] = {left->run->first, right->run->first};
    return times[0] < times[1] ? -1 : times[0] > times[1] ? 1 : 0;
}

static sb_vector collect_stays(const sb_report *report, uint32_t device) {
    sb_vector stays = sb_vector_of(sizeof(stay));
    for (size_t i = 0; i < report->device.programs.count; i++) {
        const report_program *program = report_program_at(&report->device, i);
        const bool is_wanted = program->device == device && !program->is_dropped;
        for (uint32_t k = 0; is_wanted && k < program->run_count; k++)
            *(stay *)sb_vector_push(&stays) =
                (stay){program->runs[k]->core, program->id, program->runs[k]};
    }
    if (stays.count > 1)
        qsort(stays.data, stays.count, sizeof(stay), compare_stays);
    return stays;
}

/* From the last kernel that ended to the next data-moving kernel that starts, per core. */
static sb_vector find_transitions(const sb_report *report, const sb_vector *stays) {
    sb_vector found = sb_vector_of(sizeof(transition));
    const stay *last = NULL;
    for (size_t i = 0; i < stays->count; i++) {
        const stay *now = sb_vector_at(stays, i);
        if (last != NULL && last->core != now->core)
            last = NULL;
        const uint64_t start = now->run->mover_start;
        if (last != NULL && start != UINT64_MAX && start >= last->run->kernel_last) {
            const report_core *core = report_core_at(&report->device, now->core);
            *(transition *)sb_vector_push(&found) = (transition){last->run->kernel_last,
                                                                 last->id,
                                                                 now->id,
                                                                 start - last->run->kernel_last,
                                                                 now->core,
                                                                 core->x,
                                                                 core->y,
                                                                 false};
        }
        if (now->run->kernel_count > 0)
            last = now;
    }
    return found;
}

static int compare_numbers(uint64_t left, uint64_t right) {
    return left < right ? -1 : left > right ? 1 : 0;
}

static int compare_transitions(const void *a, const void *b) {
    const transition *left = *(transition *const *)a;
    const transition *right = *(transition *const *)b;
    const int orders[] = {
        compare_numbers(left->start, right->start), compare_numbers(left->from, right->from),
        compare_numbers(left->to, right->to),       compare_numbers(left->cycles, right->cycles),
        compare_numbers(left->x, right->x),         compare_numbers(left->y, right->y)};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (orders[i] != 0)
            return orders[i];
    }
    return 0;
}

/* The transitions of one core, in its own order; the next to be told is `at`. */
typedef struct queue {
    size_t at;
    size_t end;
} queue;

static queue *make_queues(const sb_report *report, const sb_vector *transitions) {
    queue *queues = sb_alloc_zeroed(report->device.cores.count + 1, sizeof *queues);
    for (size_t i = 0; i < transitions->count; i++) {
        const transition *one = sb_vector_at(transitions, i);
        queue *of = &queues[one->core];
        if (of->end == 0)
            of->at = i;
        of->end = i + 1;
    }
    return queues;
}

static void put_transition(const sb_vector *transitions, const transition *like, queue *queues,
                           const uint32_t *cores, size_t core_count, sb_output *output) {
    for (size_t i = 0; i < core_count; i++) {
        queue *of = &queues[cores[i]];
        sb_put_char(output, ',');
        if (of->at >= of->end)
            continue;
        transition *head = sb_vector_at(transitions, of->at);
        if (head->from != like->from || head->to != like->to)
            continue;
        sb_put_format(output, "%" PRId64, (int64_t)head->cycles - PROFILER_OVERHEAD);
        head->is_picked = true;
        of->at++;
    }
    sb_put_text(output, "\r\n");
}

static void put_device(const sb_report *report, uint32_t device, const uint32_t *cores,
                       size_t core_count, sb_output *output) {
    sb_vector stays = collect_stays(report, device);
    sb_vector transitions = find_transitions(report, &stays);
    transition **sorted = sb_alloc_zeroed(transitions.count + 1, sizeof(transition *));
    queue *queues = make_queues(report, &transitions);
    sb_vector_free(&stays);
    for (size_t i = 0; i < transitions.count; i++)
        sorted[i] = sb_vector_at(&transitions, i);
    qsort(sorted, transitions.count, sizeof(transition *), compare_transitions);
    for (size_t i = 0; i < transitions.count; i++) {
        if (sorted[i]->is_picked)
            continue;
        sb_put_format(output, "%u,%" PRIu64 " -> %" PRIu64, device, sorted[i]->from, sorted[i]->to);
        put_transition(&transitions, sorted[i], queues, cores, core_count, output);
    }
    free(sorted);
    free(queues);
    sb_vector_free(&transitions);
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

void report_put_zone_stats(sb_report *report, sb_output *output) {
    const double clock = (double)report->device.log.clock_mhz;
    sb_put_text(output, "zone,processor,count,total_ns,min_ns,mean_ns,max_ns\r\n");
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
            sb_put_text(output, "\r\n");
        }
    }
}
