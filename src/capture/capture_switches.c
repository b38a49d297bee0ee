/*
 * Which thread ran on which processor, and when: context switches while recording, the sections of
 * a trace file at the end. Fibers are kept in the same way: they run on threads.
 */
#include <stdlib.h>

#include "capture/capture_model.h"

enum {
    PROCESSORS = 256,
    EXTERNALS_MAX = 65536, /* what two bytes can number */
    REASON_FIBER = 99,
    REASON_NONE = 100,
    STATE_NONE = 255,
};

/* A thread on a processor, or a fiber on a thread. */
typedef struct run {
    int64_t wakeup;
    int64_t start;
    int64_t end;      /* SB_NO_TIME: it goes on */
    uint32_t carrier; /* fibers: number of the thread in the trace */
    uint8_t processor;
    uint8_t reason; /* why it ended */
    uint8_t state;
} run;

/* The runs of one thread or fiber. */
typedef struct runner {
    uint64_t id;
    bool is_fiber;
    int64_t wakeup;        /* it was woken up and has not run since; SB_NO_TIME: no */
    sb_string thread_name; /* of its own, told just before that of its process */
    sb_series runs;        /* run */
} runner;

/* What a processor did. */
typedef struct stint {
    int64_t start;
    int64_t end;
    uint32_t external; /* position among the external threads */
} stint;

typedef struct place {
    uint32_t package;
    uint32_t die;
    uint32_t core;
    uint32_t thread;
} place;

typedef struct owner {
    uint64_t thread;
    uint64_t process;
} owner;

struct capture_switches {
    sb_idmap indices;  /* id to position among the runners */
    sb_series runners; /* runner */
    uint64_t run_count;
    sb_series stints[PROCESSORS]; /* stint */
    sb_idmap external_numbers;
    sb_vector externals; /* uint64_t: thread ids; the first is nobody */
    sb_idmap owner_indices;
    sb_vector owners; /* owner */
    sb_vector places; /* place */
};

struct capture_switches *capture_switches_create(sb_store *store) {
    struct capture_switches *made = sb_alloc_zeroed(1, sizeof *made);
    sb_idmap_init(&made->indices);
    sb_idmap_init(&made->external_numbers);
    sb_idmap_init(&made->owner_indices);
    sb_series_init(&made->runners, sizeof(runner), NULL);
    for (unsigned i = 0; i < PROCESSORS; i++)
        sb_series_init(&made->stints[i], sizeof(stint), store);
    made->externals = sb_vector_of(sizeof(uint64_t));
    made->owners = sb_vector_of(sizeof(owner));
    made->places = sb_vector_of(sizeof(place));
    *(uint64_t *)sb_vector_push(&made->externals) = 0;
    return made;
}

void capture_switches_free(struct capture_switches *switches) {
    for (uint64_t i = 0; i < sb_series_count(&switches->runners); i++)
        sb_series_free(&((runner *)sb_series_at(&switches->runners, i))->runs);
    sb_series_free(&switches->runners);
    for (unsigned i = 0; i < PROCESSORS; i++)
        sb_series_free(&switches->stints[i]);
    sb_idmap_free(&switches->indices);
    sb_idmap_free(&switches->external_numbers);
    sb_idmap_free(&switches->owner_indices);
    sb_vector_free(&switches->externals);
    sb_vector_free(&switches->owners);
    sb_vector_free(&switches->places);
    free(switches);
}

/* ---- runs ---- */

static runner *find_runner(const capture_model *model, uint64_t id) {
    uint32_t index = 0;
    if (!sb_idmap_get(&model->switches->indices, id, &index))
        return NULL;
    return sb_series_at(&model->switches->runners, index);
}

/* The same, made if there is none; NULL: too many. */
static runner *runner_of(capture_model *model, uint64_t id, bool is_fiber) {
    struct capture_switches *switches = model->switches;
    runner *found = find_runner(model, id);
    if (found != NULL)
        return found;
    const uint64_t index = sb_series_count(&switches->runners);
    if (index >= CAPTURE_THREADS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return NULL;
    }
    sb_idmap_set(&switches->indices, id, (uint32_t)index);
    found = sb_series_push(&switches->runners);
    *found = (runner){.id = id, .is_fiber = is_fiber, .wakeup = SB_NO_TIME};
    sb_series_init(&found->runs, sizeof(run), model->trace->store);
    if (!is_fiber)
        capture_ask(model->questions, SB_WIRE_ASK_EXTERNAL_NAME, id);
    return found;
}

static run *last_run(const runner *of) {
    const uint64_t count = sb_series_count(&of->runs);
    return count == 0 ? NULL : sb_series_at(&of->runs, count - 1);
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Its last run ends, if it has one that goes on. */
static void end_run(const runner *of, int64_t time, uint8_t reason, uint8_t state) {
    run *last = of == NULL ? NULL : last_run(of);
    if (last == NULL || last->end != SB_NO_TIME)
        return;
    last->end = later(time, last->start);
    last->reason = reason;
    last->state = state;
}

/* Begins a run; what is missing before it is filled in, so that times ascend. False: too many. */
static bool begin_run(capture_model *model, runner *of, run begun) {
    if (model->switches->run_count >= CAPTURE_SWITCHES_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return false;
    }
    end_run(of, begun.start, REASON_NONE, STATE_NONE);
    const run *last = last_run(of);
    if (last != NULL)
        begun.start = later(begun.start, last->end);
    const bool was_woken = of->wakeup != SB_NO_TIME && of->wakeup <= begun.start &&
                           (last == NULL || of->wakeup >= last->end);
    begun.wakeup = was_woken ? of->wakeup : begun.start;
    begun.end = SB_NO_TIME;
    begun.state = STATE_NONE;
    of->wakeup = SB_NO_TIME;
    sb_series_add(&of->runs, &begun);
    model->switches->run_count++;
    return true;
}

void capture_begin_fiber(capture_model *model, uint64_t fiber, uint32_t thread, int64_t time) {
    runner *of = runner_of(model, fiber, true);
    const run begun = {.start = later(time, 0), .carrier = thread, .reason = REASON_FIBER};
    if (of != NULL)
        begin_run(model, of, begun);
}

void capture_end_fiber(capture_model *model, uint64_t fiber, int64_t time) {
    end_run(find_runner(model, fiber), time, REASON_FIBER, STATE_NONE);
}

/* ---- processors ---- */

/* The number of a thread among those that used a processor; 0: too many. */
static uint32_t external_of(struct capture_switches *switches, uint64_t id) {
    uint32_t number = 0;
    if (sb_idmap_get(&switches->external_numbers, id, &number) ||
        switches->externals.count >= EXTERNALS_MAX)
        return number;
    number = (uint32_t)switches->externals.count;
    sb_idmap_set(&switches->external_numbers, id, number);
    *(uint64_t *)sb_vector_push(&switches->externals) = id;
    return number;
}

static void end_stint(const sb_series *stints, int64_t time) {
    const uint64_t count = sb_series_count(stints);
    stint *last = count == 0 ? NULL : sb_series_at(stints, count - 1);
    if (last != NULL && last->end == SB_NO_TIME)
        last->end = later(time, last->start);
}

static void begin_stint(capture_model *model, uint8_t processor, uint64_t id, int64_t time) {
    sb_series *stints = &model->switches->stints[processor];
    const uint64_t count = sb_series_count(stints);
    stint begun = {time, SB_NO_TIME, external_of(model->switches, id)};
    if (count > 0)
        begun.start = later(time, ((const stint *)sb_series_at(stints, count - 1))->end);
    sb_series_add(stints, &begun);
}

static void take_switch(capture_model *model, const sb_wire_event *event) {
    const int64_t time = later(capture_time(model, event->time), 0);
    capture_see(model, time);
    end_stint(&model->switches->stints[event->cpu], time);
    if (event->thread != 0)
        end_run(find_runner(model, event->thread), time, event->reason, event->state);
    if (event->other_thread == 0)
        return;
    runner *of = runner_of(model, event->other_thread, false);
    const run begun = {.start = time, .processor = event->cpu, .reason = REASON_NONE};
    if (of != NULL && begin_run(model, of, begun))
        begin_stint(model, event->cpu, event->other_thread, time);
}

static void take_wakeup(capture_model *model, const sb_wire_event *event) {
    runner *of = runner_of(model, event->thread, false);
    if (of != NULL)
        of->wakeup = later(capture_time(model, event->time), 0);
}

/* ---- threads, processes and the machine ---- */

static void take_owner(capture_model *model, const sb_wire_event *event) {
    struct capture_switches *switches = model->switches;
    uint32_t index = 0;
    if (sb_idmap_get(&switches->owner_indices, event->token, &index))
        return;
    if (switches->owners.count >= CAPTURE_THREADS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return;
    }
    sb_idmap_set(&switches->owner_indices, event->token, (uint32_t)switches->owners.count);
    *(owner *)sb_vector_push(&switches->owners) = (owner){event->token, event->value};
}

static void take_place(capture_model *model, const sb_wire_event *event) {
    if (model->switches->places.count >= CAPTURE_SETS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return;
    }
    *(place *)sb_vector_push(&model->switches->places) =
        (place){event->package, event->die, event->core, event->thread};
}

/* A thread's own name, then the name of its process. */
static void take_name(capture_model *model, const sb_wire_event *event) {
    runner *of = find_runner(model, event->token);
    if (of == NULL) {
        capture_count(model, CAPTURE_STRAY_ANSWER);
        return;
    }
    const sb_string name = capture_text(model, event->text);
    if (event->kind == SB_WIRE_EXTERNAL_THREAD_NAME) {
        of->thread_name = name;
        return;
    }
    if (sb_series_count(&model->trace->strangers) >= CAPTURE_THREADS_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return;
    }
    const sb_stranger stranger = {of->id, name, of->thread_name};
    sb_series_add(&model->trace->strangers, &stranger);
}

bool capture_take_system(capture_model *model, const sb_wire_event *event) {
    switch (event->kind) {
    case SB_WIRE_SWITCH:
        take_switch(model, event);
        return true;
    case SB_WIRE_WAKEUP:
        take_wakeup(model, event);
        return true;
    case SB_WIRE_THREAD_PROCESS:
        take_owner(model, event);
        return true;
    case SB_WIRE_TOPOLOGY:
        take_place(model, event);
        return true;
    case SB_WIRE_EXTERNAL_NAME:
    case SB_WIRE_EXTERNAL_THREAD_NAME:
        take_name(model, event);
        return true;
    default:
        return false;
    }
}

/* ---- the end: sections ---- */

/* A time as its distance from the one before; readers hold 48 bits with a sign. */
static void put_time(sb_output *output, int64_t time, int64_t *reference) {
    const int64_t latest = (INT64_C(1) << 47) - 1;
    const int64_t first = time == SB_NO_TIME ? SB_NO_TIME : 0;
    const int64_t held = time < first ? first : time > latest ? latest : time;
    capture_put_number(output, (uint64_t)(held - *reference), 8);
    *reference = held;
}

static void put_runs(sb_output *output, const runner *of) {
    const uint64_t count = sb_series_count(&of->runs);
    int64_t reference = 0;
    capture_put_number(output, of->id, 8);
    capture_put_number(output, count, 8);
    for (uint64_t i = 0; i < count; i++) {
        const run *each = sb_series_at(&of->runs, i);
        put_time(output, each->wakeup, &reference);
        put_time(output, each->start, &reference);
        put_time(output, each->end, &reference);
        capture_put_number(output, each->processor, 1);
        capture_put_number(output, each->reason, 1);
        capture_put_number(output, each->state, 1);
        capture_put_number(output, each->carrier, 8);
    }
}

static void store_runs(capture_model *model) {
    const sb_series *runners = &model->switches->runners;
    sb_output output = sb_output_to_memory();
    uint64_t count = 0;
    for (uint64_t i = 0; i < sb_series_count(runners); i++)
        count += sb_series_count(&((const runner *)sb_series_at(runners, i))->runs) > 0;
    capture_put_number(&output, count, 8);
    for (uint64_t i = 0; i < sb_series_count(runners); i++) {
        const runner *each = sb_series_at(runners, i);
        if (sb_series_count(&each->runs) > 0)
            put_runs(&output, each);
    }
    capture_keep_section(model, SB_OPAQUE_CONTEXT_SWITCHES, &output, count);
}

static void store_stints(capture_model *model) {
    const struct capture_switches *switches = model->switches;
    sb_output output = sb_output_to_memory();
    uint64_t total = 0;
    for (unsigned i = 0; i < PROCESSORS; i++)
        total += sb_series_count(&switches->stints[i]);
    capture_put_number(&output, total, 8);
    for (unsigned i = 0; i < PROCESSORS; i++) {
        const uint64_t count = sb_series_count(&switches->stints[i]);
        int64_t reference = 0;
        capture_put_number(&output, count, 8);
        for (uint64_t k = 0; k < count; k++) {
            const stint *each = sb_series_at(&switches->stints[i], k);
            put_time(&output, each->start, &reference);
            put_time(&output, each->end, &reference);
            capture_put_number(&output, each->external, 2);
        }
    }
    capture_keep_section(model, SB_OPAQUE_CPU_SWITCHES, &output, total);
}

/* How long each thread ran, how often, and how often on another processor than before. */
static void put_use(sb_output *output, const runner *of) {
    int64_t time = 0;
    uint32_t regions = 0;
    uint32_t migrations = 0;
    for (uint64_t i = 0; i < sb_series_count(&of->runs); i++) {
        const run *each = sb_series_at(&of->runs, i);
        if (each->end != SB_NO_TIME) {
            time += each->end - each->start;
            regions++;
        }
        if (i > 0 && ((const run *)sb_series_at(&of->runs, i - 1))->processor != each->processor)
            migrations++;
    }
    capture_put_number(output, of->id, 8);
    capture_put_number(output, (uint64_t)time, 8);
    capture_put_number(output, regions, 4);
    capture_put_number(output, migrations, 4);
}

static void store_use(capture_model *model) {
    const sb_series *runners = &model->switches->runners;
    sb_output lines = sb_output_to_memory();
    uint64_t count = 0;
    for (uint64_t i = 0; i < sb_series_count(runners); i++) {
        const runner *each = sb_series_at(runners, i);
        if (each->is_fiber || sb_series_count(&each->runs) == 0)
            continue;
        put_use(&lines, each);
        count++;
    }
    sb_output output = sb_output_to_memory();
    capture_put_number(&output, count, 8);
    sb_put(&output, sb_output_text(&lines));
    sb_output_discard(&lines);
    capture_keep_section(model, SB_OPAQUE_CPU_THREADS, &output, count);
}

static void store_threads(capture_model *model) {
    const struct capture_switches *switches = model->switches;
    sb_output externals = sb_output_to_memory();
    const size_t used = switches->externals.count > 1 ? switches->externals.count : 0;
    capture_put_number(&externals, used, 8);
    for (size_t i = 0; i < used; i++)
        capture_put_number(&externals, *(uint64_t *)sb_vector_at(&switches->externals, i), 8);
    capture_keep_section(model, SB_OPAQUE_EXTERNAL_THREADS, &externals, used);
    sb_output owners = sb_output_to_memory();
    capture_put_number(&owners, switches->owners.count, 8);
    for (size_t i = 0; i < switches->owners.count; i++) {
        const owner *each = sb_vector_at(&switches->owners, i);
        capture_put_number(&owners, each->thread, 8);
        capture_put_number(&owners, each->process, 8);
    }
    capture_keep_section(model, SB_OPAQUE_THREAD_PROCESSES, &owners, switches->owners.count);
}

static int compare_places(const void *a, const void *b) {
    const place *left = a;
    const place *right = b;
    const uint32_t pairs[][2] = {{left->package, right->package},
                                 {left->die, right->die},
                                 {left->core, right->core},
                                 {left->thread, right->thread}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i][0] != pairs[i][1])
            return pairs[i][0] < pairs[i][1] ? -1 : 1;
    }
    return 0;
}

static bool is_same_core(const place *a, const place *b) {
    return a->package == b->package && a->die == b->die && a->core == b->core;
}

/* The places from `first` on that share its core; returns the position behind them. */
static size_t put_core(sb_output *output, const place *places, size_t first, size_t count) {
    size_t last = first;
    while (last < count && is_same_core(&places[first], &places[last]))
        last++;
    capture_put_number(output, places[first].core, 4);
    capture_put_number(output, last - first, 8);
    for (size_t i = first; i < last; i++)
        capture_put_number(output, places[i].thread, 4);
    return last;
}

/* Packages, their cores, and the threads of these; the dies between are left out. */
static void store_topology(capture_model *model) {
    place *places = (place *)(void *)model->switches->places.data;
    const size_t count = model->switches->places.count;
    if (count == 0)
        return;
    qsort(places, count, sizeof *places, compare_places);
    sb_output packages = sb_output_to_memory();
    uint64_t package_count = 0;
    for (size_t i = 0; i < count; package_count++) {
        sb_output cores = sb_output_to_memory();
        const uint32_t package = places[i].package;
        uint64_t core_count = 0;
        for (; i < count && places[i].package == package; core_count++)
            i = put_core(&cores, places, i, count);
        capture_put_number(&packages, package, 4);
        capture_put_number(&packages, core_count, 8);
        sb_put(&packages, sb_output_text(&cores));
        sb_output_discard(&cores);
    }
    sb_output output = sb_output_to_memory();
    capture_put_number(&output, package_count, 8);
    sb_put(&output, sb_output_text(&packages));
    sb_output_discard(&packages);
    capture_keep_section(model, SB_OPAQUE_TOPOLOGY, &output, package_count);
}

void capture_store_switches(capture_model *model) {
    store_runs(model);
    store_stints(model);
    store_use(model);
    store_threads(model);
    store_topology(model);
}
