#include "report/report_programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_programs_parts.h"

/* A grid of 32 by 32 on each of 1024 devices, which is what ids can name, is more than there is. */
enum { MAX_CORES = 1 << 16, MAX_STACK = 16, COUNTER_TIMER = 9090 };

/*
 * Ids that came back, and where this processor is with them: without it a log of many executions of
 * one id would be counted from the first of them each time.
 */
typedef struct repeats {
    sb_intern ids;
    sb_vector programs; /* uint32_t: index */
} repeats;

/* What one processor of one core writes. Rows of it come in long runs. */
typedef struct stream {
    uint32_t core;
    report_processor processor;
    uint32_t program; /* index + 1 of the program of its last row; 0: none */
    uint64_t id;
    int64_t trace;
    int64_t session;
    report_core_run *run;
    /* The last zone edge, to know a row that stands there twice. */
    uint64_t last_time;
    uint32_t last_timer;
    report_marker_type last_type;
    uint64_t last_id;
    uint64_t last_firmware_start;
    sb_slice last_meta;
    struct repeats *repeats; /* NULL: no id came back so far */
    size_t depth;
    struct open_zone {
        uint32_t zone;
        uint32_t inner; /* zones that have ended inside */
        uint64_t time;
    } open[MAX_STACK];
} stream;

/* ---- spans ---- */

static inline void extend(report_span *span, uint64_t time) {
    if (span->count++ == 0) {
        span->first = time;
        span->last = time;
        return;
    }
    if (time < span->first)
        span->first = time;
    if (time > span->last)
        span->last = time;
}

bool report_program_span(const report_program *program, report_span_kind kind, report_span *span) {
    *span = program->spans[kind];
    return span->count >= 2;
}

bool report_program_mover_span(const report_program *program, report_span *span) {
    const report_span *mover = &program->spans[REPORT_SPAN_MOVER];
    const report_span *kernel = &program->spans[REPORT_SPAN_KERNEL];
    if (mover->count == 0 || kernel->count < 2)
        return false;
    *span = (report_span){mover->first, kernel->last, kernel->count};
    return true;
}

uint32_t report_program_core_count(const report_program *program) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->run_count; i++)
        count += program->runs[i]->counts ? 1 : 0;
    return count;
}

static bool run_is_whole(const report_core_run *run) {
    return run->balance == 0 && run->firmware_started == run->firmware_ended &&
           run->mastered == (REPORT_MASTER_STARTED | REPORT_MASTER_ENDED);
}

bool report_program_is_whole(const report_program *program) {
    for (uint32_t i = 0; i < program->run_count; i++) {
        if (!run_is_whole(program->runs[i]))
            return false;
    }
    return program->run_count > 0;
}

/* ---- finding the stream, the program and the core's part in it ---- */

static uint32_t find_core(report_device_log *read, const report_marker *marker) {
    const uint32_t key[] = {marker->device, marker->core_x, marker->core_y};
    if (read->cores.count >= MAX_CORES)
        return UINT32_MAX;
    const uint32_t index =
        sb_intern_add(&read->core_keys, (sb_slice){(const char *)key, sizeof key});
    if (index == read->cores.count) {
        report_core *core = sb_vector_push(&read->cores);
        *core = (report_core){marker->device, marker->core_x, marker->core_y, false, 0};
    }
    return index;
}

static stream *add_stream(report_device_log *read, const report_marker *marker) {
    stream *added = sb_vector_push(&read->streams);
    added->core = find_core(read, marker);
    added->processor = report_processor_of(marker->processor);
    return added;
}

static stream *find_stream(report_device_log *read, const report_marker *marker) {
    if (marker->is_same_place ||
        (marker->place.size > 0 && sb_slice_equal(marker->place, read->current_place)))
        return sb_vector_at(&read->streams, read->current_stream);
    char text[128];
    sb_slice key = marker->place;
    if (key.size == 0) {
        const int size = snprintf(text, sizeof text, "%u,%u,%u,%.*s", marker->device,
                                  marker->core_x, marker->core_y,
                                  (int)(marker->processor.size < 64 ? marker->processor.size : 64),
                                  marker->processor.data);
        key = (sb_slice){text, (size_t)size};
    }
    const uint32_t index = sb_intern_add(&read->stream_keys, key);
    read->current_stream = index;
    read->current_place = marker->place.size > 0 ? marker->place : (sb_slice){"", 0};
    if (index == read->streams.count)
        return add_stream(read, marker);
    read->dump++;
    return sb_vector_at(&read->streams, index);
}

static bool has_key(const report_program *program, const report_program_key *key) {
    return program->id == key->id && program->trace == key->trace &&
           program->session == key->session && program->device == key->device &&
           program->occurrence == key->occurrence;
}

static uint32_t find_program(report_device_log *read, const report_program_key *key) {
    const uint32_t index =
        sb_intern_add(&read->program_keys, (sb_slice){(const char *)key, sizeof *key});
    if (index == read->programs.count) {
        report_program *program = sb_vector_push(&read->programs);
        program->device = key->device;
        program->occurrence = key->occurrence;
        program->id = key->id;
        program->trace = key->trace;
        program->session = key->session;
        program->sub_device = -1;
        program->first = UINT64_MAX;
    }
    return index;
}

static report_core_run *add_run(report_device_log *read, report_program *program, uint32_t core) {
    if (program->run_count == program->run_capacity) {
        program->run_capacity = program->run_capacity == 0 ? 4 : program->run_capacity * 2;
        program->runs = sb_realloc(program->runs, program->run_capacity, sizeof(report_core_run *));
    }
    report_core_run *run = sb_arena_alloc_zeroed(&read->arena, sizeof *run);
    run->core = core;
    run->first = UINT64_MAX;
    run->kernel_first = UINT64_MAX;
    run->mover_start = UINT64_MAX;
    program->runs[program->run_count++] = run;
    return run;
}

/* What program a processor goes on with: all of a device run the same ones in the same order. */
static uint32_t find_next_program(report_device_log *read, uint32_t before,
                                  const report_program_key *key) {
    if (before == 0)
        return find_program(read, key);
    const uint32_t guess = report_program_at(read, before - 1)->follower;
    if (guess != 0 && has_key(report_program_at(read, guess - 1), key))
        return guess - 1;
    const uint32_t index = find_program(read, key);
    report_program_at(read, before - 1)->follower = index + 1;
    return index;
}

static report_core_run *search_run(const report_program *program, uint32_t core) {
    uint32_t low = 0;
    uint32_t high = program->run_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (program->runs[middle]->core < core)
            low = middle + 1;
        else
            high = middle;
    }
    return low < program->run_count && program->runs[low]->core == core ? program->runs[low] : NULL;
}

static report_core_run *look_for_run(const report_program *program, uint32_t core) {
    for (uint32_t i = program->run_count; i > 0; i--) {
        if (program->runs[i - 1]->core == core)
            return program->runs[i - 1];
    }
    return NULL;
}

/* Logs go core by core: the run that is asked for was added last, or is not there. */
static report_core_run *find_run(report_device_log *read, uint32_t program, uint32_t core) {
    report_program *found = report_program_at(read, program);
    if (found->run_count == 0)
        return add_run(read, found, core);
    report_core_run *last = found->runs[found->run_count - 1];
    if (last->core == core)
        return last;
    if (!found->has_mixed_runs && core > last->core)
        return add_run(read, found, core);
    report_core_run *known =
        found->has_mixed_runs ? look_for_run(found, core) : search_run(found, core);
    if (known != NULL)
        return known;
    found->has_mixed_runs = true;
    return add_run(read, found, core);
}

static void enter_program(report_device_log *read, stream *from, const report_marker *marker,
                          uint32_t occurrence) {
    const report_program_key key = {marker->program, marker->trace, marker->session, marker->device,
                                    occurrence};
    const uint32_t index = find_next_program(read, from->program, &key);
    from->program = index + 1;
    from->run = find_run(read, index, from->core);
}

/* Of firmware. Processors that have none share the last. */
static uint32_t bit_of(report_processor processor) {
    const unsigned last = 31;
    return UINT32_C(1) << ((unsigned)processor < last ? (unsigned)processor : last);
}

/* Where an id is remembered; its program, or UINT32_MAX if this is the first time it is asked. */
static uint32_t *find_repeat(stream *from, const report_marker *marker) {
    const uint64_t key[] = {marker->program, (uint64_t)marker->trace};
    if (from->repeats == NULL) {
        from->repeats = sb_alloc_zeroed(1, sizeof *from->repeats);
        from->repeats->programs = sb_vector_of(sizeof(uint32_t));
        sb_intern_init(&from->repeats->ids);
    }
    repeats *known = from->repeats;
    const uint32_t index = sb_intern_add(&known->ids, (sb_slice){(const char *)key, sizeof key});
    if (index == known->programs.count)
        *(uint32_t *)sb_vector_push(&known->programs) = UINT32_MAX;
    return sb_vector_at(&known->programs, index);
}

/*
 * Firmware that begins again for the same id and core is the next execution of the program, if the
 * log does not number executions itself.
 */
static void enter_next_occurrence(report_device_log *read, stream *from,
                                  const report_marker *marker) {
    const uint32_t bit = bit_of(from->processor);
    uint32_t *known = find_repeat(from, marker);
    if (*known != UINT32_MAX) {
        from->program = *known + 1;
        from->run = find_run(read, *known, from->core);
    }
    uint32_t occurrence = report_program_at(read, from->program - 1)->occurrence;
    while ((from->run->firmware_started & bit) != 0) {
        const uint32_t before = from->program;
        enter_program(read, from, marker, ++occurrence);
        report_program_at(read, before - 1)->next = from->program;
    }
    *known = from->program - 1;
}

/* False if the marker is a firmware start that stands in the log twice. */
static bool find_execution(report_device_log *read, stream *from, const report_marker *marker,
                           bool starts_firmware) {
    if (from->program == 0 || from->id != marker->program || from->trace != marker->trace ||
        from->session != marker->session) {
        from->id = marker->program;
        from->trace = marker->trace;
        from->session = marker->session;
        enter_program(read, from, marker, 0);
    }
    const uint32_t bit = bit_of(from->processor);
    if ((from->run->firmware_started & bit) == 0 || marker->session != REPORT_NO_TRACE)
        return true;
    const bool has_ended = (from->run->firmware_ended & bit) != 0;
    const report_program *program = report_program_at(read, from->program - 1);
    if (starts_firmware && !has_ended && marker->time <= program->spans[REPORT_SPAN_FW].last)
        return false; /* the same execution: a later one begins behind its end */
    if (starts_firmware || (marker->type == REPORT_MARKER_TOTAL && has_ended))
        enter_next_occurrence(read, from, marker);
    return true;
}

/* ---- taking a marker ---- */

static void take_firmware(const report_zone *zone, const stream *from,
                          const report_marker *marker) {
    report_core_run *run = from->run;
    const uint32_t bit = bit_of(from->processor);
    const bool is_start = marker->type == REPORT_MARKER_START;
    if (is_start)
        run->firmware_started |= bit;
    else
        run->firmware_ended |= bit;
    if (zone->master != (int)from->processor)
        return;
    run->mastered |= is_start ? REPORT_MASTER_STARTED : REPORT_MASTER_ENDED;
    if (is_start)
        run->master_start = marker->time;
}

static void take_kernel(report_program *program, const report_zone *zone, const stream *from,
                        const report_marker *marker) {
    report_core_run *run = from->run;
    const uint64_t time = marker->time;
    const bool is_mover = (zone->flags & REPORT_ZONE_MOVER_KERNEL) != 0;
    const bool is_start = marker->type == REPORT_MARKER_START;
    extend(&program->spans[REPORT_SPAN_KERNEL], time);
    if (is_start)
        extend(&program->spans[REPORT_SPAN_KERNEL_START], time);
    if (is_mover)
        extend(&program->spans[REPORT_SPAN_MOVER], time);
    if (from->processor <= REPORT_ERISC && (zone->processors >> from->processor & 1) != 0)
        extend(&program->spans[REPORT_SPAN_BRISC + (int)from->processor], time);
    if (run->kernel_count < UINT16_MAX)
        run->kernel_count++;
    if (time < run->kernel_first)
        run->kernel_first = time;
    if (time > run->kernel_last)
        run->kernel_last = time;
    if (is_start && is_mover && from->processor != REPORT_ERISC && time < run->mover_start)
        run->mover_start = time;
}

/* One number per zone and processor, so different that no few of them add up to zero. */
static uint64_t weight(uint32_t timer, report_processor processor) {
    uint64_t mixed = ((uint64_t)timer << 8 | (uint64_t)processor) + 1;
    mixed *= UINT64_C(0x9e3779b97f4a7c15);
    return mixed ^ mixed >> 29;
}

static void take_edge(report_program *program, const report_zone *zone, const stream *from,
                      const report_marker *marker) {
    const uint64_t number = weight(marker->timer, from->processor);
    from->run->balance += marker->type == REPORT_MARKER_START ? number : -number;
    if ((zone->flags & REPORT_ZONE_FIRMWARE) != 0)
        take_firmware(zone, from, marker);
    if ((zone->flags & REPORT_ZONE_HAS_FW) != 0)
        from->run->counts = true;
    if ((zone->flags & REPORT_ZONE_TYPE_FW) != 0)
        extend(&program->spans[REPORT_SPAN_FW], marker->time);
    if ((zone->flags & REPORT_ZONE_TYPE_KERNEL) != 0)
        take_kernel(program, zone, from, marker);
    if (from->processor != REPORT_TRACE_AGGREGATE)
        return;
    if ((zone->flags & REPORT_ZONE_TRACE_FW) != 0)
        extend(&program->spans[REPORT_SPAN_TRACE_FW], marker->time);
    if ((zone->flags & REPORT_ZONE_TRACE_KERNEL) != 0)
        extend(&program->spans[REPORT_SPAN_TRACE_KERNEL], marker->time);
}

static void take_total(report_program *program, const report_zone *zone, const stream *from,
                       const report_marker *marker) {
    if ((zone->flags & REPORT_ZONE_WAIT_FRONT) != 0 && from->processor == REPORT_TRISC_0)
        program->wait_front += marker->data;
    if ((zone->flags & REPORT_ZONE_RESERVE_BACK) != 0 && from->processor == REPORT_TRISC_2)
        program->reserve_back += marker->data;
}

/* Nearly all rows of a program carry the same meta data; a look at the bytes is enough for those.
 */
static void take_meta(report_device_log *read, stream *from, const report_marker *marker) {
    report_program *program = report_program_at(read, from->program - 1);
    uint64_t sub_device = 0;
    if (report_meta_number(marker->meta, "sub_device_id", &sub_device) && sub_device < INT64_MAX) {
        if (program->sub_device >= 0 && program->sub_device != (int64_t)sub_device)
            read->sub_device_conflicts++;
        program->sub_device = (int64_t)sub_device;
    }
    if (marker->timer == COUNTER_TIMER && marker->type == REPORT_MARKER_DATA &&
        from->processor == REPORT_BRISC)
        report_take_counter(read, from->run, marker);
}

/* ---- durations of zones, whatever they are called ---- */

static void add_duration(report_zone *zone, report_processor processor, uint64_t cycles,
                         uint32_t inner) {
    struct report_zone_sum *sum = &zone->sums[processor];
    if (sum->count == 0 || cycles < sum->min)
        sum->min = cycles;
    if (cycles > sum->max)
        sum->max = cycles;
    sum->total += cycles;
    sum->inner += inner;
    sum->count++;
}

static void time_zone(report_device_log *read, stream *from, uint32_t zone,
                      const report_marker *marker) {
    if (marker->type == REPORT_MARKER_START) {
        if (from->depth < MAX_STACK)
            from->open[from->depth++] = (struct open_zone){.zone = zone, .time = marker->time};
        return;
    }
    for (size_t i = from->depth; i > 0; i--) {
        if (from->open[i - 1].zone != zone)
            continue;
        from->depth = i - 1;
        const struct open_zone *open = &from->open[i - 1];
        if (i > 1)
            from->open[i - 2].inner += open->inner + 1;
        if (marker->time >= open->time)
            add_duration(sb_vector_at(&read->zones, zone), from->processor,
                         marker->time - open->time, open->inner);
        return;
    }
}

/* ---- a row ---- */

/* The same edge of the same zone at the same cycle: the row stands there twice. */
static bool is_repeated(stream *from, const report_marker *marker) {
    if (marker->type == REPORT_MARKER_DATA || marker->type == REPORT_MARKER_EVENT)
        return false;
    const bool same = from->last_time == marker->time && from->last_timer == marker->timer &&
                      from->last_type == marker->type && from->last_id == marker->program;
    from->last_time = marker->time;
    from->last_timer = marker->timer;
    from->last_type = marker->type;
    from->last_id = marker->program;
    return same;
}

static void note_repeated(report_device_log *read, const stream *from, uint64_t id) {
    read->repeated_rows++;
    if (from->program != 0 && from->id == id)
        report_program_at(read, from->program - 1)->is_repeated = true;
}

/* Whether the row belongs to a core that serves dispatch, not to a program. */
static bool take_dispatch(report_device_log *read, const stream *from, const report_zone *zone,
                          const report_marker *marker) {
    report_core *core = report_core_at(read, from->core);
    if (!core->is_dispatch) {
        if ((zone->flags & REPORT_ZONE_DISPATCH) == 0 || from->processor == REPORT_ERISC)
            return false;
        core->is_dispatch = true;
        if (core->rows > 1)
            read->needs_second_pass = true;
    }
    report_dispatch_marker(read, from->core, from->processor, marker);
    return true;
}

static void take_program_marker(report_device_log *read, stream *from, const report_zone *zone,
                                const report_marker *marker) {
    const bool starts_firmware =
        (zone->flags & REPORT_ZONE_FIRMWARE) != 0 && marker->type == REPORT_MARKER_START;
    if (starts_firmware && from->last_firmware_start == marker->time && from->program != 0 &&
        from->id == marker->program) {
        note_repeated(read, from, marker->program);
        return;
    }
    if (!find_execution(read, from, marker, starts_firmware)) {
        note_repeated(read, from, marker->program);
        return;
    }
    if (starts_firmware)
        from->last_firmware_start = marker->time;
    report_program *program = report_program_at(read, from->program - 1);
    program->markers++;
    program->dump = read->dump;
    read->last_device = marker->device;
    if (marker->time < program->first)
        program->first = marker->time;
    if (marker->time < from->run->first)
        from->run->first = marker->time;
    if (marker->type == REPORT_MARKER_START || marker->type == REPORT_MARKER_END)
        take_edge(program, zone, from, marker);
    else if (marker->type == REPORT_MARKER_TOTAL)
        take_total(program, zone, from, marker);
    if (marker->meta.size > 0)
        take_meta(read, from, marker);
}

static void take_marker(report_device_log *read, const report_marker *marker) {
    stream *from = find_stream(read, marker);
    if (from->core == UINT32_MAX) {
        read->rows_beyond_limits++;
        return;
    }
    report_core_at(read, from->core)->rows++;
    const uint32_t zone_index = report_find_zone(read, marker->timer, marker->zone);
    if (is_repeated(from, marker)) {
        note_repeated(read, from, marker->program);
        return;
    }
    if (marker->type == REPORT_MARKER_START || marker->type == REPORT_MARKER_END)
        time_zone(read, from, zone_index, marker);
    const report_zone *zone = sb_vector_at(&read->zones, zone_index);
    if (take_dispatch(read, from, zone, marker) || marker->timer == 0)
        return;
    take_program_marker(read, from, zone, marker);
}

/* ---- the whole log ---- */

static void begin(report_device_log *read) {
    read->programs = sb_vector_of(sizeof(report_program));
    read->streams = sb_vector_of(sizeof(stream));
    read->zones = sb_vector_of(sizeof(report_zone));
    sb_intern_init(&read->program_keys);
    sb_intern_init(&read->stream_keys);
    sb_intern_init(&read->zone_names);
}

static void forget_pass(report_device_log *read) {
    for (size_t i = 0; i < read->programs.count; i++)
        free(report_program_at(read, i)->runs);
    for (size_t i = 0; i < read->streams.count; i++) {
        repeats *known = ((stream *)sb_vector_at(&read->streams, i))->repeats;
        if (known == NULL)
            continue;
        sb_vector_free(&known->programs);
        sb_intern_free(&known->ids);
        free(known);
    }
    sb_vector_free(&read->programs);
    sb_vector_free(&read->streams);
    sb_vector_free(&read->zones);
    sb_intern_free(&read->program_keys);
    sb_intern_free(&read->stream_keys);
    sb_intern_free(&read->zone_names);
    sb_arena_free(&read->arena);
    free(read->zone_cache);
    read->zone_cache = NULL;
    report_dispatch_free(read);
    read->current_place = (sb_slice){"", 0};
    read->dump = 0;
    read->repeated_rows = 0;
    read->rows_beyond_limits = 0;
    read->sub_device_conflicts = 0;
}

static void pass(report_device_log *read, sb_file *file, const report_progress *progress) {
    enum { STRIDE = 4 << 20 };
    report_marker marker;
    size_t next = STRIDE;
    report_log_begin(&read->log, file->text);
    while (report_log_next(&read->log, &marker)) {
        take_marker(read, &marker);
        if (read->log.at < next)
            continue;
        next = read->log.at + STRIDE;
        sb_file_release(file, read->log.at);
        if (progress != NULL)
            progress->report(progress->context, read->log.at, file->text.size);
    }
    read->current_place = (sb_slice){"", 0};
}

/*
 * A later occurrence that is not whole and lies within the one before it is made of rows that stand
 * twice in the log, not of another execution.
 */
static void drop_echoes(report_device_log *read) {
    for (size_t i = 0; i < read->programs.count; i++) {
        report_program *before = report_program_at(read, i);
        if (before->next == 0 || before->id == 0)
            continue;
        report_program *later = report_program_at(read, before->next - 1);
        if (report_program_is_whole(later) || later->first > before->spans[REPORT_SPAN_FW].last)
            continue;
        later->is_dropped = true;
        before->is_repeated = true;
        read->repeated_rows += later->markers;
    }
}

/*
 * A log that ends in the middle of a row has lost what stood behind it, and whole cores of the
 * programs in its last part may be among that.
 */
static bool is_cut_off(const report_device_log *read, const report_program *program) {
    return read->log.is_cut && program->device == read->last_device && program->dump == read->dump;
}

static bool mark_broken(report_device_log *read) {
    bool found = false;
    for (size_t i = 0; i < read->programs.count; i++) {
        report_program *program = report_program_at(read, i);
        program->is_broken = program->id != 0 && !report_program_is_whole(program);
        found = found || (program->is_broken && !program->is_dropped);
    }
    return found;
}

void report_read_device_log(report_device_log *read, sb_file *file,
                            const report_progress *progress) {
    *read = (report_device_log){0};
    read->current_place = (sb_slice){"", 0};
    read->cores = sb_vector_of(sizeof(report_core));
    read->findings = sb_vector_of(sizeof(report_finding));
    read->dispatch_ops = sb_vector_of(sizeof(report_dispatch_op));
    sb_intern_init(&read->core_keys);
    begin(read);
    pass(read, file, progress);
    if (read->needs_second_pass) {
        forget_pass(read);
        begin(read);
        file->released = 0;
        pass(read, file, progress);
    }
    report_dispatch_finish(read);
    drop_echoes(read);
    if (mark_broken(read))
        report_diagnose(read, file);
    for (size_t i = 0; i < read->programs.count; i++) {
        report_program *program = report_program_at(read, i);
        program->is_broken = program->is_broken || is_cut_off(read, program);
    }
}

void report_device_log_free(report_device_log *read) {
    forget_pass(read);
    sb_vector_free(&read->cores);
    sb_vector_free(&read->findings);
    sb_vector_free(&read->dispatch_ops);
    sb_intern_free(&read->core_keys);
}
