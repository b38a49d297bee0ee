/*
 * Several devices run the same program; the report shows one row per step.
 *
 * Each device has a queue of its ops. A step takes the op at the head of each queue that has it:
 * for collectives, which all devices leave together, their average time counts, for everything else
 * the slowest device.
 *
 * When a device lacks an op the heads differ. The original then follows the lowest device without
 * looking ahead, so that all later steps are shifted (compat does the same). We look ahead and take
 * the op that the waiting devices can follow up soonest.
 */
#include "perf/perf_model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum {
    DEVICES_MAX = 4096,
    LOOK_AHEAD = 64,
    CANDIDATES_MAX = 8,
    WARNINGS_MAX = 20,
};

typedef struct device_queue {
    double device;
    perf_record **items;
    size_t count;
    size_t next;
} device_queue;

typedef struct device_merge {
    sb_perf_store *store;
    device_queue *queues;
    size_t queue_count;
    perf_record **items;  /* behind all queues */
    perf_record **result; /* merged and other records */
    size_t result_count;
    size_t step;
    size_t gaps; /* steps at which some device lacked the op */
} device_merge;

/* ---- queues ---- */

static int compare_device(const void *a, const void *b) {
    const double first = ((const device_queue *)a)->device;
    const double second = ((const device_queue *)b)->device;
    return (first > second) - (first < second);
}

static device_queue *find_queue(const device_merge *merge, double device) {
    const device_queue key = {.device = device};
    if (merge->queue_count == 0)
        return NULL;
    return bsearch(&key, merge->queues, merge->queue_count, sizeof key, compare_device);
}

/* One empty queue for each device in the window; false if there are too many. */
static bool find_devices(device_merge *merge) {
    const sb_perf_store *store = merge->store;
    for (size_t i = 0; i < store->order_count; i++) {
        const double device = store->order[i]->device;
        if (isnan(device) || find_queue(merge, device) != NULL)
            continue;
        if (merge->queue_count == DEVICES_MAX)
            return false;
        merge->queues[merge->queue_count++] = (device_queue){.device = device};
        qsort(merge->queues, merge->queue_count, sizeof *merge->queues, compare_device);
    }
    return true;
}

static void fill_queues(device_merge *merge) {
    const sb_perf_store *store = merge->store;
    for (size_t i = 0; i < store->order_count; i++) {
        perf_record *record = store->order[i];
        if (record->type == PERF_DEVICE_OP)
            find_queue(merge, record->device)->count++;
        else
            merge->result[merge->result_count++] = record;
    }
    perf_record **items = merge->items;
    for (size_t i = 0; i < merge->queue_count; i++) {
        merge->queues[i].items = items;
        items += merge->queues[i].count;
        merge->queues[i].count = 0;
    }
    for (size_t i = 0; i < store->order_count; i++) {
        perf_record *record = store->order[i];
        if (record->type != PERF_DEVICE_OP)
            continue;
        device_queue *queue = find_queue(merge, record->device);
        queue->items[queue->count++] = record;
    }
}

static perf_record *head_of(const device_queue *queue) {
    return queue->next < queue->count ? queue->items[queue->next] : NULL;
}

/* ---- which op comes next ---- */

/* How far behind the head of the queue an op like this one stands; LOOK_AHEAD if not near. */
static size_t distance_to(const device_queue *queue, const perf_record *wanted) {
    for (size_t i = 0; i < LOOK_AHEAD && queue->next + i < queue->count; i++) {
        if (queue->items[queue->next + i]->signature == wanted->signature)
            return i;
    }
    return LOOK_AHEAD;
}

/*
 * Whether the queue can go along with a leader: it has the same op next. Of another size only if
 * neither has the other's size further on; then it is the devices' shares that differ.
 */
static bool follows(const sb_perf_store *store, const device_queue *queue,
                    const device_queue *leader) {
    const perf_record *head = head_of(queue);
    const perf_record *lead = head_of(leader);
    if (head == NULL || head->op != lead->op)
        return false;
    if (store->options.compat || head->signature == lead->signature)
        return true;
    return distance_to(queue, lead) == LOOK_AHEAD && distance_to(leader, head) == LOOK_AHEAD;
}

/* How long the devices that cannot follow would wait if this queue led. */
static size_t cost_of_leading(const device_merge *merge, const device_queue *leader) {
    size_t cost = 0;
    for (size_t i = 0; i < merge->queue_count; i++) {
        const device_queue *queue = &merge->queues[i];
        if (head_of(queue) != NULL && !follows(merge->store, queue, leader))
            cost += distance_to(leader, head_of(queue));
    }
    return cost;
}

/*
 * The queues whose heads differ from each other, up to CANDIDATES_MAX of them; more than that is
 * not a missing op but devices that run different programs, and looking ahead would only cost time.
 */
static size_t find_candidates(const device_merge *merge, const device_queue **candidates) {
    size_t count = 0;
    for (size_t i = 0; i < merge->queue_count; i++) {
        const perf_record *head = head_of(&merge->queues[i]);
        size_t known = 0;
        while (head != NULL && known < count &&
               head_of(candidates[known])->signature != head->signature)
            known++;
        if (head == NULL || known < count)
            continue;
        if (count == CANDIDATES_MAX)
            return 1;
        candidates[count++] = &merge->queues[i];
        if (merge->store->options.compat)
            break; /* the lowest device leads */
    }
    return count;
}

static const device_queue *choose_leader(const device_merge *merge) {
    const device_queue *candidates[CANDIDATES_MAX];
    const size_t count = find_candidates(merge, candidates);
    if (count == 0)
        return NULL;
    const device_queue *best = candidates[0];
    size_t best_cost = count > 1 ? cost_of_leading(merge, best) : 0;
    for (size_t i = 1; i < count; i++) {
        const size_t cost = cost_of_leading(merge, candidates[i]);
        if (cost < best_cost) {
            best = candidates[i];
            best_cost = cost;
        }
    }
    return best;
}

/* ---- one step ---- */

typedef struct step_block {
    perf_record *first;
    perf_record *slowest;
    perf_sum durations;
    size_t duration_count;
} step_block;

static void add_to_block(step_block *block, perf_record *record, bool compat) {
    if (block->first == NULL) {
        block->first = record;
        block->slowest = record;
    } else if (record->duration > block->slowest->duration ||
               (!compat && isnan(block->slowest->duration))) {
        block->slowest = record;
    }
    if (!isnan(record->duration)) {
        perf_sum_add(&block->durations, record->duration);
        block->duration_count++;
    }
}

static perf_record *merge_block(const step_block *block) {
    if (!block->first->op->is_collective)
        return block->slowest;
    block->first->duration = block->duration_count == 0 ? NAN
                                                        : perf_sum_value(&block->durations) /
                                                              (double)block->duration_count;
    return block->first;
}

/* Names the devices whose next op is not the leader's. */
static void warn_of_gap(device_merge *merge, const device_queue *leader) {
    const perf_record *lead = head_of(leader);
    sb_output lacking = sb_output_to_memory();
    for (size_t i = 0; i < merge->queue_count; i++) {
        const device_queue *queue = &merge->queues[i];
        if (follows(merge->store, queue, leader))
            continue;
        sb_put_text(&lacking, sb_output_text(&lacking).size > 0 ? ", " : "");
        sb_put_format(&lacking, "%.0f", queue->device);
    }
    const sb_slice devices = sb_slice_first(sb_output_text(&lacking), 120);
    const sb_slice code = lead->op->code;
    perf_note(merge->store, true, "Step %zu: %.*s (row %lld) is missing on device %.*s",
              merge->step, (int)code.size, code.data, (long long)lead->id, (int)devices.size,
              devices.data);
    sb_output_discard(&lacking);
}

static bool all_follow(const device_merge *merge, const device_queue *leader) {
    for (size_t i = 0; i < merge->queue_count; i++) {
        if (!follows(merge->store, &merge->queues[i], leader))
            return false;
    }
    return true;
}

/* leader is a copy: its own queue moves on with the others. */
static void take_step(device_merge *merge, device_queue leader) {
    step_block block = {0};
    if (!all_follow(merge, &leader)) {
        if (merge->gaps < WARNINGS_MAX)
            warn_of_gap(merge, &leader);
        merge->gaps++;
    }
    for (size_t i = 0; i < merge->queue_count; i++) {
        device_queue *queue = &merge->queues[i];
        if (follows(merge->store, queue, &leader))
            add_to_block(&block, queue->items[queue->next++], merge->store->options.compat);
    }
    assert(block.first != NULL);
    merge->result[merge->result_count++] = merge_block(&block);
    merge->step++;
}

static int compare_id(const void *a, const void *b) {
    const int64_t first = (*(perf_record *const *)a)->id;
    const int64_t second = (*(perf_record *const *)b)->id;
    return (first > second) - (first < second);
}

static void run_merge(device_merge *merge) {
    sb_perf_store *store = merge->store;
    fill_queues(merge);
    const size_t others = merge->result_count;
    for (const device_queue *leader = choose_leader(merge); leader != NULL;
         leader = choose_leader(merge))
        take_step(merge, *leader);
    if (merge->gaps > WARNINGS_MAX)
        perf_note(store, true, "%zu more steps have an op missing on some device",
                  merge->gaps - WARNINGS_MAX);
    /* The original drops host rows and signposts when there is no device op beside them. */
    if (merge->result_count == others && store->options.compat)
        merge->result_count = 0;
    store->order_count = merge->result_count;
    for (size_t i = 0; i < merge->result_count; i++)
        store->order[i] = merge->result[i];
    if (store->order_count > 0)
        qsort(store->order, store->order_count, sizeof(perf_record *), compare_id);
}

static void count_devices(device_merge *merge) {
    sb_perf_store *store = merge->store;
    const size_t count = merge->queue_count;
    store->report.device_count = count;
    if (count == 0)
        perf_note(store, true, "No device ops: only host rows are shown");
    else if (count > 1 && store->options.no_merge_devices)
        perf_note(store, false, "%zu devices, kept apart", count);
    else
        perf_note(store, false, count == 1 ? "%zu device" : "%zu devices, merged", count);
}

sb_status perf_merge_devices(sb_perf_store *store, sb_error *error) {
    device_merge merge = {
        .store = store,
        .queues = sb_alloc_zeroed(DEVICES_MAX, sizeof(device_queue)),
        .items = sb_alloc_zeroed(store->order_count, sizeof(perf_record *)),
        .result = sb_alloc_zeroed(store->order_count, sizeof(perf_record *)),
    };
    sb_status status = SB_OK;
    if (find_devices(&merge)) {
        count_devices(&merge);
        if (merge.queue_count == 1 || (merge.queue_count > 1 && !store->options.no_merge_devices))
            run_merge(&merge);
    } else {
        status = sb_error_set(error, SB_ERR_LIMIT, "there are more than %d devices in the report",
                              DEVICES_MAX);
    }
    free(merge.queues);
    free(merge.items);
    free(merge.result);
    return status;
}
