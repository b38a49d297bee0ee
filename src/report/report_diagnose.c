/*
 * A closer look at programs that are not whole: which marker is missing, which row stands there
 * twice. Reads the log once more, but keeps the rows of those programs only.
 */
#include <stdlib.h>
#include <string.h>

#include "report/report_programs_parts.h"

enum {
    MAX_ROWS = 500000,    /* kept at once; beyond that programs are broken without a reason given */
    MAX_FINDINGS = 10000, /* kept with their place */
    MAX_OPEN = 64,
};

typedef struct row {
    uint32_t program; /* its first occurrence */
    uint32_t core;
    uint8_t processor;
    uint8_t type;
    bool is_repeated;
    uint32_t timer;
    uint32_t zone;
    uint32_t order;
    uint64_t time;
    uint64_t data;
} row;

typedef struct look {
    report_device_log *read;
    sb_vector rows;  /* row */
    bool *is_wanted; /* by program: some occurrence of it is broken */
    bool is_full;
} look;

static bool *find_wanted(const report_device_log *read) {
    bool *wanted = sb_alloc_zeroed(read->programs.count + 1, sizeof *wanted);
    for (size_t i = 0; i < read->programs.count; i++) {
        for (uint32_t at = (uint32_t)i + 1; at != 0;) {
            const report_program *program = report_program_at(read, at - 1);
            wanted[i] = wanted[i] || program->is_broken;
            at = program->next;
        }
    }
    return wanted;
}

/* The program of a marker as the pass knew it, or UINT32_MAX. */
static uint32_t program_of(report_device_log *read, const report_marker *marker) {
    const report_program_key key = {marker->program, marker->trace, marker->session, marker->device,
                                    0};
    const uint32_t index =
        sb_intern_add(&read->program_keys, (sb_slice){(const char *)&key, sizeof key});
    return index < read->programs.count ? index : UINT32_MAX;
}

static uint32_t core_of(report_device_log *read, const report_marker *marker) {
    const uint32_t key[] = {marker->device, marker->core_x, marker->core_y};
    const uint32_t index =
        sb_intern_add(&read->core_keys, (sb_slice){(const char *)key, sizeof key});
    return index < read->cores.count ? index : UINT32_MAX;
}

static bool is_of_interest(const report_marker *marker) {
    return marker->program != 0 && marker->timer != 0 &&
           (marker->type == REPORT_MARKER_START || marker->type == REPORT_MARKER_END ||
            marker->type == REPORT_MARKER_TOTAL);
}

static void keep_row(look *at, uint32_t program, const report_marker *marker) {
    const uint32_t core = core_of(at->read, marker);
    if (core == UINT32_MAX || report_core_at(at->read, core)->is_dispatch)
        return;
    row *kept = sb_vector_push(&at->rows);
    kept->program = program;
    kept->core = core;
    kept->processor = (uint8_t)report_processor_of(marker->processor);
    kept->type = (uint8_t)marker->type;
    kept->timer = marker->timer;
    kept->zone = report_find_zone(at->read, marker->timer, marker->zone);
    kept->order = (uint32_t)at->rows.count;
    kept->time = marker->time;
    kept->data = marker->data;
}

static void collect(look *at, sb_file *file) {
    enum { STRIDE = 4 << 20 };
    report_log log;
    report_marker marker;
    size_t next = STRIDE;
    report_marker last = {.program = 0};
    uint32_t program = UINT32_MAX;
    report_log_begin(&log, file->text);
    while (!at->is_full && report_log_next(&log, &marker)) {
        if (log.at >= next) {
            next = log.at + STRIDE;
            sb_file_release(file, log.at);
        }
        if (!is_of_interest(&marker))
            continue;
        if (marker.program != last.program || marker.trace != last.trace ||
            marker.session != last.session || marker.device != last.device)
            program = program_of(at->read, &marker);
        last = marker;
        if (program == UINT32_MAX || !at->is_wanted[program])
            continue;
        keep_row(at, program, &marker);
        at->is_full = at->rows.count >= MAX_ROWS;
    }
}

static int compare_places(const row *left, const row *right) {
    if (left->program != right->program)
        return left->program < right->program ? -1 : 1;
    if (left->core != right->core)
        return left->core < right->core ? -1 : 1;
    return (int)left->processor - (int)right->processor;
}

static int compare_rows(const void *a, const void *b) {
    const row *left = a;
    const row *right = b;
    const int place = compare_places(left, right);
    if (place != 0)
        return place;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

/* ---- findings ---- */

/* The occurrence that was running at time. */
static uint32_t occurrence_at(const report_device_log *read, uint32_t program, uint64_t time) {
    uint32_t found = program;
    for (uint32_t at = program + 1; at != 0;) {
        const report_program *candidate = report_program_at(read, at - 1);
        if (!candidate->is_dropped && candidate->first <= time)
            found = at - 1;
        at = candidate->next;
    }
    return found;
}

static void add_finding(report_device_log *read, const row *of, bool is_repeated,
                        report_marker_type missing) {
    const uint32_t program = occurrence_at(read, of->program, of->time);
    report_program *concerned = report_program_at(read, program);
    if (is_repeated) {
        concerned->is_repeated = true;
        read->repeated_rows++;
    } else {
        concerned->missing++;
    }
    if (read->findings.count >= MAX_FINDINGS) {
        read->unfinished_findings++;
        return;
    }
    const report_zone *zone = sb_vector_at(&read->zones, of->zone);
    *(report_finding *)sb_vector_push(&read->findings) =
        (report_finding){.program = program,
                         .core = of->core,
                         .processor = (report_processor)of->processor,
                         .zone = zone->name,
                         .is_repeated = is_repeated,
                         .missing = missing};
}

static void take_back(report_device_log *read, const row *repeated) {
    if (repeated->type != REPORT_MARKER_TOTAL)
        return;
    const report_zone *zone = sb_vector_at(&read->zones, repeated->zone);
    report_program *program =
        report_program_at(read, occurrence_at(read, repeated->program, repeated->time));
    if ((zone->flags & REPORT_ZONE_WAIT_FRONT) != 0 && repeated->processor == REPORT_TRISC_0)
        program->wait_front -= repeated->data;
    if ((zone->flags & REPORT_ZONE_RESERVE_BACK) != 0 && repeated->processor == REPORT_TRISC_2)
        program->reserve_back -= repeated->data;
}

/* Rows of one processor that are the same in everything; adjacent ones the pass knew already. */
static void find_repeated(look *at, size_t first, size_t end) {
    for (size_t i = first + 1; i < end; i++) {
        row *later = sb_vector_at(&at->rows, i);
        for (size_t k = i; k > first; k--) {
            const row *earlier = sb_vector_at(&at->rows, k - 1);
            if (earlier->time != later->time)
                break;
            if (earlier->timer != later->timer || earlier->type != later->type)
                continue;
            later->is_repeated = true;
            if (later->order != earlier->order + 1) {
                add_finding(at->read, later, true, REPORT_MARKER_OTHER);
                take_back(at->read, later);
            }
            break;
        }
    }
}

/* Pairs starts and ends of one processor; what is left over has lost its other half. */
static void find_missing(look *at, size_t first, size_t end) {
    const row *open[MAX_OPEN];
    size_t depth = 0;
    for (size_t i = first; i < end; i++) {
        const row *edge = sb_vector_at(&at->rows, i);
        if (edge->is_repeated || edge->type == REPORT_MARKER_TOTAL)
            continue;
        if (edge->type == REPORT_MARKER_START) {
            if (depth < MAX_OPEN)
                open[depth++] = edge;
            continue;
        }
        size_t match = depth;
        while (match > 0 && open[match - 1]->zone != edge->zone)
            match--;
        if (match == 0) {
            add_finding(at->read, edge, false, REPORT_MARKER_START);
            continue;
        }
        for (; depth > match; depth--)
            add_finding(at->read, open[depth - 1], false, REPORT_MARKER_END);
        depth--;
    }
    for (; depth > 0; depth--)
        add_finding(at->read, open[depth - 1], false, REPORT_MARKER_END);
}

static void look_at_rows(look *at) {
    if (at->rows.count > 1)
        qsort(at->rows.data, at->rows.count, sizeof(row), compare_rows);
    for (size_t first = 0; first < at->rows.count;) {
        size_t end = first + 1;
        while (end < at->rows.count &&
               compare_places(sb_vector_at(&at->rows, first), sb_vector_at(&at->rows, end)) == 0)
            end++;
        find_repeated(at, first, end);
        find_missing(at, first, end);
        first = end;
    }
}

/* Cores of a program whose master never reported: nothing to pair, so nothing was found above. */
static void find_silent_masters(report_device_log *read, uint32_t index) {
    report_program *program = report_program_at(read, index);
    for (uint32_t i = 0; i < program->run_count; i++) {
        const report_core_run *run = program->runs[i];
        if (run->mastered != 0)
            continue;
        program->missing++;
        if (read->findings.count >= MAX_FINDINGS) {
            read->unfinished_findings++;
            continue;
        }
        *(report_finding *)sb_vector_push(&read->findings) =
            (report_finding){.program = index,
                             .core = run->core,
                             .processor = REPORT_UNKNOWN_PROCESSOR,
                             .zone = SB_SLICE("firmware of the master"),
                             .missing = REPORT_MARKER_OTHER};
    }
}

void report_diagnose(report_device_log *read, sb_file *file) {
    look at = {.read = read, .rows = sb_vector_of(sizeof(row)), .is_wanted = find_wanted(read)};
    file->released = 0;
    collect(&at, file);
    look_at_rows(&at);
    for (uint32_t i = 0; i < read->programs.count; i++) {
        report_program *program = report_program_at(read, i);
        if (!program->is_broken || program->is_dropped)
            continue;
        find_silent_masters(read, i);
        if (program->missing == 0 && !at.is_full)
            program->is_broken = false; /* repeated rows only */
    }
    sb_vector_free(&at.rows);
    free(at.is_wanted);
}
